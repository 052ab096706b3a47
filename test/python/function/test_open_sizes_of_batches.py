"""vmap and scan where sizes are open, or computed from others: as eagerly."""

import pytest
import weft as wf

X, Y = wf.reshape(wf.arange(6.0), [2, 3]), wf.tensor([1.0, 2.0, 3.0])
OPEN = [wf.TensorSpec([2, None]), wf.TensorSpec([None])]


def _scanned(part, step):
    return lambda x, y: wf.vmap(lambda r: wf.scan(lambda c, z: step(r, c, z), y, wf.ones([2, 1]))[part])(x)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: wf.vmap(lambda r: y * 2)(x),
        lambda x, y: wf.vmap(lambda r: y + r)(x),
        lambda x, y: wf.vmap(lambda r: wf.zeros([wf.size(r, 0), wf.size(y, 0)]))(x),
        lambda x, y: wf.vmap(lambda r: wf.concatenate([r, y], 0))(x),
        lambda x, y: wf.vmap(lambda r: wf.scatter_add(y, [0], r[:1]))(x),
        lambda x, y: wf.vmap(lambda r: wf.cond(wf.sum(y) > 0, lambda: y * 2, lambda: y))(x),
        lambda x, y: wf.vmap(lambda r: wf.cond(wf.sum(y) > 0, lambda: r * y, lambda: y))(x),
        lambda x, y: wf.vmap(lambda r: wf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + r), (0, y))[1])(x),
        lambda x, y: wf.vmap(lambda r: wf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + 1), (0, y))[1])(x),
        _scanned(0, lambda r, c, z: (c * r, c + z)),
        _scanned(1, lambda r, c, z: (c * r, c + z)),
        _scanned(0, lambda r, c, z: (c * 2, c + z)),
        _scanned(1, lambda r, c, z: (c * 2, c + r)),
        lambda x, y: wf.vmap(wf.grad(lambda r: wf.sum(r * y)))(x),
        lambda x, y: wf.vmap(wf.grad(lambda r: wf.sum(y * y)))(x),
        lambda x, y: wf.vmap(wf.grad(lambda r: wf.sum(wf.cond(wf.sum(y) > 0, lambda: r * y, lambda: y))))(x),
        lambda x, y: wf.vmap(
            wf.grad(lambda r: wf.sum(wf.scan(lambda c, z: (c * r, c + z), y, wf.ones([2, 1]))[0]))
        )(x),
    ],
)
def test_what_is_the_same_for_all_may_have_open_sizes(f):
    found = wf.function(f, input_signature=OPEN)(X, Y)
    assert found.tolist() == f(X, Y).tolist()


def test_a_size_of_a_member_may_be_that_of_a_result():
    g = wf.vmap(lambda r: wf.zeros([wf.size(r, 0)]))
    assert wf.function(g)(X).tolist() == g(X).tolist() == [[0.0] * 3] * 2


def _rows(c, r):
    return c, wf.reshape(c, [1, wf.size(c, 0)])


def test_a_scan_without_iterations_has_the_sizes_of_one():
    none, carry = wf.zeros([0, 2]), wf.ones([3])
    assert wf.scan(_rows, carry, none)[1].shape == (0, 1, 3)
    traced = wf.function(
        lambda c, x: wf.scan(_rows, c, x)[1],
        input_signature=[wf.TensorSpec([None]), wf.TensorSpec([None, 2])],
    )
    assert traced(carry, none).shape == (0, 1, 3)


def test_a_scan_without_iterations_has_no_effects(capfd):
    def shown(c, r):
        wf.print("an iteration")
        return _rows(c, r)

    assert wf.scan(shown, wf.ones([3]), wf.zeros([0, 2]))[1].shape == (0, 1, 3)
    assert "an iteration" not in capfd.readouterr().out


@pytest.mark.parametrize(
    ("name", "f"),
    [
        ("where", lambda r: wf.where(r > 0)),
        ("nonzero", lambda r: wf.nonzero(r)),
        ("unique", lambda r: wf.unique(r)),
        ("argwhere", lambda r: wf.argwhere(r)),
        ("numpy", lambda r: r.numpy()),
    ],
)
def test_what_members_cannot_have_speaks_of_vmap(name, f):
    with pytest.raises(Exception, match=rf"{name}: .*vmap") as caught:
        wf.vmap(f)(X)
    assert "trace" not in str(caught.value)
