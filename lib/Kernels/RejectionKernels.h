// The table of loops of rejection that one x86-64 level offers; RejectionLevel.cpp fills it once
// per level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only: no inline function, no standard template whose code the linker could pick.
#pragma once

namespace weft::kernels {

/// What an attempt at gamma numbers knows of their parameters: d of Marsaglia and Tsang, its
/// logarithm, and sqrt(9 d).
struct GammaParameters {
  const double *d, *log_d, *scale;
};

/// All loops of one level, over `count` elements of arrays that do not overlap.
struct RejectionLevel {
  /// d, twice, and sqrt(9 d) of the parameters a. They are 1, 1 and 3 where a is not positive or
  /// infinite.
  void (*gamma_parameters)(int count, const double *a, double *d, double *d_again, double *scale);
  /// The third root v of the candidate over d of each normal number z, and v again, but at least
  /// the smallest number that has all digits.
  void (*gamma_roots)(int count, const double *z, const double *scale, double *root,
                      double *positive_root);
  /// The logarithms of candidates, by that of each root, and the places of those that `log_v`, the
  /// logarithm of a number of the unit interval, refuses; gives how many there are.
  int (*gamma_candidates)(int count, const GammaParameters &parameters, const double *z,
                          const double *root, const double *log_root, const double *log_v,
                          double *logarithm, int *refused);
  /// x / y
  void (*quotients)(int count, const double *x, const double *y, double *quotient);
};

extern const RejectionLevel rejection_level_v2;
extern const RejectionLevel rejection_level_v3;
extern const RejectionLevel rejection_level_v4;

} // namespace weft::kernels
