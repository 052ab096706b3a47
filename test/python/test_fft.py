"""wf.fft: frequencies, and spectra with the middle elsewhere."""

import numpy as np
import pytest

import weft as wf


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 1000, 1001])
@pytest.mark.parametrize("d", [1, 0.25, 3])
def test_frequencies_are_those_of_numpy(n, d):
    for function, expected in ((wf.fft.fftfreq, np.fft.fftfreq(n, d)), (wf.fft.rfftfreq, np.fft.rfftfreq(n, d))):
        found = function(n, d=d, dtype="float64")
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == "float64"
        assert function(n, d).dtype == "float32"
        np.testing.assert_array_equal(function(n, d), expected.astype(np.float32))


def test_frequencies_of_nothing_are_refused():
    for function, name in ((wf.fft.fftfreq, "fftfreq"), (wf.fft.rfftfreq, "rfftfreq")):
        for n in (0, -3):
            with pytest.raises(wf.ValueError, match=rf"fft\.{name}: n is {n}: it must be 1 or more"):
                function(n)
        with pytest.raises(wf.DTypeError, match=rf"fft\.{name}: the dtype is int32: a floating one is wanted"):
            function(4, dtype="int32")


@pytest.mark.parametrize("shape", [(7,), (8,), (3, 4), (2, 3, 5), (0, 3)])
def test_shifts_are_those_of_numpy_and_of_each_other(shape):
    x = np.arange(np.prod(shape)).reshape(shape)
    for axes in (None, [0], [-1], [0, -1]):
        if axes == [0, -1] and len(shape) == 1:
            continue
        shifted = wf.fft.fftshift(x, axes=axes)
        np.testing.assert_array_equal(shifted, np.fft.fftshift(x, axes))
        np.testing.assert_array_equal(wf.fft.ifftshift(x, axes), np.fft.ifftshift(x, axes))
        np.testing.assert_array_equal(wf.fft.ifftshift(shifted, axes=axes), x)


def test_shifts_of_sizes_that_a_trace_does_not_know():
    lines = wf.TensorSpec([None, None], "float64")
    for function, expected in ((wf.fft.fftshift, np.fft.fftshift), (wf.fft.ifftshift, np.fft.ifftshift)):
        traced = wf.function(function, input_signature=[lines])
        for shape in ((3, 4), (5, 1), (0, 2)):
            x = np.random.default_rng(0).standard_normal(shape)
            np.testing.assert_array_equal(traced(x), expected(x))


def test_shifts_have_gradients_and_batches():
    x = wf.arange(10.0).reshape([2, 5])
    slope = wf.grad(lambda x: wf.sum(wf.fft.fftshift(x) * wf.arange(10.0).reshape([2, 5])))(x)
    np.testing.assert_array_equal(slope, np.fft.ifftshift(np.arange(10.0).reshape(2, 5)))
    np.testing.assert_array_equal(wf.vmap(wf.fft.fftshift)(x), np.fft.fftshift(np.arange(10.0).reshape(2, 5), 1))


def test_axes_that_are_not_there_or_there_twice_are_refused():
    for function, name in ((wf.fft.fftshift, "fftshift"), (wf.fft.ifftshift, "ifftshift")):
        with pytest.raises(IndexError, match=rf"fft\.{name}: axes"):
            function([[1, 2]], axes=[2])
        with pytest.raises(wf.ValueError, match=rf"fft\.{name}: axes"):
            function([[1, 2]], axes=[0, -2])
