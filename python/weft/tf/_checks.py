"""`tf.debugging`: checks of values, shapes and types."""

from __future__ import annotations

from typing import Any

import weft as wf
from weft import _arguments, _weft
from weft._trees import is_dict, is_listed

from ._forms import TensorShape


def _comparable(x: Any) -> Any:
    """A tensor; of a shape that of its sizes."""
    if isinstance(x, TensorShape):
        if not x.is_fully_defined():
            raise _weft.ValueError(f"assert: the shape {x} is not known before the function runs")
        sizes: Any = list(x)
        return wf.constant(sizes, "int32", [len(x)])
    return wf.asarray(x)


def assert_that(sign: str, compare: Any, x: Any, y: Any, message: str | None) -> None:
    """Checks that a comparison holds for all elements."""
    a, b = _comparable(x), _comparable(y)
    try:
        holds = wf.all(compare(a, b))
    except _weft.ShapeError as error:
        raise _weft.InvalidArgumentError(f"{message or ''} {error}".strip()) from None
    text = f"Condition x {sign} y did not hold{' element-wise' if a.ndim or b.ndim else ''}"
    _check(holds, [message or "", text], [("x", a), ("y", b)])


def check(condition: Any, data: Any) -> None:
    """Checks that a condition holds; the text of the error has the data."""
    listed: list[Any] = [*data] if is_listed(data) else [data]
    items = [("data", x) for x in listed]
    text = "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true"
    _check(wf.all(condition), [text], items)


def _check(holds: Any, texts: list[str], values: list[tuple[str, Any]]) -> None:
    if _weft.internal_is_traced(holds):
        # The program puts values into braces, of which a text of the user has none.
        said = [text.replace("{}", "{ }") for text in texts if text]
        shown = [f"{name} = {{}}" for name, _ in values[:3]]
        tensors = [_weft.asarray(x) for _, x in values[:3]]
        _weft.internal_check(holds, ". ".join([*said, *shown]), *tensors)
    elif not bool(holds):
        shown = [f"{name} = {x!r}" for name, x in values]
        raise _weft.AssertionError(". ".join(text for text in (*texts, *shown) if text))


def assert_near(x: Any, y: Any, rtol: Any, atol: Any, message: str | None) -> None:
    """Checks that all differences are at most atol + rtol |y|, each ten times the rounding error
    of the dtype unless it is given."""
    a, b = _arguments.operands("assert_near", x=x, y=y)
    least = 10 * (2.0**-52 if a.dtype == "float64" else 2.0**-23)
    relative, absolute = least if rtol is None else rtol, least if atol is None else atol
    most = wf.abs(b) * relative + absolute
    text = f"x and y not equal to tolerance rtol = {relative}, atol = {absolute}"
    _check(wf.all(wf.abs(a - b) <= most), [message or "", text], [("x", a), ("y", b)])


def _begin(message: str | None) -> str:
    return f"{message}. " if message else ""


def assert_rank(x: Any, ranks: Any, fits: Any, text: str, message: str | None) -> None:
    """Checks the rank of a tensor."""
    wanted = [int(rank) for rank in (ranks if is_listed(ranks) else [ranks])]
    tensor = wf.asarray(x)
    if not any(fits(tensor.ndim, rank) for rank in wanted):
        shown = " or ".join(map(str, wanted))
        raise _weft.ValueError(
            f"{_begin(message)}Tensor must have {text} {shown}. Received rank {tensor.ndim}, shape "
            f"{tensor.shape}"
        )


def assert_scalar(x: Any, message: str | None) -> Any:
    """Checks that a tensor is a scalar, and gives it."""
    tensor = wf.asarray(x)
    if tensor.ndim:
        raise _weft.ValueError(
            f"{_begin(message)}Expected scalar shape, saw shape: {tensor.shape}."
        )
    return tensor


def assert_type(tensor: Any, wanted: Any, message: str | None) -> None:
    """Checks the dtype of a tensor."""
    kind = wf.asarray(tensor).dtype
    if kind != wf.dtype(wanted):
        raise _weft.DTypeError(
            f"{_begin(message)}tensor must be of type {wf.dtype(wanted)!r}; got {kind!r}"
        )


def assert_integer(x: Any, message: str | None) -> None:
    """Checks that a tensor holds integers."""
    kind = wf.asarray(x).dtype
    if not kind.is_integer:
        raise _weft.DTypeError(
            f'{_begin(message)}Expected "x" to be integer type.  Found: tensor of dtype {kind!r}'
        )


def assert_shapes(shapes: Any, message: str | None) -> None:
    """Checks shapes: sizes that are numbers, and names that stand for one size all over; None and
    '.' are any."""
    known: dict[Any, int] = {}
    for x, wanted in shapes.items() if is_dict(shapes) else shapes:
        tensor: Any = wf.asarray(x)
        sizes: list[Any] = [*wanted] if is_listed(wanted) or type(wanted) is str else [wanted]
        if len(sizes) != tensor.ndim:
            raise _weft.ValueError(
                f"{_begin(message)}Tensor of shape {tensor.shape} must have rank {len(sizes)}"
            )
        for axis, (size, want) in enumerate(zip(tensor.shape, sizes, strict=True)):
            if size is None or want in (None, "."):
                continue
            most = known.setdefault(want, size) if type(want) is str else want
            if size != most:
                raise _weft.ValueError(
                    f"{_begin(message)}Tensor dimension {axis} must have size {most}. Received size "
                    f"{size}, shape {tensor.shape}"
                )


def all_finite(x: Any, message: str) -> Any:
    """Checks that a tensor has no NaN and no infinity, and gives it."""
    tensor = wf.asarray(x)
    holds = wf.all(wf.abs(tensor) < float("inf"))
    if not _weft.internal_is_traced(holds) and not bool(holds):
        found = "NaN" if bool(wf.any(wf.not_equal(tensor, tensor))) else "Inf"
        raise _weft.AssertionError(f"{message} : Tensor had {found} values")
    _check(holds, [f"{message} : Tensor had NaN or Inf values"], [])
    return tensor
