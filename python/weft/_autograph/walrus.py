"""Takes `:=` out of expressions: what it binds becomes an assignment in front of the statement."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

Fresh = Callable[[str], str]
"""Gives a new name."""


def contains_walrus(node: ast.AST | None) -> bool:
    """Whether `node` binds a name by `:=` in the scope that it stands in."""
    if node is None or isinstance(node, ast.Lambda):
        return False
    if isinstance(node, ast.NamedExpr):
        return True
    return any(contains_walrus(child) for child in ast.iter_child_nodes(node))


def at(place: ast.AST, node: Any) -> Any:
    """Gives a new node, and what is new in it, the position of `place`."""
    ast.copy_location(node, place)
    for child in ast.iter_child_nodes(node):
        if not hasattr(child, "lineno") and "lineno" in child._attributes:
            at(place, child)
        elif "lineno" not in child._attributes:
            for inner in ast.iter_child_nodes(child):
                if not hasattr(inner, "lineno") and "lineno" in inner._attributes:
                    at(place, inner)
    return node


def fields_of(node: ast.AST) -> Iterator[tuple[str, object]]:
    """The fields of a node, and their values."""
    return ast.iter_fields(node)


def entries_of(value: object) -> list[Any]:
    """What is in a field: the list that it is, or the one thing."""
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def assign(name: str, value: ast.expr) -> ast.stmt:
    """`name = value`, where the value stands."""
    return at(value, ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value))


def load(name: str, place: ast.AST) -> ast.expr:
    """A read of `name`."""
    return at(place, ast.Name(id=name, ctx=ast.Load()))


class Hoist:
    """Splits an expression into statements that come first and an expression without `:=`."""

    def __init__(self, fresh: Fresh, refuse: Callable[[ast.AST, str], Exception]) -> None:
        self._fresh = fresh
        self._refuse = refuse

    def expression(self, node: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """The expression; what must happen first is appended to `out`."""
        if not contains_walrus(node):
            return node
        if isinstance(node, ast.NamedExpr):
            value = self.expression(node.value, out)
            out.append(at(node, ast.Assign(targets=[node.target], value=value)))
            return load(node.target.id, node)
        if isinstance(node, ast.BoolOp):
            return self._logic(node, out)
        if isinstance(node, ast.IfExp):
            return self._choice(node, out)
        if isinstance(node, ast.Compare):
            return self._comparison(node, out)
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return self._comprehension(node, out)
        return self._in_order(node, out)

    def expressions(self, nodes: Sequence[ast.expr], out: list[ast.stmt]) -> list[ast.expr]:
        """Expressions that are evaluated one after the other."""
        last = max((i for i, n in enumerate(nodes) if contains_walrus(n)), default=-1)
        results: list[ast.expr] = []
        for i, node in enumerate(nodes):
            result = self.expression(node, out)
            if i < last and not isinstance(result, ast.Constant):
                result = self._kept(result, out)
            results.append(result)
        return results

    def _kept(self, node: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """The value that `node` has now, whatever is assigned later."""
        if isinstance(node, ast.Starred):
            return at(node, ast.Starred(value=self._kept(node.value, out), ctx=ast.Load()))
        name = self._fresh("value")
        out.append(assign(name, node))
        return load(name, node)

    def _in_order(self, node: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """Hoists out of the parts of an expression that evaluates all of them, left to right."""
        fields: list[tuple[Any, str, int | None]] = []
        parts: list[ast.expr] = []

        def collect(owner: ast.AST) -> None:
            for name, value in fields_of(owner):
                listed = isinstance(value, list)
                for i, entry in enumerate(entries_of(value)):
                    if isinstance(entry, ast.expr):
                        fields.append((owner, name, i if listed else None))
                        parts.append(entry)
                    elif isinstance(entry, ast.keyword):
                        collect(entry)

        collect(node)
        for (owner, name, i), part in zip(fields, self.expressions(parts, out), strict=True):
            if i is None:
                setattr(owner, name, part)
            else:
                getattr(owner, name)[i] = part
        return node

    def _logic(self, node: ast.BoolOp, out: list[ast.stmt]) -> ast.expr:
        name = self._fresh("logic")
        block = out
        for i, value in enumerate(node.values):
            block.append(assign(name, self.expression(value, block)))
            if i + 1 < len(node.values):
                test = load(name, value)
                if isinstance(node.op, ast.Or):
                    test = at(value, ast.UnaryOp(op=ast.Not(), operand=test))
                branch: list[ast.stmt] = []
                block.append(at(node, ast.If(test=test, body=branch, orelse=[])))
                block = branch
        return load(name, node)

    def _choice(self, node: ast.IfExp, out: list[ast.stmt]) -> ast.expr:
        name = self._fresh("choice")
        test = self.expression(node.test, out)
        bodies: list[list[ast.stmt]] = []
        for value in (node.body, node.orelse):
            body: list[ast.stmt] = []
            body.append(assign(name, self.expression(value, body)))
            bodies.append(body)
        out.append(at(node, ast.If(test=test, body=bodies[0], orelse=bodies[1])))
        return load(name, node)

    def _comparison(self, node: ast.Compare, out: list[ast.stmt]) -> ast.expr:
        if len(node.ops) == 1:
            node.left, node.comparators[0] = self.expressions([node.left, *node.comparators], out)
            return node
        name = self._fresh("compared")
        left, right = self.expressions([node.left, node.comparators[0]], out)
        block = out
        for i, op in enumerate(node.ops):
            if i:
                branch: list[ast.stmt] = []
                block.append(at(node, ast.If(test=load(name, node), body=branch, orelse=[])))
                block = branch
                right = self.expression(node.comparators[i], block)
            right = self._kept(right, block)
            pair = ast.Compare(left=left, ops=[op], comparators=[right])
            block.append(assign(name, at(node, pair)))
            left = load(right.id, node) if isinstance(right, ast.Name) else right
        return load(name, node)

    def _comprehension(self, node: Any, out: list[ast.stmt]) -> ast.expr:
        """Only the first iterable is evaluated out here; `:=` further in is Python's, unless a
        part that becomes a function of its own would bind the name."""
        first: ast.comprehension = node.generators[0]
        first.iter = self.expression(first.iter, out)
        for inner in ast.walk(node):
            lazy = isinstance(inner, ast.BoolOp | ast.IfExp) or (
                isinstance(inner, ast.Compare) and len(inner.ops) > 1
            )
            if lazy and contains_walrus(inner):
                raise self._refuse(
                    inner,
                    "`:=` inside `and`, `or`, a chained comparison or `if ... else` of a "
                    "comprehension is not converted: write a loop",
                )
        return node
