// Making tensors from values: nested lists, spans, ranges and fills.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <utility>

#include "Runtime/Elements.h"
#include "Runtime/Filled.h"
#include "Runtime/NewTensor.h"
#include "Runtime/Printing.h"
#include "Support/CallSite.h"
#include "Support/Enumerators.h"
#include "Support/Fault.h"

namespace weft {

namespace {

using detail::elements;
using detail::new_tensor;

/// Throws ShapeError unless a list of a nested list has as many entries as the first at its depth.
void check_rectangular(std::size_t depth, std::int64_t first, std::size_t other) {
  if (std::cmp_equal(first, other)) return;
  throw ShapeError("tensor: the nested list is ragged: at depth " + std::to_string(depth) +
                   " one list has " + std::to_string(first) + (first == 1 ? " entry" : " entries") +
                   " and another " + std::to_string(other));
}

} // namespace

namespace detail {

Tensor tensor_of(DType dtype, const void *values, std::size_t count, const Shape &shape,
                 const std::source_location &where) {
  const CompositeCall site("tensor", where);
  Tensor result = new_tensor(dtype, shape);
  if (!std::cmp_equal(result.size(), count))
    throw ShapeError("tensor: the shape " + to_string(shape) + " has " +
                     std::to_string(result.size()) + " elements, but " + std::to_string(count) +
                     " are given");
  if (count != 0) std::memcpy(result.impl()->data, values, count * item_size(dtype));
  return detail::placed(std::move(result));
}

NestedList::NestedList(DType dtype, std::initializer_list<std::size_t> sizes,
                       const std::source_location &where)
    : where_(where) {
  const CompositeCall site("tensor", where);
  tensor_ = new_tensor(dtype, Shape(sizes.begin(), sizes.end()));
  next_ = tensor_.impl()->data;
}

void NestedList::rows(std::size_t count) const {
  const CompositeCall site("tensor", where_);
  check_rectangular(1, tensor_.impl()->dims()[1], count);
}

void NestedList::row(const void *values, std::size_t count) {
  const CompositeCall site("tensor", where_);
  const auto depth = static_cast<std::size_t>(tensor_.rank()) - 1;
  check_rectangular(depth, tensor_.impl()->dims()[depth], count);
  const std::size_t bytes = count * item_size(tensor_.dtype());
  if (bytes == 0) return;
  std::memcpy(next_, values, bytes);
  next_ += bytes;
  const auto all = static_cast<std::size_t>(tensor_.size()) * item_size(tensor_.dtype());
  if (next_ == tensor_.impl()->data + all) tensor_ = placed(std::move(tensor_)); // the last row
}

} // namespace detail

namespace {

using detail::Number;

/// Numbers of several types in one dtype, row-major.
Tensor promoted(std::span<const Number *const> rows, std::span<const std::size_t> counts,
                const Shape &shape) {
  DTypeJoin join;
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const Number &number : std::span(rows[i], counts[i])) join.add(number.dtype);
  Tensor result = new_tensor(join.empty() ? DType::f32 : join.common_or_throw("tensor"), shape);
  visit_dtype(result.dtype(), [&]<class T>() {
    T *next = elements<T>(result);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (const Number &number : std::span(rows[i], counts[i]))
        *next++ = is_floating(number.dtype) ? convert_element<T>(number.floating)
                  : is_complex(number.dtype)
                      ? convert_element<T>(std::complex(number.floating, number.imaginary))
                  : number.dtype == DType::u64
                      ? convert_element<T>(static_cast<std::uint64_t>(number.integer))
                      : convert_element<T>(number.integer);
  });
  return detail::placed(std::move(result));
}

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

} // namespace

Tensor tensor(std::initializer_list<Number> values, std::source_location where) {
  const CompositeCall site("tensor", where);
  const Number *const rows[] = {values.begin()};
  const std::size_t counts[] = {values.size()};
  return promoted(rows, counts, {signed_size(values.size())});
}

Tensor tensor(std::initializer_list<std::initializer_list<Number>> values,
              std::source_location where) {
  const CompositeCall site("tensor", where);
  std::vector<const Number *> rows;
  std::vector<std::size_t> counts;
  const std::int64_t columns = values.size() == 0 ? 0 : signed_size(values.begin()->size());
  for (const auto &row : values) {
    check_rectangular(1, columns, row.size());
    rows.push_back(row.begin());
    counts.push_back(row.size());
  }
  return promoted(rows, counts, {signed_size(values.size()), columns});
}

Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<Number>>> values,
              std::source_location where) {
  const CompositeCall site("tensor", where);
  std::vector<const Number *> rows;
  std::vector<std::size_t> counts;
  const std::int64_t height = values.size() == 0 ? 0 : signed_size(values.begin()->size()),
                     columns = height == 0 ? 0 : signed_size(values.begin()->begin()->size());
  for (const auto &matrix : values) {
    check_rectangular(1, height, matrix.size());
    for (const auto &row : matrix) {
      check_rectangular(2, columns, row.size());
      rows.push_back(row.begin());
      counts.push_back(row.size());
    }
  }
  return promoted(rows, counts, {signed_size(values.size()), height, columns});
}

namespace {

/// Throws unless the dtype has numbers like `value`, the first or the last of a range.
template <class Number>
void check_fits(Number value, DType dtype) {
  const bool fits = visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::same_as<T, bool>) return true; // whether it is 0, as `cast` has it
    else if constexpr (std::integral<T> && std::integral<Number>) return std::in_range<T>(value);
    else if constexpr (std::integral<T>)
      return value >= static_cast<double>(std::numeric_limits<T>::min()) &&
             value < above_integers<T, double>;
    else if constexpr (is_complex_number<T>)
      return std::abs(static_cast<double>(value)) <=
             static_cast<double>(std::numeric_limits<typename T::value_type>::max());
    else
      return std::abs(static_cast<double>(value)) <=
             static_cast<double>(std::numeric_limits<T>::max());
  });
  if (fits) return;
  std::string text = "arange: the range has the number ";
  append_element(text, std::integral<Number> ? DType::i64 : DType::f64,
                 reinterpret_cast<const std::byte *>(&value));
  throw ValueError(text + ", which does not fit the dtype " + std::string(name_of(dtype)));
}

/// `number(i)` for each i below `count`.
template <class Number>
Tensor range_of(std::uint64_t count, DType dtype, const Number &number) {
  if (count > std::numeric_limits<std::int64_t>::max())
    throw ShapeError("arange: the range has more elements than 2^63 - 1");
  if (count > 0) {
    check_fits(number(0), dtype);
    check_fits(number(static_cast<std::int64_t>(count) - 1), dtype);
  }
  const Shape shape{static_cast<std::int64_t>(count)};
  const detail::Room room(dtype, shape);
  Tensor result = new_tensor(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    T *target = elements<T>(result);
    for (std::int64_t i = 0; i < result.size(); ++i) target[i] = convert_element<T>(number(i));
  });
  return room.placed(std::move(result));
}

} // namespace

Tensor arange(std::int64_t stop, DType dtype, std::source_location where) {
  return detail::arange_of_integers(0, stop, 1, dtype, where);
}

Tensor arange(double start, double stop, double step, DType dtype, std::source_location where) {
  const CompositeCall site("arange", where);
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step))
    throw ValueError("arange: start, stop and step must be finite");
  if (step == 0) throw ValueError("arange: the step is 0");
  check_dtype("arange", dtype);
  const double count = std::max(std::ceil((stop - start) / step), 0.0);
  return range_of(count < 0x1p63 ? static_cast<std::uint64_t>(count)
                                 : std::numeric_limits<std::uint64_t>::max(),
                  dtype, [&](std::int64_t i) { return start + static_cast<double>(i) * step; });
}

void detail::throw_arange_bounds(std::source_location where) {
  const CompositeCall site("arange", where);
  throw ValueError("arange: start, stop and step must be below 2^63");
}

Tensor detail::arange_of_integers(std::int64_t start, std::int64_t stop, std::int64_t step,
                                  DType dtype, std::source_location where) {
  const CompositeCall site("arange", where);
  if (step == 0) throw ValueError("arange: the step is 0");
  check_dtype("arange", dtype);
  // Without signs, in which the distance of any two integers fits.
  const auto first = static_cast<std::uint64_t>(start), stride = static_cast<std::uint64_t>(step);
  const bool any = step > 0 ? start < stop : start > stop;
  const std::uint64_t distance = static_cast<std::uint64_t>(stop) - first;
  const std::uint64_t count =
      !any ? 0 : 1 + (step > 0 ? (distance - 1) / stride : (0 - distance - 1) / (0 - stride));
  return range_of(count, dtype, [&](std::int64_t i) {
    return static_cast<std::int64_t>(first + static_cast<std::uint64_t>(i) * stride);
  });
}

} // namespace weft
