"""JAX's side of the rows about functions: a compiled loop over scalars, tracing, a gradient through scan.

A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON line.

    jax_functions.py while    nanoseconds of one turn of a jitted while_loop over an i32 and an f32
    jax_functions.py trace    nanoseconds per op of tracing a straight line of 2,000 ops
    jax_functions.py scan     microseconds of value and gradient of a recurrent cell over 100 steps
"""

import json
import math
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


def wave(shape, scale):
    return (jnp.sin(jnp.arange(math.prod(shape), dtype=jnp.float32)) * scale).reshape(shape)


@jax.jit
def scan_slopes(xs, u, w, b):
    def loss(u, w, b):
        def cell(h, x):
            h = jnp.tanh(x @ u + h @ w + b)
            return h, jnp.sum(h)

        last, all = jax.lax.scan(cell, jnp.zeros((xs.shape[1], w.shape[0]), jnp.float32), xs)
        return jnp.sum(last * last) + jnp.sum(all)

    return jax.value_and_grad(loss, argnums=(0, 1, 2))(u, w, b)


def repeat_scan():
    arguments = wave((100, 32, 16), 1.0), wave((16, 64), 0.2), wave((64, 64), 0.1), wave((64,), 0.1)
    jax.block_until_ready(scan_slopes(*arguments))
    start = time.perf_counter()
    for _ in range(50):
        jax.block_until_ready(scan_slopes(*arguments))
    return 1e6 * (time.perf_counter() - start) / 50


def main():
    repeat, unit = {"while": (repeat_while, "ns"), "trace": (repeat_trace, "ns"), "scan": (repeat_scan, "us")}[sys.argv[1]]
    repeat()
    for _ in sys.stdin:
        print(json.dumps({"value": repeat(), "unit": unit, "with": "JAX " + jax.__version__}), flush=True)


if __name__ == "__main__":
    main()
