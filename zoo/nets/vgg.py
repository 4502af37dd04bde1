"""VGG-16 (Simonyan and Zisserman 2015), with or without batch normalization."""

from torch import nn

from zoo.nets.common import ImageClassifier

STAGES = ((1, 2), (2, 2), (4, 3), (8, 3), (8, 3))  # widening, convolutions; then a max pool


def stage(inputs, outputs, convolutions, norm):
    layers = []
    for _ in range(convolutions):
        layers.append(nn.Conv2d(inputs, outputs, 3, padding=1))
        layers += [nn.BatchNorm2d(outputs)] if norm else []
        layers.append(nn.ReLU(inplace=True))
        inputs = outputs
    return [*layers, nn.MaxPool2d(2)]


class Vgg16(ImageClassifier):
    def __init__(
        self,
        *,
        batch=8,
        image=160,
        classes=1000,
        width=64,
        hidden=4096,
        pooled=7,
        dropout=0.5,
        norm=False,
    ):
        super().__init__(batch=batch, image=image, classes=classes)
        layers, channels = [], 3
        for widening, convolutions in STAGES:
            layers += stage(channels, width * widening, convolutions, norm)
            channels = width * widening
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(pooled), nn.Flatten())
        self.classifier = nn.Sequential(
            nn.Linear(channels * pooled * pooled, hidden),
            nn.ReLU(inplace=True),
            nn.Dropout(dropout),
            nn.Linear(hidden, hidden),
            nn.ReLU(inplace=True),
            nn.Dropout(dropout),
            nn.Linear(hidden, classes),
        )
        self.init_convolutions()

    def forward(self, x):
        return self.classifier(self.features(x))
