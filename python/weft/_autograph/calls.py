"""Calls from converted code: which functions are converted, which run as they are."""

from __future__ import annotations

import functools
import sys
import types
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from weft._late import imported

from . import overloads, traceback
from .staging import AutoGraphWarning, context, current
from .trees import kind_of

AS_IS, PLAIN, BUILTIN, CLASS, FUNCTION, METHOD, PARTIAL = range(7)

_KINDS: dict[type, int] = {
    types.BuiltinFunctionType: BUILTIN,
    types.MethodDescriptorType: AS_IS,
    types.WrapperDescriptorType: AS_IS,
    types.MethodWrapperType: AS_IS,
    types.ClassMethodDescriptorType: AS_IS,
    type: CLASS,
    types.FunctionType: FUNCTION,
    types.MethodType: METHOD,
    functools.partial: PARTIAL,
}
"""How objects of a type are called. A type that is not here is looked at once, by `_kind_of`."""

_converted: dict[int, tuple[weakref.ref[types.FunctionType], Callable[..., Any]]] = {}
"""What is called instead of the function at an address: its converted form, or itself."""

_MUTATORS = frozenset(
    "append appendleft extend insert add update setdefault pop popleft popitem remove clear".split()
)

_UNCONVERTED = {
    "weft", "malt", "numpy", "ml_dtypes", "matplotlib", "torch", "jax", "jaxlib", "scipy",
    "_pytest", "pytest", "pluggy", "IPython", "ipykernel", "nanobind",
}  # fmt: skip
_STANDARD = sys.stdlib_module_names


def call_as_is(kind: type) -> None:
    """Calls objects of this type as they are from now on: op functions, traced functions."""
    _KINDS[kind] = AS_IS


def leave_module(name: str) -> None:
    """Does not convert functions of this top-level module."""
    _UNCONVERTED.add(name)


def converted_call(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, scope: Any = None
) -> Any:
    """`f(*args, **kwargs)`, where a function of the user is converted first."""
    kind = _KINDS.get(type(f))  # pyright: ignore[reportUnknownArgumentType]
    if kind == BUILTIN or kind == CLASS:
        f = _BUILTINS.get(f, f)
        if context.bodies and kind == BUILTIN:
            _watch(f, args)
    elif kind == FUNCTION:
        known = _converted.get(id(f))
        f = known[1] if known is not None else _convert(f)
    elif kind == METHOD:
        args = (f.__self__, *args)
        f = f.__func__
        if type(f) is not types.FunctionType:
            return converted_call(f, args, kwargs)
        known = _converted.get(id(f))
        f = known[1] if known is not None else _convert(f)
    elif kind == PARTIAL:
        return converted_call(f.func, f.args + args, {**f.keywords, **(kwargs or {})})
    elif kind != AS_IS:
        if kind is None and _kind_of(f) == AS_IS:
            return f(*args, **kwargs) if kwargs else f(*args)
        return converted_call(type(f).__call__, (f, *args), kwargs)
    if kwargs:
        return f(*args, **kwargs)
    return f(*args)


def _map(function: Any, *xs: Any) -> Any:
    return overloads.mapped(lambda row: converted_call(function, row, None), xs)


def _filter(function: Any, x: Any) -> Any:
    def call(row: tuple[Any, ...]) -> Any:
        return converted_call(function, row, None)

    return overloads.filtered(None if function is None else call, x)


_BUILTINS = {**overloads.BUILTINS, map: _map, filter: _filter}


def _kind_of(f: Any) -> int:
    """Looks at a type that is not known yet; only those whose call is Python's are PLAIN."""
    cls = kind_of(f)
    if isinstance(f, type):
        return AS_IS
    call = getattr(cls, "__call__", None)
    kind = PLAIN if type(call) is types.FunctionType else AS_IS
    if "<locals>" not in cls.__qualname__:
        _KINDS[cls] = kind
    return kind


def _watch(f: Any, args: tuple[Any, ...]) -> None:
    """Notes that a staged body changes a container of Python."""
    owner = getattr(f, "__self__", None)
    if type(owner) in (list, dict, set) or type(owner).__name__ == "deque":
        if f.__name__ in _MUTATORS:
            context.bodies[-1].changed(owner, f.__name__, args)


# Conversion.


def _convert(f: types.FunctionType) -> Callable[..., Any]:
    """What is called instead of a function of Python, from now on."""
    if traceback.mark_of(f.__code__) is not None:
        return f
    result: Callable[..., Any] = f
    if not _is_left(f):
        outcome = imported("weft._autograph.transpiler").convert(f)
        result = _refused(f, outcome) if isinstance(outcome, str) else outcome
    # A closure may hold itself, which would keep it here for good.
    if not f.__closure__:
        address = id(f)
        # No code of Python, which a handler of a signal might end by an exception: the entry would stay for another
        # function at the address.
        reference = weakref.ref(f, functools.partial(_converted.pop, address))
        _converted[address] = (reference, _Itself(f) if result is f else result)
    return result


class _Itself:
    """A function that runs as it is, without a reference that keeps it."""

    __slots__ = ("_f",)

    def __init__(self, f: types.FunctionType) -> None:
        self._f = weakref.ref(f)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        f: Any = self._f()
        return f(*args, **kwargs)


def _is_left(f: types.FunctionType) -> bool:
    """Whether a function is not the user's, or the user wants it left alone."""
    if f.__code__ in _left:
        return True
    name: str = f.__globals__.get("__name__") or ""
    root = name.partition(".")[0]
    if root in _UNCONVERTED:
        return True
    return root in _STANDARD and "site-packages" not in f.__code__.co_filename


_left: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


def do_not_convert(function: Any = None) -> Any:
    """Leaves a function as it is when the functions that call it are converted. A decorator."""
    if function is None:
        return do_not_convert
    inner = getattr(function, "__func__", function)
    if isinstance(inner, types.FunctionType):
        _left.add(inner.__code__)
        _converted.pop(id(inner), None)
        return function

    def left(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return functools.update_wrapper(left, function)


_warned: weakref.WeakSet[types.CodeType] = weakref.WeakSet()
_QUIET = ("generators", "coroutines")


def _refused(f: types.FunctionType, reason: str) -> Callable[..., Any]:
    """A function that cannot be converted: it runs as it is, and says so if a tensor stops it."""
    name = f.__qualname__
    text = f"{name} runs as it is, not converted by AutoGraph: {reason}"
    if not reason.startswith(_QUIET) and f.__code__ not in _warned:
        _warned.add(f.__code__)
        advice = "Decorate it with do_not_convert to silence this."
        place = (f.__code__.co_filename, f.__code__.co_firstlineno)
        warnings.warn_explicit(f"{text}. {advice}", AutoGraphWarning, *place)
    kept = weakref.ref(f)

    def unconverted(*args: Any, **kwargs: Any) -> Any:
        function: Any = kept()
        library = current()
        try:
            return function(*args, **kwargs)
        except Exception as error:
            if library is not None and isinstance(error, library.errors.not_allowed):
                traceback.note(error, text)
            raise

    return unconverted


# From outside.


def trace_call(f: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
    """Calls the converted form of `f`, as the outermost call of a trace: the traceback of an error
    shows the user's frames only."""
    outer = (context.depth, context.bodies, context.tries, context.converts)
    context.bodies, context.tries, context.converts = [], [], True
    try:
        return converted_call(f, args, kwargs)
    except BaseException as error:
        traceback.clean(error)
        raise
    finally:
        context.depth, context.bodies, context.tries, context.converts = outer
        context.negation = None


def convert(f: Any) -> Callable[..., Any]:
    """A function that calls the converted form of `f`."""

    @functools.wraps(f)
    def converted(*args: Any, **kwargs: Any) -> Any:
        try:
            return trace_call(f, args, kwargs)
        except BaseException as error:
            traceback.clean(error)
            raise

    return converted
