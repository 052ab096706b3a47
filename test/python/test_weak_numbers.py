"""Numbers of Python, and lists of them, beside tensors: they take the dtype of those, and lose nothing on the way."""

import ast
import math
import operator
import pathlib

import numpy as np
import pytest
import weft as wf

X = [1e17, -1.83, 0.7]
LIST = [0.1, 0.2, 0.3]


def _name(m, ours, numpys=None):
    return getattr(m, ours if m is wf else numpys or ours)


def _of(ours, numpys=None):
    """A function of two, both ways round."""
    return [
        lambda m, x, n: _name(m, ours, numpys)(x, n),
        lambda m, x, n: _name(m, ours, numpys)(n, x),
    ]


def _select(m, x, n):
    return m.select(wf.tensor([True, False, True]), x, n) if m is wf else np.where([True, False, True], x, n)


def _in_float64(name, *more):
    """Of what NumPy does not have: the function itself, of tensors of float64 alone."""
    def call(m, x, n):
        if m is wf:
            return getattr(wf, name)(x, n, *more)
        return getattr(wf, name)(*(wf.tensor(np.asarray(v, np.float64)) for v in (x, n, *more))).numpy()

    return [call]


# Function -> calls with a tensor x of shape (3,) and a number n or a list of three.
ELEMENTWISE = {
    **{name: _of(name) for name in (
        "add", "subtract", "multiply", "divide", "remainder", "maximum", "minimum", "equal", "not_equal", "less",
        "less_equal", "greater", "greater_equal", "floor_divide", "logaddexp", "hypot", "copysign", "isclose", "power",
        "fmax", "fmin", "heaviside", "nextafter",
    )},
    "atan2": _of("atan2", "arctan2"),
    **{name: _in_float64(name) for name in ("zeta", "betaln", "gammainc", "gammaincc", "gammainc_da", "xlog1py")},
    "betainc": _in_float64("betainc", 0.3),
    "xlogy": [lambda m, x, n: m.xlogy(x, n) if m is wf else x * np.log(n), lambda m, x, n: m.xlogy(n, x) if m is wf else n * np.log(x)],
    "select": [_select, lambda m, x, n: _select(m, n, x)],
    "where": [lambda m, x, n: m.where(x > 0, x, n), lambda m, x, n: m.where(x > 0, n, x)],
    "clip": [lambda m, x, n: m.clip(x, n, 5.0), lambda m, x, n: m.clip(x, None, n), lambda m, x, n: m.clip(n, x, None)],
    "allclose": _of("allclose"),
    "operators": [
        lambda m, x, n: x + n, lambda m, x, n: n - x, lambda m, x, n: x * n, lambda m, x, n: n / x,
        lambda m, x, n: x // n, lambda m, x, n: n // x, lambda m, x, n: x % n, lambda m, x, n: divmod(x, n)[0],
        lambda m, x, n: x < n, lambda m, x, n: x == n,
    ],
}  # fmt: skip

# Functions of a tensor of shape (3,) and a list of three.
OF_LISTS = {
    "stack": [lambda m, x, n: m.stack([x, n]), lambda m, x, n: m.stack([n, x], axis=1)],
    "vstack": [lambda m, x, n: m.vstack([x, n])],
    "hstack": [lambda m, x, n: m.hstack([n, x])],
    "dstack": [lambda m, x, n: m.dstack([n, x])],
    "column_stack": [lambda m, x, n: m.column_stack([n, x])],
    "concat": [lambda m, x, n: m.concatenate([n, x])],
    "dot": _of("dot"),
    "inner": _of("inner"),
    "vdot": _of("vdot"),
    "vecdot": _of("vecdot"),
    "outer": _of("outer"),
    "cross": _of("cross"),
    "tensordot": [lambda m, x, n: m.tensordot(x, n, 1), lambda m, x, n: m.tensordot(n, x, 1)],
    "einsum": [lambda m, x, n: m.einsum("i,i->", x, n), lambda m, x, n: m.einsum("i,j->ij", n, x)],
    "matmul": _of("matmul"),
    "average": [lambda m, x, n: m.average(x, weights=n), lambda m, x, n: m.average(n, weights=abs(x))],
    "quantile": [lambda m, x, n: m.quantile(x, n), lambda m, x, n: m.quantile(x, n[0])],
    "percentile": [lambda m, x, n: m.percentile(x, n), lambda m, x, n: m.percentile(x, n[2])],
    "searchsorted": [lambda m, x, n: m.searchsorted(m.sort(x), n), lambda m, x, n: m.searchsorted(n, x)],
    "isin": [lambda m, x, n: m.isin(x, n), lambda m, x, n: m.isin(n, x)],
    "kron": _of("kron"),
    "polyval": _of("polyval"),
    "polyfit": [lambda m, x, n: m.polyfit(x, n, 0), lambda m, x, n: m.polyfit(n, x, 0)],
    "digitize": [lambda m, x, n: m.digitize(x, n), lambda m, x, n: m.digitize(n, m.sort(x))],
    "interp": [lambda m, x, n: m.interp(x, n, x), lambda m, x, n: m.interp(n, m.sort(x), n)],
    "gradient": [lambda m, x, n: m.gradient(n, coordinates=x) if m is wf else np.gradient(n, x),
                 lambda m, x, n: m.gradient(x, coordinates=n) if m is wf else np.gradient(x, n)],
    "trapezoid": [lambda m, x, n: m.trapezoid(x, n), lambda m, x, n: m.trapezoid(n, x)],
    "histogram": [lambda m, x, n: m.histogram(x, 3, (-2.0, 2.0), weights=n)[0]],
    "cov": [lambda m, x, n: m.cov(x, n), lambda m, x, n: m.cov(n, x)],
    "corrcoef": [lambda m, x, n: m.corrcoef(x, n)],
    "convolve": _of("convolve"),
    "correlate": _of("correlate"),
    "diff": [lambda m, x, n: m.diff(x, prepend=n), lambda m, x, n: m.diff(n, append=x)],
    "cdist": [lambda m, x, n: m.cdist([x], [n]).reshape(-1) if m is wf else np.linalg.norm(x - np.asarray(n), keepdims=True)],
    "dynamic_update_slice": [lambda m, x, n: m.dynamic_update_slice(x, n, 0) if m is wf else np.asarray(n)],
    "array_equal": [lambda m, x, n: m.array_equal(x, n), lambda m, x, n: m.array_equal(x, X)],
    "full_like": [lambda m, x, n: m.full_like(x, n[0])],
    "pad_interior": [lambda m, x, n: m.pad_interior(x, n[0], [1], [1], [0]) if m is wf else np.pad(x, 1, constant_values=n[0])],
    "linear_recurrence": [lambda m, x, n: m.linear_recurrence(n, x) if m is wf else _recurrence(n, x)],
    "convolution": [lambda m, x, n: (
        m.convolution(m.reshape(x, [1, 3, 1]), [[[w]] for w in n]).reshape(-1) if m is wf
        else np.correlate(x, n, "valid"))],
    "convolution_transpose": [lambda m, x, n: (
        m.convolution_transpose(m.reshape(x, [1, 3, 1]), [[[w]] for w in n]).reshape(-1) if m is wf
        else np.convolve(x, n))],
    "list with a tensor": [lambda m, x, n: m.tensor([x, n]) if m is wf else np.stack([x, n])],
    "cast": [lambda m, x, n: m.cast(n, "float64") if m is wf else np.asarray(n)],
    "full": [lambda m, x, n: m.full((2,), n[0], "float64") if m is wf else np.full((2,), n[0])],
    "methods": [lambda m, x, n: x.dot(n), lambda m, x, n: x.clip(n, None) if m is wf else np.clip(x, n, None)],
}  # fmt: skip

NOT_OF_VALUES = {
    "logical_and", "logical_or", "logical_xor",  # of bools
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",  # of integers
    "barrier", "match_shape", "gather", "take", "take_along_axis", "meshgrid", "compress",  # of one
    "scatter_add", "add_along_axis", "update_slice", "scatter_elements",  # other dtypes are refused
    "segment_sum", "segment_mean", "segment_prod", "segment_max", "segment_min", "bincount", "broadcast_arrays",  # of one
    "complex",  # of parts
    "draw_uniform", "draw_permutation",  # of a state and sizes
    "gamma", "logistic",  # of one; draws in wf.random have these names too
}  # fmt: skip


def _recurrence(a, x):
    y, rows = 0.0, []
    for factor, term in zip(a, x):
        y = factor * y + term
        rows.append(y)
    return np.array(rows)


def _public_functions():
    """The names of all functions that take two tensors or more."""
    folder = pathlib.Path(wf.__file__).parent
    found = set()
    for file in [*folder.glob("*.pyi"), *folder.glob("_[a-z]*.py")]:
        for node in ast.parse(file.read_text()).body:
            if not isinstance(node, ast.FunctionDef) or node.name not in wf.__all__:
                continue
            a = node.args
            kinds = [ast.unparse(p.annotation) for p in [*a.posonlyargs, *a.args, *a.kwonlyargs] if p.annotation]
            many = any("Sequence[TensorLike]" in kind for kind in kinds)
            many |= bool(a.vararg and a.vararg.annotation and "TensorLike" in ast.unparse(a.vararg.annotation))
            if many or sum("TensorLike" in kind for kind in kinds) > 1:
                found.add(node.name)
    return found


def test_every_function_of_several_tensors_is_here():
    assert _public_functions() == (_public_functions() & ({*ELEMENTWISE, *OF_LISTS} | NOT_OF_VALUES))
    assert len(_public_functions()) > 50


def _check(call, x, n):
    with np.errstate(all="ignore"):
        wanted = np.asarray(call(np, np.array(x), n))
    for run in (lambda: call(wf, wf.tensor(x, "float64"), n),
                wf.function(lambda: call(wf, wf.tensor(x, "float64"), n))):  # fmt: skip
        got = run().numpy()
        if wanted.dtype == np.float64:
            assert got.dtype == np.float64
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=0)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_numbers_beside_float64(name):
    for call in ELEMENTWISE[name]:
        for n in (0.1, -2.7, 1e300, np.float64(0.1), LIST, tuple(LIST), np.array(LIST)):
            if name == "power" and np.any(np.asarray(n) < 0) or name == "power" and n is not LIST and np.ndim(n) == 0:
                continue
            _check(call, [1e17, 1.83, 0.7] if name == "power" else X, n)


@pytest.mark.parametrize("name", OF_LISTS)
def test_lists_beside_float64(name):
    for call in OF_LISTS[name]:
        for n in (LIST, tuple(LIST), [np.float64(v) for v in LIST]):
            _check(call, X, n)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_float32_stays_beside_numbers(name):
    x = wf.tensor([3.5, 1.83, 0.7])
    for call in ELEMENTWISE[name]:
        for n in (0.1, 2, True, np.float64(0.1), LIST, [1, 2, 3], [np.float64(1), 2.0, 3]):
            if isinstance(n, list) and name == "methods":
                continue
            assert call(wf, x, n).dtype in ("float32", "bool")


@pytest.mark.parametrize("name", OF_LISTS)
def test_float32_stays_beside_lists(name):
    if name in ("cast", "full"):
        pytest.skip("they name a dtype")
    x = wf.tensor([3.5, 1.83, 0.7])
    for call in OF_LISTS[name]:
        for n in (LIST, [np.float64(v) for v in LIST]):
            assert call(wf, x, n).dtype in ("float32", "bool", "int64")


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "remainder", "maximum", "minimum", "floor_divide",
                                  "select", "where", "clip", "power"])  # fmt: skip
def test_integers_stay_beside_integers(name):
    for dtype in ("int32", "int64"):
        for call in ELEMENTWISE[name]:
            for n in (2, [1, 2, 3]):
                if name == "clip" and isinstance(n, int):
                    continue  # its other limit has a fraction
                assert call(wf, wf.tensor([3, 5, 7], dtype), n).dtype in (dtype, "float32" if name == "clip" else dtype)
    assert (wf.tensor([1, 2]) * np.float64(0.5)).dtype == "float32"


def test_a_numpy_scalar_of_float64_is_a_number_of_python():
    x = wf.ones((2, 2))
    assert (x / np.sqrt(64)).dtype == "float32"
    assert (np.sqrt(64) * x).dtype == "float32"
    assert wf.where(x > 0, np.float64(2), x).dtype == "float32"
    # Alone it keeps its own, as do other scalars and arrays.
    assert wf.tensor(np.float64(0.1)).dtype == "float64"
    assert wf.add(np.float64(0.1), 0.2).item() == 0.1 + 0.2
    assert wf.hypot(np.float64(0.1), 0.2).item() == pytest.approx(math.hypot(0.1, 0.2), rel=1e-15)
    assert (x * np.array(2.0)).dtype == "float64"
    assert (wf.ones(2, "float64") * np.float32(0.5)).dtype == "float64"
    assert (wf.ones(2, "int32") + np.int64(1)).dtype == "int64"
    variable = wf.Variable([1.0, 2.0])
    variable.assign_add(np.ones(2) * np.float64(0.5))
    assert variable.dtype == "float32"


def test_numbers_are_cast_as_they_are():
    assert wf.cast(0.1, "float64").item() == 0.1
    assert wf.cast([0.1, 16777217.0], "float64").tolist() == [0.1, 16777217.0]
    assert wf.cast(16777217.0, "int32").item() == 16777217
    assert wf.tensor([16777217.5, -16777217.5], "int64").tolist() == [16777217, -16777217]
    assert wf.cast(wf.tensor(0.1), "float64").item() != 0.1


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint64", "float32"])
@pytest.mark.parametrize("number", [2**70, -(2**70), 2**40, -(2**31) - 1, 2**63, 2**64, -(2**63) - 1])
def test_comparisons_with_any_whole_number_are_by_value(dtype, number):
    x = np.array([0, 1], dtype)
    for at in (wf.asarray(x), wf.Variable(x)):
        for compare in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
            wanted = [compare(int(v), number) for v in x]
            assert compare(at, number).tolist() == wanted
            assert wf.function(compare)(at, number).tolist() == wanted
            assert compare(number, at).tolist() == [compare(number, int(v)) for v in x]


def test_options_of_losses_and_metrics_take_the_dtype():
    y, p = wf.tensor([1.0, 2.0], "float64"), wf.tensor([1.5, 2.25], "float64")
    weighted = wf.losses.mean_squared_error(y, p, weights=[0.1, 0.7], reduction="sum")
    assert weighted.item() == pytest.approx(0.1 * 0.25 + 0.7 * 0.0625, rel=1e-15)
    mean = wf.metrics.Mean()
    mean.update([0.1, 0.2], weights=wf.tensor([1.0, 3.0], "float64"))
    assert mean.result().item() == pytest.approx((0.1 + 0.6) / 4, rel=1e-15)


def test_names_of_tensorflow():
    tf = pytest.importorskip("weft.tf")
    x = tf.constant([0.7, 1.5], tf.float64)
    assert tf.stack([x, [0.1, 0.2]]).numpy()[1, 0] == 0.1
    assert tf.math.floordiv(x, 0.1).numpy().tolist() == [0.7 // 0.1, 1.5 // 0.1]
    assert tf.concat([[0.1], x], 0).numpy()[0] == 0.1
    assert tf.add_n([[0.1, 0.2], x]).numpy()[0] == 0.1 + 0.7
    assert tf.cast(0.1, tf.float64).numpy() == 0.1
    assert tf.maximum(x, 0.9).numpy()[0] == 0.9
    tf.debugging.assert_near(tf.constant([0.1], tf.float64), [0.1])
