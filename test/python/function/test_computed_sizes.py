"""Sizes that a traced function computes, where shapes are wanted: one trace serves all sizes."""

import numpy as np
import pytest

import weft as wf
from weft import tf

SIZES = [(2, 3), (1, 1), (4, 1), (0, 3), (3, 0)]


def traced(f, *shapes, dtype="float32"):
    return wf.function(f, input_signature=[wf.TensorSpec(shape, dtype) for shape in shapes])


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


RESHAPES = {
    "heads": (lambda x, b, n: [b, n, 2, 4], lambda b, n: (b, n, 2, 4)),
    "one follows": (lambda x, b, n: (b, -1, 2, 4), lambda b, n: (b, n, 2, 4)),
    "flat": (lambda x, b, n: [b * n * 8], lambda b, n: (b * n * 8,)),
    "product": (lambda x, b, n: [b * n, 8], lambda b, n: (b * n, 8)),
    "exchanged": (lambda x, b, n: [n, b, 8], lambda b, n: (n, b, 8)),
    "a number between": (lambda x, b, n: [b, 2, n, 4], lambda b, n: (b, 2, n, 4)),
    "numbers in front": (lambda x, b, n: [2, b, 2, n, 2], lambda b, n: (2, b, 2, n, 2)),
    "in int32": (lambda x, b, n: [wf.cast(b, "int32"), n, 8], lambda b, n: (b, n, 8)),
    "a tensor": (lambda x, b, n: wf.stack([n, b, wf.cast(8, "int64")]), lambda b, n: (n, b, 8)),
}


@pytest.mark.parametrize("name", RESHAPES)
def test_reshape(name):
    """As NumPy does with the sizes of the call; gradients go back to where they were."""
    sizes, want = RESHAPES[name]

    def f(x):
        y = wf.reshape(x, sizes(x, wf.size(x, 0), wf.size(x, 1)))
        return y, x.reshape(sizes(x, wf.size(x, 0), wf.size(x, 1)))

    def weighted(x):
        y = wf.reshape(f(x)[0], [-1])
        return wf.sum(y * y)

    function, gradient = traced(f, [None, None, 8]), traced(wf.grad(weighted), [None, None, 8])
    for b, n in SIZES:
        if b * n == 0 and name == "one follows":
            continue  # what follows of no elements is not defined, as in NumPy
        x = numbers(b, n, 8)
        for y in function(x):
            np.testing.assert_array_equal(y, x.reshape(want(b, n)))
        np.testing.assert_array_equal(gradient(x), 2 * x)
    assert function.trace_count() == 1


@pytest.mark.parametrize(
    "sizes", [lambda n: [n, 3], lambda n: [n + 1, n], lambda n: [n, -1, 5], lambda n: [-1, n, n + 1], lambda n: [n + 2**62, 4]]
)
def test_sizes_that_do_not_fit(sizes):
    """The program says so, where the number of elements is another, as at once."""
    f = traced(lambda x: wf.reshape(x, sizes(wf.size(x, 0))), [None, 4])
    with pytest.raises(wf.ShapeError, match=r"reshape: x of shape \(2, 4\) has 8 elements, which do not fill the shape"):
        f(numbers(2, 4))
    with pytest.raises(wf.ShapeError):
        wf.reshape(numbers(2, 4), sizes(2))


def test_what_does_not_follow_beside_nothing():
    """A size -1 beside one that is 0 is a ShapeError, as at once."""
    f = traced(lambda x: wf.reshape(x, [-1, wf.size(x, 1)]), [None, None])
    np.testing.assert_array_equal(f(numbers(2, 3)), numbers(2, 3))
    assert f(numbers(0, 3)).shape == (0, 3)
    with pytest.raises(wf.ShapeError, match="reshape: a size of -1 does not follow beside a size 0"):
        f(numbers(3, 0))
    named = traced(lambda x: wf.reshape(wf.reshape(x, -1), [wf.size(x, 1), 0]), [0, None])
    gradient = traced(wf.grad(lambda x: wf.sum(wf.reshape(wf.reshape(x, -1), [wf.size(x, 1), 0]))), [0, None])
    assert (named(numbers(0, 3)).shape, gradient(numbers(0, 3)).shape) == ((3, 0), (0, 3))
    # A size that is known to be 0 beside one that only the call knows.
    moved = traced(lambda x: wf.reshape(x[None, ..., None], [0, 1, wf.size(x, 1), 1]), [0, None])
    assert moved(numbers(0, 3)).shape == (0, 1, 3, 1)


def test_made_of_computed_sizes():
    """Zeros, ones, one value, random numbers, repeated and broadcast tensors."""

    def f(x):
        b, n = wf.size(x, 0), wf.size(x, 1)
        return {
            "zeros": wf.zeros([b, 2, n], "int32"),
            "ones": wf.ones((n, b)),
            "full": wf.full([3, b], 2.5),
            "whole": wf.zeros(wf.stack([n, b])),
            "scalar": wf.ones(n),
            "broadcast": wf.broadcast(wf.tensor([[1.0], [2.0]]), [2, n]),
            "broadcast_to": wf.broadcast_to(wf.arange(2), [b, n, 2]),
            "tile": wf.tile(x, [2, n]),
            "tile a row": wf.tile(wf.arange(3)[None], [b, 1]),
            "tile more": wf.tile(wf.arange(2), [n, b]),
            "tril": wf.tril(wf.ones([b, n]), 1),
            "triu": wf.triu(x),
            "uniform": wf.random.uniform([b, 3, n], 2.0, 3.0, seed=4),
            "normal": wf.random.normal([n, b], seed=4),
        }

    function = traced(f, [None, None])
    for b, n in SIZES:
        x = numbers(b, n)
        y = function(x)
        want = {
            "zeros": np.zeros([b, 2, n], np.int32),
            "ones": np.ones((n, b), np.float32),
            "full": np.full([3, b], np.float32(2.5)),
            "whole": np.zeros([n, b], np.float32),
            "scalar": np.ones(n, np.float32),
            "broadcast": np.broadcast_to(np.float32([[1.0], [2.0]]), [2, n]),
            "broadcast_to": np.broadcast_to(np.arange(2, dtype=np.int32), [b, n, 2]),
            "tile": np.tile(x, [2, n]),
            "tile a row": np.tile(np.arange(3, dtype=np.int32)[None], [b, 1]),
            "tile more": np.tile(np.arange(2, dtype=np.int32), [n, b]),
            "tril": np.tril(np.ones([b, n], np.float32), 1),
            "triu": np.triu(x),
            "uniform": wf.random.uniform([b, 3, n], 2.0, 3.0, seed=4),
            "normal": wf.random.normal([n, b], seed=4),
        }
        for name, value in want.items():
            value = np.asarray(value)
            assert (y[name].shape, y[name].dtype.name) == (value.shape, value.dtype.name), name
            np.testing.assert_array_equal(y[name], value, name)
    assert function.trace_count() == 1


def test_lines_of_computed_sizes():
    """Counting, identities and lines; slices by what a trace computes; all to the bits of eager calls."""

    def f(x):
        b, n = wf.size(x, 0), wf.size(x, 1)
        return made(x, b, n)

    def made(x, b, n):
        return {
            "arange": wf.arange(wf.cast(n, "int64")),
            "arange of more": wf.arange(n * 2 - b, dtype="float32"),
            "arange between": wf.arange(wf.cast(b, "int64"), b + n),
            "eye": wf.eye(n),
            "eye of integers": wf.eye(b, dtype="int64"),
            "linspace": wf.linspace(-1, 2.5, n),
            "linspace without its end": wf.linspace(0, 1, n, endpoint=False, dtype="float64"),
            "linspace of integers": wf.linspace(-3, 4, b, dtype="int32"),
            "first": x[:, : n - 1],
            "last": x[b - 1 :],
            "between": x[1:b, ::2],
            "backwards": x[b::-1],
            "slice": wf.slice(x, [0, n - 1 if isinstance(n, int) else wf.maximum(n - 1, 0)], [b, n], [1, 1]),
            "pad_interior": wf.pad_interior(x, 7.0, [b, 0], [0, n], [0, 1]),
        }

    function = traced(f, [None, None])
    for b, n in SIZES:
        if 0 in (b, n):
            continue  # negative numbers of elements, which eager calls refuse
        x = numbers(b, n)
        got, want = function(x), made(x=wf.tensor(x), b=b, n=n)
        for name, value in want.items():
            assert (got[name].shape, got[name].dtype) == (value.shape, value.dtype), name
            np.testing.assert_array_equal(got[name], value, name)
    assert function.trace_count() == 1


def test_gradients_go_through_computed_slices():
    def loss(x):
        n = wf.size(x, 0)
        y = wf.pad_interior(x[: n - 1], 1.0, [n], [1], [0])
        return wf.sum(y * wf.arange(wf.size(y), dtype="float32")) + wf.sum(wf.square(x[1:n:2]))

    gradient = traced(wf.grad(loss), [None])
    for n in (1, 2, 3, 6):
        x = numbers(n)
        np.testing.assert_array_equal(gradient(x), wf.grad(loss)(wf.tensor(x)))
    assert gradient.trace_count() == 1


def test_members_of_a_batch_have_one_shape():
    with pytest.raises(wf.StateError, match="vmap: the sizes of broadcast differ by member"):
        wf.function(wf.vmap(lambda n: wf.zeros([n])))(wf.tensor([1, 2]))
    rows = wf.function(wf.vmap(lambda x, n: wf.sum(wf.broadcast(x, [n, 3])), in_axes=(0, None)))
    np.testing.assert_array_equal(rows(numbers(4, 3), wf.tensor(2)), 2 * numbers(4, 3).sum(1))


def test_tile_as_numpy():
    """Of known sizes too, for as many times as there are."""
    for shape, reps in [((2, 3), 4), ((2, 3), (2, 1)), ((3,), (2, 2)), ((2, 1), (1, 5)), ((2, 3), (0, 2)), ((), 3)]:
        x = numbers(*shape)
        np.testing.assert_array_equal(wf.tile(x, reps), np.tile(x, reps))
    assert wf.tile(wf.ones([3]), 100_000).shape == (300_000,)


def test_what_sizes_are_not():
    """Typed errors that say what is wanted."""
    for sizes, error, text in [
        (lambda x: [None, 4], wf.DTypeError, r"the size None, which the trace does not know: wf.size\(x, axis\)"),
        (lambda x: [x[0, 0], 4], wf.DTypeError, "a size of dtype float32: integers are wanted"),
        (lambda x: [wf.cast(x[0], "int32"), 4], wf.ShapeError, r"a size of shape \(4,\): scalars are wanted"),
        (lambda x: wf.cast(x[:, 0], "int32"), wf.ShapeError, "how many sizes there are must be known"),
        (lambda x: [wf.size(x, 0), -1, -1], wf.ShapeError, "only one size may be -1 beside"),
    ]:
        with pytest.raises(error, match=text):
            traced(lambda x, sizes=sizes: wf.reshape(x, sizes(x)), [None, 4])(numbers(2, 4))
    f = traced(lambda x: wf.zeros([wf.size(x, 0) - 3]), [None])
    with pytest.raises(wf.ShapeError):
        f(numbers(2))


def test_split_heads_of_tensorflow():
    """Attention as its users write it, for any batch and length."""

    def split_heads(x, heads, depth):
        batch = tf.shape(x)[0]
        return tf.transpose(tf.reshape(x, (batch, -1, heads, depth)), perm=[0, 2, 1, 3])

    @tf.function(input_signature=[tf.TensorSpec([None, None, 8], tf.float32)])
    def attend(x):
        q = split_heads(x, 2, 4)
        length = tf.shape(x)[1]
        mask = 1 - tf.linalg.band_part(tf.ones((length, length)), -1, 0)
        logits = tf.matmul(q, q, transpose_b=True) / 2.0 + mask * -1e9
        out = tf.transpose(tf.matmul(tf.nn.softmax(logits, axis=-1), q), perm=[0, 2, 1, 3])
        return tf.reshape(out, (tf.shape(x)[0], -1, 8)) + tf.zeros(tf.shape(x))

    for b, n in [(2, 3), (1, 5), (3, 1)]:
        x = np.sin(numbers(b, n, 8))
        q = x.reshape(b, n, 2, 4).transpose(0, 2, 1, 3).astype(np.float64)
        logits = q @ q.swapaxes(-1, -2) / 2 + np.triu(np.ones((n, n)), 1) * -1e9
        weights = np.exp(logits - logits.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        want = (weights @ q).transpose(0, 2, 1, 3).reshape(b, n, 8)
        np.testing.assert_allclose(attend(x), want, rtol=1e-5, atol=1e-6)
    assert attend.experimental_get_tracing_count() == 1


def test_sizes_of_other_tensors():
    """A batch that is that of another tensor; axes that are folded together are taken apart by it."""
    spec = [tf.TensorSpec([None, None, 8]), tf.TensorSpec([None, 2])]
    keep = tf.function(lambda x, y: tf.reshape(x, [tf.shape(y)[0], -1, 2, 4]), input_signature=spec)
    x, y = numbers(2, 3, 8), numbers(2, 2)
    np.testing.assert_array_equal(keep(x, y), x.reshape(2, 3, 2, 4))
    np.testing.assert_array_equal(keep(x, numbers(3, 2)), x.reshape(3, 2, 2, 4))
    with pytest.raises(wf.ShapeError, match="do not fill"):
        keep(x, numbers(5, 2))
    apart = tf.function(lambda x, y: tf.reshape(x, [tf.shape(y)[0], 2, tf.shape(x)[1], 8]), input_signature=spec)
    for b, n in [(1, 3), (3, 1), (2, 5)]:
        x = numbers(2 * b, n, 8)
        np.testing.assert_array_equal(apart(x, numbers(b, 2)), x.reshape(b, 2, n, 8))


def test_slices_of_tensorflow():
    """So do those of weft.tf, whose exporters write the largest number for the end."""
    f = tf.function(lambda x: (x[:5], x[tf.newaxis, 1:100, ::2], x[tf.shape(x)[0] - 1 :]), input_signature=[tf.TensorSpec([None, None])])
    for shape in ((7, 3), (2, 5), (0, 4), (3, 0)):
        x = np.arange(np.prod(shape), dtype="f4").reshape(shape)
        for got, want in zip(f(x), (x[:5], x[None, 1:100, ::2], x[len(x) - 1 :]), strict=True):
            np.testing.assert_array_equal(got, want)
    assert f.experimental_get_tracing_count() == 1


def test_sizes_that_are_known_stay_known():
    wf.set_printoptions(style="tf")  # where shapes have None
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([None, 3, 4])])
    def f(x):
        sizes = tf.shape(x)
        shapes.extend([tuple(tf.reshape(x, [-1, sizes[1], 2, 2]).shape), tuple(tf.zeros(sizes).shape), tuple(tf.ones([sizes[-1]]).shape)])
        return sizes

    assert f(numbers(2, 3, 4)).numpy().tolist() == [2, 3, 4]
    assert shapes == [(None, 3, 2, 2), (None, 3, 4), (4,)]


def test_compiling_stays_cheap():
    """Heads that are split by computed sizes cost what those of -1 do: gradients have no scatter."""
    ops = []
    for sizes in (lambda x: [tf.shape(x)[0], -1, 2, 4], lambda x: [tf.shape(x)[0], tf.shape(x)[1], 2, 4]):
        f = wf.function(wf.grad(lambda x, s=sizes: wf.sum(wf.square(wf.reshape(x, s(x))))), input_signature=[wf.TensorSpec([None, None, 8])])
        x = numbers(2, 3, 8)
        np.testing.assert_array_equal(f(x), 2 * x)
        ops.append(f.ir(x, phase="trace"))
    assert all("gather" not in text and "scatter" not in text for text in ops)
