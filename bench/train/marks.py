"""The figures to beat: stock PyTorch 2.13 with other allocators and with checkpoints per block.

Measured once on a virtual machine with two cores, two threads; times are relative to stock in the
same run. A measurement of one's own stands beside them, so that a strange machine is seen.
"""

NETS = {
    "resnet50": {"stock+tcmalloc": 0.89, "checkpoint": 1.24, "checkpoint+tcmalloc": 1.14},
    "mobilenet_v2": {"stock+tcmalloc": 0.72, "checkpoint": 1.63, "checkpoint+tcmalloc": 0.95},
    "densenet121": {"stock+tcmalloc": 0.86, "checkpoint": 1.21, "checkpoint+tcmalloc": 1.13},
    "gpt": {"stock+tcmalloc": 0.98, "checkpoint": 1.32, "checkpoint+tcmalloc": 1.20},
    "lstm": {"stock+tcmalloc": 0.81},
    "tree_lstm": {"stock+tcmalloc": 0.98},
}


def mark_of(net, variant):
    """Time relative to stock that this variant had, or that Weir is to beat; None: not known."""
    marks = NETS.get(net, {})
    if not variant.budget:
        return marks.get(variant.name)
    whole = float(variant.budget.removesuffix("x")) >= 1
    return marks.get("stock+tcmalloc" if whole else "checkpoint+tcmalloc")
