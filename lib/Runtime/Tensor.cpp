// The members of Tensor that look at elements.
#include <algorithm>

#include "Runtime/Elements.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"
#include <weft/device.h>
#include <weft/error.h>

namespace weft {

namespace detail {

std::int64_t pinned_hint(const TensorImpl &impl, int axis) {
  auto *trace = static_cast<TraceRef *>(impl.base);
  const std::int64_t hint = trace->hint(trace, impl, axis);
  if (hint != unknown) trace->pin(trace);
  return hint;
}

Shape hint_of(const Tensor &tensor) {
  const TensorImpl &impl = *tensor.impl();
  Shape shape(impl.sizes());
  if (impl.storage != Storage::traced) return shape;
  auto *trace = static_cast<TraceRef *>(impl.base);
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == unknown) shape[axis] = trace->hint(trace, impl, static_cast<int>(axis));
  return shape;
}

Shape shape_for_call(const Tensor &tensor) {
  const TensorImpl &impl = *tensor.impl();
  Shape shape(impl.sizes());
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] == unknown) shape[axis] = pinned_hint(impl, static_cast<int>(axis));
  return shape;
}

std::int64_t size_for_call(const Tensor &tensor, std::int64_t axis) {
  const TensorImpl &impl = *tensor.impl();
  const std::int64_t at = axis < 0 ? axis + impl.rank : axis;
  const std::int64_t size = impl.dims()[at];
  return size == unknown ? pinned_hint(impl, static_cast<int>(at)) : size;
}

void throw_undefined(const char *member, const std::source_location &where) {
  const CompositeCall site(member, where);
  throw StateError("the tensor is undefined: it was never given a value");
}

} // namespace detail

namespace {

void need_elements(const Tensor &tensor, const char *what) {
  if (!tensor.traced()) return;
  throw StateError(
      std::string(what) + ": the tensor of type " + to_string(detail::type_of(tensor)) +
      " stands for a value of a traced function and has no elements while it is traced: return it, "
      "print it with print(), decide by it with cond or while_loop, or take it to a host_call");
}

/// What would lose an imaginary part is refused.
void need_real(const char *what, DType dtype, DType wanted) {
  if (!is_complex(dtype) || is_complex(wanted) || wanted == DType::boolean) return;
  throw DTypeError(std::string(what) + ": the tensor is " + std::string(name_of(dtype)) + ", and " +
                   std::string(name_of(wanted)) +
                   " has no imaginary part: take real(x) or imag(x)");
}

/// Calls `use(first, count)` with the elements of a contiguous tensor in their own type.
template <class Use>
void visit_elements(const Tensor &tensor, const Use &use) {
  visit_dtype(tensor.dtype(), [&]<class T>() {
    use(detail::elements<const T>(tensor), static_cast<std::size_t>(tensor.size()));
  });
}

} // namespace

std::int64_t Tensor::open_count() const {
  std::uint64_t count = 1;
  for (const std::int64_t size : detail::shape_for_call(*this)) {
    if (size == unknown) return unknown;
    count *= static_cast<std::uint64_t>(size);
  }
  return static_cast<std::int64_t>(count);
}

const void *Tensor::checked_data(DType wanted, const std::source_location &where) const {
  const CompositeCall site("span", where);
  need_elements(*this, "span");
  if (dtype() != wanted)
    throw DTypeError("span: the tensor's dtype is " + std::string(name_of(dtype())) +
                     ", but its elements are asked for as " + std::string(name_of(wanted)));
  detail::check_on_cpu(*this, "span");
  if (!is_contiguous())
    throw StateError("span: the tensor of shape " + to_string(shape()) +
                     " is a view whose elements are not contiguous; take contiguous() first");
  return impl_->data;
}

Tensor Tensor::contiguous(std::source_location where) const {
  const CompositeCall site("contiguous", where);
  if (checked("contiguous", where).plain || traced()) return *this;
  return make_contiguous(*this);
}

Tensor Tensor::to(Device device, std::source_location where) const {
  const CompositeCall site("to", where);
  const bool is_there = checked("to", where).device == device;
  if (traced())
    throw StateError("to: the tensor of type " + to_string(detail::type_of(*this)) +
                     " stands for a value of a traced function, whose device is that of the "
                     "function's arguments: move those, or the result of the call");
  return is_there ? *this : detail::moved(*this, device);
}

void Tensor::item_as(DType wanted, void *value, const std::source_location &where) const {
  const CompositeCall site("item", where);
  need_elements(*this, "item");
  if (size() != 1)
    throw ShapeError("item: the tensor of shape " + to_string(shape()) + " has " +
                     std::to_string(size()) + " elements, not one");
  need_real("item", dtype(), wanted);
  visit_elements(detail::on_host(*this), [&](const auto *element, std::size_t) {
    visit_dtype(wanted,
                [&]<class T>() { *static_cast<T *>(value) = convert_element<T>(*element); });
  });
}

Tensor Tensor::elements_as(DType wanted, const std::source_location &where) const {
  const CompositeCall site("to_vector", where);
  need_elements(*this, "to_vector");
  Tensor source = make_contiguous(detail::on_host(*this));
  if (dtype() == wanted) return source;
  need_real("to_vector", dtype(), wanted);
  Tensor result = detail::new_tensor(wanted, checked("to_vector", where).sizes());
  visit_elements(source, [&](const auto *values, std::size_t count) {
    visit_dtype(wanted, [&]<class T>() {
      std::transform(values, values + count, detail::elements<T>(result),
                     [](auto value) { return convert_element<T>(value); });
    });
  });
  return result;
}

} // namespace weft
