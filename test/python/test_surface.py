"""./x surface, the text that later changes are compared by: it is the same at every run, and has something in each of its parts."""

import os
import re
import subprocess
import sys
from pathlib import Path

import weft as wf

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(wf._weft.__file__).absolute().parents[2]


def surface(seed):
    environment = dict(os.environ, PYTHONHASHSEED=seed, PYTHONPATH=str(BUILD / "python"))
    command = [sys.executable, TOP / "scripts/surface.py", BUILD]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300).stdout


def test_the_text_does_not_depend_on_the_run():
    text = surface("1")
    assert text == surface("2")
    parts = dict(part.split("\n", 1) for part in text.split("\n# ")[1:])
    assert list(parts) == [
        "weft.tf: names", "Stubs", "C++: declarations", "Words: arguments that do not exist",
        "Words: arguments of wrong types",
    ]  # fmt: skip
    assert all(body.count("\n") > 300 for body in parts.values())
    assert "matmul(no_such_argument" in text and "tf.pad(paddings: None) -> TypeError: tf.pad: paddings is None" in text
    assert re.search("0x7f[0-9a-f]{10}", text) is None  # an address
