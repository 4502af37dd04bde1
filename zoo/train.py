"""Train a net of the zoo on synthetic data.

python -m zoo.train resnet50 --steps 5 --batch 8
python -m zoo.train gpt --sizes test --set depth=4 --optimizer adamw --digest
"""

import argparse
import ast
import json
import pathlib
import time

import torch

from zoo import registry
from zoo.data import Source
from zoo.digest import digest_of

SHORT_SIZES = ("batch", "image", "length", "hidden", "depth")  # what has an option of its own


def assignment(text):
    """KEY=VALUE, the value as Python would write it."""
    key, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text} is not KEY=VALUE")
    try:
        return key, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        raise argparse.ArgumentTypeError(f"{value} is no number, True or False") from None


def arguments_of(command_line=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("net", choices=registry.names())
    option("--sizes", choices=("bench", "test"), default="bench", help="the default sizes")
    for size in SHORT_SIZES:
        option(f"--{size}", type=int)
    option("--set", type=assignment, action="append", default=[], metavar="KEY=VALUE")
    option("--optimizer", choices=("sgd", "adamw"), help="default: the net's own")
    option("--update", choices=("foreach", "fused", "single"), default="foreach")
    option("--learning-rate", type=float, help="default: the net's own")
    option("--steps", type=int, default=3)
    option("--threads", type=int, help="default: PyTorch's own")
    option("--seed", type=int, default=0)
    option("--checkpoint", action="store_true", help="recompute each block in backward")
    option("--digest", action="store_true", help="a sha256 over the state after the last step")
    option("--json", type=pathlib.Path, metavar="FILE", help="times, losses and memory")
    arguments = parser.parse_args(command_line)
    entry = registry.find(arguments.net)
    short = [(size, getattr(arguments, size)) for size in SHORT_SIZES]
    changes = [(size, value) for size, value in short if value is not None] + arguments.set
    try:
        arguments.chosen = entry.sizes(arguments.sizes, changes)
    except ValueError as error:
        parser.error(str(error))
    if arguments.checkpoint and not entry.can_checkpoint:
        parser.error(f"{entry.name} has no blocks to checkpoint")
    return arguments


def build_net(entry, sizes, checkpoint=False):
    return entry.build(**sizes, **({"checkpoint": True} if checkpoint else {}))


def build_optimizer(entry, net, name=None, update="foreach", learning_rate=None):
    name, rate = name or entry.optimizer, learning_rate or entry.learning_rate
    way = {"foreach": update == "foreach", "fused": update == "fused"}
    if name == "sgd":
        return torch.optim.SGD(net.parameters(), rate, momentum=0.9, weight_decay=1e-4, **way)
    return torch.optim.AdamW(net.parameters(), rate, **way)


def train_step(net, optimizer, batch):
    optimizer.zero_grad()
    loss = net.loss(batch)
    loss.backward()
    optimizer.step()
    return loss.item()


def memory(field):
    """VmHWM, RssAnon, RssFile ... of this process, in bytes."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def train(net, optimizer, source, steps):
    """Seconds and loss of every step, printed as they come."""
    done = []
    for number in range(1, steps + 1):
        begin = time.perf_counter()
        loss = train_step(net, optimizer, net.draw(source))
        done.append({"seconds": time.perf_counter() - begin, "loss": loss})
        print(f"step {number:3}  loss {loss:.4f}  {done[-1]['seconds']:.3f} s", flush=True)
    return done


def main(command_line=None):
    arguments = arguments_of(command_line)
    entry = registry.find(arguments.net)
    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    idle = memory("RssAnon")
    torch.manual_seed(arguments.seed)
    net = build_net(entry, arguments.chosen, arguments.checkpoint)
    optimizer = build_optimizer(
        entry, net, arguments.optimizer, arguments.update, arguments.learning_rate
    )
    source = Source(arguments.seed)
    steps = train(net, optimizer, source, arguments.steps)
    result = {
        "net": entry.name,
        "sizes": arguments.chosen,
        "optimizer": arguments.optimizer or entry.optimizer,
        "update": arguments.update,
        "checkpoint": arguments.checkpoint,
        "threads": torch.get_num_threads(),
        "seed": arguments.seed,
        "parameters": sum(parameter.numel() for parameter in net.parameters()),
        "steps": steps,
        "idle_bytes": idle + memory("RssFile"),  # libraries count as far as they came to be used
        "peak_bytes": memory("VmHWM"),
    }
    if arguments.digest:
        result["digest"] = digest_of(net, optimizer, [step["loss"] for step in steps], source)
        print(f"digest {result['digest']}")
    if arguments.json:
        arguments.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
