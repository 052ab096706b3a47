"""Files of tensors: NumPy's .npy and .npz, and safetensors.

    wf.io.save_safetensors("embeddings.safetensors", {"table": table})
    table = wf.io.load_safetensors("embeddings.safetensors")["table"]

Files appear as a whole or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, TypeAlias

from weft import _weft
from weft._data_files import read_npz as load_npz

__all__ = [
    "load_npy",
    "load_npz",
    "load_safetensors",
    "safetensors_metadata",
    "save_npy",
    "save_safetensors",
]

Path: TypeAlias = "str | os.PathLike[str]"


def load_npy(path: Path) -> _weft.Tensor:
    """Reads a .npy file.

    Raises:
        IOError: for a file that is missing or damaged
    """
    return _weft.internal_load_npy(os.fsdecode(path))


def save_npy(path: Path, tensor: Any) -> None:
    """Writes a tensor as a .npy file."""
    _weft.internal_save_npy(os.fsdecode(path), tensor)


def load_safetensors(path: Path, *, widen: bool = False) -> dict[str, _weft.Tensor]:
    """All tensors of a safetensors file, or of an index (.json) and its files, by name.

    Args:
        widen: reads dtypes that Weft lacks as one that holds all their numbers: F16 and BF16 as
            float32, small integers as int32

    Raises:
        IOError: for a file that is missing, damaged, or not what its digests say
        DTypeError: for a dtype that Weft lacks
    """
    return _weft.internal_load_safetensors(os.fsdecode(path), widen)


def safetensors_metadata(path: Path) -> dict[str, str]:
    """The texts beside the tensors of a safetensors file."""
    return _weft.internal_safetensors_metadata(os.fsdecode(path))


def save_safetensors(
    path: Path, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes tensors and texts as a safetensors file, with a digest of each tensor.

    Raises:
        ValueError: for names and texts that are not UTF-8 or reserved
    """
    _weft.internal_save_safetensors(os.fsdecode(path), dict(tensors), dict(metadata or {}))
