"""Errors that matrices end a compiled call with: the words, the function and the line of eager execution, and its values of variables."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest

import weft as wf
from weft import linalg

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
REGULAR = np.array([[2.0, 1.0], [0.5, 3.0]])
ALL_NAN = np.full((2, 2), np.nan)
ONES = np.ones(2)
# By the function: a call with a matrix that is well, and one that is not, of the same shape. The first result counts.
BAD = {
    "solve": (lambda x: linalg.solve(x, ONES), SINGULAR),
    "inv": (linalg.inv, SINGULAR),
    "inv of the second": (lambda x: linalg.inv(wf.stack([wf.eye(2, dtype="float64"), x])), SINGULAR),
    "matrix_power": (lambda x: linalg.matrix_power(x, -2), SINGULAR),
    "cholesky": (lambda x: linalg.cholesky(x), -SINGULAR),
    "solve_triangular": (lambda x: linalg.solve_triangular(x, ONES), np.diag([1.0, 0.0])),
    "cho_solve": (lambda x: linalg.cho_solve(x, ONES), np.diag([1.0, 0.0])),
    "multivariate_normal": (lambda x: wf.random.multivariate_normal([1.0, 2.0], x, key=wf.random.key(1)), -SINGULAR),
    "complex": (lambda x: wf.real(linalg.inv(wf.cast(x, "complex128"))), SINGULAR),
    "qr by its slopes": (lambda x: wf.grad(lambda x: wf.sum(linalg.qr(x)[0] * [[1.0, 2.0], [3.0, 5.0]]))(x), np.zeros((2, 2))),
    "inv by its slopes": (lambda x: wf.grad(lambda x: wf.sum(linalg.inv(x)))(x), SINGULAR),
    "cholesky by hessian": (lambda x: wf.hessian(lambda x: wf.sum(linalg.cholesky(x)))(x), -SINGULAR),
    "vmap": (lambda x: wf.vmap(linalg.inv)(wf.stack([wf.eye(2, dtype="float64"), x])), SINGULAR),
}


def made_of(variables, call, x):
    """What the call says, without the result, and what variables hold then."""
    start = [np.array(v) for v in ([1.0, 2.0], [3.0, 4.0], 5.0)]
    for variable, value in zip(variables, start, strict=True):
        variable.assign(value)
    said = None
    try:
        call(x)
    except wf.Error as error:
        said = f"{type(error).__name__}: {error}"
    return said, [v.numpy().tolist() for v in variables]


def agree(make, x, *, signature=None):
    """Calls the function that `make` gives for new variables eagerly and compiled, and again with a matrix that is well."""
    variables = [wf.Variable(np.zeros(2)), wf.Variable(np.zeros(2)), wf.Variable(np.float64(0))]
    function = make(*variables)
    compiled = wf.function(function) if signature is None else wf.function(function, input_signature=signature)
    eagerly = made_of(variables, function, wf.tensor(x))
    assert eagerly[0] is not None
    for _ in range(2):
        assert made_of(variables, compiled, wf.tensor(x)) == eagerly
    well = made_of(variables, function, wf.tensor(REGULAR))
    said, values = made_of(variables, compiled, wf.tensor(REGULAR))
    assert said is well[0] is None
    for one, other in zip(values, well[1], strict=True):
        assert one == pytest.approx(other, rel=1e-12)
    assert made_of(variables, compiled, wf.tensor(x)) == eagerly
    return eagerly


def number(x):
    return wf.sum(wf.abs(x))


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("open_sizes", [False, True])
def test_one_after_the_other(name, open_sizes):
    call, bad = BAD[name]
    if open_sizes and ("hessian" in name or "normal" in name):
        pytest.skip("sizes must be known")
    if open_sizes and name == "qr by its slopes":
        pytest.skip("the derivative of a branch names the op and not the function")

    def make(v, w, n):
        def step(x):
            n.assign_add(1)
            v.assign(v * 2)
            w.assign([7.0, 8.0])
            y = number(call(x))
            v.assign([y, y])
            n.assign(y)
            return y

        return step

    said, values = agree(make, bad, signature=[wf.TensorSpec([None, None], "float64")] if open_sizes else None)
    assert values == [[2, 4], [7, 8], 6]
    others = {"complex": "linalg.inv", "vmap": "linalg.inv", "multivariate_normal": "random.multivariate_normal"}
    function = others.get(name, f"linalg.{name.split()[0]}")
    assert re.match(rf"LinAlgError: test_linalg_errors.py:\d+: {re.escape(function)}: ", said)


@pytest.mark.parametrize("name", ["solve", "inv", "cholesky", "solve_triangular", "complex"])
def test_in_a_branch(name):
    call, bad = BAD[name]

    def make(v, w, n):
        def step(x):
            n.assign_add(1)

            def inside():
                v.assign(v + 10)
                y = number(call(x))
                w.assign([y, y])
                return y

            y = wf.cond(n > 5, inside, lambda: wf.constant(0.0, "float64"))
            n.assign_add(y)
            return y

        return step

    assert agree(make, bad)[1] == [[11, 12], [3, 4], 6]


@pytest.mark.parametrize("name", ["solve", "inv", "cholesky", "qr by its slopes"])
@pytest.mark.parametrize("kind", ["for", "while"])
def test_in_a_loop(name, kind):
    """The third turn fails, after two that wrote every variable."""
    call, bad = BAD[name]

    def make(v, w, n):
        def turn(i, x):
            n.assign_add(1)
            v.assign(v * 2)
            part = wf.cast(i == 2, "float64")
            y = number(call((1 - part) * wf.constant([[2.0, 0.0], [0.0, 3.0]], "float64") + part * x))
            w.assign(w + [y, 1.0])
            n.assign_add(100)
            return x

        def step(x):
            if kind == "for":
                wf.for_loop(4, lambda i, x: [turn(i, x)], [x])
            else:
                wf.while_loop(lambda i, x: i < 4, lambda i, x: [i + 1, turn(i, x)], [wf.constant(0), x])
            v.assign([0.0, 0.0])

        return step

    values = agree(make, bad)[1]
    assert values[0] == [8, 16] and values[1][1] == 6 and values[2] == 208


def test_variables_that_trade_their_values():
    def make(v, w, n):
        def step(x):
            old = v.value()
            v.assign(w.value())
            w.assign(old)
            y = linalg.inv(x)
            v.assign(y[0] + v)
            w.assign(y[1] * w)
            n.assign(wf.sum(y))

        return step

    assert agree(make, SINGULAR)[1] == [[3, 4], [1, 2], 5]


def test_what_a_variable_becomes_is_not_written_before_it_is_whole():
    """The second matrix of the batch fails when the first one is done."""

    def make(v, w, n):
        all_of_them = wf.Variable(np.arange(8.0).reshape(2, 2, 2))

        def step(x):
            w.assign(all_of_them[1, 1])
            all_of_them.assign(linalg.inv(wf.stack([wf.eye(2, dtype="float64") * 2, x])))
            w.assign(all_of_them[0, 0])
            all_of_them.assign(np.arange(8.0).reshape(2, 2, 2))

        return step

    assert agree(make, SINGULAR)[1] == [[1, 2], [6, 7], 5]


def test_a_variable_in_place_of_what_it_is_solved_for():
    def make(v, w, n):
        def step(x):
            v.assign(linalg.solve([[2.0, 0.0], [0.0, 4.0]], v))
            v.assign(linalg.solve(x, v))
            w.assign(linalg.solve(x, w))

        return step

    assert agree(make, SINGULAR)[1] == [[0.5, 0.5], [3, 4], 5]


def test_in_a_function_that_a_function_calls():
    def make(v, w, n):
        @wf.function
        def inner(x):
            v.assign(v + 1)
            y = linalg.inv(x)
            v.assign(y[0])
            return y

        def step(x):
            w.assign([6.0, 6.0])
            inner(x)
            w.assign([7.0, 7.0])

        return step

    assert agree(make, SINGULAR)[1] == [[2, 3], [6, 6], 5]


def test_a_print_before_is_there_and_one_behind_is_not(capfd):
    def step(x):
        wf.print("before")
        y = linalg.inv(x)
        wf.print("behind", y[0, 0])
        return y

    for call in (step, wf.function(step)):
        with pytest.raises(wf.LinAlgError):
            call(wf.tensor(SINGULAR))
        assert capfd.readouterr().out == "before\n"


def test_members_that_a_condition_keeps_out():
    """Of a mapped loop the member that has ended is not solved for again, and one that goes on ends the call."""

    def member(x, turns):
        return wf.while_loop(lambda i, y: i < turns, lambda i, y: [i + 1, linalg.inv(y) - wf.cast(i + 1, "float64") * y], [wf.constant(0), x])[1]

    def make(v, w, n):
        def step(x):
            v.assign([8.0, 8.0])
            y = wf.vmap(member)(wf.stack([x, wf.eye(2, dtype="float64") * 3]), wf.cast(n.value() + wf.stack([-5, -2]), "int32"))
            n.assign(number(y))

        return step

    variables = [wf.Variable(np.zeros(2)), wf.Variable(np.zeros(2)), wf.Variable(np.float64(0))]
    step = make(*variables)
    for call in (step, wf.function(step)):
        said, values = made_of(variables, call, wf.tensor(SINGULAR))
        assert said is None and values[0] == [8, 8]

    def all_of_them(v, w, n):
        inner = make(v, w, n)

        def step(x):
            n.assign_add(1)
            inner(x)

        return step

    assert agree(all_of_them, SINGULAR)[1] == [[8, 8], [3, 4], 6]


# Errors of other kinds ------------------------------------------------------------------------------------------------------------

OPEN = wf.TensorSpec([None], "float64")
OTHERS = {
    "linalg.solve": (lambda x: linalg.solve(wf.eye(2, dtype="float64") * 2, x), [1.0, 2.0, 3.0], wf.ShapeError),
    "linalg.solve_triangular": (lambda x: linalg.solve_triangular(wf.eye(2, dtype="float64"), x), [1.0, 2.0, 3.0], wf.ShapeError),
    "fft.fft": (wf.fft.fft, [], wf.ShapeError),
    "fft.rfft": (wf.fft.rfft, [], wf.ShapeError),
}


@pytest.mark.parametrize("name", OTHERS)
def test_sizes_that_only_the_call_knows(name):
    call, bad, kind = OTHERS[name]
    v = wf.Variable([1.0, 2.0])

    def step(x):
        v.assign([3.0, 4.0])
        y = call(x)
        v.assign([5.0, 6.0])
        return y

    said = []
    for called in (step, wf.function(step, input_signature=[OPEN])):
        v.assign([1.0, 2.0])
        try:
            called(wf.tensor(np.array(bad)))
        except wf.Error as error:
            assert type(error) is kind
            said.append(str(error))
            assert v.numpy().tolist() == [3, 4]
    # The op has fewer words than the function that is made of it, where that knows the sizes.
    place = f"{said[0].partition(': ')[0]}: {name}: "
    assert place.startswith("test_linalg_errors.py:") and [text.startswith(place) for text in said] == [True, True]


def test_without_lapack(tmp_path):
    """What larger matrices need, and smaller ones do not; eigenvalues that do not converge are NaN here."""
    program = tmp_path / "without_lapack.py"
    program.write_text(
        """
import numpy as np, weft as wf
v = wf.Variable(1.0)
functions = [wf.linalg.eigh, wf.linalg.eigvalsh, wf.linalg.svd, wf.linalg.svdvals, wf.linalg.pinv, wf.linalg.matrix_rank, wf.linalg.eig,
             wf.linalg.eigvals, lambda x: wf.linalg.lstsq(x, wf.ones(20)), lambda x: wf.linalg.matrix_norm(x, ord=2)]
for function in functions:
    def step(x):
        v.assign_add(1)
        y = function(x)
        v.assign(0)
        return y
    said = []
    for call in (step, wf.function(step)):
        v.assign(1)
        try:
            call(wf.ones((20, 20)))
        except wf.IOError as error:
            said.append((str(error), float(v)))
    assert len(said) == 2 and said[0] == said[1], said
    assert said[0][0].startswith(("without_lapack.py:9: linalg.", "without_lapack.py:5: linalg.")), said[0]
    assert said[0][1] == 2
"""
    )
    environment = {**os.environ, "WEFT_LAPACK": str(tmp_path / "none.so")}
    subprocess.run([sys.executable, str(program)], check=True, env=environment)
