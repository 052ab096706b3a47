"""The patterns of `match`: what a converted function knows of them, and how it tests them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from . import staging
from .walrus import at

Description = tuple[Any, ...]
"""A pattern as nested tuples, its kind first; values and classes are functions without arguments,
which are called when their turn comes."""


def captures_of(pattern: ast.pattern) -> list[str]:
    """The names that a pattern binds, in the order in which they are written, each once."""
    names: dict[str, None] = {}

    def walk(node: ast.AST) -> None:
        if isinstance(node, ast.pattern):
            for child in ast.iter_child_nodes(node):
                walk(child)
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if name is not None:
                names[name] = None

    walk(pattern)
    return list(names)


def description_of(pattern: ast.pattern) -> ast.expr:
    """The expression that describes a pattern to `match_case`."""
    return at(pattern, _describe(pattern))


def _tuple(*entries: ast.expr) -> ast.expr:
    return ast.Tuple(elts=list(entries), ctx=ast.Load())


def _text(value: str | bool | None) -> ast.expr:
    return ast.Constant(value=value)


def _later(value: ast.expr) -> ast.expr:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return at(value, ast.Lambda(args=nothing, body=value))


def _describe(node: ast.pattern) -> ast.expr:
    match node:
        case ast.MatchValue():
            return _tuple(_text("value"), _later(node.value))
        case ast.MatchSingleton():
            return _tuple(_text("singleton"), _text(node.value))
        case ast.MatchSequence():
            return _tuple(_text("sequence"), *map(_describe, node.patterns))
        case ast.MatchStar():
            return _tuple(_text("star"), _text(node.name))
        case ast.MatchMapping():
            keys = _tuple(*map(_later, node.keys))
            return _tuple(
                _text("mapping"), keys, _tuple(*map(_describe, node.patterns)), _text(node.rest)
            )
        case ast.MatchClass():
            names = _tuple(*map(_text, node.kwd_attrs))
            patterns = _tuple(*map(_describe, (*node.patterns, *node.kwd_patterns)))
            return _tuple(_text("class"), _later(node.cls), patterns, names)
        case ast.MatchAs():
            if node.pattern is None:
                return _tuple(_text("capture"), _text(node.name))
            return _tuple(_text("as"), _describe(node.pattern), _text(node.name))
        case ast.MatchOr():
            return _tuple(_text("or"), *map(_describe, node.patterns))
        case _:
            raise AssertionError(node)


Captures = dict[str, Any]
Test = Callable[[Any, Description, Captures], Any]


def match_case(subject: Any, pattern: Description, names: Sequence[str]) -> tuple[Any, ...]:
    """Whether the subject matches, and the values of the names. A comparison with a traced tensor
    makes it a traced tensor; the shape of the subject is looked at while tracing."""
    captures: Captures = {}
    matched = _test(subject, pattern, captures)
    return (matched, *(captures.get(name) for name in names))


def _test(subject: Any, pattern: Description, captures: Captures) -> Any:
    return _TESTS[pattern[0]](subject, pattern, captures)


def _both(first: Any, second: Callable[[], Any]) -> Any:
    """`first and second()`, where a traced first leaves what is known now to the second."""
    library = staging.current()
    if library is None or not library.is_traced(first):
        return second() if first else False
    other = second()
    if library.is_traced(other):
        return library.op("logical_and", first, other)
    return first if other else False


def _value(subject: Any, pattern: Description, captures: Captures) -> Any:
    return subject == pattern[1]()


def _singleton(subject: Any, pattern: Description, captures: Captures) -> Any:
    return subject is pattern[1]


def _capture(subject: Any, pattern: Description, captures: Captures) -> Any:
    if pattern[1] is not None:
        captures[pattern[1]] = subject
    return True


def _as(subject: Any, pattern: Description, captures: Captures) -> Any:
    matched = _test(subject, pattern[1], captures)
    captures[pattern[2]] = subject
    return matched


def _or(subject: Any, pattern: Description, captures: Captures) -> Any:
    library = staging.current()
    matched: Any = False
    for alternative in pattern[1:]:
        bound: Captures = {}
        found = _test(subject, alternative, bound)
        if library is None or not library.is_traced(found):
            if not found:
                continue
            if matched is False:
                captures.update(bound)
                return True
            found = library and library.as_tensor(True)
        if bound:
            raise staging.errors().autograph(
                "a pattern with `|` that a tensor decides cannot bind names: write one case for "
                "each alternative"
            )
        matched = found if matched is False else _either(matched, found)
    return matched


def _either(first: Any, second: Any) -> Any:
    return staging.library().op("logical_or", first, second)


def _sequence(subject: Any, pattern: Description, captures: Captures) -> Any:
    if not isinstance(subject, Sequence) or isinstance(subject, str | bytes | bytearray):
        return False
    values = cast("Sequence[Any]", subject)
    patterns = pattern[1:]
    star = next((i for i, p in enumerate(patterns) if p[0] == "star"), None)
    matched: Any = True
    if star is None:
        if len(values) != len(patterns):
            return False
        return _all(zip(values, patterns, strict=True), captures)
    after = len(patterns) - star - 1
    if len(values) < star + after:
        return False
    end = len(values) - after
    matched = _all(zip(values[:star], patterns[:star], strict=True), captures)
    if patterns[star][1] is not None:
        captures[patterns[star][1]] = [values[i] for i in range(star, end)]
    last = zip(values[end:], patterns[star + 1 :], strict=True)
    return _both(matched, lambda: _all(last, captures))


def _all(pairs: Any, captures: Captures) -> Any:
    matched: Any = True
    for value, pattern in pairs:
        matched = _both(matched, lambda v=value, p=pattern: _test(v, p, captures))
        if matched is False:
            return False
    return matched


_MISSING = object()


def _mapping(subject: Any, pattern: Description, captures: Captures) -> Any:
    if not isinstance(subject, Mapping):
        return False
    values = cast("Mapping[Any, Any]", subject)
    _, thunks, patterns, rest = pattern
    keys = [thunk() for thunk in thunks]
    if len(set(keys)) < len(keys):
        raise ValueError("mapping pattern checks duplicate key")
    found = [values.get(key, _MISSING) for key in keys]
    if any(value is _MISSING for value in found):
        return False
    matched = _all(zip(found, patterns, strict=True), captures)
    if rest is not None:
        captures[rest] = {key: value for key, value in values.items() if key not in keys}
    return matched


_ITSELF: list[Any] = [bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple]


def _class(subject: Any, pattern: Description, captures: Captures) -> Any:
    _, thunk, patterns, names = pattern
    cls: Any = thunk()
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, cls):
        return False
    own: Any = getattr(cls, "__match_args__", None)
    by_place = len(patterns) - len(names)
    if by_place == 1 and own is None and any(issubclass(cls, kind) for kind in _ITSELF):
        matched = _test(subject, patterns[0], captures)
        return _both(matched, lambda: _attributes(subject, names, patterns[1:], captures))
    given: Sequence[str] = own or ()
    if by_place > len(given):
        raise TypeError(
            f"{cls.__name__}() accepts {len(given)} positional "
            f"sub-pattern{'' if len(given) == 1 else 's'} ({by_place} given)"
        )
    return _attributes(subject, (*given[:by_place], *names), patterns, captures)


def _attributes(
    subject: Any, names: Sequence[str], patterns: Sequence[Description], captures: Captures
) -> Any:
    found = [getattr(subject, name, _MISSING) for name in names]
    if any(value is _MISSING for value in found):
        return False
    return _all(zip(found, patterns, strict=True), captures)


_TESTS: dict[str, Test] = {
    "value": _value,
    "singleton": _singleton,
    "capture": _capture,
    "as": _as,
    "or": _or,
    "sequence": _sequence,
    "mapping": _mapping,
    "class": _class,
}
