"""Functions that say where elements are, with NumPy's names and arguments: their results have the size that values say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from weft import _weft

from . import _arguments
from ._weft import unstack

if TYPE_CHECKING:
    from weft._weft import Tensor, TensorLike

__all__ = ["argwhere", "nonzero", "unique", "where"]


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
