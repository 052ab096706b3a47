"""Functions that take sizes, counts and shifts which a trace computes, or tensors of open sizes: one trace serves all."""

import numpy as np
import pytest

import weft as wf

SIZES = (4, 0, 1, 7)
V, M, X, S = ([None], "float32"), ([None, None], "float32"), ([None, 3], "float32"), ([None, None, None], "float32")
I, J = ([None], "int64"), ([None, None], "int64")


def n(x, axis=0):
    return wf.size(x, axis)


# A function by what it does, the specs of its arguments, and, where it takes other sizes, those.
CALLS = {
    "columns up to n": (lambda x, y: x[:, : n(y)], [M, V]),
    "arange": (lambda x: wf.arange(n(x)), [V]),
    "eye": (lambda x: wf.eye(n(x)), [V]),
    "linspace": (lambda x: wf.linspace(0.0, 1.0, n(x)), [V]),
    "tile": (lambda x: wf.tile(x, [2, n(x)]), [X]),
    "roll": (lambda x: wf.roll(x, 2, 0), [X]),
    "roll back": (lambda x: wf.roll(x, -3, 0), [X]),
    "roll in a row": (lambda x: wf.roll(x, 5), [S]),
    "roll by a size": (lambda x: wf.roll(x, n(x) // 2, 0), [X]),
    "roll in a row by a size": (lambda x: wf.roll(x, n(x)), [X]),
    "roll both": (lambda x: wf.roll(x, [1, n(x)], (0, 1)), [M]),
    "roll by a tensor": (lambda x, i: wf.roll(x, wf.sum(i), 0), [X, I]),
    "repeat": (lambda x: wf.repeat(x, 2, 0), [X]),
    "repeat none": (lambda x: wf.repeat(x, 0, 0), [X]),
    "repeat inside": (lambda x: wf.repeat(x, 2, 1), [S]),
    "repeat n times": (lambda x: wf.repeat(x, n(x), 0), [X]),
    "repeat in a row": (lambda x: wf.repeat(x, n(x)), [X]),
    "repeat each": (lambda x, i: wf.repeat(x, i, 0), [X, I]),
    "repeat by a list": (lambda x: wf.repeat(x, [2, 0, n(x)], 1), [X]),
    "split": (lambda x: wf.split(wf.concatenate([x, x, x]), 3), [X]),
    "split inside": (lambda x: wf.split(x, 3, 1), [X]),
    "split whole": (lambda x: wf.split(x, 1), [X]),
    "split at sizes": (lambda x: wf.split(x, [n(x) // 2, n(x) - 1]), [X]),
    "array_split": (lambda x: wf.array_split(x, 3), [X]),
    "one_hot": (lambda i: wf.nn.one_hot(i, 5), [J]),
    "one_hot of n": (lambda i: wf.nn.one_hot(i, n(i)), [I]),
    "take_along_axis": (lambda x, i: wf.take_along_axis(x, i, 1), [M, J]),
    "take": (lambda x, i: wf.take(x, i, 0), [X, I]),
    "meshgrid": (lambda x, y: wf.meshgrid(x, y), [V, V]),
    "meshgrid ij": (lambda x, y: wf.meshgrid(x, y, indexing="ij"), [V, V]),
    "diag of a vector": (lambda x: wf.diag(x), [V]),
    "diag above": (lambda x: wf.diag(x, 2), [V]),
    "diag of a matrix": (lambda x: wf.diag(x), [M]),
    "diag below": (lambda x: wf.diag(x, -1), [X]),
    "diag far above": (lambda x: wf.diag(x, 2**40), [X]),
    "diagonal": (lambda x: wf.diagonal(x, 1, 2, 0), [S]),
    "trace": (lambda x: wf.trace(x), [M]),
    "tril": (lambda x: wf.tril(x), [M]),
    "slice behind the end": (lambda x: x[2:5], [X]),
    "slice from the end": (lambda x: x[-5:], [X]),
    "uniform": (lambda x: wf.random.uniform([n(x), 3], seed=3), [V]),
    "normal": (lambda x: wf.random.normal(n(x), seed=3), [V]),
    "truncated_normal": (lambda x: wf.random.truncated_normal([2, n(x)], seed=3), [V]),
    "bernoulli": (lambda x: wf.random.bernoulli([n(x), 2], 0.3, seed=3), [V]),
    "randint": (lambda x: wf.random.randint([n(x)], 0, 9, seed=3), [V]),
    "permutation": (lambda x: wf.random.permutation(n(x), seed=3), [V]),
    "categorical": (lambda x: wf.random.categorical(wf.concatenate([x, x + 1], 1), seed=3), [X]),
}
NO_GRADIENT = {"normal", "truncated_normal", "uniform", "categorical"}


def argument(spec, size, axes):
    """Numbers of those sizes; integers are in range where there is an element."""
    shape = [size if d is None else d for d in spec[0]]
    count = int(np.prod(shape))
    if spec[1] == "int64":
        return (np.arange(count) % max(size, 1)).reshape(shape)
    return np.random.default_rng(size).normal(size=shape).astype(np.float32)


def parts(found):
    return [np.asarray(x) for x in (found if isinstance(found, tuple | list) else [found])]


def opened(f, specs):
    count = []

    def counted(*args):
        count.append(1)
        return f(*args)

    return wf.function(wf.autograph.do_not_convert(counted), input_signature=[wf.TensorSpec(*spec) for spec in specs]), count


@pytest.mark.parametrize("name", CALLS)
def test_as_at_once(name):
    f, specs = CALLS[name]
    traced, count = opened(f, specs)
    for size in SIZES:
        args = [wf.tensor(argument(spec, size, None)) for spec in specs]
        for got, want in zip(parts(traced(*args)), parts(f(*args)), strict=True):
            assert (got.dtype, got.shape) == (want.dtype, want.shape)
            np.testing.assert_array_equal(got, want)
    assert len(count) == 1


@pytest.mark.parametrize("name", [name for name, (_, specs) in CALLS.items() if specs[0][1] == "float32"])
def test_gradients(name):
    f, specs = CALLS[name]
    if not all(np.issubdtype(x.dtype, np.floating) for x in parts(f(*[wf.tensor(argument(spec, 3, None)) for spec in specs]))):
        return

    def loss(*args):
        found = f(*args)
        return sum(wf.sum(wf.square(y) * (i + 1)) for i, y in enumerate(found if isinstance(found, tuple | list) else [found]))

    gradient = wf.grad(loss)
    traced, count = opened(gradient, specs)
    for size in SIZES:
        args = [wf.tensor(argument(spec, size, None)) for spec in specs]
        np.testing.assert_allclose(traced(*args), gradient(*args), rtol=1e-5, atol=1e-6)
    assert len(count) == 1


def test_against_numpy():
    """What computed counts and shifts do."""
    for size in (1, 3, 6):
        x = np.arange(size * 3, dtype=np.float32).reshape(size, 3)
        i = np.arange(size) % 3
        for got, want in [
            (opened(lambda x, i: wf.repeat(x, i, 0), [X, I])[0](x, i), np.repeat(x, i, 0)),
            (opened(lambda x, i: wf.roll(x, wf.sum(i), 0), [X, I])[0](x, i), np.roll(x, i.sum(), 0)),
            (opened(lambda x: wf.roll(x, [1, -n(x)], (0, 1)), [X])[0](x), np.roll(x, [1, -size], (0, 1))),
            (opened(lambda x: wf.diag(x, -1), [X])[0](x), np.diag(x, -1)),
            (opened(lambda x: wf.diagonal(x, 1), [X])[0](x), np.diagonal(x, 1)),
        ]:
            np.testing.assert_array_equal(got, want)
        found = opened(lambda x: wf.array_split(x, 4), [X])[0](x)
        for got, want in zip(found, np.array_split(x, 4), strict=True):
            np.testing.assert_array_equal(got, want)
        found = opened(lambda x: wf.split(x, [n(x) - 1, n(x) + 5, 1]), [X])[0](x)
        for got, want in zip(found, np.split(x, [size - 1, size + 5, 1]), strict=True):
            np.testing.assert_array_equal(got, want)


def test_what_does_not_fit():
    traced, _ = opened(lambda x: wf.split(x, 2), [X])
    assert [y.shape for y in traced(wf.zeros([4, 3]))] == [(2, 3), (2, 3)]
    with pytest.raises(wf.ShapeError, match="split: axis 0 of size 5 is not 2 equal parts"):
        traced(wf.zeros([5, 3]))
    traced, _ = opened(lambda x, i: wf.repeat(x, i, 0), [X, I])
    with pytest.raises(wf.ShapeError, match="repeat: there are 3 repeats for an axis of size 2"):
        traced(wf.zeros([2, 3]), [1, 1, 1])
    with pytest.raises(wf.AssertionError, match="repeat: repeats has a negative number"):
        traced(wf.zeros([2, 3]), [1, -1])
    traced, _ = opened(lambda i: wf.zeros([wf.sum(i), 2]) + wf.random.uniform([wf.sum(i), 2], seed=1), [I])
    with pytest.raises(wf.ShapeError, match="a size is -1, which is negative"):
        traced([-1])
    traced, _ = opened(lambda x, i: wf.roll(x, i, (0, 1)), [X, I])
    with pytest.raises(wf.ShapeError, match="roll: how many numbers there are is not known yet"):
        traced(wf.zeros([2, 3]), [1, 2])
    with pytest.raises(wf.DTypeError, match="integers"):
        opened(lambda x: wf.roll(x, wf.sum(x), 0), [X])[0](wf.zeros([2, 3]))


def test_shifts_of_members():
    """Members of a batch move on by their own."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    found = wf.vmap(lambda row, by: wf.roll(row, by))(x, np.array([0, 1, -2]))
    np.testing.assert_array_equal(found, [np.roll(row, by) for row, by in zip(x, [0, 1, -2], strict=True)])


def test_draws_go_on():
    """Generators draw what they draw eagerly, of sizes that a trace computes."""
    generators = [wf.random.Generator(5), wf.random.Generator(5)]

    def draw(g, x):
        return [
            g.uniform([n(x), 2], dtype="float64"), g.normal(n(x)), g.bernoulli([n(x)], 0.5), g.randint([n(x)], 0, 100),
            g.permutation(n(x)), g.shuffle(x), g.categorical(x, 1),
        ]  # fmt: skip

    traced, count = opened(lambda x: draw(generators[0], x), [X])
    for size in SIZES:
        x = wf.tensor(argument(X, size, None))
        for got, want in zip(traced(x), draw(generators[1], x), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)
    assert len(count) == 1


def test_categorical():
    found = wf.random.categorical(wf.log(wf.tensor([0.5, 0.0, 0.25, 0.25])) + wf.zeros([4000, 1]), seed=2).numpy()
    np.testing.assert_allclose(np.bincount(found, minlength=4) / 4000, [0.5, 0, 0.25, 0.25], atol=0.03)
    assert wf.random.categorical(wf.zeros([3, 5]), 0, seed=1).shape == (5,)
    with pytest.raises(wf.DTypeError, match="random.categorical: the dtype must be floating"):
        wf.random.categorical([1, 2])


# vmap


MAPPED = {
    "sums": (lambda row: wf.sum(row * row), [M]),
    "centred": (lambda row: row - wf.mean(row), [M]),
    "shapes": (lambda row: wf.reshape(row, [-1, 1]) + wf.transpose(wf.reshape(row, [1, -1])), [M]),
    "two": (lambda row, other: wf.stack([row, other]), [M, M]),
    "products": (lambda a, b: a @ wf.transpose(b), [S, S]),
    "slices": (lambda row: wf.concatenate([row[1:], row[:1]]), [M]),
    "broadcast": (lambda row: wf.broadcast_to(row, [2, wf.size(row, 0)]), [M]),
    "tiles": (lambda row: wf.tile(row, 2), [M]),
    "sorted": (lambda row: wf.sort(row), [M]),
    "gradient": (lambda row: wf.grad(lambda r: wf.sum(wf.sin(r) * r))(row), [M]),
    "the same": (lambda row: wf.ones([2]), [M]),
    "nested": (lambda rows: wf.vmap(lambda r: wf.sum(r) * r)(rows), [S]),
    "softmax": (lambda row: wf.nn.softmax(row), [M]),
}


@pytest.mark.parametrize("name", MAPPED)
def test_vmap(name):
    """Over an axis whose size a trace leaves open."""
    f, specs = MAPPED[name]
    traced, count = opened(wf.vmap(f), specs)
    for size in (4, 1, 7):
        args = [wf.tensor(argument(spec, size, None)) for spec in specs]
        np.testing.assert_allclose(traced(*args), wf.vmap(f)(*args), rtol=1e-6)
    assert len(count) == 1


def test_vmap_of_one_that_is_known():
    traced, _ = opened(wf.vmap(lambda a, b: a * b), [X, ([3], "float32")])
    np.testing.assert_array_equal(traced(wf.ones([3, 3]), [1.0, 2.0, 3.0]), np.ones([3, 3]) * [[1], [2], [3]])
    with pytest.raises(wf.ShapeError, match=r"vmap: sizes differ: \[3, 4\]"):
        traced(wf.ones([4, 3]), [1.0, 2.0, 3.0])
    traced, _ = opened(wf.vmap(lambda a, b: a * b), [X, V])
    with pytest.raises(wf.ShapeError, match=r"vmap: sizes differ: \[2, 4\]"):
        traced(wf.ones([2, 3]), wf.ones([4]))
    with pytest.raises(wf.StateError, match="vmap: .* is done once for each tensor, and this trace does not know how many there are"):
        opened(wf.vmap(lambda a: wf.pad_interior(a, a[0], [1], [1], [0])), [X])[0](wf.ones([2, 3]))


METHODS = ["linear", "lower", "higher", "midpoint", "nearest"]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "float16"])
def test_quantiles(dtype):
    """Of as many elements as a run finds: those that eager calls find, and NumPy."""
    q = [0.0, 0.1, 0.25, 0.5, 1 / 3, 0.9, 1.0]
    calls = [lambda x, m=method: wf.quantile(x, q, axis=1, method=m) for method in METHODS]
    calls += [lambda x: wf.quantile(x, 0.3, keepdims=True), lambda x: wf.percentile(x, [30.0, 75.0], axis=0)]
    calls += [wf.median, lambda x: wf.median(x, axis=0, keepdims=True), lambda x: wf.median(x, axis=(0, 1))]
    traced = [opened(call, [([None, None], dtype)]) for call in calls]
    for rows, columns in ((4, 5), (1, 1), (3, 2), (2, 11), (5, 8)):
        x = (np.random.default_rng(columns).normal(size=(rows, columns)) * 9).astype(dtype)
        for call, (compiled, _) in zip(calls, traced, strict=True):
            np.testing.assert_array_equal(compiled(wf.tensor(x)), call(wf.tensor(x)))
        if dtype == "float64":
            for method, (compiled, _) in zip(METHODS, traced, strict=False):
                np.testing.assert_allclose(compiled(wf.tensor(x)), np.quantile(x, q, axis=1, method=method), rtol=1e-12, atol=1e-13)
    assert all(count == [1] for _, count in traced)
    with pytest.raises(wf.ShapeError, match=r"median: x has the shape \(0, 4\): there is no element"):
        opened(wf.median, [([None, None], dtype)])[0](wf.zeros((0, 4), dtype))


def test_quantiles_of_what_is_not_finite():
    def both(x):
        return wf.concatenate([wf.expand_dims(wf.median(x), 0), wf.quantile(x, [0.2, 0.5])])

    compiled, _ = opened(both, [([None], "float64")])
    inf, nan = np.inf, np.nan
    for x in ([inf, inf, 1.0], [-inf, 1.0], [-inf, inf], [-inf, -inf, 2.0], [nan, 1.0, 2.0], [inf], [1.0, nan]):
        x = wf.tensor(x, "float64")
        np.testing.assert_array_equal(compiled(x), both(x))


def test_gradients_of_quantiles():
    def loss(x):
        return wf.sum(wf.square(wf.quantile(x, [0.3, 0.8], axis=0))) + wf.sum(wf.square(wf.median(x, axis=1)))

    compiled, _ = opened(wf.grad(loss), [([None, None], "float64")])
    for shape in ((3, 4), (1, 1), (6, 5)):
        x = wf.tensor(np.random.default_rng(shape[0]).normal(size=shape))
        np.testing.assert_allclose(compiled(x), wf.grad(loss)(x), rtol=1e-12)


def test_normal_vectors_of_any_size():
    compiled, _ = opened(lambda mean, cov: wf.random.multivariate_normal(mean, cov, key=wf.random.key(3)), [([None], "float64"), ([None, None], "float64")])
    for n in (1, 3, 6):
        mean, half = wf.arange(n, dtype="float64"), np.random.default_rng(n).normal(size=(n, n))
        cov = wf.tensor(half @ half.T + np.eye(n))
        np.testing.assert_array_equal(compiled(mean, cov), wf.random.multivariate_normal(mean, cov, key=wf.random.key(3)))
    with pytest.raises(wf.ShapeError, match=r"cov has the shape \(2, 2\): matrices with 3 rows and columns are wanted"):
        compiled(wf.zeros(3, "float64"), wf.tensor(np.eye(2)))


@pytest.mark.parametrize("equation", ["ijk,ijk->i", "ij,ij,ij->", "ij,kl->ijkl", "ijk,klm->ijlm", "ii->", "ii->i", "iij,j->i", "abcd,cdef->abef", "ijk,kj->i"])
def test_products_over_several_axes_of_open_sizes(equation):
    terms = equation.split("->")[0].split(",")

    def loss(*args):
        return wf.sum(wf.square(wf.einsum(equation, *args)))

    specs = [([None] * len(term), "float64") for term in terms]
    (compiled, count), (gradient, _) = opened(lambda *args: wf.einsum(equation, *args), specs), opened(wf.grad(loss), specs)
    rng = np.random.default_rng(7)
    for least in (1, 1, 0):
        sizes = {letter: int(rng.integers(least, 5)) for letter in "".join(terms)}
        args = [wf.tensor(rng.normal(size=[sizes[letter] for letter in term])) for term in terms]
        np.testing.assert_allclose(compiled(*args), np.einsum(equation, *[x.numpy() for x in args]), rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(gradient(*args), wf.grad(loss)(*args), rtol=1e-12, atol=1e-13)
    assert len(count) == 1


def test_axes_of_open_sizes_that_differ():
    """Also where they become one axis of the same size."""
    spec = ([None, None], "float64")
    products, _ = opened(lambda x, y: wf.einsum("ij,ij->", x, y), [spec, spec])
    with pytest.raises(wf.ShapeError, match="einsum: the axis 'i' is of size 2 and of 3"):
        products(wf.ones((2, 6), "float64"), wf.ones((3, 4), "float64"))
    with pytest.raises(wf.ShapeError, match="einsum: the axes 'i' of 'ii' are not of one size"):
        opened(lambda x: wf.einsum("ii->", x), [spec])[0](wf.ones((2, 3), "float64"))
    cube = ([None] * 3, "float64")
    with pytest.raises(wf.ShapeError, match="tensordot: axis 2 of a is of size 4 and of 5"):
        opened(lambda x, y: wf.tensordot(x, y, 1), [cube, cube])[0](wf.ones((2, 3, 4), "float64"), wf.ones((5, 5, 2), "float64"))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", ["same", "causal", "valid", [(1, 2)]])
def test_kernels_of_several_sizes(padding, stride, transposed):
    """Padding follows from a kernel's sizes: a trace of others than before is one for these sizes alone."""
    if transposed and padding == "causal":
        return
    rng = np.random.default_rng(0)
    op = wf.convolution_transpose if transposed else wf.convolution
    call = lambda x, k: op(x, k, strides=[stride], padding=padding)  # noqa: E731
    slope = lambda x, k: wf.grad(lambda k: wf.sum(wf.square(call(x, k))))(k)  # noqa: E731
    traced, traced_slope = wf.function(call), wf.function(slope)
    for size, window in ((5, 3), (5, 2), (6, 5), (5, 3), (7, 1), (9, 4)):
        x, k = (wf.tensor(rng.normal(size=shape).astype(np.float32)) for shape in ((1, size, 2), (window, 2, 2)))
        np.testing.assert_allclose(traced(x, k), call(x, k), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(traced_slope(x, k), slope(x, k), rtol=1e-4, atol=1e-4)
    spec = wf.function(call, input_signature=[wf.TensorSpec([1, None, 2]), wf.TensorSpec([None, 2, 2])])
    if isinstance(padding, str) and (padding != "valid" or (transposed and stride == 2)):
        with pytest.raises(wf.ShapeError, match=r"kernel has the shape \(None, 2, 2\), and the padding follows from its axis 0, whose size is not known"):
            spec(x, k)
    else:
        np.testing.assert_allclose(spec(x, k), call(x, k), rtol=1e-4, atol=1e-5)


def test_jacobians_of_several_sizes():
    def by_rows(x):
        with wf.GradientTape() as tape:
            tape.watch(x)
            y = x**3
        return tape.batch_jacobian(y, x)

    hessian = wf.function(lambda x: wf.hessian(lambda x: wf.sum(x * x * x))(x))
    jacobian = wf.function(lambda x: wf.jacobian(lambda x: wf.sin(x) * x[0])(x))
    rows = wf.function(by_rows)
    rng = np.random.default_rng(1)
    for size in (2, 3, 5, 1, 3):
        x, y = (wf.tensor(rng.normal(size=shape)) for shape in ((size,), (size, size + 1)))
        np.testing.assert_allclose(hessian(x), np.diag(6 * x.numpy()), rtol=1e-12)
        np.testing.assert_allclose(jacobian(x), wf.jacobian(lambda x: wf.sin(x) * x[0])(x), rtol=1e-12)
        np.testing.assert_allclose(rows(y), by_rows(y), rtol=1e-12)


@pytest.mark.parametrize("step", [1, 2, -1, -2, 3])
def test_slices_that_are_set(step):
    """From one end to the other, and with steps; a slice of one element is there or an error, which reads say as well."""
    for start in (None, 0, 1, 3, -1, -2, -7):
        for stop in (None, 0, 2, 5, -1, -3, -9):
            at = slice(start, stop, step)
            call = lambda x: (x.at[at].set(x[at] * 2 + 1), wf.grad(lambda x: wf.sum(wf.square(x.at[at].set(3 * x[at]))))(x))  # noqa: B023, E731
            traced = wf.function(call, input_signature=[wf.TensorSpec([None, None])])
            for size in (0, 1, 2, 4, 6, 9):
                x = wf.tensor(np.arange(2 * size, dtype=np.float32).reshape(size, 2))
                try:
                    found = traced(x)
                except wf.OutOfRangeError:
                    assert len(range(9)[at]) == 1 or len(range(size)[at]) == 0
                    continue
                expected = x.numpy().copy()
                expected[at] = expected[at] * 2 + 1
                np.testing.assert_array_equal(found[0], expected)
                np.testing.assert_array_equal(found[1], call(x)[1])
