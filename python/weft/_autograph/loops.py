"""The state of a loop: which symbols it carries as tensors, and what an iteration must keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import staging, trees
from .branches import Retry, is_absent, shown
from .staging import Tensor, TensorType
from .trees import Maybe, Spec

Invariants = Sequence[tuple[Any, Any]]


class _Symbol:
    """One symbol. It is Python's as long as no iteration changes it; then its leaves are carried,
    with a flag if it had no value before the loop."""

    __slots__ = (
        "before",
        "carried",
        "flagged",
        "leaves",
        "name",
        "spec",
        "tensors",
        "variable",
        "why",
    )

    def __init__(self, name: str, before: Any) -> None:
        self.name = name
        self.before = before
        self.carried = False
        self.flagged = False
        self.leaves: list[Any] = []
        """What the tensors were made of; None for what was not there."""
        self.tensors: list[Tensor] = []
        self.spec: Spec = ()
        self.variable: Any = None
        """What is read where the loop begins, a variable for example in whose place an iteration
        has a tensor; and what the iteration has."""
        self.why = ""


class LoopState:
    """The symbols of a loop, as they were before it."""

    def __init__(
        self, names: Sequence[str], before: Sequence[Any], invariants: Invariants = ()
    ) -> None:
        self._library = staging.library()
        self._symbols = [_Symbol(name, value) for name, value in zip(names, before, strict=True)]
        self._handed: list[Any] | None = None
        """What an iteration began with, where what is carried was guessed."""
        self._invariants: dict[int, tuple[int | None, ...]] = {}
        for tensor, shape in invariants:
            for i, value in enumerate(before):
                if value is tensor:
                    self._invariants[i] = tuple(shape)
                    self._check_invariant(i, tensor, "before the loop")

    def guess(self) -> bool:
        """Carries all symbols that tensors can stand for, which an iteration assigns and so
        probably changes; whether that is a guess to try."""
        found: list[tuple[_Symbol, Spec, list[Any]]] = []
        for symbol in self._symbols:
            value, leaves = symbol.before, list[Any]()
            if is_absent(value) or isinstance(value, Maybe) or value is None:
                return False
            if type(value) in (list, dict):
                continue  # Python's, unless an iteration makes another one
            spec = trees.flatten(value, leaves)
            if not leaves:
                continue
            if not all(map(self._is_plain, leaves)):
                return False
            found.append((symbol, spec, leaves))
        for symbol, spec, leaves in found:
            symbol.spec, symbol.leaves = spec, leaves
            symbol.tensors = [self._library.as_tensor(trees.plain(leaf)) for leaf in symbol.leaves]
            symbol.carried = True
        self._handed = []
        return bool(found)

    def _is_plain(self, leaf: Any) -> bool:
        """Whether it is a number or a tensor, and not a variable or an array."""
        if trees.is_number(leaf):
            return True
        return self._library.is_tensor(leaf) and self._library.read(leaf, leaf) is None

    def entry(self) -> list[Tensor]:
        """The tensors that are carried, as they enter the loop."""
        for symbol in self._symbols:
            if symbol.variable is not None:
                leaves: list[Any] = []
                trees.flatten(self._library.read(*symbol.variable), leaves)
                symbol.tensors[: len(leaves)] = map(self._library.as_tensor, leaves)
        return [tensor for s in self._symbols if s.carried for tensor in s.tensors]

    def values(self, tensors: Sequence[Tensor]) -> list[Any]:
        """What the symbols hold at the start of an iteration, or behind the loop."""
        left = iter(tensors)
        values = [self._value(symbol, left) for symbol in self._symbols]
        if self._handed is not None:
            self._handed = values
        return values

    def _value(self, symbol: _Symbol, left: Any) -> Any:
        if not symbol.carried:
            return symbol.before
        value = trees.rebuild(symbol.spec, left)
        if symbol.flagged:
            return Maybe(symbol.name, value, next(left), symbol.why)
        return value

    def next(self, after: Sequence[Any]) -> list[Tensor]:
        """The tensors that leave an iteration. Throws Retry if another state must be carried than
        this one, and an error that names the symbol if none can be."""
        learned = False
        results: list[Tensor] = []
        for i, value in enumerate(after):
            symbol = self._symbols[i]
            if self._handed and symbol.carried and trees.same(self._handed[i], value):
                raise Retry  # the guess was wrong: it is Python's
            if self._fits(i, symbol, value):
                if symbol.carried:
                    results += self._tensors(i, symbol, value)
            else:
                learned = True
        if learned:
            raise Retry
        return results

    # One symbol.

    def _fits(self, i: int, symbol: _Symbol, after: Any) -> bool:
        """Whether a symbol may hold `after` as it is carried now; changes that if it cannot."""
        if not symbol.carried:
            if trees.same(symbol.before, after) or (is_absent(symbol.before) and is_absent(after)):
                return True
            return self._carry(symbol, after)
        if is_absent(after):
            raise self._error(
                "value",
                f"{shown(symbol.name)} is deleted in the loop, and has no value behind it",
            )
        if isinstance(after, Maybe) and not symbol.flagged:
            raise self._error(
                "value",
                f"{shown(symbol.name)} must be defined at the end of every iteration: it was "
                "before the loop",
            )
        inner = after.value if isinstance(after, Maybe) else after
        leaves: list[Any] = []
        spec = trees.flatten(inner, leaves)
        if spec != symbol.spec:
            raise self._structure(symbol, inner)
        changed = False
        for n, leaf in enumerate(leaves):
            changed |= self._adopt(symbol, n, leaf)
        return not changed

    def _carry(self, symbol: _Symbol, after: Any) -> bool:
        """Carries a symbol that an iteration changed from now on."""
        before = symbol.before
        if isinstance(before, Maybe):
            symbol.flagged = True
            symbol.why = before.why
            inner = before.value
        else:
            inner = before
        if is_absent(inner):
            return self._introduce(symbol, after)
        if inner is None:
            raise self._error(
                "value", f"{shown(symbol.name)} is not allowed to be None before the loop"
            )
        if after is None:
            raise self._error("value", f"{shown(symbol.name)} is None at the end of the iteration")
        value = after.value if isinstance(after, Maybe) else after
        read = self._library.read(inner, value)
        if read is not None:
            symbol.variable, inner = (inner, value), read
        symbol.spec = trees.flatten(inner, symbol.leaves)
        leaves: list[Any] = []
        if not is_absent(value) and trees.flatten(value, leaves) != symbol.spec:
            raise self._structure(symbol, value)
        symbol.tensors = [self._library.as_tensor(leaf) for leaf in symbol.leaves]
        symbol.carried = True
        for n, leaf in enumerate(leaves):
            self._adopt(symbol, n, leaf)
        if symbol.flagged:
            symbol.tensors.append(before.defined)
        return False

    def _introduce(self, symbol: _Symbol, after: Any) -> bool:
        """Carries a symbol that has no value before the loop: zeros that nothing may read."""
        simple = symbol.name.isidentifier()
        if not simple:
            raise self._error("value", f"{shown(symbol.name)} must be defined before the loop")
        if after is None and symbol.name.startswith("retval_"):
            symbol.before = after
            return False
        inner = after.value if isinstance(after, Maybe) else after
        leaves: list[Any] = []
        symbol.spec = trees.flatten(inner, leaves)
        symbol.leaves = [None] * len(leaves)
        types = [trees.type_of_leaf(leaf) for leaf in leaves]
        symbol.tensors = [self._library.zeros(type) for type in types]
        symbol.carried = True
        if isinstance(symbol.before, trees.UndefinedReturnValue):
            return False
        symbol.flagged = True
        symbol.why = f"the loop must iterate at least once to initialize '{symbol.name}'"
        symbol.tensors.append(self._library.as_tensor(False))
        return False

    def _adopt(self, symbol: _Symbol, n: int, leaf: Any) -> bool:
        """Whether a number before the loop takes another dtype for what an iteration gives."""
        mine = self._library.type_of(symbol.tensors[n])
        if trees.is_number(leaf):
            theirs = self._library.type_of(self._library.as_tensor(leaf, mine))
        else:
            theirs = trees.type_of_leaf(leaf)
        first = symbol.leaves[n]
        changed = False
        if mine.dtype != theirs.dtype and (first is None or trees.is_number(first)):
            zeros = TensorType(theirs.dtype, mine.shape)
            number = first is not None
            again = self._library.as_tensor(first, theirs) if number else self._library.zeros(zeros)
            if self._library.type_of(again).dtype == theirs.dtype:
                symbol.tensors[n] = again
                mine = self._library.type_of(again)
                changed = True
        if mine.dtype != theirs.dtype:
            raise self._error(
                "dtype",
                f"{shown(symbol.name)} has dtype {mine.dtype} before the loop, but dtype "
                f"{theirs.dtype} after one iteration",
            )
        if len(mine.shape) != len(theirs.shape):
            if first is None and not changed:
                symbol.tensors[n] = self._library.zeros(theirs)
                return True
            raise self._error(
                "value",
                f"{shown(symbol.name)} has shape {_sizes(mine)} before the loop, but shape "
                f"{_sizes(theirs)} after one iteration: sizes may change, the rank may not",
            )
        return changed

    def _tensors(self, i: int, symbol: _Symbol, after: Any) -> list[Tensor]:
        inner = after.value if isinstance(after, Maybe) else after
        if i in self._invariants:
            self._check_invariant(i, inner, "after one iteration")
        leaves: list[Any] = []
        trees.flatten(inner, leaves)
        results = [
            self._library.as_tensor(
                leaf, self._library.type_of(tensor) if trees.is_number(leaf) else None
            )
            for leaf, tensor in zip(leaves, symbol.tensors)
        ]
        if symbol.flagged:
            flag = after.defined if isinstance(after, Maybe) else self._library.as_tensor(True)
            results.append(flag)
        return results

    # Errors.

    def _structure(self, symbol: _Symbol, after: Any) -> Exception:
        before = symbol.before.value if isinstance(symbol.before, Maybe) else symbol.before
        if after is None:
            return self._error("value", f"{shown(symbol.name)} is None at the end of the iteration")
        if trees.is_static(symbol.spec) or trees.is_static(trees.flatten(after, [])):
            return self._error(
                "dtype",
                f"{shown(symbol.name)} is {_said(before)} before the loop, but {_said(after)} "
                "after one iteration: what a loop over tensors changes must be tensors or numbers",
            )
        return self._error(
            "dtype",
            f"{shown(symbol.name)} does not have the same nested structure after one iteration: it "
            f"is {_said(before)} before the loop, and {_said(after)} then",
        )

    def _check_invariant(self, i: int, tensor: Tensor, when: str) -> None:
        shape = self._invariants[i]
        sizes = self._library.type_of(tensor).shape
        wrong = len(shape) != len(sizes) or any(
            n is not None and n != m for n, m in zip(shape, sizes)
        )
        if wrong:
            said = TensorType("", sizes)
            raise self._error(
                "value",
                f"{shown(self._symbols[i].name)} has shape {_sizes(said)} {when}, which does not "
                f"satisfy its shape invariant {_sizes(TensorType('', shape))}",
            )

    def _error(self, kind: str, message: str) -> Exception:
        return getattr(self._library.errors, kind)(message)


def _sizes(type: TensorType) -> str:
    return "[" + ", ".join("?" if n is None else str(n) for n in type.shape) + "]"


def _said(value: Any) -> str:
    leaves: list[Any] = []
    spec = trees.flatten(value, leaves)
    if spec == trees.LEAF:
        return str(trees.type_of_leaf(value))
    if trees.is_static(spec):
        return trees.text_of(value)
    return f"a {type(value).__name__} of {len(leaves)}"
