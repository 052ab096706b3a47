"""mpi4py's side of the rows ranks_all_reduce: MPI_Allreduce of so many bytes of float32, between two processes.

A line server (docs/benchmarks.md), whose rank 0 reads and answers.
"""

import json
import sys
import time

import mpi4py
import numpy as np
from mpi4py import MPI

BUDGET = 0.1


def seconds(world, x, y):
    count = 1
    while True:
        world.Barrier()
        start = time.perf_counter()
        for _ in range(count):
            world.Allreduce(x, y)
        spent = time.perf_counter() - start
        more = world.bcast(0 if spent >= BUDGET else count * (8 if spent < BUDGET / 16 else 2))
        if more == 0:
            return spent / count
        count = more


def told(world):
    """Whether rank 0 wants another measurement. The others sleep until then: MPI's own waiting would keep a core from
    whoever is measured meanwhile."""
    if world.rank == 0:
        asked = sys.stdin.readline() != ""
        for other in range(1, world.size):
            world.send(asked, other)
        return asked
    while not world.iprobe(0):
        time.sleep(0.001)
    return world.recv(source=0)


def main():
    world = MPI.COMM_WORLD
    x = np.ones(int(sys.argv[2]) // 4, np.float32)
    y = np.empty_like(x)
    while told(world):
        spent = seconds(world, x, y)
        if world.rank == 0:
            print(json.dumps({"value": 1e6 * spent, "unit": "us", "with": "mpi4py " + mpi4py.__version__}), flush=True)


if __name__ == "__main__":
    main()
