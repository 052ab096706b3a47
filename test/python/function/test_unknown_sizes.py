"""Indexing on axes whose sizes a signature leaves open: the same elements, gradients and errors as at once."""

import numpy as np
import pytest

import weft as wf

KEYS = [
    -1,
    -2,
    (0, -1),
    (-1, -1),
    (..., -1),
    (-1, ..., -1),
    (None, -1, None),
    slice(-2, None),
    slice(-9, None),
    slice(None, -1),
    slice(None, -9),
    slice(1, -1),
    slice(-3, -1),
    slice(-1, -3),
    slice(-3, 2),
    slice(3, 1),
    slice(None, -1, 2),
    slice(-3, None, 2),
    slice(None, None, -2),
    slice(-2, None, -1),
    slice(None, -3, -1),
    slice(2, 0, -1),
    slice(9, 1, -1),
    slice(9, -9, -2),
    slice(2**63 - 1, -(2**63), -(2**63)),
    slice(-(2**63), 2**63 - 2, -1),
    slice(-(2**63), -1, 2**63 - 1),
    (slice(-2, None), slice(None, -1)),
    (..., slice(-2, None)),
    (-1, slice(None, None, -1)),
    (slice(None, -1), None, 0),
    [-1, 0],
    [[0], [-2]],
    ([0, 1], [1, 2]),
    ([0, -1], [1, -2]),
    ([[0], [1]], [1, 2]),
    (slice(None), [0, 1], [1, 2]),
    ([0, 1], slice(None), [1, -1]),
    (slice(1, None), 0, [1, -1]),
    (0, [1, 2]),
    (-1, [1, 2], -1),
]
SHAPES = [[None, None, None], [None, 3, 4], [4, None, 4], [4, 3, None], [None, 3, None]]
X = np.arange(48, dtype="f4").reshape(4, 3, 4)


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_same_as_at_once(key, shape):
    traced = wf.function(lambda x: x[key], input_signature=[wf.TensorSpec(shape)])
    np.testing.assert_array_equal(np.asarray(traced(X)), X[key])


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_gradients(key):
    def loss(x):
        return wf.sum(wf.square(x[key]))

    traced = wf.function(wf.grad(loss), input_signature=[wf.TensorSpec([None, None, None])])
    want = np.zeros_like(X)
    want[key] = 2 * X[key]
    np.testing.assert_array_equal(np.asarray(traced(X)), want)
    np.testing.assert_array_equal(np.asarray(wf.grad(loss)(wf.tensor(X))), want)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_positions_that_are_traced(shape):
    specs = [wf.TensorSpec(shape), wf.TensorSpec([], wf.int64), wf.TensorSpec([None], wf.int32)]
    traced = wf.function(lambda x, i, j: (x[i, j], x[:, i, j], x[j, :, i]), input_signature=specs)
    for i, j in [(0, [1, 2]), (-1, [0, -2, 1])]:
        got = traced(X, i, np.array(j, "i4"))
        for a, b in zip(got, (X[i, j], X[:, i, j], X[j, :, i]), strict=True):
            np.testing.assert_array_equal(np.asarray(a), b)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("key", [-5, (0, -4), ([0, 1], [0, 3]), ([0, 1], [0, -4]), (0, [7]), [4], [-5]], ids=str)
def test_out_of_range(key, shape):
    with pytest.raises(wf.OutOfRangeError):
        wf.tensor(X)[key]
    with pytest.raises(wf.OutOfRangeError):
        wf.function(lambda x: x[key], input_signature=[wf.TensorSpec(shape)])(X)


def test_out_of_range_by_traced_positions():
    """Even where the place among all elements is within them, and where sizes are known."""
    for shape in ([None, None], [4, 3]):
        specs = [wf.TensorSpec(shape), wf.TensorSpec([], wf.int64), wf.TensorSpec([], wf.int64)]
        traced = wf.function(lambda x, i, j: x[i, j], input_signature=specs)
        assert float(traced(X[:, :, 0], 1, -1)) == X[1, -1, 0]
        for i, j in [(0, 3), (1, -4), (4, 0), (-5, 2)]:
            with pytest.raises(wf.OutOfRangeError, match="out of range"):
                traced(X[:, :, 0], i, j)


def test_empty():
    traced = wf.function(
        lambda x: (x[-1:], x[:-1], x[::-1], x[-1:0:-1]), input_signature=[wf.TensorSpec([None, 2])]
    )
    assert [y.shape for y in traced(wf.zeros((0, 2)))] == [(0, 2)] * 4
    last = wf.function(lambda x: x[-1], input_signature=[wf.TensorSpec([None, 2])])
    with pytest.raises(wf.OutOfRangeError, match="out of range"):
        last(wf.zeros((0, 2)))


def test_steps_of_zero():
    with pytest.raises(wf.ValueError, match="the step of slice 1 is 0"):
        wf.function(lambda x: x[-1, ::0], input_signature=[wf.TensorSpec([None, None])])(X[0])


def test_bounds_that_are_traced():
    """Nothing takes them, and the error says what does."""
    specs = [wf.TensorSpec([None]), wf.TensorSpec([], wf.int64)]
    for key, end in [(lambda n: slice(n, None), "start"), (lambda n: slice(None, n), "stop")]:
        message = rf"the {end} of a slice is a tensor of a traced .*weft\.resize\(x, n\)"
        with pytest.raises(wf.DTypeError, match=message):
            wf.function(lambda x, n, key=key: x[key(n)], input_signature=specs)(X[0, 0], 2)


COLUMNS = {
    "mean": lambda x: wf.mean(x[:, 0]),
    "from a row on": lambda x: wf.sum(x[1:, 0]),
    "each second": lambda x: wf.sum(x[::2, 0]),
    "norm": lambda x: wf.norm(x[..., 0]),
    "difference": lambda x: wf.mean(wf.square(x[:, 0] - x[:, 1])),
    "of parts": lambda x: wf.sum(wf.reshape(x, [-1, 2, 2])[:, 0]),
    "last of parts": lambda x: wf.sum(wf.reshape(x, [-1, 2, 2])[:, :, 0]),
    "of a gradient": lambda x: wf.norm(wf.grad(lambda y: wf.sum(wf.square(wf.tile(y, (1, 2)))))(x)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_sums_of_columns(name):
    """A sum of what does not lie side by side copies it first, by a size that no whole axis has."""
    f = wf.function(COLUMNS[name], input_signature=[wf.TensorSpec([None, 4])])
    for rows in (3, 5, 64):
        x = np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)
        np.testing.assert_allclose(f(x), COLUMNS[name](wf.tensor(x)), rtol=1e-5)
