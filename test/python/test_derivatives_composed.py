"""Derivatives through host calls, recursive custom gradients, and `vmap` in traced functions: eager and compiled, against closed
forms, NumPy and each member alone."""

import numpy as np
import pytest

import weft as wf

X = wf.tensor([1.0, 2.0, -3.0])
REFUSAL = r"py_function \w+: a derivative is asked for through it, and none is known .* custom_gradient .* stop_gradient"


def host(f, x):
    return wf.numpy_function(f, [x], wf.TensorSpec(x.shape, "float32"), name=f.__name__, stateful=False)


def square(v):
    return v * v


def forms(f):
    """Ways to ask for the derivative of the sum of `f`."""

    def loss(x):
        return wf.sum(f(x))

    def taped(x):
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = loss(x)
        return tape.gradient(y, x)

    ways = {
        "grad": wf.grad(loss),
        "tape": taped,
        "vjp": lambda x: wf.vjp(f, x)[1](wf.ones_like(x))[0],
        "jvp": lambda x: wf.jvp(f, (x,), (wf.ones_like(x),))[1],
        "jacobian": lambda x: wf.sum(wf.jacobian(f)(x), 0),
        "of a function": wf.grad(wf.function(loss)),
    }
    return [*ways.items(), *((f"function of {k}", wf.function(way)) for k, way in ways.items())]


@pytest.mark.parametrize("f", [lambda x: host(square, x) + x, lambda x: x * host(square, x * 2.0)])
def test_derivatives_through_host_calls_are_errors(f):
    for name, derivative in forms(f):
        with pytest.raises(wf.StateError, match=REFUSAL):
            derivative(X)
            pytest.fail(name)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: x * host(square, wf.stop_gradient(x)), [1, 4, 9]),
        (lambda x: x * wf.stop_gradient(host(square, x)), [1, 4, 9]),
        (lambda x: (host(square, x), wf.py_function(lambda v: None, [x], None), x * x)[-1], [2, 4, -6]),
        (lambda x: wf.select(host(square, x) > 2.0, x * 3.0, x), [1, 3, 3]),
    ],
)
def test_host_calls_that_no_derivative_needs(f, expected):
    for name, derivative in forms(f):
        np.testing.assert_array_equal(derivative(X), expected, err_msg=name)


def test_second_derivatives_of_slopes_that_the_host_computes():
    @wf.custom_gradient
    def cube(x):
        return host(lambda v: v**3, x), lambda dy: dy * host(lambda v: 3 * v * v, x)

    def loss(x):
        return wf.sum(cube(x))

    np.testing.assert_array_equal(wf.grad(loss)(X), [3, 12, 27])
    np.testing.assert_array_equal(wf.function(wf.grad(loss))(X), [3, 12, 27])
    for second in (wf.hessian(loss), wf.grad(lambda x: wf.sum(wf.grad(loss)(x)))):
        for derivative in (second, wf.function(second)):
            with pytest.raises(wf.StateError, match="py_function"):
                derivative(X)


@wf.custom_gradient
def twice(x):
    return host(lambda v: 2 * v, x), twice


def test_gradients_that_use_themselves():
    def f(x):
        return wf.sum(twice(x) ** 3)  # 8 x^3

    expected = [24 * X.numpy() ** 2, np.diag(48 * X.numpy())]
    for given in (f, wf.function(f)):
        for derivative, values in zip((wf.grad(given), wf.hessian(given)), expected, strict=True):
            np.testing.assert_array_equal(derivative(X), values)
            np.testing.assert_array_equal(wf.function(derivative)(X), values)
    third = wf.grad(lambda x: wf.sum(wf.grad(lambda y: wf.sum(wf.grad(f)(y)))(x)))
    np.testing.assert_array_equal(third(X), [48, 48, 48])
    np.testing.assert_array_equal(wf.function(third)(X), [48, 48, 48])


def test_gradients_without_end_are_errors():
    @wf.custom_gradient
    def endless(x):
        return x * 2.0, lambda dy: wf.grad(endless)(dy)

    for f in (wf.grad(endless), wf.function(wf.grad(endless))):
        with pytest.raises((wf.StateError, RecursionError)):
            f(wf.tensor(1.0))


@wf.custom_gradient
def clipped(x):
    """Has another gradient than its ops."""
    return x * x, lambda g: wf.minimum(g * 2.0 * x, 3.0)


def looped(x):
    return wf.for_loop(3, lambda i, s, t: (wf.sin(s) * x, t + s), [x, wf.zeros_like(x)])[1]


def scanned(x):
    carry, ys = wf.scan(lambda c, v: (c * 0.5 + v * x, wf.sin(c)), x, wf.tensor([1.0, 2.0, 3.0]))
    return carry + wf.sum(ys)


def along(x):
    return wf.sum(wf.scan(lambda c, v: (c * v, c + v), wf.tensor(1.0), x)[1])


ROWS = wf.tensor(np.random.default_rng(3).normal(size=(4, 3)).astype(np.float32))


@pytest.mark.parametrize("f", [clipped, looped, scanned])
def test_vmap_in_functions(f):
    for mapped, xs in ((f, ROWS[0]), (wf.grad(f), ROWS[0]), (wf.vmap(f), ROWS)):
        eager = wf.vmap(mapped)(xs)
        np.testing.assert_allclose(eager, wf.stack([mapped(x) for x in xs]), rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(wf.function(wf.vmap(mapped))(xs), eager, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("f", [clipped, looped, scanned, lambda x: clipped(looped(x))])
def test_gradients_of_vmap_in_functions(f):
    xs = ROWS[0]
    alone = wf.stack([wf.grad(f)(x) for x in xs])
    over = wf.grad(lambda x: wf.sum(wf.vmap(f)(x)))
    inside = wf.vmap(wf.grad(f))
    for derivative in (over, inside, wf.function(over), wf.function(inside), wf.grad(lambda x: wf.sum(wf.function(wf.vmap(f))(x)))):
        np.testing.assert_allclose(derivative(xs), alone, rtol=1e-5, atol=1e-5)


def test_vmap_of_what_is_the_same_for_all():
    w = wf.tensor([1.5, -0.5, 2.0])

    @wf.custom_gradient
    def weighted(w, x):
        return wf.sum(w * x), lambda g: (g * x * 10.0, g * w)

    def loss(w, x):
        return weighted(wf.for_loop(2, lambda i, s: s * w, [w])[0], x)

    alone = np.stack([wf.grad(loss)(w, x).numpy() for x in ROWS])
    each = wf.vmap(wf.grad(loss), (None, 0))
    total = wf.grad(lambda w: wf.sum(wf.vmap(loss, (None, 0))(w, ROWS)))
    for run in (lambda f: f, wf.function):
        np.testing.assert_allclose(run(each)(w, ROWS), alone, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(run(total)(w), alone.sum(0), rtol=1e-5, atol=1e-5)
    for f in (wf.vmap(along), wf.vmap(wf.grad(along))):
        np.testing.assert_allclose(wf.function(f)(ROWS), f(ROWS), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(wf.vmap(lambda x: host(square, x))(ROWS), ROWS.numpy() ** 2)
    np.testing.assert_allclose(wf.function(wf.vmap(lambda x: host(square, x)))(ROWS), ROWS.numpy() ** 2)


def test_words_of_vmap_are_those_of_python():
    each = wf.function(wf.vmap(lambda x: wf.pad_interior(x, x[0], [1], [1], [0])), input_signature=[wf.TensorSpec([None, 2])])
    with pytest.raises(wf.StateError, match="vmap: pad is done once for each tensor, and this trace does not know how many there are"):
        each(wf.zeros([3, 2]))


def test_the_second_derivative_of_a_solve():
    def by_numpy(a, b):
        return wf.numpy_function(np.linalg.solve, [a, b], wf.TensorSpec([2, 1]))

    def made(again):
        @wf.custom_gradient
        def solve(a, b):
            x = by_numpy(a, b)

            def pull(g):
                back = solve(wf.transpose(a), g)
                return -wf.matmul(back, wf.transpose(solve(a, b) if again else x)), back

            return x, pull

        return lambda a: wf.sum(wf.grad(lambda a: wf.sum(solve(a, wf.tensor([[1.0], [2.0]])) ** 2))(a) ** 2)

    a = wf.tensor([[1.1, 0.2], [0.1, 0.9]])
    for run in (lambda f: f, wf.function):
        with pytest.raises(wf.StateError, match="py_function solve.*as that of a solve, calls the custom_gradient again"):
            run(wf.grad(made(False)))(a)
        np.testing.assert_allclose(run(wf.grad(made(True)))(a).numpy()[0], [6.876461, -8.283756], rtol=1e-4)
