"""Random structures as results and arguments: each call gives them as they were traced, whatever becomes of containers."""

import collections
import dataclasses
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import weft as wf

Named = collections.namedtuple("Named", "a b")


@dataclasses.dataclass
class Record:
    a: object
    b: object


@dataclasses.dataclass(frozen=True)
class Slots:
    __slots__ = ("a", "b")
    a: object
    b: object


@dataclasses.dataclass(frozen=True, order=True)
class Key:
    n: int


class Mapping(dict):
    pass


DICTS = {
    dict: dict,
    Mapping: Mapping,
    collections.OrderedDict: collections.OrderedDict,
    collections.defaultdict: lambda items: collections.defaultdict(list, items),
}
KEYS = [list("abcde"), [1, 2, 3, 4, 5], [(0, "x"), (1, "y"), (0, "z"), (2, ""), (3, "")], [Key(n) for n in range(5)]]


def structure(draw, x, held, depth=0):
    """A structure of multiples of x, whose changeable containers come into `held`, and what it is: the factor of a leaf,
    a constant, or a type and its entries."""
    kind, count = draw.random(), draw.randint(0, 4)
    if depth > 3 or kind < 0.35:
        factor = draw.randint(1, 9)
        return x * float(factor), factor
    if kind < 0.45:
        constant = draw.choice([None, "text", b"bytes", 2.5, True])
        return constant, (None, constant)
    inner = [structure(draw, x, held, depth + 1) for _ in range(4)]
    if kind < 0.68:
        of = draw.choice([list, tuple])
        tree, spec = of(each for each, _ in inner[:count]), (of, [spec for _, spec in inner[:count]])
    elif kind < 0.81:
        of = draw.choice([Named, Record, Slots])
        tree, spec = of(inner[0][0], inner[1][0]), (of, [inner[0][1], inner[1][1]])
    else:
        of, keys = draw.choice(list(DICTS)), draw.sample(draw.choice(KEYS), count)
        tree = DICTS[of]({key: each for key, (each, _) in zip(keys, inner, strict=False)})
        if of is collections.OrderedDict and keys:
            tree.move_to_end(keys[0])
        specs = dict(zip(keys, (spec for _, spec in inner), strict=False))
        spec = (of, [(key, specs[key]) for key in tree])
    if isinstance(tree, list | dict | Record):
        held.append(tree)
    return tree, spec


def check(got, spec, x):
    if isinstance(spec, int):
        assert type(got) is wf.Tensor and float(got) == spec * x
        return
    of, entries = spec
    if of is None:
        assert got == entries and type(got) is type(entries)
        return
    assert type(got) is of
    if of in DICTS:
        assert list(got) == [key for key, _ in entries]
        entries, got = [entry for _, entry in entries], list(got.values())
    elif of in (Record, Slots):
        got = [got.a, got.b]
    assert len(got) == len(entries)
    for each, entry in zip(got, entries, strict=True):
        check(each, entry, x)


def spoil(draw, held):
    other = wf.tensor(77.0)
    for each in held:
        if isinstance(each, Record):
            each.a = each.b = draw.choice([other, [other] * 3, None])
        elif isinstance(each, list):
            draw.choice([each.clear, each.reverse, lambda of=each: of.insert(0, other), lambda of=each: of.append(5)])()
        else:
            draw.choice([each.clear, lambda of=each: of.update(new=other), lambda of=each: of.update(dict.fromkeys(of, other))])()


def returning(draw):
    """A function of one random structure, its containers, and what it was at each trace."""
    held, specs = [], []

    @wf.function(autograph=False)
    def f(x):
        result, spec = structure(draw, x, held)
        specs.append(spec)
        return result

    return f, held, specs


@pytest.mark.parametrize("seed", range(4))
def test_results_are_what_was_traced(seed):
    draw = random.Random(seed)
    for _ in range(40):
        f, held, specs = returning(draw)
        results = []
        for x in (2.0, 3.0, 5.0):
            results.append((f(wf.tensor(x)), x))
            spoil(draw, [each for each in held if draw.random() < 0.5])
            for result, of in results:
                check(result, specs[0], of)
        assert len(specs) == f.trace_count() == 1


def test_arguments_come_back():
    draw = random.Random(5)
    f = wf.function(lambda tree: tree, autograph=False)
    for _ in range(60):
        before = f.trace_count()
        tree, spec = structure(draw, wf.tensor(3.0), [])
        for _ in range(3):
            check(f(tree), spec, 3.0)
        assert f.trace_count() <= before + 1


@pytest.mark.parametrize("words", [["1", "150"], ["2", "150"], ["3", "100", "thread"]])
def test_callbacks_change_containers(words):
    program = Path(__file__).with_name("meddling.py")
    child = subprocess.run(
        [sys.executable, str(program), *words], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(wf.__file__).parents[1])},
    )  # fmt: skip
    assert child.returncode == 0, child.stderr[-2000:]
    assert int(child.stdout.split()[1]) > int(words[1]) // 2
