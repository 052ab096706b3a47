"""Tensors on GPUs, in processes whose CUDA driver is the emulator: moving, scopes, ops, TensorFlow's names, and what is said without a driver."""


def test_tensors_move(on_gpu):
    on_gpu(
        """
        assert wf.devices() == ["cpu:0", "gpu:0", "gpu:1"] == list(wf.__array_namespace_info__().devices())
        a = np.arange(12, dtype=np.float32).reshape(3, 4)
        x = wf.tensor(a).to("gpu:0")
        assert x.device == "gpu:0" and x.to_device("cpu").device == "cpu:0" and x.to("gpu:1").device == "gpu:1"
        assert (x.numpy() == a).all() and x.tolist() == a.tolist() and x[1, 2].item() == 6
        assert repr(x) == repr(wf.tensor(a)) and str(x.T) == str(wf.tensor(a.T))
        assert (np.asarray(x[:, ::2]) == a[:, ::2]).all() and float(x[0, 3]) == 3 and bool(x[0, 1])
        assert "table" in x._repr_html_()
        with pytest.raises(BufferError, match="gpu:0, whose memory the host cannot read"):
            memoryview(x)
        with pytest.raises(ValueError, match="becomes an array only by a copy"):
            np.asarray(x, copy=False)
        with pytest.raises(wf.DeviceError, match="to: cannot use gpu:2: the CUDA driver knows 2 GPUs"):
            x.to("gpu:2")
        with pytest.raises(wf.ValueError, match="'tpu' is not a device"):
            x.to("tpu")
        import copy, pickle
        assert (pickle.loads(pickle.dumps(x)).numpy() == a).all() and (copy.deepcopy(x).numpy() == a).all()
        assert x.__dlpack_device__() == (2, 0) and (np.from_dlpack(x.to("cpu")) == a).all()
        """,
        "devices=2",
    )


def test_scopes_and_the_parameter_say_where_new_tensors_go(on_gpu):
    on_gpu(
        """
        makers = [
            lambda **k: wf.zeros(3, **k), lambda **k: wf.ones((2, 2), **k), lambda **k: wf.full(2, 5, **k),
            lambda **k: wf.arange(4, **k), lambda **k: wf.linspace(0, 1, 3, **k), lambda **k: wf.eye(2, **k),
            lambda **k: wf.tensor([1, 2], **k), lambda **k: wf.asarray(np.ones(2), **k),
            lambda **k: wf.zeros_like(wf.zeros(2), **k), lambda **k: wf.full_like(wf.zeros(2), 1, **k),
            lambda **k: wf.fft.fftfreq(4, **k),
        ]
        for make in makers:
            assert make().device == "cpu:0" and make(device="gpu:0").device == "gpu:0", make()
            with wf.device("gpu:0"):
                assert make().device == "gpu:0" and make(device="cpu").device == "cpu:0"
                with wf.device("cpu"):
                    assert make().device == "cpu:0"
        with wf.device("gpu:0"):
            assert wf.random.normal((2,)).device == "gpu:0"
            layer = wf.nn.Dense(3)
            assert layer(wf.ones((2, 4))).device == "gpu:0" and layer.kernel.device == "gpu:0"
        x = wf.ones(3)
        assert x.astype("int32", device="gpu:0").device == "gpu:0"
        assert wf.asarray(x, device="gpu:0").device == "gpu:0" and wf.tensor(x).device == "cpu:0"
        """
    )


def test_ops_run_where_their_operands_are(on_gpu):
    on_gpu(
        """
        a = wf.tensor([[1.0, 2.0], [3.0, 4.0]])
        x = a.to("gpu:0")
        for f in (lambda v: v + 1, lambda v: 2 - v, lambda v: v @ v, lambda v: wf.sum(v, axis=0), wf.nn.softmax,
                  lambda v: wf.linalg.inv(v), lambda v: v[:, None] * v, lambda v: wf.sort(v, axis=0), wf.std,
                  lambda v: wf.concatenate([v, v]), lambda v: wf.where(v > 2, v, 0.0), wf.logsumexp, wf.cumsum,
                  lambda v: wf.take(v, wf.tensor([1, 0], device=v.device), axis=0), lambda v: v * wf.tensor(2.0)):
            y = f(x)
            assert y.device == "gpu:0" and (y.numpy() == f(a).numpy()).all(), f(a)
        with pytest.raises(wf.DeviceError, match="matmul: lhs is on gpu:0 and rhs on cpu:0: move one"):
            x @ a
        w = wf.Variable(x)
        assert w.device == "gpu:0"
        with wf.GradientTape() as tape:
            loss = wf.mean((w @ x) ** 2)
        g = tape.gradient(loss, w)
        assert g.device == "gpu:0"
        w.assign_sub(0.1 * g)
        w.assign(a)
        assert w.device == "gpu:0" and (w.numpy() == a.numpy()).all()
        """
    )


def test_tensorflow(on_gpu):
    on_gpu(
        """
        import weft.tf as tf
        gpus = tf.config.list_physical_devices("GPU")
        assert repr(gpus) == "[PhysicalDevice(name='/physical_device:GPU:0', device_type='GPU')]"
        assert [d.name for d in tf.config.list_logical_devices()] == ["/device:CPU:0", "/device:GPU:0"]
        with tf.device("/GPU:0"):
            x = tf.constant([1.0, 2.0])
        assert x.device.endswith("device:GPU:0") and (x + 1).numpy().tolist() == [2, 3]
        with tf.device(x.device):
            assert tf.zeros(2).device == x.device
        """
    )


def test_functions(on_gpu):
    on_gpu(
        """
        f = wf.function(lambda x, w: wf.tanh(x @ w))
        x, w = wf.ones((4, 3)), wf.full((3, 2), 0.25)
        there = f(x.to("gpu:0"), w.to("gpu:0"))
        assert there.device == "gpu:0" and (there.numpy() == f(x, w).numpy()).all()
        with pytest.raises(wf.DeviceError, match="argument 0 is on gpu:0 and argument 1 on cpu:0"):
            f(x.to("gpu:0"), w)

        v = wf.Variable(wf.zeros((3, 2)))

        @wf.function(device="gpu:0")
        def step(x):
            with wf.GradientTape() as tape:
                loss = wf.mean((x @ v - 1) ** 2)
            v.assign_sub(0.1 * tape.gradient(loss, v))
            return loss

        losses = [float(step(x)) for _ in range(20)]
        assert v.value().device == "gpu:0" and losses[-1] < 0.01 * losses[0]
        with pytest.raises(ValueError, match="'tpu' is not a device"):
            wf.function(lambda x: x, device="tpu")
        """
    )


def test_without_a_driver(on_gpu):
    on_gpu(
        """
        import weft.tf as tf
        assert wf.devices() == ["cpu:0"] and tf.config.list_physical_devices("GPU") == []
        words = "cannot use gpu:0: no CUDA driver .*: cannot open shared object file"
        with pytest.raises(wf.DeviceError, match="to: " + words):
            wf.ones(2).to("gpu:0")
        with pytest.raises(wf.DeviceError, match="zeros: " + words):
            wf.zeros(2, device="gpu:0")
        with pytest.raises(wf.DeviceError, match="device: " + words), wf.device("gpu:0"):
            pass
        """,
        driver="/nowhere/libcuda.so.1",
    )


def test_functions_put_their_own_tensors_beside_their_operands(on_gpu):
    on_gpu(
        """
        a = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
        x, idx = wf.tensor(a).to("gpu:0"), wf.tensor([0, 0]).to("gpu:0")
        assert x[x > 0].device == "gpu:0" and x[x > 0].tolist() == a[a > 0].tolist()
        y = x * 1
        y[0:1, ::2] = 5.0
        assert y.tolist() == [[5, -2, 5], [4, 5, -6]] and y.device == "gpu:0"
        y[...] = 3
        assert y.tolist() == [[3] * 3] * 2 and y.device == "gpu:0"
        assert x.at[idx].add(5).tolist() == [[11, 8, 13], [4, 5, -6]]
        with wf.device("gpu:0"):
            c = wf.tensor(a).to("cpu")
            assert c[c > 0].device == "cpu:0" and wf.grad(lambda x: wf.sum(x[x > 0]))(c).tolist() == (a > 0).tolist()
        """
    )


def test_training_under_a_scope(on_gpu):
    on_gpu(
        """
        def losses(place):
            wf.random.set_seed(3)
            with wf.device(place):
                model = wf.nn.Sequential([wf.nn.Dense(6), wf.nn.Dense(3)])
                optimizer = wf.optimizers.Adam(0.01)
                x = wf.tensor(np.linspace(-1, 1, 40, dtype=np.float32).reshape(10, 4))
                y = wf.tensor(np.arange(10) % 3)

                @wf.function
                def step():
                    with wf.GradientTape() as tape:
                        loss = wf.mean(wf.losses.sparse_categorical_cross_entropy(y, model(x), from_logits=True))
                    optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
                    return loss

                return [float(step()) for _ in range(5)]

        np.testing.assert_allclose(losses("gpu:0"), losses("cpu:0"), rtol=1e-5)
        """
    )


def test_devices_that_are_asked_for_in_vain(on_gpu):
    on_gpu(
        """
        x = wf.ones(3).to("gpu:0")
        with pytest.raises(ValueError, match="a GPU is wanted"):
            wf.function(lambda x: x, device="cpu:0")
        with pytest.raises(ValueError, match="copy is False"):
            wf.asarray(np.ones(3, "f4"), device="gpu:0", copy=False)
        with pytest.raises(wf.StateError, match="stands for a value of a traced function"):
            wf.function(lambda x: x.to("cpu"))(x)
        """
    )
