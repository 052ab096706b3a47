// Loads, stores and in-place updates of variables.
#include "Runtime/Variable.h"

#include <algorithm>
#include <cstring>

#include "Runtime/HostFunction.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/ReplicaVariables.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include <weft/detail/binding.h>

namespace weft {

using detail::copy_elements;
using detail::copy_of;

namespace {

Tensor checked_initial(const Tensor &value, const std::string &name) {
  if (!value.defined())
    throw StateError("Variable: the initial value of '" + name + "' is an undefined tensor");
  if (value.traced())
    throw StateError(
        "Variable: the initial value of '" + name +
        "' is a value of a trace that has ended; make variables outside traced functions");
  return value;
}

} // namespace

VariableState::VariableState(const Tensor &value, std::string name, bool trainable)
    : value_(detail::committed(make_contiguous(checked_initial(value, name)))),
      name_(std::move(name)), trainable_(trainable), type_(value.type()),
      elsewhere_(!detail::on_cpu(value_)) {}

thread_local constinit TracedWrites *TracedWrites::innermost_
    __attribute__((tls_model("initial-exec"))) = nullptr;

void TracedWrites::note(VariableState &variable) {
  const bool known =
      std::ranges::any_of(variables_, [&](const auto &noted) { return noted.get() == &variable; });
  if (!known) variables_.push_back(variable.shared_from_this());
}

VariableState::~VariableState() { delete path_.load(std::memory_order_relaxed); }

void VariableState::name_by_path(const std::string &path) {
  if (!made_up_ || path.empty() || path_.load(std::memory_order_acquire) != nullptr) return;
  const auto *const name = new std::string(path); // the destructor's, if it is kept
  const std::string *none = nullptr;
  if (!path_.compare_exchange_strong(none, name, std::memory_order_acq_rel)) delete name;
}

std::uint64_t VariableState::next_number() {
  static std::atomic<std::uint64_t> count{0};
  return count.fetch_add(1, std::memory_order_relaxed) + 1;
}

void VariableState::check_kept(const Shape &shape) const {
  if (!kept_.defined() || kept_.shape() == shape) return;
  throw ShapeError("initialize: the variable '" + name() + "' is to be of shape " +
                   to_string(shape) + ", but the value restored for it is " +
                   to_string(kept_.type()));
}

bool VariableState::keep_first(const Tensor &value) {
  const std::lock_guard lock(mutex_);
  if (kind() != Kind::uninitialized) return false;
  kept_ = value;
  return true;
}

std::optional<Shape> VariableState::kept_shape() const {
  const std::lock_guard lock(mutex_);
  if (!kept_.defined()) return std::nullopt;
  return kept_.shape();
}

void VariableState::become(const Tensor &value) {
  const device::ScopesCount on_devices(true); // of a restored value as well
  Tensor first = checked_initial(value, name());
  if (replica_ != nullptr && replica_->home_) first = detail::moved(first, *replica_->home_);
  else first = detail::placed(std::move(first));
  value_ = detail::committed(make_contiguous(first));
  elsewhere_ = !detail::on_cpu(value_);
  kept_ = {};
  if (replica_ != nullptr) replica_->initialized_any_ = true;
  type_.shape = value_.shape();
  kind_.store(Kind::value, std::memory_order_release);
}

bool VariableState::seed(std::uint64_t seed) {
  const std::lock_guard lock(mutex_);
  if (initializer_ == nullptr) return false;
  seed_ = seed;
  return true;
}

Device VariableState::device() const {
  if (kind() != Kind::value) return {};
  if (const auto cut = this->cut()) return cut->part->device();
  if (replica_ != nullptr && !of_replica_) [[unlikely]] {
    if (const VariableState *const own = replica_->find(*this)) return own->device();
    if (replica_->moves(*this)) return *replica_->device();
  }
  const std::lock_guard lock(mutex_);
  return value_.defined() ? value_.device() : Device();
}

std::shared_ptr<VariableState> VariableState::clone() const {
  std::shared_ptr<VariableState> copy;
  if (initialized()) {
    copy = std::make_shared<VariableState>(copy_of(load()), name(), trainable_);
    copy->initializer_ = initializer_;
  } else {
    copy = std::make_shared<VariableState>(type_.dtype, initializer_, name(), trainable_);
  }
  const std::lock_guard lock(mutex_);
  copy->seed_ = seed_;
  copy->kept_ = kept_;
  copy->made_up_ = made_up_;
  copy->of_generator_ = of_generator();
  copy->merge_ = merge();
  copy->aggregation_ = aggregation_.load(std::memory_order_relaxed);
  return copy;
}

void VariableState::refuse_uninitialized() const {
  throw StateError("the variable '" + name() +
                   "' has no shape and value yet: it gets them when its layer is first called, or "
                   "by initialize(shape)");
}

void VariableState::check_value() const {
  if (kind() == Kind::uninitialized) refuse_uninitialized();
  if (kind() == Kind::stand_in)
    throw StateError("the variable '" + name() +
                     "' stands for an argument of a traced function and was used outside of its "
                     "trace: keep the variable that you passed instead");
  if (const char *const why = retired_.load(std::memory_order_acquire))
    throw StateError("the variable '" + name() + "' has no value any more: " + why);
}

void VariableState::retire(const char *why) {
  const std::lock_guard lock(mutex_);
  retired_.store(why, std::memory_order_release);
  value_ = {};
  kept_ = {};
  copies_.clear();
}

std::atomic<std::uint64_t> VariableState::cuts_ = 0;

void VariableState::cut(VariableCut cut) {
  const std::lock_guard lock(mutex_);
  cut_ = std::make_shared<const VariableCut>(std::move(cut));
  is_cut_.store(true, std::memory_order_release);
  value_ = {};
  copies_.clear();
  elsewhere_ = false;
  cuts_.fetch_add(1, std::memory_order_release);
}

void VariableState::join(const Tensor &value) {
  const Device device = this->device();
  const std::lock_guard lock(mutex_);
  cut_->part->retire("it was the part of a variable that is whole again, after the function that "
                     "uses it was compiled: compile it anew");
  copies_.clear();
  value_ = detail::moved(detail::committed(make_contiguous(value)), device);
  elsewhere_ = !detail::on_cpu(value_);
  is_cut_.store(false, std::memory_order_release);
  cut_.reset();
  cuts_.fetch_add(1, std::memory_order_release);
}

std::string said_of_cut(const std::string &subject, int ranks) {
  return subject + " is cut over " + std::to_string(ranks) + " ranks";
}

void VariableState::refuse_cut() const {
  throw StateError(said_of_cut("the variable '" + name() + "'", cut_->ranks) +
                   ", and this wants all of it: read it by value() on all of them, or call "
                   "the optimizer's gather_state() first");
}

thread_local constinit ReplicaVariables *VariableState::replica_
    __attribute__((tls_model("initial-exec"))) = nullptr;

Tensor VariableState::load() const {
  if (replica_ != nullptr && !of_replica_) [[unlikely]] {
    if (const VariableState *const own = replica_->find(*this)) return own->load();
    if (cut() == nullptr) return replica_->read(*this);
  }
  return load_of_all();
}

Tensor VariableState::copy_on(Device device) const {
  Tensor value = load_of_all();
  if (value.device() == device) return value;
  const std::lock_guard lock(mutex_);
  if (updating_) return detail::moved(value, device);
  const auto found =
      std::ranges::find_if(copies_, [&](const Tensor &copy) { return copy.device() == device; });
  return found != copies_.end() ? *found : copies_.emplace_back(detail::moved(value_, device));
}

std::shared_ptr<VariableState> VariableState::of_replica(const Tensor &value) const {
  auto own = std::make_shared<VariableState>(value, name(), trainable_);
  own->of_replica_ = true;
  return own;
}

VariableState *VariableState::of_replica_to_write() {
  return replica_ == nullptr || of_replica_ ? nullptr : replica_->to_write(*this);
}

VariableState &VariableState::for_call_of_replica(bool writes) {
  VariableState *const own = writes ? of_replica_to_write() : replica_->find(*this);
  return own == nullptr ? *this : *own;
}

Tensor VariableState::load_of_all() const {
  check_value();
  const std::lock_guard lock(mutex_);
  if (cut_ != nullptr) [[unlikely]]
    refuse_cut();
  check_fork();
  if (lost_)
    throw StateError("the variable '" + name() +
                     "' was being updated by another thread when this process was forked, and has "
                     "no value here: assign one");
  if (!updating_) return value_;
  // During an update only its own thread comes here, and what it is given must not change any more.
  refuse_read();
  return copy_of(value_);
}

void VariableState::check_fork() const {
  // A thread of this process that updates it is inside of compiled code.
  if (!mutex_.renewed() || !updating_ || VariablesInUse::has(*this)) return;
  updating_ = false;
  lost_ = true;
}

void VariableState::refuse_read() const {
  if (updating_ && in_host_call())
    throw StateError("the variable '" + name() +
                     "' is read by a host call inside of a function that updates it: let the "
                     "function hand its value to the callable");
}

void VariableState::check_may_assign() const {
  check_value();
  if (!VariablesInUse::has(*this)) return;
  const char *const who = in_host_call() ? "a host call" : "the sink of a print";
  throw StateError("the variable '" + name() + "' is assigned by " + who +
                   " inside of a compiled function that uses it: let the function assign what the "
                   "callable of a host call returns");
}

void VariableState::lock_update() {
  mutex_.lock();
  check_fork();
  if (lost_ || retired_ != nullptr || cut_ != nullptr) {
    mutex_.unlock();
    static_cast<void>(load_of_all()); // says so
  }
  if (!updating_ && !VariablesInUse::has(*this)) return;
  const bool updates = updating_;
  mutex_.unlock();
  throw StateError("the variable '" + name() +
                   "' is updated by a call inside of another call that " +
                   (updates ? "updates it" : "reads it"));
}

void VariableState::replace(const Tensor &value) {
  lost_ = false;
  drop_copies();
  // It stays where it is, wherever the value comes from.
  Tensor fresh = detail::committed(make_contiguous(detail::moved(value, value_.device())));
  // Compiled code that is writing knows the buffer by its address.
  if (updating_) copy_elements(fresh, value_);
  else value_.swap(fresh);
}

/// What a part has of a whole, as long as the part.
static Tensor part_of(const Tensor &whole, const VariableState &part) {
  const std::int64_t size = part.type().shape[0], taken = part.piece()->elements(size);
  const Tensor flat = detail::on_host(whole).contiguous();
  const Tensor own = detail::new_tensor(part.dtype(), Shape{size});
  const std::size_t item = item_size(part.dtype());
  const auto bytes = [&](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * item;
  };
  std::byte *const to = own.impl()->data;
  if (taken > 0) std::memcpy(to, flat.impl()->data + bytes(part.piece()->begin), bytes(taken));
  if (taken < size) std::memset(to + bytes(taken), 0, bytes(size - taken));
  return own;
}

void VariableState::store(const Tensor &value) {
  check_may_assign();
  if (VariableState *const own = of_replica_to_write()) return own->store(value);
  if (const auto cut = this->cut()) return cut->part->store(part_of(value, *cut->part));
  const Tensor fresh = make_contiguous(value); // outside of the lock, as far as that is possible
  const std::lock_guard lock(mutex_);
  check_fork();
  replace(fresh);
}

void *VariableState::update_buffer() {
  drop_copies();
  const detail::TensorImpl *impl = value_.impl();
  const bool unique = impl->references.load(std::memory_order_acquire) == 1;
  const bool own =
      impl->storage == detail::Storage::own || impl->storage == detail::Storage::device;
  if (!unique || !own) value_ = copy_of(value_);
  updating_ = true;
  return detail::address(*value_.impl(), /*writes=*/true);
}

void VariableState::move_to(Device device) {
  value_ = detail::moved(value_, device);
  elsewhere_ = device != Device();
}

Tensor VariableState::load_on(Device device) {
  if (replica_ != nullptr && !of_replica_) [[unlikely]] {
    if (VariableState *const own = replica_->find(*this)) return own->load_on(device);
    if (replica_->moves(*this)) return copy_on(device);
  }
  Tensor value = load_of_all();
  if (value.device() == device) return value;
  const std::lock_guard lock(mutex_);
  if (updating_ || VariablesInUse::has(*this)) return detail::moved(value, device);
  move_to(device);
  return value_;
}

void *VariableState::update_buffer_on(Device device) {
  if (value_.device() != device) move_to(device);
  return update_buffer();
}

void VariableState::unlock_update() {
  // To tapes the value after an update is another tensor than before.
  if (updating_) value_.impl()->identity.store(0, std::memory_order_relaxed);
  updating_ = false;
  mutex_.unlock();
}

HeldVariables::HeldVariables(std::vector<VariableState *> states) : states_(std::move(states)) {
  std::sort(states_.begin(), states_.end());
  try {
    for (; locked_ < states_.size(); ++locked_) states_[locked_]->lock_update();
  } catch (...) {
    release();
    throw;
  }
}

void HeldVariables::release() {
  while (locked_ > 0) states_[--locked_]->unlock_update();
}

thread_local constinit const VariablesInUse *VariablesInUse::innermost_
    __attribute__((tls_model("initial-exec"))) = nullptr;

VariablesInUse::VariablesInUse(std::span<VariableState *const> variables)
    : variables_(variables), outer_(innermost_) {
  innermost_ = this;
}

VariablesInUse::~VariablesInUse() { innermost_ = outer_; }

bool VariablesInUse::has(const VariableState &variable) {
  for (const VariablesInUse *use = innermost_; use != nullptr; use = use->outer_)
    if (std::find(use->variables_.begin(), use->variables_.end(), &variable) !=
        use->variables_.end())
      return true;
  return false;
}

void check_assignable(std::string_view op, const VariableState &variable, const TensorType &type) {
  const TensorType &own = variable.type();
  bool fits = type.shape.size() == own.shape.size();
  for (std::size_t i = 0; fits && i < own.shape.size(); ++i)
    fits = type.shape[i] == own.shape[i] || type.shape[i] == unknown;
  if (fits && type.dtype == own.dtype) return;
  raise(type.dtype == own.dtype ? ErrorKind::shape : ErrorKind::dtype,
        std::string(op) + ": the variable '" + variable.name() + "' is " + to_string(own) +
            ", but the value is " + to_string(type));
}

} // namespace weft
