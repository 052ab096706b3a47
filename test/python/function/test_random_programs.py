"""Random programs, traced, compiled and run, against Python's own run of them."""

import importlib.util
import linecache
import os
import pathlib
import sys
import warnings

import pytest

import weft as wf

PROGRAMS = int(os.environ.get("WEFT_PROGRAMS", "6"))
_FOLDER = pathlib.Path(__file__).resolve().parents[1] / "autograph"


def writer():
    """The writer of programs of AutoGraph's own tests, which run them on a double of the library."""
    sys.path.insert(0, str(_FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("programs_of_autograph", _FOLDER / "test_autograph_programs.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(_FOLDER))
    return module


programs = writer()
seen = []


def show(x):
    """Notes a value when the program runs."""
    wf.py_function(lambda t: seen.append(int(t)), [x], None)
    return x


def compiled(text, name):
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"show": show, "arange": range, "__name__": "programs"}
    exec(compile(text, name, "exec"), scope)
    return scope["program"]


def plainly(program, case):
    scope = program.__globals__
    scope["show"] = lambda x: seen.append(int(x)) or x
    try:
        return program(*case)
    finally:
        scope["show"] = show


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_program(seed):
    text = programs.Writer(seed).text()
    program = compiled(text, f"<real program {seed}>")
    traced = wf.function(program)
    for case in programs.INPUTS:
        seen.clear()
        wanted = plainly(program, case)
        shown = [*seen]
        seen.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found = traced(*[wf.tensor(x) for x in case])
            except BaseException as error:
                error.add_note(text)
                raise
        assert [int(x) for x in found] == list(wanted), (case, text)
        assert seen == shown, (case, text)
    assert traced.trace_count() == 1
