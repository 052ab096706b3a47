"""Writes Optimizers.inc: what Keras 3's optimizers and schedules give, in f64.

Run with Keras 3 and JAX installed:  KERAS_BACKEND=jax python optimizers.py > Optimizers.inc
"""

import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"
import keras
import numpy as np
from keras import optimizers as ko

keras.config.set_floatx("float64")

STEPS = 5
START = {"kernel": np.array([1.0, -2.0, 0.5]), "bias": np.array([0.25])}
GRADIENTS = [
    {"kernel": np.array([0.1, -0.2, 1e-3]) * (1 + t) * (-1) ** t, "bias": np.array([3.0 - t])} for t in range(STEPS)
]

OPTIMIZERS = {
    "SGD": lambda: ko.SGD(0.1),
    "SGD momentum": lambda: ko.SGD(0.1, momentum=0.9),
    "SGD nesterov": lambda: ko.SGD(0.1, momentum=0.9, nesterov=True),
    "SGD decay": lambda: ko.SGD(0.1, weight_decay=0.1),
    "SGD clip_value": lambda: ko.SGD(0.1, clipvalue=0.15),
    "SGD clip_norm": lambda: ko.SGD(0.1, clipnorm=0.3),
    "SGD clip_global_norm": lambda: ko.SGD(0.1, global_clipnorm=0.3),
    "SGD accumulate": lambda: ko.SGD(0.1, gradient_accumulation_steps=2),
    "Adam": lambda: ko.Adam(0.1),
    "Adam amsgrad": lambda: ko.Adam(0.1, amsgrad=True),
    "Adam schedule": lambda: ko.Adam(ko.schedules.ExponentialDecay(0.1, 2, 0.5)),
    "AdamW": lambda: ko.AdamW(0.1),
    "RMSprop": lambda: ko.RMSprop(0.1),
    "RMSprop momentum": lambda: ko.RMSprop(0.1, momentum=0.5),
    "RMSprop centered": lambda: ko.RMSprop(0.1, centered=True, momentum=0.5),
    "Adagrad": lambda: ko.Adagrad(0.1),
    "Adadelta": lambda: ko.Adadelta(0.1),
    "Lamb": lambda: ko.Lamb(0.1),
    "Lion": lambda: ko.Lion(0.1),
}

SCHEDULES = {
    "exponential": ko.schedules.ExponentialDecay(0.1, 4, 0.5),
    "staircase": ko.schedules.ExponentialDecay(0.1, 4, 0.5, staircase=True),
    "cosine": ko.schedules.CosineDecay(0.1, 10, alpha=0.1),
    "cosine warmup": ko.schedules.CosineDecay(0.01, 10, alpha=0.1, warmup_target=0.2, warmup_steps=5),
    "piecewise": ko.schedules.PiecewiseConstantDecay([3, 7], [1.0, 0.5, 0.1]),
    "polynomial": ko.schedules.PolynomialDecay(0.1, 10, 0.01, power=2.0),
    "inverse time": ko.schedules.InverseTimeDecay(0.1, 4, 0.5),
}


def row(name, values):
    print('{"%s", {%s}},' % (name, ", ".join(repr(float(v)) for v in values)))


print("// Written by optimizers.py with Keras %s. Weights after each of %d steps." % (keras.__version__, STEPS))
print("const std::map<std::string, Doubles> keras_weights = {")
for name, make in OPTIMIZERS.items():
    optimizer = make()
    variables = [keras.Variable(value, name=key) for key, value in START.items()]
    optimizer.build(variables)
    values = []
    for gradients in GRADIENTS:
        optimizer.apply([gradients[v.name] for v in variables], variables)
        values += [x for v in variables for x in np.asarray(v.value)]
    row(name, values)
print("};")
print("// The rates at steps 0 to 17.")
print("const std::map<std::string, Doubles> keras_rates = {")
for name, schedule in SCHEDULES.items():
    row(name, [np.asarray(schedule(t)) for t in range(18)])
print("};")
