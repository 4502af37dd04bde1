"""What several nets share."""

from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint as recomputed


def run(block, *inputs, checkpoint):
    """The block's output; with `checkpoint`, what it saved is dropped until backward needs it."""
    if not checkpoint:
        return block(*inputs)
    return recomputed(block, *inputs, use_reentrant=False)


class ImageClassifier(nn.Module):
    """A net from images to class scores."""

    def __init__(self, *, batch, image, classes):
        super().__init__()
        self.batch, self.image, self.classes = batch, image, classes

    def draw(self, source):
        return source.images(self.batch, self.image, self.classes)

    def loss(self, batch):
        images, labels = batch
        return F.cross_entropy(self(images), labels)

    def init_convolutions(self):
        """He's initialisation, over what a convolution gives out."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)


def init_transformer(net):
    """GPT-2's initialisation: small normal weights, no biases."""
    for module in net.modules():
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
