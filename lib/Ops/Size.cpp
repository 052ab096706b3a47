// Sizes as values: their arithmetic, by ops where a trace computes them.
#include <weft/size.h>

#include <algorithm>

#include "Support/CallSite.h"
#include <weft/composites.h>

namespace weft {

Size::Size(const Tensor &scalar, std::source_location where) : number_(0) {
  const CompositeCall site("Size", where);
  const TensorType type = detail::type_of(scalar);
  if (!is_integer(type.dtype))
    throw DTypeError("a size is of dtype " + std::string(name_of(type.dtype)) +
                     ": an integer is wanted");
  if (!type.shape.empty())
    throw ShapeError("a size is of shape " + to_string(type.shape) + ": a scalar is wanted");
  if (!scalar.traced()) {
    number_ = scalar.item<std::int64_t>();
    return;
  }
  number_ = detail::kDynamic;
  value_ = type.dtype == DType::i64 ? scalar : cast(scalar, DType::i64);
}

Tensor Size::tensor() const { return is_number() ? weft::tensor(number_) : value_; }

namespace {

/// A number of two, or what the op says of others.
template <class OnNumbers, class OnTensors>
Size combined(const Size &a, const Size &b, OnNumbers on_numbers, OnTensors on_tensors) {
  if (a.is_number() && b.is_number()) return on_numbers(a.number(), b.number());
  return Size(on_tensors(a.tensor(), b.tensor()));
}

/// As integers of tensors, which wrap.
std::int64_t wrapped(std::uint64_t number) { return static_cast<std::int64_t>(number); }

void need_divisor(std::int64_t divisor) {
  if (divisor == 0) throw ValueError("a size is divided by 0");
}

} // namespace

Size operator+(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::uint64_t x, std::uint64_t y) { return wrapped(x + y); },
      [](const Tensor &x, const Tensor &y) { return add(x, y); });
}
Size operator-(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::uint64_t x, std::uint64_t y) { return wrapped(x - y); },
      [](const Tensor &x, const Tensor &y) { return subtract(x, y); });
}
Size operator*(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::uint64_t x, std::uint64_t y) { return wrapped(x * y); },
      [](const Tensor &x, const Tensor &y) { return multiply(x, y); });
}
Size operator%(const Size &a, const Size &b) {
  return combined(
      a, b,
      [](std::int64_t x, std::int64_t y) {
        need_divisor(y);
        if (y == -1) return std::int64_t{0};
        const std::int64_t rest = x % y;
        return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
      },
      [](const Tensor &x, const Tensor &y) { return remainder(x, y); });
}
Size operator/(const Size &a, const Size &b) {
  return combined(
      a, b,
      [](std::int64_t x, std::int64_t y) {
        need_divisor(y);
        if (y == -1) return wrapped(-static_cast<std::uint64_t>(x));
        return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
      },
      [](const Tensor &x, const Tensor &y) { return floor_divide(x, y); });
}
Size max(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::int64_t x, std::int64_t y) { return std::max(x, y); },
      [](const Tensor &x, const Tensor &y) { return maximum(x, y); });
}
Size min(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::int64_t x, std::int64_t y) { return std::min(x, y); },
      [](const Tensor &x, const Tensor &y) { return minimum(x, y); });
}

Size Sizes::operator[](std::size_t i) const {
  if (numbers_[i] != detail::kDynamic || values_.empty()) return numbers_[i];
  return values_[static_cast<std::size_t>(
      std::count(numbers_.begin(), numbers_.begin() + i, detail::kDynamic))];
}

void Sizes::set(std::size_t i, const Size &size) {
  const auto before = std::count(numbers_.begin(), numbers_.begin() + i, detail::kDynamic);
  numbers_[i] = size.number();
  if (!size.is_number()) values_.insert(values_.begin() + before, size.value());
}

Tensor arange(const Size &stop, DType dtype, std::source_location where) {
  if (stop.is_number()) return arange(stop.number(), dtype, where);
  const CompositeCall site("arange", where);
  return iota(dtype, {max(stop, 0)});
}

Tensor eye(const Size &n, DType dtype, std::source_location where) {
  if (n.is_number()) return eye(n.number(), dtype, where);
  const CompositeCall site("eye", where);
  return cast(equal(iota(DType::i64, {n, 1}), iota(DType::i64, {1, n}, {.axis = 1})), dtype);
}

Sizes detail::sizes_of(const Tensor &x) {
  Sizes sizes;
  const Shape shape = type_of(x).shape;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    if (size != unknown) sizes.push_back(size);
    else sizes.push_back(size_of(x, {.axis = axis}));
  }
  return sizes;
}

} // namespace weft
