"""Times calls of compiled functions, tracing, and a loop: `python benchmarks/python/call.py`, against JAX where it is installed."""

import importlib.util
import json
import sys
import time

import weft as wf


def best(run, number, rounds=7):
    """Nanoseconds per call of `run(number)`, the best of some rounds."""
    least = float("inf")
    for _ in range(rounds):
        start = time.perf_counter_ns()
        run(number)
        least = min(least, (time.perf_counter_ns() - start) / number)
    return least


def per_call(f, *args, number=20000):
    def run(n):
        for _ in range(n):
            f(*args)

    run(100)
    return best(run, number)


def empty(x, y):
    pass


def add(x, y):
    return x + y


def leaves(d):
    return d["k0"] + d["k63"]


def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


def many(x):
    for _ in range(20000):
        x = x + 1
    return x


def main():
    found = {}
    x, y = wf.tensor([1.0] * 8), wf.tensor([2.0] * 8)
    found["empty call, ns"] = per_call(empty, x, y)
    found["call of two tensors, ns"] = per_call(wf.function(add), x, y)
    table = {f"k{i}": wf.tensor([float(i)] * 8) for i in range(64)}
    found["call of a dict of 64 leaves, ns"] = per_call(wf.function(leaves), table)

    traced = wf.function(many)
    start = time.perf_counter()
    traced.ir(x, phase="trace")
    found["tracing 20,000 ops, us per op"] = (time.perf_counter() - start) / 20000 * 1e6

    items = wf.arange(10000)
    compiled = wf.function(sum_even)
    found["sum_even of 10,000 compiled, us"] = per_call(compiled, items, number=200) / 1000
    start = time.perf_counter()
    sum_even(items)
    found["sum_even of 10,000 eager, us"] = (time.perf_counter() - start) * 1e6

    if importlib.util.find_spec("jax"):
        import jax

        a, b = (jax.numpy.ones(8) for _ in range(2))
        found["JAX: call of two arrays, ns"] = per_call(jax.jit(add), a, b)
        tree = {f"k{i}": jax.numpy.ones(8) for i in range(64)}
        found["JAX: call of a dict of 64 leaves, ns"] = per_call(jax.jit(leaves), tree, number=2000)
    if "--json" in sys.argv:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:40} {value:12.1f}")


if __name__ == "__main__":
    main()
