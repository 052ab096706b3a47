"""JAX's side of the compiled rows: the training step of the small classifier, steady and at its first call.

A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON line.

    jax_mlp.py step      seconds of one step, as a loop of steps runs
    jax_mlp.py first     milliseconds of the first call of the step, in this process, once
"""

import json
import sys
import time

import jax
import jax.numpy as jnp

BATCH, INPUTS, HIDDEN, CLASSES = 64, 64, 128, 10


def initial_state():
    """Parameters, Adam's two moments for each, and the step count."""
    keys = jax.random.split(jax.random.key(1), 2)
    parameters = (
        jax.random.normal(keys[0], (INPUTS, HIDDEN), jnp.float32) * 0.1,
        jnp.zeros((HIDDEN,), jnp.float32),
        jax.random.normal(keys[1], (HIDDEN, CLASSES), jnp.float32) * 0.1,
        jnp.zeros((CLASSES,), jnp.float32),
    )
    # Separate buffers for the two moments: a donated buffer may be passed only once.
    first = tuple(jnp.zeros(p.shape, p.dtype) for p in parameters)
    second = tuple(jnp.zeros(p.shape, p.dtype) for p in parameters)
    return parameters, first, second, jnp.zeros((), jnp.float32)


def batch():
    keys = jax.random.split(jax.random.key(2), 2)
    x = jax.random.uniform(keys[0], (BATCH, INPUTS), jnp.float32)
    labels = jax.random.randint(keys[1], (BATCH,), 0, CLASSES, jnp.int32)
    return x, labels


def loss_of(parameters, x, labels):
    w1, b1, w2, b2 = parameters
    hidden = jnp.maximum(x @ w1 + b1, 0)
    logits = hidden @ w2 + b2
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
    return -jnp.mean(chosen)


def train_step(state, x, labels):
    """Forward, softmax cross entropy, backward and Adam; gives the new state and the loss."""
    rate, beta1, beta2, epsilon = 1e-3, 0.9, 0.999, 1e-8
    parameters, first, second, count = state
    loss, gradients = jax.value_and_grad(loss_of)(parameters, x, labels)
    count = count + 1
    scale = rate * jnp.sqrt(1 - beta2**count) / (1 - beta1**count)
    first = tuple(beta1 * m + (1 - beta1) * g for m, g in zip(first, gradients))
    second = tuple(beta2 * v + (1 - beta2) * g * g for v, g in zip(second, gradients))
    parameters = tuple(
        p - scale * m / (jnp.sqrt(v) + epsilon) for p, m, v in zip(parameters, first, second)
    )
    return (parameters, first, second, count), loss


def answer(value, unit):
    print(json.dumps({"value": value, "unit": unit, "with": "JAX " + jax.__version__}), flush=True)


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "step"
    state, (x, labels) = initial_state(), batch()
    jax.block_until_ready((state, x, labels))
    step = jax.jit(train_step, donate_argnums=0)

    start = time.perf_counter()
    state, loss = step(state, x, labels)
    jax.block_until_ready(loss)
    first_ms = 1e3 * (time.perf_counter() - start)
    if what == "first":
        sys.stdin.readline()
        answer(first_ms, "ms")
        return

    count = 1000
    for _ in sys.stdin:
        start = time.perf_counter()
        for _ in range(count):
            state, loss = step(state, x, labels)
        jax.block_until_ready((state, loss))
        answer(1e6 * (time.perf_counter() - start) / count, "us")


if __name__ == "__main__":
    main()
