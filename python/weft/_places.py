"""Functions that pick elements and say where they are, with NumPy's names and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from weft import _weft

from . import _arguments
from ._elements import ALL
from ._weft import expand_dims, unstack

if TYPE_CHECKING:
    from weft._weft import Tensor, TensorLike

__all__ = ["argwhere", "nonzero", "searchsorted", "take", "unique", "where"]


@_arguments.as_numpy
def take(x: TensorLike, indices: TensorLike, axis: int | None = None) -> Tensor:
    """The slices of these numbers along an axis, or the elements of all in a row; negative numbers
    count from the end.

    >>> wf.take([10, 20, 30], [0, -1])
    tensor([10, 30], shape=(2,), dtype=int32)

    Raises:
        OutOfRangeError: if there is no such axis or slice
        DTypeError: if indices are no integers
    """
    tensor = _arguments.tensor("take", x)
    if axis is None:
        tensor, axis = _weft.reshape(tensor, -1), 0
    at = _arguments.axis("take", axis, tensor.ndim)
    places = _arguments.tensor("take", indices, "indices")
    if not places.dtype.is_integer:
        raise _weft.DTypeError(f"take: indices are of {places.dtype.name}: integers are wanted")
    return tensor[(*(ALL,) * at, places)]


@overload
def where(condition: TensorLike) -> tuple[Tensor, ...]: ...
@overload
def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor: ...
@_arguments.as_numpy
def where(condition: TensorLike, x: TensorLike | None = None, y: TensorLike | None = None) -> Any:
    """x where the condition holds, else y; alone, the places where it holds, as `nonzero`.

    >>> wf.where([True, False], [1, 2], 0)
    tensor([1, 0], shape=(2,), dtype=int32)

    Raises:
        ShapeError: if the shapes do not broadcast
        ValueError: if one of x and y is given
    """
    if (x is None) != (y is None):
        raise _weft.ValueError("where: x and y must both be given, or neither of them")
    holds = _arguments.tensor("where", condition, "condition")
    if x is None or y is None:
        return nonzero(holds)
    return _weft.select(truth(holds), x, y)


def truth(x: Any) -> Any:
    """Whether each element of a tensor is not 0."""
    return x if x.dtype.is_bool else _weft.not_equal(x, 0)


def values_of(function: str, *tensors: Any) -> Any:
    """The elements of a tensor, or of several, as arrays: they say how large the result is. Throws
    ValueError while a function is traced."""
    if any(_weft.internal_is_traced(x) for x in tensors):
        raise _weft.ValueError(
            f"{function}: how large the result is depends on values, which a traced function does not "
            "have: call it outside of the function, or write where(condition, x, y)"
        )
    arrays = [x.numpy() for x in tensors]
    return arrays[0] if len(arrays) == 1 else arrays


@_arguments.as_numpy
def nonzero(x: TensorLike) -> tuple[Tensor, ...]:
    """The places of the elements that are not 0: a vector of numbers for each axis, as int64.

    >>> wf.nonzero([[0, 1], [2, 0]])
    (tensor([0, 1], shape=(2,), dtype=int64), tensor([1, 0], shape=(2,), dtype=int64))

    Raises:
        ValueError: in a traced function, which has no values
        ShapeError: for a scalar
    """
    tensor = _arguments.tensor("nonzero", x)
    if tensor.ndim == 0:
        raise _weft.ShapeError("nonzero: x is a scalar: a tensor with axes is wanted")
    return unstack(argwhere(tensor), 1)


@_arguments.as_numpy
def argwhere(x: TensorLike) -> Tensor:
    """The places of the elements that are not 0: a row of numbers for each, as int64.

    >>> wf.argwhere([[0, 1], [2, 0]])
    tensor([[0, 1],
            [1, 0]], shape=(2, 2), dtype=int64)

    Raises:
        ValueError: in a traced function, which has no values
    """
    import numpy as np

    values = values_of("argwhere", _arguments.tensor("argwhere", x))
    return _weft.constant(np.argwhere(values).astype(np.int64))


@_arguments.as_numpy
def unique(
    x: TensorLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
) -> Any:
    """The different elements in order; and where each comes first, which of them each element is,
    and how often they come, as int64, if that is asked.

    >>> wf.unique([3, 1, 3], return_counts=True)
    (tensor([1, 3], shape=(2,), dtype=int32), tensor([1, 2], shape=(2,), dtype=int64))

    Raises:
        ValueError: in a traced function, which has no values
    """
    import numpy as np

    tensor = _weft.reshape(_arguments.tensor("unique", x), -1)
    values = values_of("unique", tensor)
    _, first, which, counts = np.unique(values, True, True, True)
    found: list[Any] = [_weft.gather(tensor, _weft.constant(first), 0)]
    shape = list(_weft.asarray(x).shape)
    asked = ((return_index, first), (return_inverse, which.reshape(shape)), (return_counts, counts))
    found += [_weft.constant(part) for wanted, part in asked if wanted]
    return found[0] if len(found) == 1 else tuple(found)


@_arguments.as_numpy
def searchsorted(a: TensorLike, v: TensorLike, side: str = "left") -> Tensor:
    """Where values would have to stand among the sorted ones of a vector, in front of equal ones
    or, 'right', behind them, as int64. NaN is the largest of all, as in `sort`. Vectors of a batch
    may be in front: each has its values.

    >>> wf.searchsorted([1.0, 2.0, 3.0], [1.5, 3.0])
    tensor([1, 2], shape=(2,), dtype=int64)

    Raises:
        ValueError: for another side
        ShapeError: if a is a scalar, or the batches differ
    """
    if side not in ("left", "right"):
        raise _weft.ValueError(f"searchsorted: side is {side!r}: it is 'left' or 'right'")
    rows, values = _arguments.operands("searchsorted", a=a, v=v)
    if rows.ndim == 0:
        raise _weft.ShapeError("searchsorted: a is a scalar: a sorted vector is wanted")
    compare = _weft.less if side == "left" else _weft.less_equal
    if rows.ndim > 1:
        rows = expand_dims(rows, -2)
    values = expand_dims(values, -1)
    before = compare(rows, values)
    if values.dtype.is_floating:
        unknown = _weft.not_equal(values, values)
        known = _weft.equal(rows, rows) if side == "left" else True
        before = _weft.logical_or(before, _weft.logical_and(unknown, known))
    return _weft.sum(before, -1)
