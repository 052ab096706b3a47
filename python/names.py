"""Compiles the tables of python/weft/tf into the module weft.tf._names: python3 names.py OUTPUT TABLE..."""

import pprint
import sys
import tomllib
from pathlib import Path


def meaning_of(text: str) -> str | tuple[str, str]:
    """ "(x, y) -> wf.add(x, y)" in its two parts; the path of an object as it is."""
    if not text.startswith("("):
        return text
    parameters, arrow, expression = text.partition(" -> ")
    if not arrow or not parameters.endswith(")"):
        raise ValueError(f"neither the path of an object nor '(parameters) -> expression': {text}")
    compile(expression, text, "eval")
    return parameters[1:-1], expression


def main(output: Path, *tables: Path) -> None:
    names: dict[str, str | tuple[str, str]] = {}
    parts: dict[str, dict[str, str]] = {"modules": {}, "removed": {}, "absent": {}}
    for table in tables:
        read = tomllib.loads(table.read_text())
        for paths, text in read.pop("names").items():
            for path in paths.split(", "):
                if path in names:
                    raise ValueError(f"{path} is there twice")
                names[path] = meaning_of(text)
        for part, entries in read.items():
            for paths, text in entries.items():
                parts[part].update(dict.fromkeys(paths.split(", "), text))
    for path in [*names, *parts["modules"]]:
        if "." in path and path.rpartition(".")[0] not in parts["modules"]:
            raise ValueError(f"the module of {path} is not among the modules")
    lines = [
        '"""The names of weft.tf, made from its tables when the package is built."""',
        "",
        f"NAMES: dict[str, str | tuple[str, str]] = {pprint.pformat(names, width=100, sort_dicts=False)}",
    ]
    for part, entries in parts.items():
        lines += [f"{part.upper()}: dict[str, str] = {pprint.pformat(entries, width=100, sort_dicts=False)}"]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
