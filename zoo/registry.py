"""The one table of all nets: what builds them and how large they are by default."""

import dataclasses
import inspect
from collections.abc import Callable

from torch import nn

from zoo import nets

SETTINGS = {"checkpoint"}  # what a builder takes that is no size


@dataclasses.dataclass(frozen=True)
class Net:
    name: str
    about: str
    build: Callable[..., nn.Module]
    bench: dict  # sizes of the benchmarks
    test: dict  # tiny sizes, yet with several tensors of 64 KiB and more
    optimizer: str
    learning_rate: float

    def sizes(self, kind, changes=()):
        """All sizes of one kind ("bench" or "test"), with changes; unknown names are refused."""
        known = self.defaults()
        chosen = {**known, **getattr(self, kind), **dict(changes)}
        unknown = sorted(chosen.keys() - known.keys())
        if unknown:
            raise ValueError(f"{self.name} has no {', '.join(unknown)}; it has {', '.join(known)}")
        return chosen

    def defaults(self):
        parameters = inspect.signature(self.build).parameters.values()
        return {p.name: p.default for p in parameters if p.name not in SETTINGS}

    @property
    def can_checkpoint(self):
        return "checkpoint" in inspect.signature(self.build).parameters


NETS = (
    Net(
        name="resnet50",
        about="residual blocks",
        build=nets.ResNet50,
        bench=dict(batch=16, image=160),
        test=dict(batch=16, image=32, classes=4, width=16),
        optimizer="sgd",
        learning_rate=0.002,
    ),
    Net(
        name="densenet121",
        about="every layer reads all before it",
        build=nets.DenseNet121,
        bench=dict(batch=16, image=128),
        test=dict(batch=16, image=32, classes=4, growth=8),
        optimizer="sgd",
        learning_rate=0.005,
    ),
    Net(
        name="unet",
        about="long skips, segmentation",
        build=nets.UNet,
        bench=dict(batch=4, image=128),
        test=dict(batch=2, image=32, width=8, depth=2),
        optimizer="sgd",
        learning_rate=0.02,
    ),
    Net(
        name="mobilenet_v2",
        about="many cheap ops on large tensors",
        build=nets.MobileNetV2,
        bench=dict(batch=32, image=160),
        test=dict(batch=16, image=32, classes=4),
        optimizer="sgd",
        learning_rate=0.005,
    ),
    Net(
        name="vgg16",
        about="few large layers, most of the bytes are parameters",
        build=nets.Vgg16,
        bench=dict(batch=8, image=160),
        test=dict(batch=16, image=32, classes=4, width=16, hidden=128, pooled=1),
        optimizer="sgd",
        learning_rate=0.01,
    ),
    Net(
        name="bert",
        about="encoder, masked tokens, attention written out",
        build=nets.Bert,
        bench=dict(batch=8, length=128),
        test=dict(batch=4, length=32, hidden=64, depth=2, heads=4, vocabulary=512),
        optimizer="adamw",
        learning_rate=1e-3,
    ),
    Net(
        name="gpt",
        about="causal decoder, fused attention, dropout",
        build=nets.Gpt,
        bench=dict(batch=8, length=256),
        test=dict(batch=4, length=32, hidden=64, depth=2, heads=4, vocabulary=512),
        optimizer="adamw",
        learning_rate=1e-3,
    ),
    Net(
        name="lstm",
        about="recurrent language model",
        build=nets.LstmLanguageModel,
        bench=dict(batch=16, length=96),
        test=dict(batch=8, length=16, hidden=64, vocabulary=512),
        optimizer="adamw",
        learning_rate=3e-3,
    ),
    Net(
        name="tree_lstm",
        about="another random tree at every step",
        build=nets.TreeLstm,
        bench=dict(batch=32, hidden=256, depth=7),
        test=dict(batch=64, hidden=256, depth=4),
        optimizer="adamw",
        learning_rate=3e-3,
    ),
)


def names():
    return [net.name for net in NETS]


def find(name):
    for net in NETS:
        if net.name == name:
            return net
    raise ValueError(f"no net {name}; there are {', '.join(names())}")


def table():
    """The nets as rows of Markdown; zoo/README.md holds exactly this."""
    rows = ["| net | what it is like | sizes of `bench` | optimizer | `--checkpoint` |"]
    rows.append("| --- | --- | --- | --- | --- |")
    for net in NETS:
        sizes = ", ".join(f"{key} {value}" for key, value in net.sizes("bench").items())
        yes = "yes" if net.can_checkpoint else "-"
        rows.append(f"| `{net.name}` | {net.about} | {sizes} | {net.optimizer} | {yes} |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
