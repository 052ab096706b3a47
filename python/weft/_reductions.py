"""Reductions with NumPy's names and arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments
from ._elements import expand_dims, moveaxis
from ._joins import stack
from ._places import truth

if TYPE_CHECKING:
    from weft._weft import Shape, Tensor, TensorLike

__all__ = [
    "argmax", "argmin", "average", "count_nonzero", "max", "median", "min", "nanmax", "nanmean", "nanmin", "nansum",
    "percentile", "ptp", "quantile", "std", "var",
]  # fmt: skip


def _over(name: str, x: Any, axis: Any) -> list[int] | None:
    """The axes that are reduced; None for all. Errors have the name of the function, not of an op in it."""
    return None if axis is None else _arguments.axes(name, axis, x.ndim)


def not_empty(name: str, x: TensorLike, axis: Any) -> Any:
    """A tensor that has an element along the axes, which the program checks where a trace does not
    know it."""
    tensor: Any = x if isinstance(x, _weft.Tensor) else _arguments.tensor(name, x)
    shape = _weft.internal_type_of(tensor)[1] if _weft.internal_is_traced(tensor) else tensor.shape
    if 0 not in shape and None not in shape:
        return tensor
    over = range(tensor.ndim) if axis is None else _arguments.axes(name, axis, tensor.ndim)
    known = ", ".join("{}" if n is None else str(n) for n in shape)
    text = (
        f"{name}: x has the shape ({known}{',' if len(shape) == 1 else ''}): there is no element to choose "
        f"along {'its axes' if axis is None else f'axis {axis}'}"
    )
    if any(shape[i] == 0 for i in over):
        raise _weft.ShapeError(text.replace("{}", "None"))
    if sizes := [_weft.size(tensor, i) for i in over if shape[i] is None]:
        least = _weft.min(stack(sizes)) if len(sizes) > 1 else sizes[0]
        opened = [_weft.size(tensor, i) for i, n in enumerate(shape) if n is None]
        _weft.internal_check_sizes(_weft.greater(least, 0), text, opened)
    return tensor


@_arguments.as_numpy
def max(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """The largest element over the given axes, or of all; NaN where there is one. Equal ones share
    the gradient.

    >>> wf.max([[1, 5], [3, 2]], axis=0)
    tensor([3, 5], shape=(2,), dtype=int32)

    Raises:
        OutOfRangeError: if an axis is not one of x
        ShapeError: if x has no element along them
    """
    tensor = not_empty("max", x, axis)
    most = _weft.any if tensor.dtype.is_bool else _weft.max
    return most(tensor, axis, keepdims=keepdims)


@_arguments.as_numpy
def min(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """The smallest element over the given axes, or of all; NaN where there is one. Equal ones share
    the gradient.

    >>> wf.min([[1, 5], [3, 2]], axis=0)
    tensor([1, 2], shape=(2,), dtype=int32)

    Raises:
        OutOfRangeError: if an axis is not one of x
        ShapeError: if x has no element along them
    """
    tensor = not_empty("min", x, axis)
    least = _weft.all if tensor.dtype.is_bool else _weft.min
    return least(tensor, axis, keepdims=keepdims)


@_arguments.as_numpy
def argmax(x: TensorLike, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The number of the first largest element along an axis, or of all in a row, as int64; NaN counts
    as largest.

    >>> wf.argmax([[1, 3, 2], [9, 0, 9]])
    tensor(3, shape=(), dtype=int64)
    >>> wf.argmax([[1, 3, 2], [9, 0, 9]], axis=1)
    tensor([1, 0], shape=(2,), dtype=int64)

    Raises:
        OutOfRangeError: if the axis is not one of x
        ShapeError: if x has no element along it
    """
    return _arg("argmax", _arguments.tensor("argmax", x), axis, keepdims)


@_arguments.as_numpy
def argmin(x: TensorLike, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The number of the first smallest element along an axis, or of all in a row, as int64; NaN counts
    as smallest.

    >>> wf.argmin([[1, 3, 2], [9, 0, 9]], axis=1)
    tensor([0, 1], shape=(2,), dtype=int64)

    Raises:
        OutOfRangeError: if the axis is not one of x
        ShapeError: if x has no element along it
    """
    tensor = _arguments.tensor("argmin", x)
    if tensor.dtype.is_bool:
        tensor = _weft.cast(tensor, "int32")
    # -1 - x turns the order of integers around and holds the least one, which -x does not.
    turned = _weft.subtract(-1, tensor) if tensor.dtype.is_integer else _weft.negate(tensor)
    return _arg("argmin", turned, axis, keepdims)


def _arg(name: str, x: Any, axis: Any, keepdims: bool) -> Any:
    tensor = not_empty(name, x, axis)
    if tensor.dtype.is_bool:
        tensor = _weft.cast(tensor, "int32")
    if axis is not None:
        return _weft.argmax(tensor, _arguments.axis(name, axis, tensor.ndim), keepdims=keepdims)
    found = _weft.argmax(_weft.reshape(tensor, -1), 0)
    return _weft.reshape(found, [1] * tensor.ndim) if keepdims else found


@_arguments.as_numpy
def ptp(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """The largest element over the given axes, or of all, less the smallest.

    >>> wf.ptp([4, 9, 2])
    tensor(7, shape=(), dtype=int32)

    Raises:
        DTypeError: if x is of bools
        OutOfRangeError: if an axis is not one of x
        ShapeError: if x has no element along them
    """
    tensor = not_empty("ptp", x, axis)
    over = _over("ptp", tensor, axis)
    most = _weft.max(tensor, over, keepdims=keepdims)
    return _weft.subtract(most, _weft.min(tensor, over, keepdims=keepdims))


@_arguments.as_numpy
def count_nonzero(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """How many elements over the given axes, or of all, are not 0, as int64.

    >>> wf.count_nonzero([[0, 1], [2, 3]], axis=0)
    tensor([1, 2], shape=(2,), dtype=int64)

    Raises:
        OutOfRangeError: if an axis is not one of x
    """
    tensor = _arguments.tensor("count_nonzero", x)
    return _weft.sum(truth(tensor), _over("count_nonzero", tensor, axis), keepdims=keepdims)


@_arguments.as_numpy
def var(
    x: TensorLike, axis: Shape | None = None, *, ddof: float = 0, keepdims: bool = False
) -> Tensor:
    """The mean of the squared distances from the mean over the given axes, or of all elements; the
    sum of squares is divided by their number less ddof. Of integers in float32.

    >>> wf.var([1.0, 2.0, 3.0, 4.0])
    tensor(1.25, shape=(), dtype=float32)

    Raises:
        OutOfRangeError: if an axis is not one of x
    """
    return _variance("var", x, axis, ddof, keepdims)


@_arguments.as_numpy
def std(
    x: TensorLike, axis: Shape | None = None, *, ddof: float = 0, keepdims: bool = False
) -> Tensor:
    """The square root of `var`. Its gradient is 0 where the variance is.

    >>> wf.std([[1.0, 3.0], [5.0, 9.0]], axis=1)
    tensor([1., 2.], shape=(2,), dtype=float32)

    Raises:
        OutOfRangeError: if an axis is not one of x
    """
    return root(_variance("std", x, axis, ddof, keepdims))


def _variance(name: str, x: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    tensor = _arguments.tensor(name, x)
    over = _over(name, tensor, axis)
    away = _weft.subtract(tensor, _weft.mean(tensor, over, keepdims=True))
    mean = _weft.mean(_weft.square(away), over, keepdims=keepdims)
    if not (fewer := _arguments.optional_number(f"{name}: ddof", ddof)):
        return mean
    count: Any = _weft.constant(1, "int64")
    for i in range(tensor.ndim) if over is None else over:
        size = tensor.shape[i]
        count = _weft.multiply(count, _weft.size(tensor, i) if size is None else size)
    count = _weft.cast(count, mean.dtype)
    return _weft.multiply(mean, _weft.divide(count, _weft.maximum(_weft.subtract(count, fewer), 0)))


def root(squares: Any) -> Any:
    """The square root of sums of squares, with a gradient of 0 where they are 0."""
    none = _weft.equal(squares, 0)
    return _weft.select(none, squares, _weft.sqrt(_weft.select(none, 1, squares)))


@_arguments.as_numpy
def median(x: TensorLike, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """The element in the middle of the sorted ones along an axis, or of all, or the mean of two; NaN
    where there is one. Of integers in float32.

    >>> wf.median([7.0, 1.0, 3.0, 2.0])
    tensor(2.5, shape=(), dtype=float32)

    Raises:
        DTypeError: if x is of bools
        OutOfRangeError: if the axis is not one of x
        ShapeError: if x has no element along it, or a traced function does not know how many
    """
    tensor = not_empty("median", x, axis)
    rank = tensor.ndim
    if axis is None:
        flat, at = _weft.reshape(tensor, -1), 0
    else:
        flat, at = tensor, _arguments.axis("median", axis, rank)
    count = flat.shape[at]
    if count is None:
        raise _weft.ShapeError("median: how many elements there are is not known yet")
    rows = _weft.sort(flat, at)
    before = (slice(None),) * at
    middle = rows[(*before, slice((count - 1) // 2, count // 2 + 1))]
    found = _weft.mean(middle, at, keepdims=keepdims)
    if flat.dtype.is_floating:
        last = _weft.sum(rows[(*before, slice(count - 1, None))], at, keepdims=keepdims)
        found = _weft.select(_weft.not_equal(last, last), last, found)  # NaN is the largest
    return _weft.reshape(found, [1] * rank) if keepdims and axis is None else found


@_arguments.as_numpy
def quantile(
    x: TensorLike, q: TensorLike, axis: int | None = None, *, keepdims: bool = False
) -> Tensor:
    """The number that the share q of the elements along an axis, or of all, is at most, between two
    of them in proportion; of a vector of shares along a new first axis. NaN where there is one. Of
    integers in float32.

    >>> wf.quantile([1.0, 2.0, 3.0, 4.0], [0.25, 1.0])
    tensor([1.75, 4.  ], shape=(2,), dtype=float32)

    Raises:
        ValueError: unless shares are from 0 to 1
        DTypeError: if x is of bools
        OutOfRangeError: if the axis is not one of x
        ShapeError: if x has no element along it, or a traced function does not know how many
    """
    return _quantile("quantile", x, q, 1.0, axis, keepdims)


@_arguments.as_numpy
def percentile(
    x: TensorLike, q: TensorLike, axis: int | None = None, *, keepdims: bool = False
) -> Tensor:
    """As `quantile`, of shares in percent.

    >>> wf.percentile([1.0, 2.0, 3.0, 4.0], 50)
    tensor(2.5, shape=(), dtype=float32)

    Raises:
        ValueError: unless shares are from 0 to 100
        DTypeError: if x is of bools
        OutOfRangeError: if the axis is not one of x
        ShapeError: if x has no element along it, or a traced function does not know how many
    """
    return _quantile("percentile", x, q, 100.0, axis, keepdims)


def _quantile(name: str, x: Any, q: Any, whole: float, axis: Any, keepdims: bool) -> Any:
    tensor = not_empty(name, x, axis)
    at = None if axis is None else _arguments.axis(name, axis, tensor.ndim)
    asked = _arguments.tensor(name, q, "q", "float64")
    if asked.ndim > 1 or _weft.internal_is_traced(asked):
        raise _weft.ShapeError(f"{name}: q is a number, or a vector of numbers that are known")
    shares: list[float] = [float(n) / whole for n in asked.numpy().reshape(-1)]
    if not all(0 <= share <= 1 for share in shares):
        raise _weft.ValueError(f"{name}: q is from 0 to {whole:g}")
    rows: Any = _weft.reshape(tensor, -1) if at is None else moveaxis(tensor, at, -1)
    count = rows.shape[-1]
    if count is None:
        raise _weft.ShapeError(f"{name}: how many elements there are is not known yet")
    rows = _weft.sort(rows, -1)
    rows = rows if rows.dtype.is_floating else _weft.cast(rows, "float32")
    found: list[Any] = []
    for share in shares:
        low = int(share * (count - 1))
        part = share * (count - 1) - low
        first, second = rows[..., low], rows[..., low + 1 if low + 1 < count else low]
        between = _weft.multiply(_weft.subtract(second, first), part)
        value = _weft.add(first, between) if part else first
        if part:  # infinite ones have no difference
            same = _weft.logical_and(_weft.equal(first, second), _weft.equal(_weft.abs(first), math.inf))
            value = _weft.select(same, first, value)
        last = rows[..., count - 1]
        value = _weft.select(_weft.not_equal(last, last), last, value)  # NaN is the largest
        if keepdims:
            value = _weft.reshape(value, [1] * tensor.ndim) if at is None else expand_dims(value, at)
        found.append(value)
    return found[0] if asked.ndim == 0 else stack(found)


@_arguments.as_numpy
def average(
    x: TensorLike,
    axis: Shape | None = None,
    weights: TensorLike | None = None,
    *,
    keepdims: bool = False,
) -> Tensor:
    """The mean over the given axes, or of all elements, each as often as its weight says; weights
    broadcast with x, or are a vector along the axis.

    >>> wf.average([1.0, 2.0, 6.0], weights=[1, 1, 2])
    tensor(3.75, shape=(), dtype=float32)

    Raises:
        OutOfRangeError: if an axis is not one of x
        ShapeError: if the weights do not fit
    """
    tensor, *given = _arguments.operands("average", x=x, **({} if weights is None else {"weights": weights}))
    over = _over("average", tensor, axis)
    if not given:
        return _weft.mean(tensor, over, keepdims=keepdims)
    shares = given[0]
    if over is not None and shares.ndim == 1 and tensor.ndim > 1:
        shares = expand_dims(shares, list(range(1, tensor.ndim - over[0])))
    shares = _weft.broadcast(shares, [-1 if n is None else n for n in tensor.shape])
    total = _weft.sum(_weft.multiply(tensor, shares), over, keepdims=keepdims)
    return _weft.divide(total, _weft.sum(shares, over, keepdims=keepdims))


# Without NaN.


def _without_nan(name: str, x: Any, other: float) -> Any:
    """A tensor with another number in the places of NaN."""
    tensor = _arguments.tensor(name, x)
    if not tensor.dtype.is_floating:
        return tensor
    return _weft.select(_weft.not_equal(tensor, tensor), other, tensor)


@_arguments.as_numpy
def nansum(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """The sum over the given axes, or of all elements, of those that are not NaN.

    >>> wf.nansum([1.0, float("nan"), 3.0])
    tensor(4.0, shape=(), dtype=float32)

    Raises:
        OutOfRangeError: if an axis is not one of x
    """
    tensor = _without_nan("nansum", x, 0.0)
    return _weft.sum(tensor, _over("nansum", tensor, axis), keepdims=keepdims)


@_arguments.as_numpy
def nanmean(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """The mean over the given axes, or of all elements, of those that are not NaN; NaN of none.

    >>> wf.nanmean([1.0, float("nan"), 3.0])
    tensor(2.0, shape=(), dtype=float32)

    Raises:
        OutOfRangeError: if an axis is not one of x
    """
    tensor = _arguments.tensor("nanmean", x)
    over = _over("nanmean", tensor, axis)
    total = _weft.sum(_without_nan("nanmean", tensor, 0.0), over, keepdims=keepdims)
    count = _weft.sum(_weft.equal(tensor, tensor), over, keepdims=keepdims)
    kind = total.dtype if total.dtype.is_floating else "float32"
    return _weft.divide(_weft.cast(total, kind), _weft.cast(count, kind))


@_arguments.as_numpy
def nanmax(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """The largest element over the given axes, or of all, that is not NaN; NaN if there is none.

    >>> wf.nanmax([1.0, float("nan"), 3.0])
    tensor(3.0, shape=(), dtype=float32)

    Raises:
        OutOfRangeError: if an axis is not one of x
        ShapeError: if x has no element along them
    """
    return _nan_end("nanmax", x, axis, keepdims)


@_arguments.as_numpy
def nanmin(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """The smallest element over the given axes, or of all, that is not NaN; NaN if there is none.

    >>> wf.nanmin([1.0, float("nan"), 3.0])
    tensor(1.0, shape=(), dtype=float32)

    Raises:
        OutOfRangeError: if an axis is not one of x
        ShapeError: if x has no element along them
    """
    return _nan_end("nanmin", x, axis, keepdims)


def _nan_end(name: str, x: Any, axis: Any, keepdims: bool) -> Any:
    tensor = not_empty(name, x, axis)
    over = _over(name, tensor, axis)
    ends, other = (max, -math.inf) if name == "nanmax" else (min, math.inf)
    found = ends(_without_nan(name, tensor, other), over, keepdims=keepdims)
    if not tensor.dtype.is_floating:
        return found
    some = _weft.any(_weft.equal(tensor, tensor), over, keepdims=keepdims)
    return _weft.select(some, found, math.nan)
