"""Settings of the process."""

from __future__ import annotations

from weft import _weft

__all__ = ["functions_run_eagerly", "run_functions_eagerly"]


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
