// Ops that make new tensors from elements of others: iota, concatenate, pad, gather, scatter_add
// and their kin.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "Kernels/Lines.h"
#include "OpDefs/ShapeFunctions.h"
#include "Ops/Eager.h"
#include "Runtime/Elements.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

using detail::elements;

/// A tensor as (outer, axis, inner) around one axis.
struct Extents {
  std::int64_t outer = 1, size = 1, inner = 1;
};

Extents around(const Shape &shape, std::int64_t axis) {
  std::uint64_t outer = 1, inner = 1; // unsigned: sizes beside a 0 may multiply to anything
  for (std::int64_t i = 0; i < shape.rank(); ++i) {
    const auto size = static_cast<std::uint64_t>(shape[static_cast<std::size_t>(i)]);
    if (i < axis) outer *= size;
    if (i > axis) inner *= size;
  }
  return {static_cast<std::int64_t>(outer), shape[static_cast<std::size_t>(axis)],
          static_cast<std::int64_t>(inner)};
}

/// Indices of an axis, which are checked and used block by block while they are in the cache.
class Indices {
public:
  /// So many at a time.
  static constexpr std::int64_t kBlock = 1024;
  using Block = std::array<std::int64_t, kBlock>;

  /// \param size of the axis
  Indices(const OpInfo &info, const Tensor &indices, std::int64_t size)
      : info_(info), source_(make_contiguous(indices)), size_(size) {}

  std::int64_t count() const { return source_.size(); }

  /// Indices number `first` to `first + count`, at most a block of them, as i64: where they are, or
  /// in `scratch`. Null if one of them is out of range, which `raise_bad` tells of later.
  const std::int64_t *checked(std::int64_t first, std::int64_t count, Block &scratch) {
    if (!is_any_outside(first, count)) return at(first, count, scratch);
    bad_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  /// The same without looking whether they are in range.
  const std::int64_t *at(std::int64_t first, std::int64_t count, Block &scratch) const {
    if (source_.dtype() == DType::i64) return elements<const std::int64_t>(source_) + first;
    std::copy_n(elements<const std::int32_t>(source_) + first, count, scratch.begin());
    return scratch.data();
  }

  /// Throws if an index is out of range.
  void check_all() {
    threads::parallel_for_noexcept(0, count(), kernels::parallel_grain(1),
                                   [&](std::int64_t begin, std::int64_t end) {
                                     if (is_any_outside(begin, end - begin))
                                       bad_.store(true, std::memory_order_relaxed);
                                   });
    raise_bad();
  }
  /// Throws if an index has been found to be out of range.
  void raise_bad() const {
    if (!bad_.load(std::memory_order_relaxed)) return;
    Block block;
    for (std::int64_t i = 0;; ++i) {
      const std::int64_t index = *at(i, 1, block);
      if (index >= 0 && index < size_) continue;
      raise(ErrorKind::index, std::string(info_.name) + ": index " + std::to_string(index) +
                                  " is out of range for an axis of size " + std::to_string(size_));
    }
  }

private:
  bool is_any_outside(std::int64_t first, std::int64_t count) const {
    if (source_.dtype() == DType::i64)
      return any_outside(elements<const std::int64_t>(source_) + first, count, size_);
    return any_outside(elements<const std::int32_t>(source_) + first, count, size_);
  }

  const OpInfo &info_;
  Tensor source_;
  std::int64_t size_;
  std::atomic<bool> bad_ = false;
};

template <class T>
void add_row(T *target, const T *source, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<T>)
      target[i] = static_cast<T>(static_cast<std::make_unsigned_t<T>>(target[i]) +
                                 static_cast<std::make_unsigned_t<T>>(source[i]));
    else target[i] += source[i];
  }
}

} // namespace

Tensor constant(const OpInfo &, std::span<const Tensor>, const Attrs &attrs,
                const TensorType &type) {
  const ConstantRef &data = ConstantAttrs(attrs).value;
  // Nobody writes through a tensor that is not uniquely owned storage of its own.
  return detail::new_external(
      type.dtype, type.shape, const_cast<void *>(data->bytes),
      {[](void *owner) { delete static_cast<ConstantRef *>(owner); }, new ConstantRef(data)});
}

Tensor iota(const OpInfo &, std::span<const Tensor>, const Attrs &attrs, const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const Extents extents = around(type.shape, IotaAttrs(attrs).axis);
  visit_dtype(type.dtype, [&]<class T>() {
    T *target = elements<T>(result);
    if (result.size() == 0) return;
    for (std::int64_t i = 0; i < extents.outer; ++i)
      for (std::int64_t j = 0; j < extents.size; ++j, target += extents.inner)
        std::fill_n(target, extents.inner, convert_element<T>(j));
  });
  return result;
}

Tensor concatenate(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                   const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  const std::size_t item = item_size(type.dtype);
  const auto axis = static_cast<std::size_t>(ConcatenateAttrs(attrs).axis);
  const detail::TensorImpl *to = result.impl();
  std::byte *target = to->data;
  for (const Tensor &x : operands) {
    const detail::TensorImpl *from = x.impl();
    copy_strided(item, from->sizes(), from->data, {from->strides(), from->rank}, target,
                 {to->strides(), to->rank});
    target += from->dims()[axis] * to->strides()[axis] * static_cast<std::int64_t>(item);
  }
  return result;
}

Tensor pad(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
           const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const detail::TensorImpl *to = result.impl(), *from = operands[0].impl();
  if (to->size == 0) return result;
  visit_bytes(type.dtype, [&]<class T>() {
    std::fill_n(elements<T>(result), to->size, *elements<T>(operands[1]));
  });
  if (from->size == 0) return result;
  const Ints &low = PadAttrs(attrs).low, &interior = PadAttrs(attrs).interior;
  Ints strides;
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < low.size(); ++i) {
    offset += low[i] * to->strides()[i];
    // Within one element there is no interior, however large it is given.
    strides.push_back(from->dims()[i] > 1 ? to->strides()[i] * (interior[i] + 1) : 0);
  }
  const std::size_t item = item_size(type.dtype);
  copy_strided(item, from->sizes(), from->data, {from->strides(), from->rank},
               to->data + offset * static_cast<std::int64_t>(item), strides);
  return result;
}

/// Copies `count` rows of `bytes` each, which are those of `source` with these numbers. `Bytes` are
/// those of a row if they are known.
template <std::int64_t Bytes>
void copy_rows(const std::int64_t *index, std::int64_t count, const std::byte *source,
               std::byte *target, std::int64_t bytes) {
  /// Short rows have nothing to wait for but memory, of which the processor sees enough ahead.
  constexpr std::int64_t kAhead = 8, kLine = 64, kShort = 64, kLong = 1024;
  const std::int64_t size = Bytes != 0 ? Bytes : bytes;
  const bool fetches = Bytes == 0 && size > kShort && size <= kLong;
  for (std::int64_t i = 0; i < count; ++i, target += size) {
    if (fetches && i + kAhead < count)
      for (std::int64_t at = 0; at < size; at += kLine)
        __builtin_prefetch(source + index[i + kAhead] * size + at);
    std::memcpy(target, source + index[i] * size, static_cast<std::size_t>(size));
  }
}

Tensor gather(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
              const TensorType &type) {
  const Tensor x = make_contiguous(operands[0]);
  const Extents extents = around(x.shape(), GatherAttrs(attrs).axis);
  Indices indices(info, operands[1], extents.size);
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  // All indices are used for each of the outer slices, and looked at once.
  const bool checks = extents.outer == 1 && result.size() != 0;
  if (!checks) indices.check_all();
  if (result.size() == 0) return result;
  const auto item = static_cast<std::int64_t>(item_size(type.dtype));
  const std::int64_t count = indices.count(), bytes = extents.inner * item;
  const std::byte *const from = x.impl()->data;
  std::byte *const to = result.impl()->data;
  // Short rows are copied by a few instructions each.
  const auto copy = bytes == 4    ? copy_rows<4>
                    : bytes == 8  ? copy_rows<8>
                    : bytes == 16 ? copy_rows<16>
                    : bytes == 32 ? copy_rows<32>
                    : bytes == 64 ? copy_rows<64>
                                  : copy_rows<0>;
  const std::int64_t grain = std::max<std::int64_t>(kernels::parallel_grain(1) / extents.inner, 1);
  threads::parallel_for_noexcept(
      0, extents.outer * count, grain, [&](std::int64_t begin, std::int64_t end) {
        Indices::Block scratch;
        while (begin < end) {
          const std::int64_t outer = begin / count, first = begin % count;
          const std::int64_t run = std::min({end - begin, count - first, Indices::kBlock});
          const std::int64_t *const index =
              checks ? indices.checked(first, run, scratch) : indices.at(first, run, scratch);
          if (index == nullptr) return;
          copy(index, run, from + outer * extents.size * bytes, to + begin * bytes, bytes);
          begin += run;
        }
      });
  indices.raise_bad();
  return result;
}

/// The elements in memory of their own, row-major.
static Tensor copy_of(const Tensor &tensor) {
  const detail::TensorImpl *x = tensor.impl();
  Tensor result = detail::new_tensor(x->dtype, x->sizes());
  const detail::TensorImpl *to = result.impl();
  copy_strided(item_size(x->dtype), x->sizes(), x->data, {x->strides(), x->rank}, to->data,
               {to->strides(), to->rank});
  return result;
}

Tensor scatter_add(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                   const TensorType &type) {
  const Extents extents = around(type.shape, ScatterAddAttrs(attrs).axis);
  Indices indices(info, operands[1], extents.size);
  const Tensor updates = make_contiguous(operands[2]);
  const std::int64_t count = indices.count(), inner = extents.inner;
  const std::int64_t columns = extents.outer * inner;
  // Threads share the columns: all updates of one element are added by one thread, in order. All
  // use all indices, which are looked at once.
  const bool checks = columns == 1;
  if (!checks) indices.check_all();
  Tensor result = copy_of(operands[0]);
  if (updates.size() == 0) return result;
  visit_numbers(type.dtype, [&]<class T>() {
    const T *const from = elements<T>(updates);
    T *const target = elements<T>(result);
    const std::int64_t grain = std::max<std::int64_t>(kernels::parallel_grain(1) / count, 16);
    threads::parallel_for_noexcept(0, columns, grain, [&](std::int64_t begin, std::int64_t end) {
      Indices::Block scratch;
      while (begin < end) {
        const std::int64_t outer = begin / inner, column = begin % inner;
        const std::int64_t width = std::min(inner - column, end - begin);
        T *const into = target + outer * extents.size * inner + column;
        const T *const rows = from + outer * count * inner + column;
        for (std::int64_t first = 0; first < count; first += Indices::kBlock) {
          const std::int64_t some = std::min(Indices::kBlock, count - first);
          const std::int64_t *const index =
              checks ? indices.checked(first, some, scratch) : indices.at(first, some, scratch);
          if (index == nullptr) return;
          const T *const block = rows + first * inner;
          if (width == 1)
            for (std::int64_t i = 0; i < some; ++i)
              add_row(into + index[i] * inner, block + i * inner, 1);
          else
            for (std::int64_t i = 0; i < some; ++i)
              add_row(into + index[i] * inner, block + i * inner, width);
        }
        begin += width;
      }
    });
  });
  indices.raise_bad();
  return result;
}

Tensor take_along_axis(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                       const TensorType &type) {
  const Tensor x = make_contiguous(operands[0]);
  const std::int64_t axis = TakeAlongAxisAttrs(attrs).axis;
  const Extents from = around(x.shape(), axis), to = around(type.shape, axis);
  Indices indices(info, operands[1], from.size);
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  visit_bytes(type.dtype, [&]<class T>() {
    const T *const source = elements<const T>(x);
    T *const target = elements<T>(result);
    const std::int64_t inner = to.inner, block = to.size * inner, stride = from.size * inner;
    threads::parallel_for_noexcept(
        0, result.size(), kernels::parallel_grain(2), [&](std::int64_t begin, std::int64_t end) {
          Indices::Block scratch;
          const T *start = source + begin / block * stride;
          std::int64_t in_block = begin % block, column = begin % inner;
          for (; begin < end; begin += Indices::kBlock) {
            const std::int64_t some = std::min(Indices::kBlock, end - begin);
            const std::int64_t *const index = indices.checked(begin, some, scratch);
            if (index == nullptr) return;
            for (std::int64_t i = 0; i < some; ++i) {
              target[begin + i] = start[index[i] * inner + column];
              if (++column == inner) column = 0;
              if (++in_block != block) continue;
              in_block = 0;
              start += stride;
            }
          }
        });
  });
  indices.raise_bad();
  return result;
}

Tensor add_along_axis(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                      const TensorType &type) {
  const std::int64_t axis = AddAlongAxisAttrs(attrs).axis;
  const Extents into = around(type.shape, axis);
  Indices indices(info, operands[1], into.size);
  const Tensor updates = make_contiguous(operands[2]);
  Tensor result = copy_of(operands[0]);
  if (updates.size() == 0) return result;
  const std::int64_t inner = into.inner, line = updates.impl()->dims()[axis] * inner;
  visit_numbers(type.dtype, [&]<class T>() {
    const T *const from = elements<T>(updates);
    T *const target = elements<T>(result);
    // Threads share the lines: all updates of one element are added by one thread, in order.
    const std::int64_t grain = std::max<std::int64_t>(kernels::parallel_grain(4) / line, 1);
    threads::parallel_for_noexcept(0, into.outer, grain, [&](std::int64_t begin, std::int64_t end) {
      Indices::Block scratch;
      for (std::int64_t outer = begin; outer < end; ++outer) {
        T *const start = target + outer * into.size * inner;
        std::int64_t column = 0;
        for (std::int64_t first = 0; first < line; first += Indices::kBlock) {
          const std::int64_t some = std::min(Indices::kBlock, line - first);
          const std::int64_t at = outer * line + first;
          const std::int64_t *const index = indices.checked(at, some, scratch);
          if (index == nullptr) return;
          for (std::int64_t i = 0; i < some; ++i) {
            add_row(start + index[i] * inner + column, from + at + i, 1);
            if (++column == inner) column = 0;
          }
        }
      }
    });
  });
  indices.raise_bad();
  return result;
}

Tensor update_slice(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                    const TensorType &type) {
  const auto axis = static_cast<std::size_t>(UpdateSliceAttrs(attrs).axis);
  const detail::TensorImpl *x = operands[0].impl(), *value = operands[2].impl();
  Indices index(info, operands[1], x->dims()[axis]);
  index.check_all();
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const detail::TensorImpl *to = result.impl();
  const std::size_t item = item_size(type.dtype);
  copy_strided(item, x->sizes(), x->data, {x->strides(), x->rank}, to->data,
               {to->strides(), to->rank});
  Ints strides; // of the slice
  for (std::size_t i = 0; i < to->rank; ++i)
    if (i != axis) strides.push_back(to->strides()[i]);
  Indices::Block scratch;
  const std::int64_t offset = *index.at(0, 1, scratch) * to->strides()[axis];
  copy_strided(item, value->sizes(), value->data, {value->strides(), value->rank},
               to->data + offset * static_cast<std::int64_t>(item), strides);
  return result;
}

Tensor size_of(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
               const TensorType &) {
  return detail::new_scalar(operands[0].impl()->dims()[SizeAttrs(attrs).axis]);
}

} // namespace weft::eager
