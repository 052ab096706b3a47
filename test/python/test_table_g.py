"""Table G of gradients, by its numbers, with tapes, eagerly and in traced functions."""

import gc

import numpy as np
import pytest

import weft as wf


def numbers(value):
    return np.asarray(value).tolist()


def by_tape(f, *args):
    """The value and the gradients of a function, by all of its arguments."""
    with wf.GradientTape() as tape:
        for x in args:
            tape.watch(x)
        y = f(*args)
    return y, tape.gradient(y, list(args))


def test_g1_a_variable_and_a_polynomial():
    w = wf.Variable([[1.0]])
    for f, expected in ((lambda w: w * w, 2), (lambda w: w * w + 2 * w + 5, 4)):
        for wrapped in (f, wf.function(f)):
            with wf.GradientTape() as tape:
                loss = wrapped(w)
            assert numbers(tape.gradient(loss, w)) == [[expected]]


def test_g2_a_persistent_tape():
    x = wf.tensor([1.0, 3.0])
    with wf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * y
    assert numbers(tape.gradient(z, x)) == [4, 108] and numbers(tape.gradient(y, x)) == [2, 6]


def test_g3_the_second_question_to_a_tape():
    x = wf.Variable(1.0)
    with wf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(y, x)


def test_g4_targets_one_by_one_and_summed():
    x = wf.Variable(2.0)
    with wf.GradientTape(persistent=True) as tape:
        y, z = x**2, 1 / x
    assert tape.gradient(y, x).item() == 4 and tape.gradient(z, x).item() == -0.25
    assert tape.gradient([y, z], x).item() == tape.gradient({"y": y, "z": z}, x).item() == 3.75


def test_g5_a_target_with_elements_is_summed():
    x = wf.Variable(2.0)
    with wf.GradientTape() as tape:
        y = x * [3.0, 4.0]
    assert tape.gradient(y, x).item() == 7


@pytest.mark.parametrize("wrapped", [lambda f: f, wf.function])
def test_g6_the_branch_that_was_taken(wrapped):
    x, v0, v1 = wf.tensor(1.0), wf.Variable(2.0), wf.Variable(2.0)

    def choose(x):
        if x > 0.0:
            result = v0
        else:
            result = v1**2
        return result + 0.0

    choose = wrapped(choose)
    with wf.GradientTape() as tape:
        tape.watch(x)
        y = choose(x)
    d0, d1, dx = tape.gradient(y, [v0, v1, x])
    assert d0.item() == 1 and dx is None
    assert d1 is None or d1.item() == 0  # a trace knows not which branch it will be


def test_g7_three_ways_to_leave_ops_out():
    x, y = wf.Variable(2.0), wf.Variable(3.0)
    with wf.GradientTape() as tape:
        x_sq = x * x
        with tape.stop_recording():
            y_sq = y * y
        z = x_sq + y_sq
    dx, dy = tape.gradient(z, [x, y])
    assert dx.item() == 4 and dy is None
    with wf.GradientTape() as tape:
        y_sq = y * y
        tape.reset()
        z = x * x + y_sq
    dx, dy = tape.gradient(z, [x, y])
    assert dx.item() == 4 and dy is None
    with wf.GradientTape() as tape:
        z = x * x + wf.stop_gradient(y * y)
    dx, dy = tape.gradient(z, [x, y])
    assert dx.item() == 4 and dy is None


def test_g8_a_gradient_that_is_clipped():
    @wf.custom_gradient
    def clipped(x):
        return x * 1, lambda dy: wf.maximum(wf.minimum(dy, 0.5), -0.5)

    v = wf.Variable(2.0)
    for wrapped in (lambda f: f, wf.function):
        with wf.GradientTape() as tape:
            y = wrapped(lambda: clipped(v * v))()
        assert tape.gradient(y, v).item() == 2


def test_g9_a_tape_in_a_tape():
    x = wf.Variable(1.0)

    def derivatives():
        with wf.GradientTape() as outer:
            with wf.GradientTape() as inner:
                y = x * x * x
            dy = inner.gradient(y, x)
        return dy, outer.gradient(dy, x)

    for f in (derivatives, wf.function(derivatives)):
        first, second = f()
        assert first.item() == 3 and second.item() == 6


def test_g10_two_tapes_at_a_time():
    x0, x1 = wf.tensor(0.0), wf.tensor(0.0)
    with wf.GradientTape() as tape0, wf.GradientTape() as tape1:
        tape0.watch(x0)
        tape1.watch(x1)
        y0, y1 = wf.sin(x0), wf.nn.sigmoid(x1)
        total = y0 + y1
    assert tape0.gradient(total, x0).item() == 1 and tape1.gradient(total, x1).item() == 0.25


def test_g11_a_jacobian_by_a_kernel():
    layer, x = wf.nn.Dense(10), wf.random.normal([7, 5], seed=1)
    with wf.GradientTape() as tape:
        y = layer(x)
    jacobian = np.asarray(tape.jacobian(y, layer.kernel))
    assert y.shape == (7, 10) and jacobian.shape == (7, 10, 5, 10)
    expected = np.einsum("bi,oj->boij", np.asarray(x), np.eye(10))
    assert np.allclose(jacobian, expected)


def test_g12_integers_have_no_gradient(capfd):
    x = wf.tensor(3)
    with wf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None
    assert "a tensor is i32 and not watched: only floating values have gradients" in capfd.readouterr().err


def test_g13_zeros_where_nothing_leads():
    x, y = wf.Variable(2.0), wf.Variable([1.0, 2.0])
    with wf.GradientTape() as tape:
        z = x * x
    assert numbers(tape.gradient(z, y, unconnected_gradients="zero")) == [0, 0]


def test_g14_a_formula_without_nan():
    @wf.custom_gradient
    def log1pexp(x):
        e = wf.exp(x)
        return wf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    for wrapped in (lambda f: f, wf.function):
        plain, own = wrapped(wf.grad(lambda x: wf.log(1 + wf.exp(x)))), wrapped(wf.grad(log1pexp))
        assert plain(wf.tensor(0.0)).item() == 0.5 and np.isnan(plain(wf.tensor(100.0)).item())
        assert own(wf.tensor(0.0)).item() == 0.5 and own(wf.tensor(100.0)).item() == 1


def squared(x, count):
    n = 0
    while n < count:
        x = x * x
        n += 1
    return x


def test_g15_a_loop():
    for f in (squared, wf.function(squared)):
        x = wf.Variable(2.0)
        with wf.GradientTape() as tape:
            y = f(x, wf.tensor(3))
        assert y.item() == 256 and tape.gradient(y, x).item() == 1024


def test_g16_a_loop_whose_turns_a_tensor_says():
    f = wf.function(lambda x, count: by_tape(lambda x: squared(x, count), x)[1][0])
    assert f(wf.tensor(2.0), wf.tensor(3)).item() == 1024
    assert f(wf.tensor(2.0), wf.tensor(1)).item() == 4
    assert f.trace_count() == 1


def test_g17_loops_in_loops_and_the_second_derivative():
    def nested(x, rows, columns):
        total = x * 0.0
        for i in wf.range(rows):
            part = x
            for _ in wf.range(columns):
                part = part * wf.sin(x)
            total = total + part * (wf.cast(i, wf.float32) + 1.0)
        return total

    rows, columns, at, h = wf.tensor(3), wf.tensor(2), 0.7, 1e-3

    def exact(x):
        return 6 * x * np.sin(x) ** 2

    def first(x):
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = nested(x, rows, columns)
        return tape.gradient(y, x)

    def second(x):
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = first(x)
        return tape.gradient(y, x)

    x = wf.tensor(at)
    slope = (exact(at + h) - exact(at - h)) / (2 * h)
    curve = (exact(at + h) - 2 * exact(at) + exact(at - h)) / h**2
    for f, expected in ((first, slope), (second, curve)):
        assert np.isclose(wf.function(f)(x).item(), expected, rtol=1e-4)
        assert np.isclose(f(x).item(), expected, rtol=1e-4)


def test_g18_branches_of_other_shapes_inside():
    x = wf.tensor([1.0, 2.0, 3.0])

    @wf.function
    def f(x, pick):
        if pick:
            y = wf.sum(x * x)
        else:
            y = wf.sum(x[:2])
        return y

    for pick, expected in ((True, [2, 4, 6]), (False, [1, 1, 0])):
        _, (dx,) = by_tape(lambda x, pick=pick: f(x, wf.tensor(pick)), x)
        assert numbers(dx) == expected


def test_g19_rows_that_are_taken_twice():
    table = wf.Variable(np.arange(15, dtype=np.float32).reshape(5, 3))
    for wrapped in (lambda f: f, wf.function):
        with wf.GradientTape() as tape:
            rows = wrapped(lambda: wf.gather(table, [0, 0, 4]))()
            loss = wf.sum(rows * [[1.0], [2.0], [5.0]])
        assert numbers(tape.gradient(loss, table)) == [[3] * 3, [0] * 3, [0] * 3, [0] * 3, [5] * 3]


def test_g20_a_tape_around_a_traced_function_and_in_it():
    w = wf.Variable([[1.0, 2.0], [3.0, 4.0]])
    x = wf.tensor([[0.5, -1.0]])

    @wf.function
    def loss(x):
        return wf.sum(wf.tanh(x @ w) ** 2)

    @wf.function
    def inside(x):
        with wf.GradientTape() as tape:
            value = loss(x)
        return tape.gradient(value, w)

    with wf.GradientTape() as tape:
        value = loss(x)
    assert np.allclose(tape.gradient(value, w), inside(x), rtol=1e-6)


def test_g21_a_line_search():
    def line_search_step(f, init_x, rate=1.0):
        with wf.GradientTape() as tape:
            tape.watch(init_x)
            value = f(init_x)
        grad = tape.gradient(value, init_x)
        grad_norm = wf.sum(grad * grad)
        init_value = value
        while value > init_value - rate * grad_norm:
            x = init_x - rate * grad
            value = f(x)
            rate /= 2.0
        return x, value

    for search in (line_search_step, wf.function(line_search_step)):
        x, value = search(lambda x: x * x, wf.tensor(1.0))
        assert x.item() == 0 and value.item() == 0
    with pytest.raises(UnboundLocalError):
        line_search_step(lambda x: x * 0.0, wf.tensor(1.0))


def test_g22_recomputed_is_the_plain_gradient():
    w = wf.Variable([[0.5, -0.25], [1.0, 2.0]])
    runs = []

    def block(x, *, scale=1.0):
        runs.append(1)
        h = wf.tanh(x @ w)
        return {"h": h, "rest": [wf.exp(h) * scale]}

    x = wf.tensor([[1.0, -2.0]])

    def gradients(f):
        with wf.GradientTape() as tape:
            tape.watch(x)
            result = f(x, scale=2.0)
            loss = wf.sum(result["h"]) + wf.sum(result["rest"][0])
        return tape.gradient(loss, [x, w])

    expected = gradients(block)
    assert len(runs) == 1
    for recomputed in (wf.recompute(block), wf.function(wf.recompute(block))):
        for ours, theirs in zip(gradients(recomputed), expected):
            assert np.allclose(ours, theirs, rtol=1e-6)
    runs.clear()
    gradients(wf.recompute(block))
    assert len(runs) == 2
    inside = wf.function(lambda: gradients(wf.recompute(block)))()
    assert all(np.allclose(a, b, rtol=1e-6) for a, b in zip(inside, expected))


def test_g22_recompute_takes_layers_and_control_flow():
    layer, x = wf.nn.Dense(3, "tanh"), wf.random.normal([4, 2], seed=3)
    layer(x)
    plain, again = layer, wf.recompute(layer)
    for f in (again, wf.function(lambda x: again(x))):
        gradients = []
        for call in (plain, f):
            with wf.GradientTape() as tape:
                loss = wf.sum(call(x) ** 2)
            gradients.append(tape.gradient(loss, layer.kernel))
        assert np.allclose(*gradients, rtol=1e-6)

    @wf.recompute
    def loop(x, n):
        while n > 0:
            x = x * x
            n -= 1
        return x

    f = wf.function(lambda x, n: by_tape(lambda x: loop(x, n), x)[1][0])
    assert f(wf.tensor(2.0), wf.tensor(3)).item() == 1024


def test_g22_recompute_draws_the_same_numbers_again():
    dropout, x = wf.nn.Dropout(0.5), wf.ones([64])

    def block(x):
        return dropout(x * 2.0, training=True)

    def nested(x):
        return wf.recompute(block)(block(x))

    def in_a_trace(f):
        return wf.function(lambda x: by_tape(f, x))

    for f in (block, nested):
        again, seen = wf.recompute(f), set()
        eager = lambda x: by_tape(again, x)  # noqa: E731
        calls = (eager, lambda x: by_tape(wf.recompute(wf.function(f)), x), in_a_trace(again))
        for call in (*calls, lambda x: by_tape(wf.function(again), x)):
            for _ in range(2):
                y, (dx,) = call(x)
                assert numbers(y) == numbers(dx)
                seen.add(tuple(numbers(y)))
        assert len(seen) == 8
    jacobian = numbers(wf.jacobian(wf.recompute(block))(x))
    assert {jacobian[i][j] for i in range(64) for j in range(64) if i != j} == {0}
    assert {jacobian[i][i] for i in range(64)} == {0, 4}

    model = wf.nn.Sequential([wf.nn.Dense(4), wf.nn.Dropout(0.5), wf.nn.Dense(2)])
    with wf.GradientTape() as tape:
        loss = wf.sum(wf.recompute(model)(wf.ones([3, 5]), training=True))
    assert all(gradient is not None for gradient in tape.gradient(loss, model.trainable_variables))


def test_g22_a_recomputed_block_with_dropout_has_the_plain_gradient():
    block, x = wf.nn.TransformerEncoderLayer(8, heads=2, inner=16, dropout=0.3), wf.random.normal((2, 5, 8), seed=3)
    block(x)
    states = [(v, v.numpy().copy()) for v in block.non_trainable_variables]

    def gradients(f):
        for v, state in states:
            v.assign(state)
        with wf.GradientTape() as tape:
            loss = wf.sum(f(x, training=True) ** 2)
        return tape.gradient(loss, block.trainable_variables)

    expected, again = gradients(block), wf.recompute(block)
    for f in (lambda: gradients(again), wf.function(lambda: gradients(again)), lambda: gradients(wf.function(again))):
        assert all(np.allclose(a, b, rtol=1e-4, atol=1e-5) for a, b in zip(f(), expected))


def test_g22_recompute_refuses_other_draws():
    runs = []

    def growing(x):
        runs.append(1)
        for _ in runs:
            x = x * wf.random.uniform([3])
        return x

    with pytest.raises(wf.StateError, match="drew random numbers 1 time and, when it ran again .* more often"):
        by_tape(wf.recompute(growing), wf.ones([3]))

    @wf.recompute
    def loop(x, n):
        while n > 0:
            x = x * wf.random.uniform([3])
            n -= 1
        return x

    with pytest.raises(wf.StateError, match="draws random numbers in control flow of a traced function"):
        wf.function(loop)(wf.ones([3]), wf.tensor(2))
    with pytest.raises(wf.StateError, match="changes the variable 'batch_norm.*moving_mean'"):
        wf.recompute(wf.nn.BatchNorm())(wf.ones([2, 3]), training=True)


def test_g22_recompute_refuses_what_would_happen_twice(live):
    v = wf.Variable(1.0)

    def counting(x):
        v.assign_add(1.0)
        return x * v

    with pytest.raises(wf.StateError, match="recompute"):
        by_tape(wf.recompute(counting), wf.tensor(1.0))
    with pytest.raises(wf.DTypeError, match="recompute: what the function gave"):
        wf.recompute(lambda x: "text")(wf.tensor(1.0))
    with pytest.raises(ZeroDivisionError):
        wf.recompute(lambda x: 1 / 0)(wf.tensor(1.0))
    del v
    gc.collect()


def test_g23_each_read_of_a_variable_counts():
    v = wf.Variable(3.0)
    with wf.GradientTape() as tape:
        first = v * v
        v.assign(5.0)
        second = v * v
    assert tape.gradient([first, second], v).item() == 2 * 3 + 2 * 5


def test_g24_looking_changes_nothing(capfd):
    x = wf.Variable(3.0)
    with wf.GradientTape() as tape:
        y = x * x
        wf.print("y", y)
        assert y.numpy() == 9 and f"{y:.1f}" == "9.0"
        z = y * 2
    assert tape.gradient(z, x).item() == 12 and capfd.readouterr().out == "y 9\n"


def test_recompute_of_many():
    """Under vmap too the gradients are those of the plain function, eager and traced."""
    x, w = wf.tensor([[1.0, 2.0], [3.0, 4.0]]), wf.Variable([2.0, 5.0])
    cube = wf.recompute(lambda r: r * r * r * w)
    for run in (lambda f: f, wf.function):
        mapped = run(lambda x: wf.sum(wf.vmap(cube)(x)))
        np.testing.assert_allclose(wf.grad(mapped)(x), 3 * x.numpy() ** 2 * w.numpy())
        with wf.GradientTape() as tape:
            y = mapped(x)
        np.testing.assert_allclose(tape.gradient(y, w), (x.numpy() ** 3).sum(0))
        inside = run(lambda x: wf.vmap(wf.grad(lambda r: wf.sum(cube(r))))(x))
        np.testing.assert_allclose(inside(x), 3 * x.numpy() ** 2 * w.numpy())
    y, tangent = wf.jvp(lambda x: wf.vmap(cube)(x), [x], [wf.ones_like(x)])
    np.testing.assert_allclose(tangent, 3 * x.numpy() ** 2 * w.numpy())
