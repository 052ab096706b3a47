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
from weft._signatures import init_of
from weft._tracebacks import users_lines
from weft._weft import Tensor

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
    reduction: Any
    name: Any

    @options
    def __init__(self, reduction: str | None = "mean", name: str | None = None) -> None:
        _initialize(self, reduction, name)

    def call(self, targets: Any, predictions: Any) -> Any:
        """The value of each sample. A subclass has its own."""
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

    def start(self: Any, values: dict[str, Any]) -> None:
        _initialize(self, values["reduction"], values["name"])
        self._options = {member: values[parameter] for parameter, member in members.items()}

    logits = "from_logits=True" if "from_logits" in members else ""
    called = f"wf.losses.{name}({logits})("
    text = function.__doc__.replace(f"wf.losses.{function.__name__}(", called)
    own = {"_function": staticmethod(function), "__doc__": text, "__module__": __name__}
    return type(name, (_OfLibrary,), {"__init__": init_of(parameters, start), **own})


def _of_probabilities(function: Any) -> Any:
    """A cross entropy with Keras' spelling, whose scores are probabilities by default."""

    def call(labels: Any, scores: Any, from_logits: bool = False, **options: Any) -> Tensor:
        return function(labels, scores, from_logits=from_logits, **options)

    name: str = function.__name__
    call.__name__ = call.__qualname__ = name.replace("_entropy", "entropy")
    example: str = function.__doc__.partition(f"wf.losses.{name}(")[2].replace(")\n", ", from_logits=True)\n", 1)
    call.__doc__ = f"`{name}` of probabilities, or of logits.\n\nExample:\n    >>> wf.losses.{call.__name__}({example}"
    return users_lines(call)


for _name, _function, _parameters, _members in _losses.internal_classes:
    _made: list[Any] = [_class_of(_name, _function, _parameters, _members)]
    if "from_logits" in _members:
        _made.append(_of_probabilities(_function))
    for _each in _made:
        setattr(_losses, _each.__name__, _each)
        _losses.__all__.append(_each.__name__)

from weft._losses import *  # noqa: E402, F403

__all__ = ["Loss"]
__all__ += _losses.__all__
