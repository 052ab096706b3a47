"""Errors of converted code: type, sentence, and the user's line without a frame of ours."""

import warnings

import numpy as np
import pytest
from autograph_checks import fails
from double import (
    Array,
    CheckError,
    LeakError,
    NotAllowedError,
    Program,
    agree,
    arange,
    concat,
    f32,
    i32,
)
from weft._autograph import AutoGraphWarning, set_loop_options

ints = [(i32(n),) for n in (-3, 0, 1, 2, 5, 8)]


def test_conditions_must_be_bool_scalars():
    def f(x):
        if x:
            return 1
        return 2

    text = "the condition of `if` must be a bool scalar, but it is int32\\[\\]: compare"
    fails(f, i32(1), kind=TypeError, match=text, line="if x:")
    text = "`if` must be a bool scalar, but it is bool\\[2\\].*write `is not None`"
    fails(f, np.array([True, False]), kind=ValueError, match=text, line="if x:")

    def g(x):
        while x:
            x = x - 1

    text = "the condition of `while` must be a bool scalar"
    fails(g, i32(1), kind=TypeError, match=text, line="while x:")
    text = "the condition of `and` must be a bool scalar"
    fails(lambda x: x and x, i32(1), kind=TypeError, match=text, line="x and x")
    text = "the condition of `not` must be a bool scalar"
    fails(lambda x: not x, i32(1), kind=TypeError, match=text, line="not x")
    # One element decides as a scalar does.
    agree(f, (np.array([True]),), (np.array([False]),))


def test_none_in_a_branch():
    def f(x):
        if x > 0:
            y = None
        else:
            y = x
        return y

    text = "'y' is None at the end of the main branch"
    fails(f, i32(1), kind=ValueError, match=text, line="if x > 0:")


def test_structures_of_branches():
    def f(x):
        if x > 0:
            y = (x, x)
        else:
            y = [x]
        return y

    text = (
        "'y' must have the same nested structure in the main and else branches: it is a tuple of 2"
    )
    fails(f, i32(1), kind=TypeError, match=text, line="if x > 0:")

    def g(x):
        y = "up" if x > 0 else "down"
        return y

    text = "the value of the `if` expression is 'up' in the main branch, but 'down' in the else"
    fails(g, i32(1), kind=TypeError, match=text, line='y = "up"')


def test_ranks_of_branches():
    def f(x, y):
        if x > 0:
            y = y[0]
        return y

    text = r"'y' is float32\[\] in the main branch, but float32\[2\] in the else branch"
    fails(f, i32(1), np.zeros(2, np.float32), kind=ValueError, match=text, line="if x > 0:")


def test_sizes_of_branches():
    def f(x, y):
        if x > 0:
            y = concat([y, y])
        return y

    two = np.arange(2, dtype=np.float32)
    program = agree(f, (i32(1), two), (i32(-1), two))
    assert program.result.shape == (None,)


def test_what_is_returned_differs():
    def f(x):
        if x > 0:
            return 1
        return 1.5

    text = (
        "the value that the function returns has dtype int32 in the main branch, but dtype float32"
    )
    fails(f, i32(1), kind=TypeError, match=text, line="if x > 0:")


def test_none_in_a_loop():
    def before(x):
        y = None
        while x > 0:
            y = x
            x = x - 1
        return y

    text = "'y' is not allowed to be None before the loop"
    fails(before, i32(1), kind=ValueError, match=text, line="while x > 0:")

    def after(x):
        y = 0
        for i in arange(x):
            y = None
        return y

    text = "'y' is None at the end of the iteration"
    fails(after, i32(1), kind=ValueError, match=text, line="for i in arange(x):")


def test_dtype_in_a_loop():
    def f(x, y):
        while x > 0:
            x = x - 1
            y = y * 0.5
        return y

    text = "'y' has dtype int32 before the loop, but dtype float64 after one iteration"
    fails(f, i32(1), i32(1), kind=TypeError, match=text, line="while x > 0:")


def test_structure_in_a_loop():
    def f(x):
        y = [x]
        while x > 0:
            x = x - 1
            y = y + [x]
        return y

    text = "'y' does not have the same nested structure after one iteration: it is a list of 1"
    fails(f, i32(1), kind=TypeError, match=text, line="while x > 0:")

    def g(x):
        y = "a"
        while x > 0:
            x = x - 1
            y = y + "b"
        return y

    text = "'y' is 'a' before the loop, but 'ab' after one iteration"
    fails(g, i32(1), kind=TypeError, match=text, line="while x > 0:")


def test_deleted_in_a_loop():
    def f(x, y):
        while x > 0:
            x = x - 1
            y = y + 1
            if x is None:
                y = 1
            else:
                del y
        return y

    with pytest.raises((ValueError, UnboundLocalError)):
        Program(f, i32(1), i32(1))


def test_try_around_what_a_tensor_decides():
    def f(x):
        try:
            if x > 0:
                x = x + 1
        except Exception:
            x = -x
        return x

    text = "a tensor decides this `if` inside a `try` with handlers"
    with pytest.raises(TypeError, match=text):
        Program(f, i32(1))
    assert Program(lambda x: x + 1, i32(1))(i32(1)) == 2

    def g(x):
        try:
            y = {}["none"]
        except KeyError as error:
            y = len(error.args)
        try:
            if x > 0:
                x = x + y
        finally:
            y = 0
        return x

    agree(g, *ints)


def test_try_in_a_callee():
    def inner(x):
        return x + 1 if x > 0 else x

    def f(x):
        try:
            return inner(x)
        except ValueError:
            return 0

    agree(f, *ints)


def test_try_in_a_branch():
    def f(x):
        if x > 0:
            try:
                y = [][0]
            except IndexError:
                y = x
        else:
            y = -x
        return y

    agree(f, *ints)


def test_with_is_kept():
    order = []

    class Scope:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            order.append(f"+{self.name}")
            return self

        def __exit__(self, *error):
            order.append(f"-{self.name}")

    def f(x):
        with Scope("a") as a, Scope("b"):
            if x > 0:
                return x
            x = x + len(a.name)
        return x

    agree(f, *ints)
    assert order[:4] == ["+a", "+b", "-b", "-a"]


def test_raise_that_is_no_tensors():
    def check(x, name):
        if name == "wrong":
            raise ValueError(f"no {name}")
        return x

    def f(x):
        if x > 0:
            x = check(x, "wrong")
        return x

    # Said by the callee's own values: as it is.
    fails(f, i32(1), kind=ValueError, match="no wrong", line="raise ValueError")

    def g(x, found=None):
        for name in ("a", "b"):
            if name == "b":
                raise KeyError(name)
        return x

    fails(g, i32(1), kind=KeyError, match="b", line="raise KeyError(name)")


def test_raise_in_a_loop_and_from():
    def f(x):
        for i in arange(x):
            if i > 3:
                raise RuntimeError from None
        return x

    text = "`raise RuntimeError` is in a branch or loop that a tensor decides"
    fails(f, i32(1), kind=TypeError, match=text, line="raise RuntimeError from None")


def test_reraise_is_kept():
    def f(x):
        try:
            {}["k"]
        except KeyError:
            raise
        return x

    fails(f, i32(1), kind=KeyError, match="k", line='{}["k"]')


def test_python_loop_with_a_break_of_a_tensor():
    def f(x):
        total = 0
        for i in [1, 2, 3]:
            if x < i:
                break
            total += i
        return total

    agree(f, *ints)

    def g(x):
        import itertools

        for i in itertools.count():
            if x < i:
                break
        return x

    text = "break and return statements which depend on a tensor are not supported in a Python for"
    fails(g, i32(1), kind=NotImplementedError, match=text, line="for i in itertools.count():")


def test_while_true_with_a_break_of_a_tensor():
    def f(x):
        n = 0
        while True:
            n += 1
            if n * n > x:
                break
        return n

    agree(f, *ints)


def test_large_unrolled_loop():
    def f(x):
        for i in range(120):
            x = x + i
        return x

    with pytest.warns(AutoGraphWarning, match="unrolled 100 times into the trace") as caught:
        Program(f, i32(1))
    assert caught[0].filename == __file__
    assert caught[0].lineno == f.__code__.co_firstlineno + 1

    def g(x):
        total = 0
        for i in range(1000):
            total += i
        return x + total

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Program(g, i32(1))


def test_loop_options():
    def limited(n):
        i = total = 0
        while i < n:
            set_loop_options(maximum_iterations=3, parallel_iterations=1, swap_memory=False)
            i += 1
            total += i
        return total

    program = Program(limited, i32(9))
    assert [program(i32(n)) for n in (0, 2, 9)] == [0, 3, 6]

    def counted(n, limit):
        total = 0
        for i in arange(n):
            set_loop_options(maximum_iterations=4)
            if i > limit:
                break
            total += i
        return total

    program = Program(counted, i32(9), i32(9))
    assert program(i32(9), i32(9)) == 6
    assert program(i32(3), i32(9)) == 3
    assert program(i32(9), i32(1)) == 1


def test_loop_options_not_first():
    def f(n):
        while n > 0:
            n -= 1
            set_loop_options(maximum_iterations=3)
        return n

    with pytest.warns(AutoGraphWarning, match="must be the first statement in the loop"):
        with pytest.raises(NotAllowedError):
            Program(f, i32(3))


def test_scalar_is_no_loop():
    def f(x):
        for y in x:
            x = y
        return x

    text = "a scalar tensor has no rows to iterate over"
    fails(f, i32(3), kind=TypeError, match=text, line="for y in x:")


def test_leaks():
    kept = []

    def f(x):
        if x > 0:
            y = x + 1
            kept.append(y)
        return x

    fails(f, i32(1), kind=TypeError, match="carry a TensorArray instead", line="kept.append(y)")
    kept.clear()

    def g(x):
        kept.append(x)  # while tracing, once: Python's own
        return x

    program = Program(g, i32(1))
    assert len(kept) == 1

    def h(x):
        return kept[0] + x

    with pytest.raises(LeakError):
        Program(h, i32(1))
    assert program(i32(3)) == 3


def test_set_and_dict_changes():
    found, table = set(), {}

    def f(x):
        for i in arange(x):
            found.add(i)

    fails(f, i32(1), kind=TypeError, match="`set.add` on a Python set", line="found.add(i)")

    def g(x):
        for i in arange(x):
            table.update({"k": i})

    fails(g, i32(1), kind=TypeError, match="`dict.update` on a Python dict", line="table.update")


def test_undefined_names_are_pythons():
    def f(x):
        if x > 0:
            x = no_such_name + x  # noqa: F821
        return x

    fails(f, i32(1), kind=NameError, match="no_such_name", line="x = no_such_name + x")


def test_read_before_assignment():
    def f(x):
        y = z + x  # noqa: F821
        if x > 0:
            z = 1  # noqa: F841
        return y

    with pytest.raises(UnboundLocalError, match="'?z'?"):
        Program(f, i32(1))

    def g(x):
        while x > 0:
            x = x - y  # noqa: F821
            y = x  # noqa: F841
        return x

    with pytest.raises(UnboundLocalError, match="'y' is used before assignment"):
        Program(g, i32(1))


def test_maybe_undefined_in_a_loop():
    def f(n):
        for i in arange(n):
            if i < 2:
                continue
            y = i
        return y

    program = Program(f, i32(5))
    assert program(i32(5)) == 4
    with pytest.raises(CheckError, match="'y' is used before assignment"):
        program(i32(2))


def test_assert_conditions():
    def f(x):
        assert x

    text = "the condition of `assert` must be a bool scalar"
    fails(f, f32(1), kind=TypeError, match=text, line="assert x")


def test_arrays_of_python_objects_as_state():
    def f(x, array):
        while x > 0:
            array = array.append(x) if x > 2 else array
            x = x - 1
        return array.stack()

    program = Program(f, i32(1), Array.empty())
    assert program(i32(4), None).tolist() == [4, 3]
