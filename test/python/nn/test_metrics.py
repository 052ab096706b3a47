"""Metrics against NumPy over many batches: called, reset, merged, compiled, copied, and given bad input."""

import copy
import pickle

import numpy as np
import pytest

import weft as wf

M = wf.metrics

GENERATOR = np.random.default_rng(0)
N = 12
SCORES = GENERATOR.random((N, 4)).astype(np.float32)
CLASSES = GENERATOR.integers(0, 4, N)
ONE_HOT = np.eye(4, dtype=np.float32)[CLASSES]
CHANCES = GENERATOR.random(N).astype(np.float32)
YES = (GENERATOR.random(N) < CHANCES).astype(np.float32)
Y, P = GENERATOR.normal(size=(2, N, 3)).astype(np.float32)
WEIGHTS = GENERATOR.random(N).astype(np.float32)
ONES = np.ones(N, np.float32)


def close(actual, expected, tolerance=1e-5):
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape
    assert np.allclose(actual, expected, rtol=tolerance, atol=tolerance), (actual, expected)


# The formulas, of all samples and their weights.


def mean_of(values):
    return lambda y, p, w: (values(y, p) * w).sum() / w.sum()


def top(k):
    return mean_of(lambda y, p: (p > p[np.arange(len(y)), y][:, None]).sum(-1) < k)


def perplexity(y, p, w, squash=True):
    shares = np.exp(p) if squash else p
    shares = shares / shares.sum(-1, keepdims=True)
    return np.exp((-np.log(shares[np.arange(len(y)), y]) * w).sum() / w.sum())


def precision(y, p, w, threshold=0.5):
    said = p > threshold
    return (y * said * w).sum() / (said * w).sum()


def recall(y, p, w, threshold=0.5):
    return (y * (p > threshold) * w).sum() / (y * w).sum()


def f1(average="macro", threshold=None):
    def formula(y, p, w):
        said = p > threshold if threshold is not None else p == p.max(-1, keepdims=True)
        w = w[:, None]
        true, wrong, missed = ((part * w).sum(0) for part in (y * said, (1 - y) * said, y * (1 - said)))
        if average == "micro":
            true, wrong, missed = true.sum(), wrong.sum(), missed.sum()
        both = 2 * true + wrong + missed
        scores = np.where(both > 0, 2 * true / np.where(both > 0, both, 1), 0)
        if average == "weighted":
            return (scores * (y * w).sum(0)).sum() / (y * w).sum()
        return scores.mean() if average in ("macro", "micro") else scores

    return formula


def roc(y, p, w, thresholds=200):
    at = np.linspace(0, 1, thresholds)
    at[0], at[-1] = -1e-7, 1 + 1e-7
    above = p[None] > at[:, None]
    true = (above * y * w).sum(1) / (y * w).sum()
    false = (above * (1 - y) * w).sum(1) / ((1 - y) * w).sum()
    return ((false[:-1] - false[1:]) * (true[:-1] + true[1:]) / 2).sum()


def confusion(y, p, w):
    counts = np.zeros((4, 4))
    np.add.at(counts, (y, p), w)
    return counts


def r2(y, p, w):
    w = w[:, None]
    mean = (y * w).sum(0) / w.sum()
    return (1 - (w * (y - p) ** 2).sum(0) / (w * (y - mean) ** 2).sum(0)).mean()


METRICS = {
    "BinaryAccuracy": (lambda: M.BinaryAccuracy(), YES, CHANCES, mean_of(lambda y, p: y == (p > 0.5))),
    "BinaryAccuracy threshold": (
        lambda: M.BinaryAccuracy(0.3),
        ONE_HOT,
        SCORES,
        mean_of(lambda y, p: (y == (p > 0.3)).mean(-1)),
    ),
    "CategoricalAccuracy": (
        lambda: M.CategoricalAccuracy(),
        ONE_HOT,
        SCORES,
        mean_of(lambda y, p: y.argmax(-1) == p.argmax(-1)),
    ),
    "SparseCategoricalAccuracy": (
        lambda: M.SparseCategoricalAccuracy(),
        CLASSES,
        SCORES,
        mean_of(lambda y, p: y == p.argmax(-1)),
    ),
    "TopKAccuracy": (lambda: M.TopKAccuracy(2), CLASSES, SCORES, top(2)),
    "TopKAccuracy 5": (lambda: M.TopKAccuracy(), CLASSES, SCORES, top(5)),
    "MeanSquaredError": (lambda: M.MeanSquaredError(), Y, P, mean_of(lambda y, p: ((y - p) ** 2).mean(-1))),
    "MeanAbsoluteError": (lambda: M.MeanAbsoluteError(), Y, P, mean_of(lambda y, p: np.abs(y - p).mean(-1))),
    "Perplexity": (lambda: M.Perplexity(), CLASSES, SCORES, perplexity),
    "Perplexity of shares": (
        lambda: M.Perplexity(from_logits=False),
        CLASSES,
        SCORES,
        lambda y, p, w: perplexity(y, p, w, False),
    ),
    "Precision": (lambda: M.Precision(), YES, CHANCES, precision),
    "Recall": (lambda: M.Recall(threshold=0.3), YES, CHANCES, lambda y, p, w: recall(y, p, w, 0.3)),
    "F1": (lambda: M.F1(), ONE_HOT, SCORES, f1()),
    "F1 none": (lambda: M.F1(average="none"), ONE_HOT, SCORES, f1("none")),
    "F1 None": (lambda: M.F1(average=None, threshold=0.4), ONE_HOT, SCORES, f1("none", 0.4)),
    "F1 micro": (lambda: M.F1(average="micro"), ONE_HOT, SCORES, f1("micro")),
    "F1 weighted": (lambda: M.F1(average="weighted", threshold=0.6), ONE_HOT, SCORES, f1("weighted", 0.6)),
    "AUC": (lambda: M.AUC(), YES, CHANCES, roc),
    "AUC logits": (
        lambda: M.AUC(50, from_logits=True),
        YES,
        np.log(CHANCES / (1 - CHANCES)),
        lambda y, p, w: roc(y, 1 / (1 + np.exp(-p)), w, 50),
    ),
    "ConfusionMatrix": (lambda: M.ConfusionMatrix(4), CLASSES, SCORES.argmax(-1), confusion),
    "ConfusionMatrix scores": (
        lambda: M.ConfusionMatrix(4),
        CLASSES,
        SCORES,
        lambda y, p, w: confusion(y, p.argmax(-1), w),
    ),
    "R2": (lambda: M.R2(), Y, P, r2),
}
UNKNOWN_BEFORE = ("F1", "R2")  # whose sizes follow from the first update
BATCHES = [slice(0, 5), slice(5, 10), slice(10, 12)]


@pytest.mark.parametrize("case", METRICS)
def test_metrics_are_their_formulas_over_batches(case):
    make, y, p, formula = METRICS[case]
    metric, first = make(), BATCHES[0]
    if not case.startswith(UNKNOWN_BEFORE):
        assert np.all(np.asarray(metric.result()) == 0)
    close(metric(y[first], p[first]), formula(y[first], p[first], ONES[first]))
    for batch in BATCHES[1:]:
        assert metric.update(y[batch], p[batch]) is None
    close(metric.result(), formula(y, p, ONES))
    metric.reset()
    assert np.all(np.asarray(metric.result()) == 0)
    for batch in BATCHES:
        metric.update(y[batch], p[batch], weights=WEIGHTS[batch])
    close(metric.result(), formula(y, p, WEIGHTS))
    assert metric.trainable_variables == [] and len(metric.variables) > 0


@pytest.mark.parametrize("case", [case for case in METRICS if " " not in case])
def test_metrics_in_traced_functions(case):
    make, y, p, formula = METRICS[case]
    metric = make()
    step = wf.function(lambda y, p, w: metric.update(y, p, w))
    for batch in BATCHES:
        step(y[batch], p[batch], WEIGHTS[batch])
    assert step.trace_count() == 2
    close(metric.result(), formula(y, p, WEIGHTS))
    close(wf.function(lambda: metric.result())(), formula(y, p, WEIGHTS))
    if case in ("BinaryAccuracy", "Precision", "ConfusionMatrix"):
        wf.function(lambda: metric.reset())()
        assert np.all(np.asarray(metric.result()) == 0)
        close(wf.function(lambda y, p: metric(y, p))(y, p), formula(y, p, ONES))


@pytest.mark.parametrize("case", METRICS)
def test_metrics_are_merged_copied_and_pickled(case):
    make, y, p, formula = METRICS[case]
    metric, other = make(), make()
    metric.update(y[:5], p[:5])
    copies = [copy.deepcopy(metric), pickle.loads(pickle.dumps(metric))]
    other.update(y[5:], p[5:])
    metric.merge(other)
    close(metric.result(), formula(y, p, ONES))
    for one in copies:
        close(one.result(), formula(y[:5], p[:5], ONES[:5]))
        one.update(y[5:], p[5:])
        close(one.result(), formula(y, p, ONES))
        assert one.get_config() == metric.get_config()


def test_means():
    mean = M.Mean(name="loss")
    assert float(mean(3.0)) == 3 and float(mean(wf.tensor([4.0, 8.0]))) == 5
    mean.update([1.0, 2.0], weights=[0.0, 3.0])
    close(mean.result(), (15 + 6) / 6)
    other = M.Mean()
    other.update(np.array([1, 2], np.int32))
    mean.merge(other)
    close(mean.result(), (21 + 3) / 8)
    assert mean.name == "loss" and other.name == "Mean" and pickle.loads(pickle.dumps(mean)).name == "loss"

    @wf.function
    def total(n):
        mean.reset()
        for i in wf.range(n):
            mean.update(wf.cast(i, "float32"))
        return mean.result()

    assert float(total(wf.constant(5))) == 2 == float(mean.result())


def test_names_are_copied():
    assert copy.deepcopy(M.Mean(name="loss")).name == "loss"


def test_accuracy():
    expected = (SCORES.argmax(-1) == CLASSES).mean()
    for call in (M.accuracy, wf.function(M.accuracy)):
        close(call(CLASSES, SCORES), expected)
    assert float(M.accuracy([0], [[1.0, 1.0]])) == 1 and float(M.accuracy([1], [[1.0, np.nan]])) == 0


def test_ignored_labels_do_not_count():
    metric = M.Perplexity(ignored_label=-1)
    labels = CLASSES.copy()
    labels[::3] = -1
    kept = labels != -1
    close(metric(labels, SCORES), perplexity(CLASSES[kept], SCORES[kept], ONES[kept]))


def test_area_under_precision_and_recall():
    thresholds = 60
    at = np.linspace(0, 1, thresholds)
    at[0], at[-1] = -1e-7, 1 + 1e-7
    above = CHANCES[None] > at[:, None]
    true, said = (above * YES).sum(1), above.sum(1)
    area = 0.0
    for i in range(thresholds - 1):
        steps, positives = said[i] - said[i + 1], true[i] - true[i + 1]
        slope = positives / steps if steps else 0
        intercept = true[i + 1] - slope * said[i + 1]
        ratio = said[i] / said[i + 1] if said[i] > 0 and said[i + 1] > 0 else 1
        area += slope * (positives + intercept * np.log(ratio)) / YES.sum()
    for call in (M.AUC(thresholds, curve="precision_recall"), wf.function(M.AUC(60, curve="precision_recall"))):
        close(call(YES, CHANCES), area)


def test_metrics_are_parts_of_models_and_arguments():
    class Watched(wf.Module):
        def __init__(self):
            self.w = wf.Variable(1.0)
            self.metrics = {"loss": M.Mean(), "accuracy": M.SparseCategoricalAccuracy()}

    model = Watched()
    assert model.trainable_variables == [model.w] and len(model.variables) == 5
    update = wf.function(lambda metric, x: metric.update(x))
    first, second = M.Mean(), M.Mean()
    for metric, x in ((first, 1.0), (second, 5.0), (first, 3.0)):
        update(metric, wf.constant(x))
    assert float(first.result()) == 2 and float(second.result()) == 5
    assert isinstance(first, M.Metric) and repr(M.AUC(7).get_config()) == "{'thresholds': 7}"


class Scaled(M.Mean):
    def __init__(self, scale):
        super().__init__(name="scaled")
        self.scale = scale

    def update(self, values, weights=None):
        super().update(wf.tensor(values) * self.scale, weights)


def test_metrics_of_the_user():
    metric = Scaled(2.0)
    metric.update([1.0, 2.0])
    again = pickle.loads(pickle.dumps(metric))
    assert float(metric.result()) == 3 == float(again.result()) and again.scale == 2 and again.name == "scaled"


# Bad input.

BAD = [
    (lambda: M.BinaryAccuracy(treshold=0.3), TypeError, "'treshold'; did you mean 'threshold'"),
    (lambda: M.BinaryAccuracy("half"), TypeError, "threshold is 'half': a number is wanted"),
    (lambda: M.Mean(3), TypeError, "name is 3: a text|at most"),
    (lambda: M.TopKAccuracy(0), ValueError, "k is 0, but must be at least 1"),
    (lambda: M.TopKAccuracy(1.5), TypeError, "k is .*: an integer"),
    (lambda: M.AUC(curve="x"), ValueError, "curve is 'x': it is one of 'roc', 'precision_recall'"),
    (lambda: M.AUC(1), ValueError, "thresholds"),
    (lambda: M.F1(average="mean"), ValueError, "average is 'mean': it is one of 'none', 'micro'"),
    (lambda: M.ConfusionMatrix(), TypeError, "missing the argument 'classes'"),
    (lambda: M.ConfusionMatrix(-1), ValueError, "at least one class, but there are -1"),
    (lambda: M.ConfusionMatrix(2)([2], [0]), IndexError, "ConfusionMatrix"),
    (lambda: M.Mean().merge(M.R2()), TypeError, "merge: both metrics must be of one class"),
    (lambda: M.Mean().merge(3), TypeError, "merge"),
    (lambda: M.AUC(3).merge(M.AUC(4)), wf.ShapeError, "already"),
    (lambda: M.R2().result(), wf.StateError, "no shape and value yet"),
    (lambda: M.F1().result(), wf.StateError, "no shape and value yet"),
    (lambda: M.Mean()(1, 2, 3), TypeError, "at most 2 arguments and was given 3"),
    (lambda: M.Mean().update(vales=1), TypeError, "did you mean 'values'"),
    (lambda: M.Mean()(), TypeError, "missing the argument 'values'"),
    (lambda: M.Mean()(None), TypeError, "values is of type None"),
    (lambda: M.Recall().update([1.0]), TypeError, "missing the argument 'predictions'"),
    (lambda: M.MeanSquaredError()([1.0, 2.0], [1.0]), wf.ShapeError, "the same shape"),
    (lambda: M.MeanSquaredError()([1.0, 2.0], [1.0, 2.0], [1.0, 2.0, 3.0]), wf.ShapeError, "weights"),
    (lambda: M.SparseCategoricalAccuracy()([1.0], [[1.0, 2.0]]), wf.DTypeError, "labels"),
    (lambda: M.SparseCategoricalAccuracy()([2], [[1.0, 2.0]]), IndexError, "2"),
    (lambda: M.accuracy([[1]], [[1.0, 2.0]]), wf.ShapeError, "accuracy"),
    (lambda: wf.function(lambda m, y, p: m(y, p))(M.TopKAccuracy(), np.array([7]), SCORES[:1]), IndexError, "7"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input(case):
    use, error, words = BAD[case]
    with pytest.raises(error, match=words):
        use()


def test_errors_leave_what_was_gathered():
    metric = M.SparseCategoricalAccuracy()
    metric.update([0, 1], [[2.0, 1.0], [2.0, 1.0]])
    with pytest.raises(IndexError):
        metric.update([0, 9], [[2.0, 1.0], [2.0, 1.0]])
    assert float(metric.result()) == 0.5


@pytest.mark.parametrize(
    "use",
    [
        lambda metric: metric(1.0),
        lambda metric: metric.variables,
        lambda metric: metric.name,
        lambda metric: metric.result(),
        lambda metric: metric.update(1.0),
        lambda metric: M.Mean().merge(metric),
        copy.deepcopy,
        pickle.dumps,
    ],
)
def test_half_made_subclasses_say_so(use):
    class Mine(M.Mean):
        def __init__(self):
            pass

    with pytest.raises(TypeError, match=r"this Mine was never initialized: call super\(\).__init__"):
        use(Mine())
