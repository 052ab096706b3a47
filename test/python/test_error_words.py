"""What names, messages and lists of names say to users of Python."""

import importlib
import pathlib
import pkgutil

import numpy as np
import pytest
import weft as wf


def _public_modules():
    """All modules of the package that have no underscore, but weft.tf, which has names of its own."""
    found = ["weft"]
    for module in pkgutil.walk_packages(wf.__path__, "weft."):
        if not any(part.startswith("_") for part in module.name.split(".")) and not module.name.startswith("weft.tf"):
            found.append(module.name)
    return [name for name in found if hasattr(importlib.import_module(name), "__all__")]


@pytest.mark.parametrize("name", _public_modules())
def test_dir_lists_public_names_alone(name):
    module = importlib.import_module(name)
    listed = [word for word in dir(module) if not word.startswith("__")]
    modules = {path.stem for path in pathlib.Path(wf.__file__).parent.glob("*.py")} | {"tf", "initializers"}
    assert set(module.__all__) <= set(listed)
    assert set(listed) - set(module.__all__) <= modules
    for word in ("os", "re", "Any", "annotations", "TYPE_CHECKING", "math"):
        assert word not in listed


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("jit", "wf.function"),
        ("tree_map", "write wf.tree.map"),
        ("nn.Linear", "wf.nn.Dense"),
        ("nn.Conv2d", "wf.nn.Conv2D"),
        ("nn.BatchNorm2d", "wf.nn.BatchNorm"),
    ],
)
def test_names_of_other_libraries_say_what_to_write(path, text):
    within, _, name = f"weft.{path}".rpartition(".")
    with pytest.raises(AttributeError, match=f"module '{within}' has no attribute '{name}': .*{text}"):
        getattr(importlib.import_module(within), name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("view", "reshape"),
        ("type", "astype"),
        ("backward", "GradientTape"),
        ("detach", "stop_gradient"),
        ("permute", "transpose"),
    ],
)
def test_attributes_of_other_tensors_say_what_to_write(name, text):
    with pytest.raises(AttributeError, match=f"'weft.Tensor' object has no attribute '{name}': .*{text}"):
        getattr(wf.ones(2), name)
    assert not hasattr(wf.ones(2), name) and name not in dir(wf.ones(2))


def test_keywords_of_other_libraries_name_ours():
    with pytest.raises(TypeError, match="did you mean 'learning_rate'"):
        wf.optimizers.SGD([wf.Variable(1.0)], lr=1)
    with pytest.raises(TypeError, match="did you mean 'axis'"):
        wf.sum(wf.ones(2), dim=0)


def test_dtypes_are_spelled_as_in_python():
    with pytest.raises(wf.DTypeError, match=r"x is int32\(2, 3\), but the layer is float32: cast x to float32"):
        wf.nn.Dense(3)(wf.ones((2, 3), "int32"))
    with pytest.raises(wf.DTypeError, match=r"must be an integer or bool .*but it is float32\(2,\)"):
        wf.bitwise_and(wf.ones(2), wf.ones(2))
    f = wf.function(lambda x: x, input_signature=[wf.TensorSpec([None], "float32")], autograph=False)
    with pytest.raises(TypeError, match=r"is int32\(1,\), but the signature says float32"):
        f(wf.tensor([1]))
    g = wf.function(lambda x: x + 1, name="g", autograph=False)
    g(wf.ones(2))
    assert "float32" in g.explain(wf.ones(2, "float64")) and "f32" not in g.explain(wf.ones(2, "float64"))
    # What stands in quotes is the user's.
    v = wf.Variable([1.0, 2.0], name="f32")
    with pytest.raises(wf.ShapeError, match=r"'f32' is float32\(2,\)"):
        wf.optimizers.SGD([v]).apply_gradients([wf.ones(3)])


def test_signatures_of_tensorflow_have_its_words():
    tf = pytest.importorskip("weft.tf")
    f = tf.function(lambda x: x, input_signature=[tf.TensorSpec([None], tf.float32)], autograph=False)
    with pytest.raises(TypeError, match=r"is int32\(1,\), but the signature says float32"):
        f(tf.constant([1]))


def test_signatures_name_the_argument_and_both_types():
    spec = wf.TensorSpec

    def f(count, rest):
        return wf.cast(count, "float32") + rest["x"]

    f = wf.function(f, input_signature=[spec([], "int32"), {"x": spec([None, 2], "float32")}])
    rest = {"x": [[1, 2], [3, 4]]}
    whole = [[4.0, 5.0], [6.0, 7.0]]
    for count in (3, np.int64(3), np.array(3), wf.tensor(3), wf.Variable(3)):
        assert f(count, rest).tolist() == whole
    assert f(True, {"x": wf.ones((1, 2))}).tolist() == [[2.0, 2.0]]
    for count, given in (
        (3.5, "float32"), (3.0, "float32"), (np.float64(3.5), "float"), (np.float32(3.5), "float32"), (np.array(3.5), "float64"),
        (wf.tensor(3.5), "float32"), (wf.cast(3, "int64"), "int64"), (wf.Variable(3.5), "float32"),
        (wf.Variable(3, dtype="int64"), "int64"),
    ):  # fmt: skip
        with pytest.raises(wf.DTypeError, match=rf"f: argument 'count' is {given}\d*\(\), but the signature says int32"):
            f(count, rest)
    with pytest.raises(wf.ShapeError, match=r"argument 'rest' is float32\(1, 3\), but the signature says float32\(None, 2\)"):
        f(3, {"x": [[1, 2, 3]]})
    with pytest.raises(wf.ShapeError, match=r"argument 'rest' is float32\(2,\), but the signature says float32\(None, 2\)"):
        f(3, {"x": wf.ones(2)})
    with pytest.raises(wf.ValueError, match="argument 'count' has the number 1099511627776, but the signature says int32"):
        f(np.array(2**40), rest)
    g = wf.function(lambda x, *more: x + sum(more), input_signature=[spec([], "int32")] * 3)
    assert int(g(1, 2, 3)) == 6
    with pytest.raises(wf.DTypeError, match=r"argument '\*more\[1\]' is float32\(\), but the signature says int32"):
        g(1, 2, 3.5)
    only = wf.function(lambda x: x, input_signature=[spec([None], "bool")])
    with pytest.raises(wf.DTypeError, match=r"is int32\(2,\), but the signature says bool"):
        only([1, 0])
    concrete = wf.function(lambda x: x).get_concrete_function(spec([None], "int32"))
    with pytest.raises(wf.DTypeError, match="argument 'x' is float32.*says int32"):
        concrete([1.5])


def test_results_of_functions_of_python_do_not_lose_their_fraction():
    def giving(call, value, kind):
        return lambda: call(lambda: value, [], kind)

    for call in (wf.py_function, wf.numpy_function):
        for run in (lambda f: f(), lambda f: wf.function(f)()):
            for value in (3.5, np.float32(3.5)):
                with pytest.raises(wf.DTypeError, match="what the function returns is float32.*its type says int32"):
                    run(giving(call, value, "int32"))
            assert float(run(giving(call, 3, "float32"))) == 3


def test_losses_speak_of_labels():
    logits = wf.ones((2, 3))
    for loss in (wf.losses.softmax_cross_entropy, wf.losses.sparse_categorical_cross_entropy):
        for run in (loss, wf.function(lambda a, b, loss=loss: loss(a, b))):
            for label in (5, -1):
                with pytest.raises(wf.OutOfRangeError, match=f"{loss.__name__}: label {label} is out of range"):
                    run(wf.tensor([label, 0]), logits)
    for run in (wf.nn.Embedding(4, 2), wf.function(wf.nn.Embedding(4, 2))):
        with pytest.raises(wf.OutOfRangeError, match="Embedding: index 7 is out of range"):
            run(wf.tensor([7]))
    with pytest.raises(wf.OutOfRangeError, match="softmax: axis 5 is out of range"):
        wf.nn.softmax(logits, 5)
