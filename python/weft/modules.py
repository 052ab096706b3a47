"""`weft.Module` and `weft.Model`: classes whose attributes are the variables and layers of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self, overload

from weft import _nn, _weft
from weft._arguments import known_sizes, options, shown, text
from weft._data import Dataset
from weft._signatures import takes, takes_training
from weft._tracebacks import clean, users_lines
from weft._trees import is_dict, is_listed
from weft._weft import RestoreStatus, Variable

__all__ = ["Model", "Module", "Sequential"]


class Module:
    """An object with variables: those among its attributes, and in the Modules, layers, lists,
    tuples, dicts and dataclasses among them. Nothing is registered: the attributes are looked at
    when somebody asks, so that what is appended to a list later counts as well.

    A variable has a path, the names of the attributes that lead to it: `blocks.1.w`. Modules may
    know each other. As arguments of traced functions they count by identity.

    >>> class Linear(wf.Module):
    ...     def __init__(self, inputs, units):
    ...         self.w = wf.Variable(wf.ones((inputs, units)))
    ...         self.b = wf.Variable(wf.zeros(units))
    ...     def __call__(self, x):
    ...         return x @ self.w + self.b
    >>> linear = Linear(3, 2)
    >>> linear(wf.ones((1, 3)))
    tensor([[3., 3.]], shape=(1, 2), dtype=float32)
    >>> list(linear.named_variables())
    ['w', 'b']
    """

    _weft_parts: Any = None

    def __init__(self, name: str | None = None) -> None:
        if name is not None:
            self.name = text(f"{type(self).__name__}: name", name)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for word in _RESERVED.intersection(vars(cls)):
            if not isinstance(vars(cls)[word], property):
                raise _weft.ValueError(
                    f"{cls.__name__}: a Module says by '{word}' what it holds: call the attribute "
                    "something else"
                )

    @property
    def variables(self) -> list[Variable]:
        """All variables, each once, in the order of the attributes; none of a layer that is not
        built yet. The state of an optimizer is none of a model's."""
        return _weft.internal_variables(self, True, True)

    @property
    def trainable_variables(self) -> list[Variable]:
        """Those that training changes."""
        return _weft.internal_variables(self, True, False)

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Those that training does not change, such as moving statistics."""
        return _weft.internal_variables(self, False, True)

    @users_lines
    def named_variables(self) -> dict[str, Variable]:
        """The variables by their paths. Those without names of their own are called by their paths
        from now on, and so are layers in messages."""
        return _weft.internal_named_variables(self)

    @property
    @users_lines
    def parameter_count(self) -> int:
        """How many floating numbers the variables hold. Raises StateError if one has no value yet:
        call the model first."""
        return _weft.internal_parameter_count(self)

    @property
    def submodules(self) -> list[Any]:
        """The Modules and layers in it, each once, those within others behind them."""
        return [part for part in _parts_of(self, {id(self)})]

    def __repr__(self) -> str:
        return _tree_of(self, set())

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_missing(self, name), name=name, obj=self)


_RESERVED = frozenset(
    "variables trainable_variables non_trainable_variables named_variables parameter_count submodules".split()
)


def _missing(module: Module, name: str) -> str:
    """What to say of an attribute that is not there."""
    kind = type(module).__name__
    if name == "name":
        return f"this {kind} was made without a name"
    text = f"'{kind}' object has no attribute {name!r}"
    known = module.__dict__
    if not known:
        text += f": it has no attributes at all; does {kind}.__init__ assign them?"
    return text


def _is_module(x: Any) -> bool:
    return isinstance(x, Module)


def is_part(x: Any) -> bool:
    """Whether it is a part of a model: a Module, a layer, a metric, but no data set."""
    return isinstance(x, Module | _weft.internal_part) and not isinstance(x, Dataset)


def _entries(x: Any) -> Iterator[tuple[str, Any]]:
    """The names and values in a Module or a container."""
    if is_dict(x):
        yield from ((str(key), value) for key, value in x.items())
    elif is_listed(x):
        yield from ((str(i), value) for i, value in enumerate(x))
    else:
        yield from _weft.internal_fields(x)


_DEEPEST = 500  # as in C++


def _parts_of(x: Any, seen: set[int], depth: int = 1, within: bool = True) -> Iterator[Any]:
    """The parts among the attributes and in containers of them, and those within these unless
    `within` is false."""
    if depth > _DEEPEST:
        raise _weft.ValueError(
            f"a model is nested too deep: more than {_DEEPEST} Modules and containers are in each other"
        )
    for _, value in _entries(x):
        inside = is_listed(value) or is_dict(value)
        if id(value) in seen or not (inside or is_part(value)):
            continue
        seen.add(id(value))
        if not inside:
            yield value
        if inside or within:
            yield from _parts_of(value, seen, depth + 1, within)


def _tree_of(x: Any, seen: set[int]) -> str:
    """A Module as its name and its parts, a line each."""
    if id(x) in seen:
        return f"{type(x).__name__}(...)"
    seen = seen | {id(x)}
    lines: list[str] = []
    for name, value in _entries(x):
        nested = _is_module(value) or is_listed(value) or is_dict(value)
        if nested and _holds_part(value, set()):
            text = _tree_of(value, seen)
        elif is_part(value):
            text = repr(value)
        elif type(value) is Variable:
            text = f"Variable({list(value.shape)}, {value.dtype})"
        else:
            continue
        lines += [f"  {line}" for line in f"{name}: {text}".split("\n")]
    kind = type(x).__name__
    return "\n".join([f"{kind}(", *lines, ")"]) if lines else f"{kind}()"


def _holds_part(x: Any, seen: set[int]) -> bool:
    """Whether there is a variable, a Module or a layer in it."""
    if id(x) in seen:
        return False
    seen.add(id(x))
    if is_part(x) or type(x) is Variable:
        return True
    return isinstance(x, list | tuple | dict) and any(_holds_part(v, seen) for _, v in _entries(x))


_weft.internal_set_module_class(Module)


# Calls of what is in a model.

Caller = Callable[[Any, tuple[Any, ...], dict[str, Any] | None], Any]


def _plainly(f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
    return f(*args, **kwargs) if kwargs else f(*args)


def _caller() -> Caller:
    """How the functions of the user are called: converted, within a function that is converted."""
    if _weft.internal_is_tracing():
        from weft._autograph.calls import converted_call
        from weft._autograph.staging import context

        if context.converts:
            return converted_call
    return _plainly


class Model(Module):
    """A Module that is called by its method `call`, which subclasses have, with any parameters.

    `model(x, training=True)` hands `training` on to a `call` that has the parameter, and drops it
    for others. Layers make their variables at the first call, or by `build`.

    >>> class Classifier(wf.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.hidden = wf.nn.Dense(64, activation="relu")
    ...         self.drop = wf.nn.Dropout(0.5)
    ...         self.out = wf.nn.Dense(10)
    ...     def call(self, x, training=False):
    ...         return self.out(self.drop(self.hidden(x), training=training))
    >>> model = Classifier()
    >>> model(wf.ones((8, 784)), training=True).shape
    (8, 10)
    >>> list(model.named_variables())
    ['hidden.kernel', 'hidden.bias', 'drop.generator', 'out.kernel', 'out.bias']
    """

    _weft_takes_training = True

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Computes the result. A subclass has its own."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method call(self, x): it says what the model computes"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return self._weft_call(_caller(), args, kwargs)
        except BaseException as error:
            clean(error)
            raise

    def _weft_call(self, call: Caller, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        state = self.__dict__
        if "_called_with" not in state:
            _note_call(self, args)
        if kwargs and "training" in kwargs and not takes(type(self).call, "training"):
            kwargs = {name: value for name, value in kwargs.items() if name != "training"}
        return call(self.call, args, kwargs)

    @property
    def layers(self) -> list[Any]:
        """The layers and Modules among the attributes, and in lists, tuples and dicts of them."""
        return list(_parts_of(self, set(), within=False))

    @property
    def built(self) -> bool:
        """Whether it has variables, all of them with values."""
        return _weft.internal_is_built(self)

    @users_lines
    def build(self, input_shape: Any, dtype: Any = "float32") -> Self:
        """Makes the variables without a call: `call` is traced on a tensor of that shape, of which
        sizes may be None, or on several of a list of shapes. Gives the model."""
        build(self, input_shape, dtype)
        return self

    @users_lines
    def summary(self, input_shape: Any = None, dtype: Any = "float32") -> None:
        """Prints the table of the layers that a call runs, the shapes of their results and how many
        numbers they hold. Without a shape it is for what the model was first called with."""
        print(summary(self, input_shape, dtype), end="")

    @users_lines
    def fit(self, data: Any, **options: Any) -> Any:
        """Trains the model on batches (x, y); options as those of `weft.train.fit`, whose History it
        gives."""
        from weft.train import fit

        return fit(self, data, **options)

    @users_lines
    def save_weights(self, path: Any) -> None:
        """Writes the variables by their paths, as a safetensors file."""
        _weft.save_weights(path, self)

    @users_lines
    def load_weights(self, path: Any, **options: Any) -> RestoreStatus:
        """Gives the variables the values of a safetensors file; options as those of
        `weft.load_weights`."""
        return _weft.load_weights(path, self, **options)


def _note_call(model: Model, args: tuple[Any, ...]) -> None:
    """Before the first call: what it is called with, and the names of the layers."""
    nested = len(args) == 1 and is_listed(args[0])  # as of a model of several inputs
    if nested:
        args = tuple(args[0])
    tensors = [
        x if isinstance(x, _weft.Tensor) else _weft.asarray(x)
        for x in args
        if isinstance(x, _weft.Tensor) or hasattr(x, "__array_interface__")
    ]
    if tensors and len(tensors) == len(args):
        types = [_weft.internal_type_of(x) for x in tensors]
        model.__dict__["_called_with"] = [(shape, dtype) for dtype, shape in types]
        model.__dict__["_called_nested"] = nested
    _weft.internal_named_variables(model)


# Variables without a call, and tables of layers.


def _is_shape(x: Any) -> bool:
    return isinstance(x, list | tuple) and all(n is None or isinstance(n, int) for n in _listed(x))


def _listed(x: Any) -> Sequence[Any]:
    return x


def _types_of(model: Any, input_shape: Any, dtype: Any) -> list[tuple[Sequence[int | None], Any]]:
    if input_shape is None:
        called = getattr(model, "_called_with", None)
        if called is None:
            raise _weft.StateError(
                f"{type(model).__name__}: what it is called with is not known: give input_shape, or "
                "call it with tensors once"
            )
        return called
    shapes = [input_shape] if _is_shape(input_shape) else list(input_shape)
    dtypes: Any = dtype if is_listed(dtype) else [dtype] * len(shapes)
    return list(zip(shapes, dtypes, strict=True))


@options
def summary(model: Any, input_shape: Any = None, dtype: Any = "float32") -> str:
    """A table of the layers that a call of the model with a tensor of this shape runs, in their
    order: path and kind, the shape of the result, the number of parameters; then the sums. The call
    is traced, not run. Sizes may be None; a list of shapes stands for several tensors. Variables
    without values get them.

    >>> print(wf.nn.summary(wf.nn.Dense(2), (None, 3)))
    Layer (kind)  Output shape  Parameters
    --------------------------------------
    Dense         (?, 2)                 8
    --------------------------------------
    Parameters: 8 (32 B), trainable: 8, not trainable: 0

    Raises:
        StateError: without a shape, if the model was never called with tensors
    """
    nested = input_shape is None and getattr(model, "_called_nested", False)
    return _traced(model, _types_of(model, input_shape, dtype), nested)


def _traced(
    model: Any, types: Any, nested: bool, see: Callable[[Any], Any] = lambda results: None
) -> str:
    """The table of a call with tensors of these types, of whose results `see` is told."""
    from weft._autograph.calls import trace_call
    from weft._staging import install

    install()

    def call(*inputs: Any) -> Any:
        results: Any = trace_call(model, (inputs,) if nested else inputs)
        see(results)
        return results

    return _weft.internal_summary(model, types, call)


def shapes_of_results(model: Any) -> Any:
    """The shape of what a model gives, or a list of them, for a batch of unknown size of what it was
    called with or has as the input_shape of its first layer. The call is traced, not run.

    Raises:
        StateError: if neither is known
    """
    types: Any = getattr(model, "_called_with", None)
    entries = list(model) if isinstance(model, Sequential) else []
    first = entries[0] if entries else None
    shape = getattr(first, "input_shape", None)
    if types is None and shape is not None:
        types = _types_of(model, (None, *shape), getattr(first, "input_dtype", None) or "float32")
    if types is None:
        types = _types_of(model, None, None)  # an error that says what to do
    found: list[Any] = []

    def see(results: Any) -> None:
        found.append([known_sizes(x.shape) for x in results] if is_listed(results) else known_sizes(results.shape))

    open_types = [((None, *sizes[1:]), dtype) for sizes, dtype in types]
    _traced(model, open_types, getattr(model, "_called_nested", False), see)
    return found[-1]


@options
def build(model: Any, input_shape: Any, dtype: Any = "float32") -> None:
    """Makes the variables of a model or a layer for inputs of that shape, of which sizes may be
    None.

    >>> layer = wf.nn.Dense(2)
    >>> wf.nn.build(layer, (None, 3))
    >>> layer.kernel.shape
    (3, 2)
    """
    summary(model, input_shape, dtype)


class Sequential(Model):
    """Layers one after the other: layers, models, functions of a tensor, in a list or as arguments.

    Where the first layer has an input_shape, without the batch, the variables are made at once.
    `training` goes to the layers that take it. A layer's part of paths is its number, or the name
    that it was added by.

    >>> model = wf.Sequential([
    ...     wf.nn.Conv2D(16, 3, activation="relu", input_shape=(None, None, 1)),
    ...     wf.nn.GlobalAveragePooling2D(),
    ...     wf.nn.Dense(10),
    ... ])
    >>> model.parameter_count
    330
    >>> model(wf.ones((2, 28, 28, 1))).shape
    (2, 10)
    """

    @users_lines
    def __init__(self, layers: Any = (), *more: Any, name: str | None = None) -> None:
        if len(more) == 1 and isinstance(more[0], str) and name is None:
            name, more = more[0], ()
        super().__init__(name)
        self._entries: list[tuple[str, Any, bool]] = []
        for layer in layers if is_listed(layers) and not more else [layers, *more]:
            self._append(layer, None)
        self._build_if_known()

    @users_lines
    def add(self, layer: Any, name: str | None = None) -> Self:
        """Adds a layer at the end. Gives the model."""
        self._append(layer, name)
        self._build_if_known()
        return self

    def _append(self, layer: Any, name: str | None) -> None:
        entries = self._added()
        if not callable(layer) or isinstance(layer, type):
            what = layer.__name__ if isinstance(layer, type) else shown(layer)
            raise TypeError(
                f"Sequential: {what} is no layer: layers, models and functions of a tensor are wanted"
                + (", and this is a class: make one of it" if isinstance(layer, type) else "")
            )
        if layer is self or (is_part(layer) and any(x is self for x in _parts_of(layer, set()))):
            raise _weft.ValueError("Sequential: a layer is the model itself, or holds it")
        word = str(len(entries)) if name is None else text("Sequential: the name of a layer", name)
        if not word or "." in word or any(word == known for known, _, _ in entries):
            raise _weft.ValueError(
                f"Sequential: the name {word!r} of a layer must not be empty, taken, or have a dot"
            )
        entries.append((word, layer, takes_training(layer)))

    def _added(self) -> list[tuple[str, Any, bool]]:
        entries: list[tuple[str, Any, bool]] | None = self.__dict__.get("_entries")
        if entries is None:
            raise _weft.StateError(
                f"{type(self).__name__} was never initialized: call super().__init__() first in its "
                "__init__"
            )
        return entries

    def _build_if_known(self) -> None:
        entries = self._added()
        shape = getattr(entries[0][1], "input_shape", None) if entries else None
        if shape is not None:
            dtype = "int64" if isinstance(entries[0][1], _nn.Embedding) else "float32"
            build(self, (None, *shape), getattr(entries[0][1], "input_dtype", None) or dtype)

    def _weft_parts(self) -> list[tuple[str, Any]]:  # pyright: ignore[reportIncompatibleVariableOverride]
        own = [(name, layer) for name, layer, _ in self._added()]
        return own + [item for item in self.__dict__.items() if item[0] != "_entries"]

    def call(self, x: Any, training: Any = False) -> Any:
        """The results of the layers from the first to the last."""
        call = _caller()
        for _, layer, trains in self._added():
            x = call(layer, (x,), {"training": training} if trains and training else None)
        return x

    @property
    def layers(self) -> list[Any]:
        """The layers, in order."""
        return [layer for _, layer, _ in self._added()]

    def __len__(self) -> int:
        return len(self._added())

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        return iter([layer for _, layer, _ in self._added()])

    @overload
    def __getitem__(self, index: int | str) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequential: ...
    @users_lines
    def __getitem__(self, index: int | str | slice) -> Any:
        """The layer of that number or name; of a slice, a Sequential of the same layers."""
        if isinstance(index, str):
            for name, layer, _ in self._added():
                if name == index:
                    return layer
            raise KeyError(index)
        if isinstance(index, slice):
            return Sequential(list(self)[index])
        return self._added()[index][1]


# What layers of the library have in common with Modules.


def _rebuilt(
    cls: Any, config: dict[str, Any], variables: list[Any], attributes: dict[str, Any]
) -> Any:
    """A layer or a metric that was pickled."""
    part = cls.__new__(cls)
    own = next(base for base in cls.__mro__ if base.__module__.startswith("weft."))
    own.__init__(part, **config)
    _weft.internal_set_part_variables(part, variables)
    if attributes:
        part.__dict__.update(attributes)
    return part


def _reduce(self: Any) -> Any:
    attributes = getattr(self, "__dict__", {})
    config = self.get_config()
    return _rebuilt, (type(self), config, _weft.internal_part_variables(self), attributes)


@users_lines
def _build_layer(self: Any, input_shape: Any, dtype: Any = "float32") -> Any:
    """Makes the variables without a call, for inputs of that shape, of which sizes may be None.
    Gives the layer."""
    build(self, input_shape, dtype)
    return self


for _kind in (_weft.Layer, _weft.Metric):
    for _word in ("variables", "trainable_variables", "non_trainable_variables"):
        setattr(_kind, _word, vars(Module)[_word])
    setattr(_kind, "named_variables", Module.named_variables)
    setattr(_kind, "parameter_count", vars(Module)["parameter_count"])
    setattr(_kind, "__reduce__", _reduce)
setattr(_weft.Layer, "built", vars(Model)["built"])
setattr(_weft.Layer, "build", _build_layer)
