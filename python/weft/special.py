"""Special functions by SciPy's names. `weft.special`.

    y = wf.special.gammaln(x) - wf.special.expit(x)

Each is a function of `weft` too, most of the same name. They are computed in float64 and rounded once for float32, to a few units
in the last digit, and have derivatives; those that there are none of, `zeta` by its first operand and `betainc` by the first two,
are a `StateError`.
"""

from weft._weft import betainc as betainc
from weft._weft import betaln as betaln
from weft._weft import cbrt as cbrt
from weft._weft import digamma as digamma
from weft._weft import digamma as psi
from weft._weft import entr as entr
from weft._weft import erf as erf
from weft._weft import erfc as erfc
from weft._weft import erfcx as erfcx
from weft._weft import erfinv as erfinv
from weft._weft import exp2 as exp2
from weft._weft import expm1 as expm1
from weft._weft import gamma as gamma
from weft._weft import gammainc as gammainc
from weft._weft import gammaincc as gammaincc
from weft._weft import i0 as i0
from weft._weft import i0e as i0e
from weft._weft import i1 as i1
from weft._weft import i1e as i1e
from weft._weft import lgamma as gammaln
from weft._weft import log1p as log1p
from weft._weft import log_ndtr as log_ndtr
from weft._weft import logistic as expit
from weft._weft import logit as logit
from weft._weft import ndtr as ndtr
from weft._weft import ndtri as ndtri
from weft._weft import polygamma as polygamma
from weft._weft import sinc as sinc
from weft._weft import xlog1py as xlog1py
from weft._weft import xlogy as xlogy
from weft._weft import zeta as zeta

__all__ = [
    "betainc", "betaln", "cbrt", "digamma", "entr", "erf", "erfc", "erfcx", "erfinv", "exp2", "expit", "expm1", "gamma", "gammainc",
    "gammaincc", "gammaln", "i0", "i0e", "i1", "i1e", "log1p", "log_ndtr", "logit", "ndtr", "ndtri", "polygamma", "psi", "sinc",
    "xlog1py", "xlogy", "zeta",
]  # fmt: skip
