"""Weft: tensors, their ops and gradients, on its own compiler.

    import weft as wf

    x = wf.tensor([[1.0, 2.0], [3.0, 4.0]])
    y = x @ x + 1

Every op of the library is a function here; `help(wf.sum)` has its shapes, errors and an example.
"""

from math import e as e, inf as inf, nan as nan, pi as pi

from weft import _absent, _copies as _copies, _einops, _weft
from weft import autograph as autograph
from weft import config as config
from weft import data as data
from weft import distributed as distributed
from weft import fft as fft
from weft import io as io
from weft import linalg as linalg
from weft import losses as losses
from weft import metrics as metrics
from weft import nn as nn
from weft import optimizers as optimizers
from weft import random as random
from weft import special as special
from weft import summary as summary
from weft import train as train
from weft import tree as tree
from weft import schedules as schedules
from weft._updates import broadcast_shapes as broadcast_shapes
from weft._control import *  # noqa: F403
from weft._function import *  # noqa: F403
from weft._namespace_info import __array_namespace_info__ as __array_namespace_info__
from weft._versions import show_versions as show_versions
from weft._weft import *  # noqa: F403
from weft._checkpoint import *  # noqa: F403
from weft.checkpoint import CheckpointInfo as CheckpointInfo
from weft.derivatives import *  # noqa: F403
from weft.gradients import custom_gradient as custom_gradient
from weft.gradients import recompute as recompute
from weft.modules import Model as Model, Module as Module, Sequential as Sequential

__all__ = [
    "Checkpoint",
    "CheckpointInfo",
    "CheckpointManager",
    "ConcreteFunction",
    "Model",
    "Module",
    "Sequential",
    "TensorSpec",
    "autograph",
    "break_if",
    "broadcast_shapes",
    "cond",
    "config",
    "custom_gradient",
    "data",
    "fft",
    "for_loop",
    "function",
    "grad",
    "hessian",
    "io",
    "jacobian",
    "jvp",
    "latest_checkpoint",
    "linalg",
    "losses",
    "metrics",
    "nn",
    "numpy_function",
    "optimizers",
    "py_function",
    "random",
    "recompute",
    "scan",
    "show_versions",
    "special",
    "summary",
    "schedules",
    "switch_case",
    "train",
    "tree",
    "value_and_grad",
    "vjp",
    "vmap",
    "while_loop",
]
__all__ += ["e", "inf", "nan", "newaxis", "pi"]
__all__ += _weft.__all__

bool: _weft.DType = _weft.bool_  # not of __all__: `from weft import *` leaves Python's own
newaxis: None = None
_absent.install()
_einops.install()

__array_api_version__ = "2025.12"
__version__: str = train.versions()["Weft"]
