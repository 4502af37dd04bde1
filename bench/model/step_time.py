#!/usr/bin/env python3
"""What the model says a training step takes on this machine, beside what it takes.

    build/bin/weir calibrate --threads 1 -o machine.json
    .venv/bin/python bench/model/step_time.py --machine machine.json --threads 1 --rounds 3

The prediction is made from a trace without data (weir record --meta) and the machine file alone.
Every round runs each net once, in a process of its own, without Weir. With one thread time is that
of the processor, so that other programs on the machine disturb it less; otherwise it is the wall's.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "bench" / "train")]

import runs  # noqa: E402 (found only now)

from zoo import registry  # noqa: E402

WEIR = ROOT / "build" / "bin" / "weir"
WARMUP = 2  # the first steps make the optimizer's state and the allocator's habits
MARK = 0.15


def run_net(net, threads, steps):
    """In a process of its own: prints the seconds of every step."""
    import torch

    from zoo import train
    from zoo.data import Source

    torch.set_num_threads(threads)
    now = time.process_time if threads == 1 else time.perf_counter
    entry = registry.find(net)
    torch.manual_seed(0)
    made = train.build_net(entry, entry.sizes("bench"))
    optimizer, source, seconds = train.build_optimizer(entry, made), Source(0), []
    for _ in range(steps):
        begin = now()
        train.train_step(made, optimizer, made.draw(source))
        seconds.append(now() - begin)
    print(json.dumps(seconds))


def measure(nets, threads, steps, rounds):
    """Net -> round -> the seconds of every step after the warm-up."""
    told = {net: [] for net in nets}
    for number in range(rounds):
        for net in nets:
            command = [sys.executable, __file__, "--net", net, "--threads", str(threads)]
            done, failure = runs.execute([*command, "--steps", str(steps)])
            if failure:
                raise SystemExit(f"{net}: {failure}")
            told[net].append(json.loads(done.stdout.splitlines()[-1])[WARMUP:])
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
    return told


def predict(net, machine, threads, steps):
    """The seconds of every step after the warm-up, as the model has them."""
    with tempfile.TemporaryDirectory() as folder:
        trace = pathlib.Path(folder, "step.trace")
        program = ["-m", "zoo.train", net, "--threads", str(threads), "--steps", str(steps)]
        # Without data PyTorch takes another way through an LSTM than with them.
        meta = [] if net == "lstm" else ["--meta"]
        record = [str(WEIR), "record", "--quiet", *meta, "-o", str(trace), "--", sys.executable]
        _, failure = runs.execute([*record, *program])
        if failure:
            raise SystemExit(f"{net}: {failure}")
        seconds = []
        for step in range(WARMUP + 1, steps + 1):
            command = [str(WEIR), "model", str(trace), "--machine", str(machine), "--json"]
            done, failure = runs.execute([*command, "--step", str(step)])
            if failure:
                raise SystemExit(f"{net}: {failure}")
            seconds.append(json.loads(done.stdout)["time_ns"] / 1e9)
        return seconds


def row_of(predicted, rounds):
    measured = [statistics.median(steps) for steps in rounds]
    says, takes = statistics.median(predicted), statistics.median(measured)
    return {
        "predicted_s": says,
        "measured_s": takes,
        "spread_s": [min(measured), max(measured)],
        "error": says / takes - 1,
    }


def print_rows(rows):
    print(f"{'net':<13} {'predicted':>10} {'measured':>10} {'rounds':>17} {'error':>8}")
    for net, row in rows.items():
        low, high = row["spread_s"]
        print(
            f"{net:<13} {row['predicted_s']:8.3f} s {row['measured_s']:8.3f} s"
            f" {low:8.3f}..{high:<7.3f} {100 * row['error']:+7.1f}%"
        )
    median = statistics.median(abs(row["error"]) for row in rows.values())
    print(f"median of absolute errors {100 * median:.1f} % (mark: {100 * MARK:.0f} %)")
    return median


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--machine", type=pathlib.Path, help="what weir calibrate wrote")
    parser.add_argument("--nets", default=",".join(registry.names()))
    parser.add_argument("--threads", type=int, default=1, help="as weir calibrate was told")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=6, help="of a round, with the warm-up")
    parser.add_argument("--measured", type=pathlib.Path, help="use these, of --json, again")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--net", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.steps <= WARMUP or arguments.rounds < 1:
        parser.error(f"give more than {WARMUP} steps and at least one round")
    if arguments.net:
        run_net(arguments.net, arguments.threads, arguments.steps)
        return
    if not arguments.machine:
        parser.error("give --machine, a file that weir calibrate wrote")
    nets = arguments.nets.split(",")
    if arguments.measured:
        told = json.loads(arguments.measured.read_text())["measured"]
    else:
        told = measure(nets, arguments.threads, arguments.steps, arguments.rounds)
    rows = {
        net: row_of(predict(net, arguments.machine, arguments.threads, arguments.steps), told[net])
        for net in nets
    }
    median = print_rows(rows)
    if arguments.json:
        report = {"nets": rows, "median_error": median, "measured": told}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
