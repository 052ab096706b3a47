"""Data sets of tensors that a traced function computes: their loops are parts of its program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import weft as wf
from weft import _weft
from weft._autograph.overloads import Rows
from weft._trees import is_dict, is_listed

from . import _more

__all__ = ["TracedSlices", "holds_traced"]


def holds_traced(x: Any) -> bool:
    """Whether there is a traced tensor in a structure."""
    if is_dict(x):
        return any(map(holds_traced, x.values()))
    if is_listed(x):
        return any(map(holds_traced, x))
    return bool(_weft.internal_is_traced(x))


class TracedSlices(Rows):
    """The slices of tensors along their first axis, while the function is traced that computes
    them: what a `for` statement of it goes through, in batches and mapped by functions."""

    def __init__(self, tensors: Any) -> None:
        self._tensors = _more.map_structure(wf.asarray, [tensors])
        leaves: list[Any] = []
        _more.map_structure(leaves.append, [self._tensors])
        if any(not leaf.ndim for leaf in leaves):
            raise _weft.ShapeError("from_tensor_slices: a scalar has no slices")
        sizes = {leaf.shape[0] for leaf in leaves}
        if len(sizes) > 1:
            raise _weft.ShapeError(
                f"from_tensor_slices: the tensors have {', '.join(map(str, sizes))} slices: as many are wanted"
            )
        self._size: Any = sizes.pop()
        self._first = leaves[0]
        self._maps: list[Callable[[Any, Any], Any]] = []

    def turns(self) -> Any:
        """How many slices or batches there are."""
        return wf.cast(wf.size(self._first, 0), "int32") if self._size is None else self._size

    def item(self, i: Any) -> Any:
        """The slices of that number, or what functions make of them."""

        def row(x: Any) -> Any:
            return wf.gather(x, i, axis=0)

        element = _more.map_structure(row, [self._tensors])
        for f in self._maps:
            element = f(element, i)
        return element

    def said(self) -> str:
        """What messages call it."""
        return "data set"

    def batch(self, batch_size: Any, drop_remainder: bool = False, **other: Any) -> Self:
        """So many slices at a time. All batches are of one size: what is left is dropped, or an error."""
        self._refuse_mapped("batch")
        count = int(batch_size)
        if count == 1:
            return self._of(lambda x: wf.expand_dims(x, 1))
        if self._size is None or (self._size % count and not drop_remainder):
            said = "an open number of" if self._size is None else self._size
            raise _weft.ValueError(
                f"batch: {said} slices, which the traced function computes, do not make batches of {count} alone: "
                "make the data set outside of the function, or drop the remainder of a known number"
            )
        number = self._size // count
        return self._of(
            lambda x: wf.reshape(x[: number * count], [number, count, *x.shape[1:]])
        )

    def map(self, map_func: Callable[..., Any], *args: Any, **other: Any) -> Self:
        """What a function gives for each element; the parts of a tuple are its arguments."""

        def mapped(element: Any, i: Any) -> Any:
            from weft._control import run_part

            return run_part(map_func, *element) if type(element) is tuple else run_part(map_func, element)

        return self._with(mapped)

    def enumerate(self, start: int = 0, name: str | None = None) -> Self:
        """Each element with its number."""
        return self._with(lambda element, i: (wf.cast(i, "int64") + start, element))

    def take(self, count: Any, name: str | None = None) -> Self:
        """The first elements."""
        return self._of(lambda x: x[: int(count)])

    def skip(self, count: Any, name: str | None = None) -> Self:
        """All but the first elements."""
        return self._of(lambda x: x[int(count) :])

    def prefetch(self, buffer_size: Any = None, name: str | None = None) -> Self:
        """The same: there is nothing to make ahead."""
        return self

    def cache(self, filename: str = "", name: str | None = None) -> Self:
        """The same: the tensors are there."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(wf.data.Dataset, name):
            raise AttributeError(f"'TracedSlices' object has no attribute {name!r}", name=name, obj=self)
        raise _weft.StateError(
            f"{name}: a data set of tensors that a traced function computes has batch, map, enumerate, take and "
            "skip: make it outside of the function for others"
        )

    def _refuse_mapped(self, what: str) -> None:
        if self._maps:
            raise _weft.StateError(
                f"{what}: a data set of tensors that a traced function computes is in batches before it is mapped"
            )

    def _of(self, change: Callable[[Any], Any]) -> Self:
        data = type(self)(_more.map_structure(change, [self._tensors]))
        data._maps = [*self._maps]
        return data

    def _with(self, f: Callable[[Any, Any], Any]) -> Self:
        data = self._of(lambda x: x)
        data._maps.append(f)
        return data
