"""Runs the notebooks of this folder as Jupyter does, cell by cell in one namespace, and compares or writes their outputs.

    python examples/notebooks/run.py [--write] [NOTEBOOK..]

There is no kernel and nothing to install: a cell's printed text is one output, the value of its last expression another.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent

# What differs from run to run: times, and where files are.
VARYING = [
    (re.compile(r"\d+(\.\d+)?(e-?\d+)? ?(ns|us|ms|s)\b"), "T"),
    (re.compile(r"/tmp/[\w./-]+"), "PATH"),
]


def masked(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return text


def run_cell(source: str, namespace: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Runs a cell, and gives its outputs as a notebook has them."""
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    # Functions that are converted are read again.
    import linecache

    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    printed = io.StringIO()
    outputs: list[dict[str, Any]] = []
    value: Any = None
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, name, "exec"), namespace)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        except Exception as error:
            value = None
            error_text = traceback.format_exception_only(error)[-1]
            outputs.append(
                {
                    "output_type": "error",
                    "ename": type(error).__name__,
                    "evalue": str(error),
                    "traceback": [error_text.rstrip("\n")],
                }
            )
    if printed.getvalue():
        text = printed.getvalue().splitlines(keepends=True)
        outputs.insert(0, {"output_type": "stream", "name": "stdout", "text": text})
    if value is not None:
        outputs.append(
            {
                "output_type": "execute_result",
                "data": {"text/plain": repr(value).splitlines(keepends=True)},
                "metadata": {},
            }
        )
    return outputs


def texts_of(outputs: list[dict[str, Any]]) -> list[str]:
    """What a reader sees of outputs."""
    seen: list[str] = []
    for output in outputs:
        lines = output.get("text") or output.get("data", {}).get("text/plain")
        seen.append("".join(lines) if lines is not None else "".join(output["traceback"]))
    return seen


def code_cells(notebook: dict[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The cells of code, counted from 1."""
    yield from enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1)


def run(path: Path, write: bool = False) -> list[str]:
    """Runs a notebook; what differs from the outputs that it has, a text for each cell, or, if
    `write`, nothing: its outputs are those of this run then. A cell that fails although its notebook
    does not say so is one that differs."""
    notebook = json.loads(path.read_text())
    namespace: dict[str, Any] = {"__name__": "__main__"}
    different: list[str] = []
    for number, cell in code_cells(notebook):
        source = "".join(cell["source"])
        outputs = run_cell(source, namespace, f"<cell {number}>")
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = number
        wanted, got = texts_of(cell["outputs"]), texts_of(outputs)
        if [masked(text) for text in wanted] != [masked(text) for text in got]:
            different.append(f"{path.name}, cell {number}: wanted {wanted}, got {got}")
        if write:
            cell["outputs"], cell["execution_count"] = outputs, number
    if write:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
        return []
    return different


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the outputs of this run")
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(FOLDER.glob("*.ipynb")))
    arguments = parser.parse_args()
    different = [d for path in arguments.notebooks for d in run(path, arguments.write)]
    for text in different:
        sys.stderr.write(text + "\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
