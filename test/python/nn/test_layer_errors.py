"""Layers that are created or called wrongly, that are half created, and what copies of them hold."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import weft as wf

nn = wf.nn

X = (2, 3)
BAD = [
    (lambda: nn.Dense(3, activaton="relu"), TypeError, "'activaton'; did you mean 'activation'"),
    (lambda: nn.Dense(3, "rellu"), ValueError, "weft.nn.Dense: activation is 'rellu'.* did you mean 'relu'"),
    (lambda: nn.Dense(3, 5), TypeError, "activation is 5: the name of an activation"),
    (lambda: nn.Dense(3, kernel_initializer="he_norml"), ValueError, "did you mean 'he_normal'"),
    (lambda: nn.Dense(3, kernel_initializer=3), TypeError, "kernel_initializer is 3: the name of an initializer"),
    (lambda: nn.Dense(3, seed=-1), ValueError, "seed is -1: an integer from 0"),
    (lambda: nn.Dense(3, use_bias="yes"), TypeError, "use_bias is 'yes': True or False"),
    (lambda: nn.Dense(3, name=4), TypeError, "name is 4: a text"),
    (lambda: nn.Dense(3, dtype="float31"), TypeError, "float31"),
    (lambda: nn.Dense("a"), TypeError, "units is of type str: an integer is wanted"),
    (lambda: nn.Dense(2.5), TypeError, "units is .*: an integer is wanted"),
    (lambda: nn.Dense(), TypeError, "missing the argument 'units'"),
    (lambda: nn.Dense(3, units=3), TypeError, "'units' twice"),
    (lambda: nn.Dense(1, None, True, "ones", "ones", 3), TypeError, "by position at most 5 arguments and was given 6"),
    (lambda: nn.Dense(-1), ValueError, "Dense: there must be at least one unit, but units is -1"),
    (lambda: nn.Dense(3)(wf.ones(X, dtype="int32")), wf.DTypeError, "x is int32.2, 3., but the layer is float32"),
    (lambda: nn.Dense(3)(np.ones(X)), wf.DTypeError, "cast x to float32"),
    (lambda: nn.Dense(3)(), TypeError, "missing the argument 'x'"),
    (lambda: nn.Dense(3)("text"), TypeError, "x is .*'?str'?"),
    (lambda: nn.Dense(3)(wf.ones(X), trainin=True), TypeError, "did you mean 'training'"),
    (lambda: nn.Dense(3)(3.0), wf.ShapeError, "Dense: x"),
    (lambda: nn.Conv2D(3, 2)(wf.ones(X)), wf.ShapeError, r"Conv2D: x must be \(batch, 2 spatial axes, channels\)"),
    (lambda: nn.Conv2D(3, 5)(wf.ones((1, 3, 3, 1))), wf.ShapeError, "Conv2D"),
    (lambda: nn.Conv2D(3, 2, padding="sam"), ValueError, "padding is 'sam': it is 'valid', 'same'"),
    (lambda: nn.Conv2D(3, (2, 2, 2)), ValueError, "a number for all axes or a list of 2, but 3 are given"),
    (lambda: nn.Conv2D(3, ()), ValueError, "kernel_size is empty"),
    (lambda: nn.Conv2D(3, 2, groups=2), ValueError, "the 2 groups do not divide the 3 filters"),
    (lambda: nn.Conv2D(-3, 2), ValueError, "at least one filter, but filters is -3"),
    (lambda: nn.Conv2D(3, 0), ValueError, "at least 1"),
    (lambda: nn.Conv2D(3, 2, strides=-1), ValueError, "at least 1"),
    (lambda: nn.Conv2DTranspose(4, 2, groups=2), ValueError, "groups"),
    (lambda: nn.DepthwiseConv2D(2, depth_multiplier=0), ValueError, "at least|multiplier"),
    (lambda: nn.MaxPooling2D(0), ValueError, "the window must be at least 1, but 0 is given"),
    (lambda: nn.MaxPooling2D(3)(wf.ones((1, 2, 2, 1))), wf.ShapeError, "MaxPooling2D"),
    (lambda: nn.Dropout(1.5), ValueError, "the rate must be at least 0 and below 1, but it is 1.5"),
    (lambda: nn.Dropout("half"), TypeError, "rate is 'half': a number"),
    (lambda: nn.dropout(wf.ones(3), 0.5, generator=3), TypeError, "generator is 3: a weft.random.Generator"),
    (lambda: nn.dropout(wf.ones(3), -1), ValueError, "rate"),
    (lambda: nn.Embedding(3, 2)(wf.ones(2)), wf.DTypeError, "Embedding: x must be integers"),
    (lambda: nn.Embedding(3, 2)([3]), IndexError, "Embedding: .*index 3 is out of range"),
    (lambda: nn.Embedding(-3, 2), ValueError, "Embedding"),
    (lambda: nn.LSTM(-2), ValueError, "LSTM.*at least one unit, but units is -2"),
    (lambda: nn.LSTM(2)(wf.ones(X)), wf.ShapeError, r"LSTM: x must be \(batch, time, inputs\)"),
    (lambda: nn.LSTM(2)(wf.ones((2, 3, 4)), wf.zeros((2, 2))), TypeError, "a list of two tensors, h and c, is wanted"),
    (lambda: nn.LSTM(2)(wf.ones((2, 3, 4)), [wf.zeros((2, 2))]), ValueError, "initial_state has 1 entries"),
    (lambda: nn.GRU(2)(wf.ones((2, 3, 4)), wf.zeros((2, 3))), wf.ShapeError, "GRU"),
    (lambda: nn.GRU(2)(wf.ones((2, 3, 4)), mask=wf.ones((2, 3))), wf.DTypeError, "GRU: .*mask"),
    (lambda: nn.Bidirectional(nn.Dense(2)), TypeError, "layer is a Dense: an LSTM, a GRU or a SimpleRNN is wanted"),
    (lambda: nn.Bidirectional(nn.GRU(2), merge="mul"), ValueError, "merge is 'mul': it is one of 'concatenate', 'sum'"),
    (lambda: nn.MultiHeadAttention(7, heads=2), ValueError, "the 2 heads do not divide the size 7"),
    (lambda: nn.MultiHeadAttention(8, causal="left"), ValueError, "causal is 'left'"),
    (lambda: nn.TransformerEncoderLayer(8, activation=lambda x: x), TypeError, "a function of Python.* the name of"),
    (lambda: nn.BatchNorm(momentum=2), ValueError, "momentum is 2, but must be from 0 to 1"),
    (lambda: nn.BatchNorm(0.9), TypeError, "takes no arguments by position"),
    (lambda: nn.GroupNorm(3)(wf.ones((2, 4))), wf.ShapeError, "the 3 groups do not divide the 4 channels"),
    (lambda: nn.LayerNorm(epsilon=0), ValueError, "epsilon"),
    (lambda: nn.Reshape((3,))(wf.ones((2, 4))), wf.ShapeError, "Reshape.* 8 elements"),
    (lambda: nn.Flatten()(3.0), wf.ShapeError, "Flatten"),
    (lambda: nn.one_hot([1.0], 3), wf.DTypeError, "one_hot"),
    (lambda: nn.one_hot([1], -3), ValueError, "one_hot"),
    (lambda: nn.attention(wf.ones((2, 3)), wf.ones((2, 3)), wf.ones((2, 3))), wf.ShapeError, "attention"),
    (lambda: nn.rotary(wf.ones((2, 3))), wf.ShapeError, "rotary"),
    (lambda: nn.positional_encoding(0, 3), ValueError, "positional_encoding"),
    (lambda: nn.softmax(3.0), wf.ShapeError, "softmax"),
    (lambda: nn.softmax(), TypeError, "'x'"),
    (lambda: nn.gelu(y=wf.ones(2)), TypeError, "'y'"),
    (lambda: nn.initializers.normal(-1.0), ValueError, "normal"),
    (lambda: nn.initializers.orthogonal()((3,)), wf.ShapeError, "orthogonal"),
    (lambda: nn.initializers.Initializer(), TypeError, "constructor|Initializer"),
    (lambda: nn.Layer(), TypeError, "Layer"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


def test_built_layers_refuse_other_inputs_also_while_tracing():
    layer = nn.Dense(3)
    layer(wf.ones((1, 4)))
    for call in (layer, wf.function(layer)):
        with pytest.raises(wf.ShapeError, match="Dense: .*5"):
            call(wf.ones((1, 5)))
    with pytest.raises(IndexError, match="index 7"):
        wf.function(nn.Embedding(3, 2))(np.array([7]))


@pytest.mark.parametrize("base", [nn.Dense, nn.LSTM, nn.Dropout, nn.MultiHeadAttention])
@pytest.mark.parametrize(
    "use",
    [
        lambda layer: layer(wf.ones((1, 2, 3))),
        lambda layer: layer.variables,
        lambda layer: layer.name,
        lambda layer: layer.get_config(),
        repr,
        copy.deepcopy,
        pickle.dumps,
    ],
)
def test_half_made_subclasses_say_so(base, use):
    class Mine(base):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match=r"this Mine was never initialized: call super\(\).__init__"):
        use(Mine())


def test_copies_of_layers_without_values_have_their_initializers():
    layer = nn.Dense(2, kernel_initializer=lambda shape, dtype: wf.ones(shape))
    other = copy.deepcopy(layer)
    del layer
    gc.collect()
    assert float(other(wf.ones((1, 3)))[0, 0]) == 3


def test_layers_and_copies_are_collected_with_their_initializers():
    class Holder:
        pass

    def build():
        holder = Holder()

        def draw(shape, dtype):
            return wf.ones(shape) if holder else None

        holder.layer = nn.Dense(2, kernel_initializer=draw)
        holder.copy = copy.deepcopy(holder.layer)
        holder.inner = nn.MultiHeadAttention(2, 1, kernel_initializer=draw).query
        return weakref.ref(holder), copy.deepcopy(holder.layer)

    alive, other = build()
    gc.collect()
    assert alive() is not None and float(other(wf.ones((1, 3)))[0, 0]) == 3
    del other
    gc.collect()
    assert alive() is None


def test_layers_within_layers_know_how_they_were_made():
    cell = nn.GRU(3, reset_after=False, return_sequences=True, name="g").cell
    assert cell.get_config() == {"units": 3, "reset_after": False, "name": "g"}
    attention = nn.MultiHeadAttention(4, 2, key_heads=1, depth=3, use_bias=False)
    units = {name: getattr(attention, name).get_config()["units"] for name in ("query", "key", "value", "output")}
    assert units == {"query": 6, "key": 3, "value": 3, "output": 4}
    assert repr(nn.MultiHeadAttention(4, 2).query) == "Dense(units=4)"
    layer = nn.SeparableConv2D(3, 2, padding="same", activation=wf.square, name="s")
    assert layer.depthwise.get_config() == {
        "kernel_size": 2, "padding": "same", "name": "s.depthwise", "use_bias": False
    }
    pointwise = layer.pointwise
    assert pointwise.activation is wf.square
    assert pointwise.get_config() == {
        "filters": 3, "kernel_size": 1, "activation": wf.square, "name": "s.pointwise"
    }


@pytest.mark.parametrize(
    "make, shape, part",
    [
        (lambda: nn.GRU(3), (2, 5, 4), "cell"),
        (lambda: nn.LSTM(3, use_bias=False), (2, 5, 4), "cell"),
        (lambda: nn.MultiHeadAttention(4, 2, key_heads=1), (2, 5, 4), "key"),
        (lambda: nn.MultiHeadAttention(4, 2), (2, 5, 4), "output"),
        (lambda: nn.SeparableConv2D(3, 2), (2, 5, 5, 4), "depthwise"),
        (lambda: nn.SeparableConv2D(3, 2, activation=wf.square), (2, 5, 5, 4), "pointwise"),
    ],
)
def test_layers_within_layers_are_pickled_and_copied(make, shape, part):
    layer = make()
    for other in (pickle.loads(pickle.dumps(getattr(layer, part))), copy.deepcopy(getattr(layer, part))):
        assert type(other) is type(getattr(layer, part)) and other.get_config() == getattr(layer, part).get_config()
    layer(wf.ones(shape))
    inner = getattr(layer, part)
    size = inner.kernel.shape[-2]
    x = wf.random.normal((2, size) if part == "cell" else (*shape[:-1], size))
    expected = np.asarray(inner(x)[0] if part == "cell" else inner(x))
    for other in (pickle.loads(pickle.dumps(inner)), copy.deepcopy(inner)):
        assert np.array_equal(np.asarray(other(x)[0] if part == "cell" else other(x)), expected)
        assert [v.shape for v in other.variables] == [v.shape for v in inner.variables]


def test_layers_within_layers_hold_the_initializers_of_python():
    inner = nn.MultiHeadAttention(2, 1, kernel_initializer=lambda shape, dtype: wf.ones(shape)).query
    gc.collect()
    assert float(inner(wf.ones((1, 3)))[0, 0]) == 3


def test_layers_may_not_be_initialized_twice():
    layer = nn.Dense(3)
    layer(wf.ones((1, 2)))
    with pytest.raises((wf.StateError, TypeError)):
        layer.__init__(4)
    assert layer(wf.ones((1, 2))).shape == (1, 3)
