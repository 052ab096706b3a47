"""Layers, optimizers and metrics of the user: subclasses of what the package calls its base classes, in models, runs, checkpoints and traced functions."""

import copy
import pickle

import numpy as np
import pytest

import weft as wf
from weft import tf

X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(-1, 1)
Y = 3 * X + 2


class Scale(wf.nn.Layer):
    def __init__(self):
        super().__init__()

    def build(self, input_shape):
        self.factor = self.add_weight(input_shape[-1:], "ones")

    def call(self, x, training=False):
        return x * self.factor + (1.0 if training else 0.0)


class Momentum(wf.optimizers.Optimizer):
    def update_step(self, gradient, variable, learning_rate):
        velocity = self.slot(variable, "momentum")
        velocity.assign(0.5 * velocity - learning_rate * gradient)
        variable.assign_add(velocity)


class Largest(wf.metrics.Metric):
    def __init__(self):
        super().__init__(name="largest")
        self.value = self.add_weight()

    def update(self, y, predictions):
        self.value.assign(wf.maximum(self.value, wf.max(wf.abs(predictions))))

    def result(self):
        return self.value.value()


class Tenfold(wf.optimizers.SGD):
    def apply_gradients(self, gradients):
        super().apply_gradients([g * 10 for g in gradients])


def test_the_classes_of_the_library_are_theirs():
    assert isinstance(wf.nn.Dense(1), wf.nn.Layer) and issubclass(wf.nn.LSTM, wf.nn.Layer)
    assert isinstance(wf.metrics.Mean(), wf.metrics.Metric)
    assert isinstance(wf.optimizers.SGD(0.1), wf.optimizers.Optimizer)
    assert isinstance(tf.keras.optimizers.Adam(), tf.keras.optimizers.Optimizer)
    assert isinstance(tf.keras.layers.Dense(1), tf.keras.layers.Layer)
    assert isinstance(tf.keras.Sequential(), tf.keras.layers.Layer)
    assert not isinstance(wf.Sequential(), wf.nn.Layer) and not isinstance(wf.nn.Dense(1), Scale)


@pytest.mark.parametrize("base", [wf.nn.Layer, wf.metrics.Metric, wf.optimizers.Optimizer])
def test_themselves_they_are_none(base):
    with pytest.raises(TypeError, match=f"{base.__name__} is what classes derive from: write a subclass with"):
        base()


def test_a_layer():
    layer = Scale()
    assert layer.variables == [] and not layer.built
    assert layer(wf.ones((2, 3)), training=True).numpy().tolist() == [[2.0] * 3] * 2
    assert list(layer.named_variables()) == ["factor"] and layer.built
    model = wf.Sequential([wf.nn.Dense(2), Scale()])
    call = wf.function(lambda x: model(x))
    np.testing.assert_allclose(call(wf.ones((2, 3))), model(wf.ones((2, 3))))
    assert list(model.named_variables()) == ["0.kernel", "0.bias", "1.factor"]
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again(wf.ones((2, 3))), model(wf.ones((2, 3))))
    assert copy.deepcopy(layer).factor is not layer.factor


def quiet(model, **options):
    data = wf.data.from_tensors(X, Y).batch(8)
    return wf.train.fit(model, data, loss=wf.losses.mean_squared_error, progress=False, **options)


@pytest.mark.parametrize("compile", [True, False])
def test_all_three_in_fit(compile, tmp_path):
    model = wf.Sequential([wf.nn.Dense(1, kernel_initializer="ones"), Scale()])
    optimizer, metric = Momentum(learning_rate=0.05), Largest()
    history = quiet(model, optimizer=optimizer, metrics=[metric], epochs=30, compile=compile)
    assert history.last("loss") < 0.2 and 3 < history.last("largest") < 8
    assert int(optimizer.step) == 120 and len(optimizer.state) == 4
    assert float(metric.value) == 0.0  # reset behind each epoch


def test_the_optimizer_is_that_of_the_library():
    def trained(make):
        model = wf.nn.Dense(1, kernel_initializer="ones").build((None, 1))
        optimizer = make(model)
        for _ in range(5):
            optimizer.minimize(lambda: wf.mean((model(X) - Y) ** 2))
        return model.kernel.numpy(), model.bias.numpy()

    for ours, theirs in zip(
        trained(lambda model: Momentum(model, 0.1)),
        trained(lambda model: wf.optimizers.SGD(model, 0.1, momentum=0.5)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_checkpoints_of_a_model_a_metric_and_an_optimizer(tmp_path):
    def new():
        model = wf.Sequential([wf.nn.Dense(1, kernel_initializer="ones"), Scale()])
        return model, Momentum(model, 0.05), Largest()

    def step(model, optimizer, metric):
        loss = optimizer.minimize(lambda: wf.mean((model(X) - Y) ** 2))
        metric.update(Y, model(X))
        return float(loss)

    one = new()
    for _ in range(3):
        step(*one)
    path = str(tmp_path / "run")
    names = ("model", "optimizer", "metric")
    wf.Checkpoint(**dict(zip(names, one))).write(path)
    assert "optimizer.slots.momentum.0.kernel" in wf.io.safetensors_names(path)
    other = new()
    wf.Checkpoint(**dict(zip(names, other))).restore(path)
    assert [step(*other) for _ in range(3)] == [step(*one) for _ in range(3)]
    assert float(one[2].result()) == float(other[2].result())


def test_a_run_that_goes_on(tmp_path):
    def run(epochs):
        model = wf.Sequential([wf.nn.Dense(1, kernel_initializer="ones"), Scale()]).build((None, 1))
        optimizer = Momentum(learning_rate=0.05)
        quiet(model, optimizer=optimizer, metrics=[Largest()], epochs=epochs, checkpoints=tmp_path)
        return model(X).numpy(), optimizer

    run(2)
    assert int(run(2)[1].step) == 8  # it was finished
    resumed, _ = run(4)
    whole = wf.Sequential([wf.nn.Dense(1, kernel_initializer="ones"), Scale()]).build((None, 1))
    quiet(whole, optimizer=Momentum(whole, 0.05), epochs=4)
    np.testing.assert_array_equal(resumed, whole(X).numpy())


def test_an_optimizer_is_no_part_of_a_model():
    model = wf.Sequential([wf.nn.Dense(1)])
    model(X)
    model.optimizer = Momentum(model, 0.1)
    model.optimizer.minimize(lambda: wf.mean(model(X)))
    assert len(model.variables) == 2 and len(model.optimizer.variables) == 2


def test_an_override_of_apply_gradients_is_what_minimize_calls():
    v = wf.Variable([1.0])
    Tenfold([v], 0.1).minimize(lambda: wf.sum(v * 1.0))
    assert v.numpy() == [0.0]
    step = Tenfold([v], 0.1)
    assert float(wf.function(lambda: step.minimize(lambda: wf.sum(v * 1.0)))()) == 0.0
    assert v.numpy() == [-1.0]
    Tenfold(learning_rate=0.1).minimize(lambda: wf.sum(v * 1.0), [v])
    assert v.numpy() == [-2.0]


def test_what_is_wrong_with_an_optimizer():
    v = wf.Variable([1.0])

    class Nothing(wf.optimizers.Optimizer):
        pass

    class NoInit(wf.optimizers.Optimizer):
        def __init__(self):
            pass

    with pytest.raises(NotImplementedError, match="Nothing has no method update_step"):
        Nothing([v]).apply_gradients([v])
    with pytest.raises(wf.StateError, match="this NoInit was never initialized"):
        NoInit().apply_gradients([v])
    with pytest.raises(wf.StateError, match="Momentum: it was made without variables"):
        Momentum(0.1).apply_gradients([v])
    with pytest.raises(ValueError, match="Momentum: there are 2 gradients for 1 parameters"):
        Momentum([v]).apply_gradients([v, v])
    with pytest.raises(ValueError, match="the variable 'other.* is none of those"):
        Momentum([v]).apply_gradients([(v, wf.Variable([1.0], name="other"))])
    with pytest.raises(TypeError, match="learning_rate is a str"):
        Momentum([v], "fast")
    with pytest.raises(TypeError, match="a list of variables is wanted"):
        Momentum([1.0, 2.0])
    with pytest.raises(wf.ShapeError, match="the loss must be a scalar"):
        Momentum([v]).minimize(lambda: v * 1.0)
    with pytest.raises(wf.StateError, match="stays as it is"):
        Momentum([v]).learning_rate = 0.1


def test_rates():
    v = wf.Variable([0.0])
    rate = wf.Variable(1.0)
    optimizer = Momentum([v], rate)
    optimizer.learning_rate = 0.25
    optimizer.apply_gradients([wf.tensor([1.0])])
    assert v.numpy() == [-0.25] and optimizer.learning_rate is rate
    scheduled = Momentum(lambda step: 1.0 / (wf.cast(step, "float32") + 1))
    for _ in range(2):
        scheduled.apply_gradients([(wf.tensor([1.0]), v)])
    assert float(scheduled.learning_rate) == pytest.approx(1 / 3)
    assert v.numpy() == [-0.25 - 1.0 - (0.5 + 0.5)]


# TensorFlow's spelling.


class KerasMomentum(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.05, name="momentum"):
        super().__init__(learning_rate=learning_rate, name=name)

    def build(self, variables):
        super().build(variables)
        self.velocities = [self.add_variable_from_reference(v, name="velocity") for v in variables]
        self.index = {id(v): i for i, v in enumerate(variables)}

    def update_step(self, gradient, variable, learning_rate):
        velocity = self.velocities[self.index[id(variable)]]
        velocity.assign(velocity * 0.5 - gradient * learning_rate)
        variable.assign_add(velocity)


class KerasTenfold(tf.keras.optimizers.SGD):
    def apply_gradients(self, grads_and_vars, name=None):
        return super().apply_gradients([(g * 10, v) for g, v in grads_and_vars])


class KerasLargest(tf.keras.metrics.Metric):
    def __init__(self, name="largest"):
        super().__init__(name=name)
        self.value = self.add_weight(name="value", initializer="zeros")

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.value.assign(tf.maximum(self.value, tf.reduce_max(y_pred)))

    def result(self):
        return self.value


@pytest.mark.parametrize("metric", [KerasLargest, Largest])
def test_compile_and_fit(metric, tmp_path):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1), Scale()])
    model.compile(KerasMomentum(), "mse", [metric()])
    history = model.fit(X, Y, epochs=40, verbose=0).history
    assert history["loss"][-1] < 0.5 < history["loss"][0] and history["largest"][-1] > 3
    assert int(model.optimizer.iterations) == 40
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(str(tmp_path / "run"))
    metric = KerasLargest()
    quiet(tf.keras.Sequential([tf.keras.layers.Dense(1)]), optimizer=Momentum(0.1), metrics=[metric])


def test_overrides_in_fit_and_minimize():
    v = tf.Variable(1.0)
    KerasTenfold(0.1).minimize(lambda: v * 1.0, [v])
    assert float(v) == 0.0
    model, other = (tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="ones")]) for _ in range(2))
    model.compile(KerasTenfold(0.01), "mse")
    other.compile(tf.keras.optimizers.SGD(0.1), "mse")
    for each in (model, other):
        each.fit(X, Y, epochs=2, shuffle=False, verbose=0)
    np.testing.assert_allclose(model.layers[0].kernel, other.layers[0].kernel, rtol=1e-5)


@pytest.mark.parametrize("base", [wf.nn.Layer, tf.keras.layers.Layer, wf.metrics.Metric])
def test_weights_are_of_the_shape_that_was_asked_for(base):
    class Own(base):
        def call(self, x):
            return x

    own = Own()

    def add(initializer="ones", shape=(2,), **options):
        return own.add_weight(shape=shape, initializer=initializer, **options)

    assert add().shape == (2,) and add(shape=2).shape == add(shape=np.int64(2)).shape == (2,) and add(shape=()).shape == ()
    assert add(lambda shape, dtype: np.ones(shape)).dtype == "float32"
    for gives in (wf.ones(3), wf.ones(()), wf.ones((1, 2)), [1.0]):
        with pytest.raises(wf.ShapeError, match=r"add_weight: the initializer gave the shape \(.*\), but \(2,\) is wanted"):
            add(lambda shape, dtype, gives=gives: gives)
    with pytest.raises(TypeError, match=r"add_weight: the initializer gave None: a tensor of the shape \(2,\) is wanted"):
        add(lambda shape, dtype: None)
    with pytest.raises(TypeError, match="add_weight: initializer is a ndarray: the name of one is wanted, such as 'zeros', or a function"):
        add(np.ones(2))
    for shape in ("ab", (2.5,), (None, 2)):
        with pytest.raises(TypeError, match="add_weight: shape is a .*an integer"):
            add(shape=shape)
    with pytest.raises(wf.ShapeError, match=r"add_weight: shape is \(-2,\): no size is negative"):
        add(shape=(-2,))
    if base is tf.keras.layers.Layer:  # None is Keras's default
        assert add(None).shape == (2,) and add(None, dtype="int32").numpy().tolist() == [0, 0]
    else:
        with pytest.raises(TypeError, match="add_weight: initializer is None: the name of one is wanted"):
            add(None)


def test_slots_are_of_the_shape_of_their_variable():
    class Own(wf.optimizers.Optimizer):
        def update_step(self, gradient, variable, learning_rate):
            self.slot(variable, "wide", lambda shape, dtype: wf.ones(3))

    v = wf.Variable([1.0])
    with pytest.raises(wf.ShapeError, match=r"slot: the initializer gave the shape \(3,\), but \(1,\) is wanted"):
        Own([v], 0.1).apply_gradients([wf.ones(1)])
