// Atomic operations on memory, with the old value as a result (atom) or without one (red).
#include <bit>

#include "Emulator/Instructions/Numbers.h"
#include "Emulator/Memory/Access.h"
#include "Emulator/Memory/Modes.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

template <class T>
T plus(T old, T b, T) {
  if constexpr (std::is_floating_point_v<T>) return canonical(old + b);
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) +
                          static_cast<std::make_unsigned_t<T>>(b));
  else return narrowed<T>(static_cast<double>(widened(old)) + widened(b), Rounding::nearest_even);
}
template <class Pair, class T>
Pair plus_each(Pair old, Pair b, Pair) {
  const auto half = [&](int at) {
    const T x{static_cast<std::uint16_t>(old.bits >> at)},
        y{static_cast<std::uint16_t>(b.bits >> at)};
    return static_cast<std::uint32_t>(plus(x, y, y).bits) << at;
  };
  return Pair{half(0) | half(16)};
}
template <class T>
T smaller(T old, T b, T) {
  return b < old ? b : old;
}
template <class T>
T larger(T old, T b, T) {
  return old < b ? b : old;
}
template <class T>
T both(T old, T b, T) {
  return old & b;
}
template <class T>
T either(T old, T b, T) {
  return old | b;
}
template <class T>
T differing(T old, T b, T) {
  return old ^ b;
}
template <class T>
T exchanged(T, T b, T) {
  return b;
}
template <class T>
T exchanged_if_equal(T old, T b, T c) {
  return old == b ? c : old;
}
/// Counts up to b and then from 0 again.
std::uint32_t incremented(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  return old >= b ? 0 : old + 1;
}
std::uint32_t decremented(std::uint32_t old, std::uint32_t b, std::uint32_t) {
  return old == 0 || old > b ? b : old - 1;
}

template <std::size_t Bytes>
using BitsOfSize = std::conditional_t<Bytes == 2, std::uint16_t,
                                      std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>;

/// Slots: address, result or none, b, c.
template <auto F, class T>
void change(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask == 0) return;
  using Bits = BitsOfSize<sizeof(T)>;
  std::uint64_t addresses[kLanes];
  for (int lane = 0; lane < kLanes; ++lane)
    addresses[lane] =
        static_cast<std::uint64_t>(in.offset) +
        ((in.mode & kNarrowAddress) != 0 ? warp.lanes<std::uint32_t>(in.slots[0])[lane]
                                         : warp.lanes<std::uint64_t>(in.slots[0])[lane]);
  std::byte *where[kLanes];
  const auto space = static_cast<Where>(in.mode >> kWhereShift & 3);
  access_lanes(warp, space, {in, mask, addresses, sizeof(T), AccessKind::atomic, true}, where,
               nullptr);
  const Bits *b = warp.lanes<Bits>(in.slots[2]);
  const Bits *c = in.slots[3] == kNoSlot ? b : warp.lanes<Bits>(in.slots[3]);
  Bits results[kLanes] = {};
  for (LaneMask lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    auto *memory = reinterpret_cast<Bits *>(where[lane]);
    Bits old = __atomic_load_n(memory, __ATOMIC_RELAXED);
    for (;;) {
      const Bits changed =
          bits_as<Bits>(F(bits_as<T>(old), bits_as<T>(b[lane]), bits_as<T>(c[lane])));
      if (__atomic_compare_exchange_n(memory, &old, changed, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED))
        break;
    }
    results[lane] = old;
  }
  if (in.slots[1] != kNoSlot)
    store_lanes(warp.lanes<Bits>(in.slots[1]), mask, [&](int lane) { return results[lane]; });
}

template <auto F, class T>
void add_atomic(FormTable &table, std::string_view op, std::string_view type) {
  constexpr char kLetter = letter_of<T>();
  static constexpr char kSignature[] = {kLetter, kLetter, 0};
  table.add({"atom ", op, type}, &change<F, T>, kSignature);
}

template <class T>
void add_bits_of(FormTable &table, std::string_view type) {
  add_atomic<&both<T>, T>(table, "and", type);
  add_atomic<&either<T>, T>(table, "or", type);
  add_atomic<&differing<T>, T>(table, "xor", type);
  add_atomic<&exchanged<T>, T>(table, "exch", type);
  add_atomic<&exchanged_if_equal<T>, T>(table, "cas", type);
}
template <class T>
void add_limits_of(FormTable &table) {
  add_atomic<&smaller<T>, T>(table, "min", name_of_type<T>());
  add_atomic<&larger<T>, T>(table, "max", name_of_type<T>());
}

} // namespace

void add_atomics(FormTable &table) {
  add_atomic<&plus<std::uint32_t>, std::uint32_t>(table, "add", "u32");
  add_atomic<&plus<std::int32_t>, std::int32_t>(table, "add", "s32");
  add_atomic<&plus<std::uint64_t>, std::uint64_t>(table, "add", "u64");
  add_atomic<&plus<float>, float>(table, "add", "f32");
  add_atomic<&plus<double>, double>(table, "add", "f64");
  add_atomic<&plus<Half>, Half>(table, "add.noftz", "f16");
  add_atomic<&plus<Brain>, Brain>(table, "add.noftz", "bf16");
  add_atomic<&plus_each<HalfPair, Half>, HalfPair>(table, "add.noftz", "f16x2");
  add_atomic<&plus_each<BrainPair, Brain>, BrainPair>(table, "add.noftz", "bf16x2");
  add_limits_of<std::uint32_t>(table);
  add_limits_of<std::int32_t>(table);
  add_limits_of<std::uint64_t>(table);
  add_limits_of<std::int64_t>(table);
  add_bits_of<std::uint32_t>(table, "b32");
  add_bits_of<std::uint64_t>(table, "b64");
  add_atomic<&exchanged_if_equal<std::uint16_t>, std::uint16_t>(table, "cas", "b16");
  add_atomic<&incremented, std::uint32_t>(table, "inc", "u32");
  add_atomic<&decremented, std::uint32_t>(table, "dec", "u32");
}

} // namespace WEFT_EMULATOR_LEVEL
