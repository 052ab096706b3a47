"""Where the source of functions is found, and what conversions keep, cost and share."""

import gc
import importlib
import linecache
import os
import pathlib
import subprocess
import sys
import threading
import time
import weakref

import autograph_samples as samples
import numpy as np
import pytest
from double import Program, T, agree, arange, i32
from weft import _autograph
from weft._autograph import AutoGraphWarning, convert, converted_call, prepass, to_code

ints = [(i32(n),) for n in (-3, 0, 1, 2, 5, 8)]


# Where source comes from


def test_notebook_cells():
    text = "def f(x):\n    if x > 0:\n        return x * 2\n    return x\n"
    name = "<ipython-input-3-abcdef>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"__name__": "__main__"}
    exec(compile(text, name, "exec"), scope)
    agree(scope["f"], *ints)


def test_lambdas_on_a_line():
    # fmt: off
    def pair(): return (lambda x: x * 2 if x > 0 else x, lambda x: -x if x > 0 else x)  # noqa: E704
    # fmt: on

    first, second = pair()
    agree(first, *ints)
    agree(second, *ints)
    nested = lambda x: (lambda y: y + 1 if y > 0 else y)(x) if x > 1 else x  # noqa: E731
    agree(nested, *ints)


def test_file_that_changed(tmp_path, monkeypatch):
    file = tmp_path / "changing.py"
    file.write_text("def f(x):\n    if x > 0:\n        x = x + 1\n    return x\n")
    sys.path.insert(0, str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    try:
        module = importlib.import_module("changing")
        file.write_text("# A new line\ndef f(y):\n    return y\n")
        linecache.checkcache(str(file))
        with pytest.warns(AutoGraphWarning, match="changing.py changed since it was imported"):
            with pytest.raises(TypeError):
                Program(module.f, i32(1))
        text = "def g(x):\n    if x > 0:\n        x = x + 1\n    return x\n"
        file.write_text(text)
        module = importlib.reload(module)
        linecache.checkcache(str(file))
        file.write_text(text.replace("+ 1", "+ 2"))  # of the same shape
        with pytest.warns(AutoGraphWarning, match="changing.py changed since it was imported"):
            with pytest.raises(TypeError):
                Program(module.g, i32(1))
        file.write_text("def f(y, z=1):\n    if y > 0:\n        y = y + z\n    return y\n")
        module = importlib.reload(module)
        agree(module.f, *ints)
    finally:
        sys.path.remove(str(tmp_path))


def test_same_code_in_two_files(tmp_path):
    text = "def f(x):\n    if x > 0:\n        x = x + undefined\n    return x\n"
    for name in ("one.py", "two.py"):
        (tmp_path / name).write_text(text)
        scope = {"__name__": "user"}
        exec(compile(text, str(tmp_path / name), "exec"), scope)
        with pytest.raises(NameError) as caught:
            Program(scope["f"], i32(1))
        assert list(caught.traceback)[-1].path == tmp_path / name


# Caches, threads, cost


def make():
    factor = 2

    def f(x):
        return x * factor if x > 0 else x

    def change(value):
        nonlocal factor
        factor = value

    return f, change


class Thing:
    pass


def test_conversions_die_with_their_functions():
    def once():
        scope = {"__name__": "user"}
        text = "def f(x):\n    return x if x > 0 else -x\n"
        linecache.cache["<cell>"] = (len(text), None, text.splitlines(True), "<cell>")
        exec(compile(text, "<cell>", "exec"), scope)
        agree(scope["f"], *ints)
        return weakref.ref(scope.pop("f")), weakref.ref(scope.setdefault("x", Thing()))

    gone = [once() for _ in range(3)]
    closures = [weakref.ref(make()[0]) for _ in range(3)]
    gc.collect()
    assert all(a() is None and b() is None for a, b in gone)
    assert all(c() is None for c in closures)


def test_traces_leave_nothing_behind():
    def f(x):
        total = 0
        for i in arange(x):
            if not i > 2:
                continue
            total += i if i > 3 else -i
        while x > 0 and not total > 50:
            x -= 1
        return total + x

    def living():
        gc.collect()
        return sum(type(thing) is T for thing in gc.get_objects())

    before = living()
    for _ in range(3):
        agree(f, *ints)
        with pytest.raises(TypeError):
            Program(lambda x: [y for y in range(x)], i32(1))
    assert living() == before


def test_a_trace_within_a_staged_body():
    def inner(x):
        found = []
        found.append(x)
        return found[0] * 2 if x > 1 else x

    def f(x):
        if x > 0:
            nested = Program(inner, i32(1))
            x = x + int(nested(i32(5)))
        return x

    program = Program(f, i32(1))
    assert [program(i32(n)) for n in (-1, 1)] == [-1, 11]


def test_threads():
    errors = []

    def run():
        try:
            scope = {"__name__": "user"}
            exec("pass", scope)
            converted = convert(samples.helper)
            assert converted(3) == 6
            assert to_code(samples.calls_all)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


def test_import_is_cheap():
    import subprocess

    folder = pathlib.Path(_autograph.__file__).parents[2]
    text = (
        "import sys, types; p = types.ModuleType('weft'); "
        f"p.__path__ = [{str(folder / 'weft')!r}]; sys.modules['weft'] = p; "
        "import weft._autograph; print([m for m in ('malt', 'numpy', 'ast', 'inspect') "
        "if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result


def test_converted_call_is_cheap():
    operation = np.ndarray.__len__
    x = np.zeros(3)

    def best(run):
        return min(min(timed(run) for _ in range(5)) for _ in range(5))

    def timed(run):
        start = time.perf_counter()
        for _ in range(2000):
            run()
        return (time.perf_counter() - start) / 2000

    args = (x,)
    plain = best(lambda: operation(*args))
    converted = best(lambda: converted_call(operation, args, None))
    assert converted - plain < 2e-6  # about 0.2 us; far more on a busy machine


def test_the_text_is_the_same_in_every_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import weft as wf\n"
        "def f(items):\n"
        "    for c in items:\n"
        "        d = c\n"
        "        if d > 2:\n"
        "            continue\n"
        "        e = d\n"
        "    return items\n"
        "print(wf.function(f).to_code())\n"
    )
    path = os.pathsep.join(sys.path)
    texts = {
        subprocess.run(
            [sys.executable, str(program)], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": str(seed)},
        ).stdout
        for seed in range(4)
    }
    assert len(texts) == 1 and "ag__f" in texts.pop()


def from_module(name, error):
    """A function of a module of that name that raises."""
    scope = {"__name__": name, "error": error}
    exec("def raises(*_):\n    raise error", scope)
    return scope["raises"]


def test_what_malt_does_not_take_runs_as_it_is(monkeypatch):
    def f(x):
        return x + 1

    monkeypatch.setattr(prepass, "prepare", from_module("malt.pyct.some", ValueError("odd tree")))
    with pytest.warns(AutoGraphWarning, match=r"diastatic-malt does not take it \(ValueError: odd tree\)"):
        Program(f, i32(1))


def test_malt_that_is_not_installed(monkeypatch):
    def f(x):
        return x + 1

    missing = ModuleNotFoundError("No module named 'malt'", name="malt")
    monkeypatch.setattr(prepass, "prepare", from_module("importlib", missing))
    with pytest.warns(AutoGraphWarning, match="malt is not installed, which `pip install diastatic-malt` brings"):
        Program(f, i32(1))


@pytest.mark.parametrize("error", [KeyError("x"), MemoryError(), ModuleNotFoundError("some", name="some")], ids=repr)
def test_errors_of_the_conversion_itself_show(monkeypatch, error):
    """Even where malt called what raised: nobody would see that a function is not converted for a fault."""

    def f(x):
        return x + 1

    monkeypatch.setattr(prepass, "prepare", from_module("weft._autograph.prepass", error))
    with pytest.raises(type(error)):
        Program(f, i32(1))
