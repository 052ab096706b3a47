"""`wf.show_versions` and `python -m weft`."""

import os
import subprocess
import sys
from pathlib import Path

import weft as wf


def test_show_versions(capsys):
    wf.show_versions()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["Weft", wf.__version__]
    assert any(line.startswith("Python ") for line in lines)
    assert any(line.startswith("numpy ") for line in lines)


def run(*arguments):
    path = str(Path(wf.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-m", "weft", *arguments],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, timeout=60, check=False,
    )


def test_python_m_weft_names_the_tools():
    done = run()
    assert done.returncode == 0 and done.stderr == ""
    assert wf.__version__ in done.stdout and "weft-opt" in done.stdout
    assert run("--frob").returncode == 2
