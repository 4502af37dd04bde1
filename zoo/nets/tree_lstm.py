"""A binary Tree-LSTM (Tai et al. 2015) over random trees: another net at every step.

All samples of a batch share one tree; the next step has another one.
"""

import torch
from torch import nn
from torch.nn import functional as F


def random_tree(shapes, leaves):
    """A pair of trees, or None for a leaf; every split of the leaves is equally likely."""
    if leaves == 1:
        return None
    left = shapes.randrange(1, leaves)
    return random_tree(shapes, left), random_tree(shapes, leaves - left)


class TreeLstm(nn.Module):
    """`depth` is that of a complete tree with as many leaves as the random ones have on average."""

    def __init__(self, *, batch=32, hidden=256, depth=7, vocabulary=1000, classes=5):
        super().__init__()
        self.batch, self.leaves = batch, 1 << (depth - 1)
        self.vocabulary, self.classes = vocabulary, classes
        self.token = nn.Embedding(vocabulary, hidden)
        self.leaf = nn.Linear(hidden, 3 * hidden)
        self.inner = nn.Linear(2 * hidden, 5 * hidden)
        self.classifier = nn.Linear(hidden, classes)

    def draw(self, source):
        leaves = source.shapes.randint(3 * self.leaves // 4, 5 * self.leaves // 4)
        tree = random_tree(source.shapes, leaves)
        size = (self.batch, leaves, self.vocabulary, self.classes)
        return tree, *source.labelled_tokens(*size)

    def at_leaf(self, x):
        enter, leave, update = self.leaf(x).chunk(3, 1)
        cell = enter.sigmoid() * update.tanh()
        return leave.sigmoid() * cell.tanh(), cell

    def at_node(self, left, right):
        gates = self.inner(torch.cat([left[0], right[0]], 1))
        enter, forget_left, forget_right, leave, update = gates.chunk(5, 1)
        cell = enter.sigmoid() * update.tanh()
        cell = cell + forget_left.sigmoid() * left[1] + forget_right.sigmoid() * right[1]
        return leave.sigmoid() * cell.tanh(), cell

    def walk(self, tree, words):
        """State and cell of a tree whose leaves read the next words."""
        if tree is None:
            return self.at_leaf(next(words))
        left = self.walk(tree[0], words)
        return self.at_node(left, self.walk(tree[1], words))

    def forward(self, tree, tokens):
        state, _ = self.walk(tree, iter(self.token(tokens.t()).unbind()))
        return self.classifier(state)

    def loss(self, batch):
        tree, tokens, labels = batch
        return F.cross_entropy(self(tree, tokens), labels)
