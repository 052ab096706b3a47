"""Functions that repeat tensors along axes, by numbers that a traced function may compute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments
from ._trees import is_listed

if TYPE_CHECKING:
    from weft._weft import Sizes, Tensor, TensorLike

__all__ = ["meshgrid", "tile"]

ALL = slice(None)


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
    flat = [_weft.ravel(_arguments.tensor("meshgrid", x, f"xs[{i}]")) for i, x in enumerate(xs)]
    order = list(range(len(flat)))
    if indexing == "xy" and len(flat) > 1:
        order[:2] = [1, 0]
    shape = [flat[i].shape[0] for i in order]
    places = [[-1 if i == n else 1 for i in order] for n in range(len(flat))]
    return tuple(
        _weft.broadcast(_weft.reshape(x, p), shape) for x, p in zip(flat, places, strict=True)
    )
