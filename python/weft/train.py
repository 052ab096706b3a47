"""Runs: a loop that nobody has to write, what it measures, bars, reports and profiles.

    history = wf.train.fit(
        model, digits.batch(32), optimizer=adam, loss=loss, epochs=3, validation=test.batch(100)
    )
    print(history.plot())
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast

from weft import _train, _weft
from weft._arguments import integer, optional_integer, optional_number, options
from weft._data import Dataset
from weft._function import function
from weft._histories import History as History
from weft._histories import Progress as Progress
from weft._histories import is_notebook
from weft._train import *  # noqa: F403
from weft._train import Run
from weft._signatures import takes_training
from weft._trees import flattened

if TYPE_CHECKING:
    from weft.distributed import Group

__all__ = ["Checkpoints", "History", "Parallel", "ProfileEntry", "Progress", "fit"]
__all__ += _train.__all__

Path: TypeAlias = "str | os.PathLike[str]"


class ProfileEntry(NamedTuple):
    """All events of one kind, name and line together.

    >>> with wf.train.Profile() as profile:
    ...     x = wf.exp(wf.ones(1000))
    >>> [entry.calls for entry in profile.entries if entry.name == "exp"]
    [1]
    """

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


class _NotebookBars:
    """What `fit` shows in a notebook."""

    def __init__(self, size: int | None) -> None:
        self._size = size
        self._bar: Progress[Any] | None = None

    def epoch_begin(self, run: Run) -> None:
        if not run.leads:
            return
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


# Fit.


class Checkpoints(NamedTuple):
    """Where `fit` keeps a run, and goes on with it.

    >>> wf.train.Checkpoints("run1", keep=5)
    Checkpoints(folder='run1', keep=5, every_steps=None, every_seconds=None)
    """

    folder: Path
    keep: int = 3
    every_steps: int | None = None
    """Saves after so many steps besides the end of each epoch."""
    every_seconds: float | None = None


class Parallel(NamedTuple):
    """How the batches of a run are shared by the processes of a program, its ranks.

    Each batch is cut into one part for each replica, by rows; a replica computes the gradients of
    its part, weighted by its share of the rows, and they are added by one tree. So all numbers of a
    run follow from the number of replicas, whichever ranks do their work.

    >>> wf.train.Parallel(replicas=8).replicas
    8
    """

    replicas: int | None = None
    """By default the number of ranks that the run first starts with, which its checkpoints keep;
    at least as many as there are ranks."""
    group: Group | None = None
    """The ranks; by default the world."""
    bucket_mib: float = 4
    """Gradients travel together in exchanges of so many MiB, or of one variable."""
    shard_state: Literal["none", "optimizer", "gradients", "weights"] | None = None
    """With "optimizer" each rank keeps a part of the optimizer's state (ZeRO-1), with "gradients" it gets the
    sums of its part of the gradients alone besides (ZeRO-2), with "weights" it keeps a part of the trained
    variables too, which are gathered for each use (ZeRO-3); checkpoints are folders that all ranks write
    parts of. The bits are the same. After `fit` the state is cut still: see `Optimizer.shard_state`."""
    overlap: bool | None = None
    """Whether an exchange begins as soon as its gradients are there, while those of earlier layers are
    still computed; otherwise all of them begin behind the last gradient. By default where the ranks are on
    several hosts: in the memory of one there is no wire whose time could be hidden. Models of fewer MiB
    than `bucket_mib` have one exchange, behind the last gradient."""
    devices: Sequence[str] = ()
    """Where this rank's replicas are computed, `["gpu:0", "gpu:1"]`: the first on the first device, and so on,
    again from the first one behind the last; by default where the model is. Each device reads variables from
    copies of its own; the update is made where they are, on the first GPU that has one of them; on the first
    of these devices if the model has no values yet. Compiled steps run on all devices at once, each on a
    thread of the library, but for the first of a shape, those whose exchanges overlap and those with
    `shard_state="weights"`: the same bits, one replica behind the other. `replicas` is by default as many as
    the ranks have devices then: equally many each."""


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


def converted(f: Any, *args: Any, **kwargs: Any) -> Any:
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
        replicas_say_where: bool = False,
    ) -> None:
        self.model, self.data, self.optimizer, self.validation = model, data, optimizer, validation
        self.loss, self.metrics = loss, metrics
        self.mean = _weft.internal_LossMean()
        self._update = [_method(m, "update", "update_state") for _, m in metrics]
        self._result = [_method(m, "result") for _, m in metrics]
        self._reset = [_method(m, "reset", "reset_state") for _, m in metrics]
        self._training = takes_training(model)
        self._batches: Iterator[Any] | None = None
        self.compiled = compile
        self.told: list[Any] = []
        """Callbacks, of which some hear of more than the loop tells: where a step or a trial begins."""
        self._train: Callable[..., Any] = self._train_step
        self._test: Callable[..., Any] = self._test_step
        self._gradients: Callable[..., Any] = self._gradient_step
        self._update_by: Callable[..., Any] = self._update_step
        self._entries: list[Any] = []
        self._structure: Any = None
        self._tests: Iterator[Any] = iter(())
        self._count = 0
        if compile:
            device = _weft.internal_device_of(model)
            self._update_by = function(self._update_step, name="update_step", device=device)
            device = "" if replicas_say_where else device
            self._train = function(self._train_step, name="train_step", device=device)
            self._test = function(self._test_step, name="test_step", device=device)
            self._gradients = function(self._gradient_step, name="gradient_step", device=device)

    def _predictions(self, x: Any, training: bool) -> Any:
        if self._training:
            return converted(self.model, x, training=training)
        return converted(self.model, x)

    def _measured(self, y: Any, predictions: Any) -> Any:
        loss = converted(self.loss, y, predictions)
        self.mean.note(loss, predictions)
        for update in self._update:
            converted(update, y, predictions)
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

    # Of replicas, each of which has some rows of a batch.

    def _gradient_step(self, x: Any, y: Any, weight: Any) -> Any:
        with _weft.internal_WeightOfRows(weight), _weft.GradientTape() as tape:
            loss = self._measured(y, self._predictions(x, True))
            loss = loss * _weft.cast(weight, loss.dtype)
        variables = _weft.internal_variables(self.model, True, False)
        gradients: list[Any] = _weft.internal_replica_gradients(tape, loss, variables)
        return loss, gradients

    def _update_step(self, gradients: list[Any]) -> None:
        variables = _weft.internal_variables(self.model, True, False)
        self.optimizer.apply_gradients(list(zip(gradients, variables)))

    def _next_of(self, batches: Iterator[Any]) -> list[Any] | None:
        """The tensors of the next batch; None behind the last."""
        for batch in batches:
            self._entries, self._structure = flattened(_pair(batch), "fit")
            return [each for each in self._entries if isinstance(each, _weft.Tensor)]
        return None

    def _with(self, rows: list[Any]) -> Any:
        """The present batch with these rows of its tensors."""
        of = iter(rows)
        return self._structure.unflatten(
            [next(of) if isinstance(each, _weft.Tensor) else each for each in self._entries]
        )

    def next(self) -> list[Any] | None:
        if self._batches is None:
            self._batches = iter(self.data)
        rows = self._next_of(self._batches)
        if rows is not None:
            self._tell("step_begin")
        return rows

    def gradients(self, rows: list[Any], weight: Any) -> list[Any]:
        """The weighted loss of these rows, and its gradients, of which some may be None."""
        loss, gradients = self._gradients(*self._with(rows), weight)
        return [loss, *gradients]

    def update(self, gradients: list[Any]) -> None:
        self._update_by(gradients)

    def update_at_once(self) -> None:
        """Has updates be no traced functions, which have the same bits."""
        self._update_by = self._update_step

    def start_tests(self) -> None:
        self._tests = iter(self.validation or ())
        self._count = 0
        self._tell("test_begin")

    def next_test(self) -> list[Any] | None:
        rows = self._next_of(self._tests)
        if rows is None:
            self._tell("test_end")
        else:
            self._tell("test_step_begin", self._count)
            self._count += 1
        return rows

    def test(self, rows: list[Any]) -> None:
        loss = self._test(*self._with(rows))
        self._tell("test_step_end", self._count - 1, loss)

    def start(self) -> None:
        """Before an epoch, or what is left of one."""
        self._batches = None

    def step(self) -> Any:
        """The loss of the next batch; None behind the last."""
        if self._batches is None:
            self._batches = iter(self.data)
        for batch in self._batches:
            self._tell("step_begin")
            return self._train(*_pair(batch))
        return None

    def _tell(self, event: str, *what: Any) -> None:
        for callback in self.told:
            method = getattr(callback, event, None)
            if method is not None:
                method(*what)

    def validate(self) -> bool:
        """Tries the model on all batches; whether there was one."""
        self._tell("test_begin")
        count = 0
        for batch in self.validation or ():
            self._tell("test_step_begin", count)
            loss = self._test(*_pair(batch))
            self._tell("test_step_end", count, loss)
            count += 1
        self._tell("test_end")
        return count > 0

    def numbers(self) -> list[tuple[str, Any]]:
        """The loss and the metrics, which are then reset."""
        numbers: list[tuple[str, Any]] = [("loss", self.mean.result())]
        numbers += [(name, result()) for (name, _), result in zip(self.metrics, self._result)]
        self.reset()
        return numbers

    def reset(self) -> None:
        """Has the loss and the metrics count from the start."""
        self.mean.reset()
        for reset in self._reset:
            reset()


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


@options
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
    parallel: int | Parallel | None = None,
    checkpoints: Path | Checkpoints | None = None,
    compile: bool = True,
    progress: bool = True,
) -> History:
    """Trains a model on batches (x, y): for each the loss of `model(x)`, its gradient, an update.

    The history has, for each epoch, numbered from 1, "loss", the mean of the batches' losses
    weighted by how many samples they have, and the metrics, and the same of the validation with
    "val_" in front.

    With checkpoints the run goes on from the newest one in the folder, with the next batch of its
    epoch, and ends with the same bits as one that was never interrupted. Ctrl-C and SIGTERM
    save first.

    >>> xs = np.linspace(-1, 1, 64, dtype=np.float32).reshape(-1, 1)
    >>> data = wf.data.from_tensors(xs, 3 * xs + 2).shuffle(seed=1).batch(16)
    >>> model = wf.Sequential([wf.nn.Dense(1)])
    >>> history = wf.train.fit(
    ...     model, data, optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error,
    ...     epochs=50, progress=False,
    ... )
    >>> np.round(model[0].kernel, 1), np.round(model[0].bias, 1)
    (array([[3.]], dtype=float32), array([2.], dtype=float32))

    Args:
        model: is called with x, and with `training=True` or False if it has that parameter
        data: a data set of batches, or another iterable of pairs, which may be lists
        optimizer: has `apply_gradients(pairs)`, of gradients and variables
        loss: `loss(y, predictions)`, a scalar; with replicas a mean over rows, as each one's counts by
            its share of the rows: sums would be divided by the replicas
        metrics: objects with `update(y, predictions)`, `result()` and `reset()`, by name or alone; with
            replicas their variables hold sums, which are added up over the replicas
        validation: what the model is tried on after each epoch
        callbacks: `early_stopping` and its like, functions of the `Run` that are called after each
            epoch, and objects with some of the methods `begin`, `epoch_begin`, `step_end`,
            `epoch_end` and `end` of the run; what one changes (weights, a learning rate, a
            generator) it changes on all ranks, or they differ from then on
        parallel: a number of replicas, at least 1, which the ranks of a program of several processes
            share, or `Parallel` with more options; by default, as by False, none; all ranks call `fit` with the same data and options
        checkpoints: a folder, or `Checkpoints` with more options
        compile: whether steps are traced and compiled
        progress: whether a bar is shown

    Raises:
        ValueError: for a negative number of epochs, data or validation without a batch, and metrics
            of one name; with replicas for fewer than there are ranks, another number than the
            checkpoints have, fewer than 1, a batch of fewer rows that is not the last of its epoch, metrics
            without variables or that do not begin at 0, and `shard_state` with an optimizer whose state
            cannot be cut
        ShapeError: for a loss that is no scalar, and tensors of a batch that replicas cannot share
        StateError: if ranks do not do the same, and on the others for what one of them raises
        TypeError: for a batch that is no pair, a metric or a callback that is none, and
            `parallel=True`
    """
    batches = _weft.internal_batches_of(data)
    tried = None if validation is None else _weft.internal_batches_of(validation)
    if not callable(loss):
        raise TypeError(f"fit: the loss is a {type(loss).__name__}, not a function")
    _method_of_optimizer(optimizer)
    named = _named(metrics)
    options = None if parallel is None or parallel is False else _options(parallel)
    calls = _Calls(model, batches, optimizer, loss, named, tried, compile, bool(options and options.devices))
    where = None if checkpoints is None else _folder(checkpoints)
    parts: list[tuple[str, Any]] = []
    shared = None if options is None else _parallel(options)
    if options is not None and options.shard_state is not None:
        calls.update_at_once()  # an exchange between ranks
    if where is not None or shared is not None:
        # What there is to save, before the first update.
        if hasattr(optimizer, "prepare"):  # one that derives from weft.optimizers.Optimizer
            optimizer.prepare(model)
        _weft.internal_bind_optimizer(optimizer, model)
        parts = [("model", model), ("optimizer", optimizer), ("data", batches)]
        parts += [("metrics.loss", calls.mean), *[(f"metrics.{n}", m) for n, m in named]]
    told = list(callbacks)
    calls.told = [each for each in told if hasattr(each, "test_step_begin")]
    notebook = progress and is_notebook()
    if notebook:
        told.append(_NotebookBars(batches.size))
    try:
        history = _weft.internal_fit(
            calls,
            model,
            _weft.internal_SavedParts(parts),
            [name for name, _ in named],
            integer("fit: epochs", epochs),
            told,
            shared,
            where,
            progress and not notebook,
            batches.size,
        )
    except BaseException:
        calls.reset()  # what the broken epoch counted is no part of a later one
        raise
    return _weft.internal_as_history(History, history)


def _method_of_optimizer(optimizer: Any) -> None:
    if not callable(getattr(optimizer, "apply_gradients", None)):
        raise TypeError(
            f"fit: the optimizer is a {type(optimizer).__name__}, which has no method "
            "apply_gradients"
        )


def _options(given: Any) -> Parallel:
    if given is True:
        raise TypeError(
            "fit: parallel is True, but must be a number of replicas, or wf.train.Parallel() for one "
            "on each rank"
        )
    return given if isinstance(given, Parallel) else Parallel(given)


def _parallel(options: Parallel) -> tuple[int | None, Any, float, bool | None, Any, list[str]]:
    if isinstance(options.replicas, bool):
        raise TypeError(f"fit: replicas is {options.replicas}, but must be a number, at least 1")
    if options.replicas == 0:
        raise _weft.ValueError(
            "fit: replicas is 0, but must be at least 1: with parallel=None this process trains alone"
        )
    bucket = optional_number("fit: bucket_mib", options.bucket_mib)
    return (
        optional_integer("fit: replicas", options.replicas),
        options.group,
        4.0 if bucket is None else bucket,
        None if options.overlap is None else bool(options.overlap),
        options.shard_state,
        _devices(options.devices),
    )


def _devices(given: Any) -> list[str]:
    devices = list(cast("Sequence[Any]", given)) if isinstance(given, list | tuple) else [None]
    if not all(isinstance(device, str) for device in devices):
        raise TypeError(f"fit: devices is {given!r}, but must be a list of names like 'gpu:0'")
    return cast("list[str]", devices)


def _folder(given: Any) -> tuple[str, int, int | None, float | None]:
    options = given if isinstance(given, Checkpoints) else Checkpoints(given)
    return (
        os.fsdecode(options.folder),
        integer("fit: keep", options.keep),
        optional_integer("fit: every_steps", options.every_steps),
        optional_number("fit: every_seconds", options.every_seconds),
    )
