"""Methods of tensors and variables that only TensorFlow's users know."""

from __future__ import annotations

import functools
from typing import Any

import weft as wf
from weft import _weft

from weft.modules import shapes_of_results

from . import _elements, _networks
from ._forms import Reference, TensorShape

__all__ = ["install"]


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
    """The same elements in the memory of a GPU. Throws ValueError if there is none."""
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


def _count(self: Any, name: str | None = None) -> Any:
    """How many elements there are, as an int32 scalar."""
    return _weft.cast(_count_of_weft(self), "int32")


_count_of_weft: Any = _weft.TensorArray.size


# Parts of models.


def _weights(self: Any) -> list[Any]:
    """As `variables`: the trainable ones first."""
    return [*self.trainable_variables, *self.non_trainable_variables]


def _trainable_weights(self: Any) -> list[Any]:
    """As `trainable_variables`."""
    return self.trainable_variables


def _non_trainable_weights(self: Any) -> list[Any]:
    """As `non_trainable_variables`."""
    return self.non_trainable_variables


def _get_weights(self: Any) -> list[Any]:
    """The values of `weights`, as arrays of NumPy."""
    return [v.numpy() for v in _weights(self)]


def _set_weights(self: Any, weights: Any) -> None:
    """Assigns values to `weights`, in their order. Throws ValueError unless there are as many, of
    their shapes."""
    variables, values = _weights(self), list(weights)
    if len(variables) != len(values):
        raise _weft.ValueError(
            f"set_weights: there are {len(variables)} variables and {len(values)} values"
        )
    tensors: list[Any] = [_weft.asarray(x, v.dtype) for v, x in zip(variables, values, strict=True)]
    for variable, value in zip(variables, tensors, strict=True):
        if tuple(variable.shape) != tuple(value.shape):
            raise _weft.ShapeError(
                f"set_weights: {variable.name} has the shape {tuple(variable.shape)}, and the value "
                f"{tuple(value.shape)}"
            )
    for variable, value in zip(variables, tensors, strict=True):
        variable.assign(value)


def _count_params(self: Any) -> int:
    """As `parameter_count`."""
    return self.parameter_count


def _is_trainable(self: Any) -> bool:
    """True: which variables an update changes is said to the tape and the optimizer."""
    return True


def _set_trainable(self: Any, value: Any) -> None:
    if not value:
        raise _weft.StateError(
            f"{type(self).__name__}: layers are not frozen by an attribute: give tape.gradient and "
            "the optimizer the variables that are to be trained"
        )


def _get_layer(self: Any, name: str | None = None, index: int | None = None) -> Any:
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


def _output_shape(self: Any) -> Any:
    """The shape of the result, with None for the size of the batch; a list for several. Throws
    StateError before it is known what the model is called with."""
    return shapes_of_results(self)


def _for_numpy(name: str) -> Any:
    """A method that also functions of NumPy call, which have an `out` for it: they give what NumPy
    gives for the array, as TensorFlow's tensors have no such methods."""
    method: Any = getattr(_weft.Tensor, name)

    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            return getattr(self.numpy(), name)(*args, **kwargs)
        return method(self, *args, **kwargs)

    return call


_REDUCED_BY_NUMPY = (
    *("sum", "mean", "prod", "all", "any", "max", "min", "std", "var", "argmax", "argmin", "ptp"),
    *("round", "clip", "take", "dot", "trace"),
)


def install() -> None:
    """Adds the methods to the classes."""
    bound: Any = _weft
    _add(_weft.Tensor, {name: _for_numpy(name) for name in _REDUCED_BY_NUMPY})
    for each in (_weft.Tensor, _weft.Variable):
        _add(each, {"ref": _ref, "get_shape": _get_shape, "cpu": _cpu, "gpu": _gpu})
    _add(_weft.Tensor, {"set_shape": _set_shape})
    _add(_weft.Variable, _OF_VARIABLES)
    _add(_weft.DType, _OF_DTYPES)
    _add(wf.TensorSpec, {"is_compatible_with": _may_be_of})
    _add(_weft.TensorArray, {"unstack": _unstack, "scatter": _scatter, "size": _count})
    _add(_weft.Generator, _OF_GENERATORS)
    _add(bound.Metric, _OF_METRICS)
    _add(wf.metrics.Metric, _OF_METRICS)
    _add(bound.Optimizer, {"iterations": property(_iterations)})
    _add(wf.optimizers.Optimizer, {"iterations": property(_iterations)})
    for each in (bound.Layer, wf.Model):
        _add(each, _OF_PARTS)
    _add(wf.Model, {"get_layer": _get_layer, "output_shape": property(_output_shape)})
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
    "real_dtype": property(_itself),
    "is_complex": property(_never),
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
_OF_PARTS = {
    "weights": property(_weights),
    "trainable_weights": property(_trainable_weights),
    "non_trainable_weights": property(_non_trainable_weights),
    "get_weights": _get_weights,
    "set_weights": _set_weights,
    "count_params": _count_params,
    "trainable": property(_is_trainable, _set_trainable),
}
