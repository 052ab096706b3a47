// Ops that go along one axis: cumulative ops by their kernels, and argsort.
#include <algorithm>
#include <numeric>
#include <vector>

#include "Kernels/KernelTable.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

using detail::elements;

/// A contiguous tensor that has elements, as (outer, size, inner) around one axis.
struct Lines {
  std::int64_t outer = 1, size = 1, inner = 1;

  Lines(const Shape &shape, std::int64_t axis) : size(shape[static_cast<std::size_t>(axis)]) {
    for (std::int64_t i = 0; i < shape.rank(); ++i) {
      if (i < axis) outer *= shape[static_cast<std::size_t>(i)];
      if (i > axis) inner *= shape[static_cast<std::size_t>(i)];
    }
  }
};

/// The order of a line's elements, `stride` apart from each other, in `indices`. NaN counts as
/// largest, and equal elements keep their order in either direction.
template <class T>
void sort_line(const T *x, std::int64_t *indices, std::int64_t size, std::int64_t stride,
               bool descending) {
  struct Entry {
    T key;
    std::int64_t index;
  };
  std::vector<Entry> line(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) line[static_cast<std::size_t>(i)] = {x[i * stride], i};
  const auto less = [](const T &a, const T &b) {
    if constexpr (std::is_floating_point_v<T>) return a < b || (a == a && b != b);
    else return a < b;
  };
  if (descending)
    std::stable_sort(line.begin(), line.end(),
                     [&](const Entry &a, const Entry &b) { return less(b.key, a.key); });
  else
    std::stable_sort(line.begin(), line.end(),
                     [&](const Entry &a, const Entry &b) { return less(a.key, b.key); });
  for (std::int64_t i = 0; i < size; ++i)
    indices[i * stride] = line[static_cast<std::size_t>(i)].index;
}

} // namespace

Tensor cumulative(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                  const TensorType &type) {
  const Kernel kernel =
      kernel_table()
          .cumulative[static_cast<std::size_t>(info.op)][static_cast<std::size_t>(type.dtype)];
  WEFT_INVARIANT(kernel != nullptr, "there is no kernel for " + std::string(info.name) + " of " +
                                        std::string(name_of(type.dtype)));
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  std::int64_t flags = 0;
  for (std::size_t i = 1; i < attrs.size(); ++i)
    if (std::get<bool>(attrs[i])) flags |= std::int64_t{1} << (i - 1);
  std::vector<Tensor> inputs;
  for (const Tensor &operand : operands) inputs.push_back(make_contiguous(operand));

  const Lines lines(type.shape, CumulativeAttrs(attrs).axis);
  const std::int64_t per_outer = lines.size * lines.inner;
  const auto bytes = per_outer * static_cast<std::int64_t>(item_size(type.dtype));
  const std::int64_t grain = std::max<std::int64_t>(parallel_grain(info.cost) / per_outer, 1);
  threads::parallel_for_noexcept(0, lines.outer, grain, [&](std::int64_t begin, std::int64_t end) {
    void *buffers[4];
    std::size_t count = 0;
    for (const Tensor &input : inputs) buffers[count++] = input.impl()->data + begin * bytes;
    buffers[count++] = &flags;
    buffers[count] = result.impl()->data + begin * bytes;
    const std::int64_t dims[] = {end - begin, lines.size, lines.inner};
    kernel(buffers, dims);
  });
  return result;
}

Tensor argsort(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
               const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  const Tensor x = make_contiguous(operands[0]);
  const Lines lines(type.shape, ArgsortAttrs(attrs).axis);
  const bool descending = ArgsortAttrs(attrs).descending;
  std::int64_t *const indices = elements<std::int64_t>(result);
  const std::int64_t grain = std::max<std::int64_t>(parallel_grain(info.cost) / lines.size, 1);
  visit_dtype(x.dtype(), [&]<class T>() {
    const T *const from = elements<const T>(x);
    threads::parallel_for(
        0, lines.outer * lines.inner, grain, [&](std::int64_t begin, std::int64_t end) {
          for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t first = i / lines.inner * lines.size * lines.inner + i % lines.inner;
            sort_line(from + first, indices + first, lines.size, lines.inner, descending);
          }
        });
  });
  return result;
}

} // namespace weft::eager
