"""What a program of sizes gives by NumPy, eagerly, and in a trace that leaves sizes open: a difference, or nothing."""

import dataclasses
import re
import sys
from typing import Any

import numpy as np
from programs import NumPy, Program, Writer, weft_names

import weft as wf

# What a trace for open sizes refuses, with the words of its error: docs/functions.md and docs/python.md say so.
REFUSED = {
    "an open size never stretches": "an unknown size never stretches",
    "a slice of one element has one": r"(slice|index): \d+ is out of range for axis \d+ of a tensor of shape",
    "a mask is of the sizes that are known": "index: a mask of shape",
    "sizes that are not known yet": "not known yet|does not know|must be known|is not known",
}
# Where NumPy gives something and Weft has an error, eagerly too.
ELSEWHERE = "there is no element to choose|no largest element"
# Of open sizes that stay -1 is what it is without the 0 beside it.
FOLLOWS = r"reshape: .* has 0 elements, which do not fill the shape \(.*-1"
# NumPy looks at no position where a result has no elements.
NOWHERE = "is out of range for"


@dataclasses.dataclass
class Found:
    """What a way of running gave for one input: a value, or the text of an error."""

    value: Any = None
    error: str | None = None
    typed: bool = True

    def __str__(self) -> str:
        if self.error is not None:
            return self.error
        return f"{self.value.shape} {self.value.reshape(-1)[:12].tolist()}"


def _run(f: Any, *args: Any) -> Found:
    try:
        return Found(np.asarray(f(*args)))
    except wf.Error as error:
        return Found(error=f"{type(error).__name__}: {error}")
    except Exception as error:  # noqa: BLE001
        return Found(error=f"{type(error).__name__}: {error}", typed=False)


def _same(a: Found, b: Found) -> bool:
    return (
        a.error is None
        and b.error is None
        and a.value.shape == b.value.shape
        and np.array_equal(a.value, b.value, equal_nan=True)
    )


def check(seed: int) -> tuple[str, str]:
    """'ok', 'refused CLASS' or 'failed', with what is to be said of it."""
    program = Writer(seed).write()
    source = at_once = program.compiled(weft_names())
    emptied = False

    def plain(x, i):
        nonlocal emptied
        emptied = False
        for step in program.steps:
            x = eval(step, {"m": NumPy, "x": x, "i": i})
            emptied |= np.size(x) == 0
        return x

    def traced_program(x, i):
        return source(x, i)

    traced_program.__name__ = f"program_{seed}"
    specs = None
    if program.signature:
        sizes = [None if o else n for o, n in zip(program.open_axes, program.shapes[0], strict=True)]
        specs = [wf.TensorSpec(sizes, wf.float32), wf.TensorSpec([None], wf.int64)]
    traced = wf.function(wf.autograph.do_not_convert(traced_program), input_signature=specs)
    refused = None
    for (x, i), shape in zip(program.inputs(), program.shapes, strict=True):
        want = _run(plain, x, i)
        eager = _run(at_once, wf.tensor(x), wf.tensor(i))
        got = _run(traced, wf.tensor(x), wf.tensor(i))
        said = f"{program}\n{program.text}\nx of shape {shape}, i = {i.tolist()}\n  NumPy: {want}\n  eager: {eager}\n  trace: {got}"
        if not eager.typed or not got.typed:
            return "failed", "an error that is none of Weft's\n" + said
        if eager.error is None:
            if want.error is None and not _same(want, eager):
                return "failed", "an eager call differs from NumPy's\n" + said
            if want.error is not None:
                return "failed", "an eager call takes what NumPy does not\n" + said
        elif want.error is None and not re.search(f"{ELSEWHERE}|{NOWHERE}" if emptied else ELSEWHERE, eager.error):
            return "failed", "an eager call refuses what NumPy takes\n" + said
        if got.error is None:
            if eager.error is not None and re.search(FOLLOWS, eager.error) and not got.value.size:
                continue
            if eager.error is not None:
                return "failed", "a trace takes what an eager call does not\n" + said
            if not _same(eager, got):
                return "failed", "a trace differs from an eager call\n" + said
        elif eager.error is None:
            refused = next((name for name, words in REFUSED.items() if re.search(words, got.error)), None)
            if refused is None:
                return "failed", "a trace refuses what an eager call takes\n" + said
    if seed % 4 == 0 and not refused:
        return _check_gradient(program, source, specs)
    return (f"refused {refused}" if refused else "ok"), ""


def _check_gradient(program: Program, source: Any, specs: Any) -> tuple[str, str]:
    """The same of the gradient of the sum of the squares of what a program gives."""

    def gradient(x, i):
        return wf.grad(lambda y: wf.sum(wf.square(source(y, i))))(x)

    traced = wf.function(wf.autograph.do_not_convert(gradient), input_signature=specs)
    for (x, i), shape in zip(program.inputs(), program.shapes, strict=True):
        eager, got = (_run(f, wf.tensor(x), wf.tensor(i)) for f in (gradient, traced))
        said = f"{program}\n{program.text}\nx of shape {shape}, i = {i.tolist()}\n  eager: {eager}\n  trace: {got}"
        if not eager.typed or not got.typed:
            return "failed", "a gradient is an error that is none of Weft's\n" + said
        # What a gradient does not need, as the argument of argmax, is not run, nor checked.
        unneeded = eager.error is not None and got.error is None and not got.value.any()
        if (eager.error is None) != (got.error is None) and not unneeded:
            return "failed", "a gradient is an error only in a trace, or only eagerly\n" + said
        if eager.error is None and got.error is None and not (
            eager.value.shape == got.value.shape and np.allclose(eager.value, got.value, rtol=1e-5, atol=1e-3)
        ):
            return "failed", "a gradient of a trace differs from an eager one\n" + said
    return "ok", ""


def main(first: int, count: int) -> None:
    """Checks programs, with a line before and after each: their reader knows which one ended the process."""
    for seed in range(first, first + count):
        print("begin", seed, flush=True)
        outcome, said = check(seed)
        print("end", seed, outcome, flush=True)
        if said:
            print("\n".join("| " + line for line in said.splitlines()), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
