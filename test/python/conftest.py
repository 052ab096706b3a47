"""What the tests of the Python package share: the build's package on the path, and the memory that tensors hold."""

import gc
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import pytest

_BUILT = Path(__file__).resolve().parents[2] / "build/release/python"
if not any((Path(entry) / "weft/_weft.pyi").exists() for entry in sys.path if entry):
    sys.path.insert(0, str(_BUILT))

# Here, and in programs that tests run, what is left of the module when Python has ended is listed.
os.environ.setdefault("WEFT_LEAK_WARNINGS", "1")

# Compiled code is kept for this run alone: what a run before it left would hide what tests compile. Workers share the folder.
if "WEFT_CACHE_DIR" not in os.environ:
    _CACHE = tempfile.TemporaryDirectory(prefix="weft-test-cache-", ignore_cleanup_errors=True)
    os.environ["WEFT_CACHE_DIR"] = _CACHE.name

import weft as wf  # noqa: E402


@pytest.fixture(autouse=True)
def ctrl_c():
    """Ctrl-C ends a wait in each test, and in what it starts: where a script began the tests in the background, SIGINT is ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGALRM})


@pytest.fixture(autouse=True)
def own_forms():
    """Weft's own printed forms and dtypes' names, whatever a test before this one imported."""
    wf.set_printoptions(style="numpy")


@pytest.fixture(autouse=True)
def on_device():
    """New tensors go to WEFT_TEST_DEVICE, if that is set."""
    with wf.device(os.environ.get("WEFT_TEST_DEVICE", "cpu")):
        yield


EMULATOR = Path(wf._weft.__file__).absolute().parents[2] / "lib/libweft-gpu-emulator.so"


@pytest.fixture
def on_gpu():
    """Runs a program, or a file with arguments, where there is an emulated GPU, or what `driver` names."""

    def run(program, options="", driver=EMULATOR, seconds=300, **more):
        environment = dict(os.environ, WEFT_CUDA_DRIVER=str(driver), WEFT_GPU_EMULATOR=options, **more)
        words = program
        if isinstance(program, str):
            words = ["-c", "import numpy as np, pytest, weft as wf\n" + textwrap.dedent(program)]
        done = subprocess.run([sys.executable, *map(str, words)], env=environment, capture_output=True, text=True, timeout=seconds)
        assert done.returncode == 0, done.stdout[-20000:] + done.stderr
        return done.stdout

    return run


@pytest.fixture
def live():
    """Checks that the test leaves no tensor behind: all are in blocks that the allocator counts."""

    def held():
        gc.collect()
        return wf.memory_stats()["current"]

    before = held()
    yield held
    assert held() == before


def pytest_collection_modifyitems(config, items):
    """Runs the tests whose name contains WEFT_FILTER, as `./x test FILTER` has it for all tests."""
    word = os.environ.get("WEFT_FILTER", "")
    others = [item for item in items if word not in item.nodeid]
    if word and others:
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if word in item.nodeid]
