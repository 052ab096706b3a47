// Tensors of elements in memory of somebody else: on them, or copied.
#include "Elements.h"

#include <algorithm>
#include <cstring>

#include <weft/detail/binding.h>

namespace weft::python {

namespace {

/// A byte that is a bool if it is not 0.
struct Byte {
  std::uint8_t value;
  explicit operator bool() const { return value != 0; }
};

/// Whether it is a complex number, of two parts with bytes of their own.
template <class T>
inline constexpr bool is_pair = false;
template <class T>
inline constexpr bool is_pair<std::complex<T>> = true;

template <class From, class To>
void copy_line(const std::byte *from, std::int64_t stride, std::int64_t count, To *to,
               bool swapped) {
  for (std::int64_t i = 0; i < count; ++i, from += stride) {
    From value;
    if (swapped) {
      std::byte turned[sizeof value];
      constexpr std::size_t part = sizeof value / (is_pair<From> ? 2 : 1);
      for (std::size_t at = 0; at < sizeof value; at += part)
        std::reverse_copy(from + at, from + at + part, turned + at);
      std::memcpy(&value, turned, sizeof value);
    } else {
      std::memcpy(&value, from, sizeof value); // which may not be aligned
    }
    to[i] = static_cast<To>(value);
  }
}

template <class From, class To>
void copy_all(const Elements &elements, std::size_t axis, const std::byte *from, To *&to) {
  const std::size_t rank = elements.dims.size();
  if (axis == rank) {
    copy_line<From>(from, 0, 1, to++, elements.element.swapped);
    return;
  }
  const std::int64_t count = elements.dims[axis], stride = elements.strides[axis];
  if (axis + 1 == rank) {
    if constexpr (std::is_same_v<From, To>)
      if (stride == static_cast<std::int64_t>(sizeof(To)) && !elements.element.swapped) {
        std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(To));
        to += count;
        return;
      }
    copy_line<From>(from, stride, count, to, elements.element.swapped);
    to += count;
    return;
  }
  for (std::int64_t i = 0; i < count; ++i)
    copy_all<From>(elements, axis + 1, from + i * stride, to);
}

template <class From, class To>
Tensor copied(const Elements &elements) {
  Tensor result = detail::unset_tensor(dtype_of<To>, elements.dims);
  To *to = reinterpret_cast<To *>(result.impl()->data);
  if (result.impl()->size == 0) return result;
  const Unlocked scope(result.impl()->size > 1 << 16);
  copy_all<From>(elements, 0, elements.data, to);
  return result;
}

/// In the dtype of the elements; undefined if there is none.
Tensor copy_of(const Elements &elements) {
  const Element &element = elements.element;
  if (const std::optional<DType> dtype = element.dtype())
    return visit_dtype(*dtype, [&]<class T>() {
      return copied<std::conditional_t<std::is_same_v<T, bool>, Byte, T>, T>(elements);
    });
  return {};
}

/// Whether every byte is 0 or 1, as a bool of C++ has to be.
bool are_bools(const Elements &elements, std::size_t axis, const std::byte *from) {
  if (axis == elements.dims.size()) return static_cast<unsigned char>(*from) <= 1;
  for (std::int64_t i = 0; i < elements.dims[axis]; ++i)
    if (!are_bools(elements, axis + 1, from + i * elements.strides[axis])) return false;
  return true;
}

/// Why a tensor cannot be on these elements; empty if it can.
std::string why_not_shared(const Elements &elements) {
  if (elements.element.swapped) return "they are in another byte order";
  const std::optional<DType> dtype = elements.element.dtype();
  if (!dtype) return "there is no such dtype";
  const auto size = static_cast<std::int64_t>(item_size(*dtype));
  if (reinterpret_cast<std::uintptr_t>(elements.data) % static_cast<std::uintptr_t>(size) != 0)
    return "they are not aligned";
  for (const std::int64_t stride : elements.strides)
    if (stride % size != 0) return "they are not aligned";
  if (*dtype == DType::boolean && !are_bools(elements, 0, elements.data))
    return "some bytes are neither 0 nor 1";
  return {};
}

Tensor shared(const Elements &elements, DType dtype, detail::ExternalOwner owner) {
  Ints strides;
  std::int64_t row_major = 1;
  bool contiguous = true;
  for (std::size_t i = elements.dims.size(); i-- > 0;) {
    const std::int64_t stride = elements.strides[i] / static_cast<std::int64_t>(item_size(dtype));
    contiguous &= stride == row_major || elements.dims[i] == 1;
    row_major *= elements.dims[i];
    strides.push_back(stride);
  }
  std::reverse(strides.begin(), strides.end());
  if (contiguous) strides.clear();
  return detail::foreign_tensor(dtype, elements.dims, strides, elements.data, owner);
}

} // namespace

std::optional<DType> Element::dtype() const {
  if (format) return format;
  return kind ? find_dtype(*kind, static_cast<int>(8 * size)) : std::nullopt;
}

std::string to_string(const Element &element) {
  static constexpr std::array names = {"bool", "int", "uint", "float", "complex"};
  if (element.format) return python_name(*element.format);
  std::string text = element.kind ? names[static_cast<std::size_t>(*element.kind)] : "elements";
  if (element.kind != DTypeKind::boolean) text += std::to_string(8 * element.size);
  return element.swapped ? text + " (big-endian)" : text;
}

Tensor tensor_of_elements(const Elements &elements, detail::ExternalOwner owner, Sharing sharing,
                          const Place &place) {
  struct Release {
    detail::ExternalOwner owner;
    ~Release() {
      if (owner.release != nullptr) owner.release(owner.context);
    }
  } release{owner};
  if (sharing != Sharing::copy) {
    const std::string fault = why_not_shared(elements);
    if (fault.empty())
      return shared(elements, *elements.element.dtype(),
                    std::exchange(release.owner, {nullptr, nullptr}));
    if (sharing == Sharing::only)
      throw ValueError(place.text() + " has elements (" + to_string(elements.element) +
                       ") that no tensor can share, as " + fault + ", and copy is False");
  }
  Tensor tensor = copy_of(elements);
  if (tensor.defined()) return tensor;
  throw DTypeError(place.text() + " has elements of " + to_string(elements.element) +
                   ", which no dtype holds: they are " + dtypes_in_words());
}

} // namespace weft::python
