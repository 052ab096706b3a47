"""Restores that wait: values of a checkpoint for what its structure comes to hold later."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, cast

from weft import _weft
from weft._trees import is_dict, is_listed
from weft.modules import Module

__all__ = ["look", "wait"]

Parts = dict[str, Any]


class _Waiting:
    """A restore with values left, and the parts for which they wait. It keeps none of these alive."""

    def __init__(self, status: Any, owner: Any, parts: Parts) -> None:
        self.status = status
        self._owner: Callable[[], Any] = weakref.ref(owner, _drop_ended)
        self.kept = {
            path: weakref.ref(part, _drop_ended)
            for name, part in parts.items()
            for path, part in _growing(name, part, set())
        }

    def parts(self) -> Parts:
        """Those that are alive: all as long as somebody has the checkpoint, which keeps them."""
        owner = self._owner()
        if owner is not None:
            return owner._parts_now()
        found: Parts = {}
        for path, kept in self.kept.items():  # the outer ones first, which hold the others
            part = kept()
            if part is not None and not any(_is_within(path, outer) for outer in found):
                found[path] = part
        return found


_all: list[_Waiting] = []
_count = 0
_lock = threading.RLock()
atexit.register(_all.clear)  # warns of what never came while there is somebody to tell


def _growing(path: str, part: Any, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """What may come to hold more and can be referred to without being kept: a part, or what is in
    the containers that it is."""
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, Module | _weft.internal_part) or hasattr(part, "__weakref__"):
        yield path, part
    if isinstance(part, Module | _weft.internal_part):
        return
    entries: Any = ()
    kind = cast("Any", type(part))
    if is_dict(part):
        entries = part.items()
    elif is_listed(part):
        entries = enumerate(part)
    elif hasattr(kind, "__dataclass_fields__"):
        entries = _weft.internal_fields(part)
    for name, entry in entries:
        yield from _growing(f"{path}.{name}" if path else str(name), entry, seen)


def _is_within(path: str, outer: str) -> bool:
    return not outer or path.startswith(outer + ".")


def wait(status: Any, owner: Any, parts: Parts, grows: bool = False) -> None:
    """Has the values of a restore that nothing had a path for wait for what is attached later: to
    the parts, or to the owner itself if that grows."""
    global _count
    if not status.unused():
        return
    waiting = _Waiting(_weft.internal_share_status(status), owner, parts)
    if not (waiting.kept or grows or any(isinstance(part, dict | list) for part in parts.values())):
        return
    with _lock:
        given = {id(part) for part in parts.values()}
        # What the same parts were restored from before has no more to say of them.
        _all[:] = [each for each in _all if not {id(p) for p in each.parts().values()} <= given]
        _all.append(waiting)
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
    # A tensor that replaces another, a loss say, is a new value, and nothing attached.
    if isinstance(value, int | float | str | FunctionType | None):
        return
    if not (known and isinstance(value, _weft.Tensor)):
        _weft.internal_restore_attached()
