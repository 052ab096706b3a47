"""The results of two branches as one: which symbols become tensors, and what must agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from . import staging, trees
from .staging import Tensor, TensorType
from .trees import Maybe, Spec, Undefined, UndefinedReturnValue

_MAIN, _ELSE = "main", "else"


class Retry(Exception):
    """Bodies must be traced once more, with what is known now."""


class _Hint:
    """What the first branch must give for a symbol, as the second showed."""

    __slots__ = ("flag", "like", "read", "spec")

    def __init__(self) -> None:
        self.spec: Spec | None = None
        self.like: list[TensorType | None] = []
        self.flag = False
        self.read: tuple[Any, ...] = ()
        """What the second has, where something of its kind must stand for the value."""


class _Side:
    """What a branch leaves in a symbol."""

    __slots__ = ("flagged", "leaves", "spec", "tensors", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.flagged = isinstance(value, Maybe)
        self.leaves: list[Any] = []
        self.tensors: list[Tensor] = []
        inner = value.value if isinstance(value, Maybe) else value
        self.spec = None if is_absent(inner) else trees.flatten(inner, self.leaves)


def is_absent(value: Any) -> bool:
    """Whether a symbol has no value at all."""
    return isinstance(value, Undefined | UndefinedReturnValue)


class Branches:
    """One `if`: its symbols, and what the branches leave in them."""

    def __init__(
        self,
        names: Sequence[str],
        before: Sequence[Any],
        condition: Tensor,
        guarded: bool = False,
    ) -> None:
        """`guarded`: whether a symbol may have no value in the else branch, since nothing reads it
        there: the condition is one that lowering `return`, `break` or `continue` made."""
        self._names = names
        self.before = before
        self._condition = condition
        self._guarded = guarded
        self._hints: dict[int, _Hint] = {}
        self._main: list[_Side] = []
        self._results: list[Callable[[list[Tensor]], Any]] = []
        self._library = staging.library()

    def main(self, values: Sequence[Any]) -> list[Tensor]:
        """The tensors that the first branch gives for these values."""
        self._main = []
        self._results = []
        for i, value in enumerate(values):
            hint = self._hints.get(i)
            side = _Side(self._library.read(value, *hint.read) if hint and hint.read else value)
            self._main.append(side)
            if side.spec is None:
                if hint and hint.spec is not None:
                    side.spec = hint.spec
                    side.tensors = [self._library.zeros(t) for t in hint.like if t is not None]
                else:
                    continue
            else:
                like = hint.like if hint else []
                like = like if len(like) == len(side.leaves) else [None] * len(side.leaves)
                side.tensors = [
                    self._library.as_tensor(leaf, t) for leaf, t in zip(side.leaves, like)
                ]
            if side.flagged:
                side.tensors.append(value.defined)
            elif hint and hint.flag:
                side.flagged = True
                side.tensors.append(self._library.as_tensor(not is_absent(value)))
        return [tensor for side in self._main for tensor in side.tensors]

    def orelse(self, values: Sequence[Any]) -> list[Tensor]:
        """The tensors that the second branch gives, one for each of the first's. Throws an error
        that names the symbol if the branches do not agree."""
        results: list[Tensor] = []
        for i, value in enumerate(values):
            results += self._joined(i, self._main[i], _Side(value))
        return results

    def values(self, results: list[Tensor]) -> list[Any]:
        """What the symbols hold behind the branches."""
        values: list[Any] = []
        at = 0
        for side, result in zip(self._main, self._results, strict=True):
            count = len(side.tensors)
            values.append(result(results[at : at + count]))
            at += count
        return values

    def main_value(self, i: int) -> Any:
        """What the first branch left in a symbol."""
        return self._main[i].value

    # One symbol.

    def _joined(self, i: int, main: _Side, other: _Side) -> list[Tensor]:
        """The tensors of the else branch; notes how the result is put together."""
        absent = other.spec is None
        if main.spec is None and absent:
            return self._keep(other.value if _is_none_like(main.value) else main.value)
        if main.spec is None or absent:
            return self._one_sided(i, main, other)
        nothing = trees.is_none(main.spec)
        if nothing != trees.is_none(other.spec or main.spec):
            raise self._error(
                "value",
                f"{self._name(i)} is None at the end of the {_MAIN if nothing else _ELSE} "
                "branch, but not of the other: both must give it a value that a tensor can have",
            )
        if main.spec != other.spec:
            other = self._alike(i, main, other)
        tensors = self._leaves(i, main, other)
        return self._flagged(i, main, other, tensors)

    def _alike(self, i: int, main: _Side, other: _Side) -> _Side:
        """The value of the else branch in the structure of the first, where one of them stands for
        the other, as the value of a variable does for a tensor."""
        if self._library.read(main.value, other.value) is not None:
            self._hint(i).read = (other.value,)
            raise Retry
        read = self._library.read(other.value, main.value)
        if read is None:
            raise self._structure(i, main, other)
        return _Side(read)

    def _keep(self, value: Any) -> list[Tensor]:
        self._results.append(lambda results: value)
        return []

    def _one_sided(self, i: int, main: _Side, other: _Side) -> list[Tensor]:
        """A symbol that only one branch gives a value."""
        name = self._names[i]
        given, missing = (main, other) if other.spec is None else (other, main)
        spec = given.spec or ()
        returned = isinstance(missing.value, UndefinedReturnValue)
        guarded = missing is other and self._guarded
        if not returned and not guarded:
            raise self._error(
                "value",
                f"'{name}' must also be initialized in the "
                f"{_ELSE if missing is other else _MAIN} branch: a tensor decides which one runs",
            )
        if trees.is_static(spec):
            return self._keep(given.value)
        if missing is main:
            hint = self._hint(i)
            hint.spec = spec
            hint.like = [trees.type_of_leaf(leaf) for leaf in other.leaves]
            hint.flag = not returned
            raise Retry
        zeros = [self._library.zeros(self._library.type_of(t)) for t in main.tensors]
        if returned:
            self._results.append(lambda results: trees.rebuild(spec, iter(results)))
            return zeros
        if main.flagged:
            zeros[-1] = self._library.as_tensor(False)
            self._results.append(lambda results: self._maybe(name, spec, results, results[-1]))
        else:
            self._results.append(lambda results: self._maybe(name, spec, results, self._condition))
        return zeros

    def _flagged(self, i: int, main: _Side, other: _Side, tensors: list[Tensor]) -> list[Tensor]:
        """Adds what says whether the symbol has its value, where a branch is not sure of it."""
        name, spec = self._names[i], main.spec or ()
        if main.flagged:
            tensors.append(other.value.defined if other.flagged else self._library.as_tensor(True))
            self._results.append(lambda results: self._maybe(name, spec, results, results[-1]))
        elif other.flagged:
            if other.value is not self.before[i]:
                self._hint(i).flag = True
                raise Retry
            defined = other.value.defined
            self._results.append(
                lambda results: self._maybe(
                    name, spec, results, self._library.op("logical_or", self._condition, defined)
                )
            )
        else:
            pairs = zip(main.leaves, other.leaves) if main.leaves else ((0, 1) for _ in tensors)
            kept = [
                (a,) if a is b or (trees.is_number(a) and trees.same(a, b)) else None
                for a, b in pairs
            ]
            before = main.value if main.value is other.value else None
            self._results.append(lambda results: _restored(spec, kept, results, before))
        return tensors

    def _maybe(self, name: str, spec: Spec, results: list[Tensor], defined: Tensor) -> Maybe:
        why = "it is assigned only where the program did not go on to the next iteration"
        if isinstance(self._before_of(name), Maybe):
            why = self._before_of(name).why
        return Maybe(name, trees.rebuild(spec, iter(results)), defined, why)

    def _before_of(self, name: str) -> Any:
        return self.before[list(self._names).index(name)]

    def _leaves(self, i: int, main: _Side, other: _Side) -> list[Tensor]:
        results: list[Tensor] = []
        for n, (leaf, tensor) in enumerate(zip(other.leaves, main.tensors)):
            mine = self._library.type_of(tensor)
            number = trees.is_number(leaf)
            result = self._library.as_tensor(leaf, mine if number else None)
            theirs = self._library.type_of(result)
            if mine.dtype != theirs.dtype and n < len(main.leaves):
                first = main.leaves[n]
                if trees.is_number(first) and not number:
                    again = self._library.as_tensor(first, theirs)
                    if self._library.type_of(again).dtype == theirs.dtype:
                        hint = self._hint(i)
                        hint.like = hint.like or [None] * len(main.leaves)
                        hint.like[n] = theirs
                        raise Retry
            self._agree(i, mine, theirs)
            results.append(result)
        return results

    def _agree(self, i: int, mine: TensorType, theirs: TensorType) -> None:
        if mine.dtype != theirs.dtype:
            raise self._error(
                "dtype",
                f"{self._name(i)} has dtype {mine.dtype} in the main branch, but dtype "
                f"{theirs.dtype} in the else branch",
            )
        if len(mine.shape) != len(theirs.shape):
            raise self._error(
                "value",
                f"{self._name(i)} is {mine} in the main branch, but {theirs} in the else branch: "
                "branches may differ in sizes, not in rank",
            )

    def _structure(self, i: int, main: _Side, other: _Side) -> Exception:
        if trees.is_static(main.spec or ()) or trees.is_static(other.spec or ()):
            return self._error(
                "dtype",
                f"{self._name(i)} is {_said(main)} in the main branch, but {_said(other)} in the "
                "else branch: what a tensor decides must be a tensor or a number",
            )
        return self._error(
            "dtype",
            f"{self._name(i)} must have the same nested structure in the main and else branches: "
            f"it is {_said(main)} in the one and {_said(other)} in the other",
        )

    def _hint(self, i: int) -> _Hint:
        return self._hints.setdefault(i, _Hint())

    def _name(self, i: int) -> str:
        return shown(self._names[i])

    def _error(self, kind: str, message: str) -> Exception:
        return getattr(self._library.errors, kind)(message)


def shown(name: str) -> str:
    """A symbol as the user knows it."""
    if name.startswith("retval_"):
        return "the value that the function returns"
    return f"'{name}'" if name.isidentifier() or "." in name or "[" in name else name


def _is_none_like(value: Any) -> bool:
    return isinstance(value, UndefinedReturnValue)


def _said(side: _Side) -> str:
    if side.spec == trees.LEAF:
        return str(trees.type_of_leaf(side.leaves[0]))
    if trees.is_static(side.spec or ()):
        return trees.text_of(side.value)
    return f"a {type(side.value).__name__} of {len(side.leaves)}"


def _restored(spec: Spec, kept: list[tuple[Any] | None], results: list[Tensor], before: Any) -> Any:
    if before is not None and all(kept):
        return before
    leaves = [k[0] if k is not None else r for k, r in zip(kept, results, strict=True)]
    return trees.rebuild(spec, iter(leaves))
