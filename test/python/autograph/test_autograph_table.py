"""The rows of the table of conversions, by their ids."""

import warnings

import numpy as np
import pytest
from double import (
    Array,
    CheckError,
    NotAllowedError,
    Program,
    Rows,
    agree,
    arange,
    concat,
    f32,
    i32,
    show,
)
from weft._autograph import AutoGraphWarning, convert, set_loop_options

ints = [(i32(n),) for n in (-3, 0, 1, 2, 5, 8)]


def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


def test_A1_sum_even():
    values = np.array([10, 12, 15, 20], np.int32)
    program = agree(sum_even, (values,))
    assert program(values) == 42
    assert program.names().count("for") == 1


def test_A1_sum_even_unconverted():
    with pytest.raises(NotAllowedError, match="cannot be iterated over"):
        Program(sum_even, np.array([10, 12, 15, 20], np.int32), convert=False)


def test_A2_square_if_positive():
    def square_if_positive(x):
        if x > 0:
            x = x * x
        else:
            x = 0.0
        return x

    program = agree(square_if_positive, (f32(9),), (f32(-9),))
    assert program(f32(9)) == 81
    assert program(f32(-9)) == 0


def test_A3_loop_variables():
    def f(x):
        y = 0
        while x > 0:
            x = x - 1
        return x, y

    program = agree(f, *ints)
    (loop,) = [node for node in program.block.nodes if node.name == "while"]
    assert len(loop.inputs) == 1
    assert program(i32(3)) == (0, 0)


def test_A4_initialized_in_one_branch():
    def f(c):
        if c:
            x = 1
        return x

    with pytest.raises(ValueError, match="'x' must also be initialized in the else branch"):
        Program(f, np.True_)

    def g(c):
        if c:
            pass
        else:
            x = 1
        return x

    with pytest.raises(ValueError, match="'x' must also be initialized in the main branch"):
        Program(g, np.True_)


def test_A5_dtypes_differ():
    def f(c):
        if c:
            x = 1
        else:
            x = 1.0
        return x

    with pytest.raises(
        TypeError,
        match="'x' has dtype int32 in the main branch, but dtype float32 in the else branch",
    ):
        Program(f, np.True_)


def test_A6_sizes_that_change():
    def f(n):
        x = np.zeros(1, np.float32)
        i = 0
        while i < n:
            x = concat([x, x])
            i += 1
        return x

    agree(f, (i32(0),), (i32(3),))


def test_A6_shape_invariants():
    def f(n, x):
        i = 0
        while i < n:
            set_loop_options(shape_invariants=[(x, [None])])
            x = concat([x, x])
            i += 1
        return x

    agree(f, (i32(2), np.zeros(1, np.float32)))

    def g(n, x):
        i = 0
        while i < n:
            set_loop_options(shape_invariants=[(x, [1])])
            x = concat([x, x])
            i += 1
        return x

    with pytest.raises(
        ValueError, match=r"'x' has shape \[2\] after one iteration, which does not "
    ):
        Program(g, i32(2), np.zeros(1, np.float32))

    def h(n, x):
        while n > 0:
            set_loop_options(shape_invariants=[(x, [3])])
            x = concat([x, x])
            n -= 1
        return x

    with pytest.raises(ValueError, match=r"shape \[1\] before the loop, which does not satisfy"):
        Program(h, i32(2), np.zeros(1, np.float32))


def test_A6_rank_changes():
    def f(n, x):
        while n > 0:
            x = x[0]
            n -= 1
        return x

    with pytest.raises(
        ValueError, match=r"'x' has shape \[2, 2\] before the loop, but shape \[2\]"
    ):
        Program(f, i32(1), np.zeros((2, 2), np.float32))


def test_A7_list_in_a_loop():
    def f(n):
        found = []
        for i in arange(n):
            found.append(i)
        return found

    with pytest.raises(TypeError, match="carry a TensorArray instead") as caught:
        Program(f, i32(3))
    last = list(caught.traceback)[-1]
    assert str(last.statement).strip() == "found.append(i)"


def test_A7_list_of_the_iteration():
    def f(n):
        total = 0
        for i in arange(n):
            own = []
            own.append(i)
            own.append(i * 2)
            total += own[0] + own.pop()
        return total

    agree(f, (i32(4),))


def test_A7_list_that_a_body_makes():
    def f(x):
        if x > 0:
            found = []
            found.append(x)
        else:
            found = [x * 2]
        pair = [x, x]
        for i in arange(x):
            last = pair[1]
            pair = []
            pair.append(last)
            pair.append(last + i)
        return found, pair

    agree(f, *ints)


def test_A7_pop_in_a_loop():
    def f(n, stack):
        total = 0
        for i in arange(n):
            total += stack.pop() + i
        return total

    with pytest.raises(TypeError, match="`list.pop` on a Python list in a loop"):
        Program(f, i32(3), [1, 2, 3, 4])


def test_A8_tensor_array():
    def f(n):
        array = Array.empty()
        for i in arange(n):
            array = array.append(i * i)
        return array.stack()

    def lost(n):
        array = Array.empty()
        for i in arange(n):
            array.append(i)
        return array.stack()

    agree(f, (i32(4),), (i32(0),))
    assert len(Program(lost, i32(3))(i32(3))) == 0


def test_A9_data_set_with_break():
    data = Rows(np.array([3, 1, 4, 1, 5], np.int32))

    def f(limit):
        total = 0
        for x in data:
            if x > limit:
                break
            show(x)
            total += x
        return total

    agree(f, (i32(3),), (i32(9),), (i32(0),))


def test_A10_break_and_continue_in_nested_loops():
    def f(n, m):
        total = 0
        for i in arange(n):
            if i == 5:
                break
            j = 0
            while j < m:
                j += 1
                if j == i:
                    continue
                if j * i > 6:
                    break
                show(j)
                total += i * 10 + j
            if total > 200:
                break
        return total

    agree(f, (i32(3), i32(3)), (i32(0), i32(3)), (i32(9), i32(9)), (i32(9), i32(2)))


def test_A11_early_return():
    def both(x):
        if x > 0:
            return x * 2
        else:
            return -x

    def rest(x):
        if x > 3:
            return x
        x = x + 1
        if x > 1:
            return x * 10
        return x - 7

    def in_loop(n):
        for i in arange(n):
            if i * i > 10:
                return i
        return n

    def in_nested(n):
        i = 0
        while i < n:
            for j in arange(i):
                if i + j == 7:
                    return i * 100 + j
            i += 1
        return -1

    for f in (both, rest, in_loop, in_nested):
        agree(f, *ints)


def test_A11_return_in_one_branch():
    def f(x):
        if x > 0:
            return x

    with pytest.raises(ValueError, match="the else branch must also have a return statement"):
        Program(f, i32(1))


def test_A11_return_without_value():
    def f(x):
        if x > 0:
            show(x)
            return
        show(-x)

    agree(f, *ints)


def test_A12_lazy():
    def f(a, b):
        x = show(a * 10) if a > b else show(b * 100)
        y = a > 0 and show(b) > 0
        z = a > 0 or show(b) > 3
        return x, y, z, not a > 2

    agree(f, (i32(1), i32(2)), (i32(-1), i32(2)), (i32(3), i32(-2)), (i32(-2), i32(-4)))


def test_A13_no_iteration():
    def f(n):
        i = 0
        while i < n:
            x = i * 2
            i += 1
        return x

    program = agree(f, (i32(3),))
    with pytest.raises(CheckError, match="must iterate at least once to initialize 'x'"):
        program(i32(0))
    with pytest.raises(UnboundLocalError):
        f(i32(0))


def test_A13_not_read():
    def f(n):
        for i in arange(n):
            x = i * 2
        y = n
        for i in arange(n):
            x = i
            y += x
        return y

    agree(f, (i32(3),), (i32(0),))


def test_A14_lambdas():
    f = lambda x: x * 2 if x > 0 else -x  # noqa: E731
    agree(f, *ints)
    pair = (lambda x: x if x > 0 else 0 * x, lambda x: -x if x > 0 else x)  # noqa: E501
    agree(pair[0], *ints)
    agree(pair[1], *ints)


def test_A15_exec():
    scope = {}
    exec("def f(x): return x + 1\ndef g(x):\n    return 1 if x > 0 else 2", scope)
    with pytest.warns(
        AutoGraphWarning, match="f runs as it is, not converted by AutoGraph: its sou"
    ):
        program = Program(scope["f"], i32(1))
    assert program(i32(1)) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Program(scope["f"], i32(1))  # said once
    with pytest.warns(AutoGraphWarning), pytest.raises(NotAllowedError) as caught:
        Program(scope["g"], i32(1))
    assert "its source is not to be had (<string>)" in caught.value.__notes__[0]


def test_A16_int_becomes_a_tensor():
    def f(n):
        i = 0
        while i < n:
            i += 1
        return i

    program = agree(f, (i32(3),))
    assert program.result.dtype == "int32"
    assert program.result.shape == ()


def deepest(x):
    raise KeyError("no such thing")


def deep(x):
    if x > 0:
        y = deepest(x)
    else:
        y = x
    return y


def test_A17_error_two_calls_deep():
    def f(x):
        return deep(x) + 1

    with pytest.raises(KeyError, match="no such thing") as caught:
        Program(f, i32(1))
    lines = [str(entry.statement).strip() for entry in caught.traceback[1:]]
    assert lines[-3:] == [
        "return deep(x) + 1",
        "y = deepest(x)",
        'raise KeyError("no such thing")',
    ]
    assert all("weft/_autograph" not in str(entry.path) for entry in caught.traceback)


def test_A18_assert():
    def f(x, said):
        assert x > 0, said("x is not positive")
        return x

    said = []

    def note(text):
        said.append(text)
        return text

    program = Program(f, i32(1), note)
    assert program(i32(1)) == 1
    with pytest.raises(CheckError, match="x is not positive"):
        program(i32(-1))
    assert said == ["x is not positive"]
    # With values Python's own, whose message is not evaluated unless it is needed.
    assert convert(f)(i32(1), None) == 1
    with pytest.raises(AssertionError, match="x is not positive"):
        convert(f)(i32(-1), note)


def test_A19_raise():
    def f(t):
        if t < 3:
            raise ValueError("too small")
        return t

    with pytest.raises(
        TypeError, match="`raise ValueError` is in a branch or loop that a tensor"
    ) as e:
        Program(f, i32(5))
    assert str(list(e.traceback)[-1].statement).strip() == 'raise ValueError("too small")'
    with pytest.raises(ValueError, match="too small"):
        convert(f)(i32(1))
