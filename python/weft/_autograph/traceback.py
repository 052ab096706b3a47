"""Tracebacks of converted code: the user's frames only, once each."""

from __future__ import annotations

import os
import types
from typing import Any

from weft._trees import is_listed

from . import staging


class Mark:
    """The last constant of generated code: which conversion it stems from, and whether the
    function is the user's or one that the conversion made of a part of it."""

    __slots__ = ("conversion", "made")

    def __init__(self, conversion: object, made: bool) -> None:
        self.conversion = conversion
        self.made = made


def mark_of(code: types.CodeType) -> Mark | None:
    """The mark of generated code; None for other code."""
    constants = code.co_consts
    return constants[-1] if constants and type(constants[-1]) is Mark else None


_hidden_files: set[str] = set()
_hidden_folders: list[str] = []


def hide(file: str) -> None:
    """Leaves frames of this file out of tracebacks, or of a folder if the name ends in `/`."""
    if file.endswith("/"):
        _hidden_folders.append(file)
    else:
        _hidden_files.add(file)


hide(__file__.rsplit("_autograph", 1)[0])


def _is_hidden(code: types.CodeType) -> bool:
    file = code.co_filename
    return file in _hidden_files or any(file.startswith(folder) for folder in _hidden_folders)


_CLEANED = "__autograph_cleaned__"
"""Where an exception keeps the address of the part of its traceback that has been cleaned."""


def _dict_of(error: BaseException) -> dict[str, Any]:
    """The attributes of an error, whatever its class makes of asking for them."""
    return object.__getattribute__(error, "__dict__")


def clean(error: BaseException) -> None:
    """Leaves only the user's frames in the traceback of `error`, and one for each call: of those
    of one converted function the innermost, which has the line."""
    seen: set[int] = set()
    at: BaseException | None = error
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        kept = _dict_of(at)
        # Not by assignment: a class of the user may refuse that.
        BaseException.with_traceback(at, _cleaned(at.__traceback__, kept.get(_CLEANED)))
        kept[_CLEANED] = id(at.__traceback__)
        at = at.__cause__ or at.__context__


def _cleaned(traceback: types.TracebackType | None, done: int | None) -> types.TracebackType | None:
    kept: list[types.TracebackType] = []
    owner: object = None
    while traceback is not None and id(traceback) != done:
        code = traceback.tb_frame.f_code
        if not _is_hidden(code):
            mark = mark_of(code)
            if mark is not None and mark.made and kept and owner is mark.conversion:
                kept.pop()
            owner = mark.conversion if mark else None
            kept.append(traceback)
        traceback = traceback.tb_next
    result = traceback
    for entry in reversed(kept):
        result = types.TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


class Line:
    """A place in the user's code, kept for an error that shows only later."""

    __slots__ = ("file", "line", "name")

    def __init__(self, frame: types.FrameType) -> None:
        self.file = frame.f_code.co_filename
        self.line = frame.f_lineno
        self.name = frame.f_code.co_name

    def throw(self, error: Exception) -> None:
        """Raises `error` as if it had been raised there."""
        if hasattr(error, "message"):  # one of the library's, which names its line
            said: Any = error
            said.args = (f"{os.path.basename(self.file)}:{self.line}: {said.message}",)
            said.file, said.line = self.file, self.line
        text = "\n" * (self.line - 1) + "raise error"
        code = compile(text, self.file, "exec", dont_inherit=True)
        exec(code.replace(co_name=self.name, co_qualname=self.name), {"error": error})


def user_frame(frame: types.FrameType | None) -> types.FrameType | None:
    """The innermost frame of a user, from `frame` outward."""
    while frame is not None and _is_hidden(frame.f_code):
        frame = frame.f_back
    return frame


def note(error: BaseException, text: str) -> None:
    """Adds a sentence below an error, once."""
    notes: Any = _dict_of(error).setdefault("__notes__", [])
    if is_listed(notes) and text not in notes:
        notes.append(text)


def autograph_error(message: str) -> Exception:
    """An error of the library's class for Python that cannot be converted."""
    return staging.errors().autograph(message)
