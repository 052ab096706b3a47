// Arithmetic of whole numbers.
#include "Emulator/Instructions/Lanes.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

template <class T>
using Unsigned = std::make_unsigned_t<T>;
/// The type of twice the width.
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
    std::conditional_t<sizeof(T) == 4,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

// Everything wraps, so it is computed of unsigned numbers.
template <class T>
T plus(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template <class T>
T minus(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}
template <class T>
T negated(T a) {
  return minus(T{0}, a);
}
template <class T>
T low_product(T a, T b) {
  // As 64 bits, for a product of two u16 would be one of signed int.
  return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}
template <class T>
Wide<T> wide_product(T a, T b) {
  return static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b);
}
template <class T>
T high_product(T a, T b) {
  return static_cast<T>(wide_product(a, b) >> (8 * sizeof(T)));
}
template <class T>
T low_sum(T a, T b, T c) {
  return plus(low_product(a, b), c);
}
template <class T>
T high_sum(T a, T b, T c) {
  return plus(high_product(a, b), c);
}
template <class T>
Wide<T> wide_sum(T a, T b, Wide<T> c) {
  return plus(wide_product(a, b), c);
}
/// Division by zero has "an unspecified, machine-specific value"; GPUs make all bits ones.
template <class T>
T quotient(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return negated(a);
  return static_cast<T>(a / b);
}
template <class T>
T remainder(T a, T b) {
  if (b == 0) return static_cast<T>(~T{0});
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
  return static_cast<T>(a % b);
}
template <class T>
T absolute(T a) {
  return a < 0 ? negated(a) : a;
}
template <class T>
T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
T larger(T a, T b) {
  return a < b ? b : a;
}
template <class T>
T larger_or_zero(T a, T b) {
  return larger(larger(a, b), T{0});
}
template <class T>
T smaller_or_zero(T a, T b) {
  return larger(smaller(a, b), T{0});
}
template <class T>
T distance(T a, T b, T c) { // sad: c + |a - b|
  return plus(c, a < b ? minus(b, a) : minus(a, b));
}

std::int32_t clamped(std::int64_t x) {
  constexpr std::int64_t kMost = INT32_MAX, kLeast = INT32_MIN;
  return static_cast<std::int32_t>(x < kLeast ? kLeast : x > kMost ? kMost : x);
}
std::int32_t plus_saturated(std::int32_t a, std::int32_t b) { return clamped(std::int64_t{a} + b); }
std::int32_t minus_saturated(std::int32_t a, std::int32_t b) {
  return clamped(std::int64_t{a} - b);
}

/// Sums and differences with a carry in, out or both.
template <class T, bool Subtract, bool In, bool Out>
void with_carry(Warp &warp, const Instruction &in, LaneMask mask) {
  const T *a = warp.lanes<T>(in.slots[1]), *b = warp.lanes<T>(in.slots[2]);
  LaneMask &carry = warp.predicate(in.slots[3]);
  const LaneMask before = In ? carry : 0;
  T results[kLanes];
  LaneMask after = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    const T x = a[lane], y = b[lane];
    const T bit = has(before, lane) ? 1 : 0;
    if constexpr (Subtract) { // the carry is a borrow
      results[lane] = static_cast<T>(x - y - bit);
      after |= static_cast<LaneMask>(x < y || (x == y && bit != 0)) << lane;
    } else {
      results[lane] = static_cast<T>(x + y + bit);
      after |= static_cast<LaneMask>(results[lane] < x || (results[lane] == x && bit != 0)) << lane;
    }
  }
  store_lanes(warp.lanes<T>(in.slots[0]), mask, [&](int lane) { return results[lane]; });
  if (Out) store_predicate(carry, mask, after);
}

template <class T>
void add_carries(FormTable &table, std::initializer_list<std::string_view> types) {
  const std::string_view signature = sizeof(T) == 4 ? "rrrc" : "dddc";
  for (const std::string_view type : types) {
    table.add({"add", "cc", type}, &with_carry<T, false, false, true>, signature);
    table.add({"addc", type}, &with_carry<T, false, true, false>, signature);
    table.add({"addc", "cc", type}, &with_carry<T, false, true, true>, signature);
    table.add({"sub", "cc", type}, &with_carry<T, true, false, true>, signature);
    table.add({"subc", type}, &with_carry<T, true, true, false>, signature);
    table.add({"subc", "cc", type}, &with_carry<T, true, true, true>, signature);
  }
}

template <class T>
void add_type(FormTable &table) {
  const std::string_view type = name_of_type<T>();
  add<&plus<T>>(table, {"add", type});
  add<&minus<T>>(table, {"sub", type});
  add<&low_product<T>>(table, {"mul", "lo", type});
  add<&high_product<T>>(table, {"mul", "hi", type});
  add<&low_sum<T>>(table, {"mad", "lo", type});
  add<&high_sum<T>>(table, {"mad", "hi", type});
  if constexpr (sizeof(T) < 8) {
    add<&wide_product<T>>(table, {"mul", "wide", type});
    add<&wide_sum<T>>(table, {"mad", "wide", type});
  }
  add<&quotient<T>>(table, {"div", type});
  add<&remainder<T>>(table, {"rem", type});
  add<&smaller<T>>(table, {"min", type});
  add<&larger<T>>(table, {"max", type});
  add<&distance<T>>(table, {"sad", type});
  if constexpr (std::is_signed_v<T>) {
    add<&negated<T>>(table, {"neg", type});
    add<&absolute<T>>(table, {"abs", type});
  }
}

/// An operation on both halves of 32 bits, each a number of its own.
template <class T, T (*F)(T, T)>
std::uint32_t each_half(std::uint32_t a, std::uint32_t b) {
  const auto half = [&](int shift) {
    const T result = F(static_cast<T>(a >> shift), static_cast<T>(b >> shift));
    return static_cast<std::uint32_t>(static_cast<std::uint16_t>(result)) << shift;
  };
  return half(0) | half(16);
}

template <class T>
void add_pairs(FormTable &table, std::string_view type) {
  add<&each_half<T, &plus<T>>>(table, {"add", type});
  add<&each_half<T, &smaller<T>>>(table, {"min", type});
  add<&each_half<T, &larger<T>>>(table, {"max", type});
}

} // namespace

void add_integers(FormTable &table) {
  add_pairs<std::uint16_t>(table, "u16x2");
  add_pairs<std::int16_t>(table, "s16x2");
  add_type<std::uint16_t>(table);
  add_type<std::uint32_t>(table);
  add_type<std::uint64_t>(table);
  add_type<std::int16_t>(table);
  add_type<std::int32_t>(table);
  add_type<std::int64_t>(table);
  add<&plus_saturated>(table, {"add", "sat", "s32"});
  add<&minus_saturated>(table, {"sub", "sat", "s32"});
  add<&larger_or_zero<std::int32_t>>(table, {"max", "relu", "s32"});
  add<&smaller_or_zero<std::int32_t>>(table, {"min", "relu", "s32"});
  add_carries<std::uint32_t>(table, {"u32", "s32"});
  add_carries<std::uint64_t>(table, {"u64", "s64"});
}

} // namespace WEFT_EMULATOR_LEVEL
