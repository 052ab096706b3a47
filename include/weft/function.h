// Traced functions: a C++ callable that is recorded once per signature and then runs compiled.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <weft/detail/signature.h>
#include <weft/phase.h>
#include <weft/structure.h>

namespace weft {

/// Options of `function`.
struct FunctionOptions {
  /// For messages, profiles and symbols; "function" if empty.
  std::string name = {};
  /// If given: the types that tensor arguments must have, one per tensor in the order of the
  /// arguments; there is one trace, and unknown dimensions stay unknown in it.
  std::vector<TensorType> signature = {};
  /// Folder that receives the text of every phase of each trace, `NAME.N.PHASE.mlir`; none if
  /// empty.
  std::string dump = {};
};

namespace detail {

/// The part of a function that does not depend on its C++ type.
class FunctionCore {
public:
  /// Runs the callable on traced inputs, keeps what it returned, and gives that result's tensors.
  /// The result that a later call copies and fills is kept by the caller under `trace`.
  using Tracee = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;
  class Trace; ///< one compiled trace

  explicit FunctionCore(FunctionOptions options);
  ~FunctionCore();

  /// Whether calls must run the callable itself because a trace or a tape is recording here.
  static bool inlined();

  /// The compiled trace of these arguments: found, or traced and compiled now. Concurrent calls
  /// compile once. `prototype` is what the tracee sets, and goes with a new trace.
  std::shared_ptr<Trace> find(ArgumentReader &arguments, const Tracee &tracee,
                              std::shared_ptr<void> &prototype);
  /// Runs it. Results are in the order that the tracee gave them.
  std::vector<Tensor> run(Trace &trace, const ArgumentReader &arguments);
  /// What the callable returned while it was traced, for `trace`.
  static const std::shared_ptr<void> &prototype(const Trace &trace);

  const CompileReport &report(const Trace &trace) const;
  std::string ir(ArgumentReader &arguments, const Tracee &tracee, Phase phase);
  std::size_t trace_count() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace detail

/// A callable that is traced at its first call per signature (dtypes and shapes of tensors,
/// nesting, type and value of everything else), compiled, and from then on runs as compiled code.
/// Variables are captured by identity, other eager tensors by value. May be called from many
/// threads. Under a tape, and inside another trace, it runs its callable.
template <class F>
class Function {
public:
  Function(F callable, FunctionOptions options)
      : state_(std::make_shared<State>(std::move(callable), std::move(options))) {}

  template <class... Args>
  auto operator()(const Args &...args) const {
    using R = std::invoke_result_t<F &, const Args &...>;
    if (detail::FunctionCore::inlined()) return state_->callable(args...);
    detail::ArgumentReader arguments;
    (visit_structure(args, arguments), ...);
    std::shared_ptr<Trace> trace = find<R>(arguments, args...);
    std::vector<Tensor> results = state_->core.run(*trace, arguments);
    if constexpr (!std::is_void_v<R>) {
      if constexpr (std::is_same_v<R, Tensor>) {
        return std::move(results[0]);
      } else {
        R result = *static_cast<const R *>(detail::FunctionCore::prototype(*trace).get());
        detail::TensorReplacer replacer{results};
        visit_structure(result, replacer);
        return result;
      }
    }
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
      return state_->core.ir(arguments, tracee<R>(prototype, std::get<I>(all)...),
                             std::get<count>(all));
    }(std::make_index_sequence<count>());
  }

  /// How many signatures have been traced.
  std::size_t trace_count() const { return state_->core.trace_count(); }

private:
  using Trace = detail::FunctionCore::Trace;
  struct State {
    State(F callable, FunctionOptions options)
        : callable(std::move(callable)), core(std::move(options)) {}
    F callable;
    detail::FunctionCore core;
  };

  /// The callable on copies of the arguments whose tensors stand for the trace's inputs.
  template <class R, class... Args>
  detail::FunctionCore::Tracee tracee(std::shared_ptr<void> &prototype, const Args &...args) const {
    return [this, &prototype, &args...](std::span<const Tensor> inputs) {
      std::tuple<Args...> copies(args...);
      detail::TensorReplacer replacer{inputs};
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
  std::shared_ptr<Trace> find(detail::ArgumentReader &arguments, const Args &...args) const {
    std::shared_ptr<void> prototype;
    return state_->core.find(arguments, tracee<R>(prototype, args...), prototype);
  }

  std::shared_ptr<State> state_;
};

/// Wraps a callable whose parameters and result are nested structures of tensors.
template <class F>
Function<std::decay_t<F>> function(F &&callable, FunctionOptions options = {}) {
  return {std::forward<F>(callable), std::move(options)};
}

} // namespace weft
