// The kernels of pooling of one x86-64 level: vectors run along the channels. The build compiles
// this file once per level, with that level's -march and WEFT_LEVEL set to 2, 3 or 4.

#include "Kernels/MatmulVector.h"
#include "Kernels/PoolingKernels.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

/// Channels that are computed together, in registers: four vectors of 32-bit elements.
constexpr int kTogether = WEFT_LEVEL == 4 ? 64 : WEFT_LEVEL == 3 ? 32 : 16;

/// An integer of as many bytes, whose sums wrap.
template <typename T>
struct Summed {
  using type = T;
};
template <>
struct Summed<int32_t> {
  using type = uint32_t;
};
template <>
struct Summed<int64_t> {
  using type = uint64_t;
};

/// Whether a later element takes the place of the best so far.
template <typename T, bool Largest>
inline bool is_better(T later, T best) {
  return (Largest ? later > best : later < best) | ((later != later) & (best == best));
}

/// Calls `run` on channels [c, c + count) of every position, count being kTogether where it can.
template <class Run>
inline void for_channels(int64_t channels, int64_t positions, const Run &run) {
  for (int64_t i = 0; i < positions; ++i) {
    int64_t c = 0;
    for (; c + kTogether <= channels; c += kTogether) run(i, c, kTogether);
    if (c < channels) run(i, c, int(channels - c));
  }
}

/// `first` of the first tap, then `next` of each later one and the value so far. The loops over
/// channels have a constant count where that many are left, and become vectors.
template <typename T, typename R, class First, class Next, class Last>
inline void fold(const PoolingRow<T> &row, R *y, const First &first, const Next &next,
                 const Last &last) {
  for_channels(row.channels, row.positions, [&](int64_t position, int64_t c, int count) {
    const T *const x = row.x + position * row.x_step + c;
    R *const to = y + position * row.y_step + c;
    const auto run = [&](auto constant) __attribute__((always_inline)) {
      const int size = constant == 0 ? count : int(constant);
      decltype(first(T())) state[kTogether];
      for (int i = 0; i < size; ++i) state[i] = first(x[row.offsets[0] + i]);
      for (int64_t tap = 1; tap < row.taps; ++tap) {
        const T *const from = x + row.offsets[tap];
        for (int i = 0; i < size; ++i) state[i] = next(state[i], from[i], tap);
      }
      for (int i = 0; i < size; ++i) to[i] = last(state[i]);
    };
    struct Whole {
      constexpr operator int() const { return kTogether; }
    };
    struct Rest {
      constexpr operator int() const { return 0; }
    };
    if (count == kTogether) run(Whole());
    else run(Rest());
  });
}

template <typename T, bool Largest>
void extreme(const PoolingRow<T> &row, T *y) {
  fold(
      row, y, [](T value) { return value; },
      [](T best, T later, int64_t) { return is_better<T, Largest>(later, best) ? later : best; },
      [](T best) { return best; });
}

template <typename T>
void sum(const PoolingRow<T> &row, T *y) {
  using Sum = typename Summed<T>::type;
  fold(
      row, y, [](T value) { return Sum(0) + Sum(value); },
      [](Sum sum, T value, int64_t) { return sum + Sum(value); }, [](Sum sum) { return T(sum); });
}

template <typename T, bool Largest>
void place_of_extreme(const PoolingRow<T> &row, int32_t *y) {
  // Values and places in arrays of their own, so that both become vectors.
  for_channels(row.channels, row.positions, [&](int64_t position, int64_t c, int count) {
    const T *const x = row.x + position * row.x_step + c;
    int32_t *const to = y + position * row.y_step + c;
    T best[kTogether];
    int32_t place[kTogether];
    for (int i = 0; i < count; ++i) best[i] = x[row.offsets[0] + i], place[i] = 0;
    for (int64_t tap = 1; tap < row.taps; ++tap) {
      const T *const from = x + row.offsets[tap];
      for (int i = 0; i < count; ++i) {
        const bool better = is_better<T, Largest>(from[i], best[i]);
        best[i] = better ? from[i] : best[i];
        place[i] = better ? int32_t(tap) : place[i];
      }
    }
    for (int i = 0; i < count; ++i) to[i] = place[i];
  });
}

template <typename T>
void take(const PoolingRow<T> &row, const int32_t *places, T *y) {
  for (int64_t position = 0; position < row.positions; ++position) {
    const T *const x = row.x + position * row.x_step;
    const int32_t *const at = places + position * row.y_step;
    T *const to = y + position * row.y_step;
    for (int64_t c = 0; c < row.channels; ++c) to[c] = x[row.offsets[at[c]] + c];
  }
}

template <typename T>
constexpr PoolingKernels<T> kernels() {
  return {extreme<T, true>,          extreme<T, false>,          sum<T>,
          place_of_extreme<T, true>, place_of_extreme<T, false>, take<T>};
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
