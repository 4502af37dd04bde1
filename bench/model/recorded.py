"""Recorded steps through `weir model`, beside published counts of the same nets.

The published counts are of op lists written down by hand. A ladder goes from the recorded list to
one like those, a named difference at a time, with the traffic after each rung.

python bench/model/recorded.py
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIR = os.environ.get("WEIR_COMMAND", str(ROOT / "build" / "bin" / "weir"))

# GB of a step at batch 32, fp32: capacity in MiB: LRU by whole tensors, by lines, the optimum.
PUBLISHED = {
    "resnet50": {
        "none": 31.25,
        "compulsory": 0.427,
        16: (29.25, 30.25, 22.62),
        32: (25.52, 27.87, 17.69),
        64: (20.32, 23.15, 12.40),
        128: (12.90, 16.80, 7.91),
        256: (8.34, 10.15, 5.77),
        1024: (5.48, 5.48, 3.82),
        4096: (3.05, None, 0.427),
    },
    "vgg16": {
        "none": 24.12,
        "compulsory": 2.23,
        64: (23.07, 23.55, 18.78),
        256: (17.91, 19.11, 11.54),
        1024: (8.59, 8.63, 5.89),
    },
}
KINDS = ("whole tensors", "lines", "optimum")


def record(trace, *program, meta=True):
    """A recording of `python PROGRAM`."""
    paths = [str(ROOT / "python"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-m", "weir", "record", "--quiet", "-o", str(trace)]
    command += ["--meta"] if meta else []
    subprocess.run([*command, "--", *program], check=True, capture_output=True, env=environment)


def lines_of(trace):
    plain = pathlib.Path(trace).with_suffix(".plain")
    command = [WEIR, "trace", "convert", str(trace), str(plain)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return [json.loads(line) for line in plain.read_text().splitlines()]


def model(trace, *more):
    command = [WEIR, "model", str(trace), "--json", *more]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


class Ladder:
    """The lines of a trace, of which the last step is changed rung by rung."""

    def __init__(self, lines):
        self.lines = list(self.with_layouts(lines))
        marks = [i for i, line in enumerate(lines) if "step" in line]
        self.first, self.end = marks[-2] + 1, marks[-1]
        made = [out for line in lines for out in line.get("out", [])]
        self.most = max(max(out["tensor"], out.get("storage", 0)) for out in made)

    @staticmethod
    def with_layouts(lines):
        """Layouts are told once; here each line tells its own."""
        known = {}
        for line in lines:
            for told in [*line.get("out", []), *filter(None, line.get("args", []))]:
                if "dtype" in told and "layout" in told:
                    keys = ("dtype", "shape", "strides", "offset")
                    known[told["layout"]] = {key: told[key] for key in keys if key in told}
                told.update(known.get(told.pop("layout", None), {}))
            yield line

    def step(self):
        return self.lines[self.first : self.end]

    def rewrite(self, change):
        """`change` gives lines instead of one; what is no longer made is no longer released."""
        before = made_in(self.step())
        step = [new for line in self.step() for new in change(line)]
        gone = before - made_in(step)
        step = [line for line in step if line.get("release") not in gone]
        after = [line for line in self.lines[self.end :] if line.get("release") not in gone]
        self.lines = self.lines[: self.first] + step + after
        self.end = self.first + len(step)

    def write(self, file):
        events = sum(1 for line in self.lines if "weir_trace" not in line and "end" not in line)
        lines = [{"end": True, "events": events} if "end" in line else line for line in self.lines]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def fresh(self):
        """A number that neither a tensor nor a storage has."""
        self.most += 1
        return self.most


def made_in(lines):
    made = {out["tensor"] for line in lines for out in line.get("out", [])}
    return made | {line["constant"] for line in lines if "constant" in line}


def by_bytes(name, phase, inputs, outputs=(), mutates=()):
    """An op that is counted by what it touches: it reads its inputs and writes what it makes."""
    line = {"op": name, "phase": phase, "ns": 0, "in": list(inputs), "out": list(outputs)}
    return {**line, "mutates": list(mutates)} if mutates else line


def data_from_outside(ladder):
    """The images are there before the step; recorded, the step draws them itself."""
    drawn = next(line for line in ladder.step() if line.get("op") == "aten::randn")
    images = drawn["out"][0]
    keys = ("storage", "bytes", "dtype", "shape", "strides", "offset")
    constant = {"constant": images["tensor"], **{key: images[key] for key in keys}}

    def change(line):
        if line is drawn:
            return [constant]
        changed = [line["in"][place] for place in line.get("mutates", [])]
        return [] if images["tensor"] in changed else [line]

    ladder.rewrite(change)


def one_update(ladder):
    """Momentum SGD in one op: reads gradient, weight and momentum, writes the two last.

    Recorded: decay is added to the gradient, momentum is scaled, then added to, then the weight."""
    made_from = {}
    for line in ladder.step():
        if line.get("phase") == "optimizer" and line.get("op") == "aten::add":
            made_from[line["out"][0]["tensor"]] = line["in"][0]
    gradient = {}

    def change(line):
        if line.get("phase") != "optimizer" or "op" not in line:
            return [line]
        if line["op"] == "aten::add_" and line["in"][1] in made_from:
            gradient[line["in"][0]] = made_from[line["in"][1]]
            return []
        if line["op"] == "aten::add_":
            weight, momentum = line["in"]
            inputs = [gradient[momentum], weight, momentum]
            return [by_bytes("sgd", "optimizer", inputs, mutates=[1, 2])]
        return []

    ladder.rewrite(change)


def pools_without_indices(ladder):
    """A max pool reads its input again in backward; recorded, it writes indices of eight bytes."""

    def change(line):
        if line.get("op") == "aten::max_pool2d_with_indices":
            return [by_bytes("pool", line["phase"], line["in"], line["out"][:1])]
        if line.get("op") == "aten::max_pool2d_with_indices_backward":
            return [by_bytes("pool_backward", line["phase"], line["in"][:2], line["out"])]
        return [line]

    ladder.rewrite(change)


def relu_backward_in_place(ladder):
    """ReLU's gradient overwrites the one it is made from; recorded, it is a tensor of its own."""

    def change(line):
        if line.get("op") != "aten::threshold_backward":
            return [line]
        out = {"tensor": line["out"][0]["tensor"], "view_of": 0}
        return [by_bytes("relu_backward", line["phase"], line["in"], [out], mutates=[0])]

    ladder.rewrite(change)


def sums_out_of_place(ladder):
    """The sum at a block's end is a tensor of its own; recorded, it overwrites one it adds."""
    renamed = {}

    def change(line):
        if "op" not in line:
            return [line]
        line["in"] = [renamed.get(tensor, tensor) for tensor in line["in"]]
        if line["op"] != "aten::add_" or line["phase"] != "forward":
            return [line]
        old = line["in"][0]
        size = elements(line["args"][0]) * 4
        if size < 1 << 20:
            return [line]
        number = ladder.fresh()
        renamed[old] = number
        out = {"tensor": number, "storage": number, "bytes": size}
        release = {"release": old}
        return [by_bytes("sum", "forward", line["in"], [out]), release]

    ladder.rewrite(change)
    # What was released later under its old name is now the sum.
    seen = set()
    for line in ladder.lines[ladder.first :]:
        if line.get("release") in renamed:
            if line["release"] in seen:
                line["release"] = renamed[line["release"]]
            else:
                seen.add(line["release"])


def sums_before_weights(ladder):
    """Gradients of two branches are added as soon as both are there, then the weight's is made.

    Recorded, a convolution makes the gradients of its input and its weight in one op, and the sum
    comes after it."""
    step = ladder.step()
    makers = {
        line["out"][0]["tensor"]: line
        for line in step
        if line.get("op") == "aten::convolution_backward"
    }
    sums = {}  # convolution -> the sum that takes its input's gradient
    for line in step:
        if line.get("op") == "aten::add" and line["phase"] == "backward":
            last = next(makers[tensor] for tensor in reversed(line["in"]) if tensor in makers)
            sums[id(last)] = line

    def change(line):
        if id(line) in map(id, sums.values()):
            return []
        if id(line) not in sums:
            return [line]
        gradient, image, weight = line["in"][:3]
        of_image = by_bytes("conv_image", "backward", [gradient, weight], line["out"][:1])
        of_weight = by_bytes("conv_weight", "backward", [gradient, image], line["out"][1:2])
        return [of_image, sums[id(line)], of_weight]

    ladder.rewrite(change)


def elements(layout):
    count = 1
    for size in layout["shape"]:
        count *= size
    return count


def no_average_and_no_dropout(ladder):
    """No pool from 7 x 7 to 7 x 7, no dropout before the classifier."""
    same = {}

    def follow(tensor):
        while tensor in same:
            tensor = same[tensor]
        return tensor

    def change(line):
        if line.get("release") in same or line.get("release") in same.values():
            return []  # when what is the same goes differs; what counts is that it goes
        if "op" not in line:
            return [line]
        line["in"] = [follow(tensor) for tensor in line["in"]]
        dropout = line["op"] in ("aten::bernoulli_", "aten::div_", "aten::empty_like")
        if dropout and line["phase"] == "forward":
            return []
        passes = line["op"].startswith("aten::_adaptive_avg_pool2d")
        passes |= line["op"] == "aten::mul" and line["phase"] in ("forward", "backward")
        if passes and line["out"][0].get("bytes", 0) > 0:
            same[line["out"][0]["tensor"]] = line["in"][0]
            return []
        return [line]

    ladder.rewrite(change)
    roots = sorted({follow(tensor) for tensor in same})
    ladder.lines[ladder.end : ladder.end] = [{"release": root} for root in roots]
    ladder.end += len(roots)


RUNGS = {
    "data from outside": data_from_outside,
    "one op for an update": one_update,
    "max pools without indices": pools_without_indices,
    "ReLU's gradient in place": relu_backward_in_place,
    "sums out of place": sums_out_of_place,
    "sums before weights": sums_before_weights,
    "no average, no dropout": no_average_and_no_dropout,
}
ONLY_OF = {
    "sums out of place": "resnet50",
    "sums before weights": "resnet50",
    "no average, no dropout": "vgg16",
}


def figures(trace, net):
    """none, compulsory, and the three of each capacity, in GB."""
    capacities = [size for size in PUBLISHED[net] if isinstance(size, int)]
    cache = ",".join(f"{size}MiB" for size in capacities)
    got = model(trace, "--cache", cache, "--no-tiles", "--optimum")
    result = {"none": got["no_reuse_bytes"] / 1e9, "compulsory": got["compulsory_bytes"] / 1e9}
    for size, point in zip(capacities, got["points"], strict=True):
        total = point["read_bytes"] + point["write_bytes"]
        numbers = (point["whole_tensor_bytes"], total, point["optimum_bytes"])
        result[size] = tuple(number / 1e9 for number in numbers)
    return result


def errors(got, net):
    """Of each published figure, by (capacity, kind): ours over theirs, less one."""
    result = {}
    for size, known in PUBLISHED[net].items():
        if not isinstance(size, int):
            result[size, ""] = got[size] / known - 1
            continue
        for kind, ours, theirs in zip(KINDS, got[size], known, strict=True):
            if theirs is not None:
                result[size, kind] = ours / theirs - 1
    return result


def climb(net, folder):
    """The name of each rung and the figures after it, the recorded step first."""
    trace = folder / f"{net}.zst"
    sizes = ("--batch", "32", "--image", "224", "--optimizer", "sgd", "--update", "single")
    record(trace, "-m", "zoo.train", net, *sizes, "--steps", "2", "--threads", "1")
    ladder = Ladder(lines_of(trace))
    yield "as recorded", figures(trace, net)
    for name, climb_one in RUNGS.items():
        if ONLY_OF.get(name, net) != net:
            continue
        climb_one(ladder)
        changed = folder / f"{net}.trace"
        ladder.write(changed)
        yield name, figures(changed, net)


def print_table(net, folder):
    rows = list(climb(net, folder))
    sizes = [size for size in PUBLISHED[net] if isinstance(size, int)]
    print(f"\n{net}: GB, whole tensors / lines / optimum; published last")
    for name, got in [*rows, ("published", PUBLISHED[net])]:
        cells = ["/".join("-" if x is None else f"{x:.2f}" for x in got[size]) for size in sizes]
        print(f"{name:26} {got['none']:6.2f} {got['compulsory']:6.3f}  " + "  ".join(cells))
    for name, got in rows:
        off = errors(got, net)
        worst = max(off, key=lambda key: abs(off[key]))
        within = sum(abs(value) <= 0.02 for value in off.values())
        print(
            f"{name:26} {within} of {len(off)} within 2 %; worst {100 * off[worst]:+.1f} % {worst}"
        )


def main():
    with tempfile.TemporaryDirectory() as folder:
        for net in PUBLISHED:
            print_table(net, pathlib.Path(folder))


if __name__ == "__main__":
    main()
