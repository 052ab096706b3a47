// Strided copies: merges axes that lie behind each other, then copies rows, or transposes planes
// where source and target run along different axes.
#include "Runtime/StridedCopy.h"
#include "Kernels/KernelTable.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/Threads.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

extern "C" [[gnu::weak]] const weft::KernelTable *weft_kernel_table();

namespace weft {

namespace {

/// The kernels; null in programs of weft-compile, which have this file without that table, as it is
/// large.
const KernelTable *kernels() {
  return &weft_kernel_table != nullptr ? weft_kernel_table() : nullptr;
}

/// One loop of the copy; strides in bytes.
struct Axis {
  std::int64_t size, source, target;
};
using CopyAxes = detail::InlineVector<Axis, 6>;

constexpr std::int64_t kTile = 16;
constexpr std::int64_t kParallelBytes = std::int64_t{1} << 20;

/// A row whose elements are `Step` elements apart, known to the compiler so that it shuffles them.
template <std::size_t Item, std::int64_t Step>
void copy_in_steps(std::int64_t size, const std::byte *__restrict source,
                   std::byte *__restrict target) {
  for (std::int64_t i = 0; i < size; ++i)
    std::memcpy(target + i * static_cast<std::int64_t>(Item),
                source + i * Step * static_cast<std::int64_t>(Item), Item);
}

/// Every other element of a row: two vectors are read and what lies between dropped.
template <std::size_t Item>
void copy_every_other(std::int64_t size, const std::byte *source, std::byte *target) {
  constexpr std::int64_t kLanes = 16 / Item;
  using Element = std::conditional_t<Item == 4, std::uint32_t, std::uint64_t>;
  using Vector [[gnu::vector_size(16)]] = Element;
  std::int64_t i = 0;
  // The last vector would end past the last element.
  for (; i + kLanes < size; i += kLanes, source += 32, target += 16) {
    Vector low, high, both;
    std::memcpy(&low, source, 16);
    std::memcpy(&high, source + 16, 16);
    if constexpr (Item == 4) both = __builtin_shufflevector(low, high, 0, 2, 4, 6);
    else both = __builtin_shufflevector(low, high, 0, 2);
    std::memcpy(target, &both, 16);
  }
  copy_in_steps<Item, 2>(size - i, source, target);
}

/// Rows of a few neighbours up to this many are copied by as many instructions as they need.
constexpr std::int64_t kShortRow = 16;

/// Rows of `Bytes` each, one after the other.
template <std::size_t Bytes>
void copy_rows_of(Axis rows, const std::byte *source, std::byte *target) {
  for (std::int64_t i = 0; i < rows.size; ++i, source += rows.source, target += rows.target)
    std::memcpy(target, source, Bytes);
}

/// The same for so many elements of `Item` bytes, at most `kShortRow`.
template <std::size_t Item>
void copy_short_rows(std::int64_t elements, const Axis &rows, const std::byte *source,
                     std::byte *target) {
  constexpr auto kBySize = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array{&copy_rows_of<(I + 1) * Item>...};
  }(std::make_index_sequence<kShortRow>());
  kBySize[static_cast<std::size_t>(elements - 1)](rows, source, target);
}

/// Rows of one element each, repeated as often as a target row has elements, at most `kShortRow`.
template <std::size_t Item>
void repeat_short_rows(std::int64_t elements, const Axis &rows, const std::byte *source,
                       std::byte *target) {
  constexpr auto item = static_cast<std::int64_t>(Item);
  for (std::int64_t i = 0; i < rows.size; ++i, source += rows.source, target += rows.target) {
    std::byte element[Item];
    std::memcpy(element, source, Item);
#pragma clang loop vectorize(disable)
    for (std::int64_t j = 0; j < elements; ++j) std::memcpy(target + j * item, element, Item);
  }
}

template <std::size_t Item>
void copy_row(const Axis &row, const std::byte *source, std::byte *target) {
  constexpr auto item = static_cast<std::int64_t>(Item);
  if (row.target == item) {
    if (row.source == item) {
      std::memcpy(target, source, static_cast<std::size_t>(row.size) * Item);
      return;
    }
    if (row.source == -item) return copy_in_steps<Item, -1>(row.size, source, target);
    if (row.source == 2 * item) {
      if constexpr (Item == 4 || Item == 8) return copy_every_other<Item>(row.size, source, target);
      else return copy_in_steps<Item, 2>(row.size, source, target);
    }
  }
  copy_rows_of<Item>(row, source, target);
}

/// A plane whose source runs along `outer`: by the kernel, or in tiles which keep both sides within
/// a few cache lines.
template <std::size_t Item>
void copy_plane(const Axis &outer, const Axis &inner, const std::byte *source, std::byte *target) {
  constexpr auto item = static_cast<std::int64_t>(Item);
  if constexpr (Item <= 8) { // larger elements are rows of a vector each
    const KernelTable *const table = kernels();
    if (table != nullptr && inner.target == item && inner.source % item == 0 &&
        inner.source >= outer.size * item && outer.target % item == 0 &&
        outer.target >= inner.size * item) {
      void *const buffers[] = {const_cast<std::byte *>(source), target};
      const std::int64_t dims[] = {inner.size, inner.source / item, outer.size,
                                   outer.target / item};
      table->transpose[std::countr_zero(Item)](buffers, dims);
      return;
    }
  }
  for (std::int64_t i = 0; i < outer.size; i += kTile)
    for (std::int64_t j = 0; j < inner.size; j += kTile) {
      const std::int64_t rows = std::min(kTile, outer.size - i);
      const Axis columns{std::min(kTile, inner.size - j), inner.source, inner.target};
      for (std::int64_t k = i; k < i + rows; ++k)
        copy_row<Item>(columns, source + k * outer.source + j * inner.source,
                       target + k * outer.target + j * inner.target);
    }
}

template <std::size_t Item>
void copy_axes(std::span<const Axis> axes, const std::byte *source, std::byte *target) {
  if (axes.empty()) {
    std::memcpy(target, source, Item);
  } else if (axes.size() == 1) {
    copy_row<Item>(axes[0], source, target);
  } else if (axes.size() == 2 && axes[1].source == 0 && axes[1].size <= kShortRow &&
             axes[1].target == static_cast<std::int64_t>(Item)) {
    repeat_short_rows<Item>(axes[1].size, axes[0], source, target);
  } else if (axes.size() == 2 && axes[0].source == static_cast<std::int64_t>(Item)) {
    copy_plane<Item>(axes[0], axes[1], source, target);
  } else if (constexpr auto item = static_cast<std::int64_t>(Item);
             axes.size() == 2 && axes[1].source == item && axes[1].target == item &&
             axes[1].size <= kShortRow) {
    copy_short_rows<Item>(axes[1].size, axes[0], source, target);
  } else {
    for (std::int64_t i = 0; i < axes[0].size; ++i)
      copy_axes<Item>(axes.subspan(1), source + i * axes[0].source, target + i * axes[0].target);
  }
}

/// Drops axes of size 1 and merges neighbours that are one run on both sides. Empty if there is
/// nothing to copy but a single element; false if there is nothing at all.
bool plan(std::size_t item, std::span<const std::int64_t> dims,
          std::span<const std::int64_t> source, std::span<const std::int64_t> target,
          CopyAxes &axes) {
  const auto bytes = static_cast<std::int64_t>(item);
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return false;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    const Axis axis{dims[i], source[i] * bytes, target[i] * bytes};
    if (!axes.empty() && axes.back().source == axis.source * axis.size &&
        axes.back().target == axis.target * axis.size)
      axes.back() = {axes.back().size * axis.size, axis.source, axis.target};
    else axes.push_back(axis);
  }
  if (axes.size() < 2 || axes.back().source == bytes) return true;
  // The source runs along another axis: that one goes second last, to be copied in tiles with the
  // last.
  for (std::size_t i = 0; i + 1 < axes.size(); ++i)
    if (axes[i].source == bytes) {
      std::rotate(axes.begin() + i, axes.begin() + i + 1, axes.end() - 1);
      break;
    }
  return true;
}

template <std::size_t Item>
void copy_planned(std::span<const Axis> axes, const std::byte *source, std::byte *target) noexcept {
  std::int64_t count = 1;
  for (const Axis &axis : axes) count *= axis.size;
  constexpr auto item = static_cast<std::int64_t>(Item);
  if (axes.empty() || count * item < kParallelBytes) {
    copy_axes<Item>(axes, source, target);
    return;
  }
  // Threads share the longest axis; any order of the loops copies the same.
  CopyAxes loops(axes.begin(), axes.end());
  std::size_t split = 0;
  for (std::size_t i = 1; i < axes.size(); ++i)
    if (axes[i].size > axes[split].size) split = i;
  const Axis shared = axes[split];
  const std::int64_t grain =
      std::max<std::int64_t>(kParallelBytes / item / (count / shared.size), 1);
  threads::parallel_for_noexcept(0, shared.size, grain, [&](std::int64_t begin, std::int64_t end) {
    CopyAxes mine = loops;
    mine[split].size = end - begin;
    copy_axes<Item>(std::span<const Axis>(mine), source + begin * shared.source,
                    target + begin * shared.target);
  });
}

} // namespace

void copy_strided(std::size_t item, std::span<const std::int64_t> dims, const std::byte *source,
                  std::span<const std::int64_t> source_strides, std::byte *target,
                  std::span<const std::int64_t> target_strides) noexcept {
  CopyAxes axes;
  if (!plan(item, dims, source_strides, target_strides, axes)) return;
  switch (item) {
  case 1: return copy_planned<1>(axes, source, target);
  case 2: return copy_planned<2>(axes, source, target);
  case 4: return copy_planned<4>(axes, source, target);
  case 16: return copy_planned<16>(axes, source, target);
  default: return copy_planned<8>(axes, source, target);
  }
}

Tensor make_contiguous(const Tensor &tensor) {
  const detail::TensorImpl *impl = tensor.impl();
  if (impl->plain) return tensor;
  if (!detail::on_cpu(*impl)) return detail::in_order_on_device(tensor);
  Tensor result = detail::new_tensor_like(impl, impl->dtype);
  copy_strided(item_size(impl->dtype), impl->sizes(), impl->data, {impl->strides(), impl->rank},
               result.impl()->data, {result.impl()->strides(), impl->rank});
  return result;
}

} // namespace weft
