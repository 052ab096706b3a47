"""Ctrl-C in compiled loops."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import weft as wf


def interrupt_soon(seconds=0.4):
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


@wf.function
def forever(x):
    while wf.sum(x) > -1.0:
        x = x + 1.0
    return x


def test_a_loop_without_end():
    forever(wf.tensor([-5.0]))  # compiles
    for _ in range(3):
        interrupt_soon()
        with pytest.raises(KeyboardInterrupt):
            forever(wf.tensor([1.0]))
    assert forever(wf.tensor([-5.0])).shape == (1,)


def test_variables_hold_the_last_turn():
    w, n = wf.Variable(wf.zeros([300])), wf.Variable(0)

    @wf.function
    def count(limit):
        for _ in range(limit):
            w.assign_add(wf.ones([300]))
            n.assign_add(1)

    count(wf.tensor(2))
    interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        count(wf.tensor(2_000_000_000))
    iterations = int(n)
    assert iterations > 2
    assert set(w.numpy().tolist()) == {float(min(iterations, 2**24))}
    count(wf.tensor(3))
    assert int(n) == iterations + 3


def test_other_handlers_run_and_the_loop_goes_on():
    seen = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))

    @wf.function
    def spin(limit):
        s = 0
        for _ in range(limit):
            s += 1
        return s

    spin(wf.tensor(1))
    try:
        start = time.perf_counter()
        spin(wf.tensor(50_000_000))
        per_iteration = (time.perf_counter() - start) / 50_000_000
        iterations = min(int(1.0 / per_iteration), 2_000_000_000)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert int(spin(wf.tensor(iterations))) == iterations
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [signal.SIGALRM]


def test_in_another_thread_the_main_one_is_interrupted():
    stop = wf.Variable(1.0)

    @wf.function
    def until_stopped(x):
        while stop > 0.0:
            x = x + 1.0
        return x

    worker = threading.Thread(target=lambda: forever(wf.tensor([-7.0])))
    worker.start()
    interrupt_soon(0.2)
    with pytest.raises(KeyboardInterrupt):
        while True:
            time.sleep(0.01)
    worker.join()
    stop.assign(0.0)
    assert until_stopped(wf.tensor(1.0)) == 1.0


PROGRAM = """
import weft as wf
@wf.function
def forever(x):
    while wf.sum(x) > -1.0:
        x = x + 1.0
    return x
print("ready", flush=True)
forever(wf.tensor([1.0]))
"""


def test_a_program_ends_as_python_does(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    path = str(Path(wf.__file__).parents[1])
    child = subprocess.Popen(
        [sys.executable, str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert child.stdout.readline() == "ready\n"
    time.sleep(1.5)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert child.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


HANDLER_CALLS = """
import os, signal, sys, threading, time
import weft as wf
g, seen = wf.function(lambda x: x + 1.0), []
functions = [wf.function(lambda x: x * 2.0) for _ in range(4)]
def handler(number, frame):
    seen.append(float(functions.pop()(wf.tensor(1.0))))
signal.signal(signal.SIGUSR1, handler)
class Finder:
    def find_spec(self, name, path, target=None):
        if name in sys.argv[1:]:
            sys.argv.remove(name)
            os.kill(os.getpid(), signal.SIGUSR1)
            time.sleep(0.1)
sys.meta_path.insert(0, Finder())
value = float(g(wf.tensor(1.0)))
print(value, seen, sys.argv[1:])
"""


def test_a_handler_calls_a_function_during_the_first_import(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(HANDLER_CALLS)
    modules = ["weft._staging", "weft._autograph.calls", "weft._autograph.passes", "malt"]
    for each in [*([module] for module in modules), modules]:
        child = subprocess.run(
            [sys.executable, str(program), *each], capture_output=True, text=True, timeout=120,
            env={**os.environ, "PYTHONPATH": str(Path(wf.__file__).parents[1])},
        )  # fmt: skip
        # A signal that comes while one waits for its handler is the same one.
        wanted = [f"2.0 {[2.0] * count} []\n" for count in range(1, len(each) + 1)]
        assert child.stdout in wanted and child.stderr == ""


HANDLER_RAISES = """
import linecache, random, signal, time
import weft as wf
class Late(Exception): pass
def handler(number, frame): raise Late
signal.signal(signal.SIGALRM, handler)
draw, x, raised = random.Random(7), wf.tensor([1.0, 2.0]), 0
for k in range(60):
    name, text = f"<{k}>", f'''
def body(x):
    for i in range(3):
        if wf.sum(x) > {k}.0: x = x - 1.0
        else: x = x + helper(x)
    while wf.sum(x) < 5.0: x = x * 2.0 + 1.0
    return x
def helper(x):
    if wf.max(x) > 3.0: return x * 0.5
    return x
'''
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {"wf": wf}
    exec(compile(text, name, "exec"), names)
    try:
        signal.setitimer(signal.ITIMER_REAL, draw.uniform(0.0002, 0.03))
        while True:
            wf.function(names["body"])(x)
    except Late:
        raised += 1
print(raised)
"""


def test_what_a_handler_raises_is_not_lost_while_a_function_is_traced(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(HANDLER_RAISES)
    child = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(wf.__file__).parents[1])},
    )  # fmt: skip
    assert (child.stdout, child.stderr) == ("60\n", "")


@pytest.mark.parametrize("construct", ["while", "for", "nested"])
def test_what_is_raised_once_while_a_loop_is_traced_is_not_lost(construct):
    class OnceError(Exception):
        pass

    @wf.autograph.do_not_convert
    def count(x):
        calls.append(x)
        if len(calls) == at:
            raise OnceError
        return x

    def f(x):
        if construct == "while":
            while wf.sum(x) < 5.0:
                x = count(x) * 2.0 + 1.0
        elif construct == "for":
            for _ in range(n):
                x = count(x) + 1.0
        else:
            for _ in range(n):
                while wf.sum(count(x)) < 5.0:
                    x = count(x) * 2.0 + 1.0
        return x

    x, n = wf.tensor([1.0, 2.0]), wf.tensor(3)
    for at in range(1, 9):
        calls = []
        try:
            wf.function(f)(x)
            raised = False
        except OnceError:
            raised = True
        assert raised == (len(calls) >= at), (at, len(calls))
