"""Layers of the user, and optimizers with Keras' parameters."""

from __future__ import annotations

from typing import Any, cast

import weft as wf
from weft import _optimizers as _bound, _weft
from weft._bases import minimized
from weft._absent import refuse_keywords
from weft._signatures import init_of, parameters_of
from weft._trees import is_dict, is_listed
from weft.modules import is_part

from ._methods import Called
from ._replicas import updated

# Their parameters are checked when they are called.
_optimizers: Any = wf.optimizers
_networks: Any = wf.nn

__all__ = ["Layer", "LearningRateSchedule", "Module", "Optimizer", "optimizer_of"]


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
        elif is_part(value):
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


def optimizer_of(name: Any) -> Any:
    """The optimizer of a name, in any case of letters, or one itself. Throws ValueError."""
    if not isinstance(name, str):
        return name
    # The module has what stands beside optimizers too, a scale of losses.
    optimizers = [x for x in _bound.__all__ if issubclass(getattr(_bound, x), _weft.Optimizer)]
    kinds = {each.lower(): each for each in optimizers}
    if name.lower() not in kinds:
        raise _weft.ValueError(f"there is no optimizer {name!r}: there are {', '.join(kinds)}")
    return globals()[kinds[name.lower()]]()


class Deferred:
    """An optimizer whose variables come with the first gradients, or by a checkpoint that holds the
    model before: then there is another that is made for the model, and does its work."""

    _made: Any = None
    _kind: Any = None
    """The class of the library that it is one of."""
    _options: dict[str, Any]
    candidates: Any = None
    """The models by name of which one or some are what it updates, until the first update says so."""

    def _initialize(self, options: dict[str, Any]) -> None:
        self._kind.__init__(self, **options)
        self._options = options

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

    def apply_gradients(
        self, grads_and_vars: Any, name: str | None = None, skip_gradients_aggregation: bool = False
    ) -> Any:
        """Updates the variables by `zip(gradients, variables)`. A gradient that is None leaves its
        variable as it is. In a replica of a strategy it is by the sum of all replicas' gradients, unless
        `skip_gradients_aggregation` says that they have been added up."""
        return updated(self, grads_and_vars, self._apply, not skip_gradients_aggregation)

    def _apply(self, grads_and_vars: Any) -> Any:
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

    def apply_gradients(
        self, grads_and_vars: Any, name: str | None = None, skip_gradients_aggregation: bool = False
    ) -> None:
        """Updates the variables by `zip(gradients, variables)`; in a replica of a strategy by the sum of
        all replicas' gradients."""
        base: Any = super()
        updated(self, grads_and_vars, base.apply_gradients, not skip_gradients_aggregation)

    def minimize(self, loss: Any, var_list: Any = None, **other: Any) -> Any:
        """Runs `loss`, a function without parameters, updates the variables by its gradients, and gives
        what it gave."""
        if other:
            refuse_keywords("minimize", other, ["loss", "var_list"])
        return minimized(self, loss, var_list, True)


Optimizer.register(Deferred)


# Keras' names of options that the library calls something else.
_SPELLED = {
    "beta1": "beta_1",
    "beta2": "beta_2",
    "initial_accumulator": "initial_accumulator_value",
    "clip_norm": "clipnorm",
    "clip_value": "clipvalue",
    "clip_global_norm": "global_clipnorm",
}
_LAST = ("weight_decay", "clip_norm", "clip_value", "clip_global_norm")
"""What all have, behind their own options, None where it is not given."""
_WITHOUT = ("variables", "no_decay", "average", "accumulate", "name")


def _optimizer(word: str, first: tuple[str, ...] = ("learning_rate",)) -> Any:
    """An optimizer of the library with Keras' parameters: those that are `first`, its own, and what all
    have."""
    kind: Any = getattr(_optimizers, word)
    known = parameters_of(f"weft.optimizers.{word}")
    own = [name for name in known if name not in (*first, *_LAST, *_WITHOUT)]
    defaults = {name: known[name][1] for name in (*first, *own)}
    defaults |= dict.fromkeys((name for name in _LAST if name not in first), "None")
    members = {_SPELLED.get(name, name): name for name in defaults}
    parameters = [f"{_SPELLED.get(name, name)}={default}" for name, default in defaults.items()]

    def start(self: Any, values: dict[str, Any]) -> None:
        values["learning_rate"] = _rate(values["learning_rate"])
        given = {member: values[name] for name, member in members.items()}
        self._initialize({n: v for n, v in given.items() if v is not None or n not in _LAST})

    init = init_of(", ".join([*parameters, f"name={word.lower()!r}"]), start)
    own_names = {"__init__": init, "__doc__": kind.__doc__.partition("\n\n")[0], "__module__": __name__}
    return type(word, (Deferred, kind), {"_kind": kind, **own_names})


SGD, Adam, RMSprop = _optimizer("SGD"), _optimizer("Adam"), _optimizer("RMSprop")
AdamW = _optimizer("AdamW", ("learning_rate", "weight_decay"))
Adagrad, Adadelta = _optimizer("Adagrad"), _optimizer("Adadelta")
Lamb, Lion = _optimizer("Lamb"), _optimizer("Lion")


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
