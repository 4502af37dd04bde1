"""Runs programs in pairs of workers, stock and managed, and compares what they answer."""

import json
import os
import select
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from .program import make_program
from .worker import KINDS

HERE = Path(__file__).resolve().parent.parent
PACKAGE = HERE.parent.parent / "python"
LONGEST_SECONDS = 120
PROGRAMS_PER_WORKER = 400


class Crash(Exception):
    """A worker died or hung."""


class Worker:
    """One child process, started when first asked and started anew after a crash."""

    def __init__(self, managed):
        self.managed = managed
        self._child = None
        self._asked = 0

    def ask(self, program, **request):
        if self._child is None or self._asked >= PROGRAMS_PER_WORKER:
            self.stop()
            self._start()
        self._asked += 1
        line = json.dumps({"program": program.to_json(), "managed": self.managed, **request})
        try:
            self._child.stdin.write(line + "\n")
            self._child.stdin.flush()
        except BrokenPipeError:
            pass  # the answer will be missing, and say why
        return self._answer()

    def stop(self):
        if self._child is not None:
            self._child.stdin.close()
            self._child.stdout.close()
            self._child.kill()
            self._child.wait()
            self._child = None

    def _start(self):
        self._asked = 0
        paths = [str(HERE), os.environ.get("PYTHONPATH", ""), str(PACKAGE)]
        settings = {"OMP_WAIT_POLICY": "passive", "PYTHONPATH": os.pathsep.join(paths)}
        self._child = subprocess.Popen(
            [sys.executable, "-m", "programs.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **settings},
        )

    def _answer(self):
        ready, _, _ = select.select([self._child.stdout], [], [], LONGEST_SECONDS)
        line = self._child.stdout.readline() if ready else ""
        if line:
            return json.loads(line)
        if not ready:
            self.stop()
            raise Crash(f"no answer in {LONGEST_SECONDS} s")
        code = self._child.wait()
        self.stop()
        raise Crash(f"worker ended with code {code}")


@dataclass
class Verdict:
    """What became of one program: equal, different, failed, crashed, refused or left out."""

    program: object
    kind: str
    outcome: str
    differs: list = field(default_factory=list)
    detail: str = ""
    stock: dict = field(default_factory=dict)
    managed: dict = field(default_factory=dict)


def difference(stock, managed):
    """The names whose digests differ or that only one side has."""
    return sorted(k for k in stock.keys() | managed.keys() if stock.get(k) != managed.get(k))


class Pair:
    """A stock and a managed worker that judge programs one by one."""

    def __init__(self, share, count_ops=False):
        self.share = share
        self.count_ops = count_ops
        self.stock = Worker(managed=False)
        self.managed = Worker(managed=True)

    def judge(self, program, kind):
        verdict = Verdict(program, kind, "equal")
        stock = verdict.stock = self.stock.ask(program, count_ops=self.count_ops)
        if "failed" in stock:
            raise RuntimeError(f"seed {program.seed} fails in stock: {stock['failed']}")
        if not stock["agree"]:
            verdict.outcome = "left out"
            return verdict
        try:
            managed = verdict.managed = self.managed.ask(program, kind=kind, share=self.share)
        except Crash as crash:
            verdict.outcome, verdict.detail = "crashed", str(crash)
            return verdict
        return self._compare(verdict, stock, managed)

    def close(self):
        self.stock.stop()
        self.managed.stop()

    @staticmethod
    def _compare(verdict, stock, managed):
        if "failed" in managed:
            verdict.outcome, verdict.detail = "failed", managed["failed"]
            return verdict
        for run in ("ample", "tight"):
            if managed[run] is None:
                verdict.outcome = "refused"
            elif names := difference(stock["digests"], managed[run]):
                verdict.outcome, verdict.differs, verdict.detail = "different", names, run
                break
        return verdict


BAD = ("different", "failed", "crashed", "refused")


def shrink(program, kind, share, trials=60):
    """Leaves out steps, halves first, as long as the program still goes wrong."""
    pair, steps, size = Pair(share), list(program.steps), max(1, len(program.steps) // 2)
    try:
        while size and trials > 0:
            start = 0
            while start < len(steps) and trials > 0:
                trials -= 1
                shorter = replace(program, steps=steps[:start] + steps[start + size :])
                if pair.judge(shorter, kind).outcome in BAD:
                    steps = shorter.steps
                else:
                    start += size
            size //= 2
    finally:
        pair.close()
    return replace(program, steps=steps)


@dataclass
class Tally:
    """The sums a report is made from."""

    outcomes: Counter = field(default_factory=Counter)
    features: Counter = field(default_factory=Counter)
    refused_steps: Counter = field(default_factory=Counter)
    ops: Counter = field(default_factory=Counter)
    shares: Counter = field(default_factory=Counter)
    evicted: Counter = field(default_factory=Counter)
    recomputed: Counter = field(default_factory=Counter)
    fetched: Counter = field(default_factory=Counter)
    kinds: Counter = field(default_factory=Counter)
    over_budget: int = 0

    def add(self, verdict):
        self.outcomes[verdict.outcome] += 1
        self.features.update(verdict.stock["done"])
        self.refused_steps.update(name for name, _ in verdict.stock["errors"])
        self.ops.update(verdict.stock["ops"])
        if verdict.managed and verdict.managed.get("tight") is not None:
            self._add_run(verdict.kind, verdict.managed)

    def _add_run(self, kind, managed):
        stats = managed["stats"]
        self.kinds[kind] += 1
        self.shares[managed["share"]] += 1
        self.evicted[kind] += stats["evictions"] > 0
        self.recomputed[kind] += stats["recomputes"] > 0
        self.fetched[kind] += stats["fetched_bytes"] > 0
        self.over_budget += stats["peak_bytes"] > stats["budget_bytes"]


def kind_of(seed):
    return KINDS[seed % len(KINDS)]


def judge_seeds(seeds, share, count_ops, report):
    """Judges each seed and hands the verdict to `report`."""
    pair = Pair(share, count_ops)
    try:
        for seed in seeds:
            report(pair.judge(make_program(seed), kind_of(seed)))
    finally:
        pair.close()
