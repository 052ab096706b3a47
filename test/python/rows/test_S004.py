"""Notes on eager execution in TensorFlow 1: the programs S004-1 to S004-15."""

import gc
import weakref

import numpy as np
import pytest

import weft as wf
from weft import tf


def test_S004_1_eager_execution_is_there():
    tf.enable_eager_execution()
    assert tf.executing_eagerly()
    with pytest.raises(NotImplementedError, match="tf.Variable, tf.keras.metrics and tf.train.Checkpoint"):
        tf.contrib.eager.Variable(1.0)


def test_S004_2_values_can_be_looked_at(capsys):
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = x * x
        print(y)
        assert y.numpy() == 9.0
        z = y + 1
    assert float(tape.gradient(z, x)) == 6.0
    assert capsys.readouterr().out == "tf.Tensor(9.0, shape=(), dtype=float32)\n"


def test_S004_3_numpy_and_tensors():
    a = tf.constant([[1.0, 2.0]])
    assert np.multiply(a, 2).tolist() == [[2, 4]]
    assert tf.multiply([[1, 2]], np.array([[3, 4]], np.int32)).numpy().tolist() == [[3, 8]]
    assert isinstance(a.numpy(), np.ndarray)


def test_S004_4_layers_one_after_the_other():
    model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,)), tf.keras.layers.Dense(1)])
    x = tf.constant([[1.0, 2.0]])
    first, second = model.layers
    np.testing.assert_array_equal(model(x).numpy(), second(first(x)).numpy())


class MNISTModel(tf.keras.Model):
    def __init__(self):
        super(MNISTModel, self).__init__()
        self.dense1 = tf.keras.layers.Dense(units=10)
        self.dense2 = tf.keras.layers.Dense(units=10)

    def call(self, input):
        """Run the model."""
        result = self.dense1(input)
        result = self.dense2(result)
        result = self.dense2(result)  # reuse variables from dense2 layer
        return result


def test_S004_5_a_model_needs_no_shape_of_inputs():
    model = MNISTModel()
    assert not model.built
    batch = tf.zeros([1, 1, 784])
    result = model(batch)
    assert result.shape == (1, 1, 10) and not result.numpy().any()
    assert [v.shape for v in model.trainable_variables] == [(784, 10), (10,), (10, 10), (10,)]


def test_S004_6_gradients_of_a_list(capsys):
    w = tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        loss = w * w
    grad = tape.gradient(loss, [w])
    print(grad)
    assert isinstance(grad, list) and grad[0].numpy().tolist() == [[2.0]]
    assert capsys.readouterr().out == "[<tf.Tensor: shape=(1, 1), dtype=float32, numpy=array([[2.]], dtype=float32)>]\n"


def test_S004_7_state_lives_as_long_as_its_object():
    v = tf.Variable(tf.zeros([100]))
    dead = weakref.ref(v)
    del v
    gc.collect()
    assert dead() is None


def test_S004_8_checkpoints_of_objects(folder):
    x = tf.Variable(10.0)
    checkpoint = tf.train.Checkpoint(x=x)
    x.assign(2.0)
    save_path = checkpoint.save("./ckpt/")
    x.assign(11.0)
    checkpoint.restore(save_path)
    assert float(x) == 2.0

    model = MNISTModel()
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)
    global_step = tf.Variable(7, dtype=tf.int64)
    root = tf.train.Checkpoint(model=model, optimizer=optimizer, global_step=global_step)
    with tf.GradientTape() as tape:
        value = tf.reduce_sum(tf.square(model(tf.ones([2, 3]))))
    variables = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(value, variables), variables))
    path = root.save("./model/ckpt")
    kept = [v.numpy() for v in variables]
    for v in variables:
        v.assign(tf.zeros_like(v))
    global_step.assign(0)
    root.restore(path).assert_consumed()
    assert int(global_step) == 7 and int(optimizer.iterations) == 1
    for v, value in zip(variables, kept):
        np.testing.assert_array_equal(v.numpy(), value)


def test_S004_9_metrics_are_objects():
    m = tf.keras.metrics.Mean("loss")
    m(0)
    m(5)
    assert m.result().numpy() == 2.5
    m([8, 9])
    assert m.result().numpy() == 5.5
    m.reset_state()
    m.update_state([1.0, 2.0])
    assert m.result().numpy() == 1.5


def test_S004_10_heavy_and_light_models_eager_and_compiled():
    # The ratio of their times is the benchmarks' business.
    heavy = tf.keras.Sequential([tf.keras.layers.Dense(200, activation="relu"), tf.keras.layers.Dense(10)])
    light = tf.keras.layers.LSTMCell(4)
    x = tf.random.normal([20, 100], seed=1)
    np.testing.assert_allclose(tf.function(heavy)(x).numpy(), heavy(x).numpy(), rtol=1e-4, atol=1e-5)

    def unroll(cell, x):
        state = [tf.zeros([20, 4])] * 2
        for _ in range(5):
            y, state = cell(x, state)
        return y

    expected = unroll(light, x).numpy()
    np.testing.assert_allclose(tf.function(unroll)(light, x).numpy(), expected, rtol=1e-4, atol=1e-5)


def test_S004_11_a_graph_can_be_optimised_and_deployed(folder):
    @tf.function
    def f(x):
        unused = tf.exp(x)  # noqa: F841
        return (x + 0.0) * 2.0

    x = tf.constant([1.0, 2.0])
    assert f(x).numpy().tolist() == [2.0, 4.0]
    assert "exp" in f.ir(x, phase="trace") and "exp" not in f.ir(x, phase="simplify")
    concrete = f.get_concrete_function(tf.TensorSpec([2], tf.float32))
    assert concrete(x).numpy().tolist() == [2.0, 4.0]


def test_S004_12_input_by_data_sets():
    data = tf.data.Dataset.from_tensor_slices(np.arange(6, dtype=np.float32)).batch(2)
    sums = [float(tf.reduce_sum(batch)) for batch in data]
    assert sums == [1.0, 5.0, 9.0]
    assert [float(tf.reduce_sum(batch)) for batch in data] == sums  # again
    pairs = tf.data.Dataset.from_tensor_slices({"x": [1, 2], "y": [3.0, 4.0]})
    assert [(int(each["x"]), float(each["y"])) for each in pairs] == [(1, 3.0), (2, 4.0)]


def test_S004_13_eager_execution_cannot_be_turned_off():
    tf.enable_eager_execution()
    with pytest.raises(NotImplementedError, match="ops run at once, always"):
        tf.compat.v1.disable_eager_execution()
    assert tf.executing_eagerly()
    seen = []

    @tf.function
    def f(x):
        seen.append(tf.executing_eagerly())
        return x

    f(tf.constant(1))
    assert seen == [False] and tf.executing_eagerly()


def test_S004_14_one_source_for_both_modes():
    def step(model, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x) - y))
        return loss, tape.gradient(loss, model.trainable_variables)

    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="tanh"), tf.keras.layers.Dense(1)])
    x, y = tf.random.normal([8, 3], seed=1), tf.random.normal([8, 1], seed=2)
    loss, gradients = step(model, x, y)
    same, others = tf.function(step)(model, x, y)
    np.testing.assert_allclose(same.numpy(), loss.numpy(), rtol=1e-5)
    for a, b in zip(gradients, others):
        np.testing.assert_allclose(b.numpy(), a.numpy(), rtol=1e-4, atol=1e-6)


def test_S004_15_structures_of_python():
    class Stack(tf.keras.Model):
        def __init__(self, sizes):
            super().__init__()
            self.blocks = [tf.keras.layers.Dense(n, activation="relu") for n in sizes]
            self.heads = {"mean": tf.keras.layers.Dense(1), "scale": tf.keras.layers.Dense(1)}

        def call(self, x):
            for block in self.blocks:
                x = block(x)
            return {name: head(x) for name, head in self.heads.items()}

    model = Stack([4, 3])
    x = tf.ones([2, 5])
    out = model(x)
    assert sorted(out) == ["mean", "scale"] and out["mean"].shape == (2, 1)
    assert len(model.trainable_variables) == 8
    compiled = tf.function(model)(x)
    for name in out:
        np.testing.assert_allclose(compiled[name].numpy(), out[name].numpy(), rtol=1e-5)
    assert isinstance(model, wf.Module)
