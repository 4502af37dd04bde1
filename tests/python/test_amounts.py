"""Amounts of memory as people write them, and what `auto` comes to."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from weir import _machine, _units

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("WEIR_COMMAND", ROOT / "build" / "bin" / "weir"))
GIB = 1 << 30

GOOD_BUDGETS = (
    "4096 17B 3KiB 3MiB 2GiB 1TiB 3kB 3KB 1500MB 2GB 1TB 1.5GiB 2.3MB .5KiB 2.GiB 0.1MB 1024TiB"
    " 1125899906842624 0.5x 2x 1000x .25x 0.29x"
).split() + ["1.50 GiB", "17 B"]
BAD_BUDGETS = (
    "-1 +1 -2GiB GiB 2GiBs 2gib 1e9 nan inf 0x10 1.5 1.5B 1,5GiB 1.2.3GiB . 2G 0 0B 0x 0.0x -1x"
    " nanx 1000.5x x 0.5xx 1e-3x 0.1:1:0.1 1125899906842625 1025TiB"
).split() + ["", " ", "2 ", "2  GiB", " 2", "0.5 x", "2GiB\n", "9" * 400, "٣KiB"]


@pytest.mark.parametrize("text", BAD_BUDGETS)
def test_a_budget_that_the_command_refuses_is_refused(text):
    with pytest.raises(ValueError) as error:
        _units.parse_budget(text)
    assert "\n" not in str(error.value)
    assert "; give bytes" in str(error.value)


@pytest.mark.skipif(not COMMAND.exists(), reason="the command is not built")
def test_the_package_and_the_command_read_budgets_alike():
    def by_command(text):
        replay = [COMMAND, "replay", ROOT / "traces/demo.jsonl.zst", f"--budget={text}", "--json"]
        run = subprocess.run(replay, capture_output=True, text=True)
        return json.loads(run.stdout)["budget"] if run.returncode == 0 else None

    for text in GOOD_BUDGETS:
        amount, share = _units.parse_budget(text)
        told = by_command(text)
        assert told is not None, text
        assert float(told.removesuffix("x")) == (share or amount), text
    for text in BAD_BUDGETS[::4]:
        assert by_command(text) is None, text


def test_amounts_are_shown_as_the_command_shows_them():
    shown = {0: "0 B", 1000: "1000 B", 1 << 10: "1.00 KiB", (1 << 20) - 1: "1.00 MiB"}
    shown |= {(1 << 20) - 10: "1023.99 KiB", -2048: "-2.00 KiB", 3 << 29: "1.50 GiB"}
    assert {amount: _units.format_bytes(amount) for amount in shown} == shown
    assert _units.format_nanos(12_300_000) == "12.30 ms"


def fake_machine(folder, *, version=2, path="/", available="8388608 kB", files=None):
    """A /proc and a cgroup mount under `folder`; `files` are below the mount."""
    proc, mount = folder / "proc", folder / "cgroup"
    (proc / "self").mkdir(parents=True)
    for name, text in (files or {}).items():
        (mount / name).parent.mkdir(parents=True, exist_ok=True)
        (mount / name).write_text(f"{text}\n")
    (proc / "meminfo").write_text(f"MemTotal: 9 kB\nMemAvailable: {available}\n")
    ours = f"0::{path}\n" if version == 2 else f"4:cpu,memory:{path}\n0::/\n"
    kind = "cgroup2 none rw" if version == 2 else "cgroup none rw,memory"
    (proc / "self" / "cgroup").write_text(ours)
    (proc / "self" / "mountinfo").write_text(f"25 1 0:22 / {mount} rw - {kind}\n")
    return proc


def test_auto_is_the_free_memory_less_a_reserve(tmp_path):
    assert _machine.auto_budget(fake_machine(tmp_path)) == 8 * GIB - int(8 * GIB * 0.05)


def test_auto_keeps_at_least_256_mib_for_the_rest(tmp_path):
    proc = fake_machine(tmp_path, available=f"{1 << 20} kB")
    assert _machine.auto_budget(proc) == GIB - (256 << 20)


def test_auto_takes_the_smallest_limit_along_the_path(tmp_path):
    limits = {"a/memory.max": 4 * GIB, "a/b/memory.max": "max", "memory.max": 6 * GIB}
    proc = fake_machine(tmp_path, path="/a/b", files=limits | {"a/b/memory.stat": ""})
    assert _machine.auto_budget(proc) == 4 * GIB - (256 << 20)


def test_auto_leaves_what_others_use_but_not_what_they_cache(tmp_path):
    used = {"memory.current": 2 * GIB, "memory.stat": f"anon 5\ninactive_file {GIB}"}
    proc = fake_machine(tmp_path, files={"memory.max": 4 * GIB} | used)
    assert _machine.auto_budget(proc) == 3 * GIB - (256 << 20)


def test_auto_knows_version_1_and_paths_that_are_not_mounted(tmp_path):
    files = {"memory.limit_in_bytes": 2 * GIB, "memory.usage_in_bytes": GIB}
    proc = fake_machine(tmp_path, version=1, path="/docker/elsewhere", files=files)
    assert _machine.auto_budget(proc) == GIB - (256 << 20)


def test_auto_takes_version_1_without_a_limit_as_none(tmp_path):
    proc = fake_machine(tmp_path, version=1, files={"memory.limit_in_bytes": 0x7FFFFFFFFFFFF000})
    assert _machine.auto_budget(proc) == 8 * GIB - int(8 * GIB * 0.05)


def test_auto_says_when_nothing_is_left(tmp_path):
    with pytest.raises(ValueError, match="auto leaves no memory"):
        _machine.auto_budget(fake_machine(tmp_path, available="1000 kB"))


def test_auto_works_here():
    assert 0 < _machine.auto_budget() < 1 << 50
