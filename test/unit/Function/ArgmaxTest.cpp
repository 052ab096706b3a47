// Argmax, eager and compiled, against a loop: along every axis, around the sizes at which the work
// is cut, with equal elements, NaNs, infinities and zeros of both signs, and on several threads.
#include "../Testing.h"

#include <random>

#include "Support/Threads.h"
#include <weft/weft.h>

namespace weft {
namespace {

/// Few different values, so that there are many equal ones, and special ones here and there.
template <class T>
std::vector<T> elements(std::int64_t count, int seed, bool with_nan) {
  std::mt19937 dice(static_cast<unsigned>(seed));
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T &value : values) {
    value = static_cast<T>(static_cast<int>(dice() % 200)) - 100;
    if constexpr (std::is_floating_point_v<T>) {
      if (value == 0 && dice() % 2 == 0) value = -value;
      if (value == -7) value = -std::numeric_limits<T>::infinity();
      if (with_nan && dice() % 3000 == 0) value = std::numeric_limits<T>::quiet_NaN();
    }
  }
  return values;
}

/// The first index of the largest element; the first NaN is larger than all.
template <class T>
std::vector<std::int64_t> expected(const std::vector<T> &x, std::int64_t outer,
                                   std::int64_t reduced, std::int64_t inner) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < outer; ++i)
    for (std::int64_t k = 0; k < inner; ++k) {
      const auto at = [&](std::int64_t j) {
        return x[static_cast<std::size_t>((i * reduced + j) * inner + k)];
      };
      std::int64_t best = 0;
      for (std::int64_t j = 1; j < reduced; ++j)
        if (at(j) > at(best) || (at(j) != at(j) && at(best) == at(best))) best = j;
      indices.push_back(best);
    }
  return indices;
}

struct Case {
  std::int64_t outer, reduced, inner;
};
const std::vector<Case> kCases = {
    {1, 1, 1},     {1, 63, 1},     {1, 64, 1},    {1, 4095, 1},  {1, 4096, 1},  {1, 4097, 1},
    {1, 12289, 1}, {1, 200001, 1}, {5, 1, 1},     {7, 3, 1},     {300, 65, 1},  {1000, 16, 1},
    {3, 70000, 1}, {200, 1000, 1}, {9, 33000, 1}, {1, 257, 1},   {1, 1, 9},     {1, 5, 255},
    {1, 5, 256},   {1, 7, 257},    {2, 9, 600},   {1, 3000, 33}, {1, 500, 513}, {70, 40, 30},
};

template <class T>
void expect_places() {
  const auto along_middle = [](const Tensor &x) { return argmax(x, {.axis = 1}); };
  const auto f = function(along_middle);
  const auto along_last = [](const Tensor &x) { return argmax(x, {.axis = -1}); };
  const auto rows = function(along_last);
  int seed = 0;
  for (const auto &[outer, reduced, inner] : kCases)
    for (const bool with_nan : {false, true}) {
      const std::vector<T> values = elements<T>(outer * reduced * inner, ++seed, with_nan);
      const Tensor x = tensor(values, {outer, reduced, inner});
      const std::vector<std::int64_t> want = expected(values, outer, reduced, inner);
      const std::string what = to_string(x.type());
      EXPECT_EQ(along_middle(x).template to_vector<std::int64_t>(), want) << what;
      EXPECT_EQ(f(x).template to_vector<std::int64_t>(), want) << what;
      if (inner != 1) continue;
      const Tensor matrix = x.reshape({outer, reduced});
      EXPECT_EQ(along_last(matrix).template to_vector<std::int64_t>(), want) << what;
      EXPECT_EQ(rows(matrix).template to_vector<std::int64_t>(), want) << what;
    }
}

TEST(Argmax, F32) { expect_places<float>(); }
TEST(Argmax, F64) { expect_places<double>(); }
TEST(Argmax, I32) { expect_places<std::int32_t>(); }
TEST(Argmax, I64) { expect_places<std::int64_t>(); }

TEST(Argmax, ThreadsDoNotMatter) {
  const int before = threads::max_threads();
  for (const int count : {1, 2, 5}) {
    threads::set_num_threads(count);
    expect_places<float>();
  }
  threads::set_num_threads(before);
}

// Nothing but the neutral element of max.
TEST(Argmax, OfTheLowest) {
  const float least = -std::numeric_limits<float>::infinity();
  const auto f = function([](const Tensor &x) { return argmax(x); });
  EXPECT_EQ(argmax(full({5000}, least)).item<int>(), 0);
  EXPECT_EQ(f(full({5000}, least)).item<int>(), 0);
  const int lowest = std::numeric_limits<int>::lowest();
  EXPECT_EQ(argmax(full({3, 4}, lowest, i32)).to_vector<int>(), (std::vector<int>{0, 0, 0}));
  EXPECT_EQ(f(full({3, 4}, lowest, i32)).to_vector<int>(), (std::vector<int>{0, 0, 0}));
}

TEST(Argmax, OfUnknownSizes) {
  const auto f = function([](const Tensor &x) { return argmax(x); },
                          {.signature = {spec(f32, {unknown, unknown})}});
  for (const auto &[rows, size] : {std::pair<std::int64_t, std::int64_t>{1, 9000}, {40, 17}}) {
    const std::vector<float> values = elements<float>(rows * size, 3, true);
    EXPECT_EQ(f(tensor(values, {rows, size})).to_vector<std::int64_t>(),
              expected(values, rows, size, 1));
  }
  EXPECT_EQ(f.trace_count(), 1U);
}

} // namespace
} // namespace weft
