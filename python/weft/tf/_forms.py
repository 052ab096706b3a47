"""How TensorFlow prints tensors, variables and shapes; the elements are NumPy's text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, SupportsIndex, cast, overload

from weft import _weft
from weft._arguments import options

__all__ = ["Reference", "TensorShape", "tensor_repr", "tensor_str", "variable_repr"]

_Sizes = tuple[int | None, ...]


def _size_of(n: Any) -> int | None:
    """A size of an axis. Throws TypeError for what is no number, ValueError for one below 0."""
    if n is None:
        return None
    if not hasattr(n, "__index__"):
        raise TypeError(
            f"TensorShape: {n!r} is no size: a shape is one number, or a list of numbers and None"
        )
    size = int(n)
    if size < 0:
        raise _weft.ValueError(f"TensorShape: Dimension {size} must be >= 0")
    return size


class TensorShape(_Sizes):
    """The sizes of a tensor's axes: a tuple, of which None is a size that is not known, and
    `TensorShape(None)` a shape whose rank is not known either."""

    __slots__ = ()

    @options
    def __new__(cls, dims: Any = None) -> TensorShape:
        if dims is None:
            return _UNKNOWN
        return cls._made((dims,) if isinstance(dims, int) else dims)

    @classmethod
    def _made(cls, sizes: Iterable[Any]) -> Self:
        return super().__new__(cls, [_size_of(n) for n in sizes])

    @property
    def rank(self) -> int | None:
        """The number of axes, or None."""
        return len(self)

    @property
    def ndims(self) -> int | None:
        """As `rank`."""
        return self.rank

    @property
    def dims(self) -> list[int | None] | None:
        """The sizes, or None."""
        return list(self)

    def as_list(self) -> list[int | None]:
        """The sizes as a list. Throws ValueError if the rank is not known."""
        return list(self)

    def num_elements(self) -> int | None:
        """The product of the sizes, or None."""
        count = 1
        for n in self:
            if n is None:
                return None
            count *= n
        return count

    def is_fully_defined(self) -> bool:
        """Whether all sizes are known."""
        return None not in self

    def is_compatible_with(self, other: Any) -> bool:
        """Whether a tensor may have both shapes."""
        that = TensorShape(other)
        if that is _UNKNOWN:
            return True
        pairs = zip(self, that, strict=False)
        return len(self) == len(that) and all(a == b or a is None or b is None for a, b in pairs)

    def assert_is_compatible_with(self, other: Any) -> None:
        """Throws ValueError unless a tensor may have both shapes."""
        if not self.is_compatible_with(other):
            raise _weft.ShapeError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def merge_with(self, other: Any) -> TensorShape:
        """What both shapes know. Throws ValueError if they contradict each other."""
        self.assert_is_compatible_with(other)
        that = TensorShape(other)
        if that is _UNKNOWN:
            return self
        return TensorShape(b if a is None else a for a, b in zip(self, that, strict=True))

    def concatenate(self, other: Any) -> TensorShape:
        """These sizes, and those behind them."""
        that = TensorShape(other)
        return that if that is _UNKNOWN else TensorShape((*self, *that))

    def with_rank(self, rank: int) -> TensorShape:
        """The shape, if it has that rank. Throws ValueError otherwise."""
        return self.merge_with([None] * rank)

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """The shape, if it has so many axes or more. Throws ValueError otherwise."""
        if self.rank is not None and self.rank < rank:
            raise _weft.ShapeError(f"Shape {self} must have rank at least {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Throws ValueError unless the shape may have that rank."""
        if self.rank not in (None, rank):
            raise _weft.ShapeError(f"Shape {self} must have rank {rank}")

    def most_specific_compatible_shape(self, other: Any) -> TensorShape:
        """The sizes that two shapes have in common; the others are not known."""
        that = TensorShape(other)
        if self.rank is None or self.rank != that.rank:
            return _UNKNOWN
        return TensorShape(a if a == b else None for a, b in zip(self, that, strict=True))

    def __bool__(self) -> bool:
        """Whether the rank is known: a scalar's shape is true as well."""
        return self.rank is not None

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    @overload
    def __getitem__(self, key: SupportsIndex, /) -> int | None: ...
    @overload
    def __getitem__(self, key: slice, /) -> TensorShape: ...
    def __getitem__(self, key: SupportsIndex | slice, /) -> Any:
        if isinstance(key, slice):
            return TensorShape(super().__getitem__(key))
        return super().__getitem__(key)

    def __eq__(self, other: object) -> bool:
        if other is _UNKNOWN or other is None:
            return False
        if isinstance(other, list):
            return super().__eq__(tuple(cast("list[Any]", other)))
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

    def __reduce__(self) -> Any:
        return TensorShape, (tuple(self),)

    def __repr__(self) -> str:
        return f"TensorShape({list(self)})"

    def __str__(self) -> str:
        return super().__repr__()


class _UnknownShape(TensorShape):
    """The shape whose rank is not known."""

    __slots__ = ()

    @property
    def rank(self) -> int | None:
        return None

    @property
    def dims(self) -> list[int | None] | None:
        return None

    def as_list(self) -> list[int | None]:
        raise _weft.ValueError("as_list() is not defined on an unknown TensorShape.")

    def __len__(self) -> int:
        raise _weft.ValueError("Cannot take the length of shape with unknown rank.")

    def num_elements(self) -> int | None:
        return None

    def is_fully_defined(self) -> bool:
        return False

    def is_compatible_with(self, other: Any) -> bool:
        return True

    def merge_with(self, other: Any) -> TensorShape:
        return TensorShape(other)

    def concatenate(self, other: Any) -> TensorShape:
        return self

    def __eq__(self, other: object) -> bool:
        return other is self or other is None

    def __hash__(self) -> int:
        return hash(None)

    def __reduce__(self) -> Any:
        return TensorShape, (None,)

    def __repr__(self) -> str:
        return "TensorShape(None)"

    def __str__(self) -> str:
        return "<unknown>"


_UNKNOWN = _UnknownShape._made(())  # pyright: ignore[reportPrivateUsage]


class Reference:
    """What `tensor.ref()` gives: it can be hashed, and is equal to another of the same object."""

    __slots__ = ("_object",)

    def __init__(self, of: Any) -> None:
        self._object = of

    def deref(self) -> Any:
        """The tensor or variable."""
        return self._object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._object is self._object

    def __hash__(self) -> int:
        return id(self._object)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._object!r}>"


def _apart(text: str) -> str:
    """A text of several lines begins on a line of its own."""
    return "\n" + text if "\n" in text else text


def _array(x: Any) -> Any:
    """The elements of a tensor or variable, which derivatives do not follow where they are shown."""
    return _weft.stop_gradient(x).numpy()


def _elements(x: Any) -> str:
    """What stands behind `numpy=`."""
    array = _array(x)
    return str(array[()]) if array.ndim == 0 else _apart(repr(array))


def _is_traced(x: Any) -> bool:
    return _weft.internal_is_traced(x)


def tensor_str(x: Any) -> str:
    """`tf.Tensor(2.0, shape=(), dtype=float32)`, or `Tensor("x:0", shape=(), dtype=float32)`."""
    dtype, shape = _weft.internal_type_of(x)
    type_text = f"shape={_text_of(shape)}, dtype={dtype})"
    if _is_traced(x):
        return f'Tensor("{_weft.internal_traced_name(x)}", {type_text}'
    return f"tf.Tensor({_apart(str(_array(x)))}, {type_text}"


def tensor_repr(x: Any) -> str:
    """`<tf.Tensor: shape=(), dtype=float32, numpy=2.0>`, or one with the name of a symbol."""
    dtype, shape = _weft.internal_type_of(x)
    if _is_traced(x):
        name = _weft.internal_traced_name(x)
        return f"<tf.Tensor '{name}' shape={_text_of(shape)} dtype={dtype}>"
    return f"<tf.Tensor: shape={_text_of(shape)}, dtype={dtype}, numpy={_elements(x)}>"


def variable_repr(v: Any) -> str:
    """`<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.0>`."""
    start = f"<tf.Variable '{v.name}' shape={_text_of(v.shape)} dtype={v.dtype.name}"
    if _weft.internal_is_tracing():
        return start + ">"
    return f"{start}, numpy={_elements(v)}>"


def _text_of(shape: Iterable[int | None]) -> str:
    return str(tuple(shape))
