"""Pickles and copies of what trains a model: optimizers, schedules, histories; and what has none."""

import copy
import pickle

import numpy as np
import pytest

import weft as wf


def pickled(x):
    return pickle.loads(pickle.dumps(x))


COPIES = pytest.mark.parametrize("copied", [pickled, copy.deepcopy])


class Trainer(wf.Model):
    """A model that holds the optimizer that is created for it."""

    def __init__(self, make):
        super().__init__()
        self.net = wf.Sequential([wf.nn.Dense(4, "tanh", seed=1), wf.nn.Dense(2, seed=2)]).build((None, 3))
        self.optimizer = make(self)

    def call(self, x):
        return self.net(x)

    def losses(self, steps):
        x, y = wf.random.normal((16, 3), seed=1), wf.random.normal((16, 2), seed=2)
        loss = lambda: wf.losses.mean_squared_error(y, self(x))  # noqa: E731
        return [self.optimizer.minimize(loss).item() for _ in range(steps)]


def falling(model):
    return wf.optimizers.Adam(
        model,
        learning_rate=wf.schedules.ReduceOnPlateau(0.05).rate,
        average=0.9,
        accumulate=2,
        weight_decay=0.1,
        no_decay=["bias"],
    )


@COPIES
@pytest.mark.parametrize(
    "make",
    [
        lambda model: wf.optimizers.Adam(model, 0.05),
        lambda model: wf.optimizers.RMSprop(model.net, wf.schedules.cosine_decay(0.1, 20), momentum=0.5),
        lambda model: wf.optimizers.SGD(model.net.trainable_variables, momentum=0.9, nesterov=True),
        falling,
    ],
)
def test_optimizers_go_on_with_their_models(make, copied):
    first = Trainer(make)
    first.losses(3)
    second = copied(first)
    third = copied(second)
    assert second.optimizer is not first.optimizer and second.optimizer.variables == second.trainable_variables
    assert second.optimizer.step.item() == first.optimizer.step.item()
    assert first.losses(5) == second.losses(5) == third.losses(5)
    assert all(map(np.array_equal, first.optimizer.state, third.optimizer.state))


@COPIES
def test_a_copy_may_be_used_in_a_trace_first(copied):
    first = Trainer(lambda model: wf.optimizers.SGD(model, 0.1, momentum=0.9))
    first.losses(3)
    other = copied(first)
    x, y = wf.random.normal((16, 3), seed=1), wf.random.normal((16, 2), seed=2)

    @wf.function
    def step():
        return other.optimizer.minimize(lambda: wf.losses.mean_squared_error(y, other(x)))

    assert np.allclose([step().item() for _ in range(4)], first.losses(4), rtol=1e-5)
    assert other.optimizer.step.item() == 7


@COPIES
def test_optimizers_without_variables_and_of_subclasses(copied):
    optimizer = copied(wf.optimizers.Adam(0.25, beta1=0.5))
    assert repr(optimizer) == "<weft.optimizers.Adam, of no variables yet>"
    assert optimizer.learning_rate.item() == 0.25
    v = wf.Variable([1.0])
    optimizer.apply_gradients([(wf.tensor([1.0]), v)])
    assert v.numpy()[0] == pytest.approx(0.75, rel=1e-5)
    tagged = Tagged([v], "tag")
    again = copied(tagged)
    assert type(again) is Tagged and again.tag == "tag" and again.variables[0] is not v
    assert copy.copy(tagged).variables[0] is v


class Tagged(wf.optimizers.SGD):
    def __init__(self, variables, tag):
        super().__init__(variables, 0.1)
        self.tag = tag


@COPIES
def test_a_plateau_goes_on_with_the_rate_of_its_optimizer(copied):
    plateau = wf.schedules.ReduceOnPlateau(0.5, factor=0.5, patience=2, cooldown=1)
    optimizer = wf.optimizers.SGD(learning_rate=plateau.rate)
    plateau.update(1.0), plateau.update(1.0)
    again, other = copied((plateau, optimizer))
    assert other.learning_rate is again.rate and again.rate is not plateau.rate
    assert again.update(1.0) and other.learning_rate.numpy() == 0.25 and plateau.rate.numpy() == 0.5
    assert [plateau.update(1.0) for _ in range(5)][1:] == [again.update(1.0) for _ in range(4)]


@COPIES
def test_histories(copied):
    history = wf.train.History()
    for step, loss in [(1, 0.5), (3, float("inf")), (4, 0.1)]:
        history.add("loss", step, loss)
    history.add("error", 4, 2.0)
    history.note = "mine"
    for again in (copied(history), copy.copy(history)):
        assert again.history == history.history and again.steps("loss") == [1, 3, 4] and again.note == "mine"
        again.add("loss", 5, 0.0)
    assert history.last("loss") == 0.1


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: wf.GradientTape(), "a GradientTape cannot be pickled or copied"),
        (lambda: wf.TensorArray("float32", 2), r"TensorArray .*: its stack\(\) can"),
        (lambda: wf.data.from_tensors(wf.ones([3])), "a data set cannot be pickled .*: make it anew of its source"),
        (lambda: iter(wf.data.from_tensors(wf.ones([3]))), "save how far the data set is with a checkpoint"),
        (lambda: wf.CheckpointManager("folder"), "a CheckpointManager cannot .*: make one for its folder"),
        (lambda: wf.train.early_stopping(), "a callback of the library cannot .*: make it anew by its function"),
        (lambda: wf.function(lambda x: x), "make it anew where that is loaded"),
    ],
)
def test_what_cannot_be_copied_says_what_to_do(make, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    original = make()
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match=text):
            copied(original)
