"""Ops that take functions."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import weft as wf
from weft import _weft
from weft._trees import is_dict

from . import _more


def function(f: Any, options: dict[str, Any]) -> Any:
    """A traced function whose results are tensors where those of the function are numbers or
    variables, which have other values later."""

    traces: Any = wf.function

    def made(f: Any) -> Any:
        traced: Any = traces(f, **options)
        traced._weft_results = _as_results
        return traced

    return made if f is None else made(f)


def _as_results(results: Any) -> Any:
    return _more.map_structure(_as_result, [results])


def _as_result(x: Any) -> Any:
    if isinstance(x, wf.Variable):
        return x.value()
    return wf.constant(x) if isinstance(x, int | float) else x


def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any) -> Any:
    """The loop, of at most so many turns; its results are a list or a tuple, as its variables."""
    listed = isinstance(loop_vars, list)
    most: Any = maximum_iterations
    start: list[Any] = [wf.asarray(x) if isinstance(x, int | float) else x for x in loop_vars]
    if maximum_iterations is not None:
        start = [wf.constant(0), *start]

    def holds(turn: Any, *values: Any) -> Any:
        return wf.logical_and(wf.less(turn, most), cond(*values))

    def step(turn: Any, *values: Any) -> Any:
        after = body(*values)
        many = len(values) != 1 or type(after) in (list, tuple)
        return (turn + 1, *(after if many else [after]))

    if maximum_iterations is None:
        results: Any = wf.while_loop(cond, body, start)
    else:
        results = wf.while_loop(holds, step, start)[1:]
    return list(results) if listed else tuple(results)


def switch_case(index: Any, branches: Any, default: Any) -> Any:
    """The function of that number, called; the default for numbers that have none, or the last."""
    if not is_dict(branches):
        return wf.switch_case(index, branches if default is None else [*branches, default])
    numbers: list[int] = sorted(branches)
    if numbers != list(range(len(numbers))):
        raise _weft.ValueError(
            f"switch_case: the keys are {numbers}: they are the numbers from 0 on"
        )
    return switch_case(index, [branches[number] for number in numbers], default)


def case(pairs: Any, default: Any, strict: bool) -> Any:
    """The function of the first condition that holds, called; without a default the last one is
    it. With `strict` no other condition may hold."""
    listed: list[Any] = list(pairs.items() if is_dict(pairs) else pairs)
    if not listed:
        raise _weft.ValueError("case: there is no pair of a condition and a function")
    if strict:
        from . import _checks

        count = wf.sum(wf.cast(wf.stack([wf.asarray(p) for p, _ in listed]), "int32"))
        _checks.assert_that("<=", wf.less_equal, count, 1, "case: more than one condition holds")
    last = listed.pop()[1] if default is None else default
    for condition, function in reversed(listed):
        last = _either(condition, function, last)
    return last()


def _either(condition: Any, then: Any, otherwise: Any) -> Callable[[], Any]:
    return lambda: wf.cond(condition, then, otherwise)


# Along the first axis.


def map_fn(function: Callable[[Any], Any], elems: Any) -> Any:
    """What a function gives for each slice, stacked."""

    def step(carry: Any, x: Any) -> Any:
        return carry, function(x)

    return wf.scan(step, (), elems)[1]


def fold(function: Callable[[Any, Any], Any], elems: Any, initial: Any, reverse: bool) -> Any:
    """The last of all values that a function gives for the one before and the next slice."""
    start, rest = _started(elems, initial, reverse)

    def step(carry: Any, x: Any) -> Any:
        return function(carry, x), ()

    return wf.scan(step, start, rest, reverse)[0]


def scan(function: Callable[[Any, Any], Any], elems: Any, initial: Any, reverse: bool) -> Any:
    """All values that a function gives for the one before and the next slice, stacked."""
    start, rest = _started(elems, initial, reverse)

    def step(carry: Any, x: Any) -> Any:
        after = function(carry, x)
        return after, after

    stacked = wf.scan(step, start, rest, reverse)[1]
    if initial is not None:
        return stacked
    first = _of_all(start, None)
    ends = [stacked, first] if reverse else [first, stacked]

    def joined(*parts: Any) -> Any:
        return wf.concatenate(list(parts), 0)

    return _more.map_structure(joined, ends)


def _of_all(elems: Any, index: Any) -> Any:
    """The entries of that index of all tensors of a structure."""

    def entry(x: Any) -> Any:
        return wf.asarray(x)[index]

    return _more.map_structure(entry, [elems])


def _started(elems: Any, initial: Any, reverse: bool) -> tuple[Any, Any]:
    """The first carry, and the slices behind it."""
    if initial is not None:
        return _more.map_structure(wf.asarray, [initial]), elems
    first, rest = (-1, slice(0, -1)) if reverse else (0, slice(1, None))
    return _of_all(elems, first), _of_all(elems, rest)


def host_function(call: Any, func: Any, inp: Any, types: Any, *stateful: bool) -> Any:
    """The results of a function of Python; without one a decorator, of a function that is called with
    tensors then."""
    if func is not None:
        return call(func, inp, types, *stateful)

    def decorate(f: Any) -> Any:
        @functools.wraps(f)
        def on_tensors(*args: Any) -> Any:
            return call(f, list(args), types, *stateful)

        return on_tensors

    return decorate
