"""`tf.distribute`: replicas of one process, and the same numbers, bit for bit, on the ranks of a world."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import weft as wf
from weft import tf

# Other tests of the process print in Weft's own forms.
wf.set_printoptions(style="numpy")

SUM, MEAN = tf.distribute.ReduceOp.SUM, tf.distribute.ReduceOp.MEAN
X = np.random.default_rng(1).normal(size=(32, 3)).astype(np.float32)
Y = (X @ [[2.0], [-1.0], [0.5]]).astype(np.float32)


def mirrored(count: int) -> object:
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(count)])


def test_run_and_reduce() -> None:
    strategy = mirrored(3)
    assert strategy.num_replicas_in_sync == 3

    def number(scale: float, of: wf.Tensor) -> wf.Tensor:
        context = tf.distribute.get_replica_context()
        assert tf.distribute.get_strategy() is strategy and not tf.distribute.in_cross_replica_context()
        assert context.strategy is strategy and context.num_replicas_in_sync == 3
        return scale * of + tf.cast(context.replica_id_in_sync_group, tf.float32)

    values = strategy.experimental_distribute_values_from_function(lambda c: tf.constant(10.0 * c.replica_id_in_sync_group))
    out = strategy.run(number, args=(0.5,), kwargs={"of": values})
    assert [float(x) for x in strategy.experimental_local_results(out)] == [0.0, 6.0, 12.0]
    assert float(strategy.reduce(SUM, out, axis=None)) == 18.0
    assert float(strategy.reduce("MEAN", out, axis=None)) == 6.0
    assert tf.distribute.get_strategy() is not strategy and not tf.distribute.has_strategy()
    with strategy.scope():
        assert tf.distribute.get_strategy() is strategy and tf.distribute.get_replica_context() is None
        assert tf.distribute.in_cross_replica_context()
    # Over an axis too, by how many there are in all: replicas have 2, 2 and 3 rows of 7.
    batch = next(iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(7))))
    assert [x.tolist() for x in batch.values] == [[0, 1], [2, 3], [4, 5, 6]]
    assert float(strategy.reduce(MEAN, batch, axis=0)) == 3.0
    assert int(strategy.reduce(SUM, batch, axis=0)) == 21
    assert strategy.gather(batch, axis=0).tolist() == list(range(7))


def test_replicas_meet() -> None:
    strategy = mirrored(2)
    order: list[object] = []

    def step() -> tuple[object, ...]:
        context = tf.distribute.get_replica_context()
        mine = tf.cast(context.replica_id_in_sync_group, tf.float32) + 1.0
        order.append(("before", float(mine)))
        total = context.all_reduce(SUM, {"a": mine, "b": [mine * 2]})
        order.append(("after", float(mine)))
        merged = context.merge_call(lambda s, x: s.reduce(MEAN, x, axis=None), args=(mine,))
        return total["a"], total["b"][0], merged, context.all_gather(tf.reshape(mine, [1]), axis=0)

    a, b, merged, all_of_them = strategy.run(step)
    for each, expected in ((a, 3.0), (b, 6.0), (merged, 1.5)):
        assert [float(x) for x in strategy.experimental_local_results(each)][0] == expected
    assert strategy.experimental_local_results(all_of_them)[0].tolist() == [1.0, 2.0]
    # One after the other, each up to where all meet.
    assert order == [("before", 1.0), ("before", 2.0), ("after", 1.0), ("after", 2.0)]


def test_one_update_of_the_sum_of_all_gradients() -> None:
    w = tf.Variable([1.0, 1.0])
    strategy = mirrored(2)
    with strategy.scope():
        sgd, mean = tf.keras.optimizers.SGD(0.5), tf.keras.metrics.Mean()
    v = tf.Variable(10.0, trainable=False)  # as a moving average

    def step(x: wf.Tensor) -> wf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w * x)
        sgd.apply_gradients([(tape.gradient(loss, w), w)])
        mean.update_state(loss)
        v.assign(v * 0.5 + tf.reduce_sum(x))
        return tf.reduce_sum(w)  # as it is behind the update

    per_replica = strategy.experimental_distribute_values_from_function(lambda c: tf.constant([1.0, 2.0]) * (c.replica_id_in_sync_group + 1))
    out = strategy.run(step, args=(per_replica,))
    assert w.numpy().tolist() == [1 - 0.5 * 3, 1 - 0.5 * 6]
    assert [float(x) for x in out.values] == [-2.5, -2.5]
    assert float(mean.result()) == 4.5  # of 3 and 6
    assert float(v) == 5 + 4.5
    assert int(sgd.step) == 1
    strategy.run(step, args=(per_replica,))
    # w is (-0.5, -2), so that the losses are -4.5 and -9.
    assert float(mean.result()) == (3 + 6 - 4.5 - 9) / 4 and int(sgd.step) == 2


@pytest.mark.parametrize("outer", [True, False])
def test_functions_of_replicas_that_take_turns_run_at_once(outer: bool) -> None:
    """`@tf.function` around `strategy.run`, or of what it calls: the same numbers as without."""
    weights = []
    for compiled in (False, True):
        strategy = mirrored(2)
        w = tf.Variable([[1.0]])
        sgd = tf.keras.optimizers.SGD(0.1)

        def step(x: wf.Tensor) -> wf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((x @ w) ** 2)  # noqa: B023
            sgd.apply_gradients([(tape.gradient(loss, w), w)])  # noqa: B023
            return loss

        inner = tf.function(step) if compiled and not outer else step

        def run(x: object) -> wf.Tensor:
            return strategy.reduce(SUM, strategy.run(inner, args=(x,)), axis=None)  # noqa: B023

        run = tf.function(run) if compiled and outer else run
        data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(X[:, :1]).batch(8))
        losses = [float(run(x)) for x in data]
        assert len(losses) == 4
        weights.append((losses, w.numpy().tolist()))
    assert weights[0] == weights[1]


def test_traces_of_replicas_are_apart() -> None:
    strategy = mirrored(2)

    @tf.function
    def number() -> wf.Tensor:
        return tf.random.uniform([4])

    tf.random.set_seed(3)
    alone = number().tolist()
    tf.random.set_seed(3)
    first, second = (x.tolist() for x in strategy.run(number).values)
    assert first != second and alone not in (first, second)
    tf.random.set_seed(3)
    assert [x.tolist() for x in strategy.run(lambda: tf.random.uniform([4])).values] == [first, second]


def test_fit_of_a_model_of_the_scope() -> None:
    def run(strategy: object) -> list[float]:
        tf.random.set_seed(5)
        with strategy.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(4, "relu"), tf.keras.layers.Dense(1)])
            model.compile("sgd", "mse", ["mae"])
        history = model.fit(X, Y, batch_size=8, epochs=2, verbose=0, shuffle=False).history
        return [*history["loss"], *history["mae"], *model.get_weights()[0].ravel().tolist()]

    alone = run(tf.distribute.get_strategy())
    for strategy in (mirrored(1), mirrored(4), tf.distribute.OneDeviceStrategy("/cpu:0"), tf.distribute.MultiWorkerMirroredStrategy()):
        assert run(strategy) == pytest.approx(alone, rel=1e-5)
    tf.random.set_seed(5)
    model = wf.Sequential([wf.nn.Dense(4, "relu"), wf.nn.Dense(1)])
    of_library = wf.train.fit(
        model, wf.data.from_tensors(X, Y).batch(8), optimizer=wf.optimizers.SGD(0.01), loss=wf.losses.mean_squared_error,
        epochs=2, parallel=4, progress=False)
    assert run(mirrored(4))[:2] == of_library["loss"]


def test_what_replicas_exchange_has_gradients() -> None:
    """Of all of them: that of a sum is the sum of what each has of it, here the gradient of a normalization over all rows."""
    two = mirrored(2)
    rows = two.experimental_distribute_values_from_function(lambda c: tf.constant([[1.0, 2.0], [6.0, 7.0]][c.replica_id_in_sync_group]))

    def of(loss: object, x: object) -> object:
        with tf.GradientTape() as tape:
            tape.watch(x)
            value = loss(x)  # type: ignore[operator]
        return tape.gradient(value, x)

    context = tf.distribute.get_replica_context
    centered = two.run(of, args=(lambda x: tf.reduce_sum((x - context().all_reduce("MEAN", tf.reduce_mean(x))) ** 3), rows))
    assert two.gather(centered, axis=0).tolist() == [7.5, -7.5, -7.5, 7.5]
    whole = two.run(of, args=(lambda x: tf.reduce_sum(context().all_gather(x, axis=0) ** 2), rows))
    assert two.gather(whole, axis=0).tolist() == [4.0, 8.0, 24.0, 28.0]


def test_reductions_of_structures() -> None:
    two = mirrored(2)
    given = two.run(lambda: {"a": tf.constant(1.0), "b": [tf.constant([2.0]), tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)]})
    total = two.reduce(SUM, given, axis=None)
    assert float(total["a"]) == 2.0 and total["b"][0].tolist() == [4.0] and float(total["b"][1]) == 1.0


def test_fit_in_a_scope_and_after_an_error() -> None:
    """Of parts of a data set too; what a broken epoch has counted is forgotten."""
    two = mirrored(2)
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)

    def trained(where: object, given: object) -> object:
        tf.random.set_seed(2)
        with two.scope():
            model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
            model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
            if where == "scope":
                return model.fit(given, verbose=0).history
        return model.fit(given, verbose=0).history

    plain = trained("outside", data)
    assert trained("scope", data) == plain
    parts = two.experimental_distribute_dataset(data)
    assert trained("outside", parts) == plain
    with pytest.raises(TypeError, match="the data set is cut for the replicas already"):
        two.experimental_distribute_dataset(parts)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(tf.keras.optimizers.SGD(0.0), "mse", metrics=["mae"])

    def breaks(batch: int, logs: object) -> None:
        if batch == 2:
            raise KeyError("broken")

    with pytest.raises(KeyError, match="broken"):
        model.fit(X, Y + 100, batch_size=8, verbose=0, callbacks=[tf.keras.callbacks.LambdaCallback(on_train_batch_end=breaks)])
    first, second = model.fit(X, Y, batch_size=8, epochs=2, verbose=0, shuffle=False).history["mae"]
    assert first == second
    with pytest.raises(wf.StateError, match="fit: this is a replica: call fit outside"):
        two.run(lambda: model.fit(X, Y, verbose=0))
    u, w = tf.Variable(5.0), tf.Variable(1.0)
    sgd = tf.keras.optimizers.SGD(1.0)

    def exchanges() -> None:
        pairs = [(tf.constant(1.0), w), (tf.constant(10.0), u)]
        sgd.apply_gradients(pairs[::-1] if int(tf.distribute.get_replica_context().replica_id_in_sync_group) else pairs)

    two.run(exchanges)  # without names they are told apart by the order in which they were made
    assert (float(u), float(w)) == (-15.0, -1.0)
    u, w = tf.Variable(5.0, name="u"), tf.Variable(1.0, name="w")
    with pytest.raises(wf.StateError, match="of different variables, or of the same in another order"):
        two.run(exchanges)
    assert (float(u), float(w)) == (5.0, 1.0)


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    two, w = mirrored(2), tf.Variable(1.0)
    sgd = tf.keras.optimizers.SGD(0.1)
    with pytest.raises(wf.StateError, match="SGD: apply_gradients was called in strategy.scope"), two.scope():
        sgd.apply_gradients([(tf.constant(1.0), w)])
    with pytest.raises(wf.StateError, match="run: this is a replica already"):
        two.run(lambda: two.run(lambda: 1))
    with pytest.raises(TypeError, match="run: fn is a int"):
        two.run(3)
    with pytest.raises(wf.StateError, match="scope: this is the scope of a MirroredStrategy already"), two.scope(), mirrored(3).scope():
        pass

    def parts(c: object) -> None:
        if int(tf.distribute.get_replica_context().replica_id_in_sync_group) == 1:
            tf.distribute.get_replica_context().all_reduce(SUM, 1.0)

    with pytest.raises(wf.StateError, match="run: replicas have come to different calls: replica 0 its end, replica 1 all_reduce"):
        two.run(parts, args=(1,))

    metric_of: list[object] = []
    with two.scope():
        metric_of.append(tf.keras.metrics.Mean())
    metric_of[0].update_state(4.0)

    def fails() -> None:
        metric_of[0].update_state(100.0)
        w.assign(7.0)
        if int(tf.distribute.get_replica_context().replica_id_in_sync_group) == 1:
            raise KeyError("no such row")

    with pytest.raises(KeyError, match="no such row"):
        two.run(fails)
    assert float(metric_of[0].result()) == 4.0 and float(w) == 1.0
    with pytest.raises(wf.ValueError, match="reduce: the value is one and the same on all replicas"):
        two.reduce(SUM, 1.0, axis=None)
    assert float(two.reduce(MEAN, 1.0, axis=None)) == 1.0
    with pytest.raises(wf.ValueError, match="reduce: reduce_op is 'MAX'"):
        two.reduce("MAX", 1.0, axis=None)
    with pytest.raises(wf.ShapeError, match="experimental_distribute_dataset: an element has a scalar"):
        next(iter(two.experimental_distribute_dataset(tf.data.Dataset.range(3))))
    with pytest.raises(TypeError, match="experimental_distribute_dataset: dataset is a list"):
        two.experimental_distribute_dataset([1])
    for wrong, words in (([], "devices is empty"), (["/cpu:0", "cpu:0"], "devices has '/cpu:0' twice"), (["tpu:0"], "'tpu:0' is no device"), (["/gpu:77"], "there is no '/gpu:77'")):
        with pytest.raises(wf.ValueError, match=f"MirroredStrategy: {words}"):
            tf.distribute.MirroredStrategy(wrong)
    monkeypatch.setenv("TF_CONFIG", '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}')
    with pytest.raises(wf.StateError, match="TF_CONFIG names 2 workers, but nothing has connected them"):
        tf.distribute.MultiWorkerMirroredStrategy()
    with pytest.raises(AttributeError, match="there are no TPUs"):
        tf.distribute.TPUStrategy  # noqa: B018


PROGRAM = """
import hashlib, sys
import numpy as np
import weft as wf
from weft import tf
X = np.random.default_rng(1).normal(size=(53, 3)).astype(np.float32)
Y = (X @ [[2.0], [-1.0], [0.5]]).astype(np.float32)
replicas = int(sys.argv[1])
world = wf.distributed.init()
if world.size > 1:
    assert world.size == replicas
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
else:
    strategy = tf.distribute.MirroredStrategy([f"cpu:{i}" for i in range(replicas)])
def bits(*lists):
    of = hashlib.sha256()
    for each in lists:
        for x in each: of.update(np.asarray(x).tobytes())
    return of.hexdigest()
def custom(compiled, drop=0.25, built=False):
    tf.random.set_seed(3)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.BatchNormalization(),
                                     tf.keras.layers.Dense(1)])
        if built: model(X[:2])
        adam = tf.keras.optimizers.Adam(0.01)
        mean, twice, error = tf.keras.metrics.Mean(), tf.keras.metrics.Mean(), tf.keras.metrics.MeanAbsoluteError()
    def step(x, y):
        with tf.GradientTape() as tape:
            p = tf.nn.dropout(model(x, training=True), drop)
            loss = tf.nn.compute_average_loss(tf.reduce_sum((p - y) ** 2, -1), global_batch_size=16)
        adam.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        mean.update_state(loss)
        twice.update_state(2 * loss)
        error.update_state(y, p)
        return loss
    def run(batch):
        return strategy.reduce("SUM", strategy.run(step, args=batch), axis=None)
    if compiled: run = tf.function(run)
    data = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((X, Y)).shuffle(53, seed=2).batch(16))
    losses = [run(batch) for epoch in range(2) for batch in data]
    assert len(losses) == 8 and mean.result() > 0
    assert twice.result() == 2 * mean.result()
    return bits(model.get_weights(), losses, [mean.result(), error.result()],
                [v for v in adam.state], [wf.random.uniform([2])])
def keras():
    tf.random.set_seed(3)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dropout(0.2), tf.keras.layers.Dense(1)])
        model.compile(tf.keras.optimizers.Adam(0.01), "mse", ["mae"])
    run = model.fit(X, Y, batch_size=16, epochs=2, verbose=0, validation_split=0.2)
    return bits(model.get_weights(), run.history.values(), [model.evaluate(X, Y, verbose=0)])
results = [custom(False), custom(True, built=True), keras()]
for other in wf.distributed.all_gather(wf.constant([int(r[:12], 16) for r in results], "int64")).tolist():
    assert other in [int(r[:12], 16) for r in results]
if world.rank == 0: print(*results)
"""


def launched(ranks: int, script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    start = ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none", "--allow-run-as-root"] if ranks > 1 else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "WEFT_NUM_THREADS": "1"}
    return subprocess.run([*start, sys.executable, str(script), *arguments], env=environment, capture_output=True,
                          text=True, timeout=100, check=False)


@pytest.mark.parametrize("ranks", [2, 4])
def test_ranks_have_the_bits_of_one_process(tmp_path: Path, ranks: int) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    done = [launched(n, script, str(ranks)) for n in (1, ranks)]
    for each in done:
        assert each.returncode == 0, each.stdout + each.stderr
    alone, together = (each.stdout.split() for each in done)
    assert len(set(alone)) == 3
    assert alone == together


def test_a_rank_that_fails_is_quoted(tmp_path: Path) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "program.py"
    script.write_text("""
from weft import tf
import weft as wf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
w, sgd = tf.Variable(1.0), tf.keras.optimizers.SGD(0.1)
rank = wf.distributed.init().rank
def step():
    if rank == 1: raise KeyError("no such row")
    sgd.apply_gradients([(tf.constant(1.0), w)])
for turn in range(2):
    try:
        strategy.run(step)
    except wf.StateError as error:
        print(f"{rank}: {error}\\n", end="", flush=True)
    except KeyError:
        print(f"{rank} has its own\\n", end="", flush=True)
try:
    tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
except wf.StateError as error:
    print(f"{rank}: {error}\\n", end="", flush=True)
print(f"{rank} done {wf.distributed.all_reduce(1).item()} {float(w)}\\n", end="", flush=True)
""")
    done = launched(2, script)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(re.findall(r"0: .*rank 1: KeyError: 'no such row'", done.stdout)) == 2, done.stdout
    assert done.stdout.count("1 has its own\n") == 2
    for rank in range(2):
        assert f"{rank} done 2 1.0\n" in done.stdout
        assert f"{rank}: program.py:18: MirroredStrategy: its replicas are those of one process, and there are 2" in done.stdout, done.stdout


def test_ranks_that_do_not_do_the_same(tmp_path: Path) -> None:
    """Nothing is added to what it does not belong to: ranks hear of each other's errors, and what comes next works."""
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "program.py"
    script.write_text("""
import numpy as np
import weft as wf
from weft import tf
two = tf.distribute.MultiWorkerMirroredStrategy()
rank = two._first
context = tf.distribute.get_replica_context

def said(what, f):
    try: print(f"{rank} {what}: {f()}\\n", end="", flush=True)
    except (wf.Error, KeyError, AssertionError) as error:
        print(f"{rank} {what}: {type(error).__name__} {error}\\n", end="", flush=True)

@tf.function
def number():  # before anything has run at once
    return two.run(lambda: context().replica_id_in_sync_group)
said("traced", lambda: int(number()))

@tf.function
def step(x):
    def checked(x):
        tf.debugging.assert_less(x, 10.0)
        return x
    return two.reduce("SUM", two.run(checked, args=(x,)), axis=None)
for k, x in enumerate([0.0, 99.0 if rank else 1.0, 2.0]):
    said(f"step {k}", lambda: float(step(tf.constant(x))))

said("one reduces", lambda: two.run(lambda: context().all_reduce("SUM", 100.0) if rank == 0 else 1.0))
v = tf.Variable(1.0)
said("one assigns", lambda: two.run(lambda: v.assign(9.0) if rank else None))
said("after", lambda: (float(two.reduce("SUM", two.run(lambda: tf.constant(1.0)), axis=None)), float(v)))
with two.scope():
    mean = tf.keras.metrics.Mean()
two.run(lambda: mean.update_state(tf.constant(rank + 1.0)))
def late():
    mean.update_state(10.0)
    v.assign(5.0)
    if rank: raise KeyError("late")
said("late", lambda: two.run(late))
two.run(lambda: mean.update_state(tf.constant(rank + 1.0)))
said("mean", lambda: ([float(x) for x in mean.variables], float(v)))
for batch in two.experimental_distribute_dataset(tf.data.Dataset.range(7).batch(4)):
    said("rows", lambda: two.gather(two.run(lambda x: x, args=(batch,)), axis=0).tolist())
def ends(logs):
    if rank: raise KeyError("end")
with two.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
x = np.ones((8, 2), np.float32)
said("fit", lambda: model.fit(x, x[:, :1], verbose=0, callbacks=[tf.keras.callbacks.LambdaCallback(on_train_end=ends)]))
said("again", lambda: len(model.fit(x, x[:, :1], verbose=0).history["loss"]))
""")
    done = launched(2, script)
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(2):
        of = dict(line[2:].split(": ", 1) for line in done.stdout.splitlines() if line.startswith(f"{rank} "))
        assert of["traced"] == str(rank)
        assert of["step 0"] == "0.0" and of["step 2"] == "4.0", of
        assert of["step 1"].startswith(("StateError", "AssertionError")[rank]) and "assertion failed in step" in of["step 1"], of
        assert re.search("StateError.*rank 0 has all_reduce of a replica.* and rank 1 the end of run, which has assigned no variable", of["one reduces"]), of
        assert re.search(r"StateError.*rank 0 has the end of run, which has assigned no variable.* and rank 1 the end of run, which has assigned Variable", of["one assigns"]), of
        assert of["after"] == "(2.0, 1.0)"
        assert "KeyError: 'late'" in of["late"] if rank == 0 else of["late"] == "KeyError 'late'"
        assert of["mean"] == "([6.0, 4.0], 1.0)"
        assert of["rows"] == "[4, 5, 6]"
        assert "KeyError" in of["fit"] and of["again"] == "1", of


def test_first_values_and_statistics_of_ranks(tmp_path: Path) -> None:
    """Variables of the scope begin as on rank 0, and a synchronized layer has the statistics of all rows."""
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "program.py"
    script.write_text("""
import numpy as np
import weft as wf
from weft import tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = wf.distributed.init().rank
own = np.random.default_rng(rank)
if rank == 1: wf.random.set_seed(99)
def said(what, value): print(f"{rank} {what}: {value}\\n", end="", flush=True)
with strategy.scope():
    drawn = tf.Variable(own.normal(size=3))
    equal, whole = tf.Variable(2.0), tf.Variable(rank, dtype=tf.int64)
    model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.BatchNormalization(synchronized=True)])
    model.build((None, 2))
outside = tf.Variable(float(rank))
assert np.array_equal(drawn, np.random.default_rng(0).normal(size=3)), drawn
said("values", (float(equal), int(whole), float(outside)))
said("kernel", np.asarray(model.layers[0].kernel).tobytes().hex())

# In the scope a trace makes them too, and draws go on as they would.
with strategy.scope():
    made = []
    @tf.function
    def made_when_traced():
        if not made: made.append(tf.Variable(own.normal()))
        return made[0] + 0.0
    said("traced", float(made_when_traced()).hex())
    said("draw", float(wf.random.uniform(())) == float(wf.random.uniform(())))
    try:
        tf.Variable(np.zeros(2 + rank, np.float32))
    except wf.StateError as error:
        said("types", error)

x = np.random.default_rng(7).normal(3.0, 2.0, (8, 2)).astype(np.float32)
alone = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.BatchNormalization()])
alone.build((None, 2))
before = model.get_weights()
alone.set_weights(before)
def gradients_of(model, x, count):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(model(x, training=True) - 0.5 * x[:, :1])) / count
    return tape.gradient(loss, model.trainable_variables)
expected = gradients_of(alone, tf.constant(x), 8.0)
for step in (lambda v: gradients_of(model, v, 8.0), tf.function(lambda v: gradients_of(model, v, 8.0))):
    model.set_weights(before)
    mine = strategy.run(step, args=(tf.constant(x[rank * 4 : rank * 4 + 4]),))
    sums = strategy.reduce("SUM", mine, axis=None)
    for a, b in zip(sums, expected): assert np.allclose(a, b, atol=2e-4), (a, b)
    assert np.allclose(model.layers[1].moving_mean, alone.layers[1].moving_mean, atol=1e-5)
    assert np.allclose(model.layers[1].moving_variance, alone.layers[1].moving_variance, atol=1e-5)
said("done", wf.distributed.all_reduce(1).item())
""")
    done = launched(2, script)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    assert lines["0 values"] == "(2.0, 0, 0.0)" and lines["1 values"] == "(2.0, 0, 1.0)"
    assert lines["0 kernel"] == lines["1 kernel"]
    assert lines["0 traced"] == lines["1 traced"]
    for rank in range(2):
        assert lines[f"{rank} done"] == "2" and lines[f"{rank} draw"] == "False"
        assert "Variable: arguments differ between ranks: rank 0 has the first value of a variable of float32(2,)" in lines[f"{rank} types"], lines


def test_gradients_of_nameless_variables_in_any_order(tmp_path: Path) -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "program.py"
    script.write_text("""
import weft as wf
from weft import tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = wf.distributed.init().rank
if rank: tf.Variable(0.0)  # of this rank alone
with strategy.scope():
    u, named, w, sgd = tf.Variable(0.0), tf.Variable(0.0, name="named"), tf.Variable(0.0), tf.keras.optimizers.SGD(1.0)
def step():
    pairs = [(tf.constant(1.0), u), (tf.constant(10.0), named), (tf.constant(100.0), w)]
    sgd.apply_gradients(pairs[::-1] if rank else pairs)
strategy.run(step)
tf.function(lambda: strategy.run(step))()
print(f"{rank} has {float(u)} {float(named)} {float(w)}\\n", end="", flush=True)
""")
    done = launched(2, script)
    assert done.returncode == 0, done.stdout + done.stderr
    for rank in range(2):
        assert f"{rank} has -4.0 -40.0 -400.0\n" in done.stdout, done.stdout


def test_loops_over_batches_in_a_function_of_ranks(tmp_path: Path) -> None:
    """A loop over a distributed data set in a tf.function, with updates in it, has the bits of one outside, and
    ends on all ranks together."""
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun: apt-get install openmpi-bin")
    script = tmp_path / "program.py"
    script.write_text("""
import numpy as np
import weft as wf
from weft import tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = wf.distributed.init().rank
def said(what, value): print(f"{rank} {what}: {value}\\n", end="", flush=True)
def batches(count):
    x = np.random.default_rng(1).normal(size=(4 * count, 3)).astype(np.float32)
    return strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices((x, x[:, :1])).batch(4))
def trained(staged):
    with strategy.scope():
        w, sgd = tf.Variable(np.ones((3, 1), np.float32)), tf.keras.optimizers.SGD(0.1)
    def replica(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(x @ w - y)) / 4.0
        sgd.apply_gradients([(tape.gradient(loss, w), w)])
        return loss
    def epoch(data):
        total = tf.constant(0.0)
        for step, (x, y) in enumerate(data):
            total += strategy.reduce("SUM", strategy.run(replica, args=(x, y)), axis=None) * tf.cast(step + 1, tf.float32)
            if total > 1e6:
                break
        return total
    data = batches(5)
    run = tf.function(epoch) if staged else epoch
    totals = [float(run(data)).hex() for _ in range(2)]
    return totals, np.asarray(w).tobytes().hex()
alone, together = trained(False), trained(True)
said("same", alone == together)
said("bits", together)

@tf.function
def count(data):
    n = 0
    for _ in data:
        n += 1
    return n
said("count", int(count(batches(3))))
try:
    said("ends", int(count(batches(3 + rank))))
except wf.Error as error:
    said("ends", f"{type(error).__name__} {error}")
said("goes on", wf.distributed.all_reduce(1).item())
""")
    done = launched(2, script)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    assert lines["0 bits"] == lines["1 bits"]
    for rank in range(2):
        assert lines[f"{rank} same"] == "True" and lines[f"{rank} count"] == "3" and lines[f"{rank} goes on"] == "2"
        assert "has come to its end on one of them and not on others" in lines[f"{rank} ends"], lines
