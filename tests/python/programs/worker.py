"""A process that runs programs it is sent, one JSON line each, and answers with one line each.

A worker is stock (the package is never imported) or managed. A crash ends only the worker.
"""

import gc
import json
import os
import sys
import tempfile
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .program import Program, run_program

AMPLE_BYTES = 8 << 30
SHARES = (0.35, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.1, 1.6, 2.5)
KINDS = ("evict", "both", "offload")
COUNTERS = ("evictions", "recomputes", "offloaded_bytes", "fetched_bytes")


class OpNames(TorchDispatchMode):
    """Collects the name of every ATen operator that is dispatched below autograd."""

    def __init__(self):
        super().__init__()
        self.counts = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function)
        self.counts[name] = self.counts.get(name, 0) + 1
        return function(*args, **(kwargs or {}))


def run_stock(program, count_ops):
    """Twice: a program whose two runs differ says nothing about the runtime."""
    first, second = run_program(program), run_program(program)
    ops = OpNames()
    if count_ops:
        with ops:
            run_program(program)
    return {
        "digests": first.digests,
        "agree": first.digests == second.digests,
        "done": first.done,
        "errors": first.errors,
        "notes": first.notes,
        "ops": ops.counts,
    }


def run_in_budget(program, budget, kind, folder):
    """One managed run; the counters are of this run only."""
    import weir

    gc.collect()  # what an earlier run left in reference cycles would stand against the budget
    tier = "none" if kind == "evict" else folder
    with weir.budget(budget, smallest=1, tier=tier, recompute=kind != "offload"):
        before = weir.stats()
        digests = run_program(program).digests
        stats = weir.stats()
    counted = {key: stats[key] - before[key] for key in COUNTERS}
    return digests, {**stats, **counted}


def run_managed(program, kind, least_share, folder):
    """At an ample budget, for the logical peak; then at the least share that is not refused."""
    ample, stats = run_in_budget(program, AMPLE_BYTES, kind, folder)
    peak = stats["logical_peak_bytes"]
    refused = 0
    for share in (s for s in sorted({least_share, *SHARES}) if s >= least_share):
        try:
            tight, tight_stats = run_in_budget(program, int(peak * share), kind, folder)
        except torch.OutOfMemoryError:
            refused += 1
            continue
        return {"ample": ample, "tight": tight, "stats": tight_stats, "share": share,
                "refused": refused, "peak": peak}  # fmt: skip
    return {
        "ample": ample,
        "tight": None,
        "stats": stats,
        "share": 0,
        "refused": refused,
        "peak": peak,
    }


def answer(request, folder):
    program = Program.from_json(request["program"])
    try:
        if request["managed"]:
            return run_managed(program, request["kind"], request["share"], folder)
        return run_stock(program, request["count_ops"])
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}


def freeze_modules(known):
    """What a program imported is there to stay: the collector need not look at it every time."""
    if len(sys.modules) != known:
        gc.collect()
        gc.freeze()
    return len(sys.modules)


def main():
    warnings.simplefilter("ignore")
    modules = freeze_modules(0)
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs print must not mix with the answers
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            print(json.dumps(answer(json.loads(line), folder)), file=replies, flush=True)
            modules = freeze_modules(modules)


if __name__ == "__main__":
    main()
