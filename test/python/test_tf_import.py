"""What importing `weft.tf` changes for the rest of the process: printed forms, which one call takes back, and nothing else."""

import subprocess
import sys

PROGRAM = r"""
import inspect, sys
import numpy as np
import weft as wf
from weft import _weft

def of(cls, name):
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)

modules = [wf, _weft, wf.nn, wf.optimizers, wf.losses, wf.metrics, wf.data, wf.random, wf.train, wf.initializers, wf.schedules]
classes = {x for m in modules for x in vars(m).values() if inspect.isclass(x) and x.__module__.startswith("weft")}
members = {(c, name): of(c, name) for c in classes for name in dir(c)}
names = {(m.__name__, name): value for m in modules for name, value in vars(m).items()}

x = wf.tensor([[1.0, 2.0], [3.0, 5.0]])
whole = wf.tensor([1, 2])
forms = {
    "repr": lambda: (repr(x), str(x), repr(x.dtype), repr(wf.Variable(1.0, name="v")), repr(wf.TensorSpec([2]))),
    "shape": lambda: type(x.shape), "name": lambda: wf.Variable(1.0, name="v").name, "device": lambda: x.device,
}
values = {
    **{"np." + name: lambda name=name: getattr(np, name)(x) for name in (
        "sum", "mean", "std", "var", "prod", "max", "min", "ptp", "argmax", "argmin", "round", "trace", "transpose", "exp")},
    "np.clip": lambda: np.clip(x, 0, 1), "np.dot": lambda: np.dot(x, x), "np.take": lambda: np.take(x, 1),
    "whole": lambda: np.mean(whole), "wf.std": lambda: wf.std(x), "method": lambda: x.std(ddof=1),
    "array": lambda: wf.TensorArray("float32", 3).size(),
}
def results(of):
    return {word: (type(y := f()), getattr(y, "dtype", None), str(y)) for word, f in of.items()}

printed, computed = results(forms), results(values)

class Parts(wf.Model):  # a class of the user that has attributes by Keras's names
    def __init__(self):
        super().__init__()
        self.weights, self.trainable, self.output_shape, self.trainable_weights = [1], False, 2, []

class Own(wf.nn.Layer):
    def __init__(self):
        super().__init__()
        self.weights, self.trainable, self.count_params = [1], False, 4

class Step(wf.optimizers.Optimizer):
    def __init__(self):
        super().__init__([], 0.1)
        self.iterations = 3

from weft import tf
for path in tf.__dir__():
    getattr(tf, path, None)
import weft.tf.keras.layers, weft.tf.keras.models, weft.tf.keras.optimizers, weft.tf.keras.metrics
[getattr(m, name) for m in (tf.keras.layers, tf.keras.models, tf.keras.optimizers, tf.keras.metrics) for name in dir(m)]

assert results(forms) != printed
wf.set_printoptions(style="numpy")
for word, (was, now) in {w: (v, results(forms)[w]) for w, v in printed.items()}.items():
    assert was == now, (word, was, now)
for word, now in results(values).items():
    assert now == computed[word], (word, computed[word], now)
changed = [(c.__name__, name) for (c, name), value in members.items() if of(c, name) is not value and name != "_abc_impl"]
assert not changed, changed
changed = [key for key, value in names.items() if vars(sys.modules[key[0]]).get(key[1]) is not value]
assert not changed, changed
derivable = [wf.Module, wf.Model, wf.Sequential, wf.nn.Layer, wf.optimizers.Optimizer, wf.metrics.Metric]
added = [(c.__name__, name) for c in derivable for name in dir(c) if (c, name) not in members]
assert not added, added
assert (Parts().weights, Parts().trainable, Own().count_params, Step().iterations) == ([1], False, 4, 3)
assert not {"weights", "trainable"} & set(dir(wf.Model()))
print("the same")
"""


def test_what_is_not_printed_stays_as_it_was():
    ran = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0 and ran.stdout == "the same\n", ran.stderr[-3000:]
