// The functions of weft.losses and weft.nn.
#include "Arguments.h"
#include "Networks.h"
#include "Sizes.h"
#include "Text.h"

#include <array>
#include <cstring>

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

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

/// Operands and then options, the arguments of a loss of C++.
template <class... Args>
struct LossType {
  using Last = std::tuple_element_t<sizeof...(Args) - 1, std::tuple<Args...>>;
  static constexpr bool kHasOptions = HasOptions<Last>;
  static constexpr std::size_t kOperands = sizeof...(Args) - kHasOptions;
  struct None {};
  using Options = std::conditional_t<kHasOptions, Last, None>;
};
template <class... Args>
LossType<std::remove_cvref_t<Args>...> loss_type(Tensor (*)(Args...));

/// The class of a loss beside its function: it is spelt and behaves as in Keras.
struct KerasClass {
  const char *name;
  Differences of = {}; ///< its parameters from the options
};

/// A loss of C++ as a function of Python.
template <auto function>
struct LossFunction {
  using Type = decltype(loss_type(function));
  using Options = typename Type::Options;
  static constexpr std::size_t kOperands = Type::kOperands;

  struct Arguments {
    std::array<PyObject *, kOperands> operands = {};
    PyObject *weights = nullptr; ///< which take the operands' dtype
    Options options = {};
  };
  using Table = ParameterTable<Arguments>;
  using Names = std::array<const char *, kOperands>;

  static inline Table table;
  static inline Names names;

  static PyObject *call(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    return guarded([&] {
      Arguments arguments;
      if (keywords == nullptr && count == kOperands) [[likely]]
        std::copy_n(args, kOperands, arguments.operands.begin());
      else read(arguments, args, count, keywords);
      const Targets<kOperands> targets(arguments.operands, table.said(), names);
      if constexpr (Type::kHasOptions)
        arguments.options.weights = targets.weights(arguments.weights, {table.said(), "weights"});
      return wrap(targets.apply([&](const auto &...each) {
        if constexpr (Type::kHasOptions) return function(each..., arguments.options);
        else return function(each...);
      }));
    });
  }

  static void read(Arguments &arguments, PyObject *const *args, Py_ssize_t count,
                   PyObject *keywords) {
    const auto [given, words] = collected(args, count, keywords);
    Given more;
    table.read_call(given.ptr(), words.ptr(), arguments, more);
  }

  static Table parameters(const char *name, const Differences &of) {
    Table all{
        (*new std::string(std::string("weft.losses.") + name)).c_str(), {}, kOperands, kOperands};
    all.title = all.function + std::strlen("weft.");
    for (std::size_t i = 0; i < kOperands; ++i)
      all.list.push_back({{names[i], "Any", ""},
                          [i](Arguments &arguments, nb::handle value, const Place &, Given &) {
                            arguments.operands[i] = value.ptr();
                          }});
    if constexpr (Type::kHasOptions)
      for (auto &each : option_parameters<Arguments, Options>(
               of, [](Arguments &arguments) -> Options & { return arguments.options; })) {
        if (std::string_view(each.name) == "weights")
          each.set = [](Arguments &arguments, nb::handle value, const Place &, Given &) {
            arguments.weights = value.ptr();
          };
        all.list.push_back(std::move(each));
      }
    return all;
  }
};

/// What Python makes the class of a loss by: its name, the function, the parameters, and the option
/// that each of the first of these is.
template <class Options>
void describe_class(const KerasClass &keras, const char *function) {
  Differences of = keras.of;
  of.without.insert(of.without.end(), {"weights", "mask", "reduction"});
  std::vector<ParameterText> texts;
  nb::dict members;
  for (const auto &each : option_parameters<Options, Options>(
           of, [](Options &options) -> Options & { return options; })) {
    texts.push_back(each);
    const auto renamed = std::ranges::find(of.renamed, std::string_view(each.name), &Renamed::name);
    members[each.name] =
        renamed == of.renamed.end() ? nb::str(each.name) : nb::str(renamed->member.data());
    // Scores are probabilities there.
    if (std::string_view(each.name) == "from_logits") texts.back().otherwise = "False";
  }
  texts.push_back({"reduction", "str | None", "'mean'"});
  texts.push_back({"name", "str | None", "None"});
  const std::string text = signature_text(texts, texts.size(), /*with_types=*/true);
  keep_parameters(std::string("weft.losses.") + keras.name, text);
  const nb::module_ module = family("losses");
  if (!nb::hasattr(module, "internal_classes")) module.attr("internal_classes") = nb::list();
  module.attr("internal_classes")
      .attr("append")(nb::make_tuple(keras.name, module.attr(function), text, members));
}

/// Defines a function of weft.losses and, if it has one, its class. `operands` are the names of
/// what is compared.
template <auto function>
void loss(const char *name, const typename LossFunction<function>::Names &operands,
          const char *documentation, const char *example,
          const std::optional<KerasClass> &keras = std::nullopt, const Differences &of = {}) {
  using Function = LossFunction<function>;
  Function::names = operands;
  Function::table = Function::parameters(name, of);
  define_function("losses", name, Function::table.documented(name, documentation, example),
                  Function::call);
  if constexpr (Function::Type::kHasOptions)
    if (keras) describe_class<typename Function::Options>(*keras, name);
}

//===----------------------------------------------------------------------===//
// Reading of other arguments
//===----------------------------------------------------------------------===//

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
  const auto classes = to<Size>(values[1], {one_hot.name, one_hot.names[1]});
  DType dtype = DType::f32;
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

#define ONE(name, of, text) row<name##_of, call_one<name##_of, of>>(#name "(x)\n--\n\n" text)

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

/// Adds functions to weft.losses, say.
void add(const char *name, PyMethodDef *table) {
  const nb::str owner((std::string("weft.") + name).c_str());
  for (; table->ml_name != nullptr; ++table)
    add_to_family(name, table->ml_name, checked(PyCFunction_NewEx(table, nullptr, owner.ptr())));
}

} // namespace

void define_losses() {
  namespace l = losses;
  loss<l::mean_squared_error>("mean_squared_error", {"targets", "predictions"},
                              "Mean of the squared differences.",
                              "    >>> wf.losses.mean_squared_error([1.0, 2.0], [1.0, 4.0])\n"
                              "    tensor(2.0, shape=(), dtype=float32)\n",
                              KerasClass{"MeanSquaredError"});
  loss<l::mean_absolute_error>("mean_absolute_error", {"targets", "predictions"},
                               "Mean of the differences' absolute values.",
                               "    >>> wf.losses.mean_absolute_error([1.0, 2.0], [1.0, 4.0])\n"
                               "    tensor(1.0, shape=(), dtype=float32)\n",
                               KerasClass{"MeanAbsoluteError"});
  loss<l::huber>(
      "huber", {"targets", "predictions"},
      "Mean of e^2 / 2 where the difference |e| is at most delta, delta |e| - delta^2 / 2 "
      "elsewhere.",
      "    >>> wf.losses.huber([0.0, 0.0], [0.5, 3.0])\n"
      "    tensor(1.3125, shape=(), dtype=float32)\n",
      KerasClass{"Huber"});
  loss<l::log_cosh>("log_cosh", {"targets", "predictions"},
                    "Mean of log(cosh(predictions - targets)), without overflow.",
                    "    >>> wf.losses.log_cosh([0.0, 0.0], [0.0, 1.0])\n"
                    "    tensor(0.2168904, shape=(), dtype=float32)\n",
                    KerasClass{"LogCosh"});
  loss<l::kl_divergence>("kl_divergence", {"targets", "predictions"},
                         "sum(y log(y / p)) of probabilities, held between 1e-7 and 1.",
                         "    >>> wf.losses.kl_divergence([[0.5, 0.5]], [[0.25, 0.75]])\n"
                         "    tensor(0.14384106, shape=(), dtype=float32)\n",
                         KerasClass{"KLDivergence"});
  loss<l::poisson>("poisson", {"targets", "predictions"},
                   "Mean of p - y log(p + 1e-7), for counts y and expectations p.",
                   "    >>> wf.losses.poisson([1.0, 2.0], [2.0, 2.0])\n"
                   "    tensor(0.9602792, shape=(), dtype=float32)\n",
                   KerasClass{"Poisson"});
  loss<l::cosine_similarity>(
      "cosine_similarity", {"targets", "predictions"},
      "Minus the cosine of the angle between vectors along the last axis: -1 where they agree.",
      "    >>> wf.losses.cosine_similarity([[0.0, 2.0]], [[0.0, 3.0]])\n"
      "    tensor(-1.0, shape=(), dtype=float32)\n",
      KerasClass{"CosineSimilarity"});
  loss<l::hinge>("hinge", {"labels", "predictions"},
                 "Mean of max(1 - y p, 0), for labels y that are -1 or 1; 0 means -1.",
                 "    >>> wf.losses.hinge([1.0, -1.0], [0.5, 0.5])\n"
                 "    tensor(1.0, shape=(), dtype=float32)\n",
                 KerasClass{"Hinge"});
  loss<l::squared_hinge>("squared_hinge", {"labels", "predictions"},
                         "Mean of the squares of max(1 - y p, 0).",
                         "    >>> wf.losses.squared_hinge([1.0, -1.0], [0.5, 0.5])\n"
                         "    tensor(1.25, shape=(), dtype=float32)\n",
                         KerasClass{"SquaredHinge"});
  loss<l::categorical_hinge>("categorical_hinge", {"labels", "predictions"},
                             "max(max((1 - y) p) - sum(y p) + 1, 0), for labels that are one-hot.",
                             "    >>> wf.losses.categorical_hinge([[0.0, 1.0]], [[0.5, 2.0]])\n"
                             "    tensor(0.0, shape=(), dtype=float32)\n",
                             KerasClass{"CategoricalHinge"});
  loss<l::binary_cross_entropy>(
      "binary_cross_entropy", {"labels", "scores"},
      "Mean of -(y log(p) + (1 - y) log(1 - p)), p = sigmoid(logits), without overflow.",
      "    >>> wf.losses.binary_cross_entropy([1.0, 0.0], [0.0, 0.0])\n"
      "    tensor(0.6931472, shape=(), dtype=float32)\n",
      KerasClass{"BinaryCrossentropy"});
  loss<l::categorical_cross_entropy>(
      "categorical_cross_entropy", {"labels", "scores"},
      "-sum(labels * log(probabilities)) along the last axis, for labels that are probabilities of "
      "the shape of scores.",
      "    >>> wf.losses.categorical_cross_entropy([[0.0, 1.0]], [[0.0, 0.0]])\n"
      "    tensor(0.6931472, shape=(), dtype=float32)\n",
      KerasClass{"CategoricalCrossentropy", {.without = {"ignored_label"}}},
      {.without = {"ignored_label"}});
  loss<l::sparse_categorical_cross_entropy>(
      "sparse_categorical_cross_entropy", {"labels", "scores"},
      "-log(probability of the label), for labels (...) that are class numbers and scores (..., "
      "classes).",
      "    >>> wf.losses.sparse_categorical_cross_entropy([0, 1], [[2.0, 0.0], [0.0, 2.0]])\n"
      "    tensor(0.12692805, shape=(), dtype=float32)\n",
      KerasClass{"SparseCategoricalCrossentropy",
                 {.renamed = {{"ignored_label", "ignore_class"}}, .without = {"label_smoothing"}}});
  loss<l::softmax_cross_entropy>(
      "softmax_cross_entropy", {"labels", "logits"},
      "Mean over the batch of -sum(labels * log_softmax(logits)), for class numbers (batch,) or "
      "probabilities (batch, classes).",
      "    >>> wf.losses.softmax_cross_entropy([0, 1], [[2.0, 0.0], [0.0, 2.0]])\n"
      "    tensor(0.12692805, shape=(), dtype=float32)\n");
  loss<l::triplet>("triplet", {"anchor", "positive", "negative"},
                   "max(|a - p| - |a - n| + margin, 0), for embeddings along the last axis.",
                   "    >>> wf.losses.triplet([[0.0]], [[1.0]], [[0.5]])\n"
                   "    tensor(1.5, shape=(), dtype=float32)\n");
  loss<l::ctc>("ctc", {"labels", "logits"},
               "-log of the probability of the labels (batch, labels) by frames of logits (batch, "
               "time, classes) (Graves et al. 2006).",
               "    >>> wf.losses.ctc([[1]], wf.zeros((1, 2, 2)))\n"
               "    tensor(0.2876821, shape=(), dtype=float32)\n");
  add("nn", nn_functions);
  add("metrics", metric_functions);
}

} // namespace weft::python
