"""TensorFlow 2's spelling of Weft: `from weft import tf`.

The names are those of tables, names.toml and keras.toml, over the objects of `weft`: `tf.Tensor is
wf.Tensor`, and `tf.reduce_sum(x, axis=1)` is `wf.sum(x, 1)`. Importing it has tensors, variables and shapes
printed as TensorFlow prints them, `wf.set_printoptions(style='numpy')` as before; else nothing changes
for other code of the process, but that classes of the library have more methods. What only
TensorFlow 1 had is a `RemovedError` that says what to write instead; other names that are absent
name the nearest one.
"""

from __future__ import annotations

from typing import Any

from weft import _weft

from . import _forms as _forms
from . import _methods, _modules

_weft.set_printoptions(style="tf")
_methods.install()
_modules.install()


def __getattr__(name: str) -> Any:
    return _modules.find("", name)


def __dir__() -> list[str]:
    return _modules.names_in("")
