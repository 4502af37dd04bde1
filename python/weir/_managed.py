"""A program under `weir run` or `weir record`: begins when it imports torch, reports at its end."""

import atexit
import contextlib
import dataclasses
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

from . import _report, _session
from ._options import Options


@dataclasses.dataclass(frozen=True)
class Job:
    """What the command was asked to do with a program."""

    options: Options | None = None  # None: no budget
    trace: str | None = None
    compile: str = "leave"
    json: str | None = None
    quiet: bool = False
    rank: int | None = None  # in a group of worker processes
    meta: bool = False  # record without memory

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @staticmethod
    def from_json(text: str) -> "Job":
        fields = json.loads(text)
        if fields["options"]:
            fields["options"] = Options(**fields["options"])
        return Job(**fields)

    def for_worker(self, rank: int, processes: int) -> "Job":
        """A worker's share of the budget, and files of its own."""
        return dataclasses.replace(
            self,
            options=self.options and self.options.share_of(processes),
            trace=self.trace and _ranked(self.trace, rank),
            json=self.json and _ranked(self.json, rank),
            rank=rank,
        )


def _ranked(path: str, rank: int) -> str:
    """out/run.jsonl.zst becomes out/run.rank3.jsonl.zst."""
    folder, name = os.path.split(path)
    stem, dot, suffixes = name.partition(".")
    return os.path.join(folder, f"{stem}.rank{rank}{dot}{suffixes}")


def _one_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]


def complain(what: object) -> None:
    print(f"weir: {what}", file=sys.stderr)


class ManagedRun:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._process = os.getpid()
        self._active = contextlib.ExitStack()
        self._started = False
        self._status = _report.StatusLine(_session.stats)
        self.exit_code: int | None = None
        self.error: BaseException | None = None  # what nobody caught
        atexit.register(self._finish)  # the first to register, so after the program's own
        if "torch" in sys.modules:
            self._start()
        else:
            after_import("torch", self._start)

    def _start(self) -> None:
        """In the import of torch: nothing of the program has made a tensor yet."""
        if not self._job.quiet and not self._job.meta:
            self._status.start()  # before new threads are followed, so it never is
        try:
            self._begin()
        except (RuntimeError, ImportError, ValueError) as error:
            self._status.stop()
            atexit.unregister(self._finish)
            complain(str(error).removeprefix("weir: ").partition("\n")[0])
            raise SystemExit(2) from None
        self._started = True

    def _begin(self) -> None:
        job = self._job
        if job.options:
            chosen = job.options
            self._active.enter_context(_session.Budget(lambda: chosen, job.compile))
        if job.trace and job.meta:
            from . import _meta

            self._active.enter_context(_meta.record(job.trace))
        elif job.trace:
            self._active.enter_context(_session.record(job.trace))

    def _finish(self) -> None:
        if os.getpid() != self._process:
            return  # a child by fork: the parent reports
        self._status.stop()
        measured = self._started and not self._job.meta  # nothing is held without data
        stats = _session.stats() if measured else None
        trace = self._job.trace
        try:
            self._active.close()
        except KeyboardInterrupt:
            pass
        except RuntimeError as error:  # the trace could not be written
            complain(str(error).partition("\n")[0])
            trace = None
        self._tell(stats, trace)

    def _tell(self, stats: dict[str, int] | None, trace: str | None) -> None:
        title = "weir" if self._job.rank is None else f"weir, rank {self._job.rank}"
        if not self._job.quiet:
            nothing = f"{title}: the program did not import torch, so there was nothing to hold"
            if stats or not self._started:
                print(_report.table(title, stats) if stats else nothing, file=sys.stderr)
            if trace and self._started:
                print(f"  {'trace':<14} {trace}", file=sys.stderr)
        if self._job.json:
            self._write(stats, trace)

    def _write(self, stats: dict[str, int] | None, trace: str | None) -> None:
        answer: dict[str, Any] = {"exit_code": self.exit_code, "rank": self._job.rank}
        answer["error"] = self.error and _one_line(self.error)
        answer["trace"] = trace
        answer["slowdown_estimate"] = _report.slowdown(stats) if stats else None
        try:
            _report.write_json(str(self._job.json), answer | (stats or {}))
        except OSError as error:
            complain(f"{self._job.json} could not be written: {error.strerror}")


class _Watcher(importlib.abc.MetaPathFinder):
    """Calls back once the module's own code has run; leaves no trace on the module."""

    def __init__(self, name: str, then: Callable[[], None]) -> None:
        self._name = name
        self._then = then

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is None or spec.loader is None:
            sys.meta_path.insert(0, self)
            return spec
        loader = spec.loader
        original = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            del loader.exec_module  # the instance's; the class's own is there again
            original(module)
            self._then()

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def after_import(name: str, then: Callable[[], None]) -> None:
    sys.meta_path.insert(0, _Watcher(name, then))
