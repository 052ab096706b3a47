"""Ops that pick, place and move elements, under TensorFlow's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import weft as wf
from weft import _arguments, _weft
from weft._trees import is_listed



def values_of(function: str, *tensors: Any) -> Any:
    """The elements of a tensor, or of several, as arrays: they say how large the result is. Throws
    ValueError while a function is traced."""
    if any(_weft.internal_is_traced(x) for x in tensors):
        raise _weft.ValueError(
            f"{function}: how large the result is depends on values, which a traced function does not "
            "have: call it outside of the function, or write where(condition, x, y)"
        )
    arrays = [x.numpy() for x in tensors]
    return arrays[0] if len(arrays) == 1 else arrays


def sizes_as_values(x: Any) -> list[Any]:
    """The sizes of a tensor, as tensors where they are not known yet."""
    return [_weft.size(x, i) if n is None else n for i, n in enumerate(x.shape)]


def sizes_of(shape: Any) -> Any:
    """Sizes that are given as numbers or as tensors. Throws DTypeError for those that are not known
    while a function is traced."""
    if isinstance(shape, wf.Tensor | wf.Variable):
        if not _weft.internal_is_traced(shape):
            return shape.numpy().tolist()
    elif not is_listed(shape) or not any(_weft.internal_is_traced(n) for n in shape):
        return shape
    raise _weft.DTypeError(
        "a size is a tensor of a traced function, and sizes are numbers: write x.shape[i] in place "
        "of tf.shape(x)[i]"
    )


def sizes(shape: Any) -> Any:
    """The same, and as they are if a traced function computes some."""
    listed = is_listed(shape)
    if _weft.internal_is_traced(shape) or listed and any(map(_weft.internal_is_traced, shape)):
        return shape
    return sizes_of(shape)


def pad(x: Any, paddings: Any, mode: str, value: Any) -> Any:
    """With so many values in front and behind along each axis: one value, or, 'REFLECT' and
    'SYMMETRIC', those of the tensor as in a mirror, without and with the ones at the edge."""
    kind = mode.upper()
    if kind not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise _weft.ValueError(
            f"pad: the mode is {mode!r}: it is 'CONSTANT', 'REFLECT' or 'SYMMETRIC'"
        )
    tensor: Any = wf.asarray(x)
    pairs = [(int(low), int(high)) for low, high in sizes_of(paddings)]
    if kind == "CONSTANT":
        low, high = [p[0] for p in pairs], [p[1] for p in pairs]
        fill = wf.cast(value, tensor.dtype)
        return wf.pad_interior(tensor, fill, low, high, [0] * len(pairs))
    inner = 1 if kind == "REFLECT" else 0
    for axis, (low, high) in enumerate(pairs):
        size = tensor.shape[axis]
        if max(low, high) > size - inner:
            raise _weft.ValueError(
                f"pad: paddings of {max(low, high)} along axis {axis} are too many for {mode} of "
                f"{size} elements"
            )
    return wf.pad(tensor, pairs, kind.lower())


def slice_of(x: Any, begin: Any, size: Any) -> Any:
    """The part of that size at a place; a size of -1 is all that is left."""
    starts, counts = sizes_of(begin), sizes_of(size)
    ends = [None if n == -1 else int(b) + int(n) for b, n in zip(starts, counts, strict=True)]
    return wf.asarray(x)[tuple(slice(int(b), e) for b, e in zip(starts, ends, strict=True))]


def gather(x: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
    """The slices of these numbers along an axis; of each member of a batch its own, where the first
    axes of both are one."""
    tensor, places = wf.asarray(x), wf.asarray(indices)
    batch = _arguments.axis("gather", batch_dims, places.ndim + 1, "batch_dims")
    at = batch if axis is None else _arguments.axis("gather", axis, tensor.ndim)
    if batch == 0:
        return wf.gather(tensor, places, at)
    if at < batch:
        raise _weft.ValueError(f"gather: axis {at} is one of the {batch} axes of the batch")
    rows = 1
    for n in tensor.shape[:batch]:
        rows *= n
    flat = wf.reshape(tensor, [rows, *tensor.shape[batch:]])
    chosen = wf.reshape(places, [rows, *places.shape[batch:]])

    def one(members: Any, wanted: Any) -> Any:
        return wf.gather(members, wanted, at - batch)

    picked = wf.vmap(one)(flat, chosen)
    return wf.reshape(picked, [*tensor.shape[:batch], *picked.shape[1:]])


def _places(name: str, indices: Any, shape: Sequence[Any]) -> tuple[Any, int]:
    """The numbers of slices that vectors of indices lead to, and how many axes those go through."""
    vectors: Any = wf.asarray(indices)
    depth = vectors.shape[-1]
    if depth is None or depth > len(shape) or None in shape[:depth]:
        raise _weft.ShapeError(
            f"{name}: vectors of {depth} indices do not lead into a tensor of shape {tuple(shape)}"
        )
    at: Any = wf.zeros(vectors.shape[:-1], vectors.dtype)
    for i, n in enumerate(shape[:depth]):
        # What is out of range of its own axis would be in range of another slice.
        at = at * n + wf.gather(wf.arange(n, dtype=vectors.dtype), vectors[..., i], 0)
    return at, depth


def _sliced(x: Any, depth: int) -> Any:
    """With the first axes as one."""
    tensor: Any = wf.asarray(x)
    count = 1
    for n in tensor.shape[:depth]:
        count *= n
    return wf.reshape(tensor, [count, *tensor.shape[depth:]])


def gather_nd(x: Any, indices: Any, batch_dims: int) -> Any:
    """The slices that vectors of indices lead to."""
    if batch_dims:
        raise _weft.ValueError("gather_nd: batch_dims is not there: write tf.gather")
    tensor: Any = wf.asarray(x)
    at, depth = _places("gather_nd", indices, tensor.shape)
    return wf.gather(_sliced(tensor, depth), at, 0)


def scatter_nd_add(x: Any, indices: Any, updates: Any) -> Any:
    """The tensor with updates added to the slices that vectors of indices lead to."""
    tensor: Any = wf.asarray(x)
    at, depth = _places("tensor_scatter_nd_add", indices, tensor.shape)
    rows = wf.reshape(wf.asarray(updates, tensor.dtype), [-1, *tensor.shape[depth:]])
    added = wf.scatter_add(_sliced(tensor, depth), wf.reshape(at, -1), rows)
    return wf.reshape(added, tensor.shape)


def scatter_nd_update(x: Any, indices: Any, updates: Any) -> Any:
    """The tensor with updates in the places of the slices that vectors of indices lead to: the last
    one of those that lead to the same."""
    tensor: Any = wf.asarray(x)
    if tensor.dtype.is_bool:
        return wf.cast(scatter_nd_update(wf.cast(tensor, "int32"), indices, wf.cast(updates, "int32")), "bool")
    at, depth = _places("tensor_scatter_nd_update", indices, tensor.shape)
    rows = wf.reshape(wf.asarray(updates, tensor.dtype), [-1, *tensor.shape[depth:]])
    slices, at = _sliced(tensor, depth), wf.reshape(at, -1)
    order = wf.argsort(at)  # equal ones keep their order
    at = wf.take(at, order, 0)
    is_last: Any = wf.not_equal(at, wf.concatenate([at, wf.full([1], -1, at.dtype)])[1:])
    each = [-1, *[1] * (slices.ndim - 1)]
    kept = wf.select(wf.reshape(is_last, each), wf.take(rows, order, 0), wf.zeros([], tensor.dtype))
    hits = wf.scatter_add(wf.zeros(slices.shape[:1], "int32"), at, wf.cast(is_last, "int32"))
    added = wf.scatter_add(wf.zeros_like(slices), at, kept)
    return wf.reshape(wf.select(wf.reshape(hits > 0, each), added, slices), tensor.shape)


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Zeros of that shape with updates added at the places of indices."""
    values = wf.asarray(updates)
    return scatter_nd_add(wf.zeros(sizes_of(shape), values.dtype), indices, values)


def segment_sum(x: Any, ids: Any, count: Any) -> Any:
    """The sums of the slices of each number; without a count of them, ids are sorted and end with
    the largest."""
    values, numbers = wf.asarray(x), wf.asarray(ids)
    if count is None:
        if numbers.ndim != 1:
            raise _weft.ShapeError(
                f"segment_sum: segment_ids has the shape {tuple(numbers.shape)}: a sorted vector is wanted"
            )
        count = int(values_of("segment_sum", numbers).max(initial=-1)) + 1
    rest = values.shape[numbers.ndim :]
    rows = wf.reshape(values, [-1, *rest])
    sums = wf.zeros([int(sizes_of(count)), *rest], values.dtype)
    return wf.scatter_add(sums, wf.reshape(numbers, -1), rows)


def segment_mean(x: Any, ids: Any, count: Any) -> Any:
    """The means of the slices of each number, 0 where there are none."""
    values = wf.asarray(x)
    sums = segment_sum(values, ids, count)
    counts = segment_sum(wf.ones_like(values), ids, count)
    return sums / wf.maximum(counts, 1)


# Results whose size the values say.


def where(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y; without them, the places where it holds."""
    if x is None and y is None:
        return wf.argwhere(condition)
    choose: Any = wf.where
    return choose(condition, x, y)


def boolean_mask(x: Any, mask: Any, axis: int | None) -> Any:
    """The slices where a mask holds, which is as the axes from that one on."""
    tensor, holds = wf.asarray(x), wf.asarray(mask)
    first = axis or 0
    try:
        return wf.compress(holds, tensor, first)
    except _weft.OutOfRangeError:
        raise _weft.ValueError(
            f"boolean_mask: a mask of shape {tuple(holds.shape)} does not fit axes from {first} on "
            f"of a tensor of shape {tuple(tensor.shape)}"
        ) from None


class Unique(NamedTuple):
    """What `tf.unique` gives."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """What `tf.unique_with_counts` gives."""

    y: Any
    idx: Any
    count: Any


def unique(x: Any, dtype: Any) -> Any:
    """The different elements of a vector, in the order in which they come; which of them each is;
    and how often they come."""
    vector = wf.asarray(x)
    if vector.ndim != 1:
        raise _weft.ShapeError(f"unique: a vector is wanted, not shape {tuple(vector.shape)}")
    values, first, which, counts = wf.unique(vector, True, True, True)
    order = wf.argsort(first)
    rank = wf.argsort(order)
    return UniqueWithCounts(
        wf.gather(values, order),
        wf.cast(wf.gather(rank, which), dtype),
        wf.cast(wf.gather(counts, order), dtype),
    )


def bincount(x: Any, most: Any, least: Any) -> Any:
    """How often each number from 0 on comes."""
    numbers = wf.reshape(wf.asarray(x), -1)
    if most is None:
        most = int(values_of("bincount", numbers).max(initial=-1)) + 1
    count = max(int(most), int(least or 0))
    return wf.sum(wf.cast(one_hot(numbers, count, True, False, -1, "bool"), "int32"), 0)


def sequence_mask(lengths: Any, most: Any, dtype: Any) -> Any:
    """For each length a row that begins with as many true entries."""
    counts = wf.asarray(lengths)
    if most is None:
        most = int(values_of("sequence_mask", counts).max(initial=0))
    places = wf.arange(int(sizes_of(most)), dtype=counts.dtype)
    return wf.cast(wf.less(places, wf.expand_dims(counts, -1)), dtype)


def one_hot(labels: Any, depth: Any, on: Any, off: Any, axis: int, dtype: Any) -> Any:
    """A vector for each label, on at its place and off elsewhere, of their dtype."""
    tensor = wf.asarray(labels)
    if dtype is None:
        given = [x for x in (on, off) if x is not None]
        dtype = wf.asarray(given[0]).dtype if given else "float32"
    at = _arguments.axis("one_hot", axis, tensor.ndim + 1)
    places = wf.reshape(
        wf.arange(int(sizes_of(depth)), dtype=tensor.dtype), [-1] + [1] * (tensor.ndim - at)
    )
    hits = wf.equal(wf.expand_dims(tensor, at), places)
    high, low = 1 if on is None else on, 0 if off is None else off
    return wf.select(hits, wf.cast(high, dtype), wf.cast(low, dtype))


def is_descending(direction: str) -> bool:
    """Of 'ASCENDING' and 'DESCENDING'."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise _weft.ValueError(f"sort: direction is {direction!r}: 'ASCENDING' or 'DESCENDING'")
    return direction == "DESCENDING"


# Matrices.


def diagonal(x: Any) -> Any:
    """Matrices with these diagonals."""
    tensor: Any = wf.asarray(x)
    row = wf.expand_dims(tensor, -1)
    return wf.select(wf.eye(tensor.shape[-1], dtype="bool"), row, wf.cast(0, tensor.dtype))


def band(x: Any, lower: Any, upper: Any) -> Any:
    """Matrices with zeros outside of a band: so many diagonals below and above the main one, all
    for a negative number."""
    below = _arguments.integer("band_part: num_lower", lower)
    above = _arguments.integer("band_part: num_upper", upper)
    kept = x if below < 0 else wf.triu(x, -below)
    return kept if above < 0 else wf.tril(kept, above)
