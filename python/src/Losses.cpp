// The functions of weft.losses.
#include "Arguments.h"
#include "Networks.h"
#include "Text.h"

#include <array>
#include <cstring>

#include <weft/losses.h>

namespace weft::python {

template <>
struct Words<losses::Reduction> {
  static constexpr std::array words = {"none", "sum", "mean", "weighted_mean"};
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
}

} // namespace weft::python
