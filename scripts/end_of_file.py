#!/usr/bin/env python3
"""Text files end with exactly one newline and their lines without blanks."""

import argparse
import pathlib
import re
import sys


def mended(path, text):
    if path.suffix != ".md":  # two blanks mean a line break there
        text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
    return text.rstrip("\n") + "\n" if text.strip() else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fix", action="store_true", help="write the mended files")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    bad = False
    for path in options.files:
        text = path.read_text()
        good = mended(path, text)
        if text == good:
            continue
        if options.fix:
            path.write_text(good)
        else:
            print(f"{path}: blanks at the end of a line or of the file")
            bad = True
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
