"""Runs a scenario in stock and inside tiny budgets, and compares what it returns, bit for bit.

A scenario is a function of `reclaim`, which it calls where everything that can go should go.
"""

import tempfile

import torch
from programs.program import digest_tensor

KINDS = ("evict", "both", "offload")


def digest(value):
    """Tensors by their bits, everything else by its text."""
    if torch.is_tensor(value):
        return digest_tensor(value)
    if isinstance(value, (list, tuple)):
        return [digest(part) for part in value]
    if isinstance(value, dict):
        return {key: digest(part) for key, part in value.items()}
    return repr(value)


def in_stock(scenario):
    torch.manual_seed(0)
    return digest(scenario(lambda: 0))


def in_budget(scenario, kind, budget, **more):
    """The result, and the statistics when the scenario was done."""
    import weir

    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as folder:
        tier = "none" if kind == "evict" else folder
        with weir.budget(budget, smallest=1, tier=tier, recompute=kind != "offload", **more):
            result = digest(scenario(weir.reclaim))
            return result, weir.stats()


def assert_same(scenario, kind, budget="4MiB", moves=True):
    """Equal to stock, inside the budget, and (unless told otherwise) something did go."""
    expected = in_stock(scenario)
    result, stats = in_budget(scenario, kind, budget)
    assert result == expected
    assert stats["peak_bytes"] <= stats["budget_bytes"]
    if moves:
        assert stats["evictions"] + stats["offloaded_bytes"] > 0, "nothing was ever reclaimed"
    return stats
