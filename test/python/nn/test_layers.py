"""Layers against NumPy, eagerly and compiled, and their copies."""

import copy
import pickle

import numpy as np
import pytest
from layer_formulas import (
    close,
    convolved,
    depthwise,
    encoder,
    forward_part,
    gru_step,
    lstm_step,
    many_heads,
    normalized,
    numbers,
    pooled,
    row_norm,
    run_along,
    simple_step,
    transposed,
    turned,
    with_numbers,
)

import weft as wf

nn = wf.nn


# Layers of one tensor.


def gamma_beta(v, y):
    return y * v["gamma"] + v["beta"]


LAYERS = {
    "Dense": (lambda: nn.Dense(3), (2, 4), lambda v, x: x @ v["kernel"] + v["bias"]),
    "Dense relu": (lambda: nn.Dense(3, "relu"), (2, 5, 4), lambda v, x: np.maximum(x @ v["kernel"] + v["bias"], 0)),
    "Dense lambda": (
        lambda: nn.Dense(3, activation=_cube, use_bias=False),
        (2, 4),
        lambda v, x: (x @ v["kernel"]) ** 3,
    ),
    "Conv1D": (
        lambda: nn.Conv1D(4, 3, padding="causal", dilation_rate=2),
        (2, 9, 3),
        lambda v, x: convolved(x, v["kernel"], padding="causal", dilation=2) + v["bias"],
    ),
    "Conv2D": (
        lambda: nn.Conv2D(4, (3, 2), strides=(2, 1), padding="same", activation="tanh"),
        (2, 6, 5, 3),
        lambda v, x: np.tanh(convolved(x, v["kernel"], (2, 1), "same") + v["bias"]),
    ),
    "Conv2D groups": (
        lambda: nn.Conv2D(4, 2, groups=2, use_bias=False),
        (2, 4, 5, 6),
        lambda v, x: convolved(x, v["kernel"], groups=2),
    ),
    "Conv2D pairs": (
        lambda: nn.Conv2D(2, 2, padding=[(1, 0), (0, 2)]),
        (1, 4, 3, 2),
        lambda v, x: convolved(np.pad(x, [(0, 0), (1, 0), (0, 2), (0, 0)]), v["kernel"]) + v["bias"],
    ),
    "Conv3D": (lambda: nn.Conv3D(2, 2), (1, 3, 4, 3, 2), lambda v, x: convolved(x, v["kernel"]) + v["bias"]),
    "Conv1DTranspose": (
        lambda: nn.Conv1DTranspose(2, 3, strides=2),
        (2, 4, 3),
        lambda v, x: transposed(x, v["kernel"], 2) + v["bias"],
    ),
    "Conv2DTranspose": (
        lambda: nn.Conv2DTranspose(2, 3, strides=2, padding="same"),
        (2, 3, 4, 3),
        lambda v, x: transposed(x, v["kernel"], 2, "same") + v["bias"],
    ),
    "Conv3DTranspose": (
        lambda: nn.Conv3DTranspose(2, 2),
        (1, 2, 3, 2, 2),
        lambda v, x: transposed(x, v["kernel"]) + v["bias"],
    ),
    "DepthwiseConv1D": (
        lambda: nn.DepthwiseConv1D(3, padding="same"),
        (2, 6, 3),
        lambda v, x: depthwise(x, v["kernel"], 1, "same") + v["bias"],
    ),
    "DepthwiseConv2D": (
        lambda: nn.DepthwiseConv2D((2, 3), depth_multiplier=2),
        (2, 5, 5, 3),
        lambda v, x: depthwise(x, v["kernel"]) + v["bias"],
    ),
    "SeparableConv1D": (
        lambda: nn.SeparableConv1D(4, 3),
        (2, 6, 3),
        lambda v, x: convolved(depthwise(x, v["depthwise.kernel"]), v["pointwise.kernel"]) + v["pointwise.bias"],
    ),
    "SeparableConv2D": (
        lambda: nn.SeparableConv2D(4, 3, 2, "same", 2),
        (2, 6, 5, 3),
        lambda v, x: convolved(depthwise(x, v["depthwise.kernel"], 2, "same"), v["pointwise.kernel"])
        + v["pointwise.bias"],
    ),
    "MaxPooling1D": (lambda: nn.MaxPooling1D(), (2, 7, 3), lambda v, x: pooled(x, 2, None, "valid", np.max)),
    "MaxPooling2D": (
        lambda: nn.MaxPooling2D((3, 2), strides=2, padding="same"),
        (2, 6, 5, 3),
        lambda v, x: pooled(x, (3, 2), 2, "same", np.nanmax),
    ),
    "MaxPooling3D": (lambda: nn.MaxPooling3D(2), (1, 4, 4, 4, 2), lambda v, x: pooled(x, 2, None, "valid", np.max)),
    "AveragePooling1D": (
        lambda: nn.AveragePooling1D(3, 2, "same"),
        (2, 6, 3),
        lambda v, x: pooled(x, 3, 2, "same", np.nanmean),
    ),
    "AveragePooling2D": (
        lambda: nn.AveragePooling2D((2, 3)),
        (2, 4, 6, 3),
        lambda v, x: pooled(x, (2, 3), None, "valid", np.mean),
    ),
    "AveragePooling3D": (
        lambda: nn.AveragePooling3D(2, strides=1),
        (1, 3, 4, 3, 2),
        lambda v, x: pooled(x, 2, 1, "valid", np.mean),
    ),
    "GlobalAveragePooling1D": (lambda: nn.GlobalAveragePooling1D(), (2, 5, 3), lambda v, x: x.mean(1)),
    "GlobalAveragePooling2D": (
        lambda: nn.GlobalAveragePooling2D(keepdims=True),
        (2, 5, 4, 3),
        lambda v, x: x.mean((1, 2), keepdims=True),
    ),
    "GlobalAveragePooling3D": (lambda: nn.GlobalAveragePooling3D(), (2, 3, 2, 4, 3), lambda v, x: x.mean((1, 2, 3))),
    "GlobalMaxPooling1D": (lambda: nn.GlobalMaxPooling1D(), (2, 5, 3), lambda v, x: x.max(1)),
    "GlobalMaxPooling2D": (lambda: nn.GlobalMaxPooling2D(), (2, 5, 4, 3), lambda v, x: x.max((1, 2))),
    "GlobalMaxPooling3D": (
        lambda: nn.GlobalMaxPooling3D(keepdims=True),
        (2, 3, 2, 4, 3),
        lambda v, x: x.max((1, 2, 3), keepdims=True),
    ),
    "BatchNorm": (
        lambda: nn.BatchNorm(),
        (4, 3),
        lambda v, x: gamma_beta(v, (x - v["moving_mean"]) / np.sqrt(v["moving_variance"] + 1e-3)),
    ),
    "LayerNorm": (lambda: nn.LayerNorm(), (2, 3, 5), lambda v, x: gamma_beta(v, normalized(x, -1, 1e-3))),
    "LayerNorm bare": (
        lambda: nn.LayerNorm(epsilon=1e-2, center=False, scale=False),
        (2, 5),
        lambda v, x: normalized(x, -1, 1e-2),
    ),
    "RMSNorm": (
        lambda: nn.RMSNorm(),
        (2, 5),
        lambda v, x: x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * v["scale"],
    ),
    "GroupNorm": (
        lambda: nn.GroupNorm(2),
        (2, 3, 6),
        lambda v, x: gamma_beta(v, normalized(x.reshape(2, 3, 2, 3), (1, 3), 1e-3).reshape(x.shape)),
    ),
    "Dropout": (lambda: nn.Dropout(0.5), (2, 3), lambda v, x: x),
    "Flatten": (lambda: nn.Flatten(), (2, 3, 4), lambda v, x: x.reshape(2, 12)),
    "Reshape": (lambda: nn.Reshape((2, -1)), (2, 3, 4), lambda v, x: x.reshape(2, 2, 6)),
    "SimpleRNN": (
        lambda: nn.SimpleRNN(3),
        (2, 4, 5),
        lambda v, x: run_along(simple_step, v, x, 3, 1)[0][:, -1],
    ),
    "LSTM": (
        lambda: nn.LSTM(3, return_sequences=True),
        (2, 4, 5),
        lambda v, x: run_along(lstm_step, v, x, 3, 2)[0],
    ),
    "GRU": (
        lambda: nn.GRU(3, return_sequences=True, reverse=True),
        (2, 4, 5),
        lambda v, x: run_along(gru_step, v, x, 3, 1, reverse=True)[0],
    ),
    "GRU reset first": (
        lambda: nn.GRU(3, reset_after=False),
        (2, 4, 5),
        lambda v, x: run_along(gru_step, v, x, 3, 1, reset_after=False)[0][:, -1],
    ),
    "Bidirectional": (
        lambda: nn.Bidirectional(nn.LSTM(3, return_sequences=True)),
        (2, 4, 5),
        lambda v, x: np.concatenate(
            [run_along(lstm_step, v, x, 3, 2, f"{way}.cell.", way == "backward")[0] for way in ("forward", "backward")],
            -1,
        ),
    ),
    "Bidirectional sum": (
        lambda: nn.Bidirectional(nn.SimpleRNN(3), merge="sum"),
        (2, 4, 5),
        lambda v, x: run_along(simple_step, v, x, 3, 1, "forward.cell.")[0][:, -1]
        + run_along(simple_step, v, x, 3, 1, "backward.cell.", True)[0][:, 0],
    ),
    "MultiHeadAttention": (lambda: nn.MultiHeadAttention(6, 2), (2, 4, 6), lambda v, x: many_heads(v, x)),
    "MultiHeadAttention options": (
        lambda: nn.MultiHeadAttention(8, heads=4, key_heads=2, depth=2, causal=True, rotary=True),
        (2, 5, 8),
        lambda v, x: many_heads(v, x, heads=4, key_heads=2, causal="top_left", rotate=turned),
    ),
    "TransformerEncoderLayer": (
        lambda: nn.TransformerEncoderLayer(6, heads=2, inner=5),
        (2, 4, 6),
        lambda v, x: encoder(v, x, False),
    ),
    "TransformerEncoderLayer norm first": (
        lambda: nn.TransformerEncoderLayer(6, heads=2, norm_first=True),
        (2, 4, 6),
        lambda v, x: encoder(v, x, True),
    ),
    "Residual": (
        lambda: nn.Residual(nn.Dense(4)),
        (2, 4),
        lambda v, x: x + x @ v["layer.kernel"] + v["layer.bias"],
    ),
    "Input": (lambda: nn.Input((4,)), (2, 4), lambda v, x: x),
}


def _cube(x):
    return x * x * x


@pytest.mark.parametrize("case", LAYERS)
def test_layers_are_their_formulas_eagerly_and_compiled(case):
    make, shape, formula = LAYERS[case]
    layer, x = make(), numbers(*shape)
    v = with_numbers(layer, x)
    expected = formula(v, x.astype(np.float64))
    close(layer(x), expected)

    def losses(layer, x):
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = layer(x)
            loss = wf.sum(wf.sin(y))
        return y, tape.gradient(loss, [x, *layer.trainable_variables])

    x = wf.tensor(x)
    eager, compiled = losses(layer, x), wf.function(lambda x: losses(layer, x))(x)
    close(compiled[0], expected)
    assert len(eager[1]) == 1 + len(layer.trainable_variables)
    for a, b in zip(eager[1], compiled[1]):
        close(a, b)
    # The gradient by x against a difference along one direction.
    direction, h = numbers(*shape, seed=9).astype(np.float64), 1e-6
    before, after = (formula(v, np.asarray(x).astype(np.float64) + s * h * direction) for s in (-1, 1))
    difference = (np.sin(after).sum() - np.sin(before).sum()) / (2 * h)
    assert np.isclose((np.asarray(eager[1][0]) * direction).sum(), difference, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("case", [case for case in LAYERS if case != "Input"])
def test_layers_are_copied_and_pickled_with_their_values(case):
    make, shape, _ = LAYERS[case]
    layer, x = make(), numbers(*shape)
    with_numbers(layer, x)
    expected = np.asarray(layer(x))
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert type(other) is type(layer) and np.array_equal(other(x), expected)
        for variable in other.trainable_variables:
            variable.assign(wf.zeros_like(variable))
    assert np.array_equal(layer(x), expected)


# Layers with more to say.


@pytest.mark.parametrize("unbiased", [False, True])
def test_batch_norm_learns_moving_statistics_in_training(unbiased):
    def build():
        layer = nn.BatchNorm(momentum=0.9, unbiased=unbiased)
        return layer, with_numbers(layer, x)

    x = numbers(5, 3, 2)
    n = 15
    variance = x.var((0, 1)) * (n / (n - 1) if unbiased else 1)
    for wrapped in (lambda f: f, wf.function):
        layer, v = build()
        step = wrapped(lambda x, layer=layer: layer(x, training=True))
        close(step(x), normalized(x, (0, 1), 1e-3) * v["gamma"] + v["beta"])
        close(layer.moving_mean, v["moving_mean"] * 0.9 + x.mean((0, 1)) * 0.1)
        close(layer.moving_variance, v["moving_variance"] * 0.9 + variance * 0.1)
        assert [v.name for v in layer.trainable_variables] == ["gamma", "beta"]


def test_dropout_drops_a_share_in_training_alone():
    x = np.ones((200, 100), np.float32)
    layer, other = nn.Dropout(0.25, seed=3), nn.Dropout(0.25, seed=3)
    assert np.array_equal(layer(x), x)
    eager = np.asarray(layer(x, training=True))
    compiled = np.asarray(wf.function(lambda x: other(x, training=True))(x))
    assert set(np.unique(eager)) == {0, np.float32(1 / 0.75)} and 0.23 < (eager == 0).mean() < 0.27
    assert np.array_equal(compiled, eager)
    assert not np.array_equal(layer(x, training=True), eager)
    drawn = nn.dropout(x, 0.25, generator=wf.random.Generator(5))
    assert np.array_equal(drawn, nn.dropout(x, 0.25, generator=wf.random.Generator(5)))
    assert 0.23 < (np.asarray(drawn) == 0).mean() < 0.27


def test_embeddings_are_rows():
    layer = nn.Embedding(5, 3, embeddings_initializer="normal")
    ids = np.array([[1, 4], [0, 1]])
    table = np.asarray(layer(ids) is not None and layer.embeddings)
    for call in (layer, wf.function(layer)):
        assert np.array_equal(call(ids), table[ids])
    assert np.array_equal(pickle.loads(pickle.dumps(layer))(ids), table[ids])
    model = wf.Sequential([nn.Embedding(5, 3, input_shape=(2,)), nn.Flatten(), nn.Dense(1)])
    assert model.built and model(ids).shape == (2, 1)


CELLS = {
    "SimpleRNN": (nn.SimpleRNNCell, nn.SimpleRNN, simple_step, 1),
    "LSTM": (nn.LSTMCell, nn.LSTM, lstm_step, 2),
    "GRU": (nn.GRUCell, nn.GRU, gru_step, 1),
}


@pytest.mark.parametrize("kind", CELLS)
def test_cells_take_and_give_states(kind):
    make, _, step, count = CELLS[kind]
    cell, x = make(3), numbers(2, 4)
    v = with_numbers(cell, x)
    states = [numbers(2, 3, seed=i) for i in range(count)]
    for call in (cell, wf.function(lambda x, s: cell(x, s))):
        output, after = call(x, states)
        expected = step(v, x, states)
        close(output, expected[0])
        assert len(after) == count
        for a, b in zip(after, expected):
            close(a, b)
    output, after = cell(x)
    close(output, step(v, x, [np.zeros((2, 3))] * count)[0])
    assert type(cell(x, tuple(states))[1]) is tuple and cell.units == 3
    if count == 1:
        output, after = cell(x, wf.tensor(states[0]))
        assert isinstance(after, wf.Tensor) and np.array_equal(output, after)
    again = pickle.loads(pickle.dumps(cell))
    assert np.array_equal(again(x)[0], cell(x)[0])


@pytest.mark.parametrize("kind", CELLS)
def test_recurrent_layers_take_states_and_masks(kind):
    _, make, step, count = CELLS[kind]
    layer, x = make(3, return_sequences=True, return_state=True), numbers(2, 4, 5)
    mask = np.array([[True, False, True, True], [False, True, True, False]])
    initial = [numbers(2, 3, seed=7 + i) for i in range(count)]
    v = with_numbers(layer, x)
    outputs, states = run_along(step, v, x, 3, count, mask=mask, initial=initial)
    given = initial if count > 1 else initial[0]
    for call in (layer, wf.function(lambda x, initial_state, mask: layer(x, initial_state, mask))):
        result = call(x, initial_state=given, mask=mask)
        assert type(result) is tuple and len(result) == 1 + count
        for a, b in zip(result, [outputs, *states]):
            close(a, b)
    assert np.array_equal(layer.cell.kernel, layer.named_variables()["cell.kernel"]) and layer.units == 3


def test_attention_of_others_and_masks():
    layer, x, others = nn.MultiHeadAttention(6, heads=2), numbers(2, 3, 6), numbers(2, 5, 4, seed=1)
    mask = np.random.default_rng(2).random((2, 3, 5)) < 0.6
    mask[..., 0] = True
    v = with_numbers(layer, x, others=others)
    expected = many_heads(v, x, others, mask=mask)
    for call in (layer, wf.function(lambda x, others, mask: layer(x, others, mask=mask))):
        close(call(x, others, mask=mask), expected)
    assert layer.query.kernel.shape == (6, 6) and layer.value.kernel.shape == (4, 6)


@pytest.mark.parametrize("norm_first", [False, True])
def test_decoders_look_at_what_was_encoded(norm_first):
    layer = nn.TransformerDecoderLayer(6, heads=2, norm_first=norm_first)
    x, encoded = numbers(2, 3, 6), numbers(2, 5, 6, seed=1)
    v = with_numbers(layer, x, encoded=encoded)
    if norm_first:
        y = x + many_heads(v, row_norm(v, "norm1.", x), at="self_attention.", causal="top_left")
        y = y + many_heads(v, row_norm(v, "norm2.", y), encoded, at="cross_attention.")
        y = y + forward_part(v, row_norm(v, "norm3.", y))
    else:
        y = row_norm(v, "norm1.", x + many_heads(v, x, at="self_attention.", causal="top_left"))
        y = row_norm(v, "norm2.", y + many_heads(v, y, encoded, at="cross_attention."))
        y = row_norm(v, "norm3.", y + forward_part(v, y))
    for call in (layer, wf.function(lambda x, e: layer(x, e))):
        close(call(x, encoded), y)


def test_transformers_drop_in_training_and_take_masks():
    layer, x = nn.TransformerEncoderLayer(6, heads=2, dropout=0.5), numbers(2, 3, 6)
    mask = np.tri(3, dtype=bool)[None].repeat(2, 0)
    v = with_numbers(layer, x)
    close(layer(x, mask=mask), encoder(v, x, False, mask))
    assert not np.array_equal(layer(x, training=True), layer(x))


# What layers say of themselves.


def test_layers_say_how_they_were_made():
    layer = nn.Conv2D(16, [3, 3], activation="relu", input_shape=(28, 28, 1), name="first")
    assert layer.name == "first" and layer.activation == "relu" and layer.input_shape == (28, 28, 1)
    assert layer.get_config()["filters"] == 16 and layer.kernel is None and not layer.built
    assert repr(nn.Dense(3, use_bias=False)) == "Dense(units=3, use_bias=False)"
    again = type(layer)(**layer.get_config())
    assert again.get_config() == layer.get_config()
    assert isinstance(layer, nn.Layer) and not nn.Dense(2, use_bias=False)(wf.ones((1, 2))).shape == (2,)


def test_input_shape_is_pickled():
    layer = pickle.loads(pickle.dumps(nn.Dense(3, input_shape=(4,), name="first")))
    assert layer.input_shape == (4,) and layer.name == "first"


def test_layers_are_built_for_a_shape():
    layer = nn.Dense(3, input_shape=(4,))
    assert layer.build((None, 4)) is layer and layer.kernel.shape == (4, 3) and layer.parameter_count == 15
    assert nn.Dense(3, dtype="float64")(wf.ones((1, 2), dtype="float64")).dtype == wf.float64
    assert nn.Dense(3, use_bias=False).bias is None
    assert wf.Sequential([nn.Dense(3, input_shape=(4,)), nn.Dense(2)]).parameter_count == 23
    nn.build(model := nn.Conv1D(2, 3), (None, None, 4))
    assert model.kernel.shape == (3, 4, 2)
    assert "Parameters: 26" in nn.summary(model, (None, None, 4))


def test_layers_work_in_the_first_trace_and_for_all_sizes():
    layer = nn.Dense(3)
    f = wf.function(layer)
    for n in (2, 5, 6):
        close(f(numbers(n, 4)), numbers(n, 4) @ np.asarray(layer.kernel))
    assert f.trace_count() == 2
