"""Turns functions into their converted form, compiled with the user's file, lines and names."""

from __future__ import annotations
import __future__ as future

import ast
import functools
import os
import types
import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

from weft._late import undisturbed

from . import iteration, operators, patterns, prepass, source, staging
from .traceback import Mark

_THUNK = "ag_thunk__"
"""The parameter by which lambdas that the conversion made are told from the user's."""
_CONVERTERS = ("malt", "gast", "ast", "termcolor")
"""The modules that the passes stem from, and what they import."""
_FUTURE: list[int] = [getattr(future, name).compiler_flag for name in future.all_feature_names]
"""The flags of code by which `from __future__` shows."""


class Location(NamedTuple):
    """A range in the user's file, in the form in which malt carries it along."""

    filename: str
    lineno: int
    col_offset: int
    end_lineno: int
    end_col_offset: int


class _Conversion(NamedTuple):
    """The code that makes the converted form of a function, given the operators."""

    factory: types.CodeType


_known: dict[int, tuple[weakref.ref[types.CodeType], _Conversion | str]] = {}
"""What became of code objects, or why nothing did, by their address."""


def convert(function: types.FunctionType) -> Callable[..., Any] | str:
    """The converted form of a function, or why there is none, as an end of a sentence."""
    outcome = _outcome(function)
    return outcome if isinstance(outcome, str) else _instance(function, outcome)


def _outcome(function: types.FunctionType) -> _Conversion | str:
    code = function.__code__
    address = id(code)
    known = _known.get(address)
    if known is None:
        known = undisturbed(lambda: _known.get(address) or _remembered(function))
    return known[1]


def _remembered(function: types.FunctionType) -> tuple[Any, _Conversion | str]:
    code = function.__code__
    address = id(code)
    outcome = _converted(function)
    # No code of Python, as in calls.py.
    reference = weakref.ref(code, functools.partial(_known.pop, address))
    known = _known[address] = (reference, outcome)
    return known


def _converted(function: types.FunctionType) -> _Conversion | str:
    try:
        node, made_up, name = _transformed(function)
        return _Conversion(_compiled(function, node, name, made_up))
    except source.SourceError as error:
        return str(error)
    except prepass.RefusedError as error:
        return f"{error} ({os.path.basename(function.__code__.co_filename)}:{error.line})"
    except RecursionError:
        return "it is nested too deeply"
    except ModuleNotFoundError as error:
        if error.name not in _CONVERTERS:
            raise
        return f"{error.name} is not installed, which `pip install diastatic-malt` brings"
    except Exception as error:
        if not _is_theirs(error):
            raise
        return f"diastatic-malt does not take it ({type(error).__name__}: {error})"


def _is_theirs(error: Exception) -> bool:
    """Whether an error was raised by malt, or by what it uses, and not by code of ours that it
    called, whose errors are not to be passed over."""
    theirs = False
    at = error.__traceback__
    while at is not None:
        package, _, rest = str(at.tb_frame.f_globals.get("__name__")).partition(".")
        if package == "weft" and rest.startswith("_autograph"):
            theirs = False
        elif package in _CONVERTERS:
            theirs = True
        at = at.tb_next
    return theirs


def _transformed(function: types.FunctionType) -> tuple[Any, frozenset[str], str]:
    from . import passes

    found = source.find(function)
    node = prepass.copy(found.node)
    prepass.prepare(node, found.class_name)
    file = function.__code__.co_filename
    for inner in ast.walk(node):
        if isinstance(inner, ast.expr | ast.stmt | ast.arg | ast.keyword | ast.ExceptHandler):
            last = _header_end(inner)
            place = Location(
                file,
                inner.lineno,
                inner.col_offset,
                last.end_lineno or last.lineno,
                last.end_col_offset or last.col_offset,
            )
            passes.set_origin(inner, passes.OriginInfo(place, function.__name__, "", None))
    for defaults in (node.args.defaults, node.args.kw_defaults):
        for i, default in enumerate(defaults):
            if default is not None:
                defaults[i] = ast.copy_location(ast.Constant(value=None), default)
    result = passes.Transformed(node, file, _namespace(function))
    line = function.__code__.co_firstlineno
    _locate(result.node, Location(file, line, 0, line, 0), passes.origin_of)
    return result.node, result.made_up, result.name


def _header_end(node: Any) -> Any:
    """What ends the part of a statement that its own errors are about."""
    match node:
        case ast.If() | ast.While():
            return node.test
        case ast.For():
            return node.iter
        case ast.With():
            return node.items[-1].context_expr
        case _:
            return node


def _namespace(function: types.FunctionType) -> dict[str, Any]:
    """The names that a function sees outside of itself."""
    names = dict(function.__globals__)
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            names[name] = cell.cell_contents
        except ValueError:  # not assigned yet
            names[name] = None
    return names


# Compiling.


def _compiled(
    function: types.FunctionType, node: Any, name: str, made_up: frozenset[str]
) -> types.CodeType:
    code = function.__code__
    _mark_thunks(node, top=True)
    inner = ast.FunctionDef(
        name="converted",
        args=_parameters("ag__"),
        body=[node, ast.Return(value=ast.Name(id=name, ctx=ast.Load()))],
        decorator_list=[],
    )
    cells: list[ast.stmt] = [
        ast.Assign(targets=[ast.Name(id=cell, ctx=ast.Store())], value=ast.Constant(value=None))
        for cell in code.co_freevars
    ]
    outer = ast.FunctionDef(
        name="cells", args=_parameters(), body=[*cells, inner], decorator_list=[]
    )
    for generated in (outer, inner):
        if "type_params" in generated._fields:
            setattr(generated, "type_params", [])
    module = ast.Module(body=[outer], type_ignores=[])
    ast.fix_missing_locations(module)
    flags = sum({flag for flag in _FUTURE if code.co_flags & flag})
    compiled = compile(module, code.co_filename, "exec", flags=flags, dont_inherit=True)
    factory = _nested(_nested(compiled, "cells"), "converted")
    names = _Names(object(), made_up)
    constants = [
        _renamed(c, code.co_name, code.co_qualname, names, made=False)
        if isinstance(c, types.CodeType)
        else c
        for c in factory.co_consts
    ]
    return factory.replace(co_consts=tuple(constants))


def _parameters(*names: str) -> ast.arguments:
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=name) for name in names],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )


def _nested(code: types.CodeType, name: str) -> types.CodeType:
    return next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == name)


def _locate(node: ast.AST, around: Location, origin_of: Callable[[ast.AST], Any]) -> None:
    """Gives every node its place in the user's file; what is made up stands with its parent."""
    origin = origin_of(node)
    place: Location = origin.loc if origin is not None else around
    if "lineno" in node._attributes:
        for name in Location._fields[1:]:
            setattr(node, name, getattr(place, name))
        if isinstance(node, ast.Attribute) and origin is None:
            # Python takes the line on which the name of what is called ends.
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset
    for child in ast.iter_child_nodes(node):
        _locate(child, place, origin_of)


def _mark_thunks(node: ast.AST, top: bool) -> None:
    for child in ast.iter_child_nodes(node):
        users = top and isinstance(node, ast.Assign)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            users = node.func.attr == "autograph_artifact"
        if isinstance(child, ast.Lambda) and not users:
            parameters = child.args
            if not parameters.args and parameters.vararg is None:
                parameters.vararg = ast.copy_location(ast.arg(arg=_THUNK), child)
        _mark_thunks(child, top=False)


class _Names(NamedTuple):
    conversion: object
    made_up: frozenset[str]


def _renamed(
    code: types.CodeType, name: str, full_name: str, names: _Names, made: bool
) -> types.CodeType:
    """Code, and what is defined in it, under the names that the user gave: parts of a function
    that became functions of their own have its name."""

    def inner(c: types.CodeType) -> types.CodeType:
        first = c.co_varnames[:1]
        part = c.co_name in names.made_up or (
            c.co_name == "<lambda>" and (first == (_THUNK,) or not names.made_up.isdisjoint(first))
        )
        if part:
            return _renamed(c, name, full_name, names, made=True)
        return _renamed(c, c.co_name, f"{full_name}.<locals>.{c.co_name}", names, made=False)

    constants = [inner(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    constants.append(Mark(names.conversion, made))
    return code.replace(co_name=name, co_qualname=full_name, co_consts=tuple(constants))


# Functions.


class _Operators:
    """What `ag__` is in converted code."""

    def __init__(self) -> None:
        from . import calls

        for module in (operators, iteration, calls, patterns):
            for name, value in vars(module).items():
                if not name.startswith("_"):
                    setattr(self, name, value)
        self.STD = None


_operators: list[_Operators] = []


def _instance(function: types.FunctionType, conversion: _Conversion) -> types.FunctionType:
    """The converted form of this function, with its closure and defaults."""
    if not _operators:
        _operators.append(_Operators())
    factory = conversion.factory
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] for name in factory.co_freevars)
    make = types.FunctionType(factory, function.__globals__, "converted", (), closure)
    result: types.FunctionType = make(_operators[0])
    result.__defaults__ = function.__defaults__
    result.__kwdefaults__ = function.__kwdefaults__
    result.__module__ = function.__module__
    result.__doc__ = function.__doc__
    return result


def to_code(function: Any) -> str:
    """The converted form of a function, as Python to read. Throws an AutoGraphError that says why
    if there is none."""
    inner = getattr(function, "__func__", function)
    while hasattr(inner, "__wrapped__") and not isinstance(inner, types.FunctionType):
        inner = inner.__wrapped__
    if not isinstance(inner, types.FunctionType):
        raise TypeError(
            f"to_code takes a function of Python, but this is a {type(function).__name__}"
        )
    outcome = _outcome(inner)
    if isinstance(outcome, str):
        raise staging.errors().autograph(f"{inner.__qualname__} is not converted: {outcome}")
    node, _, _ = _transformed(inner)
    place = f"{os.path.basename(inner.__code__.co_filename)}:{inner.__code__.co_firstlineno}"
    return f"# AutoGraph's form of {inner.__qualname__}, {place}.\n{ast.unparse(node)}\n"
