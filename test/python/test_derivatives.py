"""Derivatives of functions, `vmap`, `for_loop`, `scan` and `range`, against closed forms and NumPy, eager and compiled."""

import numpy as np
import pytest

import weft as wf
import weft._trees


def cube(x):
    return wf.sum(x**3)


def both_ways(f, *args):
    """What `f` gives, eagerly and compiled, which must be the same."""
    eager = f(*args)
    compiled = wf.function(f)(*args)
    flat, again = wf._trees.leaves_of(eager, "eager"), wf._trees.leaves_of(compiled, "compiled")
    assert len(flat) == len(again)
    for a, b in zip(flat, again, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-6, atol=1e-6)
    return eager


X = wf.tensor([1.0, 2.0, -3.0])


def test_grad_composes():
    assert both_ways(lambda x: wf.grad(wf.grad(wf.grad(lambda y: y**4)))(x), wf.tensor(2.0)) == 48.0
    np.testing.assert_allclose(both_ways(wf.grad(cube), X), [3, 12, 27])
    np.testing.assert_allclose(wf.grad(wf.function(cube))(X), [3, 12, 27])


def test_grad_takes_structures():
    def loss(p, x):
        return wf.sum(p["w"] * x) + p["b"][0] * 2.0, x

    p = {"w": X, "b": (wf.tensor(1.0), None)}
    (value, aux), g = wf.value_and_grad(loss)(p, X)
    assert value == 16.0 and aux is X
    assert list(g) == ["w", "b"] and g["b"][1] is None
    np.testing.assert_allclose(g["w"], X)
    assert g["b"][0] == 2.0
    gp, gx = wf.grad(lambda p, x: loss(p, x)[0], argnums=(0, 1))(p, X)
    np.testing.assert_allclose(gx, X)
    np.testing.assert_allclose(gp["w"], X)
    assert wf.grad(lambda a, b: a * 3.0, argnums=-1)(1.0, 2.0) == 0.0


FORMS = {
    "grad": lambda f, x: wf.grad(f)(x),
    "value_and_grad": lambda f, x: wf.value_and_grad(f)(x),
    "vjp": lambda f, x: wf.vjp(f, x),
    "jvp": lambda f, x: wf.jvp(f, (x,), (wf.ones(3),)),
    "jacobian": lambda f, x: wf.jacobian(f)(x),
    "hessian": lambda f, x: wf.hessian(f)(x),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("leave", [np.exp, np.asarray, lambda x: x.numpy(), memoryview, np.from_dlpack])
def test_what_leaves_for_another_library_is_refused(form, leave):
    """Nothing follows it there, and the derivative was 0 without a word."""
    message = rf"test_derivatives.*{form}: .*weft\.exp\(x\).*stop_gradient\(x\)"
    for source in (X, wf.Variable(X)):
        for inside in (lambda x: x, wf.square):
            if isinstance(inside(source), wf.Variable) and leave in (memoryview, np.from_dlpack):
                continue  # which take tensors only
            with pytest.raises(wf.StateError, match=message):
                FORMS[form](lambda x, inside=inside: wf.sum(x * wf.tensor(leave(inside(x)))), source)
    np.testing.assert_array_equal(np.asarray(X), [1, 2, -3])


@pytest.mark.parametrize("form", FORMS)
def test_what_does_not_count_may_leave(form, capsys):
    other = wf.tensor([1.0, 2.0, 4.0])
    v = wf.Variable(other)

    def loss(x):
        weights = np.asarray(wf.stop_gradient(x)) + np.asarray(other) + np.asarray(v)
        mean = wf.numpy_function(np.mean, [x], wf.float32)
        if wf.sum(x) > 100.0 or not wf.all(np.asarray(x > -9.0)):
            raise AssertionError
        print(x, repr(x), f"{wf.sum(x):.2f}", float(mean), x.tolist(), x[0].item())
        return wf.sum(x * weights)

    FORMS[form](loss, X)
    assert "[ 1.,  2., -3.]" in capsys.readouterr().out
    with wf.GradientTape() as tape:  # in sight, so what leaves it is seen to leave
        tape.watch(X)
        assert np.sum(np.exp(X)) > 0
    wf.set_printoptions(style="tf")
    try:
        FORMS[form](loss, X)
    finally:
        wf.set_printoptions(style="numpy")
    assert "numpy=array([ 1.,  2., -3.]" in capsys.readouterr().out


def test_what_leaves_inside_other_functions_is_refused():
    def loss(x):
        return wf.sum(wf.tensor(np.exp(x)))

    for f in (wf.recompute(loss), lambda x: wf.function(lambda: loss(x))()):
        with pytest.raises(wf.StateError, match=r"(grad|recompute): .*weft\.exp\(x\)"):
            wf.grad(f)(X)
    with wf.GradientTape() as tape:
        tape.watch(X)
        y = wf.recompute(loss)(X)
    assert tape.gradient(y, X) is None or not np.any(tape.gradient(y, X))


def test_values_of_a_custom_gradient_may_leave():
    @wf.custom_gradient
    def exp(x):
        y = wf.tensor(np.exp(x))
        return y, lambda dy: dy * y

    np.testing.assert_allclose(wf.grad(lambda x: wf.sum(exp(x)))(X), np.exp(X), rtol=1e-6)


def test_grad_by_a_variable():
    w = wf.Variable([1.0, 2.0])
    np.testing.assert_allclose(wf.grad(lambda v: wf.sum(v * v))(w), [2, 4])
    # What is reached otherwise is constant.
    np.testing.assert_allclose(wf.grad(lambda x: wf.sum(x * w))(w.value()), [1, 2])


def test_the_same_tensor_twice_counts_once():
    assert wf.grad(lambda a, b: a * b)(*[wf.tensor(3.0)] * 2) == 3.0


def test_control_flow_of_python_is_converted():
    def f(x):
        while wf.sum(x) < 100.0:
            x = x * 2.0
        return wf.sum(x)

    x = wf.tensor([1.0, 4.0])
    np.testing.assert_allclose(both_ways(wf.grad(f), x), [32, 32])


def test_vjp_is_pulled_many_times():
    y, pull = wf.vjp(lambda a, b: {"p": a * b, "s": a + b}, X, wf.tensor([2.0, 2.0, 2.0]))
    np.testing.assert_allclose(y["p"], [2, 4, -6])
    for scale in (1.0, 2.0):
        ga, gb = pull({"p": X * scale, "s": np.zeros(3, np.float32)})
        np.testing.assert_allclose(ga, np.array([2, 4, -6]) * scale)
        np.testing.assert_allclose(gb, np.array([1, 4, 9]) * scale)


def test_jvp_and_its_reverse():
    y, t = both_ways(lambda x: wf.jvp(wf.square, (x,), (wf.ones_like(x),)), X)
    np.testing.assert_allclose(y, [1, 4, 9])
    np.testing.assert_allclose(t, [2, 4, -6])
    hvp = wf.jvp(wf.grad(cube), (X,), (wf.tensor([1.0, 0.0, 1.0]),))[1]
    np.testing.assert_allclose(hvp, [6, 0, -18])
    w = wf.Variable(3.0)
    assert wf.jvp(lambda v: v * v, [w], [2.0])[1] == 12.0


def test_jacobian_and_hessian():
    m = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    np.testing.assert_allclose(both_ways(wf.jacobian(lambda x: wf.tensor(m) @ x), X), m)
    np.testing.assert_allclose(both_ways(wf.hessian(cube), X), np.diag([6, 12, -18]))
    (xx, xy), (yx, yy) = wf.hessian(lambda x, y: wf.sum(x * x * y), argnums=(0, 1))(X, X)
    np.testing.assert_allclose(xx, np.diag([2, 4, -6]))
    np.testing.assert_allclose(xy, np.diag([2, 4, -6]))
    np.testing.assert_allclose(yx, np.diag([2, 4, -6]))
    np.testing.assert_allclose(yy, np.zeros((3, 3)))


A = np.random.default_rng(5).normal(size=(4, 3, 2)).astype(np.float32)


def test_vmap_of_axes():
    b = A[:, 0, :].copy()
    np.testing.assert_allclose(
        both_ways(wf.vmap(lambda m, v: m @ v), wf.tensor(A), wf.tensor(b)),
        np.einsum("nij,nj->ni", A, b), rtol=1e-5,
    )
    np.testing.assert_allclose(wf.vmap(wf.sum, in_axes=1)(A), A.sum(axis=(0, 2)), rtol=1e-5)
    np.testing.assert_allclose(
        wf.vmap(lambda m, v: m @ v, in_axes=(0, None), out_axes=-1)(A, b[0]),
        np.moveaxis(A @ b[0], 0, -1), rtol=1e-5,
    )
    nested = wf.vmap(wf.vmap(lambda x, y: wf.sum(x * y), (0, None)), (None, 0))(A[0], A[1])
    np.testing.assert_allclose(nested, A[1] @ A[0].T, rtol=1e-5)


def test_vmap_of_structures_and_what_is_the_same_for_all():
    out = wf.vmap(lambda p: (p["a"] + 1.0, wf.tensor(7.0)))({"a": wf.tensor([1.0, 2.0])})
    np.testing.assert_allclose(out[0], [2, 3])
    np.testing.assert_allclose(out[1], [7, 7])


def test_vmap_and_grad_compose():
    per_sample = wf.vmap(wf.grad(lambda w, x: wf.square(wf.sum(w * x))), (None, 0))
    want = 2 * (A[:, 0] @ A[0, 0])[:, None] * A[:, 0]
    np.testing.assert_allclose(both_ways(per_sample, wf.tensor(A[0, 0]), wf.tensor(A[:, 0])), want, rtol=1e-4)
    total = wf.grad(lambda x: wf.sum(wf.vmap(wf.square)(x)))(X)
    np.testing.assert_allclose(total, [2, 4, -6])


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda: wf.grad(wf.square)(X), ValueError, "sum it, or use jacobian"),
        (lambda: wf.grad(wf.sum)(wf.tensor([1, 2])), TypeError, "floating"),
        (lambda: wf.grad(lambda x: "no")(X), TypeError, "it gave a str"),
        (lambda: wf.grad(cube, argnums=3)(X), IndexError, "no argument number 3"),
        (lambda: wf.grad(cube)("text"), TypeError, "str"),
        (lambda: wf.vjp(wf.square, X)[1]([1.0]), ValueError, "cotangent"),
        (lambda: wf.vjp(wf.square, X)[1]((X, X)), ValueError, "there must be 1"),
        (lambda: wf.jvp(wf.square, (X,), ()), ValueError, "0 tangents for 1"),
        (lambda: wf.jvp(wf.square, X, X), TypeError, "tuples of one for each"),
        (lambda: wf.jvp(wf.square, (X,), (1.0,)), ValueError, "tangent"),
        (lambda: wf.vmap(wf.sin)(), ValueError, "nothing to map over"),
        (lambda: wf.vmap(wf.sin)(1.0), IndexError, "no axis 0"),
        (lambda: wf.vmap(wf.add)(X, X[:2]), ValueError, r"sizes differ: \[2, 3\]"),
        (lambda: wf.vmap(wf.add, (0,))(X, X), ValueError, "in_axes has 1"),
        (lambda: wf.vmap(wf.sin, 0.5)(X), TypeError, "an axis is an int"),
        (lambda: wf.vmap(wf.sin, out_axes=2)(X), IndexError, "no axis 2"),
        (lambda: wf.vmap(lambda x: x if x > 0 else -x)(X), TypeError, "no truth value"),
        (lambda: wf.vmap(wf.sin)(wf.zeros([0, 2])), ValueError, "at least one member"),
        (lambda: wf.for_loop((1, 2, 0), lambda i, x: x, [X]), ValueError, "other than 0"),
        (lambda: wf.for_loop((1,), lambda i, x: x, [X]), ValueError, "not 1 values"),
        (lambda: wf.for_loop(3, lambda i, x: None, [X]), ValueError, "of one variable gives its next value, and gave None"),
        (lambda: wf.while_loop(lambda x, y: x[0] < 9.0, lambda x, y: (x, None), [X, X]), ValueError, "gives None"),
        (lambda: wf.scan(lambda c, x: c, 0.0, X), ValueError, "a pair"),
        (lambda: wf.scan(lambda c, x: (c, x), 0.0, ()), ValueError, "scan"),
        (lambda: wf.scan(lambda c, x: (c, x), 0.0, (X, X[:2])), ValueError, "scan"),
        (lambda: wf.range(0, 3, 0), ValueError, "step"),
    ],
)
def test_bad_input(call, error, words):
    with pytest.raises(error, match=words):
        call()
    assert wf.grad(cube)(X).shape == (3,)  # nothing is left running


def test_errors_leave_nothing_running():
    def fails(x):
        raise KeyError("mine")

    for transform in (wf.grad, wf.vmap, wf.jacobian, lambda f: lambda x: wf.jvp(f, (x,), (x,))):
        with pytest.raises(KeyError, match="mine"):
            transform(fails)(X)
    assert wf.sum(X) == 0.0


def test_for_loop():
    f = lambda x: wf.for_loop((2, 8, 3), lambda i, a, b: (a + b, b * 2.0), [x, x])  # noqa: E731
    a, b = both_ways(f, X)
    np.testing.assert_allclose(a, X.numpy() * 4)
    np.testing.assert_allclose(b, X.numpy() * 4)
    count = wf.function(lambda n: wf.for_loop(n, lambda i, s: s + i, (0,)))
    assert count(wf.tensor(5))[0] == 10 and count(wf.tensor(0))[0] == 0
    assert wf.for_loop(range(3, 0, -1), lambda i, s: s * 10 + i, [0]) == [321]


@pytest.mark.parametrize("reverse", [False, True])
def test_scan(reverse):
    f = lambda x: wf.scan(lambda c, v: ({"s": c["s"] + v}, (c["s"], v)), {"s": 0.0}, x, reverse)  # noqa: E731
    last, (before, same) = both_ways(f, X)
    order = X.numpy()[::-1] if reverse else X.numpy()
    sums = np.concatenate([[0], np.cumsum(order)])
    assert last["s"] == sums[-1]
    np.testing.assert_allclose(before, sums[:-1][::-1] if reverse else sums[:-1])
    np.testing.assert_allclose(same, X)
    g = both_ways(wf.grad(lambda x: wf.scan(lambda c, v: (c * v, c), wf.tensor(1.0), x)[0]), X)
    np.testing.assert_allclose(g, [-6, -3, 2])


def test_range():
    np.testing.assert_array_equal(wf.range(4), np.arange(4))
    np.testing.assert_array_equal(wf.range(wf.tensor(1), 8, 3), np.arange(1, 8, 3))

    @wf.function
    def total(n):
        s = 0
        for i in wf.range(1, n, 2):
            s += i
        return s

    assert total(wf.tensor(8)) == 16 and total(wf.tensor(1)) == 0
    assert total.trace_count() == 1


def test_structures_that_hold_themselves():
    inside, deep = [], [wf.tensor(1.0)]
    inside.append(inside)
    for _ in range(2000):
        deep = [deep]
    for x in inside, deep, {"a": inside}:
        for call in (
            lambda x: wf.grad(wf.sum)(x),
            lambda x: wf.jacobian(lambda y: x)(wf.tensor(1.0)),
            lambda x: wf.vmap(lambda y: y)(x),
            lambda x: wf.vmap(lambda y: x)(wf.zeros([3])),
            lambda x: wf.vjp(wf.sum, x),
            lambda x: wf.vjp(wf.sum, wf.zeros([3]))[1](x),
            lambda x: wf.jvp(wf.sum, (x,), (x,)),
            lambda x: wf.function(wf.sum, input_signature=[x]),
            lambda x: wf.function(lambda y: y).get_concrete_function(x),
        ):
            with pytest.raises(wf.ValueError, match="nested too deep, or holds itself"):
                call(x)


@pytest.mark.parametrize(
    "f",
    [
        lambda s: wf.sum(wf.linspace(0.0, s, 3)),
        lambda s: wf.sum(wf.random.normal([4], s, 1.0, seed=1)),
        lambda s: wf.sum(wf.random.uniform([4], 0.0, s, seed=1)),
        lambda s: wf.losses.huber([1.0], [3.0], delta=s),
    ],
)
def test_options_that_are_numbers_are_not_followed(f):
    """A tensor instead of one would be a constant of the derivative without a word."""
    s = wf.tensor(2.0)
    for derive in (wf.grad(f), wf.value_and_grad(f), lambda s: wf.jvp(f, (s,), (wf.tensor(1.0),))):
        with pytest.raises(wf.StateError, match="is a number, through which (grad|value_and_grad|jvp) follows no tensor"):
            derive(s)
    assert float(wf.grad(lambda s: f(wf.stop_gradient(s)) * s)(s)) == float(f(s))


@pytest.mark.parametrize("derivative", [wf.grad, wf.value_and_grad, wf.jacobian, wf.hessian])
@pytest.mark.parametrize("argnums", [(0, 0), (0, -2)])
def test_an_argument_is_named_once(derivative, argnums):
    with pytest.raises(wf.ValueError, match="argnums names one argument twice"):
        derivative(lambda x, y: x * y, argnums)(wf.tensor(2.0), wf.tensor(3.0))
