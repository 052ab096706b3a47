"""Layers, losses, metrics and first values under Keras' names: what Keras 3.15 gives for the same calls."""

import numpy as np
import pytest

from weft import tf

L, M = tf.keras.layers, tf.keras.metrics
X = tf.constant([[1.0, 2.0], [3.0, 4.0]])
Y, P, LABELS = [[0.0, 1.0], [1.0, 0.0]], [[0.2, 0.8], [0.6, 0.4]], [1, 0]
UP, SIGNS = tf.constant([[1.0, 2.0], [2.0, 1.0]]), tf.constant([[-1.0, 1.0], [1.0, -1.0]])

LAYERS = [
    (lambda: L.Activation("relu")(-X), [[0, 0], [0, 0]]),
    (lambda: L.ReLU(max_value=3.0)(X), [[1, 2], [3, 3]]),
    (lambda: L.LeakyReLU()(-X), [[-0.3, -0.6], [-0.9, -1.2]]),
    (lambda: L.ELU()(-X), [[-0.63212055, -0.86466473], [-0.95021296, -0.9816844]]),
    (lambda: L.PReLU(alpha_initializer="ones")(-X), [[-1, -2], [-3, -4]]),
    (lambda: L.Softmax()(X), [[0.26894143, 0.73105854]] * 2),
    (lambda: L.Add()([X, X, X]), [[3, 6], [9, 12]]),
    (lambda: L.Subtract()([X, 2 * X]), [[-1, -2], [-3, -4]]),
    (lambda: L.Multiply()([X, X]), [[1, 4], [9, 16]]),
    (lambda: L.Average()([X, 3 * X]), [[2, 4], [6, 8]]),
    (lambda: L.Maximum()([X, 3 * X]), [[3, 6], [9, 12]]),
    (lambda: L.Minimum()([X, 3 * X]), [[1, 2], [3, 4]]),
    (lambda: L.Concatenate(axis=0)([X, X]), [[1, 2], [3, 4], [1, 2], [3, 4]]),
    (lambda: L.Lambda(lambda t: t * 2)(X), [[2, 4], [6, 8]]),
    (lambda: L.Permute((2, 1))(X[None]), [[[1, 3], [2, 4]]]),
    (lambda: L.RepeatVector(2)(X), [[[1, 2], [1, 2]], [[3, 4], [3, 4]]]),
    (lambda: L.ZeroPadding1D(1)(X[None]), [[[0, 0], [1, 2], [3, 4], [0, 0]]]),
    (lambda: L.ZeroPadding2D(((1, 0), (0, 1)))(X[None, ..., None])[0, ..., 0], [[0, 0, 0], [1, 2, 0], [3, 4, 0]]),
    (lambda: L.Cropping1D(1)(tf.ones([1, 4, 1])), [[[1], [1]]]),
    (lambda: L.UpSampling1D(2)(X[None]), [[[1, 2], [1, 2], [3, 4], [3, 4]]]),
    (lambda: L.UpSampling2D()(X[None, ..., None])[0, ..., 0], [[1, 1, 2, 2], [1, 1, 2, 2], [3, 3, 4, 4], [3, 3, 4, 4]]),
    (lambda: L.Rescaling(2.0, offset=-1)(X), [[1, 3], [5, 7]]),
    (lambda: L.Normalization(mean=2.0, variance=4.0)(X), [[-0.5, 0], [0.5, 1]]),
    (lambda: L.UnitNormalization()(X), [[0.4472136, 0.8944272], [0.6, 0.8]]),
    (lambda: L.TimeDistributed(L.Dense(1, kernel_initializer="ones"))(X[None]), [[[3], [7]]]),
    (lambda: L.GaussianNoise(0.1)(X), [[1, 2], [3, 4]]),
    (lambda: L.SpatialDropout2D(0.5)(tf.ones([1, 1, 1, 2])), [[[[1, 1]]]]),
    (lambda: tf.keras.Sequential([tf.keras.Input(shape=(2,)), L.Dense(1, kernel_initializer="ones")])(X), [[3], [7]]),
    (lambda: tf.keras.losses.MeanAbsolutePercentageError()(UP, P), 67.5),
    (lambda: tf.keras.losses.MeanSquaredLogarithmicError()(Y, P), 0.051837120205163956),
    (lambda: tf.keras.losses.binary_crossentropy(Y, P), [0.22314353, 0.5108256]),
    (lambda: tf.keras.losses.huber(Y, P), [0.02, 0.08]),
    (lambda: tf.keras.losses.hinge(SIGNS, P), [0.7, 0.9]),
    (lambda: tf.keras.losses.squared_hinge(SIGNS, P), [0.74, 1.06]),
    (lambda: tf.keras.losses.poisson(Y, P), [0.6115717, 0.7554127]),
    (lambda: tf.keras.losses.cosine_similarity(Y, P), [-0.9701425, -0.8320503]),
    (lambda: tf.keras.losses.get("mse")(Y, P), [0.04, 0.16]),
    (lambda: tf.losses.MeanSquaredError(reduction=tf.losses.Reduction.NONE)(Y, P), [0.04, 0.16]),
    (lambda: tf.keras.activations.relu([-1.0, 7.0], max_value=6.0), [0, 6]),
    (lambda: tf.keras.activations.get("hard_sigmoid")([0.5]), [0.5833333]),
    (lambda: tf.keras.initializers.Constant()((2,), "float32"), [0, 0]),
]


@pytest.mark.parametrize("call, expected", LAYERS)
def test_what_keras_gives(call, expected):
    result = call()
    assert result.dtype == tf.float32 and result.shape == np.shape(expected)
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-7)


def test_layers_while_they_are_trained():
    noisy = L.GaussianNoise(1.0, seed=1)(tf.zeros([10000]), training=True).numpy()
    assert abs(noisy.std() - 1) < 0.03
    dropped = L.SpatialDropout2D(0.5, seed=1)(tf.ones([50, 2, 2, 40]), training=True).numpy()
    assert set(dropped.ravel()) == {0.0, 2.0} and (dropped.std((1, 2)) == 0).all()
    layer = L.Normalization()
    with pytest.raises(RuntimeError, match=r"call adapt\(data\)"):
        layer(X)
    layer.adapt(X)
    assert layer(X).numpy().tolist() == [[-1.0, -1.0], [1.0, 1.0]]


METRICS = [
    (lambda: M.Sum(), ([1.0, 2.0],), 3.0),
    (lambda: M.Accuracy(), ([1, 2, 3], [1, 2, 4]), 2 / 3),
    (lambda: M.BinaryAccuracy(threshold=0.7), (Y, P), 0.75),
    (lambda: M.SparseCategoricalAccuracy(), (LABELS, P), 1.0),
    (lambda: M.TopKCategoricalAccuracy(k=1), (Y, P), 1.0),
    (lambda: M.SparseTopKCategoricalAccuracy(k=1), (LABELS, P), 1.0),
    (lambda: M.RootMeanSquaredError(), (Y, P), 0.3162277638912201),
    (lambda: M.MeanAbsolutePercentageError(), (UP, P), 67.5),
    (lambda: M.Precision(thresholds=0.2), ([0, 1, 1], [0.1, 0.9, 0.3]), 1.0),
    (lambda: M.Recall(), ([0, 1, 1], [0.1, 0.9, 0.3]), 0.5),
    (lambda: M.AUC(), ([0, 1, 1, 0], [0.1, 0.9, 0.3, 0.5]), 0.75),
    (lambda: M.BinaryCrossentropy(), (Y, P), 0.3669845461845398),
    (lambda: M.SparseCategoricalCrossentropy(), (LABELS, P), 0.3669845461845398),
    (lambda: M.CosineSimilarity(), (Y, P), 0.9010964),
    (lambda: M.MeanMetricWrapper(lambda a, b: tf.constant(a) - b), ([1.0], [0.5]), 0.5),
]


@pytest.mark.parametrize("make, batch, expected", METRICS)
def test_metrics(make, batch, expected):
    metric = make()
    metric.update_state(*batch)
    metric.update_state(*batch)
    share = 2 if isinstance(metric, M.Sum) else 1
    assert metric.result().dtype == tf.float32 and float(metric.result()) == pytest.approx(share * expected, rel=1e-5)
    metric.reset_state()
    assert float(metric.result()) == 0.0
    assert float(tf.function(metric)(*batch)) == pytest.approx(expected, rel=1e-5)


def test_results_of_metrics_print_as_float32():
    mean = M.Mean()
    assert repr(mean(1.0)) == "<tf.Tensor: shape=(), dtype=float32, numpy=1.0>" and mean.name == "mean"
    assert M.Mean(name="loss", dtype=tf.float32).name == "loss" and M.SparseCategoricalAccuracy("acc").name == "acc"
    mean.reset_state()
    mean.update_state([1.0, 3.0], sample_weight=[1.0, 3.0])
    assert float(mean.result()) == 2.5


def test_metrics_of_the_user():
    class Count(M.Metric):
        def __init__(self, name="count", **options):
            super().__init__(name=name, **options)
            self.n = self.add_weight(name="n", initializer="zeros")

        def update_state(self, y_true, y_pred):
            self.n.assign_add(tf.reduce_sum(tf.constant(y_true)))

        def result(self):
            return self.n.value()

    count = Count()
    count.update_state(Y, P)
    assert float(count(Y, P)) == 4.0 and count.name == "count" and len(count.variables) == 1
    count.reset_state()
    assert float(count.result()) == 0.0


def descended(optimizer):
    v = tf.Variable([1.0, -2.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v * v)
        optimizer.apply_gradients([(tape.gradient(loss, v), v)])
    return v.numpy().tolist()


def test_learning_rates_that_are_functions():
    assert descended(tf.keras.optimizers.SGD(lambda: 0.1)) == pytest.approx([0.46125728, -18.073399], rel=1e-5)

    class Halving(tf.keras.optimizers.schedules.LearningRateSchedule):
        def __call__(self, step):
            return 0.1 / (tf.cast(step, tf.float32) + 1.0)

    assert descended(tf.keras.optimizers.SGD(Halving())) == pytest.approx([0.58724976, -6.97897], rel=1e-5)
    assert isinstance(tf.keras.optimizers.get("adamw"), tf.keras.optimizers.AdamW)


RANGES = [
    (lambda: tf.keras.initializers.GlorotUniform(), 0.2, 0.115),
    (lambda: tf.keras.initializers.VarianceScaling(), 0.2274, 0.1),
    (lambda: tf.keras.initializers.VarianceScaling(2.0, "fan_out", "uniform"), 0.34641, 0.2),
    (lambda: tf.random_normal_initializer(), 0.25, 0.05),
]


@pytest.mark.parametrize("make, most, deviation", RANGES)
def test_ranges_of_first_values(make, most, deviation):
    values = np.asarray(make()((100, 50), "float32"))
    assert np.abs(values).max() <= most and values.std() == pytest.approx(deviation, rel=0.05)


def test_first_values_of_a_seed():
    draw = tf.keras.initializers.HeNormal(seed=3)
    first, second = (np.asarray(draw((2, 3))).tolist() for _ in range(2))
    assert first == second
    layer = L.Dense(2, kernel_initializer=tf.keras.initializers.VarianceScaling(seed=1))
    assert layer(X).shape == (2, 2)
