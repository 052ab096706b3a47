"""Every op of the table on the samples of its record, for every dtype it admits, run by weft-run and compared with the NumPy
expression of its record.

The names in an expression are the op's operands and attributes, NumPy (np), and the functions below that follow "In NumPy".

REQUIRES: numpy
RUN: env PYTHONPATH=%S/Inputs %python %s %weft_bin/weft-run %weft_lib/../generated/test/samples.json %t --every %third

One in so many of them on an emulated GPU, all of which `./x check gpu` takes:

RUN: %emulated PYTHONPATH=%S/Inputs %python %s %weft_bin/weft-run %weft_lib/../generated/test/samples.json %t.gpu --device gpu:0 --every 17
"""
import argparse
import ast
import hashlib
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import time
import warnings

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs"))
from matrices import *  # noqa: E402, F403
from random_numbers import *  # noqa: E402, F403
from short_time import framed, istft, overlapped, stft  # noqa: E402, F401
from special_functions import *  # noqa: E402, F403

DTYPES = {"bool": np.bool_, "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
DTYPES |= {f"{kind[0]}{bits}": np.dtype(f"{kind}{bits}").type for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
MLIR = {np.dtype(t): "i1" if name == "bool" else name.replace("u", "ui") for name, t in DTYPES.items()}
MLIR |= {np.dtype(np.complex64): "complex<f32>", np.dtype(np.complex128): "complex<f64>"}
# What references are computed in.
WIDE = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble, np.dtype(np.complex64): np.complex128, np.dtype(np.complex128): np.clongdouble}
random = np.random.default_rng(2718)
complex_random = np.random.default_rng(2719)  # other numbers, so that the real ones stay as they are


def specials(dtype):
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return np.append(np.array([0, 1, -1, 2, -3, 7, 31, 100000]).astype(dtype), [dtype.type(limits.max), dtype.type(limits.min)])
    if dtype.kind == "c":  # NumPy's functions are not as C99 has them for infinite numbers, which have their own tests
        return np.array([0, 1, -1, 0.5, 1j, -2.5j, 3 - 1j, -1e-3 + 20.25j], dtype)
    limits = np.finfo(dtype)
    return np.array([0, -0.0, 1, -1, 0.5, -2.5, 3, 1e-3, 20.25, -88.75, 710, 1e10, np.inf, -np.inf, np.nan,
                     limits.smallest_subnormal, -limits.tiny, limits.max, limits.min], dtype)

def ordinary(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        return random.integers(-100, 101, shape).astype(dtype)
    if dtype.kind == "c":
        return (complex_random.uniform(-4, 4, shape) + 1j * complex_random.uniform(-4, 4, shape)).astype(dtype)
    return random.uniform(-4, 4, shape).astype(dtype)


class Case:
    """One call: operands, attributes in MLIR's syntax, the expected results, how far off elements may be, whether zeros have signs."""

    def __init__(self, op, operands, attributes, results, signed_zeros):
        self.op, self.operands, self.attributes = op, operands, attributes
        self.results, self.signed_zeros = results, signed_zeros
        self.expected, self.slack = results[0]

    def __str__(self):
        return f"{self.op}({', '.join(type_of(x) for x in self.operands)}) {self.attributes}"


def type_of(array):
    return "tensor<" + "".join(f"{n}x" for n in array.shape) + MLIR[array.dtype] + ">"


def ints(values):
    return "array<i64" + (": " + ", ".join(map(str, values)) if len(values) else "") + ">"


# In NumPy -------------------------------------------------------------------------------------------------------------------------


def integer_power(x, y):
    """Powers that wrap around; those of a negative exponent are 0, but of 1 and -1."""
    bits = x.dtype.itemsize * 8
    def one(base, exponent):
        if exponent < 0:
            return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
        value = pow(base, exponent, 1 << bits)
        return value - (1 << bits) if x.dtype.kind == "i" and value >> (bits - 1) else value
    x, y = np.broadcast_arrays(x, y)
    return np.array([one(int(a), int(b)) for a, b in zip(x.flat, y.flat)], x.dtype).reshape(x.shape)


def complex_of(real, imag):
    real, imag = np.broadcast_arrays(real, imag)
    return np.stack([real, imag], -1).view(np.result_type(real, np.complex64))[..., 0]


def power(x, y):
    return integer_power(x, y) if x.dtype.kind in "iu" else np.power(x, y)


def sized(found, size, fill):
    """So many rows of what is found, and others behind them."""
    if size is None:
        return found
    return np.concatenate([found[:size], np.full((max(size - len(found), 0), *found.shape[1:]), fill, found.dtype)])


def sized_parts(parts, size, fill):
    """Several of these in a row."""
    return flat([sized(part, size, fill) for part in parts])


def compressed(condition, x, axis, size, fill):
    """The slices of axes from `axis` on where the condition holds."""
    if axis is None:
        condition, x, axis = np.ravel(condition), np.ravel(x), 0
    front = np.moveaxis(x, range(axis, axis + condition.ndim), range(condition.ndim))
    return np.moveaxis(sized(front[condition != 0], size, fill), 0, axis)


def unique(x, size, fill):
    """NumPy's, of which the smallest comes again if nothing else is said."""
    found = np.unique(x)
    return sized(found, size, fill if fill is not None else found[0] if found.size else 0)


def uniques(name, x, size):
    """The array API's, each NaN an element of its own."""
    found = np.unique(x, True, True, True, equal_nan=False)
    values, *others = found
    values = sized(values, size, values[0] if values.size else 0)
    indices = sized(others[0], size, others[0][0] if others[0].size else 0)
    parts = {"values": values, "indices": indices, "inverse": others[1], "counts": sized(others[2], size, 0)}
    wanted = {"unique_all": list(parts), "unique_values": ["values"]}.get(name, ["values", name.removeprefix("unique_")])
    return flat([parts[part].astype(x.dtype) for part in wanted])


def unfolded(x, size, step, axis):
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis) if size else np.zeros((*x.shape[:axis], x.shape[axis] + 1, *x.shape[axis:][1:], 0), x.dtype)
    return np.take(windows, np.arange(0, windows.shape[axis % x.ndim], step), axis % x.ndim)


def part_from(shape, starts, sizes):
    """The part of that shape that begins there, or earlier where it would end behind an axis."""
    first = [int(np.clip(at + n if at < 0 else at, 0, n - size)) for at, n, size in zip(starts, shape, sizes)]
    return tuple(slice(at, at + size) for at, size in zip(first, sizes))


def replaced_from(x, update, starts):
    y = x.copy()
    y[part_from(x.shape, starts, update.shape)] = update
    return y


def sum_dtype(x):
    """That of sums and products of elements."""
    if x.dtype == bool:
        return np.dtype(np.int64)
    return np.dtype(f"{x.dtype.kind}4") if x.dtype.kind in "iu" and x.dtype.itemsize < 4 else x.dtype


def running(function, first, x, axis, dtype, include_initial):
    """A cumulative sum or product, which may begin with what nothing gives."""
    axis = 0 if axis is None else axis
    found = function(x, axis, dtype=dtype or sum_dtype(x))
    start = np.full([1 if i == axis else n for i, n in enumerate(x.shape)], first, found.dtype)
    return np.concatenate([start, found], axis) if include_initial else found


def distances(a, b, p):
    away = np.abs(a[..., :, None, :] - b[..., None, :, :])
    if p == 0:
        return (away != 0).sum(-1).astype(away.dtype)
    return away.max(-1, initial=0) if p == np.inf else (away**p).sum(-1) ** (1 / away.dtype.type(p))


def counted(x, weights, minlength, size):
    count = max(minlength, x.max(initial=-1) + 1) if size is None else size
    found = np.zeros(count, sum_dtype(weights))
    kept = x < count
    np.add.at(found, x[kept], weights[kept])
    return found


def slopes(f, coordinates, axes, edge_order):
    count = f.ndim if axes is None else np.size(axes)
    found = np.gradient(f, *[coordinates] * count, axis=axes, edge_order=edge_order)
    return flat(found) if isinstance(found, tuple) else found


def scattered_elements(x, indices, updates, reduction):
    y = np.append(x.ravel(), x.dtype.type(0))
    functions = {"add": np.add, "multiply": np.multiply, "min": np.minimum, "max": np.maximum}
    for at, update in zip(indices.ravel(), updates.ravel()):
        y[at] = update if reduction == "set" else functions[reduction](y[at], update)
    return y[:-1].reshape(x.shape)


def segments(name, x, ids, count):
    """Sums and their like of the slices of each segment."""
    rows = [x[ids == i] for i in range(count)]
    functions = {
        "segment_sum": lambda r: r.sum(0, dtype=sum_dtype(x)), "segment_mean": lambda r: r.sum(0) / max(len(r), 1),
        "segment_prod": lambda r: r.prod(0, dtype=sum_dtype(x)), "segment_max": lambda r: r.max(0, initial=lowest(x)),
        "segment_min": lambda r: r.min(0, initial=highest(x)),
    }  # fmt: skip
    dtype = sum_dtype(x) if name in ("segment_sum", "segment_prod") else x.dtype
    return np.array([functions[name](r) for r in rows]).reshape(count, *x.shape[1:]).astype(dtype)


def combined_of(x, axes):
    """The same of axes that may be all, or one."""
    return combined(x, range(x.ndim) if axes is None else np.atleast_1d(axes))


def as_floats(result, x):
    """In float32 what NumPy has in float64 of integers."""
    return result if x.dtype.kind in "fc" else np.asarray(result, np.float32)


def floor_divide(x, y):
    """By 0 and of infinities the quotient of floats, of integers by 0 0; that of the least number by -1 wraps."""
    if x.dtype.kind == "f":
        return np.where((y == 0) | np.isinf(x) | np.isinf(y), x / y, np.floor_divide(x, y))
    return np.where(y == 0, 0, np.floor_divide(x, np.where(y == 0, 1, y))).astype(x.dtype)


def cast_to(x, dtype):
    """Towards zero, out of range saturates, NaN is 0."""
    if x.dtype.kind == "f" and np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        wide = np.nan_to_num(x.astype(np.longdouble), nan=0, posinf=limits.max, neginf=limits.min)
        return np.clip(np.trunc(wide), limits.min, limits.max).astype(dtype)
    return x.astype(dtype)


def iota(dtype, shape, axis):
    line = np.arange(shape[axis]).astype(dtype).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.broadcast_to(line, shape)


def lowest(x):
    """What is not above any number of x's dtype."""
    return -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min


def highest(x):
    return np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max


def combined(x, axes):
    """How many elements a reduction combines."""
    return max(1, int(np.prod([x.shape[axis] for axis in axes])))


def cumulative(function, x, axis, reverse, exclusive, first):
    """NumPy's own running totals, which go forward and include each element; `first` is the one of nothing."""
    y = function.accumulate(np.flip(x, axis) if reverse else x, axis, dtype=x.dtype)
    if exclusive:
        start = np.full_like(np.take(y, np.arange(min(y.shape[axis], 1)), axis), first)
        y = np.concatenate([start, np.take(y, np.arange(max(y.shape[axis] - 1, 0)), axis)], axis)
    return np.flip(y, axis) if reverse else y


def recurrence(a, x, axis, reverse, exclusive, shifted):
    factors, added = (np.moveaxis(np.flip(v, axis) if reverse else v, axis, 0) for v in (a, x))
    if not len(added):
        return x
    results, before = [], np.zeros_like(added[0])
    for i in range(len(added)):
        now = added[0] if i == 0 else factors[i - shifted] * before + added[i]
        results.append(before if exclusive else now)
        before = now
    y = np.moveaxis(np.array(results, x.dtype), 0, axis)
    return np.flip(y, axis) if reverse else y


def order(x, axis, descending, count=-1):
    """The positions of elements in order, of which equal ones stay in theirs."""
    if descending:
        # Those of the line read backwards, upwards, and backwards again.
        positions = np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    else:
        positions = np.argsort(x, axis, kind="stable")
    return positions if count < 0 else np.take(positions, range(count), axis)


def searched(a, v, right):
    side = "right" if right else "left"
    if a.ndim == 1:
        return np.searchsorted(a, v, side)
    found = [np.searchsorted(row, of, side) for row, of in zip(a.reshape(-1, a.shape[-1]), v.reshape(-1, *v.shape[a.ndim - 1:]))]
    return np.array(found, np.int64).reshape(v.shape)


def top_k(x, k, axis, smallest):
    """The first elements in order, and their positions, in x's dtype."""
    positions = order(x, axis, not smallest, k)
    return np.take_along_axis(x, positions, axis), positions.astype(x.dtype)


def matmul(lhs, rhs, transpose_lhs, transpose_rhs):
    return np.matmul(*(np.swapaxes(x, -1, -2) if flip else x for x, flip in ((lhs, transpose_lhs), (rhs, transpose_rhs))))


def windows(x, window, strides, low, high, dilations, outside=0):
    """What each position sees: (batch, positions.., channels, window..)."""
    x = np.pad(x, [(0, 0), *zip(low, high), (0, 0)], constant_values=outside)
    reach = tuple((n - 1) * d + 1 for n, d in zip(window, dilations))
    views = np.lib.stride_tricks.sliding_window_view(x, reach, tuple(range(1, len(reach) + 1)))
    steps = tuple(slice(None, None, s) for s in strides), tuple(slice(None, None, d) for d in dilations)
    return views[(slice(None), *steps[0], slice(None), *steps[1])]


def grouped(channels, groups):
    return [slice(g * channels // groups, (g + 1) * channels // groups) for g in range(groups)]


def convolution(x, kernel, strides, low, high, dilations, groups):
    axes = len(strides)
    views = np.moveaxis(windows(x, kernel.shape[:axes], strides, low, high, dilations), axes + 1, -1)
    parts = [np.tensordot(views[..., i], kernel[..., o], axes + 1)
             for i, o in zip(grouped(x.shape[-1], groups), grouped(kernel.shape[-1], groups))]
    return np.concatenate(parts, -1).astype(x.dtype)


def convolution_transpose(x, kernel, strides, low, high, dilations, groups, extra):
    axes, inside = len(strides), kernel.shape[-2]
    sizes = [(n - 1) * s + (k - 1) * d + 1 + e for n, s, k, d, e in zip(x.shape[1:], strides, kernel.shape, dilations, extra)]
    full = np.zeros((x.shape[0], *sizes, inside * groups), x.dtype)
    for tap in np.ndindex(*kernel.shape[:axes]):
        seen = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, x.shape[1:], strides))
        for i, o in zip(grouped(inside * groups, groups), grouped(x.shape[-1], groups)):
            full[(slice(None), *seen, i)] += x[..., o] @ kernel[tap][:, o].T
    return full[(slice(None), *(slice(l, n - h) for l, n, h in zip(low, sizes, high)))]


def convolution_kernel_gradient(x, cotangent, window, strides, low, high, dilations, groups):
    axes = len(strides)
    views = windows(x, window, strides, low, high, dilations)
    where = list(range(axes + 1))
    parts = [np.tensordot(views[(*[slice(None)] * (axes + 1), i)], cotangent[..., o], (where, where))
             for i, o in zip(grouped(x.shape[-1], groups), grouped(cotangent.shape[-1], groups))]
    return np.concatenate([np.moveaxis(part, 0, -2) for part in parts], -1).astype(x.dtype)


def window_values(x, window, strides, low, high, dilations, outside=0):
    """What each position sees in the order of its window: (batch, positions.., channels, taps)."""
    views = windows(x, window, strides, low, high, dilations, outside)
    return views.reshape(views.shape[: len(window) + 2] + (int(np.prod(window)),))


def window_places(x, *lists):
    *lists, outside = lists
    # The first of those that are in the image: what is outside is no better, and never before them.
    values = window_values(x, *lists, outside)
    inside = window_values(np.ones(x.shape, bool), *lists, False)
    better = np.less if outside == lowest(x) else np.greater
    best, position = np.full(values.shape[:-1], outside, x.dtype), np.full(values.shape[:-1], -1)
    for tap in range(values.shape[-1]):
        value = values[..., tap]
        takes = inside[..., tap] & ((position < 0) | better(best, value) | (np.isnan(value) & ~np.isnan(best)))
        best, position = np.where(takes, value, best), np.where(takes, tap, position)
    return np.maximum(position, 0).astype(np.int32)


def window_extremum(x, *lists):
    *lists, outside = lists
    values = window_values(x, *lists, outside)
    return np.take_along_axis(values, window_places(x, *lists, outside)[..., None], -1)[..., 0]


def window_sum(x, *lists):
    return window_values(x, *lists).sum(-1, dtype=x.dtype)


def window_take(x, positions, *lists):
    values = window_values(x, *lists)
    known = (positions >= 0) & (positions < values.shape[-1])
    return np.where(known, np.take_along_axis(values, np.where(known, positions, 0)[..., None], -1)[..., 0], x.dtype.type(0))


def window_scatter(x, positions, window, strides, low, high, dilations, extra):
    sizes = [(n - 1) * s + (k - 1) * d + 1 + e for n, s, k, d, e in zip(x.shape[1:], strides, window, dilations, extra)]
    full = np.zeros((x.shape[0], *sizes, x.shape[-1]), x.dtype)
    for number, tap in enumerate(np.ndindex(*window)):
        seen = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, x.shape[1:], strides))
        full[(slice(None), *seen)] += x if positions is None else np.where(positions == number, x, x.dtype.type(0))
    return full[(slice(None), *(slice(l, n - h) for l, n, h in zip(low, sizes, high)))]


def window_sum_transpose(x, *lists):
    return window_scatter(x, None, *lists)


def padded(x, value, low, high, interior):
    shape = [l + h + n + max(n - 1, 0) * i for n, l, h, i in zip(x.shape, low, high, interior)]
    result = np.full(shape, value, x.dtype)
    result[tuple(slice(l, l + max(n * (i + 1) - i, 0), i + 1) for n, l, i in zip(x.shape, low, interior))] = x
    return result


def scattered(x, indices, updates, axis):
    result = np.moveaxis(x.copy(), axis, 0)
    rows = np.moveaxis(updates.reshape(x.shape[:axis] + (-1,) + x.shape[axis + 1:]), axis, 0)
    for at, row in zip(indices.flat, rows):
        result[at] += row
    return np.moveaxis(result, 0, axis).copy()


def added_along(x, indices, updates, axis):
    result, positions = x.copy(), list(np.indices(indices.shape))
    positions[axis] = indices
    np.add.at(result, tuple(positions), updates)
    return result


def with_slice(x, index, value, axis):
    result = x.copy()
    result[(slice(None),) * axis + (int(index),)] = value
    return result


INEXACT = {"abs", "sqrt", "multiply", "divide", "matmul", "square", "reciprocal", "outer", "kron", "linalg.outer"}
FUNCTIONS = {name: value for name, value in globals().items() if callable(value) or name == "np"}

# Calls ----------------------------------------------------------------------------------------------------------------------------


class Operand:
    """An operand of a sample: its words are those of dialects/Weft/IR/Vocabulary.td."""

    def __init__(self, words, info):
        self.dtypes, self.counts = info["dtypes"].split(", "), info["role"] in ("index", "count")
        self.fixed = next((t for t in DTYPES if words.startswith(t + " ")), None)
        words = words.removeprefix(f"{self.fixed} ")
        self.elements = next((word for word in ("finite", "regular", "definite") if words.startswith(word + " ")), None)
        self.finite, words = self.elements is not None, words.removeprefix(f"{self.elements} ")
        self.view = next((view for view in ("transposed", "backwards", "strided") if words.startswith(view + " ")), None)
        words = words.removeprefix(f"{self.view} ")
        self.special, self.values, self.shape = words == "special", None, ()
        if words.startswith("[") or (self.counts and "x" not in words and words != "scalar"):
            self.values = np.array(ast.literal_eval(words), np.int64)
        elif words not in ("special", "scalar"):
            self.shape = tuple(map(int, words.split("x")))
        self.follows = not self.fixed and info["role"] != "predicate"

    def draw(self, dtype):
        if self.values is not None:
            x = self.values.astype(dtype)
        elif self.counts:
            x = np.zeros(self.shape, dtype)
        else:
            x = ordinary(dtype, self.shape)
            if not self.finite:
                source = complex_random if np.dtype(dtype).kind == "c" else random
                replaced = source.integers(0, 16, self.shape) == 0
                x = np.where(replaced, source.choice(specials(dtype), self.shape), x).astype(dtype)
            if self.elements in ("regular", "definite"):
                large = (4 * x.shape[-1] + 1) * np.eye(*x.shape[-2:], dtype=dtype)
                x = (x + np.conj(np.swapaxes(x, -1, -2))) / 2 + large if self.elements == "definite" else x + large[:, ::-1]
        return self.seen(x)

    def seen(self, x):
        x = {"transposed": np.transpose, "backwards": lambda x: x[::-2], "strided": lambda x: x[::2]}.get(self.view, np.asarray)(x)
        return np.ascontiguousarray(x).reshape(x.shape)


def sampled(dtypes, number):
    """The dtypes on which the sample of that number is run: in every second one the next of the other integers instead of i64, and no
    floats of 16 bits, which are what float32 gives, rounded (test_float16.py), or of 8 (test_float8.py)."""
    others = [dtype for dtype in dtypes if dtype[0] in "iu" and dtype not in ("i32", "i64")]
    left_out = others + ["i64"] if others else []
    if others:
        left_out.remove(others[number // 2 % len(others)] if number % 2 else "i64")
    left_out += ["c64" if number % 2 else "c128", "f16", "bf16", "f8e4m3fn", "f8e5m2"]
    return [dtype for dtype in dtypes if dtype not in left_out]


def dtypes_of(operands, counts):
    """The dtypes that those operands take together which follow that of the call."""
    return next((o.dtypes for o in operands if o.follows and o.counts == counts), ["i64"])


def draw_all(operands, dtype, integer):
    own = [DTYPES[o.fixed or (integer if o.counts else dtype if o.follows and dtype in o.dtypes else o.dtypes[0])] for o in operands]
    if any(o.special for o in operands):
        lists = [specials(t) for o, t in zip(operands, own) if o.special]
        combined = iter(zip(*itertools.product(*lists)))
        return [np.tile(np.array(next(combined), t), 3) if o.special else o.draw(t) for o, t in zip(operands, own)]
    return [o.draw(t) for o, t in zip(operands, own)]


def attribute(kind, words):
    """Its value for the expression, and its text for MLIR."""
    if kind == "flag":
        return words == "true", words
    if kind in ("integer", "integers", "size", "order", "real", "reals", "sections", "word", "text", "contraction", "optional_dtype", "bins", "pad_width", "shape_list") or words == "null":  # of functions made of ops, which MLIR does not have
        value = ast.literal_eval({"null": "None"}.get(words, words))
        return tuple(value) if isinstance(value, list) else value, None
    if kind in ("axis", "count", "number"):
        return int(words), f"{words} : i64"
    if kind == "dtype":
        return DTYPES[words], MLIR[np.dtype(DTYPES[words])]
    if kind == "constant":
        dtype, shape = words.split(" ")
        x = ordinary(DTYPES[dtype], () if shape == "scalar" else tuple(map(int, shape.split("x"))))
        elements = str(x.tolist()).replace("True", "true").replace("False", "false") if x.size else ""
        return x, f"dense<{elements}> : {type_of(x)}"
    values = ast.literal_eval(words)
    if isinstance(values, int):
        return values, None
    return tuple(values), ints(values)


def wide(x):
    return x.astype(WIDE[x.dtype]) if x.dtype in WIDE else x


def evaluate(op, operands, attributes):
    """What NumPy gives, and how far off each element may be, of each result."""
    names = [operand["name"] for operand in op["operands"]]
    variadic = bool(op["operands"]) and op["operands"][-1]["variadic"]

    def expression(change):
        values = [change(x) for x in operands]
        if variadic:
            values[len(names) - 1:] = [values[len(names) - 1:]]
        return eval(op["numpy"], FUNCTIONS, dict(zip(names, values)) | attributes)

    exact = op["tolerance"] == "0"
    floats = [x.dtype for x in operands if x.dtype.kind in "fc"]

    def with_slack(result):
        result = np.asarray(result)
        if not exact and result.dtype in WIDE.values():
            part = floats[0].type(0).real.dtype
            result = result.astype(np.result_type(part, np.complex64) if result.dtype.kind == "c" else part)
        # Products and quotients of complex numbers round several times, by what their distance from 0 is.
        inexact = any(x.dtype.kind == "c" for x in operands) and op["tolerance"] == "0" and op["name"] in INEXACT
        # In chains of products which part overflows first depends on the order.
        chain = result.dtype.kind == "c" and op["name"] in ("prod", "cumprod", "linear_recurrence")
        if (exact and not inexact and not chain) or result.dtype.kind not in "fc":
            return result, 0
        result_size = np.maximum(np.abs(result.real), np.abs(result.imag)) if result.dtype.kind == "c" else np.abs(result)

        def ulps(count):
            return (count + 16 * (result.dtype.kind == "c")) * np.nan_to_num(np.spacing(result_size), nan=0, posinf=0)

        def sums(count):
            size = np.abs(np.asarray(expression(lambda x: np.abs(wide(x))))).astype(result_size.dtype)
            return np.nan_to_num(count * np.finfo(result.dtype).eps * size, nan=0, posinf=0)

        def near(count):
            return count * np.finfo(result.dtype).eps * np.max(np.abs(result), initial=0, where=np.isfinite(result))

        def smallest():
            return np.finfo(result.dtype).tiny

        words = {"ulps": ulps, "sums": sums, "near": near, "smallest": smallest} | dict(zip(names, operands)) | attributes
        if chain:
            return result, np.where(np.isfinite(result), ulps(4 * operands[0].size), np.inf)
        return result, eval("ulps(2)" if inexact else op["tolerance"], FUNCTIONS, words)

    given = expression(np.asarray if exact else wide)
    return [with_slack(result) for result in (given if isinstance(given, tuple) else (given,))]


def cases_of(op, takes_next=lambda: True):
    """Those that `takes_next` says yes to; the numbers of each are what they are when all are taken."""
    infos = op["operands"]
    for number, (words, values) in enumerate(sample for sample in op["samples"] if not {"bf16", "f8e4m3fn", "f8e5m2"} & {*sample[1]}):  # which NumPy lacks
        operands = [Operand(w, infos[min(i, len(infos) - 1)]) for i, w in enumerate(words)]
        if "sums" in op["tolerance"]:  # NaN and infinity may come of the order
            for operand in operands:
                operand.finite = True
        for dtype, integer in itertools.product(sampled(dtypes_of(operands, False), number), dtypes_of(operands, True)):
            if op["name"] == "cast" and dtype in ("c64", "c128") and values[0] not in ("c64", "c128", "bool"):
                continue  # which is refused
            drawn = draw_all(operands, dtype, integer)
            if not takes_next():
                continue
            attributes = {info["name"]: attribute(info["kind"], value) for info, value in zip(op["attributes"], values)}
            text = ", ".join(f"{name} = {mlir}" for name, (_, mlir) in attributes.items())
            results = evaluate(op, drawn, {name: value for name, (value, _) in attributes.items()})
            results = [(np.ascontiguousarray(expected).reshape(expected.shape), slack) for expected, slack in results]
            yield Case(op["name"], drawn, text, results, op["signedZeros"])


# Running and comparing --------------------------------------------------------------------------------------------------------------


def run(weft_run, cases, folder, device):
    """All cases as one function of one program: the results of each, in order."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    parameters, lines, results, command = [], [], [], []
    for number, case in enumerate(cases):
        names = []
        for operand in case.operands:
            name = f"%a{len(parameters)}"
            names.append(name)
            parameters.append(f"{name}: {type_of(operand)}")
            path = os.path.join(folder, name[1:] + ".npy")
            np.save(path, operand)
            command.append("--arg=" + path)
        types = ", ".join(map(type_of, case.operands))
        attributes = f" <{{{case.attributes}}}>" if case.attributes else ""
        count, given = len(case.results), ", ".join(type_of(expected) for expected, _ in case.results)
        lines.append(f'  %r{number}:{count} = "weft.{case.op}"({", ".join(names)}){attributes} : ({types}) -> ({given})')
        for i in range(count):
            results.append(f"%r{number}#{i}")
            command.append("--save=" + os.path.join(folder, f"r{number}_{i}.npy"))
    types = ", ".join(type_of(expected) for case in cases for expected, _ in case.results)
    program = os.path.join(folder, "program.mlir")
    with open(program, "w") as file:
        file.write(f"func.func @main({', '.join(parameters)}) -> ({types}) {{\n" + "\n".join(lines) +
                   f"\n  return {', '.join(results)} : {types}\n}}\n")
    done = subprocess.run([weft_run, program, f"--device={device}", *command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"weft-run failed on {program}:\n{done.stderr[:4000]}")
    return [[np.load(os.path.join(folder, f"r{number}_{i}.npy")) for i in range(len(case.results))]
            for number, case in enumerate(cases)]


# Gradients on a device beside those of the CPU --------------------------------------------------------------------------------------

ROUNDING = {"f2": 2e-2, "f4": 1e-4, "f8": 1e-11}


def gradient_program(cases, folder):
    """A program of the pullbacks of all cases, and what weft-run is given for it but its results."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    parameters, lines, functions, results, command = [], [], [], [], []

    def add(array):
        name = f"%a{len(parameters)}"
        parameters.append(f"{name}: {type_of(array)}")
        path = os.path.join(folder, name[1:] + ".npy")
        np.save(path, array)
        command.append("--arg=" + path)
        return name

    for number, case in enumerate(cases):
        names = [add(operand) for operand in case.operands]
        floats = [i for i, operand in enumerate(case.operands) if operand.dtype.kind == "f"]
        cotangents = [ordinary(expected.dtype, expected.shape) for expected, _ in case.results if expected.dtype.kind == "f"]
        given = [type_of(operand) for operand in case.operands]
        made = [type_of(expected) for expected, _ in case.results]
        attributes = f" <{{{case.attributes}}}>" if case.attributes else ""
        inner = ", ".join(f"%x{i}: {text}" for i, text in enumerate(given))
        functions.append(f"func.func private @f{number}({inner}) -> ({', '.join(made)}) {{\n"
                         f'  %r:{len(made)} = "weft.{case.op}"({", ".join(f"%x{i}" for i in range(len(given)))}){attributes} : '
                         f"({', '.join(given)}) -> ({', '.join(made)})\n"
                         f"  return {', '.join(f'%r#{i}' for i in range(len(made)))} : {', '.join(made)}\n}}\n")
        pulled = [given[i] for i in floats]
        operands = given + [type_of(cotangent) for cotangent in cotangents]
        lines.append(f"  %g{number}:{len(made) + len(pulled)} = weft.vjp @f{number}({', '.join(names)}) "
                     f"cotangents({', '.join(map(add, cotangents))}) wrt {floats} : ({', '.join(operands)}) -> ({', '.join(made + pulled)})")
        results += [(f"%g{number}#{len(made) + i}", text) for i, text in enumerate(pulled)]
    program = os.path.join(folder, "program.mlir")
    types = ", ".join(text for _, text in results)
    with open(program, "w") as file:
        file.write("".join(functions) + f"func.func @main({', '.join(parameters)}) -> ({types}) {{\n" + "\n".join(lines) +
                   f"\n  return {', '.join(name for name, _ in results)} : {types}\n}}\n")
    return program, command, [sum(operand.dtype.kind == "f" for operand in case.operands) for case in cases]


def gradients_on(weft_run, program, command, count, device):
    """The results, or what weft-run said."""
    files = [f"{program}.{device}.{i}.npy" for i in range(count)]
    done = subprocess.run([weft_run, program, f"--device={device}", "--entry=main", *command, *("--save=" + file for file in files)],
                          capture_output=True, text=True)
    return [np.load(file) for file in files] if done.returncode == 0 else done.stderr


def rounded_alike(found, wanted):
    finite = np.abs(wanted[np.isfinite(wanted)])
    slack = ROUNDING[wanted.dtype.str[1:]] * max(1, finite.max(initial=0))
    return ((found == wanted) | (np.isnan(found) & np.isnan(wanted)) | (np.abs(found - wanted) <= slack)).all()


def check_gradients(cases, options):
    """Compares, op by op: how many calls, how many differ, and the ops that have no derivative."""
    count, wrong, without = 0, 0, {}
    for op, group in itertools.groupby(cases, key=lambda case: case.op):
        group = [case for case in group if any(x.dtype.kind == "f" for x in case.operands) and any(r.dtype.kind == "f" for r, _ in case.results)]
        parts = [group[start:start + 60] for start in range(0, len(group), 60)]
        while parts:
            part = parts.pop(0)
            program, command, counts = gradient_program(part, options.folder)
            wanted = gradients_on(options.weft_run, program, command, sum(counts), "cpu")
            if isinstance(wanted, str):
                if len(part) > 1 and "there is no derivative" not in wanted:
                    parts[:0] = [[case] for case in part]
                else:
                    without.setdefault(op, (wanted.splitlines() or ["?"])[0][:160])
                continue
            found = gradients_on(options.weft_run, program, command, sum(counts), options.device)
            if isinstance(found, str):
                sys.exit(f"weft-run failed on {program}:\n{found[:4000]}")
            count += len(part)
            for case, n in zip(part, counts):
                here, there = [found.pop(0) for _ in range(n)], [wanted.pop(0) for _ in range(n)]
                if not all(map(rounded_alike, here, there)):
                    print(f"gradient of {case}: {here} instead of {there}"[:600])
                    wrong += 1
    for op, words in without.items():
        print(f"no derivative: {op}: {words}")
    print(f"gradients of {count} calls, {wrong} differ from the CPU's; {len(without)} ops have none of some")
    return wrong


def compare_all(case, actual):
    """What is wrong with the results of a case, or nothing."""
    for (case.expected, case.slack), one in zip(case.results, actual, strict=True):
        if words := compare(case, one):
            return words
    return None


def compare(case, actual):
    """What is wrong, or nothing."""
    if actual.dtype != case.expected.dtype or actual.shape != case.expected.shape:
        return f"is {type_of(actual)} instead of {type_of(case.expected)}"
    with np.errstate(all="ignore"):
        same = actual == case.expected
        if actual.dtype.kind == "c":
            same |= np.isnan(actual) & np.isnan(case.expected)
            same |= np.isfinite(case.expected) & (np.abs(actual - case.expected) <= case.slack)
            same |= np.isinf(case.slack) & ~np.isfinite(actual)
        if actual.dtype.kind == "f":
            if case.signed_zeros:
                same &= np.signbit(actual) == np.signbit(case.expected)
            same |= np.isnan(actual) & np.isnan(case.expected)
            finite = np.isfinite(actual) & np.isfinite(case.expected)
            same |= finite & (np.abs(actual - case.expected) <= case.slack) & (case.slack != 0)
    if same.all():
        return None
    at = tuple(np.argwhere(~same)[0])
    inputs = [np.broadcast_to(x, actual.shape)[at] for x in case.operands if x.shape == actual.shape or x.ndim == 0]
    return f"element {at} is {actual[at]!r} instead of {case.expected[at]!r}, of {inputs}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("weft_run")
    parser.add_argument("samples")
    parser.add_argument("folder")
    parser.add_argument("--device", default="cpu", help="where they run")
    parser.add_argument("--every", type=int, default=1, help="run one of so many")
    parser.add_argument("--shard", type=int, default=0, help="which of these, counted from 0")
    parser.add_argument("--gradients", action="store_true", help="compare gradients there with those of the CPU instead")
    parser.add_argument("--digests", help="a file for a digest of the bits of each call's results")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no program after so many, and take the calls in mixed order")
    options = parser.parse_args()
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")  # the mean of nothing
    with open(options.samples) as file:
        numbers = itertools.count()
        takes_next = lambda: next(numbers) % options.every == options.shard  # noqa: E731
        cases = [case for op in json.load(file) for case in cases_of(op, takes_next)]
    if options.gradients:
        sys.exit(check_gradients(cases, options) != 0)
    if options.seconds < float("inf"):
        np.random.default_rng(1).shuffle(cases)
    wrong, digests, end = 0, {}, time.monotonic() + options.seconds
    for start in range(0, len(cases), 200):
        if time.monotonic() >= end:
            print(f"no time for {len(cases) - start} of {len(cases)} calls")
            del cases[start:]
            break
        part = cases[start:start + 200]
        for case, actual in zip(part, run(options.weft_run, part, options.folder, options.device)):
            digests[f"{len(digests)}: {case}"] = hashlib.sha256(b"".join(one.tobytes() for one in actual)).hexdigest()[:16]
            if words := compare_all(case, actual):
                print(f"{case}: {words}")
                wrong += 1
    if options.digests:
        with open(options.digests, "w") as file:
            json.dump(digests, file)
    print(f"{len(cases)} calls, {wrong} differ from NumPy")
    sys.exit(wrong != 0 or len(cases) == 0)


main()
