"""Rewrites what diastatic-malt converts wrongly, or not at all, into what it converts well."""

from __future__ import annotations

import ast
from typing import Any, NamedTuple, cast

from .patterns import captures_of, description_of
from .source import Definition
from .walrus import Hoist, at, contains_walrus, entries_of, fields_of, load

Loop = ast.For | ast.While


class RefusedError(Exception):
    """A function that is not converted; the message says why, as an end of a sentence."""

    def __init__(self, node: ast.AST, reason: str) -> None:
        super().__init__(reason)
        self.line: int = getattr(node, "lineno", 0)


class _Open(NamedTuple):
    """A loop that statements stand in: what `break` and `continue` do besides."""

    before_continue: list[ast.stmt]
    broken: str | None


def prepare(node: Definition, class_name: str | None) -> None:
    """Rewrites a function in place. Throws RefusedError."""
    if isinstance(node, ast.AsyncFunctionDef):
        raise RefusedError(node, "coroutines are not converted")
    _check(node)
    if class_name is not None:
        _Mangle(class_name).visit(node)
    if isinstance(node, ast.FunctionDef):
        # Evaluated where the function was defined, long ago.
        node.decorator_list = []
        node.returns = None
        if hasattr(node, "type_params"):
            setattr(node, "type_params", [])
    for parameter in _parameters(node.args):
        parameter.annotation = None
    _Prepass(node).run()


def _parameters(a: ast.arguments) -> list[ast.arg]:
    extra = [p for p in (a.vararg, a.kwarg) if p is not None]
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *extra]


def _check(node: Definition) -> None:
    """Refuses what can neither be converted nor left alone inside what is."""
    inner = {n for d in ast.walk(node) if isinstance(d, ast.FunctionDef) and d is not node
             for n in ast.walk(d)}  # fmt: skip
    for part in ast.walk(node):
        within = " inside a function" if part in inner else ""
        if isinstance(part, ast.Yield | ast.YieldFrom):
            raise RefusedError(part, f"{'a generator' if within else 'generators'}{within} "
                               f"{'is' if within else 'are'} not converted")  # fmt: skip
        if isinstance(part, ast.AsyncFunctionDef | ast.Await | ast.AsyncFor | ast.AsyncWith):
            raise RefusedError(part, "a coroutine inside a function is not converted")
        if isinstance(part, ast.ClassDef):
            raise RefusedError(part, "a class defined inside a function is not converted")
        if isinstance(part, getattr(ast, "TryStar", ())):
            raise RefusedError(part, "`except*` is not converted")


class _Mangle(ast.NodeTransformer):
    """Writes private names as Python stores them, `__x` as `_Class__x`."""

    def __init__(self, class_name: str) -> None:
        self._prefix = "_" + class_name.lstrip("_")

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field, value in ast.iter_fields(node):
            if field in ("id", "attr", "arg", "name", "asname", "rest") and isinstance(value, str):
                setattr(node, field, self._name(value))
            elif field == "names" and isinstance(node, ast.Global | ast.Nonlocal):
                node.names = [self._name(name) for name in node.names]
        return super().generic_visit(node)

    def _name(self, name: str) -> str:
        private = name.startswith("__") and not name.endswith("__") and "." not in name
        return self._prefix + name if private and self._prefix != "_" else name


class _Prepass:
    """One function, and those inside it."""

    def __init__(self, node: Definition) -> None:
        self._node = node
        self._taken = {name for n in ast.walk(node) for name in _names(n)}
        self._hoist = Hoist(self._fresh, RefusedError)
        self._loops: list[_Open] = []
        self._first: list[str | None] = []
        self._guarded = 0
        """How many handlers of the function would see an exception here."""
        self._nested = 0
        """How many statements of control flow are around, in the function."""

    def run(self) -> None:
        self._function(self._node)

    def _fresh(self, root: str) -> str:
        name, count = root + "_", 0
        while name in self._taken:
            count += 1
            name = f"{root}_{count}"
        self._taken.add(name)
        return name

    # Functions.

    def _function(self, node: Definition) -> None:
        outer = (self._loops, self._guarded, self._nested)
        self._loops, self._guarded, self._nested = [], 0, 0
        first = [*node.args.posonlyargs, *node.args.args]
        self._first.append(first[0].arg if first else None)
        if isinstance(node, ast.Lambda):
            self._lambda(node)
        elif not isinstance(node, ast.AsyncFunctionDef):
            node.body = self._block(node.body)
            if ast.get_docstring(node, clean=False) is not None and len(node.body) == 1:
                node.body.append(at(node.body[0], ast.Pass()))
        self._first.pop()
        self._loops, self._guarded, self._nested = outer

    def _lambda(self, node: ast.Lambda) -> None:
        for inner in ast.walk(node.body):
            if isinstance(inner, ast.NamedExpr):
                raise RefusedError(inner, "`:=` in a lambda is not converted: write a function")
        node.body = self._expression(node.body)

    def _expression(self, node: Any) -> Any:
        """What is inside an expression: lambdas, and `super()`."""
        if isinstance(node, ast.Lambda):
            self._function(node)
            return node
        for field, value in fields_of(node):
            if isinstance(value, list):
                entries = entries_of(cast(object, value))
                for i, entry in enumerate(entries):
                    if isinstance(entry, ast.AST):
                        entries[i] = self._expression(entry)
            elif isinstance(value, ast.AST):
                setattr(node, field, self._expression(value))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            first = self._first[-1]
            if node.func.id == "super" and not node.args and not node.keywords and first:
                node.args = [load("__class__", node), load(first, node)]
        return node

    # Statements.

    def _block(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for node in nodes:
            method = getattr(self, "_" + type(node).__name__.lower(), None)
            if method is not None:
                method(node, out)
            else:
                self._simple(node, out)
        return out or [at(nodes[0], ast.Pass())] if nodes else []

    def _nest(self, nodes: list[ast.stmt]) -> list[ast.stmt]:
        """A block under a condition or in a loop."""
        self._nested += 1
        block = self._block(nodes)
        self._nested -= 1
        return block

    def _simple(self, node: ast.stmt, out: list[ast.stmt]) -> None:
        """A statement of expressions only, evaluated as they are written."""
        if contains_walrus(node):
            fields = [
                (name, value)
                for name, value in ast.iter_fields(node)
                if isinstance(value, ast.expr)
            ]
            results = self._hoist.expressions([value for _, value in fields], out)
            for (name, _), result in zip(fields, results, strict=True):
                setattr(node, name, result)
        self._finish(node, out)

    def _finish(self, node: ast.stmt, out: list[ast.stmt]) -> None:
        """Appends a statement that has no `:=` any more, with what was hoisted from it."""
        self._expression(node)
        out.append(node)

    def _value(self, node: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """An expression of a compound statement."""
        start = len(out)
        result = self._hoist.expression(node, out)
        for statement in out[start:]:
            self._expression(statement)
        return self._expression(result)

    def _functiondef(self, node: ast.FunctionDef, out: list[ast.stmt]) -> None:
        for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults):
            if contains_walrus(part):
                raise RefusedError(part or node, "`:=` in a function's header is not converted")
        for parameter in _parameters(node.args):
            parameter.annotation = None
        node.returns = None
        node.decorator_list = [self._expression(part) for part in node.decorator_list]
        node.args.defaults = [self._expression(part) for part in node.args.defaults]
        node.args.kw_defaults = [p and self._expression(p) for p in node.args.kw_defaults]
        self._function(node)
        out.append(node)

    def _assign(self, node: ast.Assign, out: list[ast.stmt]) -> None:
        if contains_walrus(node):
            if any(contains_walrus(target) for target in node.targets):
                raise RefusedError(node, "`:=` in the target of an assignment is not converted")
            node.value = self._hoist.expression(node.value, out)
        self._finish(node, out)

    def _augassign(self, node: ast.AugAssign, out: list[ast.stmt]) -> None:
        if contains_walrus(node):
            bound = {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}
            read = {n.id for n in ast.walk(node.target) if isinstance(n, ast.Name)}
            if contains_walrus(node.target) or bound & read:
                raise RefusedError(node, "`:=` of what `+=` reads is not converted")
            node.value = self._hoist.expression(node.value, out)
        self._finish(node, out)

    def _annassign(self, node: ast.AnnAssign, out: list[ast.stmt]) -> None:
        if node.value is not None:
            plain = ast.Assign(targets=[node.target], value=node.value)
            self._assign(at(node, plain), out)

    def _assert(self, node: ast.Assert, out: list[ast.stmt]) -> None:
        test = self._value(node.test, out)
        message = node.msg or at(node, ast.Constant(value=None))
        if contains_walrus(message):
            raise RefusedError(message, "`:=` in the message of an assert is not converted")
        message = self._expression(message)
        thunk = ast.Lambda(args=_no_parameters(), body=message)
        out.append(at(node, ast.Expr(value=_call("assert_stmt", test, thunk))))

    def _raise(self, node: ast.Raise, out: list[ast.stmt]) -> None:
        if node.exc is not None and self._nested and not self._guarded:
            node.exc = at(node.exc, _call("raised", node.exc))
        self._simple(node, out)

    def _if(self, node: ast.If, out: list[ast.stmt]) -> None:
        node.test = self._value(node.test, out)
        node.body = self._nest(node.body)
        node.orelse = self._nest(node.orelse)
        out.append(node)

    def _with(self, node: ast.With, out: list[ast.stmt]) -> None:
        if any(contains_walrus(item) for item in node.items[1:]):
            inner = at(node, ast.With(items=node.items[1:], body=node.body))
            node.items, node.body = node.items[:1], [inner]
        node.items[0].context_expr = self._value(node.items[0].context_expr, out)
        for item in node.items[1:]:
            item.context_expr = self._expression(item.context_expr)
        node.body = self._block(node.body)
        out.append(node)

    def _try(self, node: ast.Try, out: list[ast.stmt]) -> None:
        self._guarded += bool(node.handlers)
        body = self._block(node.body)
        self._guarded -= bool(node.handlers)
        if node.handlers:
            guard = ast.withitem(context_expr=_call("trying"))
            body = [at(node, ast.With(items=[guard], body=body))]
        node.body = body
        for handler in node.handlers:
            handler.body = self._handled(handler)
        node.orelse = self._block(node.orelse)
        if node.orelse:
            # Its first statement stands for the block in malt's graph, where an `if` is already.
            node.orelse.insert(0, at(node.orelse[0], ast.Pass()))
        node.finalbody = self._block(node.finalbody)
        out.append(node)

    def _handled(self, handler: ast.ExceptHandler) -> list[ast.stmt]:
        """The body of a handler, which binds the name of the exception itself: malt cannot."""
        if handler.name is None:
            return self._block(handler.body)
        bound = ast.Assign(targets=[_store(handler.name)], value=_call("caught"))
        freed = ast.Delete(targets=[ast.Name(id=handler.name, ctx=ast.Del())])
        handler.name = None
        return [at(handler, bound), *self._block(handler.body), at(handler, freed)]

    # Loops.

    def _while(self, node: ast.While, out: list[ast.stmt]) -> None:
        again: list[ast.stmt] = []
        test = self._value(copy(node.test), again)
        broken = self._else_flag(node)
        out.extend(copy(again))
        self._loop_body(node, again, broken)
        if again:
            node.body.extend(copy(again))
        node.test = test
        self._close(node, broken, out)

    def _for(self, node: ast.For, out: list[ast.stmt]) -> None:
        node.iter = self._value(node.iter, out)
        broken = self._else_flag(node)
        self._loop_body(node, [], broken)
        self._close(node, broken, out)

    def _loop_body(self, node: Loop, again: list[ast.stmt], broken: str | None) -> None:
        self._loops.append(_Open(again, broken))
        node.body = self._nest(node.body)
        self._loops.pop()

    def _else_flag(self, node: Loop) -> str | None:
        """The name that says whether the loop was left by `break`, if its `else` must know."""
        return self._fresh("broken") if node.orelse and _breaks(node.body) else None

    def _close(self, node: Loop, broken: str | None, out: list[ast.stmt]) -> None:
        orelse, node.orelse = node.orelse, []
        if broken is not None:
            out.append(_flag(broken, False, node))
        out.append(node)
        if broken is None:
            out.extend(self._block(orelse))
        else:
            test = at(node, ast.UnaryOp(op=ast.Not(), operand=load(broken, node)))
            out.append(at(node, ast.If(test=test, body=self._nest(orelse), orelse=[])))

    def _continue(self, node: ast.Continue, out: list[ast.stmt]) -> None:
        out.extend(copy(self._loops[-1].before_continue))
        out.append(node)

    def _break(self, node: ast.Break, out: list[ast.stmt]) -> None:
        broken = self._loops[-1].broken
        if broken is not None:
            out.append(_flag(broken, True, node))
        out.append(node)

    # Matching.

    def _match(self, node: ast.Match, out: list[ast.stmt]) -> None:
        """A chain of ifs, whose tests take the subject apart."""
        subject = self._fresh("subject")
        value = self._value(node.subject, out)
        out.append(at(node.subject, ast.Assign(targets=[_store(subject)], value=value)))
        for case in node.cases:
            if case.guard is not None and contains_walrus(case.guard):
                raise RefusedError(case.guard, "`:=` in the guard of a case is not converted")
            names = captures_of(case.pattern)
            given = [self._fresh(name) for name in names]
            out.append(self._matched(subject, case, names, given))
            matched = load(_target(out[-1]), case.pattern)
            if case.guard is not None:
                guard = _Rename(dict(zip(names, given, strict=True))).visit(case.guard)
                matched = ast.BoolOp(op=ast.And(), values=[matched, self._expression(guard)])
                matched = at(case.pattern, matched)
            body: list[ast.stmt] = [
                at(case.pattern, ast.Assign(targets=[_store(name)], value=load(kept, case.pattern)))
                for name, kept in zip(names, given, strict=True)
            ]
            orelse: list[ast.stmt] = []
            body += self._nest(case.body)
            out.append(at(case.pattern, ast.If(test=matched, body=body, orelse=orelse)))
            out = orelse

    def _matched(
        self, subject: str, case: ast.match_case, names: list[str], given: list[str]
    ) -> ast.stmt:
        flag = self._fresh("matched")
        tests = self._expression(description_of(case.pattern))
        listed = ast.Tuple(elts=[ast.Constant(value=n) for n in names], ctx=ast.Load())
        call = _call("match_case", load(subject, case.pattern), tests, listed)
        target = ast.Tuple(elts=[_store(n) for n in (flag, *given)], ctx=ast.Store())
        return at(case.pattern, ast.Assign(targets=[target], value=call))


class _Rename(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self._names.get(node.id, node.id)
        return node


def _names(node: ast.AST) -> list[str]:
    names = [getattr(node, field, None) for field in ("id", "arg", "name", "asname", "rest")]
    return [name for name in names if isinstance(name, str)]


def copy(node: Any) -> Any:
    """A copy of nodes that shares nothing."""
    if isinstance(node, list):
        return [copy(entry) for entry in entries_of(cast(object, node))]
    if not isinstance(node, ast.AST):
        return node
    # By the fields of the class: malt notes what it finds on nodes that the parser shares.
    names = [name for name in type(node)._fields if hasattr(node, name)]
    new = type(node)(**{name: copy(getattr(node, name)) for name in names})
    return ast.copy_location(new, node)


def _no_parameters() -> ast.arguments:
    return ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    """A call of one of the operators."""
    operator = ast.Attribute(value=ast.Name(id="ag__", ctx=ast.Load()), attr=name, ctx=ast.Load())
    return ast.Call(func=operator, args=list(arguments), keywords=[])


def _store(name: str) -> ast.Name:
    return ast.Name(id=name, ctx=ast.Store())


def _target(node: ast.stmt) -> str:
    assert isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple)
    first = node.targets[0].elts[0]
    assert isinstance(first, ast.Name)
    return first.id


def _flag(name: str, value: bool, place: ast.AST) -> ast.stmt:
    return at(place, ast.Assign(targets=[_store(name)], value=ast.Constant(value=value)))


def _breaks(nodes: list[ast.stmt]) -> bool:
    """Whether a `break` here leaves the loop that these statements are the body of."""
    for node in nodes:
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, Loop):
            if _breaks(node.orelse):
                return True
        elif not isinstance(node, Definition):
            for _, value in fields_of(node):
                if _breaks_inside(entries_of(value)):
                    return True
    return False


def _breaks_inside(values: list[Any]) -> bool:
    statements = [value for value in values if isinstance(value, ast.stmt)]
    if _breaks(statements):
        return True
    holders = (ast.ExceptHandler, ast.match_case)
    return any(isinstance(value, holders) and _breaks(value.body) for value in values)
