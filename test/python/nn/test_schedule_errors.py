"""Schedules that are created or used wrongly, or half created."""

import pytest

import weft as wf

O, S = wf.optimizers, wf.schedules


@pytest.mark.parametrize(
    "use, words",
    [
        (lambda: S.exponential_decay("a", 10, 0.5), "exponential_decay.*initial"),
        (lambda: S.cosine_decay(1.0, 2.5), "cosine_decay.*steps"),
        (lambda: S.ReduceOnPlateau(0.1, facto=0.5), "did you mean 'factor'"),
        (lambda: S.ReduceOnPlateau("a"), "rate is 'a': a number"),
        (lambda: S.ReduceOnPlateau(), "missing the argument 'rate'"),
        (lambda: S.cosine_decay(1.0, 10, 0.0, None), "cosine_decay: warmup is"),
        (lambda: S.cosine_decay(1.0, 10, warm=3), "did you mean 'warmup'"),
        (lambda: S.exponential_decay(1.0, 10, 0.5, "yes"), "exponential_decay: staircase is 'yes': True or False"),
        (lambda: S.polynomial_decay(1.0, 10, None), "polynomial_decay: end is None: a number"),
        (lambda: S.inverse_time_decay(1.0, 10, [1]), r"inverse_time_decay: rate is \[1\]: a number"),
        (lambda: S.one_cycle(wf, 10), "one_cycle: largest is .*: a number"),
        (lambda: S.warmup(1.0, 10, 3), "warmup: after is a int: a schedule"),
        (lambda: S.warmup("a", 10), "warmup: rate is 'a': a number"),
        (lambda: S.piecewise_constant([1, 2.5], [1, 2, 3]), "piecewise_constant: boundaries"),
        (lambda: S.piecewise_constant(None, [1.0]), "boundaries is None: a list of integers"),
        (lambda: S.piecewise_constant([1], ["a", 2]), "piecewise_constant: values is 'a': a number"),
        (lambda: S.piecewise_constant([1], 2.0), "piecewise_constant: values is 2.0: a list of numbers"),
    ],
)
def test_bad_arguments_of_schedules_are_named(use, words):
    with pytest.raises(TypeError, match=words):
        use()


def test_half_made_schedules_say_so():
    class Mine(S.Schedule):
        def __init__(self):
            pass

    class MyPlateau(S.ReduceOnPlateau):
        def __init__(self):
            pass

    for use in (O.Adam, repr, lambda one: one(3), lambda one: S.warmup(1.0, 3, after=one)):
        with pytest.raises(TypeError, match="this Mine was never initialized"):
            use(Mine())
    for use in (lambda one: one.rate, lambda one: one.update(1.0)):
        with pytest.raises(TypeError, match="this MyPlateau was never initialized"):
            use(MyPlateau())
