"""`tf.summary`: values for TensorBoard, written by the writer that is the default one."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import weft as wf
from weft import _weft
from weft._arguments import options

__all__ = [
    "FileWriter",
    "create_file_writer",
    "flush",
    "get_step",
    "histogram",
    "image",
    "scalar",
    "set_step",
    "text",
]


class _State(threading.local):
    """Which writer is the default one of this thread, and the step where none is given."""

    writer: FileWriter | None = None
    step: Any = None


_state = _State()


class FileWriter(wf.summary.Writer):
    """Writes an event file into a folder; `with writer.as_default():` has the functions of
    `tf.summary` write there."""

    @contextmanager
    def as_default(self, step: Any = None) -> Generator[FileWriter, None, None]:
        """The default writer within `with`. What was added is in the file behind it."""
        before = (_state.writer, _state.step)
        _state.writer = self
        if step is not None:
            _state.step = step
        try:
            yield self
        finally:
            _state.writer, _state.step = before
            if not _weft.internal_is_tracing():
                self.flush()

    def set_as_default(self, step: Any = None) -> None:
        """The default writer from now on."""
        _state.writer = self
        if step is not None:
            _state.step = step


@options
def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
) -> FileWriter:
    """A writer of a new event file in a folder."""
    return FileWriter(logdir, flush_seconds=2 if flush_millis is None else flush_millis / 1000)


def _written(function: str, name: str, data: Any, step: Any, **options: Any) -> bool:
    """Has the default writer add a value at the step of the call. Gives whether there is one."""
    writer, at = _state.writer, _state.step if step is None else step
    if writer is None:
        return False
    if at is None:
        raise _weft.ValueError(
            f"tf.summary.{function}: no step set: write step=..., or "
            "tf.summary.experimental.set_step(step)"
        )
    getattr(writer, function)(name, data, at, **options)
    return True


@options
def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> bool:
    """A number. Gives whether there is a default writer, which has it then."""
    return _written("scalar", name, data, step)


@options
def histogram(
    name: str,
    data: Any,
    step: Any = None,
    buckets: int | None = None,
    description: str | None = None,
) -> bool:
    """How the elements of a tensor are spread."""
    return _written("histogram", name, data, step, buckets=30 if buckets is None else buckets)


@options
def image(
    name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None
) -> bool:
    """Pictures (count, height, width, channels)."""
    return _written("image", name, data, step, max_outputs=max_outputs)


@options
def text(name: str, data: str, step: Any = None, description: str | None = None) -> bool:
    """A text, which is shown as Markdown."""
    return _written("text", name, data, step)


@options
def flush(writer: FileWriter | None = None, name: str | None = None) -> None:
    """Returns when what was added is in the file."""
    chosen = _state.writer if writer is None else writer
    if chosen is not None:
        chosen.flush()


@options
def set_step(step: Any) -> None:
    """The step where none is given."""
    _state.step = step


def get_step() -> Any:
    """The step where none is given, or None."""
    return _state.step
