"""Scalars of NumPy: which elements they have, and that a float64 counts as the float of Python that it is, in traces too."""

import numpy as np
import pytest

import weft as wf

X = [1.0, 2.0]

NOT_HELD = {
    "timedelta64": np.timedelta64(3, "s"),
    "datetime64": np.datetime64("2020-01-01"),
    "NaT": np.datetime64("NaT"),
    "clongdouble": np.clongdouble(1),
    "longdouble": np.longdouble(1),
    "void": np.void(b"abcd"),
    "record": np.array([(1, 2.0)], dtype="i4,f4")[0],
}
USES = {
    "tensor": wf.tensor,
    "a list": lambda v: wf.tensor([v, v]),
    "a list with a tensor": lambda v: wf.tensor([wf.tensor(1.0), v]),
    "asarray": wf.asarray,
    "Variable": wf.Variable,
    "assign": lambda v: wf.Variable(1.0).assign(v),
    "from_iterable": lambda v: list(wf.data.from_iterable([v, v])),
    "times": lambda v: wf.tensor(X) * v,
    "times of the left": lambda v: v * wf.tensor(X),
    "equal": lambda v: wf.tensor(X) == v,
    "sum": wf.sum,
    "an argument": wf.function(lambda a: a),
    "full": lambda v: wf.full([1], v),
    "where": lambda v: wf.where(wf.tensor(X) > 1, v, wf.tensor(X)),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", NOT_HELD)
def test_elements_that_no_dtype_holds_are_named(kind, use):
    value = NOT_HELD[kind]
    with pytest.raises(wf.DTypeError) as caught:
        USES[use](value)
    assert f"has elements of {value.dtype}, which no dtype holds" in str(caught.value)


def test_bytes_are_elements_where_they_are_meant():
    for value in (bytearray(b"ab"), memoryview(b"ab"), np.array([97, 98], "u1")):
        assert wf.tensor(value).tolist() == [97, 98]
    assert int(wf.tensor(np.uint8(3))) == 3 and float(wf.tensor(np.float16(1.5))) == 1.5


THREE = np.float64(3)


def _loop(x, start):
    for v in x:
        start = start + v
    return start


# What gives a float32 for a number of Python beside a float32 tensor.
WEAK = {
    "argument": lambda x, n: wf.function(lambda x, n: x * n)(x, n),
    "in a dict": lambda x, n: wf.function(lambda x, d: x * d["a"][0])(x, {"a": [n]}),
    "cond": lambda x, n: wf.function(lambda x: wf.cond(x[0] > 5, lambda: x[0], lambda: n))(x),
    "cond the other way": lambda x, n: wf.function(lambda x: wf.cond(x[0] > 5, lambda: n, lambda: x[0]))(x),
    "switch_case": lambda x, n: wf.function(lambda i: wf.switch_case(i, [lambda: n, lambda: x[0]]))(wf.tensor(1)),
    "if": lambda x, n: wf.function(lambda x: x[0] if x[0] > 5 else n)(x),
    "for": lambda x, n: wf.function(_loop)(x, n),
    "while_loop": lambda x, n: wf.function(
        lambda x: wf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * x[0]), (0, n))
    )(x)[1],
    "for_loop": lambda x, n: wf.function(lambda x, n: wf.for_loop(2, lambda i, a: a + x[0], [n]))(x, n)[0],
    "scan": lambda x, n: wf.scan(lambda c, v: (c + v, c), n, x),
    "scan of a trace": lambda x, n: wf.function(lambda x, n: wf.scan(lambda c, v: (c + v, c), n, x))(x, n),
    "vmap": lambda x, n: wf.vmap(lambda v, n: v * n, in_axes=(0, None))(x, n),
    "grad": lambda x, n: wf.grad(lambda x, n: wf.sum(x * n))(x, n),
    "grad of a trace": lambda x, n: wf.function(wf.grad(lambda x, n: wf.sum(x * n)))(x, n),
    "recompute": lambda x, n: wf.function(lambda x, n: wf.recompute(lambda x: x * n)(x))(x, n),
    "assign": lambda x, n: wf.function(lambda v, n: v.assign(n).value())(wf.Variable(x[0]), n),
    "assign_add": lambda x, n: wf.function(lambda v, n: v.assign_add([n, n]).value())(wf.Variable(x), n),
}


def _leaves(value):
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("name", WEAK)
def test_a_float64_counts_as_a_float(name):
    wanted = _leaves(WEAK[name](wf.tensor(X), 3.0))
    found = _leaves(WEAK[name](wf.tensor(X), THREE))
    assert [leaf.dtype for leaf in found] == [wf.float32] * len(wanted) == [leaf.dtype for leaf in wanted]
    assert [leaf.tolist() for leaf in found] == [leaf.tolist() for leaf in wanted]
    # And beside float64 it loses nothing.
    of_double = WEAK[name](wf.tensor(X, dtype="float64"), np.float64(0.1))
    assert all(leaf.dtype == wf.float64 for leaf in _leaves(of_double))


def test_a_float64_alone_is_one():
    f = wf.function(lambda a: wf.tensor(a))
    assert f(THREE).dtype == wf.float64 and f(3.0).dtype == wf.float32 and f(np.float32(3)).dtype == wf.float32
    assert wf.function(lambda a: a)(THREE) == 3 and wf.function(lambda a: wf.sin(a))(THREE).dtype == wf.float64


@pytest.mark.filterwarnings("ignore:.* of the last .* calls")
def test_float64s_that_change_share_programs():
    f = wf.function(lambda x, n: x * n + 1)
    for value in range(8):
        assert f(wf.tensor(X), np.float64(value)).tolist() == [value + 1.0, 2.0 * value + 1]
    assert f.trace_count() == 8
    assert list(f.report(wf.tensor(X), np.float64(5))["phases_ms"]) == ["cache"]
    again = f(wf.tensor(X), np.float64(3))
    assert f.trace_count() == 8 and again.tolist() == [4, 7]
    g = wf.function(lambda x, n: x * n)
    g(wf.tensor(X), 3.0)
    assert "miss" in g.explain(wf.tensor(X), THREE)


def test_other_scalars_keep_their_dtype():
    f = wf.function(lambda x, n: x * n)
    for scalar, dtype in ((np.float32(3), "float32"), (np.int64(3), "float64"), (np.int32(3), "float32")):
        assert f(wf.tensor(X), scalar).dtype == (wf.tensor(X) * scalar).dtype
    assert f(wf.tensor(X), np.array(3.0)).dtype == wf.float64


AXES = {
    "sum": lambda x, n: wf.sum(x, axis=n),
    "sum of a list": lambda x, n: wf.sum(x, axis=[n]),
    "concatenate": lambda x, n: wf.concatenate([x, x], axis=n),
    "expand_dims": wf.expand_dims,
    "softmax": lambda x, n: wf.nn.softmax(x, axis=n),
    "transpose": lambda x, n: wf.transpose(x, [n]),
    "top_k": wf.top_k,
    "moveaxis": lambda x, n: wf.moveaxis(x, n, 0),
    "split": wf.split,
    "argmax": wf.argmax,
    "cumsum": wf.cumsum,
    "diff": wf.diff,
}


@pytest.mark.parametrize("name", AXES)
def test_a_scalar_that_has_to_be_known_says_so(name):
    for scalar in (np.int64(0), wf.tensor(0)):
        with pytest.raises(wf.DTypeError) as caught:
            wf.function(AXES[name])(wf.tensor(X), scalar)
        said = str(caught.value)
        assert "is a tensor of a traced function, and a number of Python is wanted" in said, said
        assert "pass int(n)" in said and "sizes" not in said and name.split()[0] in said
    wf.function(AXES[name])(wf.tensor(X), int(np.int64(0)) if name != "split" else 1)


def test_numpy_of_a_trace_names_what_prints_it():
    with pytest.raises(wf.StateError, match=r"print it with weft\.print, or take it to weft\.py_function"):
        wf.function(lambda x: x.numpy())(wf.tensor(X))


# Functions that take several tensors by themselves.

BESIDE = {
    "log_cosh": lambda x, n: wf.losses.log_cosh(x, n),
    "hinge": lambda x, n: wf.losses.hinge(n, x),
    "binary_cross_entropy": lambda x, n: wf.losses.binary_cross_entropy(x * 0.1, n),
    "categorical_cross_entropy": lambda x, n: wf.losses.categorical_cross_entropy(x, [n, n]),
    "jvp": lambda x, n: wf.jvp(lambda a: a * a, (x[0],), (n,))[1],
    "jvp of a list": lambda x, n: wf.jvp(lambda a: a * a, (x,), (wf.tensor([n, n], dtype=x.dtype),))[1],
    "vjp": lambda x, n: wf.vjp(lambda a: a * a, x[0])[1](n)[0],
    "output_gradients": lambda x, n: _gradient(x[0], n),
}


def _gradient(x, n):
    with wf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x, output_gradients=n)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BESIDE)
def test_numbers_beside_tensors_are_weak(name, dtype):
    x = wf.tensor(X, dtype=dtype)
    found = [BESIDE[name](x, number) for number in (0.5, np.float64(0.5))]
    assert found[0].dtype.name == found[1].dtype.name == dtype
    assert found[0].tolist() == found[1].tolist()
