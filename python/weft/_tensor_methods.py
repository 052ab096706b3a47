"""Methods of tensors that are functions of the package: arrays of NumPy have them too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import _places, _products, _reductions, _weft

__all__ = ["install"]

_METHODS: tuple[Callable[..., Any], ...] = (
    _places.nonzero,
    _products.dot,
    _reductions.argmax,
    _reductions.argmin,
    _reductions.max,
    _reductions.min,
)


def install() -> None:
    """Adds the methods to the class."""
    for function in _METHODS:
        setattr(_weft.Tensor, function.__name__, function)
