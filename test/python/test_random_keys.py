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
    "attention": lambda key: wf.nn.attention(*[wf.ones((1, 5, 2))] * 2, wf.reshape(wf.arange(15.0), (1, 5, 3)), dropout=0.5, dropout_key=key),
    "split": lambda key: wf.random.split(key, 3),
    "fold_in": lambda key: wf.random.fold_in(key, 12),
}


# The first numbers of each sampler, which stay what they are.
RECORDED = {
    "loggamma float32": (
        lambda: wf.random.loggamma(wf.tensor([1e-3, 0.3, 1.0, 2.5, 50.0, 1e7], "float32"), key=KEY),
        [-2044.5399169921875, -1.5646405220031738, 0.15964588522911072, 1.1697521209716797, 3.954732656478882, 16.117944717407227],
    ),
    "loggamma float64": (
        lambda: wf.random.loggamma(wf.tensor([1e-3, 0.3, 1.0, 2.5, 50.0, 1e7], "float64"), key=KEY),
        [-2044.5399775027568, -1.5646406981566874, 0.15964588584089767, 1.1697521028961249, 3.954732620868769, 16.117944100631014],
    ),
    "gamma float16": (
        lambda: wf.random.gamma(wf.tensor([0.3, 2.5], "float16"), shape=(2, 2), key=KEY),
        [0.0008869171142578125, 7.5078125, 0.828125, 3.220703125],
    ),
    "poisson": (
        lambda: wf.random.poisson(wf.tensor([0.5, 9.75, 10.0, 300.0, 1e6, 1e15], "float64"), key=KEY),
        [0, 17, 9, 312, 1000395, 999999982957958],
    ),
    "binomial": (
        lambda: wf.random.binomial(
            wf.tensor([10.0, 1e3, 1e3, 60.0, 1e6, 1e12], "float64"), wf.tensor([0.3, 0.001, 0.7, 0.5, 0.25, 0.9], "float64"), key=KEY
        ),
        [3, 4, 703, 33, 250171, 900000161649],
    ),
    "multinomial": (
        lambda: wf.random.multinomial(300.0, [0.25, 0.25, 0.5], shape=(2,), key=KEY),
        [73, 80, 147, 78, 83, 139],
    ),
    "normal float32": (lambda: wf.random.normal((3,), key=KEY), [-0.2950648069381714, 0.8953569531440735, -1.4132583141326904]),
    "normal float64": (
        lambda: wf.random.normal((3,), dtype="float64", mean=1.0, stddev=2.0, key=KEY),
        [0.4098696853027336, -1.826516827145758, 5.242617704427113],
    ),
    "uniform": (lambda: wf.random.uniform((3,), -1, 2, key=KEY), [0.29323530197143555, 0.5670047998428345, 1.1071186065673828]),
    "randint": (lambda: wf.random.randint((3,), -5, 100, key=KEY), [40, 68, 98]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_the_first_numbers(name):
    draw, numbers = RECORDED[name]
    assert draw().numpy().ravel().tolist() == numbers
    assert wf.function(draw)().numpy().ravel().tolist() == numbers


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


@pytest.mark.parametrize("name", ["gamma", "poisson"])
def test_parameters_that_are_views(name):
    """Any strides, one number for all, and as many batches of keys as there are, each with its own elements."""
    draw = getattr(wf.random, name)
    rows = wf.tensor(np.geomspace(0.05, 900, 2100).reshape(3, 700), "float32")
    same(draw(wf.permute_dims(rows, (1, 0)), key=KEY), draw(wf.tensor(rows.numpy().T.copy()), key=KEY))
    same(draw(rows[:, ::-2], key=KEY), draw(wf.tensor(rows.numpy()[:, ::-2].copy()), key=KEY))
    for a in (0.4, 30.0):
        same(draw(a, shape=(3, 5, 700), key=KEY), draw(wf.tensor(np.full((3, 5, 700), a, np.float32)), key=KEY))
    same(draw([0.4, 30.0], shape=(900, 2), key=KEY), draw(wf.tensor(np.tile(np.float32([0.4, 30.0]), (900, 1))), key=KEY))
    keys = wf.random.split(KEY, 3)
    for mapped in (wf.vmap(lambda a, key: draw(a, key=key)), wf.function(wf.vmap(lambda a, key: draw(a, key=key)))):
        numbers = mapped(rows, keys)
        shared = wf.vmap(lambda a: draw(a, key=KEY))(rows)
        for i in range(3):
            same(numbers[i], draw(rows[i], key=keys[i]))
            same(shared[i], draw(rows[i], key=KEY))


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
