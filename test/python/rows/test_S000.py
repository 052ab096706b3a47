"""Eager execution in TensorFlow 2.0: the programs S000-1 to S000-11."""

import cProfile
import io
import os
import pstats
import subprocess
import sys

import numpy as np
import pytest

import weft as wf
from weft import tf


def test_S000_1_imports():
    import cProfile  # noqa: F401
    import os  # noqa: F401

    assert tf.executing_eagerly()


_DEBUGGED = """
from weft import tf
x = tf.constant([3.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = x * x
    breakpoint()
    z = y * 2
print(tape.gradient(z, x))
"""


def test_S000_2_a_debugger_shows_values(tmp_path):
    path = tmp_path / "debugged.py"
    path.write_text(_DEBUGGED)
    done = subprocess.run(
        [sys.executable, str(path)],
        input="p y\np tf.reduce_sum(y).numpy()\nc\n",
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert "<tf.Tensor: shape=(1,), dtype=float32, numpy=array([9.], dtype=float32)>" in done.stdout
    assert done.stdout.endswith("tf.Tensor([12.], shape=(1,), dtype=float32)\n"), done.stderr

    profile = cProfile.Profile()
    a = profile.runcall(lambda: tf.matmul([[2.0]], [[3.0]]))
    text = io.StringIO()
    pstats.Stats(profile, stream=text).print_stats()
    assert a.numpy() == 6 and "matmul" in text.getvalue()


def _dataset(images, labels):
    dataset = tf.data.Dataset.from_tensor_slices(
        (tf.cast(images[..., tf.newaxis] / 255, tf.float32), tf.cast(labels, tf.int64))
    )
    return dataset.shuffle(1000).batch(32)


def test_S000_3_digits_in_batches(mnist):
    for images, labels in _dataset(*mnist):
        assert images.shape == (32, 28, 28, 1) and images.dtype == tf.float32
        assert labels.shape == (32,) and labels.dtype == tf.int64
        assert 0 <= float(tf.reduce_min(images)) and float(tf.reduce_max(images)) <= 1
    many = tf.data.Dataset.from_tensor_slices(np.zeros(60000, np.int64)).shuffle(1000).batch(32)
    assert sum(1 for _ in many) == 1875


def _model():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, [3, 3], activation="relu", input_shape=(None, None, 1)),
            tf.keras.layers.Conv2D(16, [3, 3], activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(10),
        ]
    )


def test_S000_4_the_model():
    mnist_model = _model()
    shapes = [v.shape for v in mnist_model.trainable_variables]
    assert shapes == [(3, 3, 1, 16), (16,), (3, 3, 16, 16), (16,), (16, 10), (10,)]
    assert sum(v.shape.num_elements() for v in mnist_model.trainable_variables) == 2650
    assert mnist_model(tf.zeros([2, 28, 28, 1])).shape == (2, 10)
    assert len(mnist_model.layers) == 4


def test_S000_5_optimizer_loss_and_history():
    optimizer = tf.keras.optimizers.Adam()
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    assert float(optimizer.learning_rate) == pytest.approx(0.001)
    v = tf.Variable(1.0)
    optimizer.apply_gradients([(tf.constant(2.0), v)])
    # m = 0.1 g and s = 0.001 g^2, both corrected for the first step: lr g / (|g| + eps)
    assert float(v) == pytest.approx(1 - 0.001, abs=1e-6)
    assert int(optimizer.iterations) == 1
    assert float(loss_object([0], [[2.0, 2.0]])) == pytest.approx(np.log(2))


class _Training:
    def __init__(self, mnist, keeps_history=True):
        dataset = _dataset(*mnist)
        mnist_model = _model()
        optimizer = tf.keras.optimizers.Adam()
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        loss_history = []

        def train_step(images, labels):
            with tf.GradientTape() as tape:
                logits = mnist_model(images, training=True)
                # Add asserts to check the shape of the output.
                tf.debugging.assert_equal(logits.shape, (32, 10))
                loss_value = loss_object(labels, logits)
            if keeps_history:
                loss_history.append(loss_value.numpy().mean())
            grads = tape.gradient(loss_value, mnist_model.trainable_variables)
            optimizer.apply_gradients(zip(grads, mnist_model.trainable_variables))
            return loss_value

        self.dataset, self.model, self.loss_history = dataset, mnist_model, loss_history
        self.train_step = train_step

    def train(self, epochs, step=None):
        for epoch in range(epochs):
            for batch, (images, labels) in enumerate(self.dataset):
                (step or self.train_step)(images, labels)
            print("Epoch {} finished".format(epoch))


def test_S000_6_train_step(mnist):
    training = _Training(mnist)
    for number, (images, labels) in enumerate(training.dataset.take(3)):
        training.train_step(images, labels)
        assert len(training.loss_history) == number + 1


def test_S000_7_train(mnist, capsys):
    training = _Training(mnist)
    training.train(epochs=3)
    assert capsys.readouterr().out == "Epoch 0 finished\nEpoch 1 finished\nEpoch 2 finished\n"
    assert np.mean(training.loss_history[-5:]) < np.mean(training.loss_history[:5])


def test_S000_8_a_tape_records_forward_and_runs_backward():
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
    z = y * 100  # not recorded
    assert float(tape.gradient(y, x)) == 6.0 and float(z) == 900.0
    with tf.GradientTape() as tape:
        y = x * x
    z = y * 100
    assert tape.gradient(z, x) is None


def test_S000_9_numpy_of_a_symbolic_tensor(mnist):
    training = _Training(mnist)
    step = tf.function(training.train_step)
    images, labels = next(iter(training.dataset))
    with pytest.raises(AttributeError, match=r"test_S000\.py:\d+: numpy: .*'train_step' is traced: return it") as caught:
        step(images, labels)
    line = caught.value.line
    with open(__file__) as file:
        assert "loss_value.numpy().mean()" in file.readlines()[line - 1]

    # Without the history the step is a function, and it is the same as the eager one.
    losses = []
    for runs_eagerly in (False, True):
        training = _Training(mnist, keeps_history=False)
        tf.config.run_functions_eagerly(runs_eagerly)
        try:
            for v in training.model.trainable_variables:
                v.assign(tf.reshape(tf.linspace(-0.5, 0.5, v.shape.num_elements()), v.shape))
            step = tf.function(training.train_step)
            losses.append([float(step(images, labels)) for _ in range(4)])
        finally:
            tf.config.run_functions_eagerly(False)
    assert losses[0][-1] < losses[0][0]
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)


def test_S000_10_a_function_object():
    runs = []

    @tf.function
    def f(x):
        """Doubles."""
        runs.append(1)
        return x * 2

    assert isinstance(f, tf.types.experimental.GenericFunction) and isinstance(f, wf.Function)
    assert runs == [] and f.experimental_get_tracing_count() == 0
    assert f(tf.constant(2)).numpy() == 4 and f(tf.constant(3)).numpy() == 6
    assert runs == [1] and f.experimental_get_tracing_count() == 1
    assert f.python_function(tf.constant(4)).numpy() == 8
    assert f.__name__ == "f" and f.__doc__ == "Doubles."


def test_S000_11_a_function_is_written_eagerly_and_runs_lazily(capsys):
    def f(x):
        print("Python runs")
        return tf.reduce_sum(x)

    x = tf.constant([1.0, 2.0])
    f(x), f(x)
    assert capsys.readouterr().out == "Python runs\n" * 2
    g = tf.function(f)
    assert float(g(x)) == float(g(x)) == 3.0
    assert capsys.readouterr().out == "Python runs\n"
