"""Functions with gradients of their own."""

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar, overload

from weft._weft import Variable, custom_gradient_call

__all__ = ["custom_gradient"]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def custom_gradient(f: Callable[P, tuple[R, Callable[..., Any]]], /) -> Callable[P, R]: ...
@overload
def custom_gradient(
    *, variables: Iterable[Variable] = ...
) -> Callable[[Callable[P, tuple[R, Callable[..., Any]]]], Callable[P, R]]: ...
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
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return custom_gradient_call(function, args, kwargs, listed)

        return call

    return decorate if f is None else decorate(f)
