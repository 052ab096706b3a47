"""Fits the minimax polynomials of the special functions, and of what follows from few of them, and prints SpecialCoefficients.h.

Run: python3 fit_special.py [name ...] | clang-format > SpecialCoefficients.h     (needs mpmath; some ten minutes)

How they are found is said in fit_coefficients.py. An f32 is computed in f64 and rounded, but for the functions that have
polynomials of their own for it, whose names end in F32: with coefficients of 24 bits where they are computed in f32.
"""

import functools
import sys
from fractions import Fraction

import mpmath as mp

from fit_coefficients import emit_parts, emit_polynomial, hex_float, round_to, series

mpf = mp.mpf


def erfcx(x):
    if x > 10**4:  # exp(x^2) erfc(x), whose asymptotic series has digits enough there
        z, term, total = 1 / (2 * x * x), mpf(1), mpf(1)
        for k in range(1, 20):
            term *= -(2 * k - 1) * z
            total += term
        return total / (x * mp.sqrt(mp.pi))
    return mp.exp(x * x) * mp.erfc(x)


def erfcx_excess(t):
    if t == 1:
        return 2 / mp.sqrt(mp.pi) - 1
    x = 4 * (1 + t) / (1 - t)
    return (1 + 2 * x) * erfcx(x) - 1


@functools.cache
def erfinv_of_w(w):
    """erfinv(x) where w = -log(1 - x^2)."""
    complement = mp.exp(-w) / (1 + mp.sqrt(-mp.expm1(-w)))  # 1 - x
    if w < 1:
        x = mp.sqrt(-mp.expm1(-w))
        y = x * mp.sqrt(mp.pi) / 2
        for _ in range(60):
            step = (mp.erf(y) - x) * mp.sqrt(mp.pi) / 2 * mp.exp(y * y)
            y -= step
            if abs(step) < abs(y) * mpf(2) ** -150:
                break
        return y
    y = mp.sqrt(max(w - mp.log(w) / 2, mpf("0.5")))
    for _ in range(60):  # log(erfc(y)) is nearly a parabola
        tail = mp.erfc(y)
        step = (mp.log(tail) - mp.log(complement)) * tail / (2 / mp.sqrt(mp.pi) * mp.exp(-y * y))
        y += step
        if abs(step) < mpf(2) ** -150:
            break
    return y


def bessel_scaled(order):
    """sqrt(x) exp(-x) I(x) as a function of 1/x."""
    def value(v):
        if v == 0:
            return 1 / mp.sqrt(2 * mp.pi)
        x = 1 / v
        if x > 150:
            term, total, mu = mpf(1), mpf(1), 4 * order**2
            for k in range(1, 80):
                term *= -(mu - (2 * k - 1) ** 2) / (k * 8 * x)
                total += term
            return total / mp.sqrt(2 * mp.pi)
        return mp.sqrt(x) * mp.exp(-x) * mp.besseli(order, x)
    return value


def in_x(function):
    """A function of x = sqrt(z) as one of z."""
    return lambda z: function(mp.sqrt(z))


POLYNOMIALS = {}


def polynomial(name, comment, target, weight, low, high, degree, at_once=False, bits=53):
    POLYNOMIALS[name] = lambda: emit_polynomial(name, comment, target, weight, low, high, degree, bits, at_once)


polynomial("erfcxExcess", "P in (1 + 2x) erfcx(x) = 1 + P(t), t = (x - 4) / (x + 4), x >= 0; relative error.",
           erfcx_excess, lambda t: 1 / (1 + erfcx_excess(t)), -1, 1, 24)
polynomial("erfinvCentral", "P in erfinv(x) = x P(w - 2.5), w = -log(1 - x^2) <= 5; relative error.",
           lambda u: mp.sqrt(mp.pi) / 2 if u == mpf("-2.5") else
           erfinv_of_w(u + mpf("2.5")) / mp.sqrt(-mp.expm1(-u - mpf("2.5"))),
           lambda u: 1, mpf("-2.5"), mpf("2.52"), 22)
polynomial("erfinvCentralF32", "P in erfinv(x) = x (sqrt(pi) / 2 + w P(w)), w = -log(1 - x^2) <= 5; relative error.",
           lambda w: (erfinv_of_w(max(w, mpf(10) ** -8)) / mp.sqrt(-mp.expm1(-max(w, mpf(10) ** -8))) - mp.sqrt(mp.pi) / 2) / max(w, mpf(10) ** -8),
           lambda w: w * mp.sqrt(-mp.expm1(-w)) / erfinv_of_w(w) if w else mpf(0), 0, mpf("5.005"), 8, bits=24)
polynomial("erfinvTailF32", "P in erfinv(x) = s + P(s - 3), s = sqrt(-log(1 - x^2)) from sqrt(5) to 4.1; relative error.",
           lambda u: erfinv_of_w((u + 3) ** 2) - (u + 3), lambda u: 1 / erfinv_of_w((u + 3) ** 2), mp.sqrt(5) - mpf("3.002"), mpf("1.1"), 7, bits=24)
polynomial("erfinvTail", "P in erfinv(x) = P(s - 4), s = sqrt(-log(1 - x^2)) from sqrt(5) to 6.02; relative error.",
           lambda u: erfinv_of_w((u + 4) ** 2), lambda u: 1 / (u + 4), mp.sqrt(5) - mpf("4.01"), mpf("2.02"), 28, at_once=True)
polynomial("erfinvFar", "P in erfinv(x) = s P(1 / s - 0.1), the same s from 6 to 27.5; relative error.",
           lambda v: erfinv_of_w(1 / (v + mpf("0.1")) ** 2) * (v + mpf("0.1")), lambda v: 1,
           1 / mpf("27.5") - mpf("0.1"), 1 / mpf("5.98") - mpf("0.1"), 25)
polynomial("lgammaAtTwo", "P in lgamma(2 + f) = f + f P(f), -0.6 <= f <= 0.72; relative error.",
           series(lambda f: mp.loggamma(2 + f) / f - 1, -mp.euler),
           series(lambda f: f / mp.loggamma(2 + f), 1 / (1 - mp.euler)), mpf("-0.6"), mpf("0.72"), 21)


def stirling(v):
    """What Stirling's formula leaves of lgamma, times x, as a function of 1/x^2."""
    if v == 0:
        return mpf(1) / 12
    x = 1 / mp.sqrt(v)
    if x > 50:
        return mp.fsum(mp.bernoulli(2 * k) / (2 * k * (2 * k - 1)) * v ** (k - 1) for k in range(1, 40))
    return x * (mp.loggamma(x) - ((x - 0.5) * mp.log(x) - x + mp.log(2 * mp.pi) / 2))


polynomial("stirlingSeries", "P in lgamma(x) = (x - 1/2) log(x) - x + log(2 pi) / 2 + P(1/x^2) / x, x >= 8.",
           stirling, lambda v: 1, 0, mpf(1) / 64, 6)


def lgamma_weight(f):
    """Of y = 2 + f relative to lgamma(y) from 1.5 on, and relative to lgamma(y - 1) below 2.5, whichever is more."""
    y, weights = 2 + f, []
    if y < mpf("2.5"):
        weights.append(0 if y == 1 else 1 / mp.euler if y == 2 else abs(f / mp.loggamma(y - 1)))
    if y >= mpf("1.5"):
        weights.append(1 / (1 - mp.euler) if y == 2 else abs(f / mp.loggamma(y)))
    return max(weights)


polynomial("lgammaAtTwoF32", "P in lgamma(2 + f) = f P(f), -1 <= f <= 1/2; error relative to lgamma(2 + f) or lgamma(1 + f).",
           series(lambda f: mp.loggamma(2 + f) / f, 1 - mp.euler), lgamma_weight, -1, mpf("0.5"), 13, at_once=True)
polynomial("stirlingSeriesF32", "P in lgamma(x) = (x - 1/2) log(x) - x + log(2 pi) / 2 + P(1/x^2) / x, x >= 2.5; relative error.",
           stirling, lambda v: mp.sqrt(v) / mp.loggamma(1 / mp.sqrt(v)) if v else mpf(0), 0, 1 / mpf("2.5") ** 2, 4)
polynomial("gammaAtTwo", "P in gamma(2 + f) = 1 + f P(f), |f| <= 1/2; relative error.",
           series(lambda f: (mp.gamma(2 + f) - 1) / f, 1 - mp.euler), lambda f: f / mp.gamma(2 + f), mpf("-0.5"), mpf("0.5"), 19)

PSI_ROOT = mp.findroot(lambda x: mp.psi(0, x), mpf("1.4616321449683622"), tol=mpf(10) ** -50)
polynomial("digammaCentral", "P in digamma(x) = (x - x0) P(x - 1.5), 1 <= x <= 2, x0 its root; relative error.",
           lambda v: mp.psi(0, v + mpf("1.5")) / (v + mpf("1.5") - PSI_ROOT),
           lambda v: (v + mpf("1.5") - PSI_ROOT) / mp.psi(0, v + mpf("1.5")), mpf("-0.5"), mpf("0.5"), 24)


def digamma_series(v):
    if v == 0:
        return mpf(1) / 12
    x = 1 / mp.sqrt(v)
    if x > 50:
        return mp.fsum(mp.bernoulli(2 * k) / (2 * k) * v ** (k - 1) for k in range(1, 40))
    return (mp.log(x) - 1 / (2 * x) - mp.psi(0, x)) / v


polynomial("digammaSeries", "P in digamma(x) = log(x) - 1/(2x) - P(1/x^2) / x^2, x >= 8.",
           digamma_series, lambda v: 1, 0, mpf(1) / 64, 6)

for order, factor in ((0, lambda x: 1), (1, lambda x: x / 2)):
    polynomial(f"i{order}Central", f"P in i{order}(x) = {'x / 2 (1 + z P(z))' if order else '1 + z P(z)'}, z = x^2 / 4, |x| <= 7.75; relative error.",
               series(lambda z, n=order, g=factor: (mp.besseli(n, 2 * mp.sqrt(z)) / g(2 * mp.sqrt(z)) - 1) / z, mpf(1) / (1 + order)),
               lambda z, n=order, g=factor: z * g(2 * mp.sqrt(z)) / mp.besseli(n, 2 * mp.sqrt(z)) if z != 0 else mpf(0),
               0, mpf("7.76") ** 2 / 4, 14)
    polynomial(f"i{order}Far", f"P in i{order}(x) = exp(x) / sqrt(x) P(1/x - 1/16), x >= 7.75; relative error.",
               lambda u, n=order: bessel_scaled(n)(u + mpf(1) / 16), lambda u, n=order: 1 / bessel_scaled(n)(u + mpf(1) / 16),
               -mpf(1) / 16, 1 / mpf("7.74") - mpf(1) / 16, 24, at_once=True)

polynomial("sinPi", "P in sin(pi r) = r (pi + z P(z)), z = r^2, |r| <= 1/2; relative error.",
           series(in_x(lambda r: (mp.sin(mp.pi * r) / r - mp.pi) / r**2), -mp.pi**3 / 6),
           in_x(lambda r: r**3 / mp.sin(mp.pi * r) if r != 0 else mpf(0)), 0, mpf("0.25"), 7)
for suffix, degree, bits in (("", 19, 53), ("F32", 8, 24)):
    polynomial("atanTail" + suffix, "P in atan(x) = x + x z P(z), z = x^2, |x| <= 1; relative error.",
               series(in_x(lambda x: (mp.atan(x) / x - 1) / x**2), -mpf(1) / 3),
               in_x(lambda x: x**3 / mp.atan(x) if x != 0 else mpf(0)), 0, 1, degree, bits=bits)
polynomial("tanTailF32", "P in tan(x) = x + x z P(z), z = x^2, |x| a little over pi/4; relative error.",
           series(in_x(lambda x: (mp.tan(x) / x - 1) / x**2), mpf(1) / 3),
           in_x(lambda x: x**3 / mp.tan(x) if x != 0 else mpf(0)), 0, (mp.pi / 4 * mpf("1.004")) ** 2, 6, bits=24)
polynomial("asinTail", "P in asin(x) = x + x z P(z), z = x^2, |x| <= 1/2; relative error.",
           series(in_x(lambda x: (mp.asin(x) / x - 1) / x**2), mpf(1) / 6),
           in_x(lambda x: x**3 / mp.asin(x) if x != 0 else mpf(0)), 0, mpf("0.25"), 11)
polynomial("logShortF32", "p in log(1+f) = f - f^2/2 + f^3 p(f), 1+f in [sqrt(1/2), sqrt(2)]; absolute error.",
           series(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, mpf(1) / 3), lambda f: abs(f) ** 3,
           mp.sqrt(0.5) - 1, mp.sqrt(2) - 1, 6, bits=24)
polynomial("sinhTail", "P in sinh(x) = x + x z P(z), z = x^2, |x| <= 1; relative error.",
           series(in_x(lambda x: (mp.sinh(x) / x - 1) / x**2), mpf(1) / 6),
           in_x(lambda x: x**3 / mp.sinh(x) if x != 0 else mpf(0)), 0, 1, 6)
polynomial("asinhTail", "P in asinh(x) = x + x z P(z), z = x^2, |x| <= 1/2; relative error.",
           series(in_x(lambda x: (mp.asinh(x) / x - 1) / x**2), -mpf(1) / 6),
           in_x(lambda x: x**3 / mp.asinh(x) if x != 0 else mpf(0)), 0, mpf("0.25"), 11)
polynomial("atanhTail", "P in atanh(x) = x + x z P(z), z = x^2, |x| <= 1/2; relative error.",
           series(in_x(lambda x: (mp.atanh(x) / x - 1) / x**2), mpf(1) / 3),
           in_x(lambda x: x**3 / mp.atanh(x) if x != 0 else mpf(0)), 0, mpf("0.25"), 13)


TEMME_ROWS, TEMME_TERMS = 10, 17


def temme_rows():
    """The coefficients of c_k(eta) in Temme's expansion (DLMF 8.12.12), as fractions: c_0 = 1/mu - 1/eta, and c_k = c_(k-1)' / eta
    + (-1)^k g_k / mu, where eta^2 / 2 = mu - log(1 + mu) and g_k are the coefficients of Stirling's series of gamma."""
    length = TEMME_TERMS + 2 * TEMME_ROWS + 4
    mu = [Fraction(0), Fraction(1)]  # mu mu' = eta (1 + mu)
    for n in range(2, length + 2):
        known = sum(mu[i] * (n + 1 - i) * mu[n + 1 - i] for i in range(2, n))
        mu.append((mu[n - 1] - known) / (n + 1))
    inverse = [Fraction(1)]  # eta / mu
    for n in range(1, length):
        inverse.append(-sum(mu[i + 1] * inverse[n - i] for i in range(1, n + 1)))
    series = [Fraction(1)]  # exp of the sum of B_2k / (2k (2k-1)) z^(2k-1), by its derivative
    slopes = [Fraction(0)] * (TEMME_ROWS + 1)
    for k in range(1, TEMME_ROWS // 2 + 2):
        if 2 * k - 2 <= TEMME_ROWS:
            p, q = mp.bernfrac(2 * k)
            slopes[2 * k - 2] = Fraction(int(p), int(q)) / (2 * k)
    for n in range(1, TEMME_ROWS):
        series.append(sum(slopes[i] * series[n - 1 - i] for i in range(n)) / n)
    row = inverse[1:]  # the part with 1 / eta is gone
    rows = [row]
    for k in range(1, TEMME_ROWS):
        sign = (-1) ** k
        # c' / eta + sign g_k / mu: of 1 / eta^.. nothing is left
        derived = [(i + 1) * c for i, c in enumerate(row[1:])]  # c'
        assert derived[0] + sign * series[k] * inverse[0] == 0
        row = [derived[i + 1] + sign * series[k] * inverse[i + 1] for i in range(len(derived) - 1)]
        rows.append(row)
    return [row[: TEMME_TERMS - k] for k, row in enumerate(rows)]


def emit_temme():
    print("/// The coefficients of the polynomials in eta that are the coefficients of 1/a in Temme's expansion of gammainc.")
    for k, row in enumerate(temme_rows()):
        print(f"inline constexpr double temme{k}[] = {{" + ", ".join(hex_float(round_to(mpf(c.numerator) / c.denominator, 53)) for c in row) + "};")
    print()


def main():
    wanted = sys.argv[1:] or list(POLYNOMIALS)
    print("// Polynomial coefficients and split constants of the special functions, written by fit_special.py, which says")
    print("// how they were found. Polynomials list the constant term first.")
    print("#pragma once\n")
    print("namespace mlir::weft::coefficients {\n")
    for name in wanted:
        POLYNOMIALS[name]()
        sys.stdout.flush()
    emit_temme()
    emit_parts("digammaRoot", "The positive root of digamma in three parts.", PSI_ROOT, (53, 53, 53))
    emit_parts("piParts", "pi in three 53-bit parts.", mp.pi, (53, 53, 53))
    emit_parts("halfPiF32", "pi/2 in three 24-bit parts.", mp.pi / 2, (24, 24, 24))
    emit_parts("halfLogTwoPi", "log(2 pi) / 2 in two parts.", mp.log(2 * mp.pi) / 2, (53, 53))
    emit_parts("twoOverSqrtPi", "2 / sqrt(pi) in two parts.", 2 / mp.sqrt(mp.pi), (53, 53))
    emit_parts("rootHalf", "sqrt(1/2) in two parts.", mp.sqrt(mpf("0.5")), (53, 53))
    emit_parts("rootTwo", "sqrt(2) in two parts.", mp.sqrt(2), (53, 53))
    emit_parts("inversePi", "1 / pi, rounded.", 1 / mp.pi, (53,))
    emit_parts("logPi", "log(pi) in two parts.", mp.log(mp.pi), (53, 53))
    emit_parts("sqrtTwoPi", "sqrt(2 pi), rounded.", mp.sqrt(2 * mp.pi), (53,))
    emit_parts("expOf64", "exp(64) in two parts.", mp.exp(64), (53, 53))
    print("} // namespace mlir::weft::coefficients")


if __name__ == "__main__":
    main()
