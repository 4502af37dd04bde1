"""Every net of the zoo, trained in stock and inside budgets: the same bits?

  python tests/python/same_bits.py --nets gpt,unet
  python tests/python/same_bits.py --full

A row is a net with its optimizer, threads and the way storages go; a column is a share of the
logical peak. `--full` also looks for the smallest share that works. Exit code 1: a cell differs,
crashes, runs below its floor, or moved nothing.
"""

import argparse
import concurrent.futures
import multiprocessing
import os
import sys
import tempfile
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in (ROOT / "python", ROOT, Path(__file__).parent):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

import torch  # noqa: E402
from floors import floors_of  # noqa: E402
from programs.program import digest_tensor  # noqa: E402

from zoo import registry  # noqa: E402
from zoo.data import Source  # noqa: E402
from zoo.train import build_net, build_optimizer, train_step  # noqa: E402

SHARES = (1.0, 0.7, 0.5, 0.35, 0.25)
KINDS = ("evict", "offload", "both")
OPTIMIZERS = ("sgd", "adamw")
STEPS = 5
HALVINGS = 4
AMPLE_BYTES = 8 << 30


@dataclass(frozen=True)
class Run:
    """One training program; its bits depend on all of this."""

    net: str
    optimizer: str
    threads: int

    def __str__(self):
        return f"{self.net}/{self.optimizer}/{self.threads}"


def train(run, steps=STEPS, disturb=lambda net, step: None):
    """Trains and digests all that training changed."""
    torch.set_num_threads(run.threads)
    torch.manual_seed(0)
    entry = registry.find(run.net)
    net = build_net(entry, entry.sizes("test"))
    optimizer = build_optimizer(entry, net, run.optimizer)
    source = Source(0)
    losses = []
    for step in range(steps):
        losses.append(train_step(net, optimizer, net.draw(source)))
        disturb(net, step)
    return digests_of(net, optimizer, losses, source)


def digests_of(net, optimizer, losses, source):
    digests = {"losses": [loss.hex() for loss in losses]}
    for name, tensor in (*net.named_parameters(), *net.named_buffers()):
        digests[name] = digest_tensor(tensor)
    for number, parameter in enumerate(net.parameters()):
        for name, value in optimizer.state[parameter].items():
            key = f"optimizer {number} {name}"
            digests[key] = digest_tensor(value) if torch.is_tensor(value) else value
    digests["generator"] = digest_tensor(torch.get_rng_state())
    digests["source"] = source.state()
    return digests


def train_stock(run):
    """In a process that never loads the package: two runs, and the floors."""
    first, second = train(run), train(run)
    return first, first == second, floors_of(lambda: train(run, steps=2))


def train_managed(run, kind, budget):
    """In a process of its own. Digests (None if refused) and statistics."""
    import weir

    with tempfile.TemporaryDirectory() as folder:
        tier = "none" if kind == "evict" else folder
        with weir.budget(budget, smallest=1, tier=tier, recompute=kind != "offload"):
            try:
                digests = train(run)
            except weir.OutOfBudget:
                digests = None
            return digests, weir.stats()


class Child:
    """One process that calls functions for us; a crash ends only it."""

    def __enter__(self):
        self._start()
        return self

    def __exit__(self, *_):
        self._pool.shutdown()

    def call(self, function, *args):
        """The result, or None if the process died."""
        try:
            return self._pool.submit(function, *args).result()
        except BrokenProcessPool:
            self._start()
            return None

    def _start(self):
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # children inherit it; no bits change
        context = multiprocessing.get_context("spawn")
        self._pool = concurrent.futures.ProcessPoolExecutor(1, mp_context=context)


def wrong_counts(kind, share, stats):
    """What the statistics say against the run, or nothing."""
    if stats["peak_bytes"] > stats["budget_bytes"]:
        return f"peak {stats['peak_bytes']} over {stats['budget_bytes']}"
    if share < 0.7 and kind == "evict" and not stats["recomputes"]:
        return "nothing recomputed"
    if share < 0.7 and kind == "offload" and not stats["fetched_bytes"]:
        return "nothing fetched"
    if kind == "offload" and stats["recomputes"]:
        return f"{stats['recomputes']} recomputes though none are allowed"
    if kind == "evict" and stats["offloaded_bytes"]:
        return f"{stats['offloaded_bytes']} bytes offloaded without a tier"
    return ""


def judge(stock, floor, kind, share, peak, answer):
    """One word for a cell, in capitals if it is wrong."""
    if answer is None:
        return "CRASHED"
    digests, stats = answer
    if digests is None:
        return "refused" if share < 1.0 else "REFUSED"
    if share * peak < floor:
        return "BELOW ITS FLOOR"
    if digests != stock:
        names = [name for name in stock if stock[name] != digests.get(name)]
        return f"DIFFERENT ({len(names)}: {names[0]})"
    return wrong_counts(kind, share, stats).upper() or "equal"


@dataclass
class Row:
    run: Run
    kind: str
    peak: int
    floor: int
    ample: str  # the word of the cell with room for everything
    cells: dict  # words by share

    def wrong(self):
        words = {"ample": self.ample} | self.cells
        return [f"{self} at {s}: {word}" for s, word in words.items() if word != word.lower()]

    def smallest(self):
        return min((share for share, word in self.cells.items() if word == "equal"), default=None)

    def __str__(self):
        return f"{self.run}/{self.kind}"


def add_smallest(row, cell_of, halvings):
    """Halves the gap between what was refused and what ran; what runs there has the same bits."""
    ran = min((share for share, word in row.cells.items() if word == "equal"), default=1.0)
    refused = max((s for s in row.cells if s < ran), default=0.0)
    refused = max(refused, row.floor / row.peak)
    for _ in range(halvings):
        share = round((ran + refused) / 2, 3)
        if not refused < share < ran:
            return
        row.cells[share] = cell_of(share)
        if row.cells[share] == "refused":
            refused = share
        else:
            ran = share


def rows_of(run, kinds=KINDS, shares=SHARES, halvings=0):
    """All cells of one training program."""
    with Child() as stock_child, Child() as managed_child:
        stock, agree, floors = stock_child.call(train_stock, run)
        assert agree, f"{run}: two stock runs differ"
        for kind in kinds:
            ample = managed_child.call(train_managed, run, kind, AMPLE_BYTES)
            word = judge(stock, 0, kind, 1.0, AMPLE_BYTES, ample)
            peak = ample[1]["logical_peak_bytes"] if ample else 0
            row = Row(run, kind, peak, floors[kind], word, {})

            def cell_of(share, kind=kind, peak=peak, row=row):
                answer = managed_child.call(train_managed, run, kind, int(share * peak))
                return judge(stock, row.floor, kind, share, peak, answer)

            if peak:
                row.cells |= {share: cell_of(share) for share in shares}
                add_smallest(row, cell_of, halvings)
            yield row


def print_row(row):
    cells = "  ".join(f"{share}: {word}" for share, word in row.cells.items())
    floor = row.floor / row.peak if row.peak else 0
    print(
        f"{row!s:32} peak {row.peak / 2**20:7.1f} MiB  floor {floor:.2f}  smallest"
        f" {row.smallest()}  ample: {row.ample}  {cells}",
        flush=True,
    )


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--nets", default=",".join(registry.names()))
    more = "both optimizers, one and two threads, the smallest share"
    parser.add_argument("--full", action="store_true", help=more)
    return parser.parse_args()


def main():
    options = parse()
    wrong = []
    for net in options.nets.split(","):
        own = registry.find(net).optimizer
        for optimizer in OPTIMIZERS if options.full else (own,):
            for threads in (1, 2) if options.full else (2,):
                halvings = HALVINGS if options.full else 0
                for row in rows_of(Run(net, optimizer, threads), halvings=halvings):
                    print_row(row)
                    wrong += row.wrong()
    print("\n".join(["wrong:", *wrong] if wrong else ["all right"]))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
