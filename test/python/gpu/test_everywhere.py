"""All public names where there is a GPU: their examples under a scope of it, calls with all tensors on it, layers, losses, metrics and optimizers."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_examples_and_their_calls(on_gpu, part):
    said = on_gpu([HERE / "everywhere.py", PARTS, part])
    calls = int(said.rpartition(" calls were done again")[0].rpartition("\n")[2])
    assert calls > 70, said


@pytest.mark.parametrize("module", ["layers", "losses", "metrics", "optimizers", "functions"])
def test_tests_of_networks_under_a_scope(on_gpu, module):
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "not collected_with", HERE.parent / f"nn/test_{module}.py"]
    on_gpu(words, WEFT_TEST_DEVICE="gpu:0", WEFT_FILTER="")


