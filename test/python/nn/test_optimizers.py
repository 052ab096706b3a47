"""Optimizers and schedules against NumPy: updates, rates, options, traced functions, copies and bad input."""

import copy
import gc
import math
import pickle

import numpy as np
import pytest

import weft as wf

O, S = wf.optimizers, wf.schedules

START = [np.array([1.0, -2.0, 3.0]), np.array([[0.5], [-1.5]])]
STEPS = [[np.random.default_rng(seed).normal(size=x.shape) for x in START] for seed in range(4)]


def close(actual, expected, tolerance=2e-5):
    assert np.allclose(np.asarray(actual), expected, rtol=tolerance, atol=tolerance), (actual, expected)


# The formulas: what becomes of a weight, of its state and a gradient. t counts from 1.


def sgd(w, g, s, t, rate, momentum=0.0, nesterov=False):
    if momentum == 0:
        return w - rate * g
    m = s["m"] = momentum * s.get("m", 0) - rate * g
    return w + momentum * m - rate * g if nesterov else w + m


def adam(w, g, s, t, rate, beta1=0.9, beta2=0.999, epsilon=1e-7, amsgrad=False, weight_decay=0.0):
    w = w - rate * weight_decay * w
    m = s["m"] = s.get("m", 0) + (g - s.get("m", 0)) * (1 - beta1)
    v = s["v"] = s.get("v", 0) + (g**2 - s.get("v", 0)) * (1 - beta2)
    if amsgrad:
        v = s["largest"] = np.maximum(s.get("largest", 0), v)
    return w - rate * math.sqrt(1 - beta2**t) / (1 - beta1**t) * m / (np.sqrt(v) + epsilon)


def adamw(w, g, s, t, rate, weight_decay=0.004):
    return adam(w, g, s, t, rate, weight_decay=weight_decay)


def rmsprop(w, g, s, t, rate, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False):
    v = s["v"] = rho * s.get("v", 0) + (1 - rho) * g**2
    if centered:
        s["mean"] = rho * s.get("mean", 0) + (1 - rho) * g
        v = v - s["mean"] ** 2
    change = rate * g / np.sqrt(v + epsilon)
    if momentum:
        change = s["m"] = momentum * s.get("m", 0) + change
    return w - change


def adagrad(w, g, s, t, rate, initial_accumulator=0.1, epsilon=1e-7):
    s["a"] = s.get("a", initial_accumulator) + g**2
    return w - rate * g / np.sqrt(s["a"] + epsilon)


def adadelta(w, g, s, t, rate, rho=0.95, epsilon=1e-7):
    a = s["a"] = rho * s.get("a", 0) + (1 - rho) * g**2
    d = np.sqrt(s.get("s", 0) + epsilon) / np.sqrt(a + epsilon) * g
    s["s"] = rho * s.get("s", 0) + (1 - rho) * d**2
    return w - rate * d


def lamb(w, g, s, t, rate, beta1=0.9, beta2=0.999, epsilon=1e-7, weight_decay=0.0):
    m = s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
    v = s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g**2
    u = m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + epsilon) + weight_decay * w
    return w - rate * u * np.linalg.norm(w) / np.linalg.norm(u)


def lion(w, g, s, t, rate, beta1=0.9, beta2=0.99):
    m = s.get("m", 0)
    s["m"] = beta2 * m + (1 - beta2) * g
    return w - rate * np.sign(beta1 * m + (1 - beta1) * g)


KINDS = {
    "SGD": (O.SGD, sgd, 0.01, {}),
    "SGD momentum": (O.SGD, sgd, 0.01, {"momentum": 0.9}),
    "SGD nesterov": (O.SGD, sgd, 0.01, {"momentum": 0.9, "nesterov": True}),
    "Adam": (O.Adam, adam, 0.001, {}),
    "Adam amsgrad": (O.Adam, adam, 0.001, {"beta1": 0.8, "beta2": 0.5, "epsilon": 1e-3, "amsgrad": True}),
    "AdamW": (O.AdamW, adamw, 0.001, {}),
    "RMSprop": (O.RMSprop, rmsprop, 0.001, {}),
    "RMSprop centered": (O.RMSprop, rmsprop, 0.001, {"centered": True, "momentum": 0.5, "epsilon": 1e-3}),
    "Adagrad": (O.Adagrad, adagrad, 0.001, {"initial_accumulator": 0.2}),
    "Adadelta": (O.Adadelta, adadelta, 0.001, {"rho": 0.9}),
    "Lamb": (O.Lamb, lamb, 0.001, {"weight_decay": 0.1}),
    "Lion": (O.Lion, lion, 0.001, {}),
}


def expected_of(formula, rates, options, steps=STEPS):
    weights, states = [x.copy() for x in START], [{} for _ in START]
    for t, (gradients, rate) in enumerate(zip(steps, rates), 1):
        weights = [formula(w, g, s, t, rate, **options) for w, g, s in zip(weights, gradients, states)]
    return weights


def variables():
    return [wf.Variable(x.astype(np.float32), name=f"v{i}") for i, x in enumerate(START)]


def tensors(gradients):
    return [wf.tensor(g.astype(np.float32)) for g in gradients]


@pytest.mark.parametrize("case", KINDS)
def test_gradients_that_left_their_trace_are_refused(case):
    make, _, _, options = KINDS[case]
    left, v = [], wf.Variable(1.0)
    wf.function(lambda x: (left.append(wf.sum(x)), x)[1])(wf.ones([3]))
    optimizer = make([v], learning_rate=0.1, **options)
    with pytest.raises(wf.StateError, match="outside of its trace"):
        optimizer.apply_gradients([(left[0], v)])
    assert float(v) == 1 and int(optimizer.step) == 0


@pytest.mark.parametrize("case", KINDS)
@pytest.mark.parametrize("traced", [False, True])
def test_updates_are_the_formulas(case, traced):
    make, formula, usual, options = KINDS[case]
    rate, given = (0.05, {"learning_rate": 0.05}) if traced else (usual, {})
    bound, unbound = variables(), variables()
    with_variables, without = make(bound, **given, **options), make(**given, **options)

    def step(*gradients):
        with_variables.apply_gradients(gradients)
        without.apply_gradients(zip(gradients, unbound))

    run = wf.function(step) if traced else step
    for gradients in STEPS:
        run(*tensors(gradients))
    for own in (bound, unbound):
        for v, w in zip(own, expected_of(formula, [rate] * 4, options)):
            close(v, w)
    assert int(with_variables.step) == 4 == int(without.step)
    assert without.variables == unbound and without.name == case.split()[0]
    assert len(with_variables.state) == len(without.state) >= 1


def test_ways_to_say_what_is_trained():
    model = wf.Sequential([wf.nn.Dense(2, input_shape=(3,))])
    assert O.Adam(model).variables == model.trainable_variables
    assert O.Adam(variables=model.trainable_variables, learning_rate=0.5).variables == model.trainable_variables
    assert O.Adam([model, wf.nn.Dense(2, use_bias=False)]).variables == model.trainable_variables
    assert O.SGD(0.5).variables == [] and float(O.SGD(0.5).learning_rate) == 0.5
    assert float(O.SGD(model, 0.25).learning_rate) == 0.25 and float(O.SGD().learning_rate) == 0.01
    assert repr(O.SGD(0.5)) == "<weft.optimizers.SGD, of no variables yet>"
    assert repr(O.SGD(model)) == "<weft.optimizers.SGD>"
    assert isinstance(O.SGD(), O.Optimizer) and O.SGD().state == []


def test_models_without_values_are_trained_from_their_first_call():
    model = wf.Sequential([wf.nn.Dense(4, "tanh"), wf.nn.Dense(1)])
    adam, x = O.Adam(model, 0.01), wf.random.normal((8, 3), seed=1)

    @wf.function
    def step():
        with wf.GradientTape() as tape:
            loss = wf.mean(wf.square(model(x) - 1))
        adam.apply_gradients(tape.gradient(loss, model.trainable_variables))
        return loss

    losses = [float(step()) for _ in range(5)]
    assert losses == sorted(losses, reverse=True) and int(adam.step) == 5


def test_gradients_come_in_any_order_and_may_be_missing():
    a, b = variables()
    adam = O.SGD(1.0)
    first, second = tensors(STEPS[0])
    adam.apply_gradients([(first, a), (second, b)])
    adam.apply_gradients(zip([second, first], [b, a]))
    close(a, START[0] - 2 * STEPS[0][0])
    adam.apply_gradients([(None, a), (second, b)])
    adam.apply_gradients([[second, b]])
    close(a, START[0] - 2 * STEPS[0][0])
    close(b, START[1] - 4 * STEPS[0][1])
    adam.apply_gradients({"a": first, "b": [second]})
    close(a, START[0] - 3 * STEPS[0][0])


def test_minimize():
    w = wf.Variable([3.0, -1.0])
    for optimizer in (O.SGD([w], 0.1), O.SGD(0.1)):
        w.assign([3.0, -1.0])
        args = () if optimizer.variables else ([w],)
        assert float(optimizer.minimize(lambda: wf.sum(wf.square(w)), *args)) == 10
        close(w, [2.4, -0.8])
        traced = wf.function(lambda: optimizer.minimize(lambda: wf.sum(wf.square(w)), [w]))
        close(traced(), 6.4)
        close(w, [1.92, -0.64])


class _OfUser(O.Optimizer):
    def update_step(self, gradient, variable, learning_rate):
        variable.assign_sub(learning_rate * gradient)


class _OwnUpdates(O.SGD):
    def apply_gradients(self, gradients):
        super().apply_gradients(gradients)


@pytest.mark.parametrize("kind", [O.SGD, _OfUser, _OwnUpdates])
@pytest.mark.parametrize("traced", [False, True])
def test_minimize_carries_what_comes_with_the_loss(kind, traced):
    from collections import namedtuple

    pair = namedtuple("pair", "loss scores")
    w = wf.Variable([3.0, -1.0])
    optimizer = kind([w], 0.1)
    forms = {
        "tuple": lambda loss: (loss, w * 2),
        "list": lambda loss: [loss, w * 2],
        "nested": lambda loss: (loss, {"scores": [w * 2, "text"]}, None),
        "named": lambda loss: pair(loss, w * 2),
        "alone in a tuple": lambda loss: (loss,),
    }
    for form in forms.values():
        w.assign([3.0, -1.0])

        def step(form=form):
            return optimizer.minimize(lambda: form(wf.sum(wf.square(w))))

        w_before = form(10.0)
        found = wf.function(step)() if traced else step()
        assert type(found) is type(w_before) and len(found) == len(w_before)
        close(found[0], 10.0)
        close(w, [2.4, -0.8])
        if len(found) == 2:
            close(found[1], [6.0, -2.0])
        elif len(found) == 3:
            close(found[1]["scores"][0], [6.0, -2.0])
            assert found[1]["scores"][1] == "text" and found[2] is None
    with pytest.raises(wf.ShapeError, match="the loss must be a scalar"):
        optimizer.minimize(lambda: (w.value(), w))
    with pytest.raises(wf.DTypeError):
        optimizer.minimize(lambda: ("text", w))


# Options of all.


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("option", ["clip_value", "clip_norm", "clip_global_norm"])
def test_clipping(option, traced):
    def clipped(gradients):
        if option == "clip_value":
            return [np.clip(g, -0.5, 0.5) for g in gradients]
        norms = [np.linalg.norm(g) for g in gradients]
        if option == "clip_global_norm":
            norms = [np.linalg.norm(norms)] * 2
        return [g * min(1, 0.5 / n) for g, n in zip(gradients, norms)]

    own = variables()
    optimizer = O.SGD(own, 0.1, momentum=0.5, **{option: 0.5})
    run = (wf.function if traced else lambda f: f)(lambda *g: optimizer.apply_gradients(g))
    for gradients in STEPS:
        run(*tensors(gradients))
    expected = expected_of(sgd, [0.1] * 4, {"momentum": 0.5}, [clipped(g) for g in STEPS])
    for v, w in zip(own, expected):
        close(v, w)


def test_weights_decay_but_those_that_are_named():
    model = wf.Sequential([wf.nn.Dense(2, input_shape=(3,), bias_initializer="ones")])
    kernel = np.asarray(model[0].kernel)
    optimizer = O.SGD(model, 0.1, weight_decay=0.5, no_decay=["bias"])
    optimizer.apply_gradients([wf.zeros((3, 2)), wf.zeros(2)])
    close(model[0].kernel, kernel * 0.95)
    close(model[0].bias, [1, 1])


def test_averages_follow_and_are_exchanged():
    own, average = variables(), [x.copy() for x in START]
    optimizer, weights = O.SGD(own, 0.1, average=0.9), [x.copy() for x in START]
    for t, gradients in enumerate(STEPS):
        optimizer.apply_gradients(tensors(gradients))
        weights = [w - 0.1 * g for w, g in zip(weights, gradients)]
        # As Keras has it, the first average is the weight itself.
        average = [a + (w - a) * (1 - 0.9) if t else w for a, w in zip(average, weights)]
    optimizer.swap_averages()
    for v, a in zip(own, average):
        close(v, a)
    optimizer.swap_averages()
    for v, w in zip(own, weights):
        close(v, w)


def test_gradients_are_accumulated():
    own = variables()
    optimizer = O.SGD(own, 0.1, accumulate=2)
    run = wf.function(lambda *g: optimizer.apply_gradients(g))
    for gradients in STEPS:
        run(*tensors(gradients))
    assert int(optimizer.step) == 2
    for i, v in enumerate(own):
        close(v, START[i] - 0.05 * sum(g[i] for g in STEPS))


# Learning rates.

RATES = {
    "number": (lambda: 0.2, [0.2] * 4),
    "integer": (lambda: 1, [1.0] * 4),
    "schedule": (lambda: S.exponential_decay(0.2, 2, 0.5), [0.2 * 0.5 ** (i / 2) for i in range(4)]),
    "function": (lambda: lambda step: 0.1 * wf.cast(step + 1, "float32"), [0.1, 0.2, 0.3, 0.4]),
    "Variable": (lambda: wf.Variable(0.3), [0.3] * 4),
    "plateau": (lambda: S.ReduceOnPlateau(0.3).rate, [0.3] * 4),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", RATES)
def test_learning_rates(kind, traced):
    make, rates = RATES[kind]
    own = variables()
    optimizer = O.SGD(own, learning_rate=make())
    gc.collect()
    run = (wf.function if traced else lambda f: f)(lambda *g: optimizer.apply_gradients(g))
    for gradients, rate in zip(STEPS, rates):
        close(optimizer.learning_rate, rate)
        run(*tensors(gradients))
    for v, w in zip(own, expected_of(sgd, rates, {})):
        close(v, w)


def test_rates_that_are_variables_are_assigned_also_between_traced_calls():
    own, rate = wf.Variable([0.0]), wf.Variable(1.0)
    optimizer = O.SGD(learning_rate=rate)
    run = wf.function(lambda g: optimizer.apply_gradients([(g, own)]))
    run(wf.ones(1))
    optimizer.learning_rate = 0.5
    run(wf.ones(1))
    rate.assign(0.25)
    run(wf.ones(1))
    optimizer.learning_rate = np.float32(0.125)
    run(wf.ones(1))
    close(own, [-1.875])
    assert run.trace_count() == 1 and optimizer.learning_rate is not None and float(rate) == 0.125


def test_rates_that_are_no_variables_are_not_assigned():
    optimizer = O.SGD(0.1)
    with pytest.raises(wf.StateError, match="SGD: .*make the optimizer with learning_rate=weft.Variable"):
        optimizer.learning_rate = 0.2


# Schedules.


def cosine(initial, steps, alpha=0.0):
    return lambda t: initial * ((1 - alpha) * (1 + math.cos(math.pi * min(t, steps) / steps)) / 2 + alpha)


def one_cycle(t, largest=1.0, steps=10, rising=0.3, first=25.0, last=10_000.0):
    up, end = rising * steps - 1, steps - 1
    begin = largest / first

    def between(a, b, share):
        return b + (a - b) / 2 * (1 + math.cos(math.pi * share))

    if t <= up:
        return between(begin, largest, t / up)
    return between(largest, begin / last, (min(t, end) - up) / (end - up))


SCHEDULES = {
    "exponential": (S.exponential_decay(0.5, 4, 0.9), lambda t: 0.5 * 0.9 ** (t / 4)),
    "staircase": (S.exponential_decay(0.5, 4, 0.9, staircase=True), lambda t: 0.5 * 0.9 ** (t // 4)),
    "cosine": (S.cosine_decay(0.5, 10, alpha=0.1), cosine(0.5, 10, 0.1)),
    "cosine warmup": (
        S.cosine_decay(0.1, 10, warmup=5, target=0.6),
        lambda t: 0.1 + 0.5 * t / 5 if t < 5 else cosine(0.6, 10)(t - 5),
    ),
    "warmup": (S.warmup(0.5, 4), lambda t: 0.5 * min(t / 4, 1)),
    "warmup after": (
        S.warmup(0.5, 4, after=S.inverse_time_decay(0.5, 2, 1.0)),
        lambda t: 0.5 * t / 4 if t < 4 else 0.5 / (1 + (t - 4) / 2),
    ),
    "piecewise": (S.piecewise_constant([3, 6], [1, 0.5, 0.1]), lambda t: 1 if t <= 3 else 0.5 if t <= 6 else 0.1),
    "polynomial": (
        S.polynomial_decay(0.5, 10, end=0.1, power=2.0),
        lambda t: 0.4 * (1 - min(t, 10) / 10) ** 2 + 0.1,
    ),
    "inverse": (S.inverse_time_decay(0.5, 4, 2.0), lambda t: 0.5 / (1 + 2 * t / 4)),
    "one cycle": (S.one_cycle(1.0, 10), one_cycle),
}


@pytest.mark.parametrize("case", SCHEDULES)
def test_schedules_are_their_formulas(case):
    schedule, formula = SCHEDULES[case]
    expected = [formula(t) for t in range(15)]
    close([float(schedule(t)) for t in range(15)], expected, 1e-6)
    traced = wf.function(lambda t: schedule(t))
    close([float(traced(wf.tensor(t))) for t in range(15)], expected, 1e-6)
    assert schedule(0).dtype == wf.float64 and isinstance(schedule, S.Schedule)
    for other in (pickle.loads(pickle.dumps(schedule)), copy.deepcopy(schedule)):
        assert repr(other) == repr(schedule)
        close([float(other(t)) for t in range(15)], expected, 1e-6)


def test_schedules_are_written_as_they_are_made():
    assert repr(S.exponential_decay(1, 10, 0.5)) == "exponential_decay(1.0, 10, 0.5, False)"


def test_plateaus_lower_the_rate():
    plateau = S.ReduceOnPlateau(0.4, factor=0.5, patience=2, cooldown=1, min_rate=0.15)
    own = wf.Variable([0.0])
    optimizer = O.SGD([own], learning_rate=plateau.rate)
    lowered = [plateau.update(loss) for loss in (1.0, 0.5, 0.5, 0.49999, 0.6, 0.6, 0.6, 0.6)]
    assert lowered == [False, False, False, True, False, True, False, False]
    assert float(plateau.rate) == np.float32(0.15) == float(optimizer.learning_rate)
    rising = S.ReduceOnPlateau(1.0, patience=1, largest_is_best=True)
    assert [rising.update(wf.tensor(x)) for x in (0.1, 0.2, 0.15)] == [False, False, True]


# Bad input.


V = wf.Variable([1.0, 2.0], name="v")
INTEGERS = wf.Variable(3, name="n")
W = wf.Variable([1.0], name="w")
BAD = [
    (lambda: O.Adam(learning_rat=1), TypeError, "'learning_rat'; did you mean 'learning_rate'"),
    (lambda: O.Adam([V], 0.1, 0.9), TypeError, "by position at most 2 arguments and was given 3"),
    (lambda: O.Adam(V), TypeError, r"write \[v\], or learning_rate=v"),
    (lambda: O.Adam([V, V]), ValueError, "Adam: the variable 'v' is given twice"),
    (lambda: O.Adam([INTEGERS]), wf.DTypeError, "Adam: the variable 'n' must be floating, but is int32"),
    (lambda: O.Adam([]), ValueError, "Adam"),
    (lambda: O.Adam("x"), TypeError, "'x' is neither a model nor a list of variables, nor a learning rate"),
    (lambda: O.Adam(-1.0), ValueError, "learning_rate is -1, but must be at least 0 and finite"),
    (lambda: O.Adam(learning_rate="x"), TypeError, "learning_rate is 'x': a number is wanted"),
    (lambda: O.Adam([V], beta1=2), ValueError, "beta1 is 2, but must be at least 0 and below 1"),
    (lambda: O.Adam(epsilon=-1), ValueError, "epsilon"),
    (lambda: O.SGD(momentum="much"), TypeError, "momentum is 'much': a number"),
    (lambda: O.SGD(no_decay="bias", weight_decay=0.1), TypeError, "no_decay is 'bias': a list of texts"),
    (lambda: O.SGD(clip_value=1, clip_norm=1), ValueError, "at most one of clip_value, clip_norm and"),
    (lambda: O.SGD(clip_norm=-1), ValueError, "clip_norm"),
    (lambda: O.SGD(average=2), ValueError, "average"),
    (lambda: O.SGD(accumulate=0), ValueError, "accumulate"),
    (lambda: O.SGD([V]).apply_gradients([wf.ones(3)]), wf.ShapeError, r"float32\(2,\), but its gradient is float32\(3,\)"),
    (lambda: O.SGD([V]).apply_gradients([wf.ones(2, dtype="float64")]), wf.DTypeError, "its gradient is float64"),
    (lambda: O.SGD([V]).apply_gradients([wf.ones(2)] * 2), ValueError, "there are 2 gradients for 1"),
    (lambda: O.SGD([V]).apply_gradients([None]), ValueError, "SGD: no gradient is defined, of 'v'"),
    (lambda: O.SGD([V]).apply_gradients(["a"]), TypeError, "a gradient is of type str"),
    (lambda: O.SGD().apply_gradients([wf.ones(2)]), wf.StateError, r"apply_gradients\(zip\(gradients, variables\)\)"),
    (lambda: O.SGD().apply_gradients(3), TypeError, r"was given a int: zip\(gradients, variables\) is wanted"),
    (lambda: O.SGD([V]).apply_gradients([(wf.ones(1), W)]), ValueError, "for the variable 'w', which is none"),
    (lambda: O.SGD([V, W]).apply_gradients([(wf.ones(1), W)] * 2), ValueError, "two gradients for the variable 'w'"),
    (lambda: O.SGD([V]).apply_gradients([(wf.ones(2), V), wf.ones(2)]), TypeError, "was given both"),
    (lambda: O.SGD().swap_averages(), wf.StateError, "swap_averages was asked before the first update"),
    (lambda: O.SGD([V]).swap_averages(), wf.StateError, "make it with the option average"),
    (lambda: O.SGD().minimize(lambda: 1.0), wf.StateError, "minimize was asked before the first update"),
    (lambda: O.SGD([V]).minimize(lambda: V), wf.ShapeError, "the loss must be a scalar, but is float32"),
    (lambda: O.SGD([V]).minimize(lambda: V[0], [W]), ValueError, "not the variables that it was made for"),
    (lambda: O.SGD().minimize(lambda: V[0], [3]), TypeError, "variables holds a int"),
    (lambda: O.SGD([V], lambda step: -1.0).apply_gradients([wf.ones(2)]), ValueError, "SGD: .*-1"),
    (lambda: O.Optimizer(), TypeError, "Optimizer"),
    (lambda: S.exponential_decay(1, 0, 0.5), ValueError, "exponential_decay: steps is 0, but must be at least 1"),
    (lambda: S.exponential_decay(1, 10, math.inf), ValueError, "exponential_decay"),
    (lambda: S.cosine_decay(1, 10, warmup=-1), ValueError, "cosine_decay: warmup"),
    (lambda: S.piecewise_constant([3, 2], [1, 2, 3]), ValueError, "the boundaries must ascend"),
    (lambda: S.piecewise_constant([3], [1, 2, 3]), ValueError, "3 values for 1 boundaries"),
    (lambda: S.warmup(1, 3, after=3), TypeError, "after is a int: a schedule of weft.schedules is wanted"),
    (lambda: S.polynomial_decay(1, 0), ValueError, "polynomial_decay: steps"),
    (lambda: S.inverse_time_decay(1, 0, 1), ValueError, "inverse_time_decay: steps"),
    (lambda: S.one_cycle(1, 0), ValueError, "one_cycle: steps"),
    (lambda: S.ReduceOnPlateau(0.1, factor=2), ValueError, "factor is 2, but must be between 0 and 1"),
    (lambda: S.ReduceOnPlateau(0.1).update("low"), TypeError, "watched is 'low': a number"),
    (lambda: S.Schedule(), TypeError, "Schedule"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()
    close(V, [1, 2])
    close(W, [1])


@pytest.mark.parametrize(
    "use",
    [
        lambda one: one.apply_gradients([]),
        lambda one: one.minimize(lambda: 1.0),
        lambda one: one.step,
        lambda one: one.learning_rate,
        lambda one: setattr(one, "learning_rate", 1.0),
        lambda one: one.variables,
        repr,
    ],
)
def test_half_made_subclasses_say_so(use):
    class Mine(O.Adam):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match=r"this Mine was never initialized: call super\(\).__init__"):
        use(Mine())


def test_optimizers_are_collected_with_what_they_hold(live):
    def build():
        own = wf.Variable([1.0])
        holder = {}
        holder["optimizer"] = O.Adam([own], lambda step: 0.1 if holder else 0.2)
        holder["optimizer"].apply_gradients([wf.ones(1)])

    build()
