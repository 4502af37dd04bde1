"""Features: random numbers, from the default generator and from an explicit one."""

import torch
import torch.nn.functional as F

from .registry import family, feature

DRAWS = {
    "dropout": lambda w, t: F.dropout(t, 0.3),
    "dropout_chain": lambda w, t: F.dropout(torch.sin(F.dropout(t, 0.2)), 0.2).cos(),
    "feature_dropout": lambda w, t: F.dropout1d(t.reshape(t.shape[0], -1), 0.3),
    "alpha_dropout": lambda w, t: F.alpha_dropout(t, 0.2, training=True),
    "rand_like": lambda w, t: t * torch.rand_like(t),
    "randn_plus": lambda w, t: t + torch.randn(t.shape),
    "bernoulli": lambda w, t: torch.bernoulli(torch.sigmoid(t.detach())),
    "rrelu": lambda w, t: F.rrelu(t, training=True),
    "gumbel_softmax": lambda w, t: F.gumbel_softmax(t, dim=-1),
    "multinomial": lambda w, t: torch.multinomial(torch.softmax(t.detach().flatten(), 0), 3),
    "randperm": lambda w, t: t[torch.randperm(t.shape[0])].detach(),
    "poisson": lambda w, t: torch.poisson(t.detach().abs()),
    "normal_of": lambda w, t: torch.normal(t.detach(), 0.1),
    "inplace_normal": lambda w, t: torch.zeros(t.shape).normal_(),
    "inplace_uniform": lambda w, t: torch.zeros(t.shape).uniform_(-1, 1).sin(),
    "inplace_exponential": lambda w, t: torch.zeros(t.shape).exponential_().neg().exp(),
    "inplace_random": lambda w, t: torch.zeros(t.shape).random_(0, 10),
    "generator_randn": lambda w, t: torch.randn(t.shape, generator=w.generator).sin(),
    "generator_bernoulli": lambda w, t: torch.empty_like(t).bernoulli_(0.4, generator=w.generator),
    "generator_uniform": lambda w, t: torch.zeros(64).uniform_(generator=w.generator),
    "generator_randint": lambda w, t: torch.randint(0, 9, t.shape, generator=w.generator),
}
family(2, DRAWS, lambda w, draw: w.keep(draw(w, w.floats())))


@feature(1)
def reseed(w):
    seed = w.rng.randrange(1000)
    torch.manual_seed(seed)
    w.generator.manual_seed(seed)
    w.keep(torch.randn(8, 33))


@feature(1)
def saved_random_state(w):
    """The program itself goes back in time: two equal draws."""
    state = torch.get_rng_state()
    first = torch.randn(16, 16)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        w.keep(torch.rand(300))
    torch.set_rng_state(state)
    w.record(torch.equal(first, torch.randn(16, 16)))
    w.keep(first)
