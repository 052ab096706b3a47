"""Ranges: the dtype of their numbers, and integers that doubles do not hold, eagerly and traced."""

import numpy as np
import pytest
import weft as wf

LEAST, MOST = -(2**63), 2**63 - 1


def _both(*arguments):
    """The range, eagerly and of bounds that a trace computes."""
    tensors = [wf.tensor(x) for x in arguments]
    return wf.arange(*arguments), wf.function(lambda *xs: wf.arange(*xs))(*tensors)


@pytest.mark.parametrize(
    "bounds",
    [
        (5,), (2, 8), (2, 8, 3), (8, 2, -2), (0, 0), (5, 0), (0, 5, -1),
        (2**33, 2**33 + 3), (2**53, 2**53 + 4), (MOST - 2, MOST), (MOST, 0, -(2**62)), (LEAST, MOST, 2**62),
        (LEAST, LEAST + 2), (MOST, LEAST, LEAST), (-7, 7, 3), (7, -7, -3), (2**31 - 2, 2**31),
    ],
)  # fmt: skip
def test_ranges_of_integers_are_exact(bounds):
    numbers = list(range(*bounds))
    dtype = wf.int32 if all(abs(x) < 2**31 for x in bounds) else wf.int64
    for found in _both(*bounds):
        assert found.tolist() == numbers
        assert found.dtype == dtype


def test_tensors_promote_the_dtype_of_a_range():
    for name in ("int32", "int64", "float32", "float64"):
        bound = wf.cast(3, name)
        for found in _both(bound), _both(1, bound), _both(0, 3, wf.cast(1, name)):
            assert [x.dtype for x in found] == [name, name]
    assert wf.arange(wf.cast(3, "int32"), 2**40, 2**39).dtype == wf.int64
    assert wf.arange(wf.cast(0, "int64"), 1, 0.25).dtype == wf.float32
    for number in (np.int64(3), np.array(3), True):
        assert wf.arange(number).dtype == wf.int32
    assert wf.arange(np.float32(2.5)).tolist() == [0.0, 1.0, 2.0]


def test_a_traced_step_may_be_computed_and_is_not_0():
    step = wf.function(lambda n: wf.arange(0, 9, n))
    assert step(wf.tensor(4)).tolist() == [0, 4, 8]
    assert step(wf.tensor(2.5)).tolist() == [0.0, 2.5, 5.0, 7.5]
    with pytest.raises(wf.AssertionError, match="arange: the step is 0"):
        step(wf.tensor(0))
    with pytest.raises(wf.ValueError, match="arange: the step is 0"):
        wf.function(lambda n: wf.arange(0, n, 0))(wf.tensor(3))


def test_ranges_that_cannot_be_are_refused():
    with pytest.raises(wf.ValueError, match="arange: the step is 0"):
        wf.arange(0, 1, 0)
    with pytest.raises(wf.ShapeError, match="more elements than 2\\^63 - 1"):
        wf.arange(LEAST, MOST)
    with pytest.raises(wf.ShapeError, match=r"more bytes than 2\^63 - 1"):
        wf.function(lambda n: wf.arange(n, MOST))(wf.tensor(LEAST))
    with pytest.raises(wf.ValueError, match="the number 3000000000, which does not fit the dtype int32"):
        wf.arange(3 * 10**9, 3 * 10**9 + 1, dtype="int32")
    with pytest.raises(wf.ValueError, match="stop does not fit 64 bits"):
        wf.arange(0, 2**63)


@pytest.mark.parametrize(
    "use",
    [
        lambda n: wf.tile(wf.ones([5]), n),
        lambda n: wf.zeros(n),
        lambda n: wf.ones([2, n]),
        lambda n: wf.full([n], 1.0),
        lambda n: wf.eye(n),
        lambda n: wf.reshape(wf.ones([2]), [n, -1]),
        lambda n: wf.broadcast(wf.ones([2]), [n]),
        lambda n: wf.linspace(0, 1, n),
        lambda n: wf.slice(wf.ones([5]), [n], [3], [1]),
    ],
)
def test_the_number_that_stands_for_computed_sizes_is_no_size(use):
    for number in (LEAST, wf.tensor(LEAST)):
        with pytest.raises(ValueError, match="-9223372036854775808, which is negative"):
            use(number)
        with pytest.raises(ValueError, match="-9223372036854775808, which is negative"):
            wf.function(lambda x, number=number: use(number))(wf.ones([3]))


def test_sizes_whose_product_no_tensor_has_are_named():
    tiled = wf.function(lambda n: wf.tile(wf.ones([5]), [n]))
    assert tiled(wf.tensor(2)).shape == (10,)
    with pytest.raises(wf.ShapeError, match=r"tile: a tensor of shape \(2305843009213693953, 5\) has more elements"):
        tiled(wf.tensor(2305843009213693953))


def test_errors_name_the_index_that_was_given():
    x = wf.ones([5])
    spec = [wf.TensorSpec([None]), wf.TensorSpec(None, "int32")]
    for use in (lambda x, i: wf.take(x, i), lambda x, i: x[i], lambda x, i: wf.gather(x, i, 0)):
        for index in (-7, [1, -7], 5, [5, 0]):
            wrong = index if isinstance(index, int) else next(i for i in index if not -5 <= i < 5)
            for call in (use, wf.function(use), wf.function(use, input_signature=spec)):
                with pytest.raises(wf.OutOfRangeError, match=rf"{wrong} is out of range"):
                    call(x, wf.tensor(index))
    for use in (lambda x, i: wf.take(x, i), lambda x, i: x[i]):
        for call in (use, wf.function(use), wf.function(use, input_signature=spec)):
            assert call(x, wf.tensor([-5, 4])).tolist() == [1.0, 1.0]


def test_what_a_trace_computes_is_no_size_that_follows():
    x = wf.ones([6])
    reshaped = wf.function(lambda n: wf.reshape(x, [n, 2]))
    assert wf.reshape(x, [-1, 2]).shape == wf.reshape(x, np.array([-1, 2])).shape == (3, 2)
    assert reshaped(wf.tensor(3)).shape == wf.reshape(x, [wf.tensor(3), 2]).shape == (3, 2)
    for call in (lambda n: wf.reshape(x, [n, 2]), lambda n: x.reshape(n, 2), lambda n: wf.reshape(x, wf.stack([n, 2]))):
        assert call(wf.tensor(-1)).shape == (3, 2)
    for call in (reshaped, wf.function(lambda n: wf.reshape(x, wf.stack([n, 2])))):
        with pytest.raises(wf.ShapeError, match="reshape: a size is -1, which is negative"):
            call(wf.tensor(-1))
