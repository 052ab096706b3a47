"""Sums of products, with NumPy's names and arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft import _weft

from . import _arguments
from ._weft import ravel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weft._weft import Tensor, TensorLike

__all__ = ["dot", "einsum", "inner", "tensordot", "vdot"]



# Products.


@_arguments.as_numpy
def dot(a: TensorLike, b: TensorLike) -> Tensor:
    """The sum of products over the last axis of a and the last but one of b, or its only one; of a
    scalar the product.

    >>> wf.dot([1, 2, 3], [4, 5, 6])
    tensor(32, shape=(), dtype=int32)

    Raises:
        ShapeError: if the axes are of different sizes
        DTypeError: if both are of bools
    """
    x, y = _arguments.operands("dot", a=a, b=b)
    if x.ndim == 0 or y.ndim == 0:
        return _weft.multiply(x, y)
    if x.ndim <= 2 and y.ndim <= 2:
        return _weft.matmul(x, y)
    return _tensordot("dot", x, y, [x.ndim - 1], [max(y.ndim - 2, 0)])


@_arguments.as_numpy
def inner(a: TensorLike, b: TensorLike) -> Tensor:
    """The sum of products over the last axes of both; of a scalar the product.

    >>> wf.inner([[1, 2], [3, 4]], [5, 6])
    tensor([17, 39], shape=(2,), dtype=int32)

    Raises:
        ShapeError: if the axes are of different sizes
        DTypeError: if both are of bools
    """
    x, y = _arguments.operands("inner", a=a, b=b)
    if x.ndim == 0 or y.ndim == 0:
        return _weft.multiply(x, y)
    return _tensordot("inner", x, y, [x.ndim - 1], [y.ndim - 1])


@_arguments.as_numpy
def vdot(a: TensorLike, b: TensorLike) -> Tensor:
    """The sum of products of all elements, both in a row.

    >>> wf.vdot([[1, 2], [3, 4]], [[1, 0], [0, 1]])
    tensor(5, shape=(), dtype=int32)

    Raises:
        ShapeError: if there are not as many elements in both
        DTypeError: if both are of bools
    """
    x, y = _arguments.operands("vdot", a=a, b=b)
    return _tensordot("vdot", ravel(x), ravel(y), [0], [0])


@_arguments.as_numpy
def tensordot(a: TensorLike, b: TensorLike, axes: int | Sequence[Any] = 2) -> Tensor:
    """The sum of products over axes of a and b: so many of the last and first, or those of two lists.

    >>> wf.tensordot([[1, 2], [3, 4]], [[1, 0], [0, 1]])
    tensor(5, shape=(), dtype=int32)
    >>> wf.tensordot([[1, 2], [3, 4]], [5, 6], axes=([0], [0]))
    tensor([23, 34], shape=(2,), dtype=int32)

    Raises:
        ShapeError: if axes are of different sizes
        OutOfRangeError: if a tensor has no such axis
        ValueError: if the lists are not of one length, or a tensor has not as many axes
    """
    x, y = _arguments.operands("tensordot", a=a, b=b)
    if not isinstance(axes, int) and _arguments.is_iterable(axes):
        pair = list(axes)
        if len(pair) != 2:
            raise _weft.ValueError(f"tensordot: axes has {len(pair)} entries: a number or two lists are wanted")
        ours = _arguments.axes("tensordot", pair[0], x.ndim, "axes")
        theirs = _arguments.axes("tensordot", pair[1], y.ndim, "axes")
        if len(ours) != len(theirs):
            raise _weft.ValueError(f"tensordot: axes has {len(ours)} axes of a and {len(theirs)} of b")
        return _tensordot("tensordot", x, y, ours, theirs)
    count = _arguments.integer("tensordot: axes", axes)
    if not 0 <= count <= min(x.ndim, y.ndim):
        raise _weft.ValueError(
            f"tensordot: axes is {count}: a has {x.ndim} axes and b {y.ndim}"
        )
    return _tensordot("tensordot", x, y, list(range(x.ndim - count, x.ndim)), list(range(count)))


def _tensordot(name: str, x: Any, y: Any, ours: list[int], theirs: list[int]) -> Any:
    for i, j in zip(ours, theirs, strict=True):
        if None not in (x.shape[i], y.shape[j]) and x.shape[i] != y.shape[j]:
            raise _weft.ShapeError(
                f"{name}: axis {i} of a is of size {x.shape[i]} and axis {j} of b of {y.shape[j]}"
            )
    # Letters for the axes of a and, of b, those that are summed and then the others.
    letters = [chr(0x100 + i) for i in range(x.ndim + y.ndim)]
    first, second = letters[: x.ndim], letters[x.ndim :]
    for i, j in zip(ours, theirs, strict=True):
        second[j] = first[i]
    kept = [c for i, c in enumerate(first) if i not in ours]
    kept += [c for j, c in enumerate(second) if j not in theirs]
    axes, made = _product(name, "".join(first), x, "".join(second), y, set(kept))
    return _weft.transpose(made, [axes.index(c) for c in kept]) if list(axes) != kept else made


@_arguments.as_numpy
def einsum(equation: str, *xs: TensorLike) -> Tensor:
    """Products of tensors, whose axes have letters, summed over those that are not in the result:
    'bij,bjk->bik'. An ellipsis stands for axes in front that all have; without an arrow the result
    has the letters that come once, sorted.

    >>> wf.einsum("ij,jk->ik", [[1, 2], [3, 4]], [[1, 0], [1, 1]])
    tensor([[3, 2],
            [7, 4]], shape=(2, 2), dtype=int32)

    Raises:
        ValueError: if there are not as many terms as tensors, or the result has a letter that no term has
        ShapeError: if a term does not fit its tensor, or axes of one letter are of different sizes
    """
    if not isinstance(equation, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"einsum: equation is a {type(equation).__name__}: a text is wanted")
    tensors = _arguments.operands("einsum", **{f"xs[{i}]": x for i, x in enumerate(xs)})
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(tensors):
        raise _weft.ValueError(
            f"einsum: {equation!r} has {len(terms)} terms for {len(tensors)} tensors"
        )
    more = max([x.ndim - len(t.replace("...", "")) for t, x in zip(terms, tensors, strict=True)])
    dots = "".join(chr(0x2460 + i) for i in range(max(more, 0)))
    full: list[str] = []
    for term, x in zip(terms, tensors, strict=True):
        own = x.ndim - len(term.replace("...", ""))
        full.append(term.replace("...", dots[len(dots) - own :] if own > 0 else ""))
        if len(full[-1]) != x.ndim:
            raise _weft.ShapeError(
                f"einsum: the term {term!r} does not fit a tensor of rank {x.ndim}"
            )
    if arrow:
        wanted = result.replace("...", dots)
    else:
        counted = "".join(full)
        wanted = dots + "".join(
            sorted(c for c in set(counted) - set(dots) if counted.count(c) == 1)
        )
    unknown = set(wanted) - set("".join(full))
    if unknown or len(set(wanted)) != len(wanted):
        raise _weft.ValueError(f"einsum: {equation!r} has a result of other axes than its terms")
    operands = [_distinct(term, x) for term, x in zip(full, tensors, strict=True)]
    axes, total = operands[0]
    for i, (other, x) in enumerate(operands[1:], 2):
        later = set(wanted).union(*(term for term, _ in operands[i:]))
        axes, total = _product("einsum", axes, total, other, x, later)
    axes, total = _summed(axes, total, set(wanted))
    return _weft.transpose(total, [axes.index(c) for c in wanted]) if axes != wanted else total


def _distinct(term: str, x: Any) -> tuple[str, Any]:
    """Axes of one letter as one: their diagonal."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            first, last = term.index(c), term.rindex(c)
            size = x.shape[first]
            if size is None or x.shape[last] != size:
                raise _weft.ShapeError(f"einsum: the axes {c!r} of {term!r} are not of one size")
            unit = [size if i in (first, last) else 1 for i in range(x.ndim)]
            held = _weft.reshape(_weft.eye(size, "bool"), unit)
            x = _weft.sum(_weft.select(held, x, _weft.cast(0, x.dtype)), last)
            term = term[:last] + term[last + 1 :]
    return term, x


def _product(name: str, a: str, x: Any, b: str, y: Any, later: set[str]) -> tuple[str, Any]:
    """The product of two, summed over the axes that nothing behind them wants."""
    a, x = _summed(a, x, later.union(b))
    b, y = _summed(b, y, later.union(a))
    sizes: dict[str, Any] = dict(zip(a, x.shape, strict=True))
    for c, n in zip(b, y.shape, strict=True):
        if None not in (n, sizes.get(c)) and sizes.get(c, n) != n:
            raise _weft.ShapeError(f"{name}: the axis {c!r} is of size {sizes[c]} and of {n}")
        sizes[c] = sizes.get(c) if n is None else n
    batch = [c for c in a if c in b and c in later]
    inner = [c for c in a if c in b and c not in later]
    rows, columns = [c for c in a if c not in b], [c for c in b if c not in a]

    def flat(term: str, tensor: Any, *groups: list[str]) -> Any:
        order = [term.index(c) for c in (*batch, *(c for group in groups for c in group))]
        counts = [_count(sizes, group) for group in groups]
        moved = _weft.transpose(tensor, order) if order != sorted(order) else tensor
        return _weft.reshape(moved, [*_sizes(sizes, batch), *counts])

    kept = [*batch, *rows, *columns]
    if not batch and len(inner) == 1 and len(columns) == 1 and [sizes[c] for c in rows].count(None) > 1:
        # A matrix of all rows has a size that no reshape says: the rows stay a batch.
        left = _weft.transpose(x, [a.index(c) for c in (*rows, *inner)])
        right = _weft.transpose(y, [b.index(c) for c in (*inner, *columns)])
        return "".join(kept), _weft.matmul(left, right)
    for groups in ((rows, inner), (inner, columns), (rows, columns)):
        _check_known(name, sizes, [*([c] for c in batch), *groups])
    made = _weft.matmul(flat(a, x, rows, inner), flat(b, y, inner, columns))
    return "".join(kept), _weft.reshape(made, _sizes(sizes, kept))


def _summed(term: str, x: Any, wanted: set[str]) -> tuple[str, Any]:
    """Without the axes that nobody wants."""
    alone = [i for i, c in enumerate(term) if c not in wanted]
    kept = "".join(c for c in term if c in wanted)
    return kept, _weft.sum(x, alone) if alone else x


def _check_known(name: str, sizes: dict[str, Any], groups: list[list[str]]) -> None:
    """Throws ShapeError unless groups of axes become one each, and axes again, whatever the sizes are
    that are not known yet: the last such group follows from the rest, those before it are one axis."""
    unknown = [group for group in groups if any(sizes[c] is None for c in group)]
    for group in unknown:
        alone = len(group) == 1 or (group is unknown[-1] and [sizes[c] for c in group].count(None) == 1)
        if not alone:
            raise _weft.ShapeError(
                f"{name}: more than one axis is of a size that is not known yet, and axes beside each other "
                "would become one"
            )


def _sizes(sizes: dict[str, Any], group: list[str]) -> list[int]:
    """The sizes of axes; -1 for one that is not known yet."""
    return [-1 if sizes[c] is None else sizes[c] for c in group]


def _count(sizes: dict[str, Any], group: list[str]) -> int:
    count = 1
    for n in _sizes(sizes, group):
        count = -1 if -1 in (n, count) else count * n
    return count
