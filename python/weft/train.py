"""Runs: a loop that nobody has to write, what it measures, bars, reports and profiles.

    history = wf.train.fit(
        model, digits.batch(32), optimizer=adam, loss=loss, epochs=3, validation=test.batch(100)
    )
    print(history.plot())
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar, cast

from weft import _weft
from weft._function import function
from weft.data import Dataset, as_dataset
from weft.modules import takes_training

__all__ = [
    "Callback",
    "Checkpoints",
    "History",
    "Profile",
    "ProfileEntry",
    "Progress",
    "Run",
    "csv_log",
    "early_stopping",
    "event_files",
    "fit",
    "trace_profile",
    "versions",
    "write_report",
]

Path: TypeAlias = "str | os.PathLike[str]"
T = TypeVar("T")

Callback = _weft.internal_Callback
"""A callback of the library: what `early_stopping`, `event_files` and `csv_log` give."""

Run = _weft.internal_Run
"""Where a run is, as callbacks see it: `epochs`, `epoch` (from 1), `step` (updates so far), `loss`
(of the last batch), `history`, and `add(name, value)` for the history. `stop = True` ends it behind
what is being done; `pause = True` has `fit` return for now, and with checkpoints another call goes on
there."""


# Histories.


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
        for name in history.names():
            for step, value in zip(history.steps(name), history.numbers(name)):
                made.add(name, step, value)
        return made

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

    def best(self, name: str, goal: str = "lowest") -> tuple[int, float]:
        """The first of the best values, with its step; `goal` is 'lowest' or 'highest'. NaN is
        never best.

        Raises:
            OutOfRangeError: if there is no such series, or all values are NaN
        """
        return super().best(name, goal)

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

    def save_csv(self, path: Path) -> None:
        """Writes a CSV file: a column for the step and one for each series."""
        super().save_csv(os.fspath(path))

    @classmethod
    def from_csv(cls, path: Path) -> History:
        """What `save_csv` wrote, or another table of numbers whose first column is the step."""
        made = cls()
        made.load_csv(os.fspath(path))
        return made

    def __repr__(self) -> str:
        return self.table()


# Bars.


def _notebook() -> bool:
    """Whether output is shown by a notebook."""
    ipython = sys.modules.get("IPython")
    if ipython is None:
        return False
    shell: Any = ipython.get_ipython()
    return shell is not None and type(shell).__name__ == "ZMQInteractiveShell"


class Progress(Generic[T]):
    """A bar that shows how far a loop is, its rate, the time left, and numbers beside it: around an
    iterable, or advanced by hand. In a terminal it is a line that changes, in a notebook an output
    that does, elsewhere now and then a line.

        for x, y in wf.train.Progress(digits, label="epoch 1"):
            ...

        with wf.train.Progress(total=100) as bar:
            bar.show("loss", 0.5)
            bar.advance()

    Raises:
        ValueError: for a negative total
    """

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
        notebook = _notebook()
        self._bar = _weft.internal_ProgressBar(label, total, unit, -1 if notebook else 2)
        if notebook:
            from IPython.display import display  # pyright: ignore

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


class _NotebookBars:
    """What `fit` shows in a notebook."""

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._bar: Progress[Any] | None = None

    def epoch_begin(self, run: Run) -> None:
        self._bar = Progress(label=f"epoch {run.epoch}/{run.epochs}", total=self._size)

    def step_end(self, run: Run) -> None:
        if self._bar is not None:
            if run.loss is not None:
                self._bar.show("loss", run.loss)
            self._bar.advance()

    def epoch_end(self, run: Run) -> None:
        if self._bar is not None:
            history = run.history
            for name in history.names():
                self._bar.show(name, history.last(name))
            self._bar.finish()


# Callbacks.


def early_stopping(
    monitor: str = "val_loss",
    *,
    goal: str = "lowest",
    patience: int = 5,
    min_delta: float = 0,
    restore_best: bool = True,
) -> Callback:
    """Stops a run when a series gets no better.

    Args:
        monitor: a series of the history
        goal: 'lowest' or 'highest'
        patience: how many epochs may pass without a better value
        min_delta: by how much a value must be better to count
        restore_best: whether the model ends with the weights of the best epoch

    Raises:
        ValueError: for a patience below 1 or a negative delta; at the end of the first epoch
            OutOfRangeError if there is no such series
    """
    return _weft.internal_early_stopping(monitor, goal, patience, min_delta, restore_best)


def event_files(folder: Path, every_steps: int = 100) -> Callback:
    """Writes an event file for TensorBoard: the numbers of each epoch, and the loss of every
    `every_steps` steps as "step/loss"."""
    return _weft.internal_event_files(os.fspath(folder), every_steps)


def csv_log(path: Path) -> Callback:
    """Writes the history as a CSV file after each epoch."""
    return _weft.internal_csv_log(os.fspath(path))


# Fit.


class Checkpoints(NamedTuple):
    """Where `fit` keeps a run, and goes on with it."""

    folder: Path
    keep: int = 3
    every_steps: int | None = None
    """Saves after so many steps besides the end of each epoch."""
    every_seconds: float | None = None


def _method(of: Any, *names: str) -> Callable[..., Any]:
    for name in names:
        found: Any = getattr(of, name, None)
        if callable(found):
            return found
    raise TypeError(f"fit: a {type(of).__name__} is no metric: it has no method {names[0]}")


def _spelled(kind: str) -> str:
    """SparseCategoricalAccuracy as sparse_categorical_accuracy."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()


def _named(metrics: Any) -> list[tuple[str, Any]]:
    if isinstance(metrics, Mapping):
        table = cast("Mapping[str, Any]", metrics)
        return list(table.items())
    named: list[tuple[str, Any]] = []
    for metric in metrics:
        if isinstance(metric, tuple):
            name, of = cast("tuple[str, Any]", metric)
            named.append((name, of))
        else:
            given = getattr(metric, "name", None)
            named.append((given or _spelled(type(metric).__name__), metric))
    return named


def _converted(f: Any, *args: Any, **kwargs: Any) -> Any:
    """Calls what is the user's, in a trace converted by AutoGraph."""
    if not _weft.internal_is_tracing():
        return f(*args, **kwargs)
    from weft._autograph import calls

    return calls.converted_call(f, args, kwargs or None)


class _Calls:
    """What the loop calls: the steps of a run over its batches."""

    def __init__(
        self,
        model: Any,
        data: Dataset[Any],
        optimizer: Any,
        loss: Callable[..., Any],
        metrics: list[tuple[str, Any]],
        validation: Dataset[Any] | None,
        compile: bool,
    ) -> None:
        self.model, self.data, self.optimizer, self.validation = model, data, optimizer, validation
        self.loss, self.metrics = loss, metrics
        self.mean = _weft.internal_LossMean()
        self._update = [_method(m, "update", "update_state") for _, m in metrics]
        self._result = [_method(m, "result") for _, m in metrics]
        self._reset = [_method(m, "reset", "reset_state") for _, m in metrics]
        self._training = takes_training(model)
        self._batches: Iterator[Any] | None = None
        self._train: Callable[..., Any] = self._train_step
        self._test: Callable[..., Any] = self._test_step
        if compile:
            self._train = function(self._train_step, name="train_step")
            self._test = function(self._test_step, name="test_step")

    def _predictions(self, x: Any, training: bool) -> Any:
        if self._training:
            return _converted(self.model, x, training=training)
        return _converted(self.model, x)

    def _measured(self, y: Any, predictions: Any) -> Any:
        loss = _converted(self.loss, y, predictions)
        self.mean.note(loss, predictions)
        for update in self._update:
            _converted(update, y, predictions)
        return loss

    def _train_step(self, x: Any, y: Any) -> Any:
        with _weft.GradientTape() as tape:
            loss = self._measured(y, self._predictions(x, True))
        variables = _weft.internal_variables(self.model, True, False)
        gradients: list[Any] = tape.gradient(loss, variables)
        self.optimizer.apply_gradients(list(zip(gradients, variables)))
        return loss

    def _test_step(self, x: Any, y: Any) -> Any:
        return self._measured(y, self._predictions(x, False))

    def start(self) -> None:
        """Before an epoch, or what is left of one."""
        self._batches = None

    def step(self) -> Any:
        """The loss of the next batch; None behind the last."""
        if self._batches is None:
            self._batches = iter(self.data)
        for batch in self._batches:
            return self._train(*_pair(batch))
        return None

    def validate(self) -> bool:
        """Tries the model on all batches; whether there was one."""
        some = False
        for batch in self.validation or ():
            self._test(*_pair(batch))
            some = True
        return some

    def numbers(self) -> list[tuple[str, Any]]:
        """The loss and the metrics, which are then reset."""
        numbers: list[tuple[str, Any]] = [("loss", self.mean.result())]
        self.mean.reset()
        for (name, _), result, reset in zip(self.metrics, self._result, self._reset):
            numbers.append((name, result()))
            reset()
        return numbers


def _pair(batch: Any) -> Any:
    if not isinstance(batch, tuple) or len(cast("tuple[Any, ...]", batch)) != 2:
        raise TypeError(
            "fit: a batch is a tuple of inputs and labels, not "
            + (
                f"a tuple of {len(cast('tuple[Any, ...]', batch))}"
                if isinstance(batch, tuple)
                else f"a {type(batch).__name__}"
            )
            + ": make pairs of them by map"
        )
    return cast("Any", batch)


def fit(
    model: Any,
    data: Iterable[Any],
    *,
    optimizer: Any,
    loss: Callable[..., Any],
    metrics: Mapping[str, Any] | Iterable[Any] = (),
    epochs: int = 1,
    validation: Iterable[Any] | None = None,
    callbacks: Sequence[Any] = (),
    checkpoints: Path | Checkpoints | None = None,
    compile: bool = True,
    progress: bool = True,
) -> History:
    """Trains a model on batches (x, y): for each the loss of `model(x)`, its gradient, an update.

    The history has, for each epoch, numbered from 1, "loss", the mean of the batches' losses
    weighted by how many samples they have, and the metrics, and the same of the validation with
    "val_" in front.

    With checkpoints the run goes on from the newest one in the folder, with the next batch of its
    epoch, and ends with the same bits as one that was never interrupted. Ctrl-C saves first.

    Args:
        model: is called with x, and with `training=True` or False if it has that parameter
        data: a data set of batches, or another iterable of pairs
        optimizer: has `apply_gradients(pairs)`, of gradients and variables
        loss: `loss(y, predictions)`, a scalar
        metrics: objects with `update(y, predictions)`, `result()` and `reset()`, by name or alone
        validation: what the model is tried on after each epoch
        callbacks: `early_stopping` and its like, functions of the `Run` that are called after each
            epoch, and objects with some of the methods `begin`, `epoch_begin`, `step_end`,
            `epoch_end` and `end` of the run
        checkpoints: a folder, or `Checkpoints` with more options
        compile: whether steps are traced and compiled
        progress: whether a bar is shown

    Raises:
        ValueError: for a negative number of epochs, data or validation without a batch, and metrics
            of one name
        ShapeError: for a loss that is no scalar
        TypeError: for a batch that is no pair, a metric or a callback that is none
    """
    batches = as_dataset(data)
    tried = None if validation is None else as_dataset(validation)
    if not callable(loss):
        raise TypeError(f"fit: the loss is a {type(loss).__name__}, not a function")
    _method_of_optimizer(optimizer)
    named = _named(metrics)
    calls = _Calls(model, batches, optimizer, loss, named, tried, compile)
    where = None if checkpoints is None else _folder(checkpoints)
    parts: list[tuple[str, Any]] = []
    if where is not None:
        parts = [("model", model), ("optimizer", optimizer), ("data", batches)]
        parts += [("metrics.loss", calls.mean), *[(f"metrics.{n}", m) for n, m in named]]
    told = list(callbacks)
    notebook = progress and _notebook()
    if notebook:
        told.append(_NotebookBars(batches.size))
    history = _weft.internal_fit(
        calls,
        model,
        _weft.internal_SavedParts(parts),
        [name for name, _ in named],
        epochs,
        told,
        where,
        progress and not notebook,
        batches.size,
    )
    return History._of(history)  # pyright: ignore[reportPrivateUsage]


def _method_of_optimizer(optimizer: Any) -> None:
    if not callable(getattr(optimizer, "apply_gradients", None)):
        raise TypeError(
            f"fit: the optimizer is a {type(optimizer).__name__}, which has no method "
            "apply_gradients"
        )


def _folder(given: Any) -> tuple[str, int, int | None, float | None]:
    options = given if isinstance(given, Checkpoints) else Checkpoints(given)
    return os.fspath(options.folder), options.keep, options.every_steps, options.every_seconds


# Reports and profiles.


def versions() -> dict[str, str]:
    """What a run's numbers depend on besides its program: Weft's version, the compiler that built
    it, the processor, threads, the system."""
    return dict(_weft.internal_versions())


def write_report(
    path: Path,
    history: _weft.internal_History,
    *,
    title: str = "Training run",
    configuration: Mapping[str, Any] | None = None,
    model: str = "",
    resources: _weft.internal_History | None = None,
    times: Mapping[str, float] | None = None,
    confusion: Any = None,
    classes: Sequence[str] = (),
    pictures: Sequence[Any] = (),
    pictures_title: str = "Worst samples",
    tables: Mapping[str, Sequence[Sequence[Any]]] | None = None,
    profile: Profile | None = None,
) -> None:
    """Writes one HTML file about a run that needs nothing else: the curves of its history, and what
    else is given.

    Args:
        configuration: what the run was made with
        model: text that is shown as it is, such as a summary
        resources: seconds, MiB or what else was measured, by its own step
        times: seconds of the parts of the run
        confusion: how often a label (row) was taken for a class (column)
        classes: their names
        pictures: images, or pairs of an image and a caption
        tables: rows by title, the first of which is the head
        profile: where the time went

    Raises:
        IOError: if it cannot be written
    """
    options: dict[str, Any] = {
        "title": title,
        "configuration": dict(configuration or {}),
        "model": model,
        "resources": resources,
        "times": dict(times or {}),
        "confusion": confusion,
        "classes": list(classes),
        "pictures": [p if isinstance(p, tuple) else (p, "") for p in pictures],
        "pictures_title": pictures_title,
        "tables": dict(tables or {}),
        "profile": None if profile is None else profile._profile,  # pyright: ignore[reportPrivateUsage]
    }
    _weft.internal_write_report(os.fspath(path), history, options)


class ProfileEntry(NamedTuple):
    """All events of one kind, name and line together."""

    kind: str
    """"op", "code" (inside of a compiled function), "function", "layer", "data", "compile", ..."""
    name: str
    file: str | None
    line: int | None
    calls: int
    """How many events."""
    total_ms: float
    self_ms: float
    """Without what was noted inside."""


class Profile:
    """Notes what the process does, on all threads, until `stop` or the end of its `with`. There is
    one at a time.

    Args:
        path: where events are written, too, as JSON for https://ui.perfetto.dev
        inside_functions: whether calls of compiled functions are seen from inside
        max_events: how many events are written at most

    Raises:
        StateError: if there is one already
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        inside_functions: bool = True,
        max_events: int = 1_000_000,
    ) -> None:
        file = None if path is None else os.fspath(path)
        self._profile = _weft.internal_Profile(file, inside_functions, max_events)

    def stop(self) -> None:
        """Ends it.

        Raises:
            IOError: if the file could not be written as a whole
        """
        self._profile.stop()

    @property
    def entries(self) -> list[ProfileEntry]:
        """What has taken time, the largest `self_ms` first."""
        return [ProfileEntry(*fields) for fields in self._profile.entries()]

    @property
    def memory(self) -> list[tuple[float, float]]:
        """Bytes of tensors over time: seconds since the start, and bytes."""
        return self._profile.memory()

    @property
    def seconds(self) -> float:
        """From the start to the end, or to now."""
        return self._profile.seconds()

    @property
    def events(self) -> int:
        """How many events were noted."""
        return self._profile.events()

    def text(self, rows: int = 20) -> str:
        """A table of the first entries."""
        return self._profile.text(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return self.text()


def trace_profile(
    path: Path, *, inside_functions: bool = True, max_events: int = 1_000_000
) -> Profile:
    """A `Profile` whose events are written to `path`, which is good at any moment."""
    return Profile(path, inside_functions=inside_functions, max_events=max_events)
