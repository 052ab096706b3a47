"""Arguments of functions written in Python: what is wrong with one is an error of one sentence.

A call that failed inside for an argument of a wrong type says which, and what is wanted. Functions
are not slower for it: arguments are looked at when there is an error of Python that has nothing to
say of them.
"""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Callable, Mapping, Sequence
from opcode import opmap
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from weft import _weft
from weft._tracebacks import clean
from weft._trees import is_dict

__all__ = [
    "ERRORS",
    "NeedsInit",
    "axis",
    "explain",
    "integer",
    "integers",
    "is_iterable",
    "operands",
    "optional_integer",
    "optional_number",
    "options",
    "shown",
    "sizes",
    "tensor",
    "tensors",
    "text",
]

ERRORS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
"""What wrong arguments give inside; the library's own errors are among them, and pass."""

P = ParamSpec("P")
R = TypeVar("R")

_MOST = 2**63 - 1
_VAR_KEYWORDS = 0x08  # of co_flags: inspect.CO_VARKEYWORDS, which takes long to import


def options(f: Callable[P, R]) -> Callable[P, R]:
    """A function of which a wrong keyword is a TypeError that names the nearest right one, and an
    argument of a wrong type one that names the argument and what is wanted. Errors show the lines of
    the user alone."""
    code = f.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    names = [n for n in code.co_varnames[:count] if n not in ("self", "cls")]
    known = frozenset(names)
    takes_any = bool(code.co_flags & _VAR_KEYWORDS)

    @functools.wraps(f)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if kwargs and not takes_any and not known.issuperset(kwargs):
                owner = _owner(call, args)
                _weft.internal_refuse_words(f if owner is call else owner, names, list(kwargs))
            try:
                return f(*args, **kwargs)
            except ERRORS as error:
                explain(error, _title(call, args), f, args, kwargs)
                raise
        except BaseException as error:
            clean(error)
            raise

    return call


def _owner(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What was called: the function, or the class whose `__init__` it is."""
    if f.__name__ not in ("__init__", "__new__") or not args:
        return f
    first: Any = args[0] if f.__name__ == "__new__" else args[0].__class__
    bases: tuple[Any, ...] = first.__mro__
    classes = [c for c in bases if getattr(c, f.__name__, None) is f]
    return next((c for c in reversed(classes) if c.__name__[0] != "_"), f)


def _title(f: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """What messages call a function; an `__init__` by the class of the package that has it."""
    owner = _owner(f, args)
    return owner.__name__ if owner is not f or f.__name__[0] != "_" else f.__qualname__


class NeedsInit:
    """What classes derive from whose methods need attributes that `__init__` makes: an object of a
    subclass that does not call it says so."""

    __slots__ = ()
    _made_by_init: tuple[str, ...] = ()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            if name in self._made_by_init:
                raise _weft.StateError(
                    f"this {kind} was never initialized: call super().__init__() first in the "
                    "__init__ of its class"
                )
            raise AttributeError(f"'{kind}' object has no attribute {name!r}", name=name, obj=self)


def integer(name: str, value: Any) -> int:
    """An integer of 64 bits; `name` is for messages, as in "batch: size"."""
    try:
        number = operator.index(value)
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name} is a {kind}: an integer is wanted") from None
    if not -_MOST - 1 <= number <= _MOST:
        raise _weft.ValueError(f"{name} is {number}, which has more than 64 bits")
    return number


def integers(name: str, value: Any) -> list[int]:
    """The integers of a list or of a tensor of rank 1; one integer is a list of one."""
    if isinstance(value, _weft.Tensor | _weft.Variable):
        if _weft.internal_is_traced(value):
            raise _weft.DTypeError(
                f"{name} is a tensor of a traced function, and a number of Python is wanted: a size is "
                "x.shape[i], not one of a tensor of sizes"
            )
        if value.ndim < 2 and value.dtype.is_integer:
            return [int(n) for n in value.numpy().reshape(-1)]
    elif hasattr(value, "__index__") and not getattr(value, "ndim", 0):
        return [integer(name, value)]
    elif is_iterable(value):
        return [integer(name, n) for n in value]
    raise TypeError(f"{name} is a {type(value).__name__}: an integer or a list of them is wanted")


def is_iterable(value: Any) -> bool:
    """Whether it has items: a list, or an array or tensor with axes, but no text and no dict."""
    if (rank := getattr(value, "ndim", None)) is not None:
        return rank != 0
    return hasattr(value, "__iter__") and not isinstance(value, str | bytes | dict)


def axis(function: str, value: Any, rank: int, argument: str = "axis") -> int:
    """An axis of a tensor of that rank, counted from the front."""
    number = integer(f"{function}: {argument}", value)
    if not -rank <= number < rank:
        raise _weft.OutOfRangeError(
            f"{function}: {argument} {number} is out of range for a tensor of rank {rank}"
        )
    return number + rank if number < 0 else number


def tensor(function: str, value: Any, argument: str = "x", dtype: str | None = None) -> Any:
    """A tensor of an argument. Numbers of Python take the dtype, if one is given."""
    if isinstance(value, _weft.Tensor):
        return value
    return _weft.internal_tensor(value, function, argument, dtype)


def operands(function: str, **values: Any) -> list[Any]:
    """Tensors of arguments by their names that go together: a number of Python, or a list of such
    alone, takes the dtype of the others where its kind allows that."""
    return _weft.internal_tensors(tuple(values.values()), function, tuple(values))


def tensors(function: str, values: Any, argument: str = "xs") -> list[Any]:
    """Tensors of a list, or the slices of a tensor along its first axis, as `operands`; there is at
    least one."""
    if not is_iterable(values):
        raise TypeError(
            f"{function}: {argument} is a {type(values).__name__}: a list of tensors is wanted"
        )
    items = list(values)
    if not items:
        raise _weft.ValueError(f"{function}: {argument} is empty: there is nothing to join")
    return _weft.internal_tensors(items, function, [f"{argument}[{i}]" for i in range(len(items))])


def optional_integer(name: str, value: Any) -> int | None:
    """The same, or None."""
    return None if value is None else integer(name, value)


def optional_number(name: str, value: Any) -> float | None:
    """A number, or None."""
    if value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        kind = type(value).__name__
        raise TypeError(f"{name} is a {kind}: a number is wanted") from None


def text(name: str, value: Any) -> str:
    """A text."""
    if isinstance(value, str):
        return value
    raise TypeError(f"{name} is a {type(value).__name__}: a text is wanted")


def known_sizes(shape: Any) -> Any:
    """The shape of a tensor, with None for sizes that a traced function leaves open."""
    return type(shape)(None if isinstance(n, _weft.Size) else n for n in shape)


def sizes(name: str, value: Any) -> tuple[int | str | None, ...]:
    """The sizes of a shape, of which those that may be any are None, or a name for what is equal."""
    wrong = (
        f"{name} is {value!r}: a list of integers is wanted, None where any size may be, or a name"
    )
    if isinstance(value, str):
        raise TypeError(wrong)
    try:
        return tuple(
            size if size is None or isinstance(size, str) else operator.index(size)
            for size in value
        )
    except TypeError:
        raise TypeError(wrong) from None


def made_by(module: str, name: str, arguments: tuple[Any, ...]) -> Any:
    """What a function of the package gives for these arguments: how pickles name it."""
    import importlib

    return getattr(importlib.import_module(module), name)(*arguments)


# Kinds of arguments.


class Kind(NamedTuple):
    """What an argument is, and whether a value is that."""

    wanted: str
    fits: Callable[[Any], bool]


def _is_tensor(x: Any) -> bool:
    try:
        _weft.asarray(x)
    except (_weft.Error, *ERRORS):
        return False
    return True


def _is_integer(x: Any) -> bool:
    if isinstance(x, _weft.Tensor | _weft.Variable):
        return x.dtype.is_integer and x.ndim == 0
    try:
        return -(2**63) <= operator.index(x) < 2**63
    except TypeError:
        return False


def _is_list(x: Any) -> bool:
    return hasattr(x, "__iter__") and not isinstance(x, str | bytes | Mapping)


def _holds(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def all_fit(x: Any) -> bool:
        return _is_list(x) and (isinstance(x, _weft.Tensor | _weft.Variable) or all(map(fits, x)))

    return all_fit


def _either(*tests: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda x: any(fits(x) for fits in tests)


def _is_number(x: Any) -> bool:
    if isinstance(x, _weft.Tensor | _weft.Variable):
        return x.ndim == 0
    try:
        float(x)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(x, str)


def _is_dtype(x: Any) -> bool:
    try:
        _weft.dtype(x)
    except ERRORS:
        return False
    return True


def _is_size(x: Any) -> bool:
    return x is None or _is_integer(x)


def _is_function_list(x: Any) -> bool:
    return _holds(callable)(list(x.values()) if is_dict(x) else x)


def _is_pair_list(x: Any) -> bool:
    return is_dict(x) or _holds(lambda pair: _is_list(pair) and len(pair) == 2)(x)


def _is_case_list(x: Any) -> bool:
    return _is_pair_list(x) and all(callable(f) for _, f in (x.items() if is_dict(x) else x))


def _has(*names: str) -> Callable[[Any], bool]:
    return lambda x: any(hasattr(x, name) for name in names)


def _is_a(*kinds: Any) -> Callable[[Any], bool]:
    return lambda x: isinstance(x, kinds)


_TENSOR = Kind("a tensor, a number, a nested list of numbers or an array", _is_tensor)
_TENSORS = Kind("a list of tensors", _holds(_is_tensor))
_INTEGER = Kind("an integer of 64 bits", _is_integer)
_INTEGERS = Kind("an integer or a list of them", _either(_is_integer, _holds(_is_integer)))
_PAIRS = Kind("a list of pairs of integers", _holds(_holds(_is_integer)))
_LISTED_INTEGERS = Kind("a list of integers", _holds(_is_integer))
_SIZES = Kind(
    "a shape, a list of integers and None for sizes that are not known",
    _either(_is_integer, _holds(_is_size)),
)
_NUMBER = Kind("a number", _is_number)
_NUMBERS = Kind("a list of numbers", _holds(_is_number))
_FLAG = Kind("True or False", _is_a(bool, int, _weft.Tensor))
_TEXT = Kind("a text", _is_a(str))
_DTYPE = Kind("a dtype or its name", _is_dtype)
_FUNCTION = Kind("a function", callable)
_FUNCTIONS = Kind("a list or a dict of functions", _is_function_list)
_LIST = Kind("a list", _is_list)
_PAIRS_OF = Kind("a dict, or a list of pairs", _is_pair_list)
_CASES = Kind("a dict, or a list of pairs, of conditions and functions", _is_case_list)
_ITERABLE = Kind("a data set, or what can be iterated", _has("__iter__", "__getitem__"))
_MODEL = Kind("a model or a layer", callable)
_WRITER = Kind("a writer of event files", _has("flush"))
_SIDES = Kind(
    "an integer, or integers for the axes",
    _either(_is_integer, _holds(_is_integer), _holds(_holds(_is_integer))),
)
_DICT = Kind("a dict", _is_a(Mapping))
_PATH = Kind("a path as a text", _is_a(str, os.PathLike))

_BY_ANNOTATION = {
    "TensorLike": _TENSOR,
    "Sequence[TensorLike] | TensorLike": _TENSORS,
    "int": _INTEGER,
    "SupportsIndex": _INTEGER,
    "Shape": _INTEGERS,
    "Sizes": _INTEGERS,
    "float": _NUMBER,
    "bool": _FLAG,
    "str": _TEXT,
    "DTypeLike": _DTYPE,
    "Path": _PATH,
}

_BY_NAME = {
    "a arr b bias clip_norm clip_value_max clip_value_min coeffs condition constant_values "
    "delta diagonal features ids image images indices input input_ input_tensor labels lengths "
    "limit logits lower mask max_value maxval mean minval off_value offset on_value "
    "params pos_weight pred predictions scale segment_ids sorted_sequence start stddev stop t "
    "tensor threshold updates upper value variance weights x y y_pred y_true": _TENSOR,
    "inputs t_list tensors values": _TENSORS,
    "axis batch_dims batch_size block_size branch_index classes columns count depth gpu_index "
    "high k low max_to_keep maximum_iterations maxlen maxlength minlength n num num_classes "
    "num_columns num_lower num_rows num_samples num_segments num_upper out_axes patience rank "
    "rows": _INTEGER,
    "argnums axes begin dilations dims end ksize multiples noise_shape num_or_size_splits perm "
    "permutation ranks repeats shift size stride strides": _INTEGERS,
    "paddings": _PAIRS,
    "pred_fn_pairs": _CASES,
    "shapes": _PAIRS_OF,
    "data datasets iterable": _ITERABLE,
    "model": _MODEL,
    "writer": _WRITER,
    "cropping sides": _SIDES,
    "seed": _INTEGERS,
    "batch_shape": _LISTED_INTEGERS,
    "element_shape input_shape shape shape_x shape_y": _SIZES,
    "alpha atol beta decay_rate decay_steps end_learning_rate epsilon flush_millis gain "
    "initial_learning_rate label_smoothing learning_rate max_norm max_queue min_delta "
    "negative_slope power rate rtol use_norm variance_epsilon warmup_steps warmup_target": _NUMBER,
    "boundaries": _NUMBERS,
    "bad_indices_policy data_format direction distribution equation indexing latest_filename "
    "message method mode monitor name padding reduction side": _TEXT,
    "dtype dtype_hint index_type out_idx out_type output_type tf_type type_value": _DTYPE,
    "body cond default f false_fn fn func function true_fn": _FUNCTION,
    "branch_fns": _FUNCTIONS,
    "args flat_sequence inp loop_vars primals tangents variables": _LIST,
    "kwargs options": _DICT,
    "checkpoint_dir directory file filename folder log_dir logdir path": _PATH,
}
_OF_NAME = {name: kind for names, kind in _BY_NAME.items() for name in names.split()}


def _kind_of(name: str, annotation: Any) -> Kind | None:
    """What an argument of that annotation is, or of that name where nothing is said."""
    text = annotation if isinstance(annotation, str) else str(annotation)
    text = text.removesuffix(" | None").removeprefix("collections.abc.")
    if text in _BY_ANNOTATION:
        return _BY_ANNOTATION[text]
    if _is_union(text):
        return _OF_NAME.get(name.partition("[")[0])
    if text.startswith("Callable["):
        return _FUNCTION
    if text.startswith("Sequence[Callable["):
        return _FUNCTIONS
    if text.startswith(("Sequence[", "Iterable[", "list[")):
        return _LIST
    if text.startswith(("dict[", "Mapping[")):
        return _DICT
    return _OF_NAME.get(name.partition("[")[0])


def _is_union(annotation: str) -> bool:
    """Whether an annotation names several types, apart from those in its brackets."""
    depth = 0
    for letter in annotation:
        depth += (letter == "[") - (letter == "]")
        if letter == "|" and depth == 0:
            return True
    return False


_RAISE = opmap["RAISE_VARARGS"]
_LIBRARIES = ("<frozen ", os.path.dirname(os.__file__) + os.sep)
_FOLDER = os.path.dirname(__file__) + os.sep


def _is_said(error: BaseException) -> bool:
    """Whether an error says what is wrong: one of the library, one that a function of the user has
    raised, or that the package has by a statement."""
    trace = error.__traceback__
    if isinstance(error, _weft.Error) or str(error).startswith("weft.") or trace is None:
        return True
    while trace.tb_next is not None:  # the first one catches
        trace = trace.tb_next
        if not trace.tb_frame.f_code.co_filename.startswith((_FOLDER, *_LIBRARIES)):
            return True
    code = trace.tb_frame.f_code
    if code is explain.__code__:  # of a function within: that which the user has called is better
        return False
    return code.co_filename.startswith(_FOLDER) and code.co_code[trace.tb_lasti] == _RAISE


def explain(
    error: Exception, title: str, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> None:
    """Throws TypeError for the first argument of a wrong kind, if that is why a call has failed.
    Arguments that are their defaults are right."""
    if _is_said(error):
        return
    import inspect

    signature = inspect.signature(function)
    try:
        bound = signature.bind_partial(*args, **kwargs).arguments
    except TypeError:
        return
    given: dict[str, tuple[Any, Any]] = {}
    for name, value in bound.items():
        parameter = signature.parameters[name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            given.update({f"{name}[{i}]": (x, parameter.empty) for i, x in enumerate(value)})
        elif parameter.kind is not parameter.VAR_KEYWORD:
            given[name] = (value, parameter.default)
    # TensorFlow has None as a default of arguments that must be given.
    is_left_out = "NoneType" in str(error)
    for by_default in (False, True) if is_left_out else (False,):
        for name, (value, default) in given.items():
            kind = _kind_of(name, function.__annotations__.get(name))
            if kind is None or (value is default) != by_default or kind.fits(value):
                continue
            if not by_default or kind in (_TENSOR, _SIZES):
                raise TypeError(f"{title}: {name} is {shown(value)}: {kind.wanted} is wanted") from None


def shown(value: Any) -> str:
    """A value in a message, by its type if it is long."""
    if value is None or isinstance(value, bool | int | float) and abs(value) < 2**64:
        return repr(value)
    if isinstance(value, str) and len(value) < 40 and value.isprintable():
        return repr(value)
    return f"a {type(value).__name__}"
