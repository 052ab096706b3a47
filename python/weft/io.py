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
from weft._arguments import options
from weft._data_files import read_npz as load_npz

__all__ = [
    "load_npy",
    "load_npz",
    "load_safetensors",
    "safetensors_metadata",
    "safetensors_names",
    "save_npy",
    "save_safetensors",
]

Path: TypeAlias = "str | os.PathLike[str]"


@options
def load_npy(path: Path) -> _weft.Tensor:
    """Reads a .npy file.

    >>> np.save("x.npy", np.array([1.0, 2.0], np.float32))
    >>> wf.io.load_npy("x.npy")
    tensor([1., 2.], shape=(2,), dtype=float32)

    Raises:
        IOError: for a file that is missing or damaged
    """
    return _weft.internal_load_npy(os.fsdecode(path))


@options
def save_npy(path: Path, tensor: Any) -> None:
    """Writes a tensor as a .npy file.

    >>> wf.io.save_npy("x.npy", wf.arange(3))
    >>> np.load("x.npy")
    array([0, 1, 2], dtype=int32)
    """
    _weft.internal_save_npy(os.fsdecode(path), tensor)


@options
def load_safetensors(path: Path, *, widen: bool = False) -> dict[str, _weft.Tensor]:
    """All tensors of a safetensors file, or of an index (.json) and its files, by name.

    >>> wf.io.save_safetensors("table.safetensors", {"table": wf.ones(2)})
    >>> wf.io.load_safetensors("table.safetensors")
    {'table': tensor([1., 1.], shape=(2,), dtype=float32)}

    Args:
        widen: reads dtypes that Weft lacks as one that holds all their numbers: F16 and BF16 as
            float32, small integers as int32

    Raises:
        IOError: for a file that is missing, damaged, or not what its digests say
        DTypeError: for a dtype that Weft lacks
    """
    return _weft.internal_load_safetensors(os.fsdecode(path), widen)


@options
def safetensors_names(path: Path) -> list[str]:
    """The names of the tensors of a file in its order; nothing else of it is read.

    >>> wf.io.save_safetensors("named.safetensors", {"w": [1.0], "b": 0.0})
    >>> sorted(wf.io.safetensors_names("named.safetensors"))
    ['b', 'w']

    Raises:
        IOError: if it cannot be read, or is none
    """
    return _weft.internal_safetensors_names(os.fsdecode(path))


@options
def safetensors_metadata(path: Path) -> dict[str, str]:
    """The texts beside the tensors of a safetensors file.

    >>> wf.io.save_safetensors("table.safetensors", {"table": wf.ones(2)}, {"made by": "an example"})
    >>> wf.io.safetensors_metadata("table.safetensors")["made by"]
    'an example'
    """
    return _weft.internal_safetensors_metadata(os.fsdecode(path))


@options
def save_safetensors(
    path: Path, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None
) -> None:
    """Writes tensors and texts as a safetensors file, with a digest of each tensor.

    >>> wf.io.save_safetensors("table.safetensors", {"table": wf.ones((2, 3))})
    >>> wf.io.load_safetensors("table.safetensors")["table"].shape
    (2, 3)

    Raises:
        ValueError: for names and texts that are not UTF-8 or reserved
    """
    _weft.internal_save_safetensors(os.fsdecode(path), dict(tensors), dict(metadata or {}))
