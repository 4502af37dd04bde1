"""Runs a net of the zoo in a process of its own, in one of the ways that are compared."""

import dataclasses
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TCMALLOC = "libtcmalloc_minimal.so.4"
sys.path.insert(0, str(ROOT))

from zoo import registry  # noqa: E402 (found only now)


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    budget: str = ""  # what Weir is told; none: Weir is not there
    checkpoint: bool = False
    tcmalloc: bool = False

    def fits(self, net):
        return not self.checkpoint or registry.find(net).can_checkpoint


@dataclasses.dataclass
class Outcome:
    """What one process did; `failure` says in one line why it did not finish."""

    step_seconds: float = 0.0  # the median after the warm-up
    resident_bytes: int = 0  # peak of the process above what it had before it built the net
    digest: str = ""
    weir: dict = dataclasses.field(default_factory=dict)  # Weir's own figures
    failure: str = ""


STOCK = Variant("stock")
STOCK_TCMALLOC = Variant("stock+tcmalloc", tcmalloc=True)


def weir_at(share, tcmalloc=False):
    name = f"weir@{share}x" + ("+tcmalloc" if tcmalloc else "")
    return Variant(name, budget=f"{share}x", tcmalloc=tcmalloc)


def environment(tcmalloc=False):
    """Weir's package within reach, and the other allocator preloaded if asked for."""
    changed = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "python")])}
    if tcmalloc:
        changed["LD_PRELOAD"] = TCMALLOC
    return changed


def execute(command, tcmalloc=False):
    """The finished process and, if it failed, one line that says how."""
    done = subprocess.run(
        command, cwd=ROOT, env=environment(tcmalloc), capture_output=True, text=True, check=False
    )
    if "cannot be preloaded" in done.stderr:
        return done, f"{TCMALLOC} is missing; install libtcmalloc-minimal4"
    if done.returncode == 0:
        return done, ""
    said = [line for line in done.stderr.splitlines() if line.strip()]
    return done, said[-1] if said else f"ended with {done.returncode}"


def train(net, variant, *, warmup, steps, tier="", policy="", more=()):
    """One run; `tier` and `policy` go to Weir (empty: its own choice), `more` to zoo.train."""
    with tempfile.TemporaryDirectory() as folder:
        figures, run = pathlib.Path(folder, "weir.json"), pathlib.Path(folder, "run.json")
        command = [sys.executable, "-m"]
        if variant.budget:
            command += ["weir", "run", "--budget", variant.budget, "--quiet"]
            command += ["--tier", tier] if tier else []
            command += ["--policy", policy] if policy else []
            command += ["--json", str(figures), "--", "-m"]
        command += ["zoo.train", net, "--steps", str(warmup + steps), "--digest"]
        command += ["--json", str(run), *(["--checkpoint"] if variant.checkpoint else []), *more]
        _, failure = execute(command, variant.tcmalloc)
        weir = json.loads(figures.read_text()) if figures.exists() else {}
        if failure:
            return Outcome(weir=weir, failure=failure)
        return outcome_of(json.loads(run.read_text()), weir, warmup)


def outcome_of(run, weir, warmup):
    return Outcome(
        step_seconds=statistics.median(step["seconds"] for step in run["steps"][warmup:]),
        resident_bytes=run["peak_bytes"] - run["idle_bytes"],
        digest=run["digest"],
        weir=weir,
    )
