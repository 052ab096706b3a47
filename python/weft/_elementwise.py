"""Functions of each element by itself that are made of ops, with NumPy's names and arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments

if TYPE_CHECKING:
    from weft._weft import Tensor, TensorLike

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "clip", "copysign", "cosh", "deg2rad",
    "exp2", "floor_divide", "hypot", "isfinite", "isinf", "isnan", "log10", "log2", "logaddexp", "nan_to_num",
    "rad2deg", "reciprocal", "round", "sinh", "tan", "trunc",
]  # fmt: skip


def _floating(name: str, x: Any, argument: str = "x") -> Any:
    """A floating tensor of an argument, float32 of integers."""
    tensor = _arguments.tensor(name, x, argument)
    return tensor if tensor.dtype.is_floating else _weft.cast(tensor, "float32")


def _pair(name: str, **pair: Any) -> list[Any]:
    """Two floating tensors of one dtype: a number of Python takes that of the other."""
    operands = _arguments.operands(name, **pair)
    wide = "float64" if any(t.dtype == "float64" for t in operands) else "float32"
    return [_weft.cast(t, wide) for t in operands]


# Limits, whole numbers, what is no number.


@_arguments.as_numpy
def clip(x: TensorLike, min: TensorLike | None = None, max: TensorLike | None = None) -> Tensor:
    """Each element, but at least min and at most max; None is no limit.

    >>> wf.clip([1, 5, 9], 2, 6)
    tensor([2, 5, 6], shape=(3,), dtype=int32)

    Raises:
        ShapeError: if the shapes do not broadcast
        DTypeError: if x is of bools
    """
    limits = {name: limit for name, limit in (("min", min), ("max", max)) if limit is not None}
    kept, *ends = _arguments.operands("clip", x=x, **limits)
    for name, end in zip(limits, ends, strict=True):
        kept = _weft.maximum(kept, end) if name == "min" else _weft.minimum(kept, end)
    return kept


@_arguments.as_numpy
def round(x: TensorLike, decimals: int = 0) -> Tensor:
    """The nearest number of so many decimals, of two the one whose last digit is even. Has a gradient
    of 0.

    >>> wf.round([0.5, 1.5, -0.4])
    tensor([ 0.,  2., -0.], shape=(3,), dtype=float32)
    >>> wf.round(3.14159, 2)
    tensor(3.14, shape=(), dtype=float32)
    """
    tensor = _arguments.tensor("round", x)
    digits = _arguments.integer("round: decimals", decimals)
    if not tensor.dtype.is_floating:
        if digits >= 0 or tensor.dtype.is_bool:
            return tensor
        tens = 10**-digits
        wide = _half_even(_weft.divide(_weft.cast(tensor, "float64"), float(tens)))
        return _weft.cast(_weft.multiply(wide, float(tens)), tensor.dtype)
    if digits == 0:
        return _half_even(tensor)
    if digits > 0:
        return _weft.divide(_half_even(_weft.multiply(tensor, 10.0**digits)), 10.0**digits)
    return _weft.multiply(_half_even(_weft.divide(tensor, 10.0**-digits)), 10.0**-digits)


def _half_even(x: Any) -> Any:
    low = _weft.floor(x)
    over = _weft.subtract(x, low)
    odd = _weft.equal(_weft.remainder(low, 2), 1)
    half = _weft.logical_and(_weft.equal(over, 0.5), odd)
    up = _weft.logical_or(_weft.greater(over, 0.5), half)
    whole = _weft.select(up, _weft.add(low, 1), low)
    zero = _weft.multiply(_weft.stop_gradient(x), 0)
    return _weft.select(_weft.equal(whole, 0), zero, whole)  # which keeps the sign of a zero


@_arguments.as_numpy
def trunc(x: TensorLike) -> Tensor:
    """The whole number next to x on the side of 0. Has a gradient of 0.

    >>> wf.trunc([1.7, -1.7])
    tensor([ 1., -1.], shape=(2,), dtype=float32)
    """
    tensor = _arguments.tensor("trunc", x)
    if not tensor.dtype.is_floating:
        return tensor
    return _weft.select(_weft.less(tensor, 0), _weft.ceil(tensor), _weft.floor(tensor))


@_arguments.as_numpy
def isnan(x: TensorLike) -> Tensor:
    """Whether each element is NaN.

    >>> wf.isnan([1.0, float("nan"), float("inf")])
    tensor([False,  True, False], shape=(3,), dtype=bool)
    """
    tensor = _arguments.tensor("isnan", x)
    return _weft.not_equal(tensor, tensor)


@_arguments.as_numpy
def isinf(x: TensorLike) -> Tensor:
    """Whether each element is infinite, of either sign.

    >>> wf.isinf([1.0, float("nan"), float("-inf")])
    tensor([False, False,  True], shape=(3,), dtype=bool)
    """
    tensor = _arguments.tensor("isinf", x)
    if not tensor.dtype.is_floating:
        return _weft.not_equal(tensor, tensor)
    return _weft.equal(_weft.abs(tensor), math.inf)


@_arguments.as_numpy
def isfinite(x: TensorLike) -> Tensor:
    """Whether each element is neither infinite nor NaN.

    >>> wf.isfinite([1.0, float("nan"), float("inf")])
    tensor([ True, False, False], shape=(3,), dtype=bool)
    """
    tensor = _arguments.tensor("isfinite", x)
    if not tensor.dtype.is_floating:
        return _weft.equal(tensor, tensor)
    return _weft.less(_weft.abs(tensor), math.inf)


@_arguments.as_numpy
def nan_to_num(
    x: TensorLike, *, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Each element, but numbers in the places of NaN and of infinity: 0, and the largest and smallest
    of the dtype unless others are given.

    >>> wf.nan_to_num([1.0, float("nan"), float("inf")], posinf=9.0)
    tensor([1., 0., 9.], shape=(3,), dtype=float32)
    """
    tensor = _arguments.tensor("nan_to_num", x)
    if not tensor.dtype.is_floating:
        return tensor
    most = 1.7976931348623157e308 if tensor.dtype == "float64" else 3.4028234663852886e38
    kept = _weft.select(_weft.not_equal(tensor, tensor), nan, tensor)
    kept = _weft.select(_weft.equal(kept, math.inf), most if posinf is None else posinf, kept)
    return _weft.select(_weft.equal(kept, -math.inf), -most if neginf is None else neginf, kept)


# Quotients, logarithms, powers.


@_arguments.as_numpy
def floor_divide(x: TensorLike, y: TensorLike) -> Tensor:
    """The quotient, rounded down: x // y.

    >>> wf.floor_divide([7, -7], 2)
    tensor([ 3, -4], shape=(2,), dtype=int32)

    Raises:
        ShapeError: if the shapes do not broadcast
        DTypeError: if both are of bools
    """
    over, by = _arguments.operands("floor_divide", x=x, y=y)
    return over // by


@_arguments.as_numpy
def reciprocal(x: TensorLike) -> Tensor:
    """1 / x, in float32 of integers.

    >>> wf.reciprocal([2.0, 4.0])
    tensor([0.5 , 0.25], shape=(2,), dtype=float32)
    """
    return _weft.divide(1, _floating("reciprocal", x))


@_arguments.as_numpy
def log2(x: TensorLike) -> Tensor:
    """The logarithm to base 2.

    >>> wf.log2([1.0, 8.0])
    tensor([0., 3.], shape=(2,), dtype=float32)
    """
    return _weft.divide(_weft.log(_floating("log2", x)), math.log(2))


@_arguments.as_numpy
def log10(x: TensorLike) -> Tensor:
    """The logarithm to base 10.

    >>> wf.log10([1.0, 100.0])
    tensor([0., 2.], shape=(2,), dtype=float32)
    """
    return _weft.divide(_weft.log(_floating("log10", x)), math.log(10))


@_arguments.as_numpy
def exp2(x: TensorLike) -> Tensor:
    """2 to the power of x.

    >>> wf.exp2([3.0, -1.0])
    tensor([8. , 0.5], shape=(2,), dtype=float32)
    """
    return _weft.power(2, _floating("exp2", x))


@_arguments.as_numpy
def logaddexp(x: TensorLike, y: TensorLike) -> Tensor:
    """log(exp(x) + exp(y)), without overflow.

    >>> wf.logaddexp(1000.0, 1000.0)
    tensor(1000.6932, shape=(), dtype=float32)

    Raises:
        ShapeError: if the shapes do not broadcast
    """
    a, b = _pair("logaddexp", x=x, y=y)
    most = _weft.maximum(a, b)
    # Of infinite numbers that are the same, the difference is 0.
    away = _weft.select(_weft.equal(a, b), 0, _weft.abs(_weft.subtract(a, b)))
    return _weft.add(most, _weft.log1p(_weft.exp(_weft.negate(away))))


@_arguments.as_numpy
def hypot(x: TensorLike, y: TensorLike) -> Tensor:
    """sqrt(x² + y²), without overflow; infinite where one is, also beside NaN. Its gradient is 0 where
    both are.

    >>> wf.hypot(3.0, 4.0)
    tensor(5.0, shape=(), dtype=float32)

    Raises:
        ShapeError: if the shapes do not broadcast
    """
    first, second = (_weft.abs(t) for t in _pair("hypot", x=x, y=y))
    a, b = _beside_infinity(first, second), _beside_infinity(second, first)
    most = _weft.stop_gradient(_weft.maximum(a, b))
    plain = _weft.logical_or(_weft.equal(most, 0), _weft.equal(most, math.inf))
    unit = _weft.select(plain, 1, most)
    squares = _weft.add(_weft.square(_weft.divide(a, unit)), _weft.square(_weft.divide(b, unit)))
    length = _weft.multiply(unit, _weft.sqrt(_weft.select(plain, 1, squares)))
    return _weft.select(plain, _weft.maximum(a, b), length)


def _beside_infinity(x: Any, other: Any) -> Any:
    """0 in the places of NaN where the other is infinite."""
    unknown = _weft.logical_and(_weft.not_equal(x, x), _weft.equal(other, math.inf))
    return _weft.select(unknown, 0, x)


@_arguments.as_numpy
def cbrt(x: TensorLike) -> Tensor:
    """The cube root, of negative numbers too.

    >>> wf.cbrt([8.0, -1.0])
    tensor([ 2., -1.], shape=(2,), dtype=float32)
    """
    tensor = _floating("cbrt", x)
    below = _negative(tensor)  # so that -0.0 gives itself
    size = _weft.select(below, _weft.negate(tensor), tensor)
    near = _weft.power(size, 1 / 3)
    # A step of Newton's: 1/3 is no number of the dtype, and the error of that grows with log(x).
    plain = _weft.logical_or(_weft.equal(size, 0), _weft.equal(size, math.inf))
    known = _weft.select(plain, 1, near)
    excess = _weft.subtract(known, _weft.divide(size, _weft.square(known)))
    root = _weft.select(plain, near, _weft.subtract(known, _weft.divide(excess, 3)))
    return _weft.select(below, _weft.negate(root), root)


@_arguments.as_numpy
def copysign(x: TensorLike, y: TensorLike) -> Tensor:
    """The size of x with the sign of y, which zeros have as well.

    >>> wf.copysign([1.0, -2.0], -0.0)
    tensor([-1., -2.], shape=(2,), dtype=float32)

    Raises:
        ShapeError: if the shapes do not broadcast
    """
    first, second = _pair("copysign", x=x, y=y)
    size = _weft.abs(first)
    return _weft.select(_negative(second), _weft.negate(size), size)


# Angles.


@_arguments.as_numpy
def deg2rad(x: TensorLike) -> Tensor:
    """Degrees in radians.

    >>> wf.deg2rad(180.0)
    tensor(3.1415927, shape=(), dtype=float32)
    """
    return _weft.multiply(_floating("deg2rad", x), math.pi / 180)


@_arguments.as_numpy
def rad2deg(x: TensorLike) -> Tensor:
    """Radians in degrees.

    >>> wf.rad2deg(wf.pi)
    tensor(180.0, shape=(), dtype=float32)
    """
    return _weft.multiply(_floating("rad2deg", x), 180 / math.pi)


@_arguments.as_numpy
def tan(x: TensorLike) -> Tensor:
    """The tangent of an angle.

    >>> wf.tan(0.0)
    tensor(0.0, shape=(), dtype=float32)
    """
    angle = _floating("tan", x)
    return _weft.divide(_weft.sin(angle), _weft.cos(angle))


@_arguments.as_numpy
def atan(x: TensorLike) -> Tensor:
    """The angle between -pi / 2 and pi / 2 whose tangent is x.

    >>> wf.atan([0.0, 1.0])
    tensor([0.       , 0.7853982], shape=(2,), dtype=float32)
    """
    tensor = _floating("atan", x)
    below = _negative(tensor)  # so that -0.0 gives itself
    size = _weft.select(below, _weft.negate(tensor), tensor)
    steep = _weft.greater(size, 1)
    angle = _small_angle(_weft.select(steep, _weft.divide(1, _weft.select(steep, size, 1)), size))
    angle = _weft.select(steep, _weft.subtract(math.pi / 2, angle), angle)
    return _weft.select(below, _weft.negate(angle), angle)


def _small_angle(x: Any) -> Any:
    """The arc tangent of numbers from 0 to 1, by that of the difference to an angle nearby.

    For any angle a, atan(x) = a + atan((x cos a - sin a) / (cos a + x sin a)). A rational function
    gives one that is within 0.005, so that the series of what is left ends after three terms in
    either dtype; as this holds for all x around, derivatives are as exact.
    """
    near = _weft.stop_gradient(_weft.divide(x, _weft.add(1, _weft.multiply(0.28125, _weft.square(x)))))
    cosine, sine = _weft.cos(near), _weft.sin(near)
    rest = _weft.divide(
        _weft.subtract(_weft.multiply(x, cosine), sine), _weft.add(cosine, _weft.multiply(x, sine))
    )
    square = _weft.square(rest)
    series = _weft.subtract(1, _weft.multiply(square, _weft.subtract(1 / 3, _weft.divide(square, 5))))
    return _weft.add(near, _weft.multiply(rest, series))


@_arguments.as_numpy
def asin(x: TensorLike) -> Tensor:
    """The angle between -pi / 2 and pi / 2 whose sine is x; NaN beyond -1 and 1.

    >>> wf.asin([0.0, 1.0])
    tensor([0.       , 1.5707964], shape=(2,), dtype=float32)
    """
    tensor = _floating("asin", x)
    cosine = _weft.sqrt(_weft.multiply(_weft.subtract(1, tensor), _weft.add(1, tensor)))
    return atan(_weft.divide(tensor, cosine))


@_arguments.as_numpy
def acos(x: TensorLike) -> Tensor:
    """The angle between 0 and pi whose cosine is x; NaN beyond -1 and 1.

    >>> wf.acos([1.0, 0.0])
    tensor([0.       , 1.5707964], shape=(2,), dtype=float32)
    """
    tensor = _floating("acos", x)
    half = atan(_weft.sqrt(_weft.divide(_weft.subtract(1, tensor), _weft.add(1, tensor))))
    return _weft.multiply(half, 2)


@_arguments.as_numpy
def atan2(y: TensorLike, x: TensorLike) -> Tensor:
    """The angle between -pi and pi of the point (x, y), from the x axis on.

    >>> wf.atan2([1.0, -1.0], -1.0)
    tensor([ 2.3561945, -2.3561945], shape=(2,), dtype=float32)

    Raises:
        ShapeError: if the shapes do not broadcast
    """
    up, right = _pair("atan2", y=y, x=x)
    height, width = _weft.abs(up), _weft.abs(right)
    steep = _weft.greater(height, width)
    less, more = _weft.select(steep, width, height), _weft.select(steep, height, width)
    both_zero = _weft.equal(_weft.add(height, width), 0)
    both_infinite = _weft.logical_and(_weft.equal(height, math.inf), _weft.equal(width, math.inf))
    ratio = _weft.divide(less, _weft.select(_weft.logical_or(both_zero, both_infinite), 1, more))
    angle = _small_angle(_weft.select(both_infinite, 1, ratio))
    angle = _weft.select(steep, _weft.subtract(math.pi / 2, angle), angle)
    angle = _weft.select(_negative(right), _weft.subtract(math.pi, angle), angle)
    return _weft.select(_negative(up), _weft.negate(angle), angle)


def _negative(x: Any) -> Any:
    """Whether elements are below 0, or a zero that is."""
    zero = _weft.equal(x, 0)
    below = _weft.divide(1, _weft.select(zero, x, 1))
    return _weft.logical_or(_weft.less(x, 0), _weft.less(_weft.stop_gradient(below), 0))


# Hyperbolic functions.


def _half_sinh(x: Any) -> Any:
    """sinh(x / 2), which does not overflow where sinh(x) does not."""
    half = _weft.divide(x, 2)
    return _weft.divide(_weft.subtract(_weft.expm1(half), _weft.expm1(_weft.negate(half))), 2)


@_arguments.as_numpy
def sinh(x: TensorLike) -> Tensor:
    """The hyperbolic sine, (exp(x) - exp(-x)) / 2.

    >>> wf.sinh([0.0, 1.0])
    tensor([0.      , 1.175201], shape=(2,), dtype=float32)
    """
    tensor = _floating("sinh", x)
    half = _weft.divide(tensor, 2)
    cosine = _weft.add(_weft.exp(half), _weft.exp(_weft.negate(half)))  # twice cosh(x / 2)
    return _weft.multiply(_half_sinh(tensor), cosine)


@_arguments.as_numpy
def cosh(x: TensorLike) -> Tensor:
    """The hyperbolic cosine, (exp(x) + exp(-x)) / 2.

    >>> wf.cosh([0.0, 1.0])
    tensor([1.       , 1.5430806], shape=(2,), dtype=float32)
    """
    sine = _half_sinh(_floating("cosh", x))
    return _weft.add(1, _weft.multiply(_weft.multiply(2, sine), sine))


@_arguments.as_numpy
def asinh(x: TensorLike) -> Tensor:
    """The number whose hyperbolic sine is x.

    >>> wf.asinh([0.0, 1.0])
    tensor([0.       , 0.8813736], shape=(2,), dtype=float32)
    """
    tensor = _floating("asinh", x)
    small = _weft.less(_weft.abs(tensor), 1)
    near = _weft.select(small, tensor, 0)
    inside = atanh(_weft.divide(near, _weft.sqrt(_weft.add(1, _weft.square(near)))))
    size = _weft.select(small, 1, _weft.abs(tensor))
    rest = _weft.log1p(_weft.sqrt(_weft.add(1, _weft.square(_weft.divide(1, size)))))
    outside = _weft.multiply(_weft.sign(tensor), _weft.add(_weft.log(size), rest))
    return _weft.select(small, inside, outside)


@_arguments.as_numpy
def acosh(x: TensorLike) -> Tensor:
    """The number from 0 on whose hyperbolic cosine is x; NaN below 1.

    >>> wf.acosh([1.0, 2.0])
    tensor([0.      , 1.316958], shape=(2,), dtype=float32)
    """
    tensor = _floating("acosh", x)
    large = _weft.greater(tensor, 2)
    near = _weft.subtract(_weft.select(large, 2, tensor), 1)
    root = _weft.multiply(_weft.sqrt(near), _weft.sqrt(_weft.add(near, 2)))
    inside = _weft.log1p(_weft.add(near, root))
    far = _weft.select(large, tensor, 2)
    unit = _weft.sqrt(_weft.subtract(1, _weft.square(_weft.divide(1, far))))
    return _weft.select(large, _weft.add(_weft.log(far), _weft.log1p(unit)), inside)


@_arguments.as_numpy
def atanh(x: TensorLike) -> Tensor:
    """The number whose hyperbolic tangent is x; NaN beyond -1 and 1.

    >>> wf.atanh([0.0, 0.5])
    tensor([0.        , 0.54930615], shape=(2,), dtype=float32)
    """
    tensor = _floating("atanh", x)
    difference = _weft.subtract(_weft.log1p(tensor), _weft.log1p(_weft.negate(tensor)))
    return _weft.divide(difference, 2)
