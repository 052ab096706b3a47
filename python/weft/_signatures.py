"""Classes whose parameters are known when the package is loaded: those of the library under other names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import _weft
from weft._arguments import options

__all__ = ["init_of", "parameters_of"]


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
    names = [each.partition("=")[0].partition(":")[0].strip() for each in parameters.split(", ")]
    values = ", ".join(f"{name!r}: {name}" for name in names if name != "*")
    space: dict[str, Any] = {"start": start}
    source = f"def __init__(self, {parameters}) -> None:\n    start(self, {{{values}}})"
    exec(compile(source, __file__, "exec"), space)  # a frame of the package in tracebacks
    return options(space["__init__"])
