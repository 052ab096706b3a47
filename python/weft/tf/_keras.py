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


class SGD(wf.optimizers.SGD):
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
        super().__init__(
            learning_rate=_rate(learning_rate),
            momentum=momentum,
            nesterov=nesterov,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )


class Adam(wf.optimizers.Adam):
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
        super().__init__(
            learning_rate=_rate(learning_rate),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=epsilon,
            amsgrad=amsgrad,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )


class AdamW(wf.optimizers.AdamW):
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
        super().__init__(
            learning_rate=_rate(learning_rate),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=epsilon,
            amsgrad=amsgrad,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )


class RMSprop(wf.optimizers.RMSprop):
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
        super().__init__(
            learning_rate=_rate(learning_rate),
            rho=rho,
            momentum=momentum,
            epsilon=epsilon,
            centered=centered,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )


class Adagrad(wf.optimizers.Adagrad):
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
        super().__init__(
            learning_rate=_rate(learning_rate),
            initial_accumulator=initial_accumulator_value,
            epsilon=epsilon,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )


class Adadelta(wf.optimizers.Adadelta):
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
        super().__init__(
            learning_rate=_rate(learning_rate),
            rho=rho,
            epsilon=epsilon,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )


class Lamb(wf.optimizers.Lamb):
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
        super().__init__(
            learning_rate=_rate(learning_rate),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=epsilon,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )


class Lion(wf.optimizers.Lion):
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
        super().__init__(
            learning_rate=_rate(learning_rate),
            beta1=beta_1,
            beta2=beta_2,
            **_common(weight_decay, clipnorm, clipvalue, global_clipnorm),
        )
