"""Keras' spelling of layers, losses, metrics and optimizers."""

import pickle

import numpy as np
import pytest

from weft import tf


class Scale(tf.keras.layers.Layer):
    def __init__(self, units, **options):
        super().__init__(**options)
        self.units = units

    def build(self, input_shape):
        self.kernel = self.add_weight(shape=(input_shape[-1], self.units), initializer="ones", name="kernel")
        self.bias = self.add_weight(shape=(self.units,), initializer="zeros")

    def call(self, inputs, training=False):
        return tf.matmul(inputs, self.kernel) + self.bias + (1.0 if training else 0.0)


def test_layers_of_the_user():
    layer = Scale(2, name="scale")
    assert layer.variables == [] and layer.name == "scale"
    x = tf.constant([[1.0, 2.0, 3.0]])
    assert layer(x).numpy().tolist() == [[6.0, 6.0]]
    assert layer(x, training=True).numpy().tolist() == [[7.0, 7.0]]
    assert [v.shape for v in layer.trainable_variables] == [(3, 2), (2,)]
    model = tf.keras.Sequential([Scale(4), tf.keras.layers.Dense(1)])
    assert tf.function(model)(x).shape == (1, 1) and len(model.trainable_variables) == 4
    with pytest.raises(TypeError, match="Scale.* got an unexpected keyword argument 'nmae'; did you mean 'name'"):
        Scale(2, nmae="x")
    with pytest.raises(ValueError, match="initializer is 'one', which names no initializer; did you mean 'ones'"):
        layer.add_weight([1], "one")
    with pytest.raises(ValueError, match="which names no initializer: there are glorot_uniform, .* zeros, ones"):
        layer.add_weight([1], "qqqq")


INITIALIZERS = {
    "random_normal": "RandomNormal", "random_uniform": "RandomUniform", "truncated_normal": "TruncatedNormal",
    "glorot_uniform": "GlorotUniform", "he_normal": "HeNormal", "lecun_normal": "LecunNormal", "orthogonal": "Orthogonal",
    "identity": "Identity", "variance_scaling": "VarianceScaling", "constant": "Constant", "zeros": "Zeros", "ones": "Ones",
}  # fmt: skip


@pytest.mark.parametrize("name", INITIALIZERS)
def test_initializers_by_their_names(name):
    import gc

    layer = Scale(2)
    for word in (name, INITIALIZERS[name]):
        assert tuple(layer.add_weight([3, 3], word).shape) == (3, 3)
        dense = tf.keras.layers.Dense(3, kernel_initializer=word)
        gc.collect()
        assert dense(tf.ones([1, 3])).shape == (1, 3)
        assert callable(tf.keras.initializers.get(word)) and callable(getattr(tf.keras.initializers, name))
        if name in ("identity", "zeros", "constant"):
            start = np.eye(3) if name == "identity" else np.zeros((3, 3))
            assert dense.kernel.numpy().tolist() == layer.add_weight([3, 3], word).numpy().tolist() == start.tolist()
    with pytest.raises(ValueError, match="that of a matrix is wanted"):
        layer.add_weight([3], "identity")


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adadelta", "Lamb", "Lion"])
def test_optimizers(name):
    kind = getattr(tf.keras.optimizers, name)
    optimizer = kind(learning_rate=0.1)
    v = tf.Variable([1.0, -2.0])

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(v * v)
        optimizer.apply_gradients(zip(tape.gradient(loss, [v]), [v]))
        return loss

    losses = [float(step()) for _ in range(5)]
    assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]
    assert int(optimizer.iterations) == 5 and isinstance(optimizer, kind)
    before = v.numpy()
    optimizer.learning_rate = 0.0  # also of the compiled function
    step()
    np.testing.assert_array_equal(v.numpy(), before)
    assert float(optimizer.learning_rate) == 0.0
    with pytest.raises(TypeError, match=rf"{kind.__name__}\(\) got an unexpected argument 'learnin_rate'; did you mean 'learning_rate'"):
        kind(learnin_rate=0.1)
    other = pickle.loads(pickle.dumps(optimizer))
    assert type(other) is kind and int(other.iterations) == 6 and float(other.learning_rate) == 0.0


def test_schedules():
    rate = tf.keras.optimizers.schedules.ExponentialDecay(0.1, decay_steps=1, decay_rate=0.5)
    optimizer, v = tf.keras.optimizers.SGD(rate), tf.Variable(1.0)
    for _ in range(3):
        optimizer.apply_gradients([(tf.constant(1.0), v)])
    assert float(v) == pytest.approx(1 - 0.1 * (1 + 0.5 + 0.25))


def test_losses_and_metrics():
    labels, logits = tf.constant([1, 0]), tf.constant([[0.0, 2.0], [1.0, 3.0]])
    z = logits.numpy()
    each = np.log(np.exp(z).sum(1)) - z[[0, 1], [1, 0]]
    by_sample = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
    np.testing.assert_allclose(by_sample.numpy(), each, rtol=1e-5)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    assert float(loss(labels, logits)) == pytest.approx(each.mean())
    none = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="none")
    np.testing.assert_allclose(none(labels, logits).numpy(), each, rtol=1e-5)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="accuracy")
    accuracy.update_state(labels, logits)
    assert float(accuracy.result()) == 0.5 and accuracy.name == "accuracy"
    accuracy.reset_states()
    assert float(accuracy.result()) == 0.0
    mse = tf.keras.losses.MeanSquaredError()
    assert float(mse([1.0, 2.0], [1.0, 4.0])) == 2.0


def test_activations():
    x = np.array([-1.5, 0.0, 2.0], np.float32)
    np.testing.assert_allclose(tf.nn.silu(x).numpy(), x / (1 + np.exp(-x)), rtol=1e-5)
    np.testing.assert_allclose(tf.nn.softplus(x).numpy(), np.log1p(np.exp(x)), rtol=1e-5)
    np.testing.assert_allclose(tf.nn.leaky_relu(x).numpy(), np.where(x > 0, x, 0.2 * x), rtol=1e-6)
    np.testing.assert_allclose(tf.nn.elu(x).numpy(), np.where(x > 0, x, np.expm1(x)), rtol=1e-5)
    np.testing.assert_allclose(tf.nn.relu6(4 * x).numpy(), np.clip(4 * x, 0, 6))


def test_data_sets():
    data = tf.data.Dataset.range(10).filter(lambda x: x % 2 == 0).map(lambda x: x * x, num_parallel_calls=tf.data.AUTOTUNE)
    assert list(data.as_numpy_iterator()) == [0, 4, 16, 36, 64]
    assert isinstance(data.shuffle(5, seed=1).repeat(2).prefetch(tf.data.AUTOTUNE), tf.data.Dataset)
    pairs = tf.data.Dataset.zip((data, tf.data.Dataset.from_tensor_slices([1.0, 2.0])))
    assert [(int(a), float(b)) for a, b in pairs] == [(0, 1.0), (4, 2.0)]
    assert [int(i) for i, _ in data.enumerate()] == [0, 1, 2, 3, 4]
    assert [len(batch) for batch in data.batch(2, drop_remainder=True)] == [2, 2]
    assert tf.data.Dataset.range(3).cardinality().numpy() == 3 and data.cardinality().numpy() == -2
    dataset = tf.data.Dataset.from_generator(lambda: iter([1, 2, 3]), output_signature=tf.TensorSpec((), tf.int32))
    assert [int(x) for x in dataset.concatenate(dataset).take(4)] == [1, 2, 3, 1]
    assert repr(tf.data.Dataset.from_tensor_slices([[1.0, 2.0]]).batch(2)).startswith("<_BatchDataset element_spec=TensorSpec(shape=(None, 2)")
    with pytest.raises(TypeError):
        tf.data.Dataset.range(3).shuffle(buffer=3)


def test_forms_of_data_sets():
    data = tf.data.Dataset.range(5)
    spec = "element_spec=TensorSpec(shape=(), dtype=tf.int64, name=None)>"
    assert repr(data) == f"<_RangeDataset {spec}" and repr(data.shuffle(2).take(3)) == f"<_TakeDataset {spec}"
    assert repr(data.map(lambda x: x, num_parallel_calls=2)) == f"<_ParallelMapDataset {spec}"
    batches = data.batch(2)
    assert repr(batches.repeat(2)) == "<_RepeatDataset element_spec=TensorSpec(shape=(None,), dtype=tf.int64, name=None)>"
    assert repr(data.batch(2, drop_remainder=True).element_spec) == "TensorSpec(shape=(2,), dtype=tf.int64, name=None)"
    assert int(data.repeat().batch(2).cardinality()) == -1 and int(data.repeat().take(7).cardinality()) == 7
    with pytest.raises(ValueError, match="shuffle: buffer_size is 0: 1 at least"):
        data.shuffle(0)


def test_data_sets_of_data_sets():
    range_of = tf.data.Dataset.range
    assert list(range_of(4).flat_map(lambda n: range_of(n)).as_numpy_iterator()) == [0, 0, 1, 0, 1, 2]
    assert list(range_of(5).batch(2).unbatch().as_numpy_iterator()) == [0, 1, 2, 3, 4]
    pairs = tf.data.Dataset.from_tensor_slices(([1, 2, 3], [4.0, 5.0, 6.0])).batch(2).unbatch()
    assert [(int(a), float(b)) for a, b in pairs] == [(1, 4.0), (2, 5.0), (3, 6.0)]
    assert list(range_of(10).take_while(lambda x: x < 3).as_numpy_iterator()) == [0, 1, 2]
    assert int(range_of(4).reduce(tf.constant(0, tf.int64), lambda total, x: total + x)) == 6
    with pytest.raises(RuntimeError, match="write a loop over the data set"):
        tf.function(lambda: range_of(4).reduce(0, lambda total, x: total))()
    assert int(tf.data.Dataset.from_tensors(3).get_single_element()) == 3
    with pytest.raises(ValueError, match="there is more than one"):
        range_of(2).get_single_element()
    typed = tf.data.Dataset.from_generator(lambda: iter([(1, 2), (3, 4)]), output_types=(tf.float32, tf.int64))
    assert [(a.dtype, b.dtype) for a, b in typed] == [(tf.float32, tf.int64)] * 2


def test_checkpoint_managers(tmp_path):
    x = tf.Variable(1.0)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(x=x), tmp_path / "ckpts", max_to_keep=2)
    assert manager.latest_checkpoint is None and manager.restore_or_initialize() is None
    for value in (2.0, 3.0, 4.0):
        x.assign(value)
        manager.save()
    names = [path.rpartition("/")[2] for path in manager.checkpoints]
    assert names == ["ckpt-2", "ckpt-3"] and tf.train.latest_checkpoint(tmp_path / "ckpts") == manager.latest_checkpoint
    y = tf.Variable(0.0)
    checkpoint = tf.train.Checkpoint(x=y)
    again = tf.train.CheckpointManager(checkpoint, tmp_path / "ckpts", max_to_keep=2)
    assert again.restore_or_initialize().endswith("ckpt-3") and float(y) == 4.0 and int(checkpoint.save_counter) == 3
    assert again.save().endswith("ckpt-4")
    assert checkpoint.restore(None) is not None and tf.train.latest_checkpoint(tmp_path / "none") is None


def test_summaries_within_functions(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    assert tf.summary.scalar("nobody", 1.0, step=1) is False

    @tf.function
    def step(i):
        tf.summary.scalar("loss", 1.0 / tf.cast(i, tf.float32), step=i)

    with writer.as_default():
        for i in (1, 2, 4):
            step(tf.constant(i, tf.int64))
        tf.summary.experimental.set_step(7)
        tf.summary.scalar("loss", 0.5)
        tf.summary.experimental.set_step(None)
        with pytest.raises(ValueError, match="no step set"):
            tf.summary.scalar("loss", 0.5)
    from weft import summary

    assert summary.read_scalars(tmp_path)["loss"] == [(1, 1.0), (2, 0.5), (4, 0.25), (7, 0.5)]
