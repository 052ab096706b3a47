# What type checkers and editors read of weft._weft and no table says: stubs.py writes the rest behind it.

import builtins
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import EllipsisType, TracebackType
from typing import (
    Any,
    Concatenate,
    Generic,
    Literal,
    NamedTuple,
    NoReturn,
    ParamSpec,
    Protocol,
    Self,
    SupportsFloat,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    final,
    overload,
)

class _Buffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

class _Array(Protocol):
    def __array__(self, *args: Any, **kwargs: Any) -> Any: ...

class _DLPack(Protocol):
    def __dlpack__(self, *, stream: Any = None) -> Any: ...

_Number: TypeAlias = builtins.bool | int | float
_Nested: TypeAlias = "Sequence[_Number | Tensor | Variable | _Array | _Nested]"
TensorLike: TypeAlias = "Tensor | Variable | _Number | _Array | _Buffer | _DLPack | _Nested"
DTypeLike: TypeAlias = "DType | str | type[Any] | _Named"
Index: TypeAlias = "int | builtins.slice | EllipsisType | Tensor | Variable | Sequence[Any] | _Array | None"
Shape: TypeAlias = int | Sequence[int]
Path: TypeAlias = "str | os.PathLike[str]"
Sizes: TypeAlias = "Shape | Tensor | Sequence[int | Tensor]"
_Padding: TypeAlias = Literal["valid", "same", "causal"] | Sequence[Sequence[int]]
_Tree: TypeAlias = "Tensor | Variable | list[_Tree] | tuple[_Tree, ...] | Mapping[Any, _Tree] | None"

class _Named(Protocol):
    @property
    def name(self) -> str: ...

class Error(Exception):
    """What Weft raises."""

    message: str
    file: str | None
    line: int | None

class InvalidArgumentError(Error): ...
class ShapeError(InvalidArgumentError, builtins.ValueError): ...
class DTypeError(InvalidArgumentError, TypeError): ...
class OutOfRangeError(Error, IndexError): ...
class ValueError(InvalidArgumentError, builtins.ValueError): ...
class StateError(Error, RuntimeError): ...
class AssertionError(InvalidArgumentError, builtins.AssertionError): ...
class ResourceExhaustedError(Error, MemoryError): ...
class CompileError(Error, RuntimeError): ...
class IOError(Error, OSError): ...
class InternalError(Error, RuntimeError): ...

@final
class DType:
    """The type of a tensor's elements."""

    @property
    def name(self) -> str: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def is_floating(self) -> builtins.bool: ...
    @property
    def is_integer(self) -> builtins.bool: ...
    @property
    def is_bool(self) -> builtins.bool: ...
    @property
    def dtype(self) -> Any: ...
    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> builtins.bool: ...

bool_: DType
int32: DType
int64: DType
float32: DType
float64: DType

def dtype(of: DTypeLike, /) -> DType: ...

class _Operators:
    """What tensors and variables have in common."""

    __array_priority__: int
    __hash__ = None  # type: ignore[assignment]
    @property
    def dtype(self) -> DType: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int | Any: ...
    @property
    def device(self) -> str: ...
    def numpy(self) -> Any:
        """A copy of the elements as an array of NumPy, or a scalar of it for rank 0."""
    def __array__(self, dtype: Any = None, copy: builtins.bool | None = None) -> Any: ...
    # Operators: stubs.py.
    def __divmod__(self, other: TensorLike, /) -> tuple[Tensor, Tensor]: ...
    def __rdivmod__(self, other: TensorLike, /) -> tuple[Tensor, Tensor]: ...
    def __eq__(self, other: TensorLike, /) -> Tensor: ...  # type: ignore[override]
    def __ne__(self, other: TensorLike, /) -> Tensor: ...  # type: ignore[override]
    def __bool__(self) -> builtins.bool: ...
    def __int__(self) -> int: ...
    def __float__(self) -> float: ...
    def __index__(self) -> int: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Tensor]: ...
    def __reversed__(self) -> Iterator[Tensor]: ...
    def __getitem__(self, key: Index | tuple[Index, ...], /) -> Tensor: ...
    def __format__(self, specification: str, /) -> str: ...

@final
class Tensor(_Operators):
    """An array of numbers that does not change. Made by weft.tensor, weft.asarray and ops."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the axes."""
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def T(self) -> Tensor:
        """The axes in reverse order."""
    @property
    def mT(self) -> Tensor:
        """The last two axes swapped."""
    def item(self) -> Any:
        """The only element as a number of Python."""
    def tolist(self) -> Any:
        """The elements as nested lists of numbers."""
    def astype(self, dtype: DTypeLike) -> Tensor: ...
    def to_device(self, device: str) -> Tensor: ...
    @overload
    def reshape(self, shape: Sizes, /) -> Tensor: ...
    @overload
    def reshape(self, *shape: int | Tensor) -> Tensor: ...
    @overload
    def transpose(self, permutation: Sequence[int] | None = None, /) -> Tensor: ...
    @overload
    def transpose(self, *permutation: int) -> Tensor: ...
    def flatten(self) -> Tensor: ...
    # Methods that are functions of a tensor: stubs.py.
    def copy(self) -> Tensor: ...
    def __contains__(self, item: object, /) -> builtins.bool: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: builtins.bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...

@final
class Variable(_Operators):
    """A named tensor that can be given new values of the same dtype and shape."""

    def __init__(
        self,
        initial_value: TensorLike | Callable[[], TensorLike],
        trainable: builtins.bool = True,
        name: str | None = None,
        dtype: DTypeLike | None = None,
        *,
        shape: Sequence[int] | None = None,
    ) -> None: ...
    @property
    def name(self) -> str: ...
    @property
    def trainable(self) -> builtins.bool: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def value(self) -> Tensor:
        """The present value, as tapes see it read."""
    def read_value(self) -> Tensor:
        """As `value`."""
    def assign(self, value: TensorLike, /) -> Self:
        """Gives it a new value of its shape; a number stands for all elements."""
    def assign_add(self, value: TensorLike, /) -> Self:
        """Adds to it."""
    def assign_sub(self, value: TensorLike, /) -> Self:
        """Subtracts from it."""

class _Pause:
    def __enter__(self) -> None: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...

@final
class GradientTape:
    """Records the ops of this thread within `with`, and gives derivatives of what they computed."""

    def __init__(self, persistent: builtins.bool = False, watch_accessed_variables: builtins.bool = True) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None, /
    ) -> None: ...
    def watch(self, tensor: _Tree) -> None:
        """Watches a tensor, a variable, or all of a list, tuple or dict of them."""
    @overload
    def gradient(
        self,
        target: _Tree,
        sources: Tensor | Variable,
        output_gradients: TensorLike | None = None,
        unconnected_gradients: Literal["none", "zero"] = "none",
    ) -> Tensor: ...
    @overload
    def gradient(
        self,
        target: _Tree,
        sources: list[Tensor] | list[Variable] | list[Tensor | Variable],
        output_gradients: TensorLike | None = None,
        unconnected_gradients: Literal["none", "zero"] = "none",
    ) -> list[Tensor]: ...
    @overload
    def gradient(
        self,
        target: _Tree,
        sources: _Tree,
        output_gradients: TensorLike | None = None,
        unconnected_gradients: Literal["none", "zero"] = "none",
    ) -> Any:
        """The derivatives of the sum of all elements of the target by each source, in the structure of the sources.

        None where the target does not depend on a source, or zeros with unconnected_gradients='zero'.
        """
    def jacobian(
        self,
        target: TensorLike,
        sources: _Tree,
        unconnected_gradients: Literal["none", "zero"] = "none",
        vectorize: builtins.bool = True,
    ) -> Any: ...
    def batch_jacobian(self, target: TensorLike, source: Tensor | Variable) -> Tensor: ...
    def stop_recording(self) -> _Pause: ...
    def reset(self) -> None: ...
    def explain(self, target: TensorLike, source: Tensor | Variable) -> str: ...
    def watched_variables(self) -> tuple[Variable, ...]: ...

_P = ParamSpec("_P")
_R = TypeVar("_R")
_S = TypeVar("_S")
_P2 = ParamSpec("_P2")
_R2 = TypeVar("_R2")

@final
class Function(Generic[_P, _R]):
    """A traced function, as `weft.function` makes it."""

    __name__: str
    __qualname__: str
    __module__: str
    @property
    def python_function(self) -> Callable[_P, _R]: ...
    @property
    def __wrapped__(self) -> Callable[_P, _R]: ...
    @property
    def input_signature(self) -> tuple[Any, ...] | None: ...
    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> _R: ...
    @overload
    def __get__(self, obj: None, owner: type, /) -> Self: ...
    @overload
    def __get__(self: Function[Concatenate[_S, _P2], _R2], obj: _S, owner: type | None = None, /) -> Function[_P2, _R2]: ...
    def explain(self, *args: Any, **kwargs: Any) -> str:
        """Whether a call with these arguments would find a trace, and if not, what differs. Runs nothing."""
    def ir(self, *args: Any, phase: str = "simplify", **kwargs: Any) -> str:
        """The text of a phase for these arguments: 'trace', 'simplify', 'linalg', 'llvm'. Runs nothing."""
    def report(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Times and sizes of the trace for these arguments, made if there is none."""
    def trace_count(self) -> int:
        """How many traces there are."""
    def experimental_get_tracing_count(self) -> int: ...
    def get_concrete_function(self, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """The function for arguments of these types alone: tensors or specs, and values of Python."""
    def to_code(self) -> str:
        """What AutoGraph makes of the function, as Python to read."""

@final
class BoundFunction:
    """A traced function with its first argument: what `instance.step` is."""

    @property
    def __func__(self) -> Function[..., Any]: ...
    @property
    def __self__(self) -> Any: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...

class AutoGraphError(Error, TypeError):
    """Control flow of Python that cannot be converted where a tensor decides."""

class OperatorNotAllowedInGraphError(StateError, TypeError):
    """A traced tensor where Python wants a value."""

class SymbolicTensorError(StateError, AttributeError):
    """An attribute that a traced tensor does not have: its value."""

def internal_is_traced(x: object) -> builtins.bool: ...
def internal_is_tensor(x: object) -> builtins.bool: ...
def internal_is_tracing() -> builtins.bool: ...
def internal_op_count() -> int: ...

def print(*pieces: Any, sep: str | None = " ", end: str | None = "\n") -> None: ...
@overload
def where(condition: TensorLike) -> tuple[Tensor, ...]: ...
@overload
def where(condition: TensorLike, x: TensorLike, y: TensorLike) -> Tensor: ...

internal_part = _Part
