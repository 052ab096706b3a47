"""Special functions: their values against mpmath's, derivatives of all orders, what they refuse, and `weft.special`."""

import numpy as np
import pytest

import weft as wf

special = wf.special

# Of mpmath, 17 digits: name, operands, result.
VALUES = [
    ("betainc", (2.5, 0.75, 0.3), 0.032807526674675373), ("betainc", (300.0, 200.0, 0.61), 0.67416269352637732), ("betainc", (0.03, 0.02, 0.9), 0.42530954788628715),
    ("gammainc_da", (1.5, 0.75), -0.35535578248184514), ("gammainc_da", (30.0, 33.0), -0.060477394493677717), ("gammainc", (1e6, 1.001e6), 0.84134478636834029),
    ("gammaincc", (1e6, 1.004e6), 3.234544731347768e-5), ("zeta", (2.0, -0.25), 18.541879647671606), ("lgamma", (-3.3,), -0.82435580501742646), ("digamma", (-3.3,), 3.6203534605921258),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operands", "expected"), VALUES)
def test_values(name, operands, expected):
    function = getattr(wf, name)
    assert function(*map(np.float64, operands)).item() == pytest.approx(expected, rel=2e-13)
    traced = wf.function(function)
    for dtype in (np.float32, np.float64):
        given = [np.full(5, x, dtype) for x in operands]
        assert traced(*given).numpy().tobytes() == function(*given).numpy().tobytes()


# The same of points where formulas lose digits: little is left of 1, or parameters are large or nearly 0.
HARD = [
    ("betainc", (227.99682455797225, 0.022798126961714425, 0.996656330767171), 0.00773017264603392786),
    ("betainc", (434.0697, 0.052384, 0.998463), 0.021626338765023832), ("betainc", (541.2524, 0.20199, 0.99358), 0.0020984454221940962),
    ("betainc", (3188.0, 1.028, 0.99911), 0.0616574141335832715), ("betainc", (7915.0, 90.29, 0.98581), 0.0102397530706955475),
    ("betainc", (309.765, 4.737, 0.982), 0.290810330495150941), ("betainc", (4.1309, 0.11467, 0.9214), 0.104371468044987466),
    ("betainc", (8000.0, 0.125, 0.9999), 0.0427539382313148153), ("betainc", (1.422, 2425.0, 0.0010477), 0.849821640945617502),
    ("betainc", (0.001, 0.0008, 0.9), 0.445419488397749492), ("betainc", (0.02, 1e-06, 0.95), 0.0000529104017642965935),
    ("betainc", (2.0, 0.001, 0.9999999999990905), 0.0263723976403030811),
    ("gammaincc", (0.1257034147419798, 1.1305340681125857), 0.025311609668213065),
    ("gammaincc", (0.011702074250952734, 0.006111320766417593), 0.0516964145228636866), ("gammaincc", (0.02, 1.5), 0.00205382071542709055),
    ("gammaincc", (0.0005, 0.1), 0.000911228633503349455), ("gammaincc", (0.8, 1.0), 0.281429292237066752),
    ("gammaincc", (15.5, 16.0), 0.416744029945542781),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operands", "expected"), HARD)
def test_values_where_digits_are_lost(name, operands, expected):
    got = getattr(wf, name)(*map(np.float64, operands)).item()
    assert abs(got - expected) <= 50 * np.spacing(expected)


def slope_of(function, x, step=1e-4):
    """By differences of fourth order."""
    value = lambda d: function(wf.tensor(x + d * step)).numpy()
    return (8 * (value(1) - value(-1)) - (value(2) - value(-2))) / (12 * step)


UNARY = {
    "erfc": (-3, 5), "erfcx": (-2, 30), "erfinv": (-0.95, 0.95), "ndtr": (-6, 4), "log_ndtr": (-20, 4), "ndtri": (0.01, 0.99),
    "gamma": (0.3, 6), "lgamma": (0.2, 30), "digamma": (0.2, 30), "i0": (-9, 9), "i0e": (0.2, 20), "i1": (-9, 9), "i1e": (0.2, 20),
    "sinpi": (-3, 3), "cospi": (-3, 3), "sinc": (-3, 3), "tan": (-1.2, 1.2), "atan": (-4, 4), "asin": (-0.9, 0.9), "acos": (-0.9, 0.9),
    "sinh": (-3, 3), "cosh": (-3, 3), "asinh": (-4, 4), "acosh": (1.2, 5), "atanh": (-0.9, 0.9), "cbrt": (0.2, 9),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
def test_derivatives_of_one(name):
    """Reverse, forward, and of second order in both ways, in float64."""
    function, x = getattr(wf, name), np.linspace(*UNARY[name], 13)
    first = wf.grad(lambda t: wf.sum(function(t)))
    second = wf.grad(lambda t: wf.sum(first(t)))
    ones = wf.ones_like(wf.tensor(x))
    expected = slope_of(function, x)
    np.testing.assert_allclose(first(wf.tensor(x)).numpy(), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())
    np.testing.assert_allclose(wf.jvp(function, (wf.tensor(x),), (ones,))[1].numpy(), expected, rtol=1e-7, atol=1e-7 * np.abs(expected).max())
    expected = slope_of(first, x)
    np.testing.assert_allclose(second(wf.tensor(x)).numpy(), expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    forward = wf.jvp(first, (wf.tensor(x),), (ones,))[1].numpy()
    np.testing.assert_allclose(forward, expected, rtol=1e-6, atol=1e-7 * np.abs(expected).max())
    compiled = wf.function(first)(wf.tensor(x)).numpy()
    np.testing.assert_allclose(compiled, first(wf.tensor(x)).numpy(), rtol=1e-14)


OF_SEVERAL = {  # where, and by which operands
    "zeta": ((3.5, 1.2), [1]), "betaln": ((2.5, 0.7), [0, 1]), "gammainc": ((2.5, 1.7), [0, 1]), "gammaincc": ((2.5, 4.7), [0, 1]),
    "gammainc_da": ((2.5, 1.7), [1]), "betainc": ((2.5, 0.7, 0.3), [2]), "atan2": ((0.7, -1.2), [0, 1]), "hypot": ((0.7, -1.2), [0, 1]),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_derivatives_of_several(name):
    operands, by = OF_SEVERAL[name]
    for i in by:
        function = lambda t, i=i: getattr(wf, name)(*operands[:i], t, *operands[i + 1:])
        x = np.float64(operands[i])
        assert wf.grad(function)(wf.tensor(x)).item() == pytest.approx(slope_of(function, x), rel=1e-8)
        if name not in ("gammainc", "gammaincc") or i == 1:  # the derivative by a has none by a
            second = wf.grad(wf.grad(function))(wf.tensor(x)).item()
            assert second == pytest.approx(slope_of(wf.grad(function), x), rel=1e-7)


@pytest.mark.parametrize(("name", "operands", "i", "what"), [
    ("zeta", (3.5, 1.2), 0, "x"), ("betainc", (2.5, 0.7, 0.3), 0, "a"), ("betainc", (2.5, 0.7, 0.3), 1, "b"), ("gammainc_da", (2.5, 1.7), 0, "a"),
])  # fmt: skip
def test_derivatives_that_there_are_none_of(name, operands, i, what):
    function = lambda t: getattr(wf, name)(*operands[:i], t, *operands[i + 1:])
    for ask in (wf.grad(function), wf.function(wf.grad(function)), lambda t: wf.jvp(function, (t,), (wf.ones_like(t),))):
        with pytest.raises(wf.StateError, match=f"{name}: there is no derivative by {what}; hand over stop_gradient"):
            ask(wf.tensor(np.float64(operands[i])))


def test_polygamma():
    np.testing.assert_allclose(wf.polygamma(0, [1.0, 2.5]), wf.digamma([1.0, 2.5]))
    np.testing.assert_allclose(wf.polygamma(2, np.array([1.0])), [-2.4041138063191886], rtol=1e-15)
    trigamma = wf.grad(lambda x: wf.sum(wf.digamma(x)))(wf.tensor([0.7, 4.0]))
    np.testing.assert_allclose(trigamma, wf.polygamma(1, [0.7, 4.0]), rtol=1e-6)
    with pytest.raises(ValueError, match="order must not be negative"):
        wf.polygamma(-1, [1.0])


def test_far_and_near_in_float32():
    """What formulas of the parts lose."""
    assert wf.grad(wf.erfcx)(wf.tensor(1e4)).item() == pytest.approx(-5.641896e-09, rel=1e-5)
    assert wf.grad(wf.log_ndtr)(wf.tensor(-1e3)).item() == pytest.approx(1000.001, rel=1e-6)
    assert wf.grad(wf.sinc)(wf.tensor(1e-3)).item() == pytest.approx(-3.289865e-03, rel=1e-6)
    assert wf.grad(wf.grad(wf.i1))(wf.tensor(0.0)).item() == 0
    assert wf.grad(lambda t: wf.atan2(t, 0.0) + wf.hypot(t, 0.0))(wf.tensor(0.0)).item() == 0
    assert wf.grad(wf.asinh)(wf.tensor(1e30)).item() == pytest.approx(1e-30)


def test_names_of_scipy():
    x = wf.tensor([0.3, 2.5])
    for name, other in (("gammaln", "lgamma"), ("psi", "digamma"), ("expit", "logistic"), ("erfc", "erfc"), ("ndtri", "ndtri")):
        np.testing.assert_array_equal(getattr(special, name)(x), getattr(wf, other)(x))
    assert all(callable(getattr(special, name)) for name in special.__all__)
