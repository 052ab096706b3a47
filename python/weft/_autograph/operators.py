"""The operators of converted code: Python's control flow, staged where a traced tensor decides."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from operator import eq, ge, gt, is_, is_not, le, lt, ne
from types import TracebackType
from typing import Any

from . import overloads, trees
from .branches import Branches, Retry
from .loops import LoopState
from .staged import Activation, check_place, condition_of, staged
from .staging import AutoGraphWarning, Tensor, context, current, errors, library
from .traceback import autograph_error, user_frame
from .trees import Maybe, Undefined, UndefinedReturnValue

Thunk = Callable[[], Any]
Getter = Callable[[], tuple[Any, ...]]
Setter = Callable[[Sequence[Any]], None]

_UNROLLED = 100


# Functions and variables.


class FunctionScope:
    """The call of a converted function."""

    __slots__ = ("name",)

    def __init__(self, function_name: str, scope_name: str, options: object) -> None:
        self.name = scope_name

    def __enter__(self) -> FunctionScope:
        context.depth += 1
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        depth = context.depth
        context.depth = depth - 1
        while context.refused and context.refused[-1][0] >= depth:
            hidden = context.refused.pop()[1]
            if error is not hidden:
                raise hidden

    def ret(self, value: Any, did_return: Any) -> Any:
        """What the function returns."""
        if isinstance(value, UndefinedReturnValue) or value is None:
            return None
        staging = current()
        if staging is not None and staging.is_traced(did_return):
            raise staging.errors.value(
                "a tensor decides whether this function returns a value: the else branch must also "
                "have a return statement, and so must the end of the function"
            )
        return ld(value)


def with_function_scope(thunk: Callable[[Any], Any], scope_name: str, options: object) -> Any:
    """The call of a converted lambda."""
    with FunctionScope("lambda", scope_name, options) as scope:
        return thunk(scope)


def ld(value: Any) -> Any:
    """Reads a variable."""
    kind = type(value)
    if kind is Undefined:
        return value.read()
    if kind is Maybe:
        library().assert_(
            value.defined, f"'{value.name}' is used before assignment: {value.why}"
        )
        return value.value
    return value


def ldu(read: Thunk, name: str) -> Any:
    """Reads a part of an object, such as `self.x`, that may be missing."""
    try:
        return read()
    except (KeyError, AttributeError, NameError, IndexError):
        return Undefined(name)


def is_undefined(value: Any) -> bool:
    """Whether a part of an object is missing, so that it is not to be set."""
    return isinstance(value, Undefined)


def autograph_artifact(function: Any) -> Any:
    """A function that was converted with the one around it."""
    return function


# Logic.


def not_(x: Any) -> Any:
    """`not x`."""
    staging = current()
    if staging is None or not staging.is_traced(x):
        return not x
    result = staging.op("logical_not", condition_of(x, "`not`"))
    context.negation = (result, x)
    return result


def and_(a: Thunk, b: Thunk) -> Any:
    """`a and b`."""
    first = a()
    staging = current()
    if staging is None or not staging.is_traced(first):
        return first and b()
    return _choose("and", first, b, lambda: first)


def or_(a: Thunk, b: Thunk) -> Any:
    """`a or b`."""
    first = a()
    staging = current()
    if staging is None or not staging.is_traced(first):
        return first or b()
    return _choose("or", first, lambda: first, b)


def if_exp(condition: Any, then: Thunk, orelse: Thunk, text: str) -> Any:
    """`then if condition else orelse`."""
    staging = current()
    if staging is None or not staging.is_traced(condition):
        return then() if condition else orelse()
    return _choose("if", condition, then, orelse)


def _choose(name: str, condition: Tensor, then: Thunk, orelse: Thunk) -> Any:
    said = f"the value of the `{name}` expression"
    branches = Branches([said], [None], condition)
    return _branch(
        f"`{name}`", condition, branches, lambda: (then(),), lambda: (orelse(),)
    )[0]


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge, "is": is_, "is not": is_not,
    "in": lambda a, b: a in b, "not in": lambda a, b: a not in b,
}  # fmt: skip


def chain(left: Any, *links: tuple[str, Thunk]) -> Any:
    """`left < a < b`, each operand evaluated once and not before its turn."""
    op, thunk = links[0]
    right = thunk()
    result = _COMPARISONS[op](left, right)
    if len(links) == 1:
        return result
    return and_(lambda: result, lambda: chain(right, *links[1:]))


# Assert and raise.


def assert_stmt(test: Any, message: Thunk) -> None:
    """`assert test, message`."""
    staging = current()
    if staging is not None and staging.is_traced(test):
        said = message()
        text = "the assertion does not hold" if said is None else str(said)
        staging.assert_(condition_of(test, "`assert`"), text)
    elif __debug__ and not test:
        said = message()
        raise AssertionError if said is None else AssertionError(said)


def raised(error: Any) -> Any:
    """The exception of a `raise` in a branch or loop: refused where a tensor would decide."""
    if context.bodies and context.bodies[-1].depth == context.depth:
        name = error.__name__ if isinstance(error, type) else type(error).__name__
        raise autograph_error(
            f"`raise {name}` is in a branch or loop that a tensor decides, but it would be raised "
            "whenever the function is traced: use `assert`, which is checked when the program runs"
        )
    return error


class trying:
    """The body of a `try` whose handlers see only what is raised while tracing."""

    def __enter__(self) -> None:
        context.tries.append(context.depth)

    def __exit__(self, *error: object) -> None:
        context.tries.pop()


# Branches.


def if_stmt(
    condition: Any,
    body: Thunk,
    orelse: Thunk,
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    count: int,
) -> None:
    """`if condition: body else: orelse`; the first `count` symbols are read behind it."""
    staging = current()
    if staging is None or not staging.is_traced(condition):
        if condition:
            body()
        else:
            orelse()
        return
    _staged_if("`if`", condition, body, orelse, get_state, set_state, names, count, None)


def guard_stmt(
    condition: Any,
    body: Thunk,
    orelse: Thunk,
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    count: int,
) -> None:
    """`if not do_return: body`, which lowering a `return`, `break` or `continue` made: where the
    condition does not hold nothing is read that the body would have assigned."""
    staging = current()
    if staging is None or not staging.is_traced(condition):
        if condition:
            body()
        return
    flag = context.negation[1] if context.negation else None
    _staged_if("`if`", condition, body, orelse, get_state, set_state, names, count, flag)


def _staged_if(
    name: str,
    condition: Tensor,
    body: Thunk,
    orelse: Thunk,
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    count: int,
    flag: Tensor | None,
) -> None:
    before = get_state()
    branches = Branches(names[:count], before, condition, guarded=flag is not None)

    def run(part: Thunk) -> Thunk:
        def values() -> Sequence[Any]:
            set_state(before)
            part()
            return get_state()[:count]

        return values

    try:
        results = _branch(name, condition, branches, run(body), run(orelse))
    except BaseException:
        set_state(before)
        raise
    for i in range(count):
        # Behind `if not do_return: return x` the function has returned in any case.
        if flag is not None and before[i] is flag and branches.main_value(i) is True:
            results[i] = True
    set_state([*results, *before[count:]])


def _branch(
    name: str, condition: Tensor, branches: Branches, then: Thunk, orelse: Thunk
) -> list[Any]:
    """Stages two bodies that give the values of the symbols."""
    check_place(name)
    test = condition_of(condition, name)

    def first() -> list[Tensor]:
        with staged(Activation("branch")):
            return branches.main(then())

    def second() -> list[Tensor]:
        with staged(Activation("branch")):
            return branches.orelse(orelse())

    while True:
        try:
            return branches.values(library().branch(name.strip("`"), test, first, second))
        except Retry:
            continue


# Loops.


def while_stmt(
    test: Thunk,
    body: Thunk,
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    """`while test: body`."""
    staging = current()
    if staging is None or not staging.is_tracing():
        while test():
            body()
        return
    turns = _Unrolled()
    while True:
        before = get_state()
        holds, recorded = staging.probe(lambda _: test(), [])
        set_state(before)
        if staging.is_traced(holds):
            break
        if not (test() if recorded else holds):
            return
        body()
        turns.count()

    def run(keep_going: Callable[[], Tensor], state: LoopState) -> list[Tensor]:
        def condition(tensors: list[Tensor]) -> Tensor:
            set_state(state.values(tensors))
            return keep_going()

        def iteration(tensors: list[Tensor]) -> list[Tensor]:
            set_state(state.values(tensors))
            body()
            return state.next(get_state())

        return staging.loop("while", condition, _staged_body(iteration), state.entry())

    def once(state: LoopState) -> list[Tensor]:
        def iteration(tensors: list[Tensor]) -> list[Tensor]:
            set_state(state.values(tensors))
            test()
            body()
            return state.next(get_state())

        return _probe(iteration, state)

    _loop(
        "`while`", once, lambda state: run(lambda: condition_of(test(), "`while`"), state),
        get_state, set_state, names, options, test,
    )  # fmt: skip


def for_stmt(
    iterated: Any,
    extra_test: Thunk | None,
    body: Callable[[Any], None],
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    """`for target in iterated: body(target)`, as long as `extra_test()` holds."""
    staging = current()
    if staging is None or not staging.is_tracing():
        _python_for(iterated, extra_test, body)
    elif overloads.can_be_staged(iterated):
        if _may_start(extra_test):
            _counted(overloads.rows_of(iterated), extra_test, body, get_state, set_state, names, options)
    elif staging.is_dataset(iterated):
        if _may_start(extra_test):
            _over_data(iterated, extra_test, body, get_state, set_state, names, options)
    else:
        _unrolled_for(iterated, extra_test, body, get_state, set_state, names)


def _may_start(extra_test: Thunk | None) -> bool:
    if extra_test is None:
        return True
    holds = extra_test()
    return library().is_traced(holds) or bool(holds)


def _python_for(iterated: Any, extra_test: Thunk | None, body: Callable[[Any], None]) -> None:
    if extra_test is None:
        for item in iterated:
            body(item)
    elif extra_test():
        for item in iterated:
            body(item)
            if not extra_test():
                break


def _unrolled_for(
    iterated: Any,
    extra_test: Thunk | None,
    body: Callable[[Any], None],
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
) -> None:
    """A loop over Python's values, each turn traced. Behind a `break` that a tensor decides the
    other turns are branches, of which there must be an end."""
    turns = _Unrolled()
    staging = library()
    more: Any = extra_test() if extra_test is not None else True
    if not staging.is_traced(more) and not more:
        return
    for item in iterated:
        if staging.is_traced(more):
            if_stmt(more, lambda item=item: body(item), _nothing, get_state, set_state, names, len(names))
        else:
            body(item)
        turns.count()
        more = extra_test() if extra_test is not None else True
        if staging.is_traced(more):
            if not hasattr(iterated, "__len__"):
                raise NotImplementedError(
                    "break and return statements which depend on a tensor are not supported in a "
                    f"Python for loop over a {type(iterated).__name__}, which may have no end: loop "
                    "over a list, or over a tensor"
                )
        elif not more:
            break


def _nothing() -> None:
    pass


class _Unrolled:
    """Warns of a loop that fills the trace."""

    def __init__(self) -> None:
        self._turns = 0
        self._ops = library().op_count()

    def count(self) -> None:
        self._turns += 1
        if self._turns == _UNROLLED and library().op_count() - self._ops >= _UNROLLED:
            frame = user_frame(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
            if frame is not None:
                warnings.warn_explicit(
                    f"this loop has been unrolled {_UNROLLED} times into the trace: loop over a "
                    "tensor, such as a range of the library, to record it once",
                    AutoGraphWarning,
                    frame.f_code.co_filename,
                    frame.f_lineno,
                )


def _counted(
    rows: overloads.Rows,
    extra_test: Thunk | None,
    body: Callable[[Any], None],
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    staging = library()
    start, stop, step = rows.bounds()
    limit = options.get("maximum_iterations")

    def turn(number: Tensor, tensors: Sequence[Tensor], state: LoopState) -> list[Tensor]:
        set_state(state.values(tensors))
        body(rows.at(number))
        return state.next(get_state())

    def once(state: LoopState) -> list[Tensor]:
        first = staging.as_tensor(start)
        return _probe(lambda tensors: turn(tensors[0], tensors[1:], state), state, [first])

    def run(state: LoopState) -> list[Tensor]:
        if extra_test is None and limit is None:
            counted = _staged_body(lambda i, tensors: turn(i, tensors, state))
            return staging.count("for", start, stop, step, counted, state.entry())
        return _counted_while(start, stop, step, extra_test, turn, set_state, state)

    _loop("`for`", once, run, get_state, set_state, names, options, extra_test)


def _counted_while(
    start: Any,
    stop: Any,
    step: int,
    extra_test: Thunk | None,
    turn: Callable[[Tensor, Sequence[Tensor], LoopState], list[Tensor]],
    set_state: Setter,
    state: LoopState,
) -> list[Tensor]:
    """A counted loop that may be left: the number is part of the state."""
    staging = library()

    def condition(tensors: list[Tensor]) -> Tensor:
        inside = tensors[0] < stop if step > 0 else tensors[0] > stop
        if extra_test is None:
            return inside
        set_state(state.values(tensors[1:]))
        more = extra_test()
        if not staging.is_traced(more):
            more = staging.as_tensor(bool(more))
        return staging.op("logical_and", inside, condition_of(more, "`for`"))

    def iteration(tensors: list[Tensor]) -> list[Tensor]:
        return [tensors[0] + step, *turn(tensors[0], tensors[1:], state)]

    first = staging.as_tensor(start)
    if staging.is_tensor(stop) and not staging.is_tensor(start):
        first = staging.as_tensor(start, staging.type_of(stop))
    return staging.loop("for", condition, _staged_body(iteration), [first, *state.entry()])[1:]


def _over_data(
    data: Any,
    extra_test: Thunk | None,
    body: Callable[[Any], None],
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    options: dict[str, Any],
) -> None:
    staging = library()

    def turn(element: Any, tensors: Sequence[Tensor], state: LoopState) -> list[Tensor]:
        set_state(state.values(tensors))
        body(element)
        return state.next(get_state())

    def once(state: LoopState) -> list[Tensor]:
        return _probe(lambda tensors: turn(staging.element_of(data), tensors, state), state)

    def run(state: LoopState) -> list[Tensor]:
        def more(tensors: list[Tensor]) -> Tensor:
            set_state(state.values(tensors))
            holds: Any = extra_test() if extra_test is not None else True
            return holds if staging.is_traced(holds) else staging.as_tensor(bool(holds))

        counted = _staged_body(lambda element, tensors: turn(element, tensors, state))
        test = None if extra_test is None else more
        return staging.each("for", data, test, counted, state.entry())

    _loop("`for`", once, run, get_state, set_state, names, options, extra_test)


def _staged_body(body: Any) -> Any:
    def run(*arguments: Any) -> list[Tensor]:
        with staged(Activation("loop")):
            return body(*arguments)

    return run


def _probe(
    body: Callable[[list[Tensor]], list[Tensor]], state: LoopState, more: Sequence[Tensor] = ()
) -> list[Tensor]:
    """Traces an iteration in passing, to see what it changes."""
    run = _staged_body(body)
    return library().probe(run, [*more, *state.entry()])[0]


def _loop(
    name: str,
    once: Callable[[LoopState], list[Tensor]],
    run: Callable[[LoopState], list[Tensor]],
    get_state: Getter,
    set_state: Setter,
    names: tuple[str, ...],
    options: dict[str, Any],
    test: Thunk | None,
) -> None:
    """Stages a loop: one iteration in passing shows what it carries; then it is recorded, again if
    it turns out that more must be."""
    check_place(name)
    before = get_state()
    state = LoopState(names, before, options.get("shape_invariants") or ())
    probing = True
    try:
        while True:
            try:
                if probing:
                    probing = False
                    once(state)
                results = run(state)
                break
            except Retry:
                set_state(before)
        set_state(state.values(results))
    except BaseException:
        set_state(before)
        raise
