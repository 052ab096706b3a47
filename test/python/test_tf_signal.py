"""tf.signal's short-time transforms and tf.random's distributions, by the names and shapes of TensorFlow."""

import numpy as np
import pytest

from weft import tf


def test_short_time_transforms():
    x = np.random.default_rng(1).standard_normal((2, 50)).astype(np.float32)
    spectra = tf.signal.stft(x, frame_length=12, frame_step=4)
    assert spectra.shape == (2, 10, 9)  # of 16 elements, the power of 2 behind 12
    window = np.asarray(tf.signal.hann_window(12))
    np.testing.assert_allclose(window, 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(12) / 12), atol=1e-7)
    frames = np.stack([x[:, i * 4 : i * 4 + 12] for i in range(10)], 1)
    np.testing.assert_array_equal(np.asarray(tf.signal.frame(x, 12, 4)), frames)
    np.testing.assert_allclose(np.asarray(spectra), np.fft.rfft(frames * window, 16), atol=1e-4)
    plain = tf.signal.stft(x, 12, 4, fft_length=12, window_fn=None, pad_end=True)
    assert plain.shape == (2, 13, 7)
    back = tf.signal.inverse_stft(spectra, 12, 4, window_fn=None)
    np.testing.assert_allclose(np.asarray(back), np.asarray(tf.signal.overlap_and_add(frames * window, 4)), atol=1e-4)
    assert tf.signal.hamming_window(5, periodic=False).shape == (5,)


def test_distributions():
    alpha = tf.constant([0.5, 4.0])
    drawn = tf.random.gamma([1000], alpha, seed=1)
    assert drawn.shape == (1000, 2)
    np.testing.assert_allclose(np.asarray(drawn).mean(0), [0.5, 4.0], rtol=0.2)
    halves = tf.random.gamma([1000], alpha, beta=2.0, seed=1)
    np.testing.assert_allclose(np.asarray(halves), np.asarray(drawn) / 2, rtol=1e-6)
    counts = tf.random.poisson([1000], [3.0, 30.0], seed=2)
    assert counts.shape == (1000, 2) and counts.dtype == tf.float32
    np.testing.assert_allclose(np.asarray(counts).mean(0), [3, 30], rtol=0.1)
    for draw in (
        lambda: tf.random.stateless_gamma([4, 2], [1, 2], alpha),
        lambda: tf.random.stateless_poisson([4], [1, 2], 7.0),
        lambda: tf.random.stateless_binomial([4], [1, 2], 10.0, 0.5),
    ):
        np.testing.assert_array_equal(np.asarray(draw()), np.asarray(draw()))
    assert tf.random.stateless_binomial([4], [1, 2], 10.0, 0.5).dtype == tf.int32


def test_what_does_not_fit():
    with pytest.raises(ValueError, match="fft_length is 4, less than a frame's 8 elements"):
        tf.signal.stft(np.zeros(20, np.float32), 8, 4, fft_length=4)
