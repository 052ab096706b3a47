// The histogram of the load generator against sorted numbers, and its line through memory.
#include "load/Load.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace load {
namespace {

TEST(Latencies, QuantilesAreThoseOfSortedNumbers) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> times(12, 2); // about 160 us, to seconds
  Latencies latencies;
  std::vector<double> all;
  for (int i = 0; i < 100'000; ++i) {
    const auto nanoseconds = static_cast<std::int64_t>(times(random));
    latencies.add(std::chrono::nanoseconds(nanoseconds));
    all.push_back(static_cast<double>(nanoseconds) / 1e3);
  }
  std::ranges::sort(all);
  for (const double part : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 0.99999}) {
    const double exact = all[static_cast<std::size_t>(part * static_cast<double>(all.size()))];
    EXPECT_GE(latencies.quantile_us(part), exact) << part;
    EXPECT_LE(latencies.quantile_us(part), exact * (1 + 1.0 / 128) + 0.001) << part;
  }
  EXPECT_EQ(latencies.quantile_us(1), all.back());
  EXPECT_EQ(latencies.max_us(), all.back());
  EXPECT_EQ(latencies.count(), all.size());
}

TEST(Latencies, SmallNumbersAreExact) {
  Latencies latencies;
  for (int i = 0; i < 100; ++i) latencies.add(std::chrono::nanoseconds(i));
  EXPECT_DOUBLE_EQ(latencies.quantile_us(0.5), 0.051);
  EXPECT_EQ(Latencies().quantile_us(0.99), 0);
}

TEST(Trend, IsALineThroughTheSecondHalf) {
  std::vector<Sample> samples;
  for (int second = 0; second <= 600; ++second)
    // It grows by 50 MiB in the first minute, which is the start's, and then by 1 MiB per minute.
    samples.push_back({static_cast<double>(second),
                       second < 60 ? 1e5 + 853 * second : 151200 + 1024 * (second - 60) / 60.0});
  const Trend found = trend(samples);
  EXPECT_NEAR(found.kib_per_minute, 1024, 1);
  EXPECT_EQ(found.seconds, 300);
  EXPECT_FALSE(found.flat());
  for (Sample &sample : samples)
    if (sample.seconds >= 300)
      sample.kib = 151200 + (static_cast<int>(sample.seconds) % 2 == 0 ? 64 : 0);
  EXPECT_TRUE(trend(samples).flat());
  EXPECT_EQ(trend({}).seconds, 0);
}

} // namespace
} // namespace load
