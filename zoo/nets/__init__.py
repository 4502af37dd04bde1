"""The nets: modules that know their sizes, can draw a batch of data and can say their loss.

`net.draw(source)` gives a batch for `net.loss(batch)`; `zoo.registry` has the table of all nets.
"""

from zoo.nets.bert import Bert
from zoo.nets.densenet import DenseNet121
from zoo.nets.gpt import Gpt
from zoo.nets.lstm import LstmLanguageModel
from zoo.nets.mobilenet import MobileNetV2
from zoo.nets.resnet import ResNet50
from zoo.nets.tree_lstm import TreeLstm
from zoo.nets.unet import UNet
from zoo.nets.vgg import Vgg16

__all__ = [
    "Bert",
    "DenseNet121",
    "Gpt",
    "LstmLanguageModel",
    "MobileNetV2",
    "ResNet50",
    "TreeLstm",
    "UNet",
    "Vgg16",
]
