// Gradients of the user's own: what stands for the derivatives of the ops inside.
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
#include <weft/detail/callable.h>
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
  if constexpr (std::is_invocable_v<const Pull &, const Cotangent &>) return pull(cotangent);
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

template <class T>
inline constexpr bool is_pullback = false;
template <class Value, class Pull>
inline constexpr bool is_pullback<Pullback<Value, Pull>> = true;

/// Says in a sentence what is wrong with a call of a function with a gradient of its own.
template <class F, class... Args>
constexpr bool fits_operands() {
  constexpr bool structures = (is_structure<Args>() && ...);
  static_assert(structures,
                WEFT_STRUCTURE_WANTED("the arguments of custom_gradient and recompute"));
  constexpr bool fits = std::is_invocable_v<F, FlowingType<Args> &...>;
  static_assert(fits, "the call does not fit the function of custom_gradient or recompute: compare "
                      "the number of the arguments and their types with its parameters, where "
                      "numbers arrive as tensors");
  return structures && fits;
}

/// What `custom_gradient` gives.
template <class F>
class CustomGradient {
public:
  CustomGradient(F f, CustomGradientOptions options)
      : f_(std::move(f)), options_(std::move(options)) {}
  WEFT_CALL_OPERATORS(call)

private:
  template <class... Args>
  auto call(const std::source_location &where, const Args &...args) const {
    if constexpr (fits_operands<const F &, Args...>()) {
      auto inputs = std::tuple(flowing(args)...);
      using Returned = decltype(std::apply(f_, inputs));
      static_assert(is_pullback<Returned>,
                    "the function of custom_gradient returns Pullback{value, pull}, where pull "
                    "takes the cotangent of the value and gives the gradients of the arguments");
      if constexpr (is_pullback<Returned>) return run<Returned>(where, inputs);
    }
  }

  template <class Returned, class Inputs>
  auto run(const std::source_location &where, Inputs &inputs) const {
    StructureReader operands;
    visit_structure(inputs, operands);
    std::optional<Returned> returned;
    {
      const CallLine line(where);
      read_variables(options_.variables, operands.tensors);
      run_reading(options_.name, options_.variables,
                  [&] { returned.emplace(apply_at(where, f_, inputs)); });
    }
    using Value = decltype(returned->value);
    Parts<Value> value(std::move(returned->value));
    const std::vector<Tensor> results = std::move(value.tensors());
    const auto pullback = [pull = std::move(returned->pull),
                           shape = value.without_tensors()](std::span<const Tensor> cotangents) {
      auto gradients = call_pull(pull, shape.with(cotangents));
      StructureReader reader;
      visit_structure(gradients, reader);
      return std::move(reader.tensors);
    };
    const CallLine line(where);
    return value.with(attach(options_.name, operands.tensors, results, pullback,
                             /*natural=*/false));
  }

  F f_;
  CustomGradientOptions options_;
};

/// What `recompute` gives.
template <class F>
class Recompute {
public:
  explicit Recompute(F f) : f_(std::move(f)) {}
  WEFT_CALL_OPERATORS(call)

private:
  template <class... Args>
  auto call(const std::source_location &where, const Args &...args) const {
    if constexpr (fits_operands<const F &, Args...>()) {
      auto inputs = std::tuple(flowing(args)...);
      using Value = ResultType<decltype(std::apply(f_, inputs))>;
      static_assert(is_structure<Value>(),
                    WEFT_STRUCTURE_WANTED("what recompute's function gives"));
      Parts<decltype(inputs)> parts(std::move(inputs));
      auto value = std::make_shared<std::optional<Parts<Value>>>();
      const std::vector<Tensor> operands = parts.tensors();
      const Body body = [f = f_, value,
                         bare = parts.without_tensors()](std::span<const Tensor> tensors) {
        const UserLines lines_of_its_own;
        Parts<Value> result(flowing(std::apply(f, bare.with(tensors))));
        std::vector<Tensor> results = std::move(result.tensors());
        *value = result.without_tensors();
        return results;
      };
      const CallLine line(where);
      const std::vector<Tensor> results = run_recomputed("recompute", body, operands); // sets value
      return (*value)->with(results);
    }
  }

  F f_;
};

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
/// `options.variables` come behind them. The pullback is differentiated itself by what it does, so
/// any order of derivative works; forward mode transposes it.
///
/// A trace keeps the pullback with the call, so that compiled control flow has this gradient too.
///
/// Throws StateError if `f` reads a trainable variable that `options.variables` lacks; when the
/// gradient is asked, or the call traced, ValueError, DTypeError or ShapeError if there are not as
/// many gradients as arguments, or one is not of its argument's dtype and shape.
template <class F>
auto custom_gradient(F f, CustomGradientOptions options = {}) {
  return detail::CustomGradient<F>(std::move(f), std::move(options));
}

/// A function that computes what `f` does and keeps nothing for its gradient but the arguments:
/// when the gradient is asked, `f` runs again under a tape. Trainable variables that `f` reads have
/// the values then that they had at the call, and generators give the numbers again that `f` drew.
/// Throws StateError if `f` changes a variable, which would happen twice, or draws other numbers
/// the second time, or draws any in control flow of a trace. Gradients also go to tensors that `f`
/// captures and a tape watches. In a trace `f` is traced twice, and the compiler neither merges the
/// two nor keeps anything of the first; but where `f` captures floating tensors of the trace that
/// no tape is seen to watch, it is run once and the compiler decides what is kept: pass them as
/// arguments.
template <class F>
auto recompute(F f) {
  return detail::Recompute<F>(std::move(f));
}

} // namespace weft
