"""Numbers among arguments: what is none is a TypeError of one sentence."""

from __future__ import annotations

import operator
from typing import Any

from weft import _weft

__all__ = ["integer", "optional_integer", "optional_number", "seed"]

_MOST = 2**63 - 1


def integer(name: str, value: Any) -> int:
    """An integer of 64 bits; `name` is for messages, as in "batch: size"."""
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} is a {kind}: an integer is wanted") from None
    if not -_MOST <= number <= _MOST:
        raise _weft.ValueError(f"{name} is {number}, which has more than 64 bits")
    return number


def optional_integer(name: str, value: Any) -> int | None:
    """The same, or None."""
    return None if value is None else integer(name, value)


def optional_number(name: str, value: Any) -> float | None:
    """A number, or None."""
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"{name} is a {kind}: a number is wanted") from None


def seed(name: str, value: Any) -> int | None:
    """A seed, from 0 to 2^64 - 1, or None."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} is a {kind}: an integer is wanted") from None
    if not 0 <= number < 2**64:
        raise _weft.ValueError(f"{name} is {number}: an integer from 0 to 2^64 - 1 is wanted")
    return number
