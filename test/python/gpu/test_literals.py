"""Lists and arrays beside tensors of a GPU, which go to it as numbers do, and tensors of the host, which do not."""

CASES = r"""
    a = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
    here = wf.tensor(a)
    there = here.to("gpu:0")
    row, whole, mask = [10.0, 20.0, 30.0], np.ones((2, 3), np.float32), a > 0
    cases = {
        "list": lambda x: x + row, "list in front": lambda x: row + x, "integers": lambda x: x * [1, 2, 3],
        "array": lambda x: x + whole, "array in front": lambda x: whole - x, "f64": lambda x: x + np.ones(3),
        "u8": lambda x: x + np.array([1, 2, 3], np.uint8), "compared": lambda x: x > [0, 0, 0], "matmul": lambda x: x @ whole.T,
        "power": lambda x: wf.power([2.0, 3.0, 4.0], x), "made of a list": lambda x: wf.exp([1.0, 2.0, 3.0]) * x,
        "x[list]": lambda x: x[[1, 0]], "x[array]": lambda x: x[np.array([1, -1, 0])], "x[:, list]": lambda x: x[:, [0, 2]],
        "x[list, list]": lambda x: x[[0, 1], [2, 0]], "x[mask]": lambda x: x[mask], "x[mask list]": lambda x: x[mask.tolist()],
        "rows": lambda x: x[np.array([True, False])], "at.add": lambda x: x.at[[0, 0]].add(1), "at.set": lambda x: x.at[1].set(row),
        "at[lists]": lambda x: x.at[[0, 0], [1, 2]].add([5.0, 6.0]), "at[slice]": lambda x: x.at[:, 1:].multiply([[2.0, 3.0], [4.0, 5.0]]),
        "where": lambda x: wf.where(x > 0, row, 0), "where mask": lambda x: wf.where(mask, x, [[1], [2]]),
        "select": lambda x: wf.select(mask, x, whole), "clip": lambda x: wf.clip(x, [0, 0, 0], [1, 2, 3]),
        "concatenate": lambda x: wf.concatenate([x, [[7, 8, 9]]]), "stack": lambda x: wf.stack([x, a]), "gather": lambda x: wf.gather(x, [1, 1]),
        "take": lambda x: wf.take(x, [2, 0], axis=1), "isin": lambda x: wf.isin(x, [1, 5]), "outer": lambda x: wf.outer(x[0], [1, 2]),
        "searchsorted": lambda x: wf.searchsorted([1.0, 2.0, 4.0], x[0]), "interp": lambda x: wf.interp(x[0], [0.0, 10.0], [0.0, 1.0]),
        "segment_sum": lambda x: wf.segment_sum(x, [0, 0], 2), "einsum": lambda x: wf.einsum("ij,j->i", x, row),
        "solve": lambda x: wf.linalg.solve(x @ x.T, [1.0, 2.0]), "average": lambda x: wf.average(x, axis=1, weights=[1, 2, 3]),
        "convolve": lambda x: wf.convolve(x[0], [1.0, 2.0]), "convolution": lambda x: wf.convolution(x[None], np.ones((1, 3, 2), np.float32)),
        "polyval": lambda x: wf.polyval([1.0, 2.0], x), "maximum": lambda x: wf.maximum([0, 0, 0], x), "dot": lambda x: wf.dot(x, row),
        "squares": lambda x: wf.losses.mean_squared_error(whole, x), "triplet": lambda x: wf.losses.triplet(a, x, a),
        "labels": lambda x: wf.losses.sparse_categorical_cross_entropy([2, 0], x, from_logits=True),
        "weights": lambda x: wf.losses.sparse_categorical_cross_entropy([2, 0], x, from_logits=True, weights=[1.0, 2.0]),
        "binary": lambda x: wf.losses.binary_cross_entropy(mask, x, from_logits=True), "logits": lambda x: wf.losses.softmax_cross_entropy([0, 1], x),
        "ctc": lambda x: wf.losses.ctc([[1]], x[None], blank=0), "accuracy": lambda x: wf.metrics.accuracy([0, 1], x),
        "kl": lambda x: wf.losses.kl_divergence(np.full((2, 3), 1 / 3, np.float32), wf.nn.softmax(x)),
        "attention": lambda x: wf.nn.attention(x[None], x[None], x[None], mask=[[True, False], [True, True]]),
        "function": wf.function(lambda x: x + row), "arguments": lambda x: wf.function(lambda x, y, i: x + y[i])(x, whole, [0, 1]),
        "vmap": wf.vmap(lambda x: x * row), "of a variable": lambda x: wf.Variable(x) + row,
        "cond": lambda x: wf.cond(x[0, 0] > 0, lambda: x + row, lambda: x - row),
        "drawn": lambda x: wf.random.gamma(wf.abs(x), key=wf.random.key(3)), "choice": lambda x: wf.random.shuffle(x, wf.random.key(1)),
    }
"""


def test_host_values_go_to_the_device_beside_them(on_gpu):
    on_gpu(
        CASES
        + """
    for name, f in cases.items():
        y, expected = f(there), f(here)
        assert y.device == "gpu:0" and expected.device == "cpu:0", name
        np.testing.assert_allclose(y.numpy(), expected.numpy(), rtol=1e-5, err_msg=name)
        if expected.dtype == wf.float32 and name not in ("drawn", "of a variable"):
            slopes = [wf.grad(lambda v: wf.sum(f(v)))(x) for x in (there, here)]
            assert slopes[0].device == "gpu:0", name
            np.testing.assert_allclose(slopes[0].numpy(), slopes[1].numpy(), rtol=1e-4, atol=1e-6, err_msg=name)
    """
    )


def test_variables_and_items_take_host_values(on_gpu):
    on_gpu(
        """
    x = wf.tensor([[1.0, 2.0], [3.0, 4.0]], device="gpu:0")
    x[0] = [5, 6]
    x[[1], [0]] = np.array([7.0])
    x[x > 6] = [0.0]
    assert x.device == "gpu:0" and x.tolist() == [[5, 6], [0, 4]], x
    v = wf.Variable(x)
    v.assign_add([[1.0, 1.0], [2.0, 2.0]])
    v.assign_sub(np.ones((2, 2)))
    assert v.device == "gpu:0" and v.numpy().tolist() == [[5, 6], [1, 5]]
    v.assign([[1, 2], [3, 4]])
    assert v.device == "gpu:0"
    optimizer = wf.optimizers.Adam([v])
    optimizer.apply_gradients([np.ones((2, 2), np.float32)])
    optimizer.apply_gradients([(wf.ones((2, 2), device="gpu:0"), v)])
    assert v.device == "gpu:0"
    with wf.device("gpu:0"):
        layer, norm, recurrent = wf.nn.Dense(3), wf.nn.BatchNorm(), wf.nn.LSTM(2)
        assert layer.build((None, 2)).kernel.device == "gpu:0"
        norm.build((None, 2)), recurrent.build((None, 4, 2))
        assert wf.Variable([1.0, 2.0]).device == wf.Variable(1.0).device == "gpu:0" == wf.add([1, 2], 3).device
    row, steps = np.ones((1, 2), np.float32), np.ones((1, 4, 2), np.float32)
    for y in (layer([[1.0, 2.0]]), layer(row), norm([[1.0, 2.0]], training=True), recurrent(steps)):
        assert y.device == "gpu:0"
    for x, y in wf.data.from_tensors(np.ones((4, 2), np.float32), np.zeros((4, 3), np.float32)).batch(2):
        assert x.device == "cpu:0" and wf.losses.mean_squared_error(y, layer(x)).device == "gpu:0"
    accuracy = wf.metrics.SparseCategoricalAccuracy()
    accuracy.update([0, 1], layer(np.ones((2, 2), np.float32)))
    assert accuracy.result().device == "gpu:0"
    """
    )


def test_tensors_of_the_host_stay_there(on_gpu):
    on_gpu(
        """
    x = wf.ones((2, 3)).to("gpu:0")
    v = wf.Variable([1.0, 2.0, 3.0])
    for y in (wf.tensor([1, 2, 3]), wf.asarray(np.ones(3)), wf.zeros(3), wf.ones(3) + [1, 2, 3], v, v.value(),
              wf.constant([1, 2, 3]), wf.array([1, 2, 3]), wf.exp(wf.tensor([1.0, 2.0, 3.0]))):
        assert (y + [1, 2, 3]).device == "cpu:0"
        with pytest.raises(wf.DeviceError, match="add: lhs is on gpu:0 and rhs on cpu:0: move one with .to()"):
            x + y
    with pytest.raises(wf.DeviceError, match=r"concatenate: xs.0. is on cpu:0 and xs.1. on gpu:0"):
        wf.concatenate([wf.ones((2, 3)), x])
    # Elements of the host move by themselves, those of another device do not.
    assert (x + wf.tensor(1.0)).device == (x + wf.full((2, 3), 2.0)[:1, :1]).device == "gpu:0"
    with pytest.raises(wf.DeviceError, match="add: lhs is on gpu:0 and rhs on gpu:1"):
        x + wf.tensor(1.0).to("gpu:1")
    assert (wf.exp([1.0, 2.0, 3.0]) + x.to("gpu:1")).device == "gpu:1"
    """,
        "devices=2",
    )
