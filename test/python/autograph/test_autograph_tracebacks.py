"""Tracebacks of converted code: the user's frames, lines and exceptions."""

import traceback

import numpy as np
import pytest
from autograph_checks import fails
from double import (
    NotAllowedError,
    Program,
    agree,
    arange,
    concat,
    i32,
)
from weft._autograph import AutoGraphWarning, convert, trace_call

ints = [(i32(n),) for n in (-3, 0, 1, 2, 5, 8)]


def test_multi_line_expressions_have_their_own_line():
    def f(x):
        y = concat(
            [
                x,
                x[0],
                missing(  # noqa: F821
                    x
                ),
            ]
        )
        return y

    entries = fails(f, np.zeros(2), kind=NameError, match="missing", line="missing(")
    assert entries[-1].lineno + 1 == f.__code__.co_firstlineno + 5


def test_frames_of_calls():
    def inner(x):
        while x > 0:
            for i in arange(x):
                x = x - outer_name  # noqa: F821
        return x

    def middle(x):
        return [inner(x) if x > 0 else x for _ in range(1)]

    def outer(x):
        if x > 0:
            return middle(x)[0]
        return x

    entries = fails(outer, i32(1), kind=NameError, match="outer_name", line="x - outer_name")
    names = [entry.name for entry in entries]
    # Python 3.12 runs comprehensions in the function's own frame.
    assert [n for n in names if n != "<listcomp>"][-3:] == ["outer", "middle", "inner"]
    assert names.count("inner") == 1


def test_recursive_frames_stay():
    def f(x, n):
        if n == 0:
            raise IndexError("bottom")
        return f(x, n - 1)

    entries = fails(
        f, i32(1), 3, kind=IndexError, match="bottom", line='raise IndexError("bottom")'
    )
    assert [entry.name for entry in entries] == ["f"] * 4


class OddError(Exception):
    def __init__(self, a, *, b):
        super().__init__(a, b)


def test_exceptions_keep_their_objects():
    error = OddError(1, b=2)

    def f(x):
        def g():
            raise error

        if x > 0:
            g()
        return x

    with pytest.raises(OddError) as caught:
        Program(f, i32(1))
    assert caught.value is error


def test_causes_are_cleaned_too():
    def f(x):
        try:
            if x.shape == ():
                raise KeyError("inner")
        except KeyError as inner:
            raise ValueError("outer") from inner

    with pytest.raises(ValueError, match="outer") as caught:
        Program(f, i32(1))
    text = "".join(traceback.format_exception(caught.value.__cause__))
    assert "weft/_autograph" not in text
    assert 'raise KeyError("inner")' in text


def test_formatted_traceback():
    def f(x):
        if x > 0:
            return x + [1, 2] @ undefined  # noqa: F821
        return x

    try:
        trace_call(f, (3,))
    except NameError as error:
        text = "".join(traceback.format_exception(error))
    lines = text.splitlines()
    at = f.__code__.co_firstlineno + 2
    assert f'  File "{__file__}", line {at}, in f' in lines
    assert "    return x + [1, 2] @ undefined  # noqa: F821" in lines
    assert any("^^^^^^^^^" in line for line in lines)
    assert "weft/_autograph" not in text.replace("in trace_call", "")


def test_unconverted_functions_say_why():
    def f(x):
        def numbers():
            yield 1

        return 1 if x > 0 else 2

    with pytest.warns(
        AutoGraphWarning,
        match=r"a generator inside a function is not converted \(test_autograph_tracebacks.py:",
    ):
        with pytest.raises(NotAllowedError) as caught:
            Program(f, i32(1))
    assert "f runs as it is, not converted by AutoGraph: a generator" in caught.value.__notes__[0]


def test_state_is_restored_behind_an_error():
    class Box:
        value = 1

    box = Box()

    def f(x):
        if x > 0:
            box.value = x
            box.value = x + missing  # noqa: F821
        return x

    with pytest.raises(NameError):
        Program(f, i32(1))
    assert box.value == 1
    agree(lambda x: x + 1 if x > 0 else x, *ints)


def test_converted_function_is_reusable_after_an_error():
    def f(x, scale):
        if x > 0:
            x = x * scale
        return x

    with pytest.raises(TypeError):
        Program(f, i32(1), "text")
    agree(f, (i32(1), i32(3)))
    assert convert(f)(2, 4) == 8
