"""The budget, the recording and the small calls of the package."""

import contextlib
import functools
import inspect
import json
import os
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _native, _units
from ._options import Options, make_options
from ._patches import Patches

if TYPE_CHECKING:
    import torch

Function = TypeVar("Function", bound=Callable[..., Any])


class _Session:
    """At most one budget and one recording are active; while one is, the program is followed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._active: dict[str, str] = {}
        self._patches: Patches | None = None

    def begin(
        self, kind: str, text: str, start: Callable[[], None], stop: Callable[[], None]
    ) -> None:
        with self._lock:
            if kind in self._active:
                raise RuntimeError(
                    f"a {kind} is active already ({self._active[kind]}) and they do not nest;"
                    f" leave that one first"
                )
            with contextlib.ExitStack() as on_failure:
                start()
                on_failure.callback(stop)
                if not self._active:
                    self._patches = Patches(_native.ops())
                    _native.ops().enable(True)
                self._active[kind] = text
                on_failure.pop_all()

    def end(self, kind: str, stop: Callable[[], None]) -> None:
        with self._lock:
            del self._active[kind]
            if not self._active and self._patches:
                _native.ops().enable(False)
                self._patches.undo()
                self._patches = None
            stop()


_session = _Session()


class Budget:
    """What `budget()` makes: a context manager, and a decorator with a new budget for each call."""

    def __init__(self, make: Callable[[], Options], compile: str) -> None:
        self._make = make
        self._compile = compile
        self._stance = contextlib.ExitStack()
        make()  # a wrong amount is refused here, before anything runs

    def __enter__(self) -> "Budget":
        options, ops = self._make(), _native.ops()
        start = functools.partial(ops.start, options.to_json())
        with contextlib.ExitStack() as stance:
            if self._compile == "eager":
                import torch

                stance.enter_context(torch.compiler.set_stance("force_eager"))
            _session.begin("budget", options.describe(), start, ops.stop)
            self._stance = stance.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stance.close()
        _session.end("budget", _native.ops().stop)

    def __call__(self, function: Function) -> Function:
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise TypeError(
                f"{function.__name__} would run after its budget has ended; use `with weir.budget`"
                " inside it"
            )

        @functools.wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with Budget(self._make, self._compile):
                return function(*args, **kwargs)

        return inside  # type: ignore[return-value]


def budget(
    amount: int | str,
    *,
    policy: str | None = None,
    smallest: int | str | None = None,
    tier: str | os.PathLike[str] | None = None,
    recompute: bool = True,
    peak: int | str | None = None,
    trace: str | os.PathLike[str] | None = None,
    checksum: bool = False,
    plans: str | os.PathLike[str] | None = None,
    addresses: Literal["auto", "move", "keep"] | None = None,
    compile: Literal["leave", "eager"] = "leave",
) -> Budget:
    """Holds tensors to `amount` bytes: 2 << 30, "2GiB", "auto", or "0.5x" of the peak.

    policy: who chooses what goes (`weir replay --help` lists them); smallest: tensors below this
    size stay; tier: FOLDER[:SIZE] for offloading, or "none"; recompute: whether evicting and
    recomputing is allowed; peak: what the program needs without a budget, if that is known;
    trace: a recording of the same program (`weir record`), which tells the peak and what a step
    needs at least;
    checksum: compare what is recomputed with what it was; plans: a file, read if it is there and
    written at the end, by which the next run plans its steps no more; addresses: "keep" brings
    tensors back where they were, "move" where there is room, which is faster, "auto" (the default)
    moves them unless a C++ extension is loaded, which might remember addresses it only reads from;
    compile: "eager" makes torch.compile run its functions uncompiled, because Weir cannot evict
    inside compiled code.
    """
    if compile not in ("leave", "eager"):
        raise ValueError(f"compile cannot be {compile!r}; give 'leave' or 'eager'")
    make = functools.partial(
        make_options,
        amount,
        policy=policy,
        smallest=smallest,
        tier=tier,
        recompute=recompute,
        peak=peak,
        trace=trace,
        checksum=checksum,
        plans=plans,
        addresses=addresses,
    )
    return Budget(make, compile)


@contextlib.contextmanager
def record(path: str | os.PathLike[str]) -> Iterator[None]:
    """Writes a trace of what runs inside, with or without a budget."""
    ops, name = _native.ops(), os.fspath(path)
    start, stop = functools.partial(ops.record, name), functools.partial(ops.record, "")
    _session.begin("recording", name, start, stop)
    try:
        yield
    finally:
        _session.end("recording", stop)


@contextlib.contextmanager
def pause() -> Iterator[None]:
    """Inside, this thread's ops run as if there were no Weir. What was away comes back on touch."""
    was_on = _native.ops().enable(False)
    try:
        yield
    finally:
        _native.ops().enable(was_on)


class Pin:
    """A tensor that stays resident; `with` ends that."""

    def __init__(self, tensor: "torch.Tensor") -> None:
        self._tensor = tensor
        _native.ops().pin(tensor, True)

    def __enter__(self) -> "torch.Tensor":
        return self._tensor

    def __exit__(self, *_: object) -> None:
        unpin(self._tensor)


def pin(tensor: "torch.Tensor") -> Pin:
    """Keeps the tensor resident until `unpin(tensor)`, or to the end of `with weir.pin(tensor)`."""
    return Pin(tensor)


def unpin(tensor: "torch.Tensor") -> None:
    _native.ops().pin(tensor, False)


def reclaim(bytes: int | str | None = None) -> int:
    """Evicts or offloads now: this many bytes, or all that can go. Says how many went."""
    amount = _units.parse_bytes(bytes) if isinstance(bytes, str) else bytes
    return int(_native.ops().reclaim(-1 if amount is None else amount))


def step() -> None:
    """A training step is over. Optimizers of torch.optim say it themselves."""
    _native.ops().step()


def stats() -> dict[str, int]:
    """What was measured since the budget began."""
    return dict(json.loads(_native.ops().stats()))
