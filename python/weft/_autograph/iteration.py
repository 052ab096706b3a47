"""`while` and `for` of converted code: staged over tensors and data sets, Python's over others."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from . import overloads
from .branches import Retry
from .loops import LoopState
from .operators import Getter, Setter, Thunk, if_stmt
from .staged import Activation, check_place, condition_of, staged
from .staging import AutoGraphWarning, Tensor, current, library
from .traceback import user_frame

_UNROLLED = 100
"""After how many turns with ops a loop that is unrolled is mentioned."""

Tensors = Sequence[Tensor]


class _Loop(NamedTuple):
    """A loop of the user: its body, and the symbols that it assigns."""

    name: str
    body: Callable[..., None]
    get: Getter
    set: Setter
    symbols: tuple[str, ...]
    options: dict[str, Any]

    def enter(self, state: LoopState, tensors: Tensors) -> list[Any]:
        """Gives the symbols what they hold at the start of a part of the loop that is traced."""
        values = state.values(tensors)
        library().begin_carrying()
        self.set(values)
        return values

    def turn(self, state: LoopState, tensors: Tensors, *item: Any) -> list[Tensor]:
        """Traces an iteration from the state that it is given to the next."""
        with staged(Activation("loop", self.body)) as activation:
            before = self.enter(state, tensors)
            self.body(*item)
            after = self.get()
            activation.leaves(after, before)
            return state.next(after)

    def limit(self) -> int | None:
        """The `maximum_iterations` of `set_loop_options`."""
        return self.options.get("maximum_iterations")


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
    loop = _Loop("while", body, get_state, set_state, names, options)
    if not _unrolled_while(loop, test):
        return

    def once(state: LoopState) -> Any:
        def turn(tensors: list[Tensor]) -> list[Tensor]:
            loop.enter(state, tensors)
            test()
            return loop.turn(state, tensors)

        return library().probe(turn, state.entry())

    def run(state: LoopState) -> list[Tensor]:
        def condition(tensors: Tensors) -> Tensor:
            loop.enter(state, tensors)
            return condition_of(test(), "`while`")

        if loop.limit() is not None:
            return _counted_while(
                loop, state, (0, loop.limit(), 1), condition, lambda i, ts: loop.turn(state, ts)
            )
        return library().loop("while", condition, lambda ts: loop.turn(state, ts), state.entry())

    _stage(loop, once, run)


def _unrolled_while(loop: _Loop, test: Thunk) -> bool:
    """Runs turns as long as Python knows whether to go on; whether a tensor decides of the rest."""
    staging = library()
    turns = _Turns()
    while True:
        holds, recorded = staging.probe(lambda _: test(), [])
        if staging.is_traced(holds):
            return True
        if not (test() if recorded else holds):
            return False
        loop.body()
        turns.count()


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
    loop = _Loop("for", body, get_state, set_state, names, options)
    if staging is None or not staging.is_tracing():
        _python_for(loop, iterated, extra_test)
    elif overloads.can_be_staged(iterated):
        if _may_start(extra_test):
            _counted(loop, overloads.rows_of(iterated), extra_test)
    elif staging.is_dataset(iterated):
        if _may_start(extra_test):
            _over_data(loop, iterated, extra_test)
    else:
        _unrolled_for(loop, iterated, extra_test)


def _may_start(extra_test: Thunk | None) -> bool:
    if extra_test is None:
        return True
    holds = extra_test()
    return library().is_traced(holds) or bool(holds)


def _python_for(loop: _Loop, iterated: Any, extra_test: Thunk | None) -> None:
    if extra_test is None:
        for item in iterated:
            loop.body(item)
    elif extra_test():
        for item in iterated:
            loop.body(item)
            if not extra_test():
                break


def _unrolled_for(loop: _Loop, iterated: Any, extra_test: Thunk | None) -> None:
    """A loop over Python's values, each turn traced. Behind a `break` that a tensor decides the
    other turns are branches, of which there must be an end."""
    turns = _Turns()
    staging = library()
    more: Any = extra_test() if extra_test is not None else True
    if not staging.is_traced(more) and not more:
        return
    for item in iterated:
        if staging.is_traced(more):
            _guarded_turn(loop, more, item)
        else:
            loop.body(item)
        turns.count()
        more = extra_test() if extra_test is not None else True
        if staging.is_traced(more):
            if not hasattr(iterated, "__len__"):
                raise NotImplementedError(
                    "break and return statements which depend on a tensor are not supported in a "
                    f"Python for loop over a {type(iterated).__name__}, which may have no end: "
                    "loop over a list, or over a tensor"
                )
        elif not more:
            break


def _guarded_turn(loop: _Loop, more: Tensor, item: Any) -> None:
    if_stmt(
        more, lambda: loop.body(item), _nothing, loop.get, loop.set, loop.symbols, len(loop.symbols)
    )


def _nothing() -> None:
    pass


class _Turns:
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


# Staged loops.


def _counted(loop: _Loop, rows: overloads.Rows, extra_test: Thunk | None) -> None:
    """A loop over numbers, or over the rows of tensors."""
    bounds = rows.bounds()
    start, stop, step = bounds

    def once(state: LoopState) -> Any:
        first = _first_of(start, stop)
        return library().probe(
            lambda ts: loop.turn(state, ts[1:], rows.at(ts[0])), [first, *state.entry()]
        )

    def run(state: LoopState) -> list[Tensor]:
        def turn(number: Tensor, tensors: Tensors) -> list[Tensor]:
            return loop.turn(state, tensors, rows.at(number))

        def more(tensors: Tensors) -> Tensor:
            return _goes_on(loop, state, extra_test, tensors)

        if extra_test is None and loop.limit() is None:
            return library().count("for", start, stop, step, turn, state.entry())
        if loop.limit() is None:
            return _counted_while(loop, state, bounds, more, turn)

        def limited(tensors: Tensors) -> Tensor:
            inside = tensors[0] < stop if step > 0 else tensors[0] > stop
            return library().op("logical_and", inside, more(tensors[1:]))

        numbered = [_first_of(start, stop), *state.entry()]
        return _counted_while(
            loop,
            state,
            (0, loop.limit(), 1),
            limited,
            lambda i, ts: [ts[0] + step, *turn(ts[0], ts[1:])],
            numbered,
        )[1:]

    _stage(loop, once, run)


def _first_of(start: Any, stop: Any) -> Tensor:
    """The first number of a loop, in the dtype that its numbers have."""
    staging = library()
    like = staging.type_of(stop) if staging.is_tensor(stop) else None
    return staging.as_tensor(start, like)


def _goes_on(loop: _Loop, state: LoopState, extra_test: Thunk | None, tensors: Tensors) -> Tensor:
    """What lowering `break` and `return` made the condition of a `for`."""
    staging = library()
    if extra_test is None:
        return staging.as_tensor(True)
    loop.enter(state, tensors)
    return condition_of(extra_test(), "`for`")


def _counted_while(
    loop: _Loop,
    state: LoopState,
    bounds: tuple[Any, Any, int],
    more: Callable[[Tensors], Tensor],
    turn: Callable[[Tensor, Tensors], list[Tensor]],
    entry: list[Tensor] | None = None,
) -> list[Tensor]:
    """A counted loop that may be left early: the number is the first of what it carries."""
    staging = library()
    start, stop, step = bounds

    def condition(tensors: Tensors) -> Tensor:
        inside = tensors[0] < stop if step > 0 else tensors[0] > stop
        return staging.op("logical_and", inside, more(tensors[1:]))

    def iteration(tensors: Tensors) -> list[Tensor]:
        return [tensors[0] + step, *turn(tensors[0], tensors[1:])]

    carried = state.entry() if entry is None else entry
    return staging.loop(loop.name, condition, iteration, [_first_of(start, stop), *carried])[1:]


def _over_data(loop: _Loop, data: Any, extra_test: Thunk | None) -> None:
    """A loop over the elements of a data set."""

    def once(state: LoopState) -> Any:
        return library().probe(
            lambda ts: loop.turn(state, ts, library().element_of(data)), state.entry()
        )

    def run(state: LoopState) -> list[Tensor]:
        def more(tensors: Tensors) -> Tensor:
            return _goes_on(loop, state, extra_test, tensors)

        return library().each(
            "for",
            data,
            None if extra_test is None else more,
            lambda element, ts: loop.turn(state, ts, element),
            state.entry(),
        )

    _stage(loop, once, run)


def _stage(
    loop: _Loop,
    once: Callable[[LoopState], Any],
    run: Callable[[LoopState], list[Tensor]],
) -> None:
    """Stages a loop. It is recorded at once where the guess holds that it carries all that tensors
    stand for, with the types that these have before it, so that the code of the user runs once.
    Else one iteration in passing shows what it carries; then it is recorded, again if it turns out
    that more must be."""
    check_place(f"`{loop.name}`", loop.body)
    before = loop.get()
    if _stage_by_guess(loop, before, run):
        return
    state = LoopState(loop.symbols, before, loop.options.get("shape_invariants") or ())
    probed = False
    try:
        while True:
            try:
                if not probed:
                    probed = True
                    once(state)
                results = run(state)
                break
            except Retry:
                loop.set(before)
        loop.set(state.values(results))
    except BaseException:
        loop.set(before)
        raise


def _stage_by_guess(
    loop: _Loop, before: tuple[Any, ...], run: Callable[[LoopState], list[Tensor]]
) -> bool:
    """Records a loop by a guess of what it carries; whether that held. What fails otherwise fails
    again without it, and is said there. An exception of no such kind, as a signal handler raises
    it or code of the user once, does not come again in a second attempt: that one is raised."""
    if loop.options.get("shape_invariants"):
        return False
    library_errors = tuple(library().errors)
    failed: Exception | None = None
    while True:
        state = LoopState(loop.symbols, before)
        if not state.guess():
            return False
        try:
            results = run(state)
        except Exception as error:
            loop.set(before)
            if isinstance(error, (Retry, *library_errors)):
                return False
            if failed is not None:
                if _origin(error) == _origin(failed):
                    return False
                raise failed from error
            failed = error
            continue
        except BaseException:
            loop.set(before)
            raise
        if failed is not None:
            loop.set(before)
            raise failed
        loop.set(state.values(results))
        return True


def _origin(error: Exception) -> tuple[object, ...]:
    """What an error is and where it was raised."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    return (type(error), at and at.tb_frame.f_code, at and at.tb_lasti)
