"""`tf.print`: values when the program comes to it, in TensorFlow's format."""

from __future__ import annotations

import os
import pprint
import re
import sys
from collections.abc import Callable
from typing import Any

import weft as wf
from weft import _weft
from weft._arguments import integer, shown

__all__ = ["print_values", "text_of"]


def print_values(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = os.linesep,
    name: str | None = None,
) -> None:
    """Prints values with spaces between, to the standard error stream unless another is given.

    In a traced function it prints each time that the program comes to it, in order. A tensor shows
    the first and last `summarize` entries of each axis, -1 shows all.

    Example:
        tf.print("loss", tf.constant([0.5, 2.0]))  prints  loss [0.5 2]
    """
    entries = integer("print: summarize", summarize)
    for word, text in (("sep", sep), ("end", end)):
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"print: {word} is a {type(text).__name__}: a text is wanted")
    tensors: list[Any] = []
    pieces = [x if isinstance(x, str) else _template(x, tensors) for x in inputs]
    write = _writer(output_stream)

    def show(values: list[Any]) -> list[Any]:
        texts = [text_of(value, entries) for value in values]
        write(sep.join(_filled(piece, texts) for piece in pieces) + end)
        return []

    if _weft.internal_is_tracing():
        _weft.internal_host_call(show, [_weft.asarray(x) for x in tensors], [], "print", False)
    else:
        show([_weft.asarray(x) for x in tensors])


def _writer(stream: Any) -> Callable[[str], None]:
    """The function that writes a text. Python's own streams are looked up when it does."""
    if isinstance(stream, str) and stream.startswith("file://"):
        path = stream.removeprefix("file://")

        def append(text: str) -> None:
            with open(path, "a", encoding="utf-8") as file:
                file.write(text)

        return append
    if callable(stream):  # logging.info and its like
        called: Callable[[str], object] = stream

        def log(text: str) -> None:
            called(text.rstrip("\n"))

        return log
    if stream is None or stream is sys.stderr:
        return lambda text: _write(sys.stderr, text)
    if stream is sys.stdout:
        return lambda text: _write(sys.stdout, text)
    if not hasattr(stream, "write"):
        raise _weft.ValueError(
            f"print: output_stream is {shown(stream)}: it is sys.stderr, sys.stdout, another stream, a "
            "function of logging or 'file://' and a path"
        )
    return lambda text: _write(stream, text)


def _write(stream: Any, text: str) -> None:
    stream.write(text)
    stream.flush()


# What stands for a tensor in the text of a structure.


class _Place:
    """A tensor among the values of Python."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __repr__(self) -> str:
        return f"\0{self._number}\0"


def _template(x: Any, tensors: list[Any]) -> str:
    """The text of a value with places for the tensors in it, which are added to the list."""
    placed = _placed(x, tensors)
    return repr(placed) if isinstance(placed, _Place) else pprint.pformat(placed)


def _placed(x: Any, tensors: list[Any]) -> Any:
    if isinstance(x, wf.Tensor | wf.Variable):
        tensors.append(x)
        return _Place(len(tensors) - 1)
    made: Any = x
    if _is_dict(made):
        return {key: _placed(value, tensors) for key, value in made.items()}
    if type(made) in (list, tuple):
        return type(made)(_placed(item, tensors) for item in made)
    return x


def _is_dict(x: Any) -> bool:
    return isinstance(x, dict)


def _filled(piece: str, texts: list[str]) -> str:
    if "\0" not in piece:
        return piece
    return re.sub("\0(\\d+)\0", lambda found: texts[int(found[1])], piece)


# Tensors.


def text_of(array: Any, summarize: int = 3) -> str:
    """The elements as TensorFlow's ops write them: `[0 0.5 2 ... 8 9 10]`."""
    import numpy as np

    # Derivatives do not follow what is shown.
    shown = _weft.stop_gradient(array) if isinstance(array, _weft.Tensor) else array
    return _nested(np.asarray(shown), 0, summarize)


def _nested(values: Any, depth: int, summarize: int) -> str:
    """An array within `depth` others."""
    if values.ndim == 0:
        return _number(values)
    deeper = values.ndim - 1
    between = "\n" * deeper + " " * (depth + 1) if deeper else " "
    count = len(values)
    if summarize < 0 or count <= 2 * summarize:
        entries = [_nested(row, depth + 1, summarize) for row in values[...]]
    else:
        first, last = values[:summarize], values[count - summarize :]
        entries = [_nested(row, depth + 1, summarize) for row in first]
        entries += ["...", *(_nested(row, depth + 1, summarize) for row in last)]
    return "[" + between.join(entries) + "]"


def _number(x: Any) -> str:
    """The shortest text of a float that is the same number again; a bool is 1 or 0."""
    kind = x.dtype.kind
    value = x.item()
    if kind == "b":
        return "1" if value else "0"
    if kind != "f":
        return str(value)
    short, long = ("%.6g", "%.9g") if x.dtype.itemsize == 4 else ("%.15g", "%.17g")
    text = short % value
    return text if value != value or x.dtype.type(text) == x else long % value
