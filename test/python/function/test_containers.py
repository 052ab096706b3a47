"""Containers of arguments and results that something else changes: a callback in the middle of a walk, the user between
two calls, another thread."""

import collections
import dataclasses
import datetime
import gc
import os
import subprocess
import sys
import weakref
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import weft as wf


def run(source, seconds=120):
    """What a program prints, run by itself: what is wrong here ends the process."""
    path = str(Path(wf.__file__).parents[1])
    start = f"import sys; sys.path.insert(0, {path!r})\nimport gc, numpy as np, weft as wf\n"
    child = subprocess.run(
        [sys.executable, "-c", start + source], capture_output=True, text=True, timeout=seconds
    )
    assert child.returncode == 0, (child.returncode, child.stdout[-500:], child.stderr[-2000:])
    return child.stdout.split()


def floats(tree):
    if isinstance(tree, dict):
        return {key: floats(value) for key, value in tree.items()}
    return [floats(value) for value in tree] if isinstance(tree, list) else float(tree)


# Results.


class Model:
    def __init__(self):
        self.logs, self.rows = {}, []

    @wf.function
    def step(self, x):
        self.logs["loss"] = x * 2.0
        self.logs["norm"] = x * 3.0
        return self.logs

    @wf.function
    def list(self, x):
        self.rows[:] = [x * 2.0, x * 3.0]
        return self.rows


def test_a_dict_that_others_hold_is_returned_as_it_was():
    m, x = Model(), wf.tensor(1.0)
    expected = {"loss": 2.0, "norm": 3.0}
    assert floats(m.step(x)) == expected
    m.logs.clear()
    assert floats(m.step(x)) == expected and m.logs == {}
    m.logs["accuracy"] = wf.tensor(0.5)
    assert floats(m.step(x)) == expected and floats(m.logs) == {"accuracy": 0.5}
    m.logs["loss"] = m.logs["norm"] = wf.tensor(0.0)
    assert floats(m.step(x * 2.0)) == {"loss": 4.0, "norm": 6.0}
    assert floats(m.logs) == {"accuracy": 0.5, "loss": 0.0, "norm": 0.0}


def test_a_list_that_others_hold_is_returned_as_it_was():
    m, x = Model(), wf.tensor(1.0)
    assert floats(m.list(x)) == [2.0, 3.0]
    m.rows.insert(0, wf.tensor(7.0))
    assert floats(m.list(x)) == [2.0, 3.0] and len(m.rows) == 3
    m.rows.clear()
    assert floats(m.list(x)) == [2.0, 3.0]


def test_each_call_returns_containers_of_its_own():
    kept = {"inner": [], "n": 3}

    @wf.function
    def f(x):
        kept["inner"][:] = [x + 1.0, "text"]
        return kept

    first, second = f(wf.tensor(1.0)), f(wf.tensor(1.0))
    first["inner"].clear()
    first["n"] = 4
    kept["inner"].append(5)
    kept["n"] = 6
    third = f(wf.tensor(2.0))
    assert float(second["inner"][0]) == 2.0 and second["inner"][1] == "text" and second["n"] == 3
    assert float(third["inner"][0]) == 3.0 and third["inner"][1:] == ["text"] and third["n"] == 3


@dataclasses.dataclass
class Both:
    a: object
    b: object = None


def test_records_and_subclasses_of_dict_are_returned_as_they_were():
    both, counts = Both(None), collections.defaultdict(list)

    @wf.function
    def f(x):
        both.a, both.extra = x * 2.0, "more"
        counts["x"] = [x, 1]
        return both, counts

    f(wf.tensor(1.0))
    both.a, both.b = wf.tensor(9.0), [wf.tensor(9.0)]
    counts.clear()
    counts["y"] = wf.tensor(9.0)
    record, counted = f(wf.tensor(1.0))
    assert record is not both and float(record.a) == 2.0 and record.b is None
    assert record.extra == "more"
    assert list(counted) == ["x"] and float(counted["x"][0]) == 1.0 and counted["x"][1] == 1
    assert counted["z"] == [] and float(both.a) == 9.0


@dataclasses.dataclass(frozen=True)
class Slotted:
    __slots__ = ("a", "b")
    a: object
    b: object


def test_frozen_records_with_slots():
    f = wf.function(lambda record: (record, Slotted(record.b, 3)))
    for k in (1.0, 2.0):
        same, other = f(Slotted(wf.tensor(k), wf.tensor(k + 1.0)))
        assert [float(same.a), float(same.b), float(other.a), other.b] == [k, k + 1.0, k + 1.0, 3]
    (element,) = wf.data.from_generator(lambda: [Slotted(1.0, "text")])
    assert float(element.a) == 1.0 and element.b == "text"


def test_a_function_inside_of_another_returns_what_it_did():
    held = []

    @wf.function
    def inner(x):
        held[:] = [x * 2.0]
        return held

    @wf.function
    def outer(x):
        first = inner(x)[0]
        held.extend([1.0, 2.0])
        return first + inner(x)[0]

    assert float(outer(wf.tensor(1.0))) == 4.0
    held.clear()
    with wf.GradientTape() as tape:
        x = wf.tensor(1.0)
        tape.watch(x)
        y = inner(x)[0]
    assert float(tape.gradient(y, x)) == 2.0


def test_another_thread_changes_what_is_returned():
    assert run("""
import threading, time
sys.setswitchinterval(1e-6)
shared, stop, results = {}, [], 0
def change():
    k = 0
    while not stop:
        k += 1
        shared.clear(); shared.update({str(j): np.ones(3, "f4") for j in range(k % 60)})
thread = threading.Thread(target=change, daemon=True); thread.start()
end = time.time() + 4
while time.time() < end:
    f = wf.function(lambda: shared)
    results += len(f()) == len(f())
stop.append(1); thread.join()
print(results > 0)
""") == ["True"]


# Arguments.


def test_array_changes_the_list_that_it_is_in():
    assert run("""
class Lazy:
    def __array__(self, *a, **k):
        items.clear(); gc.collect()
        return np.ones(3)
for make in (list, lambda xs: {str(i): x for i, x in enumerate(xs)}, lambda xs: [[x] for x in xs]):
    for first in ([], [wf.tensor([5.0, 6.0])], [wf.Variable(2.0)]):
        items = make([*first, *(Lazy() for _ in range(20))])
        f = wf.function(lambda a: len(a))
        print(f(items), len(items))
""") == [word for first in (20, 21, 21) for word in (str(first), "0")] * 3  # fmt: skip


def test_the_function_gets_what_was_read():
    class Lazy:
        def __array__(self, *rest, **words):
            items[0] = wf.tensor(100.0)
            items.append(7)
            return np.float32(3.0)

    x = wf.tensor(1.0)
    items = [x, Lazy()]
    f = wf.function(lambda a: (a[0] + a[1], len(a)))
    total, count = f(items)
    assert float(total) == 4.0 and count == 2 and len(items) == 3


def test_comparisons_of_keys_change_the_dict_that_they_are_in():
    assert run("""
class K(str):
    __hash__ = str.__hash__
    def __eq__(s, o): d.clear(); return str.__eq__(s, o)
    def __lt__(s, o): d.clear(); gc.collect(); return str.__lt__(s, o)
class N(int):
    def __hash__(s): d.clear(); return int.__hash__(s)
    def __eq__(s, o): d.clear(); return int.__eq__(s, o)
    def __lt__(s, o): d.clear(); gc.collect(); return int.__lt__(s, o)
for make in (K, lambda c: N(ord(c))):
    for v in ([1.0, 2.0], np.ones(2), wf.ones([2])):
        full = lambda: {make(c): v for c in "abcdefgh"}
        d = {}; d = full()
        print(len(list(wf.data.from_tensors(d))[0]))
        d = {}; d = full()
        print(wf.function(lambda a: len(a.items()))(d))
        d = {}; d = full()
        print(len(wf.function(lambda x: d)(wf.tensor(1.0))))
""") == ["8", "8", "8"] * 6


def test_properties_change_the_structure_that_they_are_in():
    assert run("""
import dataclasses
@dataclasses.dataclass
class Evil:
    a: object = None
    def __getattribute__(self, name):
        if name == "a": items.clear(); gc.collect(); return [wf.tensor(float(len(items)))]
        return object.__getattribute__(self, name)
f = wf.function(lambda a: len(a))
for _ in range(3):
    items = [wf.tensor([1.0]), Evil(), *(wf.ones([k]) for k in range(20))]
    print(f(items))
for _ in range(3):
    items = [Evil(), *(wf.ones([k]) for k in range(20))]
    print(len(wf.function(lambda: items)()))
    items = [Evil(), *(wf.ones([k]) for k in range(20))]
    print(len(list(wf.data.from_generator(lambda: [items]))[0]))
""") == ["22"] * 3 + ["21"] * 6


def test_gradients_have_the_structure_that_the_sources_had():
    assert run("""
@wf.custom_gradient
def f(x):
    def back(dy):
        sources.clear(); sources.extend([1.0] * 40); named.clear(); gc.collect()
        return dy * 3.0
    return x * 1.0, back
x, w = wf.tensor(2.0), wf.Variable(4.0)
for which in (0, 1):
    sources, named = [x, w], {"x": x, "w": w}
    by = (sources, named)[which]
    with wf.GradientTape() as tape:
        tape.watch(x)
        y = f(x) + w
    gradients = tape.gradient(y, by)
    for each in (gradients.values() if isinstance(gradients, dict) else gradients): print(float(each))
shared = [x]
def g(a):
    shared.append(a); return shared
print(len(wf.recompute(g)(x)), len(shared))
""") == ["3.0", "1.0", "3.0", "1.0", "2", "2"]


def test_index_and_float_change_the_list_that_they_are_in():
    assert run("""
class Index:
    def __index__(self): items.clear(); gc.collect(); return 1
class Number:
    def __array__(self, *a, **k): items.clear(); gc.collect(); return np.float32(1.0)
def full(kind): return [kind() for _ in range(30)]
items = full(Index); print(wf.zeros(items[:4]).shape)
for call in (lambda: wf.zeros(items), lambda: wf.reshape(wf.zeros([1]), items), lambda: wf.sum(wf.zeros([1]), axis=items),
             lambda: wf.permute(wf.zeros([1]), items), lambda: wf.function(lambda x: wf.zeros([x.shape[0], *items]))(wf.ones([1]))):
    items = full(Index)
    try: call()
    except Exception as error: pass
for call in (lambda: wf.stack(items), lambda: wf.concatenate(items), lambda: wf.tensor(items), lambda: wf.einsum("i->i", *items),
             lambda: wf.optimizers.SGD([wf.Variable(1.0)]).apply_gradients(items),
             lambda: wf.optimizers.SGD([wf.Variable(1.0)]).apply_gradients([[Number(), wf.Variable(1.0)]])):
    items = full(Number)
    try: call()
    except Exception as error: pass
print("survived")
""")[-1] == "survived"  # fmt: skip


def test_words_of_a_partial_change_while_they_are_read():
    assert run("""
import functools
class Units:
    def __index__(self): partial.keywords.clear(); gc.collect(); return 3
partial = functools.partial(wf.nn.Dense, units=Units(), name="".join(["na", "me"]), activation=lambda x: x)
try: partial()
except Exception: pass
print("survived")
""") == ["survived"]


# Objects.


class Layer:
    __slots__ = ("name", "scale")
    alive = 0

    def __init__(self, name, scale):
        Layer.alive += 1
        self.name, self.scale = name, scale

    def __del__(self):
        Layer.alive -= 1

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


def test_objects_without_weak_references_count_by_identity():
    f, x = wf.function(lambda x, layer: x * layer.scale), wf.tensor(1.0)
    two, three = Layer("a", 2.0), Layer("a", 3.0)
    assert [float(f(x, layer)) for layer in (two, three, two, three)] == [2.0, 3.0, 2.0, 3.0]
    assert f.trace_count() == 2
    assert [float(f(x, Layer("a", float(k)))) for k in range(20)] == list(range(20))
    assert "object" in f.explain(x, Layer("a", 2.0))


def test_values_of_python_count_by_value():
    f, x = wf.function(lambda x, value: x * 2.0), wf.tensor(1.0)
    for make in (lambda: range(2, 9), lambda: datetime.date(2020, 2, 3), lambda: Decimal("1.5")):
        before = f.trace_count()
        assert [float(f(x, make())) for _ in range(3)] == [2.0] * 3
        assert f.trace_count() == before + 1
    assert [wf.function(lambda r: len(r))(range(n)) for n in (3, 4)] == [3, 4]
    g = wf.function(lambda x, r: x * float(len(r)))
    assert [float(g(x, range(n))) for n in (3, 4, 3)] == [3.0, 4.0, 3.0]


class Unhashable:
    __slots__ = ("scale",)
    __hash__ = None

    def __init__(self, scale):
        self.scale = scale

    @wf.function
    def times(self, x):
        return x * self.scale


def test_objects_without_hash_and_their_methods():
    one, two = Unhashable(1.0), Unhashable(2.0)
    x = wf.tensor(3.0)
    assert [float(each.times(x)) for each in (one, two, one, two)] == [3.0, 6.0, 3.0, 6.0]
    f = wf.function(lambda method, x: method(x))
    assert [float(f(each.times, x)) for each in (one, two, one)] == [3.0, 6.0, 3.0]


def test_objects_go_with_the_traces_that_know_them():
    gc.collect()
    before = Layer.alive
    f = wf.function(lambda x, layer: x * layer.scale, max_traces=4)
    for k in range(10):
        f(wf.tensor(1.0), Layer("a", float(k)))
    gc.collect()
    assert Layer.alive - before <= 5
    layer = Layer("b", 7.0)
    g = wf.function(lambda x, layer: x + layer.scale)
    assert float(g(wf.tensor(1.0), layer)) == 8.0 and float(f(wf.tensor(1.0), layer)) == 7.0
    del f
    gc.collect()
    assert Layer.alive - before == 1
    assert float(g(wf.tensor(1.0), layer)) == 8.0 and g.trace_count() == 1
    del g, layer
    gc.collect()
    assert Layer.alive == before


def test_a_cycle_through_an_object_is_collected():
    gc.collect()
    before = Layer.alive
    layer = Layer("a", 2.0)
    f = wf.function(lambda x, layer: x * layer.scale[0])
    layer.scale = (3.0, f)
    assert float(f(wf.tensor(1.0), layer)) == 3.0
    gone = weakref.ref(f)
    del f, layer
    gc.collect()
    assert gone() is None and Layer.alive == before


def test_keys_count_by_value_and_are_not_kept():
    @dataclasses.dataclass(frozen=True, order=True)
    class Key:
        name: str

    f = wf.function(lambda d: [value * 2.0 for value in d.values()])
    for _ in range(3):
        assert float(f({Key("a"): wf.tensor(1.0), Key("b"): wf.tensor(2.0)})[1]) == 4.0
    assert f.trace_count() == 1
    assert float(f({Key("a"): wf.tensor(1.0)})[0]) == 2.0 and f.trace_count() == 2
    key = Key("c")
    f({key: wf.tensor(1.0)})
    gone = weakref.ref(key)
    del key, f
    gc.collect()
    assert gone() is None


def test_what_results_refer_to_is_collected():
    @dataclasses.dataclass
    class Result:
        y: object

    class Subclass(dict):
        pass

    @wf.function
    def f(x):
        return Result(x * 2.0), Subclass(x=x)

    Result.function = Subclass.function = f
    assert float(f(wf.tensor(1.0))[0].y) == 2.0
    gone = [weakref.ref(Result), weakref.ref(Subclass), weakref.ref(f)]
    del f, Result, Subclass
    gc.collect()
    assert [reference() for reference in gone] == [None] * 3


@pytest.mark.parametrize("what", ["dataclass", "slots", "key", "mapping"])
def test_nothing_is_listed_as_leaked_at_the_end(what):
    source = """
import dataclasses, os
class Subclass(dict): pass
@dataclasses.dataclass
class Result:
    y: object
class Slots:
    __slots__ = ("scale",)
    def __eq__(self, other): return self is other
    def __hash__(self): return 1
    def __lt__(self, other): return id(self) < id(other)
slots = Slots(); slots.scale = 2.0
x = wf.tensor(1.0)
f = wf.function({"dataclass": lambda x: Result(x), "slots": lambda x: x[0] if isinstance(x, list) else x,
                 "key": lambda x: {slots: x}, "mapping": lambda x: Subclass(a=x)}[%r])
f(x); f([x, slots]) if %r == "slots" else f({slots: x}) if %r == "key" else None
""" % (what, what, what)
    path = str(Path(wf.__file__).parents[1])
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", "import weft as wf\n" + source], capture_output=True, text=True,
        timeout=120, env={**os.environ, "PYTHONPATH": path, "WEFT_LEAK_WARNINGS": "1"},
    )  # fmt: skip
    assert (child.returncode, child.stderr) == (0, "")
