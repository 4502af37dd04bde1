"""A program is data: settings and a list of (feature, seed). Here it is made, run and digested."""

import hashlib
import json
import random
from dataclasses import asdict, dataclass

import torch

from . import gradients, maths, networks, outside, randoms, training, views
from .registry import FEATURES, WEIGHTS
from .world import World

PARTS = (gradients, maths, networks, outside, randoms, training, views)  # they fill the registry

START = ("fresh", "fresh", "leaf", "new_learner")


@dataclass
class Program:
    seed: int
    wide: bool
    steps: list

    def to_json(self):
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text):
        return Program(**json.loads(text))


def make_program(seed):
    """The program of a seed: the same on every machine."""
    rng = random.Random(seed)
    names = sorted(FEATURES)
    weights = [WEIGHTS[name] for name in names]
    chosen = list(START) + rng.choices(names, weights, k=rng.randint(15, 36))
    steps = [[name, rng.randrange(1 << 30)] for name in chosen]
    return Program(seed, wide=seed % 6 == 0, steps=steps)


@dataclass
class Outcome:
    digests: dict
    done: list  # features that ran to their end
    errors: list  # (feature, text) of steps that torch refused
    notes: list


def run_program(program, after_step=lambda world, index: None):
    """Runs all steps. An error that torch raises is a result as any other, but want of memory."""
    torch.set_num_threads(2 if program.wide else 1)
    world = World(program.seed, program.wide)
    done, errors, lines = [], [], []
    for index, (name, seed) in enumerate(program.steps):
        world.rng = random.Random(seed)
        world.notes = []
        try:
            FEATURES[name](world)
            done.append(name)
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            if "OutOfBudget" in str(error):  # load_state_dict reports it in an error of its own
                raise torch.OutOfMemoryError(str(error)) from error
            errors.append((name, f"{type(error).__name__}: {str(error)[:160]}"))
            world.record(type(error).__name__ + str(error).split("\n")[0][:60])
        lines.append(f"{name}({seed}): {' '.join(world.notes)}")
        after_step(world, index)
    return Outcome(digest_world(world), done, errors, lines)


def digest_tensor(t):
    """Everything a program can see of a tensor, bit for bit (so that NaN equals itself)."""
    about = f"{t.dtype} {tuple(t.shape)} {t.stride()} {t.requires_grad}"
    if not t.is_inference():
        about += f" {t._version}"
    # A copy, so that only its memory escapes to numpy: what escapes cannot be evicted any more.
    values = t.detach().resolve_conj().resolve_neg().clone()
    values = values.view(torch.int16) if values.dtype == torch.bfloat16 else values
    raw = values.numpy().tobytes()
    return hashlib.blake2b(about.encode() + raw, digest_size=8).hexdigest()


def _learner_tensors(world):
    for i, learner in enumerate(world.learners):
        for name, value in learner.net.state_dict(keep_vars=True).items():
            yield f"net{i}.{name}", value
        if learner.average is not None:
            for name, value in learner.average.state_dict(keep_vars=True).items():
                yield f"average{i}.{name}", value
        for j, optimizer in enumerate(learner.optimizers):
            for key, state in optimizer.state_dict()["state"].items():
                for name, value in state.items():
                    if torch.is_tensor(value):
                        yield f"optimizer{i}.{j}.{key}.{name}", value


def _gradient(t):
    """None also for a view whose base was changed so that autograd refuses to speak of it."""
    try:
        return t.grad if t.is_leaf and not t.is_inference() else None
    except RuntimeError:
        return None


def digest_world(world):
    digests = {}
    for name, t in [*world.tensors.items(), *_learner_tensors(world)]:
        digests[name] = digest_tensor(t)
        if (gradient := _gradient(t)) is not None:
            digests[name + ".grad"] = digest_tensor(gradient)
    digests["default generator"] = digest_tensor(torch.get_rng_state())
    digests["own generator"] = digest_tensor(world.generator.get_state())
    digests["recorded"] = hashlib.blake2b(repr(world.recorded).encode(), digest_size=8).hexdigest()
    return digests
