"""`wf.tree`, and derivatives and `vmap` by dataclasses and Modules."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

import weft as wf

Point = namedtuple("Point", "x y")


@dataclass
class Net:
    w: object
    b: object
    name: str = "net"
    units: int = 3
    more: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Frozen:
    a: object
    b: object


VALUE = {"b": [1, (2.0, None)], "a": Point("x", wf.tensor([1.0, 2.0])), "c": Frozen(3, {"z": 4})}


def test_trees_apart_and_together():
    leaves, structure = wf.tree.flatten(VALUE)
    assert [x if not isinstance(x, wf.Tensor) else x.tolist() for x in leaves] == ["x", [1.0, 2.0], 1, 2.0, 3, 4]
    assert wf.tree.leaves(VALUE)[2:] == leaves[2:] and len(structure) == 6
    again = wf.tree.unflatten(structure, range(6))
    assert again == {"b": [2, (3, None)], "a": Point(0, 1), "c": Frozen(4, {"z": 5})}
    assert list(again) == ["b", "a", "c"] and type(again["a"]) is Point
    assert wf.tree.unflatten(structure, (x for x in leaves))["b"] == VALUE["b"]
    assert repr(structure) == "Structure({'b': [*, (*, None)], 'a': Point(x=*, y=*), 'c': Frozen(a=*, b={'z': *})})"
    assert wf.tree.leaves(None) == [] and wf.tree.unflatten(wf.tree.structure(3), ["one"]) == "one"


def test_equal_structures():
    same = wf.tree.structure({"c": Frozen(0, {"z": 0}), "a": Point(0, 0), "b": [0, (0, None)]})
    assert wf.tree.structure(VALUE) == same and hash(wf.tree.structure(VALUE)) == hash(same)
    others = [[1], (1,), {"a": 1}, {"b": 1}, {1: 1}, Point(1, 2), Frozen(1, 2), Net(1, 2), None, [1, 2], [None], OrderedDict(a=1), 1]
    for i, a in enumerate(others):
        for j, b in enumerate(others):
            assert (wf.tree.structure(a) == wf.tree.structure(b)) is (i == j), (a, b)
    assert wf.tree.structure([1]) != [1]


def test_maps():
    doubled = wf.tree.map(lambda x: x * 2, VALUE)
    assert doubled["b"] == [2, (4.0, None)] and doubled["a"].x == "xx" and doubled["c"] == Frozen(6, {"z": 8})
    assert wf.tree.map(lambda a, b, c: a + b + c, [1, {"k": 2}], [10, {"k": 20}], [100, {"k": 200}]) == [111, {"k": 222}]
    assert wf.tree.map(len, [(1, 2), ((3,), 4)], is_leaf=lambda x: isinstance(x, tuple)) == [2, 2]
    kinds = wf.tree.map(lambda x: x, OrderedDict(b=1, a=[2]))
    assert type(kinds) is OrderedDict and list(kinds) == ["b", "a"]

    @wf.function
    def step(parameters, gradients):
        return wf.tree.map(lambda p, g: p - 0.5 * g, parameters, gradients)

    made = step({"w": wf.tensor([1.0]), "b": [wf.tensor(2.0)]}, {"b": [wf.tensor(1.0)], "w": wf.tensor([4.0])})
    assert made["w"].tolist() == [-1.0] and made["b"][0].item() == 1.5


def test_bad_trees():
    loop = []
    loop.append(loop)
    with pytest.raises(wf.ValueError, match="leaves: the structure is nested too deep, or holds itself"):
        wf.tree.leaves(loop)
    with pytest.raises(wf.ValueError, match="unflatten: the structure has 2 leaves, but there are 3"):
        wf.tree.unflatten(wf.tree.structure([1, 2]), [1, 2, 3])
    with pytest.raises(wf.ValueError, match=r"map: tree number 1 is of another structure than the first: Structure\(\[\*\]\), not Structure\(\[\*, \*\]\)"):
        wf.tree.map(lambda a, b: a, [1, 2], [1])
    with pytest.raises(TypeError):
        wf.tree.leaves({1: 1, "a": 2})
    with pytest.raises(ZeroDivisionError):
        wf.tree.map(lambda x: 1 / x, [1, 0])
    with pytest.raises(KeyError):
        wf.tree.flatten([1], is_leaf=lambda x: {}["no"])
    with pytest.raises(TypeError):
        wf.tree.unflatten([1], [1])


# Dataclasses and Modules.


class Linear(wf.Module):
    def __init__(self):
        self.w = wf.Variable([1.0, 2.0])
        self.b = wf.Variable(0.5)
        self.steps = wf.Variable(0.0, trainable=False)

    def __call__(self, x):
        return wf.sum(self.w * x) + self.b


X = wf.tensor([3.0, -1.0])


def test_gradients_by_dataclasses():
    net = Net(wf.tensor([1.0, 2.0]), 0.5, more={"scale": wf.tensor(2.0), "act": "tanh", "sizes": [1, 2]})

    def loss(net, x):
        assert net.name == "net" and net.units == 3 and net.more["sizes"] == [1, 2]
        return net.more["scale"] * (wf.sum(net.w * x) + net.b)

    for run in (lambda f: f, wf.function):
        g = run(wf.grad(loss))(net, X)
        assert type(g) is Net and (g.name, g.units, g.more["act"], g.more["sizes"]) == ("net", 3, "tanh", [1, 2])
        np.testing.assert_array_equal(g.w, [6, -2])
        assert g.b.item() == 2 and g.more["scale"].item() == 1.5
    value, (g, dx) = wf.value_and_grad(loss, (0, 1))(net, X)
    assert value.item() == 3.0 and type(g) is Net and dx.tolist() == [2, 4]
    frozen = wf.grad(lambda p: wf.sum(p.a * p.b))(Frozen(X, X * 2))
    assert type(frozen) is Frozen and frozen.a.tolist() == [6, -2]
    h = wf.hessian(lambda p: wf.sum(p.a**3) * p.b)(Frozen(X, 2.0))
    assert h.a.b.tolist() == [27, 3]
    y, dy = wf.jvp(lambda p: p.a * p.b, (Frozen(X, 2.0),), (Frozen(wf.ones([2]), 0.0),))
    assert dy.tolist() == [2, 2]
    with pytest.raises(TypeError):
        wf.grad(lambda x: wf.sum(x[0]))([X, "text"])


def test_gradients_by_modules():
    model = Linear()
    for run in (lambda f: f, wf.function):
        value, g = run(wf.value_and_grad(lambda m, x: m(x) ** 2))(model, X)
        assert value.item() == 2.25 and [x.tolist() for x in g] == [[9.0, -3.0], 3.0]
    pair = wf.grad(lambda parts: parts["m"](parts["x"]))({"m": model, "x": X})
    assert [x.tolist() for x in pair["m"]] == [[3.0, -1.0], 1.0] and pair["x"].tolist() == [1.0, 2.0]
    optimizer = wf.optimizers.SGD(0.1)
    optimizer.apply_gradients(zip(wf.grad(lambda m: m(X))(model), model.trainable_variables))
    np.testing.assert_allclose(model.b.numpy(), 0.4)


def test_vmap_of_dataclasses_and_modules():
    model = Linear()
    nets = Net(wf.tensor([[1.0, 2.0], [3.0, 4.0]]), wf.tensor([0.5, 1.5]), more={"k": 7, "t": wf.tensor([1.0, 2.0])})

    def f(net, m, x):
        assert net.units == 3 and net.more["k"] == 7 and net.w.shape == (2,)
        return Frozen(m(net.w * x) + net.b * net.more["t"], net.w)

    for run in (lambda f: f, wf.function):
        out = run(wf.vmap(f, (0, 0, None)))(nets, model, X)
        assert type(out) is Frozen and out.a.tolist() == [0.0, 4.5] and out.b.shape == (2, 2)
        each = run(wf.vmap(wf.grad(lambda m, x: m(x)), (None, 0)))(model, nets.w)
        assert each[0].tolist() == [[1, 2], [3, 4]] and each[1].tolist() == [1, 1]
        slopes = run(wf.vmap(wf.grad(lambda n, x: wf.sum(n.w * x) * n.b), (0, None)))(nets, X)
        assert type(slopes) is Net and slopes.w.tolist() == [[1.5, -0.5], [4.5, -1.5]] and slopes.b.tolist() == [1, 5]
    with pytest.raises(wf.ValueError, match="nothing to map over"):
        wf.vmap(lambda m: m(X))(model)
