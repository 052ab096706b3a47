"""Messages of the library in the words of Python, and arguments that must be lists."""

import pytest

import weft as wf

X = wf.tensor([1.0, 2.0])


def twice():
    with wf.GradientTape() as tape:
        tape.watch(X)
        y = wf.sum(X)
    tape.gradient(y, X)
    tape.gradient(y, X)


@wf.function
def recursive(n):
    return recursive(n)


SAID = {
    "persistent=True": twice,
    "count down a number of Python": lambda: recursive(wf.tensor(1)),
    "random.uniform: low must": lambda: wf.random.uniform((2,), 3.0, 1.0),
    "random.normal: the mean": lambda: wf.random.normal((2,), stddev=-1.0),
    "TensorArray.write: the index": lambda: wf.TensorArray("float32", 2).write(0.5, 1.0),
    "assertion failed: TensorArray.read: index 3": lambda: wf.TensorArray("float32", 2).read(3),
    "Checkpoint.restore: the path is empty": lambda: wf.Checkpoint(v=wf.Variable(1.0)).restore(""),
    "summary.Writer: the path is empty": lambda: wf.summary.create_file_writer(""),
    "data.range: the step is 0": lambda: wf.data.range(0, 5, 0),
    "py_function f: result 0 must be": lambda: wf.py_function(lambda x: x, [X], wf.TensorSpec((), wf.float32), name="f"),
}


@pytest.mark.parametrize("said", SAID)
def test_words(said):
    with pytest.raises(wf.Error) as caught:
        SAID[said]()
    text = str(caught.value)
    assert f"test_words.py:{caught.value.line}: " in text and said in text
    for word in ("::", "{.", "C++", "host_call", "= true"):
        assert word not in text and word not in caught.value.message


def test_names_of_the_user_stay():
    v = wf.Variable([1.0], name="random::data::x")
    with pytest.raises(wf.ShapeError, match="'random::data::x'"):
        v.assign([1.0, 2.0])


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("given", [X, wf.tensor(0), 3, {"a": X}], ids=repr)
def test_lists_are_wanted(given, traced):
    calls = {
        "while_loop: loop_vars": lambda: wf.while_loop(lambda x: x < 3, lambda x: x, given),
        "for_loop: loop_vars": lambda: wf.for_loop(3, lambda i, x: x, given),
        "py_function: inp": lambda: wf.py_function(lambda x: x, given, wf.float32),
        "numpy_function: inp": lambda: wf.numpy_function(lambda x: x, given, wf.float32),
    }
    for said, call in calls.items():
        message = f"{said} is of type {type(given).__name__}: a list or tuple is wanted"
        with pytest.raises(TypeError, match=message):
            (wf.function(call) if traced else call)()
