"""Functions with gradients of their own."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, overload

from weft._arguments import options
from weft._control import run_part
from weft._tracebacks import users_lines
from weft._weft import Variable, custom_gradient_call, recompute_call

__all__ = ["custom_gradient", "recompute"]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]], /) -> Callable[P, R]: ...
@overload
def custom_gradient(
    *, variables: Iterable[Variable] = ...
) -> Callable[[Callable[P, tuple[R, Callable[..., Any]]]], Callable[P, R]]: ...
@options
def custom_gradient(f: Any = None, /, *, variables: Iterable[Variable] = ()) -> Any:
    """A function that computes what `f` does and has the gradient that `f` says.

    `f` returns its value, a tensor or lists, tuples and dicts of them, and a function that takes a cotangent for each tensor of
    the value and returns a gradient, or None, for each positional argument that is a tensor or variable, in order. Gradients by
    `variables`, which `f` reads, come behind them. The gradient function is differentiated in turn by what it does.

    >>> @wf.custom_gradient
    ... def log1pexp(x):
    ...     e = wf.exp(x)
    ...     return wf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))
    >>> wf.grad(log1pexp)(0.0)
    tensor(0.5, shape=(), dtype=float32)

    Raises:
        StateError: if `f` reads a trainable variable that is neither an argument nor in `variables`
        ValueError: if there are not as many gradients as there should be, when the gradient is asked
    """
    listed = tuple(variables)

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        part = _part(function)

        @wraps(function)
        @users_lines
        def call(*args: Any, **kwargs: Any) -> Any:
            return custom_gradient_call(part, args, kwargs, listed)

        return call

    return decorate if f is None else decorate(f)


def recompute(f: Callable[P, R], /) -> Callable[P, R]:
    """A function that computes what `f` does and keeps nothing for its gradient but its arguments: when the gradient is asked, `f`
    runs again under a tape (Chen et al. 2016, "Training deep nets with sublinear memory cost").

    `f` may be a layer or model. It gives a tensor or lists, tuples and dicts of them. Gradients go to the positional arguments that
    are tensors or variables, and to variables that `f` reads, which have the values then that they had at the call. Random numbers,
    dropout's say, are those that `f` drew the first time.

    >>> f = wf.recompute(lambda x: wf.exp(wf.sin(x)))
    >>> wf.grad(f)(0.0)
    tensor(1.0, shape=(), dtype=float32)

    Raises:
        StateError: if `f` changes a variable, which would happen twice; if it draws other random numbers when it runs again, or
            draws any in control flow of a traced function
        DTypeError: if what `f` gives is no structure of tensors
    """
    part = _part(f)

    @wraps(f, updated=())
    @users_lines
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        return recompute_call(part, args, kwargs)

    return call


def _part(f: Callable[P, R]) -> Callable[P, R]:
    """`f`, converted where the call comes from converted code."""

    @wraps(f, updated=())
    def part(*args: P.args, **kwargs: P.kwargs) -> R:
        return run_part(f, *args, **kwargs)

    return part
