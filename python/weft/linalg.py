"""Linear algebra on matrices, the last two axes of tensors; axes before them are batches. `weft.linalg`.

    x = wf.linalg.solve(a, b)
    q, r = wf.linalg.qr(a)

A matrix without an inverse, or that is not positive definite where it must be, is a `LinAlgError`, also in traced functions.
"""

from weft import _linalg
from weft._linalg import *  # noqa: F403
from weft._weft import LinAlgError as LinAlgError
from weft._weft import matmul as matmul
from weft._weft import matrix_transpose as matrix_transpose
from weft._weft import norm as norm
from weft._weft import tensordot as tensordot

__all__ = ["LinAlgError", "matmul", "matrix_transpose", "norm", "tensordot"]
__all__ += _linalg.__all__
