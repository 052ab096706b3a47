"""IREE's side of the compiled rows: the training step of the small classifier, and a call of x + y on 8 floats.

The program is the one JAX traces (jax_mlp.py), exported as StableHLO and compiled for this machine's processor. The time
is what iree-benchmark-module prints, IREE's own C program around its C runtime, on the better of its two CPU devices:
local-sync runs everything on the calling thread, local-task uses one thread per core.

A line server (docs/benchmarks.md): each line on stdin asks for one repeat, answered by one JSON line.

    iree_compiled.py step    microseconds of one training step
    iree_compiled.py add     nanoseconds of one call of x + y
"""

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp

import jax_mlp

BIN = os.path.dirname(sys.executable)
DEVICES = ("local-sync", "local-task")
NANOSECONDS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def program(what):
    """The StableHLO text and the literal of each argument, in the order of the flattened tree."""
    if what == "add":
        example = (jnp.ones(8), jnp.ones(8))
        lowered = jax.jit(lambda x, y: x + y).lower(*example)
    else:
        example = (jax_mlp.initial_state(), *jax_mlp.batch())
        lowered = jax.jit(jax_mlp.train_step).lower(*example)
    return lowered.as_text(), [literal(leaf) for leaf in jax.tree.leaves(example)]


def literal(leaf):
    """`64x128xf32=0.01`: a constant tensor. Any ordinary values take the same time."""
    kind = {"float32": "f32=0.01", "int32": "i32=3"}[leaf.dtype.name]
    return "x".join([*map(str, leaf.shape), kind])


def compile_program(text, folder):
    source, module = os.path.join(folder, "in.mlir"), os.path.join(folder, "out.vmfb")
    with open(source, "w") as file:
        file.write(text)
    subprocess.run(
        [
            os.path.join(BIN, "iree-compile"),
            "--iree-hal-target-device=local",
            "--iree-hal-local-target-device-backends=llvm-cpu",
            "--iree-llvmcpu-target-cpu=host",
            source,
            "-o",
            module,
        ],
        check=True,
    )
    return module


def nanoseconds(module, inputs, device):
    output = subprocess.run(
        [
            os.path.join(BIN, "iree-benchmark-module"),
            "--module=" + module,
            "--function=main",
            "--device=" + device,
            "--benchmark_format=json",
            "--benchmark_min_time=0.2s",
            *["--input=" + value for value in inputs],
        ],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ).stdout
    row = json.loads(output)["benchmarks"][0]
    return row["real_time"] * NANOSECONDS[row["time_unit"]]


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else "step"
    scale, unit = {"add": (1.0, "ns"), "step": (1e-3, "us")}[what]
    text, inputs = program(what)
    version = importlib.metadata.version("iree-base-runtime")
    with tempfile.TemporaryDirectory() as folder:
        module = compile_program(text, folder)
        for _ in sys.stdin:
            time, device = min((nanoseconds(module, inputs, device), device) for device in DEVICES)
            name = f"IREE {version} {device}"
            print(json.dumps({"value": time * scale, "unit": unit, "with": name}), flush=True)


if __name__ == "__main__":
    main()
