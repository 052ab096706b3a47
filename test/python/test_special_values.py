"""Values at which functions behave in their own way, against NumPy: infinities, NaN, zeros of either sign, ties."""

import time

import numpy as np
import pytest
import weft as wf

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 3.4e38, 1e-45, 1e-38, -2.4317065623407515e38,
           2.2098908292477595e38, 7, 3, 2]  # fmt: skip


def _samples(dtype):
    rng = np.random.default_rng(7)
    drawn = [rng.normal(size=3000) * 10.0 ** rng.integers(-30, 30, 3000) for _ in range(2)]
    whole = [rng.integers(-99, 99, 2000), rng.integers(-9, 9, 2000)]
    grid = np.meshgrid(np.array(SPECIAL).astype(dtype), np.array(SPECIAL).astype(dtype))
    return [np.concatenate([a, b, c.ravel()]).astype(dtype) for a, b, c in zip(drawn, whole, grid)]


def _distance(got, wanted):
    """In units in the last place; NaN is as near to NaN as can be, and to nothing else."""
    assert got.dtype == wanted.dtype
    with np.errstate(all="ignore"):
        away = np.abs(got - wanted) / np.spacing(np.abs(wanted))
    same = (got == wanted) | (np.isnan(got) & np.isnan(wanted))
    return np.where(same, 0, np.where(np.isnan(away), np.inf, away))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "most"), [("floor_divide", 0), ("remainder", 0), ("hypot", 2), ("copysign", 0), ("cbrt", 2), ("sign", 0)]
)
def test_values_are_those_of_numpy(name, most, dtype):
    arrays = _samples(dtype)[: 1 if name in ("cbrt", "sign") else 2]
    tensors = [wf.tensor(x) for x in arrays]
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(*arrays)
        if name == "floor_divide":  # of infinities the quotient, as the array API has it
            wanted = np.where(np.isinf(arrays[0]) | np.isinf(arrays[1]), arrays[0] / arrays[1], wanted)
    got = getattr(wf, name)(*tensors).numpy()
    assert _distance(got, wanted).max() <= most
    zeros = wanted == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(wanted[zeros]))
    compiled = wf.function(lambda *xs: getattr(wf, name)(*xs))(*tensors).numpy()
    assert compiled.tobytes() == got.tobytes()


def test_quotients_by_infinity_and_with_large_steps():
    assert (wf.tensor([-1.0, 1.0, -0.0]) // np.inf).tolist() == [0, 0, 0]
    assert (wf.tensor([-2.4317065623407515e38]) // wf.tensor([2.2098908292477595e38])).tolist() == [-2]
    quotient, rest = divmod(wf.tensor([-1.0, 7.5]), wf.tensor([np.inf, -2.0]))
    assert quotient.tolist() == [0, -4] and rest.tolist() == [np.inf, -0.5]
    assert wf.grad(lambda x: x // 3.0)(wf.tensor(7.0)).item() == 0


@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "round"])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_whole_numbers_of_integers_are_they_themselves(name, dtype):
    x = wf.tensor([2**31 - 1 if dtype == "int32" else 2**53 + 1, -3, 0], dtype)
    for got in (getattr(wf, name)(x), wf.function(lambda t: getattr(wf, name)(t))(x)):
        assert got.dtype == dtype and got.tolist() == x.tolist()


def test_nan_is_sorted_last():
    rows, values = [1.0, 2.0, 3.0, np.nan], [np.nan, 0.5, np.inf]
    for side in ("left", "right"):
        wanted = np.searchsorted(rows, values, side).tolist()
        assert wf.searchsorted(wf.tensor(rows), wf.tensor(values), side).tolist() == wanted
        assert wf.function(lambda: wf.searchsorted(wf.tensor(rows), wf.tensor(values), side))().tolist() == wanted


@pytest.mark.parametrize("ends", [(-5, 8, 11), (0, -3, 7), (0, 10, 4), (-1, 1, 5)])
def test_lines_of_integers_are_rounded_down(ends):
    for endpoint in (True, False):
        wanted = np.linspace(*ends, endpoint=endpoint, dtype="int32").tolist()
        assert wf.linspace(*ends, endpoint=endpoint, dtype="int32").tolist() == wanted


@pytest.mark.parametrize(
    ("function", "at", "slope"),
    [
        (wf.relu, 0.0, 0.0),
        (wf.relu, -0.0, 0.0),
        (wf.relu, 1e-30, 1.0),
        (wf.nn.relu6, 0.0, 0.0),
        (wf.nn.relu6, 6.0, 0.0),
        (wf.nn.relu6, 3.0, 1.0),
        (wf.nn.leaky_relu, 0.0, pytest.approx(0.2)),
        (wf.nn.hard_sigmoid, 3.0, 0.0),
        (wf.nn.hard_sigmoid, -3.0, 0.0),
        (wf.nn.elu, 0.0, 1.0),
        (wf.nn.softplus, 0.0, 0.5),
        (lambda x: wf.maximum(x, 0), 0.0, 0.5),
    ],
)
def test_slopes_at_kinks(function, at, slope):
    assert wf.grad(function)(wf.tensor(at)).item() == slope
    assert wf.function(lambda x: wf.grad(function)(x))(wf.tensor(at)).item() == slope


def test_slopes_at_kinks_of_tensorflow():
    tf = pytest.importorskip("weft.tf")
    labels = tf.constant([0.0, 0.25, 1.0])
    cases = [
        (tf.nn.relu, 0.0),
        (tf.nn.leaky_relu, 0.2),
        (tf.keras.layers.LeakyReLU(0.3), 0.3),
        (tf.keras.layers.ReLU(max_value=2.0, negative_slope=0.5), 0.0),
        (lambda x: tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=x), [0.5, 0.25, -0.5]),
    ]
    for function, slopes in cases:
        x = tf.Variable(tf.zeros([3]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(function(x))
        np.testing.assert_allclose(tape.gradient(y, x).numpy(), np.broadcast_to(slopes, 3), rtol=1e-6)
    assert tf.nn.leaky_relu(tf.constant([-1.0, 2.0]), alpha=3.0).numpy().tolist() == [-3.0, 2.0]


def test_relu_of_special_values():
    for run in (wf.relu, wf.function(lambda x: wf.relu(x))):
        got = run(wf.tensor(np.array(SPECIAL, "float32"))).numpy()
        wanted = np.maximum(np.array(SPECIAL, "float32"), 0) + 0
        np.testing.assert_array_equal(got, wanted)
        assert not np.signbit(got[~np.isnan(got)]).any()
    with pytest.raises(wf.DTypeError, match="relu: x must be a number"):
        wf.relu([True])


def test_quantiles_of_infinities():
    assert wf.quantile([np.inf, np.inf, 1.0], 0.75).item() == np.inf
    assert wf.percentile([-np.inf, -np.inf, 1.0], 25).item() == -np.inf
    assert wf.quantile([1.0, np.inf], 0.5).item() == np.inf


def test_norms_of_nothing():
    for order in (1, -1):
        with pytest.raises(wf.ShapeError, match="norm: x has the shape"):
            wf.norm(wf.zeros((3, 0)), order)
    for order in (np.inf, -np.inf):
        with pytest.raises(wf.ShapeError, match="norm: x has the shape"):
            wf.norm(wf.zeros((0,)), order)
    assert wf.norm(wf.zeros((3, 0)), np.inf).item() == 0
    assert wf.norm(wf.zeros((0,))).item() == 0


def test_softmax_along_any_axis():
    x = np.random.default_rng(3).normal(size=(2, 3, 4))
    for axis in (-1, 0, 1, 2, -3):
        e = np.exp(x - x.max(axis, keepdims=True))
        share, total = e / e.sum(axis, keepdims=True), np.log(np.exp(x).sum(axis))
        t = wf.tensor(x)
        np.testing.assert_allclose(wf.nn.softmax(t, axis).numpy(), share, rtol=1e-14)
        np.testing.assert_allclose(wf.nn.log_softmax(t, axis=axis).numpy(), np.log(share), rtol=1e-13)
        np.testing.assert_allclose(wf.logsumexp(t, axis).numpy(), total, rtol=1e-14)
        slope = wf.grad(lambda t: wf.sum(wf.logsumexp(t, axis)))(t)
        np.testing.assert_allclose(slope.numpy(), share, rtol=1e-13)
    assert wf.logsumexp([-np.inf, -np.inf]).item() == -np.inf and wf.logsumexp([np.inf, 1.0]).item() == np.inf
    assert wf.logsumexp(wf.ones((2, 3)), keepdims=True).shape == (1, 1)
    for function in (wf.nn.softmax, wf.nn.log_softmax, wf.logsumexp):
        with pytest.raises(wf.OutOfRangeError, match=function.__name__ + ".*axis 3 is out of range"):
            function(x, 3)


def test_convolutions_promote():
    x, kernel = wf.ones((1, 4, 1)), wf.full((2, 1, 1), 0.1, "float64")
    for function in (wf.convolution, wf.convolution_transpose):
        for y in (function(x, kernel), wf.function(lambda: function(x, kernel))()):
            assert y.dtype == "float64" and y[0, 1, 0].item() == pytest.approx(0.2, rel=1e-15)


def test_gamma_next_to_its_pole():
    x = np.array([-1e-30, -1e-100, -1e-200, -1e-290, -1e-301, -1e-305, 1e-200, 1e-305])
    assert np.array_equal(wf.gamma(wf.tensor(x)).numpy(), 1 / x)


def test_betainc_at_the_ends_of_parameters():
    inf, nan = np.inf, np.nan
    rows = [(inf, 1, 0.5, 0), (1, inf, 0.5, 1), (0, 1, 0.5, 1), (1, 0, 0.5, 0), (0, inf, 0.5, 1), (inf, 0, 0.5, 0), (0, 0, 0.5, nan), (inf, inf, 0.5, nan)]
    rows += [(inf, 1, 1, 1), (1, inf, 0, 0), (0, 1, 0, 0), (1, 0, 1, 1), (0, 1, 1, 1), (1, 0, 0, 0), (-1, inf, 0.5, nan), (0, -1, 0.5, nan), (inf, 1, 1.5, nan), (nan, inf, 0.5, nan)]
    for dtype in ("float32", "float64"):
        *given, expected = (np.array(of, dtype) for of in zip(*rows, strict=True))
        for function in (wf.betainc, wf.function(wf.betainc)):
            np.testing.assert_array_equal(function(*map(wf.tensor, given)).numpy(), expected)


@pytest.mark.parametrize(
    ("a", "b", "x", "expected"),  # of mpmath
    [
        (1e+20, 1e+20, 0.5, 0.5),
        (1e+30, 1e+30, 0.5, 0.5),
        (1.7e+308, 1.7e+308, 0.5, 0.5),
        (2000000.0, 2000000.0, 0.5, 0.5),
        (2000000.0, 3000000.0, 0.4003, 0.914539932068374457),
        (2000000.0, 3000000.0, 0.4, 0.500024278854786451),
        (1500000.0, 4000000000.0, 0.0003757, 0.996975047246520489),
        (1000000000000000.0, 1000000000000000.0, 0.50000001, 0.814453316440507457),
        (1000000000000.0, 300000000000000.0, 0.0033222, 2.07647456029619422e-71),
        (1e+20, 3e+20, 0.25, 0.500000000007677648),
        (5000000.0, 2000000.0, 0.714, 0.0471533008673070245),
        (5000000.0, 2000000.0, 0.7127, 8.73343777126592976e-21),
    ],
)
def test_betainc_of_large_parameters(a, b, x, expected):
    # Of these a fraction takes too many steps to come to an end.
    started = time.perf_counter()
    got = wf.betainc(*(wf.tensor(of, dtype="float64") for of in (a, b, x))).item()
    assert time.perf_counter() - started < 1
    assert got == pytest.approx(expected, rel=1e-13)


def test_betainc_of_parameters_next_to_zero():
    # The limit of the share over b, from mpmath; and of two small ones b / (a + b).
    tiny = np.array([1e-200, 1e-280, 1e-300])
    share = wf.betainc(wf.tensor(0.5, dtype="float64"), wf.tensor(tiny), wf.tensor(0.5, dtype="float64")).numpy()
    np.testing.assert_allclose(share / tiny, 1.762747174039086, rtol=1e-14)
    both = wf.betainc(wf.tensor(np.array([1e-280, 3e-200])), wf.tensor(np.array([3e-280, 1e-200])), wf.tensor(0.3, dtype="float64"))
    np.testing.assert_allclose(both.numpy(), [0.75, 0.25], rtol=1e-15)
