// Loads, stores and in-place updates of variables.
#include "Runtime/Variable.h"

#include <cstring>

#include "Runtime/NewTensor.h"

namespace weft {

VariableState::VariableState(Tensor value, std::string name, bool trainable)
    : value_(std::move(value)), name_(std::move(name)), trainable_(trainable),
      type_(value_.type()) {}

Tensor VariableState::load() const {
  const std::lock_guard lock(mutex_);
  return value_;
}

void VariableState::store(Tensor value) {
  const std::lock_guard lock(mutex_);
  // The old value dies after the lock is gone.
  value_.swap(value);
}

void *VariableState::update_buffer() {
  detail::TensorImpl *impl = value_.impl();
  const bool unique = impl->references.load(std::memory_order_acquire) == 1;
  if (!unique || impl->storage != detail::Storage::own || !impl->contiguous) {
    const Tensor dense = value_.contiguous();
    Tensor copy = detail::new_tensor(type_.dtype, type_.shape);
    std::memcpy(copy.impl()->data, dense.impl()->data,
                static_cast<std::size_t>(copy.size()) * item_size(type_.dtype));
    value_ = std::move(copy);
  }
  return value_.impl()->data;
}

void check_assignable(const VariableState &variable, const TensorType &type) {
  if (type == variable.type()) return;
  const std::string message = "assign: the variable '" + variable.name() + "' is " +
                              to_string(variable.type()) + ", but the value is " + to_string(type);
  if (type.dtype != variable.type().dtype) throw DTypeError(message);
  throw ShapeError(message);
}

} // namespace weft
