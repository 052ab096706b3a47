"""Structures of tensors, variables and numbers: their entries, and the same with others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import _weft

__all__ = ["check_depth", "check_listed", "flattened", "is_dict", "is_listed", "leaves_of", "mapped"]

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


def flattened(x: Any, what: str) -> tuple[list[Any], Any]:
    """The entries in order, and the structure, which takes others for them: lists, tuples and dicts,
    as they were inserted, and dataclasses, in which only what derivatives and tensors are about are
    entries. None stays empty. Checks the depth of `what`."""
    return _weft.internal_flatten(what, x, None, False, True)


def mapped(x: Any, leaf: Callable[[Any], Any], what: str) -> Any:
    """The same structure with `leaf(entry)` in the place of each entry."""
    entries, structure = flattened(x, what)
    return structure.unflatten([leaf(entry) for entry in entries])


def leaves_of(x: Any, what: str) -> list[Any]:
    """The entries in order."""
    return flattened(x, what)[0]


def check_listed(name: str, argument: str, value: Any) -> None:
    """Throws TypeError unless an argument is a list or tuple: a tensor would be taken apart."""
    if not is_listed(value):
        raise TypeError(
            f"{name}: {argument} is of type {type(value).__name__}: a list or tuple is wanted, such "
            "as [x] of one tensor"
        )
