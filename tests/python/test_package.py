"""What the package does around the runtime, which is a list of calls here."""

import _thread
import concurrent.futures
import io
import itertools
import json
import multiprocessing.reduction
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
import weir
from torch.optim.optimizer import _global_optimizer_post_hooks
from weir import _native, _options

ROOT = Path(__file__).resolve().parents[2]


class FakeOps:
    """Writes down each call and the thread it came from."""

    def __init__(self):
        self.calls = []
        self.on = threading.local()

    def __getattr__(self, name):
        return lambda *args: self.calls.append((name, *args))

    def enable(self, on):
        self.calls.append(("enable", on, threading.get_ident()))
        was, self.on.value = getattr(self.on, "value", False), on
        return was

    def reclaim(self, amount):
        self.calls.append(("reclaim", amount))
        return 5

    def stats(self):
        return json.dumps({"steps": 3})

    def names(self):
        return [call[0] for call in self.calls]

    def of(self, name):
        return [call[1:] for call in self.calls if call[0] == name]


@pytest.fixture
def ops(monkeypatch):
    fake = FakeOps()
    monkeypatch.setattr(_native, "ops", lambda: fake)
    return fake


def options_told(ops):
    return json.loads(ops.of("start")[-1][0])


def test_the_runtime_is_told_what_was_asked(ops, tmp_path):
    with weir.budget(
        "2GiB",
        policy="lru",
        smallest="4KiB",
        tier=f"{tmp_path}:1GiB",
        recompute=False,
        peak=9,
        trace=tmp_path / "run.trace",
        addresses="keep",
    ):
        pass
    told = {"budget": 2 << 30, "fraction": 0, "peak": 9, "policy": "lru", "smallest": 4096}
    told |= {"tier": f"{tmp_path}:1GiB", "recompute": False, "checksum": False}
    assert options_told(ops) == told | {"trace": str(tmp_path / "run.trace"), "addresses": "keep"}


def test_what_is_not_asked_is_left_to_the_runtime(ops):
    with weir.budget("0.5x"):
        pass
    told = {"budget": 0, "fraction": 0.5, "peak": 0, "recompute": True, "tier": ""}
    assert options_told(ops) == told | {"checksum": False}


@pytest.mark.parametrize(
    "bad",
    [
        {"amount": 0},
        {"amount": -5},
        {"amount": 0.5},
        {"amount": "2G"},
        {"amount": None},
        {"amount": 1 << 51},
        {"amount": 5, "smallest": "x"},
        {"amount": 5, "peak": -1},
        {"amount": 5, "tier": "/nonexistent:5GiB"},
        {"amount": 5, "compile": "fast"},
        {"amount": 5, "addresses": "stay"},
    ],
)
def test_a_wrong_argument_is_refused_before_anything_runs(ops, bad):
    with pytest.raises((ValueError, TypeError)) as error:
        weir.budget(**bad)
    assert "\n" not in str(error.value)
    assert ops.calls == []


def test_a_worker_gets_its_share_of_budget_and_tier():
    whole = _options.Options(budget=10, tier="/a:b:4KiB", fraction=0.0)
    assert whole.share_of(4) == _options.Options(budget=2, tier="/a:b:1024")
    assert _options.Options(fraction=0.5, tier="none").share_of(4).fraction == 0.5


def test_a_budget_switches_on_and_off_in_order(ops):
    with weir.budget(5):
        assert ops.names() == ["start", "enable"]
    assert ops.names() == ["start", "enable", "enable", "stop"]
    assert [on for on, _ in ops.of("enable")] == [True, False]


def test_a_budget_ends_when_the_program_fails(ops):
    with pytest.raises(KeyError), weir.budget(5):
        raise KeyError
    assert ops.names()[-1] == "stop"


def test_budgets_do_not_nest(ops):
    with weir.budget("1KiB"):
        with pytest.raises(RuntimeError, match=r"active already \(1.00 KiB\)"):
            weir.budget(7).__enter__()
        assert len(ops.of("start")) == 1
    with weir.budget(7):
        pass


def test_a_budget_the_runtime_refuses_leaves_nothing_behind(ops, monkeypatch):
    def refuse(_):
        raise RuntimeError("weir: no")

    before = threading._start_new_thread
    monkeypatch.setattr(ops, "start", refuse, raising=False)
    with pytest.raises(RuntimeError, match="weir: no"), weir.budget(5):
        pass
    assert threading._start_new_thread is before
    assert ops.calls == []


def test_a_decorated_function_has_a_budget_at_each_call(ops):
    @weir.budget(5)
    def train(x, *, y):
        """Doc."""
        return x + y

    assert (train(1, y=2), train(3, y=4), train.__doc__) == (3, 7, "Doc.")
    assert len(ops.of("start")) == len(ops.of("stop")) == 2


def test_a_generator_is_not_decorated(ops):
    with pytest.raises(TypeError, match="after its budget has ended"):

        @weir.budget(5)
        def steps():
            yield


def test_new_threads_are_switched_on(ops):
    seen = []

    def work(*_):
        seen.append(getattr(ops.on, "value", False))

    def by_thread():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()

    def by_pool():
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()

    def by_hand():
        over = _thread.allocate_lock()
        over.acquire()
        _thread.start_new_thread(lambda: (work(), over.release()), ())
        over.acquire()

    ways = [by_thread, by_pool, by_hand]
    with weir.budget(5):
        for way in ways:
            way()
    for way in ways:
        way()
    assert seen == [True] * 3 + [False] * 3


def test_patches_are_undone(ops):
    owners = [_thread, threading, torch.serialization, multiprocessing.reduction.ForkingPickler]
    before = [dict(vars(owner)) for owner in owners]
    hooks = _global_optimizer_post_hooks
    with weir.budget(5):
        assert threading._start_new_thread is not before[1]["_start_new_thread"]
        assert len(hooks) == 1
    assert [dict(vars(owner)) for owner in owners] == before
    assert not hooks


def test_what_others_put_over_our_patches_stays(ops, monkeypatch):
    def theirs(*args):
        return original(*args)

    monkeypatch.setattr(threading, "_start_new_thread", threading._start_new_thread)
    with weir.budget(5):
        original = threading._start_new_thread
        threading._start_new_thread = theirs
    assert threading._start_new_thread is theirs
    seen = []
    thread = threading.Thread(target=lambda: seen.append(getattr(ops.on, "value", False)))
    thread.start()
    thread.join()
    assert seen == [False]


@pytest.mark.parametrize(
    "save",
    [
        lambda t: torch.save({"t": t}, io.BytesIO()),
        lambda t: torch.save(t, io.BytesIO(), _use_new_zipfile_serialization=False),
        lambda t: pickle.dumps(t),
        lambda t: multiprocessing.reduction.ForkingPickler.dumps(t),
        lambda t: multiprocessing.reduction.dump(t, io.BytesIO()),
    ],
)
def test_saving_says_that_it_only_reads(ops, save):
    with weir.budget(5):
        save(torch.ones(3))
    reads = [on for (on,) in ops.of("reading")]
    assert reads[0] is True and reads[-1] is False
    assert all(a is not b for a, b in itertools.pairwise(reads))


def test_saving_lets_go_after_each_storage(ops):
    with weir.budget(5):
        torch.save([torch.ones(3) for _ in range(10)], io.BytesIO())
    assert len(ops.of("reading")) >= 2 * 10


def test_saved_files_are_the_same_with_a_budget(ops):
    stock, inside = io.BytesIO(), io.BytesIO()
    torch.save({"a": torch.arange(5)}, stock)
    with weir.budget(5):
        torch.save({"a": torch.arange(5)}, inside)
    assert stock.getvalue() == inside.getvalue()


def test_an_optimizer_ends_a_step(ops):
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    with weir.budget(5):
        torch.optim.SGD([weight]).step()
        torch.optim.Adam([weight]).step()
    torch.optim.SGD([weight]).step()
    assert len(ops.of("step")) == 2


def test_pause_is_for_this_thread_and_gives_back_what_was(ops):
    with weir.budget(5), weir.pause():
        assert not ops.on.value
    assert [on for on, _ in ops.of("enable")] == [True, False, True, False]
    ops.calls.clear()
    with weir.pause():
        pass
    assert [on for on, _ in ops.of("enable")] == [False, False]


def test_a_pin_holds_until_it_is_undone(ops):
    tensor = torch.ones(2)
    weir.pin(tensor)
    assert [on for _, on in ops.of("pin")] == [True]
    weir.unpin(tensor)
    with weir.pin(tensor) as same:
        assert same is tensor
    assert [on for _, on in ops.of("pin")] == [True, False, True, False]


def test_the_small_calls_reach_the_runtime(ops):
    assert [weir.reclaim(), weir.reclaim(7), weir.reclaim("1KiB")] == [5, 5, 5]
    assert ops.of("reclaim") == [(-1,), (7,), (1024,)]
    weir.step()
    assert weir.stats() == {"steps": 3}
    assert "step" in ops.names()


def test_a_recording_follows_the_program_without_a_budget(ops, tmp_path):
    with weir.record(tmp_path / "t"):
        assert ops.names() == ["record", "enable"]
        with pytest.raises(RuntimeError, match="recording is active already"):
            weir.record("u").__enter__()
    assert ops.of("record") == [(str(tmp_path / "t"),), ("",)]


def test_a_recording_inside_a_budget_leaves_it_on(ops):
    with weir.budget(5):
        with weir.record("t"):
            pass
        assert ops.on.value
    assert ops.names()[-1] == "stop"


def test_eager_is_the_stance_of_compiled_functions(ops):
    @torch.compile(backend=lambda graph, _: pytest.fail("it was compiled"))
    def twice(x):
        return x * 2

    with weir.budget(5, compile="eager"):
        assert twice(torch.ones(1)).item() == 2


def test_out_of_budget_is_what_handlers_of_torch_know():
    assert weir.OutOfBudget is torch.OutOfMemoryError
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = weir.nothing


def import_weir(library):
    environment = os.environ | {"WEIR_LIBRARY": str(library), "PYTHONPATH": str(ROOT / "python")}
    code = "try:\n import weir\nexcept ImportError as e: print(e)"
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    ).stdout


def test_a_library_for_another_torch_is_refused_before_it_is_loaded(tmp_path):
    library = tmp_path / "libweir_torch.so"
    assert import_weir(library).startswith("WEIR_LIBRARY is ")
    library.write_text("this is no library")
    assert "make build" in import_weir(library)
    library.with_suffix(".json").write_text('{"torch": "2.12.1"}')
    refused = import_weir(library)
    assert "is built for torch 2.12.1, but torch 2." in refused and "make build" in refused
    library.with_suffix(".json").write_text(json.dumps({"torch": torch.__version__}))
    broken = import_weir(library)
    assert "cannot be loaded" in broken and broken.count("\n") == 1
