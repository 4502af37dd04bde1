#!/usr/bin/env python3
"""Draw slowdown by budget on the terminal, from the JSON of `weir sweep --json` on stdin."""

import json
import shutil
import sys

try:
    import plotext
except ImportError:
    sys.exit(3)  # the command says what to do

MARKERS = "ox+*#@%&=~"
COLOURS = ["blue", "red", "green", "orange", "magenta", "cyan", "gold", "gray", "white"]


def charts_of(sweep):
    """(trace, restore, deallocation) -> policy -> share of the peak -> the cells of all seeds."""
    peaks = {trace["trace"]: trace["peak_bytes"] for trace in sweep["traces"]}
    charts = {}
    for cell in sweep["cells"]:
        chart = charts.setdefault((cell["trace"], cell["restore"], cell["deallocation"]), {})
        share = cell["budget_bytes"] / max(peaks[cell["trace"]], 1)
        chart.setdefault(cell["policy"], {}).setdefault(share, []).append(cell)
    return charts


def curves_of(points):
    """Lists of (share, mean slowdown), ascending; a budget that fails ends one of them."""
    curves = [[]]
    for share, cells in sorted(points.items()):
        if all(cell["status"] == "ok" for cell in cells):
            mean = sum(cell["slowdown"] for cell in cells) / len(cells)
            curves[-1].append((share, mean))
        elif curves[-1]:
            curves.append([])
    return [curve for curve in curves if curve]


def draw(title, chart, colours):
    width = min(shutil.get_terminal_size((100, 30)).columns, 110)
    plotext.clear_figure()
    plotext.plot_size(width, 22)
    plotext.theme("clear" if not colours else "pro")
    for number, (policy, points) in enumerate(chart.items()):
        marker = "braille" if colours else MARKERS[number % len(MARKERS)]
        colour = COLOURS[number % len(COLOURS)]
        for part, curve in enumerate(curves_of(points)):
            label = policy if part == 0 else None
            plotext.plot(*zip(*curve, strict=True), marker=marker, color=colour, label=label)
    plotext.title(title)
    plotext.xlabel("budget, share of the peak")
    plotext.ylabel("slowdown")
    print(plotext.build() if colours else plotext.uncolorize(plotext.build()))


def main():
    sweep = json.load(sys.stdin)
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    labels = {trace["trace"]: trace["label"] for trace in sweep["traces"]}
    for (trace, restore, deallocation), chart in charts_of(sweep).items():
        print()
        if not any(curves_of(points) for points in chart.values()):
            print(f"{labels[trace]}: nothing finishes, so there is no curve")
            continue
        draw(f"{labels[trace]} ({restore}, {deallocation})", chart, sys.stdout.isatty())


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.stdout = None  # whoever read has seen enough
