"""The end of Python while threads of it are in the middle of work: it ends as if they were not there."""

import os
import subprocess
import sys

import pytest

_START = """
import sys, threading, time
import numpy as np
import weft as wf
{work}
iterations = 0
def forever():
    global iterations
    while True:
        work()
        iterations += 1
for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
while iterations < 2 and {waits}:
    time.sleep(0.01)
time.sleep({delay})
"""

_WORK = {
    "traces": """
def work():
    @wf.function
    def f(x):
        for i in wf.range(wf.cast(x[0], 'int32')):
            x = x * 2 + wf.cast(i, 'float32')
        return x
    f(wf.ones([3]))
""",
    "host calls": """
@wf.function
def f(x):
    return wf.numpy_function(lambda y: y + 1, [x], wf.TensorSpec([3], 'float32'))
def work():
    f(wf.ones([3]))
""",
    "a host call that never ends": """
@wf.function
def f(x):
    return wf.numpy_function(lambda y: time.sleep(1000), [x], wf.TensorSpec([3], 'float32'))
def work():
    f(wf.ones([3]))
""",
    "data loops": """
def work():
    for x in wf.data.range(100).map(lambda v: v * 2, workers=2).prefetch(2):
        pass
""",
    "custom gradients": """
@wf.custom_gradient
def square(x):
    return x * x, lambda g: g * 2 * x
def work():
    w = wf.Variable([1.0, 2.0])
    with wf.GradientTape() as tape:
        y = wf.sum(square(w))
    tape.gradient(y, w)
""",
    "conversions": """
class Slow:
    def __array__(self, dtype=None, copy=None):
        time.sleep(0)
        return np.ones(3)
def work():
    wf.add(Slow(), Slow())
    str(wf.ones([4]))
""",
    "derivatives": """
f = wf.grad(lambda x: wf.sum(x * x))
def work():
    f(wf.ones([4]))
""",
    "networks": """
net = wf.nn.Sequential([wf.nn.Dense(4), wf.nn.Dense(1)])
adam = wf.optimizers.Adam(1e-3)
def work():
    with wf.GradientTape() as tape:
        loss = wf.mean(net(wf.ones([2, 3])))
    adam.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
""",
}


@pytest.mark.parametrize("work", _WORK)
def test_daemons_in_the_middle_of_work(work, tmp_path):
    """Python ends daemon threads where they next want its lock: not in the middle of C++."""
    ends = "False" if "never" in work else "True"
    for delay in (0.0, 0.02, 0.05):
        program = _START.format(work=_WORK[work], waits=ends, delay=delay + (0.2 if ends == "False" else 0))
        path = tmp_path / "program.py"
        path.write_text(program)
        done = subprocess.run(
            [sys.executable, str(path)],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        )
        assert (done.returncode, done.stderr, done.stdout) == (0, "", "")
