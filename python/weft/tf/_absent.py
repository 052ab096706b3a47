"""Errors for names that only some TensorFlow has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["MissingError", "RemovedError", "says_what_is_absent"]

_T = TypeVar("_T")


class RemovedError(AttributeError, NotImplementedError):
    """A name that only TensorFlow 1 had. The text says what to write instead."""


class MissingError(AttributeError, NotImplementedError):
    """A name of TensorFlow 2 that Weft has nothing for. The text says what to write instead."""


class _Absent:
    """An attribute that says what to write instead of it, of a class and of its objects."""

    def __init__(self, path: str, said: str) -> None:
        self._path, self._said = path, said

    def __get__(self, one: Any, cls: Any = None) -> Any:
        name = self._path.rpartition(".")[2]
        raise MissingError(f"weft.tf has no tf.{self._path}: {self._said}", name=name, obj=one)


def says_what_is_absent(within: str) -> Callable[[type[_T]], type[_T]]:
    """Gives a class of TensorFlow, "data.Dataset", the attributes that the table of names has words for alone."""

    def add(cls: type[_T]) -> type[_T]:
        from ._modules import ABSENT

        for path, said in ABSENT.items():
            owner, _, name = path.rpartition(".")
            if owner == within and not hasattr(cls, name):
                setattr(cls, name, _Absent(path, said))
        above: Any = getattr(cls, "__getattr__", None)
        if above is not None:  # which is asked when an attribute raises

            def getattr_(self: Any, name: str) -> Any:
                for base in type(self).__mro__:
                    found = vars(base).get(name)
                    if isinstance(found, _Absent):
                        found.__get__(self, type(self))
                return above(self, name)

            setattr(cls, "__getattr__", getattr_)  # noqa: B010
        return cls

    return add
