"""Functions that join and split tensors, with NumPy's names and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments
from ._elements import ALL, atleast_1d, atleast_2d

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._weft import Shape, Tensor, TensorLike

__all__ = [
    "array_split", "column_stack", "dstack", "hstack", "split", "stack", "unstack", "vstack",
]  # fmt: skip


@_arguments.as_numpy
def stack(xs: Sequence[TensorLike] | TensorLike, axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis.

    >>> wf.stack([[1, 2], [3, 4]], axis=1)
    tensor([[1, 3],
            [2, 4]], shape=(2, 2), dtype=int32)

    Raises:
        ShapeError: if shapes differ
        OutOfRangeError: if the result has no such axis
        ValueError: if there is nothing to join
    """
    tensors = _arguments.tensors("stack", xs)
    at = _arguments.axis("stack", axis, tensors[0].ndim + 1)
    for i, x in enumerate(tensors):
        if x.ndim != tensors[0].ndim:
            raise _weft.ShapeError(
                f"stack: all tensors are of one shape, but xs[0] has the shape "
                f"{tuple(tensors[0].shape)} and xs[{i}] {tuple(x.shape)}"
            )
    return _weft.concatenate([x[(*(ALL,) * at, None)] for x in tensors], at)


@_arguments.as_numpy
def vstack(xs: Sequence[TensorLike] | TensorLike) -> Tensor:
    """Tensors joined along the first axis, those of one axis as rows.

    >>> wf.vstack([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]], shape=(2, 2), dtype=int32)

    Raises:
        ShapeError: if the other sizes differ
        ValueError: if there is nothing to join
    """
    return _weft.concatenate([atleast_2d(x) for x in _arguments.tensors("vstack", xs)], 0)


@_arguments.as_numpy
def hstack(xs: Sequence[TensorLike] | TensorLike) -> Tensor:
    """Tensors joined along the second axis, those of one axis along that.

    >>> wf.hstack([[1, 2], [3]])
    tensor([1, 2, 3], shape=(3,), dtype=int32)

    Raises:
        ShapeError: if the other sizes differ
        ValueError: if there is nothing to join
    """
    tensors = [atleast_1d(x) for x in _arguments.tensors("hstack", xs)]
    return _weft.concatenate(tensors, 1 if tensors[0].ndim > 1 else 0)


@_arguments.as_numpy
def dstack(xs: Sequence[TensorLike] | TensorLike) -> Tensor:
    """Tensors joined along the third axis, which those of fewer axes are given.

    >>> wf.dstack([[1, 2], [3, 4]])
    tensor([[[1, 3],
             [2, 4]]], shape=(1, 2, 2), dtype=int32)

    Raises:
        ShapeError: if the other sizes differ
        ValueError: if there is nothing to join
    """
    tensors = [atleast_2d(x) for x in _arguments.tensors("dstack", xs)]
    return _weft.concatenate([x[..., None] if x.ndim == 2 else x for x in tensors], 2)


@_arguments.as_numpy
def column_stack(xs: Sequence[TensorLike] | TensorLike) -> Tensor:
    """Tensors joined along the second axis, those of one axis as columns.

    >>> wf.column_stack([[1, 2], [3, 4]])
    tensor([[1, 3],
            [2, 4]], shape=(2, 2), dtype=int32)

    Raises:
        ShapeError: if the other sizes differ
        ValueError: if there is nothing to join
    """
    tensors = [atleast_1d(x) for x in _arguments.tensors("column_stack", xs)]
    return _weft.concatenate([x[:, None] if x.ndim == 1 else x for x in tensors], 1)


def _cut(x: Any, at: int, points: Sequence[int]) -> list[Any]:
    """The parts between the places of an axis, as slices count them."""
    before = (ALL,) * at
    ends: list[int | None] = [*points, None]
    starts = [0, *points]
    return [x[(*before, slice(a, b))] for a, b in zip(starts, ends, strict=True)]


@_arguments.as_numpy
def split(x: TensorLike, indices_or_sections: Shape, axis: int = 0) -> list[Tensor]:
    """So many parts of one size along an axis, or the parts between the places of a list.

    >>> [part.tolist() for part in wf.split([1, 2, 3, 4, 5, 6], 3)]
    [[1, 2], [3, 4], [5, 6]]
    >>> [part.tolist() for part in wf.split([1, 2, 3, 4, 5, 6], [1, 4])]
    [[1], [2, 3, 4], [5, 6]]

    Raises:
        ShapeError: if the parts are not of one size: `array_split` has some larger ones then
        OutOfRangeError: if there is no such axis
    """
    return _split("split", x, indices_or_sections, axis)


@_arguments.as_numpy
def array_split(x: TensorLike, indices_or_sections: Shape, axis: int = 0) -> list[Tensor]:
    """As `split`, where a number of parts need not be equal: the first ones are larger by one.

    >>> [part.tolist() for part in wf.array_split([1, 2, 3, 4, 5], 3)]
    [[1, 2], [3, 4], [5]]

    Raises:
        ValueError: if the number of parts is not positive
        OutOfRangeError: if there is no such axis
    """
    return _split("array_split", x, indices_or_sections, axis)


def _split(name: str, x: Any, points: Any, axis: int) -> list[Any]:
    tensor = _arguments.tensor(name, x)
    at = _arguments.axis(name, axis, tensor.ndim)
    numbers = _arguments.integers(f"{name}: indices_or_sections", points)
    if _arguments.is_iterable(points):
        return _cut(tensor, at, numbers)
    whole, parts = tensor.shape[at], numbers[0]
    if parts < 1:
        raise _weft.ValueError(f"{name}: {parts} parts: there is at least 1")
    if whole is None or (name == "split" and whole % parts):
        size = "a size that is not known yet" if whole is None else f"size {whole}"
        raise _weft.ShapeError(f"{name}: axis {axis} of {size} is not {parts} equal parts")
    size, larger = divmod(whole, parts)
    return _cut(tensor, at, [i * size + min(i, larger) for i in range(1, parts)])


@_arguments.as_numpy
def unstack(x: TensorLike, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis.

    >>> wf.unstack([[1, 2], [3, 4]])[1]
    tensor([3, 4], shape=(2,), dtype=int32)

    Raises:
        OutOfRangeError: if there is no such axis
        ShapeError: if a traced function does not know its size
    """
    tensor = _arguments.tensor("unstack", x)
    at = _arguments.axis("unstack", axis, tensor.ndim)
    count = tensor.shape[at]
    if count is None:
        raise _weft.ShapeError(f"unstack: the size of axis {axis} is not known yet")
    return tuple(slices(tensor, at, count))


def slices(x: Any, at: int, count: int) -> list[Any]:
    """The first so many slices along an axis."""
    return [x[(*(ALL,) * at, i)] for i in range(count)]
