"""The tensor library as AutoGraph sees it: `Staging` over the extension module."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from typing import Any

from weft import _weft

from ._autograph import calls, staging, trees
from ._autograph.staging import ErrorTypes, Parts, TensorType


def _cast(dtype: str) -> Callable[[Any], Any]:
    def cast(x: Any) -> Any:
        return _weft.cast(x, dtype)

    return cast


def _row(x: Any, i: Any) -> Any:
    return _weft.gather(x, i, axis=0)


def _flip(x: Any) -> Any:
    return _weft.reverse(x, [0])


def _size(x: Any) -> Any:
    return _weft.cast(_weft.size(x, 0), "int32")


def _sum(x: Any) -> Any:
    return _weft.sum(x, axis=0)


def _any(x: Any) -> Any:
    return _weft.any(_weft.cast(x, "bool"))


def _all(x: Any) -> Any:
    return _weft.all(_weft.cast(x, "bool"))


def _scalar(x: Any) -> Any:
    return _weft.reshape(x, [])


_OPS: dict[str, Callable[..., Any]] = {
    "logical_not": _weft.logical_not,
    "logical_and": _weft.logical_and,
    "logical_or": _weft.logical_or,
    "minimum": _weft.minimum,
    "maximum": _weft.maximum,
    "sum": _sum,
    "any": _any,
    "all": _all,
    "min": _weft.min,
    "max": _weft.max,
    "sort": _weft.sort,
    "row": _row,
    "size": _size,
    "flip": _flip,
    "scalar": _scalar,
    "int": _cast("int32"),
    "float": _cast("float32"),
    "bool": _cast("bool"),
}


def _ignoring(body: Callable[[], Any]) -> Callable[[list[Any]], Any]:
    """A body of no state."""

    def run(_: list[Any]) -> Any:
        return body()

    return run


class Library:
    """Weft."""

    errors = ErrorTypes(
        _weft.AutoGraphError,
        _weft.DTypeError,
        _weft.ValueError,
        _weft.OperatorNotAllowedInGraphError,
    )

    # Functions of C, which are no methods: called through an instance they are as they are.
    is_tracing = staticmethod(_weft.internal_is_staged)
    is_tensor = staticmethod(_weft.internal_is_tensor)
    is_traced = staticmethod(_weft.internal_is_traced)
    op_count = staticmethod(_weft.internal_op_count)

    def snapshot(self, x: Any) -> Any:
        return copy(x)

    def begin_carrying(self) -> None:
        _weft.internal_begin_carrying()

    def put(self, x: Any, value: Any) -> None:
        _weft.internal_put(x, value)

    def type_of(self, x: Any) -> TensorType:
        dtype, shape = _weft.internal_type_of(x)
        return TensorType(dtype, shape)

    def as_tensor(self, x: object, like: TensorType | None = None) -> Any:
        return _weft.internal_as_tensor(x, None if like is None else like.dtype)

    def zeros(self, type: TensorType) -> Any:
        return _weft.zeros([n or 0 for n in type.shape], type.dtype)

    def parts(self, x: object) -> Parts | None:
        if type(x) is not _weft.TensorArray:
            return None
        tensors, key, rebuild = _weft.internal_array_parts(x)
        return Parts(tensors, key, rebuild)

    def read(self, x: object, like: object) -> Any:
        if isinstance(x, _weft.Variable):
            return x.value() if _weft.internal_is_tensor(like) else None
        stands: Any = getattr(type(x), "_weft_stands_for", None)
        return None if stands is None else stands(x, like)

    def op(self, name: str, *operands: Any) -> Any:
        return _OPS[name](*operands)

    def branch(
        self,
        name: str,
        predicate: Any,
        then: Callable[[], list[Any]],
        orelse: Callable[[], list[Any]],
    ) -> list[Any]:
        if _weft.internal_is_tracing():
            return _weft.internal_branch(name, predicate, then, orelse)
        # On values of a batch a branch that nobody takes does not run; what both leave is compared
        # all the same, the first branch first.
        ran: list[str] = []

        def first() -> list[Any]:
            ran.append("then")
            return then()

        def second() -> list[Any]:
            if not ran:
                _weft.internal_probe(_ignoring(then), [])
            ran.append("else")
            return orelse()

        results = _weft.internal_branch(name, predicate, first, second)
        if "else" not in ran:
            _weft.internal_probe(_ignoring(orelse), [])
        return results

    def loop(
        self,
        name: str,
        condition: Callable[[list[Any]], Any],
        body: Callable[[list[Any]], list[Any]],
        state: list[Any],
    ) -> list[Any]:
        return _weft.internal_loop(name, condition, body, state, False)

    def count(
        self,
        name: str,
        start: Any,
        stop: Any,
        step: int,
        body: Callable[[Any, list[Any]], list[Any]],
        state: list[Any],
    ) -> list[Any]:
        return _weft.internal_count(name, start, stop, step, body, state, False)

    def probe(self, body: Callable[[list[Any]], Any], state: list[Any]) -> tuple[Any, bool]:
        return _weft.internal_probe(body, state)

    def assert_(self, condition: Any, message: str) -> None:
        _weft.internal_check(condition, message)

    def range_of(self, x: Any) -> tuple[Any, Any, int] | None:
        if not isinstance(x, _weft.Tensor) or _weft.internal_is_traced(x):
            return None
        if x.ndim != 1 or x.dtype not in ("int32", "int64"):
            return None
        numbers: list[int] = x.tolist()
        start, second = (*numbers, 0, 1)[:2] if len(numbers) != 1 else (numbers[0], numbers[0] + 1)
        step = second - start
        if step == 0 or numbers != list(range(start, start + step * len(numbers), step)):
            return None
        stop = numbers[-1] + (1 if step > 0 else -1) if numbers else start
        if abs(stop) > 2**31 - 1:  # perhaps beyond the dtype
            return None
        return _weft.constant(start, x.dtype), _weft.constant(stop, x.dtype), step

    def is_dataset(self, x: object) -> bool:
        return isinstance(x, _loops_over())

    def enumerated(self, dataset: Any, start: Any) -> Any:
        from ._data_loops import Enumerated

        return Enumerated(dataset, start)

    def zipped(self, datasets: Sequence[Any]) -> Any:
        from ._data_loops import Zipped

        return Zipped(datasets)

    def each(
        self,
        name: str,
        dataset: Any,
        more: Callable[[list[Any]], Any] | None,
        body: Callable[[Any, list[Any]], list[Any]],
        state: list[Any],
    ) -> list[Any]:
        from ._data_loops import Source

        return Source(dataset).each(name, more, body, state)

    def element_of(self, dataset: Any) -> Any:
        from ._data_loops import Source

        return Source(dataset).stand_in()


def _loops_over() -> tuple[type, ...]:
    from ._data_loops import KINDS

    return KINDS


LIBRARY = Library()


def install() -> None:
    """Has converted code stage into Weft from now on."""
    if staging.current() is None:
        calls.call_as_is(_weft.Function)
        calls.call_as_is(_weft.BoundFunction)
        trees.count_as_number(_weft.Size)
        staging.install(LIBRARY)
