"""Table C of the reference: effects happen in the order of the program, and none is lost."""

import pytest

import weft as wf


@pytest.fixture
def v():
    return wf.Variable(1.0)


def test_c1_assigns_and_a_read(v):
    @wf.function
    def f():
        v.assign(v + 1.0)
        v.assign(2.0 * v)
        return v.value()

    assert float(f()) == 4


def test_c3_reads_see_the_assign_before_them(v):
    @wf.function
    def f(x):
        first = v.value()
        v.assign(x)
        return first, v.value(), v + 1.0

    assert [float(t) for t in f(wf.tensor(5.0))] == [1, 5, 6]


def test_c4_reads_and_writes_in_turn(v):
    @wf.function
    def f():
        seen = [v.value(), v + 0.0]
        v.assign_add(1.0)
        v.assign(v * 3.0)
        seen += [v.value(), v + 0.0]
        v.assign_sub(1.0)
        v.assign(v * v)
        return seen

    assert [float(t) for t in f()] == [1, 1, 6, 6]
    assert float(v.numpy()) == 25


def test_c9_a_called_function_writes(v):
    @wf.function
    def inner():
        v.assign_add(1.0)

    @wf.function
    def f():
        before = v.value()
        inner()
        between = v.value()
        v.assign(v * 10.0)
        return before, between, v.value()

    assert [float(t) for t in f()] == [1, 2, 20]


def test_c10_a_branch_writes(v):
    @wf.function
    def f(p):
        if p:
            v.assign_add(1.0)
        else:
            v.assign_add(4.0)
        return v.value()

    assert float(f(wf.tensor(False))) == 5
    assert float(f(wf.tensor(True))) == 6


def test_c11_a_branch_runs_though_nobody_uses_it(v):
    @wf.function
    def f(p):
        if p:
            v.assign_add(1.0)
        else:
            v.assign_add(4.0)
        return wf.tensor(7)

    assert int(f(wf.tensor(False))) == 7
    assert float(v.numpy()) == 5
    f(wf.tensor(True))
    assert float(v.numpy()) == 6


def test_c12_nested_branches(v):
    @wf.function
    def f(p, q):
        if p:
            v.assign_add(1.0)
        else:
            if q:
                v.assign(v * 2.0)
            else:
                v.assign(v * 3.0)
        return v.value()

    cases = [(False, False, 3), (False, True, 6), (True, True, 7), (True, False, 8)]
    for p, q, wanted in cases:
        assert float(f(wf.tensor(p), wf.tensor(q))) == wanted


def test_c13_a_branch_without_anything(v):
    @wf.function
    def f(p):
        if p:
            pass
        else:
            v.assign_add(4.0)

    f(wf.tensor(False))
    assert float(v.numpy()) == 5
    f(wf.tensor(True))
    assert float(v.numpy()) == 5


def test_c14_a_write_before_it(v):
    @wf.function
    def f(p):
        v.assign(v * 2.0)
        if p:
            pass
        else:
            v.assign_add(4.0)

    f(wf.tensor(False))
    assert float(v.numpy()) == 6
    f(wf.tensor(True))
    assert float(v.numpy()) == 12


def test_host_calls_are_in_the_order_of_the_program(v):
    seen = []

    @wf.function
    def f(p):
        wf.py_function(lambda x: seen.append(float(x)), [v], None)
        if p:
            v.assign_add(1.0)
            wf.py_function(lambda x: seen.append(float(x)), [v], None)
        wf.py_function(lambda x: seen.append(float(x)), [v * 10.0], None)

    f(wf.tensor(True))
    assert seen == [1, 2, 20]
