"""Features: the operators of networks, on their own parameters."""

import torch
import torch.nn.functional as F

from .registry import family, feature


def _bilinear(t):
    return F.bilinear(t, t, torch.rand(4, t.shape[1], t.shape[1]) * 0.01)


LAYERS_2D = {
    "linear": lambda w, t: F.linear(t, torch.randn(24, t.shape[1]) * 0.2, torch.zeros(24)),
    "layer_norm": lambda w, t: F.layer_norm(t, t.shape[-1:]),
    "layer_norm_affine": lambda w, t: F.layer_norm(t, t.shape[-1:], torch.rand(t.shape[-1])),
    "cosine_similarity": lambda w, t: F.cosine_similarity(t, t.roll(1, 0)),
    "cross_entropy": lambda w, t: F.cross_entropy(t, torch.zeros(len(t), dtype=torch.int64)),
    "mse_loss": lambda w, t: F.mse_loss(t, t.detach().cos(), reduction="none"),
    "binary_cross_entropy": lambda w, t: F.binary_cross_entropy_with_logits(
        t, t.detach().gt(0) * 1.0
    ),
    "glu": lambda w, t: F.glu(t[:, : t.shape[1] // 2 * 2]),
    "normalize": lambda w, t: F.normalize(t),
    "bilinear": lambda w, t: _bilinear(t[:, :96]),
}
family(2, LAYERS_2D, lambda w, layer: w.keep(layer(w, w.floats(2))))


def _kernel(w, t):
    return torch.randn(6, t.shape[1], 3, 3) * 0.2


LAYERS_4D = {
    "conv2d": lambda w, t: F.conv2d(t, _kernel(w, t), padding=1).relu(),
    "conv2d_strided": lambda w, t: F.conv2d(t, _kernel(w, t), stride=2, padding=1),
    "conv2d_depthwise": lambda w, t: F.conv2d(
        t, torch.rand(t.shape[1], 1, 3, 3), groups=t.shape[1]
    ),
    "conv_transpose2d": lambda w, t: F.conv_transpose2d(t, torch.rand(t.shape[1], 3, 2, 2) * 0.1),
    "max_pool2d": lambda w, t: F.max_pool2d(t, 2),
    "avg_pool2d": lambda w, t: F.avg_pool2d(t, 2),
    "adaptive_pool": lambda w, t: F.adaptive_avg_pool2d(t, 2),
    "group_norm": lambda w, t: F.group_norm(t, 1),
    "instance_norm": lambda w, t: F.instance_norm(t),
    "upsample": lambda w, t: F.interpolate(t, scale_factor=2, mode="bilinear", align_corners=False),
    "pixel_shuffle": lambda w, t: F.pixel_unshuffle(t[:, :, :8, :8], 2),
    "grid_sample": lambda w, t: F.grid_sample(
        t, torch.rand(t.shape[0], 4, 4, 2), align_corners=False
    ),
    "unfold_image": lambda w, t: F.unfold(t, 2),
    "channels_last": lambda w, t: t.contiguous(memory_format=torch.channels_last) * 0.5,
}


def _on_image(w, layer):
    t = w.floats(4)
    if min(t.shape) < 4 or t.shape[2] < 9 or t.shape[3] < 9:
        t = w.keep(torch.randn(4, 4, 9, 12))
    w.keep(layer(w, t))


family(2, LAYERS_4D, _on_image)


@feature(3)
def batch_norm_train(w):
    t = w.floats(2) if w.chance() else w.floats(3)
    mean, var = torch.zeros(t.shape[1]), torch.ones(t.shape[1])
    if t.numel() // t.shape[1] < 2:
        t = w.keep(torch.randn(8, t.shape[1]))
    w.keep(F.batch_norm(t, mean, var, torch.rand(t.shape[1]), training=True))
    w.keep(mean)
    w.keep(var)


@feature(2)
def batch_norm_eval(w):
    t = w.floats(2)
    mean, var = torch.zeros(t.shape[1]) + 0.1, torch.ones(t.shape[1]) * 2
    w.keep(F.batch_norm(t, mean, var, training=False).cos())


def _recurrent(w, kind):
    x = w.floats(3)
    net = kind(x.shape[2], 12, batch_first=True)
    out = net(x)[0]
    w.keep(out)
    w.keep(torch.autograd.grad(out.sum(), list(net.parameters())[0], retain_graph=True)[0])


family(2, {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU, "rnn": torch.nn.RNN}, _recurrent)


@feature(3)
def attention(w):
    x = w.floats(3)
    q = x.unsqueeze(1)
    dropped = 0.1 if w.chance(0.3) else 0.0
    causal = w.chance()
    w.keep(F.scaled_dot_product_attention(q, q.cos(), q.sin(), dropout_p=dropped, is_causal=causal))


@feature(1)
def attention_masked(w):
    x = w.floats(3).unsqueeze(1).detach().requires_grad_()
    mask = torch.ones(x.shape[2], x.shape[2], dtype=torch.bool).tril()
    y = F.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    w.keep(torch.autograd.grad(y.square().sum(), x)[0])


@feature(1)
def multihead_attention(w):
    x = w.fresh(3)
    net = torch.nn.MultiheadAttention(x.shape[2], 2, dropout=0.1, batch_first=True)
    w.keep(net(x, x, x, need_weights=w.chance())[0])


@feature(2)
def embedding(w):
    table = torch.randn(40, 24, requires_grad=True)
    ids = torch.randint(0, 40, (6, 9))
    out = F.embedding(ids, table)
    w.keep(out)
    w.keep(torch.autograd.grad(out.sin().sum(), table)[0])


@feature(1)
def embedding_bag(w):
    table = torch.randn(40, 24)
    w.keep(F.embedding_bag(torch.randint(0, 40, (6, 9)), table, mode="sum"))


@feature(1)
def conv1d(w):
    t = w.floats(3)
    w.keep(F.conv1d(t, torch.randn(5, t.shape[1], 3) * 0.2, padding=1).tanh())


@feature(1)
def ctc_and_kl(w):
    t = w.floats(2)
    w.keep(F.kl_div(t.log_softmax(-1), t.detach().softmax(-1), reduction="batchmean"))


@feature(2)
def autocast(w):
    t = w.floats(2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        w.keep(F.linear(t, torch.randn(16, t.shape[1])).softmax(-1))
