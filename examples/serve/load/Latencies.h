// Latencies in buckets that grow with their logarithm.
#pragma once

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <vector>

namespace load {

/// Counts of times from 1 ns to hours, each kept to within 1 part in 128.
class Latencies {
public:
  void add(std::chrono::nanoseconds time) {
    const auto value = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
    const std::size_t bucket = bucket_of(value);
    if (bucket >= counts_.size()) counts_.resize(bucket + 1);
    ++counts_[bucket];
    ++count_;
    max_ = std::max(max_, value);
  }
  std::uint64_t count() const { return count_; }
  double max_us() const { return static_cast<double>(max_) / 1e3; }

  /// The time in us that so large a part of all (0.99) did not exceed; 0 of none.
  double quantile_us(double part) const {
    const auto rank = static_cast<std::uint64_t>(part * static_cast<double>(count_));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      below += counts_[i];
      if (below > rank) return std::min(static_cast<double>(end_of(i)) / 1e3, max_us());
    }
    return max_us();
  }

private:
  static constexpr int kBits = 7; ///< of precision

  /// Values below 2^kBits have buckets of their own; each power of two above has 2^kBits.
  static std::size_t bucket_of(std::uint64_t value) {
    const int shift = std::max(0, static_cast<int>(std::bit_width(value)) - kBits - 1);
    return (static_cast<std::size_t>(shift) << kBits) + static_cast<std::size_t>(value >> shift);
  }
  /// The first value behind a bucket.
  static std::uint64_t end_of(std::size_t bucket) {
    const std::size_t whole = std::size_t{1} << kBits;
    const std::size_t shift = bucket < 2 * whole ? 0 : (bucket >> kBits) - 1;
    return static_cast<std::uint64_t>(bucket - (shift << kBits) + 1) << shift;
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, max_ = 0;
};

} // namespace load
