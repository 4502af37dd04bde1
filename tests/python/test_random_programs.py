"""Random programs, stock against managed; WEIR_TEST_SEEDS says how many."""

import os
import random

import numpy as np
import pytest
import torch
from programs.campaign import BAD, Crash, Pair, Tally, Worker, difference, judge_seeds
from programs.program import Program, make_program, run_program
from programs.registry import FEATURES

SEEDS = int(os.environ.get("WEIR_TEST_SEEDS", "150"))
SHARE = 0.35


@pytest.fixture(scope="module")
def campaign():
    """All seeds, once, for the tests below."""
    tally, bad = Tally(), []

    def report(verdict):
        tally.add(verdict)
        if verdict.outcome in BAD:
            bad.append(f"seed {verdict.program.seed}, {verdict.kind}: {verdict.outcome} "
                       f"{verdict.detail} {verdict.differs[:4]}")  # fmt: skip

    judge_seeds(range(SEEDS), SHARE, False, report)
    return tally, bad


def test_managed_programs_give_the_same_bits(campaign):
    tally, bad = campaign
    assert not bad, "\n".join(bad)
    assert tally.outcomes["equal"] >= 0.98 * SEEDS


def test_no_run_stands_above_its_budget(campaign):
    tally, _ = campaign
    assert tally.kinds.total() > 0
    assert tally.over_budget == 0


def test_storages_really_go_and_come_back(campaign):
    tally, _ = campaign
    assert tally.recomputed["evict"] >= 0.95 * tally.kinds["evict"] > 0
    assert tally.fetched["offload"] >= 0.95 * tally.kinds["offload"] > 0


def test_a_program_that_would_recompute_without_end_is_refused():
    """At the share tried first one op would have to be brought back by millions of others."""
    verdicts = []
    judge_seeds([8511], SHARE, False, verdicts.append)
    assert [verdict.outcome for verdict in verdicts] == ["equal"]


def test_a_seed_is_a_program():
    assert make_program(7) == make_program(7) != make_program(8)
    assert Program.from_json(make_program(7).to_json()) == make_program(7)


def test_most_programs_agree_with_themselves():
    for seed in range(6):
        program = make_program(seed)
        assert run_program(program).digests == run_program(program).digests


def test_every_feature_runs_to_its_end():
    """Each on its own, with the seeds of its step tried until torch does not refuse it."""
    for name in FEATURES:
        outcomes = (
            run_program(Program(seed, False, [["leaf", seed], [name, seed]])) for seed in range(5)
        )
        assert any(name in outcome.done for outcome in outcomes), name


def flip_one_bit(world):
    """What a wrong restore would do: the last bit of one element of one tensor, told to nobody."""
    tensors = [t for t in world.tensors.values() if t.dtype == torch.float32 and not t.is_neg()]
    arrays = [t.detach().numpy() for t in tensors if t.numel()]
    array = random.Random(1).choice([a for a in arrays if np.isfinite(a.flat[0])])
    array[(0,) * array.ndim] = np.nextafter(array.flat[0], np.float32(9e9))


@pytest.mark.parametrize("seed", range(1, 31))
def test_one_flipped_bit_is_seen(seed):
    program = make_program(seed)
    last = len(program.steps) - 1
    stock = run_program(program).digests
    flipped = run_program(program, lambda world, i: flip_one_bit(world) if i == last else None)
    assert difference(stock, flipped.digests)


def draw_once(world, index):
    if index == 5:
        torch.rand(1)


def test_one_number_drawn_too_many_is_seen():
    program = Program(1, False, [["fresh", s] for s in range(9)])
    stock = run_program(program).digests
    assert "default generator" in difference(stock, run_program(program, draw_once).digests)


def test_a_difference_is_named():
    assert difference({"a": "1", "b": "2"}, {"a": "1", "b": "2"}) == []
    assert difference({"a": "1", "b": "2"}, {"a": "1", "b": "3"}) == ["b"]
    assert difference({"a": "1"}, {"a": "1", "b": "3"}) == ["b"]


def test_a_worker_that_dies_is_told_and_replaced():
    worker = Worker(managed=False)
    try:
        assert worker.ask(make_program(1), count_ops=False)["agree"]
        worker._child.kill()
        with pytest.raises(Crash):
            worker.ask(make_program(1), count_ops=False)
        assert worker.ask(make_program(1), count_ops=False)["agree"]
    finally:
        worker.stop()


def test_a_program_that_differs_is_called_different(monkeypatch):
    pair = Pair(SHARE)
    answers = {"digests": {"t": "1"}, "agree": True, "done": [], "errors": [], "ops": {}}
    monkeypatch.setattr(pair.stock, "ask", lambda *_, **__: answers)
    for managed, outcome in (
        ({"ample": {"t": "1"}, "tight": {"t": "1"}}, "equal"),
        ({"ample": {"t": "1"}, "tight": {"t": "2"}}, "different"),
        ({"ample": {"t": "2"}, "tight": {"t": "1"}}, "different"),
        ({"ample": {"t": "1"}, "tight": None}, "refused"),
        ({"failed": "RuntimeError"}, "failed"),
    ):
        monkeypatch.setattr(pair.managed, "ask", lambda *_, managed=managed, **__: managed)
        assert pair.judge(make_program(1), "evict").outcome == outcome
