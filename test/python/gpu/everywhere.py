"""Runs calls of the examples of all public names where there is an emulated GPU: as they are under a scope of it, and with its tensors.

A program of its own: `everywhere.py COUNT I` takes each COUNT-th name from the I-th on.
"""

import ast
import doctest
import inspect
import os
import re
import sys
import tempfile
import traceback
from pathlib import Path

import numpy as np

import weft as wf

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from test_examples import NAMES, Checker, examples_in, members, own_docstring  # noqa: E402

GPU = "gpu:0"
# Whose examples say what the memory of the host holds, where tensors are, or how often an op runs, which is a program there.
NOT_UNDER_A_SCOPE = {
    "train.ProfileEntry", "memory_stats", "reset_peak", "release_cached_memory", "devices", "device", "ResourceExhaustedError",
    "Tensor.device", "Tensor.to", "data.pixels",
}  # fmt: skip
# What gives something that is not of its operands: keys and states are of the host, files are read there.
ELSEWHERE = {"random.key"}
tensor = wf.tensor  # the function itself is replaced when its turn comes
FLOATS = (wf.float16, wf.bfloat16, wf.float32, wf.float64, wf.complex64, wf.complex128)


def tensor_parameters():
    """Parameters that are tensors or sequences of them, by the name of the function, as the stubs say it."""
    found = {}
    folder = Path(wf.__file__).parent
    for stub in folder.glob("_*.pyi"):
        family = "" if stub.stem == "_weft" else stub.stem[1:] + "."
        for node in ast.parse(stub.read_text()).body:
            if isinstance(node, ast.FunctionDef):
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                kinds = {a.arg: ast.unparse(a.annotation) for a in arguments if a.annotation is not None}
                found[family + node.name] = {name: kind for name, kind in kinds.items() if "TensorLike" in kind}
    return found


def flat(value):
    """The tensors in a result."""
    if isinstance(value, wf.Tensor):
        return [value]
    if isinstance(value, list | tuple):
        return [tensor for each in value for tensor in flat(each)]
    if isinstance(value, dict):
        return [tensor for each in value.values() for tensor in flat(each)]
    return []


def as_tensors(value, several):
    if value is None or isinstance(value, bool | int | float | complex | str | wf.Size | wf.Variable):
        return value
    if several and isinstance(value, list | tuple):
        return type(value)(as_tensors(each, False) for each in value)
    if hasattr(value, "_fields"):
        return type(value)(*(as_tensors(each, False) for each in value))
    try:
        return tensor(value)
    except wf.ValueError:  # several, of other shapes
        return type(value)(as_tensors(each, False) for each in value)


def moved(value):
    if isinstance(value, wf.Tensor):
        return value.to(GPU)
    return mapped(moved, value)


def mapped(f, value):
    if hasattr(value, "_fields"):
        return type(value)(*map(f, value))
    return type(value)(map(f, value)) if isinstance(value, list | tuple) else value


def close(there, here, what):
    assert len(there) == len(here), what
    for one, other in zip(there, here):
        if one is None or other is None:
            assert one is other, what
            continue
        assert one.dtype == other.dtype and one.shape == other.shape, f"{what}: {one.dtype}{one.shape} is not {other.dtype}{other.shape}"
        assert one.device == GPU, f"{what} is on {one.device}"
        a, b = (np.asarray(x.astype("complex128" if "complex" in str(x.dtype) else "float64")) for x in (one, other))
        tolerance = {"float16": 1e-2, "bfloat16": 4e-2}.get(str(one.dtype).rpartition(".")[2], 1e-5)
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * max(1, np.abs(b[np.isfinite(b)]).max(initial=0)), err_msg=what)


class Replayed:
    """A public function whose calls are done again with their tensors on the CPU and on the GPU: same values, same derivatives."""

    def __init__(self, name, called, parameters):
        self.name, self.called, self.parameters, self.failed, self.calls = name, called, parameters, [], 0

    def __call__(self, *args, **kwargs):
        result = self.called(*args, **kwargs)
        try:
            with wf.device("cpu"):
                self.again(*args, **kwargs)
        except Exception:
            self.failed.append(f"weft.{self.name}: {traceback.format_exc(limit=-3)}")
        return result

    def __getattr__(self, name):
        return getattr(self.called, name)

    def again(self, *args, **kwargs):
        bound = inspect.signature(self.called).bind(*args, **kwargs)
        here = {}
        for name, value in bound.arguments.items():
            kind = self.parameters.get(name)
            if kind is None or any(tensor.device != "cpu:0" for tensor in flat(value)):
                value = moved_back(value)
            here[name] = value if kind is None else as_tensors(value, kind.startswith("Sequence"))
        if not flat(list(here.values())):
            return
        self.calls += 1
        there = {name: moved(value) if name in self.parameters else value for name, value in here.items()}

        def run(arguments):
            again = bound
            again.arguments.clear()
            again.arguments.update(arguments)
            floats = [x for name in self.parameters if name in arguments for x in flat(arguments[name]) if x.dtype in FLOATS]
            with wf.GradientTape(persistent=True) as tape:
                for x in floats:
                    tape.watch(x)
                results = flat(self.called(*again.args, **again.kwargs))
            try:
                wanted = [y for y in results if y.dtype in FLOATS]
                slopes = tape.gradient(wanted, floats) if wanted and floats else []
            except wf.Error as error:
                slopes = type(error)
            return results, slopes

        try:
            expected, slopes = run(here)
        except wf.Error:  # lists of other dtypes than tensors of them have
            self.calls -= 1
            return
        results, others = run(there)
        if self.name not in ELSEWHERE:
            close(results, expected, f"{self.name}, result")
        if isinstance(slopes, type):
            assert slopes is others, (slopes, others)
        else:
            close(others, slopes, f"{self.name}, gradient")


def moved_back(value):
    if isinstance(value, wf.Tensor):
        return value.to("cpu")
    return mapped(moved_back, value)


def run(session, scope):
    said = []
    with wf.device(scope):
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        doctest.DocTestRunner(Checker(), verbose=False, optionflags=flags).run(session, out=said.append)
    return "".join(said)


def main(count, first, *only):
    parameters, failed, calls = tensor_parameters(), [], 0
    for name, thing in NAMES[int(first) :: int(count)]:
        if isinstance(thing, wf.DType) or re.fullmatch("What `(.+)` gives.", getattr(thing, "__doc__", None) or ""):
            continue
        if only and not any(word in name for word in only):
            continue
        print(name, flush=True)
        sessions = [examples_in(name, own_docstring(thing))]
        if isinstance(thing, type):
            sessions += [examples_in(f"{name}.{member}", text) for member, text in members(thing)]
        module, _, word = name.rpartition(".")
        owner = wf
        for part in filter(None, module.split(".")):
            owner = getattr(owner, part)
        for session in sessions:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                if session.examples and session.name not in NOT_UNDER_A_SCOPE:
                    if said := run(session, GPU):
                        failed.append(said)
                os.chdir("/")
        if not isinstance(thing, type) and parameters.get(name):
            replayed = Replayed(name, thing, parameters[name])
            setattr(owner, word, replayed)
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                run(examples_in(name, own_docstring(thing)), "cpu")
                os.chdir("/")
            setattr(owner, word, thing)
            failed += replayed.failed[:1]
            calls += replayed.calls
    print(f"{calls} calls were done again, {len(failed)} failed", "\n".join(failed), sep="\n")
    return len(failed) != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
