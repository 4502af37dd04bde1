"""torchrun and its kind: the launcher runs as it is, each worker gets its share of the budget.

The job travels in the environment. A folder on PYTHONPATH holds a sitecustomize that begins it in
processes with LOCAL_RANK, and takes it out of the environment again, so that what a worker starts
runs stock.
"""

import os
import sys
from pathlib import Path

from ._managed import Job, ManagedRun
from ._program import Program

JOB = "WEIR_WORKER_JOB"
HOOK_FOLDER = str(Path(__file__).resolve().parent / "_worker_hook")
LAUNCHER_MODULES = ("torch.distributed.run", "torch.distributed.launch")


def is_launcher(program: Program) -> bool:
    if program.kind == "module":
        return program.target in LAUNCHER_MODULES
    return program.kind == "script" and os.path.basename(program.target) == "torchrun"


def pass_on(job: Job) -> None:
    """To the workers that a launcher in this process is going to start."""
    old = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([HOOK_FOLDER, old] if old else [HOOK_FOLDER])
    os.environ[JOB] = job.to_json()


def begin_in_worker() -> None:
    """For a process with LOCAL_RANK; called once, by our sitecustomize."""
    _clean_environment()
    if (text := os.environ.pop(JOB, None)) is None:
        return
    rank = int(os.environ.get("RANK", os.environ["LOCAL_RANK"]))
    processes = max(int(os.environ.get("LOCAL_WORLD_SIZE", "1")), 1)
    ManagedRun(Job.from_json(text).for_worker(rank, processes))


def _clean_environment() -> None:
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    rest = os.pathsep.join(path for path in paths if path != HOOK_FOLDER)
    if rest:
        os.environ["PYTHONPATH"] = rest
    else:
        os.environ.pop("PYTHONPATH", None)
    sys.path[:] = [path for path in sys.path if path != HOOK_FOLDER]
