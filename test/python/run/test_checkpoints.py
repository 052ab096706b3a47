"""Checkpoints of Python structures: paths, numbers, data sets, managers, and what is refused."""

import dataclasses
import fcntl
import gc
import json
import os
import signal
import struct
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import numpy as np
import pytest

import weft as wf


class Linear(wf.Module):
    def __init__(self, n, m, seed=0):
        super().__init__()
        self.units = m
        self.w = wf.Variable(wf.random.normal((n, m), seed=seed))
        self.b = wf.Variable(wf.zeros([m]))


class Net(wf.Module):
    def __init__(self, seed=0):
        super().__init__()
        self.blocks = [Linear(2, 3, seed), Linear(3, 1, seed + 1)]


def names_in(path):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        return set(json.loads(file.read(size))) - {"__metadata__"}


def values(net):
    return [np.asarray(v).tolist() for v in net.variables]


def test_save_and_restore(tmp_path):
    net, other = Net(), Net(7)
    path = wf.Checkpoint(model=net).save(tmp_path / "run")
    assert path == str(tmp_path / "run" / "ckpt-1.safetensors")
    assert names_in(path) == {
        f"model.blocks.{i}.{n}" for i in (0, 1) for n in "wb"
    }
    assert values(net) != values(other)
    wf.Checkpoint(model=other).restore(path).assert_consumed()
    assert values(net) == values(other)
    assert wf.latest_checkpoint(tmp_path / "run") == path
    assert wf.latest_checkpoint(tmp_path / "none") is None


def test_one_structure(tmp_path):
    @dataclasses.dataclass
    class Run:
        net: Net
        epoch: int = 0
        rate: float = 0.1
        note: str = ""
        best: object = None

    run = Run(Net(), 3, 0.25, "hi", wf.Variable(2.0))
    wf.Checkpoint(run).write(tmp_path / "run.safetensors")
    again = Run(Net(3), best=wf.Variable(0.0))
    wf.Checkpoint(again).restore(tmp_path / "run.safetensors").assert_consumed()
    assert (again.epoch, again.rate, again.note, float(again.best)) == (3, 0.25, "hi", 2.0)
    assert type(again.epoch) is int and values(again.net) == values(run.net)


def test_numbers_in_dicts(tmp_path):
    run = {"epoch": 4, "rate": 0.5, "done": True, "name": "a"}
    path = wf.Checkpoint(run=run, w=wf.Variable(1.0)).save(tmp_path)
    back = {"epoch": 0, "rate": 0.0, "done": False, "name": ""}
    wf.Checkpoint(run=back, w=wf.Variable(0.0)).restore(path).assert_consumed()
    assert back == run and type(back["done"]) is bool
    # What a model is created with stays as the program says.
    net = Linear(2, 3)
    path = wf.Checkpoint(model=net).save(tmp_path)
    net.units = 5
    wf.Checkpoint(model=net).restore(path).assert_consumed()
    assert net.units == 5


def test_module_attributes_of_the_one_structure(tmp_path):
    class Run(wf.Module):
        def __init__(self, epoch):
            super().__init__()
            self.epoch = epoch
            self.w = wf.Variable(float(epoch))

    path = wf.Checkpoint(Run(3)).save(tmp_path)
    run = Run(0)
    wf.Checkpoint(run).restore(path).assert_consumed()
    assert run.epoch == 3 and float(run.w) == 3


def test_tensors_in_lists(tmp_path):
    state = {"list": [wf.constant([1.0, 2.0])]}
    path = wf.Checkpoint(state=state).save(tmp_path)
    back = {"list": [wf.constant([0.0, 0.0])]}
    wf.Checkpoint(state=back).restore(path)
    assert np.asarray(back["list"][0]).tolist() == [1, 2]


def test_data_sets_and_generators(tmp_path):
    def make():
        return wf.data.range(10).shuffle(seed=1), wf.random.Generator(3)

    data, generator = make()
    loop = iter(data)
    seen = [int(next(loop)) for _ in range(4)]
    generator.normal([2])
    path = wf.Checkpoint(data=data, random=generator).save(tmp_path)
    rest = [int(x) for x in loop]
    drawn = np.asarray(generator.normal([3]))
    data, generator = make()
    wf.Checkpoint(data=data, random=generator).restore(path).assert_consumed()
    assert [int(x) for x in data] == rest
    assert np.array_equal(generator.normal([3]), drawn)
    assert sorted(seen + rest) == list(range(10))


def test_status(tmp_path):
    path = wf.Checkpoint(a=wf.Variable(1.0), b=wf.Variable(2.0)).save(tmp_path)
    status = wf.Checkpoint(a=wf.Variable(0.0), c=wf.Variable(3.0)).restore(path)
    assert status.missing() == ["c"] and status.unused() == ["b"]
    with pytest.raises(wf.AssertionError, match="'?b'?"):
        status.assert_consumed()
    status.expect_partial()
    with pytest.raises(wf.IOError, match="'a' is float32"):
        wf.Checkpoint(a=wf.Variable([1.0, 2.0])).restore(path)
    with pytest.raises(wf.IOError, match="missing"):
        wf.Checkpoint(a=wf.Variable(1.0)).restore(tmp_path / "missing.safetensors")
    nothing = wf.Checkpoint(a=wf.Variable(1.0)).restore(None)
    with pytest.raises(wf.AssertionError):
        nothing.assert_nontrivial_match()


def test_refusals(tmp_path):
    with pytest.raises(wf.DTypeError, match="'epoch' is the int 3.*a Variable"):
        wf.Checkpoint(w=wf.Variable(1.0), epoch=3).save(tmp_path)
    with pytest.raises(wf.StateError, match=r"'optimizer' has nothing to save, .* of a model, SGD\(model\)"):
        wf.Checkpoint(optimizer=wf.optimizers.SGD(0.1)).save(tmp_path)
    with pytest.raises(wf.DTypeError, match="nothing to save"):
        wf.Checkpoint(f=print).save(tmp_path)
    with pytest.raises(TypeError, match="one structure"):
        wf.Checkpoint({}, a=wf.Variable(1.0))
    with pytest.raises(TypeError, match="nothing to save"):
        wf.Checkpoint()
    with pytest.raises(wf.ValueError):
        wf.CheckpointManager(tmp_path, keep=-1)
    with pytest.raises(wf.DTypeError, match="nothing to save"):
        wf.CheckpointManager(tmp_path).save(print)

    class Mine(wf.Checkpoint):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match="never initialized"):
        Mine().save(tmp_path)


def test_manager(tmp_path):
    w, run = wf.Variable(0.0), {"step": 0}
    checkpoint = wf.Checkpoint(w=w, run=run)
    manager = wf.CheckpointManager(tmp_path, keep=2, keep_best=1, every_steps=10)
    for step, metric in [(1, 0.5), (2, 0.1), (3, 0.7), (4, 0.6)]:
        w.assign(step)
        run["step"] = step
        manager.save(checkpoint, metric=metric, step=step)
    manager.wait()
    kept = manager.checkpoints()
    assert [info.step for info in kept] == [2, 3, 4] and kept[0].metric == 0.1
    w.assign(-1.0)
    assert manager.restore_latest(checkpoint).step == 4 and float(w) == 4 and run["step"] == 4
    assert manager.restore_best(checkpoint).number == kept[0].number and float(w) == 2
    assert not manager.save_if_due(checkpoint, 11) and manager.save_if_due(checkpoint, 14)
    assert wf.CheckpointManager(tmp_path / "new").restore_latest(checkpoint) is None


def test_a_manager_of_two_threads(tmp_path):
    w = wf.Variable(wf.ones([10]))
    checkpoint, other = wf.Checkpoint(w=w), wf.Checkpoint(w=wf.Variable(wf.zeros([10])))
    manager = wf.CheckpointManager(tmp_path)
    manager.save(checkpoint)
    faults = []

    def watch():
        try:
            for _ in range(50):
                manager.wait()
                manager.checkpoints()
                manager.restore_latest(other)
        except Exception as error:
            faults.append(error)

    def save():
        for _ in range(30):
            manager.save(checkpoint)

    threads = [threading.Thread(target=f, daemon=True) for f in (watch, watch, save)]
    for thread in threads:
        thread.start()
    save()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads) and not faults
    assert manager.checkpoints()[-1].number == 61


def test_weights_in_files(tmp_path):
    net, other = Net(), Net(5)
    wf.save_weights(tmp_path / "w.safetensors", net)
    wf.load_weights(tmp_path / "w.safetensors", other)
    assert values(net) == values(other)
    assert sorted(wf.io.load_safetensors(tmp_path / "w.safetensors")) == sorted(net.named_variables())


def test_inside_of_a_traced_function(tmp_path):
    w = wf.Variable(1.0)

    @wf.function
    def f(x):
        wf.Checkpoint(w=w).save(tmp_path)
        return x

    with pytest.raises(wf.StateError):
        f(wf.constant(1.0))


PROGRAM = """
import os, sys
import numpy as np
import weft as wf

class Sgd(wf.Module):
    def __init__(self):
        super().__init__()
        self.v = {}
    def apply_gradients(self, pairs):
        for gradient, variable in pairs:
            variable.assign_sub(0.01 * gradient)

class Net(wf.Module):
    def __init__(self):
        super().__init__()
        self.w = wf.Variable(wf.random.normal((3, 2), seed=1))
    def __call__(self, x):
        return x @ self.w

xs = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
data = wf.data.from_tensors(xs, xs[:, :2] * 2).shuffle(seed=3).batch(4)
net, end = Net(), int(sys.argv[2])

class Stop:
    def step_end(self, run):
        if run.step == end:
            os.kill(os.getpid(), 9)

wf.train.fit(
    net, data, optimizer=Sgd(), loss=lambda y, p: wf.mean(wf.square(y - p)), epochs=3,
    checkpoints=wf.train.Checkpoints(sys.argv[1], every_steps=5), callbacks=[Stop()], progress=False,
)
print(np.asarray(net.w.value()).tobytes().hex())
"""


def run(folder, end):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(folder), str(end)],
        capture_output=True,
        text=True,
        env=env,
        timeout=60,
    )


def test_killed_runs_end_with_the_same_bits(tmp_path):
    whole = run(tmp_path / "whole", -1)
    assert whole.returncode == 0, whole.stderr
    killed = run(tmp_path / "killed", 23)
    assert killed.returncode == -signal.SIGKILL
    resumed = run(tmp_path / "killed", -1)
    assert resumed.returncode == 0, resumed.stderr
    assert resumed.stdout == whole.stdout and len(whole.stdout) > 20


def test_what_a_restore_found_prints(tmp_path):
    path = wf.Checkpoint(a=wf.Variable(1.0), b=wf.Variable(2.0)).save(tmp_path)
    status = wf.Checkpoint(a=wf.Variable(0.0)).restore(path).expect_partial()
    assert repr(status) == "RestoreStatus(missing=[], unused=['b'], waiting=[])"
    others = {name: wf.Variable(0.0) for name in "acdef"}
    status = wf.Checkpoint(**others).restore(path).expect_partial()
    assert repr(status) == "RestoreStatus(missing=['c', 'd', 'e', and 1 more], unused=['b'], waiting=[])"


def test_folders_that_are_no_utf8(tmp_path):
    folder = os.fsencode(tmp_path) + b"/run\xff"
    v = wf.Variable(1.0)
    path = wf.Checkpoint(v=v).save(folder)
    assert os.path.exists(path) and os.fsencode(path).startswith(folder)
    assert wf.latest_checkpoint(folder) == path
    manager = wf.CheckpointManager(folder, background=False)
    manager.save(wf.Checkpoint(v=v), step=3)
    assert os.fsencode(manager.folder) == folder
    assert [os.path.exists(info.path) for info in manager.checkpoints()] == [True, True]
    assert manager.restore_latest(wf.Checkpoint(v=v)).step == 3
    wf.Checkpoint(v=v).restore(path).assert_consumed()
    layer = wf.nn.Dense(1).build((None, 2))
    wf.save_weights(folder + b"/w", layer)
    wf.load_weights(folder + b"/w", layer).assert_consumed()


def test_threads_that_save_when_it_is_due_save_once(tmp_path):
    v = wf.Variable(np.zeros(1 << 16, np.float32))
    manager = wf.CheckpointManager(tmp_path, keep=0, every_steps=10, background=False)
    saved, ready = [], threading.Barrier(4)

    def train():
        for step in range(0, 101):
            ready.wait()
            if manager.save_if_due(wf.Checkpoint(v=v), step):
                saved.append(step)

    threads = [threading.Thread(target=train) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(saved) == list(range(10, 101, 10))
    assert [info.step for info in manager.checkpoints()] == list(range(10, 101, 10))


def test_a_save_that_failed_stays_due(tmp_path):
    v = wf.Variable(1.0)
    folder = tmp_path / "run"
    manager = wf.CheckpointManager(folder, every_steps=5, background=False)
    folder.write_text("no folder")
    with pytest.raises(wf.IOError):
        manager.save_if_due(wf.Checkpoint(v=v), 5)
    folder.unlink()
    assert not manager.save_if_due(wf.Checkpoint(v=v), -(2**62))
    assert manager.save_if_due(wf.Checkpoint(v=v), 6)


def test_what_killed_writers_left_is_removed(tmp_path):
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    left, written, young = (tmp_path / f"ckpt-9.safetensors.tmp-{killed.pid}-{i}" for i in range(3))
    for path in left, written, young:
        path.write_bytes(b"x")
    for path in left, written:
        os.utime(path, (time.time() - 120,) * 2)
    with open(written, "rb") as file:  # by a process of that number on another machine
        fcntl.flock(file, fcntl.LOCK_EX)
        wf.Checkpoint(v=wf.Variable(1.0)).save(tmp_path)
    assert [path.exists() for path in (left, written, young)] == [False, True, True]


def test_a_status_in_what_was_restored_is_collected(tmp_path):
    class Run(wf.Module):
        pass

    run = Run()
    run.layer, run.step = wf.nn.Dense(2).build((None, 3)), 7
    path = wf.Checkpoint(run).save(tmp_path)
    run.status = wf.Checkpoint(run).restore(path)
    gc.collect()
    run.status.assert_consumed()
    gone = weakref.ref(run)
    del run
    gc.collect()
    assert gone() is None


def test_a_manager_takes_structures(tmp_path):
    model = wf.Sequential([wf.nn.Dense(2, input_shape=(3,))])
    manager = wf.CheckpointManager(tmp_path, background=False, every_steps=1)
    kernel = model.variables[0].numpy()
    manager.save(model, step=1)
    assert manager.save_if_due(model, 2)
    model.variables[0].assign(wf.zeros((3, 2)))
    assert manager.restore_latest(model).step == 2
    assert (model.variables[0].numpy() == kernel).all()
    run = {"model": model, "epoch": 3}
    wf.CheckpointManager(tmp_path / "dict", background=False).save(run)
    fresh = {"model": wf.Sequential([wf.nn.Dense(2)]), "epoch": 0}
    later = wf.CheckpointManager(tmp_path / "dict")
    later.restore_latest(fresh)
    assert fresh["epoch"] == 3
    fresh["model"](wf.ones((1, 3)))
    assert (fresh["model"].variables[0].numpy() == kernel).all()
