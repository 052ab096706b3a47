"""Finds the syntax tree of a function in its file, with the file's own lines and columns."""

from __future__ import annotations

import ast
import linecache
import os
import types
from typing import NamedTuple

from . import staging

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class SourceError(Exception):
    """The source of a function is not to be had; the message says why, as an end of a sentence."""


class Found(NamedTuple):
    """A function's node in the tree of its file, which is shared: copy before changing it."""

    node: Definition
    class_name: str | None
    """The innermost class around it, for names like `__x`."""


class _File(NamedTuple):
    lines: tuple[str, ...]
    definitions: dict[int, list[Found]]
    """By the line on which a definition starts, that of its first decorator."""


_files: dict[str, _File] = {}


def find(function: types.FunctionType) -> Found:
    """The definition of `function`. Throws SourceError."""
    code = function.__code__
    file = _file(code.co_filename, function.__globals__)
    found = _match(code, file) if file else None
    if found is None:
        # Not what was imported, or a stale copy in Python's cache: look once more.
        linecache.checkcache(code.co_filename)
        file = _file(code.co_filename, function.__globals__)
        if file is None:
            raise SourceError(
                f"its source is not to be had ({code.co_filename}): it was made by exec, typed at "
                "a prompt or compiled without its file"
            )
        found = _match(code, file)
    if found is None:
        raise SourceError(f"{code.co_filename} changed since it was imported")
    return found


def _file(name: str, module: dict[str, object]) -> _File | None:
    lines = tuple(linecache.getlines(name, module))
    if not lines:
        return None
    known = _files.get(name)
    if known is None or known.lines != lines:
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError):
            return None
        known = _files[name] = _File(lines, _index(tree))
    return known


def _index(tree: ast.AST) -> dict[int, list[Found]]:
    index: dict[int, list[Found]] = {}

    def walk(node: ast.AST, class_name: str | None) -> None:
        for child in ast.iter_child_nodes(node):
            inside = child.name if isinstance(child, ast.ClassDef) else class_name
            if isinstance(child, Definition):
                index.setdefault(_first_line(child), []).append(Found(child, class_name))
            walk(child, inside)

    walk(tree, None)
    return index


def _first_line(node: Definition) -> int:
    if isinstance(node, ast.Lambda) or not node.decorator_list:
        return node.lineno
    return min(node.lineno, node.decorator_list[0].lineno)


def _match(code: types.CodeType, file: _File) -> Found | None:
    candidates = [
        found
        for found in file.definitions.get(code.co_firstlineno, ())
        if _name(found.node) == code.co_name and _parameters(found.node) == _names(code)
    ]
    inside = [found for found in candidates if _spans(found.node, code)]
    if inside and _differs(code, file):
        return None
    # A definition inside another spans less of the file.
    return min(inside, key=lambda found: _extent(found.node), default=None)


def _differs(code: types.CodeType, file: _File) -> bool:
    """Whether a file that was written since this package was imported has other code there now."""
    try:
        if os.stat(code.co_filename).st_mtime < staging.IMPORTED:
            return False
        compiled = compile("".join(file.lines), code.co_filename, "exec", dont_inherit=True)
    except (OSError, SyntaxError, ValueError):
        return False  # not a file, or none that Python alone can read
    left = [compiled]
    while left:
        inner = left.pop()
        if inner == code:
            return False
        left += [c for c in inner.co_consts if isinstance(c, types.CodeType)]
    return True


def _name(node: Definition) -> str:
    return "<lambda>" if isinstance(node, ast.Lambda) else node.name


def _parameters(node: Definition) -> list[str]:
    a = node.args
    names = [p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    names += [p.arg for p in (a.vararg, a.kwarg) if p is not None]
    return [_plain(name) for name in names]


def _names(code: types.CodeType) -> list[str]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)
    return [_plain(name) for name in code.co_varnames[:count]]


def _plain(name: str) -> str:
    """A parameter without the class that Python puts into private names."""
    start = name.find("__")
    return name[start:] if start >= 0 and not name.endswith("__") else name


Place = tuple[int, int]


def _extent(node: Definition) -> tuple[int, int]:
    end = (node.end_lineno or node.lineno, node.end_col_offset or 0)
    return (end[0] - node.lineno, end[1] - node.col_offset)


def _spans(node: Definition, code: types.CodeType) -> bool:
    """Whether all that the code does lies in the node's body."""
    body = node.body
    if isinstance(body, ast.expr):
        start, last = (body.lineno, body.col_offset), body
    else:
        start, last = (min(node.lineno, _body_line(body[0])), 0), body[-1]
    end = (last.end_lineno or last.lineno, last.end_col_offset or 0)
    return all(start <= low and high <= end for low, high in _places(code))


def _body_line(statement: ast.stmt) -> int:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        return min([statement.lineno, *(d.lineno for d in statement.decorator_list)])
    return statement.lineno


def _places(code: types.CodeType) -> list[tuple[Place, Place]]:
    places: list[tuple[Place, Place]] = []
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (column, end_column) != (0, 0):  # as the instructions at the start have it
            places.append(((line, column), (end_line, end_column)))
    return places
