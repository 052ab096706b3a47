"""Python's other constructs, inside what tensors decide."""

import sys

import numpy as np
import pytest
from double import Program, Rows, agree, arange, compiled, i32, show
from weft._autograph import convert

ints = [(i32(n),) for n in (-3, 0, 1, 2, 5, 8)]


def test_unpacking():
    def f(x):
        a, *b = x, 1, x + 2
        (c, d), e = (a, b), 0
        while x > 0:
            a, *b = b[0], a, b[1] + 1
            c, e = e, c + x
            x -= 1
        for i, (p, q) in enumerate(zip(np.arange(3, dtype=np.int32), np.arange(4, dtype=np.int32))):
            e += i * p + q
        return a, b, c, d, e

    agree(f, *ints)


def test_imports_in_branches():
    def f(x):
        import math as m
        from operator import add, neg

        if x > 0:
            from operator import mul

            x = mul(x, 2)
        return add(neg(x), int(m.sqrt(4)))

    agree(f, *ints)


def test_parts_of_objects():
    class Box:
        pass

    def f(x):
        box = Box()
        box.items = [x, 1]
        box.table = {"a": x, "b": 0}
        i = 1
        while box.table["a"] > 0:
            box.table["a"] -= 1
            box.items[i] += x
            box.table["b"] = box.items[i]
        if x > 1:
            box.fresh = x
            box.table["new"] = 1
        else:
            box.fresh = -x
            box.table["new"] = 2
        del box.table["b"]
        return box.items, box.table, box.fresh

    agree(f, *ints)


def test_what_a_branch_adds_to_an_object():
    class Box:
        pass

    def f(x):
        box = Box()
        if x > 0:
            box.fresh = x
        return x

    with pytest.raises(ValueError, match="'box.fresh' must also be initialized in the else branch"):
        Program(f, i32(1))


def test_functions_made_in_loops():
    def f(x):
        total = 0
        for i in arange(x):

            def scaled(v, by=2):
                return v * by + i if i > 1 else v

            total += scaled(i) + (lambda v: v + i if v > 0 else v)(x)
        return total

    agree(f, *ints)


def test_nonlocal_in_inner_loops():
    def f(x):
        count = 0

        def bump(n):
            nonlocal count
            for i in arange(n):
                if i == 2:
                    return
                count += i + 1

        bump(x)
        bump(x + 1)
        return count

    agree(f, *ints)


def test_return_from_with_and_try_in_loops():
    class Scope:
        def __enter__(self):
            return 2

        def __exit__(self, *error):
            pass

    def f(x):
        for i in arange(x):
            with Scope() as two:
                if i > two:
                    return i
                try:
                    if i == 1:
                        continue
                finally:
                    show(i)
        return -x

    agree(f, *ints)


def test_try_with_else_and_names():
    def f(x, key):
        try:
            y = {"a": 1}[key]
        except (KeyError, IndexError) as error:
            y = len(error.args) + 10
            if x > 0:
                y = y + x
        else:
            if x > 1:
                y = y - x
        finally:
            show(y)
        return y

    agree(f, *[(x, "a") for (x,) in ints])
    agree(f, *[(x, "b") for (x,) in ints])


def test_nested_data_sets():
    outer = Rows(np.arange(4, dtype=np.int32))
    inner = Rows(np.arange(3, dtype=np.int32))

    def f(x):
        for a in outer:
            for b in inner:
                if a * b == x:
                    break
                if b == 1:
                    continue
                x += a + b
            if x > 30:
                return x * 100
        return x

    agree(f, *ints)


def test_nested_ternaries_and_logic():
    def f(x):
        y = (1 if x > 2 else 2) if x > 0 else (3 if x < -1 else x)
        z = (x > 0 and x < 3 or x == 5) and not (x == 1 or show(x) == 2)
        return y, z, 0 if not z else x

    agree(f, *ints)


def test_while_with_python_and_tensor_tests():
    def f(x, n):
        total = 0
        while n > 0 and x > 0:
            n -= 1
            x -= 2
            total += n
        return total, n

    agree(f, *[(x, 3) for (x,) in ints])


def test_loop_over_rows():
    def f(rows):
        total = rows[0] * 0
        for row in rows:
            for value in row:
                if value < 0:
                    break
                total = total + value
        return total

    agree(f, (np.arange(-3, 9, dtype=np.int32).reshape(4, 3),))


def test_flags_that_python_knows():
    def f(x, train):
        first = True
        best = None
        for _ in arange(x):
            if train:
                x = x + 1
            if first:
                x = x * 2
                first = False
            else:
                x = x - 1
        if best is None:
            x = x + 1
        return x, first

    for train in (True, False):
        agree(f, *[(x, train) for (x,) in ints])


@pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of Python 3.12")
def test_type_parameters_and_new_strings():
    text = """
def program[T](x: T, names=["a"]) -> T:
    def inner[S](y: S) -> S:
        return y if y > 0 else -y
    print(end=f"{names[0]:{"<"}{len("")}}")
    if x > 0:
        x = inner(x) + 1
    return x
"""
    agree(compiled(text, "<type parameters>"), *ints)


def test_long_chains_of_elif():
    lines = ["def program(x):", "    y = 0", "    if x == 0:", "        y = 1"]
    for n in range(1, 60):
        lines += [f"    elif x == {n}:", f"        y = {n * 3}"]
    lines += ["    return y", ""]
    f = compiled("\n".join(lines), "<elif>")
    program = Program(f, i32(1))
    for n in (0, 1, 30, 59, 60):
        assert program(i32(n)) == f(i32(n))


def test_converting_twice_is_once():
    def f(x):
        return x + 1 if x > 0 else x

    agree(convert(convert(f)), *ints)
