"""Errors for names and keywords that weft.tf does not have."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

__all__ = ["AbsentError", "MissingError", "RemovedError", "refuse_keywords"]


class RemovedError(AttributeError, NotImplementedError):
    """A name that only TensorFlow 1 had. The text says what to write instead."""


class MissingError(AttributeError, NotImplementedError):
    """A name of TensorFlow 2 that Weft has nothing for. The text says what to write instead."""


class AbsentError(AttributeError):
    """A name that weft.tf does not have. The text, made when it is wanted, has the nearest one."""

    def __init__(self, module: str, name: str, known: Callable[[], Iterable[str]]) -> None:
        # Python would add a guess of its own for the attributes of `obj`.
        super().__init__(name=name, obj=None)
        self._module, self._known = module, known

    def __str__(self) -> str:
        start = f"module '{self._module}' has no attribute '{self.name}'"
        near = nearest_path(f"{self._module}.{self.name}", self._known())
        return start + (f". Did you mean '{near}'?" if near else "")


def nearest_path(wrong: str, known: Iterable[str]) -> str | None:
    """The path that is nearest: of the same last name in another module, or of a similar one."""
    wrong = wrong.replace("weft.tf", "tf", 1)
    module, _, last = wrong.rpartition(".")
    paths = list(known)
    same = [path for path in paths if path.rpartition(".")[2] == last]
    if same:
        return min(same, key=lambda path: (path.count("."), path))
    within = {path.rpartition(".")[2]: path for path in paths if path.rpartition(".")[0] == module}
    near = difflib.get_close_matches(last, within, n=1, cutoff=0.6)
    if near:
        return within[near[0]]
    lasts: dict[str, str] = {}
    for path in paths:
        lasts.setdefault(path.rpartition(".")[2], path)
    near = difflib.get_close_matches(last, lasts, n=1, cutoff=0.6)
    return lasts[near[0]] if near else None


def refuse_keywords(function: str, given: dict[str, Any], known: Iterable[str]) -> NoReturn:
    """Throws TypeError for keywords that a function does not have."""
    wrong = next(iter(given))
    near = difflib.get_close_matches(wrong, list(known), n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    raise TypeError(f"{function}() got an unexpected keyword argument '{wrong}'{hint}")
