"""TensorArray: its length, elements, text, and what it refuses."""

import numpy as np
import pytest

import weft as wf


def test_sizes_elements_and_text():
    array = wf.TensorArray(wf.int32, 2).write(0, 4).append(7)
    assert len(array) == 3
    assert [int(x) for x in array] == [4, 0, 7]
    assert repr(array) == "TensorArray(int32, size=3, element_shape=())"
    rows = wf.TensorArray("float32", element_shape=(2,))
    assert len(rows) == 0 and list(rows) == []
    assert repr(rows) == "TensorArray(float32, size=0, element_shape=(2,))"
    assert [x.tolist() for x in rows.append([1, 2])] == [[1.0, 2.0]]


def test_in_traces_sizes_are_not_known():
    seen = []

    @wf.function
    def f(n):
        array = wf.TensorArray(wf.int32, n)
        seen.append(repr(array))
        for way in (len, iter, list):
            with pytest.raises(TypeError, match=r"array\.(size|stack)\(\)"):
                way(array)
        total = 0
        for x in array.write(n, 5).stack():
            total += x
        return total, array.size()

    assert [int(x) for x in f(wf.tensor(3))] == [5, 3]
    assert seen == ["TensorArray(int32, size=?, element_shape=())"]


@pytest.mark.parametrize("value", [1.5, [1.5], np.float32(1.5), np.array(1.5), wf.tensor(1.5)], ids=repr)
def test_values_of_another_kind_are_refused(value):
    """1.5 became 1 without a word."""
    array = wf.TensorArray("int32", 1, element_shape=np.shape(value))
    for way in (lambda a: a.write(0, value), lambda a: a.append(value)):
        for run in (way, wf.function(way)):
            with pytest.raises(wf.DTypeError, match="TensorArray.*the elements are"):
                run(array)


def test_values_of_a_lesser_kind_are_taken():
    array = wf.TensorArray("float32", 2).write(0, 1).write(1, np.float64(2.5)).append(True)
    np.testing.assert_array_equal(array.stack(), [1, 2.5, 1])
    assert wf.TensorArray("int64").append(np.int32(3)).stack().tolist() == [3]
