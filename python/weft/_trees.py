"""Lists, tuples and dicts of tensors, variables and numbers: their leaves, and the same with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import _weft

__all__ = ["check_depth", "check_listed", "is_dict", "is_listed", "leaves_of", "mapped"]

# Not seen by type checkers, which know no more of the entries then.


def is_listed(x: Any) -> bool:
    """Whether it is a list or a tuple."""
    return isinstance(x, list | tuple)


def is_dict(x: Any) -> bool:
    """Whether it is a dict."""
    return isinstance(x, dict)


_DEEPEST = 256  # as in C++


def check_depth(what: str, depth: int) -> None:
    """Raises ValueError for what is nested too deep; `what` is the function or the argument."""
    if depth > _DEEPEST:
        raise _weft.ValueError(f"{what}: the structure is nested too deep, or holds itself")


def mapped(x: Any, leaf: Callable[[Any], Any], what: str, depth: int = 0) -> Any:
    """The same structure with `leaf(entry)` in the place of each entry; None stays empty. Checks
    the depth of `what`."""
    if x is None:
        return None
    check_depth(what, depth)
    if is_dict(x):
        entries: dict[Any, Any] = {}
        for key, value in x.items():
            entries[key] = mapped(value, leaf, what, depth + 1)
        return entries
    if is_listed(x):
        made: list[Any] = []
        for item in x:
            made.append(mapped(item, leaf, what, depth + 1))
        if isinstance(x, list):
            return made
        return x._make(made) if hasattr(x, "_make") else tuple(made)
    return leaf(x)


def leaves_of(x: Any, what: str) -> list[Any]:
    """The entries in order."""
    found: list[Any] = []
    mapped(x, found.append, what)
    return found


def check_listed(name: str, argument: str, value: Any) -> None:
    """Throws TypeError unless an argument is a list or tuple: a tensor would be taken apart."""
    if not is_listed(value):
        raise TypeError(
            f"{name}: {argument} is of type {type(value).__name__}: a list or tuple is wanted, such "
            "as [x] of one tensor"
        )
