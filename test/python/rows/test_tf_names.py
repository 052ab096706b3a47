"""The table of names: that it has what programs use, with their arguments, and that every name of it is there."""

import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import weft as wf
from weft import tf
from weft.tf import _modules
from weft._absent import AbsentError
from weft.tf._absent import MissingError, RemovedError
from weft.tf._names import ABSENT, MODULES, NAMES, REMOVED

PROGRAMS = (Path(__file__).parent / "names-of-programs.txt").read_text()
CALLS, PROTOCOLS = PROGRAMS.split("# methods and attributes of objects\n")
METHODS = PROTOCOLS.split("# protocols of objects")[0]


def resolved(path):
    value = tf
    for name in path.split("."):
        value = getattr(value, name)
    return value


def used():
    """The path, the number of positional arguments and the keywords of each line; None where it is no call."""
    for line in CALLS.splitlines():
        found = re.fullmatch(r" *\d+ [* ] tf\.([\w.]+)(\(.*\))?", line)
        if found is None:
            assert line.startswith("#") or not line.strip(), line
            continue
        path, arguments = found.groups()
        if arguments is None:
            yield path, None, ()
            continue
        positional = re.search(r"(\d+) positional", arguments)
        yield path, int(positional[1]) if positional else 0, tuple(re.findall(r"(\w+)=", arguments))


# What classes of C++ take is shown by making one.
MADE = {
    "Variable": lambda *names: tf.Variable(1.0, **{n: "v" for n in names}),
    "GradientTape": lambda *names: tf.GradientTape(**{n: True for n in names}),
    "keras.layers.Conv2D": lambda *names: tf.keras.layers.Conv2D(
        4, [3, 3], **{n: {"activation": "relu", "input_shape": (None, None, 1)}[n] for n in names}
    ),
    "keras.layers.Dense": lambda *names: tf.keras.layers.Dense(
        *([] if "units" in names else [3]),
        **{n: {"activation": "relu", "input_shape": (2,), "units": 3}[n] for n in names},
    ),
    "keras.layers.GlobalAveragePooling2D": lambda: tf.keras.layers.GlobalAveragePooling2D(),
    "keras.layers.LSTMCell": lambda: tf.keras.layers.LSTMCell(4),
    "keras.losses.SparseCategoricalCrossentropy": lambda from_logits: (
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    ),
    "keras.metrics.Mean": lambda: tf.keras.metrics.Mean("loss"),
    "keras.metrics.SparseCategoricalAccuracy": lambda: tf.keras.metrics.SparseCategoricalAccuracy(),
    "keras.optimizers.Adam": lambda *names: tf.keras.optimizers.Adam(**{n: 0.1 for n in names}),
    "keras.optimizers.SGD": lambda *names: tf.keras.optimizers.SGD(
        *([] if names else [0.1]), **{n: 0.1 for n in names}
    ),
}


@pytest.mark.parametrize("path, positional, keywords", list(used()))
def test_what_programs_use_is_there(path, positional, keywords):
    if path in REMOVED or path.removeprefix("compat.v1.") in REMOVED:
        with pytest.raises(RemovedError, match="TensorFlow 1"):
            resolved(path)
        return
    value = resolved(path)
    if positional is None:
        return
    assert callable(value)
    if path in MADE:
        MADE[path](*keywords)
        return
    bound = inspect.signature(value).bind(*[0] * positional, **{name: 0 for name in keywords})
    assert not bound.arguments.get("other"), f"{path} does not know {bound.arguments['other']}"


def objects():
    """One of each class that programs have methods of."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam()
    data = tf.data.Dataset.from_tensor_slices([1.0])
    checkpoint = tf.train.Checkpoint(x=tf.Variable(1.0))
    return [
        tf.constant([1.0]),
        tf.Variable(1.0),
        tf.GradientTape(),
        tf.TensorArray(tf.float32, size=0),
        tf.function(lambda x: x),
        model,
        optimizer,
        data,
        checkpoint,
        tf.keras.metrics.Mean("m"),
        checkpoint.restore(None),
        tf.summary.SummaryWriter,
    ]


@pytest.mark.parametrize("name", sorted(set(re.findall(r"\.(\w+)", METHODS)) - {"run"}))
def test_methods_that_programs_use_are_there(name):
    assert any(hasattr(each, name) for each in objects()), name


@pytest.mark.parametrize("path", sorted(NAMES))
def test_every_name_is_there(path):
    value = resolved(path)
    assert resolved(path) is value
    if path in ("newaxis", "__version__", "data.AUTOTUNE", "data.experimental.AUTOTUNE"):
        return
    assert value.__doc__ and value.__doc__.strip(), f"tf.{path} has no text"


def test_modules_can_be_imported():
    for path in MODULES:
        module = importlib.import_module(f"weft.tf.{path}")
        assert module is resolved(path) and module.__doc__ == MODULES[path]
    from weft.tf.keras import layers
    from weft.tf.math import add

    assert layers.Dense is wf.nn.Dense and add is tf.math.add
    assert "reduce_sum" in dir(tf) and "keras" in dir(tf) and "Dense" in dir(tf.keras.layers)


def test_objects_are_those_of_weft():
    assert tf.Tensor is wf.Tensor and tf.Variable is wf.Variable and tf.GradientTape is wf.GradientTape
    assert isinstance(tf.constant(1), wf.Tensor) and tf.float32 is wf.float32
    assert tf.errors.InvalidArgumentError is wf.InvalidArgumentError


@pytest.mark.parametrize("path", sorted(REMOVED))
def test_removed_names_say_what_to_write(path):
    with pytest.raises(RemovedError, match=f"tf.{re.escape(path)} is of TensorFlow 1: "):
        resolved(path)
    for said in re.findall(r"tf\.([\w.]+\w)", REMOVED[path]):
        assert said == "contrib.eager" or resolved(said) is not None


@pytest.mark.parametrize("path", sorted(ABSENT))
def test_missing_names_say_what_to_write(path):
    assert path not in NAMES and path not in REMOVED
    with pytest.raises(MissingError, match=f"weft.tf has no tf.{re.escape(path)}: "):
        resolved(path)
    for said in re.findall(r"tf\.([\w.]+\w)", ABSENT[path]):
        assert resolved(said) is not None


@pytest.mark.parametrize(
    "path, nearest",
    [
        ("reduce_summ", "tf.reduce_sum"),
        ("math.reduce_sun", "tf.math.reduce_sum"),
        ("Dense", "tf.keras.layers.Dense"),
        ("keras.Dense", "tf.keras.layers.Dense"),
        ("keras.layers.Desne", "tf.keras.layers.Dense"),
        ("contsant", "tf.constant"),
        ("Adam", "tf.keras.optimizers.Adam"),
    ],
)
def test_absent_names_name_the_nearest(path, nearest):
    with pytest.raises(AttributeError) as caught:
        resolved(path)
    module, _, name = path.rpartition(".")
    within = f"weft.tf.{module}" if module else "weft.tf"
    assert str(caught.value) == f"module '{within}' has no attribute '{name}'. Did you mean '{nearest}'?"


def test_what_nothing_is_near_to():
    with pytest.raises(AttributeError) as caught:
        tf.qqqqqqqqq
    assert str(caught.value) == "module 'weft.tf' has no attribute 'qqqqqqqqq'"


def test_hasattr_looks_for_no_nearest_name(monkeypatch):
    def never(*_):
        raise AssertionError("the nearest name was looked for")

    monkeypatch.setattr("weft._absent.nearest_path", never)
    assert not hasattr(tf, "reduce_summ") and not hasattr(tf, "Session")
    with pytest.raises(AbsentError):
        tf.reduce_summ


def test_wrong_keywords_name_the_nearest():
    with pytest.raises(TypeError, match=r"tf.reduce_sum\(\) got an unexpected keyword argument 'axes'; did you mean 'axis'\?"):
        tf.reduce_sum([1.0], axes=0)
    with pytest.raises(TypeError, match=r"tf.add\(\) got an unexpected keyword argument 'zzzzz'$"):
        tf.add(1, 2, zzzzz=3)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'y'"):
        tf.add(1)


def test_errors_name_the_line_of_the_caller():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
    assert str(caught.value).startswith("test_tf_names.py:")


def test_the_traceback_suggests_nothing_besides():
    done = subprocess.run(
        [sys.executable, "-c", "from weft import tf\ntf.reduce_summ"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(p for p in sys.path if p)},
    )
    last = done.stderr.splitlines()[-1]
    assert last.endswith("module 'weft.tf' has no attribute 'reduce_summ'. Did you mean 'tf.reduce_sum'?")


def test_importing_weft_imports_none_of_it():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, weft; print([m for m in sys.modules if 'weft.tf' in m or m == 'numpy'])"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": ":".join(p for p in sys.path if p)},
    )
    assert done.stdout == "[]\n", done.stderr


def test_the_table_is_well_made():
    assert not set(NAMES) & set(REMOVED)
    assert all(path.rpartition(".")[0] in ("", *MODULES) for path in (*NAMES, *REMOVED))
    assert all(path.rpartition(".")[0] in ("", *MODULES, *NAMES) for path in ABSENT)
    assert sorted(_modules.paths()) == sorted(f"tf.{path}" for path in NAMES)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("estimator", "compile, fit, evaluate and predict"),
        ("math.special", "scipy.special"),
        ("keras.layers.TextVectorization", "there are no tensors of text"),
        ("keras.models.save_model", r"save_weights\(path\)"),
    ],
)
def test_what_tensorflow_has_besides_says_what_to_write(path, text):
    with pytest.raises(MissingError, match=text):
        resolved(path)


def test_absent_attributes_say_what_to_write():
    data, model = tf.data.Dataset.range(3), tf.keras.Sequential([tf.keras.layers.Dense(1)])
    for of, name, text in (
        (data, "window", "batch"),
        (data.batch(2), "snapshot", "cache"),
        (model, "save", "save_weights"),
        (model, "to_json", "save_weights"),
        (model, "inputs", "models are not made of inputs and outputs"),
    ):
        with pytest.raises(MissingError, match=rf"weft.tf has no tf\.\w+\.\w+\.{name}: .*{text}"):
            getattr(of, name)
        assert not hasattr(of, name)

    class Mine(tf.keras.Model):
        def save(self, path):
            return path

    assert Mine().save("there") == "there"
    with pytest.raises(AttributeError, match="'Sequential' object has no attribute 'nothing'"):
        model.nothing
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        data.nothing


def test_functional_models_say_what_to_write():
    inputs = tf.keras.Input((3,))
    for call in (tf.keras.layers.Dense(1), tf.nn.relu, tf.keras.Sequential([tf.keras.layers.Dense(1)])):
        with pytest.raises(TypeError, match="write a Sequential of layers, or a subclass of Model with a method call"):
            call(inputs)
    for call in (lambda: tf.keras.Model(inputs, inputs), lambda: tf.keras.Model(inputs=inputs, outputs=inputs)):
        with pytest.raises(ValueError, match="models are not made of inputs and outputs"):
            call()


def test_variables_of_a_shape():
    v = tf.Variable([1.0, 2.0], shape=(2,), dtype=tf.float32)
    assert v.shape == (2,) and tf.Variable(1.0, shape=()).shape == () and tf.Variable(1.0, shape=None).shape == ()
    assert tf.Variable([1.0], shape=tf.TensorShape([1])).shape == (1,)
    for shape in ((3,), (2, 1), (), (None,)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="keeps the shape of its first value"):
            tf.Variable([1.0, 2.0], shape=shape)


def test_wrong_words_of_keras():
    with pytest.raises(TypeError, match="'kernel_regularizer': there are no regularizers: add the term to the loss"):
        tf.keras.layers.Dense(1, kernel_regularizer="l2")
    with pytest.raises(TypeError, match="'bias_constraint': there are no constraints"):
        tf.keras.layers.Dense(1, bias_constraint="max")
    with pytest.raises(TypeError, match="'dim'; did you mean 'axis'"):
        tf.reduce_sum([1.0], dim=0)
    with pytest.raises(TypeError, match="'max_to_keep'; did you mean 'keep'"):
        wf.CheckpointManager("folder", max_to_keep=2)
