"""A default that a signature shows may be given: passing it is the same as leaving it out."""

import doctest
import inspect

import pytest

import weft as wf
from test_examples import EXACT, Checker, examples_in
from test_public import CALLABLE, MODULES


class WithDefaults:
    """A function or a class whose calls pass every default of its signature. Classes may derive from one."""

    def __init__(self, called):
        self.called, self.signature, self.count = called, inspect.signature(called), 0

    def __call__(self, *args, **kwargs):
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError:  # an example of a wrong call
            return self.called(*args, **kwargs)
        bound.apply_defaults()
        self.count += 1
        return self.called(*bound.args, **bound.kwargs)

    def __getattr__(self, name):
        return getattr(self.called, name)

    def __mro_entries__(self, bases):
        return (self.called,)

    def __instancecheck__(self, instance):
        return isinstance(instance, self.called)


def _has_defaults(thing):
    if isinstance(thing, type) and issubclass(thing, BaseException):
        return False
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:
        return False
    return any(p.default is not p.empty for p in parameters)


# AutoGraph knows the function itself in the body of a loop.
NAMES = [name for name, thing in CALLABLE.items() if name != "weft.autograph.set_loop_options" and _has_defaults(thing)]


@pytest.mark.parametrize("name", NAMES)
def test_examples_with_every_default_given(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    module, _, word = name.rpartition(".")
    thing = CALLABLE[name]
    wrapped = WithDefaults(thing)
    session = examples_in(name, vars(thing).get("__doc__") if isinstance(thing, type) else thing.__doc__)
    monkeypatch.setattr(MODULES[module], word, wrapped)
    said = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    doctest.DocTestRunner(None if EXACT else Checker(), verbose=False, optionflags=flags).run(session, out=said.append)
    assert not said, "".join(said)


def test_there_are_many():
    assert len(NAMES) > 150
