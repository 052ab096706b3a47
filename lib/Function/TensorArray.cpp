// Arrays of tensors: on values they append in place, in traces they are buffers that double.
#include <weft/tensor_array.h>

#include <limits>

#include <weft/control_flow.h>

#include "Ops/ConstructChecks.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"

namespace weft {

namespace {

bool tracing() {
  const Interpreter *interpreter = Interpreter::current();
  return interpreter != nullptr && interpreter->traces();
}

// Each public member is a CompositeCall, whose name stands before what these say.

Tensor number_of(std::string_view what, const Operand &index) {
  const Tensor tensor = index.materialize();
  check_integer_scalar(CallSite::function(), what, detail::type_of(tensor));
  return cast(tensor, DType::i64);
}

void check_index(const Tensor &in_range, const Tensor &index, const Tensor &size) {
  check(in_range, std::string(CallSite::function()) + ": index {} is out of range for {} elements",
        index, size);
}

/// A value as an element of an array with slices like those of `elements`.
Tensor element_of(const Tensor &elements, const Operand &value) {
  // A scalar takes a dtype of its kind or of a wider one, as next to a tensor.
  const bool takes = value.weak() && value.weak_kind() <= kind_of(elements.dtype());
  const Tensor tensor = takes ? value.materialize(elements.dtype()) : value.materialize();
  const Shape all = detail::type_of(elements).shape;
  const Shape expected(std::span<const std::int64_t>(all).subspan(1));
  const TensorType type = detail::type_of(tensor), wanted{elements.dtype(), expected};
  const std::string problem =
      "the value is " + to_string(type) + ", but the elements are " + to_string(wanted);
  if (type.dtype != wanted.dtype) throw DTypeError(problem);
  bool fits = type.shape.size() == expected.size();
  for (std::size_t i = 0; fits && i < expected.size(); ++i)
    fits = type.shape[i] == expected[i] || type.shape[i] == unknown || expected[i] == unknown;
  if (!fits) throw ShapeError(problem);
  return tensor;
}

} // namespace

TensorArray::TensorArray(DType dtype, const Shape &element_shape, const Operand &size,
                         TensorArrayOptions options)
    : dynamic_size_(options.dynamic_size) {
  const CompositeCall site("TensorArray", size.where());
  size_ = number_of("the size", size);
  Sizes shape{size_};
  for (const std::int64_t size : element_shape) shape.push_back(size);
  elements_ = broadcast(zeros({}, dtype), shape);
}

TensorArray TensorArray::unstack(const Operand &x, TensorArrayOptions options) {
  const CompositeCall site("TensorArray::unstack", x.where());
  const Tensor elements = x.materialize();
  if (elements.rank() == 0) throw ShapeError("a scalar has no slices to take it apart into");
  return {elements, size_of(elements), options.dynamic_size};
}

Shape TensorArray::element_shape() const {
  const Shape shape = detail::type_of(elements_).shape;
  return Shape(std::span<const std::int64_t>(shape).subspan(1));
}

TensorArray TensorArray::append(const Operand &value) const {
  const CompositeCall site("TensorArray::append", value.where());
  return write(size_, value);
}

TensorArray TensorArray::write(const Operand &index, const Operand &value) const {
  const CompositeCall site("TensorArray::write", index.where());
  const char *const name = CallSite::function();
  const Tensor number = number_of("the index", index);
  const Tensor element = element_of(elements_, value);
  if (!dynamic_size_) {
    check_index(logical_and(number >= 0, number < size_), number, size_);
    return {update_slice(elements_, number, element), size_, false};
  }
  // Values are kept without spare room: it is behind them in memory.
  const bool traced = tracing() || size_.traced();
  Tensor elements = traced ? elements_ : stack();
  if (Interpreter::current() == nullptr && detail::on_cpu(elements) && detail::on_cpu(element) &&
      number.item<std::int64_t>() == elements.size(0))
    return {detail::append_slice(elements, element), number + 1, true};
  // One more than the last index must be a number, too.
  constexpr auto kEnd = std::numeric_limits<std::int64_t>::max();
  check_index(logical_and(number >= 0, number < kEnd), number, size_);
  const Tensor next = number + 1, room = size_of(elements);
  const Tensor enough = cond(
      number < room, [&] { return elements; },
      [&] {
        const CompositeCall again(name, index.where()); // `cond` takes this for the user's code
        const Size length = traced ? maximum(next, 2 * room) : next;
        const Ints none(static_cast<std::size_t>(elements.rank()), 0);
        Sizes behind(none);
        behind.set(0, length - Size(room));
        return pad(elements, zeros({}, elements.dtype()), none, behind, none);
      });
  return {update_slice(enough, number, element), maximum(size_, next), true};
}

Tensor TensorArray::read(const Operand &index) const {
  const CompositeCall site("TensorArray::read", index.where());
  const Tensor number = number_of("the index", index);
  check_index(logical_and(number >= 0, number < size_), number, size_);
  return weft::gather(elements_, number);
}

Tensor TensorArray::gather(const Operand &indices) const {
  const CompositeCall site("TensorArray::gather", indices.where());
  return weft::gather(stack(), indices);
}

Tensor TensorArray::stack(std::source_location where) const {
  const CompositeCall site("TensorArray::stack", where);
  // The count may also stand for those of all members that vmap maps over.
  const bool exact = !dynamic_size_ || (!tracing() && !size_.traced() &&
                                        elements_.size(0) == size_.item<std::int64_t>());
  if (exact) return elements_;
  const auto rank = static_cast<std::size_t>(elements_.rank());
  Sizes ends(Ints(rank, -1));
  ends.set(0, size_);
  return slice(elements_, Ints(rank, 0), ends, Ints(rank, 1));
}

Tensor TensorArray::concat(std::source_location where) const {
  const CompositeCall site("TensorArray::concat", where);
  const Tensor all = stack();
  const Shape shape = detail::type_of(all).shape;
  if (shape.size() < 2) throw ShapeError("scalars cannot be joined; stack them");
  Ints joined{-1};
  for (std::size_t axis = 2; axis < shape.size(); ++axis) joined.push_back(shape[axis]);
  return reshape(all, joined);
}

} // namespace weft
