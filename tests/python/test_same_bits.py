"""A selection of the table that same_bits.py prints; the whole of it takes too long here."""

import pytest
import torch
from same_bits import Run, judge, rows_of, train

SMALL = ("unet", "bert", "gpt", "lstm")


def checked_rows(run, kinds, shares):
    for row in rows_of(run, kinds, shares):
        assert not row.wrong(), "\n".join(row.wrong())
        yield row


@pytest.mark.parametrize("net", SMALL)
@pytest.mark.parametrize("optimizer", ["sgd", "adamw"])
def test_a_net_trains_to_the_same_bits(net, optimizer):
    run = Run(net, optimizer, threads=2)
    for row in checked_rows(run, ("evict", "offload", "both"), (0.85, 0.7, 0.5)):
        assert "equal" in row.cells.values(), f"{row}: {row.cells}"


@pytest.mark.parametrize("share", [0.7, 0.5, 0.35])
def test_with_a_tier_a_net_runs_far_below_its_peak(share):
    for row in checked_rows(Run("gpt", "adamw", threads=1), ("both", "offload"), (share,)):
        if share * row.peak >= 1.5 * row.floor:
            assert row.cells[share] == "equal", f"{row}: {row.cells}"


def test_below_the_floor_is_refused():
    """What one operator needs at once cannot be had for less."""
    for row in checked_rows(Run("lstm", "adamw", threads=1), ("evict", "both"), (0.05,)):
        assert row.cells[0.05] == "refused"


def test_another_net_at_every_step():
    for row in checked_rows(Run("tree_lstm", "adamw", threads=2), ("both",), (0.5,)):
        assert row.cells[0.5] == "equal"


STATS = {
    "peak_bytes": 9,
    "budget_bytes": 10,
    "recomputes": 1,
    "offloaded_bytes": 0,
    "fetched_bytes": 0,
}


def flip_one_bit(net, step):
    if step == 1:
        with torch.no_grad():
            next(net.parameters()).view(-1)[:1].view(torch.int32).bitwise_xor_(1)


def test_one_flipped_bit_is_seen():
    run = Run("unet", "sgd", threads=1)
    stock, flipped = train(run, steps=2), train(run, steps=2, disturb=flip_one_bit)
    assert judge(stock, 0, "evict", 0.5, 10, (dict(stock), STATS)) == "equal"
    assert judge(stock, 0, "evict", 0.5, 10, (flipped, STATS)).startswith("DIFFERENT (1:")


def test_wrong_counts_are_seen():
    digests = {"losses": []}

    def word(kind="evict", share=0.5, floor=0, **changes):
        return judge(digests, floor, kind, share, 10, (digests, {**STATS, **changes}))

    assert word() == "equal"
    assert word(peak_bytes=11).startswith("PEAK")
    assert word(recomputes=0) == "NOTHING RECOMPUTED"
    assert word(kind="offload", recomputes=0) == "NOTHING FETCHED"
    assert word(kind="offload", fetched_bytes=5).endswith("THOUGH NONE ARE ALLOWED")
    assert word(offloaded_bytes=5).endswith("WITHOUT A TIER")
    assert word(floor=6) == "BELOW ITS FLOOR"
    assert judge(digests, 0, "evict", 1.0, 10, (None, STATS)) == "REFUSED"
    assert judge(digests, 0, "evict", 0.5, 10, None) == "CRASHED"
