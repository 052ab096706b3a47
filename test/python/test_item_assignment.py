"""`x[key] = value` and `x.at[key]`: NumPy's results, who sees them, and what traced functions make of them."""

from __future__ import annotations

import copy
import threading

import numpy as np
import pytest

import weft as wf

KEYS = [
    0, -1, (1, 2), (slice(None), 1), (slice(1, 3), slice(None, None, 2)), slice(None, None, -1),
    (slice(-2, None, -1), -1), ..., (..., 0), (None, 0), (slice(None), None, 1), slice(5, 1), slice(0, 99),
    [0, 2], ([0, 2], [1, 1]), ([0, 0, 2], slice(1, 3)), (slice(None), [3, 0]),
    [True, False, True], np.array([[True, False, True, False]] * 3), (0, [True, False, False, True]),
]  # fmt: skip


def _value(shape: tuple[int, ...], start: float) -> np.ndarray:
    return np.arange(start, start + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("kind", ["number", "array", "row"])
@pytest.mark.parametrize("mode", ["eager", "traced", "open"])
def test_as_numpy(key: object, kind: str, mode: str) -> None:
    expected = _value((3, 4), 0)
    shape = expected[key].shape
    value = 7.5 if kind == "number" else _value(shape if kind == "array" else shape[-1:], 100)
    expected[key] = value

    def assign(x: wf.Tensor) -> wf.Tensor:
        x[key] = value
        return x + 0

    x = wf.tensor(_value((3, 4), 0))
    if mode == "traced":
        assign = wf.function(assign)
    if mode == "open":
        assign = wf.function(assign, input_signature=[wf.TensorSpec([None, None])])
    result = assign(x)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(x, expected)
    np.testing.assert_array_equal(wf.tensor(_value((3, 4), 0)).at[key].set(value), expected)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_at_add_counts_an_element_as_often_as_it_is_named(key: object) -> None:
    expected = _value((3, 4), 0)
    value = _value(expected[key].shape, 100)
    x = wf.tensor(expected)
    np.add.at(expected, key, value)
    np.testing.assert_array_equal(x.at[key].add(value), expected)
    np.testing.assert_array_equal(x.at[key].add(value).at[key].subtract(value), _value((3, 4), 0))


@pytest.mark.parametrize(
    ("method", "function"), [("multiply", np.multiply), ("min", np.minimum), ("max", np.maximum)]
)
@pytest.mark.parametrize("key", [slice(1, None), [0, 0, 2], [True, False, True], 1], ids=str)
def test_at_combines(method: str, function: np.ufunc, key: object) -> None:
    x = wf.tensor([1.0, 4.0, 9.0])
    expected = np.array([1, 4, 9], np.float32)
    value = np.arange(2, 2 + expected[key].size, dtype=np.float32).reshape(expected[key].shape)
    function.at(expected, key, value)
    np.testing.assert_array_equal(getattr(x.at[key], method)(value), expected)
    assert x.tolist() == [1, 4, 9]


def test_what_else_holds_the_tensor_does_not_change() -> None:
    x = wf.zeros(3)
    same, row, view, memory = x, x[:2], np.asarray(x), memoryview(x)
    other = x.reshape(3, 1)
    x[1] = 5
    assert same is x
    assert x.tolist() == [0, 5, 0]
    assert row.tolist() == [0, 0]
    assert view.tolist() == [0, 0, 0]
    assert memory.tolist() == [0, 0, 0]
    assert other.tolist() == [[0], [0], [0]]


def test_memory_of_others_is_not_written() -> None:
    array = np.zeros(3, np.float32)
    x = wf.asarray(array)
    x[0] = 1
    assert array.tolist() == [0, 0, 0]


def test_a_large_tensor_that_nobody_else_holds_is_written_in_place() -> None:
    import time

    x = wf.zeros(1 << 24)

    def least(assign) -> float:  # noqa: ANN001
        times = []
        for i in range(20):
            start = time.perf_counter()
            assign(i)
            times.append(time.perf_counter() - start)
        return min(times)

    def in_place(i: int) -> None:
        x[i] = 1

    def copying(i: int) -> None:
        held = x[:1]
        x[i] = 2
        del held

    assert least(in_place) * 20 < least(copying)


def test_augmented() -> None:
    x = wf.tensor([1, 2, 3])
    x[1:] *= 10
    x[0] -= 1
    assert x.tolist() == [0, 20, 30]


def test_dtypes() -> None:
    x = wf.zeros(2, "float64")
    x[0] = wf.tensor(1.5, "float32")
    x[1] = 0.1
    assert x.tolist() == [1.5, 0.1]
    x[:] = wf.tensor([1, 2])
    assert x.tolist() == [1, 2]
    i = wf.zeros(2, "int32")
    for value, said in [(1.5, "floating"), (wf.tensor(1, "int64"), "int64"), (np.float32(1), "float32")]:
        with pytest.raises(wf.DTypeError, match=said):
            i[0] = value
    with pytest.raises(wf.ValueError):
        i[0] = 2**40
    assert i.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("key", "value", "error", "said"),
    [
        (3, 1, IndexError, "3 is out of range"),
        ((0, 0), 1, IndexError, "2 indices"),
        ([0, 7], 1, IndexError, "7"),
        ([True], 1, IndexError, "mask"),
        (slice(None, None, 0), 1, wf.ValueError, "step"),
        ("a", 1, wf.DTypeError, "str"),
        (slice(2), [1, 2, 3], wf.ShapeError, r"\(3,\).*\(2,\)"),
        (0, [[1, 2]], wf.ShapeError, "broadcast"),
        (0, "a", TypeError, "str"),
        (0, None, TypeError, "None"),
    ],
)
def test_wrong_use(key: object, value: object, error: type[Exception], said: str) -> None:
    x = wf.zeros(3)
    with pytest.raises(error, match=said):
        x[key] = value
    assert x.tolist() == [0, 0, 0]


def test_deletion_is_refused() -> None:
    x = wf.zeros(3)
    with pytest.raises(TypeError, match="no items to delete"):
        del x[0]


# Derivatives.


def test_a_tape_follows_the_value_and_the_updated_tensor() -> None:
    x, v = wf.tensor([1.0, 2.0, 3.0]), wf.tensor(2.0)
    with wf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        tape.watch(v)
        y = x * 1
        y[1] = v * 3
        y[0] *= 2
        loss = wf.sum(y * y)
    assert tape.gradient(loss, x).tolist() == [8, 0, 6]
    assert tape.gradient(loss, v).tolist() == 36
    with wf.GradientTape() as tape:
        tape.watch(x)
        x[0] = v
        loss = wf.sum(x * x)
    assert tape.gradient(loss, x).tolist() == [4, 4, 6]  # by the updated value


def test_gradients_of_masks_and_repeated_indices() -> None:
    def f(x: wf.Tensor, v: wf.Tensor) -> wf.Tensor:
        y = x * 1
        y[[0, 0, 2]] = v
        y[y > 5] = v[0] * 2
        return wf.sum(y * y)

    x, v = wf.tensor([1.0, 2.0, 3.0, 9.0]), wf.tensor([1.0, 2.0, 3.0])
    for g in (f, wf.function(f)):
        dx, dv = wf.grad(g, argnums=(0, 1))(x, v)
        assert dx.tolist() == [0, 4, 0, 0]
        assert dv.tolist() == [8, 4, 6]


# Traced functions.


def test_an_argument_gets_what_the_function_left_in_it() -> None:
    @wf.function
    def f(x, more):  # noqa: ANN001, ANN202
        x[0] = 5
        more["y"][1:] = x[0] * 2
        return wf.sum(x)

    for _ in range(3):
        x, y = wf.ones(3), wf.zeros(3)
        same = x
        assert f(x, {"y": y}).item() == 7
        assert x.tolist() == [5, 1, 1]
        assert y.tolist() == [0, 10, 10]
        assert same is x
    assert f.trace_count() == 1
    array = np.ones(3, np.float32)
    f(array, {"y": y})
    assert array.tolist() == [5, 1, 1]


def test_a_function_inside_another_assigns_too() -> None:
    @wf.function
    def inner(x) -> None:  # noqa: ANN001
        x[1] = 4

    @wf.function
    def outer(x):  # noqa: ANN001, ANN202
        y = x * 2
        inner(y)
        inner(x)
        return y

    x = wf.ones(3)
    assert outer(x).tolist() == [2, 4, 2]
    assert x.tolist() == [1, 4, 1]


def test_a_taped_call_assigns_too() -> None:
    @wf.function
    def f(x, v) -> None:  # noqa: ANN001
        x[0] = v * v

    x, v = wf.ones(2), wf.tensor(3.0)
    with wf.GradientTape() as tape:
        tape.watch(v)
        f(x, v)
        loss = wf.sum(x)
    assert x.tolist() == [9, 1]
    assert tape.gradient(loss, v).item() == 6


def test_a_captured_tensor_is_refused() -> None:
    x = wf.zeros(3)

    @wf.function
    def f(v) -> None:  # noqa: ANN001
        x[0] = v

    with pytest.raises(wf.StateError, match=r"'f'.*Variable.*\.at\["):
        f(wf.tensor(1.0))
    assert x.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "create",
    [
        lambda x: x.T, lambda x: x.mT, lambda x: x.astype("float64"), lambda x: x.copy(), lambda x: next(iter(wf.ones((2, 2)))),
        lambda x: wf.TensorArray("float32", element_shape=(2, 2)).append(x).stack(), lambda x: wf.top_k(x, 2)[0],
        lambda x: wf.split(x, 2)[0], lambda x: wf.grad(wf.sum)(x), lambda x: x.at[0].set(1.0),
    ],
)  # fmt: skip
def test_what_a_trace_created_is_its_own(create) -> None:  # noqa: ANN001
    @wf.function(autograph=False)
    def f(x):  # noqa: ANN001, ANN202
        y = create(x)
        y[0] = 0
        return y

    f(wf.ones((2, 2)))


def test_a_body_may_not_change_what_it_does_not_carry() -> None:
    @wf.function
    def f(x):  # noqa: ANN001, ANN202
        def then():  # noqa: ANN202
            x[0] = 1
            return x

        return wf.cond(wf.sum(x) > 0, then, lambda: x)

    with pytest.raises(wf.StateError, match="body of cond.*does not carry"):
        f(wf.ones(3))


class _Holder:
    pass


def _branch(x, y):  # noqa: ANN001, ANN202
    if wf.sum(y) > 0:
        x[0] = 5
    else:
        x[1:] = y[1:]
    return x + 0


def _loop(x, y):  # noqa: ANN001, ANN202
    for i in wf.range(3):
        x[i] = x[i] + i
        x[-i - 1] += y[i]
    return x * 1


def _while(x, y):  # noqa: ANN001, ANN202
    i = wf.tensor(0)
    while i < 3:
        if y[i] > 1:
            x[i] += y[i]
        i += 1
    return x * 1


def _local(x, y):  # noqa: ANN001, ANN202
    out = wf.zeros(3)
    for i in wf.range(3):
        row = y * i
        row[0] = -1
        out[i] = wf.sum(row)
    return out


def _rebound(x, y):  # noqa: ANN001, ANN202
    for _ in wf.range(3):
        x = x * 2
        x[0] = 1
    return x


def _alias(x, y):  # noqa: ANN001, ANN202
    z = x
    if wf.sum(y) > 0:
        z[0] = 9
    return x * 1


def _attribute(x, y):  # noqa: ANN001, ANN202
    holder = _Holder()
    holder.buffer = x
    for i in wf.range(3):
        holder.buffer[i] = y[i] * 2
    return holder.buffer * 1


def _beside_a_dict(x, y):  # noqa: ANN001, ANN202
    d = {"k": x * 1}
    if wf.sum(y) > 0:
        d["k"] = y
    for i in wf.range(2):
        d["k"] = d["k"] + i
        x[i] = d["k"][0]
    return d["k"]


def _left_early(x, y):  # noqa: ANN001, ANN202
    n = 0
    for v in y:
        if v > 2:
            continue
        x[n] = v
        n += 1
        if n > 1:
            break
    return x * 1


def _nested(x, y):  # noqa: ANN001, ANN202
    for i in wf.range(3):
        if y[i] > 0:
            x[i] = y[i]
            for j in wf.range(i):
                x[j] = x[j] * 2
    return x * 1


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(
    "f",
    [_branch, _loop, _while, _local, _rebound, _alias, _attribute, _beside_a_dict, _left_early, _nested],
)
def test_autograph_carries_elements(f, sign: float) -> None:  # noqa: ANN001
    def arguments() -> tuple[wf.Tensor, wf.Tensor]:
        return wf.ones(3), wf.tensor([1.0, 2.0, 3.0]) * sign

    eager, traced = arguments(), arguments()
    np.testing.assert_array_equal(wf.function(f)(*traced), f(*eager))
    np.testing.assert_array_equal(traced[0], eager[0])


def test_vmap() -> None:
    def f(x: wf.Tensor, v: wf.Tensor) -> wf.Tensor:
        y = x * 1
        y[1:] = v
        y[y > 5] = 0
        return y

    xs, vs = wf.ones((4, 3)), wf.range(4.0) * 2
    expected = np.ones((4, 3))
    expected[:, 1:] = np.arange(4)[:, None] * 2
    expected[expected > 5] = 0
    np.testing.assert_array_equal(wf.vmap(f)(xs, vs), expected)
    np.testing.assert_array_equal(wf.function(wf.vmap(f))(xs, vs), expected)


# Who reads meanwhile.


class _Assigns:
    """An operand whose conversion assigns to items of another."""

    def __init__(self, x: wf.Tensor) -> None:
        self.x = x

    def __array__(self, *args: object, **kwargs: object) -> np.ndarray:
        self.x[...] = 2
        return np.ones(1 << 16, np.float32)

    def __index__(self) -> int:
        self.x[...] = 2
        return 0


def test_an_operand_is_changed_while_the_call_is_read() -> None:
    x = wf.ones(1 << 16)
    result = wf.add(x, _Assigns(x))
    assert set(result.tolist()) <= {2.0, 3.0}
    assert x[0].item() == 2
    assert wf.sum(x, axis=_Assigns(x)).item() == 2 << 16


def test_threads_read_while_another_assigns() -> None:
    x = wf.ones(1 << 18)
    stop = threading.Event()
    failures: list[float] = []

    def read() -> None:
        while not stop.is_set():
            total = wf.sum(x + x).item()
            if total not in (2 << 18, 4 << 18):
                failures.append(total)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for i in range(200):
        x[...] = float(i % 2 + 1)
    stop.set()
    for reader in readers:
        reader.join()
    assert not failures


def squares_behind_an_assignment(x):  # noqa: ANN001, ANN201
    x[0] = x[1] * x[1]
    return wf.sum(x * x)


def by_a_pullback(f):  # noqa: ANN001, ANN201
    return lambda x: wf.vjp(f, x)[1](1.0)[0]


@pytest.mark.parametrize("inner", [lambda f: f, wf.function, wf.recompute])
@pytest.mark.parametrize("outer", [lambda f: f, wf.function])
@pytest.mark.parametrize("slope", [wf.grad, wf.jacobian, by_a_pullback, lambda f: lambda x: wf.value_and_grad(f)(x)[1]])
def test_derivatives_are_by_what_a_function_was_given(slope, outer, inner) -> None:  # noqa: ANN001
    """A function that assigns items of its argument has the derivative of one that assigns those of a copy."""
    x = wf.tensor([1.0, 2.0])
    np.testing.assert_array_equal(outer(slope(inner(squares_behind_an_assignment)))(x), [0, 36])
    np.testing.assert_array_equal(x, [1, 2])


def test_second_derivatives_are_by_what_a_function_was_given() -> None:
    x = wf.tensor([1.0, 2.0])
    np.testing.assert_array_equal(wf.hessian(squares_behind_an_assignment)(x), [[0, 0], [0, 50]])
    np.testing.assert_array_equal(wf.vmap(wf.grad(squares_behind_an_assignment))(wf.stack([x, 2 * x])), [[0, 36], [0, 4 * 64 + 8]])


def test_custom_gradients_of_functions_that_assign() -> None:
    @wf.custom_gradient
    def g(x):  # noqa: ANN001, ANN202
        x[0] = 3.0
        return x * 2, lambda d: d * 10

    x = wf.tensor([1.0, 2.0])
    for f in wf.grad(lambda x: wf.sum(g(x))), wf.function(wf.grad(lambda x: wf.sum(g(x)))):
        np.testing.assert_array_equal(f(x), [10, 10])
    np.testing.assert_array_equal(g(x), [6, 4])


@pytest.mark.parametrize("key", [np.True_, np.False_, (np.True_, 0), (0, np.False_), np.any(np.zeros(3))])
def test_bools_of_numpy_are_masks(key) -> None:  # noqa: ANN001
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    x = wf.tensor(array)
    np.testing.assert_array_equal(x[key], array[key])
    np.testing.assert_array_equal(x.at[key].set(9.0), replaced_in(array, key, 9.0))
    x[key] = 9.0
    np.testing.assert_array_equal(x, replaced_in(array, key, 9.0))


def replaced_in(array, key, value):  # noqa: ANN001, ANN201
    result = array.copy()
    result[key] = value
    return result


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda x: copy.deepcopy([x])[0], lambda x: x.copy()])
def test_copies_keep_their_elements(copied) -> None:  # noqa: ANN001
    x = wf.tensor([1.0, 2.0])
    y = copied(x)
    x[0] = 9.0
    np.testing.assert_array_equal(y, [1, 2])
    y[1] = 8.0
    np.testing.assert_array_equal(x, [9, 2])


def test_an_object_that_is_two_arguments() -> None:
    calls = wf.Variable(0)

    @wf.function
    def f(x, y):  # noqa: ANN001, ANN202
        calls.assign_add(1)
        x[0] = 9.0
        return x + y["b"]

    x = wf.tensor([1.0, 2.0])
    for _ in range(3):
        with pytest.raises(wf.StateError, match="f: the function assigns items of an argument that is given twice: give a copy"):
            f(x, {"b": x})
        np.testing.assert_array_equal(x, [1, 2])
        assert calls.numpy() == 0, "it is refused before anything runs"
    np.testing.assert_array_equal(f(x, {"b": x.copy()}), [10, 4])


@pytest.mark.parametrize("open_sizes", [False, True])
@pytest.mark.parametrize("values", [[1.0, 2.0], [-1.0, 2.0, -3.0], [-1.0], []])
def test_selections_may_be_empty(values, open_sizes) -> None:  # noqa: ANN001
    """In a trace, which does not know how many elements a mask has."""

    def doubled(x):  # noqa: ANN001, ANN202
        x = x * 1
        x[x < 0] *= 2
        return x

    def others(x):  # noqa: ANN001, ANN202
        return x.at[x < 0].add(-x[x < 0]).at[x < 0].max(x[x < 0])

    array = np.array(values, np.float32)
    for f, want in (doubled, np.where(array < 0, 2 * array, array)), (others, np.where(array < 0, 0, array)):
        traced = wf.function(f, input_signature=[wf.TensorSpec([None])] if open_sizes else None)
        np.testing.assert_array_equal(traced(array), want)
        np.testing.assert_array_equal(f(wf.tensor(array)), want)


def test_arrays_of_numpy_are_converted_within_their_kind() -> None:
    x, n = wf.tensor([1.0, 2.0]), wf.tensor([1, 2])
    x[:] = np.array([3.5, 4.5])
    n[1:] = np.array([7])
    np.testing.assert_array_equal(x, np.array([3.5, 4.5], np.float32))
    np.testing.assert_array_equal(n, [1, 7])
    with pytest.raises(wf.DTypeError):
        n[:] = np.array([1.5, 2.5])
    with pytest.raises(wf.DTypeError):
        x[:] = wf.tensor([1.0, 2.0], "float64")
