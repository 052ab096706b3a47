"""Restores that wait: values of a checkpoint for what its structure comes to hold later."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import Any

from weft import _weft
from weft.modules import Module

__all__ = ["look", "wait"]

Parts = dict[str, Any]


class _Waiting:
    """A restore with values left, and the parts for which they wait. It keeps none of these alive."""

    def __init__(self, status: Any, owner: Any, parts: Parts) -> None:
        self.status = status
        self._owner: Callable[[], Any] = weakref.ref(owner, _drop_ended)
        self.kept = {
            name: weakref.ref(part, _drop_ended) for name, part in parts.items() if _may_grow(part)
        }

    def parts(self) -> Parts:
        """Those that are alive: all as long as somebody has the checkpoint, which keeps them."""
        owner = self._owner()
        if owner is not None:
            return owner._parts_now()
        found = {name: part() for name, part in self.kept.items()}
        return {name: part for name, part in found.items() if part is not None}


_all: list[_Waiting] = []
_count = 0
_lock = threading.RLock()


def _may_grow(part: Any) -> bool:
    """Whether it may come to hold more and can be referred to without being kept."""
    return isinstance(part, Module | _weft.internal_part) or hasattr(part, "__weakref__")


def wait(status: Any, owner: Any, parts: Parts, grows: bool = False) -> None:
    """Has the values of a restore that nothing had a path for wait for what is attached later: to
    the parts, or to the owner itself if that grows."""
    global _count
    if not status.unused():
        return
    made = _Waiting(_weft.internal_share_status(status), owner, parts)
    if not (made.kept or grows or any(isinstance(part, dict | list) for part in parts.values())):
        return
    with _lock:
        given = {id(part) for part in parts.values()}
        # What the same parts were restored from before has no more to say of them.
        _all[:] = [each for each in _all if not {id(p) for p in each.parts().values()} <= given]
        _all.append(made)
        _count += 1
        _weft.internal_set_waiting_restores(_count)
        Module.__setattr__ = _set_and_look


def look(always: bool) -> None:
    """Restores what the parts of restores that wait hold by now: in any case, or if they hold
    variables that they did not."""
    with _lock:
        others = [_weft.internal_hold_others(list(each.parts().values())) for each in _all]
        if not (always or any(others)):
            return
        for each in list(_all):
            parts = each.parts()
            waits = False
            try:
                if parts:
                    saved = _weft.internal_SavedParts(tuple(parts.items()))
                    waits = _weft.internal_restore_more(each.status, saved)
            finally:  # what does not fit is said once
                if not waits:
                    _drop(each)


def _drop(restore: _Waiting) -> None:
    if restore in _all:
        _all.remove(restore)
    if not _all:
        _weft.internal_set_waiting_restores(0)
        if "__setattr__" in vars(Module):
            del Module.__setattr__


def _drop_ended(_: Any) -> None:
    """Drops restores whose parts are gone."""
    for each in list(_all):
        if not each.parts():
            _drop(each)


def _set_and_look(self: Module, name: str, value: Any) -> None:
    known = name in self.__dict__
    super(Module, self).__setattr__(name, value)
    # A tensor that takes the place of another, a loss say, is a new value, and nothing attached.
    if isinstance(value, int | float | str | FunctionType | None):
        return
    if not (known and isinstance(value, _weft.Tensor)):
        _weft.internal_restore_attached()
