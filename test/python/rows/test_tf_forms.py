"""TensorFlow's printed forms, to the letter, and tf.print."""

import sys
import weakref

import numpy as np
import pytest

import weft as wf
from weft import tf


@pytest.mark.parametrize(
    "value, text",
    [
        (2.0, "tf.Tensor(2.0, shape=(), dtype=float32)"),
        (True, "tf.Tensor(True, shape=(), dtype=bool)"),
        ([1, 2], "tf.Tensor([1 2], shape=(2,), dtype=int32)"),
        ([[1, 2], [3, 4]], "tf.Tensor(\n[[1 2]\n [3 4]], shape=(2, 2), dtype=int32)"),
        ([], "tf.Tensor([], shape=(0,), dtype=float32)"),
        (np.float64(0.1), "tf.Tensor(0.1, shape=(), dtype=float64)"),
    ],
)
def test_str_of_tensors(value, text):
    assert str(tf.constant(value)) == text


@pytest.mark.parametrize(
    "value, text",
    [
        (2.0, "<tf.Tensor: shape=(), dtype=float32, numpy=2.0>"),
        (7, "<tf.Tensor: shape=(), dtype=int32, numpy=7>"),
        ([1.0, 2.0], "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"),
        (
            [[1, 2], [3, 4]],
            "<tf.Tensor: shape=(2, 2), dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>",
        ),
    ],
)
def test_repr_of_tensors(value, text):
    assert repr(tf.constant(value)) == text


def test_large_arrays_are_numpys():
    with np.printoptions(precision=2, threshold=5):
        assert str(tf.constant(np.arange(8) / 3)) == f"tf.Tensor({np.arange(8) / 3}, shape=(8,), dtype=float64)"


def test_variables():
    assert repr(tf.Variable(2.0)) == "<tf.Variable 'Variable:0' shape=() dtype=float32, numpy=2.0>"
    v = tf.Variable([[1, 2], [3, 4]], name="w")
    text = "<tf.Variable 'w:0' shape=(2, 2) dtype=int32, numpy=\narray([[1, 2],\n       [3, 4]], dtype=int32)>"
    assert str(v) == repr(v) == text and v.name == "w:0"
    seen = []
    tf.function(lambda: seen.append(repr(v)))()
    assert seen == ["<tf.Variable 'w:0' shape=(2, 2) dtype=int32>"]


def test_symbols():
    seen = []

    @tf.function
    def f(x, many, scalar):
        seen.extend([str(x), repr(x), f"{x}", str(many[1]), str(scalar), str(x + 1), hasattr(x, "numpy")])
        with pytest.raises(TypeError, match=r"Tensor is unhashable\. Instead, use tensor\.ref\(\) as the key\."):
            hash(x)
        return x

    f(tf.constant([[1.0, 2.0]]), [tf.constant(1), tf.constant(2)], tf.constant(True))
    assert seen[:5] == [
        'Tensor("x:0", shape=(1, 2), dtype=float32)',
        "<tf.Tensor 'x:0' shape=(1, 2) dtype=float32>",
        'Tensor("x:0", shape=(1, 2), dtype=float32)',
        'Tensor("many_1:0", shape=(), dtype=int32)',
        'Tensor("scalar:0", shape=(), dtype=bool)',
    ]
    assert seen[5].startswith('Tensor("') and seen[5].endswith(':0", shape=(1, 2), dtype=float32)')
    assert seen[6] is False

    # AutoGraph has a len() of its own, which is a tensor.
    @tf.function(input_signature=[tf.TensorSpec([None, 2])], autograph=False)
    def g(x):
        seen.append(str(x))
        seen.append(x.shape)
        with pytest.raises(TypeError, match=r"len is not well defined for a symbolic Tensor \(x:0\)\. Please call `x\.shape`"):
            len(x)
        return x

    g(tf.zeros([3, 2]))
    assert seen[-2] == 'Tensor("x:0", shape=(None, 2), dtype=float32)' and repr(seen[-1]) == "TensorShape([None, 2])"


def test_shapes():
    shape = tf.zeros([2, 3]).shape
    assert type(shape) is tf.TensorShape and isinstance(shape, tuple)
    assert repr(shape) == "TensorShape([2, 3])" and str(shape) == "(2, 3)"
    assert shape == (2, 3) and shape == [2, 3] and shape != (3, 2) and tuple(shape) == (2, 3)
    assert shape[0] == 2 and shape[1:] == (3,) and repr(shape[1:]) == "TensorShape([3])" and len(shape) == 2
    assert shape.as_list() == [2, 3] and shape.rank == shape.ndims == 2 and shape.num_elements() == 6
    assert hash(shape) == hash((2, 3)) and shape + [4] == (2, 3, 4) and [4] + shape == (4, 2, 3)
    assert str(tf.TensorShape([])) == "()" and str(tf.TensorShape([3])) == "(3,)"
    some = tf.TensorShape([2, None])
    assert repr(some) == "TensorShape([2, None])" and str(some) == "(2, None)"
    assert not some.is_fully_defined() and some.is_compatible_with([2, 7]) and not some.is_compatible_with([3, 7])
    assert some.merge_with([None, 7]) == (2, 7)
    with pytest.raises(ValueError, match=r"Shapes \(2, None\) and \(3,\) are incompatible"):
        some.merge_with([3])
    unknown = tf.TensorShape(None)
    assert repr(unknown) == "TensorShape(None)" and str(unknown) == "<unknown>" and unknown.rank is None
    assert unknown == tf.TensorShape(None) and unknown != tf.TensorShape([]) and tf.TensorShape([]) != unknown
    with pytest.raises(ValueError, match="as_list"):
        unknown.as_list()


def test_dtypes_and_specs():
    assert repr(tf.float32) == "tf.float32" and str(tf.float32) == "<dtype: 'float32'>" and tf.float32.name == "float32"
    assert repr(tf.bool) == "tf.bool"
    assert tf.float32 == "float32" and np.dtype(tf.int64) == np.int64
    assert repr(tf.TensorSpec([2, 3], tf.int32)) == "TensorSpec(shape=(2, 3), dtype=tf.int32, name=None)"
    assert repr(tf.TensorSpec(None)) == "TensorSpec(shape=<unknown>, dtype=tf.float32, name=None)"
    assert {tf.TensorSpec([2]): 1}[tf.TensorSpec([2])] == 1


def test_tensors_as_keys_and_lengths():
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match=r"Tensor is unhashable\. Instead, use tensor\.ref\(\) as the key\."):
        {x: 1}
    assert {x.ref(): 1}[x.ref()] == 1 and x.ref() != tf.constant(1.0).ref() and x.ref().deref() is x
    with pytest.raises(TypeError, match=r"Scalar tensor has no `len\(\)`"):
        len(x)
    assert weakref.ref(x)() is x


def test_formats():
    assert "{}".format(tf.constant([[4.0]])) == "[[4.]]" and "{:.3f}".format(tf.constant(2.0)) == "2.000"
    assert "%d" % tf.constant(42) == "42" and "%2.2f" % tf.constant(81.0) == "81.00"
    with pytest.raises(TypeError):
        "{:.3f}".format(tf.constant([1.0]))


def test_devices():
    x = tf.constant(1.0)
    assert x.device == "/job:localhost/replica:0/task:0/device:CPU:0" and tf.Variable(1.0).device == x.device


def test_wefts_own_forms_come_back():
    x, v = tf.constant([1.0]), tf.Variable(1.0, name="v")
    wf.set_printoptions(style="numpy")
    assert repr(x) == "tensor([1.], shape=(1,), dtype=float32)" and str(x) == "[1.]" and type(x.shape) is tuple
    assert repr(wf.float32) == "weft.float32" and str(wf.float32) == "float32" and v.name == "v"
    assert x.device == "cpu:0" and repr(wf.TensorSpec([2])) == "TensorSpec(shape=(2,), dtype=weft.float32, name=None)"
    assert wf.get_printoptions()["style"] == "numpy"
    wf.set_printoptions(style="tf")
    assert wf.get_printoptions()["style"] == "tf" and type(x.shape) is tf.TensorShape
    with pytest.raises(wf.ValueError, match="style is 'jax': it is 'numpy' or 'tf'"):
        wf.set_printoptions(style="jax")


PRINTED = [
    ((2.0,), "2.0"),
    ((tf.constant(2.0),), "2"),
    ((tf.constant(0.1),), "0.1"),
    ((tf.constant(1 / 3),), "0.333333343"),
    ((np.float64(1) * tf.constant(1 / 3, tf.float64),), "0.33333333333333331"),
    ((tf.constant([True, False]),), "[1 0]"),
    ((tf.constant([float("nan"), float("inf"), -float("inf")]),), "[nan inf -inf]"),
    ((tf.range(10),), "[0 1 2 ... 7 8 9]"),
    ((tf.range(6),), "[0 1 2 3 4 5]"),
    ((tf.reshape(tf.range(4), [2, 2]),), "[[0 1]\n [2 3]]"),
    ((tf.reshape(tf.range(8), [2, 2, 2]),), "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]"),
    ((tf.reshape(tf.range(16), [8, 2]),), "[[0 1]\n [2 3]\n [4 5]\n ...\n [10 11]\n [12 13]\n [14 15]]"),
    (("a", 1, tf.constant(2), "b"), "a 1 2 b"),
    (({2: tf.range(0, 20, 2)},), "{2: [0 2 4 ... 14 16 18]}"),
    (([tf.constant(1), "x", None],), "[1, 'x', None]"),
    (((tf.constant([1.5]), (2,)),), "([1.5], (2,))"),
    ((), ""),
]


@pytest.mark.parametrize("inputs, text", PRINTED)
def test_print(inputs, text, capsys):
    tf.print(*inputs)
    assert capsys.readouterr().err == text + "\n"
    tf.function(lambda: tf.print(*inputs))()
    assert capsys.readouterr().err == text + "\n"


def test_options_of_print(capsys, tmp_path):
    tf.print(1, 2, output_stream=sys.stdout, sep=", ", end="!\n")
    tf.print(tf.range(9), summarize=1, output_stream=sys.stdout)
    tf.print(tf.range(9), summarize=-1, output_stream=sys.stdout)
    assert capsys.readouterr().out == "1, 2!\n[0 ... 8]\n[0 1 2 3 4 5 6 7 8]\n"
    path = tmp_path / "log"
    tf.print("a", output_stream=f"file://{path}")
    tf.print("b", output_stream=f"file://{path}")
    assert path.read_text() == "a\nb\n"
    lines = []
    tf.print("to a logger", output_stream=lines.append)
    assert lines == ["to a logger"]
    with pytest.raises(ValueError, match="output_stream"):
        tf.print(1, output_stream=3)


def test_print_in_a_loop_of_a_function(capsys):
    @tf.function
    def f(n):
        total = 0
        for i in tf.range(n):
            total += i
            if total > 2:
                tf.print("at", i, {"total": total}, output_stream=sys.stdout)
        print("tracing")
        return total

    f(tf.constant(4))
    f(tf.constant(4))
    line = "at 2 {'total': 3}\nat 3 {'total': 6}\n"
    assert capsys.readouterr().out == "tracing\n" + line * 2
