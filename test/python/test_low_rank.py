"""Decompositions at the edges of rounding: matrices whose columns depend on each other, and very small and large ones; bases stay
orthonormal."""

import numpy as np
import pytest

import weft as wf

DTYPES = ["float32", "float64", "complex64", "complex128"]
SHAPES = [(m, n) for m in range(1, 17) for n in (1 + 5 * m % 16, 1 + 11 * m % 16)] + [(16, 16), (9, 9), (3, 3), (400, 9), (5, 300), (20, 18)]


def whole_numbers(rng, *shape, dtype):
    x = rng.integers(-9, 10, shape)
    return (x + 1j * rng.integers(-9, 10, shape) if dtype.startswith("complex") else x).astype(dtype)


def of_low_rank(rows, columns, dtype):
    """A batch of matrices, of whole numbers: products of low rank, zeros and ones, outer products, and all ones."""
    rng = np.random.default_rng(rows * 1000 + columns)
    few = min(rows, columns)
    found = [np.ones((rows, columns)), np.zeros((rows, columns)), np.outer(np.arange(1, rows + 1), np.arange(1, columns + 1))]
    found += [np.outer(np.arange(1, rows + 1), np.ones(columns)), np.outer(np.ones(rows), np.arange(columns))]
    found += [rng.integers(0, 2, (rows, columns)) for _ in range(8)]
    for _ in range(16):
        rank = rng.integers(1, few + 1)
        found.append(whole_numbers(rng, rows, rank, dtype=dtype) @ whole_numbers(rng, rank, columns, dtype=dtype))
    return np.stack([x.astype(dtype) for x in found])


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def check_basis(x):
    """Whether columns are orthonormal."""
    x, eps = np.asarray(x), np.finfo(x.dtype).eps
    x = x.astype("complex128")
    assert np.abs(adjoint(x) @ x - np.eye(x.shape[-1])).max() <= 10 * max(x.shape[-2:]) * eps


def check_product(*factors, of):
    """Whether a product is a batch of matrices, each by its largest element."""
    product = factors[0].astype("complex128")
    for factor in factors[1:]:
        product = product @ factor.astype("complex128")
    scale = np.abs(of).max((-2, -1), keepdims=True)
    assert (np.abs(product - of) <= 10 * max(of.shape[-2:]) * np.finfo(of.dtype).eps * scale).all()


def both_ways(f, x):
    """What a function gives of a batch, compiled and of each matrix alone too: the same bits."""
    eager = [part.numpy() for part in f(wf.tensor(x))]
    for part, expected in zip(wf.function(lambda x: tuple(f(x)))(wf.tensor(x)), eager, strict=True):
        assert part.numpy().tobytes() == expected.tobytes()
    for i, matrix in enumerate(x):
        for part, expected in zip(f(wf.tensor(matrix)), eager, strict=True):
            assert part.numpy().tobytes() == expected[i].tobytes()
    return eager


@pytest.mark.parametrize("dtype", DTYPES)
def test_singular_vectors_are_orthonormal(dtype):
    for shape in SHAPES:
        a = of_low_rank(*shape, dtype)
        few = min(shape)
        u, s, vh = both_ways(lambda x: wf.linalg.svd(x, full_matrices=False), a)
        whole = wf.linalg.svd(a)
        for left, values, right in ((u, s, vh), (whole.U.numpy(), whole.S.numpy(), whole.Vh.numpy())):
            check_basis(left)
            check_basis(adjoint(right))
            assert (np.diff(values) <= 0).all() and (values >= 0).all()
            check_product(left[..., :few] * values[..., None, :].astype(dtype), right[..., :few, :], of=a)
        near = np.linalg.svd(a.astype("complex128"), compute_uv=False)
        assert (np.abs(s - near) <= 10 * max(shape) * np.finfo(dtype).eps * near[:, :1]).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_singular_values_are_for(dtype):
    for size in (3, 9, 16):
        a = np.outer(np.arange(1, size + 1), np.arange(1, size + 1)).astype(dtype)
        squares = (a[0].real ** 2).sum()
        assert wf.linalg.matrix_rank(a).item() == 1
        assert np.allclose(wf.linalg.pinv(a).numpy(), a / squares**2, rtol=1e-4)
        assert wf.linalg.cond(a).item() > 0.01 / np.finfo(dtype).eps
        solution = wf.linalg.lstsq(a, a[:, 1:2])[0].numpy()
        assert np.allclose(solution[:, 0], 2 * a[0] / squares, rtol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_small_singular_values_keep_their_vectors(dtype):
    """The directions of columns are theirs, however short they are, where others leave them open."""
    small = np.finfo(dtype).tiny * 8
    a = np.diag([1, small, 2e-9, 3]).astype(dtype)
    u, s, vh = wf.linalg.svd(a)
    order = [3, 0, 2, 1]
    assert (s.numpy() == np.diag(a).real[order]).all()
    assert (np.abs(u.numpy()) == np.eye(4)[:, order]).all() and (np.abs(vh.numpy()) == np.eye(4)[order]).all()
    check_product(u.numpy() * s.numpy().astype(dtype), vh.numpy(), of=a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_by_reflections_are_orthonormal(dtype):
    for shape in [*SHAPES, (10, 9), (40, 36)]:
        a = of_low_rank(*shape, dtype)
        q, r = both_ways(wf.linalg.qr, a)
        check_basis(q)
        check_product(q, r, of=a)
        check_basis(wf.linalg.qr(a, mode="complete").Q)


@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_that_are_nearly_zero_are_reflected(dtype):
    tiny = float(np.finfo(dtype).smallest_subnormal)
    rng = np.random.default_rng(3)
    for rows, columns in ((3, 2), (16, 16), (40, 36)):
        a = whole_numbers(rng, 24, rows, columns, dtype=dtype) * tiny
        a[12:, :, columns // 2 :] = whole_numbers(rng, 12, rows, columns - columns // 2, dtype=dtype)
        q, r = both_ways(wf.linalg.qr, a.astype(dtype))
        check_basis(q)
        check_product(q[12:], r[12:], of=a[12:].astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [2, 8, 20])
def test_very_small_and_large_matrices(size, dtype):
    rng = np.random.default_rng(size)
    largest, smallest = np.finfo(dtype).max, np.finfo(dtype).tiny
    drawn = rng.uniform(-1, 1, (4, size, size)) + (1j * rng.uniform(-1, 1, (4, size, size)) if dtype.startswith("complex") else 0)
    for scale in (2.0 ** np.floor(np.log2(smallest) + 5), 2.0 ** np.floor(np.log2(largest) - 6)):
        a = (drawn * scale).astype(dtype)
        base = a / a.real.dtype.type(scale)
        q, r = both_ways(wf.linalg.qr, a)
        u, s, vh = both_ways(wf.linalg.svd, a)
        hermitian = (a / 2 + adjoint(a) / 2).astype(dtype)
        values, vectors = both_ways(wf.linalg.eigh, hermitian)
        for basis in (q, u, adjoint(vh), vectors):
            check_basis(basis)
        check_product(q, r.astype("complex128") / scale, of=base)
        check_product(u * (s / s.dtype.type(scale))[:, None].astype(dtype), vh, of=base)
        check_product(vectors * (values / values.dtype.type(scale))[:, None].astype(dtype), adjoint(vectors), of=base / 2 + adjoint(base) / 2)
        spectrum, directions = both_ways(wf.linalg.eig, a)
        check_product(base, directions, of=directions * (spectrum.astype("complex128") / scale).astype(directions.dtype)[:, None])
        solved = wf.linalg.solve(a, a).numpy()
        assert np.abs(solved - np.eye(size)).max() <= 10 * size * np.finfo(dtype).eps * np.linalg.cond(base).max()
