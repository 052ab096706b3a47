// Interpreters: who executes an op call. None means eager; tapes and tracers are the others.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "OpDefs/OpInfo.h"
#include "Program/Program.h"
#include <weft/detail/body.h>
#include <weft/source.h>
#include <weft/tensor.h>

namespace weft {

/// One call of an op: operands are of the right dtypes (promotion is done) and its type is checked
/// by whoever executes it.
struct OpCall {
  OpCode op;
  std::span<const Tensor> operands;
  const Attrs &attrs;
  std::span<Tensor> more = {}; ///< where the results behind the first go
};

/// A host call, for an interpreter that records it.
struct HostCall {
  HostFunctionRef function;
  bool pure;
  std::span<const TensorType> results;
};

/// A call of a recorded program with tangents of its operands in `wrt`, for an interpreter that
/// records it.
struct PushCall {
  std::shared_ptr<const Program> program;
  std::vector<std::uint32_t> wrt;
  bool ends_at_hosts; ///< see Recording
};

/// One use of control flow, or a host call, for an interpreter that records it; operands and bodies
/// are those of the kind. `name` is the C++ function, for messages.
struct ConstructCall {
  ConstructKind kind;
  std::string_view name;
  std::span<const Tensor> operands;
  std::span<const detail::Body> bodies;
  std::int64_t step = 1; ///< of a counted loop
  const HostCall *host = nullptr;
  const PushCall *push = nullptr;
};

/// Why a derivative cannot go on, and the line of what it would go through.
struct Refusal {
  std::string message;
  SourceLocation location;

  /// Throws StateError.
  [[noreturn]] void raise() const;
};
using RefusalRef = std::shared_ptr<const Refusal>;

/// A result of a program that has no derivative by some of the operands, which are numbered.
struct RefusedResult {
  std::uint32_t result = 0;
  std::vector<std::uint32_t> operands;
  RefusalRef refusal;
};

/// Says how cotangents go from `results` to `operands`: by `pullback`, whatever computed the
/// results. It takes a cotangent per result, and gives one per operand, undefined where there is
/// none.
struct PullbackCall {
  std::string_view name; ///< for messages
  std::span<const Tensor> operands;
  std::span<const Tensor> results;
  const detail::Body &pullback;
  /// Whether it is the derivative that the ops behind the results have anyway, so that a trace need
  /// not keep it.
  bool natural = false;
  /// Whether a trace keeps it all the same, for what it runs again, unless it uses floating values
  /// that are no operands, whose derivatives would be lost.
  bool again = false;
  /// Whether a floating result without cotangent has zeros given; else it has an undefined tensor.
  bool zeros = true;
  /// The pullback for who runs it before the call ends, as layers want it seen; null if they do
  /// not.
  const detail::Body *traced = nullptr;
  /// If given, there is no derivative by the operands from number `refused` on: who asks for one
  /// gets this. The pullback gives those of the operands before.
  RefusalRef refusal = nullptr;
  std::size_t refused = 0;
};

/// Control flow in a trace that was kept whole for its derivative, by a tracer.
struct Recording {
  std::vector<Tensor> results;
  /// What it used of the values around it; `wrt` numbers those that pulling gives cotangents of.
  std::vector<Tensor> operands;
  std::vector<std::uint32_t> wrt;
  std::shared_ptr<const Program> program;  ///< of the operands
  std::uint32_t number = 0;                ///< in its trace
  std::vector<RefusedResult> refused = {}; ///< what its host calls computed
  /// Whether that is all, so that what the compiler differentiates may end at host calls.
  bool ends_at_hosts = false;
};

/// Whether the derivative by a value is wanted.
using IsWatched = std::function<bool(const Tensor &)>;

/// The type of a traced value, and its shape in the call that is traced, as detail::hint_of has it.
struct TracedType {
  TracedType(TensorType type) : type(std::move(type)), hint(this->type.shape) {}
  TracedType(TensorType type, Shape hint) : type(std::move(type)), hint(std::move(hint)) {}
  explicit TracedType(const Tensor &tensor)
      : type(detail::type_of(tensor)), hint(detail::hint_of(tensor)) {}

  TensorType type;
  Shape hint;
};

/// Executes op calls in place of the eager runtime while it is current on its thread. It knows its
/// predecessor and does its own work under it, so that a tape inside a trace records and its
/// gradient rules are traced, and nested tapes see each other's gradients (the second autodidax).
class Interpreter {
public:
  virtual ~Interpreter() = default;

  /// Executes the call and gives its first result; undefined for ops without one.
  virtual Tensor apply(const OpCall &call) = 0;

  /// Whether values are to come, so that control flow on them must be recorded whole. If not,
  /// constructs run on values, one op call after the other, and `construct` is not asked.
  virtual bool traces() const { return previous_ != nullptr && previous_->traces(); }
  /// Records control flow and gives its results; only where `traces()`.
  virtual std::vector<Tensor> construct(const ConstructCall &call) {
    const Scope under(previous_);
    return previous_->construct(call);
  }

  /// Records a body as a function of all values it uses, for its derivative by those that are
  /// watched, of which derivatives may be taken `orders` times; only where `traces()`. `name` is
  /// for messages and the IR.
  virtual Recording record(std::string_view name, const detail::Body &body,
                           const IsWatched &watched, std::uint32_t orders) {
    const Scope under(previous_);
    return previous_->record(name, body, watched, orders);
  }
  /// The cotangents of a recording's operands in `wrt` for one per floating result.
  virtual std::vector<Tensor> pull(const Recording &recording, std::span<const Tensor> cotangents) {
    const Scope under(previous_);
    return previous_->pull(recording, cotangents);
  }
  /// Pulls in a recording of its own, for the derivative of the derivative: its operands are those
  /// of the recording, which is made anew, and the cotangents.
  virtual Recording record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                                const IsWatched &watched) {
    const Scope under(previous_);
    return previous_->record_pull(recording, cotangents, watched);
  }

  /// The types of what a body gives for inputs of these types, recording nothing; only where
  /// `traces()`. `name` is for messages.
  virtual std::vector<TracedType> types_of(std::string_view name, const detail::Body &body,
                                           std::span<const TracedType> inputs) {
    const Scope under(previous_);
    return previous_->types_of(name, body, inputs);
  }

  /// Suspends and resumes the recording of derivatives; calls nest.
  virtual void pause() {}
  virtual void resume() {}
  /// New tensors with the values of the results, whose cotangents the pullback takes.
  virtual std::vector<Tensor> attach_pullback(const PullbackCall &call);

  /// Whether it needs no more of a call than the pullback of its results, so that a compiled
  /// function need not show its ops.
  virtual bool takes_pullbacks() const { return false; }
  /// Whether it records calls for derivatives now.
  virtual bool records() const { return false; }
  /// Whether it follows a value, or would follow what a read of the variable gives.
  virtual bool watches(const Tensor &) const { return false; }
  virtual bool watches(const VariableRef &) const { return false; }
  /// Runs what takes tensors with elements, and not through op calls: once, or once for each of the
  /// tensors that one stands for.
  virtual std::vector<Tensor> whole(const detail::Body &body, std::span<const Tensor> inputs) {
    return previous_ == nullptr ? body(inputs) : previous_->whole(body, inputs);
  }

  /// The value that a traced tensor has already, for a new variable of that name. Throws
  /// StateError if it depends on what is known only when the function runs.
  virtual Tensor initial_value(const Tensor &tensor, const std::string &name) {
    return previous_ == nullptr ? tensor : previous_->initial_value(tensor, name);
  }
  /// A variable was made.
  virtual void note_made(const VariableRef &variable) {
    if (previous_ != nullptr) previous_->note_made(variable);
  }

  Interpreter *previous() const { return previous_; }

  /// The interpreter of this thread; null is eager.
  static Interpreter *current() { return current_; }

  /// Whether what this thread computes now is seen by no tape, nor by anyone else. A tape whose
  /// gradient is being taken stands aside.
  static bool nobody_records();

  /// Whether calls of this thread come to this interpreter now: not if it is not in the chain, or
  /// if a scope has set another chain aside, as a trace does with what stands around it.
  bool is_active() const;

  /// Whether this thread is in a scope.
  static bool in_scope() { return scopes_ != nullptr; }

  /// Makes an interpreter current for the life of the scope.
  class Scope {
  public:
    explicit Scope(Interpreter *interpreter) : saved_(current_), around_(scopes_) {
      current_ = interpreter;
      scopes_ = this;
    }
    ~Scope() {
      current_ = saved_;
      scopes_ = around_;
    }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    friend void pop_interpreter(Interpreter *);
    Interpreter *saved_;
    Scope *around_;
  };

protected:
  Interpreter *previous_ = nullptr;

private:
  friend void push_interpreter(Interpreter *);
  friend void pop_interpreter(Interpreter *);
  // Initial-exec: one instruction to read, where a shared library would otherwise call a function.
  static thread_local constinit Interpreter *current_ __attribute__((tls_model("initial-exec")));
  /// The innermost scope.
  static thread_local constinit Scope *scopes_ __attribute__((tls_model("initial-exec")));
};

/// Makes `interpreter` current with the present one as its predecessor.
void push_interpreter(Interpreter *interpreter);
/// Takes it away again, wherever it stands in the chain of this thread, and in those that scopes
/// have set aside: tapes need not end in the order they began.
void pop_interpreter(Interpreter *interpreter);

/// Executes a call on the current interpreter, or eagerly, and gives its first result.
Tensor dispatch(const OpCall &call);
inline Tensor dispatch(OpCode op, std::span<const Tensor> operands, const Attrs &attrs = {}) {
  return dispatch(OpCall{op, operands, attrs});
}
/// The same with all results.
std::vector<Tensor> dispatch_all(OpCode op, std::span<const Tensor> operands,
                                 const Attrs &attrs = {});

/// Attaches a pullback on the current interpreter and all before it.
std::vector<Tensor> attach_pullback(const PullbackCall &call);

/// `results`, which were computed from `operands` by what has no derivative.
std::vector<Tensor> refuse_derivatives(std::string_view name, std::span<const Tensor> operands,
                                       std::span<const Tensor> results, RefusalRef refusal);

/// Whether anyone on this thread follows a value, or would follow what a read of a variable gives.
template <class Value>
bool is_watched(const Value &value) {
  for (Interpreter *i = Interpreter::current(); i != nullptr; i = i->previous())
    if (i->watches(value)) return true;
  return false;
}

/// Runs a body by Interpreter::whole.
std::vector<Tensor> run_whole(const detail::Body &body, std::span<const Tensor> inputs);

} // namespace weft
