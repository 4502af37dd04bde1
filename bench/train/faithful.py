#!/usr/bin/env python3
"""Is the simulated slowdown the measured one? Trains inside budgets, and replays a trace in them.

    .venv/bin/python bench/train/faithful.py --nets resnet50,tree_lstm --budgets 0.7,0.5

The measured slowdown is the median step inside the budget over the one at 1.0x: same allocator,
same interposer, nothing evicted. The predicted one is that of the same steps, after the warm-up,
when `weir replay` runs a recorded trace.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

import marks
import runs
from runs import weir_at


def arguments_of():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--nets", default=",".join(marks.NETS), help="separated by commas")
    option("--budgets", default="0.7,0.5,0.3", help="shares of the peak")
    option("--rounds", type=int, default=3)
    option("--warmup", type=int, default=6, help="steps that are not counted")
    option("--steps", type=int, default=4)
    option("--threads", type=int, default=2)
    option("--sizes", choices=("bench", "test"), default="bench")
    option("--weir", type=pathlib.Path, default=runs.ROOT / "build/bin/weir", help="the command")
    option("--tier", default="none", help="FOLDER[:SIZE] where Weir may offload")
    option("--policy", default="h_dtr_eq_indexed", help="of the run and of the replay")
    option("--json", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def record(net, trace, arguments, more):
    """Why no trace could be written, or nothing."""
    steps = str(arguments.warmup + arguments.steps)
    command = [sys.executable, "-m", "weir", "record", "-o", str(trace), "--quiet", "--"]
    return runs.execute([*command, "-m", "zoo.train", net, "--steps", steps, *more])[1]


def predicted(trace, budget, arguments):
    """What the simulator says of the trace inside so many bytes: a status, and the slowdown."""
    command = [str(arguments.weir), "replay", str(trace), "--budget", str(budget)]
    command += ["--limit", "none", "--json", "--policy", arguments.policy]
    done, failure = runs.execute(command)
    if failure:
        return failure, None
    said = json.loads(done.stdout)
    steps = said.get("steps", [])[arguments.warmup :]
    if said["status"] != "ok" or not steps:
        return said["status"], None
    return said["status"], statistics.median(step["clock_ns"] / step["base_ns"] for step in steps)


def measure(net, shares, arguments, more):
    """Share -> outcomes of all rounds; 1.0 is the one the others are compared with."""
    outcomes = {share: [] for share in ("1.0", *shares)}
    chosen = {key: getattr(arguments, key) for key in ("warmup", "steps", "tier", "policy")}
    for _ in range(arguments.rounds):
        for share, mine in outcomes.items():
            mine.append(runs.train(net, weir_at(share), **chosen, more=more))
    return outcomes


def slowdown_of(outcomes, base):
    """Median over the rounds, or None if a round failed."""
    if any(outcome.failure for outcome in (*outcomes, *base)):
        return None
    pairs = zip(outcomes, base, strict=True)
    return statistics.median(one.step_seconds / whole.step_seconds for one, whole in pairs)


def row_of(net, share, outcomes, trace, arguments):
    mine = outcomes[share]
    failures = [outcome.failure for outcome in mine if outcome.failure]
    row = {"net": net, "share": share, "failures": failures}
    row["measured"] = slowdown_of(mine, outcomes["1.0"])
    row["budget_bytes"] = mine[-1].weir.get("budget_bytes")
    if row["budget_bytes"]:
        row["simulated"], row["predicted"] = predicted(trace, row["budget_bytes"], arguments)
    return row


def percent(slowdown):
    return "-" if slowdown is None else f"{100 * (slowdown - 1):+.1f} %"


def print_row(row):
    bytes_ = f"{row['budget_bytes'] / 1e6:.0f} MB" if row["budget_bytes"] else "-"
    print(
        f"{row['net']:<14} {row['share']:>5}x {bytes_:>9} {percent(row['measured']):>10}"
        f" {percent(row.get('predicted')):>10}  {row.get('simulated', 'not replayed')}"
        + (f"; run failed: {row['failures'][0]}" if row["failures"] else ""),
        flush=True,
    )


def rows_of_net(net, arguments):
    more = ("--threads", str(arguments.threads), "--sizes", arguments.sizes)
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "trace.jsonl.zst")
        if failure := record(net, trace, arguments, more):
            print(f"{net:<14} cannot be recorded: {failure}", flush=True)
            return [{"net": net, "failures": [failure]}]
        shares = arguments.budgets.split(",")
        outcomes = measure(net, shares, arguments, more)
        rows = [row_of(net, share, outcomes, trace, arguments) for share in shares]
    for row in rows:
        print_row(row)
    return rows


def main():
    arguments = arguments_of()
    print("net             share    budget   measured  predicted  simulator")
    rows = [row for net in arguments.nets.split(",") for row in rows_of_net(net, arguments)]
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
