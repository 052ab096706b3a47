"""`tf.data.Dataset`: the data sets of weft with TensorFlow's parameters."""

# pyright: reportIncompatibleMethodOverride=false, reportPrivateUsage=false

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import weft as wf
from weft import _weft

from . import _more

__all__ = ["AUTOTUNE", "Dataset"]

AUTOTUNE = -1
_WORKERS = 2
_MOST = 1 << 62


def _workers(parallel: Any) -> int:
    """How many threads call a function: what was asked for, or a few."""
    if parallel is None:
        return 0
    return _WORKERS if int(parallel) == AUTOTUNE else int(parallel)


class Dataset(wf.data.Dataset[Any]):
    """A sequence of elements, which are tensors or structures of them.

        dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1000).batch(32)

    It is a `wf.data.Dataset`, with all its methods.
    """

    @classmethod
    def _of_other(cls, made: wf.data.Dataset[Any]) -> Self:
        of: Any = cls._of(made._pipeline, made._held)
        return of

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Self:
        """The slices of tensors along their first axis."""
        return cls._of_other(wf.data.from_tensor_slices(tensors))

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Self:
        """One element, the tensors as they are."""
        return cls._of_other(wf.data.from_element(tensors))

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Self:
        """What an iterable gives that `generator(*args)` makes anew for each epoch. Types are those
        of the elements."""
        return cls._of_other(wf.data.from_generator(generator, *(args or ())))

    @classmethod
    def range(cls, *args: int, output_type: Any = "int64", name: str | None = None) -> Self:
        """The numbers of Python's `range`."""
        made = cls._of_other(wf.data.range(*args))
        kind = wf.dtype(output_type)

        def cast(x: wf.Tensor) -> wf.Tensor:
            return wf.cast(x, kind)

        return made if kind == "int64" else made.map(cast)

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Self:
        """Tuples of one element of each data set."""
        listed: Any = args or (datasets,)
        if len(listed) == 1 and type(listed[0]) in (list, tuple):
            listed = listed[0]
        return cls._of_other(wf.data.zip(*listed))

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """What a function gives for each element; the parts of a tuple are its arguments."""
        return self._of_other(super().map(map_func, workers=_workers(num_parallel_calls)))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements of which a function is true."""
        return self._of_other(super().filter(predicate))

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """So many elements at a time, fewer at the end unless the remainder is dropped."""
        return self._of_other(super().batch(int(batch_size), drop_remainder))

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: float | None = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:
        """The same with tensors filled up to the largest size of each axis of the batch."""
        if padded_shapes is not None:
            raise _weft.ValueError(
                "padded_batch: padded_shapes is not there: a batch is as large as its largest element"
            )
        padding = 0.0 if padding_values is None else padding_values
        return self._of_other(super().batch(int(batch_size), drop_remainder, padding=padding))

    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Self:
        """A random order, by a buffer of so many elements."""
        again = reshuffle_each_iteration is not False
        return self._of_other(super().shuffle(int(buffer_size), seed, reshuffle=again))

    def repeat(self, count: int | None = None, name: str | None = None) -> Self:
        """Several epochs as one; without end for None and -1."""
        return self._of_other(super().repeat(None if count == -1 else count))

    def take(self, count: Any, name: str | None = None) -> Self:
        """The first elements; all for -1."""
        return self if int(count) == -1 else self._of_other(super().take(int(count)))

    def skip(self, count: Any, name: str | None = None) -> Self:
        """All but the first elements."""
        return self._of_other(super().skip(int(count)))

    def enumerate(self, start: int = 0, name: str | None = None) -> Self:
        """Each element with its number."""
        return self._of_other(wf.data.zip(wf.data.range(start, _MOST), self))

    def concatenate(self, dataset: Any, name: str | None = None) -> Self:
        """The elements of this and then of another."""
        return self._of_other(super().concatenate(dataset))

    def interleave(
        self,
        map_func: Callable[..., Iterable[Any]],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """The elements of the data sets that a function opens, which take turns."""
        cycle = 4 if cycle_length in (None, AUTOTUNE) else cycle_length
        return self._of_other(super().interleave(map_func, cycle=cycle, block=block_length or 1))

    def cache(self, filename: str = "", name: str | None = None) -> Self:
        """Keeps the elements in memory once they are made."""
        if filename:
            raise _weft.ValueError("cache: the elements are kept in memory, not in files")
        return self._of_other(super().cache())

    def prefetch(self, buffer_size: Any = AUTOTUNE, name: str | None = None) -> Self:
        """Makes elements ahead while the loop is at work on others."""
        count = int(buffer_size)
        return self._of_other(super().prefetch(2 if count == AUTOTUNE else count))

    def apply(self, transformation_func: Callable[[Self], Any]) -> Any:
        """What a function gives for the data set."""
        return transformation_func(self)

    def cardinality(self) -> Any:
        """How many elements there are, as an int64 scalar; -2 if that is not known."""
        return wf.constant(-2 if self.size is None else self.size, "int64")

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements as arrays of NumPy."""
        return builtins.map(lambda element: _more.map_structure(_as_array, [element]), self)

    def __repr__(self) -> str:
        return f"<_Dataset element_spec={self.element_spec!r}>"


def _as_array(x: Any) -> Any:
    return x.numpy() if isinstance(x, wf.Tensor) else x
