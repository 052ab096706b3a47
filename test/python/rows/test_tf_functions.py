"""Traced functions, loops, arrays and methods of objects as TensorFlow's users know them."""

import numpy as np
import pytest

from weft import tf


def test_results_of_functions_are_tensors():
    @tf.function
    def f(x):
        return {"sum": x + 1, "all": [2.5, True, None], "size": len(x) if isinstance(x, list) else 0}

    result = f(1)
    assert repr(result["sum"]) == "<tf.Tensor: shape=(), dtype=int32, numpy=2>"
    assert [repr(x) for x in result["all"]] == [
        "<tf.Tensor: shape=(), dtype=float32, numpy=2.5>",
        "<tf.Tensor: shape=(), dtype=bool, numpy=True>",
        "None",
    ]
    assert repr(f.get_concrete_function(2)()["sum"]) == "<tf.Tensor: shape=(), dtype=int32, numpy=3>"

    @tf.function
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    assert repr(factorial(5)) == "<tf.Tensor: shape=(), dtype=int32, numpy=120>"

    class Counter:
        @tf.function
        def three(self):
            return 3

    assert repr(Counter().three()) == "<tf.Tensor: shape=(), dtype=int32, numpy=3>"
    import weft as wf

    assert wf.function(lambda: 3)() == 3 and type(wf.function(lambda: 3)()) is int


def test_a_loop_puts_a_tensor_in_the_place_of_a_variable():
    @tf.function
    def power(x, n):
        y = x
        for _ in tf.range(n):
            y = y * x
        return y

    x = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = power(x, tf.constant(3))
    assert float(y) == 81.0 and float(tape.gradient(y, x)) == 108.0

    @tf.function
    def halve(x):
        iterations = 0
        while x > 1.0:
            x = x / 2
            iterations += 1
        return iterations, x

    v = tf.Variable(9.0)
    assert [float(r) for r in halve(v)] == [4.0, 0.5625] and float(v) == 9.0


def test_branches_may_give_a_variable_and_a_tensor():
    v = tf.Variable(3.0)

    @tf.function
    def first(c):
        if c > 0:
            w = v
        else:
            w = v + 1.0
        return w

    @tf.function
    def second(c):
        w = v
        if c > 0:
            w = w * 2.0
        return w

    @tf.function
    def same(c):
        w = v
        if c > 0:
            w.assign_add(1.0)
        return w

    ends = [float(f(tf.constant(c))) for f in (first, second) for c in (1, -1)]
    assert ends == [3.0, 4.0, 6.0, 3.0]
    assert isinstance(same(tf.constant(1)), tf.Tensor) and float(v) == 4.0
    with tf.GradientTape() as tape:
        y = second(tf.constant(1))
    assert float(tape.gradient(y, v)) == 2.0


def test_structures_of_while_loops():
    def less(i):
        return i < 3

    assert repr(tf.while_loop(less, lambda i: (i + 1,), (tf.constant(0),))) == "(<tf.Tensor: shape=(), dtype=int32, numpy=3>,)"
    assert repr(tf.while_loop(less, lambda i: [i + 1], [0])) == "[<tf.Tensor: shape=(), dtype=int32, numpy=3>]"
    pair = tf.while_loop(less, lambda i: (i + 1,), (0,), maximum_iterations=2)
    assert repr(pair) == "(<tf.Tensor: shape=(), dtype=int32, numpy=2>,)"


def test_arrays_of_tensors():
    array = tf.TensorArray(tf.float32, size=2).unstack([1.0, 2.0])
    assert array.stack().numpy().tolist() == [1.0, 2.0]
    assert repr(array.size()) == "<tf.Tensor: shape=(), dtype=int64, numpy=2>"
    assert array.scatter([1, 0], [5.0, 6.0]).stack().numpy().tolist() == [6.0, 5.0]

    @tf.function
    def rows(x):
        return tf.TensorArray(tf.float32, size=2, element_shape=[2]).unstack(x).stack()

    assert rows(tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_the_first_element_says_the_shape_of_all():
    rows = tf.TensorArray(tf.float32, size=2).write(0, [1.0, 2.0]).write(1, [3.0, 4.0])
    assert rows.stack().numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]] and rows.concat().shape == (4,)
    assert repr(tf.TensorArray(tf.float32, size=2).size()) == "<tf.Tensor: shape=(), dtype=int64, numpy=2>"

    @tf.function
    def doubled(x, wanted):
        rows = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(tf.shape(x)[0]):
            if x[i, 0] > wanted:
                rows = rows.write(rows.size(), 2 * x[i])
        return rows.stack()

    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert doubled(x, tf.constant(2.0)).numpy().tolist() == [[6.0, 8.0], [10.0, 12.0]]
    assert doubled(x, tf.constant(9.0)).shape == (0, 2)

    @tf.function
    def summed(x):
        sums = tf.TensorArray(tf.float32, size=len(x))
        total = tf.zeros([2])
        for i in tf.range(len(x)):
            total += x[i]
            sums = sums.write(i, total)
        return sums.stack()

    v = tf.Variable(x)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(summed(v))
    assert float(y) == 9 + 12 + 4 + 6 + 1 + 2 and tape.gradient(y, v).numpy().tolist() == [[3.0, 3.0], [2.0, 2.0], [1.0, 1.0]]
    for use in (lambda a: a.stack(), lambda a: a.read(0)):
        with pytest.raises(ValueError, match="nothing is written yet.*give element_shape"):
            use(tf.TensorArray(tf.float32, 2))


def test_parts_of_variables():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    assert v.sparse_read([1]).numpy().tolist() == [[3.0, 4.0]] and v.gather_nd([[0, 1]]).numpy().tolist() == [2.0]
    v.scatter_nd_add([[0]], [[1.0, 1.0]])
    v.scatter_nd_update([[1, 1]], [9.0])
    assert v.numpy().tolist() == [[2.0, 3.0], [3.0, 9.0]]
    assert repr(v.is_initialized()) == "<tf.Tensor: shape=(), dtype=bool, numpy=True>"


def test_methods_of_shapes():
    assert bool(tf.TensorShape([])) and not bool(tf.TensorShape(None))
    assert repr(tf.TensorShape([2, 3]).with_rank_at_least(1)) == "TensorShape([2, 3])"
    assert repr(tf.TensorShape([2, 3]).most_specific_compatible_shape([2, 4])) == "TensorShape([2, None])"
    with pytest.raises(ValueError, match=r"Shape \(2,\) must have rank at least 2"):
        tf.TensorShape([2]).with_rank_at_least(2)
    assert repr(tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([1, 3]))) == "TensorShape([2, 3])"
    assert tf.TensorSpec([None]).is_compatible_with(tf.zeros([3])) and not tf.TensorSpec([2]).is_compatible_with(tf.zeros([3]))
    assert not tf.TensorSpec([2]).is_compatible_with(tf.zeros([2], tf.int32))


def test_attributes_of_dtypes():
    assert tf.float32.as_numpy_dtype is np.float32 and np.zeros(2, tf.int64.as_numpy_dtype).dtype == np.int64
    assert tf.int32.min == -2147483648 and tf.int32.max == 2147483647 and tf.int64.max == 2**63 - 1
    assert tf.float32.max == np.float32(3.4028235e38) and tf.bool.max is True
    assert tf.float32.size == 4 and tf.float32.base_dtype is tf.float32 and not tf.int32.is_unsigned
    assert tf.float32.is_compatible_with("float32") and not tf.float32.is_compatible_with(tf.int32)


def test_devices_under_both_names():
    assert repr(tf.config.list_physical_devices("CPU")) == "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]"
    assert repr(tf.config.list_logical_devices("CPU")) == "[LogicalDevice(name='/device:CPU:0', device_type='CPU')]"


def test_structures_of_leaves():
    assert tf.nest.pack_sequence_as([1, {"b": 2, "a": 3}], [7, 8, 9]) == [7, {"b": 9, "a": 8}]
    assert tf.nest.is_nested([1]) and not tf.nest.is_nested(1)
    tf.nest.assert_same_structure([1, {"a": 2}], [3, {"a": 4}])
    with pytest.raises(TypeError, match="a list and a tuple"):
        tf.nest.assert_same_structure([1], (1,))


def test_the_time_is_read_at_each_call():
    now = tf.function(tf.timestamp)
    first = float(now())
    assert first > 1e9 and float(now()) >= first and now().dtype == tf.float64
