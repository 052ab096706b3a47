// Host calls: C++ code that runs in the middle of a program, compiled or not.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/control_flow.h>

namespace weft {

/// What a host call gives, and what the compiler may do with it.
struct HostCallOptions {
  /// The types of the tensors that the callable returns, in order; sizes may be `unknown`.
  std::vector<TensorType> results = {};
  /// For messages and the IR.
  std::string name = {};
  /// The callable has no effects, and what it returns depends on its operands alone: the call may
  /// be dropped where nobody wants its results, be merged with an equal one, and run in another
  /// order.
  bool pure = false;
  /// The user's line: that of these braces.
  std::source_location where = WEFT_HERE;
};

namespace detail {

std::vector<Tensor> host_call(HostCallOptions options, Body callable, std::vector<Tensor> operands);
/// The tensor of an operand, undefined if that is.
inline Tensor operand_of(const Operand &operand) {
  return operand.undefined() ? Tensor() : operand.materialize();
}
/// Throws ValueError unless there are as many types as tensors that the callable returns.
void check_result_count(const HostCallOptions &options, std::size_t returned);

/// How many tensors an R is.
template <class R>
std::size_t tensors_in() {
  StructureReader reader;
  if constexpr (!std::is_void_v<R>) {
    const R value{};
    visit_structure(value, reader);
  }
  return reader.tensors.size();
}

/// Tensors as what the callable returns: a tensor, a vector of them, or a tuple, an array or a
/// struct with WEFT_FIELDS.
template <class R>
R host_result(std::vector<Tensor> tensors) {
  if constexpr (std::is_same_v<R, std::vector<Tensor>>) {
    return tensors;
  } else if constexpr (!std::is_void_v<R>) {
    R value{};
    TensorReplacer replacer{.tensors = tensors};
    visit_structure(value, replacer);
    return value;
  }
}

} // namespace detail

/// Calls `callable(operand...)` with the values of the operands, as one `const Tensor &` each:
/// `Tensor y = host_call(look_up, {.results = {spec(f32, {4})}}, x)`. On values it is called at
/// once. Inside a traced function it is called each time the compiled function comes to this call,
/// in the order of the program with prints and checks unless the call is pure, by the thread that
/// called the function; other threads may call it at the same time. The function keeps the
/// callable.
///
/// What the callable throws ends the compiled function, and reaches its caller as it is. Throws
/// ValueError, DTypeError or ShapeError, naming the call, if the callable returns anything but what
/// `results` says. A derivative that has to pass through it is a StateError: `custom_gradient`
/// gives it one, and `stop_gradient` of an operand makes it zero.
///
/// The callable may call ops and other functions; what it does is recorded by no tape and no trace.
/// Variables that the compiled function updates are out of its reach (StateError): hand it their
/// values, and assign what it returns.
template <class F, class... Operands>
auto host_call(F callable, HostCallOptions options, const Operands &...operands) {
  constexpr bool operands_fit = (std::is_constructible_v<Operand, const Operands &> && ...);
  static_assert(operands_fit, "the operands of host_call are tensors, variables and numbers");
  constexpr bool fits =
      std::is_invocable_v<F &, const std::conditional_t<true, Tensor, Operands> &...>;
  static_assert(fits, "the callable of host_call takes one `const Tensor &` for each operand that "
                      "stands behind the options");
  if constexpr (operands_fit && fits) {
    using R = std::invoke_result_t<F &, const std::conditional_t<true, Tensor, Operands> &...>;
    using Result = detail::ResultType<R>;
    constexpr bool structured = std::is_void_v<Result> || detail::is_structure<Result>();
    static_assert(structured, WEFT_STRUCTURE_WANTED("what the callable of host_call returns"));
    if constexpr (structured) {
      if constexpr (!std::is_same_v<Result, std::vector<Tensor>>)
        detail::check_result_count(options, detail::tensors_in<Result>());
      auto shared = std::make_shared<F>(std::move(callable));
      detail::Body body = [shared](std::span<const Tensor> tensors) {
        return [&]<std::size_t... I>(std::index_sequence<I...>) {
          detail::StructureReader reader;
          if constexpr (std::is_void_v<R>) {
            (*shared)(tensors[I]...);
          } else {
            const Result result = detail::flowing((*shared)(tensors[I]...));
            visit_structure(result, reader);
          }
          return std::move(reader.tensors);
        }(std::index_sequence_for<Operands...>());
      };
      return detail::host_result<Result>(detail::host_call(std::move(options), std::move(body),
                                                           {detail::operand_of(operands)...}));
    }
  }
}

} // namespace weft
