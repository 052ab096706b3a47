"""Threads: calls of one function from many, traces at once, and a lock of Python that is free meanwhile."""

import subprocess
import sys
import threading
import time

import weft as wf


def run_all(*works):
    failures = []

    def guarded(work):
        try:
            work()
        except BaseException as error:  # noqa: BLE001
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not failures, failures


def test_many_threads_call_one_function():
    traced = []

    @wf.function
    def f(x, n):
        traced.append(n)
        y = x
        for i in range(n):
            y = y + x
        return y

    def work():
        for k in range(100):
            n = k % 4
            assert float(f(wf.tensor(2.0), n)) == 2.0 * (n + 1)

    run_all(*[work] * 8)
    assert sorted(traced) == [0, 1, 2, 3]


def test_threads_trace_functions_that_call_each_other():
    @wf.function
    def a(x):
        time.sleep(0.001)
        return b(x) + 1 if x.shape == () else x

    @wf.function
    def b(x):
        time.sleep(0.001)
        return x * 2

    run_all(
        lambda: a(wf.tensor(1.0)),
        lambda: b(wf.tensor(1.0)),
        lambda: a(wf.tensor(1)),
        lambda: b(wf.tensor(1)),
    )
    assert float(a(wf.tensor(3.0))) == 7


def test_other_threads_run_while_one_computes():
    @wf.function
    def slow(x, n):
        for _ in range(n):
            x = wf.sin(x) + 1e-3
        return x

    x, few, many = wf.ones([64]), wf.tensor(1), wf.tensor(400000)
    slow(x, few)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.perf_counter()
    slow(x, many)
    seconds = time.perf_counter() - start
    done.set()
    thread.join()
    assert seconds < 0.05 or counted[0] > 10


def test_nothing_is_left_when_python_ends():
    program = (
        "import weft as wf\n"
        "@wf.function(autograph=False)\n"
        "def f(x): return {'a': x, 'b': [wf.py_function(lambda t: t, [x], wf.float32)]}\n"
        "f(wf.tensor(1.0))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stderr == ""


def test_importing_stays_cheap():
    program = "import sys, weft; print([m for m in ('numpy', 'malt', 'inspect', 'weft._autograph') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_first_calls_of_a_layer_whose_initializer_is_of_python():
    def ones(shape, dtype):
        time.sleep(0.02)  # others take Python's lock, and come to the same variable
        return wf.ones(shape, dtype)

    for _ in range(3):
        layer, x = wf.nn.Dense(3, kernel_initializer=ones), wf.ones((2, 4))
        results = []
        run_all(*[lambda layer=layer: results.append(layer(x).numpy().tolist())] * 4)
        assert results == [[[4.0] * 3] * 2] * 4
