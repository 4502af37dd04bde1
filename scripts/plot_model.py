#!/usr/bin/env python3
"""Draw traffic by cache capacity on the terminal, from the JSON of `weir model --json` on stdin."""

import json
import math
import shutil
import sys

try:
    import plotext
except ImportError:
    sys.exit(3)  # the command says what to do

CURVES = [
    ("lines, LRU", "o", "blue", lambda point: point["read_bytes"] + point["write_bytes"]),
    ("whole tensors, LRU", "x", "red", lambda point: point["whole_tensor_bytes"]),
    ("best by software", "+", "green", lambda point: point.get("optimum_bytes")),
]


def main():
    model = json.load(sys.stdin)
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    points = {point["cache_bytes"]: point for point in model.get("points", [model])}
    colours = sys.stdout.isatty()
    plotext.clear_figure()
    plotext.plot_size(min(shutil.get_terminal_size((100, 30)).columns, 110), 22)
    plotext.theme("pro" if colours else "clear")
    sizes = [math.log2(size / 2**20) for size in points]
    for label, marker, colour, value in CURVES:
        values = [value(point) for point in points.values()]
        if None in values:
            continue
        plotext.plot(
            sizes,
            [number / 1e9 for number in values],
            marker="braille" if colours else marker,
            color=colour,
            label=label,
        )
    plotext.hline(model["compulsory_bytes"] / 1e9)
    plotext.ylim(0, None)
    plotext.title(f"{model['label']}: traffic of a step; the line is compulsory")
    plotext.xlabel("cache, log2 of MiB")
    plotext.ylabel("GB")
    print()
    print(plotext.build() if colours else plotext.uncolorize(plotext.build()))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stdout = None  # whoever read has seen enough
