// Traced functions: a C++ callable that is recorded once per signature and then runs compiled.
#pragma once

#include <tuple>

#include <weft/detail/function_core.h>
#include <weft/structure.h>

namespace weft {

/// A callable that is traced at its first call per signature (dtypes and shapes of tensors and
/// variables, which variables are the same, nesting, type and value of everything else), compiled,
/// and from then on runs as compiled code. Variables that it reaches otherwise than by its
/// arguments are captured by identity, eager tensors by value. May be called from many threads.
/// Inside another trace it becomes a call. Tapes note a call as one entry, whose derivative is
/// compiled as well; where they cannot, its callable runs in its place. docs/functions.md tells the
/// rules.
template <class F>
class Function {
public:
  Function(F callable, FunctionOptions options)
      : state_(std::make_shared<State>(std::move(callable), std::move(options))) {}

  // A move is a copy: no handle is ever without its function.
  Function(const Function &) = default;
  Function &operator=(const Function &) = default;

  template <class... Args>
  auto operator()(const Args &...args) const {
    using R = std::invoke_result_t<F &, const Args &...>;
    if (detail::FunctionCore::recording()) [[unlikely]]
      return inside<R>(args...);
    detail::ArgumentReader arguments;
    (visit_structure(args, arguments), ...);
    const std::shared_ptr<Trace> trace = find<R>(arguments, args...);
    return result<R>(*trace, arguments, state_->core.run(*trace, arguments));
  }

  /// Times and sizes of the trace for these arguments, which is made if there is none yet.
  template <class... Args>
  CompileReport report(const Args &...args) const {
    using R = std::invoke_result_t<F &, const Args &...>;
    detail::ArgumentReader arguments;
    (visit_structure(args, arguments), ...);
    return state_->core.report(*find<R>(arguments, args...));
  }

  /// The text of a phase for these arguments: `f.ir(x, y, Phase::linalg)`. Runs nothing.
  template <class... ArgsAndPhase>
  std::string ir(const ArgsAndPhase &...args) const {
    auto all = std::forward_as_tuple(args...);
    constexpr std::size_t count = sizeof...(args) - 1;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using R = std::invoke_result_t<F &, decltype(std::get<I>(all))...>;
      detail::ArgumentReader arguments;
      (visit_structure(std::get<I>(all), arguments), ...);
      std::shared_ptr<void> prototype;
      return state_->core.ir(arguments, tracee<R>(arguments, prototype, std::get<I>(all)...),
                             std::get<count>(all));
    }(std::make_index_sequence<count>());
  }

  /// Whether a call with these arguments would find a trace, and if not, what differs from the
  /// nearest one: "step: miss: argument 0, dimension 0: 32 became 31". Runs nothing.
  template <class... Args>
  std::string explain(const Args &...args) const {
    detail::ArgumentReader arguments;
    (visit_structure(args, arguments), ...);
    return state_->core.explain(arguments);
  }

  /// How many traces there are.
  std::size_t trace_count() const { return state_->core.trace_count(); }

private:
  using Trace = detail::FunctionCore::Trace;
  struct State {
    State(F callable, FunctionOptions options)
        : callable(std::move(callable)), core(std::move(options)) {}
    F callable;
    detail::FunctionCore core;
  };

  /// A call while a trace or a tape records.
  template <class R, class... Args>
  R inside(const Args &...args) const {
    if (!detail::FunctionCore::calls_are_recorded()) {
      if (detail::FunctionCore::calls_are_entries()) {
        detail::ArgumentReader arguments;
        (visit_structure(args, arguments), ...);
        std::shared_ptr<void> prototype;
        const std::shared_ptr<Trace> trace =
            state_->core.find_taped(arguments, tracee<R>(arguments, prototype, args...), prototype);
        if (auto tensors = state_->core.run_taped(*trace, arguments))
          return result<R>(*trace, arguments, *std::move(tensors));
      }
      const detail::FunctionCore::Inlined here(state_->core);
      return state_->callable(args...);
    }
    detail::ArgumentReader arguments;
    (visit_structure(args, arguments), ...);
    std::shared_ptr<void> prototype;
    const std::shared_ptr<Trace> trace =
        state_->core.find_inside(arguments, tracee<R>(arguments, prototype, args...), prototype);
    return result<R>(*trace, arguments, state_->core.call(*trace, arguments));
  }

  /// What the callable returned, with the tensors of this call and its variables.
  template <class R>
  static R result(const Trace &trace, const detail::ArgumentReader &arguments,
                  std::vector<Tensor> tensors) {
    if constexpr (std::is_same_v<R, Tensor>) {
      return std::move(tensors[0]);
    } else if constexpr (!std::is_void_v<R>) {
      R value = *static_cast<const R *>(detail::FunctionCore::prototype(trace).get());
      detail::TensorReplacer replacer{
          .tensors = tensors,
          .from = detail::FunctionCore::stand_ins(trace),
          .to = {arguments.variables.data(), arguments.variables.size()}};
      visit_structure(value, replacer);
      return value;
    }
  }

  /// The callable on copies of the arguments whose tensors stand for the trace's inputs.
  template <class R, class... Args>
  detail::FunctionCore::Tracee tracee(const detail::ArgumentReader &arguments,
                                      std::shared_ptr<void> &prototype, const Args &...args) const {
    return [this, &arguments, &prototype, &args...](
               std::span<const Tensor> inputs, std::span<const detail::VariablePointer> variables) {
      std::tuple<Args...> copies(args...);
      detail::TensorReplacer replacer{
          .tensors = inputs,
          .from = {arguments.variables.data(), arguments.variables.size()},
          .to = variables};
      std::apply([&](auto &...copy) { (visit_structure(copy, replacer), ...); }, copies);
      detail::StructureReader collector;
      if constexpr (std::is_void_v<R>) {
        std::apply(state_->callable, copies);
        prototype = nullptr;
      } else {
        auto result = std::make_shared<R>(std::apply(state_->callable, copies));
        visit_structure(*result, collector);
        prototype = std::move(result);
      }
      return std::move(collector.tensors);
    };
  }

  template <class R, class... Args>
  std::shared_ptr<Trace> find(const detail::ArgumentReader &arguments, const Args &...args) const {
    std::shared_ptr<void> prototype;
    return state_->core.find(arguments, tracee<R>(arguments, prototype, args...), prototype);
  }

  std::shared_ptr<State> state_;
};

/// Wraps a callable whose parameters and result are nested structures of tensors.
template <class F>
Function<std::decay_t<F>> function(F &&callable, FunctionOptions options = {}) {
  return {std::forward<F>(callable), std::move(options)};
}

} // namespace weft
