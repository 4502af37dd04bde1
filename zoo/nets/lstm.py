"""An LSTM language model (Zaremba et al. 2014)."""

from torch import nn
from torch.nn import functional as F


class LstmLanguageModel(nn.Module):
    def __init__(self, *, batch=16, length=96, hidden=512, depth=2, vocabulary=10000, dropout=0.2):
        super().__init__()
        self.batch, self.length, self.vocabulary = batch, length, vocabulary
        self.token = nn.Embedding(vocabulary, hidden)
        self.lstm = nn.LSTM(hidden, hidden, depth, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.decoder = nn.Linear(hidden, vocabulary)

    def draw(self, source):
        return source.tokens(self.batch, self.length + 1, self.vocabulary)

    def forward(self, tokens):
        outputs, _ = self.lstm(self.dropout(self.token(tokens)))
        return self.decoder(self.dropout(outputs))

    def loss(self, batch):
        scores = self(batch[:, :-1])
        return F.cross_entropy(scores.flatten(0, 1), batch[:, 1:].flatten())
