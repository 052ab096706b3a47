"""`python -m weft.launch -n 4 train.py`: starts a program of Python several times, as ranks of one world.

It runs `weft-launch`, which finds the mpiexec that belongs to the MPI library, with this interpreter.
"""

import os
import shutil
import sys
from pathlib import Path

import weft


def _tool() -> str | None:
    """Where weft-launch is: in the package, beside it in a build folder, or on the path."""
    package = Path(weft.__file__).parent
    for place in (package / "bin" / "weft-launch", package.parents[1] / "bin" / "weft-launch"):
        if place.is_file():
            return str(place)
    return shutil.which("weft-launch")


def _library() -> str | None:
    """The MPI library of a wheel of this environment, which the loader does not find by itself."""
    for name in ("libmpi.so.40", "libmpi.so.12"):
        path = Path(sys.prefix) / "lib" / name
        if path.is_file():
            return str(path)
    return None


def main(arguments: list[str]) -> int:
    """Runs weft-launch with these arguments; a program that ends in .py is one for this interpreter."""
    tool = _tool()
    if tool is None:
        sys.stderr.write("weft.launch: there is no weft-launch, of Debian's package weft-tools\n")
        return 2
    options: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        options.append(option)
        if option in ("-n", "-np", "--restarts", "--min-ranks") and rest:
            options.append(rest.pop(0))
    if rest and rest[0].endswith(".py"):
        rest.insert(0, sys.executable)
    library = _library()
    if library is not None:
        os.environ.setdefault("WEFT_MPI_LIBRARY", library)
    sys.stdout.flush()
    os.execv(tool, [tool, *options, *rest])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
