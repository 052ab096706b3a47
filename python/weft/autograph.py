"""AutoGraph: Python's control flow in traced functions, as the control flow of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._autograph.staging import AutoGraphWarning as AutoGraphWarning

    set_loop_options: Callable[..., None]

__all__ = ["AutoGraphWarning", "do_not_convert", "set_loop_options", "to_code"]


def to_code(entity: Callable[..., Any]) -> str:
    """What a function is converted to, as Python to read.

    >>> def sign(x):
    ...     return 1 if x > 0 else -1
    >>> "if_exp" in wf.autograph.to_code(sign)
    True
    """
    from . import _autograph

    return _autograph.to_code(getattr(entity, "python_function", entity))


def do_not_convert(func: Any = None) -> Any:
    """A decorator: the function runs as it is while the functions that call it are traced.

    >>> @wf.autograph.do_not_convert
    ... def halves(x):
    ...     return [x / 2 for _ in range(2)]
    >>> wf.function(halves)(4.0)
    [2.0, 2.0]
    """
    from . import _autograph

    return _autograph.do_not_convert(func)


def __getattr__(name: str) -> Any:
    # Read late, as importing weft reads nothing of AutoGraph.
    if name in ("set_loop_options", "AutoGraphWarning"):
        from . import _autograph

        return getattr(_autograph, name)
    if name == "experimental":
        # The names as TensorFlow has them.
        import sys

        return sys.modules[__name__]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
