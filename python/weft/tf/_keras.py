"""Optimizers with Keras' parameters."""

from __future__ import annotations

from typing import Any

import weft as wf

__all__ = ["SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Lamb", "Lion", "RMSprop"]


def _rate(learning_rate: Any) -> Any:
    """A number as a variable, which can be assigned also once functions are compiled."""
    if isinstance(learning_rate, int | float):
        return wf.Variable(float(learning_rate), False, "learning_rate", "float32")
    return learning_rate


def _common(
    weight_decay: Any, clipnorm: Any, clipvalue: Any, global_clipnorm: Any
) -> dict[str, Any]:
    """What all optimizers take, where it is given."""
    options = {
        "weight_decay": weight_decay,
        "clip_norm": clipnorm,
        "clip_value": clipvalue,
        "clip_global_norm": global_clipnorm,
    }
    return {name: value for name, value in options.items() if value is not None}


class Deferred:
    """An optimizer whose variables come with the first gradients, or by a checkpoint that holds the
    model before: then there is another that is made for the model, and does its work."""

    _made: Any = None
    _options: dict[str, Any]

    def _initialize(self, kind: Any, options: dict[str, Any]) -> None:
        kind.__init__(self, **options)
        self._kind, self._options = kind, options

    def made_for(self, model: Any) -> Any:
        """What a checkpoint keeps: the optimizer, or the one for the model if it has no variables."""
        if self._made is None and not self._kind.state.__get__(self):
            self._made = self._kind(model, **self._options)
        return self if self._made is None else self._made

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """Updates the variables by `zip(gradients, variables)`. A gradient that is None leaves its
        variable as it is."""
        if self._made is not None:
            return self._made.apply_gradients(grads_and_vars)
        return self._kind.apply_gradients(self, grads_and_vars)

    def _get(self, word: str) -> Any:
        if self._made is not None:
            return getattr(self._made, word)
        return getattr(self._kind, word).__get__(self)

    @property
    def step(self) -> Any:
        """The number of updates so far."""
        return self._get("step")

    @property
    def variables(self) -> Any:
        """The variables that it updates."""
        return self._get("variables")

    @property
    def state(self) -> Any:
        """Its own variables: the step, then what it keeps for each."""
        return self._get("state")


class SGD(Deferred, wf.optimizers.SGD):
    """Gradient descent, with momentum: w -= learning_rate g."""

    def __init__(
        self,
        learning_rate: Any = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "SGD",
    ) -> None:
        options: dict[str, Any] = dict(
            learning_rate=_rate(learning_rate),
            momentum=momentum,
            nesterov=nesterov,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
        self._initialize(wf.optimizers.SGD, options)


class Adam(Deferred, wf.optimizers.Adam):
    """Adam (Kingma & Ba 2015)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "adam",
    ) -> None:
        options: dict[str, Any] = dict(
            learning_rate=_rate(learning_rate),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=epsilon,
            amsgrad=amsgrad,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
        self._initialize(wf.optimizers.Adam, options)


class AdamW(Deferred, wf.optimizers.AdamW):
    """Adam with decoupled weight decay (Loshchilov & Hutter 2019)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        amsgrad: bool = False,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "adamw",
    ) -> None:
        options: dict[str, Any] = dict(
            learning_rate=_rate(learning_rate),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=epsilon,
            amsgrad=amsgrad,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
        self._initialize(wf.optimizers.AdamW, options)


class RMSprop(Deferred, wf.optimizers.RMSprop):
    """RMSprop (Hinton 2012)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-7,
        centered: bool = False,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "rmsprop",
    ) -> None:
        options: dict[str, Any] = dict(
            learning_rate=_rate(learning_rate),
            rho=rho,
            momentum=momentum,
            epsilon=epsilon,
            centered=centered,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
        self._initialize(wf.optimizers.RMSprop, options)


class Adagrad(Deferred, wf.optimizers.Adagrad):
    """Adagrad (Duchi et al. 2011)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        initial_accumulator_value: float = 0.1,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "adagrad",
    ) -> None:
        options: dict[str, Any] = dict(
            learning_rate=_rate(learning_rate),
            initial_accumulator=initial_accumulator_value,
            epsilon=epsilon,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
        self._initialize(wf.optimizers.Adagrad, options)


class Adadelta(Deferred, wf.optimizers.Adadelta):
    """Adadelta (Zeiler 2012)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        rho: float = 0.95,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "adadelta",
    ) -> None:
        options: dict[str, Any] = dict(
            learning_rate=_rate(learning_rate),
            rho=rho,
            epsilon=epsilon,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
        self._initialize(wf.optimizers.Adadelta, options)


class Lamb(Deferred, wf.optimizers.Lamb):
    """LAMB (You et al. 2020)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "lamb",
    ) -> None:
        options: dict[str, Any] = dict(
            learning_rate=_rate(learning_rate),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=epsilon,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
        self._initialize(wf.optimizers.Lamb, options)


class Lion(Deferred, wf.optimizers.Lion):
    """Lion (Chen et al. 2023)."""

    def __init__(
        self,
        learning_rate: Any = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.99,
        weight_decay: float | None = None,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        name: str = "lion",
    ) -> None:
        options: dict[str, Any] = dict(
            learning_rate=_rate(learning_rate),
            beta1=beta_1,
            beta2=beta_2,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
        self._initialize(wf.optimizers.Lion, options)
