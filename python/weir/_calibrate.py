"""How fast this machine runs PyTorch's ops: each is timed where it is called, with what it gets.

Small pieces of training run below a mode that calls every op again and again and writes it, with
its layouts and its time, as an op of a trace. What an op computes is then for the cost model to
say, by the same rules as for any other trace.
"""

import argparse
import ctypes
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

NO_TORCH = 3  # our exit code without it
try:
    import torch
    from torch import nn
    from torch.nn import functional
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError:
    raise SystemExit(NO_TORCH) from None

TOLD = ("stride", "transposed", "groups", "output_mask", "kernel_size")
LONG_ENOUGH = 2e-3  # seconds that one timing takes at least
TIMINGS = 5
MOST_TRIES = 40  # for timings in which the system gives out no pages
FEW_PAGES = 16
TINY_OPS = 200


def clock() -> Callable[[], float]:
    """With one thread, the time of the processor: what else runs on the machine is not counted."""
    return time.process_time if torch.get_num_threads() == 1 else time.perf_counter


def typical(timings: list[float]) -> float:
    """Of several threads the fastest: who waits for one that is not running only adds to it."""
    return statistics.median(timings) if torch.get_num_threads() == 1 else min(timings)


def seconds_of(call: Callable[[], Any], long_enough: float = LONG_ENOUGH) -> float:
    """Of some timings, each of as many calls as take long enough."""
    now, calls = clock(), 1
    call()
    while True:
        begin = now()
        for _ in range(calls):
            call()
        took = now() - begin
        if took >= long_enough:
            break
        calls = max(2 * calls, min(10 * calls, int(1.2 * calls * long_enough / max(took, 1e-7))))
    timings = [took / calls]
    for _ in range(TIMINGS - 1):
        begin = now()
        for _ in range(calls):
            call()
        timings.append((now() - begin) / calls)
    return typical(timings)


def seconds_with_old_pages(call: Callable[[], Any]) -> float | None:
    """Of single calls for which the system gave out no pages, if there are any.

    The C library's heap finds the last result's place too small for the next one now and then."""
    now, timings = clock(), []
    for _ in range(MOST_TRIES):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        begin = now()
        call()
        took = now() - begin
        if resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before <= FEW_PAGES:
            timings.append(took)
        if len(timings) == TIMINGS:
            break
    return typical(timings) if timings else None


def is_view(func: Any) -> bool:
    """Its result is another look upon what it was given, and nothing is computed."""
    returns = [one.alias_info for one in func._schema.returns]
    return any(alias is not None and not alias.is_write for alias in returns)


class Timed(TorchDispatchMode):
    """Below it, every op is timed and noted, but for views and lists of tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []
        self._next = 0
        self._cold = False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if is_view(func) or "_foreach_" in func._schema.name:
            return result
        time_of = seconds_with_old_pages if self._cold else seconds_of
        seconds = time_of(lambda: func(*args, **kwargs))
        if seconds is not None:
            self._note(func, args, kwargs, result, round(seconds * 1e9))
        return result

    def mark(self) -> None:
        """What follows finds nothing in a cache."""
        self.lines.append({"step": 1})
        self._cold = True

    def _note(
        self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, nanos: int
    ) -> None:
        tensors: list[torch.Tensor | None] = []
        written: list[int] = []
        settings: dict[str, list[int]] = {}
        for place, argument in enumerate(func._schema.arguments):
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            if "Tensor" in str(argument.type):
                many = value if isinstance(value, list | tuple) else [value]
                if argument.alias_info is not None and argument.alias_info.is_write:
                    written.extend(range(len(tensors), len(tensors) + len(many)))
                tensors.extend(one if isinstance(one, torch.Tensor) else None for one in many)
            elif argument.name in TOLD and value is not None:
                numbers = value if isinstance(value, list | tuple) else [value]
                settings[argument.name] = [int(one) for one in numbers]
        self._write(func._schema.name, tensors, written, settings, result, nanos)

    def _write(
        self,
        name: str,
        tensors: list[torch.Tensor | None],
        written: list[int],
        settings: dict[str, list[int]],
        result: Any,
        nanos: int,
    ) -> None:
        """Every op has storages of its own: what it reads comes as constants, and all is let go."""
        first, arguments, inputs = self._next, [], []
        for tensor in tensors:
            if tensor is None:
                arguments.append(None)
                continue
            self.lines.append({"constant": self._next, "storage": self._next, **sized(tensor)})
            arguments.append({"in": len(inputs), **layout_of(tensor)})
            inputs.append(self._next)
            self._next += 1
        places = {
            at: place for place, at in enumerate(i for i, t in enumerate(tensors) if t is not None)
        }
        mutates = [places[at] for at in written if at in places]
        outputs = []
        made = result if isinstance(result, list | tuple) else [result]
        if not mutates:
            for tensor in (one for one in made if isinstance(one, torch.Tensor)):
                outputs.append({"tensor": self._next, "storage": self._next, **sized(tensor)})
                self._next += 1
        self.lines.append(
            {
                "op": name,
                "ns": nanos,
                "in": inputs,
                "mutates": mutates,
                "out": outputs,
                "args": arguments,
                "settings": settings,
            }
        )
        self.lines.extend({"release": number} for number in range(first, self._next))


def layout_of(tensor: torch.Tensor) -> dict[str, Any]:
    return {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "strides": list(tensor.stride()),
    }


def sized(tensor: torch.Tensor) -> dict[str, Any]:
    return {"bytes": tensor.untyped_storage().nbytes(), **layout_of(tensor)}


def leaf(*shape: int) -> torch.Tensor:
    return torch.rand(shape).add_(0.1).requires_grad_()


def trained(result: torch.Tensor) -> None:
    result.backward(torch.ones_like(result))


ACTIVATIONS: tuple[Callable[..., torch.Tensor], ...] = (
    torch.relu,
    functional.relu6,
    functional.gelu,
    functional.silu,
    functional.leaky_relu,
    functional.elu,
    torch.sigmoid,
    torch.tanh,
    torch.exp,
    torch.log,
    torch.sqrt,
)


def elementwise(elements: int) -> None:
    """Two sizes of it tell what an element takes, and that fits into the caches."""
    x, y = torch.rand(elements).add_(0.5), torch.rand(elements).add_(0.5)
    for activation in ACTIVATIONS:
        trained(activation(leaf(elements)))
    torch.relu_(x.clone())
    x + y, x * y, x / y, x - y, x.pow(2), x.neg(), torch.maximum(x, y), x.rsqrt()
    mask = x > 1
    torch.where(mask, x, y), x.masked_fill(mask, 0.0), mask.to(torch.float32)
    x.clone().add_(y), x.clone().mul_(1.0), x.clone().div_(y), x.clone().sqrt_()
    state = x.clone()
    state.lerp_(y, 0.1), state.addcmul_(x, y, value=0.1), state.addcdiv_(x, y, value=0.1)
    state.copy_(y), state.zero_(), state.fill_(1.0)
    torch.empty(elements).bernoulli_(0.5), torch.empty(elements).normal_()
    torch.empty(elements).uniform_(), torch.randint(0, 1000, (elements,))
    functional.dropout(x, 0.1)
    torch.cat([x, y]), x.sum(), x.mean(), x.max(), x.norm()


def rows(count: int) -> None:
    width = 512
    x = torch.rand(count, width)
    x.sum(0), x.sum(1), x.mean(1), x.argmax(1), torch.var_mean(x, 1)
    trained(torch.softmax(leaf(count, width), 1))
    scores = leaf(count, width)
    functional.cross_entropy(scores, torch.zeros(count, dtype=torch.int64)).backward()
    trained(functional.layer_norm(leaf(count, width), (width,), leaf(width), leaf(width)))
    trained(functional.mse_loss(leaf(count, width), x, reduction="none"))
    table = leaf(4 * count, width)
    trained(functional.embedding(torch.arange(count) * 3 % (4 * count), table))
    x.view(count, 8, width // 8).transpose(0, 1).contiguous()
    x.index_select(0, torch.arange(count))


def planes(images: int, side: int = 32) -> None:
    """What works on images beside convolutions."""
    shape = (images, 16, side, side)
    trained(
        functional.batch_norm(
            leaf(*shape), torch.zeros(16), torch.ones(16), leaf(16), leaf(16), True
        )
    )
    trained(functional.group_norm(leaf(*shape), 4, leaf(16), leaf(16)))
    trained(functional.max_pool2d(leaf(*shape), 2))
    trained(functional.max_pool2d(leaf(*shape), 3, 2, 1))
    trained(functional.avg_pool2d(leaf(*shape), 2))
    trained(functional.adaptive_avg_pool2d(leaf(*shape), 1))
    trained(functional.interpolate(leaf(*shape), scale_factor=2.0, mode="nearest"))
    trained(functional.interpolate(leaf(*shape), scale_factor=2.0, mode="bilinear"))


def optimizers(elements: int) -> None:
    for make in (torch.optim.AdamW, torch.optim.SGD):
        weight = leaf(elements)
        weight.grad = torch.rand(elements)
        make([weight], lr=1e-3, fused=True).step()


def products() -> None:
    sides = (48, 384, 1536)
    for rows_ in (32, 256, 2048):
        for inner in sides:
            for outer in sides:
                if rows_ * inner * outer <= 1.3e9:
                    trained(functional.linear(leaf(rows_, inner), leaf(outer, inner), leaf(outer)))
    for batch, m, n, k in (
        (16, 64, 64, 64),
        (96, 128, 128, 64),
        (96, 128, 64, 128),
        (32, 256, 256, 32),
    ):
        trained(torch.bmm(leaf(batch, m, k), leaf(batch, k, n)))


# Fewer images take other kernels where the filter is of one pixel and there is one thread.
IMAGES = 16
# Channels in and out, groups, side of the image, filter, stride.
CONVOLUTIONS = (
    (3, 32, 1, 128, 3, 2),
    (3, 48, 1, 128, 7, 2),
    (3, 48, 1, 128, 3, 1),
    *((inner, outer, 1, side, 1, 1) for inner, outer, side in (
        (24, 96, 48), (96, 24, 48), (48, 192, 24), (192, 48, 24), (192, 192, 24),
        (128, 512, 12), (512, 128, 12), (384, 1536, 6), (1536, 384, 6),
    )),
    *((inner, outer, 1, side, 3, 1) for inner, outer, side in (
        (48, 48, 64), (96, 96, 32), (96, 24, 24), (192, 192, 16), (384, 384, 8), (384, 384, 16),
        (192, 24, 8),
    )),
    (96, 96, 1, 32, 3, 2),
    (192, 384, 1, 16, 1, 2),
    *((channels, channels, channels, side, 3, stride) for channels, side, stride in (
        (48, 64, 1), (96, 48, 2), (192, 24, 1), (384, 12, 1), (384, 12, 2), (768, 6, 1),
    )),
)  # fmt: skip


def convolutions() -> None:
    for inner, outer, groups, side, filter_, stride in CONVOLUTIONS:
        x, weight = leaf(IMAGES, inner, side, side), leaf(outer, inner // groups, filter_, filter_)
        trained(functional.conv2d(x, weight, None, stride, filter_ // 2, 1, groups))
    trained(functional.conv_transpose2d(leaf(4, 96, 16, 16), leaf(96, 48, 2, 2), None, 2))
    trained(functional.conv_transpose2d(leaf(4, 192, 8, 8), leaf(192, 96, 2, 2), None, 2))


def attention() -> None:
    for heads, length, width in ((8, 128, 32), (32, 128, 64), (48, 256, 64), (16, 512, 64)):
        for causal in (False, True):
            q, k, v = (leaf(2, heads // 2, length, width) for _ in range(3))
            trained(functional.scaled_dot_product_attention(q, k, v, is_causal=causal))


def recurrences() -> None:
    for batch, length, width in ((4, 32, 96), (8, 64, 192), (24, 64, 384)):
        x = leaf(length, batch, width)
        trained(nn.LSTM(width, width)(x)[0])
    cell = nn.LSTMCell(192, 192)
    trained(cell(leaf(64, 192))[0])


# What is timed: a piece, and the sizes it is given one after the other.
PIECES: tuple[tuple[Callable[..., None], tuple[tuple[int, ...], ...]], ...] = (
    (elementwise, ((4096,), (65536,))),
    (rows, ((8,), (128,))),
    (planes, ((1,), (4,))),
    (optimizers, ((4096,), (65536,))),
    (products, ((),)),
    (convolutions, ((),)),
    (attention, ((),)),
    (recurrences, ((),)),
)


LEAST_OPERAND, LARGEST_OPERAND = 16 << 20, 256 << 20  # bytes


def from_memory(timed: Timed, largest_cache: int) -> None:
    """The same ops with operands of twice the largest cache."""
    timed.mark()
    operand = min(max(2 * largest_cache, LEAST_OPERAND), LARGEST_OPERAND)
    elements, side = operand // 4, 56
    with timed:
        elementwise(elements)
        rows(elements // 512)
        planes(elements // (16 * side * side), side)
        optimizers(elements)


def keep_pages() -> None:
    """What is freed stays with the process, so that no op waits for new pages."""
    trim_threshold, mmap_max = -1, -4  # of mallopt(3)
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(trim_threshold, 2**31 - 1)
        mallopt(mmap_max, 0)


class Counted(TorchDispatchMode):
    """How many ops run below it, lists counted by their tensors, as traces have them."""

    def __init__(self) -> None:
        super().__init__()
        self.ops = 0

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if "_foreach_" in func._schema.name:
            self.ops += len(args[0])
        elif not is_view(func):
            self.ops += 1
        return func(*args, **(kwargs or {}))


def nanos_per_op(call: Callable[[], Any], prepare: Callable[[], Any] = lambda: None) -> int:
    """Of what `call` runs; `prepare` before it is not timed."""
    now, timings = clock(), []
    prepared = prepare()
    with Counted() as counted:
        call(prepared) if prepared is not None else call()
    for _ in range(4 * TIMINGS):
        prepared = prepare()
        begin = now()
        call(prepared) if prepared is not None else call()
        timings.append(now() - begin)
    return round(typical(timings) * 1e9 / max(counted.ops, 1))


def latencies() -> dict[str, int]:
    """What an op takes that computes next to nothing: Python, the dispatcher, autograd."""
    layers = [nn.Linear(8, 8) for _ in range(TINY_OPS // 4)]
    net = nn.Sequential(*(part for layer in layers for part in (layer, nn.GELU(), nn.LayerNorm(8))))
    x = torch.rand(4, 8)
    optimizer = torch.optim.AdamW(net.parameters())
    net(x).sum().backward()
    optimizer.step()
    return {
        "forward": nanos_per_op(lambda: net(x)),
        "backward": nanos_per_op(lambda loss: loss.backward(), lambda: net(x).sum()),
        "optimizer": nanos_per_op(optimizer.step),
    }


def fresh_nanos_per_mib() -> int:
    """What it takes to write memory for the first time, beyond writing it."""
    size = 256 << 20
    kept = torch.empty(size, dtype=torch.uint8)
    kept.zero_()
    long = 1e-3
    fresh = seconds_of(lambda: torch.empty(size, dtype=torch.uint8).zero_(), long)
    return max(round((fresh - seconds_of(kept.zero_, long)) * 1e9 / (size >> 20)), 0)


def time_pieces(timed: Timed, show: bool) -> None:
    for number, (piece, sizes) in enumerate(PIECES):
        if show:
            where = f"calibrating {piece.__name__} ({number + 1} of {len(PIECES)})"
            print(f"\r{where}\033[K", end="", file=sys.stderr, flush=True)
        with timed:
            for size in sizes:
                piece(*size)
    if show:
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", help="file for the ops and their times")
    parser.add_argument("figures", help="file for what is no op")
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--largest-cache", type=int, default=0, metavar="BYTES")
    parser.add_argument("--quiet", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    torch.manual_seed(0)
    figures = {
        "torch": torch.__version__,
        "fresh_ns_per_mib": fresh_nanos_per_mib(),
        "latency_ns": latencies(),
    }
    keep_pages()
    timed = Timed()
    time_pieces(timed, sys.stderr.isatty() and not given.quiet)
    from_memory(timed, given.largest_cache)
    head = {"weir_trace": 1, "views": "keep", "producer": "weir calibrate"}
    with open(given.trace, "w", encoding="utf-8") as file:
        for line in [head, *timed.lines, {"end": True, "events": len(timed.lines)}]:
            print(json.dumps(line), file=file)
    with open(given.figures, "w", encoding="utf-8") as file:
        json.dump(figures, file)


if __name__ == "__main__":
    main()
