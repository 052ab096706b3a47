// Ops on complex numbers, by their real and imaginary parts: elementwise ones by the formulas of
// lib/Complex, whose steps are kernels on blocks of elements that the cache keeps; sums and
// products by the ops on tensors of the parts.
#include <algorithm>
#include <complex>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "Complex/Elementwise.h"
#include "Kernels/Lines.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

constexpr std::int64_t kBlock = 512; ///< elements at a time
constexpr std::size_t kSlotBytes = kBlock * 8;

/// Memory for the values of a formula on one block, each in a slot of its own while it is used.
class Slots {
public:
  std::size_t take() {
    if (free_.empty()) {
      slots_.push_back(std::make_unique_for_overwrite<Slot>());
      uses_.push_back(0);
      free_.push_back(slots_.size() - 1);
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    uses_[slot] = 1;
    return slot;
  }
  void use(std::size_t slot) { ++uses_[slot]; }
  void drop(std::size_t slot) {
    if (--uses_[slot] == 0) free_.push_back(slot);
  }
  std::byte *memory(std::size_t slot) { return slots_[slot]->bytes; }

private:
  struct alignas(64) Slot {
    std::byte bytes[kSlotBytes];
  };
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::uint32_t> uses_;
  std::vector<std::size_t> free_;
};

/// A block of elements of one dtype, or one element that is repeated.
class BlockValue {
public:
  BlockValue() = default;
  BlockValue(Slots &slots, DType dtype, bool single)
      : slots_(&slots), slot_(slots.take()), dtype_(dtype), single_(single) {}
  BlockValue(const BlockValue &other)
      : slots_(other.slots_), slot_(other.slot_), dtype_(other.dtype_), single_(other.single_) {
    if (slots_ != nullptr) slots_->use(slot_);
  }
  BlockValue(BlockValue &&other) noexcept
      : slots_(std::exchange(other.slots_, nullptr)), slot_(other.slot_), dtype_(other.dtype_),
        single_(other.single_) {}
  BlockValue &operator=(BlockValue other) noexcept {
    std::swap(slots_, other.slots_);
    std::swap(slot_, other.slot_);
    std::swap(dtype_, other.dtype_);
    std::swap(single_, other.single_);
    return *this;
  }
  ~BlockValue() {
    if (slots_ != nullptr) slots_->drop(slot_);
  }

  std::byte *memory() const { return slots_->memory(slot_); }
  DType dtype() const { return dtype_; }
  bool single() const { return single_; }

private:
  Slots *slots_ = nullptr;
  std::size_t slot_ = 0;
  DType dtype_ = DType::boolean;
  bool single_ = false;
};

/// The emitter of formulas that runs kernels on blocks.
class BlockEmitter : public EmitterOps<BlockEmitter, BlockValue> {
public:
  explicit BlockEmitter(Slots &slots) : slots_(slots), table_(kernel_table()) {}

  void set_count(std::int64_t count) { count_ = count; }

  BlockValue scalar(double value, DType dtype) {
    BlockValue result(slots_, dtype, true);
    if (dtype == DType::f32) write(result, static_cast<float>(value));
    else if (dtype == DType::f64) write(result, value);
    else raise(ErrorKind::internal, "a constant of a formula is no floating number");
    return result;
  }

  BlockValue emit(OpCode op, std::span<const BlockValue> operands, const Attrs &attrs) {
    if (op == OpCode::stop_gradient) return operands[0];
    if (op == OpCode::cast) return converted(operands[0], CastAttrs(attrs).dtype);
    if (std::ranges::all_of(operands, &BlockValue::single)) {
      std::vector<BlockValue> some(operands.begin(), operands.end());
      some[0] = repeated(some[0]);
      return emit(op, some, attrs);
    }
    unsigned variant = 0;
    void *buffers[4];
    for (std::size_t i = 0; i < operands.size(); ++i) {
      variant |= static_cast<unsigned>(operands[i].single()) << i;
      buffers[i] = operands[i].memory();
    }
    const DType dtype = operands.back().dtype();
    BlockValue result(slots_, gives_bool(op) ? DType::boolean : dtype, false);
    buffers[operands.size()] = result.memory();
    table_.elementwise[static_cast<std::size_t>(op)][static_cast<std::size_t>(dtype)][variant](
        buffers, &count_);
    return result;
  }

private:
  template <class T>
  void write(const BlockValue &value, T number) {
    std::memcpy(value.memory(), &number, sizeof number);
  }

  BlockValue repeated(const BlockValue &value) {
    BlockValue result(slots_, value.dtype(), false);
    const std::size_t item = item_size(value.dtype());
    for (std::int64_t i = 0; i < count_; ++i)
      std::memcpy(result.memory() + static_cast<std::size_t>(i) * item, value.memory(), item);
    return result;
  }

  BlockValue converted(const BlockValue &value, DType dtype) {
    if (value.dtype() == dtype) return value;
    BlockValue result(slots_, dtype, value.single());
    void *const buffers[] = {value.memory(), result.memory()};
    const std::int64_t count = value.single() ? 1 : count_;
    table_.cast[static_cast<std::size_t>(value.dtype())][static_cast<std::size_t>(dtype)](buffers,
                                                                                          &count);
    return result;
  }

  static bool gives_bool(OpCode op) {
    switch (op) {
    case OpCode::equal:
    case OpCode::not_equal:
    case OpCode::less:
    case OpCode::less_equal:
    case OpCode::greater:
    case OpCode::greater_equal:
    case OpCode::signbit: return true;
    default: return false;
    }
  }

  Slots &slots_;
  const KernelTable &table_;
  std::int64_t count_ = 0;
};

/// One part of complex numbers, as it lies among them.
Tensor part_of(const Tensor &x, std::int64_t number) {
  Ints strides;
  for (std::size_t i = 0; i < x.impl()->rank; ++i) strides.push_back(2 * x.impl()->strides()[i]);
  return detail::new_view_as(x, component_of(x.dtype()), x.impl()->sizes(), strides, number);
}

/// An elementwise call on blocks.
class Elementwise {
public:
  Elementwise(const OpInfo &info, const Attrs &attrs, std::span<const Tensor> operands,
              const Tensor &result)
      : info_(info), attrs_(attrs), result_(result) {
    for (const Tensor &operand : operands) {
      dtypes_.push_back(operand.dtype());
      operands_.push_back(operand.size() == 1 ? make_contiguous(operand) : spread(operand));
    }
  }

  void run() const {
    const std::int64_t count = result_.size();
    const std::int64_t grain =
        std::max<std::int64_t>(kernels::parallel_grain(10 * info_.cost), kBlock);
    threads::parallel_for(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
      Slots slots;
      BlockEmitter emitter(slots);
      std::vector<planar::Number<BlockValue>> values(operands_.size());
      for (std::int64_t at = begin; at < end; at += kBlock) {
        const std::int64_t some = std::min(kBlock, end - at);
        emitter.set_count(some);
        for (std::size_t i = 0; i < operands_.size(); ++i)
          values[i] = read(slots, operands_[i], at, some);
        const auto number =
            planar::Formulas<BlockEmitter>(emitter, info_.op, attrs_, values, dtypes_).result();
        if (!number.complex) write(number.planes.re, at, some, 0, 1);
        else {
          write(number.planes.re, at, some, 0, 2);
          write(number.planes.im, at, some, 1, 2);
        }
      }
    });
  }

private:
  /// The operand with the sizes of the result and its elements one behind the other.
  Tensor spread(const Tensor &operand) const {
    const detail::TensorImpl *x = operand.impl(), *to = result_.impl();
    Ints strides(to->rank, 0);
    const std::size_t offset = to->rank - x->rank;
    for (std::size_t i = 0; i < x->rank; ++i)
      if (x->dims()[i] != 1) strides[offset + i] = x->strides()[i];
    return make_contiguous(detail::new_view(operand, to->sizes(), strides, 0));
  }

  /// `count` elements of an array of elements that are `step` apart.
  static BlockValue block(Slots &slots, DType dtype, const std::byte *from, std::int64_t step,
                          std::int64_t count, bool single) {
    BlockValue value(slots, dtype, single);
    const std::int64_t sizes[] = {single ? 1 : count}, from_steps[] = {step}, to_steps[] = {1};
    copy_strided(item_size(dtype), sizes, from, from_steps, value.memory(), to_steps);
    return value;
  }

  static planar::Number<BlockValue> read(Slots &slots, const Tensor &x, std::int64_t at,
                                         std::int64_t count) {
    const bool single = x.size() == 1;
    const auto item = static_cast<std::int64_t>(item_size(x.dtype()));
    const std::byte *const from = x.impl()->data + (single ? 0 : at * item);
    if (!is_complex(x.dtype())) return block(slots, x.dtype(), from, 1, count, single);
    const DType part = component_of(x.dtype());
    return planar::Planes<BlockValue>{block(slots, part, from, 2, count, single),
                                      block(slots, part, from + item / 2, 2, count, single)};
  }

  void write(const BlockValue &value, std::int64_t at, std::int64_t count, std::int64_t part,
             std::int64_t step) const {
    const std::size_t item = item_size(value.dtype());
    const std::int64_t sizes[] = {count}, from_steps[] = {value.single() ? 0 : 1},
                       to_steps[] = {step};
    copy_strided(item, sizes, value.memory(), from_steps,
                 result_.impl()->data + static_cast<std::size_t>(at * step + part) * item,
                 to_steps);
  }

  const OpInfo &info_;
  const Attrs &attrs_;
  const Tensor &result_;
  std::vector<Tensor> operands_;
  std::vector<DType> dtypes_;
};

Tensor call(OpCode op, std::initializer_list<Tensor> operands, const Attrs &attrs = {}) {
  return execute_eager(op, std::span(operands.begin(), operands.size()), attrs);
}

/// Complex numbers of these parts, which have the sizes of the result.
Tensor joined(const Tensor &re, const Tensor &im, const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  for (const std::int64_t number : {0, 1}) {
    const Tensor to = part_of(result, number);
    const detail::TensorImpl *from = (number == 0 ? re : im).impl();
    copy_strided(item_size(to.dtype()), from->sizes(), from->data, {from->strides(), from->rank},
                 to.impl()->data, {to.impl()->strides(), from->rank});
  }
  return result;
}

/// A view of matrices with columns for rows.
Tensor transposed(const Tensor &x) {
  const detail::TensorImpl *impl = x.impl();
  Ints sizes, strides;
  for (std::size_t i = 0; i < impl->rank; ++i) {
    const std::size_t from = i + 2 < impl->rank ? i : 2 * impl->rank - 3 - i;
    sizes.push_back(impl->dims()[from]);
    strides.push_back(impl->strides()[from]);
  }
  return detail::new_view_as(x, x.dtype(), sizes, strides, 0);
}

} // namespace

Tensor complex_elementwise(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                           const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() != 0) Elementwise(info, attrs, operands, result).run();
  return result;
}

Tensor real_part(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
                 const TensorType &) {
  return part_of(operands[0], 0);
}

Tensor imaginary_part(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
                      const TensorType &) {
  return part_of(operands[0], 1);
}

Tensor complex_each_part(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                         const TensorType &type) {
  return joined(call(info.op, {part_of(operands[0], 0)}, attrs),
                call(info.op, {part_of(operands[0], 1)}, attrs), type);
}

/// Four products of real matrices: three would lose what one part has less than the other.
Tensor complex_matmul(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                      const TensorType &type) {
  const auto plane = [](const Tensor &x, std::int64_t number) {
    const Tensor part = part_of(x, number);
    const detail::TensorImpl *impl = part.impl();
    const std::size_t rank = impl->rank;
    const bool columns = rank > 1 && impl->strides()[rank - 2] < impl->strides()[rank - 1];
    // A transposed view stays one: kernels add in the order of the layout.
    return columns ? transposed(make_contiguous(transposed(part))) : make_contiguous(part);
  };
  const Tensor a = plane(operands[0], 0), b = plane(operands[0], 1), c = plane(operands[1], 0),
               d = plane(operands[1], 1);
  const auto times = [&](const Tensor &x, const Tensor &y) {
    return call(OpCode::matmul, {x, y}, attrs);
  };
  return joined(call(OpCode::subtract, {times(a, c), times(b, d)}),
                call(OpCode::add, {times(a, d), times(b, c)}), type);
}

namespace {

/// The product in the arithmetic of `planar::Functions::multiply`: of parts in f64, rounded once.
template <class T>
std::complex<T> times(std::complex<T> a, std::complex<T> b) {
  const double p = a.real(), q = a.imag(), r = b.real(), s = b.imag();
  return {static_cast<T>(p * r - q * s), static_cast<T>(p * s + q * r)};
}

/// Calls `line(first, number)` with the first element of each line.
template <class Line>
void each_line(const kernels::Lines &lines, const Line &line) {
  const std::int64_t grain =
      std::max<std::int64_t>(kernels::parallel_grain(8) / std::max<std::int64_t>(lines.size, 1), 1);
  threads::parallel_for_noexcept(
      0, lines.outer * lines.inner, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          line(i / lines.inner * lines.size * lines.inner + i % lines.inner, i);
      });
}

Tensor product_along(const Tensor &given, std::int64_t axis) {
  const Tensor x = make_contiguous(given);
  Shape shape = x.shape();
  const kernels::Lines lines = lines_of(shape, axis);
  shape.erase(static_cast<std::size_t>(axis));
  Tensor result = detail::new_tensor(x.dtype(), shape);
  const auto run = [&]<class T>(const std::complex<T> *from, std::complex<T> *to) {
    each_line(lines, [&](std::int64_t first, std::int64_t number) {
      std::complex<T> product = 1;
      for (std::int64_t i = 0; i < lines.size; ++i) {
        const std::complex<T> element = from[first + i * lines.inner];
        product = i == 0 ? element : times(product, element);
      }
      to[number] = product;
    });
  };
  if (x.dtype() == DType::c64)
    run(detail::elements<const std::complex<float>>(x),
        detail::elements<std::complex<float>>(result));
  else
    run(detail::elements<const std::complex<double>>(x),
        detail::elements<std::complex<double>>(result));
  return result;
}

/// y = x, y = y x, or y = a y + x along one axis.
template <class T>
void chain(OpCode op, const kernels::Lines &lines, const Attrs &attrs, const Tensor &of_a,
           const Tensor &of_x, const Tensor &of_y) {
  const auto *const a = detail::elements<const std::complex<T>>(of_a);
  const auto *const x = detail::elements<const std::complex<T>>(of_x);
  auto *const y = detail::elements<std::complex<T>>(of_y);
  const CumulativeAttrs along(attrs);
  const bool adds = op == OpCode::linear_recurrence;
  const bool shifted = adds && LinearRecurrenceAttrs(attrs).shifted;
  each_line(lines, [&](std::int64_t first, std::int64_t) {
    const auto place = [&](std::int64_t step) {
      return first + (along.reverse ? lines.size - 1 - step : step) * lines.inner;
    };
    std::complex<T> result = adds ? 0 : 1;
    for (std::int64_t i = 0; i < lines.size; ++i) {
      const std::int64_t at = place(i);
      const std::complex<T> element = x[at];
      if (along.exclusive) y[at] = result;
      if (i == 0) result = element;
      else if (!adds) result = times(result, element);
      else result = times(a[shifted ? place(i - 1) : at], result) + element;
      if (!along.exclusive) y[at] = result;
    }
  });
}

} // namespace

/// Of an axis at a time.
Tensor complex_prod(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                    const TensorType &type) {
  Tensor product = make_contiguous(operands[0]);
  std::int64_t gone = 0;
  for (const std::int64_t axis : ReductionAttrs(attrs).axes)
    product = product_along(product, axis - gone++);
  return reshape(op_info(OpCode::reshape), {&product, 1}, {}, type);
}

Tensor complex_chain(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                     const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  const Tensor a = make_contiguous(operands.front()), x = make_contiguous(operands.back());
  const kernels::Lines lines = lines_of(type.shape, CumulativeAttrs(attrs).axis);
  if (type.dtype == DType::c64) chain<float>(info.op, lines, attrs, a, x, result);
  else chain<double>(info.op, lines, attrs, a, x, result);
  return result;
}

} // namespace weft::eager
