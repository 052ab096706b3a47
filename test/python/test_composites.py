"""The functions made of ops: every sample of every record against NumPy, and the same bits eager, compiled, with open
sizes, under a tape and mapped over; derivatives against differences."""

import ast
import functools
import inspect
import json
import operator
import os
import re
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import weft as wf

BUILD = Path(wf._weft.__file__).resolve().parents[2]
SAMPLES = BUILD / "generated/test/composites.json"
NAMES = wf._weft._composites
RECORDS = {record["name"]: record for record in json.loads(SAMPLES.read_text())} if SAMPLES.exists() else {}
NULL = {"null": None, "true": True, "false": False}


@functools.cache
def oracle():
    """What test/Oracle/every-op.py has, without the program that it is."""
    path = Path(__file__).resolve().parents[1] / "Oracle/every-op.py"
    sys.path.append(str(path.parent / "Inputs"))
    tree = ast.parse(path.read_text())
    tree.body = tree.body[:-1]
    names = {"__file__": str(path)}
    exec(compile(tree, str(path), "exec"), names)
    return names


def calls(record):
    """Arguments by name, of operands and others, what NumPy gives, and how far off it may be."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = list(oracle()["cases_of"](record))
    words = [values for _, values in record["samples"]]
    assert len(cases) % len(words) == 0
    each = len(cases) // len(words)
    for number, case in enumerate(cases):
        operands = dict(zip([operand["name"] for operand in record["operands"]], case.operands, strict=False))
        if record["operands"][0]["variadic"]:
            operands = {record["operands"][0]["name"]: case.operands}
        others = {
            attribute["python"]: NULL[word] if word in NULL else ast.literal_eval(word)
            for attribute, word in zip(record["attributes"], words[number // each], strict=True)
        }
        yield case, operands, others


def called(record, operands, others):
    """What the function gives; the elements of several tensors in a row, as the records' oracle has them."""
    first = record["operands"][0]
    if first["rest"]:  # by position, behind the text that says what they are
        texts = [others[x["python"]] for x in record["attributes"] if x["kind"] == "text"]
        words = {x["python"]: others[x["python"]] for x in record["attributes"] if x["kind"] != "text"}
        found = function_of(record["name"])(*texts, *operands[first["name"]], **words)
    else:
        if record["pair"]:  # as another function gives it
            names = list(operands)
            operands = {record["pair"]: (operands[names[0]], operands[names[1]]), **{name: operands[name] for name in names[2:]}}
        found = function_of(record["name"])(**operands, **others)
    if isinstance(found, wf.Tensor):
        return found
    dtype = next((x.dtype for x in found if wf.isdtype(x.dtype, "complex floating")), found[0].dtype)
    return wf.concatenate([wf.cast(wf.reshape(x, -1), dtype) for x in found])


def function_of(name):
    """The function of that name, "linalg.qr" of a module."""
    return operator.attrgetter(name)(wf)


def bits(x):
    array = np.asarray(x)
    return array.dtype, array.shape, np.where(array != array, np.nan, array).tobytes()


def test_every_function_has_a_signature_and_samples():
    assert len(NAMES) > 20
    for name in NAMES:
        function = function_of(name)
        assert f"{function.__module__}.{function.__name__}" == f"weft.{name}"
        assert list(inspect.signature(function).parameters), name
    if RECORDS:
        assert set(NAMES) == set(RECORDS)


@pytest.mark.parametrize("name", list(RECORDS))
def test_as_numpy_has_it(name):
    record = RECORDS[name]
    for case, operands, others in calls(record):
        got = np.asarray(called(record, operands, others))
        wrong = oracle()["compare"](case, got)
        assert wrong is None, f"{[(x.dtype, x.shape) for x in case.operands]} {others}: {wrong}"


def some(record):
    """A few calls: of shapes that are not long in one dtype, and one of every dtype and of all other arguments; a third of them where
    there is no time for long tests, beginning with the first, second or third."""
    chosen = list(calls_of_short_shapes(record))
    every = 1 if "WEFT_LONG_TESTS" in os.environ or len(chosen) < 4 else 3
    return chosen[len(record["name"]) % every :: every]


def calls_of_short_shapes(record):
    seen, shapes = set(), set()
    for _, operands, others in calls(record):
        arrays = next(iter(operands.values())) if isinstance(next(iter(operands.values())), list) else [*operands.values()]
        shape, rest = tuple(x.shape for x in arrays), (*(x.dtype for x in arrays), str(others))
        if max(x.size for x in arrays) > 1500 or (rest in seen and (shape in shapes or len(shapes) > 5)):
            continue
        seen.add(rest)
        shapes.add(shape)
        yield [wf.tensor(x) for x in arrays], others


def with_names(record, tensors):
    """The operands of a call by their names."""
    names = [operand["name"] for operand in record["operands"]]
    return {names[0]: tensors} if record["operands"][0]["variadic"] else dict(zip(names, tensors, strict=True))


def cotangent_of(y):
    return wf.cos(wf.reshape(wf.cast(wf.arange(y.size), y.dtype), y.shape))


@pytest.mark.parametrize("name", list(RECORDS))
def test_the_same_bits_every_way(name):
    record = RECORDS[name]
    for tensors, others in some(record):

        def call(given, others=others):
            return called(record, with_names(record, given), others)

        expected = call(tensors)
        by_values = others.get("size", 0) is None
        assert bits(wf.function(call)(tensors)) == bits(expected), (tensors, others)
        if tensors[0].dtype.is_floating and expected.dtype.is_floating:

            def gradients(given, call=call):
                with wf.GradientTape() as tape:
                    for x in given:
                        tape.watch(x)
                    y = call(given)
                found = tape.gradient(y, given, cotangent_of(expected))
                return [y] + [wf.zeros_like(x) if g is None else g for g, x in zip(found, given, strict=True)]

            under, compiled = gradients(tensors), wf.function(gradients)(tensors)
            assert bits(under[0]) == bits(expected)
            for one, other in zip(under, compiled, strict=True):
                np.testing.assert_allclose(other.numpy(), one.numpy(), rtol=1e-5, atol=1e-6)
        if by_values:
            with pytest.raises(wf.StateError, match="differ by member|as large as its values say"):
                wf.vmap(call)([wf.stack([x, x]) for x in tensors])
        elif all(x.ndim == tensors[0].ndim for x in tensors):  # members have axes of their own
            mapped = wf.vmap(call)([wf.concatenate([wf.expand_dims(x, 0)] * 2) for x in tensors])
            for member in range(2):
                assert bits(mapped[member]) == bits(expected), (tensors, others)
        open_sizes = [wf.TensorSpec([None] * x.ndim, x.dtype) for x in tensors]
        if all(x.shape == tensors[0].shape for x in tensors):  # sizes that are not known do not stretch
            try:
                got = wf.function(call, input_signature=[open_sizes])(tensors)
            except wf.ShapeError as error:
                assert re.search("known|out of range for x, whose size", str(error)), error
                continue
            if name == "squeeze" and others["axis"] is None:  # of axes of sizes that are not known none is of size 1
                got = wf.reshape(got, expected.shape)
            assert bits(got) == bits(expected), (tensors, others)


DIFFERENTIATED = [name for name, record in RECORDS.items() if "f64" in record["operands"][0]["dtypes"] and record["domain"] != "nowhere"]


@pytest.mark.parametrize("name", DIFFERENTIATED)
def test_derivatives(name):
    """In float64 against differences, away from points without a derivative."""
    record = RECORDS[name]
    low, high = (1.1, 1.9) if record["domain"] == "positive" else (0.1, 0.9)
    rng = np.random.default_rng(5)
    _, given, others = next(call for call in calls(record) if call[0].operands[0].shape != ())
    given = [x for x in given.values() for x in (x if isinstance(x, list) else [x])]
    roles = [operand["role"] for operand in record["operands"]] + ["value"] * len(given)
    operands = [rng.uniform(low, high, x.shape) if role == "value" else x for x, role in zip(given, roles, strict=False)]
    if record["domain"] in ("regular", "definite"):  # square matrices
        operands = [x + 2 * np.eye(x.shape[-1]) if x.shape[-2:-1] == x.shape[-1:] else x for x in operands]
    if record["domain"] == "definite":
        operands[0] = (operands[0] + np.swapaxes(operands[0], -1, -2)) / 2

    def loss(*xs):
        y = called(record, with_names(record, list(xs)), others)
        return wf.sum(wf.cast(y, "float64") * cotangent_of(wf.cast(y, "float64")))

    tensors = [wf.tensor(x) for x in operands]
    floating = called(record, with_names(record, tensors), others).dtype.is_floating
    numbers = tuple(i for i, x in enumerate(tensors) if x.dtype.is_floating)
    found = dict(zip(numbers, wf.grad(loss, numbers)(*tensors), strict=True)) if floating else {}
    for i, gradient in found.items():
        for at in np.ndindex(operands[i].shape):
            slopes = []
            for step in (1e-6, -1e-6):
                moved = [x.copy() for x in operands]
                moved[i][at] += step
                slopes.append(float(loss(*map(wf.tensor, moved))))
            slope = (slopes[0] - slopes[1]) / 2e-6
            assert gradient.numpy()[at] == pytest.approx(slope, rel=1e-5, abs=1e-6), (i, at)
