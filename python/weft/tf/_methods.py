"""Methods that only TensorFlow's users know. Classes that Weft's users may derive from are left alone."""

from __future__ import annotations

from typing import Any

import weft as wf
from weft import _weft
from weft.modules import shapes_of_results

from . import _elements, _networks
from ._forms import Reference, TensorShape

__all__ = ["Called", "install"]


def _ref(self: Any) -> Reference:
    """What stands for this object in sets and as a key: `tensor.ref().deref() is tensor`."""
    return Reference(self)


def _get_shape(self: Any) -> TensorShape:
    """As `shape`."""
    return self.shape


def _set_shape(self: Any, shape: Any) -> None:
    """Checks that the tensor may have that shape. Throws ShapeError."""
    TensorShape(self.shape).assert_is_compatible_with(shape)


def _cpu(self: Any) -> Any:
    """The same elements in the memory of the CPU. TensorFlow's advice holds: a tensor is where it
    is wanted by itself."""
    return _weft.asarray(self).to_device("cpu:0")


def _gpu(self: Any, gpu_index: int = 0) -> Any:
    """The same elements in the memory of a GPU. Throws DeviceError if there is none."""
    return _weft.asarray(self).to_device(f"gpu:{gpu_index}")


def _update_state(self: Any, *args: Any, **kwargs: Any) -> None:
    """As `update`, with Keras' name of weights."""
    if "sample_weight" in kwargs:
        kwargs["weights"] = kwargs.pop("sample_weight")
    self.update(*args, **kwargs)


def _reset_state(self: Any) -> None:
    """As `reset`."""
    self.reset()


def _iterations(self: Any) -> Any:
    """As `step`: the number of updates so far."""
    return self.step


def _generator_of_seed(seed: int, alg: Any = None) -> Any:
    """The stream of random numbers of a seed."""
    return _weft.Generator(seed)


def _generator_of_its_own(alg: Any = None) -> Any:
    """A stream that no other run of the program has."""
    return _networks.own_generator()


def _has_value(self: Any, name: str | None = None) -> Any:
    """A true scalar: a variable has a value from the start."""
    return _weft.constant(True)


def _sparse_read(self: Any, indices: Any, name: str | None = None) -> Any:
    """The slices of these numbers."""
    return _elements.gather(self, indices, 0, 0)


def _gather_nd(self: Any, indices: Any, name: str | None = None) -> Any:
    """The slices that vectors of indices lead to."""
    return _elements.gather_nd(self, indices, 0)


def _scatter_nd_add(self: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Adds updates to the slices that vectors of indices lead to."""
    return self.assign(_elements.scatter_nd_add(self, indices, updates))


def _scatter_nd_update(self: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Puts updates in the places of the slices that vectors of indices lead to."""
    return self.assign(_elements.scatter_nd_update(self, indices, updates))


# Dtypes and specs.


def _as_numpy_dtype(self: Any) -> Any:
    """The class of NumPy's scalars of this dtype."""
    import numpy

    np: Any = numpy
    return np.dtype(self.dtype).type


def _least(self: Any) -> Any:
    """The smallest number of this dtype."""
    return _limits(self)[0]


def _most(self: Any) -> Any:
    """The largest number of this dtype."""
    return _limits(self)[1]


def _limits(kind: Any) -> tuple[Any, Any]:
    import numpy as np

    if kind.is_bool:
        return False, True
    if kind.is_integer:
        return int(np.iinfo(kind.dtype).min), int(np.iinfo(kind.dtype).max)
    return np.finfo(kind.dtype).min, np.finfo(kind.dtype).max


def _size(self: Any) -> int:
    """The bytes of an element."""
    return self.itemsize


def _itself(self: Any) -> Any:
    """The dtype itself: there are none of references."""
    return self


def _of_parts(self: Any) -> Any:
    """The dtype of the parts of complex numbers, of others itself."""
    return wf.finfo(self).dtype if self.is_complex else self


def _never(self: Any) -> bool:
    """False: there are no such dtypes."""
    return False


def _is_same_dtype(self: Any, other: Any) -> bool:
    """Whether the other is this dtype, or its name."""
    return self == _weft.dtype(other)


def _may_be_of(self: Any, other: Any) -> bool:
    """Whether a tensor, or one of another spec, has this dtype and may have this shape."""
    return self.dtype == other.dtype and TensorShape(self.shape).is_compatible_with(other.shape)


# Arrays of tensors.


def _unstack(self: Any, value: Any, name: str | None = None) -> Any:
    """The array with the slices of a tensor along its first axis as elements, from the first on."""
    tensor: Any = _weft.asarray(value, self.dtype)
    array = self
    for i in range(tensor.shape[0]):
        array = array.write(i, tensor[i])
    return array


def _scatter(self: Any, indices: Any, value: Any, name: str | None = None) -> Any:
    """The array with the slices of a tensor as elements of these numbers."""
    tensor: Any = _weft.asarray(value, self.dtype)
    array = self
    for i, at in enumerate(_elements.sizes_of(indices)):
        array = array.write(int(at), tensor[i])
    return array


# Parts of models.


class Parts:
    """What layers and models of Keras have: those of the user derive from it, the library's are given
    its attributes."""

    @property
    def weights(self: Any) -> list[Any]:
        """As `variables`: the trainable ones first."""
        return [*self.trainable_variables, *self.non_trainable_variables]

    @property
    def trainable_weights(self: Any) -> list[Any]:
        """As `trainable_variables`."""
        return self.trainable_variables

    @property
    def non_trainable_weights(self: Any) -> list[Any]:
        """As `non_trainable_variables`."""
        return self.non_trainable_variables

    @property
    def trainable(self: Any) -> bool:
        """True: which variables an update changes is said to the tape and the optimizer."""
        return True

    @trainable.setter
    def trainable(self: Any, value: Any) -> None:
        if not value:
            raise _weft.StateError(
                f"{type(self).__name__}: layers are not frozen by an attribute: give tape.gradient and "
                "the optimizer the variables that are to be trained"
            )

    def get_weights(self: Any) -> list[Any]:
        """The values of `weights`, as arrays of NumPy."""
        return [v.numpy() for v in self.weights]

    def set_weights(self: Any, weights: Any) -> None:
        """Assigns values to `weights`, in their order. Throws ValueError unless there are as many, of
        their shapes."""
        variables, values = self.weights, list(weights)
        if len(variables) != len(values):
            raise _weft.ValueError(
                f"set_weights: there are {len(variables)} variables and {len(values)} values"
            )
        tensors: list[Any] = [
            _weft.asarray(x, v.dtype) for v, x in zip(variables, values, strict=True)
        ]
        for variable, value in zip(variables, tensors, strict=True):
            if tuple(variable.shape) != tuple(value.shape):
                raise _weft.ShapeError(
                    f"set_weights: {variable.name} has the shape {tuple(variable.shape)}, and the "
                    f"value {tuple(value.shape)}"
                )
        for variable, value in zip(variables, tensors, strict=True):
            variable.assign(value)

    def count_params(self: Any) -> int:
        """As `parameter_count`."""
        return self.parameter_count


class Called(Parts):
    """What layers and models of the user have besides."""

    def get_layer(self: Any, name: str | None = None, index: int | None = None) -> Any:
        """The layer of that name or number. Throws ValueError if there is none."""
        layers: list[Any] = self.layers
        if index is not None:
            if not -len(layers) <= index < len(layers):
                raise _weft.ValueError(
                    f"get_layer: there are {len(layers)} layers, and none of {index}"
                )
            return layers[index]
        found = [layer for layer in layers if getattr(layer, "name", None) == name]
        if not found:
            raise _weft.ValueError(f"get_layer: there is no layer {name!r}")
        return found[0]

    @property
    def output_shape(self: Any) -> Any:
        """The shape of the result, with None for the size of the batch; a list for several. Throws
        StateError before it is known what the model is called with."""
        return shapes_of_results(self)


class Shown:
    """A property that an attribute of an object comes before: importing weft.tf takes no name from
    classes that other code derives from the library's."""

    def __init__(self, get: Any) -> None:
        self._get = get
        self.__doc__ = get.__doc__

    def __get__(self, one: Any, kind: Any = None) -> Any:
        return self if one is None else self._get(one)


def _initial_state(self: Any, inputs: Any = None, batch_size: Any = None) -> Any:
    """Zeros as the states of a batch: of the size given, or of its inputs."""
    given: Any = inputs if batch_size is None else batch_size
    size: Any = given
    if isinstance(given, wf.Tensor | wf.Variable) and given.ndim:
        known: Any = given.shape
        size = wf.size(given, 0) if known[0] is None else known[0]
    states = 2 if isinstance(self, wf.nn.LSTM | wf.nn.LSTMCell) else 1
    shape: Any = [size, self.units]
    return [wf.zeros(shape) for _ in range(states)]


def install() -> None:
    """Adds the methods to the classes."""
    bound: Any = _weft
    for each in (_weft.Tensor, _weft.Variable):
        _add(each, {"ref": _ref, "get_shape": _get_shape, "cpu": _cpu, "gpu": _gpu})
    _add(_weft.Tensor, {"set_shape": _set_shape})
    _add(_weft.Variable, _OF_VARIABLES)
    _add(_weft.DType, _OF_DTYPES)
    _add(wf.TensorSpec, {"is_compatible_with": _may_be_of})
    _add(_weft.TensorArray, {"unstack": _unstack, "scatter": _scatter})
    _add(_weft.Generator, _OF_GENERATORS)
    _add(bound.Metric, _OF_METRICS)
    _add(bound.Optimizer, {"iterations": Shown(_iterations)})
    for name, value in vars(Parts).items():
        if not name.startswith("_"):
            is_shown = isinstance(value, property) and value.fset is None
            _add(bound.Layer, {name: Shown(value.fget) if is_shown else value})
    layers: Any = wf.nn
    for each in (getattr(layers, name) for name in _RECURRENT):
        _add(each, {"get_initial_state": _initial_state})


def _add(kind: Any, methods: dict[str, Any]) -> None:
    for name, method in methods.items():
        setattr(kind, name, method)


_RECURRENT = ("GRU", "LSTM", "SimpleRNN", "GRUCell", "LSTMCell", "SimpleRNNCell")
_OF_VARIABLES = {
    "is_initialized": _has_value,
    "sparse_read": _sparse_read,
    "gather_nd": _gather_nd,
    "scatter_nd_add": _scatter_nd_add,
    "scatter_nd_update": _scatter_nd_update,
}
_OF_DTYPES = {
    "as_numpy_dtype": property(_as_numpy_dtype),
    "base_dtype": property(_itself),
    "real_dtype": property(_of_parts),
    "is_unsigned": property(_never),
    "is_quantized": property(_never),
    "min": property(_least),
    "max": property(_most),
    "size": property(_size),
    "is_compatible_with": _is_same_dtype,
}
_OF_GENERATORS = {
    "from_seed": staticmethod(_generator_of_seed),
    "from_non_deterministic_state": staticmethod(_generator_of_its_own),
}
_OF_METRICS = {
    "update_state": _update_state,
    "reset_state": _reset_state,
    "reset_states": _reset_state,
}
