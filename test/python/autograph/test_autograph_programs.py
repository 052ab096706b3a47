"""Random programs: what is traced, run on values, is what plain Python does."""

import os
import random

import pytest
from double import CheckError, Program, agree, compiled, i32


class Writer:
    """Writes a random function on integers; every loop ends."""

    NAMES = ("a", "b", "c", "d")

    def __init__(self, seed, undefined=False):
        self.random = random.Random(seed)
        self.undefined = undefined
        self.lines = ["def program(a, b, c):"]
        self.lines += ["    if a is None:", "        d = 0"] if undefined else ["    d = 0"]
        self.counters = 0
        self.budget = 22

    def text(self):
        self.block(1, 0, False)
        if self.random.random() < 0.8:
            self.lines.append("    return a, b, c, d")
        else:
            self.lines += ["    if a > b:", "        return a, b, c, d", "    return d, c, b, a"]
        return "\n".join(self.lines) + "\n"

    def add(self, depth, text):
        self.lines.append("    " * depth + text)

    def number(self, depth=0):
        r = self.random
        kind = r.randrange(8 if depth < 2 else 3)
        if kind == 0:
            return str(r.randrange(-3, 6))
        if kind < 3:
            return self.read()
        if kind == 3:
            return f"show({self.number(depth + 1)})"
        if kind == 4:
            first, second = self.number(depth + 1), self.number(depth + 1)
            return f"({first} if {self.test(depth + 1)} else {second})"
        op = r.choice(["+", "-", "*"])
        return f"(({self.number(depth + 1)} {op} {self.number(depth + 1)}) % 19)"

    def read(self):
        """A name to read: one that may have no value is read rarely, and at the end."""
        rarely = self.undefined and self.random.random() < 0.95
        return self.random.choice(self.NAMES[:3] if rarely else self.NAMES)

    def test(self, depth=0):
        r = self.random
        kind = r.randrange(6 if depth < 2 else 2)
        sign = r.choice(["<", ">", "<=", ">=", "==", "!="])
        if kind < 2:
            return f"({self.number(depth + 1)} {sign} {self.number(depth + 1)})"
        if kind == 2:
            return f"({self.test(depth + 1)} and {self.test(depth + 1)})"
        if kind == 3:
            return f"({self.test(depth + 1)} or {self.test(depth + 1)})"
        if kind == 4:
            return f"(not {self.test(depth + 1)})"
        middle = self.number(depth + 1)
        return f"({self.number(depth + 1)} < {middle} {sign} {self.number(depth + 1)})"

    def block(self, depth, nesting, loop):
        for _ in range(self.random.randrange(1, 4)):
            if self.statement(depth, nesting, loop):
                break

    def statement(self, depth, nesting, loop):
        r = self.random
        self.budget -= 1
        kind = r.randrange(15)
        name = r.choice(self.NAMES)
        if self.undefined:
            name = "d" if loop and r.random() < 0.3 else r.choice("abc")
        if kind < 3 or nesting >= 3 or self.budget < 0:
            self.add(depth, f"{name} = {self.number()}")
        elif kind == 3:
            self.add(depth, f"{name} {r.choice('+-')}= {self.number(1)}")
        elif kind < 7:
            self.add(depth, f"if {self.test()}:")
            self.block(depth + 1, nesting + 1, loop)
            if r.random() < 0.3:
                self.add(depth, f"elif {self.test()}:")
                self.block(depth + 1, nesting + 1, loop)
            if r.random() < 0.5:
                self.add(depth, "else:")
                self.block(depth + 1, nesting + 1, loop)
        elif kind < 10:
            self.loop(depth, nesting, name)
        elif loop and kind == 10:
            self.add(depth, r.choice(["break", "continue"]))
            return True
        elif kind == 12:
            self.match(depth, nesting, loop)
        elif kind == 13:
            self.add(depth, f"if ({name} := {self.number()}) > 2 and {self.test(1)}:")
            self.block(depth + 1, nesting + 1, loop)
        elif kind == 14:
            self.add(depth, "try:")
            self.block(depth + 1, nesting + 1, loop)
            self.add(depth, "finally:")
            self.add(depth + 1, f"{r.choice(self.NAMES)} = 1")
        elif r.random() < 0.4:
            self.add(depth, f"return {', '.join(r.choice(self.NAMES) for _ in range(4))}")
            return True
        else:
            self.add(depth, f"show({name})")
        return False

    def match(self, depth, nesting, loop):
        r = self.random
        self.add(depth, f"match {self.number()}:")
        for pattern in r.sample(["0", "1 | -2", "3", "n if n > 4", f"n if {self.test(1)}"], 2):
            self.add(depth + 1, f"case {pattern}:")
            self.block(depth + 2, nesting + 1, loop)
        if r.random() < 0.5:
            self.add(depth + 1, "case _:")
            self.block(depth + 2, nesting + 1, loop)

    def loop(self, depth, nesting, name):
        r = self.random
        self.counters += 1
        kind = r.randrange(4)
        if kind == 0:
            self.add(depth, f"for k{self.counters} in range({r.randrange(1, 3)}):")
        elif kind == 1:
            self.add(depth, f"for k{self.counters} in arange({name} % 4):")
        else:
            counter = f"k{self.counters}"
            self.add(depth, f"{counter} = 0")
            self.add(depth, f"while {counter} < {name} % 4 and {self.test(1)}:")
            self.add(depth + 1, f"{counter} += 1")
        self.block(depth + 1, nesting + 1, True)
        if r.random() < 0.25:
            self.add(depth, "else:")
            self.block(depth + 1, nesting + 1, False)


INPUTS = [(0, 0, 0), (1, 2, 3), (-5, 4, 9), (7, 7, -2), (3, 1, 6), (18, 2, 5)]


def check(seed):
    text = Writer(seed).text()
    program = compiled(text, f"<program {seed}>")
    try:
        agree(program, *[tuple(map(i32, case)) for case in INPUTS])
    except BaseException as error:
        error.add_note(text)
        raise


def check_undefined(seed):
    """A variable that may have no value: Python and the program agree on when it is missed."""
    text = Writer(seed, undefined=True).text()
    function = compiled(text, f"<undefined {seed}>")
    try:
        try:
            program = Program(function, *map(i32, INPUTS[0]))
        except (ValueError, UnboundLocalError):
            return  # a branch alone assigns it, or it is missed in any case
        for case in INPUTS:
            try:
                wanted = function(*map(i32, case))
            except UnboundLocalError:
                with pytest.raises(CheckError, match="is used before assignment"):
                    program(*map(i32, case))
            else:
                assert program(*map(i32, case)) == wanted, case
    except BaseException as error:
        error.add_note(text)
        raise


def programs(config):
    """How many programs to run; the option is known where pytest starts in this folder."""
    return config.getoption("--programs", default=None) or int(os.environ.get("PROGRAMS", "100"))


def pytest_generate_tests(metafunc):
    if "part" in metafunc.fixturenames:
        metafunc.parametrize("part", range(0, programs(metafunc.config), 25))


def test_programs(part, request):
    for seed in range(part, min(part + 25, programs(request.config))):
        check(seed)


def test_programs_with_undefined_variables(part, request):
    for seed in range(part, min(part + 10, programs(request.config))):
        check_undefined(seed)
