"""A transformer block that is cut over the ranks of a mesh, beside the whole one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BLOCK = """
import sys
import numpy as np
import weft as wf
d = wf.distributed
world = d.init()
mesh = d.Mesh({"data": int(sys.argv[1]), "model": -1})
model, data = mesh.group("model"), mesh.group("data")
draw = np.random.default_rng(1)
SIZE, DEPTH, HIDDEN = 16, 4, 32
def weights(*shape): return wf.tensor(draw.normal(size=shape).astype(np.float32) * 0.3)
names = ["norm1", "query", "key", "value", "output", "bias2", "norm2", "inner", "bias1", "outer"]
whole = [weights(SIZE), weights(SIZE, SIZE), weights(SIZE, SIZE), weights(SIZE, SIZE), weights(SIZE, SIZE), weights(SIZE),
         weights(SIZE), weights(SIZE, HIDDEN), weights(HIDDEN), weights(HIDDEN, SIZE)]
cut = dict(query=1, key=1, value=1, output=0, inner=1, bias1=0, outer=0)
x, target = weights(4, 6, SIZE), weights(4, 6, SIZE)
def normalized(x, scale):
    x = x - wf.mean(x, -1, keepdims=True)
    return x * scale / wf.sqrt(wf.mean(x * x, -1, keepdims=True) + 1e-5)
def heads(x): return wf.transpose(wf.reshape(x, [x.shape[0], 6, -1, DEPTH]), [0, 2, 1, 3])
def block(x, w, begin, end):
    norm1, query, key, value, output, bias2, norm2, inner, bias1, outer = w
    a = begin(normalized(x, norm1))
    mixed = wf.nn.attention(heads(a @ query), heads(a @ key), heads(a @ value))
    y = x + end(wf.reshape(wf.transpose(mixed, [0, 2, 1, 3]), [x.shape[0], 6, -1]) @ output) + bias2
    b = begin(normalized(y, norm2))
    return y + end(wf.nn.gelu(b @ inner + bias1) @ outer)
def step(begin, end):
    def step(x, target, *w):
        with wf.GradientTape() as tape:
            tape.watch([x, *w])
            y = block(x, w, begin, end)
            loss = wf.mean((y - target) ** 2)
        return y, tape.gradient(loss, [x, *w])
    return wf.function(step)
y, (dx, *dw) = step(lambda a: a, lambda a: a)(x, target, *whole)
# This rank's heads and hidden units, and its rows of the batch.
own = [d.split(w, mesh, cut[name], "model") if name in cut else w for name, w in zip(names, whole)]
rows, goal = (d.split(t, mesh, 0, "data") for t in (x, target))
cut_step = step(lambda a: d.vary(a, model), lambda a: d.all_reduce(a, group=model, same=True))
y_own, (dx_own, *dw_own) = cut_step(rows, goal, *own)
dw_own = [d.all_reduce(g, "mean", group=data) for g in dw_own]
def near(what, got, expected):
    off = float(wf.max(wf.abs(got - expected)).item()) / float(wf.max(wf.abs(expected)).item())
    assert got.shape == expected.shape and off < 2e-5, (what, off)
near("y", y_own, d.split(y, mesh, 0, "data"))
near("dx", dx_own / mesh.size("data"), d.split(dx, mesh, 0, "data"))
for name, got, expected in zip(names, dw_own, dw):
    near(name, got, d.split(expected, mesh, cut[name], "model") if name in cut else expected)
# Where no contraction is cut the bits are those of the uncut block: its first products, and all of it if one rank has all of the model.
a = normalized(rows, own[0])
for i in (1, 2, 3):
    part = d.all_gather(wf.function(lambda a, w: a @ w)(d.vary(a, model), own[i]), 2, model, same=True)
    assert np.array_equal(np.asarray(part), np.asarray(wf.function(lambda a, w: a @ w)(a, whole[i]))), i
if mesh.size("model") == 1:
    assert np.array_equal(np.asarray(y_own), np.asarray(d.split(y, mesh, 0, "data")))
# The same block, uncut, of which each rank has whole weights, or its parts of them: the compiler cuts the work.
def shards(name): return (None,) * cut[name] + ("model",)
def sharded(x, target, *w):
    return whole_step(d.shard(x, mesh, ("data",)), target, *[d.shard(t, mesh, shards(name)) if name in cut else t for name, t in zip(names, w)])
def parted_with_gradients(x, target, *w):
    with wf.GradientTape() as tape:
        tape.watch([x, *w])
        y = whole_block(d.shard(x, mesh, ("data",)), [d.all_gather(t, cut[name], model, same=True) if name in cut else t for name, t in zip(names, w)])
        loss = wf.mean((y - target) ** 2)
    return y, tape.gradient(loss, [x, *w])
whole_step = step(lambda a: a, lambda a: a)
def whole_block(x, w): return block(x, w, lambda a: a, lambda a: a)
y_cut, (dx_cut, *dw_cut) = wf.function(sharded)(x, target, *whole)
for name, got, expected in zip(["y", "dx", *names], [y_cut, dx_cut, *dw_cut], [y, dx, *dw]): near("shard " + name, got, expected)
with_parts = wf.function(parted_with_gradients)
y_cut, (dx_cut, *dw_cut) = with_parts(x, target, *own)
for name, got, expected in zip(["y", "dx", *names], [y_cut, dx_cut, *dw_cut], [y, dx, *dw]):
    near("parts " + name, got, d.split(expected, mesh, cut[name], "model") if name in cut else expected)
def collectives(text): return [line for line in text.splitlines() if any(word in line for word in ("weft.all_", "weft.reduce_scatter", "weft.broadcast_rank"))]
if mesh.size("data") == 1 and mesh.size("model") > 1:
    text = with_parts.ir(x, target, *own, phase="differentiate")
    assert len(collectives(text)) == 4 == text.count("weft.all_reduce_sum"), text
text = cut_step.ir(rows, goal, *own, phase="simplify")
sums = [line for line in text.splitlines() if "weft.all_reduce_sum" in line]
others = collectives(text)
sys.stdout.write(f"{world.rank}: {len(sums)} sums of {len(others)} collectives\\n")
"""


@pytest.mark.parametrize(("data", "model"), [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4)])
def test_a_transformer_block_that_is_cut(tmp_path: Path, data: int, model: int) -> None:
    """Over heads, hidden units and rows: values and gradients of the whole one, and four sums over the axis of the model."""
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "block.py"
    script.write_text(BLOCK)
    start = ["mpirun", "-n", str(data * model), "--oversubscribe", "--bind-to", "none", "--allow-run-as-root"] if data * model > 1 else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WEFT_NUM_THREADS": "1"}
    done = subprocess.run([*start, sys.executable, str(script), str(data)], env=environment, capture_output=True, text=True,
                          timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # Two in the block, two in its reverse.
    assert sorted(done.stdout.split("\n")[:-1]) == [f"{rank}: 4 sums of 4 collectives" for rank in range(data * model)], done.stdout


SAME = """
import sys
import weft as wf
d = wf.distributed
world = d.init()
mesh = d.Mesh({"m": -1})
group = mesh.group("m")
same = [wf.tensor([1.0, float("nan"), 3.0, 4.0]), wf.tensor([True, False]), wf.tensor([1 + 2j, 3j]), wf.tensor([7, 8], dtype="uint8"),
        wf.tensor([1.0, 2.0], dtype="float8_e5m2"), wf.tensor([1.0, 2.0], dtype="bfloat16")]
own = wf.tensor([1.0, 2.0]) + float(world.rank)
calls = dict(vary=lambda x: d.vary(x, group), split=lambda x: d.split(x, mesh, 0, "m"), shard=lambda x: d.shard(x, mesh, ("m",)))
for name, call in calls.items():
    for f in (call, wf.function(call)):
        for x in same: f(x)
        try: f(own)
        except AssertionError as error: assert f"{name}: x differs between ranks" in str(error) and "tensor([1, 2]" in str(error) and "tensor([2, 3]" in str(error), error
        else: raise SystemExit(name + " of what differs")
slope = wf.grad(lambda x: wf.sum(d.vary(x, group) ** 2))(wf.tensor([1.0, 2.0]))
assert slope.tolist() == [4.0, 8.0], slope
sys.stdout.write("done\\n")
"""


def test_what_is_to_be_the_same_is_compared_where_that_is_asked_for(tmp_path: Path) -> None:
    """WEFT_CHECK_SAME: all ranks hear of what differs, at once and in traced functions; NaN is the same as NaN."""
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "same.py"
    script.write_text(SAME)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WEFT_CHECK_SAME": "1"}
    done = subprocess.run(["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "--allow-run-as-root", sys.executable, str(script)],
                          env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "done\ndone\n", done.stdout + done.stderr
