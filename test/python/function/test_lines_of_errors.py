"""The user's line in errors that Python's part of the package raises, and what traced tensors without a trace say."""

import copy
import os
import pickle

import numpy as np
import pytest

import weft as wf


def dtypes(x):
    if x > 0:  # here
        y = wf.tensor(1.0)
    else:
        y = wf.tensor(1)
    return y


def loops(x):
    while x > 0:  # here
        x = wf.cast(x, "int32")
    return x


def lists(x):
    kept = []
    for _ in range(wf.cast(x, "int32")):
        kept.append(x)  # here
    return x


def raises(x):
    if x > 0:
        raise ValueError("no")  # here
    return x


def inner(x):
    return 1 if x else 2  # here


def calls(x):
    return inner(x)


def structure(x):
    return wf.cond(x > 0, lambda: 1.0, lambda: [1.0, 2.0])  # here


@pytest.mark.parametrize("function", [dtypes, loops, lists, raises, calls, structure])
def test_lines(function):
    with open(__file__) as file:
        lines = file.read().splitlines()
    with pytest.raises(wf.Error) as caught:
        wf.function(function)(wf.tensor(1.0))
    error = caught.value
    assert lines[error.line - 1].endswith("# here") and os.path.samefile(error.file, __file__)
    assert str(error) == f"test_lines_of_errors.py:{error.line}: {error.message}"
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(again), again.message, again.line) == (str(error), error.message, error.line)


def test_errors_that_users_make_stay_as_they_are():
    error = wf.ValueError("mine")
    assert str(error) == "mine" and error.args == ("mine",)
    assert wf.IOError(2, "gone", "file").errno == 2
    assert wf.StateError("a", 1).args == ("a", 1) and wf.StateError().args == ()


def test_tensors_that_left_their_trace():
    kept = []

    @wf.function
    def leaks(x):
        kept.append(x * 2)
        return x

    leaks(wf.tensor([1.0, 2.0]))
    (x,) = kept
    assert str(x) == repr(x) == f"{x}" == "tensor(its trace has ended, shape=(2,), dtype=float32)"
    for way in (np.asarray, bool, float, wf.Tensor.item, wf.Tensor.tolist, lambda x: x.numpy()):
        with pytest.raises(wf.StateError, match="that left the trace of 'leaks'.* return it from 'leaks' instead"):
            way(x)


def test_members_of_vmap_have_no_values():
    for way in (np.asarray, float, wf.Tensor.item, lambda x: 1.0 if x > 1 else 2.0):
        with pytest.raises(wf.StateError, match="a tensor that stands for many in vmap.*weft.select.*weft.while_loop.*weft.function"):
            wf.vmap(lambda x, way=way: wf.tensor(way(x)))(wf.tensor([1.0, 2.0]))
