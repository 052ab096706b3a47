// Roots of unity, as exact as their dtype can tell.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::kernels {

/// exp(-2 pi i k / n) for any k. Angles are folded to an eighth of the circle as integers, so that
/// symmetric roots are equal, and extended precision is rounded once, by instructions that every
/// x86-64 processor executes alike.
class RootsOfUnity {
public:
  struct Root {
    long double re, im;
  };

  explicit RootsOfUnity(std::int64_t n);

  Root operator()(std::int64_t k) const;

private:
  /// Cosine and sine of `eighths` / (8 n) of the circle, 0 to n of them.
  Root folded(std::int64_t eighths) const;

  std::int64_t n_;
  int shift_ = 0;
  std::vector<Root> low_, high_; ///< of angles below 2^shift_, and of multiples of it
};

} // namespace weft::kernels
