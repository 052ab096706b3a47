"""Random calls whose arguments and results change while they are read: by `__array__`, `==` and `<` of keys, properties,
copies, finalizers, pullbacks and, if asked, another thread. What is wrong ends the process.

    python meddling.py SEED COUNT [thread]
"""

import collections
import contextlib
import dataclasses
import gc
import random
import sys
import threading
import warnings

import numpy as np

import weft as wf

draw = random.Random(int(sys.argv[1]))
containers = []
busy = 0


def meddle():
    global busy
    if busy > 2:
        return
    busy += 1
    try:
        for _ in range(draw.randint(0, 3)):
            if containers:
                change(draw.choice(containers))
        if draw.random() < 0.2:
            gc.collect(0)
        if draw.random() < 0.1:
            double(wf.tensor(1.0))
        if draw.random() < 0.05:
            raise ValueError("from a callback")
    finally:
        busy -= 1


def change(container):
    how = draw.random()
    if isinstance(container, list):
        if how < 0.4:
            container.clear()
        elif how < 0.6:
            container.append(wf.tensor(3.0))
        elif how < 0.8:
            container[:0] = [wf.tensor([1.0]), 5]
        elif container:
            container.pop(0)
    elif isinstance(container, dict):
        if how < 0.4:
            container.clear()
        elif how < 0.7:
            container[f"z{draw.randint(0, 9)}"] = wf.tensor(2.0)
        else:
            with contextlib.suppress(KeyError, ValueError):
                container.popitem()
    else:
        container.a = wf.tensor(9.0) if how < 0.5 else None


class Lazy:
    def __array__(self, *rest, **words):
        meddle()
        return np.ones(3, np.float32)

    def __index__(self):
        meddle()
        return 1

    def __getattr__(self, name):
        meddle()
        raise AttributeError(name)

    def __del__(self):
        with contextlib.suppress(Exception):
            meddle()


class Key(str):
    __slots__ = ()

    def __hash__(self):
        meddle()
        return str.__hash__(self)

    def __eq__(self, other):
        meddle()
        return str.__eq__(self, other)

    def __lt__(self, other):
        meddle()
        return str.__lt__(self, other)


class Slots:
    __slots__ = ("scale",)

    def __eq__(self, other):
        meddle()
        return True

    def __hash__(self):
        return 1


class Mapping(dict):
    def __copy__(self):
        meddle()
        return Mapping(self)

    def __setitem__(self, key, value):
        meddle()
        dict.__setitem__(self, key, value)


@dataclasses.dataclass
class Record:
    a: object
    b: object

    def __getattribute__(self, name):
        if name in ("a", "b", "__dict__") and draw.random() < 0.5:
            meddle()
        return object.__getattribute__(self, name)


Named = collections.namedtuple("Named", "a b")
CONSTANTS = [None, 1, 2.5, "t", b"b", True, 1j, 2**70, "\ud800", wf.float32, int, slice(1, None), len, range(3)]
DICTS = [dict, lambda items: collections.defaultdict(list, items), collections.OrderedDict, Mapping]


def value(depth=0):
    kind = draw.random()
    if kind < 0.3 or depth > 3:
        return wf.tensor([draw.random()] * draw.randint(1, 3))
    if kind < 0.6:
        return draw.choice([lambda: wf.Variable(1.0), lambda: draw.choice(CONSTANTS), Lazy, Slots, lambda: np.ones(2)])()
    return container(depth)


def container(depth=0):
    kind, count = draw.random(), draw.randint(0, 6)
    if kind < 0.1:
        return tuple(value(depth + 1) for _ in range(count))
    if kind < 0.15:
        return Named(value(depth + 1), value(depth + 1))
    if kind < 0.5:
        chosen = [value(depth + 1) for _ in range(count)]
    elif kind < 0.88:
        keys = [draw.choice([str, Key])(f"k{draw.randint(0, 5)}") for _ in range(count)]
        chosen = draw.choice(DICTS)({key: value(depth + 1) for key in keys})
    else:
        chosen = Record(value(depth + 1), value(depth + 1))
    containers.append(chosen)
    return chosen


def tensors(tree, depth=0):
    if isinstance(tree, wf.Tensor):
        yield tree
    elif depth < 6:
        entries = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list | tuple) else ()
        for entry in list(entries):
            yield from tensors(entry, depth + 1)


def body(tree):
    total = wf.tensor(0.0)
    for each in tensors(tree):
        total = total + wf.sum(wf.cast(each, "float32"))
    meddle()
    return draw.choice([lambda: total, lambda: {"total": total, "tree": tree}, lambda: held])()


@wf.custom_gradient
def same(x):
    def back(dy):
        meddle()
        return dy

    return x * 1.0, back


def gradients(f, tree):
    x, w = wf.tensor(1.0), wf.Variable(1.0)
    sources = draw.choice([lambda xs: xs, lambda xs: dict(zip("abc", xs, strict=True)), lambda xs: [xs[:1], {"q": xs[1:]}]])(
        [x, w, wf.tensor(2.0)]
    )
    containers.append(sources)
    with wf.GradientTape() as tape:
        tape.watch(x)
        f(tree)
        y = same(x) + same(w)
    tape.gradient(y, sources)


def module(f, tree):
    model = wf.Module()
    model.tree, model.held = tree, held
    return model.variables


CALLS = [
    *[lambda f, tree: f(tree)] * 6,
    lambda f, tree: wf.function(lambda x: (f(tree), x)[1], autograph=False)(wf.tensor(1.0)),
    lambda f, tree: list(wf.data.from_tensors(tree)),
    lambda f, tree: list(wf.data.from_generator(lambda: [tree, tree])),
    lambda f, tree: list(wf.data.range(3).map(lambda x: tree)),
    lambda f, tree: wf.recompute(lambda x: held)(wf.tensor(1.0)),
    lambda f, tree: wf.Checkpoint(tree=tree, held=held),
    lambda f, tree: wf.zeros(held),
    lambda f, tree: wf.stack(held),
    lambda f, tree: wf.optimizers.SGD([wf.Variable(1.0)]).apply_gradients(held),
    gradients,
    module,
]

warnings.simplefilter("ignore")
double = wf.function(lambda x: x * 2.0, autograph=False)
functions = [wf.function(body, autograph=False, max_traces=5) for _ in range(3)]
done = []
if sys.argv[3:] == ["thread"]:
    sys.setswitchinterval(1e-6)

    def go_on():
        while not done:
            with contextlib.suppress(Exception):
                meddle()

    threading.Thread(target=go_on, daemon=True).start()
returned = 0
for _ in range(int(sys.argv[2])):
    containers.clear()
    held = []
    with contextlib.suppress(Exception):
        held = container()
        tree = value()
        call, f = draw.choice(CALLS), draw.choice(functions)
        for _ in range(2):
            call(f, tree)
            returned += 1
done.append(True)
print("returned", returned)
