"""What the programs of TensorFlow's guides share: TensorFlow's printed forms while one of them runs, digits to train on, and a
folder to write in."""

import pytest
from digits import digits

import weft as wf
from weft import tf  # noqa: F401

# Other tests of the process print in Weft's own forms.
wf.set_printoptions(style="numpy")


@pytest.fixture(autouse=True)
def forms_of_tensorflow():
    wf.set_printoptions(style="tf")
    yield
    wf.set_printoptions(style="numpy")


@pytest.fixture
def mnist():
    return digits(160)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path
