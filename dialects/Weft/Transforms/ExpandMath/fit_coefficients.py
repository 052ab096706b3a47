"""Fits the minimax polynomials of weft-expand-math and prints Coefficients.h.

Run: python3 fit_coefficients.py | clang-format > Coefficients.h     (needs mpmath; a few minutes)
     python3 fit_special.py | clang-format > SpecialCoefficients.h   (those of the special functions, by this file's functions)

Each polynomial is the weighted minimax approximation of a function on an interval, found with the exchange
algorithm of Remez (1934) in 60-digit arithmetic. The coefficients are then rounded to the working format one at a
time, the most important first, and the others are fitted again after each rounding, as Brisebarre and Chevillard
recommend (Efficient polynomial L-infinity approximations, ARITH 18, 2007), so that rounding costs next to nothing.
"""

import functools

import mpmath as mp

mp.mp.prec = 220
GRID = 1500


def round_to(value, bits):
    """Rounds to the nearest number with `bits` significant bits (ties to even)."""
    if value == 0:
        return mp.mpf(0)
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.mpf(int(mp.nint(mp.ldexp(mantissa, bits)))), exponent - bits)


def hex_float(value):
    """The C++ hexadecimal literal of a number with at most 53 significant bits."""
    as_double = float(value)
    assert mp.mpf(as_double) == value, value
    return as_double.hex()


def remez(target, weight, low, high, exponents):
    """Coefficients c minimising max |weight(x) (target(x) - sum c_i x^e_i)| on [low, high], and that maximum."""
    count = len(exponents)
    xs = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / GRID) for i in range(GRID + 1)]
    ts = [target(x) for x in xs]
    ws = [weight(x) for x in xs]
    picks = [round(GRID * (i + mp.mpf(1) / 2) / (count + 1)) for i in range(count + 1)]
    error = None
    for _ in range(30):
        matrix, right = mp.matrix(count + 1, count + 1), mp.matrix(count + 1, 1)
        for row, pick in enumerate(picks):
            for column, exponent in enumerate(exponents):
                matrix[row, column] = ws[pick] * xs[pick] ** exponent
            matrix[row, count] = (-1) ** row
            right[row] = ws[pick] * ts[pick]
        solution = mp.lu_solve(matrix, right)
        coefficients = [solution[i] for i in range(count)]
        residual = [w * (t - x**exponents[0] * mp.polyval(coefficients[::-1], x)) for x, t, w in zip(xs, ts, ws)]
        error = max(abs(r) for r in residual)
        if error <= abs(solution[count]) * (1 + mp.mpf(10) ** -4):
            break
        picks = exchange(residual, count + 1)
    return coefficients, error


def exchange(residual, wanted):
    """Indices of the largest residual of each sign run, cut down to `wanted` from the smaller end."""
    best = [0]
    for i in range(1, len(residual)):
        if residual[i] * residual[best[-1]] > 0:
            if abs(residual[i]) > abs(residual[best[-1]]):
                best[-1] = i
        elif residual[i] != 0:
            best.append(i)
    while len(best) > wanted:
        if len(best) == wanted + 1:
            best.pop(0 if abs(residual[best[0]]) < abs(residual[best[-1]]) else -1)
        else:  # Drop the weakest neighbouring pair, which keeps the signs alternating.
            pair = min(range(len(best) - 1), key=lambda i: abs(residual[best[i]]) + abs(residual[best[i + 1]]))
            del best[pair:pair + 2]
    assert len(best) == wanted, "too few sign changes"
    return best


def fit(target, weight, low, high, degree, bits, at_once=False):
    """A polynomial of the given degree with `bits`-bit coefficients: (coefficients from x^0 up, max error).

    `at_once` rounds all of them without fitting again, which is better where there are very many."""
    low, high = mp.mpf(low), mp.mpf(high)
    target, weight = functools.cache(target), functools.cache(weight)  # each rounding asks for the same points
    fixed = []
    if at_once:
        fixed = [round_to(c, bits) for c in remez(target, weight, low, high, list(range(degree + 1)))[0]]
    for exponent in range(len(fixed), degree + 1):
        rest = lambda x: target(x) - mp.polyval(fixed[::-1], x) if fixed else target(x)
        coefficients, _ = remez(rest, weight, low, high, list(range(exponent, degree + 1)))
        fixed.append(round_to(coefficients[0], bits))
    xs = [low + (high - low) * i / 1999 for i in range(2000)]
    error = max(abs(weight(x) * (target(x) - mp.polyval(fixed[::-1], x))) for x in xs)
    return fixed, error


def series(function, zero_value):
    """`function` with its removable singularity at 0 filled in."""
    return lambda x: zero_value if x == 0 else function(x)


def emit_polynomial(name, comment, target, weight, low, high, degree, bits, at_once=False):
    coefficients, error = fit(target, weight, low, high, degree, bits, at_once)
    print(f"/// {comment}")
    print(f"/// Largest weighted error 2^{float(mp.log(error, 2)):.1f}.")
    print(f"inline constexpr double {name}[] = {{")
    for i in range(0, len(coefficients), 3):
        print("    " + ", ".join(hex_float(c) for c in coefficients[i:i + 3]) + ",")
    print("};\n")


def fit_around(target, weight, half, degree, bits):
    """As `fit` on [-half, half], where what is left of a rounded constant term has no other term that could mend it:
    least squares at Chebyshev's points, with the constant term rounded last."""
    xs = [half * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / 64) for i in range(64)]
    fixed = [remez(target, weight, -half, half, list(range(degree + 1)))[0][0]]
    for exponent in range(1, degree + 1):
        rows = mp.matrix([[weight(x) * x**e for e in range(exponent, degree + 1)] for x in xs])
        right = mp.matrix([weight(x) * (target(x) - mp.polyval(fixed[::-1], x)) for x in xs])
        fixed.append(round_to(mp.lu_solve(rows.T * rows, rows.T * right)[0], bits))
    fixed[0] = round_to(fixed[0], bits)
    error = max(abs(weight(x) * (target(x) - mp.polyval(fixed[::-1], x))) for x in xs)
    return fixed, error


def emit_erf_pieces(width, degree, bits):
    """erf by eight polynomials, the first of which is what erf(r) / r has beyond 1."""
    half = width / 2 * mp.mpf("1.0005")
    first, worst = fit(series(lambda r: mp.erf(r) / r - 1, 2 / mp.sqrt(mp.pi) - 1),
                       series(lambda r: r / mp.erf(r), mp.sqrt(mp.pi) / 2), 0, half, degree - 1, bits)
    pieces = [[mp.mpf(0)] + first]
    for k in range(1, 8):
        piece, error = fit_around(lambda r: mp.erf(k * width + r), lambda r: 1 / mp.erf(k * width + r), half, degree, bits)
        pieces.append(piece)
        worst = max(worst, error)
    print("/// The middle of piece k is k times this.")
    print(f"inline constexpr double erfPieceWidth = {hex_float(width)};\n")
    print("/// By the power of r, in erf(k width + r), or in erf(r) - r of piece 0, |r| <= width / 2: the coefficients of")
    print(f"/// all pieces; relative error. Largest weighted error 2^{float(mp.log(worst, 2)):.1f}.")
    print(f"inline constexpr double erfPieces[{degree + 1}][8] = {{")
    for power in zip(*pieces):
        print("    {" + ", ".join(hex_float(c) for c in power) + "},")
    print("};\n")


def emit_parts(name, comment, value, bits_of_parts):
    """Writes `value` as a sum of constants of the given widths, largest first."""
    print(f"/// {comment}")
    parts = []
    for bits in bits_of_parts:
        parts.append(round_to(value - mp.fsum(parts), bits))
    print(f"inline constexpr double {name}[] = {{" + ", ".join(hex_float(p) for p in parts) + "};\n")


def emit_two_over_pi(word_count):
    """2/pi as 64-bit words, the first of which holds 32 zeros before the binary point."""
    print("/// The binary digits of 2/pi in 64-bit words. The binary point stands in the middle of the first word.")
    print("inline constexpr uint64_t twoOverPi[] = {")
    with mp.workprec(64 * word_count + 64):
        digits = int(mp.floor(mp.ldexp(2 / mp.pi, 64 * word_count - 32)))
    words = [(digits >> (64 * (word_count - 1 - i))) & 0xFFFFFFFFFFFFFFFF for i in range(word_count)]
    for i in range(0, word_count, 4):
        print("    " + ", ".join(f"0x{w:016x}" for w in words[i:i + 4]) + ",")
    print("};\n")


def main():
    ln2 = mp.log(2)
    half_ln2 = ln2 / 2 * mp.mpf("1.001")
    print("// Polynomial coefficients and split constants of weft-expand-math, written by fit_coefficients.py,")
    print("// which says how they were found. Polynomials list the constant term first.")
    print("#pragma once\n")
    print("#include <cstdint>\n\nnamespace mlir::weft::coefficients {\n")

    # exp(r) = 1 + r + r^2 q(r). For expm1 the terms after 1 must be relatively accurate, and r^2/2 stands alone.
    exp_tail = series(lambda r: (mp.expm1(r) - r) / r**2, mp.mpf(1) / 2)
    for name, degree, bits in (("expF32", 4, 24), ("expF64", 9, 53), ("expMid", 6, 53)):
        emit_polynomial(name, "q in exp(r) = 1 + r + r^2 q(r), |r| <= ln(2)/2; error relative to exp(r).",
                        exp_tail, lambda r: r**2 / mp.exp(r), -half_ln2, half_ln2, degree, bits)
    expm1_tail = series(lambda r: (mp.expm1(r) - r - r**2 / 2) / r**3, mp.mpf(1) / 6)
    expm1_weight = series(lambda r: r**3 / mp.expm1(r), mp.mpf(0))
    for name, degree, bits in (("expm1F32", 4, 24), ("expm1F64", 9, 53)):
        emit_polynomial(name, "q in expm1(r) = r + r^2/2 + r^3 q(r), |r| <= ln(2)/2; relative error.",
                        expm1_tail, expm1_weight, -half_ln2, half_ln2, degree, bits)

    # log(1+f) = f - f^2/2 + f^3 p(f), without a division, for f32.
    low, high = mp.sqrt(0.5) - 1, mp.sqrt(2) - 1
    emit_polynomial("logF32", "p in log(1+f) = f - f^2/2 + f^3 p(f), 1+f in [sqrt(1/2), sqrt(2)]; relative error.",
                    series(lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3, mp.mpf(1) / 3),
                    series(lambda f: f**3 / mp.log1p(f), mp.mpf(0)), low, high, 8, 24)

    # With s = f/(2+f) and z = s^2: log(1+f) = 2 s + s z R(z).
    def atanh_tail(z):
        s = mp.sqrt(z)
        return (2 * mp.atanh(s) / s - 2) / z
    z_max = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1))**2 * mp.mpf("1.0001")
    for name, degree in (("logF64", 6), ("logMid", 4)):
        emit_polynomial(name, "R in log(1+f) = 2 s + s z R(z), s = f/(2+f), z = s^2; error relative to log(1+f).",
                        series(atanh_tail, mp.mpf(2) / 3), lambda z: z / 2, 0, z_max, degree, 53)

    # log2 in double-double: s (c1 + z (c3 + z (c5 + z T(z)))), T in plain double.
    def log2_tail(z):
        s = mp.sqrt(z)
        return (2 * mp.atanh(s) / s - 2 - 2 * z / 3 - 2 * z**2 / 5) / z**3 / ln2
    emit_polynomial("log2Tail", "T in log2(1+f) = s (c1 + z (c3 + z (c5 + z T(z)))); error relative to log2(1+f).",
                    series(log2_tail, 2 / (7 * ln2)), lambda z: z**3 * ln2 / 2, 0, z_max, 7, 53)
    for order in (1, 3, 5):
        emit_parts(f"log2C{order}", f"2/({order} ln 2) as an unevaluated sum of two doubles.", 2 / (order * ln2),
                   (53, 53))

    # tanh(x) = x + x z P(z), z = x^2, for small arguments.
    def tanh_tail(z):
        x = mp.sqrt(z)
        return (mp.tanh(x) / x - 1) / z
    tanh_weight = series(lambda z: z * mp.sqrt(z) / mp.tanh(mp.sqrt(z)), mp.mpf(0))
    for name, degree, bits in (("tanhF32", 4, 24), ("tanhF64", 10, 53)):
        emit_polynomial(name, "P in tanh(x) = x + x z P(z), z = x^2, |x| <= 0.625; relative error.",
                        series(tanh_tail, -mp.mpf(1) / 3), tanh_weight, 0, mp.mpf("0.625")**2, degree, bits)

    # erf(x) = x + x (c + z P(z)), z = x^2, for small arguments. For t = |x| larger ones 1 - R(t)^4 in f32, which is
    # half of an exponential, but would lose digits of f64: 1 - exp(t R(t) - t) there.
    excess = 2 / mp.sqrt(mp.pi) - 1
    def erf_tail(z):
        x = mp.sqrt(z)
        return (mp.erf(x) / x - 1 - excess) / z
    erf_weight = series(lambda z: z * mp.sqrt(z) / mp.erf(mp.sqrt(z)), mp.mpf(0))
    for suffix, degree, bits, bound in (("F32", 5, 24, mp.mpf("1.125")), ("F64", 10, 53, mp.mpf(1))):
        emit_parts("erfExcess" + suffix, "2 / sqrt(pi) - 1, rounded.", excess, (bits, ))
        emit_polynomial("erf" + suffix,
                        f"P in erf(x) = x + x (2 / sqrt(pi) - 1 + z P(z)), z = x^2, |x| <= {float(bound):g}; relative error.",
                        series(erf_tail, -(1 + excess) / 3), erf_weight, 0, bound**2, degree, bits)
    emit_polynomial("erfcF32", "R in erf(t) = 1 - R(t)^4, 1.125 <= t <= 4; relative error.",
                    lambda t: mp.erfc(t)**(mp.mpf(1) / 4), lambda t: 4 * mp.erfc(t)**(mp.mpf(3) / 4) / mp.erf(t),
                    mp.mpf("1.125"), 4, 9, 24)
    emit_erf_pieces(mp.mpf(17) / 32, 6, 24)
    emit_polynomial("erfcF64", "R in erf(t) = 1 - exp(t R(t) - t), 1 <= t <= 6; relative error.",
                    lambda t: mp.log(mp.erfc(t)) / t + 1, lambda t: t * mp.erfc(t) / mp.erf(t), 1, 6, 18, 53)

    # sin(r) = r + r z S(z) and cos(r) = 1 - z/2 + z^2 C(z), z = r^2, |r| a little over pi/4.
    def sin_tail(z):
        r = mp.sqrt(z)
        return (mp.sin(r) / r - 1) / z
    def cos_tail(z):
        return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2
    r_max = mp.pi / 4 * mp.mpf("1.002")
    for suffix, sin_degree, cos_degree in (("F64", 5, 5), ("Mid", 3, 3)):
        emit_polynomial("sin" + suffix, "S in sin(r) = r + r z S(z), z = r^2, |r| <= pi/4; relative error.",
                        series(sin_tail, -mp.mpf(1) / 6), series(lambda z: z * mp.sqrt(z) / mp.sin(mp.sqrt(z)), mp.mpf(0)),
                        0, r_max**2, sin_degree, 53)
        emit_polynomial("cos" + suffix, "C in cos(r) = 1 - z/2 + z^2 C(z), z = r^2, |r| <= pi/4; relative error.",
                        series(cos_tail, mp.mpf(1) / 24), lambda z: z**2 / mp.cos(mp.sqrt(z)),
                        0, r_max**2, cos_degree, 53)

    emit_parts("ln2F32", "ln 2 in three 24-bit parts.", ln2, (24, 24, 24))
    emit_parts("ln2F64", "ln 2 in three 53-bit parts.", ln2, (53, 53, 53))
    emit_parts("ln2ShortF32", "ln 2 with a first part so short that its product with any f32 exponent is exact.", ln2,
               (15, 24))
    emit_parts("ln2ShortF64", "ln 2 with a first part so short that its product with any f64 exponent is exact.", ln2,
               (41, 53))
    for suffix, bits, short in (("F32", 24, 15), ("F64", 53, 41)):
        emit_parts("log2OfE" + suffix, "1 / ln 2 as a sum of two.", 1 / ln2, (bits, bits))
        emit_parts("log10OfE" + suffix, "1 / ln 10 as a sum of two.", 1 / mp.log(10), (bits, bits))
        emit_parts("log10Of2" + suffix, "log10(2); the product of the first part with any exponent is exact.",
                   mp.log10(2), (short, bits))
    emit_parts("halfPi", "pi/2 in three 53-bit parts.", mp.pi / 2, (53, 53, 53))
    emit_parts("twoOverPiDouble", "2/pi, rounded.", 2 / mp.pi, (53, ))
    emit_two_over_pi(19)
    print("} // namespace mlir::weft::coefficients")


if __name__ == "__main__":
    main()
