"""Chooses what a program is run through: passes, phases for both targets, or weft-run with arguments."""

import random
import re

_PHASES = ["differentiate", "control-deps", "simplify", "lift-state", "linalg", "schedule", "bufferize", "llvm"]
_PASSES = [
    "--weft-check-limits", "--weft-count-iterations", "--weft-differentiate", "--weft-split-derivative",
    "--weft-insert-control-deps", "--weft-erase-tokens", "--weft-print-effect-order", "--weft-entry", "--weft-to-llvm",
    "--weft-shuffle-schedule", "--weft-simplify", "--weft-lift-state", "--weft-to-linalg", "--weft-scalarize",
    "--weft-branch-on-checks", "--weft-fuse-elementwise", "--weft-switch-to-branches", "--weft-destination-passing",
    "--weft-outline-regions", "--weft-split-readers", "--weft-matmul-to-runtime", "--weft-checks-to-runtime",
    "--weft-materialize-destinations", "--weft-plan-arena", "--weft-cut-functions", "--weft-expand-math", "--weft-lower-loops",
    "--weft-loops-to-gpu", "--canonicalize", "--cse", "--inline", "--symbol-dce",
]  # fmt: skip
_SIZES = "0122334"


def choose(rng: random.Random, text: str, passes: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """A command for a program from a test that runs these passes."""
    roll = rng.random()
    if roll < 0.30 and passes:
        return ("weft-opt", "-", *rng.choice(passes))
    if roll < 0.42:
        return ("weft-opt", "-", *(rng.choice(_PASSES) for _ in range(rng.choice([1, 1, 2, 3]))))
    if roll < 0.50:
        begin = rng.randrange(len(_PHASES))
        last = rng.randrange(begin, len(_PHASES))
        return ("weft-opt", "-", *(f"--weft-phase-{phase}" for phase in _PHASES[begin : last + 1]))
    if roll < 0.75 or "func.func" not in text:
        return ("weft-compile", "-", "-o", "/dev/null", *_compilation(rng))
    return ("weft-run", "-", *_call(rng, text))


def _compilation(rng: random.Random) -> list[str]:
    target = rng.choice(["cpu", "cpu", "nvptx"])
    last = rng.choice([*_PHASES, *_PHASES[-2:], "ptx" if target == "nvptx" else "object"])
    options = [f"--compile-to={last}", f"--target={target}"]
    if rng.random() < 0.2:
        first = rng.randrange(_PHASES.index(last) + 1 if last in _PHASES else len(_PHASES))
        options.append(f"--compile-from={_PHASES[first]}")
    return options


def _call(rng: random.Random, text: str) -> list[str]:
    """Arguments that fit the signature of one of the functions, but for sizes that are unknown."""
    functions = re.findall(r"func\.func (?!private)@([\w$.-]+)\(([^\n]*?)\)\s*(?:->|attributes|\{|$)", text, re.MULTILINE)
    if not functions:
        return []
    name, parameters = rng.choice(functions)
    options = [f"--entry={name}", "--print"]
    if rng.random() < 0.1:
        options.append(f"--from={rng.choice(_PHASES)}")
    for type_ in re.findall(r":\s*(tensor<[^<>]*>)", parameters):
        known = re.sub(r"\?", lambda _: rng.choice(_SIZES), type_)
        count = 1
        for size in re.findall(r"(\d+)x", known):
            count *= int(size)
        values = [f"iota : {known}", f"random<{rng.randrange(9)}> : {known}"]
        if known.endswith(("i32>", "i64>")):
            values += [f"dense<{rng.choice(['0', '1', '-1', '3', '2147483647'])}> : {known}"]
        elif "f" in known:
            values += [f"dense<{rng.choice(['1.0', '-1.0', '0x7F800000' if 'f32' in known else '1.0'])}> : {known}"]
        elif "i1>" in known:
            values = [f"dense<{rng.choice(['true', 'false'])}> : {known}"]
        options.append("--arg=" + (rng.choice(values) if count < 1 << 20 else f"dense<0> : {known}"))
    return options
