"""NumPy's names for functions that are here under others as well."""

from weft._elementwise import acos as arccos
from weft._elementwise import acosh as arccosh
from weft._elementwise import asin as arcsin
from weft._elementwise import asinh as arcsinh
from weft._elementwise import atan as arctan
from weft._elementwise import atan2 as arctan2
from weft._elementwise import atanh as arctanh
from weft._weft import abs as absolute
from weft._weft import broadcast as broadcast_to
from weft._weft import concatenate as concat
from weft._weft import divide as true_divide
from weft._weft import negate as negative
from weft._weft import power as pow
from weft._weft import remainder as mod
from weft._weft import reverse as flip
from weft._weft import tensor as array
from weft._weft import transpose as permute_dims

__all__ = [
    "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "array", "broadcast_to",
    "concat", "flip", "mod", "negative", "permute_dims", "pow", "true_divide",
]  # fmt: skip
