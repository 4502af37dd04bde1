"""Features: views, changes in place through bases and views, out= and aliasing results."""

import torch

from .registry import family, feature
from .world import is_plain, overlaps


def _narrow(w, t):
    dim = w.rng.randrange(t.dim())
    length = w.rng.randint(1, t.shape[dim])
    return t.narrow(dim, w.rng.randint(0, t.shape[dim] - length), length)


def _slice_of_slice(w, t):
    return t[:: w.rng.choice((1, 2))][..., w.rng.randint(0, 1) :]


def _as_strided(w, t):
    n = max(1, min(24, t.numel() // 4))
    return t.as_strided((n, 2), (1, n), t.storage_offset())


def _unfold(w, t):
    dim = w.rng.randrange(t.dim())
    size = min(3, t.shape[dim])
    return t.unfold(dim, size, w.rng.choice((1, 2)))


def _complex_and_back(w, t):
    even = t[..., : t.shape[-1] // 2 * 2]
    pairs = even.reshape(*even.shape[:-1], -1, 2)
    return torch.view_as_real(torch.view_as_complex(pairs.contiguous()))


VIEWS = {
    "view_transpose": lambda w, t: t.transpose(0, -1),
    "view_permute": lambda w, t: t.permute(*reversed(range(t.dim()))),
    "view_narrow": _narrow,
    "view_slice_of_slice": _slice_of_slice,
    "view_expand": lambda w, t: t.unsqueeze(0).expand(2, *t.shape),
    "view_unfold": _unfold,
    "view_as_strided": _as_strided,
    "view_complex_real": _complex_and_back,
    "view_reshape": lambda w, t: t.reshape(-1),
    "view_select": lambda w, t: t.select(0, w.rng.randrange(t.shape[0])),
    "view_diagonal": lambda w, t: t.reshape(t.shape[0], -1).diagonal(),
    "view_split": lambda w, t: t.split(max(1, t.shape[0] // 2))[-1],
    "view_chunk": lambda w, t: t.chunk(2, -1)[0],
    "view_unbind": lambda w, t: t.unbind(0)[-1],
    "view_detach": lambda w, t: t.detach(),
    "view_dtype": lambda w, t: t.detach().contiguous().view(torch.int32),
    "view_movedim_flatten": lambda w, t: t.movedim(0, -1).flatten(),
    "alias_contiguous": lambda w, t: t.contiguous(),
    "alias_same_dtype": lambda w, t: t.to(torch.float32),
    "alias_reshape_as": lambda w, t: t.reshape(t.shape).view_as(t),
}


family(3, VIEWS, lambda w, view: w.keep(view(w, w.floats())))

IN_PLACE = {
    "inplace_add": lambda w, t: t.add_(0.5),
    "inplace_mul": lambda w, t: t.mul_(0.75),
    "inplace_tanh": lambda w, t: t.tanh_(),
    "inplace_relu": lambda w, t: t.relu_(),
    "inplace_clamp": lambda w, t: t.clamp_(-1.0, 1.0),
    "inplace_zero": lambda w, t: t.narrow(0, 0, 1).zero_(),
    "inplace_fill": lambda w, t: t.select(-1, 0).fill_(0.25),
    "inplace_masked_fill": lambda w, t: t.masked_fill_(t > 1, 0.1),
    "inplace_copy": lambda w, t: t.copy_(torch.sin(t)),
    "inplace_addcmul": lambda w, t: t.addcmul_(t.cos(), t.sin(), value=0.1),
    "inplace_lerp": lambda w, t: t.lerp_(torch.zeros(()), 0.2),
    "inplace_index_fill": lambda w, t: t.index_fill_(0, torch.tensor([0]), 0.3),
    "inplace_index_put": lambda w, t: t.index_put_((torch.tensor([0]),), torch.tensor(0.7)),
    "inplace_setitem_mask": lambda w, t: t.__setitem__(t < -1, -0.5),
    "inplace_setitem_slice": lambda w, t: t.__setitem__((Ellipsis, slice(0, None, 2)), 0.4),
    "inplace_scatter": lambda w, t: t.scatter_(
        0, torch.zeros(t.shape, dtype=torch.int64)[:1], t.cos()[:1].clone()
    ),
    "inplace_sort_copy": lambda w, t: t.copy_(t.sort(-1).values),
    "inplace_cumsum": lambda w, t: t.cumsum_(-1).clamp_(-2, 2),
    "inplace_foreach": lambda w, t: torch._foreach_mul_([t, t.narrow(0, 0, 1)], 0.9),
}


@torch.no_grad()
def _change(w, change):
    """Changes a base or a fresh view of it, and often keeps something made from the old value."""
    t = w.writable()
    if w.chance():
        w.keep(torch.exp(-t.abs()))
    if w.chance(0.4) and t.dim() > 1:
        t = t.transpose(0, -1)
    if w.chance(0.3):
        t = _narrow(w, t)
    change(w, t)
    if w.chance(0.3):
        w.keep(torch.sigmoid(t))


family(2, IN_PLACE, _change)


@feature(2)
def inplace_in_graph(w):
    """In place on an intermediate result and on a view of it, with gradients flowing through."""
    x = w.floats().detach().clone().requires_grad_()
    y = x * 0.5
    y.add_(1)
    y[..., :1].mul_(2)
    y.transpose(0, -1).sigmoid_()
    w.keep(y)
    w.keep(torch.autograd.grad(y.sum(), x, retain_graph=True)[0])


@feature(1)
def inplace_metadata(w):
    """transpose_, unsqueeze_, squeeze_: the tensor changes its shape, the storage stays."""
    t = w.writable()
    t = t.view(t.shape) if w.chance() else t.detach()
    t.transpose_(0, -1).unsqueeze_(0).squeeze_(0)
    w.keep(t)


@feature(1)
def set_data(w):
    """.data = another tensor: no operator tells that the storage is exchanged."""
    t = w.writable()
    t.data = t.data.cos()
    w.keep(t + 1)


@feature(1)
def set_storage(w):
    t, u = w.writable(), w.fresh()
    old = t.sin()
    u.set_(t.detach())
    u.mul_(0.5)
    w.keep(old)
    w.keep(u)


@feature(1)
def resize_in_place(w):
    t = w.fresh().flatten()
    w.keep(t.exp())
    grown = t.numel() + 37
    t.resize_(grown)
    t[-37:] = 0.5
    w.keep(t.resize_(grown // 2))


@feature(3)
def out_of_right_size(w):
    a = w.writable()
    out = torch.zeros_like(a)
    torch.mul(a, 0.3, out=out)
    kept = out.cos()
    torch.add(a, kept, out=out)
    w.keep(out)
    w.keep(kept)


@feature(2)
def out_resized(w):
    a = w.writable()
    out = torch.empty(0)
    torch.sin(a, out=out)
    w.keep(out)


@feature(2)
def out_is_view(w):
    a = w.writable()
    base = torch.zeros(2, *a.shape)
    torch.cos(a, out=base[1])
    w.keep(base)


@feature(1)
def out_of_cat(w):
    a = w.writable().flatten()
    out = torch.zeros(2 * a.numel())
    torch.cat([a, a.neg()], out=out)
    w.keep(out)


@feature(1)
def out_is_input(w):
    a = w.pick(lambda t: is_plain(t) and not t.requires_grad and not overlaps(t))
    a = a.detach()
    torch.tanh(a, out=a)
    w.keep(a)
