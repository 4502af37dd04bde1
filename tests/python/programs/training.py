"""Features: learners (a network, optimizers, perhaps a moving average) and their training."""

import copy
import io

import torch
from torch import nn

from .registry import feature


class Learner:
    """A network in training. Its batches come from the default generator."""

    def __init__(self, net, batch, optimizers, average=None):
        self.net = net
        self.batch = batch
        self.optimizers = optimizers
        self.average = average

    def loss(self):
        x, target = self.batch()
        out = self.net(x)
        return nn.functional.mse_loss(out.flatten(1).mean(1), target)

    def step(self):
        for optimizer in self.optimizers:
            optimizer.step()

    def zero_grad(self, set_to_none=True):
        for optimizer in self.optimizers:
            optimizer.zero_grad(set_to_none=set_to_none)


class Sequence(nn.Module):
    """Embedding, LSTM and attention: the parts that Sequential cannot hold."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(50, 24)
        self.lstm = nn.LSTM(24, 24, batch_first=True)
        self.norm = nn.LayerNorm(24)
        self.out = nn.Linear(24, 8)

    def forward(self, ids):
        x, _ = self.lstm(self.table(ids))
        x = x + nn.functional.scaled_dot_product_attention(x, x, x, is_causal=True)
        return self.out(self.norm(x))


def _perceptron(width):
    return nn.Sequential(
        nn.Linear(width, 64),
        nn.BatchNorm1d(64),
        nn.ReLU(inplace=True),
        nn.Dropout(0.2),
        nn.Linear(64, 64),
        nn.GELU(),
        nn.LayerNorm(64),
        nn.Linear(64, 4),
    )


def _convolutional():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 8, 3, padding=1),
        nn.SiLU(),
        nn.Flatten(1),
        nn.Linear(8 * 36, 4),
    )


def _network(w):
    """A network and a function that draws a batch for it."""
    kind = w.rng.choice(("perceptron", "perceptron", "convolutional", "sequence"))
    size = 256 if w.wide else w.rng.choice((8, 16))
    if kind == "perceptron":
        width = 280 if w.wide else 40
        return _perceptron(width), lambda: (torch.randn(size, width), torch.randn(size))
    size = min(size, 16)
    if kind == "convolutional":
        return _convolutional(), lambda: (torch.randn(size, 3, 12, 12), torch.randn(size))
    return Sequence(), lambda: (torch.randint(0, 50, (size, 10)), torch.randn(size))


def _optimizer(w, parameters):
    kind = w.rng.choice(("sgd", "nesterov", "adam", "adamw", "amsgrad", "rmsprop", "adagrad"))
    how = w.rng.choice(("foreach", "fused", "single"))
    if kind == "rmsprop" and how == "fused":
        how = "single"
    options = {"foreach": how == "foreach"} if how != "fused" else {"fused": True}
    w.notes.append(f"{kind}/{how}")
    make = {
        "sgd": lambda: torch.optim.SGD(parameters, 0.05, momentum=0.9, **options),
        "nesterov": lambda: torch.optim.SGD(
            parameters, 0.05, momentum=0.9, nesterov=True, weight_decay=0.01, **options
        ),
        "adam": lambda: torch.optim.Adam(parameters, 0.01, **options),
        "adamw": lambda: torch.optim.AdamW(parameters, 0.01, **options),
        "amsgrad": lambda: torch.optim.AdamW(parameters, 0.01, amsgrad=True, **options),
        "rmsprop": lambda: torch.optim.RMSprop(parameters, 0.01, momentum=0.5, **options),
        "adagrad": lambda: torch.optim.Adagrad(parameters, 0.01, **options),
    }
    return make[kind]()


@feature(1)
def new_learner(w):
    """A learner of its own; a program has at most two."""
    if len(w.learners) >= 2:
        w.learners.pop(0)
    net, batch = _network(w)
    parameters = list(net.parameters())
    two = w.chance(0.25)
    halves = (parameters[::2], parameters[1::2]) if two else (parameters,)
    optimizers = [_optimizer(w, half) for half in halves]
    average = copy.deepcopy(net) if w.chance(0.3) else None
    w.learners.append(Learner(net, batch, optimizers, average))


def _learner(w):
    if not w.learners:
        new_learner(w)
    return w.rng.choice(w.learners)


@feature(8)
def train_step(w):
    learner = _learner(w)
    learner.zero_grad(set_to_none=w.chance(0.6))
    loss = learner.loss()
    loss.backward()
    if w.chance(0.3):
        w.record(float(nn.utils.clip_grad_norm_(learner.net.parameters(), 0.5)))
    learner.step()
    w.record(loss.item())


@feature(3)
def accumulate(w):
    """Gradients of two batches, one step."""
    learner = _learner(w)
    learner.zero_grad()
    for _ in range(2):
        (learner.loss() / 2).backward()
    learner.step()


@feature(2)
def two_losses(w):
    """Two graphs alive at a time; the older is walked last."""
    learner = _learner(w)
    first, second = learner.loss(), learner.loss()
    second.backward()
    first.backward()
    learner.step()


@feature(2)
def moving_average(w):
    learner = _learner(w)
    if learner.average is None:
        learner.average = copy.deepcopy(learner.net)
    with torch.no_grad():
        pairs = zip(learner.average.parameters(), learner.net.parameters(), strict=True)
        for kept, current in pairs:
            kept.lerp_(current, 0.1)


@feature(2)
def evaluate(w):
    learner = _learner(w)
    learner.net.eval()
    with torch.no_grad():
        w.record(learner.loss().item())
    learner.net.train()


@feature(1)
def copy_network(w):
    """deepcopy of a module in training; the copy replaces the moving average."""
    learner = _learner(w)
    learner.average = copy.deepcopy(learner.net)
    for p in learner.average.parameters():
        p.grad = None


@feature(2)
def save_and_load(w):
    """state_dict of network and optimizer through a file in memory, and back."""
    learner = _learner(w)
    file = io.BytesIO()
    states = [optimizer.state_dict() for optimizer in learner.optimizers]
    torch.save({"net": learner.net.state_dict(), "optimizers": states}, file)
    file.seek(0)
    loaded = torch.load(file)
    learner.net.load_state_dict(loaded["net"])
    for optimizer, state in zip(learner.optimizers, loaded["optimizers"], strict=True):
        optimizer.load_state_dict(state)


@feature(1)
def change_rate(w):
    learner = _learner(w)
    for optimizer in learner.optimizers:
        for group in optimizer.param_groups:
            group["lr"] *= 0.5


@feature(1)
def foreach_ops(w):
    parameters = [p.detach() for p in _learner(w).net.parameters()]
    scaled = torch._foreach_mul(parameters, 0.5)
    torch._foreach_add_(scaled, parameters, alpha=0.1)
    norms = torch._foreach_norm(scaled)
    w.keep(torch.stack(norms))
    w.keep(scaled[0])
