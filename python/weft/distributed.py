"""Programs of several processes: collectives, which move tensors between them.

    world = wf.distributed.init()               # mpirun -n 4 python train.py
    total = wf.distributed.all_reduce(loss)     # the same bits on all ranks
"""

import sys
from types import TracebackType

from weft import _distributed
from weft._distributed import *  # noqa: F403
from weft._distributed import abort

__all__: list[str] = []
__all__ += _distributed.__all__


def _tell_failures() -> None:  # pyright: ignore[reportUnusedFunction] # the module inside calls it
    """From now on the other ranks hear of an exception that ends this program."""
    shown_before = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        shown_before(kind, error, trace)
        abort(f"{kind.__name__}: {error}")

    sys.excepthook = show
