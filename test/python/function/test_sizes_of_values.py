"""Results that are as large as values say, in traces: nonzero, unique, compress and masks, with open sizes and with `size`."""

import numpy as np
import pytest

import weft as wf

SIZES = (4, 0, 1, 7)
FILLS = [(None, 0), (0, 0), (2, 9), (50, -1)]


def drawn(shape, seed=0):
    """Small numbers, about half of them 0."""
    x = np.random.default_rng([seed, *shape]).integers(-2, 3, shape)
    return np.where(x < 0, 0, x).astype(np.float32)


def opened(f, *specs):
    """The function in one trace, and how often it was traced."""
    count = []

    def counted(*args):
        count.append(1)
        return f(*args)

    return wf.function(wf.autograph.do_not_convert(counted), input_signature=[wf.TensorSpec(*spec) for spec in specs]), count


def same(found, want):
    for one, other in zip(found, want, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
        assert np.shape(one) == np.shape(other)


def padded(found, size, fill):
    if size is None:
        return found
    return np.concatenate([found[:size], np.full((max(size - len(found), 0), *found.shape[1:]), fill, found.dtype)])


@pytest.mark.parametrize(("size", "fill"), FILLS)
@pytest.mark.parametrize("name", ["nonzero", "argwhere", "where"])
def test_positions(name, size, fill):
    f = getattr(wf, name)

    def call(x):
        found = f(x, size=size, fill_value=fill)
        return found if isinstance(found, tuple) else (found,)

    traced, count = opened(call, ([None, None, 2], "float32"))
    for n in SIZES:
        for m in (3, 0):
            x = drawn((n, m, 2))
            want = [np.argwhere(x)] if name == "argwhere" else np.nonzero(x)
            want = [padded(w, size, fill) for w in want]
            same(call(wf.tensor(x)), want)
            same(traced(x), want)
    assert len(count) == 1


@pytest.mark.parametrize("size", [None, 0, 3, 20])
def test_unique(size):
    def call(x):
        return wf.unique(x, True, True, True, size=size)

    traced, count = opened(call, ([None, 2], "int32"))
    for n in (4, 1, 9) if size else SIZES:
        x = drawn((n, 2), 3).astype(np.int32)
        values, index, inverse, counts = np.unique(x, True, True, True)
        want = [padded(values, size, values.min(initial=99)), padded(index, size, index[0] if n else 0), inverse.reshape(x.shape)]
        want.append(padded(counts, size, 0))
        same(call(wf.tensor(x)), want)
        same(traced(x), want)
    assert len(count) == 1


def test_unique_up_to_a_size():
    same([wf.unique([3, 1, 3], size=4)], [[1, 3, 1, 1]])
    same([wf.unique([3, 1, 3], size=4, fill_value=7)], [[1, 3, 7, 7]])
    same([wf.unique([2.0, np.nan, np.nan], size=3, fill_value=-1)], [[2, np.nan, -1]])
    same([wf.unique(wf.zeros([0]), size=2, fill_value=5)], [[5, 5]])
    same(wf.unique(wf.zeros([0]), return_index=True, return_counts=True, size=2), [[0, 0], [0, 0], [0, 0]])


MASKS = {
    "elements": (lambda x: x[x > 0], lambda x: x[x > 0]),
    "rows": (lambda x: x[x[:, 0] > 0], lambda x: x[x[:, 0] > 0]),
    "columns": (lambda x: x[:, x[0] >= 0], lambda x: x[:, x[0] >= 0]),
    "an element of each row": (lambda x: x[x[:, 1] > 0, 1], lambda x: x[x[:, 1] > 0, 1]),
    "the last ones": (lambda x: x[x > 0][-1:], lambda x: x[x > 0][-1:]),
    "compress": (lambda x: wf.compress(x[:, 0] > 0, x, 0), lambda x: np.compress(x[:, 0] > 0, x, 0)),
    "compress all": (lambda x: wf.compress(wf.reshape(x > 0, -1), x), lambda x: np.compress((x > 0).reshape(-1), x)),
    "none": (lambda x: x[x > 99], lambda x: x[x > 99]),
    "used": (lambda x: wf.sum(x[x > 0]) + x, lambda x: x[x > 0].sum(dtype=x.dtype) + x),
    "joined": (lambda x: wf.concatenate([x[x > 0], x[:, 0]]), lambda x: np.concatenate([x[x > 0], x[:, 0]])),
    "counted": (lambda x: wf.arange(wf.size(x[x > 0], 0)), lambda x: np.arange(x[x > 0].size)),
    "a mask of one": (lambda x: x[wf.sum(x) > 2], lambda x: x[x.sum() > 2]),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks(name):
    f, want = MASKS[name]
    traced, count = opened(f, ([None, 3], "float32"))
    for n in (4, 1, 7) if name == "columns" else SIZES:
        x = drawn((n, 3), 1)
        same([f(wf.tensor(x)), traced(x)], [want(x)] * 2)
    assert len(count) == 1


@pytest.mark.parametrize("name", ["elements", "rows", "an element of each row", "compress", "used", "joined"])
def test_gradients_of_masks(name):
    """By both modes, eagerly and in one trace."""
    f = MASKS[name][0]

    def loss(x):
        return wf.sum(wf.square(f(x)))

    def backward(x):
        return wf.grad(loss)(x)

    def forward(x):
        return wf.jvp(loss, [x], [wf.sin(x + 1)])[1]

    for derivative in (backward, forward):
        traced, count = opened(derivative, ([None, 3], "float32"))
        for n in SIZES:
            x = wf.tensor(drawn((n, 3), 2))
            np.testing.assert_allclose(traced(x), derivative(x), rtol=1e-6)
        assert len(count) == 1
    if name == "elements":
        x = wf.tensor([[1.0, 0.0, 2.0]])
        same([backward(x)], [[[2, 0, 4]]])


def test_compress_up_to_a_size():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    c = [True, False, True]
    same([wf.compress(c, x, 0, size=3, fill_value=9.0)], [np.vstack([x[[0, 2]], np.full((1, 4), 9)])])
    same([wf.compress([1, 0, 2, 1], x, 1, size=2)], [x[:, [0, 2]]])
    same([wf.compress(c, x, 0, size=0)], [x[:0]])
    same([wf.compress(x > 9, x, size=3, fill_value=-1)], [[10, 11, -1]])
    same([wf.compress(wf.zeros([0]), wf.zeros([0, 2]), 0, size=1, fill_value=3)], [[[3, 3]]])
    traced, count = opened(lambda x: wf.compress(x[:, 0] > 0, x, 0, size=5, fill_value=1), ([None, 2], "float32"))
    for n in SIZES:
        x = drawn((n, 2))
        same([traced(x)], [padded(x[x[:, 0] > 0], 5, 1)])
    assert len(count) == 1
    mapped = wf.vmap(lambda c, row: wf.compress(c, row, 0, size=3))
    x = drawn((5, 4))
    same(mapped(x > 0, x), [padded(row[row > 0], 3, 0) for row in x])


def test_size_that_a_trace_computes():
    traced, count = opened(lambda x, y: wf.nonzero(x, size=wf.size(y, 0), fill_value=-1), ([None], "float32"), ([None], "float32"))
    for n in SIZES:
        same(traced(drawn((5,)), drawn((n,))), [padded(np.nonzero(drawn((5,)))[0], n, -1)])
    assert len(count) == 1


def test_masks_that_do_not_fit():
    with pytest.raises(wf.OutOfRangeError, match=r"index: a mask of shape \(2,\) does not fit a tensor of shape \(3, 4\) from axis 0 on"):
        wf.zeros([3, 4])[wf.tensor([True, False])]
    with pytest.raises(wf.OutOfRangeError, match=r"compress: a condition of shape \(2,\) does not fit a tensor of shape \(3,\)"):
        wf.compress([True, False], wf.zeros([3]), 0)
    with pytest.raises(wf.OutOfRangeError, match="compress: axis 2"):
        wf.compress([True], wf.zeros([3]), 2)
    for key in (lambda x, c: x[c], lambda x, c: x[c, 0], lambda x, c: x[[True, False, False]][:, c]):
        traced, _ = opened(key, ([None, 3], "float32"), ([None], "bool"))
        with pytest.raises(wf.OutOfRangeError, match=r"index: a mask of shape \(2,\) does not fit a tensor of shape \([13], 3\) from axis [01] on"):
            traced(wf.zeros([3, 3]), [True, False])


def test_what_has_no_size():
    for f in (wf.nonzero, wf.argwhere, wf.unique):
        with pytest.raises(wf.ValueError, match="size is -1: it is not negative"):
            f([1, 0], size=-1)
        with pytest.raises(wf.StateError, match="differ by member"):
            wf.vmap(f)(wf.tensor([[1, 0], [1, 1]]))
    with pytest.raises(wf.ValueError, match="where: size and fill_value"):
        wf.where([True], [1], [2], size=3)
    with pytest.raises(wf.ShapeError, match="nonzero: x is a scalar"):
        wf.nonzero(1)
