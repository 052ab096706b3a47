"""Metrics with Keras' names, parameters and dtype of results, which is float32."""

from __future__ import annotations

from typing import Any, cast

import weft as wf
from weft import _weft
from weft._signatures import init_of

from ._replicas import note_metric, note_reset

_library: Any = wf.metrics


def spelled(kind: str) -> str:
    """SparseCategoricalAccuracy as sparse_categorical_accuracy."""
    from weft import train

    return train._spelled(kind)  # pyright: ignore[reportPrivateUsage]


class Metric(_library.Metric):
    """A metric of the user: `update_state` adds a batch to variables of `add_weight`, and `result`
    says what they amount to. `reset_state` puts zeros into them."""

    def __init__(self, dtype: Any = None, name: str | None = None) -> None:
        base: Any = super()
        base.__init__(name or spelled(type(self).__name__))
        note_metric(self)

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch."""
        raise NotImplementedError(f"{type(self).__name__} has no method update_state")

    def reset_state(self) -> None:
        """Puts zeros into all variables."""
        note_reset(self)
        base: Any = super()
        base.reset()

    def reset_states(self) -> None:
        """As `reset_state`."""
        self.reset_state()

    def update(self, *args: Any, **kwargs: Any) -> Any:
        """As `update_state`."""
        return self.update_state(*args, **kwargs)

    def reset(self) -> None:
        """As `reset_state`."""
        self.reset_state()


class _OfLibrary:
    """A metric of the library under Keras' names."""

    _kind: Any

    def __init__(
        self, *args: Any, name: str | None = None, dtype: Any = None, **options: Any
    ) -> None:
        self._kind.__init__(self, *args, name=name or spelled(type(self).__name__), **options)
        note_metric(self)

    def result(self) -> Any:
        """What the batches so far amount to, as a float32 scalar."""
        return wf.cast(self._kind.result(self), "float32")

    def reset(self) -> None:
        """Has it count from 0."""
        note_reset(self)
        self._kind.reset(self)

    def reset_state(self) -> None:
        """As `reset`."""
        self.reset()

    def reset_states(self) -> None:
        """As `reset`."""
        self.reset()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch, and gives the result."""
        cast("Any", self).update_state(*args, **kwargs)
        return self.result()


def _of_library(word: str, first: str = "", last: str = "", kind: str = "") -> Any:
    """A metric of the library with Keras' parameters: name and dtype, what is in front of them and
    what is behind."""
    base = getattr(_library, kind or word)

    def start(self: Any, values: dict[str, Any]) -> None:
        del values["dtype"]
        values["name"] = values["name"] or spelled(word)
        if "thresholds" in values:
            given = values.pop("thresholds")
            values["threshold"] = 0.5 if given is None else given
        base.__init__(self, **values)
        note_metric(self)

    parameters = ", ".join(filter(None, [first, f"name={spelled(word)!r}, dtype=None", last]))
    own = {"_kind": base, "__init__": init_of(parameters, start), "__module__": __name__}
    text = base.__doc__.partition("\n\n")[0]
    return type(word, (_OfLibrary, base), {"__doc__": text, **own})


Mean: Any = _of_library("Mean")
BinaryAccuracy = _of_library("BinaryAccuracy", last="threshold=0.5")
CategoricalAccuracy = _of_library("CategoricalAccuracy")
SparseCategoricalAccuracy = _of_library("SparseCategoricalAccuracy")
SparseTopKCategoricalAccuracy = _of_library("SparseTopKCategoricalAccuracy", "k=5", kind="TopKAccuracy")
MeanSquaredError: Any = _of_library("MeanSquaredError")
MeanAbsoluteError = _of_library("MeanAbsoluteError")
Precision, Recall = _of_library("Precision", "thresholds=None"), _of_library("Recall", "thresholds=None")


class RootMeanSquaredError(MeanSquaredError):
    """The root of the mean of the squared differences."""

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        MeanSquaredError.__init__(self, name, dtype)

    def result(self) -> Any:
        """The root, as a float32 scalar."""
        return wf.sqrt(MeanSquaredError.result(self))


class AUC(_OfLibrary, _library.AUC):
    """The area below the curve of true and false positives."""

    _kind = _library.AUC


class MeanMetricWrapper(Mean):
    """The mean of what a function of labels and predictions gives for each sample."""

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **options: Any) -> None:
        Mean.__init__(self, name or getattr(fn, "__name__", "mean_metric_wrapper"), dtype)
        self._function, self._options = fn, options

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        """Adds a batch."""
        values = self._function(y_true, y_pred, **self._options)
        if sample_weight is None:
            self.update(values)
        else:
            self.update(values, weights=sample_weight)


class Sum(Metric):
    """The sum of all values so far."""

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(dtype, name)
        self.total = self.add_weight(name="total")

    def update_state(self, values: Any, sample_weight: Any = None) -> None:
        """Adds values, times weights."""
        shares = values if sample_weight is None else wf.multiply(values, sample_weight)
        self.total.assign_add(wf.sum(wf.cast(shares, "float32")))

    def result(self) -> Any:
        return self.total.value()


def equal_share(y_true: Any, y_pred: Any) -> Any:
    """1 where labels and predictions are equal, else 0."""
    return wf.cast(wf.equal(y_true, y_pred), "float32")


def accuracy_of(y_true: Any, y_pred: Any) -> Any:
    """1 for each sample that is right, else 0: of one score by 0.5, of several by the largest, as
    labels are numbers or vectors."""
    y, scores = wf.asarray(y_true), wf.asarray(y_pred)
    if scores.shape[-1] == 1:
        above = wf.greater(wf.reshape(scores, [-1]), 0.5)
        return equal_share(wf.cast(wf.reshape(y, [-1]), "float32"), wf.cast(above, "float32"))
    if y.ndim == scores.ndim and y.shape[-1] == 1:
        y = y[..., 0]
    labels = wf.argmax(y, -1) if y.ndim == scores.ndim else wf.cast(y, "int64")
    return equal_share(labels, wf.argmax(scores, -1))


def cosine(y_true: Any, y_pred: Any) -> Any:
    """The cosine of the angle between each pair of vectors."""
    return wf.negate(wf.losses.cosine_similarity(y_true, y_pred, reduction="none"))


def top_k_accuracy(k: int, name: str, dtype: Any) -> Any:
    """How often the class of a one-hot label is among the k largest scores."""

    def among(y_true: Any, y_pred: Any) -> Any:
        labels = wf.argmax(y_true, -1)
        places = wf.top_k(y_pred, k)[1]
        hits = wf.equal(wf.cast(places, "int64"), wf.cast(labels, "int64")[..., None])
        return wf.cast(wf.any(hits, -1), "float32")

    return MeanMetricWrapper(among, name, dtype)


class Accuracy(MeanMetricWrapper):
    """How often predictions are equal to labels."""

    def __init__(self, name: str = "accuracy", dtype: Any = None) -> None:
        super().__init__(equal_share, name, dtype)


def metric_of(name: Any) -> Any:
    """The metric of a name, 'accuracy', 'mae' or 'MeanAbsoluteError' for example; of a function the
    mean of what it gives; or a metric itself."""
    from weft import tf

    if isinstance(name, str):
        if name in ("accuracy", "acc"):
            return MeanMetricWrapper(accuracy_of, name)
        found = getattr(tf.keras.metrics, name, None) or getattr(tf.keras.losses, name, None)
        if found is None:
            raise _weft.ValueError(f"there is no metric {name!r}")
        return found() if isinstance(found, type) else MeanMetricWrapper(found, name)
    if callable(name) and not hasattr(name, "result"):
        return MeanMetricWrapper(name)
    return name
