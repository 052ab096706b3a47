// Derivatives of functions as functions: grad, vjp, jvp, jacobian and hessian, which compose.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/custom_gradient.h>
#include <weft/detail/callable.h>
#include <weft/detail/derivative_structure.h>
#include <weft/gradient_tape.h>

namespace weft {

namespace detail {

/// An argument of a function that is differentiated: numbers become tensors, and variables stay.
template <class T>
auto argument(const T &value) {
  if constexpr (std::is_arithmetic_v<T>) return flowing(value);
  else return value;
}

/// Puts a tensor of its own instead of each tensor that a derivative is taken by, so that
/// nothing else the function reaches is the same one, and lists them.
class SourceCollector {
public:
  SourceCollector(const char *name, GradientTape *tape) : name_(name), tape_(tape) {}

  void tensor(Tensor &value);
  void variable(Variable &value);
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}

  std::vector<GradientSource> sources;

private:
  const char *name_; ///< for messages
  GradientTape *tape_;
};

/// Arguments and tangents of jvp: a tuple, or what is alone as a tuple of one.
template <class... T>
auto arguments_of(const std::tuple<T...> &values) {
  return std::apply([](const T &...value) { return std::tuple(argument(value)...); }, values);
}
template <class T>
auto arguments_of(const T &value) {
  return std::tuple(argument(value));
}

/// The cotangents of the sources for these of the targets, of which integers have none.
std::vector<Tensor> pull_back(GradientTape &tape, std::span<const Tensor> targets,
                              std::vector<Tensor> cotangents,
                              std::span<const GradientSource> sources);

/// Throws unless a loss is a floating scalar.
void check_loss(const char *name, const Tensor &loss);

/// What is differentiated of what a function gives: all of it, or the first part of a pair or tuple
/// whose rest is carried along.
template <class T>
const Tensor &loss_of(const char *name, const T &value) {
  const Tensor *loss = nullptr;
  if constexpr (std::is_same_v<T, Tensor>) loss = &value;
  else loss = &std::get<0>(value);
  check_loss(name, *loss);
  return *loss;
}
template <class T>
constexpr bool has_loss() {
  if constexpr (std::is_void_v<T>) return false;
  else if constexpr (form_of<T>() == Form::tensor) return true;
  else if constexpr (form_of<T>() != Form::tuple) return false;
  else if constexpr (std::tuple_size_v<T> == 0) return false;
  else return form_of<std::tuple_element_t<0, T>>() == Form::tensor;
}

/// Checks, with a sentence for each, how a function is called that is differentiated, and tells
/// whether it can be.
template <class F, class... Args>
constexpr bool differentiable_call() {
  constexpr bool structures = (is_structure<Args>() && ...);
  static_assert(structures, WEFT_STRUCTURE_WANTED("the arguments of a differentiated function"));
  constexpr bool fits =
      std::is_invocable_v<const F &, const decltype(argument(std::declval<const Args &>())) &...>;
  static_assert(fits, "the call does not fit the function that is differentiated: compare the "
                      "number of the arguments and their types with its parameters, where numbers "
                      "arrive as tensors, and everything by value or as const references");
  return structures && fits;
}

/// The arguments that derivatives are taken by: those of these numbers, or else the first.
template <std::size_t... I>
struct Wrt {
  static constexpr bool one = sizeof...(I) == 1;

  template <class... Args>
  static constexpr bool among() {
    constexpr bool found = ((I < sizeof...(Args)) && ...);
    static_assert(found, "the differentiated function has no argument of that number");
    return found;
  }
  template <class... Args>
  static std::vector<GradientSource> collect(const char *name, GradientTape *tape,
                                             std::tuple<Args...> &arguments) {
    SourceCollector collector(name, tape);
    (visit_structure(std::get<I>(arguments), collector), ...);
    return std::move(collector.sources);
  }
  /// A G for each tensor of theirs: for one argument its structure, for several a tuple.
  template <class G = Tensor, class Arguments, class Next>
  static auto make(const Arguments &arguments, Next &next) {
    if constexpr (one)
      return (Each<std::tuple_element_t<I, Arguments>, G>::make(std::get<I>(arguments), next), ...);
    else
      return std::tuple{
          Each<std::tuple_element_t<I, Arguments>, G>::make(std::get<I>(arguments), next)...};
  }
};
template <>
struct Wrt<> : Wrt<0> {};
template <class Indices>
struct WrtAll;
template <std::size_t... I>
struct WrtAll<std::index_sequence<I...>> : Wrt<I...> {};

/// Pushes tangents forward through what runs while it lives.
class Pushforward {
public:
  Pushforward();
  ~Pushforward();
  Pushforward(const Pushforward &) = delete;
  Pushforward &operator=(const Pushforward &) = delete;

  /// Gives the tensors of `primals` these tangents, and substitutes tensors of their own for them.
  template <class T>
  void seed(T &primals, std::span<const Tensor> tangents) {
    Seeder seeder{*this, tangents};
    visit_structure(primals, seeder);
    seeder.finish();
  }
  /// The tangent of what was computed; zeros if none reaches it, undefined if it is not floating.
  Tensor tangent_of(const Tensor &value) const;

private:
  struct Seeder {
    void tensor(Tensor &value);
    void variable(Variable &value);
    template <class T>
    void literal(const T &) {}
    void enter(Node, std::size_t) {}
    void finish() const;

    Pushforward &pushforward;
    std::span<const Tensor> tangents;
    std::size_t at = 0;
  };
  class Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace detail

namespace detail {

/// What `value_and_grad` gives.
template <class F, std::size_t... I>
class ValueAndGrad {
public:
  ValueAndGrad(F f, const char *name) : f_(std::move(f)), name_(name) {}
  WEFT_CALL_OPERATORS(call)

  template <class... Args>
  auto call(const std::source_location &where, const Args &...args) const {
    if constexpr (differentiable_call<F, Args...>() && Wrt<I...>::template among<Args...>()) {
      using Value = ResultOf<const F &, const decltype(argument(args)) &...>;
      constexpr bool loss = has_loss<Value>();
      static_assert(loss,
                    "a function whose gradient is taken returns a tensor, its loss, or a pair "
                    "or tuple whose first part that is");
      if constexpr (loss) {
        auto arguments = std::tuple(argument(args)...);
        GradientTape tape({.watch_accessed_variables = false});
        const std::vector<GradientSource> sources = [&] {
          const CallLine line(where);
          return Wrt<I...>::collect(name_, &tape, arguments);
        }();
        auto value = apply_at(where, f_, std::as_const(arguments));
        const CallLine line(where);
        InOrder gradients(tape.gradient(loss_of(name_, value), sources,
                                        {.unconnected = Unconnected::zero},
                                        std::source_location()));
        return std::pair(std::move(value), Wrt<I...>::make(arguments, gradients));
      }
    }
  }

private:
  F f_;
  const char *name_; ///< what the user called
};

/// What `grad` gives.
template <class F, std::size_t... I>
class Grad {
public:
  Grad(F f, const char *name) : both_(std::move(f), name) {}
  WEFT_CALL_OPERATORS(call)

private:
  template <class... Args>
  auto call(const std::source_location &where, const Args &...args) const {
    if constexpr (!std::is_void_v<decltype(both_.call(where, args...))>)
      return both_.call(where, args...).second;
  }

  ValueAndGrad<F, I...> both_;
};

/// What `jacobian` gives.
template <class F, std::size_t... I>
class Jacobian {
public:
  Jacobian(F f, const char *name) : f_(std::move(f)), name_(name) {}
  WEFT_CALL_OPERATORS(call)

private:
  template <class... Args>
  auto call(const std::source_location &where, const Args &...args) const {
    if constexpr (differentiable_call<F, Args...>() && Wrt<I...>::template among<Args...>()) {
      auto arguments = std::tuple(argument(args)...);
      GradientTape tape({.persistent = true, .watch_accessed_variables = false});
      const std::vector<GradientSource> sources = [&] {
        const CallLine line(where);
        return Wrt<I...>::collect(name_, &tape, arguments);
      }();
      const auto value = apply_at(where, f_, std::as_const(arguments));
      constexpr bool structured = is_structure<decltype(value)>();
      static_assert(structured, WEFT_STRUCTURE_WANTED("what a differentiated function returns"));
      if constexpr (structured) {
        const CallLine line(where);
        tape.stop();
        StructureReader targets;
        visit_structure(value, targets);
        std::size_t at = 0;
        const auto next = [&] {
          InOrder jacobians(tape.jacobian(targets.tensors[at++], sources,
                                          {.unconnected = Unconnected::zero},
                                          std::source_location()));
          return Wrt<I...>::make(arguments, jacobians);
        };
        return Each<std::remove_const_t<decltype(value)>, decltype(next())>::make(value, next);
      }
    }
  }

  F f_;
  const char *name_; ///< what the user called
};

} // namespace detail

/// The value of `f` and its gradient: `value_and_grad(f)(x, y)` is a pair of what `f(x, y)` gives
/// and the gradient by `x`; `value_and_grad<1>(f)` takes it by `y`, and `value_and_grad<0, 1>(f)`
/// gives a tuple of both. `f` gives a floating scalar, or a pair or tuple whose first part is one
/// and whose rest is carried along. An argument is a tensor, a variable, a number, or a structure
/// of tensors and variables, where structs hold tensors only; its gradient has its structure, with
/// tensors. What `f` reaches otherwise counts as constant, the tensors among the arguments too.
/// Where nothing connects, the gradient is zeros.
///
/// Composes: `grad(grad(f))`, and with `function`, `custom_gradient`, `jvp` and tapes. Throws
/// DTypeError if what it is taken by is not floating or `f` does not give a floating tensor,
/// ShapeError if that is no scalar.
template <std::size_t... I, class F>
auto value_and_grad(F f) {
  return detail::ValueAndGrad<F, I...>(std::move(f), "value_and_grad");
}

/// The gradient alone, as `value_and_grad` gives it: `grad([](Tensor x) { return x * x * x;
/// })(2.0)` is 12.
template <std::size_t... I, class F>
auto grad(F f) {
  return detail::Grad<F, I...>(std::move(f), "grad");
}

namespace detail {

/// The type of `vjp`, an object, so that calls of it know their line.
struct Vjp {
  WEFT_CALL_OPERATORS(call)

private:
  template <class... Given>
  static auto call(const std::source_location &where, const Given &...given) {
    static_assert(sizeof...(Given) >= 2, "vjp is called with a function and its arguments");
    if constexpr (sizeof...(Given) >= 2) return run(where, given...);
  }

  template <class F, class... Args>
  static auto run(const std::source_location &where, const F &f, const Args &...args) {
    if constexpr (differentiable_call<F, Args...>()) {
      using Value = ResultOf<const F &, const decltype(argument(args)) &...>;
      constexpr bool structured = is_structure<Value>();
      static_assert(structured, WEFT_STRUCTURE_WANTED("what a differentiated function returns"));
      if constexpr (structured) return pull_of(where, f, args...);
    }
  }

  template <class F, class... Args>
  static auto pull_of(const std::source_location &where, const F &f, const Args &...args) {
    using EachOf = WrtAll<std::index_sequence_for<Args...>>;
    auto arguments = std::tuple(argument(args)...);
    auto tape = std::make_shared<GradientTape>(
        TapeOptions{.persistent = true, .watch_accessed_variables = false});
    std::vector<GradientSource> sources = [&] {
      const CallLine line(where);
      return EachOf::collect("vjp", tape.get(), arguments);
    }();
    auto value = apply_at(where, f, std::as_const(arguments));
    tape->stop();
    StructureReader targets;
    visit_structure(value, targets);
    auto pull = [tape, arguments = std::move(arguments), sources = std::move(sources),
                 targets = std::move(targets.tensors)](const decltype(value) &cotangent,
                                                       std::source_location at = WEFT_HERE) {
      const CallLine line(at);
      StructureReader cotangents;
      visit_structure(cotangent, cotangents);
      InOrder gradients(pull_back(*tape, targets, std::move(cotangents.tensors), sources));
      return EachOf::make(arguments, gradients);
    };
    return std::pair(std::move(value), std::move(pull));
  }
};

} // namespace detail

/// `vjp(f, args...)`: what `f(args...)` gives, and a function from a cotangent of that, of its
/// structure, to the cotangents of the arguments: a tuple, or that of the only argument. It may be
/// called any number of times, on this thread. Throws as `value_and_grad`; the function throws
/// ShapeError and DTypeError for a cotangent that does not fit.
inline constexpr detail::Vjp vjp;

/// What `f` gives at `primals`, and the tangent of that for the tangents of the primals: forward
/// mode, in one go; tangents live about as long as their values. `primals` is a tensor, a variable
/// or a number, or a std::tuple of the arguments; `tangents` has its structure, with tensors.
/// Throws DTypeError if a primal is not floating, and DTypeError or ShapeError if a tangent is not
/// of its primal's type.
template <class F, class Primals, class Tangents>
auto jvp(F f, const Primals &primals, const Tangents &tangents,
         std::source_location where = WEFT_HERE) {
  constexpr bool structures = detail::is_structure<Primals>() && detail::is_structure<Tangents>();
  static_assert(structures, WEFT_STRUCTURE_WANTED("the primals and tangents of jvp"));
  if constexpr (structures) {
    auto arguments = detail::arguments_of(primals);
    auto directions = detail::arguments_of(tangents);
    constexpr bool fits = detail::Applies<F &, const decltype(arguments) &>::value;
    static_assert(fits,
                  "the primals do not fit the function of jvp: one tensor, variable or number "
                  "for a function of one argument, a std::tuple of the arguments for others");
    if constexpr (fits) {
      detail::Pushforward pushforward;
      {
        const detail::CallLine line(where);
        detail::StructureReader reader;
        visit_structure(directions, reader);
        pushforward.seed(arguments, reader.tensors);
      }
      auto value = detail::apply_at(where, f, std::as_const(arguments));
      constexpr bool structured = detail::is_structure<decltype(value)>();
      static_assert(structured, WEFT_STRUCTURE_WANTED("what a differentiated function returns"));
      if constexpr (structured) {
        const auto tangent = [&](const Tensor &part) { return pushforward.tangent_of(part); };
        detail::StructureReader parts;
        visit_structure(value, parts);
        for (Tensor &part : parts.tensors) part = tangent(part);
        detail::InOrder derivatives(std::move(parts.tensors));
        auto derivative = detail::Each<decltype(value), Tensor>::make(value, derivatives);
        return std::pair(std::move(value), std::move(derivative));
      }
    }
  }
}

/// The derivative of every element of what `f` gives by every element of its argument: of shape
/// y.shape + x.shape where `f` gives y. Arguments are chosen, and may be structures, as in
/// `value_and_grad`; where `f` gives a structure of tensors, each is replaced by such a jacobian.
/// Reverse mode over all elements of y at once. Throws as `GradientTape::jacobian`.
template <std::size_t... I, class F>
auto jacobian(F f) {
  return detail::Jacobian<F, I...>(std::move(f), "jacobian");
}

/// The second derivatives of a function that gives a floating scalar: of shape x.shape + x.shape;
/// for several arguments a tuple of tuples.
template <std::size_t... I, class F>
auto hessian(F f) {
  using Gradient = detail::Grad<F, I...>;
  return detail::Jacobian<Gradient, I...>(Gradient(std::move(f), "hessian"), "hessian");
}

} // namespace weft
