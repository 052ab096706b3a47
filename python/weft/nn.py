"""Layers, their initializers, and the functions that models are made of: `weft.nn`."""

from __future__ import annotations

from typing import Any

from weft import _nn, _weft, initializers as initializers
from weft._arguments import options, sizes
from weft._bases import Layer as Layer
from weft._signatures import takes_training
from weft._tracebacks import users_lines
from weft._nn import *  # noqa: F403
from weft._weft import relu as relu, tanh as tanh
from weft.modules import (
    Model as Model,
    Module as Module,
    Sequential as Sequential,
    build as build,
    summary as summary,
)

__all__ = [
    "Input",
    "Layer",
    "Model",
    "Module",
    "Residual",
    "Sequential",
    "assign",
    "build",
    "relu",
    "seed",
    "summary",
    "swish",
    "tanh",
]
__all__ += _nn.__all__

swish = _nn.silu


class Residual(Module):
    """x + layer(x), of a layer that keeps shapes (He et al. 2016).

    >>> block = wf.nn.Residual(wf.nn.Dense(2, kernel_initializer="ones"))
    >>> block(wf.tensor([[1.0, 2.0]]))
    tensor([[4., 5.]], shape=(1, 2), dtype=float32)
    """

    @users_lines
    def __init__(self, layer: Any) -> None:
        if not callable(layer):
            raise TypeError(f"Residual: layer is a {type(layer).__name__}: a layer is wanted")
        self.layer = layer

    @users_lines
    def __call__(self, x: Any, training: bool = False) -> Any:
        if training and takes_training(self.layer):
            return x + self.layer(x, training=training)
        return x + self.layer(x)


class Input(Module):
    """What a Sequential begins with to say the shape of its inputs, without the batch; it gives
    what it is given.

    >>> model = wf.Sequential([wf.nn.Input((3,)), wf.nn.Dense(2)])
    >>> model.parameter_count
    8
    """

    @options
    def __init__(self, shape: Any, dtype: Any = None) -> None:
        self.input_shape = sizes("Input: shape", shape)
        self.input_dtype = dtype

    def __call__(self, x: Any) -> Any:
        return x


@users_lines
def seed(model: Any, seed: int) -> None:
    """Draws the first values of all variables of a model anew, by the seed and their paths: those
    that have values now, the others when they get theirs. Variables that were made with a value
    keep it.

    >>> model = wf.nn.Dense(1).build((None, 2))
    >>> wf.nn.seed(model, 7)
    >>> first = model.kernel.numpy()
    >>> wf.nn.seed(model, 7)
    >>> np.array_equal(model.kernel, first)
    True
    """
    _weft.internal_seed(model, seed)


@users_lines
def assign(to: Any, source: Any) -> None:
    """Gives each variable of the model `to` the value that the one of the same path of another
    model has.

    >>> a, b = (wf.nn.Dense(1).build((None, 2)) for _ in range(2))
    >>> wf.nn.assign(a, b)
    >>> bool(wf.all(a.kernel == b.kernel))
    True

    Raises:
        ValueError: if the paths differ, before anything is changed
        DTypeError, ShapeError: for a variable of another type
    """
    _weft.internal_assign(to, source)
