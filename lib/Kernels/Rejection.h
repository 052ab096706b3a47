// Random numbers of distributions that are drawn by rejection: what lib/Random/Rejection.cpp says
// by ops, with the same bits.
#pragma once

#include "Kernels/RandomKernels.h"

#include <cstdint>

namespace weft::kernels {

/// Logarithms of numbers of gamma distributions of parameters a.
void draw_log_gamma(const RandomStream &stream, const double *a, std::int64_t size,
                    double *to) noexcept;

/// Whole numbers of Poisson distributions.
void draw_poisson(const RandomStream &stream, const double *rate, std::int64_t size,
                  double *to) noexcept;

/// Whole numbers of binomial distributions of n trials of probability p.
void draw_binomial(const RandomStream &stream, const double *n, const double *p, std::int64_t size,
                   double *to) noexcept;

} // namespace weft::kernels
