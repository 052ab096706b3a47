"""Keras' compile, fit, evaluate and predict: the numbers of Keras 3.15 for the same first values and batches."""

import numpy as np
import pytest

from weft import tf

L = tf.keras.layers
X = np.arange(12, dtype=np.float32).reshape(4, 3) / 12
Y = np.ones((4, 1), np.float32)


def two_layers():
    first = L.Dense(2, activation="relu", kernel_initializer="ones", input_shape=(3,))
    return tf.keras.Sequential([first, L.Dense(1, kernel_initializer="ones")])


def test_a_run_has_kerass_numbers():
    model = two_layers()
    model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
    run = model.fit(X, Y, epochs=3, batch_size=2, verbose=0, shuffle=False)
    assert list(run.history) == ["loss", "mae"] and run.epoch == [0, 1, 2]
    assert run.history["loss"] == pytest.approx([5.660863876342773, 2.9091503620147705, 1.8188221454620361], rel=1e-5)
    assert run.history["mae"] == pytest.approx([1.9677371978759766, 1.427416443824768, 1.1176962852478027], rel=1e-5)
    assert model.evaluate(X, Y, verbose=0) == pytest.approx([1.24973726272583, 0.9330497980117798], rel=1e-5)
    assert list(model.evaluate(X, Y, return_dict=True)) == ["loss", "mae"]
    predicted = model.predict(X, batch_size=3, verbose=0)
    np.testing.assert_allclose(predicted[:, 0], [0.0023083687, 0.93535793, 1.8684078, 2.8014576], rtol=1e-4)
    assert model.train_on_batch(X, Y) == pytest.approx([1.24973726272583, 0.9330497980117798], rel=1e-5)
    assert model.test_on_batch(X, Y) == pytest.approx([1.0986568927764893, 0.892998218536377], rel=1e-5)
    assert model.predict_on_batch(X).shape == (4, 1)
    run = model.fit(X, Y, epochs=2, verbose=0, shuffle=False, validation_data=(X, Y))
    assert list(run.history) == ["loss", "mae", "val_loss", "val_mae"]
    assert run.history["val_loss"] == pytest.approx([0.9819496870040894, 0.8903688192367554], rel=1e-5)
    run = model.fit(X, Y, epochs=2, verbose=0, shuffle=False, validation_split=0.5)
    assert run.history["val_loss"] == pytest.approx([1.274812936782837, 1.347072958946228], rel=1e-5)
    batches = tf.data.Dataset.from_tensor_slices((X, Y)).batch(2)
    run = model.fit(batches, epochs=2, verbose=0, validation_data=batches)
    assert run.history["val_mae"] == pytest.approx([0.7736591100692749, 0.7250396013259888], rel=1e-5)
    model.compile(tf.keras.optimizers.Adam(0.01), tf.keras.losses.MeanSquaredError(), [tf.keras.metrics.MeanAbsoluteError()])
    run = model.fit(X, Y, epochs=2, verbose=0, shuffle=False)
    assert run.history["mean_absolute_error"] == pytest.approx([0.7250396013259888, 0.7038050889968872], rel=1e-5)


@pytest.mark.parametrize(
    "units, loss, labels, expected",
    [
        (3, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True), [0, 1, 2, 0], (1.0986123085021973, 0.5)),
        (3, tf.keras.losses.CategoricalCrossentropy(from_logits=True), np.eye(3)[[0, 1, 2, 0]], (1.0986123085021973, 0.5)),
        (1, "binary_crossentropy", [0, 1, 1, 0], (0.9695788621902466, 0.5)),
    ],
)
def test_accuracy_follows_the_form_of_labels(units, loss, labels, expected):
    layer = L.Dense(units, kernel_initializer="ones", activation="sigmoid" if units == 1 else None)
    model = tf.keras.Sequential([layer])
    model.compile("adam", loss, ["accuracy"])
    run = model.fit(X, np.asarray(labels), verbose=0, shuffle=False)
    assert (run.history["loss"][0], run.history["accuracy"][0]) == pytest.approx(expected, rel=1e-5)


def test_callbacks_are_told_of_a_run():
    told = []

    class Told(tf.keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            told.append("begin")

        def on_epoch_begin(self, epoch, logs=None):
            told.append(epoch)

        def on_train_batch_end(self, batch, logs=None):
            told.append(("batch", batch, float(logs["loss"]) > 0))

        def on_epoch_end(self, epoch, logs=None):
            told.append(sorted(logs))
            self.model.stop_training = epoch == 1

        def on_train_end(self, logs=None):
            told.append("end")

    model = two_layers()
    model.compile("sgd", "mse")
    run = model.fit(X, Y, epochs=5, batch_size=2, verbose=0, callbacks=[Told()])
    batches = [("batch", 0, True), ("batch", 1, True), ["loss"]]
    assert told == ["begin", 0, *batches, 1, *batches, "end"] and len(run.history["loss"]) == 2
    model.compile(tf.keras.optimizers.SGD(0.0), "mse")
    stopping = tf.keras.callbacks.EarlyStopping(monitor="loss", patience=2)
    assert len(model.fit(X, Y, epochs=9, verbose=0, callbacks=[stopping]).history["loss"]) == 3


class Classifier(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.drop, self.out = L.Dropout(0.5), L.Dense(1, kernel_initializer="ones")

    def call(self, x, training=None):
        return self.out(self.drop(x, training=training))


def test_models_of_the_user():
    model = Classifier()
    model.compile(loss="mse", optimizer="sgd", run_eagerly=True)
    assert model.fit(X, Y, verbose=0).history["loss"][0] > 0
    assert model.predict(X).shape == (4, 1) and isinstance(two_layers(), tf.keras.Model)
    # Those of the optimizer and of metrics are none of the model's; the last is the state of the dropout.
    assert [v.shape for v in model.weights] == [(3, 1), (1,), (2,)]
    weights = model.get_weights()
    model.set_weights([2 * weights[0], *weights[1:]])
    np.testing.assert_array_equal(model.get_weights()[0], 2 * weights[0])
    assert model.count_params() == 4 and model.get_layer(index=1) is model.out
    labels = tf.keras.utils.to_categorical([0, 2])
    assert labels.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def test_what_cannot_be_trained():
    model = two_layers()
    for call in (lambda: model.fit(X, Y), lambda: model.evaluate(X, Y)):
        with pytest.raises(RuntimeError, match=r"call model\.compile\(optimizer, loss\) first"):
            call()
    with pytest.raises(ValueError, match="there is no loss"):
        model.compile("sgd")
    with pytest.raises(ValueError, match="there is no loss 'mes'.*Did you mean 'tf.keras.losses"):
        model.compile("sgd", "mes")
    with pytest.raises(ValueError, match="there is no optimizer 'sdg': there are sgd, adam"):
        model.compile("sdg", "mse")
    with pytest.raises(ValueError, match="there is no metric 'accurate'"):
        model.compile("sgd", "mse", ["accurate"])
    with pytest.raises(TypeError, match=r"fit\(\) got an unexpected keyword argument 'epoch'; did you mean 'epochs'"):
        model.fit(X, Y, epoch=3)
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="validation_split is 1.5"):
        model.fit(X, Y, validation_split=1.5)
    with pytest.raises(ValueError, match="write a subclass"):
        tf.keras.Model(inputs=[], outputs=[])
    with pytest.raises(RuntimeError, match="layers are not frozen by an attribute"):
        model.layers[0].trainable = False
    with pytest.raises(ValueError, match="2 variables and 1 values"):
        model.layers[0].set_weights([X])


def test_callbacks_know_the_model_and_what_is_run():
    class Told(tf.keras.callbacks.Callback):
        def __init__(self):
            super().__init__()
            assert self.params is None and self.model is None
            self.seen = []

        def set_params(self, params):
            super().set_params(params)
            self.seen.append(("params", dict(self.params)))

        def set_model(self, model):
            super().set_model(model)
            self.seen.append(("model", self.model))

        def on_train_begin(self, logs=None):
            self.seen.append(("train", self.params["epochs"]))

        def on_test_begin(self, logs=None):
            self.seen.append(("test", self.params["steps"]))

        def on_predict_begin(self, logs=None):
            self.seen.append(("predict", self.params["steps"]))

    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    told = Told()
    x, y = np.ones((5, 2), np.float32), np.ones((5, 1), np.float32)
    model.fit(x, y, batch_size=2, epochs=2, verbose=0, callbacks=[told])
    assert told.seen == [("params", {"verbose": 0, "epochs": 2, "steps": 3}), ("model", model), ("train", 2)]
    told.seen.clear()
    model.evaluate(x, y, batch_size=5, verbose=0, callbacks=[told])
    model.predict(x, batch_size=2, callbacks=[told])
    assert [name for name, _ in told.seen] == ["params", "model", "test", "params", "model", "predict"]
    assert told.seen[2][1] == 1 and told.seen[5][1] == 3 and told.seen[3][1]["verbose"] == 1


def test_tables_of_epochs_count_from_0(folder):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=["mae"])
    x, y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    log = tf.keras.callbacks.CSVLogger("log.csv", separator=";")
    history = model.fit(x, y, epochs=2, verbose=0, callbacks=[log]).history
    lines = (folder / "log.csv").read_text().splitlines()
    names = sorted(history)
    assert lines[0] == ";".join(["epoch", *names]) and len(lines) == 3
    for epoch, line in enumerate(lines[1:]):
        number, *values = line.split(";")
        assert number == str(epoch) and [float(v) for v in values] == [history[name][epoch] for name in names]
    model.fit(x, y, epochs=1, verbose=0, callbacks=[log])
    assert len((folder / "log.csv").read_text().splitlines()) == 2
    model.fit(x, y, epochs=1, verbose=0, callbacks=[tf.keras.callbacks.CSVLogger("log.csv", ";", append=True)])
    assert [line.split(";")[0] for line in (folder / "log.csv").read_text().splitlines()] == ["epoch", "0", "0"]
    with pytest.raises(ValueError, match="CSVLogger: separator is ';;': one character is wanted"):
        tf.keras.callbacks.CSVLogger("log.csv", ";;")
