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
    """Uniform within sqrt(6 / (inputs + outputs)) (Glorot & Bengio 2010)."""
    return _made("glorot_uniform", ())


def glorot_normal() -> Initializer:
    """Truncated normal of variance 2 / (inputs + outputs)."""
    return _made("glorot_normal", ())


def he_uniform() -> Initializer:
    """Uniform within sqrt(6 / inputs) (He et al. 2015)."""
    return _made("he_uniform", ())


def he_normal() -> Initializer:
    """Truncated normal of variance 2 / inputs."""
    return _made("he_normal", ())


def lecun_uniform() -> Initializer:
    """Uniform within sqrt(3 / inputs) (LeCun et al. 1998)."""
    return _made("lecun_uniform", ())


def lecun_normal() -> Initializer:
    """Truncated normal of variance 1 / inputs."""
    return _made("lecun_normal", ())


@options
def orthogonal(gain: float = 1.0) -> Initializer:
    """A matrix with orthonormal rows or columns, whichever are fewer, times `gain` (Saxe et al.
    2014)."""
    return _made("orthogonal", (gain,))


@options
def uniform(low: float = -0.05, high: float = 0.05) -> Initializer:
    """Uniform between two numbers."""
    return _made("uniform", (low, high))


@options
def normal(stddev: float = 0.05, mean: float = 0.0) -> Initializer:
    """Normally distributed numbers."""
    return _made("normal", (stddev, mean))


@options
def truncated_normal(stddev: float = 0.05, mean: float = 0.0) -> Initializer:
    """Normally distributed numbers within two deviations of the mean."""
    return _made("truncated_normal", (stddev, mean))


@options
def constant(value: float) -> Initializer:
    """One number."""
    return _made("constant", (value,))


def zeros() -> Initializer:
    """Zeros."""
    return _made("zeros", ())


def ones() -> Initializer:
    """Ones."""
    return _made("ones", ())
