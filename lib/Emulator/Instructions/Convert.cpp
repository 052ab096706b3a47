// Conversions between numbers of all types.
//
// A number may be in a register that is wider than its type: it is its lowest bits, and results are
// extended, by their sign where the type has one. The decoder says how wide the registers are.
#include "Emulator/Instructions/Convert.h"

#include <limits>

#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Instructions/Numbers.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

template <class T>
constexpr bool kIsFloat =
    std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, Brain>;

Rounding rounding_of(std::uint32_t mode) {
  return static_cast<Rounding>(mode >> kConvertRoundingShift & 7);
}

/// The type of the bits of T.
template <class T>
using Raw = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Lanes of a register of some width as numbers of type T.
template <class T, class Stored>
void narrow(const Warp &warp, Slot slot, T *out) {
  const Stored *in = warp.lanes<Stored>(slot);
  WEFT_EACH_LANE
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = bits_as<T>(static_cast<Raw<T>>(in[lane]));
}
/// A pointer to the numbers, at `room` where they are not as wide as their register.
template <class T>
[[gnu::noinline]] const T *source(const Warp &warp, const Instruction &in, T *room) {
  const std::uint32_t bytes = in.mode >> kConvertSourceShift & 0xff;
  if (bytes == sizeof(T)) return warp.lanes<T>(in.slots[1]);
  if (bytes == 2) narrow<T, std::uint16_t>(warp, in.slots[1], room);
  else if (bytes == 4) narrow<T, std::uint32_t>(warp, in.slots[1], room);
  else narrow<T, std::uint64_t>(warp, in.slots[1], room);
  return room;
}

template <class T>
auto as_stored(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Brain>) return x.bits;
  else if constexpr (std::is_same_v<T, float>) return bits_as<std::uint32_t>(x);
  else if constexpr (std::is_same_v<T, double>) return bits_as<std::uint64_t>(x);
  else return x;
}
template <class T, class Stored>
void extend(const Warp &warp, const Instruction &in, LaneMask mask, const T *values) {
  store_lanes(warp.lanes<Stored>(in.slots[0]), mask,
              [&](int lane) { return static_cast<Stored>(as_stored(values[lane])); });
}
template <class T>
[[gnu::noinline]] void store(const Warp &warp, const Instruction &in, LaneMask mask,
                             const T *values) {
  const std::uint32_t bytes = in.mode & 0xff;
  if (bytes == sizeof(T))
    store_lanes(warp.lanes<T>(in.slots[0]), mask, [&](int lane) { return values[lane]; });
  else if (bytes == 2) extend<T, std::uint16_t>(warp, in, mask, values);
  else if (bytes == 4) extend<T, std::uint32_t>(warp, in, mask, values);
  else extend<T, std::uint64_t>(warp, in, mask, values);
}
/// Stores what a function makes of each lane.
template <class D, class Value>
[[gnu::always_inline]] inline void convert(const Warp &warp, const Instruction &in, LaneMask mask,
                                           const Value &value) {
  D results[kLanes];
  WEFT_EACH_LANE
  for (int lane = 0; lane < kLanes; ++lane) results[lane] = value(lane);
  store(warp, in, mask, results);
}

template <class D, class S>
[[gnu::noinline]] D clamped(S x) {
  constexpr __int128 kLeast = std::numeric_limits<D>::min(), kMost = std::numeric_limits<D>::max();
  const __int128 wide = x;
  return static_cast<D>(wide < kLeast ? kLeast : wide > kMost ? kMost : wide);
}

template <class D, class S>
void whole_to_whole(Warp &warp, const Instruction &in, LaneMask mask) {
  S room[kLanes];
  const S *a = source(warp, in, room);
  if ((in.mode & kConvertSaturates) == 0)
    convert<D>(warp, in, mask, [&](int lane) { return static_cast<D>(a[lane]); });
  else convert<D>(warp, in, mask, [&](int lane) { return clamped<D>(a[lane]); });
}

/// .sat of a floating-point result: into [0, 1], and NaN becomes +0.
template <class D>
D saturated(D x) {
  const D one = narrowed<D>(1.0F, Rounding::nearest_even);
  const Parts parts = parts_of(x);
  if (parts.nan || parts.negative) return bits_as<D>(BitsOf<D>{0});
  return as_stored(x) > as_stored(one) ? one : x;
}
template <class D>
[[gnu::noinline]] D finished(D x, std::uint32_t mode) {
  if ((mode & kConvertSaturates) != 0) return saturated(x);
  if ((mode & kConvertRelu) != 0) {
    const Parts parts = parts_of(x);
    return parts.nan ? canonical_nan<D>() : parts.negative ? bits_as<D>(BitsOf<D>{0}) : x;
  }
  return x;
}

template <class D>
D float_of_whole(std::uint64_t bits, bool negative, Rounding rounding) {
  const std::uint64_t magnitude = negative ? 0 - bits : bits;
  if (magnitude >> 62 == 0) return rounded<D>(negative, magnitude, 0, false, rounding);
  return rounded<D>(negative, magnitude >> 2, 2, (magnitude & 3) != 0, rounding);
}
template <class D, class S>
void whole_to_float(Warp &warp, const Instruction &in, LaneMask mask) {
  S room[kLanes];
  const S *a = source(warp, in, room);
  const Rounding rounding = rounding_of(in.mode);
  if constexpr (std::is_floating_point_v<D>)
    if (rounding == Rounding::nearest_even && (in.mode & kConvertSaturates) == 0)
      return convert<D>(warp, in, mask, [&](int lane) { return static_cast<D>(a[lane]); });
  convert<D>(warp, in, mask, [&](int lane) {
    return finished(float_of_whole<D>(static_cast<std::uint64_t>(a[lane]), a[lane] < 0, rounding),
                    in.mode);
  });
}

template <class S>
double as_double(S x) {
  if constexpr (std::is_floating_point_v<S>) return x;
  else return widened(x);
}
void round_all(double *values, Rounding rounding) {
  switch (rounding) {
  case Rounding::nearest_even:
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = __builtin_rint(values[lane]);
    break;
  case Rounding::to_zero:
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = __builtin_trunc(values[lane]);
    break;
  case Rounding::down:
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = __builtin_floor(values[lane]);
    break;
  case Rounding::up:
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = __builtin_ceil(values[lane]);
    break;
  case Rounding::nearest_away: break;
  }
}

/// Values out of range become the nearest in it. NaN is zero, unless 64 bits are on either side:
/// then only the highest bit is set.
template <class D>
D whole_of(double x, D of_nan) {
  constexpr double kLeast = static_cast<double>(std::numeric_limits<D>::min());
  constexpr double kBeyond = 2 * static_cast<double>((std::numeric_limits<D>::max() >> 1) + 1);
  if (x != x) return of_nan;
  if (x <= kLeast) return std::numeric_limits<D>::min();
  if (x >= kBeyond) return std::numeric_limits<D>::max();
  return static_cast<D>(x);
}
template <class D, class S>
void float_to_whole(Warp &warp, const Instruction &in, LaneMask mask) {
  S room[kLanes];
  const S *a = source(warp, in, room);
  double values[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) values[lane] = as_double(a[lane]);
  round_all(values, rounding_of(in.mode));
  constexpr bool kWide = std::is_same_v<S, double> || sizeof(D) == 8;
  constexpr D kOfNan =
      kWide ? static_cast<D>(std::make_unsigned_t<D>{1} << (8 * sizeof(D) - 1)) : D{0};
  convert<D>(warp, in, mask, [&](int lane) { return whole_of<D>(values[lane], kOfNan); });
}

/// To a whole number of the same type.
template <class T>
void to_integral(Warp &warp, const Instruction &in, LaneMask mask) {
  T room[kLanes];
  const T *a = source(warp, in, room);
  double values[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) values[lane] = as_double(a[lane]);
  round_all(values, rounding_of(in.mode));
  convert<T>(warp, in, mask, [&](int lane) {
    if constexpr (std::is_same_v<T, double>)
      return finished(a[lane] != a[lane] ? quieted(a[lane]) : values[lane], in.mode);
    else return finished(narrowed<T>(values[lane], Rounding::nearest_even), in.mode);
  });
}
void f32_to_integral(Warp &warp, const Instruction &in, LaneMask mask) {
  const float *a = warp.lanes<float>(in.slots[1]);
  float *out = warp.lanes<float>(in.slots[0]);
  switch (rounding_of(in.mode)) {
  case Rounding::nearest_even:
    return store_lanes(out, mask, [&](int lane) { return canonical(__builtin_rintf(a[lane])); });
  case Rounding::to_zero:
    return store_lanes(out, mask, [&](int lane) { return canonical(__builtin_truncf(a[lane])); });
  case Rounding::down:
    return store_lanes(out, mask, [&](int lane) { return canonical(__builtin_floorf(a[lane])); });
  default:
    return store_lanes(out, mask, [&](int lane) { return canonical(__builtin_ceilf(a[lane])); });
  }
}

/// A NaN as one of another type: the upper bits of its payload, and zeros below, with the bit that
/// says that it is no signalling one.
template <class D, class S>
D resized_nan(S x) {
  constexpr int kFrom = FloatOf<S>::kMantissa, kTo = FloatOf<D>::kMantissa;
  const std::uint64_t bits = bits_as<BitsOf<S>>(x), payload = bits & ((1ULL << kFrom) - 1);
  const std::uint64_t resized = kTo < kFrom ? payload >> (kFrom < kTo ? 0 : kFrom - kTo)
                                            : payload << (kTo < kFrom ? 0 : kTo - kFrom);
  const BitsOf<D> sign = (bits & kSignOf<S>) != 0 ? kSignOf<D> : BitsOf<D>{0};
  return quieted(
      bits_as<D>(static_cast<BitsOf<D>>(sign | kExponentOf<D> | static_cast<BitsOf<D>>(resized))));
}

/// To another type. A NaN is handed on from and to f64, and every other one has the pattern of its
/// type.
template <class D, class S>
D converted(S x, Rounding rounding) {
  if constexpr (std::is_same_v<D, double> || std::is_same_v<S, double>)
    if (parts_of(x).nan) return resized_nan<D>(x);
  return narrowed<D>(x, rounding);
}

template <class D, class S>
void float_to_float(Warp &warp, const Instruction &in, LaneMask mask) {
  S room[kLanes];
  const S *a = source(warp, in, room);
  const Rounding rounding = rounding_of(in.mode);
  const bool plain = (in.mode & (kConvertSaturates | kConvertRelu)) == 0;
  // x86 makes of NaNs what GPUs do here. To the same type it is no more than a move.
  if constexpr (std::is_floating_point_v<D> && std::is_floating_point_v<S>)
    if (plain && (rounding == Rounding::nearest_even || sizeof(D) >= sizeof(S)))
      return convert<D>(warp, in, mask, [&](int lane) { return static_cast<D>(a[lane]); });
  if constexpr (std::is_same_v<D, float> && std::is_same_v<S, Half>)
    if (plain) return convert<D>(warp, in, mask, [&](int lane) { return widened(a[lane]); });
  // A bf16 is half of an f32, NaNs as well.
  if constexpr (std::is_same_v<D, float> && std::is_same_v<S, Brain>)
    if (plain)
      return convert<D>(warp, in, mask, [&](int lane) {
        return bits_as<float>(static_cast<std::uint32_t>(a[lane].bits) << 16);
      });
  convert<D>(warp, in, mask,
             [&](int lane) { return finished(converted<D>(a[lane], rounding), in.mode); });
}

/// cvt.rn.f16x2.f32 d, a, b: a in the upper half.
template <class D, class Pair>
void two_floats(Warp &warp, const Instruction &in, LaneMask mask) {
  const float *a = warp.lanes<float>(in.slots[1]), *b = warp.lanes<float>(in.slots[2]);
  const Rounding rounding = rounding_of(in.mode);
  store_lanes(warp.lanes<std::uint32_t>(in.slots[0]), mask, [&](int lane) {
    const std::uint32_t upper = finished(narrowed<D>(a[lane], rounding), in.mode).bits;
    return upper << 16 | finished(narrowed<D>(b[lane], rounding), in.mode).bits;
  });
}

/// To tf32, which has the exponent of f32 and 10 bits of its mantissa, in a register of 32 bits.
void to_tf32(Warp &warp, const Instruction &in, LaneMask mask) {
  const auto *a = warp.lanes<std::uint32_t>(in.slots[1]);
  const Rounding rounding = rounding_of(in.mode);
  store_lanes(warp.lanes<std::uint32_t>(in.slots[0]), mask, [&](int lane) -> std::uint32_t {
    const std::uint32_t bits = a[lane], magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
      return rounding == Rounding::nearest_away ? bits & ~0x1fffU : 0x7fffe000;
    if ((in.mode & kConvertRelu) != 0 && magnitude != bits) return 0;
    if (magnitude == 0x7f800000 || rounding == Rounding::to_zero) return bits & ~0x1fffU;
    const std::uint32_t tie =
        rounding == Rounding::nearest_away ? 0x1000 : 0xfff + (bits >> 13 & 1);
    return (bits + tie) & ~0x1fffU;
  });
}

struct NamedRounding {
  std::string_view name;
  Rounding rounding;
};
constexpr NamedRounding kFloatRoundings[] = {{"rn", Rounding::nearest_even},
                                             {"rz", Rounding::to_zero},
                                             {"rm", Rounding::down},
                                             {"rp", Rounding::up}};
constexpr NamedRounding kWholeRoundings[] = {{"rni", Rounding::nearest_even},
                                             {"rzi", Rounding::to_zero},
                                             {"rmi", Rounding::down},
                                             {"rpi", Rounding::up}};

std::uint32_t mode_of(Rounding rounding, std::uint32_t flags = 0) {
  return static_cast<std::uint32_t>(rounding) << kConvertRoundingShift | flags;
}

/// Whether a whole number of type S may be out of the range of D.
template <class D, class S>
constexpr bool kMayNotFit = (std::is_signed_v<S> && !std::is_signed_v<D>) ||
                            std::numeric_limits<S>::digits > std::numeric_limits<D>::digits;

// Forms that make no sense or are not in the hardware have none here, as in NVIDIA's assembler:
// .sat where nothing can be out of range, or with bf16; 8 bits from and to bf16; .relu of anything
// but f32, or rounded up or down.
template <class D, class S>
void add_pair(FormTable &table) {
  const std::string_view d = name_of_type<D>(), s = name_of_type<S>();
  constexpr bool kOfBrain = std::is_same_v<D, Brain> || std::is_same_v<S, Brain>;
  if constexpr (kOfBrain && (sizeof(D) == 1 || sizeof(S) == 1)) return;
  constexpr bool kSaturates = [] {
    if constexpr (!kIsFloat<D> && !kIsFloat<S>) return kMayNotFit<D, S>;
    else return !kOfBrain;
  }();
  const auto add = [&](std::string_view rounding, Handler run, Rounding mode) {
    table.add({"cvt", rounding, d, s}, run, kConvertSignature, mode_of(mode));
    if (kSaturates)
      table.add({"cvt", rounding, "sat", d, s}, run, kConvertSignature,
                mode_of(mode, kConvertSaturates));
  };
  if constexpr (!kIsFloat<D> && !kIsFloat<S>) {
    add("", &whole_to_whole<D, S>, Rounding::to_zero);
  } else if constexpr (!kIsFloat<S>) {
    for (const auto &[name, rounding] : kFloatRoundings) add(name, &whole_to_float<D, S>, rounding);
  } else if constexpr (!kIsFloat<D>) {
    for (const auto &[name, rounding] : kWholeRoundings) add(name, &float_to_whole<D, S>, rounding);
  } else {
    constexpr bool kNarrows = FloatOf<D>::kMantissa < FloatOf<S>::kMantissa ||
                              FloatOf<D>::kExponent < FloatOf<S>::kExponent;
    if (kNarrows)
      for (const auto &[name, rounding] : kFloatRoundings) {
        add(name, &float_to_float<D, S>, rounding);
        if (sizeof(D) == 2 && std::is_same_v<S, float> &&
            (rounding == Rounding::nearest_even || rounding == Rounding::to_zero))
          table.add({"cvt", name, "relu", d, s}, &float_to_float<D, S>, kConvertSignature,
                    mode_of(rounding, kConvertRelu));
      }
    else add("", &float_to_float<D, S>, Rounding::nearest_even);
    if constexpr (std::is_same_v<D, S>) {
      for (const auto &[name, rounding] : kWholeRoundings) add(name, &to_integral<D>, rounding);
      if constexpr (std::is_same_v<D, float>)
        for (const auto &[name, rounding] : kWholeRoundings)
          table.add({"cvt", name, "f32", "f32"}, &f32_to_integral, "ff", mode_of(rounding));
    }
  }
}

template <class D>
void add_to(FormTable &table) {
  add_pair<D, std::uint8_t>(table);
  add_pair<D, std::uint16_t>(table);
  add_pair<D, std::uint32_t>(table);
  add_pair<D, std::uint64_t>(table);
  add_pair<D, std::int8_t>(table);
  add_pair<D, std::int16_t>(table);
  add_pair<D, std::int32_t>(table);
  add_pair<D, std::int64_t>(table);
  add_pair<D, Half>(table);
  add_pair<D, Brain>(table);
  add_pair<D, float>(table);
  add_pair<D, double>(table);
}

template <class D, class Pair>
void add_pairs_of(FormTable &table) {
  for (const auto &[name, rounding] : {kFloatRoundings[0], kFloatRoundings[1]}) {
    table.add({"cvt", name, name_of_type<Pair>(), "f32"}, &two_floats<D, Pair>, "rff",
              mode_of(rounding));
    table.add({"cvt", name, "relu", name_of_type<Pair>(), "f32"}, &two_floats<D, Pair>, "rff",
              mode_of(rounding, kConvertRelu));
  }
}

} // namespace

void add_conversions(FormTable &table) {
  add_to<std::uint8_t>(table);
  add_to<std::uint16_t>(table);
  add_to<std::uint32_t>(table);
  add_to<std::uint64_t>(table);
  add_to<std::int8_t>(table);
  add_to<std::int16_t>(table);
  add_to<std::int32_t>(table);
  add_to<std::int64_t>(table);
  add_to<Half>(table);
  add_to<Brain>(table);
  add_to<float>(table);
  add_to<double>(table);
  add_pairs_of<Half, HalfPair>(table);
  add_pairs_of<Brain, BrainPair>(table);
  table.add({"cvt.rna.tf32.f32"}, &to_tf32, "rf", mode_of(Rounding::nearest_away));
  table.add({"cvt.rn.tf32.f32"}, &to_tf32, "rf", mode_of(Rounding::nearest_even));
  table.add({"cvt.rz.tf32.f32"}, &to_tf32, "rf", mode_of(Rounding::to_zero));
  table.add({"cvt.rn.relu.tf32.f32"}, &to_tf32, "rf",
            mode_of(Rounding::nearest_even, kConvertRelu));
  table.add({"cvt.rz.relu.tf32.f32"}, &to_tf32, "rf", mode_of(Rounding::to_zero, kConvertRelu));
}

} // namespace WEFT_EMULATOR_LEVEL
