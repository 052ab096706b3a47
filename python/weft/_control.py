"""Control flow as functions: `cond`, `switch_case` and `while_loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft import _weft

__all__ = ["cond", "switch_case", "while_loop"]


def _run(f: Callable[..., Any], *args: Any) -> Any:
    """Calls a part, converted if what calls it is."""
    from ._autograph import calls
    from ._autograph.staging import context

    return calls.converted_call(f, args, None) if context.depth else f(*args)


class _Shape:
    """The structure that all parts give, and tensors of it."""

    def __init__(self, name: str) -> None:
        from . import _staging

        _staging.install()
        self._name = name
        self._spec: Any = None

    def tensors(self, value: Any) -> list[Any]:
        """The tensors of a value. Throws ValueError unless it is of the structure of the first."""
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
        return [_weft.internal_as_tensor(leaf, None) for leaf in leaves]

    def value(self, tensors: Sequence[Any]) -> Any:
        """The value of these tensors."""
        from ._autograph import trees

        return trees.rebuild(self._spec, iter(tensors))


def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """`true_fn()` if `pred` holds, else `false_fn()`. In a traced function both are recorded, and
    give the same structure, dtypes and ranks.

    Raises:
        DTypeError, ShapeError: if `pred` is no bool scalar, or what they give differs in type
        ValueError: if it differs in structure
    """
    if not _weft.internal_is_traced(pred):
        return _run(true_fn) if pred else _run(false_fn)
    shape = _Shape("cond")

    def then() -> list[Any]:
        return shape.tensors(_run(true_fn))

    def otherwise() -> list[Any]:
        return shape.tensors(_run(false_fn))

    return shape.value(_weft.internal_branch("cond", pred, then, otherwise))


def switch_case(branch_index: Any, branch_fns: Sequence[Callable[[], Any]]) -> Any:
    """The function of that number, called; below 0 or past the end the last one.

    Raises:
        DTypeError, ShapeError: if the index is no integer scalar, or results differ in type
        ValueError: if there is no function, or results differ in structure
    """
    if not branch_fns:
        raise _weft.ValueError("switch_case: there is no function to choose from")
    if not _weft.internal_is_traced(branch_index):
        at = int(branch_index)
        return _run(branch_fns[at if 0 <= at < len(branch_fns) else -1])
    shape = _Shape("switch_case")

    def case(f: Callable[[], Any]) -> Callable[[], list[Any]]:
        return lambda: shape.tensors(_run(f))

    results = _weft.internal_choose("switch_case", branch_index, [case(f) for f in branch_fns])
    return shape.value(results)


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any]
) -> Any:
    """`loop_vars = body(*loop_vars)` as long as `cond(*loop_vars)` holds. In a traced function the
    loop is recorded once; what it carries keeps its structure, dtypes and ranks, and sizes that
    change are unknown in it.

    Raises:
        DTypeError, ShapeError: if the condition is no bool scalar, or a variable changes its type
        ValueError: if the structure changes
    """
    if not _weft.internal_is_tracing():
        values: Any = loop_vars
        while _run(cond, *values):
            values = _next(body, values)
        return values
    shape = _Shape("while_loop")
    state = shape.tensors(list(loop_vars))

    def holds(tensors: list[Any]) -> Any:
        return _run(cond, *shape.value(tensors))

    def turn(tensors: list[Any]) -> list[Any]:
        return shape.tensors(_next(body, shape.value(tensors)))

    results: list[Any] = shape.value(_weft.internal_loop("while_loop", holds, turn, state))
    return results if isinstance(loop_vars, list) else tuple(results)


def _next(body: Callable[..., Any], values: Any) -> list[Any]:
    """What the body gives: as many values as there are variables, or the only one."""
    after = _run(body, *values)
    many = len(values) != 1 or type(after) in (list, tuple)
    return [*after] if many else [after]
