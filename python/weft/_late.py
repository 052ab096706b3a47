"""What is imported and converted at its first use, and that a fork waits for it."""

import importlib
import os
from _thread import RLock
from types import ModuleType

__all__ = ["imported", "lock"]

lock = RLock()
"""Held while a module is imported late or a function is converted.

A child process has only the thread that forked: it would wait forever for another that was in the middle of an import.
"""

os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)


def imported(name: str) -> ModuleType:
    """The module of this name, which is imported if it was not."""
    with lock:
        return importlib.import_module(name)
