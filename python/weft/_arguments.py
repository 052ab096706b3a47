"""Arguments of functions written in Python: what is wrong with one is an error of one sentence."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from weft import _kinds, _weft
from weft._tracebacks import clean

__all__ = [
    "NeedsInit",
    "axes",
    "axis",
    "integer",
    "integers",
    "is_iterable",
    "operands",
    "optional_integer",
    "optional_number",
    "options",
    "seed",
    "sizes",
    "tensor",
    "tensors",
    "text",
]

P = ParamSpec("P")
R = TypeVar("R")

_MOST = 2**63 - 1
_VAR_KEYWORDS = 0x08  # of co_flags: inspect.CO_VARKEYWORDS, which takes long to import


def options(f: Callable[P, R]) -> Callable[P, R]:
    """A function of which a wrong keyword is a TypeError that names the nearest right one, and an
    argument of a wrong type one that names the argument and what is wanted. Errors show the lines of
    the user alone."""
    code = f.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names = [n for n in code.co_varnames[:count] if n not in ("self", "cls")]
    known = frozenset(names)
    takes_any = bool(code.co_flags & _VAR_KEYWORDS)

    @functools.wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if kwargs and not takes_any and not known.issuperset(kwargs):
                owner = _owner(call, args)
                _weft.internal_refuse_words(f if owner is call else owner, names, list(kwargs))
            try:
                return f(*args, **kwargs)
            except _kinds.ERRORS as error:
                _explain(error, f, _title(call, args), args, kwargs)
                raise
        except BaseException as error:
            clean(error)
            raise

    return call


def _explain(error: Exception, f: Any, title: str, args: Any, kwargs: Any) -> None:
    given = _kinds.arguments_of(f, args, kwargs)
    _kinds.explain(error, title, given, f.__annotations__, _kinds.defaults_of(f))


def _owner(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What was called: the function, or the class whose `__init__` it is."""
    if f.__name__ not in ("__init__", "__new__") or not args:
        return f
    first: Any = args[0] if f.__name__ == "__new__" else args[0].__class__
    bases: tuple[Any, ...] = first.__mro__
    classes = [c for c in bases if getattr(c, f.__name__, None) is f]
    return next((c for c in reversed(classes) if c.__name__[0] != "_"), f)


def _title(f: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """What messages call a function; an `__init__` by the class of the package that has it."""
    owner = _owner(f, args)
    return owner.__name__ if owner is not f or f.__name__[0] != "_" else f.__qualname__


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


def integers(name: str, value: Any) -> list[int]:
    """The integers of a list or of a tensor of rank 1; one integer is a list of one."""
    if isinstance(value, _weft.Tensor | _weft.Variable):
        if _weft.internal_is_traced(value):
            raise _weft.DTypeError(
                f"{name} is a tensor of a traced function, and a number of Python is wanted: a size is "
                "x.shape[i], not one of a tensor of sizes"
            )
        if value.ndim < 2 and value.dtype.is_integer:
            return [int(n) for n in value.numpy().reshape(-1)]
    elif hasattr(value, "__index__") and not getattr(value, "ndim", 0):
        return [integer(name, value)]
    elif is_iterable(value):
        return [integer(name, n) for n in value]
    raise TypeError(f"{name} is a {type(value).__name__}: an integer or a list of them is wanted")


def is_iterable(value: Any) -> bool:
    """Whether it has items: a list, or an array or tensor with axes, but no text and no dict."""
    if (rank := getattr(value, "ndim", None)) is not None:
        return rank != 0
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes | dict)


def axis(function: str, value: Any, rank: int, argument: str = "axis") -> int:
    """An axis of a tensor of that rank, counted from the front."""
    number = integer(f"{function}: {argument}", value)
    if not -rank <= number < rank:
        raise _weft.OutOfRangeError(
            f"{function}: {argument} {number} is out of range for a tensor of rank {rank}"
        )
    return number + rank if number < 0 else number


def axes(function: str, value: Any, rank: int, argument: str = "axis") -> list[int]:
    """The axes of a list, or the only one, all different."""
    found = [
        axis(function, n, rank, argument) for n in integers(f"{function}: {argument}", value)
    ]
    if len(set(found)) != len(found):
        raise _weft.ValueError(f"{function}: {argument} has an axis twice: {value!r}")
    return found


def tensor(function: str, value: Any, argument: str = "x", dtype: str | None = None) -> Any:
    """A tensor of an argument. Numbers of Python take the dtype, if one is given."""
    if isinstance(value, _weft.Tensor):
        return value
    return _weft.internal_tensor(value, function, argument, dtype)


def operands(function: str, **values: Any) -> list[Any]:
    """Tensors of arguments by their names that go together: a number of Python, or a list of such
    alone, takes the dtype of the others where its kind allows that."""
    return _weft.internal_tensors(tuple(values.values()), function, tuple(values))


def tensors(function: str, values: Any, argument: str = "xs") -> list[Any]:
    """Tensors of a list, or the slices of a tensor along its first axis, as `operands`; there is at
    least one."""
    if not is_iterable(values):
        raise TypeError(
            f"{function}: {argument} is a {type(values).__name__}: a list of tensors is wanted"
        )
    items = list(values)
    if not items:
        raise _weft.ValueError(f"{function}: {argument} is empty: there is nothing to join")
    return _weft.internal_tensors(items, function, [f"{argument}[{i}]" for i in range(len(items))])


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


def known_sizes(shape: Any) -> Any:
    """The shape of a tensor, with None for sizes that a traced function leaves open."""
    return type(shape)(None if isinstance(n, _weft.Size) else n for n in shape)


def sizes(name: str, value: Any) -> tuple[int | str | None, ...]:
    """The sizes of a shape, of which those that may be any are None, or a name for what is equal."""
    wrong = (
        f"{name} is {value!r}: a list of integers is wanted, None where any size may be, or a name"
    )
    if isinstance(value, str):
        raise TypeError(wrong)
    try:
        return tuple(
            size if size is None or isinstance(size, str) else operator.index(size)
            for size in value
        )
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
