"""The modules of weft.tf: a name is looked up in the table when it is first used."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any

from weft import _arguments, _weft
from weft._absent import AbsentError, refuse_keywords

from ._absent import MissingError, RemovedError

try:
    from ._names import ABSENT, MODULES, NAMES, REMOVED
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "weft.tf: the table of names is not compiled: build the target weft-python"
    ) from error

__all__ = ["find", "install", "names_in", "paths"]

_ROOT = "weft.tf"


class _Names(ModuleType):
    """A module whose names are in the table."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{_ROOT}.{path}", MODULES[path])
        self.__path__ = []
        self._within = path

    def __getattr__(self, name: str) -> Any:
        return find(self._within, name)

    def __dir__(self) -> list[str]:
        return names_in(self._within)


def install() -> None:
    """Makes the modules, so that `import weft.tf.keras.layers` finds them."""
    for path in MODULES:
        above, _, last = path.rpartition(".")
        module = _Names(path)
        sys.modules[module.__name__] = module
        setattr(sys.modules[f"{_ROOT}.{above}" if above else _ROOT], last, module)


def find(within: str, name: str) -> Any:
    """What a name of a module stands for, which it has from now on. Throws AttributeError."""
    path = f"{within}.{name}" if within else name
    meaning = NAMES.get(path)
    if meaning is not None:
        value = _made(path, meaning)
        setattr(sys.modules[f"{_ROOT}.{within}" if within else _ROOT], name, value)
        return value
    removed = REMOVED.get(path) or (REMOVED.get(name) if within == "compat.v1" else None)
    if removed is not None:
        raise RemovedError(f"tf.{path} is of TensorFlow 1: {removed}", name=name, obj=None)
    if within == "compat.v1" and (name in NAMES or name in MODULES):
        return getattr(sys.modules[_ROOT], name)
    missing = absent(path)
    if missing is not None:
        raise MissingError(f"weft.tf has no tf.{path}: {missing}", name=name, obj=None)
    raise AbsentError(f"{_ROOT}.{within}" if within else _ROOT, name, paths)


def absent(path: str) -> str | None:
    """What to write instead of a name that there is nothing for; None for others."""
    return ABSENT.get(path)


def paths() -> list[str]:
    """All names, with their modules: "tf.keras.layers.Dense"."""
    return [f"tf.{path}" for path in NAMES]


def names_in(within: str) -> list[str]:
    """The names of a module and the modules in it."""
    start = within + "." if within else ""
    found = {path[len(start) :] for path in (*NAMES, *MODULES) if path.startswith(start)}
    return sorted(name for name in found if "." not in name)


def _made(path: str, meaning: str | tuple[str, str]) -> Any:
    if isinstance(meaning, str):
        return _object(meaning)
    return _function(path, *meaning)


def _object(target: str) -> Any:
    """The object of a path that begins with `wf`, `tf` or `more`."""
    root, *names = target.split(".")
    value: Any = import_module(_PACKAGES[root])
    for name in names:
        value = getattr(value, name)
    return value


_PACKAGES = {
    "wf": "weft",
    "tf": "weft.tf",
    "more": "weft.tf._more",
    "elements": "weft.tf._elements",
    "functional": "weft.tf._functional",
    "networks": "weft.tf._networks",
    "checks": "weft.tf._checks",
    "arrays": "weft.tf._arrays",
    "data": "weft.tf._data",
    "train": "weft.tf._train",
    "summary": "weft.tf._summary",
    "keras": "weft.tf._keras",
    "layers": "weft.tf._layers",
    "attention": "weft.tf._attention",
    "functions": "weft.tf._functions",
    "metrics": "weft.tf._metrics",
    "training": "weft.tf._training",
    "callbacks": "weft.tf._callbacks",
    "replicas": "weft.tf._replicas",
    "strategies": "weft.tf._strategies",
}


def _function(path: str, parameters: str, expression: str) -> Callable[..., Any]:
    """A function of TensorFlow's parameters that gives the value of the expression."""
    scope: dict[str, Any] = {
        "__name__": _ROOT,
        "refuse": refuse_keywords,
        "ERRORS": _arguments.ERRORS,
        "Error": _weft.Error,
    }
    for word, package in _PACKAGES.items():
        if re.search(rf"\b{word}\.", f"{parameters} {expression}"):
            scope[word] = import_module(package)
    name = path.rpartition(".")[2]
    known = [p.partition("=")[0].partition(":")[0].strip(" *") for p in parameters.split(",")]

    def bound(found: re.Match[str]) -> str:
        """A function of weft under a name of its own, which saves a look into the module."""
        scope["wf_" + found[1]] = getattr(scope["wf"], found[1])
        return f"wf_{found[1]}("

    called = re.sub(r"\bwf\.(\w+)\(", bound, expression)
    source = (
        f"def {name}({parameters}{', ' if parameters else ''}**other):\n"
        f" if other: refuse('tf.{path}', other, {known!r})\n"
        f" try: return {called}\n"
        f" except ERRORS as error: explain(error, locals()); raise\n"
        f" except Error as error: rename(error); raise\n"
    )
    # A file within the package: errors name the line of the caller.
    exec(compile(source, __file__, "exec"), scope)
    made = scope[name]

    def rename(error: Exception) -> None:
        _rename(error, expression, known)

    def explain(error: Exception, given: dict[str, Any]) -> None:
        rename(error)
        _arguments.explain(error, f"tf.{path}", made, (), given)

    scope["explain"], scope["rename"] = explain, rename
    made.__module__ = _ROOT
    made.__qualname__ = path
    made.__doc__ = f"tf.{path}({parameters})\n\nIs {expression}.\n\n{_document(expression)}"
    return made


def _rename(error: Exception, expression: str, parameters: list[str]) -> None:
    """Has an error of the function that the expression calls name TensorFlow's parameters."""
    message = getattr(error, "message", None)
    if not isinstance(error, _weft.Error) or not isinstance(message, str):
        return
    call = ast.parse(expression, mode="eval").body
    if not isinstance(call, ast.Call) or not re.fullmatch(r"wf(\.\w+)+", ast.unparse(call.func)):
        return
    try:
        names = list(inspect.signature(_object(ast.unparse(call.func))).parameters)
    except (TypeError, ValueError):
        return
    given = [*zip(names, call.args, strict=False), *((k.arg, k.value) for k in call.keywords)]
    # "wf.conj(a) if adjoint_a else a" is a.
    given = [(name, value.orelse if isinstance(value, ast.IfExp) else value) for name, value in given]
    ours = {
        name: value.id
        for name, value in given
        if isinstance(value, ast.Name) and name != value.id and value.id in parameters and name != "a"
    }
    if not ours:
        return
    words = "|".join(map(re.escape, (str(name) for name in ours)))
    # A parameter at the start of what is said of it.
    named = re.compile(rf"(?<![\w'])(?<!the )({words})(?=\[| is | has | of (?:shape|type|rank)\b|,)")
    error.message = named.sub(lambda found: ours[found[1]], message)  # pyright: ignore[reportAttributeAccessIssue]
    error.args = tuple(
        x.replace(message, error.message) if isinstance(x, str) else x  # pyright: ignore[reportAttributeAccessIssue]
        for x in error.args
    )


def _document(expression: str) -> str:
    """The text of the function that an expression begins with."""
    target = expression.partition("(")[0]
    if not target.replace(".", "").replace("_", "").isalnum():
        return ""
    try:
        text: Any = _object(target).__doc__
    except (AttributeError, KeyError, ImportError):
        return ""
    return text or ""
