"""Calls of the libraries that take any array of the array API standard, as a table that their files fill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["CALLS", "Arrays", "call"]


class Arrays:
    """The operands of calls, as arrays of one namespace.

    Numbers are the same in every run, and float64 unless a name says otherwise.
    """

    def __init__(self, xp: Any, as_array: Callable[[np.ndarray], Any]) -> None:
        self.xp = xp
        random = np.random.default_rng(7)
        self._arrays = {
            "x": random.normal(size=(6, 4)),
            "y": random.normal(size=(6, 4)),
            "v": random.normal(size=(12,)),
            "w": random.normal(size=(12,)),
            "positive": random.uniform(0.5, 3.0, size=(6, 4)),
            "shares": random.uniform(0.05, 0.95, size=(6, 4)),
            "square": random.normal(size=(4, 4)) + 4 * np.eye(4),
            "definite": np.cov(random.normal(size=(4, 30))) + np.eye(4),
            "cube": random.normal(size=(2, 3, 4)),
            "image": random.normal(size=(2, 8, 6, 3)),
            "points": np.vstack([random.normal(size=(10, 2)), random.normal(size=(10, 2)) + 8.0]),
            "features": random.normal(size=(30, 5)),
            "target": random.normal(size=(30,)),
            "guess": random.normal(size=(30,)),
            "sorted": np.sort(random.normal(size=(12,))),
            "line": np.linspace(0.0, 2.0, 12),
            "i": random.integers(0, 5, size=(6, 4)),
            "labels": np.tile(np.array([0, 1, 2]), 10),
            "guesses": np.tile(np.array([0, 1, 1, 2, 2, 0]), 5),
            "two": np.tile(np.array([0, 1]), 15),
            "twos": np.tile(np.array([0, 1, 1]), 10),
            "b": random.integers(0, 2, size=(6, 4)).astype(bool),
            "f": random.normal(size=(6, 4)).astype(np.float32),
            "z": random.normal(size=(6, 4)) + 1j * random.normal(size=(6, 4)),
            "gaps": np.where(random.uniform(size=(6, 4)) < 0.2, np.nan, random.normal(size=(6, 4))),
        }
        self._as_array = as_array

    def __getattr__(self, name: str) -> Any:
        try:
            return self._as_array(self._arrays[name].copy())
        except KeyError:
            raise AttributeError(name) from None

    def of(self, values: Any, dtype: Any = None) -> Any:
        """An array of these numbers."""
        return self._as_array(np.asarray(values, dtype))


CALLS: dict[str, Callable[[Arrays], Any]] = {}


def call(name: str, function: Callable[[Arrays], Any]) -> None:
    """Notes a call by a name that says what is called."""
    if name in CALLS:
        raise ValueError(f"{name} is there twice")
    CALLS[name] = function
