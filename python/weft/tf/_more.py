"""What stands behind names of the table that are more than one expression."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from typing import Any, NamedTuple

import weft as wf
from weft import _arguments, _weft
from weft._trees import is_dict, is_listed

from ._forms import TensorShape as TensorShape
from ._print import print_values as print_values

version = "2.0.0+weft"
newaxis = None


class UnconnectedGradients(enum.Enum):
    """What a tape gives for a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"


# Short-time transforms.


def _window(function: Callable[..., Any] | None, length: int, dtype: Any) -> Any:
    if function is None:
        return wf.ones((length,), dtype)
    if not callable(function):
        raise TypeError(f"window_fn is {function!r}: a function of a length and a dtype is wanted")
    return function(length, dtype=dtype)


def _enclosing(length: int, given: int | None) -> int:
    """The length of transforms: the least power of 2 that a frame fits in, if none is given."""
    return 1 << (length - 1).bit_length() if given is None else given


def stft(x: Any, length: int, step: int, n: int | None, function: Any, pad_end: bool) -> Any:
    """The transforms of windowed frames."""
    signals: Any = wf.asarray(x)
    window = _window(function, length, signals.dtype)
    return wf.fft.stft(signals, length, step, fft_length=_enclosing(length, n), window=window, pad_end=pad_end)


def inverse_stft(x: Any, length: int, step: int, n: int | None, function: Any) -> Any:
    """The sum of windowed frames whose transforms these are."""
    spectra: Any = wf.asarray(x)
    window = _window(function, length, wf.real(spectra).dtype)
    return wf.fft.istft(spectra, length, step, fft_length=_enclosing(length, n), window=window, normalize=False)


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


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives what f gives, and hands gradients on as if it were the identity."""

    def passing(x: Any) -> Any:
        tensor = wf.asarray(x)
        return tensor + wf.stop_gradient(f(tensor) - tensor)

    return passing


def timestamp() -> Any:
    """The seconds since 1970, each time that the program comes to this place."""

    def now() -> Any:
        return wf.constant(time.time(), "float64")

    return wf.py_function(now, [], "float64")


@contextmanager
def scope(of: Any) -> Generator[Any, None, None]:
    """A context without effect: effects keep the order of the program by themselves."""
    yield of


def lifted() -> Any:
    """A context whose ops run when the function is traced, once and at once."""
    return _weft.internal_Lifted()


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


def list_devices(device_type: str | None) -> list[PhysicalDevice]:
    """The devices of a type, 'CPU' or 'GPU', or all."""
    found = [PhysicalDevice(f"/physical_device:{name.upper()}", name[:3].upper()) for name in _weft.devices()]
    return [each for each in found if device_type in (None, each.device_type)]


class LogicalDevice(NamedTuple):
    """A device as programs name it."""

    name: str
    device_type: str


def list_logical_devices(device_type: str | None) -> list[LogicalDevice]:
    """The same devices under the names of `tf.device`."""
    return [
        LogicalDevice(each.name.replace("/physical_device:", "/device:"), each.device_type)
        for each in list_devices(device_type)
    ]


class device:
    """A context in which what is created goes to a device; ops run where their operands are."""

    def __init__(self, name: str | None) -> None:
        self._scopes = [] if name is None else [_weft.device(name)]

    def __enter__(self) -> None:
        for scope in self._scopes:
            scope.__enter__()

    def __exit__(self, *error: object) -> None:
        for scope in self._scopes:
            scope.__exit__(None, None, None)


# Tensors of values and shapes.


def constant(value: Any, dtype: Any, shape: Any) -> Any:
    """A tensor of a value. Throws DTypeError for numbers with a fraction that are to be integers."""
    if dtype is not None and _holds_fractions(value) and not (wf.dtype(dtype).is_floating or wf.dtype(dtype).is_complex):
        raise _weft.DTypeError(f"constant: {value!r} is not converted to {wf.dtype(dtype)!r}")
    return wf.constant(value, dtype, shape)


def _holds_fractions(value: Any) -> bool:
    """Whether there is a float of Python in it."""
    if is_listed(value):
        return any(_holds_fractions(item) for item in value)
    return type(value) is float


def convert_to_tensor(value: Any, dtype: Any, hint: Any) -> Any:
    """A tensor of a value, of the dtype of the hint if it can be. Throws ValueError for a tensor of
    another dtype."""
    if isinstance(value, wf.Tensor | wf.Variable):
        if dtype is not None and value.dtype != wf.dtype(dtype):
            raise _weft.ValueError(
                f"Tensor conversion requested dtype {wf.dtype(dtype).name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}: write tf.cast"
            )
        return wf.asarray(value)
    if dtype is None and hint is not None and _may_become(value, hint):
        dtype = hint
    return constant(value, dtype, None)


def _may_become(value: Any, dtype: Any) -> bool:
    return wf.dtype(dtype).is_floating or wf.dtype(dtype).is_complex or wf.asarray(value).dtype == wf.dtype(dtype)


def linspace(start: Any, stop: Any, num: Any, axis: int) -> Any:
    """So many numbers from one to another, or tensors of them along a new axis."""
    first, last = _arguments.operands("linspace", start=start, stop=stop)
    count = int(num)
    if first.ndim == last.ndim == 0 and not _is_traced(first, last):
        kind = "float64" if "float64" in (first.dtype, last.dtype) else "float32"
        return wf.linspace(first.item(), last.item(), count, dtype=kind)
    at = _arguments.axis("linspace", axis, first.ndim + 1)
    places = wf.linspace(0.0, 1.0, count, dtype=wf.divide(first, 1).dtype)
    wide = wf.reshape(places, [1] * at + [count] + [1] * (first.ndim - at))
    return wf.expand_dims(first, at) + wide * wf.expand_dims(last - first, at)


def eye(rows: int, columns: int | None, batch_shape: Any, dtype: Any) -> Any:
    """The identity matrix, or the first rows and columns of one, for each member of a batch."""
    matrix = wf.eye(rows, columns, dtype=dtype)
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
    steps = wf.arange(wf.cast(wf.reshape(count, []), "int64"), dtype="int64")
    return wf.cast(steps, kind) * delta + start


def shape_of(x: Any, dtype: Any) -> Any:
    """The sizes as a tensor."""
    tensor: Any = wf.asarray(x)
    if None not in tensor.shape:
        # No op, so that traced functions know the sizes.
        return wf.tensor(list(tensor.shape), dtype)
    return _weft.internal_sizes(tensor, dtype)


def size_of(x: Any, dtype: Any) -> Any:
    """The number of elements as a tensor."""
    tensor: Any = wf.asarray(x)
    if None not in tensor.shape:
        return wf.constant(tensor.size, dtype)
    return wf.prod(shape_of(tensor, dtype))


def ensure_shape(x: Any, shape: Any) -> Any:
    """The tensor, if it may have that shape. Throws InvalidArgumentError otherwise."""
    tensor: Any = wf.asarray(x)
    if not TensorShape(shape).is_compatible_with(list(tensor.shape)):
        raise _weft.ShapeError(
            f"ensure_shape: the shape {tuple(tensor.shape)} is not compatible with {TensorShape(shape)}"
        )
    return tensor


def broadcast_shape(a: Any, b: Any) -> TensorShape:
    """The shape that two shapes broadcast to. Throws ValueError if they do not."""
    one, other = list(TensorShape(a)), list(TensorShape(b))
    rank = max(len(one), len(other))
    pairs = zip([1] * (rank - len(one)) + one, [1] * (rank - len(other)) + other, strict=True)
    sizes: list[int | None] = []
    for m, n in pairs:
        if m is not None and n is not None and m != n and 1 not in (m, n):
            raise _weft.ShapeError(
                f"the shapes {TensorShape(a)} and {TensorShape(b)} do not broadcast"
            )
        sizes.append(n if m == 1 else m if n == 1 else n if m is None else m)
    return TensorShape(sizes)


def resize(images: Any, size: Any, method: Any) -> Any:
    """Pictures, or one, of that height and width."""
    tensor: Any = wf.asarray(images)
    if tensor.ndim == 3:
        return wf.resize_image(tensor[None], size, method)[0]
    return wf.resize_image(tensor, size, method)


def root(squares: Any) -> Any:
    """The square root of sums of squares, with a gradient of 0 where they are 0."""
    none = wf.equal(squares, 0)
    return wf.select(none, squares, wf.sqrt(wf.select(none, 1, squares)))


def unstack(x: Any, num: int | None, axis: int) -> list[Any]:
    """The slices along an axis, of which there are `num` if its size is not known."""
    if num is None:
        return list(wf.unstack(x, axis))
    tensor: Any = _arguments.tensor("unstack", x, "value")
    at = _arguments.axis("unstack", axis, tensor.ndim)
    count = _arguments.integer("unstack: num", num)
    return [tensor[(*(slice(None),) * at, i)] for i in range(count)]


def split(x: Any, parts: Any, axis: int) -> list[Any]:
    """So many parts of one size, or parts of the sizes of a list, of which one may be -1."""
    sizes = _arguments.integers("split: num_or_size_splits", parts)
    if not _arguments.is_iterable(parts):
        return wf.split(x, sizes[0], axis)
    tensor: Any = _arguments.tensor("split", x, "value")
    whole = tensor.shape[_arguments.axis("split", axis, tensor.ndim)]
    if -1 in sizes and whole is not None:
        sizes[sizes.index(-1)] = whole - sum(sizes) - 1
    if sum(sizes) != whole:
        raise _weft.ShapeError(f"split: the sizes {sizes} do not add up to {whole}")
    return wf.split(tensor, list(accumulate(sizes))[:-1], axis)


# Arithmetic.


def divide_no_nan(x: Any, y: Any) -> Any:
    """x / y, and 0 where y is 0."""
    none = wf.equal(y, 0)
    return wf.select(none, 0.0, wf.divide(x, wf.select(none, 1, y)))


def add_n(inputs: Any) -> Any:
    """The sum of tensors of one shape."""
    tensors = [inputs] if isinstance(inputs, wf.Tensor | wf.Variable) else list(inputs)
    total, *others = _arguments.tensors("add_n", tensors, "inputs")
    for x in others:
        total = total + x
    return total


def norm(x: Any, order: Any, axis: Any, keepdims: bool) -> Any:
    """The norm of vectors, or over two axes of matrices; without axes that of all elements as one."""
    kind = None if isinstance(order, str) and order in ("euclidean", "fro") else order
    if axis is not None:
        return wf.norm(x, kind, axis, keepdims=keepdims)
    tensor = _arguments.tensor("norm", x, "tensor")
    length = wf.norm(wf.reshape(tensor, -1), kind, 0)
    return wf.reshape(length, [1] * tensor.ndim) if keepdims else length


def euclidean_norm(x: Any, axis: Any, keepdims: bool) -> Any:
    """The root of the sum of squares over any axes."""
    return root(wf.sum(wf.square(x), axis, keepdims=keepdims))


def clip_by_norm(x: Any, most: Any, axes: Any) -> Any:
    """The tensor, made shorter if its norm is greater."""
    length = euclidean_norm(x, axes, True)
    return wf.multiply(x, wf.divide(most, wf.maximum(length, most)))


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
    return wf.matmul(a, wf.expand_dims(b, -1), transpose_lhs=transpose)[..., 0]


def truncate_divide(x: Any, y: Any) -> Any:
    """The quotient of integers, rounded to zero."""
    return (wf.abs(x) // wf.abs(y)) * (wf.sign(x) * wf.sign(y))


def polynomial(coefficients: Any, x: Any) -> Any:
    """The value of a polynomial, of which the coefficient of the highest power is the first."""
    total: Any = wf.zeros_like(x)
    for each in coefficients:
        total = total * x + each
    return total


def steps_up(x: Any, compare: Any) -> Any:
    """Whether each element and the next one compare so."""
    flat: Any = wf.reshape(x, -1)
    return wf.all(compare(flat[:-1], flat[1:]))


def l2_normalize(x: Any, axis: Any, epsilon: float) -> Any:
    """x / sqrt(max(sum(x²), epsilon))."""
    squares = wf.sum(wf.square(x), axis, keepdims=True)
    return wf.asarray(x) * wf.rsqrt(wf.maximum(squares, epsilon))


def confusion_matrix(labels: Any, predictions: Any, classes: Any, weights: Any, dtype: Any) -> Any:
    """How often samples of each class, by rows, were taken for each one, by columns."""
    rows, columns = wf.reshape(labels, -1), wf.reshape(predictions, -1)
    if classes is None:
        if _is_traced(rows, columns):
            raise _weft.ValueError("confusion_matrix: in a traced function give num_classes")
        classes = int(max(rows.numpy().max(), columns.numpy().max())) + 1
    kind = dtype if weights is None else wf.asarray(weights).dtype
    counts = wf.ones_like(rows, kind) if weights is None else wf.reshape(weights, -1)
    cells = wf.scatter_add(wf.zeros([classes * classes], kind), rows * classes + columns, counts)
    return wf.cast(wf.reshape(cells, [classes, classes]), dtype)


# Structures.


def flatten(structure: Any) -> list[Any]:
    """The leaves of lists, tuples and dicts, these in the order of their keys."""
    if is_dict(structure):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if is_listed(structure):
        return [leaf for item in structure for leaf in flatten(item)]
    return [structure]


def map_structure(function: Callable[..., Any], structures: Sequence[Any]) -> Any:
    """The same structure with what a function gives for the leaves of all."""
    first = structures[0]
    if is_dict(first):
        return type(first)(
            (key, map_structure(function, [s[key] for s in structures])) for key in first
        )
    if is_listed(first):
        made = [map_structure(function, items) for items in zip(*structures, strict=True)]
        return first._make(made) if hasattr(first, "_make") else type(first)(made)
    return function(*structures)


def pack_as(structure: Any, leaves: Sequence[Any]) -> Any:
    """The structure with other leaves, in the order of `flatten`."""
    places = flatten(structure)
    if len(places) != len(leaves):
        raise _weft.ValueError(
            f"pack_sequence_as: the structure has {len(places)} leaves, and there are {len(leaves)}"
        )
    given = iter(leaves)

    def filled(part: Any) -> Any:
        if is_dict(part):
            values = {key: filled(part[key]) for key in sorted(part)}
            return type(part)((key, values[key]) for key in part)
        if is_listed(part):
            made = [filled(item) for item in part]
            return part._make(made) if hasattr(part, "_make") else type(part)(made)
        return next(given)

    return filled(structure)


def assert_same_structure(a: Any, b: Any) -> None:
    """Throws ValueError, or TypeError for containers of different types, unless two structures are
    the same but for their leaves."""
    if not is_dict(a) and not is_listed(a) and not is_dict(b) and not is_listed(b):
        return
    if type(a) is not type(b):
        raise TypeError(
            f"the structures are not the same: a {type(a).__name__} and a {type(b).__name__}"
        )
    keys: Any = (sorted(a), sorted(b)) if is_dict(a) else (range(len(a)), range(len(b)))
    if list(keys[0]) != list(keys[1]):
        raise _weft.ValueError(f"the structures are not the same: {a!r} and {b!r}")
    for key in keys[0]:
        assert_same_structure(a[key], b[key])
