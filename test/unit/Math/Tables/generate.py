"""Writes the tables of correctly rounded results, one file per format and function: f32/exp.txt, f64/log.txt, ...

Run: python3 generate.py [function ...]      (needs mpmath; some minutes for all; the same output every time)

Each line of a table holds the argument, or the two arguments, and the result rounded to the nearest number of the
format (ties to even). Numbers are hexadecimal as C prints and reads them, so they are exact. The arguments are special
values, the borders where an expansion changes its method, and random ones from ranges that matter for the function.
"""

import math
import os
import random
import sys

import mpmath as mp

mp.mp.prec = 2400  # The remainder of 2^1023 by pi/2 needs more than a thousand digits.

INF, NAN = math.inf, math.nan


class Format:
    def __init__(self, name, precision, least_exponent, greatest):
        self.name, self.precision, self.least_exponent = name, precision, least_exponent
        self.greatest = greatest  # The largest finite number.
        self.smallest = math.ldexp(1.0, least_exponent)  # The smallest denormal.
        self.normal = math.ldexp(1.0, least_exponent + precision - 1)

    def round(self, value):
        """The nearest number of the format to an mpf or a float; ties to even, overflow to infinity."""
        if isinstance(value, float) and (math.isnan(value) or math.isinf(value) or value == 0):
            return value
        value = mp.mpf(value)
        if mp.isnan(value) or mp.isinf(value) or value == 0:
            return float(value)
        _, exponent = mp.frexp(value)
        last = max(int(exponent) - self.precision, self.least_exponent)
        units = int(mp.nint(mp.ldexp(value, -last)))  # nint rounds ties to even.
        if units == 0:
            return math.copysign(0.0, -1.0 if value < 0 else 1.0)
        result = mp.ldexp(mp.mpf(units), last)
        return float(result) if abs(result) <= self.greatest else math.copysign(INF, float(mp.sign(value)))


def text(value):
    """A float as C's %a prints it, without zeros at the end."""
    if math.isnan(value) or math.isinf(value):
        return str(value)
    digits, exponent = value.hex().split("p")
    return (digits.rstrip("0").rstrip(".") if "." in digits else digits) + "p" + exponent


F32 = Format("f32", 24, -149, float.fromhex("0x1.fffffep+127"))
F64 = Format("f64", 53, -1074, float.fromhex("0x1.fffffffffffffp+1023"))


def extended(function, at_minus_infinity, at_infinity, domain=lambda x: True, poles=None):
    """`function` of a finite x in its domain; what C99 Annex F prescribes for the others."""
    def result(x):
        if math.isnan(x):
            return NAN
        if math.isinf(x):
            return at_infinity if x > 0 else at_minus_infinity
        if poles and x in poles:
            return poles[x](x) if callable(poles[x]) else poles[x]
        return function(mp.mpf(x)) if domain(x) else NAN
    return result


def same_zero(x):
    return x


UNARY = {
    "exp": extended(mp.exp, 0.0, INF),
    "exp2": extended(lambda x: mp.mpf(2)**x, 0.0, INF),
    "expm1": extended(mp.expm1, -1.0, INF, poles={0.0: same_zero}),
    "log": extended(mp.log, NAN, INF, lambda x: x > 0, {0.0: -INF}),
    "log2": extended(lambda x: mp.log(x) / mp.log(2), NAN, INF, lambda x: x > 0, {0.0: -INF}),
    "log10": extended(mp.log10, NAN, INF, lambda x: x > 0, {0.0: -INF}),
    "log1p": extended(mp.log1p, NAN, INF, lambda x: x > -1, {-1.0: -INF, 0.0: same_zero}),
    "tanh": extended(mp.tanh, -1.0, 1.0, poles={0.0: same_zero}),
    "erf": extended(mp.erf, -1.0, 1.0, poles={0.0: same_zero}),
    "sin": extended(mp.sin, NAN, NAN, poles={0.0: same_zero}),
    "cos": extended(mp.cos, NAN, NAN),
    "rsqrt": extended(lambda x: 1 / mp.sqrt(x), NAN, 0.0, lambda x: x > 0,
                      {0.0: lambda x: math.copysign(INF, x)}),
}


def with_digits(function):
    """A function of finite numbers in fewer digits than trigonometry needs, as many as are enough."""
    def result(x):
        with mp.workprec(500):
            return function(mp.mpf(x))
    return result


def erfcx(x):
    if x > 10**6:  # what is left out of the series is far below the last digit
        z = 1 / (2 * x * x)
        return (1 - z * (1 - 3 * z * (1 - 5 * z))) / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x) if x > -30 else mp.mpf(2) ** 2000


def erfc(x):
    return mp.erfc(x) if x < 40 else mp.mpf(2) ** -3000


def ndtr(x):
    return erfc(-x / mp.sqrt(2)) / 2


def log_ndtr(x):
    if x > 0:
        return mp.log1p(-ndtr(-x))
    return mp.log(erfcx(-x / mp.sqrt(2)) / 2) - x * x / 2


def inverse(function, slope, low, high):
    """The zero of an increasing function between bounds that are halved and then moved by Newton's steps."""
    def result(y):
        a, b = mp.mpf(low), mp.mpf(high)
        for _ in range(40):
            middle = (a + b) / 2
            a, b = (middle, b) if function(middle) < y else (a, middle)
        for _ in range(8):
            a -= (function(a) - y) / slope(a)
        return a
    return result


def erfinv(x):
    if abs(x) < mp.mpf(2) ** -100:
        return x * mp.sqrt(mp.pi) / 2
    below = inverse(lambda y: -mp.erfc(y), lambda y: 2 / mp.sqrt(mp.pi) * mp.exp(-y * y), 0, 30)(abs(x) - 1)
    return below * mp.sign(x)


def ndtri(p):
    q = min(p, 1 - p)
    if q == mp.mpf(0.5):
        return 0.0
    found = inverse(lambda x: mp.log(ndtr(x)), lambda x: mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi) / ndtr(x), -40, 1)(mp.log(q))
    return found if p < 0.5 else -found


def lgamma(x):
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(x * mp.sinpi(x))) - mp.loggamma(-x)


def gamma(x):
    if x > 200:
        return mp.mpf(2) ** 2000
    return mp.gamma(x) if x > -1000 else mp.mpf(2) ** -3000 * (-1 if int(mp.floor(x)) % 2 else 1)


def bessel(order, scaled):
    def result(x):
        a = abs(x)
        if a > 10**4:
            mu, term, total = 4 * order**2, mp.mpf(1), mp.mpf(1)
            for k in range(1, 40):
                term *= -(mu - (2 * k - 1) ** 2) / (k * 8 * a)
                total += term
            value = total / mp.sqrt(2 * mp.pi * a) if scaled else mp.mpf(2) ** 2000
        else:
            value = mp.besseli(order, a) * (mp.exp(-a) if scaled else 1)
        return -value if order == 1 and x < 0 else value
    return result


def is_pole(x):
    return x <= 0 and (math.isinf(x) or x == math.floor(x))


SPECIAL = {
    "erfc": extended(with_digits(erfc), 2.0, 0.0),
    "erfcx": extended(with_digits(erfcx), INF, 0.0),
    "erfinv": extended(with_digits(erfinv), NAN, NAN, lambda x: abs(x) < 1, {0.0: same_zero, 1.0: INF, -1.0: -INF}),
    "ndtr": extended(with_digits(ndtr), 0.0, 1.0),
    "log_ndtr": extended(with_digits(log_ndtr), -INF, -0.0),
    "ndtri": extended(with_digits(ndtri), NAN, NAN, lambda x: 0 < x < 1, {0.0: -INF, 1.0: INF}),
    "gamma": extended(with_digits(gamma), NAN, INF, lambda x: not is_pole(x), {0.0: lambda x: math.copysign(INF, x)}),
    "lgamma": extended(with_digits(lgamma), INF, INF, lambda x: True, {0.0: INF, 1.0: 0.0, 2.0: 0.0}),
    "digamma": extended(with_digits(lambda x: mp.psi(0, x)), NAN, INF, lambda x: not is_pole(x), {0.0: lambda x: math.copysign(INF, -x)}),
    "i0": extended(with_digits(bessel(0, False)), INF, INF),
    "i0e": extended(with_digits(bessel(0, True)), 0.0, 0.0),
    "i1": extended(with_digits(bessel(1, False)), -INF, INF, poles={0.0: same_zero}),
    "i1e": extended(with_digits(bessel(1, True)), -0.0, 0.0, poles={0.0: same_zero}),
    "sinpi": extended(lambda x: mp.sinpi(x) if x != mp.floor(x) else math.copysign(0.0, x), NAN, NAN, poles={0.0: same_zero}),
    "cospi": extended(lambda x: mp.cospi(x), NAN, NAN),
    "sinc": extended(lambda x: mp.sinpi(x) / (mp.pi * x) if x != mp.floor(x) else 0.0, 0.0, 0.0, poles={0.0: 1.0}),
}
ELEMENTARY = {
    "tan": extended(mp.tan, NAN, NAN, poles={0.0: same_zero}),
    "atan": extended(mp.atan, -math.pi / 2, math.pi / 2, poles={0.0: same_zero}),
    "asin": extended(mp.asin, NAN, NAN, lambda x: abs(x) <= 1, {0.0: same_zero}),
    "acos": extended(mp.acos, NAN, NAN, lambda x: abs(x) <= 1),
    "sinh": extended(mp.sinh, -INF, INF, poles={0.0: same_zero}),
    "cosh": extended(mp.cosh, INF, INF),
    "asinh": extended(mp.asinh, -INF, INF, poles={0.0: same_zero}),
    "acosh": extended(mp.acosh, NAN, INF, lambda x: x >= 1, {1.0: 0.0}),
    "atanh": extended(mp.atanh, NAN, NAN, lambda x: abs(x) < 1, {0.0: same_zero, 1.0: INF, -1.0: -INF}),
    "cbrt": extended(lambda x: mp.cbrt(x) if x > 0 else -mp.cbrt(-x), -INF, INF, poles={0.0: same_zero}),
}
UNARY |= SPECIAL | ELEMENTARY


def special_arguments(name, fmt, dice):
    """Arguments that matter for a special function: all of its range, and where it changes its way."""
    anywhere = lambda: math.ldexp(dice.uniform(1, 2), dice.randint(fmt.least_exponent, fmt.least_exponent * -1 - fmt.precision))
    near = lambda: dice.uniform(-1, 1)
    small = lambda: dice.choice((-1, 1)) * math.ldexp(dice.random(), dice.randint(-60, 0))
    most = math.log(fmt.greatest)
    edge = math.sqrt(-math.log(fmt.smallest))
    unit = lambda: 1 - math.ldexp(dice.random(), -dice.randint(1, fmt.precision))
    bessels = [lambda: dice.uniform(-10, 10), lambda: dice.uniform(6, 9), lambda: dice.uniform(10, most), small]
    circular = [near, lambda: dice.uniform(-1e3, 1e3), anywhere, lambda: dice.randint(-99, 99) / 4]
    return {
        "erfc": [lambda: dice.uniform(-6, 6), lambda: dice.uniform(0, edge), near, small],
        "erfcx": [lambda: dice.uniform(-math.sqrt(most), 6), anywhere, near, lambda: dice.uniform(0, 20)],
        "erfinv": [near, unit, small, lambda: -unit()],
        "ndtr": [lambda: dice.uniform(-9, 9), lambda: dice.uniform(-1.41 * edge, 0), near, small],
        "log_ndtr": [lambda: dice.uniform(-9, 9), lambda: -anywhere(), near, lambda: dice.uniform(0, 1.41 * edge)],
        "ndtri": [dice.random, unit, lambda: min(anywhere(), 0.7), lambda: 0.5 + dice.uniform(-0.01, 0.01)],
        "gamma": [lambda: dice.uniform(0, 8), lambda: dice.uniform(8, 171 if fmt is F64 else 35), small, lambda: dice.uniform(-170 if fmt is F64 else -34, 0)],
        "lgamma": [lambda: dice.uniform(0, 3), lambda: dice.uniform(3, 40), anywhere, lambda: 1 + dice.randint(0, 1) + small() / 9],
        "digamma": [lambda: dice.uniform(0, 3), lambda: dice.uniform(3, 40), anywhere, lambda: dice.uniform(1.4, 1.5)],
        "sinc": circular, "sinpi": circular, "cospi": circular,
    }.get(name, bessels)  # fmt: skip


def pow_exact(x, y):
    """pow of C99 Annex F; math.pow knows the special cases and only the finite ones need digits."""
    if x == 1 or y == 0:
        return 1.0
    if math.isnan(x) or math.isnan(y):
        return NAN
    if math.isinf(x) or math.isinf(y) or x == 0:
        odd = not math.isinf(y) and y == math.floor(y) and math.fmod(y, 2) != 0
        if x == 0 and y < 0:
            return math.copysign(INF, x) if odd else INF
        return math.pow(x, y)
    if x < 0 and y != math.floor(y):
        return NAN
    exponent = mp.mpf(y) * mp.log(abs(mp.mpf(x)), 2)
    if abs(exponent) > 3000:  # Far beyond both formats.
        magnitude = mp.ldexp(mp.mpf(1), 3000 if exponent > 0 else -3000)
    else:
        magnitude = mp.mpf(abs(x))**mp.mpf(y)
    return -magnitude if x < 0 and math.fmod(y, 2) != 0 else magnitude


def fmod_exact(x, y):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or y == 0:
        return NAN
    return math.fmod(x, y)


def zeta_exact(s, q):
    """The sum of (q + k)^-s; below 0 for whole s."""
    if math.isnan(s) or math.isnan(q) or s < 1 or (q < 0 and s != math.floor(s)):
        return NAN
    if s == 1 or is_pole(q):
        return INF
    if math.isinf(q):
        return 0.0
    if math.isinf(s):
        return INF if q < 1 else 1.0 if q == 1 else 0.0
    with mp.workprec(400):
        first = mp.mpf(q) ** -mp.mpf(s)
        return first if s * math.log(abs(q) + 1) > 3000 else mp.zeta(mp.mpf(s), mp.mpf(q))


def betaln_exact(a, b):
    if math.isnan(a) or math.isnan(b):
        return NAN
    with mp.workprec(400):
        return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(mp.mpf(a) + b)


def hypot_exact(x, y):
    if math.isinf(x) or math.isinf(y):
        return INF
    return NAN if math.isnan(x) or math.isnan(y) else mp.sqrt(mp.mpf(x) ** 2 + mp.mpf(y) ** 2)


def atan2_exact(y, x):
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or math.isinf(y) or x == 0 or y == 0:
        with mp.workprec(400):
            exact = {math.pi: mp.pi, math.pi / 2: mp.pi / 2, math.pi / 4: mp.pi / 4, 3 * math.pi / 4: 3 * mp.pi / 4}
            found = math.atan2(y, x)
            return math.copysign(1, found) * exact[abs(found)] if abs(found) in exact else found
    return mp.atan2(mp.mpf(y), mp.mpf(x))


def incomplete_gamma(beyond):
    def result(a, x):
        if math.isnan(a) or math.isnan(x) or a < 0 or x < 0 or (a == 0 and x == 0) or (math.isinf(a) and math.isinf(x)):
            return NAN
        if a == 0 or math.isinf(x) or x == 0 or math.isinf(a):
            return float((a == 0 or math.isinf(x)) != beyond)
        with mp.workprec(400):
            return mp.gammainc(mp.mpf(a), *((mp.mpf(x), mp.inf) if beyond else (0, mp.mpf(x))), regularized=True)
    return result


BINARY = {"pow": pow_exact, "fmod": fmod_exact, "zeta": zeta_exact, "betaln": betaln_exact, "hypot": hypot_exact, "atan2": atan2_exact,
          "gammainc": incomplete_gamma(False), "gammaincc": incomplete_gamma(True)}  # fmt: skip


def special_values(fmt):
    big = fmt.precision
    values = [0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 10.0, INF, NAN, fmt.smallest, 3 * fmt.smallest, fmt.normal,
              fmt.normal - fmt.smallest, fmt.greatest, 1 - 2.0**-big, 1 + 2.0**(1 - big), 2.0**-big, 2.0**(1 - big),
              2.0**big, 2.0**40, 2.0**40 - 2.0**(40 - big), 0.625, math.pi, math.pi / 2, math.pi / 4,
              math.sqrt(0.5), math.sqrt(2), math.log(2) / 2]
    values += [88.0, 89.0, 104.0, 709.78, 710.0, 745.0, 746.0, 127.5, 128.0, 149.0, 150.5, 1023.5, 1024.0, 1074.5]
    values = [fmt.round(v) for v in values]
    return values + [-v for v in values if not math.isnan(v)]


def with_neighbours(values, fmt):
    """Of each value the number next to it, that before and that after, with both signs."""
    values = [fmt.round(value) for value in values]
    return [sign * fmt.round(value * (1 + step * 2.0**(1 - fmt.precision))) for value in values for step in (-1, 0, 1) for sign in (1, -1)]


def ends_of_ways(name, fmt):
    """Arguments where a formula changes its way, and the worst that are known."""
    if name == "tan":
        return with_neighbours([2.0**17, *(k * math.pi / 4 for k in (1, 3, 5, 99, 1e4 + 1, 83443, 83445))], fmt) + [
            float.fromhex(x) for x in ("0x1.2e895p+1", "0x1.4781dep+8", "0x1.33da5cp+5", "0x1.96b772p+16")]
    if name == "atan":
        return with_neighbours([1.0, 2.0**60, 2.0**62], fmt) + [float.fromhex("0x1.fc9dfp-1"), float.fromhex("0x1.1f497p+0")]
    if name == "erfinv":  # -log(1 - x^2) is 5, and the ends
        return [x for x in with_neighbours([math.sqrt(1 - math.exp(-5)), 1.0], fmt) if abs(x) <= 1] + [float.fromhex("0x1.fd9392p-1")]
    if name == "lgamma":
        return [x for x in with_neighbours([0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 8.0], fmt) if x > 0]
    return []


def ends_of_pairs(name):
    """The same of two arguments: for atan2 also where the quotient is tiny, or next to 1."""
    if name != "atan2":
        return []
    ends = [2.0**e for e in (-149, -126, -64, -62, 61, 62, 127)] + [3 * 2.0**-149, 1.75 * 2.0**-62, 1.75 * 2.0**61, 1.0, 1 - 2.0**-24]
    return [(y, x * sign) for y in ends for x in ends for sign in (1, -1)]


def random_arguments(name, fmt, dice):
    """Arguments that matter for a function of one argument."""
    high = math.log(fmt.greatest)
    anywhere = lambda: math.ldexp(dice.uniform(1, 2), dice.randint(fmt.least_exponent, fmt.least_exponent * -1 - fmt.precision))
    sign = lambda: dice.choice((-1, 1))
    ranges = {
        "exp": [lambda: dice.uniform(-high - 10, high), lambda: dice.uniform(-1, 1)],
        "exp2": [lambda: dice.uniform(fmt.least_exponent, math.log2(fmt.greatest)), lambda: dice.uniform(-1, 1)],
        "expm1": [lambda: dice.uniform(-5, 5), lambda: dice.uniform(-0.5, 0.5), lambda: dice.uniform(5, high),
                  lambda: sign() * math.ldexp(1, dice.randint(-60, 0)) * dice.random()],
        "log1p": [lambda: dice.uniform(-1, 1), anywhere,
                  lambda: sign() * math.ldexp(1, dice.randint(-60, 0)) * dice.random()],
        "erf": [lambda: dice.uniform(-1, 1), lambda: dice.uniform(-6, 6),
                lambda: sign() * math.ldexp(1, dice.randint(-60, 0)) * dice.random()],
        "tanh": [lambda: dice.uniform(-1, 1), lambda: dice.uniform(-10, 10),
                 lambda: sign() * math.ldexp(1, dice.randint(-60, 0)) * dice.random()],
    }
    logarithms = [anywhere, lambda: dice.uniform(0.5, 2), lambda: 1 + sign() * math.ldexp(dice.random(), dice.randint(-20, -2))]
    circular = [lambda: dice.uniform(-1, 1), lambda: dice.uniform(-1e3, 1e3), lambda: sign() * anywhere(),
                lambda: sign() * math.ldexp(dice.uniform(1, 2), dice.randint(30, 100)),
                lambda: dice.randint(-10**4, 10**4) * math.pi / 2]
    inner = [lambda: dice.uniform(-1, 1), lambda: dice.uniform(0.4, 0.6), lambda: sign() * (1 - math.ldexp(dice.random(), -dice.randint(1, fmt.precision))),
             lambda: sign() * math.ldexp(1, dice.randint(-60, 0)) * dice.random()]  # fmt: skip
    wide = [lambda: dice.uniform(-1, 1), lambda: dice.uniform(-9, 9), lambda: sign() * anywhere()]
    ranges.update(tan=circular, asin=inner, acos=inner, atanh=inner, atan=wide, asinh=wide, cbrt=wide,
                  sinh=[*wide[:2], lambda: dice.uniform(-high, high)], cosh=[*wide[:2], lambda: dice.uniform(-high, high)],
                  acosh=[lambda: dice.uniform(1, 2), lambda: 1 + math.ldexp(dice.random(), dice.randint(-20, 2)), anywhere])
    ranges.update(log=logarithms, log2=logarithms, log10=logarithms, sin=circular, cos=circular, rsqrt=[anywhere])
    makers = special_arguments(name, fmt, dice) if name in SPECIAL else ranges[name]
    return [makers[i % len(makers)]() for i in range(160)]


def random_pairs(name, fmt, dice):
    pairs = []
    spread = lambda low, high: math.exp(dice.uniform(math.log(low), math.log(high)))
    for i in range(60):
        if name == "zeta":
            pairs += [(dice.uniform(1.01, 20), dice.uniform(0.01, 20)), (float(dice.randint(2, 9)), spread(1e-3, 1e6)),
                      *(pair for pair in [(float(dice.randint(2, 7)), dice.uniform(-10, 0))] if abs(zeta_exact(*map(fmt.round, pair))) > 1),
                      (spread(1.001, 9), spread(1e-3, 1e3))]
            continue
        if name in ("hypot", "atan2"):
            pairs += [(dice.uniform(-9, 9), dice.uniform(-9, 9)), (spread(1e-35, 1e35), -spread(1e-35, 1e35)),
                      (spread(fmt.normal, 9 * fmt.normal), spread(fmt.smallest, fmt.normal))]
            continue
        if name.startswith("gammainc"):
            pairs += [(dice.uniform(0.01, 30), dice.uniform(0.01, 30)), (dice.uniform(0.01, 2), dice.uniform(0.01, 2)),
                      (dice.uniform(20, 200), dice.uniform(20, 200)), (1000.0, dice.uniform(900, 1100)),
                      (spread(1e-3, 2), spread(1e-3, 3))]
            continue
        if name == "betaln":  # it has zeros, beside which it has as many digits as beside 1
            pairs += [pair for pair in ((dice.uniform(0.01, 30), dice.uniform(0.01, 30)), (spread(1e-3, 1e7), spread(1e-3, 1e7)),
                                        (spread(8, 1e9), spread(8, 1e9))) if abs(betaln_exact(*map(fmt.round, pair))) > 1]
            continue
        if name == "fmod":
            near = dice.uniform(1, 9)
            pairs += [(dice.uniform(-1e3, 1e3), dice.uniform(-9, 9)), (near * dice.randint(1, 99), near),
                      (math.ldexp(dice.random(), dice.randint(-120, 120)), math.ldexp(dice.random(), dice.randint(-149, 0)))]
        else:
            base = math.ldexp(dice.uniform(1, 2), dice.randint(-60, 60))
            exponent = dice.uniform(fmt.least_exponent, math.log2(fmt.greatest)) / math.log2(base)
            pairs += [(dice.uniform(0, 10), dice.uniform(-10, 10)), (base, exponent),
                      (dice.uniform(-9, 0), float(dice.randint(-20, 20))),
                      (1 + math.ldexp(dice.random(), dice.randint(-20, -2)), dice.uniform(-999, 999))]
    return pairs


def vanishes_between_poles(name, x):
    """Whether a function has zeros around x that it is not accurate at."""
    return name in ("lgamma", "digamma") and x < -0.1 and not math.isinf(x)


def rows_of(name, fmt):
    dice = random.Random(name + fmt.name)
    if name in UNARY:
        arguments = [x for x in special_values(fmt) if not vanishes_between_poles(name, x)] + [fmt.round(x) for x in random_arguments(name, fmt, dice)]
        arguments += ends_of_ways(name, fmt)
        return [(x, fmt.round(UNARY[name](x))) for x in arguments]
    few = [0.0, 1.0, 2.0, 3.0, 0.5, fmt.greatest, 2.0**(fmt.precision - 1) + 1, INF]
    few = few + [-v for v in few] + [NAN]
    pairs = [(x, y) for x in few for y in few] if name != "betaln" else [(1.0, 1.0), (2.0, 0.5), (NAN, 1.0)]
    if name.startswith("gammainc"):
        pairs = [(a, x) for a, x in pairs if max(a, x) < 4 or INF in (a, x) or a != a or x != x]
    if name == "zeta":  # powers of opposite signs cancel
        pairs = [(s, q) for s, q in pairs if not (q < 0 and s > 100)]
    pairs += [(fmt.round(x), fmt.round(y)) for x, y in random_pairs(name, fmt, dice)] + ends_of_pairs(name)
    return [(x, y, fmt.round(BINARY[name](x, y))) for x, y in pairs]


def write(name, fmt):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), fmt.name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".txt"), "w") as file:
        file.write(f"# Correctly rounded results of {name} on {fmt.name}, written by generate.py, which says more.\n")
        for row in rows_of(name, fmt):
            file.write(" ".join(text(number) for number in row) + "\n")


for function in sys.argv[1:] or list(UNARY) + list(BINARY):
    for one_format in (F32, F64):
        write(function, one_format)
