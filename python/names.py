"""Compiles python/weft/tf/names.toml into the module weft.tf._names: python3 names.py TABLE OUTPUT."""

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
    compile(expression, "names.toml", "eval")
    return parameters[1:-1], expression


def main(table: Path, output: Path) -> None:
    read = tomllib.loads(table.read_text())
    names: dict[str, str | tuple[str, str]] = {}
    for paths, text in read["names"].items():
        for path in paths.split(", "):
            if path in names:
                raise ValueError(f"{path} is there twice")
            names[path] = meaning_of(text)
    for path in [*names, *read["modules"]]:
        if "." in path and path.rpartition(".")[0] not in read["modules"]:
            raise ValueError(f"the module of {path} is not among the modules")
    lines = [
        '"""The names of weft.tf, made from names.toml when the package is built."""',
        "",
        f"NAMES: dict[str, str | tuple[str, str]] = {pprint.pformat(names, width=100, sort_dicts=False)}",
        f"MODULES: dict[str, str] = {pprint.pformat(read['modules'], width=100, sort_dicts=False)}",
        f"REMOVED: dict[str, str] = {pprint.pformat(read['removed'], width=100, sort_dicts=False)}",
    ]
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
