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
    assert {key: error for key, error in last.items() if abs(error) > 0.002} == {}
    assert sum(map(abs, last.values())) < sum(map(abs, first.values())) / 2
    lower = {name: figures["none"] for name, figures in rows.items()}
    assert sorted(lower.values(), reverse=True) == pytest.approx(list(lower.values()))


# As Korthikanti et al. count it: one dropout for scores and one after each half, masks of a byte.
LAYER = """
import sys, torch
from torch import nn
from torch.nn import functional as F
s, b, h, a = map(int, sys.argv[1:])
half = {"dtype": torch.float16}
norms = [nn.LayerNorm(h, **half) for _ in range(2)]
qkv, out = nn.Linear(h, 3 * h, **half), nn.Linear(h, h, **half)
wide, narrow = nn.Linear(h, 4 * h, **half), nn.Linear(4 * h, h, **half)
nothing = torch.optim.SGD([nn.Parameter(torch.ones(1))])  # its steps are those of the recording
nothing.step()

def drop(x):
    return torch.native_dropout(x, 0.1, True)[0]

def attention(x):
    q, k, v = (y.reshape(s, b * a, h // a).transpose(0, 1) for y in qkv(x).chunk(3, -1))
    scores = torch.baddbmm(torch.empty((), **half), q, k.transpose(1, 2), beta=0, alpha=0.1)
    mixed = torch.bmm(drop(scores.softmax(-1)), v)
    return out(mixed.transpose(0, 1).reshape(s, b, h))

x = torch.ones(s, b, h, **half).requires_grad_()
y = x + drop(attention(norms[0](x)))
y = y + drop(narrow(F.gelu(wide(norms[1](y)))))
y.sum().backward()
nothing.step()
"""


def kept_for_backward(lines):
    """Bytes of storages that the step makes before backward, and backward reads."""
    marks = [place for place, line in enumerate(lines) if "step" in line]
    storage_of, size, read = {}, {}, set()
    for line in lines[marks[0] : marks[1]]:
        for tensor in line.get("in", []) if line.get("phase") == "backward" else []:
            read.add(storage_of.get(tensor))
        for made in line.get("out", []):
            if "view_of" in made:
                storage_of[made["tensor"]] = storage_of.get(line["in"][made["view_of"]])
            elif line["phase"] == "forward":
                storage_of[made["tensor"]] = made["storage"]
                size[made["storage"]] = made["bytes"]
    return sum(size[storage] for storage in read if storage in size)


@pytest.mark.parametrize("sizes", [(128, 2, 512, 8), (512, 1, 768, 12), (1024, 2, 1024, 16)])
def test_a_layer_in_half_precision_keeps_what_the_formula_says(sizes, tmp_path):
    s, b, h, a = sizes
    recorded.record(tmp_path / "t.zst", "-c", LAYER, *map(str, sizes))
    kept = kept_for_backward(recorded.lines_of(tmp_path / "t.zst"))
    formula = s * b * h * (34 + 5 * a * s / h)
    print(f"{sizes}: {kept} bytes, formula {formula:.0f}, {100 * (kept / formula - 1):+.2f} %")
    assert kept == pytest.approx(formula, rel=0.01)
