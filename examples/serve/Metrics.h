// What the server counts, in the text format that Prometheus reads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace serve {

/// Counts of values up to each of some bounds, and of all. Used by several threads at once.
template <std::size_t N>
class Histogram {
public:
  explicit Histogram(const std::array<double, N> &bounds) : bounds_(bounds) {}

  void observe(double value) {
    std::size_t i = 0;
    while (i < N && value > bounds_[i]) ++i;
    counts_[i].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(value, std::memory_order_relaxed);
  }
  /// The lines of a metric of that name.
  void append_to(std::string &text, const std::string &name) const;

private:
  std::array<double, N> bounds_;
  std::array<std::atomic<std::uint64_t>, N + 1> counts_{};
  std::atomic<double> sum_{0};
};

/// What is so now, as opposed to what was counted.
struct Gauges {
  std::size_t queue = 0, connections = 0;
};

class Metrics {
public:
  Metrics();

  /// A request was answered. `path` must be one of few: each has lines of its own.
  void count_request(const std::string &path, int status, double seconds);
  void count_batch(std::int64_t rows, std::int64_t padded, double seconds);
  /// A connection was closed before a request was complete, or refused.
  void count_lost_connection() { lost_.fetch_add(1, std::memory_order_relaxed); }

  std::string text(const Gauges &gauges) const;

private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;
  Histogram<14> latency_, run_;
  Histogram<9> rows_;
  std::atomic<std::uint64_t> padded_{0}, lost_{0};
};

/// The bytes of this process that are in memory.
std::size_t resident_bytes();

} // namespace serve
