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


def all_ways(f, *args):
    """What a function gives on values, traced by AutoGraph and without it."""
    return f(*args), wf.function(f)(*args), wf.function(f, autograph=False)(*args)


def test_numbers_take_the_dtype_of_the_other_branch():
    c, x, d = wf.tensor(True), wf.tensor(2.5), wf.constant(0.1, "float64")
    for f, expected, dtype in (
        (lambda c, x, d: wf.cond(c, lambda: 1, lambda: x), 1, "float32"),
        (lambda c, x, d: wf.cond(c, lambda: x, lambda: 1), 2.5, "float32"),
        (lambda c, x, d: wf.cond(c, lambda: 0.1, lambda: d), 0.1, "float64"),
        (lambda c, x, d: wf.cond(c, lambda: (1, {"a": 2}), lambda: (x, {"a": d}))[1]["a"], 2, "float64"),
        (lambda c, x, d: wf.switch_case(wf.cast(c, "int32"), [lambda: 1, lambda: 2, lambda: d]), 2, "float64"),
    ):
        for found in all_ways(f, c, x, d):
            assert float(found) == pytest.approx(expected, abs=1e-12)
        assert wf.function(f)(c, x, d).dtype == dtype
    ran = []

    @wf.function
    def twice(c, x):
        return wf.cond(c, lambda: (ran.append(1), x)[1], lambda: x + 1)

    twice(c, x)
    assert ran == [1]  # nothing runs again where dtypes agree


def test_dtypes_that_differ_name_the_branches():
    c, n, x = wf.tensor(True), wf.tensor(3), wf.tensor(2.5)
    for f, message in (
        (lambda c: wf.cond(c, lambda: 1, lambda: 1.0), "cond: the result is int32 in true_fn, but float32 in false_fn"),
        (lambda c: wf.cond(c, lambda: n, lambda: 1.5), "cond: the result is int32 in true_fn, but float32 in false_fn"),
        (lambda c: wf.cond(c, lambda: n, lambda: x), "cond: the result is int32 in true_fn, but float32 in false_fn"),
        (lambda c: wf.cond(c, lambda: True, lambda: n), "cond: the result is bool in true_fn, but int32 in false_fn"),
        (lambda c: wf.cond(c, lambda: (1, 2), lambda: (1, x > 0)), "cond: number 1 of the result is int32 in true_fn, but bool in"),
        (
            lambda c: wf.switch_case(wf.cast(c, "int32"), [lambda: n, lambda: 1, lambda: x]),
            r"switch_case: the result is int32 in branch_fns\[0\], but float32 in branch_fns\[2\]",
        ),
    ):
        for autograph in (True, False):
            with pytest.raises(wf.DTypeError, match=message):
                wf.function(f, autograph=autograph)(c)


def test_numbers_that_a_loop_carries_take_the_dtype_of_an_iteration():
    x = wf.tensor(2.0)
    for f, expected in (
        (lambda x: wf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + x), [0, 0])[1], 6.0),
        (lambda x: wf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + 1.5), (0, 0))[1], 4.5),
        (lambda x: wf.for_loop(3, lambda i, s: (s + x,), [0])[0], 6.0),
        (lambda x: wf.for_loop(3, lambda i, s: (1,), [0.5])[0], 1.0),
        (lambda x: wf.while_loop(lambda s: s < 5, lambda s: s + wf.cast(x, "float64"), [0])[0], 6.0),
    ):
        for found in all_ways(f, x):
            assert float(found) == expected
    for start in (0, 0.5):
        for dtype in ("float32", "float64"):
            for reverse in (False, True):

                def f(xs, start=start, reverse=reverse):
                    return wf.scan(lambda s, y: (s + y, {"s": s, "n": 1}), start, xs, reverse)

                xs = wf.tensor([1.0, 2.0, 4.0], dtype)
                before = [start + n for n in ((6.0, 4.0, 0.0) if reverse else (0.0, 1.0, 3.0))]
                for carry, ys in all_ways(f, xs):
                    assert float(carry) == start + 7 and carry.dtype == ys["s"].dtype == dtype
                    assert ys["s"].tolist() == before and ys["n"].tolist() == [1, 1, 1]
    gradient = wf.grad(lambda xs: wf.scan(lambda s, y: (s + y * y, s), 0, xs)[0])
    assert gradient(wf.tensor([1.0, 2.0])).tolist() == wf.function(gradient)(wf.tensor([1.0, 2.0])).tolist() == [2.0, 4.0]
    sums = wf.vmap(lambda xs: wf.scan(lambda s, y: (s + y, s), 0, xs)[0])(wf.tensor([[1.0, 2.0], [3.0, 4.0]]))
    assert sums.tolist() == [3.0, 7.0]
    # A tensor keeps its dtype.
    for run in (lambda f: f, wf.function):
        with pytest.raises(wf.DTypeError, match=r"loop variable 0 is int32\(\) before the loop, but float32\(\) after"):
            run(lambda xs: wf.scan(lambda s, y: (s + y, s), wf.tensor(0), xs))(wf.tensor([1.0]))
    with pytest.raises(wf.ValueError, match="scan: all parts must give the same structure"):
        wf.scan(lambda s, y: ((s, y), s), 0, wf.tensor([1.0, 2.0]))
    with pytest.raises(wf.ValueError, match="scan: the body gives a pair"):
        wf.scan(lambda s, y: s, 0, wf.tensor([1.0, 2.0]))


# Breaking out of loops, as `break_if` of C++ does.


def test_a_body_breaks_out_of_a_loop():
    def counted(n):
        return wf.for_loop(n, lambda i, s: wf.break_if(s + i > 20, s + i), [wf.tensor(0)])

    for found in both(counted, wf.tensor(100)):
        assert type(found) is list and int(found[0]) == 21
    for found in both(counted, wf.tensor(3)):
        assert int(found[0]) == 3

    def conditional(limit):
        return wf.while_loop(lambda n, s: n < 50, lambda n, s: wf.break_if(s > limit, n + 1, s + n), (1, wf.tensor(0)))

    for n, s in both(conditional, wf.tensor(9)):
        assert (int(n), int(s)) == (6, 15)
    for n, s in both(conditional, wf.tensor(10**6)):
        assert (int(n), int(s)) == (50, 1225)


def test_a_branch_breaks_and_another_goes_on():
    def odd_sum(n):
        def body(i, total):
            return wf.cond(
                i % 2 == 0,
                lambda: wf.break_if(False, total),
                lambda: wf.break_if(total + i > 20, total + i),
            )

        return wf.for_loop(n, body, [wf.tensor(0)])[0]

    for found in both(odd_sum, wf.tensor(100)):
        assert int(found) == 25

    def with_if(n):
        def body(i, total):
            if i % 2 == 0:
                return wf.break_if(False, total)
            return wf.break_if(total + i > 20, total + i)

        return wf.for_loop(n, body, [wf.tensor(0)])[0]

    assert int(wf.function(with_if)(wf.tensor(100))) == int(with_if(wf.tensor(100))) == 25


def test_the_condition_is_not_asked_after_a_break():
    def f(x):
        return wf.while_loop(lambda n: wf.tensor([2.0, 1.0, 0.5])[n] > 0, lambda n: wf.break_if(n >= 2, n + 1), [x])

    assert [int(found[0]) for found in both(f, wf.tensor(0))] == [3, 3]


def test_loops_that_break_have_gradients_and_structures():
    def f(x):
        return wf.for_loop(9, lambda i, s: wf.break_if(s["a"] > 5, {"a": s["a"] * x}), [{"a": x}])[0]["a"]

    x = wf.tensor(2.0)
    for found in both(f, x):
        assert float(found) == 16
    for found in both(wf.grad(f), x):
        assert float(found) == 32


def test_break_if_wants_a_bool_scalar_and_the_state():
    with pytest.raises(wf.DTypeError, match="break_if"):
        wf.break_if(wf.tensor(1.0), 1)
    with pytest.raises(wf.ShapeError, match="break_if"):
        wf.break_if(wf.tensor([True]), 1)
    with pytest.raises(wf.ValueError, match="structure|variables"):
        wf.function(lambda: wf.for_loop(3, lambda i, a, b: wf.break_if(True, a), [wf.tensor(0), wf.tensor(0)]))()
