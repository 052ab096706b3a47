"""What compiled functions say where sizes that only the call knows do not fit: the error that is raised at once, in its words."""

import re

import numpy as np
import pytest

import weft as wf


def f(*shape):
    return np.arange(np.prod(shape), dtype="float32").reshape(shape)


def i(*numbers):
    return np.array(numbers, "int64")


M = wf.linalg
# A function by what is wrong, and its arguments, whose sizes its signature leaves open.
SAME = {
    "pad edge": (lambda x: wf.pad(x, 1, mode="edge"), f(0)),
    "pad reflect": (lambda x: wf.pad(x, [[0, 0], [2, 1]], mode="reflect"), f(3, 0)),
    "pad mean": (lambda x: wf.pad(x, 1, mode="mean"), f(0)),
    "trapezoid": (wf.trapezoid, f(3), f(2)),
    "trapezoid of rows": (lambda y, x: wf.trapezoid(y, x, axis=0), f(3, 4), f(2)),
    "stft's window": (lambda x, w: wf.fft.stft(x, 4, 2, window=w), f(9), f(3)),
    "histogram's weights": (lambda x, w: wf.histogram(x, 3, range=[0.0, 2.0], weights=w).hist, f(2, 3), f(2, 4)),
    "an index": (lambda x: x[5], f(3)),
    "an index of a later axis": (lambda x: x[:, 5], f(3, 4)),
    "take": (lambda x, k: wf.take(x, k, 0), f(3), i(1, 7)),
    "take_along_axis": (lambda x, k: wf.take_along_axis(x, k, 0), f(3), i(1, 7)),
    "top_k": (lambda x: wf.top_k(x, 5), f(3)),
    "top_k of rows": (lambda x: wf.top_k(x, 5), f(2, 3)),
    "argsort": (lambda x: wf.argsort(x, count=5), f(2, 3)),
    "dynamic_slice": (lambda x: wf.dynamic_slice(x, [1], [5]), f(3)),
    "unfold": (lambda x: wf.unfold(x, 5, 1), f(3)),
    "a mask": (lambda x, k: x.at[k > 0].set(1), f(3), i(1, 2)),
    "compress": (lambda x, k: wf.compress(k > 0, x, axis=0, size=2), f(3), i(1, 2)),
    "reshape": (lambda x: wf.reshape(x, [4, 2]), f(3)),
    "reshape by rest": (lambda x: wf.reshape(x, [-1, 2]), f(3)),
    "reshape of a matrix": (lambda x: wf.reshape(x, [2, -1]), f(3, 3)),
    "reshape to a size": (lambda x, y: wf.reshape(x, [wf.size(y, 0), 2]), f(3), f(4)),
    "concatenate": (lambda x, y: wf.concatenate([x, y], 0), f(2, 3), f(2, 4)),
    "concatenate the third": (lambda x, y: wf.concatenate([x, x, y], 1), f(2, 3), f(3, 3)),
    "stack": (lambda x, y: wf.stack([x, y]), f(2), f(3)),
    "matmul": (lambda x, y: wf.matmul(x, y), f(2, 3), f(4, 3)),
    "matmul by a vector": (lambda x, y: wf.matmul(x, y), f(2, 3), f(4)),
    "matmul transposed": (lambda x, y: wf.matmul(x, y, transpose_rhs=True), f(2, 3), f(4, 2)),
    "solve": (lambda x, y: M.solve(x, y), f(3, 3), f(4, 2)),
    "solve for a vector": (lambda x, y: M.solve(x, y), f(3, 3), f(4)),
    "solve by no square": (lambda x, y: M.solve(x, y), f(3, 2), f(3, 2)),
    "solve_triangular": (lambda x, y: M.solve_triangular(x, y), f(3, 3), f(4, 2)),
    "cho_solve": (lambda x, y: M.cho_solve(x, y), f(3, 3), f(4, 2)),
    "lstsq": (lambda x, y: M.lstsq(x, y), f(3, 2), f(4, 2)),
    **{
        name: (getattr(M, name), f(2, 3))
        for name in ("inv", "det", "slogdet", "cholesky", "eigh", "eigvalsh", "eig", "eigvals", "expm")
    },
    "matrix_power": (lambda x: M.matrix_power(x, 2), f(2, 3)),
    "cross": (lambda x, y: M.cross(x, y), f(3), f(4)),
    "cross of others": (lambda x, y: M.cross(x, y), f(2, 2), f(2, 2)),
    **{name: (getattr(wf.fft, name), f(0)) for name in ("fft", "ifft", "rfft", "ihfft", "irfft")},
    "irfft of one": (wf.fft.irfft, f(1)),
    "hfft of one": (wf.fft.hfft, f(1)),
    "fft2": (wf.fft.fft2, f(2, 0)),
    "max": (wf.max, f(0)),
    "max of rows": (lambda x: wf.max(x, axis=1), f(2, 0)),
    "argmin": (wf.argmin, f(0)),
    "split": (lambda x: wf.split(x, 2), f(3)),
    "repeat": (wf.repeat, f(3), i(1, 2)),
    "convolve": (wf.convolve, f(0), f(2)),
    "interp": (wf.interp, f(3), f(3), f(4)),
    "interp of nothing": (wf.interp, f(3), f(0), f(0)),
    "polyfit": (lambda x, y: wf.polyfit(x, y, 1), f(3), f(4)),
    "gradient": (wf.gradient, f(1)),
    "cov": (wf.cov, f(3), f(4)),
    "corrcoef": (wf.corrcoef, f(2, 3), f(2, 4)),
    "a norm of no columns": (lambda x: M.matrix_norm(x, ord=1), f(0, 0)),
    "a spectral norm of nothing": (lambda x: M.matrix_norm(x, ord=2), f(0, 0)),
    "the least singular value of none": (lambda x: M.matrix_norm(x, ord=-2), f(3, 0)),
    "a negative power": (lambda x, y: x**y, i(2, 3), i(1, -1)),
}

# Where the compiled function says of two sizes what is said at once of two shapes, or knows more ways to be wrong.
SAME_TYPE = {
    "an index from the end": (lambda x: x[-5], f(3)),
    "indices": (lambda x, k: x[k], f(3), i(1, 7)),
    "an item": (lambda x: x.at[5].set(1.0), f(3)),
    "add": (lambda x, y: x + y, f(2, 3), f(4)),
    "where": (lambda x, y: wf.where(x > 0, x, y), f(3), f(4)),
    "broadcast_to": (lambda x: wf.broadcast_to(x, [4]), f(3)),
    "matmul of batches": (wf.matmul, f(2, 2, 3), f(3, 3, 2)),
    "vecdot": (wf.vecdot, f(3), f(4)),
    "einsum": (lambda x, y: wf.einsum("ij,jk->ik", x, y), f(2, 3), f(4, 3)),
    "searchsorted": (wf.searchsorted, f(2, 3), f(3, 3)),
    "segment_sum": (lambda x, k: wf.segment_sum(x, k, 3), f(3), i(1, 2)),
    "cdist": (wf.cdist, f(2, 3), f(2, 4)),
}


def fault(call, arguments):
    with pytest.raises(wf.Error) as caught:
        call(*[wf.tensor(x) for x in arguments])
    return type(caught.value), re.sub(r"^\S+\.py:\d+: ", "", str(caught.value).split("\n")[0])


def opened(call, arguments):
    specs = [wf.TensorSpec([None] * x.ndim, str(x.dtype)) for x in arguments]
    return wf.function(wf.autograph.do_not_convert(call), input_signature=specs)


@pytest.mark.parametrize("name", SAME)
def test_errors_are_those_of_known_sizes(name):
    call, *arguments = SAME[name]
    assert fault(opened(call, arguments), arguments) == fault(call, arguments)


@pytest.mark.parametrize("name", SAME_TYPE)
def test_errors_are_of_the_type_of_known_sizes(name):
    call, *arguments = SAME_TYPE[name]
    assert fault(opened(call, arguments), arguments)[0] is fault(call, arguments)[0]


def test_known_sizes_refuse_beside_open_ones():
    """What a trace knows already is refused with the sizes that it does not know as None."""
    spec = wf.TensorSpec([None, 1], "float32")
    for call, match in (
        (lambda x: wf.fft.irfft(x), r"x has the shape \(None, 1\)"),
        (lambda x: wf.gradient(x, axis=1), r"has the shape \(None, 1\): there are at least 2"),
        (lambda x: wf.linalg.cross(x, x), r"a has the shape \(None, 1\): vectors of three"),
    ):
        with pytest.raises(wf.ShapeError, match=match):
            wf.function(call, input_signature=[spec])(wf.ones((2, 1)))
