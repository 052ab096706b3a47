"""Parameters: of classes of the library, which `inspect` does not find, and of functions of the user."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import MethodDescriptorType
from typing import Any

from weft import _train, _weft
from weft._arguments import options

__all__ = ["init_of", "parameters_of", "sign", "takes", "takes_training"]


def parameters_of(name: str) -> dict[str, tuple[str, str]]:
    """The parameters of a class or function of the library, "weft.nn.Dense", by their names: type and
    default, as texts; the default of one that must be given is empty."""
    found: dict[str, tuple[str, str]] = {}
    for text in _weft.internal_parameters()[name].split(", "):
        parameter, _, rest = text.partition(": ")
        kind, _, default = rest.partition(" = ")
        if parameter != "*":
            found[parameter] = (kind, default)
    return found


def init_of(parameters: str, start: Callable[[Any, dict[str, Any]], None]) -> Any:
    """An `__init__` of these parameters, which hands their values to `start(self, values)`."""
    names = [each.partition("=")[0].partition(":")[0].strip(" *") for each in parameters.split(", ")]
    values = ", ".join(f"{name!r}: {name}" for name in names if name)
    space: dict[str, Any] = {"start": start}
    source = (
        "from __future__ import annotations\n"
        f"def __init__(self, {parameters}) -> None:\n    start(self, {{{values}}})"
    )
    exec(compile(source, __file__, "exec"), space)  # a frame of the package in tracebacks
    return options(space["__init__"])


_TAKES_KEYWORDS = 0x08  # of code objects: inspect.CO_VARKEYWORDS


def takes(function: Any, word: str) -> bool:
    """Whether a function of Python has a parameter of that name, or takes any."""
    function = getattr(function, "python_function", function)
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    count = code.co_argcount + code.co_kwonlyargcount
    return word in code.co_varnames[:count] or bool(code.co_flags & _TAKES_KEYWORDS)


def takes_training(layer: Any) -> bool:
    """Whether `layer(x, training=True)` is possible."""
    if hasattr(layer.__class__, "_weft_takes_training") or isinstance(layer, _weft.Layer):
        return True
    if isinstance(layer, type) or not callable(layer):
        return False
    if hasattr(layer, "__code__") or hasattr(layer, "__func__") or hasattr(layer, "python_function"):
        return takes(layer, "training")
    return takes(type(layer).__call__, "training")


class _Signature:
    """`__signature__` of one class, made when it is wanted: its objects and classes with another `__init__` have
    their own. Without parameters they are those of its `__init__`."""

    def __init__(self, cls: type, parameters: str | None) -> None:
        self._cls, self._parameters = cls, parameters

    def __get__(self, one: Any, cls: Any = None) -> Any:
        if one is not None or (cls is not self._cls if self._parameters else cls.__init__ is not self._cls.__init__):
            raise AttributeError("__signature__")
        import inspect

        if self._parameters is None:
            whole = inspect.signature(self._cls.__init__)
            return whole.replace(parameters=list(whole.parameters.values())[1:])
        space: dict[str, Any] = {}
        exec(f"def call({self._parameters}): ...", space)
        return inspect.signature(space["call"])


def sign(cls: Any, parameters: str | None = "*args, **kwargs") -> None:
    """Gives a class the parameters that `inspect` does not find. Those that nothing calls say what to write instead,
    whatever they are given."""
    cls.__signature__ = _Signature(cls, parameters)


_classes: dict[Any, None] = {}
for _name, _module in sys.modules.items():
    if _name.startswith("weft._"):
        _classes.update({each: None for each in vars(_module).values() if isinstance(each, type)})
for _cls in _classes:
    if issubclass(_cls, _weft.Error):
        sign(_cls)
    elif isinstance(_cls.__dict__.get("__init__"), MethodDescriptorType) and _cls.__module__.startswith("weft"):
        sign(_cls, None)  # the first releases of Python 3.11 look for no `__init__` of C++
for _cls in (
    _weft.Tensor, _weft.DType, _weft.Size, _weft.Function, _weft.Initializer, _weft.Schedule,
    _train.Run, _train.Callback, _weft.RestoreStatus,
):  # fmt: skip
    sign(_cls)
sign(_weft.Variable, "initial_value, trainable=True, name=None, dtype=None, *, shape=None")
