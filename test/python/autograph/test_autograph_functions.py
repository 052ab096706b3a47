"""What can be called from converted code, and how it is found and converted."""

import functools
import warnings

import autograph_samples as samples
import numpy as np
import pytest
from double import LeakError, Program, agree, arange, i32, show
from weft._autograph import AutoGraphWarning, convert, do_not_convert, to_code

ints = [(i32(n),) for n in (-3, 0, 1, 2, 5, 8)]


class Base:
    scale = 3

    def __init__(self, start=0):
        self.total = start

    def step(self, x):
        if x > 0:
            self.total = self.total + x * self.scale
        return self.total

    @classmethod
    def of(cls, x):
        return x * cls.scale if x > 1 else x

    @staticmethod
    def plain(x):
        return x + 1 if x > 1 else x

    def __call__(self, x):
        return x * 5 if x > 2 else x

    @property
    def doubled(self):
        return self.total * 2


class Derived(Base):
    scale = 4

    def step(self, x):
        y = super().step(x)
        if x > 1:
            return y + 1
        return y - super(Derived, self).plain(x)

    def indirect(self, x):
        if x > 0:
            self.step(x)
        return x

    @classmethod
    def of(cls, x):
        y = super().of(x)
        return y + 1 if y > 0 else y


def test_methods_and_super():
    def f(x):
        d = Derived(1)
        a = d.step(x)
        b = Derived.of(x) + Base.plain(x) + d.plain(x) + d(x)
        return a, b, d.doubled

    agree(f, *ints)


def test_attributes_set_in_a_call():
    # Not seen where the branch is; what is left behind is an error, not a wrong value.
    def f(x):
        d = Derived(0)
        d.indirect(x)
        return d.total + 1

    with pytest.raises(LeakError):
        Program(f, i32(1))


def test_attributes_as_state():
    def f(x):
        b = Base(0)
        while b.total < x:
            b.total = b.total + 2
            if b.total == 4:
                b.extra = 5
            else:
                b.extra = 6
        return b.total

    with pytest.raises(ValueError, match="'b.extra' must be defined before the loop"):
        Program(f, i32(1))

    def g(x):
        b, d = Base(0), {"k": x}
        while b.total < x:
            b.total = b.total + 2
            d["k"] = d["k"] - 1
        if x > 2:
            b.extra = d["k"]
        else:
            b.extra = -1
        return b.total, b.extra, d

    agree(g, *ints)


def test_decorators_wraps():
    agree(samples.decorated, *ints)
    agree(lambda x: samples.decorated(x, by=x), *ints)


def test_functions_as_arguments():
    def f(x):
        add = functools.partial(lambda a, b: a + b if b > 0 else a, x)
        return samples.calls_all(x, [samples.helper, add, Base(), Base().step, abs])

    agree(f, *ints)


def test_partial_with_keywords():
    def g(a, *, b, c=1):
        return a + b if c > 0 else a - b

    agree(lambda x: functools.partial(g, b=3)(x, c=x) + functools.partial(g, x)(b=x), *ints)


def test_lru_cache_is_left():
    @functools.lru_cache
    def size(n):
        return n * 2

    def f(x):
        return x + size(3) if x > 0 else x

    agree(f, *ints)


def test_closures_that_rebind():
    def f(x):
        count = 0

        def bump(by):
            nonlocal count
            if by > 1:
                count = count + by
            return count

        for i in (1, 2, 3):
            bump(x)
        return count, bump(i32(5))

    agree(f, *ints)


def test_closures_that_rebind_and_do_not_read():
    """A branch that begins with the old value, and whose new one nothing of its function reads."""

    def f(x):
        n = first = 0

        def g():
            nonlocal n, first
            if x > 0:
                n = n + 1
                first = 5
            else:
                n = n + 2

        def h():
            nonlocal n
            for i in range(3):
                if x > i:
                    n = n + 10

        g()
        h()
        return n, first

    agree(f, *ints)


TOTAL = 0


def test_globals_that_nothing_here_reads():
    def f(x):
        global TOTAL
        if x > 0:
            TOTAL = TOTAL + 1
        else:
            TOTAL = TOTAL + 2

    def g(x):
        global TOTAL
        TOTAL = 0
        f(x)
        return TOTAL

    agree(g, *ints)


def test_nonlocal_of_what_is_not_converted():
    def f(x):
        nonlocal total, later
        if x > 0:
            total = total + x
            later = 1
        else:
            later = 2
        return total * later

    if len(ints) == 0:
        later = 0
    total = 0
    program = Program(f, i32(1))  # `later` has no value yet
    assert later is not None
    assert program(i32(4)) == 4
    assert program(i32(-4)) == 0


def test_smallest_functions():
    def only_words(x):
        """Nothing."""

    def nothing(x):
        pass

    for f in (only_words, nothing, lambda x: None, lambda *a, **k: a):
        agree(f, *ints)


def test_names_like_the_generated_ones():
    def f(x):
        fscope, do_return, retval_, get_state, if_body, ag_thunk__ = 1, 2, 3, 4, 5, 6
        break_ = continue_ = itr = vars_ = 0
        for itr in arange(x):
            if itr == 1:
                continue
            if itr > 3:
                break
            continue_ = continue_ + do_return
            break_ += 1
        if x > 2:
            return fscope + retval_
        return get_state + if_body + ag_thunk__ + break_ + continue_ + vars_

    agree(f, *ints)


def test_properties_are_not_touched_by_python_loops():
    class Counted:
        sets = 0

        def __init__(self):
            self.value = 0

        @property
        def count(self):
            return self.value

        @count.setter
        def count(self, value):
            self.sets += 1
            self.value = value

    def f(x, c):
        while c.count < 3:
            c.count += 1
        return x + c.sets

    assert Program(f, i32(1), Counted())(i32(1)) == 4


def make():
    factor = 2

    def f(x):
        return x * factor if x > 0 else x

    def change(value):
        nonlocal factor
        factor = value

    return f, change


def test_closures_share_their_cells():
    f, change = make()
    assert Program(f, i32(3))(i32(3)) == 6
    change(10)
    assert Program(f, i32(3))(i32(3)) == 30
    other, _ = make()
    assert Program(other, i32(3))(i32(3)) == 6


def test_nested_functions_and_lambdas():
    def f(x):
        def inner(y, scale=2):
            def innermost():
                if y > 3:
                    return y * scale
                return y

            return innermost() + 1

        pick = lambda a: inner(a) if a > x else -a  # noqa: E731
        return pick(x + 1) + inner(x, scale=x) + sum(map(lambda v: v if x > 0 else 0, [1, 2]))

    agree(f, *ints)


def test_recursion_on_python_values():
    def power(x, n):
        if n == 0:
            return x * 0 + 1
        if n % 2 == 1:
            return x * power(x, n - 1)
        half = power(x, n // 2)
        return half * half if x > 0 else half * half + 0

    agree(lambda x: power(x, 5), *ints)


def count_down(x):
    if x <= 0:
        return x
    return count_down(x - 1)


def test_recursion_on_a_tensor():
    with pytest.raises(TypeError, match="recursion ends where a tensor says so cannot be traced"):
        Program(count_down, i32(3))
    assert convert(count_down)(3) == 0
    assert Program(samples.helper, i32(3))(i32(3)) == 6  # all is as before


def test_defaults_and_star_arguments():
    def g(a, /, b=2, *rest, c=3, **more):
        return a + b + c + sum(rest) + sum(more.values()) if a > 0 else a

    def f(x):
        args, options = (1, 2), {"c": 5, "z": 6}
        return g(x), g(x, *args), g(x, *args, x, **options), g(*(x, *args), **options)

    agree(f, *ints)


def test_comprehensions():
    def f(x):
        a = [y * 2 for y in (1, 2, 3) if y > 1]
        b = {k: v + x for k, v in {"p": 1, "q": 2}.items()}
        c = {y for y in (1, 1)}
        d = sum(y + x for y in a)
        e = [y if x > y else 0 for y in a]
        return a, b, len(c), d, e

    agree(f, *ints)


def test_comprehension_over_a_tensor():
    def f(xs):
        return [x + 1 for x in xs]

    with pytest.raises(TypeError, match="cannot be iterated over by Python"):
        Program(f, np.arange(3))

    def g(n):
        return [i for i in range(n)]

    with pytest.raises(TypeError, match="a range of a traced tensor can only be gone through by a"):
        Program(g, i32(3))


def test_builtins():
    def f(x, xs):
        total = 0
        for i in range(x):
            total += i
        for i in range(1, x, 2):
            total += i
        for i in range(x, 0, -1):
            total += i * 10
        for i in range(0, 6, x):
            total += i
        for i, v in enumerate(xs, 3):
            total += i * v
        for a, b in zip(xs, range(10)):
            total += a * b
        for a in map(lambda q: q + 1 if q > 1 else q, xs):
            total += a
        for a in reversed(xs):
            total = total * 2 + a
        total += min(x, 3) + max(1, x) + abs(-x) + len(xs) + int(x) + sum(xs)
        return total, float(x), bool(x > 2), any(xs > 2), all(xs > 0), sorted(xs, reverse=True)

    xs = np.array([3, 1, 2], np.int32)
    agree(f, *[(i32(n), xs) for n in (1, 2, 5)])


def test_builtins_with_python_values():
    def f(x):
        pairs = list(zip("ab", [1, 2])) + list(enumerate("c"))
        words = sorted(["b", "a"], key=lambda w: w, reverse=True)
        even = list(filter(lambda n: n % 2 == 0, range(5)))
        found = next(iter(even)), next(iter([]), 7), max(3, 1), max([1, 5]), min("ba", key=ord)
        return x, pairs, words, even, found, int("12"), len("abc"), list(map(str, (1, 2)))

    agree(f, (i32(1),))


def test_zip_with_a_list():
    def f(xs):
        for a, b in zip(xs, [1, 2]):
            xs = xs + a * b
        return xs

    with pytest.raises(TypeError, match="zip of a traced tensor and a Python list"):
        Program(f, np.arange(2))


def test_globals_locals_eval():
    def f(x):
        y = 3
        if x > 0:
            x = x + eval("MARK") + len([name for name in locals() if name in ("x", "y")]) - 1
            x = x + globals()["MARK"]
        return x + y

    program = Program(f, i32(1))
    assert program(i32(1)) == 1 + 1000 + 1000 + 3
    assert program(i32(-1)) == 2


MARK = 1000
COUNT = 0


def test_global_in_a_branch():
    def f(x):
        global COUNT
        COUNT = 1
        if x > 0:
            COUNT = x
        else:
            COUNT = 2
        result = COUNT + 1
        COUNT = 0
        return result

    agree(f, *ints)


def test_global_that_is_only_written():
    def f(x):
        global COUNT
        if x:
            COUNT = 5
        else:
            COUNT = 6

    convert(f)(True)
    assert COUNT == 5


def test_del():
    def f(x):
        y = x
        if x > 0:
            z = y
            x = z + 1
            del z
        del y
        return y  # noqa: F821

    with pytest.raises(UnboundLocalError, match="'y' is used before assignment"):
        Program(f, i32(1))


def test_generators_run_as_they_are():
    def numbers(n):
        for i in range(n):
            if i != 1:
                yield i

    def f(x):
        total = x
        for i in numbers(4):
            total += i if x > 0 else 0
        return total

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agree(f, *ints)


def test_generator_that_meets_a_tensor():
    def numbers(x):
        if x > 0:
            yield x

    with pytest.raises(TypeError) as caught:
        Program(lambda x: list(numbers(x)), i32(1))
    assert "traced tensor" in str(caught.value)


def test_coroutines_are_refused():
    async def f(x):
        return x if x > 0 else -x

    with pytest.raises(TypeError, match="coroutines are not converted"):
        to_code(f)
    coroutine = convert(f)(1)
    with pytest.raises(StopIteration, match="1"):
        coroutine.send(None)


def test_class_in_a_function():
    def f(x):
        class Pair:
            def __init__(self, a):
                self.a = a

            def get(self):
                return self.a + 1

        return Pair(x).get()

    with pytest.warns(AutoGraphWarning, match="a class defined inside a function is not converted"):
        agree(f, *ints)


def test_do_not_convert():
    @do_not_convert
    def plain(x):
        return x if x > 0 else -x

    def f(x):
        return plain(x)

    with pytest.raises(TypeError, match="no value that Python could branch on"):
        Program(f, i32(1))
    assert Program(lambda x: do_not_convert(Base())(3) + x, i32(1))(i32(1)) == 16

    class Left:
        @do_not_convert
        def method(self, x):
            return 1 if x > 0 else 2

        @classmethod
        @do_not_convert
        def cls(cls, x):
            return 1 if x > 0 else 2

    for call in (Left().method, Left.cls):
        with pytest.raises(TypeError, match="no value that Python could branch on"):
            Program(call, i32(1))


def test_eager_calls_stay_python():
    def f(x):
        seen = []
        while x > 0:
            seen.append(x)
            x -= 1
        return seen

    assert convert(f)(3) == [3, 2, 1]
    assert convert(f)(i32(2)) == [2, 1]


def test_order_of_effects():
    def f(x):
        show(x)
        if show(x + 1) > 2:
            show(x + 2)
        for i in arange(2):
            show(i)
        return show(x)

    agree(f, *ints)
