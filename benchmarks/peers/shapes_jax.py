"""The shapes of work in JAX, each one jitted."""

import time

import jax
import jax.numpy as jnp

import networks_jax

WITH = "JAX " + jax.__version__
MI = 1 << 20


def normalised(x, axes):
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(axis=axes, keepdims=True) + 1e-5)


def layer_norm(x, gamma, beta):
    return normalised(x, -1) * gamma + beta


def layer_norm_grad(x, gamma, beta, weights):
    return jax.grad(lambda x, gamma, beta: jnp.sum(layer_norm(x, gamma, beta) * weights), argnums=(0, 1, 2))(x, gamma, beta)


def cross_entropy_grad(logits, labels):
    def loss(logits):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1))

    return jax.value_and_grad(loss)(logits)


def gelu_grad(x):
    return jax.grad(lambda x: jnp.sum(jax.nn.gelu(x, approximate=True)))(x)


def normal_cdf(x):
    size = jnp.abs(x)
    t = 1 / (1 + 0.2316419 * size)
    series = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = 0.3989422804 * jnp.exp(-0.5 * size * size) * series
    return jnp.where(x < 0, tail, 1 - tail)


def black_scholes(spot, strike, time):
    spread = 0.2 * jnp.sqrt(time)
    d1 = (jnp.log(spot / strike) + 0.05 * time) / spread
    return spot * normal_cdf(d1) - strike * jnp.exp(-0.03 * time) * normal_cdf(d1 - spread)


def scan_grad(xs, u, w, b):
    def loss(u, w, b):
        def cell(h, x):
            h = jnp.tanh(x @ u + h @ w + b)
            return h, h

        _, all = jax.lax.scan(cell, jnp.zeros((16, 16), jnp.float32), xs)
        return jnp.sum(all * all)

    value, slopes = jax.value_and_grad(loss, argnums=(0, 1, 2))(u, w, b)
    return value, *slopes


def lstm_grad(xs, u, w, b):
    def loss(u, w, b):
        def cell(state, x):
            h, c = state
            i, f, g, o = jnp.split(x @ u + h @ w + b, 4, axis=1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), h

        start = jnp.zeros((32, 256), jnp.float32)
        _, all = jax.lax.scan(cell, (start, start), xs)
        return jnp.sum(all * all)

    value, slopes = jax.value_and_grad(loss, argnums=(0, 1, 2))(u, w, b)
    return value, *slopes


def taken(x, at):
    return x.at[at].get(mode="promise_in_bounds")


def convolution(padding, depthwise=False):
    def run(x, kernel):
        groups = x.shape[-1] if depthwise else 1
        return jax.lax.conv_general_dilated(
            x, kernel, (1, 1), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups
        )

    return run


def gradients(run):
    return lambda *inputs: jax.vjp(run, *inputs[:-1])[1](inputs[-1])


def max_pool(x):
    return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def conv_3x3_100_dx(kernel, cotangent):
    return jax.vjp(lambda x: convolution("SAME")(x, kernel), jnp.zeros_like(cotangent))[1](cotangent)[0]


def conv_3x3_100_dk(x, cotangent):
    return jax.vjp(lambda kernel: convolution("SAME")(x, kernel), jnp.zeros((3, 3, 100, 100)))[1](cotangent)[0]


WORKS = {
    "sort_1M": jnp.sort,
    "sort_1000x1000_axis0": lambda x: jnp.sort(x, axis=0),
    "argsort_1M": jnp.argsort,
    "top_k_1M_10": lambda x: jax.lax.top_k(x, 10),
    "argmax_4M": jnp.argmax,
    "argmax_axis1": lambda x: jnp.argmax(x, axis=1),
    "sum_axis0": lambda x: x.sum(axis=0),
    "sum_axis1": lambda x: x.sum(axis=1),
    "sum_transposed": lambda x: x.T.sum(axis=0),
    "max_axis0": lambda x: x.max(axis=0),
    "sum_mid": lambda x: x.sum(axis=1),
    "cumsum_4M": jnp.cumsum,
    "cumsum_rows": lambda x: jnp.cumsum(x, axis=1),
    "scatter_add_1M": lambda x, at: jnp.zeros(64 << 10, jnp.float32).at[at].add(x, mode="promise_in_bounds"),
    "transpose_2048": lambda x: x.T,
    "add_transposed_2048": lambda a, b: a + b.T,
    "add_row_of_4": lambda a, b: a + b,
    "add_column_to_4": lambda a, b: a + b,
    "matmul_thin_4": lambda a, b: a @ b,
    "exp_every_other": lambda x: jnp.exp(x[::2]),
    "flip_axis1": lambda x: x[:, ::-1],
    "nhwc_nchw": lambda x: x.transpose(0, 3, 1, 2),
    "gather_rows": taken,
    "take_1M": taken,
    "concat_narrow": lambda a, b: jnp.concatenate([a, b], axis=1),
    "conv_3x3_100": convolution("SAME"),
    "conv_3x3_100_dx": conv_3x3_100_dx,
    "conv_3x3_100_dk": conv_3x3_100_dk,
    "conv_first": convolution("VALID"),
    "conv_first_grad": gradients(convolution("VALID")),
    "conv_32_64": convolution("SAME"),
    "conv_32_64_grad": gradients(convolution("SAME")),
    "conv_1x1": convolution("VALID"),
    "conv_1x1_grad": gradients(convolution("VALID")),
    "conv_depthwise": convolution("SAME", depthwise=True),
    "conv_depthwise_grad": gradients(convolution("SAME", depthwise=True)),
    "max_pool": max_pool,
    "max_pool_grad": gradients(max_pool),
    "normal_1M": lambda key: jax.random.normal(key, (MI,)),
    "normal_f64_1M": lambda key: jax.random.normal(key, (MI,), jnp.float64),
    "gamma_1M": lambda key: jax.random.gamma(key, 2.5, (MI,)),
    "gamma_f64_1M": lambda key: jax.random.gamma(key, 2.5, (MI,), jnp.float64),
    "categorical_1M": lambda key: jax.random.categorical(key, jnp.broadcast_to(jnp.arange(8.0) / 4, (MI // 8, 8))),
    "uniform_1M": lambda key: jax.random.uniform(key, (MI,)),
    "permutation_1M": lambda key: jax.random.permutation(key, MI),
    "power_2_64K": lambda x: x**2.0,
    "power_3_64K": lambda x: x**3.0,
    "black_scholes_1M": black_scholes,
    "gelu_grad_4M": gelu_grad,
    "layer_norm_4096x768": layer_norm,
    "layer_norm_grad_4096x768": layer_norm_grad,
    "batch_norm": lambda x, gamma, beta: normalised(x, (0, 1, 2)) * gamma + beta,
    "softmax_1024x1000": jax.nn.softmax,
    "erf_4M": jax.scipy.special.erf,
    "lgamma_4M": jax.scipy.special.gammaln,
    "tan_4M": jnp.tan,
    "atan2_4M": jnp.arctan2,
    "erfinv_4M": jax.scipy.special.erfinv,
    "cross_entropy_grad": cross_entropy_grad,
    "scan_grad_1000": scan_grad,
    "scan_grad_8000": scan_grad,
    "lstm_grad_64x32x256": lstm_grad,
    **networks_jax.WORKS,
}


def first_call_of_reductions():
    """Milliseconds of the first call of a function of its own each time, so that nothing is cached."""
    arguments = [jnp.ones((64, 64), jnp.float32) for _ in range(250)]
    jax.clear_caches()
    start = time.perf_counter()
    jax.block_until_ready(jax.jit(lambda xs: [x.sum(axis=1) for x in xs])(arguments))
    return 1e3 * (time.perf_counter() - start)


def prepared(name, inputs):
    """A call of the work on the inputs, and the unit it is measured in."""
    if name == "reductions_250_compile":
        return first_call_of_reductions, "ms"
    if with_state := networks_jax.prepared(name, inputs):
        return with_state
    jax.config.update("jax_enable_x64", "_f64_" in name)
    # Indices become i32, as JAX has them unless it is told otherwise.
    arguments = [jnp.asarray(x) for x in inputs] or [jax.random.key(1)]
    work = jax.jit(WORKS[name])
    return lambda: jax.block_until_ready(work(*arguments)), "us"
