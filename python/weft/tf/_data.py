"""`tf.data.Dataset`: the data sets of weft with TensorFlow's parameters."""

# pyright: reportIncompatibleMethodOverride=false, reportPrivateUsage=false

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import weft as wf
from weft import _weft
from weft._trees import is_dict, is_listed, leaves_of

from . import _more
from ._absent import says_what_is_absent

__all__ = ["AUTOTUNE", "Dataset"]

AUTOTUNE = -1
_WORKERS = 2
_MOST = 1 << 62


def _workers(parallel: Any) -> int:
    """How many threads call a function: what was asked for, or a few."""
    if parallel is None:
        return 0
    return _WORKERS if int(parallel) == AUTOTUNE else int(parallel)


def _with_tuples(f: Any) -> Any:
    """A function of which a list of tensors, as that of a `tf.numpy_function`, is a tuple."""
    if not callable(f):
        return f  # refused by who takes it

    @functools.wraps(f)
    def call(*args: Any) -> Any:
        made: Any = f(*args)
        if is_listed(made) and made and all(isinstance(x, wf.Tensor) for x in made):
            return made if hasattr(made, "_fields") else tuple(made)
        return made

    return call


@says_what_is_absent("data.Dataset")
class Dataset(wf.data.Dataset[Any]):
    """A sequence of elements, which are tensors or structures of them.

        dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1000).batch(32)

    It is a `wf.data.Dataset`, with all its methods.
    """

    _kind = "Dataset"
    _spec: Any = None
    _endless = False

    @classmethod
    def _of_other(cls, made: wf.data.Dataset[Any], kind: str) -> Self:
        of: Any = _weft.internal_as(cls, made)
        of._kind = kind
        return of

    def _stage(self, made: Any, kind: str, same: bool = True) -> Self:
        """A stage behind this one, whose elements are of the same types or not."""
        of: Any = made if isinstance(made, Dataset) else self._of_other(made, kind)
        of._kind = kind
        of._endless = self._endless
        of._spec = self._spec if same else None
        return of

    @property
    def element_spec(self) -> Any:
        """The types of an element; how many a batch has is open unless the remainder is dropped."""
        return super().element_spec if self._spec is None else self._spec

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Any:
        """The slices of tensors along their first axis."""
        if _weft.internal_is_tracing():
            from ._traced_data import TracedSlices, holds_traced

            if holds_traced(tensors):
                return TracedSlices(tensors)
        return cls._of_other(wf.data.from_tensor_slices(tensors), "TensorSliceDataset")

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Self:
        """One element, the tensors as they are."""
        return cls._of_other(wf.data.from_element(tensors), "TensorDataset")

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
        """What an iterable gives that `generator(*args)` makes anew for each epoch, as tensors of
        the dtypes of the signature, if there is one. An element of another shape or structure than
        it says is a TypeError."""
        if output_signature is not None and (output_types is not None or output_shapes is not None):
            raise TypeError("from_generator: output_types and output_shapes go without output_signature")
        types = output_types if output_signature is None else output_signature
        if output_shapes is not None:
            if types is None:
                raise TypeError("from_generator: output_shapes need output_types")
            types = _specs_of(types, output_shapes)
        made = wf.data.from_generator(_typed, generator, types, args or ())
        if any(_is_open(spec) for spec in leaves_of(types, "from_generator")):
            made = made.with_open_sizes()
        of = cls._of_other(made, "FlatMapDataset")
        if types is not None and (output_signature is not None or output_shapes is not None):
            of._spec = types
        return of

    @classmethod
    def range(cls, *args: int, output_type: Any = "int64", name: str | None = None) -> Self:
        """The numbers of Python's `range`."""
        made = cls._of_other(wf.data.range(*args), "RangeDataset")
        kind = wf.dtype(output_type)

        def cast(x: wf.Tensor) -> wf.Tensor:
            return wf.cast(x, kind)

        return made if kind == "int64" else made.map(cast)

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Self:
        """Tuples of one element of each data set."""
        listed: Any = args or (datasets,)
        if len(listed) == 1 and type(listed[0]) in (list, tuple, dict):
            listed = listed[0]
        if isinstance(listed, wf.data.Dataset):
            listed = (listed,)
        flat: list[Any] = []
        _collect(listed, flat)
        made: Any = wf.data.zip(*flat)
        if len(flat) != len(listed) or is_dict(listed):

            def nested(*parts: Any) -> Any:
                return _structured(listed, iter(parts))

            made = made.map(nested)
        return cls._of_other(made, "ZipDataset")

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """What a function gives for each element; the parts of a tuple are its arguments."""
        made = super().map(_with_tuples(map_func), workers=_workers(num_parallel_calls))
        parallel = "" if num_parallel_calls is None else "Parallel"
        return self._stage(made, f"{parallel}MapDataset", False)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements of which a function is true."""
        made = self._stage(super().filter(predicate), "FilterDataset")
        made._endless = False
        return made

    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Self:
        """So many elements at a time, fewer at the end unless the remainder is dropped."""
        parallel = "" if num_parallel_calls is None else "Parallel"
        made = self._stage(
            super().batch(int(batch_size), drop_remainder), f"{parallel}BatchDataset", False
        )
        if not drop_remainder:
            made._spec = _more.map_structure(_of_any_size, [made.element_spec])
        return made

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
        made = super().batch(int(batch_size), drop_remainder, padding=padding)
        return self._stage(made, "PaddedBatchDataset", False)

    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Self:
        """A random order, by a buffer of so many elements."""
        if int(buffer_size) < 1:
            raise _weft.ValueError(f"shuffle: buffer_size is {int(buffer_size)}: 1 at least")
        again = reshuffle_each_iteration is not False
        return self._stage(
            super().shuffle(int(buffer_size), seed, reshuffle=again), "ShuffleDataset"
        )

    def repeat(self, count: int | None = None, name: str | None = None) -> Self:
        """Several epochs as one; without end for None and -1."""
        endless = count in (None, -1)
        made = self._stage(super().repeat(None if endless else count), "RepeatDataset")
        made._endless = made._endless or endless
        return made

    def take(self, count: Any, name: str | None = None) -> Self:
        """The first elements; all for -1."""
        if int(count) == -1:
            return self
        made = self._stage(super().take(int(count)), "TakeDataset")
        made._endless = False
        return made

    def skip(self, count: Any, name: str | None = None) -> Self:
        """All but the first elements."""
        return self._stage(super().skip(int(count)), "SkipDataset")

    def enumerate(self, start: int = 0, name: str | None = None) -> Self:
        """Each element with its number."""
        return self._of_other(wf.data.zip(wf.data.range(start, _MOST), self), "ZipDataset")

    def concatenate(self, dataset: Any, name: str | None = None) -> Self:
        """The elements of this and then of another."""
        return self._stage(super().concatenate(dataset), "ConcatenateDataset")

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
        made = super().interleave(map_func, cycle=cycle, block=block_length or 1)
        return self._of_other(made, "InterleaveDataset")

    def flat_map(self, map_func: Callable[..., Iterable[Any]], name: str | None = None) -> Self:
        """The elements of the data sets that a function opens, one data set behind the other."""
        return self._of_other(super().interleave(map_func, cycle=1, block=1), "FlatMapDataset")

    def unbatch(self, name: str | None = None) -> Self:
        """The slices of the elements along their first axis."""

        def slices(*parts: Any) -> Any:
            return wf.data.from_tensor_slices(parts[0] if len(parts) == 1 else parts)

        made = self.flat_map(slices)
        made._kind = "UnbatchDataset"
        return made

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """The elements in front of the first of which a function is not true."""
        made = wf.data.from_generator(_begin_of, self, predicate)
        return self._of_other(made, "TakeWhileDataset")

    def reduce(
        self, initial_state: Any, reduce_func: Callable[..., Any], name: str | None = None
    ) -> Any:
        """The last of the states that a function gives for the one before and an element. Throws
        StateError while a function is traced: a loop over the data set is one of the program."""
        if _weft.internal_is_tracing():
            raise _weft.StateError("reduce: in a traced function write a loop over the data set")
        state = _more.map_structure(wf.asarray, [initial_state])
        for element in self:
            state = reduce_func(state, element)
        return state

    def get_single_element(self, name: str | None = None) -> Any:
        """The element of a data set that has one. Throws ValueError for others."""
        found = list(super().take(2))
        if len(found) != 1:
            many = "none" if not found else "more than one"
            raise _weft.ValueError(f"get_single_element: there is {many}")
        return found[0]

    def cache(self, filename: str = "", name: str | None = None) -> Self:
        """Keeps the elements in memory once they are made."""
        if filename:
            raise _weft.ValueError("cache: the elements are kept in memory, not in files")
        return self._stage(super().cache(), "CacheDataset")

    def prefetch(self, buffer_size: Any = AUTOTUNE, name: str | None = None) -> Self:
        """Makes elements ahead while the loop is at work on others."""
        count = int(buffer_size)
        return self._stage(super().prefetch(2 if count == AUTOTUNE else count), "PrefetchDataset")

    def apply(self, transformation_func: Callable[[Self], Any]) -> Any:
        """What a function gives for the data set."""
        return transformation_func(self)

    def cardinality(self) -> Any:
        """How many elements there are, as an int64 scalar; -1 if they do not end, -2 if their
        number is not known."""
        if self._endless:
            return wf.constant(-1, "int64")
        return wf.constant(-2 if self.size is None else self.size, "int64")

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements as arrays of NumPy."""
        return builtins.map(lambda element: _more.map_structure(_as_array, [element]), self)

    def __repr__(self) -> str:
        return f"<_{self._kind} element_spec={self.element_spec!r}>"


def _collect(datasets: Any, flat: list[Any]) -> None:
    """The data sets of a structure, in its order."""
    if is_dict(datasets) or is_listed(datasets):
        for each in datasets.values() if is_dict(datasets) else datasets:
            _collect(each, flat)
    elif isinstance(datasets, wf.data.Dataset):
        flat.append(datasets)
    else:
        kind = type(datasets).__name__
        raise TypeError(f"zip: a {kind} is among the data sets: data sets are wanted, or tuples and dicts of them")


def _structured(datasets: Any, parts: Iterator[Any]) -> Any:
    """The elements of data sets in the structure of these."""
    if is_dict(datasets):
        return {name: _structured(each, parts) for name, each in datasets.items()}
    if is_listed(datasets):
        return tuple(_structured(each, parts) for each in datasets)
    return next(parts)


def _as_array(x: Any) -> Any:
    return x.numpy() if isinstance(x, wf.Tensor) else x


def _of_any_size(spec: Any) -> Any:
    """The spec of a batch of any size."""
    if not hasattr(spec, "shape"):
        return spec
    return wf.TensorSpec((None, *spec.shape[1:]), spec.dtype)


def _begin_of(data: Dataset, predicate: Callable[..., Any]) -> Iterator[Any]:
    for element in data:
        if not bool(predicate(*element) if type(element) is tuple else predicate(element)):
            return
        yield element


def _typed(generator: Callable[..., Iterable[Any]], types: Any, args: Any) -> Iterator[Any]:
    """What a generator gives, as tensors of these types."""
    for element in generator(*args):
        yield element if types is None else _of_types(types, element)


def _of_types(types: Any, element: Any) -> Any:
    """An element as tensors of types: dtypes and specs, in dicts and tuples."""
    if is_dict(types) and is_dict(element) and types.keys() == element.keys():
        return {name: _of_types(kind, element[name]) for name, kind in types.items()}
    if is_listed(types) and is_listed(element) and len(types) == len(element):
        return tuple(map(_of_types, types, element))
    if is_dict(types) or is_listed(types):
        raise TypeError(
            f"from_generator: the generator gave {element!r}, but an element is to be of the structure of {types!r}"
        )
    is_spec = isinstance(types, wf.TensorSpec)
    kind = wf.dtype(types.dtype if is_spec else types)
    given = wf.asarray(element).dtype
    if given.is_floating > kind.is_floating or kind.is_bool and not given.is_bool:
        raise wf.DTypeError(
            f"from_generator: the generator gave {element!r}, of {given.name}, but the signature says {kind.name}"
        )
    tensor = wf.asarray(element, kind)
    wanted = types.shape if is_spec else None
    fits = wanted is None or (
        len(wanted) == tensor.ndim and all(n in (None, m) for n, m in zip(wanted, tensor.shape, strict=True))
    )
    if not fits:
        raise TypeError(
            f"from_generator: the generator gave an element of shape {tuple(tensor.shape)}, but the signature says "
            f"{types!r}"
        )
    return tensor


def _is_open(spec: Any) -> bool:
    """Whether a spec leaves sizes to the elements."""
    return isinstance(spec, wf.TensorSpec) and (spec.shape is None or None in spec.shape)


def _specs_of(types: Any, shapes: Any) -> Any:
    """Dtypes and shapes of one structure as specs."""
    if is_dict(types):
        return {name: _specs_of(kind, shapes[name]) for name, kind in types.items()}
    if is_listed(types):
        return tuple(map(_specs_of, types, shapes))
    return wf.TensorSpec(shapes, types)
