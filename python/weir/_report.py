"""What a run tells: the line on the terminal while it runs, the table and the file at its end."""

import json
import os
import shutil
import stat
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ._units import format_bytes, format_nanos

SECONDS_BETWEEN_LINES = 0.5


def slowdown(stats: dict[str, int]) -> float | None:
    """Whole time over the time outside recomputing and transfers. An estimate: transfers that ran
    beside the program count in full, and moving pages and keeping books do not count."""
    extra = stats["recompute_ns"] + stats["offload_ns"] + stats["fetch_ns"]
    useful = stats["elapsed_ns"] - extra
    return stats["elapsed_ns"] / useful if useful > 0 else None


def table(title: str, stats: dict[str, int]) -> str:
    estimate = slowdown(stats)
    rows = [
        ("steps", f"{stats['steps']:,} in {format_nanos(stats['elapsed_ns'])}"),
        ("budget", format_bytes(stats["budget_bytes"]) if stats["budget_bytes"] else "none"),
        ("logical peak", format_bytes(stats["logical_peak_bytes"])),
        ("peak", format_bytes(stats["peak_bytes"])),
        ("evictions", f"{stats['evictions']:,}"),
        ("recomputing", f"{format_nanos(stats['recompute_ns'])}, {stats['recomputes']:,} ops"),
        ("to the tier", _transfer(stats["offloaded_bytes"], stats["offload_ns"])),
        ("from the tier", _transfer(stats["fetched_bytes"], stats["fetch_ns"])),
        ("slowdown", f"{estimate:.3f} estimated" if estimate else "not known"),
    ]
    return "\n".join([title, *(f"  {name:<14} {value}" for name, value in rows)])


def _transfer(size: int, time: int) -> str:
    return f"{format_bytes(size)} in {format_nanos(time)}"


def status_line(stats: dict[str, int]) -> str:
    budget = f" of {format_bytes(stats['budget_bytes'])}" if stats["budget_bytes"] else ""
    parts = [
        f"step {stats['steps']:,}",
        f"{format_bytes(stats['committed_bytes'])}{budget}",
        f"logical {format_bytes(stats['logical_bytes'])}",
        f"{stats['evictions']:,} evictions",
        f"recomputing {format_nanos(stats['recompute_ns'])}",
    ]
    return "weir: " + " | ".join(parts)


class StatusLine:
    """Drawn twice a second by a thread of its own, on a terminal only. The cursor stays at the
    line's beginning, so what the program prints goes over it."""

    def __init__(self, stats: Callable[[], dict[str, int]]) -> None:
        self._stats = stats
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._draw_on, name="weir-status", daemon=True)

    def start(self) -> None:
        if sys.stderr is not None and sys.stderr.isatty():
            self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _draw_on(self) -> None:
        terminal = sys.stderr
        while not self._over.wait(SECONDS_BETWEEN_LINES):
            width = shutil.get_terminal_size().columns - 1
            terminal.write(f"\x1b[K{status_line(self._stats())[:width]}\r")
            terminal.flush()
        terminal.write("\x1b[K")
        terminal.flush()


def check_writable(path: str) -> None:
    """Raises ValueError with one line if nothing could be written there at the end."""
    try:
        if _is_special(path):
            with open(path, "a"):
                return
        if os.path.isdir(path):
            raise IsADirectoryError(0, "it is a folder")
        with tempfile.NamedTemporaryFile(dir=Path(path).absolute().parent):
            return
    except OSError as error:
        raise ValueError(
            f"{path!r} cannot be written ({error.strerror}); give another file"
        ) from None


def write_json(path: str, value: dict[str, Any]) -> None:
    """All of it or nothing: a reader never sees half a file."""
    text = json.dumps(value) + "\n"
    if _is_special(path):
        Path(path).write_text(text)
        return
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        Path(beside).write_text(text)
        os.replace(beside, path)
    except OSError:
        Path(beside).unlink(missing_ok=True)
        raise


def _is_special(path: str) -> bool:
    """A device or a pipe, such as /dev/stdout, is written to, not replaced."""
    try:
        mode = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
