"""Errors for names that only some TensorFlow has."""

from __future__ import annotations

from abc import ABCMeta
from typing import TYPE_CHECKING, Any

__all__ = ["MissingError", "RemovedError", "SaysWhatIsAbsent"]


class RemovedError(AttributeError, NotImplementedError):
    """A name that only TensorFlow 1 had. The text says what to write instead."""


class MissingError(AttributeError, NotImplementedError):
    """A name of TensorFlow 2 that Weft has nothing for. The text says what to write instead."""


def _refuse(within: str, name: str) -> None:
    """Throws MissingError for an attribute that the table of names has words for."""
    from ._modules import absent

    said = absent(f"{within}.{name}")
    if said is not None:
        raise MissingError(f"weft.tf has no tf.{within}.{name}: {said}", name=name, obj=None)


class _Class(ABCMeta):
    def __getattr__(cls, name: str) -> Any:
        if name != "_tf_name":
            _refuse(cls._tf_name, name)
        raise AttributeError(f"type object '{cls.__name__}' has no attribute {name!r}", name=name, obj=cls)


class SaysWhatIsAbsent(metaclass=_Class):
    """What classes derive from that lack attributes which the table of names has words for."""

    _tf_name = ""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            _refuse(self._tf_name, name)
            above = getattr(super(), "__getattr__", None)
            if above is not None:
                return above(name)
            raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}", name=name, obj=self)
