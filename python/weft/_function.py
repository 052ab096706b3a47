"""`weft.function`: traced functions of Python, their specs, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, ParamSpec, TypeVar, overload

from weft import _weft
from weft._arguments import NeedsInit, known_sizes, options, sizes
from weft._tracebacks import users_lines
from weft._weft import DType, Function, dtype as _dtype_of

from ._trees import check_depth, check_listed, is_dict, is_listed, leaves_of, mapped

P = ParamSpec("P")
R = TypeVar("R")

__all__ = [
    "ConcreteFunction",
    "Function",
    "TensorSpec",
    "function",
    "numpy_function",
    "py_function",
]


class TensorSpec(NeedsInit):
    """The type of a tensor argument: `TensorSpec([None, 784], wf.float32)`. A size of None may be
    any, and so may be the rank where the shape is None. So may be sizes with a name, as in
    `TensorSpec(["batch", 784])`, where those of one name are equal in a call.

    >>> wf.TensorSpec([None, 784], wf.float32)
    TensorSpec(shape=(None, 784), dtype=weft.float32, name=None)
    >>> wf.TensorSpec.from_tensor(wf.ones((2, 3)))
    TensorSpec(shape=(2, 3), dtype=weft.float32, name=None)
    """

    __slots__ = ("dtype", "name", "shape")
    _made_by_init = __slots__
    _is_tensor_spec = True

    @options
    def __init__(
        self,
        shape: Sequence[int | str | None] | None,
        dtype: Any = "float32",
        name: str | None = None,
    ) -> None:
        self.shape: tuple[int | str | None, ...] | None = (
            None if shape is None else _weft.internal_shape(sizes("TensorSpec: shape", shape))
        )
        for size in self.shape or ():
            if isinstance(size, int) and size < -1:
                raise _weft.ShapeError(
                    f"TensorSpec: shape has a size of {size}, which is negative: one that may be any "
                    "is None"
                )
        self.dtype: DType = _dtype_of(dtype)
        self.name = name

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor's own type."""
        return cls(known_sizes(tensor.shape), tensor.dtype, name)

    def __repr__(self) -> str:
        return f"TensorSpec(shape={_text_of(self.shape)}, dtype={self.dtype!r}, name={self.name!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self.shape, self.dtype) == (other.shape, other.dtype)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype.name))


def _text_of(shape: tuple[int | str | None, ...] | None) -> str:
    if shape is not None:
        return str(shape)
    return "<unknown>" if _weft.get_printoptions()["style"] == "tf" else "None"


@overload
def function(f: Callable[P, R], /) -> Function[P, R]: ...
@overload
def function(
    f: None = None,
    /,
    *,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    reduce_retracing: bool | None = None,
    name: str | None = None,
    max_traces: int = 64,
    dump: str = "",
    checkpoint: str = "",
    device: str = "",
    tf32: bool = False,
) -> Callable[[Callable[P, R]], Function[P, R]]: ...
@overload
def function(
    f: Callable[P, R],
    /,
    *,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    reduce_retracing: bool | None = None,
    name: str | None = None,
    max_traces: int = 64,
    dump: str = "",
    checkpoint: str = "",
    device: str = "",
    tf32: bool = False,
) -> Function[P, R]: ...
@users_lines
def function(
    f: Any = None,
    /,
    *,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    reduce_retracing: bool | None = None,
    name: str | None = None,
    max_traces: int = 64,
    dump: str = "",
    checkpoint: str = "",
    device: str = "",
    tf32: bool = False,
) -> Any:
    """A traced function: it runs once for each signature of its arguments, is recorded and
    compiled, and from then on runs as compiled code.

    Tensors count by dtype and shape, variables by type and which of them are the same, numbers and
    text by type and value, containers by their structure, and other objects by identity. `if`,
    `while`, `for`, `and`, `or`, `not` and `assert` on tensors become control flow of the program.

    >>> @wf.function
    ... def clipped_sum(xs):
    ...     total = 0.0
    ...     for x in xs:
    ...         if x > 0:
    ...             total += x
    ...     return total
    >>> clipped_sum(wf.tensor([1.0, -2.0, 3.0]))
    tensor(4.0, shape=(), dtype=float32)

    Args:
        input_signature: a list or tuple of `TensorSpec`, or of trees of them, one for each
            parameter, those of `*args` behind the others; then there is one trace
        autograph: whether control flow of Python is converted
        reduce_retracing: whether calls that differ in sizes share a trace; by default they do
        name: for messages and the IR; that of the function by default
        max_traces: how many are kept; beyond that the one unused for longest goes
        dump: a folder for the text of every phase of each trace
        checkpoint: what derivatives of loops keep: "none", "sqrt", "binomial<k>" or "bytes<n>"
        device: a GPU that it runs on, "gpu:0", where arguments and variables are moved; without one it
            runs where its arguments are
        tf32: whether products of float32, convolutions among them, may round their factors to tf32
            (11 of 24 bits) on GPUs whose tensor cores have it: some times faster

    Raises:
        TypeError: if `f` cannot be called, or the signature does not fit it
    """

    def decorate(f: Any) -> Any:
        specs = None if input_signature is None else _specs_of(f, input_signature)
        made = _weft.internal_make_function(
            f,
            name or getattr(f, "__name__", None) or type(f).__name__,
            specs,
            autograph,
            reduce_retracing is not False,
            max_traces,
            dump,
            checkpoint,
            device,
            tf32,
        )
        for word in ("__module__", "__name__", "__qualname__", "__doc__"):
            value = getattr(f, word, None)
            if value is not None:
                setattr(made, word, value)
        return made

    return decorate if f is None else decorate(f)


def _specs_of(f: Any, signature: Any) -> tuple[Any, ...]:
    """The signature, checked against the parameters of the function."""
    import inspect

    if not is_listed(signature):
        kind = type(signature).__name__
        raise TypeError(f"input_signature must be either a tuple or a list, not a {kind}")
    specs: tuple[Any, ...] = tuple(signature)
    for spec in specs:
        _check_spec(spec)
    parameters = list(inspect.signature(f).parameters.values())
    if parameters and parameters[0].name in ("self", "cls"):
        specs = (None, *specs)
    said = _misfit(parameters, specs)
    if said and _is_of_class(f):
        said = _misfit(parameters, (None, *specs))
    if said:
        raise TypeError(f"input_signature {said}")
    named = [p for p in parameters if p.kind != p.VAR_POSITIONAL and p.kind != p.VAR_KEYWORD]
    count = sum(p.kind != p.KEYWORD_ONLY for p in named)
    if inspect.isroutine(f) and len(specs) > count:  # those of *args stand behind all that have names
        specs = (*specs[:count], *[None] * (len(named) - count), *specs[count:])
    return specs


def _misfit(parameters: Sequence[Any], specs: Sequence[Any]) -> str | None:
    """Why there are not the right specs for these parameters."""
    by_position = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    for i, p in enumerate(by_position):
        if i >= len(specs) and p.default is p.empty:
            return f"is missing a spec for the parameter '{p.name}'"
    if len(specs) > len(by_position) and not any(p.kind == p.VAR_POSITIONAL for p in parameters):
        return f"has {len(specs) - len(by_position)} more specs than the function has parameters"
    for p in parameters:
        if p.kind == p.KEYWORD_ONLY and p.default is p.empty:
            return f"cannot say what the keyword '{p.name}' is"
    return None


def _is_of_class(f: Any) -> bool:
    """Whether it is written in the body of a class."""
    within = getattr(f, "__qualname__", "").rpartition(".")[0]
    return bool(within) and not within.endswith("<locals>")


def _set_name(self: Any, owner: type, name: str) -> None:
    """Has a signature begin behind the first parameter of a method, whatever that is called."""
    import inspect

    specs = self.input_signature
    if specs is None or (specs and specs[0] is None):
        return
    parameters = list(inspect.signature(self.python_function).parameters.values())
    if not _misfit(parameters, (None, *specs)):
        _weft.internal_bind_signature(self)


def _check_spec(spec: Any, depth: int = 0) -> None:
    if isinstance(spec, TensorSpec):
        return
    check_depth("input_signature", depth)
    if is_dict(spec) or is_listed(spec):
        for inner in spec.values() if is_dict(spec) else spec:
            _check_spec(inner, depth + 1)
    else:
        raise TypeError(
            "input_signature is a possibly nested sequence of TensorSpec objects, and holds a "
            f"{type(spec).__name__}"
        )


# Functions for arguments of one type.


def _as_spec(x: Any) -> Any:
    """The spec of a tensor or an array; other values as they are."""
    if isinstance(x, TensorSpec):
        return x
    if isinstance(x, _weft.Tensor):
        return TensorSpec.from_tensor(x)
    if type(x).__module__ == "numpy" and hasattr(x, "__array__"):
        return TensorSpec.from_tensor(_weft.asarray(x))
    return x


class ConcreteFunction:
    """A traced function for arguments of one type, as `Function.get_concrete_function` gives it.
    Values of Python among its arguments are part of it: they may be left out, or be the same.

    >>> double = wf.function(lambda x: 2 * x)
    >>> of_two = double.get_concrete_function(wf.TensorSpec([2]))
    >>> of_two([1.0, 2.0])
    tensor([2., 4.], shape=(2,), dtype=float32)
    >>> of_two.structured_input_signature
    {'x': TensorSpec(shape=(2,), dtype=weft.float32, name=None)}
    """

    def __init__(self, of: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        import inspect

        if not hasattr(of, "python_function"):
            raise TypeError("ConcreteFunction: get_concrete_function of a traced function makes one")
        self._signature = inspect.signature(of.python_function)
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        self._rest: str | None = None  # the name of *args
        for name, p in self._signature.parameters.items():
            if p.kind == p.VAR_POSITIONAL:
                self._rest = name
            elif p.kind == p.VAR_KEYWORD and bound.arguments.get(name):
                raise TypeError(
                    f"get_concrete_function: the parameter '{name}' takes any number of arguments"
                )
        self.name: str = of.__name__
        self._kinds = {n: p for n, p in self._signature.parameters.items() if _takes_one(p)}
        names = [*self._kinds, *([self._rest] if self._rest else [])]
        self._specs = {
            n: mapped(bound.arguments[n], _as_spec, f"get_concrete_function: {n}") for n in names
        }
        specs = [self._specs[n] for n in self._kinds]
        self._function = _weft.internal_make_function(
            of.python_function,
            of.__name__,
            (*specs, *(self._specs[self._rest] if self._rest else ())),
            *(True, False, 64, "", "", "", False),
        )
        if hasattr(of, "_weft_results"):
            self._function._weft_results = of._weft_results
        if not _weft.internal_is_tracing():
            self._trace()

    def _trace(self) -> None:
        """Makes the trace, by tensors that stand for those of a call."""

        def stand_in(name: str) -> Any:
            return mapped(self._specs[name], _stand_in, "get_concrete_function")

        self._run(self._function._trace, stand_in)

    def _run(self, function: Callable[..., Any], value_of: Callable[[str], Any]) -> Any:
        """Calls a function with a value for each parameter."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in self._kinds.items():
            if parameter.kind == parameter.KEYWORD_ONLY:
                named[name] = value_of(name)
            else:
                positional.append(value_of(name))
        return function(*positional, *(value_of(self._rest) if self._rest else ()), **named)

    @property
    def structured_input_signature(self) -> dict[str, Any]:
        """What each parameter is: specs in the places of tensors."""
        return dict(self._specs)

    def __reduce_ex__(self, protocol: Any) -> Any:
        _refuse_pickle(self.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._signature.bind_partial(*args, **kwargs).arguments
        return self._run(self._function, lambda name: self._value(name, given))

    def _value(self, name: str, given: dict[str, Any]) -> Any:
        spec = self._specs[name]
        if name not in given:
            if _holds_spec(spec):
                raise TypeError(f"{self.name}() is missing the argument '{name}'")
            return spec
        value = given[name]
        if name != self._rest:
            return self._checked(name, spec, value)
        if len(value) != len(spec):
            raise TypeError(
                f"{self.name}(): '*{name}' has {len(value)} arguments, but this concrete function is for {len(spec)}"
            )
        return [
            self._checked(f"*{name}[{i}]", kind, item)
            for i, (kind, item) in enumerate(zip(spec, value, strict=True))
        ]

    def _checked(self, name: str, spec: Any, value: Any) -> Any:
        """What an argument is, unless it is another value of Python than the function is for."""
        if not _holds_spec(spec) and (type(value) is not type(spec) or value != spec):
            raise TypeError(
                f"{self.name}(): the argument '{name}' is {value!r}, but this "
                f"concrete function is for {spec!r} alone"
            )
        return value


def _stand_in(spec: Any) -> Any:
    """A tensor of the type of a spec, which takes no memory."""
    if not isinstance(spec, TensorSpec):
        return spec
    sizes = [n if isinstance(n, int) else 1 for n in spec.shape or ()]
    return _weft.broadcast(_weft.zeros([], spec.dtype), sizes)


def _takes_one(p: Any) -> bool:
    return p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)


def _holds_spec(x: Any) -> bool:
    for leaf in leaves_of(x, "get_concrete_function"):
        if isinstance(leaf, TensorSpec):
            return True
    return False


def _get_concrete_function(self: Any, *args: Any, **kwargs: Any) -> ConcreteFunction:
    """The function for arguments of these types alone: tensors or specs, and values of Python.

    >>> f = wf.function(lambda x: x + 1)
    >>> f.get_concrete_function(wf.TensorSpec([None], wf.int32))([1, 2])
    tensor([2, 3], shape=(2,), dtype=int32)
    """
    if not args and not kwargs and self.input_signature is not None:
        args = tuple(spec for spec in self.input_signature if spec is not None)
    return ConcreteFunction(self, args, kwargs)


def _to_code(self: Any) -> str:
    """What AutoGraph makes of the function, as Python to read.

    >>> f = wf.function(lambda x: x + 1)
    >>> print(f.to_code())
    # AutoGraph's form of <lambda>, ...
    ag__lam = lambda x: ag__.with_function_scope(lambda lscope: x + 1, 'lscope', ag__.STD)
    """
    from ._autograph import to_code

    return to_code(self.python_function)


def _tracing_count(self: Any) -> int:
    """How many traces there are."""
    return self.trace_count()


def _reduce(self: Any, protocol: int) -> Any:
    _refuse_pickle(self.__name__)


def _refuse_pickle(name: str) -> NoReturn:
    raise TypeError(
        f"the traced function {name} cannot be pickled: pickle what it works on, and make "
        "it anew where that is loaded"
    )


for _name, _method in {
    "get_concrete_function": _get_concrete_function,
    "to_code": _to_code,
    "__set_name__": _set_name,
    "experimental_get_tracing_count": _tracing_count,
    "__reduce_ex__": _reduce,
}.items():
    setattr(Function, _name, _method)


# Calls of Python in the middle of a program.


def _result_spec(spec: Any) -> tuple[Any, Any]:
    if isinstance(spec, TensorSpec):
        if spec.shape is None and _weft.internal_is_tracing():
            raise TypeError("py_function: the rank of a result must be known: give it a shape")
        return spec.dtype, spec.shape
    return _dtype_of(spec), () if _weft.internal_is_tracing() else None


@options
def py_function(func: Any, inp: Sequence[Any], Tout: Any, name: str | None = None) -> Any:
    """Calls `func(*inp)` with the values of tensors, each time that the program comes to this place.

    Its effects happen in the order of the program. A derivative that has to pass through is a StateError: `custom_gradient` gives it
    one, and `wf.stop_gradient` of what goes in makes it zero.

    >>> wf.py_function(lambda x: x + 1, [wf.tensor(1)], wf.int32)
    tensor(2, shape=(), dtype=int32)

    Args:
        func: a function of tensors that have values
        inp: what it is called with
        Tout: the `TensorSpec` of its result, or a list of them; a dtype alone stands for a scalar in
            a traced function, and elsewhere for any shape
    """
    return _host_call(func, inp, Tout, name, _itself, False)


@options
def numpy_function(
    func: Any, inp: Sequence[Any], Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """As `py_function` with arrays of NumPy in the places of tensors. A function that is not
    stateful may be dropped, or called once for equal arguments.

    >>> wf.numpy_function(np.sort, [wf.tensor([3.0, 1.0, 2.0])], wf.TensorSpec([3]))
    tensor([1., 2., 3.], shape=(3,), dtype=float32)
    """
    return _host_call(func, inp, Tout, name, _as_array, not stateful)


def _itself(x: Any) -> Any:
    return x


def _as_array(x: Any) -> Any:
    return x.numpy()


def _host_call(
    func: Any, inp: Sequence[Any], types: Any, name: str | None, convert: Any, pure: bool
) -> Any:
    check_listed("numpy_function" if convert is _as_array else "py_function", "inp", inp)
    many = is_listed(types)
    wanted: Any = types if many else [] if types is None else [types]
    outs: list[Any] = [*wanted]

    def call(tensors: list[Any]) -> Any:
        result = func(*[convert(x) for x in tensors])
        if not outs:
            return []
        return list(result) if many else [result]

    title = name or getattr(func, "__name__", "py_function")
    results = _weft.internal_host_call(call, list(inp), [_result_spec(s) for s in outs], title, pure)
    if many:
        return results
    return results[0] if results else None
