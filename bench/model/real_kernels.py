"""Single kernels of PyTorch on the CPU under cachegrind, beside what `weir model` says of them.

Each kernel runs alone, with one thread, from an empty cache. cachegrind counts the lines that the
last level fetches, for reading or for writing; the model's count of the same is what the op reads
from memory and what it makes. valgrind knows no AVX-512, so kernels are those for AVX2.

python bench/model/real_kernels.py [--cache 256KiB,1MiB,4MiB] [--csv FILE] [KERNEL:SIZES ...]
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile

import torch
from recorded import model, record

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = """
mm:256,256,256 mm:512,512,512 mm:1024,256,1024 mm:128,2048,512 mm:768,768,768
conv:4,64,28,64,3,1 conv:4,128,28,128,3,2 conv:8,256,14,64,1,1 conv:8,64,28,256,1,1
conv:4,3,112,64,7,2
batch_norm:8,64,28 batch_norm:16,32,56 batch_norm_backward:8,64,28 batch_norm_backward:16,32,56
softmax:512,512 softmax:2048,1000 softmax_backward:512,512 softmax_backward:2048,1000
layer_norm:1024,768 layer_norm:2048,1024 layer_norm_backward:1024,768 layer_norm_backward:2048,1024
attention:4,8,256,64 attention:1,8,1024,64
""".split()
UNITS = {"KiB": 2**10, "MiB": 2**20}

# The same calls as those of kernels.cpp, each a step of a recording.
PROGRAM = """
import sys, torch
aten, ones, kept = torch.ops.aten, torch.ones, []
nothing = torch.optim.SGD([torch.nn.Parameter(ones(1))])  # its steps are those of the recording
def image(s): return ones(s[0], s[1], s[2], s[2])
def conv(s):
    x, w = image(s), ones(s[3], s[1], s[4], s[4])
    half = s[4] // 2
    return lambda: aten.convolution(x, w, None, [s[5]] * 2, [half] * 2, [1, 1], False, [0, 0], 1)
def mm(s):
    a, b = ones(s[0], s[1]), ones(s[1], s[2])
    return lambda: aten.mm(a, b)
def batch_norm(s):
    x, w = image(s), ones(s[1])
    return lambda: aten.native_batch_norm(x, w, w, None, None, True, 0.1, 1e-5)
def batch_norm_backward(s):
    g, x, w = image(s), image(s), ones(s[1])
    return lambda: aten.native_batch_norm_backward(
        g, x, w, None, None, w, w, True, 1e-5, [True] * 3)
def softmax(s):
    x = ones(*s)
    return lambda: aten._softmax(x, 1, False)
def softmax_backward(s):
    g, y = ones(*s), ones(*s)
    return lambda: aten._softmax_backward_data(g, y, 1, torch.float32)
def layer_norm(s):
    x, w = ones(*s), ones(s[1])
    return lambda: aten.native_layer_norm(x, [s[1]], w, w, 1e-5)
def layer_norm_backward(s):
    g, x, w, mean = ones(*s), ones(*s), ones(s[1]), ones(s[0], 1)
    return lambda: aten.native_layer_norm_backward(g, x, [s[1]], mean, mean, w, w, [True] * 3)
def attention(s):
    q, k, v = ones(*s), ones(*s), ones(*s)
    return lambda: aten._scaled_dot_product_flash_attention_for_cpu(q, k, v)
calls = []
for text in sys.argv[1:]:
    name, _, sizes = text.partition(":")
    calls.append(globals()[name]([int(size) for size in sizes.split(",")]))
for call in calls:
    nothing.step()
    kept.append(call())
nothing.step()
"""


def build(folder):
    """kernels.cpp against the PyTorch of this Python."""
    at = pathlib.Path(torch.__file__).parent
    program = folder / "kernels"
    command = ["g++", "-std=c++20", "-O2", f"-I{at}/include", str(HERE / "kernels.cpp")]
    command += [f"-L{at}/lib", f"-Wl,-rpath,{at}/lib", "-ltorch", "-ltorch_cpu", "-lc10"]
    subprocess.run([*command, "-o", str(program)], check=True)
    return program


def misses(file):
    """Lines that the last level fetched for data, of one process."""
    names, counts = [], []
    for line in file.read_text().splitlines():
        if line.startswith("events:"):
            names = line.split()[1:]
        if line.startswith("summary:"):
            counts = [int(word) for word in line.split()[1:]]
    found = dict(zip(names, counts, strict=True))
    return found["DLmr"] + found["DLmw"]


def measured(program, kernels, capacity, folder):
    """Bytes that each kernel fetches."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=yes", "--D1=32768,8,64"]
    command += ["--I1=32768,8,64", f"--LL={capacity},16,64"]
    command += [f"--cachegrind-out-file={folder}/%p", str(program), str(capacity), *kernels]
    few = {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, check=True, text=True, capture_output=True, env={**os.environ, **few}
    )
    result = {}
    for line in done.stdout.splitlines():
        name, without, once_more = line.split()
        result[name] = 64 * (misses(folder / once_more) - misses(folder / without))
    return result


def modelled(kernels, capacity, trace):
    """What the model fetches: what an op reads from memory, and what it makes."""
    result = {}
    for number, name in enumerate(kernels):
        asked = ["--cpu-kernels", "--per-op", "--cache", str(capacity), "--step", str(number + 2)]
        got = model(trace, *asked)
        result[name] = sum(row["read_bytes"] + row["write_bytes"] for row in got["per_op"])
    return result


def bytes_in(text):
    return int(text[:-3]) * UNITS[text[-3:]]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--cache", default="256KiB,1MiB,4MiB")
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*", default=KERNELS)
    return parser.parse_args()


def main():
    given = arguments()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = build(folder)
        record(folder / "t.zst", "-c", PROGRAM, *given.kernels)
        for cache in given.cache.split(","):
            out = folder / cache
            out.mkdir()
            exact = measured(program, given.kernels, bytes_in(cache), out)
            ours = modelled(given.kernels, bytes_in(cache), folder / "t.zst")
            for kernel in given.kernels:
                rows.append((kernel, cache, exact[kernel], ours[kernel]))
                print_row(*rows[-1])
    print_errors(rows)
    if given.csv:
        given.csv.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))


def print_row(kernel, cache, exact, ours):
    change = f"{100 * (ours / exact - 1):+7.1f} %"
    print(f"{kernel:36} {cache:>7} {exact / 1e6:9.3f} {ours / 1e6:9.3f} MB {change}", flush=True)


def print_errors(rows):
    groups = {"all": rows}
    for row in rows:
        groups.setdefault(row[0].partition(":")[0], []).append(row)
    for name, some in groups.items():
        off = [abs(ours / exact - 1) for _, _, exact, ours in some]
        middle, worst = 100 * statistics.median(off), 100 * max(off)
        print(f"{name:22} median {middle:5.1f} %, worst {worst:6.1f} %")


if __name__ == "__main__":
    main()
