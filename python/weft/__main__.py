"""`python -m weft`: what is here, and the names of the tools."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import weft
from weft._versions import show_versions

_TOOLS = {
    "weft-opt": "lowers programs from text to text, any pass alone or in a pipeline",
    "weft-run": "compiles and runs a program of text, or an exported one",
    "weft-compile": "compiles a program of text into an object file and a header for C",
    "weft-cache": "lists and clears the cache of compiled code",
    "weft-launch": "starts a program several times, as ranks of one world",
    "weft-lsp-server": "tells editors of the dialect",
}


def _place(tool: str) -> str | None:
    """Where a tool is: beside the package in a build folder, or on the path."""
    beside = Path(weft.__file__).parents[2] / "bin" / tool
    return str(beside) if beside.is_file() else shutil.which(tool)


def main(arguments: list[str]) -> int:
    """Says what is here; there are no arguments but --help."""
    if arguments not in ([], ["-h"], ["--help"]):
        sys.stderr.write(f"python -m weft takes no arguments, not '{arguments[0]}'\n")
        return 2
    show_versions()
    sys.stdout.write("\nTools (each has --help):\n")
    for tool, purpose in _TOOLS.items():
        where = _place(tool) or "not here: they come with the C++ library's packages"
        sys.stdout.write(f"  {tool:<16} {purpose}\n  {'':<16} {where}\n")
    sys.stdout.write("\nIn Python: help(weft), help(weft.function), help(weft.sum)\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
