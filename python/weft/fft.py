"""Fourier transforms of lines of any length, real and complex, and what goes with spectra. `weft.fft`.

    spectrum = wf.fft.rfft(signal)
    frequencies = wf.fft.rfftfreq(1000, d=0.001)

The result of a line depends on its elements alone: it has the same bits in a batch and in a traced function.
"""

from weft import _fft
from weft._fft import *  # noqa: F403

__all__: list[str] = []
__all__ += _fft.__all__
