// Sizes as values: their arithmetic, by ops where a trace computes them, and scalars as operands.
#include <weft/size.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <utility>

#include "Runtime/Elements.h"
#include "Runtime/Filled.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Enumerators.h"
#include "Support/SizeNames.h"
#include <weft/composites.h>
#include <weft/detail/binding.h>

namespace weft {

/// Of the number that stands for a computed size in lists.
[[noreturn]] static void refuse_number() {
  throw ShapeError("a size is " + std::to_string(detail::kDynamic) + ", which is negative");
}

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
    if (number_ == detail::kDynamic) refuse_number();
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

/// Whether two traced scalars are one value of one trace.
bool is_same_value(const Tensor &a, const Tensor &b) {
  return a.impl()->base == b.impl()->base && a.impl()->trace_value == b.impl()->trace_value;
}

void need_divisor(std::int64_t divisor) {
  if (divisor == 0) throw ValueError("a size is divided by 0");
}

} // namespace

Size Size::sum(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::uint64_t x, std::uint64_t y) { return wrapped(x + y); },
      [](const Tensor &x, const Tensor &y) { return add(x, y); });
}
Size Size::difference(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::uint64_t x, std::uint64_t y) { return wrapped(x - y); },
      [](const Tensor &x, const Tensor &y) { return subtract(x, y); });
}
Size Size::product(const Size &a, const Size &b) {
  // One that does not fit is the largest number, which no tensor has, and none that would do.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (a.is_number() && b.is_number()) {
    std::int64_t product = 0;
    if (!__builtin_mul_overflow(a.number(), b.number(), &product)) return product;
    return (a.number() < 0) != (b.number() < 0) ? -most : most;
  }
  const auto &[factor, size] = a.is_number() ? std::pair(a, b) : std::pair(b, a);
  if (factor.is_number() && factor.number() <= 1) return multiply(size.tensor(), factor.number());
  const Size fits = factor.is_number() ? Size(most / factor.number())
                                       : Size(floor_divide(most, max(factor, 1).tensor()));
  return select(greater(size.tensor(), fits.tensor()), most,
                multiply(size.tensor(), factor.tensor()));
}
Size Size::rest(const Size &a, const Size &b) {
  return combined(
      a, b,
      [](std::int64_t x, std::int64_t y) {
        need_divisor(y);
        if (y == -1) return std::int64_t{0};
        const std::int64_t left = x % y;
        return left != 0 && (left < 0) != (y < 0) ? left + y : left;
      },
      [](const Tensor &x, const Tensor &y) { return remainder(x, y); });
}
Size Size::quotient(const Size &a, const Size &b) {
  return combined(
      a, b,
      [](std::int64_t x, std::int64_t y) {
        need_divisor(y);
        if (y == -1) return wrapped(-static_cast<std::uint64_t>(x));
        return x / y - (x % y != 0 && (x < 0) != (y < 0) ? 1 : 0);
      },
      [](const Tensor &x, const Tensor &y) { return floor_divide(x, y); });
}
Size Size::larger(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::int64_t x, std::int64_t y) { return std::max(x, y); },
      [](const Tensor &x, const Tensor &y) { return maximum(x, y); });
}
Size Size::smaller(const Size &a, const Size &b) {
  return combined(
      a, b, [](std::int64_t x, std::int64_t y) { return std::min(x, y); },
      [](const Tensor &x, const Tensor &y) { return minimum(x, y); });
}

int Size::compare(const Size &a, const Size &b) {
  if (!a.is_number() && !b.is_number() && is_same_value(a.value(), b.value())) return 0;
  const std::int64_t x = a, y = b;
  return x < y ? -1 : x > y ? 1 : 0;
}

std::int64_t Size::in_this_call() const {
  const std::int64_t number = detail::pinned_hint(*value_.impl(), -1);
  if (number != unknown) return number;
  throw SymbolicSizeError(
      std::string(static_cast<detail::TraceRef *>(value_.impl()->base)->name) +
      ": the number of a size is asked for that is known only when the function runs: it is open "
      "in the signature, or depends on values; use it as a Size, in shapes, bounds and arithmetic, "
      "or as a tensor with cond and while_loop");
}

std::string to_string(const Size &size) {
  return size.is_number() ? std::to_string(size.number()) : "?";
}
std::ostream &operator<<(std::ostream &out, const Size &size) { return out << to_string(size); }

Size Tensor::open_size(std::int64_t axis, const std::source_location &where) const {
  const CompositeCall site("size", where);
  const TensorType type = detail::type_of(*this);
  if (axis < -type.shape.rank() || axis >= type.shape.rank())
    throw IndexError("size: axis " + std::to_string(axis) +
                     " is out of range for a tensor of shape " + to_string(type.shape) + " (rank " +
                     std::to_string(type.shape.rank()) + ")");
  return size_of(*this, {.axis = axis});
}

Size Sizes::operator[](std::size_t i) const {
  if (numbers_[i] != detail::kDynamic) return numbers_[i];
  const auto before = std::count(numbers_.begin(), numbers_.begin() + i, detail::kDynamic);
  if (std::cmp_greater_equal(before, values_.size())) refuse_number();
  return values_[static_cast<std::size_t>(before)];
}

void Sizes::set(std::size_t i, const Size &size) {
  const auto before = std::count(numbers_.begin(), numbers_.begin() + i, detail::kDynamic);
  if (numbers_[i] == detail::kDynamic) values_.erase(values_.begin() + before);
  numbers_[i] = size.number();
  if (!size.is_number()) values_.insert(values_.begin() + before, size.value());
}

//===----------------------------------------------------------------------===//
// Names of sizes
//===----------------------------------------------------------------------===//

Dim dim(std::string name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool valid = !name.empty() && !is_digit(name[0]) && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || is_digit(c) || c == '_';
  });
  if (!valid)
    throw ValueError("dim: '" + name + "' is no name of a size: letters, digits and _ are wanted");
  return {std::move(name)};
}

std::int64_t detail::named_size(const Dim &dim) { return size_of_name(dim.name); }
bool detail::is_named(std::int64_t size) { return is_name_of_size(size); }
const std::string &detail::name_of_size(std::int64_t size) { return weft::name_of_size(size); }

//===----------------------------------------------------------------------===//
// Scalars as operands
//===----------------------------------------------------------------------===//

DType Operand::dtype() const {
  switch (kind_) {
  case Kind::weak_bool: return DType::boolean;
  case Kind::weak_size: return DType::i32;
  case Kind::weak_integer:
    return integer_ == static_cast<std::int32_t>(integer_) ? DType::i32 : DType::i64;
  case Kind::weak_large: return DType::u64;
  case Kind::weak_floating: return DType::f32;
  case Kind::weak_complex: return DType::c64;
  case Kind::borrowed:
  case Kind::owned: break;
  }
  if (impl_ == nullptr) throw StateError("an operand is undefined: it was never given a value");
  return impl_->dtype;
}

Tensor Operand::materialize(DType dtype, std::string_view op) const {
  if (!weak()) {
    if (impl_ == nullptr) throw StateError("an operand is undefined: it was never given a value");
    detail::retain(impl_);
    return Tensor(impl_);
  }
  if (kind_ == Kind::weak_size) {
    detail::retain(size_);
    Tensor size(size_);
    if (dtype == DType::i64) return size;
    if (is_integer(dtype) && dtype_info(dtype).bits < 32) {
      // As a number that does not fit is refused.
      const auto [least, most] = visit_dtype(dtype, []<class T>() {
        using Limits = std::numeric_limits<T>;
        if constexpr (!std::is_integral_v<T> || sizeof(T) == sizeof(std::int64_t))
          return std::pair<std::int64_t, std::int64_t>();
        else return std::pair<std::int64_t, std::int64_t>(Limits::min(), Limits::max());
      });
      detail::check_sizes(logical_and(greater_equal(size, least), less_equal(size, most)),
                          (op.empty() ? "" : std::string(op) + ": ") +
                              "the size {} does not fit the dtype " + std::string(name_of(dtype)),
                          std::array{size});
    }
    return cast(size, dtype);
  }
  const auto large = static_cast<std::uint64_t>(integer_);
  return visit_dtype(dtype, [&]<class T>() {
    T value{};
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      if (weak_kind() == DTypeKind::integer && !exactly_as(value))
        throw ValueError(
            (op.empty() ? "" : std::string(op) + ": ") + "the scalar " +
            (kind_ == Kind::weak_large ? std::to_string(large) : std::to_string(integer_)) +
            " does not fit the dtype " + std::string(name_of(dtype)));
    if (kind_ == Kind::weak_complex && !is_complex(dtype))
      throw DTypeError((op.empty() ? "" : std::string(op) + ": ") +
                       "a complex number is no element of the dtype " +
                       std::string(name_of(dtype)) + ": take its real part");
    value = kind_ == Kind::weak_floating ? convert_element<T>(floating_)
            : kind_ == Kind::weak_complex
                ? convert_element<T>(std::complex<double>(complex_.real, complex_.imaginary))
            : kind_ == Kind::weak_large ? convert_element<T>(large)
                                        : convert_element<T>(integer_);
    return detail::new_scalar<T>(value);
  });
}

Tensor arange(const Size &stop, DType dtype, std::source_location where) {
  if (stop.is_number()) return arange(stop.number(), dtype, where);
  const CompositeCall site("arange", where);
  return iota(dtype, {max(stop, 0)});
}

Tensor eye(std::int64_t n, DType dtype, std::source_location where) {
  return eye(n, n, 0, dtype, where);
}

Tensor eye(const Size &n, DType dtype, std::source_location where) {
  return eye(n, n, 0, dtype, where);
}

Tensor eye(const Size &rows, const Size &columns, std::int64_t k, DType dtype,
           std::source_location where) {
  const CompositeCall site("eye", where);
  check_dtype("eye", dtype);
  // No matrix has a diagonal beyond these.
  constexpr std::int64_t kMost = std::int64_t{1} << 62;
  k = std::clamp(k, -kMost, kMost);
  if (!rows.is_number() || !columns.is_number())
    return cast(
        equal(add(iota(DType::i64, {rows, 1}), k), iota(DType::i64, {1, columns}, {.axis = 1})),
        dtype);
  const std::int64_t height = rows.number(), width = columns.number();
  const Shape shape{height, width};
  const detail::Room room(dtype, shape);
  Tensor result = detail::new_tensor(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    T *target = detail::elements<T>(result);
    std::fill_n(target, result.size(), T(0));
    if (result.size() == 0) return;
    for (std::int64_t i = std::max<std::int64_t>(0, -k); i < height && i + k < width; ++i)
      target[i * width + i + k] = T(1);
  });
  return room.placed(std::move(result));
}

namespace {

/// `linspace` of a number that a trace computes, to the same bits.
Tensor line_between(double start, double stop, const Size &count, const LinspaceOptions &options) {
  const Tensor at = iota(DType::f64, {count});
  const Size parts = options.endpoint ? count - 1 : count;
  const Tensor divisor = cast(max(parts, 1).tensor(), DType::f64);
  const Tensor step = select(greater(parts.tensor(), std::int64_t{0}),
                             divide(tensor(stop - start), divisor), tensor(0.0));
  Tensor line = add(tensor(start), multiply(at, step));
  if (!options.endpoint) return line;
  return select(logical_and(equal(at, cast(parts.tensor(), DType::f64)), greater(at, 0.0)),
                tensor(stop), line);
}

} // namespace

Tensor linspace(double start, double stop, const Size &number, LinspaceOptions options,
                std::source_location where) {
  const CompositeCall site("linspace", where);
  check_dtype("linspace", options.dtype);
  const std::int64_t count = number.number();
  if (number.is_number() && count < 0)
    throw ValueError("linspace: num is " + std::to_string(count) + ", which is negative");
  if (!std::isfinite(start) || !std::isfinite(stop))
    throw ValueError("linspace: a bound is not finite");
  Tensor line;
  if (!number.is_number()) {
    line = line_between(start, stop, number, options);
  } else {
    const std::int64_t parts = options.endpoint ? count - 1 : count;
    const detail::Room room(DType::f64, Shape{count});
    line = detail::new_tensor(DType::f64, Shape{count});
    auto *to = detail::elements<double>(line);
    const double step = parts > 0 ? (stop - start) / static_cast<double>(parts) : 0;
    for (std::int64_t i = 0; i < count; ++i) to[i] = start + static_cast<double>(i) * step;
    if (options.endpoint && count > 1) to[count - 1] = stop;
    line = room.placed(std::move(line));
  }
  if (is_integer(options.dtype)) line = floor(line); // as NumPy's
  return options.dtype == DType::f64 ? line : cast(line, options.dtype);
}

Sizes detail::sizes_of(const Tensor &x) {
  Sizes sizes;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) sizes.push_back(x.size(axis));
  return sizes;
}

} // namespace weft
