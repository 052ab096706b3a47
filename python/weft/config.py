"""Settings of the process."""

from __future__ import annotations

from weft import _weft

__all__ = ["functions_run_eagerly", "num_threads", "run_functions_eagerly", "set_num_threads"]


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether traced functions run as the Python that they are, for debugging.

    >>> f = wf.function(lambda x: x + 1)
    >>> wf.config.run_functions_eagerly(True)
    >>> f(wf.tensor(1)), f.trace_count()
    (tensor(2, shape=(), dtype=int32), 0)
    >>> wf.config.run_functions_eagerly(False)
    """
    _weft.internal_run_functions_eagerly(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether `run_functions_eagerly` is on.

    >>> wf.config.functions_run_eagerly()
    False
    """
    return _weft.internal_functions_run_eagerly()


def num_threads() -> int:
    """How many threads ops, compiled functions and data sets may use at once.

    It starts as the environment's WEFT_NUM_THREADS, or else as the number of processors that this process may run on.

    >>> wf.config.num_threads() >= 1
    True
    """
    return _weft.internal_num_threads()


def set_num_threads(count: int) -> None:
    """Sets `num_threads()` for the whole process, from the next call on; results do not depend on it.

    Raises ValueError unless `count` is from 1 to 1024.

    >>> before = wf.config.num_threads()
    >>> wf.config.set_num_threads(1)
    >>> wf.config.num_threads()
    1
    >>> wf.config.set_num_threads(before)
    """
    _weft.internal_set_num_threads(count)
