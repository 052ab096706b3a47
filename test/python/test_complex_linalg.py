"""Complex matrices, and eigenvalues of matrices that are not symmetric: against NumPy, derivatives against differences, edges and errors."""

import numpy as np
import pytest

import weft as wf

rng = np.random.default_rng(17)
DTYPES = ("float32", "float64", "complex64", "complex128")
COMPLEX = ("complex64", "complex128")


def drawn(*shape, dtype="complex128"):
    x = rng.uniform(-1, 1, shape)
    return (x + 1j * rng.uniform(-1, 1, shape) if np.dtype(dtype).kind == "c" else x).astype(dtype)


def regular(*shape, dtype="complex128"):
    """Matrices with an inverse, whose largest elements are not on the diagonal."""
    return (drawn(*shape, dtype=dtype) + shape[-1] * np.eye(*shape[-2:])[::-1]).astype(dtype)


def definite(*shape, dtype="complex128"):
    x = drawn(*shape, dtype=dtype)
    return ((x + np.conj(np.swapaxes(x, -1, -2))) / 2 + shape[-1] * np.eye(shape[-1])).astype(dtype)


def near(got, expected, scale=1.0):
    got, expected = np.asarray(got), np.asarray(expected)
    eps = np.finfo(got.dtype).eps
    assert got.shape == expected.shape and np.abs(got - expected).max(initial=0) <= 200 * scale * eps * max(1, np.abs(expected).max(initial=0))


def same_bits(one, other):
    for x, y in zip(one, other, strict=True):
        np.testing.assert_array_equal(np.asarray(x), np.asarray(y), strict=True)


def slopes_agree(function, *operands):
    """Both derivatives of a real function by complex or real operands against differences in a direction."""
    directions = [drawn(*x.shape, dtype=x.dtype) for x in operands]
    step = 1e-6
    ends = [float(function(*[wf.tensor(x + side * step * d) for x, d in zip(operands, directions, strict=True)])) for side in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * step)
    tensors = [wf.tensor(x) for x in operands]
    for call in (wf.grad(function, tuple(range(len(operands)))), wf.function(wf.grad(function, tuple(range(len(operands)))))):
        gradients = call(*tensors)
        found = sum(np.sum((np.conj(g.numpy()) * d).real) for g, d in zip(gradients, directions, strict=True))
        assert found == pytest.approx(slope, rel=1e-5, abs=1e-6)
    _, forward = wf.jvp(function, tuple(tensors), tuple(map(wf.tensor, directions)))
    assert float(forward) == pytest.approx(slope, rel=1e-5, abs=1e-6)


# Eigenvalues ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 17, 40])
def test_eigenvalues_and_eigenvectors(n, dtype):
    a = drawn(2, n, n, dtype=dtype)
    values, vectors = wf.linalg.eig(a)
    assert values.dtype == vectors.dtype == np.result_type(dtype, "complex64").name
    w, v = values.numpy(), vectors.numpy()
    near(a @ v, v * w[:, None, :], n)
    near(np.linalg.norm(v, axis=-2), np.ones((2, n)))
    largest = np.take_along_axis(v, np.abs(v).argmax(-2)[:, None, :], -2)
    assert (largest.imag == 0).all() and (largest.real > 0).all()
    assert (np.diff(w.real, axis=-1) >= 0).all()
    near(w.sum(-1), np.trace(a, axis1=-2, axis2=-1), 10 * n)
    if np.dtype(dtype).kind == "f":
        for row in w:
            assert set(row) == set(row.conj())
    same_bits([wf.linalg.eigvals(a)], [w])
    same_bits(wf.function(wf.linalg.eig)(wf.tensor(a)), (w, v))
    same_bits(wf.linalg.eig(a[1]), (w[1], v[1]))
    same_bits(wf.vmap(wf.linalg.eig)(wf.tensor(a)), (w, v))


def test_eigenvalues_that_are_known():
    values, vectors = wf.linalg.eig([[0.0, -1.0], [1.0, 0.0]])
    near(values, [-1j, 1j])
    near(np.abs(vectors.numpy()), np.full((2, 2), 0.5**0.5))
    assert wf.linalg.eigvals(wf.zeros((0, 0))).shape == (0,) and wf.linalg.eig(wf.zeros((0, 3, 3))).eigenvectors.shape == (0, 3, 3)
    for bad in (np.nan, np.inf):
        found = wf.linalg.eig([[bad, 0.0], [0.0, 1.0]])
        assert np.isnan(found.eigenvalues.numpy()).all() and np.isnan(found.eigenvectors.numpy()).all()


def test_open_sizes():
    a = drawn(3, 3)
    spec = wf.TensorSpec([None, None], "complex128")
    for function in (wf.linalg.eig, wf.linalg.slogdet, lambda x: [wf.linalg.inv(x)], lambda x: [wf.linalg.cholesky(x @ wf.conj(x.mT))]):
        same_bits(wf.function(function, input_signature=[spec])(wf.tensor(a)), function(wf.tensor(a)))


WEIGHTS = drawn(4), drawn(4, 4)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_slopes_of_eigenvalues(dtype):
    a = drawn(4, 4, dtype=dtype)
    slopes_agree(lambda x: wf.sum(wf.real(wf.linalg.eigvals(x) * WEIGHTS[0])), a)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_slopes_of_eigenvectors(dtype):
    a = drawn(4, 4, dtype=dtype)

    def function(x):
        values, vectors = wf.linalg.eig(x)
        return wf.sum(wf.real(values * WEIGHTS[0])) + wf.sum(wf.real(vectors * WEIGHTS[1])) + wf.sum(wf.imag(vectors) ** 2)

    slopes_agree(function, a)
    slopes_agree(function, drawn(2, 4, 4, dtype=dtype))


def test_second_slopes_of_eigenvalues():
    a = drawn(3, 3, dtype="float64")

    def function(x):
        return wf.sum(wf.abs(wf.linalg.eigvals(x)) ** 2)

    slopes_agree(lambda x: wf.sum(wf.grad(function)(x) ** 2), a)


def test_equal_eigenvalues_have_slopes():
    gradient = wf.grad(lambda x: wf.sum(wf.real(wf.linalg.eigvals(x))))(wf.eye(3))
    near(gradient, np.eye(3))


# Complex matrices -----------------------------------------------------------------------------------------------------------------

FUNCTIONS = {
    "inv": (wf.linalg.inv, np.linalg.inv),
    "det": (wf.linalg.det, np.linalg.det),
    "square": (lambda x: wf.linalg.matrix_power(x, 2), lambda x: np.linalg.matrix_power(x, 2)),
    "inverse cubed": (lambda x: wf.linalg.matrix_power(x, -3), lambda x: np.linalg.matrix_power(x, -3)),
}


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("n", [1, 2, 7, 33, 70])
def test_functions_of_complex_matrices(n, dtype):
    a = regular(2, n, n, dtype=dtype) / np.float32(n)
    for name, (ours, numpys) in FUNCTIONS.items():
        got = ours(wf.tensor(a))
        assert got.dtype == dtype, name
        near(got, numpys(a.astype("complex128")), 10 * n)
        same_bits([wf.function(ours)(wf.tensor(a))], [got])
    sign, logarithm = wf.linalg.slogdet(a)
    expected = np.linalg.slogdet(a.astype("complex128"))
    near(sign, expected[0], n)
    near(logarithm, expected[1], n)
    for b in (drawn(n, dtype=dtype), drawn(2, n, 3, dtype=dtype)):
        near(wf.linalg.solve(a[0], b), np.linalg.solve(a[0], b), 10 * n)
        near(wf.linalg.solve(a[0], b.real), np.linalg.solve(a[0], b.real), 10 * n)
        near(wf.linalg.solve(a[0].real, b), np.linalg.solve(a[0].real, b), 10 * n)
    s = definite(2, n, n, dtype=dtype)
    lower, upper = wf.linalg.cholesky(s), wf.linalg.cholesky(s, upper=True)
    near(lower, np.linalg.cholesky(s.astype("complex128")), n)
    np.testing.assert_array_equal(upper.numpy(), np.conj(np.swapaxes(lower.numpy(), -1, -2)))
    diagonal = np.diagonal(lower.numpy(), axis1=-2, axis2=-1)
    assert (diagonal.imag == 0).all() and (np.triu(lower.numpy(), 1) == 0).all()


def test_determinants_neither_overflow_nor_vanish():
    a = regular(300, 300) * (1 + 1j)
    sign, logarithm = wf.linalg.slogdet(a)
    expected = np.linalg.slogdet(a)
    near(sign, expected[0], 300)
    near(logarithm, expected[1])
    large = np.diag([1e200 + 1e200j, 1e-200, 1e200, 1e-200 + 0j, -1e100j])
    near(wf.linalg.det(large) / 1e100, [(1 - 1j)][0])
    assert complex(wf.linalg.det(np.diag([2.0**1000 + 0j, 2.0**23]))) == 2.0**1023
    assert complex(wf.linalg.det(wf.zeros((0, 0), "complex64"))) == 1


def test_complex_matrices_without_inverse():
    a = np.array([[1j, 2j], [2, 4]])
    assert complex(wf.linalg.det(a)) == 0
    sign, logarithm = wf.linalg.slogdet(a)
    assert complex(sign) == 0 and float(logarithm) == -np.inf
    for call in (wf.linalg.inv, lambda x: wf.linalg.solve(x, x), wf.linalg.cholesky):
        for run in (call, wf.function(call)):
            with pytest.raises(wf.LinAlgError, match="inverse|definite"):
                run(wf.tensor(a - 4 * np.eye(2) * (call is wf.linalg.cholesky)))
    assert np.isnan(wf.linalg.det(np.full((2, 2), np.nan + 1j)).numpy())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_of_functions_of_complex_matrices(name):
    weights = drawn(3, 3)
    slopes_agree(lambda x: wf.sum(wf.real(FUNCTIONS[name][0](x) * weights)), regular(3, 3) / 3)


def test_slopes_of_other_functions_of_complex_matrices():
    weights = drawn(3, 3)
    slopes_agree(lambda a, b: wf.sum(wf.real(wf.linalg.solve(a, b) * weights)), regular(3, 3), drawn(3, 3))
    slopes_agree(lambda a: wf.sum(wf.real(wf.linalg.cholesky(a) * weights)), definite(3, 3))
    slopes_agree(lambda a: wf.real(wf.linalg.slogdet(a).sign * (2 + 1j)) + wf.linalg.slogdet(a).logabsdet, regular(3, 3))


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def both_ways(function, *operands):
    """What a function gives eagerly, after a look that compiled code gives the same."""
    tensors = [wf.tensor(x) for x in operands]
    found = function(*tensors)
    parts = list(found) if isinstance(found, tuple) else [found]
    compiled = wf.function(function)(*tensors)
    same_bits(compiled if isinstance(compiled, tuple) else [compiled], parts)
    return [part.numpy() for part in parts]


SHAPES = [(1, 1), (3, 3), (5, 2), (2, 5), (16, 16), (17, 17), (40, 33), (33, 40), (70, 70)]


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("rows, columns", SHAPES)
def test_orthonormal_columns_and_triangles(rows, columns, dtype):
    a = drawn(2, rows, columns, dtype=dtype)
    for mode in ("reduced", "complete"):
        q, r = both_ways(lambda x, mode=mode: wf.linalg.qr(x, mode=mode), a)
        shapes = [part.shape for part in np.linalg.qr(a, mode)]
        assert [q.shape, r.shape] == shapes and q.dtype == r.dtype == dtype
        near(q @ r, a, rows)
        near(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1]), (2, q.shape[-1], q.shape[-1])), rows)
        assert (np.tril(r, -1) == 0).all() and (np.diagonal(r, axis1=-2, axis2=-1).imag == 0).all()
        same_bits(wf.linalg.qr(wf.tensor(a).mT.mT[1], mode=mode), (q[1], r[1]))
        same_bits(wf.vmap(lambda x, mode=mode: wf.linalg.qr(x, mode=mode))(wf.tensor(a)), (q, r))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("rows, columns", SHAPES)
def test_singular_values_and_vectors(rows, columns, dtype):
    a = drawn(2, rows, columns, dtype=dtype)
    few = min(rows, columns)
    values = np.linalg.svd(a.astype("complex128"), compute_uv=False)
    u, s, vh = both_ways(lambda x: wf.linalg.svd(x, full_matrices=False), a)
    assert u.dtype == vh.dtype == dtype and s.dtype == values.astype(dtype).real.dtype
    near(u * s[:, None] @ vh, a, rows + columns)
    near(s, values, rows + columns)
    for basis in (adjoint(u) @ u, vh @ adjoint(vh)):
        near(basis, np.broadcast_to(np.eye(few), basis.shape), rows + columns)
    fixed = u if rows >= columns else np.swapaxes(vh, -1, -2)
    largest = np.take_along_axis(fixed, np.abs(fixed).argmax(-2)[:, None], -2)
    assert (largest.imag == 0).all() and (largest.real > 0).all()
    whole = both_ways(wf.linalg.svd, a)
    assert whole[0].shape == (2, rows, rows) and whole[2].shape == (2, columns, columns)
    near(adjoint(whole[0]) @ whole[0], np.broadcast_to(np.eye(rows), (2, rows, rows)), rows)
    near(whole[0][..., :few] * s[:, None] @ whole[2][..., :few, :], a, rows + columns)
    same_bits(both_ways(wf.linalg.svdvals, a), [s])
    same_bits(wf.linalg.svd(a[1], full_matrices=False), (u[1], s[1], vh[1]))
    near(both_ways(wf.linalg.pinv, a)[0], np.linalg.pinv(a), 100 * rows * s.max() / s.min())
    assert (both_ways(wf.linalg.matrix_rank, a)[0] == few).all()
    for order in (2, -2, "nuc", "fro", 1, -1, np.inf, -np.inf):
        found = both_ways(lambda x, order=order: wf.linalg.matrix_norm(x, ord=order), a)[0]
        near(found, np.linalg.norm(a, order, (-2, -1)), rows + columns)
    near(wf.norm(a, None, 1), np.linalg.norm(a, None, 1), rows)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("n", [1, 2, 5, 16, 17, 40])
def test_hermitian_eigenvalues(n, dtype):
    a = drawn(2, n, n, dtype=dtype)
    hermitian = (a + adjoint(a)) / 2
    w, v = both_ways(wf.linalg.eigh, a)
    assert v.dtype == dtype and w.dtype == a.real.dtype
    near(w, np.linalg.eigvalsh(hermitian), n)
    near(hermitian @ v, v * w[:, None], n)
    near(adjoint(v) @ v, np.broadcast_to(np.eye(n), (2, n, n)), n)
    largest = np.take_along_axis(v, np.abs(v).argmax(-2)[:, None], -2)
    assert (largest.imag == 0).all() and (largest.real > 0).all()
    same_bits(both_ways(wf.linalg.eigvalsh, a), [w])
    same_bits(wf.vmap(wf.linalg.eigh)(wf.tensor(a)), (w, v))


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("n", [1, 3, 16, 17, 70])
def test_triangles_of_complex_matrices(n, dtype):
    a, b = regular(2, n, n, dtype=dtype), drawn(2, n, 3, dtype=dtype)
    factors, pivots = both_ways(wf.linalg.lu_factor, a)
    lower, upper = np.tril(factors, -1) + np.eye(n, dtype=dtype), np.triu(factors)
    for i in range(2):
        rows = a[i].copy()
        for j, p in enumerate(pivots[i]):
            rows[[j, p]] = rows[[p, j]]
        near(lower[i] @ upper[i], rows, n)
        sizes = np.abs(factors[i].real) + np.abs(factors[i].imag)
        assert (np.tril(sizes, -1) <= 1.5).all()
    t = (drawn(2, n, n, dtype=dtype) / n + 2j * np.eye(n)).astype(dtype)
    for lower in (False, True):
        triangle = np.tril(t) if lower else np.triu(t)
        for trans, of in enumerate((triangle, np.swapaxes(triangle, -1, -2), adjoint(triangle))):
            x = both_ways(lambda t, b, lower=lower, trans=trans: wf.linalg.solve_triangular(t, b, lower=lower, trans=trans), t, b)[0]
            near(of @ x, b, n)
    s = definite(n, n, dtype=dtype)
    for upper in (False, True):
        near(s @ wf.linalg.cho_solve(wf.linalg.cholesky(s, upper=upper), b[0], upper=upper).numpy(), b[0], n)


@pytest.mark.parametrize("dtype", COMPLEX)
@pytest.mark.parametrize("rows, columns", [(3, 3), (5, 2), (2, 5), (24, 20)])
def test_least_squares_of_complex_matrices(rows, columns, dtype):
    a, b = drawn(rows, columns, dtype=dtype), drawn(rows, 3, dtype=dtype)
    found = both_ways(wf.linalg.lstsq, a, b)
    x, residuals, rank, values = np.linalg.lstsq(a.astype("complex128"), b, rcond=None)
    near(found[0], x, 100 * rows * values.max() / values.min())
    assert found[1].dtype == found[3].dtype == a.real.dtype and found[2] == rank
    near(found[1], residuals if rows > columns else np.zeros(0), 100 * rows)
    near(found[3], values, rows)


@pytest.mark.parametrize("n", [1, 3, 20])
def test_exponentials_of_complex_matrices(n):
    a = drawn(n, n) * 2
    values, vectors = np.linalg.eig(a)
    near(both_ways(wf.linalg.expm, a)[0], vectors * np.exp(values) @ np.linalg.inv(vectors), 1000)
    near(wf.linalg.expm(wf.tensor([[1j * np.pi]])), [[-1]])


def test_factorizations_of_nothing():
    for shape in ((0, 0), (3, 0), (0, 3), (0, 3, 3), (2, 0, 0)):
        x = wf.zeros(shape, "complex64")
        few = min(shape[-2:])
        q, r = wf.linalg.qr(x)
        assert q.shape == (*shape[:-1], few) and r.shape == (*shape[:-2], few, shape[-1])
        u, s, vh = wf.linalg.svd(x, full_matrices=False)
        assert u.shape == q.shape and s.shape == (*shape[:-2], few) and vh.shape == r.shape and s.dtype == "float32"
        if shape[-1] == shape[-2]:
            w, v = wf.linalg.eigh(x)
            assert w.shape == shape[:-1] and v.shape == shape and w.dtype == "float32"
    bad = np.full((2, 2), np.nan + 0j)
    for part in (*wf.linalg.svd(bad), *wf.linalg.eigh(bad), *wf.linalg.qr(bad)):
        assert np.isnan(part.numpy()).any()


def test_open_sizes_of_factorizations():
    a = drawn(3, 3)
    spec = wf.TensorSpec([None, None], "complex128")
    for function in (wf.linalg.eigh, wf.linalg.lu_factor, lambda x: wf.linalg.solve_triangular(x, x), wf.linalg.expm, wf.linalg.det):
        both = [function(wf.tensor(a)), wf.function(function, input_signature=[spec])(wf.tensor(a))]
        same_bits(*[x if isinstance(x, tuple) else [x] for x in both])


def projector(x):
    return x @ wf.conj(x.mT)


W = drawn(4, 4)
WIDE = drawn(2, 4)
# Functions of what does not depend on the phases of vectors, and of the vectors themselves, whose phases are fixed.
SLOPES = {
    "qr": (lambda x: [part for part in wf.linalg.qr(x)], regular(4, 4)),
    "qr of a tall one": (lambda x: [part for part in wf.linalg.qr(x)], drawn(5, 3)),
    "qr of a wide one": (lambda x: [part for part in wf.linalg.qr(x)], drawn(3, 5)),
    "eigh": (lambda x: [part for part in wf.linalg.eigh(x)], drawn(4, 4)),
    "eigvalsh": (lambda x: [wf.linalg.eigvalsh(x)], drawn(4, 4)),
    "projectors of eigh": (lambda x: [projector(wf.linalg.eigh(x).eigenvectors[:, :2])], drawn(4, 4)),
    "svd": (lambda x: [part for part in wf.linalg.svd(x, full_matrices=False)], drawn(4, 4)),
    "svd of a tall one": (lambda x: [part for part in wf.linalg.svd(x, full_matrices=False)], drawn(5, 3)),
    "svd of a wide one": (lambda x: [part for part in wf.linalg.svd(x, full_matrices=False)], drawn(3, 5)),
    "left vectors": (lambda x: [wf.linalg.svd(x, full_matrices=False).U], drawn(5, 3)),
    "right vectors": (lambda x: [wf.linalg.svd(x, full_matrices=False).Vh], drawn(5, 3)),
    "projectors of svd": (lambda x: [projector(wf.linalg.svd(x, full_matrices=False).U[:, :2])], drawn(5, 3)),
    "polar": (lambda x: [(lambda f: f.U @ f.Vh)(wf.linalg.svd(x, full_matrices=False))], drawn(4, 4)),
    "pinv": (lambda x: [wf.linalg.pinv(x)], drawn(5, 3)),
    "pinv of a wide one": (lambda x: [wf.linalg.pinv(x)], drawn(3, 5)),
    "norm 2": (lambda x: [wf.linalg.matrix_norm(x, ord=2)], drawn(4, 3)),
    "norm nuc": (lambda x: [wf.linalg.matrix_norm(x, ord="nuc")], drawn(3, 4)),
    "norm fro": (lambda x: [wf.linalg.matrix_norm(x)], drawn(3, 4)),
    "norm 1": (lambda x: [wf.linalg.matrix_norm(x, ord=1)], drawn(3, 4)),
    "lu_factor": (lambda x: [wf.linalg.lu_factor(x).lu], regular(4, 4)),
    "expm": (lambda x: [wf.linalg.expm(x)], drawn(3, 3)),
    "cholesky": (lambda x: [wf.linalg.cholesky(x)], definite(4, 4)),
    "singular det": (lambda x: [wf.linalg.det(x)], np.outer(drawn(3), drawn(3))),
}


def weighted(name):
    """A real function of all that one of SLOPES gives."""
    function, operand = SLOPES[name]
    weights = [wf.tensor(drawn(*part.shape)) for part in function(wf.tensor(operand))]
    return lambda x: sum(wf.sum(wf.real(part * w)) for part, w in zip(function(x), weights, strict=True))


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_of_factorizations(name):
    slopes_agree(weighted(name), SLOPES[name][1])


@pytest.mark.parametrize("name", SLOPES)
def test_second_slopes_of_factorizations(name):
    function, weights = weighted(name), drawn(*SLOPES[name][1].shape)
    slopes_agree(lambda x: wf.sum(wf.real(wf.conj(wf.grad(function)(x)) * weights)), SLOPES[name][1])


def test_slopes_of_solves_with_triangles():
    weights, t, b = drawn(3, 2), drawn(3, 3) + 2 * np.eye(3), drawn(3, 2)
    for trans in (0, 1, 2):
        slopes_agree(lambda a, b, trans=trans: wf.sum(wf.real(wf.linalg.solve_triangular(a, b, trans=trans) * weights)), t, b)
    for upper in (False, True):
        slopes_agree(lambda a, b, upper=upper: wf.sum(wf.real(wf.linalg.cho_solve(a, b, upper=upper) * weights)), t, b)
    tall = drawn(5, 3)
    slopes_agree(lambda a, b: sum(wf.sum(wf.real(part)) for part in wf.linalg.lstsq(a, b)[:2]), tall, drawn(5, 2))


def test_vectors_of_equal_values_do_not_move():
    for call in (lambda x: wf.linalg.eigh(x).eigenvectors, lambda x: wf.linalg.svd(x).U):
        gradient = wf.grad(lambda x, call=call: wf.sum(wf.real(call(x))))(wf.eye(3, dtype="complex128"))
        assert np.isfinite(gradient.numpy()).all()


@pytest.mark.parametrize("dtype", COMPLEX)
def test_spread_of_complex_numbers(dtype):
    x = drawn(4, 5, dtype=dtype)
    for options in ({}, {"axis": 1}, {"axis": 0, "ddof": 1, "keepdims": True}):
        for run in (lambda call: call, wf.function):
            found = run(lambda x, options=options: [wf.var(x, **options), wf.std(x, **options)])(wf.tensor(x))
            for got, expected in zip(found, (np.var(x, **options), np.std(x, **options)), strict=True):
                assert got.dtype == np.asarray(expected).dtype.name
                near(got, expected)
    slopes_agree(lambda x: wf.var(x), drawn(6))


def test_products_of_vectors_conjugate_the_first():
    a, b = drawn(3, 5), drawn(3, 5)
    near(wf.linalg.vecdot(a, b), np.sum(a.conj() * b, -1))
    near(wf.linalg.vecdot(a[:, 0], b[:, 0]), np.sum(a[:, 0].conj() * b[:, 0]))


# Bad input ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: wf.linalg.eig(wf.ones((2, 3))), wf.ShapeError, r"eig: x has the shape \(2, 3\): a square matrix is wanted"),
        (lambda: wf.linalg.eigvals(wf.ones(3)), wf.ShapeError, r"eigvals: x has the shape \(3,\): a matrix is wanted"),
        (lambda: wf.linalg.eigh(wf.ones((2, 3), "complex64")), wf.ShapeError, r"eigh: x has the shape \(2, 3\): a square matrix is wanted"),
        (lambda: wf.linalg.svd(wf.ones(3, "complex64")), wf.ShapeError, r"svd: x has the shape \(3,\): a matrix is wanted"),
        (lambda: wf.linalg.qr(wf.ones(3, "complex64")), wf.ShapeError, r"qr: x has the shape \(3,\): a matrix is wanted"),
        (lambda: wf.linalg.solve_triangular(1j * wf.tensor([[1.0, 2.0], [0.0, 0.0]]), wf.ones(2)), wf.LinAlgError, "number 1 on its diagonal is 0"),
        (lambda: wf.sort(wf.tensor([1j, 0])), wf.DTypeError, "sort"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
