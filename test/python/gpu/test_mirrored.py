"""Replicas of one process on two GPUs: `MirroredStrategy`, and `Parallel(devices=...)` of `fit`."""

LOOP = """
    from weft import tf
    X = np.random.default_rng(1).normal(size=(32, 3)).astype(np.float32)
    Y = (X @ [[2.0], [-1.0], [0.5]]).astype(np.float32)

    def place(x):
        return x.device.lower()[-5:]

    def run(devices):
        strategy = tf.distribute.MirroredStrategy(devices)
        context = tf.distribute.get_replica_context
        tf.random.set_seed(5)
        with strategy.scope():
            layers = [tf.keras.layers.Dense(4, "relu"), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(0.2)]
            model = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
            optimizer, mean = tf.keras.optimizers.Adam(0.01), tf.keras.metrics.Mean()

        @tf.function
        def compiled(x):
            return model(x, training=True)

        def step(x, y, call):
            here = context().devices[0][1:] if "gpu" in devices[0] else "cpu:0"
            with tf.GradientTape() as tape:
                loss = tf.nn.compute_average_loss((call(x) - y) ** 2, global_batch_size=8)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            mean.update_state(loss)
            total = context().all_reduce("SUM", loss)
            rows = context().all_gather(x, axis=0)
            merged = context().merge_call(lambda strategy, x: strategy.gather(x, axis=0), (x,))
            for each in [x, loss, total, rows, merged, *[v.value() for v in model.trainable_variables]]:
                assert place(each) == here, (each, here)
            assert rows.shape[0] == 8 and (rows == merged).all()
            return loss

        data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((X, Y)).batch(8))
        losses = []
        for call in (lambda x: model(x, training=True), compiled):
            for x, y in data:
                losses.append(float(strategy.reduce("SUM", strategy.run(step, args=(x, y, call)), axis=None)))
        for variable in model.trainable_variables:
            assert place(variable.value()) == (devices[0][1:] if "gpu" in devices[0] else "cpu:0")
        numbers = strategy.run(lambda: tf.reshape(context().replica_id_in_sync_group, [1]))
        assert strategy.gather(numbers, axis=0).tolist() == [0, 1]
        return [*losses, float(mean.result()), *model.get_weights()]

    for gpus, cpus in zip(run(["/gpu:0", "/gpu:1"]), run(["/cpu:0", "/cpu:1"])):
        np.testing.assert_allclose(gpus, cpus, rtol=1e-4, atol=1e-5)
"""


def test_a_loop_by_hand_has_each_replica_on_its_device(on_gpu):
    on_gpu(LOOP, "devices=2,stress")


def test_draws_are_on_the_device_of_the_replica(on_gpu):
    on_gpu(
        """
        from weft import tf
        two = tf.distribute.MirroredStrategy()
        own = tf.random.Generator.from_seed(1)
        with two.scope():
            of_scope = tf.random.Generator.from_seed(1)
            dropout = tf.keras.layers.Dropout(0.5, seed=4)
        drawn = [
            lambda: tf.random.normal([9]), lambda: tf.nn.dropout(tf.ones(9), 0.5), lambda: own.normal([9]),
            lambda: of_scope.normal([9]), lambda: dropout(tf.ones(9), training=True), lambda: tf.random.shuffle(tf.range(9)),
        ]
        for draw in drawn:
            for call in (draw, tf.function(draw)):
                first, second = two.run(call).values
                assert first.device.lower()[-5:] == "gpu:0" and second.device.lower()[-5:] == "gpu:1"
                assert first.tolist() != second.tolist()
        """,
        "devices=2",
    )


def test_fit_computes_on_all_devices(on_gpu):
    on_gpu(
        """
        from weft import tf
        X = np.random.default_rng(1).normal(size=(30, 3)).astype(np.float32)
        Y = (X @ [[2.0], [-1.0], [0.5]]).astype(np.float32)

        def model():
            wf.random.set_seed(5)
            with wf.device("gpu:0"):
                made = wf.Sequential([wf.nn.Dense(4, "relu"), wf.nn.Dropout(0.2), wf.nn.Dense(1)])
                made(X[:2])
            return made

        def run(parallel, **more):
            made = model()
            history = wf.train.fit(
                made, wf.data.from_tensors(X, Y).batch(8), optimizer=wf.optimizers.Adam(0.01),
                loss=wf.losses.mean_squared_error, metrics={"mae": wf.metrics.MeanAbsoluteError()}, epochs=2,
                validation=wf.data.from_tensors(X, Y).batch(15), parallel=parallel, progress=False, **more)
            assert made[0].kernel.value().device.lower().endswith("gpu:0")
            return {name: list(history[name]) for name in history}, [v.numpy().tolist() for layer in (made[0], made[2]) for v in (layer.kernel, layer.bias)]

        Parallel = wf.train.Parallel
        for more in ({}, {"compile": False}):
            assert run(Parallel(devices=["gpu:0", "gpu:1"]), **more) == run(2, **more)
            assert run(Parallel(5, devices=["gpu:1", "gpu:0"]), **more) == run(5, **more)

        # A model that is not built yet, whose kernels come where its biases are.
        for compiled in (True, False):
            new = wf.Sequential([wf.nn.Dense(4), wf.nn.Dense(1)])
            wf.train.fit(
                new, wf.data.from_tensors(X, Y).batch(8), optimizer=wf.optimizers.Adam(0.01), compile=compiled,
                loss=wf.losses.mean_squared_error, parallel=Parallel(devices=["gpu:0", "gpu:1"]), progress=False)
            assert {v.value().device.lower()[-5:] for layer in new for v in (layer.kernel, layer.bias)} == {"cpu:0"}
            assert new(wf.asarray(X)).shape == (30, 1)
        with wf.device("gpu:0"):
            norm = wf.Sequential([wf.nn.BatchNorm(), wf.nn.Dense(1)])
            wf.train.fit(
                norm, wf.data.from_tensors(X, Y).batch(8), optimizer=wf.optimizers.SGD(0.01), loss=wf.losses.mean_squared_error,
                parallel=Parallel(devices=["gpu:0", "gpu:1"]), progress=False)

        tf.random.set_seed(5)
        with tf.distribute.MirroredStrategy().scope() as strategy:
            assert strategy.devices == ("/gpu:0", "/gpu:1")
            keras = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            keras.compile("sgd", "mse", ["mae"])
        losses = keras.fit(X, Y, batch_size=8, epochs=8, verbose=0).history["loss"]
        assert losses[-1] < losses[0] / 2

        for devices, error, words in (
            ("gpu:0", TypeError, "devices is 'gpu:0', but must be a list"),
            (["gpu:7"], wf.DeviceError, "gpu:7"),
            (["tpu"], wf.ValueError, "tpu"),
        ):
            with pytest.raises(error, match=words):
                run(Parallel(devices=devices))
        with pytest.raises(wf.ValueError, match="each of 1 rank has 2 devices, and the run 1 replica: name fewer"):
            run(Parallel(1, devices=["gpu:0", "gpu:1"]))
        """,
        "devices=2,stress",
    )
