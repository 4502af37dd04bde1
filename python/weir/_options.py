"""What a budget is asked to be: checked at the door, then told to the runtime as JSON."""

import dataclasses
import json
import operator
import os
from typing import Any

from . import _machine, _units

ADDRESSES = ("auto", "move", "keep")


@dataclasses.dataclass(frozen=True)
class Options:
    budget: int = 0  # bytes, or 0 if it is a share
    fraction: float = 0.0
    peak: int = 0  # what the program would use without a budget; 0: not known
    trace: str | None = None  # of the same program, if there is one
    policy: str | None = None  # None, here and below: the runtime's default
    smallest: int | None = None
    recompute: bool = True
    tier: str = ""
    checksum: bool = False
    plans: str | None = None  # a file of plans, for one run after the other
    addresses: str | None = None  # may tensors come back at others: one of ADDRESSES

    def to_json(self) -> str:
        known = dataclasses.asdict(self).items()
        return json.dumps({key: value for key, value in known if value is not None})

    def share_of(self, processes: int) -> "Options":
        """For one of several processes that share the machine and its tier."""
        folder, size = split_tier(self.tier)
        tier = f"{folder}:{max(size // processes, 1)}" if size else self.tier
        budget = self.budget and max(self.budget // processes, 1)
        return dataclasses.replace(self, budget=budget, tier=tier)

    def describe(self) -> str:
        return _units.format_bytes(self.budget) if self.budget else f"{self.fraction:g}x"


def make_options(
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
    addresses: str | None = None,
) -> Options:
    """Raises ValueError or TypeError with one line that says what would do."""
    budget, fraction = _budget(amount)
    return Options(
        budget=budget,
        fraction=fraction,
        peak=0 if peak is None else _bytes("peak", peak),
        trace=None if trace is None else os.path.abspath(trace),
        policy=policy,
        smallest=None if smallest is None else _bytes("smallest", smallest),
        recompute=bool(recompute),
        tier="" if tier is None else _checked_tier(os.fspath(tier)),
        checksum=bool(checksum),
        plans=None if plans is None else os.path.abspath(plans),
        addresses=None if addresses is None else _known("addresses", addresses, ADDRESSES),
    )


def _budget(amount: int | str) -> tuple[int, float]:
    if isinstance(amount, str):
        return (_machine.auto_budget(), 0.0) if amount == "auto" else _units.parse_budget(amount)
    return _units.parse_budget(str(_whole("a budget", amount)))


def _known(name: str, given: str, known: tuple[str, ...]) -> str:
    if given in known:
        return given
    raise ValueError(f"{name} cannot be {given!r}; give {', '.join(known[:-1])} or {known[-1]}")


def _bytes(name: str, amount: int | str) -> int:
    try:
        return _units.parse_bytes(amount if isinstance(amount, str) else str(_whole(name, amount)))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _whole(name: str, amount: Any) -> int:
    try:
        return operator.index(amount)
    except TypeError:
        raise TypeError(f"{name} cannot be {amount!r}; {_units.BUDGET_HELP}") from None


def split_tier(tier: str) -> tuple[str, int]:
    """Folder and size of FOLDER[:SIZE]; 0 if no size is given. A folder's name may have colons."""
    folder, colon, size = tier.rpartition(":")
    try:
        return (folder, _units.parse_bytes(size)) if colon and folder else (tier, 0)
    except ValueError:
        return tier, 0


def _checked_tier(tier: str) -> str:
    folder, _ = split_tier(tier)
    if tier in ("", "none"):
        return tier
    if not os.path.isdir(folder):
        raise ValueError(f"tier: {folder!r} is not a folder; give FOLDER, FOLDER:20GiB or none")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"tier: {folder!r} cannot be written to; give another folder or none")
    return tier
