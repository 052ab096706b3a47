"""Writes Layers.inc: what Keras 3's layers give, and their gradients, in f64.

Run with Keras 3 and JAX installed:  python layers.py > Layers.inc

Inputs and weights are waves, so that only results are stored: for each case the result, then the
gradients of sum(result * wave) by the input and by each weight.
"""

import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"
import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import layers as kl

keras.config.set_floatx("float64")
keras.config.set_dtype_policy("float64")


def wave(shape, phase):
    return 0.5 * np.sin(0.7 * np.arange(np.prod(shape), dtype=np.float64) + phase).reshape(shape)


IMAGE = (2, 5, 6, 4)
CASES = {
    "Dense": ((3, 4), lambda: kl.Dense(5, activation="tanh")),
    "Conv1D": ((2, 7, 3), lambda: kl.Conv1D(4, 3, strides=2, padding="same")),
    "Conv1D causal": ((2, 7, 3), lambda: kl.Conv1D(4, 3, padding="causal", dilation_rate=2)),
    "Conv2D": (IMAGE, lambda: kl.Conv2D(3, 3, activation="relu")),
    "Conv2D groups": (IMAGE, lambda: kl.Conv2D(6, (3, 2), strides=(2, 1), padding="same", groups=2)),
    "Conv3D": ((1, 4, 3, 4, 2), lambda: kl.Conv3D(2, 2)),
    "Conv1DTranspose": ((2, 4, 3), lambda: kl.Conv1DTranspose(2, 3, strides=2)),
    "Conv2DTranspose": (IMAGE, lambda: kl.Conv2DTranspose(3, 3, strides=2, padding="same")),
    "DepthwiseConv2D": (IMAGE, lambda: kl.DepthwiseConv2D(3, depth_multiplier=2)),
    "SeparableConv2D": (IMAGE, lambda: kl.SeparableConv2D(3, 3, padding="same")),
    "BatchNorm": (IMAGE, lambda: kl.BatchNormalization()),
    "BatchNorm training": (IMAGE, lambda: kl.BatchNormalization()),
    "LayerNorm": ((2, 3, 8), lambda: kl.LayerNormalization()),
    "GroupNorm": (IMAGE, lambda: kl.GroupNormalization(2)),
    "RMSNorm": ((2, 3, 8), lambda: kl.RMSNormalization()),
    "SimpleRNN": ((2, 5, 3), lambda: kl.SimpleRNN(4, unroll=True)),
    "LSTM": ((2, 5, 3), lambda: kl.LSTM(4, unroll=True)),
    "LSTM sequences": ((2, 5, 3), lambda: kl.LSTM(4, return_sequences=True, unroll=True)),
    "LSTM masked": ((2, 5, 3), lambda: kl.LSTM(4, return_sequences=True, unroll=True)),
    "GRU": ((2, 5, 3), lambda: kl.GRU(4, return_sequences=True, unroll=True)),
    "GRU reset before": ((2, 5, 3), lambda: kl.GRU(4, reset_after=False, unroll=True)),
    "Bidirectional": ((2, 5, 3), lambda: kl.Bidirectional(kl.LSTM(4, return_sequences=True, unroll=True))),
    "MaxPooling2D": (IMAGE, lambda: kl.MaxPooling2D(2)),
    "MaxPooling2D same": (IMAGE, lambda: kl.MaxPooling2D((3, 2), strides=2, padding="same")),
    "AveragePooling1D": ((2, 7, 3), lambda: kl.AveragePooling1D(3, strides=2, padding="same")),
    "GlobalAveragePooling2D": (IMAGE, lambda: kl.GlobalAveragePooling2D()),
    "GlobalMaxPooling2D": (IMAGE, lambda: kl.GlobalMaxPooling2D(keepdims=True)),
    "Flatten": ((2, 3, 4), lambda: kl.Flatten()),
}

print("// Written by layers.py with Keras %s." % keras.__version__)
print("const std::map<std::string, Doubles> keras_layers = {")
for name, (shape, make) in CASES.items():
    layer = make()
    x = jnp.asarray(wave(shape, 1.0))
    layer.build(shape)
    for i, variable in enumerate(layer.trainable_variables):
        variable.assign(wave(variable.shape, 2.0 + i))
    options = {}
    if name.endswith("training"):
        options["training"] = True
    if name.endswith("masked"):
        options["mask"] = jnp.asarray([[True, True, False, True, False], [False, True, True, True, True]])
    fixed = layer.non_trainable_variables

    def loss(x, weights):
        y, _ = layer.stateless_call(weights, [v.value for v in fixed], x, **options)
        return jnp.sum(y * wave(y.shape, 9.0)), y

    (_, y), (dx, dweights) = jax.value_and_grad(loss, argnums=(0, 1), has_aux=True)(
        x, [v.value for v in layer.trainable_variables]
    )
    values = np.concatenate([np.ravel(v) for v in [y, dx, *dweights]])
    print('{"%s", {%s}},' % (name, ", ".join("%.10g" % v for v in values)))
print("};")
