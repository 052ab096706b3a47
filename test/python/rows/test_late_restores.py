"""Values of a checkpoint reach what a structure comes to hold after the restore: attributes, entries, layers that a build makes, slots."""

import dataclasses
import gc
import subprocess
import sys
import weakref

import numpy as np
import pytest

import weft as wf
from weft import tf


class Late(wf.Module):
    """Makes its variable in the first call."""

    def __init__(self):
        self.w = None

    def __call__(self, x):
        if self.w is None:
            self.w = wf.Variable(1.0)
        return self.w * x * (self.__dict__.get("first", 1.0))


class Blocks(wf.Module):
    def __init__(self, kind=list):
        self.blocks = kind()


def saved(tmp_path, **parts):
    path = str(tmp_path / "saved")
    wf.Checkpoint(**parts).write(path)
    return path


@pytest.fixture
def of_late(tmp_path):
    model = Late()
    model(1.0)
    model.w.assign(5.0)
    return saved(tmp_path, model=model)


@pytest.mark.parametrize("library", [wf, tf.train])
def test_an_attribute(of_late, library):
    model = Late()
    library.Checkpoint(model=model).restore(of_late)
    assert float(model(1.0)) == 5.0
    model.w.assign(7.0)
    assert float(model(1.0)) == 7.0


def test_in_a_traced_function(of_late):
    model = Late()
    wf.Checkpoint(model=model).restore(of_late)
    call = wf.function(lambda x: model(x))
    assert float(call(wf.tensor(2.0))) == 10.0
    assert float(call(wf.tensor(3.0))) == 15.0


def test_a_variable_that_was_there_and_changed_before_it_was_attached(of_late):
    model, variable = Late(), wf.Variable(2.0)
    wf.Checkpoint(model=model).restore(of_late)
    variable.assign(3.0)
    model.w = variable
    assert float(variable) == 5.0


@pytest.mark.parametrize("kind", [list, dict])
def test_entries(tmp_path, kind):
    def put(model, key, value):
        if kind is list:
            model.blocks.append(value)
        else:
            model.blocks[key] = value

    model, other = Blocks(kind), Blocks(kind)
    for i in range(3):
        put(model, str(i), wf.Variable([float(i + 1)]))
    status = wf.Checkpoint(model=other).restore(saved(tmp_path, model=model))
    for i in range(3):
        put(other, str(i), wf.Variable([0.0]))
        assert other.blocks[i if kind is list else str(i)].numpy() == [i + 1]
    status.assert_consumed()


def test_an_entry_that_was_read_before_it_was_appended(tmp_path):
    model, other = Blocks(), Blocks()
    model.blocks.append(wf.Variable(4.0))
    wf.Checkpoint(model=other).restore(saved(tmp_path, model=model))
    v = wf.Variable(0.0)
    assert float(v) == 0.0 and v.numpy() == 0.0
    other.blocks.append(v)
    assert float(v) == 4.0


def test_every_use_of_a_variable_is_one_of_its_restored_value(tmp_path):
    model = Blocks()
    model.blocks.append(wf.Variable([4.0]))
    path = saved(tmp_path, model=model)
    uses = [
        lambda v: v.numpy()[0],
        lambda v: v.value().numpy()[0],
        lambda v: v.read_value().numpy()[0],
        lambda v: np.asarray(v)[0],
        lambda v: float(v[0]),
        lambda v: float((v + 0)[0]),
        lambda v: float(wf.sum(v)),
        lambda v: v.assign_add([0.0]).numpy()[0],
        lambda v: float(next(iter(v))),
        lambda v: float(wf.grad(lambda x: wf.sum(x * v))(wf.ones([1]))[0]),
    ]
    for use in uses:
        other = Blocks()
        wf.Checkpoint(model=other).restore(path)
        other.blocks.append(wf.Variable([0.0]))
        assert use(other.blocks[0]) == 4.0
    other = Blocks()
    wf.Checkpoint(model=other).restore(path)
    other.blocks.append(wf.Variable([0.0]))
    assert "4." in repr(other.blocks[0])
    other = Blocks()
    wf.Checkpoint(model=other).restore(path)
    other.blocks.append(wf.Variable([0.0]))
    other.blocks[0].assign([9.0])
    assert other.blocks[0].numpy() == [9.0]


@pytest.mark.parametrize("how", ["attribute", "list", "sequential"])
def test_layers_that_come_later(tmp_path, how):
    def grow(model):
        layer = wf.nn.Dense(2)
        if how == "attribute":
            model.layer = layer
        elif how == "list":
            model.blocks.append(layer)
        else:
            model.add(layer)
        return layer

    def new():
        return wf.Sequential() if how == "sequential" else Blocks()

    x = wf.ones((1, 3))
    model, other = new(), new()
    y = grow(model)(x)
    wf.Checkpoint(model=other).restore(saved(tmp_path, model=model))
    layer = grow(other)
    np.testing.assert_array_equal(layer(x), y)


def test_a_layer_that_was_built_before_it_was_appended(tmp_path):
    model, other = Blocks(), Blocks()
    model.blocks.append(wf.nn.Dense(2).build((None, 3)))
    wf.Checkpoint(model=other).restore(saved(tmp_path, model=model))
    other.blocks.append(wf.nn.Dense(2).build((None, 3)))
    np.testing.assert_array_equal(other.blocks[0].kernel, model.blocks[0].kernel)
    np.testing.assert_array_equal(other.blocks[0](wf.ones((1, 3))), model.blocks[0](wf.ones((1, 3))))


class Scale(tf.keras.layers.Layer):
    def build(self, shape):
        self.factor = self.add_weight(shape=shape[-1:], initializer="ones")

    def call(self, x):
        return x * self.factor


def test_a_build_of_the_user(tmp_path):
    model, other = tf.keras.Sequential([Scale()]), tf.keras.Sequential([Scale()])
    model(wf.ones((1, 2)))
    model.layers[0].factor.assign([3.0, 4.0])
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "run"))
    tf.train.Checkpoint(model=other).restore(path)
    assert other(wf.ones((1, 2))).numpy().tolist() == [[3.0, 4.0]]


def test_a_part_of_the_checkpoint_that_is_attached_later(of_late):
    checkpoint = tf.train.Checkpoint(step=wf.Variable(0))
    checkpoint.restore(of_late)
    model = Late()
    model.w = wf.Variable(0.0)
    checkpoint.model = model
    assert float(model.w) == 5.0


def test_what_is_saved_next_has_the_values(tmp_path, of_late):
    model = Late()
    checkpoint = wf.Checkpoint(model=model)
    checkpoint.restore(of_late)
    model.__dict__["w"] = wf.Variable(0.0)  # nobody is told of it
    path = str(tmp_path / "next")
    checkpoint.write(path)
    assert wf.io.load_safetensors(path)["model.w"].numpy() == 5.0


def test_tensors_and_numbers(tmp_path):
    model, other = Blocks(), Blocks()
    model.blocks.append(wf.tensor([1.0, 2.0]))
    model.w = wf.Variable(1.0)
    wf.Checkpoint(model=other).restore(saved(tmp_path, model=model))
    other.blocks.append(wf.tensor([0.0, 0.0]))
    other.w = wf.Variable(0.0)
    assert other.blocks[0].numpy().tolist() == [1.0, 2.0]


def quadratic_run(model, optimizer, steps):
    losses = []
    for _ in range(steps):
        with wf.GradientTape() as tape:
            loss = (model(wf.tensor(1.0)) - 3.0) ** 2
        variables = model.trainable_variables
        optimizer.apply_gradients(list(zip(tape.gradient(loss, variables), variables)))
        losses.append(float(loss))
    return losses


@pytest.mark.parametrize("library", ["wf", "tf"])
def test_slots_of_variables_that_come_later(tmp_path, library):
    def new():
        model = Late()
        model.first = wf.Variable(1.0)
        optimizer = (wf.optimizers.Adam(model, 0.1) if library == "wf" else tf.keras.optimizers.Adam(0.1))
        kind = wf.Checkpoint if library == "wf" else tf.train.Checkpoint
        return model, optimizer, kind(model=model, optimizer=optimizer)

    model, optimizer, checkpoint = new()
    quadratic_run(model, optimizer, 3)
    path = checkpoint.save(str(tmp_path / "run"))
    wanted = quadratic_run(model, optimizer, 4)
    model, optimizer, checkpoint = new()
    checkpoint.restore(path)
    assert quadratic_run(model, optimizer, 4) == wanted


@pytest.mark.parametrize("first", [True, False])
def test_an_optimizer_beside_a_model_without_variables(tmp_path, first):
    def new():
        model, optimizer = Late(), tf.keras.optimizers.Adam(0.1)
        return model, optimizer, tf.train.Checkpoint(model=model, optimizer=optimizer)

    model, optimizer, checkpoint = new()
    quadratic_run(model, optimizer, 3)
    path = checkpoint.save(str(tmp_path / "run"))
    wanted = quadratic_run(model, optimizer, 4)
    model, optimizer, checkpoint = new()
    if not first:
        model(1.0)
        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    checkpoint.restore(path)
    assert quadratic_run(model, optimizer, 4) == wanted


def test_variables_that_come_behind_the_first_update_are_updated():
    model = Late()
    model.first = wf.Variable(1.0)
    optimizer = wf.optimizers.SGD(model, 1.0)
    optimizer.apply_gradients([wf.tensor(1.0)])
    model(1.0)
    assert list(model.named_variables()) == ["w", "first"]
    optimizer.apply_gradients([wf.tensor(0.25), wf.tensor(1.0)])
    assert float(model.first) == -1.0 and float(model.w) == 0.75
    optimizer.apply_gradients([(wf.tensor(0.25), model.w)])
    assert float(model.w) == 0.5


def test_a_value_that_does_not_fit_is_an_error(of_late):
    model = Late()
    wf.Checkpoint(model=model).restore(of_late)
    with pytest.raises(wf.IOError, match=r"'model.w' is float32\(2,\), but in the file float32\(\)"):
        model.w = wf.Variable([1.0, 2.0])


def test_nothing_is_kept_alive(of_late):
    model = Late()
    wf.Checkpoint(model=model, run={"epoch": 1}).restore(of_late)
    gone = weakref.ref(model)
    del model
    gc.collect()
    assert gone() is None
    Late()(1.0)  # nothing waits for it


@dataclasses.dataclass
class Run:
    model: Late
    more: dict


@pytest.mark.parametrize("kept", [True, False])
def test_structures(tmp_path, kept):
    run = Run(Late(), {"late": Late(), "list": [Late()]})
    for model in (run.model, run.more["late"], run.more["list"][0]):
        model(1.0)
        model.w.assign(5.0)
    path = str(tmp_path / "run")
    wf.Checkpoint(run).write(path)
    run = Run(Late(), {"late": Late(), "list": [Late()]})
    wf.Checkpoint(run).restore(path)
    models = [run.model, run.more["late"], run.more["list"][0]]
    if not kept:
        del run
        gc.collect()
    assert [float(model(1.0)) for model in models] == [5.0] * 3


def test_the_last_restore_counts(tmp_path, of_late):
    model = Late()
    model(1.0)
    model.w.assign(6.0)
    other = str(tmp_path / "other")
    wf.Checkpoint(model=model).write(other)
    model = Late()
    for path in (of_late, other, of_late, other):
        wf.Checkpoint(model=model).restore(path)
    assert float(model(1.0)) == 6.0


def test_a_partial_restore_of_a_manager(tmp_path):
    model = Late()
    model(1.0)
    model.w.assign(5.0)
    manager = wf.CheckpointManager(tmp_path / "run", background=False)
    manager.save(wf.Checkpoint(model=model))
    other = Late()
    assert manager.restore_latest(wf.Checkpoint(model=other), partial=True).number == 1
    assert float(other(1.0)) == 5.0


def test_the_warning_comes_when_nothing_can_come_any_more(tmp_path, of_late, capfd):
    model = Late()
    wf.Checkpoint(model=model).restore(of_late)
    assert "not all of it" not in capfd.readouterr().err
    del model
    gc.collect()
    assert "Nothing here is called 'model.w'" in capfd.readouterr().err


def test_the_end_of_a_program_leaves_nothing_behind(tmp_path, of_late):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, weft as wf\n"
        "class Late(wf.Module): pass\n"
        "model = Late()\n"
        "wf.Checkpoint(model=model).restore(sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, script, of_late], capture_output=True, text=True, check=True)
    assert done.stderr.count("\n") == 1 and "Nothing here is called 'model.w'" in done.stderr
