"""What tests of errors share: the type, the sentence, and the user's line without our frames."""

import inspect

import pytest
from double import Program


def fails(f, *arguments, kind, match, line):
    """Traces `f`, which must fail on its line that has the text, with only the user's frames."""
    with pytest.raises(kind, match=match) as caught:
        Program(f, *arguments)
    entries = [e for e in caught.traceback if "double.py" not in str(e.path)][1:]
    for entry in entries:
        assert "weft/_autograph" not in str(entry.path), entry
        assert "malt" not in str(entry.path), entry
    assert line in str(entries[-1].statement), entries[-1].statement
    assert str(entries[-1].path) == inspect.getsourcefile(f)
    return entries
