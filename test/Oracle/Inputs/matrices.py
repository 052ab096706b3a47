"""Functions of matrices in NumPy, with the signs and orders that Weft has: what every-op.py compares with."""
import numpy as np


def flat(parts):
    """The elements of several arrays in a row."""
    return np.concatenate([np.ravel(part) for part in parts])


def lin(function, *arguments, **options):
    """A function of np.linalg, which has nothing wider than float64."""
    narrow = {np.dtype(np.longdouble): np.float64, np.dtype(np.clongdouble): np.complex128}
    plain = [x.astype(narrow.get(x.dtype, x.dtype)) if isinstance(x, np.ndarray) else x for x in arguments]
    return getattr(np.linalg, function)(*plain, **options)


def lu(x):
    """Both triangles in one, the exchanges of rows, and their order in the end, of each matrix by elimination."""
    factors, (rows, columns) = x.copy(), x.shape[-2:]
    pivots = np.zeros(x.shape[:-2] + (min(rows, columns),), np.int64)
    order = np.broadcast_to(np.arange(rows), x.shape[:-1]).copy()
    for at in np.ndindex(*x.shape[:-2]):
        a, numbers = factors[at], order[at]
        for j in range(min(rows, columns)):
            p = pivots[at][j] = j + np.argmax(np.abs(a[j:, j].real) + np.abs(a[j:, j].imag))
            a[[j, p]], numbers[[j, p]] = a[[p, j]], numbers[[p, j]]
            a[j + 1:, j] /= a[j, j]
            a[j + 1:, j + 1:] -= np.outer(a[j + 1:, j], a[j, j + 1:])
    return factors, pivots, order


def lu_factor(x):
    """The triangles and the exchanges in a row."""
    return flat([part.astype(x.dtype) for part in lu(x)[:2]])


def flipped(x, adjoint):
    return np.conj(np.swapaxes(x, -1, -2)) if adjoint else x


def turned(x, transposed):
    return np.swapaxes(x, -1, -2) if transposed else x


def triangular_solve(x, b, lower, transposed, unit_diagonal):
    triangle = np.tril(x, -1) if lower else np.triu(x, 1)
    diagonal = np.ones(x.shape[:-1], x.dtype) if unit_diagonal else np.diagonal(x, axis1=-2, axis2=-1)
    return lin("solve", turned(triangle + diagonal[..., None] * np.eye(x.shape[-1]), transposed), b)


def lu_solve(factors, permutation, b, transposed):
    """By the matrix that the triangles are of."""
    product = (np.tril(factors, -1) + np.eye(factors.shape[-1])) @ np.triu(factors)
    matrix = np.take_along_axis(product, np.argsort(permutation, -1)[..., None], -2)
    return lin("solve", turned(matrix, transposed), b)


def solve_by_lu(factors, pivots, b, trans):
    """The same by exchanges of rows, of which transposes and adjoints are to be solved."""
    order = np.broadcast_to(np.arange(pivots.shape[-1]), pivots.shape).copy()
    for at in np.ndindex(*pivots.shape[:-1]):
        for i, with_row in enumerate(pivots[at]):
            order[at][[i, with_row]] = order[at][[with_row, i]]
    product = (np.tril(factors, -1) + np.eye(factors.shape[-1])) @ np.triu(factors)
    matrix = np.take_along_axis(product, np.argsort(order, -1)[..., None], -2)
    return lin("solve", turned(np.conj(matrix) if trans == 2 else matrix, trans != 0), b)


def cond(x, p):
    """NumPy's, as the real number that it is."""
    return np.real(lin("cond", x, p))


def phases_of(vectors):
    """The number of length 1 for each column by which its largest element is real and positive."""
    if vectors.size == 0:
        return np.ones(vectors.shape[:-2] + vectors.shape[-1:])
    largest = np.take_along_axis(vectors, np.argmax(np.abs(vectors), -2)[..., None, :], -2)[..., 0, :]
    return largest.conj() / np.abs(largest)


def eigh(x):
    values, vectors = lin("eigh", x)
    return values, vectors * phases_of(vectors)[..., None, :]


def eig(x):
    """Complex eigenvalues by real parts, then imaginary ones, and vectors whose largest element is a positive real number."""
    values, vectors = (found + 0j for found in lin("eig", x))
    order = np.lexsort((values.imag, values.real))
    values, vectors = np.take_along_axis(values, order, -1), np.take_along_axis(vectors, order[..., None, :], -1)
    return values, vectors * phases_of(vectors)[..., None, :]


def svd(x):
    left, values, right = lin("svd", x, full_matrices=False)
    phases = phases_of(left)
    return values, left * phases[..., None, :], right * phases.conj()[..., None]


def svd_in_order(x):
    """Left vectors, values and right vectors in a row."""
    values, left, right = svd(x)
    return flat([left, values, right])


def without(x, row, column):
    """Matrices without a row and a column."""
    return np.delete(np.delete(x, row, -2), column, -1)


def cofactors(x):
    """By the determinants of what is left."""
    result = np.zeros(x.shape, "c16" if x.dtype.kind == "c" else "f8")
    for i, j in np.ndindex(*x.shape[-2:]):
        result[..., i, j] = (-1) ** (i + j) * lin("det", without(x, i, j))
    return result.astype(x.dtype)


def cofactors_along(x, d):
    """The same of the cofactors of what is left."""
    result = np.zeros(x.shape, x.dtype)
    for i, j in np.ndindex(*x.shape[-2:]):
        result[..., i, j] = (-1) ** (i + j) * (cofactors(without(x, i, j)) * without(d, i, j)).sum((-2, -1))
    return result


def pinv_of(inverses, left, right):
    return flipped(right, True) * inverses[..., None, :] @ flipped(left, True)


def expm(x):
    """By a series of a matrix that is halved often, in long doubles."""
    halved = x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble) / 2**12
    result = power = np.broadcast_to(np.eye(x.shape[-1], dtype=halved.dtype), x.shape)
    for n in range(1, 20):
        power = power @ halved / n
        result = result + power
    for _ in range(12):
        result = result @ result
    return result.astype(x.dtype)


def norm(x, order, axes, keepdims):
    """NumPy's, which has singular values of nothing wider than float64."""
    singular = order in (2, -2, "nuc") and (x.ndim if axes is None else np.size(axes)) == 2
    return lin("norm", x, order, axes, keepdims) if singular else np.linalg.norm(x, order, axes, keepdims)


def cho_solve(c, b, upper):
    triangle = flipped(np.triu(c), True) if upper else np.tril(c)
    return lin("solve", triangle @ flipped(triangle, True), b)
