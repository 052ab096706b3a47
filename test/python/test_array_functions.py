"""Functions of the array API and of NumPy that records alone do not say all of: edges, traces and errors."""

import numpy as np
import pytest

import weft as wf

INF, NAN = float("inf"), float("nan")


def both(call, *args):
    """What it gives eagerly and compiled, which is the same."""
    eager, compiled = call(*args), wf.function(call)(*args)
    assert eager.dtype == compiled.dtype
    np.testing.assert_array_equal(eager, compiled)
    return eager


# Bits -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_shifts_beyond_the_width(dtype):
    bits = np.iinfo(dtype).bits
    x = wf.tensor([1, -5, 7, -(2 ** (bits - 1))], dtype)
    for count in (0, 1, bits - 1, bits, bits + 1, 1000, -1):
        by = wf.full(4, count, dtype)
        assert both(lambda x, n: x << n, x, by).tolist() == np.left_shift(x.numpy(), by.numpy()).tolist(), count
        assert both(lambda x, n: x >> n, x, by).tolist() == np.right_shift(x.numpy(), by.numpy()).tolist(), count


def test_operators_of_integers_and_bools():
    x, y, b = wf.tensor([12, 10]), wf.tensor([6, -1]), wf.tensor([True, False])
    assert both(lambda x, y: x & y, x, y).tolist() == [4, 10]
    assert both(lambda x, y: x | y, x, y).tolist() == [14, -1]
    assert both(lambda x, y: x ^ y, x, y).tolist() == [10, -11]
    assert both(lambda x: ~x, x).tolist() == [-13, -11]
    assert (6 & x).tolist() == [4, 2] and (1 << x).tolist() == [4096, 1024]
    assert (b & True).tolist() == [True, False] and (~b).tolist() == [False, True]
    x <<= 1
    assert x.tolist() == [24, 20]
    for call, name in [(lambda: x & 0.5, "bitwise_and"), (lambda: wf.tensor([0.5]) >> 1, "bitwise_right_shift"), (lambda: ~wf.tensor(0.5), "bitwise_invert")]:
        with pytest.raises(wf.DTypeError, match=name):
            call()


def test_signs_of_zeros_and_nan():
    x = wf.tensor(np.array([0.0, -0.0, NAN, -NAN, -INF], np.float32))
    assert both(wf.signbit, x).tolist() == np.signbit(x.numpy()).tolist()
    assert np.signbit(both(lambda x: wf.copysign(wf.ones_like(x), x), x)).tolist() == np.signbit(x.numpy()).tolist()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_nextafter_steps_over_zero_and_to_infinity(dtype):
    x = np.array([0, -0.0, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal, 1, -1, NAN, 1, INF], dtype)
    y = np.array([1, -1, INF, -1, 0, -2, 1, NAN, 0], dtype)
    with np.errstate(over="ignore", under="ignore"):
        expected = np.nextafter(x, y)
    np.testing.assert_array_equal(both(wf.nextafter, wf.tensor(x), wf.tensor(y)), expected)


def test_quotients_of_integers_by_zero():
    for dtype in ("int32", "int64"):
        least = np.iinfo(dtype).min
        x, y = wf.tensor([7, -7, 0, least, least], dtype), wf.tensor([0, 0, 0, -1, 0], dtype)
        assert both(wf.floor_divide, x, y).tolist() == [0, 0, 0, least, 0]
        assert both(wf.remainder, x, y).tolist() == [0, 0, 0, 0, 0]


# Searching ------------------------------------------------------------------------------------------------------------------------


def test_searchsorted_with_nan_sorters_and_batches():
    rows = np.array([[3.0, 1.0, NAN, 2.0], [0.0, INF, -1.0, 5.0]], np.float32)
    order = np.argsort(rows, axis=-1)
    values = np.array([[1.0, NAN, 2.5], [5.0, -INF, INF]], np.float32)
    for side in ("left", "right"):
        expected = [np.searchsorted(row, v, side, o).tolist() for row, v, o in zip(rows, values, order, strict=True)]
        assert both(lambda a, v, o: wf.searchsorted(a, v, side, o), *map(wf.tensor, (rows, values, order))).tolist() == expected  # noqa: B023
        mapped = wf.vmap(lambda a, v: wf.searchsorted(a, v, side))(wf.sort(wf.tensor(rows)), wf.tensor(values))  # noqa: B023
        assert mapped.tolist() == expected
    with pytest.raises(wf.ShapeError, match="searchsorted: v must begin with the batch"):
        wf.searchsorted(wf.zeros((2, 3)), wf.zeros((3, 3)))
    with pytest.raises(wf.OutOfRangeError):
        wf.searchsorted([1, 2], [1], "left", [0, 2])


def test_many_values_are_searched_as_numpy_does():
    rng = np.random.default_rng(1)
    sorted_values, values = np.sort(rng.normal(size=10_000)), rng.normal(size=50_000)
    np.testing.assert_array_equal(wf.searchsorted(sorted_values, values), np.searchsorted(sorted_values, values))


def test_uniques_tell_nan_apart():
    x = wf.tensor([NAN, 1.0, NAN, 1.0])
    assert wf.unique_counts(x).counts.tolist() == [2, 1, 1]
    found = wf.unique_all(x)
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    np.testing.assert_array_equal(found.values.numpy()[found.inverse_indices.numpy()], x.numpy())
    assert wf.unique_values(wf.tensor([[3, 1], [3, 2]])).tolist() == [1, 2, 3]
    assert wf.function(lambda x: wf.unique_inverse(x, size=3).values)(wf.tensor([2, 2, 1])).tolist() == [1, 2, 1]


def test_isin_of_nothing_and_nan():
    assert wf.isin([1.0, NAN], [NAN, 1.0]).tolist() == [True, False]
    assert wf.isin([1, 2], wf.zeros((0,), "int32"), invert=True).tolist() == [True, True]


# Manipulation ---------------------------------------------------------------------------------------------------------------------


def test_broadcast_shapes():
    assert wf.broadcast_shapes((2, 1), (3,), ()) == (2, 3)
    assert wf.broadcast_shapes() == ()
    assert wf.broadcast_shapes((None, 3), (1, 1)) == (None, 3)
    assert wf.broadcast_shapes((0,), (1,)) == (0,)
    with pytest.raises(wf.ShapeError, match="do not broadcast"):
        wf.broadcast_shapes((2,), (3,))
    with pytest.raises(wf.ShapeError, match="broadcast_arrays"):
        wf.broadcast_arrays(wf.zeros(2), wf.zeros(3))


def test_cumulative_sums_say_what_they_need():
    with pytest.raises(wf.ValueError, match="cumulative_sum: x has rank 2"):
        wf.cumulative_sum(wf.zeros((2, 2)))
    assert wf.cumulative_sum([True, True]).dtype == "int64"
    assert wf.cumulative_sum(wf.tensor([1, 2]), dtype="float64", include_initial=True).numpy().tolist() == [0.0, 1.0, 3.0]
    assert wf.cumulative_prod(wf.zeros((0,)), include_initial=True).tolist() == [1.0]


@pytest.mark.parametrize("mode", ["linear_ramp", "maximum", "mean", "median", "minimum"])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float32", "float64"])
def test_padding_by_what_is_computed_of_slices(mode, dtype):
    x = (np.arange(24).reshape(4, 6) * 7 % 11).astype(dtype)
    options = [{"end_values": -3 if dtype != "uint8" else 5}, {}] if mode == "linear_ramp" else [{}, {"stat_length": 2}, {"stat_length": 9}]
    for given in options:
        for width in (3, ((1, 4), (0, 2))):
            want = np.pad(x, width, mode, **given)
            for pad in (wf.pad, wf.function(wf.pad)):
                got = pad(wf.tensor(x), width, mode, **given)
                assert got.dtype == dtype
                # NumPy's ramps take another formula where one of them is level.
                np.testing.assert_allclose(got.numpy(), want, rtol=0, atol=1e-14 if dtype == "float64" else 0)


def test_padding_of_open_sizes_and_its_derivative():
    for mode in ("linear_ramp", "maximum", "mean", "minimum"):
        compiled = wf.function(lambda x: wf.pad(x, ((2, 1), (0, 3)), mode), input_signature=[wf.TensorSpec([None, None], "float64")])
        for shape in ((2, 3), (4, 5)):
            x = np.arange(float(np.prod(shape))).reshape(shape) ** 2
            np.testing.assert_allclose(compiled(wf.tensor(x)).numpy(), np.pad(x, ((2, 1), (0, 3)), mode), rtol=1e-15)
    slopes = wf.grad(lambda x: wf.sum(wf.pad(x, (2, 1), "linear_ramp")))(wf.tensor([3.0, 5.0]))
    assert slopes.tolist() == [1.5, 1.0]  # of 0 and half of the first, and of 0
    assert wf.grad(lambda x: wf.sum(wf.pad(x, 1, "mean")))(wf.tensor([3.0, 5.0])).tolist() == [2.0, 2.0]


def test_padding_says_what_it_needs():
    for call, error, words in [
        (lambda: wf.pad([1, 2], [[1, 2, 3]]), wf.ValueError, "pad: pad_width has 3 numbers"),
        (lambda: wf.pad([1, 2], -1), wf.ValueError, "not negative"),
        (lambda: wf.pad([1, 2], 1, "mirror"), wf.ValueError, "'minimum', 'reflect', 'symmetric' or 'wrap'"),
        (lambda: wf.pad([1j], 1, "mean"), wf.DTypeError, "pad: the mode computes with elements: x must be a real number, but it is complex64"),
        (lambda: wf.pad([True], 1, "maximum"), wf.DTypeError, "pad: .* bool"),
        (lambda: wf.pad([1, 2], 1, "maximum", stat_length=0), wf.ValueError, "pad: stat_length is 0: it is at least 1"),
        (lambda: wf.pad(wf.zeros((0,)), 1, "edge"), wf.ShapeError, "no element to repeat"),
    ]:
        with pytest.raises(error, match=words):
            call()
    assert wf.pad([1, 2], (0, 2), constant_values=7).tolist() == [1, 2, 7, 7]


def test_slices_at_starts_that_a_trace_computes():
    x = wf.arange(12.0).reshape(3, 4)

    @wf.function
    def f(x, i, j):
        part = wf.dynamic_slice(x, [i, j], [2, 2])
        return part, wf.dynamic_update_slice(x, part * 10, [j, i])

    for i, j in [(0, 1), (1, 2), (5, -1), (-1, 9)]:
        part, whole = f(x, wf.tensor(i), wf.tensor(j))
        expected = wf.dynamic_slice(x, [i, j], [2, 2])
        np.testing.assert_array_equal(part, expected)
        np.testing.assert_array_equal(whole, wf.dynamic_update_slice(x, expected * 10, [j, i]))
    gradient = wf.grad(lambda x: wf.sum(wf.square(wf.dynamic_slice(x, [1, 1], [1, 2]))))(x)
    assert gradient.tolist() == [[0, 0, 0, 0], [0, 10, 12, 0], [0, 0, 0, 0]]
    for call, error in [
        (lambda: wf.dynamic_slice(x, [0], [1, 1]), wf.ValueError),
        (lambda: wf.dynamic_slice(x, [0, 0], [4, 1]), wf.ShapeError),
        (lambda: wf.dynamic_update_slice(x, [1.0], [0, 0]), wf.ShapeError),
    ]:
        with pytest.raises(error):
            call()


# Updates --------------------------------------------------------------------------------------------------------------------------


def updated(x, key, value, method):
    """What `x.at[key].method(value)` gives, by NumPy."""
    y = x.copy()
    functions = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
    if method == "set":
        y[key] = value
    else:
        functions[method].at(y, key, value)
    return y


KEYS = [0, -1, slice(1, None), (slice(None), 1), ([0, 0, 2], [1, 1, -1]), (slice(None, None, 2), [3, 3]), Ellipsis, np.array([[True, False, True, False]] * 3)]


@pytest.mark.parametrize("method", ["set", "add", "multiply", "min", "max"])
def test_updates_at_keys_of_every_kind(method):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    for key in KEYS:
        value = np.linspace(-3, 15, x[key].size, dtype=np.float32).reshape(x[key].shape)
        expected = updated(x, key, value, method)
        got = getattr(wf.tensor(x).at[key], method)(value)
        np.testing.assert_allclose(got, expected, rtol=1e-6)
        np.testing.assert_array_equal(wf.function(lambda x, v: getattr(x.at[key], method)(v))(wf.tensor(x), wf.tensor(value)), got)  # noqa: B023
    assert wf.tensor(x).at[0, 0].set(7).dtype == "float32"


def test_modes_of_updates():
    x = wf.tensor([1, 2, 3])
    for mode, expected in [("clip", [9, 2, 8]), ("wrap", [9, 2, 8]), ("drop", [9, 2, 3])]:
        assert x.at[[0, 5]].set([9, 8], mode=mode).tolist() == expected, mode
    assert x.at[[-1, -9]].set([9, 8], mode="drop").tolist() == [1, 2, 9]
    assert x.at[[4]].get(mode="wrap").tolist() == [2] and x.at[[4]].get(mode="drop").tolist() == [0]
    for call, error in [
        (lambda: x.at[[0, 5]].set(1), wf.OutOfRangeError),
        (lambda: x.at[0].set(1, mode="no"), wf.ValueError),
        (lambda: x.at[0].set(1.5), wf.DTypeError),
        (lambda: x.at[0].set([1, 2]), wf.ShapeError),
    ]:
        with pytest.raises(error):
            call()
    assert x.tolist() == [1, 2, 3]


def test_updates_have_gradients():
    x, v = wf.tensor([1.0, 2.0, 3.0]), wf.tensor([5.0, 7.0, 0.5])

    def loss(x, v):
        return wf.sum(wf.square(x.at[[0, 0, 2]].set(v)))

    by_x, by_v = wf.grad(loss, (0, 1))(x, v)
    assert by_x.tolist() == [0, 4, 0] and by_v.tolist() == [0, 14, 1]
    by_v = wf.grad(lambda v: wf.sum(x.at[[0, 0, 2]].multiply(v)))(v)
    assert by_v.tolist() == [7, 5, 3]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_histogram_needs_a_range(value):
    x = wf.tensor([1.0, value])
    for f in wf.histogram, wf.function(lambda x: wf.histogram(x)):
        with pytest.raises(wf.AssertionError, match="histogram: the elements reach from .* which is no range: give one"):
            f(x)
    assert both(lambda x: wf.histogram(x, 2, (0.0, 4.0))[0], x).tolist() == np.histogram([1.0, value], 2, (0.0, 4.0))[0].tolist()


@pytest.mark.parametrize("dtype", ["float32", "int16"])
def test_edges_of_intervals_rise_or_fall(dtype):
    x = wf.tensor([1, 4, 2], dtype)
    for f in wf.digitize, wf.function(lambda x, edges: wf.digitize(x, edges)):
        with pytest.raises(wf.AssertionError, match="digitize: bins has edges that neither rise nor fall"):
            f(x, wf.tensor([1, 3, 2], dtype))
        for edges in [], [2], [1, 1, 3], [3, 2, 2]:
            want = np.digitize([1, 4, 2], edges).tolist()
            assert f(x, wf.tensor(edges, dtype)).tolist() == want


def test_a_polynomial_through_points():
    rng = np.random.default_rng(3)
    x, y, w = np.linspace(-1, 2, 9), rng.normal(size=(9, 2)), rng.uniform(1, 2, size=9)
    for dtype, near in ("float64", 1e-13), ("float32", 1e-6):
        tensors = [wf.tensor(a, dtype) for a in (x, y, w)]
        got = both(lambda x, y, w: wf.polyfit(x, y, 3, w=w), *tensors)
        assert str(got.dtype) == dtype
        np.testing.assert_allclose(got.numpy(), np.polyfit(x, y, 3, w=w), rtol=near, atol=near)
    # The least squares of fewer points than coefficients are the shortest.
    with np.testing.suppress_warnings() as sup:
        sup.filter(np.exceptions.RankWarning)
        np.testing.assert_allclose(wf.polyfit(wf.tensor(x[:3]), wf.tensor(y[:3, 0]), 4).numpy(), np.polyfit(x[:3], y[:3, 0], 4), rtol=1e-10)


@pytest.mark.parametrize("error, words, arguments", [
    (wf.ValueError, "deg is -1: it is from 0 to 64", ([1.0], [1.0], -1)),
    (wf.ShapeError, "x has no element", (np.zeros(0), np.zeros(0), 1)),
    (wf.ShapeError, r"x has the shape \(1, 2\): a vector is wanted", ([[1.0, 2.0]], [1.0, 2.0], 1)),
    (wf.ShapeError, "x has 2 elements and y 3", ([1.0, 2.0], [1.0, 2.0, 3.0], 1)),
    (wf.ShapeError, r"y has the shape \(\): a vector or a matrix is wanted", ([1.0, 2.0], 1.0, 1)),
    (wf.ShapeError, "x has 2 elements and w 1", ([1.0, 2.0], [1.0, 2.0], 1, [1.0])),
])  # fmt: skip
def test_polyfit_names_what_is_wrong(error, words, arguments):
    x, y, deg, *w = arguments
    with pytest.raises(error, match="polyfit: " + words):
        wf.polyfit(x, y, deg, **({"w": w[0]} if w else {}))


# Products -------------------------------------------------------------------------------------------------------------------------


def test_einsum_takes_the_cheap_order():
    rng = np.random.default_rng(0)
    a, b, c, d = (rng.normal(size=shape) for shape in [(40, 3), (3, 50), (50, 60), (60, 2)])
    got = both(lambda *xs: wf.einsum("ab,bc,cd,de->ae", *xs), *map(wf.tensor, (a, b, c, d)))
    np.testing.assert_allclose(got, a @ b @ c @ d, rtol=1e-12)
    # From the right: no product is larger than 50 x 2.
    text = wf.function(lambda *xs: wf.einsum("ab,bc,cd,de->ae", *xs)).ir(*map(wf.tensor, (a, b, c, d)), phase="trace")
    assert "tensor<50x2xf64>" in text and "tensor<40x50xf64>" not in text
    many = [rng.normal(size=(2, 2)) for _ in range(12)]
    letters = "abcdefghijklm"
    equation = ",".join(letters[i : i + 2] for i in range(12)) + "->am"
    np.testing.assert_allclose(wf.einsum(equation, *many), np.linalg.multi_dot(many), rtol=1e-10)


def test_numbers_that_fill_are_elements():
    """They went through f64 and were clamped to the dtype's range."""
    for fill, match in ((300, "does not fit the dtype uint8"), (1.5, "an integer of at most"), (float("nan"), "an integer of at most")):
        for call in (
            lambda x: wf.pad(x, 1, constant_values=fill),
            lambda x: wf.unique(x, size=4, fill_value=fill),
            lambda x: wf.compress([True, False], x, size=4, fill_value=fill),
        ):
            for run in (call, wf.function(call)):
                with pytest.raises(wf.ValueError, match=match):
                    run(wf.tensor([1, 2], "uint8"))
    assert wf.pad(wf.tensor([1]), 1, constant_values=-7).tolist() == [-7, 1, -7]


def test_one_variable_and_quantiles_at_the_ends():
    for call in (wf.cov, wf.corrcoef):
        compiled = wf.function(lambda x, call=call: call(x))
        for rows in (2, 3, 1, 4, 1):  # the second one opens sizes
            x = wf.tensor(np.random.default_rng(rows).normal(size=(rows, 5)))
            assert compiled(x).shape == call(x).shape == (() if rows == 1 else (rows, rows))
        any_number = wf.function(lambda x, call=call: call(x), input_signature=[wf.TensorSpec([None, None], "float64")])
        assert any_number(wf.tensor(np.eye(3))).shape == (3, 3)
        with pytest.raises(wf.ShapeError, match="there is 1 variable, of which a number is given"):
            any_number(wf.tensor(np.eye(1, 3)))
    assert wf.quantile(wf.tensor([-np.inf, 1.0]), 0.5).item() == -np.inf


def test_all_elements_in_a_row():
    """As the array API has it, of arrays of any shape."""
    parts = [np.ones((2, 2)), np.float64(3), np.zeros((0, 4))]
    for join in (wf.concat, wf.concatenate, wf.function(lambda parts, axis: wf.concat(parts, axis=axis))):
        np.testing.assert_array_equal(np.asarray(join([wf.tensor(p) for p in parts], axis=None)), np.concatenate(parts, axis=None))
    with pytest.raises(IndexError, match="axis"):
        wf.concat([wf.ones(2)], axis=1)


def test_lists_of_indices_beside_floats():
    x = wf.tensor([2.0, 3.0, 4.0])
    assert wf.segment_sum(x, [0, 1, 0], 2).tolist() == [6, 3]
    assert wf.searchsorted(x, [2.5], sorter=[0, 1, 2]).tolist() == [1]


def test_orders_and_second_derivatives_of_special_functions():
    assert wf.special.polygamma(40, wf.tensor(10.0)).item() == pytest.approx(-8327848.5, rel=1e-6)
    with pytest.raises(wf.ValueError, match="the order is at most 170"):
        wf.special.polygamma(171, 1.0)
    for dtype in ("float32", "float64"):
        second = wf.grad(wf.grad(wf.special.log_ndtr))
        assert second(wf.tensor(40.0, dtype)).item() == 0
        assert second(wf.tensor(-50.0, dtype)).item() == pytest.approx(-0.9996009568, rel=1e-3)
        for x in (1e-4, 1e-8):
            assert wf.grad(wf.grad(wf.special.i1))(wf.tensor(x, dtype)).item() == pytest.approx(0.375 * x, rel=1e-5)
            assert wf.grad(wf.grad(wf.special.i1e))(wf.tensor(x, dtype)).item() == pytest.approx(-1 + 1.875 * x, rel=1e-6)


def test_a_tape_goes_by_what_a_traced_function_assigned():
    def f(x):
        for i in range(3):
            x[i] = x[i - 1] * 2 + x[(i + 1) % 3]
        return wf.sum(x * x)

    found = []
    for call in (f, wf.function(f, autograph=False)):
        b = wf.tensor([1.0, 2.0, 3.0])
        with wf.GradientTape() as tape:
            tape.watch(b)
            r = call(b)
        found.append((r.item(), tape.gradient(r, b).tolist()))
    assert found[0] == found[1] == (2541, [16, 38, 92])


def test_words_name_functions_once():
    for call, words in (
        (lambda: wf.linalg.inv(wf.ones(3)), "linalg.inv: x has the shape"),
        (lambda: wf.fft.fft(wf.zeros(0)), "fft.fft: x has the shape"),
        (lambda: wf.fft.fftfreq(2**62), "fft.fftfreq: a tensor of shape"),
    ):
        with pytest.raises(wf.ShapeError, match=words):
            call()
    with pytest.raises(TypeError, match="^grad: the function must give a floating scalar, but it gave None"):
        wf.grad(lambda x: None)(1.0)


# Options of NumPy's that records do not draw ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [{"fweights": [1, 4, 0, 2]}, {"aweights": [0.5, 1.0, 3.0, 2.0]}, {"fweights": [1, 4, 0, 2], "aweights": [0.5, 1.0, 3.0, 2.0]}])
@pytest.mark.parametrize("options", [{}, {"bias": True}, {"ddof": 2}, {"rowvar": False}])
@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
def test_covariances_of_weighted_observations(weights, options, dtype):
    rng = np.random.default_rng(3)
    x = (rng.normal(size=(3, 4)) + (1j * rng.normal(size=(3, 4)) if dtype == "complex128" else 0)).astype(dtype)
    x = x.T if options.get("rowvar") is False else x
    given = {name: np.array(values) for name, values in weights.items()}
    expected = np.cov(x, **options, **given)
    for call in (lambda x: wf.cov(x, **options, **weights), wf.function(lambda x: wf.cov(x, **options, **weights))):
        got = call(wf.tensor(x))
        assert got.dtype == dtype
        np.testing.assert_allclose(got, expected, rtol=1e-5 if dtype == "float32" else 1e-12)
    opened = wf.function(lambda x, w: wf.cov(x, aweights=w), input_signature=[wf.TensorSpec([None, None], dtype), wf.TensorSpec([None], "float64")])
    for n in (3, 5):
        x, w = rng.normal(size=(2, n)).astype(dtype), rng.uniform(0.1, 2, n)
        np.testing.assert_allclose(opened(wf.tensor(x), wf.tensor(w)), np.cov(x, aweights=w), rtol=1e-4)


def test_weights_of_observations_that_are_none():
    x = wf.tensor(np.eye(3))
    for run in (lambda call, *args: call(*args), lambda call, *args: wf.function(call)(*args)):
        with pytest.raises(wf.ShapeError, match="cov: x has 3 observations and fweights 2"):
            run(lambda x: wf.cov(x, fweights=[1, 2]), x)
        with pytest.raises(wf.ShapeError, match="cov: aweights has the shape"):
            run(lambda x: wf.cov(x, aweights=[[1.0, 2.0, 3.0]]), x)
        with pytest.raises(wf.AssertionError, match="weight in fweights that is negative"):
            run(lambda x, w: wf.cov(x, fweights=w), x, wf.tensor([1, -2, 1]))
        with pytest.raises(wf.AssertionError, match="weight in aweights that is not real"):
            run(lambda x: wf.cov(x, aweights=[1.0, 2.0, 1j]), x)
    with pytest.raises(wf.DTypeError, match="fweights"):
        wf.cov(x, fweights=[1.0, 2.0, 1.5])


def test_weights_of_another_shape():
    signature = [wf.TensorSpec([None, None], "float64"), wf.TensorSpec([None, None], "float64")]
    x = wf.ones([2, 3], dtype="float64")
    for function, name in ((lambda x, w: wf.histogram(x, 3, range=[0.0, 2.0], weights=w).hist, "histogram"),
                           (lambda x, w: wf.bincount(wf.cast(x, "int64"), weights=w, size=3), "bincount")):  # fmt: skip
        for call in (function, wf.function(function, input_signature=signature)):
            with pytest.raises(wf.ShapeError, match=rf"{name}: weights has the shape \(2, 4\), and x \(2, 3\)"):
                call(x, wf.ones([2, 4], dtype="float64"))
            assert wf.sum(call(x, x)).item() == 6


def test_edges_of_bins_that_are_a_tensor():
    x, edges = np.array([0.5, 1.5, 1.7, 2.5]), np.array([0.0, 1.0, 3.0])
    expected = np.histogram(x, edges)[0]
    for given in (edges, edges.astype(np.float32), wf.tensor(edges), wf.tensor(edges, dtype="float32"), wf.tensor([0, 1, 3]), [0, 1, 3]):
        for call in (lambda x: wf.histogram(x, given), wf.function(lambda x: wf.histogram(x, given))):  # noqa: B023
            np.testing.assert_array_equal(call(wf.tensor(x)).hist, expected)
    assert wf.histogram(x, wf.tensor(4)).hist.shape == (4,)


def test_slopes_between_coordinates():
    rng = np.random.default_rng(4)
    f, at = rng.normal(size=(4, 6)), np.cumsum(rng.uniform(0.1, 2, 6))
    for order in (1, 2):
        expected = np.gradient(f, at, axis=1, edge_order=order)
        for call in (lambda f, at: wf.gradient(f, axis=1, edge_order=order, coordinates=at),):
            for run in (call, wf.function(call), wf.function(call, input_signature=[wf.TensorSpec([None, None], "float64"), wf.TensorSpec([None], "float64")])):
                np.testing.assert_allclose(run(wf.tensor(f), wf.tensor(at)), expected, rtol=1e-11, atol=1e-12)
    both_axes = wf.gradient(f[:, :4], coordinates=at[:4])
    for one, other in zip(both_axes, np.gradient(f[:, :4], at[:4], at[:4]), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
    for axes in ((1, 0), (-1, 0), (0, 1), [1]):
        asked = np.gradient(f[:, :4], axis=axes)
        asked = asked if isinstance(asked, tuple | list) else [asked]
        given = wf.gradient(f[:, :4], axis=axes)
        given = given if isinstance(given, tuple | list) else [given]
        for one, other in zip(given, asked, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)
    with pytest.raises(wf.ValueError, match="gradient: axis has an axis twice"):
        wf.gradient(f, axis=(1, -1))
    with pytest.raises(wf.OutOfRangeError, match="gradient: axis 2 "):
        wf.gradient(f, axis=(0, 2))
    slope = wf.grad(lambda at: wf.sum(wf.square(wf.gradient(wf.tensor(f), axis=1, edge_order=2, coordinates=at))))
    loss = lambda at: (np.gradient(f, at, axis=1, edge_order=2) ** 2).sum()  # noqa: E731
    steps = np.eye(6) * 1e-6
    np.testing.assert_allclose(slope(wf.tensor(at)), [(loss(at + h) - loss(at - h)) / 2e-6 for h in steps], rtol=1e-5, atol=1e-5)
    with pytest.raises(wf.ShapeError, match="gradient: axis 1 has 6 elements and coordinates 5"):
        wf.gradient(f, axis=1, coordinates=at[:5])
    with pytest.raises(wf.ShapeError, match="coordinates has the shape"):
        wf.gradient(f, axis=1, coordinates=f)


def test_points_that_repeat():
    rng = np.random.default_rng(5)
    x, xp, fp = rng.uniform(-900, 900, 40), rng.uniform(-700, 700, 7), rng.normal(size=7)
    for period in (360.0, -360, 12.5):
        expected = np.interp(x, xp, fp, period=period)
        call = lambda x, xp, fp, period=period: wf.interp(x, xp, fp, period=period)  # noqa: E731
        for run in (call, wf.function(call), wf.function(call, input_signature=[wf.TensorSpec([None], "float64")] * 3)):
            np.testing.assert_allclose(run(wf.tensor(x), wf.tensor(xp), wf.tensor(fp)), expected, rtol=1e-9, atol=1e-10)
    for period in (0, INF, NAN):
        with pytest.raises(wf.ValueError, match="interp: the period is"):
            wf.interp(x, xp, fp, period=period)


def test_generators_draw_categories_of_a_shape():
    logits = wf.tensor([[0.0, -INF], [-INF, 0.0], [0.0, 0.0]])
    drawn = wf.random.Generator(3).categorical(logits, shape=(5, 3))
    assert drawn.shape == (5, 3) and drawn[:, 0].tolist() == [0] * 5 and drawn[:, 1].tolist() == [1] * 5
    with pytest.raises(wf.ShapeError, match="which must be its end"):
        wf.random.Generator(3).categorical(logits, shape=(3, 5))


def test_counts_of_unique_elements_without_those_left_out():
    x = wf.tensor([3, 1, 2, 3, 5])
    for size, wanted in ((2, [1, 1]), (3, [1, 1, 2]), (4, [1, 1, 2, 1]), (6, [1, 1, 2, 1, 0, 0]), (0, [])):
        _, counts = both(lambda x, size=size: wf.unique(x, size=size, return_counts=True)[1], x), wf.unique_counts(x, size=size).counts
        assert counts.tolist() == wanted
    assert wf.vmap(lambda x: wf.unique_counts(x, size=2).counts)(wf.stack([x, x])).tolist() == [[1, 1], [1, 1]]


def test_lines_to_infinite_points():
    for fp in ([1.0, INF, 2.0], [INF, INF, 1.0], [-INF, INF, 0.0], [1.0, 2.0, -INF]):
        x = np.array([-1, 0, 0.5, 1, 1.5, 2, 3])
        np.testing.assert_array_equal(both(lambda x, fp: wf.interp(x, [0.0, 1.0, 2.0], fp), wf.tensor(x), wf.tensor(fp, "float64")), np.interp(x, [0.0, 1.0, 2.0], fp))


def test_histograms_between_ends_that_are_none():
    for call in (lambda: wf.histogram([1.0, 2.0], 3, range=(0, INF)), lambda: wf.histogram([1.0, 2.0], 3, range=(NAN, 1)),
                 lambda: wf.histogram([1.0, 2.0], [0.0, NAN, 3.0]), lambda: wf.histogram([1.0, 2.0], [])):
        with pytest.raises(wf.ValueError, match="histogram: (range is two finite|bins has edges that are not in order|bins has no edge)"):
            call()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_slopes_and_covariances_without_what_records_give(dtype):
    """Records name every operand: those of evenly spaced elements and unweighted observations are here."""
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=(3, 4)).astype(dtype), rng.normal(size=(3, 4)).astype(dtype)
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if dtype == "float32" else {"rtol": 1e-12, "atol": 1e-13}
    opened = [wf.TensorSpec([None, None], dtype)]
    for spacing, axis, order in ((1.0, None, 1), (0.5, 0, 2), (2.0, 1, 1), (-3.0, (0, 1), 2)):
        call = lambda x, s=spacing, a=axis, o=order: wf.gradient(x, s, axis=a, edge_order=o)  # noqa: E731
        wanted = np.gradient(x, spacing, axis=axis, edge_order=order)
        for run in (call, wf.function(call), wf.function(call, input_signature=opened)):
            got = run(wf.tensor(x))
            for one, other in zip(got, wanted, strict=True) if isinstance(wanted, tuple | list) else [(got, wanted)]:
                np.testing.assert_allclose(one, other, **tolerance)
    for options in ({}, {"bias": True}, {"ddof": 0}, {"rowvar": False}):
        for call, wanted in ((lambda x, y, o=options: wf.cov(x, **o), np.cov(x, **options)), (lambda x, y, o=options: wf.cov(x, y, **o), np.cov(x, y, **options))):
            for run in (call, wf.function(call), wf.function(call, input_signature=opened * 2)):
                np.testing.assert_allclose(run(wf.tensor(x), wf.tensor(y)), wanted, **tolerance)
