"""Data sets: the class, its stages, and sources in memory."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, NamedTuple, TypeAlias, TypeVar, cast

from weft import _weft
from weft._arguments import integer, optional_integer, optional_number, options
from weft._arguments import seed as seed_of
from weft._function import TensorSpec
from weft._tracebacks import clean, users_lines

__all__ = [
    "Dataset",
    "DatasetStats",
    "as_dataset",
    "concatenate",
    "from_element",
    "from_generator",
    "from_iterable",
    "from_tensor_slices",
    "from_tensors",
    "range",
    "zip",
]

T = TypeVar("T")

OfElement: TypeAlias = (
    Callable[[T], Any]
    | Callable[[Any, Any], Any]
    | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any, Any], Any]
)
"""A function of an element, or of the parts of a plain tuple."""


class DatasetStats(NamedTuple):
    """What a data set has handed out since it was made, over all epochs.

        >>> numbers = wf.data.range(5)
        >>> total = sum(int(x) for x in numbers)
        >>> numbers.stats.elements
        5
    """

    elements: int
    bytes: int
    """Of their tensors."""
    seconds: float
    """From when the first element was asked for until the last one was had."""
    waited_seconds: float
    """Of these, those in which the loop waited for elements."""

    @property
    def elements_per_second(self) -> float:
        """Elements by seconds; 0 at first."""
        return self.elements / self.seconds if self.seconds > 0 else 0.0


class Dataset(Generic[T]):
    """A sequence of elements, as the functions of `weft.data` make it.

    Every stage is a new data set. A loop that starts after a state was restored goes on behind the
    element that was the last before it was saved; every other loop starts a new epoch.

        >>> squares = wf.data.range(6).map(lambda x: x * x).batch(4)
        >>> for batch in squares:
        ...     print(batch)
        [0 1 4 9]
        [16 25]
        >>> len(squares), squares.element_spec
        (2, TensorSpec(shape=(None,), dtype=weft.int64, name=None))
    """

    _made: _weft.internal_Pipeline | None = None
    _held: tuple[Any, ...] = ()  # whose functions the stages call

    def __init__(self) -> None:
        raise TypeError(
            "a data set is made by the functions of weft.data: from_tensors(images, labels), "
            "from_iterable(anything), range(10)"
        )

    @classmethod
    def _of(cls, pipeline: _weft.internal_Pipeline, held: Iterable[Any] = ()) -> Dataset[Any]:
        made: Dataset[Any] = cls.__new__(cls)
        made._made = pipeline
        made._held = tuple(held)
        return made

    @property
    def _pipeline(self) -> _weft.internal_Pipeline:
        if self._made is None:
            raise _weft.StateError(
                f"this {type(self).__name__} was never made: data sets come from the functions of "
                "weft.data"
            )
        return self._made

    @property
    def _weft_part(self) -> _weft.internal_Pipeline:
        """What checkpoints see of it: the position."""
        return self._pipeline

    def _with(self, pipeline: _weft.internal_Pipeline, *callables: Any) -> Dataset[Any]:
        """Another stage, which may call into Python."""
        return self._of(pipeline, (*self._held, *callables))

    # Stages.

    @options
    def map(
        self, f: OfElement[T], *, workers: int = 0, seed: int | None = None
    ) -> Dataset[Any]:
        """`f(element)` of each element; the parts of a plain tuple are arguments of their own.

        A function with a parameter named `generator` is handed a `wf.random.Generator` of that
        element alone, the same whatever the number of workers.

            >>> [int(x) for x in wf.data.range(3).map(lambda x: x * 10)]
            [0, 10, 20]

        Args:
            f: gives the new element
            workers: threads that call it, each for an element of its own; what they make is handed
                out in order. With 0 it is called where its result is wanted
            seed: of the generators; by default the seed that the data set has drawn

        Raises:
            ValueError: for a number of workers below 0 or above 1024
        """
        called = _callable("map", f)
        seeded = _takes_generator(f)
        threads = integer("map: workers", workers)
        drawn = seed_of("map: seed", seed)
        return self._with(self._pipeline.map(called, seeded, threads, drawn), called)

    @users_lines
    def filter(self, predicate: OfElement[T]) -> Dataset[T]:
        """The elements of which `predicate(element)`, a bool or a bool scalar, is true.

            >>> [int(x) for x in wf.data.range(6).filter(lambda x: x % 2 == 0)]
            [0, 2, 4]
        """
        called = _callable("filter", predicate)
        return self._with(self._pipeline.filter(called), called)

    @options
    def batch(
        self, size: int, drop_remainder: bool = False, *, padding: float | None = None
    ) -> Dataset[T]:
        """`size` elements at a time, stacked along a new first axis; fewer at the end of an epoch.

            >>> [x.tolist() for x in wf.data.range(5).batch(2)]
            [[0, 1], [2, 3], [4]]

        Args:
            drop_remainder: drops the last elements if they are too few for a batch
            padding: fills tensors whose sizes differ up with it to the largest size of each axis

        Raises:
            ValueError: for a size below 1; in a loop ShapeError, DTypeError or ValueError for
                elements that do not fit together
        """
        filled = optional_number("batch: padding", padding)
        count = integer("batch: size", size)
        return self._with(self._pipeline.batch(count, bool(drop_remainder), filled))

    @options
    def bucket(
        self,
        length: OfElement[T],
        boundaries: Sequence[int],
        batch_sizes: int | Sequence[int],
        *,
        padding: float = 0,
        drop_remainder: bool = False,
    ) -> Dataset[T]:
        """Batches of elements of similar `length(element)`, padded to the largest of the batch.

            >>> words = wf.data.from_iterable([[1, 2, 3], [4], [5], [6, 7, 8, 9]])
            >>> [x.tolist() for x in words.bucket(len, [2], 2)]
            [[[4], [5]], [[1, 2, 3, 0], [6, 7, 8, 9]]]

        Args:
            boundaries: lengths that part the buckets, ascending: [10, 20] makes buckets of lengths
                below 10, of 10 to 19, and from 20 on
            batch_sizes: one more than there are boundaries, or a single one

        Raises:
            ValueError: for boundaries that do not ascend, or another number of sizes
        """
        called = _callable("bucket", length)
        sizes = [batch_sizes] if isinstance(batch_sizes, int) else batch_sizes
        made = self._pipeline.bucket(
            called,
            [integer("bucket: a boundary", each) for each in boundaries],
            [integer("bucket: a batch size", each) for each in sizes],
            optional_number("bucket: padding", padding) or 0.0,
            bool(drop_remainder),
        )
        return self._with(made, called)

    @options
    def shuffle(
        self, buffer: int = 0, seed: int | None = None, *, reshuffle: bool = True
    ) -> Dataset[T]:
        """A random order: of the `buffer` elements that come next one is handed out, and replaced
        by the one behind them; 0 is all of them. Shuffle before `repeat` and `batch`.

            >>> sorted(int(x) for x in wf.data.range(4).shuffle(seed=1))
            [0, 1, 2, 3]

        Args:
            seed: by default drawn once from the process's generator; checkpoints keep it
            reshuffle: whether every epoch has an order of its own

        Raises:
            ValueError: for a negative buffer, or one of 0 where there is no end
        """
        count = integer("shuffle: buffer", buffer)
        drawn = seed_of("shuffle: seed", seed)
        return self._with(self._pipeline.shuffle(count, drawn, bool(reshuffle)))

    @options
    def repeat(self, count: int | None = None) -> Dataset[T]:
        """Several epochs as one; without end if no count is given.

            >>> [int(x) for x in wf.data.range(2).repeat(2)]
            [0, 1, 0, 1]
        """
        return self._with(self._pipeline.repeat(optional_integer("repeat: count", count)))

    @users_lines
    def take(self, count: int) -> Dataset[T]:
        """The first `count` elements.

            >>> [int(x) for x in wf.data.range(5).take(2)]
            [0, 1]
        """
        return self._with(self._pipeline.take(integer("take: count", count)))

    @users_lines
    def skip(self, count: int) -> Dataset[T]:
        """All but the first `count` elements.

            >>> [int(x) for x in wf.data.range(5).skip(3)]
            [3, 4]
        """
        return self._with(self._pipeline.skip(integer("skip: count", count)))

    @users_lines
    def shard(self, count: int, index: int) -> Dataset[T]:
        """Every `count`-th element, from number `index` on: what one of several processes works on.
        A shuffle before it needs the same seed in all of them.

            >>> [int(x) for x in wf.data.range(5).shard(2, 1)]
            [1, 3]

        Raises:
            ValueError: unless 0 <= index < count
        """
        parts, number = integer("shard: count", count), integer("shard: index", index)
        return self._with(self._pipeline.shard(parts, number))

    @users_lines
    def split(self, fraction: float) -> tuple[Dataset[T], Dataset[T]]:
        """The first part of the elements, and the rest: `train, test = d.split(0.8)`. What is
        before this stage has the order of its first epoch for ever.

            >>> train, test = wf.data.range(10).split(0.8)
            >>> len(train), len(test)
            (8, 2)

        Raises:
            ValueError: for a fraction outside of [0, 1], an unknown size, and a shuffle before it
                that has no seed
        """
        part = optional_number("split: fraction", fraction)
        if part is None:
            raise TypeError("split: fraction is None: a number is wanted")
        first, second = self._pipeline.split(part)
        return self._with(first), self._with(second)

    @users_lines
    def enumerate(self, start: int = 0) -> Dataset[tuple[_weft.Tensor, T]]:
        """Each element with its number, an int64 scalar.

            >>> [(int(i), int(x)) for i, x in wf.data.range(7, 9).enumerate()]
            [(0, 7), (1, 8)]

        Raises:
            ValueError: in a loop, for a number that int64 does not hold
        """
        numbers = _weft.internal_numbers_from(integer("enumerate: start", start))
        return zip(_made(numbers), self)

    @users_lines
    def concatenate(self, *others: Iterable[Any]) -> Dataset[Any]:
        """The elements of this data set and then those of others.

            >>> [int(x) for x in wf.data.range(2).concatenate(wf.data.range(5, 7))]
            [0, 1, 5, 6]
        """
        return concatenate(self, *others)

    @options
    def interleave(
        self, open: OfElement[T], *, cycle: int = 4, block: int = 1
    ) -> Dataset[Any]:
        """The elements of the data sets `open(element)`, of which `cycle` are open and take turns,
        of `block` elements each.

            >>> [int(x) for x in wf.data.range(2).interleave(lambda x: [x, x + 10], cycle=2)]
            [0, 1, 10, 11]

        Raises:
            ValueError: for a cycle or block below 1, or a cycle above 2^20
        """
        _callable("interleave", open)
        called = _weft.internal_Callable(lambda *parts: as_dataset(open(*parts)))
        turns, taken = integer("interleave: cycle", cycle), integer("interleave: block", block)
        return self._with(self._pipeline.interleave(called, turns, taken), called)

    @users_lines
    def cache(self) -> Dataset[T]:
        """Keeps elements in memory once they are made. What is before this stage has the order of
        its first epoch for ever.

            >>> [int(x) for x in wf.data.range(3).cache()]
            [0, 1, 2]
        """
        return self._with(self._pipeline.cache())

    @users_lines
    def prefetch(self, count: int = 2) -> Dataset[T]:
        """A thread makes up to `count` elements ahead while the loop is at work on others.

            >>> [int(x) for x in wf.data.range(3).prefetch(2)]
            [0, 1, 2]
        """
        return self._with(self._pipeline.prefetch(integer("prefetch: count", count)))

    @users_lines
    def with_open_sizes(self) -> Dataset[T]:
        """The same elements, whose sizes may change from one to the next: a loop in a traced function
        leaves all of them open, where it else takes those of the first element.

            >>> rows = wf.data.from_iterable([[1.0], [2.0, 3.0]])
            >>> @wf.function
            ... def total():
            ...     sum = 0.0
            ...     for row in rows.with_open_sizes():
            ...         sum += wf.sum(row)
            ...     return sum
            >>> float(total())
            6.0
        """
        return self._with(self._pipeline.with_open_sizes())

    # Loops.

    def __iter__(self) -> Iterator[T]:
        return _Loop(self)

    @property
    def size(self) -> int | None:
        """How many elements an epoch has; None if that is not known, or there is no end.

            >>> wf.data.range(5).batch(2).size
            3
            >>> wf.data.range(5).repeat().size is None
            True
        """
        return self._pipeline.size()

    def __len__(self) -> int:
        size = self.size
        if size is None:
            raise TypeError(
                "how many elements this data set has is not known before they are made, or there "
                "is no end: its size is None"
            )
        return size

    def __bool__(self) -> bool:
        return True

    @property
    def element_spec(self) -> Any:
        """A `TensorSpec` for each tensor, in the structure of an element. The first element is made
        for it; sizes that may change from one to the next are None.

            >>> wf.data.from_tensors(np.zeros((5, 3), np.float32)).batch(2).element_spec
            TensorSpec(shape=(None, 3), dtype=weft.float32, name=None)

        Raises:
            ValueError: if there is no element
        """
        form, types = self._pipeline.types()
        return form.fill([TensorSpec(shape, dtype) for dtype, shape in types])

    @property
    def stats(self) -> DatasetStats:
        """Counters of all loops so far."""
        return DatasetStats(*self._pipeline.stats())

    def state(self) -> str:
        """The position, as a text: the number of the epoch, and how many of its elements have been
        handed out.

            >>> numbers = wf.data.range(4)
            >>> loop = iter(numbers)
            >>> int(next(loop)), int(next(loop))
            (0, 1)
            >>> state = numbers.state()
            >>> other = wf.data.range(4)
            >>> other.restore_state(state)
            >>> [int(x) for x in other]
            [2, 3]
        """
        return self._pipeline.saved_state()

    @users_lines
    def restore_state(self, state: str) -> None:
        """Has the next loop go on where that position was.

        Raises:
            ValueError: if it is the position of another data set, or none
        """
        if not isinstance(state, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"restore_state: a text is wanted, not a {type(state).__name__}")
        self._pipeline.restore_state(state)

    def __repr__(self) -> str:
        size = None if self._made is None else self._made.size()
        return f"<weft.data.{type(self).__name__}, {'unknown size' if size is None else size}>"


class _Loop(Iterator[Any]):
    """An epoch, which keeps what its stages call."""

    def __init__(self, dataset: Dataset[Any]) -> None:
        self._held = dataset._held  # pyright: ignore[reportPrivateUsage]
        self._next = dataset._pipeline.start().__next__  # pyright: ignore[reportPrivateUsage]

    def __next__(self) -> Any:
        try:
            return self._next()
        except StopIteration:
            raise
        except BaseException as error:
            clean(error)
            raise

    def __reduce__(self) -> Any:
        raise TypeError(
            "an iterator of a data set cannot be pickled or copied: save how far the data set is "
            "with a checkpoint"
        )


def _callable(stage: str, f: Any) -> _weft.internal_Callable:
    if not callable(f):
        raise TypeError(f"{stage}: a function is wanted, not a {type(f).__name__}")
    return _weft.internal_Callable(f)


def _takes_generator(f: Any) -> bool:
    import inspect

    try:
        return "generator" in inspect.signature(f).parameters
    except (TypeError, ValueError):
        return False


def _made(pipeline: _weft.internal_Pipeline, *callables: Any) -> Dataset[Any]:
    return Dataset._of(pipeline, callables)  # pyright: ignore[reportPrivateUsage]


# Sources.


@users_lines
def from_tensors(*tensors: Any) -> Dataset[Any]:
    """The rows of tensors or arrays, along their first axes, which have one size: of one as they
    are, of several as a tuple, of a tuple, dict or dataclass in its structure. Arrays that are as a
    tensor's are not copied: leave them as they are while the data set is used.

        >>> xs, ys = np.zeros((6, 2), np.float32), np.arange(6)
        >>> [x.shape for x, y in wf.data.from_tensors(xs, ys).batch(4)]
        [(4, 2), (2, 2)]

    Raises:
        ShapeError: if the sizes differ, or a tensor has no axis
        StateError: for a tensor of a traced function
    """
    if not tensors:
        raise _weft.ValueError("from_tensors: there is no tensor to take rows of")
    given, keeper = tensors[0] if len(tensors) == 1 else tensors, _weft.internal_Callable(None)
    return _made(_weft.internal_from_tensors(given, keeper), keeper)


@users_lines
def from_tensor_slices(tensors: Any) -> Dataset[Any]:
    """As `from_tensors` of one structure.

        >>> [int(x) for x in wf.data.from_tensor_slices([1, 2, 3])]
        [1, 2, 3]
    """
    return from_tensors(tensors)


@users_lines
def from_element(element: Any) -> Dataset[Any]:
    """A single element.

        >>> list(wf.data.from_element(wf.tensor(7)))
        [tensor(7, shape=(), dtype=int32)]
    """
    keeper = _weft.internal_Callable(None)
    return _made(_weft.internal_from_element(element, keeper), keeper)


@users_lines
def range(*bounds: int) -> Dataset[_weft.Tensor]:
    """start, start + step, ... before stop, as int64 scalars: `range(stop)`, `range(start, stop)`,
    `range(start, stop, step)`.

        >>> [int(x) for x in wf.data.range(2, 8, 2)]
        [2, 4, 6]

    Raises:
        ValueError: if the step is 0
    """
    if not 0 < len(bounds) < 4:
        raise TypeError(f"range takes from 1 to 3 integers, not {len(bounds)}")
    given = [integer("range: a bound", each) for each in bounds]
    start, stop, step = (0, given[0], 1) if len(given) == 1 else (*given, 1)[:3]
    return _made(_weft.internal_data_range(start, stop, step))


class _Once:
    """An iterator, which there is one pass over."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator
        self._first: list[Any] = []
        self._begun = False

    def __call__(self, for_types: bool) -> Iterator[Any]:
        if self._begun:
            raise _weft.StateError(
                f"from_iterable: this {type(self._iterator).__name__} can be gone through once, "
                "and was: hand over what makes one, such as the generator function itself, or a "
                "list"
            )
        if for_types:
            self._first = self._first or list(itertools.islice(self._iterator, 1))
            return iter(self._first)
        self._begun = True
        return itertools.chain(self._first, self._iterator)


@users_lines
def from_generator(f: Callable[..., Iterable[Any]], *args: Any) -> Dataset[Any]:
    """What `f(*args)` yields, called anew for each epoch. A loop that resumes goes through the
    elements that it passes over.

        >>> def pairs():
        ...     yield 1.0, 2
        ...     yield 3.0, 4
        >>> [float(x) for x, n in wf.data.from_generator(pairs)]
        [1.0, 3.0]
    """
    if not callable(f):
        raise TypeError(
            f"from_generator: a function is wanted, not a {type(f).__name__}: from_iterable takes "
            "what is iterable by itself"
        )

    def begin(for_types: bool) -> Iterator[Any]:
        return iter(f(*args))

    called = _weft.internal_Callable(begin)
    return _made(_weft.internal_from_iterators(called), called)


@options
def from_iterable(iterable: Any) -> Dataset[Any]:
    """The elements of any iterable. Of a tensor or array they are its rows. A sequence, and what
    has `__len__` and `__getitem__` alone, is asked for the elements that a loop comes to, in any
    order; others are gone through anew in each epoch. An iterator can be gone through once.

        >>> [x.tolist() for x in wf.data.from_iterable([[1, 2], [3, 4]])]
        [[1, 2], [3, 4]]

    Raises:
        TypeError: for what is not iterable, text and dicts
        StateError: in the second loop over an iterator
    """
    return _of_elements(iterable, None)


def batches_of(data: Any) -> Dataset[Any]:
    """As `from_iterable`; batches of a loader that are lists, [x, y], are tuples."""

    def as_tuple(batch: Any) -> Any:
        items: Any = batch
        return tuple(items) if type(batch) is list else batch

    return _of_elements(data, as_tuple)


def _of_elements(iterable: Any, element: Callable[[Any], Any] | None) -> Dataset[Any]:
    """What `from_iterable` gives, of what `element` makes of each."""
    if isinstance(iterable, Dataset):
        return cast("Dataset[Any]", iterable)
    kind = cast("type[Any]", type(iterable))
    if isinstance(iterable, str | bytes | dict):
        raise TypeError(
            f"a {kind.__name__} is no data set: hand over a list, or for the rows of named tensors "
            "from_tensors({...})"
        )
    if isinstance(iterable, _weft.Tensor | _weft.Variable) or hasattr(kind, "__array__"):
        return from_tensors(iterable)
    bare = not hasattr(kind, "__iter__")
    indexed = hasattr(kind, "__getitem__") and hasattr(kind, "__len__")
    if isinstance(iterable, Sequence) or (bare and indexed):
        given = cast("Any", iterable)
        rows: Any = tuple(given) if kind is list else given
        taken: Any = rows.__getitem__
        if element is not None:
            changed = element

            def of_row(i: int) -> Any:
                return changed(rows[i])

            taken = of_row
        row = _weft.internal_Callable(taken)
        size = len(rows)
        return _made(_weft.internal_from_rows(f"{kind.__name__} of {size}", size, row), row)
    iterator = iter(iterable)
    begin: Callable[[bool], Iterator[Any]]
    begin = _Once(iterator) if iterator is iterable else lambda for_types: iter(iterable)
    if element is not None:
        plain, convert = begin, element
        begin = lambda for_types: (convert(each) for each in plain(for_types))
    called = _weft.internal_Callable(begin)
    return _made(_weft.internal_from_iterators(called), called)


@options
def as_dataset(data: Any) -> Dataset[Any]:
    """A data set as it is, and any other iterable as `from_iterable` makes one of it.

        >>> wf.data.as_dataset([1.0, 2.0])
        <weft.data.Dataset, 2>
    """
    return from_iterable(data)


def _joined(datasets: tuple[Any, ...]) -> tuple[list[_weft.internal_Pipeline], tuple[Any, ...]]:
    made = [as_dataset(each) for each in datasets]
    pipelines = [each._pipeline for each in made]  # pyright: ignore[reportPrivateUsage]
    held = [each._held for each in made]  # pyright: ignore[reportPrivateUsage]
    return pipelines, tuple(itertools.chain(*held))


@options
def zip(*datasets: Any) -> Dataset[Any]:
    """Elements side by side, as a tuple; as many as the shortest has.

        >>> [(int(x), int(y)) for x, y in wf.data.zip(wf.data.range(3), [4, 5])]
        [(0, 4), (1, 5)]
    """
    if not datasets:
        raise TypeError("zip takes one or more data sets")
    pipelines, held = _joined(datasets)
    keeper = _weft.internal_Callable(None)
    return _made(_weft.internal_zip(pipelines, keeper), keeper, *held)


@options
def concatenate(*datasets: Any) -> Dataset[Any]:
    """The elements of one after those of the other.

        >>> [int(x) for x in wf.data.concatenate(wf.data.range(2), [5, 6])]
        [0, 1, 5, 6]
    """
    if not datasets:
        raise TypeError("concatenate takes one or more data sets")
    pipelines, held = _joined(datasets)
    return _made(_weft.internal_concatenate(pipelines), *held)
