"""What draws the first values of variables: `weft.nn.initializers`.

Each function gives an initializer: what layers take as `kernel_initializer`, and a function of a
shape, a dtype and a seed. Fans are those of the last two axes of a shape, inputs and outputs, times
the sizes of the axes before them.
"""

from __future__ import annotations

from weft._arguments import options
from weft._weft import Initializer as Initializer, internal_initializer as _made

__all__ = [
    "Initializer",
    "constant",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "lecun_normal",
    "lecun_uniform",
    "normal",
    "ones",
    "orthogonal",
    "truncated_normal",
    "uniform",
    "zeros",
]


def glorot_uniform() -> Initializer:
    """Uniform within sqrt(6 / (inputs + outputs)) (Glorot & Bengio 2010).

    >>> w = wf.nn.initializers.glorot_uniform()((100, 50), seed=1)
    >>> bool(wf.max(wf.abs(w)) <= np.sqrt(6 / 150))
    True
    """
    return _made("glorot_uniform", ())


def glorot_normal() -> Initializer:
    """Truncated normal of variance 2 / (inputs + outputs).

    >>> w = wf.nn.initializers.glorot_normal()((1000, 500), seed=1)
    >>> round(float(np.var(w)) * (1000 + 500), 1)
    2.0
    """
    return _made("glorot_normal", ())


def he_uniform() -> Initializer:
    """Uniform within sqrt(6 / inputs) (He et al. 2015).

    >>> w = wf.nn.initializers.he_uniform()((100, 50), seed=1)
    >>> bool(wf.max(wf.abs(w)) <= np.sqrt(6 / 100))
    True
    """
    return _made("he_uniform", ())


def he_normal() -> Initializer:
    """Truncated normal of variance 2 / inputs.

    >>> w = wf.nn.initializers.he_normal()((1000, 500), seed=1)
    >>> round(float(np.var(w)) * 1000, 1)
    2.0
    """
    return _made("he_normal", ())


def lecun_uniform() -> Initializer:
    """Uniform within sqrt(3 / inputs) (LeCun et al. 1998).

    >>> w = wf.nn.initializers.lecun_uniform()((100, 50), seed=1)
    >>> bool(wf.max(wf.abs(w)) <= np.sqrt(3 / 100))
    True
    """
    return _made("lecun_uniform", ())


def lecun_normal() -> Initializer:
    """Truncated normal of variance 1 / inputs.

    >>> w = wf.nn.initializers.lecun_normal()((1000, 500), seed=1)
    >>> round(float(np.var(w)) * 1000, 1)
    1.0
    """
    return _made("lecun_normal", ())


@options
def orthogonal(gain: float = 1.0) -> Initializer:
    """A matrix with orthonormal rows or columns, whichever are fewer, times `gain` (Saxe et al.
    2014).

    >>> w = wf.nn.initializers.orthogonal()((3, 2), seed=1)
    >>> np.allclose(w.T @ w, np.eye(2), atol=1e-6)
    True
    """
    return _made("orthogonal", (gain,))


@options
def uniform(low: float = -0.05, high: float = 0.05) -> Initializer:
    """Uniform between two numbers.

    >>> w = wf.nn.initializers.uniform(-1, 1)((100, 50), seed=1)
    >>> bool(wf.all((w >= -1) & (w < 1)))
    True
    """
    return _made("uniform", (low, high))


@options
def normal(stddev: float = 0.05, mean: float = 0.0) -> Initializer:
    """Normally distributed numbers.

    >>> w = wf.nn.initializers.normal(0.05)((100, 50), seed=1)
    >>> round(float(np.std(w)), 2)
    0.05
    """
    return _made("normal", (stddev, mean))


@options
def truncated_normal(stddev: float = 0.05, mean: float = 0.0) -> Initializer:
    """Normally distributed numbers within two deviations of the mean.

    >>> w = wf.nn.initializers.truncated_normal(0.05)((100, 50), seed=1)
    >>> bool(wf.max(wf.abs(w)) <= 0.1)
    True
    """
    return _made("truncated_normal", (stddev, mean))


@options
def constant(value: float) -> Initializer:
    """One number.

    >>> wf.nn.initializers.constant(0.1)((2,))
    tensor([0.1, 0.1], shape=(2,), dtype=float32)
    """
    return _made("constant", (value,))


def zeros() -> Initializer:
    """Zeros.

    >>> wf.nn.initializers.zeros()((2,))
    tensor([0., 0.], shape=(2,), dtype=float32)
    """
    return _made("zeros", ())


def ones() -> Initializer:
    """Ones.

    >>> wf.nn.initializers.ones()((2,))
    tensor([1., 1.], shape=(2,), dtype=float32)
    """
    return _made("ones", ())
