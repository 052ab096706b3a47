"""The Fourier transforms of the shapes of work by DUCC, on as many threads as it is given."""

import os

import ducc0

WITH = "DUCC " + ducc0.__version__
THREADS = int(os.environ.get("OMP_NUM_THREADS", "0"))


def transform(axes):
    return lambda x: ducc0.fft.c2c(x, axes=axes, nthreads=THREADS)


WORKS = {"fft_1024": transform((0,)), "fft_1M": transform((0,)), "fft_1000x256": transform((1,)), "fft2_512": transform((0, 1))}


def prepared(name, inputs):
    """A call of the work on the inputs, and the unit it is measured in."""
    return lambda: WORKS[name](*inputs), "us"
