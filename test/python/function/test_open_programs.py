"""Random programs of indices and ops, traced for sizes that are open: the first of `./x fuzz sizes`."""

import os
import subprocess
import sys
from pathlib import Path

import weft as wf

PROGRAMS = int(os.environ.get("WEFT_PROGRAMS", "40"))
_FUZZER = Path(__file__).resolve().parents[2] / "fuzz/sizes/main.py"


def test_programs():
    """None dies, differs from NumPy or an eager call, or is refused without a reason that is documented."""
    environment = {**os.environ, "PYTHONPATH": str(Path(wf.__file__).parents[1])}
    command = [sys.executable, str(_FUZZER), "--count", str(PROGRAMS), "--jobs", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.splitlines()[-1] == f"{PROGRAMS} passed, 0 failed"
