// Traced functions: a C++ callable that is recorded once per signature and then runs compiled.
#pragma once

#include <functional>
#include <tuple>

#include <weft/detail/callable.h>
#include <weft/detail/function_core.h>
#include <weft/structure.h>

namespace weft {

/// A callable that is traced at its first call per signature (dtypes and shapes of tensors and
/// variables, which variables are the same, nesting, type and value of everything else), compiled,
/// and from then on runs as compiled code. Variables that it reaches otherwise than by its
/// arguments are captured by identity, eager tensors by value. May be called from many threads.
/// Inside another trace it becomes a call. Tapes note a call as one entry, whose derivative is
/// compiled as well; where they cannot, its callable runs instead of it. docs/functions.md tells
/// the rules.
template <class F>
class Function {
public:
  Function(F callable, FunctionOptions options)
      : state_(std::make_shared<State>(std::move(callable), std::move(options))) {}

  // A move is a copy: no handle is ever without its function.
  Function(const Function &) = default;
  Function &operator=(const Function &) = default;

  WEFT_CALL_OPERATORS(call)

  /// Times and sizes of the trace for these arguments, which is traced if there is none yet.
  template <class... Args>
  CompileReport report(const Args &...args) const {
    using R = Result<Args...>;
    detail::ArgumentReader arguments;
    (visit_structure(args, arguments), ...);
    return state_->core.report(*find<R>({}, arguments, args...));
  }

  /// The text of a phase for these arguments: `f.ir(x, y, Phase::linalg)`. Runs nothing. It is that
  /// of the GPU where the function would run; Phase::ptx has its kernels, for gpu:0 (or the chip
  /// sm_90a) where it would run on the CPU.
  template <class... ArgsAndPhase>
  std::string ir(const ArgsAndPhase &...args) const {
    static_assert((std::is_same_v<ArgsAndPhase, Phase> || ...),
                  "ir is called with the function's arguments and then a Phase");
    auto given = std::forward_as_tuple(args...);
    constexpr std::size_t count = sizeof...(args) - 1;
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using R = Result<std::remove_cvref_t<decltype(std::get<I>(given))>...>;
      detail::ArgumentReader arguments;
      (visit_structure(std::get<I>(given), arguments), ...);
      std::shared_ptr<void> prototype;
      return state_->core.ir(arguments, tracee<R>(arguments, prototype, std::get<I>(given)...),
                             std::get<count>(given));
    }(std::make_index_sequence<count>());
  }

  /// The graph of the function for these arguments, as it is traced. Runs nothing.
  template <class... Args>
  Graph graph(const Args &...args) const {
    using R = Result<Args...>;
    detail::ArgumentReader arguments;
    (visit_structure(args, arguments), ...);
    std::shared_ptr<void> prototype;
    return state_->core.graph(arguments, tracee<R>(arguments, prototype, args...));
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

  /// For `export_program`: what the callable records for arguments whose tensors are of these
  /// types, of which sizes may be unknown; `arguments` have sizes instead of them.
  template <class... Args>
  std::shared_ptr<const Program> record(const std::source_location &where,
                                        const std::vector<TensorType> &types,
                                        const Args &...arguments) const {
    using R = Result<Args...>;
    detail::ArgumentReader reader;
    (visit_structure(arguments, reader), ...);
    std::shared_ptr<void> prototype;
    return state_->core.record(where, types, reader, tracee<R>(reader, prototype, arguments...));
  }
  const FunctionOptions &options() const { return state_->core.options(); }

private:
  using Trace = detail::FunctionCore::Trace;
  struct State {
    State(F f, FunctionOptions options) : callable(std::move(f)), core(std::move(options)) {}
    F callable;
    detail::FunctionCore core;
  };

  /// What a call gives; says in a sentence what is wrong with one that cannot be called.
  template <class... Args>
  static auto result_type() {
    constexpr bool fits = std::is_invocable_v<F &, const Args &...>;
    static_assert(fits, "the call does not fit the traced function: compare the number of the "
                        "arguments and their types with the parameters of the callable, which "
                        "takes them by value or as const references");
    constexpr bool arguments = (detail::is_structure<Args>() && ...);
    static_assert(arguments, WEFT_STRUCTURE_WANTED("the arguments of a traced function"));
    if constexpr (fits && arguments) {
      using R = std::remove_cvref_t<detail::ResultOf<F &, const Args &...>>;
      constexpr bool results = std::is_void_v<R> || detail::is_structure<R>();
      static_assert(results, WEFT_STRUCTURE_WANTED("the results of a traced function"));
      if constexpr (results) return std::type_identity<R>();
      else return std::type_identity<void>();
    } else {
      return std::type_identity<void>();
    }
  }
  template <class... Args>
  using Result = typename decltype(result_type<Args...>())::type;

  template <class... Args>
  auto call(const std::source_location &where, const Args &...args) const {
    using R = Result<Args...>;
    if constexpr (std::is_invocable_v<F &, const Args &...> &&
                  (detail::is_structure<Args>() && ...)) {
      if (detail::FunctionCore::recording()) [[unlikely]]
        return inside<R>(where, args...);
      detail::ArgumentReader arguments;
      (visit_structure(args, arguments), ...);
      const std::shared_ptr<Trace> trace = find<R>(where, arguments, args...);
      return result<R>(*trace, arguments, state_->core.run(where, *trace, arguments));
    }
  }

  /// A call while a trace or a tape records.
  template <class R, class... Args>
  R inside(const std::source_location &where, const Args &...args) const {
    if (!detail::FunctionCore::calls_are_recorded()) {
      if (detail::FunctionCore::calls_are_entries()) {
        detail::ArgumentReader arguments;
        (visit_structure(args, arguments), ...);
        std::shared_ptr<void> prototype;
        const std::shared_ptr<Trace> trace = state_->core.find_taped(
            where, arguments, tracee<R>(arguments, prototype, args...), prototype);
        if (auto tensors = state_->core.run_taped(where, *trace, arguments))
          return result<R>(*trace, arguments, *std::move(tensors));
      }
      const detail::FunctionCore::Inlined here(state_->core);
      return state_->callable(args...);
    }
    detail::ArgumentReader arguments;
    (visit_structure(args, arguments), ...);
    std::shared_ptr<void> prototype;
    const std::shared_ptr<Trace> trace = state_->core.find_inside(
        where, arguments, tracee<R>(arguments, prototype, args...), prototype);
    return result<R>(*trace, arguments, state_->core.call(where, *trace, arguments));
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
  auto tracee(const detail::ArgumentReader &arguments, std::shared_ptr<void> &prototype,
              const Args &...args) const {
    return [this, &arguments, &prototype, &args...](
               std::span<const Tensor> inputs, std::span<const detail::VariablePointer> variables) {
      std::tuple<std::decay_t<const Args>...> copies(args...);
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
  std::shared_ptr<Trace> find(const std::source_location &where,
                              const detail::ArgumentReader &arguments, const Args &...args) const {
    std::shared_ptr<void> prototype;
    const auto traced = tracee<R>(arguments, prototype, args...);
    return state_->core.find(where, arguments, std::cref(traced), prototype); // allocates nothing
  }

  std::shared_ptr<State> state_;
};

/// Wraps a callable whose parameters and result are nested structures of tensors. (A program that
/// also says `using namespace std` calls it `weft::function`.)
template <class F>
Function<std::decay_t<F>> function(F &&callable, FunctionOptions options = {},
                                   std::source_location where = WEFT_HERE) {
  const detail::CallLine line(where);
  return {std::forward<F>(callable), std::move(options)};
}

} // namespace weft
