"""What `auto` means: the memory this process may still take, less a reserve.

The smallest of the machine's MemAvailable and, for each memory cgroup from ours up to the root
(version 1 or 2), its limit less what is in use there and cannot be given back. From that, the
reserve for all that is no tensor goes off: 256 MiB or 5 %, whichever is more.
"""

from collections.abc import Iterator
from pathlib import Path

LEAST_RESERVE = 256 << 20
RESERVED_SHARE = 0.05
UNLIMITED = 1 << 60  # version 1 has no word for it, only a number near the largest

# For each version: the files of the limit and of the use, and the pages that can be given back.
FILES = {
    "cgroup2": ("memory.max", "memory.current", "inactive_file"),
    "cgroup": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def auto_budget(proc: Path = Path("/proc")) -> int:
    free = min([_available(proc), *_left_in_cgroups(proc)])
    budget = free - max(LEAST_RESERVE, int(free * RESERVED_SHARE))
    if budget <= 0:
        raise ValueError(
            f"auto leaves no memory: {max(free, 0)} bytes are free and the reserve is"
            f" {LEAST_RESERVE}; give the budget in bytes"
        )
    return budget


def _available(proc: Path) -> int:
    return _field(proc / "meminfo", "MemAvailable:", UNLIMITED // 1024) * 1024


def _field(path: Path, key: str, default: int) -> int:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return default
    return next((int(line.split()[1]) for line in lines if line.split()[:1] == [key]), default)


def _left_in_cgroups(proc: Path) -> Iterator[int]:
    for kind, folder, top in _memory_cgroups(proc):
        while True:
            left = _left(kind, folder)
            if left is not None:
                yield left
            if folder == top:
                break
            folder = folder.parent


def _left(kind: str, folder: Path) -> int | None:
    limit_file, use_file, reclaimable = FILES[kind]
    limit, use = _number(folder / limit_file), _number(folder / use_file)
    if limit is None or limit >= UNLIMITED:
        return None
    return limit - (use or 0) + _field(folder / "memory.stat", reclaimable, 0)


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None  # "max" is no limit


def _memory_cgroups(proc: Path) -> Iterator[tuple[str, Path, Path]]:
    """Version, our folder and the topmost one of each hierarchy that may limit memory."""
    try:
        ours = (proc / "self" / "cgroup").read_text().splitlines()
        mounts = (proc / "self" / "mountinfo").read_text().splitlines()
    except OSError:
        return
    for line in ours:
        _, controllers, path = line.split(":", 2)
        kind = "cgroup" if controllers else "cgroup2"
        if controllers and "memory" not in controllers.split(","):
            continue
        for root, top in _mounted(mounts, kind):
            folder = top / path.removeprefix(root).lstrip("/")
            # Inside a container the path may be the host's, which is not mounted here.
            yield kind, folder if folder.is_dir() and ".." not in path else top, top


def _mounted(mounts: list[str], kind: str) -> Iterator[tuple[str, Path]]:
    for line in mounts:
        before, _, after = line.partition(" - ")
        fields, (filesystem, _, *options) = before.split(), after.split()
        if filesystem == kind and (kind == "cgroup2" or "memory" in options[0].split(",")):
            yield fields[3].rstrip("/"), Path(fields[4])
