"""One number for all that training has changed: two runs agree bit for bit or it differs."""

import hashlib
import struct

import torch


def digest_of(net, optimizer, losses, source):
    """sha256 over losses, parameters, buffers, optimizer state and the state of all generators."""
    sha = hashlib.sha256(struct.pack(f"<{len(losses)}d", *losses))
    for name, tensor in (*net.named_parameters(), *net.named_buffers()):
        add(sha, name, tensor)
    for number, parameter in enumerate(net.parameters()):
        for name, value in sorted(optimizer.state[parameter].items()):
            add(sha, f"{number} {name}", value)
    add(sha, "torch", torch.get_rng_state())
    sha.update(source.state())
    return sha.hexdigest()


def add(sha, name, value):
    if not isinstance(value, torch.Tensor):
        sha.update(f"{name} {value!r}\n".encode())
        return
    sha.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
    # Of a copy: whose memory is handed out must stay where it is.
    copy = value.detach().clone(memory_format=torch.contiguous_format)
    sha.update(copy.numpy())
