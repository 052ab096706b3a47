"""Typical use of the package, for type checkers: `./x types` finds nothing to say of it. It runs, too."""

import tempfile
from typing import assert_type

import numpy as np

import weft as wf


def mean_squared_error(prediction: wf.Tensor, target: wf.Tensor) -> wf.Tensor:
    return wf.mean(wf.square(prediction - target))


def fit(steps: int) -> list[float]:
    x = wf.random.normal((32, 3), seed=1)
    w, b = wf.Variable(wf.zeros((3, 1)), name="w"), wf.Variable([0.0], name="b")
    losses: list[float] = []
    for _ in range(steps):
        with wf.GradientTape() as tape:
            loss = mean_squared_error(x @ w + b, wf.sum(x, axis=1, keepdims=True))
        dw, db = tape.gradient(loss, [w, b])
        w.assign_sub(0.1 * dw)
        b.assign_sub(0.1 * db)
        losses.append(float(loss))
    return losses


class Model:
    def __init__(self) -> None:
        self.w = wf.Variable(2.0)

    @wf.function
    def step(self, x: wf.Tensor, factor: float = 1.0) -> wf.Tensor:
        return self.w * x * factor


@wf.function
def total(xs: list[wf.Tensor]) -> wf.Tensor:
    result = xs[0]
    for x in xs[1:]:
        result = result + x
    return wf.sum(result)


@wf.function(input_signature=[wf.TensorSpec([None], wf.float32)])
def halved(x: wf.Tensor) -> wf.Tensor:
    return x / 2


def functions() -> None:
    x = wf.ones([3])
    assert_type(total([x, x]), wf.Tensor)
    assert_type(halved(x), wf.Tensor)
    assert_type(Model().step(x, factor=2.0), wf.Tensor)
    assert_type(total.explain([x]), str)
    assert_type(total.trace_count(), int)


def values() -> None:
    a = wf.tensor([[1, 2], [3, 4]], dtype=wf.float32)
    assert_type(a + 1, wf.Tensor)
    assert_type(2.5 * a, wf.Tensor)
    assert_type(a[0, :, None], wf.Tensor)
    assert_type(a[..., [0, 1]], wf.Tensor)
    assert_type(a[a > 2], wf.Tensor)
    assert_type(a.shape, tuple[int, ...])
    assert_type(a == 3, wf.Tensor)
    assert_type(wf.maximum(a, [0, 1.5]), wf.Tensor)
    assert_type(wf.asarray(np.ones(3)) * np.arange(3), wf.Tensor)
    assert_type(wf.concatenate([a, a], axis=0), wf.Tensor)
    assert_type(wf.where(a > 1, a, 0), wf.Tensor)
    assert_type(wf.std(a, 0, keepdims=True) + a.clip(0, 1).std(), wf.Tensor)
    assert_type(wf.argmax(a) + a.argmin(axis=1) + wf.max(a, (0, 1)), wf.Tensor)
    assert_type(wf.einsum("ij,kj->ik", wf.stack([a[0], a[1]]), a), wf.Tensor)
    assert_type(wf.split(a, 2), list[wf.Tensor])
    assert_type(wf.array([wf.pi]), wf.Tensor)
    values, indices = wf.top_k(a, 1)
    assert_type(values, wf.Tensor)
    print(f"{values[0, 0].item():.3f}", int(indices[0, 0]), len(a), [row.tolist() for row in a], a.sum(axis=0), a.T.reshape(4))
    for wrong in (lambda: a @ wf.ones(3), lambda: wf.zeros(-1)):
        try:
            wrong()
        except wf.ShapeError as error:
            print(error.message, error.line)


def runs(folder: str) -> None:
    xs = np.ones((8, 2), np.float32)
    data = wf.data.from_tensors(xs, xs[:, :1]).shuffle(seed=1).batch(4).prefetch()
    for x, y in data:
        print(x.shape, y.shape)
    squares = wf.data.range(5).map(lambda x: x * x, workers=2).filter(lambda x: bool(x > 3))
    assert_type([int(x) for x in squares], list[int])
    sums = data.map(lambda x, y: x + y).batch(2, drop_remainder=True)
    assert_type(sums.size, int | None)
    first, rest = wf.data.range(5).split(0.4)
    assert_type(first, wf.data.Dataset[wf.Tensor])
    assert_type(rest.size, int | None)
    run = {"epoch": 1}
    checkpoint = wf.Checkpoint(w=wf.Variable(1.0), data=data, run=run)
    assert_type(checkpoint.save(folder), str)
    checkpoint.restore(wf.latest_checkpoint(folder)).assert_consumed()
    manager = wf.CheckpointManager(folder, keep=2)
    manager.save(checkpoint, step=3)
    info = manager.restore_latest(checkpoint)
    print(info.step if info is not None else "none")
    with wf.summary.create_file_writer(folder) as writer:
        writer.scalar("loss", 0.5, step=1)
    history = wf.train.History()
    history.add("loss", 1, 0.5)
    assert_type(history["loss"], list[float])
    for n in wf.train.Progress([1, 2, 3], label="counting"):
        assert_type(n, int)


def networks() -> None:
    layers = [wf.nn.Reshape((4, 1)), wf.nn.Conv1D(2, 3, activation="relu"), wf.nn.Flatten(), wf.nn.Dense(1)]
    model = wf.Sequential(layers)
    print(model(wf.ones((2, 4))), model.parameter_count)
    assert_type(wf.nn.Flatten(input_shape=(2, 3)).variables, list[wf.Variable])


def spelled_as_tensorflow() -> None:
    from weft import tf

    x: wf.Tensor = tf.constant([1.0, 2.0])
    print(x, tf.reduce_sum(x), x.shape)
    wf.set_printoptions(style="numpy")


if __name__ == "__main__":
    spelled_as_tensorflow()
    with tempfile.TemporaryDirectory() as folder:
        runs(folder)
    networks()
    functions()
    values()
    losses = fit(20)
    assert losses[-1] < losses[0]
