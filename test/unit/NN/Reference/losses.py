"""Writes Losses.inc: what Keras 3's activations, losses and metrics give, in f64.

Run with Keras 3 and JAX installed:  python losses.py > Losses.inc

Inputs are waves, as in layers.py, so that only results are stored: of activations and losses the
values, one per sample, then the gradient of sum(values * wave) by the input.
"""

import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"
import jax
import jax.numpy as jnp
import keras
import numpy as np
from keras import activations, losses, metrics, ops
from keras.src.losses.loss import reduce_weighted_values

keras.config.set_floatx("float64")
keras.config.set_dtype_policy("float64")


def wave(shape, phase):
    return 0.5 * np.sin(0.7 * np.arange(np.prod(shape), dtype=np.float64) + phase).reshape(shape)


def shares(shape, phase):
    """Rows of probabilities."""
    x = wave(shape, phase) + 0.6
    return x / x.sum(axis=-1, keepdims=True)


def bits(shape, phase):
    return (wave(shape, phase) > 0).astype(np.float64)


def labels(shape, classes):
    return (np.arange(np.prod(shape)) * 7 % 11 % classes).reshape(shape).astype(np.int32)


def show(name, *arrays):
    values = np.concatenate([np.ravel(np.asarray(a, np.float64)) for a in arrays])
    print('{"%s", {%s}},' % (name, ", ".join("%.10g" % v for v in values)))


def with_gradient(name, f, x):
    f_of = lambda x: (lambda y: (jnp.sum(y * wave(y.shape, 9.0)), y))(f(x))
    (_, y), dx = jax.value_and_grad(f_of, has_aux=True)(jnp.asarray(x))
    show(name, y, dx)


print("// Written by losses.py with Keras %s." % keras.__version__)
print("const std::map<std::string, Doubles> keras_losses = {")

for name in ["gelu", "silu", "sigmoid", "softplus", "elu", "selu", "leaky_relu", "relu6", "hard_sigmoid", "mish", "softsign"]:
    f = getattr(activations, name)
    with_gradient(name, (lambda x: f(x, approximate=False)) if name == "gelu" else f, 12 * wave((16,), 0.5))
with_gradient("gelu_tanh", lambda x: activations.gelu(x, approximate=True), 12 * wave((16,), 0.5))

SHAPE = (2, 3, 4)
X, Y, P, Q = 3 * wave(SHAPE, 1.0), 3 * wave(SHAPE, 2.0), shares(SHAPE, 3.0), shares(SHAPE, 4.0)
B, L = bits(SHAPE, 5.0), labels((2, 3), 4)
IGNORED = np.where(L == 2, -1, L)
HOT = np.eye(4)[L]
CASES = {
    "mean_squared_error": (lambda x: losses.mean_squared_error(Y, x), X),
    "mean_absolute_error": (lambda x: losses.mean_absolute_error(Y, x), X),
    "huber": (lambda x: losses.huber(Y, x, delta=0.7), X),
    "log_cosh": (lambda x: losses.log_cosh(Y, x), 9 * X),
    "kl_divergence": (lambda x: losses.kl_divergence(P, x), Q),
    "poisson": (lambda x: losses.poisson(P, x), Q),
    "hinge": (lambda x: losses.hinge(B, x), X),
    "squared_hinge": (lambda x: losses.squared_hinge(B, x), X),
    "categorical_hinge": (lambda x: losses.categorical_hinge(HOT, x), X),
    "cosine_similarity": (lambda x: losses.cosine_similarity(Y, x), X),
    "categorical": (lambda x: losses.categorical_crossentropy(P, x, from_logits=True), X),
    "categorical smooth": (lambda x: losses.categorical_crossentropy(P, x, from_logits=True, label_smoothing=0.2), X),
    "categorical probabilities": (lambda x: losses.categorical_crossentropy(P, x), 3 * Q),
    "sparse": (lambda x: losses.sparse_categorical_crossentropy(L, x, from_logits=True), X),
    "sparse smooth": (lambda x: losses.categorical_crossentropy(HOT, x, from_logits=True, label_smoothing=0.2), X),
    "sparse ignored": (lambda x: losses.sparse_categorical_crossentropy(IGNORED, x, from_logits=True, ignore_class=-1), X),
    "sparse probabilities": (lambda x: losses.sparse_categorical_crossentropy(L, x), 3 * Q),
    "binary": (lambda x: losses.binary_crossentropy(B, x, from_logits=True), 9 * X),
    "binary smooth": (lambda x: losses.binary_crossentropy(B, x, from_logits=True, label_smoothing=0.2), X),
    "binary probabilities": (lambda x: losses.binary_crossentropy(B, x), Q),
}
for name, (f, x) in CASES.items():
    with_gradient(name, f, x)

# Not in Keras: the definition.
distance = lambda a, b: jnp.sqrt(jnp.sum((a - b + 1e-6) ** 2, axis=-1))
with_gradient("triplet", lambda a: jnp.maximum(distance(a, Y) - distance(a, P) + 0.5, 0), X)

VALUES = losses.mean_squared_error(Y, X)
WEIGHTS, MASK = 1 + wave((2, 3), 6.0), jnp.asarray([[True, False, True], [True, True, False]])
for reduction in ["none", "sum", "mean", "mean_with_sample_weight"]:
    show("reduction " + reduction, reduce_weighted_values(VALUES, WEIGHTS, None, reduction))
    show("masked " + reduction, reduce_weighted_values(VALUES, None, MASK, reduction))

# Labels padded with blanks, with a repetition, and of three sequences one empty.
CTC = np.array([[1, 2, 2, 0], [3, 0, 0, 0], [0, 0, 0, 0]], np.int32)
TIMES = 4 * wave((3, 7, 5), 1.0)
ctc = lambda x, frames: ops.ctc_loss(CTC, x, np.array([3, 1, 0]), np.array(frames))
with_gradient("ctc", lambda x: ctc(x, [7, 7, 7]), TIMES)
with_gradient("ctc lengths", lambda x: ctc(x, [6, 4, 5]), TIMES)
show("ctc impossible", ctc(TIMES, [3, 1, 1]))


def metric(name, made, *updates):
    for update in updates:
        made.update_state(*update)
    show("metric " + name, made.result())


S, D, W = (6, 4), (4, 4), 1 + wave((6,), 6.0)
SHARES = [shares(S, 1.0), shares(D, 2.0)]
HOTS = [np.eye(4)[labels(S[:1], 4)], np.eye(4)[labels(D[:1], 4)]]
NUMBERS = [labels(S[:1], 4), labels(D[:1], 4)]
SCORES, TRUTHS = [shares((40, 2), 1.0)[:, 0], shares((30, 2), 2.0)[:, 0]], [bits((40,), 1.7), bits((30,), 0.2)]
V = 1 + wave((40,), 6.0)
metric("mean", metrics.Mean(), [wave((24,), 1.0)], [wave((6,), 2.0), W])
metric("binary_accuracy", metrics.BinaryAccuracy(), [bits(S, 0.3), SHARES[0] + 0.2, W], [bits(D, 0.3), SHARES[1] + 0.2])
metric("categorical_accuracy", metrics.CategoricalAccuracy(), [HOTS[0], SHARES[0], W], [HOTS[1], SHARES[1]])
metric("sparse_categorical_accuracy", metrics.SparseCategoricalAccuracy(), [NUMBERS[0], SHARES[0], W], [NUMBERS[1], SHARES[1]])
metric("top_k_accuracy", metrics.SparseTopKCategoricalAccuracy(2), [NUMBERS[0], SHARES[0], W], [NUMBERS[1], SHARES[1]])
metric("mean_squared_error", metrics.MeanSquaredError(), [wave(S, 1.0), wave(S, 2.0), W], [wave(D, 1.0), wave(D, 3.0)])
metric("mean_absolute_error", metrics.MeanAbsoluteError(), [wave(S, 1.0), wave(S, 2.0), W], [wave(D, 1.0), wave(D, 3.0)])
for name, make in {"precision": metrics.Precision, "recall": metrics.Recall}.items():
    metric(name, make(), [TRUTHS[0], SCORES[0], V], [TRUTHS[1], SCORES[1]])
for curve in ["ROC", "PR"]:
    metric("auc " + curve, metrics.AUC(curve=curve), [TRUTHS[0], SCORES[0], V], [TRUTHS[1], SCORES[1]])
for average in [None, "micro", "macro", "weighted"]:
    metric("f1 %s" % average, metrics.F1Score(average=average), [HOTS[0], SHARES[0], W], [HOTS[1], SHARES[1]])
metric("r2", metrics.R2Score(), [wave(S, 1.0), wave(S, 1.2), W], [wave(D, 1.0), wave(D, 1.3)])
matrix = sum(ops.cast(ops.bincount(n * 4 + np.argmax(p, -1), minlength=16), "float64") for n, p in zip(NUMBERS, SHARES))
show("metric confusion_matrix", matrix)
nll = np.concatenate([-np.log(p)[np.arange(len(n)), n] for n, p in zip(NUMBERS, SHARES)])
show("metric perplexity", np.exp(nll.mean()))
print("};")
