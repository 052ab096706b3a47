"""Python that is rewritten before it is converted: each construct means what it means in Python."""

import collections
import dataclasses
import enum

import numpy as np
import pytest
from double import CheckError, Program, agree, arange, f32, i32, show
from weft._autograph import AutoGraphWarning, convert, to_code

ints = [(i32(n),) for n in (-3, 0, 1, 2, 5, 8)]


# `:=`


def test_walrus_in_if():
    def f(x):
        if (y := x * 2) > 4:
            return y
        elif (z := y + 1) > 0:
            return z
        return y

    agree(f, *ints)


def test_walrus_in_while():
    def f(x):
        n = 0
        while (y := show(x - n)) > 2:
            n += 1
            if y == 4:
                continue
            n += 1
        return n, y

    agree(f, *ints)


def test_walrus_in_while_with_break():
    def f(x):
        n = 0
        while (y := x - n) > 0 and (z := y * 2) < 100:
            n += 1
            show(z)
            if n > 3:
                break
        return n, y

    with pytest.raises(ValueError, match="'z' must also be initialized in the else branch"):
        Program(f, i32(1))

    def g(x):
        n = z = 0
        while (y := x - n) > 0 and (z := y * 2) < 100:
            n += 1
            show(z)
            if n > 3:
                break
        return n, y, z

    agree(g, *ints)


def test_walrus_in_and_or():
    def f(x):
        y = z = 0
        a = x > 0 and (y := show(x + 1)) > 2
        b = x > 1 or (z := show(x + 10)) > 10 or show(x) > 3
        return a, b, y, z

    agree(f, *ints)


def test_walrus_in_ternary():
    def f(x):
        y = 1
        a = (y := x + 1) if x > 1 else y - 1
        b = 0 if (z := a + y) > 2 else z
        return a, b, y, z

    agree(f, *ints)


def test_walrus_in_chained_comparison():
    def f(x):
        z = 7
        a = 0 < (y := show(x - 1)) < (z := show(x + 2)) < 6
        return a, y, z

    agree(f, *ints)


def test_walrus_keeps_the_order_of_evaluation():
    def f(x):
        y = x
        a = y + (y := x * 2) + y
        b = [y, (y := y + 1), y]
        c = max(show(y), (y := show(x)))
        return a, b, c, y

    agree(f, *ints)


def test_walrus_everywhere():
    def f(x):
        a = b = 0
        a += (b := x + 1)
        for i in arange(n := x % 4):
            a += i
        text = f"{(m := 3)}"
        assert (d := x + 100) > 0, "no"
        with open(p := __file__):
            pass
        return a, b, n, text, m, d, (lambda q: q + 1)(e := x), e, p.endswith("py")

    agree(f, *ints)


def test_walrus_in_comprehension():
    def f(x):
        values = [y + last for y in (1, 2, 3) if (last := y * 2) > 2]
        return values, last, x

    agree(f, *ints)

    def g(x):
        if x > 0:
            values = [last := y * 2 for y in (1, 2, 3)]  # noqa: F841
            x = x + last
        return x

    agree(g, *ints)


def test_walrus_refused():
    def f(x):
        return [y for y in (1, 2) if y > 1 and (last := y)], last

    with pytest.warns(AutoGraphWarning, match=r"of a comprehension is not converted: write a loop"):
        Program(f, i32(1))


# Comparisons in chains


def test_chain_evaluates_the_middle_once():
    def f(x):
        a = 0 < show(x) < 5
        b = show(x) <= show(x + 1) != show(3)
        c = 1 < 2 < show(x)
        d = 0 < show(x - 1) in (1, 2) if False else 0
        return a, b, c, d

    agree(f, *ints)


def test_chain_of_python_values():
    def f(x, names):
        if 1 < len(names) <= 3:
            x = x + 1
        return x, "a" in names is not None

    agree(f, (i32(1), ["a", "b"]), (i32(4), ["a", "b"]))


# Annotations


def test_annotated_assignments():
    def f(x):
        y: int = 1
        z: "no such type"  # noqa: F722
        if x > 0:
            y: int = x * 2
            z: int = 3
        else:
            z: int = 4
        total: "int" = 0
        while total < y:
            total: int = total + z
        return y, z, total

    agree(f, *ints)


# Assert


def test_assert_without_message():
    def f(x):
        assert x > 0
        return x

    program = Program(f, i32(1))
    with pytest.raises(CheckError, match="the assertion does not hold"):
        program(i32(0))
    with pytest.raises(AssertionError):
        convert(f)(i32(0))


def test_assert_in_a_branch():
    def f(x):
        if x > 3:
            assert x < 6, f"more than {6}"
            x = x + 1
        return x

    program = agree(f, (i32(1),), (i32(4),))
    with pytest.raises(CheckError, match="more than 6"):
        program(i32(7))


# Loops with else


def test_for_else():
    def f(n, limit):
        found = -1
        for i in arange(n):
            if i * i > limit:
                found = i
                break
        else:
            found = -2
            show(n)
        return found

    agree(f, (i32(5), i32(3)), (i32(1), i32(3)), (i32(0), i32(0)))


def test_while_else():
    def f(n, limit):
        i = 0
        while i < n:
            i += 1
            for j in arange(i):
                if j == 2:
                    break
            else:
                if i == limit:
                    break
        else:
            i += 100
        return i

    agree(f, (i32(5), i32(1)), (i32(1), i32(3)), (i32(4), i32(2)), (i32(4), i32(7)))


def test_else_without_break():
    def f(n):
        for i in arange(n):
            if i == 3:
                return i
        else:
            n = n + 1
        return -n

    agree(f, *ints)


# Private names


class Counter:
    __step = 2

    def __init__(self):
        self.__count = 0

    def add(self, x):
        __local = self.__step
        if x > 0:
            self.__count = self.__count + x * __local
        else:
            self.__count = self.__count - x
        return self.__count

    def __hidden(self, x):
        return x + 1 if x > 0 else x

    def call(self, x):
        return self.__hidden(x)


def test_private_names():
    agree(lambda x: Counter().add(x) + Counter().call(x), *ints)


# Match


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Point:
    x: object
    y: object


def test_match_on_a_tensor():
    def f(x):
        match x:
            case 0:
                y = show(x)
            case 1 | 2:
                y = x * 10
            case n if n > 6:
                y = n + 100
            case -3:
                y = x
            case _:
                y = x - 1
        return y

    agree(f, *ints)


def test_match_without_default():
    def f(x):
        y = 0
        match x * 2:
            case 2:
                y = 1
            case 4:
                return x
        return y

    agree(f, *ints)


def test_match_in_sequences():
    def f(x, y):
        match (x, [y, 2, 3]):
            case (0, _):
                return x
            case (1, [a, *rest]) if a > 3:
                return a + len(rest)
            case (n, [*_, last]):
                return n + last
        return -1

    agree(f, *[(i32(a), i32(b)) for a in (0, 1, 2) for b in (1, 5)])


def test_match_mappings_and_classes():
    def f(x, thing):
        match thing:
            case {"kind": "add", "by": by, **rest}:
                x = x + by + len(rest)
            case Point(x=0, y=b):
                x = x + b
            case Point(a, b):
                x = x * a + b
            case Color.RED | Color.BLUE as color:
                x = x + color.value
            case str(text):
                x = x + len(text)
            case [int() | float() as number, [_, _]]:
                x = x + number
            case None:
                x = -x
            case True:
                x = x * 7
            case int(n):
                x = x - n
            case _:
                x = x * 0
        return x

    things = [
        {"kind": "add", "by": 3, "more": 1}, {"kind": "sub"}, Point(0, 5), Point(2, 3), Color.BLUE,
        "four", [7, (1, 2)], [7, 8], None, True, 9, b"x", (),
    ]  # fmt: skip
    for thing in things:
        agree(f, *[(x, thing) for (x,) in ints])


def test_match_of_tensors_in_a_class():
    def f(x, y):
        match Point(x, y):
            case Point(1, b) if b > 2:
                return b * 2
            case Point(a, b=0) if False:
                return a
            case Point(a, y=3):
                return a
            case Point(a, b):
                return a + b

    agree(f, *[(i32(a), i32(b)) for a in (0, 1, 2) for b in (1, 3, 5)])


def test_match_errors_are_pythons():
    def f(x):
        match x:
            case Point(1, 2, 3):
                return 1
        return 0

    for call in (f, convert(f)):
        with pytest.raises(TypeError, match="accepts 2 positional sub-patterns"):
            call(Point(1, 2))


def test_match_binds_only_what_matches():
    def f(x):
        n = 50
        match (x, 1):
            case (n, 2):
                pass
            case (a, 1) if a > 2:
                n = a
        return n

    agree(f, *ints)


def test_match_or_with_names_refused():
    def f(x):
        match (x, 1):
            case (1, n) | (2, n):
                return n
        return 0

    with pytest.raises(TypeError, match="cannot bind names"):
        Program(f, i32(1))


# Lines


def test_continued_lines_keep_their_numbers():
    # fmt: off
    def f(x):
        y = x + \
            1
        z = (y
             + np.float32("none"))
        return z
    # fmt: on

    with pytest.raises(ValueError) as caught:
        Program(f, i32(1))
    entry = list(caught.traceback)[-1]
    assert entry.lineno + 1 == f.__code__.co_firstlineno + 4
    positions = list(entry.frame.code.raw.co_positions())
    line, end, column, end_column = positions[entry._rawentry.tb_lasti // 2]
    assert (line, column) == (f.__code__.co_firstlineno + 4, 15)


# To read


def test_to_code():
    def f(x):
        """Doubles."""
        if x > 0:
            x = x * 2
        return x

    text = to_code(f)
    assert text.startswith(
        "# AutoGraph's form of test_to_code.<locals>.f, test_autograph_rewrites.py:"
    )
    assert '"""Doubles."""' in text
    assert "ag__.if_stmt(ag__.ld(x) > 0, if_body, else_body, get_state, set_state, ('x'" in text
    compile(text, "converted", "exec")


def test_to_code_of_what_is_not_converted():
    def f(x):
        yield x

    with pytest.raises(TypeError, match="generators are not converted"):
        to_code(f)
    with pytest.raises(TypeError, match="to_code takes a function of Python"):
        to_code(len)


Named = collections.namedtuple("Named", "a b")


def test_trees_as_state():
    def f(x):
        state = {"n": 0, "pair": (x, [1.0, x]), "named": Named(1, 2)}
        while state["n"] < x:
            n, (a, (b, c)) = state["n"], state["pair"]
            named = state["named"]
            state = {
                "n": n + 1,
                "pair": (a + 1, [b * 2, c]),
                "named": named._replace(a=named.a + n),
            }
        if x > 2:
            state = {**state, "n": state["n"] * 100}
        return state

    agree(f, *ints)


@dataclasses.dataclass
class State:
    weights: object
    step: int = 0
    name: str = "state"


def test_dataclasses_as_state():
    def f(x):
        state = State(x * 2)
        for i in arange(x):
            state = dataclasses.replace(state, weights=state.weights + i, step=state.step + 1)
        if x > 2:
            state = State(state.weights, 100)
        return state.weights, state.step, state.name

    agree(f, *ints)


def test_mixed_numbers():
    def f(x, y):
        loss = 0
        step = 0
        for i in arange(x):
            loss += y
            step += 1
        scale = 1 if x > 2 else y
        return loss, step, scale

    agree(f, (i32(3), f32(0.5)), (i32(1), f32(2)))
