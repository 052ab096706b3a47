"""What is imported and converted at its first use, where a fork and handlers of signals wait for it."""

import importlib
import os
import sys
from _thread import RLock, allocate_lock, start_new_thread
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

from weft import _weft

__all__ = ["imported", "undisturbed"]

R = TypeVar("R")

_lock = RLock()
"""Held while a module is imported late or a function is converted.

A child process has only the thread that forked: it would wait forever for another that was in the middle of an import.
"""

os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def imported(name: str) -> ModuleType:
    """The module of this name, which is imported if it was not."""
    module = sys.modules.get(name)
    if module is not None and not getattr(module.__spec__, "_initializing", False):
        return module
    return undisturbed(lambda: importlib.import_module(name))


def undisturbed(work: Callable[[], R]) -> R:
    """What `work` gives, one at a time and in a thread of its own.

    Handlers of signals run in the main thread, in the middle of what that does. One that called Weft would find half of
    a module there, and the exception of one might be taken for what an import or a parser raised. So they run while the
    main thread waits, and outside of the trace that waits there.
    """
    if _lock._is_owned():  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        return work()
    # When Python ends the thread may still be at its own end: it must hold nothing of the user's there.
    task, outcome = [work], list[Any]()
    done = allocate_lock()

    def run() -> None:
        try:
            with _lock:
                outcome.append((task.pop()(), None))
        except BaseException as error:
            outcome.append((None, error))
        finally:
            done.release()

    def start_and_wait() -> bool:
        try:
            start_new_thread(run, ())
        except RuntimeError:  # there are no more threads, or Python is ending
            return False
        done.acquire()
        return True

    done.acquire()
    if not _weft.internal_eagerly(start_and_wait):
        with _lock:
            return work()
    result, error = outcome.pop()
    if error is not None:
        try:
            raise error
        finally:
            del error  # which leads here
    return result
