"""Loops over data sets in traced functions: what `enumerate` and `zip` make of them."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft import _data, _weft

__all__ = ["KINDS", "Enumerated", "Source", "Zipped", "note_together"]

Tensors = list[Any]


_together_on_ranks: weakref.WeakSet[Any] = weakref.WeakSet()


def note_together(dataset: Any) -> None:
    """That all ranks of the world go over the data set in step, each over its part of the same batches: loops
    over it are collectives."""
    _together_on_ranks.add(dataset)


class _Staged:
    """Something that only a `for` statement of a traced function goes through."""

    def __iter__(self) -> Iterator[Any]:
        raise _weft.AutoGraphError(
            f"{type(self).__name__.lower()} data sets in a traced function can only be gone "
            "through by a `for` statement"
        )


class Enumerated(_Staged):
    """`enumerate(dataset, start)`."""

    def __init__(self, inner: Any, start: Any) -> None:
        self.inner, self.start = inner, start


class Zipped(_Staged):
    """`zip(dataset, ...)`."""

    def __init__(self, inner: Sequence[Any]) -> None:
        self.inner = [_part(x) for x in inner]


def _part(x: Any) -> Any:
    if isinstance(x, range):
        return _data.range(x.start, x.stop, x.step)
    if isinstance(x, KINDS):
        return x
    raise _weft.AutoGraphError(
        f"zip of a data set and a {type(x).__name__}: make a data set of that too, by "
        "weft.data.from_iterable or from_tensors"
    )


KINDS: tuple[type, ...] = (_data.Dataset, Enumerated, Zipped, _weft.internal_DataIterator)
"""What loops over are staged as loops over data sets."""


class Source:
    """What a loop goes through: data sets, each of which gives a part of the element."""

    def __init__(self, dataset: Any) -> None:
        self._root = dataset
        self._datasets: list[_data.Dataset[Any]] = []
        self._counts = False
        self._collect(dataset)

    def _collect(self, x: Any) -> None:
        if isinstance(x, Enumerated):
            self._counts = True
            self._collect(x.inner)
        elif isinstance(x, Zipped):
            for inner in x.inner:
                self._collect(inner)
        elif isinstance(x, _weft.internal_DataIterator):
            raise _weft.AutoGraphError(
                "a loop of a traced function goes through a data set, not through an iterator that "
                "stands somewhere in it: write `for element in dataset`"
            )
        else:
            self._datasets.append(x)

    def _element(self, parts: list[Any], number: Any) -> Any:
        return _together(self._root, iter(parts), number)

    def stand_in(self) -> Any:
        """A traced element for blocks that are forgotten."""
        number = _weft.zeros([], "int32") if self._counts else None
        return self._element(_weft.internal_stand_ins(self._datasets), number)

    def each(
        self,
        name: str,
        more: Callable[[Tensors], Any] | None,
        body: Callable[[Any, Tensors], Tensors],
        state: Tensors,
    ) -> Tensors:
        """Records the loop."""
        if not self._counts:

            def plain(parts: list[Any], now: Tensors) -> Tensors:
                return body(self._element(parts, None), now)

            return _weft.internal_each(name, self._datasets, more, plain, state, self._in_step())

        def goes_on(now: Tensors) -> Any:
            assert more is not None
            return more(now[1:])

        def iteration(parts: list[Any], now: Tensors) -> Tensors:
            return [now[0] + 1, *body(self._element(parts, now[0]), now[1:])]

        entry = [_weft.zeros([], "int32"), *state]
        test = None if more is None else goes_on
        return _weft.internal_each(name, self._datasets, test, iteration, entry, self._in_step())[1:]

    def _in_step(self) -> bool:
        return any(dataset in _together_on_ranks for dataset in self._datasets)


def _together(x: Any, parts: Iterator[Any], number: Any) -> Any:
    if isinstance(x, Enumerated):
        return (number + x.start, _together(x.inner, parts, number))
    if isinstance(x, Zipped):
        return tuple([_together(inner, parts, number) for inner in x.inner])
    return next(parts)
