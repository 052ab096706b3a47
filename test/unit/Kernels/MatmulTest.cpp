// Tests of the matrix product: against a naive one, at every CPU level, on every path.

#include "Kernels/Matmul.h"
#include "StridedMatrix.h"

#include "Support/Threads.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace weft::kernels {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4};
constexpr MatmulPath kPaths[] = {MatmulPath::automatic, MatmulPath::direct, MatmulPath::blocked};

/// Of random elements.
template <typename T>
struct Matrix : StridedMatrix<T> {
  Matrix(int64_t rows, int64_t columns, Layout layout, std::mt19937 &random)
      : StridedMatrix<T>(rows, columns, layout, poison(), [&] { return draw(random); }) {}

  static T poison() {
    return std::numeric_limits<T>::has_quiet_NaN ? std::numeric_limits<T>::quiet_NaN()
                                                 : std::numeric_limits<T>::max();
  }
  static T draw(std::mt19937 &random) {
    if constexpr (std::is_floating_point_v<T>)
      return std::uniform_real_distribution<T>(-1, 1)(random);
    else return static_cast<T>(random() * 0x9e3779b97f4a7c15ull);
  }
};

template <typename T>
std::vector<T> multiply(Matrix<T> &a, Matrix<T> &b, CpuLevel level, MatmulPath path,
                        int64_t extra = 0) {
  const int64_t row = b.columns + extra;
  std::vector<T> c(static_cast<size_t>(a.rows * row + 1), T(77));
  matmul_forced(dtype_of<T>,
                {1, a.rows, b.columns, a.columns, a.data(), 0, a.row_step, a.column_step, b.data(),
                 0, b.row_step, b.column_step, c.data(), 0, row},
                level, path);
  return c;
}

/// Fails unless c is a * b, with nothing written beside it.
template <typename T>
void expect_product(Matrix<T> &a, Matrix<T> &b, const std::vector<T> &c, int64_t extra,
                    const std::string &where) {
  const int64_t row = b.columns + extra;
  EXPECT_EQ(c.back(), T(77)) << where;
  // Of large products a part that touches every row, column and block.
  const int64_t step = a.rows * b.columns * a.columns < 2'000'000 ? 1 : 37;
  for (int64_t i = 0; i < a.rows; ++i) {
    for (int64_t j = i % step; j < b.columns; j += step) {
      const T got = c[static_cast<size_t>(i * row + j)];
      if constexpr (std::is_floating_point_v<T>) {
        long double sum = 0, size = 0;
        for (int64_t l = 0; l < a.columns; ++l) {
          const long double product = static_cast<long double>(a.at(i, l)) * b.at(l, j);
          sum += product, size += std::abs(product);
        }
        const double bound = static_cast<double>(size) * std::numeric_limits<T>::epsilon() *
                             static_cast<double>(a.columns + 1);
        ASSERT_NEAR(static_cast<double>(got), static_cast<double>(sum), bound)
            << where << " at " << i << ", " << j;
      } else {
        using Bits = std::make_unsigned_t<T>;
        Bits sum = 0;
        for (int64_t l = 0; l < a.columns; ++l) sum += Bits(a.at(i, l)) * Bits(b.at(l, j));
        ASSERT_EQ(got, static_cast<T>(sum)) << where << " at " << i << ", " << j;
      }
    }
    for (int64_t j = b.columns; j < row; ++j)
      ASSERT_EQ(c[static_cast<size_t>(i * row + j)], T(77)) << where << " beside row " << i;
  }
}

template <typename T>
class MatmulTest : public ::testing::Test {};
using Types = ::testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(MatmulTest, Types);

std::string describe(int64_t m, int64_t k, int64_t n, CpuLevel level, MatmulPath path) {
  return "(" + std::to_string(m) + ", " + std::to_string(k) + ") x (" + std::to_string(k) + ", " +
         std::to_string(n) + "), level v" + std::to_string(static_cast<int>(level)) + ", path " +
         std::to_string(static_cast<int>(path));
}

TYPED_TEST(MatmulTest, AllSmallSizes) {
  std::mt19937 random(1);
  const int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 12, 13, 15, 16, 17, 31, 33, 64, 100};
  for (const int64_t m : sizes)
    for (const int64_t n : sizes)
      for (const int64_t k : {1, 2, 7, 16, 33, 100}) {
        Matrix<TypeParam> a(m, k, Layout::rows, random), b(k, n, Layout::rows, random);
        for (const CpuLevel level : kLevels) {
          if (level > host_cpu_level()) continue;
          const auto c = multiply(a, b, level, MatmulPath::automatic, 1);
          expect_product(a, b, c, 1, describe(m, k, n, level, MatmulPath::automatic));
          if (this->HasFatalFailure()) return;
        }
      }
}

TYPED_TEST(MatmulTest, AllLayoutsAndPaths) {
  std::mt19937 random(2);
  const int64_t shapes[][3] = {{1, 40, 1},   {1, 40, 37},  {37, 40, 1}, {2, 9, 70},
                               {19, 300, 5}, {33, 17, 35}, {30, 31, 64}};
  for (const auto &[m, k, n] : shapes)
    for (const Layout left : kLayouts)
      for (const Layout right : kLayouts) {
        Matrix<TypeParam> a(m, k, left, random), b(k, n, right, random);
        for (const CpuLevel level : kLevels)
          for (const MatmulPath path : kPaths) {
            if (level > host_cpu_level()) continue;
            expect_product(a, b, multiply(a, b, level, path), 0,
                           describe(m, k, n, level, path) + ", layouts " +
                               std::to_string(static_cast<int>(left)) + ", " +
                               std::to_string(static_cast<int>(right)));
            if (this->HasFatalFailure()) return;
          }
      }
}

TYPED_TEST(MatmulTest, LargeEnoughForEveryBlock) {
  // More than one slice of k, block of rows and packed width, none of them a round number.
  std::mt19937 random(3);
  const int64_t shapes[][3] = {{517, 1301, 71}, {29, 2100, 4130}, {4150, 270, 9}};
  for (const auto &[m, k, n] : shapes)
    for (const bool flipped : {false, true}) {
      if (!std::is_floating_point_v<TypeParam> && flipped) continue;
      const Layout layout = flipped ? Layout::columns : Layout::rows;
      Matrix<TypeParam> a(m, k, layout, random), b(k, n, layout, random);
      for (const MatmulPath path : kPaths) {
        expect_product(a, b, multiply(a, b, host_cpu_level(), path, 2), 2,
                       describe(m, k, n, host_cpu_level(), path));
        if (this->HasFatalFailure()) return;
      }
    }
}

TYPED_TEST(MatmulTest, NothingToAddGivesZeros) {
  std::mt19937 random(4);
  for (const CpuLevel level : kLevels)
    for (const auto &[m, n] : {std::pair<int64_t, int64_t>{3, 5}, {0, 5}, {5, 0}, {0, 0}}) {
      Matrix<TypeParam> a(m, 0, Layout::rows, random), b(0, n, Layout::rows, random);
      expect_product(a, b, multiply(a, b, level, MatmulPath::automatic, 1), 1, "k = 0");
    }
  Matrix<TypeParam> a(0, 4, Layout::rows, random), b(4, 3, Layout::rows, random);
  EXPECT_EQ(multiply(a, b, host_cpu_level(), MatmulPath::automatic).back(), TypeParam(77));
}

TYPED_TEST(MatmulTest, BatchesWithAnyStride) {
  using T = TypeParam;
  std::mt19937 random(5);
  const int64_t shapes[][3] = {{3, 4, 5}, {1, 6, 20}, {20, 7, 1}, {30, 31, 33}};
  for (const auto &[m, k, n] : shapes)
    for (const int64_t batch : {0, 1, 2, 3, 9})
      for (const bool one_a : {false, true})
        for (const bool one_b : {false, true}) {
          Matrix<T> a(one_a ? m : std::max<int64_t>(batch, 1) * m, k, Layout::rows, random);
          Matrix<T> b(one_b ? k : std::max<int64_t>(batch, 1) * k, n, Layout::rows, random);
          std::vector<T> c(static_cast<size_t>(batch * m * n + 1), T(77));
          matmul(dtype_of<T>, {batch, m, n, k, a.data(), one_a ? 0 : m * k, k, 1, b.data(),
                               one_b ? 0 : k * n, n, 1, c.data(), m * n, n});
          EXPECT_EQ(c.back(), T(77));
          for (int64_t s = 0; s < batch; ++s) {
            Matrix<T> left(m, k, Layout::rows, random), right(k, n, Layout::rows, random);
            std::copy_n(a.data() + (one_a ? 0 : s * m * k), m * k, left.data());
            std::copy_n(b.data() + (one_b ? 0 : s * k * n), k * n, right.data());
            std::vector<T> part(c.begin() + s * m * n, c.begin() + (s + 1) * m * n);
            part.push_back(T(77));
            expect_product(left, right, part, 0, "batch element " + std::to_string(s));
            if (this->HasFatalFailure()) return;
          }
        }
}

TYPED_TEST(MatmulTest, ThreadsDoNotChangeABit) {
  std::mt19937 random(6);
  const int64_t shapes[][3] = {{64, 64, 128},  {10, 784, 512},  {1, 784, 2000},
                               {2000, 784, 1}, {513, 511, 300}, {130, 1030, 130}};
  const int before = threads::max_threads();
  for (const auto &[m, k, n] : shapes)
    for (const MatmulPath path : kPaths) {
      Matrix<TypeParam> a(m, k, Layout::rows, random), b(k, n, Layout::columns, random);
      threads::set_num_threads(1);
      const auto alone = multiply(a, b, host_cpu_level(), path);
      for (const int count : {2, 3, 5}) {
        threads::set_num_threads(count);
        const auto together = multiply(a, b, host_cpu_level(), path);
        EXPECT_EQ(std::memcmp(alone.data(), together.data(), alone.size() * sizeof(TypeParam)), 0)
            << describe(m, k, n, host_cpu_level(), path) << ", " << count << " threads";
      }
    }
  threads::set_num_threads(before);
}

TYPED_TEST(MatmulTest, CompiledCodesEntryIsTheSame) {
  using T = TypeParam;
  std::mt19937 random(7);
  Matrix<T> a(5, 6, Layout::rows, random), b(6, 7, Layout::rows, random);
  std::vector<T> c(36, T(77));
  const auto entry = [&](auto function) {
    function(1, 5, 7, 6, a.data(), 0, 6, 1, b.data(), 0, 7, 1, c.data(), 0, 7);
  };
  if constexpr (std::is_same_v<T, float>) entry(weft_rt_matmul_f32);
  if constexpr (std::is_same_v<T, double>) entry(weft_rt_matmul_f64);
  if constexpr (std::is_same_v<T, int32_t>) entry(weft_rt_matmul_i32);
  if constexpr (std::is_same_v<T, int64_t>) entry(weft_rt_matmul_i64);
  expect_product(a, b, c, 0, "entry");
}

// The sum has the bits of the product, computed apart, and one addition.
TYPED_TEST(MatmulTest, AddsWholeProducts) {
  using T = TypeParam;
  std::mt19937 random(11);
  const int64_t shapes[][3] = {{1, 40, 1},   {1, 40, 37},  {37, 40, 1},    {3, 0, 5},
                               {33, 17, 35}, {30, 31, 64}, {517, 1301, 71}};
  for (const auto &[m, k, n] : shapes)
    for (const Layout left : kLayouts)
      for (const Layout right : kLayouts) {
        if (k > 1000 && (left != right || !std::is_floating_point_v<T>)) continue;
        Matrix<T> a(m, k, left, random), b(k, n, right, random), before(m, n, Layout::rows, random);
        for (const CpuLevel level : kLevels)
          for (const MatmulPath path : kPaths) {
            if (level > host_cpu_level()) continue;
            std::vector<T> sum(before.data(), before.data() + m * n), expected = sum;
            const std::vector<T> product = multiply(a, b, level, path);
            MatmulArgs args{1,          m, n,          k,
                            a.data(),   0, a.row_step, a.column_step,
                            b.data(),   0, b.row_step, b.column_step,
                            sum.data(), 0, n};
            args.add = true;
            matmul_forced(dtype_of<T>, args, level, path);
            using Sum = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;
            for (size_t i = 0; i < expected.size(); ++i)
              expected[i] = static_cast<T>(Sum(expected[i]) + Sum(product[i]));
            ASSERT_EQ(std::memcmp(sum.data(), expected.data(), sum.size() * sizeof(T)), 0)
                << describe(m, k, n, level, path) << ", layouts " << static_cast<int>(left) << ", "
                << static_cast<int>(right);
          }
      }
}

template <typename T>
class FloatMatmulTest : public ::testing::Test {};
using FloatTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(FloatMatmulTest, FloatTypes);

TYPED_TEST(FloatMatmulTest, ZeroTimesInfinityIsNotSkipped) {
  using T = TypeParam;
  std::mt19937 random(8);
  const int64_t shapes[][3] = {{1, 5, 1}, {1, 5, 9}, {9, 5, 1}, {20, 21, 22}, {300, 300, 300}};
  for (const auto &[m, k, n] : shapes)
    for (const CpuLevel level : kLevels)
      for (const MatmulPath path : kPaths) {
        if (level > host_cpu_level()) continue;
        Matrix<T> a(m, k, Layout::rows, random), b(k, n, Layout::rows, random);
        for (T &element : a.storage) element = 0;
        b.at(k - 1, n - 1) = std::numeric_limits<T>::infinity();
        b.at(0, 0) = std::numeric_limits<T>::quiet_NaN();
        const auto c = multiply(a, b, level, path);
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            const T got = c[static_cast<size_t>(i * n + j)];
            if (j == 0 || j == n - 1)
              ASSERT_TRUE(std::isnan(got)) << describe(m, k, n, level, path);
            else ASSERT_EQ(got, 0) << describe(m, k, n, level, path);
          }
      }
}

TYPED_TEST(FloatMatmulTest, InfinityAndLargeSumsStayInfinite) {
  using T = TypeParam;
  std::mt19937 random(9);
  Matrix<T> a(3, 4, Layout::rows, random), b(4, 40, Layout::rows, random);
  for (T &element : a.storage) element = std::numeric_limits<T>::max();
  for (T &element : b.storage) element = 2;
  for (const CpuLevel level : kLevels) {
    if (level > host_cpu_level()) continue;
    const auto c = multiply(a, b, level, MatmulPath::automatic);
    for (int64_t i = 0; i < 120; ++i)
      ASSERT_EQ(c[static_cast<size_t>(i)], std::numeric_limits<T>::infinity());
  }
}

TEST(Matmul, OtherDtypesAreLeftAlone) {
  bool a = true, b = true, c = false;
  matmul(DType::boolean, {1, 1, 1, 1, &a, 0, 1, 1, &b, 0, 1, 1, &c, 0, 1});
  EXPECT_FALSE(c);
}

} // namespace
} // namespace weft::kernels
