// The tracer: the interpreter that records op calls and control flow as a program.
#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <typeinfo>
#include <unordered_map>

#include "Device/Device.h"
#include "Ops/Interpreter.h"
#include "Program/Program.h"
#include "Support/Fault.h"
#include <weft/detail/signature.h>
#include <weft/detail/staging.h>

namespace weft {

/// Records the calls that happen while it is current. Its traced tensors hold a reference to the
/// trace's name only, so that one which escapes can say where it came from.
class Tracer final : public Interpreter {
public:
  struct Options {
    std::string name;
    /// Whether inputs have hints, what the open sizes are in the call that is traced. Who asks for
    /// the number of a size is told it, and the trace is pinned.
    bool for_call = false;
    std::string checkpoint = {}; ///< FunctionOptions::checkpoint
    bool tf32 = false;           ///< FunctionOptions::tf32
    /// Pullbacks that use themselves are recorded for derivatives of this order.
    std::uint32_t orders = 1;
  };
  explicit Tracer(Options options);
  ~Tracer() override;

  /// A new input of the program. Its named sizes are those of the shape `names`, if it has some.
  Tensor input(const TracedType &type, const Shape &names = {});
  /// New parameters for these variables of the call that is traced: what stands in for them.
  const std::vector<VariableRef> &parameters(std::span<const detail::VariablePointer> variables);
  /// A call of another traced function. `variables` bind its parameters.
  std::vector<Tensor> call(const std::shared_ptr<const Program> &callee,
                           std::span<detail::TensorImpl *const> inputs,
                           std::span<const detail::VariablePointer> variables);
  Tensor apply(const OpCall &call) override;
  std::vector<Tensor> construct(const ConstructCall &call) override;
  bool traces() const override { return true; }
  Recording record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                   std::uint32_t orders) override;
  std::vector<Tensor> pull(const Recording &recording, std::span<const Tensor> cotangents) override;
  Recording record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                        const IsWatched &watched) override;
  /// The types of what `body` gives for inputs of these types; what it does is not recorded.
  std::vector<TracedType> types_of(std::string_view name, const detail::Body &body,
                                   std::span<const TracedType> inputs) override;
  std::vector<Tensor> attach_pullback(const PullbackCall &call) override;
  Tensor initial_value(const Tensor &tensor, const std::string &name) override;
  void note_made(const VariableRef &variable) override { made_.push_back(variable); }

  /// The first op of the innermost region so far that may not happen twice; empty if none.
  std::string_view effect();

  bool for_call() const { return hints_ != nullptr; }
  /// Derivatives of which order of the program are wanted.
  std::uint32_t orders() const { return orders_; }
  /// Whether the program is right for calls of the sizes that it was traced for only.
  bool pinned() const { return pinned_; }
  void pin() { pinned_ = pinned_ || for_call(); }
  /// Whether it took something from a trace around it, and so is good for one use there only.
  bool uses_outer_trace() const { return uses_outer_; }
  /// Whether the program reached the variable of that parameter by itself, too.
  const std::vector<bool> &captured_parameters() const { return captured_parameters_; }

  /// How many nodes the traces of this thread have recorded.
  static std::uint64_t recorded() { return recorded_; }
  /// What is asked for lines where no line of C++ is known.
  static void set_line_finder(detail::ForeignLine (*finder)()) {
    line_finder_.store(finder, std::memory_order_relaxed);
  }

  /// Ends the trace with these results and hands out the program. One that is pinned is of the
  /// sizes that it was traced for, as if these had been known from the start.
  Program finish(std::span<const Tensor> results);

private:
  const device::ScopesCount on_host_{false};

  /// What traced tensors point to.
  struct Ref : detail::TraceRef {
    std::string function;
    Tracer *tracer = nullptr; ///< null when the trace has ended
  };
  /// Who wrote a pullback: functions of one type and name are taken for one.
  using Author = std::pair<const std::type_info *, std::string>;
  /// A region that is being traced.
  struct Open {
    ProgramRegion region;
    std::uint32_t number;
  };

  ProgramRegion trace_region(std::string_view name, const detail::Body &body,
                             std::span<const TracedType> arguments);
  /// Traces `body` on tensors of these types as a program of its own.
  std::shared_ptr<const Program> trace_apart(const std::string &name,
                                             std::span<const TracedType> inputs,
                                             const detail::Body &body, const IsWatched &watched,
                                             std::uint32_t orders,
                                             std::optional<Author> pullback = std::nullopt);
  /// Adds a record of a program on these values.
  Recording add_record(std::shared_ptr<const Program> program, std::vector<Tensor> inputs,
                       const IsWatched &watched);
  /// Adds the record, and fills in its number and results.
  void call_recorded(Recording &recording);
  /// Adds a call of `callee`, or a record.
  std::vector<Tensor> add_call(ConstructKind kind, const std::shared_ptr<const Program> &callee,
                               std::span<const Tensor> operands,
                               std::span<const detail::VariablePointer> variables);
  /// The same, with results of these types.
  std::vector<Tensor> add_call(ConstructKind kind, const std::shared_ptr<const Program> &callee,
                               std::span<const Tensor> operands,
                               std::span<const detail::VariablePointer> variables,
                               std::span<const TracedType> types);
  /// Traces the pullback, and adds the construct that gives the results with it; nothing if no
  /// result is floating, or if that would lose derivatives, see PullbackCall::again.
  std::optional<std::vector<Tensor>> add_custom(const PullbackCall &call);
  std::vector<Tensor> trace_host(const ConstructCall &call);
  std::vector<Tensor> trace_push(const ConstructCall &call);
  std::vector<Tensor> trace_choice(const ConstructCall &call);
  std::vector<Tensor> trace_loop(const ConstructCall &call);
  std::vector<Tensor> trace_counted(const ConstructCall &call);
  std::vector<Tensor> add_construct(const ConstructCall &call, std::vector<ProgramRegion> regions,
                                    std::span<const TracedType> types);
  bool is_open(std::uint32_t region) const;
  /// Whether a traced tensor is of this trace.
  bool owns(const Tensor &tensor) const {
    return static_cast<detail::TraceRef *>(tensor.impl()->base) == ref_;
  }
  std::vector<ProgramNode> &nodes() {
    return open_.empty() ? program_.nodes : open_.back().region.nodes;
  }

  /// The value of an operand: of this trace, or an eager tensor, which becomes a constant if it has
  /// one element (the compiler may fold it) and a hidden input otherwise.
  ValueId value_of(const Tensor &tensor);
  /// The line that this thread is doing a call of, for a node that is recorded now.
  ProgramLocation here();
  /// The number of a file of the program.
  std::uint32_t file_number(const char *name);
  ValueId add_value(TracedType type);
  TracedType type_of(ValueId value) const;
  std::vector<TracedType> types_of(const std::vector<ValueId> &values) const;
  /// The types of the callee's outputs.
  std::vector<TracedType> output_types(const Program &callee) const;
  /// What the size of an axis is in the call, or the value of a scalar (`axis` -1).
  std::int64_t hint(ValueId value, int axis) const;
  /// The types of a call's results, at least one; throws what is wrong with it.
  std::vector<TracedType> infer_results(const OpCall &call, const ProgramNode &node);
  /// Keeps the value of what is computed of sizes and constants alone.
  void keep_value(const OpCall &call, const ProgramNode &node);
  /// Makes the program one of the sizes that it was traced for.
  void specialize();
  /// The size of an axis if there is no need of a call of the op `size`.
  std::optional<Tensor> known_size(const OpCall &call);
  /// The axis that tells a size: the first one of its name.
  std::pair<ValueId, std::int64_t> first_of_name(ValueId value, std::int64_t axis) const;
  Tensor wrap(ValueId value);
  ValueId add_constant(const Tensor &tensor);
  /// Takes an eager tensor, or one of a trace around this one, as a hidden input.
  ValueId add_capture(const Tensor &tensor);
  void note_variable(const VariableRef &variable, bool written);
  /// The variable as this trace knows it: a stand-in for one of the arguments.
  VariableRef known(const VariableRef &variable);
  /// The trace around this one that these belong to, or null.
  Tracer *outer_of(const Ref *ref) const;
  Tracer *outer_of(const VariableRef &parameter) const;
  /// All nodes until now, in the order of the calls, those of open regions last.
  std::vector<const ProgramNode *> nodes_so_far() const;
  /// Throws StateError for a variable that was created here and that nobody else keeps.
  void check_made() const;

  static thread_local constinit std::uint64_t recorded_;
  static std::atomic<detail::ForeignLine (*)()> line_finder_;

  Program program_;
  Ref *ref_;
  bool uses_outer_ = false;
  std::uint32_t records_ = 0; ///< how many records there were
  std::uint32_t orders_;
  std::vector<Author> pullbacks_;   ///< those that are being traced around this, and this
  IsWatched never_a_constant_;      ///< eager tensors that stay values, whatever their size
  std::vector<VariableRef> actual_; ///< the variables of the call, in the order of the parameters
  std::vector<bool> captured_parameters_;
  std::vector<std::weak_ptr<VariableState>> made_;
  const char *last_file_ = nullptr; ///< the name that `here` saw last, and its number
  std::uint32_t last_file_number_ = 0;
  std::shared_ptr<ProgramHints> hints_; ///< null unless it is for a call
  bool pinned_ = false;
  std::optional<Fault> only_at_run_time_; ///< what such a call's sizes let fail, if that is reached
  /// Sizes that were asked for.
  std::map<std::pair<ValueId, std::int64_t>, Tensor> sizes_;
  std::vector<Open> open_;    ///< the regions being traced, outermost first
  std::uint32_t regions_ = 0; ///< how many regions there were, of which 0 is the function's body
  std::vector<std::uint32_t> region_of_; ///< where each value was created
  /// Values of the eager tensors seen so far, by their impl; `alive_` keeps the addresses taken.
  std::unordered_map<const void *, ValueId> captured_;
  std::vector<Tensor> alive_;
};

} // namespace weft
