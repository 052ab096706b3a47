"""Ops under TensorFlow's names against NumPy."""

import numpy as np
import pytest

from weft import tf

A = np.array([[1.5, -2.0, 0.5], [3.0, 4.0, -1.0]], np.float32)
N = np.array([[3, 1, 2], [9, 7, 8]], np.int32)


def close(x, expected):
    np.testing.assert_allclose(np.asarray(x), expected, rtol=1e-5, atol=1e-6)


CASES = {
    "stack": (lambda: tf.stack([A, A + 1], axis=1), lambda: np.stack([A, A + 1], 1)),
    "stack at the end": (lambda: tf.stack([A, A + 1], axis=-1), lambda: np.stack([A, A + 1], -1)),
    "concat": (lambda: tf.concat([A, A], 1), lambda: np.concatenate([A, A], 1)),
    "expand_dims": (lambda: tf.expand_dims(A, -1), lambda: A[..., None]),
    "squeeze": (lambda: tf.squeeze(A[None]), lambda: A),
    "tile": (lambda: tf.tile(A, [2, 3]), lambda: np.tile(A, [2, 3])),
    "repeat": (lambda: tf.repeat(A, 2, axis=1), lambda: np.repeat(A, 2, 1)),
    "repeat of all": (lambda: tf.repeat([1, 2], 3), lambda: np.repeat([1, 2], 3)),
    "pad": (lambda: tf.pad(A, [[1, 0], [0, 2]], constant_values=9), lambda: np.pad(A, [[1, 0], [0, 2]], constant_values=9)),
    "slice": (lambda: tf.slice(A, [0, 1], [-1, 2]), lambda: A[:, 1:3]),
    "gather": (lambda: tf.gather(A, [2, 0], axis=1), lambda: A[:, [2, 0]]),
    "where": (lambda: tf.where(A > 0, A, 0.0), lambda: np.where(A > 0, A, 0)),
    "one_hot": (lambda: tf.one_hot([0, 2], 3), lambda: np.eye(3)[[0, 2]]),
    "one_hot in front": (lambda: tf.one_hot([0, 2], 3, axis=0), lambda: np.eye(3)[[0, 2]].T),
    "sort": (lambda: tf.sort(N, direction="DESCENDING"), lambda: -np.sort(-N)),
    "argsort": (lambda: tf.argsort(N), lambda: np.argsort(N)),
    "argmax": (lambda: tf.argmax(N), lambda: np.argmax(N, 0)),
    "argmin": (lambda: tf.argmin(N, axis=1), lambda: np.argmin(N, 1)),
    "cumsum": (lambda: tf.cumsum(A, axis=1), lambda: np.cumsum(A, 1)),
    "cumsum exclusive": (lambda: tf.cumsum([1, 2, 3], exclusive=True, reverse=True), lambda: [5, 3, 0]),
    "range": (lambda: tf.range(3, 18, 3), lambda: np.arange(3, 18, 3)),
    "range of tensors": (lambda: tf.range(tf.constant(3), delta=tf.constant(2)), lambda: [0, 2]),
    "eye": (lambda: tf.eye(2, 3), lambda: np.eye(2, 3)),
    "eye in a batch": (lambda: tf.eye(2, batch_shape=[2]), lambda: np.stack([np.eye(2)] * 2)),
    "shape": (lambda: tf.shape(A), lambda: [2, 3]),
    "size": (lambda: tf.size(A), lambda: 6),
    "rank": (lambda: tf.rank(A), lambda: 2),
    "fill": (lambda: tf.fill([2, 2], 7), lambda: np.full([2, 2], 7)),
    "divide_no_nan": (lambda: tf.math.divide_no_nan([1.0, 2.0], [0.0, 4.0]), lambda: [0, 0.5]),
    "floordiv": (lambda: tf.math.floordiv([-7, 7], 2), lambda: [-4, 3]),
    "floormod": (lambda: tf.math.floormod([-7, 7], 3), lambda: [2, 1]),
    "add_n": (lambda: tf.add_n([A, A, A]), lambda: 3 * A),
    "round": (lambda: tf.round([0.5, 1.5, 2.5, -0.5, -1.5, 2.4]), lambda: np.round([0.5, 1.5, 2.5, -0.5, -1.5, 2.4])),
    "reciprocal": (lambda: tf.math.reciprocal(A), lambda: 1 / A),
    "squared_difference": (lambda: tf.math.squared_difference(A, 1.0), lambda: (A - 1) ** 2),
    "is_nan": (lambda: tf.math.is_nan([1.0, np.nan]), lambda: [False, True]),
    "clip_by_value": (lambda: tf.clip_by_value(A, -1, 1), lambda: np.clip(A, -1, 1)),
    "clip_by_norm": (lambda: tf.clip_by_norm(A, 2.0), lambda: A * 2 / np.linalg.norm(A)),
    "clip_by_norm of little": (lambda: tf.clip_by_norm([0.1, 0.1], 2.0), lambda: [0.1, 0.1]),
    "clip_by_norm of nothing": (lambda: tf.clip_by_norm([0.0, 0.0], 2.0), lambda: [0, 0]),
    "global_norm": (lambda: tf.linalg.global_norm([[3.0], None, [4.0]]), lambda: 5),
    "norm": (lambda: tf.norm(A, axis=1), lambda: np.linalg.norm(A, axis=1)),
    "norm of order 1": (lambda: tf.norm(A, 1), lambda: np.abs(A).sum()),
    "norm of order inf": (lambda: tf.norm(A, np.inf, axis=0), lambda: np.abs(A).max(0)),
    "matmul": (lambda: tf.matmul(A, A, transpose_b=True), lambda: A @ A.T),
    "matvec": (lambda: tf.linalg.matvec(A, [1.0, 2.0, 3.0]), lambda: A @ [1, 2, 3]),
    "tensordot": (lambda: tf.tensordot(A, A, [[0], [0]]), lambda: np.tensordot(A, A, [[0], [0]])),
    "tensordot of axes": (lambda: tf.tensordot(A, A.T, 1), lambda: np.tensordot(A, A.T, 1)),
    "reduce_mean": (lambda: tf.reduce_mean(A, axis=[0, 1], keepdims=True), lambda: A.mean(keepdims=True)),
    "reduce_logsumexp": (lambda: tf.reduce_logsumexp(100 * A, 1), lambda: np.log(np.exp(100 * A.astype(np.float64)).sum(1))),
    "reduce_variance": (lambda: tf.math.reduce_variance(A, 0), lambda: A.var(0)),
    "reduce_std": (lambda: tf.math.reduce_std(A), lambda: A.std()),
    "count_nonzero": (lambda: tf.math.count_nonzero([[0, 1], [2, 3]], axis=0), lambda: [1, 2]),
    "softmax": (lambda: tf.nn.softmax(A), lambda: np.exp(A) / np.exp(A).sum(1, keepdims=True)),
    "log_softmax": (lambda: tf.nn.log_softmax(A, 0), lambda: A - np.log(np.exp(A).sum(0))),
    "moments": (lambda: tf.stack(tf.nn.moments(tf.constant(A), [0])), lambda: np.stack([A.mean(0), A.var(0)])),
    "add": (lambda: tf.add(x=A, y=1, name="sum"), lambda: A + 1),
    "asin": (lambda: tf.asin(A / 5), lambda: np.arcsin(A / 5)),
    "acos": (lambda: tf.math.acos(A / 5), lambda: np.arccos(A / 5)),
    "atan": (lambda: tf.atan(A), lambda: np.arctan(A)),
    "atan2": (lambda: tf.math.atan2(A, -1.0), lambda: np.arctan2(A, -1.0)),
    "asinh": (lambda: tf.asinh(A), lambda: np.arcsinh(A)),
    "acosh": (lambda: tf.acosh(A + 4), lambda: np.arccosh(A + 4)),
    "sinh": (lambda: tf.sinh(A), lambda: np.sinh(A)),
    "norm of a matrix": (lambda: tf.norm(A, 1, axis=[0, 1]), lambda: np.linalg.norm(A, 1)),
    "norm of all": (lambda: tf.norm(A, 3, keepdims=True), lambda: (np.abs(A) ** 3).sum(keepdims=True) ** (1 / 3)),
    "reduce_max of nothing": (lambda: tf.reduce_max(A[:0], 0), lambda: [-np.inf] * 3),
}


@pytest.mark.parametrize("case", CASES)
def test_as_numpy_has_it(case):
    call, expected = CASES[case]
    close(call(), expected())


def test_parts():
    close(tf.split(A, 3, axis=1)[1], A[:, 1:2])
    first, second = tf.split(A, [1, -1], axis=1)
    close(first, A[:, :1])
    close(second, A[:, 1:])
    with pytest.raises(ValueError, match="not 2 equal parts"):
        tf.split(A, 2, axis=1)
    a, b = tf.unstack(A)
    close(b, A[1])
    values, indices = tf.math.top_k([1.0, 3.0, 2.0], k=2)
    close(values, [3, 2])
    assert indices.dtype == tf.int32 and indices.numpy().tolist() == [1, 2]


def test_a_range_that_a_tensor_ends():
    @tf.function
    def f(n):
        return tf.range(n), tf.range(1, n, 2)

    for n in (0, 1, 5):
        whole, odd = f(tf.constant(n))
        assert whole.numpy().tolist() == list(range(n)) and odd.numpy().tolist() == list(range(1, n, 2))
        assert whole.dtype == tf.int32


def test_random():
    x = tf.random.uniform([1000], 2, 5, dtype=tf.int32, seed=1)
    assert x.dtype == tf.int32 and set(x.numpy()) == {2, 3, 4}
    y = tf.random.normal([20000], mean=3.0, stddev=2.0, seed=2).numpy()
    assert abs(y.mean() - 3) < 0.1 and abs(y.std() - 2) < 0.1
    tf.random.set_seed(5)
    first = tf.random.shuffle(tf.range(10)).numpy()
    tf.random.set_seed(5)
    assert (tf.random.shuffle(tf.range(10)).numpy() == first).all() and sorted(first) == list(range(10))


def test_checks():
    tf.debugging.assert_equal(tf.ones([2, 3]).shape, (2, 3))
    tf.debugging.assert_less([1, 2], 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="the sizes. Condition x == y did not hold element-wise"):
        tf.debugging.assert_equal([1, 2], [1, 3], message="the sizes")
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_equal([1, 2], [1, 2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="to be true. data = 3"):
        tf.debugging.Assert(False, [3])

    @tf.function
    def f(x):
        tf.debugging.assert_positive(x, message="x is a size")
        return x + 1

    assert f(tf.constant([1, 2])).numpy().tolist() == [2, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="x is a size. Condition x > y did not hold"):
        f(tf.constant([1, 0]))


def test_loops_as_functions():
    i, total = tf.while_loop(cond=lambda i, s: i < 5, body=lambda i, s: (i + 1, s + i), loop_vars=(tf.constant(0), tf.constant(0)))
    assert int(i) == 5 and int(total) == 10

    @tf.function
    def f(n):
        return tf.while_loop(lambda i: i < n, lambda i: [i + 1], [tf.constant(0)], maximum_iterations=3)

    assert int(f(tf.constant(2))[0]) == 2 and int(f(tf.constant(9))[0]) == 3
    assert int(tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2))) == 1
    assert int(tf.switch_case(tf.constant(7), [lambda: 1, lambda: 2], default=lambda: 3)) == 3


def test_structures():
    nested = {"b": [tf.constant(1), tf.constant(2)], "a": (tf.constant(3),)}
    assert [int(x) for x in tf.nest.flatten(nested)] == [3, 1, 2]
    doubled = tf.nest.map_structure(lambda x: int(x * 2), nested)
    assert doubled == {"b": [2, 4], "a": (6,)}


def test_unconnected_gradients():
    x, y = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        z = x * 2
    assert tape.gradient(z, [x, y])[1] is None
    zero = tape.gradient(z, y, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert float(zero) == 0.0
