"""Distributions: against their distribution functions and moments, derivatives, and what no parameter may be."""

import math

import numpy as np
import pytest

import weft as wf

KEY = wf.random.key(11)
COUNT = 20_000


def gammainc(a, x):
    return wf.gammainc(wf.full(x.shape, a, "float64"), wf.tensor(x, "float64")).numpy()


def betainc(a, b, x):
    return wf.betainc(wf.full(x.shape, a, "float64"), wf.full(x.shape, b, "float64"), wf.tensor(x, "float64")).numpy()


def student_below(df):
    def below(x):
        half = 0.5 * betainc(df / 2, 0.5, df / (df + x * x))
        return np.where(x < 0, half, 1 - half)

    return below


R = wf.random
CONTINUOUS = {
    "exponential": (lambda **o: R.exponential(2.0, **o), lambda x: 1 - np.exp(-x / 2)),
    "rayleigh": (lambda **o: R.rayleigh(2.0, **o), lambda x: 1 - np.exp(-x * x / 8)),
    "pareto": (lambda **o: R.pareto(3.0, **o), lambda x: 1 - x**-3.0),
    "weibull": (lambda **o: R.weibull(1.5, **o), lambda x: 1 - np.exp(-(x**1.5))),
    "laplace": (lambda **o: R.laplace(1.0, 2.0, **o), lambda x: 0.5 + 0.5 * np.sign(x - 1) * -np.expm1(-np.abs(x - 1) / 2)),
    "logistic": (lambda **o: R.logistic(1.0, 2.0, **o), lambda x: 1 / (1 + np.exp(-(x - 1) / 2))),
    "gumbel": (lambda **o: R.gumbel(1.0, 2.0, **o), lambda x: np.exp(-np.exp(-(x - 1) / 2))),
    "cauchy": (lambda **o: R.cauchy(1.0, 2.0, **o), lambda x: 0.5 + np.arctan((x - 1) / 2) / np.pi),
    "lognormal": (
        lambda **o: R.lognormal(0.5, 0.7, **o),
        lambda x: np.array([0.5 * math.erfc(-(math.log(v) - 0.5) / (0.7 * math.sqrt(2))) for v in x]),
    ),
    "gamma 0.1": (lambda **o: R.gamma(0.1, **o), lambda x: gammainc(0.1, x)),
    "gamma 0.9": (lambda **o: R.gamma(0.9, **o), lambda x: gammainc(0.9, x)),
    "gamma 1": (lambda **o: R.gamma(1.0, **o), lambda x: gammainc(1.0, x)),
    "gamma 4.5": (lambda **o: R.gamma(4.5, **o), lambda x: gammainc(4.5, x)),
    "gamma 1000": (lambda **o: R.gamma(1000.0, **o), lambda x: gammainc(1000.0, x)),
    "chisquare": (lambda **o: R.chisquare(3.0, **o), lambda x: gammainc(1.5, x / 2)),
    "beta": (lambda **o: R.beta(0.5, 2.5, **o), lambda x: betainc(0.5, 2.5, x)),
    "student_t": (lambda **o: R.student_t(2.5, **o), student_below(2.5)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_against_the_distribution_function(name):
    """By Kolmogorov and Smirnov, whose statistic is above 1.95 for one key of a thousand; the key is fixed."""
    draw, below = CONTINUOUS[name]
    x = np.sort(draw(shape=(COUNT,), key=KEY).numpy().astype(np.float64))
    share, at = below(x), np.arange(COUNT + 1) / COUNT
    statistic = max(np.max(np.abs(share - at[:-1])), np.max(np.abs(share - at[1:])))
    assert math.sqrt(COUNT) * statistic < 1.95


def poisson_share(rate, k):
    return np.exp(k * math.log(rate) - rate - np.array([math.lgamma(v + 1) for v in k]))


def binomial_share(n, p, k):
    choices = np.array([math.lgamma(n + 1) - math.lgamma(v + 1) - math.lgamma(n - v + 1) for v in k])
    return np.exp(choices + k * math.log(p) + (n - k) * math.log1p(-p))


DISCRETE = {
    "geometric": (lambda **o: R.geometric(0.3, **o), lambda k: 0.3 * 0.7 ** (k - 1.0), 1),
    "poisson 0.7": (lambda **o: R.poisson(0.7, **o), lambda k: poisson_share(0.7, k), 0),
    "poisson 9.9": (lambda **o: R.poisson(9.9, **o), lambda k: poisson_share(9.9, k), 0),
    "poisson 10": (lambda **o: R.poisson(10.0, **o), lambda k: poisson_share(10.0, k), 0),
    "poisson 60": (lambda **o: R.poisson(60.0, **o), lambda k: poisson_share(60.0, k), 0),
    "binomial few": (lambda **o: R.binomial(20.0, 0.2, **o), lambda k: binomial_share(20, 0.2, k), 0),
    "binomial most": (lambda **o: R.binomial(20.0, 0.9, **o), lambda k: binomial_share(20, 0.9, k), 0),
    "binomial half": (lambda **o: R.binomial(100.0, 0.5, **o), lambda k: binomial_share(100, 0.5, k), 0),
    "binomial many": (lambda **o: R.binomial(60.0, 0.75, **o), lambda k: binomial_share(60, 0.75, k), 0),
}


@pytest.mark.parametrize("name", DISCRETE)
def test_against_the_probabilities(name):
    """By chi-squared of the values that come at least ten times; the bound is five standard deviations of it."""
    draw, share, least = DISCRETE[name]
    numbers = draw(shape=(COUNT,), key=KEY)
    assert numbers.dtype == wf.int64 and int(wf.min(numbers)) >= least
    top = int(wf.max(numbers)) + 1
    k = np.arange(least, top + 40 if "binomial" not in name else min(top + 1, {"binomial half": 100, "binomial many": 60}.get(name, 20) + 1))
    wanted = COUNT * share(k)
    found = np.array([np.sum(numbers.numpy() == v) for v in k])
    often = wanted >= 10
    statistic = np.sum((found[often] - wanted[often]) ** 2 / wanted[often])
    freedom = np.sum(often) - 1
    assert statistic < freedom + 5 * math.sqrt(2 * freedom)
    assert np.sum(found[~often]) < np.sum(wanted[~often]) + 5 * math.sqrt(np.sum(wanted[~often]) + 5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_dtypes(dtype):
    a = wf.tensor([0.5, 3.0], dtype)
    for name in ("exponential", "gamma", "chisquare", "student_t", "pareto"):
        x = getattr(R, name)(a, shape=(50, 2), key=KEY)
        assert x.dtype == a.dtype and bool(wf.all(wf.isfinite(x)))
    narrow = R.gamma(wf.cast(a, "float32"), shape=(50, 2), key=KEY)
    if dtype in ("float16", "bfloat16"):  # computed in float32 and rounded once
        np.testing.assert_array_equal(R.gamma(a, shape=(50, 2), key=KEY).numpy(), wf.cast(narrow, dtype).numpy())


def test_large_counts():
    mean = wf.mean(wf.cast(R.poisson(1e12, shape=(2000,), key=KEY), "float64"))
    assert float(mean) == pytest.approx(1e12, abs=5 * 1e6 / math.sqrt(2000))
    mean = wf.mean(wf.cast(R.binomial(wf.tensor(1e9, "float64"), wf.tensor(0.25, "float64"), shape=(2000,), key=KEY), "float64"))
    assert float(mean) == pytest.approx(2.5e8, abs=5 * math.sqrt(1e9 * 3 / 16 / 2000))


def test_vectors():
    shares = R.dirichlet([0.5, 1.5, 3.0], shape=(COUNT,), key=KEY)
    assert shares.shape == (COUNT, 3)
    np.testing.assert_allclose(wf.sum(shares, -1).numpy(), 1, atol=1e-6)
    np.testing.assert_allclose(wf.mean(shares, 0).numpy(), np.array([0.5, 1.5, 3]) / 5, atol=0.01)
    counts = R.multinomial(30.0, [0.1, 0.2, 0.7], shape=(COUNT,), key=KEY)
    assert counts.shape == (COUNT, 3) and counts.dtype == wf.int64
    assert bool(wf.all(wf.sum(counts, -1) == 30))
    np.testing.assert_allclose(wf.mean(wf.cast(counts, "float64"), 0).numpy(), [3, 6, 21], atol=0.1)
    covariance = np.array([[2.0, 0.6], [0.6, 1.0]])
    x = R.multivariate_normal(wf.tensor([1.0, -2.0], "float64"), covariance, shape=(COUNT,), key=KEY).numpy()
    np.testing.assert_allclose(x.mean(0), [1, -2], atol=0.05)
    np.testing.assert_allclose(np.cov(x.T), covariance, atol=0.06)


def test_choice():
    p = np.array([0.1, 0.0, 0.6, 0.3])
    chosen = R.choice(wf.arange(4), (COUNT,), p=p, key=KEY).numpy()
    np.testing.assert_allclose(np.bincount(chosen, minlength=4) / COUNT, p, atol=0.02)
    assert not np.any(chosen == 1)
    rows = R.choice(wf.reshape(wf.arange(12), (4, 3)), (2, 2), key=KEY)
    assert rows.shape == (2, 2, 3)
    for options in ({}, {"p": [1.0, 2.0, 3.0, 4.0, 5.0]}):
        once = R.choice(wf.arange(5), (5,), replace=False, key=KEY, **options)
        assert sorted(once.tolist()) == [0, 1, 2, 3, 4]
    assert R.choice(wf.arange(5), key=KEY).shape == ()
    assert R.choice(wf.zeros((0,)), (0,), p=wf.zeros((0,)), key=KEY).shape == (0,)
    # A number stands for the numbers up to it, eagerly and in traces.
    for draw in (lambda: R.choice(7, (3, 4), key=KEY), lambda: R.choice(wf.tensor(7), (3, 4), key=KEY), wf.function(lambda: R.choice(7, (3, 4), key=KEY))):
        np.testing.assert_array_equal(draw().numpy(), R.choice(wf.arange(7), (3, 4), key=KEY).numpy())
    with pytest.raises(wf.ShapeError, match="arange of how many there are is wanted"):
        wf.function(lambda n: R.choice(n, (3,), key=KEY))(wf.tensor(7))
    with pytest.raises(ValueError, match="2 of 0 slices"):
        R.choice(0, (2,), key=KEY)


def test_categorical_of_a_shape():
    p = np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 0.0]])
    for logits, axis in ((np.log(np.maximum(p, 1e-30)), -1), (np.log(np.maximum(p, 1e-30)).T, 0)):
        for draw in (R.categorical, wf.function(R.categorical)):
            drawn = draw(logits, axis, (COUNT, 2), key=KEY)
            assert drawn.shape == (COUNT, 2) and drawn.dtype == wf.int64
            for column, wanted in zip(drawn.numpy().T, p):
                np.testing.assert_allclose(np.bincount(column, minlength=3) / COUNT, wanted, atol=0.02)
    assert R.categorical(np.zeros(4), shape=(2, 3), key=KEY).shape == (2, 3)
    for shape in ((2,), (), (2, 3)):
        with pytest.raises(wf.ShapeError, match=r"random.categorical: the shape is .*, but logits without the axis have the shape \(5, 2\)"):
            R.categorical(np.zeros((5, 2, 4)), shape=shape, key=KEY)


@pytest.mark.parametrize("a", [0.02, 0.3, 1.0, 2.5, 40.0, 400.0, 600.0, 5e4])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_derivative_of_gamma_is_at_a_fixed_share(a, dtype):
    """By differences of the distribution function: x'(a) is -F_a / F_x."""
    with wf.GradientTape() as tape:
        parameter = wf.full((200,), a, dtype)
        tape.watch(parameter)
        y = R.loggamma(parameter, key=KEY)
    got = tape.gradient(y, parameter).numpy()
    logarithm = y.numpy().astype(np.float64)
    use = logarithm > -25  # of smaller ones the share is no function of x in float64
    x, step = np.exp(logarithm[use]), 1e-5 * a
    by_a = (gammainc(a + step, x) - gammainc(a - step, x)) / (2 * step)
    by_log = x * np.exp((a - 1) * np.log(x) - x - math.lgamma(a))
    wanted = -by_a / by_log
    near = (np.abs(gammainc(a, x) - 0.5) < 0.49) if a > 1 else np.ones(x.shape, bool)  # of the tails differences lose the digits
    rel = 2e-3 if dtype == "float32" or a > 1e4 else 1e-4
    np.testing.assert_allclose(got[use][near], wanted[near], rtol=rel, atol=rel * np.max(np.abs(wanted)) * 0.01)
    rest = logarithm[~use]
    np.testing.assert_allclose(got[~use], (float(wf.digamma(wf.tensor(a + 1, "float64"))) - rest) / a, rtol=1e-4)


def test_there_is_no_second_derivative_of_gamma_by_its_parameter():
    def slope(a):
        return wf.grad(lambda a: wf.sum(R.loggamma(a, key=KEY)))(a)

    a = wf.tensor([0.5, 3.0], "float64")
    second = wf.grad(lambda a: wf.sum(slope(a)))
    for each in (second, wf.function(second)):
        with pytest.raises(wf.StateError, match=r"random\.loggamma: there is no derivative by a"):
            each(a)
    # Of the cotangent there is one: the slope again.
    scaled = wf.grad(lambda c: wf.sum(wf.grad(lambda a: wf.sum(c * R.loggamma(a, key=KEY)))(a)))
    np.testing.assert_array_equal(scaled(wf.ones_like(a)).numpy(), slope(a).numpy())


def test_derivatives_flow_through_what_is_made_of_gammas():
    def loss(a, b):
        return wf.mean(R.beta(a, b, shape=(COUNT,), key=KEY)) + wf.mean(wf.square(R.dirichlet(wf.stack([a, b]), shape=(COUNT,), key=KEY)[:, 0]))

    a, b = wf.tensor(2.0, "float64"), wf.tensor(3.0, "float64")
    by_a, by_b = wf.grad(loss, (0, 1))(a, b)
    # Of means a / (a + b) and a (a + 1) / ((a + b) (a + b + 1)).
    wanted_a = 3 / 25 + (5 * 30 - 6 * 11) / 900
    wanted_b = -2 / 25 - 6 * 11 / 900
    assert float(by_a) == pytest.approx(wanted_a, rel=0.05)
    assert float(by_b) == pytest.approx(wanted_b, rel=0.05)
    compiled = wf.function(wf.grad(loss, (0, 1)))(a, b)
    assert [float(x) for x in compiled] == pytest.approx([float(by_a), float(by_b)], rel=1e-9)
    _, tangent = wf.jvp(lambda df: R.student_t(df, shape=(3,), key=KEY), (a,), (wf.ones_like(a),))
    assert tangent.shape == (3,) and bool(wf.all(wf.isfinite(tangent)))


BAD = [
    (lambda: R.exponential(0.0), "exponential: scale is not positive"),
    (lambda: R.laplace(0.0, -1.0), "laplace: scale is not positive"),
    (lambda: R.gamma([1.0, 0.0]), "gamma: a is not positive"),
    (lambda: R.gamma(float("nan")), "gamma: a is not positive"),
    (lambda: R.beta(1.0, -1.0), "beta: b is not positive"),
    (lambda: R.geometric(0.0), "geometric: p is not above 0"),
    (lambda: R.poisson(-1.0), "poisson: lam is negative"),
    (lambda: R.binomial(2.5, 0.5), "binomial: n is no whole number"),
    (lambda: R.binomial(2.0, 1.5), "binomial: p is not from 0 to 1"),
    (lambda: R.multinomial(2.0, [0.5, 0.6]), "the sum of the probabilities is not 1"),
    (lambda: R.choice(wf.arange(2), (1,), p=[-1.0, 1.0]), "a number of p is negative or not finite"),
    (lambda: R.choice(3, (2,), p=[0.0, 0.0, 0.0]), "no number of p is positive"),
    (lambda: R.choice(3, (2,), p=[1.0, 0.0, 0.0], replace=False), "fewer numbers of p are positive"),
    (lambda: R.choice(3, (2,), p=[1.0, float("nan"), 0.0]), "negative or not finite"),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_parameters_that_are_none(call, words):
    with pytest.raises(wf.AssertionError, match=words):
        call()
    with pytest.raises(wf.AssertionError, match=words):
        wf.function(call)()


def test_shapes_that_do_not_fit():
    with pytest.raises(wf.ShapeError, match=r"random.gamma: a parameter of the shape \(2,\) does not broadcast to the shape \(3,\)"):
        R.gamma([1.0, 2.0], shape=(3,))
    with pytest.raises(wf.ShapeError, match="cannot have the size -1"):
        R.gamma(1.0, shape=(-1,))
    with pytest.raises(wf.ShapeError, match="do not broadcast"):
        R.beta([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(wf.ShapeError, match="alpha is a scalar"):
        R.dirichlet(1.0)
    with pytest.raises(wf.ValueError, match="3 of 2 slices are to be chosen without replacement"):
        R.choice(wf.arange(2), (3,), replace=False)
    with pytest.raises(wf.LinAlgError):
        R.multivariate_normal([0.0, 0.0], [[1.0, 2.0], [2.0, 1.0]])


def test_a_failed_call_leaves_the_generator():
    wf.random.set_seed(9)
    first = wf.random.uniform((2,))
    wf.random.set_seed(9)
    with pytest.raises(wf.AssertionError):
        R.gamma(-1.0)
    np.testing.assert_array_equal(wf.random.uniform((2,)).numpy(), first.numpy())


def test_geometric_ends_at_the_largest_number():
    assert R.geometric(wf.tensor(1e-30), key=R.key(1)).numpy() == np.iinfo(np.int64).max


def test_choice_of_as_many_as_have_a_chance():
    chosen = R.choice(wf.arange(4), (2,), p=[0.0, 0.5, 0.0, 0.5], replace=False, key=R.key(3))
    assert sorted(chosen.tolist()) == [1, 3]
    assert R.choice(wf.arange(2), (0,), p=[0.0, 0.0]).shape == (0,)
