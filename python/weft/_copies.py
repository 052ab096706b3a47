"""Pickles and copies: of optimizers, and of what cannot be and says what to do instead."""

from __future__ import annotations

from typing import Any

from weft import _summary, _train, _weft
from weft._checkpoint import CheckpointManager
from weft._data import Dataset

__all__ = ["unpickled_optimizer", "unpickled_plateau"]


def _made(cls: Any, *args: Any, **options: Any) -> Any:
    """An object of a class of the package, or of a subclass whose own `__init__` is not called."""
    made = cls.__new__(cls)
    own = next(base for base in cls.__mro__ if base.__module__.startswith("weft."))
    own.__init__(made, *args, **options)
    return made


def unpickled_optimizer(cls: Any, options: dict[str, Any]) -> Any:
    """An optimizer of no variables yet, as pickles and copies begin."""
    if (initialize := getattr(cls, "_initialize", None)) is None:
        return _made(cls, **options)
    made = cls.__new__(cls)
    initialize(made, options)
    return made


def unpickled_plateau(cls: Any, options: Any, *progress: Any) -> Any:
    """A plateau, with the variable of its rate and where it was."""
    plateau = _made(cls, *options)
    plateau._go_on(*progress)
    return plateau


_SENTENCES: dict[Any, str] = {
    _weft.GradientTape: "a GradientTape cannot be pickled or copied: it records one run of its thread",
    _weft.TensorArray: "a TensorArray cannot be pickled or copied: its stack() can",
    _weft.RestoreStatus: "a RestoreStatus cannot be pickled or copied: its missing(), unused() and "
    "waiting() can",
    Dataset: "a data set cannot be pickled or copied deeply: make it anew of its "
    "source, and save how far it is with a checkpoint",
    _weft.internal_DataIterator: "an iterator of a data set cannot be pickled or copied: save how far the "
    "data set is with a checkpoint",
    CheckpointManager: "a CheckpointManager cannot be pickled or copied deeply: make one for its "
    "folder, which has all that it knows",
    _train.Callback: "a callback of the library cannot be pickled or copied: make it anew by "
    "its function",
    _train.Run: "the run of a callback cannot be pickled or copied: its history can",
    _summary.Writer: "a summary writer cannot be pickled or copied: make one for its folder",
    _weft.internal_ProgressBar: "a Progress cannot be pickled or copied: make another one",
    _train.Profile: "a Profile cannot be pickled or copied: its entries can",
}


def _refusing(sentence: str) -> Any:
    def refuse(self: object) -> Any:
        raise TypeError(sentence)

    return refuse


for _kind, _sentence in _SENTENCES.items():
    setattr(_kind, "__reduce__", _refusing(_sentence))
