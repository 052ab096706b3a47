"""Event files: what a run writes while it goes on, for TensorBoard and for reports to show.

    writer = wf.summary.create_file_writer("runs/a")
    writer.scalar("loss", loss, step=step)
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeAlias

from weft import _weft
from weft._arguments import NeedsInit, integer, optional_integer, optional_number, options

__all__ = ["Event", "Writer", "create_file_writer", "read", "read_scalars"]

Path: TypeAlias = "str | os.PathLike[str]"


def _tag(method: str, tag: Any) -> str:
    if not isinstance(tag, str):
        raise TypeError(f"{method}: the tag is a {type(tag).__name__}: a text is wanted")
    return tag


class Writer(NeedsInit):
    """Writes an event file of its own into a folder, which is made if it is not there.

    Values may be traced: inside a traced function a call is an effect that keeps its order, and
    writes each time the function runs. Nothing waits for the disk: a thread of the writer's own
    writes, and what goes wrong there is an IOError of the next call. In a `with` statement it is
    closed at the end. Tags may have slashes, which TensorBoard takes for groups.

    All methods raise ValueError for an empty tag, ShapeError unless the step is a scalar,
    DTypeError unless it is whole, and StateError after `close`.

    >>> with wf.summary.Writer("events") as writer:
    ...     for step in range(3):
    ...         writer.scalar("loss", 1 / (step + 1), step)
    >>> wf.summary.read_scalars("events")
    {'loss': [(0, 1.0), (1, 0.5), (2, 0.3333333432674408)]}
    """

    _made_by_init = ("_writer",)

    @options
    def __init__(
        self, folder: Path, *, flush_seconds: float = 2, resumed_at: int | None = None
    ) -> None:
        """
        Args:
            flush_seconds: what is added reaches the file at the latest after so long
            resumed_at: the step of a run that is continued: readers drop what an earlier file in
                the folder has of this step and later ones
        """
        seconds = optional_number("Writer: flush_seconds", flush_seconds)
        step = optional_integer("Writer: resumed_at", resumed_at)
        path = os.fsdecode(folder)
        self._writer = _weft.internal_EventWriter(path, 2.0 if seconds is None else seconds, step)

    def scalar(self, tag: str, value: Any, step: Any) -> None:
        """A number, kept as float32."""
        self._writer.scalar(_tag("scalar", tag), value, step)

    @options
    def histogram(self, tag: str, values: Any, step: Any, *, buckets: int = 30) -> None:
        """How the elements of a tensor are spread. Those that are not finite are left out."""
        count = integer("histogram: buckets", buckets)
        self._writer.histogram(_tag("histogram", tag), values, step, count)

    @options
    def image(self, tag: str, pictures: Any, step: Any, *, max_outputs: int = 3) -> None:
        """Pictures: (height, width), (height, width, channels) or (count, height, width, channels);
        floating numbers from 0 to 1, or whole ones from 0 to 255."""
        count = integer("image: max_outputs", max_outputs)
        self._writer.image(_tag("image", tag), pictures, step, count)

    def text(self, tag: str, markdown: str, step: Any) -> None:
        """A text, which is shown as Markdown."""
        self._writer.text(_tag("text", tag), str(markdown), step)

    def graph(self, function: Any, *args: Any, **kwargs: Any) -> None:
        """What a `wf.function` does with these arguments. A file shows its last one."""
        self._writer.graph(function, *args, **kwargs)

    def hparams(self, values: Mapping[str, Any], metrics: Sequence[str] = ()) -> None:
        """What the run was made with: bools, numbers and texts; and the tags of the scalars to
        judge it by."""
        self._writer.hyperparameters(dict(values), list(metrics))

    def finished(self, succeeded: bool = True) -> None:
        """The end of a run that told its hyperparameters."""
        self._writer.finished(bool(succeeded))

    def within(self, prefix: str) -> Writer:
        """The same writer with `prefix` and a slash in front of tags."""
        made = Writer.__new__(Writer)
        made._writer = self._writer.within(_tag("within", prefix))
        return made

    def flush(self) -> None:
        """Returns when all is in the file."""
        self._writer.flush()

    def close(self) -> None:
        """The same, and the last of this writer."""
        self._writer.close()

    @property
    def path(self) -> str:
        """The file."""
        return self._writer.path

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


@options
def create_file_writer(
    folder: Path, *, flush_seconds: float = 2, resumed_at: int | None = None
) -> Writer:
    """A `Writer` of a new event file in a folder.

    >>> with wf.summary.create_file_writer("events") as writer:
    ...     writer.scalar("loss", 0.5, step=1)
    """
    return Writer(folder, flush_seconds=flush_seconds, resumed_at=resumed_at)


class Event(NamedTuple):
    """One value of an event file.

    >>> with wf.summary.create_file_writer("events") as writer:
    ...     writer.scalar("loss", 0.5, step=1)
    >>> [(event.tag, event.step, float(event.numbers)) for event in wf.summary.read(writer.path)]
    [('loss', 1, 0.5)]
    """

    wall_time: float
    step: int
    tag: str
    plugin: str
    """"scalars", "histograms", "images", "text", "hparams" or "session"."""
    numbers: _weft.Tensor | None
    """A scalar, or the buckets (n, 3): left, right, count."""
    bytes: list[bytes]
    """A text; of images width, height, and PNG files."""


@options
def read(path: Path) -> list[Event]:
    """The events of a file of Weft, TensorFlow, PyTorch or others.

    >>> with wf.summary.create_file_writer("events") as writer:
    ...     writer.text("note", "begun", step=0)
    >>> [event.tag for event in wf.summary.read(writer.path)]
    ['note']

    Raises:
        IOError: for a file that is missing or damaged
    """
    return [Event(*fields) for fields in _weft.internal_read_events(os.fsdecode(path))]


@options
def read_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """The scalars of all event files in a folder by tag, each (step, value) in the order of
    steps.

    >>> with wf.summary.create_file_writer("events") as writer:
    ...     writer.scalar("loss", 0.5, step=1)
    >>> wf.summary.read_scalars("events")
    {'loss': [(1, 0.5)]}
    """
    return _weft.internal_read_scalars(os.fsdecode(folder))
