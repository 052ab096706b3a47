"""Times of eager calls from Python against NumPy's, and with a tape against PyTorch's where that is installed.

Usage: PYTHONPATH=build/release/python build/venv/bin/python benchmarks/python/eager.py [--json]

Rounds of Weft and of the peer alternate in one process; a row is the median of their CPU time per call, in nanoseconds, the ratio
of the two, and the ratio or time that is the mark.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
import timeit

import numpy as np

import weft as wf

ROUNDS, CALLS = 15, 20_000


def nanoseconds(statements, names):
    """The median time per call of each statement, of rounds that alternate."""
    timers = [timeit.Timer(statement, globals=names, timer=time.process_time) for statement in statements]
    for timer in timers:
        timer.timeit(CALLS)
    rounds = [[timer.timeit(CALLS) / CALLS * 1e9 for timer in timers] for _ in range(ROUNDS)]
    return [statistics.median(times) for times in zip(*rounds)]


def against_numpy():
    a = np.arange(8, dtype="f4")
    b = a + 1
    names = {"wf": wf, "np": np, "a": a, "b": b, "x": wf.tensor(a), "y": wf.tensor(b), "m": wf.ones((64, 64)), "n": np.ones((64, 64), "f4")}
    for name, ours, theirs, mark in (
        ("add of 8 floats", "x + y", "a + b", 0.4),
        ("add of a number to 8 floats", "x + 1.0", "a + 1.0", 0.4),
        ("add of 8 floats, as a function", "wf.add(x, y)", "np.add(a, b)", 0.4),
        ("sum of 8 floats", "wf.sum(x)", "np.sum(a)", None),
        ("add of 64 x 64 floats", "m + m", "n + n", None),
        ("product of 64 x 64 matrices", "m @ m", "n @ n", None),
        ("the first element", "x[0]", "a[0]", None),
        ("a slice", "x[1:5]", "a[1:5]", None),
    ):
        weft, numpy = nanoseconds([ours, theirs], names)
        yield {"name": name, "weft_ns": weft, "peer": "NumPy", "peer_ns": numpy, "ratio": weft / numpy, "mark_ratio": mark}
    taken, theirs = nanoseconds(["wf.from_dlpack(a)", "np.from_dlpack(a)"], names)
    yield {"name": "DLPack from NumPy", "weft_ns": taken, "peer": "NumPy", "peer_ns": theirs, "ratio": taken / theirs, "mark_ns": 300}


def with_a_tape():
    x, y = wf.arange(8.0), wf.ones(8)
    tape = wf.GradientTape(persistent=True)
    with tape:
        tape.watch(x)

        def round_of(calls):
            """Recording grows the tape: it begins anew after each round."""
            timer = timeit.Timer("x + y", globals={"x": x, "y": y}, timer=time.process_time)
            taken = timer.timeit(calls) / calls * 1e9
            tape.reset()
            tape.watch(x)
            return taken

        weft = statistics.median(round_of(2000) for _ in range(5 * ROUNDS))
    row = {"name": "add of 8 floats with a tape", "weft_ns": weft, "peer": "PyTorch", "mark_ratio": 0.15}
    try:
        import torch
    except ImportError:
        return row
    torch.set_num_threads(1)
    a = torch.arange(8.0, requires_grad=True)
    (torch_ns,) = nanoseconds(["a + b"], {"a": a, "b": torch.ones(8)})
    return row | {"peer_ns": torch_ns, "ratio": weft / torch_ns}


def of_imports():
    """The time that `import weft` takes in a new process, and JAX's where that is installed."""

    def milliseconds(module):
        program = f"import time; t = time.perf_counter(); import {module}; print((time.perf_counter() - t) * 1e3)"
        times = []
        for _ in range(7):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
            if done.returncode != 0:
                return None
            times.append(float(done.stdout))
        return statistics.median(times)

    weft, jax = milliseconds("weft"), milliseconds("jax")
    row = {"name": "import", "weft_ns": weft * 1e6, "peer": "JAX", "mark_ns": 120e6, "mark_ratio": 0.15}
    return row | {"peer_ns": jax * 1e6, "ratio": weft / jax} if jax else row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    rows = [*against_numpy(), with_a_tape(), of_imports()]
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        peer = f"{row['peer_ns']:12,.0f} {row['peer']}  ratio {row['ratio']:.3f}" if "peer_ns" in row else f"{'':>12} {row['peer']} is not here"
        marks = [f"at most {row['mark_ratio']}"] if row.get("mark_ratio") else []
        marks += [f"under {row['mark_ns']:,.0f} ns"] if row.get("mark_ns") else []
        print(f"{row['name']:32} {row['weft_ns']:12,.0f} ns {peer}  {', '.join(marks)}")


if __name__ == "__main__":
    main()
