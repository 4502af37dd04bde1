#!/usr/bin/env python3
"""Trains a net of the zoo in stock PyTorch and inside half of the memory it needs.

    .venv/bin/python scripts/demo_training.py --net gpt --budget 0.5x --steps 4

The table has what these two runs measured. Exit code 1: they do not agree bit for bit.
"""

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIZES = ["--batch", "4", "--length", "256", "--depth", "6"]  # of the default net


def arguments_of():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--net", default="gpt")
    parser.add_argument("--budget", default="0.5x")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--weir", default="build/bin/weir", help="the command")
    parser.add_argument("sizes", nargs="*", default=SIZES, help="-- and options of zoo.train")
    return parser.parse_args()


def shown(command):
    """As somebody would type it who has the environment and the command in his PATH."""
    words = [pathlib.Path(command[0]).name, *command[1:]]
    return shlex.join("python" if word == sys.executable else word for word in words)


def run(command, files):
    """What zoo.train wrote to its file, after showing the command without the files."""
    print(f"$ {shown([word for word in command if word not in files])}", flush=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    print(flush=True)
    return [json.loads(pathlib.Path(file.partition("=")[2]).read_text()) for file in files]


def train(given, folder):
    """The stock run, the run inside the budget, and Weir's own figures of it."""
    program = [sys.executable, "-m", "zoo.train", given.net, *given.sizes]
    program += ["--steps", str(given.steps), "--digest"]
    files = {name: f"--json={folder}/{name}.json" for name in ("stock", "held", "weir")}
    (stock,) = run([*program, files["stock"]], [files["stock"]])
    inside = [given.weir, "run", "--budget", given.budget, "--quiet", files["weir"], "--"]
    held, weir = run([*inside, *program, files["held"]], [files["held"], files["weir"]])
    return stock, held, weir


def mebibytes(size):
    return f"{size / (1 << 20):.0f} MiB"


def step_seconds(result):
    """The median after the first step, which is slower for everybody."""
    seconds = [step["seconds"] for step in result["steps"]]
    return statistics.median(seconds[1:] or seconds)


def rows_of(stock, held, weir):
    yield "tensors, at most", weir["logical_peak_bytes"], weir["peak_bytes"], mebibytes
    above = [result["peak_bytes"] - result["idle_bytes"] for result in (stock, held)]
    yield "process, above idle", *above, mebibytes
    yield "median step", step_seconds(stock), step_seconds(held), "{:.3f} s".format


def print_table(budget, stock, held, weir):
    title = f"{stock['net']}, {len(stock['steps'])} steps"
    print(f"{title:<23} {'stock':>12} {'weir ' + budget:>12}")
    for number, (a, b) in enumerate(zip(stock["steps"], held["steps"], strict=True), 1):
        print(f"  loss of step {number:<8} {a['loss']:>12.6f} {b['loss']:>12.6f}")
    for name, a, b, form in rows_of(stock, held, weir):
        print(f"  {name:<21} {form(a):>12} {form(b):>12}   {b / a:.2f} of stock")
    print(f"  final state, sha256   {stock['digest'][:12]} {held['digest'][:12]}")
    moved = mebibytes(weir["offloaded_bytes"])
    print(
        f"To stay inside, Weir recomputed {weir['recomputes']} ops and offloaded {moved}."
        " What stock's tensors take\nwas counted in the run inside the budget: all that it"
        " would have held without one."
    )


def main():
    given = arguments_of()
    with tempfile.TemporaryDirectory() as folder:
        try:
            stock, held, weir = train(given, folder)
        except subprocess.CalledProcessError as error:
            print(f"demo: {shown(error.cmd)} ended with {error.returncode}", file=sys.stderr)
            return 1
    print_table(given.budget, stock, held, weir)
    same = stock["digest"] == held["digest"]
    word = "identical" if same else "DIFFERENT"
    print(f"Losses, parameters, optimizer state and generators: {word}, bit for bit.\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
