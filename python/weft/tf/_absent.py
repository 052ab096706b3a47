"""Errors for names that only some TensorFlow has."""

from __future__ import annotations

__all__ = ["MissingError", "RemovedError"]


class RemovedError(AttributeError, NotImplementedError):
    """A name that only TensorFlow 1 had. The text says what to write instead."""


class MissingError(AttributeError, NotImplementedError):
    """A name of TensorFlow 2 that Weft has nothing for. The text says what to write instead."""
