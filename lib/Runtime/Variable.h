// The state behind a variable.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "Support/Fork.h"
#include <weft/shape.h>
#include <weft/tensor.h>

namespace weft {

class ReplicaVariables;
class VariableState;

/// A run of elements, in row-major order, of a whole whose parts the ranks of a group have.
struct VariablePiece {
  Shape whole;
  std::int64_t begin = 0; ///< the number of the first one in the whole
  int ranks = 1;

  /// How many of a part's elements are of the whole; what is behind them makes parts equally long.
  std::int64_t elements(std::int64_t size) const {
    return std::min(size, elements_of_whole() - begin);
  }
  std::int64_t elements_of_whole() const {
    std::int64_t all = 1;
    for (const std::int64_t axis : whole) all *= axis;
    return all;
  }
};

/// "the variable 'w' is cut over 4 ranks", and how it becomes whole, for messages.
std::string said_of_cut(const std::string &subject, int ranks);
inline constexpr std::string_view kGatherOnAll =
    ": call the optimizer's gather_state() on all of them first";

/// That a variable is kept in parts, of which this process has one.
struct VariableCut {
  /// As many elements as all other ranks have, see VariablePiece.
  std::shared_ptr<VariableState> part;
  std::int64_t group = 0; ///< its number in collectives
  int ranks = 1;
  /// The whole value, computed now; all ranks call it.
  std::function<Tensor()> gather;
};

namespace detail {
enum class Aggregation : std::uint8_t;
}

/// Notes, for as long as it lives, which variables traces of this thread write; the innermost
/// alone.
class TracedWrites {
public:
  TracedWrites() : outer_(std::exchange(innermost_, this)) {}
  ~TracedWrites() { innermost_ = outer_; }
  TracedWrites(const TracedWrites &) = delete;
  TracedWrites &operator=(const TracedWrites &) = delete;

  /// In the order in which they were first written.
  const std::vector<std::shared_ptr<VariableState>> &variables() const { return variables_; }

private:
  friend class VariableState;
  void note(VariableState &variable);

  std::vector<std::shared_ptr<VariableState>> variables_;
  TracedWrites *const outer_;
  static thread_local constinit TracedWrites *innermost_ __attribute__((tls_model("initial-exec")));
};

/// Value, name and type of a variable; the type never changes, once there is one. All members may
/// be called from any thread: a reader sees the value before or after an update and nothing in
/// between. A thread that runs a replica has values of its own: see ReplicaVariables.
class VariableState : public std::enable_shared_from_this<VariableState> {
public:
  /// Gives the first value, see VariableInitializer.
  using Initializer =
      std::function<Tensor(const Shape &, DType, const std::optional<std::uint64_t> &seed)>;

  /// Throws StateError for an undefined or a traced value.
  VariableState(const Tensor &value, std::string name, bool trainable);
  /// Stands for a variable of a call while the function is traced, and has no value.
  VariableState(TensorType type, std::string name, bool trainable)
      : name_(std::move(name)), trainable_(trainable), type_(std::move(type)),
        kind_(Kind::stand_in) {}
  /// Has its dtype, but neither shape nor value.
  VariableState(DType dtype, Initializer initializer, std::string name, bool trainable)
      : name_(std::move(name)), trainable_(trainable), type_{dtype, {}}, kind_(Kind::uninitialized),
        number_(next_number()), initializer_(std::move(initializer)) {}
  ~VariableState();
  VariableState(const VariableState &) = delete;
  VariableState &operator=(const VariableState &) = delete;

  const std::string &name() const {
    const std::string *path = path_.load(std::memory_order_acquire);
    return path == nullptr ? name_ : *path;
  }
  /// Gives it a name, if it has had none of its maker's; the first one stays.
  void name_by_path(const std::string &path);
  /// That it was created without a name.
  void name_is_made_up() { made_up_ = true; }
  bool trainable() const { return trainable_; }
  /// That it is the state of a generator of random numbers.
  void is_of_generator() { of_generator_.store(true, std::memory_order_relaxed); }
  bool of_generator() const { return of_generator_.load(std::memory_order_relaxed); }
  /// How what two replicas count from 0 becomes one value, where it is not their sum.
  using Merge = Tensor (*)(const Tensor &, const Tensor &);
  void merges_by(Merge merge) { merge_.store(merge, std::memory_order_relaxed); }
  Merge merge() const { return merge_.load(std::memory_order_relaxed); }
  /// What the values that replicas give it become, where that is not what its dtype says.
  void aggregates_by(detail::Aggregation how) {
    aggregation_.store(static_cast<std::int8_t>(how), std::memory_order_relaxed);
  }
  std::optional<detail::Aggregation> aggregation() const {
    const std::int8_t how = aggregation_.load(std::memory_order_relaxed);
    if (how < 0) return std::nullopt;
    return static_cast<detail::Aggregation>(how);
  }
  /// That its elements, of one dimension, are a part of a whole; said by who makes it, once.
  void is_piece(VariablePiece piece) {
    piece_ = std::make_unique<const VariablePiece>(std::move(piece));
  }
  /// What it is a part of; null if it is whole.
  const VariablePiece *piece() const { return piece_.get(); }
  /// Keeps a part of the value in its place: reads gather it, and what is stored leaves this rank's
  /// part.
  void cut(VariableCut cut);
  /// Has its value again. Functions that were compiled with its part get a StateError.
  void join(const Tensor &value);
  /// Who has the parts; null if the value is here.
  std::shared_ptr<const VariableCut> cut() const {
    if (!is_cut_.load(std::memory_order_acquire)) [[likely]]
      return nullptr;
    const std::lock_guard lock(mutex_);
    return cut_;
  }
  /// How often variables were cut or joined in this process.
  static std::uint64_t cuts() { return cuts_.load(std::memory_order_acquire); }
  /// Gives the memory of the value back, for good: who uses the variable from now on, as a function
  /// that was compiled with it, gets a StateError that says so. `why` lives for ever.
  void retire(const char *why);
  /// That a trace has an op that writes it.
  void note_traced_write() {
    if (TracedWrites::innermost_ != nullptr) [[unlikely]]
      TracedWrites::innermost_->note(*this);
  }
  /// Throws StateError if it is uninitialized.
  const TensorType &type() const {
    if (kind() == Kind::uninitialized) [[unlikely]]
      refuse_uninitialized();
    return type_;
  }
  /// What the replica that this thread runs has in its place, which a compiled call holds; itself
  /// outside of replicas. `writes` says whether the call does.
  VariableState &for_call(bool writes) {
    if (replica_ == nullptr) [[likely]]
      return *this;
    return for_call_of_replica(writes);
  }
  /// Where its value is, and stays; the CPU if it has none.
  Device device() const;
  /// Also of one that is uninitialized.
  DType dtype() const { return type_.dtype; }
  /// Whether it stands for a variable of a call.
  bool stands_in() const { return kind() == Kind::stand_in; }
  bool initialized() const { return kind() != Kind::uninitialized; }
  /// Of an uninitialized one: as no other in this process has.
  std::uint64_t number() const { return number_; }

  /// Gives it the shape and, as one step, the value that was kept for it or else
  /// `draw(initializer, seed)`, if it has none. Throws ShapeError if the kept one has another
  /// shape.
  template <class Draw>
  void initialize(const Shape &shape, const Draw &draw) {
    std::unique_lock lock(mutex_);
    if (kind() != Kind::uninitialized) return;
    check_kept(shape);
    if (!kept_.defined()) {
      // An initializer of the user may wait for what a thread holds that waits here, such as the
      // lock of Python. Where two threads draw, the first has it.
      const auto seed = seed_;
      lock.unlock();
      const Tensor drawn = draw(initializer_, seed);
      lock.lock();
      if (kind() != Kind::uninitialized) return;
      if (!kept_.defined()) return become(drawn);
      check_kept(shape);
    }
    become(kept_);
  }
  /// Keeps its first value, of its dtype, for when it is initialized; false if it is already.
  bool keep_first(const Tensor &value);
  /// Whether a kept value still waits, and the shape it has.
  bool waits() const { return kept_shape().has_value(); }
  std::optional<Shape> kept_shape() const;
  /// The seed of its first value from now on; whether it draws one.
  bool seed(std::uint64_t seed);
  const Initializer &initializer() const { return initializer_; }
  /// The same without name and value, or, if it is initialized, with its value.
  std::shared_ptr<VariableState> clone() const;

  /// The present value. Throws StateError inside a host call of a compiled call that updates the
  /// variable: which value that is would depend on the compiler. So do the members that change it,
  /// inside host calls and sinks of compiled calls that read or update it.
  Tensor load() const;
  /// `value` must be of the variable's type.
  void store(const Tensor &value);
  /// Throws StateError where store() would, for who is to assign several variables or none.
  void check_may_assign() const;
  /// Replaces the value by `update(value)`, which is of the variable's type, as one step.
  template <class Update>
  void modify(const Update &update) {
    check_may_assign();
    if (VariableState *const own = of_replica_to_write()) return own->modify(update);
    if (const auto cut = this->cut()) return store(update(cut->gather()));
    const std::lock_guard lock(mutex_);
    replace(update(load_of_all()));
  }

  /// Holds the variable for a compiled call that will write it in place: until unlock_update other
  /// threads wait. Whoever holds several locks them in the order of their addresses. Throws
  /// StateError if a call around this one, on the same thread, holds it or has read it.
  void lock_update();
  void unlock_update();
  /// The contiguous elements of the value, which nobody else holds: the tensor's own when the
  /// variable is its only owner, otherwise those of a copy. Call between lock and unlock.
  void *update_buffer();

  /// Whether the value is on a device other than the CPU, without a wait.
  bool elsewhere() const {
    if (replica_ != nullptr) [[unlikely]]
      return device() != Device();
    const auto cut = this->cut();
    return cut == nullptr ? elsewhere_.load(std::memory_order_relaxed) : cut->part->elsewhere();
  }
  /// The value, contiguous, on a device, where it stays from now on unless a call is using it, or
  /// a replica reads it.
  Tensor load_on(Device device);
  /// As update_buffer, on a device, where the value stays.
  void *update_buffer_on(Device device);

private:
  friend class ReplicaVariables;
  enum class Kind : std::uint8_t { value, stand_in, uninitialized };
  Kind kind() const { return kind_.load(std::memory_order_acquire); }
  static std::uint64_t next_number();
  [[noreturn]] void refuse_uninitialized() const;
  /// Throws StateError if there is no value.
  void check_value() const;
  void check_kept(const Shape &shape) const;
  void become(const Tensor &value);
  void replace(const Tensor &value);
  /// Before each write, with the lock held.
  void drop_copies() {
    if (!copies_.empty()) [[unlikely]]
      copies_.clear();
  }
  /// The value that all have who are not in a replica.
  Tensor load_of_all() const;
  /// The same, contiguous, on a device; kept until the variable is written.
  Tensor copy_on(Device device) const;
  /// One with that value that a replica has in the place of this one.
  std::shared_ptr<VariableState> of_replica(const Tensor &value) const;
  /// What this thread's replica has in its place; null where it has nothing of its own.
  VariableState *of_replica_to_write();
  VariableState &for_call_of_replica(bool writes);
  void move_to(Device device);
  [[noreturn]] void refuse_cut() const;
  void refuse_read() const;
  /// Finds out, with the lock held, what a fork left of the value.
  void check_fork() const;

  // Recursive: a print sink called from inside the update may read the variable.
  mutable forks::Mutex<std::recursive_mutex> mutex_;
  mutable bool updating_ = false;               ///< the elements are being written in place
  mutable bool lost_ = false;                   ///< they were, by a thread that a fork left behind
  std::atomic<const char *> retired_ = nullptr; ///< why it has no value any more
  std::unique_ptr<const VariablePiece> piece_;
  std::shared_ptr<const VariableCut> cut_;
  std::atomic<bool> is_cut_ = false; ///< whether there is a cut_
  static std::atomic<std::uint64_t> cuts_;
  Tensor value_;                       ///< contiguous
  mutable std::vector<Tensor> copies_; ///< of the value, on other devices
  bool of_replica_ = false;            ///< it is what a replica has in the place of another
  const std::string name_;
  const bool trainable_;
  bool made_up_ = false; ///< the name
  TensorType type_;      ///< written once, before kind_ becomes `value`
  std::atomic<Kind> kind_ = Kind::value;
  std::atomic<bool> elsewhere_ = false;
  std::atomic<bool> of_generator_ = false;
  std::atomic<Merge> merge_ = nullptr;
  std::atomic<std::int8_t> aggregation_ = -1; ///< a detail::Aggregation, if it is said
  std::atomic<const std::string *> path_ = nullptr;
  const std::uint64_t number_ = 0;
  Initializer initializer_; ///< null if it was created with a value, or others give it one
  std::optional<std::uint64_t> seed_;
  Tensor kept_; ///< its first value, restored before it had a shape
  static thread_local constinit ReplicaVariables *replica_
      __attribute__((tls_model("initial-exec")));
};

/// Holds variables so that no update comes between what is done with them, in the order of their
/// addresses as compiled calls do. Throws StateError where VariableState::lock_update does.
class HeldVariables {
public:
  /// They must live as long as this, and be given once each.
  explicit HeldVariables(std::vector<VariableState *> states);
  ~HeldVariables() { release(); }
  HeldVariables(const HeldVariables &) = delete;
  HeldVariables &operator=(const HeldVariables &) = delete;

private:
  void release();

  std::vector<VariableState *> states_;
  std::size_t locked_ = 0;
};

/// Says which variables compiled code uses, for as long as it runs: what it calls on this thread
/// must not assign them, for it has read their values.
class VariablesInUse {
public:
  /// They must live as long as this.
  explicit VariablesInUse(std::span<VariableState *const> variables);
  ~VariablesInUse();
  VariablesInUse(const VariablesInUse &) = delete;
  VariablesInUse &operator=(const VariablesInUse &) = delete;

  /// Whether a call of this thread uses it.
  static bool has(const VariableState &variable);

private:
  std::span<VariableState *const> variables_;
  const VariablesInUse *outer_;
  static thread_local constinit const VariablesInUse *innermost_
      __attribute__((tls_model("initial-exec")));
};

/// Throws DTypeError or ShapeError, naming `op` and the variable, unless a value of that type may
/// be assigned; unknown sizes fit any.
void check_assignable(std::string_view op, const VariableState &variable, const TensorType &type);

} // namespace weft
