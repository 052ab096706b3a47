"""The guide of eager execution: the programs S002-1 to S002-40."""

import gc
import math
import os
import re
import time
import weakref

import numpy as np
import pytest

from weft import tf


def test_S002_1_eager_execution():
    assert tf.executing_eagerly() is True


def test_S002_2_matmul_and_format(capsys):
    x = [[2.0]]
    m = tf.matmul(x, x)
    print("hello, {}".format(m))
    assert capsys.readouterr().out == "hello, [[4.]]\n"


def test_S002_3_print_a_tensor(capsys):
    a = tf.constant([[1, 2], [3, 4]])
    print(a)
    assert capsys.readouterr().out == "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)\n"


def test_S002_4_broadcasting(capsys):
    a = tf.constant([[1, 2], [3, 4]])
    b = tf.add(a, 1)
    print(b)
    assert capsys.readouterr().out == "tf.Tensor(\n[[2 3]\n [4 5]], shape=(2, 2), dtype=int32)\n"


def test_S002_5_overloaded_operators(capsys):
    a = tf.constant([[1, 2], [3, 4]])
    b = tf.add(a, 1)
    print(a * b)
    assert capsys.readouterr().out == "tf.Tensor(\n[[ 2  6]\n [12 20]], shape=(2, 2), dtype=int32)\n"


def test_S002_6_functions_of_numpy(capsys):
    a = tf.constant([[1, 2], [3, 4]])
    b = tf.add(a, 1)
    c = np.multiply(a, b)
    assert type(c) is np.ndarray
    print(c)
    assert capsys.readouterr().out == "[[ 2  6]\n [12 20]]\n"


def test_S002_7_numpy_of_a_tensor(capsys):
    a = tf.constant([[1, 2], [3, 4]])
    print(a.numpy())
    assert capsys.readouterr().out == "[[1 2]\n [3 4]]\n"


def test_S002_8_fizzbuzz(capsys):
    def fizzbuzz(max_num):
        counter = tf.constant(0)
        max_num = tf.convert_to_tensor(max_num)
        for num in range(1, max_num.numpy() + 1):
            num = tf.constant(num)
            if int(num % 3) == 0 and int(num % 5) == 0:
                print("FizzBuzz")
            elif int(num % 3) == 0:
                print("Fizz")
            elif int(num % 5) == 0:
                print("Buzz")
            else:
                print(num.numpy())
            counter += 1

    fizzbuzz(15)
    words = "1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz"
    assert capsys.readouterr().out.split() == words.split()


def test_S002_9_gradient_tape(capsys):
    w = tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        loss = w * w
    grad = tape.gradient(loss, w)
    print(grad)
    assert capsys.readouterr().out == "tf.Tensor([[2.]], shape=(1, 1), dtype=float32)\n"


def test_S002_10_a_tape_gives_one_gradient():
    w = tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        loss = w * w
    tape.gradient(loss, w)
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(loss, w)


def _dataset(mnist):
    mnist_images, mnist_labels = mnist
    dataset = tf.data.Dataset.from_tensor_slices(
        (tf.cast(mnist_images[..., tf.newaxis] / 255, tf.float32), tf.cast(mnist_labels, tf.int64))
    )
    return dataset.shuffle(1000).batch(32)


def _model():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, [3, 3], activation="relu", input_shape=(None, None, 1)),
            tf.keras.layers.Conv2D(16, [3, 3], activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(10),
        ]
    )


def test_S002_11_digits_in_batches(mnist):
    batches = list(_dataset(mnist))
    assert len(batches) == 5
    for images, labels in batches:
        assert images.shape == (32, 28, 28, 1) and images.dtype == tf.float32
        assert labels.shape == (32,) and labels.dtype == tf.int64


def test_S002_12_untrained_model(mnist, capsys):
    mnist_model = _model()
    for images, labels in _dataset(mnist).take(1):
        print("Logits: ", mnist_model(images[0:1]).numpy())
        logits = mnist_model(images[0:1]).numpy()
    assert logits.shape == (1, 10) and np.abs(logits).max() < 1
    assert capsys.readouterr().out.startswith("Logits:  [[")


def test_S002_13_optimizer_and_loss():
    optimizer = tf.keras.optimizers.Adam()
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    loss_history = []
    assert float(optimizer.learning_rate) == pytest.approx(0.001)
    loss = loss_object(tf.constant([1, 0]), tf.constant([[0.0, 0.0], [0.0, 0.0]]))
    loss_history.append(loss.numpy())
    assert loss_history[0] == pytest.approx(math.log(2))


class _Training:
    def __init__(self, mnist):
        dataset = _dataset(mnist)
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
            loss_history.append(loss_value.numpy().mean())
            grads = tape.gradient(loss_value, mnist_model.trainable_variables)
            optimizer.apply_gradients(zip(grads, mnist_model.trainable_variables))

        def train(epochs):
            for epoch in range(epochs):
                for batch, (images, labels) in enumerate(dataset):
                    train_step(images, labels)
                print("Epoch {} finished".format(epoch))

        self.dataset, self.model, self.loss_history = dataset, mnist_model, loss_history
        self.train_step, self.train = train_step, train


def test_S002_14_train_step(mnist):
    training = _Training(mnist)
    before = [v.numpy() for v in training.model.trainable_variables]
    for images, labels in training.dataset.take(1):
        training.train_step(images, labels)
    after = [v.numpy() for v in training.model.trainable_variables]
    assert len(training.loss_history) == 1
    assert all((a != b).any() for a, b in zip(before, after))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x == y did not hold"):
        training.train_step(images[:16], labels[:16])


def test_S002_15_train(mnist, capsys):
    training = _Training(mnist)
    training.train(epochs=3)
    assert capsys.readouterr().out == "Epoch 0 finished\nEpoch 1 finished\nEpoch 2 finished\n"
    assert np.mean(training.loss_history[-5:]) < np.mean(training.loss_history[:5])


def test_S002_16_history_of_losses(mnist):
    training = _Training(mnist)
    training.train(epochs=2)
    assert len(training.loss_history) == 10
    assert all(isinstance(loss, np.float32) for loss in training.loss_history)
    try:
        import matplotlib
    except ImportError:
        assert np.asarray(training.loss_history).shape == (10,)
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.plot(training.loss_history)
    plt.xlabel("Batch #")
    plt.ylabel("Loss [entropy]")
    np.testing.assert_allclose(plt.gca().lines[0].get_ydata(), training.loss_history)
    plt.close()


class Linear(tf.keras.Model):
    def __init__(self):
        super(Linear, self).__init__()
        self.W = tf.Variable(5.0, name="weight")
        self.B = tf.Variable(10.0, name="bias")

    def call(self, inputs):
        return inputs * self.W + self.B


def test_S002_17_a_linear_model():
    model = Linear()
    assert [v.name for v in model.trainable_variables] == ["weight:0", "bias:0"]
    assert model(tf.constant([1.0, 2.0])).numpy().tolist() == [15.0, 20.0]


def _toy_data():
    tf.random.set_seed(3)
    NUM_EXAMPLES = 2000
    training_inputs = tf.random.normal([NUM_EXAMPLES])
    noise = tf.random.normal([NUM_EXAMPLES])
    training_outputs = training_inputs * 3 + 2 + noise
    return training_inputs, training_outputs


def loss(model, inputs, targets):
    error = model(inputs) - targets
    return tf.reduce_mean(tf.square(error))


def grad(model, inputs, targets):
    with tf.GradientTape() as tape:
        loss_value = loss(model, inputs, targets)
    return tape.gradient(loss_value, [model.W, model.B])


def test_S002_18_loss_and_gradients(capsys):
    training_inputs, training_outputs = _toy_data()
    model = Linear()
    print("Initial loss: {:.3f}".format(loss(model, training_inputs, training_outputs)))
    value = float(re.fullmatch(r"Initial loss: (\d+\.\d{3})\n", capsys.readouterr().out)[1])
    assert value == pytest.approx(69, abs=6)  # (5 - 3)^2 + (10 - 2)^2 + 1
    x, y = training_inputs.numpy(), training_outputs.numpy()
    error = 5 * x + 10 - y
    gradients = grad(model, training_inputs, training_outputs)
    np.testing.assert_allclose(
        [float(g) for g in gradients], [2 * (error * x).mean(), 2 * error.mean()], rtol=1e-4
    )


def _fit():
    training_inputs, training_outputs = _toy_data()
    model = Linear()
    optimizer = tf.keras.optimizers.SGD(learning_rate=0.01)
    steps = 300
    for i in range(steps):
        grads = grad(model, training_inputs, training_outputs)
        optimizer.apply_gradients(zip(grads, [model.W, model.B]))
        if i % 20 == 0:
            print("Loss at step {:03d}: {:.3f}".format(i, loss(model, training_inputs, training_outputs)))
    return model, training_inputs, training_outputs


def test_S002_19_gradient_descent(capsys):
    _fit()
    lines = capsys.readouterr().out.splitlines()
    found = [re.fullmatch(r"Loss at step (\d{3}): (\d+\.\d{3})", line) for line in lines]
    assert [int(each[1]) for each in found] == list(range(0, 300, 20))
    losses = [float(each[2]) for each in found]
    guide = [65.445, 30.118, 14.165, 6.954, 3.691, 2.213, 1.542, 1.238, 1.100, 1.037, 1.009, 0.996, 0.990, 0.987, 0.986]
    assert losses == sorted(losses, reverse=True)
    np.testing.assert_allclose(losses, guide, rtol=0.2)


def test_S002_20_final_loss(capsys):
    model, inputs, outputs = _fit()
    capsys.readouterr()
    print("Final loss: {:.3f}".format(loss(model, inputs, outputs)))
    assert float(capsys.readouterr().out.split()[-1]) == pytest.approx(1, abs=0.1)


def test_S002_21_fitted_variables(capsys):
    model, _, _ = _fit()
    capsys.readouterr()
    print("W = {}, B = {}".format(model.W.numpy(), model.B.numpy()))
    w, b = re.fullmatch(r"W = ([\d.]+), B = ([\d.]+)\n", capsys.readouterr().out).groups()
    assert float(w) == pytest.approx(3, abs=0.1) and float(b) == pytest.approx(2, abs=0.1)
    assert re.fullmatch(
        r"<tf.Variable 'weight:0' shape=\(\) dtype=float32, numpy=[\d.]+>", repr(model.W)
    )


def test_S002_22_a_variable_lives_as_long_as_its_object():
    v = tf.Variable(tf.random.normal([1000, 1000]))
    dead = weakref.ref(v)
    from weft import memory_stats

    held = memory_stats()["current"]
    v = None  # v no longer takes up memory
    gc.collect()
    assert dead() is None
    assert memory_stats()["current"] <= held - 4 * 1000 * 1000


def test_S002_23_weights_of_a_model(folder):
    model = Linear()
    model.save_weights("weights")
    model.W.assign(1.0)
    status = model.load_weights("weights")
    status.assert_consumed()
    assert float(model.W) == 5.0


def test_S002_24_a_checkpoint_is_saved(folder):
    x = tf.Variable(10.0)
    checkpoint = tf.train.Checkpoint(x=x)
    x.assign(2.0)
    checkpoint_path = "./ckpt/"
    assert checkpoint.save("./ckpt/") == "./ckpt/-1"
    assert tf.train.latest_checkpoint(checkpoint_path) is not None


def test_S002_25_a_checkpoint_is_restored(folder, capsys):
    x = tf.Variable(10.0)
    checkpoint = tf.train.Checkpoint(x=x)
    x.assign(2.0)
    checkpoint_path = "./ckpt/"
    checkpoint.save("./ckpt/")
    x.assign(11.0)
    checkpoint.restore(tf.train.latest_checkpoint(checkpoint_path))
    print(x)
    assert capsys.readouterr().out == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.0>\n"


def test_S002_26_checkpoint_of_a_model_without_variables(folder):
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(16, [3, 3], activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(10),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)
    checkpoint_dir = "path/to/model_dir"
    if not os.path.exists(checkpoint_dir):
        os.makedirs(checkpoint_dir)
    checkpoint_prefix = os.path.join(checkpoint_dir, "ckpt")
    root = tf.train.Checkpoint(optimizer=optimizer, model=model)
    root.save(checkpoint_prefix)
    status = root.restore(tf.train.latest_checkpoint(checkpoint_dir))
    assert callable(status.assert_consumed) and callable(status.expect_partial)


def test_S002_27_variables_that_are_made_later_are_restored(folder):
    def make():
        model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(2)])
        optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)
        return model, optimizer, tf.train.Checkpoint(optimizer=optimizer, model=model)

    def step(model, optimizer, x):
        with tf.GradientTape() as tape:
            value = tf.reduce_mean(tf.square(model(x)))
        grads = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    model, optimizer, root = make()
    step(model, optimizer, x)
    path = root.save("./ckpt/late")
    expected = model(x).numpy()

    again, its_optimizer, its_root = make()
    status = its_root.restore(path)
    assert not again.built
    np.testing.assert_array_equal(again(x).numpy(), expected)
    step(model, optimizer, x)
    step(again, its_optimizer, x)
    np.testing.assert_array_equal(again(x).numpy(), model(x).numpy())
    status.assert_consumed()


def test_S002_28_a_metric():
    m = tf.keras.metrics.Mean("loss")
    m(0)
    m(5)
    assert float(m.result()) == 2.5
    m([8, 9])
    assert float(m.result()) == 5.5
    assert m.name == "loss"


def _write_summaries():
    logdir = "./tb/"
    writer = tf.summary.create_file_writer(logdir)
    steps = 1000
    with writer.as_default():
        for i in range(steps):
            step = i + 1
            # Calculate loss with your real train function.
            value = 1 - 0.001 * step
            if step % 100 == 0:
                tf.summary.scalar("loss", value, step=step)
    writer.close()


def test_S002_29_summaries(folder):
    _write_summaries()
    (path,) = (folder / "tb").iterdir()
    events = list(_scalars(path.read_bytes()))
    assert [step for step, _ in events] == list(range(100, 1100, 100))
    np.testing.assert_allclose([value for _, value in events], [1 - n / 10 for n in range(1, 11)], atol=1e-6)


def test_S002_30_the_file_of_summaries(folder):
    _write_summaries()
    (name,) = os.listdir("tb")
    assert re.fullmatch(r"events\.out\.tfevents\.\d+\..+\.\d+\.\d+\.v2", name)


def _fields(data):
    """The fields of a message of protocol buffers: their numbers and values."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        kind = key & 7
        if kind == 0:
            yield key >> 3, number()
        else:
            size = number() if kind == 2 else {1: 8, 5: 4}[kind]
            yield key >> 3, data[at : at + size]
            at += size


def _scalars(data):
    """The steps and values of the scalars in an event file."""
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 8], "little")
        event = dict(_fields(data[at + 12 : at + 12 + size]))
        at += size + 16
        if 5 not in event:
            continue
        summary = dict(_fields(event[5]))
        value = dict(_fields(summary[1]))
        assert value[1] == b"loss"
        tensor = dict(_fields(value[8]))
        content = tensor[5] if 5 in tensor else tensor[4]
        yield event[2], float(np.frombuffer(content, np.float32)[0])


def test_S002_31_dynamic_model():
    def line_search_step(fn, init_x, rate=1.0):
        with tf.GradientTape() as tape:
            # Variables are automatically tracked. But to calculate a gradient from a tensor, you must `watch` it.
            tape.watch(init_x)
            value = fn(init_x)
        grad = tape.gradient(value, init_x)
        grad_norm = tf.reduce_sum(grad * grad)
        init_value = value
        while value > init_value - rate * grad_norm:
            x = init_x - rate * grad
            value = fn(x)
            rate /= 2.0
        return x, value

    for search in (line_search_step, tf.function(line_search_step)):
        x, value = search(lambda x: tf.reduce_sum(x * x), tf.constant([3.0, 4.0]))
        assert x.numpy().tolist() == [0.0, 0.0] and float(value) == 0.0


@tf.custom_gradient
def clip_gradient_by_norm(x, norm):
    y = tf.identity(x)

    def grad_fn(dresult):
        return [tf.clip_by_norm(dresult, norm), None]

    return y, grad_fn


def test_S002_32_clipped_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = clip_gradient_by_norm(x, tf.constant(0.5))
        far, near = tf.reduce_sum(3 * y), tf.reduce_sum(0.1 * y)
    assert y.numpy().tolist() == [1.0, 2.0]
    np.testing.assert_allclose(tape.gradient(far, x).numpy(), [0.5 / math.sqrt(2)] * 2, rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(near, x).numpy(), [0.1, 0.1], rtol=1e-6)


def test_S002_33_gradient_of_log1pexp():
    def log1pexp(x):
        return tf.math.log(1 + tf.exp(x))

    def grad_log1pexp(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = log1pexp(x)
        return tape.gradient(value, x)

    # The gradient computation works fine at x = 0.
    assert grad_log1pexp(tf.constant(0.0)).numpy() == 0.5
    # However, x = 100 fails because of numerical instability.
    assert np.isnan(grad_log1pexp(tf.constant(100.0)).numpy())


def test_S002_34_custom_gradient_of_log1pexp():
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)

        def grad(dy):
            return dy * (1 - 1 / (1 + e))

        return tf.math.log(1 + e), grad

    def grad_log1pexp(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = log1pexp(x)
        return tape.gradient(value, x)

    assert grad_log1pexp(tf.constant(0.0)).numpy() == 0.5
    assert grad_log1pexp(tf.constant(100.0)).numpy() == 1.0


def measure(x, steps):
    # TensorFlow initializes a GPU the first time it's used, exclude from timing.
    tf.matmul(x, x)
    start = time.time()
    for i in range(steps):
        x = tf.matmul(x, x)
    # tf.matmul can return before completing the matrix multiplication, so the call to x.numpy() ensures that all is done.
    _ = x.numpy()
    end = time.time()
    return end - start


def test_S002_35_measure_matmul(capsys):
    shape = (200, 200)
    steps = 200
    print("Time to multiply a {} matrix by itself {} times:".format(shape, steps))
    print("CPU: {} secs".format(measure(tf.random.normal(shape), steps)))
    first, second = capsys.readouterr().out.splitlines()
    assert first == "Time to multiply a (200, 200) matrix by itself 200 times:"
    assert float(re.fullmatch(r"CPU: (\S+) secs", second)[1]) > 0


def test_S002_36_devices(capsys):
    shape = (50, 50)
    steps = 2
    # Run on CPU:
    with tf.device("/cpu:0"):
        print("CPU: {} secs".format(measure(tf.random.normal(shape), steps)))
    # Run on GPU, if available:
    if tf.config.experimental.list_physical_devices("GPU"):
        with tf.device("/gpu:0"):
            print("GPU: {} secs".format(measure(tf.random.normal(shape), steps)))
    else:
        print("GPU: not found")
        with pytest.raises(RuntimeError, match="cannot use gpu:0: no CUDA driver"):
            with tf.device("/gpu:0"):
                pass
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["CPU", "GPU"]
    assert [each.device_type for each in tf.config.list_physical_devices("CPU")] == ["CPU"]


def test_S002_37_copies_between_devices():
    x = tf.random.normal([10, 10])
    x_cpu = x.cpu()
    assert x_cpu.device.endswith("CPU:0")
    _ = tf.matmul(x_cpu, x_cpu)  # Runs on CPU
    if tf.config.experimental.list_physical_devices("GPU"):
        x_gpu0 = x.gpu()
        _ = tf.matmul(x_gpu0, x_gpu0)  # Runs on GPU:0
        assert x_gpu0.device.endswith("GPU:0")
    else:
        with pytest.raises(RuntimeError, match="cannot use gpu:0: no CUDA driver"):
            x.gpu()
    assert tf.identity(x).device.endswith("CPU:0")


def _body(x):
    for _ in range(30):
        x = x * 1.01 + 0.5
    return tf.reduce_sum(x)


def test_S002_38_large_and_small_ops_give_the_same_in_both():
    # The ratio of their times is the benchmarks' business.
    compiled = tf.function(_body)
    for size in (4, 4000):
        x = tf.random.normal([size], seed=1)
        np.testing.assert_allclose(compiled(x).numpy(), _body(x).numpy(), rtol=1e-5)
    assert compiled.experimental_get_tracing_count() == 2


def test_S002_39_a_function_runs_compiled():
    compiled = tf.function(_body)
    x = tf.constant([1.0, 2.0])
    compiled(x)
    calls = compiled.experimental_get_tracing_count()
    for _ in range(5):
        compiled(x)
    assert compiled.experimental_get_tracing_count() == calls == 1


def test_S002_40_numpy_and_tensors_together(capsys):
    array = np.array([[1.0, 4.0]], np.float32)
    x = tf.constant([[1.0, 4.0]])
    assert isinstance(np.sqrt(x), np.ndarray)
    np.testing.assert_allclose(tf.math.sqrt(array).numpy(), [[1, 2]])
    np.testing.assert_allclose(tf.math.add([1, 2], 3).numpy(), [4, 5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        print(y)
        y.numpy()
        z = tf.reduce_sum(y)
    assert tape.gradient(z, x).numpy().tolist() == [[2.0, 8.0]]
    assert capsys.readouterr().out == "tf.Tensor([[ 1. 16.]], shape=(1, 2), dtype=float32)\n"
