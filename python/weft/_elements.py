"""Functions that shape, repeat and move elements, with NumPy's names and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments
from ._trees import is_listed

if TYPE_CHECKING:
    from weft._weft import Shape, Sizes, Tensor, TensorLike

__all__ = [
    "atleast_1d", "atleast_2d", "diff", "expand_dims", "fliplr", "flipud", "matrix_transpose", "meshgrid",
    "moveaxis", "ravel", "repeat", "roll", "squeeze", "swapaxes", "tile",
]  # fmt: skip

ALL = slice(None)


# Axes.


@_arguments.as_numpy
def expand_dims(x: TensorLike, axis: Shape) -> Tensor:
    """The tensor with axes of size 1, which are those given of the result.

    >>> wf.expand_dims([1, 2], 0)
    tensor([[1, 2]], shape=(1, 2), dtype=int32)

    Raises:
        OutOfRangeError: if the result has no such axis
        ValueError: if an axis is given twice
    """
    tensor = _arguments.tensor("expand_dims", x)
    count = 1 if isinstance(axis, int) else len(_arguments.integers("expand_dims: axis", axis))
    at = _arguments.axes("expand_dims", axis, tensor.ndim + count)
    return tensor[tuple(None if i in at else ALL for i in range(tensor.ndim + count))]


@_arguments.as_numpy
def squeeze(x: TensorLike, axis: Shape | None = None) -> Tensor:
    """The tensor without the axes of size 1, or without those given.

    >>> wf.squeeze([[1], [2]])
    tensor([1, 2], shape=(2,), dtype=int32)

    Raises:
        ShapeError: if an axis that is given is of another size
        OutOfRangeError: if there is no such axis
    """
    return _arguments.tensor("squeeze", x).squeeze(axis)


@_arguments.as_numpy
def ravel(x: TensorLike) -> Tensor:
    """All elements along one axis.

    >>> wf.ravel([[1, 2], [3, 4]])
    tensor([1, 2, 3, 4], shape=(4,), dtype=int32)
    """
    return _weft.reshape(_arguments.tensor("ravel", x), -1)


@_arguments.as_numpy
def atleast_1d(x: TensorLike) -> Tensor:
    """The tensor; a scalar with an axis of size 1.

    >>> wf.atleast_1d(3)
    tensor([3], shape=(1,), dtype=int32)
    """
    tensor = _arguments.tensor("atleast_1d", x)
    return tensor[None] if tensor.ndim == 0 else tensor


@_arguments.as_numpy
def atleast_2d(x: TensorLike) -> Tensor:
    """The tensor; one of fewer than two axes as a row.

    >>> wf.atleast_2d([1, 2])
    tensor([[1, 2]], shape=(1, 2), dtype=int32)
    """
    tensor = _arguments.tensor("atleast_2d", x)
    return tensor[(None,) * (2 - tensor.ndim)] if tensor.ndim < 2 else tensor


@_arguments.as_numpy
def swapaxes(x: TensorLike, axis1: int, axis2: int) -> Tensor:
    """The tensor with two axes in each other's place.

    >>> wf.swapaxes(wf.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)

    Raises:
        OutOfRangeError: if there is no such axis
    """
    tensor = _arguments.tensor("swapaxes", x)
    first = _arguments.axis("swapaxes", axis1, tensor.ndim, "axis1")
    second = _arguments.axis("swapaxes", axis2, tensor.ndim, "axis2")
    order = list(range(tensor.ndim))
    order[first], order[second] = second, first
    return _weft.transpose(tensor, order)


@_arguments.as_numpy
def moveaxis(x: TensorLike, source: Shape, destination: Shape) -> Tensor:
    """The tensor with some axes in other places; the others stay in their order.

    >>> wf.moveaxis(wf.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)

    Raises:
        OutOfRangeError: if there is no such axis
        ValueError: if there are not as many places as axes, or one is given twice
    """
    tensor = _arguments.tensor("moveaxis", x)
    sources = _arguments.axes("moveaxis", source, tensor.ndim, "source")
    places = _arguments.axes("moveaxis", destination, tensor.ndim, "destination")
    if len(sources) != len(places):
        raise _weft.ValueError(
            f"moveaxis: source has {len(sources)} axes and destination {len(places)}"
        )
    order = [i for i in range(tensor.ndim) if i not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return _weft.transpose(tensor, order)


@_arguments.as_numpy
def matrix_transpose(x: TensorLike) -> Tensor:
    """Matrices, the last two axes, with rows and columns in each other's place.

    >>> wf.matrix_transpose([[1, 2], [3, 4]])
    tensor([[1, 3],
            [2, 4]], shape=(2, 2), dtype=int32)

    Raises:
        ShapeError: if x has fewer than two axes
    """
    tensor = _arguments.tensor("matrix_transpose", x)
    if tensor.ndim < 2:
        raise _weft.ShapeError(
            f"matrix_transpose: x has the shape {tuple(tensor.shape)}: a matrix is wanted"
        )
    return tensor.mT


@_arguments.as_numpy
def flipud(x: TensorLike) -> Tensor:
    """The rows, or slices along the first axis, from the last to the first.

    >>> wf.flipud([[1, 2], [3, 4]])
    tensor([[3, 4],
            [1, 2]], shape=(2, 2), dtype=int32)

    Raises:
        OutOfRangeError: for a scalar
    """
    return _weft.reverse(_arguments.tensor("flipud", x), 0)


@_arguments.as_numpy
def fliplr(x: TensorLike) -> Tensor:
    """The columns, or slices along the second axis, from the last to the first.

    >>> wf.fliplr([[1, 2], [3, 4]])
    tensor([[2, 1],
            [4, 3]], shape=(2, 2), dtype=int32)

    Raises:
        OutOfRangeError: if x has fewer than two axes
    """
    return _weft.reverse(_arguments.tensor("fliplr", x), 1)


# Repeated and moved.


@_arguments.as_numpy
def tile(x: TensorLike, reps: Sizes) -> Tensor:
    """The tensor so many times along each axis; the last axes are those that are given.

    >>> wf.tile([1, 2], 2)
    tensor([1, 2, 1, 2], shape=(4,), dtype=int32)
    >>> wf.tile([1, 2], (2, 1))
    tensor([[1, 2],
            [1, 2]], shape=(2, 2), dtype=int32)

    Raises:
        ValueError: if a number is negative
    """
    tensor = _arguments.tensor("tile", x)
    counts = _counts(reps)
    counts = [1] * (tensor.ndim - len(counts)) + counts
    if len(counts) > tensor.ndim:
        tensor = tensor[(None,) * (len(counts) - tensor.ndim)]
    shape, sizes = tensor.shape, sizes_as_values(tensor)
    times = [_known(n) for n in counts]
    if all(size == 1 or n == 1 for size, n in zip(shape, times, strict=True)):
        wide = [n if known == 1 else size for n, known, size in zip(counts, shape, sizes, strict=True)]
        return _weft.broadcast(tensor, wide)
    if None in shape and None not in times:
        # Joins keep the sizes that are known.
        for axis, n in enumerate(counts):
            if n != 1:
                none = tensor[(*(ALL,) * axis, slice(0, 0))]
                tensor = _weft.concatenate([tensor] * n, axis) if n else none
        return tensor
    apart = tensor[tuple(part for _ in shape for part in (None, ALL))]
    wide = [part for n, size in zip(counts, sizes, strict=True) for part in (n, size)]
    joined = [n * size for n, size in zip(counts, sizes, strict=True)]
    return _weft.reshape(_weft.broadcast(apart, wide), joined)


def _counts(reps: Any) -> list[Any]:
    """How often each axis is repeated: numbers, and integers that a traced function computes."""
    if _weft.internal_is_traced(reps):
        return [reps] if reps.ndim == 0 else [reps[i] for i in range(len(reps))]
    listed: Any = reps if is_listed(reps) else []
    if any(map(_weft.internal_is_traced, listed)):
        return [
            n if _weft.internal_is_traced(n) else _arguments.integer("tile: reps", n)
            for n in listed
        ]
    counts = _arguments.integers("tile: reps", reps)
    if counts and min(counts) < 0:
        raise _weft.ValueError(f"tile: reps has {min(counts)}: numbers are not negative")
    return counts


def _known(n: Any) -> int | None:
    """A number; None for one that a traced function computes."""
    return n if isinstance(n, int) else None


def sizes_as_values(x: Any) -> list[Any]:
    """The sizes of a tensor, as tensors where they are not known yet."""
    return [_weft.size(x, i) if n is None else n for i, n in enumerate(x.shape)]


@_arguments.as_numpy
def repeat(x: TensorLike, repeats: Shape, axis: int | None = None) -> Tensor:
    """Each element so many times, one behind the other: of all in a row, or each slice of an axis.

    >>> wf.repeat([1, 2], 2)
    tensor([1, 1, 2, 2], shape=(4,), dtype=int32)
    >>> wf.repeat([[1, 2], [3, 4]], [1, 2], axis=0)
    tensor([[1, 2],
            [3, 4],
            [3, 4]], shape=(3, 2), dtype=int32)

    Raises:
        ShapeError: if there are more or fewer numbers than slices
        ValueError: if a number is negative
        OutOfRangeError: if there is no such axis
    """
    tensor = _arguments.tensor("repeat", x)
    if axis is None:
        tensor, axis = _weft.reshape(tensor, -1), 0
    at = _arguments.axis("repeat", axis, tensor.ndim)
    counts = _arguments.integers("repeat: repeats", repeats)
    size = tensor.shape[at]
    if counts and min(counts) < 0:
        raise _weft.ValueError(f"repeat: repeats has {min(counts)}: numbers are not negative")
    if counts == [0]:
        return tensor[(*(ALL,) * at, slice(0, 0))]
    if len(counts) == 1 and size is None:
        # At the end what is repeated follows from the sizes in front.
        last = moveaxis(tensor, at, -1)
        wide = _weft.concatenate([last[..., None]] * counts[0], last.ndim)
        return moveaxis(_weft.reshape(wide, [*_sizes(last)[:-1], -1]), -1, at)
    if len(counts) == 1:
        wide = _weft.concatenate([tensor[(*(ALL,) * (at + 1), None)]] * counts[0], at + 1)
        sizes = _sizes(tensor)
        sizes[at] = size * counts[0]
        return _weft.reshape(wide, sizes)
    if len(counts) != size:
        raise _weft.ShapeError(
            f"repeat: there are {len(counts)} repeats for an axis of size {size}"
        )
    places = [i for i, count in enumerate(counts) for _ in range(count)]
    return _weft.gather(tensor, _weft.constant(places, "int32", [len(places)]), at)


def _sizes(x: Any) -> list[int]:
    """The sizes of a tensor; -1 for those that are not known yet."""
    return [-1 if n is None else n for n in x.shape]


@_arguments.as_numpy
def roll(x: TensorLike, shift: Shape, axis: Shape | None = None) -> Tensor:
    """The tensor with its slices moved on along axes, those at the end to the front; without axes
    the elements in a row.

    >>> wf.roll([1, 2, 3, 4], 1)
    tensor([4, 1, 2, 3], shape=(4,), dtype=int32)

    Raises:
        OutOfRangeError: if there is no such axis
        ValueError: if there are not as many shifts as axes
    """
    tensor = _arguments.tensor("roll", x)
    shifts = _arguments.integers("roll: shift", shift)
    if axis is None:
        sizes = [_weft.size(tensor, i) if n is None else n for i, n in enumerate(tensor.shape)]
        return _weft.reshape(_rolled(_weft.reshape(tensor, -1), sum(shifts), 0), sizes)
    along = [_arguments.axis("roll", n, tensor.ndim) for n in _arguments.integers("roll: axis", axis)]
    if len(shifts) == 1:
        shifts = shifts * len(along)
    if len(shifts) != len(along):
        raise _weft.ValueError(f"roll: there are {len(shifts)} shifts for {len(along)} axes")
    for by, at in zip(shifts, along, strict=True):
        tensor = _rolled(tensor, by, at)
    return tensor


def _rolled(x: Any, by: int, at: int) -> Any:
    size = x.shape[at]
    if size is None:
        count = _weft.size(x, at)
        some = _weft.maximum(count, 1)
        cut = _weft.remainder(_weft.add(_weft.remainder(_weft.constant(-by, "int64"), some), some), some)
        positions = _weft.remainder(_weft.add(_weft.arange(count, dtype="int64"), cut), some)
        return _weft.gather(x, positions, at)
    cut = -by % (size or 1)
    if not cut:
        return x
    before = (ALL,) * at
    return _weft.concatenate([x[(*before, slice(cut, None))], x[(*before, slice(0, cut))]], at)


@_arguments.as_numpy
def diff(x: TensorLike, n: int = 1, axis: int = -1) -> Tensor:
    """The differences of neighbours along an axis, n times.

    >>> wf.diff([1, 4, 9, 16])
    tensor([3, 5, 7], shape=(3,), dtype=int32)

    Raises:
        OutOfRangeError: if there is no such axis
        ValueError: if n is negative
    """
    tensor = _arguments.tensor("diff", x)
    at = _arguments.axis("diff", axis, tensor.ndim)
    times = _arguments.integer("diff: n", n)
    if times < 0:
        raise _weft.ValueError(f"diff: n is {times}: it is not negative")
    before = (ALL,) * at
    differ = _weft.not_equal if tensor.dtype.is_bool else _weft.subtract
    for _ in range(times):
        later = tensor[(*before, slice(1, None))]
        # Without the last one, whose place is not known where the size is not.
        tensor = differ(later, _weft.reverse(_weft.reverse(tensor, at)[(*before, slice(1, None))], at))
    return tensor


@_arguments.as_numpy
def meshgrid(*xs: TensorLike, indexing: str = "xy") -> tuple[Tensor, ...]:
    """The coordinates of the points of a grid: of vectors tensors with an axis for each.

    >>> wf.meshgrid([1, 2], [3, 4, 5], indexing="ij")[0]
    tensor([[1, 1, 1],
            [2, 2, 2]], shape=(2, 3), dtype=int32)

    Args:
        indexing: 'xy' has the first two axes in each other's place, 'ij' has not

    Raises:
        ValueError: for another indexing
    """
    if indexing not in ("xy", "ij"):
        raise _weft.ValueError(f"meshgrid: indexing is {indexing!r}: it is 'xy' or 'ij'")
    flat = [ravel(_arguments.tensor("meshgrid", x, f"xs[{i}]")) for i, x in enumerate(xs)]
    order = list(range(len(flat)))
    if indexing == "xy" and len(flat) > 1:
        order[:2] = [1, 0]
    shape = [flat[i].shape[0] for i in order]
    places = [[-1 if i == n else 1 for i in order] for n in range(len(flat))]
    return tuple(
        _weft.broadcast(_weft.reshape(x, p), shape) for x, p in zip(flat, places, strict=True)
    )
