"""Initializers: the variances that they say, and how they are written."""

import math
import pickle

import numpy as np
import pytest
from layer_formulas import close

import weft as wf

nn = wf.nn

SHAPE = (3, 30, 60)
FANS = {"in": 90, "both": 270}
VARIANCES = {
    "glorot_uniform": ((), 2 / 270),
    "glorot_normal": ((), 2 / 270),
    "he_uniform": ((), 2 / 90),
    "he_normal": ((), 2 / 90),
    "lecun_uniform": ((), 1 / 90),
    "lecun_normal": ((), 1 / 90),
    "uniform": ((-2.0, 2.0), 16 / 12),
    "normal": ((0.5,), 0.25),
    "truncated_normal": ((0.5,), 0.25 * 0.7737),
    "constant": ((3.0,), 0),
    "zeros": ((), 0),
    "ones": ((), 0),
}


@pytest.mark.parametrize("name", [*VARIANCES, "orthogonal"])
def test_initializers_draw_what_they_say(name):
    args, variance = VARIANCES.get(name, ((2.0,), None))
    initializer = getattr(nn.initializers, name)(*args)
    drawn = np.asarray(initializer(SHAPE, seed=4)).astype(np.float64)
    assert np.array_equal(drawn, initializer(SHAPE, "float32", 4))
    assert np.array_equal(drawn, pickle.loads(pickle.dumps(initializer))(SHAPE, seed=4))
    if name == "orthogonal":
        matrix = drawn.reshape(-1, 60)
        return close(matrix.T @ matrix, 4 * np.eye(60))
    mean = {"constant": 3, "ones": 1}.get(name, 0)
    assert abs(drawn.mean() - mean) < 0.05 * math.sqrt(variance) + 1e-9
    assert abs(drawn.var() - variance) <= 0.07 * variance
    if name.endswith("_uniform"):
        assert np.abs(drawn).max() <= math.sqrt(3 * variance)
    if name == "truncated_normal":
        assert np.abs(drawn).max() <= 1
    if not args:
        layer = nn.Dense(60, kernel_initializer=name, seed=4)
        layer(wf.ones((1, 40)))
        assert np.array_equal(layer.kernel, initializer((40, 60), seed=4))


def test_initializers_are_written_as_they_are_made():
    assert repr(nn.initializers.uniform(-1, 2)) == "uniform(-1.0, 2.0)"
    shapes = []
    layer = nn.Conv2D(2, 3, kernel_initializer=lambda shape, dtype: shapes.append((shape, dtype)) or wf.ones(shape))
    layer(wf.ones((1, 4, 4, 5)))
    assert shapes == [((3, 3, 5, 2), wf.float32)] and np.all(np.asarray(layer.kernel) == 1)
