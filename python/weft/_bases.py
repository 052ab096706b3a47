"""What layers, optimizers and metrics of the user derive from.

Those of the library, which are classes of C++, are registered as theirs, as the abstract classes of
the standard library have it.
"""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable
from typing import Any, cast

from weft import _weft
from weft._arguments import integers, known_sizes, shown
from weft._tracebacks import users_lines
from weft._trees import is_dict, is_listed
from weft.modules import Model, Module

__all__ = ["Layer", "Metric", "Optimizer", "variable_of"]


def _refuse_itself(self: Any, base: Any, methods: str) -> None:
    if type(self) is base:
        raise TypeError(
            f"{base.__name__} is what classes derive from: write a subclass with {methods}, or take one of "
            "the library's"
        )


@users_lines
def variable_of(
    function: str, shape: Any, initializer: Any, dtype: Any, trainable: bool, name: str | None
) -> _weft.Variable:
    """A variable of that shape, with values that an initializer or its name gives. It exists at
    once, also where a function is traced."""
    draw = initializer
    if isinstance(initializer, str):
        draw = _weft.internal_initializer_by_name(function, initializer)
    if not callable(draw):
        raise TypeError(
            f"{function}: initializer is {shown(draw)}: the name of one is wanted, such as 'zeros', or a "
            "function of a shape and a dtype"
        )
    wanted = tuple(integers(f"{function}: shape", shape))
    if min(wanted, default=0) < 0:
        raise _weft.ShapeError(f"{function}: shape is {wanted}: no size is negative")
    kind = dtype or "float32"

    def create() -> _weft.Variable:
        values: Any = draw(wanted, kind)
        if values is None:
            raise TypeError(f"{function}: the initializer gave None: a tensor of the shape {wanted} is wanted")
        variable = _weft.Variable(values, trainable, name, kind)
        if tuple(variable.shape) != wanted:
            raise _weft.ShapeError(
                f"{function}: the initializer gave the shape {tuple(variable.shape)}, but {wanted} is wanted"
            )
        return variable

    return _weft.internal_eagerly(create)


class Layer(Model, metaclass=ABCMeta):
    """A layer of the user: `build(self, input_shape)` makes its variables by `add_weight` before
    the first call, and `call(self, x)` computes its result. It is a Model, and stands wherever
    layers do.

    >>> class Scale(wf.nn.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight(input_shape[-1:], "ones")
    ...     def call(self, x):
    ...         return x * self.factor
    >>> model = wf.Sequential([wf.nn.Dense(2), Scale()])
    >>> model(wf.ones((4, 3))).shape
    (4, 2)
    >>> list(model.named_variables())
    ['0.kernel', '0.bias', '1.factor']
    """

    def __init__(self, name: str | None = None) -> None:
        _refuse_itself(self, Layer, "a method call(self, x)")
        super().__init__(name)

    def add_weight(
        self,
        shape: Any = (),
        initializer: Any = "glorot_uniform",
        dtype: Any = "float32",
        trainable: bool = True,
        name: str | None = None,
    ) -> _weft.Variable:
        """A variable of that shape, with values that an initializer or its name gives. An attribute
        that it is assigned to makes it one of the layer's."""
        return variable_of("add_weight", shape, initializer, dtype, trainable, name)

    def build(self, input_shape: Any, dtype: Any = "float32") -> Any:
        """Makes the variables, for inputs of that shape. A subclass has its own."""
        vars(self)["_is_built"] = True

    def _weft_call(self, call: Any, args: Any, kwargs: Any) -> Any:
        if "_is_built" not in self.__dict__:
            given: list[Any] = [*args, *(kwargs or {}).values()]
            shape = _shape_of(given[0]) if given else None
            # Not recorded: variables start with values, random ones too.
            _weft.internal_eagerly(lambda: self.build(shape))
            vars(self)["_is_built"] = True
        return super()._weft_call(call, args, kwargs)


def _shape_of(x: Any) -> Any:
    """The shape of an input, or a list of those of several."""
    if isinstance(x, _weft.Tensor | _weft.Variable):
        return known_sizes(x.shape)
    if isinstance(x, list | tuple) and all(hasattr(each, "shape") for each in cast("list[Any]", x)):
        return [known_sizes(each.shape) for each in cast("list[Any]", x)]
    given = cast("Any", x)
    return None if given is None or is_dict(given) else known_sizes(_weft.asarray(given).shape)


class Metric(Module, metaclass=ABCMeta):
    """A metric of the user: `update` adds a batch to variables of `add_weight`, `result`
    says what they amount to, and `reset` begins anew, with zeros unless a subclass has its own.

    >>> class Largest(wf.metrics.Metric):
    ...     def __init__(self):
    ...         super().__init__(name="largest")
    ...         self.value = self.add_weight()
    ...     def update(self, y, predictions):
    ...         self.value.assign(wf.maximum(self.value, wf.max(predictions)))
    ...     def result(self):
    ...         return self.value.value()
    >>> largest = Largest()
    >>> largest(0, wf.tensor([1.0, 3.0, 2.0]))
    tensor(3.0, shape=(), dtype=float32)
    """

    def __init__(self, name: str | None = None) -> None:
        _refuse_itself(self, Metric, "methods update and result")
        super().__init__(name)

    def add_weight(
        self,
        shape: Any = (),
        initializer: Any = "zeros",
        dtype: Any = "float32",
        name: str | None = None,
    ) -> _weft.Variable:
        """A variable that is not trained, with values that an initializer or its name gives."""
        return variable_of("add_weight", shape, initializer, dtype, False, name)

    def update(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch: in `fit` its labels and predictions."""
        raise NotImplementedError(f"{type(self).__name__} has no method update")

    def result(self) -> Any:
        """What the batches so far amount to."""
        raise NotImplementedError(f"{type(self).__name__} has no method result")

    def reset(self) -> None:
        """Puts zeros into all variables."""
        for variable in self.variables:
            variable.assign(_weft.zeros_like(variable))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a batch, and gives the result."""
        self.update(*args, **kwargs)
        return self.result()


class Optimizer(Module, metaclass=ABCMeta):
    """An optimizer of the user: `update_step(self, gradient, variable, learning_rate)` updates one
    variable, with what `slot` keeps for it.

    As those of the library it is made for a model or a list of variables, or, without either, for
    those of its first update; a learning rate is a number, a schedule, a function of the number of
    updates, or a Variable. Checkpoints save its step and slots.

    >>> class Momentum(wf.optimizers.Optimizer):
    ...     def update_step(self, gradient, variable, learning_rate):
    ...         velocity = self.slot(variable, "velocity")
    ...         velocity.assign(0.5 * velocity - learning_rate * gradient)
    ...         variable.assign_add(velocity)
    >>> w = wf.Variable([1.0])
    >>> optimizer = Momentum([w], learning_rate=0.25)
    >>> for _ in range(2):
    ...     loss = optimizer.minimize(lambda: wf.sum(2 * w))
    >>> w.value(), optimizer.step
    (tensor([-0.25], shape=(1,), dtype=float32), tensor(2, shape=(), dtype=int64))
    """

    @users_lines
    def __init__(
        self, variables: Any = None, learning_rate: Any = 0.01, *, name: str | None = None
    ) -> None:
        _refuse_itself(self, Optimizer, "a method update_step(self, gradient, variable, learning_rate)")
        super().__init__(name)
        rates = (int, float, _weft.Schedule)
        is_model = isinstance(variables, Module | _weft.internal_part)
        if isinstance(variables, rates) or (callable(variables) and not is_model):
            variables, learning_rate = None, variables
        if not isinstance(learning_rate, (*rates, _weft.Variable)) and not callable(learning_rate):
            raise TypeError(
                f"{type(self).__name__}: learning_rate is a {type(learning_rate).__name__}: a number, a "
                "schedule, a function of the step or a Variable is wanted"
            )
        listed: Any = variables if is_listed(variables) else None
        if listed is not None and not all(isinstance(v, _weft.Variable) for v in listed):
            raise TypeError(f"{type(self).__name__}: a list of variables is wanted, or a model")
        self._trained: Any = variables if listed is None else list(listed)
        self._rate = learning_rate
        self._step: Any = _weft.internal_eagerly(lambda: _weft.Variable(0, False, "step", "int64"))
        self._slots: dict[str, Any] = {}
        self._is_built = False

    def _initialized(self) -> Any:
        if "_slots" not in self.__dict__:
            raise _weft.StateError(
                f"this {type(self).__name__} was never initialized: call super().__init__() first in the "
                "__init__ of its class"
            )
        return self

    def _weft_parts(self) -> list[tuple[str, Any]]:  # pyright: ignore[reportIncompatibleVariableOverride]
        of = self._initialized().__dict__
        own = ("_trained", "_rate", "_step", "_slots", "_is_built")
        rate = [("learning_rate", self._rate)] if isinstance(self._rate, _weft.Variable) else []
        parts = [("step", self._step), *rate, ("slots", self._slots)]
        return parts + [(name, value) for name, value in of.items() if name not in own]

    # What it updates, and by what.

    def build(self, variables: list[Any]) -> None:
        """Is called once before the first update, with the variables that it is for. A subclass may
        make its slots there."""

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable. A subclass says how."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method update_step(self, gradient, variable, learning_rate)"
        )

    def slot(self, variable: Any, name: str, initializer: Any = "zeros") -> Any:
        """What it keeps under a name for a variable: another variable of its shape and dtype, with
        the initializer's values at first."""
        table = self._initialized()._slots.setdefault(name, {})
        *inside, last = self._path_of(variable).split(".")
        for part in inside:
            table = table.setdefault(part, {})
        if last not in table:
            table[last] = variable_of(
                "slot", variable.shape, initializer, variable.dtype, False, f"{variable.name}.{name}"
            )
        return table[last]

    def _path_of(self, variable: Any) -> str:
        for path, each in self._named().items():
            if each is variable:
                return path
        raise _weft.ValueError(
            f"{type(self).__name__}: the variable '{variable.name}' is none of those that the optimizer "
            "was made for or first updated: make an optimizer for it"
        )

    def _named(self) -> dict[str, Any]:
        if is_listed(self._trained):
            return {str(i): variable for i, variable in enumerate(self._trained)}
        if self._trained is None:
            return {}
        return {
            path: variable
            for path, variable in _weft.internal_named_variables(self._trained).items()
            if variable.trainable
        }

    @property
    def variables(self) -> list[Any]:
        """The variables that it updates and that have values, in the order of gradients."""
        return list(self._initialized()._named().values())

    @property
    def state(self) -> list[Any]:
        """Its own variables: the step, then what it keeps for each."""
        found: list[Any] = [self._initialized()._step]

        def add(table: Any) -> None:
            for entry in table.values():
                add(entry) if is_dict(entry) else found.append(entry)

        add(self._slots)
        return found

    @property
    def step(self) -> Any:
        """The number of updates so far, an int64 scalar."""
        return self._initialized()._step.value()

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the next update: the variable that it was made with, which can be
        assigned, or a float64 scalar."""
        rate: Any = self._initialized()._rate
        if isinstance(rate, _weft.Variable):
            return rate
        value: Any = rate(self.step) if callable(rate) else rate
        return _weft.cast(value, "float64")

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        rate = self._initialized()._rate
        if not isinstance(rate, _weft.Variable):
            raise _weft.StateError(
                f"{type(self).__name__}: the learning rate is part of compiled functions, and stays as it "
                "is: make the optimizer with learning_rate=weft.Variable(1e-3), which can be assigned"
            )
        rate.assign(value)

    # Updates.

    def prepare(self, model: Any) -> None:
        """Makes what it keeps for the variables of a model, without an update: what a checkpoint
        has is there before it is restored. An update is traced, not run."""
        from weft._function import function

        if self._initialized()._trained is None:
            self._trained = model
        if self.variables:
            zeros = [_weft.zeros_like(variable) for variable in self.variables]
            cast("Any", function(lambda: self.apply_gradients(zeros)))._trace()

    @users_lines
    def apply_gradients(self, gradients: Any) -> None:
        """Updates the variables: by zip(gradients, variables), or by gradients alone in the order
        of the variables that it was made for. A gradient that is None leaves its variable as it
        is."""
        pairs = self._initialized()._pairs(gradients)
        if not self._is_built:
            self.build(self.variables)
            self._is_built = True
        rate = self.learning_rate
        for gradient, variable in pairs:
            if gradient is not None:
                self.update_step(gradient, variable, _weft.cast(rate, variable.dtype))
        self._step.assign_add(1)

    def _pairs(self, gradients: Any) -> list[tuple[Any, Any]]:
        given: list[Any] = [*(gradients.values() if is_dict(gradients) else gradients)]
        if given and all(is_listed(g) and len(g) == 2 and isinstance(g[1], _weft.Variable) for g in given):
            if self._trained is None:
                self._trained = [variable for _, variable in given]
            for _, variable in given:
                self._path_of(variable)
            return [(gradient, variable) for gradient, variable in given]
        if self._trained is None:
            raise _weft.StateError(
                f"{type(self).__name__}: it was made without variables, so that the first gradients come "
                "with theirs: apply_gradients(zip(gradients, variables))"
            )
        variables = self.variables
        if len(given) != len(variables):
            raise _weft.ValueError(
                f"{type(self).__name__}: there are {len(given)} gradients for {len(variables)} parameters"
            )
        return list(zip(given, variables, strict=True))

    @users_lines
    def minimize(self, loss: Callable[[], Any], variables: Any = None) -> Any:
        """Runs `loss`, a function without parameters that gives a scalar, or a tuple whose first part
        is one and whose rest is carried along; updates by the scalar's gradients, and gives what it
        gave."""
        if self._initialized()._trained is None and variables is not None:
            self._trained = list(variables)
        return minimized(self, loss, variables, False)


def minimized(optimizer: Any, loss: Callable[[], Any], variables: Any, pairs: bool) -> Any:
    """Updates by the gradients of a loss, by the optimizer's own `apply_gradients`: of pairs with
    the variables, or of gradients in their order. Gives what the loss gave."""
    kind = type(optimizer).__name__
    with _weft.GradientTape() as tape:
        given = loss()
        has_more = is_listed(given) and len(given) != 0
        value = _weft.asarray(given[0] if has_more else given)
    if not value.dtype.is_floating:
        raise _weft.DTypeError(f"{kind}: minimize: the loss must be floating, but is {value.dtype}")
    if value.ndim:
        raise _weft.ShapeError(
            f"{kind}: minimize: the loss must be a scalar, but is {value.dtype}{tuple(value.shape)}: take "
            "its mean or sum"
        )
    of = list(optimizer.variables if variables is None else variables)
    if not of:
        raise _weft.StateError(
            f"{kind}: minimize was asked before the first update, and the optimizer was made without "
            f"variables: write {kind}(model), or apply gradients first"
        )
    gradients: list[Any] = tape.gradient(value, of)
    optimizer.apply_gradients(list(zip(gradients, of, strict=True)) if pairs else gradients)
    return given if has_more else value


Layer.register(_weft.Layer)
Metric.register(_weft.Metric)
Optimizer.register(_weft.Optimizer)
_weft.internal_set_optimizer_class(Optimizer)
