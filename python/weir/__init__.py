"""Weir holds training at the memory line you draw.

    import weir

    with weir.budget("2GiB"):
        train()

What no budget can hold raises `weir.OutOfBudget`, which is `torch.OutOfMemoryError`. Its message
names the op, the bytes it needs, the bytes that are pinned, and the smallest budget for the op.
"""

from typing import TYPE_CHECKING, Any

from . import _native
from ._session import budget, pause, pin, reclaim, record, stats, step, unpin

if TYPE_CHECKING:
    from torch import OutOfMemoryError as OutOfBudget

__all__ = [
    "OutOfBudget",
    "budget",
    "pause",
    "pin",
    "reclaim",
    "record",
    "stats",
    "step",
    "unpin",
]


def __getattr__(name: str) -> Any:
    if name == "OutOfBudget":
        import torch

        return torch.OutOfMemoryError
    raise AttributeError(f"module 'weir' has no attribute {name!r}")


# Tensors are Weir's to move only if its allocator made them, so the library is there before the
# program makes any. The command waits for the program's own `import torch` instead.
if not _native.started_by_the_command():
    _native.ops()
