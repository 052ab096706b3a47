"""Frames of signals and their transforms in NumPy, for the oracle of every op."""

import numpy as np


def framed(x, length, step, pad_end=False):
    """As tf.signal.frame has it."""
    size = x.shape[-1]
    count = -(-size // step) if pad_end else max(size - length + step, 0) // step
    x = np.concatenate([x, np.zeros((*x.shape[:-1], length), x.dtype)], -1)
    at = [np.arange(length) + i * step for i in range(count)]
    return np.stack([x[..., np.minimum(i, x.shape[-1] - 1)] for i in at], -2) if at else np.zeros((*x.shape[:-1], 0, length), x.dtype)


def overlapped(x, step):
    count, length = x.shape[-2:]
    y = np.zeros((*x.shape[:-2], (count - 1) * step + length if count else 0), x.dtype)
    for i in range(count):
        y[..., i * step:i * step + length] += x[..., i, :]
    return y


def stft(x, window, length, step, n, pad_end):
    return np.fft.rfft(framed(x, length, step, pad_end) * window, n or length)


def istft(x, window, length, step, n, normalize):
    y = overlapped(np.fft.irfft(x, n or length)[..., :length] * window, step)
    return y / overlapped(np.broadcast_to(window * window, (x.shape[-2], length)), step) if normalize else y
