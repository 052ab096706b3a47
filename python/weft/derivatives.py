"""Derivatives of functions as functions, which compose: `grad`, `vjp`, `jvp`, `jacobian`, `hessian`; and `vmap`."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from weft import _weft

from ._arguments import options
from ._tracebacks import users_lines
from ._trees import flattened, is_listed, leaves_of, mapped

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
    numbers = [n % len(args) for n in wanted]
    if len(set(numbers)) != len(numbers):
        raise _weft.ValueError(f"{name}: argnums names one argument twice: {tuple(wanted)}")
    return numbers


class _Sources:
    """The arguments of a call, with sources of their own in the places of some. Of a Module they are its
    trainable variables."""

    def __init__(self, name: str, argnums: ArgNums, args: tuple[Any, ...], tape: Any) -> None:
        self._numbers = _numbers(name, argnums, args)
        self._one = isinstance(argnums, int)
        self._name, self._tape = name, tape
        self.args: list[Any] = list(args)
        self.sources: list[Any] = []
        self._chosen: list[tuple[Any, list[int | None]]] = []
        """For each argument its structure, and how many sources each entry has; None for one that it is."""
        for n in self._numbers:
            entries, structure = flattened(args[n], name)
            counts: list[int | None] = []
            self.args[n] = structure.unflatten([self._own(x, counts) for x in entries])
            self._chosen.append((structure, counts))

    def _own(self, x: Any, counts: list[int | None]) -> Any:
        if not _weft.internal_is_model(x):
            counts.append(None)
            own = _weft.internal_own(self._name, self._tape, x)
            self.sources.append(own)
            # The function may assign to items of its argument, and the derivative is by what it was given.
            return copy(own) if isinstance(own, _weft.Tensor) else own
        variables = _weft.internal_variables(x, True, False)
        counts.append(len(variables))
        for variable in variables:
            self.sources.append(_weft.internal_own(self._name, self._tape, variable))
        return x

    def like(self, derivatives: Sequence[Any]) -> Any:
        """The derivatives in the structure of the arguments: of one by itself, else a tuple."""
        left = iter(derivatives)
        made = [
            structure.unflatten(
                [next(left) if n is None else [next(left) for _ in range(n)] for n in counts]
            )
            for structure, counts in self._chosen
        ]
        return made[0] if self._one else tuple(made)


def _loss_of(name: str, value: Any) -> Any:
    """What is differentiated of what a function gives."""
    loss: Any = value[0] if is_listed(value) and value else value
    if isinstance(loss, int | float):
        loss = _weft.tensor(loss)
    if loss is None:
        raise TypeError(f"{name}: the function must give a floating scalar, but it gave None")
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
    tensor, a variable, a float, a Module, or lists, tuples, dicts and dataclasses of these; its
    gradient has its structure, with zeros where nothing connects, and for a Module the list of those
    by its `trainable_variables`. What else a dataclass holds stays in it. All else that `f` reaches counts as constant. It composes
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


class _Mapped:
    """An argument of `vmap`: its entries with the axis that is mapped over in front. A Module is the
    same for all."""

    def __init__(self, x: Any, axis: int | None) -> None:
        self._whole = x
        self._structure: Any = None
        if axis is None:
            return
        entries, self._structure = flattened(x, "vmap")
        self._entries = [x if _weft.internal_is_model(x) else _weft.internal_to_front(x, axis) for x in entries]

    def leaves(self) -> list[Any]:
        """What is mapped over."""
        return [] if self._structure is None else [x for x in self._entries if not _weft.internal_is_model(x)]

    def one(self, members: Any) -> Any:
        """The argument of one, of which `members` stands for all."""
        if self._structure is None:
            return self._whole
        return self._structure.unflatten([x if _weft.internal_is_model(x) else members.one(x) for x in self._entries])


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
            same for all. An argument is a tensor, or lists, tuples, dicts and dataclasses of tensors;
            a Module is the same for all, and so is what else a dataclass holds
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
        mapped_args = [_Mapped(x, axis) for x, axis in zip(args, axes, strict=True)]
        leaves = [leaf for x in mapped_args for leaf in x.leaves()]
        with _weft.internal_Members(leaves) as members:
            value = _run(f, *[x.one(members) for x in mapped_args], **kwargs)
            value = mapped(value, members.all, result)
        return mapped(value, lambda y: _weft.internal_from_front(y, out_axes), result)

    return on_all
