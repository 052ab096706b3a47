"""Layers of Keras that compute without variables, or by other layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import weft as wf
from weft import _weft
from weft._arguments import options
from weft._signatures import init_of

from . import _elements, _functions, _more, _networks
from ._keras import Layer


def _keeping(parameters: str) -> Any:
    """An `__init__` of these parameters, whose values are attributes under their names, and of the
    options of all layers. What has a `seed` has a stream of random numbers."""

    def start(self: Any, values: dict[str, Any]) -> None:
        Layer.__init__(self, **values.pop("options"))
        if "seed" in values:
            self._generator = generator(values.pop("seed"))
        for name, value in values.items():
            setattr(self, name, value)

    return init_of(f"{parameters}, **options", start)


class Activation(Layer):
    """A function of its input, by name or itself."""

    @options
    def __init__(self, activation: Any, **options: Any) -> None:
        super().__init__(**options)
        self.activation = _functions.get(activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)


class ReLU(Layer):
    """What is above a threshold, up to a largest value; below it, a slope."""

    __init__ = _keeping("max_value: float | None = None, negative_slope: float = 0.0, threshold: float = 0.0")

    def call(self, inputs: Any) -> Any:
        return _functions.relu(inputs, self.negative_slope, self.max_value, self.threshold)


class LeakyReLU(Layer):
    """x where it is positive, else x times a slope."""

    __init__ = _keeping("negative_slope: float = 0.3")

    def call(self, inputs: Any) -> Any:
        return _functions.leaky_relu(inputs, self.negative_slope)


class PReLU(Layer):
    """x where it is positive, else x times a slope that is learnt, one for each feature."""

    __init__ = _keeping("alpha_initializer: Any = 'zeros'")

    def build(self, input_shape: Any, dtype: Any = "float32") -> None:
        self.alpha = self.add_weight(input_shape[1:], self.alpha_initializer, dtype, name="alpha")

    def call(self, inputs: Any) -> Any:
        return wf.relu(inputs) - self.alpha * wf.relu(wf.negate(inputs))


class ELU(Layer):
    """x where it is positive, else alpha (exp(x) - 1)."""

    __init__ = _keeping("alpha: float = 1.0")

    def call(self, inputs: Any) -> Any:
        low = wf.multiply(wf.expm1(wf.minimum(inputs, 0.0)), self.alpha)
        return wf.select(wf.greater(inputs, 0), inputs, low)


class Softmax(Layer):
    """Probabilities along an axis."""

    __init__ = _keeping("axis: int = -1")

    def call(self, inputs: Any) -> Any:
        return wf.nn.softmax(inputs, self.axis)


class Identity(Layer):
    """Its input."""

    def call(self, inputs: Any) -> Any:
        return inputs


class Lambda(Layer):
    """A function of its input."""

    __init__ = _keeping("function: Any")

    def call(self, inputs: Any) -> Any:
        return self.function(inputs)


class Rescaling(Layer):
    """x scale + offset."""

    __init__ = _keeping("scale: Any, offset: Any = 0.0")

    def call(self, inputs: Any) -> Any:
        return wf.cast(inputs, "float32") * self.scale + self.offset


class Normalization(Layer):
    """(x - mean) / sqrt(variance), of numbers that are given or that `adapt` measures."""

    @options
    def __init__(
        self, axis: int | None = -1, mean: Any = None, variance: Any = None, **options: Any
    ) -> None:
        super().__init__(**options)
        self._axis = axis
        self._moments = None if mean is None or variance is None else (mean, variance)

    def adapt(self, data: Any) -> None:
        """Measures mean and variance of data, for each entry of the axis."""
        x: Any = wf.asarray(data, "float32")
        kept = None if self._axis is None else self._axis % x.ndim
        axes = [i for i in range(x.ndim) if i != kept]
        self._moments = (wf.mean(x, axes), wf.var(x, axes))

    def call(self, inputs: Any) -> Any:
        if self._moments is None:
            raise _weft.StateError(
                "Normalization: it has no mean and variance yet: call adapt(data)"
            )
        mean, variance = self._moments
        return wf.subtract(inputs, mean) / wf.maximum(wf.sqrt(wf.asarray(variance)), 1e-7)


class UnitNormalization(Layer):
    """x over its length along an axis."""

    __init__ = _keeping("axis: int = -1")

    def call(self, inputs: Any) -> Any:
        return _more.l2_normalize(inputs, self.axis, 1e-12)


class GaussianNoise(Layer):
    """Adds normally distributed numbers while it is trained."""

    __init__ = _keeping("stddev: float, seed: int | None = None")

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training:
            return inputs
        return inputs + self._generator.normal(wf.asarray(inputs).shape, 0.0, self.stddev)


class SpatialDropout(Layer):
    """Puts zeros in the places of some channels while it is trained, and lets the others grow."""

    __init__ = _keeping("rate: float, seed: int | None = None")

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not training or self.rate == 0:
            return inputs
        x: Any = wf.asarray(inputs)
        shape = [x.shape[0], *[1] * (x.ndim - 2), x.shape[-1]]
        kept = wf.greater_equal(self._generator.uniform(shape), self.rate)
        return wf.select(kept, x / (1 - self.rate), wf.zeros_like(x))


def generator(seed: int | None) -> Any:
    """A stream of random numbers of a layer."""
    return _networks.own_generator() if seed is None else wf.random.Generator(seed)


# Several tensors as one.


class _Merge(Layer):
    """A function of two tensors, along a list of them."""

    _pair: Callable[[Any, Any], Any]

    def call(self, inputs: Any) -> Any:
        total = inputs[0]
        for x in inputs[1:]:
            total = self._pair(total, x)
        return total


class Add(_Merge):
    """The sum of a list of tensors."""

    _pair = staticmethod(wf.add)


class Subtract(_Merge):
    """The difference of two tensors."""

    _pair = staticmethod(wf.subtract)


class Multiply(_Merge):
    """The product of a list of tensors."""

    _pair = staticmethod(wf.multiply)


class Maximum(_Merge):
    """The greatest elements of a list of tensors."""

    _pair = staticmethod(wf.maximum)


class Minimum(_Merge):
    """The least elements of a list of tensors."""

    _pair = staticmethod(wf.minimum)


class Average(Add):
    """The mean of a list of tensors."""

    def call(self, inputs: Any) -> Any:
        return super().call(inputs) / len(inputs)


class Concatenate(Layer):
    """A list of tensors along an axis."""

    __init__ = _keeping("axis: int = -1")

    def call(self, inputs: Any) -> Any:
        return wf.concatenate(list(inputs), self.axis)


# Axes.


class Permute(Layer):
    """The axes behind the batch, counted from 1, in another order."""

    @options
    def __init__(self, dims: Sequence[int], **options: Any) -> None:
        super().__init__(**options)
        self.dims = tuple(dims)

    def call(self, inputs: Any) -> Any:
        return wf.transpose(inputs, [0, *self.dims])


class RepeatVector(Layer):
    """Each vector so many times, along a new axis."""

    __init__ = _keeping("n: int")

    def call(self, inputs: Any) -> Any:
        return wf.tile(wf.expand_dims(inputs, 1), [1, self.n, 1])


class TimeDistributed(Layer):
    """A layer at each entry of the axis behind the batch."""

    __init__ = _keeping("layer: Any")

    def call(self, inputs: Any) -> Any:
        count, steps, *rest = wf.asarray(inputs).shape
        each: Any = wf.asarray(self.layer(wf.reshape(inputs, [count * steps, *rest])))
        return wf.reshape(each, [count, steps, *each.shape[1:]])


def _sides(rank: int, given: Any) -> list[tuple[int, int]]:
    """What stands before and behind each axis between batch and channels."""
    if isinstance(given, int):
        return [(given, given)] * rank
    if rank == 1:
        return [tuple(given)]
    return [(n, n) if isinstance(n, int) else tuple(n) for n in given]


class _Spatial(Layer):
    """A layer of the axes between batch and channels."""

    _rank = 2

    @options
    def __init__(self, sides: Any = 1, **options: Any) -> None:
        super().__init__(**options)
        self._given = _sides(self._rank, sides)


class ZeroPadding2D(_Spatial):
    """Zeros around pictures: so many, or for each axis, or in front and behind."""

    @options
    def __init__(self, padding: Any = 1, **options: Any) -> None:
        super().__init__(padding, **options)

    def call(self, inputs: Any) -> Any:
        return _elements.pad(inputs, [(0, 0), *self._given, (0, 0)], "CONSTANT", 0)


class ZeroPadding1D(ZeroPadding2D):
    """Zeros around sequences: so many, or in front and behind."""

    _rank = 1


class Cropping2D(_Spatial):
    """Pictures without their edges: so many, or for each axis, or in front and behind."""

    @options
    def __init__(self, cropping: Any = 0, **options: Any) -> None:
        super().__init__(cropping, **options)

    def call(self, inputs: Any) -> Any:
        x: Any = wf.asarray(inputs)
        sizes = x.shape[1:-1]
        kept = [slice(low, n - high) for n, (low, high) in zip(sizes, self._given, strict=True)]
        return x[(slice(None), *kept)]


class Cropping1D(Cropping2D):
    """Sequences without their ends: so many, or in front and behind."""

    _rank = 1

    @options
    def __init__(self, cropping: Any = 1, **options: Any) -> None:
        super().__init__(cropping, **options)


class UpSampling2D(Layer):
    """Pictures of so many times the size: 'nearest' or 'bilinear'."""

    @options
    def __init__(self, size: Any = 2, interpolation: str = "nearest", **options: Any) -> None:
        super().__init__(**options)
        self._times = (size, size) if isinstance(size, int) else tuple(size)
        self._method: Any = interpolation

    def call(self, inputs: Any) -> Any:
        _, height, width, _ = wf.asarray(inputs).shape
        size = [height * self._times[0], width * self._times[1]]
        return wf.resize_image(inputs, size, self._method)


class UpSampling1D(Layer):
    """Each step of sequences so many times."""

    __init__ = _keeping("size: int = 2")

    def call(self, inputs: Any) -> Any:
        return wf.repeat(inputs, self.size, 1)
