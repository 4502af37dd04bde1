"""`python -m weir run|record`: the program runs as without it, and inside the budget."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = Path(os.environ.get("WEIR_COMMAND", ROOT / "build" / "bin" / "weir"))
WORKERS = 2

TRAIN = """
import torch
torch.manual_seed(0)
torch.set_num_threads(1)
layers = [(torch.nn.Linear(256, 256), torch.nn.Tanh()) for _ in range(8)]
net = torch.nn.Sequential(*sum(layers, ()))
optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
for _ in range(4):
    optimizer.zero_grad()
    loss = net(torch.randn(2048, 256)).pow(2).mean()
    loss.backward()
    optimizer.step()
    print(loss.item().hex())
"""


@pytest.fixture
def run(tmp_path):
    """Runs `python [options] -m weir WORDS` in a folder of its own, or stock `python WORDS`."""

    def start(*words, weir=True, options=(), **more):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "OMP_NUM_THREADS": "1"}
        environment |= more.pop("env", {})
        command = [sys.executable, *options, *(["-m", "weir"] if weir else []), *words]
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, **more
        )

    return start


@pytest.fixture
def script(tmp_path):
    def write(text, name="program.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        return name

    return write


BUDGET = ("run", "--budget", "1GiB", "--")

LOOKS_AROUND = """
import os, pickle, sys
class Mine: pass
main = sys.modules["__main__"]
print(__name__, __file__, sys.argv, sys.path[0], sorted(vars(main)), main.__spec__, __package__)
print(type(pickle.loads(pickle.dumps(Mine()))) is Mine, input())
print(sorted(set(os.environ) - {"PYTHONPATH"}), sys.flags.safe_path)
"""


@pytest.mark.parametrize("options", [(), ("-P",), ("-O", "-X", "dev")])
def test_a_script_sees_what_it_would_see_in_stock(run, script, options):
    words = (script(LOOKS_AROUND, "sub/program.py"), "a", "--", "--budget", "-m", "")
    inside = run(*BUDGET, *words, options=options, input="text\n")
    assert inside.returncode == 0, inside.stderr
    assert inside.stdout == run(*words, options=options, weir=False, input="text\n").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("-c", "import sys; print(sys.argv, sys.path[0], __name__, __spec__)", "-x", "y"),
        ("-m", "package.module", "-x", "y"),
        ("-m", "package", "z"),
        ("folder", "z"),
        ("-", "z"),
    ],
)
def test_every_way_to_name_a_program_works(run, script, words):
    text = "import sys; print(sys.argv, sys.path[0], __name__, __spec__ and __spec__.name)"
    for name in ("package/module.py", "package/__main__.py", "folder/__main__.py"):
        script(text, name)
    stock = run(*words, weir=False, input=text)
    inside = run(*BUDGET, *words, input=text)
    assert (inside.returncode, inside.stdout) == (0, stock.stdout)


@pytest.mark.parametrize(
    "text", ["pass", "raise SystemExit", "raise SystemExit(7)", "import sys; sys.exit('words')"]
)
def test_the_exit_code_is_the_programs(run, script, text):
    name = script(text)
    stock = run(name, weir=False)
    inside = run("run", "--budget", "1GiB", "--quiet", "--json", "o.json", "--", name)
    assert (inside.returncode, inside.stderr) == (stock.returncode, stock.stderr)


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    raise KeyError(1)\nf()",
        "this is no Python",
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError from e",
        "import sys\nsys.excepthook = lambda *_: print('mine', file=sys.stderr)\n1 / 0",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()",
        "import nonexistent_module",
    ],
)
def test_an_uncaught_exception_looks_as_in_stock(run, script, text):
    name = script(text)
    stock = run(name, weir=False)
    inside = run("run", "--budget", "1GiB", "--quiet", "--", name)
    assert inside.returncode == stock.returncode
    assert inside.stderr == stock.stderr


def test_an_interrupt_ends_it_as_in_stock(run, script):
    # A shell that runs us in the background ignores the signal, and children inherit that.
    name = script(
        "import os, signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "os.kill(os.getpid(), signal.SIGINT)\n"
        "time.sleep(10)"
    )
    stock = run(name, weir=False)
    inside = run("run", "--budget", "1GiB", "--quiet", "--", name)
    assert inside.returncode == stock.returncode == -signal.SIGINT
    assert inside.stderr.splitlines()[-1] == "KeyboardInterrupt"
    assert "weir" not in inside.stderr


def test_what_the_program_starts_runs_stock(run, script):
    child = "import os, sys; print([v for v in os.environ if 'WEIR_' in v], sys.path[1:])"
    name = script(f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])")
    assert run(*BUDGET, name).stdout == run(name, weir=False).stdout


SPAWNS = """
import multiprocessing, sys
def look(value):
    return value, __name__, [name for name in sys.modules if name.startswith("weir")]
if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(look, (5,)))
"""


def test_a_spawned_process_finds_main_and_runs_stock(run, script):
    name = script(SPAWNS)
    assert run(*BUDGET, name).stdout == run(name, weir=False).stdout == "(5, '__mp_main__', [])\n"


def test_settings_made_before_torch_is_imported_count(run, script):
    name = script(
        "import os, sys\nassert 'torch' not in sys.modules\nos.environ['OMP_NUM_THREADS'] = '2'\n"
        "import torch\nprint(torch.get_num_threads(), type(torch.__spec__.loader))"
    )
    inside = run(*BUDGET, name)
    assert inside.returncode == 0, inside.stderr
    assert inside.stdout == run(name, weir=False).stdout


@pytest.mark.parametrize(
    "words, why",
    [
        ((), "required: command"),
        (("fly",), "invalid choice: 'fly'"),
        (("run", "--", "x.py"), "required: --budget"),
        (("run", "--budget", "5q", "--", "program.py"), "'5q' has no unit"),
        (("run", "--budget", "1GiB"), "what shall run is missing"),
        (("run", "--budget", "1GiB", "--"), "what shall run is missing"),
        (("run", "--budget", "1GiB", "--", "nothing.py"), "'nothing.py' does not exist"),
        (("run", "--budget", "1GiB", "--", "-m"), "-m needs a word"),
        (("run", "--budget", "1GiB", "--", "-x"), "'-x' is no script"),
        (("run", "--budget", "1GiB", "--colour", "program.py"), "--colour"),
        (("run", "--budget", "1GiB", "--tier", "/nonexistent", "--", "program.py"), "not a folder"),
        (("run", "--budget", "1GiB", "--json", "/nonexistent/x", "--", "program.py"), "written"),
        (("run", "--budget", "1GiB", "--json", ".", "--", "program.py"), "written"),
        (("record", "--", "program.py"), "required: -o"),
        (("record", "-o", "/nonexistent/x", "--", "program.py"), "written"),
    ],
)
def test_bad_input_is_refused_in_one_line_before_the_run(run, script, words, why):
    script("print('it ran')")
    refused = run(*words)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("weir: ") and refused.stderr.count("\n") == 1
    assert why in refused.stderr


def test_a_policy_the_runtime_does_not_know_is_bad_input_too(run, script):
    refused = run("run", "--budget", "1GiB", "--policy", "best", "--", script("import torch"))
    assert refused.returncode == 2
    assert refused.stderr.startswith("weir: ") and refused.stderr.count("\n") == 1
    assert "best" in refused.stderr


def test_training_keeps_its_bits_and_its_budget(run, script, tmp_path):
    name = script(TRAIN)
    stock = run(name, weir=False)
    inside = run("run", "--budget", "24MiB", "--tier", ".", "--json", "o.json", "--", name)
    assert inside.returncode == 0, inside.stderr
    assert inside.stdout == stock.stdout
    told = json.loads((tmp_path / "o.json").read_text())
    assert (told["exit_code"], told["steps"]) == (0, 4)
    assert told["peak_bytes"] <= told["budget_bytes"] == 24 << 20 < told["logical_peak_bytes"]
    rows = [line.split()[0] for line in inside.stderr.splitlines()]
    assert rows == "weir steps budget logical peak evictions recomputing to from slowdown".split()


def test_a_budget_too_small_for_an_op_is_out_of_budget(run, script, tmp_path):
    name = script(TRAIN)
    refused = run("run", "--budget", "1MiB", "--tier", "none", "--json", "o.json", "--", name)
    assert refused.returncode == 1
    assert "torch.OutOfMemoryError: " in refused.stderr and "slowdown" in refused.stderr
    told = json.loads((tmp_path / "o.json").read_text())
    assert told["exit_code"] == 1 and told["error"].startswith("OutOfMemoryError: ")


def recorded(run, name, folder):
    """The events of a recording of a script."""
    assert run("record", "-o", "run.trace", "--", name).returncode == 0
    convert = [COMMAND, "trace", "convert", folder / "run.trace", folder / "run.jsonl"]
    subprocess.run(convert, check=True, capture_output=True)
    return [json.loads(line) for line in (folder / "run.jsonl").read_text().splitlines()]


def test_a_recording_is_a_trace(run, script, tmp_path):
    done = run("record", "-o", "run.trace", "--", script(TRAIN))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run.trace").stat().st_size > 0
    assert "run.trace" in done.stderr


def test_an_op_with_a_kernel_is_seen_though_it_could_be_decomposed(run, script, tmp_path):
    name = script(
        "import torch\n"
        "x = torch.ones(20_000, requires_grad=True)\n"
        "torch.nn.functional.silu(x.sin()).sum().backward()"
    )
    assert "aten::silu_backward" in [event.get("op") for event in recorded(run, name, tmp_path)]


def test_a_recording_that_cannot_be_written_ends_alone(run, script, tmp_path):
    """The disk is full in the middle of it: the program goes on, and nothing is left behind."""
    name = script(
        "import resource, signal, torch\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "x = torch.ones(20_000)\n"
        "for _ in range(4000):\n    x = x + 1\n"
        "print(x[0].item())"
    )
    done = run("record", "-o", "run.trace", "--quiet", "--json", "o.json", "--", name)
    assert (done.returncode, done.stdout) == (0, "4001.0\n")
    assert done.stderr.splitlines() == [
        "weir: run.trace: cannot be written (File too large); give a place with room and rights"
    ]
    assert json.loads((tmp_path / "o.json").read_text())["trace"] is None
    assert not list(tmp_path.glob("run.trace*"))


def test_a_recording_tells_what_ops_take_for_a_while(run, script, tmp_path):
    """Softmax of what is not contiguous copies its input and gives the copy back."""
    name = script(
        "import torch\nx = torch.rand(600, 500).t()\nassert not x.is_contiguous()\nx.softmax(1)"
    )
    events = recorded(run, name, tmp_path)
    assert [op["scratch"] for op in events if op.get("op") == "aten::_softmax"] == [1200128]


def test_a_trace_tells_the_peak_and_what_the_step_needs(run, script, tmp_path):
    name = script(TRAIN)
    assert run("record", "-o", "run.trace", "--", name).returncode == 0
    with_trace = ("run", "--trace", "run.trace", "--json", "o.json", "--budget")

    half = run(*with_trace, "0.5x", "--", name)
    assert half.returncode == 0, half.stderr
    told = json.loads((tmp_path / "o.json").read_text())
    assert 0.45 < told["peak_bytes"] / told["logical_peak_bytes"] < 0.51  # from the first op on

    refused = run(*with_trace, "5MB", "--", name)
    assert refused.returncode == 1
    needs = re.search(r"for the step, by its trace, at least (\d+) bytes", refused.stderr)
    assert needs and int(needs[1]) >= 2 * 2048 * 256 * 4

    unreadable = run(*with_trace, "5MB", "--trace", name, "--", name)
    assert unreadable.returncode == 2
    assert len(unreadable.stderr.splitlines()) == 1


def test_plans_are_kept_for_the_next_run(run, script, tmp_path):
    name = script(TRAIN.replace("range(4)", "range(8)"))
    plans = tmp_path / "plans"
    inside = ("run", "--plans", str(plans), "--budget", "14MB", "--", name)
    for _ in range(2):
        done = run(*inside)
        assert done.returncode == 0, done.stderr
        assert plans.read_bytes().startswith(b"WEIRPLAN")
        assert len(plans.read_bytes()) > 100  # not only a head

    plans.write_text("something else")
    refused = run(*inside)
    assert refused.returncode == 2
    assert len(refused.stderr.splitlines()) == 1
    assert plans.read_text() == "something else"


def test_out_of_budget_says_that_the_tier_was_full(run, script, tmp_path):
    name = script(
        "import torch\nkept = [torch.rand(1 << 18) for _ in range(16)]\nbig = torch.empty(1 << 20)"
    )
    small_tier = ("--tier", f"{tmp_path}:1MiB", "--no-recompute")
    done = run("run", "--budget", "5MiB", *small_tier, "--", name)
    assert done.returncode == 1
    assert "the tier could not take all" in done.stderr


def test_a_program_without_torch_is_told_of(run, script, tmp_path):
    done = run("run", "--budget", "1GiB", "--json", "o.json", "--", script("pass"))
    assert "did not import torch" in done.stderr
    assert json.loads((tmp_path / "o.json").read_text())["exit_code"] == 0


def test_the_report_comes_once_and_last(run, script):
    name = script(
        "import atexit, os, sys, torch\n"
        "atexit.register(lambda: print('bye', file=sys.stderr))\n"
        "if os.fork():\n    os.wait()"
    )
    lines = run(*BUDGET, name).stderr.splitlines()
    assert lines[:3] == ["bye", "bye", "weir"]
    assert lines.count("weir") == 1


def test_a_terminal_shows_where_it_is(tmp_path, script):
    """The program ends only when the line was seen."""
    program = script("import sys, torch\nsys.stdin.readline()")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "weir", *BUDGET, program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")},
        stdin=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    seen = b""
    while b"weir: step 0 | " not in seen:
        seen += os.read(ours, 4096)
    process.communicate(b"\n")
    assert process.returncode == 0
    while b"slowdown" not in seen:
        seen += os.read(ours, 4096)
    os.close(ours)
    assert b"\x1b[Kweir\r\n  steps" in seen


DISTRIBUTED = """
import os, sys
import torch
import torch.distributed as distributed
distributed.init_process_group("gloo")
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(3):
    optimizer.zero_grad()
    net(torch.ones(8, 64)).sum().backward()
    optimizer.step()
assert not any("WEIR_WORKER" in name or "worker_hook" in os.environ[name] for name in os.environ)
assert "worker_hook" not in str(sys.path) and sys.theirs == "chained"
distributed.destroy_process_group()
"""


def test_workers_of_a_launcher_share_the_budget(run, script, tmp_path):
    script("import sys\nsys.theirs = 'chained'", "site/sitecustomize.py")
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={WORKERS}"]
    paths = os.pathsep.join([str(tmp_path / "site"), str(ROOT / "python")])
    done = run(
        *("run", "--budget", "1GiB", "--json", "o.json", "--", *launcher, script(DISTRIBUTED)),
        env={"PYTHONPATH": paths},
    )
    assert done.returncode == 0, done.stderr
    told = [json.loads((tmp_path / f"o.rank{r}.json").read_text()) for r in range(WORKERS)]
    assert [t["budget_bytes"] for t in told] == [(1 << 30) // WORKERS] * WORKERS
    assert [(t["rank"], t["steps"]) for t in told] == [(0, 3), (1, 3)]
    assert not (tmp_path / "o.json").exists()
    assert "weir, rank 0\n" in done.stderr and "weir, rank 1\n" in done.stderr
