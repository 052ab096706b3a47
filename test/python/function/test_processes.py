"""Weft in child processes: fork after use, and spawn."""

import multiprocessing
import os
import pickle
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import pytest

import weft as wf

A = np.random.default_rng(7).normal(size=(64, 64)).astype(np.float32)


@wf.function
def step(x, n):
    for _ in range(n):
        x = wf.tanh(x @ x)
    return x


def work(x):
    """Eager ops on all threads, a compiled call, a new trace, a tape: in whatever process this is."""
    y = step(x, wf.tensor(3))
    z = step(x[:32, :32], wf.tensor(2))
    big = wf.exp(wf.zeros([1 << 20]))
    w = wf.Variable(x)
    with wf.GradientTape() as tape:
        loss = wf.sum(wf.square(w @ x))
    g = tape.gradient(loss, w)
    return [y.numpy(), z.numpy(), np.float32(wf.mean(big).item()), g.numpy()]


def put_work(queue, x):
    queue.put(work(x))


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_child_processes(method):
    want = work(wf.tensor(A))  # the parent has used threads, the compiler and its caches
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of fork with threads, from 3.12 on
        child = context.Process(target=put_work, args=(queue, wf.tensor(A)))
        child.start()
    got = queue.get(timeout=120)
    child.join(timeout=60)
    assert child.exitcode == 0
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(want, work(wf.tensor(A)), strict=True):
        np.testing.assert_array_equal(a, b)  # the parent goes on


def test_fork_in_the_middle_of_work():
    """Children forked while other threads compute and compile, which hold locks then."""
    import threading

    stop = threading.Event()

    def busy():
        n = 2
        while not stop.is_set():
            n = n % 40 + 1
            step(wf.ones([n, n]), wf.tensor(1))

    threads = [threading.Thread(target=busy) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                child = os.fork()
            if child == 0:
                code = 1
                try:
                    x = wf.tensor(A[:8, :8])
                    ok = wf.sum(x @ x).shape == () and step(x, wf.tensor(1)).shape == (8, 8)
                    code = 0 if ok else 2
                finally:
                    os._exit(code)
            assert wait_for(child) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_fork_while_the_first_call_imports_and_converts():
    """What a traced function needs is imported at its first use, under locks that a child would wait for."""
    program = """
import os, threading, time
import weft as wf

@wf.function
def f(x):
    while wf.sum(x) < 10.0:
        x = x * 2.0
    return x

thread = threading.Thread(target=lambda: f(wf.ones([2])))
thread.start()
time.sleep(delay)
child = os.fork()
if child == 0:
    os._exit(0 if f(wf.ones([2, 2])).shape == (2, 2) else 2)
end = time.monotonic() + 30
while time.monotonic() < end:
    done, status = os.waitpid(child, os.WNOHANG)
    if done:
        thread.join()
        os._exit(os.waitstatus_to_exitcode(status))
    time.sleep(0.01)
os.kill(child, 9)
os._exit(3)
"""
    for delay in (0.001, 0.02, 0.1):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(f"delay = {delay}\n{program}")
            file.flush()
            path = os.path.dirname(os.path.dirname(wf.__file__))
            assert subprocess.run([sys.executable, "-W", "ignore", file.name], env={**os.environ, "PYTHONPATH": path}).returncode == 0


def wait_for(child, seconds=60):
    """The exit code of a child, which is killed if it takes too long."""
    import time

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return "hung"


def test_functions_say_that_they_are_not_pickled():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(step)
