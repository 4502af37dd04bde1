"""What `weir calibrate` times: every kind of kernel, told as ops of a trace. No time is judged."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIR = os.environ.get("WEIR_COMMAND", str(ROOT / "build" / "bin" / "weir"))
SCRIPT = ROOT / "python" / "weir" / "_calibrate.py"
KERNELS = (
    "matmul convolution attention rnn norm softmax elementwise reduction pool embedding copy"
    " optimizer"
).split()
HURRIED = (
    "import runpy, sys; sys.argv = sys.argv[1:]; module = runpy.run_path(sys.argv[0]);"
    " main = module['main'].__globals__; main['TIMINGS'] = 1;"
    " main['seconds_of'].__defaults__ = (1e-6,); main['main']()"
)


@pytest.fixture(scope="module")
def machine(tmp_path_factory):
    """A file that was measured too quickly to be good for anything but its form."""
    folder = tmp_path_factory.mktemp("calibrate")
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{HURRIED}" "$@"\n')
    python.chmod(0o700)
    command = [WEIR, "calibrate", "--threads", "1", "--python", str(python), "--json"]
    done = subprocess.run(
        [*command, "-o", str(folder / "m.json")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == json.loads((folder / "m.json").read_text())
    return json.loads(done.stdout)


def test_every_kernel_is_measured(machine):
    assert list(machine["kernels"]) == KERNELS
    assert machine["about"]["not_measured"] == ["other"]
    assert all(rate.endswith("G") and float(rate[:-1]) > 0 for rate in machine["kernels"].values())


def test_products_have_sides_and_rates(machine):
    ops = {product["op"] for product in machine["products"]}
    assert {"aten::mm", "aten::addmm", "aten::bmm", "aten::convolution"} <= ops
    assert {"aten::convolution_backward", "aten::mkldnn_rnn_layer_backward"} <= ops
    for product in machine["products"]:
        assert min(product[side] for side in ("batch", "m", "n", "k", "window")) >= 1
        assert float(product["flops"].removesuffix("G")) > 0
    assert any(product["batch"] > 1 for product in machine["products"])  # depthwise ones


def test_phases_have_latencies(machine):
    assert set(machine["phase_latency_ns"]) == {"forward", "backward", "optimizer"}
    assert all(nanos > 0 for nanos in machine["phase_latency_ns"].values())


def test_ops_run_without_weir():
    spec = importlib.util.spec_from_file_location("calibrate_alone", SCRIPT)
    code = f"import runpy, sys; runpy.run_path({str(SCRIPT)!r}); print('weir' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert spec is not None and done.stdout == "False\n"


def test_without_torch_it_says_so(tmp_path):
    command = [sys.executable, "-S", str(SCRIPT), str(tmp_path / "a"), str(tmp_path / "b")]
    done = subprocess.run([*command, "--threads", "1"], capture_output=True, check=False)
    assert done.returncode == 3
