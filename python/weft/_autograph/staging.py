"""What AutoGraph asks of the tensor library: the few calls by which operators reach a trace."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

IMPORTED = time.time()
"""When this package was imported: files that are older are as they were imported."""

Tensor = Any
"""A tensor of the library that is staged into; AutoGraph looks at it only through `Staging`."""


class TensorType(NamedTuple):
    """The type of a tensor: its dtype's name, and its sizes, where None is unknown."""

    dtype: str
    shape: tuple[int | None, ...]

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join('?' if n is None else str(n) for n in self.shape)}]"


class Parts(NamedTuple):
    """A value of the library that is made of tensors, such as a TensorArray, taken apart."""

    tensors: list[Tensor]
    key: object
    """What else it is: two values of equal keys have the same structure."""
    rebuild: Callable[[Sequence[Tensor]], Any]


class ErrorTypes(NamedTuple):
    """The classes that are raised; each is also the built-in exception of its name."""

    autograph: type[Exception] = TypeError
    """Python that cannot be converted where a tensor decides; a TypeError."""
    dtype: type[Exception] = TypeError
    value: type[Exception] = ValueError
    not_allowed: type[Exception] = TypeError
    """What a traced tensor raises when Python wants its value, as in `bool(t)`."""


Body = Callable[[list[Tensor]], list[Tensor]]
"""A part of control flow as a function on tensors alone. It may be run any number of times, and an
exception that leaves it leaves the construct as well, which is then forgotten."""


class Staging(Protocol):
    """The tensor library as AutoGraph sees it.

    `weft::detail::branch`, `loop` and `count` stand behind the constructs; trees of Python stay on
    this side, so that lists of tensors are all that crosses.
    """

    errors: ErrorTypes

    def is_tracing(self) -> bool:
        """Whether tensors of this thread may stand for values to come, outside of `init_scope`, or for
        several."""
        ...

    def is_tensor(self, x: object) -> bool:
        """Whether `x` is a tensor, with a value or traced."""
        ...

    def is_traced(self, x: object) -> bool:
        """Whether `x` is a tensor whose value is known only when the program runs, or that stands for
        several."""
        ...

    def type_of(self, x: Tensor) -> TensorType:
        """The type of a tensor, which may stem from a block that is erased."""
        ...

    def as_tensor(self, x: object, like: TensorType | None = None) -> Tensor:
        """A number, array or tensor as a tensor.

        A Python number takes the dtype of `like` if that holds numbers of its kind (an int in any
        numeric dtype, a float in real and complex ones, a bool in bool), and otherwise its default.
        """
        ...

    def zeros(self, type: TensorType) -> Tensor:
        """A tensor of zeros that stands where no value is read; unknown sizes are 0."""
        ...

    def parts(self, x: object) -> Parts | None:
        """The tensors of a value of the library that is made of tensors; None for other values."""
        ...

    def read(self, x: object, like: object) -> object | None:
        """What stands here for a value in whose place another control path has `like`: the value
        of a variable for a tensor; None if nothing does."""
        ...

    def op(self, name: str, *operands: Any) -> Tensor:
        """Calls an op: logical_not, logical_and, logical_or, minimum, maximum, sum, any, all, sort,
        row (of a tensor, by number), size (of the first axis), flip (along it), scalar (of a tensor
        of one element), int, float and bool (casts, as Python's types)."""
        ...

    def snapshot(self, x: Tensor) -> Tensor | None:
        """A new object of the same tensor, which assignments to items of x do not change; None if
        those of x are assigned as those of other objects are."""
        ...

    def begin_carrying(self) -> None:
        """The body that is being traced has a state: what it is told to `put` before it runs."""
        ...

    def put(self, x: Tensor, value: Tensor) -> None:
        """Gives the object x another tensor, in a body that carries its elements until that ends."""
        ...

    def branch(
        self,
        name: str,
        predicate: Tensor,
        then: Callable[[], list[Tensor]],
        orelse: Callable[[], list[Tensor]],
    ) -> list[Tensor]:
        """Records both bodies, `then` first, and gives the results of the one that holds.
        The bodies give equally many tensors, which agree in dtype and rank."""
        ...

    def loop(
        self,
        name: str,
        condition: Callable[[list[Tensor]], Tensor],
        body: Body,
        state: list[Tensor],
    ) -> list[Tensor]:
        """`state = body(state)` while `condition(state)`; sizes that change become unknown."""
        ...

    def count(
        self,
        name: str,
        start: Any,
        stop: Any,
        step: int,
        body: Callable[[Tensor, list[Tensor]], list[Tensor]],
        state: list[Tensor],
    ) -> list[Tensor]:
        """`state = body(i, state)` for i = start, start + step, ... before stop; the bounds are
        integers or integer scalars."""
        ...

    def probe(self, body: Callable[[list[Tensor]], Any], state: list[Tensor]) -> tuple[Any, bool]:
        """Runs `body` on traced stand-ins of the types of `state` in a block that is erased.
        Gives what it returned, and whether it recorded anything."""
        ...

    def assert_(self, condition: Tensor, message: str) -> None:
        """Records a check that stops the program with `message` unless `condition` holds."""
        ...

    def range_of(self, x: Tensor) -> tuple[Any, Any, int] | None:
        """Start, stop and step of a tensor of evenly spaced integers, such as `weft.range` makes,
        in its dtype; None for others."""
        ...

    def is_dataset(self, x: object) -> bool:
        """Whether `x` is a data set, or an iterator over one."""
        ...

    def enumerated(self, dataset: Any, start: Any) -> Any:
        """`enumerate` of a data set, which is one to `each`."""
        ...

    def zipped(self, datasets: Sequence[Any]) -> Any:
        """`zip` of data sets and ranges, which is one to `each`."""
        ...

    def each(
        self,
        name: str,
        dataset: Any,
        more: Callable[[list[Tensor]], Tensor] | None,
        body: Callable[[Any, list[Tensor]], list[Tensor]],
        state: list[Tensor],
    ) -> list[Tensor]:
        """`state = body(element, state)` for the elements of a data set, as long as `more(state)`
        holds before one is taken."""
        ...

    def element_of(self, dataset: Any) -> Any:
        """A traced stand-in for an element of a data set, for use in `probe`."""
        ...

    def op_count(self) -> int:
        """How many ops the trace has recorded."""
        ...


class AutoGraphWarning(UserWarning):
    """Said once for a function that runs unconverted, or for a loop that is unrolled.

    >>> issubclass(wf.autograph.AutoGraphWarning, UserWarning)
    True
    """


class Context(threading.local):
    """Where the conversion of this thread stands."""

    def __init__(self) -> None:
        self.depth = 0
        """How many converted functions are being called."""
        self.bodies: list[Any] = []
        """The staged bodies that are being traced, outermost first."""
        self.tries: list[int] = []
        """The depths at which a `try` with handlers is being run."""
        self.refused: list[tuple[int, Exception]] = []
        """Errors raised inside a `try`, which its handlers must not hide, with their depths."""
        self.converts = False
        """Whether a call is being traced whose functions are converted."""
        self.negation: tuple[Tensor, Tensor] | None = None
        """The last traced result of `not`, and its operand."""


context = Context()

_installed: list[Staging] = []


def install(staging: Staging) -> None:
    """Makes `staging` the tensor library that converted code is staged into."""
    _installed[:] = [staging]


def current() -> Staging | None:
    """The installed tensor library, or None: then everything is plain Python."""
    return _installed[0] if _installed else None


def library() -> Staging:
    """The installed tensor library, where a traced tensor has shown that there is one."""
    return _installed[0]


def errors() -> ErrorTypes:
    """The error classes of the installed library."""
    return _installed[0].errors if _installed else ErrorTypes()
