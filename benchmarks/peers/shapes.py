"""JAX's, NumPy's and DUCC's side of the shapes of work: the server, and the inputs that Weft describes to it.

A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON line; the line "check" asks for
what the results are like.

    shapes.py jax|numpy|ducc NAME [INPUT..]    an INPUT is KIND:SIZExSIZE..:LOW:HIGH, as WorkInputs.h writes it
"""

import importlib
import json
import math
import sys
import time

import numpy as np

SAMPLES = 16


def mixed_bits(i, place):
    """32 well mixed bits for each of `i`, as mixed_bits in WorkInputs.h."""
    x = i.astype(np.uint32) + np.uint32((place + 1) * 0x9E3779B9 % 2**32)
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def uniform(i, place, low, high):
    """A number in [low, high) for each of `i`, as uniform_at in WorkInputs.h."""
    return low + (high - low) * ((mixed_bits(i, place) >> np.uint32(8)) * 2.0**-24)


def made_input(text, place):
    """The array that `text` describes; floats_of and indices_of in WorkInputs.h make the same."""
    kind, sizes, low, high = text.split(":")
    shape = [int(n) for n in sizes.split("x")]
    low, high, size = float(low), float(high), math.prod(shape)
    i = np.arange(size, dtype=np.int64)
    if kind == "index":
        return ((mixed_bits(i, place).astype(np.uint64) * np.uint64(high)) >> np.uint64(32)).astype(np.int64).reshape(shape)
    if kind == "definite":
        row, column = i // shape[-1], i % shape[-1]
        at = np.maximum(row, column) * shape[-1] + np.minimum(row, column)
        return uniform(at, place, low, high).reshape(shape) + shape[-1] * np.eye(shape[-1])
    if kind == "c128":
        return (uniform(2 * i, place, low, high) + 1j * uniform(2 * i + 1, place, low, high)).reshape(shape)
    if kind in ("uniform", "f64"):
        return uniform(i, place, low, high).astype(np.float32 if kind == "uniform" else np.float64).reshape(shape)
    assert kind == "distinct", kind
    bits, mask = size.bit_length() - 1, np.uint32(size - 1)
    x = i.astype(np.uint32) ^ (mixed_bits(i[:1], place) & mask)
    for _ in range(3):
        x = ((x ^ (x >> np.uint32(bits // 2))) * np.uint32(0x2C1B3C6D)) & mask
    return (x / float(size)).astype(np.float32).reshape(shape)


def digest(result):
    """What Weft compares of a result."""
    array = np.asarray(result)
    if np.iscomplexobj(array):
        array = np.stack([array.real, array.imag], -1)
    flat = array.astype(np.float64).ravel()
    at = np.arange(SAMPLES) * (flat.size - 1) // (SAMPLES - 1)
    samples = [float(x) for x in flat[at]]
    return {"shape": list(array.shape), "sum": float(flat.sum()), "magnitude": float(np.abs(flat).sum()), "samples": samples}


def seconds_per_call(body, budget=0.1):
    """Calls `body` in growing batches until one took `budget` seconds: the seconds of one call in it."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            body()
        spent = time.perf_counter() - start
        if spent >= budget:
            return spent / count
        count *= 8 if spent < budget / 16 else 2


def main():
    library, name, *inputs = sys.argv[1:]
    work = importlib.import_module("shapes_" + library)
    call, unit = work.prepared(name, [made_input(text, place) for place, text in enumerate(inputs)])
    if unit == "us":
        seconds_per_call(call)  # what is called first compiles, and wakes threads
    for line in sys.stdin:
        if line.strip() == "check":
            results = getattr(call, "check", call)()
            answer = {"results": [digest(x) for x in (results if isinstance(results, (tuple, list)) else (results,))]}
        elif unit == "us":
            answer = {"value": 1e6 * seconds_per_call(call), "unit": unit}
        else:
            answer = {"value": call(), "unit": unit}
        print(json.dumps({**answer, "with": work.WITH}), flush=True)


if __name__ == "__main__":
    main()
