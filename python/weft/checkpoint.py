"""Checkpoints: saving and restoring models, optimizers, data sets and whole runs."""

from typing import NamedTuple

from weft import _checkpoint
from weft._checkpoint import *  # noqa: F403

__all__ = ["CheckpointInfo"]
__all__ += _checkpoint.__all__


class CheckpointInfo(NamedTuple):
    """What is known of a checkpoint without restoring it.

    >>> manager = wf.CheckpointManager("run1")
    >>> manager.save(wf.Checkpoint(w=wf.Variable(1.0)), metric=0.5, step=10)
    >>> manager.wait()
    >>> [(info.number, info.metric, info.step) for info in manager.checkpoints()]
    [(1, 0.5, 10)]
    """

    path: str
    number: int
    metric: float | None
    step: int | None
    time: float
    """When it was saved, in seconds since 1970."""
