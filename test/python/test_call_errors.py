"""Wrong calls of functions and methods of C++: one sentence each, which names the function and the argument."""

import inspect
import sys
import traceback
import types

import pytest

import weft as wf
import weft.nn as nn
from weft import _weft

FUNCTION, METHOD = types.BuiltinFunctionType, types.MethodDescriptorType


FAMILIES = ("weft.checkpoint", "weft.data", "weft.io", "weft.summary", "weft.train")


def is_public(name):
    return not any(part.startswith(("_", "internal_")) for part in name.split("."))


def public_functions():
    """Those of modules, by the shortest name that users have for them."""
    names = {}
    for module in [name for name in sorted(sys.modules) if name.split(".")[0] == "weft" and is_public(name)]:
        for name, value in vars(sys.modules[module]).items():
            # Ops and the like, of the module weft, are in test_ops.py.
            # Those of losses and networks have tables of options.
            is_bound = type(value) is FUNCTION and value.__module__ in ("weft._weft", *FAMILIES)
            if is_bound and is_public(name):
                names.setdefault(value, []).append(f"{module}.{name}")
    return {min(all_names, key=lambda name: (".tf." in name, len(name))): f for f, all_names in names.items()}


def bound_methods_of(cls):
    """Without those that are rows of Python's own: they take what they take by position."""
    methods = {name: value for name, value in vars(cls).items() if type(value) is METHOD and not issubclass(cls, wf.Error)}
    rows = ("__dlpack__", "__dlpack_device__", "assign", "assign_add", "assign_sub")
    return {name: value for name, value in methods.items() if name not in rows}


FUNCTIONS = public_functions()
BOUND = [_weft, *(sys.modules[name.replace(".", "._")] for name in FAMILIES)]
CLASSES = {
    name: cls
    for module in BOUND
    for name, cls in vars(module).items()
    if isinstance(cls, type) and bound_methods_of(cls)
}


def ended_run():
    """A run is what callbacks are given."""
    runs = []
    x = wf.ones((4, 2))
    model = nn.Sequential([nn.Dense(1)])
    wf.train.fit(
        model,
        wf.data.from_tensors((x, wf.ones((4, 1)))).batch(2),
        loss=wf.losses.mean_squared_error,
        optimizer=wf.optimizers.SGD(0.1),
        epochs=1,
        callbacks=[runs.append],
        progress=False,
    )
    return runs[0]


def stopped_profile():
    """There is one at a time."""
    profile = wf.train.Profile()
    profile.stop()
    return profile


OBJECTS = {
    "DType": lambda: wf.float32,
    "Tensor": lambda: wf.ones((2,)),
    "Variable": lambda: wf.Variable([1.0]),
    "Generator": lambda: wf.random.Generator(1),
    "GradientTape": wf.GradientTape,
    "Function": lambda: wf.function(lambda x: x),
    "TensorArray": lambda: wf.TensorArray("float32"),
    "Initializer": nn.initializers.zeros,
    "Layer": lambda: nn.Dense(1),
    "Metric": wf.metrics.Mean,
    "Schedule": lambda: wf.schedules.cosine_decay(0.1, 10),
    "ReduceOnPlateau": lambda: wf.schedules.ReduceOnPlateau(0.1),
    "Optimizer": lambda: wf.optimizers.SGD(0.1),
    "internal_History": wf.train.History,
    "Checkpoint": lambda: wf.Checkpoint(v=wf.Variable(1.0)),
    "CheckpointManager": lambda: wf.CheckpointManager("checkpoints"),
    "Dataset": lambda: wf.data.range(3),
    "Profile": stopped_profile,
    "Run": ended_run,
    "Writer": lambda: wf.summary.Writer("events"),
}


def message_of(call):
    """What a call says that is a TypeError; None for others: not each of these calls is wrong."""
    try:
        call()
    except TypeError as error:
        return str(error)
    except (wf.Error, AttributeError, OSError):
        return None
    return None


def check(call, name, is_wrong=True):
    said = message_of(call)
    if said is None:
        assert not is_wrong, name
        return 0
    assert "incompatible function arguments" not in said and "\n" not in said, said
    assert "internal_" not in said and "_weft" not in said, said
    if is_wrong:
        assert said.startswith(name), (name, said)
    return 1


def parameters_of(function):
    """Those that users give."""
    return [p for name, p in inspect.signature(function).parameters.items() if name != "self"]


def needed_of(function):
    given = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in parameters_of(function) if p.default is p.empty and p.kind not in given]


def check_all(call, name, function):
    """Calls with a wrong keyword, with too many arguments, with none, and with some that nothing takes."""
    kinds = [p.kind for p in parameters_of(function)]
    takes_all, takes_words = (kind in kinds for kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD))
    needs_one = needed_of(function) != []
    by_position = [kind for kind in kinds if kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    for odd in (object(), None, 1j, 2**70):
        check(lambda odd=odd: call(*[odd] * len(by_position)), name, False)
    return (
        check(lambda: call(no_such_word=1), name, not takes_words)
        + check(lambda: call(*[object()] * 40), name, not takes_all)
        + check(lambda: call(), name, needs_one)
    )


def test_functions_of_modules():
    checked = sum(check_all(f, f"{name}()", f) for name, f in FUNCTIONS.items())
    assert len(FUNCTIONS) >= 14 and checked > 2 * len(FUNCTIONS)


def test_no_function_is_bound_by_nanobind_alone():
    """Its errors are lists of overloads: what users call has a table of parameters instead."""
    owners = [*BOUND, *(cls for module in BOUND for cls in vars(module).values() if isinstance(cls, type))]
    bound = {name for owner in owners for name, value in vars(owner).items() if type(value).__name__ in ("nb_func", "nb_method")}
    assert {name for name in bound if not name.startswith("schedules_")} == set()


@pytest.mark.parametrize("name", [name for name in CLASSES if is_public(name) or name in OBJECTS])
def test_methods(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cls = CLASSES[name]
    for word, method in bound_methods_of(cls).items():
        if word in ("__next__", "__iter__", "__enter__", "__exit__"):
            continue
        if word == "__init__":
            check_all(type(OBJECTS[name]()) if name in OBJECTS else cls, "weft.", method)
            continue
        # Not one of them reads an object of another class, as Python says itself.
        needed = len(needed_of(method))
        assert message_of(lambda method=method, needed=needed: method(object(), *[1] * needed)).startswith("descriptor")
        assert word in message_of(lambda method=method: method())
        if name in OBJECTS:
            one = OBJECTS[name]()
            check_all(lambda *args, one=one, method=method, **words: method(one, *args, **words), "weft.", method)


def test_every_class_with_methods_is_looked_at():
    looked_at = {cls for name, cls in CLASSES.items() if name in OBJECTS}
    without = {
        name for name, cls in CLASSES.items() if is_public(name) and not any(issubclass(cls, one) for one in looked_at)
    }
    # Methods of the first two take nothing; there is one of the third in traces alone.
    assert without == {"RestoreStatus", "device", "Size"}


TAPE = wf.GradientTape
UNIFORM = wf.random.uniform


@pytest.mark.parametrize(
    "call, text",
    [
        (
            lambda: UNIFORM((2,), generatr=1),
            "weft.random.uniform() got an unexpected argument 'generatr': it takes shape, low, high, dtype, seed, key",
        ),
        (
            lambda: UNIFORM((2,), sed=1),
            "weft.random.uniform() got an unexpected argument 'sed'; did you mean 'seed'?",
        ),
        (lambda: UNIFORM(), "weft.random.uniform() is missing the argument 'shape'"),
        (
            lambda: UNIFORM((2,), 0, 1, "float32"),
            "weft.random.uniform() takes by position at most 3 arguments and was given 4",
        ),
        (lambda: UNIFORM((2,), shape=1), "weft.random.uniform() got the argument 'shape' twice"),
        (
            lambda: wf.random.Generator(sed=1),
            "weft.random.Generator() got an unexpected argument 'sed'; did you mean 'seed'?",
        ),
        (
            lambda: wf.random.Generator(1).uniform(),
            "weft.random.Generator.uniform() is missing the argument 'shape'",
        ),
        (
            lambda: wf.random.Generator.uniform(3),
            "descriptor 'uniform' for 'Generator' objects doesn't apply to a 'int' object",
        ),
        (
            lambda: TAPE(persist=True),
            "weft.GradientTape() got an unexpected argument 'persist'; did you mean 'persistent'?",
        ),
        (
            lambda: TAPE("yes"),
            "GradientTape: persistent is 'yes': True or False is wanted",
        ),
        (lambda: TAPE(1, 2, 3), "weft.GradientTape() takes at most 2 arguments and was given 3"),
        (lambda: TAPE().reset(1), "weft.GradientTape.reset() takes no arguments and was given 1"),
        (lambda: wf.save_weights("x"), "weft.save_weights() is missing the argument 'model'"),
        (
            lambda: wf.load_weights("x", nn.Dense(1), strict="no"),
            "load_weights: strict is 'no': True or False is wanted",
        ),
        (lambda: wf.save_weights("x", None), "save_weights: model is None: a value is wanted"),
        (
            lambda: wf.set_printoptions(precison=1),
            "weft.set_printoptions() got an unexpected argument 'precison'; did you mean 'precision'?",
        ),
        (
            lambda: wf.ones(2).to_device(3),
            "to_device: device is 3: a text is wanted",
        ),
        (lambda: format(wf.ones(2), 3), "format() argument 2 must be str, not int"),
        (
            lambda: setattr(wf.optimizers.SGD(0.1), "learning_rate", None),
            "weft.optimizers.SGD.learning_rate is None: a value is wanted",
        ),
        # Classes and functions of Python over others: by the names that users have.
        (
            lambda: wf.train.History().best(3),
            "best: name is 3: a text is wanted",
        ),
        (
            lambda: wf.train.History().steps(3),
            "steps: name is 3: a text is wanted",
        ),
        (lambda: wf.train.History().add("a"), "weft.train.History.add() is missing the argument 'step'"),
        (lambda: wf.GradientTape(None), "GradientTape: persistent is None: True or False is wanted"),
        # Numbers that no 64 bits hold.
        (
            lambda: wf.train.History().drop_after(2**70),
            "drop_after: step does not fit 64 bits",
        ),
        # Classes whose objects users get from elsewhere.
        (
            lambda: wf.RestoreStatus(),
            "weft.RestoreStatus has no constructor: functions and other classes make its objects",
        ),
    ],
)
def test_texts(call, text):
    with pytest.raises((TypeError, wf.ValueError)) as caught:
        call()
    # That a call does not bind is an error of Python's own; of values, one that knows the user's line.
    assert type(caught.value) in (TypeError, wf.DTypeError, wf.ValueError)
    assert getattr(caught.value, "message", str(caught.value)) == text


def test_setters_of_runs_name_what_is_wanted():
    run = ended_run()
    with pytest.raises(TypeError) as caught:
        run.stop = 3
    assert caught.value.message == "weft.train.Run.stop is 3: True or False is wanted"


def test_the_traceback_is_short():
    """No other error is its cause or its context."""
    with pytest.raises(TypeError) as caught:
        wf.random.uniform()
    assert caught.value.__cause__ is None and caught.value.__context__ is None
    assert len(traceback.extract_tb(caught.value.__traceback__)) == 1


def test_errors_of_functions_that_are_called_back_stay():
    """A TypeError that a function of the user raises goes through as it is, whatever it says."""
    text = "f(): incompatible function arguments. The following argument types are supported: all"

    def loss():
        raise TypeError(text)

    with pytest.raises(TypeError) as caught:
        wf.optimizers.SGD(0.1).minimize(loss, [wf.Variable(1.0)])
    assert str(caught.value) == text
