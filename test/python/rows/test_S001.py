"""AutoGraph revisited: the programs S001-1 to S001-15."""

import numpy as np
import pytest
from digits import digits

import weft as wf
from weft import tf


def test_S001_1_loop_carries_what_it_changes():
    @tf.function
    def f(x):
        y = 0
        while x > 0:
            x = x - 1
        return x, y

    x, y = f(tf.constant(3))
    assert int(x) == 0 and y == 0


def test_S001_2_collections_are_tensor_arrays():
    @tf.function
    def f(n):
        items = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            items = items.write(i, i * i)
        return items.stack()

    assert f(tf.constant(4)).numpy().tolist() == [0, 1, 4, 9]

    @tf.function
    def g(n):
        items = []
        for i in tf.range(n):
            items.append(i)
        return items

    with pytest.raises(TypeError, match="list.append.*carry a TensorArray"):
        g(tf.constant(4))


def test_S001_3_types_of_branches_and_loops_are_consistent():
    @tf.function
    def branch(x):
        if x > 0:
            y = tf.constant(1)
        else:
            y = tf.constant(1.5)
        return y

    with pytest.raises(TypeError, match="'y' has dtype int32 in the main branch, but dtype float32"):
        branch(tf.constant(1))

    @tf.function
    def loop(x):
        y = tf.constant(1)
        while x > 0:
            y = tf.cast(y, tf.float32) / 2
            x -= 1
        return y

    with pytest.raises(TypeError, match="'y' has dtype int32 before the loop, but dtype float32"):
        loop(tf.constant(3))


def test_S001_4_undefined_and_none_values():
    def f(x):
        if x > 0:
            y = tf.constant(1)
        else:
            y = None
        return y

    assert f(tf.constant(-1)) is None and int(f(tf.constant(1))) == 1
    with pytest.raises((TypeError, ValueError), match="'y' is None at the end of the else branch"):
        tf.function(f)(tf.constant(1))

    def g(x):
        if x > 0:
            z = x
        return z  # noqa: F821

    assert int(g(tf.constant(2))) == 2
    with pytest.raises((TypeError, ValueError), match="'z' must also be initialized in the else branch"):
        tf.function(g)(tf.constant(2))


def test_S001_5_source_code_must_be_accessible():
    f = tf.function(lambda x: x if x > 0 else -x)
    assert f(tf.constant(-3)).numpy() == 3
    scope = {}
    exec("def g(x):\n    if x > 0:\n        return x\n    return -x", scope)
    with pytest.warns(UserWarning, match="runs as it is, not converted by AutoGraph"):
        with pytest.raises(tf.errors.OperatorNotAllowedInGraphError):
            tf.function(scope["g"])(tf.constant(-3))


def test_S001_6_two_variables():
    a, b = tf.Variable(1.0), tf.Variable(1.0)

    @tf.function
    def f():
        a.assign(2.0)
        b.assign(3.0)
        return a + b

    assert float(f()) == 5.0


def test_S001_7_effects_keep_their_order(capfd):
    v = tf.Variable(1)

    @tf.function
    def f():
        tf.print("before", v)
        v.assign(2)
        tf.print("between", v)
        v.assign_add(3)
        tf.print("after", v)
        return v.read_value()

    assert int(f()) == 5
    assert capfd.readouterr().err == "before 1\nbetween 2\nafter 5\n"


def test_S001_8_find_next_odd():
    v = tf.Variable(5)

    @tf.function
    def find_next_odd():
        v.assign(v + 1)
        if v % 2 == 0:
            v.assign(v + 1)

    find_next_odd()
    assert int(v) == 7


def test_S001_9_a_model_runs_imperatively_or_traced():
    class Doubled(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.seen = []

        def call(self, x):
            self.seen.append(x.shape)
            return x * 2

    model = Doubled()
    for _ in range(3):
        assert model(tf.constant([1.0])).numpy().tolist() == [2.0]
    assert len(model.seen) == 3  # as Python each time
    step = tf.function(model)
    for _ in range(3):
        assert step(tf.constant([1.0])).numpy().tolist() == [2.0]
    assert len(model.seen) == 4  # traced once
    tf.config.run_functions_eagerly(True)
    try:
        step(tf.constant([1.0]))
        step(tf.constant([1.0]))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(model.seen) == 6


def test_S001_10_custom_model_with_a_branch():
    class CustomModel(tf.keras.models.Model):
        @tf.function
        def call(self, input_data):
            if tf.reduce_mean(input_data) > 0:
                return input_data
            else:
                return input_data // 2

    model = CustomModel()
    y = model(tf.constant([-2, -4]))
    assert y.dtype == tf.int32 and y.shape == (2,) and y.numpy().tolist() == [-1, -2]


def _mnist_dataset(count):
    x, y = digits(count)
    ds = tf.data.Dataset.from_tensor_slices((x / np.float32(255), y.astype(np.int64)))
    return ds.take(20000).shuffle(20000, seed=3).batch(100)


def _training():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Reshape(target_shape=(28 * 28,), input_shape=(28, 28)),
            tf.keras.layers.Dense(100, activation="relu"),
            tf.keras.layers.Dense(100, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    return model, tf.keras.optimizers.Adam()


class _Programs:
    """The functions of S001-11 to S001-14, each with its loss and its metric."""

    def __init__(self):
        compute_loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        compute_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()

        def train_one_step(model, optimizer, x, y):
            with tf.GradientTape() as tape:
                logits = model(x)
                loss = compute_loss(y, logits)
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            compute_accuracy(y, logits)
            return loss

        @tf.function
        def train(model, optimizer):
            train_ds = _mnist_dataset(2000)
            step = 0
            loss = 0.0
            accuracy = 0.0
            for x, y in train_ds:
                step += 1
                loss = train_one_step(model, optimizer, x, y)
                if step % 10 == 0:
                    tf.print("Step", step, ": loss", loss, "; accuracy", compute_accuracy.result())
            return step, loss, accuracy

        self.train_one_step, self.train, self.compute_accuracy = train_one_step, train, compute_accuracy


def test_S001_11_a_metric_updates_in_a_function():
    programs = _Programs()
    model, optimizer = _training()
    x, y = digits(20)
    step = tf.function(programs.train_one_step)
    images = tf.constant(x / np.float32(255))
    labels = tf.constant(y.astype(np.int64))
    expected = np.argmax(model(images).numpy(), axis=1) == y
    step(model, optimizer, images, labels)
    assert float(programs.compute_accuracy.result()) == pytest.approx(expected.mean())


def test_S001_12_train_one_step():
    programs = _Programs()
    model, optimizer = _training()
    x, y = digits(20)
    images, labels = tf.constant(x / np.float32(255)), tf.constant(y.astype(np.int64))
    step = tf.function(programs.train_one_step)
    losses = [float(step(model, optimizer, images, labels)) for _ in range(10)]
    assert losses[-1] < losses[0]
    assert int(optimizer.iterations) == 10
    assert step.experimental_get_tracing_count() == 1


def test_S001_13_a_whole_training_in_a_function(capfd):
    programs = _Programs()
    model, optimizer = _training()
    step, loss, accuracy = programs.train(model, optimizer)
    lines = capfd.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["Step 10 ", "Step 20 "]
    assert int(step) == 20 and float(loss) < 2.4 and float(accuracy) == 0.0
    assert lines[-1].endswith(f"; accuracy {programs.compute_accuracy.result().numpy():.6g}")


def test_S001_14_results_are_read_behind_the_function(capsys):
    programs = _Programs()
    model, optimizer = _training()
    step, loss, accuracy = programs.train(model, optimizer)
    print("Final step", step, ": loss", loss, "; accuracy", programs.compute_accuracy.result())
    out = capsys.readouterr().out
    assert out.startswith("Final step tf.Tensor(20, shape=(), dtype=int32) : loss tf.Tensor(")
    assert 0 < float(programs.compute_accuracy.result()) <= 1


def test_S001_15_model_and_optimizer_as_arguments():
    programs = _Programs()
    step = tf.function(programs.train_one_step)
    x, y = digits(10)
    images, labels = tf.constant(x / np.float32(255)), tf.constant(y.astype(np.int64))
    model, optimizer = _training()
    step(model, optimizer, images, labels)
    step(model, optimizer, images, labels)
    assert step.experimental_get_tracing_count() == 1
    step(*_training(), images, labels)
    assert step.experimental_get_tracing_count() == 2
    assert isinstance(step, wf.Function)
