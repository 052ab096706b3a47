"""Limits, kinds and promotion of dtypes, and what the namespace says of itself."""

from __future__ import annotations

import numpy as np
import pytest

import weft as wf


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_finfo_is_numpys(name: str) -> None:
    info, expected = wf.finfo(name), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(info, field) == getattr(expected, field)
        assert type(getattr(info, field)) in (int, float)
    assert info.dtype == name
    assert wf.finfo(wf.ones(2, name)).bits == info.bits
    assert wf.finfo(np.ones(2, name)).bits == info.bits


INTEGERS = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]


@pytest.mark.parametrize("name", INTEGERS)
def test_iinfo_is_numpys(name: str) -> None:
    info, expected = wf.iinfo(name), np.iinfo(name)
    assert (info.bits, info.max, info.min) == (expected.bits, expected.max, expected.min)
    assert info.dtype == name


def test_wrong_kinds() -> None:
    with pytest.raises(wf.DTypeError, match="finfo: int32 .* iinfo"):
        wf.finfo("int32")
    with pytest.raises(wf.DTypeError, match="iinfo: float32 .* finfo"):
        wf.iinfo(wf.float32)
    with pytest.raises(wf.DTypeError, match="names no dtype"):
        wf.finfo("real")
    with pytest.raises(wf.ValueError, match="'floating' is no kind"):
        wf.isdtype(wf.float32, "floating")
    with pytest.raises(wf.ValueError, match="at least one"):
        wf.result_type()


def test_isdtype() -> None:
    assert wf.isdtype(wf.bool_, "bool")
    assert wf.isdtype("int64", ("real floating", "signed integer"))
    assert not wf.isdtype("int64", "unsigned integer")
    assert wf.isdtype("uint8", "unsigned integer") and wf.isdtype("uint8", "integral")
    assert wf.isdtype(np.float64, wf.float64)
    assert wf.isdtype(wf.float32, "float32")
    assert not wf.isdtype(wf.float32, (wf.float64, "integral"))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("int32", "float32"), "float32"),
        ((1, 2.5), "float32"),
        ((True,), "bool"),
        ((wf.ones(2, "float64"), 1.5), "float64"),
        ((wf.ones(2, "int64"), 1.5), "float32"),
        ((wf.ones(2, "bool"), 2), "int32"),
        ((wf.ones(2, "uint8"), 2), "uint8"),
        (("uint8", "int8"), "int16"),
        (("uint64", "int8", "float32"), "float32"),
        ((np.ones(2), wf.float32), "float64"),
    ],
)
def test_result_type(given: tuple[object, ...], expected: str) -> None:
    assert wf.result_type(*given) == expected


def test_can_cast() -> None:
    names = ["bool", *INTEGERS, "float32", "float64"]
    for a in names:
        for b in names:
            if {a, b} & {"uint64"} and any(name.startswith("int") for name in (a, b)):
                assert not wf.can_cast(a, b)  # they have no common dtype
                continue
            assert wf.can_cast(a, b) == (wf.result_type(a, b) == b)
    assert wf.can_cast(wf.ones(2), "float64")


def test_namespace_info() -> None:
    info = wf.ones(1).__array_namespace__().__array_namespace_info__()
    assert info.capabilities()["boolean indexing"]
    assert info.default_device() in info.devices()
    assert wf.asarray([1.0]).dtype == info.default_dtypes()["real floating"]
    assert wf.argmax(wf.ones(2)).dtype == info.default_dtypes()["indexing"]
    assert set(info.dtypes(kind=("bool", "integral"))) == {"bool", *INTEGERS}
    assert set(info.dtypes()) == {"bool", *INTEGERS, "float32", "float64", "complex64", "complex128"}
    with pytest.raises(wf.DeviceError, match="cannot use gpu:7"):
        info.dtypes(device="gpu:7")
