"""Norms, and whether tensors are the same, with NumPy's names and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments
from ._reductions import not_empty, root

if TYPE_CHECKING:
    from weft._weft import Shape, Tensor, TensorLike

__all__ = [
    "allclose", "array_equal", "isclose", "norm",
]  # fmt: skip


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
        ShapeError: if x is neither a vector nor a matrix, and ord is given without axes; if there is
            nothing whose largest or smallest is wanted
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
    if power in (float("inf"), float("-inf")):
        ends = _weft.max if power > 0 else _weft.min
        return ends(not_empty("norm", sizes, axis), axis, keepdims=keepdims)
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
    found = ends(not_empty("norm", sums, rest), rest, keepdims=True)
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
    # Integers in float64, where differences do not wrap and more of them are apart.
    x, y = (
        t if t.dtype.is_floating else _weft.cast(t, "float64")
        for t in _arguments.operands("isclose", a=a, b=b)
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
    x, y = _arguments.operands("array_equal", a=a, b=b)
    pairs = zip(x.shape, y.shape, strict=False)
    if x.ndim != y.ndim or any(m != n for m, n in pairs if m is not None and n is not None):
        return _weft.constant(False)
    return _weft.all(_weft.equal(x, y))
