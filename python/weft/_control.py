"""Control flow as functions: `cond`, `switch_case`, `while_loop`, `for_loop`, `break_if`, `scan`; and `range`."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from weft import _weft

from ._arguments import integer, options
from ._late import imported
from ._tracebacks import users_lines
from ._trees import check_listed, is_listed

__all__ = ["break_if", "cond", "for_loop", "range", "scan", "switch_case", "while_loop"]


def run_part(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function that one of the package was handed, converted if what calls that is."""
    # Nothing converts before somebody has traced a function, which imports this.
    if "weft._autograph.staging" in sys.modules:
        from ._autograph import calls
        from ._autograph.staging import context

        if context.converts:
            return calls.converted_call(f, args, kwargs or None)
    return f(*args, **kwargs)


class _Shape:
    """The structure and the dtypes that all parts give, and tensors of them. A number of Python takes
    the dtype of the others where its kind allows that."""

    def __init__(self, name: str) -> None:
        imported("weft._staging").install()
        self._name = name
        self._spec: Any = None
        self._leaves: list[Any] | None = None  # of the first part
        self._dtypes: list[str] = []
        self._first = ""  # what messages call the first part
        self._tried: dict[int, list[str]] = {}  # dtypes of the first part's numbers, by leaf

    def tensors(self, value: Any, part: str = "") -> list[Any]:
        """The tensors of a value; `part` says what gave it, and is empty for what a loop carries.
        Throws ValueError unless it is of the structure of the first, and DTypeError for another
        dtype. Throws Retry where a number of the first part has to be of another dtype."""
        from ._autograph import trees

        leaves = self.check(value)
        if self._leaves is None:
            self._leaves, self._first = leaves, part
            tensors = [
                _weft.internal_as_tensor(
                    leaf if part else trees.plain(leaf), self._tried[n][-1] if n in self._tried else None
                )
                for n, leaf in enumerate(leaves)
            ]
            self._dtypes = [_weft.internal_type_of(x)[0] for x in tensors]
            return tensors
        return [self._agreed(n, leaf, part) for n, leaf in enumerate(leaves)]

    def check(self, value: Any) -> list[Any]:
        """The leaves of a value. Throws ValueError unless it is of the structure of the first."""
        from ._autograph import trees

        leaves: list[Any] = []
        spec = trees.flatten(value, leaves)
        if self._spec is None:
            self._spec = spec
        elif spec != self._spec:
            raise _weft.ValueError(
                f"{self._name}: all parts must give the same structure, and one gives "
                f"{trees.text_of(value)}"
            )
        return leaves

    def _agreed(self, n: int, leaf: Any, part: str) -> Any:
        from ._autograph import trees
        from ._autograph.branches import Retry

        assert self._leaves is not None
        first, mine, is_number = self._leaves[n], self._dtypes[n], trees.is_number(leaf)
        tensor = _weft.internal_as_tensor(leaf, mine if is_number else None)
        theirs = _weft.internal_type_of(tensor)[0]
        if theirs == mine:
            return tensor
        # What a loop carries may begin as a number of a lower kind, as `total = 0` does.
        if trees.is_number(first) and not (part and is_number):
            again = _weft.internal_as_tensor(first, theirs)
            tried = self._tried.setdefault(n, [])
            if _weft.internal_type_of(again)[0] == theirs and theirs not in tried:
                tried.append(theirs)
                raise Retry
        if part:
            what = "the result" if self._spec == trees.LEAF else f"number {n} of the result"
            raise _weft.DTypeError(
                f"{self._name}: {what} is {mine} in {self._first}, but {theirs} in {part}: cast one of them"
            )
        return tensor

    def agree(self, run: Callable[[], Any]) -> Any:
        """What `run` gives once all parts agree."""
        from ._autograph.branches import Retry

        while True:
            self._leaves = None
            try:
                return run()
            except Retry:
                continue

    def value(self, tensors: Sequence[Any]) -> Any:
        """The value of these tensors."""
        from ._autograph import trees

        return trees.rebuild(self._spec, iter(tensors))


@options
def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """`true_fn()` if `pred` holds, else `false_fn()`. In a traced function both are recorded, and
    give the same structure, dtypes and ranks; a number of Python takes the dtype of the other branch's
    tensor where its kind allows that.

    >>> x = wf.tensor(3.0)
    >>> wf.cond(x > 0, lambda: x, lambda: -x)
    tensor(3.0, shape=(), dtype=float32)

    Raises:
        DTypeError, ShapeError: if `pred` is no bool scalar, or what they give differs in type
        ValueError: if it differs in structure
    """
    if not _weft.internal_is_traced(pred):
        return run_part(true_fn) if pred else run_part(false_fn)
    shape = _Shape("cond")

    def then() -> list[Any]:
        return shape.tensors(run_part(true_fn), "true_fn")

    def otherwise() -> list[Any]:
        return shape.tensors(run_part(false_fn), "false_fn")

    return shape.value(shape.agree(lambda: _weft.internal_branch("cond", pred, then, otherwise)))


@options
def switch_case(branch_index: Any, branch_fns: Sequence[Callable[[], Any]]) -> Any:
    """The function of that number, called; below 0 or past the end the last one.

    >>> wf.switch_case(1, [lambda: wf.tensor(10), lambda: wf.tensor(20)])
    tensor(20, shape=(), dtype=int32)

    Raises:
        DTypeError, ShapeError: if the index is no integer scalar, or results differ in type
        ValueError: if there is no function, or results differ in structure
    """
    if not branch_fns:
        raise _weft.ValueError("switch_case: there is no function to choose from")
    if not _weft.internal_is_traced(branch_index):
        at = int(branch_index)
        return run_part(branch_fns[at if 0 <= at < len(branch_fns) else -1])
    shape = _Shape("switch_case")

    def case(i: int, f: Callable[[], Any]) -> Callable[[], list[Any]]:
        return lambda: shape.tensors(run_part(f), f"branch_fns[{i}]")

    cases = [case(i, f) for i, f in enumerate(branch_fns)]
    return shape.value(
        shape.agree(lambda: _weft.internal_choose("switch_case", branch_index, cases))
    )


class _Break(NamedTuple):
    """The next state of a loop, and whether its body breaks out of it."""

    predicate: Any
    state: tuple[Any, ...]


@options
def break_if(predicate: Any, *state: Any) -> Any:
    """What the body of `while_loop` or `for_loop` may return instead of its next state: the loop ends
    with this iteration, and gives this state, if the predicate holds. The condition of the loop is not
    asked again. Where only a branch breaks, both branches of a `cond` return one:
    `wf.cond(found, lambda: wf.break_if(True, x), lambda: wf.break_if(False, next(x)))`.

    >>> wf.for_loop(9, lambda i, s: wf.break_if(s + i > 5, s + i), [wf.tensor(0)])
    [tensor(6, shape=(), dtype=int32)]

    Raises:
        DTypeError, ShapeError: if the predicate is no bool scalar
    """
    return _Break(_weft.internal_break_predicate(predicate), state)


class _Body:
    """The body of a loop, which may break out of it."""

    def __init__(self, shape: _Shape | None, body: Callable[..., Any]) -> None:
        self._shape, self._body = shape, body
        self.breaks = False  # whether an iteration gave a `break_if`

    def values(self, values: Any, *first: Any) -> tuple[list[Any], Any]:
        """The values of the next iteration, and whether there is none behind it."""
        after: Any = run_part(self._body, *first, *values)
        if type(after) is not _Break:
            return _next(after, values), False
        return _next(list(after.state), values), after.predicate

    def tensors(self, tensors: list[Any], *first: Any) -> list[Any]:
        """The same of a trace. Throws Retry once the loop is known to break."""
        assert self._shape is not None
        values, breaks = self.values(self._shape.value(tensors), *first)
        if breaks is not False and not self.breaks:
            from ._autograph.branches import Retry

            self.breaks = True
            raise Retry
        found = self._shape.tensors(values)
        return [*found, _weft.internal_as_tensor(breaks, None)] if self.breaks else found


@options
def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any]
) -> Any:
    """`loop_vars = body(*loop_vars)` as long as `cond(*loop_vars)` holds. In a traced function the
    loop is recorded once; what it carries keeps its structure, dtypes and ranks, and sizes that
    change are unknown in it. A number of Python that it starts with takes the dtype of an iteration.
    A body that gives `break_if(predicate, ...)` ends the loop where the predicate holds.

    >>> wf.while_loop(lambda n: n < 100, lambda n: n * 2, [wf.tensor(3)])
    [tensor(192, shape=(), dtype=int32)]

    Raises:
        DTypeError, ShapeError: if the condition is no bool scalar, or a variable changes its type
        ValueError: if the structure changes
    """
    check_listed("while_loop", "loop_vars", loop_vars)
    if not _weft.internal_is_staged():
        values: Any = loop_vars
        breaks: Any = False
        while not breaks and run_part(cond, *values):
            values, breaks = _Body(None, body).values(values)
        return values
    shape = _Shape("while_loop")
    iteration = _Body(shape, body)

    def holds(tensors: list[Any]) -> Any:
        return run_part(cond, *shape.value(tensors))

    def run() -> list[Any]:
        state = shape.tensors(list(loop_vars))
        return _weft.internal_loop("while_loop", holds, iteration.tensors, state, iteration.breaks)

    results: list[Any] = shape.value(shape.agree(run))
    return results if isinstance(loop_vars, list) else tuple(results)


def _next(after: Any, values: Any) -> list[Any]:
    """What the body of a loop gave: as many values as there are variables, or the only one."""
    if after is None and len(values) == 1 and values[0] is not None:
        raise _weft.ValueError(
            "the body of a loop of one variable gives its next value, and gave None: does it return one?"
        )
    many = len(values) != 1 or type(after) in (list, tuple)
    if many and not is_listed(after):
        raise _weft.ValueError(
            f"the body of a loop of {len(values)} variables gives as many, in a list or a tuple, and not a "
            f"{type(after).__name__}"
        )
    items: Any = after if many else [after]
    given: list[Any] = [*items]
    if any(x is None and y is not None for x, y in zip(given, values, strict=False)):
        raise _weft.ValueError(
            "the body of a loop gives None in the place of a variable: it gives all of them, as they were before"
        )
    return given


def _bounds(iterations: Any) -> tuple[Any, Any, int]:
    """Start, stop and step of what a loop counts."""
    if isinstance(iterations, builtins.range):
        return iterations.start, iterations.stop, iterations.step
    if is_listed(iterations):
        if not 2 <= len(iterations) <= 3:
            raise _weft.ValueError(
                "for_loop: iterations are a count, (start, stop), or (start, stop, step), not "
                f"{len(iterations)} values"
            )
        start, stop, step = (*iterations, 1)[:3]
    else:
        start, stop, step = 0, iterations, 1
    for bound in (start, stop):
        if not _weft.internal_is_tensor(bound):
            integer("for_loop: iterations", bound)
    if type(step) is not int or step == 0:
        raise _weft.ValueError(f"for_loop: the step is an int other than 0, not {step!r}")
    return start, stop, step


@options
def for_loop(iterations: Any, body: Callable[..., Any], loop_vars: Sequence[Any]) -> Any:
    """`loop_vars = body(i, *loop_vars)` for each number of the iterations: a count, `(start, stop)`,
    `(start, stop, step)`, or a `range`, with ints or integer scalars. In a traced function the loop
    is recorded once, and its body may give a `break_if`, as in `while_loop`.

    >>> wf.for_loop(4, lambda i, s: s + i, [wf.tensor(0)])
    [tensor(6, shape=(), dtype=int32)]

    Raises:
        DTypeError, ShapeError: if a bound is no integer scalar, or a variable changes its type
        ValueError: if the structure changes, or the step is 0
    """
    check_listed("for_loop", "loop_vars", loop_vars)
    start, stop, step = _bounds(iterations)
    if not _weft.internal_is_staged():
        values: Any = loop_vars
        for i in builtins.range(int(start), int(stop), step):
            values, breaks = _Body(None, body).values(values, i)
            if breaks:
                break
        return values
    shape = _Shape("for_loop")
    iteration = _Body(shape, body)

    def turn(i: Any, tensors: list[Any]) -> list[Any]:
        return iteration.tensors(tensors, i)

    def run() -> list[Any]:
        state = shape.tensors(list(loop_vars))
        return _weft.internal_count("for_loop", start, stop, step, turn, state, iteration.breaks)

    results: Any = shape.value(shape.agree(run))
    return results if isinstance(loop_vars, list) else tuple(results)


@options
def scan(
    body: Callable[[Any, Any], tuple[Any, Any]], init: Any, xs: Any, reverse: bool = False
) -> tuple[Any, Any]:
    """Threads a carry along the first axis of the tensors in `xs`, which all have its size:
    `(carry, y) = body(carry, x)` for each slice x. Gives the last carry, and the y's stacked along
    a new first axis in the order of `xs`. Carry, slices and y's are tensors, or lists, tuples and
    dicts of them; the carry keeps its structure, dtypes and ranks, but numbers of Python that it
    starts with take the dtype of an iteration. It is recorded once in a traced
    function, and has a gradient.

    >>> wf.scan(lambda s, x: (s + x, s), wf.tensor(0.0), wf.tensor([1.0, 2.0, 3.0]))
    (tensor(6.0, shape=(), dtype=float32), tensor([0., 1., 3.], shape=(3,), dtype=float32))

    Args:
        reverse: whether it goes from the last slice to the first

    Raises:
        ShapeError: if sizes along the first axis differ, or y's are of different shapes
        DTypeError: if the carry changes its dtype
        ValueError: if the body gives no pair, the structure changes, or there is nothing to scan
    """
    carry, slices, ys = _Shape("scan"), _Shape("scan"), _Shape("scan")
    tensors = slices.tensors(xs)

    def step(before: Any, x: Any) -> tuple[Any, Any]:
        result: Any = run_part(body, before, x)
        if not is_listed(result) or len(result) != 2:
            raise _weft.ValueError("scan: the body gives a pair: the next carry, and what is stacked")
        return result[0], result[1]

    if not _weft.internal_is_tracing() and _holds_number(init):
        count = min((len(x) for x in tensors), default=0)
        if count and all(len(x) == count for x in tensors):
            return _scan_of_values(step, init, tensors, slices, reverse)

    split = len(carry.tensors(init))

    def turn(given: list[Any]) -> list[Any]:
        after, y = step(carry.value(given[:split]), slices.value(given[split:]))
        return [*carry.tensors(after), *ys.tensors(y)]

    def run() -> list[Any]:
        return _weft.internal_scan(turn, carry.tensors(init), tensors, reverse)

    results = carry.agree(run)
    return carry.value(results[:split]), ys.value(results[split:])


def _holds_number(value: Any) -> bool:
    from ._autograph import trees

    leaves: list[Any] = []
    trees.flatten(value, leaves)
    return any(map(trees.is_number, leaves))


def _scan_of_values(
    step: Callable[[Any, Any], tuple[Any, Any]],
    carry: Any,
    tensors: list[Any],
    slices: _Shape,
    reverse: bool,
) -> tuple[Any, Any]:
    """A scan whose carry holds numbers of Python, which are as weak as everywhere: a loop of Python."""
    carries, ys = _Shape("scan"), _Shape("scan")
    carries.check(carry)
    rows: list[list[Any]] = []
    count = len(tensors[0])
    for i in reversed(builtins.range(count)) if reverse else builtins.range(count):
        carry, y = step(carry, slices.value([x[i] for x in tensors]))
        carries.check(carry)
        rows.append(ys.check(y))
    if reverse:
        rows.reverse()
    stacked = [_weft.stack(list(column)) for column in zip(*rows, strict=True)]
    last = [_weft.internal_as_tensor(leaf, None) for leaf in carries.check(carry)]
    return carries.value(last), ys.value(stacked)


@users_lines
def range(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Any:
    """start, start + step, ... before stop, as a tensor; with one argument from 0 on. Where a bound
    is a traced tensor, what a `for` of a traced function goes through.

    >>> wf.range(2, 8, 2)
    tensor([2, 4, 6], shape=(3,), dtype=int32)

    Raises:
        ValueError: if the step is 0
    """
    given = (start, step) if stop is None else (start, stop, step)
    if not any(_weft.internal_is_traced(x) for x in given):
        return _weft.arange(start, stop, step, dtype)
    from . import _staging
    from ._autograph import overloads

    _staging.install()
    if dtype is not None:
        start, stop, step = (x if x is None else _weft.cast(x, dtype) for x in (start, stop, step))
    return overloads.Range(0, start, step) if stop is None else overloads.Range(start, stop, step)
