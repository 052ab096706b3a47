"""Lists, tuples and dicts of tensors, variables and numbers: their leaves, and the same with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["check_listed", "is_dict", "is_listed", "leaves_of", "mapped"]

# Not seen by type checkers, which know no more of the entries then.


def is_listed(x: Any) -> bool:
    """Whether it is a list or a tuple."""
    return isinstance(x, list | tuple)


def is_dict(x: Any) -> bool:
    """Whether it is a dict."""
    return isinstance(x, dict)


def mapped(x: Any, leaf: Callable[[Any], Any]) -> Any:
    """The same structure with `leaf(entry)` in the place of each entry; None stays empty."""
    if x is None:
        return None
    if is_dict(x):
        return {key: mapped(value, leaf) for key, value in x.items()}
    if is_listed(x):
        made = [mapped(item, leaf) for item in x]
        if isinstance(x, list):
            return made
        return x._make(made) if hasattr(x, "_make") else tuple(made)
    return leaf(x)


def leaves_of(x: Any) -> list[Any]:
    """The entries in order."""
    found: list[Any] = []
    mapped(x, found.append)
    return found


def check_listed(name: str, argument: str, value: Any) -> None:
    """Throws TypeError unless an argument is a list or tuple: a tensor would be taken apart."""
    if not is_listed(value):
        raise TypeError(
            f"{name}: {argument} is of type {type(value).__name__}: a list or tuple is wanted, such "
            "as [x] of one tensor"
        )
