"""Times of the nets of jcjohnson/cnn-benchmarks on GPUs, from what is public of the GPUs.

Forward and backward of batch 16, 224 pixels, fp32, with cuDNN 5.1, beside `weir model` with each
GPU's bandwidth, peak rate and L2. Nothing is fitted. `direct` counts convolutions as they are
defined; `winograd` with 4/9 of the multiplications where the filter is 3 x 3 and the stride 1, as
F(2x2, 3x3) has it. What cuDNN chose is not known; its release 5 was announced as faster for such
filters, and VGG runs faster than the peak rate allows for convolutions as they are defined.

python bench/model/cnn_benchmarks.py [--csv FILE]
"""

import argparse
import pathlib
import tempfile

from recorded import ROOT, lines_of, model, record

GPUS = {  # GB/s, TFLOP/s, KiB of L2
    "Titan X (Pascal)": (480, 10.97, 3072),
    "GTX 1080 Ti": (484, 11.34, 2816),
    "Titan X (Maxwell)": (336.5, 6.69, 3072),
}
MEASURED = {  # ms: forward, backward
    ("Titan X (Pascal)", "AlexNet"): (5.04, 9.52),
    ("Titan X (Pascal)", "Inception-V1"): (12.06, 27.08),
    ("Titan X (Pascal)", "VGG-16"): (41.59, 87.03),
    ("Titan X (Pascal)", "VGG-19"): (48.09, 99.23),
    ("Titan X (Pascal)", "ResNet-18"): (10.14, 21.40),
    ("Titan X (Pascal)", "ResNet-50"): (35.03, 68.54),
    ("Titan X (Pascal)", "ResNet-101"): (53.38, 103.06),
    ("Titan X (Pascal)", "ResNet-152"): (75.45, 142.47),
    ("GTX 1080 Ti", "ResNet-50"): (34.14, 67.06),
    ("Titan X (Maxwell)", "ResNet-50"): (55.75, 103.87),
}
WAYS = ("direct", "winograd")
BATCH = 16


def is_small_window(line, layouts):
    """A convolution, forward or backward, with a filter of 3 x 3 and a stride of 1."""
    if "convolution" not in line["op"]:
        return False
    weight = line["args"][2 if "backward" in line["op"] else 1]
    shape = weight.get("shape") or layouts[weight["layout"]]
    return shape[2:] == [3, 3] and set(line["settings"].get("stride", [1])) == {1}


def small_windows(lines):
    """Of each op of the last step."""
    layouts = {}
    for line in lines:
        for told in [*line.get("out", []), *filter(None, line.get("args", []))]:
            if "shape" in told and "layout" in told:
                layouts[told["layout"]] = told["shape"]
    marks = [i for i, line in enumerate(lines) if "step" in line]
    return [is_small_window(x, layouts) for x in lines[marks[-2] : marks[-1]] if "op" in x]


def predicted(trace, windows, gpu):
    """Milliseconds of forward and backward, for each way to convolve."""
    bandwidth, rate, cache = GPUS[gpu]
    got = model(
        trace,
        *("--cache", f"{cache}KiB", "--bandwidth", f"{bandwidth}GB/s", "--flops", f"{rate}T"),
        "--per-op",
    )
    sums = {way: {"forward": 0.0, "backward": 0.0} for way in WAYS}
    for row, window in zip(got["per_op"], windows, strict=True):
        if row["phase"] == "optimizer":
            continue
        moving = (row["read_bytes"] + row["write_bytes"]) / bandwidth
        computing = row["flops"] / rate / 1e3
        sums["direct"][row["phase"]] += max(moving, computing) / 1e6
        fewer = computing * 4 / 9 if window else computing
        sums["winograd"][row["phase"]] += max(moving, fewer) / 1e6
    return {way: (sums[way]["forward"], sums[way]["backward"]) for way in WAYS}


def ranks(values):
    order = sorted(values)
    return [order.index(value) for value in values]


def spearman(a, b):
    """Of numbers without ties."""
    n = len(a)
    apart = sum((x - y) ** 2 for x, y in zip(ranks(a), ranks(b), strict=True))
    return 1 - 6 * apart / (n * (n * n - 1))


def all_rows(folder):
    """GPU, net, measured, and predicted by each way."""
    traces = {}
    for gpu, net in MEASURED:
        if net not in traces:
            trace = folder / f"{net}.zst"
            record(trace, str(ROOT / "bench" / "model" / "cnn_nets.py"), net, str(BATCH))
            traces[net] = trace, small_windows(lines_of(trace))
        yield gpu, net, MEASURED[gpu, net], predicted(*traces[net], gpu)


def print_row(gpu, net, real, ours):
    cells = []
    for way in WAYS:
        off = 100 * (sum(ours[way]) / sum(real) - 1)
        cells.append("{:7.2f} {:7.2f} {:7.2f} {:+6.1f} %".format(*ours[way], sum(ours[way]), off))
    times = "{:7.2f} {:7.2f} {:7.2f}".format(*real, sum(real))
    print(f"{gpu:18} {net:13} {times}   " + "   ".join(cells), flush=True)


def print_ranks(rows):
    for way in WAYS:
        pascal = [row for row in rows if row[0] == "Titan X (Pascal)"]
        sides = [
            ("forward", [(real[0], ours[way][0]) for _, _, real, ours in pascal]),
            ("backward", [(real[1], ours[way][1]) for _, _, real, ours in pascal]),
            ("total", [(sum(real), sum(ours[way])) for _, _, real, ours in pascal]),
            ("total, all GPUs", [(sum(real), sum(ours[way])) for _, _, real, ours in rows]),
        ]
        for name, pairs in sides:
            print(f"{way:9} rank correlation, {name:15} {spearman(*zip(*pairs, strict=True)):.3f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--csv", type=pathlib.Path)
    given = parser.parse_args()
    print(f"{'ms: forward, backward, total':32} measured{'':17} direct{'':30} winograd")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for row in all_rows(pathlib.Path(folder)):
            print_row(*row)
            rows.append(row)
    print_ranks(rows)
    if given.csv:
        given.csv.write_text(
            "".join(
                f"{gpu},{net},{sum(real)},{sum(ours['direct'])},{sum(ours['winograd'])}\n"
                for gpu, net, real, ours in rows
            )
        )


if __name__ == "__main__":
    main()
