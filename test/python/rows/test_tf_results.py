"""Programs of weft.tf whose results are TensorFlow's, where another result would go unnoticed."""

import numpy as np
import pytest

import weft as wf
from weft import tf


def test_init_scope_runs_when_the_function_is_traced():
    v = tf.Variable(0)

    @tf.function
    def lifted():
        with tf.init_scope():
            v.assign_add(1)
        return v + 0

    assert [int(lifted()) for _ in range(3)] == [1, 1, 1]
    with tf.init_scope():
        assert tf.executing_eagerly() and int(v.assign_add(1)) == 2

    @tf.function
    def build(x):
        with tf.init_scope():
            assert tf.executing_eagerly()
            w = float(tf.constant(3.0) * 2)
        return x * w

    assert float(build(tf.constant(2.0))) == 12.0
    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            y = x * x
    assert tape.gradient(y, x) is None


def test_an_error_in_an_init_scope_leaves_it():
    @tf.function
    def fails(x):
        try:
            with tf.init_scope():
                raise KeyError("a")
        except KeyError:
            pass
        assert not tf.executing_eagerly()
        return x + 1

    assert float(fails(tf.constant(1.0))) == 2.0


def test_a_target_that_is_a_variable():
    w, u = tf.Variable(2.0), tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = w
    assert float(tape.gradient(y, w)) == 1.0
    assert tape.watched_variables() == (w,)
    with tf.GradientTape(persistent=True) as tape:
        z = w * w
    assert [float(g) for g in tape.gradient([z, w], [w])] == [5.0]
    assert tape.gradient(u, u, output_gradients=tf.constant([2.0, 3.0])).numpy().tolist() == [2.0, 3.0]
    assert tape.gradient(u, w) is None
    assert tape.jacobian(u, u).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        pass
    assert tape.gradient(w, w) is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
    assert float(tape.gradient(w, w)) == 1.0
    grad = tf.function(lambda: grad_of(w))
    assert float(grad()) == 1.0


def grad_of(w):
    with tf.GradientTape() as tape:
        y = w
    return tape.gradient(y, w)


def test_watched_variables_after_the_gradient():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * w
    tape.gradient(y, v)
    assert tape.watched_variables() == (v, w)
    tape.reset()
    assert tape.watched_variables() == ()


@pytest.mark.parametrize("eagerly", [False, True])
def test_results_of_functions_are_values(eagerly):
    u = tf.Variable(0)
    tf.config.run_functions_eagerly(eagerly)
    try:
        f = tf.function(lambda: u.assign_add(1))
        g = tf.function(lambda: {"u": u, "pair": [f(), u]})
        a, b = f(), f()
        both = g()
        h = tf.function(lambda: f() - f())
        difference = h()
    finally:
        tf.config.run_functions_eagerly(False)
    assert (int(a), int(b)) == (1, 2) and isinstance(a, tf.Tensor)
    u.assign(9)
    assert int(both["pair"][0]) == 3 and int(both["u"]) == 3 and int(both["pair"][1]) == 3
    assert int(difference) == -1
    with tf.GradientTape():
        c = f()
    u.assign(0)
    assert int(c) == 10


def test_zip_of_structures():
    d = tf.data.Dataset.range(3)
    first = next(iter(tf.data.Dataset.zip((d, (d, d)))))
    assert tf.nest.map_structure(int, first) == (0, (0, 0))
    named = tf.data.Dataset.zip({"a": d, "b": (d, d.batch(2))})
    assert [int(x["a"]) for x in named] == [0, 1]
    assert len(list(tf.data.Dataset.zip(d, d))) == 3 and len(next(iter(tf.data.Dataset.zip((d,))))) == 1

    @tf.function
    def total():
        sum = tf.constant(0, tf.int64)
        for a, (b, c) in tf.data.Dataset.zip((d, (d, d))):
            sum += a + b * c
        return sum

    assert int(total()) == 3 + 5
    with pytest.raises(TypeError, match="zip: a int is among the data sets"):
        tf.data.Dataset.zip((d, 1))


@pytest.mark.parametrize(
    "body, args, value",
    [
        ("for i in tf.range(n):\n  seen.append(1)\n  total += i", "n=tf.constant(3)", 3),
        ("while total < n:\n  seen.append(1)\n  total += 1", "n=tf.constant(3)", 3),
        ("for x in n:\n  seen.append(1)\n  if x > 1: break\n  total += 1", "n=tf.constant([0, 1, 2])", 2),
        ("for x in tf.data.Dataset.range(4):\n  seen.append(1)\n  total += tf.cast(x, tf.int32)", "n=1", 6),
        ("for r in n:\n  for x in r:\n    seen.append(1)\n    total += x", "n=tf.constant([[1, 2], [3, 4]])", 10),
    ],
)
def test_the_body_of_a_loop_is_traced_once(body, args, value, tmp_path):
    source = "def loop(n):\n total = 0\n" + "".join(f" {line}\n" for line in body.split("\n")) + " return total\n"
    path = tmp_path / "loop.py"
    path.write_text(source)
    seen = []
    scope = {"tf": tf, "seen": seen}
    exec(compile(source, str(path), "exec"), scope)
    given = eval(f"dict({args})", scope)
    assert int(tf.function(scope["loop"])(**given)) == value
    assert len(seen) == 1


def test_a_guess_that_does_not_hold_changes_nothing():
    """What a loop carries keeps the types that one iteration of Python's values shows."""

    @wf.function
    def promoted(xs):
        total, k = 0, 2
        for x in xs:
            total += x * k
            k = 2
        return total

    for dtype in ("float32", "float64", "int64"):
        found = promoted(wf.tensor([1, 2], dtype))
        assert found.dtype == dtype and float(found) == 6

    @wf.function
    def of_python(xs):
        names, at = ["a", "b"], 1
        total = 0.0
        for x in xs:
            total += x * len(names[at])
            at = 1
        return total

    assert float(of_python(wf.tensor([1.0, 2.0]))) == 3.0

    @wf.function
    def growing(n):
        x = wf.ones([1])
        for _ in wf.range(n):
            x = wf.concatenate([x, x])
        return x

    assert growing(wf.tensor(3)).shape == (8,)


def test_functions_of_numpy_that_call_methods_give_tensors_as_everywhere():
    x = tf.constant([1.0, 2.0])
    for f, expected in ((np.mean, 1.5), (np.sum, 3), (np.max, 2), (np.min, 1), (np.prod, 2), (np.std, 0.5), (np.var, 0.25)):
        assert type(f(x)) is wf.Tensor and float(f(x)) == expected, f
    assert type(np.add(x, 1)) is np.ndarray and ["a", "b"][np.argmax(x)] == "b"
    assert np.mean(tf.constant([[1.0, 2.0], [3.0, 4.0]]), axis=0).tolist() == [2.0, 3.0]
    assert isinstance(x.mean(), wf.Tensor) and float(x.sum()) == 3.0


def test_layers_cast_float64_as_keras_does():
    x = np.ones((1, 4, 3))
    for layer in (
        tf.keras.layers.Dense(2), tf.keras.layers.LSTM(2), tf.keras.layers.Conv1D(2, 2), tf.keras.layers.LayerNormalization(),
        tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(2)]),
    ):
        assert layer(x).dtype == "float32" == layer(tf.constant(x)).dtype

    class Own(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(shape=(3,), initializer="ones")

        def call(self, x):
            return x * self.w

    assert Own()(x).dtype == "float32"


@tf.custom_gradient
def clip_by_norm(x, norm):
    def grad(dy):
        return [tf.clip_by_norm(dy, norm), None]

    return tf.identity(x), grad


def test_numbers_beside_tensors_of_a_custom_gradient():
    x = tf.constant([3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = tf.reduce_sum(clip_by_norm(x, 1.0) * x)
    np.testing.assert_allclose(tape.gradient(z, x), [3.6, 4.8], rtol=1e-6)

    @tf.custom_gradient
    def between(a, x, b):
        return x * a, lambda dy: (None, dy * b, None)

    assert float(tf.function(wf.grad(lambda x: between(2.0, x, 5.0)))(tf.constant(1.0))) == 5.0

    @tf.custom_gradient
    def alone(a, x, b):
        return x * a, lambda dy: dy * b

    assert float(wf.grad(lambda x: alone(2.0, x, 5.0))(tf.constant(1.0))) == 5.0
    with pytest.raises(ValueError, match="gave 2 gradients, and there are 1"):
        wf.grad(lambda x: tf.custom_gradient(lambda a, x, b: (x * a, lambda dy: (dy, dy)))(2.0, x, 3.0))(tf.constant(1.0))


def test_concrete_functions_are_traced_when_they_are_asked_for():
    ran = []
    f = tf.function(lambda x: (ran.append(1), x * x)[1])
    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert len(ran) == 1
    assert concrete(tf.constant([2.0, 3.0])).numpy().tolist() == [4.0, 9.0] and len(ran) == 1
    with pytest.raises(wf.ShapeError):
        tf.function(lambda x: x @ x).get_concrete_function(tf.TensorSpec([2, 3]))
    huge = tf.function(lambda x: tf.reduce_sum(x)).get_concrete_function(tf.TensorSpec([1 << 20, 1 << 20]))
    assert huge.structured_input_signature["x"].shape == (1 << 20, 1 << 20)


def test_a_signature_of_args():
    specs = [tf.TensorSpec([None]), tf.TensorSpec([None])]
    f = tf.function(lambda *xs: xs[0] + xs[1], input_signature=specs)
    assert f([1, 2], np.ones(2)).numpy().tolist() == [2.0, 3.0]
    assert f(tf.ones([3]), tf.ones([3])).shape == (3,) and f.experimental_get_tracing_count() == 1
    with pytest.raises(ValueError, match="the signature has 2"):
        f(tf.ones([1]))
    g = wf.function(lambda first, *more, scale=2.0: first * scale + more[0], input_signature=specs)
    assert g([1.0], [3.0]).numpy().tolist() == [5.0]
    with pytest.raises(TypeError, match="1 more specs"):
        tf.function(lambda x: x, input_signature=specs)


# Data.


def test_generators_keep_to_their_signature():
    def pairs():
        yield [1, 2], 3.5
        yield [4, 5], 6

    by_shapes = tf.data.Dataset.from_generator(pairs, (tf.int64, tf.float32), ([2], []))
    by_signature = tf.data.Dataset.from_generator(
        pairs, output_signature=(tf.TensorSpec([None], tf.int64), tf.TensorSpec([], tf.float32))
    )
    assert by_shapes.element_spec == (tf.TensorSpec([2], tf.int64), tf.TensorSpec([], tf.float32))
    assert by_signature.element_spec[0].shape == (None,)
    for data in (by_shapes, by_signature):
        assert [(x.numpy().tolist(), float(y)) for x, y in data] == [([1, 2], 3.5), ([4, 5], 6.0)]
    wrong = tf.data.Dataset.from_generator(pairs, (tf.int64, tf.float32), ([3], []))
    with pytest.raises(TypeError, match=r"an element of shape \(2,\), but the signature says TensorSpec\(shape=\(3,\)"):
        list(wrong)
    with pytest.raises(TypeError, match="is to be of the structure of"):
        list(tf.data.Dataset.from_generator(pairs, output_signature=(tf.TensorSpec([2], tf.int64),)))


def test_data_sets_of_tensors_that_a_traced_function_computes():
    @tf.function
    def train():
        total, labels = 0.0, 0
        images = tf.cast(np.arange(12).reshape(6, 2), tf.float32)
        for a, b in tf.data.Dataset.from_tensor_slices((images, tf.constant([1, 2, 3, 4, 5, 6]))).batch(1):
            assert a.shape == (1, 2) and b.shape == (1,)
            total += tf.reduce_sum(a)
            labels += b[0]
        return total, labels

    assert [float(x) for x in train()] == [66.0, 21.0]

    @tf.function
    def batches(x):
        parts = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=(2,))
        data = tf.data.Dataset.from_tensor_slices({"x": x}).skip(1).take(4).batch(2).map(lambda row: row["x"] * 2)
        for i, pair in data.enumerate().prefetch(2):
            parts = parts.write(tf.cast(i, tf.int32), pair)
        return parts.stack()

    assert batches(tf.range(6, dtype=tf.float32)).numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]

    @tf.function(input_signature=[tf.TensorSpec([None])])
    def of_any_size(x):
        total = 0.0
        for row in tf.data.Dataset.from_tensor_slices(x):
            total += row
        return total

    assert [float(of_any_size(tf.ones([n]))) for n in (3, 0, 5)] == [3.0, 0.0, 5.0]

    def refused(f, error, words):
        with pytest.raises(error, match=words):
            tf.function(f)(tf.ones([5, 2]))

    def rows(x):
        return tf.data.Dataset.from_tensor_slices(x)

    refused(lambda x: list(rows(x).batch(2)), ValueError, "5 slices, .* do not make batches of 2 alone")
    refused(lambda x: rows(x).shuffle(3), wf.StateError, "shuffle: a data set .* make it outside")
    refused(lambda x: rows(x).map(tf.reduce_sum).batch(1), wf.StateError, "in batches before it is mapped")
    refused(lambda x: rows((x, x[:3])), wf.ShapeError, "as many are wanted")
    refused(lambda x: rows(x[0, 0]), wf.ShapeError, "a scalar has no slices")


# Models.


class Net(tf.Module):
    def __init__(self):
        super().__init__()
        self.z = tf.Variable(1.0)
        self.inner = [Inner(), tf.keras.layers.Dense(1)]
        self.a = tf.Variable(2.0, trainable=False)


class Inner(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(3.0)


def test_variables_of_a_module_are_a_tuple_by_name():
    net = Net()
    assert net.variables == (net.a, net.z, net.inner[0].w)
    assert net.trainable_variables == (net.z, net.inner[0].w) and net.non_trainable_variables == (net.a,)
    net.inner[1](tf.ones([1, 2]))
    assert len(net.variables) == 5 and net.submodules == (net.inner[0], net.inner[1])
    net.inner[0].back = net
    assert len(net.variables) == 5


def test_input_is_no_layer_of_a_sequential():
    dense = tf.keras.layers.Dense(2)
    model = tf.keras.Sequential([tf.keras.Input((3,)), dense])
    assert model.layers == [dense] and model.count_params() == 8 and model.output_shape == (None, 2)
    assert model.get_layer(index=0) is dense


class Heard(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.told = []

    def __getattribute__(self, name):
        if name.startswith("on_"):
            self.told.append(name.removeprefix("on_"))
        return super().__getattribute__(name)


def test_callbacks_hear_of_batches_and_trials():
    x, y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    heard = Heard()
    model.fit(x, y, batch_size=2, verbose=0, callbacks=[heard], validation_data=(x, y))
    trial = ["test_begin", "test_batch_begin", "test_batch_end", "test_end"]
    batch = ["train_batch_begin", "batch_begin", "train_batch_end", "batch_end"]
    both = [trial[0], *trial[1:3] * 2, trial[3]]
    assert heard.told == ["train_begin", "epoch_begin", *batch, *batch, *both, "epoch_end", "train_end"]
    heard = Heard()
    model.evaluate(x, y, verbose=0, callbacks=[heard])
    model.predict(x, batch_size=4, callbacks=[heard])
    assert heard.told == [*trial, "predict_begin", "predict_batch_begin", "predict_batch_end", "predict_end"]


class Part(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(3)

    def call(self, x):
        return self.hidden(x)


class Whole(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.out = tf.keras.layers.Dense(1)

    def call(self, x):
        return self.out(self.part(x))


class Building(tf.keras.layers.Layer):
    def build(self, shape):
        self.inner = tf.keras.layers.Dense(4)

    def call(self, x):
        return self.inner(x)


def test_summaries_count_what_is_in_them(capsys):
    model = Whole()
    model.compile("sgd", "mse")
    model.fit(np.ones((4, 2), "f"), np.ones((4, 1), "f"), verbose=0)
    for part, rows in ((model, {"part.hidden": "9", "out": "4"}), (model.part, {"part.hidden": "9"})):
        part.summary()
        table = capsys.readouterr().out
        assert "not in a layer" not in table
        assert {row.split()[0]: row.split()[-1] for row in table.splitlines() if "(Dense)" in row} == rows
    model = tf.keras.Sequential([Building(), Building()])
    model(np.ones((1, 3), "f"))
    model.summary()
    table = capsys.readouterr().out
    assert "not in a layer" not in table
    assert [row.split()[-1] for row in table.splitlines() if "(Dense)" in row] == ["16", "20"]


def test_a_check_says_the_values():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"x == y did not hold.*x = .*1.*2.*y = .*1.*3"):
        tf.debugging.assert_equal([1, 2], [1, 3])
    check = tf.function(lambda x: tf.debugging.assert_equal(x, [1, 3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="x == y did not hold"):
        check(tf.constant([1, 2]))


# The library's own.


def test_batches_that_are_lists():
    x, y = np.ones((4, 2), np.float32), np.ones((4, 1), np.float32)
    model = wf.Sequential([wf.nn.Dense(1)])
    history = model.fit(
        [[x, y], [x, y]], optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error,
        validation=[[x, y]], epochs=2, progress=False,
    )
    assert history.last("val_loss") < 1

    class Loader:
        def __len__(self):
            return 2

        def __iter__(self):
            return iter([[x, y], [x, y]])

    for data in (Loader(), iter(Loader())):
        model.fit(data, optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error, progress=False)
    with pytest.raises(TypeError, match="not a tuple of 3"):
        model.fit([[x, y, y]], optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error, progress=False)


def test_a_body_that_gives_nothing():
    for call in (lambda: wf.for_loop(2, lambda i, s: None, [wf.tensor(0)]),
                 lambda: wf.while_loop(lambda s: s < 1, lambda s: None, [wf.tensor(0)])):
        with pytest.raises(ValueError, match="gave None"):
            call()
        with pytest.raises(ValueError, match="gave None"):
            wf.function(call)()


def test_signatures_of_generators_leave_sizes_open():
    def rows():
        for n in (2, 3, 1):
            yield np.ones(n, np.float32), n

    signature = (tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.int32))
    data = tf.data.Dataset.from_generator(rows, output_signature=signature)

    @tf.function
    def total(data):
        count = 0
        for x, n in data:
            count += wf.cast(wf.size(x, 0), "int32") * n
        return count

    assert int(total(data)) == 14 and int(total(data.take(2))) == 13


def test_generators_do_not_lose_a_fraction():
    for signature in (dict(output_types=tf.int32), dict(output_signature=tf.TensorSpec([], tf.int32))):
        with pytest.raises(TypeError, match="gave 3.5, of float32, but the signature says int32"):
            next(iter(tf.data.Dataset.from_generator(lambda: iter([3.5]), **signature)))


def test_checks_in_traced_functions_say_the_values():
    x, y = tf.constant([1, 2]), tf.constant([1, 3])
    values = r"\. x = tensor\(\[1, 2\], shape=\(2,\), dtype=int32\)\. y = tensor\(\[1, 3\], shape=\(2,\), dtype=int32\)"
    for check, text in (
        (lambda a, b: tf.debugging.assert_equal(a, b), "Condition x == y did not hold element-wise"),
        (lambda a, b: tf.debugging.assert_greater(a, b, message="of {} sizes"), r"of \{ \} sizes\. Condition x > y did not hold"),
        (lambda a, b: tf.debugging.assert_near(a, b), "x and y not equal to tolerance rtol"),
    ):
        with pytest.raises(AssertionError, match=f"{text}.*{values}"):
            tf.function(check)(x, y)
    with pytest.raises(AssertionError, match=r"x = 3\. y = 4"):
        tf.function(lambda a, b: tf.debugging.assert_equal(a, b))(tf.constant(3), tf.constant(4))
    with pytest.raises(AssertionError, match=r"to be true\. data = tensor\(\[1, 2\].*\. data = 7"):
        tf.function(lambda a: tf.debugging.Assert(tf.reduce_all(a > 1), [a, tf.constant(7), a, a]))(x)
    tf.function(lambda a, b: tf.debugging.assert_equal(a, b))(x, x)
