// Gradients of the user's own: what stands in the place of the derivatives of the ops inside.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/body.h>
#include <weft/detail/parts.h>
#include <weft/structure.h>

namespace weft {

/// A value, and a function from its cotangent to the gradients by the arguments it came from.
template <class Value, class Pull>
struct Pullback {
  Value value;
  Pull pull;
};
template <class Value, class Pull>
Pullback(Value, Pull) -> Pullback<Value, Pull>;

/// Options of `custom_gradient` and `recompute`.
struct CustomGradientOptions {
  /// Trainable variables that the function reads; its pullback gives their gradients behind those
  /// of the arguments.
  std::vector<Variable> variables = {};
  /// For messages.
  std::string name = "custom_gradient";
};

namespace detail {

/// Calls `pull` with the cotangents: one each for the parts of a tuple, or the structure as it is.
template <class Pull, class Cotangent>
auto call_pull(const Pull &pull, const Cotangent &cotangent) {
  if constexpr (requires { pull(cotangent); }) return pull(cotangent);
  else return std::apply(pull, cotangent);
}

/// `results` attached to `operands` by `pullback`; `natural` if that is the derivative that the ops
/// between them have anyway.
std::vector<Tensor> attach(const std::string &name, std::span<const Tensor> operands,
                           std::span<const Tensor> results, const Body &pullback,
                           bool natural = true);
/// The present values of variables, as a tape sees them read.
void read_variables(std::span<const Variable> variables, std::vector<Tensor> &values);
/// Runs `body` and throws StateError if it reads a trainable variable that is not among these.
void run_reading(const std::string &name, std::span<const Variable> variables,
                 const std::function<void()> &body);

/// The gradients of `recompute`: `body` on the operands, run again under a tape.
std::vector<Tensor> run_recomputed(const std::string &name, const Body &body,
                                   std::vector<Tensor> operands);

} // namespace detail

/// A function that computes what `f` does and has the gradient that `f` says:
///
///   auto log1pexp = custom_gradient([](Tensor x) {
///     Tensor e = exp(x);
///     return Pullback{log(1 + e), [=](Tensor dy) { return dy * (1 - 1 / (1 + e)); }};
///   });
///
/// The pullback takes the cotangent of the value, a tensor or a structure of them as the value is
/// (a tuple may be taken apart), and gives a gradient per tensor of the arguments, in order: a
/// tensor, or a tuple or another structure; an undefined tensor where there is none. Gradients by
/// `options.variables` come behind them. The pullback is differentiated in turn by what it does, so
/// any order of derivative works; forward mode transposes it.
///
/// A trace keeps the pullback with the call, so that compiled control flow has this gradient too.
///
/// Throws StateError if `f` reads a trainable variable that `options.variables` lacks; when the
/// gradient is asked, or the call traced, ValueError, DTypeError or ShapeError if there are not as
/// many gradients as arguments, or one is not of its argument's dtype and shape.
template <class F>
auto custom_gradient(F f, CustomGradientOptions options = {}) {
  return [f = std::move(f), options = std::move(options)](const auto &...args) {
    auto inputs = std::tuple(detail::flowing(args)...);
    detail::StructureReader operands;
    visit_structure(inputs, operands);
    detail::read_variables(options.variables, operands.tensors);
    using Result = decltype(std::apply(f, inputs));
    std::optional<Result> made;
    detail::run_reading(options.name, options.variables,
                        [&] { made.emplace(std::apply(f, inputs)); });
    using Value = decltype(made->value);
    detail::Parts<Value> value(std::move(made->value));
    const std::vector<Tensor> results = std::move(value.tensors());
    const auto pullback = [pull = std::move(made->pull),
                           shape = value.without_tensors()](std::span<const Tensor> cotangents) {
      auto gradients = detail::call_pull(pull, shape.with(cotangents));
      detail::StructureReader reader;
      visit_structure(gradients, reader);
      return std::move(reader.tensors);
    };
    return value.with(detail::attach(options.name, operands.tensors, results, pullback,
                                     /*natural=*/false));
  };
}

/// A function that computes what `f` does and keeps nothing for its gradient but the arguments:
/// when the gradient is asked, `f` runs again under a tape. Trainable variables that `f` reads have
/// the values then that they had at the call. Throws StateError if `f` changes a variable, which
/// would happen twice. Gradients also go to tensors that `f` captures and a tape watches. In a
/// trace `f` is traced twice, and the compiler neither merges the two nor keeps anything of the
/// first; but where `f` captures floating tensors of the trace that no tape is seen to watch, it is
/// run once and the compiler decides what is kept: pass them as arguments.
template <class F>
auto recompute(F f) {
  return [f = std::move(f)](const auto &...args) {
    auto inputs = std::tuple(detail::flowing(args)...);
    detail::Parts<decltype(inputs)> parts(std::move(inputs));
    using Value = detail::ResultType<decltype(std::apply(f, inputs))>;
    auto value = std::make_shared<std::optional<detail::Parts<Value>>>();
    const std::vector<Tensor> operands = parts.tensors();
    const detail::Body body = [f, value,
                               parts = parts.without_tensors()](std::span<const Tensor> tensors) {
      detail::Parts<Value> result(detail::flowing(std::apply(f, parts.with(tensors))));
      std::vector<Tensor> results = std::move(result.tensors());
      *value = result.without_tensors();
      return results;
    };
    return (*value)->with(detail::run_recomputed("recompute", body, operands));
  };
}

} // namespace weft
