"""What a random program works on: named tensors, learners, random generators, recorded values."""

import random

import torch

# Enough for every feature to find an operand; few enough that programs stay small.
MOST_TENSORS = 16
MOST_ROWS = 512  # of what is multiplied by its own transpose

FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


class World:
    """All state a program can reach. Choices depend on shapes and kinds, never on values."""

    def __init__(self, seed, wide):
        torch.manual_seed(seed)
        self.wide = wide
        self.rng = random.Random(seed)
        self.generator = torch.Generator().manual_seed(seed + 1)
        self.tensors = {}
        self.learners = []
        self.recorded = []
        self.notes = []
        self._made = 0

    def keep(self, tensor):
        """Names a tensor; beyond the most that may live, an older one is let go."""
        name = f"t{self._made}"
        self._made += 1
        self.tensors[name] = tensor
        self.notes.append(f"-> {name}{list(tensor.shape)}")
        if len(self.tensors) > MOST_TENSORS:
            self.forget(self.rng.choice(sorted(self.tensors)[:-1]))
        return tensor

    def forget(self, name):
        """Every other tensor is looked at before it dies; the rest may die while evicted."""
        self.notes.append(f"forget {name}")
        t = self.tensors.pop(name)
        if is_plain(t) and self.chance():
            self.record(bit_sum(t))

    def record(self, value):
        """Keeps something the program saw, such as an item() or the text of an error."""
        self.recorded.append(value)

    def pick(self, wanted=lambda t: True):
        """A live tensor with the wanted property, or a fresh one made to float matrices' shape."""
        names = [name for name, t in self.tensors.items() if wanted(t)]
        if not names:
            return self.keep(self.fresh())
        name = self.rng.choice(names)
        self.notes.append(name)
        return self.tensors[name]

    def floats(self, dims=None):
        """A float32 tensor with elements, of `dims` dimensions if said."""
        chosen = self.pick(lambda t: is_plain(t) and (dims is None or t.dim() == dims))
        if dims is None or chosen.dim() == dims:
            return chosen
        return self.keep(self.fresh(dims))

    def writable(self):
        """A float32 tensor that may be changed in place: no graph hangs on it, no element twice."""
        chosen = self.pick(lambda t: is_plain(t) and not t.requires_grad and not overlaps(t))
        return chosen if not chosen.requires_grad else self.keep(self.fresh())

    def matrix(self, rows=None, columns=None):
        rows = rows or self.rng.choice((8, 16, 24, 33))
        columns = columns or self.rng.choice((16, 32, 65))
        return torch.randn(rows, columns)

    def fresh(self, dims=None):
        """New values, with the sizes of this program: wide ones are split over two threads."""
        dims = dims or self.rng.choice((1, 2, 2, 2, 3, 3, 4))
        if self.wide and self.rng.random() < 0.4:
            shape = {1: (70000,), 2: (256, 272), 3: (16, 65, 68), 4: (8, 8, 33, 34)}[dims]
        else:
            pick = self.rng.choice
            shape = {
                1: (pick((257, 2048, 4099)),),
                2: (pick((16, 33, 64)), pick((32, 65, 128))),
                3: (pick((4, 8)), pick((16, 33)), pick((32, 64))),
                4: (pick((4, 8)), pick((4, 8)), pick((9, 16)), pick((9, 16))),
            }[dims]
        return torch.randn(shape)

    def chance(self, share=0.5):
        return self.rng.random() < share


def is_plain(t):
    return t.dtype == torch.float32 and t.numel() > 0 and t.dim() > 0 and not t.is_inference()


def bit_sum(t):
    """Exact in any order, and made by operators: numpy would let the memory escape."""
    return t.detach().clone(memory_format=torch.contiguous_format).view(torch.int32).sum().item()


def overlaps(t):
    """Whether two elements may share memory, so that writing in place is undefined."""
    reach = 1
    for size, stride in sorted(zip(t.shape, t.stride(), strict=True), key=lambda e: e[1]):
        if size > 1 and stride < reach:
            return True
        reach += (size - 1) * stride
    return False
