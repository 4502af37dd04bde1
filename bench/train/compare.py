#!/usr/bin/env python3
"""Compare the speed of training: stock, other allocator, Weir inside budgets, checkpoints.

    .venv/bin/python bench/train/compare.py --nets resnet50,gpt --budgets 1.0,0.5 --rounds 3

Every run is a process of its own; the variants of a net take turns, round by round, so that a
machine that grows slower meanwhile does so for all. Exit code 1: a digest differs from stock's.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import statistics
import sys

import marks
import runs
from runs import STOCK, STOCK_TCMALLOC, Variant, weir_at

CHECKPOINTS = (
    Variant("checkpoint", checkpoint=True),
    Variant("checkpoint+tcmalloc", checkpoint=True, tcmalloc=True),
)


def arguments_of():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--nets", default=",".join(marks.NETS), help="separated by commas")
    option("--budgets", default="1.0,0.7,0.5,0.3", help="shares of the peak; empty: no Weir")
    option("--tcmalloc-too", default="", help="shares with tcmalloc for what is no tensor")
    option("--rounds", type=int, default=5)
    option("--warmup", type=int, default=4, help="steps that are not counted")
    option("--steps", type=int, default=6, help="steps that are counted")
    option("--threads", type=int, default=2)
    option("--sizes", choices=("bench", "test"), default="bench")
    option("--tier", default="", help="FOLDER[:SIZE] where Weir may offload, or none")
    option("--policy", default="", help="who chooses what goes; see weir replay --help")
    option("--json", type=pathlib.Path, metavar="FILE")
    arguments = parser.parse_args()
    arguments.nets = arguments.nets.split(",")
    for net in arguments.nets:
        if net not in runs.registry.names():
            parser.error(f"no net {net}; there are {', '.join(runs.registry.names())}")
    if min(arguments.rounds, arguments.steps) < 1 or arguments.warmup < 0:
        parser.error("give at least one round and one step")
    return arguments


def shares_of(text):
    return [share for share in text.split(",") if share]


def variants_of(net, arguments):
    weir = [weir_at(share) for share in shares_of(arguments.budgets)]
    weir += [weir_at(share, tcmalloc=True) for share in shares_of(arguments.tcmalloc_too)]
    every = (STOCK, STOCK_TCMALLOC, *weir, *CHECKPOINTS)
    return [variant for variant in every if variant.fits(net)]


def measure(net, variants, arguments):
    """Variant name -> one outcome per round."""
    outcomes = {variant.name: [] for variant in variants}
    chosen = {key: getattr(arguments, key) for key in ("warmup", "steps", "tier", "policy")}
    chosen["more"] = ("--threads", str(arguments.threads), "--sizes", arguments.sizes)
    for number in range(arguments.rounds):
        for variant in variants:
            say(f"{net}: round {number + 1} of {arguments.rounds}, {variant.name}")
            outcomes[variant.name].append(runs.train(net, variant, **chosen))
    say("")
    return outcomes


def say(text):
    """Progress, for a person who looks on."""
    if sys.stderr.isatty():
        print(f"\x1b[K{text}", end="\r", file=sys.stderr, flush=True)


def ratio(outcomes, base):
    """Median over the rounds of the time relative to `base` in the same round, or None."""
    pairs = zip(outcomes, base, strict=True)
    known = [a.step_seconds / b.step_seconds for a, b in pairs if not a.failure and not b.failure]
    return statistics.median(known) if known else None


def row_of(net, variant, outcomes, sizes):
    """All that is told about one variant of one net."""
    mine = outcomes[variant.name]
    row = {"net": net, "variant": variant.name, "rounds": [dataclasses.asdict(o) for o in mine]}
    row["failures"] = [outcome.failure for outcome in mine if outcome.failure]
    row["mark"] = marks.mark_of(net, variant) if sizes == "bench" else None
    ran = [outcome for outcome in mine if not outcome.failure]
    if not ran:
        return row
    times = [outcome.step_seconds for outcome in ran]
    stock = {outcome.digest for outcome in outcomes[STOCK.name] if not outcome.failure}
    row |= {
        "step_seconds": statistics.median(times),
        "spread_seconds": [min(times), max(times)],
        "to_stock": ratio(mine, outcomes[STOCK.name]),
        "to_tcmalloc": ratio(mine, outcomes[STOCK_TCMALLOC.name]),
        "resident_bytes": statistics.median(outcome.resident_bytes for outcome in ran),
        "weir": ran[-1].weir,
    }
    if variant.budget:
        row["same_digest"] = {outcome.digest for outcome in ran} == stock
    return row


def number(value, form):
    return "-" if value is None else format(value, form)


def memory(row):
    text = f"{row['resident_bytes'] / 1e6:5.0f} MB"
    weir = row["weir"]
    if weir.get("logical_peak_bytes"):
        text += f"  {weir['peak_bytes'] / 1e6:.0f} of {weir['logical_peak_bytes'] / 1e6:.0f} MB"
    return text


def print_row(row):
    name = f"  {row['variant']:<20}"
    if "step_seconds" not in row:
        return print(f"{name} failed: {row['failures'][0]}")
    low, high = row["spread_seconds"]
    print(
        f"{name} {row['step_seconds']:7.3f} s  {low:.3f}..{high:.3f}"
        f"  {number(row['to_stock'], '.2f'):>6} {number(row['to_tcmalloc'], '.2f'):>9}"
        f" {number(row['mark'], '.2f'):>5}  {memory(row)}"
        + ("" if row.get("same_digest", True) else "  DIGEST DIFFERS FROM STOCK'S")
        + (f"  {len(row['failures'])} failed: {row['failures'][0]}" if row["failures"] else "")
    )


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values))) if values else None


def means_of(rows):
    """Variant -> geometric means over the nets where it ran, and of how many it ran."""
    means = {}
    for variant in dict.fromkeys(row["variant"] for row in rows):
        mine = [row for row in rows if row["variant"] == variant]
        means[variant] = {
            key: geometric_mean([row[key] for row in mine if row.get(key)])
            for key in ("to_stock", "to_tcmalloc", "mark")
        }
        means[variant] |= {"ran": sum("step_seconds" in row for row in mine), "nets": len(mine)}
    return means


def print_means(means):
    print("geometric means      to stock  to tcmalloc   mark   nets that ran")
    for variant, mean in means.items():
        print(
            f"  {variant:<20} {number(mean['to_stock'], '.3f'):>6} "
            f"{number(mean['to_tcmalloc'], '.3f'):>11} {number(mean['mark'], '.3f'):>6}"
            f"   {mean['ran']} of {mean['nets']}"
        )


def main():
    arguments = arguments_of()
    print(
        f"median step after {arguments.warmup} warm-up steps, of {arguments.steps};"
        f" {arguments.rounds} rounds, {arguments.threads} threads\n"
        "variant                  step      spread      to stock  tcmalloc  mark  peak resident,"
        " Weir's peak of the logical one"
    )
    rows = []
    for net in arguments.nets:
        print(net)
        variants = variants_of(net, arguments)
        outcomes = measure(net, variants, arguments)
        for variant in variants:
            rows.append(row_of(net, variant, outcomes, arguments.sizes))
            print_row(rows[-1])
        sys.stdout.flush()
    means = means_of(rows)
    print_means(means)
    if arguments.json:
        chosen = {
            key: getattr(arguments, key)
            for key in ("rounds", "warmup", "steps", "threads", "tier", "policy")
        }
        report = {**chosen, "rows": rows, "means": means}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0 if all(row.get("same_digest", True) for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
