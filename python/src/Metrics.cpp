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
  static constexpr const char *kMore[] = {"name"};
  using Base = MetricObject;

  void take_more(PyObject *const *values) {
    if (values[0] == nullptr || values[0] == Py_None) return;
    Given given;
    read(name, values[0], {"weft.metrics", "name"}, given);
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
    std::array<Argument, operands> taken;
    Beside all;
    for (std::size_t i = 0; i <= operands; ++i)
      if (values[i] != nullptr) all.add(values[i]);
    for (std::size_t i = 0; i < operands; ++i) {
      const Place place{"update", words[i]};
      if (!taken[i].convert(values[i], place, std::nullopt)) refuse_object(values[i], place);
      // Labels that are integers stay that beside floating predictions.
      if (is_floating(taken[i].operand().dtype()) && !Beside::of(values[i]))
        taken[i].convert(values[i], place, all.dtype());
    }
    Tensor weights;
    if (values[operands] != nullptr && values[operands] != Py_None)
      weights = to_tensor(values[operands], {"update", "weights"}, all.dtype());
    unlocked(taken[0].size(), [&] {
      if constexpr (of_values) metric.update(taken[0].operand(), weights);
      else metric.update(taken[0].operand(), taken[1].operand(), weights);
    });
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

template <class M, class... Args>
using MetricClass = BoundClass<MetricOf<M>, Args...>;

void define_base(nb::module_ &module) {
  ClassOf<MetricObject, Visitable>(
      module, "Metric", nb::is_weak_referenceable(),
      "What all metrics of the library are: they gather over many batches."
      "\n\nExample:\n"
      "    >>> all_of_it = wf.metrics.Mean()\n"
      "    >>> isinstance(all_of_it, wf.metrics.Metric)\n"
      "    True\n"
      "    >>> part = wf.metrics.Mean()\n"
      "    >>> part.update([1.0, 3.0])\n"
      "    >>> all_of_it.merge(part)\n"
      "    >>> all_of_it.result()\n"
      "    tensor(2.0, shape=(), dtype=float64)\n")
      .def(
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
      .def(
          "get_config",
          [](const MetricObject &self) { return checked(PyDict_Copy(self.arguments.ptr())); },
          "The arguments by which it was made.")
      .attr("__module__") = "weft.metrics";
}

/// A metric whose constructor takes nothing but its name.
template <class M>
void define_plain(nb::module_ &module, const char *name, const char *documentation) {
  using C = MetricClass<M>;
  C::define(module, name, {}, {}, 1, 0, documentation);
}

template <class M>
void define_with_threshold(nb::module_ &module, const char *name, const char *documentation) {
  using C = MetricClass<M, double>;
  C::define(module, name, {0.5}, {argument<0, C>("threshold")}, 1, 0, documentation);
}

} // namespace

void define_metrics(nb::module_ &module) {
  namespace m = metrics;
  define_base(module);
  define_plain<m::Mean>(module, "weft.metrics.Mean",
                        "The mean of numbers: m(values) adds some and gives the mean of all."
                        "\n\nExample:\n"
                        "    >>> mean = wf.metrics.Mean()\n"
                        "    >>> mean.update([1.0, 2.0])\n"
                        "    >>> mean.update(6.0)\n"
                        "    >>> mean.result()\n"
                        "    tensor(3.0, shape=(), dtype=float64)\n");
  define_with_threshold<m::BinaryAccuracy>(
      module, "weft.metrics.BinaryAccuracy",
      "How many labels that are 0 or 1 agree with whether scores are above the threshold.\n\n"
      "BinaryAccuracy(threshold=0.5, *, name=None)"
      "\n\nExample:\n"
      "    >>> wf.metrics.BinaryAccuracy()([1, 0, 1, 0], [0.9, 0.2, 0.4, 0.1])\n"
      "    tensor(0.75, shape=(), dtype=float64)\n");
  define_plain<m::CategoricalAccuracy>(
      module, "weft.metrics.CategoricalAccuracy",
      "How often the largest of the scores is where the largest of the labels is."
      "\n\nExample:\n"
      "    >>> wf.metrics.CategoricalAccuracy()([[0, 1], [1, 0]], [[0.1, 0.9], [0.2, 0.8]])\n"
      "    tensor(0.5, shape=(), dtype=float64)\n");
  define_plain<m::SparseCategoricalAccuracy>(
      module, "weft.metrics.SparseCategoricalAccuracy",
      "How often the largest of the scores (..., classes) is at the label (...)."
      "\n\nExample:\n"
      "    >>> accuracy = wf.metrics.SparseCategoricalAccuracy()\n"
      "    >>> accuracy.update([1, 0], [[0.1, 0.9], [0.2, 0.8]])\n"
      "    >>> accuracy.result()\n"
      "    tensor(0.5, shape=(), dtype=float64)\n");
  {
    using C = MetricClass<m::TopKAccuracy, std::int64_t>;
    C::define(module, "weft.metrics.TopKAccuracy", {5}, {argument<0, C>("k")}, 1, 0,
              "How often fewer than k of the scores are above that of the label.\n\n"
              "TopKAccuracy(k=5, *, name=None)"
              "\n\nExample:\n"
              "    >>> wf.metrics.TopKAccuracy(2)([0, 2], [[0.3, 0.6, 0.1], [0.5, 0.3, 0.2]])\n"
              "    tensor(0.5, shape=(), dtype=float64)\n");
  }
  define_plain<m::MeanSquaredError>(
      module, "weft.metrics.MeanSquaredError",
      "The mean of squared differences."
      "\n\nExample:\n"
      "    >>> wf.metrics.MeanSquaredError()([1.0, 2.0], [1.0, 4.0])\n"
      "    tensor(2.0, shape=(), dtype=float64)\n");
  define_plain<m::MeanAbsoluteError>(
      module, "weft.metrics.MeanAbsoluteError",
      "The mean absolute difference."
      "\n\nExample:\n"
      "    >>> wf.metrics.MeanAbsoluteError()([1.0, 2.0], [1.0, 4.0])\n"
      "    tensor(1.0, shape=(), dtype=float64)\n");
  {
    using O = m::PerplexityOptions;
    using C = MetricClass<m::Perplexity, O>;
    C::define(module, "weft.metrics.Perplexity", {},
              {member<0, C>("from_logits", &O::from_logits),
               member<0, C>("ignored_label", &O::ignored_label)},
              0, 0,
              "exp of the mean of -log(probability of the label).\n\n"
              "Perplexity(*, from_logits=True, ignored_label=None, name=None)"
              "\n\nExample:\n"
              "    >>> perplexity = wf.metrics.Perplexity()([0, 1], [[0.0, 0.0], [0.0, 0.0]])\n"
              "    >>> round(float(perplexity), 3)\n"
              "    2.0\n");
  }
  define_with_threshold<m::Precision>(
      module, "weft.metrics.Precision",
      "Of what was said to be so, the share that is.\n\nPrecision(threshold=0.5, *, name=None)"
      "\n\nExample:\n"
      "    >>> wf.metrics.Precision()([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1])\n"
      "    tensor(0.5, shape=(), dtype=float64)\n");
  define_with_threshold<m::Recall>(
      module, "weft.metrics.Recall",
      "Of what is so, the share that was said to be.\n\nRecall(threshold=0.5, *, name=None)"
      "\n\nExample:\n"
      "    >>> wf.metrics.Recall()([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1])\n"
      "    tensor(0.5, shape=(), dtype=float64)\n");
  {
    using O = m::F1Options;
    using C = MetricClass<m::F1, O>;
    C::define(module, "weft.metrics.F1", {},
              {member<0, C>("average", &O::average), member<0, C>("threshold", &O::threshold)}, 0,
              0,
              "The harmonic mean of precision and recall by class.\n\nF1(*, average='macro', "
              "threshold=None, name=None); average is 'none', 'micro', 'macro' or 'weighted'."
              "\n\nExample:\n"
              "    >>> wf.metrics.F1(threshold=0.5)([[1], [0], [1]], [[0.9], [0.8], [0.1]])\n"
              "    tensor(0.5, shape=(), dtype=float64)\n");
  }
  {
    using O = m::AUCOptions;
    using C = MetricClass<m::AUC, O>;
    C::define(module, "weft.metrics.AUC", {},
              {member<0, C>("thresholds", &O::thresholds), member<0, C>("curve", &O::curve),
               member<0, C>("from_logits", &O::from_logits)},
              1, 0,
              "The area under a curve over thresholds.\n\nAUC(thresholds=200, *, curve='roc', "
              "from_logits=False, name=None); curve is 'roc' or 'precision_recall'."
              "\n\nExample:\n"
              "    >>> wf.metrics.AUC()([0, 1, 0, 1], [0.1, 0.9, 0.6, 0.4])\n"
              "    tensor(0.75, shape=(), dtype=float64)\n");
  }
  {
    using C = MetricClass<m::ConfusionMatrix, std::int64_t>;
    C::define(module, "weft.metrics.ConfusionMatrix", {1}, {argument<0, C>("classes")}, 1, 1,
              "How often labels of one class (rows) were taken for one of another (columns)."
              "\n\nExample:\n"
              "    >>> wf.metrics.ConfusionMatrix(2)([0, 1, 1], [0, 1, 0])\n"
              "    tensor([[1., 0.],\n"
              "            [1., 1.]], shape=(2, 2), dtype=float64)\n");
  }
  define_plain<m::R2>(module, "weft.metrics.R2",
                      "The coefficient of determination."
                      "\n\nExample:\n"
                      "    >>> wf.metrics.R2()([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])\n"
                      "    tensor(0.5, shape=(), dtype=float64)\n");
}

} // namespace weft::python
