"""Modules, Models and Sequentials: what is in them, by which paths, copies, files, and how they are called."""

import copy
import dataclasses
import gc
import pickle
import traceback
import weakref

import numpy as np
import pytest

import weft as wf


class Linear(wf.Module):
    def __init__(self, value):
        self.w = wf.Variable([value])


class Tree(wf.Module):
    def __init__(self):
        self.first = Linear(1.0)
        self.items = [Linear(2.0), (wf.Variable(3.0), "text")]
        self.table = {"a": Linear(4.0), 7: wf.Variable(5, trainable=False)}
        self.number, self.function = 3, len


@dataclasses.dataclass
class Pair:
    left: object
    right: object


def test_variables_are_found_by_the_names_of_attributes():
    tree = Tree()
    assert list(tree.named_variables()) == ["first.w", "items.0.w", "items.1.0", "table.a.w", "table.7"]
    assert [float(np.sum(v)) for v in tree.variables] == [1, 2, 3, 4, 5]
    assert len(tree.trainable_variables) == 4
    assert [int(v) for v in tree.non_trainable_variables] == [5]
    assert tree.parameter_count == 4


def test_what_is_appended_later_is_found():
    tree = Tree()
    tree.items.append(Linear(6.0))
    tree.pair = Pair(left=Linear(8.0), right=3)
    assert list(tree.named_variables())[-2:] == ["table.7", "pair.left.w"]
    assert "items.2.w" in tree.named_variables()


def test_variables_take_their_paths_as_names():
    tree = Tree()
    tree.own = wf.Variable(1.0, name="mine")
    tree.named_variables()
    assert tree.items[0].w.name == "items.0.w" and tree.own.name == "mine"


def test_shared_variables_count_once_and_cycles_end():
    a, b = Linear(1.0), Linear(2.0)
    a.friend, b.friend, a.same = b, a, b.w
    b.all = everyone = [a, b]
    everyone.append(everyone)
    assert list(a.named_variables()) == ["w", "friend.w"]
    assert len(b.variables) == 2
    assert "..." in repr(a)


def test_many_modules_that_know_each_other_are_no_exponential_walk():
    parts = [Linear(float(i)) for i in range(40)]
    for part in parts:
        part.others = parts
    assert len(parts[0].variables) == 40


def test_init_need_not_be_called():
    class Bare(wf.Module):
        pass

    bare = Bare()
    assert bare.variables == [] and repr(bare) == "Bare()"
    with pytest.raises(AttributeError, match="has no attribute 'w': it has no attributes at all"):
        bare.w


def test_a_layer_that_was_never_initialized_says_so():
    class Mine(wf.nn.Dense):
        def __init__(self):
            pass

    class Model(wf.Module):
        def __init__(self):
            self.layer = Mine()

    for use in (lambda: Mine()(wf.ones((1, 2))), lambda: Model().variables, lambda: Mine().kernel):
        with pytest.raises(TypeError):
            use()
    with pytest.raises(TypeError, match=r"this Mine was never initialized: call super\(\).__init__"):
        Model().variables


def test_keys_that_are_no_parts_of_paths_are_refused():
    module = wf.Module()
    module.table = {"a.b": wf.Variable(1.0)}
    with pytest.raises(wf.ValueError, match="'a.b'"):
        module.variables
    module.table = {"a.b": 3, (1, 2): "no variables"}
    assert module.variables == []


def test_a_module_may_not_hide_what_it_says_of_itself():
    with pytest.raises(ValueError, match="'variables'"):

        class Wrong(wf.Module):
            variables = 3


def test_attributes_in_slots_and_of_layers_of_the_user():
    class Slotted(wf.Module):
        __slots__ = ("w",)

    class Scaled(wf.nn.Dense):
        def __init__(self):
            super().__init__(2)
            self.scale = wf.Variable(2.0)

        def __call__(self, x):
            return super().__call__(x) * self.scale

    module = Slotted()
    module.w = wf.Variable(1.0)
    module.layer = Scaled()
    y = module.layer(wf.ones((1, 3)))
    assert y.shape == (1, 2)
    assert list(module.named_variables()) == ["w", "layer.kernel", "layer.bias", "layer.scale"]


def test_deep_copies_have_variables_of_their_own_and_share_what_was_shared():
    tree = Tree()
    tree.again = tree.first.w
    tree.dense = wf.nn.Dense(2)
    tree.dense(wf.ones((1, 3)))
    tree.later = wf.nn.Dense(2)
    other = copy.deepcopy(tree)
    assert other.again is other.first.w and other.again is not tree.again
    assert np.array_equal(other.dense.kernel, tree.dense.kernel)
    other.dense.kernel.assign(0)
    assert np.any(np.asarray(tree.dense.kernel) != 0)
    assert other.later(wf.ones((1, 3))).shape == (1, 2) and tree.later.kernel is None


def test_pickles_have_the_values():
    model = wf.Sequential([wf.nn.Dense(4, "relu"), wf.nn.BatchNorm(), wf.nn.Dropout(0.5), wf.nn.Dense(2)])
    x = wf.random.normal((3, 5), seed=1)
    expected = np.asarray(model(x))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again(x), expected)
    unbuilt = pickle.loads(pickle.dumps(wf.nn.Dense(3, kernel_initializer=wf.nn.initializers.constant(2.0))))
    assert np.array_equal(unbuilt(wf.ones((1, 2)))[0], [4, 4, 4])


def test_weights_go_through_files(tmp_path):
    def build():
        return wf.Sequential([wf.nn.Dense(4, "tanh"), wf.nn.Dense(2)])

    x = wf.random.normal((3, 5), seed=2)
    model, other = build(), build()
    expected = np.asarray(model(x))
    model.save_weights(tmp_path / "weights")
    status = other.load_weights(tmp_path / "weights")
    assert len(status.waiting()) == 2
    assert np.array_equal(other(x), expected)
    status.assert_consumed()
    wrong = wf.Sequential([wf.nn.Dense(4)])
    with pytest.raises(wf.IOError):
        wrong.load_weights(tmp_path / "weights")


def test_seeds_make_the_same_bits():
    def build(seed):
        model = wf.Sequential([wf.nn.Dense(4), wf.nn.Dense(2)])
        wf.nn.seed(model, seed)
        return np.asarray(model(wf.ones((1, 3))))

    assert np.array_equal(build(7), build(7)) and not np.array_equal(build(7), build(8))


def test_assign_copies_by_path():
    a, b = Tree(), Tree()
    b.first.w.assign([9.0])
    wf.nn.assign(a, b)
    assert float(a.first.w[0]) == 9
    with pytest.raises(ValueError):
        wf.nn.assign(a, Linear(1.0))


# Calls.


class Classifier(wf.Model):
    def __init__(self):
        super().__init__()
        self.hidden = wf.nn.Dense(8, activation="relu")
        self.drop = wf.nn.Dropout(0.5)
        self.blocks = [wf.nn.Dense(8), wf.nn.LayerNorm()]
        self.out = wf.nn.Dense(3)

    def call(self, x, training=False):
        x = self.drop(self.hidden(x), training=training)
        for block in self.blocks:
            x = block(x)
        return self.out(x)


def test_models_are_made_by_their_first_call():
    model = Classifier()
    # What needs no input to be created is there: biases, and the generator of dropout.
    assert not model.built and "hidden.kernel" not in model.named_variables()
    assert model(wf.ones((2, 4)), training=True).shape == (2, 3)
    assert model.built and len(model.trainable_variables) == 8
    assert model.hidden.kernel.name == "hidden.kernel" and model.blocks[0].name == "blocks.0"
    assert model.layers == [model.hidden, model.drop, *model.blocks, model.out]
    with pytest.raises(wf.ShapeError, match="hidden"):
        model(wf.ones((2, 5)))


def test_layers_that_are_not_built_list_no_variables():
    # A bias has its shape at once, and was all that an optimizer was given.
    model = wf.Sequential([wf.nn.Dense(3), wf.nn.Dropout(0.5), wf.nn.LSTM(2)])
    assert list(model.named_variables()) == ["1.generator"] and model.trainable_variables == []
    assert wf.nn.Dense(3).variables == []
    model[0].build((None, 4))
    assert list(model.named_variables()) == ["0.kernel", "0.bias", "1.generator"]
    model[2].build((None, 5, 3))
    assert len(model.trainable_variables) == 5


def test_training_goes_to_those_that_take_it():
    class Plain(wf.Model):
        def call(self, x):
            return x + 1

    seen = []

    class Asks(wf.Module):
        def __call__(self, x, *, training):
            seen.append(training)
            return x

    assert float(Plain()(1.0, training=True)) == 2
    wf.Sequential([Plain(), Asks(), wf.relu, wf.nn.Dropout(0.1), lambda x: x])(wf.ones(3), training=True)
    assert seen == [True]


def test_build_and_summary(capsys):
    model = Classifier()
    with pytest.raises(wf.StateError, match="give input_shape"):
        model.summary()
    assert model.build((None, 4)) is model and model.parameter_count == 40 + 72 + 16 + 27
    model(wf.ones((2, 4)))
    model.summary()
    text = capsys.readouterr().out
    assert "hidden (Dense)" in text and "blocks.1 (LayerNorm)" in text and "Parameters: 155" in text


def test_a_sequential_with_an_input_shape_is_built_at_once():
    model = wf.Sequential(
        [
            wf.nn.Conv2D(16, [3, 3], activation="relu", input_shape=(None, None, 1)),
            wf.nn.Conv2D(16, [3, 3], activation="relu"),
            wf.nn.GlobalAveragePooling2D(),
            wf.nn.Dense(10),
        ]
    )
    assert [v.shape for v in model.trainable_variables] == [(3, 3, 1, 16), (16,), (3, 3, 16, 16), (16,), (16, 10), (10,)]
    assert model.parameter_count == 2650
    assert model(wf.zeros((2, 9, 8, 1))).shape == (2, 10)
    added = wf.Sequential().add(wf.nn.Input((5,))).add(wf.nn.Dense(2), name="out")
    assert list(added.named_variables()) == ["out.kernel", "out.bias"]
    assert len(added) == 2 and added["out"] is added[1] and len(model[1:3]) == 2
    assert list(model) == model.layers


def test_a_sequential_takes_layers_as_arguments():
    # The second one was taken for the name.
    a, b, c = (wf.nn.Dense(n) for n in (2, 3, 4))
    assert wf.Sequential(a, b).layers == [a, b] and wf.Sequential(a, b, c, name="m").layers == [a, b, c]
    assert wf.Sequential([a, b], "m").name == wf.Sequential(a, "m").name == "m"
    assert wf.Sequential(layers=(a, b), name="m").layers == [a, b] and wf.Sequential().layers == []


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: wf.Sequential([3]), "3 is no layer"),
        (lambda: wf.Sequential([wf.nn.Dense]), "this is a class: make one of it"),
        (lambda: wf.Sequential().add(wf.relu, name="a.b"), "'a.b'"),
        (lambda: wf.Sequential().add(wf.relu, wf.relu), "the name of a layer is a builtin_function_or_method: a text"),
        (lambda: wf.Sequential([wf.relu], [wf.relu]), "is no layer"),
        (lambda: wf.Model()(1), "no method call"),
        (lambda: wf.Model(wf.nn.Dense(3)), "Model: name is a Dense: a text is wanted"),
        (lambda: wf.Module(3), "Module: name is a int: a text is wanted"),
        (lambda: wf.nn.Residual(3), "Residual: layer is a int: a layer is wanted"),
        (lambda: wf.nn.Input("x"), "Input: shape is 'x': a list of integers is wanted"),
        (lambda: wf.nn.Input(3), "Input: shape is 3: a list of integers is wanted"),
        (lambda: wf.nn.Input([wf.relu]), "a list of integers is wanted"),
        (lambda: wf.TensorSpec(3), "TensorSpec: shape is 3: a list of integers is wanted"),
        (lambda: wf.Variable(1.0, "v"), "weft.Variable: trainable is of type str: True or False is wanted"),
        (lambda: wf.Variable(1.0, wf.float64), "trainable is of type .*write name= and dtype="),
        (lambda: wf.optimizers.Adam(wf.nn.Dense(3), wf.nn.Dense(4)), "learning_rate is a Dense with variables"),
        (lambda: wf.nn.Dense(3, wf.nn.Dense(4)), "activation is a Dense with variables of its own.*behind this"),
    ],
)
def test_bad_models(make, message):
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=message):
        make()


def test_errors_show_the_lines_of_the_user_alone():
    class Outer(wf.Model):
        def __init__(self):
            super().__init__()
            self.blocks = [wf.Sequential([wf.nn.Dense(3)])]

        def call(self, x):
            return self.blocks[0](x)

    @dataclasses.dataclass(frozen=True)
    class Frozen(Exception):
        text: str

    def refuse(x):
        raise Frozen("mine")

    model, x, wrong = Outer(), wf.ones((1, 2)), wf.ones((1, 3))
    model(x)
    data = [(wrong, x)]
    run = dict(optimizer=wf.optimizers.SGD(0.1), loss=wf.losses.mean_squared_error, progress=False)
    here = [*model.blocks[0].layers, refuse]
    for call in (
        lambda: model(wrong),
        lambda: wf.function(model)(wrong),
        lambda: wf.recompute(model)(wrong),
        lambda: wf.grad(lambda x: wf.sum(model(x)))(wrong),
        lambda: wf.vmap(model)(wrong[None]),
        lambda: wf.cond(True, lambda: model(wrong), lambda: model(wrong)),
        lambda: wf.nn.Residual(model)(wrong),
        lambda: model.fit(data, **run),
        lambda: wf.train.fit(model, data, compile=False, **run),
        lambda: wf.Sequential(model)(wrong),
        lambda: model.build((None, 3)),
        lambda: wf.Sequential(here)(x),
        lambda: wf.losses.MeanSquaredError()(x, wrong),
        lambda: wf.Sequential(3),
        lambda: list(wf.data.from_tensors(x).map(lambda row: row + wf.ones(3))),
        lambda: wf.data.zip(3),
        lambda: wf.Checkpoint(a=3).save("folder"),
        lambda: wf.io.load_npy("nothing.npy"),
        lambda: wf.function(3),
    ):
        with pytest.raises((wf.ShapeError, wf.IOError, Frozen, TypeError)) as caught:
            call()
        files = {entry.filename for entry in traceback.extract_tb(caught.value.__traceback__)}
        assert files == {__file__}
        if "Dense" in str(caught.value):
            assert "blocks.0.0 (Dense): the last axis of x is 3" in str(caught.value)


def test_models_are_collected_with_what_they_hold(live):
    def build():
        model = Classifier()
        model.parent = model
        model.optimizer = wf.optimizers.Adam(model)
        model.hidden2 = wf.nn.Dense(2, activation=lambda x: model.hidden(x), kernel_initializer=lambda s, d: model.out(wf.zeros(s)))
        model(wf.ones((2, 4)))
        return weakref.ref(model)

    reference = build()
    gc.collect()
    assert reference() is None


# Traced functions.


def test_a_tensor_may_decide_in_a_call():
    class Custom(wf.Model):
        @wf.function
        def call(self, x):
            if wf.mean(x) > 0:
                return x
            else:
                return x // 2

    class Plain(wf.Model):
        def call(self, x):
            if wf.mean(x) > 0:
                return x
            return x // 2

    x = wf.tensor([-2, -4])
    plain = Plain()
    outer = wf.Sequential([plain, Plain()])
    assert Custom()(x).tolist() == [-1, -2] and Custom()(x).dtype == wf.int32
    assert wf.function(plain)(x).tolist() == [-1, -2]
    assert wf.function(lambda x: plain(x))(x).tolist() == [-1, -2]
    assert wf.function(outer)(wf.tensor([-8, -4])).tolist() == [-2, -1]
    with pytest.raises(TypeError):
        wf.function(lambda x: plain(x), autograph=False)(x)


def test_models_and_optimizers_as_arguments_count_by_identity():
    @wf.function
    def step(model, optimizer, x):
        with wf.GradientTape() as tape:
            loss = wf.mean(wf.square(model(x)))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    model, optimizer = Classifier(), wf.optimizers.SGD(0.1)
    x = wf.random.normal((4, 4), seed=3)
    losses = [float(step(model, optimizer, x)) for _ in range(4)]
    assert step.trace_count() == 1 and losses[-1] < losses[0]
    step(Classifier(), wf.optimizers.SGD(0.1), x)
    assert step.trace_count() == 2


def test_a_model_made_in_its_first_trace_lives_on():
    model = Classifier()
    f = wf.function(lambda x: model(x))
    x = wf.random.normal((4, 4), seed=4)
    assert np.allclose(f(x), model(x), atol=1e-6)
    assert len(model.trainable_variables) == 8


def test_models_in_themselves():
    class Holder(wf.Module):
        pass

    model = wf.Sequential([wf.nn.Dense(2)])
    holder = Holder()
    holder.parts = {"model": [model]}
    holder.__class__.__call__ = lambda self, x: x
    for layer in model, wf.Sequential([model]), holder:
        with pytest.raises(wf.ValueError, match="a layer is the model itself, or holds it"):
            model.add(layer)
    assert len(model) == 1
    deep = [model]
    for _ in range(2000):
        deep = [deep]
    holder.parts = deep
    with pytest.raises(wf.ValueError, match="more than 500 Modules and containers"):
        holder.submodules
