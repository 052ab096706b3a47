// Max and min over any axis, eager and compiled, against a loop: zeros and NaNs of both signs,
// around the sizes at which rows and columns are cut.
#include "../Testing.h"

#include <bit>
#include <cmath>
#include <random>

#include <weft/weft.h>

namespace weft {
namespace {

/// What the elements of a case are: the extremum of few kinds is often a zero or a NaN.
enum class Kind { any, notPositive, notNegative, zeros, withNaN };

template <class T>
std::vector<T> elements(std::int64_t count, unsigned seed, Kind kind) {
  std::mt19937 dice(seed);
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T &value : values) {
    value = static_cast<T>(static_cast<int>(dice() % 2000) - 1000) / 8;
    if (kind == Kind::notPositive) value = -std::abs(value);
    if (kind == Kind::notNegative) value = std::abs(value);
    if (kind == Kind::zeros || dice() % 8 == 0) value = dice() % 64 == 0 ? T(0) : -T(0);
    if (kind == Kind::notNegative && value == 0) value = dice() % 64 == 0 ? -T(0) : T(0);
    if (dice() % 500 == 0) value = std::copysign(std::numeric_limits<T>::infinity(), value);
    if (kind == Kind::withNaN && dice() % 400 == 0)
      value = std::copysign(std::numeric_limits<T>::quiet_NaN(), dice() % 2 == 0 ? T(1) : T(-1));
  }
  return values;
}

/// A NaN if there is one, and -0 before 0.
template <class T>
std::vector<T> expected(const std::vector<T> &x, std::int64_t outer, std::int64_t reduced,
                        std::int64_t inner, bool largest) {
  std::vector<T> results;
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t k = 0; k < inner; ++k) {
      T best = std::numeric_limits<T>::infinity() * (largest ? -1 : 1);
      for (std::int64_t j = 0; j < reduced && !std::isnan(best); ++j) {
        const T value = x[static_cast<std::size_t>((i * reduced + j) * inner + k)];
        const bool less = value < best || (value == 0 && best == 0 && std::signbit(value));
        const bool greater = value > best || (value == 0 && best == 0 && !std::signbit(value));
        if (std::isnan(value) || (largest ? greater : less)) best = value;
      }
      results.push_back(best);
    }
  return results;
}

/// The bits, of any NaN the same.
template <class T>
std::vector<std::uint64_t> bits(const std::vector<T> &values) {
  std::vector<std::uint64_t> all;
  for (const T value : values)
    all.push_back(
        std::isnan(value)
            ? 1
            : std::bit_cast<std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>(
                  value));
  return all;
}

struct Case {
  std::int64_t outer, reduced, inner;
};
const std::vector<Case> kCases = {
    {1, 1, 1},    {1, 15, 1},   {1, 64, 1},    {1, 1000, 1},  {1, 70001, 1},  {300, 65, 1},
    {7, 3, 1},    {1, 1, 9},    {1, 7, 15},    {1, 8, 16},    {1, 17, 33},    {5, 19, 130},
    {3, 20, 250}, {1, 9, 1024}, {1, 30, 1100}, {1, 11, 2049}, {1, 2000, 300}, {2, 3000, 70},
};

template <class T>
void expect_extrema() {
  const auto run = [](const Tensor &x) {
    return std::pair(max(x, {.axes = Ints{1}}), min(x, {.axes = Ints{1}}));
  };
  const auto compiled = function(run);
  unsigned seed = 0;
  for (const auto &[outer, reduced, inner] : kCases)
    for (const Kind kind :
         {Kind::any, Kind::notPositive, Kind::notNegative, Kind::zeros, Kind::withNaN}) {
      const std::vector<T> values = elements<T>(outer * reduced * inner, ++seed, kind);
      const Tensor x = tensor(values, {outer, reduced, inner});
      const std::string what =
          to_string(x.type()) + " of kind " + std::to_string(static_cast<int>(kind));
      const auto largest = bits(expected(values, outer, reduced, inner, true));
      const auto smallest = bits(expected(values, outer, reduced, inner, false));
      const auto expect = [&](const std::pair<Tensor, Tensor> &results, const char *how) {
        EXPECT_EQ(bits(results.first.template to_vector<T>()), largest) << how << " max, " << what;
        EXPECT_EQ(bits(results.second.template to_vector<T>()), smallest)
            << how << " min, " << what;
      };
      expect(run(x), "eager");
      expect(compiled(x), "compiled");
    }
}

TEST(Extrema, F32) { expect_extrema<float>(); }
TEST(Extrema, F64) { expect_extrema<double>(); }

} // namespace
} // namespace weft
