"""Layers that compute in floats of 16 bits beside variables of float32, and loss scales."""

import numpy as np
import pytest

import weft as wf


def digits(count):
    """Images of 28 x 28 and their labels: a bright square at a position of its own for each digit."""
    random = np.random.default_rng(7)
    labels = random.integers(0, 10, count)
    images = random.uniform(0, 0.1, (count, 28, 28, 1)).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        row, column = divmod(int(label), 5)
        image[4 + 12 * row : 12 + 12 * row, 1 + 5 * column : 6 + 5 * column] += 0.8
    return images, labels


def network():
    return wf.nn.Sequential(
        wf.nn.Conv2D(4, 5, strides=2, activation=wf.relu),
        wf.nn.BatchNorm(),
        wf.nn.Flatten(),
        wf.nn.Dense(32, activation=wf.relu),
        wf.nn.LayerNorm(),
        wf.nn.Dense(10),
    )


@pytest.mark.parametrize("policy", ["bf16", "f16", "bfloat16"])
@pytest.mark.parametrize("traced", [False, True])
def test_digits_are_learned(policy, traced):
    images, labels = digits(256)
    wf.random.set_seed(1)
    with wf.nn.mixed_precision(policy):
        model = network()
    model(images[:2])
    adam, scale = wf.optimizers.Adam(model, learning_rate=3e-3), wf.optimizers.LossScale(initial=1024)
    dtype = {"f16": wf.float16}.get(policy, wf.bfloat16)

    def loss_of(x, y):
        logits = model(x, training=True)
        assert logits.dtype == dtype
        wide = wf.cast(logits, "float32")
        return wf.mean(wf.logsumexp(wide, -1) - wf.sum(wide * wf.nn.one_hot(y, 10), -1))

    def step(x, y):
        return scale.minimize(adam, lambda: loss_of(x, y))

    run = wf.function(step) if traced else step
    losses = []
    for _ in range(4):
        for i in range(0, 256, 64):
            losses.append(float(run(images[i : i + 64], labels[i : i + 64])))
    assert all(variable.dtype == wf.float32 for variable in model.variables)
    assert losses[-1] < 0.2 * losses[0]
    predicted = np.argmax(wf.cast(model(images), "float32").numpy(), -1)
    assert np.mean(predicted == labels) > 0.95


def test_layers_round_what_they_get_and_their_weights():
    with wf.nn.mixed_precision("bf16"):
        layer = wf.nn.Dense(3, seed=1)
    x = wf.random.normal((4, 5), seed=2)
    y = layer(x)
    narrow = wf.cast(wf.cast(x, "bfloat16") @ wf.cast(layer.kernel, "bfloat16"), "bfloat16")
    np.testing.assert_array_equal(wf.cast(y, "float32").numpy(), wf.cast(narrow + wf.cast(layer.bias, "bfloat16"), "float32").numpy())
    assert layer.kernel.dtype == wf.float32 and y.dtype == wf.bfloat16
    np.testing.assert_array_equal(wf.cast(wf.function(layer)(x), "float32").numpy(), wf.cast(y, "float32").numpy())
    with wf.GradientTape() as tape:
        loss = wf.sum(wf.cast(layer(x), "float32"))
    gradient = tape.gradient(loss, layer.kernel)
    assert gradient.dtype == wf.float32
    np.testing.assert_allclose(gradient.numpy(), np.repeat(x.numpy().sum(0)[:, None], 3, 1), rtol=0.05, atol=0.05)


def test_every_kind_of_layer():
    x = wf.random.normal((2, 8, 8, 4), seed=1)
    rows = wf.random.normal((2, 6, 8), seed=1)
    with wf.nn.mixed_precision("bf16"):
        layers = [
            (wf.nn.Conv2D(3, 3), x),
            (wf.nn.Conv2DTranspose(3, 3), x),
            (wf.nn.DepthwiseConv2D(3), x),
            (wf.nn.BatchNorm(), x),
            (wf.nn.GroupNorm(2), x),
            (wf.nn.LayerNorm(), rows),
            (wf.nn.RMSNorm(), rows),
            (wf.nn.Embedding(10, 4), wf.tensor([[1, 2]])),
            (wf.nn.MultiHeadAttention(8, heads=2), rows),
        ]
        recurrent = wf.nn.LSTM(5)
    for layer, of in layers:
        y = layer(of)
        assert y.dtype == wf.bfloat16, layer
        narrow = wf.cast(of, "bfloat16") if of.dtype.is_floating else of
        assert layer(narrow).dtype == wf.bfloat16
        assert bool(wf.all(wf.isfinite(wf.cast(y, "float32"))))
    assert recurrent(wf.cast(rows, "bfloat16")).dtype == wf.float32
    assert wf.nn.Dense(2)(rows).dtype == wf.float32  # constructed outside
    with wf.nn.mixed_precision("bf16"), wf.nn.mixed_precision("float32"):
        assert wf.nn.Dense(2)(rows).dtype == wf.float32


def test_one_traced_function_tells_precisions_apart():
    wide = wf.nn.Dense(2, seed=1)
    with wf.nn.mixed_precision("bf16"):
        narrow = wf.nn.Dense(2, seed=1)
    call = wf.function(lambda layer, x: layer(x))
    x = wf.ones((1, 3))
    assert [call(layer, x).dtype for layer in (wide, narrow, wide)] == [wf.float32, wf.bfloat16, wf.float32]


def test_loss_scales():
    w = wf.Variable([1.0, 2.0])
    sgd = wf.optimizers.SGD([w], learning_rate=1.0)
    scale = wf.optimizers.LossScale(initial=8, growth_interval=2)
    assert float(scale.scaled(3.0)) == 24
    assert bool(scale.apply_gradients(sgd, [wf.tensor([8.0, 0.0])]))
    assert w.value().tolist() == [0, 2] and float(scale.scale) == 8
    assert not bool(scale.apply_gradients(sgd, [wf.tensor([wf.inf, 0.0])]))
    assert w.value().tolist() == [0, 2] and float(scale.scale) == 4
    assert int(sgd.step) == 1
    for expected in (4, 8):
        scale.apply_gradients(sgd, [wf.tensor([0.0, 4.0])])
        assert float(scale.scale) == expected
    assert w.value().tolist() == [0, 0]
    fixed = wf.optimizers.LossScale(initial=8, dynamic=False)
    assert not bool(fixed.apply_gradients(sgd, [wf.tensor([float("nan"), 0.0])]))
    assert float(fixed.scale) == 8 and w.value().tolist() == [0, 0]


def test_loss_scales_in_traced_functions():
    w = wf.Variable([1.0])
    sgd, scale = wf.optimizers.SGD([w], learning_rate=0.5), wf.optimizers.LossScale(initial=4)
    step = wf.function(lambda g: scale.apply_gradients(sgd, [g]))
    for gradient, applied in ((4.0, True), (wf.inf, False), (2.0, True)):
        assert bool(step(wf.tensor([gradient]))) is applied
    assert float(scale.scale) == 2 and w.value().tolist() == [0.0]


def test_small_gradients_of_f16_survive():
    with wf.nn.mixed_precision("f16"):
        layer = wf.nn.Dense(1, use_bias=False, seed=1)
    layer(wf.ones((1, 2)))

    def gradient(scale):
        with wf.GradientTape() as tape:
            loss = wf.mean(wf.cast(layer(wf.ones((1, 2))), "float32")) * 1e-8
            scaled = scale.scaled(loss) if scale else loss
        return tape.gradient(scaled, layer.kernel)

    assert bool(wf.all(gradient(None) == 0))
    np.testing.assert_allclose(gradient(wf.optimizers.LossScale(initial=65536)).numpy() / 65536, 1e-8, rtol=1e-2)


def test_what_is_refused():
    with pytest.raises(wf.DTypeError, match="mixed_precision: the dtype must be floating, but it is int32"):
        wf.nn.mixed_precision("i32")
    with pytest.raises(wf.DTypeError, match="names no dtype"):
        wf.nn.mixed_precision("half")
    for options, words in (({"initial": 0}, "initial is 0"), ({"factor": 1}, "factor is 1"), ({"growth_interval": 0}, "growth_interval is 0")):
        with pytest.raises(wf.ValueError, match=words):
            wf.optimizers.LossScale(**options)
    with pytest.raises(wf.DTypeError, match="the loss must be floating"):
        wf.optimizers.LossScale().scaled(wf.tensor(1))
