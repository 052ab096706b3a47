"""Runs the calls of other libraries on Weft's tensors and on NumPy's arrays, and compares what they give.

    python main.py [--only WORD] [--all]

refused.txt names the calls that are known to be refused, with a reason each. The program fails where a call gives another
result than NumPy's, where one is refused that is not named there, and where one that is named gives an answer: its line
is to be taken out.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import sys
import traceback
import warnings
from typing import Any

os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported

import numpy as np
from calls import CALLS, Arrays

import weft as wf

MOST_REFUSED, FEWEST_CALLS = 14, 200


def plain(value: Any) -> Any:
    """What a call gives, as lists of NumPy's arrays, texts and None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, wf.Tensor | np.ndarray | np.generic | bool | int | float | complex):
        return np.asarray(value)
    if isinstance(value, dict):
        return [plain(each) for each in value.values()]
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if hasattr(value, "__dict__") and hasattr(value, "pvalue"):  # a result of a test of SciPy
        return [plain(value.statistic), plain(value.pvalue)]
    return plain(list(value))


def difference(ours: Any, theirs: Any) -> str:
    """In words how two results differ; empty if they do not."""
    if isinstance(theirs, list):
        if not isinstance(ours, list) or len(ours) != len(theirs):
            return f"{ours!r} in place of {theirs!r}"
        return next(filter(None, map(difference, ours, theirs)), "")
    if not isinstance(theirs, np.ndarray):
        return "" if ours == theirs else f"{ours!r} in place of {theirs!r}"
    if not isinstance(ours, np.ndarray) or ours.shape != theirs.shape:
        return f"the shape {getattr(ours, 'shape', None)} in place of {theirs.shape}"
    if ours.dtype.kind in "biu" or theirs.dtype.kind in "biu":
        same = np.array_equal(ours, theirs)
    else:
        # What a library creates without a dtype is float32 here, in the middle of a computation too.
        single = np.float32 in (ours.dtype, theirs.dtype) or np.complex64 in (ours.dtype, theirs.dtype)
        same = np.allclose(ours, theirs, 1e-4 if single else 1e-6, 1e-5 if single else 1e-7, equal_nan=True)
    return "" if same else f"{ours!r} in place of {theirs!r}"


def known() -> dict[str, str]:
    """The calls that are refused, with reasons."""
    lines = (pathlib.Path(__file__).parent / "refused.txt").read_text().splitlines()
    pairs = [line.partition(": ") for line in lines if line and not line.startswith("#")]
    for name, _, reason in pairs:
        if name not in CALLS or not reason:
            sys.exit(f"refused.txt: {name!r} names no call, or has no reason")
    return {name: reason for name, _, reason in pairs}


def main() -> int:
    """Runs all calls; 1 if something is not as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="calls whose name has that in it")
    parser.add_argument("--all", action="store_true", help="also what is right, and whole tracebacks")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    import other_calls  # noqa: F401
    import scipy_calls  # noqa: F401
    import sklearn_calls  # noqa: F401

    ours, theirs = Arrays(wf, wf.asarray), Arrays(np, np.asarray)
    refused: dict[str, str] = {}
    wrong: dict[str, str] = {}
    names = [name for name in CALLS if options.only in name]
    for name in names:
        try:
            expected = plain(CALLS[name](theirs))
        except Exception as error:
            sys.exit(f"{name}: NumPy itself: {type(error).__name__}: {error}")
        try:
            words = difference(plain(CALLS[name](ours)), expected)
        except Exception as error:
            refused[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:240]}"
            if options.all:
                traceback.print_exc()
            continue
        if words:
            wrong[name] = words
        elif options.all:
            print(f"{name}: as NumPy's")
    excused = known()
    for name, words in wrong.items():
        print(f"WRONG {name}: {words}")
    for name, words in refused.items():
        print(f"{'refused' if name in excused else 'REFUSED'} {name}: {words}")
    answered = [name for name in excused if name in names and name not in refused]
    for name in answered:
        print(f"refused.txt names {name}, which gives an answer now: take its line out")
    bad = wrong or answered or set(refused) - set(excused) or len(excused) > MOST_REFUSED
    if not options.only and len(names) < FEWEST_CALLS:
        bad = True
    print(f"{len(names)} calls: {len(names) - len(refused) - len(wrong)} answer as NumPy, {len(refused)} are refused, {len(wrong)} are wrong")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
