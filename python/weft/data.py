"""Data sets: sequences of elements that are made as a loop comes to them.

    import weft as wf

    digits = wf.data.from_tensors(images, labels).shuffle(seed=5).batch(32)
    for x, y in digits:
        step(x, y)

An element is a tensor, or a tuple, namedtuple, dict or dataclass of them; text, bytes, None and
other objects may be parts of it as well. Numbers, arrays and lists of them become tensors. Any
Python iterable is a data set, wherever one is wanted.

Stages describe what to do and do nothing by themselves. A stage that makes elements (a decoded
file, `map`) is run for those that a loop comes to, not for those that `skip`, `shard` or a resumed
loop pass over. A loop is an epoch; its position is state that checkpoints keep.

A function of Python holds Python's lock: more than one worker helps where it is a `wf.function`, or
spends its time in NumPy, in files or elsewhere outside of Python.
"""

from typing import NamedTuple

from weft import _data
from weft._data import *  # noqa: F403

__all__ = ["DatasetStats"]
__all__ += _data.__all__


class DatasetStats(NamedTuple):
    """What a data set has handed out since it was made, over all epochs.

        >>> numbers = wf.data.range(5)
        >>> total = sum(int(x) for x in numbers)
        >>> numbers.stats.elements
        5
    """

    elements: int
    bytes: int
    """Of their tensors."""
    seconds: float
    """From when the first element was asked for until the last one was had."""
    waited_seconds: float
    """Of these, those in which the loop waited for elements."""

    @property
    def elements_per_second(self) -> float:
        """Elements by seconds; 0 at first."""
        return self.elements / self.seconds if self.seconds > 0 else 0.0
