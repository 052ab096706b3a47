"""Methods of tensors that are functions of the package: arrays of NumPy have them too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft import _places, _products, _reductions, _weft

__all__ = ["install"]

_METHODS: tuple[Callable[..., Any], ...] = (
    _places.nonzero,
    _products.dot,
    _reductions.argmax,
    _reductions.argmin,
    _reductions.max,
    _reductions.min,
)


_ABSENT = {
    "view": "write x.reshape(shape)",
    "to, type": "write x.astype(dtype), wf.cast(x, dtype) or x.to_device(device)",
    "at": "write wf.update_slice(x, index, value), wf.scatter_add(x, indices, updates) or wf.where; a variable has "
    "v.assign",
    "backward, grad, requires_grad": "write `with wf.GradientTape() as tape:` and tape.gradient(loss, variables), or "
    "wf.grad(f)",
    "detach": "write wf.stop_gradient(x)",
    "permute": "write x.transpose(axes)",
    "unsqueeze": "write wf.expand_dims(x, axis)",
}
"""What to write for the attributes that tensors of JAX and PyTorch have."""


def _absent(name: str, said: str) -> property:
    def attribute(self: object) -> Any:
        raise AttributeError(f"'weft.Tensor' object has no attribute '{name}': {said}", name=name, obj=None)

    return property(attribute)


def _attributes(self: object) -> list[str]:
    return [name for name in object.__dir__(self) if not any(name in names.split(", ") for names in _ABSENT)]


def install() -> None:
    """Adds the methods to the class, and errors that say more where it has none by that name."""
    for function in _METHODS:
        setattr(_weft.Tensor, function.__name__, function)
    for names, said in _ABSENT.items():
        for name in names.split(", "):
            setattr(_weft.Tensor, name, _absent(name, said))
    _weft.Tensor.__dir__ = _attributes  # pyright: ignore[reportAttributeAccessIssue]
