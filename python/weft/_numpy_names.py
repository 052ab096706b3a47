"""NumPy's names for functions that are here under others as well."""

from weft._elementwise import acos as arccos
from weft._elementwise import acosh as arccosh
from weft._elementwise import asin as arcsin
from weft._elementwise import asinh as arcsinh
from weft._elementwise import atan as arctan
from weft._elementwise import atan2 as arctan2
from weft._elementwise import atanh as arctanh
from weft._elementwise import deg2rad as radians
from weft._elementwise import rad2deg as degrees
from weft._elementwise import round as around
from weft._elementwise import round as rint
from weft._weft import abs as absolute
from weft._weft import broadcast as broadcast_to
from weft._weft import concatenate as concat
from weft._weft import divide as true_divide
from weft._weft import eye as identity
from weft._weft import negate as negative
from weft._weft import power as pow
from weft._weft import remainder as mod
from weft._weft import reverse as flip
from weft._weft import tensor as array
from weft._weft import transpose as permute_dims
from weft._weft import zeros as empty
from weft._weft import zeros_like as empty_like

__all__ = [
    "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "around", "array",
    "broadcast_to", "concat", "degrees", "empty", "empty_like", "flip", "identity", "mod", "negative", "permute_dims",
    "pow", "radians", "rint", "true_divide",
]  # fmt: skip
