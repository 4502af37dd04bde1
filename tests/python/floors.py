"""The least budget that any method could train in, from the operators that stock runs.

An operator needs its arguments and results at once. Without a tier what training carries from step
to step (parameters, optimizer state, buffers) must stay as well.
"""

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class _Operators(TorchDispatchMode):
    """The storages of every operator as {address: bytes}; an address may be used again."""

    def __init__(self):
        super().__init__()
        self.needs = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        results = function(*args, **(kwargs or {}))
        if not function.is_view:
            everything = (*args, *(kwargs or {}).values(), results)
            self.needs += [storages(part) for part in parts_of(function, everything)]
        return results


def parts_of(function, everything):
    """List operators can be run tensor by tensor: then only equal positions are needed at once."""
    if not function.name().startswith(("aten::_foreach", "aten::_fused")):
        return [everything]
    lists = [part for part in everything if isinstance(part, (list, tuple)) and part]
    return zip(*lists, strict=False) if lists else [everything]


def storages(values):
    found = {}
    for value in tree_leaves(values):
        if torch.is_tensor(value) and value.layout == torch.strided:
            storage = value.untyped_storage()
            found[storage.data_ptr()] = storage.nbytes()
    return found


class _Carried:
    """What optimizers hold when they have stepped: parameters and their state."""

    def __init__(self):
        self.tensors = []

    def __call__(self, optimizer, *_):
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.tensors = [parameters, [list(optimizer.state[p].values()) for p in parameters]]


def floors_of(train):
    """Bytes per kind of reclaiming, from one stock run of `train`."""
    carried = _Carried()
    hook = register_optimizer_step_post_hook(carried)
    operators = _Operators()
    try:
        with operators:
            train()
    finally:
        hook.remove()
    stays = storages(carried.tensors)
    largest = max(sum(need.values()) for need in operators.needs)
    beside = max(sum(n for at, n in need.items() if at not in stays) for need in operators.needs)
    return {
        "offload": largest,
        "both": largest,
        "evict": max(largest, sum(stays.values()) + beside),
    }
