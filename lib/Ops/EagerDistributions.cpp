// The steps of the distributions on parts that stay in the first cache.
#include "Ops/EagerDistributions.h"

#include <algorithm>
#include <numbers>

#include "Kernels/KernelTable.h"
#include "OpDefs/ShapeFunctions.h"
#include "Ops/EagerRandom.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/Threads.h"

namespace weft::eager {

namespace {

using detail::elements;
using kernels::RandomStream;

/// Elements of a part; a multiple of what a block of the stream gives.
constexpr std::int64_t kPart = 2048;

/// Calls `compute` with the first element and the number of elements of each part.
template <class Compute>
void for_parts(std::int64_t size, const Compute &compute) {
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t part = begin; part < end; ++part)
      compute(part * kPart, std::min(kPart, size - part * kPart));
  };
  const std::int64_t parts = (size + kPart - 1) / kPart;
  if (parts <= 1) run(0, parts);
  else threads::parallel_for_noexcept(0, parts, 1, run);
}

/// `count` elements that ops update in place.
template <class T>
class Part {
public:
  Part(T *x, std::int64_t count) : x_(x), count_(count) {}

  void draw(const RandomStream &stream, std::int64_t first) {
    kernels::draw_uniform(dtype_of<T>, stream, first, count_, x_);
  }
  /// x = op(x)
  void apply(OpCode op) { call(op, 0, {x_, x_}); }
  /// x = op(x, rhs)
  void apply(OpCode op, T rhs) { call(op, 2, {x_, &rhs, x_}); }
  void apply(OpCode op, const Part &rhs) { call(op, 0, {x_, rhs.x_, x_}); }
  /// x = op(lhs, x)
  void apply_to(T lhs, OpCode op) { call(op, 1, {&lhs, x_, x_}); }
  /// The elements in another dtype.
  template <class To>
  void cast(To *to) {
    void *const buffers[] = {x_, to};
    kernel_table().cast[static_cast<int>(dtype_of<T>)][static_cast<int>(dtype_of<To>)](buffers,
                                                                                       &count_);
  }

private:
  /// `variant` is that of the kernel table.
  void call(OpCode op, int variant, std::initializer_list<void *> buffers) {
    kernel_table().elementwise[static_cast<std::size_t>(op)][static_cast<int>(dtype_of<T>)]
                              [variant](buffers.begin(), &count_);
  }

  T *x_;
  std::int64_t count_;
};

template <class T>
void fill_normal(const RandomStream &stream, T stddev, T mean, std::int64_t size, T *to) {
  const RandomStream next{stream.seed, stream.number + 1};
  for_parts(size, [&](std::int64_t first, std::int64_t count) {
    T room[kPart];
    Part<T> radius(to + first, count), angle(room, count);
    radius.draw(stream, first);
    radius.apply_to(1, OpCode::subtract);
    radius.apply(OpCode::log);
    radius.apply(OpCode::multiply, -2);
    radius.apply(OpCode::sqrt);
    angle.draw(next, first);
    angle.apply(OpCode::multiply, static_cast<T>(2 * std::numbers::pi));
    angle.apply(OpCode::cos);
    radius.apply(OpCode::multiply, angle);
    if (stddev != 1) radius.apply(OpCode::multiply, stddev);
    if (mean != 0) radius.apply(OpCode::add, mean);
  });
}

} // namespace

bool in_one_pass(const Sizes &sizes) {
  constexpr std::int64_t kMost = std::int64_t{1} << 48;
  if (Interpreter::current() != nullptr || !sizes.are_numbers()) return false;
  const auto count = element_count(Shape(sizes.numbers()), 1);
  return count && *count <= kMost;
}

Tensor uniform_in_one_pass(const Tensor &state, const Shape &shape, DType dtype, double offset,
                           double scale, double last) {
  Tensor result = detail::new_tensor(dtype, shape);
  const RandomStream stream = stream_of(state);
  const auto fill = [&]<class T>(T *to) {
    for_parts(result.size(), [&](std::int64_t first, std::int64_t count) {
      Part<T> unit(to + first, count);
      unit.draw(stream, first);
      unit.apply(OpCode::multiply, static_cast<T>(scale));
      unit.apply_to(static_cast<T>(offset), OpCode::add);
      unit.apply(OpCode::minimum, static_cast<T>(last));
    });
  };
  if (dtype == DType::f32) fill(elements<float>(result));
  else fill(elements<double>(result));
  return detail::placed_beside(state, std::move(result));
}

Tensor normal_in_one_pass(const Tensor &state, const Shape &shape, DType dtype, double mean,
                          double stddev) {
  Tensor result = detail::new_tensor(dtype, shape);
  const RandomStream stream = stream_of(state);
  const auto fill = [&]<class T>(T *to) {
    fill_normal(stream, static_cast<T>(stddev), static_cast<T>(mean), result.size(), to);
  };
  if (dtype == DType::f32) fill(elements<float>(result));
  else fill(elements<double>(result));
  return detail::placed_beside(state, std::move(result));
}

Tensor randint_in_one_pass(const Tensor &state, const Shape &shape, std::int64_t low,
                           std::int64_t width, DType dtype) {
  Tensor result = detail::new_tensor(dtype, shape);
  const RandomStream stream = stream_of(state);
  const auto fill = [&]<class T>(T *to) {
    for_parts(result.size(), [&](std::int64_t first, std::int64_t count) {
      double unit[kPart];
      std::int64_t above[kPart];
      Part<double> product(unit, count);
      product.draw(stream, first);
      product.apply(OpCode::multiply, static_cast<double>(width));
      product.apply(OpCode::floor);
      product.cast(above);
      Part<std::int64_t> number(above, count);
      number.apply(OpCode::add, low);
      if constexpr (sizeof(T) == sizeof(std::int64_t)) std::copy_n(above, count, to + first);
      else number.cast(to + first);
    });
  };
  if (dtype == DType::i32) fill(elements<std::int32_t>(result));
  else fill(elements<std::int64_t>(result));
  return detail::placed_beside(state, std::move(result));
}

} // namespace weft::eager
