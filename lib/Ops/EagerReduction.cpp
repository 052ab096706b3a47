// Reductions: groups of neighbouring axes go one after the other, the innermost first.
//
// OpDefs/ReductionOrder.h says in which order; inside a block the kernel decides.
#include <algorithm>

#include "Kernels/KernelTable.h"
#include "Kernels/Lines.h"
#include "OpDefs/ReductionOrder.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

/// A contiguous array as (outer, reduced, inner).
struct Extents {
  std::int64_t outer, reduced, inner;
};

/// The kernel over all outer results, by threads if there are enough elements.
void run(Kernel kernel, const std::byte *x, std::int64_t x_item, std::byte *y, std::int64_t y_item,
         const Extents &extents) {
  const std::int64_t per_outer = std::max<std::int64_t>(extents.reduced * extents.inner, 1);
  const std::int64_t grain = std::max<std::int64_t>(kernels::parallel_grain(1) / per_outer, 1);
  threads::parallel_for_noexcept(
      0, extents.outer, grain, [&](std::int64_t begin, std::int64_t end) {
        void *buffers[] = {const_cast<std::byte *>(x) + begin * per_outer * x_item,
                           y + begin * extents.inner * y_item};
        if (extents.reduced == 0) buffers[0] = const_cast<std::byte *>(x);
        const std::int64_t dims[] = {end - begin, extents.reduced, extents.inner};
        kernel(buffers, dims);
      });
}

/// Reduces `x`, an array of `extents` of elements of `item` bytes, into `y`.
void reduce(Kernel kernel, DType dtype, const std::byte *x, std::byte *y, const Extents &extents) {
  const auto item = static_cast<std::int64_t>(item_size(dtype));
  if (extents.outer * extents.inner == 0) return;
  const auto cut = cut_reduction(extents.outer, extents.reduced, extents.inner);
  if (!cut) {
    run(kernel, x, item, y, item, extents);
    return;
  }
  // For each outer result: whole blocks, what remains, then both together.
  const auto [rows, blocks, rest] = *cut;
  const std::int64_t parts = cut->parts();
  const Tensor partial = detail::new_tensor(dtype, Shape{parts, extents.inner});
  std::byte *const parts_data = partial.impl()->data;
  for (std::int64_t i = 0; i < extents.outer; ++i) {
    const std::byte *const from = x + i * extents.reduced * extents.inner * item;
    run(kernel, from, item, parts_data, item, {blocks, rows, extents.inner});
    if (rest != 0)
      run(kernel, from + blocks * rows * extents.inner * item, item,
          parts_data + blocks * extents.inner * item, item, {1, rest, extents.inner});
    run(kernel, parts_data, item, y + i * extents.inner * item, item, {1, parts, extents.inner});
  }
}

/// Divides the sums in `y` by the number of elements each is of.
void divide_by_count(const Tensor &y, std::int64_t count) {
  visit_dtype(y.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const T divisor = static_cast<T>(count);
      void *buffers[] = {y.impl()->data, const_cast<T *>(&divisor), y.impl()->data};
      const std::int64_t dims[] = {y.size()};
      kernel_table().elementwise[static_cast<std::size_t>(OpCode::divide)]
                                [static_cast<std::size_t>(y.dtype())][2](buffers, dims);
    }
  });
}

} // namespace

Tensor reduction(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                 const TensorType &type) {
  const bool mean = info.op == OpCode::mean;
  const DType dtype = operands[0].dtype();
  const Kernel kernel =
      kernel_table().reduce[static_cast<std::size_t>(mean ? OpCode::sum : info.op)]
                           [static_cast<std::size_t>(dtype)];
  WEFT_INVARIANT(kernel != nullptr, "there is no kernel for " + std::string(info.name) + " of " +
                                        std::string(name_of(dtype)));
  const Ints &axes = ReductionAttrs(attrs).axes;
  Tensor result = detail::new_tensor(type.dtype, type.shape);

  // Neighbours that are both reduced or both kept become one axis.
  struct Group {
    std::int64_t size;
    bool reduced;
  };
  detail::InlineVector<Group, 6> groups;
  std::int64_t count = operands[0].size() == 0 ? 0 : 1;
  for (std::int64_t i = 0, next = 0; count != 0 && i < operands[0].rank(); ++i) {
    const bool reduced = next < static_cast<std::int64_t>(axes.size()) && axes[next] == i;
    next += reduced;
    const std::int64_t size = operands[0].impl()->dims()[i];
    if (reduced) count *= size;
    if (!groups.empty() && groups.back().reduced == reduced) groups.back().size *= size;
    else groups.push_back({size, reduced});
  }

  Tensor x = make_contiguous(operands[0]);
  bool done = count == 0; // of nothing: each result is the neutral element
  if (done) reduce(kernel, dtype, x.impl()->data, result.impl()->data, {result.size(), 0, 1});
  while (!done) {
    std::size_t last = groups.size();
    while (last != 0 && !groups[last - 1].reduced) --last;
    Extents extents{1, 1, 1};
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (i + 1 < last) extents.outer *= groups[i].size;
      else if (i + 1 == last) extents.reduced = groups[i].size;
      else extents.inner *= groups[i].size;
    }
    done = true;
    for (std::size_t i = 0; i + 1 < last; ++i) done &= !groups[i].reduced;
    Tensor next = done ? result : detail::new_tensor(dtype, Shape{extents.outer, extents.inner});
    reduce(kernel, dtype, x.impl()->data, next.impl()->data, extents);
    x = std::move(next);
    if (!done) groups[last - 1] = {1, false};
  }
  if (mean) divide_by_count(result, count);
  return result;
}

} // namespace weft::eager
