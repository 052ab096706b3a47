"""Floats of 16 bits: rounded once from everything, eagerly and compiled, and by every op once."""

import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import test_composites
import test_ops

import weft as wf

FORMATS = ["float16", "bfloat16"]
EVERY_DTYPE = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def numbers(tensor):
    """The elements as float64."""
    return tensor.numpy() if str(tensor.dtype).startswith("complex") else tensor.astype("float64").numpy()


def rounded(values, dtype):
    """What float64 numbers are in the format, by integers and not by the library."""
    values = np.asarray(values, "float64")
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return values.astype("float16").astype("float64")
    bits = values.view("int64")
    kept = bits + (1 << 44) - 1 + (bits >> 45 & 1) & ~((1 << 45) - 1)
    return np.where(np.isfinite(values), kept.view("float64"), values)


def every_number(dtype):
    """The numbers of the format as float32, NaN and infinities too."""
    bits = np.arange(65536, dtype="uint16")
    if dtype == "float16":
        return bits.view("float16").astype("float32")
    return (bits.astype("uint32") << 16).view("float32")


def both_ways(function, *arguments):
    """The result, which is to have the same bits eagerly and compiled."""
    eager, compiled = function(*arguments), wf.function(function)(*arguments)
    assert eager.dtype == compiled.dtype and eager.shape == compiled.shape
    np.testing.assert_array_equal(numbers(eager), numbers(compiled))
    return eager


@pytest.mark.parametrize("dtype", FORMATS)
def test_every_number_goes_there_and_back(dtype):
    values = every_number(dtype)
    there = both_ways(lambda x: x.astype(dtype), wf.tensor(values))
    assert there.dtype == dtype
    back = both_ways(lambda x: x.astype("float32"), there)
    np.testing.assert_array_equal(back.numpy(), values)
    finite = np.isfinite(values)
    np.testing.assert_array_equal(np.signbit(back.numpy()[finite]), np.signbit(values[finite]))


@pytest.mark.parametrize("dtype", FORMATS)
def test_what_lies_between_is_rounded_once(dtype):
    values = every_number(dtype)
    values = np.sort(values[np.isfinite(values) & (values > 1e-37)].astype("float64"))
    half, step = (values[1:] + values[:-1]) / 2, values[1:] - values[:-1]
    for given in (half, half + step * 2.0**-40, half - step * 2.0**-40, -half, -half - step * 2.0**-40):
        np.testing.assert_array_equal(numbers(both_ways(lambda x: x.astype(dtype), wf.tensor(given))), rounded(given, dtype))
    singles = half.astype("float32")  # which holds them
    np.testing.assert_array_equal(numbers(wf.tensor(singles).astype(dtype)), rounded(half, dtype))


@pytest.mark.parametrize("dtype", FORMATS)
def test_ends_of_the_range(dtype):
    most = wf.finfo(dtype).max
    values = np.array([most, most * (1 + 2**-10), most * 2, -most * 2, np.inf, -np.inf, np.nan, 0.0, -0.0, 1e-320, 1e300])
    given = both_ways(lambda x: x.astype(dtype), wf.tensor(values))
    np.testing.assert_array_equal(numbers(given)[[0, 2, 3, 4, 5, 6, 7, 9, 10]], [most, np.inf, -np.inf, np.inf, -np.inf, np.nan, 0, 0, np.inf])
    assert np.signbit(numbers(given)[8])


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("kind", ["int32", "uint32", "int64", "uint64"])
def test_large_integers_are_rounded_once(dtype, kind):
    bits = np.iinfo(kind).bits
    powers = [1 << p for p in range(bits - 1)]
    values = [a + b + c for a in powers for b in (0, a >> 8, a >> 11, 3 * (a >> 8)) for c in (-1, 0, 1)]
    given = np.array([v for v in values if 0 <= v <= np.iinfo(kind).max], kind)
    exact = [int(v) for v in given]

    def nearest(value):
        digits = 11 if dtype == "float16" else 8
        shift = max(value.bit_length() - digits, 0)
        low, rest = value >> shift, value & ((1 << shift) - 1)
        half = 1 << shift >> 1
        low += shift > 0 and (rest > half or (rest == half and low & 1))
        result = float(low << shift)
        return np.inf if dtype == "float16" and result > 65504 else result

    wanted = [nearest(v) for v in exact]
    assert numbers(both_ways(lambda x: x.astype(dtype), wf.tensor(given))).tolist() == wanted
    if kind[0] == "i":
        assert numbers(both_ways(lambda x: x.astype(dtype), wf.tensor(-given))).tolist() == [-v for v in wanted]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("other", EVERY_DTYPE + FORMATS)
def test_casts_to_every_dtype(dtype, other):
    x = wf.tensor([0.0, -0.0, 1.5, -2.75, 100.0, 300.0, 70000.0, -1e10, float("inf"), float("-inf"), float("nan")]).astype(dtype)
    got = both_ways(lambda x: x.astype(other), x)
    assert got.dtype == other
    np.testing.assert_array_equal(numbers(got), numbers(x.astype("float32").astype(other)))


@pytest.mark.parametrize("dtype", FORMATS)
def test_each_op_rounds_once(dtype):
    rng = np.random.default_rng(3)
    a, b = (wf.tensor(rng.normal(size=999).astype("float32")).astype(dtype) for _ in range(2))
    x, y = numbers(a), numbers(b)
    for op, wanted in (
        (lambda a, b: a + b, x + y),
        (lambda a, b: a * b, x * y),
        (lambda a, b: a / b, x / y),
        (lambda a, b: wf.maximum(a, b), np.maximum(x, y)),
    ):
        got = both_ways(op, a, b)
        assert got.dtype == dtype
        np.testing.assert_array_equal(numbers(got), rounded(wanted, dtype))
    # Two ops round twice, compiled too, where one loop does both.
    np.testing.assert_array_equal(numbers(both_ways(lambda a, b: a * b + b, a, b)), rounded(rounded(x * y, dtype) + y, dtype))
    np.testing.assert_array_equal(both_ways(lambda a, b: a < b, a, b).numpy(), x < y)
    np.testing.assert_array_equal(numbers(both_ways(lambda a: a + 0.1, a)), rounded(x + rounded(0.1, dtype), dtype))


def product(a, b):
    """The product of bf16 by its rule: fmas in f32 over k in order, denormals flushed; by exact sums in float64."""
    def flushed(values):
        return np.where(np.abs(values) < 2.0**-126, np.copysign(0.0, values), values)

    sums = np.zeros((*a.shape[:-1], b.shape[-1]))
    for k in range(a.shape[-1]):
        terms = flushed(a)[..., k, None] * flushed(b)[..., k, None, :]
        total = sums + terms
        part = total - sums
        error = (sums - (total - part)) + (terms - part)
        bits = total.view("int64")
        odd = np.where((error != 0) & (bits & 1 == 0), bits + np.where((error > 0) == (total > 0), 1, -1), bits).view("float64")
        sums = flushed((odd * 2.0**100).astype("float32").astype("float64") * 2.0**-100)
    return rounded(sums, "bfloat16")


SCALES = [1, 2.0**-62, 2.0**-64, 2.0**-130]
PRODUCTS = {
    "matmul": (wf.matmul, [(5, 7), (7, 9)], lambda a, b: product(a, b)),
    "one column": (wf.matmul, [(33, 65), (65, 1)], lambda a, b: product(a, b)),
    "few rows": (wf.matmul, [(3, 66), (66, 1100)], lambda a, b: product(a, b)),
    "few columns": (lambda a, b: wf.matmul(a, wf.transpose(b)), [(1100, 37), (2, 37)], lambda a, b: product(a, b.T)),
    "row and column": (wf.matmul, [(1, 65), (65, 1)], lambda a, b: product(a, b)),
    "nothing to add": (wf.matmul, [(3, 0), (0, 4)], lambda a, b: np.zeros((3, 4))),
    "no rows": (wf.matmul, [(0, 3), (3, 4)], lambda a, b: np.zeros((0, 4))),
    "one step": (wf.matmul, [(5, 1), (1, 9)], lambda a, b: product(a, b)),
    "batches": (wf.matmul, [(3, 1, 4, 6), (2, 6, 5)], lambda a, b: product(a, b)),
    "transposed": (lambda a, b: wf.matmul(wf.transpose(a), b, transpose_rhs=True), [(7, 5), (9, 7)], lambda a, b: product(a.T, b.T)),
    "strided": (lambda a, b: wf.matmul(a[::2, ::3], b[::-1, ::2]), [(5, 20), (7, 9)], lambda a, b: product(a[::2, ::3], b[::-1, ::2])),
    "into a part": (
        lambda a, b: wf.concatenate([wf.matmul(a, b), wf.transpose(wf.matmul(a, b)), a], axis=1),
        [(5, 5), (5, 5)],
        lambda a, b: np.concatenate([product(a, b), product(a, b).T, a], axis=1),
    ),
    "chain": (lambda a, b: wf.matmul(wf.matmul(a * 2, b), b) + 1, [(5, 5), (5, 5)], lambda a, b: rounded(product(product(a * 2, b), b) + 1, "bfloat16")),
    "tensordot": (lambda a, b: wf.tensordot(a, b, 2), [(3, 4, 5), (4, 5, 6)], lambda a, b: product(a.reshape(3, 20), b.reshape(20, 6))),
    "einsum": (lambda a, b: wf.einsum("bij,bkj->bik", a, b), [(3, 4, 5), (3, 6, 5)], lambda a, b: product(a, b.swapaxes(1, 2))),
}


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_bf16_flush_denormals(name, scale):
    function, shapes, wanted = PRODUCTS[name]
    rng = np.random.default_rng(8)
    a, b = (wf.tensor((rng.normal(size=shape) * scale).astype("float32")).astype("bfloat16") for shape in shapes)
    if " fma " not in Path("/proc/cpuinfo").read_text():
        pytest.skip("products are rounded too where there is no fma")
    np.testing.assert_array_equal(numbers(both_ways(function, a, b)), wanted(numbers(a), numbers(b)))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: wf.einsum("ij,jk,kl->il", a, b, a),
        lambda a, b: wf.matmul(a[0], b[0]),
        lambda a, b: wf.vdot(a, b),
        lambda a, b: wf.convolution(wf.reshape(a, (1, 6, 6)), wf.reshape(b, (1, 6, 6))),
        lambda a, b: wf.for_loop(3, lambda i, s: s + wf.matmul(a, b), [a])[0],
        lambda a, b: wf.grad(lambda x: wf.sum(wf.matmul(x, b)))(a),
        lambda a, b: wf.convolution(wf.reshape(a, (1, 12, 3)), wf.reshape(b, (3, 3, 4))),
    ],
)
def test_what_is_made_of_products_of_bf16_has_the_same_bits_compiled(function, scale):
    rng = np.random.default_rng(9)
    both_ways(function, *(wf.tensor((rng.normal(size=(6, 6)) * scale).astype("float32")).astype("bfloat16") for _ in range(2)))


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize(
    "function",
    [
        wf.exp,
        wf.log2,
        wf.atan,
        wf.var,
        wf.std,
        wf.cbrt,
        lambda x: wf.hypot(x, x),
        lambda x: wf.logaddexp(x, x),
        lambda x: wf.sum(x, 0),
        lambda x: wf.mean(x, 1),
        lambda x: wf.cumsum(x, axis=0),
        lambda x: wf.sort(x, axis=1),
        lambda x: x @ wf.transpose(x),
        lambda x: wf.top_k(x, 3).values,
        lambda x: wf.linalg.inv(x @ wf.transpose(x) + 9 * wf.eye(5, dtype=x.dtype)),
    ],
    ids=range(15),
)
def test_functions_are_computed_in_float32(function, dtype):
    x = wf.tensor(np.random.default_rng(5).uniform(0.1, 3, (5, 7)).astype("float32")).astype(dtype)
    got = both_ways(function, x)
    assert got.dtype == dtype
    wanted = numbers(function(x.astype("float32")))
    # As one op, or as few: within a few steps of the format of what float32 gives.
    np.testing.assert_allclose(numbers(got), wanted, rtol=4 * wf.finfo(dtype).eps, atol=4 * wf.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("name", ["log2", "atan", "cbrt", "exp", "tanh", "sinh", "expm1", "rsqrt"])
def test_one_function_rounds_once(name, dtype):
    x = wf.tensor(np.random.default_rng(7).uniform(0.01, 9, 1000).astype("float32")).astype(dtype)
    got = both_ways(getattr(wf, name), x)
    np.testing.assert_array_equal(numbers(got), numbers(getattr(wf, name)(x.astype("float32")).astype(dtype)))


def narrowed(arguments, dtype):
    """Arguments with tensors of the format for arrays of float32, and the same numbers in float32."""
    if isinstance(arguments, dict):
        both = {name: narrowed(value, dtype) for name, value in arguments.items()}
        return {name: value[0] for name, value in both.items()}, {name: value[1] for name, value in both.items()}
    if isinstance(arguments, list):
        both = [narrowed(value, dtype) for value in arguments]
        return [value[0] for value in both], [value[1] for value in both]
    if not isinstance(arguments, np.ndarray) or arguments.dtype != "float32":
        return arguments, arguments
    narrow = wf.tensor(arguments).astype(dtype)
    return narrow, narrow.astype("float32")


def has_floats(arguments):
    arrays = [x for value in arguments.values() for x in (value if isinstance(value, list) else [value])]
    kinds = {str(x.dtype) for x in arrays if isinstance(x, np.ndarray)}
    return "float32" in kinds and "float64" not in kinds


def assert_rounded_once(got, wide, dtype, what):
    """What is computed of the format is what float32 gives, rounded."""
    assert got.dtype == (dtype if wide.dtype == "float32" else wide.dtype), what
    np.testing.assert_array_equal(numbers(got), numbers(wide.astype(got.dtype)), err_msg=what)


@pytest.mark.parametrize("name", [name for name in test_ops.OPS if not name.startswith(("draw_", "iota", "nextafter", "complex"))])
def test_every_op_rounds_once(name):
    record = {"pad_interior": "pad"}.get(name, name.removeprefix("reduce_"))
    op = next(op for op in json.loads(test_ops.SAMPLES.read_text()) if op["name"] == record)
    for number, (arguments, attributes) in enumerate(test_ops.calls(op, test_ops.oracle()["sampled"])):
        if not has_floats(arguments):
            continue
        given = {{"axes": "axis", "permutation": "axes"}.get(key, key): value for key, value in attributes.items()}
        dtype = FORMATS[number % 2]
        narrow, wide = narrowed(arguments, dtype)
        function = getattr(wf._weft, name)
        if name == "cast":
            np.testing.assert_array_equal(numbers(function(**narrow, **given)), numbers(function(**wide, **given)))
            continue
        assert_rounded_once(function(**narrow, **given), function(**wide, **given), dtype, f"{arguments} {attributes}")


# Transforms of 16-bit floats have complex results, of the precision of float32.
@pytest.mark.parametrize("name", [name for name in test_composites.RECORDS if name != "nan_to_num" and not name.startswith("fft.")])
def test_every_function_rounds_once(name):
    record = test_composites.RECORDS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = list(test_composites.calls(record))
    for number, (_, operands, others) in enumerate(calls):
        if not has_floats(operands):
            continue
        dtype = FORMATS[number % 2]
        narrow, wide = (test_composites.called(record, given, others) for given in narrowed(operands, dtype))
        if others.get("dtype") is None:
            assert_rounded_once(narrow, wide, dtype, f"{operands} {others}")


@pytest.mark.parametrize("dtype", FORMATS)
def test_functions_of_layers_round_once(dtype):
    rng = np.random.default_rng(1)
    x = wf.tensor(rng.normal(size=(4, 7)) * 3, "float32").astype(dtype)
    names = "gelu gelu_tanh silu softplus elu selu leaky_relu relu6 hard_sigmoid mish softsign sigmoid tanh relu softmax log_softmax".split()
    calls = {name: getattr(wf.nn, name) for name in names if hasattr(wf.nn, name)}
    assert len(calls) > 12
    calls |= {f"{name} along 0": lambda x, name=name: getattr(wf.nn, name)(x, axis=0) for name in ("softmax", "log_softmax")}
    calls |= {"logsumexp": wf.logsumexp, "logsumexp along 1": lambda x: wf.logsumexp(x, axis=1)}
    for name, call in calls.items():
        got, once = call(x), call(x.astype("float32")).astype(dtype)
        assert got.dtype == once.dtype == dtype, name
        np.testing.assert_array_equal(numbers(got), numbers(once), err_msg=name)
        np.testing.assert_array_equal(numbers(wf.function(call)(x)), numbers(once), err_msg=f"{name} compiled")
        assert wf.grad(lambda x, call=call: wf.sum(call(x)))(x).dtype == dtype


def test_limits_are_those_of_the_format():
    infinite = [float("inf"), float("-inf"), float("nan")]
    assert wf.nan_to_num(wf.tensor(infinite, dtype="float16")).tolist() == [65504, -65504, 0]
    assert wf.nextafter(wf.tensor([1.0, 0.0], dtype="bfloat16"), 2).tolist() == [1 + 2**-7, 2**-133]


def test_sums_do_not_stand_still():
    assert wf.sum(wf.ones(4097, "bfloat16")).item() == 4096
    assert wf.mean(wf.ones(70000, "float16")).item() == 1
    assert wf.cumsum(wf.ones(2050, "float16"))[-1].item() == 2050
    assert wf.sum(wf.ones(3, "float16")).dtype == "float16"


@pytest.mark.parametrize("dtype", FORMATS)
def test_moves_keep_every_bit(dtype):
    x = wf.arange(24, dtype=dtype).reshape([2, 3, 4]) / 3
    for move in (
        lambda x: wf.transpose(x),
        lambda x: wf.concatenate([x, x[:, ::-1]], axis=1),
        lambda x: wf.pad(x, 1, constant_values=-7),
        lambda x: wf.roll(x, 2, 1),
        lambda x: wf.where(x > 1, x, -x),
        lambda x: wf.take(x, [1, 0, 1], axis=2),
        lambda x: wf.stack([x, x]),
        lambda x: wf.tile(x, (2, 1, 2)),
        lambda x: wf.scatter_add(x, [1, 1], wf.ones([2, 3, 4], x.dtype), axis=0),
        lambda x: x.at[0, 1].set(5),
    ):
        got = both_ways(move, x)
        assert got.dtype == dtype
        np.testing.assert_array_equal(numbers(got), rounded(numbers(move(x.astype("float32"))), dtype))


def test_ranges_are_rounded_once():
    wanted = rounded(np.arange(3000), "bfloat16")
    np.testing.assert_array_equal(numbers(wf.arange(3000, dtype="bfloat16")), wanted)
    np.testing.assert_array_equal(numbers(wf.function(lambda: wf.arange(3000, dtype="bfloat16"))()), wanted)


def test_promotion():
    half, brain = wf.ones(2, "float16"), wf.ones(2, "bfloat16")
    assert (half + brain).dtype == "float32" and (brain + wf.ones(2, "float64")).dtype == "float64"
    assert (brain + 1).dtype == (brain + 0.5).dtype == (brain + wf.tensor([1, 2])).dtype == "bfloat16"
    assert wf.result_type("float16", "bfloat16") == "float32" and wf.result_type("int64", "float16", 1.5) == "float16"
    assert wf.can_cast("bfloat16", "float32") and not wf.can_cast("bfloat16", "float16")
    assert wf.isdtype(wf.bfloat16, "real floating")
    assert (wf.ones(1, "float16") * 70000).item() == np.inf
    assert wf.finfo("float16").max == 65504 and wf.finfo("bfloat16").eps == 2**-7 and wf.finfo("bfloat16").bits == 16


def test_texts():
    x = wf.tensor([0.1, 3.14159, 65504.0], dtype="float16")
    assert repr(x) == "tensor([1.00e-01, 3.14e+00, 6.55e+04], shape=(3,), dtype=float16)"
    assert repr(wf.tensor([0.1, 2.5, -3.0], dtype="bfloat16")) == "tensor([ 0.1,  2.5, -3. ], shape=(3,), dtype=bfloat16)"
    assert str(wf.tensor(1 / 3, dtype="bfloat16")) == "0.334" and str(wf.tensor(1 / 3, dtype="float16")) == "0.3333"
    assert repr(wf.bfloat16) == "weft.bfloat16"


def test_numpy_and_others():
    x = np.array([[1.5, -2], [65504, 6e-8]], "float16")
    assert np.asarray(wf.tensor(x)).dtype == "float16" and (wf.tensor(x).numpy() == x).all()
    assert np.shares_memory(np.asarray(wf.asarray(x)), x) and np.from_dlpack(wf.tensor(x)).dtype == "float16"
    brain = wf.tensor(x).astype("bfloat16")
    assert (np.asarray(brain, "float64") == numbers(brain)).all() and brain.tolist() == numbers(brain).tolist()
    with pytest.raises(wf.ValueError, match="bfloat16, which NumPy lacks"):
        np.asarray(brain, copy=False)
    with pytest.raises(BufferError, match="no format for bfloat16"):
        memoryview(brain)
    again = wf.from_dlpack(brain)
    assert again.dtype == "bfloat16" and again.tolist() == brain.tolist()
    for tensor in (brain, wf.tensor(x)):
        for protocol in (4, 5):
            copy = pickle.loads(pickle.dumps(tensor, protocol))
            assert copy.dtype == tensor.dtype and copy.tolist() == tensor.tolist()


def test_files(tmp_path):
    tensors = {"half": wf.tensor([1.5, -2, 65504], dtype="float16"), "brain": wf.tensor([[1.5], [3e38]], dtype="bfloat16")}
    for name, tensor in tensors.items():
        path = tmp_path / f"{name}.npy"
        wf.io.save_npy(path, tensor)
        read = wf.io.load_npy(path)
        assert read.dtype == tensor.dtype and read.tolist() == tensor.tolist()
    assert np.load(tmp_path / "half.npy").dtype == "float16" and b"'<V2'" in (tmp_path / "brain.npy").read_bytes()
    named = (tmp_path / "brain.npy").read_bytes().replace(b"'<V2'", b"'bfloat16'").replace(b"      \n", b"\n", 1)
    (tmp_path / "named.npy").write_bytes(named[:8] + (len(named) - 10 - 4).to_bytes(2, "little") + named[10:])
    assert wf.io.load_npy(tmp_path / "named.npy").dtype == "bfloat16"
    wf.io.save_safetensors(tmp_path / "both.safetensors", tensors)
    for name, tensor in wf.io.load_safetensors(tmp_path / "both.safetensors").items():
        assert tensor.dtype == tensors[name].dtype and tensor.tolist() == tensors[name].tolist()
    assert wf.io.load_safetensors(tmp_path / "both.safetensors", widen=True)["brain"].dtype == "float32"
    wf.save(tmp_path / "tree.weft", tensors)
    assert wf.load(tmp_path / "tree.weft")["brain"].dtype == "bfloat16"


@pytest.mark.parametrize("dtype", FORMATS)
def test_derivatives(dtype):
    x = np.random.default_rng(11).uniform(0.5, 2, (4, 3)).astype("float32")

    def loss(x):
        return wf.sum(wf.tanh(x @ wf.transpose(x)) * wf.log2(wf.sum(x * x)))

    given = wf.tensor(x).astype(dtype)
    got = both_ways(wf.grad(loss), given)
    assert got.dtype == dtype
    np.testing.assert_allclose(numbers(got), numbers(wf.grad(loss)(given.astype("float32"))), rtol=0.05, atol=0.05)
    cast = wf.grad(lambda x: wf.sum(x.astype(dtype).astype("float32") * 2))(wf.tensor(x))
    assert cast.dtype == "float32" and (cast.numpy() == 2).all()


@pytest.mark.parametrize("dtype", FORMATS)
def test_what_compiled_code_shows(dtype, capfd):
    seen = []

    @wf.function
    def shows(x):
        wf.print("x is", x)
        y = wf.py_function(lambda t: (seen.append(t), t * 2)[1], [x], wf.TensorSpec([2], dtype))
        return y + 1

    got = shows(wf.tensor([1.5, 2.5], dtype=dtype))
    assert got.dtype == dtype and got.tolist() == [4, 6] and seen[0].dtype == dtype and seen[0].tolist() == [1.5, 2.5]
    assert f"x is tensor([1.5, 2.5], shape=(2,), dtype={dtype})" in capfd.readouterr().out


@pytest.mark.parametrize("dtype", FORMATS)
def test_variables_and_loops(dtype):
    total = wf.Variable(wf.zeros([2], dtype))

    @wf.function
    def steps(x):
        for i in wf.range(4):
            total.assign_add(x)
            x = x * 0.5
        return x

    left = steps(wf.tensor([1.0, 3.0], dtype=dtype))
    assert left.dtype == dtype and left.tolist() == [0.0625, 0.1875] and total.value().tolist() == [1.875, 5.625]


@pytest.mark.parametrize("dtype", FORMATS)
def test_random_numbers_stay_below_one(dtype):
    generator = wf.random.Generator(3)
    drawn = numbers(generator.uniform([20000], dtype=dtype))
    assert drawn.min() == 0 and drawn.max() < 1 and 0.49 < drawn.mean() < 0.51
    steps = 2 / wf.finfo(dtype).eps
    assert (drawn * steps == np.floor(drawn * steps)).all()
    assert numbers(generator.uniform([20000], 2, 3, dtype=dtype)).max() < 3
    assert generator.normal([5], dtype=dtype).dtype == dtype
    with pytest.raises(wf.DTypeError, match="bool, int32, int64, float32, float64"):
        wf.draw_uniform([0, 0], [3], dtype)
