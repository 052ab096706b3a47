"""Indexing against NumPy: by hand, and by drawn keys."""

import random

import numpy as np
import pytest

import weft as wf

X = np.arange(2 * 3 * 4 * 5, dtype="f4").reshape(2, 3, 4, 5)
T = wf.tensor(X)
MASK = X[:, :, 0, 0] % 3 == 0


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        np.int64(1),
        slice(1, None),
        slice(None, None, -1),
        slice(-2, -10, -2),
        slice(5, 1),
        slice(None, 2**70),
        slice(-(2**70), None, 2**66),
        ...,
        None,
        (0, 1, 2, 3),
        (..., 0),
        (0, ..., -1),
        (None, 0, None, ..., None),
        (slice(None), 1, slice(None, None, 2)),
        (),
        True,
        False,
        np.array(True),
        (True, 1),
        (slice(None), False, [1, 2]),
        ([0, 1], True, 1),
        (..., True),
        (True, MASK),
        (slice(None), 2, slice(None), ..., [0, 1, 1]),
        ([0, 1], ..., [0, 1], 1, slice(None)),
        (slice(None), [0, 1], 1, ..., slice(None)),
        [0, 1],
        [-1, 0, 0],
        [[0, 1], [1, 0]],
        [],
        np.array([1, 0]),
        (slice(None), [2, 0]),
        (..., [4, 0, 1]),
        ([0, 1], [1, 2]),
        ([0, 1], slice(None), [1, 2]),
        (slice(None), [0, 1], [1, 2]),
        (slice(None), [[0], [1]], [1, 2], 0),
        (0, slice(None), [1, 2]),
        (0, [1, 2]),
        ([0, 1], None, [1, 2]),
        (slice(None, None, -1), [0, 2], slice(1, 3), 3),
        MASK,
        (MASK, 1),
        (slice(None), X[0, :, :, 0] > 10),
        (..., np.array([True, False, True, True, False])),
        (MASK, [0, 1]),
        X > 7,
        np.zeros((2, 3), bool),
    ],
    ids=str,
)
def test_as_numpy(key):
    try:
        want = X[key]
    except IndexError:
        with pytest.raises(IndexError):
            T[key]
        return
    got = T[key]
    assert got.shape == want.shape
    np.testing.assert_array_equal(np.asarray(got), want)


def test_keys_that_are_tensors():
    np.testing.assert_array_equal(np.asarray(T[:, wf.tensor([2, -1])]), X[:, [2, -1]])
    np.testing.assert_array_equal(np.asarray(T[T > 50]), X[X > 50])
    np.testing.assert_array_equal(np.asarray(T[wf.tensor(1)]), X[1])
    np.testing.assert_array_equal(np.asarray(T[wf.Variable(1)]), X[1])


@pytest.mark.parametrize(
    ("key", "kind", "words"),
    [
        (2, IndexError, "2 is out of range for axis 0"),
        (-3, IndexError, "-3 is out of range"),
        ((0, 0, 0, 0, 0), IndexError, "5 indices"),
        ((..., ...), IndexError, "one ellipsis"),
        ([0, 2], IndexError, "2 is out of range for axis 0"),
        ((slice(None), [-4]), IndexError, "-4 is out of range for axis 1"),
        (([0, 1], [0, 1, 2]), IndexError, "broadcast"),
        (np.ones((3, 3), bool), IndexError, "mask of shape"),
        (1.5, TypeError, "float"),
        ("a", TypeError, "str"),
        ([0.5], TypeError, "float32"),
        (slice(0, 1.5), TypeError, "stop of a slice"),
        (slice(None, None, 0), ValueError, "step"),
        (2**70, (IndexError, ValueError), "64 bits|range"),
    ],
    ids=str,
)
def test_errors(key, kind, words):
    with pytest.raises(kind, match=words) as caught:
        T[key]
    assert isinstance(caught.value, wf.Error)


@pytest.mark.parametrize("x, mask", [((2, 3), (0,)), ((2, 3), (2, 0)), ((0, 1), (0, 0)), ((2, 3, 4), (0, 3)), ((0, 3), (0,))])
def test_masks_of_nothing(x, mask):
    """An axis of a mask may be of size 0 where the tensor has another, as the array API has it: it picks nothing."""
    x, mask = np.ones(x), np.zeros(mask, bool)
    wanted = (0, *x.shape[mask.ndim :])
    pick = wf.function(lambda x, m: x[m])
    specs = [wf.TensorSpec([None] * x.ndim, "float64"), wf.TensorSpec([None] * mask.ndim, "bool")]
    for call in (lambda x, m: x[m], pick, wf.function(lambda x, m: x[m], input_signature=specs)):
        assert call(wf.tensor(x), wf.tensor(mask)).shape == wanted
    y = wf.tensor(x)
    y[wf.tensor(mask)] = 7.0
    np.testing.assert_array_equal(np.asarray(y), x)


def test_drawn_keys():
    draw = random.Random(3)

    def entry(size):
        kind = draw.randrange(6)
        if kind == 0:
            return draw.randrange(-size, size)
        if kind == 1:
            return slice(*(draw.choice([None, draw.randint(-size - 1, size + 1)]) for _ in range(2)), draw.choice([None, 1, 2, -1, -2]))
        if kind == 2:
            return [draw.randrange(-size, size) for _ in range(2)]
        if kind == 3:
            return np.array([[draw.randrange(-size, size)] for _ in range(2)])
        if kind == 4:
            return np.array([draw.random() < 0.5 for _ in range(size)])
        return slice(None)

    compared = 0
    for _ in range(1500):
        shape = tuple(draw.randint(1, 4) for _ in range(draw.randint(1, 4)))
        x = np.arange(np.prod(shape), dtype="i4").reshape(shape)
        key = [entry(size) for size in shape[: draw.randint(1, len(shape))]]
        for _ in range(draw.randrange(2)):
            key.insert(draw.randint(0, len(key)), None)
        if draw.random() < 0.3 and len([k for k in key if k is not None]) < len(shape):
            key.append(...)
        key = tuple(key)
        try:
            want = x[key]
        except IndexError:
            with pytest.raises(IndexError):
                wf.tensor(x)[key]
            continue
        got = np.asarray(wf.tensor(x)[key])
        assert got.shape == want.shape, (shape, key)
        np.testing.assert_array_equal(got, want, err_msg=f"{shape} {key}")
        compared += 1
    assert compared > 1000


def test_gradients_go_through_indices():
    x = wf.tensor(np.arange(12, dtype="f4").reshape(3, 4))
    for key in ((0, 1), (slice(None), [1, 1]), ([0, 2], [1, 1]), np.asarray(x) > 5, (slice(None, None, -2), 2)):
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = wf.sum(x[key] * 2)
        want = np.zeros((3, 4), "f4")
        np.add.at(want, key, 2)
        np.testing.assert_array_equal(np.asarray(tape.gradient(y, x)), want)


def test_negative_indices_of_an_axis_of_unknown_size():
    @wf.function(input_signature=[wf.TensorSpec([None, 3]), wf.TensorSpec([None], "int32")])
    def f(x, i):
        return x[[0, -1]], x[i], x[:, [-1]][[-2]], x[np.array([1, 0])]

    for count in (2, 5):
        x, i = np.arange(3 * count, dtype=np.float32).reshape(count, 3), np.array([-1, 1, -2], np.int32)
        for got, expected in zip(f(x, i), (x[[0, -1]], x[i], x[:, [-1]][[-2]], x[[1, 0]]), strict=True):
            assert (got.numpy() == expected).all()
    with pytest.raises(IndexError, match="out of range for an axis of size 2"):
        f(wf.ones((2, 3)), [-3])


def test_positions_that_are_out_of_range_say_so_in_the_words_of_an_index():
    x = wf.ones((2, 3))
    open_sizes = [wf.TensorSpec([None, 3])]
    for f in (lambda x: x[[5]], lambda x: x[wf.tensor(5)], lambda x: x[[0, 5], [0, 1]], lambda x: x[wf.size(x, 0) + 3]):
        for run in (f, wf.function(f), wf.function(f, input_signature=open_sizes)):
            with pytest.raises(IndexError, match=r"index: (index )?5 is out of range for"):
                run(x)
    with pytest.raises(IndexError, match="gather: index 5 is out of range"):
        wf.function(lambda x: wf.gather(x, 5))(x)


@pytest.mark.parametrize("shape", [(1, 3, 2, 1), (1, 3, 1, 2), (3, 1, 1, 2), (1, 1, 2, 3), (2, 3, 2, 1)])
@pytest.mark.parametrize("axis", range(4))
def test_one_index_of_any_axis_beside_axes_of_size_1(shape, axis):
    # An index that is one alone lets the compiler know offsets of slices, of which upstream drops the wrong axis.
    x = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    for i in ([-1], [0], -1):
        taken = np.take(x, i, axis)
        weight = np.arange(1, taken.size + 1, dtype="f4").reshape(taken.shape)
        expected = np.zeros_like(x)
        key = (slice(None),) * axis + (i,)
        expected[key] = weight

        def gradient(x, i, weight):
            return wf.grad(lambda x: wf.sum(wf.take(x, i, axis=axis) * weight))(x)

        def assigned(x, i, weight):
            x[(slice(None),) * axis + (i,)] = weight
            return x

        i = wf.tensor(i)
        for run in (gradient, assigned):
            wanted = expected if run is gradient else np.where(expected != 0, expected, x)
            for function in (run, wf.function(run)):
                assert (function(wf.tensor(x), i, wf.tensor(weight)).numpy() == wanted).all(), (run.__name__, i)
            constant = wf.function(lambda x, weight, i=i.numpy().tolist(), run=run: run(x, i, weight))
            assert (constant(wf.tensor(x), wf.tensor(weight)).numpy() == wanted).all(), (run.__name__, i)


@pytest.mark.parametrize("at", [2**64 - 1, 2**63])
def test_positions_of_uint64_are_never_counted_from_the_end(at):
    x = wf.arange(5.0)
    for shape in ((), (1,)):
        b = wf.tensor(np.full(shape, at, "uint64"))
        for call in (
            lambda x, b: x[b],
            lambda x, b: wf.take(x, wf.reshape(b, (1,))),
            lambda x, b: wf.take_along_axis(x, wf.reshape(b, (1,)), 0),
            lambda x, b: wf.gather(x, b),
            lambda x, b: x.at[b].set(9),
        ):
            for f in (call, wf.function(call)):
                with pytest.raises(wf.OutOfRangeError):
                    f(x, b)
    b = wf.tensor(np.array(at, "uint64"))
    for call, wanted in ((lambda x, b: x[:b], [0, 1, 2, 3, 4]), (lambda x, b: wf.take(x, wf.reshape(b, (1,)), mode="clip"), [4])):
        assert call(x, b).tolist() == wanted
        assert wf.function(call)(x, b).tolist() == wanted


def test_positions_beyond_64_bits_are_out_of_range():
    for at in (2**63, 2**70, -(2**70)):
        with pytest.raises(IndexError):
            wf.arange(5.0)[at]
