"""The rows py_*: one measurement in Python, by Weft, NumPy, JAX, PyTorch or TensorFlow.

A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON line.

    rows.py weft|numpy|jax|torch|tensorflow ROW
"""

import json
import os
import sys
import time

TAPE_ADDS = 2000

def seconds_per_call(run, budget=0.1):
    """Seconds per call of `run(count)`, with growing counts until one took the budget."""
    count = 1
    while True:
        start = time.perf_counter()
        run(count)
        spent = time.perf_counter() - start
        if spent >= budget:
            return spent / count
        count *= 8 if spent < budget / 16 else 2


def calls(f, *args):
    """Seconds per call of `f(*args)`."""

    def run(count):
        for _ in range(count):
            f(*args)

    return lambda: seconds_per_call(run)


def first(f):
    """Seconds of one call."""

    def repeat():
        start = time.perf_counter()
        f()
        return time.perf_counter() - start

    return repeat


def add(x, y):
    return x + y


def leaves(d):
    return d["k0"] + d["k63"]


def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


def many(x):
    for _ in range(20000):
        x = x + 1
    return x


def lstm(module):
    """An LSTM cell of 10 units on a batch of 10, of operators and functions alone."""

    def cell(x, h, c, kernel, recurrent, bias):
        gates = x @ kernel + h @ recurrent + bias
        i, f, g, o = (gates[:, 10 * k : 10 * (k + 1)] for k in range(4))
        c = module.sigmoid(f) * c + module.sigmoid(i) * module.tanh(g)
        return module.sigmoid(o) * module.tanh(c), c

    return cell


def adds_on_a_tape(wf, x, y):
    """Seconds per recorded add. A tape grows by what it records: each round has one of its own, made and dropped outside of the time."""

    def repeat():
        spent = 0.0
        for _ in range(50):
            with wf.GradientTape() as tape:
                tape.watch(x)
                start = time.perf_counter()
                for _ in range(TAPE_ADDS):
                    add(x, y)
                spent += time.perf_counter() - start
        return spent / (50 * TAPE_ADDS)

    return repeat


def training_step(wf):
    """The step of the network of row S000-4; benchmarks/PythonRows.cpp has the same in C++."""
    nn = wf.nn
    model = wf.Sequential([nn.Conv2D(16, 3, activation="relu"), nn.Conv2D(16, 3, activation="relu"), nn.GlobalAveragePooling2D(), nn.Dense(10)])
    model.build((None, 28, 28, 1))
    adam = wf.optimizers.Adam(model, 1e-3)
    loss_of = wf.losses.SparseCategoricalCrossentropy(from_logits=True)

    def step(x, y):
        with wf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        adam.apply_gradients(tape.gradient(loss, model.trainable_variables))
        return loss

    return step


def weft(row):
    import weft as wf

    x, y = wf.tensor([1.0] * 8), wf.tensor([2.0] * 8)
    with_version = f"Weft {wf.__version__}"
    if row == "add8":
        return "ns", calls(add, x, y), with_version
    if row == "tape_add8":
        return "ns", adds_on_a_tape(wf, x, y), with_version
    if row in ("step_eager", "step_compiled"):
        step = training_step(wf)
        images, labels = wf.random.uniform([32, 28, 28, 1], seed=1), wf.zeros([32], "int32")
        return "us", calls(step if row == "step_eager" else wf.function(step), images, labels), with_version
    if row == "dlpack":
        import numpy as np

        return "ns", calls(wf.from_dlpack, np.ones(8, np.float32)), with_version
    if row == "call_2":
        return "ns", calls(wf.function(add), x, y), with_version
    if row == "call_dict64":
        return "ns", calls(wf.function(leaves), {f"k{i}": wf.tensor([float(i)] * 8) for i in range(64)}), with_version
    if row == "trace_20k":
        import warnings

        warnings.simplefilter("ignore")
        return "s", first(lambda: wf.function(many).ir(x, phase="trace")), with_version
    if row == "sum_even":
        return "us", calls(wf.function(sum_even), wf.arange(10000)), with_version
    if row == "lstm_eager":
        cell, zeros = wf.nn.LSTMCell(10), wf.zeros([10, 10])
        states = [zeros, zeros]
        cell(zeros, states)
        return "us", calls(cell, zeros, states), with_version
    cell, args = lstm(wf.nn), lstm_arguments(wf.zeros)
    return "us", calls(wf.function(lambda *a: cell(*a)), *args), with_version


def lstm_arguments(zeros):
    return [zeros([10, 10]), zeros([10, 10]), zeros([10, 10]), zeros([10, 40]), zeros([10, 40]), zeros([40])]


def numpy(row):
    import numpy as np

    with_version = f"NumPy {np.__version__}"
    if row == "add8":
        return "ns", calls(add, np.ones(8, np.float32), np.ones(8, np.float32)), with_version
    return "ns", calls(np.from_dlpack, np.ones(8, np.float32)), with_version


def jax(row):
    import jax as j

    j.config.update("jax_platforms", "cpu")
    with_version = f"JAX {j.__version__}"

    def waiting(f):
        f = j.jit(f)
        return lambda *args: j.block_until_ready(f(*args))

    ones = j.numpy.ones(8)
    if row == "call_2":
        return "ns", calls(j.jit(add), ones, j.numpy.ones(8)), with_version
    if row == "call_dict64":
        return "ns", calls(j.jit(leaves), {f"k{i}": j.numpy.ones(8) for i in range(64)}), with_version
    if row == "trace_20k":
        return "s", first(lambda: j.make_jaxpr(lambda x: many(x))(ones)), with_version

    class Functions:
        sigmoid, tanh = staticmethod(j.nn.sigmoid), staticmethod(j.numpy.tanh)

    return "us", calls(waiting(lstm(Functions)), *lstm_arguments(j.numpy.zeros)), with_version


def torch(row):
    import torch as t

    t.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    with_version = f"PyTorch {t.__version__}"
    if row == "tape_add8":
        return "ns", calls(add, t.ones(8, requires_grad=True), t.ones(8)), with_version
    cell, zeros = t.nn.LSTMCell(10, 10), t.zeros(10, 10)
    with t.inference_mode():
        return "us", calls(t.inference_mode()(cell), zeros, (zeros, zeros)), with_version


def tensorflow(row):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    return "us", calls(tf.function(sum_even), tf.range(10000)), f"TensorFlow {tf.__version__}"


def main(library, row):
    unit, repeat, made_with = globals()[library](row)
    scale = {"ns": 1e9, "us": 1e6, "s": 1.0}[unit]
    repeat()
    for _ in sys.stdin:
        print(json.dumps({"value": scale * repeat(), "unit": unit, "with": made_with}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
