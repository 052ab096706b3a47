"""wf.fft: transforms against NumPy, bits of lines in batches, derivatives; frequencies, and spectra with the middle elsewhere."""

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


def test_frequencies_of_open_lines():
    signature = [wf.TensorSpec([None], "float32")]
    for n in (1, 2, 7, 8):
        x = wf.zeros([n])
        for function in (wf.fft.fftfreq, wf.fft.rfftfreq):
            for dtype in ("float32", "float64"):
                traced = wf.function(lambda x: function(x.shape[0], 0.25, dtype=dtype), input_signature=signature)  # noqa: B023
                np.testing.assert_array_equal(traced(x), function(n, 0.25, dtype=dtype))
            with pytest.raises(wf.ValueError, match=rf"fft\.{function.__name__}: n is 0: it must be 1 or more"):
                traced(wf.zeros([0]))


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


DTYPES = {"complex64": "float32", "complex128": "float64"}
NORMS = (None, "backward", "ortho", "forward")


def numbers(*shape, dtype="complex128", seed=3):
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape)
    if dtype.startswith("complex"):
        x = x + 1j * random.standard_normal(shape)
    return x.astype(dtype)


def near(got, expected, scale=1.0):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape
    eps = np.finfo(got.dtype).eps
    assert np.abs(got - expected).max(initial=0) <= 40 * scale * eps * max(1, np.abs(expected).max(initial=0))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13, 17, 60, 64, 101, 1000, 1009, 32768])
@pytest.mark.parametrize("dtype", DTYPES)
def test_transforms_are_those_of_numpy(n, dtype):
    x, real = numbers(n, dtype=dtype), numbers(n, dtype=DTYPES[dtype])
    for name, of in (("fft", x), ("ifft", x), ("fft", real), ("ifft", real), ("rfft", real), ("ihfft", real), ("irfft", x), ("hfft", x)):
        if n == 1 and name in ("irfft", "hfft"):
            continue
        found, expected = getattr(wf.fft, name)(of), getattr(np.fft, name)(of)
        assert found.dtype == expected.dtype, name
        near(found, expected, 4)
    near(wf.fft.ifft(wf.fft.fft(x)), x, 4)
    near(wf.fft.irfft(wf.fft.rfft(real), n), real, 4)
    near(wf.fft.hfft(wf.fft.ihfft(real), n), real, 4)


@pytest.mark.parametrize("norm", NORMS[1:])
def test_lengths_axes_and_factors_are_those_of_numpy(norm):
    x, real = numbers(5, 6, 7), numbers(5, 6, 7, dtype="float64")
    for axis in (0, 1, -1):
        for n in (None, 1, 4, 6, 11):
            for name, of in (("fft", x), ("ifft", x), ("rfft", real), ("ihfft", real), ("irfft", x), ("hfft", x)):
                near(getattr(wf.fft, name)(of, n=n, axis=axis, norm=norm), getattr(np.fft, name)(of, n, axis, norm))
    for s, axes in ((None, None), (None, [0, 2]), ([4, 9], [1, 0]), ([3, 3, 3], None)):
        if s is not None and axes is None:
            axes = [0, 1, 2]
        for name, of in (("fftn", x), ("ifftn", x), ("rfftn", real), ("irfftn", x)):
            near(getattr(wf.fft, name)(of, s=s, axes=axes, norm=norm), getattr(np.fft, name)(of, s, axes, norm))
    for name, of in (("fft2", x), ("ifft2", x), ("rfft2", real), ("irfft2", x)):
        near(getattr(wf.fft, name)(of, norm=norm), getattr(np.fft, name)(of, norm=norm))


def test_a_line_has_the_bits_that_it_has_in_a_batch():
    x = numbers(3, 50, 9)
    many = wf.fft.fft(x, axis=1).numpy()
    for i in range(3):
        for j in range(9):
            assert (wf.fft.fft(x[i, :, j]).numpy() == many[i, :, j]).all()
    assert (wf.function(lambda x: wf.fft.fft(x, axis=1))(x).numpy() == many).all()
    assert (wf.vmap(wf.vmap(wf.fft.fft, in_axes=1, out_axes=1))(x).numpy() == many).all()


def test_traced_transforms_of_unknown_sizes():
    traced = wf.function(wf.fft.fft, input_signature=[wf.TensorSpec([None, None], "complex128")])
    real = wf.function(lambda x: wf.fft.irfft(wf.fft.rfft(x)), input_signature=[wf.TensorSpec([None], "float64")])
    for shape in ((3, 4), (2, 17)):
        x = numbers(*shape)
        assert (traced(x).numpy() == wf.fft.fft(x).numpy()).all()
        x = numbers(2 * shape[1], dtype="float64")
        near(real(x), x)


@pytest.mark.parametrize("name", ["fft", "ifft", "irfft", "hfft", "fftn", "irfftn", "rfft", "ihfft", "rfftn"])
def test_derivatives_are_those_of_differences(name):
    function = getattr(wf.fft, name)
    is_real = name.startswith("r") or name == "ihfft"
    x = numbers(4, 5, dtype="float64" if is_real else "complex128")
    weights = numbers(*np.asarray(function(x)).shape, dtype="float64")

    def loss(x):
        return wf.sum(wf.abs(function(x)) ** 2 * weights)

    slope = wf.grad(loss)(x).numpy()
    step = 1e-6
    for direction in (1,) if is_real else (1, 1j):
        d = numbers(4, 5, dtype=x.dtype.name, seed=5) * direction
        difference = (loss(x + step * d).numpy() - loss(x - step * d).numpy()) / (2 * step)
        assert abs(np.sum(np.real(np.conj(slope) * d)) - difference) < 1e-6 * max(1, abs(difference))
    compiled = wf.function(wf.grad(loss))(x).numpy()
    near(compiled, slope, 100)


def test_lengths_and_axes_that_cannot_be_are_refused():
    x = numbers(3, 4)
    with pytest.raises(wf.ValueError, match=r"fft\.fft: the length 0 of a transform is asked for: it must be 1 or more"):
        wf.fft.fft(x, n=0)
    with pytest.raises(wf.ShapeError, match="would have no element"):
        wf.fft.fft(numbers(3, 0))
    with pytest.raises(wf.ShapeError, match="would have no element"):
        wf.fft.irfft(numbers(1))
    with pytest.raises(IndexError, match=r"fft\.fft: axis"):
        wf.fft.fft(x, axis=2)
    with pytest.raises(wf.ValueError, match=r"fft\.fftn: s has 1 sizes for 2 axes"):
        wf.fft.fftn(x, s=[4], axes=[0, 1])
    with pytest.raises(wf.ValueError, match=r"fft\.fftn: axes"):
        wf.fft.fftn(x, axes=[0, 0])
    with pytest.raises(wf.ValueError, match="'backward', 'ortho' or 'forward'"):
        wf.fft.fft(x, norm="backwards")
    with pytest.raises(wf.DTypeError):
        wf.fft.rfft(x)


def test_names_of_tensorflow():
    from weft import tf

    x, real = numbers(3, 4, 5, dtype="complex64"), numbers(3, 4, 5, dtype="float32")
    for name, axes in (("fft", [-1]), ("fft2d", [-2, -1]), ("fft3d", [-3, -2, -1])):
        near(getattr(tf.signal, name)(x), np.fft.fftn(x, axes=axes), 4)
        near(getattr(tf.signal, "i" + name)(x), np.fft.ifftn(x, axes=axes), 4)
        lengths = [3, 6, 8][-len(axes) :]
        near(getattr(tf.signal, "r" + name)(real, lengths), np.fft.rfftn(real, lengths, axes), 4)
        near(getattr(tf.signal, "ir" + name)(x), np.fft.irfftn(x, axes=axes), 4)


def hann(n):
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(n) / n)


@pytest.mark.parametrize(("length", "step", "n"), [(16, 4, None), (16, 8, 32), (9, 3, None)])
def test_short_time_transforms_are_undone(length, step, n):
    """Wherever frames overlap whose windows do not vanish."""
    x = np.random.default_rng(2).standard_normal((2, 16 + 20 * step))
    spectra = wf.fft.stft(x, length, step, fft_length=n)
    frames = np.stack([x[:, i * step : i * step + length] for i in range(spectra.shape[1])], 1)
    np.testing.assert_allclose(spectra.numpy(), np.fft.rfft(frames * hann(length), n or length), atol=1e-12)
    back = wf.fft.istft(spectra, length, step, fft_length=n).numpy()
    np.testing.assert_allclose(back[:, 1:-length], x[:, 1 : back.shape[1] - length], atol=1e-10)


@pytest.mark.parametrize("rank", [1, 2])
def test_lengths_that_a_trace_computes(rank):
    rng = np.random.default_rng(7)
    signature = [wf.TensorSpec([None] * rank, "float64")]
    functions = {
        "there and back": lambda x: wf.fft.irfft(wf.fft.rfft(x), n=x.shape[-1]),
        "convolved": lambda x: wf.fft.irfft(wf.square(wf.fft.rfft(x, n=2 * x.shape[-1] - 1)), n=2 * x.shape[-1] - 1),
        "longer": lambda x: wf.real(wf.fft.fft(x, n=x.shape[-1] + 3)),
        "shorter": lambda x: wf.real(wf.fft.ifft(x, n=(x.shape[-1] + 1) // 2)),
        "hermitian": lambda x: wf.fft.hfft(wf.fft.ihfft(x, norm="ortho"), n=x.shape[-1], norm="ortho"),
    }
    for name, function in functions.items():
        compiled = wf.function(function, input_signature=signature)
        slope = wf.grad(lambda x: wf.sum(wf.square(function(x))))  # noqa: B023
        slope_compiled = wf.function(slope, input_signature=signature)
        for n in (1, 2, 5, 6, 12, 33):
            x = wf.tensor(rng.normal(size=(3, n)[2 - rank :]))
            np.testing.assert_array_equal(compiled(x), function(x), err_msg=name)
            np.testing.assert_allclose(slope_compiled(x), slope(x), rtol=1e-11, atol=1e-11, err_msg=name)
    rows = wf.function(wf.vmap(functions["there and back"]), input_signature=[wf.TensorSpec([None, None], "float64")])
    x = wf.tensor(rng.normal(size=(4, 9)))
    np.testing.assert_allclose(rows(x), x, rtol=1e-11, atol=1e-12)


def test_lengths_that_a_trace_computes_and_are_none():
    cut = wf.function(lambda x, y: wf.fft.irfft(x, n=y.shape[0]), input_signature=[wf.TensorSpec([None], "float32"), wf.TensorSpec([None], "float32")])
    with pytest.raises(wf.ValueError, match=r"fft\.irfft: the length 0 of a transform is asked for: it must be 1 or more"):
        cut(wf.zeros([4]), wf.zeros([0]))
    with pytest.raises(wf.DTypeError, match=r"fft\.irfft: n is of type float: an integer is wanted"):
        wf.fft.irfft(wf.zeros([4]), n=2.5)
    with pytest.raises(wf.ValueError, match="the length 0 of a transform"):
        wf.fft.irfft(wf.zeros([4]), n=0)


def test_short_time_transforms_have_derivatives_and_open_sizes():
    x = wf.tensor(np.random.default_rng(3).standard_normal(40))
    window = wf.tensor(np.linspace(0.5, 1, 8))

    def loss(x, window):
        spectra = wf.fft.stft(x, 8, 4, window=window)
        return wf.sum(wf.square(wf.real(spectra))) + wf.sum(wf.square(wf.imag(spectra)))

    by_x, by_window = wf.grad(loss, (0, 1))(x, window)
    for i, of, gradient in ((0, x, by_x), (1, window, by_window)):
        for at in (0, 5, of.shape[0] - 1):
            step = np.zeros(of.shape)
            step[at] = 1e-6
            moved = [[x, window], [x, window]]
            moved[0][i], moved[1][i] = of + step, of - step
            slope = (float(loss(*moved[0])) - float(loss(*moved[1]))) / 2e-6
            assert float(gradient[at]) == pytest.approx(slope, rel=1e-5)
    compiled = wf.function(lambda x: wf.fft.stft(x, 8, 4, pad_end=True), input_signature=[wf.TensorSpec([None, None], "float64")])
    for size in (3, 8, 9, 31):
        rows = np.random.default_rng(size).standard_normal((2, size))
        np.testing.assert_array_equal(compiled(rows).numpy(), wf.fft.stft(rows, 8, 4, pad_end=True).numpy())
    undone = wf.function(lambda z: wf.fft.istft(z, 8, 4), input_signature=[wf.TensorSpec([None, 5], "complex128")])
    spectra = wf.fft.stft(x, 8, 4)
    np.testing.assert_array_equal(undone(spectra).numpy(), wf.fft.istft(spectra, 8, 4).numpy())


def test_windows():
    np.testing.assert_allclose(wf.fft.hann_window(7, False, "float64"), np.hanning(7), atol=1e-15)
    np.testing.assert_allclose(wf.fft.hamming_window(7, False, "float64"), np.hamming(7), atol=1e-15)
    np.testing.assert_allclose(wf.fft.hann_window(6), np.hanning(7)[:6], atol=1e-7)
    assert wf.fft.hann_window(0).shape == (0,) and wf.fft.hann_window(1).tolist() == [1.0]
    with pytest.raises(wf.ResourceExhaustedError):
        wf.fft.hann_window(1 << 58)
    with pytest.raises(wf.ValueError, match="fft.hann_window: the length is -1"):
        wf.fft.hann_window(-1)


def test_short_times_of_nothing_are_refused():
    x = wf.ones((10,))
    for call, words in [
        (lambda: wf.fft.stft(x, 0, 1), "fft.stft: frame_length is 0"),
        (lambda: wf.fft.frame(x, 4, 0), "fft.frame: frame_step is 0"),
        (lambda: wf.fft.stft(x, 8, 4, fft_length=4), "fft.stft: fft_length is 4, less than a frame's 8"),
    ]:
        with pytest.raises(wf.ValueError, match=words):
            call()
    with pytest.raises(wf.ShapeError, match=r"fft.stft: window has the shape \(3,\)"):
        wf.fft.stft(x, 4, 2, window=wf.ones((3,)))
    with pytest.raises(wf.ShapeError, match="a scalar has no frames"):
        wf.fft.frame(1.0, 2, 1)
    assert wf.fft.stft(x, 16, 4).shape == (0, 9)  # no frame fits


def test_a_window_of_another_length():
    signature = [wf.TensorSpec([None], "float32"), wf.TensorSpec([None], "float32")]
    for function in (lambda x, w: wf.fft.stft(x, 8, 4, window=w), lambda x, w: wf.fft.istft(wf.fft.stft(x, 8, 4), 8, 4, window=w)):
        for call in (function, wf.function(function, input_signature=signature)):
            with pytest.raises(wf.ShapeError, match=r"fft\.i?stft: window has the shape \(5,\): as many elements as a frame has are wanted, 8"):
                call(wf.ones([32]), wf.ones([5]))
            assert call(wf.ones([32]), wf.ones([8])).shape[0] > 0
