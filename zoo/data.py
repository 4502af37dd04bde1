"""Synthetic data: new at every step, the same for the same seed, and with something to learn."""

import random

import torch
from torch.nn import functional as F


class Source:
    """Where a run's data come from; apart from torch's own generator, which dropout draws from."""

    def __init__(self, seed):
        self.values = torch.Generator().manual_seed(seed)
        self.shapes = random.Random(seed)

    def images(self, batch, image, classes):
        """Noise whose mean colour tells the label."""
        labels = torch.randint(classes, (batch,), generator=self.values)
        colours = torch.cos(labels[:, None] * torch.tensor([1.0, 2.0, 3.0]))
        noise = torch.randn(batch, 3, image, image, generator=self.values)
        return noise.add_(colours[:, :, None, None], alpha=2.0), labels

    def masked_images(self, batch, image, classes):
        """Noise over patches of eight by eight whose brightness tells the class of each pixel."""
        coarse = torch.randint(classes, (batch, 1, image // 8, image // 8), generator=self.values)
        mask = F.interpolate(coarse.float(), scale_factor=8)
        noise = torch.randn(batch, 3, image, image, generator=self.values)
        return noise.add_(mask, alpha=2.0), mask[:, 0].long()

    def tokens(self, batch, length, vocabulary):
        """Tokens as uneven as words are: low numbers are frequent."""
        uniform = torch.rand(batch, length, generator=self.values)
        return uniform.pow_(3).mul_(vocabulary).long()

    def labelled_tokens(self, batch, length, vocabulary, classes):
        """Tokens of a band of the vocabulary that tells the label; neighbouring bands overlap."""
        labels = torch.randint(classes, (batch,), generator=self.values)
        width = vocabulary // classes
        within = torch.randint(2 * width, (batch, length), generator=self.values)
        return (labels[:, None] * width + within) % vocabulary, labels

    def state(self):
        """All that decides what is drawn next, as bytes."""
        return self.values.get_state().numpy().tobytes() + repr(self.shapes.getstate()).encode()
