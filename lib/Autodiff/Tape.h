// The tape: the interpreter that records what gradients need, and runs the rules backwards.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "Autodiff/IdentityMap.h"
#include "Ops/Interpreter.h"
#include "Support/Fork.h"
#include <weft/gradient_tape.h>

namespace weft::autodiff {

class Tape;

/// Where the tapes of a thread belong. One that ends on another thread cannot be taken out of its
/// own thread's chain of interpreters there: it is left here, and its thread ends it.
class TapeHome {
public:
  TapeHome();

  /// This thread's.
  static std::shared_ptr<TapeHome> here();
  /// Whether it is that of the thread that asks, which may be about to end.
  bool is_here() const;

  /// Ends a tape from another thread, or while it executes a call: at once if its thread is gone.
  void leave(Tape *tape);
  /// Ends the tapes that were left, on their thread; for good when that ends.
  void clear(bool for_good);

private:
  const std::uint64_t thread_;
  forks::Mutex<std::mutex> mutex_;
  std::vector<Tape *> left_;
  bool gone_ = false;
};

/// Records the calls of its thread that a watched tensor takes part in: operands by their identity,
/// types, and the values that the op's derivative mentions. Everything of a kind lies in one array,
/// so that recording a call costs a few appends.
class Tape final : public Interpreter {
public:
  explicit Tape(TapeOptions options) : options_(options), home_(TapeHome::here()) {}

  Tensor apply(const OpCall &call) override;
  std::vector<Tensor> construct(const ConstructCall &call) override;
  std::vector<Tensor> attach_pullback(const PullbackCall &call) override;
  Recording record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                   std::uint32_t orders) override;
  std::vector<Tensor> pull(const Recording &recording, std::span<const Tensor> cotangents) override;
  Recording record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                        const IsWatched &watched) override;

  void watch(const Tensor &tensor);
  void watch(const VariableRef &variable);
  std::vector<Tensor> gradient(std::span<const Tensor> targets,
                               std::span<const GradientSource> sources,
                               const GradientOptions &options);
  std::vector<SlicedGradient> sliced_gradient(std::span<const Tensor> targets,
                                              std::span<const GradientSource> sources,
                                              const GradientOptions &options);
  /// The gradients as tensors, undefined where there is none. Each goes to `ready`, with its
  /// number, as soon as it is there, before what comes later on the way back is computed.
  using Ready = std::function<void(std::size_t, const Tensor &)>;
  std::vector<Tensor> gradient_as_ready(const Tensor &target,
                                        std::span<const GradientSource> sources,
                                        const Ready &ready);
  std::vector<Tensor> jacobian(const Tensor &target, std::span<const GradientSource> sources,
                               const JacobianOptions &options);
  Tensor batch_jacobian(const Tensor &target, const GradientSource &source,
                        const JacobianOptions &options);
  std::string explain(const Tensor &target, const GradientSource &source) const;
  /// The value of a variable that is itself a target.
  Tensor read_as_target(const VariableRef &variable);
  const std::vector<VariableRef> &watched_variables() const { return watched_variables_; }
  /// Begins anew: nothing watched, nothing recorded, recording.
  void reset();
  /// Starts or ends recording.
  void start();
  void stop();
  /// Ends recording, also from another thread; calls that still come are handed on.
  void abandon() { abandoned_ = true; }
  /// Suspends recording; calls nest.
  void pause() override { ++paused_; }
  void resume() override { --paused_; }
  bool paused() const { return paused_ != 0; }
  bool takes_pullbacks() const override { return true; }
  bool records() const override { return recording(); }
  bool watches(const Tensor &tensor) const override { return recording() && is_watched(tensor); }
  bool watches(const VariableRef &variable) const override {
    return recording() && would_watch(*variable);
  }

  /// Whether it certainly executes no call now.
  bool is_idle() const { return !running_ || is_active() || !Interpreter::in_scope(); }
  bool recording() const {
    return running_ && paused_ == 0 && !abandoned_.load(std::memory_order_relaxed);
  }
  /// Throws StateError inside a branch or a loop that the tape is about to record as a whole: it
  /// stands in the middle of the chain of interpreters there, and the body is run more than once.
  void check_outside(const char *what) const;
  /// Throws StateError unless this is the thread the tape was created on.
  void check_thread(const char *what) const;
  bool on_own_thread() const { return home_->is_here(); }
  const std::shared_ptr<TapeHome> &home() const { return home_; }

private:
  /// A value that takes part in a recorded call: who it is, its type, and what was saved of it.
  struct Value {
    std::uint64_t identity; ///< 0 if not watched
    std::uint32_t dims;     ///< where in dims_ its sizes begin
    std::int32_t saved;     ///< where in saved_ the tensor is, or -1
    DType dtype;
    std::uint8_t rank;
  };
  /// The `op` of a record whose attribute is the number of a pullback.
  static constexpr OpCode kPullback = static_cast<OpCode>(~std::underlying_type_t<OpCode>{});
  /// What a pullback was attached with.
  struct Attached {
    std::string name;
    std::uint32_t results;
    bool zeros; ///< where there is no cotangent
    detail::Body pullback;
    RefusalRef refusal;    ///< see PullbackCall
    std::uint32_t refused; ///< the first operand of which it speaks
  };
  static constexpr std::uint32_t kNoAttrs = ~std::uint32_t{0};
  /// A recorded call; its operands and then its results lie in values_.
  struct Record {
    OpCode op;
    std::uint16_t operands;
    std::uint32_t first;
    std::uint32_t more;         ///< where in attrs_, or kNoAttrs; of a pullback: in attached_
    std::source_location where; ///< of the call, which its derivative takes over
    const char *function;       ///< so does it this, CallSite::function()
  };

  /// A call that a watched value went into and that has no record, for `explain`.
  struct Unrecorded {
    std::size_t after = 0; ///< how many records there were
    OpCode op;             ///< kPullback for a derivative that the tape itself gave
    bool breaks;           ///< has no derivative; else it takes what comes from a break
    std::uint32_t first = 0, operands = 0; ///< in unrecorded_operands_
    std::uint64_t result;      ///< of an assign: a number that stands for the variable's value
    DType dtype = DType::f32;  ///< of the result
    VariableRef variable = {}; ///< of an assign
    std::source_location where = {};
  };

  /// Executes the call under the predecessor.
  Tensor execute(const OpCall &call);
  /// Executes and records it; `watched` is the first operand that is.
  Tensor record(const OpCall &call, std::size_t watched);
  void note_pullback(std::string_view name, std::span<const Tensor> operands,
                     std::span<const Tensor> results, detail::Body pullback, bool zeros,
                     bool natural, RefusalRef refusal = nullptr, std::size_t refused = 0);
  bool is_watched(const Tensor &tensor) const;
  /// Whether a read of the variable would be watched.
  bool would_watch(const VariableState &variable) const;

  // Control flow in a trace.
  /// What a body does that the tape wants to know of.
  struct Surveyed {
    bool floating = false;              ///< a result is
    bool touched = false;               ///< a watched tensor or variable takes part
    std::vector<VariableRef> variables; ///< that it reads and does not assign
  };
  /// Traces the body and records nothing. Throws StateError if it reads and assigns a variable that
  /// the tape watches.
  Surveyed survey(std::string_view name, const detail::Body &body);
  Recording record(std::string_view name, const detail::Body &body, const Surveyed &surveyed,
                   const IsWatched &watched, std::uint32_t orders);
  void note_recording(std::string_view name, Recording &recording);
  IsWatched either(const IsWatched &watched);
  Tensor read_variable(const OpCall &call);
  /// Notes a value as a read of a variable, if that is watched or may be.
  bool note_read_of(const VariableRef &variable, std::uint64_t identity);
  /// Watches what a read gave, if the variable is watched. True if so.
  bool note_read(const OpCall &call, const Tensor &value);
  /// Notes that a path ends at a call, or that one that has ended goes on through it.
  void note_unrecorded(const OpCall &call, const Tensor &result, bool breaks);
  void note_one_unrecorded(const OpCall &call, const Tensor &result, bool breaks);
  void note_path(Unrecorded call, std::span<const std::uint64_t> operands);
  bool any_broken(std::span<const Tensor> operands);
  /// The same for derivatives that a persistent tape gave while it recorded.
  void note_derivatives(std::span<const GradientSource> sources,
                        std::span<const Tensor> derivatives);
  /// Keeps the name of a construct for as long as the tape has its body run.
  class Inside {
  public:
    Inside(Tape &tape, std::string_view name)
        : tape_(tape), before_(std::exchange(tape.inside_, name)) {}
    ~Inside() { tape_.inside_ = before_; }
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

  private:
    Tape &tape_;
    std::string_view before_;
  };
  std::string_view inside_; ///< the construct whose body is being run, or empty
  /// What leads from a source to a target.
  struct Path {
    bool watched = true;                   ///< the source is
    bool reaches = false;                  ///< the gradient goes all the way
    const Unrecorded *breaks_at = nullptr; ///< where it ends, if the tape saw it
    RefusalRef refusal = nullptr;          ///< what `gradient` throws instead
  };
  Path path_between(const Tensor &target, const GradientSource &source) const;
  static std::string describe(const Path &path, const GradientSource &source);
  /// Warns if a path ends at such a derivative: who asks wants a second one.
  void warn_of_derivatives(std::span<const Tensor> targets, const GradientSource &source) const;
  /// Appends a value, of which nothing is saved.
  Value &add_value(const Tensor &tensor, std::uint64_t identity);
  void save(Value &value, const Tensor &tensor);
  TensorType type_of(const Value &value) const;
  const Attrs &attrs_of(const Record &record) const;
  Attached &attached_to(const Record &record) { return attached_[record.more]; }
  std::span<const Value> results_of(const Record &record) const;
  void clear();
  /// After the one use of a tape that is not persistent.
  void spend();

  // Backwards.
  class Cotangents;
  /// Hides the tape from what its derivatives do, and spends it unless it is persistent, even if
  /// they fail.
  class Use {
  public:
    explicit Use(Tape &tape) : tape_(tape) { tape_.pause(); }
    ~Use() {
      tape_.resume();
      tape_.spend_unless_persistent();
    }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

  private:
    Tape &tape_;
  };
  /// Throws StateError if the tape is spent, or a target or a source is undefined.
  void check_use(std::span<const Tensor> targets, std::span<const GradientSource> sources) const;
  /// Throws ValueError unless there is a weight for each target, or none, and for other options
  /// that cannot be; StateError for an undefined weight.
  static void check_options(std::size_t targets, const GradientOptions &options);
  /// Undefined for a source that is not floating.
  static Tensor zeros_for(const GradientSource &source);
  void spend_unless_persistent() {
    if (!options_.persistent) spend();
  }
  /// The gradients by each source for these seeds of the targets; undefined where nothing connects.
  /// The tape may be used again if it is to `keep` what it saved.
  std::vector<Tensor> run(std::span<const Tensor> targets, std::span<const GradientSource> sources,
                          const std::vector<Tensor> &seeds, bool keep);
  /// Called with the number of each record that has run back.
  using Behind = std::function<void(std::size_t)>;
  void run_all(std::span<const Tensor> targets, std::span<const GradientSource> sources,
               const std::vector<Tensor> &seeds, bool keep, Cotangents &cotangents,
               const Behind &behind = nullptr);
  /// The gradient by a source, of what has been added so far; nothing where nothing connects.
  std::optional<SlicedGradient> sliced(const GradientSource &source, Cotangents &cotangents);
  struct FirstUse {
    std::size_t record, source;
  };
  std::vector<FirstUse> first_uses(std::span<const GradientSource> sources) const;
  std::optional<IndexedSlices> slices_of(const Record &gather, const Tensor &indices,
                                         std::span<const TensorType> types,
                                         const Tensor &cotangent) const;
  std::vector<Tensor> gradients_for(const char *name, const Tensor &target,
                                    std::span<const GradientSource> sources, const Tensor &seeds,
                                    std::int64_t count, bool vectorize);
  /// The same with each op on all seeds, and with one seed at a time.
  std::vector<Tensor> at_once(const char *name, const Tensor &target,
                              std::span<const GradientSource> sources, const Tensor &seeds,
                              std::int64_t count);
  std::vector<Tensor> one_by_one(const Tensor &target, std::span<const GradientSource> sources,
                                 const Tensor &seeds, std::int64_t count);
  void want_sources(std::span<const GradientSource> sources, Cotangents &cotangents);
  void want_what_depends(Cotangents &cotangents);
  void seed(std::span<const Tensor> targets, const std::vector<Tensor> &weights,
            Cotangents &cotangents);
  void run_backwards(Cotangents &cotangents, bool keep, const Behind &behind);
  void run_rule(const Record &record, std::span<const Tensor> given, Cotangents &cotangents);
  void run_pullback(const Record &record, Cotangents &cotangents);
  std::span<const std::uint64_t> identities(const GradientSource &source, std::uint64_t &own) const;

  const TapeOptions options_;
  const std::shared_ptr<TapeHome> home_;
  std::atomic<bool> abandoned_ = false;
  bool running_ = false; ///< in the thread's chain of interpreters
  bool spent_ = false;
  int paused_ = 0;

  IdentitySet watched_; ///< identities of watched tensors and of what was computed from them
  std::vector<Record> records_;
  std::vector<Value> values_;
  std::vector<std::int64_t> dims_;
  std::vector<Attrs> attrs_;
  std::vector<Tensor> saved_;
  std::vector<Attached> attached_;
  /// Variables watched or read, with the identity of each read.
  std::unordered_map<VariableRef, std::vector<std::uint64_t>> reads_;
  std::vector<Unrecorded> unrecorded_;
  std::vector<std::uint64_t> unrecorded_operands_;
  IdentitySet broken_; ///< what depends on watched values by a path without derivative
  std::unordered_map<VariableRef, std::uint64_t> assigned_; ///< with such a value: its number
  std::vector<VariableRef> watched_variables_;              ///< these, in the order they came
};

/// What is said of recursion through pullbacks.
inline constexpr std::string_view kEndlessPullback =
    "its function or its pullback calls it again without end; a pullback may call it, and not ask "
    "for its derivative";

/// Whether shapes are equal where both are known.
bool may_be_equal(const Shape &a, const Shape &b);
/// `value`, whose shape may be equal to that of `like`, and must be: what is known only when the
/// program runs is compared then.
Tensor matched(const Tensor &value, const Tensor &like);
/// Throws ValueError, DTypeError or ShapeError unless a pullback gave a gradient, or an undefined
/// tensor, for each argument of these types.
void check_gradients(std::string_view name, std::span<const Tensor> gradients,
                     std::span<const TensorType> types);
/// The same for arguments that are here, which the gradients are matched with, unless they are the
/// `natural` ones.
void check_gradients(std::string_view name, std::span<Tensor> gradients,
                     std::span<const Tensor> arguments, bool natural = false);

/// The unique number of a tensor, given when first asked for.
std::uint64_t identity_of(const Tensor &tensor);
/// A number that no tensor has.
std::uint64_t new_identity();

/// Throws DTypeError or ShapeError, "WHAT is f32(3,), but WHOSE is f32(2,)", where types differ as
/// far as they are known.
void check_like(const std::string &what, const Tensor &given, const char *whose,
                const Tensor &like);

/// Throws ValueError for a value that is none of its enumeration.
void check_unconnected(Unconnected unconnected);

} // namespace weft::autodiff
