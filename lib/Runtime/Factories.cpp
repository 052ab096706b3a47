// Making tensors from values: nested lists, spans, ranges and fills.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "Runtime/Convert.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"

namespace weft {

namespace {

using detail::elements;
using detail::new_tensor;

[[noreturn]] void ragged(std::size_t depth, std::size_t first, std::size_t other) {
  throw ShapeError("tensor: the nested list is ragged: at depth " + std::to_string(depth) +
                   " one list has " + std::to_string(first) + " entries and another " +
                   std::to_string(other));
}

std::int64_t signed_size(std::size_t size) { return static_cast<std::int64_t>(size); }

} // namespace

template <Element T>
Tensor tensor(T value, std::source_location where) {
  const CallSite site(where);
  return detail::new_scalar<T>(value);
}

template <Element T>
Tensor tensor(std::initializer_list<T> values, std::source_location where) {
  return tensor(std::span<const T>(values.begin(), values.size()), {signed_size(values.size())},
                where);
}

template <Element T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> values, std::source_location where) {
  const CallSite site(where);
  const std::size_t columns = values.size() == 0 ? 0 : values.begin()->size();
  Tensor result = new_tensor(dtype_of<T>, Shape{signed_size(values.size()), signed_size(columns)});
  T *target = elements<T>(result);
  for (const auto &row : values) {
    if (row.size() != columns) ragged(1, columns, row.size());
    target = std::copy(row.begin(), row.end(), target);
  }
  return result;
}

template <Element T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
              std::source_location where) {
  const CallSite site(where);
  const std::size_t rows = values.size() == 0 ? 0 : values.begin()->size();
  const std::size_t columns = rows == 0 ? 0 : values.begin()->begin()->size();
  Tensor result = new_tensor(
      dtype_of<T>, Shape{signed_size(values.size()), signed_size(rows), signed_size(columns)});
  T *target = elements<T>(result);
  for (const auto &matrix : values) {
    if (matrix.size() != rows) ragged(1, rows, matrix.size());
    for (const auto &row : matrix) {
      if (row.size() != columns) ragged(2, columns, row.size());
      target = std::copy(row.begin(), row.end(), target);
    }
  }
  return result;
}

template <Element T>
Tensor tensor(std::span<const T> values, Shape shape, std::source_location where) {
  const CallSite site(where);
  Tensor result = new_tensor(dtype_of<T>, shape);
  if (result.size() != signed_size(values.size()))
    throw ShapeError("tensor: the shape " + to_string(shape) + " has " +
                     std::to_string(result.size()) + " elements, but " +
                     std::to_string(values.size()) + " are given");
  std::copy(values.begin(), values.end(), elements<T>(result));
  return result;
}

#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy)                                     \
  template Tensor tensor(cpp, std::source_location);                                               \
  template Tensor tensor(std::initializer_list<cpp>, std::source_location);                        \
  template Tensor tensor(std::initializer_list<std::initializer_list<cpp>>, std::source_location); \
  template Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<cpp>>>, \
                         std::source_location);                                                    \
  template Tensor tensor(std::span<const cpp>, Shape, std::source_location);
#include <weft/dtypes.def>

Tensor full(Shape shape, double value, DType dtype, std::source_location where) {
  const CallSite site(where);
  Tensor result = new_tensor(dtype, shape);
  visit_dtype(dtype, [&]<class T>() {
    std::fill_n(elements<T>(result), result.size(), convert_element<T>(value));
  });
  return result;
}

Tensor zeros(Shape shape, DType dtype, std::source_location where) {
  return full(std::move(shape), 0, dtype, where);
}
Tensor ones(Shape shape, DType dtype, std::source_location where) {
  return full(std::move(shape), 1, dtype, where);
}

Tensor arange(std::int64_t stop, DType dtype, std::source_location where) {
  const CallSite site(where);
  Tensor result = new_tensor(dtype, Shape{std::max<std::int64_t>(stop, 0)});
  visit_dtype(dtype, [&]<class T>() {
    T *target = elements<T>(result);
    for (std::int64_t i = 0; i < stop; ++i) target[i] = convert_element<T>(i);
  });
  return result;
}

Tensor arange(double start, double stop, double step, DType dtype, std::source_location where) {
  const CallSite site(where);
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step))
    throw ValueError("arange: start, stop and step must be finite");
  if (step == 0) throw ValueError("arange: the step is 0");
  const double count = std::max(std::ceil((stop - start) / step), 0.0);
  if (count >= 0x1p63) throw ShapeError("arange: the range has more elements than 2^63 - 1");
  Tensor result = new_tensor(dtype, Shape{static_cast<std::int64_t>(count)});
  visit_dtype(dtype, [&]<class T>() {
    T *target = elements<T>(result);
    for (std::int64_t i = 0; i < result.size(); ++i)
      target[i] = convert_element<T>(start + static_cast<double>(i) * step);
  });
  return result;
}

Tensor eye(std::int64_t n, DType dtype, std::source_location where) {
  const CallSite site(where);
  Tensor result = zeros({n, n}, dtype);
  visit_dtype(dtype, [&]<class T>() {
    T *target = elements<T>(result);
    for (std::int64_t i = 0; i < n; ++i) target[i * (n + 1)] = T(1);
  });
  return result;
}

} // namespace weft
