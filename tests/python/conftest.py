"""Paths for the suites: this folder, the package in python/ and the zoo at the root."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[1] / "python", HERE.parents[1]):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
