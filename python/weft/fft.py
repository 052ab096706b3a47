"""Fourier transforms: what goes with spectra. `weft.fft`.

    frequencies = wf.fft.fftshift(wf.fft.fftfreq(8, d=0.1))
"""

from weft import _fft
from weft._fft import *  # noqa: F403

__all__: list[str] = []
__all__ += _fft.__all__
