// A block of elements in flight: what the formulas of optimizers are computed on eagerly, by the
// precompiled kernels, so that an update of many ops passes over memory once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "Kernels/KernelTable.h"
#include <weft/ops.h>

namespace weft::optimizers {

/// Numbers of the blocks that one thread works on. Blocks are short enough for a dozen of them to
/// stay in the nearest cache, and long enough for a kernel call each.
class LaneScratch {
public:
  static constexpr std::int64_t kBlock = 1024;
  static constexpr int kBlocks = 12;

  explicit LaneScratch(DType dtype) : dtype_(dtype) {
    for (int i = 0; i < kBlocks; ++i) free_[i] = memory_[i];
  }
  LaneScratch(const LaneScratch &) = delete;
  LaneScratch &operator=(const LaneScratch &) = delete;

  /// Elements per block from here on.
  void set_count(std::int64_t count) { count_ = count; }
  DType dtype() const { return dtype_; }
  const std::int64_t &count() const { return count_; }

  /// A block that nobody uses. The formulas need far fewer than there are.
  std::byte *take() { return free_[--left_]; }
  void give_back(std::byte *block) { free_[left_++] = block; }

private:
  DType dtype_;
  std::int64_t count_ = 0;
  int left_ = kBlocks;
  std::byte *free_[kBlocks];
  alignas(64) std::byte memory_[kBlocks][kBlock * sizeof(double)];
};

/// Elements of a tensor, of scratch, or one element that stands for all. Has the operators of
/// tensors, with their kernels, and so their bits.
class Lanes {
public:
  /// Elements of a variable or gradient.
  Lanes(LaneScratch &scratch, void *data)
      : scratch_(&scratch), data_(static_cast<std::byte *>(data)) {}
  /// A scalar of the scratch's dtype.
  Lanes(LaneScratch &scratch, double value) : scratch_(&scratch), kind_(Kind::scalar) {
    if (scratch.dtype() == DType::f32) {
      const auto element = static_cast<float>(value);
      std::memcpy(element_, &element, sizeof element);
    } else {
      std::memcpy(element_, &value, sizeof value);
    }
  }
  Lanes(Lanes &&other) noexcept
      : scratch_(other.scratch_), data_(std::exchange(other.data_, nullptr)), kind_(other.kind_) {
    std::memcpy(element_, other.element_, sizeof element_);
  }
  Lanes &operator=(Lanes &&) = delete;
  Lanes(const Lanes &) = delete;
  Lanes &operator=(const Lanes &) = delete;
  ~Lanes() {
    if (kind_ == Kind::scratch && data_ != nullptr) scratch_->give_back(data_);
  }

  /// A scalar next to these.
  Lanes scalar(double value) const { return {*scratch_, value}; }

  friend Lanes operator+(const Lanes &a, const Lanes &b) { return binary(OpCode::add, a, b); }
  friend Lanes operator-(const Lanes &a, const Lanes &b) { return binary(OpCode::subtract, a, b); }
  friend Lanes operator*(const Lanes &a, const Lanes &b) { return binary(OpCode::multiply, a, b); }
  friend Lanes operator/(const Lanes &a, const Lanes &b) { return binary(OpCode::divide, a, b); }
  friend Lanes operator+(const Lanes &a, double b) { return a + a.scalar(b); }
  friend Lanes operator-(const Lanes &a, double b) { return a - a.scalar(b); }
  friend Lanes operator*(const Lanes &a, double b) { return a * a.scalar(b); }
  friend Lanes maximum(const Lanes &a, const Lanes &b) { return binary(OpCode::maximum, a, b); }
  friend Lanes minimum(const Lanes &a, const Lanes &b) { return binary(OpCode::minimum, a, b); }
  friend Lanes maximum(const Lanes &a, double b) { return maximum(a, a.scalar(b)); }
  friend Lanes minimum(const Lanes &a, double b) { return minimum(a, a.scalar(b)); }
  friend Lanes sqrt(const Lanes &x) { return unary(OpCode::sqrt, x); }
  friend Lanes sign(const Lanes &x) { return unary(OpCode::sign, x); }

  // In place.
  Lanes &operator+=(const Lanes &b) { return in_place(OpCode::add, b); }
  Lanes &operator-=(const Lanes &b) { return in_place(OpCode::subtract, b); }
  Lanes &operator*=(double b) { return in_place(OpCode::multiply, scalar(b)); }
  Lanes &set_to(const Lanes &value) {
    std::memcpy(data_, value.data_,
                static_cast<std::size_t>(scratch_->count()) * item_size(scratch_->dtype()));
    return *this;
  }

private:
  enum class Kind : std::uint8_t { borrowed, scratch, scalar };

  /// A block of scratch.
  explicit Lanes(LaneScratch &scratch)
      : scratch_(&scratch), data_(scratch.take()), kind_(Kind::scratch) {}

  const void *elements() const { return kind_ == Kind::scalar ? element_ : data_; }

  static Kernel kernel(OpCode op, DType dtype, unsigned variant) {
    return kernel_table()
        .elementwise[static_cast<std::size_t>(op)][static_cast<std::size_t>(dtype)][variant];
  }
  static void run(OpCode op, const Lanes &a, const Lanes &b, void *result) {
    const unsigned variant = static_cast<unsigned>(a.kind_ == Kind::scalar) |
                             static_cast<unsigned>(b.kind_ == Kind::scalar) << 1;
    void *const buffers[] = {const_cast<void *>(a.elements()), const_cast<void *>(b.elements()),
                             result};
    kernel(op, a.scratch_->dtype(), variant)(buffers, &a.scratch_->count());
  }
  static Lanes binary(OpCode op, const Lanes &a, const Lanes &b) {
    Lanes result(*a.scratch_);
    run(op, a, b, result.data_);
    return result;
  }
  static Lanes unary(OpCode op, const Lanes &x) {
    Lanes result(*x.scratch_);
    void *const buffers[] = {x.data_, result.data_};
    kernel(op, x.scratch_->dtype(), 0)(buffers, &x.scratch_->count());
    return result;
  }
  Lanes &in_place(OpCode op, const Lanes &b) {
    run(op, *this, b, data_);
    return *this;
  }

  LaneScratch *scratch_;
  std::byte *data_ = nullptr;
  Kind kind_ = Kind::borrowed;
  alignas(8) std::byte element_[8] = {};
};

/// Whole tensors with the same operators: what formulas are computed on where calls are recorded.
class Whole {
public:
  explicit Whole(Tensor tensor) : tensor_(std::move(tensor)) {}
  const Tensor &tensor() const { return tensor_; }

  friend Whole operator+(const Whole &a, const Whole &b) { return Whole(a.tensor_ + b.tensor_); }
  friend Whole operator-(const Whole &a, const Whole &b) { return Whole(a.tensor_ - b.tensor_); }
  friend Whole operator*(const Whole &a, const Whole &b) { return Whole(a.tensor_ * b.tensor_); }
  friend Whole operator/(const Whole &a, const Whole &b) { return Whole(a.tensor_ / b.tensor_); }
  friend Whole operator+(const Whole &a, double b) { return Whole(a.tensor_ + b); }
  friend Whole operator-(const Whole &a, double b) { return Whole(a.tensor_ - b); }
  friend Whole operator*(const Whole &a, double b) { return Whole(a.tensor_ * b); }
  friend Whole maximum(const Whole &a, const Whole &b) {
    return Whole(weft::maximum(a.tensor_, b.tensor_));
  }
  friend Whole maximum(const Whole &a, double b) { return Whole(weft::maximum(a.tensor_, b)); }
  friend Whole minimum(const Whole &a, double b) { return Whole(weft::minimum(a.tensor_, b)); }
  friend Whole sqrt(const Whole &x) { return Whole(weft::sqrt(x.tensor_)); }
  friend Whole sign(const Whole &x) { return Whole(weft::sign(x.tensor_)); }

  Whole &operator+=(const Whole &b) { return set_to(*this + b); }
  Whole &operator-=(const Whole &b) { return set_to(*this - b); }
  Whole &operator*=(double b) { return set_to(*this * b); }
  Whole &set_to(const Whole &value) {
    tensor_ = value.tensor_;
    return *this;
  }

private:
  Tensor tensor_;
};

} // namespace weft::optimizers
