"""Every op of the reference, for every dtype it admits, run by weft-run and compared with NumPy.

The ops and their dtypes come from the generated reference (docs/ops.md of the build folder). An op that is not known here has its
formula in its own test file, test/Dialect/Weft/NAME.mlir, in a line `// NumPy: EXPRESSION`; an op without any is a failure.

REQUIRES: numpy
RUN: %python %s %weft_bin/weft-run %weft_lib/../generated/docs/ops.md %weft_src/test/Dialect/Weft %t
"""
import itertools
import os
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np

DTYPES = {"bool": np.bool_, "i32": np.int32, "i64": np.int64, "f32": np.float32, "f64": np.float64}
MLIR = {np.dtype(t): "i1" if name == "bool" else name for name, t in DTYPES.items()}
WIDE = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}  # what references are computed in
random = np.random.default_rng(2718)


def specials(dtype):
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype.kind == "i":
        limits = np.iinfo(dtype)
        return np.array([0, 1, -1, 2, -3, 7, 31, 100000, limits.max, limits.min], dtype)
    limits = np.finfo(dtype)
    return np.array([0, -0.0, 1, -1, 0.5, -2.5, 3, 1e-3, 20.25, -88.75, 710, 1e10, np.inf, -np.inf, np.nan,
                     limits.smallest_subnormal, -limits.tiny, limits.max, limits.min], dtype)


def ordinary(dtype, shape):
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "i":
        return random.integers(-100, 101, shape).astype(dtype)
    return random.uniform(-4, 4, shape).astype(dtype)


class Case:
    """One call: operands, attributes in MLIR's syntax, the expected result, and how far off each element may be."""

    def __init__(self, op, operands, expected, attributes="", slack=0):
        self.op, self.operands, self.attributes = op, operands, attributes
        self.expected, self.slack = np.asarray(expected), slack

    def __str__(self):
        return f"{self.op}({', '.join(type_of(x) for x in self.operands)}) {self.attributes}"


def type_of(array):
    return "tensor<" + "".join(f"{n}x" for n in array.shape) + MLIR[array.dtype] + ">"


def ints(values):
    return "array<i64" + (": " + ", ".join(map(str, values)) if len(values) else "") + ">"


def ulps(expected, count):
    """`count` steps between numbers of the dtype at each element."""
    with np.errstate(all="ignore"):
        return count * np.nan_to_num(np.spacing(np.abs(expected)), nan=0, posinf=0)


# Elementwise ops ------------------------------------------------------------------------------------------------------------------


def integer_power(x, y):
    bits = x.dtype.itemsize * 8
    def one(base, exponent):
        if exponent < 0:
            return {1: 1, -1: -1 if exponent % 2 else 1}.get(base, 0)
        value = pow(base, exponent, 1 << bits)
        return value - (1 << bits) if value >> (bits - 1) else value
    x, y = np.broadcast_arrays(x, y)
    return np.array([one(int(a), int(b)) for a, b in zip(x.flat, y.flat)], x.dtype).reshape(x.shape)


def cast_to(x, dtype):
    """Towards zero, out of range saturates, NaN is 0."""
    if x.dtype.kind == "f" and np.dtype(dtype).kind == "i":
        limits = np.iinfo(dtype)
        wide = np.nan_to_num(x.astype(np.longdouble), nan=0, posinf=limits.max, neginf=limits.min)
        return np.clip(np.trunc(wide), limits.min, limits.max).astype(dtype)
    return x.astype(dtype)


# NumPy's functions; those of the second list are computed in a wider type and may be this many steps off.
EXACT = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "remainder": np.remainder,
    "maximum": np.maximum, "minimum": np.minimum, "negate": np.negative, "abs": np.abs, "sign": np.sign, "floor": np.floor,
    "ceil": np.ceil, "sqrt": np.sqrt, "equal": np.equal, "not_equal": np.not_equal, "less": np.less,
    "less_equal": np.less_equal, "greater": np.greater, "greater_equal": np.greater_equal, "logical_and": np.logical_and,
    "logical_or": np.logical_or, "logical_xor": np.logical_xor, "logical_not": np.logical_not, "select": np.where,
}
ROUNDED = {
    "exp": (np.exp, 1), "log": (np.log, 1), "expm1": (np.expm1, 1), "log1p": (np.log1p, 1), "tanh": (np.tanh, 1),
    "sin": (np.sin, 1), "cos": (np.cos, 1), "rsqrt": (lambda x: 1 / np.sqrt(x), 1), "power": (np.power, 1),
    "logistic": (lambda x: 1 / (1 + np.exp(-x)), 3),
}
SIGN_OF_ZERO = {"cumsum", "cumprod", "add", "subtract", "multiply", "divide", "negate", "abs", "floor", "ceil", "sqrt", "sin", "tanh", "expm1", "log1p"}


def elementwise(op, names, admits, folder):
    if op in EXACT:
        function, steps = EXACT[op], 0
    elif op in ROUNDED:
        function, steps = ROUNDED[op]
    else:
        formula = formula_of(op, folder)
        function, steps = (lambda *xs: eval(formula, {"np": np}, dict(zip(names, xs)))), 4
    for dtype in admits[-1]:
        own = [dtype if op != "select" or i else "bool" for i in range(len(names))]
        shapes = [[()], [(1,)], [(3,)], [(17,)], [(1000,)], [(2, 0, 3)]]
        if len(names) > 1:
            shapes += [[(), (33,)], [(33,), ()], [(5, 1), (1, 7)], [(3, 1, 5), (4, 1)], [(0, 3), (1,)]]
        calls = [[ordinary(DTYPES[t], list[i % len(list)]) for i, t in enumerate(own)] for list in shapes]
        pairs = itertools.product(*(specials(DTYPES[t]) for t in own))
        calls.append([np.array(x, DTYPES[t]) for x, t in zip(zip(*pairs), own)])
        for operands in calls:
            wide = operands
            if steps and np.dtype(DTYPES[dtype]).kind == "f":
                wide = [x.astype(WIDE[x.dtype]) if x.dtype in WIDE else x for x in operands]
            if op == "power" and np.dtype(DTYPES[dtype]).kind == "i":
                expected = integer_power(*operands)
            elif op == "negate" or op == "abs":
                expected = function(*wide).astype(DTYPES[dtype])
            else:
                expected = np.asarray(function(*wide))
                if expected.dtype.kind == "f":
                    expected = expected.astype(DTYPES[dtype])
            slack = ulps(expected, steps) if expected.dtype.kind == "f" else 0
            if op == "logistic":
                slack = slack + np.finfo(expected.dtype).tiny  # exp(-x) overflows where the result is denormal
            yield Case(op, operands, expected, slack=slack)


def formula_of(op, folder):
    path = os.path.join(folder, op + ".mlir")
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                if line.startswith("// NumPy: "):
                    return line[len("// NumPy: "):].strip()
    sys.exit(f"the op {op} has no formula: give one in test/Oracle/every-op.py, or as '// NumPy: EXPRESSION' in {path}")


def casts(op, names, admits, folder):
    for source in admits[0]:
        for target in DTYPES:
            for x in (ordinary(DTYPES[source], (33,)), ordinary(DTYPES[source], ()), ordinary(DTYPES[source], (2, 0)),
                      specials(DTYPES[source])):
                expected = cast_to(x, DTYPES[target])
                yield Case(op, [x], expected, f"dtype = {MLIR[expected.dtype]}")


# Everything else ------------------------------------------------------------------------------------------------------------------


def reductions(op, names, admits, folder):
    function = {"sum": np.sum, "mean": np.mean, "prod": np.prod, "max": np.max, "min": np.min, "all": np.all, "any": np.any}[op]
    for dtype in admits[0]:
        for shape in [(), (1,), (17,), (33,), (1000,), (5, 7), (3, 33, 5), (0,), (2, 0, 3), "special"]:
            x = specials(DTYPES[dtype]) if shape == "special" else ordinary(DTYPES[dtype], shape)
            for number, axes in enumerate(itertools.chain.from_iterable(
                    itertools.combinations(range(x.ndim), n) for n in range(x.ndim + 1))):
                keep = number % 2 == 1
                options = dict(axis=axes, keepdims=keep)
                slack = 0
                if x.dtype.kind == "f" and op in ("sum", "mean", "prod"):
                    wide = x.astype(WIDE[x.dtype])
                    count = max(1, int(np.prod([x.shape[axis] for axis in axes])))
                    expected = function(wide, **options).astype(x.dtype)
                    size = np.abs(function(np.abs(wide), **options).astype(x.dtype))
                    slack = np.nan_to_num(count * np.finfo(x.dtype).eps * size, nan=0, posinf=0)
                elif op in ("max", "min"):
                    limits = np.finfo(x.dtype) if x.dtype.kind == "f" else np.iinfo(x.dtype)
                    none = limits.min if op == "max" else limits.max
                    if x.dtype.kind == "f":
                        none = -np.inf if op == "max" else np.inf
                    expected = function(x, initial=none, **options)
                else:
                    expected = function(x, **options, **({} if op in ("all", "any") else {"dtype": x.dtype}))
                yield Case(op, [x], expected, f"axes = {ints(axes)}, keepdims = {str(keep).lower()}", slack)


def cumulative(x, op, axis, reverse, exclusive):
    """NumPy's own running totals, which go forward and include each element."""
    function = {"cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum,
                "logcumsumexp": np.logaddexp}[op]
    first = {"cumsum": 0, "cumprod": 1, "logcumsumexp": -np.inf}.get(op)
    if first is None:
        lowest, highest = (-np.inf, np.inf) if x.dtype.kind == "f" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        first = lowest if op == "cummax" else highest
    line = np.flip(x, axis) if reverse else x
    y = function.accumulate(line, axis, dtype=line.dtype)
    if exclusive:
        start = np.full_like(np.take(y, np.arange(min(y.shape[axis], 1)), axis), first)
        y = np.concatenate([start, np.take(y, np.arange(max(y.shape[axis] - 1, 0)), axis)], axis)
    return np.flip(y, axis) if reverse else y


def cumulatives(op, names, admits, folder):
    for dtype in admits[0]:
        for shape in [(0,), (1,), (17,), (100,), (5, 7), (3, 33, 5), (2, 0, 3), "special"]:
            x = specials(DTYPES[dtype]) if shape == "special" else ordinary(DTYPES[dtype], shape)
            for axis, reverse, exclusive in itertools.product(range(x.ndim), (False, True), (False, True)):
                wide = x.astype(WIDE[x.dtype]) if x.dtype in WIDE else x
                expected, slack = cumulative(wide, op, axis, reverse, exclusive).astype(x.dtype), 0
                if x.dtype.kind == "f" and op not in ("cummax", "cummin"):
                    # Each step rounds. What is finite in the wide type may have overflowed on the way in the narrow one.
                    if shape == "special" and op != "logcumsumexp":
                        expected = cumulative(x, op, axis, reverse, exclusive)
                    else:
                        largest = cumulative(np.abs(wide), op, axis, reverse, exclusive).astype(x.dtype)
                        slack = np.nan_to_num(4 * x.shape[axis] * np.finfo(x.dtype).eps * np.abs(largest), nan=0, posinf=0)
                yield Case(op, [x], expected, f"axis = {axis} : i64, reverse = {str(reverse).lower()}, "
                                              f"exclusive = {str(exclusive).lower()}", slack)


def recurrences(op, names, admits, folder):
    for dtype in admits[0]:
        for shape in [(0,), (1,), (17,), (5, 7), (3, 9, 5), (2, 0, 3)]:
            a, x = (ordinary(DTYPES[dtype], shape) for _ in range(2))
            if a.dtype.kind == "f":
                a = a / 4
            for axis, reverse, (exclusive, shifted) in itertools.product(
                    range(x.ndim), (False, True), ((False, False), (True, False), (False, True))):
                factors, added = (np.moveaxis(np.flip(v, axis) if reverse else v, axis, 0) for v in (a, x))
                results, before = [], np.zeros_like(added[0] if len(added) else added)
                for i in range(len(added)):
                    now = added[0] if i == 0 else factors[i - shifted] * before + added[i]
                    results.append(before if exclusive else now)
                    before = now
                y = np.moveaxis(np.array(results), 0, axis) if results else x
                yield Case(op, [a, x], (np.flip(y, axis) if reverse else y).copy(),
                           f"axis = {axis} : i64, reverse = {str(reverse).lower()}, "
                           f"exclusive = {str(exclusive).lower()}, shifted = {str(shifted).lower()}")


def argsorts(op, names, admits, folder):
    for dtype in admits[0]:
        for x in [ordinary(DTYPES[dtype], s) for s in [(0,), (1,), (2,), (17,), (1000,), (5, 7), (3, 5, 7), (0, 3)]] + \
                [specials(DTYPES[dtype]), np.tile(specials(DTYPES[dtype]), 3)]:
            for axis in range(x.ndim):
                up = np.argsort(x, axis, kind="stable")
                # Downwards, with equal elements in their order: those of the line read backwards, upwards, and backwards again.
                down = np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
                for descending, expected in ((False, up), (True, down)):
                    attributes = f"axis = {axis} : i64, descending = {str(descending).lower()}"
                    if op == "sort":
                        yield Case(op, [x], np.take_along_axis(x, expected, axis), attributes)
                        continue
                    yield Case(op, [x], expected.astype(np.int64), attributes)
                    for count in {0, min(1, x.shape[axis]), x.shape[axis] // 2}:
                        first = np.take(expected, range(count), axis).astype(np.int64)
                        yield Case(op, [x], first, f"{attributes}, count = {count} : i64")


def along_axis(op, names, admits, folder):
    for dtype, index in itertools.product(admits[0], admits[1]):
        for shape, axis, count in (((33,), 0, 50), ((3, 17), 1, 4), ((3, 17), 0, 4), ((2, 3, 5), 1, 7), ((3, 2), 1, 0)):
            x = ordinary(DTYPES[dtype], shape)
            picked = tuple(count if i == axis else n for i, n in enumerate(shape))
            at = random.integers(0, shape[axis], picked).astype(DTYPES[index])
            if op == "take_along_axis":
                yield Case(op, [x, at], np.take_along_axis(x, at, axis), f"axis = {axis} : i64")
                continue
            updates, result = ordinary(DTYPES[dtype], picked), x.copy()
            places = list(np.indices(picked))
            places[axis] = at
            np.add.at(result, tuple(places), updates)
            yield Case(op, [x, at, updates], result, f"axis = {axis} : i64")


def argmaxes(op, names, admits, folder):
    for dtype in admits[0]:
        for x in [ordinary(DTYPES[dtype], s) for s in [(1,), (17,), (1000,), (5, 7), (3, 5, 7), (0, 3)]] + [specials(DTYPES[dtype])]:
            for axis in range(x.ndim):
                if x.shape[axis]:
                    keep = axis == 1
                    yield Case(op, [x], np.argmax(x, axis, keepdims=keep), f"axis = {axis} : i64, keepdims = {str(keep).lower()}")


def matmuls(op, names, admits, folder):
    shapes = [((3,), (3,)), ((3,), (3, 4)), ((17, 3), (3,)), ((33, 17), (17, 64)), ((2, 0), (0, 3)), ((0, 2), (2, 3)),
              ((2, 2, 3), (3, 4)), ((2, 1, 2, 3), (3, 3, 4)), ((100, 300), (300, 50))]
    for dtype in admits[0]:
        for a, b in shapes:
            x, y = ordinary(DTYPES[dtype], a), ordinary(DTYPES[dtype], b)
            for left, right in itertools.product([False, True], repeat=2):
                if (left and x.ndim < 2) or (right and y.ndim < 2):
                    continue
                lhs, rhs = (np.ascontiguousarray(np.swapaxes(z, -1, -2)) if flip else z for z, flip in ((x, left), (y, right)))
                expected, slack = np.matmul(x, y), 0
                if x.dtype.kind == "f":
                    wide = WIDE[x.dtype]
                    expected = np.matmul(x.astype(wide), y.astype(wide)).astype(x.dtype)
                    slack = a[-1] * np.finfo(x.dtype).eps * np.matmul(np.abs(x), np.abs(y))
                yield Case(op, [lhs, rhs], expected,
                           f"transpose_lhs = {str(left).lower()}, transpose_rhs = {str(right).lower()}", slack)


def iotas(op, names, admits, folder):
    for dtype in ("i32", "i64", "f32", "f64"):
        for shape, axis in (((33,), 0), ((3, 5), 1), ((3, 5), 0), ((0, 2), 1)):
            line = np.arange(shape[axis]).astype(DTYPES[dtype]).reshape([-1 if i == axis else 1 for i in range(len(shape))])
            yield Case(op, [], np.broadcast_to(line, shape).copy(), f"dtype = {dtype}, shape = {ints(shape)}, axis = {axis} : i64")


def constants(op, names, admits, folder):
    for name, dtype in DTYPES.items():
        x = ordinary(dtype, (2, 3))
        text = str(x.tolist()).replace("True", "true").replace("False", "false")
        yield Case(op, [], x, f"value = dense<{text}> : {type_of(x)}")


def philox(seed, stream, blocks):
    """The four words of the first blocks of a stream, by Salmon et al. 2011."""
    index = np.arange(blocks, dtype=np.uint64)
    low, high, word = np.uint64(0xFFFFFFFF), np.uint64(32), lambda x: np.full(blocks, x & 0xFFFFFFFF, np.uint64)
    counter = [index & low, index >> high, word(stream), word(stream >> 32)]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        a, c = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(c >> high) ^ counter[1] ^ np.uint64(key[0]), c & low, (a >> high) ^ counter[3] ^ np.uint64(key[1]), a & low]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return np.stack(counter, 1)


def draws(op, names, admits, folder):
    for seed, stream in ((0, 0), (2**63 - 1, -(2**62) - 5), (-3, 2**40 + 1)):
        state = np.array([seed, stream], np.int64)
        if op == "draw_permutation":
            for dtype, count in itertools.product((np.int32, np.int64), (0, 1, 5, 1000)):
                words, order = philox(seed, stream, count).tolist(), list(range(count))
                for turn in range(count - 1):
                    left = count - turn
                    picked = (words[turn][0] << 32 | words[turn][1]) * left >> 64
                    order[left - 1], order[picked] = order[picked], order[left - 1]
                yield Case(op, [state, np.zeros((count, 2), np.float32)], np.array(order, dtype), f"dtype = {MLIR[np.dtype(dtype)]}")
            continue
        for name, shape in itertools.product(DTYPES, ((), (0,), (1,), (33,), (1000,), (3, 5, 7))):
            dtype, size = np.dtype(DTYPES[name]), int(np.prod(shape))
            words = philox(seed, stream, size // 2 + 1)
            if dtype.itemsize == 8:
                bits = (words[:, 0::2] << np.uint64(32) | words[:, 1::2]).reshape(-1)
                value = bits.astype(np.int64) if dtype.kind == "i" else (bits >> np.uint64(11)).astype(dtype) * 2.0**-53
            else:
                bits = words.reshape(-1).astype(np.uint32)
                value = bits.astype(np.int32) if dtype.kind == "i" else bits >> np.uint32(31) != 0
                if dtype.kind == "f":
                    value = (bits >> np.uint32(8)).astype(dtype) * dtype.type(2.0**-24)
            yield Case(op, [state, np.zeros(shape, np.int32)], value[:size].reshape(shape), f"dtype = {MLIR[dtype]}")


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


def movements(op, names, admits, folder):
    for dtype in admits[0]:
        def x(*shape):
            return ordinary(DTYPES[dtype], shape)
        if op == "stop_gradient":
            yield from (Case(op, [v], v) for v in (x(), x(33), x(0)))
        elif op == "barrier":
            yield from (Case(op, [v, np.arange(4)], v) for v in (x(), x(33), x(0)))
        elif op == "match_shape":
            yield from (Case(op, [v, np.zeros(v.shape, np.int32)], v) for v in (x(), x(33), x(0)))
        elif op == "reshape":
            for v, shape in ((x(2, 3), (3, 2)), (x(1000), (8, -1, 1)), (x(1, 1), ()), (x(), (1,)), (x(0, 3), (3, 0, 2))):
                yield Case(op, [v], v.reshape(shape), f"shape = {ints(shape)}")
        elif op == "transpose":
            for v, order in ((x(), ()), (x(17, 33), (1, 0)), (x(3, 5, 7), (2, 0, 1)), (x(0, 3), (1, 0))):
                yield Case(op, [v], v.transpose(order), f"permutation = {ints(order)}")
        elif op == "broadcast":
            for v, shape in ((x(), (3, 5)), (x(33), (3, 33)), (x(17, 1), (2, 17, 3)), (x(0, 1), (2, 0, 3))):
                yield Case(op, [v], np.broadcast_to(v, shape), f"shape = {ints(shape)}")
        elif op == "slice":
            for v, parts in ((x(33), [(1, 30, 2)]), (x(17, 33), [(1, 16, 1), (0, 33, 4)]), (x(3), [(2, 2, 1)]), (x(), [])):
                starts, limits, strides = zip(*parts) if parts else ((), (), ())
                yield Case(op, [v], v[tuple(slice(*p) for p in parts)],
                           f"starts = {ints(starts)}, limits = {ints(limits)}, strides = {ints(strides)}")
        elif op == "reverse":
            for v, axes in ((x(33), (0,)), (x(5, 7), (0, 1)), (x(5, 7), (1,)), (x(), ()), (x(2, 0), (0, 1))):
                yield Case(op, [v], np.flip(v, axes), f"axes = {ints(axes)}")
        elif op == "concatenate":
            for parts, axis in (((x(3), x(17), x(1)), 0), ((x(5, 3), x(5, 0), x(5, 1)), 1), ((x(0), x(0)), 0)):
                yield Case(op, list(parts), np.concatenate(parts, axis), f"axis = {axis} : i64")
        elif op == "replicate":
            for index in admits[1]:
                for v, count in ((x(33), 3), (x(5, 7), 2), (x(), 4), (x(2, 0), 3), (x(5), 0)):
                    yield Case(op, [v, np.array(count, DTYPES[index])], np.stack([v] * count) if count else np.empty((0, *v.shape), v.dtype))
        elif op == "resize":
            for index in admits[1]:
                for v, count in ((x(33), 3), (x(5, 7), 5), (x(5, 7), 9), (x(2, 0), 3), (x(0, 2), 3), (x(5), 0)):
                    result = np.zeros((count, *v.shape[1:]), v.dtype)
                    result[: len(v)] = v[:count]
                    yield Case(op, [v, np.array(count, DTYPES[index])], result)
        elif op == "size":
            for v, axis in ((x(33), 0), (x(5, 7), 1), (x(2, 0), 1)):
                yield Case(op, [v], np.array(v.shape[axis]), f"axis = {axis} : i64")
        elif op == "update_slice":
            for index in admits[1]:
                for v, at, axis in ((x(33), 32, 0), (x(3, 17), 16, 1), (x(3, 2), 0, 0), (x(3, 0), 1, 0)):
                    result, value = v.copy(), np.array(ordinary(DTYPES[dtype], np.take(v, at, axis).shape))
                    result[(slice(None),) * axis + (at,)] = value
                    yield Case(op, [v, np.array(at, DTYPES[index]), value], result, f"axis = {axis} : i64")
        elif op == "pad":
            for v, low, high, interior in ((x(2, 3), (1, 0), (0, 2), (0, 0)), (x(5, 7), (1, 1), (2, 0), (3, 1)),
                                           (x(0), (1,), (2,), (3,)), (x(), (), (), ())):
                value = x()
                yield Case(op, [v, value], padded(v, value, low, high, interior),
                           f"low = {ints(low)}, high = {ints(high)}, interior = {ints(interior)}")
        else:
            for index in admits[1]:
                for v, at, axis in ((x(33), [[32, 0], [7, 7]], 0), (x(3, 17), [16, 0, 0], 1), (x(3, 2), 2, 0), (x(3, 2), [], 0)):
                    at = np.array(at, DTYPES[index])
                    picked = np.take(v, at, axis)
                    if op == "gather":
                        yield Case(op, [v, at], picked, f"axis = {axis} : i64")
                    else:
                        updates = ordinary(DTYPES[dtype], picked.shape)
                        yield Case(op, [v, at, updates], scattered(v, at, updates, axis), f"axis = {axis} : i64")


STRUCTURAL = {
    "cast": casts, "argmax": argmaxes, "matmul": matmuls, "iota": iotas, "constant": constants,
    "argsort": argsorts, "sort": argsorts, "linear_recurrence": recurrences, "take_along_axis": along_axis, "add_along_axis": along_axis,
    **dict.fromkeys(("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"), cumulatives),
    "draw_uniform": draws, "draw_permutation": draws,
    **dict.fromkeys(("sum", "mean", "prod", "max", "min", "all", "any"), reductions),
    **dict.fromkeys(("stop_gradient", "barrier", "match_shape", "reshape", "transpose", "broadcast", "slice", "reverse", "concatenate",
                     "pad", "gather", "scatter_add", "update_slice", "replicate", "resize", "size"), movements),
}
# Effects on variables and on what a person sees: no function of their operands.
EFFECTS = {"read", "assign", "assign_add", "print", "assert"}

# Running and comparing --------------------------------------------------------------------------------------------------------------


def run(weft_run, cases, folder):
    """All cases as one function of one program: the results, in order."""
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
        lines.append(f'  %r{number} = "weft.{case.op}"({", ".join(names)}){attributes} : ({types}) -> {type_of(case.expected)}')
        results.append(f"%r{number}")
        command.append("--save=" + os.path.join(folder, f"r{number}.npy"))
    types = ", ".join(type_of(case.expected) for case in cases)
    program = os.path.join(folder, "program.mlir")
    with open(program, "w") as file:
        file.write(f"func.func @main({', '.join(parameters)}) -> ({types}) {{\n" + "\n".join(lines) +
                   f"\n  return {', '.join(results)} : {types}\n}}\n")
    done = subprocess.run([weft_run, program, *command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"weft-run failed on {program}:\n{done.stderr[:4000]}")
    return [np.load(os.path.join(folder, f"r{number}.npy")) for number in range(len(cases))]


def compare(case, actual):
    """What is wrong, or nothing."""
    if actual.dtype != case.expected.dtype or actual.shape != case.expected.shape:
        return f"is {type_of(actual)} instead of {type_of(case.expected)}"
    with np.errstate(all="ignore"):
        same = actual == case.expected
        if actual.dtype.kind == "f":
            if case.op in SIGN_OF_ZERO:
                same &= np.signbit(actual) == np.signbit(case.expected)
            same |= np.isnan(actual) & np.isnan(case.expected)
            finite = np.isfinite(actual) & np.isfinite(case.expected)
            same |= finite & (np.abs(actual - case.expected) <= case.slack) & (case.slack != 0)
    if same.all():
        return None
    at = tuple(np.argwhere(~same)[0])
    inputs = [np.broadcast_to(x, actual.shape)[at] for x in case.operands if x.shape == actual.shape or x.ndim == 0]
    return f"element {at} is {actual[at]!r} instead of {case.expected[at]!r}, of {inputs}"


def read_reference(path):
    """By op: the names of its operands, and the dtypes that each admits."""
    ops = {}
    with open(path) as file:
        for line in file:
            if heading := re.match(r"## `weft\.(\w+)`", line):
                names, admits = ops.setdefault(heading[1], ([], []))
            elif row := re.match(r"\| `(\w+)` \| operands?, [^|]* \| ([^|]*) \|", line):
                names.append(row[1])
                admits.append(row[2].split(", "))
    return ops


def main():
    weft_run, reference, own_tests, folder = sys.argv[1:]
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")  # the mean of nothing
    cases = []
    for op, (names, admits) in read_reference(reference).items():
        if op in EFFECTS:
            continue
        made = list(STRUCTURAL.get(op, elementwise)(op, names, admits, own_tests))
        if not made:
            sys.exit(f"there are no calls of the op {op}")
        cases += made
    wrong = 0
    for start in range(0, len(cases), 200):
        part = cases[start:start + 200]
        for case, actual in zip(part, run(weft_run, part, folder)):
            if words := compare(case, actual):
                print(f"{case}: {words}")
                wrong += 1
    print(f"{len(cases)} calls, {wrong} differ from NumPy")
    sys.exit(wrong != 0 or len(cases) == 0)


main()
