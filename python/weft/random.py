"""Random tensors: generators, whose state is a variable, keys, which are values, and functions that draw from the process's own.

The numbers follow from the seed or the key alone, on every machine and any number of threads.
"""

from weft import _random
from weft._random import *  # noqa: F403
from weft._weft import Generator as Generator
from weft._weft import random_bernoulli as bernoulli
from weft._weft import random_categorical as categorical
from weft._weft import random_key as key
from weft._weft import random_normal as normal
from weft._weft import random_permutation as permutation
from weft._weft import random_randint as randint
from weft._weft import random_truncated_normal as truncated_normal
from weft._weft import random_uniform as uniform
from weft._weft import set_seed as set_seed

__all__ = [
    "Generator",
    "bernoulli",
    "categorical",
    "key",
    "normal",
    "permutation",
    "randint",
    "set_seed",
    "truncated_normal",
    "uniform",
]
__all__ += _random.__all__
