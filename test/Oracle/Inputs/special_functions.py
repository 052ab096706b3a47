"""Special functions in NumPy alone, by sums, continued fractions and recurrences on long doubles: what every-op.py compares with.

Each takes an array of floats, computes on long doubles, and gives the array's dtype.
"""
import functools
import math

import numpy as np

L = np.longdouble
PI = L("3.14159265358979323846264338327950288")
BERNOULLI = [L(p) / L(q) for p, q in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798),
                                      (-174611, 330), (854513, 138), (-236364091, 2730))]  # fmt: skip


def on_long_doubles(function):
    @functools.wraps(function)
    def called(*xs):
        dtype = np.result_type(*xs, np.float32)  # also of integers
        wide = np.broadcast_arrays(*(np.asarray(x, L) for x in xs))
        with np.errstate(all="ignore"):
            return np.asarray(function(*wide)).astype(dtype)
    return called


def erfcx_of_positive(x):
    """By the Taylor series of erf, and by the continued fraction of Laplace from 2 on."""
    small = np.minimum(x, 2)
    term = total = small
    for n in range(1, 80):
        term = -term * small * small / n
        total = total + term / (2 * n + 1)
    near = np.exp(small * small) * (1 - 2 / np.sqrt(PI) * total)
    large, fraction = np.maximum(x, 2), L(0)
    for n in range(400, 0, -1):
        fraction = n / L(2) / (large + fraction)
    return np.where(x < 2, near, 1 / np.sqrt(PI) / (large + fraction))


@on_long_doubles
def erfcx(x):
    positive = erfcx_of_positive(np.abs(x))
    return np.where(x < 0, 2 * np.exp(x * x) - positive, positive)


def wide_erfc(x):
    positive = erfcx_of_positive(np.abs(x)) * np.exp(-x * x)
    return np.where(x < 0, 2 - positive, positive)


erfc = on_long_doubles(wide_erfc)


def wide_ndtr(x):
    return wide_erfc(-x / np.sqrt(L(2))) / 2


ndtr = on_long_doubles(wide_ndtr)


@on_long_doubles
def log_ndtr(x):
    low = np.minimum(x, 0)
    return np.where(x < 0, np.log(erfcx_of_positive(-low / np.sqrt(L(2))) / 2) - low * low / 2, np.log1p(-wide_ndtr(-x)))


@on_long_doubles
def ndtri(p):
    """The zero between bounds that are halved, on the side below 1/2."""
    q = np.where(p < 0.5, p, 1 - p)
    low, high = np.full(p.shape, L(-40)), np.zeros(p.shape, L)
    for _ in range(75):
        middle = (low + high) / 2
        below = wide_ndtr(middle) < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    found = np.where(q == 0.5, 0, np.where(q == 0, -np.inf, high))
    return np.where((p >= 0) & (p <= 1), np.where(p < 0.5, found, -found), np.nan)


@on_long_doubles
def erfinv(x):
    """The same, of 1 - |x|; what is small has a series."""
    q = (1 - np.abs(x)) / 2
    low, high = np.full(x.shape, L(-12)), np.zeros(x.shape, L)
    for _ in range(75):
        middle = (low + high) / 2
        below = wide_erfc(-middle) / 2 < q
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    z = np.sqrt(PI) / 2 * np.abs(x)
    small = z * (1 + z * z / 3 * (1 + z * z * 7 / 10))
    found = np.where(np.abs(x) < 1e-3, small, np.where(q == 0, np.inf, -high))
    return np.where(np.abs(x) <= 1, np.copysign(found, x), np.nan)


def sin_pi(x):
    """sin(pi x) by the distance to the nearest whole number."""
    n = np.rint(np.fmod(x, 2))
    rest = np.fmod(x, 2) - n
    return np.where(rest == 0, np.copysign(L(0), x), np.where(n % 2 == 0, 1, -1) * np.sin(PI * rest))


sinpi = on_long_doubles(sin_pi)


@on_long_doubles
def cospi(x):
    rest = np.fmod(np.abs(x), 2)
    return np.where(np.abs(rest - 1) > 0.5, 1, -1) * sin_pi(0.5 - np.abs(np.where(rest > 1.5, rest - 2, np.where(rest > 0.5, rest - 1, rest))))


@on_long_doubles
def sinc(x):
    return np.where(x == 0, 1, np.where(np.isinf(x), 0, sin_pi(x) / (PI * np.where(x == 0, 1, x))))


def moved_up(x):
    """x plus a whole number, from 20 on, and the numbers on the way."""
    steps = [np.where(x + k < 20, x + k, np.inf) for k in range(20)]
    return np.where(x < 20, x + np.ceil(20 - np.minimum(x, 20)), x), steps


def lgamma_of_positive(x):
    far, steps = moved_up(x)
    product = L(1)
    for step in steps:
        product = product * np.where(np.isinf(step), 1, step)
    series = sum(b / (2 * k * (2 * k - 1)) / far ** (2 * k - 1) for k, b in enumerate(BERNOULLI, 1))
    found = (far - 0.5) * (np.log(far) - 1) + (np.log(2 * PI) - 1) / 2 + series - np.log(product)
    return np.where(np.isinf(x), x, np.where((x == 1) | (x == 2), 0, found))


def wide_lgamma(x):
    a = np.abs(x)
    positive = lgamma_of_positive(np.where(a == 0, 1, a))
    reflected = np.log(PI) - np.log(a * np.abs(sin_pi(a))) - positive
    reflected = np.where(a < 1e-30, -np.log(a), reflected)
    return np.where(np.isinf(a), a, np.where(a == 0, np.inf, np.where(x < 0, reflected, positive)))


lgamma = on_long_doubles(wide_lgamma)


@on_long_doubles
def gamma(x):
    positive = np.vectorize(lambda v: L(math.factorial(int(v) - 1)) if v == np.rint(v) and 0 < v < 30 else np.exp(wide_lgamma(v)), otypes=[L])(x)
    found = np.where(x < 0, np.where(np.floor(x) % 2 == 0, 1, -1) * positive, positive)
    found = np.where((x < 0) & (x == np.rint(x)), np.nan, found)
    return np.where(x == 0, np.copysign(L(np.inf), x), np.where(x == -np.inf, np.nan, found))


@on_long_doubles
def digamma(x):
    positive = np.where(x > 0, x, 1 - x)
    far, steps = moved_up(positive)
    series = sum(b / (2 * k) / far ** (2 * k) for k, b in enumerate(BERNOULLI, 1))
    found = np.log(far) - 1 / (2 * far) - series - sum(1 / step for step in steps)
    reflected = found - PI * sin_pi(0.5 - np.abs(x - np.rint(x))) / np.where(x - np.rint(x) < 0, -1, 1) / sin_pi(np.abs(x - np.rint(x)))
    found = np.where(x > 0, found, np.where(np.isinf(x) | (x == np.rint(x)), np.nan, reflected))
    return np.where(x == 0, np.copysign(L(np.inf), -x), found)


def zeta_of_positive(s, q):
    total = sum((q + k) ** -s for k in range(29, -1, -1))
    a = q + 30
    power = a**-s
    total = total + a * power / (s - 1) + power / 2
    factor = s * power / a
    for k, b in enumerate(BERNOULLI, 1):
        total = total + np.where(power == 0, 0, factor * b / math.factorial(2 * k))
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (a * a)
    return total


def wide_zeta(s, q):
    """Below 0 by terms up to there; whole distances are the same on the other side."""
    positive = zeta_of_positive(s, np.where(q > 0, q, 1))
    n = np.rint(np.maximum(q, -1e9))
    rest = q - n
    odd = np.where((s % 2 == 0) | np.isinf(s), 1, -1)
    both = rest**-s + zeta_of_positive(s, 1 + rest) + odd * (zeta_of_positive(s, 1 - rest) - zeta_of_positive(s, 1 - np.minimum(q, 0)))
    found = np.where(q > 0, positive, np.where(s == np.rint(s), both, np.nan))
    found = np.where((q <= 0) & (q == np.rint(q)), np.inf, np.where(q == np.inf, 0, found))
    found = np.where(s == 1, np.inf, np.where(s < 1, np.nan, found))
    return np.where(np.isnan(s) | np.isnan(q), np.nan, found)


zeta = on_long_doubles(wide_zeta)


def polygamma(n, x):
    if n == 0:
        return digamma(x)
    return zeta(np.full_like(x, n + 1), x) * x.dtype.type((-1) ** (n + 1) * math.factorial(n))


@on_long_doubles
def betaln(a, b):
    return wide_lgamma(a) + wide_lgamma(b) - wide_lgamma(a + b)


def bessel(order, x, scaled):
    """The mean of exp(x cos t) cos(n t) over as many angles as it takes; far out the series in 1 / x."""
    @on_long_doubles
    def called(x):
        a = np.abs(x)
        near, far = np.minimum(a, 800), np.maximum(a, 800)
        angles = 2 * PI * np.arange(600, dtype=L) / 600
        mean = np.mean(np.exp(near[..., None] * (np.cos(angles) - 1)) * (np.cos(order * angles)), -1)
        if order == 1:  # by its own series where the mean has lost its digits
            z, term, total = near * near / 4, near / 2, near / 2
            for k in range(1, 40):
                term = term * z / (k * (k + 1))
                total = total + term
            mean = np.where(near < 2, total * np.exp(-near), mean)
        term = total = np.ones_like(far)
        for k in range(1, 12):
            term = term * -(4 * order**2 - (2 * k - 1) ** 2) / (k * 8 * far)
            total = total + term
        found = np.where(a < 800, mean, np.where(np.isinf(a), 0, total / np.sqrt(2 * PI * far)))
        found = found if scaled else np.where(a > 2000, np.inf, found * np.exp(np.minimum(a, 2000)))
        return np.copysign(found, x) if order == 1 else np.where(np.isnan(x), x, found)
    return called(x)


def erf(x):
    return np.vectorize(math.erf, otypes=[x.dtype])(x)


def share_below(a, x):
    """The series of gamma(a) - gamma(a, x) over gamma(a), by as many terms as it takes."""
    term = total = 1 / a
    for k in range(1, 4000):
        term = term * x / (a + k)
        total = total + term
    return total * np.exp(a * np.log(x) - x - wide_lgamma(a))


def share_beyond(a, x):
    """The continued fraction of gamma(a, x) over gamma(a), from its end."""
    tail = np.zeros_like(x)
    for k in range(3000, 0, -1):
        tail = k * (k - a) / (x + 2 * k + 1 - a - tail)
    return np.exp(a * np.log(x) - x - wide_lgamma(a)) / (x + 1 - a - tail)


def shares(a, x):
    """Of positive finite numbers the shares below and beyond, and of others what both are."""
    regular = (a > 0) & (x > 0) & (a < 1e4) & (x < 1e4)
    p, y = np.where(regular, a, 1), np.where(regular, x, 1)
    far = y > p + 1
    below, beyond = share_below(p, np.where(far, 1, y)), share_beyond(p, np.where(far, y, p + 2))
    low, high = np.where(far, 1 - beyond, below), np.where(far, beyond, 1 - below)
    whole = np.where(x > a, 1, 0)
    known = (a >= 0) & (x >= 0) & ~((a == 0) & (x == 0)) & ~(np.isinf(a) & np.isinf(x))
    nothing = np.where(known, 0, np.nan)
    # What is next to 0 is x^a / gamma(a + 1).
    small = (x < 1e-30) & (a < 1e4) & (a > 0)
    tiny = np.where(x == 0, 0, np.exp(np.where(small, a, 1) * np.log(np.where((x > 0) & small, x, 1)) - wide_lgamma(np.where(small, a, 1) + 1)))
    low, high = np.where(regular, low, whole), np.where(regular, high, 1 - whole)
    return np.where(small, tiny, low) + nothing, np.where(small, 1 - tiny, high) + nothing


gammainc = on_long_doubles(lambda a, x: shares(a, x)[0])
gammaincc = on_long_doubles(lambda a, x: shares(a, x)[1])


@on_long_doubles
def gammainc_da(a, x):
    """By differences of high order of the smaller share."""
    step = L("0.01") * np.sqrt(a) * np.minimum(a, 1)
    share = lambda d: np.where(x > a + 1, -shares(a + d * step, x)[1], shares(a + d * step, x)[0])
    weights = [(1, L(4) / 5), (2, -L(1) / 5), (3, L(4) / 105), (4, -L(1) / 280)]
    return sum(w * (share(d) - share(-d)) for d, w in weights) / step


@on_long_doubles
def betainc(a, b, x):
    """By sums over the binomial distribution's continuous form: the series of hypergeometric terms on the nearer side."""
    regular = (a > 0) & (b > 0) & (x > 0) & (x < 1) & (a < 1e4) & (b < 1e4)
    p, q, t = np.where(regular, a, 1), np.where(regular, b, 1), np.where(regular, x, L(0.5))
    swap = t > (p + 1) / (p + q + 2)
    p, q, t = np.where(swap, q, p), np.where(swap, p, q), np.where(swap, 1 - t, t)
    term = total = 1 / p
    for k in range(6000):  # x^p (1 - x)^q / (p B) times the sum of (p + q)_k / (p + 1)_k x^k
        term = term * (p + q + k) / (p + 1 + k) * t
        total = total + term
    found = total * np.exp(p * np.log(t) + q * np.log1p(-t) - (wide_lgamma(p) + wide_lgamma(q) - wide_lgamma(p + q)))
    found = np.where(swap, 1 - found, found)
    at_one, at_zero = (b == 0) | (a == np.inf), (a == 0) | (b == np.inf)
    known = (a >= 0) & (b >= 0) & (x >= 0) & (x <= 1) & ~(at_one & at_zero)
    inside = np.where(at_one, 0, np.where(at_zero, 1, np.where(x < 1e-30, 0, np.where(a > 1e4, 0, np.nan))))
    return np.where(regular, found, np.where(known, np.where(x == 1, 1, np.where(x == 0, 0, inside)), np.nan))
