"""What cannot be: each said in a typed error of one sentence, after which everything goes on."""

import contextlib
import gc

import numpy as np
import pytest

import weft as wf


def test_what_is_not_callable():
    with pytest.raises(TypeError, match="cannot be called"):
        wf.function(3)
    with pytest.raises(TypeError):
        wf.Function()


def test_arguments_that_no_call_can_be_found_by():
    @wf.function
    def f(x):
        return wf.tensor(1)

    with pytest.raises(TypeError, match="argument 'x' is or holds a set"):
        f([{1, 2}])

    endless = []
    endless.append(endless)
    with pytest.raises(wf.ValueError, match="nested too deep"):
        f(endless)
    assert int(f([1])) == 1


def test_results_that_are_no_tensors():
    with pytest.raises(TypeError, match="the result is or holds a object"):
        wf.function(lambda: object())()
    endless = []
    endless.append(endless)
    with pytest.raises(wf.ValueError, match="nested too deep"):
        wf.function(lambda: endless)()


def test_a_traced_tensor_as_a_value():
    @wf.function(autograph=False)
    def f(x, how):
        return how(x)

    x = wf.tensor([1.0])
    for how in (bool, list, lambda x: 1 if x > 0 else 2, lambda x: x > 0 and x):
        with pytest.raises(wf.OperatorNotAllowedInGraphError):
            f(x, how)
    for how in (lambda x: x.numpy(), lambda x: x.tolist(), float, np.asarray):
        with pytest.raises((wf.StateError, TypeError)):
            f(x, how)
    assert f(x, lambda x: x + 1).tolist() == [2]


@pytest.mark.parametrize("taped", [False, True])
def test_a_traced_tensor_that_left_its_trace_decides_nothing(taped):
    left = []

    @wf.function
    def f(x):
        left.extend([wf.sum(x), wf.sum(x) > 1])
        return x

    f(wf.tensor([1, 2]))
    with wf.GradientTape() if taped else contextlib.nullcontext():
        with pytest.raises(wf.StateError, match="switch_case: the index of type .* outside of its trace"):
            wf.switch_case(left[0], [lambda: 1.0, lambda: 2.0])
        with pytest.raises(wf.StateError, match="cond: the predicate of type .* outside of its trace"):
            wf.cond(left[1], lambda: 1.0, lambda: 2.0)


def test_trees_that_differ():
    def f(c, x):
        if c:
            y = [x, x]
        else:
            y = (x,)
        return y

    with pytest.raises((wf.ValueError, wf.AutoGraphError, TypeError), match="'y'"):
        wf.function(f)(wf.tensor(True), wf.tensor(1.0))


def test_an_error_while_tracing_leaves_nothing_behind(live):
    bad = True

    @wf.function
    def f(x):
        for i in range(wf.sum(x)):
            if x[0] > 0:
                if bad:
                    raise_it()
        return x

    def raise_it():
        raise KeyError("mine")

    for _ in range(3):
        with pytest.raises(KeyError, match="mine"):
            f(wf.tensor([1, 2]))
    bad = False
    assert f(wf.tensor([1, 2])).tolist() == [1, 2]
    assert float(wf.tensor(1.0) + 1) == 2
    del f
    gc.collect()


def test_ops_that_fail_when_the_program_runs():
    @wf.function
    def f(x, i):
        return wf.gather(x, i)

    line = f.python_function.__code__.co_firstlineno + 2
    with pytest.raises(wf.OutOfRangeError) as caught:
        f(wf.tensor([1.0, 2.0]), wf.tensor(5))
    assert (caught.value.file, caught.value.line) == (__file__, line)
    assert float(f(wf.tensor([1.0, 2.0]), wf.tensor(1))) == 2


class Sealed(Exception):
    def __setattr__(self, name, value):
        raise RuntimeError("an attribute was set")


def test_errors_that_take_no_attributes_stay():
    def fail(*args):
        raise Sealed("of the user")

    for body in (
        fail,
        lambda x: wf.cond(x > 0, fail, fail),
        lambda x: wf.while_loop(lambda i: i < 3, fail, [x]),
    ):
        with pytest.raises(Sealed, match="of the user"):
            wf.function(body)(wf.tensor(1.0))


def test_messages_of_text_that_is_no_utf8():
    class Odd:
        def __repr__(self):
            return "odd\udcff"

    for wrong in (
        lambda: wf.zeros([2], dtype=Odd()),
        lambda: wf.nn.Dense(2, activation=Odd()),
        lambda: wf.random.Generator(Odd()),
    ):
        with pytest.raises((wf.DTypeError, wf.ValueError), match=r"is odd\\xff"):
            wrong()


def test_no_function_computes_with_what_outlived_its_trace():
    """Each gives the value itself, its type or a StateError; what runs routines by itself once read memory that is none."""
    kept = []

    @wf.function
    def f(*xs):
        kept.extend(xs)
        return xs[0]

    x = wf.ones([4, 4])
    f(x, wf.ones([3, 4, 4]))
    a, b = kept
    refused = 0
    for module in (wf, wf.linalg, wf.fft, wf.nn, wf.losses):
        for name in dir(module):
            function = getattr(module, name)
            if name.startswith("_") or name[0].isupper() or not callable(function) or name in ("save", "load", "function", "print"):
                continue
            for args in ((a,), (a, a), (b,), (b, b), (x, a), (a, x), (a, 2), (a, [4, 4]), ([a, a],)):
                try:
                    with contextlib.redirect_stdout(None):
                        function(*args)
                except wf.StateError:
                    refused += 1
                except (wf.Error, TypeError, AttributeError):
                    pass  # no such arguments
    assert refused > 500
    with pytest.raises(wf.StateError, match="used outside of its trace"):
        wf.fft.fft(a)
    with pytest.raises(wf.StateError, match="used outside of its trace"):
        wf.linalg.solve(b, b)
