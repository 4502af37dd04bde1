"""Begins Weir in the workers of a launcher, then makes way for the sitecustomize behind it."""

import importlib.util
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def _begin() -> None:
    """Finds the package beside this folder, wherever else Python would look for it."""
    root = os.path.dirname(os.path.dirname(FOLDER))
    sys.path.insert(0, root)
    try:
        from weir import _launcher
    finally:
        sys.path.remove(root)
    _launcher.begin_in_worker()


def _make_way() -> None:
    """The import that runs us wants a sitecustomize in sys.modules afterwards: theirs or ours."""
    sys.path[:] = [path for path in sys.path if path != FOLDER]
    if importlib.util.find_spec("sitecustomize") is None:
        return
    del sys.modules["sitecustomize"]
    import sitecustomize  # noqa: F401


if "LOCAL_RANK" in os.environ:
    _begin()
ours = sys.modules["sitecustomize"]
try:
    _make_way()
finally:
    sys.modules.setdefault("sitecustomize", ours)
