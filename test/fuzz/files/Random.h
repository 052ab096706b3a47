// Random numbers that are the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::fuzz {

/// SplitMix64.
class Random {
public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) {}

  std::uint64_t next() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }
  /// Of 0 to n - 1; 0 if there is none.
  std::size_t below(std::size_t n) { return n == 0 ? 0 : static_cast<std::size_t>(next() % n); }
  bool one_in(std::size_t n) { return below(n) == 0; }
  template <class T>
  const T &one_of(const std::vector<T> &all) {
    return all[below(all.size())];
  }

private:
  std::uint64_t state_;
};

} // namespace weft::fuzz
