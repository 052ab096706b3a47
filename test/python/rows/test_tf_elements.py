"""Ops that pick, place and move elements, and those that take functions: what TensorFlow 2.21 gives for the same calls."""

import numpy as np
import pytest

from weft import tf

A = [[1, 2], [3, 4]]
X = [1.0, 2.0, 3.0]

GIVEN = [
    (lambda: tf.zeros(tf.constant([2, 1])), [[0.0], [0.0]], tf.float32),
    (lambda: tf.reshape([1, 2], tf.constant([2, 1])), [[1], [2]], tf.int32),
    (lambda: tf.linspace([0.0, 1.0], [1.0, 2.0], 3), [[0.0, 1.0], [0.5, 1.5], [1.0, 2.0]], tf.float32),
    (lambda: tf.linspace(tf.constant(0.0, tf.float64), 1.0, 3), [0.0, 0.5, 1.0], tf.float64),
    (lambda: tf.tile([1, 2], [0]), [], tf.int32),
    (lambda: tf.tile([[1, 2]], tf.constant([2, 1])), [[1, 2], [1, 2]], tf.int32),
    (lambda: tf.repeat([1, 2], repeats=[1, 3]), [1, 2, 2, 2], tf.int32),
    (lambda: tf.repeat(A, repeats=[1, 2], axis=1), [[1, 2, 2], [3, 4, 4]], tf.int32),
    (lambda: tf.roll([[1, 2, 3], [4, 5, 6]], shift=[1, 1], axis=[0, 1]), [[6, 4, 5], [3, 1, 2]], tf.int32),
    (lambda: tf.pad([1, 2, 3], [[2, 1]], "REFLECT"), [3, 2, 1, 2, 3, 2], tf.int32),
    (lambda: tf.pad([1, 2, 3], [[2, 1]], "SYMMETRIC"), [2, 1, 1, 2, 3, 3], tf.int32),
    (lambda: tf.gather(A, [1, 0], batch_dims=1), [2, 3], tf.int32),
    (lambda: tf.gather(A, [[1, 0], [0, 0]], axis=1, batch_dims=1), [[2, 1], [3, 3]], tf.int32),
    (lambda: tf.gather_nd(A, [[0, 1], [1, 0]]), [2, 3], tf.int32),
    (lambda: tf.gather_nd(A, [[1]]), [[3, 4]], tf.int32),
    (lambda: tf.tensor_scatter_nd_add([1, 2, 3], [[0], [2]], [10, 20]), [11, 2, 23], tf.int32),
    (lambda: tf.tensor_scatter_nd_sub([1, 2, 3], [[0], [2]], [10, 20]), [-9, 2, -17], tf.int32),
    (lambda: tf.tensor_scatter_nd_update(A, [[0, 1]], [9]), [[1, 9], [3, 4]], tf.int32),
    (lambda: tf.tensor_scatter_nd_update(A, [[1]], [[8, 9]]), [[1, 2], [8, 9]], tf.int32),
    (lambda: tf.scatter_nd([[1], [1]], [9, 10], [3]), [0, 19, 0], tf.int32),
    (lambda: tf.where([[True, False], [False, True]]), [[0, 0], [1, 1]], tf.int64),
    (lambda: tf.boolean_mask(A, [[True, False], [False, True]]), [1, 4], tf.int32),
    (lambda: tf.boolean_mask(A, [False, True]), [[3, 4]], tf.int32),
    (lambda: tf.boolean_mask(A, [False, True], axis=1), [[2], [4]], tf.int32),
    (lambda: tf.function(lambda x: tf.boolean_mask(x, x > 2))(tf.constant(A)), [3, 4], tf.int32),
    (lambda: tf.function(lambda x: tf.where(x > 2))(tf.constant(A)), [[1, 0], [1, 1]], tf.int64),
    (lambda: tf.function(lambda x: tf.unique(x)[0])(tf.constant([3, 1, 3])), [3, 1], tf.int32),
    (lambda: tf.function(lambda x: tf.unique_with_counts(x)[2])(tf.constant([3, 1, 3])), [2, 1], tf.int32),
    (lambda: tf.one_hot([0, 1], 2, on_value=5, off_value=-1), [[5, -1], [-1, 5]], tf.int32),
    (lambda: tf.one_hot([1], 2, True, False), [[False, True]], tf.bool),
    (lambda: tf.one_hot([0, -1, 7], 3), [[1.0, 0.0, 0.0], [0.0] * 3, [0.0] * 3], tf.float32),
    (lambda: tf.unique([1, 2, 1, 3]).idx, [0, 1, 0, 2], tf.int32),
    (lambda: tf.unique_with_counts([3, 2, 3]).count, [2, 1], tf.int32),
    (lambda: tf.math.bincount([1, 1, 2]), [0, 2, 1], tf.int32),
    (lambda: tf.searchsorted(X, [1.5, 3.0]), [1, 2], tf.int32),
    (lambda: tf.meshgrid([1, 2], [3, 4, 5])[0], [[1, 2], [1, 2], [1, 2]], tf.int32),
    (lambda: tf.meshgrid([1, 2], [3, 4, 5], indexing="ij")[1], [[3, 4, 5], [3, 4, 5]], tf.int32),
    (lambda: tf.sequence_mask([1, 2], maxlen=3, dtype=tf.float32), [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]], tf.float32),
    (lambda: tf.math.unsorted_segment_sum(X, [1, 0, 1], 3), [2.0, 4.0, 0.0], tf.float32),
    (lambda: tf.math.unsorted_segment_mean(X, [1, 0, 1], 3), [2.0, 2.0, 0.0], tf.float32),
    (lambda: tf.math.segment_sum([1, 2, 3], [0, 0, 1]), [3, 3], tf.int32),
    (lambda: tf.linalg.diag([1, 2]), [[1, 0], [0, 2]], tf.int32),
    (lambda: tf.linalg.diag_part([[1, 2, 3], [4, 5, 6]]), [1, 5], tf.int32),
    (lambda: tf.linalg.band_part(tf.ones([3, 3]), 0, 1), [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]], tf.float32),
    (lambda: tf.linalg.trace(A), 5, tf.int32),
    (lambda: tf.matmul(tf.constant([[1 + 2j]]), tf.constant([[1j]]), adjoint_a=True), [[2 + 1j]], tf.complex64),
    (lambda: tf.linalg.matrix_transpose(tf.constant([[1 + 2j]]), conjugate=True), [[1 - 2j]], tf.complex64),
    (lambda: tf.einsum("ij,jk->ik", A, A), [[7, 10], [15, 22]], tf.int32),
    (lambda: tf.einsum("ij->ji", A), [[1, 3], [2, 4]], tf.int32),
    (lambda: tf.einsum("ij->", A), 10, tf.int32),
    (lambda: tf.einsum("ii->i", A), [1, 4], tf.int32),
    (lambda: tf.einsum("i,j", [1, 2], [3, 4]), [[3, 4], [6, 8]], tf.int32),
    (lambda: tf.einsum("i,ij,j->", [1, 2], A, [3, 4]), 61, tf.int32),
    (lambda: tf.map_fn(lambda x: x * x, tf.range(4.0)), [0.0, 1.0, 4.0, 9.0], tf.float32),
    (lambda: tf.vectorized_map(lambda x: x * 2, tf.constant([1, 2])), [2, 4], tf.int32),
    (lambda: tf.foldl(lambda a, x: a + x, tf.constant([1, 2, 3])), 6, tf.int32),
    (lambda: tf.foldr(lambda a, x: a - x, tf.constant([1, 2, 3])), 0, tf.int32),
    (lambda: tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3])), [1, 3, 6], tf.int32),
    (lambda: tf.scan(lambda a, x: a + x, tf.constant([1, 2, 3]), initializer=10), [11, 13, 16], tf.int32),
    (lambda: tf.case([(tf.constant(False), lambda: tf.constant(1))], default=lambda: tf.constant(9)), 9, tf.int32),
    (lambda: tf.switch_case(tf.constant(1), {0: lambda: tf.constant(10), 1: lambda: tf.constant(20)}), 20, tf.int32),
    (lambda: tf.round([0.5, 1.5, -0.5]), [0.0, 2.0, -0.0], tf.float32),
    (lambda: tf.sinh([0.5, 1e-6]), [0.5210953, 1e-6], tf.float32),
    (lambda: tf.atanh(0.5), 0.54930615, tf.float32),
    (lambda: tf.math.xlogy(0.0, 0.0), 0.0, tf.float32),
    (lambda: tf.math.multiply_no_nan(float("nan"), 0.0), 0.0, tf.float32),
    (lambda: tf.truncatediv(-7, 2), -3, tf.int32),
    (lambda: tf.math.polyval([2, 1, 0], 3), 21, tf.int32),
    (lambda: tf.math.l2_normalize([3.0, 4.0]), [0.6, 0.8], tf.float32),
    (lambda: tf.math.confusion_matrix([0, 1, 1], [0, 1, 0], num_classes=3), [[1, 0, 0], [1, 1, 0], [0, 0, 0]], tf.int32),
    (lambda: tf.math.is_finite([1.0, float("inf"), float("nan")]), [True, False, False], tf.bool),
    (lambda: tf.math.reduce_euclidean_norm(X[1:]), 13**0.5, tf.float32),
    (lambda: tf.nn.silu([1.0], beta=2.0), [0.8807971], tf.float32),
    (lambda: tf.nn.crelu([-1.0, 8.0]), [0.0, 8.0, 1.0, 0.0], tf.float32),
    (lambda: tf.nn.sigmoid_cross_entropy_with_logits([1.0, 0.0], [0.5, -0.5]), [0.474077, 0.474077], tf.float32),
    (lambda: tf.nn.weighted_cross_entropy_with_logits([1.0, 0.0], [0.5, -0.5], 2.0), [0.948154, 0.474077], tf.float32),
    (lambda: tf.nn.conv2d(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), [1, 2, 2, 1], "SAME"), [[[[4.0]]]], tf.float32),
    (lambda: tf.nn.max_pool2d(tf.reshape(tf.range(4.0), [1, 2, 2, 1]), [1, 2, 2, 1], 2, "SAME"), [[[[3.0]]]], tf.float32),
    (lambda: tf.nn.space_to_depth(tf.reshape(tf.range(4), [1, 2, 2, 1]), 2), [[[[0, 1, 2, 3]]]], tf.int32),
    (lambda: tf.image.flip_left_right(tf.reshape(tf.range(4), [2, 2, 1]))[..., 0], [[1, 0], [3, 2]], tf.int32),
    (lambda: tf.image.resize(tf.reshape(tf.range(4.0), [2, 2, 1]), [1, 1]), [[[1.5]]], tf.float32),
    (lambda: tf.convert_to_tensor(3, dtype_hint=tf.float32), 3.0, tf.float32),
]


@pytest.mark.parametrize("call, expected, dtype", GIVEN)
def test_what_tensorflow_gives(call, expected, dtype):
    result = call()
    assert result.dtype == dtype
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-5, atol=1e-9)
    assert result.shape == np.shape(expected)
    assert dtype != tf.float32 or np.signbit(result.numpy()).tolist() == np.signbit(expected).tolist()


REFUSED = [
    (lambda: tf.constant(1.7, tf.int32), TypeError, r"1\.7 is not converted to tf\.int32"),
    (lambda: tf.constant([1, [2.5]], "int64"), TypeError, "is not converted"),
    (lambda: tf.convert_to_tensor(tf.constant(3), tf.float32), ValueError, "requested dtype float32 for Tensor with dtype int32"),
    (lambda: tf.pad([1, 2], [[2, 0]], "REFLECT"), ValueError, "too many for REFLECT of 2 elements"),
    (lambda: tf.where([True], x=1), ValueError, "both be given"),
    (lambda: tf.function(tf.math.bincount)(tf.constant([1])), ValueError, "depends on values"),
    (lambda: tf.function(lambda x: tf.slice(x, [x[0]], [1]))(tf.constant([1])), TypeError, r"write x\.shape\[i\]"),
    (lambda: tf.boolean_mask([1, 2], [True]), ValueError, r"shape \(1,\) does not fit"),
    (lambda: tf.repeat([1, 2, 3], [1, 2]), ValueError, "2 repeats for an axis of size 3"),
    (lambda: tf.einsum("ij,jk->ik", tf.ones([2, 3]), tf.ones([2, 3])), ValueError, "the axis 'j' is of size 3 and of 2"),
    (lambda: tf.einsum("ij->k", tf.ones([2, 3])), ValueError, "other axes"),
    (lambda: tf.ensure_shape(tf.zeros([2, 3]), [2, 2]), ValueError, r"\(2, 3\) is not compatible with \(2, 2\)"),
    (lambda: tf.broadcast_static_shape([2], [3]), ValueError, "do not broadcast"),
    (lambda: tf.nest.assert_same_structure([1], [1, 2]), ValueError, "not the same"),
    (lambda: tf.nest.pack_sequence_as([1, (2,)], [5]), ValueError, "2 leaves, and there are 1"),
    (lambda: tf.debugging.assert_rank([1], 2), ValueError, "must have rank 2. Received rank 1"),
    (lambda: tf.debugging.assert_scalar([1]), ValueError, r"saw shape: \(1,\)"),
    (lambda: tf.debugging.assert_type(tf.constant(1), tf.float32), TypeError, "must be of type tf.float32; got tf.int32"),
    (lambda: tf.debugging.assert_integer(1.0), TypeError, "integer type"),
    (lambda: tf.debugging.assert_shapes([(tf.zeros([2, 3]), ("N", "N"))]), ValueError, "dimension 1 must have size 2"),
    (lambda: tf.debugging.assert_near(1.0, 2.0), tf.errors.InvalidArgumentError, "not equal to tolerance"),
    (lambda: tf.debugging.assert_negative([1]), tf.errors.InvalidArgumentError, "Condition x < y did not hold"),
    (lambda: tf.debugging.check_numerics([float("nan")], "here"), tf.errors.InvalidArgumentError, "here : Tensor had NaN values"),
    (lambda: tf.TensorShape([-1]), ValueError, "Dimension -1 must be >= 0"),
    (lambda: tf.TensorShape("a"), TypeError, "'a' is no size"),
    (lambda: tf.TensorShape([2, 3]).assert_has_rank(3), ValueError, r"Shape \(2, 3\) must have rank 3"),
    (lambda: tf.string, AttributeError, "there are no tensors of text"),
    (lambda: tf.strings.join, NotImplementedError, "use Python's str"),
    (lambda: tf.variant, AttributeError, "the dtypes are bool, int8 to int64, uint8 to uint64, float16, bfloat16, float32, float64, complex64, complex128, float8_e4m3fn and float8_e5m2"),
]


@pytest.mark.parametrize("call, kind, text", REFUSED)
def test_what_tensorflow_refuses(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_checks_that_hold():
    tf.debugging.assert_near(1.0, 1.0000001)
    tf.debugging.assert_rank_in([1], [0, 1])
    tf.debugging.assert_rank_at_least([[1]], 1)
    tf.debugging.assert_shapes([(tf.zeros([2, 3]), ("N", 3)), (tf.zeros([2]), ("N",))])
    assert float(tf.function(lambda x: tf.debugging.check_numerics(x, "m"))(tf.constant(1.0))) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="m : Tensor had NaN or Inf"):
        tf.function(lambda x: tf.debugging.check_numerics(x, "m"))(tf.constant(float("inf")))


def test_gradients_of_picked_elements():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape(persistent=True) as tape:
        masked = tf.reduce_sum(tf.boolean_mask(v, [True, False, True]) ** 2)
        updated = tf.reduce_sum(tf.tensor_scatter_nd_update(v, [[1]], [5.0]) ** 2)
        product = tf.einsum("i,i->", v, v)
        passed = tf.grad_pass_through(tf.round)(v[0] * 1.4)
    assert tape.gradient(masked, v).numpy().tolist() == [2.0, 0.0, 6.0]
    assert tape.gradient(updated, v).numpy().tolist() == [2.0, 0.0, 6.0]
    assert tape.gradient(product, v).numpy().tolist() == [2.0, 4.0, 6.0]
    assert float(passed) == 1.0 and tape.gradient(passed, v).numpy().tolist() == [np.float32(1.4), 0.0, 0.0]


def test_random_streams():
    a, b = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    assert a.normal([2]).numpy().tolist() == b.normal([2]).numpy().tolist()
    assert tf.random.Generator.from_non_deterministic_state().uniform([3]).shape == (3,)
    assert tf.random.get_global_generator() is tf.random.get_global_generator()
    first, second = (tf.random.stateless_uniform([4], seed=[1, 2]).numpy().tolist() for _ in range(2))
    assert first == second != tf.random.stateless_uniform([4], seed=[2, 1]).numpy().tolist()
    drawn = tf.random.categorical([[0.0, -100.0], [-100.0, 0.0]], 5)
    assert drawn.dtype == tf.int64 and drawn.numpy().tolist() == [[0] * 5, [1] * 5]
    counts = np.bincount(tf.random.categorical(tf.math.log([[0.75, 0.25]]), 4000, seed=1).numpy()[0])
    assert abs(counts[0] / 4000 - 0.75) < 0.03
    kept = tf.nn.dropout(tf.ones([10000]), 0.25, seed=3).numpy()
    assert set(kept.tolist()) == {0.0, np.float32(1 / 0.75)} and abs((kept > 0).mean() - 0.75) < 0.02


def test_the_last_of_updates_of_one_element_stands():
    for run in (lambda f, *args: f(*args), lambda f, *args: tf.function(f)(*map(tf.constant, args))):
        update = tf.tensor_scatter_nd_update
        assert run(update, [0.0, 1.0, 2.0], [[1], [1]], [5.0, 7.0]).numpy().tolist() == [0.0, 7.0, 2.0]
        assert run(update, [0, 1, 2], [[2], [0], [2], [2]], [5, 6, 7, 8]).numpy().tolist() == [6, 1, 8]
        assert run(update, [1.0, 2.0], [[0], [0]], [float("nan"), 3.0]).numpy().tolist() == [3.0, 2.0]
        rows = run(update, np.zeros((3, 2), np.float32), [[2], [0], [2]], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        assert rows.numpy().tolist() == [[3.0, 4.0], [0.0, 0.0], [5.0, 6.0]]
        assert run(update, [True, True, False], [[0], [0], [2]], [True, False, True]).numpy().tolist() == [False, True, True]
        assert run(update, [1.0], np.zeros((0, 1), np.int32), np.zeros(0, np.float32)).numpy().tolist() == [1.0]
    random = np.random.default_rng(0)
    for _ in range(20):
        x, n = random.normal(size=(3, 4)).astype(np.float32), random.integers(0, 12)
        at = np.stack([random.integers(0, 3, n), random.integers(0, 4, n)], 1).astype(np.int32)
        new = random.normal(size=n).astype(np.float32)
        expected = x.copy()
        for (i, j), value in zip(at, new, strict=True):
            expected[i, j] = value
        assert (tf.tensor_scatter_nd_update(x, at, new).numpy() == expected).all()
    v = tf.Variable([1.0, 2.0])
    v.scatter_nd_update([[0], [0]], [5.0, 7.0])
    assert v.numpy().tolist() == [7.0, 2.0]
    x, new = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.tensor_scatter_nd_update(x, [[0], [0]], new) * [10.0, 100.0])
    assert [g.numpy().tolist() for g in tape.gradient(y, [x, new])] == [[0.0, 100.0], [0.0, 10.0]]


def test_indices_into_several_axes_are_in_range_of_each():
    x = tf.zeros([2, 3])
    for f in (
        lambda at: tf.gather_nd(x, at), lambda at: tf.tensor_scatter_nd_update(x, at, [1.0]),
        lambda at: tf.tensor_scatter_nd_add(x, at, [1.0]), lambda at: tf.scatter_nd(at, [1.0], [2, 3]),
    ):  # fmt: skip
        for run in (f, tf.function(f)):
            for at, wrong in (([[0, 5]], "5"), ([[0, -1]], "-1"), ([[2, 0]], "2")):
                with pytest.raises(IndexError, match=f"index {wrong} is out of range"):
                    run(tf.constant(at))
