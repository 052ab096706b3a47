"""What `__array_namespace_info__()` gives: what the array API asks of a namespace."""

from __future__ import annotations

from typing import Any

from weft import _weft

__all__ = ["NamespaceInfo"]


class NamespaceInfo:
    """What Weft can do, by the array API standard."""

    def capabilities(self) -> dict[str, Any]:
        """Masks as indices, shapes that depend on values, and how many axes there may be."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """The device of tensors that are created without one."""
        return "cpu:0"

    def default_dtypes(self, *, device: str | None = None) -> dict[str, _weft.DType]:
        """The dtypes of what is created of numbers of Python, and of indices."""
        _check_device(device)
        return {
            "real floating": _weft.float32,
            "complex floating": _weft.complex64,
            "integral": _weft.int32,
            "indexing": _weft.int64,
        }

    def devices(self) -> tuple[str, ...]:
        """All devices."""
        return tuple(_weft.devices())

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, _weft.DType]:
        """The standard's dtypes of a kind, as `isdtype` has them, by name; all of them by default."""
        _check_device(device)
        # What the standard does not have.
        others = (_weft.float16, _weft.bfloat16, _weft.float8_e4m3fn, _weft.float8_e5m2)
        all_of_them = {d.name: d for d in vars(_weft).values() if isinstance(d, _weft.DType) and d not in others}
        if kind is None:
            return all_of_them
        return {n: dtype for n, dtype in all_of_them.items() if _weft.isdtype(dtype, kind)}


def _check_device(device: str | None) -> None:
    _weft.zeros(0, device=device)


def __array_namespace_info__() -> NamespaceInfo:
    """What Weft can do, for programs that the array API runs on any library.

    >>> info = wf.__array_namespace_info__()
    >>> info.default_device(), info.dtypes(kind="real floating")
    ('cpu:0', {'float32': weft.float32, 'float64': weft.float64})
    """
    return NamespaceInfo()
