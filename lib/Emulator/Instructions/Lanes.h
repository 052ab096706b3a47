// Loops over the lanes of a warp: from a function of numbers to a handler.
//
// Everything here has internal linkage, as files with it are compiled for several x86-64 levels.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "Emulator/Instructions/Families.h"
#include "Emulator/Machine/Warp.h"
#include "Emulator/Program/Forms.h"

namespace weft::emulator {
namespace {

/// A number of 16 bits that is no integer: f16 and bf16, as their bits.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
/// Two of them in a register.
struct HalfPair {
  std::uint32_t bits;
};
struct BrainPair {
  std::uint32_t bits;
};

template <class T>
constexpr char letter_of() {
  if (std::is_same_v<T, bool>) return 'p';
  if (std::is_same_v<T, Half> || std::is_same_v<T, Brain>) return 'e';
  if (std::is_same_v<T, float>) return 'f';
  if (std::is_same_v<T, double>) return 'g';
  return sizeof(T) == 2 ? 'h' : sizeof(T) == 4 ? 'r' : 'd';
}

template <class T>
constexpr std::string_view name_of_type() {
  if constexpr (std::is_same_v<T, Half>) return "f16";
  else if constexpr (std::is_same_v<T, Brain>) return "bf16";
  else if constexpr (std::is_same_v<T, HalfPair>) return "f16x2";
  else if constexpr (std::is_same_v<T, BrainPair>) return "bf16x2";
  else if constexpr (std::is_same_v<T, float>) return "f32";
  else if constexpr (std::is_same_v<T, double>) return "f64";
  else if constexpr (std::is_same_v<T, std::uint8_t>) return "u8";
  else if constexpr (std::is_same_v<T, std::uint16_t>) return "u16";
  else if constexpr (std::is_same_v<T, std::uint32_t>) return "u32";
  else if constexpr (std::is_same_v<T, std::uint64_t>) return "u64";
  else if constexpr (std::is_same_v<T, std::int8_t>) return "s8";
  else if constexpr (std::is_same_v<T, std::int16_t>) return "s16";
  else if constexpr (std::is_same_v<T, std::int32_t>) return "s32";
  else return "s64";
}

/// Loops of which no iteration reads what another one writes: operands are the same registers or
/// other ones.
#define WEFT_EACH_LANE _Pragma("clang loop vectorize(assume_safety) interleave(enable)")

/// Whether a lane is among some, in a form that loops over lanes vectorize.
[[gnu::always_inline]] inline bool has(LaneMask mask, int lane) { return (mask >> lane & 1) != 0; }

/// Stores `value(lane)` to the lanes of `mask`.
template <class R, class Value>
[[gnu::always_inline]] inline void store_lanes(R *out, LaneMask mask, const Value &value) {
  if (mask == kAllLanes) {
    WEFT_EACH_LANE
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = value(lane);
  } else if (mask != 0) {
    R results[kLanes];
    WEFT_EACH_LANE
    for (int lane = 0; lane < kLanes; ++lane) results[lane] = value(lane);
    WEFT_EACH_LANE
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = has(mask, lane) ? results[lane] : out[lane];
  }
}

/// The mask of the lanes for which `holds(lane)`.
template <class Holds>
[[gnu::always_inline]] inline LaneMask mask_of(const Holds &holds) {
  LaneMask mask = 0;
  WEFT_EACH_LANE
  for (int lane = 0; lane < kLanes; ++lane)
    mask |= static_cast<LaneMask>(holds(lane) ? 1 : 0) << lane;
  return mask;
}

[[gnu::always_inline]] inline void store_predicate(LaneMask &out, LaneMask mask, LaneMask values) {
  out = (out & ~mask) | (values & mask);
}

/// An operand as a function reads it: predicates are masks, which the decoder does not negate.
template <class T>
struct Source {
  const T *lanes;
  Source(const Warp &warp, Slot slot) : lanes(warp.lanes<T>(slot)) {}
  [[gnu::always_inline]] T operator()(int lane) const { return lanes[lane]; }
};
template <>
struct Source<bool> {
  LaneMask mask;
  Source(const Warp &warp, Slot slot) : mask(warp.predicate(slot)) {}
  [[gnu::always_inline]] bool operator()(int lane) const { return has(mask, lane); }
};

/// The handler that applies F to each lane, and its signature.
template <auto F, class Type = decltype(F)>
struct Map;

template <auto F, class R, class A>
struct Map<F, R (*)(A)> {
  static void run(Warp &warp, const Instruction &in, LaneMask mask) {
    const Source<A> a(warp, in.slots[1]);
    store_lanes(warp.lanes<R>(in.slots[0]), mask, [&](int lane) { return F(a(lane)); });
  }
  static constexpr char signature[] = {letter_of<R>(), letter_of<A>(), 0};
};
template <auto F, class R, class A, class B>
struct Map<F, R (*)(A, B)> {
  static void run(Warp &warp, const Instruction &in, LaneMask mask) {
    const Source<A> a(warp, in.slots[1]);
    const Source<B> b(warp, in.slots[2]);
    store_lanes(warp.lanes<R>(in.slots[0]), mask, [&](int lane) { return F(a(lane), b(lane)); });
  }
  static constexpr char signature[] = {letter_of<R>(), letter_of<A>(), letter_of<B>(), 0};
};
template <auto F, class R, class A, class B, class C>
struct Map<F, R (*)(A, B, C)> {
  static void run(Warp &warp, const Instruction &in, LaneMask mask) {
    const Source<A> a(warp, in.slots[1]);
    const Source<B> b(warp, in.slots[2]);
    const Source<C> c(warp, in.slots[3]);
    store_lanes(warp.lanes<R>(in.slots[0]), mask,
                [&](int lane) { return F(a(lane), b(lane), c(lane)); });
  }
  static constexpr char signature[] = {letter_of<R>(), letter_of<A>(), letter_of<B>(),
                                       letter_of<C>(), 0};
};
template <auto F, class R, class A, class B, class C, class D>
struct Map<F, R (*)(A, B, C, D)> {
  static void run(Warp &warp, const Instruction &in, LaneMask mask) {
    const Source<A> a(warp, in.slots[1]);
    const Source<B> b(warp, in.slots[2]);
    const Source<C> c(warp, in.slots[3]);
    const Source<D> d(warp, in.slots[4]);
    store_lanes(warp.lanes<R>(in.slots[0]), mask,
                [&](int lane) { return F(a(lane), b(lane), c(lane), d(lane)); });
  }
  static constexpr char signature[] = {letter_of<R>(), letter_of<A>(), letter_of<B>(),
                                       letter_of<C>(), letter_of<D>(), 0};
};

/// Adds the form of a function of numbers.
template <auto F>
void add(FormTable &table, std::initializer_list<std::string_view> parts) {
  table.add(parts, &Map<F>::run, Map<F>::signature);
}

/// Bits as another type of the same size.
template <class To, class From>
[[gnu::always_inline]] inline To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

} // namespace
} // namespace weft::emulator
