"""A BERT-like encoder (Devlin et al. 2019) with its masked-language loss.

Attention is written out, so its scores are tensors and its dropout is drawn; `gpt` calls the fused
kernel instead.
"""

import torch
from torch import nn
from torch.nn import functional as F

from zoo.nets.common import init_transformer, run

MASK = 0  # the token that stands for a hidden one
MASKED_SHARE = 0.15
IGNORED = -100  # cross_entropy's own mark


class Attention(nn.Module):
    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(hidden, hidden) for _ in range(3))
        self.out = nn.Linear(hidden, hidden)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x):
        query, key, value = (self.split(f(x)) for f in (self.query, self.key, self.value))
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        mixed = self.dropout(scores.softmax(-1)) @ value
        return self.out(mixed.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Normalizes after each addition, as BERT does."""

    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.attention = Attention(hidden, heads, dropout)
        self.norm1 = nn.LayerNorm(hidden)
        self.up = nn.Linear(hidden, 4 * hidden)
        self.down = nn.Linear(4 * hidden, hidden)
        self.norm2 = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = self.norm1(x + self.dropout(self.attention(x)))
        return self.norm2(x + self.dropout(self.down(F.gelu(self.up(x)))))


class Bert(nn.Module):
    def __init__(
        self,
        *,
        batch=8,
        length=128,
        hidden=384,
        depth=6,
        heads=6,
        vocabulary=8192,
        dropout=0.1,
        checkpoint=False,
    ):
        super().__init__()
        self.batch, self.length, self.vocabulary = batch, length, vocabulary
        self.checkpoint = checkpoint
        self.token = nn.Embedding(vocabulary, hidden)
        self.position = nn.Parameter(torch.zeros(length, hidden))
        self.norm = nn.LayerNorm(hidden)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(hidden, heads, dropout) for _ in range(depth))
        self.transform = nn.Sequential(
            nn.Linear(hidden, hidden),
            nn.GELU(),
            nn.LayerNorm(hidden),
            nn.Linear(hidden, vocabulary),
        )
        init_transformer(self)

    def draw(self, source):
        """Tokens with some of them hidden, and the hidden ones as targets."""
        tokens = source.tokens(self.batch, self.length, self.vocabulary)
        hidden = torch.rand(tokens.shape, generator=source.values) < MASKED_SHARE
        return tokens.masked_fill(hidden, MASK), tokens.masked_fill(~hidden, IGNORED)

    def forward(self, tokens):
        x = self.dropout(self.norm(self.token(tokens) + self.position))
        for layer in self.layers:
            x = run(layer, x, checkpoint=self.checkpoint)
        return self.transform(x)

    def loss(self, batch):
        tokens, targets = batch
        scores = self(tokens)
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=IGNORED)
