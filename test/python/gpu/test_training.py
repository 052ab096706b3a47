"""Training on a GPU: models of each kind with each optimizer against the CPU, fit, checkpoints, Keras, and what is left when memory is full."""

MODELS = """
    nn = wf.nn

    def mlp():
        return nn.Sequential([nn.Dense(8, "relu"), nn.BatchNorm(), nn.Dropout(0.2), nn.Dense(3)])

    def convolutions():
        return nn.Sequential([nn.Conv2D(4, 3, activation="relu"), nn.MaxPooling2D(), nn.Flatten(), nn.Dense(3)])

    def recurrent():
        return nn.Sequential([nn.LSTM(5), nn.Dense(3)])

    def encoder():
        return nn.Sequential([nn.TransformerEncoderLayer(8, heads=2, inner=16), nn.GlobalAveragePooling1D(), nn.Dense(3)])

    MODELS = {mlp: (6,), convolutions: (8, 8, 2), recurrent: (4, 3), encoder: (5, 8)}
    loss_of = lambda y, z: wf.losses.sparse_categorical_cross_entropy(y, z, from_logits=True)

    def samples(shape, count):
        random = np.random.default_rng(1)
        return random.normal(size=(count, *shape)).astype(np.float32), random.integers(0, 3, count)
"""


def test_each_model_with_each_optimizer(on_gpu):
    on_gpu(
        MODELS
        + """
    def train(make, shape, optimizer, place, compiled):
        wf.random.set_seed(5)
        with wf.device(place):
            model = make()
            wf.nn.seed(model, 3)

            def step(x, y):
                with wf.GradientTape() as tape:
                    loss = loss_of(y, model(x, training=True))
                variables = model.trainable_variables
                optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
                return loss

            call = wf.function(step) if compiled else step
            x, y = samples(shape, 12)
            losses = [float(call(wf.tensor(x[i : i + 4]), wf.tensor(y[i : i + 4]))) for i in range(0, 12, 4)]
        for v in model.variables:
            assert v.device == place or "generator" in v.name, v.name
        return losses, {name: v.numpy() for name, v in model.named_variables().items()}

    optimizers = [getattr(wf.optimizers, name) for name in wf.optimizers.__all__ if name not in ("Optimizer", "LossScale")]
    assert len(optimizers) >= 8
    for make, shape in MODELS.items():
        for optimizer in optimizers:
            for compiled in (False, True):
                if compiled and make is not mlp and optimizer is not wf.optimizers.Adam:
                    continue
                what = f"{make.__name__} {optimizer.__name__} {compiled}"
                here, there = (train(make, shape, optimizer(0.01), place, compiled) for place in ("cpu:0", "gpu:0"))
                np.testing.assert_allclose(there[0], here[0], rtol=1e-4, err_msg=what)
                for name, value in here[1].items():
                    if name.endswith("key.bias"):  # whose gradient is 0, but for rounding
                        continue
                    np.testing.assert_allclose(there[1][name], value, rtol=1e-3, atol=1e-4, err_msg=f"{what} {name}")
    """
    )


def test_fit_takes_data_of_the_host(on_gpu, tmp_path):
    on_gpu(
        MODELS
        + f"""
    folder = {str(tmp_path)!r}
    """
        + """
    x, y = samples((6,), 32)
    data = wf.data.from_tensors(x, y).batch(8)

    def fit(place, compile, **more):
        wf.random.set_seed(5)
        with wf.device(place):
            model = nn.Sequential([nn.Dense(8, "relu"), nn.Dense(3)]).build((None, 6))
            wf.nn.seed(model, 3)
            optimizer = wf.optimizers.Adam(0.01)
        metrics = {"accuracy": wf.metrics.SparseCategoricalAccuracy(), "matrix": Hits()}
        parts = dict(optimizer=optimizer, loss=loss_of, metrics=metrics, validation=data)
        history = wf.train.fit(model, data, **parts, progress=False, compile=compile, **more)
        assert all(v.device == place for v in model.variables)
        return model, optimizer, history

    class Hits(wf.Module):
        def __init__(self):
            super().__init__()
            self.matrix = wf.metrics.ConfusionMatrix(3)

        def update(self, y, z):
            self.matrix.update(y, wf.argmax(z, axis=-1))

        def result(self):
            return wf.sum(wf.diagonal(self.matrix.result()))

        def reset(self):
            self.matrix.reset()

    for compile in (True, False):
        (here, _, expected), (there, _, history) = (fit(place, compile, epochs=2) for place in ("cpu:0", "gpu:0"))
        for name in ("loss", "accuracy", "matrix", "val_loss", "val_accuracy"):
            np.testing.assert_allclose(history[name], expected[name], rtol=1e-4, err_msg=name)

    # A run that goes on from its checkpoint ends with the bits of one that was never interrupted, and either may be on the other device.
    whole, _, _ = fit("gpu:0", True, epochs=4)
    fit("gpu:0", True, epochs=2, checkpoints=folder + "/a")
    rest, optimizer, _ = fit("gpu:0", True, epochs=4, checkpoints=folder + "/a")
    for v, w in zip(whole.variables, rest.variables):
        assert (v.numpy() == w.numpy()).all(), v.name
    moved, _, _ = fit("cpu:0", True, epochs=4, checkpoints=folder + "/a")
    for v, w in zip(moved.variables, rest.variables):
        assert (v.numpy() == w.numpy()).all() and v.device == "cpu:0", v.name
    wf.save_weights(folder + "/w.safetensors", rest)
    wf.load_weights(folder + "/w.safetensors", there)
    assert (there.variables[0].numpy() == rest.variables[0].numpy()).all() and there.variables[0].device == "gpu:0"
    point = wf.Checkpoint(model=there, optimizer=optimizer)
    path = point.save(folder + "/point")
    there.variables[0].assign(there.variables[0] * 0)
    point.restore(path)
    assert (there.variables[0].numpy() == rest.variables[0].numpy()).all() and there.variables[0].device == "gpu:0"
    """
    )


def test_models_of_keras(on_gpu):
    on_gpu(
        MODELS
        + """
    import weft.tf as tf
    x, y = samples((6,), 32)

    def fit(place):
        tf.random.set_seed(4)
        with tf.device(place):
            model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(3)])
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile("adam", loss, metrics=["accuracy"])
            model.build((None, 6))
            for i, v in enumerate(model.variables):
                v.assign(np.linspace(-1, 1, int(np.prod(v.shape)), dtype=np.float32).reshape(v.shape))
            history = model.fit(x, y, epochs=2, verbose=0, shuffle=False).history
            numbers = model.evaluate(x, y, verbose=0)
        assert all(v.device.endswith(place) for v in model.variables), [v.device for v in model.variables]
        # Outside of the scope the model is where it was.
        np.testing.assert_allclose(model.evaluate(x, y, verbose=0), numbers, rtol=1e-6)
        model.fit(x, y, verbose=0, shuffle=False)
        return history["loss"], numbers, model.predict(x, verbose=0), model.predict_on_batch(x[:2]), model.train_on_batch(x, y)

    for here, there in zip(fit("CPU:0"), fit("GPU:0")):
        np.testing.assert_allclose(there, here, rtol=1e-3, atol=1e-5)
    """
    )


def test_memory_that_is_full_in_the_middle_of_a_step(on_gpu):
    on_gpu(
        """
    with wf.device("gpu:0"):
        w, v = wf.Variable(wf.ones((512, 512))), wf.Variable(wf.zeros(3))
    x = np.ones((2048, 512), np.float32)

    def step(count):
        v.assign_add([1.0, 1.0, 1.0])
        y, kept = x @ w, []
        for i in range(count):
            kept.append(y * (i + 1))
        total = sum(wf.mean(k) for k in kept)
        w.assign_add(wf.ones((512, 512), device="gpu:0") * total * 0)
        return total

    assert np.isclose(float(step(2)), 3 * 512)
    with pytest.raises(wf.ResourceExhaustedError, match=r"multiply: gpu:0 is out of memory: asked for 4194304 bytes.*the device has 32.0 MiB"):
        step(20)
    assert v.numpy().tolist() == [2, 2, 2] and (w.numpy() == 1).all() and w.device == "gpu:0"

    @wf.function(device="gpu:0")
    def compiled(x, n):
        v.assign_add([1.0, 1.0, 1.0])
        table = wf.zeros((n, 1024, 1024)) + x[0, 0]
        w.assign_add(wf.sum(table) * wf.ones((512, 512)) * 0)
        return wf.linalg.inv(table[:, :2, :2] + wf.eye(2)), table

    with pytest.raises(wf.ResourceExhaustedError, match=r"compiled.*gpu:0 is out of memory"):
        compiled(x, 16)
    assert v.numpy().tolist() == [2, 2, 2] and (w.numpy() == 1).all()
    assert np.isfinite(compiled(x, 1)[0].numpy()).all() and np.isclose(float(step(2)), 3 * 512)
    """,
        "memory=32M",
    )


def test_new_tensors_are_made_on_the_device(on_gpu):
    on_gpu(
        """
    words = "gpu:0 is out of memory: asked for 4398046511104 bytes"
    for name, make in {
        "zeros": lambda **k: wf.zeros([1 << 40], **k), "ones": lambda **k: wf.ones([1 << 40], **k),
        "full": lambda **k: wf.full([1 << 40], 3, "float32", **k), "arange": lambda **k: wf.arange(1 << 40, dtype="float32", **k),
        "linspace": lambda **k: wf.linspace(0, 1, 1 << 39, dtype="float64", **k), "eye": lambda **k: wf.eye(1 << 20, **k),
        "zeros_like": lambda **k: wf.zeros_like(wf.broadcast_to(wf.tensor(1.0), (1 << 40,)), **k),
    }.items():
        with pytest.raises(wf.ResourceExhaustedError, match=name + ": " + words):
            make(device="gpu:0")
    for dtype in ("bool", "int8", "int16", "int64", "float16", "float32", "float64", "complex128"):
        assert (wf.full((3, 5), 3, dtype, device="gpu:0").numpy() == np.full((3, 5), 3, dtype)).all()
        assert (wf.ones((1000,), dtype, device="gpu:0").numpy() == 1).all()
        assert (wf.zeros((7,), dtype, device="gpu:0").numpy() == 0).all()
    assert wf.full((0, 3), 1, device="gpu:0").shape == (0, 3) and wf.full((), 7, device="gpu:0").item() == 7
    """
    )


def test_other_processes_and_libraries(on_gpu):
    on_gpu(
        """
    import os, pickle
    x = wf.tensor([[1.0, 2.0], [3.0, 4.0]], device="gpu:0")
    y = wf.from_dlpack(x.T.__dlpack__(max_version=(1, 1)))
    assert y.device == "gpu:0" and y.tolist() == [[1, 3], [2, 4]] and (y @ x).tolist() == (x.T @ x).tolist()
    assert wf.from_dlpack(x.__dlpack__()).tolist() == x.tolist()
    assert pickle.loads(pickle.dumps(x)).device == "cpu:0"
    with wf.device("gpu:0"):
        assert pickle.loads(pickle.dumps(x.to("cpu"))).device == "gpu:0"
    child = os.fork()
    if child == 0:
        try:
            assert wf.devices() == ["cpu:0"], wf.devices()
            compiled = wf.function(lambda: wf.zeros(2), device="gpu:0")
            for use in (lambda: x + 1, lambda: x.numpy(), lambda: wf.zeros(2, device="gpu:0"), compiled):
                with pytest.raises(wf.DeviceError, match="gpu:0.* cannot be used in a child of fork"):
                    use()
            assert (wf.ones(2) + [1, 2]).tolist() == [2, 3]
        except BaseException as error:
            print(error)
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0 and wf.devices() == ["cpu:0", "gpu:0"] and (x + 1).tolist() == [[2, 3], [4, 5]]
    """
    )
