"""Tensors with some elements replaced or combined with others, `x.at[i].set(v)`, and the shape that shapes broadcast to."""

from __future__ import annotations

from typing import Any, cast

from weft import _weft
from weft._tracebacks import users_lines

__all__ = ["broadcast_shapes"]

_MODES = ("error", "clip", "wrap", "drop")


def _sizes_of(x: Any) -> list[Any]:
    """The sizes of a tensor, tensors where a trace does not know them."""
    return [_weft.size(x, i) if n is None else n for i, n in enumerate(x.shape)]


class At:
    """What `x.at` is: `x.at[i]` are the elements that `x[i]` has, to be replaced in a copy.

    >>> x = wf.tensor([1, 2, 3])
    >>> x.at[0].set(9)
    tensor([9, 2, 3], shape=(3,), dtype=int32)
    >>> x.at[[0, 0, 2]].add(10)
    tensor([21,  2, 13], shape=(3,), dtype=int32)
    """

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> ElementsAt:
        return ElementsAt(self._x, cast("tuple[Any, ...]", key) if isinstance(key, tuple) else (key,))


class ElementsAt:
    """Some elements of a tensor. What is given to their methods is broadcast to their shape; the tensor stays as it is.

    With `mode` numbers that are out of range are an error, which is the default, or taken to be the nearest in range
    ('clip'), or counted round the axis ('wrap'), or their updates are left out ('drop').

    >>> wf.zeros(3).at[[1, 7]].set(1.0, mode="drop")
    tensor([0., 1., 0.], shape=(3,), dtype=float32)
    """

    def __init__(self, x: Any, key: tuple[Any, ...]) -> None:
        self._x, self._key = x, key

    def _positions(self, function: str, mode: str) -> Any:
        """Where the elements are among all in a row, and as many as there are where an update is left out."""
        if mode not in _MODES:
            raise _weft.ValueError(f"{function}: mode is {mode!r}: it is 'error', 'clip', 'wrap' or 'drop'")
        sizes = _sizes_of(self._x)
        count = 1
        for n in sizes:
            count = count * n
        positions = _weft.reshape(_weft.iota("int64", [count]), sizes)
        key: list[Any] = []
        low: list[int] = [0] * len(sizes)
        high: list[int] = [0] * len(sizes)
        # An array of bools takes as many axes as it has.
        entries: list[Any] = [k if k is None or k is Ellipsis or isinstance(k, slice) else _weft.asarray(k) for k in self._key]
        masks: list[bool] = [not isinstance(k, slice) and k is not None and k is not Ellipsis and k.dtype == "bool" for k in entries]
        taken: list[int] = [0 if k is None or k is Ellipsis else k.ndim if mask else 1 for k, mask in zip(entries, masks, strict=True)]
        axis: int = 0
        for entry, mask, axes in zip(entries, masks, taken, strict=True):
            if entry is Ellipsis:
                axis += len(sizes) - sum(taken)
            elif entry is not None and not mask and not isinstance(entry, slice) and axis < len(sizes):
                n = sizes[axis]
                if mode == "wrap":
                    entry = entry % n
                else:
                    entry = _weft.where(entry < 0, entry + n, entry)
                    if mode == "clip":
                        entry = _weft.clip(entry, 0, n - 1)
                    else:  # behind the axis is a position of no element
                        high[axis] = 1
                        entry = _weft.where((entry < 0) | (entry > n), n, entry)
            key.append(entry)
            axis += axes
        if mode == "drop":
            positions = _weft.pad_interior(positions, count, low, high, low)
        return positions[tuple(key)]

    def _updated(self, function: str, value: Any, mode: str, reduction: str) -> Any:
        if mode == "error":
            return _weft.internal_updated(self._x, self._key, value, function)
        positions = self._positions(function, mode)
        # In the dtype of the tensor, as an assignment has it.
        given = _weft.internal_value_for(self._x, value, f"at[...].{function}")
        wide = _weft.broadcast(-given if function == "subtract" else given, _sizes_of(positions))
        return _weft.scatter_elements(self._x, positions, wide, reduction)

    @users_lines
    def get(self, mode: str = "error") -> Any:
        """The elements, those that are out of range by the mode; 'drop' has 0 for them."""
        if mode == "error":
            return self._x[self._key]
        positions = self._positions("get", mode)
        row = _weft.reshape(self._x, -1)
        return _weft.gather(_weft.pad_interior(row, _weft.cast(0, row.dtype), [0], [int(mode == "drop")], [0]), positions)

    @users_lines
    def set(self, value: Any, mode: str = "error") -> Any:
        """With these elements instead; of several for one element the last."""
        return self._updated("set", value, mode, "set")

    @users_lines
    def add(self, value: Any, mode: str = "error") -> Any:
        """With these added, all where there are several for one element."""
        return self._updated("add", value, mode, "add")

    @users_lines
    def subtract(self, value: Any, mode: str = "error") -> Any:
        """With these subtracted, all where there are several for one element."""
        return self._updated("subtract", value, mode, "add")

    @users_lines
    def multiply(self, value: Any, mode: str = "error") -> Any:
        """Multiplied by these, by all where there are several for one element."""
        return self._updated("multiply", value, mode, "multiply")

    @users_lines
    def min(self, value: Any, mode: str = "error") -> Any:
        """With the smallest of the element and these."""
        return self._updated("min", value, mode, "min")

    @users_lines
    def max(self, value: Any, mode: str = "error") -> Any:
        """With the largest of the element and these."""
        return self._updated("max", value, mode, "max")


@users_lines
def broadcast_shapes(*shapes: Any) -> tuple[int | None, ...]:
    """The shape that tensors of these shapes broadcast to; None is a size that is not known.

    >>> wf.broadcast_shapes((2, 1), (3,))
    (2, 3)

    Raises:
        ShapeError: if they do not broadcast
    """
    for shape in shapes:
        if not isinstance(shape, (int, tuple, list)):
            raise _weft.DTypeError(f"broadcast_shapes: shapes has a {type(shape).__name__}: lists of sizes are wanted")
    lists = [(shape,) if isinstance(shape, int) else tuple(shape) for shape in shapes]
    found: list[int | None] = [1] * max(map(len, lists), default=0)
    for shape in lists:
        for i in range(-len(shape), 0):
            size, other = shape[i], found[i]
            if size == 1 or size == other:
                continue
            if other == 1 or (other is None and size is not None):
                found[i] = size
            elif size is not None:
                raise _weft.ShapeError(f"broadcast_shapes: the shapes do not broadcast: {', '.join(map(str, lists))}")
    return tuple(found)
