"""Arguments and results: trees, binding, signatures, concrete functions, and what is asked of a function."""

import collections
import dataclasses
import functools
import pickle
import typing
import warnings

import numpy as np
import pytest

import weft as wf


class Point(typing.NamedTuple):
    x: object
    y: object


@dataclasses.dataclass(frozen=True)
class Pair:
    a: object
    b: object
    name: str = "pair"


@wf.function
def double_all(tree):
    if isinstance(tree, Point):
        return Point(tree.x * 2, tree.y * 2)
    if isinstance(tree, Pair):
        return Pair(tree.a * 2, tree.b * 2, tree.name)
    if isinstance(tree, dict):
        return {key: value * 2 for key, value in tree.items()}
    return type(tree)([value * 2 for value in tree])


def test_trees_go_in_and_come_out():
    one, two = wf.tensor(1.0), wf.tensor([2.0, 3.0])
    assert double_all([one, two])[1].tolist() == [4, 6]
    assert type(double_all((one, two))) is tuple
    point = double_all(Point(one, two))
    assert type(point) is Point and point.y.tolist() == [4, 6]
    pair = double_all(Pair(one, two, "kept"))
    assert type(pair) is Pair and pair.name == "kept" and float(pair.a) == 2
    result = double_all({"b": one, "a": two})
    assert list(result) == ["b", "a"] and result["a"].tolist() == [4, 6] and float(result["b"]) == 2


def test_the_order_of_a_dict_makes_no_trace():
    @wf.function
    def f(d):
        return d["a"] - d["b"]

    a, b = wf.tensor(5.0), wf.tensor(3.0)
    assert float(f({"a": a, "b": b})) == 2
    assert float(f({"b": b, "a": a})) == 2
    assert f.trace_count() == 1
    assert float(f(collections.OrderedDict(a=a, b=b))) == 2
    assert f.trace_count() == 2
    with pytest.raises(TypeError, match="sorted"):
        f({"a": a, 1: b})


def test_nested_dicts_and_none():
    @wf.function
    def f(d):
        assert d["none"] is None
        return {"inner": {"sum": d["x"]["y"] + d["x"]["z"][0]}, "none": None, "n": 3}

    d = {"x": {"y": wf.tensor(1), "z": [wf.tensor(2)]}, "none": None}
    for _ in range(2):
        result = f(d)
        assert int(result["inner"]["sum"]) == 3 and result["none"] is None and result["n"] == 3


def test_arrays_of_numpy_count_as_tensors():
    @wf.function
    def f(x):
        return x * 2

    for n in range(3):
        assert f(np.full(4, n, np.float32)).tolist() == [2 * n] * 4
    assert f.trace_count() == 1
    assert float(f(np.float32(4))) == 8
    result = wf.function(lambda: np.arange(3))()
    assert isinstance(result, wf.Tensor) and result.tolist() == [0, 1, 2]


def test_binding_as_python_does():
    @wf.function
    def f(a, b=2, *rest, c=10, **words):
        return a + b * 10 + sum(rest) * 100 + c * 1000 + words.get("d", 0) * 10000

    one = wf.tensor(1)

    def plain(a, b=2, *rest, c=10, **words):
        return a + b * 10 + sum(rest) * 100 + c * 1000 + words.get("d", 0) * 10000

    calls = [
        ((1,), {}), ((1, 3), {}), ((1,), {"b": 4}), ((1, 2, 3, 4), {}), ((1, 2, 3), {"c": 5, "d": 6}),
        ((), {"a": 1, "c": 2}),
    ]  # fmt: skip
    for args, words in calls:
        given = [one * x for x in args]
        named = {k: one * v for k, v in words.items()}
        assert int(f(*given, **named)) == plain(*args, **words)
    for args, words, match in [
        ((), {}, "missing a required argument: 'a'"),
        ((one,), {"a": one}, "multiple values for argument 'a'"),
    ]:
        with pytest.raises(TypeError, match=match):
            f(*args, **words)
    g = wf.function(lambda x: x)
    with pytest.raises(TypeError, match="too many positional arguments"):
        g(one, one)
    with pytest.raises(TypeError, match="unexpected keyword argument 'y'"):
        g(one, y=one)


def test_methods_static_ones_and_callables():
    class Model:
        def __init__(self):
            self.w = wf.Variable(2.0)

        @wf.function
        def step(self, x):
            return self.w * x

        @staticmethod
        @wf.function
        def plain(x):
            return x + 1

        @wf.function
        def __call__(self, x):
            return self.w * x + 1

    a, b = Model(), Model()
    b.w.assign(3.0)
    x = wf.tensor(4.0)
    assert [float(a.step(x)), float(b.step(x)), float(a.step(x))] == [8, 12, 8]
    assert Model.step.trace_count() == 2
    step = a.step
    assert float(step(x)) == 8 and step.__self__ is a
    assert "hit" in step.explain(x)
    assert float(Model.plain(x)) == float(a.plain(x)) == 5
    assert float(b(x)) == 13
    assert float(wf.function(a.step)(x)) == 8
    assert float(wf.function(functools.partial(lambda y, x: x - y, 1.0))(x)) == 3
    assert float(wf.function(Model())(x)) == 9


def test_functions_as_arguments():
    @wf.function
    def apply(f, x):
        return f(x)

    def twice(x):
        return x * 2 if x > 0 else x

    x = wf.tensor(3.0)
    for _ in range(3):
        assert float(apply(twice, x)) == 6
    assert float(apply(wf.exp, wf.tensor(0.0))) == 1
    assert apply.trace_count() == 2


def test_methods_as_arguments_count_by_what_they_are_of():
    class Model:
        def plain(self, x):
            return x + 1

        @wf.function
        def step(self, x):
            return x * 2

    @wf.function
    def apply(f, x):
        return f(x)

    a, b, x = Model(), Model(), wf.tensor(3.0)
    for _ in range(3):
        assert [float(apply(m, x)) for m in (a.plain, a.step, b.step)] == [4, 6, 6]
    assert apply.trace_count() == 3


def test_nested_functions_are_calls():
    traced = []

    @wf.function
    def inner(x):
        traced.append(x)
        return x * 2

    @wf.function
    def outer(x):
        return inner(x) + inner(x + 1)

    assert float(outer(wf.tensor(3.0))) == 14
    assert len(traced) == 1
    assert "call" in outer.ir(wf.tensor(3.0), phase="trace")


def test_recursion_without_end_is_an_error():
    @wf.function
    def f(x):
        return f(x) + 1

    with pytest.raises(wf.StateError, match="recursion"):
        f(wf.tensor(1.0))


def test_input_signature():
    with pytest.raises(TypeError, match="either a tuple or a list"):
        wf.function(lambda x: x, input_signature=wf.TensorSpec([]))
    with pytest.raises(TypeError, match="possibly nested sequence of TensorSpec"):
        wf.function(lambda x: x, input_signature=[3])
    with pytest.raises(TypeError, match="'y'"):
        wf.function(lambda x, y: x, input_signature=[wf.TensorSpec([])])
    with pytest.raises(TypeError, match="1 more spec"):
        wf.function(lambda x: x, input_signature=[wf.TensorSpec([])] * 2)

    @wf.function(input_signature=[wf.TensorSpec([None], wf.int32)])
    def collatz(x):
        return wf.sum(x)

    assert int(collatz([1, 2])) == 3 and int(collatz(wf.tensor([1, 2, 3]))) == 6
    assert collatz.trace_count() == 1
    with pytest.raises(wf.ShapeError):
        collatz(wf.tensor([[1]]))

    @wf.function(input_signature=[{"a": wf.TensorSpec([None]), "b": [wf.TensorSpec([])]}])
    def nested(d):
        return wf.sum(d["a"]) + d["b"][0]

    assert float(nested({"b": [2.0], "a": [1.0, 1.0]})) == 4
    assert float(nested({"a": [1.0], "b": [2]})) == 3


def test_concrete_functions():
    @wf.function
    def f(x, n, scale=2.0):
        return x * n * scale

    concrete = f.get_concrete_function(wf.TensorSpec([None], wf.float32), 3)
    assert concrete(wf.tensor([1.0])).tolist() == [6]
    assert concrete(wf.tensor([1.0, 2.0]), 3).tolist() == [6, 12]
    with pytest.raises(TypeError, match="'n' is 4"):
        concrete(wf.tensor([1.0]), 4)
    with pytest.raises(TypeError):
        concrete(wf.tensor([1]))
    with pytest.raises(TypeError, match="'x'"):
        concrete()
    assert concrete.structured_input_signature["n"] == 3


def test_what_is_asked_of_a_function():
    @wf.function
    def step(x, scale):
        """Steps."""
        return x * scale

    assert step.__name__ == "step" and step.__doc__ == "Steps." and callable(step.python_function)
    x = wf.ones([3])
    assert "no trace yet" in step.explain(x, 2)
    step(x, 2)
    assert step.explain(x, 2) == "step: hit"
    assert "argument 'scale': 2 became 3" in step.explain(x, 3)
    assert "argument 'x', dimension 0: 3 became 4" in step.explain(wf.ones([4]), 2)
    assert "linalg" in step.ir(x, 2, phase="linalg")
    assert ".visible .entry step_0(" in step.ir(x, 2, phase="ptx")
    with pytest.raises(wf.ValueError, match="'linalg'"):
        step.ir(x, 2, phase="lingal")
    assert step.report(x, 2)["total_ms"] > 0
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(step)


def test_a_warning_of_many_traces_names_the_argument():
    @wf.function
    def f(x, n):
        return x * n

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for n in range(20):
            f(wf.tensor(1.0), n)
    assert len(caught) == 2
    assert "argument 'n': " in str(caught[0].message) and caught[0].filename == __file__


def test_functions_run_eagerly():
    seen = []

    @wf.function
    def f(x):
        seen.append(float(x))
        return x * 2

    wf.config.run_functions_eagerly(True)
    try:
        assert wf.config.functions_run_eagerly()
        assert [float(f(wf.tensor(n))) for n in (1.0, 2.0)] == [2, 4]
    finally:
        wf.config.run_functions_eagerly(False)
    assert seen == [1, 2] and f.trace_count() == 0


def test_called_eagerly_the_code_is_not_converted():
    def f(x):
        return 1 if x else 2

    traced = wf.function(f)
    assert traced.python_function is f
    assert f(wf.tensor(3)) == 1


def test_tapes_see_calls():
    w = wf.Variable([1.0, 2.0])

    @wf.function
    def loss(x):
        y = wf.sum(w * x)
        if y > 0:
            y = y * y
        return y

    x = wf.tensor([3.0, 4.0])
    with wf.GradientTape() as tape:
        y = loss(x)
    assert float(y) == 121
    assert tape.gradient(y, w).tolist() == [66, 88]

    @wf.function
    def step(x):
        with wf.GradientTape() as tape:
            y = loss(x)
        w.assign_sub(tape.gradient(y, w) * 0.01)
        return y

    assert float(step(x)) == 121
    np.testing.assert_allclose(w.numpy(), [1 - 0.66, 2 - 0.88], rtol=1e-5)


def test_host_calls():
    @wf.function
    def f(x):
        y = wf.numpy_function(np.sort, [x], wf.TensorSpec([None]))
        z = wf.py_function(lambda t: t.tolist()[0], [x], wf.float32)
        return y, z

    for _ in range(2):
        y, z = f(wf.tensor([3.0, 1.0, 2.0]))
        assert y.tolist() == [1, 2, 3] and float(z) == 3

    def fails(x):
        raise KeyError("mine")

    g = wf.function(lambda x: wf.py_function(fails, [x], wf.float32))
    with pytest.raises(KeyError, match="mine"):
        g(wf.tensor(1.0))
    assert float(wf.py_function(lambda x: x * 2, [wf.tensor(2.0)], wf.float32)) == 4


def test_functions_in_cycles_go(live):
    import gc
    import weakref

    class Model:
        def __init__(self):
            self.w = wf.Variable(2.0)
            self.step = wf.function(lambda x: self.w * x)
            self.bound = self.method
            self.again = wf.function(self.method)

        @wf.function
        def method(self, x):
            return self.w + x

    def once():
        model = Model()
        x = wf.tensor(1.0)
        assert [float(f(x)) for f in (model.step, model.bound, model.again)] == [2, 3, 3]
        return weakref.ref(model), weakref.ref(model.step)

    gone = once()
    Model.method.python_function  # noqa: B018
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    del Model
    live()


def test_signatures_of_methods_begin_behind_the_first_parameter():
    spec = wf.TensorSpec([None], "float32")

    class Scale:
        factor = 2.0

        @wf.function(input_signature=[spec])
        def usual(self, x):
            return x * self.factor

        @wf.function(input_signature=[spec])
        def other(this, x):  # noqa: N805
            return x * this.factor

        @wf.function(input_signature=[spec, spec])
        def optional(me, x, y=None, *, sign=1):  # noqa: N805
            return (x + y) * me.factor * sign

        @staticmethod
        @wf.function(input_signature=[spec])
        def alone(x):
            return x * 3

        @classmethod
        @wf.function(input_signature=[spec])
        def of_class(cls, x):
            return x * cls.factor

    scale = Scale()
    for method, expected in ((scale.usual, 2), (scale.other, 2), (scale.alone, 3), (scale.of_class, 2), (Scale.alone, 3)):
        assert method([1, 2]).tolist() == [expected, 2 * expected]
        assert method([1]).tolist() == [expected]
    assert scale.optional([1], [2]).tolist() == [6] and Scale.other(scale, [1]).tolist() == [2]
    assert scale.other.trace_count() == 1
    with pytest.raises(wf.ShapeError, match="argument 'x' is float32"):
        scale.other([[1.0]])
    with pytest.raises(TypeError, match="input_signature is missing a spec for the parameter 'y'"):
        wf.function(lambda x, y: x, input_signature=[spec])
    with pytest.raises(TypeError, match="input_signature is missing a spec for the parameter 'y'"):

        class _Wrong:
            @wf.function(input_signature=[spec])
            def f(this, x, y):  # noqa: N805
                return x


def test_concrete_functions_of_any_number_of_arguments():
    spec = wf.TensorSpec

    def total(x, *rest, scale=1):
        return sum(rest, x) * scale

    f = wf.function(total)
    concrete = f.get_concrete_function(spec([None], "int32"), spec([], "int32"), 5)
    assert concrete([1, 2], 3, 5).tolist() == [9, 10] and concrete([1], 4, 5).tolist() == [10]
    assert concrete.structured_input_signature["rest"] == (spec([], "int32"), 5)
    with pytest.raises(TypeError, match=r"total\(\): '\*rest' has 1 arguments, but this concrete function is for 2"):
        concrete([1], 2)
    with pytest.raises(TypeError, match=r"the argument '\*rest\[1\]' is 6, but this concrete function is for 5 alone"):
        concrete([1], 2, 6)
    with pytest.raises(wf.DTypeError, match=r"argument '\*rest\[0\]' is float32.*says int32"):
        concrete([1], 2.5, 5)
    with pytest.raises(TypeError, match="missing the argument 'rest'"):
        concrete([1])
    scaled = f.get_concrete_function(spec([], "int32"), spec([], "int32"), scale=spec([], "int32"))
    assert int(scaled(1, 2, scale=3)) == 9
    assert int(f.get_concrete_function(spec([], "int32"))(7)) == 7
    signed = wf.function(total, input_signature=[spec([], "int32")] * 3)
    assert int(signed.get_concrete_function()(1, 2, 3)) == 6
