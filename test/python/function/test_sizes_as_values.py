"""Sizes that a traced function leaves open: values in arithmetic and in shapes, numbers of the call where Python asks for them."""

import numpy as np
import pytest

import weft as wf


@pytest.fixture(autouse=True)
def own_style():
    """TensorFlow's shapes have None for such sizes."""
    before = wf.get_printoptions()["style"]
    wf.set_printoptions(style="numpy")
    yield
    wf.set_printoptions(style=before)


def numbers(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def open_function(f, *shapes):
    """The function for all sizes, and what Python was told of them."""
    return wf.function(f, input_signature=[wf.TensorSpec(shape) for shape in shapes])


AS_VALUES = {
    "shapes": lambda x, n: wf.zeros([n + 1, 3]),
    "a shape alone": lambda x, n: wf.zeros(n),
    "a product": lambda x, n: wf.reshape(x, (n * 3,)),
    "what is left": lambda x, n: wf.concatenate([x, wf.zeros((-n % 4, 3))]),
    "bounds": lambda x, n: x[n // 2 :, : n - 1],
    "an index": lambda x, n: x[n - 1],
    "beside tensors": lambda x, n: x * n + n,
    "beside integers": lambda x, n: wf.cast(x, "int32") * n,
    "beside bools": lambda x, n: (x > 1) * n,
    "quotients": lambda x, n: x / n,
    "numbers with a fraction": lambda x, n: n * 0.5 + 1 / n,
    "powers": lambda x, n: wf.zeros(n**2),
    "with a rest": lambda x, n: wf.zeros(sum(divmod(n, 2))),
    "absolute values": lambda x, n: wf.zeros(abs(-n)),
    "ranges": lambda x, n: wf.arange(n),
    "matrices": lambda x, n: wf.eye(n),
    "as a tensor": lambda x, n: wf.asarray(n) + 1,
    "a list with one": lambda x, n: wf.tensor([n, 2]),
    "functions": lambda x, n: wf.maximum(x, n) + wf.sqrt(n),
    "all sizes": lambda x, n: wf.ones(x.shape),
    "broadcast": lambda x, n: wf.broadcast_to(x[:1], x.shape),
}


@pytest.mark.parametrize("name", AS_VALUES)
def test_sizes_as_values(name):
    """`x.shape[0]` is a size for all calls, with the dtypes and numbers that an int has."""
    f = AS_VALUES[name]
    one = open_function(lambda x: f(x, x.shape[0]), [None, 3])
    again = wf.function(lambda x: f(x, x.shape[0]))
    for n in (3, 1, 4, 6):
        x = numbers(n, 3)
        want = f(wf.tensor(x), n)
        want = wf.asarray(want)
        for got in (one(x), again(x)):
            got = wf.asarray(got)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, np.asarray(want), rtol=1e-6, strict=True)
    assert one.trace_count() == 1


def test_what_a_size_is():
    told = []

    def f(x):
        n = x.shape[0]
        told.append((type(n), repr(n), f"{n}", str(x.shape), isinstance(n, int), n == x.shape[0], n is None, n == "a"))
        return x

    open_function(f, [None, 3])(numbers(2, 3))
    assert told == [(wf.Size, "?", "?", "(?, 3)", False, True, False, False)]


ASKS = {
    "int": lambda n: int(n),
    "range": lambda n: sum(range(n)),
    "less": lambda n: 10 if n < 4 else 20,
    "truth": lambda n: 10 if n else 20,
    "equal": lambda n: 10 if n == 3 else 20,
    "hash": lambda n: {3: 10}.get(n, 20),
    "float": lambda n: float(n),
    "format": lambda n: int(f"{n:d}"),
    "NumPy": lambda n: int(np.zeros(n).size),
    "smaller": lambda n: min(n, 4) * 2,
    "sum": lambda n: int(n * 2 + 1),
}


@pytest.mark.parametrize("name", ASKS)
def test_asking_for_the_number(name):
    """It is that of the call, whose trace serves no others, and Python runs once for each."""
    ask = ASKS[name]
    runs = []

    @wf.autograph.do_not_convert
    def f(x):
        runs.append(1)
        return wf.sum(x) * 0 + ask(x.shape[0])

    asking = wf.function(f)
    for n in (3, 5, 3, 4, 5):
        assert float(asking(numbers(n, 2))) == ask(n)
    assert len(runs) == 3
    # NumPy has words of its own.
    error = TypeError if name == "NumPy" else wf.SymbolicSizeError
    with pytest.raises(error, match="integer" if name == "NumPy" else "the number of a size is asked for"):
        open_function(f, [None, 2])(numbers(3, 2))


def test_asking_for_lengths():
    @wf.autograph.do_not_convert
    def f(x):
        return wf.sum(x) * 0 + len(x)

    asking = wf.function(f)
    for n in (3, 5, 3, 4, 5):
        assert float(asking(numbers(n, 2))) == n
    with pytest.raises(wf.SymbolicSizeError, match="len: the first size"):
        open_function(f, [None, 2])(numbers(3, 2))


def test_asking_inside():
    """In functions that are called, branches, loops whose state keeps its sizes, gradients and `vmap`."""
    inner = wf.function(lambda y: y * int(y.shape[0]))

    def looped(x):
        def body(i, s):
            return i + 1, s + int(s.shape[0])

        return wf.while_loop(lambda i, s: i < 2, body, (0, x * 1))[1]

    programs = {
        "called": lambda x: inner(x[1:]) + inner(x)[1:],
        "branch": lambda x: wf.cond(wf.sum(x) > 0, lambda: x * int(x.shape[0]), lambda: x),
        "loop": looped,
        "counted": lambda x: wf.for_loop(2, lambda i, s: [s + len(s)], [x * 1])[0],
        "scan": lambda x: wf.scan(lambda c, r: (c + r, c * len(c)), x[0], x)[1],
        "gradient": lambda x: wf.grad(lambda y: wf.sum(y * y) * int(y.shape[0]))(x),
        "members": lambda x: wf.vmap(lambda row: row * int(row.shape[0]))(x),
    }
    for name, program in programs.items():
        traced = wf.function(wf.autograph.do_not_convert(program))
        for shape in ((3, 4), (5, 4), (5, 2), (4, 3), (3, 4)):
            x = numbers(*shape)
            np.testing.assert_allclose(traced(x), np.asarray(program(wf.tensor(x))), err_msg=name)


def test_what_the_number_decides():
    """Control flow of Python by a size is that of the call."""

    @wf.function
    def f(x):
        if x.shape[0] > 3:
            x = x * 2
        for _ in range(x.shape[0]):
            x = x + 1
        return x

    for n in (2, 5, 3, 4, 2, 5):
        np.testing.assert_array_equal(f(wf.zeros(n)), np.full(n, n))


def test_named_sizes():
    f = open_function(lambda x, y: x + wf.sum(y, 1, keepdims=True) + x.shape[0], ["batch", 2], ["batch", None])
    for n, m in ((2, 3), (5, 1), (1, 4)):
        x, y = numbers(n, 2), numbers(n, m)
        np.testing.assert_array_equal(f(x, y), x + y.sum(1, keepdims=True) + n)
    for x, y in ((numbers(2, 2), numbers(3, 2)), (numbers(1, 2), numbers(3, 2))):
        with pytest.raises(wf.ShapeError, match="the size 'batch' is . in axis 0 of tensor 0 of the arguments, but 3 in axis 0"):
            f(x, y)
    with pytest.raises(wf.ShapeError, match=r"the signature says float32\(batch, 2\)"):
        f(numbers(2, 3), numbers(2, 3))
    assert repr(wf.TensorSpec(["batch", None])) == "TensorSpec(shape=('batch', None), dtype=weft.float32, name=None)"
    with pytest.raises(wf.ValueError, match="is no name of a size"):
        open_function(lambda x: x, ["1 b"])
    assert f.trace_count() == 1
    assert "weft.dim_names" in f.ir(numbers(2, 2), numbers(2, 3), phase="trace")
    same = open_function(lambda x, y: x + y, ["batch", 2], ["batch", 2])
    assert "check_sizes" not in same.ir(numbers(2, 2), numbers(2, 2), phase="linalg")


@pytest.mark.parametrize(
    ("shape", "f"),
    [
        ((5, 0, 2), lambda m, x, i: x[[1, 0, 0], :][..., 0, :, 2:9]),
        ((2, 5, 0, 4), lambda m, x, i: x[3:3:2, :, [], i]),
        ((3, 2, 2), lambda m, x, i: x[x[:, 0, 0] > 1][None, None]),
        ((4, 0, 3), lambda m, x, i: x[:, None, i, :1][0]),
        ((0, 3, 0), lambda m, x, i: x[None, :, 1]),
        ((4, 3, 2), lambda m, x, i: x[1, ..., None, i]),
    ],
)
def test_keys_beside_empty_axes(shape, f):
    """A size that is left for reshape to find could be any where there are no elements."""
    x, i = numbers(*shape), np.zeros(0, np.int64)
    for sizes in [[None] * len(shape), [None, *shape[1:]], [*shape[:-1], None]]:
        traced = wf.function(lambda x, i: f(wf, x, i), input_signature=[wf.TensorSpec(sizes), wf.TensorSpec([None], wf.int64)])
        np.testing.assert_array_equal(traced(x, i), f(np, x, i))
    np.testing.assert_array_equal(f(wf, wf.tensor(x), wf.tensor(i)), f(np, x, i))


def test_sizes_are_checked_before_indices():
    """Positions of one element, computed in as many as those beside them have, were read behind their end."""
    f = wf.function(lambda x, i: x[i[:, None], [[0], [-1]]], input_signature=[wf.TensorSpec([None, None]), wf.TensorSpec([None], wf.int64)])
    np.testing.assert_array_equal(f(numbers(2, 3), [1, -1]), [[3], [5]])
    for _ in range(3):
        with pytest.raises(wf.ShapeError, match="an unknown size never stretches"):
            f(numbers(2, 3), [-1])


@pytest.mark.parametrize("dtype", [wf.float32, wf.bfloat16])
def test_parts_of_complex_numbers_have_one_size(dtype):
    """The imaginary part was written behind the end of a result of the real one's size."""
    spec = wf.TensorSpec([None, None], dtype)
    f = wf.function(lambda x, y: wf.complex(x, y), input_signature=[spec, spec])
    re, im = (wf.tensor(numbers(3, 2) + i, dtype=dtype) for i in (0, 1))
    np.testing.assert_array_equal(f(re, im), wf.complex(re, im))
    for wrong in [re[:1], re[:, :1]]:
        with pytest.raises(wf.ShapeError, match="complex: the shapes do not broadcast: .* meets .* in axis"):
            f(wrong, im)


@pytest.mark.parametrize("dtype", [wf.float16, wf.int8])
def test_what_a_check_says_of_a_size_holds_behind_it(dtype):
    """The op in front of an effect before the check wrote all elements where the check promised one."""

    def asserted(x):
        y = x.astype(wf.float32)
        assert wf.all(y > 0)
        return wf.broadcast_to(y, (1, 1))

    def printed(x):
        y = x.astype(wf.float32)
        wf.print("sum", wf.sum(y))
        return wf.broadcast_to(y, (1, 1))

    for f in (asserted, printed):
        traced = wf.function(f, input_signature=[wf.TensorSpec([None], dtype)])
        assert traced(wf.ones(1, dtype)).tolist() == [[1]]
        for _ in range(3):
            with pytest.raises(wf.ShapeError, match="x does not broadcast to the shape: 6900 meets 1"):
                traced(wf.ones(6900, dtype))


def test_weights_of_an_average_have_at_most_its_axes():
    f = wf.function(lambda x, w: wf.average(x, weights=w), input_signature=[wf.TensorSpec([None]), wf.TensorSpec([None, None])])
    with pytest.raises(wf.ShapeError, match="average: x of shape .* does not broadcast"):
        f(numbers(3), numbers(1, 3))


def test_arrays_of_open_sizes_broadcast_together():
    f = wf.function(lambda x, y, z: wf.broadcast_arrays(x, y, z), input_signature=[wf.TensorSpec([None, 1, None]), wf.TensorSpec([None, None]), wf.TensorSpec([])])
    for shapes in [(2, 1, 3), (4, 3)], [(2, 1, 0), (5, 0)], [(0, 1, 1), (1, 1)]:
        x, y = (numbers(*shape) for shape in shapes)
        for found, want in zip(f(x, y, np.float32(7)), np.broadcast_arrays(x, y, np.float32(7)), strict=True):
            np.testing.assert_array_equal(found, want)
    for shapes in [(2, 1, 0), (1, 1)], [(2, 1, 4), (3, 3)]:
        with pytest.raises(wf.ShapeError):
            f(*(numbers(*shape) for shape in shapes), np.float32(7))
