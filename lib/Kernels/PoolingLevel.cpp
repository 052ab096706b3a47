// The kernels of pooling of one x86-64 level: vectors run along the channels. The build compiles
// this file once per level, with that level's -march and WEFT_LEVEL set to 2, 3 or 4.

#include "Kernels/MatmulVector.h"
#include "Kernels/PoolingKernels.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

/// The unsigned integer of T's size: sums of integers wrap, and floats are summed as they are.
template <typename T>
struct Wrapping {
  using type = T;
};
template <>
struct Wrapping<int32_t> {
  using type = uint32_t;
};
template <>
struct Wrapping<int64_t> {
  using type = uint64_t;
};
template <typename T>
using Sum = typename Wrapping<T>::type;

template <typename T>
inline Vec<T> load_lanes(const T *from, int lanes) {
  return (Vec<T>)load_first(reinterpret_cast<const Sum<T> *>(from), lanes);
}
template <typename T>
inline void store_lanes(T *to, Vec<T> value, int lanes) {
  store_first(reinterpret_cast<Sum<T> *>(to), (Vec<Sum<T>>)value, lanes);
}

/// As many taps as a vector of T has lanes: in memory, and what comparisons of T give.
template <typename T>
using Taps = int32_t __attribute__((ext_vector_type(kLanes<T>)));
template <typename T>
using Wide = decltype(Vec<T>() == Vec<T>());

template <typename T>
inline Wide<T> load_taps(const int32_t *from, int lanes) {
  Taps<T> taps = 0;
  if (lanes == kLanes<T>) __builtin_memcpy(&taps, from, sizeof taps);
  else
    for (int i = 0; i < lanes; ++i) taps[i] = from[i];
  return __builtin_convertvector(taps, Wide<T>);
}
template <typename T>
inline void store_taps(int32_t *to, Wide<T> wide, int lanes) {
  const Taps<T> taps = __builtin_convertvector(wide, Taps<T>);
  if (lanes == kLanes<T>) __builtin_memcpy(to, &taps, sizeof taps);
  else
    for (int i = 0; i < lanes; ++i) to[i] = taps[i];
}

/// Whether later elements replace the best so far: they are larger, or the first NaN.
template <typename T, bool Largest>
inline Wide<T> is_better(Vec<T> later, Vec<T> best) {
  if constexpr (kIsFloat<T>) return ~(Largest ? later <= best : later >= best) & (best == best);
  else return Largest ? later > best : later < best;
}

/// Vectors of channels that are computed together, in registers; the last one may have fewer lanes.
template <typename T, int N>
struct Channels {
  static constexpr int count = N;
  int lanes;

  int of(int vector) const { return N > 1 ? kLanes<T> : lanes; }
};

/// Calls `run(channels, position, first channel)` on all channels of every position.
template <typename T, class Run>
inline void for_channels(const PoolingRow &row, const Run &run) {
  constexpr int kLane = kLanes<T>;
  for (int64_t i = 0; i < row.positions; ++i) {
    int64_t c = 0;
    for (; c + 4 * kLane <= row.channels; c += 4 * kLane) run(Channels<T, 4>{kLane}, i, c);
    for (; c + 2 * kLane <= row.channels; c += 2 * kLane) run(Channels<T, 2>{kLane}, i, c);
    for (; c + kLane <= row.channels; c += kLane) run(Channels<T, 1>{kLane}, i, c);
    if (c < row.channels) run(Channels<T, 1>{int(row.channels - c)}, i, c);
  }
}

/// Calls `run(offset, number)` on all taps, in their order.
template <class Run>
inline void for_taps(const PoolingRow &row, const Run &run) {
  const PoolingTaps &a = row.taps[0], &b = row.taps[1], &d = row.taps[2];
  for (int64_t i = 0; i < a.count; ++i)
    for (int64_t j = 0; j < b.count; ++j) {
      int64_t offset = i * a.x_step + j * b.x_step;
      int64_t number = row.first_number + i * a.number_step + j * b.number_step;
      for (int64_t k = 0; k < d.count; ++k, offset += d.x_step, number += d.number_step)
        run(offset, int32_t(number));
    }
}

#define WEFT_INLINE __attribute__((always_inline))
#define WEFT_UNROLLED _Pragma("clang loop unroll(full)")

template <typename T, bool Largest>
void extreme(const PoolingRow &row, const T *x, T *y) {
  for_channels<T>(row, [&](auto channels, int64_t position, int64_t c) WEFT_INLINE {
    constexpr int kCount = decltype(channels)::count;
    const T *const from = x + position * row.x_step + c;
    T *const to = y + position * row.y_step + c;
    Vec<T> best[kCount];
    WEFT_UNROLLED for (int v = 0; v < kCount; ++v) best[v] =
        load_lanes(from + v * kLanes<T>, channels.of(v));
    for_taps(row, [&](int64_t offset, int32_t) WEFT_INLINE {
      WEFT_UNROLLED for (int v = 0; v < kCount; ++v) {
        const Vec<T> later = load_lanes(from + offset + v * kLanes<T>, channels.of(v));
        best[v] = is_better<T, Largest>(later, best[v]) ? later : best[v];
      }
    });
    WEFT_UNROLLED for (int v = 0; v < kCount; ++v)
        store_lanes(to + v * kLanes<T>, best[v], channels.of(v));
  });
}

template <typename T>
void sum(const PoolingRow &row, const T *x, T *y) {
  for_channels<T>(row, [&](auto channels, int64_t position, int64_t c) WEFT_INLINE {
    constexpr int kCount = decltype(channels)::count;
    const T *const from = x + position * row.x_step + c;
    T *const to = y + position * row.y_step + c;
    Vec<Sum<T>> sums[kCount] = {};
    for_taps(row, [&](int64_t offset, int32_t) WEFT_INLINE {
      WEFT_UNROLLED for (int v = 0; v < kCount; ++v) sums[v] +=
          (Vec<Sum<T>>)load_lanes(from + offset + v * kLanes<T>, channels.of(v));
    });
    WEFT_UNROLLED for (int v = 0; v < kCount; ++v)
        store_lanes(to + v * kLanes<T>, (Vec<T>)sums[v], channels.of(v));
  });
}

template <typename T, bool Largest>
void tap_of_extreme(const PoolingRow &row, const T *x, int32_t *y) {
  for_channels<T>(row, [&](auto channels, int64_t position, int64_t c) WEFT_INLINE {
    constexpr int kCount = decltype(channels)::count;
    const T *const from = x + position * row.x_step + c;
    int32_t *const to = y + position * row.y_step + c;
    Vec<T> best[kCount];
    Wide<T> tap[kCount];
    WEFT_UNROLLED for (int v = 0; v < kCount; ++v) {
      best[v] = load_lanes(from + v * kLanes<T>, channels.of(v));
      tap[v] = int32_t(row.first_number);
    }
    for_taps(row, [&](int64_t offset, int32_t number) WEFT_INLINE {
      WEFT_UNROLLED for (int v = 0; v < kCount; ++v) {
        const Vec<T> later = load_lanes(from + offset + v * kLanes<T>, channels.of(v));
        const Wide<T> better = is_better<T, Largest>(later, best[v]), here = number;
        best[v] = better ? later : best[v];
        tap[v] = better ? here : tap[v];
      }
    });
    WEFT_UNROLLED for (int v = 0; v < kCount; ++v)
        store_taps<T>(to + v * kLanes<T>, tap[v], channels.of(v));
  });
}

template <typename T>
void take(const PoolingRow &row, const int32_t *taps, const T *x, T *y) {
  for_channels<T>(row, [&](auto channels, int64_t position, int64_t c) WEFT_INLINE {
    constexpr int kCount = decltype(channels)::count;
    const T *const from = x + position * row.x_step + c;
    const int32_t *const at = taps + position * row.y_step + c;
    T *const to = y + position * row.y_step + c;
    Vec<T> taken[kCount] = {};
    Wide<T> tap[kCount];
    WEFT_UNROLLED for (int v = 0; v < kCount; ++v) tap[v] =
        load_taps<T>(at + v * kLanes<T>, channels.of(v));
    for_taps(row, [&](int64_t offset, int32_t number) WEFT_INLINE {
      const Wide<T> here = number;
      WEFT_UNROLLED for (int v = 0; v < kCount; ++v) taken[v] =
          tap[v] == here ? load_lanes(from + offset + v * kLanes<T>, channels.of(v)) : taken[v];
    });
    WEFT_UNROLLED for (int v = 0; v < kCount; ++v)
        store_lanes(to + v * kLanes<T>, taken[v], channels.of(v));
  });
}

template <typename T>
void scatter(const PoolingRow &row, const int32_t *taps, const T *y, T *x) {
  for_channels<T>(row, [&](auto channels, int64_t position, int64_t c) WEFT_INLINE {
    constexpr int kCount = decltype(channels)::count;
    const T *const from = y + position * row.y_step + c;
    const int32_t *const at = taps + position * row.y_step + c;
    T *const to = x + position * row.x_step + c;
    Vec<Sum<T>> value[kCount];
    Wide<T> tap[kCount];
    WEFT_UNROLLED for (int v = 0; v < kCount; ++v) {
      value[v] = (Vec<Sum<T>>)load_lanes(from + v * kLanes<T>, channels.of(v));
      tap[v] = load_taps<T>(at + v * kLanes<T>, channels.of(v));
    }
    for_taps(row, [&](int64_t offset, int32_t number) WEFT_INLINE {
      const Wide<T> here = number;
      const Vec<Sum<T>> nothing = 0;
      WEFT_UNROLLED for (int v = 0; v < kCount; ++v) {
        // 0 changes no sum that began with 0.
        T *const target = to + offset + v * kLanes<T>;
        const auto before = (Vec<Sum<T>>)load_lanes(target, channels.of(v));
        const Vec<Sum<T>> added = tap[v] == here ? value[v] : nothing;
        store_lanes(target, (Vec<T>)(before + added), channels.of(v));
      }
    });
  });
}

#undef WEFT_INLINE
#undef WEFT_UNROLLED

template <typename T>
constexpr PoolingKernels<T> kernels() {
  return {extreme<T, true>,         extreme<T, false>, sum<T>,    tap_of_extreme<T, true>,
          tap_of_extreme<T, false>, take<T>,           scatter<T>};
}

} // namespace

constexpr PoolingLevel kPoolingTable = {kernels<float>(), kernels<double>(), kernels<int32_t>(),
                                        kernels<int64_t>()};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const PoolingLevel pooling_level_v4 = v4::kPoolingTable;
#elif WEFT_LEVEL == 3
const PoolingLevel pooling_level_v3 = v3::kPoolingTable;
#else
const PoolingLevel pooling_level_v2 = v2::kPoolingTable;
#endif

} // namespace weft::kernels
