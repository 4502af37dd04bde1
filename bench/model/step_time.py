#!/usr/bin/env python3
"""What the model says a training step takes on this machine, beside what it takes.

    .venv/bin/python bench/model/step_time.py --threads 1 --rounds 3

The prediction is made from a trace without data (weir record --meta) and a machine file alone.
Every round calibrates the machine (weir calibrate), then runs each net once, in a process of its
own and without Weir; a round's predictions are those of its own machine file. With one thread time
is that of the processor, so that other programs on the machine disturb it less; otherwise it is the
wall's. What is done stays in --folder: the same command goes on where it was stopped, and a larger
--rounds adds rounds.
"""

import argparse
import json
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "bench" / "train")]

import runs  # noqa: E402 (found only now)

from zoo import registry  # noqa: E402

WEIR = os.environ.get("WEIR_COMMAND", str(ROOT / "build" / "bin" / "weir"))
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


class Experiment:
    """A folder of what is done; each file is there as a whole or not at all."""

    def __init__(self, folder, threads, steps):
        self.folder, self.threads, self.steps = folder, threads, steps
        folder.mkdir(parents=True, exist_ok=True)

    def _make(self, name, make):
        """`make` writes the file if it is not there yet."""
        file = self.folder / name
        if not file.exists():
            part = file.with_name("part-" + file.name)
            print(f"{file.name}", end=" ", file=sys.stderr, flush=True)
            make(part)
            part.rename(file)
        return file

    @staticmethod
    def _run(what, command):
        done, failure = runs.execute(command)
        if failure:
            raise SystemExit(f"{what}: {failure}")
        return done.stdout

    def trace(self, net):
        program = ["-m", "zoo.train", net, "--threads", str(self.threads)]
        program += ["--steps", str(self.steps)]
        # Without data PyTorch takes another way through an LSTM than with them.
        meta = [] if net == "lstm" else ["--meta"]
        record = [WEIR, "record", "--quiet", *meta]

        def make(file):
            self._run(net, [*record, "-o", str(file), "--", sys.executable, *program])

        return self._make(f"{net}.trace", make)

    def machine(self, number):
        command = [WEIR, "calibrate", "--quiet", "--threads", str(self.threads)]
        command += ["--python", sys.executable]
        return self._make(
            f"machine-{number}.json",
            lambda file: self._run("weir calibrate", [*command, "-o", str(file)]),
        )

    def measured(self, net, number):
        """The seconds of every step after the warm-up."""
        command = [sys.executable, __file__, "--net", net, "--threads", str(self.threads)]

        def make(file):
            said = self._run(net, [*command, "--steps", str(self.steps)])
            file.write_text(said.splitlines()[-1])

        return json.loads(self._make(f"{net}-{number}.json", make).read_text())[WARMUP:]

    def predicted(self, net, number):
        """The same, as the model has them."""
        seconds = []
        for step in range(WARMUP + 1, self.steps + 1):
            command = [WEIR, "model", str(self.trace(net)), "--json", "--step", str(step)]
            said = self._run(net, [*command, "--machine", str(self.machine(number))])
            seconds.append(json.loads(said)["time_ns"] / 1e9)
        return seconds

    def rows(self, nets, rounds):
        for net in nets:
            self.trace(net)
        for number in range(1, rounds + 1):
            self.machine(number)
            for net in nets:
                self.measured(net, number)
        print(file=sys.stderr)
        numbers = range(1, rounds + 1)
        return {
            net: row_of(
                [statistics.median(self.predicted(net, number)) for number in numbers],
                [statistics.median(self.measured(net, number)) for number in numbers],
            )
            for net in nets
        }


def row_of(predicted, measured):
    says, takes = statistics.median(predicted), statistics.median(measured)
    return {
        "predicted_s": says,
        "predictions_s": predicted,
        "measured_s": takes,
        "measurements_s": measured,
        "error": says / takes - 1,
    }


def print_rows(rows):
    def spread(values):
        return f"{min(values):.3f} to {max(values):.3f}"

    print(
        f"{'net':<13} {'predicted':>9} {'rounds':>15} {'measured':>9} {'rounds':>15} {'error':>8}"
    )
    for net, row in rows.items():
        print(
            f"{net:<13} {row['predicted_s']:7.3f} s {spread(row['predictions_s']):>15}"
            f" {row['measured_s']:7.3f} s {spread(row['measurements_s']):>15}"
            f" {100 * row['error']:+7.1f}%"
        )
    median = statistics.median(abs(row["error"]) for row in rows.values())
    print(f"median of absolute errors {100 * median:.1f} % (mark: {100 * MARK:.0f} %)")
    return median


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nets", default=",".join(registry.names()))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=5, help="of a round, with the warm-up")
    parser.add_argument("--folder", type=pathlib.Path, help="default: build/step_time/THREADS")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--net", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.steps <= WARMUP or arguments.rounds < 1 or arguments.threads < 1:
        parser.error(f"give more than {WARMUP} steps, and at least one round and one thread")
    if arguments.net:
        run_net(arguments.net, arguments.threads, arguments.steps)
        return
    folder = arguments.folder or ROOT / "build" / "step_time" / str(arguments.threads)
    experiment = Experiment(folder, arguments.threads, arguments.steps)
    rows = experiment.rows(arguments.nets.split(","), arguments.rounds)
    median = print_rows(rows)
    if arguments.json:
        report = {"nets": rows, "median_error": median}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
