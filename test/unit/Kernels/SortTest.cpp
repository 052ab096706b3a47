// Tests of sorting: against std::stable_sort, at every CPU level, on every path, on any number of
// threads.

#include "Kernels/Sort.h"
#include "../Testing.h"

#include "Support/Threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace weft::kernels {
namespace {

constexpr CpuLevel kLevels[] = {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4};
constexpr SortPath kPaths[] = {SortPath::automatic, SortPath::quicksort, SortPath::radix};

/// What the elements of a line are like.
enum class Kind { any, bits, few, equal, ascending, descending, organ, outlier, close };
constexpr Kind kKinds[] = {Kind::any,   Kind::bits,      Kind::few,
                           Kind::equal, Kind::ascending, Kind::descending,
                           Kind::organ, Kind::outlier,   Kind::close};

template <class T>
T bits_as(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
std::vector<T> line(std::int64_t size, Kind kind) {
  std::mt19937_64 random(static_cast<std::uint64_t>(size) * 31 + static_cast<std::uint64_t>(kind));
  std::vector<T> special = {T(0), T(1), T(-1), std::numeric_limits<T>::max(),
                            std::numeric_limits<T>::lowest()};
  if constexpr (std::is_floating_point_v<T>) {
    const T infinity = std::numeric_limits<T>::infinity();
    const T nan = std::numeric_limits<T>::quiet_NaN();
    special.insert(special.end(),
                   {T(-0.0), infinity, -infinity, nan, -nan, std::numeric_limits<T>::denorm_min()});
    special.push_back(bits_as<T>(sizeof(T) == 4 ? 0x7fc12345 : 0x7ff8000012345678)); // a payload
  }
  std::vector<T> x(static_cast<std::size_t>(size));
  for (std::int64_t i = 0; i < size; ++i) {
    T &value = x[static_cast<std::size_t>(i)];
    switch (kind) {
    case Kind::any: value = static_cast<T>(std::normal_distribution<double>(0, 1e6)(random)); break;
    case Kind::bits: value = bits_as<T>(random()); break;
    case Kind::few: value = special[random() % special.size()]; break;
    case Kind::equal: value = T(7); break;
    case Kind::ascending: value = static_cast<T>(i); break;
    case Kind::descending: value = static_cast<T>(size - i); break;
    case Kind::organ: value = static_cast<T>(std::min(i, size - i)); break;
    case Kind::outlier: value = i == 3 ? special[3] : static_cast<T>(random() % 5000); break;
    case Kind::close: value = static_cast<T>((random() % 4 << 40) + random() % 3); break;
    }
  }
  return x;
}

template <class T>
bool precedes(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) return a < b || (a == a && b != b);
  else return a < b;
}

template <class T>
std::vector<std::int64_t> expected_places(const std::vector<T> &x, bool descending) {
  std::vector<std::int64_t> indices(x.size());
  std::iota(indices.begin(), indices.end(), 0);
  std::stable_sort(indices.begin(), indices.end(), [&](std::int64_t a, std::int64_t b) {
    const T left = x[static_cast<std::size_t>(a)], right = x[static_cast<std::size_t>(b)];
    return descending ? precedes(right, left) : precedes(left, right);
  });
  return indices;
}

template <class T>
constexpr DType kDType = std::is_same_v<T, float>          ? DType::f32
                         : std::is_same_v<T, double>       ? DType::f64
                         : std::is_same_v<T, std::int32_t> ? DType::i32
                                                           : DType::i64;

template <class T>
class Sort : public testing::Test {
protected:
  ~Sort() override { threads::set_num_threads(before_); }

  /// Everything about one line: values with their bits, all indices, and some first ones.
  void check(const std::vector<T> &x, CpuLevel level, SortPath path, const std::string &what) {
    const auto size = static_cast<std::int64_t>(x.size());
    const std::int64_t stride = 1;
    for (const bool descending : {false, true}) {
      const std::vector<std::int64_t> expected = expected_places(x, descending);
      std::vector<T> values(x.size());
      SortArgs args{1,    &size,    0,       descending,    Sorted::values,
                    size, x.data(), &stride, values.data(), &stride};
      sort_forced(kDType<T>, args, level, path);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const T &right = x[static_cast<std::size_t>(expected[i])];
        ASSERT_EQ(std::memcmp(&values[i], &right, sizeof(T)), 0) << what << " value " << i;
      }
      for (const std::int64_t count : {size, size / 2, size / 64, size / 200, std::int64_t(1)}) {
        if (count > size || (count == size / 2 && size > 300 && path != SortPath::automatic))
          continue;
        std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
        args.wanted = Sorted::indices;
        args.count = count;
        args.result = indices.data();
        sort_forced(kDType<T>, args, level, path);
        ASSERT_TRUE(std::equal(indices.begin(), indices.end(), expected.begin()))
            << what << " first " << count;
      }
    }
  }

private:
  int before_ = threads::max_threads();
};

using Numbers = testing::Types<float, double, std::int32_t, std::int64_t>;
TYPED_TEST_SUITE(Sort, Numbers);

TYPED_TEST(Sort, LinesOfEverySize) {
  std::vector<std::int64_t> sizes(301);
  std::iota(sizes.begin(), sizes.end(), 0);
  sizes.insert(sizes.end(), {4095, 4096, 4097});
  for (const CpuLevel level : kLevels)
    for (const SortPath path : kPaths)
      for (const Kind kind : kKinds)
        for (const std::int64_t size : sizes) {
          // All sizes for the kinds that show most.
          const bool all = path == SortPath::quicksort && (kind == Kind::bits || kind == Kind::few);
          if (!all && size % 37 > 1) continue;
          const std::string what = "level " + std::to_string(static_cast<int>(level)) + " path " +
                                   std::to_string(static_cast<int>(path)) + " kind " +
                                   std::to_string(static_cast<int>(kind)) + " size " +
                                   std::to_string(size);
          this->check(line<TypeParam>(size, kind), level, path, what);
          if (this->HasFatalFailure()) return;
        }
}

TYPED_TEST(Sort, LongLinesOnAnyNumberOfThreads) {
  for (const Kind kind : kKinds)
    for (const std::int64_t size : {70000, 300000, 1100000}) {
      if (size > 300000 && kind != Kind::few && kind != Kind::any) continue;
      if (size > 70000 && !long_tests() && kind != Kind::few && kind != Kind::organ) continue;
      const std::vector<TypeParam> x = line<TypeParam>(size, kind);
      for (const int threads : {1, 2, 5}) {
        threads::set_num_threads(threads);
        this->check(x, CpuLevel::v4, SortPath::automatic,
                    "kind " + std::to_string(static_cast<int>(kind)) + " size " +
                        std::to_string(size) + " threads " + std::to_string(threads));
        if (this->HasFatalFailure()) return;
      }
    }
}

/// Patterns that defeat a pivot from fixed positions: the sort must not become quadratic.
TYPED_TEST(Sort, LinesAgainstPivots) {
  for (const std::int64_t size : {1000, 20000}) {
    std::vector<TypeParam> x(static_cast<std::size_t>(size));
    for (std::int64_t i = 0; i < size; ++i)
      x[static_cast<std::size_t>(i)] = static_cast<TypeParam>(i % 32 == 0 ? i : size + i % 31);
    for (const CpuLevel level : kLevels) this->check(x, level, SortPath::quicksort, "teeth");
  }
}

TYPED_TEST(Sort, EveryAxisOfStridedViews) {
  using T = TypeParam;
  // Within storage that is larger and goes backwards in part: x[i, j, k] of sizes (5, 37, 19).
  const std::vector<T> storage = line<T>(40000, Kind::few);
  const std::int64_t sizes[] = {5, 37, 19};
  const std::int64_t layouts[][4] = {{0, 703, 19, 1}, {0, 1, 5, 185},          {2000, -7, 38, 2},
                                     {0, 703, 1, 37}, {39000, -2000, -40, -2}, {100, 0, 3, 0}};
  for (const auto &[offset, first, second, third] : layouts)
    for (std::int64_t axis = 0; axis < 3; ++axis)
      for (const bool descending : {false, true})
        for (const int threads : {1, 2}) {
          threads::set_num_threads(threads);
          const std::int64_t strides[] = {first, second, third};
          const std::int64_t count = sizes[axis] / 2 + 1;
          std::int64_t some[] = {5, 37, 19};
          some[axis] = count;
          // The last result axis first, to have strides in the results too.
          const std::int64_t out[] = {some[1], 1, some[0] * some[1]};
          const std::int64_t all[] = {sizes[1], 1, sizes[0] * sizes[1]};
          std::vector<std::int64_t> indices(static_cast<std::size_t>(some[0] * some[1] * some[2]));
          std::vector<T> values(5 * 37 * 19);
          SortArgs args{3,
                        sizes,
                        axis,
                        descending,
                        Sorted::indices,
                        count,
                        &storage[static_cast<std::size_t>(offset)],
                        strides,
                        indices.data(),
                        out};
          sort(kDType<T>, args);
          args.wanted = Sorted::values;
          args.count = sizes[axis];
          args.result = values.data();
          args.result_strides = all;
          sort(kDType<T>, args);
          for (std::int64_t i = 0; i < (axis == 0 ? 1 : sizes[0]); ++i)
            for (std::int64_t j = 0; j < (axis == 1 ? 1 : sizes[1]); ++j)
              for (std::int64_t k = 0; k < (axis == 2 ? 1 : sizes[2]); ++k) {
                std::vector<T> x;
                for (std::int64_t n = 0; n < sizes[axis]; ++n)
                  x.push_back(storage[static_cast<std::size_t>(offset + i * first + j * second +
                                                               k * third + n * strides[axis])]);
                const std::vector<std::int64_t> expected = expected_places(x, descending);
                for (std::int64_t n = 0; n < sizes[axis]; ++n) {
                  const auto at = static_cast<std::size_t>(i * all[0] + j * all[1] + k * all[2] +
                                                           n * all[axis]);
                  const T &right =
                      x[static_cast<std::size_t>(expected[static_cast<std::size_t>(n)])];
                  ASSERT_EQ(std::memcmp(&values[at], &right, sizeof(T)), 0) << axis;
                  if (n >= count) continue;
                  ASSERT_EQ(indices[static_cast<std::size_t>(i * out[0] + j * out[1] + k * out[2] +
                                                             n * out[axis])],
                            expected[static_cast<std::size_t>(n)])
                      << axis;
                }
              }
        }
}

} // namespace
} // namespace weft::kernels
