"""A tensor library over NumPy that records programs: what the tests stage into.

A traced function gives a `Program`, blocks of recorded ops, which can be run on values. Running the
function on NumPy's values is the oracle.
"""

from __future__ import annotations

import linecache
import operator
from typing import Any

import numpy as np
from weft import _autograph
from weft._autograph.staging import ErrorTypes, Parts, TensorType
from weft._autograph.traceback import hide


class AutoGraphError(TypeError):
    """Python that cannot be converted."""


class NotAllowedError(TypeError):
    """A traced tensor where Python wants a value."""


class CheckError(AssertionError):
    """A check of a program that does not hold."""


class LeakError(RuntimeError):
    """A tensor used outside of the block that it was recorded in."""


class Block:
    def __init__(self, arguments: int = 0) -> None:
        self.nodes: list[Node] = []
        self.arguments: list[T] = []
        self.count = arguments


_stack: list[Block] = []
_ops = 0


class Node:
    """An op: `run(values of its inputs, run_block, values)` gives a tuple of values."""

    def __init__(self, name: str, inputs: list[Any], run: Any, results: list[T]) -> None:
        self.name, self.inputs, self.run, self.results = name, inputs, run, results


class T:
    """A traced tensor."""

    __array_priority__ = 1000
    __hash__ = object.__hash__

    def __init__(self, dtype: str, shape: tuple[int | None, ...], block: Block) -> None:
        self.dtype, self.shape, self.block = dtype, shape, block

    def __bool__(self) -> bool:
        raise NotAllowedError(f"a traced tensor {self!r} has no value that Python could branch on")

    def __iter__(self) -> Any:
        raise NotAllowedError(f"a traced tensor {self!r} cannot be iterated over by Python")

    def __index__(self) -> int:
        raise NotAllowedError(f"a traced tensor {self!r} is no Python integer")

    def __repr__(self) -> str:
        return f"Tensor(shape={self.shape}, dtype={self.dtype})"

    def __getitem__(self, i: Any) -> T:
        return emit("row", lambda x, n: x[n], self, i)


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray | np.generic)


def _sample(x: Any, size: int) -> Any:
    if isinstance(x, T):
        return np.ones([size if n is None else n for n in x.shape], x.dtype)
    return x


def emit(name: str, function: Any, *inputs: Any) -> T:
    """Records an op on tensors, arrays and numbers; its type is that of a run on ones."""
    global _ops
    _check(inputs)
    if not _stack:
        return function(*inputs)
    _ops += 1
    with np.errstate(all="ignore"):
        first = np.asarray(function(*[_sample(x, 5) for x in inputs]))
        second = np.asarray(function(*[_sample(x, 7) for x in inputs]))
    shape = tuple(n if n == m else None for n, m in zip(first.shape, second.shape))
    result = T(first.dtype.name, shape, _stack[-1])
    run = lambda values, _: (function(*values),)  # noqa: E731
    _stack[-1].nodes.append(Node(name, list(inputs), run, [result]))
    return result


def _check(inputs: Any) -> None:
    for x in inputs:
        if isinstance(x, T) and x.block not in _stack:
            raise LeakError(f"{x!r} is used outside of the body that it was made in")


def _operators() -> None:
    names = "add sub mul truediv floordiv mod pow matmul lt le gt ge eq ne and_ or_ xor".split()
    for name in names:
        function = getattr(operator, name)
        plain = name.rstrip("_")

        def method(self: T, other: Any, f: Any = function, n: str = plain) -> Any:
            return emit(n, f, self, other)

        def reflected(self: T, other: Any, f: Any = function, n: str = plain) -> Any:
            return emit(n, f, other, self)

        setattr(T, f"__{plain}__", method)
        if plain not in ("lt", "le", "gt", "ge", "eq", "ne"):
            setattr(T, f"__r{plain}__", reflected)
    for name in ("neg", "abs", "invert"):
        function = getattr(operator, name)
        setattr(T, f"__{name}__", lambda self, f=function, n=name: emit(n, f, self))


_operators()


class Rows:
    """A data set."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def __iter__(self) -> Any:
        return iter(self.rows)


class Array:
    """An immutable array of scalars that grows: NumPy's, with room for 64."""

    def __init__(self, elements: Any, size: Any) -> None:
        self.elements, self.size = elements, size

    @classmethod
    def empty(cls) -> Array:
        return cls(np.zeros(64, np.int32), np.int32(0))

    def append(self, x: Any) -> Array:
        def put(elements: Any, size: Any, value: Any) -> Any:
            elements = elements.copy()
            elements[int(size) % 64] = value
            return elements

        return Array(emit("put", put, self.elements, self.size, x), self.size + np.int32(1))

    def stack(self) -> Any:
        return emit("take", lambda e, n: e[: int(n)], self.elements, self.size)


_DEFAULTS = {bool: "bool", int: "int32", float: "float32", complex: "complex64"}
_HOLDS = {bool: "b", int: "iufc", float: "fc", complex: "c"}

_OPS: dict[str, Any] = {
    "logical_not": np.logical_not, "logical_and": np.logical_and, "logical_or": np.logical_or,
    "minimum": np.minimum, "maximum": np.maximum, "sum": lambda x: np.sum(x, 0, dtype=x.dtype),
    "any": np.any, "all": np.all, "min": np.min, "max": np.max, "sort": np.sort,
    "row": lambda x, i: x[i], "size": lambda x: np.int32(len(x)), "flip": lambda x: x[::-1],
    "scalar": lambda x: np.reshape(x, ()),
    "int": lambda x: np.asarray(x).astype("int32")[()],
    "float": lambda x: np.asarray(x).astype("float32")[()],
    "bool": lambda x: np.asarray(x).astype("bool")[()],
}  # fmt: skip


class Library:
    """The Staging of the tests."""

    errors = ErrorTypes(AutoGraphError, TypeError, ValueError, NotAllowedError)

    def is_tracing(self) -> bool:
        return bool(_stack)

    def is_tensor(self, x: object) -> bool:
        return isinstance(x, T | np.ndarray | np.generic)

    def is_traced(self, x: object) -> bool:
        return isinstance(x, T)

    def type_of(self, x: Any) -> TensorType:
        if isinstance(x, T):
            return TensorType(x.dtype, x.shape)
        return TensorType(np.asarray(x).dtype.name, np.shape(x))

    def as_tensor(self, x: Any, like: TensorType | None = None) -> Any:
        if type(x) in _DEFAULTS:
            fits = like is not None and np.dtype(like.dtype).kind in _HOLDS[type(x)]
            return np.asarray(x, like.dtype if fits else _DEFAULTS[type(x)])[()]
        return x

    def zeros(self, type: TensorType) -> Any:
        return np.zeros([n or 0 for n in type.shape], type.dtype)[()]

    def read(self, x: object, like: object) -> Any:
        return None

    def parts(self, x: object) -> Parts | None:
        if isinstance(x, Array):
            return Parts([x.elements, x.size], "array", lambda parts: Array(*parts))
        return None

    def op(self, name: str, *operands: Any) -> Any:
        return emit(name, _OPS[name], *operands)

    def range_of(self, x: Any) -> Any:
        return getattr(x, "counts", None)

    def is_dataset(self, x: object) -> bool:
        return isinstance(x, Rows)

    def op_count(self) -> int:
        return _ops

    # Items of these tensors are assigned as those of other objects are.

    def snapshot(self, x: Any) -> Any:
        return None

    def begin_carrying(self) -> None:
        pass

    def put(self, x: Any, value: Any) -> None:
        raise AssertionError("nothing is carried by its elements")

    def assert_(self, condition: Any, message: str) -> None:
        def check(values: Any, _: Any) -> tuple[()]:
            if not values[0]:
                raise CheckError(message)
            return ()

        _check([condition])
        _stack[-1].nodes.append(Node("assert", [condition], check, []))

    # Constructs.

    def branch(self, name: str, predicate: Any, then: Any, orelse: Any) -> list[Any]:
        _check([predicate])
        blocks = [_block(lambda _, body=body: body(), []) for body in (then, orelse)]
        types = [[self.type_of(x) for x in results] for _, results in blocks]
        assert len(types[0]) == len(types[1])
        results: list[T] = []
        for a, b in zip(*types, strict=True):
            assert a.dtype == b.dtype, (a, b)
            assert len(a.shape) == len(b.shape)
            sizes = tuple(n if n == m else None for n, m in zip(a.shape, b.shape))
            results.append(T(a.dtype, sizes, _stack[-1]))

        def run(values: Any, run_block: Any) -> Any:
            block, outs = blocks[0 if values[0] else 1]
            return run_block(block, [], outs)

        _stack[-1].nodes.append(Node(name, [predicate], run, results))
        return results

    def loop(self, name: str, condition: Any, body: Any, state: list[Any]) -> list[Any]:
        state = [*state]

        def make(types: list[TensorType]) -> Any:
            test = _block(lambda arguments: [condition(arguments)], types)
            assert self.type_of(test[1][0]) == TensorType("bool", ()), test[1][0]
            return test, _block(body, types)

        (test, test_out), (block, outs), results = self._widened(make, state)

        def run(values: Any, run_block: Any) -> Any:
            while run_block(test, values, test_out)[0]:
                values = run_block(block, values, outs)
            return values

        _stack[-1].nodes.append(Node(name, state, run, results))
        return results

    def count(
        self, name: str, start: Any, stop: Any, step: int, body: Any, state: list[Any]
    ) -> list[Any]:
        dtype = next((self.type_of(x).dtype for x in (stop, start) if self.is_tensor(x)), "int32")

        def make(types: list[TensorType]) -> Any:
            number = TensorType(dtype, ())
            return None, _block(lambda values: body(values[0], values[1:]), [number, *types])

        _, (block, outs), results = self._widened(make, state)

        def run(values: Any, run_block: Any) -> Any:
            low, high, *values = values
            for i in range(int(low), int(high), step):
                values = run_block(block, [np.asarray(i, dtype)[()], *values], outs)
            return values

        _stack[-1].nodes.append(Node(name, [start, stop, *state], run, results))
        return results

    def each(self, name: str, dataset: Rows, more: Any, body: Any, state: list[Any]) -> list[Any]:
        element = self.type_of(dataset.rows[0])

        def make(types: list[TensorType]) -> Any:
            test = _block(lambda values: [more(values)], types) if more else None
            return test, _block(lambda values: body(values[0], values[1:]), [element, *types])

        test, (block, outs), results = self._widened(make, state)

        def run(values: Any, run_block: Any) -> Any:
            for row in dataset.rows:
                if test and not run_block(test[0], values, test[1])[0]:
                    break
                values = run_block(block, [row, *values], outs)
            return values

        _stack[-1].nodes.append(Node(name, [*state], run, results))
        return results

    def _widened(self, make: Any, state: list[Any]) -> Any:
        _check(state)
        types = [self.type_of(x) for x in state]
        while True:
            test, (block, outs) = make(types)
            after = [self.type_of(x) for x in outs]
            assert [t.dtype for t in after] == [t.dtype for t in types], (types, after)
            met = [
                TensorType(a.dtype, tuple(n if n == m else None for n, m in zip(a.shape, b.shape)))
                for a, b in zip(types, after, strict=True)
            ]
            if met == types:
                return test, (block, outs), [T(t.dtype, t.shape, _stack[-1]) for t in types]
            types = met

    def probe(self, body: Any, state: list[Any]) -> tuple[Any, bool]:
        block = Block()
        _stack.append(block)
        try:
            types = [self.type_of(x) for x in state]
            result = body([T(t.dtype, t.shape, block) for t in types])
        finally:
            _stack.pop()
        return result, bool(block.nodes)

    def element_of(self, dataset: Rows) -> Any:
        type = self.type_of(dataset.rows[0])
        return T(type.dtype, type.shape, _stack[-1])


LIBRARY = Library()


def _block(body: Any, types: list[TensorType]) -> tuple[Block, list[Any]]:
    block = Block()
    block.arguments = [T(t.dtype, t.shape, block) for t in types]
    _stack.append(block)
    try:
        results = body(list(block.arguments))
        _check(results)
        return block, results
    finally:
        _stack.pop()


class Program:
    """A recorded function."""

    def __init__(self, f: Any, *arguments: Any, convert: bool = True) -> None:
        self.block = Block()
        given = []
        for x in arguments:
            if _is_array(x):
                self.block.arguments.append(T(np.asarray(x).dtype.name, np.shape(x), self.block))
                given.append(self.block.arguments[-1])
            else:
                given.append(x)
        _stack.append(self.block)
        outer = _stack[:-1]
        try:
            self.result = _autograph.convert(f)(*given) if convert else f(*given)
        finally:
            _stack[:] = outer

    def __call__(self, *arguments: Any) -> Any:
        values: dict[T, Any] = {}
        arrays = [x for x in arguments if _is_array(x)]

        def value(x: Any) -> Any:
            return values[x] if isinstance(x, T) else x

        def run_block(block: Block, given: Any, outs: list[Any]) -> list[Any]:
            values.update(zip(block.arguments, given, strict=True))
            for node in block.nodes:
                results = node.run([value(x) for x in node.inputs], run_block)
                values.update(zip(node.results, results, strict=True))
            return [value(x) for x in outs]

        run_block(self.block, arrays, [])
        return tree(self.result, value)

    def names(self, block: Block | None = None) -> list[str]:
        """The names of the ops of the outermost block."""
        return [node.name for node in (block or self.block).nodes]


def tree(x: Any, f: Any) -> Any:
    """`f` of all that is in containers."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*[tree(y, f) for y in x])
    if isinstance(x, list | tuple):
        return type(x)(tree(y, f) for y in x)
    if isinstance(x, dict):
        return {k: tree(y, f) for k, y in x.items()}
    return f(x)


def arange(stop: Any) -> Any:
    """0, 1, ... as a tensor, which a loop counts through without making it."""
    result = emit("range", lambda n: np.arange(int(n), dtype=np.int32), stop)
    if isinstance(result, T):
        result.counts = (0, stop, 1)
    return result


seen: list[Any] = []


def show(x: Any) -> Any:
    """Notes a value when the program runs, in order."""
    if not _stack:
        seen.append(np.asarray(x).tolist())
        return x

    def run(values: Any, _: Any) -> Any:
        seen.append(np.asarray(values[0]).tolist())
        return ()

    _check([x])
    _stack[-1].nodes.append(Node("show", [x], run, []))
    return x


def concat(xs: list[Any]) -> Any:
    return emit("concat", lambda *parts: np.concatenate(parts), *xs)


def i32(x: Any) -> Any:
    return np.asarray(x, np.int32)[()]


def f32(x: Any) -> Any:
    return np.asarray(x, np.float32)[()]


def agree(f: Any, *cases: tuple[Any, ...]) -> Program:
    """Traces `f` on the types of the first case, and compares its program on all with Python."""
    program = Program(f, *cases[0])
    for case in cases:
        seen.clear()
        with np.errstate(all="ignore"):
            wanted = f(*case)
        shown = [*seen]
        seen.clear()
        with np.errstate(all="ignore"):
            found = program(*case)
        assert seen == shown, (case, seen, shown)
        _same(found, wanted, case)
    return program


def _same(found: Any, wanted: Any, case: Any) -> None:
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted), (case, found, wanted)
        for a, b in zip(found, wanted):
            _same(a, b, case)
    elif isinstance(wanted, dict):
        assert list(found) == list(wanted)
        for key in wanted:
            _same(found[key], wanted[key], case)
    elif wanted is None or isinstance(wanted, str):
        assert found == wanted, (case, found, wanted)
    else:
        np.testing.assert_allclose(
            np.asarray(found), np.asarray(wanted), rtol=1e-5, err_msg=str(case)
        )


def compiled(text: str, name: str) -> Any:
    """The function `program` of a text that is found as a notebook's cells are."""
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    scope = {"show": show, "arange": arange, "__name__": "programs"}
    exec(compile(text, name, "exec"), scope)
    return scope["program"]


hide(__file__)
_autograph.leave_module("double")
