"""Losses against NumPy: functions and classes, reductions, weights and masks, compiled, with bad input."""

import copy
import itertools
import pickle

import numpy as np
import pytest

import weft as wf

L = wf.losses

GENERATOR = np.random.default_rng(0)
Y = GENERATOR.normal(size=(4, 3)).astype(np.float32)
P = GENERATOR.normal(size=(4, 3)).astype(np.float32)
YES = GENERATOR.integers(0, 2, (4, 3)).astype(np.float32)
CLASSES = np.array([2, 0, 1, 2])
ONE_HOT = np.eye(3, dtype=np.float32)[CLASSES]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


SHARES, OTHERS = softmax(Y).astype(np.float32), softmax(P).astype(np.float32)
CHANCES = sigmoid(P).astype(np.float32)
COUNTS = np.floor(CHANCES * 5)


def close(actual, expected, tolerance=2e-5):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert np.allclose(actual, expected, rtol=tolerance, atol=tolerance)


# The formulas: the values of the samples.


def binary_of_chances(y, p, smoothing=0.0):
    y = y * (1 - smoothing) + smoothing / 2
    p = np.clip(p, 1e-7, 1 - 1e-7)
    return -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean(-1)


def categorical_of_shares(y, p, smoothing=0.0):
    y = y * (1 - smoothing) + smoothing / y.shape[-1]
    p = np.clip(p / p.sum(-1, keepdims=True), 1e-7, 1 - 1e-7)
    return -(y * np.log(p)).sum(-1)


def sparse_of_shares(y, p, smoothing=0.0):
    return categorical_of_shares(np.eye(p.shape[-1])[y], p, smoothing)


def huber(y, p, delta=1.0):
    e = np.abs(p - y)
    return np.where(e <= delta, e**2 / 2, delta * e - delta**2 / 2).mean(-1)


def kl_divergence(y, p):
    y, p = np.clip(y, 1e-7, 1), np.clip(p, 1e-7, 1)
    return (y * np.log(y / p)).sum(-1)


def signs(y):
    return np.where(y == 0, -1, y)


def categorical_hinge(y, p):
    return np.maximum(((1 - y) * p).max(-1) - (y * p).sum(-1) + 1, 0)


def cosine_similarity(y, p):
    return -(y * p).sum(-1) / np.linalg.norm(y, axis=-1) / np.linalg.norm(p, axis=-1)


def of_logits(formula, squash):
    return lambda y, p, **options: formula(y, squash(p), **options)


binary = of_logits(binary_of_chances, sigmoid)
categorical = of_logits(categorical_of_shares, softmax)
sparse = of_logits(sparse_of_shares, softmax)

# Of each: the function or the object, targets, predictions, the values of the samples.
FUNCTIONS = {
    "mean_squared_error": (L.mean_squared_error, Y, P, ((Y - P) ** 2).mean(-1)),
    "mean_absolute_error": (L.mean_absolute_error, Y, P, np.abs(Y - P).mean(-1)),
    "log_cosh": (L.log_cosh, Y, P, np.log(np.cosh(P - Y)).mean(-1)),
    "kl_divergence": (L.kl_divergence, SHARES, OTHERS, kl_divergence(SHARES, OTHERS)),
    "poisson": (L.poisson, COUNTS, CHANCES, (CHANCES - COUNTS * np.log(CHANCES + 1e-7)).mean(-1)),
    "cosine_similarity": (L.cosine_similarity, Y, P, cosine_similarity(Y, P)),
    "hinge": (L.hinge, YES, P, np.maximum(1 - signs(YES) * P, 0).mean(-1)),
    "squared_hinge": (L.squared_hinge, signs(YES), P, (np.maximum(1 - signs(YES) * P, 0) ** 2).mean(-1)),
    "categorical_hinge": (L.categorical_hinge, ONE_HOT, P, categorical_hinge(ONE_HOT, P)),
    "huber": (L.huber, Y, P, huber(Y, P)),
    "binary_cross_entropy": (L.binary_cross_entropy, YES, P, binary(YES, P)),
    "binary_crossentropy": (L.binary_crossentropy, YES, CHANCES, binary_of_chances(YES, CHANCES)),
    "categorical_cross_entropy": (L.categorical_cross_entropy, ONE_HOT, P, categorical(ONE_HOT, P)),
    "categorical_crossentropy": (L.categorical_crossentropy, SHARES, OTHERS, categorical_of_shares(SHARES, OTHERS)),
    "sparse_categorical_cross_entropy": (L.sparse_categorical_cross_entropy, CLASSES, P, sparse(CLASSES, P)),
    "sparse_categorical_crossentropy": (
        L.sparse_categorical_crossentropy,
        CLASSES,
        OTHERS,
        sparse_of_shares(CLASSES, OTHERS),
    ),
}
CLASSES_OF = {
    "MeanSquaredError": (L.MeanSquaredError, Y, P, FUNCTIONS["mean_squared_error"][3]),
    "MeanAbsoluteError": (L.MeanAbsoluteError, Y, P, FUNCTIONS["mean_absolute_error"][3]),
    "LogCosh": (L.LogCosh, Y, P, FUNCTIONS["log_cosh"][3]),
    "KLDivergence": (L.KLDivergence, SHARES, OTHERS, FUNCTIONS["kl_divergence"][3]),
    "Poisson": (L.Poisson, *FUNCTIONS["poisson"][1:]),
    "CosineSimilarity": (L.CosineSimilarity, Y, P, FUNCTIONS["cosine_similarity"][3]),
    "Hinge": (L.Hinge, *FUNCTIONS["hinge"][1:]),
    "SquaredHinge": (L.SquaredHinge, *FUNCTIONS["squared_hinge"][1:]),
    "CategoricalHinge": (L.CategoricalHinge, *FUNCTIONS["categorical_hinge"][1:]),
    "Huber": (L.Huber, *FUNCTIONS["huber"][1:]),
    "BinaryCrossentropy": (L.BinaryCrossentropy, *FUNCTIONS["binary_crossentropy"][1:]),
    "CategoricalCrossentropy": (L.CategoricalCrossentropy, *FUNCTIONS["categorical_crossentropy"][1:]),
    "SparseCategoricalCrossentropy": (
        L.SparseCategoricalCrossentropy,
        *FUNCTIONS["sparse_categorical_crossentropy"][1:],
    ),
}
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0], np.float32)
MASK = np.array([True, False, True, True])
REDUCED = {
    "none": lambda values, weights, mask: values * weights * mask,
    "sum": lambda values, weights, mask: (values * weights * mask).sum(),
    "mean": lambda values, weights, mask: (values * weights * mask).sum() / np.ones(4)[mask].sum(),
    "weighted_mean": lambda values, weights, mask: (values * weights * mask).sum() / (weights * mask).sum(),
}
ALL = np.ones(4, bool)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_their_formulas(name):
    function, y, p, values = FUNCTIONS[name]
    close(function(y, p), values.mean())
    close(wf.function(lambda y, p: function(y, p))(y, p), values.mean())
    close(function(y, p, weights=WEIGHTS, mask=MASK), REDUCED["mean"](values, WEIGHTS, MASK))


@pytest.mark.parametrize("reduction", REDUCED)
@pytest.mark.parametrize("name", ["huber", "categorical_cross_entropy", "binary_crossentropy", "hinge"])
def test_reductions_of_functions(name, reduction):
    function, y, p, values = FUNCTIONS[name]
    for call in (function, wf.function(function)):
        close(
            call(y, p, weights=WEIGHTS, mask=MASK, reduction=reduction), REDUCED[reduction](values, WEIGHTS, MASK)
        )
        close(call(y, p, reduction=reduction), REDUCED[reduction](values, np.ones(4), ALL))


@pytest.mark.parametrize("name", CLASSES_OF)
def test_classes_are_their_formulas(name):
    make, y, p, values = CLASSES_OF[name]
    loss = make()
    close(loss(y, p), values.mean())
    close(wf.function(loss)(y, p), values.mean())
    close(loss(y, p, sample_weight=WEIGHTS), REDUCED["mean"](values, WEIGHTS, ALL))
    close(loss.call(y, p), values)
    assert loss.name == name and repr(loss) == f"<weft.losses.{name}>" and isinstance(loss, L.Loss)
    for reduction, keras in itertools.zip_longest(REDUCED, [None, "sum", "sum_over_batch_size"]):
        expected = REDUCED[reduction](values, WEIGHTS, ALL)
        close(make(reduction=reduction, name="mine")(y, p, WEIGHTS), expected)
        if keras is not None:
            close(make(reduction=keras)(y, p, WEIGHTS), expected)
    for other in (pickle.loads(pickle.dumps(loss)), copy.deepcopy(loss)):
        assert type(other) is make and np.array_equal(other(y, p), loss(y, p))


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("poisson", "kl_divergence")])
def test_gradients_are_slopes(name):
    function, y, p, _ = FUNCTIONS[name]
    p = p.astype(np.float64)
    gradient = np.asarray(wf.grad(lambda p: function(wf.tensor(y), p))(wf.tensor(p)))
    direction, h = np.random.default_rng(1).normal(size=p.shape), 1e-6
    y64 = y if y.dtype == np.int64 else y.astype(np.float64)
    slope = (float(function(y64, p + h * direction)) - float(function(y64, p - h * direction))) / (2 * h)
    assert np.isclose((gradient * direction).sum(), slope, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("from_logits", [False, True])
def test_cross_entropies_of_keras(from_logits, smoothing):
    chances, shares = (P, P) if from_logits else (CHANCES, OTHERS)
    options = {"from_logits": from_logits, "label_smoothing": smoothing}
    expected = (binary if from_logits else binary_of_chances)(YES, chances, smoothing=smoothing)
    for loss in (L.BinaryCrossentropy(**options), lambda y, p: L.binary_crossentropy(y, p, **options)):
        close(loss(YES, chances), expected.mean())
    expected = (categorical if from_logits else categorical_of_shares)(ONE_HOT, shares, smoothing=smoothing)
    for loss in (
        L.CategoricalCrossentropy(from_logits, smoothing),
        lambda y, p: L.categorical_crossentropy(y, p, from_logits, label_smoothing=smoothing),
    ):
        close(loss(ONE_HOT, shares), expected.mean())
    close(L.sparse_categorical_crossentropy(CLASSES, shares, **options), expected.mean())
    plain = (sparse if from_logits else sparse_of_shares)(CLASSES, shares)
    loss = L.SparseCategoricalCrossentropy(from_logits=from_logits)
    close(loss(CLASSES, shares), plain.mean())
    close(wf.function(loss)(CLASSES, shares), plain.mean())


def test_ignored_classes_do_not_count():
    labels = np.array([2, -1, 1, -1])
    expected = sparse(CLASSES, P)[[0, 2]].mean()
    close(L.SparseCategoricalCrossentropy(from_logits=True, ignore_class=-1)(labels, P), expected)
    close(L.sparse_categorical_cross_entropy(labels, P, ignored_label=-1), expected)
    assert float(L.sparse_categorical_cross_entropy(labels[[1, 3]], P[:2], ignored_label=-1)) == 0


def test_extreme_scores_stay_finite():
    scores = np.array([[1000.0, -1000.0], [-1000.0, 1000.0]], np.float32)
    assert float(L.SparseCategoricalCrossentropy(from_logits=True)([0, 1], scores)) == 0
    close(L.BinaryCrossentropy(from_logits=True)([[0.0, 1.0]] * 2, scores), 500.0)
    close(L.SparseCategoricalCrossentropy()([1], np.array([[1.0, 0.0]], np.float32)), -np.log(1e-7))
    assert np.isfinite(float(L.log_cosh(scores, -scores)))


def test_softmax_cross_entropy_takes_both_kinds_of_labels():
    for call in (L.softmax_cross_entropy, wf.function(L.softmax_cross_entropy)):
        close(call(CLASSES, P), sparse(CLASSES, P).mean())
        close(call(ONE_HOT, P), categorical(ONE_HOT, P).mean())


def test_options_of_huber():
    close(L.huber(Y, P, delta=0.3), huber(Y, P, 0.3).mean())
    close(L.huber(Y, P, delta=0.3, reduction="none"), huber(Y, P, 0.3))
    close(L.Huber(0.3)(Y, P), huber(Y, P, 0.3).mean())


def test_triplet():
    n = np.random.default_rng(3).normal(size=(4, 3)).astype(np.float32)
    values = np.maximum(np.linalg.norm(Y - P + 1e-6, axis=-1) - np.linalg.norm(Y - n + 1e-6, axis=-1) + 0.5, 0)
    for call in (L.triplet, wf.function(L.triplet)):
        close(call(Y, P, n, margin=0.5), values.mean())
        total = call(Y, P, n, margin=0.5, weights=WEIGHTS, mask=MASK, reduction="sum")
        close(total, REDUCED["sum"](values, WEIGHTS, MASK))


def ctc_by_all_paths(labels, logits, blank):
    """-log of the sum over all paths that say the labels, once repetitions and blanks are gone."""
    shares, total = softmax(logits.astype(np.float64)), 0.0
    for path in itertools.product(range(logits.shape[-1]), repeat=len(logits)):
        said = [c for i, c in enumerate(path) if c != blank and (i == 0 or c != path[i - 1])]
        if said == list(labels):
            total += np.prod([shares[t, c] for t, c in enumerate(path)])
    return -np.log(total)


@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_is_the_sum_over_all_paths(blank):
    logits = np.random.default_rng(4).normal(size=(3, 5, 3)).astype(np.float32)
    a, b = [c for c in range(3) if c != blank]
    labels, lengths, frames = np.array([[a, a], [b, a], [b, blank]]), np.array([2, 2, 1]), np.array([5, 4, 3])
    expected = [
        ctc_by_all_paths(row[:n], own[:t], blank) for row, own, n, t in zip(labels, logits, lengths, frames)
    ]
    options = {"label_lengths": lengths, "logit_lengths": frames, "blank": blank}
    for call in (L.ctc, wf.function(L.ctc)):
        close(call(labels, logits, reduction="none", **options), expected, 1e-4)
        close(call(labels, logits, **options), np.mean(expected), 1e-4)
    padded = [ctc_by_all_paths(row[:n], own, blank) for row, own, n in zip(labels, logits, lengths)]
    close(L.ctc(labels, logits, blank=blank, reduction="none"), padded, 1e-4)
    assert float(L.ctc([[a, a]], logits[:1, :2], blank=blank, impossible_is_infinite=True)) == np.inf
    assert float(L.ctc([[a, a]], logits[:1, :2], blank=blank)) > 1e4


# Losses of the user.


class Cubed(L.Loss):
    def call(self, targets, predictions):
        return wf.mean(wf.abs(targets - predictions) ** 3, axis=-1)


@pytest.mark.parametrize("reduction", REDUCED)
def test_losses_of_the_user_are_reduced(reduction):
    values = (np.abs(Y - P) ** 3).mean(-1)
    loss = Cubed(reduction=reduction)
    for call in (loss, wf.function(loss)):
        close(call(Y, P), REDUCED[reduction](values, np.ones(4), ALL))
        close(call(Y, P, WEIGHTS), REDUCED[reduction](values, WEIGHTS, ALL))
    close(pickle.loads(pickle.dumps(loss))(Y, P), REDUCED[reduction](values, np.ones(4), ALL))


def test_losses_of_the_user_without_init_take_the_mean():
    class Bare(Cubed):
        def __init__(self):
            pass

    close(Bare()(Y, P), (np.abs(Y - P) ** 3).mean())

    class Own(L.Huber):
        def __init__(self, delta):
            super().__init__(delta * 2, reduction="sum")

    close(Own(0.1)(Y, P), huber(Y, P, 0.2).sum())


# Bad input.


class HalfMade(L.Huber):
    def __init__(self):
        pass


BAD = [
    (lambda: L.huber(Y, P, dlta=3), TypeError, r"losses.huber\(\) got an unexpected argument 'dlta'.*'delta'"),
    (lambda: L.huber(Y, P, delta=-3), ValueError, "huber: delta is -3, but must be positive and finite"),
    (lambda: L.huber(Y), TypeError, "missing the argument 'predictions'|'predictions'"),
    (lambda: L.huber(Y, P, 1.0), TypeError, "by position at most 2 arguments and was given 3"),
    (lambda: L.mean_squared_error(Y, P[:2]), wf.ShapeError, "targets and predictions must have the same shape"),
    (lambda: L.mean_squared_error(Y, P, reduction="men"), ValueError, "reduction is 'men': it is one of 'none', 'sum'"),
    (lambda: L.mean_squared_error(Y, P, weights=np.ones(3)), wf.ShapeError, "mean_squared_error: .*weights"),
    (lambda: L.mean_squared_error(Y, P, mask=np.ones(4)), wf.DTypeError, "mean_squared_error: .*mask"),
    (lambda: L.mean_squared_error(None, P), wf.DTypeError, "targets is of type None"),
    (lambda: L.mean_squared_error("a", P), wf.DTypeError, "targets is of type str"),
    (lambda: L.MeanSquaredError()(Y, P[:2]), wf.ShapeError, "the same shape"),
    (lambda: L.MeanSquaredError(reduction="men")(Y, P), ValueError, "'men'"),
    (lambda: Cubed(reduction="men")(Y, P), ValueError, "Cubed: reduction is 'men': it is 'mean', 'sum'"),
    (lambda: L.sparse_categorical_cross_entropy([1.0], [[2.0, 3.0]]), wf.DTypeError, "class numbers of an integer"),
    (lambda: L.sparse_categorical_cross_entropy([5], [[2.0, 3.0]]), IndexError, "label 5 is out of range"),
    (lambda: L.sparse_categorical_cross_entropy([[1]], [[2.0, 3.0]]), wf.ShapeError, "sparse_categorical"),
    (lambda: L.softmax_cross_entropy([2], [[2.0, 3.0]]), IndexError, "label 2"),
    (lambda: L.binary_cross_entropy(YES, P, label_smoothing=2), ValueError, "label_smoothing"),
    (lambda: L.binary_crossentropy(YES, P, smoothing=2), TypeError, "'smoothing'"),
    (lambda: L.binary_cross_entropy(YES, P, from_logits="no"), TypeError, "from_logits is 'no': True or False"),
    (lambda: L.categorical_cross_entropy(CLASSES, P), wf.ShapeError, "categorical_cross_entropy"),
    (lambda: L.ctc([[1]], np.ones((1, 2, 3), np.float32), blank=3), IndexError, "ctc"),
    (lambda: L.triplet(Y, P, P, margin=np.inf), ValueError, "margin"),
    (lambda: L.triplet(Y, P), TypeError, "negative"),
    (lambda: L.Loss()(Y, P), NotImplementedError, r"Loss has no method call\(self, targets, predictions\)"),
    (lambda: HalfMade()(Y, P), wf.StateError, r"this HalfMade was never initialized: call super\(\).__init__"),
    (lambda: wf.function(L.sparse_categorical_cross_entropy)(np.array([5]), P[:1]), IndexError, "5"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: L.Huber(delt=3), "delta"),
        (lambda: L.SparseCategoricalCrossentropy(from_logit=True), "from_logits"),
        (lambda: L.BinaryCrossentropy(label_smothing=0.1), "label_smoothing"),
        (lambda: L.MeanSquaredError(reductoin="sum"), "reduction"),
    ],
)
def test_wrong_keywords_of_classes_name_the_nearest(make, word):
    with pytest.raises(TypeError, match=f"did you mean '{word}'"):
        make()
