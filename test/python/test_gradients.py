"""Variables, tapes, and gradients in the structure of their sources."""

import collections
import gc
import threading
import weakref

import numpy as np
import pytest

import weft as wf


def test_variable():
    v = wf.Variable([1.0, 2.0], name="w")
    assert v.name == "w" and v.trainable and v.dtype == "float32" and v.shape == (2,) and v.ndim == 1 and v.size == 2
    assert v.assign([3, 4]) is v and v.numpy().tolist() == [3, 4]
    assert v.assign_add([1.0, 1.0]).assign_sub(1).numpy().tolist() == [3, 4]
    v.assign(0)
    assert v.value().tolist() == [0, 0] and v.read_value().tolist() == [0, 0]
    v.assign(np.array([1.5, 2.5]))  # float64, and taken as float32
    assert v.dtype == "float32" and (v + 1).tolist() == [2.5, 3.5] and (1 + v)[0].item() == 2.5
    assert (v @ v).item() == 8.5 and v[1].item() == 2.5 and len(v) == 2 and [x.item() for x in v] == [1.5, 2.5]
    assert np.asarray(v).tolist() == [1.5, 2.5] and wf.sum(v).item() == 4 and (v > 2).tolist() == [False, True]
    assert float(wf.Variable(2.5)) == 2.5 and bool(wf.Variable(1)) and f"{wf.Variable(1.25):.1f}" == "1.2"
    assert repr(v) == "<weft.Variable 'w' [1.5, 2.5], shape=(2,), dtype=float32>"
    assert wf.Variable(lambda: 3).numpy() == 3 and wf.Variable(1, dtype="float64").dtype == "float64"
    assert wf.Variable(1).name != wf.Variable(1).name and not wf.Variable(1, False).trainable
    assert wf.Variable(v + 1).numpy().tolist() == [2.5, 3.5] and wf.Variable(v).numpy().tolist() == [1.5, 2.5]


def test_variable_errors():
    v = wf.Variable([1.0, 2.0], name="w")
    for call, kind, words in (
        (lambda: v.assign([1.0, 2.0, 3.0]), wf.ShapeError, "w"),
        (lambda: v.assign(wf.ones(2, "float64")), wf.DTypeError, "w"),
        (lambda: wf.Variable(1).assign(0.5), wf.DTypeError, "variable"),
        (lambda: wf.Variable(1).assign(np.array(0.5)), wf.DTypeError, "variable"),
        (lambda: wf.Variable(1).assign(2**40), wf.ValueError, "1099511627776"),
        (lambda: v.assign(None), wf.DTypeError, "assign: value"),
        (lambda: wf.Variable(), TypeError, "initial_value"),
        (lambda: wf.Variable("a"), wf.DTypeError, "initial_value"),
        (lambda: wf.Variable(1, dtype="float8"), wf.DTypeError, "float8"),
        (lambda: v.__iadd__(1), wf.StateError, "assign_add"),
        (lambda: v.__setitem__(0, 1), TypeError, "assign"),
        (lambda: hash(v), TypeError, "unhashable"),
    ):
        with pytest.raises(kind, match=words):
            call()
    assert v.numpy().tolist() == [1, 2]


def test_variables_live_as_long_as_their_object(live):
    v = wf.Variable(wf.ones(100000))
    gone = weakref.ref(v)
    with wf.GradientTape() as tape:
        y = wf.sum(v * v)
    assert tape.watched_variables()[0] is v
    held = live()
    del v, y, tape
    gc.collect()
    assert gone() is None and live() < held - 400000


def test_gradients():
    x = wf.tensor([1.0, 2.0])
    w, b = wf.Variable([3.0, 4.0]), wf.Variable(1.0)
    with wf.GradientTape() as tape:
        tape.watch(x)
        y = wf.sum(x * w + b)
    dx, dw, db = tape.gradient(y, (x, w, b))
    assert dx.tolist() == [3, 4] and dw.tolist() == [1, 2] and db.item() == 2


Pair = collections.namedtuple("Pair", "first second")


def test_structures_of_sources():
    w, b, other = wf.Variable([1.0, 2.0]), wf.Variable(3.0), wf.Variable(0.0)
    with wf.GradientTape(persistent=True) as tape:
        y = wf.sum(w * w) + b * 2
    assert tape.gradient(y, w).tolist() == [2, 4]
    got = tape.gradient(y, {"w": w, "rest": [b, (other,), None], "pair": Pair(b, w), "none": {}})
    assert list(got) == ["w", "rest", "pair", "none"] and got["none"] == {}
    assert got["w"].tolist() == [2, 4] and got["rest"][0].item() == 2 and got["rest"][1] == (None,) and got["rest"][2] is None
    assert isinstance(got["pair"], Pair) and got["pair"].second.tolist() == [2, 4]
    assert tape.gradient(y, other, unconnected_gradients="zero").item() == 0
    assert tape.gradient([y, w[0]], b).item() == 2
    for wrong, kind in ((5, wf.DTypeError), ("w", wf.DTypeError), ([w, 5], wf.DTypeError)):
        with pytest.raises(kind, match="tensors and variables"):
            tape.gradient(y, wrong)
    deep = [w]
    deep.append(deep)
    with pytest.raises(wf.ValueError, match="holds itself"):
        tape.gradient(y, deep)


def test_output_gradients():
    x = wf.tensor([1.0, 2.0])
    with wf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = x * x, x * 3
    assert tape.gradient(y, x, output_gradients=[1.0, 10.0]).tolist() == [2, 40]
    assert tape.gradient([y, z], x, output_gradients=[wf.ones(2), wf.tensor([0.0, 1.0])]).tolist() == [2, 7]
    with pytest.raises(wf.ShapeError):
        tape.gradient(y, x, output_gradients=wf.ones(3))


def test_higher_order_and_nested_tapes():
    x = wf.Variable(3.0)
    with wf.GradientTape() as outer:
        with wf.GradientTape() as inner:
            y = x * x * x
        dy = inner.gradient(y, x)
    assert dy.item() == 27 and outer.gradient(dy, x).item() == 18


def test_watching_and_pausing():
    v, fixed, x = wf.Variable(2.0), wf.Variable(5.0, trainable=False), wf.tensor(3.0)
    with wf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch([v, {"x": x}])
        y = v * x * fixed
        with tape.stop_recording():
            unseen = y + v
        z = wf.stop_gradient(v) * v
    assert tape.gradient(y, v).item() == 15 and tape.gradient(y, x).item() == 10 and tape.gradient(y, fixed) is None
    assert tape.gradient(unseen, v) is None and tape.gradient(z, v).item() == 2 and [u is v for u in tape.watched_variables()] == [True]
    assert "watch" in tape.explain(y, fixed)


def test_jacobians():
    x = wf.tensor([1.0, 2.0, 3.0])
    with wf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_array_equal(np.asarray(tape.jacobian(y, x)), np.diag([2, 4, 6]))
    a = wf.ones((2, 3))
    with wf.GradientTape() as tape:
        tape.watch(a)
        y = a * a
    assert tape.batch_jacobian(y, a).shape == (2, 3, 3)


@wf.custom_gradient
def log1pexp(x):
    """log(1 + exp(x)), of large numbers too."""
    e = wf.exp(x)
    return wf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))


def test_custom_gradients():
    x = wf.tensor(100.0)
    with wf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = log1pexp(x)
        plain = wf.log(1 + wf.exp(x))
    assert tape.gradient(y, x).item() == 1 and np.isnan(tape.gradient(plain, x).item())
    assert log1pexp.__name__ == "log1pexp" and log1pexp.__doc__.startswith("log(1")
    v, w = wf.Variable(2.0), wf.Variable(3.0)

    @wf.custom_gradient(variables=[w])
    def odd(a, b, scale=1, *, more=0):
        return {"sum": a + b * w, "rest": [a * scale + more]}, lambda d_sum, d_rest: (d_sum * 10, None, d_rest * 7)

    with wf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with wf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            result = odd(v, x, 2, more=1)
            target = result["sum"] + result["rest"][0]
        dv = tape.gradient(target, v)
    assert result["rest"][0].item() == 5 and dv.item() == 10
    assert tape.gradient(target, x) is None and tape.gradient(target, w).item() == 7


def test_custom_gradient_errors(live):
    x, w = wf.tensor(1.0), wf.Variable(3.0)

    def asked(function):
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = wf.custom_gradient(function)(x)
        return tape.gradient(y, x)

    for function, kind, words in (
        (lambda a: a, wf.DTypeError, "value, gradient function"),
        (lambda a: (a, 3), wf.DTypeError, "value, gradient function"),
        (lambda a: ("a", lambda dy: dy), wf.DTypeError, "the value"),
        (lambda a: (a * 1, lambda dy: (dy, dy)), wf.ValueError, "2 gradients"),
        (lambda a: (a * 1, lambda dy: wf.ones(3)), wf.ShapeError, ""),
        (lambda a: (a * 1, lambda dy: "b"), wf.DTypeError, "a gradient"),
        (lambda a: (a * w, lambda dy: dy), wf.StateError, "variable"),
        (lambda a: (a * 1, lambda dy: 1 / 0), ZeroDivisionError, "division"),
        (lambda a: 1 / 0, ZeroDivisionError, "division"),
    ):
        with pytest.raises(kind) as caught:
            asked(function)
        assert words in str(caught.value)
        del caught
    with wf.GradientTape() as tape:  # nothing is left in a wrong state
        tape.watch(x)
        y = x * 2
    assert tape.gradient(y, x).item() == 2
    del x, w, y, tape


def test_tape_errors():
    x = wf.Variable(1.0)
    tape = wf.GradientTape()
    for call in (lambda: tape.gradient(x * 1, x), lambda: tape.watch(x), lambda: tape.watched_variables()):
        with pytest.raises(wf.StateError, match="before the tape was entered"):
            call()
    with tape:
        y = x * x
    assert tape.gradient(y, x).item() == 2
    with pytest.raises(wf.StateError):
        tape.gradient(y, x)
    with pytest.raises(wf.StateError, match="records once"), tape:
        pass
    with pytest.raises(wf.ValueError, match="'none' or 'zero'"), wf.GradientTape() as other:
        other.gradient(x * 1, x, unconnected_gradients="all")
    with pytest.raises(KeyError), wf.GradientTape() as broken:
        raise KeyError("of the user's")
    assert broken.watched_variables() == ()


def test_a_tape_belongs_to_its_thread():
    x = wf.Variable(1.0)
    caught = []

    def elsewhere():
        try:
            tape.gradient(y, x)
        except wf.StateError as error:
            caught.append(error)

    with wf.GradientTape() as tape:
        y = x * x
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(caught) == 1 and tape.gradient(y, x).item() == 2


def test_gradients_leave_nothing_behind(live):
    w = wf.Variable(wf.random.normal((20, 5), seed=1))
    x, y = wf.random.normal((8, 20), seed=2), wf.random.normal((8, 5), seed=3)
    losses = []
    for _ in range(30):
        with wf.GradientTape() as tape:
            loss = wf.mean(wf.square(x @ w - y))
        w.assign_sub(0.5 * tape.gradient(loss, w))
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2
    del w, x, y, tape, loss


def test_random():
    a, b = wf.random.uniform((3, 2), seed=1), wf.random.uniform([3, 2], seed=1)
    assert a.tolist() == b.tolist() and a.dtype == "float32" and 0 <= np.asarray(a).min() <= np.asarray(a).max() < 1
    wf.random.set_seed(7)
    first = wf.random.normal(4, dtype="float64").tolist()
    wf.random.set_seed(7)
    assert wf.random.normal(4, dtype=np.float64).tolist() == first and wf.random.normal(4).tolist() != first[:4]
    assert abs(np.asarray(wf.random.truncated_normal(1000, seed=1))).max() <= 2
    assert sorted(wf.random.permutation(5, seed=1).tolist()) == [0, 1, 2, 3, 4]
    assert wf.random.randint((100,), 2, 5, dtype="int32", seed=3).dtype == "int32"
    assert wf.random.bernoulli((4,), 1.0, seed=1).tolist() == [True] * 4
    generator = wf.random.Generator(3)
    drawn = generator.uniform(2).tolist()
    assert drawn != generator.uniform(2).tolist() and generator.state.numpy()[0] == 3
    generator.reset(3)
    assert generator.uniform(2).tolist() == drawn
    assert sorted(generator.shuffle([1, 2, 3]).tolist()) == [1, 2, 3] and generator.normal((), stddev=0).item() == 0
    for wrong in (lambda: wf.random.uniform(2, 1, 0), lambda: wf.random.uniform(-1), lambda: wf.random.uniform(2, seed=-1),
                  lambda: wf.random.uniform(2, seed="a"), lambda: wf.random.normal(2, stddev=-1)):
        with pytest.raises(ValueError):
            wrong()


def test_a_tape_and_what_it_calls_are_collected():
    """A gradient function, or what recompute runs again, may lead back to the tape that recorded it."""
    x = wf.ones(250_000)

    def by_gradient(persistent):
        with wf.GradientTape(persistent) as tape:
            tape.watch(x)

            @wf.custom_gradient
            def f(x):
                y = wf.exp(x)
                return y, lambda g: g * y * (2 if tape is None else 1)

            f(x)

    def by_recompute():
        class Holder:
            def __init__(self):
                self.tape = wf.GradientTape(persistent=True)
                self.scale = wf.ones(250_000) + 1
                self.run = wf.recompute(self.call)

            def call(self, x):
                return wf.sum(x * self.scale)

        holder = Holder()
        with holder.tape:
            holder.tape.watch(x)
            holder.result = holder.run(x)
        assert holder.tape.gradient(holder.result, x).shape == x.shape

    for make in (lambda: by_gradient(False), lambda: by_gradient(True), by_recompute):
        make()
        gc.collect()
        before = wf.memory_stats()["current"]
        for _ in range(3):
            make()
        gc.collect()
        assert wf.memory_stats()["current"] - before < x.nbytes, make


def test_tapes_keep_what_others_recorded_too():
    x = wf.tensor(2.0)

    @wf.custom_gradient
    def cube(x):
        return x * x * x, lambda g: g * 3 * square(x)

    @wf.custom_gradient
    def square(x):
        return x * x, lambda g: g * 2 * x

    with wf.GradientTape() as outer:
        outer.watch(x)
        with wf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        first = inner.gradient(y, x)
        del inner
        gc.collect()
    assert float(first) == 12 and float(outer.gradient(first, x)) == 12
    with wf.GradientTape() as outer:
        outer.watch(x)
        with wf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        del inner
        gc.collect()
    assert float(outer.gradient(y, x)) == 12
    # What a derivative of a function, or a trace, records as well lives as long as that.
    with wf.GradientTape() as tape:
        value, pull = wf.vjp(cube, x)
    f = wf.function(lambda x: cube(x))
    with wf.GradientTape() as tape:
        tape.watch(x)
        z = f(x)
    assert float(tape.gradient(z, x)) == 12
    del tape
    gc.collect()
    assert float(pull(wf.tensor(1.0))[0]) == 12 and float(wf.grad(f)(x)) == 12
    recorded = []

    def work():
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        gc.collect()
        recorded.append(float(tape.gradient(y, x)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert recorded == [12.0] * 4
