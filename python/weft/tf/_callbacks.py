"""Callbacks of Keras that save weights and change learning rates, over `Callback`."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Callable
from typing import Any, TypeAlias

from weft import _weft
from weft._arguments import options

from ._training import Callback, rises

Path: TypeAlias = "str | os.PathLike[str]"


def _number(callback: str, monitor: str, logs: Any) -> float:
    numbers: dict[str, float] = logs or {}
    if monitor not in numbers:
        raise _weft.ValueError(
            f"{callback}: there is no number {monitor!r} behind an epoch: there are {', '.join(numbers)}"
        )
    return numbers[monitor]


class ModelCheckpoint(Callback):
    """Writes the weights behind each epoch, or behind so many batches; or only where a number is the
    best so far. `filepath` may name numbers: "run/{epoch:02d}-{val_loss:.2f}.weights"."""

    @options
    def __init__(
        self,
        filepath: Path,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        initial_value_threshold: float | None = None,
    ) -> None:
        if not save_weights_only:
            raise _weft.ValueError(
                "ModelCheckpoint: models are not saved as programs: save_weights_only=True saves the "
                "weights, which model.load_weights(path) reads"
            )
        if save_freq != "epoch" and (not isinstance(save_freq, int) or save_freq < 1):
            raise _weft.ValueError(
                f"ModelCheckpoint: save_freq is {save_freq!r}: it is 'epoch' or a number of batches"
            )
        self._path, self._monitor, self._only_best = os.fspath(filepath), monitor, save_best_only
        self._sign = -1.0 if rises("ModelCheckpoint", monitor, mode) else 1.0
        start = initial_value_threshold
        self._best = math.inf if start is None else self._sign * start
        self._every: int | None = None if save_freq == "epoch" else save_freq
        self._seen = self._epoch = 0

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        self._epoch = epoch

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self._seen += 1
        if self._every is not None and self._seen % self._every == 0:
            self._save(logs, batch=batch + 1)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        if self._every is None:
            self._save(logs)

    def _save(self, logs: Any, **more: Any) -> None:
        if self._only_best:
            number = self._sign * _number("ModelCheckpoint", self._monitor, logs)
            if not number < self._best:
                return
            self._best = number
        try:
            numbers: dict[str, Any] = {"epoch": self._epoch + 1, **more, **(logs or {})}
            path = self._path.format(**numbers)
        except KeyError as error:
            raise _weft.ValueError(
                f"ModelCheckpoint: filepath names {error}, which is none of epoch, {', '.join(logs or {})}"
            ) from None
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        self.model.save_weights(path)


class LearningRateScheduler(Callback):
    """Assigns the optimizer the learning rate `schedule(epoch, rate)` before each epoch."""

    @options
    def __init__(self, schedule: Callable[[int, float], Any], verbose: int = 0) -> None:
        if not callable(schedule):
            raise TypeError(
                f"LearningRateScheduler: schedule is a {type(schedule).__name__}: a function is wanted"
            )
        self._schedule = schedule

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        optimizer = self.model.optimizer
        optimizer.learning_rate = float(self._schedule(epoch, _rate_of(optimizer)))


class ReduceLROnPlateau(Callback):
    """Multiplies the learning rate by a factor where a number got no better for so many epochs."""

    @options
    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0.0,
    ) -> None:
        if not 0 <= factor < 1:
            raise _weft.ValueError(
                f"ReduceLROnPlateau: factor is {factor}: it is at least 0 and below 1"
            )
        self._monitor, self._factor, self._patience = monitor, factor, patience
        self._sign = -1.0 if rises("ReduceLROnPlateau", monitor, mode) else 1.0
        self._delta, self._cooldown, self._least = abs(min_delta), cooldown, min_lr
        self._best, self._worse, self._rest = math.inf, 0, 0

    def on_train_begin(self, logs: Any = None) -> None:
        self._best, self._worse, self._rest = math.inf, 0, 0

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        number = self._sign * _number("ReduceLROnPlateau", self._monitor, logs)
        if self._rest > 0:
            self._rest -= 1
            self._worse = 0
        if number < self._best - self._delta:
            self._best, self._worse = number, 0
        elif self._rest <= 0:
            self._worse += 1
            if self._worse >= self._patience:
                rate = _rate_of(self.model.optimizer)
                if rate > self._least:
                    self.model.optimizer.learning_rate = max(rate * self._factor, self._least)
                self._rest, self._worse = self._cooldown, 0


def _rate_of(optimizer: Any) -> float:
    rate = optimizer.learning_rate
    return float(rate.numpy()) if hasattr(rate, "numpy") else float(rate)


class CSVLogger(Callback):
    """Writes the numbers of each epoch as a row, behind the number of the epoch, which counts from 0."""

    @options
    def __init__(self, filename: Path, separator: str = ",", append: bool = False) -> None:
        if not isinstance(separator, str) or len(separator) != 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _weft.ValueError(f"CSVLogger: separator is {separator!r}: one character is wanted")
        self._path, self._separator, self._append = os.fspath(filename), separator, append
        self._names: list[str] | None = None

    def on_train_begin(self, logs: Any = None) -> None:
        self._names = None
        if not self._append:
            with open(self._path, "w", encoding="utf-8"):
                pass

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        numbers: dict[str, float] = logs or {}
        with open(self._path, "a", encoding="utf-8", newline="") as file:
            rows = csv.writer(file, delimiter=self._separator, lineterminator="\n")
            if self._names is None:
                self._names = sorted(numbers)
                if file.tell() == 0:
                    rows.writerow(["epoch", *self._names])
            rows.writerow([epoch, *(numbers.get(name, "NA") for name in self._names)])


class TerminateOnNaN(Callback):
    """Ends a run, behind the epoch, once the loss of a batch is no finite number."""

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        if not math.isfinite(float(logs["loss"])):
            self.model.stop_training = True


class LambdaCallback(Callback):
    """Functions in the places of methods."""

    @options
    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        on_train_batch_begin: Callable[..., Any] | None = None,
        on_train_batch_end: Callable[..., Any] | None = None,
    ) -> None:
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            "on_train_batch_begin": on_train_batch_begin,
            "on_train_batch_end": on_train_batch_end,
        }
        for name, function in given.items():
            if function is not None:
                setattr(self, name, function)
