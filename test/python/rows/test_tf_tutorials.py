"""What TensorFlow's tutorials write beside the rows: networks against each other, attention, callbacks."""

import numpy as np
import pytest

from weft import tf

X = np.random.default_rng(3).normal(size=(32, 4)).astype(np.float32)
Y = (X.sum(1, keepdims=True) > 0).astype(np.float32)


def networks():
    generator = tf.keras.Sequential([tf.keras.layers.Dense(4, input_shape=(3,)), tf.keras.layers.LeakyReLU()])
    critic = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    return generator, critic


def adversaries(folder):
    """A generator and a critic with an optimizer each, in one checkpoint, as of DCGAN."""
    tf.random.set_seed(1)
    generator, critic = networks()
    ours, theirs = tf.keras.optimizers.Adam(0.01), tf.keras.optimizers.SGD(0.1, momentum=0.9)
    checkpoint = tf.train.Checkpoint(ours=ours, theirs=theirs, generator=generator, critic=critic)

    @tf.function
    def step(noise, real):
        with tf.GradientTape() as tape1, tf.GradientTape() as tape2:
            fake = critic(generator(noise, training=True), training=True)
            loss1 = tf.reduce_mean(tf.square(fake - 1))
            loss2 = tf.reduce_mean(tf.square(fake)) + tf.reduce_mean(tf.square(critic(real) - 1))
        ours.apply_gradients(
            zip(tape1.gradient(loss1, generator.trainable_variables), generator.trainable_variables)
        )
        theirs.apply_gradients(
            zip(tape2.gradient(loss2, critic.trainable_variables), critic.trainable_variables)
        )
        return loss1, loss2

    return checkpoint, step, ours, theirs


def test_optimizers_of_several_models(tmp_path, capfd):
    """Each has the state of its own model alone, also where a checkpoint is restored before a step."""
    noise = X[:8, :3]
    checkpoint, step, ours, theirs = adversaries(tmp_path)
    step(noise, X[:8])
    path = checkpoint.save(tmp_path / "run")
    # The step; and two moments, or one velocity, of a kernel and a bias.
    assert (len(ours.variables), len(theirs.variables)) == (2, 2)
    assert (len(ours.state), len(theirs.state)) == (5, 3)
    assert "no gradient is defined" not in capfd.readouterr().err
    want = [float(x) for _ in range(3) for x in step(noise, X[:8])]

    again, step, ours, theirs = adversaries(tmp_path)
    again.restore(path).assert_consumed()
    assert int(ours.iterations) == 1
    assert [float(x) for _ in range(3) for x in step(noise, X[:8])] == want


def test_a_checkpoint_before_the_first_step(tmp_path):
    checkpoint, step, ours, _ = adversaries(tmp_path)
    path = checkpoint.save(tmp_path / "run")
    again, step, ours, _ = adversaries(tmp_path)
    again.restore(path).assert_consumed()
    step(X[:8, :3], X[:8])
    assert int(ours.iterations) == 1


def test_output_shapes():
    generator, critic = networks()
    assert generator.output_shape == (None, 4) and critic.output_shape == (None, 1)
    model = tf.keras.Sequential([tf.keras.layers.InputLayer(input_shape=(4, 4, 1)), tf.keras.layers.Flatten()])
    assert model.output_shape == (None, 16)
    with pytest.raises(RuntimeError, match="what it is called with is not known"):
        tf.keras.Sequential([tf.keras.layers.Dense(2)]).output_shape


def attention_of_numpy(q, k, v, mask):
    """(batch, heads, length, depth) in float64."""
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    weights = np.exp(np.where(mask, scores, -np.inf))
    weights /= weights.sum(-1, keepdims=True)
    return weights @ v, weights


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_multi_head_attention(causal, masked):
    """With and without the weights, eager and for any batch and length, against NumPy."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 5, 6)).astype(np.float32), rng.normal(size=(2, 5, 7)).astype(np.float32)
    layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=3, value_dim=4)
    mask = rng.random((2, 5, 5)) < 0.7
    mask[:, :, 0] = True
    options = {"use_causal_mask": causal}
    if masked:
        options["attention_mask"] = mask
    got, weights = layer(x, y, return_attention_scores=True, **options)
    assert got.shape == (2, 5, 6) and weights.shape == (2, 2, 5, 5)

    def dense(of, inputs, heads=None):
        out = inputs.astype(np.float64) @ of.kernel.numpy() + of.bias.numpy()
        return out if heads is None else out.reshape(2, 5, heads, -1).transpose(0, 2, 1, 3)

    seen = np.ones((2, 1, 5, 5), bool)
    if masked:
        seen = seen & mask[:, None]
    if causal:
        seen = seen & np.tri(5, dtype=bool)
    out, want_weights = attention_of_numpy(
        dense(layer.query_dense, x, 2), dense(layer.key_dense, y, 2), dense(layer.value_dense, y, 2), seen
    )
    want = dense(layer.output_dense, out.transpose(0, 2, 1, 3).reshape(2, 5, 8))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(weights, want_weights, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer(x, y, **options), want, rtol=1e-4, atol=1e-5)

    spec = [tf.TensorSpec([None, None, n], tf.float32) for n in (6, 7)]
    compiled = tf.function(lambda a, b: layer(a, b, use_causal_mask=causal), input_signature=spec)
    np.testing.assert_allclose(compiled(x[:1, :3], y[:1, :3]), layer(x[:1, :3], y[:1, :3], use_causal_mask=causal), rtol=1e-4, atol=1e-5)


def test_other_attention():
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4))
    softmax = lambda s: np.exp(s) / np.exp(s).sum(-1, keepdims=True)  # noqa: E731
    got, weights = tf.keras.layers.Attention()([np.float32(q), np.float32(v)], return_attention_scores=True)
    want = softmax(q @ v.swapaxes(-1, -2))
    np.testing.assert_allclose(weights, want, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(got, want @ v, rtol=1e-4, atol=1e-5)
    layer = tf.keras.layers.AdditiveAttention()
    got = layer([np.float32(q), np.float32(v)])
    scores = (np.tanh(q[:, :, None] + v[:, None]) * layer.scale.numpy()).sum(-1)
    np.testing.assert_allclose(got, softmax(scores) @ v, rtol=1e-4, atol=1e-5)
    seen = np.array([[True, True, False, False, False]] * 2)
    got = tf.keras.layers.Attention()([np.float32(q), np.float32(v)], mask=[None, seen])
    np.testing.assert_allclose(got, softmax(q @ v[:, :2].swapaxes(-1, -2)) @ v[:, :2], rtol=1e-4, atol=1e-5)


def test_embedding_says_that_masks_stay():
    with pytest.raises(ValueError, match=r"mask_zero is True, .* mask=tf.not_equal\(ids, 0\)"):
        tf.keras.layers.Embedding(10, 4, mask_zero=True)
    assert tf.keras.layers.Embedding(10, 4, "ones")(np.array([1, 2])).shape == (2, 4)


def test_initial_states():
    x = tf.ones([2, 3, 4])
    gru = tf.keras.layers.GRU(5, return_sequences=True, return_state=True)
    (state,) = gru.get_initial_state(x)
    assert state.shape == (2, 5)
    np.testing.assert_array_equal(gru(x, initial_state=[state])[0], gru(x)[0])
    lstm = tf.keras.layers.LSTM(5)
    assert [s.shape for s in lstm.get_initial_state(batch_size=3)] == [(3, 5), (3, 5)]
    open_batch = tf.function(lambda x: gru.get_initial_state(x)[0], input_signature=[tf.TensorSpec([None, 3, 4])])
    assert open_batch(x).shape == (2, 5)


def test_functions_of_numpy_as_decorators():
    @tf.numpy_function(Tout=tf.float32)
    def plus(a, b):
        return a + b

    assert plus(tf.constant(1.0), 2.0).numpy() == 3
    np.testing.assert_array_equal(plus(tf.ones([2]), tf.ones([2])), [2, 2])  # of any shape where nothing traces
    assert tf.function(lambda x: plus(x, x))(tf.constant(2.0)).numpy() == 4
    twice = tf.py_function(Tout=tf.TensorSpec([2], tf.float32))(lambda x: x * 2)
    np.testing.assert_array_equal(tf.function(twice)(tf.constant([1.0, 2.0])), [2, 4])


def compiled(rate=0.5):
    tf.random.set_seed(2)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(4,))])
    model.compile(tf.keras.optimizers.SGD(rate), tf.keras.losses.BinaryCrossentropy(from_logits=True), ["accuracy"])
    return model


def test_model_checkpoint(tmp_path):
    """Weights behind epochs or batches, those of the best alone, under names with numbers."""
    model = compiled()
    callbacks = tf.keras.callbacks
    each = callbacks.ModelCheckpoint(str(tmp_path / "each/{epoch:02d}"), save_weights_only=True)
    best = callbacks.ModelCheckpoint(tmp_path / "best", "val_loss", save_best_only=True, save_weights_only=True)
    often = callbacks.ModelCheckpoint(str(tmp_path / "often/{epoch}-{batch}"), save_weights_only=True, save_freq=3)
    history = model.fit(X, Y, batch_size=8, epochs=3, validation_data=(X, Y), verbose=0, callbacks=[each, best, often])
    assert sorted(p.name for p in (tmp_path / "each").iterdir()) == ["01", "02", "03"]
    assert sorted(p.name for p in (tmp_path / "often").iterdir()) == ["1-3", "2-2", "3-1", "3-4"]
    other = compiled()
    other.load_weights(tmp_path / "best")
    assert other.evaluate(X, Y, verbose=0)[0] == pytest.approx(min(history.history["val_loss"]), rel=1e-5)
    with pytest.raises(ValueError, match="save_weights_only=True saves the weights"):
        callbacks.ModelCheckpoint("x")
    with pytest.raises(ValueError, match="there is no number 'val_loss'"):
        model.fit(X, Y, verbose=0, callbacks=[callbacks.ModelCheckpoint(tmp_path / "b", save_best_only=True, save_weights_only=True)])
    with pytest.raises(ValueError, match="filepath names 'nothing'"):
        model.fit(X, Y, verbose=0, callbacks=[callbacks.ModelCheckpoint(str(tmp_path / "{nothing}"), save_weights_only=True)])


def test_learning_rates_of_callbacks():
    model, seen, rates = compiled(1.0), [], []
    callbacks = tf.keras.callbacks
    scheduler = callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5 if epoch else rate)
    note = callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: rates.append(float(model.optimizer.learning_rate)), on_train_begin=lambda logs=None: seen.append("begin"))
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[scheduler, note])
    assert rates == [1.0, 0.5, 0.25] and seen == ["begin"]

    model, rates = compiled(1.0), []
    plateau = callbacks.ReduceLROnPlateau("loss", factor=0.1, patience=1, min_delta=100, min_lr=0.05)
    note = callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: rates.append(round(float(model.optimizer.learning_rate), 4)))
    model.fit(X, Y, epochs=4, verbose=0, callbacks=[plateau, note])
    assert rates == [1.0, 0.1, 0.05, 0.05]


def test_terminate_on_nan():
    model = compiled()
    history = model.fit(X * np.nan, Y, epochs=5, verbose=0, callbacks=[tf.keras.callbacks.TerminateOnNaN()])
    assert history.epoch == [0]


def test_maps_that_give_lists():
    """A list of tensors, as that of a numpy_function, is a tuple of them: they need not be of one shape."""
    f = lambda x: tf.numpy_function(lambda n: (np.float32([n, n]), np.int32(n)), [x], [tf.float32, tf.int32])  # noqa: E731
    rows = list(tf.data.Dataset.range(2).map(f))
    assert [(a.numpy().tolist(), int(b)) for a, b in rows] == [([0, 0], 0), ([1, 1], 1)]
    data = tf.data.Dataset.range(2).map(lambda x: [tf.cast(x, tf.float32), x])
    assert [type(row) for row in data] == [tuple, tuple]
    assert [row.numpy().tolist() for row in tf.data.Dataset.range(2).map(lambda x: [1, 2])] == [[1, 2], [1, 2]]


def test_attributes_of_checkpoints(tmp_path):
    """What is added later is saved too, and so is what a checkpoint within one holds; notes are not."""
    def build(number):
        checkpoint = tf.train.Checkpoint(net=tf.train.Checkpoint(w=tf.Variable(number)))
        checkpoint.later, checkpoint.note, checkpoint.count = tf.Variable(number), "first", 3
        return checkpoint

    path = build(2.0).save(tmp_path / "run")
    again = build(0.0)
    again.restore(path).assert_consumed()
    assert (float(again.later), float(again.net.w), again.note) == (2, 2, "first")
