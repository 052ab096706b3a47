"""Groups and collectives in a world of one, and in two processes where an MPI launcher is there."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import weft as wf

TWO = """
import sys
import weft as wf
world = wf.distributed.init()
rank, size = world.rank, world.size
d = wf.distributed
x = wf.tensor([1.0, 2.0]) * (rank + 1)
assert repr(world) == f"Group(rank={rank}, size=2)"
assert d.all_reduce(x).tolist() == [3.0, 6.0]
assert d.all_reduce(x, "mean").tolist() == [1.5, 3.0]
assert d.all_reduce(x, "max", group=world.split(rank)).tolist() == x.tolist()
assert d.all_gather(x).tolist() == [1.0, 2.0, 2.0, 4.0]
assert d.reduce_scatter(x).tolist() == [3.0 * (rank + 1)]
assert d.broadcast(x, root=1).tolist() == [2.0, 4.0]
assert d.permute(x, [(0, 1)]).tolist() == ([0.0, 0.0] if rank == 0 else [1.0, 2.0])
@wf.function
def traced(x):
    with wf.GradientTape() as tape:
        tape.watch(x)
        y = wf.sum(d.all_reduce(x * x) * (rank + 1))
    return d.all_gather(wf.reshape(y, [1])), tape.gradient(y, [x])[0]
y, g = traced(x)
assert y.tolist() == [25.0, 50.0]
assert g.tolist() == [6.0 * v for v in x.tolist()]
mesh = d.Mesh({"data": -1, "model": 2})
assert repr(mesh) == "Mesh(data=1, model=2)" and mesh.coordinate("model") == rank
assert d.all_reduce(x, group=mesh.group("model")).tolist() == [3.0, 6.0]
assert d.all_reduce(x, group=mesh.group("data")).tolist() == x.tolist()
assert wf.function(lambda x: d.all_gather(x, group=mesh.group(("data", "model"))))(x).tolist() == [1.0, 2.0, 2.0, 4.0]
begin, end = world.share(5)
assert d.all_reduce_replicas(wf.ones([end - begin, 3]), 5).tolist() == [5.0] * 3
if rank == 0:
    d.send([1, 2, 3], 1)
else:
    assert d.recv(0).tolist() == [1, 2, 3]
try:
    d.all_reduce(wf.ones(2 + rank))
except wf.ShapeError as error:
    print(f"rank {rank}: {error}", flush=True)
if rank == 1:
    raise KeyError("no such file")
try:
    while True:
        d.barrier()
except wf.PeerError as error:
    print(f"rank {rank}: {error}", flush=True)
"""


def test_a_world_of_one() -> None:
    world = wf.distributed.init()
    assert (world.rank, world.size) == (0, 1)
    assert world.share(7) == (0, 7)
    assert world.split(0).size == 1
    x = wf.tensor([[1.0, 2.0]])
    assert wf.distributed.all_reduce(x, group=world).tolist() == x.tolist()
    assert wf.distributed.all_to_all(x, 0, 1).tolist() == x.tolist()


def test_wrong_arguments() -> None:
    d = wf.distributed
    with pytest.raises(wf.ValueError, match="all_reduce: reduction is 'sun'"):
        d.all_reduce(1.0, "sun")
    with pytest.raises(wf.DTypeError, match="all_reduce: group is a int: a weft.distributed.Group is wanted"):
        d.all_reduce(1.0, group=3)  # type: ignore[arg-type]
    with pytest.raises(wf.OutOfRangeError, match="broadcast: root 1000000000000 is no rank|broadcast: root 2147483647 is no rank"):
        d.broadcast(1.0, 10**12)
    with pytest.raises(wf.ValueError, match="init: there is no engine 'nccl'"):
        d.init("nccl")


def test_meshes() -> None:
    d = wf.distributed
    mesh = d.Mesh({"data": 1, "model": -1})
    assert (mesh.axes, mesh.shape) == (("data", "model"), (1, 1))
    assert repr(mesh) == "Mesh(data=1, model=1)"
    assert mesh.coordinate("data") == 0
    assert mesh.size("model") == mesh.size(["data", "model"]) == mesh.group(("data", "model")).size == 1
    wrong: list[tuple[type[Exception], object, str]] = [
        (wf.ValueError, {"data": 2, "model": 2}, "Mesh: data = 2, model = 2 are 4 ranks, and there are 1 ranks: sizes of which 1"),
        (wf.ValueError, {"data": 2}, "Mesh: data = 2 are 2 ranks, and there are 1 ranks: data = 1 would fit"),
        (wf.ValueError, {}, "Mesh: there is no axis"),
        (wf.ValueError, {"data": -2}, "Mesh: axis 'data' has size -2: 1 or more is wanted, or -1"),
        (wf.DTypeError, [("data", 1)], "Mesh: axes is a list: a dict of names and sizes is wanted"),
        (wf.DTypeError, {"data": 1.0}, "Mesh: the size of axis 'data' is a float: an int is wanted"),
        (wf.DTypeError, {"data": True}, "Mesh: the size of axis 'data' is a bool: an int is wanted"),
        (wf.DTypeError, {1: 1}, "Mesh: a name of an axis is a int: a str is wanted"),
    ]
    for error, axes, words in wrong:
        with pytest.raises(error, match=re.escape(words)):
            d.Mesh(axes)  # type: ignore[arg-type]
    with pytest.raises(wf.ValueError, match="group: the mesh has no axis 'modle': it has 'data' and 'model'"):
        mesh.group("modle")
    with pytest.raises(wf.ValueError, match="size: axis 'data' is there twice"):
        mesh.size(("data", "data"))
    with pytest.raises(wf.DTypeError, match="group: the axes are a int: a name, or a tuple of names, is wanted"):
        mesh.group(3)  # type: ignore[arg-type]


def test_traced_and_differentiated() -> None:
    d = wf.distributed
    w = wf.Variable([1.0, 2.0])

    @wf.function
    def step(x: wf.Tensor) -> tuple[wf.Tensor, wf.Tensor]:
        with wf.GradientTape() as tape:
            loss = wf.sum(d.all_reduce(w * w * x, "mean"))
        d.barrier()
        return d.all_reduce(loss), d.all_reduce(tape.gradient(loss, [w])[0], "mean")

    loss, gradient = step(wf.tensor([3.0, 4.0]))
    assert loss.item() == 19.0
    assert gradient.tolist() == [6.0, 16.0]
    with wf.GradientTape() as tape:
        value = wf.sum(d.all_gather(w * 2.0))
    assert tape.gradient(value, [w])[0].tolist() == [2.0, 2.0]
    with pytest.raises(wf.ValueError, match=r"test_distributed.py:\d+: all_reduce: cond \(test_distributed.py:\d+\) decides whether"):
        wf.function(lambda x: wf.cond(wf.sum(x) > 0, lambda: d.all_reduce(x), lambda: x))(wf.ones(2))
    with pytest.raises(wf.StateError, match="recv: collectives run at once and are no part of traced functions"):
        wf.function(lambda x: d.recv(0))(wf.ones(2))


def test_two_processes(tmp_path: Path) -> None:
    mpirun = shutil.which("mpirun")
    if mpirun is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "two.py"
    script.write_text(TWO)
    options = ["--oversubscribe", "--bind-to", "none", "--allow-run-as-root"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WEFT_NUM_THREADS": "1"}
    done = subprocess.run([mpirun, "-n", "2", *options, sys.executable, str(script)], env=environment,
                          capture_output=True, text=True, timeout=100, check=False)
    text = done.stdout + done.stderr
    reduces, waits = (1 + next(i for i, line in enumerate(TWO.splitlines()) if word in line) for word in ("2 + rank", "barrier"))
    for rank in range(2):
        said = f"rank 0 has (2,) (two.py:{reduces}) and rank 1 (3,) (two.py:{reduces})"
        assert f"rank {rank}: two.py:{reduces}: all_reduce: shapes differ between ranks: {said}" in text, text
    assert f"rank 0: two.py:{waits}: barrier: rank 1 (" in text, text
    assert ") failed: KeyError: 'no such file'" in text, text
    assert "AssertionError" not in text, text
    assert done.returncode != 0


TRAIN = """
import hashlib, sys
import numpy as np
import weft as wf
rank = wf.distributed.init().rank
class Error(wf.Module):
    def __init__(self):
        super().__init__()
        self.sum, self.count = wf.Variable(0.0, trainable=False), wf.Variable(0, trainable=False)
    def update(self, y, p):
        self.sum.assign_add(wf.sum(wf.abs(y - p)))
        self.count.assign_add(wf.cast(wf.size(y, 0), "int32"))
    def result(self):
        return self.sum.value() / wf.cast(self.count.value(), "float32")
    def reset(self):
        self.sum.assign(0.0)
        self.count.assign(0)
xs = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
ys = (xs @ [[2.0], [-1.0], [0.5]]).astype(np.float32)
def run(replicas, folder, pause=0, compile=True, more=()):
    wf.random.set_seed(3)
    model = wf.Sequential([wf.nn.Dense(8, activation="relu"), wf.nn.BatchNorm(), wf.nn.Dropout(0.2), wf.nn.Dense(1)])
    adam = wf.optimizers.Adam(0.01)
    def stop(run):
        run.pause = run.leads and run.epoch == pause
    history = wf.train.fit(
        model, wf.data.from_tensors(xs, ys).shuffle().batch(12), optimizer=adam, loss=wf.losses.mean_squared_error,
        metrics={"error": Error()}, validation=[[xs[:10], ys[:10]], [xs[10:], ys[10:]]], epochs=4, callbacks=[stop, *more],
        parallel=replicas, checkpoints=folder, compile=compile, progress=True)
    held = [each.shape for each in adam.state[1:]]
    adam.gather_state()
    bits = hashlib.sha256()
    for each in [*model.variables, *adam.state]:
        bits.update(np.asarray(each).tobytes())
    if pause: print(f"{rank} has {held}\\n", end="", flush=True)
    return [bits.hexdigest(), *(float(x).hex() for name in history.names() for x in history[name])]
"""


def trained_on(script: Path, ranks: int, what: str, bars: int) -> str:
    script.write_text(TRAIN + what)
    start = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", "--allow-run-as-root"] if ranks > 1 else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WEFT_NUM_THREADS": "1"}
    done = subprocess.run([*start, sys.executable, str(script)], env=environment, capture_output=True, text=True,
                          timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # Bars are those of one process.
    assert done.stderr.count("epoch 1/4") == bars, done.stderr
    return done.stdout


def test_training(tmp_path: Path) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    on = partial(trained_on, tmp_path / "train.py")
    whole = """
few = wf.train.Parallel(3, bucket_mib=1e-4, overlap=True)
results = run(few, None), run(2, None), run(few, None, compile=False)
if rank == 0: print(*results)
"""
    alone = on(1, whole, bars=3)
    compiled, _, eager = (part.split(", ") for part in alone.strip()[1:-1].split("] ["))
    assert compiled == eager and len(compiled) == 17
    assert on(2, whole, bars=3) == alone
    # Started by two ranks as two replicas, and gone on with by one.
    folder = str(tmp_path / "run")
    on(2, f"run(wf.train.Parallel(), {folder!r}, pause=2)", bars=1)
    again = on(1, f"print(run(wf.train.Parallel(), {folder!r}))", bars=0)
    assert again.strip() in alone
    refused = on(2, """
try:
    run(1, None)
except wf.ValueError as error:
    print(f"{rank}: {error}\\n", end="", flush=True)
try:
    run(2 + rank, None)
except wf.StateError as error:
    print(f"{rank}: {error}\\n", end="", flush=True)
def on_epoch_end(run):
    if rank == 1: raise KeyError("callback on rank 1")
try:
    wf.train.fit(
        wf.Sequential([wf.nn.Dense(1)]), [(xs[:4], ys[:4])], optimizer=wf.optimizers.SGD(0.1),
        loss=wf.losses.mean_squared_error, callbacks=[on_epoch_end], parallel=2, progress=False)
except wf.StateError as error:
    print(f"{rank}: {error}\\n", end="", flush=True)
except KeyError:
    print(f"{rank} has its own\\n", end="", flush=True)
print(f"{rank} done {wf.distributed.all_reduce(1).item()}\\n", end="", flush=True)
""", bars=0)
    for rank in range(2):
        assert re.search(rf"{rank}: train.py:\d+: fit: there are 2 ranks and 1 replica, which they share", refused), refused
        assert re.search(rf"{rank}: train.py:\d+: fit: ranks do not do the same: rank 0 has replicas = 2, and rank 1 replicas = 3", refused), refused
        assert f"{rank} done 2\n" in refused
    line = 1 + TRAIN.count("\n") + 10
    assert f"fit: rank 1: KeyError: 'callback on rank 1' (train.py:{line})\n" in refused, refused
    assert "1 has its own\n" in refused and "arguments differ" not in refused


def test_state_in_parts(tmp_path: Path) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    on = partial(trained_on, tmp_path / "train.py")
    folder = str(tmp_path / "run")
    # Of the 57 elements that Adam keeps twice, rank 0 has 29 and rank 1 28.
    saved = on(2, f"""
cut = wf.train.Parallel(2, shard_state="optimizer")
run(cut, {folder!r}, pause=2)
parts = wf.train.Parallel(2, shard_state="gradients"), wf.train.Parallel(2, shard_state="gradients", bucket_mib=1e-4, overlap=True)
weights = wf.train.Parallel(2, shard_state="weights")
results = run(2, None), run(cut, None), run(parts[0], None), run(parts[1], None, compile=False), run(weights, None), run(weights, None, compile=False)
if rank == 0: print(*results)
wf.distributed.barrier()
run(parts[0], {folder + "-2"!r}, pause=1)
try:
    run(wf.train.Parallel(2, shard_state="optimizer" if rank == 0 else None), None)
except wf.StateError as error:
    print(f"{{rank}}: {{error}}\\n", end="", flush=True)
class Centred(wf.optimizers.Adam):
    def apply_gradients(self, pairs): super().apply_gradients([(g - wf.mean(g), v) for g, v in pairs])
def own_updates():
    wf.train.fit(wf.Sequential([wf.nn.Dense(1)]), [(xs[:4], ys[:4])], optimizer=Centred(0.1), loss=wf.losses.mean_squared_error, parallel=parts[0], progress=False)
for wrong in (own_updates, lambda: wf.distributed.all_reduce(wf.ones(2), same=rank == 0)):
    try:
        wrong()
    except (wf.StateError, wf.ValueError) as error:
        print(f"{{rank}}: {{error}}\\n", end="", flush=True)
adam = wf.optimizers.Adam([wf.Variable([1.0, 2.0, 3.0])])
adam.shard_state()
print(f"{{rank}} keeps {{[each.shape for each in adam.state]}}\\n", end="", flush=True)
v = wf.Variable([1.0, 2.0, 3.0], name="v")
sgd = wf.optimizers.SGD([v], 1.0)
sgd.shard_state(weights=True)
sgd.apply_gradients([wf.ones(3)])
print(f"{{rank}} shows {{v}}: {{v.numpy().tolist()}}, {{wf.function(lambda: v * 2)().numpy().tolist()}}\\n", end="", flush=True)
try:
    wf.function(lambda: v.assign_add([1.0, 1.0, 1.0]))()
except wf.StateError as error:
    print(f"{{rank}}: {{error}}\\n", end="", flush=True)
sgd.gather_state()
print(f"{{rank}} shows {{v}}\\n", end="", flush=True)
for wrong in (lambda: wf.function(lambda: adam.apply_gradients([wf.ones(3)]))(), lambda: wf.optimizers.Lamb([wf.Variable([1.0])]).shard_state(), lambda: __import__("pickle").dumps(adam)):
    try:
        wrong()
    except (wf.StateError, wf.ValueError) as error:
        print(f"{{rank}}: {{error}}\\n", end="", flush=True)
""", bars=8)
    whole, *cut = re.findall(r"(?<=\[)'[0-9a-f]{64}', [^\]]*(?=\])", saved)
    assert cut == 5 * [whole]
    assert sorted(re.findall(r"\d keeps .*", saved)) == ["0 keeps [(), (2,), (2,)]", "1 keeps [(), (1,), (1,)]"], saved
    for rank in range(2):
        assert f"{rank} shows <weft.Variable 'v' cut over 2 ranks, shape=(3,), dtype=float32>: [0.0, 1.0, 2.0], [0.0, 2.0, 4.0]\n" in saved, saved
        assert f"{rank} shows <weft.Variable 'v' [0., 1., 2.], shape=(3,), dtype=float32>\n" in saved, saved
        assert re.search(rf"{rank}: train.py:\d+: assign_add: .*: the variable 'v' is cut over 2 ranks, which a traced function cannot assign", saved), saved
        held = re.search(rf"{rank} has \[(.*)\]", saved)
        assert held and sum(int(size) for size in re.findall(r"\((\d+),\)", held[1])) == 58 - 2 * rank, saved
        assert re.search(rf"{rank}: train.py:\d+: fit: ranks do not do the same: rank 0 has shard_state = optimizer, and rank 1 no shard_state", saved), saved
        assert re.search(rf"{rank}: train.py:\d+: Adam: the state is cut over 2 ranks, which a traced function cannot update", saved), saved
        assert re.search(rf"{rank}: train.py:\d+: fit: shard_state = 'gradients' or 'weights' gives an update .* and Centred has an apply_gradients of its own", saved), saved
        assert re.search(rf"{rank}: train.py:\d+: all_reduce: arguments differ between ranks: rank 0 has reduction = sum, same \(.*\) and rank 1 reduction = sum \(", saved), saved
        assert re.search(rf"{rank}: train.py:\d+: Adam: the state is cut over ranks, of which this one has a part: call gather_state\(\) .* before it is pickled", saved), saved
        assert re.search(rf"{rank}: train.py:\d+: Lamb: shard_state: an update takes norms of whole variables", saved), saved
    latest = wf.latest_checkpoint(folder)
    assert latest and latest.endswith("/ckpt-2/model.safetensors.index.json")
    index = json.loads(Path(latest).read_text())
    assert set(index["weight_map"].values()) == {"0-of-2.safetensors", "1-of-2.safetensors"}
    pieces = index["weft.pieces"]["optimizer.slots.m.0.kernel"]
    assert pieces["shape"] == [3, 8]
    # Other readers, and one process, have all of it.
    assert wf.io.load_safetensors(latest)["optimizer.slots.m.0.kernel"].shape == (3, 8)
    assert f"[{whole}]" in on(1, f"print(run(None or wf.train.Parallel(), {folder!r}))", bars=0)
    gone_on = on(2, f"""
result = run(wf.train.Parallel(shard_state="optimizer"), {folder + "-2"!r})
if rank == 0: print(result)
""", bars=0)
    assert f"[{whole}]" in gone_on


def test_an_interrupted_launcher_saves_first(tmp_path: Path) -> None:
    """Ctrl-C ends mpirun, which has its ranks end, by a signal that they save at."""
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "train.py"
    script.write_text(f"""
import weft as wf
class Watch:
    def step_end(self, run):
        if run.leads and run.step == 5: print("under way", flush=True)
x = wf.ones((8, 3))
wf.train.fit(
    wf.Sequential([wf.nn.Dense(1)]), wf.data.from_tensors(x, x).batch(8).repeat(10**7), optimizer=wf.optimizers.SGD(0.1),
    loss=lambda y, p: wf.mean(p + wf.random.uniform([1])), parallel=2, checkpoints={str(tmp_path / "run")!r},
    callbacks=[Watch()], progress=False)
""")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WEFT_NUM_THREADS": "1"}
    with subprocess.Popen(["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", "--allow-run-as-root", sys.executable, str(script)],
                          env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as launcher:
        said = ""
        while "under way" not in said and (line := launcher.stdout.readline()):  # type: ignore[union-attr]
            said += line
        assert wf.latest_checkpoint(tmp_path / "run") is None, said
        launcher.send_signal(signal.SIGINT)
        said += launcher.communicate(timeout=100)[0]
    # In the middle of the only epoch.
    assert wf.latest_checkpoint(tmp_path / "run"), said
    saved = wf.io.safetensors_metadata(wf.latest_checkpoint(tmp_path / "run"))
    assert int(saved["weft.number.step"]) >= 5 and saved["weft.number.replicas"] == "2"


def test_a_launcher_starts_a_failed_program_once_more(tmp_path: Path) -> None:
    """With a rank less and the numbers of a run that nothing happened to; what is told to end is not started again."""
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "train.py"
    script.write_text(TRAIN + """
import os, pathlib, signal, time
folder, what = sys.argv[1:]
died = pathlib.Path(folder + ".died")
def dies(run):
    if rank == 1 and run.epoch == 2 and not died.exists():
        died.touch()
        os.kill(os.getpid(), signal.SIGKILL)
def waits(run):
    if run.leads: print("waits", flush=True)
    time.sleep(60)
print(f"started with {wf.distributed.init().size}\\n", end="", flush=True)
result = run(2, folder, more={"": [], "dies": [dies], "waits": [waits]}[what])
if rank == 0: print(*result, sep="\\n", flush=True)
""")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WEFT_NUM_THREADS": "1"}
    alone = subprocess.run([sys.executable, str(script), str(tmp_path / "alone"), ""], env=environment, capture_output=True, text=True,
                           timeout=100, check=True).stdout.split()
    launch = [sys.executable, "-m", "weft.launch", "-n", "2", "--restarts", "2", "--min-ranks", "1", str(script)]
    done = subprocess.run([*launch, str(tmp_path / "run"), "dies"], env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("started with 2") == 2 and done.stdout.count("started with 1") == 1, done.stdout
    assert re.search(r"weft-launch: the program has failed with code \d+: restart 1 of 2, with 1 rank\n", done.stderr), done.stderr
    bits = next(word for word in alone if re.fullmatch("[0-9a-f]{64}", word))
    assert bits in done.stdout, done.stdout + done.stderr
    with subprocess.Popen([*launch, str(tmp_path / "waits"), "waits"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as waits:
        while "waits" not in (line := waits.stdout.readline()) and line:  # type: ignore[union-attr]
            pass
        waits.send_signal(signal.SIGTERM)
        _, said = waits.communicate(timeout=100)
    assert waits.returncode != 0 and "restart" not in said, said
    refused = subprocess.run([sys.executable, "-m", "weft.launch", "-n", "2", "--min-ranks", "3", "train.py"], env=environment,
                             capture_output=True, text=True, timeout=100, check=False)
    assert "--min-ranks is 3, more than the 2 ranks" in refused.stderr


def test_replicas_in_one_process() -> None:
    model = wf.Sequential([wf.nn.Dense(1)])
    data = wf.data.from_tensors(wf.ones((8, 2)), wf.ones((8, 1))).batch(8)

    class Counter(wf.Module):
        def update(self, y: object, p: object) -> None: ...

        def result(self) -> float:
            return 0.0

        def reset(self) -> None: ...

    def fit(**options: object) -> object:
        options = {"optimizer": wf.optimizers.SGD(0.1), "loss": wf.losses.mean_squared_error, "progress": False, **options}
        return wf.train.fit(model, data, **options)

    fit(parallel=4)
    fit(parallel=wf.train.Parallel(4, bucket_mib=0.5, overlap=False), compile=False)
    with pytest.raises(wf.ValueError, match="fit: the metric 'counter' has no variables"):
        fit(parallel=4, metrics=[Counter()])
    with pytest.raises(wf.ValueError, match="fit: a batch has fewer rows than the 9 replicas, 8|fit: bucket_mib"):
        wf.train.fit(model, data.repeat(2), optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error, progress=False, parallel=9)
    fit(parallel=wf.train.Parallel(4, shard_state="optimizer"))
    fit(parallel=wf.train.Parallel(4, shard_state="gradients"))
    with pytest.raises(wf.ValueError, match="Adam: shard_state: clip_norm takes norms of whole gradients"):
        fit(parallel=wf.train.Parallel(4, shard_state="gradients"), optimizer=wf.optimizers.Adam(clip_norm=1))
    fit(parallel=wf.train.Parallel(4, shard_state="weights"))
    with pytest.raises(wf.ValueError, match="fit: shard_state is 'all': it is one of 'none', 'optimizer', 'gradients', 'weights'"):
        fit(parallel=wf.train.Parallel(4, shard_state="all"))  # type: ignore[arg-type]
    with pytest.raises(wf.DTypeError, match="fit: group is a int"):
        fit(parallel=wf.train.Parallel(4, group=3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="fit: replicas"):
        fit(parallel="many")
    for alone in (None, False):
        fit(parallel=alone, metrics=[Counter()], compile=False)  # which replicas refuse
    for wrong in (True, wf.train.Parallel(True), wf.train.Parallel(False)):
        with pytest.raises(TypeError, match="fit: (parallel|replicas) is (True|False), but must be a number"):
            fit(parallel=wrong)
    for none in (0, wf.train.Parallel(0)):
        with pytest.raises(wf.ValueError, match="fit: replicas is 0, but must be at least 1"):
            fit(parallel=none)


class OwnR2(wf.Module):
    """A metric of the library in one of one's own."""

    def __init__(self) -> None:
        super().__init__()
        self.r2 = wf.metrics.R2()

    def update(self, y: wf.Tensor, p: wf.Tensor) -> None:
        self.r2.update(y, p)

    def result(self) -> wf.Tensor:
        return self.r2.result()

    def reset(self) -> None:
        self.r2.reset()


@pytest.mark.parametrize("metric", [wf.metrics.R2, OwnR2])
def test_r2_of_replicas(metric: type) -> None:
    x = np.random.default_rng(1).normal(size=(30, 2)).astype(np.float32)
    y = (x @ [[1.0], [2.0]] + 100).astype(np.float32)
    model = wf.Sequential([wf.nn.Dense(1)])

    def of(replicas: int | None) -> float:
        return float(wf.train.fit(
            model, [(x[:20], y[:20]), (x[20:], y[20:])], optimizer=wf.optimizers.SGD(0.0), loss=wf.losses.mean_squared_error,
            metrics={"r2": metric()}, parallel=replicas, progress=False)["r2"][-1])

    expected = of(None)
    assert expected != 0
    for replicas in (1, 2, 5):
        assert of(replicas) == pytest.approx(expected, rel=1e-6)


def test_the_launcher(tmp_path: Path) -> None:
    def launch(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        environment.pop("WEFT_NUM_THREADS", None)
        return subprocess.run([sys.executable, "-m", "weft.launch", *arguments], env=environment, capture_output=True,
                              text=True, timeout=100, check=False)

    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    shown = launch("-n", "3", "--dry-run", "train.py", "-n", "x")
    assert re.match(r"\S*mpiexec\S* -n 3 .*python\S* train.py -n x$", shown.stdout.strip()), shown.stdout + shown.stderr
    assert "-n wants a number from 1 on, not 'many'" in launch("-n", "many", "train.py").stderr
    assert "no program is named" in launch("-n", "2").stderr
    assert "there is no option --fast" in launch("--fast", "train.py").stderr
    script = tmp_path / "two.py"
    script.write_text("import os, weft as wf\nw = wf.distributed.init()\n"
                      "print(f\"said by {w.rank} of {w.size} {os.environ['WEFT_NUM_THREADS']}\\n\", end='', flush=True)\n")
    done = launch("-n", "2", str(script))
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(2):
        line = next(line for line in done.stdout.splitlines() if f"said by {rank} of 2 " in line)
        assert not line.startswith("said") and str(rank) in line.split("said")[0]
