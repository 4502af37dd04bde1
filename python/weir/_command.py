"""The command line of `python -m weir`. Exit code 2: wrong usage or bad input, in one line."""

import argparse
import sys
from typing import NoReturn

from . import _launcher, _native, _report
from ._managed import Job, ManagedRun, complain
from ._options import ADDRESSES, make_options
from ._program import Program, print_uncaught

EXAMPLES = {
    "run": "Example: python -m weir run --budget 2GiB -- train.py --epochs 3",
    "record": "Example: python -m weir record -o run.jsonl.zst -- -m mypackage.train",
}


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        complain(f"{message}; see {self.prog} --help")
        raise SystemExit(2)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("python -m weir", description="Holds training at the memory line you draw.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=_Parser)
    run = commands.add_parser(
        "run", help="run a program inside a budget", epilog=EXAMPLES["run"], allow_abbrev=False
    )
    run.add_argument("--budget", required=True, help="2GiB, 1500MB, 0.5x of the peak, or auto")
    run.add_argument("--peak", help="what the program needs without a budget, if known")
    run.add_argument("--trace", dest="known", help="of the same program: tells its peak, and more")
    run.add_argument("--policy", help="who chooses what goes (planned); see weir replay --help")
    run.add_argument("--smallest", help="tensors below this size stay")
    run.add_argument("--tier", help="FOLDER[:SIZE] for offloading, or none")
    run.add_argument("--no-recompute", action="store_true", help="offload only")
    run.add_argument("--plans", help="file of plans from the run before, and for the next")
    run.add_argument(
        "--addresses",
        choices=ADDRESSES,
        help="may tensors come back at other addresses (auto: unless a library may remember them)",
    )
    run.add_argument("--checksum", action="store_true", help="compare what is recomputed")
    run.add_argument("--compile", choices=["leave", "eager"], default="leave")
    run.add_argument("--record", dest="trace", metavar="TRACE", help="write a trace as well")
    record = commands.add_parser(
        "record",
        help="write a trace of what a program does",
        epilog=EXAMPLES["record"],
        allow_abbrev=False,
    )
    record.add_argument("-o", dest="trace", metavar="TRACE", required=True, help="file to write")
    record.add_argument(
        "--meta", action="store_true", help="no data and no computing: shapes only, no costs"
    )
    for command in (run, record):
        command.add_argument("--json", metavar="FILE", help="write the figures there at the end")
        command.add_argument("--quiet", action="store_true", help="no table and no status line")
        command.add_argument("program", nargs=argparse.REMAINDER, metavar="-- PROGRAM")
    return parser


def _job(given: argparse.Namespace) -> Job:
    plans = getattr(given, "plans", None)
    for path in filter(None, (given.json, given.trace, plans)):
        _report.check_writable(path)
    if given.command == "record":
        return Job(trace=given.trace, json=given.json, quiet=given.quiet, meta=given.meta)
    options = make_options(
        given.budget,
        policy=given.policy,
        smallest=given.smallest,
        tier=given.tier,
        recompute=not given.no_recompute,
        peak=given.peak,
        trace=given.known,
        checksum=given.checksum,
        plans=plans,
        addresses=given.addresses,
    )
    return Job(options, given.trace, given.compile, given.json, given.quiet)


def main(argv: list[str]) -> None:
    given = _parser().parse_args(argv)
    words = given.program[1:] if given.program[:1] == ["--"] else given.program
    try:
        program = Program.parse(words)
        job = _job(given)
        _native.check()
    except (ValueError, ImportError) as error:
        complain(error)
        raise SystemExit(2) from None
    if _launcher.is_launcher(program):
        _launcher.pass_on(job)
        _run(program, None)
    else:
        _run(program, ManagedRun(job))


def _run(program: Program, managed: ManagedRun | None) -> None:
    code = 1
    try:
        program.run()
        code = 0
    except SystemExit as end:
        code = _code_of(end)
        raise
    except BaseException as error:
        print_uncaught(error)
        if managed:
            managed.error = error.with_traceback(None)  # its frames hold tensors
        if isinstance(error, KeyboardInterrupt):
            _die_of_interrupt()
        raise SystemExit(1) from None
    finally:
        if managed:
            managed.exit_code = code


def _code_of(end: SystemExit) -> int:
    if end.code is None:
        return 0
    return end.code & 0xFF if isinstance(end.code, int) else 1


def _die_of_interrupt() -> NoReturn:
    """Python ends such a process by the signal itself; what it would print has been printed."""
    sys.excepthook = lambda *_: None
    raise KeyboardInterrupt
