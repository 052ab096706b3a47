// Tests of rejection: the loops of every CPU level, which have the same bits, and pairs of numbers.

#include "Kernels/RejectionParts.h"

#include "../Philox.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace weft::kernels {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Both tables of each level that this CPU has.
template <class Check>
void on_each_level(const Check &check) {
  for (const CpuLevel level : {CpuLevel::v2, CpuLevel::v3, CpuLevel::v4}) {
    SCOPED_TRACE(static_cast<int>(level));
    check(random_level(level), rejection::level_table(level));
  }
}

TEST(Rejection, PairsAreOfTheirBlocks) {
  const RandomStream stream{0xa4093822299f31d0, 0x0370734413198a2e};
  const std::uint64_t block = (std::uint64_t{1} << 32) - 3;
  const std::vector<int> places{0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 511};
  on_each_level([&](const RandomLevel &draws, const RejectionLevel &) {
    for (std::size_t count = 0; count <= places.size(); ++count) {
      std::vector<double> first(count + 1, -1), second(count + 1, -1);
      draws.pairs(stream, block, static_cast<int>(count), places.data(), first.data(),
                  second.data());
      EXPECT_EQ(first[count], -1);
      EXPECT_EQ(second[count], -1);
      for (std::size_t i = 0; i < count; ++i) {
        const philox::Block words = philox::Stream{stream.seed, stream.number}.block(
            block + static_cast<std::uint64_t>(places[i]));
        const auto number = [&](std::size_t at) {
          const std::uint64_t bits = std::uint64_t{words[at]} << 32 | words[at + 1];
          return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;
        };
        EXPECT_EQ(first[i], number(0));
        EXPECT_EQ(second[i], number(2));
      }
    }
  });
}

TEST(Rejection, LoopsHaveTheBitsOfTheirFormulas) {
  std::vector<double> a{0.3, 1, 0.999, 2.5, 1e6, 1e-300, 0, -1, kInfinity, -kInfinity, kNaN};
  while (a.size() < 200) a.push_back(a[a.size() - 11] * 1.1);
  const int count = static_cast<int>(a.size());
  on_each_level([&](const RandomLevel &, const RejectionLevel &loops) {
    std::vector<double> d(a.size()), again(a.size()), scale(a.size());
    loops.gamma_parameters(count, a.data(), d.data(), again.data(), scale.data());
    std::vector<double> z(a.size()), log_v(a.size()), log_root(a.size()), log_d(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double wanted = !(a[i] > 0) || a[i] == kInfinity ? 1
                            : a[i] < 1                       ? a[i] + 1 - 1.0 / 3
                                                             : a[i] - 1.0 / 3;
      ASSERT_EQ(d[i], wanted);
      ASSERT_EQ(again[i], wanted);
      ASSERT_EQ(scale[i], std::sqrt(9 * wanted));
      z[i] = 4 * std::sin(static_cast<double>(i));
      log_v[i] = -std::exp(3 * std::cos(static_cast<double>(7 * i)));
      log_d[i] = std::log(wanted);
    }
    std::vector<double> root(a.size()), positive(a.size()), logarithm(a.size());
    loops.gamma_roots(count, z.data(), scale.data(), root.data(), positive.data());
    std::vector<int> wanted;
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(root[i], 1 + z[i] / scale[i]);
      ASSERT_EQ(positive[i], std::max(root[i], std::numeric_limits<double>::min()));
      log_root[i] = std::log(positive[i]);
      const volatile double cube = root[i] * root[i] * root[i], log_cube = 3 * log_root[i];
      const volatile double half = 0.5 * z[i] * z[i], rest = d[i] * (1 - cube + log_cube);
      if (!(root[i] > 0 && log_v[i] < half + rest)) wanted.push_back(static_cast<int>(i));
    }
    EXPECT_GT(wanted.size(), 20U);
    EXPECT_LT(wanted.size(), 180U);
    std::vector<int> refused(a.size() + 1, -1);
    const int refusals =
        loops.gamma_candidates(count, {d.data(), log_d.data(), scale.data()}, z.data(), root.data(),
                               log_root.data(), log_v.data(), logarithm.data(), refused.data());
    refused.resize(static_cast<std::size_t>(refusals));
    EXPECT_EQ(refused, wanted);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const volatile double log_cube = 3 * log_root[i];
      ASSERT_EQ(logarithm[i], log_d[i] + log_cube);
    }
    loops.quotients(count, z.data(), scale.data(), root.data());
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(root[i], z[i] / scale[i]);
  });
}

} // namespace
} // namespace weft::kernels
