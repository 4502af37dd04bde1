"""Recording without memory: the program runs on tensors that have shapes and no bytes.

PyTorch's fake tensors say that they are on the CPU, so the program takes the ways it takes there;
a mode above them tells the recorder of every op. What depends on data cannot be known: a number
that is read is `CONSTANT`, and an op whose shape depends on data ends the program.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import torch
import torch._decomp
import torch._prims
import torch._refs  # all that fake tensors would import later, among the program's ops
from torch._subclasses import fake_tensor
from torch.utils._python_dispatch import TorchDispatchMode

from . import _native

CONSTANT = 1  # what a number that is read is taken for
TOLD = ("stride", "transposed", "groups", "output_mask", "kernel_size")
METADATA, DECOMPOSES, SPLITS = 0, 1, 2  # OpKind of the runtime

_DATA_DEPENDENT = (
    fake_tensor.DynamicOutputShapeException,
    fake_tensor.DataDependentOutputException,
    fake_tensor.UnsupportedOperatorException,
)


def _complain(text: str) -> None:
    print(f"weir: {text}", file=sys.stderr)


class Recording(TorchDispatchMode):
    """Above the fake tensors: every op of the program comes here first."""

    def __init__(self) -> None:
        super().__init__()
        self._ops = _native.ops()
        self._kinds: dict[Any, int] = {}
        self._warned = False

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        kind = self._kind(func)
        if kind == DECOMPOSES:
            return self._parts(func, args, kwargs)
        try:
            result = func(*args, **_without_generator(kwargs))
        except _DATA_DEPENDENT:
            if func is torch.ops.aten._local_scalar_dense.default:
                return self._constant(args[0])
            self.refuse(_name(func))
        if kind == SPLITS:
            self._note_each(func, args, kwargs)
        elif kind != METADATA:
            self._note(func, args, kwargs, result)
        return result

    def refuse(self, op: str) -> NoReturn:
        self._ops.discard_meta()
        _complain(f"{op} depends on data, and --meta has none; record without it")
        raise SystemExit(2)

    def _kind(self, func: Any) -> int:
        if _name(func).startswith("prim::"):  # asks for a property, and is no operator
            return METADATA
        if func not in self._kinds:
            with _below_python():
                self._kinds[func] = self._ops.kind(_name(func), func._overloadname)
        return self._kinds[func]

    def _parts(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        key = torch._C.DispatchKey.CompositeExplicitAutograd
        with self:
            if func.has_kernel_for_dispatch_key(key):
                return func._op_dk(key, *args, **kwargs)
            return func.decompose(*args, **kwargs)

    def _constant(self, tensor: torch.Tensor) -> bool | int | float:
        if not self._warned:
            _complain(f"a value was read; with --meta every value is {CONSTANT}")
            self._warned = True
        if tensor.dtype == torch.bool:
            return bool(CONSTANT)
        return float(CONSTANT) if tensor.is_floating_point() else CONSTANT

    def _note_each(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Lists in, one tensor after the other."""
        length = len(args[0])

        def one(value: Any, i: int) -> Any:
            return [value[i]] if isinstance(value, list | tuple) and len(value) == length else value

        for i in range(length):
            first = tuple(one(value, i) for value in args)
            self._note(func, first, {key: one(value, i) for key, value in kwargs.items()}, ())

    def _note(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        tensors: list[torch.Tensor | None] = []
        places: list[int] = []
        settings: dict[str, list[int]] = {}
        for place, argument in enumerate(func._schema.arguments):
            value = args[place] if place < len(args) else kwargs.get(argument.name)
            if "Tensor" in str(argument.type):
                many = value if isinstance(value, list | tuple) else [value]
                tensors.extend(one if isinstance(one, torch.Tensor) else None for one in many)
                places.extend([place] * len(many))
            elif argument.name in TOLD:
                settings[argument.name] = _numbers(value, argument)
        results = result if isinstance(result, list | tuple) else [result]
        with _below_python():
            self._ops.note(
                _name(func),
                func._overloadname,
                tensors,
                places,
                [tensor for tensor in results if isinstance(tensor, torch.Tensor)],
                list(settings),
                [len(values) for values in settings.values()],
                [value for values in settings.values() for value in values],
            )


def _name(func: Any) -> str:
    return str(func._schema.name)


def _numbers(value: Any, argument: Any) -> list[int]:
    if value is None and argument.has_default_value():
        value = argument.default_value
    if isinstance(value, list | tuple):
        return [int(one) for one in value]
    return [] if value is None else [int(value)]


def _without_generator(kwargs: dict[str, Any]) -> dict[str, Any]:
    """One for the CPU does not fit what has no bytes, and nothing is drawn."""
    return {**kwargs, "generator": None} if kwargs.get("generator") is not None else kwargs


def _below_python() -> Any:
    """Inside, ops go past all modes and subclasses of Python."""
    return torch._C._DisableTorchDispatch()  # type: ignore[attr-defined]


@contextlib.contextmanager
def _refusing(recording: Recording, name: str) -> Iterator[None]:
    """A method of tensors that reads all their values without an op."""
    cls = fake_tensor.FakeTensor
    had_own, old = name in vars(cls), getattr(cls, name)

    def refused(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if name == "tolist" and tensor.dim() == 0:
            return tensor.item()
        recording.refuse(f"Tensor.{name}")

    setattr(cls, name, refused)
    try:
        yield
    finally:
        if had_own:
            setattr(cls, name, old)
        else:
            delattr(cls, name)


def _on_steps(action: Callable[[], None]) -> Any:
    from torch.optim.optimizer import register_optimizer_step_post_hook

    return register_optimizer_step_post_hook(lambda *_: action())


@contextlib.contextmanager
def record(path: str | os.PathLike[str]) -> Iterator[None]:
    """Writes a trace of what runs inside, without data and without computing."""
    ops = _native.ops()
    ops.record_meta(os.fspath(path))
    with contextlib.ExitStack() as active:
        active.callback(ops.record_meta, "")
        active.enter_context(
            fake_tensor.FakeTensorMode(allow_non_fake_inputs=True, allow_fallback_kernels=False)
        )
        recording = active.enter_context(Recording())
        for name in ("tolist", "numpy"):
            active.enter_context(_refusing(recording, name))
        hook = _on_steps(ops.step_meta)
        active.callback(hook.remove)
        yield
