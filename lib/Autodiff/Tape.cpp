// Recording: what the tape keeps of a call.
#include "Autodiff/Tape.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "Autodiff/Rules/Calls.h"
#include "Runtime/NewTensor.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Log.h"
#include "Support/ThreadExit.h"

namespace weft::autodiff {

std::uint64_t new_identity() {
  // Each thread takes numbers by the block, so that threads do not meet at one counter.
  constexpr std::uint64_t block = 1 << 16;
  static std::atomic<std::uint64_t> next_block{0};
  // Initial-exec as Interpreter::current_ is.
  thread_local constinit std::uint64_t next __attribute__((tls_model("initial-exec"))) = 0;
  if (next % block == 0) next = next_block.fetch_add(1, std::memory_order_relaxed) * block + 1;
  return next++;
}

std::uint64_t identity_of(const Tensor &tensor) {
  std::atomic<std::uint64_t> &identity = tensor.impl()->identity;
  if (const std::uint64_t known = identity.load(std::memory_order_relaxed)) return known;
  const std::uint64_t fresh = new_identity();
  if (tensor.impl()->references.load(std::memory_order_relaxed) == 1) { // nobody else sees it
    identity.store(fresh, std::memory_order_relaxed);
    return fresh;
  }
  std::uint64_t present = 0;
  return identity.compare_exchange_strong(present, fresh, std::memory_order_relaxed) ? fresh
                                                                                     : present;
}

namespace {

/// The number of a tensor, 0 if no tape ever asked for it.
std::uint64_t known_identity(const Tensor &tensor) {
  return tensor.defined() ? tensor.impl()->identity.load(std::memory_order_relaxed) : 0;
}

/// Of such a tensor the tape keeps the value, for its shape.
bool of_unknown_size(const Tensor &tensor) {
  return tensor.traced() && !detail::type_of(tensor).shape.is_static();
}

} // namespace

//===----------------------------------------------------------------------===//
// Lives
//===----------------------------------------------------------------------===//

namespace {

/// This thread's home, from its first tape until it ends.
thread_local constinit std::shared_ptr<TapeHome> *own_home = nullptr;

void leave_home() noexcept {
  const std::unique_ptr<std::shared_ptr<TapeHome>> home(std::exchange(own_home, nullptr));
  if (home) (*home)->clear(/*for_good=*/true);
}

/// A number that no other thread of this process has or had.
std::uint64_t thread_number() {
  static std::atomic<std::uint64_t> threads{0};
  thread_local constinit std::uint64_t number = 0;
  if (number == 0) number = threads.fetch_add(1, std::memory_order_relaxed) + 1;
  return number;
}

} // namespace

TapeHome::TapeHome() : thread_(thread_number()) {}

bool TapeHome::is_here() const { return thread_ == thread_number(); }

std::shared_ptr<TapeHome> TapeHome::here() {
  if (own_home == nullptr) {
    own_home = new std::shared_ptr<TapeHome>(std::make_shared<TapeHome>());
    at_thread_end<leave_home>();
  }
  return *own_home;
}

void TapeHome::leave(Tape *tape) {
  std::unique_lock lock(mutex_);
  if (!gone_) {
    left_.push_back(tape);
    return;
  }
  lock.unlock();
  delete tape; // the chain it stood in is no more
}

void TapeHome::clear(bool for_good) {
  if (!for_good && Interpreter::in_scope()) return; // one of them may be executing a call
  std::vector<Tape *> left;
  {
    const std::lock_guard lock(mutex_);
    gone_ = gone_ || for_good;
    left.swap(left_);
  }
  for (Tape *tape : left) {
    tape->stop();
    delete tape;
  }
}

void Tape::start() {
  home_->clear(/*for_good=*/false);
  push_interpreter(this);
  running_ = true;
}

void Tape::stop() {
  if (!running_) return;
  running_ = false;
  pop_interpreter(this);
}

void Tape::clear() {
  watched_.clear();
  records_.clear();
  values_.clear();
  dims_.clear();
  attrs_.clear();
  saved_.clear();
  attached_.clear();
  unrecorded_.clear();
  unrecorded_operands_.clear();
  broken_.clear();
  assigned_.clear();
  reads_.clear();
  watched_variables_.clear();
}

void Tape::spend() {
  spent_ = true;
  stop();
  std::vector<VariableRef> watched = std::move(watched_variables_); // which may still be asked for
  clear();
  watched_variables_ = std::move(watched);
}

void Tape::reset() {
  clear();
  spent_ = false;
  if (!running_) start();
}

void Tape::check_outside(const char *what) const {
  if (!inside_.empty())
    throw StateError(std::string("GradientTape: ") + what + " was called inside " +
                     std::string(inside_) +
                     " of a traced function, which the tape records as a whole; call it behind " +
                     std::string(inside_) + ", or create the tape inside");
  if (running_ && !is_active())
    throw StateError(std::string("GradientTape: ") + what +
                     " was called inside a traced function or a host call, around which the tape "
                     "was created; call it behind, or create the tape inside");
}

void Tape::check_thread(const char *what) const {
  if (!on_own_thread())
    throw StateError(std::string("GradientTape: ") + what +
                     " was called on another thread than the one the tape was created on");
}

namespace {
void warn_unwatched(const std::string &what, DType dtype) {
  warn_line("GradientTape: " + what + " is " + std::string(name_of(dtype)) +
            " and not watched: only floating values have gradients");
}
} // namespace

void Tape::watch(const Tensor &tensor) {
  if (!tensor.defined()) throw StateError("GradientTape: an undefined tensor cannot be watched");
  if (carries_gradient(tensor.dtype())) watched_.insert(identity_of(tensor));
  else warn_unwatched("a tensor", tensor.dtype());
}

void Tape::watch(const VariableRef &variable) {
  if (!carries_gradient(variable->type().dtype))
    warn_unwatched("the variable '" + variable->name() + "'", variable->type().dtype);
  else if (reads_.try_emplace(variable).second) watched_variables_.push_back(variable);
}

//===----------------------------------------------------------------------===//
// Recording
//===----------------------------------------------------------------------===//

Tensor Tape::apply(const OpCall &call) {
  if (op_info(call.op).reads_variable()) return read_variable(call);
  if (!recording() || watched_.empty()) return execute(call);
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    if (watched_.contains(known_identity(call.operands[i]))) return record(call, i);
  Tensor result = execute(call);
  if (any_broken(call.operands)) note_unrecorded(call, result, false);
  return result;
}

Tensor Tape::execute(const OpCall &call) {
  const Scope under(previous_);
  return dispatch(call);
}

Tensor Tape::read_variable(const OpCall &call) {
  Tensor value = execute(call);
  // A variable hands out the tensor it was given, which the program may hold as well, and other
  // variables too; only a read of its own has a gradient of its own. Under another tape, or a
  // tracer, the tensor is a new one already.
  if (previous_ == nullptr) value = detail::new_alias(value);
  note_read(call, value);
  return value;
}

Tensor Tape::read_as_target(const VariableRef &variable) {
  const Variable of(variable);
  // One that records sees the read by itself.
  if (recording() || spent_) return of.value();
  const Tensor value = detail::new_alias(of.value());
  if (carries_gradient(value.dtype())) note_read_of(variable, identity_of(value));
  return value;
}

bool Tape::note_read(const OpCall &call, const Tensor &value) {
  const VariableRef &variable = *variable_in(call.attrs);
  if (!recording() || !carries_gradient(value.dtype())) return false;
  if (!assigned_.empty())
    if (const auto assigned = assigned_.find(variable); assigned != assigned_.end())
      note_path({.op = call.op, .breaks = false, .result = identity_of(value)},
                {&assigned->second, 1});
  return note_read_of(variable, identity_of(value));
}

bool Tape::note_read_of(const VariableRef &variable, std::uint64_t identity) {
  auto reads = reads_.find(variable);
  if (reads == reads_.end()) {
    if (!options_.watch_accessed_variables || !variable->trainable()) return false;
    reads = reads_.try_emplace(variable).first;
    watched_variables_.push_back(variable);
  }
  watched_.insert(identity);
  reads->second.push_back(identity);
  return true;
}

inline __attribute__((always_inline)) Tape::Value &Tape::add_value(const Tensor &tensor,
                                                                   std::uint64_t identity) {
  const detail::TensorImpl *impl = tensor.impl();
  // Most calls have one shape for all, which is stored once.
  const Value *last = values_.empty() ? nullptr : &values_.back();
  bool same = last != nullptr && last->rank == impl->rank;
  for (std::size_t i = 0; same && i < impl->rank; ++i)
    same = impl->dims()[i] == dims_[last->dims + i];
  const auto dims = same ? last->dims : static_cast<std::uint32_t>(dims_.size());
  if (!same)
    for (const std::int64_t size : impl->sizes()) dims_.push_back(size);
  return values_.emplace_back(identity, dims, -1, impl->dtype, impl->rank);
}

Tensor Tape::record(const OpCall &call, std::size_t watched) {
  Tensor result = execute(call);
  const OpInfo &info = op_info(call.op);
  if (!info.differentiable || !result.defined() || !carries_gradient(result.dtype())) {
    note_unrecorded(call, result, true);
    return result;
  }
  // An op that had nothing to do gives its operand back, and the gradient has nothing to do either.
  for (const Tensor &operand : call.operands)
    if (operand.impl() == result.impl()) return result;

  const std::size_t count = call.operands.size(), first = values_.size();
  std::uint32_t saved = 0; // a bit per operand of the op's record, then the result's
  bool traced = false;
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor &operand = call.operands[i];
    std::uint64_t identity = i < watched ? 0 : known_identity(operand);
    if (i == watched || watched_.contains(identity)) saved |= mentioned(info, i);
    else identity = 0;
    add_value(operand, identity);
    traced |= operand.impl()->storage == detail::Storage::traced;
  }
  const auto add_result = [&](const Tensor &one, std::size_t number) {
    const std::uint64_t identity = identity_of(one);
    Value &value = add_value(one, identity);
    if (carries_gradient(one.dtype())) watched_.insert(identity);
    // Of several one may have no cotangent, and zeros of its shape come instead.
    if ((saved & result_bit(info, number)) || (!call.more.empty() && of_unknown_size(one)))
      save(value, one);
  };
  add_result(result, 0);
  for (std::size_t i = 0; i < call.more.size(); ++i) add_result(call.more[i], i + 1);
  if (saved != 0 || traced)
    for (std::size_t i = 0; i < count; ++i)
      if ((saved >> record_place(info, i) & 1) || of_unknown_size(call.operands[i]))
        save(values_[first + i], call.operands[i]);

  std::uint32_t attrs = kNoAttrs;
  if (!call.attrs.empty()) {
    attrs = static_cast<std::uint32_t>(attrs_.size());
    attrs_.push_back(call.attrs);
  }
  records_.emplace_back(call.op, static_cast<std::uint16_t>(count),
                        static_cast<std::uint32_t>(first), attrs, CallSite::current(),
                        CallSite::function());
  if (!broken_.empty() && any_broken(call.operands)) note_unrecorded(call, result, false);
  return result;
}

std::vector<Tensor> Tape::attach_pullback(const PullbackCall &call) {
  std::vector<Tensor> results = Interpreter::attach_pullback(call);
  if (recording())
    note_pullback(call.name, call.operands, results, call.pullback, call.zeros, call.natural,
                  call.refusal, call.refused);
  return results;
}

void Tape::note_pullback(std::string_view name, std::span<const Tensor> operands,
                         std::span<const Tensor> results, detail::Body pullback, bool zeros,
                         bool natural, RefusalRef refusal, std::size_t refused) {
  if (std::ranges::none_of(operands, [&](const Tensor &t) { return is_watched(t); })) return;
  WEFT_INVARIANT(operands.size() <= std::numeric_limits<std::uint16_t>::max(),
                 "a pullback has at most 65535 operands");
  records_.push_back({kPullback, static_cast<std::uint16_t>(operands.size()),
                      static_cast<std::uint32_t>(values_.size()),
                      static_cast<std::uint32_t>(attached_.size()), CallSite::current(),
                      CallSite::function()});
  attached_.push_back({std::string(name), static_cast<std::uint32_t>(results.size()), zeros,
                       std::move(pullback), std::move(refusal),
                       static_cast<std::uint32_t>(refused)});
  for (const Tensor &operand : operands) {
    const bool watched = is_watched(operand);
    Value &value = add_value(operand, watched ? known_identity(operand) : 0);
    // What someone wrote may give a gradient of another shape.
    if (watched && !natural && of_unknown_size(operand)) save(value, operand);
  }
  for (const Tensor &result : results) {
    Value &value = add_value(result, identity_of(result));
    // Where no cotangent comes, zeros of its shape do.
    if (of_unknown_size(result)) save(value, result);
    if (carries_gradient(result.dtype())) watched_.insert(identity_of(result));
  }
}

void Tape::save(Value &value, const Tensor &tensor) {
  value.saved = static_cast<std::int32_t>(saved_.size());
  saved_.push_back(tensor);
}

std::span<const Tape::Value> Tape::results_of(const Record &record) const {
  const std::size_t count =
      record.op == kPullback ? attached_[record.more].results : op_info(record.op).results;
  return std::span(values_).subspan(record.first + record.operands, count);
}

const Attrs &Tape::attrs_of(const Record &record) const {
  static const Attrs none;
  return record.more == kNoAttrs ? none : attrs_[record.more];
}

TensorType Tape::type_of(const Value &value) const {
  return {value.dtype, Shape(std::span(dims_).subspan(value.dims, value.rank))};
}

} // namespace weft::autodiff
