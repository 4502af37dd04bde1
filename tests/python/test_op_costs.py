"""What ops compute and touch, against PyTorch's own counter and published figures."""

import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest
import torch
from torch.utils.flop_counter import (
    FlopCounterMode,
    conv_flop_count,
    sdpa_backward_flop_count,
    sdpa_flop_count,
)

from zoo import registry
from zoo.data import Source
from zoo.train import build_net, build_optimizer, train_step

ROOT = pathlib.Path(__file__).resolve().parents[2]
WEIR = os.environ.get("WEIR_COMMAND", str(ROOT / "build" / "bin" / "weir"))
DATA = pathlib.Path(os.environ.get("WEIR_DATA", ROOT.parent / "shared" / "data"))
ALL = registry.names()
SAME_AS_COUNTED = {"matmul", "convolution", "attention"}
aten = torch.ops.aten


def record(trace, *program, meta=False, more=()):
    paths = [str(ROOT / "python"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    command = [sys.executable, "-m", "weir", "record", "--quiet", "-o", str(trace), *more]
    command += ["--meta"] if meta else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    return subprocess.run(
        [*command, "--", *program], capture_output=True, text=True, env=environment
    )


def record_net(trace, name, *more, steps=1, meta=False):
    program = ("-m", "zoo.train", name, "--threads", "1", "--steps", str(steps), *more)
    done = record(trace, *program, meta=meta)
    assert done.returncode == 0, done.stderr
    return done


def costs_of(trace, step=1):
    command = [WEIR, "trace", "ops", str(trace), "--step", str(step), "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=True).stdout)


def lines_of(trace):
    plain = trace.with_suffix(".plain")
    command = [WEIR, "trace", "convert", str(trace), str(plain)]
    subprocess.run(command, capture_output=True, check=True)
    return [json.loads(line) for line in plain.read_text().splitlines()]


def conv_backward_flop(grad, x, w, bias, stride, padding, dilation, transposed, *rest, **kwargs):
    """PyTorch's own counts the gradient of a grouped weight as if there were no groups."""
    masks = rest[-1]
    places = x if transposed else grad
    one = 2 * grad[0] * torch.Size(places[2:]).numel() * torch.Size(w).numel()
    return one * (bool(masks[0]) + bool(masks[1]))


def attention_flop(query, key, value, *rest, **kwargs):
    return sdpa_flop_count(query, key, value)


def attention_backward_flop(grad, query, key, value, *rest, **kwargs):
    return sdpa_backward_flop_count(grad, query, key, value)


def counted_flops(name):
    entry = registry.find(name)
    torch.manual_seed(0)
    net = build_net(entry, entry.sizes("test"))
    optimizer, source = build_optimizer(entry, net), Source(0)
    more = {
        aten.convolution_backward: conv_backward_flop,
        aten._scaled_dot_product_flash_attention_for_cpu: attention_flop,
        aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward_flop,
    }
    with FlopCounterMode(display=False, custom_mapping=more) as counter:
        train_step(net, optimizer, net.draw(source))
    return {
        f"aten::{packet.__name__}": flops
        for packet, flops in counter.get_flop_counts()["Global"].items()
    }


@pytest.mark.parametrize("name", ALL)
def test_agrees_with_pytorchs_counter_and_knows_every_op(name, tmp_path):
    record_net(tmp_path / "t.zst", name, "--sizes", "test")
    costs = costs_of(tmp_path / "t.zst")
    assert [op["name"] for op in costs["ops"] if op["unknown"]] == []
    ours = collections.Counter()
    for op in costs["ops"]:
        if op["kernel"] in SAME_AS_COUNTED:
            ours[op["name"]] += op["flops"]
    assert dict(ours) == counted_flops(name)


def test_the_counter_of_convolutions_is_pytorchs_own_without_groups():
    x, w, grad = [2, 3, 8, 8], [4, 3, 3, 3], [2, 4, 6, 6]
    ours = conv_backward_flop(grad, x, w, None, 1, 0, 1, False, 0, 1, [True, False, False])
    assert ours == conv_flop_count(grad, w, x, transposed=True)


def shape_of_ops(trace):
    return [
        (op["op"], op["phase"], tuple(out["bytes"] for out in op["out"]), len(op["in"]))
        for op in lines_of(trace)
        if "op" in op
    ]


def only_in_one(real, meta):
    real, meta = collections.Counter(real), collections.Counter(meta)
    return real - meta, meta - real


@pytest.mark.parametrize("name", [name for name in ALL if name != "lstm"])
def test_meta_recording_has_the_ops_and_sizes_of_a_real_one(name, tmp_path):
    """But that autograd adds gradients of such tensors out of place."""
    record_net(tmp_path / "real.zst", name, "--sizes", "test")
    record_net(tmp_path / "meta.zst", name, "--sizes", "test", meta=True)
    real, meta = shape_of_ops(tmp_path / "real.zst"), shape_of_ops(tmp_path / "meta.zst")
    assert len(real) == len(meta)
    only_real, only_meta = only_in_one(real, meta)
    assert {op[:2] for op in only_real} <= {("aten::add_", "backward")}
    assert {op[:2] for op in only_meta} <= {("aten::add", "backward")}
    assert only_real.total() == only_meta.total()


def test_meta_recording_of_an_lstm_computes_as_much(tmp_path):
    record_net(tmp_path / "meta.zst", "lstm", "--sizes", "test", meta=True)
    record_net(tmp_path / "real.zst", "lstm", "--sizes", "test")
    ours, real = costs_of(tmp_path / "meta.zst"), costs_of(tmp_path / "real.zst")
    flops = [sum(op["flops"] for op in c["ops"] if "rnn" in op["name"]) for c in (ours, real)]
    assert flops[0] == flops[1] > 0


def test_a_value_is_a_stated_constant_with_one_warning(tmp_path):
    code = "import torch; x = torch.rand(9).sum(); print(x.item(), float(x), bool(x > 3))"
    done = record(tmp_path / "t.zst", "-c", code, meta=True)
    assert (done.returncode, done.stdout) == (0, "1.0 1.0 True\n")
    assert done.stderr == "weir: a value was read; with --meta every value is 1\n"


@pytest.mark.parametrize(
    ("code", "op"),
    [
        ("x.nonzero()", "aten::nonzero"),
        ("x[x > 0]", "aten::index"),
        ("x.unique()", "aten::_unique2"),
        ("torch.masked_select(x, x > 0)", "aten::masked_select"),
        ("x.tolist()", "Tensor.tolist"),
        ("x.numpy()", "Tensor.numpy"),
    ],
)
def test_a_shape_that_depends_on_data_is_refused_by_name(code, op, tmp_path):
    done = record(tmp_path / "t.zst", "-c", f"import torch; x = torch.rand(9); {code}", meta=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"weir: {op}") and done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_seven_billion_parameters_need_little_memory(tmp_path):
    sizes = ("hidden=4096", "depth=32", "heads=32", "vocabulary=50257", "length=1024", "batch=1")
    report = tmp_path / "zoo.json"
    more = [word for size in sizes for word in ("--set", size)] + ["--json", str(report)]
    record_net(tmp_path / "t.zst", "gpt", *more, meta=True)
    figures = json.loads(report.read_text())
    assert figures["parameters"] > 6.5e9
    assert figures["peak_bytes"] < 2e9
    costs = costs_of(tmp_path / "t.zst")
    assert costs["unknown"] == 0
    matmuls = sum(op["flops"] for op in costs["ops"] if op["kernel"] == "matmul")
    assert matmuls == pytest.approx(6 * figures["parameters"] * 1024, rel=0.05)


ELEMENT_BYTES = {"float32": 4, "int64": 8, "bool": 1}
# What backward reads beside what a net saves for it: running statistics, which are buffers of the
# net, and what the loss saves.
NOT_OF_THE_NET = {
    "aten::native_batch_norm_backward": (3, 4),
    "aten::_log_softmax_backward_data": (1,),
    "aten::nll_loss_backward": (1,),
}


def bytes_of(layout):
    reach = sum((n - 1) * s for n, s in zip(layout["shape"], layout["strides"], strict=True))
    return (layout["offset"] + reach + 1) * ELEMENT_BYTES[layout["dtype"]]


def saved_for_backward(lines):
    """How many storages of forward, parameters aside, backward reads, and their bytes."""
    layouts, size, changed, read, made = {}, {}, set(), set(), set()
    for op in (line for line in lines if "op" in line):
        arguments = [argument or {} for argument in op.get("args", [])]
        layouts.update((a["layout"], a) for a in arguments + op["out"] if "dtype" in a)
        for place, argument in enumerate(arguments):
            if "in" not in argument:
                continue
            tensor = op["in"][argument["in"]]
            size[tensor] = max(size.get(tensor, 0), bytes_of(layouts[argument["layout"]]))
            if op["phase"] == "backward" and place not in NOT_OF_THE_NET.get(op["op"], ()):
                read.add(tensor)
        if op["phase"] == "backward":
            made.update(out["tensor"] for out in op["out"])
        if op["phase"] == "optimizer":
            changed.update(op["in"][place] for place in op.get("mutates", []))
    saved = read - made - changed
    return len(saved), sum(size[tensor] for tensor in saved)


@pytest.mark.parametrize(
    ("name", "fewer_storages", "fewer_bytes"),
    [
        ("resnet50", 0, 0),
        ("vgg16", 0, 0),
        ("densenet121", 0, 0),
        # Two statistics of 16 channels, too small for a trace; and 7 x 7 x 1280 floats more in the
        # published figure, which hooks of this PyTorch do not see either.
        ("mobilenet_v2", 3, 2 * 64 + 4 * 7 * 7 * 1280),
    ],
)
def test_saves_for_backward_what_was_measured_before(name, fewer_storages, fewer_bytes, tmp_path):
    file = DATA / "saved-for-backward.jsonl"
    if not file.exists():
        pytest.skip("the shared data are not there")
    known = {row["name"]: row for row in map(json.loads, file.read_text().splitlines())}[name]
    report = tmp_path / "zoo.json"
    sizes = ("--batch", "1", "--image", "224")
    record_net(tmp_path / "t.zst", name, *sizes, "--json", str(report), meta=True)
    storages, total = saved_for_backward(lines_of(tmp_path / "t.zst"))
    assert json.loads(report.read_text())["parameters"] == known["params"]
    assert storages + fewer_storages == known["saved_storages"]
    assert round((total + fewer_bytes) / 2**20, 2) == known["saved_for_bwd_MiB"]
