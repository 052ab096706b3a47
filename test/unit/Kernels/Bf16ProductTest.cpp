// Tests of products of bf16: the bits of the rule, computed number by number without the
// processor's flags, on every level and layout.

#include "Kernels/Matmul.h"
#include "StridedMatrix.h"
#include "Support/Threads.h"

#include <weft/float16.h>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <xmmintrin.h>

namespace weft::kernels {
namespace {

/// The nearest float that is no denormal, as if exponents had no end: below 2^-126 it is a zero.
float flushed(double value) {
  if (value == 0 || !std::isfinite(value)) return static_cast<float>(value);
  // Large enough that a float of it has all its bits.
  const bool is_small = std::abs(value) < 0x1p-100;
  const double scaled = is_small ? value * 0x1p200 : value;
  const float nearest = static_cast<float>(scaled);
  if (!is_small) return nearest;
  const double back = static_cast<double>(nearest) * 0x1p-200;
  return std::abs(back) < 0x1p-126 ? std::copysign(0.f, nearest) : static_cast<float>(back);
}

/// a + b as a double from which it can be rounded to a float as if it had been exact: rounded to
/// odd.
double sum_to_odd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum) || sum == 0) return sum;
  const double part = sum - a, error = (a - (sum - part)) + (b - part);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1) != 0) return sum;
  return std::bit_cast<double>((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

float operand(bfloat16 x) {
  const auto value = static_cast<float>(x);
  return std::abs(value) < 0x1p-126f ? std::copysign(0.f, value) : value;
}

/// One step of a sum by the rule of `matmul_bf16`.
float step(bfloat16 a, bfloat16 b, float sum, bool fused) {
  const double product = static_cast<double>(operand(a)) * static_cast<double>(operand(b));
  const double term = fused ? product : static_cast<double>(flushed(product));
  return flushed(sum_to_odd(static_cast<double>(sum), term));
}

/// Bits of every kind: random ones, near the ends of the range, and a few special numbers.
enum class Numbers { ordinary, tiny, any };
bfloat16 draw(Numbers numbers, std::mt19937 &random) {
  const auto bits = static_cast<std::uint16_t>(random());
  switch (numbers) {
  case Numbers::ordinary: return bfloat16(std::uniform_real_distribution<float>(-1, 1)(random));
  case Numbers::tiny: { // products and sums about 2^-126, and denormal operands
    const int exponent =
        random() % 3 == 0 ? static_cast<int>(random() % 3) : 55 + static_cast<int>(random() % 12);
    return bfloat16::from_bits(static_cast<std::uint16_t>((bits & 0x807f) | exponent << 7));
  }
  case Numbers::any: break;
  }
  return bfloat16::from_bits(bits);
}

/// With NaN between the elements.
struct Matrix : StridedMatrix<bfloat16> {
  Matrix(int64_t rows, int64_t columns, Layout layout, Numbers numbers, std::mt19937 &random)
      : StridedMatrix(rows, columns, layout, bfloat16::from_bits(0x7fc1),
                      [&] { return draw(numbers, random); }) {}
};

std::vector<bfloat16> multiply(const Matrix &a, const Matrix &b, CpuLevel level, bool pairs,
                               int64_t extra = 0) {
  const int64_t row = b.columns + extra;
  std::vector<bfloat16> c(static_cast<std::size_t>(a.rows * row + 1), bfloat16(77));
  matmul_bf16_forced({1, a.rows, b.columns, a.columns, a.data(), 0, a.row_step, a.column_step,
                      b.data(), 0, b.row_step, b.column_step, c.data(), 0, row},
                     level, pairs);
  return c;
}

bool same(bfloat16 a, bfloat16 b) {
  const auto x = static_cast<float>(a), y = static_cast<float>(b);
  return std::isnan(x) ? std::isnan(y) : a.bits == b.bits;
}

void expect_bits(const Matrix &a, const Matrix &b, const std::vector<bfloat16> &c, int64_t extra,
                 bool fused, const std::string &where) {
  const int64_t row = b.columns + extra;
  ASSERT_EQ(c.back().bits, bfloat16(77).bits) << where;
  const int64_t apart = a.rows * b.columns * a.columns < 400'000 ? 1 : 37;
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = i % apart; j < b.columns; j += apart) {
      float sum = 0;
      for (int64_t l = 0; l < a.columns; ++l) sum = step(a.at(i, l), b.at(l, j), sum, fused);
      if (a.columns % 2 != 0) sum += 0.f;
      const bfloat16 got = c[static_cast<std::size_t>(i * row + j)], wanted(sum);
      ASSERT_TRUE(same(got, wanted)) << where << " at " << i << ", " << j << ": " << std::hex
                                     << got.bits << ", not " << wanted.bits;
    }
    for (int64_t j = b.columns; j < row; ++j)
      ASSERT_EQ(c[static_cast<std::size_t>(i * row + j)].bits, bfloat16(77).bits) << where;
  }
}

template <class Check>
void for_all_kernels(const Check &check) {
  for (const CpuLevel level : {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4})
    if (level <= host_cpu_level())
      check(level, false, "v" + std::to_string(static_cast<int>(level)));
  if (host_multiplies_bf16_pairs()) check(CpuLevel::v4, true, "pairs");
}

std::string describe(int64_t m, int64_t k, int64_t n) {
  return "(" + std::to_string(m) + ", " + std::to_string(k) + ") x (" + std::to_string(k) + ", " +
         std::to_string(n) + ") ";
}

TEST(Bf16ProductTest, RuleItself) {
  // Each step is rounded by itself: a sum that holds 2^24 does not feel two halves.
  EXPECT_EQ(step(bfloat16(1), bfloat16(1), 0x1p24f, true), 0x1p24f);
  EXPECT_EQ(step(bfloat16(1), bfloat16(0x1.02p0), 0x1p24f, true), 0x1p24f + 2);
  // What rounds up to 2^-126 only with the bits of a denormal is flushed; signs stay.
  EXPECT_EQ(flushed(0x1p-126 * (1 - 0x1p-24 - 0x1p-30)), 0.f);
  EXPECT_EQ(flushed(0x1p-126 * (1 - 0x1p-26)), 0x1p-126f);
  EXPECT_TRUE(std::signbit(flushed(-0x1p-140)));
  EXPECT_EQ(operand(bfloat16::from_bits(0x7f)), 0.f);
}

TEST(Bf16ProductTest, AllSmallSizes) {
  std::mt19937 random(1);
  const int64_t sizes[] = {1, 2, 3, 5, 8, 12, 13, 16, 17, 31, 33, 64};
  for (const int64_t m : sizes)
    for (const int64_t n : sizes)
      for (const int64_t k : {1, 2, 3, 16, 17, 32, 33, 35}) {
        const Numbers numbers = (m + n) % 3 == 0 ? Numbers::tiny : Numbers::ordinary;
        const Matrix a(m, k, Layout::rows, numbers, random), b(k, n, Layout::rows, numbers, random);
        for_all_kernels([&](CpuLevel level, bool pairs, const std::string &name) {
          expect_bits(a, b, multiply(a, b, level, pairs, 1), 1, level >= CpuLevel::v3,
                      describe(m, k, n) + name);
        });
        if (HasFatalFailure()) return;
      }
}

TEST(Bf16ProductTest, AllLayoutsAndNumbers) {
  std::mt19937 random(2);
  const int64_t shapes[][3] = {{1, 40, 1},    {1, 41, 37},   {37, 41, 1},   {19, 99, 5},
                               {33, 17, 35},  {30, 31, 64},  {3, 23, 1100}, {1051, 34, 2},
                               {4, 37, 1029}, {1, 300, 130}, {2, 1, 70},    {70, 1, 1}};
  for (const auto &[m, k, n] : shapes)
    for (const Layout left : kLayouts)
      for (const Layout right : kLayouts)
        for (const Numbers numbers : {Numbers::ordinary, Numbers::tiny, Numbers::any}) {
          const Matrix a(m, k, left, numbers, random), b(k, n, right, numbers, random);
          for_all_kernels([&](CpuLevel level, bool pairs, const std::string &name) {
            expect_bits(a, b, multiply(a, b, level, pairs), 0, level >= CpuLevel::v3,
                        describe(m, k, n) + name + ", layouts " +
                            std::to_string(static_cast<int>(left)) + ", " +
                            std::to_string(static_cast<int>(right)) + ", numbers " +
                            std::to_string(static_cast<int>(numbers)));
          });
          if (HasFatalFailure()) return;
        }
}

// More than one slice of k, block of rows and packed width, none of them a round number.
TEST(Bf16ProductTest, LargeEnoughForEveryBlock) {
  std::mt19937 random(3);
  const int64_t shapes[][3] = {
      {1103, 4101, 7}, {29, 4201, 4130}, {4150, 270, 9}, {7, 9001, 701}, {1, 2049, 5001}};
  for (const auto &[m, k, n] : shapes)
    for (const Layout layout : {Layout::rows, Layout::columns}) {
      const Matrix a(m, k, layout, Numbers::ordinary, random),
          b(k, n, layout, Numbers::ordinary, random);
      for_all_kernels([&](CpuLevel level, bool pairs, const std::string &name) {
        expect_bits(a, b, multiply(a, b, level, pairs, 2), 2, level >= CpuLevel::v3,
                    describe(m, k, n) + name);
      });
      if (HasFatalFailure()) return;
    }
}

TEST(Bf16ProductTest, NothingToAddGivesZeros) {
  std::vector<bfloat16> c(16, bfloat16(77));
  matmul(DType::bf16, {1, 3, 5, 0, nullptr, 0, 0, 1, nullptr, 0, 5, 1, c.data(), 0, 5});
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(c[i].bits, 0);
  EXPECT_EQ(c[15].bits, bfloat16(77).bits);
}

TEST(Bf16ProductTest, BatchesThreadsAndTheEntryOfCompiledCode) {
  std::mt19937 random(4);
  const int before = threads::max_threads();
  const int64_t shapes[][3] = {{3, 4, 5}, {1, 7, 20}, {20, 7, 1}, {130, 131, 133}, {300, 700, 300}};
  for (const auto &[m, k, n] : shapes)
    for (const int64_t batch : {1, 2, 9})
      for (const bool one_b : {false, true}) {
        const Matrix a(batch * m, k, Layout::rows, Numbers::ordinary, random),
            b((one_b ? 1 : batch) * k, n, Layout::rows, Numbers::ordinary, random);
        std::vector<bfloat16> expected, c(static_cast<std::size_t>(batch * m * n), bfloat16(77));
        for (int64_t s = 0; s < batch; ++s) {
          Matrix left = a, right = b;
          left.rows = m, left.start = s * m * k;
          right.rows = k, right.start = one_b ? 0 : s * k * n;
          threads::set_num_threads(1);
          const auto part = multiply(left, right, host_cpu_level(), true);
          expected.insert(expected.end(), part.begin(), part.end() - 1);
        }
        for (const int count : {1, 3}) {
          threads::set_num_threads(count);
          weft_rt_matmul_bf16(batch, m, n, k, &a.data()->bits, m * k, k, 1, &b.data()->bits,
                              one_b ? 0 : k * n, n, 1, &c.data()->bits, m * n, n);
          for (std::size_t i = 0; i < c.size(); ++i)
            ASSERT_EQ(c[i].bits, expected[i].bits) << describe(m, k, n) << batch << ", " << count;
        }
      }
  threads::set_num_threads(before);
}

TEST(Bf16ProductTest, ControlRegisterIsAsBefore) {
  std::mt19937 random(5);
  const Matrix a(40, 40, Layout::rows, Numbers::tiny, random);
  const unsigned before = _mm_getcsr() & 0xffc0;
  for_all_kernels([&](CpuLevel level, bool pairs, const std::string &name) {
    multiply(a, a, level, pairs);
    EXPECT_EQ(_mm_getcsr() & 0xffc0, before) << name;
  });
}

} // namespace
} // namespace weft::kernels
