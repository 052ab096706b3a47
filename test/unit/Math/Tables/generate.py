"""Writes the tables of correctly rounded results, one file per format and function: f32/exp.txt, f64/log.txt, ...

Run: python3 generate.py       (needs mpmath; a few seconds; the same output every time)

Each line of a table holds the argument, or the two arguments, and the result rounded to the nearest number of the
format (ties to even). Numbers are hexadecimal as C prints and reads them, so they are exact. The arguments are special
values, the borders where an expansion changes its method, and random ones from ranges that matter for the function.
"""

import math
import os
import random

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


BINARY = {"pow": pow_exact, "fmod": fmod_exact}


def special_values(fmt):
    big = fmt.precision
    values = [0.0, 1.0, 2.0, 3.0, 0.5, 1.5, 10.0, INF, NAN, fmt.smallest, 3 * fmt.smallest, fmt.normal,
              fmt.normal - fmt.smallest, fmt.greatest, 1 - 2.0**-big, 1 + 2.0**(1 - big), 2.0**-big, 2.0**(1 - big),
              2.0**big, 2.0**40, 2.0**40 - 2.0**(40 - big), 0.625, math.pi, math.pi / 2, math.pi / 4,
              math.sqrt(0.5), math.sqrt(2), math.log(2) / 2]
    values += [88.0, 89.0, 104.0, 709.78, 710.0, 745.0, 746.0, 127.5, 128.0, 149.0, 150.5, 1023.5, 1024.0, 1074.5]
    values = [fmt.round(v) for v in values]
    return values + [-v for v in values if not math.isnan(v)]


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
    ranges.update(log=logarithms, log2=logarithms, log10=logarithms, sin=circular, cos=circular, rsqrt=[anywhere])
    makers = ranges[name]
    return [makers[i % len(makers)]() for i in range(160)]


def random_pairs(name, fmt, dice):
    pairs = []
    for i in range(60):
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


def rows_of(name, fmt):
    dice = random.Random(name + fmt.name)
    if name in UNARY:
        arguments = special_values(fmt) + [fmt.round(x) for x in random_arguments(name, fmt, dice)]
        return [(x, fmt.round(UNARY[name](x))) for x in arguments]
    few = [0.0, 1.0, 2.0, 3.0, 0.5, fmt.greatest, 2.0**(fmt.precision - 1) + 1, INF]
    few = few + [-v for v in few] + [NAN]
    pairs = [(x, y) for x in few for y in few]
    pairs += [(fmt.round(x), fmt.round(y)) for x, y in random_pairs(name, fmt, dice)]
    return [(x, y, fmt.round(BINARY[name](x, y))) for x, y in pairs]


def write(name, fmt):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), fmt.name)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".txt"), "w") as file:
        file.write(f"# Correctly rounded results of {name} on {fmt.name}, written by generate.py, which says more.\n")
        for row in rows_of(name, fmt):
            file.write(" ".join(text(number) for number in row) + "\n")


for function in list(UNARY) + list(BINARY):
    for one_format in (F32, F64):
        write(function, one_format)
