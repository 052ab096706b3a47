"""Losses: what training makes small. `weft.losses`.

All take targets first and predictions second. The functions have the names and defaults of the
library: scores are logits, and the result is the mean. Those that end in `crossentropy`, and the
classes, are spelt and behave as in Keras: scores are probabilities unless `from_logits=True`.

    loss = wf.losses.SparseCategoricalCrossentropy(from_logits=True)
    loss(labels, model(x))

`weights` are factors of the values, of a shape that broadcasts to theirs; `mask` bools, true where a
value counts; `reduction` is 'mean', 'sum', 'weighted_mean' or 'none'.
"""

from __future__ import annotations

from typing import Any

from weft import _weft
from weft._arguments import NeedsInit, options
from weft._tracebacks import users_lines
from weft._weft import (
    Tensor,
    losses_binary_cross_entropy as binary_cross_entropy,
    losses_categorical_cross_entropy as categorical_cross_entropy,
    losses_categorical_hinge as categorical_hinge,
    losses_cosine_similarity as cosine_similarity,
    losses_ctc as ctc,
    losses_hinge as hinge,
    losses_huber as huber,
    losses_kl_divergence as kl_divergence,
    losses_log_cosh as log_cosh,
    losses_mean_absolute_error as mean_absolute_error,
    losses_mean_squared_error as mean_squared_error,
    losses_poisson as poisson,
    losses_softmax_cross_entropy as softmax_cross_entropy,
    losses_sparse_categorical_cross_entropy as sparse_categorical_cross_entropy,
    losses_squared_hinge as squared_hinge,
    losses_triplet as triplet,
)

__all__ = [
    "BinaryCrossentropy",
    "CategoricalCrossentropy",
    "CategoricalHinge",
    "CosineSimilarity",
    "Hinge",
    "Huber",
    "KLDivergence",
    "LogCosh",
    "Loss",
    "MeanAbsoluteError",
    "MeanSquaredError",
    "Poisson",
    "SparseCategoricalCrossentropy",
    "SquaredHinge",
    "binary_cross_entropy",
    "binary_crossentropy",
    "categorical_cross_entropy",
    "categorical_crossentropy",
    "categorical_hinge",
    "cosine_similarity",
    "ctc",
    "hinge",
    "huber",
    "kl_divergence",
    "log_cosh",
    "mean_absolute_error",
    "mean_squared_error",
    "poisson",
    "softmax_cross_entropy",
    "sparse_categorical_cross_entropy",
    "sparse_categorical_crossentropy",
    "squared_hinge",
    "triplet",
]


@users_lines
def binary_crossentropy(labels: Any, scores: Any, from_logits: bool = False, **options: Any) -> Tensor:
    """`binary_cross_entropy` of probabilities, or of logits.

    >>> wf.losses.binary_crossentropy([1.0, 0.0], [0.5, 0.5])
    tensor(0.6931472, shape=(), dtype=float32)
    """
    return binary_cross_entropy(labels, scores, from_logits=from_logits, **options)


@users_lines
def categorical_crossentropy(
    labels: Any, scores: Any, from_logits: bool = False, **options: Any
) -> Tensor:
    """`categorical_cross_entropy` of probabilities, or of logits.

    >>> wf.losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])
    tensor(0.6931472, shape=(), dtype=float32)
    """
    return categorical_cross_entropy(labels, scores, from_logits=from_logits, **options)


@users_lines
def sparse_categorical_crossentropy(
    labels: Any, scores: Any, from_logits: bool = False, **options: Any
) -> Tensor:
    """`sparse_categorical_cross_entropy` of probabilities, or of logits.

    >>> wf.losses.sparse_categorical_crossentropy([0], [[0.5, 0.5]])
    tensor(0.6931472, shape=(), dtype=float32)
    """
    return sparse_categorical_cross_entropy(labels, scores, from_logits=from_logits, **options)


_REDUCTIONS = {
    "sum_over_batch_size": "mean",
    "mean_with_sample_weight": "weighted_mean",
    "auto": "mean",
    None: "none",
}


class Loss(NeedsInit):
    """A loss and its options: what is called with targets and predictions, and weights of the
    samples.

    A subclass says by `call(targets, predictions)` what each sample's value is; they are reduced as
    `reduction` says.

    >>> class Cubed(wf.losses.Loss):
    ...     def call(self, targets, predictions):
    ...         return wf.abs(targets - predictions) ** 3
    >>> Cubed()(wf.tensor([1.0, 2.0]), wf.tensor([1.0, 4.0]))
    tensor(4.0, shape=(), dtype=float32)
    """

    _made_by_init = ("name",)

    @options
    def __init__(self, reduction: str | None = "mean", name: str | None = None) -> None:
        self.reduction = _REDUCTIONS.get(reduction, reduction)
        self.name = name or type(self).__name__

    def call(self, targets: Any, predictions: Any) -> Any:
        raise NotImplementedError(
            f"{type(self).__name__} has no method call(self, targets, predictions): it gives the "
            "value of each sample"
        )

    @users_lines
    def __call__(self, targets: Any, predictions: Any, sample_weight: Any = None) -> Tensor:
        reduction = getattr(self, "reduction", "mean")
        values = self.call(targets, predictions)
        weighted = values if sample_weight is None else values * sample_weight
        if reduction == "none":
            return weighted
        total = _weft.sum(weighted)
        if reduction == "sum":
            return total
        if reduction == "weighted_mean" and sample_weight is not None:
            return total / _weft.sum(_weft.zeros_like(values) + sample_weight)
        if reduction in ("mean", "weighted_mean"):
            return total / _weft.sum(_weft.ones_like(values))
        raise _weft.ValueError(
            f"{type(self).__name__}: reduction is {reduction!r}: it is 'mean', 'sum', "
            "'weighted_mean' or 'none'"
        )

    def __repr__(self) -> str:
        return f"<weft.losses.{type(self).__name__}>"


class _OfLibrary(Loss):
    """A loss of the library with options of its own."""

    _function: Any = None
    _made_by_init = ("name", "reduction", "_options")

    @options
    def __init__(self, reduction: str | None = "mean", name: str | None = None) -> None:
        super().__init__(reduction, name)
        self._options: dict[str, Any] = {}

    def call(self, targets: Any, predictions: Any) -> Tensor:
        """The value of each sample."""
        return self._called(targets, predictions, reduction="none")

    @users_lines
    def __call__(self, targets: Any, predictions: Any, sample_weight: Any = None) -> Tensor:
        return self._called(
            targets, predictions, reduction=self.reduction, weights=sample_weight
        )

    def _called(self, targets: Any, predictions: Any, **options: Any) -> Tensor:
        function: Any = type(self)._function
        return function(targets, predictions, **self._options, **options)


class BinaryCrossentropy(_OfLibrary):
    """The mean of -(y log(p) + (1 - y) log(1 - p)) of probabilities, or of logits.

    >>> wf.losses.BinaryCrossentropy()([1.0, 0.0], [0.5, 0.5])
    tensor(0.6931472, shape=(), dtype=float32)
    """

    _function = staticmethod(binary_cross_entropy)

    @options
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        reduction: str | None = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self._options = {"from_logits": from_logits, "label_smoothing": label_smoothing}


class CategoricalCrossentropy(_OfLibrary):
    """-sum(labels * log(probabilities)), for labels that are probabilities, one-hot ones say.

    >>> wf.losses.CategoricalCrossentropy()([[0.0, 1.0]], [[0.5, 0.5]])
    tensor(0.6931472, shape=(), dtype=float32)
    """

    _function = staticmethod(categorical_cross_entropy)

    @options
    def __init__(
        self,
        from_logits: bool = False,
        label_smoothing: float = 0.0,
        reduction: str | None = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self._options = {"from_logits": from_logits, "label_smoothing": label_smoothing}


class SparseCategoricalCrossentropy(_OfLibrary):
    """-log(probability of the label), for labels that are class numbers.

    >>> loss = wf.losses.SparseCategoricalCrossentropy(from_logits=True)
    >>> loss([0, 1], [[2.0, 0.0], [0.0, 2.0]])
    tensor(0.12692805, shape=(), dtype=float32)
    """

    _function = staticmethod(sparse_categorical_cross_entropy)

    @options
    def __init__(
        self,
        from_logits: bool = False,
        ignore_class: int | None = None,
        reduction: str | None = "mean",
        name: str | None = None,
    ) -> None:
        super().__init__(reduction, name)
        self._options = {"from_logits": from_logits, "ignored_label": ignore_class}


class Huber(_OfLibrary):
    """Squares of small differences, absolute values of large ones.

    >>> wf.losses.Huber(delta=1.0)([0.0, 0.0], [0.5, 3.0])
    tensor(1.3125, shape=(), dtype=float32)
    """

    _function = staticmethod(huber)

    @options
    def __init__(
        self, delta: float = 1.0, reduction: str | None = "mean", name: str | None = None
    ) -> None:
        super().__init__(reduction, name)
        self._options = {"delta": delta}


class MeanSquaredError(_OfLibrary):
    """The mean of the squared differences.

    >>> loss = wf.losses.MeanSquaredError()
    >>> loss([[1.0], [2.0]], [[1.0], [4.0]])
    tensor(2.0, shape=(), dtype=float32)
    >>> loss([[1.0], [2.0]], [[1.0], [4.0]], sample_weight=[1.0, 0.5])
    tensor(1.0, shape=(), dtype=float32)
    """

    _function = staticmethod(mean_squared_error)


class MeanAbsoluteError(_OfLibrary):
    """The mean of the differences' absolute values.

    >>> wf.losses.MeanAbsoluteError()([1.0, 2.0], [1.0, 4.0])
    tensor(1.0, shape=(), dtype=float32)
    """

    _function = staticmethod(mean_absolute_error)


class LogCosh(_OfLibrary):
    """The mean of log(cosh(predictions - targets)).

    >>> wf.losses.LogCosh()([0.0, 0.0], [0.0, 1.0])
    tensor(0.2168904, shape=(), dtype=float32)
    """

    _function = staticmethod(log_cosh)


class KLDivergence(_OfLibrary):
    """sum(y log(y / p)) of probabilities.

    >>> wf.losses.KLDivergence()([[0.5, 0.5]], [[0.25, 0.75]])
    tensor(0.14384106, shape=(), dtype=float32)
    """

    _function = staticmethod(kl_divergence)


class Poisson(_OfLibrary):
    """The mean of p - y log(p), for counts y and expectations p.

    >>> wf.losses.Poisson()([1.0, 2.0], [2.0, 2.0])
    tensor(0.9602792, shape=(), dtype=float32)
    """

    _function = staticmethod(poisson)


class Hinge(_OfLibrary):
    """The mean of max(1 - y p, 0).

    >>> wf.losses.Hinge()([1.0, -1.0], [0.5, 0.5])
    tensor(1.0, shape=(), dtype=float32)
    """

    _function = staticmethod(hinge)


class SquaredHinge(_OfLibrary):
    """The mean of the squares of max(1 - y p, 0).

    >>> wf.losses.SquaredHinge()([1.0, -1.0], [0.5, 0.5])
    tensor(1.25, shape=(), dtype=float32)
    """

    _function = staticmethod(squared_hinge)


class CategoricalHinge(_OfLibrary):
    """max(max((1 - y) p) - sum(y p) + 1, 0), for labels that are one-hot.

    >>> wf.losses.CategoricalHinge()([[0.0, 1.0]], [[0.5, 2.0]])
    tensor(0.0, shape=(), dtype=float32)
    """

    _function = staticmethod(categorical_hinge)


class CosineSimilarity(_OfLibrary):
    """Minus the cosine of the angle between vectors.

    >>> wf.losses.CosineSimilarity()([[0.0, 2.0]], [[0.0, 3.0]])
    tensor(-1.0, shape=(), dtype=float32)
    """

    _function = staticmethod(cosine_similarity)
