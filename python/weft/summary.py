"""Event files: what a run writes while it goes on, for TensorBoard and for reports to show.

    writer = wf.summary.create_file_writer("runs/a")
    writer.scalar("loss", loss, step=step)
"""

from typing import NamedTuple

from weft import _summary
from weft._summary import *  # noqa: F403
from weft._weft import Tensor

__all__ = ["Event"]
__all__ += _summary.__all__


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
    numbers: Tensor | None
    """A scalar, or the buckets (n, 3): left, right, count."""
    bytes: list[bytes]
    """A text; of images width, height, and PNG files."""
