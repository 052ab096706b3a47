"""Each public function is named in its errors by the name that the user called it by."""

import re

import pytest
import weft as wf

# Conversions of the arguments themselves, which users know by these names.
CONVERSIONS = ("the truth value of", "int() of", "a tensor of rank 0 ", "dtype: the argument", "index: ")
WRONG = [
    object(), None, "text", -7, 2.5, {}, [99], [[1.0], [1.0, 2.0]], wf.ones([0]), wf.ones([2, 3]), wf.ones([2, 3], "bool"),
    wf.ones([3, 2], "int32"), wf.ones([2, 2, 2, 2]), wf.tensor(1),
]  # fmt: skip


def _functions():
    others = {"function", "print"}  # which take anything
    for name in wf.__all__:
        value = getattr(wf, name)
        if name[0] != "_" and name not in others and callable(value) and not isinstance(value, type):
            yield name


def _error_of(call):
    try:
        call()
    except OSError:
        return None  # which begins with the file
    except Exception as error:  # noqa: BLE001 (of any type)
        return re.sub(r"^\w+\.py:\d+: ", "", str(error))
    return None


def _calls(function):
    yield function
    yield lambda: function(wf.ones([2]), no_such_word=1)
    for i, a in enumerate(WRONG):
        yield lambda a=a: function(a)
        for j, b in enumerate(WRONG):
            yield lambda a=a, b=b: function(a, b)
            if (i + j) % 3 == 0:
                yield lambda a=a, b=b: function(a, b, b)
                yield lambda a=a, b=b: function(a, b, a, b)


@pytest.mark.parametrize("name", list(_functions()))
def test_errors_name_the_function_that_was_called(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    function = getattr(wf, name)
    assert function.__name__ == name
    op = name.removeprefix("reduce_")  # as the op is called, and its function beside `max` of Python
    others = set()
    for call in _calls(function):
        said = _error_of(call)
        if said is not None and not said.startswith(CONVERSIONS) and not re.match(rf"(weft\.)?({name}|{op})\b", said):
            others.add(said[:100])
    assert not others


X = wf.ones([1, 4, 1])


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("max_pool", lambda n: wf.max_pool(X, 9)),
        ("min_pool", lambda n: wf.min_pool(X, 9)),
        ("average_pool", lambda n: wf.average_pool(X, 9)),
        ("flip", lambda n: wf.flip(X, 7)),
        ("empty", lambda n: wf.empty([n - 9])),
        ("empty_like", lambda n: wf.empty_like(object())),
        ("linspace", lambda n: wf.linspace(0, 1, n - 9)),
        ("arange", lambda n: wf.arange(wf.reshape(n, [1, 1, 1]), wf.ones([2]))),
        ("tile", lambda n: wf.tile(X, [n - 9])),
        ("concat", lambda n: wf.concat([wf.ones([n, 2]), wf.ones([n + 1, 2])], 1)),
        ("broadcast_to", lambda n: wf.broadcast_to(wf.ones([2]), [n])),
    ],
)
def test_errors_of_traced_functions_name_what_was_called(name, call):
    for run in (call, wf.function(call)):
        said = _error_of(lambda run=run: run(wf.tensor(5)))
        assert said is not None
        assert re.match(rf"(weft\.)?{name}\b", said), said


def test_aliases_are_functions_of_their_own():
    assert wf.flip.__name__ == "flip"
    assert wf.flip.__doc__ == wf.reverse.__doc__
    assert wf.flip.__text_signature__ == wf.reverse.__text_signature__
    assert wf.flip([1, 2]).tolist() == [2, 1]
    with pytest.raises(TypeError, match=r"weft.reverse\(\) got an unexpected"):
        wf.reverse([1], no_such_word=1)


def test_names_of_files_stay_in_errors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").write_text("no image")
    for name in ("read_image", "read_npz"):
        with pytest.raises(OSError, match=f"{name}: folder: is n"):
            getattr(wf.data, name)("folder")
