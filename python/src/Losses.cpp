// The functions of weft.losses and weft.nn.
#include "Arguments.h"
#include "Networks.h"
#include "Text.h"

#include <array>

#include <weft/activations.h>
#include <weft/losses.h>
#include <weft/metrics.h>
#include <weft/nn/attention.h>
#include <weft/nn/functions.h>

namespace weft::python {

template <>
struct Words<losses::Reduction> {
  static constexpr std::array words = {"none", "sum", "mean", "weighted_mean"};
};
template <>
struct Words<nn::Causal> {
  static constexpr std::array words = {"no", "top_left", "bottom_right"};
};

namespace {

/// Reads one argument of a call, if it is given.
template <class T>
void take(T &target, PyObject *value, const Signature &signature, std::size_t at) {
  Given given;
  if (value != nullptr) read(target, value, Place{signature.name, signature.names[at]}, given);
}

/// A tensor beside the operands, the first `count` arguments: numbers take the dtype of those.
void take_beside(Tensor &target, PyObject *const *values, std::size_t count,
                 const Signature &signature, std::size_t at) {
  if (values[at] == nullptr || values[at] == Py_None) return;
  Beside operands;
  for (std::size_t i = 0; i < count; ++i) operands.add(values[i]);
  target = to_tensor(values[at], {signature.name, signature.names[at]}, operands.dtype());
}

/// The options that all losses have, the last arguments.
template <class Options>
void take_common(Options &options, PyObject *const *values, const Signature &signature,
                 std::size_t from) {
  take_beside(options.weights, values, 2, signature, from);
  take(options.mask, values[from + 1], signature, from + 1);
  take(options.reduction, values[from + 2], signature, from + 2);
}

//===----------------------------------------------------------------------===//
// Losses with the common options alone
//===----------------------------------------------------------------------===//

using Loss = Tensor (*)(const Operand &, const Operand &, const losses::LossOptions &);

template <Signature &signature, Loss loss>
Tensor call_loss(PyObject *const *values) {
  const Operands<2> operands(signature, values, 0);
  losses::LossOptions options;
  take_common(options, values, signature, 2);
  return unlocked(operands.size(), [&] { return loss(operands[0], operands[1], options); });
}

Signature loss_signature(const char *name, const char *first = "targets") {
  return {name, {first, "predictions", "weights", "mask", "reduction"}, 5, 2, 2};
}
Signature mean_squared_error = loss_signature("losses.mean_squared_error"),
          mean_absolute_error = loss_signature("losses.mean_absolute_error"),
          log_cosh = loss_signature("losses.log_cosh"),
          kl_divergence = loss_signature("losses.kl_divergence"),
          poisson = loss_signature("losses.poisson"),
          cosine_similarity = loss_signature("losses.cosine_similarity"),
          hinge = loss_signature("losses.hinge", "labels"),
          squared_hinge = loss_signature("losses.squared_hinge", "labels"),
          categorical_hinge = loss_signature("losses.categorical_hinge", "labels");

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Signature binary{
    "losses.binary_cross_entropy",
    {"labels", "scores", "from_logits", "label_smoothing", "weights", "mask", "reduction"},
    7,
    2,
    2};
Tensor call_binary(PyObject *const *values) {
  const Operands<2> operands(binary, values, 0);
  losses::BinaryCrossEntropyOptions options;
  take(options.from_logits, values[2], binary, 2);
  take(options.label_smoothing, values[3], binary, 3);
  take_common(options, values, binary, 4);
  return unlocked(operands.size(),
                  [&] { return losses::binary_cross_entropy(operands[0], operands[1], options); });
}

using CrossEntropy = Tensor (*)(const Operand &, const Operand &,
                                const losses::CrossEntropyOptions &);
Signature categorical{
    "losses.categorical_cross_entropy",
    {"labels", "scores", "from_logits", "label_smoothing", "weights", "mask", "reduction"},
    7,
    2,
    2};
Tensor call_categorical(PyObject *const *values) {
  const Operands<2> operands(categorical, values, 0);
  losses::CrossEntropyOptions options;
  take(options.from_logits, values[2], categorical, 2);
  take(options.label_smoothing, values[3], categorical, 3);
  take_common(options, values, categorical, 4);
  return unlocked(operands.size(), [&] {
    return losses::categorical_cross_entropy(operands[0], operands[1], options);
  });
}
Signature sparse{"losses.sparse_categorical_cross_entropy",
                 {"labels", "scores", "from_logits", "label_smoothing", "ignored_label", "weights",
                  "mask", "reduction"},
                 8,
                 2,
                 2};
Tensor call_sparse(PyObject *const *values) {
  const Operands<2> operands(sparse, values, 2);
  losses::CrossEntropyOptions options;
  take(options.from_logits, values[2], sparse, 2);
  take(options.label_smoothing, values[3], sparse, 3);
  take(options.ignored_label, values[4], sparse, 4);
  take_common(options, values, sparse, 5);
  return unlocked(operands.size(), [&] {
    return losses::sparse_categorical_cross_entropy(operands[0], operands[1], options);
  });
}

Signature softmax_entropy{"losses.softmax_cross_entropy", {"labels", "logits"}, 2, 2, 2};
Tensor call_softmax_entropy(PyObject *const *values) {
  const Operands<2> operands(softmax_entropy, values, 2);
  return unlocked(operands.size(),
                  [&] { return losses::softmax_cross_entropy(operands[0], operands[1]); });
}

Signature huber{
    "losses.huber", {"targets", "predictions", "delta", "weights", "mask", "reduction"}, 6, 2, 2};
Tensor call_huber(PyObject *const *values) {
  const Operands<2> operands(huber, values, 0);
  losses::HuberOptions options;
  take(options.delta, values[2], huber, 2);
  take_common(options, values, huber, 3);
  return unlocked(operands.size(),
                  [&] { return losses::huber(operands[0], operands[1], options); });
}

Signature triplet{"losses.triplet",
                  {"anchor", "positive", "negative", "margin", "weights", "mask", "reduction"},
                  7,
                  3,
                  3};
Tensor call_triplet(PyObject *const *values) {
  const Operands<3> operands(triplet, values, 0);
  losses::TripletOptions options;
  take(options.margin, values[3], triplet, 3);
  take_common(options, values, triplet, 4);
  return unlocked(operands.size(),
                  [&] { return losses::triplet(operands[0], operands[1], operands[2], options); });
}

Signature ctc{"losses.ctc",
              {"labels", "logits", "label_lengths", "logit_lengths", "blank",
               "impossible_is_infinite", "weights", "reduction"},
              8,
              2,
              2};
Tensor call_ctc(PyObject *const *values) {
  const Operands<2> operands(ctc, values, 2);
  losses::CTCOptions options;
  take(options.label_lengths, values[2], ctc, 2);
  take(options.logit_lengths, values[3], ctc, 3);
  take(options.blank, values[4], ctc, 4);
  take(options.impossible_is_infinite, values[5], ctc, 5);
  take(options.weights, values[6], ctc, 6);
  take(options.reduction, values[7], ctc, 7);
  return unlocked(operands.size(), [&] { return losses::ctc(operands[0], operands[1], options); });
}

//===----------------------------------------------------------------------===//
// Functions of models
//===----------------------------------------------------------------------===//

using OfOne = Tensor (*)(const Operand &);

template <Signature &signature, OfOne function>
Tensor call_one(PyObject *const *values) {
  const Operands<1> operands(signature, values, 0);
  return unlocked(operands.size(), [&] { return function(operands[0]); });
}
Signature of_one(const char *name) { return {name, {"x"}, 1, 1, 1}; }
Signature gelu_of = of_one("nn.gelu"), gelu_tanh_of = of_one("nn.gelu_tanh"),
          silu_of = of_one("nn.silu"), sigmoid_of = of_one("nn.sigmoid"),
          softplus_of = of_one("nn.softplus"), elu_of = of_one("nn.elu"),
          selu_of = of_one("nn.selu"), leaky_relu_of = of_one("nn.leaky_relu"),
          relu6_of = of_one("nn.relu6"), hard_sigmoid_of = of_one("nn.hard_sigmoid"),
          mish_of = of_one("nn.mish"), softsign_of = of_one("nn.softsign");

template <Signature &signature, const auto &function>
Tensor call_along_axis(PyObject *const *values) {
  const Operands<1> operands(signature, values, 0);
  std::int64_t axis = -1;
  take(axis, values[1], signature, 1);
  return unlocked(operands.size(), [&] { return function(operands[0], axis); });
}
Signature softmax{"nn.softmax", {"x", "axis"}, 2, 2, 1},
    log_softmax{"nn.log_softmax", {"x", "axis"}, 2, 2, 1};

Signature one_hot{"nn.one_hot", {"labels", "classes", "dtype"}, 3, 3, 2};
Tensor call_one_hot(PyObject *const *values) {
  const Operands<1> operands(one_hot, values, 0);
  std::int64_t classes = 0;
  DType dtype = DType::f32;
  take(classes, values[1], one_hot, 1);
  take(dtype, values[2], one_hot, 2);
  return nn::one_hot(operands[0], classes, dtype);
}

void read(random::Generator &target, nb::handle value, const Place &place) {
  if (!nb::isinstance<random::Generator>(value))
    throw DTypeError(place.text() + " is " + shown_value(value) +
                     ": a weft.random.Generator is wanted");
  target = nb::cast<const random::Generator &>(value);
}

Signature dropout{"nn.dropout", {"x", "rate", "generator"}, 3, 3, 2};
Tensor call_dropout(PyObject *const *values) {
  const Operands<1> operands(dropout, values, 0);
  double rate = 0;
  take(rate, values[1], dropout, 1);
  random::Generator generator = random::process_generator();
  if (values[2] != nullptr && values[2] != Py_None)
    read(generator, values[2], {dropout.name, "generator"});
  return unlocked(operands.size(), [&] { return nn::dropout(operands[0], rate, generator); });
}

Signature attention{"nn.attention",
                    {"query", "key", "value", "mask", "causal", "scale", "dropout", "generator"},
                    8,
                    4,
                    3};
Tensor call_attention(PyObject *const *values) {
  const Operands<3> operands(attention, values, 0);
  nn::AttentionOptions options;
  Tensor mask;
  take_beside(mask, values, 3, attention, 3);
  take(options.causal, values[4], attention, 4);
  take(options.scale, values[5], attention, 5);
  take(options.dropout, values[6], attention, 6);
  if (values[7] != nullptr && values[7] != Py_None) {
    options.generator = random::process_generator();
    read(*options.generator, values[7], {attention.name, "generator"});
  }
  return unlocked(operands.size(), [&] {
    return nn::attention(operands[0], operands[1], operands[2], mask, options);
  });
}

Signature rotary{"nn.rotary", {"x", "interleaved", "base"}, 3, 3, 1};
Tensor call_rotary(PyObject *const *values) {
  const Operands<1> operands(rotary, values, 0);
  bool interleaved = false;
  double base = 10'000;
  take(interleaved, values[1], rotary, 1);
  take(base, values[2], rotary, 2);
  return nn::rotary(operands[0], interleaved, base);
}

Signature encoding{"nn.positional_encoding", {"length", "size", "base", "dtype"}, 4, 4, 2};
Tensor call_encoding(PyObject *const *values) {
  std::int64_t length = 0, size = 0;
  double base = 10'000;
  DType dtype = DType::f32;
  take(length, values[0], encoding, 0);
  take(size, values[1], encoding, 1);
  take(base, values[2], encoding, 2);
  take(dtype, values[3], encoding, 3);
  return nn::positional_encoding(length, size, base, dtype);
}

Signature accuracy{"metrics.accuracy", {"labels", "scores"}, 2, 2, 2};
Tensor call_accuracy(PyObject *const *values) {
  const Operands<2> operands(accuracy, values, 2);
  return metrics::accuracy(operands[0], operands[1]);
}

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

/// The row of a function "losses.huber", which its module has as "huber".
template <Signature &signature, Tensor (*call)(PyObject *const *)>
PyMethodDef row(const char *documentation) {
  PyMethodDef made = method<signature, call>(documentation);
  const std::string_view name = signature.name;
  made.ml_name = signature.name + name.rfind('.') + 1;
  return made;
}

#define LOSS(name, text)                                                                           \
  row<name, call_loss<name, losses::name>>(                                                        \
      #name "(targets, predictions, *, weights=None, mask=None, reduction='mean')\n--\n\n" text)
#define LOSS_OF_LABELS(name, text)                                                                 \
  row<name, call_loss<name, losses::name>>(                                                        \
      #name "(labels, predictions, *, weights=None, mask=None, reduction='mean')\n--\n\n" text)
#define ONE(name, of, text) row<name##_of, call_one<name##_of, of>>(#name "(x)\n--\n\n" text)

PyMethodDef loss_functions[] = {
    LOSS(mean_squared_error, "Mean of the squared differences."
                             "\n\nExample:\n"
                             "    >>> wf.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0])\n"
                             "    tensor(2.0, shape=(), dtype=float32)\n"),
    LOSS(mean_absolute_error, "Mean of the differences' absolute values."
                              "\n\nExample:\n"
                              "    >>> wf.losses.mean_absolute_error([1.0, 2.0], [1.0, 4.0])\n"
                              "    tensor(1.0, shape=(), dtype=float32)\n"),
    LOSS(log_cosh, "Mean of log(cosh(predictions - targets)), without overflow."
                   "\n\nExample:\n"
                   "    >>> wf.losses.log_cosh([0.0, 0.0], [0.0, 1.0])\n"
                   "    tensor(0.2168904, shape=(), dtype=float32)\n"),
    LOSS(kl_divergence, "sum(y log(y / p)) of probabilities, held between 1e-7 and 1."
                        "\n\nExample:\n"
                        "    >>> wf.losses.kl_divergence([[0.5, 0.5]], [[0.25, 0.75]])\n"
                        "    tensor(0.14384106, shape=(), dtype=float32)\n"),
    LOSS(poisson, "Mean of p - y log(p + 1e-7), for counts y and expectations p."
                  "\n\nExample:\n"
                  "    >>> wf.losses.poisson([1.0, 2.0], [2.0, 2.0])\n"
                  "    tensor(0.9602792, shape=(), dtype=float32)\n"),
    LOSS(cosine_similarity,
         "Minus the cosine of the angle between vectors along the last axis: -1 where they agree."
         "\n\nExample:\n"
         "    >>> wf.losses.cosine_similarity([[0.0, 2.0]], [[0.0, 3.0]])\n"
         "    tensor(-1.0, shape=(), dtype=float32)\n"),
    LOSS_OF_LABELS(hinge, "Mean of max(1 - y p, 0), for labels y that are -1 or 1; 0 means -1."
                          "\n\nExample:\n"
                          "    >>> wf.losses.hinge([1.0, -1.0], [0.5, 0.5])\n"
                          "    tensor(1.0, shape=(), dtype=float32)\n"),
    LOSS_OF_LABELS(squared_hinge, "Mean of the squares of max(1 - y p, 0)."
                                  "\n\nExample:\n"
                                  "    >>> wf.losses.squared_hinge([1.0, -1.0], [0.5, 0.5])\n"
                                  "    tensor(1.25, shape=(), dtype=float32)\n"),
    LOSS_OF_LABELS(categorical_hinge,
                   "max(max((1 - y) p) - sum(y p) + 1, 0), for labels that are one-hot."
                   "\n\nExample:\n"
                   "    >>> wf.losses.categorical_hinge([[0.0, 1.0]], [[0.5, 2.0]])\n"
                   "    tensor(0.0, shape=(), dtype=float32)\n"),
    row<binary, call_binary>(
        "binary_cross_entropy(labels, scores, *, from_logits=True, label_smoothing=0.0, "
        "weights=None, "
        "mask=None, reduction='mean')\n--\n\nMean of -(y log(p) + (1 - y) log(1 - p)), p = "
        "sigmoid(logits), without overflow."
        "\n\nExample:\n"
        "    >>> wf.losses.binary_cross_entropy([1.0, 0.0], [0.0, 0.0])\n"
        "    tensor(0.6931472, shape=(), dtype=float32)\n"),
    row<categorical, call_categorical>(
        "categorical_cross_entropy(labels, scores, *, from_logits=True, label_smoothing=0.0, "
        "weights=None, mask=None, reduction='mean')\n--\n\n-sum(labels * log(probabilities)) along "
        "the last axis, for labels that are probabilities of the shape of scores."
        "\n\nExample:\n"
        "    >>> wf.losses.categorical_cross_entropy([[0.0, 1.0]], [[0.0, 0.0]])\n"
        "    tensor(0.6931472, shape=(), dtype=float32)\n"),
    row<sparse, call_sparse>(
        "sparse_categorical_cross_entropy(labels, scores, *, from_logits=True, "
        "label_smoothing=0.0, "
        "ignored_label=None, weights=None, mask=None, reduction='mean')\n--\n\n-log(probability of "
        "the label), for labels (...) that are class numbers and scores (..., classes)."
        "\n\nExample:\n"
        "    >>> wf.losses.sparse_categorical_cross_entropy([0, 1], [[2.0, 0.0], [0.0, 2.0]])\n"
        "    tensor(0.12692805, shape=(), dtype=float32)\n"),
    row<softmax_entropy, call_softmax_entropy>(
        "softmax_cross_entropy(labels, logits)\n--\n\nMean over the batch of -sum(labels * "
        "log_softmax(logits)), for class numbers (batch,) or probabilities (batch, classes)."
        "\n\nExample:\n"
        "    >>> wf.losses.softmax_cross_entropy([0, 1], [[2.0, 0.0], [0.0, 2.0]])\n"
        "    tensor(0.12692805, shape=(), dtype=float32)\n"),
    row<huber, call_huber>(
        "huber(targets, predictions, *, delta=1.0, weights=None, mask=None, "
        "reduction='mean')\n--\n\n"
        "Mean of e^2 / 2 where the difference |e| is at most delta, delta |e| - delta^2 / 2 "
        "elsewhere."
        "\n\nExample:\n"
        "    >>> wf.losses.huber([0.0, 0.0], [0.5, 3.0], reduction='none')\n"
        "    tensor([0.125, 2.5  ], shape=(2,), dtype=float32)\n"),
    row<triplet, call_triplet>(
        "triplet(anchor, positive, negative, *, margin=1.0, weights=None, mask=None, "
        "reduction='mean')\n--\n\nmax(|a - p| - |a - n| + margin, 0), for embeddings along the "
        "last axis."
        "\n\nExample:\n"
        "    >>> wf.losses.triplet([[0.0]], [[1.0]], [[0.5]])\n"
        "    tensor(1.5, shape=(), dtype=float32)\n"),
    row<ctc, call_ctc>(
        "ctc(labels, logits, *, label_lengths=None, logit_lengths=None, blank=0, "
        "impossible_is_infinite=False, weights=None, reduction='mean')\n--\n\n-log of the "
        "probability of the labels (batch, labels) by frames of logits (batch, time, classes) "
        "(Graves et al. 2006)."
        "\n\nExample:\n"
        "    >>> wf.losses.ctc([[1]], wf.zeros((1, 2, 2)))\n"
        "    tensor(0.2876821, shape=(), dtype=float32)\n"),
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef nn_functions[] = {
    row<softmax, call_along_axis<softmax, nn::softmax>>(
        "softmax(x, axis=-1)\n--\n\nexp(x) / sum(exp(x)) along an axis."
        "\n\nExample:\n"
        "    >>> wf.nn.softmax([0.0, 0.0, 1.0])\n"
        "    tensor([0.21194157, 0.21194157, 0.5761169 ], shape=(3,), dtype=float32)\n"),
    row<log_softmax, call_along_axis<log_softmax, nn::log_softmax>>(
        "log_softmax(x, axis=-1)\n--\n\nx - log(sum(exp(x))) along an axis."
        "\n\nExample:\n"
        "    >>> wf.nn.log_softmax([0.0, 0.0])\n"
        "    tensor([-0.6931472, -0.6931472], shape=(2,), dtype=float32)\n"),
    ONE(gelu, gelu,
        "x times the standard normal distribution's share below x."
        "\n\nExample:\n"
        "    >>> wf.nn.gelu([-1.0, 0.0, 2.0])\n"
        "    tensor([-0.15865526,  0.        ,  1.9544997 ], shape=(3,), dtype=float32)\n"),
    ONE(gelu_tanh, gelu_tanh,
        "The approximation of gelu by tanh."
        "\n\nExample:\n"
        "    >>> wf.nn.gelu_tanh([-1.0, 0.0, 2.0])\n"
        "    tensor([-0.158808 ,  0.       ,  1.9545977], shape=(3,), dtype=float32)\n"),
    ONE(silu, silu,
        "x sigmoid(x), also called swish."
        "\n\nExample:\n"
        "    >>> wf.nn.silu([-1.0, 0.0, 1.0])\n"
        "    tensor([-0.26894143,  0.        ,  0.7310586 ], shape=(3,), dtype=float32)\n"),
    ONE(sigmoid, sigmoid,
        "1 / (1 + exp(-x))."
        "\n\nExample:\n"
        "    >>> wf.nn.sigmoid([-1.0, 0.0, 1.0])\n"
        "    tensor([0.26894143, 0.5       , 0.7310586 ], shape=(3,), dtype=float32)\n"),
    ONE(softplus, softplus,
        "log(1 + exp(x)), without overflow."
        "\n\nExample:\n"
        "    >>> wf.nn.softplus([-1.0, 0.0, 1.0])\n"
        "    tensor([0.3132617, 0.6931472, 1.3132617], shape=(3,), dtype=float32)\n"),
    ONE(elu, elu,
        "x, and exp(x) - 1 where x is not above 0."
        "\n\nExample:\n"
        "    >>> wf.nn.elu([-1.0, 0.0, 2.0])\n"
        "    tensor([-0.63212055,  0.        ,  2.        ], shape=(3,), dtype=float32)\n"),
    ONE(selu, selu,
        "elu, scaled so that layers keep mean 0 and variance 1."
        "\n\nExample:\n"
        "    >>> wf.nn.selu([-1.0, 0.0, 2.0])\n"
        "    tensor([-1.1113307,  0.       ,  2.101402 ], shape=(3,), dtype=float32)\n"),
    ONE(leaky_relu, leaky_relu,
        "x, and 0.2 x where x is below 0."
        "\n\nExample:\n"
        "    >>> wf.nn.leaky_relu([-1.0, 0.0, 2.0])\n"
        "    tensor([-0.2,  0. ,  2. ], shape=(3,), dtype=float32)\n"),
    ONE(relu6, relu6,
        "min(max(x, 0), 6)."
        "\n\nExample:\n"
        "    >>> wf.nn.relu6([-1.0, 3.0, 9.0])\n"
        "    tensor([0., 3., 6.], shape=(3,), dtype=float32)\n"),
    ONE(hard_sigmoid, hard_sigmoid,
        "relu6(x + 3) / 6."
        "\n\nExample:\n"
        "    >>> wf.nn.hard_sigmoid([-3.0, 0.0, 1.5])\n"
        "    tensor([0.  , 0.5 , 0.75], shape=(3,), dtype=float32)\n"),
    ONE(mish, mish,
        "x tanh(softplus(x))."
        "\n\nExample:\n"
        "    >>> wf.nn.mish([-1.0, 0.0, 2.0])\n"
        "    tensor([-0.30340147,  0.        ,  1.943959  ], shape=(3,), dtype=float32)\n"),
    ONE(softsign, softsign,
        "x / (1 + |x|)."
        "\n\nExample:\n"
        "    >>> wf.nn.softsign([-1.0, 0.0, 3.0])\n"
        "    tensor([-0.5 ,  0.  ,  0.75], shape=(3,), dtype=float32)\n"),
    row<one_hot, call_one_hot>(
        "one_hot(labels, classes, dtype='float32')\n--\n\n1 where the last axis' position is the "
        "label, 0 elsewhere: (...) integers to (..., classes)."
        "\n\nExample:\n"
        "    >>> wf.nn.one_hot([0, 2], 3)\n"
        "    tensor([[1., 0., 0.],\n"
        "            [0., 0., 1.]], shape=(2, 3), dtype=float32)\n"),
    row<dropout, call_dropout>(
        "dropout(x, rate, generator=None)\n--\n\nx with each element 0 with the probability "
        "`rate`, and the others divided by 1 - rate."
        "\n\nExample:\n"
        "    >>> wf.nn.dropout(wf.ones(6), 0.5, wf.random.Generator(3))\n"
        "    tensor([0., 2., 0., 0., 2., 0.], shape=(6,), dtype=float32)\n"),
    row<attention, call_attention>(
        "attention(query, key, value, mask=None, *, causal=False, scale=None, dropout=0.0, "
        "generator=None)\n--\n\nsoftmax(query key^T scale + mask) value, of rows (.., heads, "
        "length, depth). The matrix of weights is never whole in memory."
        "\n\nExample:\n"
        "    >>> x = wf.tensor([[[1.0, 0.0], [0.0, 1.0]]])\n"
        "    >>> wf.nn.attention(x, x, wf.ones((1, 2, 3))).shape\n"
        "    (1, 2, 3)\n"),
    row<rotary, call_rotary>(
        "rotary(x, interleaved=False, base=10000.0)\n--\n\nx (.., length, depth) with pairs of "
        "entries turned by their positions (Su et al. 2021)."
        "\n\nExample:\n"
        "    >>> wf.nn.rotary(wf.ones((2, 2)))\n"
        "    tensor([[ 1.        ,  1.        ],\n"
        "            [-0.30116868,  1.3817732 ]], shape=(2, 2), dtype=float32)\n"),
    row<encoding, call_encoding>(
        "positional_encoding(length, size, base=10000.0, dtype='float32')\n--\n\nSines and cosines "
        "of positions (length, size) (Vaswani et al. 2017)."
        "\n\nExample:\n"
        "    >>> wf.nn.positional_encoding(2, 2)\n"
        "    tensor([[0.        , 1.        ],\n"
        "            [0.84147096, 0.5403023 ]], shape=(2, 2), dtype=float32)\n"),
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef metric_functions[] = {
    row<accuracy, call_accuracy>("accuracy(labels, scores)\n--\n\nShare of rows of scores (..., "
                                 "classes) whose largest entry "
                                 "is at the label (...)."
                                 "\n\nExample:\n"
                                 "    >>> wf.metrics.accuracy([1, 0], [[0.1, 0.9], [0.2, 0.8]])\n"
                                 "    tensor(0.5, shape=(), dtype=float32)\n"),
    {nullptr, nullptr, 0, nullptr}};

/// Adds "huber" as "losses_huber", which weft.losses takes it from: pickles name it there.
void add(nb::module_ &module, const std::string &name, PyMethodDef *table) {
  const nb::str owner(("weft." + name).c_str());
  for (; table->ml_name != nullptr; ++table)
    nb::setattr(module, (name + "_" + table->ml_name).c_str(),
                checked(PyCFunction_NewEx(table, nullptr, owner.ptr())));
}

} // namespace

void define_losses(nb::module_ &module) {
  add(module, "losses", loss_functions);
  add(module, "nn", nn_functions);
  add(module, "metrics", metric_functions);
}

} // namespace weft::python
