"""diastatic-malt's passes over syntax trees, and where ours differ. Imported when first needed."""

from __future__ import annotations

import ast
import importlib
import os
from typing import TYPE_CHECKING, Any, cast

from . import traceback


def _malt(name: str) -> Any:
    return importlib.import_module(f"malt.{name}")


# malt uses both without importing them.
importlib.import_module("importlib.machinery")
importlib.import_module("importlib.util")
traceback.hide(os.path.dirname(importlib.import_module("malt").__file__ or "") + os.sep)

_converter = _malt("core.converter")
_anno = _malt("pyct.anno")
_qual_names = _malt("pyct.qual_names")
_templates = _malt("pyct.templates")
_transformer = _malt("pyct.transformer")
_activity = _malt("pyct.static_analysis.activity")
_definitions = _malt("pyct.static_analysis.reaching_definitions")
_functions = _malt("pyct.static_analysis.reaching_fndefs")
_liveness = _malt("pyct.static_analysis.liveness")
if TYPE_CHECKING:

    class _Pass:
        """What malt's passes have in common."""

        ctx: Any
        state: Any

        def __init__(self, ctx: Any) -> None: ...
        def __getattr__(self, name: str) -> Any: ...
        def visit(self, node: Any) -> Any: ...
        def generic_visit(self, node: Any) -> Any: ...
        def visit_If(self, node: Any) -> Any: ...
        def visit_IfExp(self, node: Any) -> Any: ...
        def visit_Call(self, node: Any) -> Any: ...
        def visit_Name(self, node: Any) -> Any: ...
        def visit_AugAssign(self, node: Any) -> Any: ...
        def _get_block_vars(self, node: Any, modified: Any) -> Any: ...
        def _get_block_basic_vars(self, modified: Any, live_in: Any, live_out: Any) -> Any: ...
        def _create_state_functions(self, a: Any, b: Any, c: str, d: str) -> Any: ...
        def _create_undefined_assigns(self, undefined_symbols: Any) -> Any: ...

    class _Python:
        """What malt's transpiler is here."""

        def initial_analysis(self, node: Any, ctx: Any) -> Any: ...
        def get_transformed_name(self, node: Any) -> str: ...

    _flow = _calls = _choices = _logic = _variables = _Pass
    _python = _Python
else:
    _flow = _malt("converters.control_flow").ControlFlowTransformer
    _calls = _malt("converters.call_trees").CallTreeTransformer
    _choices = _malt("converters.conditional_expressions").ConditionalExpressionTransformer
    _logic = _malt("converters.logical_expressions").LogicalExpressionTransformer
    _variables = _malt("converters.variables").VariableAccessTransformer
    _python = _malt("impl.api").PyToPy

ORIGIN: Any = _anno.Basic.ORIGIN
OriginInfo: Any = _malt("pyct.origin_info").OriginInfo
# The very object by which diastatic-malt knows the directive; its own docstring is TensorFlow's.
set_loop_options: Any = _malt("lang.directives").set_loop_options
set_loop_options.__doc__ = """Options of the loop whose first statement this is: `maximum_iterations`, and `shape_invariants`,
pairs of a tensor and the sizes that it keeps, None for any. The others are TensorFlow's and make no difference.

>>> @wf.function
... def count(n):
...     i = 0
...     while i < n:
...         wf.autograph.set_loop_options(maximum_iterations=3)
...         i += 1
...     return i
>>> count(wf.tensor(10))
tensor(3, shape=(), dtype=int32)
"""


def set_origin(node: ast.AST, origin: Any) -> None:
    """Notes where a node stands in the user's file."""
    _anno.setanno(node, ORIGIN, origin)


def origin_of(node: ast.AST) -> Any:
    """Where a node stands in the user's file, or None."""
    if "lineno" not in node._attributes:  # malt's notes on shared nodes are of others
        return None
    return _anno.getanno(node, ORIGIN, default=None)


class _ItemsOf(_qual_names.QN if not TYPE_CHECKING else object):
    """The state of a block that assigns to items of what a symbol holds: of a tensor its elements,
    which the block carries although the symbol stays bound to the same object."""

    def __init__(self, base: Any) -> None:
        cast(Any, super()).__init__(base, attr="[...]")
        self.base = base

    def __str__(self) -> str:
        return str(self.base)


def _note_assigned_items(function: Any) -> None:
    """Notes at each branch and loop whose items it assigns, as far as that has a name."""

    def names_in(nodes: Any) -> set[Any]:
        found: set[Any] = set()
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                visit(node)
                continue
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                base = _anno.getanno(node.value, _anno.Basic.QN, default=None)
                if base is not None:
                    found.add(base)
            inside = names_in(ast.iter_child_nodes(node))
            if isinstance(node, ast.If | ast.While | ast.For):
                node._weft_items = inside  # type: ignore[union-attr]
            found |= inside
        return found

    def visit(node: Any) -> None:
        names_in(ast.iter_child_nodes(node))

    visit(function)


class _ControlFlow(_flow):
    """Branches and loops, with globals, parts of objects and elements of tensors as state."""

    def _get_block_basic_vars(self, modified: Any, live_in: Any, live_out: Any) -> Any:
        found = super()._get_block_basic_vars(modified, live_in, live_out)
        module = self.state[_malt("converters.control_flow")._Function].scope.globals
        return found | frozenset(s for s in modified if s in module and not s.is_composite())

    def _get_block_vars(self, node: Any, modified: Any) -> Any:
        """As malt's, but others may read what is global or nonlocal, also if nothing here does."""
        function = self.state[_malt("converters.control_flow")._Function].scope
        outside = frozenset(s for s in modified if s in function.globals | function.nonlocals)
        live = _anno.Static.LIVE_VARS_OUT
        _anno.setanno(node, live, frozenset(_anno.getanno(node, live)) | outside)
        variables, undefined, outputs = super()._get_block_vars(node, modified)
        # Of what the block binds itself the symbol is the state.
        items = sorted(
            base
            for base in getattr(node, "_weft_items", ())
            if base not in modified and not base.support_set & modified
        )
        return [*map(_ItemsOf, items), *variables], undefined, outputs + len(items)

    def _create_undefined_assigns(self, undefined_symbols: Any) -> Any:
        """As malt's, which has them from a set, in an order of their own."""
        return super()._create_undefined_assigns(sorted(undefined_symbols, key=str))

    def _create_state_functions(self, a: Any, b: Any, c: str, d: str) -> Any:
        """As malt's, but what is missing in objects and outside is not set to a marker."""
        block_vars, nonlocal_declarations, getter_name, setter_name = a, b, c, d
        function = self.state[_malt("converters.control_flow")._Function].scope
        outside = function.globals | function.nonlocals  # which may have no value yet
        if all(v.is_simple() and v not in outside for v in block_vars):
            return super()._create_state_functions(
                block_vars, nonlocal_declarations, getter_name, setter_name
            )
        names: list[Any] = []
        values: list[Any] = []
        settings: list[Any] = []
        for v in block_vars:
            if v.is_simple() and v not in outside:
                names.append(v)
                values.append(v)
                continue
            part = self.ctx.namer.new_symbol("part", ())
            names.append(part)
            if isinstance(v, _ItemsOf):
                values.append(
                    _templates.replace_as_expression("ag__.elements(lambda: var_)", var_=v.base)
                )
                template = "ag__.put_elements(lambda: var_, part)"
                settings += _templates.replace(template, part=part, var_=v.base)
                continue
            read = "ag__.ldu(lambda: var_, name)"
            values.append(
                _templates.replace_as_expression(
                    "ag__.ldi(lambda: of_, lambda: var_, name)", of_=v.parent, var_=v,
                    name=ast.Constant(str(v)),
                )
                if v.has_subscript()
                else _templates.replace_as_expression(read, var_=v, name=ast.Constant(str(v)))
            )  # fmt: skip
            template = """
              if ag__.is_undefined(part):
                try:
                  del var_
                except (AttributeError, KeyError, IndexError, NameError):
                  pass
              elif not ag__.is_of_tensor(part):
                var_ = part
            """
            settings += _templates.replace(template, part=part, var_=v)
        template = """
          def getter_name():
            return values,
          def setter_name(vars_):
            nonlocal_declarations
            names, = vars_
            settings
        """
        return _templates.replace(
            template,
            nonlocal_declarations=nonlocal_declarations,
            getter_name=getter_name,
            setter_name=setter_name,
            names=tuple(names),
            values=values,
            settings=settings,
        )

    def visit_If(self, node: Any) -> Any:
        test = node.test
        lowered = (
            isinstance(test, ast.UnaryOp)
            and isinstance(test.op, ast.Not)
            and isinstance(test.operand, ast.Name)
            and test.operand.id in self.ctx.namer.generated_names
        )
        nodes = super().visit_If(node)
        if lowered:
            nodes[-1].value.func.attr = "guard_stmt"
        return nodes


class _CallTrees(_calls):
    """Calls, but for those that look at the frame they are called from."""

    def visit_Call(self, node: Any) -> Any:
        name = str(_anno.getanno(node.func, _anno.Basic.QN, default=""))
        known: dict[str, Any] = self.ctx.info.namespace
        if name in ("pdb.set_trace", "ipdb.set_trace") or (
            name in ("breakpoint", "locals", "globals", "vars", "dir", "eval", "exec", "print")
            and name not in known
        ):
            return self.generic_visit(node)
        return super().visit_Call(node)


class _Choices(_choices):
    """`a if c else b`, also inside one another."""

    def visit_IfExp(self, node: Any) -> Any:
        return super().visit_IfExp(self.generic_visit(node))


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip


class _Logic(_logic):
    """Logical expressions; every operand of a chain of comparisons is evaluated once."""

    def visit_Compare(self, node: Any) -> Any:
        if len(node.ops) == 1 and not isinstance(node.ops[0], ast.In | ast.NotIn):
            return self.generic_visit(node)
        node = self.generic_visit(node)
        links = [
            ast.Tuple(elts=[ast.Constant(_SIGNS[type(op)]), self._as_lambda(right)], ctx=ast.Load())
            for op, right in zip(node.ops, node.comparators, strict=True)
        ]
        call = _templates.replace_as_expression("ag__.chain(left)", left=node.left)
        call.args += links
        return call


class _Variables(_variables):
    """Reads of variables, in the values of augmented assignments too."""

    def visit_Name(self, node: Any) -> Any:
        return node if node.id == "ag__" else super().visit_Name(node)

    def visit_AugAssign(self, node: Any) -> Any:
        if isinstance(node.target, ast.Name):
            node.value = self.visit(node.value)
        return super().visit_AugAssign(node)


def _needed(node: ast.AST) -> list[str]:
    """The passes that have something to do in a function: each costs milliseconds."""
    kinds = {type(part) for part in ast.walk(node)}
    passes = ["functions"]
    if kinds & {ast.For, ast.While}:
        passes.append("directives")
    if ast.Break in kinds:
        passes.append("break_statements")
    if kinds & {ast.Break, ast.Continue}:
        passes.append("continue_statements")
    functions = [part for part in ast.walk(node) if isinstance(part, ast.FunctionDef)]
    last = {id(function.body[-1]) for function in functions}
    if any(isinstance(part, ast.Return) and id(part) not in last for part in ast.walk(node)):
        passes.append("return_statements")
    return passes


class Transpiler(_python):
    """Runs the passes; finding, loading and calling functions is done elsewhere."""

    def transform_ast(self, node: Any, ctx: Any) -> Any:
        """The converted form of a function's node."""
        passes = _needed(node)
        node = self.initial_analysis(node, ctx)
        for name in passes:
            node = _malt(f"converters.{name}").transform(node, ctx)
        node = _CallTrees(ctx).visit(_qual_names.resolve(node))
        node = self._control_flow(node, ctx)
        node = _Choices(ctx).visit(node)
        node = _Logic(ctx).visit(node)
        return _Variables(ctx).visit(node)

    def _control_flow(self, node: Any, ctx: Any) -> Any:
        graphs = _malt("pyct.cfg").build(node)
        node = _qual_names.resolve(node)
        node = _activity.resolve(node, ctx, None)
        node = _definitions.resolve(node, ctx, graphs)
        node = _functions.resolve(node, ctx, graphs)
        node = _liveness.resolve(node, ctx, graphs)
        _note_assigned_items(node)
        return _ControlFlow(ctx).visit(node)


class Transformed:
    """A function's node after the passes, its new name, and the names that were made up."""

    def __init__(self, node: Any, file: str, namespace: dict[str, Any]) -> None:
        transpiler = Transpiler()
        namer = _malt("pyct.naming").Namer(namespace)
        self.name: str = namer.new_symbol(transpiler.get_transformed_name(node), ())
        info = _transformer.EntityInfo(self.name, "", file, (), namespace)
        program = _converter.ProgramContext(options=_converter.STANDARD_OPTIONS)
        context = _transformer.Context(info, namer, program)
        result = transpiler.transform_ast(node, context)
        if isinstance(result, ast.Lambda):
            target = ast.Name(id=self.name, ctx=ast.Store())
            result = ast.Assign(targets=[target], value=result)
        else:
            result.name = self.name
        self.node: Any = result
        self.made_up: frozenset[str] = frozenset(namer.generated_names)
