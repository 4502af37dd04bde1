#!/usr/bin/env python3
"""What Weir costs per op, with a budget that is never reached: nanoseconds on nets of tiny ops.

    .venv/bin/python bench/train/overhead.py --rounds 5

`stock` is PyTorch alone, `key off` has Weir loaded but watches no op, `weir` watches every op.
"""

import argparse
import json
import pathlib
import statistics
import sys

import runs

PROGRAM = "bench/train/tiny_ops.py"
LOADED = (
    "import runpy, sys, weir; sys.argv = sys.argv[1:];"
    " runpy.run_path(sys.argv[0], run_name='__main__')"
)
BUDGET = ["--budget", "8GiB", "--tier", "none"]
WAYS = {
    "stock": [sys.executable, PROGRAM],
    "key off": [sys.executable, "-c", LOADED, PROGRAM],
    "weir": [sys.executable, "-m", "weir", "run", *BUDGET, "--quiet", "--", PROGRAM],
}


def measure(rounds, more):
    """Way -> what each round printed, None if it failed; and way -> why it failed."""
    told, failures = {way: [] for way in WAYS}, {}
    for _ in range(rounds):
        for way, command in WAYS.items():
            done, failure = runs.execute([*command, *more])
            told[way].append(None if failure else json.loads(done.stdout.splitlines()[-1]))
            if failure:
                failures[way] = failure
    return told, failures


def rows_of(told):
    """Net -> way -> median, spread, and the median difference to stock in the same round."""
    rows = {}
    for way, rounds in told.items():
        pairs = [
            (one, base) for one, base in zip(rounds, told["stock"], strict=True) if one and base
        ]
        for net in pairs[0][0] if pairs else ():
            nanos = [one[net] for one, _ in pairs]
            rows.setdefault(net, {})[way] = {
                "nanos_per_op": statistics.median(nanos),
                "spread": [min(nanos), max(nanos)],
                "above_stock": statistics.median(one[net] - base[net] for one, base in pairs),
            }
    return rows


def print_rows(rows, failures):
    print("net        way        ns per op     spread         above stock")
    for net, ways in rows.items():
        for way, row in ways.items():
            low, high = row["spread"]
            print(
                f"{net:<10} {way:<8} {row['nanos_per_op']:11.0f}  {low:8.0f}..{high:<8.0f}"
                f" {row['above_stock']:+10.0f}"
            )
    for way, failure in failures.items():
        print(f"{way} failed: {failure}")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ops", type=int, default=20_000)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    told, failures = measure(arguments.rounds, ["--ops", str(arguments.ops)])
    rows = rows_of(told)
    print_rows(rows, failures)
    if arguments.json:
        report = {"rounds": arguments.rounds, "nets": rows, "failures": failures}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
