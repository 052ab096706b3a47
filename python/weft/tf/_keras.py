"""Layers of the user, and optimizers with Keras' parameters."""

from __future__ import annotations

from typing import Any, cast

import weft as wf
from weft import _weft
from weft._bases import minimized
from weft._absent import refuse_keywords
from weft._trees import is_dict, is_listed

from ._methods import Called

# Their parameters are checked when they are called.
_optimizers: Any = wf.optimizers
_networks: Any = wf.nn

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Lamb",
    "Layer",
    "LearningRateSchedule",
    "Lion",
    "Module",
    "Optimizer",
    "RMSprop",
    "optimizer_of",
]


class Module(wf.Module):
    """A Module whose variables and submodules are tuples, as TensorFlow has them: the attributes by
    their names, those of a module before those of the modules in it."""

    @property
    def variables(self) -> Any:
        """All variables, each once."""
        return tuple(_variables_of(self, {}, set()).values())

    @property
    def trainable_variables(self) -> Any:
        """Those that training changes."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def non_trainable_variables(self) -> Any:
        """Those that training does not change."""
        return tuple(v for v in self.variables if not v.trainable)

    @property
    def submodules(self) -> Any:
        """The Modules and layers in it, each once."""
        return tuple(super().submodules)


def _variables_of(module: Any, found: dict[int, Any], seen: set[int]) -> dict[int, Any]:
    seen.add(id(module))
    inner: list[Any] = []

    def visit(value: Any) -> None:
        if isinstance(value, wf.Variable):
            found.setdefault(id(value), value)
        elif isinstance(value, wf.Module | _weft.internal_part):
            if not isinstance(value, _optimizers.Optimizer):
                inner.append(value)
        elif is_dict(value):
            entries: list[tuple[Any, Any]] = [*value.items()]
            for _, entry in sorted(entries, key=lambda item: str(item[0])):
                visit(entry)
        elif is_listed(value):
            for each in value:
                visit(each)

    own = cast("dict[str, Any]", vars(module))
    for name in sorted(own):
        visit(own[name])
    for each in inner:
        if not isinstance(each, Module):
            for variable in each.variables:
                found.setdefault(id(variable), variable)
        elif id(each) not in seen:
            _variables_of(each, found, seen)
    return found


class LearningRateSchedule:
    """A learning rate of the user: `__call__(self, step)` says what it is after so many updates."""

    def __call__(self, step: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method __call__(self, step)")


def _rate(learning_rate: Any) -> Any:
    """A number as a variable, which can be assigned also once functions are compiled; a function
    without parameters as one of the step."""
    if isinstance(learning_rate, int | float):
        return wf.Variable(float(learning_rate), False, "learning_rate", "float32")
    code: Any = getattr(learning_rate, "__code__", None)
    if code is not None and code.co_argcount == 0:

        def rate(step: Any) -> Any:
            return learning_rate()

        return rate
    return learning_rate


_OPTIMIZERS = ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Lamb", "Lion")


def optimizer_of(name: Any) -> Any:
    """The optimizer of a name, in any case of letters, or one itself. Throws ValueError."""
    if not isinstance(name, str):
        return name
    kinds = {each.lower(): each for each in _OPTIMIZERS}
    if name.lower() not in kinds:
        raise _weft.ValueError(f"there is no optimizer {name!r}: there are {', '.join(kinds)}")
    return globals()[kinds[name.lower()]]()


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
    candidates: Any = None
    """The models by name of which one or some are what it updates, until the first update says so."""

    def _initialize(self, kind: Any, options: dict[str, Any]) -> None:
        kind.__init__(self, **options)
        self._kind, self._options = kind, options

    def made_for(self, model: Any) -> Any:
        """What a checkpoint keeps: the optimizer, or, before it has variables, one for the model."""
        if self._made is None and not self._kind.state.__get__(self):
            self._made = self._kind(model, **self._options)
        return self if self._made is None else self._made

    def part_of_checkpoint(self) -> Any:
        """The optimizer that has variables: itself or the one made for the model; None if neither."""
        if self._made is not None:
            return self._made
        return self if self.candidates is None or self._kind.state.__get__(self) else None

    def _choose(self, pairs: list[Any]) -> None:
        """Makes it for those of the candidates whose variables these are, if they are all of theirs."""
        given = {id(variable) for _, variable in pairs}
        models: dict[str, Any] = {}
        for name, model in self.candidates.items():
            own = {id(variable) for variable in model.trainable_variables}
            if own and own <= given:
                models[name] = model
                given -= own
        if models and not given:
            self._make_for(models)
        self.candidates = None

    def _make_for(self, models: dict[str, Any]) -> None:
        """Makes it for some of the candidates; for the only one there is by the paths in it."""
        alone = len(self.candidates) == 1
        self.made_for(next(iter(models.values())) if alone else models)

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """Updates the variables by `zip(gradients, variables)`. A gradient that is None leaves its
        variable as it is."""
        if self.candidates is not None and self._made is None:
            grads_and_vars = list(grads_and_vars)
            self._choose(grads_and_vars)
        if self._made is not None:
            return self._made.apply_gradients(grads_and_vars)
        return self._kind.apply_gradients(self, grads_and_vars)

    def minimize(self, loss: Any, var_list: Any = None, **other: Any) -> Any:
        """Runs `loss`, a function without parameters, updates the variables by its gradients, and gives
        what it gave."""
        if other:
            refuse_keywords("minimize", other, ["loss", "var_list"])
        return minimized(self, loss, var_list, True)

    def _get(self, word: str) -> Any:
        if self._made is not None:
            return getattr(self._made, word)
        return getattr(self._kind, word).__get__(self)

    @property
    def learning_rate(self) -> Any:
        """The learning rate: a variable, or what a schedule says of the next update. A number is
        assigned to it, in compiled functions as well."""
        return self._get("learning_rate")

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        rate = self._options["learning_rate"]
        if not isinstance(rate, wf.Variable):
            raise _weft.StateError(
                f"{type(self).__name__}: the learning rate follows a schedule, and is not assigned"
            )
        rate.assign(value)

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


class Optimizer(_optimizers.Optimizer):
    """An optimizer of the user: `update_step(self, gradient, variable, learning_rate)` updates one
    variable, and `build(self, variables)` makes what it keeps for them by
    `add_variable_from_reference`."""

    def __init__(self, learning_rate: Any = 0.001, name: str | None = None, **options: Any) -> None:
        if options:
            refuse_keywords(type(self).__name__, options, ["learning_rate", "name"])
        base: Any = super()
        base.__init__(None, _rate(learning_rate), name=name)

    @property
    def iterations(self) -> Any:
        """As `step`: the number of updates so far."""
        return self.step

    def add_variable_from_reference(
        self, reference_variable: Any, name: str = "slot", initializer: Any = "zeros"
    ) -> Any:
        """What is kept under a name for a variable: another one of its shape and dtype."""
        return self.slot(reference_variable, name, initializer)

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> None:
        """Updates the variables by `zip(gradients, variables)`."""
        base: Any = super()
        base.apply_gradients(grads_and_vars)

    def minimize(self, loss: Any, var_list: Any = None, **other: Any) -> Any:
        """Runs `loss`, a function without parameters, updates the variables by its gradients, and gives
        what it gave."""
        if other:
            refuse_keywords("minimize", other, ["loss", "var_list"])
        return minimized(self, loss, var_list, True)


Optimizer.register(Deferred)


class SGD(Deferred, _optimizers.SGD):
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
        self._initialize(_optimizers.SGD, options)


class Adam(Deferred, _optimizers.Adam):
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
        self._initialize(_optimizers.Adam, options)


class AdamW(Deferred, _optimizers.AdamW):
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
        self._initialize(_optimizers.AdamW, options)


class RMSprop(Deferred, _optimizers.RMSprop):
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
        self._initialize(_optimizers.RMSprop, options)


class Adagrad(Deferred, _optimizers.Adagrad):
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
        self._initialize(_optimizers.Adagrad, options)


class Adadelta(Deferred, _optimizers.Adadelta):
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
        self._initialize(_optimizers.Adadelta, options)


class Lamb(Deferred, _optimizers.Lamb):
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
        self._initialize(_optimizers.Lamb, options)


class Lion(Deferred, _optimizers.Lion):
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
        self._initialize(_optimizers.Lion, options)


# Layers.


class Layer(Called, _networks.Layer):
    """A layer of the user: `build(self, input_shape)` makes its variables by `add_weight` before
    the first call, and `call(self, inputs)` computes its result.

        class Scale(tf.keras.layers.Layer):
            def build(self, input_shape):
                self.factor = self.add_weight(shape=input_shape[-1:], initializer="ones")

            def call(self, inputs):
                return inputs * self.factor
    """

    def __init__(
        self, *, trainable: bool = True, name: str | None = None, dtype: Any = None, **options: Any
    ) -> None:
        known = {"input_shape"}
        if options.keys() - known:
            refuse_keywords(type(self).__name__, options, ["trainable", "name", "dtype", *known])
        base: Any = super()
        base.__init__(name)
        self.trainable = trainable
        self._casts = dtype is None or wf.dtype(dtype) != "float64"
        if "input_shape" in options:
            self.input_shape = tuple(options["input_shape"])

    def add_weight(
        self,
        shape: Any = (),
        initializer: Any = None,
        dtype: Any = None,
        trainable: bool = True,
        name: str | None = None,
    ) -> Any:
        """As that of `wf.nn.Layer`. Without an initializer floats are drawn by "glorot_uniform", and
        others are zeros."""
        kind = wf.dtype(dtype or "float32")
        start = ("glorot_uniform" if kind.is_floating else "zeros") if initializer is None else initializer
        base: Any = super()
        return base.add_weight(() if shape is None else shape, start, kind, trainable, name)

    def _weft_call(self, call: Any, args: Any, kwargs: Any) -> Any:
        casts = self.__dict__.get("_casts", True)
        base: Any = super()
        return base._weft_call(call, autocast(args) if casts else args, kwargs)


def autocast(x: Any) -> Any:
    """Inputs in float64, tensors and arrays of NumPy, as float32: layers cast them, as Keras has it."""
    if type(x) in (list, tuple):
        return type(x)(map(autocast, x))
    if getattr(getattr(x, "dtype", None), "name", "") != "float64" or isinstance(x, wf.Variable):
        return x
    return wf.cast(x, "float32")


Layer.register(_weft.Layer)
