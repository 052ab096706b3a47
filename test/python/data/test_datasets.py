"""Data sets: elements, stages and orders against NumPy and plain Python, errors, and what is collected."""

import collections
import dataclasses
import gc
import itertools
import threading
import traceback
import weakref

import numpy as np
import pytest

import weft as wf

Pair = collections.namedtuple("Pair", "x y")


@dataclasses.dataclass
class Sample:
    image: object
    label: object


def ints(dataset):
    return [int(x) for x in dataset]


# Elements.


def test_rows_of_arrays():
    xs = np.arange(12, dtype=np.float32).reshape(4, 3)
    ys = np.array([3, 1, 2, 0])
    for i, (x, y) in enumerate(wf.data.from_tensors(xs, ys)):
        assert type(x) is wf.Tensor and np.array_equal(x, xs[i]) and int(y) == ys[i]
    assert len(wf.data.from_tensors(xs, ys)) == 4
    assert [np.asarray(x).tolist() for x in wf.data.from_tensor_slices(xs)] == xs.tolist()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda a, b: (a, b),
        lambda a, b: {"b": b, "a": a},
        lambda a, b: Pair(a, b),
        lambda a, b: Sample(a, b),
        lambda a, b: (a, {"deep": (b,)}),
        lambda a, b: (a,),
        lambda a, b: collections.OrderedDict(z=b, a=a),
    ],
)
def test_structures_stay(wrap):
    a, b = np.arange(6.0, dtype=np.float32), np.arange(6)
    of_rows = list(wf.data.from_tensors(wrap(a, b)))
    assert type(of_rows[0]) is type(wrap(a, b))
    expected = [str(wrap(wf.tensor(a[i]), wf.tensor(b[i]))) for i in range(6)]
    assert [str(element) for element in of_rows] == expected
    # The same as created one by one, and batches of both.
    stacked = wf.data.from_iterable([wrap(wf.tensor(a[i]), wf.tensor(b[i])) for i in range(6)])
    assert [str(element) for element in stacked] == expected
    one, other = list(stacked.batch(4)), list(wf.data.from_tensors(wrap(a, b)).batch(4))
    assert [str(x) for x in one] == [str(x) for x in other]
    assert str(one[1]) == str(wrap(wf.tensor(a[4:]), wf.tensor(b[4:])))


def test_numbers_lists_and_arrays_become_tensors():
    elements = list(wf.data.from_iterable([(1, 2.5, [1, 2], np.float64(3), True)]))
    assert [str(x.dtype) for x in elements[0]] == ["int32", "float32", "int32", "float64", "bool"]
    assert elements[0][2].shape == (2,)


def test_text_and_objects_stay():
    thing = object()
    element = ("name", b"bytes", None, thing, 1)
    (got,) = wf.data.from_iterable([element])
    assert got[:4] == element[:4] and int(got[4]) == 1
    with pytest.raises(wf.ValueError, match="another structure"):
        list(wf.data.from_iterable([("a", 1), ("b", 2)]).batch(2))
    (batch,) = wf.data.from_iterable([("a", 1), ("a", 2)]).batch(2)
    assert batch[0] == "a" and batch[1].shape == (2,)
    with pytest.raises(TypeError, match="set, which has no order"):
        list(wf.data.from_iterable([{1, 2}]))


def test_dicts_in_any_order_batch_together():
    (batch,) = wf.data.from_iterable([{"a": 1, "b": 2}, {"b": 20, "a": 10}]).batch(2)
    assert list(batch) == ["a", "b"]
    assert np.asarray(batch["a"]).tolist() == [1, 10]
    assert np.asarray(batch["b"]).tolist() == [2, 20]


def test_element_spec():
    xs, ys = np.zeros((10, 3), np.float32), np.zeros(10, np.int32)
    dataset = wf.data.from_tensors({"x": xs, "y": ys})
    assert dataset.element_spec == {
        "x": wf.TensorSpec((3,), "float32"),
        "y": wf.TensorSpec((), "int32"),
    }
    assert dataset.batch(4).element_spec["x"] == wf.TensorSpec((None, 3), "float32")
    assert dataset.batch(5).element_spec["x"] == wf.TensorSpec((5, 3), "float32")
    with pytest.raises(wf.ValueError, match="no elements"):
        _ = dataset.take(0).element_spec


# Iterables.


def test_sequences_are_asked_for_what_is_wanted():
    class Rows:
        asked = []

        def __len__(self):
            return 100

        def __getitem__(self, i):
            self.asked.append(i)
            return i * 10

    rows = Rows()
    dataset = wf.data.from_iterable(rows)
    assert len(dataset) == 100
    assert ints(dataset.skip(90).take(3)) == [900, 910, 920]
    assert rows.asked == [90, 91, 92]
    assert sorted(ints(dataset.shuffle(seed=1))) == [i * 10 for i in range(100)]


def test_generators_start_anew():
    starts = []

    def numbers(n):
        starts.append(n)
        yield from range(n)

    dataset = wf.data.from_generator(numbers, 4)
    assert ints(dataset) == ints(dataset) == [0, 1, 2, 3] and starts == [4, 4]
    assert dataset.size is None
    with pytest.raises(TypeError, match="its size is None"):
        len(dataset)
    assert dataset and not list(wf.data.range(0))


def test_iterators_say_so_at_the_second_loop():
    dataset = wf.data.from_iterable(x for x in range(5))
    assert dataset.element_spec == wf.TensorSpec((), "int32")  # which takes no element away
    assert ints(dataset) == [0, 1, 2, 3, 4]
    with pytest.raises(wf.StateError, match="generator can be gone through once, and was"):
        list(dataset)


def test_sets_and_tensors_are_iterables():
    assert sorted(ints(wf.data.from_iterable({3, 1, 2}))) == [1, 2, 3]
    assert ints(wf.data.from_iterable(wf.arange(3))) == [0, 1, 2]
    assert ints(wf.data.from_iterable(np.arange(3))) == [0, 1, 2]
    for wrong in ("text", {"a": 1}, 5, None):
        with pytest.raises(TypeError):
            wf.data.from_iterable(wrong)


# Stages against Python.


def test_map():
    xs = wf.data.range(10)
    assert ints(xs.map(lambda x: x * 3)) == [3 * i for i in range(10)]
    pairs = wf.data.zip(xs, xs.map(lambda x: x * x))
    assert ints(pairs.map(lambda x, y: y - x)) == [i * i - i for i in range(10)]
    assert [d["a"].dtype for d in xs.map(lambda x: {"a": x}).take(1)] == [wf.int64]
    doubled = wf.function(lambda x: x * 2)
    assert ints(xs.map(doubled, workers=2)) == [2 * i for i in range(10)]
    with pytest.raises(TypeError, match="returned None"):
        list(xs.map(lambda x: None))


def test_workers_change_nothing():
    xs = np.arange(200, dtype=np.float32)

    def noisy(x, generator):
        return x + generator.normal(())

    def run(workers):
        data = wf.data.from_tensors(xs).shuffle(seed=3).map(noisy, workers=workers, seed=9)
        return np.concatenate([np.asarray(x) for x in data.batch(16).prefetch(2)])

    first = run(0)
    for workers in (1, 2, 4):
        assert np.array_equal(run(workers), first)


def test_order_follows_the_seed():
    data = wf.data.range(50).shuffle(seed=4)
    one, two = ints(data), ints(data)
    assert sorted(one) == list(range(50)) and one != two
    again = wf.data.range(50).shuffle(0, 4)
    assert [ints(again), ints(again)] == [one, two]
    fixed = wf.data.range(50).shuffle(buffer=8, seed=4, reshuffle=False)
    assert ints(fixed) == ints(fixed)
    # With a buffer of b no element comes more than b - 1 positions early.
    assert all(value <= position + 7 for position, value in enumerate(ints(fixed)))


def test_slices_shards_and_splits():
    xs = wf.data.range(17)
    assert ints(xs.take(5)) == list(range(5)) and ints(xs.skip(14)) == [14, 15, 16]
    assert ints(xs.shard(4, 1)) == list(range(17))[1::4]
    train, test = xs.shuffle(seed=1).split(0.75)
    assert (len(train), len(test)) == (13, 4)
    assert sorted(ints(train) + ints(test)) == list(range(17))
    assert ints(xs.take(2).repeat(3)) == [0, 1] * 3
    assert ints(xs.take(2).repeat().take(5)) == [0, 1, 0, 1, 0]
    assert ints(xs.filter(lambda x: x % 5 == 0)) == [0, 5, 10, 15]
    assert ints(xs.take(2).concatenate(xs.skip(15), [7])) == [0, 1, 15, 16, 7]
    assert [(int(i), int(x)) for i, x in xs.skip(15).enumerate(3)] == [(3, 15), (4, 16)]
    assert [(int(a), int(b)) for a, b in wf.data.zip(xs, [5, 6])] == [(0, 5), (1, 6)]
    assert ints(wf.data.range(5, 0, -2)) == list(range(5, 0, -2))


def test_batches():
    xs = wf.data.range(10)
    assert [np.asarray(b).tolist() for b in xs.batch(4)] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert len(xs.batch(4)) == 3 and len(xs.batch(4, drop_remainder=True)) == 2
    ragged = [np.ones(n, np.float32) * n for n in (3, 1, 2)]
    (padded,) = wf.data.from_iterable(ragged).batch(3, padding=-1)
    assert np.asarray(padded).tolist() == [[3, 3, 3], [1, -1, -1], [2, 2, -1]]
    with pytest.raises(wf.ShapeError, match="of one shape"):
        list(wf.data.from_iterable(ragged).batch(3))
    lengths = [3, 12, 4, 11, 2]
    data = wf.data.from_iterable([np.zeros(n, np.float32) for n in lengths])
    batches = [b.shape for b in data.bucket(lambda x: x.size, [10], 2)]
    assert batches == [(2, 4), (2, 12), (1, 2)]


def test_interleave():
    def part(i):
        return [10 * int(i), 10 * int(i) + 1]

    assert ints(wf.data.range(3).interleave(part, cycle=2)) == [0, 10, 1, 11, 20, 21]

    def mapped(i):
        return wf.data.range(2).map(lambda x: x + 10 * i)

    assert ints(wf.data.range(3).interleave(mapped, cycle=3, block=2)) == [0, 1, 10, 11, 20, 21]


def test_cache_calls_once():
    calls = []
    data = wf.data.range(5).map(lambda x: calls.append(int(x)) or x).cache()
    assert ints(data) == ints(data) == [0, 1, 2, 3, 4]
    assert calls == [0, 1, 2, 3, 4]


def test_state_goes_on():
    def make():
        return wf.data.range(20).shuffle(seed=2).map(lambda x: x * 2).batch(3)

    data = make()
    whole = [np.asarray(b).tolist() for b in data] + [np.asarray(b).tolist() for b in data]
    data = make()
    seen = [np.asarray(b).tolist() for b in itertools.islice(data, 4)]
    state = data.state()
    other = make()
    other.restore_state(state)
    seen += [np.asarray(b).tolist() for b in other] + [np.asarray(b).tolist() for b in other]
    assert seen == whole
    with pytest.raises(wf.ValueError, match="another pipeline"):
        wf.data.range(3).restore_state(state)


def test_stats():
    data = wf.data.from_tensors(np.zeros((10, 4), np.float32)).batch(5)
    list(data)
    assert data.stats.elements == 2 and data.stats.bytes == 160
    assert data.stats.elements_per_second > 0


# Errors.


def failing(x):
    if int(x) == 7:
        raise KeyError("seven")
    return x


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_errors_reach_the_loop(workers):
    data = wf.data.range(10).map(failing, workers=workers).batch(2).prefetch(2)
    got = []
    with pytest.raises(KeyError, match="seven") as caught:
        for batch in data:
            got.append(batch)
    assert caught.value.__notes__ == ["map: element 7"]
    assert "in failing" in "".join(traceback.format_tb(caught.tb))
    assert len(got) <= 3
    assert ints(wf.data.range(3)) == [0, 1, 2]  # and all goes on


def test_errors_of_other_stages():
    def bad(x):
        return 1 / 0

    for data, note in [
        (wf.data.range(3).filter(bad), "filter: element 0"),
        (wf.data.range(3).bucket(bad, [1], 1), "bucket: element 0"),
        (wf.data.range(3).interleave(bad), "interleave: element 0"),
    ]:
        with pytest.raises(ZeroDivisionError) as caught:
            list(data)
        assert caught.value.__notes__ == [note]

    def two():
        yield 1
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more") as caught:
        list(wf.data.from_generator(two))
    assert caught.value.__notes__ == ["from_generator: element 1"]


def test_stop_iteration_does_not_end_a_loop():
    def stop(*parts):
        raise StopIteration(3)

    class Rows:
        __len__ = lambda self: 4  # noqa: E731
        __getitem__ = stop

    numbers = wf.data.range(3)
    for data in [
        numbers.map(stop),
        numbers.map(stop, workers=2),
        numbers.filter(stop),
        numbers.bucket(stop, [2], 2),
        numbers.interleave(stop),
        wf.data.from_iterable(Rows()),
        wf.data.zip(wf.data.from_iterable(Rows()), numbers),
        wf.data.from_generator(stop),
    ]:
        with pytest.raises(RuntimeError, match="the function raised StopIteration") as caught:
            list(data)
        assert isinstance(caught.value.__cause__, StopIteration)


def test_errors_name_the_user_s_line():
    with pytest.raises(wf.ValueError, match="the size is 0") as caught:
        wf.data.range(3).batch(0)
    assert caught.value.file.endswith("test_datasets.py")
    for wrong in (
        lambda: wf.data.range(3).take(-1),
        lambda: wf.data.range(3).shard(2, 2),
        lambda: wf.data.range(0, 1, 0),
        lambda: wf.data.range(3).map(failing, workers=-1),
        lambda: wf.data.range(3).split(2),
    ):
        with pytest.raises(wf.ValueError):
            wrong()
    with pytest.raises(TypeError):
        wf.data.range(3).map(3)
    with pytest.raises(TypeError):
        wf.data.Dataset()
    with pytest.raises(wf.ShapeError, match="rows"):
        wf.data.from_tensors(np.zeros(3), np.zeros(4))


def test_half_made_data_set():
    class Mine(wf.data.Dataset):
        def __init__(self):
            pass

    with pytest.raises(wf.StateError, match="never made"):
        list(Mine())


# Threads and memory.


def test_two_threads_share_an_iterator():
    loop = iter(wf.data.range(1000).map(lambda x: x))
    parts = [[], []]

    def take(part):
        part += ints(loop)

    threads = [threading.Thread(target=take, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(parts[0] + parts[1]) == list(range(1000))


def test_cycles_are_collected():
    class Model:
        def __init__(self):
            self.data = wf.data.range(5).map(self.shift, workers=1).filter(lambda x: bool(x > self.least))
            self.least = 1

        def shift(self, x):
            return x + 1

    model = Model()
    assert ints(model.data) == [2, 3, 4, 5]
    loop = iter(model.data)
    assert int(next(loop)) == 2
    gone = weakref.ref(model)
    del model, loop
    gc.collect()
    assert gone() is None


class Owner:
    """What elements, functions and iterators of its data set lead back to."""


def element(owner):
    return wf.data.from_element({"x": 1, "owner": owner})


def mapped(owner):
    return wf.data.range(9).map(lambda x: {"x": x, "owner": owner})


def yielded(owner):
    def numbers():
        yield from (1, 2, 3)
        assert owner

    return numbers


@pytest.mark.parametrize(
    "make",
    [
        element,
        lambda owner: wf.data.zip(element(owner), element(owner)),
        lambda owner: wf.data.from_iterable(collections.deque([1, owner])),
        lambda owner: mapped(owner).cache(),
        lambda owner: mapped(owner).prefetch(2),
        lambda owner: mapped(owner).shuffle(3),
        lambda owner: mapped(owner).bucket(lambda x: 1, [2], 3),
        lambda owner: wf.data.from_generator(yielded(owner)),
        lambda owner: wf.data.from_iterable(yielded(owner)()),
        lambda owner: wf.data.range(4).interleave(lambda x: wf.data.from_generator(yielded(owner))),
    ],
)
def test_cycles_by_elements_are_collected(make):
    owner = Owner()
    owner.data = make(owner)
    owner.loop = iter(owner.data)
    owner.first = next(owner.loop)
    gone = weakref.ref(owner)
    gc.collect()
    if make is not element:
        owner.second = next(owner.loop, None)  # it all stays while it is held
    del owner
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_errors_that_wait_are_collected(workers):
    class Failure(Exception):
        pass

    def fail(x):
        raise Failure(owner)

    owner = Owner()
    owner.loop = iter(wf.data.range(20).map(fail, workers=workers))
    for _ in range(3):
        with pytest.raises(Failure) as caught:
            next(owner.loop)
        owner.error = caught.value
    gone = weakref.ref(owner)
    del owner, caught, fail
    gc.collect()
    assert gone() is None


def test_stages_keep_functions():
    data = wf.data.range(3).map(lambda x: x + 1).map(lambda x: x * 2)
    gc.collect()
    assert ints(data.take(2)) == [2, 4]
    loop = iter(wf.data.range(3).map(lambda x: x + 5))
    gc.collect()
    assert ints(loop) == [5, 6, 7]


def test_memory_is_given_back(live):
    data = wf.data.from_tensors(np.zeros((64, 8), np.float32)).map(lambda x: x + 1, workers=2)
    for _ in data.batch(8).prefetch(2):
        break
    del data, _


@pytest.mark.parametrize(
    "wrong",
    [
        lambda d: d.batch("32"),
        lambda d: d.batch(4, padding="x"),
        lambda d: d.take(1.5),
        lambda d: d.skip(None),
        lambda d: d.shuffle("all"),
        lambda d: d.shuffle(seed=1.5),
        lambda d: d.repeat("twice"),
        lambda d: d.shard(2, "a"),
        lambda d: d.split("half"),
        lambda d: d.prefetch([1]),
        lambda d: d.map(failing, workers="2"),
        lambda d: d.interleave(failing, cycle="x"),
        lambda d: d.restore_state(3),
        lambda d: wf.data.range("3"),
    ],
)
def test_wrong_types_are_said_in_a_sentence(wrong):
    with pytest.raises(TypeError) as caught:
        wrong(wf.data.range(3))
    text = str(caught.value)
    assert "wanted" in text and "\n" not in text and "incompatible function arguments" not in text


def test_numbers_that_are_too_large():
    for wrong in (
        lambda: wf.data.range(2**70),
        lambda: wf.data.range(3).take(2**63),
        lambda: wf.data.range(3).shuffle(seed=-1),
        lambda: wf.data.range(3).shuffle(seed=2**64),
    ):
        with pytest.raises(wf.ValueError):
            wrong()
    assert len(wf.data.range(np.int64(3)).take(np.int32(2)).batch(np.uint8(1))) == 2


def test_sizes_without_end():
    most = 2**63 - 1
    long = wf.data.range(5).repeat(most)
    assert long.size is None and long.batch(2).size is None
    assert wf.data.zip(long, wf.data.range(7)).size == 7
    assert wf.data.concatenate(long, wf.data.range(7)).size is None
    assert wf.data.range(0).repeat(most).size == 0
    assert ints(long.skip(most - 1).take(2)) == [1, 2]
    first, second = wf.data.range(most - 1).split(1.0)
    assert first.size == most - 1 and second.size == 0


def test_numbers_of_elements():
    most = 2**63 - 1
    assert [(int(i), int(x)) for i, x in wf.data.range(2).enumerate(most - 1)] == [(most - 1, 0), (most, 1)]
    loop = iter(wf.data.range(3).enumerate(most))
    assert int(next(loop)[0]) == most
    with pytest.raises(wf.ValueError, match="enumerate: the number of element 1 is 9223372036854775807 [+] 1"):
        next(loop)


def test_counts_out_of_range():
    numbers = wf.data.range(3)
    for wrong, text in [
        (lambda: numbers.interleave(failing, cycle=2**63 - 1), "cycle is 9223372036854775807 but must be 1 to"),
        (lambda: numbers.map(failing, workers=2**31), "workers is 2147483648, which has more than 32 bits"),
        (lambda: numbers.map(failing, workers=1025), "workers is 1025 but must be 0 to 1024"),
        (lambda: numbers.map(failing, workers=-1), "workers is -1 but must be 0 or more"),
    ]:
        with pytest.raises(wf.ValueError, match=text):
            wrong()


def test_wrong_keywords_name_the_nearest():
    with pytest.raises(TypeError, match=r"weft.data.Dataset.batch\(\) .* 'drop_remaider'; did you mean 'drop_remainder'"):
        wf.data.range(3).batch(2, drop_remaider=True)
    with pytest.raises(TypeError, match=r"weft.train.fit\(\) got an unexpected argument 'epoch'; did you mean 'epochs'"):
        wf.train.fit(None, [], epoch=3)
    with pytest.raises(TypeError, match=r"CheckpointManager\(\) .* 'kep'; did you mean 'keep'"):
        wf.CheckpointManager("x", kep=3)
    with pytest.raises(TypeError, match="argument 'xyz': it takes buffer, seed, reshuffle"):
        wf.data.range(3).shuffle(xyz=3)
