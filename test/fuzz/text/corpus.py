"""The programs that are mutated: the pieces of the text tests, with the passes that their RUN lines name."""

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Piece:
    """One program of a test file."""

    name: str  # the file, and the piece's number in it
    text: str
    passes: tuple[tuple[str, ...], ...]  # the options of each RUN line of weft-opt


# What a RUN line says to the test and not to the passes.
_NOT_PASSES = re.compile(r"--?(split-input-file|verify-diagnostics|verify-each|o|show-dialects|mlir-(print|use)\S*)(=.*)?$")


def _passes_of(run: str) -> tuple[str, ...] | None:
    """The options of `weft-opt` in a RUN line, or None where it is another tool or more than options."""
    command = re.split(r"[|><]|&&", run)[0]
    words = command.replace('"', "").replace("'", "").split()
    if "weft-opt" not in words:
        return None
    options = [word for word in words[words.index("weft-opt") + 1 :] if word.startswith("-")]
    return tuple(option for option in options if not _NOT_PASSES.match(option) and "%" not in option)


def read(tests: Path) -> list[Piece]:
    """The pieces of all `*.mlir` below `tests`."""
    pieces = []
    for path in sorted(tests.rglob("*.mlir")):
        text = path.read_text()
        runs = re.findall(r"^// RUN:(.*)$", text.replace("\\\n// RUN:", ""), re.MULTILINE)
        passes = tuple(dict.fromkeys(options for run in runs if (options := _passes_of(run))))
        for number, part in enumerate(re.split(r"^// -----.*$", text, flags=re.MULTILINE)):
            lines = [re.sub(r"\s*//.*$", "", line) for line in part.splitlines()]
            code = "\n".join(line for line in lines if line.strip())
            if code.strip():
                pieces.append(Piece(f"{path.relative_to(tests)}:{number}", code + "\n", passes))
    return pieces
