"""The operators of converted code: Python's control flow, staged where a traced tensor decides."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from operator import eq, ge, gt, is_, is_not, le, lt, ne
from types import TracebackType
from typing import Any, cast

from . import trees
from .branches import Branches, Retry
from .staged import Activation, check_place, condition_of, staged
from .staging import Tensor, context, current, library
from .traceback import autograph_error
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
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
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
    kind = trees.kind_of(value)
    if kind is Undefined:
        return value.read()
    if kind is Maybe:
        library().assert_(value.defined, f"'{value.name}' is used before assignment: {value.why}")
        return value.value
    return value


def ldu(read: Thunk, name: str) -> Any:
    """Reads a part of an object, such as `self.x`, that may be missing."""
    try:
        return read()
    except (KeyError, AttributeError, NameError, IndexError):
        return Undefined(name)


OF_TENSOR = trees.Static("elements of a tensor")
"""What stands for `x[i]` where x is a tensor, whose elements are state themselves; and for the
elements of what is none."""


def ldi(of: Thunk, read: Thunk, name: str) -> Any:
    """Reads an item `x[i]` that may be missing, of what is no tensor."""
    return OF_TENSOR if elements(of) is not OF_TENSOR else ldu(read, name)


def is_of_tensor(value: Any) -> bool:
    """Whether an item is one of a tensor."""
    return value is OF_TENSOR


def elements(read: Thunk) -> Any:
    """The elements of a tensor that a symbol holds, in an object of their own."""
    staging = current()
    value = ldu(read, "")
    if staging is None or not staging.is_tensor(value):
        return OF_TENSOR
    copy = staging.snapshot(value)
    return OF_TENSOR if copy is None else copy


def put_elements(read: Thunk, value: Any) -> None:
    """Gives a tensor that a symbol holds the elements that another has."""
    if value is not OF_TENSOR:
        library().put(read(), value)


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
        f"`{name}`", condition, branches, lambda: (then(),), lambda: (orelse(),), (then, orelse)
    )[0]


def _is_in(item: Any, holder: Any) -> Any:
    """`item in holder`, where a tensor may be either, or stand among what is held."""
    staging = current()
    if staging is None or not staging.is_tracing():
        return item in holder
    if staging.is_traced(holder) or (staging.is_tensor(holder) and staging.is_traced(item)):
        return staging.op("any", holder == item)
    if isinstance(holder, range) and staging.is_traced(item):
        if len(holder) == 0:
            return False
        low, high = sorted((holder[0], holder[-1]))
        inside = staging.op("logical_and", item >= low, item <= high)
        return staging.op("logical_and", inside, (item - low) % abs(holder.step) == 0)
    if not isinstance(holder, list | tuple):
        if staging.is_traced(item):
            raise staging.errors.autograph(
                f"`in` of a traced tensor and a {type(holder).__name__}, which finds what it holds "
                "by hash: make a list or a tensor of that"
            )
        return item in holder
    entries = cast("Sequence[Any]", holder)
    if not any(map(staging.is_traced, (item, *entries))):
        return item in entries
    found: Any = False
    for held in entries:
        same = held is item or held == item
        if staging.is_traced(same):
            same = condition_of(same, "`in`")
            found = same if found is False else staging.op("logical_or", found, same)
        elif same:
            return True
    return found


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge, "is": is_, "is not": is_not,
    "in": _is_in, "not in": lambda a, b: not_(_is_in(a, b)),
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


def caught() -> BaseException | None:
    """The exception that is being handled."""
    return sys.exc_info()[1]


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
            library().begin_carrying()
            set_state(before)
            part()
            return get_state()[:count]

        return values

    try:
        bodies = (body, orelse)
        results = _branch(name, condition, branches, run(body), run(orelse), bodies)
    except BaseException:
        set_state(before)
        raise
    for i in range(count):
        # Behind `if not do_return: return x` the function has returned in any case.
        if flag is not None and before[i] is flag and branches.main_value(i) is True:
            results[i] = True
    set_state([*results, *before[count:]])


def _branch(
    name: str,
    condition: Tensor,
    branches: Branches,
    then: Thunk,
    orelse: Thunk,
    bodies: tuple[Thunk, Thunk],
) -> list[Any]:
    """Stages two functions, which run `bodies` of the user and give the values of the symbols."""
    check_place(name, bodies[0])
    check_place(name, bodies[1])
    test = condition_of(condition, name)

    def first() -> list[Tensor]:
        with staged(Activation("branch", bodies[0])) as body:
            values = then()
            body.leaves(values, branches.before)
            return branches.main(values)

    def second() -> list[Tensor]:
        with staged(Activation("branch", bodies[1])) as body:
            values = orelse()
            body.leaves(values, branches.before)
            return branches.orelse(values)

    while True:
        try:
            return branches.values(library().branch(name.strip("`"), test, first, second))
        except Retry:
            continue
