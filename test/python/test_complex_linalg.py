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
        (lambda: wf.linalg.eigh(wf.eye(2, dtype="complex64")), wf.DTypeError, "eigh: x must be floating"),
        (lambda: wf.linalg.svd(wf.eye(2, dtype="complex64")), wf.DTypeError, "svd: x must be floating"),
        (lambda: wf.linalg.qr(wf.eye(2, dtype="complex64")), wf.DTypeError, "qr: x must be floating"),
        (lambda: wf.sort(wf.tensor([1j, 0])), wf.DTypeError, "sort"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
