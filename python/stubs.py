"""Writes the stubs of weft._weft: what its tables of parameters say of functions and classes, and what layers, losses, metrics,
optimizers and schedules say of their arguments.

    python python/stubs.py FOLDER HEAD > _weft.pyi

FOLDER has the built package; HEAD is a file of stubs that goes first, and what it declares stays as it says. Layers and the like
say their arguments in a line of their docstring, losses in their signature.
"""

import ast
import inspect
import re
import sys

BASES = ("Layer", "Metric", "Optimizer", "Schedule", "Initializer")
PREFIXES = ("losses_", "metrics_", "nn_", "schedules_")
TYPES = {"units": "int", "filters": "int", "classes": "int", "thresholds": "int"}

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


def parameter(text: str) -> str:
    """`use_bias=True` with its type."""
    name, _, default = (part.strip() for part in text.partition("="))
    if name == "*":
        return name
    kind = TYPES.get(name, "builtins.bool" if default in ("True", "False") else "Any")
    if not default:
        return f"{name}: {kind}"
    try:
        ast.literal_eval(default)
    except ValueError:
        default = "..."
    return f"{name}: {kind} = {default}"


def parameters(text: str) -> str:
    """The list of parameters of a line such as `units, *, use_bias=True, and what the cell takes`."""
    depth, start, parts = 0, 0, []
    for at, c in enumerate(text + ","):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    known = [p for p in parts if re.fullmatch(r"\*|\w+(\s*=.*)?", p)]
    if known and known[-1] == "*":
        known.pop()
    typed = ["self", *map(parameter, known)]
    if len(known) < len(parts):
        typed.append("**options: Any")
    return ", ".join(typed)


def constructor(cls: type) -> str:
    """The stub of `__init__`."""
    text, _, _ = (cls.__doc__ or "").partition("\nExample:\n")
    for line in text.splitlines()[1:]:  # behind the summary
        found = re.match(r"(?:%s)?(\(.*\))" % cls.__name__, line.strip())
        if found:
            inside = found.group(1)
            depth = 0
            for at, c in enumerate(inside):
                depth += (c == "(") - (c == ")")
                if depth == 0:
                    return f"def __init__({parameters(inside[1:at])}) -> None: ..."
    return "def __init__(self, *args: Any, **options: Any) -> None: ..."


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
    try:
        text = str(inspect.signature(function))  # type: ignore[arg-type]
        ast.parse(f"def f{text}: ...")
    except (TypeError, ValueError, SyntaxError):
        return f"def {name}(*args: Any, **options: Any) -> Any: ..."
    inside = parameters(text[1:-1].replace("/, ", "").replace(", /", ""))
    return f"def {name}({inside.removeprefix('self').removeprefix(', ')}) -> Any: ..."


def layer_stubs(weft: object) -> dict[str, str]:
    """The stubs of layers and the like, and of the functions of their modules, by their names."""
    found = {"_Part": class_stub(weft._Part, "")}
    classes = {n: c for n, c in vars(weft).items() if isinstance(c, type)}
    for base in BASES:
        found[base] = class_stub(classes[base], "_Part" if issubclass(classes[base], weft._Part) else "")
        for name, cls in sorted(classes.items()):
            if cls is not classes[base] and issubclass(cls, classes[base]):
                found[name] = class_stub(cls, base)
    found["ReduceOnPlateau"] = class_stub(weft.ReduceOnPlateau, "")
    for name, function in sorted(vars(weft).items()):
        if name.startswith(PREFIXES) and callable(function):
            found[name] = [function_stub(name, function)]
    return {name: "\n".join(lines) + "\n" for name, lines in found.items()}


def main(folder: str, head: str) -> None:
    """Prints the stubs."""
    sys.path.insert(0, folder)
    from weft import _weft

    with open(head, encoding="utf-8") as file:
        text = file.read()
    declared = set(re.findall(r"^(?:def |class )?(\w+)[(:]", text, re.MULTILINE))
    print(text)
    print(f"__all__ = {[name for name in _weft.__all__ if not name.startswith('_')]}\n")
    # Other names of NumPy for the same functions.
    functions = {name: getattr(_weft, name) for name in _weft.__all__ if inspect.isbuiltin(getattr(_weft, name))}
    others = {name: f"{name} = {f.__name__}\n" for name, f in functions.items() if f.__name__ != name}
    for name, stub in {**_weft.internal_stubs(), **layer_stubs(_weft), **others}.items():
        if name not in declared:
            print(stub)


if __name__ == "__main__":
    main(*sys.argv[1:])
