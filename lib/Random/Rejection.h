// Distributions that are drawn by rejection.
//
// An element has at most 64 attempts, of which at least four of five succeed; the last one is kept.
// Attempt t of element i is a function of the state, of t and of i alone: its two numbers are those
// of block i of the stream that is t 2^48 beyond the state's, (n + 1/2) / 2^52 of their highest 52
// bits n. All is computed in f64.
#pragma once

#include <weft/size.h>

namespace weft::random::detail {

/// Logarithms of numbers of gamma distributions of scale 1, in a's dtype and shape: Marsaglia and
/// Tsang's with the normal number ndtri(u); of an a below 1 that of a + 1, plus log(u) / a, where u
/// is of attempt 64. NaN of an a that is not positive. The derivative by a is implicit.
Tensor draw_log_gamma(const Tensor &state, const Tensor &a);

/// Counts of Poisson distributions, i64: below a rate of 10 as many terms of the distribution as
/// are below u together, at most 64; else Hormann's PTRS. 0 of a rate that is not positive; rates
/// above 2^60 count as that.
Tensor draw_poisson(const Tensor &state, const Tensor &rate);

/// How many of n trials succeed, each with probability p, i64: where n times the smaller of p and
/// 1 - p is below 10 likewise, else Hormann's BTRS. 0 of an n or p that is not positive.
Tensor draw_binomial(const Tensor &state, const Tensor &n, const Tensor &p);

} // namespace weft::random::detail
