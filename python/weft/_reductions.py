"""Reductions with NumPy's names and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments
from ._places import truth

if TYPE_CHECKING:
    from weft._weft import Shape, Tensor, TensorLike

__all__ = [
    "allclose", "argmax", "argmin", "array_equal", "count_nonzero", "isclose", "max", "median", "min", "norm", "ptp",
    "std", "var",
]  # fmt: skip


def _not_empty(name: str, x: TensorLike, axis: Any) -> Any:
    """A tensor that has an element along the axes, as far as is known."""
    tensor = x if isinstance(x, _weft.Tensor) else _arguments.tensor(name, x)
    if 0 in tensor.shape:
        over = range(tensor.ndim) if axis is None else _arguments.axes(name, axis, tensor.ndim)
        if any(tensor.shape[i] == 0 for i in over):
            raise _weft.ShapeError(
                f"{name}: x has the shape {tuple(tensor.shape)}: there is no element to choose along "
                f"{'its axes' if axis is None else f'axis {axis}'}"
            )
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
    tensor = _not_empty("max", x, axis)
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
    tensor = _not_empty("min", x, axis)
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
    tensor = _not_empty(name, x, axis)
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
    tensor = _not_empty("ptp", x, axis)
    most = _weft.max(tensor, axis, keepdims=keepdims)
    return _weft.subtract(most, _weft.min(tensor, axis, keepdims=keepdims))


@_arguments.as_numpy
def count_nonzero(x: TensorLike, axis: Shape | None = None, *, keepdims: bool = False) -> Tensor:
    """How many elements over the given axes, or of all, are not 0, as int64.

    >>> wf.count_nonzero([[0, 1], [2, 3]], axis=0)
    tensor([1, 2], shape=(2,), dtype=int64)

    Raises:
        OutOfRangeError: if an axis is not one of x
    """
    return _weft.sum(truth(_arguments.tensor("count_nonzero", x)), axis, keepdims=keepdims)


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
    away = _weft.subtract(tensor, _weft.mean(tensor, axis, keepdims=True))
    mean = _weft.mean(_weft.square(away), axis, keepdims=keepdims)
    if not (fewer := _arguments.optional_number(f"{name}: ddof", ddof)):
        return mean
    over = range(tensor.ndim) if axis is None else _arguments.axes(name, axis, tensor.ndim)
    count: Any = _weft.constant(1, "int64")
    for i in over:
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
    tensor = _not_empty("median", x, axis)
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


# Distances.


@_arguments.as_numpy
def norm(
    x: TensorLike, ord: float | str | None = None, axis: Shape | None = None, *, keepdims: bool = False
) -> Tensor:
    """The length of vectors or the norm of matrices: of all elements, along an axis, or over two.

    >>> wf.norm([3.0, 4.0])
    tensor(5.0, shape=(), dtype=float32)
    >>> wf.norm([[1.0, -2.0], [3.0, 4.0]], 1, axis=0)
    tensor([4., 6.], shape=(2,), dtype=float32)

    Args:
        ord: of vectors: any number p for the p-th root of the sum of |x|^p, 0 for how many are not
            0, inf and -inf for the largest and smallest |x|. Of matrices: 'fro' for the root of
            the sum of squares, 1 and -1 for the largest and smallest sum of a column, inf and -inf
            for that of a row. None is 2 of vectors, also of all elements, and 'fro' of matrices
        axis: one for vectors, two for matrices; without it x is a vector or a matrix, and of any
            rank if ord is None

    Raises:
        ValueError: for another ord: there are no singular values
        ShapeError: if x is neither a vector nor a matrix, and ord is given without axes
        OutOfRangeError: if an axis is not one of x
    """
    tensor = _arguments.tensor("norm", x)
    if not tensor.dtype.is_floating:
        tensor = _weft.cast(tensor, "float32")
    if axis is None:
        if ord is None:
            return root(_weft.sum(_weft.square(tensor), keepdims=keepdims))
        if tensor.ndim not in (1, 2):
            raise _weft.ShapeError(
                f"norm: x has rank {tensor.ndim}: with ord and without axis it is a vector or a matrix"
            )
        over = list(range(tensor.ndim))
    else:
        over = _arguments.axes("norm", axis, tensor.ndim)
    if len(over) == 1:
        return _vector_norm(tensor, ord, over[0], keepdims)
    if len(over) == 2:
        return _matrix_norm(tensor, ord, over[0], over[1], keepdims)
    raise _weft.ValueError(f"norm: axis has {len(over)} entries: there is one, or two")


def _vector_norm(x: Any, order: Any, axis: int, keepdims: bool) -> Any:
    if order is None or order == 2:
        return root(_weft.sum(_weft.square(x), axis, keepdims=keepdims))
    if isinstance(order, str):
        raise _weft.ValueError(f"norm: ord of vectors is {order!r}: a number is wanted")
    power: Any = _arguments.optional_number("norm: ord", order)
    sizes = _weft.abs(x)
    if power == float("inf"):
        return _weft.max(sizes, axis, keepdims=keepdims)
    if power == float("-inf"):
        return _weft.min(sizes, axis, keepdims=keepdims)
    if power == 0:
        return _weft.cast(_weft.sum(_weft.not_equal(x, 0), axis, keepdims=keepdims), x.dtype)
    if power == 1:
        return _weft.sum(sizes, axis, keepdims=keepdims)
    return _weft.power(_weft.sum(_weft.power(sizes, power), axis, keepdims=keepdims), 1 / power)


def _matrix_norm(x: Any, order: Any, row: int, column: int, keepdims: bool) -> Any:
    if order is None or order == "fro":
        return root(_weft.sum(_weft.square(x), [row, column], keepdims=keepdims))
    known = (1, -1, float("inf"), float("-inf"))
    if isinstance(order, str) or order not in known:
        raise _weft.ValueError(
            f"norm: ord of matrices is {order!r}: it is 'fro', 1, -1, inf or -inf, for there are no "
            "singular values"
        )
    summed, rest = (row, column) if order in (1, -1) else (column, row)
    sums = _weft.sum(_weft.abs(x), summed, keepdims=True)
    ends = _weft.max if order > 0 else _weft.min
    found = ends(sums, rest, keepdims=True)
    return found if keepdims else found.squeeze([row, column])


# Whether tensors are the same.


@_arguments.as_numpy
def isclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether elements differ by at most atol + rtol |b|; infinite ones whether they are the same.

    >>> wf.isclose([1.0, 2.0], [1.000001, 2.1])
    tensor([ True, False], shape=(2,), dtype=bool)

    Args:
        equal_nan: whether NaN is close to NaN

    Raises:
        ShapeError: if the shapes do not broadcast
    """
    x, y = (
        _weft.cast(t, "int64") if t.dtype.is_bool else t
        for t in (_arguments.tensor("isclose", a, "a"), _arguments.tensor("isclose", b, "b"))
    )
    most = _weft.add(_weft.multiply(_weft.abs(y), rtol), atol)
    near = _weft.less_equal(_weft.abs(_weft.subtract(x, y)), most)
    finite = _weft.less(_weft.abs(y), float("inf"))
    near = _weft.logical_or(_weft.logical_and(near, finite), _weft.equal(x, y))
    if equal_nan:
        near = _weft.logical_or(
            near, _weft.logical_and(_weft.not_equal(x, x), _weft.not_equal(y, y))
        )
    return near


@_arguments.as_numpy
def allclose(
    a: TensorLike, b: TensorLike, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether all elements are close, as `isclose` says.

    >>> wf.allclose([1.0, 2.0], [1.000001, 2.0])
    tensor(True, shape=(), dtype=bool)

    Raises:
        ShapeError: if the shapes do not broadcast
    """
    return _weft.all(isclose(a, b, rtol, atol, equal_nan))


@_arguments.as_numpy
def array_equal(a: TensorLike, b: TensorLike) -> Tensor:
    """Whether two tensors are of one shape and all elements are equal.

    >>> wf.array_equal([1, 2], [1, 2, 3])
    tensor(False, shape=(), dtype=bool)
    """
    x, y = _arguments.tensor("array_equal", a, "a"), _arguments.tensor("array_equal", b, "b")
    pairs = zip(x.shape, y.shape, strict=False)
    if x.ndim != y.ndim or any(m != n for m, n in pairs if m is not None and n is not None):
        return _weft.constant(False)
    return _weft.all(_weft.equal(x, y))
