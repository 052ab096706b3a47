// What a Fourier transform of one length needs to know: its passes and roots of unity, kept between
// calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace weft::kernels {

/// How lines of one length are transformed. The arithmetic of every result follows from it alone,
/// whatever the CPU level, the number of threads or how lines share vectors.
template <class T>
struct FftPlan {
  enum class Kind : std::uint8_t {
    passes, ///< Stockham passes
    split,  ///< lines that caches do not hold: columns, then rows, of first x second
    chirp,  ///< Bluestein's way for what has a large prime factor: a circular convolution
    real,   ///< an even number of real elements, as half as many pairs
  };
  struct Pass {
    int radix;
    std::int64_t blocks;                         ///< what is left to divide
    std::int64_t before;                         ///< the product of the radices of earlier passes
    std::int64_t twiddles, adjacent = -1, roots; ///< where they begin in `table`; -1 for none
  };

  std::int64_t size;
  Kind kind = Kind::passes;
  std::vector<Pass> passes;
  std::vector<T> table; ///< roots for the passes, or those of `real`, as the kernels want them
  /// `split`: both dimensions. `chirp`: the convolution is the first's. `real`: the pairs are.
  std::shared_ptr<const FftPlan> first, second;
  /// `split`: the roots between the dimensions (kFftFine). `chirp`: exp(-i pi k^2 / size), and the
  /// spectrum of what is convolved with, all in pairs.
  std::vector<T> fine, coarse;

  std::size_t bytes() const {
    return sizeof *this + passes.size() * sizeof(Pass) +
           (table.size() + fine.size() + coarse.size()) * sizeof(T);
  }
};

/// The plan for `size` complex numbers, 1 or more. The most recently used ones are kept. Any number
/// of threads may ask for plans and share one.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(std::int64_t size);

/// The same for `size` real numbers, which are even in number.
template <class T>
std::shared_ptr<const FftPlan<T>> fft_real_plan(std::int64_t size);

} // namespace weft::kernels
