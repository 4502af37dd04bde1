"""The zoo's nets are the published ones, learn, and give the same bits every time."""

import json
import pathlib
import re
import subprocess
import sys

import pytest
import torch

from zoo import registry
from zoo.data import Source
from zoo.train import build_net, build_optimizer, main, train_step

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALL = registry.names()
DIGEST = re.compile(r"^digest ([0-9a-f]{64})$", re.M)
CHECKPOINTED = [net.name for net in registry.NETS if net.can_checkpoint]


@pytest.fixture(autouse=True)
def one_thread():
    """Tests run beside each other; a run that is about threads asks for them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def command_line(name, *more):
    return [name, "--sizes", "test", "--steps", "3", "--threads", "2", "--digest", *more]


def digest(capsys, *arguments):
    main(command_line(*arguments))
    return DIGEST.search(capsys.readouterr().out)[1]


def tiny(name, checkpoint=False):
    """The net at test sizes, its optimizer and its data."""
    entry = registry.find(name)
    torch.manual_seed(0)
    net = build_net(entry, entry.sizes("test"), checkpoint)
    return net, build_optimizer(entry, net), Source(0)


@pytest.mark.parametrize(
    ("name", "changes", "parameters"),
    [  # torchvision's counts
        ("resnet50", {}, 25_557_032),
        ("densenet121", {}, 7_978_856),
        ("mobilenet_v2", {}, 3_504_872),
        ("vgg16", {}, 138_357_544),
        ("vgg16", {"norm": True}, 138_365_992),
    ],
)
def test_has_the_parameters_of_the_published_net(name, changes, parameters):
    entry = registry.find(name)
    with torch.device("meta"):
        net = build_net(entry, entry.sizes("bench", changes))
    assert sum(parameter.numel() for parameter in net.parameters()) == parameters


@pytest.mark.parametrize("name", ALL)
def test_two_runs_agree_bit_for_bit(name, capsys):
    assert digest(capsys, name) == digest(capsys, name)


@pytest.mark.parametrize("name", ["mobilenet_v2", "tree_lstm"])
def test_a_run_in_another_process_agrees_too(name, capsys):
    command = [sys.executable, "-m", "zoo.train", *command_line(name)]
    other = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert DIGEST.search(other.stdout)[1] == digest(capsys, name)


def test_the_digest_depends_on_the_seed_and_on_the_optimizer(capsys):
    changes = [[], ["--seed", "1"], ["--optimizer", "sgd"], ["--learning-rate", "0.5"]]
    digests = [digest(capsys, "gpt", *change) for change in changes]
    assert len(set(digests)) == len(digests)


@pytest.mark.parametrize("name", ALL)
def test_the_loss_falls(name):
    net, optimizer, source = tiny(name)
    losses = [train_step(net, optimizer, net.draw(source)) for _ in range(40)]
    assert sum(losses[-5:]) < 0.95 * sum(losses[:5]), losses


@pytest.mark.parametrize("name", CHECKPOINTED)
def test_checkpoints_change_neither_loss_nor_gradients(name):
    gradients = []
    for checkpoint in (False, True):
        net, _, source = tiny(name, checkpoint)
        loss = net.loss(net.draw(source))
        loss.backward()
        gradients.append([loss, *(parameter.grad for parameter in net.parameters())])
    assert all(torch.equal(a, b) for a, b in zip(*gradients, strict=True))


@pytest.mark.parametrize("name", ALL)
def test_tiny_nets_still_have_large_tensors(name):
    saved = {}

    def note(tensor):
        saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    net, _, source = tiny(name)
    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        loss = net.loss(net.draw(source))
    assert sum(size >= 64 * 1024 for size in saved.values()) >= 8, (loss, saved)


@pytest.mark.parametrize("update", ["foreach", "fused", "single"])
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_every_optimizer_runs(optimizer, update, capsys):
    assert digest(capsys, "lstm", "--optimizer", optimizer, "--update", update)


def test_trees_differ_from_step_to_step():
    net, _, source = tiny("tree_lstm")
    trees = {repr(net.draw(source)[0]) for _ in range(10)}
    assert len(trees) == 10


def test_json_has_times_losses_and_memory(tmp_path):
    file = tmp_path / "run.json"
    command = [sys.executable, "-m", "zoo.train", "unet", "--sizes", "test", "--steps", "2"]
    subprocess.run([*command, "--json", str(file)], cwd=ROOT, check=True)
    result = json.loads(file.read_text())
    assert [step.keys() for step in result["steps"]] == [{"seconds", "loss"}] * 2
    assert 0 < result["idle_bytes"] < result["peak_bytes"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lstm", "--image", "3"), "lstm has no image; it has batch, length"),
        (("lstm", "--checkpoint"), "lstm has no blocks to checkpoint"),
        (("lstm", "--set", "batch"), "batch is not KEY=VALUE"),
        (("lstm", "--set", "batch=two"), "two is no number"),
        (("alexnet",), "invalid choice: 'alexnet'"),
    ],
)
def test_wrong_usage_is_told_in_one_line(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    assert message in capsys.readouterr().err.splitlines()[-1]


def test_the_readme_has_the_registry():
    assert registry.table() in (ROOT / "zoo" / "README.md").read_text()
