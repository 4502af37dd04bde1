"""DenseNet-121 (Huang et al. 2017): each layer reads the outputs of all layers before it."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo.nets.common import ImageClassifier, run

BLOCKS = (6, 12, 24, 16)
BOTTLENECK = 4


class DenseLayer(nn.Module):
    def __init__(self, inputs, growth):
        super().__init__()
        self.norm1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, BOTTLENECK * growth, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(BOTTLENECK * growth)
        self.conv2 = nn.Conv2d(BOTTLENECK * growth, growth, 3, padding=1, bias=False)

    def forward(self, *features):
        x = torch.cat(features, 1)
        x = self.conv1(F.relu(self.norm1(x), inplace=True))
        return self.conv2(F.relu(self.norm2(x), inplace=True))


class DenseBlock(nn.Module):
    def __init__(self, layers, inputs, growth, checkpoint):
        super().__init__()
        self.checkpoint = checkpoint
        self.layers = nn.ModuleList(DenseLayer(inputs + i * growth, growth) for i in range(layers))

    def forward(self, x):
        features = [x]
        for layer in self.layers:
            features.append(run(layer, *features, checkpoint=self.checkpoint))
        return torch.cat(features, 1)


def transition(inputs, outputs):
    return nn.Sequential(
        nn.BatchNorm2d(inputs),
        nn.ReLU(inplace=True),
        nn.Conv2d(inputs, outputs, 1, bias=False),
        nn.AvgPool2d(2),
    )


class DenseNet121(ImageClassifier):
    def __init__(self, *, batch=16, image=128, classes=1000, growth=32, checkpoint=False):
        super().__init__(batch=batch, image=image, classes=classes)
        channels = 2 * growth
        features = [
            nn.Conv2d(3, channels, 7, 2, padding=3, bias=False),
            nn.BatchNorm2d(channels),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, padding=1),
        ]
        for number, layers in enumerate(BLOCKS):
            if number > 0:
                features.append(transition(channels, channels // 2))
                channels //= 2
            features.append(DenseBlock(layers, channels, growth, checkpoint))
            channels += layers * growth
        self.features = nn.Sequential(*features, nn.BatchNorm2d(channels), nn.ReLU(inplace=True))
        self.classifier = nn.Linear(channels, classes)
        self.init_convolutions()

    def forward(self, x):
        return self.classifier(F.adaptive_avg_pool2d(self.features(x), 1).flatten(1))
