"""Bodies that are being staged: where they may stand, and what they may not do to Python's."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from . import trees
from .staging import Tensor, context, library
from .traceback import Line, autograph_error, user_frame

_RECURSIONS = 32
"""How often a body may stand in itself; Python's own limit of calls is not far behind."""


class Activation:
    """A body that is being traced because a tensor decides whether, or how often, it runs."""

    __slots__ = ("changes", "code", "depth", "kind", "new")

    def __init__(self, kind: str, body: Any) -> None:
        self.kind = kind
        self.code: Any = body.__code__
        self.depth = context.depth
        """Of the function that the body is a part of."""
        self.changes: list[tuple[Any, str, Line]] = []
        self.new: list[Any] = []
        """Containers that the body made and leaves in its symbols."""

    def changed(self, container: Any, method: str, args: tuple[Any, ...]) -> None:
        """Notes a change of a container of Python: of one that is not the body's own it would
        happen while tracing, and take tensors out of the body."""
        takes = method in ("pop", "popleft", "popitem", "remove", "clear")
        if takes or any(map(trees.holds_traced, args)):
            frame = user_frame(sys._getframe(2))  # pyright: ignore[reportPrivateUsage]
            if frame is not None:
                self.changes.append((container, method, Line(frame)))

    def leaves(self, values: Any, before: Any) -> None:
        """Notes what the symbols hold behind the body, and held before it."""
        if self.changes:
            old = {id(container) for container in trees.containers(before)}
            self.new += [c for c in trees.containers(values) if id(c) not in old]

    def check(self) -> None:
        """Throws where a container was changed that outlives the body."""
        while self.changes:
            container, method, line = self.changes.pop()
            if any(container is c for c, _, _ in self.changes):
                continue
            if any(container is c for c in self.new):
                continue
            # This name and the argument of the call are two.
            if sys.getrefcount(container) > 2:
                kind = type(container).__name__
                line.throw(
                    autograph_error(
                        f"`{kind}.{method}` on a Python {kind} in a {self.kind} that a tensor "
                        "decides happens once, while tracing: carry a TensorArray instead, as in "
                        "`array = array.append(x)`"
                    )
                )


@contextmanager
def staged(activation: Activation) -> Generator[Activation]:
    """Within, a staged body is being traced."""
    context.bodies.append(activation)
    depth, tries = context.depth, len(context.tries)
    try:
        yield activation
        activation.check()
    finally:
        context.bodies.pop()
        context.depth = depth
        del context.tries[tries:]


def check_place(name: str, body: Any) -> None:
    """Throws where control flow that a tensor decides cannot be staged."""
    code = body.__code__
    if sum(outer.code is code for outer in context.bodies) >= _RECURSIONS:
        raise autograph_error(
            f"a tensor decides this {name}, which stands in itself by calls {_RECURSIONS} deep: a "
            "function whose recursion ends where a tensor says so cannot be traced; write a loop"
        )
    if context.tries and context.tries[-1] == context.depth:
        error = autograph_error(
            f"a tensor decides this {name} inside a `try` with handlers, which see only what is "
            "raised while tracing: move it out of the `try`"
        )
        context.refused.append((context.depth, error))
        raise error


def condition_of(value: Any, name: str) -> Tensor:
    """What decides, as a bool scalar. Throws an error that says what it is if it is none."""
    staging = library()
    tensor = value if staging.is_tensor(value) else staging.as_tensor(bool(value))
    type = staging.type_of(tensor)
    if type.dtype == "bool" and all(n == 1 for n in type.shape):
        return staging.op("scalar", tensor) if type.shape else tensor
    kind = "dtype" if type.dtype != "bool" else "value"
    raise getattr(staging.errors, kind)(
        f"the condition of {name} must be a bool scalar, but it is {type}: compare it with "
        "something, or reduce it to one value with any or all; to test for None write `is not None`"
    )
