"""The notebooks of examples/ give what they show."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import weft as wf

FOLDER = Path(__file__).resolve().parents[3] / "examples/notebooks"
spec = importlib.util.spec_from_file_location("run_notebooks", FOLDER / "run.py")
runner = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)


@pytest.fixture(autouse=True)
def options():
    """Notebooks set options of the process."""
    ours, theirs = wf.get_printoptions(), np.get_printoptions()
    yield
    wf.set_printoptions(**ours)
    np.set_printoptions(**theirs)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path):
    assert runner.run(path) == []


def test_a_difference_is_seen(tmp_path):
    changed = tmp_path / "changed.ipynb"
    text = (FOLDER / "1-eager-and-gradients.ipynb").read_text()
    changed.write_text(text.replace("x @ x + 1", "x @ x + 2"))
    assert [d.partition(":")[0] for d in runner.run(changed)] == ["changed.ipynb, cell 1"]
