// Tensors on memory of somebody else: what such memory must be like, and who is told when nobody
// needs it any more.
#include <weft/foreign_memory.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Enumerators.h"
#include "Support/Log.h"
#include <weft/detail/binding.h>

namespace weft::detail {

namespace {

/// What holds the memory: its end tells the owner.
class Kept {
public:
  Kept(const MemoryOptions &options, const void *data)
      : owner_(options.owner), deleter_(options.deleter), data_(data) {}
  ~Kept() { tell(deleter_, data_); }
  Kept(const Kept &) = delete;
  Kept &operator=(const Kept &) = delete;

  static void tell(const std::function<void(void *)> &deleter, const void *data) noexcept {
    if (!deleter) return;
    try {
      deleter(const_cast<void *>(data));
    } catch (const std::exception &error) { // which no destructor may pass on
      warn_line("the deleter of a tensor's memory threw: " + std::string(error.what()));
    } catch (...) {
      warn_line("the deleter of a tensor's memory threw");
    }
  }

private:
  std::shared_ptr<const void> owner_;
  std::function<void(void *)> deleter_;
  const void *data_;
};

std::unique_ptr<Kept> kept(const MemoryOptions &options, const void *data) {
  try {
    return std::make_unique<Kept>(options, data);
  } catch (...) { // there is no memory for it
    Kept::tell(options.deleter, data);
    throw;
  }
}

DType dtype_of(const ForeignMemory &memory, const MemoryOptions &options) {
  if (!memory.dtype && !options.dtype)
    throw DTypeError("from_memory: the pointer is to bytes: say what they are by the option dtype");
  const DType dtype = memory.dtype ? *memory.dtype : *options.dtype;
  check_dtype("from_memory", dtype);
  if (options.dtype && *options.dtype != dtype)
    throw DTypeError("from_memory: the pointer is to elements of " + std::string(name_of(dtype)) +
                     ", but the option dtype is " + std::string(name_of(*options.dtype)));
  return dtype;
}

/// The elements that a tensor reaches, from the pointer: the first, and the one behind the last.
struct Reach {
  __int128 first, end;
};
Reach reach_of(const Shape &shape, const Ints &strides, std::int64_t offset) {
  Reach reach{offset, __int128{offset} + 1};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const __int128 far = __int128{strides[i]} * (shape[i] - 1);
    (far < 0 ? reach.first : reach.end) += far;
  }
  return reach;
}

/// Throws ShapeError unless the tensor stays within the memory.
void check_reach(const ForeignMemory &memory, const Shape &shape, const Reach &reach,
                 std::int64_t item) {
  constexpr __int128 kFar = std::numeric_limits<std::int64_t>::max();
  if (reach.first < -kFar / item || reach.end > kFar / item)
    throw ShapeError("from_memory: a tensor of shape " + to_string(shape) +
                     " with these strides reaches further than 2^63 - 1 bytes");
  if (memory.bytes < 0) return;
  const std::int64_t count = memory.bytes / item;
  if (reach.first < 0)
    throw ShapeError("from_memory: a tensor of shape " + to_string(shape) +
                     " with these strides begins " +
                     std::to_string(-static_cast<std::int64_t>(reach.first)) +
                     " elements before the memory: the option offset says where index 0 is");
  if (reach.end > count)
    throw ShapeError("from_memory: the memory has " + std::to_string(count) +
                     " elements, but a tensor of shape " + to_string(shape) + " reaches " +
                     std::to_string(static_cast<std::int64_t>(reach.end)));
}

/// A tensor of copies; elements may be anywhere, so they are copied as bytes where they are not
/// aligned.
Tensor copied(DType dtype, const Shape &shape, const Ints &strides, const std::byte *data,
              bool aligned) {
  Tensor copy = new_tensor(dtype, shape);
  const auto item = static_cast<std::int64_t>(item_size(dtype));
  const TensorImpl *to = copy.impl();
  if (aligned) {
    copy_strided(item_size(dtype), shape, data, strides, to->data, {to->strides(), to->rank});
    return copy;
  }
  Ints dims(shape), from, target;
  dims.push_back(item);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    from.push_back(strides[i] * item);
    target.push_back(to->strides()[i] * item);
  }
  from.push_back(1);
  target.push_back(1);
  copy_strided(1, dims, data, from, to->data, target);
  return copy;
}

/// Any other bool than 0 and 1 is undefined behaviour.
void check_bools(const Tensor &tensor) {
  if (tensor.dtype() != DType::boolean) return;
  const Tensor row = make_contiguous(tensor);
  const auto *bytes = reinterpret_cast<const unsigned char *>(row.impl()->data);
  const auto *const end = bytes + row.size();
  const auto *const wrong = std::find_if(bytes, end, [](unsigned char byte) { return byte > 1; });
  if (wrong != end)
    throw ValueError("from_memory: element " + std::to_string(wrong - bytes) + " is the byte " +
                     std::to_string(*wrong) + ", but a bool is 0 or 1");
}

Tensor checked_tensor(const ForeignMemory &memory, const Shape &shape, const MemoryOptions &options,
                      std::unique_ptr<Kept> owner) {
  if (memory.fault != nullptr) throw ValueError("from_memory: " + std::string(memory.fault));
  const DType dtype = dtype_of(memory, options);
  const auto item = static_cast<std::int64_t>(item_size(dtype));
  if (memory.strides != nullptr && !options.strides.empty())
    throw ValueError("from_memory: the view says its strides itself, and the options too");
  if (memory.strides != nullptr && options.offset != 0)
    throw ValueError("from_memory: the view says itself where its elements are, so the option "
                     "offset is 0: take a view of fewer, or the pointer and its shape");
  Ints strides = memory.strides != nullptr ? *memory.strides : options.strides;
  if (!strides.empty() && strides.size() != shape.size())
    throw ShapeError("from_memory: there are " + std::to_string(strides.size()) +
                     " strides for the " + std::to_string(shape.size()) + " axes of the shape " +
                     to_string(shape));
  const std::size_t bytes = checked_tensor_bytes(dtype, shape);
  if (bytes == 0) return new_tensor(dtype, shape); // there is nothing to be on
  Ints row_major(shape);
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) row_major[i] = stride;
  if (strides.empty()) strides = row_major;
  check_reach(memory, shape, reach_of(shape, strides, options.offset), item);
  if (memory.data == nullptr)
    throw ValueError("from_memory: the pointer is null, but a tensor of shape " + to_string(shape) +
                     " has elements");
  const auto *const data = static_cast<const std::byte *>(memory.data) + options.offset * item;
  const bool aligned = reinterpret_cast<std::uintptr_t>(data) % static_cast<std::size_t>(item) == 0;
  if (options.copy) {
    const Tensor copy = copied(dtype, shape, strides, data, aligned);
    check_bools(copy);
    return copy;
  }
  if (!aligned)
    throw ValueError("from_memory: the elements are not aligned: those of " +
                     std::string(name_of(dtype)) + " are at multiples of " + std::to_string(item) +
                     " bytes; the option copy takes them from anywhere");
  // `data` is only read: nothing writes to memory that a tensor does not own.
  Tensor tensor = foreign_tensor(
      dtype, shape, strides == row_major ? Ints() : strides, const_cast<std::byte *>(data),
      {[](void *context) { delete static_cast<Kept *>(context); }, owner.release()});
  check_bools(tensor);
  return tensor;
}

} // namespace

Tensor tensor_on(const ForeignMemory &memory, const Shape &shape, const MemoryOptions &options,
                 const std::source_location &where) {
  const CompositeCall site("from_memory", where);
  return checked_tensor(memory, shape, options, kept(options, memory.data));
}

Tensor tensor_to_fill(DType dtype, const Shape &shape, const std::source_location &where) {
  const CompositeCall site("filled", where);
  return new_tensor(dtype, shape);
}

} // namespace weft::detail
