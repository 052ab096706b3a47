"""Linear algebra: residuals, batches, derivatives of both orders, edges without elements, and LinAlgErrors of eager and traced calls."""

import numpy as np
import pytest

import weft as wf

rng = np.random.default_rng(11)
DTYPES = ("float32", "float64")


def regular(*shape, dtype="float64"):
    """Matrices with an inverse."""
    return (rng.uniform(-1, 1, shape) + shape[-1] * np.eye(*shape[-2:])[::-1]).astype(dtype)


def definite(*shape, dtype="float64"):
    x = rng.uniform(-1, 1, shape)
    return ((x + np.swapaxes(x, -1, -2)) / 2 + shape[-1] * np.eye(shape[-1])).astype(dtype)


def near(got, expected, scale=1.0):
    got, expected = np.asarray(got), np.asarray(expected)
    eps = np.finfo(got.dtype).eps
    assert got.shape == expected.shape and np.abs(got - expected).max(initial=0) <= 200 * scale * eps * max(1, np.abs(expected).max(initial=0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 31, 64, 65, 130, 300])
def test_factorizations_of_all_sizes(n, dtype):
    a = regular(n, n, dtype=dtype)
    lu, pivots = wf.linalg.lu_factor(a)
    order = np.arange(n)
    for i, p in enumerate(pivots.numpy()):
        order[[i, p]] = order[[p, i]]
    lower, upper = np.tril(lu.numpy(), -1) + np.eye(n, dtype=dtype), np.triu(lu.numpy())
    near(lower @ upper, a[order], n)
    assert np.abs(lower).max() <= 1
    q, r = wf.linalg.qr(a)
    near(q @ r, a, n)
    near(wf.matmul(wf.linalg.matrix_transpose(q), q), np.eye(n), n)
    assert (np.tril(r.numpy(), -1) == 0).all()
    s = definite(n, n, dtype=dtype)
    c = wf.linalg.cholesky(s)
    near(c @ wf.linalg.matrix_transpose(c), s, n)
    assert (np.triu(c.numpy(), 1) == 0).all()
    near(wf.linalg.solve(a, a), np.eye(n), n)
    near(a @ wf.linalg.solve(a, wf.ones(n, dtype=dtype)).numpy(), np.ones(n), n)
    near(wf.linalg.inv(a) @ a, np.eye(n), n)


@pytest.mark.parametrize("shape", [(70, 3), (3, 70), (33, 32), (65, 64), (5, 1), (1, 5), (40, 100)])
def test_qr_of_other_shapes(shape):
    a = rng.uniform(-1, 1, shape)
    for mode in ("reduced", "complete"):
        q, r = wf.linalg.qr(a, mode=mode)
        expected = np.linalg.qr(a, mode)
        near(q, expected[0], 10)
        near(r, expected[1], 10)


def test_lu_of_other_shapes():
    for shape in [(5, 3), (3, 5), (80, 70), (70, 80), (2, 9, 4), (700, 420), (300, 900), (1, 1700), (1600, 1570)]:
        a = rng.uniform(-1, 1, shape)
        lu, pivots = (x.numpy() for x in wf.linalg.lu_factor(a))
        k = min(shape[-2:])
        assert pivots.shape == (*shape[:-2], k)
        for at in np.ndindex(*shape[:-2]):
            rows = a[at].copy()
            for i, p in enumerate(pivots[at]):
                rows[[i, p]] = rows[[p, i]]
            near((np.tril(lu[at], -1)[:, :k] + np.eye(shape[-2], k)) @ np.triu(lu[at])[:k], rows, max(10, k / 10))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_the_same_bits_by_any_number_of_threads(dtype):
    """Panels are factored while other threads work on the rest; right sides of one column go by blocks."""
    a = regular(700, 700).astype(dtype)
    if "complex" in dtype:
        a = a + (1j * rng.uniform(-1, 1, a.shape)).astype(dtype)
    s = a @ np.conj(a.T) + np.eye(700, dtype=dtype)

    def work():
        results = [*wf.linalg.lu_factor(a), wf.linalg.solve(a, a[:, 0]), wf.linalg.cholesky(s), *wf.linalg.qr(a)]
        return [x.numpy() for x in results]

    set_threads = wf._weft.internal_set_num_threads
    many = wf._weft.internal_num_threads()
    expected = work()
    try:
        for threads in (1, 3):
            set_threads(threads)
            for got, wanted in zip(work(), expected):
                np.testing.assert_array_equal(got, wanted)
    finally:
        set_threads(many)
    near(a @ expected[2], a[:, 0], 700)


def test_results_that_nobody_uses_are_no_trouble():
    """One of several results alone: of a tape, a trace and its derivative, and mapped over."""
    a = wf.tensor(regular(4, 4))

    def triangle(x):
        return wf.sum(wf.linalg.qr(x).R ** 2)

    def basis(x):
        return wf.sum(wf.linalg.qr(x).Q[:, 0] * wf.arange(4.0))

    for function in (triangle, basis):
        gradient = wf.grad(function)(a)
        near(wf.function(wf.grad(function))(a), gradient)
        near(wf.vmap(wf.grad(function))(wf.stack([a, a]))[1], gradient)
        value, tangent = wf.jvp(function, (a,), (wf.ones_like(a),))
        assert float(tangent) == pytest.approx(float(wf.sum(gradient)), rel=1e-9)
        near(wf.function(lambda x, f=function: wf.jvp(f, (x,), (wf.ones_like(x),))[1])(a), tangent)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: wf.sum(wf.linalg.solve(a, a[:, :2] * 2 + 1) ** 2),
        lambda a: wf.sum(wf.linalg.inv(a) ** 3),
        lambda a: wf.sum(wf.linalg.cholesky(a @ wf.linalg.matrix_transpose(a)) ** 2),
        lambda a: wf.linalg.det(a),
        lambda a: wf.linalg.slogdet(a).logabsdet,
        lambda a: wf.sum(wf.sin(wf.linalg.qr(a).Q)),
        lambda a: wf.sum(wf.linalg.solve_triangular(a, a[0], trans=1) ** 2),
        lambda a: wf.sum(wf.linalg.matrix_power(a, -2)),
        lambda a: wf.sum(wf.linalg.lu_factor(a).lu ** 2),
    ],
)
def test_derivatives_of_both_orders(function):
    x = wf.tensor(rng.uniform(-1, 1, (3, 3)) + 3 * np.eye(3))
    first = wf.grad(function)
    near(wf.function(first)(x), first(x), 100)

    def slope(x):
        return wf.sum(first(x) * wf.reshape(wf.cos(wf.arange(9.0, dtype="float64")), (3, 3)))

    for one, step in ((function, 1e-6), (slope, 1e-6)):
        gradient = wf.grad(one)(x).numpy()
        for at in np.ndindex(3, 3):
            moved = [x.numpy().copy(), x.numpy().copy()]
            moved[0][at] += step
            moved[1][at] -= step
            difference = (float(one(wf.tensor(moved[0]))) - float(one(wf.tensor(moved[1])))) / (2 * step)
            assert gradient[at] == pytest.approx(difference, rel=2e-5, abs=2e-5), at
    mapped = wf.vmap(wf.grad(slope))(wf.stack([x, x]))
    near(mapped[1], wf.grad(slope)(x), 100)


def test_batches_broadcast_and_are_mapped_over():
    a, b = regular(2, 1, 3, 3), rng.uniform(-1, 1, (4, 3, 2))
    near(wf.linalg.solve(a, b), np.linalg.solve(a, b))
    near(wf.linalg.solve(a, b[0, :, 0]), np.linalg.solve(a, np.broadcast_to(b[0, :, :1], (2, 1, 3, 1)))[..., 0])
    near(wf.vmap(wf.linalg.solve, in_axes=(None, 0))(a[0, 0], b), np.linalg.solve(a[0, 0], b))
    near(wf.vmap(wf.linalg.solve)(np.broadcast_to(a[:1, 0], (4, 3, 3)), b[:, :, 0]), np.linalg.solve(a[0, 0], b[:, :, :1])[..., 0])
    near(wf.vmap(lambda x: wf.linalg.det(x))(a), np.linalg.det(a))
    many = regular(1000, 4, 4, dtype="float32")
    near(wf.linalg.inv(many) @ many, np.broadcast_to(np.eye(4), many.shape), 10)


def test_open_sizes():
    matrices = wf.TensorSpec([None, None], "float64")
    solve = wf.function(wf.linalg.solve, input_signature=[matrices, matrices])
    for n in (2, 5):
        a, b = regular(n, n), rng.uniform(-1, 1, (n, 3))
        near(solve(a, b), np.linalg.solve(a, b))
    with pytest.raises(wf.ShapeError, match="square"):
        solve(np.ones((2, 3)), np.ones((2, 1)))
    gradient = wf.function(wf.grad(lambda a: wf.sum(wf.linalg.inv(a))), input_signature=[matrices])
    a = wf.tensor(regular(4, 4))
    near(gradient(a), wf.grad(lambda a: wf.sum(wf.linalg.inv(a)))(a), 10)


SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
REFUSED = [
    (lambda x: wf.linalg.solve(x, wf.ones(2, dtype="float64")), "solve: the matrix has no inverse"),
    (lambda x: wf.linalg.inv(x), "inv: the matrix has no inverse"),
    (lambda x: wf.linalg.cholesky(x - 3), "cholesky: the matrix is not positive definite"),
    (lambda x: wf.linalg.solve_triangular(x * [[0.0, 1.0], [1.0, 1.0]], wf.ones(2, dtype="float64")), "solve_triangular: the matrix has no inverse"),
    (lambda x: wf.linalg.inv(wf.stack([wf.eye(2, dtype="float64"), x])), "inv: matrix 1 of the batch has no inverse"),
    (lambda x: wf.linalg.matrix_power(x, -1), "matrix_power: the matrix has no inverse"),
]


@pytest.mark.parametrize(("function", "words"), REFUSED)
def test_what_a_matrix_has_not_is_a_linalg_error(function, words):
    assert issubclass(wf.LinAlgError, ValueError) and wf.linalg.LinAlgError is wf.LinAlgError
    x = wf.tensor(SINGULAR)
    with pytest.raises(wf.LinAlgError, match=rf"linalg\.{words}"):
        function(x)
    words = words.partition(": ")[2]
    for call in (wf.function(function), wf.function(lambda x: function(x) + 1)):
        for _ in range(2):
            with pytest.raises(wf.LinAlgError, match=words):
                call(x)

    @wf.function(input_signature=[wf.TensorSpec([None, 2], "float64"), wf.TensorSpec([], "bool")])
    def under_a_condition(x, wanted):
        return wf.cond(wanted, lambda: wf.sum(function(x)), lambda: wf.sum(x))

    assert float(under_a_condition(x, False)) == 9
    with pytest.raises(wf.LinAlgError, match=words):
        under_a_condition(x, True)


def test_matrices_without_inverse_have_a_determinant():
    assert float(wf.linalg.det(SINGULAR)) == pytest.approx(0, abs=1e-15)
    sign, logarithm = wf.linalg.slogdet(np.zeros((3, 2, 2)))
    assert sign.numpy().tolist() == [0, 0, 0] and np.isneginf(logarithm.numpy()).all()


def test_no_elements():
    none = np.zeros((0, 0))
    assert float(wf.linalg.det(none)) == 1 and [float(x) for x in wf.linalg.slogdet(none)] == [1, 0]
    assert wf.linalg.inv(none).shape == (0, 0) and wf.linalg.cholesky(none).shape == (0, 0)
    assert wf.linalg.solve(none, np.zeros((0, 2))).shape == (0, 2)
    assert wf.linalg.inv(np.zeros((0, 3, 3))).shape == (0, 3, 3)
    assert wf.linalg.det(np.zeros((2, 0, 0))).numpy().tolist() == [1, 1]
    for shape in ((0, 3), (3, 0), (2, 0, 0)):
        for mode in ("reduced", "complete"):
            q, r = wf.linalg.qr(np.zeros(shape), mode=mode)
            expected = np.linalg.qr(np.zeros(shape), mode)
            assert (q.shape, r.shape) == (expected[0].shape, expected[1].shape)
    near(wf.linalg.qr(np.zeros((3, 0)), mode="complete").Q, np.eye(3))
    lu, pivots = wf.linalg.lu_factor(np.zeros((3, 0)))
    assert lu.shape == (3, 0) and pivots.shape == (0,)


def test_not_a_number_stays_one():
    a = np.eye(3)
    a[1, 1] = np.nan
    for function in (wf.linalg.inv, wf.linalg.det, wf.linalg.cholesky, lambda x: wf.linalg.qr(x).R):
        assert np.isnan(function(a).numpy()).any()


def test_views_give_the_same_bits():
    a = wf.tensor(regular(20, 20))
    turned = wf.transpose(wf.tensor(a.numpy().T.copy()))
    for function in (wf.linalg.inv, lambda x: wf.linalg.qr(x).Q, lambda x: wf.linalg.lu_factor(x).lu, lambda x: wf.linalg.solve(x, x[:, 0])):
        assert (function(a).numpy() == function(turned).numpy()).all()


def test_large_and_small_numbers():
    a = regular(5, 3)
    for scale in (1e200, 1e-200):
        q, r = wf.linalg.qr(a * scale)
        near(q, np.linalg.qr(a)[0], 10)
        near(r / scale, np.linalg.qr(a)[1], 10)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: wf.linalg.solve(np.ones((2, 3)), np.ones(2)), wf.ShapeError, "solve: a has the shape .2, 3.: a square matrix"),
        (lambda: wf.linalg.solve(np.eye(2), np.ones(3)), wf.ShapeError, "solve: a has the shape .2, 2., so b has 2 rows"),
        (lambda: wf.linalg.solve(np.eye(2), 1.0), wf.ShapeError, "solve: b is a scalar"),
        (lambda: wf.linalg.solve(np.ones((2, 2, 2)), np.ones((3, 2, 1))), wf.ShapeError, "solve: the batches do not broadcast"),
        (lambda: wf.linalg.inv(np.ones(3)), wf.ShapeError, "inv: x has the shape .3,.: a matrix"),
        (lambda: wf.linalg.qr(np.eye(2), mode="r"), wf.ValueError, "mode is 'r'"),
        (lambda: wf.linalg.solve_triangular(np.eye(2), np.ones(2), trans=3), wf.ValueError, "trans is 3"),
        (lambda: wf.linalg.outer(np.eye(2), np.ones(2)), wf.ShapeError, "outer: a has the shape"),
        (lambda: wf.linalg.vecdot(np.ones(2), np.ones(3)), wf.ShapeError, "vecdot: axis -1 has size 2 in a and 3 in b"),
        (lambda: wf.linalg.matrix_power(np.eye(2), 1.5), TypeError, "matrix_power"),
        (lambda: wf.grad(lambda x: wf.sum(wf.linalg.qr(x, mode="complete").Q))(wf.ones((3, 2))), wf.StateError, "square matrices alone"),
        (lambda: wf.grad(lambda x: wf.sum(wf.linalg.lu_factor(x).lu))(wf.ones((3, 2))), wf.StateError, "square matrices"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()


def test_matrices_of_no_rows_may_have_any_width():
    x = wf.zeros((2, 0, 2**61))
    for f in wf.linalg.qr, wf.function(lambda x: wf.linalg.qr(x)):
        q, r = f(x)
        assert q.shape == (2, 0, 0) and r.shape == (2, 0, 2**61)


# Solves by factors, condition numbers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 33])
def test_solves_by_the_factors_of_lu(n, dtype):
    rng = np.random.default_rng(n)
    a = (rng.normal(size=(2, n, n)) + (1j * rng.normal(size=(2, n, n)) if "complex" in dtype else 0)).astype(dtype)
    b = rng.normal(size=(n, 3)).astype(dtype)
    eps = np.finfo(dtype).eps
    for trans, matrix in ((0, a), (1, np.swapaxes(a, 1, 2)), (2, np.conj(np.swapaxes(a, 1, 2)))):

        def solve(a, b, trans=trans):
            return wf.linalg.lu_solve(wf.linalg.lu_factor(a), b, trans)

        for call in (solve, wf.function(solve), lambda a, b, solve=solve: wf.vmap(solve, (0, None))(a, b)):
            x = call(wf.tensor(a), wf.tensor(b)).numpy()
            scale = np.abs(matrix).sum((-1, -2)).max() * np.abs(x).max() + np.abs(b).max()
            assert x.shape == (2, n, 3) and np.abs(matrix @ x - b).max() <= 20 * n * eps * scale
        vector = wf.linalg.lu_solve(wf.linalg.lu_factor(a[0]), b[:, 0], trans=trans).numpy()
        np.testing.assert_allclose(vector, x[0, :, 0], rtol=0, atol=1e4 * eps * np.abs(x).max())


def test_slopes_of_solves_by_factors_are_those_of_solves():
    rng = np.random.default_rng(3)
    a, b = wf.tensor(rng.normal(size=(4, 4))), wf.tensor(rng.normal(size=4))
    for trans in (0, 1):
        by_factors = lambda a, b, trans=trans: wf.sum(wf.linalg.lu_solve(wf.linalg.lu_factor(a), b, trans) ** 2)  # noqa: E731
        directly = lambda a, b, trans=trans: wf.sum(wf.linalg.solve(wf.matrix_transpose(a) if trans else a, b) ** 2)  # noqa: E731
        for one, other in zip(wf.grad(by_factors, (0, 1))(a, b), wf.grad(directly, (0, 1))(a, b), strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-8)
        hessian = wf.hessian(lambda b: by_factors(a, b))(b)  # noqa: B023
        np.testing.assert_allclose(hessian.numpy(), wf.hessian(lambda b: directly(a, b))(b).numpy(), rtol=1e-8)  # noqa: B023


def test_lu_solve_of_matrices_of_other_sizes():
    solve = wf.function(lambda a, b: wf.linalg.lu_solve(wf.linalg.lu_factor(a), b))
    for n in (2, 3, 4, 3):
        a, b = 2 * np.eye(n) + np.arange(n), np.arange(1.0, n + 1)
        np.testing.assert_allclose(solve(wf.tensor(a), wf.tensor(b)).numpy(), np.linalg.solve(a, b), rtol=1e-12)


def test_what_lu_solve_refuses():
    factors, pivots = wf.linalg.lu_factor(np.eye(3))
    refused = [
        (lambda: wf.linalg.lu_solve(factors, np.ones(3)), TypeError, "linalg.lu_solve: lu_and_piv is of type .*Tensor: a pair is wanted"),
        (lambda: wf.linalg.lu_solve((factors,), np.ones(3)), TypeError, "linalg.lu_solve: lu_and_piv has 1 entries: a pair is wanted"),
        (lambda: wf.linalg.lu_solve((factors, pivots), np.ones(4)), wf.ShapeError, "linalg.lu_solve: .* 3 rows"),
        (lambda: wf.linalg.lu_solve((factors, pivots[:2]), np.ones(3)), wf.ShapeError, r"linalg.lu_solve: .* pivots have \(3,\)"),
        (lambda: wf.linalg.lu_solve((factors, pivots), np.ones(3), 3), wf.ValueError, "linalg.lu_solve: trans is 3"),
        (lambda: wf.linalg.lu_solve((factors, factors), np.ones(3)), wf.DTypeError, "linalg.lu_solve: pivots must be an integer"),
        (lambda: wf.linalg.lu_solve((factors, [0, 1, 3]), np.ones(3)), wf.OutOfRangeError, "linalg.lu_solve: pivot 3 is out of range"),
        (lambda: wf.linalg.lu_solve((factors, [-1, 1, 2]), np.ones(3)), wf.OutOfRangeError, "linalg.lu_solve: pivot -1 is out of range"),
        (lambda: wf.linalg.lu_solve((factors, [3, 1, 2]), np.ones(3), 1), wf.OutOfRangeError, "linalg.lu_solve: pivot 3 is out of range"),
        (lambda: wf.linalg.lu_solve((factors * 0, pivots), np.ones(3)), wf.LinAlgError, "linalg.lu_solve: the matrix has no inverse"),
    ]
    for call, kind, words in refused:
        for every in (call, wf.function(call)):
            with pytest.raises(kind, match=words):
                every()


def test_condition_numbers():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(3, 5, 5))
    for p in (None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"):
        for call in (wf.linalg.cond, wf.function(lambda x, p: wf.linalg.cond(x, p))):
            np.testing.assert_allclose(call(wf.tensor(x), p).numpy(), np.linalg.cond(x, p), rtol=1e-8)
    np.testing.assert_allclose(wf.linalg.cond(x[:, :3]).numpy(), np.linalg.cond(x[:, :3]), rtol=1e-8)
    np.testing.assert_allclose(wf.linalg.cond(x + 1j * x[::-1], p=1).numpy(), np.linalg.cond(x + 1j * x[::-1], 1), rtol=1e-8)
    some = wf.stack([wf.eye(2, dtype="float64"), wf.zeros((2, 2), "float64"), wf.tensor(SINGULAR), wf.tensor(np.full((2, 2), np.nan))])
    for p in (None, 1, "fro", -2):
        found = wf.linalg.cond(some, p).numpy()
        assert found[1] == np.inf and np.isnan(found[3]) and (found[2] == np.inf or found[2] > 1e15 or p == -2)
    for bad, p, kind in ((np.zeros((0, 0)), None, wf.ShapeError), (np.zeros((2, 3)), 1, wf.ShapeError), (np.eye(2), 3, wf.ValueError), (np.eye(2), "x", wf.ValueError)):
        with pytest.raises(kind, match="linalg.cond: "):
            wf.linalg.cond(bad, p)
    weights = rng.normal(size=3)

    def total(x):
        return wf.sum(wf.linalg.cond(x, 1) * weights)

    direction, step = rng.normal(size=x.shape), 1e-6
    slope = (float(total(wf.tensor(x + step * direction))) - float(total(wf.tensor(x - step * direction)))) / (2 * step)
    assert float(np.sum(wf.grad(total)(wf.tensor(x)).numpy() * direction)) == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 7, 8, 16, 17])
def test_small_solves_have_the_bits_of_recorded_ones(n, dtype):
    """What nobody records is factored on the way, and keeps no triangles."""
    rng = np.random.default_rng(n)
    for batch in ((1,), (5,), (16,), (2, 17), (0,)):
        draw = lambda *shape: (rng.normal(size=shape) + (1j * rng.normal(size=shape) if "complex" in dtype else 0)).astype(dtype)  # noqa: E731, B023
        a = draw(*batch, n, n)
        for b in (draw(*batch, n, 1), draw(*batch, n, 3), draw(*batch, 3, n).swapaxes(-1, -2)):
            x, y = wf.tensor(a), wf.tensor(b)
            with wf.GradientTape() as tape:
                tape.watch(x)
                recorded = wf.linalg.solve(x, y)
            np.testing.assert_array_equal(wf.linalg.solve(x, y), recorded)
            np.testing.assert_array_equal(wf.linalg.solve(wf.tensor(a.swapaxes(-1, -2)).mT, y), recorded)
            np.testing.assert_allclose(recorded, np.linalg.solve(a, b), rtol=2e-3 if dtype in ("float32", "complex64") else 1e-8, atol=1e-5)
        np.testing.assert_array_equal(wf.linalg.inv(x), wf.function(wf.linalg.inv)(x))


def test_a_small_matrix_that_is_singular_is_named():
    a = np.tile(np.eye(3), (40, 1, 1))
    a[37, 1, 1] = 0
    for call in (wf.linalg.solve, wf.function(wf.linalg.solve)):
        with pytest.raises(wf.LinAlgError, match="linalg.solve: matrix 37 of the batch has no inverse"):
            call(wf.tensor(a), wf.ones([40, 3, 1], dtype="float64"))
