"""What the array API standard asks of functions beside their elements: parameters, dtypes, comparisons by value, copies."""

from __future__ import annotations

import inspect
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as wf

COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
SMALL = np.array([-(2**63), -1, 0, 1, 5, 2**63 - 1])
LARGE = np.array([0, 1, 5, 2**63 - 1, 2**63, 2**64 - 1], "uint64")


def both(function: Callable[..., Any], *arguments: Any) -> Any:
    """The result, which a traced function gives too."""
    eager = function(*arguments)
    traced = wf.function(function)(*arguments)
    for one, other in zip(wf.tree.flatten(eager)[0], wf.tree.flatten(traced)[0], strict=True):
        assert one.dtype == other.dtype and one.shape == other.shape
        assert np.array_equal(one.numpy(), other.numpy(), equal_nan=one.dtype.kind in "fc")
    return eager


@pytest.mark.parametrize("compare", COMPARISONS)
def test_unsigned_and_signed_integers_are_compared_by_value(compare: Callable[..., Any]) -> None:
    for signed in ("int8", "int16", "int32", "int64"):
        limits = np.iinfo(signed)
        column = np.clip(SMALL, limits.min, limits.max).astype(signed)[:, None]
        expected = [[compare(int(a), int(b)) for b in LARGE] for a in column[:, 0]]
        found = both(compare, wf.tensor(column), wf.tensor(LARGE))
        assert found.tolist() == expected
        swapped = both(lambda b, a: compare(a, b), wf.tensor(LARGE), wf.tensor(column))
        assert swapped.tolist() == expected


@pytest.mark.parametrize("compare", COMPARISONS)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("number", [-1, 0, 300, -129, 2**31, 2**63 - 1, 2**63, 2**64 - 1, -(2**63)])
def test_numbers_beside_integers_are_compared_by_value(compare: Callable[..., Any], dtype: str, number: int) -> None:
    limits = np.iinfo(dtype)
    values = [limits.min, 0, 1, limits.max]
    x = wf.tensor(np.array(values, dtype))
    expected = [compare(value, number) for value in values]
    assert both(lambda x: compare(x, number), x).tolist() == expected
    assert both(lambda x: compare(number, x), x).tolist() == [compare(number, value) for value in values]


def test_other_ops_refuse_what_no_dtype_holds() -> None:
    large, small = wf.tensor(LARGE), wf.tensor(SMALL)
    with pytest.raises(wf.DTypeError, match="add: .*uint64"):
        large + small
    with pytest.raises(wf.ValueError, match="maximum: the scalar -1 does not fit the dtype uint64"):
        wf.maximum(large, -1)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_quotients_of_infinities_are_those_of_the_standard(dtype: str) -> None:
    inf, nan = np.inf, np.nan
    numbers = np.array([-inf, -2.5, -1.0, -0.0, 0.0, 1.0, 2.5, inf, nan], dtype)
    a, b = np.meshgrid(numbers, numbers)
    with np.errstate(all="ignore"):
        expected = np.where(np.isinf(a) | np.isinf(b) | (b == 0), a / b, np.floor_divide(a, b))
    found = both(operator.floordiv, wf.tensor(a), wf.tensor(b)).numpy()
    assert np.array_equal(found, expected, equal_nan=True)
    known = ~np.isnan(expected)
    assert np.array_equal(np.signbit(found)[known], np.signbit(expected)[known])
    x = wf.tensor(a)
    x //= wf.tensor(b)
    assert np.array_equal(x.numpy(), expected, equal_nan=True)
    assert not wf.grad(lambda x: wf.sum(x // 2.0))(wf.tensor(numbers[1:7])).numpy().any()


SUMS = ["sum", "prod", "mean", "cumsum", "cumprod", "cumulative_sum", "cumulative_prod"]


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float16", "float32", "float64", "complex64"])
def test_sums_are_computed_in_the_dtype_asked(name: str, dtype: str) -> None:
    if name == "mean" and np.dtype(dtype).kind in "iu":
        with pytest.raises(wf.DTypeError, match=f"mean: x must be floating .*{dtype}"):
            wf.mean(wf.ones(3), dtype=dtype)
        return
    for given in ("bool", "uint8", "int32", "float32"):
        if np.dtype(dtype).kind in "iu" and given == "float32":
            continue
        x = np.array([1, 3, 200, 2, 1, 100]).astype(given)
        kept = {} if name in ("sum", "prod", "mean") else {"axis": 0}
        theirs = {"cumulative_sum": np.cumsum, "cumulative_prod": np.cumprod}.get(name) or getattr(np, name)
        with np.errstate(over="ignore"):
            expected = theirs(x.astype(dtype), dtype=dtype, **kept)
        found = both(lambda x: getattr(wf, name)(x, dtype=dtype, **kept), wf.tensor(x))
        assert found.dtype == dtype and np.allclose(found.numpy(), expected, 2e-3 if dtype == "float16" else 1e-6)
    assert getattr(wf, name)(wf.ones(3, "bool"), dtype=None).dtype == getattr(wf, name)(wf.ones(3, "bool")).dtype


def test_a_dtype_that_sums_do_not_have() -> None:
    with pytest.raises(wf.DTypeError, match="sum: x must be a number"):
        wf.sum(wf.ones(3), dtype="bool")
    with pytest.raises(wf.DTypeError, match="sum: x is complex64"):
        wf.sum(wf.ones(3, "complex64"), dtype="float32")
    with pytest.raises(wf.DTypeError, match="sum: dtype is 'real', which names no dtype"):
        wf.sum(wf.ones(3), dtype="real")
    assert wf.linalg.trace(wf.ones((3, 3), "uint8"), dtype="uint8").dtype == "uint8"


def test_gradients_flow_through_the_dtype_of_a_sum() -> None:
    gradient = wf.grad(lambda x: wf.sum(x * x, dtype="float64"))(wf.tensor([1.0, 3.0]))
    assert gradient.dtype == "float32" and gradient.tolist() == [2, 6]


def test_truth_of_numbers() -> None:
    x = np.array([[0.0, 2.0, np.nan], [1.0, -1.0, 3.0]])
    for dtype in ("int32", "uint8", "float16", "float32", "complex64", "bool"):
        with np.errstate(invalid="ignore"):
            values = x.astype(dtype)
        for name in ("any", "all"):
            found = both(lambda x: getattr(wf, name)(x, axis=1), wf.tensor(values))
            assert found.tolist() == getattr(np, name)(values, axis=1).tolist()
    a, b = np.array([0.0, 2.0, 0.0]), np.array([1, 0, 0])
    for name in ("logical_and", "logical_or", "logical_xor"):
        assert both(getattr(wf, name), wf.tensor(a), wf.tensor(b)).tolist() == getattr(np, name)(a, b).tolist()
    assert both(wf.logical_not, wf.tensor(a)).tolist() == [True, False, True]


def test_variances_take_both_names_of_the_correction() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0])
    for name in ("var", "std"):
        function = getattr(wf, name)
        expected = getattr(np, name)(x, ddof=1)
        assert np.isclose(float(function(x, correction=1)), expected) and np.isclose(float(function(x, ddof=1)), expected)
        assert np.isclose(float(getattr(wf.tensor(x), name)(ddof=1)), expected)
        with pytest.raises(TypeError, match=rf"weft.{name}\(\) got both 'correction' and 'ddof'"):
            function(x, correction=1, ddof=1)


def test_sorting_is_stable_whatever_is_asked() -> None:
    x = wf.tensor([2, 1, 2, 1])
    assert wf.argsort(x, stable=False).tolist() == wf.argsort(x, stable=True).tolist() == [1, 3, 0, 2]
    assert wf.sort(x, descending=True, stable=True).tolist() == [2, 2, 1, 1]


def test_creation_takes_dtypes_and_devices() -> None:
    z = wf.ones((2, 3), "complex64")
    for name in ("zeros_like", "ones_like", "empty_like"):
        assert getattr(wf, name)(z, dtype="uint8", device="cpu").dtype == "uint8"
    assert wf.full_like(z, fill_value=3, dtype="int64").tolist() == [[3] * 3] * 2
    assert wf.full((2,), fill_value=1.5, device="cpu:0").tolist() == [1.5, 1.5]
    assert wf.arange(3, dtype="float64", device="cpu").dtype == "float64"
    assert wf.linspace(0, 1, 3, dtype=None, device="cpu").dtype == "float32"
    assert wf.fft.fftfreq(4, d=0.5, device="cpu").tolist() == [0, 0.5, -1, -0.5]
    with pytest.raises(wf.DeviceError, match="arange: cannot use gpu:99: "):
        wf.arange(3, device="gpu:99")
    with pytest.raises(wf.ValueError, match="astype: device is gpu:1, but the elements are on cpu:0: take to_device"):
        wf.astype(z, "complex128", device="gpu:1")
    with pytest.raises(wf.ValueError, match="to_device: a stream was given"):
        z.to_device("cpu", stream=1)


@pytest.mark.parametrize(("rows", "columns", "k"), [(3, None, 0), (2, 4, 1), (4, 2, -1), (0, 3, 0), (3, 3, 7), (3, 3, -(2**63)), (2, 3, 2**63 - 1)])
def test_eye(rows: int, columns: int | None, k: int) -> None:
    expected = np.eye(rows, columns, max(min(k, 99), -99))
    assert np.array_equal(wf.eye(rows, columns, k=k).numpy(), expected)

    @wf.function(input_signature=[wf.TensorSpec([None, None])])
    def opened(x: wf.Tensor) -> wf.Tensor:
        return wf.eye(x.shape[0], x.shape[1], k=k, dtype="int32")

    assert np.array_equal(opened(wf.zeros((rows, rows if columns is None else columns))).numpy(), expected)


def test_likes_of_open_sizes() -> None:
    @wf.function(input_signature=[wf.TensorSpec([None])])
    def opened(x: wf.Tensor) -> Any:
        return wf.full_like(x, 7), wf.full_like(x, 7, dtype="int64"), wf.ones_like(x, dtype="bool")

    same, other, truth = opened(wf.tensor([np.nan, 1.0]))
    assert same.tolist() == [7, 7] and other.dtype == "int64" and other.tolist() == [7, 7] and truth.tolist() == [True, True]


def test_asarray_gives_a_tensor_back() -> None:
    x = wf.tensor([1.0, 2.0])
    assert wf.asarray(x) is x and wf.asarray(x, dtype="float32", copy=False) is x
    assert wf.asarray(x, copy=True) is not x and wf.asarray(x, dtype="float64").dtype == "float64"
    shared, copied = wf.asarray(x), wf.asarray(x, copy=True)
    x[0] = 5.0
    assert shared.tolist() == [5, 2] and copied.tolist() == [1, 2]
    with pytest.raises(wf.ValueError, match="copy"):
        wf.asarray(x, dtype="float64", copy=False)


def test_reshapes_that_copy() -> None:
    x = wf.tensor(np.arange(6.0).reshape(2, 3))
    assert wf.reshape(x, (3, 2), copy=True).shape == wf.reshape(x, (3, 2), copy=False).shape == (3, 2)
    with pytest.raises(wf.ValueError, match="reshape: copy is False"):
        wf.reshape(x.T, (6,), copy=False)


def test_axes_count_from_the_end() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for axes in ((-1, 0, 1), (0, -1, -2)):
        assert np.array_equal(both(lambda x: wf.permute_dims(x, axes=axes), wf.tensor(x)).numpy(), x.transpose(axes))
    indices = np.array([[[0, -1, 3, -4]], [[-2, 1, 2, -3]]])
    found = both(lambda x, i: wf.take_along_axis(x, i, axis=-1), wf.tensor(x[:, :1]), wf.tensor(indices))
    assert np.array_equal(found.numpy(), np.take_along_axis(x[:, :1], indices, -1))
    with pytest.raises(wf.OutOfRangeError, match="take_along_axis: index -5 is out of range for an axis of size 4"):
        wf.take_along_axis(wf.tensor(x[:, :1]), indices - 1)


def test_uniques_of_complex_numbers() -> None:
    x = np.array([2 + 1j, 1 + 3j, 2 + 1j, 1 - 1j, complex(1, -0.0), 1 + 0j])
    values, positions, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    found = wf.unique_all(wf.tensor(x))
    assert np.array_equal(found.values.numpy(), values) and np.array_equal(found.indices.numpy(), positions)
    assert np.array_equal(found.inverse_indices.numpy(), inverse) and np.array_equal(found.counts.numpy(), counts)
    assert wf.unique_values(wf.tensor([np.nan + 1j, np.nan + 1j])).shape == (2,)


def test_the_namespace() -> None:
    info = wf.__array_namespace_info__()
    assert wf.__array_api_version__ == "2025.12" and info.default_device() == wf.ones(1).device
    assert info.devices()[0] == wf.ones(1).device and wf.bool is wf.bool_ and "bool" not in wf.__all__
    assert wf.vecdot(wf.tensor([1.0, 2.0]), wf.tensor([3.0, 4.0]), axis=0).item() == 11
    assert [wf.dtype(name).kind for name in ("bool", "int8", "uint8", "bfloat16", "complex64")] == ["b", "i", "u", "f", "c"]
    parameters = inspect.signature(wf.sum).parameters
    assert list(parameters) == ["x", "axis", "keepdims", "dtype"]
    assert parameters["dtype"].kind is inspect.Parameter.KEYWORD_ONLY


def test_einops_finds_the_backend(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    package = tmp_path / "einops"
    package.mkdir()
    (package / "__init__.py").write_text("from einops import _backends\n")
    (package / "_backends.py").write_text("class AbstractBackend:\n    pass\n")
    from weft import _einops

    for name in [name for name in sys.modules if name.partition(".")[0] == "einops"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "meta_path", [one for one in sys.meta_path if type(one).__module__ != "weft._einops"])
    before = list(sys.meta_path)
    _einops.install()
    import einops  # pyright: ignore

    assert sys.meta_path == before
    [backend] = einops._backends.AbstractBackend.__subclasses__()
    x = wf.tensor([[1.0, 2.0]])
    assert backend.framework_name == "weft" and backend().is_appropriate_type(x)
    assert not backend().is_appropriate_type(np.ones(2))
    assert backend().tile(x, (2, 1)).shape == (2, 2) and backend().concat([x, x], 1).shape == (1, 4)
    assert backend().stack_on_zeroth_dimension([x, x]).shape == (2, 1, 2) and backend().add_axis(x, 1).shape == (1, 1, 2)
    assert backend().einsum("ij,ij->", x, x).item() == 5 and backend().is_float_type(x)
    monkeypatch.delitem(sys.modules, "einops._backends")
    monkeypatch.delitem(sys.modules, "einops")
    already = types.ModuleType("einops._backends")
    already.AbstractBackend = type("AbstractBackend", (), {})  # pyright: ignore
    monkeypatch.setitem(sys.modules, "einops._backends", already)
    _einops.install()
    assert [one.__name__ for one in already.AbstractBackend.__subclasses__()] == ["WeftBackend"]
