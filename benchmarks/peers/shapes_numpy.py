"""The shapes of work in NumPy."""

import numpy as np
import scipy.special

WITH = "NumPy " + np.__version__  # with SciPy where NumPy has no such function
MI = 1 << 20

generator = np.random.default_rng(1)


def top_k(x):
    at = np.argpartition(x, -10)[-10:]
    at = at[np.argsort(x[at])[::-1]]
    return x[at], at


def scatter_add(x, at):
    sums = np.zeros(64 << 10, np.float32)
    np.add.at(sums, at, x)
    return sums


def normalised(x, axes):
    centred = x - x.mean(axis=axes, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=axes, keepdims=True) + np.float32(1e-5))


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def categorical():
    """By Gumbel's noise, which is faster than sums of probabilities."""
    unit = np.maximum(generator.random((MI // 8, 8), dtype=np.float32), np.finfo(np.float32).tiny)
    return np.argmax(np.arange(8, dtype=np.float32) / 4 - np.log(-np.log(unit)), axis=-1)


def svd(x):
    u, s, vh = np.linalg.svd(x)
    return s, u, vh


def normal_cdf(x):
    size = np.abs(x)
    t = 1 / (1 + np.float32(0.2316419) * size)
    b = [np.float32(v) for v in (0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429)]
    series = t * (b[0] + t * (b[1] + t * (b[2] + t * (b[3] + t * b[4]))))
    tail = np.float32(0.3989422804) * np.exp(np.float32(-0.5) * size * size) * series
    return np.where(x < 0, tail, 1 - tail)


def black_scholes(spot, strike, time):
    spread = np.float32(0.2) * np.sqrt(time)
    d1 = (np.log(spot / strike) + np.float32(0.05) * time) / spread
    return spot * normal_cdf(d1) - strike * np.exp(np.float32(-0.03) * time) * normal_cdf(d1 - spread)


WORKS = {
    "sort_1M": np.sort,
    "sort_1000x1000_axis0": lambda x: np.sort(x, axis=0),
    "argsort_1M": np.argsort,
    "top_k_1M_10": top_k,
    "argmax_4M": np.argmax,
    "argmax_axis1": lambda x: np.argmax(x, axis=1),
    "sum_axis0": lambda x: x.sum(axis=0),
    "sum_axis1": lambda x: x.sum(axis=1),
    "sum_transposed": lambda x: x.T.sum(axis=0),
    "max_axis0": lambda x: x.max(axis=0),
    "sum_mid": lambda x: x.sum(axis=1),
    "cumsum_4M": np.cumsum,
    "cumsum_rows": lambda x: np.cumsum(x, axis=1),
    "scatter_add_1M": scatter_add,
    "transpose_2048": lambda x: np.ascontiguousarray(x.T),
    "add_transposed_2048": lambda a, b: a + b.T,
    "add_row_of_4": lambda a, b: a + b,
    "add_column_to_4": lambda a, b: a + b,
    "matmul_thin_4": lambda a, b: a @ b,
    "exp_every_other": lambda x: np.exp(x[::2]),
    "flip_axis1": lambda x: np.ascontiguousarray(x[:, ::-1]),
    "nhwc_nchw": lambda x: np.ascontiguousarray(x.transpose(0, 3, 1, 2)),
    "gather_rows": lambda x, at: x[at],
    "take_1M": lambda x, at: np.take(x, at),
    "concat_narrow": lambda a, b: np.concatenate([a, b], axis=1),
    "normal_1M": lambda: generator.standard_normal(MI, dtype=np.float32),
    "normal_f64_1M": lambda: generator.standard_normal(MI),
    "gamma_1M": lambda: generator.standard_gamma(2.5, MI, dtype=np.float32),
    "gamma_f64_1M": lambda: generator.standard_gamma(2.5, MI),
    "categorical_1M": categorical,
    "uniform_1M": lambda: generator.random(MI, dtype=np.float32),
    "permutation_1M": lambda: generator.permutation(MI),
    "power_2_64K": lambda x: x**2.0,
    "power_3_64K": lambda x: x**3.0,
    "black_scholes_1M": black_scholes,
    "layer_norm_4096x768": lambda x, gamma, beta: normalised(x, -1) * gamma + beta,
    "batch_norm": lambda x, gamma, beta: normalised(x, (0, 1, 2)) * gamma + beta,
    "softmax_1024x1000": softmax,
    "solve_1000": np.linalg.solve,
    "solve_10000x8x8": np.linalg.solve,
    "cholesky_1000": np.linalg.cholesky,
    "qr_1000": lambda x: np.linalg.qr(x)[::-1],
    "svd_300": svd,
    "eigh_500": np.linalg.eigh,
    "fft_1024": np.fft.fft,
    "fft_1M": np.fft.fft,
    "fft_1000x256": np.fft.fft,
    "fft2_512": np.fft.fft2,
    "erf_4M": scipy.special.erf,
    "lgamma_4M": scipy.special.gammaln,
    "tan_4M": np.tan,
    "atan2_4M": np.arctan2,
    "erfinv_4M": scipy.special.erfinv,
}


def prepared(name, inputs):
    """A call of the work on the inputs, and the unit it is measured in."""
    return lambda: WORKS[name](*inputs), "us"
