"""Writes the stubs of weft._weft, weft._nn and so on: what the module's tables of parameters say of functions and classes.

    python python/stubs.py FOLDER HEAD > _weft.pyi

FOLDER has the built package, and gets the stubs of weft._nn, weft._losses and so on; HEAD is a file of stubs that goes first, and
what it declares stays as it says.
"""

import inspect
import re
import sys
from typing import Any

FAMILIES = {"initializers": "Initializer", "nn": "Layer", "losses": "Loss", "metrics": "Metric", "optimizers": "Optimizer", "schedules": "Schedule"}
BASES = ("Layer", "Metric", "Optimizer", "Schedule", "Initializer")
KINDS = (bool, int, float)

# Where stubs have names from that they use.
SOURCES = {
    "collections.abc": ["Callable", "Iterable", "Iterator", "Mapping", "Sequence"],
    "typing": ["Any", "Generic", "NamedTuple", "Self", "SupportsFloat", "TypeAlias", "TypeVar", "final"],
    "weft._weft": ["DTypeLike", "Path", "RestoreStatus", "Sizes", "Tensor", "TensorLike", "Variable", "internal_History", "Layer", "Metric", "Optimizer", "Schedule", "Initializer"],
    "weft.checkpoint": ["CheckpointInfo"],
    "weft.data": ["DatasetStats"],
    "weft.losses": ["Loss"],
    "weft.summary": ["Event"],
    "weft.train": ["History", "ProfileEntry"],
}

# The modules of functions and classes that have tables, and what is besides in their stubs.
TABLES = {
    "checkpoint": "",
    "data": """\
_T = TypeVar("_T")
OfElement: TypeAlias = (
    Callable[[_T], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
    | Callable[[Any, Any, Any, Any], Any] | Callable[[Any, Any, Any, Any, Any], Any]
)
""",
    "distributed": "",
    "fft": "",
    "io": "",
    "linalg": "",
    "random": "",
    "summary": "",
    "train": "",
}

# What all of a kind have.
MEMBERS = {
    "_Part": [
        "name: str",
        "variables: list[Variable]",
        "trainable_variables: list[Variable]",
        "non_trainable_variables: list[Variable]",
        "parameter_count: int",
        "def named_variables(self) -> dict[str, Variable]: ...",
        "def get_config(self) -> dict[str, Any]: ...",
        "@classmethod",
        "def from_config(cls, config: dict[str, Any]) -> Self: ...",
    ],
    "Layer": [
        "activation: Any",
        "built: builtins.bool",
        "input_shape: tuple[int | None, ...] | None",
        "def build(self, input_shape: Any, dtype: Any = ...) -> Self: ...",
        "def __call__(self, *inputs: Any, **options: Any) -> Any: ...",
    ],
    "Metric": [
        "def __call__(self, *values: Any, **options: Any) -> Tensor: ...",
        "def update(self, *values: Any, **options: Any) -> None: ...",
        "def result(self) -> Tensor: ...",
        "def reset(self) -> None: ...",
        "def merge(self, other: Self) -> None: ...",
    ],
    "Optimizer": [
        "step: Tensor",
        "learning_rate: Any",
        "state: list[Variable]",
        "def apply_gradients(self, gradients: Any) -> None: ...",
        "def minimize(self, loss: Callable[[], Any], variables: Any = None) -> Tensor: ...",
        "def swap_averages(self) -> None: ...",
    ],
    "Schedule": ["def __call__(self, step: Any) -> Tensor: ..."],
    "Initializer": ["def __call__(self, shape: Any, dtype: Any = ..., seed: int | None = None) -> Tensor: ..."],
    "ReduceOnPlateau": ["rate: Variable", "def update(self, value: Any) -> None: ..."],
}


def constructor(cls: type) -> str:
    """The stub of `__init__`."""
    from weft import _weft

    parameters = _weft.internal_parameters().get(f"{cls.__module__}.{cls.__name__}", "*args: Any, **options: Any")
    return f"def __init__({', '.join(['self', parameters][: 1 + bool(parameters)])}) -> None: ..."


def class_stub(cls: type, base: str) -> list[str]:
    """The lines of a class."""
    own = MEMBERS.get(cls.__name__)
    lines = [f"class {cls.__name__}({base}):" if base else f"class {cls.__name__}:"]
    if own is None or cls.__name__ == "ReduceOnPlateau":
        lines.append(f"    {constructor(cls)}")
        attributes = [n for n, v in vars(cls).items() if not n.startswith("_") and not callable(v)]
        lines += [f"    {name}: Any" for name in sorted(attributes) if name != "rate"]
    return lines + [f"    {line}" for line in own or []]


def function_stub(name: str, function: object) -> str:
    """The line of a function."""
    from weft import _weft

    known = _weft.internal_parameters().get(f"{function.__module__}.{name}")
    if known is None:
        signature = inspect.signature(function)
        typed = [
            p.replace(annotation=type(p.default) if type(p.default) in KINDS else Any)
            for p in signature.parameters.values()
        ]
        known = str(signature.replace(parameters=typed, return_annotation=signature.empty))[1:-1]
    gives = {"weft.schedules": "Schedule", "weft.initializers": "Initializer"}.get(function.__module__, "Tensor")
    return f"def {name}({known}) -> {gives}: ..."


def write_family(folder: str, family: str, base: str) -> None:
    """Writes the stub of the module whose names weft.nn, say, has."""
    import importlib

    public, module = importlib.import_module(f"weft.{family}"), importlib.import_module(f"weft._{family}")
    lines = [f"__all__: list[str] = {sorted(module.__all__)}"]
    if family == "losses":
        lines.append("internal_classes: list[tuple[str, Any, str, dict[str, str]]]")
    for name in sorted(module.__all__):
        value = getattr(module, name)
        if isinstance(value, type):
            lines += class_stub(value, base if issubclass(value, getattr(public, base)) else "")
        else:
            lines.append(function_stub(name, value))
    write_stub(folder, family, lines)


def write_stub(folder: str, family: str, lines: list[str]) -> None:
    """Writes the stub of a module, behind the imports of what it uses."""
    code = re.sub(r'""".*?"""', "", "\n".join(lines[1:]), flags=re.DOTALL)
    imports = ["import builtins"] if "builtins." in code else []
    for source, names in SOURCES.items():
        used = [name for name in names if re.search(rf"\b{name}\b", code) and f"class {name}(" not in code]
        imports += [f"from {source} import {', '.join(used)}"] if used else []
    with open(f"{folder}/weft/_{family}.pyi", "w") as stub:
        print(f'"""What is bound for weft.{family}: written by python/stubs.py."""\n', *imports, "", *lines, sep="\n", file=stub)


def write_functions(folder: str, family: str, stubs: dict[str, str]) -> None:
    """Writes the stub of weft._data, say, whose functions and classes have tables in the module."""
    start = f"weft.{family}."
    found = {key.removeprefix(start): stub for key, stub in stubs.items() if key.startswith(start)}
    if family == "data":
        found["Dataset"] = found["Dataset"].replace("(_Part):", "(Generic[_T]):")
    write_stub(folder, family, [f"__all__: list[str] = {sorted(found)}", TABLES[family], *found.values()])


def base_stubs(weft: object) -> dict[str, str]:
    """The stubs of what all of a kind have, by their names."""
    found = {"_Part": class_stub(weft._Part, "")}
    for base in BASES:
        cls = getattr(weft, base)
        found[base] = class_stub(cls, "_Part" if issubclass(cls, weft._Part) else "")
    return {name: "\n".join(lines) + "\n" for name, lines in found.items()}


def operators() -> str:
    """The operators of tensors that give one."""
    both = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    names = [prefix + name for name in both for prefix in ("", "r")] + "lt le gt ge".split()
    lines = [f"    def __{name}__(self, other: TensorLike, /) -> Tensor: ..." for name in names]
    return "\n".join(lines + [f"    def __{name}__(self) -> Tensor: ..." for name in "neg pos abs invert".split()])


def tensor_methods(weft: object, stubs: dict[str, str], head: str) -> str:
    """The methods that are functions of a tensor, but those that the head declares."""
    own = head.partition("class Tensor(")[2].partition("\nclass ")[0]
    lines = {name: stub.partition("\n")[0] for name, stub in stubs.items() if inspect.ismethoddescriptor(vars(weft.Tensor).get(name))}
    return "\n".join(
        "    " + re.sub(r"\(\w+: TensorLike", "(self", line, count=1) + " ..."
        for name, line in lines.items()
        if "(self" not in line and f" def {name}(" not in own
    )


def main(folder: str, head: str) -> None:
    """Prints the stubs of weft._weft, and writes those of families."""
    sys.path.insert(0, folder)
    from weft import _weft

    for family, base in FAMILIES.items():
        write_family(folder, family, base)
    for family in TABLES:
        write_functions(folder, family, _weft.internal_stubs())
    with open(head, encoding="utf-8") as file:
        text = file.read()
    stubs = _weft.internal_stubs()
    text = text.replace("    # Methods that are functions of a tensor: stubs.py.", tensor_methods(_weft, stubs, text))
    text = text.replace("    # Operators: stubs.py.", operators())
    declared = set(re.findall(r"^(?:def |class )?(\w+)[(:]", text, re.MULTILINE))
    print(text)
    print(f"__all__: list[str] = {[name for name in _weft.__all__ if not name.startswith('_')]}\n")
    # Other names of NumPy for the same functions.
    others: dict[str, str] = {}
    for alias, name in _weft._aliases.items():
        of, _, word = name.rpartition(".")
        others[alias] = f"from weft._{of} import {word} as {alias}\n" if of else f"{alias} = {name}\n"
    for name, stub in {**stubs, **base_stubs(_weft), **others}.items():
        if name not in declared and hasattr(_weft, name):
            print(stub)


if __name__ == "__main__":
    main(*sys.argv[1:])
