"""Functions, first values and losses of Keras, by their names and as functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import weft as wf
from weft import _weft, initializers
from weft._arguments import shown

__all__ = [
    "categorical",
    "get",
    "identity",
    "initializer",
    "keras_initializer",
    "leaky_relu",
    "loss_of",
    "relu",
    "seeded",
    "variance_scaling",
]


def relu(x: Any, negative_slope: float, max_value: float | None, threshold: float) -> Any:
    """What is above a threshold, up to a largest value; below it, a slope."""
    kept = wf.relu(x) if not threshold else wf.select(wf.greater(x, threshold), x, 0.0)
    if max_value is not None:
        kept = wf.select(wf.greater_equal(kept, max_value), max_value, kept)
    if negative_slope:
        kept = kept - negative_slope * wf.relu(wf.subtract(threshold, x))
    return kept


def leaky_relu(x: Any, slope: float) -> Any:
    """x where it is positive, else x times a slope, which is the derivative at 0 too."""
    return wf.select(wf.greater(x, 0), x, wf.multiply(x, slope))


def get(activation: Any) -> Callable[..., Any]:
    """The activation of a name, or a function itself; None is the identity."""
    from weft import tf

    if callable(activation):
        return activation
    return _named(
        tf.keras.activations, "linear" if activation is None else activation, "activation"
    )


def _named(module: Any, name: Any, kind: str) -> Any:
    if not isinstance(name, str) or name.startswith("_"):
        raise _weft.ValueError(f"{shown(name)} is no {kind}: its name is wanted, or a function")
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise _weft.ValueError(f"there is no {kind} {name!r}: {error}") from None


# First values.


def initializer(of: Any) -> Any:
    """The initializer of a name, or one itself."""
    return _weft.internal_initializer_by_name("get", of) if isinstance(of, str) else of


def keras_initializer(name: str) -> Any:
    """That of a name of Keras, "random_normal" or "RandomNormal", with its defaults; None if there is none."""
    from weft import tf

    words = [name] if name[:1].isupper() else [word.capitalize() for word in name.split("_")]
    found = "".join(words)
    if found not in dir(tf.keras.initializers):
        return None
    # Layers that know it by its name do not hold it.
    return _drawn_by_name.setdefault(found, getattr(tf.keras.initializers, found)())


_drawn_by_name: dict[str, Any] = {}


def identity(gain: float) -> Any:
    """A matrix with a number on its diagonal and zeros elsewhere."""

    def drawn(shape: Any, dtype: Any = "float32") -> Any:
        sizes = tuple(int(n) for n in shape)
        if len(sizes) != 2:
            raise _weft.ShapeError(f"Identity: the shape is {sizes}: that of a matrix is wanted")
        diagonal = wf.equal(wf.arange(sizes[0])[:, None], wf.arange(sizes[1]))
        return wf.cast(gain * wf.cast(diagonal, "float64"), dtype)

    return drawn


def seeded(draw: Any, seed: int | None) -> Any:
    """An initializer that always draws the same numbers, if there is a seed."""
    if seed is None:
        return draw

    def drawn(shape: Any, dtype: Any = "float32") -> Any:
        return draw(tuple(int(n) for n in shape), dtype, seed)

    return drawn


def variance_scaling(scale: float, mode: str, distribution: str, seed: int | None) -> Any:
    """Numbers of variance scale / n, where n counts inputs, outputs, or is their mean."""
    if mode not in ("fan_in", "fan_out", "fan_avg"):
        raise _weft.ValueError(
            f"VarianceScaling: mode is {mode!r}: 'fan_in', 'fan_out' or 'fan_avg'"
        )

    def uniform(deviation: float) -> Any:
        return initializers.uniform(-deviation * 3**0.5, deviation * 3**0.5)

    def truncated(deviation: float) -> Any:
        return initializers.truncated_normal(deviation / 0.87962566103423978)

    kinds: dict[str, Callable[[float], Any]] = {
        "uniform": uniform,
        "truncated_normal": truncated,
        "untruncated_normal": initializers.normal,
    }
    kind = kinds.get("truncated_normal" if distribution == "normal" else distribution)
    if kind is None:
        raise _weft.ValueError(
            f"VarianceScaling: distribution is {distribution!r}: {', '.join(kinds)}"
        )

    def drawn(shape: Any, dtype: Any = "float32") -> Any:
        sizes = tuple(int(n) for n in shape)
        field = 1
        for n in sizes[:-2]:
            field *= n
        inputs = field * (sizes[-2] if len(sizes) > 1 else sizes[0] if sizes else 1)
        outputs = field * (sizes[-1] if sizes else 1)
        fan = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[mode]
        return seeded(kind((scale / max(1.0, fan)) ** 0.5), seed)(sizes, dtype)

    return drawn


# Losses.


def loss_of(name: Any) -> Any:
    """The loss of a name, 'mse' or 'MeanSquaredError' for example, or one itself."""
    from weft import tf

    if not isinstance(name, str):
        return name
    found = _named(tf.keras.losses, name, "loss")
    return found() if isinstance(found, type) else found


def mean_relative_error(targets: Any, predictions: Any) -> Any:
    """The mean of the differences over the targets, in percent, of each sample."""
    y: Any = wf.asarray(targets)
    share = wf.abs(y - predictions) / wf.maximum(wf.abs(y), 1e-7)
    return 100 * wf.mean(share, -1)


def mean_squared_log_error(targets: Any, predictions: Any) -> Any:
    """The mean of the squared differences of log(x + 1), of each sample."""
    first = wf.log(wf.maximum(targets, 1e-7) + 1)
    return wf.mean(wf.square(first - wf.log(wf.maximum(predictions, 1e-7) + 1)), -1)


class MeanAbsolutePercentageError(wf.losses.Loss):
    """The mean of the differences over the targets, in percent."""

    def call(self, targets: Any, predictions: Any) -> Any:
        return mean_relative_error(targets, predictions)


class MeanSquaredLogarithmicError(wf.losses.Loss):
    """The mean of the squared differences of log(x + 1)."""

    def call(self, targets: Any, predictions: Any) -> Any:
        return mean_squared_log_error(targets, predictions)


class Reduction:
    """How a loss becomes one number."""

    NONE = "none"
    SUM = "sum"
    SUM_OVER_BATCH_SIZE = "mean"
    AUTO = "mean"


def categorical(labels: Any, classes: int | None) -> Any:
    """Labels as vectors with a one in the place of each, as an array of NumPy."""
    import numpy as np

    numbers = np.asarray(labels).astype(np.int64)
    if numbers.ndim > 1 and numbers.shape[-1] == 1:
        numbers = numbers[..., 0]
    return np.eye(int(classes or numbers.max() + 1), dtype=np.float32)[numbers]
