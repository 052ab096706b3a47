"""The order of sums: as precise as pairwise ones, and the same bits however they are computed."""

import numpy as np
import pytest

import weft as wf


@pytest.mark.parametrize("addend", [0.1, 0.3, 0.7, 1 / 3])
@pytest.mark.parametrize("count", [1000, 10**4, 65536, 10**5, 10**6])
def test_equal_addends_lose_no_more_than_in_a_pairwise_sum(addend, count):
    x = np.full(count, addend, np.float32)
    exact = float(x[0]) * count
    for shape in ((count,), (1, count), (count // 8, 8)):
        total = float(wf.sum(wf.tensor(x.reshape(shape))))
        assert abs(total / exact - 1) < 4e-7, shape
    mean = float(wf.mean(wf.tensor(x)))
    assert abs(mean / float(x[0]) - 1) < 4e-7


def test_long_rows_of_many():
    x = np.full((9, 300_000), 0.1, np.float32)
    error = wf.sum(wf.tensor(x), axis=1).numpy() / (float(x[0, 0]) * x.shape[1]) - 1
    assert np.abs(error).max() < 4e-7


# Around the ends of rounds, of sums of 16 and of 16 of those, of f32 and of f64.
LENGTHS = [1, 15, 63, 64, 65, 511, 512, 513, 1023, 1024, 1025, 1088, 2047, 8192, 8225, 16384, 16385, 17409, 40000]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("length", LENGTHS)
def test_the_same_bits_of_known_and_open_sizes_and_eagerly(dtype, length):
    numbers = np.random.default_rng(length).standard_normal((3, length))
    x = wf.tensor(numbers.astype(dtype))
    eager = wf.sum(x, axis=1).numpy()
    known = wf.function(lambda x: wf.sum(x, axis=1))
    opened = wf.function(lambda x: wf.sum(x, axis=1), input_signature=[wf.TensorSpec((None, None), dtype)])
    fused = wf.function(lambda x: (wf.sum(x, axis=1), wf.max(x, axis=1)))
    for other in (known(x), opened(x), fused(x)[0]):
        assert other.numpy().tobytes() == eager.tobytes()
    np.testing.assert_allclose(eager, numbers.astype(dtype).astype(np.float64).sum(1), rtol=1e-5, atol=1e-4)
