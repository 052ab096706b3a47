"""`compile`, `fit`, `evaluate` and `predict` of Keras' models, over `weft.train.fit`."""

# pyright: reportIncompatibleMethodOverride=false, reportPrivateUsage=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import weft as wf
from weft import _weft, train
from weft._absent import refuse_keywords
from weft._trees import is_listed

from . import _functions, _keras, _metrics, _replicas
from ._absent import says_what_is_absent
from ._methods import Called
from ._replicas import here


class History:
    """What `fit` gives: `history["loss"]` has a number for each epoch, and so have the others."""

    def __init__(self, of: Any) -> None:
        if not isinstance(of, train.History):
            raise TypeError("History: fit makes one")
        self.history: dict[str, list[float]] = {name: of.numbers(name) for name in of.names()}
        self.epoch = list(range(len(self.history.get("loss", []))))


class Callback:
    """What is told of a run: a subclass has some of the methods. Epochs count from 0, and
    `self.model.stop_training = True` ends the run behind this epoch."""

    model: Any = None
    params: Any = None

    def set_model(self, model: Any) -> None:
        """Before everything else: the model of the run, which `self.model` is from now on."""
        self.model = model

    def set_params(self, params: Any) -> None:
        """Before everything else: the numbers of `epochs` and `steps`, which is None where nobody knows,
        and `verbose`. `self.params` has them from now on."""
        self.params = params

    def on_train_begin(self, logs: Any = None) -> None:
        """Before the first epoch."""

    def on_train_end(self, logs: Any = None) -> None:
        """Behind the last epoch."""

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Before an epoch."""

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Behind an epoch, with its numbers by their names."""

    def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch, counted from 0 in each epoch. As `on_batch_begin`, unless it is overridden."""
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Behind a batch, with its loss. As `on_batch_end`, unless it is overridden."""
        self.on_batch_end(batch, logs)

    def on_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch that is trained on."""

    def on_batch_end(self, batch: int, logs: Any = None) -> None:
        """Behind a batch that was trained on."""

    def on_test_begin(self, logs: Any = None) -> None:
        """Before `evaluate`, or the validation behind an epoch."""

    def on_test_end(self, logs: Any = None) -> None:
        """Behind `evaluate`, or the validation."""

    def on_test_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch that is tried."""

    def on_test_batch_end(self, batch: int, logs: Any = None) -> None:
        """Behind a batch that was tried, with its loss."""

    def on_predict_begin(self, logs: Any = None) -> None:
        """Before `predict`."""

    def on_predict_end(self, logs: Any = None) -> None:
        """Behind `predict`."""

    def on_predict_batch_begin(self, batch: int, logs: Any = None) -> None:
        """Before a batch of `predict`."""

    def on_predict_batch_end(self, batch: int, logs: Any = None) -> None:
        """Behind a batch of `predict`, with its outputs."""


class _Told:
    """A Callback as weft.train has them."""

    def __init__(self, of: Callback, model: Any, params: dict[str, Any]) -> None:
        self._of, self._batch = of, 0
        of.set_params(params)
        of.set_model(model)

    def step_begin(self) -> None:
        self._of.on_train_batch_begin(self._batch, {})

    def test_begin(self) -> None:
        self._of.on_test_begin({})

    def test_step_begin(self, number: int) -> None:
        self._of.on_test_batch_begin(number, {})

    def test_step_end(self, number: int, loss: Any) -> None:
        self._of.on_test_batch_end(number, {"loss": loss})

    def test_end(self) -> None:
        self._of.on_test_end({})

    def begin(self, run: Any) -> None:
        self._of.on_train_begin({})

    def end(self, run: Any) -> None:
        self._of.on_train_end(_numbers_of(run))

    def epoch_begin(self, run: Any) -> None:
        self._batch = 0
        self._of.on_epoch_begin(run.epoch - 1, {})

    def step_end(self, run: Any) -> None:
        self._of.on_train_batch_end(self._batch, {"loss": run.loss})
        self._batch += 1

    def epoch_end(self, run: Any) -> None:
        self._of.on_epoch_end(run.epoch - 1, _numbers_of(run))
        if self._of.model.stop_training:
            run.stop = True


def _numbers_of(run: Any) -> dict[str, Any]:
    """Those of the latest epoch."""
    history = run.history
    return {name: history.last(name) for name in history.names()}


def rises(callback: str, monitor: str, mode: str) -> bool:
    """Whether a number is better the higher it is."""
    if mode not in ("auto", "min", "max"):
        raise _weft.ValueError(f"{callback}: mode is {mode!r}: it is 'auto', 'min' or 'max'")
    return mode == "max" or (mode == "auto" and monitor.endswith(("acc", "accuracy", "auc")))


def early_stopping(
    monitor: str, min_delta: float, patience: int, mode: str, restore_best: bool
) -> Any:
    """Stops a run when a number gets no better for so many epochs."""
    return train.early_stopping(
        monitor,
        goal="highest" if rises("EarlyStopping", monitor, mode) else "lowest",
        patience=max(1, patience),
        min_delta=abs(min_delta),
        restore_best=restore_best,
    )


class _Loss:
    """A loss as one number: of labels in the form of predictions, as Keras has it."""

    def __init__(self, of: Any) -> None:
        self._of = _functions.loss_of(of)
        if not callable(self._of):
            raise _weft.ValueError(
                f"compile: the loss is {of!r}: a name, a function or a loss is wanted"
            )

    def __call__(self, y: Any, predictions: Any) -> Any:
        return wf.mean(self._of(fitted(y, predictions), predictions))


def fitted(y: Any, predictions: Any) -> Any:
    """Labels with the last axis, and of the dtype, of predictions where they only lack that."""
    labels, scores = wf.asarray(y), wf.asarray(predictions)
    if labels.ndim == scores.ndim - 1 and scores.shape[-1] == 1:
        labels = wf.reshape(labels, [*labels.shape, 1])
    if labels.ndim == scores.ndim > 1 and labels.dtype.is_integer and labels.shape[-1] == 1 != scores.shape[-1]:
        labels = wf.squeeze(labels, -1)  # numbers of classes
    if labels.ndim == scores.ndim and labels.shape[-1] == scores.shape[-1]:
        labels = wf.cast(labels, scores.dtype)
    return labels


class _Measure(wf.Module):
    """A metric that is handed labels in the form of predictions. Its variables are the metric's."""

    def __init__(self, of: Any) -> None:
        metric = _metrics.metric_of(of)
        super().__init__(getattr(metric, "name", None) or _metrics.spelled(type(metric).__name__))
        self.of = metric
        self._update = train._method(metric, "update_state", "update")
        self._reset = train._method(metric, "reset_state", "reset")

    def reset(self) -> None:
        self._reset()

    def update(self, y: Any, predictions: Any) -> None:
        self._update(fitted(y, predictions), predictions)

    def result(self) -> Any:
        return wf.asarray(self.of.result())  # a variable as it is now


class _Compiled:
    """What `compile` was told. No module, so that its variables are none of the model's."""

    def __init__(self, loss: Any, metrics: Any, eagerly: bool) -> None:
        self.loss = _Loss(loss)
        self.measures = [_Measure(metric) for metric in metrics or ()]
        self.eagerly = eagerly


class Trained:
    """Models that are trained by `compile` and `fit`.

    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), ["accuracy"])
    history = model.fit(images, labels, epochs=5, validation_data=(more, their_labels))
    model.evaluate(more, their_labels)
    """

    stop_training = False
    _compiled: Any = None
    _strategy: Any = None
    """That in whose scope the model was made or compiled."""

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        run_eagerly: bool = False,
        jit_compile: Any = "auto",
        steps_per_execution: int = 1,
        **other: Any,
    ) -> None:
        """Says what `fit` is to use: an optimizer, a loss and metrics, by name or themselves.

        Raises:
            ValueError: for a name of none, or without a loss
        """
        if other:
            refuse_keywords("compile", other, ["optimizer", "loss", "metrics", "run_eagerly"])
        if loss is None:
            raise _weft.ValueError("compile: there is no loss: give one, 'mse' for example")
        for name in ("train_step", "test_step", "predict_step"):
            if hasattr(self, name):
                raise _weft.ValueError(
                    f"compile: the model has a {name}, which fit, evaluate and predict do not call: write "
                    "the loop over batches, with tf.GradientTape"
                )
        self.optimizer = _keras.optimizer_of(optimizer)
        self._compiled = _Compiled(loss, metrics, run_eagerly)
        if here.strategy is not None:
            self._strategy = here.strategy

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Sequence[Any] | None = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        **other: Any,
    ) -> History:
        """Trains the model on arrays of inputs and labels, in batches of 32 by default, or on a data
        set of batches, and gives the numbers of each epoch.

        Args:
            verbose: 0 shows no bar
            callbacks: those of `tf.keras.callbacks` and of `weft.train`
            validation_split: the share at the end of arrays that is not trained on but tried
            validation_data: what is tried after each epoch: a pair, or a data set of batches
            shuffle: whether arrays are gone through in another order in each epoch

        Raises:
            StateError: before `compile`
        """
        if other:
            refuse_keywords("fit", other, ["batch_size", "epochs", "validation_data", "shuffle"])
        told = self._told()
        size = 32 if batch_size is None else batch_size
        tried: Any = None
        if validation_data is not None:
            more, theirs = (
                validation_data if is_listed(validation_data) else (validation_data, None)
            )
            tried = _batches(more, theirs, size, False)
        elif validation_split:
            x, y, tried = _split(x, y, validation_split, size)
        self.stop_training = False
        batches = _batches(_replicas.whole_of(x), y, size, shuffle)
        given = _told(callbacks, self, _params(verbose, batches, epochs=epochs))
        with _replicas.fitting():
            history = train.fit(
                self,
                batches,
                optimizer=self.optimizer,
                loss=told.loss,
                metrics=[(measure.name, measure) for measure in told.measures],
                epochs=epochs,
                validation=tried,
                callbacks=given,
                parallel=None if self._strategy is None else self._strategy.parallel(),
                compile=not told.eagerly,
                progress=verbose != 0,
            )
        return History(history)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        return_dict: bool = False,
        callbacks: Sequence[Any] | None = None,
    ) -> Any:
        """The loss, and the metrics behind it if there are some, of arrays or a data set of batches.
        Of callbacks the methods `on_test_` are called.

        Raises:
            StateError: before `compile`
            ValueError: without a batch
        """
        told = self._told()
        data = wf.data.from_iterable(
            _batches(x, y, 32 if batch_size is None else batch_size, False)
        )
        named = [(measure.name, measure) for measure in told.measures]
        calls = train._Calls(self, data, None, told.loss, named, data, False)
        calls.told = _told(callbacks, self, _params(verbose, data))
        if not calls.validate():
            raise _weft.ValueError("evaluate: there is no batch")
        numbers = {name: float(value) for name, value in calls.numbers()}
        if return_dict:
            return numbers
        return list(numbers.values()) if named else numbers["loss"]

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        callbacks: Sequence[Any] | None = None,
    ) -> Any:
        """What the model gives for arrays, or for the inputs of a data set of batches, as arrays of
        NumPy. Of callbacks the methods `on_predict_` are called.

        Raises:
            ValueError: without a batch
        """
        import numpy as np

        from . import _more

        model: Any = self
        made: list[Any] = []
        heard = [each for each in callbacks or () if isinstance(each, Callback)]
        batches = _batches(x, None, 32 if batch_size is None else batch_size, False)
        for each in heard:
            each.set_params(_params(verbose, batches))
            each.set_model(self)
            each.on_predict_begin({})
        for batch in batches:
            for each in heard:
                each.on_predict_batch_begin(len(made), {})
            made.append(model(batch[0] if isinstance(batch, tuple) else batch, training=False))
            for each in heard:
                each.on_predict_batch_end(len(made) - 1, {"outputs": made[-1]})
        for each in heard:
            each.on_predict_end({})
        if not made:
            raise _weft.ValueError("predict: there is no batch")
        return _more.map_structure(lambda *parts: np.concatenate([p.numpy() for p in parts]), made)

    def train_on_batch(self, x: Any, y: Any) -> Any:
        """One update on a batch. Gives its loss, and the metrics behind it if there are some."""
        history = self.fit(_one(x, y), verbose=0).history
        numbers = [values[-1] for values in history.values()]
        return numbers if len(numbers) > 1 else numbers[0]

    def test_on_batch(self, x: Any, y: Any) -> Any:
        """The loss, and the metrics behind it if there are some, of a batch."""
        return self.evaluate(_one(x, y))

    def predict_on_batch(self, x: Any) -> Any:
        """What the model gives for a batch, as an array of NumPy."""
        return self.predict(wf.data.from_element(x))

    def _told(self) -> Any:
        if self._compiled is None:
            raise _weft.StateError(
                f"{type(self).__name__}: it is not known what to train it with: call "
                "model.compile(optimizer, loss) first"
            )
        return self._compiled


def _told(callbacks: Sequence[Any] | None, model: Any, params: dict[str, Any]) -> list[Any]:
    return [
        _Told(each, model, params) if isinstance(each, Callback) else each
        for each in callbacks or ()
    ]


def _params(verbose: Any, batches: Any, **others: Any) -> dict[str, Any]:
    """What `set_params` is told."""
    return {"verbose": 1 if verbose == "auto" else int(verbose), "steps": batches.size, **others}


def _is_data(x: Any) -> bool:
    return isinstance(x, wf.data.Dataset)


def _one(x: Any, y: Any) -> Any:
    return wf.data.from_element((wf.asarray(x), wf.asarray(y)))


def _batches(x: Any, y: Any, size: int, shuffled: bool) -> Any:
    """Arrays in batches; a data set of batches as it is."""
    if _is_data(x):
        return x
    x = _keras.autocast(x)
    rows: Any = wf.data.from_tensor_slices(x if y is None else (x, y))
    if shuffled:
        rows = rows.shuffle(rows.size)
    return rows.batch(size)


def _split(x: Any, y: Any, share: float, size: int) -> tuple[Any, Any, Any]:
    """Inputs and labels without those at the end, and these in batches."""
    if _is_data(x) or y is None or not 0 < share < 1:
        raise _weft.ValueError(
            f"fit: validation_split is {share}: it is between 0 and 1, of arrays of inputs and labels"
        )
    inputs, labels = wf.asarray(x), wf.asarray(y)
    cut = int(len(inputs) * (1 - share))
    return inputs[:cut], labels[:cut], _batches(inputs[cut:], labels[cut:], size, False)


@says_what_is_absent("keras.Model")
class Model(Called, Trained, wf.Model):
    """A model of the user: `call` says what it computes, of the layers in its attributes."""

    def __init__(self, name: Any = None, *more: Any, **options: Any) -> None:
        if more or options or not isinstance(name, str | None):
            raise _weft.ValueError(
                f"{type(self).__name__}: models are not made of inputs and outputs: write a subclass "
                "with a method call, or tf.keras.Sequential of layers"
            )
        super().__init__(name)
        if here.strategy is not None:
            self._strategy = here.strategy

    def _weft_call(self, call: Any, args: Any, kwargs: Any) -> Any:
        return super()._weft_call(call, _keras.autocast(args), kwargs)


_keras.Layer.register(Model)


class Sequential(wf.Sequential, Model):
    """Layers one after the other."""

    def __init__(self, layers: Any = (), name: str | None = None) -> None:
        wf.Sequential.__init__(self, () if layers is None else layers, name=name)
        if here.strategy is not None:
            self._strategy = here.strategy

    @property
    def layers(self) -> list[Any]:
        """The layers, in order, without the Input in front of them."""
        kinds: Any = wf.nn
        return [layer for layer in self if not isinstance(layer, kinds.Input)]

    def pop(self) -> Any:
        """Takes the last layer off, and gives it."""
        entries = self._added()
        if not entries:
            raise _weft.ValueError("Sequential: there is no layer to take off")
        return entries.pop()[1]
