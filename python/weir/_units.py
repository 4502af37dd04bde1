"""Amounts of memory and budgets as people write them, with the spellings of the `weir` command."""

import math
import re

MOST_BYTES = 1 << 50
MOST_SHARE = 1000.0

BYTES_HELP = "give bytes as 4096, 1500MB or 1.5GiB"
BUDGET_HELP = "give bytes (4096, 1500MB, 1.5GiB), a share of the peak (0.5x) or auto"

UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
UNITS |= {"kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}

_NUMBER = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(.*)", re.DOTALL)
_BYTE_SCALE = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)]
_TIME_SCALE = [("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9)]


def _quoted(text: str) -> str:
    """The user's text on one line, however long or strange it is."""
    shown = "".join(c if " " <= c <= "~" else "?" for c in text[:60])
    return f"'{shown}...'" if len(text) > 60 else f"'{shown}'"


def _reject(text: str, problem: str, help_text: str) -> ValueError:
    return ValueError(f"{_quoted(text)} {problem}; {help_text}")


def parse_bytes(text: str, help_text: str = BYTES_HELP) -> int:
    """4096, 1500MB, 1.5GiB; zero is a quantity too. Everything else raises ValueError."""
    match = _NUMBER.fullmatch(text)
    if not match:
        raise _reject(text, "is not an amount of memory", help_text)
    number, name = match[1], match[2]
    size = UNITS.get(name[1:] if len(name) > 1 and name[0] == " " else name)
    if size is None:
        raise _reject(text, "has no unit that is known", help_text)
    if size == 1 and "." in number:
        raise _reject(text, "is not a whole number of bytes", help_text)
    exact = float(number) * size
    if exact > MOST_BYTES:
        raise _reject(text, "is more than 1024 TiB", help_text)
    below = math.floor(exact)
    return below + (exact - below >= 0.5)


def parse_budget(text: str) -> tuple[int, float]:
    """Bytes and 0, or 0 and a share of the peak."""
    match = _NUMBER.fullmatch(text)
    if not match or match[2] != "x":
        amount = parse_bytes(text, BUDGET_HELP)
        if amount == 0:
            raise _reject(text, "leaves no memory at all", BUDGET_HELP)
        return amount, 0.0
    share = float(match[1])
    if share <= 0:
        raise _reject(text, "leaves no memory at all", BUDGET_HELP)
    if share > MOST_SHARE:
        raise _reject(text, "is more than 1000 times the peak", BUDGET_HELP)
    return 0, share


def format_bytes(amount: int) -> str:
    return _scaled(amount, _BYTE_SCALE)


def format_nanos(time: int) -> str:
    return _scaled(time, _TIME_SCALE)


def _scaled(amount: int, scale: list[tuple[str, int]]) -> str:
    """Two decimals and the largest unit that fits; 1023.996 KiB belongs to the next unit."""
    for name, size in reversed(scale[1:]):
        if abs(amount) >= size * 0.999995:
            return f"{amount / size:.2f} {name}"
    return f"{amount} {scale[0][0]}"
