"""Learning rates that follow from the number of updates: what optimizers take besides numbers."""

from weft import _schedules
from weft._schedules import *  # noqa: F403
from weft._weft import Schedule as Schedule

__all__ = ["Schedule"]
__all__ += _schedules.__all__
