// Loops over data sets in traced functions of Python: host calls fetch the elements.
#include "Data.h"
#include "Define.h"
#include "Function.h"
#include "Staging.h"

#include <weft/data/for_each.h>
#include <weft/detail/staging.h>
#include <weft/distributed.h>
#include <weft/ops.h>

namespace weft::python {

namespace {

using data::detail::LoopPasses;
using data::detail::Pipeline;

std::vector<Tensor> tensors_of(nb::handle list) { return python::tensors_of(list, "for"); }

HostCallOptions options_of(const char *name, std::vector<TensorType> results) {
  return {.results = std::move(results), .name = name, .pure = false, .where = {}};
}

/// A loop over data sets side by side.
class Loop {
public:
  explicit Loop(const nb::sequence &datasets) {
    std::vector<Pipeline> pipelines;
    for (const nb::handle each : datasets) {
      BoundDataset &bound = dataset_in(each);
      parts_.push_back(bound.types_of_elements());
      types_.insert(types_.end(), parts_.back().tensors.begin(), parts_.back().tensors.end());
      pipelines.push_back(bound.pipeline);
      for (const nb::object &held : bound.held) keep_while_traced(held);
    }
    // A loop that failed is left open, and its threads may want the lock before they end.
    passes_ = {new LoopPasses([pipelines] { return start_all(pipelines); }),
               [](LoopPasses *passes) { without_lock([&] { delete passes; }); }};
  }

  /// Records the start; its number.
  Tensor start() const {
    return detail::host_call(options_of("data.start", {spec(DType::i64, {})}),
                             body([](LoopPasses &passes, std::span<const Tensor>) {
                               return std::vector{passes.start()};
                             }),
                             {})[0];
  }
  std::vector<Tensor> advance(const Tensor &number) const {
    return detail::host_call(options_of("data.advance", {spec(DType::boolean, {})}),
                             body([](LoopPasses &passes, std::span<const Tensor> tensors) {
                               return std::vector{passes.advance(tensors[0])};
                             }),
                             {number});
  }
  std::vector<Tensor> take(const Tensor &number) const {
    return detail::host_call(
        options_of("data.take", types_),
        body([types = types_](LoopPasses &passes, std::span<const Tensor> tensors) {
          return passes.take(tensors[0], types).tensors;
        }),
        {number});
  }
  void stop(const Tensor &number) const {
    static_cast<void>(detail::host_call(
        options_of("data.stop", {}), body([](LoopPasses &passes, std::span<const Tensor> tensors) {
          passes.stop(tensors[0]);
          return std::vector<Tensor>();
        }),
        {number}));
  }
  const std::vector<TensorType> &types() const { return types_; }
  /// The parts of an element, one of each data set, of its tensors.
  nb::list parts(std::span<const Tensor> tensors) const {
    nb::list parts;
    for (const data::detail::ElementTypes &part : parts_) {
      std::vector<nb::object> leaves;
      for (std::size_t i = 0; i < part.tensors.size(); ++i)
        leaves.push_back(checked(wrap(tensors[i])));
      tensors = tensors.subspan(leaves.size());
      parts.append(filled(part.form.get(), leaves));
    }
    return parts;
  }

private:
  template <class Call>
  detail::Body body(const Call &call) const {
    return [passes = passes_, call](std::span<const Tensor> tensors) {
      return without_lock([&] { return call(*passes, tensors); });
    };
  }

  std::shared_ptr<LoopPasses> passes_;
  std::vector<data::detail::ElementTypes> parts_;
  std::vector<TensorType> types_; ///< of all
};

/// Whether there is another element, where all ranks of the world go over the same: known to be the
/// same on all of them, so that what they do in the loop may be a collective.
Tensor same_on_all_ranks(const Tensor &there) {
  const Tensor all = distributed::all_gather(reshape(cast(there, DType::i32), {1}), 0);
  const Tensor fewest = all.min();
  check(fewest == all.max(),
        "for: a data set that all ranks go over has come to its end on one of them and not on "
        "others: give all ranks as many batches");
  return fewest > 0;
}

/// `state = body(element, state)` for the elements, as long as `more(state)` holds before one is
/// taken; elements are lists of their parts. All ranks go over the data sets `together`, or each by
/// itself.
nb::object each(const std::string &name, const nb::sequence &datasets, nb::handle more,
                nb::handle body, nb::handle state, bool together) {
  const Loop loop(datasets);
  const Tensor number = loop.start();
  const auto advance = [&] {
    std::vector<Tensor> there = loop.advance(number);
    if (together) there[0] = same_on_all_ranks(there[0]);
    return there;
  };
  const auto call = [](nb::handle function, std::span<const Tensor> tensors) {
    return checked(PyObject_CallOneArg(function.ptr(), list_of(tensors).ptr()));
  };
  const detail::Body goes_on = [&](std::span<const Tensor> tensors) {
    if (more.is_none()) return advance();
    const Tensor wanted = to_tensor(call(more, tensors).ptr(), {"for", "the condition"});
    return detail::branch(
        name, wanted, [&](std::span<const Tensor>) { return advance(); },
        [](std::span<const Tensor>) {
          return std::vector{Operand(false, std::source_location()).materialize()};
        });
  };
  const detail::Body iteration = [&](std::span<const Tensor> tensors) {
    const nb::object element = loop.parts(loop.take(number)), rest = list_of(tensors);
    PyObject *const args[] = {element.ptr(), rest.ptr()};
    return tensors_of(checked(PyObject_Vectorcall(body.ptr(), args, 2, nullptr)));
  };
  const std::vector<Tensor> results =
      detail::loop(name, goes_on, iteration, tensors_of(state), std::source_location());
  if (!more.is_none()) loop.stop(number);
  return list_of(results);
}

/// The parts of an element, of traced tensors, for blocks that are forgotten.
nb::object stand_ins(const nb::sequence &datasets) {
  const Loop loop(datasets);
  return loop.parts(detail::host_call(options_of("data.take", loop.types()),
                                      [](std::span<const Tensor>) -> std::vector<Tensor> {
                                        throw InternalError(
                                            "a stand-in for an element was asked for its value");
                                      },
                                      {}));
}

} // namespace

void define_data_loops(nb::module_ &module) {
  define<each>(module, "internal_each", Arg("name"), Arg("datasets"), Arg("more").none(),
               Arg("body"), Arg("state"), Arg("together"));
  define<stand_ins>(module, "internal_stand_ins(datasets)");
}

} // namespace weft::python
