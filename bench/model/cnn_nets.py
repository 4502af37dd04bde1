"""The nets of cnn-benchmarks, for a recording of forward and backward: plain PyTorch.

python bench/model/cnn_nets.py NET BATCH

Local response normalization and auxiliary classifiers are left out.
"""

import sys

import torch
from torch import nn
from torch.nn import functional as F


def convolution(inputs, outputs, size, stride=1, padding=0, groups=1):
    layer = nn.Conv2d(inputs, outputs, size, stride, padding, groups=groups)
    return [layer, nn.ReLU(inplace=True)]


def classifier(inputs, hidden):
    return [
        nn.Flatten(),
        nn.Linear(inputs, hidden),
        nn.ReLU(inplace=True),
        nn.Linear(hidden, hidden),
        nn.ReLU(inplace=True),
        nn.Linear(hidden, 1000),
    ]


def alexnet():
    return nn.Sequential(
        *convolution(3, 96, 11, 4, 2),
        nn.MaxPool2d(3, 2),
        *convolution(96, 256, 5, 1, 2, groups=2),
        nn.MaxPool2d(3, 2),
        *convolution(256, 384, 3, 1, 1),
        *convolution(384, 384, 3, 1, 1, groups=2),
        *convolution(384, 256, 3, 1, 1, groups=2),
        nn.MaxPool2d(3, 2),
        *classifier(256 * 6 * 6, 4096),
    )


def vgg(*convolutions):
    layers, inputs = [], 3
    for outputs, count in zip((64, 128, 256, 512, 512), convolutions, strict=True):
        for _ in range(count):
            layers += convolution(inputs, outputs, 3, 1, 1)
            inputs = outputs
        layers.append(nn.MaxPool2d(2))
    return nn.Sequential(*layers, *classifier(512 * 7 * 7, 4096))


class Inception(nn.Module):
    def __init__(self, inputs, one, three, five, pooled):
        super().__init__()
        (three_in, three_out), (five_in, five_out) = three, five
        pool = [nn.MaxPool2d(3, 1, 1), *convolution(inputs, pooled, 1)]
        self.branches = nn.ModuleList(
            nn.Sequential(*layers)
            for layers in (
                convolution(inputs, one, 1),
                convolution(inputs, three_in, 1) + convolution(three_in, three_out, 3, 1, 1),
                convolution(inputs, five_in, 1) + convolution(five_in, five_out, 5, 1, 2),
                pool,
            )
        )

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


def inception_v1():
    def pool():
        return nn.MaxPool2d(3, 2, ceil_mode=True)

    return nn.Sequential(
        *convolution(3, 64, 7, 2, 3),
        pool(),
        *convolution(64, 64, 1),
        *convolution(64, 192, 3, 1, 1),
        pool(),
        Inception(192, 64, (96, 128), (16, 32), 32),
        Inception(256, 128, (128, 192), (32, 96), 64),
        pool(),
        Inception(480, 192, (96, 208), (16, 48), 64),
        Inception(512, 160, (112, 224), (24, 64), 64),
        Inception(512, 128, (128, 256), (24, 64), 64),
        Inception(512, 112, (144, 288), (32, 64), 64),
        Inception(528, 256, (160, 320), (32, 128), 128),
        pool(),
        Inception(832, 256, (160, 320), (32, 128), 128),
        Inception(832, 384, (192, 384), (48, 128), 128),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(1024, 1000),
    )


def with_norm(inputs, outputs, size, stride=1):
    layer = nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False)
    return [layer, nn.BatchNorm2d(outputs)]


class Residual(nn.Module):
    def __init__(self, inputs, width, stride, expansion):
        super().__init__()
        outputs, relu = width * expansion, nn.ReLU(inplace=True)
        if expansion == 1:
            layers = with_norm(inputs, width, 3, stride) + [relu] + with_norm(width, width, 3)
        else:
            layers = with_norm(inputs, width, 1) + [relu] + with_norm(width, width, 3, stride)
            layers += [relu, *with_norm(width, outputs, 1)]
        same = stride == 1 and inputs == outputs
        self.layers = nn.Sequential(*layers)
        self.past = nn.Sequential(*([] if same else with_norm(inputs, outputs, 1, stride)))

    def forward(self, x):
        y = self.layers(x)
        y += self.past(x)
        return F.relu(y, inplace=True)


def resnet(expansion, *blocks):
    layers, inputs = [*with_norm(3, 64, 7, 2), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)], 64
    for stage, count in enumerate(blocks):
        for number in range(count):
            stride = 2 if stage > 0 and number == 0 else 1
            layers.append(Residual(inputs, 64 << stage, stride, expansion))
            inputs = (64 << stage) * expansion
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


NETS = {
    "AlexNet": alexnet,
    "Inception-V1": inception_v1,
    "VGG-16": lambda: vgg(2, 2, 3, 3, 3),
    "VGG-19": lambda: vgg(2, 2, 4, 4, 4),
    "ResNet-18": lambda: resnet(1, 2, 2, 2, 2),
    "ResNet-50": lambda: resnet(4, 3, 4, 6, 3),
    "ResNet-101": lambda: resnet(4, 3, 4, 23, 3),
    "ResNet-152": lambda: resnet(4, 3, 8, 36, 3),
}


def main():
    name, batch = sys.argv[1], int(sys.argv[2])
    net, images = NETS[name](), torch.randn(batch, 3, 224, 224)
    nothing = torch.optim.SGD([nn.Parameter(torch.ones(1))])  # its steps are those of the recording
    nothing.step()
    scores = net(images)
    scores.backward(torch.ones_like(scores))
    nothing.step()


if __name__ == "__main__":
    main()
