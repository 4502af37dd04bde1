"""The model of the memory subsystem, on recorded steps."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "model"))

import recorded  # noqa: E402


@pytest.mark.parametrize("net", recorded.PUBLISHED)
def test_named_differences_lead_from_recorded_steps_to_published_figures(net, tmp_path):
    rows = dict(recorded.climb(net, tmp_path))
    first, last = (recorded.errors(rows[name], net) for name in (list(rows)[0], list(rows)[-1]))
    off = {key: error for key, error in last.items() if abs(error) > 0.02}
    # In what the lists differ there is not known: the one written down by hand has it, too.
    assert set(off) <= {(256, "optimum")}
    assert all(error < 0.025 for error in off.values())
    assert sum(map(abs, last.values())) < sum(map(abs, first.values())) / 2
    lower = {name: figures["none"] for name, figures in rows.items()}
    assert sorted(lower.values(), reverse=True) == pytest.approx(list(lower.values()))
