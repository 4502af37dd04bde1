"""The budget is held: by the ledger, by the kernel's count of memory, and over many steps."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20
STEPS = int(os.environ.get("WEIR_TEST_STEPS", "200"))


def small_net():
    return nn.Sequential(
        nn.Linear(64, 256),
        nn.BatchNorm1d(256),
        nn.ReLU(),
        nn.Linear(256, 256),
        nn.GELU(),
        nn.Dropout(0.1),
        nn.Linear(256, 8),
    )


class Trainer:
    """Momentum on one half of the parameters, AdamW on the other, a moving average of all."""

    def __init__(self):
        torch.manual_seed(0)
        self.net = small_net()
        parameters = list(self.net.parameters())
        self.optimizers = (
            torch.optim.SGD(parameters[::2], 0.01, momentum=0.9),
            torch.optim.AdamW(parameters[1::2], 0.001),
        )
        self.average = [p.detach().clone() for p in parameters]

    def step(self):
        for optimizer in self.optimizers:
            optimizer.zero_grad()
        loss = self.net(torch.randn(256, 64)).square().mean()
        loss.backward()
        for optimizer in self.optimizers:
            optimizer.step()
        with torch.no_grad():
            for kept, current in zip(self.average, self.net.parameters(), strict=True):
                kept.lerp_(current, 0.01)
        return loss.item()


def logical_peak():
    import weir

    with weir.budget("1GiB", smallest=1, tier="none"):
        trainer = Trainer()
        for _ in range(3):
            trainer.step()
        return weir.stats()["logical_peak_bytes"]


def resident_bytes():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
    raise KeyError("VmRSS")


@pytest.mark.parametrize("share", [1.0, 0.8, 0.6, 0.5])  # the floor is at 0.404
@pytest.mark.parametrize("recompute", [True, False], ids=["both", "offload"])
def test_the_ledger_never_stands_above_the_budget(share, recompute, tmp_path):
    import weir

    budget = int(share * logical_peak())
    with weir.budget(budget, smallest=1, tier=tmp_path, recompute=recompute):
        trainer = Trainer()
        for _ in range(5):
            trainer.step()
            stats = weir.stats()
            assert stats["budget_bytes"] == budget
            assert 0 < stats["peak_bytes"] <= budget
    if share < 0.7:
        assert stats["evictions"] + stats["offloaded_bytes"] > 0


def test_what_cannot_fit_is_refused(tmp_path):
    import weir

    with weir.budget(1 * MIB, smallest=1, tier=tmp_path):
        with pytest.raises(weir.OutOfBudget):
            torch.ones(2 * MIB)
        assert weir.stats()["peak_bytes"] <= MIB
        assert torch.ones(1000).sum() == 1000  # a refusal leaves the budget usable
    assert issubclass(weir.OutOfBudget, torch.OutOfMemoryError)


def test_nothing_grows_over_many_steps(tmp_path):
    """After a warm-up: live records, storages and the resident set stay flat."""
    import weir

    samples = []
    with weir.budget(int(0.5 * logical_peak()), smallest=1, tier=tmp_path):
        trainer = Trainer()
        for step in range(STEPS):
            trainer.step()
            if step >= STEPS // 4 and step % max(1, STEPS // 40) == 0:
                stats = weir.stats()
                samples.append((stats["records"], stats["storages"], resident_bytes()))
        assert weir.stats()["steps"] == 2 * STEPS  # one for each optimizer
    half = len(samples) // 2
    for name, early, late in zip(
        ("records", "storages", "resident"), flat(samples[:half]), flat(samples[half:]), strict=True
    ):
        slack = 2 * MIB if name == "resident" else 0.1 * early + 8
        assert late <= early + slack, f"{name}: {early} in the first half, {late} in the second"


def flat(samples):
    """The highest value of each column."""
    return [max(column) for column in zip(*samples, strict=True)]


class Cgroup:
    """A memory cgroup of our own, version 1 or 2, that is removed at the end."""

    def __init__(self, limit):
        base = Path("/sys/fs/cgroup")
        self.version = 2 if (base / "cgroup.controllers").exists() else 1
        parent = base if self.version == 2 else base / "memory"
        self.folder = parent / f"weir-test-{uuid.uuid4().hex[:8]}"
        self.folder.mkdir()
        try:
            self._limit(limit)
        except OSError:
            self.folder.rmdir()
            raise

    def _limit(self, limit):
        if self.version == 2:
            (self.folder / "memory.max").write_text(str(limit))
            (self.folder / "memory.swap.max").write_text("0")
            return
        (self.folder / "memory.limit_in_bytes").write_text(str(limit))
        swap = self.folder / "memory.memsw.limit_in_bytes"
        if swap.exists():
            swap.write_text(str(limit))

    def enter(self):
        """Called by a child between fork and exec."""
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def kills(self):
        """How many processes the kernel has ended here for want of memory."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        lines = (self.folder / name).read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def remove(self):
        """Workers may outlive a parent that was killed; a group with processes cannot go."""
        for _ in range(100):
            for process in (self.folder / "cgroup.procs").read_text().split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGKILL)
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            time.sleep(0.1)
        raise RuntimeError(f"{self.folder} is still in use")


@pytest.fixture
def cgroup():
    made = []

    def make(limit):
        try:
            made.append(Cgroup(limit))
        except OSError as error:
            pytest.skip(f"no memory cgroup can be made here: {error}")
        return made[-1]

    yield make
    for group in made:
        group.remove()


# 80 activations of 6 MiB, besides 80 MiB of weights and gradients.
PROGRAM = """
import sys
import torch
from torch.utils.data import DataLoader, TensorDataset

workers = int(sys.argv[1])
torch.manual_seed(0)
torch.set_num_threads(1)
data = TensorDataset(torch.randn(6144, 512))
layers = [torch.nn.Linear(512, 512) for _ in range(40)]
net = torch.nn.Sequential(*[m for l in layers for m in (l, torch.nn.Tanh())])
optimizer = torch.optim.SGD(net.parameters(), 0.01)
for (batch,) in DataLoader(data, 3072, num_workers=workers):
    optimizer.zero_grad()
    loss = net(batch).square().mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item(), flush=True)
"""
LIMIT = 480 * MIB
BUDGET = "160MiB"
LONGEST_SECONDS = 300  # only so that a hang ends


def run_program(tmp_path, workers, group=None, budget=None):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    front = [sys.executable]
    if budget:
        front += ["-m", "weir", "run", "--quiet", "--budget", budget, "--tier", str(tmp_path), "--"]
    return subprocess.run(
        [*front, str(script), str(workers)],
        preexec_fn=group.enter if group else None,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
    )


@pytest.mark.parametrize("workers", [0, 2])
def test_stock_is_killed_where_a_budget_finishes(cgroup, tmp_path, workers):
    free = run_program(tmp_path, workers)
    assert free.returncode == 0, free.stderr
    tight = cgroup(LIMIT)
    killed = run_program(tmp_path, workers, tight)
    assert killed.returncode != 0 and tight.kills() > 0, "stock fits: the limit proves nothing"
    same = cgroup(LIMIT)
    held = run_program(tmp_path, workers, same, BUDGET)
    assert held.returncode == 0, held.stderr
    assert same.kills() == 0
    assert held.stdout == free.stdout


def test_the_command_reports_what_it_held(tmp_path):
    report = tmp_path / "report.json"
    script = tmp_path / "program.py"
    script.write_text("import torch\nx = torch.ones(1 << 20)\nfor _ in range(9): x = x.sin()\n")
    command = [
        sys.executable,
        "-m",
        "weir",
        "run",
        "--budget",
        "32MiB",
        "--json",
        str(report),
        "--",
    ]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run([*command, str(script)], env=env, capture_output=True)
    assert done.returncode == 0, done.stderr
    stats = json.loads(report.read_text())
    assert 8 * MIB <= stats["peak_bytes"] <= stats["budget_bytes"] == 32 * MIB
