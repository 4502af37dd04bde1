"""Random torch programs, stock against managed, bit for bit.

  python tests/python/random_programs.py --seeds 0:10000 --jobs 2
  python tests/python/random_programs.py --seeds 17 --show

Exit code 0: all equal; 1: a program differs, fails, crashes or is refused at every budget.
"""

import argparse
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from programs.campaign import BAD, Pair, Tally, judge_seeds, kind_of, shrink
from programs.program import make_program
from programs.registry import FEATURES


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seeds", default="0:100", help="one seed, or first:end")
    parser.add_argument("--budget-share", type=float, default=0.35, help="of the logical peak")
    parser.add_argument("--jobs", type=int, default=2, help="pairs of workers")
    parser.add_argument("--ops", type=int, default=200, help="count operators of this many seeds")
    parser.add_argument("--shrink", type=int, default=3, help="shrink at most this many failures")
    parser.add_argument("--show", action="store_true", help="print the program and its verdict")
    parser.add_argument("--counts", action="store_true", help="print all features and operators")
    return parser.parse_args()


def seed_range(text):
    first, _, end = text.partition(":")
    return range(int(first), int(end) if end else int(first) + 1)


def run_all(seeds, options):
    """All seeds, divided over the jobs; gives the sums and the verdicts that are bad."""
    tally, bad, lock = Tally(), [], threading.Lock()
    done = 0

    def report(verdict):
        nonlocal done
        with lock:
            done += 1
            tally.add(verdict)
            if verdict.outcome in BAD:
                bad.append(verdict)
                print_bad(verdict)
            if done % 100 == 0 and sys.stderr.isatty():
                print(f"\r{done} of {len(seeds)}", end="", file=sys.stderr)

    with ThreadPoolExecutor(options.jobs) as pool:
        shares = [seeds[job :: options.jobs] for job in range(options.jobs)]
        futures = []
        for part in shares:
            counted = part[: options.ops // options.jobs]
            futures.append(pool.submit(run_part, part, counted, options, report))
        for future in futures:
            future.result()
    return tally, bad


def run_part(part, counted, options, report):
    judge_seeds(counted, options.budget_share, True, report)
    judge_seeds(part[len(counted) :], options.budget_share, False, report)


def print_bad(verdict):
    where = f"{verdict.detail} {', '.join(verdict.differs[:6])}"
    print(f"seed {verdict.program.seed} ({verdict.kind}): {verdict.outcome}: {where}", flush=True)


def print_tally(tally, seconds, options):
    judged = sum(tally.outcomes.values())
    print(f"\n{judged} programs in {seconds:.0f} s: {dict(tally.outcomes)}")
    for kind, runs in sorted(tally.kinds.items()):
        counts = f"evicted {tally.evicted[kind]}, recomputed {tally.recomputed[kind]}"
        print(f"  {kind}: {runs} runs, {counts}, fetched {tally.fetched[kind]}")
    print(f"  share of the logical peak needed: {dict(sorted(tally.shares.items()))}")
    print(f"  runs above their budget: {tally.over_budget}")
    steps, refused = sum(tally.features.values()), sum(tally.refused_steps.values())
    print(f"  steps: {steps} done, {refused} refused by torch")
    missing = sorted(set(FEATURES) - set(tally.features))
    print(f"  features: {len(tally.features)} of {len(FEATURES)}; missing: {missing}")
    print(f"  operators (in {options.ops} programs): {len(tally.ops)}")
    if options.counts:
        for title, counts in (("feature", tally.features), ("operator", tally.ops)):
            for name, count in counts.most_common():
                print(f"    {title} {name}: {count}")


def print_program(program, notes):
    print(f"program {program.to_json()}")
    for line in notes:
        print("  " + line)


def show(seed, options):
    pair = Pair(options.budget_share)
    try:
        verdict = pair.judge(make_program(seed), kind_of(seed))
    finally:
        pair.close()
    print_program(verdict.program, verdict.stock["notes"])
    print(f"{verdict.outcome} {verdict.detail} {verdict.differs}")
    print({k: v for k, v in verdict.managed.items() if k not in ("ample", "tight")})
    return verdict


def show_shrunk(verdict, options):
    short = shrink(verdict.program, verdict.kind, options.budget_share)
    pair = Pair(options.budget_share)
    try:
        again = pair.judge(short, verdict.kind)
    finally:
        pair.close()
    print(f"seed {short.seed} ({verdict.kind}) shrunk to {len(short.steps)} steps:")
    print_program(short, again.stock["notes"])
    print_bad(again)


def main():
    options = parse()
    seeds = seed_range(options.seeds)
    if options.show:
        return int(show(seeds[0], options).outcome in BAD)
    start = time.monotonic()
    tally, bad = run_all(seeds, options)
    print_tally(tally, time.monotonic() - start, options)
    for verdict in bad[: options.shrink]:
        show_shrunk(verdict, options)
    return int(bool(bad))


if __name__ == "__main__":
    sys.exit(main())
