"""MobileNetV2 (Sandler et al. 2018): inverted residuals with depthwise convolutions."""

from torch import nn
from torch.nn import functional as F

from zoo.nets.common import ImageClassifier, run

STAGES = (  # expansion, channels, blocks, stride of the first
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
)


def convolution(inputs, outputs, kernel, stride=1, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, expansion, stride):
        super().__init__()
        hidden = inputs * expansion
        self.residual = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(
            *([convolution(inputs, hidden, 1)] if expansion != 1 else []),
            convolution(hidden, hidden, 3, stride, groups=hidden),
            nn.Conv2d(hidden, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x):
        return x + self.layers(x) if self.residual else self.layers(x)


class MobileNetV2(ImageClassifier):
    def __init__(self, *, batch=32, image=160, classes=1000, dropout=0.2, checkpoint=False):
        super().__init__(batch=batch, image=image, classes=classes)
        self.checkpoint = checkpoint
        self.stem = convolution(3, 32, 3, stride=2)
        self.blocks = nn.ModuleList()
        inputs = 32
        for expansion, outputs, blocks, stride in STAGES:
            for number in range(blocks):
                first = stride if number == 0 else 1
                self.blocks.append(InvertedResidual(inputs, outputs, expansion, first))
                inputs = outputs
        self.head = convolution(inputs, 1280, 1)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Linear(1280, classes))
        self.init_convolutions()

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = run(block, x, checkpoint=self.checkpoint)
        return self.classifier(F.adaptive_avg_pool2d(self.head(x), 1).flatten(1))
