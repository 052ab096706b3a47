"""Indexing on axes whose sizes a signature leaves open: the same elements, gradients and errors as at once."""

import numpy as np
import pytest

import weft as wf

KEYS = [
    -1,
    -2,
    (0, -1),
    (-1, -1),
    (..., -1),
    (-1, ..., -1),
    (None, -1, None),
    slice(-2, None),
    slice(-9, None),
    slice(None, -1),
    slice(None, -9),
    slice(1, -1),
    slice(-3, -1),
    slice(-1, -3),
    slice(-3, 2),
    slice(3, 1),
    slice(None, -1, 2),
    slice(-3, None, 2),
    slice(None, None, -2),
    slice(-2, None, -1),
    slice(None, -3, -1),
    slice(2, 0, -1),
    slice(9, 1, -1),
    slice(9, -9, -2),
    slice(2**63 - 1, -(2**63), -(2**63)),
    slice(-(2**63), 2**63 - 2, -1),
    slice(-(2**63), -1, 2**63 - 1),
    (slice(-2, None), slice(None, -1)),
    (..., slice(-2, None)),
    (-1, slice(None, None, -1)),
    (slice(None, -1), None, 0),
    [-1, 0],
    [[0], [-2]],
    ([0, 1], [1, 2]),
    ([0, -1], [1, -2]),
    ([[0], [1]], [1, 2]),
    (slice(None), [0, 1], [1, 2]),
    ([0, 1], slice(None), [1, -1]),
    (slice(1, None), 0, [1, -1]),
    (0, [1, 2]),
    (-1, [1, 2], -1),
]
SHAPES = [[None, None, None], [None, 3, 4], [4, None, 4], [4, 3, None], [None, 3, None]]
X = np.arange(48, dtype="f4").reshape(4, 3, 4)


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_same_as_at_once(key, shape):
    traced = wf.function(lambda x: x[key], input_signature=[wf.TensorSpec(shape)])
    np.testing.assert_array_equal(np.asarray(traced(X)), X[key])


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_gradients(key):
    def loss(x):
        return wf.sum(wf.square(x[key]))

    traced = wf.function(wf.grad(loss), input_signature=[wf.TensorSpec([None, None, None])])
    want = np.zeros_like(X)
    want[key] = 2 * X[key]
    np.testing.assert_array_equal(np.asarray(traced(X)), want)
    np.testing.assert_array_equal(np.asarray(wf.grad(loss)(wf.tensor(X))), want)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_positions_that_are_traced(shape):
    specs = [wf.TensorSpec(shape), wf.TensorSpec([], wf.int64), wf.TensorSpec([None], wf.int32)]
    traced = wf.function(lambda x, i, j: (x[i, j], x[:, i, j], x[j, :, i]), input_signature=specs)
    for i, j in [(0, [1, 2]), (-1, [0, -2, 1])]:
        got = traced(X, i, np.array(j, "i4"))
        for a, b in zip(got, (X[i, j], X[:, i, j], X[j, :, i]), strict=True):
            np.testing.assert_array_equal(np.asarray(a), b)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("key", [-5, (0, -4), ([0, 1], [0, 3]), ([0, 1], [0, -4]), (0, [7]), [4], [-5]], ids=str)
def test_out_of_range(key, shape):
    with pytest.raises(wf.OutOfRangeError):
        wf.tensor(X)[key]
    with pytest.raises(wf.OutOfRangeError):
        wf.function(lambda x: x[key], input_signature=[wf.TensorSpec(shape)])(X)


def test_out_of_range_by_traced_positions():
    """Even where the position among all elements is within them, and where sizes are known."""
    for shape in ([None, None], [4, 3]):
        specs = [wf.TensorSpec(shape), wf.TensorSpec([], wf.int64), wf.TensorSpec([], wf.int64)]
        traced = wf.function(lambda x, i, j: x[i, j], input_signature=specs)
        assert float(traced(X[:, :, 0], 1, -1)) == X[1, -1, 0]
        for i, j in [(0, 3), (1, -4), (4, 0), (-5, 2)]:
            with pytest.raises(wf.OutOfRangeError, match="out of range"):
                traced(X[:, :, 0], i, j)


def test_empty():
    traced = wf.function(
        lambda x: (x[-1:], x[:-1], x[::-1], x[-1:0:-1]), input_signature=[wf.TensorSpec([None, 2])]
    )
    assert [y.shape for y in traced(wf.zeros((0, 2)))] == [(0, 2)] * 4
    last = wf.function(lambda x: x[-1], input_signature=[wf.TensorSpec([None, 2])])
    with pytest.raises(wf.OutOfRangeError, match="out of range"):
        last(wf.zeros((0, 2)))


def test_steps_of_zero():
    with pytest.raises(wf.ValueError, match="the step of slice 1 is 0"):
        wf.function(lambda x: x[-1, ::0], input_signature=[wf.TensorSpec([None, None])])(X[0])


BOUNDS = {
    "the first n": lambda x, n: x[:n],
    "from n on": lambda x, n: x[n:],
    "columns": lambda x, n: x[:, :n],
    "from n on to before the last": lambda x, n: x[:, n:-1],
    "backwards": lambda x, n: x[n::-1],
    "backwards to n": lambda x, n: x[:n:-2],
    "two of them": lambda x, n: x[n:, :n],
    "beside others": lambda x, n: x[None, -1, ..., :n],
    "beside positions": lambda x, n: x[[0, -1], n:],
}


@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("shape", [[None, None], [4, 3]], ids=str)
def test_bounds_that_are_traced(name, shape):
    """They are clipped, as numbers are, and gradients go back to where the elements were."""
    x = X[:, :, 0]
    specs = [wf.TensorSpec(shape), wf.TensorSpec([], wf.int64)]
    part = wf.function(BOUNDS[name], input_signature=specs)
    gradient = wf.function(lambda x, n: wf.grad(lambda y: wf.sum(wf.square(BOUNDS[name](y, n))))(x), input_signature=specs)
    for n in (0, 1, 2, 3, 9, -1, -3, -9, 2**63 - 1, -(2**63)):
        np.testing.assert_array_equal(part(x, n), BOUNDS[name](x, n))
        want = np.zeros_like(x)
        np.add.at(want, np.unravel_index(BOUNDS[name](np.arange(12).reshape(4, 3), n), (4, 3)), 2 * BOUNDS[name](x, n))
        np.testing.assert_array_equal(gradient(x, n), want)
    assert part.trace_count() == 1


def test_bounds_that_are_no_integers():
    for spec, error, text in [
        (wf.TensorSpec([]), wf.DTypeError, "the stop of a slice is a tensor of float32: an integer is wanted"),
        (wf.TensorSpec([2], wf.int64), wf.ShapeError, r"the stop of a slice is a tensor of shape \(2,\): a scalar is wanted"),
    ]:
        with pytest.raises(error, match=text):
            wf.function(lambda x, n: x[:n], input_signature=[wf.TensorSpec([None]), spec])(X[0, 0], np.ones(tuple(spec.shape), spec.dtype.name))
    with pytest.raises(wf.DTypeError, match="the step of a slice is a tensor of a traced function: a number is wanted"):
        wf.function(lambda x, n: x[::n], input_signature=[wf.TensorSpec([None]), wf.TensorSpec([], wf.int64)])(X[0, 0], 2)


PAST = [
    slice(None, 5),
    slice(4, None),
    slice(2, 5),
    slice(0, 1000000000),
    slice(0, 2**63 - 1),
    slice(2**63 - 1, None),
    slice(3, 9, 2),
    slice(None, 7, 3),
    slice(4, None, 2),
    slice(9, 4, -2),
    slice(5, 2),
    slice(1, 3, 2),
    slice(-9, 2),
    slice(-2, 9),
    slice(0, 4, 2**63 - 1),
]


@pytest.mark.parametrize("key", PAST, ids=str)
@pytest.mark.parametrize("signature", [True, False])
def test_slices_past_the_end(key, signature):
    """They are clipped, as NumPy and eager calls do it, by one trace for all sizes; so are their gradients."""
    specs = [wf.TensorSpec([None, 2])] if signature else None
    rows, columns = (wf.function(f, input_signature=specs) for f in (lambda x: x[key], lambda x: wf.transpose(x)[:, key]))
    gradient = wf.function(wf.grad(lambda x: wf.sum(wf.square(x[key]))), input_signature=specs)
    for n in (4, 3, 0, 2, 7, 10, 5):
        if n == 0 and len(range(*key.indices(10**6))) == 1:
            continue  # test_slices_of_one_element
        x = np.arange(2 * n, dtype="f4").reshape(n, 2)
        np.testing.assert_array_equal(rows(x), x[key])
        np.testing.assert_array_equal(columns(x), x.T[:, key])
        want = np.zeros_like(x)
        want[key] = 2 * x[key]
        np.testing.assert_array_equal(gradient(x), want)


def test_slices_of_one_element():
    """They have that element, so that their result stretches; of none it is an error, unless sizes may be traced again."""
    f = wf.function(lambda x: x * x[:, :1] + x[:, 1:2], input_signature=[wf.TensorSpec([None, None])])
    x = X[:, :, 0]
    np.testing.assert_array_equal(f(x), x * x[:, :1] + x[:, 1:2])
    with pytest.raises(wf.OutOfRangeError, match=r"index: 1 is out of range for axis 1 of a tensor of shape \(4, 1\)"):
        f(x[:, :1])
    first = wf.function(lambda x: x[:1])
    for n in (3, 2, 0, 4):
        assert first(np.ones(n, "f4")).shape == (min(n, 1),)


def test_no_tensor_of_the_size_asked_for():
    """A stop that stands for the end is no size of a result, wherever it comes from."""

    def f(x):
        rows = wf.size(x, 0)
        return wf.broadcast_to(wf.reshape(x, [rows, 2, 1]), [rows, 2, 3])[0:1000000000] + 1

    x = np.ones((2, 2), "f4")
    np.testing.assert_array_equal(wf.function(f, input_signature=[wf.TensorSpec([None, 2])])(x), np.full((2, 2, 3), 2))


def test_a_gradient_of_rows_behind_the_end():
    """By one trace that takes nothing, where there is less in front than the slice leaves out."""
    for key in ((slice(4, None),), (slice(None), slice(3, None)), (slice(1, None), slice(2, None, 2))):
        def loss(x, key=key):
            return wf.sum(wf.square(x[key])) + wf.sum(x)

        gradient = wf.function(wf.grad(loss), input_signature=[wf.TensorSpec([None, None])])
        twice = wf.function(wf.grad(lambda x: wf.sum(wf.square(wf.grad(loss)(x)))), input_signature=[wf.TensorSpec([None, None])])
        for shape in ((6, 5), (3, 2), (4, 3), (1, 1), (0, 2), (2, 0)):
            x = np.arange(np.prod(shape), dtype="f4").reshape(shape)
            np.testing.assert_array_equal(gradient(x), wf.grad(loss)(wf.tensor(x)))
            np.testing.assert_array_equal(twice(x), wf.grad(lambda x: wf.sum(wf.square(wf.grad(loss)(x))))(wf.tensor(x)))


BESIDE_EMPTY = {
    "a new axis": (lambda a: a[None, :0, 0], [(4, 2, 1), (4, 3, 3), (2, 1, 5)]),
    "a new axis behind": (lambda a: a[0, :-4, None], [(2, 4, 4), (1, 4, 12), (3, 2, 7)]),
    "two new axes": (lambda a: a[:0, None, :, None], [(4, 2, 1), (4, 3, 3), (2, 1, 5)]),
    "positions": (lambda a: a[[2, 0], 5:, [1, 1]], [(6, 4, 2), (3, 4, 6), (3, 4, 2)]),
    "positions beside a known size": (lambda a: a[[2, 0], :0, [1, 1]], [(6, 4, 2), (3, 5, 2), (4, 4, 2)]),
    "an empty list": (lambda a: a[[], :, [0]], [(6, 4, 2), (3, 5, 7), (4, 4, 2)]),
    "what is left of a sum": (lambda a: wf.sum(a[5:], 0)[:, None], [(6, 4, 2), (3, 4, 6), (3, 2, 2)]),
    "joined": (lambda a: wf.concatenate([a[:0], a])[None, :, 0], [(6, 4, 2), (0, 4, 6), (3, 2, 2)]),
}


@pytest.mark.parametrize("name", BESIDE_EMPTY)
@pytest.mark.parametrize("signature", [True, False])
def test_beside_empty_axes(name, signature):
    """Sizes beside an axis without elements are what they are: nothing is worked out from a product that is 0."""
    f, shapes = BESIDE_EMPTY[name]
    specs = [wf.TensorSpec([None] * 3)] if signature else None
    traced, gradient = (wf.function(g, input_signature=specs) for g in (f, wf.grad(lambda a: wf.sum(f(a)))))
    for shape in shapes:
        x = wf.tensor(np.arange(np.prod(shape), dtype="f4").reshape(shape))
        np.testing.assert_array_equal(traced(x), np.asarray(f(x)), strict=True)
        np.testing.assert_array_equal(gradient(x), np.asarray(wf.grad(lambda a: wf.sum(f(a)))(x)), strict=True)


@pytest.mark.parametrize("shape", [[0, -1], [-1, 0], [0, -1, 3]], ids=str)
def test_what_does_not_follow_beside_nothing(shape):
    """A size -1 beside a 0 follows of nothing: a ShapeError, as at once."""
    with pytest.raises(wf.ShapeError, match="reshape"):
        wf.reshape(wf.ones((2, 3)), shape)
    for rows in (2, 0):
        with pytest.raises(wf.ShapeError, match="reshape"):
            wf.function(lambda x: wf.reshape(x, shape), input_signature=[wf.TensorSpec([None, 3])])(wf.ones((rows, 3)))


CHOICES = {
    "max": lambda x: wf.max(x, 1),
    "min of all": lambda x: wf.min(x),
    "kept": lambda x: wf.max(x, [-1], keepdims=True),
    "argmax": lambda x: wf.argmax(x, 1),
    "argmin of all": lambda x: wf.argmin(x),
    "ptp": lambda x: wf.ptp(x, 1),
    "nanmax": lambda x: wf.nanmax(x, 1),
    "norm": lambda x: wf.norm(x, np.inf, 1),
    "norm of matrices": lambda x: wf.norm(x, 1),
    "max of bools": lambda x: wf.max(x > 0, 1),
    "method": lambda x: x.max(1),
}


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("signature", [True, False])
def test_choices_of_nothing(name, signature):
    """The largest of nothing is a ShapeError with the words of an eager call, by one trace for all sizes."""
    choose = CHOICES[name]
    traced = wf.function(wf.autograph.do_not_convert(choose), input_signature=[wf.TensorSpec([2, None])] if signature else None)
    for n in (3, 4, 0, 1, 0):
        x = np.arange(2 * n, dtype="f4").reshape(2, n)
        if n:
            np.testing.assert_array_equal(traced(x), np.asarray(choose(wf.tensor(x))))
            continue
        with pytest.raises(wf.ShapeError) as at_once:
            choose(wf.tensor(x))
        with pytest.raises(wf.ShapeError) as later:
            traced(x)
        words = str(at_once.value).split("error: ")[-1].split(": ", 1)[1]
        assert words.startswith(name.split()[0].replace("kept", "max").replace("method", "max")), words
        assert words in str(later.value)
        assert str(later.value).count("there is no element to choose") == 1


def test_choices_of_nothing_inside():
    """So it is in gradients, in branches that are taken and in loops; what is not run is not checked."""
    spec = [wf.TensorSpec([2, None])]
    x, nothing = np.ones((2, 3), "f4"), np.ones((2, 0), "f4")
    programs = {
        "gradient": lambda x: wf.grad(lambda y: wf.sum(wf.max(y, 1)))(x),
        "second gradient": lambda x: wf.grad(lambda y: wf.sum(wf.grad(lambda z: wf.sum(wf.square(wf.max(z, 1))))(y)))(x),
        "branch": lambda x: wf.cond(wf.size(x, 0) > 1, lambda: wf.max(x, 1), lambda: x[:, 0]),
        "loop": lambda x: wf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + wf.max(x, 1)), (0, wf.zeros(2)))[1],
        "gradient of a loop": lambda x: wf.grad(lambda y: wf.sum(wf.for_loop(3, lambda i, s: [s + wf.max(y, 1)], [wf.zeros(2)])[0]))(x),
        "members": lambda x: wf.vmap(lambda row: wf.max(row))(x),
    }
    for name, program in programs.items():
        traced = wf.function(wf.autograph.do_not_convert(program), input_signature=spec)
        np.testing.assert_allclose(traced(x), np.asarray(program(wf.tensor(x))), err_msg=name)
        with pytest.raises(wf.ShapeError, match="there is no element to choose"):
            traced(nothing)
    other = wf.function(lambda x: wf.cond(wf.size(x, 1) > 0, lambda: wf.max(x, 1), lambda: wf.sum(x, 1)), input_signature=spec)
    np.testing.assert_array_equal(other(nothing), np.zeros(2))
    np.testing.assert_array_equal(other(x), np.ones(2))


MOVES = {
    "roll": lambda m, x: m.roll(x, 2, 0),
    "roll back by more than there are": lambda m, x: m.roll(x, -9, 1),
    "roll all": lambda m, x: m.roll(x, 7),
    "roll by no number": lambda m, x: m.roll(x, 2**62, 0),
    "diff": lambda m, x: m.diff(x, 2, 0),
    "diff of too few": lambda m, x: m.diff(x, 3, 1),
}


@pytest.mark.parametrize("name", MOVES)
def test_moves(name):
    """Of more elements than there are along axes that are open."""
    f = wf.function(lambda x: MOVES[name](wf, x), input_signature=[wf.TensorSpec([None, None])])
    gradient = wf.function(wf.grad(lambda x: wf.sum(wf.square(MOVES[name](wf, x)))), input_signature=[wf.TensorSpec([None, None])])
    for shape in ((4, 3), (1, 1), (2, 5), (0, 3), (3, 0)):
        x = np.arange(np.prod(shape), dtype="f4").reshape(shape)
        np.testing.assert_array_equal(f(x), MOVES[name](np, x))
        want = wf.grad(lambda x: wf.sum(wf.square(MOVES[name](wf, x))))(wf.tensor(x))
        np.testing.assert_array_equal(gradient(x), np.asarray(want))
    assert f.trace_count() == 1


def test_ranges_of_computed_bounds():
    """`arange` to a number that a trace computes."""
    spec = [wf.TensorSpec([], wf.int64), wf.TensorSpec([], wf.int32)]

    def f(n, k):
        return wf.arange(n), wf.arange(k, n, 3), wf.arange(n, k, -2, dtype="int64"), wf.arange(0.5, n), wf.arange(n, dtype="float64")

    ranges = wf.function(f, input_signature=spec)
    for n, k in ((5, 1), (0, 0), (-2, 7), (9, -3)):
        for got, want in zip(ranges(n, k), f(wf.tensor(n, wf.int64), wf.tensor(k, wf.int32)), strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, np.asarray(want))
    assert ranges.trace_count() == 1
    with pytest.raises(wf.ValueError, match="step is 0"):
        wf.function(lambda n: wf.arange(0, n, 0), input_signature=spec[:1])(3)


COLUMNS = {
    "mean": lambda x: wf.mean(x[:, 0]),
    "from a row on": lambda x: wf.sum(x[1:, 0]),
    "each second": lambda x: wf.sum(x[::2, 0]),
    "norm": lambda x: wf.norm(x[..., 0]),
    "difference": lambda x: wf.mean(wf.square(x[:, 0] - x[:, 1])),
    "of parts": lambda x: wf.sum(wf.reshape(x, [-1, 2, 2])[:, 0]),
    "last of parts": lambda x: wf.sum(wf.reshape(x, [-1, 2, 2])[:, :, 0]),
    "of a gradient": lambda x: wf.norm(wf.grad(lambda y: wf.sum(wf.square(wf.tile(y, (1, 2)))))(x)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_sums_of_columns(name):
    """A sum of what does not lie side by side copies it first, by a size that no whole axis has."""
    f = wf.function(COLUMNS[name], input_signature=[wf.TensorSpec([None, 4])])
    for rows in (3, 5, 64):
        x = np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)
        np.testing.assert_allclose(f(x), COLUMNS[name](wf.tensor(x)), rtol=1e-5)


def test_number_of_elements():
    """A trace that does not know how many there are counts them when it runs; -1 gave wrong numbers without a word."""
    f = wf.function(lambda x: (wf.sum(x) / x.size, x.nbytes), input_signature=[wf.TensorSpec([None, 3])])
    for n in (1, 4):
        mean, size = f(np.full((n, 3), 2, "f4"))
        assert float(mean) == 2.0 and int(size) == 12 * n

    @wf.function
    def means(batches):
        total = 0.0
        for b in batches:
            total += wf.sum(b) / b.size
        return total

    assert float(means(wf.data.from_tensors(np.arange(10, dtype="f4")).batch(4))) == 1.5 + 5.5 + 8.5
