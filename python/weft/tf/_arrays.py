"""`tf.TensorArray` without a shape of its elements: the first one that is written says it."""

from __future__ import annotations

from typing import Any, NoReturn

import weft as wf
from weft import _weft

from . import _forms


def array(dtype: Any, size: Any, dynamic: Any, element_shape: Any) -> Any:
    """An array of elements of that shape, or of that of the first element."""
    count: Any = 0 if size is None else size
    if element_shape is None:
        return Unshaped(wf.dtype(dtype), count, bool(dynamic))
    return wf.TensorArray(dtype, count, bool(dynamic), element_shape)


class Unshaped:
    """An array into which nothing is written yet. What writes gives a `tf.TensorArray`."""

    def __init__(self, dtype: Any, size: Any, dynamic: bool) -> None:
        self.dtype = dtype
        self._size, self._dynamic = size, dynamic

    element_shape = _forms.TensorShape(None)

    def _of(self, shape: Any) -> Any:
        return wf.TensorArray(self.dtype, self._size, self._dynamic, tuple(shape))

    def _weft_stands_for(self, like: Any) -> Any:
        """An array of the elements that another control path writes."""
        return self._of(like.element_shape) if isinstance(like, wf.TensorArray) else None

    def write(self, index: Any, value: Any, name: str | None = None) -> Any:
        """The array with a value at that place."""
        element = _weft.asarray(value)
        return self._of(element.shape).write(index, value)

    def unstack(self, value: Any, name: str | None = None) -> Any:
        """The array with the slices of a tensor along its first axis as elements."""
        tensor: Any = _weft.asarray(value)
        return self._of(tensor.shape[1:]).unstack(tensor)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> Any:
        """The array with the slices of a tensor as elements of these numbers."""
        tensor: Any = _weft.asarray(value)
        return self._of(tensor.shape[1:]).scatter(indices, tensor)

    def size(self, name: str | None = None) -> Any:
        """How many elements there are, as an int64 scalar."""
        return wf.cast(self._size, "int64")

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Throws ValueError: of which shape elements are is not known."""
        raise _weft.ValueError(
            "TensorArray: nothing is written yet, so that the shape of elements is not known: give "
            "element_shape"
        )

    read = stack = concat = gather = _refuse
