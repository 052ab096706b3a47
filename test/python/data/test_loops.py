"""Loops over data sets in traced functions: the same as eagerly, one program, errors, and what is kept."""

import gc
import weakref

import numpy as np
import pytest

import weft as wf


def pairs(n=10):
    xs = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    return wf.data.from_tensors(xs, np.arange(n, dtype=np.int32))


def both(f, *args):
    """What a function gives eagerly and compiled, which must be the same."""
    eager, compiled = f(*args), wf.function(f)
    got = compiled(*args)
    assert str(eager) == str(got)
    assert str(compiled(*args)) == str(got)
    assert compiled.trace_count() == 1
    return got


def test_sum_over_batches():
    data = pairs().batch(4)

    def total(data):
        s = wf.zeros([2])
        n = wf.constant(0)
        for x, y in data:
            s = s + wf.sum(x, axis=0)
            n = n + wf.sum(y)
        return s, n

    s, n = both(total, data)
    assert np.asarray(s).tolist() == [90, 100] and int(n) == 45


def test_captured_data_set_and_variable():
    data = pairs(8).shuffle(seed=1).batch(2).prefetch(2)
    w = wf.Variable([0.0, 0.0])

    @wf.function
    def epoch():
        for x, _ in data:
            w.assign_add(wf.mean(x, axis=0))

    epoch()
    epoch()
    expected = 2 * np.arange(16).reshape(8, 2).sum(0) / 2
    assert np.allclose(np.asarray(w.value()), expected)
    assert epoch.trace_count() == 1


def test_break_continue_return():
    def f(data):
        s = wf.constant(0)
        for _, y in data:
            if y == 2:
                continue
            if y > 6:
                break
            s += y
        return s

    assert int(both(f, pairs())) == 0 + 1 + 3 + 4 + 5 + 6

    def first_above(data, least):
        for x, y in data:
            if y > least:
                return wf.sum(x)
        return wf.constant(-1.0)

    assert float(both(first_above, pairs(), wf.constant(3))) == 8 + 9
    assert float(both(first_above, pairs(), wf.constant(30))) == -1


def test_enumerate_zip_take():
    def f(data):
        s = wf.constant(0)
        for i, (x, y) in enumerate(data):
            s += i * y
        for (x, y), (_, z) in zip(data, data.skip(1)):
            s += y * z
        for i, (n, (_, y)) in enumerate(zip(range(5, 8), data), 10):
            s += i * wf.cast(n, "int32") + y
        for _, y in data.take(2):
            s += 100 * y
        return s

    n = np.arange(10)
    expected = (n * n).sum() + (n[:-1] * n[1:]).sum() + 50 + 66 + 84 + 3 + 100
    assert int(both(f, pairs())) == expected


def test_break_of_enumerate():
    def f(data):
        last = wf.constant(0)
        for i, (_, y) in enumerate(data):
            if y == 4:
                break
            last = i + y
        return last

    assert int(both(f, pairs())) == 6


def test_nested_loops():
    def f(a, b):
        s = wf.constant(0)
        for _, y in a:
            for _, z in b:
                s += y * z
        return s

    assert int(both(f, pairs(3), pairs(4))) == 3 * 6


def numbers():
    return wf.data.from_tensors(np.arange(6, dtype=np.int32)).map(lambda x: x * 2).batch(2)


def test_data_set_made_inside():
    def f():
        s = wf.constant(0)
        for x in numbers():
            s += wf.sum(x)
        return s

    g = wf.function(f)
    assert int(f()) == int(g()) == 30
    gc.collect()
    assert int(g()) == 30


def test_structures_and_sizes():
    data = wf.data.from_tensors({"x": np.ones((7, 2), np.float32), "y": np.arange(7)}).batch(3)

    def f(data):
        rows = wf.constant(0)
        s = wf.constant(0)
        for batch in data:
            rows += wf.cast(wf.size(batch["x"], 0), "int32")
            s += wf.cast(wf.sum(batch["y"]), "int32")
        return rows, s

    assert [int(v) for v in both(f, data)] == [7, 21]


def test_gradients_in_the_body():
    data = pairs(6).batch(2)

    def f(data, w):
        total = wf.constant(0.0)
        for x, _ in data:
            with wf.GradientTape() as tape:
                tape.watch(w)
                loss = wf.sum(wf.square(x * w))
            total += wf.sum(tape.gradient(loss, w))
        return total

    both(f, data, wf.constant([1.0, 2.0]))


def test_python_iterables_stay_python_loops():
    traced = []

    @wf.function
    def f(x):
        for i in [1, 2, 3]:
            traced.append(i)
            x = x * i
        return x

    assert int(f(wf.constant(1))) == 6 and traced == [1, 2, 3]


def test_any_iterable_as_a_data_set():
    dataset = wf.data.from_iterable([1, 2, 3])

    def f(data):
        s = wf.constant(0)
        for x in data:
            s += x
        return s

    assert int(both(f, dataset)) == 6


def test_one_shot():
    data = wf.data.from_iterable(iter([1, 2, 3]))

    @wf.function
    def f():
        s = wf.constant(0)
        for x in data:
            s += x
        return s

    assert int(f()) == 6
    with pytest.raises(wf.StateError, match="can be gone through once"):
        f()


def test_python_errors_come_out():
    def bad(x):
        if int(x) == 3:
            raise LookupError("three")
        return x

    data = wf.data.from_tensors(np.arange(5, dtype=np.int32)).map(bad, workers=1)

    @wf.function
    def f():
        s = wf.constant(0)
        for x in data:
            s += x
        return s

    with pytest.raises(LookupError, match="three") as caught:
        f()
    assert caught.value.__notes__ == ["map: element 3 (record 3)"]

    def broken():
        raise OSError("no data")

    @wf.function
    def g():
        s = wf.constant(0)
        for x in wf.data.from_generator(broken):
            s += x
        return s

    with pytest.raises(OSError, match="no data"):
        g()


def test_elements_of_another_type_end_the_loop():
    data = wf.data.from_iterable([np.zeros(2, np.float32), np.zeros(3, np.float32)])

    @wf.function
    def f():
        s = wf.constant(0.0)
        for x in data:
            s += wf.sum(x)
        return s

    with pytest.raises(wf.ShapeError, match="an element of the data set is float32.*traced for float32"):
        f()


def test_refusals():
    data = pairs()
    loop = iter(data)

    @wf.function
    def over_iterator():
        s = wf.constant(0)
        for _, y in loop:
            s += y
        return s

    with pytest.raises(wf.AutoGraphError, match="goes through a data set"):
        over_iterator()

    @wf.function
    def zipped():
        s = wf.constant(0)
        for (_, y), n in zip(data, [1, 2]):
            s += y
        return s

    with pytest.raises(wf.AutoGraphError, match="zip of a data set and a list"):
        zipped()

    @wf.function
    def traced_source(x):
        s = wf.constant(0.0)
        for row in wf.data.from_tensors(x):
            s += wf.sum(row)
        return s

    with pytest.raises(wf.StateError, match="traced function"):
        traced_source(wf.ones([3, 2]))


def test_epochs_go_on():
    """Each time that the program comes to the loop is an epoch with an order of its own."""
    def make():
        return wf.data.from_tensors(np.arange(8, dtype=np.int32)).shuffle(seed=3)

    def order(data):
        s = wf.constant(0)
        for y in data:
            s = s * 8 + y
        return s

    compiled, eager, traced = wf.function(order), make(), make()
    for _ in range(3):
        assert int(order(eager)) == int(compiled(traced))
    assert traced.state() == eager.state()


def test_functions_that_hold_their_data_are_collected():
    class Trainer:
        def __init__(self):
            self.total = wf.Variable(0)
            self.data = wf.data.from_tensors(np.arange(4, dtype=np.int32)).map(self.shift)
            self.epoch = wf.function(self._epoch)

        def shift(self, x):
            return x + 1

        def _epoch(self):
            for x in self.data:
                self.total.assign_add(x)
            return self.total.value()

    trainer = Trainer()
    assert int(trainer.epoch()) == 10
    gone = weakref.ref(trainer)
    del trainer
    gc.collect()
    assert gone() is None


def test_the_program_keeps_its_data():
    data = wf.data.from_tensors(np.arange(4, dtype=np.int32)).map(lambda x: x + 1)

    @wf.function
    def f():
        s = wf.constant(0)
        for x in data:
            s += x
        return s

    assert int(f()) == 10
    data = None  # noqa: F841
    gc.collect()
    assert int(f()) == 10


def test_early_ends_leave_no_thread():
    import os

    data = pairs().prefetch(2).repeat()

    @wf.function
    def f():
        s = wf.constant(0)
        for _, y in data:
            s += y
            if s > 100:
                break
        return s

    f()
    before = len(os.listdir("/proc/self/task"))
    for _ in range(100):
        f()
    assert len(os.listdir("/proc/self/task")) < before + 20


def test_a_loop_that_failed_goes_with_its_function():
    """Its threads are in Python, or want to be, when the function goes."""
    import time

    def slow(x):
        time.sleep(0.02)
        return x

    data = wf.data.range(50).map(slow, workers=3)

    def fail(x):
        raise LookupError("now")

    for _ in range(3):

        @wf.function
        def f():
            s = wf.constant(0, dtype="int64")
            for x in data:
                s += x
                wf.py_function(fail, [x], [])
            return s

        with pytest.raises(LookupError):
            f()
        del f
        gc.collect()


def _lengths(data):
    @wf.function
    def total():
        count = 0
        for x in data:
            count += wf.size(x, 0)
        return count

    return int(total())


def _varying():
    def rows():
        for n in (2, 3, 1):
            yield np.ones(n, np.float32)

    def filled(n):
        return wf.py_function(lambda n: wf.ones([int(n)]), [n], wf.TensorSpec([None]))

    generated = wf.data.from_generator(rows)
    return {
        "generator": generated, "take": generated.take(3), "map": wf.data.from_tensor_slices([2, 3, 1]).map(filled),
        "list": wf.data.from_iterable([[1.0] * 2, [1.0] * 3, [1.0]]), "cache": generated.cache(), "repeat": generated.repeat(1),
        "filter": generated.filter(lambda x: wf.size(x, 0) > 0), "prefetch": generated.prefetch(2),
        "concatenation": wf.data.concatenate(*(wf.data.from_element(np.ones(n)) for n in (2, 3, 1))),
    }  # fmt: skip


@pytest.mark.parametrize("name", list(_varying()))
def test_elements_whose_sizes_change(name):
    data = _varying()[name]
    with pytest.raises(wf.ShapeError, match=r"an element of the data set is float(32|64)\(3,\), but the loop was traced for "
                       r"float(32|64)\(2,\), the type of the first one: loop over dataset.with_open_sizes\(\)"):  # fmt: skip
        _lengths(data)
    assert _lengths(data.with_open_sizes()) == 6 and len(list(data.with_open_sizes())) == 3
    assert data.with_open_sizes().element_spec.shape == (None,)
    assert _lengths(data.with_open_sizes().take(2).prefetch(1)) == 5


def test_elements_of_several_ranks_are_for_loops_outside():
    data = wf.data.from_iterable([1.0, [1.0]])
    with pytest.raises(wf.ShapeError, match="elements of several ranks are for loops outside of traced functions"):

        @wf.function
        def total():
            count = 0.0
            for x in data.with_open_sizes():
                count += wf.sum(x)
            return count

        total()


def test_open_sizes_keep_the_order():
    data = wf.data.range(20).shuffle(seed=None)
    first = [int(x) for x in data.with_open_sizes()]
    assert sorted(first) == list(range(20))
    seeded = wf.data.range(20).shuffle(seed=3)
    assert [int(x) for x in seeded.with_open_sizes()] == [int(x) for x in wf.data.range(20).shuffle(seed=3)]
