// Elements stacked into batches: copied side by side, or gathered from where they are.
#include <algorithm>
#include <cstring>

#include "Data/Stage.h"
#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"

namespace weft::data::detail {

namespace {

std::string in_batch(std::size_t element, std::size_t part, const std::string &what) {
  return "batch: element " + std::to_string(element) + " of the batch: tensor " +
         std::to_string(part) + " " + what;
}

/// The shape that all of the elements fit in.
Shape common_shape(std::span<const Item> items, std::size_t part, bool padded) {
  const TensorType first = items[0].tensors[part].type();
  Shape shape = first.shape;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const TensorType type = items[i].tensors[part].type();
    if (type.dtype != first.dtype)
      raise(ErrorKind::dtype, in_batch(i, part,
                                       "is " + to_string(type) + " and that of the first is " +
                                           to_string(first) + ": they must have one dtype"));
    if (type.shape == first.shape) continue;
    if (!padded || type.shape.rank() != first.shape.rank())
      raise(ErrorKind::shape,
            in_batch(i, part,
                     "is " + to_string(type) + " and that of the first is " + to_string(first) +
                         (padded ? ": their ranks must be the same"
                                 : ": make them of one shape, or set "
                                   "the option padding")));
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
      shape[axis] = std::max(shape[axis], type.shape[axis]);
  }
  return shape;
}

void fill(const Tensor &tensor, double value) {
  visit_dtype(tensor.dtype(), [&]<class T>() {
    std::fill_n(weft::detail::elements<T>(tensor), tensor.size(), static_cast<T>(value));
  });
}

Tensor stack_part(std::span<const Item> items, std::size_t part,
                  const std::optional<double> &padding) {
  const Shape shape = common_shape(items, part, padding.has_value());
  Shape whole{static_cast<std::int64_t>(items.size())};
  for (const std::int64_t size : shape) whole.push_back(size);
  const DType dtype = items[0].tensors[part].dtype();
  const Tensor result = weft::detail::new_tensor(dtype, whole);
  const std::size_t bytes =
      items.empty() ? 0 : static_cast<std::size_t>(result.size()) / items.size() * item_size(dtype);
  const bool differ = std::ranges::any_of(
      items, [&](const Item &item) { return item.tensors[part].shape() != shape; });
  if (differ) fill(result, *padding);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Tensor &from = items[i].tensors[part];
    std::byte *to = result.impl()->data + i * bytes;
    const std::span<const std::int64_t> strides(result.impl()->strides() + 1, shape.size());
    if (from.is_contiguous() && !differ) std::memcpy(to, from.impl()->data, bytes);
    else
      copy_strided(item_size(dtype), from.shape(), from.impl()->data,
                   {from.impl()->strides(), shape.size()}, to, strides);
  }
  return result;
}

} // namespace

Item stacked(std::span<const Item> items, const std::optional<double> &padding) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    const bool same =
        items[i].tensors.size() == items[0].tensors.size() &&
        (items[i].form == items[0].form ||
         (items[i].form && items[0].form && items[i].form->key == items[0].form->key));
    if (!same)
      raise(ErrorKind::value,
            "batch: element " + std::to_string(i) +
                " of the batch has another structure than the first: numbers and strings in "
                "elements, keys and lengths of containers must be the same; make what differs a "
                "tensor by map");
  }
  Item whole{{}, items[0].form};
  for (std::size_t part = 0; part < items[0].tensors.size(); ++part)
    whole.tensors.push_back(stack_part(items, part, padding));
  return whole;
}

Item gathered(std::span<const Lazy> elements, const std::optional<double> &padding) {
  const Maker *rows = elements[0].maker().get();
  if (std::ranges::all_of(elements, [&](const Lazy &e) { return e.maker().get() == rows; })) {
    std::vector<std::int64_t> indices;
    indices.reserve(elements.size());
    for (const Lazy &element : elements) indices.push_back(element.index());
    if (auto item = rows->gather(indices)) return *std::move(item);
  }
  if (std::ranges::all_of(elements,
                          [](const Lazy &e) { return e.maker()->columns() != nullptr; })) {
    Item whole;
    const std::size_t count = rows->columns()->size();
    for (std::size_t column = 0; column < count; ++column) {
      std::vector<Lazy> parts;
      parts.reserve(elements.size());
      for (const Lazy &element : elements) parts.push_back((*element.maker()->columns())[column]);
      for (Tensor &tensor : gathered(parts, padding).tensors)
        whole.tensors.push_back(std::move(tensor));
    }
    return whole;
  }
  std::vector<Item> items;
  items.reserve(elements.size());
  for (const Lazy &element : elements) items.push_back(element.make());
  return stacked(items, padding);
}

} // namespace weft::data::detail
