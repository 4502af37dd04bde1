"""Finds libweir_torch.so, refuses one that was built for another torch, and loads it."""

import functools
import importlib.metadata
import itertools
import json
import os
import sys
from pathlib import Path
from typing import Any

LIBRARY = "libweir_torch.so"
PACKAGE = Path(__file__).resolve().parent
REPOSITORY = PACKAGE.parents[1]


def library_path() -> Path:
    """$WEIR_LIBRARY, else the package's own copy, else what `make build` made."""
    if named := os.environ.get("WEIR_LIBRARY"):
        if not Path(named).is_file():
            raise ImportError(f"WEIR_LIBRARY is {named!r}, which is not a file; unset or mend it")
        return Path(named)
    for folder in (PACKAGE / "_lib", REPOSITORY / "build" / "lib"):
        if (folder / LIBRARY).is_file():
            return folder / LIBRARY
    raise ImportError(f"{LIBRARY} is not built; run `make build` in {REPOSITORY}")


def check() -> Path:
    """Where the library is; it fits the installed torch. Imports no torch, so it costs little."""
    path = library_path()
    installed, info = _installed_torch(), path.with_suffix(".json")
    if info.is_file():
        _compare(path, json.loads(info.read_text())["torch"], installed)
    return path


def _compare(path: Path, built_for: str, installed: str) -> None:
    if _public(built_for) == _public(installed):
        return
    raise ImportError(
        f"{path} is built for torch {built_for}, but torch {installed} is installed;"
        f" run `make build` in {REPOSITORY} to rebuild it"
    )


def _installed_torch() -> str:
    if torch := sys.modules.get("torch"):
        return str(torch.__version__)
    try:
        return importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        raise ImportError(f"this Python ({sys.executable}) has no torch; install it") from None


def _public(version: str) -> str:
    """Without what tells the builds of one release apart: 2.13.0 of 2.13.0+cpu."""
    return version.partition("+")[0]


@functools.cache
def ops() -> Any:
    """The control ops, `torch.ops.weir`; loads the library the first time."""
    path = check()
    import torch

    try:
        torch.ops.load_library(str(path))
    except OSError as error:
        reason = str(error).splitlines()[0]
        raise ImportError(f"{path} cannot be loaded ({reason}); run `make build`") from None
    _compare(path, json.loads(torch.ops.weir.version())["torch"], str(torch.__version__))
    return torch.ops.weir


def started_by_the_command() -> bool:
    """Whether this package is imported by its own command rather than by a program."""
    for name in ("__main__", "sitecustomize"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and PACKAGE in Path(file).resolve().parents:
            return True
    # While Python looks for the module of -m, sys.argv[0] is "-m" and __main__ is still empty.
    if sys.argv[:1] != ["-m"]:
        return False
    given = sys.orig_argv
    apart = any(
        a[:1] == "-" and a[-1:] == "m" and b == "weir" for a, b in itertools.pairwise(given)
    )
    return apart or any(a[:1] == "-" and a.endswith("mweir") for a in given)
