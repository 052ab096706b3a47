"""What draws the first values of variables: `weft.nn.initializers`.

Each function gives an initializer: what layers take as `kernel_initializer`, and a function of a
shape, a dtype and a seed. Fans are those of the last two axes of a shape, inputs and outputs, times
the sizes of the axes before them.
"""

from weft import _initializers
from weft._initializers import *  # noqa: F403
from weft._weft import Initializer as Initializer

__all__ = ["Initializer"]
__all__ += _initializers.__all__
