// The classes of weft.metrics.
#include "Define.h"
#include "Networks.h"
#include "Snapshots.h"
#include "Text.h"

#include <array>

#include <weft/metrics.h>

namespace weft::python {

template <>
struct Words<metrics::Average> {
  static constexpr std::array words = {"none", "micro", "macro", "weighted"};
};
template <>
struct Words<metrics::Curve> {
  static constexpr std::array words = {"roc", "precision_recall"};
};

namespace {

/// What all metrics have.
struct MetricObject : MadeObject {
  static constexpr const char *kModule = "weft.metrics";
  static constexpr std::size_t kMoreByPosition = 1;
  static constexpr bool kTakesFunctions = true;
  using Base = MetricObject;

  static std::span<const ParameterText> more() {
    static const auto &more = *new std::vector<ParameterText>{{"name", "str | None", "None"}};
    return more;
  }
  void take_more(const char *function, std::span<PyObject *const> values) {
    Given given;
    if (values[0] != nullptr) read(name, values[0], {function, "name"}, given);
  }
  void copy(const MetricObject &from) {
    MadeObject::copy(from);
    name = from.name;
  }
  /// The result, behind an update.
  PyObject *call(const char *, PyObject *args, PyObject *keywords) const {
    update(args, keywords);
    return wrap(result());
  }

  virtual void update(PyObject *args, PyObject *keywords) const = 0;
  virtual Tensor result() const = 0;
  virtual void reset() const = 0;
  virtual void merge(const MetricObject &other) const = 0;

  std::string name;
};

template <class M>
struct MetricOf final : MetricObject {
  using Of = M;
  explicit MetricOf(M metric) : metric(std::move(metric)) {}
  const M &of() const { return metric; }

  void visit(StructureVisitor &visitor) override {
    weft::detail::VirtualVisitor inner(visitor);
    visit_structure(metric, inner);
  }
  void update(PyObject *args, PyObject *keywords) const override {
    constexpr bool of_values = std::is_same_v<M, metrics::Mean>;
    static constexpr const char *kValues[] = {"values", "weights"};
    static constexpr const char *kPairs[] = {"labels", "predictions", "weights"};
    const std::span<const char *const> words =
        of_values ? std::span<const char *const>(kValues) : std::span<const char *const>(kPairs);
    constexpr std::size_t operands = of_values ? 1 : 2;
    PyObject *values[3] = {};
    const nb::object own = words_of(keywords);
    bind_arguments("weft.metrics.update", words, words.size(), operands, args, own.ptr(), values);
    const Targets<operands> taken(values, "update", words, values[operands]);
    const Tensor weights = taken.weights(values[operands], {"update", "weights"});
    taken.apply([&](const auto &...each) { metric.update(each..., weights); });
  }
  Tensor result() const override { return metric.result(); }
  void reset() const override { metric.reset(); }
  void merge(const MetricObject &other) const override {
    const auto *same = dynamic_cast<const MetricOf *>(&other);
    if (same == nullptr)
      throw DTypeError("merge: both metrics must be of one class, and made by the same arguments");
    metric.merge(same->metric);
  }

  M metric;
};

void define_base(nb::module_ &module) {
  auto type = ClassOf<MetricObject, Visitable>(
      module, "Metric", nb::type_slots(config_slots), nb::is_weak_referenceable(),
      "What all metrics of the library are: they gather over many batches."
      "\n\nExample:\n"
      "    >>> all_of_it = wf.metrics.Mean()\n"
      "    >>> isinstance(all_of_it, wf.metrics.Metric)\n"
      "    True\n"
      "    >>> part = wf.metrics.Mean()\n"
      "    >>> part.update([1.0, 3.0])\n"
      "    >>> all_of_it.merge(part)\n"
      "    >>> all_of_it.result()\n"
      "    tensor(2.0, shape=(), dtype=float64)\n");
  define_config(type);
  type.def(
          "update",
          [](const MetricObject &self, const nb::args &args, const nb::kwargs &words) {
            self.update(args.ptr(), words.ptr());
          },
          "Adds a batch: values, or labels and predictions, and weights of the samples.")
      .def<&MetricObject::result>("result", "Of all since the last reset; 0 if there was nothing.")
      .def<&MetricObject::reset>("reset", "Forgets what was gathered.")
      .def(
          "merge",
          [](const MetricObject &self, nb::handle other) {
            if (!nb::isinstance<MetricObject>(other))
              throw DTypeError(std::string("merge: other is ") + shown_value(other) +
                               ": a metric of the same class is wanted");
            self.merge(nb::cast<const MetricObject &>(other));
          },
          Arg("other").none(), "Adds what another metric of the same class has gathered.")
      .def_prop_ro("name",
                   [](nb::handle self) -> nb::object {
                     const auto &metric = nb::cast<const MetricObject &>(self);
                     if (!metric.name.empty()) return kept_text(metric.name);
                     return self.type().attr("__name__");
                   })
      .attr("__module__") = "weft.metrics";
}

/// Defines the class of a metric, of a row for each argument of its constructor.
template <class M, class... Args>
void metric(const char *name, const char *documentation, const char *example,
            const ArgumentRow<Args> &...rows) {
  BoundClass<MetricOf<M>, Args...>::define(name, documentation, example, rows...);
}

} // namespace

void define_metrics(nb::module_ &module) {
  namespace m = metrics;
  define_base(module);
  metric<m::Mean>("Mean", "The mean of numbers: m(values) adds some and gives the mean of all.",
                  "    >>> mean = wf.metrics.Mean()\n"
                  "    >>> mean.update([1.0, 2.0])\n"
                  "    >>> mean.update(6.0)\n"
                  "    >>> mean.result()\n"
                  "    tensor(3.0, shape=(), dtype=float64)\n");
  metric<m::BinaryAccuracy>(
      "BinaryAccuracy",
      "How many labels that are 0 or 1 agree with whether scores are above the threshold.",
      "    >>> wf.metrics.BinaryAccuracy()([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.1])\n"
      "    tensor(0.75, shape=(), dtype=float64)\n",
      positional("threshold", 0.5));
  metric<m::CategoricalAccuracy>(
      "CategoricalAccuracy",
      "How often the largest of the scores is where the largest of the labels is.",
      "    >>> wf.metrics.CategoricalAccuracy()([[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]])\n"
      "    tensor(0.5, shape=(), dtype=float64)\n");
  metric<m::SparseCategoricalAccuracy>(
      "SparseCategoricalAccuracy",
      "How often the largest of the scores (..., classes) is at the label (...).",
      "    >>> accuracy = wf.metrics.SparseCategoricalAccuracy()\n"
      "    >>> accuracy.update([1, 0], [[0.1, 0.9], [0.2, 0.8]])\n"
      "    >>> accuracy.result()\n"
      "    tensor(0.5, shape=(), dtype=float64)\n");
  metric<m::TopKAccuracy>(
      "TopKAccuracy", "How often fewer than k of the scores are above that of the label.",
      "    >>> wf.metrics.TopKAccuracy(2)([0, 2], [[0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])\n"
      "    tensor(0.5, shape=(), dtype=float64)\n",
      positional("k", std::int64_t{5}));
  metric<m::MeanSquaredError>("MeanSquaredError", "The mean of squared differences.",
                              "    >>> wf.metrics.MeanSquaredError()([1.0, 2.0], [1.0, 4.0])\n"
                              "    tensor(2.0, shape=(), dtype=float64)\n");
  metric<m::MeanAbsoluteError>("MeanAbsoluteError", "The mean absolute difference.",
                               "    >>> wf.metrics.MeanAbsoluteError()([1.0, 2.0], [1.0, 4.0])\n"
                               "    tensor(1.0, shape=(), dtype=float64)\n");
  metric<m::Perplexity>(
      "Perplexity", "exp of the mean of -log(probability of the label).",
      "    >>> perplexity = wf.metrics.Perplexity()([0, 1], [[0.0, 0.0], [0.0, 0.0]])\n"
      "    >>> round(float(perplexity), 3)\n"
      "    2.0\n",
      options<m::PerplexityOptions>());
  metric<m::Precision>("Precision", "Of what was said to be so, the share that is.",
                       "    >>> wf.metrics.Precision()([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1])\n"
                       "    tensor(0.5, shape=(), dtype=float64)\n",
                       positional("threshold", 0.5));
  metric<m::Recall>("Recall", "Of what is so, the share that was said to be.",
                    "    >>> wf.metrics.Recall()([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1])\n"
                    "    tensor(0.5, shape=(), dtype=float64)\n",
                    positional("threshold", 0.5));
  metric<m::F1>("F1",
                "The harmonic mean of precision and recall by class.\n\n"
                "average is 'none', 'micro', 'macro' or 'weighted'.",
                "    >>> wf.metrics.F1(threshold=0.5)([[1], [0], [1]], [[0.9], [0.8], [0.1]])\n"
                "    tensor(0.5, shape=(), dtype=float64)\n",
                options<m::F1Options>());
  metric<m::AUC>("AUC",
                 "The area under a curve over thresholds.\n\n"
                 "curve is 'roc' or 'precision_recall'.",
                 "    >>> wf.metrics.AUC()([0, 1, 0, 1], [0.1, 0.9, 0.6, 0.4])\n"
                 "    tensor(0.75, shape=(), dtype=float64)\n",
                 options<m::AUCOptions>({.positional = 1}));
  metric<m::ConfusionMatrix>(
      "ConfusionMatrix",
      "How often labels of one class (rows) were taken for one of another (columns).",
      "    >>> wf.metrics.ConfusionMatrix(2)([0, 1, 1], [0, 1, 0])\n"
      "    tensor([[1., 0.],\n"
      "            [1., 1.]], shape=(2, 2), dtype=float64)\n",
      required<std::int64_t>("classes"));
  metric<m::R2>("R2", "The coefficient of determination.",
                "    >>> wf.metrics.R2()([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])\n"
                "    tensor(0.5, shape=(), dtype=float64)\n");
}

} // namespace weft::python
