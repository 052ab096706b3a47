"""The backend by which einops takes tensors. It has to be there once einops is imported, which nobody here does."""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import weft as wf

__all__ = ["install"]

_MODULE = "einops._backends"


def _register(backends: Any) -> None:
    """Defines the backend: einops finds it among the subclasses of its own."""

    class WeftBackend(backends.AbstractBackend):
        """Tensors, eager ones and those of traced functions."""

        framework_name = "weft"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, wf.Tensor)

        def from_numpy(self, x: Any) -> wf.Tensor:
            return wf.tensor(x)

        def to_numpy(self, x: wf.Tensor) -> Any:
            return x.numpy()

        def arange(self, start: int, stop: int) -> wf.Tensor:
            return wf.arange(start, stop, dtype="int64")

        def stack_on_zeroth_dimension(self, tensors: list[wf.Tensor]) -> wf.Tensor:
            return wf.stack(tensors)

        def add_axis(self, x: wf.Tensor, new_position: int) -> wf.Tensor:
            return wf.expand_dims(x, new_position)

        def tile(self, x: wf.Tensor, repeats: tuple[int, ...]) -> wf.Tensor:
            return wf.tile(x, repeats)

        def concat(self, tensors: list[wf.Tensor], axis: int) -> wf.Tensor:
            return wf.concatenate(tensors, axis)

        def is_float_type(self, x: wf.Tensor) -> bool:
            return x.dtype.is_floating

        def einsum(self, pattern: str, *x: wf.Tensor) -> wf.Tensor:
            return wf.einsum(pattern, *x)

    backends.WeftBackend = WeftBackend  # subclasses are listed as long as something holds them


class _Registering(Loader):
    """Loads the module as its own loader does, and registers the backend in it."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _register(module)


class _Waiting(MetaPathFinder):
    """Waits for the import of einops."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None:
            spec.loader = _Registering(spec.loader)
        return spec


def install() -> None:
    """Registers the backend now, or when einops is imported."""
    if _MODULE in sys.modules:
        _register(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Waiting())
