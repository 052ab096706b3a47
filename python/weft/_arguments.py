"""Arguments of functions written in Python: what is wrong with one is an error of one sentence."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from weft import _weft
from weft._tracebacks import clean

__all__ = [
    "NeedsInit",
    "integer",
    "optional_integer",
    "optional_number",
    "options",
    "seed",
    "sizes",
    "text",
]

P = ParamSpec("P")
R = TypeVar("R")

_MOST = 2**63 - 1


def options(f: Callable[P, R]) -> Callable[P, R]:
    """A function of which a wrong keyword is a TypeError that names the nearest right one, and whose
    errors show the lines of the user alone."""
    code = f.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    known = frozenset(names)

    @functools.wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if kwargs and not known.issuperset(kwargs):
                _refuse(_title(call, args), names, kwargs)
            return f(*args, **kwargs)
        except BaseException as error:
            clean(error)
            raise

    return call


def _title(f: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """What messages call a function; an `__init__` by the class of the package that has it."""
    if f.__name__ != "__init__" or not args:
        return f.__name__
    classes = [c for c in type(args[0]).__mro__ if c.__init__ is f]
    return next((c.__name__ for c in reversed(classes) if c.__name__[0] != "_"), f.__qualname__)


def _refuse(title: str, names: Iterable[str], given: Iterable[str]) -> None:
    import difflib

    known = [name for name in names if name != "self"]
    wrong = next(word for word in given if word not in known)
    near = difflib.get_close_matches(wrong, known, 1)
    hint = f"did you mean '{near[0]}'?" if near else f"it takes {', '.join(known)}"
    raise TypeError(f"{title} has no argument '{wrong}': {hint}")


class NeedsInit:
    """What classes derive from whose methods need attributes that `__init__` makes: an object of a
    subclass that does not call it says so."""

    __slots__ = ()
    _made_by_init: tuple[str, ...] = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            if name in self._made_by_init:
                raise _weft.StateError(
                    f"this {kind} was never initialized: call super().__init__() first in the "
                    "__init__ of its class"
                )
            raise AttributeError(f"'{kind}' object has no attribute {name!r}", name=name, obj=self)


def integer(name: str, value: Any) -> int:
    """An integer of 64 bits; `name` is for messages, as in "batch: size"."""
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} is a {kind}: an integer is wanted") from None
    if not -_MOST <= number <= _MOST:
        raise _weft.ValueError(f"{name} is {number}, which has more than 64 bits")
    return number


def optional_integer(name: str, value: Any) -> int | None:
    """The same, or None."""
    return None if value is None else integer(name, value)


def optional_number(name: str, value: Any) -> float | None:
    """A number, or None."""
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"{name} is a {kind}: a number is wanted") from None


def text(name: str, value: Any) -> str:
    """A text."""
    if isinstance(value, str):
        return value
    raise TypeError(f"{name} is a {type(value).__name__}: a text is wanted")


def sizes(name: str, value: Any) -> tuple[int | None, ...]:
    """The sizes of a shape, of which those that may be any are None."""
    wrong = f"{name} is {value!r}: a list of integers is wanted, or None where any size may be"
    if isinstance(value, str):
        raise TypeError(wrong)
    try:
        return tuple(None if size is None else operator.index(size) for size in value)
    except TypeError:
        raise TypeError(wrong) from None


def seed(name: str, value: Any) -> int | None:
    """A seed, from 0 to 2^64 - 1, or None."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} is a {kind}: an integer is wanted") from None
    if not 0 <= number < 2**64:
        raise _weft.ValueError(f"{name} is {number}: an integer from 0 to 2^64 - 1 is wanted")
    return number


def made_by(module: str, name: str, arguments: tuple[Any, ...]) -> Any:
    """What a function of the package gives for these arguments: how pickles name it."""
    import importlib

    return getattr(importlib.import_module(module), name)(*arguments)
