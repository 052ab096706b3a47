"""What layers compute, written in NumPy, and how their results are compared with it."""

import math

import numpy as np

import weft as wf


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def with_numbers(layer, x, **call):
    """Calls the layer once and gives its variables numbers that are neither zeros nor ones."""
    layer(x, **call)
    generator = np.random.default_rng(1)
    for name, variable in layer.named_variables().items():
        if variable.dtype != wf.float32:
            continue
        values = generator.normal(size=variable.shape, scale=0.5)
        variable.assign((np.abs(values) + 0.5 if "variance" in name else values).astype(np.float32))
    return {name: np.asarray(v).astype(np.float64) for name, v in layer.named_variables().items()}


def close(actual, expected, tolerance=2e-5):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert np.allclose(actual, expected, rtol=tolerance, atol=tolerance), np.abs(actual - expected).max()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def each(value, rank):
    return (value,) * rank if isinstance(value, int) else tuple(value)


def padded(x, window, strides, dilation, padding, fill=0.0):
    pads = [(0, 0)]
    for n, k, s, d in zip(x.shape[1:-1], window, strides, dilation):
        total = max((-(-n // s) - 1) * s + d * (k - 1) + 1 - n, 0) if padding == "same" else 0
        pads.append((d * (k - 1), 0) if padding == "causal" else (total // 2, total - total // 2))
    return np.pad(x, [*pads, (0, 0)], constant_values=fill)


def windows(x, window, strides, dilation):
    """What each tap of the window sees: pairs of the tap and (batch, positions.., channels)."""
    for tap in np.ndindex(*window):
        cut = [slice(None)]
        for n, k, s, d, at in zip(x.shape[1:-1], window, strides, dilation, tap):
            positions = (n - d * (k - 1) - 1) // s + 1
            cut.append(slice(at * d, at * d + (positions - 1) * s + 1, s))
        yield tap, x[tuple(cut)]


def convolved(x, kernel, strides=1, padding="valid", dilation=1, groups=1):
    rank = x.ndim - 2
    window, strides, dilation = kernel.shape[:rank], each(strides, rank), each(dilation, rank)
    x = padded(x, window, strides, dilation, padding)
    parts = []
    for own, weights in zip(np.split(x, groups, -1), np.split(kernel, groups, -1)):
        parts.append(sum(seen @ weights[tap] for tap, seen in windows(own, window, strides, dilation)))
    return np.concatenate(parts, -1)


def transposed(x, kernel, strides=1, padding="valid"):
    rank = x.ndim - 2
    window, strides = kernel.shape[:rank], each(strides, rank)
    sizes = [(n - 1) * s + k for n, s, k in zip(x.shape[1:-1], strides, window)]
    y = np.zeros((x.shape[0], *sizes, kernel.shape[-2]))
    for tap in np.ndindex(*window):
        cut = [slice(at, at + (n - 1) * s + 1, s) for at, n, s in zip(tap, x.shape[1:-1], strides)]
        y[(slice(None), *cut)] += x @ kernel[tap].T
    if padding == "same":
        begins = [(k - s) // 2 for k, s in zip(window, strides)]
        y = y[(slice(None), *[slice(b, b + n * s) for b, n, s in zip(begins, x.shape[1:-1], strides)])]
    return y


def depthwise(x, kernel, strides=1, padding="valid"):
    rank = x.ndim - 2
    window, strides, ones = kernel.shape[:rank], each(strides, rank), (1,) * rank
    x = padded(x, window, strides, ones, padding)
    y = sum(seen[..., None] * kernel[tap] for tap, seen in windows(x, window, strides, ones))
    return y.reshape(*y.shape[:-2], -1)


def pooled(x, window, strides, padding, reduce):
    rank = x.ndim - 2
    window, strides, ones = each(window, rank), each(strides or window, rank), (1,) * rank
    x = padded(x, window, strides, ones, padding, np.nan)
    return reduce(np.stack([seen for _, seen in windows(x, window, strides, ones)]), 0)


def normalized(x, axes, epsilon):
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def simple_step(v, x, states, at="", **_):
    h = np.tanh(x @ v[at + "kernel"] + v[at + "bias"] + states[0] @ v[at + "recurrent_kernel"])
    return [h]


def lstm_step(v, x, states, at="", **_):
    h, c = states
    z = x @ v[at + "kernel"] + v[at + "bias"] + h @ v[at + "recurrent_kernel"]
    i, f, g, o = np.split(z, 4, -1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return [sigmoid(o) * np.tanh(c), c]


def gru_step(v, x, states, at="", reset_after=True):
    h = states[0]
    kernel, recurrent, bias = (v[at + name] for name in ("kernel", "recurrent_kernel", "bias"))
    units = h.shape[-1]
    if reset_after:
        xz, xr, xh = np.split(x @ kernel + bias[0], 3, -1)
        hz, hr, hh = np.split(h @ recurrent + bias[1], 3, -1)
        candidate = np.tanh(xh + sigmoid(xr + hr) * hh)
    else:
        xz, xr, xh = np.split(x @ kernel + bias, 3, -1)
        hz, hr = np.split(h @ recurrent[:, : 2 * units], 2, -1)
        candidate = np.tanh(xh + (sigmoid(xr + hr) * h) @ recurrent[:, 2 * units :])
    z = sigmoid(xz + hz)
    return [z * h + (1 - z) * candidate]


def run_along(step, v, x, units, count, at="cell.", reverse=False, mask=None, initial=None, **options):
    states = initial or [np.zeros((x.shape[0], units))] * count
    outputs = [None] * x.shape[1]
    for t in reversed(range(x.shape[1])) if reverse else range(x.shape[1]):
        after = step(v, x[:, t], states, at, **options)
        if mask is not None:
            after = [np.where(mask[:, t, None], a, b) for a, b in zip(after, states)]
        states = after
        outputs[t] = states[0]
    return np.stack(outputs, 1), states


def attended(query, key, value, mask=None, causal=None, scale=None):
    heads = query.shape[-3] // key.shape[-3]
    key, value = np.repeat(key, heads, -3), np.repeat(value, heads, -3)
    products = query @ np.swapaxes(key, -1, -2) * (scale or 1 / math.sqrt(query.shape[-1]))
    queries, keys = products.shape[-2:]
    if causal:
        lag = keys - queries if causal == "bottom_right" else 0
        products = np.where(np.tri(queries, keys, lag, dtype=bool), products, -np.inf)
    if mask is not None:
        products = np.where(mask, products, -np.inf) if mask.dtype == bool else products + mask
    return softmax(products) @ value


def dense(v, at, x):
    return x @ v[at + "kernel"] + v[at + "bias"]


def many_heads(v, x, others=None, at="", heads=2, key_heads=None, causal=None, mask=None, rotate=lambda x: x):
    others = x if others is None else others

    def split(y, count):
        return np.swapaxes(y.reshape(*y.shape[:-1], count, -1), -2, -3)

    query = split(dense(v, at + "query.", x), heads)
    key, value = (split(dense(v, at + name, others), key_heads or heads) for name in ("key.", "value."))
    mask = None if mask is None else mask[:, None]
    y = np.swapaxes(attended(rotate(query), rotate(key), value, mask, causal), -2, -3)
    return dense(v, at + "output.", y.reshape(*y.shape[:-2], -1))


def turned(x, interleaved=False, base=10_000.0):
    length, depth = x.shape[-2:]
    angle = np.arange(length)[:, None] * base ** (-2 * np.arange(depth // 2) / depth)
    a, b = (x[..., ::2], x[..., 1::2]) if interleaved else np.split(x, 2, -1)
    y = a * np.cos(angle) - b * np.sin(angle), b * np.cos(angle) + a * np.sin(angle)
    return np.stack(y, -1).reshape(x.shape) if interleaved else np.concatenate(y, -1)


def row_norm(v, at, x, epsilon=1e-5):
    return normalized(x, -1, epsilon) * v[at + "gamma"] + v[at + "beta"]


def forward_part(v, x):
    return dense(v, "outer.", np.maximum(dense(v, "inner.", x), 0))


def encoder(v, x, norm_first, mask=None):
    if norm_first:
        x = x + many_heads(v, row_norm(v, "norm1.", x), at="attention.", mask=mask)
        return x + forward_part(v, row_norm(v, "norm2.", x))
    x = row_norm(v, "norm1.", x + many_heads(v, x, at="attention.", mask=mask))
    return row_norm(v, "norm2.", x + forward_part(v, x))
