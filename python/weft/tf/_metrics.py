"""Metrics with Keras' names, parameters and dtype of results, which is float32."""

from __future__ import annotations

from typing import Any, cast

import weft as wf
from weft import _weft

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

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch."""
        raise NotImplementedError(f"{type(self).__name__} has no method update_state")

    def reset_state(self) -> None:
        """Puts zeros into all variables."""
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

    def result(self) -> Any:
        """What the batches so far amount to, as a float32 scalar."""
        return wf.cast(self._kind.result(self), "float32")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch, and gives the result."""
        cast("Any", self).update_state(*args, **kwargs)
        return self.result()


class Mean(_OfLibrary, _library.Mean):
    """The mean of all values so far: `m(0.0)`, `m(5.0)` is 2.5."""

    _kind = _library.Mean

    def __init__(self, name: str = "mean", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)


class BinaryAccuracy(_OfLibrary, _library.BinaryAccuracy):
    """How often a probability is on the side of a threshold that its label, 0 or 1, says."""

    _kind = _library.BinaryAccuracy

    def __init__(
        self, name: str = "binary_accuracy", dtype: Any = None, threshold: float = 0.5
    ) -> None:
        super().__init__(name=name, dtype=dtype, threshold=threshold)


class CategoricalAccuracy(_OfLibrary, _library.CategoricalAccuracy):
    """How often the largest score is that of the class of a one-hot label."""

    _kind = _library.CategoricalAccuracy

    def __init__(self, name: str = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)


class SparseCategoricalAccuracy(_OfLibrary, _library.SparseCategoricalAccuracy):
    """How often the largest score is that of the label, a number."""

    _kind = _library.SparseCategoricalAccuracy

    def __init__(self, name: str = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)


class SparseTopKCategoricalAccuracy(_OfLibrary, _library.TopKAccuracy):
    """How often the label, a number, is among the k largest scores."""

    _kind = _library.TopKAccuracy

    def __init__(
        self, k: int = 5, name: str = "sparse_top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(k, name=name, dtype=dtype)


class MeanSquaredError(_OfLibrary, _library.MeanSquaredError):
    """The mean of the squared differences."""

    _kind = _library.MeanSquaredError

    def __init__(self, name: str = "mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)


class RootMeanSquaredError(MeanSquaredError):
    """The root of the mean of the squared differences."""

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def result(self) -> Any:
        """The root, as a float32 scalar."""
        return wf.sqrt(super().result())


class MeanAbsoluteError(_OfLibrary, _library.MeanAbsoluteError):
    """The mean of the differences' absolute values."""

    _kind = _library.MeanAbsoluteError

    def __init__(self, name: str = "mean_absolute_error", dtype: Any = None) -> None:
        super().__init__(name=name, dtype=dtype)


class Precision(_OfLibrary, _library.Precision):
    """The share of what is called true that is."""

    _kind = _library.Precision

    def __init__(
        self, thresholds: float | None = None, name: str = "precision", dtype: Any = None
    ) -> None:
        super().__init__(0.5 if thresholds is None else thresholds, name=name, dtype=dtype)


class Recall(_OfLibrary, _library.Recall):
    """The share of what is true that is called so."""

    _kind = _library.Recall

    def __init__(
        self, thresholds: float | None = None, name: str = "recall", dtype: Any = None
    ) -> None:
        super().__init__(0.5 if thresholds is None else thresholds, name=name, dtype=dtype)


class AUC(_OfLibrary, _library.AUC):
    """The area below the curve of true and false positives."""

    _kind = _library.AUC


class MeanMetricWrapper(Mean):
    """The mean of what a function of labels and predictions gives for each sample."""

    def __init__(self, fn: Any, name: str | None = None, dtype: Any = None, **options: Any) -> None:
        super().__init__(name or getattr(fn, "__name__", "mean_metric_wrapper"), dtype)
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
