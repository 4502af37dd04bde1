"""Time per op where the ops themselves cost next to nothing; prints one line of JSON.

An ordinary program: overhead.py runs it with and without Weir.
"""

import argparse
import json
import statistics
import time

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from zoo import nets
from zoo.data import Source


class Counted(TorchDispatchMode):
    ops = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.ops += 1
        return function(*args, **(kwargs or {}))


def arithmetic(ops):
    """A function that runs so many ops, and how many it runs."""
    x, y = torch.ones(16), torch.full((16,), 1e-9)

    def run():
        z = x
        for _ in range(ops // 2):
            z = (z + y) * x
        return z

    return run, ops // 2 * 2


def tree_step():
    """A training step of a Tree-LSTM that is all overhead, and the number of its ops."""
    torch.manual_seed(0)
    net = nets.TreeLstm(batch=1, hidden=16, depth=6, vocabulary=100)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    batch = net.draw(Source(0))

    def run():
        optimizer.zero_grad()
        net.loss(batch).backward()
        optimizer.step()

    run()
    with Counted() as counted:
        run()
    return run, counted.ops


def nanos_per_op(run, ops, repeats):
    run()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter_ns()
        run()
        times.append(time.perf_counter_ns() - begin)
    return statistics.median(times) / ops


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ops", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with torch.no_grad():
        add_mul = nanos_per_op(*arithmetic(arguments.ops), arguments.repeats)
    tree = nanos_per_op(*tree_step(), 3 * arguments.repeats)
    print(json.dumps({"add_mul": add_mul, "tree_lstm": tree}))


if __name__ == "__main__":
    main()
