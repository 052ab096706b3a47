"""Errors for names and keywords that a module of the package does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, cast

from weft import _weft

__all__ = ["AbsentError", "install", "nearest_path", "refuse_keywords"]


class AbsentError(AttributeError):
    """A name that a module does not have. The text, made when it is wanted, has the nearest one."""

    def __init__(
        self, module: str, name: str, known: Callable[[], Iterable[str]], said: str | None = None
    ) -> None:
        # Python would add a guess of its own for the attributes of `obj`.
        super().__init__(name=name, obj=None)
        self._module, self._known, self._said = module, known, said

    def __str__(self) -> str:
        start = f"module '{self._module}' has no attribute '{self.name}'"
        if self._said is not None:
            return f"{start}: {self._said}"
        near = nearest_path(f"{self._module}.{self.name}", self._known())
        return start + (f". Did you mean '{near}'?" if near else "")


def nearest_path(wrong: str, known: Iterable[str]) -> str | None:
    """The path that is nearest: of the same last name in another module, or of a similar one."""
    wrong = wrong.replace("weft.tf", "tf", 1) if wrong.startswith("weft.tf") else wrong.replace("weft", "wf", 1)
    module, _, last = wrong.rpartition(".")
    paths = list(known)
    same = [path for path in paths if path.rpartition(".")[2] == last]
    if same:
        return min(same, key=lambda path: (path.count("."), path))
    within = {path.rpartition(".")[2]: path for path in paths if path.rpartition(".")[0] == module}
    all_over: dict[str, str] = {}
    for path in paths:
        all_over.setdefault(path.rpartition(".")[2], path)

    # A name of another module must be nearer.
    (here, away), (there, away_there) = (_weft.internal_nearest(last, list(names)) for names in (within, all_over))
    if here and away <= away_there:
        return within[here]
    return all_over[there] if there else None


def refuse_keywords(function: str, given: dict[str, Any], known: Iterable[str]) -> NoReturn:
    """Throws TypeError for keywords that a function does not have."""
    wrong = next(iter(given))
    near = _weft.internal_nearest(wrong, list(known))[0]
    hint = f"; did you mean '{near}'?" if near else ""
    raise TypeError(f"{function}() got an unexpected keyword argument '{wrong}'{hint}")


# The names of weft.


_MODULES = [
    "", "autograph", "config", "data", "distributed", "fft", "io", "linalg", "losses", "metrics", "nn", "nn.initializers", "optimizers", "random",
    "schedules", "special", "summary", "train", "tree",
]  # fmt: skip

_FILES = ["checkpoint", "derivatives", "gradients", "modules"]
"""Modules whose names weft has itself."""

_NOT_HERE = {
    "jit, compile": "write wf.function",
    "tree_map, tree_util, tree_flatten, tree_unflatten, tree_leaves, tree_structure": "write wf.tree.map, flatten, "
    "unflatten, leaves or structure",
    "amax": "write wf.max",
    "amin": "write wf.min",
    "bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift": "there are no ops of bits; of bools "
    "wf.logical_and and its like are",
    "histogram, histogram2d, bincount": "write it of wf.sort and wf.scatter_add, or in NumPy",
    "inv": "write wf.linalg.inv",
    "det": "write wf.linalg.det",
    "solve": "write wf.linalg.solve",
    "svd": "write wf.linalg.svd",
    "qr": "write wf.linalg.qr",
    "eigh": "write wf.linalg.eigh",
    "cholesky": "write wf.linalg.cholesky",
    "pinv": "write wf.linalg.pinv",
    "lstsq": "write wf.linalg.lstsq",
    "expm": "write wf.linalg.expm",
    "eig": "write wf.linalg.eig",
    "eigvals": "write wf.linalg.eigvals",
    "ndarray": "write wf.Tensor",
    "ndim": "write x.ndim",
    "shape": "write x.shape",
    "half": "write wf.float16",
    "load, loadtxt, genfromtxt, fromfile": "write wf.io.load_npy, or read the file by NumPy",
    "save, savez, savetxt": "write wf.io.save_npy, or wf.Checkpoint for variables",
    "seed": "write wf.random.set_seed",
    "export": "C++ exports functions; Python keeps variables by wf.Checkpoint",
}
"""What to write for names of NumPy, JAX and PyTorch that nothing is called after."""

_NOT_IN_NN = {
    "Linear, LazyLinear": "write wf.nn.Dense, which is given the size of its result alone",
    "Conv1d": "write wf.nn.Conv1D; channels are the last axis",
    "Conv2d": "write wf.nn.Conv2D; channels are the last axis",
    "Conv3d": "write wf.nn.Conv3D; channels are the last axis",
    "BatchNorm1d, BatchNorm2d, BatchNorm3d": "write wf.nn.BatchNorm",
    "ReLU": "write wf.nn.relu, which may stand in a Sequential",
    "functional": "its functions are in wf.nn and wf.losses",
    "CrossEntropyLoss, cross_entropy": "write wf.losses.sparse_categorical_cross_entropy",
    "Parameter": "write wf.Variable",
    "ModuleList, ModuleDict": "lists and dicts of layers are parts of a wf.Module as they are",
}


_NOT_IN_RANDOM = {
    "seed, manual_seed": "write wf.random.set_seed",
    "rand, random, random_sample": "write wf.random.uniform(shape)",
    "randn, standard_normal": "write wf.random.normal(shape)",
    "PRNGKey": "write wf.random.key(seed)",
    "default_rng": "write wf.random.Generator(seed), which goes on from call to call",
}

_NOT_OF_TENSORS = {
    "view": "write x.reshape(shape)",
    "type": "write x.astype(dtype) or wf.cast(x, dtype)",
    "backward, grad, requires_grad": "write `with wf.GradientTape() as tape:` and tape.gradient(loss, variables), or "
    "wf.grad(f)",
    "detach": "write wf.stop_gradient(x)",
    "permute": "write x.transpose(axes)",
    "unsqueeze": "write wf.expand_dims(x, axis)",
}
"""What to write for the attributes that tensors of JAX and PyTorch have."""


def _absent_attribute(name: str, said: str) -> property:
    def attribute(self: object) -> Any:
        raise AttributeError(f"'weft.Tensor' object has no attribute '{name}': {said}", name=name, obj=None)

    return property(attribute)


def _attributes(self: object) -> list[str]:
    return [name for name in object.__dir__(self) if not any(name in names.split(", ") for names in _NOT_OF_TENSORS)]


def _said_of(module: str, name: str) -> str | None:
    """What to write for a name of another library; None for other names."""
    tables = {"weft": _NOT_HERE, "weft.nn": _NOT_IN_NN, "weft.random": _NOT_IN_RANDOM}
    table: dict[str, str] = tables.get(module, {})
    return next((text for names, text in table.items() if name in names.split(", ")), None)


def _module(within: str) -> Any:
    import weft

    found: Any = weft
    for word in filter(None, within.split(".")):
        found = getattr(found, word)
    return found


def _paths() -> list[str]:
    """All public names with their modules: "wf.nn.Dense"."""
    found: list[str] = []
    for within in _MODULES:
        prefix = f"wf.{within}." if within else "wf."
        names: list[str] = getattr(_module(within), "__all__", [])
        found += [prefix + name for name in names if not name.startswith("_")]
    return found


def _absent_from(module: str) -> Callable[[str], NoReturn]:
    def absent(name: str) -> NoReturn:
        raise AbsentError(module, name, _paths, _said_of(module, name))

    return absent


def _public_names(within: str, module: Any) -> Callable[[], list[str]]:
    """What `dir` of a module lists: its public names and modules, not what it imports for itself."""

    def names() -> list[str]:
        inner = [path.rpartition(".") for path in _MODULES if path]
        modules = [last for parent, _, last in inner if parent == within]
        found: list[str] = [name for name in cast("dict[str, Any]", vars(module)) if name.startswith("__")]
        return sorted({*module.__all__, *modules, *found})

    return names


def install() -> None:
    """Gives the modules a `__getattr__`, so that absent names name the nearest ones, and a `__dir__`, and
    tensors errors that say what to write. Type checkers see none of it: to them such a name is an error."""
    for names, said in _NOT_OF_TENSORS.items():
        for name in names.split(", "):
            setattr(_weft.Tensor, name, _absent_attribute(name, said))
    _weft.Tensor.__dir__ = _attributes  # pyright: ignore[reportAttributeAccessIssue]
    for within in _MODULES:
        module = _module(within)
        if "__getattr__" not in vars(module):
            module.__getattr__ = _absent_from(f"weft.{within}" if within else "weft")
        if "__dir__" not in vars(module):
            module.__dir__ = _public_names(within, module)
    for within in _FILES:
        module = _module(within)
        module.__dir__ = _public_names(within, module)
