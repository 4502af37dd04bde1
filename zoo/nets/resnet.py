"""ResNet-50 (He et al. 2016; the stride is in the middle convolution, as torchvision has it)."""

from torch import nn
from torch.nn import functional as F

from zoo.nets.common import ImageClassifier, run

EXPANSION = 4
STAGES = ((1, 3, 1), (2, 4, 2), (4, 6, 2), (8, 3, 2))  # widening, blocks, stride of the first


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = width * EXPANSION
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(
                nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
            )

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)), inplace=True)
        y = F.relu(self.bn2(self.conv2(y)), inplace=True)
        y = self.bn3(self.conv3(y))
        y += self.downsample(x)
        return F.relu(y, inplace=True)


class ResNet50(ImageClassifier):
    def __init__(self, *, batch=16, image=160, classes=1000, width=64, checkpoint=False):
        super().__init__(batch=batch, image=image, classes=classes)
        self.checkpoint = checkpoint
        self.stem = nn.Sequential(
            nn.Conv2d(3, width, 7, 2, padding=3, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2, padding=1),
        )
        self.blocks = nn.ModuleList()
        inputs = width
        for widening, blocks, stride in STAGES:
            for number in range(blocks):
                wide = width * widening
                self.blocks.append(Bottleneck(inputs, wide, stride if number == 0 else 1))
                inputs = wide * EXPANSION
        self.fc = nn.Linear(inputs, classes)
        self.init_convolutions()

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = run(block, x, checkpoint=self.checkpoint)
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))
