"""Learning rates that follow from the number of updates: what optimizers take besides numbers."""

from __future__ import annotations

from collections.abc import Sequence

from weft import _weft
from weft._arguments import options
from weft._weft import ReduceOnPlateau as ReduceOnPlateau, Schedule as Schedule

__all__ = [
    "ReduceOnPlateau",
    "Schedule",
    "cosine_decay",
    "exponential_decay",
    "inverse_time_decay",
    "one_cycle",
    "piecewise_constant",
    "polynomial_decay",
    "warmup",
]


@options
def exponential_decay(
    initial: float, steps: int, rate: float, staircase: bool = False
) -> Schedule:
    """initial * rate^(step / steps); with `staircase` it changes at multiples of `steps` only.

    >>> wf.schedules.exponential_decay(0.1, steps=10, rate=0.5)(20)
    tensor(0.025, shape=(), dtype=float64)

    Raises:
        ValueError: if steps < 1 or a number is not finite
    """
    return _weft.schedules_exponential_decay(initial, steps, rate, staircase)


@options
def cosine_decay(
    initial: float, steps: int, alpha: float = 0.0, warmup: int = 0, target: float = 0.0
) -> Schedule:
    """Half a cosine from `initial` down to alpha times that (Loshchilov & Hutter 2017), behind a
    straight line over `warmup` updates from `initial` to `target`, if there is one, from where the
    cosine starts then.

    >>> rate = wf.schedules.cosine_decay(0.1, steps=100)
    >>> [float(rate(step)) for step in (0, 50, 100)]
    [0.1, 0.05, 0.0]

    Raises:
        ValueError: if steps < 1, warmup < 0 or a number is not finite
    """
    return _weft.schedules_cosine_decay(initial, steps, alpha, warmup, target)


@options
def warmup(rate: float, steps: int, after: Schedule | None = None) -> Schedule:
    """From 0 to `rate` in a straight line over `steps` updates, then what `after` says of the
    updates behind them; without it, `rate`.

    >>> rate = wf.schedules.warmup(0.5, steps=10)
    >>> [float(rate(step)) for step in (5, 10, 15)]
    [0.25, 0.5, 0.5]

    Raises:
        ValueError: if steps < 1
    """
    return _weft.schedules_warmup(rate, steps, after)


@options
def piecewise_constant(boundaries: Sequence[int], values: Sequence[float]) -> Schedule:
    """values[i] up to and including step boundaries[i], the last value after the last.

    >>> rate = wf.schedules.piecewise_constant([10, 20], [1.0, 0.5, 0.25])
    >>> [float(rate(step)) for step in (10, 11, 21)]
    [1.0, 0.5, 0.25]

    Raises:
        ValueError: unless boundaries ascend and there is one value more than there are of them
    """
    return _weft.schedules_piecewise_constant(boundaries, values)


@options
def polynomial_decay(
    initial: float, steps: int, end: float = 1e-4, power: float = 1.0
) -> Schedule:
    """(initial - end) (1 - step / steps)^power + end, and `end` from there on.

    >>> wf.schedules.polynomial_decay(1.0, steps=10, end=0.0)(5)
    tensor(0.5, shape=(), dtype=float64)
    """
    return _weft.schedules_polynomial_decay(initial, steps, end, power)


@options
def inverse_time_decay(initial: float, steps: int, rate: float) -> Schedule:
    """initial / (1 + rate step / steps).

    >>> wf.schedules.inverse_time_decay(0.1, steps=10, rate=1.0)(10)
    tensor(0.05, shape=(), dtype=float64)
    """
    return _weft.schedules_inverse_time_decay(initial, steps, rate)


@options
def one_cycle(
    largest: float,
    steps: int,
    rising: float = 0.3,
    start_divisor: float = 25.0,
    final_divisor: float = 10_000.0,
) -> Schedule:
    """Up to `largest` and down again by half cosines (Smith & Topin 2018): from largest /
    start_divisor over the share `rising` of the steps, down to the first rate by final_divisor.

    >>> rate = wf.schedules.one_cycle(0.1, steps=100)
    >>> [round(float(rate(step)), 3) for step in (0, 30, 100)]
    [0.004, 0.1, 0.0]
    """
    return _weft.schedules_one_cycle(largest, steps, rising, start_divisor, final_divisor)
