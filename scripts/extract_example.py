#!/usr/bin/env python3
"""Write the first C++ block of a page to a file: extract_example.py PAGE OUT."""

import pathlib
import re
import sys


def main() -> int:
    page, out = map(pathlib.Path, sys.argv[1:3])
    block = re.search(r"^```cpp\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    if block is None:
        print(f"{page}: no C++ block", file=sys.stderr)
        return 1
    out.write_text(block[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
