"""Derivatives of functions as functions, which compose: `grad`, `vjp`, `jvp`, `jacobian`, `hessian`; and `vmap`."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from weft import _weft

from ._arguments import options
from ._tracebacks import users_lines
from ._trees import is_listed, leaves_of, mapped

__all__ = ["grad", "hessian", "jacobian", "jvp", "value_and_grad", "vjp", "vmap"]

P = ParamSpec("P")
R = TypeVar("R")
ArgNums = int | Sequence[int]


def _run(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    from ._control import run_part

    return run_part(f, *args, **kwargs)


@contextmanager
def _taped(name: str, persistent: bool = False) -> Generator[Any]:
    """A tape of a derivative, whose values may not leave for other libraries."""
    with (
        _weft.GradientTape(persistent=persistent, watch_accessed_variables=False) as tape,
        _weft.internal_DerivativeMark(name),
    ):
        yield tape


def _numbers(name: str, argnums: ArgNums, args: tuple[Any, ...]) -> list[int]:
    """The numbers of the arguments that a derivative is by."""
    wanted = [argnums] if isinstance(argnums, int) else list(argnums)
    for n in wanted:
        if not -len(args) <= n < len(args):
            raise _weft.OutOfRangeError(
                f"{name}: there is no argument number {n}: the call has {len(args)} by position"
            )
    return [n % len(args) for n in wanted]


class _Sources:
    """The arguments of a call, with sources of their own in the places of some."""

    def __init__(self, name: str, argnums: ArgNums, args: tuple[Any, ...], tape: Any) -> None:
        self._numbers = _numbers(name, argnums, args)
        self._name, self._one = name, isinstance(argnums, int)
        self.args: list[Any] = list(args)
        for n in self._numbers:
            self.args[n] = mapped(args[n], lambda x: _weft.internal_own(name, tape, x), name)
        self._chosen: list[Any] = [self.args[n] for n in self._numbers]
        self.sources: list[Any] = leaves_of(self._chosen, name)

    def like(self, derivatives: Sequence[Any]) -> Any:
        """The derivatives in the structure of the arguments: of one by itself, else a tuple."""
        next_one = iter(derivatives)
        made = [mapped(x, lambda _: next(next_one), self._name) for x in self._chosen]
        return made[0] if self._one else tuple(made)


def _loss_of(name: str, value: Any) -> Any:
    """What is differentiated of what a function gives."""
    loss: Any = value[0] if is_listed(value) and value else value
    if isinstance(loss, int | float):
        loss = _weft.tensor(loss)
    _weft.internal_check_loss(name, loss)
    return loss


def _value_and_grad(
    name: str, f: Callable[..., Any], argnums: ArgNums, args: tuple[Any, ...], kwargs: Any
) -> tuple[Any, Any]:
    with _taped(name) as tape:
        by = _Sources(name, argnums, args, tape)
        value = _run(f, *by.args, **kwargs)
    loss = _loss_of(name, value)
    gradients: Any = tape.gradient(loss, by.sources, unconnected_gradients="zero")
    return value, by.like(gradients)


def value_and_grad(f: Callable[P, R], argnums: ArgNums = 0) -> Callable[P, tuple[R, Any]]:
    """The value of `f` and its gradient: a function that gives both.

    `f` gives a floating scalar, or a tuple whose first part is one and whose rest is carried along.
    The gradient is by the argument of that number, or a tuple of those by several. An argument is a
    tensor, a variable, a float, or lists, tuples and dicts of these; its gradient has its structure,
    with zeros where nothing connects. All else that `f` reaches counts as constant. It composes
    with itself, with `wf.function`, `vmap`, and tapes.

    >>> wf.value_and_grad(lambda x: wf.sum(x * x))(wf.tensor([1.0, 2.0]))
    (tensor(5.0, shape=(), dtype=float32), tensor([2., 4.], shape=(2,), dtype=float32))

    Raises:
        DTypeError: if what it is by is not floating, or what `f` gives
        ShapeError: if `f` gives no scalar
        OutOfRangeError: if there is no argument of that number
        StateError: if a tensor that the gradient is by, or what `f` made of it, goes to NumPy or
            another library: neither `np.exp(x)` nor `x.numpy()` has a gradient
    """

    @wraps(f)
    @users_lines
    def both(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Any]:
        return _value_and_grad("value_and_grad", f, argnums, args, kwargs)

    return both


def grad(f: Callable[P, Any], argnums: ArgNums = 0) -> Callable[P, Any]:
    """The gradient of `f` as a function, as `value_and_grad` has it.

    >>> wf.grad(lambda x: x ** 3)(2.0)
    tensor(12.0, shape=(), dtype=float32)
    """

    @wraps(f)
    @users_lines
    def gradient(*args: P.args, **kwargs: P.kwargs) -> Any:
        return _value_and_grad("grad", f, argnums, args, kwargs)[1]

    return gradient


@options
def vjp(f: Callable[..., R], *args: Any) -> tuple[R, Callable[[Any], tuple[Any, ...]]]:
    """What `f(*args)` gives, and a function from a cotangent of that, of its structure, to a tuple
    of the cotangents of the arguments. It may be called any number of times, on this thread.

    >>> y, pull = wf.vjp(wf.sin, 0.0)
    >>> pull(2.0)
    (tensor(2.0, shape=(), dtype=float32),)

    Raises:
        DTypeError, ShapeError: by the function, for a cotangent that does not fit
        ValueError: by the function, if there are not as many as the value has tensors
    """
    with _taped("vjp", persistent=True) as tape:
        by = _Sources("vjp", tuple(range(len(args))), args, tape)
        value = _run(f, *by.args)
    targets = leaves_of(value, "vjp: what the function gave")
    thread = get_ident()

    @users_lines
    def pull(cotangent: Any) -> tuple[Any, ...]:
        if get_ident() != thread:
            raise _weft.StateError(
                "vjp: the function that pulls back was called on another thread than vjp was"
            )
        given = leaves_of(cotangent, "vjp: the cotangent")
        return by.like(_weft.internal_pull(tape, targets, given, by.sources))

    return value, pull


@options
def jvp(f: Callable[..., R], primals: Any, tangents: Any) -> tuple[R, Any]:
    """What `f(*primals)` gives, and its tangent for these tangents of the primals: forward mode, in
    one go. Both are tuples or lists of one for each argument, of the same structure.

    >>> wf.jvp(wf.square, (3.0,), (1.0,))
    (tensor(9.0, shape=(), dtype=float32), tensor(6.0, shape=(), dtype=float32))

    Raises:
        DTypeError, ShapeError: if a primal is not floating, or a tangent is not of its type
        ValueError: if there are not as many tangents as primals
    """
    if not is_listed(primals) or not is_listed(tangents):
        raise TypeError("jvp: primals and tangents are tuples of one for each argument of f")
    directions = leaves_of(tangents, "jvp: tangents")
    count = len(leaves_of(primals, "jvp: primals"))
    if len(directions) != count:
        raise _weft.ValueError(
            f"jvp: there are {len(directions)} tangents for {count} primals"
        )
    next_one = iter(directions)
    with _weft.internal_Tangents() as forward, _weft.internal_DerivativeMark("jvp"):
        args = [mapped(x, lambda leaf: forward.seed(leaf, next(next_one)), "jvp") for x in primals]
        value = _run(f, *args)
        return value, mapped(value, forward.of, "jvp: what the function gave")


def _jacobian(
    name: str, f: Callable[..., Any], argnums: ArgNums, args: tuple[Any, ...], kwargs: Any
) -> Any:
    with _taped(name, persistent=True) as tape:
        by = _Sources(name, argnums, args, tape)
        value = _run(f, *by.args, **kwargs)

    def of(y: Any) -> Any:
        return by.like(tape.jacobian(y, by.sources, unconnected_gradients="zero"))

    return mapped(value, of, f"{name}: what the function gave")


def jacobian(f: Callable[P, Any], argnums: ArgNums = 0) -> Callable[P, Any]:
    """The derivative of every element of what `f` gives by every element of its argument: of shape
    y.shape + x.shape. Arguments are chosen, and may be structures, as in `value_and_grad`; where
    `f` gives a structure, each tensor has such a jacobian in its place.

    >>> wf.jacobian(wf.square)(wf.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]], shape=(2, 2), dtype=float32)
    """

    @wraps(f)
    @users_lines
    def derivative(*args: P.args, **kwargs: P.kwargs) -> Any:
        return _jacobian("jacobian", f, argnums, args, kwargs)

    return derivative


def hessian(f: Callable[P, Any], argnums: ArgNums = 0) -> Callable[P, Any]:
    """The second derivatives of a function that gives a floating scalar: of shape x.shape +
    x.shape; for several arguments a tuple of tuples.

    >>> wf.hessian(lambda x: wf.sum(x ** 3))(wf.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]], shape=(2, 2), dtype=float32)
    """

    @wraps(f)
    @users_lines
    def second(*args: P.args, **kwargs: P.kwargs) -> Any:
        def gradient(*inner: Any) -> Any:
            return _value_and_grad("hessian", f, argnums, inner, kwargs)[1]

        return _jacobian("hessian", gradient, argnums, args, {})

    return second


# Many at once.


def _axes(name: str, axes: Any, values: Sequence[Any]) -> list[int | None]:
    """The axis of each value."""
    listed = list(axes) if is_listed(axes) else [axes] * len(values)
    if len(listed) != len(values):
        raise _weft.ValueError(
            f"vmap: {name} has {len(listed)} entries, but there are {len(values)} values"
        )
    for axis in listed:
        if axis is not None and type(axis) is not int:
            raise TypeError(f"vmap: {name} holds {axis!r}: an axis is an int, or None")
    return listed


def _to_front(x: Any, axis: int) -> Any:
    t = x if isinstance(x, _weft.Tensor) else _weft.tensor(x)
    if not -t.ndim <= axis < t.ndim:
        raise _weft.OutOfRangeError(
            f"vmap: an argument of shape {tuple(t.shape)} has no axis {axis} to map over"
        )
    return _weft.moveaxis(t, axis, 0) if axis % t.ndim else t


def _from_front(y: Any, axis: int) -> Any:
    if not -y.ndim <= axis < y.ndim:
        raise _weft.OutOfRangeError(
            f"vmap: a result of shape {tuple(y.shape)} has no axis {axis} for what is mapped over"
        )
    return _weft.moveaxis(y, 0, axis) if axis % y.ndim else y


def vmap(f: Callable[..., Any], in_axes: Any = 0, out_axes: int = 0) -> Callable[..., Any]:
    """`f`, which is written for one, on many at once: for each slice of the arguments along their
    axes, with the results along a new axis.

    Ops whose records say how are done on all slices by one call; others once for each. What `f`
    reaches otherwise is the same for all. Slices may decide `cond`, `switch_case`, `while_loop` and
    `for_loop` differently: each does what it would do alone, and a loop goes on until all have left
    it. So may Python's `if`, `while` and `for` inside of `wf.function`; outside use `wf.cond`. In a
    traced function how many slices there are may be open; then what is done once for each is not to
    be had.

    >>> dot = wf.vmap(lambda a, b: wf.sum(a * b))
    >>> dot(wf.tensor([[1.0, 2.0], [3.0, 4.0]]), wf.tensor([[1.0, 1.0], [0.0, 1.0]]))
    tensor([3., 4.], shape=(2,), dtype=float32)

    Args:
        in_axes: the axis of every argument, or a tuple with that of each; None for one that is the
            same for all. An argument is a tensor, or lists, tuples and dicts of tensors
        out_axes: where results have the new axis

    Raises:
        ValueError: if sizes along the axes differ, or there are none
        OutOfRangeError: if an argument has no such axis
        StateError: for effects of what slices decide, and for results that are as large as values
            of slices say
        ShapeError: if branches that slices choose give results of different shapes
    """

    result = "vmap: what the function gave"

    @wraps(f)
    @users_lines
    def on_all(*args: Any, **kwargs: Any) -> Any:
        axes = _axes("in_axes", in_axes, args)
        fronts: list[Any] = [
            x if axis is None else mapped(x, lambda leaf, axis=axis: _to_front(leaf, axis), "vmap")
            for x, axis in zip(args, axes, strict=True)
        ]
        leaves = leaves_of(
            [x for x, axis in zip(fronts, axes, strict=True) if axis is not None], "vmap"
        )
        with _weft.internal_Members(leaves) as members:
            ones = [
                x if axis is None else mapped(x, members.one, "vmap")
                for x, axis in zip(fronts, axes, strict=True)
            ]
            value = mapped(_run(f, *ones, **kwargs), members.all, result)
        return mapped(value, lambda y: _from_front(y, out_axes), result)

    return on_all
