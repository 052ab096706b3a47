"""Weft: tensors, their ops and gradients, on its own compiler.

    import weft as wf

    x = wf.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x @ x + 1

Every op of the library is a function here; `help(wf.sum)` has its shapes, errors and an example.
"""

from weft import _weft
from weft import autograph as autograph
from weft import config as config
from weft import nn as nn
from weft import random as random
from weft._control import *  # noqa: F403
from weft._function import *  # noqa: F403
from weft._weft import *  # noqa: F403
from weft.gradients import custom_gradient as custom_gradient
from weft.modules import Model as Model, Module as Module, Sequential as Sequential

__all__ = [
    "ConcreteFunction",
    "Model",
    "Module",
    "Sequential",
    "TensorSpec",
    "autograph",
    "cond",
    "config",
    "custom_gradient",
    "function",
    "nn",
    "numpy_function",
    "py_function",
    "random",
    "switch_case",
    "while_loop",
]
__all__ += _weft.__all__
