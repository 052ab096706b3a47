// Computes roots of unity as products of those of two short tables.

#include "Kernels/FftRoots.h"

#include <cmath>
#include <numbers>

namespace weft::kernels {

RootsOfUnity::RootsOfUnity(std::int64_t n) : n_(n) {
  while ((std::int64_t(1) << (2 * shift_)) < n) ++shift_;
  const auto tabulate = [&](std::vector<Root> &table, std::int64_t count, std::int64_t step) {
    table.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      const long double angle = std::numbers::pi_v<long double> / 4 *
                                (static_cast<long double>(i * step) / static_cast<long double>(n));
      table.push_back({std::cos(angle), std::sin(angle)});
    }
  };
  tabulate(low_, std::int64_t(1) << shift_, 1);
  tabulate(high_, (n >> shift_) + 1, std::int64_t(1) << shift_);
}

RootsOfUnity::Root RootsOfUnity::folded(std::int64_t eighths) const {
  const Root &high = high_[static_cast<std::size_t>(eighths >> shift_)];
  const Root &low = low_[static_cast<std::size_t>(eighths & ((std::int64_t(1) << shift_) - 1))];
  return {high.re * low.re - high.im * low.im, high.re * low.im + high.im * low.re};
}

RootsOfUnity::Root RootsOfUnity::operator()(std::int64_t k) const {
  k %= n_;
  if (k < 0) k += n_;
  std::int64_t angle = 8 * k; // in 8 n parts of the circle
  const bool lower = angle > 4 * n_;
  if (lower) angle = 8 * n_ - angle;
  const bool left = angle > 2 * n_;
  if (left) angle = 4 * n_ - angle;
  Root root = angle > n_ ? folded(2 * n_ - angle) : folded(angle);
  if (angle > n_) root = {root.im, root.re};
  if (left) root.re = -root.re;
  return {root.re, lower ? root.im : -root.im};
}

} // namespace weft::kernels
