"""The generated functions of ops: every sample of every op against the same op by NumPy, their signatures and errors."""

import inspect
import json
import pickle
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import weft as wf

BUILD = Path(wf._weft.__file__).resolve().parents[2]
SAMPLES = BUILD / "generated/test/samples.json"
OPS = wf._weft._ops


def test_every_op_has_a_signature():
    assert len(OPS) > 50
    for name in OPS:
        function = getattr(wf._weft, name)
        assert function.__module__ == "weft" and function.__name__ == name
        assert list(inspect.signature(function).parameters), name


def test_signatures():
    assert str(inspect.signature(wf.sum)) == "(x, axis=None, *, keepdims=False, dtype=None)"
    assert str(inspect.signature(wf.matmul)) == "(lhs, rhs, *, transpose_lhs=False, transpose_rhs=False)"
    assert str(inspect.signature(wf.ones(2).sum)) == "(axis=None, *, keepdims=False, dtype=None)"
    assert str(inspect.signature(wf.arange)) == "(start, stop=None, step=1, dtype=None, *, device=None)"


#
# Samples of the records
#


def shaped(word, dtype, seed):
    """The operand that a word of the records stands for; None for one that this test does not make."""
    rng = np.random.default_rng(seed)
    view = None
    if found := re.fullmatch(r"(transposed|backwards) (.*)", word):
        view, word = found.groups()
    if word == "scalar":
        shape = ()
    elif re.fullmatch(r"\d+(x\d+)*", word):
        shape = tuple(map(int, word.split("x")))
    else:
        return None
    numbers = rng.integers(1, 5, shape)
    array = (numbers > 2) if dtype == "bool" else numbers.astype(dtype)
    if view == "transposed":
        return array.T
    return array[::-2] if view == "backwards" else array


DTYPES = {"bool": "bool", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128"}
DTYPES |= {f"{kind[0]}{bits}": f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)}


def oracle():
    """The functions that NumPy's expressions of the records use."""
    path = Path(__file__).resolve().parents[1] / "Oracle/every-op.py"
    sys.path.append(str(path.parent / "Inputs"))
    text = path.read_text()
    names = {"np": np, "math": __import__("math")}
    # Only its functions: the rest of the file runs a program.
    tree = __import__("ast").parse(text)
    tree.body = [node for node in tree.body if type(node).__name__ in ("FunctionDef", "Import", "ImportFrom")]
    exec(compile(tree, str(path), "exec"), names)
    return names


def calls(op, sampled):
    """Arguments by name, of the samples whose words this test knows."""
    for number, (operands, attributes) in enumerate(op["samples"]):
        if {"bf16", "f8e4m3fn", "f8e5m2"} & {*attributes}:  # which NumPy lacks
            continue
        for dtype in sampled(op["operands"][0]["dtypes"].split(", "), number):
            arguments = {}
            for i, (operand, word) in enumerate(zip(op["operands"], operands)):
                own = DTYPES[dtype if dtype in operand["dtypes"].split(", ") else operand["dtypes"].split(", ")[0]]
                if found := re.fullmatch(r"(i32|i64|f32|f64) (\[.*|\d+)", word):
                    value = np.array(json.loads(found[2]), DTYPES[found[1]])
                elif word.startswith("[") or (operand["role"] != "value" and re.fullmatch(r"-?\d+", word)):
                    value = np.array(json.loads(word), own if operand["role"] != "value" else None)
                    value = value.astype("int64") if value.size == 0 else value
                else:
                    value = shaped(word, own, i)
                if value is None or operand["variadic"]:
                    break
                arguments[operand["name"]] = value
            else:
                named = {}
                for attribute, word in zip(op["attributes"], attributes):
                    value = DTYPES[word] if word in DTYPES else json.loads(word)
                    named[attribute["name"]] = tuple(value) if isinstance(value, list) else value
                if op["name"] == "cast" and dtype.startswith("c") and not named["dtype"].startswith("complex"):
                    continue  # it is refused
                yield arguments, named


@pytest.mark.skipif(not SAMPLES.exists(), reason="the sample calls were not generated")
@pytest.mark.parametrize("name", [name for name in OPS if not name.startswith(("draw_", "iota"))])
def test_samples(name):
    names = oracle()
    record = {"pad_interior": "pad"}.get(name, name.removeprefix("reduce_"))  # functions have these names
    op = next(op for op in json.loads(SAMPLES.read_text()) if op["name"] == record)
    compared = 0
    for arguments, attributes in calls(op, names["sampled"]):
        given = {{"axes": "axis", "permutation": "axes"}.get(key, key): value for key, value in attributes.items()}
        got = np.asarray(getattr(wf._weft, name)(**arguments, **given))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of means of nothing
            if name in ("sum", "prod", "cumsum", "cumprod"):  # functions take small integers in the dtype of sums
                arguments["x"] = arguments["x"].astype(names["sum_dtype"](arguments["x"]))
            want = np.asarray(eval(op["numpy"], {**names, **arguments, **attributes}))
        assert got.shape == want.shape, (arguments, attributes)
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5, err_msg=f"{arguments} {attributes}")
        compared += 1
    if op["operands"] and not op["operands"][0]["variadic"] and name != "match_shape":  # its words are its own
        assert compared > 0


def test_concatenate():
    for axis in (0, 1, -1):
        x, y = np.ones((2, 3), "f4"), np.zeros((2, 3), "f4")
        np.testing.assert_array_equal(np.asarray(wf.concatenate([x, wf.tensor(y)], axis=axis)), np.concatenate([x, y], axis))
    assert wf.concatenate([wf.ones(2, "float64"), [0.1]])[-1].item() == 0.1
    for wrong in (5, None, "ab", wf.tensor(1.0)):
        with pytest.raises(TypeError):
            wf.concatenate(wrong)
    with pytest.raises(ValueError):
        wf.concatenate([])


def test_transpose_and_reshape_as_numpy_has_them():
    x = np.arange(24).reshape(2, 3, 4)
    t = wf.tensor(x)
    for got, want in (
        (wf.transpose(t), x.T),
        (t.T, x.T),
        (t.mT, x.swapaxes(-1, -2)),
        (t.transpose(1, 0, -1), x.transpose(1, 0, 2)),
        (t.transpose([2, 0, 1]), x.transpose(2, 0, 1)),
        (t.reshape(4, -1), x.reshape(4, -1)),
        (t.reshape((3, 8)), x.reshape(3, 8)),
        (wf.reshape(t, -1), x.reshape(-1)),
        (t.flatten(), x.flatten()),
        (wf.tensor(x[:1]).squeeze(), x[0]),
        (wf.tensor(x[:1]).squeeze(0), x[0]),
    ):
        np.testing.assert_array_equal(np.asarray(got), want)


def test_top_k():
    values, indices = wf.top_k([3.0, 1.0, 2.0], 2)
    assert values.tolist() == [3, 2] and indices.tolist() == [0, 2] and indices.dtype == "int64"
    assert wf.top_k([3.0, 1.0, 2.0], 1, smallest=True)[0].tolist() == [1]


def test_several_results_are_a_named_tuple():
    found = wf.top_k([3.0, 1.0, 2.0], 2)
    assert type(found) is wf.TopK and found._fields == ("values", "indices") and found.values is found[0]
    assert pickle.loads(pickle.dumps(wf.TopK(1, 2))) == wf.TopK(1, 2)
    traced = wf.function(lambda x: wf.top_k(x, k=1))(wf.tensor([1.0, 5.0]))
    assert type(traced) is wf.TopK and traced.values.tolist() == [5] and traced.indices.tolist() == [1]
    mapped = wf.vmap(lambda x: wf.top_k(x, 1))(wf.tensor([[1.0, 5.0], [7.0, 2.0]]))
    assert type(mapped) is wf.TopK and mapped.indices.tolist() == [[1], [0]]
    with pytest.raises(wf.ValueError, match=r"top_k: the first 4 are asked for, but axis 0 of x, which has shape \(3,\), is shorter"):
        wf.top_k([3.0, 1.0, 2.0], 4)


def test_windows():
    x = np.random.default_rng(1).random((1, 6, 6, 2), "f4")
    t = wf.tensor(x)
    assert wf.convolution(t, wf.ones((3, 3, 2, 4))).shape == (1, 4, 4, 4)
    assert wf.convolution(t, wf.ones((3, 3, 2, 4)), 2, "same").shape == (1, 3, 3, 4)
    assert wf.convolution(t, wf.ones((3, 3, 2, 4)), padding=[(1, 1), (0, 2)]).shape == (1, 6, 6, 4)
    assert wf.convolution_transpose(t, wf.ones((3, 3, 4, 2)), strides=2, padding="SAME").shape == (1, 12, 12, 4)
    np.testing.assert_array_equal(np.asarray(wf.max_pool(t, 2)), x.reshape(1, 3, 2, 3, 2, 2).max((2, 4)))
    np.testing.assert_array_equal(np.asarray(wf.min_pool(t, [2, 2])), x.reshape(1, 3, 2, 3, 2, 2).min((2, 4)))
    np.testing.assert_allclose(np.asarray(wf.average_pool(t, 2)), x.reshape(1, 3, 2, 3, 2, 2).mean((2, 4)), rtol=1e-6)
    assert wf.resize_image(t, (3, 12), "nearest").shape == (1, 3, 12, 2)
    for wrong in (lambda: wf.max_pool(t, 9), lambda: wf.convolution(t, wf.ones((3, 3, 5, 4))), lambda: wf.max_pool(t, 2, padding="odd"),
                  lambda: wf.resize_image(t, 3, "cubic"), lambda: wf.convolution(t, wf.ones((3, 3, 2, 4)), padding=[(1, 2, 3)])):
        with pytest.raises(ValueError):
            wrong()


#
# Errors
#


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: wf.sum(), TypeError, r"weft.sum\(\) is missing the argument 'x'"),
        (lambda: wf.sum(1, 0, True), TypeError, "takes by position at most 2 arguments and was given 3"),
        (lambda: wf.sum(1, x=1), TypeError, "got the argument 'x' twice"),
        (lambda: wf.sum(1, axes=0), TypeError, r"weft.sum\(\) got an unexpected argument 'axes'; did you mean 'axis'\?"),
        (lambda: wf.sum(1, keep_dims=True), TypeError, "did you mean 'keepdims'"),
        (lambda: wf.sum(1, keepdim=True), TypeError, "did you mean 'keepdims'"),
        (lambda: wf.add(1, 2, zebra=1), TypeError, r"unexpected argument 'zebra': it takes lhs, rhs$"),
        (lambda: wf.matmul(wf.ones((2, 3)), wf.ones((2, 3))), wf.ShapeError, "inner dimensions differ"),
        (lambda: wf.ones(2) + wf.ones(3), wf.ShapeError, "add"),
        (lambda: wf.sum(wf.ones(2), axis=1), wf.OutOfRangeError, "axis"),
        (lambda: wf.sum(wf.ones(2), axis="0"), wf.DTypeError, "sum: axis is of type str"),
        (lambda: wf.sum(wf.ones(2), axis=[0, None]), wf.DTypeError, "sum: axis is of type NoneType"),
        (lambda: wf.sum(wf.ones(2), axis=2**70), wf.ValueError, "64 bits"),
        (lambda: wf.cast(1, "complex256"), wf.DTypeError, "names no dtype"),
        (lambda: wf.bitwise_invert(wf.ones(2)), wf.DTypeError, "bool"),
        (lambda: wf.gather(wf.ones(2), [2]), wf.OutOfRangeError, "gather"),
        (lambda: wf.exp(None), wf.DTypeError, "exp: x is of type None"),
        (lambda: wf.exp("a"), wf.DTypeError, "exp: x is of type str"),
    ],
)
def test_errors(call, kind, words):
    with pytest.raises(kind, match=words):
        call()
    assert (wf.ones(2) + 1).tolist() == [2, 2]


def test_errors_are_the_built_in_ones_and_name_the_line():
    line = sys._getframe().f_lineno + 2
    with pytest.raises(wf.Error) as caught:
        wf.matmul(wf.ones((2, 3)), wf.ones((2, 3)))
    error = caught.value
    assert str(error).startswith(f"test_ops.py:{line}: matmul: the inner dimensions differ")
    assert error.line == line and error.file == __file__ and error.message.startswith("matmul")
    for kind, built_in in (
        (wf.ShapeError, ValueError), (wf.DTypeError, TypeError), (wf.OutOfRangeError, IndexError), (wf.ValueError, ValueError),
        (wf.StateError, RuntimeError), (wf.AssertionError, AssertionError), (wf.ResourceExhaustedError, MemoryError),
        (wf.IOError, OSError), (wf.CompileError, RuntimeError), (wf.InternalError, RuntimeError),
    ):
        assert issubclass(kind, built_in) and issubclass(kind, wf.Error) and kind.__module__ == "weft"
    assert issubclass(wf.ShapeError, wf.InvalidArgumentError) and wf.IOError.__doc__


def test_dynamic_keywords():
    words = "".join(["ax", "is"])  # a string that is not interned
    assert wf.sum(wf.ones((2, 3)), **{words: 1}).tolist() == [3, 3]


