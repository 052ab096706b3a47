"""Activations and functions of rows that have kernels of their own: the same mapped over, traced, and under tapes, once
and twice."""

import numpy as np
import pytest

import weft as wf
from weft import nn

X = np.random.default_rng(3).normal(size=(4, 3, 5))
LABELS = np.array([[0, 1, 2], [3, 4, 0], [1, 1, 1], [4, 0, 2]])


def layer_norm():
    layer = nn.LayerNorm(dtype="float64")
    layer(wf.tensor(X[0]))
    return layer


FUNCTIONS = {
    "softmax": nn.softmax,
    "log_softmax": nn.log_softmax,
    "gelu": nn.gelu,
    "layer_norm": layer_norm(),
    "var": lambda x: wf.var(x, axis=-1),
    "norm": lambda x: wf.norm(x, axis=-1),
    "logsumexp": lambda x: wf.logsumexp(x, axis=-1),
    "cross_entropy": lambda x: wf.losses.softmax_cross_entropy(wf.tensor(LABELS[0]), x),
}


def loss(name):
    return lambda x: wf.sum(wf.cos(FUNCTIONS[name](x)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_mapped_over_as_one_by_one(name):
    x = wf.tensor(X)
    for call in (FUNCTIONS[name], wf.grad(loss(name))):
        for mapped in (wf.vmap(call), wf.function(wf.vmap(call))):
            np.testing.assert_allclose(mapped(x).numpy(), np.stack([call(row).numpy() for row in x]), rtol=1e-12)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_as_compiled_and_as_differences(name):
    x = wf.tensor(X[0])
    slope = wf.grad(loss(name))
    twice = wf.grad(lambda y: wf.sum(slope(y) * wf.cos(y)))
    found = twice(x).numpy()
    np.testing.assert_allclose(found, wf.function(twice)(x).numpy(), rtol=1e-9, atol=1e-12)
    step = 1e-6 * np.ones_like(X[0][0])
    moved = [X[0] + sign * np.stack([step, 0 * step, 0 * step]) for sign in (1, -1)]
    values = [float(wf.sum(slope(wf.tensor(y)) * wf.cos(wf.tensor(y)))) for y in moved]
    assert found[0].sum() == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-4, abs=1e-6)


def test_a_persistent_tape_pulls_as_often_as_it_is_asked():
    x = wf.tensor(X[0])
    with wf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = nn.softmax(nn.gelu(x))
        z = wf.sum(y * y)
    expected = wf.grad(lambda v: wf.sum(wf.square(nn.softmax(nn.gelu(v)))))(x).numpy()
    for _ in range(2):
        np.testing.assert_allclose(tape.gradient(z, x).numpy(), expected, rtol=1e-12)
