// Derivatives of functions as functions: grad, vjp, jvp, jacobian and hessian, which compose.
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/custom_gradient.h>
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

/// Puts a tensor of its own in the place of each tensor that a derivative is taken by, so that
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

/// The arguments that derivatives are taken by: those of these numbers, or else the first.
template <std::size_t... I>
struct Wrt {
  static constexpr bool one = sizeof...(I) == 1;

  template <class... Args>
  static std::vector<GradientSource> collect(const char *name, GradientTape *tape,
                                             std::tuple<Args...> &arguments) {
    static_assert(((I < sizeof...(Args)) && ...), "the function has no argument of that number");
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

  /// Gives the tensors of `primals` these tangents, and puts tensors of their own in their place.
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
  return [f = std::move(f)](const auto &...args) {
    auto arguments = std::tuple(detail::argument(args)...);
    GradientTape tape({.watch_accessed_variables = false});
    const std::vector<GradientSource> sources =
        detail::Wrt<I...>::collect("grad", &tape, arguments);
    auto value = std::apply(f, std::as_const(arguments));
    detail::InOrder gradients(tape.gradient(detail::loss_of("grad", value), sources,
                                            {.unconnected = Unconnected::zero},
                                            std::source_location()));
    return std::pair(std::move(value), detail::Wrt<I...>::make(arguments, gradients));
  };
}

/// The gradient alone, as `value_and_grad` gives it: `grad([](Tensor x) { return x * x * x;
/// })(2.0)` is 12.
template <std::size_t... I, class F>
auto grad(F f) {
  return
      [g = value_and_grad<I...>(std::move(f))](const auto &...args) { return g(args...).second; };
}

/// What `f(args...)` gives, and a function from a cotangent of that, of its structure, to the
/// cotangents of the arguments: a tuple, or that of the only argument. It may be called any number
/// of times, on this thread. Throws as `value_and_grad`; the function throws ShapeError and
/// DTypeError for a cotangent that does not fit.
template <class F, class... Args>
auto vjp(F f, const Args &...args) {
  using All = detail::WrtAll<std::index_sequence_for<Args...>>;
  auto arguments = std::tuple(detail::argument(args)...);
  auto tape = std::make_shared<GradientTape>(
      TapeOptions{.persistent = true, .watch_accessed_variables = false});
  std::vector<GradientSource> sources = All::collect("vjp", tape.get(), arguments);
  auto value = std::apply(f, std::as_const(arguments));
  tape->stop();
  detail::StructureReader targets;
  visit_structure(value, targets);
  auto pull = [tape, arguments = std::move(arguments), sources = std::move(sources),
               targets = std::move(targets.tensors)](const decltype(value) &cotangent) {
    detail::StructureReader cotangents;
    visit_structure(cotangent, cotangents);
    detail::InOrder gradients(
        detail::pull_back(*tape, targets, std::move(cotangents.tensors), sources));
    return All::make(arguments, gradients);
  };
  return std::pair(std::move(value), std::move(pull));
}

/// What `f` gives at `primals`, and the tangent of that for the tangents of the primals: forward
/// mode, in one go; tangents live about as long as their values. `primals` is a tensor, a variable
/// or a number, or a std::tuple of the arguments; `tangents` has its structure, with tensors.
/// Throws DTypeError if a primal is not floating, and DTypeError or ShapeError if a tangent is not
/// of its primal's type.
template <class F, class Primals, class Tangents>
auto jvp(F f, const Primals &primals, const Tangents &tangents) {
  auto arguments = detail::arguments_of(primals);
  auto directions = detail::arguments_of(tangents);
  detail::StructureReader reader;
  visit_structure(directions, reader);
  detail::Pushforward pushforward;
  pushforward.seed(arguments, reader.tensors);
  auto value = std::apply(f, std::as_const(arguments));
  const auto tangent = [&](const Tensor &part) { return pushforward.tangent_of(part); };
  detail::StructureReader parts;
  visit_structure(value, parts);
  for (Tensor &part : parts.tensors) part = tangent(part);
  detail::InOrder derivatives(std::move(parts.tensors));
  auto derivative = detail::Each<decltype(value), Tensor>::make(value, derivatives);
  return std::pair(std::move(value), std::move(derivative));
}

/// The derivative of every element of what `f` gives by every element of its argument: of shape
/// y.shape + x.shape where `f` gives y. Arguments are chosen, and may be structures, as in
/// `value_and_grad`; where `f` gives a structure of tensors, each has such a jacobian in its place.
/// Reverse mode over all elements of y at once. Throws as `GradientTape::jacobian`.
template <std::size_t... I, class F>
auto jacobian(F f) {
  return [f = std::move(f)](const auto &...args) {
    auto arguments = std::tuple(detail::argument(args)...);
    GradientTape tape({.persistent = true, .watch_accessed_variables = false});
    const std::vector<GradientSource> sources =
        detail::Wrt<I...>::collect("jacobian", &tape, arguments);
    const auto value = std::apply(f, std::as_const(arguments));
    tape.stop();
    detail::StructureReader targets;
    visit_structure(value, targets);
    std::size_t at = 0;
    const auto next = [&] {
      detail::InOrder jacobians(tape.jacobian(targets.tensors[at++], sources,
                                              {.unconnected = Unconnected::zero},
                                              std::source_location()));
      return detail::Wrt<I...>::make(arguments, jacobians);
    };
    using Jacobians = decltype(next());
    return detail::Each<std::remove_const_t<decltype(value)>, Jacobians>::make(value, next);
  };
}

/// The second derivatives of a function that gives a floating scalar: of shape x.shape + x.shape;
/// for several arguments a tuple of tuples.
template <std::size_t... I, class F>
auto hessian(F f) {
  return jacobian<I...>(grad<I...>(std::move(f)));
}

} // namespace weft
