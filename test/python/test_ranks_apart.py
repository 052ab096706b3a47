"""Ranks whose traced functions would pair different calls of collectives hear of it."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

APART = """
import threading, time
import weft as wf
rank = wf.distributed.init().rank
d = wf.distributed
def said(call):
    try:
        call()
        print(f"rank {rank}: no error", flush=True)
    except wf.Error as error:
        print(f"rank {rank}: {type(error).__name__} {error}", flush=True)
@wf.function
def rows(x):
    total = 0.0
    for row in x:
        total += d.all_reduce(row)
    return total
said(lambda: rows(wf.ones([2 + rank])))
@wf.function
def turns(x, n):
    for _ in wf.range(n):
        x = d.all_reduce(x)
    return x
said(lambda: turns(wf.ones([]), 2 + rank))
assert turns(wf.ones([]), 2).tolist() == 4.0
@wf.function
def twice(x):
    return d.all_reduce(d.all_reduce(x))
x = wf.ones([2])
twice(x)
if rank == 0:
    first = threading.Thread(target=lambda: said(lambda: twice(x)))
    first.start()
    time.sleep(0.5)
    said(lambda: twice(x))
    first.join()
else:
    time.sleep(1.5)
    said(lambda: twice(x))
"""


def test_ranks_that_would_pair_other_calls(tmp_path: Path) -> None:
    """Constants that differ, and threads that come in any order."""
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "apart.py"
    script.write_text(APART)
    start = ["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "--allow-run-as-root"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WEFT_NUM_THREADS": "1"}
    done = subprocess.run([*start, sys.executable, str(script)], env=environment, capture_output=True, text=True, timeout=100, check=False)
    text = done.stdout + done.stderr
    for rank in range(2):
        for word in ("for row", "for _"):
            line = 1 + next(i for i, line in enumerate(APART.splitlines()) if word in line)
            differ = f"rank 0 has for_loop of 2 turns (apart.py:{line}) and rank 1 for_loop of 3 turns (apart.py:{line})"
            said = rf"rank {rank}: StateError apart.py:\d+: all_reduce: the programs of the ranks differ: .*{re.escape(differ)}"
            assert re.search(said, text), text
    assert re.search(r"rank 0: StateError apart.py:\d+: twice: another thread is in twice, which has", text), text
    assert re.search(r"rank 0: PeerError apart.py:\d+: all_reduce: (this rank|rank 0 \(.*\)) failed: twice: another", text), text
    assert re.search(r"rank 1: PeerError apart.py:\d+: all_reduce: rank 0 \(.*\) failed: twice: another", text), text
    assert "AssertionError" not in text and "no error" not in text, text
