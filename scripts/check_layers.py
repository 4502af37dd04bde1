#!/usr/bin/env python3
"""Fail if a file includes a folder that its layer may not see; name files that have grown long."""

import pathlib
import re
import sys

MAY_SEE = {  # besides include/weir and its own folder
    "base": set(),
    "graph": {"base"},
    "core": {"base", "graph"},
    "cost": {"base", "graph", "solver"},
    "solver": {"base"},
    "trace": {"base", "graph"},
    "policy": {"base", "graph"},
    "tier": {"base"},
    "pages": {"base"},
    "pilot": {"base", "graph", "trace", "policy", "plan"},
    "plan": {"base", "graph", "cost", "solver"},
    "sim": {"base", "graph", "core", "cost", "trace", "pages"},
    "libtorch": {"base", "graph", "core", "tier", "trace", "pages"},
}
MAY_SEE["app"] = MAY_SEE.keys() - {"libtorch"}
MAY_SEE["contract"] = set()

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)')
TORCH = re.compile(r"(torch|ATen|c10)/")
STD = re.compile(r"[a-z0-9_]+(\.h)?$")  # <vector>, <stdint.h>: no folder in the name
SOURCES = {".h", ".hpp", ".cpp", ".cc", ".c", ".inc"}

SOURCE_LINES = 400
CONTRACT_LINES = 150


def files_under(folder):
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


def layered_files(root):
    """Every file that belongs to a layer, with the layer's name."""
    for path in files_under(root / "include"):
        yield path, "contract"
    for path in files_under(root / "app"):
        yield path, "app"
    for path in files_under(root / "src"):
        yield path, path.relative_to(root / "src").parts[0]


def complaint(layer, quote, target):
    """What is wrong with this include in this layer, or None."""
    folder = target.split("/")[0]
    if layer not in MAY_SEE:
        return f"{layer} is not a layer: add it to the table in check_layers.py"
    if TORCH.match(target) and layer != "libtorch":
        return f"only src/libtorch may include {target}"
    if layer == "contract" and folder != "weir" and (quote == '"' or not STD.match(target)):
        return f"the contract may include only weir/ and std, not {target}"
    if layer == "base" and quote == "<" and not STD.match(target):
        return f"base may include only std, not {target}"
    if target.startswith((".", "src/", "include/")):
        return f"write the include from its root, not {target}"
    if folder in MAY_SEE and "/" in target and folder != layer and folder not in MAY_SEE[layer]:
        return f"{layer} may not include {folder}"
    return None


def violations(root):
    for path, layer in layered_files(root):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not (match := INCLUDE.match(line)):
                continue
            if problem := complaint(layer, match[1], match[2]):
                yield f"{path.relative_to(root)}:{number}: {problem}"


def long_files(root):
    named = [path for path, _ in layered_files(root)]
    for path in named + files_under(root / "tests") + files_under(root / "bench"):
        limit = CONTRACT_LINES if path.is_relative_to(root / "include") else SOURCE_LINES
        lines = len(path.read_text().splitlines())
        if lines > limit:
            yield f"{path.relative_to(root)}: {lines} lines, over the {limit} of the style"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    if not (root / "src").is_dir():
        print(f"{root} has no src folder; give the root of the project")
        return 2
    for note in long_files(root):
        print("note:", note)
    found = list(violations(root))
    print("\n".join(found) if found else "layers are kept")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
