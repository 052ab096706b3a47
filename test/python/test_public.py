"""What holds for all public names of the package: pickled by name, signatures, objects that are half created, None."""

import ast
import copy
import importlib.util
import inspect
import pickle
import re
import types
from pathlib import Path

import pytest

import weft as wf

MODULES = {
    "weft": wf,
    "weft.nn.initializers": wf.nn.initializers,
    **{
        f"weft.{name}": getattr(wf, name)
        for name in (
            "autograph", "config", "data", "distributed", "fft", "io", "linalg", "losses", "metrics", "nn", "optimizers", "random", "schedules",
            "special", "summary", "train",
        )
    },
}  # fmt: skip
PUBLIC = {
    f"{path}.{name}": getattr(module, name)
    for path, module in MODULES.items()
    for name in getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"])
}
CALLABLE = {name: value for name, value in PUBLIC.items() if callable(value)}
CLASSES = {
    name: value
    for name, value in CALLABLE.items()
    if isinstance(value, type) and not issubclass(value, BaseException | tuple)
}


def test_functions_and_classes_are_pickled_by_their_names():
    for name, value in CALLABLE.items():
        assert pickle.loads(pickle.dumps(value)) is value, name
        assert copy.deepcopy(value) is value, name
    assert wf.losses.huber.__module__ == "weft.losses" and wf.nn.gelu.__module__ == "weft.nn"


def test_signatures_say_how_many_arguments_go_by_position():
    checked = 0
    for name, function in CALLABLE.items():
        if not isinstance(function, types.BuiltinFunctionType):
            continue
        parameters = inspect.signature(function).parameters.values()
        kinds = [parameter.kind for parameter in parameters]
        if inspect.Parameter.VAR_POSITIONAL in kinds or function is wf.dtype:
            continue
        count = len(kinds) - kinds.count(inspect.Parameter.KEYWORD_ONLY)
        with pytest.raises(TypeError, match=rf"at most {count} argument" if count else "takes no arguments"):
            function(*[object()] * (count + 1))
        checked += 1
    assert checked > 100


def test_classes_say_how_many_arguments_go_by_position():
    """In the line of their documentation from which the stubs are written."""
    spec = importlib.util.spec_from_file_location("stubs", Path(__file__).parents[2] / "python/stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    bases = (wf.nn.Layer, wf.metrics.Metric, wf.optimizers.Optimizer)
    for name, cls in CLASSES.items():
        if not issubclass(cls, bases) or cls in bases:
            continue
        text = stubs.constructor(cls)
        names = [argument.arg for argument in ast.parse(f"class A:\n  {text}").body[0].body[0].args.args[1:]]
        if "*args" in text:
            assert issubclass(cls, wf.metrics.Metric), name
            continue
        with pytest.raises(TypeError, match=rf"at most {len(names)} argument" if names else "takes no arguments"):
            cls(*[object()] * 16)


def is_base(cls):
    """Whether subclasses are possible."""
    try:
        type("Mine", (cls,), {})
    except TypeError:
        return False
    return True


def members(cls):
    """What a class of the package, or a base of it there, has for its users."""
    for base in cls.__mro__:
        if base.__module__.split(".")[0] == "weft" and not base.__name__.startswith("internal_"):
            for name, value in vars(base).items():
                if name[0] != "_":
                    yield name, value


def arguments_for(method):
    """As many arguments as a method needs."""
    try:
        parameters = list(inspect.signature(method).parameters.values())[1:]
    except (TypeError, ValueError):
        text = re.search(r"\(self(.*?)\) ->", method.__doc__ or "")
        listed = [p.strip() for p in text[1].split(",")] if text else []
        return [1 for p in listed if p and "=" not in p and p[0] not in "*/"]
    return [1 for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


# Those that users derive from; methods of a History take texts, and are below.
BASES = [name for name, cls in CLASSES.items() if cls not in (wf.train.History, wf.ConcreteFunction) and is_base(cls)]


@pytest.mark.parametrize("name", BASES)
def test_half_made_subclasses_say_so(name):
    """Whatever is asked of an object whose __init__ was not called: an answer, or what to call."""
    cls = CLASSES[name]

    def make():
        class Mine(cls):
            def __init__(self):
                pass

        return Mine()

    said = 0
    uses = {"repr": repr, "copy": copy.deepcopy, "dumps": pickle.dumps}
    for word, value in members(cls):
        if isinstance(value, property) or not callable(value):
            uses[word] = lambda one, word=word: getattr(one, word)
        elif not isinstance(value, classmethod | staticmethod):
            uses[word] = lambda one, word=word, value=value: getattr(one, word)(*arguments_for(value))
    for word, use in uses.items():
        try:
            use(make())
        except (TypeError, wf.StateError, AttributeError, NotImplementedError) as error:
            assert not re.search("incompatible function|bad_cast|nanobind", str(error)), (word, error)
            said += "was never" in str(error)
            private = re.search(r"has no attribute '(_\w+)'", str(error))
            assert private is None or private[1].startswith("__"), (word, error)
        except (ValueError, pickle.PicklingError, IndexError, OSError):
            pass
    # A Module works without its __init__, which gives it nothing but a name.
    if cls in (wf.nn.Layer, wf.metrics.Metric):
        assert issubclass(cls, wf.Module)
    elif issubclass(cls, wf.nn.Layer | wf.metrics.Metric | wf.optimizers.Optimizer | wf.schedules.Schedule):
        assert said >= 3


@pytest.mark.parametrize(
    "cls, use",
    [
        (wf.Checkpoint, lambda one: one.save("x")),
        (wf.CheckpointManager, lambda one: one.checkpoints()),
        (wf.CheckpointManager, lambda one: one.folder),
        (wf.summary.Writer, lambda one: one.scalar("a", 1.0, 1)),
        (wf.train.Progress, lambda one: one.advance()),
        (wf.train.Progress, list),
        (wf.train.Profile, lambda one: one.stop()),
        (wf.train.History, lambda one: one.add("a", 1, 2.0)),
        (wf.train.History, repr),
        (wf.Sequential, lambda one: one.add(wf.nn.Dense(1))),
        (wf.TensorSpec, lambda one: one.shape),
        (wf.data.Dataset, list),
        (wf.losses.Loss, lambda one: one.name),
        (wf.losses.Huber, lambda one: one([1.0], [2.0])),
        (wf.losses.Huber, lambda one: one.reduction),
    ],
)
def test_half_made_classes_of_python_say_so(cls, use):
    class Mine(cls):
        def __init__(self):
            pass

    with pytest.raises((TypeError, wf.StateError), match="this Mine was never|Mine was never initialized"):
        use(Mine())


@pytest.mark.parametrize(
    "cls, use",
    [
        (wf.random.Generator, lambda one: one.uniform([2])),
        (wf.random.Generator, lambda one: wf.nn.dropout(wf.ones(2), 0.5, one)),
        (wf.GradientTape, lambda one: one.__enter__()),
        (wf.GradientTape, lambda one: one.gradient(wf.ones(2), wf.ones(2))),
        (wf.TensorArray, lambda one: one.size()),
        (wf.Variable, lambda one: one.assign(1.0)),
        (wf.Variable, lambda one: one.name),
        (wf.nn.initializers.Initializer, lambda one: one([2])),
        (wf.train.Callback, lambda one: fitted(one)),
    ],
)
def test_objects_of_new_alone_say_so(cls, use):
    with pytest.raises(TypeError, match=f"{cls.__name__} was never initialized: make one by a call of its class"):
        use(cls.__new__(cls))


def fitted(callback):
    """A run that tells a callback."""
    x = wf.ones((2, 1))
    return wf.train.fit(
        wf.nn.Dense(1),
        [(x, x)],
        optimizer=wf.optimizers.SGD(),
        loss=wf.losses.mean_squared_error,
        callbacks=[callback],
        progress=False,
    )


VARIABLE = wf.Variable([1.0])


@pytest.mark.parametrize(
    "use, words",
    [
        (lambda: wf.tensor(None), "value is of type None"),
        (lambda: wf.Variable(None), "None"),
        (lambda: VARIABLE.assign(None), "None"),
        (lambda: VARIABLE.assign_add(None), "None"),
        (lambda: wf.random.Generator().shuffle(None), "shuffle: x is of type None"),
        (lambda: wf.random.Generator().bernoulli([2], None), "probability is of type None"),
        (lambda: wf.random.Generator().uniform(None), "shape is .*None"),
        (lambda: wf.random.uniform(None), "shape is .*None"),
        (lambda: wf.TensorArray("float32").append(None), "append: value is of type None"),
        (lambda: wf.TensorArray("float32", 2).write(None, 1.0), "write: index is of type None"),
        (lambda: wf.TensorArray("float32", 2).write(0, None), "write: value is of type None"),
        (lambda: wf.TensorArray("float32", 2).read(None), "read: index is of type None"),
        (lambda: wf.TensorArray("float32", 2).gather(None), "gather: indices is of type None"),
        (lambda: wf.TensorArray(None), "TensorArray: dtype is None"),
        (lambda: taped().gradient(None, VARIABLE), "gradient: target is None"),
        (lambda: taped().gradient(VARIABLE, None), "gradient: sources is None"),
        (lambda: taped().jacobian(None, VARIABLE), "jacobian: target is of type None"),
        (lambda: taped().watch(None), "watch: what is watched is None"),
        (lambda: wf.optimizers.SGD([VARIABLE]).apply_gradients(None), "apply_gradients was given a NoneType"),
        (lambda: wf.schedules.cosine_decay(1.0, 3)(None), "schedule: step is of type None"),
        (lambda: wf.schedules.ReduceOnPlateau(0.1).update(None), "watched is None: a number"),
        (lambda: wf.metrics.Mean().merge(None), "merge: other is None: a metric"),
        (lambda: wf.nn.initializers.normal(None), "normal: stddev is None: a number"),
        (lambda: wf.nn.initializers.normal(0.1, "a"), "normal: mean is 'a': a number"),
        (lambda: wf.nn.initializers.ones()(None), "ones: shape is .*None"),
        (lambda: wf.random.uniform([2], "a"), "random: low is 'a': a number"),
        (lambda: wf.random.normal([2], stddev=None), "random: stddev is None: a number"),
        (lambda: wf.random.Generator().truncated_normal([2], [1.0]), r"random: mean is \[1.0\]: a number"),
        (lambda: wf.random.randint([2], 0, 2.5), "random: high is .*: an integer"),
        (lambda: wf.random.Generator().randint([2], None, 3), "random: low is .*: an integer"),
        (lambda: wf.random.permutation("a"), "random: n is .*: an integer"),
        (lambda: wf.random.Generator(1, 3), "Generator: name is 3: a text"),
        (lambda: wf.nn.initializers.normal(stdev=0.1), "did you mean 'stddev'"),
        (lambda: wf.Checkpoint(None), "there is nothing to save"),
    ],
)
def test_none_is_refused_by_name(use, words):
    with pytest.raises(TypeError, match=words):
        use()


def taped():
    """A tape that has recorded something."""
    with wf.GradientTape(persistent=True) as tape:
        VARIABLE * 2
    return tape


def test_generators_are_copied_and_pickled():
    generator = wf.random.Generator(7, "mine")
    generator.uniform([3])
    copies = [copy.deepcopy(generator), pickle.loads(pickle.dumps(generator))]
    expected = generator.uniform([4]).numpy()
    for other in copies:
        assert (other.uniform([4]).numpy() == expected).all() and other.state.name == "mine"

    class Noisy(wf.Module):
        def __init__(self):
            self.generator = generator
            self.also = generator

    model = copy.deepcopy(Noisy())
    assert model.generator is model.also and model.generator.state is not generator.state


def test_everything_that_is_called_has_a_signature():
    class Mine(wf.ShapeError):
        def __init__(self, what):
            super().__init__(what)

    for name, value in CALLABLE.items():
        if isinstance(value, type) and issubclass(value, Warning):
            continue  # of Python, which has none
        assert inspect.signature(value), name
    assert str(inspect.signature(wf.Variable)).startswith("(initial_value, trainable=True, name=None")
    assert list(inspect.signature(wf.function(lambda a, b=2: a)).parameters) == ["a", "b"]
    assert list(inspect.signature(Mine).parameters) == ["what"]


def test_methods_have_help():
    for name, cls in CLASSES.items():
        for word in dir(cls):
            method = getattr(cls, word, None)
            if not word.startswith("_") and callable(method):
                assert inspect.getdoc(method), f"{name}.{word}"
