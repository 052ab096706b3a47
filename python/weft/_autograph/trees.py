"""Values as trees: what of them can depend on a tensor, and what is Python's and stays as it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from . import staging
from .staging import TensorType

Spec = tuple[Any, ...]
"""The structure of a value: nested tuples, their kind first, that compare equal if it is the same.
Kinds: leaf, list, tuple, named, data, dict, parts, static."""

LEAF: Spec = ("leaf",)
_NUMBERS = (bool, int, float, complex)
_SIMPLE = (str, bytes, type(None), *_NUMBERS)
_symbolic: list[type] = []


class Undefined:
    """What a variable holds that was not assigned yet, and so is no value."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name

    def read(self) -> Any:
        """Raises what Python raises when such a variable is read."""
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self) -> str:
        return f"<undefined {self.symbol_name}>"

    def __getattr__(self, name: str) -> Any:
        return self

    def __getitem__(self, key: object) -> Any:
        return self


class UndefinedReturnValue:
    """What a function gives back that has not returned."""


class Maybe:
    """A variable that the program assigned if `defined` holds, a bool scalar; checked when read."""

    __slots__ = ("defined", "name", "value", "why")

    def __init__(self, name: str, value: Any, defined: Any, why: str) -> None:
        self.name = name
        self.value = value
        self.defined = defined
        self.why = why


class Static:
    """A Python object in a spec: equal to itself, and to equal strings and the like."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and same(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]


def kind_of(x: object) -> Any:
    """The type of a value, of which nothing more is known."""
    return cast(Any, type(x))


def count_as_number(kind: type) -> None:
    """Has objects of a type of the library stand for numbers of Python that it does not know yet."""
    if kind not in _symbolic:
        _symbolic.append(kind)


def is_number(x: object) -> bool:
    """Whether `x` is a Python number, exactly, or a float64 of NumPy, which counts as one."""
    return type(x) in _NUMBERS or type(x) in _symbolic or _is_wide_float(x)


def _is_wide_float(x: object) -> bool:
    return isinstance(x, float) and type(x).__module__ == "numpy"


def plain(x: Any) -> Any:
    """A value as a loop carries it: a float64 of NumPy as the float of Python that it counts as."""
    return float(x) if _is_wide_float(x) else x


def same(a: object, b: object) -> bool:
    """Whether two values that hold no tensor are one to the program."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if type(a) in _SIMPLE or _is_wide_float(a):
        # By text, so that -0.0 is not 0.0 and NaN is NaN.
        return a == b and repr(a) == repr(b) or (a != a and b != b)
    if type(a) in (list, tuple):
        first: Any = a
        second: Any = b
        return len(first) == len(second) and all(map(same, first, second))
    if kind_of(a) is dict:
        return _same_tables(a, b)
    code = getattr(a, "__code__", None)
    if code is not None and code is getattr(b, "__code__", None):
        # A function that a body defines anew each time.
        return _same_cells(getattr(a, "__closure__", None), getattr(b, "__closure__", None))
    func = getattr(a, "__func__", None)
    if func is not None and func is getattr(b, "__func__", None):
        return getattr(a, "__self__", None) is getattr(b, "__self__", None)
    return False


def _same_tables(a: Any, b: Any) -> bool:
    return list(a) == list(b) and all(map(same, a.values(), b.values()))


def _same_cells(a: tuple[Any, ...] | None, b: tuple[Any, ...] | None) -> bool:
    return a is b or (a is not None and b is not None and all(x is y for x, y in zip(a, b)))


def _is_array(x: object) -> bool:
    """Whether `x` is NumPy's, without importing it."""
    return type(x).__module__ == "numpy" and hasattr(x, "dtype") and hasattr(x, "shape")


def flatten(value: Any, leaves: list[Any]) -> Spec:
    """Appends the tensors, arrays and numbers of a value, and gives its structure."""
    library = staging.library()
    if is_number(value) or library.is_tensor(value) or _is_array(value):
        leaves.append(value)
        return LEAF
    kind = kind_of(value)
    base: Any = tuple
    if kind is list:
        return ("list", *[flatten(entry, leaves) for entry in value])
    if kind is tuple:
        return ("tuple", *[flatten(entry, leaves) for entry in value])
    if issubclass(kind, base) and hasattr(kind, "_fields"):
        return ("named", kind, *[flatten(entry, leaves) for entry in value])
    parts = library.parts(value)
    if parts is not None:
        leaves.extend(parts.tensors)
        return ("parts", Static(parts.key), len(parts.tensors), _Rebuild(parts.rebuild))
    if hasattr(kind, "__dataclass_fields__"):
        fields = [getattr(value, name, None) for name in kind.__dataclass_fields__]
        return ("data", kind, *[flatten(entry, leaves) for entry in fields])
    if kind is dict:
        return ("dict", tuple(value), *[flatten(entry, leaves) for entry in value.values()])
    return ("static", Static(value))


class _Rebuild:
    """A function in a spec that makes no difference to what is equal."""

    __slots__ = ("call",)

    def __init__(self, call: Any) -> None:
        self.call = call

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rebuild)

    __hash__ = None  # type: ignore[assignment]


def rebuild(spec: Spec, leaves: Iterator[Any]) -> Any:
    """The value of this structure with the next leaves."""
    kind = spec[0]
    if kind == "leaf":
        return next(leaves)
    if kind == "static":
        return spec[1].value
    if kind == "parts":
        return spec[3].call([next(leaves) for _ in range(spec[2])])
    if kind == "named":
        return spec[1](*[rebuild(entry, leaves) for entry in spec[2:]])
    if kind == "data":
        made = object.__new__(spec[1])
        for name, entry in zip(spec[1].__dataclass_fields__, spec[2:], strict=True):
            object.__setattr__(made, name, rebuild(entry, leaves))
        return made
    if kind == "dict":
        return {key: rebuild(s, leaves) for key, s in zip(spec[1], spec[2:], strict=True)}
    entries = [rebuild(entry, leaves) for entry in spec[1:]]
    return entries if kind == "list" else tuple(entries)


def containers(value: Any) -> list[Any]:
    """The lists, tuples and dicts in a value, outermost first."""
    if isinstance(value, Maybe):
        return containers(value.value)
    entries: Any = value.values() if kind_of(value) is dict else value
    if kind_of(value) not in (list, tuple, dict):
        return []
    return [value, *[c for entry in entries for c in containers(entry)]]


def is_static(spec: Spec) -> bool:
    """Whether a value of this structure is Python's alone."""
    return spec[0] == "static"


def is_none(spec: Spec) -> bool:
    """Whether a value of this structure is None."""
    return is_static(spec) and spec[1].value is None


def holds_traced(value: Any) -> bool:
    """Whether there is a traced tensor in a value."""
    library = staging.library()
    leaves: list[Any] = []
    flatten(value, leaves)
    return any(library.is_traced(leaf) for leaf in leaves)


def type_of_leaf(leaf: Any) -> TensorType:
    """The type that a leaf has as a tensor."""
    library = staging.library()
    return library.type_of(leaf if library.is_tensor(leaf) else library.as_tensor(leaf))


def text_of(value: Any) -> str:
    """A value that is no tensor, in a message."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
