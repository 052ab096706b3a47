"""Integers of every size, with a sign and without: what calls make of them beside NumPy, in both ways of running, and how they come and go."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import weft as wf

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
random = np.random.default_rng(5)


def numbers(dtype, shape=(7,)):
    limits = np.iinfo(dtype)
    x = random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    x.flat[:3] = limits.min, limits.max, 1
    return x


def both(function, *args):
    """The result of the call, or its results, which are the same traced."""
    eager = function(*args)
    traced = wf.function(function)(*args)
    pairs = [(eager, traced)] if isinstance(eager, wf.Tensor) else list(zip(eager, traced, strict=True))
    for own, other in pairs:
        assert other.dtype == own.dtype
        assert np.array_equal(other.numpy(), own.numpy())
    return eager.numpy() if isinstance(eager, wf.Tensor) else [own.numpy() for own, _ in pairs]


@pytest.mark.parametrize(("a", "b"), list(itertools.product((*INTEGERS, "bool", "float32", "float64"), repeat=2)))
def test_operands_take_the_common_dtype(a, b):
    x, y = wf.ones([2], a), wf.ones([2], b)
    if {a, b} & {"uint64"} and {a, b} & set(SIGNED):
        for call in (wf.maximum, wf.add, lambda x, y: wf.concatenate([x, y])):
            with pytest.raises(wf.DTypeError, match=r"uint64 and int\d+ have no common dtype"):
                call(x, y)
        return
    kinds = {np.dtype(a).kind, np.dtype(b).kind}
    if "f" in kinds and kinds != {"f"}:  # which an integer does not widen
        wanted = a if np.dtype(a).kind == "f" else b
    else:
        wanted = np.promote_types(a, b)
    if {a, b} != {"bool"}:  # of which there is no larger one
        assert wf.maximum(x, y).dtype == wanted
    assert wf.concatenate([x, y]).dtype == wanted


def test_a_floating_operand_decides_before_integers_meet():
    parts = [wf.ones([1], dtype) for dtype in ("uint64", "int8", "float32")]
    for order in itertools.permutations(parts):
        assert wf.concatenate(list(order)).dtype == "float32"


@pytest.mark.parametrize("dtype", INTEGERS)
def test_arithmetic_is_numpys(dtype):
    names = "add subtract multiply maximum minimum remainder less less_equal greater greater_equal equal not_equal".split()
    x, y = numbers(dtype), numbers(dtype)[::-1].copy()
    results = both(lambda x, y: [getattr(wf, name)(x, y) for name in names], wf.tensor(x), wf.tensor(y))
    for name, got in zip(names, results, strict=True):
        with np.errstate(all="ignore"):
            wanted = getattr(np, name)(x, y)
        assert got.dtype == wanted.dtype, name
        assert np.array_equal(got, wanted), name
    alone = both(lambda x: [wf.negate(x), abs(x), wf.sign(x), wf.square(x), wf.floor(x), wf.signbit(x)], wf.tensor(x))
    for got, wanted in zip(alone, (-x, np.abs(x), np.sign(x), x * x, x, x < 0), strict=True):
        assert np.array_equal(got, wanted)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_wrap(dtype):
    x, n = numbers(dtype), np.array([0, 1, 2, 3, 7, 31, 100], dtype)
    bits = np.iinfo(dtype).bits
    wanted = np.array([pow(int(a), int(b), 1 << bits) for a, b in zip(x, n)], np.uint64).astype(dtype)
    assert np.array_equal(both(wf.power, wf.tensor(x), wf.tensor(n)), wanted)
    assert np.array_equal(both(lambda x: x**3, wf.tensor(x)), np.array([pow(int(a), 3, 1 << bits) for a in x], np.uint64).astype(dtype))


NEGATIVE = "power: integers to negative integer powers are not allowed: cast the base to a floating dtype"


@pytest.mark.parametrize("dtype", SIGNED)
def test_negative_powers_are_refused(dtype):
    """As NumPy does, whatever the base; of floating bases they are quotients."""
    x, n = wf.tensor([1, 2, 3], dtype=dtype), wf.tensor([1, 0, -1], dtype=dtype)
    compiled = wf.function(lambda x, n: x**n)
    for call in (lambda: x**n, lambda: x**-1, lambda: 2**n, lambda: compiled(x, n), lambda: wf.function(lambda x: x**-1)(x),
                 lambda: wf.vmap(lambda x, n: x**n)(x, n)):  # fmt: skip
        with pytest.raises(wf.ValueError, match=NEGATIVE):
            call()
    assert compiled(x, wf.abs(n)).tolist() == [1, 1, 3]
    unsigned = wf.tensor([1, 2], dtype="uint64")
    for call in (lambda: unsigned**n[:2], lambda: unsigned ** n[1:], lambda: compiled(unsigned, n[1:])):
        with pytest.raises(wf.DTypeError):
            call()
    assert (x**wf.tensor([], dtype=dtype)[:, None]).shape == (0, 3)
    assert wf.tensor([2.0]) ** -1 == 0.5 and (wf.tensor([2.0]) ** wf.tensor([-1])).tolist() == [0.5] and 2 ** wf.tensor(-1.0) == 0.5


@pytest.mark.parametrize("dtype", INTEGERS)
def test_division_by_zero_is_zero(dtype):
    x, y = numbers(dtype), numbers(dtype)[::-1].copy()
    y[2] = 0
    with np.errstate(all="ignore"):
        assert np.array_equal(both(wf.floor_divide, wf.tensor(x), wf.tensor(y)), np.floor_divide(x, y))
        assert np.array_equal(both(wf.remainder, wf.tensor(x), wf.tensor(y)), np.remainder(x, y))


@pytest.mark.parametrize("source", INTEGERS)
def test_casts_of_integers_wrap(source):
    x, targets = numbers(source), (*INTEGERS, "bool", "float32", "float64")
    results = both(lambda x: [wf.cast(x, target) for target in targets], wf.tensor(x))
    for target, got in zip(targets, results, strict=True):
        assert np.array_equal(got, x.astype(target)), target


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_casts_of_floats_saturate(source, dtype):
    limits = np.iinfo(dtype)
    x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, -0.9, 0.9, 1.5, -1.5, 100.99], source)
    wanted = [0, limits.max, limits.min, limits.max, limits.min, 0, 0, 1, max(-1, limits.min), 100]
    assert both(lambda x: wf.cast(x, dtype), wf.tensor(x)).tolist() == wanted


@pytest.mark.parametrize("dtype", INTEGERS)
def test_reductions(dtype):
    x = numbers(dtype, (5, 40))
    sums = {"int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}.get(dtype, dtype)
    t = wf.tensor(x)
    for name in ("sum", "prod"):
        assert np.array_equal(both(getattr(wf, name), t), getattr(np, name)(x, dtype=sums))
        assert np.array_equal(both(lambda t, name=name: getattr(wf, name)(t, 1), t), getattr(np, name)(x, 1, dtype=sums))
    assert np.array_equal(both(lambda t: wf.cumsum(t, 1), t), np.cumsum(x, 1, dtype=sums))
    assert np.array_equal(both(lambda t: wf.cummax(t, 1), t), np.maximum.accumulate(x, 1))
    assert np.array_equal(both(lambda t: wf.cummin(t, 1), t), np.minimum.accumulate(x, 1))
    for name in ("max", "min", "argmax", "argmin"):
        for axis in (0, 1):
            got = both(lambda t, name=name, axis=axis: getattr(wf, name)(t, axis), t)
            assert np.array_equal(got, getattr(np, name)(x, axis))
    assert both(wf.mean, t).dtype == np.float32
    assert np.allclose(both(wf.mean, t), x.mean(), rtol=1e-6)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sorts_and_products_and_windows(dtype):
    x = numbers(dtype, (6, 9))
    t = wf.tensor(x)
    assert np.array_equal(both(lambda t: wf.sort(t, 1), t), np.sort(x, 1))
    assert np.array_equal(both(lambda t: wf.argsort(t, 1), t), np.argsort(x, 1, kind="stable"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.array_equal(both(lambda t: wf.matmul(t, wf.transpose(t)), t), np.matmul(x, x.T))
    image = wf.tensor(numbers(dtype, (1, 6, 6, 1)))
    pooled = both(lambda image: wf.max_pool(image, 2, strides=2), image)
    assert np.array_equal(pooled[0, :, :, 0], image.numpy()[0, :, :, 0].reshape(3, 2, 3, 2).max((1, 3)))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_movements_and_indices(dtype):
    x = numbers(dtype, (4, 6))
    t = wf.tensor(x)
    assert np.array_equal(both(wf.transpose, t), x.T)
    assert np.array_equal(both(lambda t: wf.concatenate([t, t], 1), t), np.concatenate([x, x], 1))
    assert np.array_equal(both(lambda t: t[1:, ::-2], t), x[1:, ::-2])
    at = np.array([3, 0, 2], dtype)
    assert np.array_equal(both(lambda t, at: wf.gather(t, at), t, wf.tensor(at)), x[at])
    assert np.array_equal(both(lambda t, at: t[at], t, wf.tensor(at)), x[at])
    rows = np.tile(at[:, None], (1, 6))
    assert np.array_equal(both(lambda t, at: wf.take_along_axis(t, at, 0), t, wf.tensor(rows)), np.take_along_axis(x, rows.astype(int), 0))
    added = wf.scatter_add(t, wf.tensor(at), wf.ones([3, 6], dtype))
    wanted = x.copy()
    with np.errstate(all="ignore"):
        wanted[at.astype(int)] += 1
    assert np.array_equal(added.numpy(), wanted)


def test_numbers_are_weak_and_must_fit():
    x = wf.tensor([1, 2], dtype="uint8")
    assert (x + 1).dtype == "uint8" and (x + 1.5).dtype == "float32" and (x + True).dtype == "uint8"
    for call in (lambda: x + 300, lambda: x - -1, lambda: wf.maximum(x, 256), lambda: wf.full([2], -1, "uint8")):
        with pytest.raises(wf.ValueError, match="does not fit the dtype uint8"):
            call()
    for values, dtype in ([300], "uint8"), ([-1], "uint64"), ([2**63], "int64"), ([-129], "int8"):
        with pytest.raises(wf.ValueError, match=f"too (large|small) for {dtype}"):
            wf.tensor(values, dtype)
    assert wf.tensor([2**64 - 1]).dtype == "uint64"
    assert wf.tensor([2**64 - 1]).tolist() == [2**64 - 1]
    assert int(wf.tensor(2**64 - 1, "uint64")) == 2**64 - 1


@pytest.mark.parametrize("name", ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"])
def test_comparisons_beside_uint64_go_by_value(name):
    unsigned, signed = [0, 5, 2**63, 2**64 - 1], [-1, 5, 2**63 - 1, -(2**63)]
    u, s = wf.tensor(unsigned, dtype="uint64"), wf.tensor(signed, dtype="int64")
    compare = getattr(np, name)
    pairs = np.array(unsigned, object), np.array(signed, object)
    assert both(getattr(wf, name), u, s).tolist() == compare(*pairs).tolist()
    assert both(getattr(wf, name), s, u).tolist() == compare(*pairs[::-1]).tolist()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_arrays_and_files_keep_the_dtype(dtype, tmp_path):
    x = numbers(dtype, (3, 4))
    t = wf.tensor(x)
    assert t.dtype == dtype and np.array_equal(t.numpy(), x) and t.numpy().dtype == x.dtype
    assert np.array_equal(np.from_dlpack(t), x) and np.from_dlpack(t).dtype == x.dtype
    assert np.array_equal(wf.from_dlpack(x).numpy(), x)
    assert memoryview(t).itemsize == x.itemsize and np.array_equal(np.asarray(memoryview(t)), x)
    assert np.array_equal(wf.tensor(x.astype(x.dtype.newbyteorder())).numpy(), x)
    wf.io.save_npy(str(tmp_path / "x.npy"), t)
    assert np.load(tmp_path / "x.npy").dtype == x.dtype
    assert wf.io.load_npy(str(tmp_path / "x.npy")).tolist() == x.tolist()
    wf.io.save_safetensors(str(tmp_path / "x.safetensors"), {"x": t})
    assert wf.io.load_safetensors(str(tmp_path / "x.safetensors"))["x"].tolist() == x.tolist()
    assert repr(t[0, 1]) == f"tensor({x[0, 1]}, shape=(), dtype={dtype})"
    assert str(t) == str(x)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_prints_and_calls_of_the_host(dtype, capfd):
    seen = []

    def double(x):
        seen.append(x.dtype)
        return x + x

    @wf.function
    def f(x):
        wf.print(x, x[0])
        return wf.numpy_function(double, [x], wf.TensorSpec([3], dtype))

    x = numbers(dtype, (3,))
    assert np.array_equal(f(wf.tensor(x)).numpy(), x + x)
    assert seen == [x.dtype]
    out = capfd.readouterr().out
    assert f"dtype={dtype}" in out and str(x.max()) in out


@pytest.mark.parametrize("dtype", (*INTEGERS, "bool"))
def test_bits(dtype):
    x = random.integers(0, 2, 7).astype(bool) if dtype == "bool" else numbers(dtype)
    y = x[::-1].copy()
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        assert np.array_equal(both(getattr(wf, name), wf.tensor(x), wf.tensor(y)), getattr(np, name)(x, y))
    assert np.array_equal(both(wf.bitwise_invert, wf.tensor(x)), ~x)
    assert np.array_equal(both(lambda t: t & 1, wf.tensor(x)), x & 1)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts(dtype):
    bits, is_signed = np.iinfo(dtype).bits, dtype in SIGNED
    x = np.repeat(numbers(dtype), bits + 3)
    counts = np.tile(np.arange(bits + 3), 7).astype(dtype)
    t, by = wf.tensor(x), wf.tensor(counts)
    wide = [int(a) << int(n) & (1 << bits) - 1 for a, n in zip(x, counts)]
    assert np.array_equal(both(wf.bitwise_left_shift, t, by), np.array(wide, np.uint64).astype(dtype))
    assert both(wf.bitwise_right_shift, t, by).tolist() == [int(a) >> int(n) for a, n in zip(x, counts)]
    assert both(lambda t: t >> 1, t).tolist() == [int(a) >> 1 for a in x]
    if is_signed:
        less = wf.tensor(np.full_like(x, -1))
        assert not both(wf.bitwise_left_shift, t, less).any()
        assert np.array_equal(both(wf.bitwise_right_shift, t, less), np.where(x < 0, -1, 0).astype(dtype))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_searches_and_updates(dtype):
    x, v = np.sort(numbers(dtype, (40,))), numbers(dtype, (3, 5))
    for side in ("left", "right"):
        assert np.array_equal(both(lambda a, v, side=side: wf.searchsorted(a, v, side=side), wf.tensor(x), wf.tensor(v)), np.searchsorted(x, v, side))
    t, at, updates = numbers(dtype, (6,)), np.array([3, 0, 3, 5], dtype), numbers(dtype, (4,))
    ways = {"set": None, "add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
    for way, combine in ways.items():
        wanted = t.copy()
        with np.errstate(all="ignore"):
            if combine:
                combine.at(wanted, at.astype(int), updates)
            else:
                wanted[at.astype(int)] = updates
        got = both(lambda *args, way=way: wf.scatter_elements(*args, reduction=way), *map(wf.tensor, (t, at, updates)))
        assert np.array_equal(got, wanted), way
    ids = np.array([0, 2, 0, 2], np.uint8)
    sums = {"int8": "int32", "int16": "int32", "uint8": "uint32", "uint16": "uint32"}.get(dtype, dtype)
    total = np.zeros(4, sums)
    np.add.at(total, ids, updates.astype(sums))
    assert np.array_equal(both(lambda x, ids: wf.segment_sum(x, ids, 4), wf.tensor(updates), wf.tensor(ids)), total)
    least = np.full(4, np.iinfo(dtype).max, dtype)
    np.minimum.at(least, ids, updates)
    assert np.array_equal(both(lambda x, ids: wf.segment_min(x, ids, 4), wf.tensor(updates), wf.tensor(ids)), least)
    assert wf.bincount(wf.tensor(ids)).tolist() == [2, 0, 2]


def test_a_gradient_goes_past_integers():
    images, labels = numbers("uint8", (5, 4)), wf.tensor([0, 1, 2, 1, 0], "uint8")
    weight = wf.tensor(random.normal(size=(4, 3)).astype("float32"))

    def loss(w, x, y):
        scores = wf.matmul(wf.cast(x, "float32") / 255, w)
        return wf.losses.sparse_categorical_cross_entropy(y, scores)

    eager = wf.grad(loss)(weight, wf.tensor(images), labels)
    wide = wf.grad(loss)(weight, wf.tensor(images.astype("int64")), wf.cast(labels, "int64"))
    traced = wf.function(wf.grad(loss))(weight, wf.tensor(images), labels)
    assert np.array_equal(eager.numpy(), wide.numpy()) and np.allclose(traced.numpy(), eager.numpy(), rtol=1e-6)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_loops_branches_and_members_of_a_batch(dtype):
    x = wf.tensor(numbers(dtype, (4, 3)))
    looped = both(lambda x: wf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y + x), (0, x))[1], x)
    with np.errstate(all="ignore"):
        assert np.array_equal(looped, x.numpy() * x.numpy().dtype.type(4))
    chosen = both(lambda x: wf.cond(wf.any(x > 1), lambda: x // 2, lambda: x), x)
    assert np.array_equal(chosen, x.numpy() // 2)
    assert np.array_equal(both(wf.vmap(lambda row: wf.sort(row) + row[0]), x), np.sort(x.numpy(), 1) + x.numpy()[:, :1])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_results_of_unknown_size(dtype):
    x = numbers(dtype, (9,))
    t = wf.tensor(x)
    assert np.array_equal(both(wf.unique, t), np.unique(x))
    assert np.array_equal(both(lambda t: t[t > 1], t), x[x > 1])
