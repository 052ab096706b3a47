"""Windows over axes of one element: the same bits and the same time as without the axis."""

import time

import numpy as np
import pytest

import weft as wf


def numbers(*shape):
    return wf.tensor(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize("options", [{}, {"padding": "same"}, {"strides": 2}, {"padding": "same", "dilations": 2}])
@pytest.mark.parametrize("channels", [(3, 5), (16, 40), (8, 2)])
def test_convolutions_and_gradients(options, channels):
    x, k = numbers(2, 150, channels[0]), numbers(5, *channels)

    def value_and_slopes(x, k, options):
        y, back = wf.vjp(lambda x, k: wf.convolution(x, k, **options), x, k)
        return [y, *back(wf.ones(y.shape))]

    expected = [t.numpy() for t in value_and_slopes(x, k, options)]
    for at in (0, 1):
        several = {
            name: value if isinstance(value, str) else [1, value] if at == 0 else [value, 1]
            for name, value in options.items()
        }
        shape, window = list(x.shape), list(k.shape)
        shape.insert(1 + at, 1)
        window.insert(at, 1)
        for run in (value_and_slopes, wf.function(value_and_slopes)):
            for one, other in zip(run(wf.reshape(x, shape), wf.reshape(k, window), several), expected, strict=True):
                assert one.numpy().tobytes() == other.tobytes()


@pytest.mark.parametrize("name", ["max_pool", "average_pool"])
def test_pooling_and_gradients(name):
    pool, x = getattr(wf, name), numbers(2, 61, 7)

    def value_and_slope(x, window, strides):
        y, back = wf.vjp(lambda x: pool(x, window, strides=strides, padding="same"), x)
        return [y, *back(y)]

    expected = [t.numpy() for t in value_and_slope(x, [3], [2])]
    for shape, window, strides in (([2, 61, 1, 7], [3, 1], [2, 1]), ([2, 1, 61, 7], [1, 3], [1, 2])):
        for one, other in zip(value_and_slope(wf.reshape(x, shape), window, strides), expected, strict=True):
            assert one.numpy().tobytes() == other.tobytes()


def test_a_column_takes_no_longer_than_a_row():
    def seconds(f):
        begin = time.perf_counter()
        f()
        return time.perf_counter() - begin

    column = (numbers(1, 256, 1, 128), numbers(5, 1, 128, 256))
    row = (numbers(1, 1, 256, 128), numbers(1, 5, 128, 256))
    tries = [[seconds(lambda: wf.convolution(*of)) for of in (column, row)] for _ in range(60)]
    best = np.min(tries, axis=0)
    assert best[0] < 2 * best[1]
