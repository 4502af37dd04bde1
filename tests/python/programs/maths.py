"""Features: elementwise maths, joins, reductions, indexing, casts, complex, integers, empties."""

import torch

from .registry import family, feature
from .world import MOST_ROWS, is_plain

POINTWISE = {
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "sin": torch.sin,
    "exp": lambda t: torch.exp(-t.abs()),
    "log1p": lambda t: torch.log1p(t.abs()),
    "sqrt": lambda t: torch.sqrt(t.abs() + 0.1),
    "softmax": lambda t: torch.softmax(t, -1),
    "log_softmax": lambda t: torch.log_softmax(t, 0),
    "gelu": torch.nn.functional.gelu,
    "silu": torch.nn.functional.silu,
    "elu": torch.nn.functional.elu,
    "pow": lambda t: t.clamp(-2, 2).pow(2),
    "clone": lambda t: t.clone(),
    "affine": lambda t: t * 0.5 + 1,
    "flip": lambda t: t.flip(0),
    "roll": lambda t: t.roll(1, -1),
    "cumsum": lambda t: t.cumsum(-1) * 0.1,
    "tril": lambda t: t.reshape(t.shape[0], -1).tril(),
    "nan_to_num": lambda t: torch.nan_to_num(t),
    "pad": lambda t: torch.nn.functional.pad(t, (1, 1)),
    "erf_chain": lambda t: torch.erf(torch.erf(t) * 2).neg().abs(),
    "deep_chain": lambda t: t.sin().cos().sin().cos().sin().cos().sin().cos(),
}
family(2, POINTWISE, lambda w, function: w.keep(function(w.floats())))

REDUCTIONS = {
    "sum": lambda t: t.sum(0),
    "mean": lambda t: t.mean(-1),
    "var": lambda t: t.var(-1, unbiased=False),
    "norm": lambda t: t.norm(dim=0),
    "amax": lambda t: t.amax(-1),
    "max_with_indices": lambda t: t.max(0).values,
    "logsumexp": lambda t: t.logsumexp(-1),
    "prod": lambda t: t.tanh().prod(-1),
    "median": lambda t: t.median(-1).values,
    "kthvalue": lambda t: t.kthvalue(1, -1).values,
    "argmax": lambda t: t.argmax(-1),
    "any": lambda t: (t > 0).any(-1),
    "count_nonzero": lambda t: torch.count_nonzero(t, -1),
    "sum_all": lambda t: t.sum(),
    "std_mean": lambda t: torch.std_mean(t, 0, unbiased=False)[0],
    "cummax": lambda t: t.cummax(0).values,
    "histc": lambda t: t.detach().histc(16, -2, 2),
}
family(1, REDUCTIONS, lambda w, function: w.keep(function(w.floats())))


def _rows(w, t):
    return torch.tensor([w.rng.randrange(t.shape[0]) for _ in range(5)])


INDEXING = {
    "index_select": lambda w, t: t.index_select(0, _rows(w, t)),
    "gather": lambda w, t: t.gather(-1, t.detach().argsort(-1)),
    "where": lambda w, t: torch.where(t > 0, t, t * 0.1),
    "masked_fill": lambda w, t: t.masked_fill(t > 0.5, 0.5),
    "masked_select": lambda w, t: t.masked_select(t > 0),
    "nonzero": lambda w, t: t.detach().gt(1).nonzero(),
    "topk": lambda w, t: t.topk(1, -1).values,
    "sort": lambda w, t: t.sort(-1).values,
    "advanced_index": lambda w, t: t.detach()[_rows(w, t)],
    "take_along": lambda w, t: torch.take_along_dim(t, t.detach().argsort(0), 0),
    "scatter_add": lambda w, t: torch.zeros_like(t).scatter_add(0, t.detach().argsort(0), t),
    "index_add": lambda w, t: torch.zeros_like(t).index_add(0, torch.arange(t.shape[0]), t),
    "unique": lambda w, t: t.detach().mul(4).round().unique(),
    "bucketize": lambda w, t: torch.bucketize(t.detach(), torch.linspace(-1, 1, 5)),
    "one_hot": lambda w, t: torch.nn.functional.one_hot(_rows(w, t) % 7, 7).float(),
}
family(2, INDEXING, lambda w, function: w.keep(function(w, w.floats())))

JOINS = {
    "cat": lambda t: torch.cat([t, t.neg(), t], -1),
    "stack": lambda t: torch.stack([t, t * 0.5]),
    "split_cat": lambda t: torch.cat(list(reversed(t.chunk(2, 0))), 0),
    "unbind_stack": lambda t: torch.stack(t.unbind(0)[:4]),
    "tile": lambda t: t.flatten()[:64].tile(3),
    "repeat_interleave": lambda t: t.flatten()[:64].repeat_interleave(2),
    "broadcast_add": lambda t: t + t.flatten()[:1],
    "outer": lambda t: torch.outer(t.flatten()[:16], t.flatten()[:16]),
    "meshgrid": lambda t: torch.meshgrid(t.flatten()[:8], t.flatten()[:8], indexing="ij")[0],
}
family(2, JOINS, lambda w, function: w.keep(function(w.floats())))

CASTS = {
    "to_double": lambda t: t.double(),
    "to_bfloat16": lambda t: t.bfloat16(),
    "to_half": lambda t: t.half(),
    "to_int": lambda t: t.detach().mul(10).int(),
    "to_bool": lambda t: t.detach() > 0,
    "double_and_back": lambda t: t.double().sin().float(),
    "bfloat16_and_back": lambda t: (t.bfloat16() * 3).float(),
    "half_sum": lambda t: t.half().sum(-1).float(),
}
family(2, CASTS, lambda w, function: w.keep(function(w.floats())))

COMPLEX = {
    "complex_fft": lambda t: torch.fft.fft(t),
    "complex_rfft_back": lambda t: torch.fft.irfft(torch.fft.rfft(t), n=t.shape[-1]),
    "complex_multiply": lambda t: torch.complex(t, t.neg()) * (0.5 + 0.5j),
    "complex_conj": lambda t: torch.complex(t, t).conj(),
    "complex_abs_angle": lambda t: torch.polar(t.abs(), t).abs(),
    "complex_real_imag": lambda t: torch.complex(t, t * 2).conj().imag + 1,
}
family(1, COMPLEX, lambda w, function: w.keep(function(w.floats())))


@feature(2)
def combine(w):
    """Two live tensors meet, brought to one shape: joins lineages."""
    a, b = w.floats().flatten(), w.floats().flatten()
    n = min(a.numel(), b.numel())
    w.keep(torch.sin(a[:n]) * b[:n] - a[-n:])


@feature(3)
def matmul(w):
    a = w.floats(2)
    b = w.matrix(a.shape[1])
    w.keep(torch.tanh(a @ b))


@feature(1)
def batched_matmul(w):
    a = w.floats(3)[:, :MOST_ROWS]
    w.keep(torch.bmm(a, a.transpose(1, 2)).mul(0.1).tanh())


@feature(1)
def einsum(w):
    a = w.floats(2)[:MOST_ROWS]
    w.keep(torch.einsum("ij,kj->ik", a, a).mul(0.1).tanh())


@feature(1)
def linear_algebra(w):
    a = w.floats(2).detach()[:MOST_ROWS]
    square = a @ a.T * 0.01 + torch.eye(a.shape[0])
    w.keep(torch.linalg.cholesky(square))
    w.keep(torch.linalg.solve(square, a))


@feature(2)
def integers(w):
    a = torch.arange(w.rng.choice((65, 1024, 4096)))
    b = (a * 7919 % 101) ^ 5
    b[::3] //= 2
    w.keep((b << 1) | (a & 3))
    w.keep(b.sort().values.int())


@feature(2)
def booleans(w):
    t = w.floats()
    mask = (t > 0) & ~(t > 1)
    mask |= t < -2
    w.keep(mask)
    w.record(bool(mask.any()))


@feature(2)
def zero_size(w):
    t = w.floats()
    none = t[:0]
    w.keep(torch.cat([none, none * 2]))
    w.record(float(none.sum()))


@feature(2)
def zero_dim(w):
    t = w.floats()
    scalar = t.mean()
    scalar = scalar * torch.tensor(2.0) + 1
    w.keep(scalar)
    w.keep(t * scalar)


@feature(1)
def other_dtype_maths(w):
    t = w.pick(lambda t: t.is_floating_point() and not is_plain(t) and t.numel() > 0)
    w.keep(t * 0.5 + t)
    w.record(str(t.dtype))


@feature(1)
def complex_maths(w):
    t = w.pick(torch.is_complex)
    w.keep(torch.view_as_real((t * t.conj()).resolve_conj()) if t.is_complex() else t.sin())
