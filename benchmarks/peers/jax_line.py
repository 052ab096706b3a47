"""JAX's side of trace_20k_ops: the first call of a jitted function of 20,000 small ops in a row, in this process.

A line server (docs/benchmarks.md) for one line, answered with seconds.
"""

import json
import sys
import time

import jax
import jax.numpy as jnp

OPS = 20000


def line(x):
    y = x
    for i in range(OPS):
        y = y * x if i % 2 == 0 else y + x
    return y


def main():
    x = jnp.full((8,), 0.5, jnp.float32)
    jax.block_until_ready(x)
    start = time.perf_counter()
    jax.block_until_ready(jax.jit(line)(x))
    seconds = time.perf_counter() - start
    sys.stdin.readline()
    print(json.dumps({"value": seconds, "unit": "s", "with": "JAX " + jax.__version__}), flush=True)


if __name__ == "__main__":
    main()
