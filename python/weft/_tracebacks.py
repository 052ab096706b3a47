"""Tracebacks of errors: the lines of the user alone, in eager calls as in traced ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from weft._late import imported

__all__ = ["clean", "users_lines"]

P = ParamSpec("P")
R = TypeVar("R")


def clean(error: BaseException) -> None:
    """Takes the frames of the package out of the traceback of an error, which is raised again."""
    imported("weft._autograph.traceback").clean(error)


def users_lines(f: Callable[P, R]) -> Callable[P, R]:
    """`f`, whose errors leave it without frames of the package in their tracebacks."""

    @functools.wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return f(*args, **kwargs)
        except BaseException as error:
            clean(error)
            raise

    return call
