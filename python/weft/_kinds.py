"""Kinds of arguments: a call that failed inside for one of a wrong type says which, and what is wanted.

Functions are not slower for it: arguments are looked at when there is an error of Python that has
nothing to say of them.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping, Sequence
from opcode import opmap
from typing import Any, NamedTuple

from weft import _weft
from weft._trees import is_dict

__all__ = ["ERRORS", "arguments_of", "defaults_of", "explain", "shown"]

ERRORS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)
"""What wrong arguments give inside; the library's own errors are among them, and pass."""


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
_PROFILE = Kind("a profile", _has("_profile"))
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
    "limit logits lower mask max_value maxval mean minval numerator off_value offset on_value "
    "params pos_weight pred predictions scale segment_ids sorted_sequence start stddev stop t "
    "tensor threshold updates upper value values_ variance weights x y y_pred y_true": _TENSOR,
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
    "profile": _PROFILE,
    "writer": _WRITER,
    "cropping sides": _SIDES,
    "seed": _INTEGERS,
    "batch_shape": _LISTED_INTEGERS,
    "element_shape input_shape shape shape_x shape_y": _SIZES,
    "alpha atol beta decay_rate decay_steps end_learning_rate epsilon flush_millis gain "
    "initial_learning_rate label_smoothing learning_rate max_norm max_queue min_delta momentum "
    "negative_slope power rate rtol use_norm variance_epsilon warmup_steps warmup_target": _NUMBER,
    "boundaries": _NUMBERS,
    "bad_indices_policy data_format direction distribution equation indexing latest_filename "
    "message method mode monitor name padding reduction side": _TEXT,
    "dtype dtype_hint index_type out_idx out_type output_type tf_type type_value": _DTYPE,
    "body cond cond_fn default f false_fn fn func function true_fn": _FUNCTION,
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
    if text.startswith("Callable["):
        return _FUNCTION
    if text.startswith("Sequence[Callable["):
        return _FUNCTIONS
    if text.startswith(("Sequence[", "Iterable[", "list[")):
        return _LIST
    if text.startswith(("dict[", "Mapping[")):
        return _DICT
    return _OF_NAME.get(name.partition("[")[0])


_RAISE = opmap["RAISE_VARARGS"]
_VAR_POSITIONAL = 0x04  # of co_flags: inspect.CO_VARARGS
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
    error: Exception,
    title: str,
    arguments: Mapping[str, Any],
    annotations: Mapping[str, Any],
    defaults: Mapping[str, Any],
) -> None:
    """Throws TypeError for the first argument of a wrong kind, if that is why there is an error.
    Arguments that are their defaults are right."""
    if _is_said(error):
        return
    kinds = {name: _kind_of(name, annotations.get(name)) for name in arguments}
    given = [n for n, value in arguments.items() if n not in defaults or value is not defaults[n]]
    # TensorFlow has None as a default of arguments that must be given.
    left_out = [name for name in arguments if name not in given and "NoneType" in str(error)]
    for name in (*given, *left_out):
        kind, value = kinds[name], arguments[name]
        if kind is None or (name in left_out and kind not in (_TENSOR, _SIZES)) or kind.fits(value):
            continue
        raise TypeError(f"{title}: {name} is {shown(value)}: {kind.wanted} is wanted") from None


def shown(value: Any) -> str:
    """A value in a message, by its type if it is long."""
    if value is None or isinstance(value, bool | int | float) and abs(value) < 2**64:
        return repr(value)
    if isinstance(value, str) and len(value) < 40 and value.isprintable():
        return repr(value)
    return f"a {type(value).__name__}"


def arguments_of(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by their names."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    found = {**dict(zip(names, args, strict=False)), **kwargs}
    if code.co_flags & _VAR_POSITIONAL:
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        found.update({f"{rest}[{i}]": x for i, x in enumerate(args[len(names) :])})
    return found


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The default values of the parameters that have one."""
    code, values = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    found = dict(zip(names[len(names) - len(values) :], values, strict=True))
    return {**found, **(function.__kwdefaults__ or {})}
