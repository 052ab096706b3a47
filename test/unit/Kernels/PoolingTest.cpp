// Tests of pooling: against plain loops over windows, at several numbers of threads.

#include "Kernels/Pooling.h"

#include "Support/Threads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace weft::kernels {
namespace {

std::string describe(const PoolingShape &shape) {
  std::ostringstream text;
  text << "batch " << shape.batch << ", channels " << shape.channels;
  for (const WindowAxis &axis : shape.axes)
    text << "; " << axis.in << " by " << axis.window << " to " << axis.out << " stride "
         << axis.stride << " low " << axis.low << " dilations " << axis.input_dilation << ", "
         << axis.window_dilation;
  return text.str();
}

int64_t draw_of(std::mt19937 &random, std::initializer_list<int64_t> choices) {
  return choices.begin()[random() % choices.size()];
}

PoolingShape random_shape(std::mt19937 &random, bool dilates) {
  PoolingShape shape;
  shape.batch = draw_of(random, {1, 2, 3});
  shape.channels = draw_of(random, {1, 3, 16, 17, 64, 131});
  for (size_t i = random() % 3; i < 3; ++i) {
    WindowAxis &axis = shape.axes[i];
    int64_t room = -1;
    while (room < 0) {
      axis.in = draw_of(random, {1, 2, 5, 8, 9, 14});
      axis.window = draw_of(random, {1, 2, 3, 3, 5});
      axis.stride = draw_of(random, {1, 2, 3});
      axis.low = draw_of(random, {0, 0, 1, 2, 4, -1});
      axis.input_dilation = dilates ? draw_of(random, {1, 2, 3}) : 1;
      axis.window_dilation = draw_of(random, {1, 1, 2});
      room = (axis.in - 1) * axis.input_dilation + axis.low + draw_of(random, {0, 1, 3}) -
             (axis.window - 1) * axis.window_dilation;
    }
    axis.out = room / axis.stride + 1;
  }
  return shape;
}

int64_t count(const PoolingShape &s, int64_t WindowAxis::*size) {
  return s.batch * (s.axes[0].*size) * (s.axes[1].*size) * (s.axes[2].*size) * s.channels;
}

/// Calls `visit(offset in the result, number of the tap, offset in the image)` for all that windows
/// see.
template <class Visit>
void for_each_tap(const PoolingShape &s, const Visit &visit) {
  const auto &[a, b, c] = s.axes;
  const auto input_at = [](const WindowAxis &axis, int64_t out, int64_t tap) -> int64_t {
    const int64_t at = out * axis.stride + tap * axis.window_dilation - axis.low;
    if (at < 0 || at % axis.input_dilation != 0 || at / axis.input_dilation >= axis.in) return -1;
    return at / axis.input_dilation;
  };
  for (int64_t out = 0; out < count(s, &WindowAxis::out); ++out) {
    const int64_t channel = out % s.channels, position = out / s.channels;
    const int64_t n = position / c.out / b.out / a.out;
    for (int64_t t = 0; t < a.window * b.window * c.window; ++t) {
      const int64_t i = input_at(a, position / c.out / b.out % a.out, t / c.window / b.window);
      const int64_t j = input_at(b, position / c.out % b.out, t / c.window % b.window);
      const int64_t k = input_at(c, position % c.out, t % c.window);
      if (i < 0 || j < 0 || k < 0) continue;
      visit(static_cast<size_t>(out), t,
            static_cast<size_t>((((n * a.in + i) * b.in + j) * c.in + k) * s.channels + channel));
    }
  }
}

/// Few different numbers, so that ties are common; zeros of both signs, infinities and NaNs.
template <typename T>
std::vector<T> draw(int64_t size, std::mt19937 &random, bool special) {
  std::vector<T> values(static_cast<size_t>(size));
  for (T &value : values) {
    value = static_cast<T>(static_cast<int>(random() % 7) - 3);
    if constexpr (std::is_floating_point_v<T>) {
      if (!special) continue;
      const unsigned kind = random() % 12;
      if (kind == 0) value = std::numeric_limits<T>::quiet_NaN();
      if (kind == 1) value = -std::numeric_limits<T>::infinity();
      if (kind == 2) value = T(-0.0);
    }
  }
  return values;
}

template <typename T>
void expect_same(const std::vector<T> &got, const std::vector<T> &wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] != got[i] && wanted[i] != wanted[i]) continue;
    ASSERT_EQ(got[i], wanted[i]) << "at " << i;
    ASSERT_EQ(std::signbit(static_cast<double>(got[i])),
              std::signbit(static_cast<double>(wanted[i])))
        << "at " << i;
  }
}

template <typename T>
void check_extreme(const PoolingShape &shape, Pool kind, std::mt19937 &random) {
  const auto x = draw<T>(count(shape, &WindowAxis::in), random, true);
  const auto size = static_cast<size_t>(count(shape, &WindowAxis::out));
  constexpr bool kFloat = std::is_floating_point_v<T>;
  using Limits = std::numeric_limits<T>;
  const T lowest = kFloat ? -Limits::infinity() : Limits::min();
  const T highest = kFloat ? Limits::infinity() : Limits::max();
  std::vector<T> y(size, kind == Pool::max ? lowest : highest);
  std::vector<int32_t> taps(size, 0);
  std::vector<bool> seen(size, false);
  for_each_tap(shape, [&](size_t out, int64_t tap, size_t in) {
    const T later = x[in], best = y[out];
    const bool better = kind == Pool::max ? later > best : later < best;
    if (seen[out] && !better && !(later != later && best == best)) return;
    seen[out] = true, y[out] = later, taps[out] = static_cast<int32_t>(tap);
  });
  std::vector<T> result(size, T(77));
  pool(dtype_of<T>, kind, shape, x.data(), result.data());
  expect_same(result, y);
  if (shape.axes[0].input_dilation * shape.axes[1].input_dilation * shape.axes[2].input_dilation !=
      1)
    return;
  std::vector<int32_t> result_taps(size, 77);
  pool_taps(dtype_of<T>, kind, shape, x.data(), result_taps.data());
  ASSERT_EQ(result_taps, taps);

  // Some that are no tap's.
  for (int32_t &tap : taps)
    if (random() % 8 == 0)
      tap = static_cast<int32_t>(
          draw_of(random, {-1, 1000, std::numeric_limits<int32_t>::max(), shape.axes[2].window}));
  std::vector<T> taken(size, T(77)), wanted(size, T(0));
  for_each_tap(shape, [&](size_t out, int64_t tap, size_t in) {
    if (taps[out] == tap) wanted[out] = x[in];
  });
  pool_take(dtype_of<T>, shape, x.data(), taps.data(), taken.data());
  expect_same(taken, wanted);

  const auto dy = draw<T>(static_cast<int64_t>(size), random, false);
  std::vector<T> dx(x.size(), T(0)), scattered(x.size(), T(77));
  for_each_tap(shape, [&](size_t out, int64_t tap, size_t in) {
    if (taps[out] == tap) dx[in] += dy[out];
  });
  pool_scatter(dtype_of<T>, shape, dy.data(), taps.data(), scattered.data());
  ASSERT_EQ(scattered, dx);
}

template <typename T>
void check(const PoolingShape &shape, std::mt19937 &random) {
  SCOPED_TRACE(describe(shape));
  check_extreme<T>(shape, Pool::max, random);
  check_extreme<T>(shape, Pool::min, random);
  const auto x = draw<T>(count(shape, &WindowAxis::in), random, false);
  std::vector<T> y(static_cast<size_t>(count(shape, &WindowAxis::out)), T(0));
  for_each_tap(shape, [&](size_t out, int64_t, size_t in) { y[out] += x[in]; });
  std::vector<T> result(y.size(), T(77));
  pool(dtype_of<T>, Pool::sum, shape, x.data(), result.data());
  ASSERT_EQ(result, y);
  for (const WindowAxis &axis : shape.axes)
    if (axis.input_dilation != 1) return;
  std::vector<T> dx(x.size(), T(0)), back(x.size(), T(77));
  for_each_tap(shape, [&](size_t out, int64_t, size_t in) { dx[in] += y[out]; });
  pool(dtype_of<T>, Pool::sum, transposed(shape), y.data(), back.data());
  ASSERT_EQ(back, dx);
}

TEST(Pooling, RandomConfigurations) {
  std::mt19937 random(3);
  for (int i = 0; i < 100; ++i) check<float>(random_shape(random, i % 4 == 0), random);
}

TEST(Pooling, EveryDtype) {
  std::mt19937 random(4);
  for (int i = 0; i < 10; ++i) {
    check<double>(random_shape(random, i % 4 == 0), random);
    check<int32_t>(random_shape(random, i % 4 == 0), random);
    check<int64_t>(random_shape(random, i % 4 == 0), random);
  }
}

TEST(Pooling, AnyNumberOfThreads) {
  std::mt19937 random(5);
  PoolingShape shape;
  shape.batch = 4, shape.channels = 40;
  for (int i = 1; i < 3; ++i)
    shape.axes[i] = {.in = 57, .window = 3, .out = 29, .stride = 2, .low = 1};
  const int before = threads::max_threads();
  for (const int number : {1, 2, 5}) {
    threads::set_num_threads(number);
    check<float>(shape, random);
  }
  threads::set_num_threads(before);
}

} // namespace
} // namespace weft::kernels
