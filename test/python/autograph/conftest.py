"""Sets the tests of AutoGraph up: the package, and the tensor library that stands in for Weft."""

import importlib.util
import pathlib
import sys
import types

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

if importlib.util.find_spec("weft") is None or importlib.util.find_spec("weft._autograph") is None:
    package = types.ModuleType("weft")
    package.__path__ = [str(HERE.parents[2] / "python" / "weft")]
    sys.modules["weft"] = package


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--programs", type=int, help="how many random programs to run (100)")


@pytest.fixture(autouse=True)
def library():
    """The tensor library of the tests, in place of Weft's."""
    import double
    from weft import _autograph

    kept = list(_autograph.staging._installed)
    _autograph.install(double.LIBRARY)
    yield double.LIBRARY
    _autograph.staging._installed[:] = kept
