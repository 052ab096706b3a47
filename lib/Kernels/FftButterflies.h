// Discrete Fourier transforms of a few points, each a vector of lanes: the butterflies of a pass.
//
// Only for FftLevel.cpp, which the build compiles once per level.
#pragma once

#include "Kernels/FftKernels.h"
#include "Kernels/MatmulVector.h"

namespace WEFT_LEVEL_NAMESPACE {

template <typename T, int W>
using VecOf = T __attribute__((ext_vector_type(W)));

template <typename T, int W>
struct UnalignedOf {
  using type __attribute__((aligned(sizeof(T)), may_alias)) = VecOf<T, W>;
};

/// Complex numbers, one in each lane.
template <typename T, int W>
struct Complex {
  using Vector = VecOf<T, W>;
  Vector re, im;

  Complex operator+(Complex o) const { return {re + o.re, im + o.im}; }
  Complex operator-(Complex o) const { return {re - o.re, im - o.im}; }
  Complex times(Vector x, Vector y) const { return {re * x - im * y, re * y + im * x}; }
};

template <typename T, int W>
inline void butterfly2(Complex<T, W> &a, Complex<T, W> &b) {
  const Complex<T, W> sum = a + b;
  b = a - b;
  a = sum;
}

/// In place; the results are in order.
template <typename T, int W>
inline void butterfly4(Complex<T, W> &x0, Complex<T, W> &x1, Complex<T, W> &x2, Complex<T, W> &x3) {
  const Complex<T, W> a = x0 + x2, b = x0 - x2, c = x1 + x3, d = x1 - x3;
  x0 = a + c;
  x1 = {b.re + d.im, b.im - d.re};
  x2 = a - c;
  x3 = {b.re - d.im, b.im + d.re};
}

template <typename T, int W>
inline void butterfly8(Complex<T, W> (&x)[8]) {
  const T c = T(0.70710678118654752440084436210484903928L);
  butterfly4(x[0], x[2], x[4], x[6]);
  butterfly4(x[1], x[3], x[5], x[7]);
  const Complex<T, W> odd1 = {(x[3].re + x[3].im) * c, (x[3].im - x[3].re) * c};
  const Complex<T, W> odd3 = {(x[7].im - x[7].re) * c, (x[7].re + x[7].im) * c};
  const Complex<T, W> e0 = x[0], e1 = x[2], e2 = x[4], e3 = x[6], odd0 = x[1], odd2 = x[5];
  x[0] = e0 + odd0;
  x[4] = e0 - odd0;
  x[1] = e1 + odd1;
  x[5] = e1 - odd1;
  x[2] = {e2.re + odd2.im, e2.im - odd2.re};
  x[6] = {e2.re - odd2.im, e2.im + odd2.re};
  x[3] = {e3.re + odd3.re, e3.im - odd3.im};
  x[7] = {e3.re - odd3.re, e3.im + odd3.im};
}

/// An odd number of points: sums of what stands opposite by cosines, differences by sines.
template <int R, typename T, int W>
inline void butterfly_odd(Complex<T, W> (&x)[R], const T *roots) {
  constexpr int kHalf = (R - 1) / 2;
  Complex<T, W> sum[kHalf + 1], difference[kHalf + 1], total = x[0];
#pragma clang loop unroll(full)
  for (int j = 1; j <= kHalf; ++j) {
    sum[j] = x[j] + x[R - j];
    difference[j] = x[j] - x[R - j];
    total = total + sum[j];
  }
#pragma clang loop unroll(full)
  for (int k = 1; k <= kHalf; ++k) {
    Complex<T, W> even = x[0], odd = {};
#pragma clang loop unroll(full)
    for (int j = 1; j <= kHalf; ++j) {
      const int angle = j * k % R;
      const int folded = angle <= kHalf ? angle : R - angle;
      const T c = roots[folded - 1], s = roots[kHalf + folded - 1];
      even = {even.re + sum[j].re * c, even.im + sum[j].im * c};
      if (j == 1) odd = {difference[j].re * s, difference[j].im * s};
      else if (angle <= kHalf) odd = {odd.re + difference[j].re * s, odd.im + difference[j].im * s};
      else odd = {odd.re - difference[j].re * s, odd.im - difference[j].im * s};
    }
    x[k] = {even.re + odd.im, even.im - odd.re};
    x[R - k] = {even.re - odd.im, even.im + odd.re};
  }
  x[0] = total;
}

template <int R, typename T, int W>
inline void butterfly(Complex<T, W> (&x)[R], const T *roots) {
  if constexpr (R == 2) butterfly2(x[0], x[1]);
  else if constexpr (R == 4) butterfly4(x[0], x[1], x[2], x[3]);
  else if constexpr (R == 8) butterfly8(x);
  else butterfly_odd<R>(x, roots);
}

} // namespace WEFT_LEVEL_NAMESPACE
