"""`for` over `wf.range` of numbers: a counted loop of the program, which makes no tensor to look its numbers up in."""

import numpy as np
import pytest

import weft as wf

BOUNDS = [(5,), (0,), (1,), (3, 4), (2, 11, 3), (5, -4, -2), (0, -3)]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_range_of_numbers(bounds, dtype):
    def total(x, bounds):
        for i in wf.range(*bounds, dtype=dtype):
            x = x * 3 + i
        for j, i in enumerate(wf.range(*bounds, dtype=dtype)):
            x = x * 5 + i * wf.cast(j, dtype)
        for a, b in zip(wf.range(*bounds, dtype=dtype), wf.range(1, 9, dtype=dtype), strict=False):
            x = x + a * b
        for i in reversed(wf.range(*bounds, dtype=dtype)):
            if i > 5:
                break
            x = x * 2 + i
        return x

    want = total(wf.tensor(1, dtype), bounds)
    got = wf.function(total)(wf.tensor(1, dtype), bounds)
    assert got.dtype == dtype and int(got) == int(want)


def test_it_is_recorded_once():
    @wf.function
    def power(x, n):
        y = x
        for i in wf.range(n):
            y = y * x + wf.cast(i, "float32")
        return y

    x = wf.tensor(1.0)
    assert float(power(x, 200)) == 1 + sum(range(200))
    text = power.ir(x, 200)
    assert text.count("weft.multiply") == 1 and "scf.for" in text
    assert "gather" not in text and "xi32>" not in text


def test_other_numbers_are_looked_up():
    @wf.function
    def digits(x):
        for i in wf.tensor([3, 1, 4]):
            x = x * 10 + i
        for i in wf.tensor([7, 7]):
            x = x * 10 + i
        for i in wf.tensor([2**31 - 2, 2**31 - 1]):
            x = x + i % 2
        return x

    assert int(digits(wf.tensor(0))) == 31478


def test_gradient():
    @wf.function
    def f(x):
        y = x
        for i in wf.range(3):
            y = y * x * wf.cast(i + 1, "float32")
        return y

    np.testing.assert_allclose(wf.grad(f)(2.0), 4 * 6 * 8)


def test_steps():
    """A step of 0 gave no iterations, and no word."""

    @wf.function
    def total(n, step):
        s = 0
        for i in range(n, 9, step):
            s += i
        for i in wf.range(n, 9, step):
            s += i
        return s

    assert int(total(wf.tensor(2), wf.tensor(3))) == int(total(wf.tensor(2), 3)) == 2 * (2 + 5 + 8)
    with pytest.raises(wf.AssertionError, match=r"test_counted_loops.*range: the step is 0"):
        total(wf.tensor(2), wf.tensor(0))
    with pytest.raises(wf.ValueError, match="range: the step is 0"):
        total(wf.tensor(2), 0)
    with pytest.raises(wf.DTypeError, match=r"range: step is 1\.5: integers are wanted"):
        total(wf.tensor(2), 1.5)
    with pytest.raises(wf.DTypeError, match="range: start is .*: integers are wanted"):
        total(wf.tensor(2.5), 1)
