"""Files of tensors: NumPy's .npy and .npz, and safetensors.

    wf.io.save_safetensors("embeddings.safetensors", {"table": table})
    table = wf.io.load_safetensors("embeddings.safetensors")["table"]

Files appear as a whole or not at all.
"""

from weft import _io
from weft._data import read_npz as load_npz
from weft._io import *  # noqa: F403

__all__ = ["load_npz"]
__all__ += _io.__all__
