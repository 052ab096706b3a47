"""Control flow as functions, on values and in traces."""

import pytest

import weft as wf


def both(f, *args):
    """What a function gives on values, and traced without AutoGraph."""
    return f(*args), wf.function(f, autograph=False)(*args)


def test_cond_takes_one_side():
    def f(c, x):
        return wf.cond(c, lambda: {"a": x * 2, "b": 1.0}, lambda: {"a": x - 1, "b": 2.0})

    for c, a, b in ((True, 6, 1), (False, 2, 2)):
        for found in both(f, wf.tensor(c), wf.tensor(3.0)):
            assert (float(found["a"]), float(found["b"])) == (a, b)


def test_switch_case_takes_the_last_for_others():
    def f(i, x):
        return wf.switch_case(i, [lambda: x, lambda: x * 10, lambda: x * 100])

    for i, wanted in ((0, 3), (1, 30), (2, 300), (7, 300), (-1, 300)):
        assert [int(found) for found in both(f, wf.tensor(i), wf.tensor(3))] == [wanted] * 2
    with pytest.raises(wf.ValueError, match="no function"):
        wf.switch_case(0, [])


def test_while_loop_carries_its_state():
    def f(n):
        return wf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + [i, i]), (0, wf.tensor([0, 1])))

    for i, s in both(f, wf.tensor(4)):
        assert int(i) == 4 and s.tolist() == [6, 7]

    def one(n):
        return wf.while_loop(lambda x: x < n, lambda x: x * 2, [wf.tensor(1)])

    for found in both(one, wf.tensor(20)):
        assert type(found) is list and int(found[0]) == 32


def test_structures_and_types_must_agree():
    c, x = wf.tensor(True), wf.tensor(1.0)
    f = wf.function(lambda c, x: wf.cond(c, lambda: [x], lambda: (x,)))
    with pytest.raises(wf.ValueError, match="same structure"):
        f(c, x)
    with pytest.raises(wf.DTypeError):
        wf.function(lambda c, x: wf.cond(c, lambda: x, lambda: wf.tensor(1)))(c, x)
    with pytest.raises(wf.DTypeError):
        wf.function(lambda c, x: wf.cond(x, lambda: x, lambda: x))(c, x)
    with pytest.raises(wf.ValueError, match="same structure"):
        wf.function(lambda n: wf.while_loop(lambda a: a < n, lambda a: (a, a), [n]))(wf.tensor(3))
    assert float(wf.function(lambda c, x: wf.cond(c, lambda: x, lambda: x))(c, x)) == 1


def test_parts_are_converted():
    @wf.function
    def f(c, x):
        def part():
            if x > 0:
                return x
            return -x

        return wf.cond(c, part, lambda: x)

    assert [float(f(wf.tensor(True), wf.tensor(v))) for v in (2.0, -2.0)] == [2, 2]
