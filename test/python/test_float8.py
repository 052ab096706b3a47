"""Floats of 8 bits: kept, moved and cast, eagerly and compiled, and refused by what computes."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import weft as wf

FORMATS = ["float8_e4m3fn", "float8_e5m2"]
DIGITS = {"float8_e4m3fn": (3, 7), "float8_e5m2": (2, 15)}
LARGEST = {"float8_e4m3fn": 448.0, "float8_e5m2": 57344.0}
OTHERS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"]


def table(dtype):
    """The numbers of the sizes 0 to 127 by their fields, as float64."""
    digits, bias = DIGITS[dtype]
    sizes = np.arange(128)
    exponents, fractions = sizes >> digits, sizes & ((1 << digits) - 1)
    values = np.where(exponents == 0, np.ldexp(fractions * 1.0, 1 - bias - digits), np.ldexp((1 << digits) + fractions * 1.0, exponents - bias - digits))
    if dtype == "float8_e4m3fn":
        values[127] = np.nan
    else:
        values[124], values[125:] = np.inf, np.nan
    return values


def nearest(values, dtype):
    """The bits of the format's number that is nearest to each float64, found among all."""
    numbers = table(dtype)
    finite = numbers[: np.flatnonzero(np.isfinite(numbers))[-1] + 1]
    beyond = 2 * finite[-1] - finite[-2]  # where the next number would be
    candidates = np.append(finite, beyond)
    sizes = np.abs(np.asarray(values, "float64"))
    distances = np.abs(np.minimum(np.nan_to_num(sizes), 2 * beyond)[..., None] - candidates)
    # Of two the one with an even last bit.
    order = np.arange(len(candidates)) % 2
    least = distances.min(-1, keepdims=True)
    found = np.argmin(np.where(distances == least, order, 2), -1)
    found = np.where(np.isnan(sizes), 127 if dtype == "float8_e4m3fn" else 126, found)
    return (found | np.where(np.signbit(values), 128, 0)).astype("uint8")


def bits(tensor):
    """The bits of the elements, as the library gives them to others."""
    return np.frombuffer(pickle_bytes(tensor), "uint8").reshape(tensor.shape)


def pickle_bytes(tensor):
    return tensor.__reduce_ex__(4)[1][0]


def of_bits(values, dtype):
    values = np.asarray(values, "uint8")
    return wf._weft._rebuild(values.tobytes(), dtype, values.shape)


def both_ways(function, *arguments):
    """The result, which is to have the same bits eagerly and compiled."""
    eager, compiled = function(*arguments), wf.function(function)(*arguments)
    assert eager.dtype == compiled.dtype and eager.shape == compiled.shape
    if eager.dtype in FORMATS:
        np.testing.assert_array_equal(bits(eager), bits(compiled))
    else:
        wide = [x.astype("float64").numpy() for x in (eager, compiled)]
        np.testing.assert_array_equal(*wide)
        np.testing.assert_array_equal(*map(np.signbit, wide))
    return eager


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("wide", ["float16", "bfloat16", "float32", "float64"])
def test_every_value_there_and_back(dtype, wide):
    x = of_bits(np.arange(256), dtype)
    values = table(dtype)
    values = np.concatenate([values, -values])
    got = both_ways(lambda x: x.astype(wide), x)
    expected = values if wide != "float16" else values.astype("float16").astype("float64")
    np.testing.assert_array_equal(got.astype("float64").numpy(), expected)
    back = both_ways(lambda x: x.astype(dtype), got)
    known = ~np.isnan(values)
    np.testing.assert_array_equal(bits(back)[known], np.arange(256)[known])
    assert np.isnan(back.astype("float32").numpy()[~known]).all()


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("given", ["float32", "float64", "float16"])
def test_rounded_once_to_the_nearest(dtype, given):
    numbers = table(dtype)
    numbers = numbers[np.isfinite(numbers)]
    numbers = np.append(numbers, [2 * numbers[-1] - numbers[-2], 2 * numbers[-1]])
    half, step = (numbers[1:] + numbers[:-1]) / 2, numbers[1:] - numbers[:-1]
    values = np.concatenate([numbers, half, *(half + step * s * 2.0**-p for s in (-1, 1) for p in (6, 12, 20, 40)), [1e-30, 1e30, 70000, np.inf, np.nan, 0.0]])
    with np.errstate(over="ignore"):
        values = np.concatenate([values, -values, np.random.default_rng(5).normal(size=9999) * 2.0 ** np.random.default_rng(6).uniform(-12, 12, 9999)]).astype(given)
    values = values.reshape(-1)
    got = both_ways(lambda x: x.astype(dtype), wf.tensor(values))
    known = ~np.isnan(values)
    np.testing.assert_array_equal(bits(got)[known], nearest(values.astype("float64"), dtype)[known])
    assert np.isnan(got.astype("float32").numpy()[~known]).all()


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("kind", ["bool", "int8", "int32", "int64", "uint8", "uint32", "uint64"])
def test_integers_are_rounded_once(dtype, kind):
    if kind == "bool":
        values = np.array([True, False])
    else:
        limits = np.iinfo(kind)
        values = [a + b for p in range(limits.bits) for a in (1 << p, 3 << p >> 1, 9 << p >> 3, 17 << p >> 4) for b in (-1, 0, 1)]
        values = np.array([v for v in values + [-v for v in values] if limits.min <= v <= limits.max], kind)
    got = both_ways(lambda x: x.astype(dtype), wf.tensor(values))
    sizes = [min(abs(int(v)), 1 << 40) for v in values]  # of which float64 has every bit
    np.testing.assert_array_equal(bits(got), nearest(np.copysign(sizes, np.where(values < 0, -1.0, 1.0) if kind != "bool" else 1.0), dtype))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("other", [*OTHERS, *FORMATS, "complex64"])
def test_casts_to_every_dtype(dtype, other):
    x = of_bits(np.arange(256), dtype)
    got, wanted = both_ways(lambda x: x.astype(other), x) if other != "complex64" else x.astype(other), x.astype("float32").astype(other)
    if other in FORMATS:
        known = ~np.isnan(x.astype("float32").numpy())
        np.testing.assert_array_equal(bits(got)[known], bits(wanted)[known])
    else:
        np.testing.assert_array_equal(*(t.astype("float64").numpy() if other != "complex64" else t.numpy() for t in (got, wanted)))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(
    ("move", "expected"),
    [
        (lambda x: wf.reshape(x, (4, 6)), lambda a: a.reshape(4, 6)),
        (lambda x: wf.transpose(x), lambda a: a.T),
        (lambda x: x[1:, ::2], lambda a: a[1:, ::2]),
        (lambda x: x[::-1], lambda a: a[::-1]),
        (lambda x: x[0], lambda a: a[0]),
        (lambda x: x[wf.tensor([2, 0])], lambda a: a[[2, 0]]),
        (lambda x: wf.concatenate([x, x], axis=1), lambda a: np.concatenate([a, a], 1)),
        (lambda x: wf.stack([x, x]), lambda a: np.stack([a, a])),
        (lambda x: wf.broadcast_to(x, (2, 3, 8)), lambda a: np.broadcast_to(a, (2, 3, 8))),
        (lambda x: wf.take(x, wf.tensor([1, 1]), axis=1), lambda a: a[:, [1, 1]]),
        (lambda x: wf.where(wf.tensor([[True], [False], [True]]), x, x[::-1]), lambda a: np.where([[True], [False], [True]], a, a[::-1])),
        (lambda x: wf.roll(x, 2), lambda a: np.roll(a, 2)),
        (lambda x: wf.squeeze(wf.expand_dims(x, 1), 1), lambda a: a),
        (lambda x: wf.tile(x, (2, 1)), lambda a: np.tile(a, (2, 1))),
        (lambda x: wf.pad(x, 1), lambda a: np.pad(a, 1)),
        (lambda x: x.at[1].set(x[0]), lambda a: np.stack([a[0], a[0], a[2]])),
        (lambda x: wf.stop_gradient(x), lambda a: a),
    ],
)
def test_moves_keep_every_bit(dtype, move, expected):
    values = np.random.default_rng(4).integers(0, 256, (3, 8)).astype("uint8")
    got = both_ways(move, of_bits(values, dtype))
    assert got.dtype == dtype
    np.testing.assert_array_equal(bits(got.copy()), expected(values))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x + x, lambda x: x * 2, lambda x: -x, lambda x: abs(x), lambda x: x < x, lambda x: x == x, wf.exp, wf.sum, wf.mean, wf.max, wf.sort,
        wf.argmax, wf.cumsum, wf.isnan, wf.round, wf.logical_not, lambda x: x @ x, lambda x: wf.matmul(x, x), lambda x: wf.concatenate([x, x.astype("float32")]),
        lambda x: wf.maximum(x, x.astype("float16")), lambda x: wf.unique(x), lambda x: wf.count_nonzero(x), lambda x: wf.allclose(x, x), wf.sqrt, wf.any,
    ],
)  # fmt: skip
def test_what_computes_is_refused(dtype, compute):
    x = wf.ones((2, 2), dtype)
    for call in (compute, wf.function(compute)):
        with pytest.raises(wf.DTypeError, match="astype"):
            call(x)
    x = wf.ones((2, 2), dtype).astype("float32")  # which is what they say
    compute(x) if compute is not wf.logical_not and compute is not wf.any else None


@pytest.mark.parametrize("dtype", FORMATS)
def test_made_of_numbers_and_shown(dtype):
    x = wf.tensor([1.0, -2.5, 0.3, 1000.0, 0.0, -0.0], dtype=dtype)
    assert x.dtype == dtype and x.dtype.itemsize == 1 and not x.dtype.is_floating
    assert x.tolist()[:3] == [1.0, -2.5, 0.3125]
    assert "dtype=" + dtype in repr(x) or dtype in repr(x)
    assert {"float8_e4m3fn": " 0.3 ", "float8_e5m2": "3.0e-01"}[dtype].strip() in repr(x)  # the fewest digits that read back
    for made in (wf.zeros((2, 3), dtype), wf.ones((2, 3), dtype), wf.full((2, 3), 1.5, dtype=dtype), wf.zeros_like(x)):
        assert made.dtype == dtype
    assert wf.full((2,), 1.5, dtype=dtype).tolist() == [1.5, 1.5]
    assert x[1].item() == -2.5
    assert wf.can_cast(dtype, dtype) and not wf.can_cast(dtype, "float32")
    assert copy.deepcopy(x).dtype == dtype and copy.copy(x).tolist()[0] == 1.0
    np.testing.assert_array_equal(bits(pickle.loads(pickle.dumps(x))), bits(x))
    v = wf.Variable(x)
    v.assign(x[::-1])
    np.testing.assert_array_equal(bits(v.read_value()), bits(x[::-1].copy()))
    limits, numbers = wf.finfo(dtype), table(dtype)
    digits = DIGITS[dtype][0]
    assert (limits.bits, limits.max, limits.min) == (8, LARGEST[dtype], -LARGEST[dtype])
    assert (limits.eps, limits.smallest_normal) == (2.0**-digits, numbers[1 << digits])
    assert not any(wf.isdtype(wf.dtype(dtype), kind) for kind in ("bool", "integral", "real floating", "complex floating", "numeric"))
    assert dtype not in wf.__array_namespace_info__().dtypes()


@pytest.mark.parametrize("dtype", FORMATS)
def test_files(dtype, tmp_path):
    x = of_bits(np.arange(256).reshape(16, 16), dtype)
    wf.io.save_safetensors(tmp_path / "x.safetensors", {"x": x})
    assert {"float8_e4m3fn": b'"F8_E4M3"', "float8_e5m2": b'"F8_E5M2"'}[dtype] in (tmp_path / "x.safetensors").read_bytes()
    np.testing.assert_array_equal(bits(wf.io.load_safetensors(tmp_path / "x.safetensors")["x"]), bits(x))
    wf.io.save_npy(tmp_path / "x.npy", x)
    np.testing.assert_array_equal(bits(wf.io.load_npy(tmp_path / "x.npy")), bits(x))


@pytest.mark.parametrize("dtype", FORMATS)
def test_dlpack(dtype):
    x = of_bits(np.arange(256), dtype)
    y = wf.from_dlpack(x)
    assert y.dtype == dtype
    np.testing.assert_array_equal(bits(y), bits(x))
    torch = sys.modules.get("torch")
    if torch is not None:
        assert str(torch.from_dlpack(x).dtype) == "torch." + dtype


@pytest.mark.parametrize("dtype", FORMATS)
def test_arrays_are_those_of_ml_dtypes(dtype):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    own = np.dtype(getattr(ml_dtypes, dtype))
    x = of_bits(np.arange(256), dtype)
    for array in (x.numpy(), np.asarray(x), np.array(x)):
        assert array.dtype == own
        np.testing.assert_array_equal(array.view("uint8"), np.arange(256))
    y = wf.tensor(np.arange(256).astype("uint8").view(own).reshape(16, 16)[:, ::2])
    assert y.dtype == dtype
    np.testing.assert_array_equal(bits(y), np.arange(256).reshape(16, 16)[:, ::2])
    values = (np.random.default_rng(2).normal(size=100000) * 100).astype("float32")
    np.testing.assert_array_equal(bits(wf.tensor(values).astype(dtype)), values.astype(own).view("uint8"))
    with pytest.raises(wf.ValueError, match="copy is False"):
        x.__array__(copy=False)


def test_without_ml_dtypes_there_are_no_arrays():
    code = """
import sys
sys.modules["ml_dtypes"] = None
import weft as wf
try:
    wf.ones(3, "float8_e5m2").numpy()
except wf.DTypeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "install ml_dtypes" in done.stdout and "astype" in done.stdout


@pytest.mark.parametrize("dtype", FORMATS)
def test_no_gradient_flows_through_them(dtype):
    x = wf.tensor([1.0, 2.3])
    assert wf.grad(lambda x: wf.sum(x * wf.stop_gradient(x).astype(dtype).astype("float32")))(x).tolist() == x.astype(dtype).astype("float32").tolist()
