"""Networks and parts of them in JAX: attention, recurrent layers, training steps. Weights come as Weft has them."""

import time

import jax
import jax.numpy as jnp


def attention(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5, axis=-1)
    return jnp.einsum("bhqk,bhkd->bhqd", weights, v)


def attention_grad(q, k, v, cotangent):
    return jax.vjp(attention, q, k, v)[1](cotangent)


def gates(z, c):
    i, f, g, o = jnp.split(z, 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return jax.nn.sigmoid(o) * jnp.tanh(c), c


def lstm_cell(u, w, b, x, h, c):
    return gates(x @ u + b + h @ w, c)


def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def cnn_loss(w, x, labels):
    for kernel, bias in ((w[0], w[1]), (w[2], w[3])):
        x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = max_pool(jax.nn.relu(x + bias))
    return cross_entropy(x.reshape(x.shape[0], -1) @ w[4] + w[5], labels)


def layer_norm(x, gamma, beta):
    mean = x.mean(axis=-1, keepdims=True)
    variance = jnp.square(x - mean).mean(axis=-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gamma + beta


def encoder_layer(w, x):
    dense = lambda x, i: x @ w[i] + w[i + 1]
    heads = lambda x: x.reshape(*x.shape[:2], 8, -1).swapaxes(1, 2)
    mixed = attention(*(heads(dense(x, i)) for i in (0, 2, 4))).swapaxes(1, 2).reshape(x.shape)
    x = layer_norm(x + dense(mixed, 6), w[8], w[9])
    return layer_norm(x + dense(jax.nn.relu(dense(x, 12)), 14), w[10], w[11])


def transformer_loss(w, x, labels):
    for first in range(0, len(w) - 2, 16):
        x = encoder_layer(w[first : first + 16], x)
    return cross_entropy(x.mean(axis=1) @ w[-2] + w[-1], labels)


def adam(state, gradients):
    weights, first, second, count = state
    count = count + 1
    scale = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    first = [0.9 * m + 0.1 * g for m, g in zip(first, gradients)]
    second = [0.999 * v + 0.001 * g * g for v, g in zip(second, gradients)]
    weights = [w - scale * m / (jnp.sqrt(v) + 1e-7) for w, m, v in zip(weights, first, second)]
    return weights, first, second, count


def fresh(weights):
    return [jnp.array(w) for w in weights], [jnp.zeros_like(w) for w in weights], [jnp.zeros_like(w) for w in weights], jnp.zeros(())


class Training:
    """A call is one step; `check` gives the loss of the third from the start."""

    def __init__(self, loss_of, inputs):
        def step(state, x, labels):
            loss, gradients = jax.value_and_grad(loss_of)(state[0], x, labels)
            return adam(state, gradients), loss

        self.inputs, self.step = [jnp.asarray(x) for x in inputs], jax.jit(step, donate_argnums=0)
        self.state = fresh(self.inputs[:-2])

    def __call__(self):
        self.state, loss = self.step(self.state, *self.inputs[-2:])
        return jax.block_until_ready(loss)

    def check(self):
        self.state = fresh(self.inputs[:-2])
        return [self() for _ in range(3)][-1]


def adam_update():
    """One update of 1,000 parameters of 10,000, in milliseconds."""
    gradients = [jnp.full(10_000, 0.25) for _ in range(1000)]
    state, step = fresh([jnp.full(10_000, 0.5)] * 1000), jax.jit(adam, donate_argnums=0)
    state = jax.block_until_ready(step(state, gradients))

    def measure():
        nonlocal state
        start = time.perf_counter()
        for _ in range(10):
            state = step(state, gradients)
        jax.block_until_ready(state)
        return 1e3 * (time.perf_counter() - start) / 10

    return measure


def first_call(loss_of, inputs):
    """Milliseconds of the first step of a training that nothing is compiled of yet."""
    jax.clear_caches()
    training = Training(loss_of, inputs)
    start = time.perf_counter()
    training()
    return 1e3 * (time.perf_counter() - start)


TRAININGS = {"cnn_train_step_32": cnn_loss, "cnn_train_step_128": cnn_loss, "transformer_12_step": transformer_loss}
WORKS = {
    "attention_8x512x64": attention,
    "attention_8x512x64_grad": attention_grad,
    "attention_8x2048x64": attention,
    "lstm_cell_10": lstm_cell,
}


def prepared(name, inputs):
    """A call and its unit for what has state; nothing for another name."""
    if name in TRAININGS:
        return Training(TRAININGS[name], inputs), "us"
    if name == "transformer_12_first_call":
        return lambda: first_call(transformer_loss, inputs), "ms"
    if name == "adam_update_1000x10k":
        return adam_update(), "ms"
    return None
