"""AutoGraph: Python's control flow in traced functions, as the control flow of the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .calls import call_as_is, convert, converted_call, do_not_convert, leave_module, trace_call
from .staging import AutoGraphWarning, Staging, install

if TYPE_CHECKING:

    def set_loop_options(
        parallel_iterations: int = 10,
        swap_memory: bool = False,
        maximum_iterations: int | None = None,
        shape_invariants: Sequence[tuple[Any, Sequence[int | None]]] = (),
    ) -> None:
        """Options of the loop whose first statement this is: `maximum_iterations`, and
        `shape_invariants`, pairs of a tensor and the sizes that it keeps, None for any. The others
        are TensorFlow's and make no difference."""


__all__ = [
    "AutoGraphWarning",
    "Staging",
    "call_as_is",
    "convert",
    "converted_call",
    "do_not_convert",
    "install",
    "leave_module",
    "set_loop_options",
    "to_code",
    "trace_call",
]


def to_code(function: Any) -> str:
    """The converted form of a function, as Python to read. Throws an AutoGraphError that says why
    if there is none."""
    from .transpiler import to_code

    return to_code(function)


def __getattr__(name: str) -> Any:
    # The very object by which diastatic-malt knows the directive, and so imported late.
    if name == "set_loop_options":
        from .passes import set_loop_options

        return set_loop_options
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
