"""A GPT-like decoder (Radford et al. 2019): causal attention by the fused kernel, dropout."""

import torch
from torch import nn
from torch.nn import functional as F

from zoo.nets.common import init_transformer, run


class Layer(nn.Module):
    """Normalizes before each part, as GPT-2 does."""

    def __init__(self, hidden, heads, dropout):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.norm2 = nn.LayerNorm(hidden)
        self.up = nn.Linear(hidden, 4 * hidden)
        self.down = nn.Linear(4 * hidden, hidden)
        self.dropout = nn.Dropout(dropout)

    def attend(self, x):
        parts = self.qkv(x).chunk(3, -1)
        query, key, value = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.dropout(self.attend(self.norm1(x)))
        return x + self.dropout(self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh")))


class Gpt(nn.Module):
    def __init__(
        self,
        *,
        batch=8,
        length=256,
        hidden=384,
        depth=8,
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
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(Layer(hidden, heads, dropout) for _ in range(depth))
        self.norm = nn.LayerNorm(hidden)
        init_transformer(self)

    def draw(self, source):
        return source.tokens(self.batch, self.length + 1, self.vocabulary)

    def forward(self, tokens):
        x = self.dropout(self.token(tokens) + self.position)
        for layer in self.layers:
            x = run(layer, x, checkpoint=self.checkpoint)
        return F.linear(self.norm(x), self.token.weight)  # the embedding is read both ways

    def loss(self, batch):
        scores = self(batch[:, :-1])
        return F.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
