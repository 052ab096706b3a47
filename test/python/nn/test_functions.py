"""The functions of weft.nn against NumPy, eagerly and compiled: activations, attention, positions."""

import math
import pickle

import numpy as np
import pytest
from layer_formulas import attended, close, numbers, sigmoid, softmax, turned

import weft as wf

nn = wf.nn


def erf(x):
    return np.vectorize(math.erf)(x)


FUNCTIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "tanh": np.tanh,
    "sigmoid": sigmoid,
    "softmax": softmax,
    "log_softmax": lambda x: np.log(softmax(x)),
    "gelu": lambda x: x * (1 + erf(x / math.sqrt(2))) / 2,
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x * sigmoid(x),
    "swish": lambda x: x * sigmoid(x),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "elu": lambda x: np.where(x > 0, x, np.exp(x) - 1),
    "selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1)),
    "leaky_relu": lambda x: np.where(x > 0, x, 0.2 * x),
    "relu6": lambda x: np.clip(x, 0, 6),
    "hard_sigmoid": lambda x: np.clip(x + 3, 0, 6) / 6,
    "mish": lambda x: x * np.tanh(np.log1p(np.exp(x))),
    "softsign": lambda x: x / (1 + np.abs(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_activations_as_functions_and_by_their_names(name):
    function, x = getattr(nn, name), np.linspace(-7, 7, 30, dtype=np.float32).reshape(3, 10)
    expected = FUNCTIONS[name](x.astype(np.float64))
    eye = {"kernel_initializer": lambda shape, dtype: wf.tensor(np.eye(10), dtype=dtype)}
    for call in (function, wf.function(lambda x: function(x)), nn.Dense(10, name, **eye)):
        close(call(x), expected)
    layer = nn.Dense(10, activation=function, **eye)
    close(layer(x), expected)
    assert layer.activation is function


@pytest.mark.parametrize("name", FUNCTIONS)
def test_layers_with_functions_as_activations_are_pickled(name):
    function = getattr(nn, name)
    assert pickle.loads(pickle.dumps(nn.Dense(10, activation=function))).activation is function


def test_other_names_of_activations():
    x = wf.zeros((1, 2))
    for name in ("linear", "exponential", "exp", "logistic"):
        assert nn.Dense(2, name).activation == name
        assert float(nn.Dense(2, name)(x)[0, 0]) == {"linear": 0, "logistic": 0.5}.get(name, 1)
    assert nn.Dense(2).activation is None


def test_one_hot():
    labels = np.array([[1, 3], [0, -1]])
    expected = (labels[..., None] == np.arange(4)).astype(np.int32)
    for call in (nn.one_hot, wf.function(nn.one_hot)):
        assert np.array_equal(call(labels, 4), expected) and call(labels, 4).dtype == wf.float32
    assert nn.one_hot(labels, 4, dtype=wf.int32).dtype == wf.int32


@pytest.mark.parametrize("causal", [False, True, "top_left", "bottom_right"])
def test_attention_is_the_formula(causal):
    query, key, value = numbers(2, 4, 3, 6), numbers(2, 2, 5, 6, seed=1), numbers(2, 2, 5, 7, seed=2)
    kind = "top_left" if causal is True else causal
    mask = numbers(3, 5, seed=3)
    expected = attended(query, key, value, mask, kind, 0.3)
    for wrapped in (lambda f: f, wf.function):
        call = wrapped(lambda q, k, v: nn.attention(q, k, v, mask, causal=causal, scale=0.3))
        close(call(query, key, value), expected)
    bools = mask > -5
    close(nn.attention(query, key, value, mask=bools, causal=causal), attended(query, key, value, bools, kind))
    dropped = nn.attention(query, key, value, dropout=0.5, generator=wf.random.Generator(1))
    assert np.array_equal(dropped, nn.attention(query, key, value, dropout=0.5, generator=wf.random.Generator(1)))


@pytest.mark.parametrize("interleaved", [False, True])
def test_positions(interleaved):
    x = numbers(2, 5, 6)
    for call in (nn.rotary, wf.function(lambda x, i: nn.rotary(x, i))):
        close(call(x, interleaved), turned(x, interleaved))
    close(nn.rotary(x, base=100.0), turned(x, base=100.0))
    angle = np.arange(5)[:, None] / 100.0 ** (2 * np.arange(3) / 6)
    expected = np.stack([np.sin(angle), np.cos(angle)], -1).reshape(5, 6)
    close(nn.positional_encoding(5, 6, base=100.0), expected)
    assert nn.positional_encoding(2, 4, dtype="float64").dtype == wf.float64
