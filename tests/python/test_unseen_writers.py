"""Who writes a tensor's memory without an operator: what was made before must not change."""

import _thread
import ctypes
import shutil
import threading
import time

import numpy as np
import pytest
import torch
from scenarios import KINDS, assert_same, in_budget, in_stock
from torch.utils import cpp_extension

N = 16384


def by_numpy(a):
    a.numpy()[:] = 0


def by_dlpack(a):
    consumer = np.from_dlpack(a)
    ctypes.memset(consumer.ctypes.data, 0, consumer.nbytes)


def by_memset(a):
    ctypes.memset(a.data_ptr(), 0, a.numel() * 4)


def by_storage_fill(a):
    a.untyped_storage().fill_(0)


def by_storage_copy(a):
    a.untyped_storage().copy_(torch.zeros(N).untyped_storage())


def by_storage_items(a):
    storage = a.untyped_storage()
    for i in range(64):
        storage[i] = 0


def by_alias_through_numpy(a):
    """Another torch tensor on the same memory, of which no operator knows."""
    torch.from_numpy(a.numpy()).mul_(0)


def by_alias_through_dlpack(a):
    torch.from_dlpack(np.from_dlpack(a)).mul_(0)


def by_data(a):
    a.data.zero_()


def by_thread(a):
    worker = threading.Thread(target=lambda: a.add_(1))
    worker.start()
    worker.join()


def by_raw_thread(a):
    done = threading.Event()
    _thread.start_new_thread(lambda: (a.add_(1), done.set()), ())
    assert done.wait(60)


WRITERS = [
    by_numpy,
    by_dlpack,
    by_memset,
    by_storage_fill,
    by_storage_copy,
    by_storage_items,
    by_alias_through_numpy,
    by_alias_through_dlpack,
    by_data,
    by_thread,
    by_raw_thread,
]


def written(write, early):
    """b is made from a, then a is overwritten; b goes before the write (early) or after it."""

    def scenario(reclaim):
        a = torch.linspace(-1, 1, N).sin()
        b = a.exp()
        c = b.cos() + a
        if early:
            reclaim()
        write(a)
        reclaim()
        return b, c, a, b * c

    return scenario


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("early", [True, False], ids=["gone_before", "gone_after"])
@pytest.mark.parametrize("write", WRITERS, ids=lambda w: w.__name__)
def test_what_was_made_before_stays(write, early, kind):
    assert_same(written(write, early), kind, moves=early)


@pytest.mark.parametrize("kind", KINDS)
def test_an_array_taken_long_before_is_still_a_writer(kind):
    def scenario(reclaim):
        a = torch.linspace(-1, 1, N).sin()
        array = a.numpy()
        made = []
        for i in range(4):
            made.append(a.exp())
            reclaim()
            array[:] = i
        reclaim()
        return made, a

    assert_same(scenario, kind, moves=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_refilled_buffer_of_from_numpy(kind):
    """The usual data loop: one array, filled anew for every batch."""

    def scenario(reclaim):
        buffer = np.zeros(N, dtype=np.float32)
        batch = torch.from_numpy(buffer)
        made = []
        for i in range(6):
            buffer[:] = np.arange(N) % (i + 2)
            made.append((batch * 0.5).exp().neg().exp())
            reclaim()
        return made

    assert_same(scenario, kind, moves=kind != "evict")  # a foreign source has no record


@pytest.mark.parametrize("kind", KINDS)
def test_a_refilled_buffer_of_frombuffer(kind):
    def scenario(reclaim):
        buffer = bytearray(4 * N)
        batch = torch.frombuffer(buffer, dtype=torch.float32)
        first = batch + 1
        reclaim()
        buffer[:] = b"\x01" * (4 * N)
        reclaim()
        return first, batch + 1

    assert_same(scenario, kind, moves=False)


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_to_a_view_deep_below(kind):
    def scenario(reclaim):
        a = torch.linspace(-1, 1, N).sin().view(128, 128)
        b = a.t()[3:70].exp()
        reclaim()
        a[5:9].t().numpy()[...] = 7
        reclaim()
        return b, a.sum(0)

    assert_same(scenario, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_input_changed_by_numpy_gives_stocks_gradient(kind):
    """Autograd does not see the write either: the gradient uses the new values, as in stock."""

    def scenario(reclaim):
        x = torch.linspace(-1, 1, N, requires_grad=True)
        a = torch.linspace(0, 1, N).sin()
        y = x * a
        reclaim()
        a.numpy()[:] = 3
        reclaim()
        y.sum().backward()
        return y, x.grad

    assert_same(scenario, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_thread_that_keeps_writing_while_others_are_reclaimed(kind):
    def scenario(reclaim):
        a = torch.zeros(N)
        b = torch.linspace(0, 1, N).exp()
        stop = threading.Event()
        worker = threading.Thread(target=add_until, args=(a, stop))
        worker.start()
        for _ in range(20):
            reclaim()
            b = b.sin()
            time.sleep(0.001)
        stop.set()
        worker.join()
        return b, (a == a[0]).all()

    assert_same(scenario, kind)


def add_until(a, stop):
    while not stop.is_set():
        a.add_(1)


SCRIBBLE = """
#include <ATen/core/Tensor.h>
#include <torch/library.h>

void scribble(const at::Tensor& x) {
  float* data = x.mutable_data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) data[i] = 0.0f;
}

TORCH_LIBRARY(weir_tests, m) { m.def("scribble(Tensor x) -> ()", &scribble); }
"""


@pytest.fixture(scope="module")
def scribble(tmp_path_factory):
    """An operator whose schema says that it only reads."""
    if not shutil.which("ninja") or not shutil.which("g++"):
        pytest.skip("ninja and g++ are needed to build the operator")
    folder = tmp_path_factory.mktemp("scribble")
    source = folder / "scribble.cpp"
    source.write_text(SCRIBBLE)
    cpp_extension.load(
        "weir_scribble", [str(source)], build_directory=str(folder), is_python_module=False
    )
    return torch.ops.weir_tests.scribble


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("early", [True, False], ids=["gone_before", "gone_after"])
def test_an_operator_that_lies_about_writing(scribble, early, kind):
    assert_same(written(scribble, early), kind, moves=early)


def test_addresses_stay_once_a_library_might_remember_them(scribble):
    def scenario(reclaim):
        a = torch.linspace(-1, 1, N).sin()
        reclaim()
        return a.exp()

    assert assert_same(scenario, "both")["moved"] == 0
    result, stats = in_budget(scenario, "both", "4MiB", addresses="move")
    assert result == in_stock(scenario)
    assert stats["moved"] > 0


@torch.library.custom_op("weir_tests::half", mutates_args=())
def half(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() * np.float32(0.5))


@pytest.mark.parametrize("kind", KINDS)
def test_a_custom_operator_in_python(kind):
    def scenario(reclaim):
        a = torch.linspace(-1, 1, N).sin()
        b = half(a).exp()
        reclaim()
        a.add_(1)
        reclaim()
        return b, a

    assert_same(scenario, kind, moves=kind != "evict")  # nor has what such an operator made
