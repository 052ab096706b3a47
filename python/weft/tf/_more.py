"""What stands behind names of the table that are more than one expression."""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import weft as wf
from weft import _weft

from ._forms import TensorShape as TensorShape
from ._print import print_values as print_values

version = "2.0.0+weft"
newaxis = None


class UnconnectedGradients(enum.Enum):
    """What a tape gives for a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


# Functions and control flow.


def executing_eagerly() -> bool:
    """Whether ops run at once: not while a function is traced."""
    return not _weft.internal_is_tracing()


def to_graph(entity: Callable[..., Any]) -> Callable[..., Any]:
    """What AutoGraph makes of a function, to be called in its place."""
    from weft import _staging
    from weft._autograph import calls

    _staging.install()
    return calls.convert(getattr(entity, "python_function", entity))


def while_loop(cond: Any, body: Any, loop_vars: Any, maximum_iterations: Any) -> Any:
    """The loop, of at most so many turns."""
    if maximum_iterations is None:
        return wf.while_loop(cond, body, loop_vars)

    def holds(turn: Any, *values: Any) -> Any:
        return wf.logical_and(wf.less(turn, maximum_iterations), cond(*values))

    def step(turn: Any, *values: Any) -> Any:
        after = body(*values)
        many = len(values) != 1 or type(after) in (list, tuple)
        return (turn + 1, *(after if many else [after]))

    results = wf.while_loop(holds, step, [wf.constant(0), *loop_vars])[1:]
    return list(results) if isinstance(loop_vars, list) else tuple(results)


@contextmanager
def scope(of: Any) -> Generator[Any, None, None]:
    """A context without effect: effects keep the order of the program by themselves."""
    yield of


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


def _has_device(name: str) -> bool:
    try:
        _weft.zeros([], device=name)
    except _weft.ValueError:
        return False
    return True


def list_devices(device_type: str | None) -> list[PhysicalDevice]:
    """The devices of a type, 'CPU' or 'GPU', or all."""
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    at = 0
    while _has_device(f"gpu:{at}"):
        found.append(PhysicalDevice(f"/physical_device:GPU:{at}", "GPU"))
        at += 1
    return [each for each in found if device_type in (None, each.device_type)]


class device:
    """A context that checks that a device is there; ops run where their operands are."""

    def __init__(self, name: str | None) -> None:
        self._name = name

    def __enter__(self) -> None:
        if self._name is not None:
            _weft.zeros([], device=self._name)

    def __exit__(self, *error: object) -> None:
        pass


# Tensors of values and shapes.


def eye(rows: int, columns: int | None, batch_shape: Any, dtype: Any) -> Any:
    """The identity matrix, or the first rows and columns of one, for each member of a batch."""
    size = rows if columns is None else max(rows, columns)
    matrix = wf.eye(size, dtype)[:rows, : rows if columns is None else columns]
    return matrix if batch_shape is None else wf.broadcast(matrix, [*batch_shape, *matrix.shape])


def _is_traced(*values: Any) -> bool:
    return any(_weft.internal_is_traced(x) for x in values)


def range_of(start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
    """start, start + delta, ... below limit, in the widest of their dtypes."""
    if limit is None:
        start, limit = 0, start
    if _is_traced(start, limit, delta):
        return _traced_range(start, limit, delta, dtype)
    kinds = [x.dtype for x in (start, limit, delta) if isinstance(x, wf.Tensor | wf.Variable)]
    numbers = [x.numpy().item() if hasattr(x, "numpy") else x for x in (start, limit, delta)]
    if dtype is None and kinds and all(isinstance(x, int) for x in numbers):
        dtype = next((kind for kind in kinds if kind == "int64"), kinds[0])
    first, last, step = numbers
    return wf.arange(first, last, step, dtype)


def _traced_range(start: Any, limit: Any, delta: Any, dtype: Any) -> Any:
    difference = wf.subtract(limit, start)
    count = wf.maximum(-(-difference // delta), 0)
    kind = difference.dtype if dtype is None else dtype
    ones = wf.replicate(wf.ones([1], "int64"), wf.cast(wf.reshape(count, []), "int64"))
    steps = wf.cast(wf.cumsum(wf.reshape(ones, [-1])) - 1, kind)
    return steps * delta + start


def shape_of(x: Any, dtype: Any) -> Any:
    """The sizes as a tensor."""
    tensor: Any = wf.asarray(x)
    if None not in tensor.shape:
        return wf.constant(list(tensor.shape), dtype, [tensor.ndim])
    return wf.cast(stack([wf.size(tensor, axis) for axis in range(tensor.ndim)], 0), dtype)


def size_of(x: Any, dtype: Any) -> Any:
    """The number of elements as a tensor."""
    tensor: Any = wf.asarray(x)
    if None not in tensor.shape:
        return wf.constant(tensor.size, dtype)
    return wf.prod(shape_of(tensor, dtype))


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise _weft.OutOfRangeError(f"axis {axis} is out of range for a tensor of rank {rank}")
    return axis + rank if axis < 0 else axis


def expand_dims(x: Any, axis: int) -> Any:
    """With an axis of size 1 at that place."""
    tensor = wf.asarray(x)
    at = _axis(int(axis), tensor.ndim + 1)
    return tensor[(slice(None),) * at + (None,)]


def stack(values: Sequence[Any], axis: int) -> Any:
    """The tensors along a new axis."""
    return wf.concatenate([expand_dims(x, axis) for x in values], axis)


def unstack(x: Any, num: int | None, axis: int) -> list[Any]:
    """The slices along an axis."""
    tensor: Any = wf.asarray(x)
    at = _axis(axis, tensor.ndim)
    count = tensor.shape[at] if num is None else num
    if count is None:
        raise _weft.ValueError(f"unstack: the size of axis {axis} is not known yet: give num")
    return [tensor[(slice(None),) * at + (i,)] for i in range(count)]


def split(x: Any, parts: Any, axis: int) -> list[Any]:
    """So many parts of one size, or parts of the sizes of a list, of which one may be -1."""
    tensor: Any = wf.asarray(x)
    at = _axis(axis, tensor.ndim)
    whole = tensor.shape[at]
    if isinstance(parts, int):
        if whole is None or whole % parts:
            raise _weft.ShapeError(f"split: axis {axis} of size {whole} is not {parts} equal parts")
        sizes = [whole // parts] * parts
    else:
        sizes = [int(n) for n in parts]
        if -1 in sizes and whole is not None:
            sizes[sizes.index(-1)] = whole - sum(sizes) - 1
        if sum(sizes) != whole:
            raise _weft.ShapeError(f"split: the sizes {sizes} do not add up to {whole}")
    before = (slice(None),) * at
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [tensor[(*before, slice(e - n, e))] for e, n in zip(ends, sizes, strict=True)]


def tile(x: Any, multiples: Any) -> Any:
    """The tensor so many times along each axis."""
    tensor = wf.asarray(x)
    for axis, count in enumerate(int(n) for n in multiples):
        tensor = wf.concatenate([tensor] * count, axis) if count != 1 else tensor
    return tensor


def repeat(x: Any, repeats: int, axis: int | None) -> Any:
    """Each element so many times, one behind the other."""
    tensor = wf.asarray(x)
    if axis is None:
        tensor, axis = wf.reshape(tensor, -1), 0
    at = _axis(axis, tensor.ndim)
    wide = stack([tensor] * int(repeats), at + 1)
    return wf.reshape(wide, [*tensor.shape[:at], -1, *tensor.shape[at + 1 :]])


def pad(x: Any, paddings: Any, mode: str, value: Any) -> Any:
    """With so many values in front and behind along each axis."""
    if mode.upper() != "CONSTANT":
        raise _weft.ValueError(f"pad: the mode is {mode!r}, and 'CONSTANT' alone is there")
    pairs = [(int(low), int(high)) for low, high in paddings]
    low, high = [p[0] for p in pairs], [p[1] for p in pairs]
    tensor = wf.asarray(x)
    return wf.pad(tensor, wf.cast(value, tensor.dtype), low, high, [0] * len(pairs))


def slice_of(x: Any, begin: Any, size: Any) -> Any:
    """The part of that size at a place; a size of -1 is all that is left."""
    ends = [None if n == -1 else int(b) + int(n) for b, n in zip(begin, size, strict=True)]
    return wf.asarray(x)[tuple(slice(int(b), e) for b, e in zip(begin, ends, strict=True))]


def gather(x: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
    """The slices of these numbers along an axis."""
    if batch_dims:
        raise _weft.ValueError("gather: batch_dims is not there: write wf.take_along_axis")
    return wf.gather(x, indices, int(axis))


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    if x is None or y is None:
        raise _weft.ValueError(
            "where: the places where a condition holds are as many as the values say, which no "
            "traced function can have: give x and y, or write np.argwhere(condition)"
        )
    return wf.select(condition, x, y)


def one_hot(labels: Any, depth: Any, on: Any, off: Any, axis: int, dtype: Any) -> Any:
    """A vector for each label, on at its place and off elsewhere."""
    tensor = wf.asarray(labels)
    at = _axis(axis, tensor.ndim + 1)
    places = wf.reshape(
        wf.arange(int(depth), dtype=tensor.dtype), [-1] + [1] * (tensor.ndim - at)
    )
    hits = wf.equal(expand_dims(tensor, at), places)
    return wf.select(hits, wf.cast(on, dtype), wf.cast(off, dtype))


def is_descending(direction: str) -> bool:
    """Of 'ASCENDING' and 'DESCENDING'."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise _weft.ValueError(f"sort: direction is {direction!r}: 'ASCENDING' or 'DESCENDING'")
    return direction == "DESCENDING"


# Arithmetic.


def divide_no_nan(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    none = wf.equal(y, 0)
    return wf.select(none, 0.0, wf.divide(x, wf.select(none, 1, y)))


def add_n(inputs: Any) -> Any:
    """The sum of tensors of one shape."""
    tensors = [inputs] if isinstance(inputs, wf.Tensor | wf.Variable) else list(inputs)
    total = wf.asarray(tensors[0])
    for x in tensors[1:]:
        total = total + x
    return total


def round_half_even(x: Any) -> Any:
    """The nearest whole numbers, the even one of two."""
    tensor = wf.asarray(x)
    if not tensor.dtype.is_floating:
        return tensor
    low = wf.floor(tensor)
    up = wf.logical_or(tensor - low > 0.5, wf.logical_and(tensor - low == 0.5, low % 2 == 1))
    return wf.select(up, low + 1, low)


def norm(x: Any, order: Any, axis: Any, keepdims: bool) -> Any:
    """The euclidean norm, or that of order 1, or of another number, or the greatest size."""
    if order in ("euclidean", "fro", 2):
        return wf.sqrt(wf.sum(wf.square(x), axis, keepdims=keepdims))
    if order == 1:
        return wf.sum(wf.abs(x), axis, keepdims=keepdims)
    if order == float("inf"):
        return wf.max(wf.abs(x), axis, keepdims=keepdims)
    return wf.power(wf.sum(wf.power(wf.abs(x), order), axis, keepdims=keepdims), 1 / order)


def clip_by_norm(x: Any, most: Any, axes: Any) -> Any:
    """The tensor, made shorter if its norm is greater."""
    squares = wf.sum(wf.square(x), axes, keepdims=True)
    some = squares > 0
    length = wf.select(some, wf.sqrt(wf.select(some, squares, 1.0)), squares)
    return wf.asarray(x) * most / wf.maximum(length, most)


def global_norm(tensors: Sequence[Any]) -> Any:
    """The norm of all tensors of a list together."""
    return wf.sqrt(add_n([wf.sum(wf.square(x)) for x in tensors if x is not None]))


def clip_by_global_norm(tensors: Sequence[Any], most: Any, use_norm: Any) -> tuple[list[Any], Any]:
    """The tensors, made shorter together if their norm is greater; and that norm."""
    length = global_norm(tensors) if use_norm is None else use_norm
    scale = most / wf.maximum(length, most)
    return [None if x is None else wf.asarray(x) * scale for x in tensors], length


def matvec(a: Any, b: Any, transpose: bool) -> Any:
    """A matrix times a vector, for each member of a batch."""
    return wf.matmul(a, expand_dims(b, -1), transpose_lhs=transpose)[..., 0]


def tensordot(a: Any, b: Any, axes: Any) -> Any:
    """The sum of products over axes of a and b: so many of the last and first, or two lists."""
    x, y = wf.asarray(a), wf.asarray(b)
    if isinstance(axes, int):
        ours, theirs = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    else:
        first, second = axes
        ours = [_axis(i, x.ndim) for i in ([first] if isinstance(first, int) else first)]
        theirs = [_axis(i, y.ndim) for i in ([second] if isinstance(second, int) else second)]
    rows = [i for i in range(x.ndim) if i not in ours]
    columns = [i for i in range(y.ndim) if i not in theirs]
    inner = 1
    for i in ours:
        inner *= x.shape[i]
    left = wf.reshape(wf.transpose(x, [*rows, *ours]), [-1, inner])
    right = wf.reshape(wf.transpose(y, [*theirs, *columns]), [inner, -1])
    sizes = [*(x.shape[i] for i in rows), *(y.shape[i] for i in columns)]
    return wf.reshape(left @ right, sizes)


# Reductions and networks.


def reduce_logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    """log(sum(exp(x))), without overflow."""
    most = wf.stop_gradient(wf.max(x, axis, keepdims=True))
    total = wf.log(wf.sum(wf.exp(wf.subtract(x, most)), axis, keepdims=True)) + most
    return total if keepdims else wf.sum(total, axis)


def reduce_variance(x: Any, axis: Any, keepdims: bool) -> Any:
    """The mean of squared distances from the mean."""
    middle = wf.mean(x, axis, keepdims=True)
    return wf.mean(wf.square(wf.subtract(x, middle)), axis, keepdims=keepdims)


def top_k(x: Any, k: int, dtype: Any) -> Any:
    """The k largest along the last axis, and where they are."""
    values, indices = wf.top_k(x, k)
    return TopK(values, wf.cast(indices, dtype))


class TopK(NamedTuple):
    """What `tf.math.top_k` gives."""

    values: Any
    indices: Any


def log_softmax(x: Any, axis: int) -> Any:
    """x - log(sum(exp(x))) along an axis."""
    return wf.subtract(x, reduce_logsumexp(x, axis, True))


def softmax(x: Any, axis: int) -> Any:
    """exp(x) / sum(exp(x)) along an axis."""
    powers = wf.exp(wf.subtract(x, wf.stop_gradient(wf.max(x, axis, keepdims=True))))
    return powers / wf.sum(powers, axis, keepdims=True)


# Random numbers.


def uniform(shape: Any, low: Any, high: Any, dtype: Any, seed: int | None) -> Any:
    """Numbers from low up to high, which is 1 for floating ones."""
    kind = wf.dtype(dtype)
    if kind.is_integer:
        if high is None:
            raise _weft.ValueError("uniform: integers want a maxval")
        return wf.random.randint(shape, int(low), int(high), dtype=kind, seed=seed)
    top = 1.0 if high is None else float(high)
    return wf.random.uniform(shape, float(low), top, dtype=kind, seed=seed)


def shuffle(x: Any, seed: int | None) -> Any:
    """The slices along the first axis in a random order."""
    tensor = wf.asarray(x)
    return wf.gather(tensor, wf.random.permutation(tensor.shape[0], seed=seed), 0)


# Checks.


def _comparable(x: Any) -> Any:
    """A tensor; of a shape that of its sizes."""
    if isinstance(x, TensorShape):
        if not x.is_fully_defined():
            raise _weft.ValueError(f"assert: the shape {x} is not known before the function runs")
        sizes: Any = list(x)
        return wf.constant(sizes, "int32", [len(x)])
    return wf.asarray(x)


def assert_that(sign: str, compare: Any, x: Any, y: Any, message: str | None) -> None:
    """Checks that a comparison holds for all elements."""
    a, b = _comparable(x), _comparable(y)
    try:
        holds = wf.all(compare(a, b))
    except _weft.ShapeError as error:
        raise _weft.InvalidArgumentError(f"{message or ''} {error}".strip()) from None
    text = f"Condition x {sign} y did not hold{' element-wise' if a.ndim or b.ndim else ''}"
    _check(holds, [message or "", text], [("x", a), ("y", b)])


def check(condition: Any, data: Any) -> None:
    """Checks that a condition holds; the text of the error has the data."""
    listed: list[Any] = [*data] if _is_listed(data) else [data]
    items = [("data", x) for x in listed]
    text = "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true"
    _check(wf.all(condition), [text], items)


def _check(holds: Any, texts: list[str], values: list[tuple[str, Any]]) -> None:
    if _is_traced(holds):
        _weft.internal_check(holds, ". ".join(text for text in texts if text))
    elif not bool(holds):
        shown = [f"{name} = {x!r}" for name, x in values]
        raise _weft.AssertionError(". ".join(text for text in (*texts, *shown) if text))


# Structures.


# Not seen by type checkers, which know no more of the entries then.


def _is_dict(x: Any) -> bool:
    return isinstance(x, dict)


def _is_listed(x: Any) -> bool:
    return isinstance(x, list | tuple)


def flatten(structure: Any) -> list[Any]:
    """The leaves of lists, tuples and dicts, these in the order of their keys."""
    if _is_dict(structure):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if _is_listed(structure):
        return [leaf for item in structure for leaf in flatten(item)]
    return [structure]


def map_structure(function: Callable[..., Any], structures: Sequence[Any]) -> Any:
    """The same structure with what a function gives for the leaves of all."""
    first = structures[0]
    if _is_dict(first):
        return type(first)(
            (key, map_structure(function, [s[key] for s in structures])) for key in first
        )
    if _is_listed(first):
        made = [map_structure(function, items) for items in zip(*structures, strict=True)]
        return first._make(made) if hasattr(first, "_make") else type(first)(made)
    return function(*structures)
