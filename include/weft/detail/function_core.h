// The part of a traced function that does not depend on its C++ type.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <weft/detail/signature.h>
#include <weft/graph.h>
#include <weft/phase.h>

namespace weft {

struct Program;

/// Options of `function`.
struct FunctionOptions {
  /// For messages, profiles and symbols; "function" if empty.
  std::string name = {};
  /// If given: the types that tensor arguments must have, one per tensor in the order of the
  /// arguments; there is one trace, and unknown dimensions stay unknown in it. Of tensors of
  /// `any_rank` there is one trace per rank, in which all their sizes are unknown.
  std::vector<TensorType> signature = {};
  /// Folder that receives the text of every phase of each trace, `NAME.N.PHASE.mlir`; none if
  /// empty.
  std::string dump = {};
  /// How many traces are kept, at least one; beyond that the one unused for longest goes, with its
  /// code.
  std::size_t max_traces = 64;
  /// Whether a call that differs from a trace in sizes of tensors only makes one for all such
  /// sizes. A function that looks at these sizes while it is traced gets exact ones all the same.
  bool reduce_retracing = true;
  /// What derivatives of loops keep of the iterations, where tapes in the function record loops:
  /// "none", everything they need of all iterations; "sqrt", the state of about sqrt(n) of n
  /// iterations, from which the others are run again; "binomial<k>", at most k states at a time;
  /// "bytes<n>", states of at most n bytes at a time. Like "none" if empty. `function` throws
  /// ValueError for anything else (docs/autodiff.md).
  std::string checkpoint = {};
  /// A GPU that calls run on, "gpu:0": arguments and variables are moved there, and variables stay.
  /// Without one they run where their arguments are.
  Device device = {};
  /// Whether products of f32, convolutions among them, may round their factors to tf32 (11 of 24
  /// bits, the range of f32) on GPUs whose tensor cores have it: some times faster, with sums in
  /// f32. Of functions that call each other that of the outermost one counts.
  bool tf32 = false;
};

namespace detail {

class FunctionCore {
public:
  /// Runs the callable on traced inputs and stand-ins for the variables of the arguments, keeps
  /// what it returned, and gives that result's tensors. The result that a later call copies and
  /// fills is kept by the caller of `find`.
  using Tracee = std::function<std::vector<Tensor>(std::span<const Tensor> inputs,
                                                   std::span<const VariablePointer> variables)>;
  class Trace; ///< one trace, compiled when it is first run

  explicit FunctionCore(FunctionOptions options);
  ~FunctionCore();

  /// Whether a trace or a tape is recording on this thread.
  static bool recording();
  /// Whether a call becomes a call in the trace that is recording.
  static bool calls_are_recorded();
  /// Whether none but tapes record, on values, for which a call is one entry (`run_taped`). Where
  /// they must see what is inside, the callable runs instead of the function, `Inlined` meanwhile.
  static bool calls_are_entries();
  class Inlined {
  public:
    /// Throws StateError if functions call each other without end.
    explicit Inlined(const FunctionCore &core);
    ~Inlined();
    Inlined(const Inlined &) = delete;
    Inlined &operator=(const Inlined &) = delete;

  private:
    std::unique_ptr<class TraceFrame> frame_;
  };

  /// The compiled trace of these arguments: found, or traced and compiled now. Concurrent calls
  /// compile once. `prototype` is what the tracee sets, and goes with a new trace.
  /// Errors name the line `where`, that of the call. Throws ValueError for an undefined tensor.
  std::shared_ptr<Trace> find(const std::source_location &where, const ArgumentReader &arguments,
                              const Tracee &tracee, std::shared_ptr<void> &prototype);
  /// Runs it. Results are in the order that the tracee gave them.
  std::vector<Tensor> run(const std::source_location &where, Trace &trace,
                          const ArgumentReader &arguments);
  /// The trace for a call under tapes, compiled or not.
  std::shared_ptr<Trace> find_taped(const std::source_location &where,
                                    const ArgumentReader &arguments, const Tracee &tracee,
                                    std::shared_ptr<void> &prototype);
  /// Runs it and has the tapes note one pullback. Nothing, and nothing has run, if they must see
  /// what is inside.
  std::optional<std::vector<Tensor>> run_taped(const std::source_location &where, Trace &trace,
                                               const ArgumentReader &arguments);
  /// The same as `find` inside another trace, which records a call.
  std::shared_ptr<Trace> find_inside(const std::source_location &where,
                                     const ArgumentReader &arguments, const Tracee &tracee,
                                     std::shared_ptr<void> &prototype);
  std::vector<Tensor> call(const std::source_location &where, Trace &trace,
                           const ArgumentReader &arguments);

  /// What the callable returned while it was traced, for `trace`; its variables may be stand-ins.
  static const std::shared_ptr<void> &prototype(const Trace &trace);
  static std::span<const VariablePointer> stand_ins(const Trace &trace);

  /// What a trace with these types of the tensors records, of which sizes may be unknown; nothing
  /// is compiled or kept. `arguments` differ from them in unknown sizes only.
  std::shared_ptr<const Program> record(const std::source_location &where,
                                        const std::vector<TensorType> &types,
                                        const ArgumentReader &arguments, const Tracee &tracee);
  const FunctionOptions &options() const;

  const CompileReport &report(const Trace &trace) const;
  std::string ir(const ArgumentReader &arguments, const Tracee &tracee, Phase phase);
  Graph graph(const ArgumentReader &arguments, const Tracee &tracee);
  std::string explain(const ArgumentReader &arguments) const;
  std::size_t trace_count() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace detail
} // namespace weft
