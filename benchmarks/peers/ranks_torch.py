"""PyTorch's side of the rows ranks_*, over Gloo: `all_reduce BYTES` of float32 between two processes, and `step UNITS`, a
step of DistributedDataParallel: a classifier of 784 features with two hidden layers, 64 rows on each rank, Adam.

A line server (docs/benchmarks.md), whose rank 0 reads and answers.
"""

import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

BUDGET = 0.1
STEPS = 40


def all_reduce(size):
    x = torch.ones(size // 4)
    count = 1
    while True:
        dist.barrier()
        start = time.perf_counter()
        for _ in range(count):
            dist.all_reduce(x)
            x.fill_(1)
        spent = time.perf_counter() - start
        more = torch.tensor(0 if spent >= BUDGET else count * (8 if spent < BUDGET / 16 else 2))
        dist.broadcast(more, 0)
        if more == 0:
            return spent / count
        count = int(more)


def step(units):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(784, units), nn.ReLU(), nn.Linear(units, units), nn.ReLU(), nn.Linear(units, 10))
    model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters())
    loss = nn.CrossEntropyLoss()
    x, y = torch.randn(64, 784), torch.randint(0, 10, (64,))
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(STEPS):
            optimizer.zero_grad()
            loss(model(x), y).backward()
            optimizer.step()
        best = min(best, time.perf_counter() - start)
    return best / STEPS


def main():
    rank, size = (int(os.environ[f"OMPI_COMM_WORLD_{word}"]) for word in ("RANK", "SIZE"))
    # Ranks of one launcher have one parent.
    dist.init_process_group("gloo", init_method=f"file:///tmp/weft-gloo-{os.getppid()}", rank=rank, world_size=size)
    torch.set_num_threads(1)
    what, number = {"all_reduce": all_reduce, "step": step}[sys.argv[1]], int(sys.argv[2])
    while True:
        asked = torch.tensor(int(rank != 0 or sys.stdin.readline() != ""))
        dist.broadcast(asked, 0)
        if not asked:
            return
        spent = what(number)
        if rank == 0:
            name = f"PyTorch {torch.__version__}, Gloo"
            print(json.dumps({"value": 1e6 * spent, "unit": "us", "with": name}), flush=True)


if __name__ == "__main__":
    main()
