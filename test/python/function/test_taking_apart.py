"""`a, b = x` and `x in y` of traced tensors."""

import numpy as np
import pytest

import weft as wf

ROWS = np.arange(6, dtype="f4").reshape(2, 3)


def pair(x):
    a, b = x
    return a * 2 + b


def starred(x):
    first, *others = x
    return first + len(others) * sum(others)


def nested(x):
    (a, b), (c, _, d) = x, x[0]
    return a * c + b * d


def looped(x):
    total = wf.zeros(2)
    for a, b, c in x:
        total += wf.sum(a * b - c)
    return total


@pytest.mark.parametrize("function", [pair, starred, nested, looped, lambda x: (lambda y: pair(y))(x)])
def test_unpacking(function):
    x = wf.tensor(ROWS)
    np.testing.assert_array_equal(wf.function(function)(x), function(x))
    np.testing.assert_array_equal(wf.function(wf.grad(lambda x: wf.sum(function(x))))(x),
                                  wf.grad(lambda x: wf.sum(function(x)))(x))  # fmt: skip


def test_unpacking_members():
    np.testing.assert_array_equal(wf.vmap(lambda x: pair(x))(wf.tensor(ROWS)[:, :2]), ROWS[:, 0] * 2 + ROWS[:, 1])


def test_unpacking_of_any_size():
    f = wf.function(pair, input_signature=[wf.TensorSpec([None, 3])])
    np.testing.assert_array_equal(f(ROWS), pair(ROWS))
    with pytest.raises(wf.AssertionError, match="there must be 2 slices to unpack, but the tensor has 3"):
        f(np.zeros((3, 3), "f4"))
    with pytest.raises(TypeError, match="whose length is not known before it runs cannot be taken apart"):
        wf.function(starred, input_signature=[wf.TensorSpec([None])])(ROWS[0])


def test_what_does_not_fit_is_pythons_error():
    with pytest.raises(ValueError, match="too many values to unpack"):
        wf.function(pair)(ROWS.T)
    with pytest.raises(ValueError, match="not enough values to unpack"):
        wf.function(pair)(ROWS[:1])
    with pytest.raises(TypeError, match="rank 0 is not iterable"):
        wf.function(pair)(1.0 + wf.tensor(2.0))


def test_other_iteration_is_refused():
    for way in (list, lambda x: [*x], lambda x: [row for row in x], lambda x: max(*x)):  # noqa: C416
        with pytest.raises(wf.OperatorNotAllowedInGraphError, match="which Python would unroll"):
            wf.function(wf.autograph.do_not_convert(lambda x, way=way: way(x)))(wf.tensor(ROWS))


HOLDERS = {
    "list": lambda x: [1, 5, 2],
    "tuple with tensors": lambda x: (4, wf.sum(x)),
    "tensor": lambda x: x,
    "constant": lambda x: wf.tensor([3, 5]),
    "range": lambda x: range(5),
    "steps": lambda x: range(7, -3, -3),
    "empty": lambda x: range(0),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_membership(holder):
    def f(item, x):
        found = item in HOLDERS[holder](x)
        missing = item not in HOLDERS[holder](x)
        if item in HOLDERS[holder](x) and not missing:
            x = x + 1
        return wf.tensor(found), wf.tensor(missing), x

    traced = wf.function(f)
    for n in range(-3, 9):
        for x in ([1, 2], [5, 3]):
            want = f(wf.tensor(n), wf.tensor(x))
            for a, b in zip(traced(wf.tensor(n), wf.tensor(x)), want, strict=True):
                np.testing.assert_array_equal(a, b)
    assert [bool(y) for y in wf.function(lambda x: (2 in x, 7 not in x))(wf.tensor([1, 2]))] == [True, True]


def test_membership_by_hash_is_refused():
    for holder in ({1: 2}, {1, 2}, frozenset([1])):
        with pytest.raises(wf.AutoGraphError, match=f"`in` of a traced tensor and a {type(holder).__name__}"):
            wf.function(lambda x: x in holder)(wf.tensor(1))  # noqa: B023
    assert wf.function(lambda x: x + (1 if "a" in {"a": x} else 2))(wf.tensor(1)) == 2
