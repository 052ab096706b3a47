// Powers by exponents with short formulas: near the exact result, and the same bits whether the
// exponent is a constant, one value at run time, or one value per element.
#include "../Testing.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include <weft/weft.h>

namespace weft {
namespace {

/// Special numbers, the borders where squares and cubes overflow and vanish, and random bits.
template <class T>
std::vector<T> bases() {
  using Image = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{0,
                        1,
                        2,
                        3,
                        T(0.1),
                        Limits::infinity(),
                        Limits::min(),
                        Limits::denorm_min(),
                        Limits::max(),
                        Limits::min() - Limits::denorm_min()};
  for (const T root : {T(2), T(3), T(4), T(8)})
    for (const T size : {Limits::max(), Limits::min(), Limits::denorm_min()})
      for (const T factor : {T(1) - 4 * Limits::epsilon(), T(1), T(1) + 4 * Limits::epsilon()})
        values.push_back(std::pow(size, 1 / root) * factor);
  std::mt19937_64 dice(7);
  for (int i = 0; i < 3000; ++i) {
    const T number = std::bit_cast<T>(static_cast<Image>(dice()));
    if (std::isnan(number)) continue;
    int exponent = 0;
    values.push_back(number);
    values.push_back(std::ldexp(std::frexp(number, &exponent), i % 9 - 4));
  }
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  return values;
}

/// Whether `got` is the number of the format next to `want`, which is near the exact result.
template <class T>
bool is_near(T got, long double want) {
  const T rounded = static_cast<T>(want);
  if (std::isnan(rounded)) return std::isnan(got);
  if (got == rounded) return std::signbit(got) == std::signbit(rounded);
  return std::signbit(got) == std::signbit(rounded) &&
         (got == std::nextafter(rounded, -std::numeric_limits<T>::infinity()) ||
          got == std::nextafter(rounded, std::numeric_limits<T>::infinity()));
}

std::vector<std::byte> bytes_of(const Tensor &x) {
  const std::vector<double> values = x.to_vector<double>();
  std::vector<std::byte> bytes(values.size() * sizeof(double));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
void expect_powers(const std::vector<double> &exponents) {
  const std::vector<T> values = bases<T>();
  const Tensor x = tensor(values, {static_cast<std::int64_t>(values.size())});
  const auto by_value =
      function([](const Tensor &base, const Tensor &n) { return power(base, n); });
  for (const double number : exponents) {
    const T n = static_cast<T>(number);
    const Tensor single = tensor(n), each = full(x.shape(), n, x.dtype());
    const Tensor eager = power(x, single);
    const std::vector<T> results = eager.to_vector<T>();
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const long double want =
          std::pow(static_cast<long double>(values[i]), static_cast<long double>(n));
      if (!is_near(results[i], want) && ++wrong <= 3)
        ADD_FAILURE() << std::hexfloat << values[i] << " ** " << number << " is " << results[i]
                      << ", should be " << static_cast<T>(want);
    }
    const auto by_constant = function([&](const Tensor &base) { return power(base, n); });
    EXPECT_EQ(bytes_of(power(x, each)), bytes_of(eager)) << number;
    EXPECT_EQ(bytes_of(by_constant(x)), bytes_of(eager)) << number;
    EXPECT_EQ(bytes_of(by_value(x, single)), bytes_of(eager)) << number;
    EXPECT_EQ(bytes_of(by_value(x, each)), bytes_of(eager)) << number;
  }
}

const std::vector<double> kExponents = {0,  1,   2,    3,   4,   5,        6,         7,  8,
                                        9,  -1,  -2,   -3,  -4,  -5,       -6,        -7, -8,
                                        -9, 0.5, -0.5, 1.5, 2.5, INFINITY, -INFINITY, NAN};

TEST(Powers, F32) { expect_powers<float>(kExponents); }
TEST(Powers, F64) { expect_powers<double>(kExponents); }

// Short and other exponents side by side in one vector.
TEST(Powers, MixedExponents) {
  const std::vector<double> numbers(kExponents.begin(), kExponents.end() - 3);
  for (const DType dtype : {f32, f64}) {
    const Tensor x = (arange(40).astype(dtype) - 20.5) / 8;
    const Tensor n = tensor(numbers, {static_cast<std::int64_t>(numbers.size()), 1}).astype(dtype);
    const Tensor all = power(x, n);
    const auto f = function([](const Tensor &a, const Tensor &b) { return power(a, b); });
    EXPECT_EQ(bytes_of(f(x, n)), bytes_of(all));
    for (std::size_t i = 0; i < numbers.size(); ++i)
      EXPECT_EQ(bytes_of(power(x, tensor(numbers[i]).astype(dtype))),
                bytes_of(all[static_cast<std::int64_t>(i)]))
          << numbers[i];
  }
}

template <class T>
void expect_integer_powers() {
  using Wrapping = std::make_unsigned_t<T>;
  const std::vector<T> values{
      0, 1, -1, 2, -2, 3, 7, -12345, std::numeric_limits<T>::max(), std::numeric_limits<T>::min()};
  const Tensor x = tensor(values, {static_cast<std::int64_t>(values.size())});
  for (const T n : {T(0), T(1), T(2), T(3), T(4), T(5), T(31), T(100)}) {
    std::vector<T> want;
    for (const T value : values) {
      Wrapping result = 1;
      for (T i = 0; i < n; ++i) result *= static_cast<Wrapping>(value);
      want.push_back(static_cast<T>(result));
    }
    const auto by_constant = function([&](const Tensor &base) { return power(base, n); });
    const auto by_value = function([](const Tensor &a, const Tensor &b) { return power(a, b); });
    EXPECT_EQ(power(x, n).template to_vector<T>(), want) << n;
    EXPECT_EQ(by_constant(x).template to_vector<T>(), want) << n;
    EXPECT_EQ(by_value(x, tensor(n)).template to_vector<T>(), want) << n;
  }
  const auto by_value = function([](const Tensor &a, const Tensor &b) { return power(a, b); });
  EXPECT_THROW(power(x, T(-1)), ValueError);
  EXPECT_THROW(power(x, tensor(T(-2))), ValueError);
  EXPECT_THROW(by_value(x, tensor(T(-2))), ValueError);
}

TEST(Powers, I32) { expect_integer_powers<std::int32_t>(); }
TEST(Powers, I64) { expect_integer_powers<std::int64_t>(); }

/// Python's remainder by C's, which is exact.
template <class T>
T floored(T x, T y) {
  const T rest = std::fmod(x, y);
  if (rest == 0) return std::copysign(T(0), y);
  return (rest < 0) != (y < 0) ? rest + y : rest;
}

/// Quotients of all sizes, so that some vectors divide once and some in a loop.
template <class T>
void expect_remainders() {
  const std::vector<T> some = bases<T>();
  const std::size_t count = some.size() - some.size() % 64;
  std::mt19937_64 dice(3);
  std::vector<T> xs, ys;
  for (std::size_t i = 0; i < count; ++i) {
    const bool near = i / 64 % 2 == 0;
    const T y = near ? T(1 + i % 97) / 7 : some[dice() % count];
    xs.push_back(near && i % 5 == 0 ? y * static_cast<T>(i % 31) : some[i]);
    if (near && !(std::abs(xs.back()) < std::abs(y) * 1000)) xs.back() = T(i) / 3 - 5;
    ys.push_back(i % 3 == 0 ? -y : y);
  }
  const Shape shape{static_cast<std::int64_t>(count)};
  const Tensor x = tensor(xs, shape), y = tensor(ys, shape), eager = x % y;
  const auto f = function([](const Tensor &a, const Tensor &b) { return a % b; });
  EXPECT_EQ(bytes_of(f(x, y)), bytes_of(eager));
  const std::vector<T> got = eager.to_vector<T>();
  for (std::size_t i = 0; i < count; ++i) {
    const T want = floored(xs[i], ys[i]);
    if (std::isnan(want)) ASSERT_TRUE(std::isnan(got[i])) << xs[i] << " % " << ys[i];
    else
      ASSERT_TRUE(got[i] == want && std::signbit(got[i]) == std::signbit(want))
          << std::hexfloat << xs[i] << " % " << ys[i] << " is " << got[i];
  }
}

TEST(Remainders, F32) { expect_remainders<float>(); }
TEST(Remainders, F64) { expect_remainders<double>(); }

TEST(Remainders, I32) {
  using Limits = std::numeric_limits<std::int32_t>;
  std::vector<std::int32_t> xs, ys, want;
  std::mt19937 dice(5);
  const std::vector<std::int32_t> edges{0,
                                        1,
                                        -1,
                                        2,
                                        -2,
                                        3,
                                        46341,
                                        Limits::max(),
                                        Limits::min(),
                                        Limits::max() - 1,
                                        Limits::min() + 1};
  for (const std::int32_t x : edges)
    for (const std::int32_t y : edges) xs.push_back(x), ys.push_back(y);
  for (int i = 0; i < 20000; ++i) {
    xs.push_back(static_cast<std::int32_t>(dice()));
    ys.push_back(static_cast<std::int32_t>(dice()) >> dice() % 32);
  }
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::int64_t x = xs[i], y = ys[i], rest = y == 0 ? 0 : x % y;
    want.push_back(static_cast<std::int32_t>(rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest));
  }
  const Shape shape{static_cast<std::int64_t>(xs.size())};
  const auto f = function([](const Tensor &a, const Tensor &b) { return a % b; });
  EXPECT_EQ((tensor(xs, shape) % tensor(ys, shape)).to_vector<std::int32_t>(), want);
  EXPECT_EQ(f(tensor(xs, shape), tensor(ys, shape)).to_vector<std::int32_t>(), want);
}

} // namespace
} // namespace weft
