"""python -m weir run|record [options] -- SCRIPT args | -m MODULE args | -c CODE args"""

import os
import sys
from types import ModuleType


def _import_command() -> ModuleType:
    """Also when this file is run by its path, as `weir run` does for any interpreter."""
    if __package__:
        from weir import _command

        return _command
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path.insert(0, root)
    try:
        from weir import _command
    finally:
        sys.path.remove(root)
    return _command


if __name__ == "__main__":
    _import_command().main(sys.argv[1:])
