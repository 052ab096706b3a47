// Vectors of one x86-64 level for matrix kernels and pooling: width, multiply-add, partial loads
// and stores.
//
// This and the headers above it are only for files that the build compiles once per level, with
// WEFT_LEVEL set to 2, 3 or 4. The namespace is the level's, so that code of different levels has
// different names and the linker can never substitute one for another.
#pragma once

#include "Kernels/MatmulKernels.h"

#if WEFT_LEVEL == 4 && defined(WEFT_PAIRS)
#include <immintrin.h>
#define WEFT_LEVEL_NAMESPACE weft::kernels::v4_pairs
#elif WEFT_LEVEL == 4
#include <immintrin.h>
#define WEFT_LEVEL_NAMESPACE weft::kernels::v4
#elif WEFT_LEVEL == 3
#define WEFT_LEVEL_NAMESPACE weft::kernels::v3
#elif WEFT_LEVEL == 2
#define WEFT_LEVEL_NAMESPACE weft::kernels::v2
#else
#error "WEFT_LEVEL must be 2, 3 or 4"
#endif

namespace WEFT_LEVEL_NAMESPACE {

/// Bytes per vector register.
constexpr int kVectorBytes = WEFT_LEVEL == 4 ? 64 : WEFT_LEVEL == 3 ? 32 : 16;
/// Loads and stores of a vector's first lanes cost what whole ones do.
constexpr bool kMaskedAccess = WEFT_LEVEL == 4;

template <typename T>
constexpr int kLanes = kVectorBytes / int(sizeof(T));

template <typename T>
constexpr bool kIsFloat = T(0.5) != T(0);

template <typename T>
using Vec = T __attribute__((ext_vector_type(kLanes<T>)));

/// The same vector at any element's address.
template <typename T>
struct Unaligned {
  using type __attribute__((aligned(sizeof(T)), may_alias)) = Vec<T>;
};

template <typename T>
inline Vec<T> load(const T *from) {
  return *reinterpret_cast<const typename Unaligned<T>::type *>(from);
}

template <typename T>
inline void store(T *to, Vec<T> value) {
  *reinterpret_cast<typename Unaligned<T>::type *>(to) = value;
}

#if WEFT_LEVEL == 4

/// Lanes that a partial access touches, as AVX-512 wants them.
inline unsigned lane_mask(int lanes) { return (1u << lanes) - 1u; }

inline Vec<float> load_first(const float *from, int lanes) {
  return (Vec<float>)_mm512_maskz_loadu_ps(__mmask16(lane_mask(lanes)), from);
}
inline Vec<double> load_first(const double *from, int lanes) {
  return (Vec<double>)_mm512_maskz_loadu_pd(__mmask8(lane_mask(lanes)), from);
}
inline Vec<uint32_t> load_first(const uint32_t *from, int lanes) {
  return (Vec<uint32_t>)_mm512_maskz_loadu_epi32(__mmask16(lane_mask(lanes)), from);
}
inline Vec<uint64_t> load_first(const uint64_t *from, int lanes) {
  return (Vec<uint64_t>)_mm512_maskz_loadu_epi64(__mmask8(lane_mask(lanes)), from);
}
inline void store_first(float *to, Vec<float> value, int lanes) {
  _mm512_mask_storeu_ps(to, __mmask16(lane_mask(lanes)), (__m512)value);
}
inline void store_first(double *to, Vec<double> value, int lanes) {
  _mm512_mask_storeu_pd(to, __mmask8(lane_mask(lanes)), (__m512d)value);
}
inline void store_first(uint32_t *to, Vec<uint32_t> value, int lanes) {
  _mm512_mask_storeu_epi32(to, __mmask16(lane_mask(lanes)), (__m512i)value);
}
inline void store_first(uint64_t *to, Vec<uint64_t> value, int lanes) {
  _mm512_mask_storeu_epi64(to, __mmask8(lane_mask(lanes)), (__m512i)value);
}

#else

/// The first `lanes` elements at `from`, zeros after them. Touches nothing else.
template <typename T>
inline Vec<T> load_first(const T *from, int lanes) {
  if (lanes == kLanes<T>) return load(from);
  T staged[kLanes<T>] = {};
  for (int i = 0; i < lanes; ++i) staged[i] = from[i];
  return load(staged);
}

/// Stores the first `lanes` elements. Touches nothing else.
template <typename T>
inline void store_first(T *to, Vec<T> value, int lanes) {
  if (lanes == kLanes<T>) return store(to, value);
  T staged[kLanes<T>];
  store(staged, value);
  for (int i = 0; i < lanes; ++i) to[i] = staged[i];
}

#endif

/// a * b + c; one rounding where the level has FMA. With WEFT_PAIRS the floats in a and b are the
/// bits of two bf16 each, and the high halves are multiplied and added first.
template <typename T>
inline Vec<T> multiply_add(Vec<T> a, Vec<T> b, Vec<T> c) {
#ifdef WEFT_PAIRS
  return (Vec<T>)_mm512_dpbf16_ps((__m512)c, (__m512bh)a, (__m512bh)b);
#else
#if WEFT_LEVEL >= 3
  if constexpr (kIsFloat<T>) return __builtin_elementwise_fma(a, b, c);
#endif
  return a * b + c;
#endif
}

template <typename Vector, int Step, int... Lane>
inline void exchange(Vector &low, Vector &high) {
  constexpr int kCount = sizeof...(Lane);
  const Vector from_low = low, from_high = high;
  low = __builtin_shufflevector(from_low, from_high,
                                ((Lane & Step) ? Lane - Step + kCount : Lane)...);
  high = __builtin_shufflevector(from_low, from_high,
                                 ((Lane & Step) ? Lane + kCount : Lane + Step)...);
}

template <int... Lane>
struct Lanes {
  template <typename Vector, int Step>
  static inline void exchange_all(Vector (&rows)[sizeof...(Lane)]) {
#pragma clang loop unroll(full)
    for (int i = 0; i < int(sizeof...(Lane)); ++i)
      if (!(i & Step)) exchange<Vector, Step, Lane...>(rows[i], rows[i + Step]);
  }
};

template <typename Int, Int... Lane>
using LanesOf = Lanes<Lane...>;

/// Transposes a square of as many vectors as a vector has lanes, by exchanging ever larger
/// off-diagonal squares.
template <typename T>
inline void transpose(Vec<T> (&rows)[kLanes<T>]) {
  using All = __make_integer_seq<LanesOf, int, kLanes<T>>;
  All::template exchange_all<Vec<T>, 1>(rows);
  if constexpr (kLanes<T> > 2) All::template exchange_all<Vec<T>, 2>(rows);
  if constexpr (kLanes<T> > 4) All::template exchange_all<Vec<T>, 4>(rows);
  if constexpr (kLanes<T> > 8) All::template exchange_all<Vec<T>, 8>(rows);
}

} // namespace WEFT_LEVEL_NAMESPACE
