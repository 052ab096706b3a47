"""Factorizations, least squares and curves whose sizes only the call knows, and whether a matrix is wide: as at once."""

import numpy as np
import pytest

import weft as wf

M = wf.linalg
SHAPES = ((4, 3), (3, 3), (2, 5), (1, 4), (6, 1))


def parts(found):
    return [np.asarray(x) for x in (found if isinstance(found, tuple | list) else [found])]


def matrix(rows, columns, dtype="float64"):
    return np.random.default_rng(rows * 8 + columns).normal(size=(rows, columns)).astype(dtype)


def opened(call, *ranks, first=None, dtype="float64"):
    specs = [wf.TensorSpec([None] * rank if first is None else first, dtype) for rank in ranks]
    count = []

    def counted(*args):
        count.append(1)
        return call(*args)

    return wf.function(wf.autograph.do_not_convert(counted), input_signature=specs), count


OF_ONE = {
    "qr": M.qr,
    "complete qr": lambda x: M.qr(x, mode="complete"),
    "svd": lambda x: M.svd(x, full_matrices=False),
    "svd with bases": M.svd,
    "svdvals": M.svdvals,
    "matrix_rank": M.matrix_rank,
    "matrix_rank by rtol": lambda x: M.matrix_rank(x, rtol=0.5),
    "pinv": M.pinv,
    "cond": M.cond,
    "nuclear norm": lambda x: M.matrix_norm(x, ord="nuc"),
    "spectral norm": lambda x: M.matrix_norm(x, ord=2),
}


@pytest.mark.parametrize("name", OF_ONE)
def test_of_a_matrix(name):
    call = OF_ONE[name]
    compiled, count = opened(call, 2)
    for shape in SHAPES:
        x = wf.tensor(matrix(*shape))
        for got, wanted in zip(parts(compiled(x)), parts(call(x)), strict=True):
            assert got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    assert len(count) == 1


@pytest.mark.parametrize("name", ["qr", "svd", "svdvals", "pinv"])
def test_of_batches_and_of_known_columns(name):
    call = OF_ONE[name]
    batches, _ = opened(call, 3)
    columns, _ = opened(call, 2, first=[None, 3])
    for rows in (1, 3, 5):
        x = wf.tensor(np.stack([matrix(rows, 3), matrix(rows, 3) + 1]))
        for got, wanted in zip(parts(batches(x)), parts(call(x)), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
        for got, wanted in zip(parts(columns(x[0])), parts(call(x[0])), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["qr", "svdvals", "pinv", "nuclear norm"])
def test_gradients(name):
    def loss(x):
        return sum(wf.sum(wf.square(y) * (k + 1)) for k, y in enumerate(parts_of(OF_ONE[name](x))))

    def parts_of(found):
        return found if isinstance(found, tuple | list) else [found]

    gradient = wf.grad(loss)
    compiled, _ = opened(gradient, 2)
    for shape in ((4, 3), (3, 3), (2, 5)):
        x = wf.tensor(matrix(*shape))
        np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("rcond", [None, 1e-3, -1.0])
@pytest.mark.parametrize("rank", [1, 2])
def test_least_squares(rcond, rank):
    def call(a, b):
        return M.lstsq(a, b, rcond=rcond)

    specs = [wf.TensorSpec([None, None], "float64"), wf.TensorSpec([None] * rank, "float64")]
    compiled = wf.function(call, input_signature=specs, autograph=False)
    for rows, columns in SHAPES:
        a, b = wf.tensor(matrix(rows, columns)), wf.tensor(matrix(rows, 2) if rank == 2 else matrix(rows, 1)[:, 0])
        for got, wanted in zip(parts(compiled(a, b)), parts(call(a, b)), strict=True):
            assert got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)


def test_least_squares_of_batches_say_what_is_to_be_known():
    f, _ = opened(M.lstsq, 3, 3)
    with pytest.raises(wf.ShapeError, match="lstsq: a has the shape .*how many residuals there are must be known: .*pinv"):
        f(wf.ones((2, 3, 3), "float64"), wf.ones((2, 3, 1), "float64"))


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_sliding(name, mode, dtype):
    compiled, _ = opened(lambda a, v: getattr(wf, name)(a, v, mode), 1, 1, dtype=dtype)
    rng = np.random.default_rng(3)
    for m, n in ((7, 3), (3, 7), (4, 4), (6, 2), (2, 6), (1, 5), (5, 4), (4, 5)):
        a, v = (rng.integers(-9, 9, k) + (1j * rng.integers(-9, 9, k) if dtype == "complex64" else 0) for k in (m, n))
        a, v = a.astype(dtype), v.astype(dtype)
        wanted = getattr(np, name)(a, v, mode)
        for got in (compiled(wf.tensor(a), wf.tensor(v)), getattr(wf, name)(wf.tensor(a), wf.tensor(v), mode)):
            assert got.dtype == wanted.dtype
            np.testing.assert_array_equal(got, wanted)


def test_curves():
    rng = np.random.default_rng(5)
    interp, _ = opened(wf.interp, 1, 1, 1)
    fit, _ = opened(lambda x, y: wf.polyfit(x, y, 2), 1, 1)
    slopes, _ = opened(lambda y: wf.gradient(y, edge_order=2), 1)
    for size in (3, 5, 12):
        x, y = np.sort(rng.normal(size=size)), rng.normal(size=size)
        at = rng.normal(size=7)
        np.testing.assert_allclose(interp(wf.tensor(at), wf.tensor(x), wf.tensor(y)), np.interp(at, x, y), rtol=1e-12)
        np.testing.assert_allclose(fit(wf.tensor(x), wf.tensor(y)), np.polyfit(x, y, 2), rtol=1e-7)
        np.testing.assert_allclose(slopes(wf.tensor(y)), np.gradient(y, edge_order=2), rtol=1e-12)
    cross, _ = opened(M.cross, 2, 2)
    a, b = matrix(4, 3), matrix(4, 3) + 1
    np.testing.assert_allclose(cross(wf.tensor(a), wf.tensor(b)), np.linalg.cross(a, b), rtol=1e-12)


@pytest.mark.parametrize("shape", [(3, 2), (2, 3), (3, 1), (3, 3), (0, 2)])
def test_derivatives_of_singular_values_beside_complete_bases(shape):
    """Of the bases there is none: what is computed of the values must not ask for it."""
    slopes = lambda a: wf.grad(lambda a: wf.sum(M.svd(a)[1] ** 3))(a)
    compiled, _ = opened(slopes, 2)
    x = wf.tensor(matrix(*shape))
    np.testing.assert_allclose(compiled(x).numpy(), slopes(x).numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("name", ["pinv", "matrix_rank", "svd with bases"])
def test_of_no_elements(name, shape):
    call = OF_ONE[name]
    compiled, _ = opened(call, 2)
    x = wf.zeros(shape, "float64")
    for got, wanted in zip(parts(compiled(x)), parts(call(x)), strict=True):
        np.testing.assert_array_equal(got, wanted)
