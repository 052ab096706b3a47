"""The guide of TensorFlow 2.0, part 1: the programs S003-1 to S003-23."""

import inspect
import re
import timeit

import numpy as np
import pytest

from weft import tf


def test_S003_1_values_at_once(capsys):
    a = tf.constant([[1, 2], [3, 4]], dtype=tf.float32)
    b = tf.matmul(tf.ones([2, 2]), a)
    print(b)
    print(b.numpy())
    assert capsys.readouterr().out == (
        "tf.Tensor(\n[[4. 6.]\n [4. 6.]], shape=(2, 2), dtype=float32)\n[[4. 6.]\n [4. 6.]]\n"
    )


def test_S003_2_control_flow_of_python():
    def f(random_value):
        x = tf.reshape(tf.range(0, 4), [2, 2])
        if random_value.numpy() > 0.5:
            return tf.matmul(x, x)
        else:
            return tf.add(x, x)

    value = tf.random.uniform([], 0, 1)
    assert value.shape == () and 0 <= float(value) < 1
    assert f(tf.constant(0.7)).numpy().tolist() == [[2, 3], [6, 11]]
    assert f(tf.constant(0.3)).numpy().tolist() == [[0, 2], [4, 6]]


def test_S003_3_gradients_of_eager_ops(capsys):
    w = tf.Variable([[1.0]])
    with tf.GradientTape() as tape:
        loss = w * w + 2.0 * w + 5.0
    grad = tape.gradient(loss, w)
    print(grad)
    assert capsys.readouterr().out == "tf.Tensor([[4.]], shape=(1, 1), dtype=float32)\n"


def square_if_positive(x):
    if x > 0:
        x = x * x
    else:
        x = 0.0
    return x


def test_S003_4_square_if_positive(capsys):
    print("Eager results: %2.2f, %2.2f" % (square_if_positive(tf.constant(9.0)), square_if_positive(tf.constant(-9.0))))
    assert capsys.readouterr().out == "Eager results: 81.00, 0.00\n"


def test_S003_5_a_converted_function_in_a_graph(capsys):
    tf_square_if_positive = tf.autograph.to_graph(square_if_positive)
    with pytest.raises(NotImplementedError, match="tf.Graph is of TensorFlow 1: .*@tf.function"):
        with tf.Graph().as_default():
            pass
    with pytest.raises(NotImplementedError, match="tf.compat.v1.Session is of TensorFlow 1: .*call the function"):
        tf.compat.v1.Session()
    graph = tf.function(tf_square_if_positive)
    print("Graph results: %2.2f, %2.2f\n" % (graph(tf.constant(9.0)), graph(tf.constant(-9.0))))
    assert capsys.readouterr().out == "Graph results: 81.00, 0.00\n\n"
    assert tf_square_if_positive(tf.constant(3.0)).numpy() == 9.0


def test_S003_6_converted_code_can_be_read():
    code = tf.autograph.to_code(square_if_positive)
    assert "def " in code and "square_if_positive" in code and "if_stmt" in code
    compile(code, "shown", "exec")


def sum_even(items):
    s = 0
    for c in items:
        if c % 2 > 0:
            continue
        s += c
    return s


def test_S003_7_sum_even(capsys):
    print("Eager result: %d" % sum_even(tf.constant([10, 12, 15, 20])))
    assert capsys.readouterr().out == "Eager result: 42\n"


def test_S003_8_sum_even_in_a_graph(capsys):
    tf_sum_even = tf.function(tf.autograph.to_graph(sum_even))
    print("Graph result: %d\n\n" % tf_sum_even(tf.constant([10, 12, 15, 20])))
    assert capsys.readouterr().out == "Graph result: 42\n\n\n"


def test_S003_9_three_ways_of_running_it():
    # That the graph is the fastest is the benchmarks' business.
    items = tf.constant([10, 12, 15, 20])
    converted, graph = tf.autograph.to_graph(sum_even), tf.function(sum_even)
    for f in (sum_even, converted, graph):
        assert int(f(items)) == 42
        assert timeit.timeit(lambda: f(items), number=3) > 0
    assert graph.experimental_get_tracing_count() == 1


def test_S003_10_the_same_function_eager_and_compiled(capsys):
    def f(x, y):
        print(x, y)
        return tf.reduce_mean(tf.multiply(x**2, 3) + y)

    g = tf.function(f)
    x = tf.constant([[2.0, 3.0]])
    y = tf.constant([[3.0, -2.0]])
    # `f` and `g` will return the same value, but `g` will be executed as a graph.
    assert f(x, y).numpy() == 20.0
    assert capsys.readouterr().out == (
        "tf.Tensor([[2. 3.]], shape=(1, 2), dtype=float32) tf.Tensor([[ 3. -2.]], shape=(1, 2), dtype=float32)\n"
    )
    assert g(x, y).numpy() == 20.0
    assert capsys.readouterr().out == (
        'Tensor("x:0", shape=(1, 2), dtype=float32) Tensor("y:0", shape=(1, 2), dtype=float32)\n'
    )
    g(x, y)
    assert capsys.readouterr().out == ""


def test_S003_11_a_convolution():
    conv_layer = tf.keras.layers.Conv2D(100, 3)

    @tf.function
    def conv_fn(image):
        return conv_layer(image)

    image = tf.zeros([1, 200, 200, 100])
    # warm up
    eager, compiled = conv_layer(image), conv_fn(image)
    assert eager.shape == compiled.shape == (1, 198, 198, 100)
    assert not eager.numpy().any() and not compiled.numpy().any()
    assert timeit.timeit(lambda: conv_fn(image), number=1) > 0


def test_S003_12_a_cell():
    lstm_cell = tf.keras.layers.LSTMCell(10)

    @tf.function
    def lstm_fn(input, state):
        return lstm_cell(input, state)

    input = tf.zeros([10, 10])
    state = [tf.zeros([10, 10])] * 2
    # warm up
    for call in (lstm_cell, lstm_fn):
        output, (hidden, carry) = call(input, state)
        assert output.shape == hidden.shape == carry.shape == (10, 10)
        assert not output.numpy().any()
    assert timeit.timeit(lambda: lstm_cell(input, state), number=10) > 0
    assert timeit.timeit(lambda: lstm_fn(input, state), number=10) > 0


def test_S003_13_placeholders_and_sessions():
    with pytest.raises(NotImplementedError, match="function of its inputs under @tf.function"):
        tf.compat.v1.placeholder(tf.float32)
    with pytest.raises(NotImplementedError, match="function of its inputs under @tf.function"):
        tf.placeholder(tf.float32)
    with pytest.raises(NotImplementedError, match="call the function itself"):
        tf.Session()
    assert not hasattr(tf, "Session") and not hasattr(tf, "placeholder")

    # What the program becomes: what was fed is an argument.
    @tf.function
    def z(x, y=None):
        if y is None:
            y = tf.square(x)
        return x + y

    assert float(z(tf.constant(2.0))) == 6.0
    assert float(z(tf.constant(2.0), tf.constant(2.0))) == 4.0


def test_S003_14_nested_functions():
    @tf.function
    def compute_z1(x, y):
        return tf.add(x, y)

    @tf.function
    def compute_z0(x):
        return compute_z1(x, tf.square(x))

    z0 = compute_z0(2.0)
    z1 = compute_z1(2.0, 2.0)
    assert float(z0) == 6.0 and float(z1) == 4.0


def test_S003_15_a_trace_for_each_type(capsys):
    @tf.function
    def double(a):
        print("Tracing with", a)
        return a + a

    print(double(tf.constant(1)))
    print(double(tf.constant(1.1)))
    print(double(tf.constant([1, 2])))
    assert capsys.readouterr().out.splitlines() == [
        'Tracing with Tensor("a:0", shape=(), dtype=int32)',
        "tf.Tensor(2, shape=(), dtype=int32)",
        'Tracing with Tensor("a:0", shape=(), dtype=float32)',
        "tf.Tensor(2.2, shape=(), dtype=float32)",
        'Tracing with Tensor("a:0", shape=(2,), dtype=int32)',
        "tf.Tensor([2 4], shape=(2,), dtype=int32)",
    ]


def test_S003_16_dtypes_and_shapes_choose_the_trace():
    traces = []

    @tf.function
    def f(a):
        traces.append((a.shape, a.dtype))
        return a + a

    for value in ([1], [2], [1.0], [1, 2], [3, 4], [5]):
        f(tf.constant(value))
    assert traces == [((1,), "int32"), ((1,), "float32"), ((2,), "int32")]


def test_S003_17_a_signature():
    @tf.function(input_signature=[tf.TensorSpec(shape=None, dtype=tf.float32)])
    def f(x):
        return tf.add(x, 1.0)

    assert f(tf.constant(1.0)).numpy() == 2.0
    assert f(tf.constant([1.0])).numpy().tolist() == [2.0]
    with pytest.raises(TypeError, match=r"argument 'x' is int32\(1,\), but the signature says float32"):
        f(tf.constant([1]))


def test_S003_18_autograph_on_and_off():
    items = tf.constant([10, 12, 15, 20])
    assert int(sum_even(items)) == 42
    assert int(tf.function(sum_even)(items)) == 42
    assert int(tf.function(sum_even, autograph=True)(items)) == 42
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match="iteration over a tensor of a traced function"):
        tf.function(sum_even, autograph=False)(items)


def test_S003_19_what_tensors_do_not_decide_stays_python():
    iterations = []

    @tf.function
    def f(x, n):
        for i in range(n):
            iterations.append(i)
            x = x + i
        if n > 2:
            x = x * 2
        while x < 100:
            iterations.append("while")
            x = x * 2
        return x

    assert int(f(tf.constant(1), 3)) == 128
    assert iterations[:3] == [0, 1, 2] and iterations.count("while") < 4
    assert int(f(tf.constant(1), 3)) == 128
    assert iterations[:3] == [0, 1, 2] and 0 not in iterations[3:]


class ScalarModel(object):
    def __init__(self):
        self.v = tf.Variable(0)

    @tf.function
    def increment(self, amount):
        self.v.assign_add(amount)


def test_S003_20_methods():
    model1 = ScalarModel()
    model1.increment(tf.constant(3))
    assert int(model1.v.numpy()) == 3
    model1.increment(tf.constant(4))
    assert model1.v.numpy() == 7
    model2 = ScalarModel()
    model2.increment(tf.constant(5))
    assert model2.v.numpy() == 5


def test_S003_21_print_runs_in_order(capfd):
    @tf.function
    def print_element(items):
        for c in items:
            tf.print(c)

    print_element(tf.constant([1, 5, 6, 8, 3]))
    assert capfd.readouterr().err == "1\n5\n6\n8\n3\n"


def test_S003_22_print_of_python_runs_while_tracing(capsys):
    @tf.function
    def f(items):
        for c in items:
            print(c)

    f(tf.constant([1, 5, 6, 8, 3]))
    lines = set(capsys.readouterr().out.splitlines())
    assert len(lines) >= 1 and all(re.fullmatch(r'Tensor\("\w+:0", shape=\(\), dtype=int32\)', line) for line in lines)
    f(tf.constant([1, 5, 6, 8, 3]))
    assert capsys.readouterr().out == ""


def test_S003_23_functions_may_assign():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign(x)
        v.assign_add(1.0)
        return v.read_value()

    assert float(f(tf.constant(4.0))) == 5.0 and float(v) == 5.0
    assert inspect.isfunction(f.python_function)
    np.testing.assert_array_equal(f(tf.constant(6.0)).numpy(), 7.0)
