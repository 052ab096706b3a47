// Reductions: groups of neighbouring axes go one after the other, the innermost first.
//
// OpDefs/ReductionOrder.h says in which order; inside a block the kernel decides.
#include <algorithm>

#include "Kernels/KernelTable.h"
#include "Kernels/Lines.h"
#include "Kernels/TransposedSums.h"
#include "OpDefs/ReductionOrder.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

/// An array as (outer, reduced, inner).
struct Extents {
  std::int64_t outer, reduced, inner;
};

/// Where such an array's elements are: how many elements apart along the first two axes. Along the
/// last they are neighbours, and along the reduced one where inner is 1.
struct Source {
  const std::byte *data;
  std::int64_t outer_pitch, pitch;

  static Source dense(const std::byte *data, const Extents &extents) {
    return {data, extents.reduced * extents.inner, extents.inner};
  }
};

/// The kernels of an op and dtype.
struct Reduction {
  Reduction(OpCode op, DType dtype)
      : rows(kernel_table()
                 .reduce_rows[static_cast<std::size_t>(op)][static_cast<std::size_t>(dtype)]),
        columns(kernel_table()
                    .reduce_columns[static_cast<std::size_t>(op)][static_cast<std::size_t>(dtype)]),
        dtype(dtype), item(static_cast<std::int64_t>(item_size(dtype))) {}

  void run(const Source &x, std::byte *y, const Extents &extents) const;
  void reduce(const Source &x, std::byte *y, const Extents &extents) const;

  Kernel rows, columns;
  DType dtype;
  std::int64_t item;
};

/// The kernel over all outer results, by threads if there are enough elements.
void Reduction::run(const Source &x, std::byte *y, const Extents &extents) const {
  const auto [outer, reduced, inner] = extents;
  const std::int64_t per_outer = std::max<std::int64_t>(reduced * inner, 1);
  const std::int64_t grain = std::max<std::int64_t>(kernels::parallel_grain(1) / per_outer, 1);
  threads::parallel_for_noexcept(0, outer, grain, [&](std::int64_t begin, std::int64_t end) {
    void *buffers[] = {const_cast<std::byte *>(x.data), y + begin * inner * item};
    if (reduced != 0) buffers[0] = const_cast<std::byte *>(x.data) + begin * x.outer_pitch * item;
    const std::int64_t of_rows[] = {end - begin, reduced, x.outer_pitch};
    const std::int64_t of_columns[] = {end - begin, reduced, inner, x.outer_pitch, x.pitch};
    if (inner == 1) rows(buffers, of_rows);
    else columns(buffers, of_columns);
  });
}

/// Reduces `x` into the dense `y`.
void Reduction::reduce(const Source &x, std::byte *y, const Extents &extents) const {
  if (extents.outer * extents.inner == 0) return;
  const auto cut = cut_reduction(extents.outer, extents.reduced, extents.inner);
  if (!cut) return run(x, y, extents);
  // For each outer result: whole blocks, what remains, then both together.
  const auto [rows, blocks, rest] = *cut;
  const Extents all{1, cut->parts(), extents.inner};
  const Tensor partial = detail::new_tensor(dtype, Shape{all.reduced, all.inner});
  std::byte *const parts = partial.impl()->data;
  for (std::int64_t i = 0; i < extents.outer; ++i) {
    const std::byte *const from = x.data + i * x.outer_pitch * item;
    run({from, rows * x.pitch, x.pitch}, parts, {blocks, rows, extents.inner});
    if (rest != 0)
      run({from + blocks * rows * x.pitch * item, 0, x.pitch},
          parts + blocks * extents.inner * item, {1, rest, extents.inner});
    run(Source::dense(parts, all), y + i * extents.inner * item, all);
  }
}

/// Axes that are neighbours and all reduced or all kept, as one.
struct Group {
  std::int64_t size;
  bool reduced;
  std::int64_t pitch; ///< elements from one to the next
};
using Groups = detail::InlineVector<Group, 6>;

/// Adds axes of `pitch` behind a group, which they may lie in anyhow; says whether the group is one
/// axis then.
bool append(Group &group, std::int64_t size, std::int64_t pitch) {
  const bool nests = group.size == 1 || size == 1 || group.pitch == size * pitch;
  if (size != 1) group.pitch = pitch;
  group.size *= size;
  return nests;
}

/// The groups of a tensor; `in_order` is left as it is, or false if not all of them are one axis.
Groups groups_of(const Tensor &x, const Ints &axes, bool &in_order) {
  Groups groups;
  const detail::TensorImpl *impl = x.impl();
  for (std::size_t i = 0, next = 0; i < impl->rank; ++i) {
    const bool reduced = next < axes.size() && axes[next] == static_cast<std::int64_t>(i);
    next += reduced;
    if (!groups.empty() && groups.back().reduced == reduced)
      in_order &= append(groups.back(), impl->dims()[i], impl->strides()[i]);
    else groups.push_back({impl->dims()[i], reduced, impl->strides()[i]});
  }
  return groups;
}

/// The last group that is reduced, with all before it and all behind it.
struct Step {
  Extents extents{1, 1, 1};
  Source source{nullptr, 0, 1};
  std::size_t group; ///< the reduced one
  bool is_last = true;
  bool in_order = true; ///< whether the kernels can read it so
};

Step last_step(const Groups &groups, const std::byte *data) {
  Step step;
  step.source.data = data;
  std::size_t behind = groups.size();
  while (behind != 0 && !groups[behind - 1].reduced) --behind;
  step.group = behind - 1;
  Group outer{1, false, 0}, inner{1, false, 1};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const auto [size, reduced, pitch] = groups[i];
    if (i + 1 < behind) {
      step.in_order &= append(outer, size, pitch);
      step.is_last &= !reduced;
    } else if (i + 1 == behind) {
      step.extents.reduced = size;
      step.source.pitch = pitch;
    } else {
      step.in_order &= append(inner, size, pitch);
    }
  }
  step.extents.outer = outer.size;
  step.extents.inner = inner.size;
  step.source.outer_pitch = outer.pitch;
  step.in_order &=
      inner.size == 1 ? step.extents.reduced == 1 || step.source.pitch == 1 : inner.pitch == 1;
  return step;
}

/// Sums of the first of two axes, of which it is the one whose elements are neighbours; says
/// whether they are such.
bool sum_of_transposed(const Reduction &kernels, const Groups &groups, const Tensor &x,
                       const Tensor &result) {
  constexpr std::int64_t kWorthIt = 4 * kernels::kSideBySide; // elements, as a copy
  if (!is_floating(x.dtype()) || groups.size() != 2 || !groups[0].reduced || groups[1].reduced ||
      groups[0].pitch != 1 || groups[1].pitch < groups[0].size ||
      groups[0].size * groups[1].size < kWorthIt)
    return false;
  const std::int64_t rows = groups[0].size, columns = groups[1].size;
  const auto cut = cut_reduction(1, rows, columns);
  const std::int64_t parts = cut ? cut->parts() : 1;
  const Tensor sums = cut ? detail::new_tensor(x.dtype(), Shape{parts, columns}) : result;
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const auto *from = static_cast<const T *>(static_cast<const void *>(x.impl()->data));
      kernels::transposed_sums({from, groups[1].pitch, rows, columns}, cut ? cut->rows : rows,
                               static_cast<T *>(static_cast<void *>(sums.impl()->data)), columns);
    }
  });
  const Extents all{1, parts, columns};
  if (cut) kernels.run(Source::dense(sums.impl()->data, all), result.impl()->data, all);
  return true;
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
  const Reduction kernels(mean ? OpCode::sum : info.op, dtype);
  WEFT_INVARIANT(kernels.rows != nullptr, "there is no kernel for " + std::string(info.name) +
                                              " of " + std::string(name_of(dtype)));
  const Ints &axes = ReductionAttrs(attrs).axes;
  Tensor result = detail::new_tensor(type.dtype, type.shape);

  std::int64_t count = operands[0].size() == 0 ? 0 : 1;
  if (count != 0)
    for (std::int64_t axis : axes) count *= operands[0].impl()->dims()[axis];
  Tensor x = operands[0];
  if (count == 0) { // of nothing: each result is the neutral element
    kernels.run({x.impl()->data, 0, 1}, result.impl()->data, {result.size(), 0, 1});
  } else if (axes.empty()) { // the neutral element makes 0 of -0
    const Tensor dense = make_contiguous(x);
    const Extents all{1, 1, dense.size()};
    kernels.run(Source::dense(dense.impl()->data, all), result.impl()->data, all);
  } else {
    bool in_order = true;
    Groups groups = groups_of(x, axes, in_order);
    Step step = last_step(groups, x.impl()->data);
    if (in_order && !step.in_order && (mean || info.op == OpCode::sum) &&
        sum_of_transposed(kernels, groups, x, result)) {
      if (mean) divide_by_count(result, count);
      return result;
    }
    if (!in_order || !step.in_order) {
      x = make_contiguous(x);
      groups = groups_of(x, axes, in_order);
      step = last_step(groups, x.impl()->data);
    }
    for (;; step = last_step(groups, x.impl()->data)) {
      Tensor next = step.is_last
                        ? result
                        : detail::new_tensor(dtype, Shape{step.extents.outer, step.extents.inner});
      kernels.reduce(step.source, next.impl()->data, step.extents);
      if (step.is_last) break;
      // What is left is dense.
      x = std::move(next);
      groups[step.group] = {1, false, 1};
      std::int64_t pitch = 1;
      for (std::size_t i = groups.size(); i-- > 0;) {
        groups[i].pitch = pitch;
        pitch *= groups[i].size;
      }
    }
  }
  if (mean) divide_by_count(result, count);
  return result;
}

} // namespace weft::eager
