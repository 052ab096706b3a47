"""Table A of the reference: Python's control flow on tensors, compared with Python on numbers."""

import textwrap
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import weft as wf


def i32(x):
    return wf.tensor(x, "int32")


def agree(f, *cases):
    """Compares the traced function with Python's own run on the same tensors."""
    traced = wf.function(f)
    for case in cases:
        wanted = f(*[np.asarray(x)[()] for x in case])
        found = traced(*[wf.tensor(x) for x in case])
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-6)
    return traced


def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


def test_a1_sum_even():
    items = wf.tensor([10, 12, 15, 20])
    assert int(wf.function(sum_even)(items)) == 42
    with pytest.raises(wf.OperatorNotAllowedInGraphError, match="iteration"):
        wf.function(sum_even, autograph=False)(items)
    assert sum_even([10, 12, 15, 20]) == 42


def square_if_positive(x):
    if x > 0:
        x = x * x
    else:
        x = x * 0.0
    return x


def test_a2_square_if_positive():
    f = agree(square_if_positive, (9.0,), (-9.0,))
    assert f.trace_count() == 1


def test_a3_a_loop_carries_what_it_reads():
    def f(x):
        y = 0
        while x > 0:
            x = x - 1
        return x, y

    x, y = wf.function(f)(wf.tensor(5))
    assert int(x) == 0
    assert y == 0 and type(y) is int


def test_a4_a_name_of_one_branch():
    def f(c):
        if c:
            x = 1
        return x

    with pytest.raises((wf.ValueError, UnboundLocalError, wf.AssertionError), match="'x'"):
        wf.function(f)(wf.tensor(False))


def test_a5_dtypes_of_branches():
    def f(c):
        if c:
            x = wf.tensor(1)
        else:
            x = wf.tensor(1.0)
        return x

    with pytest.raises(wf.DTypeError, match="(?s)'x'.*int32.*float32") as caught:
        wf.function(f)(wf.tensor(True))
    assert "test_table_a.py" in str(caught.traceback[-1].path)


def test_a6_shapes_that_change_in_a_loop():
    def f(x):
        while wf.size(x, 0) < 8:
            x = wf.concatenate([x, x], 0)
        return x

    np.testing.assert_array_equal(wf.function(f)(wf.tensor([1, 2])).numpy(), [1, 2] * 4)


def test_a7_appending_to_a_list_in_a_loop():
    def f(n):
        entries = []
        for i in range(n):
            entries.append(i)
        return entries

    with pytest.raises(wf.AutoGraphError, match="TensorArray") as caught:
        wf.function(f)(wf.tensor(3))
    entry = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert entry.line == "entries.append(i)"


def test_a8_a_tensor_array():
    @wf.function
    def f(n):
        array = wf.TensorArray("int32", 0, dynamic_size=True)
        for i in range(n):
            array = array.write(i, i * i)
        return array.stack()

    assert f(wf.tensor(5)).tolist() == [0, 1, 4, 9, 16]
    assert f(wf.tensor(0)).tolist() == []

    @wf.function
    def forgets(n):
        array = wf.TensorArray("int32", 3)
        for i in range(n):
            array.write(i, i + 1)
        return array.stack()

    assert forgets(wf.tensor(3)).tolist() == [0, 0, 0]

    @wf.function
    def evens(xs):
        array = wf.TensorArray("float32")
        for x in xs:
            if x % 2 == 0:
                array = array.append(x)
        return array.stack(), array.size()

    rows, size = evens(wf.tensor([1.0, 2.0, 4.0, 5.0]))
    assert rows.tolist() == [2, 4] and int(size) == 2
    array = wf.TensorArray("float32", element_shape=[2]).append([1, 2]).append([3, 4])
    assert array.read(1).tolist() == [3, 4] and array.concat().tolist() == [1, 2, 3, 4]
    assert array.gather([1, 0]).tolist() == [[3, 4], [1, 2]] and array.element_shape == (2,)


def test_a10_break_and_continue_in_nested_loops():
    def f(n, m):
        total = n * 0
        for i in range(n):
            if i == m:
                continue
            j = i * 0
            while j < 10:
                j += 1
                if j % 2 == 0:
                    continue
                if j > i + 3:
                    break
                total += i * 10 + j
            if total > 200:
                break
        return total

    agree(f, *[(i, j) for i in (0, 1, 3, 7, 30) for j in (0, 2, 5)])


def test_a11_early_returns():
    def f(x):
        if x > 10:
            return x - 10
        elif x > 5:
            return x * 2
        return x + 1

    agree(f, (20,), (7,), (1,))

    def g(xs, limit):
        for x in xs:
            if x > limit:
                return x
        return limit * 0

    agree(g, ([1, 5, 9], 4), ([1, 5, 9], 10), ([1, 5, 9], 0))


def test_a12_expressions_are_lazy():
    seen = []

    def note(word):
        wf.py_function(lambda: seen.append(word), [], None)
        return True

    @wf.function
    def f(a, b):
        x = a and note("and") and b
        y = a or note("or")
        z = 1 if a else (2 if note("else") else 3)
        return x, y, z, not a

    assert [int(t) for t in f(wf.tensor(True), wf.tensor(False))] == [0, 1, 1, 0]
    assert seen == ["and"]
    seen.clear()
    assert [int(t) for t in f(wf.tensor(False), wf.tensor(True))] == [0, 1, 2, 1]
    assert seen == ["or", "else"]


def test_a13_a_loop_that_does_not_run():
    @wf.function
    def f(n):
        for i in range(n):
            x = i * 2
        return x

    assert int(f(wf.tensor(3))) == 4
    with pytest.raises(wf.AssertionError, match="'x'"):
        f(wf.tensor(0))
    assert int(f(wf.tensor(2))) == 2


def test_a14_lambdas():
    f = wf.function(lambda x: x * 2 if x > 0 else -x)
    assert [int(f(wf.tensor(n))) for n in (3, -4)] == [6, 4]
    fs = [wf.function(f) for f in (lambda x: x + 1 if x > 0 else x, lambda x: x - 1 if x > 0 else x)]
    assert [int(f(wf.tensor(5))) for f in fs] == [6, 4]


def test_a15_functions_without_source():
    scope = {}
    exec(textwrap.dedent("def f(x):\n    return x * 2\ndef g(x):\n    return 1 if x > 0 else 2"), scope)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert int(wf.function(scope["f"])(wf.tensor(4))) == 8
    assert any("source" in str(w.message) for w in caught)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(wf.OperatorNotAllowedInGraphError) as error:
            wf.function(scope["g"])(wf.tensor(4))
    assert any("source" in note for note in error.value.__notes__)


def test_a16_numbers_of_python_become_tensors():
    def f(n):
        i = 0
        while i < n:
            i += 1
        return i

    result = wf.function(f)(wf.tensor(5))
    assert int(result) == 5 and result.dtype == wf.int32


class OwnError(Exception):
    def __init__(self, code, *, why):
        super().__init__(f"{code}: {why}")
        self.code = code


def deep(x):
    y = wf.sum(x)
    raise OwnError(3, why="deep")


def middle(x):
    return deep(x) + 1


def test_a17_errors_in_depth():
    @wf.function
    def f(x):
        z = x * 2
        return middle(z)

    for _ in range(2):
        with pytest.raises(OwnError, match="3: deep") as caught:
            f(wf.ones(3))
        entries = traceback.extract_tb(caught.value.__traceback__)
        assert [e.name for e in entries[1:]] == ["f", "middle", "deep"]
        assert all(Path(wf.__file__).parent not in Path(e.filename).parents for e in entries)
        assert entries[-1].line == 'raise OwnError(3, why="deep")'
        assert entries[0].line == "f(wf.ones(3))"


def test_a17_errors_of_ops_have_the_users_line():
    def inner(x):
        return x @ wf.ones([7, 2])

    with pytest.raises(wf.ShapeError) as caught:
        wf.function(lambda x: inner(x))(wf.ones([2, 3]))
    assert caught.value.line == inner.__code__.co_firstlineno + 1
    assert caught.value.file == __file__


def test_a18_asserts_are_checked_when_the_program_runs():
    @wf.function
    def f(x):
        assert x > 0, "x must be positive"
        return x * 2

    line = f.python_function.__code__.co_firstlineno + 2
    assert int(f(wf.tensor(3))) == 6
    with pytest.raises(wf.AssertionError, match="x must be positive") as caught:
        f(wf.tensor(-3))
    assert isinstance(caught.value, AssertionError)
    assert (caught.value.file, caught.value.line) == (__file__, line)
    assert int(f(wf.tensor(4))) == 8
    assert f.trace_count() == 1


def test_a19_raise_where_a_tensor_decides():
    def f(x):
        if x < 3:
            raise ValueError("too small")
        return x

    with pytest.raises(wf.AutoGraphError, match="assert") as caught:
        wf.function(f)(wf.tensor(5))
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert last.line == 'raise ValueError("too small")'


def test_find_next_odd():
    @wf.function
    def find_next_odd(v):
        v.assign_add(1)
        if v % 2 == 0:
            v.assign_add(1)

    v = wf.Variable(5)
    find_next_odd(v)
    assert int(v.numpy()) == 7


def test_loops_over_rows_enumerate_zip_and_reversed():
    def f(xs, ys):
        total = xs[0] * 0
        for i, (x, y) in enumerate(zip(xs, ys)):
            total += x * y * (i + 1)
        for x in reversed(xs):
            total = total * 2 + x
        return total

    agree(f, ([1, 2, 3], [4, 5, 6]))


def test_python_decides_what_python_knows():
    @wf.function
    def f(x, training):
        if training:
            return x * 2
        return x

    assert float(f(wf.tensor(2.0), True)) == 4
    assert float(f(wf.tensor(2.0), False)) == 2
    assert "if" not in f.ir(wf.tensor(2.0), True, phase="trace")


def test_lines_in_the_ir():
    @wf.function
    def f(x):
        y = wf.exp(x)
        if y > 1:
            y = y + 1
        return y

    assert float(f(wf.tensor(0.0))) == 1
    assert "scf.if" in f.ir(wf.tensor(0.0), phase="trace") or "weft.if" in f.ir(wf.tensor(0.0), phase="trace")


def test_to_code_is_python_to_read():
    text = wf.function(sum_even).to_code()
    assert text == wf.autograph.to_code(sum_even)
    compile(text, "converted", "exec")
    assert "sum_even" in text and "for_stmt" in text


def test_do_not_convert():
    @wf.autograph.do_not_convert
    def plain(x):
        return x if x > 0 else -x

    @wf.function
    def f(x):
        return plain(x)

    with pytest.raises(wf.OperatorNotAllowedInGraphError):
        f(wf.tensor(1))
