"""Printed tensors, to the letter as NumPy prints arrays."""

import numpy as np
import pytest

import weft as wf

RNG = np.random.default_rng(5)

ARRAYS = [
    np.array(values, dtype)
    for values, dtype in [
        (2.0, "f4"), (0.1, "f4"), (1e20, "f4"), (-1e-7, "f8"), (3, "i4"), (True, "bool"), (np.nan, "f4"), (-np.inf, "f8"),
        (123456789.0, "f8"), (1e16, "f8"), (0.0001, "f4"), (0.0, "f4"), (-0.0, "f8"),
        ([1.0, 2.0], "f4"), ([[8, 11], [16, 23]], "i4"), ([[1.5, -2.25], [1000.125, 3]], "f4"), ([1e-5, 1.0], "f4"),
        ([1e10, 1.0], "f8"), ([np.nan, 1.5, -np.inf], "f4"), ([np.nan], "f8"), ([np.inf, 1], "f4"), ([-1.0, np.nan], "f4"),
        ([True, False], "bool"), ([[True]], "bool"), ([1, -200, 30], "i8"), ([0.0, -0.0], "f4"), ([], "f4"), ([[], []], "i4"),
        ([0.1, 0.25, 1 / 3], "f8"), ([123456.789, 0.001], "f4"), ([16777216.0, 1.0], "f4"), ([99999999.0], "f8"), ([1e8], "f8"), ([0.0001], "f4"), ([0.0001], "f8"),
        ([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "f4"), ([1e-300, 1e300], "f8"), ([5e-324], "f8"), ([1e-3, 1.1], "f8"),
    ]
] + [
    np.arange(100, dtype="i4"), np.arange(2000, dtype="f4"), np.arange(1200, dtype="i8").reshape(30, 40),
    np.arange(2400).reshape(2, 30, 40), np.zeros((3, 0, 2)), np.linspace(0, 1, 50), np.arange(1001) > 500,
    RNG.normal(size=(7, 9)), RNG.normal(size=(3, 4)).astype("f4"), RNG.normal(size=30).astype("f4") * 1e5, 10 ** RNG.uniform(-6, 9, 40),
    RNG.integers(-(10**12), 10**12, 30), RNG.random((2, 2, 2, 2)).astype("f4"), RNG.random((20, 20))[::-2, ::3],
]


def list_of(text):
    """What stands in tensor(...) before the shape."""
    return text[: text.rindex("shape=")].rstrip().rstrip(",")


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_as_numpy(array):
    tensor = wf.tensor(array)
    assert str(tensor) == str(array) and f"{tensor}" == str(array)
    if array.ndim:
        want = np.array2string(array, separator=", ", prefix="tensor(", suffix=")")
        assert list_of(repr(tensor)) == "tensor(" + want
    assert repr(tensor).endswith(f"shape={array.shape}, dtype={array.dtype})".replace(",)", ",)"))


@pytest.mark.parametrize(
    "options",
    [{"precision": 3}, {"precision": 0}, {"threshold": 5, "edgeitems": 2}, {"linewidth": 40}, {"suppress": True}, {"nanstr": "NAN", "infstr": "infinity"},
     {"threshold": 0, "edgeitems": 1}],
    ids=str,
)
def test_options(options):
    before = wf.get_printoptions()
    try:
        wf.set_printoptions(**options)
        with np.printoptions(**options):
            for array in ARRAYS:
                if options.get("suppress") and array.dtype.kind == "f" and array.size and np.nanmax(np.abs(array[np.isfinite(array)]), initial=0) >= 1e16:
                    continue  # NumPy fills in zeros there, behind the digits that tell a number apart
                if array.ndim:
                    assert str(wf.tensor(array)) == str(array)
    finally:
        wf.set_printoptions(**before)
    assert wf.get_printoptions() == before


def test_wrong_options():
    for wrong in ({"precision": -1}, {"linewidth": 1.5}, {"threshold": "a"}):
        with pytest.raises(wf.Error, match="set_printoptions"):
            wf.set_printoptions(**wrong)
    with pytest.raises(TypeError):
        wf.set_printoptions(colour=True)


def test_repr():
    assert repr(wf.tensor([[8.0, 11.0], [16.0, 23.0]])) == (
        "tensor([[ 8., 11.],\n        [16., 23.]], shape=(2, 2), dtype=float32)"
    )
    assert repr(wf.tensor(2.0)) == "tensor(2.0, shape=(), dtype=float32)"
    assert all(len(line) <= 75 for line in repr(wf.tensor(np.arange(11) * 12345)).splitlines())


def test_html():
    assert wf.tensor([[1, 2]])._repr_html_().count("<td") == 2
    assert wf.zeros((100, 100))._repr_html_().startswith("<pre>") and "<pre>" in wf.tensor(1)._repr_html_()
