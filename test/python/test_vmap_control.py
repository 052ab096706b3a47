"""Control flow that members of `vmap` decide differently: each as it would be alone, values and derivatives, eager and compiled."""

import numpy as np
import pytest

import weft as wf

X = wf.tensor([1.0, 2.0, -3.0, 0.5])
TABLE = wf.tensor([5.0, 6.0, 7.0])


def halves(v):
    return wf.while_loop(lambda b: b > 1.0, lambda b: b * 0.5, [v])[0]


@wf.custom_gradient
def clipped(x):
    return x * x, lambda g: g * wf.minimum(2.0 * x, 3.0)


def python_if(v):
    if v > 1.0:
        return v * v
    return wf.sin(v)


def python_loop(v):
    total, n = v, 0
    while total < 6.0:
        if total > 3.0:
            total = total + 2.0
            continue
        total = wf.abs(total) * 1.5 + v * v
        n += 1
        if n > 3:
            break
    for i in range(wf.cast(wf.abs(v), "int32")):
        total = total * 0.5 + i
    return total


PROGRAMS = {
    "cond": lambda v: wf.cond(v > 1.0, lambda: v * v, lambda: wf.sin(v)),
    "switch": lambda v: wf.switch_case(wf.cast(v, "int32"), [lambda: v * 2.0, lambda: v * v, lambda: -v]),
    "while": lambda v: wf.while_loop(lambda a: a < 5.0, lambda a: wf.abs(a) * 2.0, [v])[0],
    "for": lambda v: wf.for_loop(wf.cast(wf.abs(v), "int32"), lambda i, s: s * v + 1.0, [v])[0],
    "down": lambda v: wf.for_loop((wf.cast(wf.abs(v) * 2.0, "int32"), -1, -2), lambda i, s: s * v + wf.cast(i, "float32"), [v])[0],
    "nested": lambda v: wf.while_loop(
        lambda a, n: a < 20.0,
        lambda a, n: (wf.cond(a < 3.0, lambda: wf.abs(a) + v * v, lambda: wf.while_loop(lambda b: b < a * 2.0, lambda b: b * 1.5, [a])[0]), n + 1),
        [v, 0],
    )[0],
    "break": lambda v: wf.for_loop(10, lambda i, s: wf.break_if(s > 5.0, wf.abs(s) * 1.3 + v * v), [v])[0],
    "scan": lambda v: wf.scan(lambda c, x: (wf.cond(c > x, lambda: c * 0.5, lambda: c + v), c), v, TABLE)[0],
    "infinite slope": lambda v: wf.cond(v >= 0.5, lambda: wf.sqrt(v - 0.5), lambda: v * 0.0),
    "loop that others do not leave": lambda v: wf.cond(v < 0.0, lambda: v, lambda: wf.while_loop(lambda b: b * v >= 0.0, lambda b: b - 1.0, [v])[0]),
    "index": lambda v: wf.cond(v < 0.0, lambda: v, lambda: wf.gather(TABLE, wf.cast(v, "int32")) * v),
    "gradient inside": lambda v: wf.cond(v > 0.7, lambda: wf.grad(lambda u: wf.sin(u) * v)(v), lambda: v),
    "custom gradient": lambda v: wf.cond(v > 0.7, lambda: clipped(v), lambda: clipped(-v) * v),
    "function": lambda v: wf.cond(v > 1.0, lambda: wf.function(halves)(v * 9.0), lambda: v),
    "members inside": lambda v: wf.cond(v > 0.7, lambda: wf.sum(wf.vmap(lambda t: wf.cond(t > v * 3.0, lambda: t * v, lambda: halves(t + v)))(TABLE)), lambda: v),
}


def alone(f, xs=X):
    return np.stack([f(x).numpy() for x in xs])


def slopes_of(x, f):
    return wf.grad(lambda t: wf.sum(wf.vmap(f)(t)))(x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_values(name):
    f = PROGRAMS[name]
    expected = alone(f)
    for mapped in (wf.vmap(f), wf.function(wf.vmap(f)), wf.vmap(wf.function(f))):
        np.testing.assert_allclose(mapped(X), expected, rtol=1e-5, atol=1e-6)
    two = wf.stack([X, X + 0.25])
    each = wf.vmap(wf.vmap(f))
    for mapped in (each, wf.function(each)):
        np.testing.assert_allclose(mapped(two), np.stack([alone(f, row) for row in two]), rtol=1e-5, atol=1e-6)
    for one in (X[:1], X[2:3]):
        np.testing.assert_allclose(wf.vmap(f)(one), alone(f, one), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name):
    f = PROGRAMS[name]
    expected = alone(wf.grad(f))
    ones = wf.ones_like(X)
    ways = {
        "vmap of grad": wf.vmap(wf.grad(f)),
        "grad of vmap": lambda x: slopes_of(x, f),
        "grad of a function": lambda x: wf.grad(lambda t: wf.sum(wf.function(wf.vmap(f))(t)))(x),
        "jvp of vmap": lambda x: wf.jvp(wf.vmap(f), (x,), (ones,))[1],
        "vmap of jvp": wf.vmap(lambda x: wf.jvp(f, (x,), (wf.ones_like(x),))[1]),
    }
    for way, derivative in ways.items():
        np.testing.assert_allclose(derivative(X), expected, rtol=1e-5, atol=1e-5, err_msg=way)
        if "function" not in way:
            np.testing.assert_allclose(wf.function(derivative)(X), expected, rtol=1e-5, atol=1e-5, err_msg=f"function of {way}")


@pytest.mark.parametrize("name", ["cond", "nested"])
def test_second_derivatives(name):
    f = PROGRAMS[name]
    second = wf.grad(wf.grad(f))
    expected = alone(second)
    for derivative in (wf.vmap(second), wf.grad(lambda x: wf.sum(slopes_of(x, f)))):
        for run in (lambda g: g, wf.function):
            np.testing.assert_allclose(run(derivative)(X), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("f", [python_if, python_loop])
def test_statements_of_python(f):
    compiled = wf.function(f)
    expected, slopes = alone(compiled), alone(wf.grad(compiled))
    for mapped in (wf.function(wf.vmap(f)), wf.vmap(compiled), wf.function(wf.vmap(compiled))):
        np.testing.assert_allclose(mapped(X), expected, rtol=1e-5)
    for derivative in (wf.function(wf.vmap(wf.grad(f))), wf.function(lambda x: slopes_of(x, f)), wf.vmap(wf.grad(compiled)), lambda x: slopes_of(x, compiled)):
        np.testing.assert_allclose(derivative(X), slopes, rtol=1e-5, atol=1e-5)


def test_what_is_the_same_for_all():
    w = wf.tensor([1.5, -0.5])

    def loss(w, x):
        return wf.sum(wf.while_loop(lambda s: wf.sum(s) < 6.0, lambda s: s + wf.cond(x > 0.7, lambda: w * w, lambda: wf.abs(w) + x * x), [w])[0])

    expected = np.stack([wf.grad(loss)(w, x).numpy() for x in X])
    each = wf.vmap(wf.grad(loss), (None, 0))
    total = wf.grad(lambda w: wf.sum(wf.vmap(loss, (None, 0))(w, X)))
    for run in (lambda f: f, wf.function):
        np.testing.assert_allclose(run(each)(w, X), expected, rtol=1e-5)
        np.testing.assert_allclose(run(total)(w), expected.sum(0), rtol=1e-5)


def test_slopes_inside_of_slopes():
    """A slope in what is mapped, of what is watched outside as well."""
    xs, ws = wf.tensor([[0.3, -1.0], [0.7, 0.2], [-0.4, 1.1]]), wf.reshape(wf.arange(12.0), [3, 2, 2]) / 9.0
    ps = wf.tensor([1.0, -1.0, 2.0])

    def f(x, w, p):
        def inner(z):
            return wf.sum(wf.sin(z * wf.cond(p > 0.0, lambda: wf.sin(z) @ wf.sin(w), lambda: z * x)))

        return wf.sum(wf.tanh(wf.grad(inner)(x)))

    def total(x, w, p):
        return wf.sum(wf.vmap(f)(x, w, p))

    expected = [np.stack(part) for part in zip(*[[g.numpy() for g in wf.grad(f, (0, 1))(*row)] for row in zip(xs, ws, ps)])]
    for derivative in (wf.vmap(wf.grad(f, (0, 1))), wf.grad(total, (0, 1))):
        for run in (lambda g: g, wf.function):
            for found, part in zip(run(derivative)(xs, ws, ps), expected, strict=True):
                np.testing.assert_allclose(found, part, rtol=1e-4, atol=1e-6)


def test_slopes_inside_of_control_flow():
    """What is recorded in the middle of another recording: that goes on to know what is watched."""

    def f(w, p):
        def then():
            wf.grad(lambda z: wf.cond(p > 0.0, lambda: z * z, lambda: wf.sin(z)))(p)
            return w * w

        return wf.sum(wf.cond(p > 0.0, then, lambda: wf.sin(w)))

    ws, ps = wf.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), wf.tensor([1.0, -1.0, 2.0])
    expected = np.stack([wf.grad(f)(w, p).numpy() for w, p in zip(ws, ps)])
    for derivative in (wf.vmap(wf.grad(f)), wf.grad(lambda ws, ps: wf.sum(wf.vmap(f)(ws, ps)))):
        for run in (lambda g: g, wf.function):
            np.testing.assert_allclose(run(derivative)(ws, ps), expected, rtol=1e-6)


def test_a_variable_that_is_read_twice():
    p = wf.Variable([2.0, 3.0])

    def loss(x):
        with wf.GradientTape() as tape:
            y = wf.sum(x * p) + wf.sum(p * 0.0)
        return tape.gradient(y, p)

    np.testing.assert_array_equal(wf.vmap(loss)(wf.ones([3, 2])), np.ones([3, 2]))


# What members that take no part do not do.


def test_checks_are_of_those_who_take_part():
    def root(v):
        if v > 0.0:
            assert v > 0.0, "it has a root"
            return wf.sqrt(v)
        return v

    def small(v):
        if v < 1.5:
            assert v > 0.0, "it is positive"
        return v

    for both in (lambda f: wf.function(wf.vmap(f)), lambda f: wf.vmap(wf.function(f))):
        np.testing.assert_allclose(both(root)(X), np.where(X.numpy() > 0, np.sqrt(np.abs(X.numpy())), X.numpy()), rtol=1e-6)
        np.testing.assert_array_equal(both(root)(-X[:2]), -X.numpy()[:2])  # nobody takes part
        with pytest.raises(AssertionError, match="it is positive"):
            both(small)(X)


def test_indices_are_of_those_who_take_part():
    def picked(v):
        return wf.cond(v < 3, lambda: wf.gather(TABLE, v), lambda: wf.tensor(0.0))

    for run in (lambda f: f, wf.function):
        np.testing.assert_array_equal(run(wf.vmap(picked))(wf.tensor([0, 7, 2, 99])), [5, 0, 7, 0])
        np.testing.assert_array_equal(run(wf.vmap(picked))(wf.tensor([8, 9])), [0, 0])
        with pytest.raises(wf.OutOfRangeError):
            run(wf.vmap(picked))(wf.tensor([0, -9]))


def test_effects_that_some_would_have():
    count = wf.Variable(0.0)
    generator = wf.random.Generator(1)
    bodies = {
        "print": lambda v: wf.cond(v > 0.0, lambda: (wf.print("here"), v)[1], lambda: v),
        "assign": lambda v: wf.cond(v > 0.0, lambda: (count.assign(1.0), v)[1], lambda: v),
        "assign_add": lambda v: wf.while_loop(lambda a: a < 3.0, lambda a: (count.assign_add(1.0), wf.abs(a) + 1.0)[1], [v])[0],
        "a draw of a generator": lambda v: wf.cond(v > 0.0, lambda: v + generator.uniform([]), lambda: v),
        "py_function|host_call": lambda v: wf.cond(v > 0.0, lambda: wf.py_function(lambda a: a, [v], wf.TensorSpec([], "float32")), lambda: v),
    }
    for name, f in bodies.items():
        for run in (wf.vmap(f), wf.function(wf.vmap(f))):
            with pytest.raises(wf.StateError, match=f"({name}).* has an effect, and would happen for some members of vmap"):
                run(X)
    assert count.numpy() == 0.0
    with pytest.raises(wf.StateError, match="would happen for some"):
        wf.vmap(bodies["print"])(wf.tensor([1.0, 2.0]))  # though all would


def test_lines_of_effects():
    def f(v):
        if v > 0.0:
            wf.print("positive")  # this line
        return v

    with pytest.raises(wf.StateError) as caught:
        wf.function(wf.vmap(f))(X)
    assert any("# this line" in str(entry.statement) for entry in caught.traceback)


def test_results_of_other_types():
    shapes = lambda v: wf.cond(v > 0.0, lambda: wf.ones([2]), lambda: wf.ones([3]))  # noqa: E731
    grows = lambda v: wf.while_loop(lambda a, b: a < 2.0, lambda a, b: (wf.abs(a) + 1.0, wf.concatenate([b, b])), [v, wf.ones([1])])[0]  # noqa: E731
    dtypes = lambda v: wf.cond(v > 0.0, lambda: v, lambda: wf.tensor(1))  # noqa: E731
    for run in (lambda f: f, wf.function):
        with pytest.raises(wf.ShapeError, match=r"cond: tensor 0 of the result has shape \(\d,\) in branch 0, but \(\d,\) in branch 1: members"):
            run(wf.vmap(shapes))(X)
        with pytest.raises(wf.ShapeError, match="while_loop: loop variable 1 changes"):
            run(wf.vmap(grows))(X)
        with pytest.raises(wf.DTypeError, match="cond: the result is float32 in true_fn, but int32 in false_fn"):
            run(wf.vmap(dtypes))(X)


def test_open_sizes():
    rows = wf.tensor([[1.0, 2.0, 3.0], [-4.0, 5.0, 0.5]])

    def f(row):
        picked = wf.cond(wf.sum(row) > 3.0, lambda: wf.gather(row, [0, 1, 1])[: wf.size(row, 0)], lambda: row * 2.0)
        return wf.while_loop(lambda a: wf.sum(a) < 30.0, lambda a: wf.abs(a) * 2.0, [picked])[0]

    spec = [wf.TensorSpec([None, None], "float32")]
    expected = alone(f, rows)
    np.testing.assert_allclose(wf.function(wf.vmap(f), input_signature=spec)(rows), expected)
    slopes = wf.function(wf.vmap(wf.grad(lambda r: wf.sum(f(r)))), input_signature=spec)
    np.testing.assert_allclose(slopes(rows), alone(wf.grad(lambda r: wf.sum(f(r))), rows))


def test_scans_of_nothing():
    empty = wf.zeros([3, 0])
    last, ys = wf.vmap(lambda xs: wf.scan(lambda c, x: (c + x, wf.cond(x > c, lambda: c, lambda: x)), wf.tensor(1.0), xs))(empty)
    assert last.tolist() == [1, 1, 1] and ys.shape == (3, 0)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [[], [2], [2, 2]])
def test_indices_that_differ_by_member(axis, shape):
    """One op for all members, and not one for each."""
    data = np.random.default_rng(4)
    x, y = (wf.tensor(data.normal(size=size).astype(np.float32)) for size in ([2, 3, 4], [5, 2, 3, 4]))
    indices = wf.tensor(data.integers(0, x.shape[axis], size=[5, *shape]).astype(np.int32))
    updates = wf.tensor(data.normal(size=[5, *x.shape[:axis], *shape, *x.shape[axis + 1 :]]).astype(np.float32))
    programs = [
        (lambda x, i, u: wf.gather(x, i, axis), {"weft.gather", "weft.take_along_axis"}),
        (lambda x, i, u: wf.scatter_add(x, i, u, axis), {"weft.add_along_axis"}),
        *([] if shape else [(lambda x, i, u: wf.update_slice(x, i, u, axis), {"weft.select"})]),
    ]
    for f, ops in programs:
        for axes, source in (((None, 0, 0), x), ((0, 0, 0), y)):
            mapped = wf.vmap(f, axes)
            alone = np.stack([f(x if axes[0] is None else y[n], indices[n], updates[n]).numpy() for n in range(5)])
            compiled = wf.function(mapped)
            np.testing.assert_array_equal(mapped(source, indices, updates), alone)
            np.testing.assert_array_equal(compiled(source, indices, updates), alone)
            text = compiled.ir(source, indices, updates, phase="trace")
            assert sum(text.count(op + " ") for op in ops) == 1, text
            slopes = wf.vmap(wf.grad(lambda x, i, u, f=f: wf.sum(wf.sin(f(x, i, u)))), axes)
            each = np.stack([wf.grad(lambda x, n=n, f=f: wf.sum(wf.sin(f(x, indices[n], updates[n]))))(x if axes[0] is None else y[n]).numpy() for n in range(5)])
            np.testing.assert_allclose(slopes(source, indices, updates), each, rtol=1e-6, atol=1e-6)
        with pytest.raises(wf.OutOfRangeError):
            wf.vmap(f, (None, 0, 0))(x, indices + 9, updates)


def _yields(branches):
    def loop(x, n):
        r = x * 2
        (y,) = wf.for_loop(n, lambda i, y: [wf.cond(i < 1, *branches(x, y, r))], [x])
        return wf.sum(wf.sin(y))

    return loop


def _by_tape(f):
    def slope(x, n):
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, n)
        return tape.gradient(y, x)

    return slope


@pytest.mark.parametrize("slope", [wf.grad, _by_tape])
@pytest.mark.parametrize(
    "branches",
    [
        lambda x, y, r: (lambda: x, lambda: r),
        lambda x, y, r: (lambda: y, lambda: r),
        lambda x, y, r: (lambda: r, lambda: x),
        lambda x, y, r: (lambda: r * 1.0, lambda: r),
    ],
)
def test_branches_that_give_what_no_op_takes(slope, branches):
    """A tape follows a value that a branch gives as it is: its derivative was zero."""
    x, n = wf.tensor([[0.3], [0.5], [0.7]]), wf.tensor([2, 3, 0])
    f = slope(_yields(branches))
    alone = np.stack([f(x[k], n[k]).numpy() for k in range(3)])
    np.testing.assert_allclose(wf.vmap(f)(x, n), alone, rtol=1e-6)
    np.testing.assert_allclose(wf.function(wf.vmap(f))(x, n), alone, rtol=1e-6)


@pytest.mark.parametrize("how", ["recompute", "stop_recording"])
def test_what_nobody_recorded_is_selected_anew(how):
    """Of a tensor from around a body that some are kept out of, a part that nothing records had the first use."""

    def gradient(x, n):
        with wf.GradientTape() as tape:
            tape.watch(x)

            def body(i, y):
                if how == "recompute":
                    wf.recompute(lambda t: wf.sin(t) * t)(x)
                else:
                    with tape.stop_recording():
                        wf.sin(x)
                return [wf.sin(x)]

            loss = wf.sin(wf.for_loop(n, body, [x])[0])
        return tape.gradient(loss, x)

    x, n = wf.tensor([0.3, 0.5]), wf.tensor([2, 1])
    wanted = [gradient(x[i], n[i]).item() for i in range(2)]
    assert wanted[0] != 0
    assert wf.vmap(gradient)(x, n).tolist() == pytest.approx(wanted, rel=1e-6)
    assert wf.function(wf.vmap(gradient))(x, n).tolist() == pytest.approx(wanted, rel=1e-6)
