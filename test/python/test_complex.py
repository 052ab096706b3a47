"""Complex numbers: their arithmetic and functions against NumPy and known values, derivatives, and the ways in and out."""

import math
import pickle

import numpy as np
import pytest

import weft as wf

DTYPES = ["complex64", "complex128"]
PARTS = {"complex64": "float32", "complex128": "float64"}


def drawn(shape, dtype, seed=3):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def near(got, wanted, ulps=4.0):
    """Within so many units of the last place of the modulus."""
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, (got.dtype, wanted.dtype)
    eps = np.finfo(wanted.dtype).eps
    assert (np.abs(got - wanted) <= ulps * eps * np.abs(wanted)).all(), np.max(np.abs(got - wanted) / np.abs(wanted)) / eps


# In and out -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_go_in_and_out(dtype, tmp_path):
    a = drawn((2, 3), dtype)
    x = wf.tensor(a)
    assert x.dtype == dtype and x.dtype.is_complex and not x.dtype.is_floating
    assert x.itemsize == a.itemsize
    np.testing.assert_array_equal(x.numpy(), a)
    np.testing.assert_array_equal(np.asarray(memoryview(x)), a)
    np.testing.assert_array_equal(np.from_dlpack(x), a)
    np.testing.assert_array_equal(wf.from_dlpack(a).numpy(), a)
    np.testing.assert_array_equal(wf.tensor(a.T).numpy(), a.T)
    np.testing.assert_array_equal(wf.tensor(a.astype(a.dtype.newbyteorder(">"))).numpy(), a)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)).numpy(), a)
    assert x.tolist() == a.tolist()
    assert x[0, 1].item() == a[0, 1] and complex(x[0, 1]) == a[0, 1]
    wf.io.save_npy(str(tmp_path / "a.npy"), x)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), a)
    np.testing.assert_array_equal(wf.io.load_npy(str(tmp_path / "a.npy")).numpy(), a)
    wf.io.save_safetensors(str(tmp_path / "a.safetensors"), {"x": x, "of": wf.ones(3)})
    back = wf.io.load_safetensors(str(tmp_path / "a.safetensors"))
    assert back["x"].dtype == dtype
    np.testing.assert_array_equal(back["x"].numpy(), a)


def test_numbers_of_python():
    assert wf.tensor(1 + 2j).dtype == "complex64"
    assert wf.tensor([1, 2.5, 1j]).dtype == "complex64"
    assert wf.tensor(np.complex128(1j)).dtype == "complex128"
    assert wf.tensor([1, 2], "complex128").dtype == "complex128"
    assert (wf.tensor([1.0, 2.0]) * 1j).dtype == "complex64"
    assert (wf.tensor([1, 2]) + 1j).dtype == "complex64"
    assert (wf.tensor([1.0], "float64") + 1j).dtype == "complex128"
    assert (wf.tensor([1j]) + 2.5).dtype == "complex64"
    assert (wf.tensor([1j]) + wf.tensor([1.0], "float64")).dtype == "complex128"
    assert (wf.tensor([1j]) + wf.tensor([1], "int64")).dtype == "complex64"
    assert wf.result_type(wf.float64, wf.complex64) == wf.complex128
    assert wf.result_type(wf.tensor(1.0), 1j) == wf.complex64
    assert wf.full((2,), 1 - 1j, "complex64").tolist() == [1 - 1j] * 2
    assert wf.zeros(2, "complex128").tolist() == [0j, 0j] and wf.eye(2, dtype="complex64").tolist() == [[1, 0], [0, 1]]
    assert wf.isdtype(wf.complex64, "complex floating") and wf.isdtype(wf.complex64, "numeric")
    assert not wf.isdtype(wf.complex64, "real floating")
    assert wf.finfo(wf.complex64).dtype == wf.float32 and wf.finfo(wf.complex128).bits == 64
    assert wf.can_cast(wf.float32, wf.complex64) and not wf.can_cast(wf.float64, wf.complex64)


@pytest.mark.parametrize(
    "values",
    [[1 + 2j, 3.5 - 4j], [1 + 10j, 1 - 2j], [[0.1 + 1e-9j, 2], [3, 4j]], [complex(math.nan, 1), complex(1, math.nan)], [complex(1, math.inf), -1j]],
)
def test_printed_as_numpy_has_it(values):
    assert str(wf.tensor(values, "complex128")) == str(np.array(values))


def test_one_number_is_printed():
    assert str(wf.tensor(1 + 2j)) == "(1+2j)" and str(wf.tensor(complex(0, -2.5))) == "-2.5j"


# What there is not ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x < x,
        lambda x: wf.maximum(x, x),
        lambda x: wf.sort(x),
        lambda x: wf.argmax(x),
        lambda x: wf.max(x),
        lambda x: wf.floor(x),
        lambda x: wf.remainder(x, x),
        lambda x: wf.clip(x, 0, 1),
        lambda x: wf.trunc(x),
    ],
)
def test_no_order(call):
    x = wf.tensor([1j, 2.0])
    with pytest.raises(wf.DTypeError, match="complex|c64"):
        call(x)
    with pytest.raises(wf.DTypeError):
        wf.function(call)(x)


def test_parts_are_not_lost():
    x = wf.tensor([1 + 1j])
    with pytest.raises(wf.DTypeError, match=r"real\(x\) or imag\(x\)"):
        x.astype("float32")
    with pytest.raises((TypeError, wf.DTypeError)):
        float(x[0])
    assert x.astype("bool").tolist() == [True] and x.astype("complex128").dtype == "complex128"
    with pytest.raises(wf.DTypeError):
        wf.random.uniform((2,), dtype="complex64")


# Arithmetic -----------------------------------------------------------------------------------------------------------------------

BINARY = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
# c64 is compared with what complex128 gives, rounded.
UNARY = {
    name: getattr(np, name) for name in "negative square reciprocal exp log sqrt sin cos tan sinh cosh tanh conj log2 log10 sign".split()
} | {name: getattr(np, "arc" + name[1:]) for name in ("asin", "acos", "atan", "asinh", "acosh", "atanh")}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_arithmetic(name, dtype):
    for shapes in [((600,), (600,)), ((3, 5), (5,)), ((), (4,)), ((4, 1), (1, 3)), ((0, 2), (2,))]:
        a, b = drawn(shapes[0], dtype), drawn(shapes[1], dtype, 4)
        wanted = BINARY[name](a.astype(complex), b.astype(complex)).astype(dtype)
        near(getattr(wf, name)(wf.tensor(a), wf.tensor(b)), wanted)
        near(wf.function(getattr(wf, name))(wf.tensor(a), wf.tensor(b)), wanted)
    x = drawn((6, 5), dtype)
    near(wf.tensor(x).T[::2] * 2j, (x.T[::2] * 2j).astype(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_functions(name, dtype):
    for x in [drawn((700,), dtype), drawn((700,), dtype) * 1e-3, drawn((2, 3), dtype) * 5]:
        wanted = UNARY[name](x.astype(complex)).astype(dtype)
        # Products of roots and logarithms round several times.
        near(getattr(wf, name)(wf.tensor(x)), wanted, 12 if name[0] == "a" else 6)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes_and_angles(dtype):
    x = drawn((33,), dtype)
    t = wf.tensor(x)
    near(wf.abs(t), np.abs(x))
    near(wf.angle(t), np.angle(x), 6)
    assert t.real.dtype == PARTS[dtype]
    np.testing.assert_array_equal(t.real.numpy(), x.real)
    np.testing.assert_array_equal(wf.imag(t).numpy(), x.imag)
    np.testing.assert_array_equal(wf.complex(t.real, t.imag).numpy(), x)
    np.testing.assert_array_equal(wf.complex(t.real, 1.0).numpy(), x.real + 1j)
    assert wf.real(wf.tensor([1, 2])).dtype == "int32" and wf.imag(wf.tensor([1.5])).tolist() == [0.0]
    assert float(wf.abs(wf.tensor(complex(1e200, 1e200), "complex128"))) == pytest.approx(math.sqrt(2) * 1e200, rel=1e-15)
    assert float(wf.abs(wf.tensor(complex(3e-200, 4e-200), "complex128"))) == pytest.approx(5e-200, rel=1e-15)


def test_quotients_neither_overflow_nor_vanish():
    big, small = complex(1e300, 1e300), complex(1e-300, -1e-300)
    x = wf.tensor([big, small, big, 1 + 1j], "complex128") / wf.tensor([big, small, 2 * big, big], "complex128")
    near(x, np.array([1, 1, 0.5, (1 - 0j) / 1e300]))
    assert (wf.tensor([1 + 1j]) / wf.tensor([0j])).tolist() == [complex(math.inf, math.inf)]
    assert (wf.tensor([1 + 1j]) / wf.tensor([complex(math.inf, 1)])).tolist() == [0j]


INF, NAN = math.inf, math.nan
SPECIAL = [  # of C99's annex G
    ("exp", -INF + 0j, 0), ("exp", complex(INF, 0), complex(INF, 0)), ("exp", complex(-INF, INF), 0), ("exp", complex(NAN, 0), complex(NAN, 0)),
    ("exp", complex(INF, INF), complex(INF, NAN)), ("exp", complex(710, 1), np.exp(complex(710, 1))),
    ("log", 0j, complex(-INF, 0)), ("log", complex(-0.0, 0), complex(-INF, math.pi)), ("log", complex(-INF, INF), complex(INF, 3 * math.pi / 4)),
    ("log", complex(NAN, INF), complex(INF, NAN)), ("log", complex(1, 1e-20), complex(5e-41, 1e-20)),
    ("sqrt", complex(-0.0, 0.0), 0), ("sqrt", complex(NAN, INF), complex(INF, INF)), ("sqrt", complex(-INF, 1), complex(0, INF)),
    ("sqrt", complex(INF, NAN), complex(INF, NAN)), ("sqrt", complex(-4, -0.0), complex(0, -2)), ("sqrt", complex(-4, 0.0), 2j),
    ("tanh", complex(INF, 1), 1), ("tanh", complex(INF, INF), 1), ("tanh", complex(1, INF), complex(NAN, NAN)), ("tanh", complex(400, 1), 1),
    ("cosh", complex(INF, INF), complex(INF, NAN)), ("sinh", complex(0, INF), complex(0, NAN)), ("sinh", complex(INF, 0), complex(INF, 0)),
    ("expm1", complex(1e-20, 1e-20), complex(1e-20, 1e-20)), ("log1p", complex(1e-20, 1e-20), complex(1e-20, 1e-20)),
    ("acos", 0j, math.pi / 2), ("atanh", complex(0, INF), complex(0, math.pi / 2)), ("asinh", complex(INF, 1), complex(INF, 0)),
]  # fmt: skip


@pytest.mark.parametrize("name, x, wanted", SPECIAL)
def test_special_values(name, x, wanted):
    for call in (getattr(wf, name), wf.function(getattr(wf, name))):
        got = call(wf.tensor([x], "complex128")).numpy()[0]
        for part, of in ((got.real, complex(wanted).real), (got.imag, complex(wanted).imag)):
            assert part == pytest.approx(of, rel=1e-14, abs=0, nan_ok=True), (got, wanted)


# The standard's tables, C99's annex G: all pairs of these parts.
PARTS_OF_SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, INF, -INF, NAN]
GRID = np.array([complex(a, b) for a in PARTS_OF_SPECIAL for b in PARTS_OF_SPECIAL])
OF_TABLES = "exp expm1 log log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split()

WITH_ANGLES = "exp expm1 sinh cosh tanh".split()


def of_the_standard(name, z):
    """What NumPy has, but where it is not what the standard says."""
    a, b = z.real, z.imag
    if name == "expm1" and not (math.isfinite(a) and math.isfinite(b)):
        with np.errstate(all="ignore"):
            return np.exp(z) - 1
    if name == "expm1" and a == b == 0:
        return complex(0, b)
    if name == "tanh" and math.isinf(a) and math.isfinite(b):  # NumPy's 0 has the sign of sin(2 b)
        return complex(math.copysign(1, a), math.copysign(0, b))
    if name == "tan" and math.isinf(b) and math.isfinite(a):
        return complex(math.copysign(0, a), math.copysign(1, b))
    if name == "acosh" and a == 0 and math.isnan(b):
        return complex(NAN, math.pi / 2)
    with np.errstate(all="ignore"):
        return getattr(np, "arc" + name[1:] if name in ("asin", "acos", "atan", "asinh", "acosh", "atanh") else name)(z)


def matches(got, wanted, signs, tolerance):
    """A part of a result and what the standard says of it; signs of 0 and infinities are its matter only without NaN."""
    if math.isnan(wanted) or math.isnan(got):
        return math.isnan(wanted) == math.isnan(got)
    if not math.isfinite(wanted) or wanted == 0:
        return abs(got) == abs(wanted) and (not signs or math.copysign(1, got) == math.copysign(1, wanted))
    return abs(got - wanted) <= tolerance * abs(wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values_of_the_standard(dtype):
    tolerance = 8 * np.finfo(dtype).eps
    compiled = wf.function(lambda z: [getattr(wf, name)(z) for name in OF_TABLES])(wf.tensor(GRID, dtype))
    for name, of_compiled in zip(OF_TABLES, compiled, strict=True):
        call = getattr(wf, name)
        results = call(wf.tensor(GRID, dtype)).numpy()
        np.testing.assert_array_equal(of_compiled.numpy(), results, strict=True, err_msg=name)
        for part in ("real", "imag"):
            ours, other = (np.signbit(getattr(x, part))[~np.isnan(getattr(x, part))] for x in (results, of_compiled.numpy()))
            np.testing.assert_array_equal(ours, other, err_msg=name)
        mirrored = call(wf.tensor(GRID.conj(), dtype)).numpy().conj()
        np.testing.assert_array_equal(mirrored, results, err_msg=f"{name} of conjugates")
        for z, got in zip(GRID, results, strict=True):
            wanted = complex(of_the_standard(name, z))
            # Of a direction that is no number the standard leaves them open.
            angle = {"sin": z.real, "cos": z.real, "tan": z.real}.get(name, z.imag if name in WITH_ANGLES else 0)
            signs = math.isfinite(angle) and not any(math.isnan(part) for of in (z, wanted) for part in (of.real, of.imag))
            assert matches(got.real, wanted.real, signs, tolerance), (name, z, got, wanted)
            assert matches(got.imag, wanted.imag, signs, tolerance), (name, z, got, wanted)


@pytest.mark.parametrize("dtype", DTYPES)
def test_tests(dtype):
    x = wf.tensor([1j, complex(NAN, 1), complex(1, INF), complex(NAN, INF)], dtype)
    assert wf.isnan(x).tolist() == [False, True, False, True]
    assert wf.isinf(x).tolist() == [False, False, True, True]
    assert wf.isfinite(x).tolist() == [True, False, False, False]
    assert (x == x).tolist() == [True, False, True, False] and (x != x).tolist() == [False, True, False, True]


@pytest.mark.parametrize("dtype", DTYPES)
def test_sums_products_and_orders(dtype):
    a, b = drawn((4, 5), dtype), drawn((5, 3), dtype, 4)
    x, y = wf.tensor(a), wf.tensor(b)
    for call, wanted in [
        (lambda x, y: x @ y, a @ b),
        (lambda x, y: wf.sum(x, 0), a.sum(0)),
        (lambda x, y: wf.mean(x, -1), a.mean(-1)),
        (lambda x, y: wf.prod(x, 1), a.prod(1)),
        (lambda x, y: wf.prod(x, keepdims=True), a.prod(keepdims=True)),
        (lambda x, y: wf.cumsum(x, 1), a.cumsum(1)),
        (lambda x, y: wf.cumprod(x, 0), a.cumprod(0)),
        (lambda x, y: wf.cumprod(x, 1, reverse=True), np.flip(np.flip(a, 1).cumprod(1), 1)),
        (lambda x, y: wf.vdot(x, x), np.vdot(a, a)),
        (lambda x, y: wf.linalg.vecdot(x, x), np.sum(a.conj() * a, -1)),
        (lambda x, y: wf.einsum("ij,jk->ki", x, y), np.einsum("ij,jk->ki", a, b)),
        (lambda x, y: wf.outer(x[0], y[:, 0]), np.outer(a[0], b[:, 0])),
        (lambda x, y: wf.linalg.vector_norm(x, axis=0), np.linalg.norm(a, axis=0)),
        (lambda x, y: x**3, a**3),
        (lambda x, y: wf.where(wf.abs(x) < 1, x, 0), np.where(np.abs(a) < 1, a, 0)),
        (lambda x, y: wf.concatenate([x, x * 1j], 0), np.concatenate([a, a * 1j], 0)),
        (lambda x, y: wf.pad(x, ((1, 0), (0, 2)), constant_values=3.0), np.pad(a, ((1, 0), (0, 2)), constant_values=3)),
        (lambda x, y: wf.reshape(x, (2, -1))[::-1].T, a.reshape(2, -1)[::-1].T),
        (lambda x, y: wf.take(x, wf.tensor([2, 0])), a[[2, 0]].ravel()[:0] if False else np.take(a, [2, 0])),
        (lambda x, y: x.at[1].add(1j), np.concatenate([a[:1], a[1:2] + 1j, a[2:]]).astype(dtype)),
    ]:
        for got in (call(x, y), wf.function(call)(x, y)):
            got = np.asarray(got)
            assert got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=2e-5 if dtype == "complex64" else 1e-13)


def expression(x, y):
    z = wf.sin(x) * wf.conj(y) + wf.exp(x / (y + 3)) - wf.sum(x @ y.T, -1, keepdims=True)
    return wf.cumprod(z, 1), wf.abs(z), wf.angle(z), wf.sqrt(z) == wf.conj(z), wf.prod(z, 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_eager_and_compiled_have_the_same_bits(dtype):
    x, y = wf.tensor(drawn((7, 9), dtype)), wf.tensor(drawn((7, 9), dtype, 8))
    eager = expression(x, y)
    open_sizes = wf.function(expression, input_signature=[wf.TensorSpec([None, None], dtype)] * 2)
    for way in (wf.function(expression), open_sizes):
        for one, other in zip(eager, way(x, y), strict=True):
            assert one.numpy().tobytes() == other.numpy().tobytes()


def test_loops_branches_variables_and_prints(capfd):
    v = wf.Variable(wf.tensor([1j, 2.0]))

    @wf.function
    def steps(x, n):
        for _ in wf.range(n):
            x = x * 1j + v
        if wf.abs(x[0]) > 100.0:
            x = wf.conj(x)
        v.assign_add(x)
        wf.print(x)
        return x

    x = wf.tensor([1 + 1j, -1.0])
    wanted = x.numpy()
    for _ in range(3):
        wanted = wanted * 1j + v.numpy()
    got = steps(x, wf.tensor(3))
    np.testing.assert_array_equal(got.numpy(), wanted)
    np.testing.assert_array_equal(v.numpy(), np.array([1j, 2.0], "complex64") + wanted)
    assert "j" in capfd.readouterr().out
    assert wf.numpy_function(lambda a: a * 2, [x], "complex64").tolist() == (x.numpy() * 2).tolist()


# Derivatives ----------------------------------------------------------------------------------------------------------------------

LOSSES = {
    "abs": lambda z: wf.sum(wf.abs(z) ** 2),
    "parts": lambda z: wf.sum(wf.real(z) * wf.imag(z) + wf.angle(z)),
    "product": lambda z: wf.sum(wf.real(z * z * wf.conj(z[::-1]))),
    "quotient": lambda z: wf.sum(wf.imag(z[::-1] / z)),
    "functions": lambda z: wf.sum(wf.real(wf.exp(z) + wf.log(z) + wf.sqrt(z) + wf.sin(z) * wf.cos(z) + wf.tanh(z))),
    "inverse": lambda z: wf.sum(wf.real(wf.asin(z) + wf.atan(z) + wf.acosh(z)) + wf.imag(wf.acos(z) + wf.atanh(z))),
    "power": lambda z: wf.sum(wf.real(z**3 + z ** (0.5 + 1j))),
    "sign": lambda z: wf.sum(wf.real(wf.sign(z) * (1 + 2j))),
    "matmul": lambda z: wf.sum(wf.abs(wf.outer(z, z) @ wf.conj(z))),
    "cumulative": lambda z: wf.sum(wf.abs(wf.cumprod(z)) + wf.imag(wf.cumsum(z))) + wf.real(wf.prod(z)),
    "mean": lambda z: wf.real(wf.mean(z * 1j) * wf.sum(z)),
    "movement": lambda z: wf.sum(wf.abs(wf.concatenate([wf.pad(z, 1)[::2], wf.take(z, wf.tensor([0, 0]))]) + 0.5j)),
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_gradients_against_differences(name):
    """By both parts: the gradient is that by the real part, and i times that by the imaginary one."""
    loss, z = LOSSES[name], drawn((4,), "complex128")
    gradient = wf.grad(loss)(wf.tensor(z)).numpy()
    assert gradient.dtype == np.complex128
    for i in range(len(z)):
        for unit in (1, 1j):
            step = np.zeros_like(z)
            step[i] = 1e-6 * unit
            slope = (float(loss(wf.tensor(z + step))) - float(loss(wf.tensor(z - step)))) / 2e-6
            found = gradient[i].real if unit == 1 else gradient[i].imag
            assert found == pytest.approx(slope, rel=2e-6, abs=1e-7), (i, unit)
    for compiled in (wf.function(wf.grad(loss)), wf.grad(wf.function(loss))):
        np.testing.assert_allclose(compiled(wf.tensor(z)).numpy(), gradient, rtol=1e-12, atol=1e-13)


@wf.function
def repeated(z):
    for _ in wf.range(3):
        z = z * z + 0.5j
    return z


LOOPS = {
    "for": repeated,
    "while": lambda z: wf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z / (z + 1)), (wf.tensor(0), z))[1],
    "scan": lambda z: wf.scan(lambda c, x: (c * wf.exp(x), c * x), z[0], z)[1],
    "cond": lambda z: wf.cond(wf.real(z[0]) > -10, lambda: z * wf.exp(z), lambda: z),
    "fft": lambda z: wf.fft.fft(z) * z,
}  # fmt: skip


@pytest.mark.parametrize("name", LOOPS)
def test_gradients_keep_complex_numbers(name):
    """Bytes of complex elements were asked of their type, which has none; traced and in traces."""

    def loss(z):
        return wf.sum(wf.abs(LOOPS[name](z)))

    z = wf.tensor(drawn((3,), "complex128"))
    wanted = wf.grad(loss)(z).numpy()
    for compiled in (wf.function(wf.grad(loss)), wf.grad(wf.function(loss))):
        np.testing.assert_allclose(compiled(z).numpy(), wanted, rtol=1e-12, atol=1e-13)


def test_the_convention_is_pytorchs():
    z = wf.tensor(1 + 2j, "complex128")
    assert wf.grad(lambda z: wf.abs(z) ** 2)(z).item() == pytest.approx(2 + 4j)
    y, pull = wf.vjp(lambda z: z * z, z)
    assert pull(wf.tensor(1 + 0j, "complex128"))[0].item() == pytest.approx(2 - 4j)
    y, tangent = wf.jvp(lambda z: z * z, (z,), (wf.tensor(1j, "complex128"),))
    assert tangent.item() == pytest.approx(2j * (1 + 2j))
    assert wf.grad(lambda z: wf.abs(z))(wf.tensor(0j)).item() == 0


def test_a_real_operand_has_a_real_gradient():
    r = wf.tensor([0.5, -1.5], "float64")
    gradient = wf.grad(lambda r: wf.sum(wf.imag(wf.exp(r * (1 + 2j)))))(r)
    assert gradient.dtype == "float64"
    wanted = np.imag((1 + 2j) * np.exp(r.numpy() * (1 + 2j)))
    np.testing.assert_allclose(gradient.numpy(), wanted, rtol=1e-13)


def test_a_loss_is_real():
    z = wf.tensor([1j, 2.0])
    with pytest.raises(wf.DTypeError, match="real part or its abs"):
        wf.grad(lambda z: wf.sum(z))(z)
    with wf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    with pytest.raises(wf.DTypeError, match="output_gradients"):
        tape.gradient(y, z)


def test_second_order_and_batches():
    z = wf.tensor(drawn((3,), "complex128"))
    loss = LOSSES["functions"]
    direction = wf.tensor(drawn((3,), "complex128", 9))

    def slope(z):
        return wf.sum(wf.real(wf.conj(direction) * wf.grad(loss)(z)))

    found = wf.grad(slope)(z).numpy()
    h = 1e-6 * direction.numpy()
    wanted = (wf.grad(loss)(wf.tensor(z.numpy() + h)).numpy() - wf.grad(loss)(wf.tensor(z.numpy() - h)).numpy()) / 2e-6
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-8)
    rows = wf.tensor(drawn((5, 3), "complex64"))
    mapped = wf.vmap(lambda row: wf.exp(row) * wf.conj(row))(rows)
    np.testing.assert_array_equal(mapped.numpy(), (wf.exp(rows) * wf.conj(rows)).numpy())


def test_names_of_tensorflow():
    tf = pytest.importorskip("weft.tf")
    z = tf.complex([1.0, 2.0], [3.0, 4.0])
    assert z.dtype == tf.complex64 and z.dtype.real_dtype == tf.float32 and z.dtype.is_complex
    assert tf.math.real(z).numpy().tolist() == [1, 2] and tf.math.imag(z).numpy().tolist() == [3, 4]
    assert tf.math.conj(z).numpy().tolist() == [1 - 3j, 2 - 4j]
    near(tf.math.angle(z).numpy(), np.angle(np.array([1 + 3j, 2 + 4j], "complex64")), 6)


def test_loops_keep_complex_numbers_of_open_sizes():
    def loss(x, n):
        return wf.sum(wf.abs(wf.for_loop(n, lambda i, z: z * x + 1j, [x])[0]) ** 2)

    x, n = wf.tensor(drawn((2, 3), "complex128")), wf.tensor(4)
    for x, shape in [(x, (None, 3)), (x, (None, None)), (x, (2, None)), (x[0], (None,))]:
        signature = [wf.TensorSpec(shape, "complex128"), wf.TensorSpec((), "int32")]
        compiled = wf.function(lambda x, n: wf.grad(loss)(x, n), input_signature=signature)
        near(compiled(x, n), wf.grad(loss)(x, n))
