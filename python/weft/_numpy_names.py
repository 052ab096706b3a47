"""NumPy's names for ops that are here under others as well; those of functions made of ops stand in their records."""

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
    "absolute", "array", "broadcast_to", "concat", "empty", "empty_like", "flip", "identity", "mod", "negative",
    "permute_dims", "pow", "true_divide",
]  # fmt: skip
