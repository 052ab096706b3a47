"""Layers, their initializers, and the functions that models are made of: `weft.nn`."""

from __future__ import annotations

from typing import Any

from weft import _weft, initializers as initializers
from weft._arguments import options, sizes
from weft._bases import Layer as Layer
from weft._tracebacks import users_lines
from weft._weft import (
    GRU as GRU,
    LSTM as LSTM,
    AveragePooling1D as AveragePooling1D,
    AveragePooling2D as AveragePooling2D,
    AveragePooling3D as AveragePooling3D,
    BatchNorm as BatchNorm,
    Bidirectional as Bidirectional,
    Conv1D as Conv1D,
    Conv1DTranspose as Conv1DTranspose,
    Conv2D as Conv2D,
    Conv2DTranspose as Conv2DTranspose,
    Conv3D as Conv3D,
    Conv3DTranspose as Conv3DTranspose,
    Dense as Dense,
    DepthwiseConv1D as DepthwiseConv1D,
    DepthwiseConv2D as DepthwiseConv2D,
    Dropout as Dropout,
    Embedding as Embedding,
    Flatten as Flatten,
    GlobalAveragePooling1D as GlobalAveragePooling1D,
    GlobalAveragePooling2D as GlobalAveragePooling2D,
    GlobalAveragePooling3D as GlobalAveragePooling3D,
    GlobalMaxPooling1D as GlobalMaxPooling1D,
    GlobalMaxPooling2D as GlobalMaxPooling2D,
    GlobalMaxPooling3D as GlobalMaxPooling3D,
    GroupNorm as GroupNorm,
    GRUCell as GRUCell,
    LayerNorm as LayerNorm,
    LSTMCell as LSTMCell,
    MaxPooling1D as MaxPooling1D,
    MaxPooling2D as MaxPooling2D,
    MaxPooling3D as MaxPooling3D,
    MultiHeadAttention as MultiHeadAttention,
    Reshape as Reshape,
    RMSNorm as RMSNorm,
    SeparableConv1D as SeparableConv1D,
    SeparableConv2D as SeparableConv2D,
    SimpleRNN as SimpleRNN,
    SimpleRNNCell as SimpleRNNCell,
    TransformerDecoderLayer as TransformerDecoderLayer,
    TransformerEncoderLayer as TransformerEncoderLayer,
    nn_attention as attention,
    nn_dropout as dropout,
    nn_elu as elu,
    nn_gelu as gelu,
    nn_gelu_tanh as gelu_tanh,
    nn_hard_sigmoid as hard_sigmoid,
    nn_leaky_relu as leaky_relu,
    nn_log_softmax as log_softmax,
    nn_mish as mish,
    nn_one_hot as one_hot,
    nn_positional_encoding as positional_encoding,
    nn_relu6 as relu6,
    nn_rotary as rotary,
    nn_selu as selu,
    nn_sigmoid as sigmoid,
    nn_silu as silu,
    nn_softmax as softmax,
    nn_softplus as softplus,
    nn_softsign as softsign,
    relu as relu,
    tanh as tanh,
)
from weft.modules import (
    Model as Model,
    Module as Module,
    Sequential as Sequential,
    build as build,
    summary as summary,
)

__all__ = [
    "AveragePooling1D",
    "AveragePooling2D",
    "AveragePooling3D",
    "BatchNorm",
    "Bidirectional",
    "Conv1D",
    "Conv1DTranspose",
    "Conv2D",
    "Conv2DTranspose",
    "Conv3D",
    "Conv3DTranspose",
    "Dense",
    "DepthwiseConv1D",
    "DepthwiseConv2D",
    "Dropout",
    "Embedding",
    "Flatten",
    "GRU",
    "GRUCell",
    "GlobalAveragePooling1D",
    "GlobalAveragePooling2D",
    "GlobalAveragePooling3D",
    "GlobalMaxPooling1D",
    "GlobalMaxPooling2D",
    "GlobalMaxPooling3D",
    "GroupNorm",
    "Input",
    "LSTM",
    "LSTMCell",
    "Layer",
    "LayerNorm",
    "MaxPooling1D",
    "MaxPooling2D",
    "MaxPooling3D",
    "Model",
    "Module",
    "MultiHeadAttention",
    "RMSNorm",
    "Reshape",
    "Residual",
    "SeparableConv1D",
    "SeparableConv2D",
    "Sequential",
    "SimpleRNN",
    "SimpleRNNCell",
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
    "assign",
    "attention",
    "build",
    "dropout",
    "elu",
    "gelu",
    "gelu_tanh",
    "hard_sigmoid",
    "leaky_relu",
    "log_softmax",
    "mish",
    "one_hot",
    "positional_encoding",
    "relu",
    "relu6",
    "rotary",
    "seed",
    "selu",
    "sigmoid",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "summary",
    "swish",
    "tanh",
]

swish = silu


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
        from weft.modules import takes_training

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
