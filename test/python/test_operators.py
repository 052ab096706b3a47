"""Operators against NumPy, over dtypes, weak numbers and shapes."""

import itertools
import operator

import numpy as np
import pytest

import weft as wf

DTYPES = ["bool", "int32", "int64", "float32", "float64"]
ARITHMETIC = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow"]
COMPARISONS = ["lt", "le", "eq", "ne", "gt", "ge"]


def order(name):
    return DTYPES.index(str(name))


def expected_dtype(a, b):
    """The larger of two, as docs/dtypes.md has it."""
    return max(str(a), str(b), key=order)


def values(dtype, seed, shape=(3, 4)):
    numbers = np.random.default_rng(seed).integers(1, 6, shape)
    return (numbers % 2 == 1) if dtype == "bool" else numbers.astype(dtype)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(DTYPES[1:], repeat=2)))
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_of_two_dtypes(name, a, b):
    function = getattr(operator, name)
    x, y = values(a, 1), values(b, 2)
    dtype = expected_dtype(a, b)
    if name == "truediv" and "int" in dtype:
        dtype = "float32"
    want = function(x.astype(dtype), y.astype(dtype))
    for got in (function(wf.tensor(x), wf.tensor(y)), function(wf.tensor(x), y), function(x, wf.tensor(y))):
        assert isinstance(got, wf.Tensor) and got.dtype == dtype
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


@pytest.mark.parametrize("dtype", DTYPES[1:])
@pytest.mark.parametrize("number", [True, 3, 2.5])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_weak_numbers(name, dtype, number):
    function = getattr(operator, name)
    x = values(dtype, 3)
    floating = isinstance(number, float) or name == "truediv"
    want = "float32" if floating and "int" in dtype else dtype
    for got, oracle in (
        (function(wf.tensor(x), number), function(x.astype(want), np.dtype(want).type(number))),
        (function(number, wf.tensor(x)), function(np.dtype(want).type(number), x.astype(want))),
    ):
        assert got.dtype == want
        np.testing.assert_allclose(np.asarray(got), oracle, rtol=1e-6)


@pytest.mark.parametrize("name", COMPARISONS)
@pytest.mark.parametrize("dtype", DTYPES[1:])
def test_comparisons(name, dtype):
    function = getattr(operator, name)
    x, y = values(dtype, 4), values(dtype, 5)
    for got in (function(wf.tensor(x), wf.tensor(y)), function(wf.tensor(x), y), function(x, wf.tensor(y))):
        assert got.dtype == "bool" and (np.asarray(got) == function(x, y)).all()
    assert (np.asarray(function(wf.tensor(x), 3)) == function(x, 3)).all()


def test_comparison_with_what_is_no_tensor():
    x = wf.tensor([1, 2])
    assert (x == None) is False and (x != None) is True and (x == "a") is False  # noqa: E711
    for wrong in (lambda: x < None, lambda: x + None, lambda: "a" + x, lambda: x @ object(), lambda: pow(x, 2, 3), lambda: x << None):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_floor_division_and_rest(dtype):
    numbers = np.array([-7, -6, -1, 0, 1, 5, 6, 7, 100, -100], dtype)
    x, y = numbers[:, None], np.array([-3, -2, -1, 1, 2, 3, 7], dtype)
    q, r = divmod(wf.tensor(x), wf.tensor(y))
    np.testing.assert_array_equal(np.asarray(q), x // y)
    np.testing.assert_array_equal(np.asarray(r), x % y)
    assert (wf.tensor(x) // 2).dtype == dtype and q.dtype == dtype


def test_floor_division_of_large_integers_is_exact():
    rng = np.random.default_rng(7)
    x = rng.integers(-(2**63), 2**63 - 1, 2000)
    y = np.where(rng.random(2000) < 0.5, rng.integers(1, 2**62, 2000), rng.integers(1, 1000, 2000))
    y = y * rng.choice([-1, 1], 2000)
    np.testing.assert_array_equal(np.asarray(wf.tensor(x) // wf.tensor(y)), x // y)
    x32, y32 = x.astype("i4"), np.where(y.astype("i4") == 0, 1, y.astype("i4"))
    np.testing.assert_array_equal(np.asarray(wf.tensor(x32) // wf.tensor(y32)), x32 // y32)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("traced", [False, True])
def test_floor_division_at_the_ends_of_integers(dtype, traced):
    least, largest = (int(end) for end in (np.iinfo(dtype).min, np.iinfo(dtype).max))
    half = -(least // 2)
    edges = [0, 1, 2, 3, 5, half - 1, half, half + 1, largest - 1, largest]
    edges = np.array([*edges, *(-x for x in edges[1:]), least], dtype)
    divide = wf.function(operator.floordiv) if traced else operator.floordiv
    x, y = edges[:, None], edges[edges != 0]
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.asarray(divide(wf.tensor(x), wf.tensor(y))), x // y)
        for number in y:
            one = (lambda x, y=int(number): x // y) if not traced else wf.function(lambda x, y=int(number): x // y)
            np.testing.assert_array_equal(np.asarray(one(wf.tensor(edges))), edges // number)
    by_zero = divide(wf.tensor(np.array([5, -5, largest, least], dtype)), wf.tensor(0, dtype=dtype))
    assert by_zero.tolist() == [0, 0, 0, 0]


def test_floor_division_of_floats_goes_by_the_rest():
    x = np.array([1.0, 0.3, -0.3, 7.5, 1e6, 3.0, 0.0, 5.0], "f8")
    y = np.array([0.1, 0.1, 0.1, -2.5, 0.3, np.inf, 0.0, 0.0], "f8")
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(np.asarray(wf.tensor(x) // wf.tensor(y)), x // y)


def test_unary_operators():
    x = np.array([-1.5, 0.0, 2.0], "f4")
    t = wf.tensor(x)
    for got, want in ((-t, -x), (+t, x), (abs(t), abs(x)), (~(t > 0), ~(x > 0))):
        np.testing.assert_array_equal(np.asarray(got), want)


def test_logical_operators():
    a, b = wf.tensor([True, True, False]), wf.tensor([True, False, False])
    assert (a & b).tolist() == [True, False, False] and (a | b).tolist() == [True, True, False]
    assert (a ^ b).tolist() == [False, True, False] and (True & a).tolist() == [True, True, False]
    assert (wf.tensor([6, 3]) & 5).tolist() == [4, 1]  # the bits of integers
    with pytest.raises(wf.DTypeError):
        wf.tensor([1.0]) & 1


def test_matrix_products():
    x, y = np.random.default_rng(1).random((2, 3, 4), "f4"), np.random.default_rng(2).random((4, 5), "f4")
    np.testing.assert_allclose(np.asarray(wf.tensor(x) @ y), x @ y, rtol=1e-5)
    np.testing.assert_allclose(np.asarray(x @ wf.tensor(y)), x @ y, rtol=1e-5)


def test_lists_beside_tensors_are_weak():
    x = wf.tensor([1.0, 2.0], dtype="float64")
    assert (x + [0.1, 0.2]).tolist() == [1.1, 2.2]
    assert ([1, 2] * wf.tensor([1.5, 2.5])).dtype == "float32"
    assert (wf.tensor([1, 2], dtype="int64") + [1, 2]).dtype == "int64"
    assert (wf.tensor([1, 2]) + [0.5, 0.5]).dtype == "float32"
    assert wf.maximum(x, [0.1, 5]).tolist() == [1.0, 5.0] and wf.add([0.1, 0.1], x).tolist() == [1.1, 2.1]
    with pytest.raises(wf.ValueError):
        wf.tensor([1], dtype="int32") + [2**40]


def test_scalars_of_numpy_are_strong_but_float64_which_is_a_float():
    x = wf.tensor([1.0])
    assert (x + np.float64(2)).dtype == "float32" and (np.float64(2) * x).dtype == "float32"
    assert (np.int64(3) + wf.tensor([1])).dtype == "int64" and (x + np.float32(1)).dtype == "float32"


def test_large_work_lets_other_threads_run():
    import threading

    x = wf.ones((700, 700))
    done = []
    thread = threading.Thread(target=lambda: done.append((x @ x).size))
    thread.start()
    for _ in range(5):
        assert (x @ x)[0, 0].item() == 700
    thread.join()
    assert done == [490000]


def test_numpy_functions_take_tensors():
    x = wf.tensor([[1.0, 5.0], [3.0, 2.0]])
    array = np.asarray(x)
    for name in ("sum", "mean", "max", "min", "prod", "argmax", "cumsum", "sort", "argsort", "exp", "sqrt", "ravel", "transpose", "squeeze"):
        np.testing.assert_allclose(np.asarray(getattr(np, name)(x, **({"axis": 1} if name in ("argmax", "cumsum", "sum") else {}))),
                                   getattr(np, name)(array, **({"axis": 1} if name in ("argmax", "cumsum", "sum") else {})))
    assert np.add(x, 1).tolist() == (array + 1).tolist() and np.allclose(x, array) and np.array_equal(x, array)
    assert np.isfinite(x).all() and np.where(x > 2, x, 0).tolist() == [[0, 5], [3, 0]]


def test_reversed():
    x = wf.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for source in (x, wf.Variable(x)):
        assert [row.tolist() for row in reversed(source)] == [[5, 6], [3, 4], [1, 2]]
    assert list(reversed(wf.zeros((0, 2)))) == []
    with pytest.raises(TypeError, match="a tensor of rank 0 is not iterable"):
        reversed(x[0, 0])
    weighted = wf.grad(lambda x: sum(wf.sum(row) * i for i, row in enumerate(reversed(x))))
    np.testing.assert_array_equal(weighted(x), [[2, 2], [1, 1], [0, 0]])
