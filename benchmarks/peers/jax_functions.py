"""JAX's side of the rows about functions: a compiled loop over scalars, and tracing.

A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON line.

    jax_functions.py while    nanoseconds of one turn of a jitted while_loop over an i32 and an f32
    jax_functions.py trace    nanoseconds per op of tracing a straight line of 2,000 ops
"""

import json
import sys
import time

import jax
import jax.numpy as jnp

TURNS, OPS = 1_000_000, 2_000


@jax.jit
def loop(n):
    step = lambda s: (s[0] + 1, s[1] * jnp.float32(0.999) + jnp.float32(0.001))
    return jax.lax.while_loop(lambda s: s[0] < n, step, (0, jnp.float32(0.5)))[1]


def repeat_while():
    start = time.perf_counter()
    for _ in range(20):
        loop(TURNS).block_until_ready()
    return 1e9 * (time.perf_counter() - start) / (20 * TURNS)


def repeat_trace():
    def line(x):  # a function of its own each time, so that nothing is cached
        for _ in range(OPS // 2):
            x = x * 0.5 + 1.0
        return x

    start = time.perf_counter()
    jax.make_jaxpr(line)(jnp.ones(8, jnp.float32))
    return 1e9 * (time.perf_counter() - start) / OPS


def main():
    repeat = {"while": repeat_while, "trace": repeat_trace}[sys.argv[1]]
    repeat()
    for _ in sys.stdin:
        print(json.dumps({"value": repeat(), "unit": "ns", "with": "JAX " + jax.__version__}), flush=True)


if __name__ == "__main__":
    main()
