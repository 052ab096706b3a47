"""Pseudo-inverses, least squares, norms, exponentials and determinants: against NumPy and identities, derivatives against differences,
matrices without inverse, members of vmap that take no part, and a system without LAPACK."""

import os
import subprocess
import sys

import numpy as np
import pytest

import weft as wf

rng = np.random.default_rng(17)


def near(got, expected, scale=1.0):
    got, expected = np.asarray(got), np.asarray(expected)
    eps = np.finfo(got.dtype).eps
    assert got.shape == expected.shape
    assert np.abs(got - expected).max(initial=0) <= 200 * scale * eps * max(1, np.abs(expected).max(initial=0))


def weighted(y):
    return wf.sum(wf.cos(wf.reshape(wf.arange(float(y.size), dtype="float64"), y.shape)) * y)


def check_slopes(loss, x, step=1e-6, tolerance=2e-6):
    """Gradients eager, compiled, forward and mapped over, against differences."""
    gradient = wf.grad(loss)(wf.tensor(x)).numpy()
    scale = max(1, np.abs(gradient).max())
    for at in np.ndindex(x.shape):
        moved = [x.copy(), x.copy()]
        moved[0][at] += step
        moved[1][at] -= step
        difference = (float(loss(wf.tensor(moved[0]))) - float(loss(wf.tensor(moved[1])))) / (2 * step)
        assert abs(gradient[at] - difference) <= tolerance * scale, (at, gradient[at], difference)
    near(wf.function(wf.grad(loss))(wf.tensor(x)), gradient, 100)
    near(wf.vmap(wf.grad(loss))(wf.tensor(np.stack([x, x])))[1], gradient, 100)
    direction = rng.uniform(-1, 1, x.shape)
    for jvp in (lambda x: wf.jvp(loss, (x,), (wf.tensor(direction),))[1], wf.function(lambda x: wf.jvp(loss, (x,), (wf.tensor(direction),))[1])):
        assert float(jvp(wf.tensor(x))) == pytest.approx((gradient * direction).sum(), rel=1e-9, abs=1e-9)


def slope_along(loss, x):
    """The gradient in a fixed direction, to be differentiated again."""
    return weighted(wf.grad(loss)(x))


# Pseudo-inverses and least squares


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 3), (5, 2), (2, 5), (4, 3, 6), (30, 20), (20, 30), (0, 3), (3, 0), (0, 0), (0, 3, 2), (2, 0, 3)])
def test_pseudo_inverses(shape, dtype):
    x = rng.uniform(-1, 1, shape).astype(dtype)
    expected = np.linalg.pinv(x, rtol=None)
    for pinv in (wf.linalg.pinv, wf.function(wf.linalg.pinv)):
        near(pinv(x), expected, 20 * max(1, np.abs(expected).max(initial=0)))
    near(wf.vmap(wf.linalg.pinv)(wf.stack([x, x]))[1], wf.linalg.pinv(x))


def test_pseudo_inverses_without_full_rank():
    x = rng.uniform(-1, 1, (6, 2)) @ rng.uniform(-1, 1, (2, 4))
    near(wf.linalg.pinv(x), np.linalg.pinv(x, rtol=None), 100)
    near(wf.linalg.pinv(np.zeros((3, 2))), np.zeros((2, 3)))
    d = np.diag([4.0, 1.0, 1e-3])
    near(wf.linalg.pinv(d, rtol=1e-2), np.diag([0.25, 1.0, 0.0]))
    assert np.isnan(wf.linalg.pinv(np.array([[1.0, np.nan], [0.0, 1.0]])).numpy()).all()


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_small_singular_values_by_matrix(dtype):
    x = np.stack([np.diag([4.0, 1.0, 1e-3])] * 2).astype(dtype)
    for rtol in (1e-2, np.array(1e-2), np.array([1e-2]), np.array([1e-2, 1e-5])):
        for over in (lambda f: f, wf.function):
            rank, pinv = (over(lambda x, rtol, f=f: f(x, rtol=rtol)) for f in (wf.linalg.matrix_rank, wf.linalg.pinv))
            given = rtol if isinstance(rtol, float) else wf.tensor(rtol.astype(np.finfo(dtype).dtype))
            assert (rank(wf.tensor(x), given).numpy() == np.linalg.matrix_rank(x, rtol=rtol)).all()
            near(pinv(wf.tensor(x), given), np.linalg.pinv(x, rtol=rtol))
    for shape in ((1, 1), (2, 1, 1), (0, 1, 1)):
        assert (wf.linalg.matrix_rank(np.zeros(shape, dtype), rtol=0.0).numpy() == 0).all()
        near(wf.linalg.pinv(np.ones(shape, dtype), rtol=0.5), np.ones(shape, dtype))
    with pytest.raises(wf.ShapeError, match=r"pinv: rtol has the shape \(3,\), and x, of \(2, 3, 3\), the batches \(2,\)"):
        wf.linalg.pinv(x, rtol=[1.0, 2.0, 3.0])


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_slopes_of_pseudo_inverses(shape):
    x = rng.uniform(-1, 1, shape) + np.eye(*shape)
    check_slopes(lambda x: weighted(wf.linalg.pinv(x)), x)
    check_slopes(lambda x: slope_along(lambda x: wf.sum(wf.linalg.pinv(x) ** 2), x), x, tolerance=1e-5)


def test_equal_singular_values_have_pseudo_inverses_with_slopes():
    check_slopes(lambda x: weighted(wf.linalg.pinv(x)), 2 * np.eye(3))
    check_slopes(lambda x: weighted(wf.linalg.pinv(x)), np.eye(4, 2))


def test_slopes_of_pseudo_inverses_of_one_rank():
    """Of products of narrow matrices, which keep the rank."""
    right = rng.uniform(-1, 1, (2, 4))
    check_slopes(lambda left: weighted(wf.linalg.pinv(left @ right, rtol=1e-9)), rng.uniform(-1, 1, (5, 2)), tolerance=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shapes", [((5, 3), (5, 2)), ((5, 3), (5,)), ((3, 3), (3, 1)), ((2, 4), (2, 3)), ((2, 4), (2,)), ((25, 18), (25, 2)), ((3, 0), (3, 2)), ((0, 3), (0, 2))])
def test_least_squares(shapes, dtype):
    a, b = (rng.uniform(-1, 1, shape).astype(dtype) for shape in shapes)
    expected = np.linalg.lstsq(a, b)
    for lstsq in (wf.linalg.lstsq, wf.function(wf.linalg.lstsq)):
        found = lstsq(a, b)
        assert found._fields == ("x", "residuals", "rank", "s")
        for one, other in zip((found.x, found.residuals, found.s), (expected[0], expected[1], expected[3]), strict=True):
            near(one, other, 50)
        assert int(found.rank) == expected[2] and found.rank.dtype == wf.int64


def test_least_squares_without_full_rank():
    a = rng.uniform(-1, 1, (6, 2)) @ rng.uniform(-1, 1, (2, 4))
    b = rng.uniform(-1, 1, (6, 3))
    found, expected = wf.linalg.lstsq(a, b), np.linalg.lstsq(a, b)
    near(found.x, expected[0], 100)
    assert int(found.rank) == expected[2] == 2
    # No size depends on a value: there are residuals here, where NumPy has none.
    assert expected[1].shape == (0,)
    near(found.residuals, ((b - a @ expected[0]) ** 2).sum(0), 100)
    assert int(wf.linalg.lstsq(np.diag([1.0, 1e-4]), np.ones(2), 1e-3).rank) == 1
    assert int(wf.linalg.lstsq(np.diag([1.0, 1e-4]), np.ones(2), rcond=-1).rank) == 2


def test_least_squares_of_batches():
    a, b = rng.uniform(-1, 1, (2, 1, 4, 2)), rng.uniform(-1, 1, (3, 4, 2))
    found = wf.linalg.lstsq(a, b)
    assert found.x.shape == (2, 3, 2, 2) and found.residuals.shape == (2, 3, 2) and found.rank.shape == (2, 1)
    for i, j in np.ndindex(2, 3):
        expected = np.linalg.lstsq(a[i, 0], b[j])
        near(found.x[i, j], expected[0], 50)
        near(found.residuals[i, j], expected[1], 50)
    mapped = wf.vmap(wf.linalg.lstsq)(a[:, 0], b[:2])
    near(mapped.x[1], found.x[1, 1], 10)


@pytest.mark.parametrize("shape", [(4, 2), (3, 3), (2, 4)])
def test_slopes_of_least_squares(shape):
    a, b = rng.uniform(-1, 1, shape) + np.eye(*shape), rng.uniform(-1, 1, (shape[0], 2))

    def loss(a, b):
        found = wf.linalg.lstsq(a, b)
        return weighted(found.x) + wf.sum(found.residuals**2) + weighted(found.s)

    check_slopes(lambda a: loss(a, wf.tensor(b)), a)
    check_slopes(lambda b: loss(wf.tensor(a), b), b)


# Norms


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_norms_of_matrices(ord):
    for shape in [(4, 3), (3, 4), (2, 3, 3), (2, 3, 20, 18)]:
        x = rng.uniform(-1, 1, shape)
        for keepdims in (False, True):
            expected = np.linalg.norm(x, ord, (-2, -1), keepdims)
            options = {} if ord is None else {"ord": ord}
            for norm in (wf.linalg.matrix_norm, wf.function(wf.linalg.matrix_norm)):
                near(norm(x, keepdims=keepdims, **options), expected, 10)
            near(wf.linalg.norm(x, ord, (-1, -2), keepdims=keepdims), np.linalg.norm(x, ord, (-1, -2), keepdims), 10)
    if ord is not None:
        check_slopes(lambda x: weighted(wf.linalg.matrix_norm(x, ord=ord)), rng.uniform(-1, 1, (2, 3, 2)))


@pytest.mark.parametrize("ord", [None, 0, 1, 2, 3, 0.5, -1, -2.5, np.inf, -np.inf])
def test_norms_of_vectors(ord):
    x = rng.uniform(-1, 1, (2, 3, 4))
    options = {} if ord is None else {"ord": ord}
    for axis in (None, 1, (0, 2)):
        near(wf.linalg.vector_norm(x, axis=axis, **options), np.linalg.vector_norm(x, axis=axis, **options), 10)
    near(wf.linalg.norm(x[0, 0], ord), np.linalg.norm(x[0, 0], ord))
    if ord != 0:
        check_slopes(lambda x: weighted(wf.linalg.vector_norm(x, axis=1, **options)), x)
    with np.errstate(divide="ignore"):
        expected = np.linalg.norm(np.zeros(3), ord)
    assert float(wf.linalg.norm(np.zeros(3), ord)) == expected


def test_norms_of_nothing_have_no_slope():
    zeros = wf.zeros((3, 2), dtype="float64")
    for ord in ("fro", "nuc", 2, -2):
        assert not wf.grad(lambda x, ord=ord: wf.linalg.matrix_norm(x, ord=ord))(zeros).numpy().any(), ord
    for ord in (1, 2, 3):
        assert not wf.grad(lambda x, ord=ord: wf.linalg.vector_norm(x, ord=ord))(zeros).numpy().any(), ord
    assert float(wf.linalg.matrix_norm(np.zeros((0, 3)), ord="nuc")) == 0
    with pytest.raises(wf.ShapeError, match="norm"):
        wf.linalg.matrix_norm(np.zeros((0, 3)), ord=2)
    with pytest.raises(wf.ValueError, match="ord of matrices is 'none'"):
        wf.linalg.matrix_norm(np.eye(2), ord="none")


# Exponentials


def by_eigenvalues(x):
    values, vectors = np.linalg.eigh(x)
    return (vectors * np.exp(values)[..., None, :]) @ np.swapaxes(vectors, -1, -2)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1e-3, 0.2, 0.9, 2, 5, 30])
def test_exponentials_of_all_degrees(size, dtype):
    x = rng.uniform(-1, 1, (3, 4, 4))
    x = x + np.swapaxes(x, -1, -2)
    x = (x * (size / np.abs(x).sum(-2).max())).astype(dtype)
    expected = by_eigenvalues(x.astype(np.float64))
    for expm in (wf.linalg.expm, wf.function(wf.linalg.expm)):
        near(expm(x), expected, 5 * max(1, size))
    near(wf.linalg.expm(x)[1], wf.linalg.expm(x[1]), 0)
    near(wf.vmap(wf.linalg.expm)(x), wf.linalg.expm(x), 0)


def test_exponentials_that_are_known():
    near(wf.linalg.expm(np.array([[0.0, -2.0], [2.0, 0.0]])), [[np.cos(2), -np.sin(2)], [np.sin(2), np.cos(2)]])
    nilpotent = np.diag([1.0, 2.0, 3.0], 1)
    near(wf.linalg.expm(nilpotent), np.eye(4) + nilpotent + nilpotent @ nilpotent / 2 + nilpotent @ nilpotent @ nilpotent / 6)
    near(wf.linalg.expm(np.zeros((3, 3))), np.eye(3), 0)
    near(wf.linalg.expm(np.full((1, 1), -700.0)), np.exp([[-700.0]]))
    large = rng.uniform(-1, 1, (100, 100))
    near(wf.linalg.expm(large) @ wf.linalg.expm(-large), np.eye(100), 1e5)
    for shape in ((0, 0), (0, 3, 3), (2, 0, 0)):
        assert wf.linalg.expm(np.zeros(shape)).shape == shape
    assert np.isnan(wf.linalg.expm(np.array([[np.inf, 0.0], [0.0, 1.0]])).numpy()).all()
    with pytest.raises(wf.ShapeError, match="expm: x has the shape .2, 3.: a square matrix"):
        wf.linalg.expm(np.ones((2, 3)))


def far_from_normal(a, b, c):
    """A triangle and its exponential."""
    slope = (np.exp(a) - np.exp(b)) / (a - b) if a != b else np.exp(a)
    return np.array([[a, c], [0.0, b]]), np.array([[np.exp(a), c * slope], [0.0, np.exp(b)]])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_exponentials_far_from_normal(dtype):
    """Each element has its digits where the norm says nothing of how many squarings there are to be: it is that of powers which counts."""
    pairs = [far_from_normal(1.0, -1.0, c) for c in (1e4, 1e8, 1e18, 1e30, 1e38)]
    pairs += [far_from_normal(-1e5, 3.0, 1e38), far_from_normal(-30.0, -30.0, 1e12), far_from_normal(-25.0, -25.5, 1e6), far_from_normal(2.5, 40.0, 1e-30)]
    for c in (1e-30, 1e-8, 1e8, 1e30):
        x = np.array([[1.0, c], [1 / c, -1.0]])  # the square of it is 2
        pairs.append((x, np.cosh(2**0.5) * np.eye(2) + np.sinh(2**0.5) / 2**0.5 * x))
    pairs += [(x.T, y.T) for x, y in pairs]
    x, expected = (np.stack(of).astype(dtype) for of in zip(*pairs, strict=True))
    for expm in (wf.linalg.expm, wf.function(wf.linalg.expm), wf.vmap(wf.linalg.expm)):
        np.testing.assert_allclose(expm(wf.tensor(x)).numpy(), expected, rtol=40 * np.finfo(dtype).eps)
    # The square of it is 0, and the rows are not in the order of a triangle.
    third = np.array([[0.0, 0.0, 0.0], [3e9, 0.0, -5e9], [0.0, 0.0, 0.0]], dtype)
    near(wf.linalg.expm(third), np.eye(3) + third, 0.02)


def test_exponentials_of_powers_that_overflow():
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    x = wf.tensor(np.float32(1e30) * np.float32([[-1.0, 0.5], [0.25, -2.0]]))
    assert not wf.linalg.expm(x).numpy().any()
    assert not wf.linalg.expm(np.array([[-1.7e308, 1.7e308], [1e308, -1.75e308]])).numpy().any()
    near(wf.linalg.expm(turn * 2.0**40), np.cos(2.0**40) * np.eye(2) + np.sin(2.0**40) * turn, 2.0**36)


@pytest.mark.parametrize("size", [0.1, 3.0])
def test_slopes_of_exponentials(size):
    x = rng.uniform(-size, size, (3, 3))
    check_slopes(lambda x: weighted(wf.linalg.expm(x)), x)
    check_slopes(lambda x: slope_along(lambda x: wf.sum(wf.sin(wf.linalg.expm(x))), x), x, tolerance=1e-5)
    # Nor does what is far from normal: of the trace the slope is the exponential, transposed.
    triangle, exponential = far_from_normal(1.0, -1.0, 1e8)
    slope = wf.grad(lambda x: wf.linalg.trace(wf.linalg.expm(x)))(wf.tensor(triangle)).numpy()
    np.testing.assert_allclose(slope, exponential.T, rtol=1e-6, atol=1e-20)
    # A large cotangent costs no digits.
    small = wf.grad(lambda x: weighted(wf.linalg.expm(x)))(wf.tensor(x)).numpy()
    large = wf.grad(lambda x: weighted(wf.linalg.expm(x)) * 1e12)(wf.tensor(x)).numpy()
    near(large / 1e12, small)


# Determinants


def cofactors(x):
    result = np.empty(x.shape)
    for i, j in np.ndindex(x.shape):
        result[i, j] = (-1) ** (i + j) * np.linalg.det(np.delete(np.delete(x, i, 0), j, 1))
    return result


def of_rank(n, rank):
    return rng.integers(-3, 4, (n, rank)) @ rng.integers(-3, 4, (rank, n)) / 8


SINGULAR = {
    "zeros": np.zeros((3, 3)),
    "one zero": np.zeros((1, 1)),
    "a row of zeros": np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [4.0, 5.0, 7.0]]),
    "a zero pivot": np.array([[0.0, 1.0, 2.0], [0.0, 3.0, 4.0], [0.0, 5.0, 7.0]]),
    "rank 4 of 5": of_rank(5, 4),
    "rank 3 of 5": of_rank(5, 3),
    "by rounding": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]) / 10,
    "rank 11 of 12": of_rank(12, 11) / 2,
    "regular": rng.uniform(-1, 1, (4, 4)),
}


@pytest.mark.parametrize("name", SINGULAR)
def test_slopes_of_determinants(name):
    x = SINGULAR[name]
    scale = max(1, np.abs(cofactors(x)).max())
    near(wf.grad(wf.linalg.det)(wf.tensor(x)) / scale, cofactors(x) / scale, 50)
    check_slopes(wf.linalg.det, x, step=1e-5, tolerance=1e-5)
    check_slopes(lambda x: slope_along(wf.linalg.det, x), x, step=1e-5, tolerance=1e-5)


def test_slopes_of_determinants_of_batches():
    x = np.stack([SINGULAR["by rounding"], SINGULAR["zeros"], SINGULAR["a zero pivot"], rng.uniform(-1, 1, (3, 3))])
    gradient = wf.grad(lambda x: wf.sum(wf.linalg.det(x)))
    for found in (gradient(wf.tensor(x)), wf.function(gradient)(wf.tensor(x)), wf.vmap(wf.grad(wf.linalg.det))(wf.tensor(x))):
        near(found, np.stack([cofactors(one) for one in x]), 10)
    many = rng.uniform(-1, 1, (40, 20, 20))
    near(wf.linalg.det(many), np.linalg.det(many), 50)


def test_third_slopes_of_determinants():
    def second(x):
        return slope_along(lambda x: slope_along(wf.linalg.det, x), x)

    check_slopes(second, rng.uniform(-1, 1, (4, 4)) + np.eye(4), tolerance=1e-5)
    with pytest.raises(wf.LinAlgError, match="no inverse"):
        wf.grad(second)(wf.zeros((3, 3), dtype="float64"))


def test_cofactors_where_the_determinant_vanishes_in_rounding():
    for scale in (1e-30, 1e30):
        x = np.diag([scale, scale]).astype(np.float32)
        near(wf.grad(wf.linalg.det)(wf.tensor(x)).numpy() / np.float32(scale), np.eye(2, dtype=np.float32))


def test_logarithms_of_determinants_have_no_slope_without_an_inverse():
    x = wf.tensor(SINGULAR["a row of zeros"])
    gradient = wf.grad(lambda x: wf.linalg.slogdet(x).logabsdet)
    for run in (gradient, wf.function(gradient)):
        with pytest.raises(wf.LinAlgError, match="has no inverse"):
            run(x)


# Members of vmap that take no part


def guarded(f, otherwise):
    return lambda x: wf.cond(wf.linalg.det(x) > 0.5, lambda: f(x), lambda: otherwise(x))


@pytest.mark.parametrize(
    "function",
    [wf.linalg.inv, wf.linalg.cholesky, lambda x: wf.linalg.solve(x, x + 1.0), lambda x: wf.linalg.solve_triangular(x, x), lambda x: wf.linalg.matrix_power(x, -2)],
)
def test_errors_are_of_those_who_take_part(function):
    members = np.stack([2 * np.eye(2), np.zeros((2, 2)), np.array([[3.0, 1.0], [1.0, 2.0]]), np.diag([0.0, 1.0])])
    f = guarded(function, lambda x: x * 5.0)
    x = wf.tensor(members)
    expected = np.stack([f(one).numpy() for one in x])
    slopes = np.stack([wf.grad(lambda one: wf.sum(f(one) ** 2))(one).numpy() for one in x])
    for run in (lambda f: f, wf.function):
        near(run(wf.vmap(f))(x), expected, 5)
        near(run(wf.vmap(wf.grad(lambda one: wf.sum(f(one) ** 2))))(x), slopes, 50)
        near(run(wf.vmap(f))(x[1:2]), expected[1:2])  # nobody takes part
        with pytest.raises(wf.LinAlgError):
            run(wf.vmap(lambda one: wf.cond(one[0, 0] >= 0.0, lambda: function(one), lambda: one)))(x)


def test_errors_in_loops_are_of_those_who_go_on():
    """Each member inverts until it is near the identity, or has no inverse."""

    def halved(x):
        return wf.while_loop(lambda a, n: (wf.linalg.det(a) > 0.1) & (n < 3), lambda a, n: (wf.linalg.inv(a) - 0.5 * wf.eye(2, dtype="float64"), n + 1), [x, 0])[0]

    x = wf.tensor(np.stack([2 * np.eye(2), np.eye(2), np.zeros((2, 2)), 1.5 * np.eye(2)]))
    expected = np.stack([halved(one).numpy() for one in x])
    for run in (lambda f: f, wf.function):
        near(run(wf.vmap(halved))(x), expected, 5)


# A system without LAPACK


def test_without_lapack():
    program = """
import numpy as np, weft as wf
small, large = np.eye(16), np.eye(17)
assert wf.linalg.svdvals(small).shape == (16,) and wf.linalg.eigvalsh(small).shape == (16,)
assert wf.linalg.svdvals(np.ones((100, 3))).shape == (3,)
assert wf.linalg.svdvals(np.zeros((0, 17, 17))).shape == (0, 17)
for f in (wf.linalg.svdvals, wf.linalg.eigh, wf.linalg.eig, wf.linalg.pinv, lambda x: wf.linalg.norm(x, 2)):
    for run in (f, wf.function(f)):
        try:
            run(large)
        except wf.IOError as error:
            words = str(error)
            assert "LAPACK" in words and "/no/lapack.so" in words and "libopenblas0" in words and "WEFT_LAPACK" in words, words
        else:
            raise AssertionError(f)
assert wf.linalg.inv(large).shape == (17, 17) and float(wf.grad(wf.linalg.det)(wf.eye(20))[0, 0]) == 1
"""
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "WEFT_LAPACK": "/no/lapack.so"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: wf.linalg.pinv(np.ones(3)), wf.ShapeError, "pinv: x has the shape .3,.: a matrix"),
        (lambda: wf.linalg.lstsq(np.ones((3, 2)), np.ones(2)), wf.ShapeError, "lstsq: a has the shape .3, 2., so b has 3 rows"),
        (lambda: wf.linalg.lstsq(np.ones((3, 2)), 1.0), wf.ShapeError, "lstsq: b is a scalar"),
        (lambda: wf.linalg.lstsq(np.ones((2, 3, 2)), np.ones((3, 3, 1))), wf.ShapeError, "lstsq: the batches do not broadcast"),
        (lambda: wf.linalg.det(np.ones((2, 3))), wf.ShapeError, "det: x has the shape .2, 3.: a square matrix"),
        (lambda: wf.linalg.eig(np.ones((2, 3))), wf.ShapeError, "eig: x has the shape .2, 3.: a square matrix"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
