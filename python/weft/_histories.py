"""Histories of runs, and bars that show how far they are."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, Generic, Self, TypeAlias, TypeVar, cast

from weft import _weft
from weft._arguments import NeedsInit, options
from weft._datasets import Dataset
from weft._tracebacks import users_lines

__all__ = ["History", "Progress", "is_notebook"]

Path: TypeAlias = "str | os.PathLike[str]"
T = TypeVar("T")


class History(_weft.internal_History):
    """Series of numbers by name, each a list of values at ascending steps: `history["loss"]`. It is
    the part of a checkpoint that keeps them.

    >>> history = wf.train.History()
    >>> history.add("loss", 1, 0.5)
    >>> history["loss"], history.steps("loss")
    ([0.5], [1])
    """

    @classmethod
    def _of(cls, history: _weft.internal_History) -> History:
        made = cls()
        made._take(history)
        return made

    @users_lines
    def __getitem__(self, name: str) -> list[float]:
        if not self.contains(name):
            raise KeyError(f"there is no series '{name}': there are {', '.join(self.names())}")
        return self.numbers(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.contains(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def keys(self) -> list[str]:
        """The names, in the order of their first values."""
        return self.names()

    def values(self) -> list[list[float]]:
        """The values of all series."""
        return [self[name] for name in self.names()]

    def items(self) -> list[tuple[str, list[float]]]:
        """Names and values."""
        return [(name, self[name]) for name in self.names()]

    @property
    def history(self) -> dict[str, list[float]]:
        """The values by name, as Keras has them."""
        return dict(self.items())

    @users_lines
    def best(self, name: str, goal: str = "lowest") -> tuple[int, float]:
        """The first of the best values, with its step; `goal` is 'lowest' or 'highest'. NaN is
        never best.

        Raises:
            OutOfRangeError: if there is no such series, or all values are NaN
        """
        return super().best(name, goal)

    @options
    def plot(
        self,
        *names: str,
        width: int = 0,
        height: int = 12,
        log_scale: bool = False,
        ascii: bool = False,
    ) -> str:
        """A plot of these series, by default of all, as lines of text for a terminal.

        Args:
            width: in characters; 0 is that of the terminal, 80 if there is none
            height: of the part with points, in lines
            log_scale: the logarithms are plotted
        """
        return self.drawn(list(names), width, height, log_scale, ascii)

    @users_lines
    def save_csv(self, path: Path) -> None:
        """Writes a CSV file: a column for the step and one for each series."""
        super().save_csv(os.fsdecode(path))

    @classmethod
    @users_lines
    def from_csv(cls, path: Path) -> History:
        """What `save_csv` wrote, or another table of numbers whose first column is the step."""
        made = cls()
        made.load_csv(os.fsdecode(path))
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        series = {name: list(zip(self.steps(name), self.numbers(name))) for name in self.names()}
        return _unpickled, (type(self), series), self.__dict__

    def __repr__(self) -> str:
        return self.table()


def _unpickled(cls: type[History], series: dict[str, list[tuple[int, float]]]) -> History:
    history = cls.__new__(cls)
    _weft.internal_History.__init__(history)
    for name, points in series.items():
        for step, value in points:
            history.add(name, step, value)
    return history


# Bars.


def is_notebook() -> bool:
    """Whether output is shown by a notebook."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell: Any = ipython.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class Progress(NeedsInit, Generic[T]):
    """A bar that shows how far a loop is, its rate, the time left, and numbers beside it: around an
    iterable, or advanced by hand. In a terminal it is a line that changes, in a notebook an output
    that does, elsewhere now and then a line.

        for x, y in wf.train.Progress(digits, label="epoch 1"):
            ...

        with wf.train.Progress(total=100) as bar:
            bar.show("loss", 0.5)
            bar.advance()

    >>> with wf.train.Progress(total=10) as bar:
    ...     bar.show("loss", 0.5)
    ...     bar.advance(5)
    >>> bar.steps
    5

    Raises:
        ValueError: for a negative total
    """

    _made_by_init = ("_iterable", "_display", "_drawn", "_bar")

    @options
    def __init__(
        self,
        iterable: Iterable[T] | None = None,
        *,
        label: str = "",
        total: int | None = None,
        unit: str = "steps",
    ) -> None:
        if total is None and iterable is not None:
            total = iterable.size if isinstance(iterable, Dataset) else _length(iterable)
        self._iterable = iterable
        self._display: Any = None
        self._drawn = 0.0
        notebook = is_notebook()
        self._bar = _weft.internal_ProgressBar(label, total, unit, -1 if notebook else 2)
        if notebook:
            from IPython.display import display  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

            self._display = cast("Any", display)({"text/plain": ""}, raw=True, display_id=True)

    def __iter__(self) -> Iterator[T]:
        if self._iterable is None:
            raise TypeError("this bar is around no iterable: call advance()")
        try:
            for item in self._iterable:
                yield item
                self.advance()
        finally:
            self.finish()

    def _draw(self, always: bool = False) -> None:
        now = time.monotonic()
        if self._display is not None and (always or now - self._drawn > 0.1):
            self._drawn = now
            self._display.update({"text/plain": self._bar.line(100)}, raw=True)

    def advance(self, steps: int = 1) -> None:
        """So many steps more."""
        self._bar.advance(steps)
        self._draw()

    def show(self, name: str, value: Any) -> None:
        """A number to show, by its name, from the next drawing on."""
        self._bar.show(name, float(value))

    def hide(self) -> None:
        """Takes the bar away for a moment, so that something else can be printed."""
        self._bar.hide()

    def finish(self) -> None:
        """Draws it for the last time."""
        self._bar.finish()
        self._draw(always=True)

    @property
    def steps(self) -> int:
        """Steps so far."""
        return self._bar.steps()

    @property
    def rate(self) -> float:
        """Steps a second."""
        return self._bar.rate()

    def line(self, width: int = 80) -> str:
        """Its text at a width of so many characters."""
        return self._bar.line(width)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.finish()


def _length(x: Any) -> int | None:
    try:
        return len(x)
    except TypeError:
        return None
