"""Features: what leaves torch's operators: numpy, Python values, copies, files, settings."""

import copy
import io
import pickle

import torch

from .registry import feature


@feature(2)
def numpy_read(w):
    t = w.floats().detach()
    w.record(float(t.numpy().astype("float64").sum()))


@feature(2)
def numpy_write(w):
    """No operator and no version tells of this write; what was made before must not change."""
    t = w.writable()
    w.keep(torch.exp(-t.abs()))
    t.numpy()[...] *= 0.5
    w.keep(t.sin())


@feature(1)
def from_numpy(w):
    values = w.floats().detach().numpy().copy()
    t = torch.from_numpy(values)
    w.keep(t.cos())
    values[...] = 0.125
    w.keep(t)


@feature(1)
def dlpack(w):
    t = w.writable()
    w.keep(torch.from_dlpack(t).clone())


@feature(2)
def item(w):
    t = w.floats()
    w.record(t.detach().flatten()[w.rng.randrange(t.numel())].item())


@feature(2)
def tolist(w):
    w.record(w.floats().detach().flatten()[:8].tolist())


@feature(1)
def text(w):
    w.record(repr(w.floats().detach().flatten()[:4]))


@feature(1)
def deepcopy_tensor(w):
    w.keep(copy.deepcopy(w.floats().detach()))


@feature(1)
def pickle_tensor(w):
    w.keep(pickle.loads(pickle.dumps(w.floats().detach())))


@feature(1)
def save_tensor(w):
    t = w.floats().detach()
    file = io.BytesIO()
    torch.save([t, t[:1]], file)
    file.seek(0)
    whole, part = torch.load(file)
    part.mul_(0.5)
    w.keep(whole)


@feature(1)
def storage_fill(w):
    """A write through the storage: no operator sees it."""
    t = w.fresh()
    made = t.cos()
    t.untyped_storage().fill_(0)
    w.keep(made)
    w.keep(t)


@feature(3)
def forget(w):
    if len(w.tensors) > 3:
        w.forget(w.rng.choice(sorted(w.tensors)))


@feature(2)
def fresh(w):
    w.keep(w.fresh())


@feature(1)
def thread_count(w):
    """Bits depend on it; what is made again must be made with the count of its first time."""
    w.keep(w.floats().detach().flatten().cumsum(0).sin())
    torch.set_num_threads(w.rng.choice((1, 2)))


@feature(1)
def default_dtype(w):
    torch.set_default_dtype(torch.float64)
    try:
        w.keep(torch.zeros(33) + torch.randn(33) + w.floats().detach().flatten()[0])
    finally:
        torch.set_default_dtype(torch.float32)


@feature(1)
def flush_denormals(w):
    tiny = torch.full((65,), 1e-39)
    torch.set_flush_denormal(True)
    try:
        flushed = tiny * 0.5
    finally:
        torch.set_flush_denormal(False)
    w.keep(flushed)
    w.keep(tiny * 0.5)
