"""Every public name has an example in its docstring, and doctest runs all of them, also those of methods."""

import doctest
import re
import types

import numpy as np
import pytest

import weft as wf

# By their paths in weft; the last three are modules of which weft has the names itself.
MODULES = [
    "", "autograph", "config", "data", "distributed", "fft", "io", "linalg", "losses", "metrics", "nn", "nn.initializers", "optimizers", "random",
    "schedules", "special", "summary", "train", "tree", "checkpoint", "_control", "derivatives",
]  # fmt: skip

# What people call most of classes whose other methods may do without an example.
METHODS = {
    "Tensor": "argmax astype clip flatten item numpy reshape squeeze std tolist transpose",
    "Variable": "assign assign_add assign_sub value",
    "Function": "explain get_concrete_function ir report to_code trace_count",
    "GradientTape": "batch_jacobian explain gradient jacobian stop_recording watch",
    "data.Dataset": "batch bucket cache concatenate enumerate filter interleave map prefetch repeat shard shuffle "
    "size skip split state take",
}


def at(path):
    """The object of that path in weft."""
    found = wf
    for word in filter(None, path.split(".")):
        found = getattr(found, word)
    return found


def public_names():
    """Paths and objects, each object under its first path, without modules, numbers and what begins with an underscore."""
    found = {}
    for module in MODULES:
        of = at(module)
        for name in of.__all__:
            thing = getattr(of, name)
            if not name.startswith("_") and not isinstance(thing, types.ModuleType | float | None):
                found.setdefault(id(thing), (".".join(filter(None, (module, name))), thing))
    return list(found.values())


NAMES = public_names()


def examples_in(name, docstring):
    """The examples of a docstring as one session."""
    return doctest.DocTestParser().get_doctest(docstring or "", {"wf": wf, "np": np}, name, name, 0)


NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]\d+)?")
# Docstrings have what kernels of this level give; the last digits of others may differ.
EXACT = wf.train.versions().get("x86-64 level") == "v4"


class Checker(doctest.OutputChecker):
    """Takes close numbers for equal ones, and the spaces for their digits too."""

    def check_output(self, want, got, flags):
        if super().check_output(want, got, flags):
            return True
        words = ["".join(NUMBER.sub("#", text).split()) for text in (want, got)]
        numbers = [[float(number) for number in NUMBER.findall(text)] for text in (want, got)]
        return words[0] == words[1] and np.allclose(*numbers, rtol=1e-5, atol=1e-6)


def run(session):
    """Runs a session; what failed is the message."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(None if EXACT else Checker(), verbose=False, optionflags=flags)
    said = []
    result = runner.run(session, out=said.append)
    assert result.failed == 0, "".join(said)


def own_docstring(thing):
    """Of a class its own, not that of a base."""
    return vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Files of examples are written in a folder of their own."""
    monkeypatch.chdir(tmp_path)


def test_all_modules_are_walked():
    assert len(NAMES) > 300
    inside = {name for name in wf.__all__ if isinstance(getattr(wf, name), types.ModuleType)}
    assert inside <= set(MODULES)


def test_close_numbers_are_equal():
    want = "tensor([0.       , 0.6931472], shape=(2,), dtype=float32)\n"
    for got, equal in (("[0.        , 0.69314718]", True), ("[0., 0.69]", False), ("[0., 0.6931472, 0.]", False)):
        assert Checker().check_output(want, f"tensor({got}, shape=(2,), dtype=float32)\n", 0) == equal


@pytest.mark.parametrize(("name", "thing"), NAMES, ids=[name for name, _ in NAMES])
def test_name(name, thing):
    if isinstance(thing, wf.DType):  # an object of a class that has the example
        thing = wf.DType
    if match := re.fullmatch("What `(.+)` gives.", getattr(thing, "__doc__", None) or ""):
        thing = at(match[1])  # whose results these are
    session = examples_in(name, own_docstring(thing))
    assert session.examples, f"weft.{name} has no example in its docstring"
    run(session)


def members(cls):
    """Names and docstrings of the public methods and properties of a class."""
    for name, member in vars(cls).items():
        text = getattr(member, "__doc__", None)
        if not name.startswith("_") and isinstance(text, str) and not isinstance(member, type):
            yield name, text


CLASSES = [(name, thing) for name, thing in NAMES if isinstance(thing, type)]


@pytest.mark.parametrize(("name", "cls"), CLASSES, ids=[name for name, _ in CLASSES])
def test_methods(name, cls):
    found = {member: examples_in(f"{name}.{member}", text) for member, text in members(cls)}
    for wanted in METHODS.get(name, "").split():
        assert found[wanted].examples, f"weft.{name}.{wanted} has no example"
    for session in found.values():
        run(session)
