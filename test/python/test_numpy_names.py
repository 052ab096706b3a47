"""Functions with NumPy's names against NumPy: eager, compiled, with sizes that a trace does not know, and gradients."""

import functools

import numpy as np
import pytest

import weft as wf

A = np.array([[1.5, -2.0, 0.5], [3.0, 4.0, -1.0]], np.float32)
B = np.array([[0.5, 2.5, -1.5], [-3.0, 1.0, 2.0]], np.float32)
C = np.cos(np.arange(24, dtype=np.float32)).reshape(2, 3, 4)
N = np.array([[3, 1, 2], [9, 7, 8]], np.int32)
M = np.array([[True, False, True], [False, False, True]])
ODD = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -2.5], np.float32)
UNIT = np.array([-1.0, -0.75, -1e-4, 0.0, 1e-3, 0.5, 0.99, 1.0], np.float32)
WIDE = np.array([-1e30, -80.0, -3.0, -1.0, -0.3, -1e-5, 0.0, 1e-4, 0.7, 1.0, 2.5, 80.0, 1e30], np.float32)


def linalg(name):
    """A function of numpy.linalg under the name that it has here."""
    return lambda np_, *args, **kwargs: getattr(np_ if np_ is wf else np_.linalg, name)(*args, **kwargs)


def named(name):
    return lambda np_, *args, **kwargs: getattr(np_, name)(*args, **kwargs)


def case(name, *args, of=named, **kwargs):
    return pytest.param(functools.partial(of(name)), args, kwargs, id=name)


# Of floating tensors; the first argument has a gradient.
SMOOTH = [
    case("clip", A, -1, 2),
    case("clip", A, None, B),
    case("clip", A, max=1.5),
    case("expand_dims", A, 1),
    case("expand_dims", A, (0, -1)),
    case("squeeze", A[:, None]),
    case("squeeze", A[:, None], 1),
    case("swapaxes", C, 0, -1),
    case("moveaxis", C, 0, -1),
    case("moveaxis", C, (0, 1), (-1, 0)),
    case("ravel", C),
    case("atleast_1d", A[0, 0]),
    case("atleast_2d", A[0]),
    case("tile", A, 2),
    case("tile", A, (2, 1, 3)),
    case("tile", A[0], (2, 0)),
    case("repeat", A, 2),
    case("repeat", A, 2, 1),
    case("repeat", A, [1, 3], axis=0),
    case("repeat", A, 0, 0),
    case("roll", A, 2),
    case("roll", A, 1, 1),
    case("roll", A, (1, -1), (0, 1)),
    case("diff", A),
    case("diff", C, 2, 1),
    case("flip", A),
    case("flip", A, 1),
    case("take", A, [4, -1]),
    case("take", A, [[0, 2], [1, -1]], axis=1),
    case("take", A, [7, -8, 2], 0, mode="wrap"),
    case("take", A, [[70, -1], [3, -99]], mode="clip"),
    case("take", A, [2, 3, -1], 1, mode="clip"),
    case("broadcast_to", A, (2, 2, 3)),
    case("std", A),
    case("std", A, 1, ddof=1),
    case("var", C, (0, 2), keepdims=True),
    case("var", A, axis=-1, ddof=1),
    case("max", A, 1),
    case("min", C, (0, 1), keepdims=True),
    case("ptp", A, 0),
    case("median", A),
    case("median", C, 2),
    case("median", A, axis=1, keepdims=True),
    case("norm", A, of=linalg),
    case("norm", A, axis=1, of=linalg),
    case("norm", A, 1, 0, of=linalg),
    case("norm", A, 3, 1, of=linalg),
    case("norm", A, np.inf, 1, of=linalg),
    case("norm", A, -np.inf, 1, keepdims=True, of=linalg),
    case("norm", A, "fro", of=linalg),
    case("norm", A, 1, of=linalg),
    case("norm", A, -1, of=linalg),
    case("norm", C, np.inf, (0, 2), of=linalg),
    case("norm", C, -np.inf, (2, 0), keepdims=True, of=linalg),
    case("norm", A, 2, of=linalg),
    case("norm", A, -2, of=linalg),
    case("norm", A, "nuc", of=linalg),
    case("norm", C, 2, (2, 0), of=linalg),
    case("norm", C, "nuc", (0, -1), keepdims=True, of=linalg),
    case("norm", A, -1.5, 1, of=linalg),
    case("dot", A[0], B[1]),
    case("dot", A, B.T),
    case("dot", A, B[0]),
    case("dot", C, C[0].T),
    case("dot", A, 2.5),
    case("inner", A, B),
    case("inner", C, A[:, :1] * np.ones(4, np.float32)),
    case("outer", A, B[0]),
    case("tensordot", A, B),
    case("tensordot", C, A, ([0, 1], [0, 1])),
    case("tensordot", A, B.T, 1),
    case("tensordot", A, B, 0),
    case("diag", A[0]),
    case("diag", A[0], 1),
    case("diag", A[0], -2),
    case("diag", A, 1),
    case("diagonal", C, -1, 2, 0),
    case("trace", A),
    case("trace", C, 1, 1, 2),
    case("tril", A, -1),
    case("tril", C),
    case("triu", A, 1),
    case("triu", C, -1),
    case("reciprocal", A),
    case("log2", np.abs(A)),
    case("log10", np.abs(A)),
    case("exp2", A),
    case("logaddexp", A, B),
    case("hypot", A, B),
    case("hypot", A, 0.5),
    case("arctan2", A, B),
    case("arctan2", A, -1.0),
    case("tan", A),
    case("cbrt", A),
    case("copysign", A, B),
    case("deg2rad", A),
    case("rad2deg", A),
    case("cross", A, B),
    case("cross", A, B[0]),
    case("cross", A.T, B.T, axis=0),
    case("vdot", A, B),
    case("average", A, 0),
    case("average", C, 1, weights=B[0]),
    case("average", A, weights=np.abs(B)),
    case("quantile", A, 0.3),
    case("quantile", C, [0.0, 0.4, 1.0], 1),
    case("percentile", A, 70, axis=0, keepdims=True),
    case("nansum", A, 0),
    case("nanmean", A, 1),
    case("nanmax", A, 1),
    case("nanmin", C, (0, 2), keepdims=True),
    case("flipud", A),
    case("fliplr", A),
    case("matrix_transpose", C),
    case("sinh", A),
    case("cosh", A),
    case("arctan", A),
    case("arcsinh", A),
    case("arcsin", A / 5),
    case("arccos", A / 5),
    case("arctanh", A / 5),
    case("arccosh", np.abs(A) + 1),
]

# Of other dtypes, at edges, or without a gradient.
OTHERS = [
    case("clip", N, 2, 8),
    case("tile", N, (2, 2)),
    case("repeat", M, 2),
    case("std", N),
    case("var", N, 0),
    case("argmax", A),
    case("argmax", N, 1),
    case("argmax", A, axis=0, keepdims=True),
    case("argmin", A),
    case("argmin", N, -1),
    case("argmin", A, keepdims=True),
    case("argmin", np.array([5, -(2**31), 3], np.int32)),
    case("argmin", ODD),
    case("argmax", ODD),
    case("max", N),
    case("min", N, (0, 1)),
    case("max", M),
    case("min", M, 0),
    case("argmax", M, 1),
    case("argmin", M),
    case("median", N, 1),
    case("median", ODD),
    case("quantile", ODD, 0.5),
    case("quantile", N, [0.1, 0.9], keepdims=True),
    case("percentile", N, 50.0, 1),
    case("nansum", ODD[:3]),
    case("nanmean", ODD[[0, 2, 5]]),
    case("nanmean", N, 0),
    case("nanmax", ODD),
    case("nanmin", ODD),
    case("nanmax", ODD[2:3]),
    case("nanmin", N, 0),
    case("nansum", M, 0),
    case("average", N, 1),
    case("copysign", ODD, ODD[::-1]),
    case("cbrt", WIDE),
    case("around", A / 7, 2),
    case("rint", A),
    case("degrees", A),
    case("radians", A),
    case("identity", 3, "float32"),
    case("ptp", N),
    case("count_nonzero", N - 1),
    case("count_nonzero", M, 0, keepdims=True),
    case("isnan", ODD),
    case("isinf", ODD),
    case("isfinite", ODD),
    case("isnan", N),
    case("isinf", M),
    case("isfinite", N),
    case("nan_to_num", ODD),
    case("nan_to_num", ODD, nan=1.0, posinf=2.0, neginf=3.0),
    case("nan_to_num", ODD.astype(np.float64)),
    case("isclose", ODD, ODD),
    case("isclose", ODD, ODD, equal_nan=True),
    case("isclose", A, A + 1e-6),
    case("isclose", M, M),
    case("allclose", A, A * (1 + 1e-6)),
    case("array_equal", A, B),
    case("array_equal", A, A),
    case("array_equal", A, A[0]),
    case("round", np.array([0.5, 1.5, 2.5, -0.5, -1.5, 2.4, 1e10, np.inf, np.nan], np.float32)),
    case("round", A / 7, 2),
    case("round", A * 77, -1),
    case("round", N * 5, -1),
    case("round", N, 2),
    case("trunc", A * 1.3),
    case("trunc", N),
    case("floor_divide", N, 2),
    case("floor_divide", A, B),
    case("where", M, A, B),
    case("where", M, A, 0),
    case("where", N - 1, N, 7),
    case("where", M[0], 1.0, A),
    case("einsum", "ij,kj->ik", A, B),
    case("searchsorted", np.sort(A[0]), B),
    case("searchsorted", np.array([1, 2, 2, 3], np.int32), np.array([2, 9], np.int32), "right"),
    case("dot", N, N.T),
    case("trace", N),
    case("diag", N[0], 2),
    case("diff", N),
    case("diff", M),
    case("hypot", np.array([3e30, 0.0, np.inf], np.float32), np.array([4e30, 0.0, 1.0], np.float32)),
    case("logaddexp", np.array([1000.0, -np.inf, np.inf], np.float32), np.array([1000.0, -np.inf, 1.0], np.float32)),
    case("arctan", WIDE),
    case("arctan", ODD),
    case("arctan2", *np.meshgrid(ODD, ODD)),
    case("arcsin", UNIT),
    case("arccos", UNIT),
    case("arctanh", UNIT[1:-1]),
    case("arcsinh", WIDE),
    case("arccosh", np.array([1.0, 1.0001, 1.5, 2.0, 80.0, 1e30, 3e38, 0.5, np.inf], np.float32)),
    case("sinh", np.clip(WIDE, -89.3, 89.3)),
    case("cosh", np.clip(WIDE, -89.3, 89.3)),
    case("tan", np.clip(WIDE, -80, 80)),
    case("arctan", N),
    case("negative", A),
    case("absolute", A),
    case("mod", N, 2),
    case("pow", A, 2),
    case("true_divide", N, 2),
    case("permute_dims", C, (2, 0, 1)),
]

LISTS = [
    case("stack", [A, B]),
    case("stack", [A, B], 1),
    case("stack", [A, B], axis=-1),
    case("vstack", [A[0], B]),
    case("hstack", [A, B]),
    case("dstack", [A, B]),
    case("dstack", [C, C]),
    case("column_stack", [A[0], B.T]),
    case("hstack", [A[0], B[1]]),
    case("concat", [A, B], axis=1),
    case("split", A, 3, 1),
    case("split", A, [1, 2], axis=1),
    case("split", N[0], [1, 5]),
    case("array_split", np.arange(7, dtype=np.int32), 3),
    case("array_split", A, [1], 1),
    case("unstack", C, axis=1),
    case("meshgrid", A[0], B[:, 0]),
    case("meshgrid", A[0], B[:, 0], A[1], indexing="ij"),
]


def tensors(x):
    """Arrays within as tensors."""
    if isinstance(x, list | tuple):
        return type(x)(map(tensors, x))
    return wf.tensor(x) if isinstance(x, np.ndarray) else x


def same(got, expected):
    if isinstance(expected, list | tuple):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other)
        return
    expected = np.asarray(expected)
    got = np.asarray(got)
    assert got.shape == expected.shape
    if expected.dtype in (np.float32, np.int32, np.bool_, np.int64):
        assert got.dtype == expected.dtype or (got.dtype, expected.dtype) == (np.int32, np.int64)
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=3e-7 if expected.dtype.kind == "f" else 0)
    if expected.dtype.kind == "f":
        assert (np.signbit(got) == np.signbit(expected))[expected == 0].all()


def expected_of(call, args, kwargs):
    """What NumPy gives; in float32 where NumPy would have float64 of integers."""
    kwargs = dict(kwargs)
    with np.errstate(all="ignore"):
        found = call(np, *args, **kwargs)
    integers = isinstance(args[0], np.ndarray) and args[0].dtype.kind in "ib"
    return found.astype(np.float32) if integers and getattr(found, "dtype", None) == np.float64 else found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "args", "kwargs"), SMOOTH + OTHERS + LISTS)
def test_as_numpy_has_it(call, args, kwargs):
    expected = expected_of(call, args, kwargs)
    same(call(wf, *args, **kwargs), expected)
    given = tensors(args)
    same(call(wf, *given, **kwargs), expected)
    dynamic = [x for x in given if isinstance(x, wf.Tensor)]
    if not dynamic:
        return

    @wf.function
    def compiled(*some):
        rest = iter(some)
        return call(wf, *(next(rest) if isinstance(x, wf.Tensor) else x for x in given), **kwargs)

    same(compiled(*dynamic), expected)


@pytest.mark.parametrize(("call", "args", "kwargs"), SMOOTH)
def test_gradients(call, args, kwargs):
    """In float64 against differences."""
    rest = tuple(x.astype(np.float64) if isinstance(x, np.ndarray) else x for x in args[1:])
    start = np.asarray(args[0], np.float64)
    weights = np.cos(np.arange(np.asarray(call(np, start, *rest, **kwargs)).size)).reshape(-1)

    def loss(x):
        return wf.sum(wf.reshape(call(wf, x, *rest, **kwargs), -1) * weights)

    gradient = wf.grad(loss)(wf.tensor(start)).numpy()
    step = 1e-6
    for at in np.ndindex(start.shape):
        up, down = start.copy(), start.copy()
        up[at] += step
        down[at] -= step
        slope = (float(loss(wf.tensor(up))) - float(loss(wf.tensor(down)))) / (2 * step)
        assert gradient[at] == pytest.approx(slope, rel=1e-5, abs=1e-6), at
    compiled = wf.function(wf.grad(loss))(wf.tensor(start)).numpy()
    np.testing.assert_allclose(compiled, gradient, rtol=1e-10, atol=1e-12)


def test_values_say_how_large_the_result_is():
    same(wf.nonzero(N - 1), np.nonzero(N - 1))
    same(wf.where(M), np.where(M))
    same(wf.tensor(A).nonzero(), A.nonzero())
    same(wf.argwhere(M), np.argwhere(M))
    same(wf.unique([3, 1, 3, 2]), np.array([1, 2, 3], np.int32))
    same(wf.unique(N % 3, True, True, True), np.unique(N % 3, True, True, True))
    for name in ("nonzero", "argwhere", "unique", "where"):
        same(wf.function(getattr(wf, name))(wf.tensor(N)), getattr(np, name)(N))


def test_methods_are_the_functions():
    x = wf.tensor(A)
    for name, *args in (
        ("argmax",), ("argmax", 1), ("argmin",), ("clip", 0, 2), ("diagonal", 1), ("dot", B.T), ("max",), ("max", 0),
        ("min", 1), ("nonzero",), ("ptp",) , ("repeat", 2, 1), ("round", 1), ("std", 1), ("swapaxes", 0, 1),
        ("take", [1, -1], 1), ("trace",), ("var",),
    ):  # fmt: skip
        expected = getattr(np, name)(A, *args)
        same(getattr(x, name)(*args), expected)
        same(getattr(wf, name)(x, *args), expected)
        same(getattr(np, name)(x, *args), expected)  # which calls the method
    assert isinstance(np.std(x), wf.Tensor) and isinstance(np.max(x, axis=0), wf.Tensor)
    same(x.std(ddof=1, keepdims=True), A.std(ddof=1, keepdims=True))


def test_sizes_that_a_trace_does_not_know():
    def of(x):
        return [
            wf.std(x, ddof=1), wf.var(x, 0, ddof=1), wf.argmax(x), wf.argmin(x, 0), wf.ravel(x), wf.repeat(x, 2),
            wf.repeat(x, 2, 1), wf.repeat(x, 2, 0), wf.roll(x, 1, 0), wf.roll(x, -1), wf.tile(x, (2, 1)),
            wf.stack([x, x], 1),
            wf.expand_dims(x, 0), wf.split(x, 3, 1)[1], wf.split(x, [1])[1], wf.swapaxes(x, 0, 1), wf.dot(x, B.T),
            wf.tensordot(x, B, 0), wf.inner(x, B), wf.einsum("ij,kj->ik", x, B), wf.norm(x, axis=0), wf.diff(x, axis=0),
            wf.clip(x, 0, 1), wf.atan(x), wf.max(x, 0), wf.count_nonzero(x), wf.median(x, 1), wf.take(x, [0, -1], 0),
            wf.tril(x), wf.triu(x, 1),
        ]  # fmt: skip

    compiled = wf.function(input_signature=[wf.TensorSpec([None, 3], "float32")])(of)
    for x in (A, np.concatenate([B, A, B])):
        for got, expected in zip(compiled(wf.tensor(x)), of(wf.tensor(x)), strict=True):
            np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-6)
    with pytest.raises(wf.ShapeError, match="unstack: .*not known yet"):
        wf.function(input_signature=[wf.TensorSpec([None, 3], "float32")])(wf.unstack)(wf.tensor(A))


def test_several_sizes_that_a_trace_does_not_know():
    spec = [wf.TensorSpec([None, None, 4], "float32")]
    for f in (
        lambda x: wf.repeat(x, 2, 0), lambda x: wf.repeat(x, 3, 1), lambda x: wf.repeat(x, 2, 2),
        lambda x: wf.repeat(x, 2), lambda x: wf.einsum("abc->cab", x), lambda x: wf.einsum("abc,abd->abcd", x, x),
        lambda x: wf.roll(x, 1, (0, 1)), lambda x: wf.roll(x, 1), lambda x: wf.einsum("abc,abc->ab", x, x), lambda x: wf.argmax(x),
        lambda x: wf.diagonal(x[:, :, :3, None], 0, 2, 3),
        lambda x: wf.einsum("abc,acd->abd", x, x[:, :4, :]), lambda x: wf.std(x, (0, 2), ddof=1),
        lambda x: wf.dot(x, wf.ones((4, 2))),
        lambda x: wf.tensordot(wf.moveaxis(x, -1, 0), wf.ones((2, 4)), ([0], [1])),
        lambda x: wf.stack([x, x], 2), lambda x: wf.moveaxis(x, 0, 1), lambda x: wf.tile(x, (2, 1, 2)),
    ):  # fmt: skip
        compiled = wf.function(f, input_signature=spec)
        for shape in ((2, 5, 4), (3, 4, 4)):
            x = wf.random.normal(shape, seed=1)
            try:
                expected = f(x)
            except wf.Error:
                continue
            try:
                got = compiled(x)
            except wf.ShapeError as error:
                assert "known yet" in str(error)
                continue
            np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-5)
    known = wf.function(lambda x: wf.dot(x, wf.ones((4, 2))), input_signature=spec)
    assert known(wf.ones((2, 5, 4))).shape == (2, 5, 2)
    for f in (lambda x: wf.dot(x, wf.ones((2, 4, 2))), lambda x: wf.inner(x, x)):
        x = wf.random.normal((2, 5, 4), seed=1)
        np.testing.assert_allclose(wf.function(f, input_signature=spec)(x).numpy(), f(x).numpy(), rtol=1e-5)


def test_many_at_once():
    x = wf.tensor(C)
    composed = (lambda m: wf.einsum("ij->j", m), lambda m: wf.where(m > 0, m, 0))
    for f in (wf.std, wf.argmax, wf.atan, wf.trace, wf.norm, *composed):
        np.testing.assert_allclose(wf.vmap(f)(x).numpy(), wf.stack([f(m) for m in x]).numpy(), rtol=1e-6)


def test_accuracy_in_float64():
    x = np.concatenate([np.linspace(-3, 3, 1001), np.logspace(-300, 300, 601), -np.logspace(-300, 300, 601)])
    inside = np.concatenate([np.linspace(-1, 1, 1001), np.logspace(-300, -1, 601)])
    small = np.clip(x, -700, 700)
    for name, of in (
        ("arctan", x), ("arcsinh", x), ("arccosh", np.abs(x) + 1), ("arcsin", inside), ("arccos", inside),
        ("arctanh", inside[1:1000]), ("sinh", small), ("cosh", small), ("tan", np.linspace(-1.5, 1.5, 999)),
    ):  # fmt: skip
        np.testing.assert_allclose(getattr(wf, name)(of).numpy(), getattr(np, name)(of), rtol=2e-14, err_msg=name)
    one, other = np.meshgrid(x, [-1e-3, 0.5, 1e200])
    np.testing.assert_allclose(wf.atan2(one, other).numpy(), np.arctan2(one, other), rtol=1e-14)


def test_derivatives_of_higher_order():
    f = wf.grad(wf.grad(wf.grad(wf.atan)))
    for x in (-3.0, -1.0, 0.0, 0.25, 0.9, 1.5, 40.0):
        expected = (6 * x * x - 2) / (1 + x * x) ** 3
        assert float(f(wf.tensor(x, "float64"))) == pytest.approx(expected, rel=1e-7, abs=1e-12)
    assert float(wf.jvp(wf.atan, (wf.tensor(2.0),), (wf.tensor(1.0),))[1]) == pytest.approx(0.2)


def test_gradients_at_edges():
    assert wf.grad(wf.norm)(wf.zeros(3)).tolist() == [0, 0, 0]
    assert wf.grad(wf.std)(wf.ones(3)).tolist() == [0, 0, 0]
    assert wf.grad(lambda x: wf.hypot(x, 0.0))(0.0).item() == 0
    assert wf.grad(wf.asinh)(0.0).item() == 1 and wf.grad(wf.atan)(0.0).item() == 1
    assert wf.grad(wf.cosh)(1e-5).item() == pytest.approx(1e-5)
    assert wf.grad(lambda x: wf.sum(wf.round(x, 1)))(wf.tensor(A)).tolist() == [[0] * 3] * 2


def test_constants():
    assert (wf.pi, wf.e, wf.inf, wf.newaxis) == (np.pi, np.e, np.inf, None) and wf.nan != wf.nan
    assert wf.tensor([1, 2])[:, wf.newaxis].shape == (2, 1)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: wf.max([]), wf.ShapeError, r"max: x has the shape \(0,\): there is no element"),
        (lambda: wf.min(wf.zeros((0, 3)), 0), wf.ShapeError, r"min: x has the shape \(0, 3\): .* along axis 0"),
        (lambda: wf.tensor([]).max(), wf.ShapeError, "max: .*no element"),
        (lambda: wf.argmax([]), wf.ShapeError, "argmax: .*no element"),
        (lambda: wf.argmin(wf.zeros((2, 0)), 1), wf.ShapeError, "argmin: .*no element"),
        (lambda: wf.argmax([1], 1), wf.OutOfRangeError, "argmax: axis 1 is out of range for a tensor of rank 1"),
        (lambda: wf.std(A, 2), wf.OutOfRangeError, "std: axis 2 is out of range"),
        (lambda: wf.var(A, "a"), TypeError, "var: axis is of type str: an integer or a list of them is wanted"),
        (lambda: wf.nanmean(A, (0, 0)), wf.ValueError, "nanmean: axis has an axis twice"),
        (lambda: wf.std(None), wf.DTypeError, "std: x is of type None"),
        (lambda: wf.dot([1], "a"), wf.DTypeError, "dot: b is of type str"),
        (lambda: wf.stack([[1], {}]), wf.DTypeError, r"stack: xs\[1\] is of type dict"),
        (lambda: wf.stack(3), TypeError, "stack: xs is of type int: a list of tensors is wanted"),
        (lambda: wf.stack([]), wf.ValueError, "stack: xs is empty"),
        (lambda: wf.stack([[1], [[1]]]), wf.ShapeError, r"stack: all tensors are of one shape"),
        (lambda: wf.split([1, 2, 3], 2), wf.ShapeError, "split: axis 0 of size 3 is not 2 equal parts"),
        (lambda: wf.split([1, 2, 3], 0), wf.ValueError, "split: 0 parts"),
        (lambda: wf.split([1], "a"), TypeError, "split: indices_or_sections is of type str: an integer or a list of them is wanted"),
        (lambda: wf.expand_dims([1], 2), wf.OutOfRangeError, "expand_dims: axis 2 is out of range"),
        (lambda: wf.expand_dims([1], (0, 0)), wf.ValueError, "expand_dims: axis has an axis twice"),
        (lambda: wf.swapaxes([[1]], 0, 2), wf.OutOfRangeError, "swapaxes: axis2 2"),
        (lambda: wf.tile([1], -1), wf.ValueError, "tile: reps has -1"),
        (lambda: wf.repeat([1, 2], [1, 2, 3]), wf.ShapeError, "repeat: there are 3 repeats for an axis of size 2"),
        (lambda: wf.where([True], 1), wf.ValueError, "where: x and y must both be given"),
        (lambda: wf.norm(A, 3), wf.ValueError, "norm: ord of matrices is 3: it is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf"),
        (lambda: wf.norm(C, 1), wf.ShapeError, "norm: x has rank 3"),
        (lambda: wf.norm(A[0], "fro"), wf.ValueError, "norm: ord of vectors is 'fro'"),
        (lambda: wf.tensordot(A, B, 3), wf.ValueError, "tensordot: axes is 3: a has 2 axes and b 2"),
        (lambda: wf.dot(A, B), wf.ShapeError, "dot: the inner dimensions differ"),
        (lambda: wf.inner(A, [1.0]), wf.ShapeError, "inner: axis 1 of a is of size 3 and axis 0 of b of 1"),
        (lambda: wf.einsum("ij->k", A), wf.ValueError, "einsum: 'ij->k' has a result of other axes"),
        (lambda: wf.einsum(A), TypeError, "einsum: equation is of type numpy.ndarray: a text is wanted"),
        (lambda: wf.cross([1], [2]), wf.ShapeError, r"cross: a has the shape \(1,\): vectors of three numbers"),
        (lambda: wf.quantile([1.0], 2), wf.ValueError, "quantile: q is from 0 to 1"),
        (lambda: wf.percentile([1.0], None), wf.DTypeError, "percentile: q is of type None"),
        (lambda: wf.nanmax([]), wf.ShapeError, "nanmax: .*no element"),
        (lambda: wf.average(A, 0, [1, 2, 3]), wf.ShapeError, "broadcast"),
        (lambda: wf.matrix_transpose([1]), wf.ShapeError, "matrix_transpose: x has the shape"),
        (lambda: wf.diag(3), wf.ShapeError, "diag: x has the shape"),
        (lambda: wf.searchsorted([1], [1], "up"), wf.ValueError, "searchsorted: side is 'up'"),
        (lambda: wf.take([1, 2], [2]), wf.OutOfRangeError, "index"),
        (lambda: wf.take([1, 2], [0.5]), wf.DTypeError, r"take: indices must be an integer \(int32, int64\), but it is float32"),
        (lambda: wf.std(A, axes=0), TypeError, r"weft.std\(\) got an unexpected argument 'axes'; did you mean 'axis'?"),
        (lambda: wf.clip(A, a_min=0), TypeError, r"weft.clip\(\) got an unexpected argument 'a_min'; did you mean 'min'?"),
    ],
)  # fmt: skip
def test_bad_input(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("argmxa", "Did you mean 'wf.argmax'?"),
        ("Dense", "Did you mean 'wf.nn.Dense'?"),
        ("Adam", "Did you mean 'wf.optimizers.Adam'?"),
        ("glorot_normal", "Did you mean 'wf.nn.initializers.glorot_normal'?"),
        ("sofmax", "Did you mean 'wf.nn.softmax'?"),
        ("ndarray", "module 'weft' has no attribute 'ndarray': write wf.Tensor"),
        ("inv", "write wf.linalg.inv"),
        ("lstsq", "write wf.linalg.lstsq"),
        ("eig", "write wf.linalg.eig"),
        ("nn.Desne", "module 'weft.nn' has no attribute 'Desne'. Did you mean 'wf.nn.Dense'?"),
        ("random.rand", "write wf.random.uniform(shape)"),
        ("random.seed", "write wf.random.set_seed"),
        ("random.set_sed", "Did you mean 'wf.random.set_seed'?"),
        ("export", "Python keeps variables by wf.Checkpoint"),
        ("quaternion", "module 'weft' has no attribute 'quaternion'"),
        ("optimizers.Adamm", "Did you mean 'wf.optimizers.Adam'?"),
    ],
)
def test_absent_names_name_the_nearest(name, text):
    with pytest.raises(AttributeError) as caught:
        functools.reduce(getattr, name.split("."), wf)
    assert str(caught.value).endswith(text)
