"""Methods of tensors and variables that only TensorFlow's users know."""

from __future__ import annotations

from typing import Any

from weft import _weft

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


def _is_initialized(self: Any, name: str | None = None) -> bool:
    """True: a variable has a value from the start."""
    return True


def _update_state(self: Any, *args: Any, **kwargs: Any) -> None:
    """As `update`."""
    self.update(*args, **kwargs)


def _reset_state(self: Any) -> None:
    """As `reset`."""
    self.reset()


def _iterations(self: Any) -> Any:
    """As `step`: the number of updates so far."""
    return self.step


def install() -> None:
    """Adds the methods to the classes."""
    for each in (_weft.Tensor, _weft.Variable):
        for name, method in _METHODS.items():
            setattr(each, name, method)
    setattr(_weft.Tensor, "set_shape", _set_shape)
    setattr(_weft.Variable, "is_initialized", _is_initialized)
    bound: Any = _weft
    for name, method in _OF_METRICS.items():
        setattr(bound.Metric, name, method)
    bound.Optimizer.iterations = property(_iterations)


_OF_METRICS = {
    "update_state": _update_state,
    "reset_state": _reset_state,
    "reset_states": _reset_state,
}
_METHODS = {"ref": _ref, "get_shape": _get_shape, "cpu": _cpu, "gpu": _gpu}
