"""Builtin functions on traced tensors, and what a loop over them counts through."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any, SupportsIndex

from .staging import Staging, Tensor, context, current, errors, library

_MISSING = object()


def _traced(x: object) -> bool:
    staging = current()
    return staging is not None and staging.is_traced(x)


def can_be_staged(x: object) -> bool:
    """Whether a loop over `x` is one over tensors."""
    if isinstance(x, Rows):
        return True
    staging = current()
    return staging is not None and staging.is_tracing() and staging.is_tensor(x)


# What loops go through.


class Rows:
    """Something of a number of turns, each of which has an item."""

    def turns(self) -> Any:
        """How many there are: an int, or a traced integer scalar."""
        raise NotImplementedError

    def item(self, i: Any) -> Any:
        """The item of turn `i`, an integer scalar."""
        raise NotImplementedError

    def bounds(self) -> tuple[Any, Any, int]:
        """Start, stop and step of what is counted; `at` takes the number."""
        return 0, self.turns(), 1

    def at(self, number: Any) -> Any:
        """The item at a number of `bounds`."""
        return self.item(number)

    def __iter__(self) -> Iterator[Any]:
        raise errors().autograph(
            f"a {self.said()} of a traced tensor can only be gone through by a `for` statement: "
            "how often it runs is known when the program runs"
        )

    def said(self) -> str:
        """What the user wrote."""
        return type(self).__name__.lower()


class TensorRows(Rows):
    """The slices of a tensor along its first axis."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        shape = library().type_of(tensor).shape
        if not shape:
            raise errors().autograph("a scalar tensor has no rows to iterate over")
        self._size = shape[0]

    def turns(self) -> Any:
        return library().op("size", self._tensor) if self._size is None else self._size

    def item(self, i: Any) -> Any:
        return library().op("row", self._tensor, i)


def _is_integer(x: Any) -> bool:
    if not library().is_tensor(x):
        return isinstance(x, SupportsIndex)
    kind = library().type_of(x)
    return not kind.shape and kind.dtype.startswith("int")


class Range(Rows):
    """`range` of bounds that are known when the program runs."""

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        for name, x in (("start", start), ("stop", stop), ("step", step)):
            if not _is_integer(x):
                raise errors().dtype(
                    f"range: {name} is {x!r}: integers are wanted, or integer scalar tensors"
                )
        if _traced(step):
            library().assert_(step != 0, "range: the step is 0")
        elif step == 0:
            raise errors().value("range: the step is 0")
        self._start, self._stop = start, stop
        self._step = step if _traced(step) else int(step)

    def turns(self) -> Any:
        span = self._stop - self._start
        if type(self._step) is int and self._step == 1:
            return span
        return -(-span // self._step)

    def item(self, i: Any) -> Any:
        return self._start + i * self._step

    def bounds(self) -> tuple[Any, Any, int]:
        if type(self._step) is int:
            return self._start, self._stop, self._step
        return 0, self.turns(), 1

    def at(self, number: Any) -> Any:
        return number if type(self._step) is int else self.item(number)


class Steps(TensorRows):
    """The numbers of a tensor that holds evenly spaced ones: they are counted, and not looked up."""

    def __init__(self, tensor: Tensor, start: Any, stop: Any, step: int) -> None:
        super().__init__(tensor)
        self._bounds = start, stop, step

    def item(self, i: Any) -> Any:
        return self._bounds[0] + i * self._bounds[2]

    def bounds(self) -> tuple[Any, Any, int]:
        return self._bounds

    def at(self, number: Any) -> Any:
        return number


class Enumerate(Rows):
    """`enumerate` of tensors."""

    def __init__(self, inner: Rows, start: Any) -> None:
        self._inner, self._start = inner, start

    def turns(self) -> Any:
        return self._inner.turns()

    def item(self, i: Any) -> Any:
        return (i + self._start, self._inner.item(i))


class Zip(Rows):
    """`zip` of tensors: as many turns as the shortest has."""

    def __init__(self, inner: list[Rows]) -> None:
        self._inner = inner

    def turns(self) -> Any:
        counts = [rows.turns() for rows in self._inner]
        known = [n for n in counts if type(n) is int]
        result: Any = builtins.min(known) if known else None
        for n in counts:
            if type(n) is not int:
                result = n if result is None else library().op("minimum", n, result)
        return result

    def item(self, i: Any) -> Any:
        return tuple([rows.item(i) for rows in self._inner])


class Reversed(Rows):
    """`reversed` of a tensor."""

    def __init__(self, inner: Rows) -> None:
        self._inner = inner

    def turns(self) -> Any:
        return self._inner.turns()

    def item(self, i: Any) -> Any:
        return self._inner.item(self.turns() - 1 - i)


class Map(Rows):
    """`map` over tensors."""

    def __init__(self, call: Callable[[Any], Any], inner: Zip) -> None:
        self._call, self._inner = call, inner

    def turns(self) -> Any:
        return self._inner.turns()

    def item(self, i: Any) -> Any:
        return self._call(self._inner.item(i))


def rows_of(x: Any) -> Rows:
    """What a loop over `x`, which can be staged, goes through."""
    if isinstance(x, Rows):
        return x
    counted = library().range_of(x)
    return TensorRows(x) if counted is None else Steps(x, *counted)


def _mixed(name: str, xs: tuple[Any, ...]) -> list[Rows]:
    """The rows of arguments of which one is a tensor: all must be."""
    rows: list[Rows] = []
    for x in xs:
        if isinstance(x, range):
            rows.append(Range(x.start, x.stop, x.step))
        elif can_be_staged(x):
            rows.append(rows_of(x))
        else:
            raise errors().autograph(
                f"{name} of a traced tensor and a Python {type(x).__name__}: make a tensor of that "
                "too, so that both have rows when the program runs"
            )
    return rows


# The functions.


def _range(*args: Any, **kwargs: Any) -> Any:
    if not kwargs and 0 < len(args) < 4 and any(map(_traced, args)):
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        return Range(start, stop, step)
    return range(*args, **kwargs)


def _dataset(x: object) -> bool:
    """Whether a loop over `x` is one over a data set, and recorded."""
    staging = current()
    return staging is not None and staging.is_tracing() and staging.is_dataset(x)


def _enumerate(iterable: Any, start: Any = 0) -> Any:
    if can_be_staged(iterable):
        return Enumerate(rows_of(iterable), start)
    if _dataset(iterable):
        return library().enumerated(iterable, start)
    return enumerate(iterable, start)


def _zip(*xs: Any, **kwargs: Any) -> Any:
    if any(map(_dataset, xs)):
        return library().zipped(xs)
    if any(map(can_be_staged, xs)):
        return Zip(_mixed("zip", xs))
    return zip(*xs, **kwargs)


def mapped(call: Callable[[Any], Any], xs: tuple[Any, ...]) -> Any:
    """`map` of a function, which `call` calls with a tuple of arguments."""
    if any(map(can_be_staged, xs)):
        return Map(call, Zip(_mixed("map", xs)))
    return map(lambda *row: call(row), *xs)


def filtered(call: Callable[[Any], Any] | None, x: Any) -> Any:
    """`filter` by such a function, or by the truth of the entries themselves."""
    if can_be_staged(x):
        raise errors().autograph(
            "filter of a traced tensor: how many are left is known when the program runs; write a "
            "`for` loop with an `if`"
        )
    if call is None:
        return filter(None, x)

    def holds(entry: Any) -> Any:
        return call((entry,))

    return filter(holds, x)


def _reversed(x: Any) -> Any:
    return Reversed(rows_of(x)) if can_be_staged(x) else reversed(x)


def _len(x: Any) -> Any:
    staging = current()
    if staging is not None and staging.is_traced(x):
        shape = staging.type_of(x).shape
        if not shape:
            raise TypeError("a scalar tensor has no len()")
        return staging.op("size", x) if shape[0] is None else shape[0]
    if isinstance(x, Rows):
        return x.turns()
    return len(x)


def _cast(kind: Any) -> Callable[..., Any]:
    name: str = kind.__name__

    def cast(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and _traced(args[0]):
            return library().op(name, args[0])
        return kind(*args, **kwargs)

    return cast


def _reduce(function: Any, pair: str | None) -> Callable[..., Any]:
    name: str = function.__name__

    def reduce(*args: Any, **kwargs: Any) -> Any:
        staging = current()
        if staging is None or kwargs or not any(map(staging.is_traced, args)):
            return function(*args, **kwargs)
        if len(args) == 1:
            return _over_rows(staging, name, args[0])
        if name == "sum":
            return staging.op("sum", args[0]) + args[1]
        if pair is None:
            return function(*args)
        result = args[0]
        for x in args[1:]:
            result = staging.op(pair, result, x)
        return result

    return reduce


def _over_rows(staging: Staging, name: str, x: Tensor) -> Tensor:
    rank = len(staging.type_of(x).shape)
    if rank != 1 and name != "sum":
        raise errors().autograph(
            f"{name} of a traced tensor of rank {rank}: reduce it with the library's own function, "
            "along the axis that is meant"
        )
    return staging.op(name, x)


def _sorted(x: Any, /, **kwargs: Any) -> Any:
    staging = current()
    if staging is None or not staging.is_traced(x):
        return sorted(x, **kwargs)
    if kwargs.get("key") is not None:
        raise errors().autograph("sorted of a traced tensor takes no key")
    result = staging.op("sort", x)
    return staging.op("flip", result) if kwargs.get("reverse") else result


def _next(*args: Any) -> Any:
    staging = current()
    if staging is not None and context.bodies and staging.is_dataset(args[0]):
        raise errors().autograph(
            "next() of a data set in a loop or branch that a tensor decides would take one element "
            "while tracing: write `for element in data`"
        )
    return next(*args)


BUILTINS: dict[Any, Callable[..., Any]] = {
    range: _range,
    enumerate: _enumerate,
    zip: _zip,
    reversed: _reversed,
    len: _len,
    int: _cast(int),
    float: _cast(float),
    bool: _cast(bool),
    sum: _reduce(sum, None),
    min: _reduce(min, "minimum"),
    max: _reduce(max, "maximum"),
    any: _reduce(any, None),
    all: _reduce(all, None),
    sorted: _sorted,
    next: _next,
}
"""What is called instead of a builtin function or class, besides `map` and `filter`, which call converted functions."""
