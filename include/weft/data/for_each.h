// Loops over data sets that are part of traced functions.
#pragma once

#include <functional>
#include <memory>

#include <weft/control_flow.h>
#include <weft/data/dataset.h>
#include <weft/host_call.h>

namespace weft::data {

namespace detail {

/// The loops that a `for_each` is in, by number: a compiled function has one for each of its calls.
class LoopPasses {
public:
  explicit LoopPasses(Pipeline pipeline);
  /// Of passes that `begin` starts.
  explicit LoopPasses(std::function<std::shared_ptr<Pass>()> begin);
  ~LoopPasses();
  LoopPasses(const LoopPasses &) = delete;
  LoopPasses &operator=(const LoopPasses &) = delete;

  /// Starts one.
  Tensor start();
  /// Makes the next element, which `take` gives; false, and the loop is over, at the end.
  Tensor advance(const Tensor &loop);
  /// Throws ShapeError if it is not of these types, those of the first element.
  Item take(const Tensor &loop, std::span<const TensorType> types = {});
  /// Ends a loop that is left early.
  void stop(const Tensor &loop);

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether what this thread computes becomes part of a trace.
bool is_tracing();

/// The type of `for_each`, an object, so that calls of it know their line.
struct ForEach {
  WEFT_CALL_OPERATORS(call)

private:
  template <class... Given>
  static auto call(const std::source_location &where, const Given &...given) {
    static_assert(sizeof...(Given) >= 2,
                  "for_each is called with a data set, a body and the parts of the state");
    if constexpr (sizeof...(Given) >= 2) return run(where, given...);
  }

  template <class Element, class LoopBody, class... State>
  static auto run(const std::source_location &where, const BasicDataset<Element> &dataset,
                  const LoopBody &body_given, const State &...state) {
    constexpr bool fits = takes<LoopBody, Element, const weft::detail::FlowingType<State> &...>();
    static_assert(fits, "the body of for_each is called with an element, or the parts of a pair or "
                        "tuple, and then the parts of the state");
    if constexpr (fits) {
      const auto loops = std::make_shared<LoopPasses>(dataset.pipeline());
      const bool tracing = is_tracing();
      const ElementTypes types = tracing ? dataset.pipeline().types() : ElementTypes();
      const auto options = [&](const char *name, std::vector<TensorType> results) {
        return HostCallOptions{.results = std::move(results), .name = name, .where = where};
      };
      const Tensor loop = tracing ? host_call([loops] { return loops->start(); },
                                              options("for_each.start", {spec(DType::i64, {})}))
                                  : loops->start();
      const auto advance = [&] {
        if (!tracing) return loops->advance(loop);
        return host_call([loops](const Tensor &number) { return loops->advance(number); },
                         options("for_each.advance", {spec(DType::boolean, {})}), loop);
      };
      const auto take = [&] {
        if (!tracing) return loops->take(loop);
        return Item{
            host_call([loops, expected = types.tensors](
                          const Tensor &number) { return loops->take(number, expected).tensors; },
                      options("for_each.take", types.tensors), loop),
            types.form};
      };
      LoopBody body = body_given;
      const weft::detail::CallLine line(where);
      return while_loop([&](const weft::detail::FlowingType<State> &...) { return advance(); },
                        [&](const weft::detail::FlowingType<State> &...parts) {
                          return call_with(body, element_of<Element>(take()), parts...);
                        },
                        state...);
    }
  }
};

} // namespace detail

/// `state = body(element, state)` for each element of a data set: `for_each(digits, body,
/// state...)`. The body takes an element, or the parts of a pair or tuple, and then the parts of
/// the state; it returns the next state as that of `while_loop` does. Outside of traced functions
/// this is a loop over an epoch. Inside it is one in the compiled function, which calls the host
/// for each element and starts an epoch, with the state of the data set, each time that it comes
/// here:
///
///     auto train = function([&] {
///       return data::for_each(digits, [&](Tensor x, Tensor y, Tensor total) {
///         return total + step(x, y);
///       }, 0.f);
///     });
///
/// The types of the elements are those of the first one, which is computed for it while the
/// function is traced; sizes that batches, padding, files of other sizes or `with_open_sizes` may
/// change are unknown. An element that differs in anything else ends the loop with a ShapeError, or
/// the error of `host_call`.
inline constexpr detail::ForEach for_each;

} // namespace weft::data
