"""Replicas of one process in `tf.distribute` and `fit`: what they count, and layers that synchronize them."""

import numpy as np
import pytest

import weft as wf
from weft import tf

SUM = tf.distribute.ReduceOp.SUM
X = np.random.default_rng(1).normal(size=(32, 3)).astype(np.float32)
Y = (X @ [[2.0], [-1.0], [0.5]]).astype(np.float32)


def mirrored(count: int) -> object:
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(count)])


def test_a_metric_that_replicas_reset_counts_from_0() -> None:
    two = mirrored(2)
    with two.scope():
        mean = tf.keras.metrics.Mean()

    def count(value: float, first: bool) -> None:
        if first:
            mean.reset_state()
        mean.update_state(value)

    two.run(count, args=(2.0, False))
    two.run(count, args=(10.0, True))
    assert float(mean.result()) == 10
    two.run(count, args=(4.0, False))
    assert float(mean.result()) == 7


@pytest.mark.parametrize("compiled", [False, True])
def test_synchronized_replicas_of_one_process(compiled: bool) -> None:
    """Statistics are those of all rows, and so are gradients, of a function that is compiled as of one that is not."""
    rows = np.array([[1.0], [3.0], [4.0], [8.0]], np.float32)

    def run(strategy: object) -> list[object]:
        with strategy.scope():
            layer = tf.keras.layers.BatchNormalization(synchronized=True)
            layer(rows)

        def loss(x: object) -> object:
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = tf.reduce_sum(layer(x, training=True) ** 3)
            return value, tape.gradient(value, [x, layer.gamma])

        call = tf.function(loss) if compiled else loss

        def parts(context: object) -> object:
            of, count = context.replica_id_in_sync_group, strategy.num_replicas_in_sync
            return tf.constant(rows[len(rows) * of // count : len(rows) * (of + 1) // count])

        out = []
        for _ in range(2):
            value, (x, gamma) = strategy.run(call, args=(strategy.experimental_distribute_values_from_function(parts),))
            out += [strategy.reduce(SUM, value, axis=None), strategy.gather(x, axis=0), strategy.reduce(SUM, gamma, axis=None)]
        return [*out, layer.moving_mean, layer.moving_variance]

    whole = run(tf.distribute.get_strategy())
    for count in (2, 3, 4):
        for one, other in zip(run(mirrored(count)), whole, strict=True):
            assert np.asarray(one) == pytest.approx(np.asarray(other), rel=1e-4, abs=1e-4)

    two = mirrored(2)
    layer = tf.keras.layers.BatchNormalization(synchronized=True)

    def uneven() -> object:
        one = tf.distribute.get_replica_context().devices == ("/cpu:0",)
        return layer(rows, training=True) if one else None

    with pytest.raises(wf.StateError, match=r"different calls: replica 0 .*, replica 1 its end"):
        two.run(uneven)


@pytest.mark.parametrize("compiled", [False, True])
def test_fit_synchronizes_replicas_of_one_process(compiled: bool) -> None:
    def run(parallel: int | None) -> list[float]:
        tf.random.set_seed(5)
        model = wf.Sequential([wf.nn.Dense(4, "relu"), wf.nn.BatchNorm(synchronized=True), wf.nn.Dense(1)])
        history = wf.train.fit(
            model, wf.data.from_tensors(X, Y).batch(8), optimizer=wf.optimizers.SGD(0.01), loss=wf.losses.mean_squared_error,
            epochs=3, parallel=parallel, compile=compiled, progress=False)
        return [*history["loss"], *model[1].moving_variance.value().tolist()]

    alone = run(None)
    for replicas in (2, 3, 4):
        assert run(replicas) == pytest.approx(alone, rel=1e-4)

    def breaks(x: wf.Tensor) -> wf.Tensor:
        raise KeyError("x")

    model = wf.Sequential([wf.nn.BatchNorm(synchronized=True), wf.nn.Dense(1), breaks])
    with pytest.raises(KeyError, match="x"):
        wf.train.fit(
            model, wf.data.from_tensors(X, Y).batch(8), optimizer=wf.optimizers.SGD(0.01), loss=wf.losses.mean_squared_error,
            parallel=2, compile=compiled, progress=False)
