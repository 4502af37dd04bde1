"""Features: autograd, custom functions, hooks, modes, checkpointing, torch.func."""

import threading

import torch
from torch.utils.checkpoint import checkpoint

from .registry import family, feature
from .world import MOST_ROWS


class ScaledSin(torch.autograd.Function):
    """Saves an input and an output, and can be differentiated twice."""

    @staticmethod
    def forward(ctx, x, scale):
        y = torch.sin(x) * scale
        ctx.save_for_backward(x, y)
        ctx.scale = scale
        return y

    @staticmethod
    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * torch.cos(x) * ctx.scale + 0 * y, None


class DirtyHalf(torch.autograd.Function):
    """Changes its input and says so."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(0.5)

    @staticmethod
    def backward(ctx, grad):
        return grad * 0.5


class TwoResults(torch.autograd.Function):
    """One result is not differentiable; the saved mask is a third tensor of its own."""

    @staticmethod
    def forward(ctx, x):
        mask = x > 0
        ctx.save_for_backward(mask)
        order = x.argsort(-1)
        ctx.mark_non_differentiable(order)
        return x * mask, order

    @staticmethod
    def backward(ctx, grad, _):
        (mask,) = ctx.saved_tensors
        return grad * mask


def _leaf(w, dims=None):
    return w.floats(dims).detach().clone().requires_grad_()


@feature(4)
def leaf(w):
    """A tensor whose later uses are recorded by autograd."""
    w.keep(_leaf(w))


@feature(6)
def backward(w):
    """Through whatever graph a live tensor has; earlier writes in place may forbid it."""
    t = w.pick(lambda t: t.requires_grad and t.grad_fn is not None and t.is_floating_point())
    if t.grad_fn is not None:
        t.float().sin().sum().backward(retain_graph=w.chance(0.7))


@feature(2)
def drop_graphs(w):
    for name, t in list(w.tensors.items()):
        if t.grad_fn is not None and not t.is_inference():
            w.tensors[name] = t.detach()


@feature(2)
def zero_gradients(w):
    """Gradients set to None, or zeroed in place while others may be made from them."""
    for t in w.tensors.values():
        if t.is_leaf and t.grad is not None:
            if w.chance():
                t.grad = None
            else:
                t.grad.zero_()


@feature(2)
def keep_gradient(w):
    t = w.pick(lambda t: t.is_leaf and t.grad is not None)
    if t.grad is not None:
        w.keep(t.grad.sin() if w.chance() else t.grad)


@feature(2)
def custom_function(w):
    x = _leaf(w)
    y = ScaledSin.apply(x, 1.5)
    w.keep(y)
    w.keep(torch.autograd.grad(y.cos().sum(), x, retain_graph=True)[0])


@feature(2)
def custom_function_dirty(w):
    x = _leaf(w)
    y = DirtyHalf.apply(x.cos())
    w.keep(y)
    w.keep(torch.autograd.grad(y.sum(), x, retain_graph=True)[0])


@feature(1)
def custom_function_two_results(w):
    x = _leaf(w)
    y, order = TwoResults.apply(x)
    w.keep(order)
    w.keep(torch.autograd.grad(y.square().sum(), x)[0])


@feature(3)
def double_backward(w):
    x = _leaf(w)
    first = torch.autograd.grad(x.sin().pow(2).sum(), x, create_graph=True)[0]
    (first * x.detach()).sum().backward()
    w.keep(first)
    w.keep(x.grad)


@feature(1)
def index_backward(w):
    """Accumulates with index_put_, which is not deterministic on two threads even in stock."""
    x = _leaf(w)
    rows = torch.randint(0, x.shape[0], (2 * x.shape[0],))
    w.keep(torch.autograd.grad(x[rows].sin().sum(), x)[0])


@feature(1)
def gradient_penalty(w):
    x = _leaf(w, 2)
    net = torch.nn.Sequential(torch.nn.Linear(x.shape[1], 16), torch.nn.Tanh())
    inner = torch.autograd.grad(net(x).sum(), x, create_graph=True)[0]
    inner.square().mean().backward()
    w.keep(net[0].weight.grad)


@feature(2)
def tensor_hooks(w):
    x = _leaf(w)
    y = x.sin()
    y.retain_grad()
    y.register_hook(lambda g: g * 0.5)
    x.register_post_accumulate_grad_hook(lambda t: w.record(float(t.grad.sum())))
    y.cos().sum().backward()
    w.keep(y.grad)
    w.keep(x.grad)


@feature(2)
def module_hooks(w):
    x = _leaf(w, 2)
    net = torch.nn.Linear(x.shape[1], 12)
    net.register_forward_hook(lambda m, args, out: out.tanh())
    net.register_forward_pre_hook(lambda m, args: (args[0] * 0.5,))
    net.register_full_backward_hook(lambda m, gin, gout: (gin[0] * 2,))
    net(x).sum().backward()
    w.keep(x.grad)


@feature(1)
def saved_tensors_hooks(w):
    x = _leaf(w)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        y = (x.sin() * x).sum()
    y.backward()
    w.keep(x.grad)


@feature(2)
def without_grad(w):
    with torch.no_grad():
        w.keep(torch.sin(w.floats()) * 0.5)


@feature(2)
def inference_mode(w):
    t = w.floats().detach()[:MOST_ROWS]
    with torch.inference_mode():
        y = (
            torch.nn.functional.softmax(t.sin() @ t.sin().transpose(0, -1), -1)
            if t.dim() == 2
            else t
        )
        w.keep(y * 0.5)
        w.record(float(y.sum()))


def _checkpointed(w, reentrant):
    x = _leaf(w, 2)
    weight = (torch.randn(x.shape[1], 24) * 0.2).requires_grad_()

    def block(t):
        return torch.nn.functional.dropout((t @ weight).relu(), 0.2).sin()

    y = checkpoint(block, x, use_reentrant=reentrant)
    (y * 2).sum().backward()
    w.keep(y.detach())
    w.keep(weight.grad)


family(2, {"checkpoint_reentrant": True, "checkpoint": False}, _checkpointed)

FUNC = {
    "func_grad": lambda x: torch.func.grad(lambda t: t.sin().square().sum())(x),
    "func_vmap": lambda x: torch.func.vmap(lambda row: row.softmax(0) * row.mean())(x),
    "func_jvp": lambda x: torch.func.jvp(lambda t: t.sin() * t, (x,), (x.cos(),))[1],
    "func_vjp": lambda x: torch.func.vjp(torch.tanh, x)[1](x)[0],
    "func_vmap_grad": lambda x: torch.func.vmap(torch.func.grad(lambda r: r.cos().sum()))(x),
    "func_jacrev": lambda x: torch.func.jacrev(lambda t: t.sin().sum(-1))(x[:4, :4]),
}
family(1, FUNC, lambda w, function: w.keep(function(w.floats(2).detach())))


@feature(1)
def functional_call(w):
    x = w.floats(2).detach()
    net = torch.nn.Linear(x.shape[1], 8)
    halved = {name: p.detach() * 0.5 for name, p in net.named_parameters()}
    w.keep(torch.func.functional_call(net, halved, (x,)))


@feature(3)
def thread(w):
    """A thread of the program's own that computes on its own tensors, and is joined."""
    x = w.floats().detach().clone()
    seed = w.rng.randrange(1000)
    results = []

    def work():
        try:
            generator = torch.Generator().manual_seed(seed)
            y = (x.sin() + torch.rand(x.shape, generator=generator)).requires_grad_()
            z = y.cos().square()
            z.sum().backward()
            results.extend((z.detach(), y.grad))
        except Exception as error:
            results.append(error)

    worker = threading.Thread(target=work)
    worker.start()
    worker.join()
    for result in results:
        if isinstance(result, Exception):
            raise result
        w.keep(result)
