"""Reductions, ops of networks and random numbers behind names of the table."""

from __future__ import annotations

import secrets
from typing import Any, NamedTuple

import weft as wf
from weft import _arguments, _weft
from weft._trees import is_listed

from ._elements import sizes, sizes_of


def top_k(x: Any, k: int, dtype: Any) -> Any:
    """The k largest along the last axis, and where they are."""
    values, indices = wf.top_k(x, k)
    return TopKV2(values, wf.cast(indices, dtype))


class TopKV2(NamedTuple):
    """What `tf.math.top_k` gives."""

    values: Any
    indices: Any


def spatial(name: str, sizes: Any) -> Any:
    """The entries of a list that are of the axes between batch and channels."""
    if not is_listed(sizes) or len(sizes) < 3:
        return sizes
    if sizes[0] != 1 or sizes[-1] != 1:
        raise _weft.ValueError(f"{name}: {sizes!r} is not 1 for batch and channels")
    return sizes[1:-1]


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: Any, scale: Any, epsilon: Any
) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset."""
    factor = wf.rsqrt(wf.add(variance, epsilon))
    made = wf.subtract(x, mean) * (factor if scale is None else factor * scale)
    return made if offset is None else made + offset


def _picture(function: str, x: Any) -> Any:
    """Pictures of a batch. Throws ShapeError for what is of another rank."""
    tensor = _arguments.tensor(function, x, "input")
    if tensor.ndim != 4:
        raise _weft.ShapeError(
            f"{function}: input has the shape {tuple(tensor.shape)}: a batch of pictures with channels is wanted"
        )
    return tensor


def space_to_depth(x: Any, block: int) -> Any:
    """Blocks of pixels as channels of one."""
    count, height, width, channels = _picture("space_to_depth", x).shape
    rows, columns = height // block, width // block
    cells = wf.reshape(x, [count, rows, block, columns, block, channels])
    moved = wf.transpose(cells, [0, 1, 3, 2, 4, 5])
    return wf.reshape(moved, [count, rows, columns, block * block * channels])


def depth_to_space(x: Any, block: int) -> Any:
    """Channels of a pixel as a block of pixels."""
    count, height, width, channels = _picture("depth_to_space", x).shape
    left = channels // (block * block)
    cells = wf.reshape(x, [count, height, width, block, block, left])
    moved = wf.transpose(cells, [0, 1, 3, 2, 4, 5])
    return wf.reshape(moved, [count, height * block, width * block, left])


def logistic_cross_entropy(labels: Any, logits: Any, weight: Any) -> Any:
    """-log of the probability of each label by itself, times a weight for those that hold."""
    factor = 1 + (wf.subtract(weight, 1)) * labels
    rest = wf.log1p(wf.exp(-wf.abs(logits))) + wf.maximum(wf.negate(logits), 0)
    return wf.subtract(1, labels) * logits + factor * rest


# Random numbers.


def uniform(shape: Any, low: Any, high: Any, dtype: Any, seed: int | None) -> Any:
    """Numbers from low up to high, which is 1 for floating ones."""
    kind = wf.dtype(dtype)
    if kind.is_integer:
        if high is None:
            raise _weft.ValueError("uniform: integers want a maxval")
        return wf.random.randint(sizes(shape), int(low), int(high), dtype=kind, seed=seed)
    top = 1.0 if high is None else float(high)
    return wf.random.uniform(sizes(shape), float(low), top, dtype=kind, seed=seed)


def _drawn(draw: Any, of: Any, shape: Any, seed: int | None, behind: bool) -> Any:
    """Of a distribution of one parameter, whose shape stands behind the one given, or broadcasts to it."""
    own = sizes(shape)
    wanted = (*own, *of.shape) if behind else own
    return draw(of, shape=wanted, key=None if seed is None else wf.random.key(seed))


def gamma(shape: Any, alpha: Any, beta: Any, dtype: Any, seed: int | None, behind: bool = True) -> Any:
    """Numbers of gamma distributions with the rates beta."""
    rates: Any = wf.asarray(1 if beta is None else beta, dtype=dtype)
    shapes, both = wf.broadcast_arrays(wf.asarray(alpha, dtype=dtype), rates)
    return _drawn(wf.random.gamma, shapes, shape, seed, behind) / both


def poisson(shape: Any, lam: Any, dtype: Any, seed: int | None, behind: bool = True) -> Any:
    """Counts of Poisson distributions."""
    rates: Any = wf.asarray(lam)
    of = rates if rates.dtype.is_floating else wf.cast(rates, "float32")
    return wf.cast(_drawn(wf.random.poisson, of, shape, seed, behind), dtype)


def shuffle(x: Any, seed: int | None) -> Any:
    """The slices along the first axis in a random order."""
    tensor = _arguments.tensor("shuffle", x, "value")
    if tensor.ndim == 0:
        raise _weft.ShapeError("shuffle: value is a scalar: a tensor with axes is wanted")
    return wf.gather(tensor, wf.random.permutation(tensor.shape[0], seed=seed), 0)


def joined(seed: Any) -> int:
    """The two numbers of a stateless op as one."""
    given: Any = sizes_of(seed)
    if not hasattr(given, "__len__") or len(given) != 2:
        raise _weft.ValueError(f"seed is {seed!r}: two integers are wanted")
    first, second = map(int, given)
    return ((first & 0x7FFFFFFF) << 32) ^ (second & 0xFFFFFFFF)


def categorical(logits: Any, count: Any, dtype: Any, seed: int | None) -> Any:
    """So many classes for each row of logits, drawn by their probabilities."""
    rows: Any = wf.asarray(logits)
    shape = [rows.shape[0], int(sizes_of(count)), rows.shape[1]]
    drawn = wf.random.uniform(shape, 2.0**-24, 1.0, dtype=rows.dtype, seed=seed)
    noise = wf.negate(wf.log(wf.negate(wf.log(drawn))))  # Gumbel's, whose largest sum is the draw
    return wf.cast(wf.argmax(rows[:, None] + noise, -1), dtype or "int64")


def dropout(x: Any, rate: Any, noise_shape: Any, seed: int | None) -> Any:
    """The elements with zeros in the places of some, and the others grown to keep the sum."""
    if not 0 <= float(rate) < 1:
        raise _weft.ValueError(f"dropout: rate is {rate}: it is at least 0 and below 1")
    tensor: Any = wf.asarray(x)
    shape = tensor.shape if noise_shape is None else sizes_of(noise_shape)
    if rate == 0:
        return tensor
    drawn = wf.random.uniform(
        [tensor.shape[i] if n is None else n for i, n in enumerate(shape)], seed=seed
    )
    return wf.select(wf.greater_equal(drawn, rate), tensor / (1 - rate), wf.zeros_like(tensor))


def own_generator() -> wf.random.Generator:
    """A stream of random numbers that no other run of the program has."""
    return wf.random.Generator(secrets.randbits(62))


_global: list[wf.random.Generator] = []


def global_generator() -> wf.random.Generator:
    """One stream for all of the program."""
    if not _global:
        _global.append(own_generator())
    return _global[0]
