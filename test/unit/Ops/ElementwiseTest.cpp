// Elementwise ops, eagerly: broadcasting against loops, dtypes, views, edge values, errors.
#include "../Testing.h"

#include <bit>
#include <cmath>
#include <limits>

#include <weft/ops.h>

namespace weft {
namespace {

using Floats = std::vector<float>;
using Values = std::vector<int>;

constexpr int kLowest = std::numeric_limits<int>::min(), kHighest = std::numeric_limits<int>::max();

TEST(Elementwise, SameShape) {
  EXPECT_EQ(add({1.f, 2.f}, {10.f, 20.f}).to_vector<float>(), (Floats{11, 22}));
  EXPECT_EQ((tensor({5, -5, 5}) % tensor({3, 3, -3})).to_vector<int>(), (Values{2, 1, -1}));
  EXPECT_EQ(less({1, 2, 3}, {2, 2, 2}).to_vector<bool>(), (std::vector<bool>{true, false, false}));
  EXPECT_EQ((tensor({1., 4.}) / tensor({2., 2.})).dtype(), f64);
  EXPECT_EQ((-tensor({1, -2})).to_vector<int>(), (Values{-1, 2}));
  EXPECT_EQ((!tensor({true, false})).to_vector<bool>(), (std::vector<bool>{false, true}));
}

TEST(Elementwise, ScalarsAreWeak) {
  const Tensor x = tensor({1.f, 2.f}), n = tensor({3, 4}), wide = tensor({3., 4.});
  EXPECT_EQ((x + 1).type(), spec(f32, {2}));
  EXPECT_EQ((2.5 * x).to_vector<float>(), (Floats{2.5, 5}));
  EXPECT_EQ((1 - n).type(), spec(i32, {2}));
  EXPECT_EQ((n * 0.5).type(), spec(f32, {2}));
  EXPECT_EQ((wide * 0.5f).type(), spec(f64, {2}));
  EXPECT_EQ((n / 2).type(), spec(f32, {2}));
  EXPECT_EQ((x > 1).to_vector<bool>(), (std::vector<bool>{false, true}));
  EXPECT_EQ((n + std::int64_t{7}).type(), spec(i32, {2}));
  EXPECT_EQ(add(1, 2).type(), spec(i32, {}));
  EXPECT_EQ(exp(1).type(), spec(f32, {}));
  EXPECT_EQ(select(tensor({true, false}), x, 0).to_vector<float>(), (Floats{1, 0}));
  EXPECT_THROWS(n + (std::int64_t{1} << 40), ValueError,
                "add: the scalar 1099511627776 does not fit the dtype i32");
}

TEST(Elementwise, Promotion) {
  EXPECT_EQ((tensor({1}) + tensor({1.5f})).type(), spec(f32, {1}));
  EXPECT_EQ((tensor({1.f}) + tensor({1.5})).type(), spec(f64, {1}));
  EXPECT_EQ((arange(2) + arange(2, i64)).type(), spec(i64, {2}));
  EXPECT_EQ(exp(arange(2)).type(), spec(f32, {2}));
}

/// Element `index` of `x` as it broadcasts to `shape`.
double broadcast_element(const Tensor &x, const Shape &shape, std::int64_t flat) {
  const std::vector<double> values = x.to_vector<double>();
  std::int64_t at = 0, stride = 1;
  for (std::int64_t axis = shape.rank() - 1, own = x.rank() - 1; axis >= 0; --axis, --own) {
    const std::int64_t index = flat % shape[static_cast<std::size_t>(axis)];
    flat /= shape[static_cast<std::size_t>(axis)];
    if (own < 0) continue;
    const std::int64_t size = x.shape()[static_cast<std::size_t>(own)];
    at += size == 1 ? 0 : index * stride;
    stride *= size;
  }
  return values[static_cast<std::size_t>(at)];
}

TEST(Elementwise, BroadcastingAgainstLoops) {
  const Shape shapes[] = {{},      {1},       {4},       {40},      {3, 1},     {3, 4},
                          {3, 40}, {1, 40},   {2, 1, 4}, {2, 3, 1}, {2, 3, 40}, {2, 1, 40},
                          {1, 1},  {2, 3, 4}, {0},       {3, 0},    {2, 3, 0},  {5, 2, 3, 4}};
  for (const Shape &a : shapes)
    for (const Shape &b : shapes) {
      const auto sized = [](const Shape &shape, double start) {
        std::int64_t count = 1;
        for (const std::int64_t dim : shape) count *= dim;
        return (arange(count) * 1.0 + start).reshape(shape);
      };
      const Tensor x = sized(a, 100), y = sized(b, 1);
      Tensor z;
      try {
        z = x - y;
      } catch (const ShapeError &) {
        continue;
      }
      const Tensor s = select(x > y * 30, x, y);
      const std::vector<double> results = z.to_vector<double>(), selected = s.to_vector<double>();
      for (std::int64_t i = 0; i < z.size(); ++i) {
        const double u = broadcast_element(x, z.shape(), i), v = broadcast_element(y, z.shape(), i);
        ASSERT_EQ(results[static_cast<std::size_t>(i)], u - v)
            << to_string(a) << " " << to_string(b) << " at " << i;
        ASSERT_EQ(selected[static_cast<std::size_t>(i)], u > v * 30 ? u : v);
      }
    }
}

/// Of axes too short for a kernel call each: many rows, in planes, beside what repeats along each.
TEST(Elementwise, ManyShortRows) {
  const std::int64_t planes = 3, rows = 5000;
  for (const std::int64_t columns : {1, 2, 3, 4, 7, 16, 31, 32}) {
    const Shape full{planes, rows, columns};
    const Tensor x = (arange(planes * rows * columns) * 1.0).reshape(full);
    const Shape others[] = {{columns},    {rows, 1},         {rows, columns},     {planes, 1, 1},
                            {1, rows, 1}, {planes, rows, 1}, {planes, 1, columns}};
    for (const Shape &other : others) {
      std::int64_t count = 1;
      for (const std::int64_t dim : other) count *= dim;
      const Tensor y = (arange(count) * 2.0 + 1).reshape(other);
      const Tensor whole = broadcast(y, full).contiguous();
      EXPECT_EQ((x - y).to_vector<double>(), (x - whole).to_vector<double>()) << to_string(other);
      EXPECT_EQ((y - x).to_vector<double>(), (whole - x).to_vector<double>()) << to_string(other);
      EXPECT_EQ(select(y > 9000, y, x).to_vector<double>(),
                select(whole > 9000, whole, x).to_vector<double>())
          << to_string(other);
    }
    // Neither operand has all elements.
    const Tensor down = (arange(rows) * 1.0).reshape({rows, 1}), across = arange(columns) * 100.0;
    EXPECT_EQ((down + across).to_vector<double>(),
              (broadcast(down, {rows, columns}).contiguous() + broadcast(across, {rows, columns}))
                  .to_vector<double>());
  }
  // Short rows that are long once axes of one element are left out.
  const Tensor outer = arange(300).reshape({300, 1, 1}) * arange(7).reshape({1, 7, 1});
  for (std::int64_t i = 0; i < outer.size(); ++i)
    ASSERT_EQ(outer.span<int>()[static_cast<std::size_t>(i)], i / 7 * (i % 7));
}

TEST(Elementwise, ViewsAsOperands) {
  const Tensor x = arange(12).reshape({3, 4});
  const Tensor turned = x.mT(), backwards = x[slice({}, {}, -1)], every = x[{all, slice(1, {}, 2)}];
  EXPECT_EQ((turned + turned).to_vector<int>(),
            (Values{0, 8, 16, 2, 10, 18, 4, 12, 20, 6, 14, 22}));
  EXPECT_EQ((backwards * 1).to_vector<int>(), (Values{8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3}));
  EXPECT_EQ((every + tensor({{100}, {200}, {300}})).to_vector<int>(),
            (Values{101, 103, 205, 207, 309, 311}));
  EXPECT_EQ((broadcast(tensor(1), {2, 2}) + broadcast(tensor({1, 2}), {2, 2})).to_vector<int>(),
            (Values{2, 3, 2, 3}));
}

TEST(Elementwise, LargeTensorsByThreads) {
  const std::int64_t n = 300001;
  const Tensor x = arange(n), y = (x * 3 + x) % 1000;
  const auto values = y.span<int>();
  for (std::int64_t i = 0; i < n; ++i) ASSERT_EQ(values[static_cast<std::size_t>(i)], i * 4 % 1000);
  const Tensor rows = arange(1000).reshape({1000, 1}) + arange(500);
  for (std::int64_t i = 0; i < rows.size(); ++i)
    ASSERT_EQ(rows.span<int>()[static_cast<std::size_t>(i)], i / 500 + i % 500);
}

TEST(Elementwise, IntegersWrap) {
  EXPECT_EQ((tensor({kHighest}) + 1).item<int>(), kLowest);
  EXPECT_EQ((tensor({kLowest}) - 1).item<int>(), kHighest);
  EXPECT_EQ((tensor({1 << 20}) * (1 << 20)).item<int>(), 0);
  EXPECT_EQ(negate(tensor({kLowest})).item<int>(), kLowest);
  EXPECT_EQ(abs(tensor({kLowest})).item<int>(), kLowest);
  EXPECT_EQ((tensor({7, kLowest}) % tensor({0, -1})).to_vector<int>(), (Values{0, 0}));
  EXPECT_EQ(power({2, -2, 0}, {31, 3, 0}).to_vector<int>(), (Values{kLowest, -8, 1}));
}

TEST(Elementwise, IeeeEdges) {
  const float nan = NAN, inf = INFINITY;
  const Tensor a = tensor({nan, 1.f, -0.f, inf}), b = tensor({1.f, nan, 0.f, -inf});
  const Floats top = maximum(a, b).to_vector<float>(), low = minimum(a, b).to_vector<float>();
  EXPECT_TRUE(std::isnan(top[0]) && std::isnan(top[1]) && std::isnan(low[0]) && std::isnan(low[1]));
  EXPECT_FALSE(std::signbit(top[2]));
  EXPECT_TRUE(std::signbit(low[2]));
  EXPECT_EQ(top[3], inf);
  EXPECT_EQ((tensor({1.f, -1.f}) / 0).to_vector<float>(), (Floats{inf, -inf}));
  EXPECT_TRUE(std::isnan((tensor(0.f) / 0).item<float>()));
  EXPECT_TRUE(std::isnan((tensor(1.f) % 0).item<float>()));
  EXPECT_EQ((tensor({5.5f, -5.5f}) % 3).to_vector<float>(), (Floats{2.5, 0.5}));
  EXPECT_TRUE(std::isnan(sign(tensor(nan)).item<float>()));
  EXPECT_EQ(equal({nan}, {nan}).item<bool>(), false);
  EXPECT_EQ(not_equal({nan}, {nan}).item<bool>(), true);
}

TEST(Elementwise, Casts) {
  const Tensor x = tensor({1.9f, -1.9f, 3e9f, -3e9f, NAN, INFINITY});
  EXPECT_EQ(x.astype(i32).to_vector<int>(), (Values{1, -1, kHighest, kLowest, 0, kHighest}));
  EXPECT_EQ(tensor({0.f, -0.f, NAN, 0.1f}).astype(DType::boolean).to_vector<bool>(),
            (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(tensor({std::int64_t{1} << 32 | 5}).astype(i32).item<int>(), 5);
  EXPECT_EQ(tensor({true, false}).astype(f64).to_vector<double>(), (std::vector<double>{1, 0}));
  const Tensor same = x.astype(f32);
  EXPECT_EQ(same.impl(), x.impl());
  EXPECT_EQ(arange(6).reshape({2, 3}).mT().astype(f32).to_vector<float>(),
            (Floats{0, 3, 1, 4, 2, 5}));
}

/// Units in the last place between two numbers of one sign.
template <class Bits, class T>
std::int64_t distance(T a, T b) {
  return std::abs(static_cast<std::int64_t>(std::bit_cast<Bits>(a)) -
                  static_cast<std::int64_t>(std::bit_cast<Bits>(b)));
}

TEST(Elementwise, LogisticKeepsItsTail) {
  // Where 1 + exp(-x) overflows the result is denormal, not 0.
  for (float x = -104; x <= 20; x += 0.37f) {
    const double e = std::exp(static_cast<double>(x));
    const float exact = static_cast<float>(e / (1 + e));
    EXPECT_LE(distance<std::int32_t>(logistic(tensor(x)).item<float>(), exact), 2) << x;
  }
  for (double x = -745; x <= 40; x += 0.93) {
    const long double e = std::exp(static_cast<long double>(x));
    const auto exact = static_cast<double>(e / (1 + e));
    EXPECT_LE(distance<std::int64_t>(logistic(tensor(x)).item<double>(), exact), 2) << x;
  }
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(logistic(tensor({-infinity, -200.f, 0.f, 200.f, infinity})).to_vector<float>(),
            (Floats{0, 0, 0.5f, 1, 1}));
  EXPECT_TRUE(std::isnan(logistic(tensor(std::nanf(""))).item<float>()));
}

TEST(Elementwise, Errors) {
  EXPECT_THROWS(add(zeros({2, 3}), zeros({2, 4})), ShapeError,
                "add: the shapes do not broadcast: lhs is (2, 3) and rhs is (2, 4)");
  EXPECT_THROWS(exp(Tensor()), StateError,
                "exp: x is an undefined tensor: it was never given a value");
  EXPECT_THROWS(tensor(1.f) + Tensor(), StateError,
                "add: rhs is an undefined tensor: it was never given a value");
  EXPECT_THROWS(concatenate({tensor(1.f), Tensor()}), StateError,
                "concatenate: xs is an undefined tensor: it was never given a value");
  EXPECT_THROWS(concatenate({Tensor(), tensor({1.f})}), StateError,
                "concatenate: xs is an undefined tensor: it was never given a value");
  EXPECT_THROWS(concatenate(std::vector<Tensor>{tensor({1.f}), Tensor()}), StateError,
                "concatenate: xs is an undefined tensor: it was never given a value");
  EXPECT_THROWS(concatenate(std::vector<Tensor>{Tensor()}), StateError,
                "concatenate: xs is an undefined tensor: it was never given a value");
  EXPECT_THROWS(sum(Tensor()), StateError,
                "sum: x is an undefined tensor: it was never given a value");
  EXPECT_THROWS(gather(Tensor(), tensor({0})), StateError,
                "gather: x is an undefined tensor: it was never given a value");
  EXPECT_THROWS(
      bitwise_and(tensor({1.0F}), tensor({true})), DTypeError,
      "bitwise_and: lhs must be an integer or bool (bool, i8, i16, i32, i64, u8, u16, u32, "
      "u64), but it is f32(1,)");
  EXPECT_THROWS(add(tensor({true}), tensor({true})), DTypeError,
                "add: lhs must be a number (i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, "
                "f64, c64, c128), but "
                "it is bool(1,)");
}

} // namespace
} // namespace weft
