// Elementwise ops: precompiled kernels over whole tensors, over rows where operands broadcast or
// are views, over copies of blocks where elements of rows are not in order.
#include <algorithm>
#include <cstring>

#include "Kernels/KernelTable.h"
#include "Kernels/Lines.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

constexpr std::size_t kMaxOperands = 3;
/// Rows shorter than this do not pay for a kernel call each.
constexpr std::int64_t kShortRow = 32;

/// One operand against the shape of the result, or the result itself.
struct Source {
  std::byte *data;
  std::int64_t item;
  bool single;  ///< one element, repeated
  Ints strides; ///< in elements, aligned to the result's axes; 0 where it is repeated
};

/// A kernel call over `count` elements, by threads if there are enough of them.
void run_flat(Kernel kernel, std::span<const Source> sources, std::int64_t count, int cost) {
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    void *buffers[kMaxOperands + 1];
    for (std::size_t i = 0; i < sources.size(); ++i)
      buffers[i] = sources[i].data + (sources[i].single ? 0 : begin * sources[i].item);
    const std::int64_t dims[] = {end - begin};
    kernel(buffers, dims);
  };
  if (count <= kernels::parallel_grain(cost)) run(0, count);
  else threads::parallel_for_noexcept(0, count, kernels::parallel_grain(cost), run);
}

/// The strides of a tensor along the axes of a shape it broadcasts to.
Ints aligned_strides(const detail::TensorImpl *impl, const Shape &shape) {
  Ints strides(shape.size(), 0);
  const std::size_t offset = shape.size() - impl->rank;
  for (std::size_t i = 0; i < impl->rank; ++i)
    if (impl->dims()[i] != 1) strides[offset + i] = impl->strides()[i];
  return strides;
}

/// Merges axes over which every source moves on evenly; the last of `sources` is the result.
void merge_axes(Ints &dims, std::span<Source> sources) {
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) continue;
    bool merges = kept != 0;
    for (const Source &source : sources)
      merges = merges && source.strides[kept - 1] == source.strides[axis] * dims[axis];
    if (!merges) ++kept;
    dims[kept - 1] = merges ? dims[kept - 1] * dims[axis] : dims[axis];
    for (Source &source : sources) source.strides[kept - 1] = source.strides[axis];
  }
  dims.resize(kept);
  for (Source &source : sources) source.strides.resize(kept);
}

/// The kernel for the sources that are repeated along the last axis.
Kernel kernel_of_rows(const Kernel *variants, std::span<const Source> sources) {
  unsigned variant = 0;
  for (std::size_t i = 0; i + 1 < sources.size(); ++i)
    variant |= static_cast<unsigned>(sources[i].strides.back() == 0) << i;
  return variants[variant];
}

/// A kernel call per row of the last axis, along which every source lies in order or is repeated.
void run_rows(const Kernel *variants, std::span<const Source> sources, const Ints &dims, int cost) {
  const std::size_t inner = dims.size() - 1;
  const std::int64_t row = dims[inner];
  std::int64_t rows = 1;
  for (std::size_t i = 0; i < inner; ++i) rows *= dims[i];
  const Kernel kernel = kernel_of_rows(variants, sources);
  const std::int64_t grain = std::max<std::int64_t>(kernels::parallel_grain(cost) / row, 1);
  threads::parallel_for_noexcept(0, rows, grain, [&](std::int64_t begin, std::int64_t end) {
    // Where each source stands; a step of an axis moves all of them.
    Ints index(inner, 0);
    void *buffers[kMaxOperands + 1];
    for (std::size_t s = 0; s < sources.size(); ++s) buffers[s] = sources[s].data;
    const auto move = [&](std::size_t axis, std::int64_t steps) {
      for (std::size_t s = 0; s < sources.size(); ++s)
        buffers[s] = static_cast<std::byte *>(buffers[s]) +
                     steps * sources[s].strides[axis] * sources[s].item;
    };
    std::int64_t rest = begin;
    for (std::size_t axis = inner; axis-- > 0; rest /= dims[axis]) {
      index[axis] = rest % dims[axis];
      move(axis, index[axis]);
    }
    for (std::int64_t i = begin;;) {
      kernel(buffers, &row);
      if (++i == end) break;
      for (std::size_t axis = inner; axis-- > 0;) {
        move(axis, 1);
        if (++index[axis] < dims[axis]) break;
        move(axis, -dims[axis]);
        index[axis] = 0;
      }
    }
  });
}

/// Whether the elements of a row are one behind the other, or one repeated.
bool has_rows_in_order(const Source &source) {
  return source.strides.back() == 1 || source.strides.back() == 0;
}

/// The bytes of a block that is copied, which the cache keeps.
constexpr std::int64_t kBlockBytes = 16384;

/// Where a source is in a block: blocks are of the last two axes.
class BlockSource {
public:
  BlockSource(const Source &source, const Ints &dims) : source_(source), dims_(dims) {}

  std::byte *at(std::int64_t plane, std::int64_t row, std::int64_t column) const {
    std::int64_t elements = row * down() + column * source_.strides.back();
    for (std::size_t axis = dims_.size() - 1; axis-- > 1;) {
      elements += plane % dims_[axis - 1] * source_.strides[axis - 1];
      plane /= dims_[axis - 1];
    }
    return source_.data + elements * source_.item;
  }
  /// Elements from a row to the next.
  std::int64_t down() const {
    return dims_.size() == 1 ? 0 : source_.strides[source_.strides.size() - 2];
  }
  void copy(const std::byte *from, std::span<const std::int64_t> size, std::byte *to) const {
    const std::int64_t steps[] = {down(), source_.strides.back()}, dense[] = {size[1], 1};
    copy_strided(static_cast<std::size_t>(source_.item), size, from, steps, to, dense);
  }

private:
  const Source &source_;
  const Ints &dims_;
};

/// Blocks of the last two axes: of the sources whose rows are not in order the block is copied
/// first, to where the cache keeps it, and the kernel is called for each row.
void run_blocks(const Kernel *variants, std::span<const Source> sources, const Ints &dims,
                int cost) {
  constexpr std::int64_t kSide = 64;
  const std::size_t rank = dims.size(), inner = rank - 1;
  // Square blocks of several cache lines in both directions for sources that run down the columns,
  // else parts of rows.
  const bool across_rows = rank > 1 && std::any_of(sources.begin(), sources.end(), [&](auto &s) {
                             return std::abs(s.strides[inner]) > std::abs(s.strides[rank - 2]) &&
                                    s.strides[rank - 2] != 0;
                           });
  std::int64_t item = 1;
  for (const Source &source : sources) item = std::max(item, source.item);
  const std::int64_t height = across_rows ? kSide : 1, width = kBlockBytes / item / height;
  const std::int64_t columns = dims[inner], rows = rank == 1 ? 1 : dims[rank - 2];
  const std::int64_t across = (columns + width - 1) / width, down = (rows + height - 1) / height;
  std::int64_t planes = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) planes *= dims[i];
  const Kernel kernel = kernel_of_rows(variants, sources);
  const std::int64_t grain =
      std::max<std::int64_t>(kernels::parallel_grain(cost) / (height * width), 1);
  threads::parallel_for_noexcept(
      0, planes * down * across, grain, [&](std::int64_t begin, std::int64_t end) {
        alignas(64) std::byte scratch[kMaxOperands][kBlockBytes];
        for (std::int64_t block = begin; block < end; ++block) {
          const std::int64_t column = block % across * width, row = block / across % down * height;
          const std::int64_t size[] = {std::min(height, rows - row),
                                       std::min(width, columns - column)};
          std::byte *at[kMaxOperands + 1];
          std::int64_t step[kMaxOperands + 1];
          for (std::size_t s = 0; s < sources.size(); ++s) {
            const BlockSource source(sources[s], dims);
            at[s] = source.at(block / across / down, row, column);
            step[s] = source.down() * sources[s].item;
            if (has_rows_in_order(sources[s])) continue;
            source.copy(at[s], size, scratch[s]);
            at[s] = scratch[s];
            step[s] = size[1] * sources[s].item;
          }
          for (std::int64_t i = 0; i < size[0]; ++i) {
            void *buffers[kMaxOperands + 1];
            for (std::size_t s = 0; s < sources.size(); ++s) buffers[s] = at[s] + i * step[s];
            kernel(buffers, &size[1]);
          }
        }
      });
}

/// Blocks of whole rows that are too short for a kernel call each: of the sources that do not have
/// them one behind the other the block is copied first, once where all its rows are the same, and
/// the kernel is called for the block. Says false, and has done nothing, where there are few rows.
bool run_short_rows(Kernel kernel, std::span<const Source> sources, const Ints &dims, int cost) {
  constexpr std::int64_t kFewRows = 16;
  const std::size_t rank = dims.size();
  if (rank < 2 || dims[rank - 2] < kFewRows) return false;
  const std::int64_t columns = dims[rank - 1], rows = dims[rank - 2];
  std::int64_t item = 1, planes = 1;
  for (const Source &source : sources) item = std::max(item, source.item);
  for (std::size_t i = 0; i + 2 < rank; ++i) planes *= dims[i];
  const std::int64_t height = std::min(kBlockBytes / item / columns, rows);
  const std::int64_t down = (rows + height - 1) / height;
  const std::int64_t grain =
      std::max<std::int64_t>(kernels::parallel_grain(cost) / (height * columns), 1);
  threads::parallel_for_noexcept(
      0, planes * down, grain, [&](std::int64_t begin, std::int64_t end) {
        alignas(64) std::byte scratch[kMaxOperands][kBlockBytes];
        const std::byte *copied[kMaxOperands] = {}; // the row that all rows of scratch are
        for (std::int64_t block = begin; block < end; ++block) {
          const std::int64_t row = block % down * height;
          const std::int64_t size[] = {std::min(height, rows - row), columns};
          void *buffers[kMaxOperands + 1];
          for (std::size_t s = 0; s < sources.size(); ++s) {
            buffers[s] = sources[s].data;
            if (sources[s].single) continue;
            const BlockSource source(sources[s], dims);
            std::byte *const from = source.at(block / down, row, 0);
            buffers[s] = from;
            if (source.down() == columns && sources[s].strides.back() == 1) continue;
            buffers[s] = scratch[s];
            if (copied[s] == from) continue;
            const bool same = source.down() == 0; // and as many as any block has
            const std::int64_t taken[] = {same ? height : size[0], columns};
            source.copy(from, taken, scratch[s]);
            copied[s] = same ? from : nullptr;
          }
          const std::int64_t count = size[0] * columns;
          kernel(buffers, &count);
        }
      });
  return true;
}

/// `tensor`, which is contiguous, as a contiguous tensor of the shape it broadcasts to.
Tensor spread(const Tensor &tensor, const Shape &shape) {
  const detail::TensorImpl *impl = tensor.impl();
  bool leading = true; // only new axes in front: the whole tensor is repeated
  for (std::size_t i = 0; i < impl->rank; ++i)
    leading &= impl->dims()[i] == shape[shape.size() - impl->rank + i];
  if (leading) {
    Tensor result = detail::new_tensor(impl->dtype, shape);
    const std::size_t item = item_size(impl->dtype);
    const std::size_t all = static_cast<std::size_t>(result.size()) * item;
    std::size_t done = static_cast<std::size_t>(impl->size) * item;
    std::byte *const target = result.impl()->data;
    std::memcpy(target, impl->data, done);
    for (; done < all; done *= 2) std::memcpy(target + done, target, std::min(done, all - done));
    return result;
  }
  return make_contiguous(detail::new_view(tensor, shape, aligned_strides(tensor.impl(), shape), 0));
}

} // namespace

Tensor elementwise(const OpInfo &info, std::span<const Tensor> operands, const Attrs &,
                   const TensorType &type) {
  const Kernel *variants =
      kernel_table().elementwise[static_cast<std::size_t>(info.op)]
                                [static_cast<std::size_t>(operands.back().dtype())];
  WEFT_INVARIANT(variants[0] != nullptr, "there is no kernel for " + std::string(info.name) +
                                             " of " + std::string(name_of(type.dtype)));
  return run_elementwise(variants, info.cost, operands, type);
}

Tensor run_elementwise(const Kernel *variants, int cost, std::span<const Tensor> operands,
                       const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const std::int64_t count = result.size();
  if (count == 0) return result;

  Tensor kept[kMaxOperands]; // operands, or contiguous copies of them
  Source sources[kMaxOperands + 1];
  const std::size_t n = operands.size();
  const std::int64_t row = type.shape.empty() ? 1 : type.shape.back();
  unsigned variant = 0;
  bool flat = true;
  const bool repeats = n == 1 || variants[1] != nullptr;
  for (std::size_t i = 0; i < n; ++i) {
    // Views are read as they are where rows are long enough for a kernel call each.
    kept[i] = row < kShortRow || !repeats ? make_contiguous(operands[i]) : operands[i];
    if (!repeats && kept[i].size() != count) kept[i] = spread(kept[i], type.shape);
    const bool single = kept[i].size() == 1 && count != 1;
    variant |= static_cast<unsigned>(single) << i;
    flat &= single || (kept[i].size() == count && kept[i].is_contiguous());
    sources[i].single = single;
  }
  const auto fill = [&](std::size_t i, const Tensor &tensor) {
    sources[i].data = tensor.impl()->data;
    sources[i].item = static_cast<std::int64_t>(item_size(tensor.dtype()));
  };
  for (std::size_t i = 0; i < n; ++i) fill(i, kept[i]);
  fill(n, result);
  sources[n].single = false;
  // All operands of one element and several results cannot be; one of each is not `single`.
  if (flat) {
    run_flat(variants[variant], {sources, n + 1}, count, cost);
    return result;
  }
  for (std::size_t i = 0; i < n; ++i)
    sources[i].strides = aligned_strides(kept[i].impl(), type.shape);
  if (row >= kShortRow &&
      std::all_of(sources, sources + n, [](const Source &s) { return s.strides.back() == 0; })) {
    // No kernel repeats all its operands.
    kept[0] = make_contiguous(detail::new_view(kept[0], type.shape, sources[0].strides, 0));
    fill(0, kept[0]);
    sources[0].strides = aligned_strides(kept[0].impl(), type.shape);
  }
  sources[n].strides = aligned_strides(result.impl(), type.shape);
  Ints dims = type.shape;
  merge_axes(dims, {sources, n + 1});
  const std::span<const Source> all(sources, n + 1);
  if (dims.back() < kShortRow) {
    if (run_short_rows(variants[variant], all, dims, cost)) return result;
    // One pass over memory more, but then kernels over all elements at once.
    for (std::size_t i = 0; i < n; ++i) {
      if (!sources[i].single && kept[i].size() != count) kept[i] = spread(kept[i], type.shape);
      fill(i, kept[i]);
    }
    run_flat(variants[variant], all, count, cost);
  } else if (std::all_of(all.begin(), all.end(), has_rows_in_order)) {
    run_rows(variants, all, dims, cost);
  } else {
    run_blocks(variants, all, dims, cost);
  }
  return result;
}

Tensor elementwise_in_blocks(const OpInfo &info, std::span<const Tensor> operands,
                             const Widened &wide, const TensorType &type) {
  const auto narrow = static_cast<std::size_t>(wide.narrow),
             compute = static_cast<std::size_t>(wide.dtype);
  const auto &casts = kernel_table().cast;
  const Kernel *variants = kernel_table().elementwise[static_cast<std::size_t>(info.op)][compute];
  const auto item = static_cast<std::int64_t>(item_size(wide.narrow)),
             wide_item = static_cast<std::int64_t>(item_size(wide.dtype)),
             result_item = static_cast<std::int64_t>(item_size(type.dtype));
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const std::int64_t count = result.size(), block = kBlockBytes / wide_item;
  alignas(16) std::byte singles[kMaxOperands][16];
  const std::size_t n = operands.size();
  unsigned variant = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Tensor &x = operands[i];
    const bool single = x.size() == 1 && count != 1;
    if (x.dtype() != wide.narrow || !(single || (x.size() == count && x.is_contiguous())))
      return {};
    if (!single) continue;
    variant |= 1u << i;
    void *const buffers[] = {x.impl()->data, singles[i]};
    const std::int64_t one = 1;
    casts[narrow][compute](buffers, &one);
  }
  const Kernel kernel = variants[variant];
  if (kernel == nullptr) return {}; // all operands are one element, and so is not the result
  const bool rounds = type.dtype == wide.narrow;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    alignas(64) std::byte scratch[kMaxOperands + 1][kBlockBytes];
    for (std::int64_t at = begin; at < end; at += block) {
      const std::int64_t dims[] = {std::min(block, end - at)};
      void *buffers[kMaxOperands + 1];
      for (std::size_t i = 0; i < n; ++i) {
        buffers[i] = variant >> i & 1 ? singles[i] : scratch[i];
        if (variant >> i & 1) continue;
        void *const both[] = {operands[i].impl()->data + at * item, scratch[i]};
        casts[narrow][compute](both, dims);
      }
      std::byte *const to = result.impl()->data + at * result_item;
      buffers[n] = rounds ? scratch[n] : to;
      kernel(buffers, dims);
      if (!rounds) continue;
      void *const both[] = {scratch[n], to};
      casts[compute][narrow](both, dims);
    }
  };
  const std::int64_t grain = kernels::parallel_grain(info.cost + 2);
  if (count <= grain) run(0, count);
  else threads::parallel_for_noexcept(0, count, grain, run);
  return result;
}

Tensor cast(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
            const TensorType &type) {
  const Tensor &x = operands[0];
  if (x.dtype() == type.dtype) return x;
  if (is_complex(x.dtype()) || is_complex(type.dtype))
    return complex_elementwise(info, operands, attrs, type);
  const Tensor source = make_contiguous(x);
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const Kernel kernel =
      kernel_table()
          .cast[static_cast<std::size_t>(x.dtype())][static_cast<std::size_t>(type.dtype)];
  const Source sources[] = {
      {source.impl()->data, static_cast<std::int64_t>(item_size(x.dtype())), false, {}},
      {result.impl()->data, static_cast<std::int64_t>(item_size(type.dtype)), false, {}}};
  run_flat(kernel, sources, result.size(), info.cost);
  return result;
}

} // namespace weft::eager
