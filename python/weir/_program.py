"""Runs a Python program as the interpreter would: same argv, __main__, sys.path and exit code."""

import builtins
import importlib.machinery
import io
import os
import pkgutil
import runpy
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PACKAGE = str(Path(__file__).resolve().parent) + os.sep


@dataclass(frozen=True)
class Program:
    kind: str  # "script" (also "-", which is standard input), "module" or "code"
    target: str
    args: list[str]

    @staticmethod
    def parse(words: list[str]) -> "Program":
        """SCRIPT args, -m MODULE args or -c CODE args. Raises ValueError with one line."""
        if not words:
            raise ValueError("what shall run is missing; give -- SCRIPT, -m MODULE or -c CODE")
        kinds = {"-m": "module", "-c": "code"}
        if (kind := kinds.get(words[0])) is None:
            return Program("script", words[0], words[1:])._checked()
        if len(words) < 2:
            raise ValueError(f"{words[0]} needs a word after it")
        return Program(kind, words[1], words[2:])

    def _checked(self) -> "Program":
        if self.target.startswith("-") and self.target != "-":
            raise ValueError(f"{self.target!r} is no script; give it as ./{self.target}")
        if self.target != "-" and not os.access(self.target, os.R_OK):
            there = "cannot be read" if os.path.exists(self.target) else "does not exist"
            raise ValueError(f"{self.target!r} {there}; give -- SCRIPT, -m MODULE or -c CODE")
        return self

    def run(self) -> None:
        main = _new_main()
        prepare: dict[str, Callable[[types.ModuleType], None]] = {
            "script": self._run_script,
            "module": self._run_module,
            "code": self._run_code,
        }
        prepare[self.kind](main)

    def _run_module(self, main: types.ModuleType) -> None:
        sys.argv = ["-m", *self.args]
        _set_first_path(os.getcwd())
        runpy._run_module_as_main(self.target)  # type: ignore[attr-defined]

    def _run_code(self, main: types.ModuleType) -> None:
        sys.argv = ["-c", *self.args]
        _set_first_path("")
        exec(compile(self.target, "<string>", "exec", dont_inherit=True), main.__dict__)

    def _run_script(self, main: types.ModuleType) -> None:
        sys.argv = [self.target, *self.args]
        if self.target == "-":
            _set_first_path("")
            code = compile(sys.stdin.read(), "<stdin>", "exec", dont_inherit=True)
        elif os.path.isdir(self.target) or pkgutil.get_importer(self.target) is not None:
            _set_first_path(os.path.abspath(self.target), always=True)
            runpy._run_module_as_main("__main__", alter_argv=False)  # type: ignore[attr-defined]
            return
        else:
            _set_first_path(os.path.dirname(os.path.realpath(self.target)))
            path = os.path.abspath(self.target)
            main.__file__, main.__cached__ = path, None  # type: ignore[attr-defined]
            main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
            code = _code_of(path)
        exec(code, main.__dict__)


def _new_main() -> types.ModuleType:
    """The program's own __main__, so that what it pickles is found there, also at exit."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __annotations__={})
    main.__loader__ = importlib.machinery.BuiltinImporter
    sys.modules["__main__"] = main
    return main


def _set_first_path(path: str, always: bool = False) -> None:
    """In place of our own folder, which Python has put there unless it was told not to."""
    if not sys.flags.safe_path:
        sys.path[0] = path
    elif always:
        sys.path.insert(0, path)


def _code_of(path: str) -> Any:
    with io.open_code(path) as file:
        code = pkgutil.read_code(file)
    if code is not None:
        return code
    with io.open_code(path) as file:
        return compile(file.read(), path, "exec", dont_inherit=True)


def print_uncaught(error: BaseException) -> None:
    """As the interpreter does, by the program's own sys.excepthook, without our frames."""
    traceback = error.__traceback__
    while traceback and traceback.tb_frame.f_code.co_filename.startswith(PACKAGE):
        traceback = traceback.tb_next
    error.__traceback__ = traceback
    try:
        sys.excepthook(type(error), error, traceback)
    except Exception as broken:
        print("Error in sys.excepthook:", file=sys.stderr)
        sys.__excepthook__(type(broken), broken, broken.__traceback__)
        print("\nOriginal exception was:", file=sys.stderr)
        sys.__excepthook__(type(error), error, traceback)
