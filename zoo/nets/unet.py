"""U-Net (Ronneberger et al. 2015): long skips from the way down to the way up."""

import torch
from torch import nn
from torch.nn import functional as F


def double_convolution(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
        nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True),
    )


class UNet(nn.Module):
    """From images to class scores of every pixel; `depth` counts the halvings."""

    def __init__(self, *, batch=4, image=128, classes=2, width=32, depth=4):
        super().__init__()
        self.batch, self.image, self.classes = batch, image, classes
        widths = [width << level for level in range(depth + 1)]
        self.down = nn.ModuleList(map(double_convolution, [3, *widths[:-1]], widths))
        self.up = nn.ModuleList(
            nn.ConvTranspose2d(2 * wide, wide, 2, 2) for wide in reversed(widths[:-1])
        )
        self.merge = nn.ModuleList(
            double_convolution(2 * wide, wide) for wide in reversed(widths[:-1])
        )
        self.head = nn.Conv2d(width, classes, 1)

    def draw(self, source):
        return source.masked_images(self.batch, self.image, self.classes)

    def forward(self, x):
        *levels, bottom = self.down
        skips = []
        for level in levels:
            x = level(x)
            skips.append(x)
            x = F.max_pool2d(x, 2)
        x = bottom(x)
        for up, merge in zip(self.up, self.merge, strict=True):
            x = merge(torch.cat([skips.pop(), up(x)], 1))
        return self.head(x)

    def loss(self, batch):
        images, mask = batch
        return F.cross_entropy(self(images), mask)
