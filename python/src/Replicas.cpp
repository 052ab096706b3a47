// Scopes of single replicas and what joins them, for the strategies of weft.tf.
#include "Define.h"
#include "Foreign.h"
#include "Runs.h"
#include "Text.h"

#include <optional>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>
#include <weft/detail/distributed_place.h>
#include <weft/detail/first_values.h>
#include <weft/detail/replica_scope.h>
#include <weft/detail/staging.h>
#include <weft/detail/synchronized.h>

namespace weft::python {

namespace {

using weft::detail::Aggregation;

constexpr const char *kAggregations[] = {"mean", "max", "sum", "same"};

/// A context: what it has noted stays after its end.
struct BoundScope {
  using Initialized = void; // see Initialized.h
  BoundScope(const Variable &of, std::int64_t own_number, std::int64_t count,
             std::optional<Device> where)
      : number(of), own(own_number), replicas(count), device(where) {}
  BoundScope(const BoundScope &) = delete;
  BoundScope &operator=(const BoundScope &) = delete;

  Variable number;
  std::int64_t own, replicas;
  std::optional<Device> device;
  std::optional<weft::detail::ReplicaScope> scope;
  std::vector<weft::detail::ReplicaScope::Written> written;
};

struct BoundOutside {
  using Initialized = void; // see Initialized.h
  BoundOutside() = default;
  BoundOutside(const BoundOutside &) = delete;
  BoundOutside &operator=(const BoundOutside &) = delete;

  std::vector<std::unique_ptr<weft::detail::OutsideReplicas>> scopes;
};

/// Has the replicas of this process meet by a function of Python, which gives the sum of what each
/// of them has.
class PythonMeeting final : public weft::detail::ReplicaMeeting {
public:
  explicit PythonMeeting(const nb::object &sum) : sum_(keep(sum)) {}
  Tensor sum(std::int64_t, const std::string &where, const Tensor &own) override {
    return in_python([&] {
      const nb::object total = nb::handle(sum_.get())(where, checked(wrap(own)));
      return to_tensor(total.ptr(), {"run", "a sum of replicas"});
    });
  }

private:
  std::shared_ptr<PyObject> sum_;
};

struct BoundInStep {
  using Initialized = void; // see Initialized.h
  BoundInStep(std::int64_t count, std::int64_t own_number, const nb::object &sum)
      : replicas(count), own(own_number) {
    if (!sum.is_none()) meeting.emplace(sum);
  }
  BoundInStep(const BoundInStep &) = delete;
  BoundInStep &operator=(const BoundInStep &) = delete;

  std::int64_t replicas, own;
  std::optional<PythonMeeting> meeting;
  std::optional<weft::detail::ReplicasInStep> scope;
};

struct BoundFirstValues {
  using Initialized = void; // see Initialized.h
  BoundFirstValues() = default;
  BoundFirstValues(const BoundFirstValues &) = delete;
  BoundFirstValues &operator=(const BoundFirstValues &) = delete;

  std::optional<distributed::detail::FirstValuesOfRankZero> scope;
};

struct BoundWeight {
  using Initialized = void; // see Initialized.h
  explicit BoundWeight(Tensor of) : weight(std::move(of)) {}
  BoundWeight(const BoundWeight &) = delete;
  BoundWeight &operator=(const BoundWeight &) = delete;

  Tensor weight;
  std::optional<weft::detail::WeightOfRows> scope;
};

std::vector<Tensor> reduced(const std::vector<std::vector<nb::object>> &lists,
                            std::int64_t replicas, const std::string &reduction,
                            const std::string &what) {
  std::vector<std::vector<Tensor>> tensors;
  for (const std::vector<nb::object> &list : lists) {
    tensors.emplace_back();
    for (const nb::object &x : list)
      tensors.back().push_back(to_tensor(x.ptr(), {"reduce", "value"}));
  }
  const auto by = reduction == "sum"    ? distributed::Reduction::sum
                  : reduction == "mean" ? distributed::Reduction::mean
                                        : distributed::Reduction::max;
  const distributed::detail::Place place(place_of_user());
  const std::source_location nowhere;
  if (weft::detail::is_tracing())
    return distributed::all_reduce_replicas(tensors, replicas, by, {}, nowhere);
  return without_lock(
      [&] { return distributed::detail::reduce_replicas(tensors, replicas, by, what); });
}

} // namespace

void define_replicas(nb::module_ &module) {
  ClassOf<BoundScope>(module, "internal_ReplicaScope", nb::is_final())
      .def(
          "__init__",
          [](BoundScope *self, nb::handle number, std::int64_t own, std::int64_t replicas,
             const std::optional<std::string> &device) {
            new (self) BoundScope(variable_in(number.ptr()), own, replicas,
                                  device ? std::optional(Device(*device)) : std::nullopt);
          },
          Arg("number"), Arg("own"), Arg("replicas"), Arg("device") = nb::none())
      .def("__enter__",
           [](BoundScope &self) {
             self.scope.emplace(self.number, self.own, self.replicas, self.device);
           })
      .def("__exit__",
           [](BoundScope &self, const nb::args &) {
             if (self.scope) self.written = self.scope->written();
             self.scope.reset();
           })
      .def("written", [](const BoundScope &self) {
        nb::list all;
        for (const auto &[variable, value, how] : self.scope ? self.scope->written() : self.written)
          all.append(nb::make_tuple(checked(wrap(variable)),
                                    value.defined() ? checked(wrap(value)) : nb::none(),
                                    kAggregations[static_cast<int>(how)]));
        return all;
      });
  ClassOf<BoundOutside>(module, "internal_OutsideReplicas", nb::is_final())
      .def(nb::init<>())
      .def("__enter__",
           [](BoundOutside &self) {
             self.scopes.push_back(std::make_unique<weft::detail::OutsideReplicas>());
           })
      .def("__exit__", [](BoundOutside &self, const nb::args &) {
        if (!self.scopes.empty()) self.scopes.pop_back();
      });
  ClassOf<BoundInStep>(module, "internal_ReplicasInStep", nb::is_final())
      .def(
          "__init__",
          [](BoundInStep *self, std::int64_t replicas, std::int64_t own, const nb::object &sum) {
            new (self) BoundInStep(replicas, own, sum);
          },
          Arg("replicas"), Arg("own"), Arg("sum") = nb::none())
      .def("__enter__",
           [](BoundInStep &self) {
             self.scope.emplace(self.replicas, distributed::Group(), self.own,
                                self.meeting ? &*self.meeting : nullptr);
           })
      .def("__exit__", [](BoundInStep &self, const nb::args &) { self.scope.reset(); });
  ClassOf<BoundFirstValues>(module, "internal_FirstValuesOfRankZero", nb::is_final())
      .def(nb::init<>())
      .def("__enter__", [](BoundFirstValues &self) { self.scope.emplace(); })
      .def("__exit__", [](BoundFirstValues &self, const nb::args &) { self.scope.reset(); });
  ClassOf<BoundWeight>(module, "internal_WeightOfRows", nb::is_final())
      .def(
          "__init__",
          [](BoundWeight *self, nb::handle weight) {
            new (self) BoundWeight(to_tensor(weight.ptr(), {"fit", "a weight"}));
          },
          Arg("weight"))
      .def("__enter__", [](BoundWeight &self) { self.scope.emplace(self.weight); })
      .def("__exit__", [](BoundWeight &self, const nb::args &) { self.scope.reset(); });
  define(module, "internal_name_of(variable)",
         [](nb::handle variable) { return variable_in(variable.ptr()).name(); });
  define(module, "internal_aggregate_by(variable, how)",
         [](nb::handle variable, const std::string &how) {
           const nb::str word(how.c_str(), how.size());
           weft::detail::aggregate_by(
               variable_in(variable.ptr()),
               static_cast<Aggregation>(word_of(word, kAggregations, {"Variable", "aggregation"})));
         });
  define<reduced>(module, "internal_reduce_replicas", Arg("lists"), Arg("replicas"),
                  Arg("reduction"), Arg("what"));
  define(module, "internal_ranks_know_of_error()",
         [] { return distributed::detail::ranks_know_of_error(); });
  define(module, "internal_forget_error()", [] { distributed::detail::forget_error(); });
  define(module, "internal_refuse(words)", [](const std::string &words) {
    const distributed::Group world;
    const distributed::detail::Place place(place_of_user());
    without_lock([&] { distributed::detail::refuse("run", world, words); });
  });
}

} // namespace weft::python
