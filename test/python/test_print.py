"""wf.print: pieces, streams, its order in traced functions, and bad input."""

import collections
import io
import sys
import threading

import pytest

import weft as wf


def test_pieces(capsys):
    wf.print()
    wf.print("loss", wf.tensor(0.5), "at", 3, True, 1e300, wf.Variable([1.0, 2.0]), [[1, 2], [3, 4]])
    wf.print("{} of {}, and", wf.tensor(1), wf.tensor(2), 3)
    wf.print("héllo", 2**40)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "" and lines[1].startswith("loss 0.5 at 3 true 1e+300 tensor([1, 2], shape=(2,)")
    assert lines[1].endswith(" [[1, 2], [3, 4]]")
    assert lines[-2:] == ["1 of 2, and 3", "héllo 1099511627776"]


def _nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


Pair = collections.namedtuple("Pair", "a b")


def _show(x):
    wf.print("s", x.shape, x[0].shape, wf.sum(x).shape, None, (1,), wf.float32, sep=", ", end="!\n")
    wf.print({"loss": wf.sum(x), "all": [1, x[0, 0], "text", None]}, Pair(1, x[0, 1]), ())
    wf.print(1, x[0, 0], end="")
    wf.print("|", 3, sep="", end=None)
    wf.print("{} of {}", {"a": 1}, x[0, 0], wf.sum(x), sep="-")
    wf.print({}, "a {} b", x[0, 0])


def test_structures_and_separators(capsys):
    wanted = [
        "s, (2, 2), (2,), (), None, (1,), float32!",
        "{'loss': 4, 'all': [1, 1, 'text', None]} Pair(a=1, b=1) ()",
        "1 1|3",
        "1 of 4-{'a': 1}",
        "{ } a 1 b",
    ]
    f = wf.function(_show)
    for call in (_show, f, f):
        call(wf.ones((2, 2)))
        assert capsys.readouterr().out.splitlines() == wanted


def test_it_is_an_effect_of_the_program(capsys):
    v = wf.Variable(0)

    @wf.function
    def count(n):
        for i in wf.range(n):
            v.assign_add(i)
            if i % 2 == 0:
                wf.print("turn", i, "sum", v)
        return v.value()

    for _ in range(2):
        v.assign(0)
        count(wf.tensor(4))
        assert capsys.readouterr().out == "turn 0 sum 0\nturn 2 sum 3\n"
    assert count.trace_count() == 1
    assert "weft.print" in count.ir(wf.tensor(4), phase="trace")


def test_it_goes_where_sys_stdout_is(monkeypatch):
    out = io.StringIO()
    f = wf.function(lambda x: wf.print("x is", x))
    monkeypatch.setattr(sys, "stdout", out)
    wf.print("a")
    f(wf.tensor(2.0))
    threads = [threading.Thread(target=f, args=(wf.tensor(3.0),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(out.getvalue().splitlines()) == ["a", "x is 2"] + ["x is 3"] * 4
    monkeypatch.setattr(sys, "stdout", None)
    wf.print("nowhere")


class Broken(io.StringIO):
    def write(self, _):
        raise BrokenPipeError("nobody reads")


def test_what_cannot_be_written_is_raised(monkeypatch):
    f = wf.function(lambda x: wf.print("x is", x))
    f(wf.tensor(1.0))
    monkeypatch.setattr(sys, "stdout", Broken())
    for call in (lambda: wf.print("a"), lambda: f(wf.tensor(2.0))):
        with pytest.raises(BrokenPipeError, match="nobody reads"):
            call()


@pytest.mark.parametrize(
    "use, kind, words",
    [
        (lambda: wf.print("{} {}", 1), ValueError, "print"),
        (lambda: wf.print("x", flush=True), TypeError, "unexpected argument 'flush': there are sep and end"),
        (lambda: wf.print("x", sep=1), TypeError, "print: sep is of type int"),
        (lambda: wf.print("x", end=b""), TypeError, "print: end is of type bytes"),
        (lambda: wf.print(_nested(5000)), (TypeError, ValueError), "print: .*deep"),
        (lambda: wf.print("\ud800"), UnicodeEncodeError, "surrogates"),
    ],
)
def test_bad_input(use, kind, words):
    with pytest.raises(kind, match=words):
        use()


def test_dtypes_are_pythons(capsys):
    x, d = wf.tensor([1, 2]), wf.tensor([0.5], "float64")
    wf.print("an f32), dtype=f32", x, d)
    wf.function(lambda x, d: wf.print("an f32), dtype=f32", x, d))(x, d)
    line = "an f32), dtype=f32 tensor([1, 2], shape=(2,), dtype=int32) tensor([0.5], shape=(1,), dtype=float64)"
    assert capsys.readouterr().out.splitlines() == [line, line]
