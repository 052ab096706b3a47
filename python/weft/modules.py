"""`weft.Module` and `weft.Model`: classes whose attributes are the variables and layers of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from weft import _weft
from weft._weft import Variable

__all__ = ["Module"]


class Module:
    """An object with variables: those among its attributes, and in the Modules, layers, lists,
    tuples, dicts and dataclasses among them. Nothing is registered: the attributes are looked at
    when somebody asks, so that what is appended to a list later counts as well.

        class Linear(wf.Module):
            def __init__(self, inputs, units):
                self.w = wf.Variable(wf.random.normal((inputs, units)))
                self.b = wf.Variable(wf.zeros(units))

            def __call__(self, x):
                return x @ self.w + self.b

    A variable has a path, the names of the attributes that lead to it: `blocks.1.w`. Modules may
    know each other. As arguments of traced functions they count by identity.
    """

    _weft_parts: Any = None

    def __init__(self, name: str | None = None) -> None:
        if name is not None:
            self.name = name

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for word in _RESERVED.intersection(vars(cls)):
            if not isinstance(vars(cls)[word], property):
                raise _weft.ValueError(
                    f"{cls.__name__}: a Module says by '{word}' what it holds: call the attribute "
                    "something else"
                )

    @property
    def variables(self) -> list[Variable]:
        """All variables that have values, each once, in the order of the attributes. The state of
        an optimizer is none of a model's."""
        return _weft.internal_variables(self, True, True)

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those that training changes."""
        return _weft.internal_variables(self, True, False)

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Those that training does not change, such as moving statistics."""
        return _weft.internal_variables(self, False, True)

    def named_variables(self) -> dict[str, Variable]:
        """The variables by their paths. Those without names of their own are called by their paths
        from now on, and so are layers in messages."""
        return _weft.internal_named_variables(self)

    @property
    def parameter_count(self) -> int:
        """How many floating numbers the variables hold. Raises StateError if one has no value yet:
        call the model first."""
        return _weft.internal_parameter_count(self)

    @property
    def submodules(self) -> list[Any]:
        """The Modules and layers in it, each once, those within others behind them."""
        return [part for part in _parts_of(self, {id(self)})]

    def __repr__(self) -> str:
        return _tree_of(self, set())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_missing(self, name), name=name, obj=self)


_RESERVED = frozenset(
    "variables trainable_variables non_trainable_variables named_variables parameter_count submodules".split()
)


def _missing(module: Module, name: str) -> str:
    """What to say of an attribute that is not there."""
    kind = type(module).__name__
    if name == "name":
        return f"this {kind} was made without a name"
    text = f"'{kind}' object has no attribute {name!r}"
    known = module.__dict__
    if not known:
        text += f": it has no attributes at all; does {kind}.__init__ assign them?"
    return text


def _is_part(x: Any) -> bool:
    return isinstance(x, Module | _weft.internal_part)


def _entries(x: Any) -> Iterator[tuple[str, Any]]:
    """The names and values in a Module or a container."""
    if isinstance(x, dict):
        table: dict[Any, Any] = x
        yield from ((str(key), value) for key, value in table.items())
    elif isinstance(x, list | tuple):
        listed: Sequence[Any] = x
        yield from ((str(i), value) for i, value in enumerate(listed))
    else:
        yield from _weft.internal_fields(x)


def _parts_of(x: Any, seen: set[int]) -> Iterator[Any]:
    for _, value in _entries(x):
        inside = isinstance(value, list | tuple | dict)
        if id(value) in seen or not (inside or _is_part(value)):
            continue
        seen.add(id(value))
        if not inside:
            yield value
        yield from _parts_of(value, seen)


def _tree_of(x: Any, seen: set[int]) -> str:
    """A Module as its name and its parts, a line each."""
    if id(x) in seen:
        return f"{type(x).__name__}(...)"
    seen = seen | {id(x)}
    lines: list[str] = []
    for name, value in _entries(x):
        if isinstance(value, Module | list | tuple | dict) and _holds_part(value, set()):
            text = _tree_of(value, seen)
        elif _is_part(value):
            text = repr(value)
        elif type(value) is Variable:
            text = f"Variable({list(value.shape)}, {value.dtype})"
        else:
            continue
        lines += [f"  {line}" for line in f"{name}: {text}".split("\n")]
    kind = type(x).__name__
    return "\n".join([f"{kind}(", *lines, ")"]) if lines else f"{kind}()"


def _holds_part(x: Any, seen: set[int]) -> bool:
    """Whether there is a variable, a Module or a layer in it."""
    if id(x) in seen:
        return False
    seen.add(id(x))
    if _is_part(x) or type(x) is Variable:
        return True
    return isinstance(x, list | tuple | dict) and any(_holds_part(v, seen) for _, v in _entries(x))


_weft.internal_set_module_class(Module)
