"""Table F of the reference: what makes a trace, what is captured, when variables are created."""

import gc
import weakref

import numpy as np
import pytest

import weft as wf


def test_f1_a_trace_for_each_signature():
    traced = []

    @wf.function
    def double(a):
        traced.append(a)
        return a + a

    for value, wanted in ((1, 2), (1.1, 2.2), ([1, 2], [2, 4])):
        for _ in range(2):
            np.testing.assert_allclose(double(wf.tensor(value)).numpy(), wanted, rtol=1e-6)
    assert len(traced) == 3
    assert double.experimental_get_tracing_count() == 3


def test_f2_numbers_of_python_by_value():
    @wf.function
    def f(x):
        return wf.tensor(0) + x

    assert [int(f(1)), int(f(2))] == [1, 2]
    assert f.trace_count() == 2

    @wf.function
    def g(x):
        return x + 1

    assert [int(g(wf.tensor(1))), int(g(wf.tensor(2)))] == [2, 3]
    assert g.trace_count() == 1


def test_f3_types_of_numbers_are_kept_apart():
    seen = []

    @wf.function
    def f(x):
        seen.append(x)

    f(1), f(1.0), f(True), f(1)
    assert [type(x) for x in seen] == [int, float, bool]
    f(0.0), f(-0.0)
    assert f.trace_count() == 5


def test_f4_lists_and_tuples_are_kept_apart():
    @wf.function
    def f(x):
        assert type(x) in (list, tuple)
        return x[0] + x[1]

    t = wf.tensor(1.0)
    assert float(f([t, t])) == float(f((t, t))) == 2
    assert f.trace_count() == 2


def test_f5_which_variables_are_the_same():
    u, v, w = (wf.Variable(float(i)) for i in (1, 2, 3))

    @wf.function
    def f(a, b):
        a.assign_add(1.0)
        return a + b

    assert [float(f(v, v)), float(f(v, w)), float(f(w, v)), float(f(u, u))] == [6, 7, 8, 4]
    assert f.trace_count() == 2


def test_f6_sizes_that_change_share_a_trace():
    @wf.function(reduce_retracing=True)
    def f(x):
        return wf.sum(x)

    for n in (1, 2, 3, 4):
        assert float(f(wf.ones(n))) == n
    assert f.trace_count() == 2


def test_f6_or_have_one_each():
    @wf.function(reduce_retracing=False)
    def f(x):
        return wf.sum(x)

    for n in (2, 3, 4):
        assert float(f(wf.ones(n))) == n
    assert f.trace_count() == 3


def test_f6_a_function_that_looks_at_its_sizes_is_traced_for_each():
    shapes = []

    @wf.function
    def f(x):
        shapes.append(tuple(int(n) for n in x.shape))
        return wf.sum(x)

    for n in (2, 3, 4):
        f(wf.ones(n))
    assert f.trace_count() == 3
    assert (4,) in shapes


def test_f7_a_signature_converts_numbers_but_no_tensors():
    @wf.function(input_signature=[wf.TensorSpec(None, wf.float32)])
    def f(x):
        return x * 2

    assert float(f(1.0)) == 2
    assert f([1.0]).tolist() == [2]
    with pytest.raises(TypeError, match="float|f32"):
        f(wf.tensor([1]))
    assert f(2).dtype == wf.float32


def test_f8_a_variable_for_each_call_is_an_error():
    @wf.function
    def f():
        return wf.Variable(1.0) + 1.0

    with pytest.raises(wf.StateError, match="variable"):
        f()


def test_f9_a_variable_made_once():
    class Counter:
        v = None

        @wf.function
        def step(self):
            if self.v is None:
                self.v = wf.Variable(0.0)
            return self.v.assign_add(1.0).value()

    counter = Counter()
    assert [float(counter.step()) for _ in range(3)] == [1, 2, 3]
    assert float(counter.v.numpy()) == 3


def test_f10_python_runs_while_tracing_only():
    calls = []

    @wf.function
    def f(x):
        calls.append(1)
        return x

    for i in range(3):
        f(wf.tensor(i))
    assert len(calls) == 1


def test_f12_a_tensor_that_leaves_its_trace():
    kept = []

    @wf.function
    def leak(x):
        kept.append(x + 1)
        return x

    @wf.function
    def use(x):
        return x + kept[0]

    leak(wf.tensor(1.0))
    with pytest.raises(wf.StateError, match="(?s)leak.*use"):
        use(wf.tensor(1.0))
    with pytest.raises(wf.StateError, match="outside of its trace"):
        kept[0] + 1
    with pytest.raises(wf.StateError):
        kept[0].numpy()
    assert float(leak(wf.tensor(1.0))) == 1


foo = 1


def test_f13_globals_are_read_while_tracing():
    global foo

    @wf.function
    def buggy_add():
        return wf.tensor(1) + foo

    @wf.function
    def add(x):
        return wf.tensor(1) + x

    foo = 1
    assert int(buggy_add()) == 2
    foo = 100
    assert int(buggy_add()) == 2
    assert int(add(wf.tensor(foo))) == 101
    v = wf.Variable(1)
    assert int(add(v)) == 2
    v.assign(100)
    assert int(add(v)) == 101


def test_f14_ops_without_use_are_dropped():
    def f(x):
        wf.gather(x, 1)
        return x

    with pytest.raises(wf.OutOfRangeError):
        f(wf.tensor([0.0]))
    assert wf.function(f)(wf.tensor([0.0])).tolist() == [0]


def test_f15_assigns_in_order():
    a, b = wf.Variable(0.0), wf.Variable(0.0)

    @wf.function
    def f(x, y):
        a.assign(y)
        b.assign(x * a)
        return a + b

    assert float(f(wf.tensor(1.0), wf.tensor(2.0))) == 4
    c, d = wf.Variable(0.0), wf.Variable(0.0)

    @wf.function
    def g():
        c.assign(2.0)
        d.assign(3.0)
        return c + d

    assert float(g()) == 5


def test_objects_count_by_identity_and_may_die():
    class Thing:
        def __init__(self, n):
            self.n = n

    @wf.function
    def f(thing):
        return wf.tensor(thing.n)

    for n in range(5):
        thing = Thing(n)
        gone = weakref.ref(thing)
        assert int(f(thing)) == n
        del thing
        gc.collect()
        assert gone() is None


def test_functions_go_back_with_their_traces(live):
    def once():
        big = wf.ones(1000)

        @wf.function
        def f(x):
            return x + big

        f(wf.ones(1000))
        return weakref.ref(f)

    gone = [once() for _ in range(3)]
    gc.collect()
    assert all(ref() is None for ref in gone)
    live()


# What is created in them.


def test_a_variable_that_is_made_and_returned_is_refused():
    """Each eager call would give a new one, and all calls of the trace gave one."""

    def used(x):
        v = wf.Variable(wf.ones(2), name="fresh")
        v.assign_add(x)
        return v

    def unused(x):
        return {"x": x, "v": [wf.Variable(wf.ones(2), name="fresh")]}

    def inside(x):
        return wf.function(used)(x)

    for f in (used, unused, inside):
        traced = wf.function(f)
        for _ in range(2):
            with pytest.raises(wf.StateError, match="the variable 'fresh' is created anew by each call and kept nowhere"):
                traced(wf.ones(2))


def test_a_variable_that_somebody_keeps_may_be_returned():
    class Counter:
        kept = None

        @wf.function
        def __call__(self, x):
            if self.kept is None:
                self.kept = {"v": wf.Variable(wf.zeros(2))}
            self.kept["v"].assign_add(x)
            return self.kept, self.kept["v"] + 1.0

    counter = Counter()
    for n in range(1, 4):
        kept, y = counter(wf.ones(2))
        assert kept["v"] is counter.kept["v"] and kept is not counter.kept
        assert kept["v"].numpy().tolist() == [n, n] and y.numpy().tolist() == [n + 1, n + 1]
    layer = []

    @wf.function
    def dense(x):
        if not layer:
            layer.append(wf.nn.Dense(3))
        return layer[0](x), layer[0].kernel

    assert dense(wf.ones((1, 2)))[1] is layer[0].kernel
    assert dense(wf.ones((1, 2)))[1] is layer[0].kernel


def test_variables_that_are_not_made_there_are_returned_as_they_are():
    w = wf.Variable(1.0)
    f = wf.function(lambda v, x: (v, {"w": w}, [x]))
    for v in (wf.Variable(2.0), wf.Variable(3.0)):
        a, b, c = f(v, 4.0)
        assert a is v and b["w"] is w and c == [4.0]


def test_numbers_that_change_share_compiled_code():
    f = wf.function(lambda x, dt: x + dt * wf.sin(x))
    x = wf.tensor([0.5, -1.0, 3.0])
    for i in range(5):
        dt = 0.25 + i
        np.testing.assert_array_equal(np.asarray(f(x, dt)), np.asarray(x + dt * wf.sin(x)))
    assert "codegen" in f.report(x, 2.25)["phases_ms"]
    assert list(f.report(x, 3.25)["phases_ms"]) == ["cache"]
