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

from weft import _losses, _weft
from weft._arguments import NeedsInit, options
from weft._tracebacks import users_lines
from weft._weft import Tensor

@users_lines
def binary_crossentropy(labels: Any, scores: Any, from_logits: bool = False, **options: Any) -> Tensor:
    """`binary_cross_entropy` of probabilities, or of logits.

    >>> wf.losses.binary_crossentropy([1.0, 0.0], [0.5, 0.5])
    tensor(0.6931472, shape=(), dtype=float32)
    """
    return _losses.binary_cross_entropy(labels, scores, from_logits=from_logits, **options)


@users_lines
def categorical_crossentropy(
    labels: Any, scores: Any, from_logits: bool = False, **options: Any
) -> Tensor:
    """`categorical_cross_entropy` of probabilities, or of logits.

    >>> wf.losses.categorical_crossentropy([[0.0, 1.0]], [[0.5, 0.5]])
    tensor(0.6931472, shape=(), dtype=float32)
    """
    return _losses.categorical_cross_entropy(labels, scores, from_logits=from_logits, **options)


@users_lines
def sparse_categorical_crossentropy(
    labels: Any, scores: Any, from_logits: bool = False, **options: Any
) -> Tensor:
    """`sparse_categorical_cross_entropy` of probabilities, or of logits.

    >>> wf.losses.sparse_categorical_crossentropy([0], [[0.5, 0.5]])
    tensor(0.6931472, shape=(), dtype=float32)
    """
    return _losses.sparse_categorical_cross_entropy(labels, scores, from_logits=from_logits, **options)


_REDUCTIONS = {
    "sum_over_batch_size": "mean",
    "mean_with_sample_weight": "weighted_mean",
    "auto": "mean",
    None: "none",
}


def _initialize(loss: Any, reduction: str | None, name: str | None) -> None:
    loss.reduction = _REDUCTIONS.get(reduction, reduction)
    loss.name = name or type(loss).__name__


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
        _initialize(self, reduction, name)

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
    _options: dict[str, Any]

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


def _class_of(name: str, function: Any, parameters: str, members: dict[str, str]) -> type:
    """The class of a loss of the library: its parameters, which C++ says, are options of the
    function."""
    given = ", ".join(f"{member!r}: {parameter}" for parameter, member in members.items())
    space: dict[str, Any] = {"initialize": _initialize}
    source = (
        f"def __init__(self, {parameters}):\n"
        "    initialize(self, reduction, name)\n"
        f"    self._options = {{{given}}}"
    )
    exec(compile(source, __file__, "exec"), space)  # a frame of the package in tracebacks
    logits = "from_logits=True" if "from_logits" in members else ""
    called = f"wf.losses.{name}({logits})("
    text = function.__doc__.replace(f"wf.losses.{function.__name__}(", called)
    own = {"_function": staticmethod(function), "__doc__": text, "__module__": __name__}
    return type(name, (_OfLibrary,), {"__init__": options(space["__init__"]), **own})


for _name, *_rest in _losses.internal_classes:
    setattr(_losses, _name, _class_of(_name, *_rest))
    _losses.__all__.append(_name)

from weft._losses import *  # noqa: E402, F403

__all__ = [
    "Loss",
    "binary_crossentropy",
    "categorical_crossentropy",
    "sparse_categorical_crossentropy",
]
__all__ += _losses.__all__
