"""Methods of tensors that are functions of the package: arrays of NumPy have them too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft import _elementwise, _elements, _places, _products, _reductions, _weft

__all__ = ["install"]

_METHODS: tuple[Callable[..., Any], ...] = (
    _elementwise.clip,
    _elementwise.round,
    _elements.repeat,
    _elements.swapaxes,
    _places.nonzero,
    _places.searchsorted,
    _places.take,
    _products.diagonal,
    _products.dot,
    _products.trace,
    _reductions.argmax,
    _reductions.argmin,
    _reductions.max,
    _reductions.min,
    _reductions.ptp,
    _reductions.std,
    _reductions.var,
)


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of which the tensor is the first argument. numpy.std(t) calls t.std(axis=.., dtype=None,
    out=None)."""

    @functools.wraps(function)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        for word in ("out", "dtype"):
            if word in kwargs and kwargs[word] is None:
                del kwargs[word]
        return function(self, *args, **kwargs)

    return method


def install() -> None:
    """Adds the methods to the class."""
    for function in _METHODS:
        setattr(_weft.Tensor, function.__name__, _method(function))
