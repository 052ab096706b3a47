"""Keys that are values: the same numbers eager, compiled, mapped over and in loops, at any number of threads, without state."""

import numpy as np
import pytest

import weft as wf

KEY = wf.random.key(2026)
DRAWS = {
    "uniform": lambda key: wf.random.uniform((3, 5), -1, 2, key=key),
    "normal": lambda key: wf.random.normal((3, 5), dtype="float64", key=key),
    "truncated_normal": lambda key: wf.random.truncated_normal((7,), key=key),
    "bernoulli": lambda key: wf.random.bernoulli((20,), 0.3, key=key),
    "categorical": lambda key: wf.random.categorical(wf.zeros((6, 4)), key=key),
    "randint": lambda key: wf.random.randint((9,), -5, 100, dtype="int16", key=key),
    "permutation": lambda key: wf.random.permutation(11, key=key),
    "shuffle": lambda key: wf.random.shuffle(wf.arange(9), key=key),
    "exponential": lambda key: wf.random.exponential(2.0, shape=(4, 2), key=key),
    "gamma": lambda key: wf.random.gamma([0.3, 2.0, 50.0], key=key),
    "poisson": lambda key: wf.random.poisson([0.5, 8.0, 1e5], shape=(3, 3), key=key),
    "binomial": lambda key: wf.random.binomial([10.0, 1e6], [0.3, 0.7], key=key),
    "dirichlet": lambda key: wf.random.dirichlet([0.2, 1.0, 3.0], shape=(2,), key=key),
    "multinomial": lambda key: wf.random.multinomial(20.0, [0.2, 0.3, 0.5], shape=(3,), key=key),
    "choice": lambda key: wf.random.choice(wf.arange(12), (5,), replace=False, key=key),
    "dropout": lambda key: wf.nn.dropout(wf.ones((4, 6)), 0.4, key),
    "split": lambda key: wf.random.split(key, 3),
    "fold_in": lambda key: wf.random.fold_in(key, 12),
}


def same(one, other):
    assert one.dtype == other.dtype and one.shape == other.shape
    np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("name", DRAWS)
def test_the_numbers_are_a_function_of_the_key(name):
    draw, keys = DRAWS[name], wf.random.split(KEY, 4)
    expected = [draw(key) for key in keys]
    for key, numbers in zip(keys, expected, strict=True):
        same(draw(key), numbers)
        same(wf.function(draw)(key), numbers)
    assert any(bool(wf.any(numbers != expected[0])) for numbers in expected[1:])
    for mapped in (wf.vmap(draw)(keys), wf.function(wf.vmap(draw))(keys)):
        for i, numbers in enumerate(expected):
            same(mapped[i], numbers)


@pytest.mark.parametrize("name", DRAWS)
def test_no_state_moves_on(name):
    wf.random.set_seed(5)
    first = wf.random.uniform((3,))
    wf.random.set_seed(5)
    DRAWS[name](KEY)
    compiled = wf.function(DRAWS[name])
    compiled(KEY)
    same(wf.random.uniform((3,)), first)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_any_number_of_threads(threads):
    draws = [
        lambda: wf.random.gamma(wf.full((40_000,), 0.7), key=KEY),
        lambda: wf.random.poisson(30.0, shape=(40_000,), key=KEY),
        lambda: wf.random.binomial(100.0, 0.4, shape=(40_000,), key=KEY),
        lambda: wf.random.normal((100_000,), key=KEY),
    ]
    expected = [draw() for draw in draws]
    set_threads = wf._weft.internal_set_num_threads
    many = wf._weft.internal_num_threads()
    set_threads(threads)
    try:
        for draw, numbers in zip(draws, expected, strict=True):
            same(draw(), numbers)
    finally:
        set_threads(many)


def test_a_longer_tensor_begins_with_the_shorter_one():
    for draw in (wf.random.gamma, wf.random.poisson, wf.random.exponential):
        same(draw(12.0, shape=(3000,), key=KEY)[:1000], draw(12.0, shape=(1000,), key=KEY))


def test_in_loops():
    def walk(key, n):
        total = wf.zeros(())
        for i in range(n):
            total = total + wf.random.normal((), key=wf.random.fold_in(key, i))
        return total

    def scanned(key):
        def step(state, i):
            key, total = state
            key, own = wf.unstack(wf.random.split(key))
            total = total + wf.random.normal((), key=own)
            return (key, total), total

        return wf.scan(step, (key, wf.zeros(())), wf.arange(6))[1]

    same(wf.function(walk)(KEY, 5), walk(KEY, 5))
    same(wf.function(scanned)(KEY), scanned(KEY))


def test_seeds_and_generators():
    same(wf.random.normal((4,), key=wf.random.key(42)), wf.random.normal((4,), seed=42))
    generator = wf.random.Generator(3)
    first, second = generator.key(), generator.key()
    assert first.shape == (2,) and first.dtype == wf.uint64 and bool(wf.any(first != second))
    assert len({tuple(key.tolist()) for key in wf.random.split(KEY, 1000)}) == 1000
    assert len({tuple(wf.random.fold_in(KEY, i).tolist()) for i in range(-50, 50)}) == 100


def test_what_is_no_key():
    with pytest.raises(wf.ValueError, match="a seed and a key"):
        wf.random.uniform((2,), seed=1, key=KEY)
    with pytest.raises(wf.ShapeError, match=r"random.*key has the shape .*a key is of shape \(2,\)"):
        wf.random.uniform((2,), key=wf.zeros((3,), "uint64"))
    with pytest.raises(wf.DTypeError, match="u64|uint64"):
        wf.random.uniform((2,), key=wf.zeros((2,)))
    with pytest.raises(wf.DTypeError, match="key"):
        wf.random.gamma(1.0, key=wf.zeros((2,)))
    with pytest.raises(wf.ShapeError, match=r"random.gamma: key has the shape \(3,\)"):
        wf.random.gamma(1.0, key=wf.zeros((3,), "uint64"))
    with pytest.raises(wf.ShapeError, match="data has the shape"):
        wf.random.fold_in(KEY, [1, 2])
    with pytest.raises(wf.ShapeError, match="-1 keys"):
        wf.random.split(KEY, -1)
