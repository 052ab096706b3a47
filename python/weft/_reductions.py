"""The largest and smallest elements and where they are, with NumPy's names and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments

if TYPE_CHECKING:
    from weft._weft import Shape, Tensor, TensorLike

__all__ = ["argmax", "argmin", "max", "min"]


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
        least = _weft.min(_weft.stack(sizes)) if len(sizes) > 1 else sizes[0]
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
