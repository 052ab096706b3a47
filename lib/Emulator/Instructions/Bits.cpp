// Bits: logic, shifts, fields, counts and permutations.
#include "Emulator/Instructions/Lanes.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

template <class T>
T both(T a, T b) {
  return a & b;
}
template <class T>
T either(T a, T b) {
  return a | b;
}
template <class T>
T differing(T a, T b) {
  return a ^ b;
}
template <class T>
T flipped(T a) {
  return static_cast<T>(~a);
}
template <class T>
T is_zero(T a) {
  return a == 0 ? 1 : 0;
}

// "Shift amounts greater than the register width N are clamped to N."
template <class T>
T shifted_left(T a, std::uint32_t by) {
  return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << by);
}
template <class T>
T shifted_right(T a, std::uint32_t by) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (by >= kBits ? kBits - 1 : by));
  else return by >= kBits ? T{0} : static_cast<T>(a >> by);
}

template <class T>
std::uint32_t ones(T a) {
  return static_cast<std::uint32_t>(__builtin_popcountll(a));
}
template <class T>
std::uint32_t leading_zeros(T a) {
  if (a == 0) return 8 * sizeof(T);
  return static_cast<std::uint32_t>(__builtin_clzll(a)) - (64 - 8 * sizeof(T));
}
/// The place of the first bit that is not a sign, or all ones.
template <class T>
std::uint32_t first_bit(T a) {
  using U = std::make_unsigned_t<T>;
  const U magnitude = static_cast<U>(a < 0 ? ~a : a);
  return magnitude == 0 ? ~0U
                        : static_cast<std::uint32_t>(8 * sizeof(T) - 1) - leading_zeros(magnitude);
}
/// By how much it has to be shifted to the left.
template <class T>
std::uint32_t shift_of_first_bit(T a) {
  const std::uint32_t found = first_bit(a);
  return found == ~0U ? ~0U : static_cast<std::uint32_t>(8 * sizeof(T) - 1) - found;
}
template <class T>
T reversed(T a) {
  if constexpr (sizeof(T) == 4) return __builtin_bitreverse32(a);
  else return __builtin_bitreverse64(a);
}

/// The place or length of a field: the lowest byte of the operand, as the manual says, but for
/// fields of 64 bits, of which an H200 looks at all of it.
template <class T>
std::uint32_t place(std::uint32_t operand) {
  return sizeof(T) == 4 ? operand & 0xff : operand < 0xff ? operand : 0xff;
}

/// A field of `length` bits from `at` on, with its sign where the type has one; what lies beyond
/// the number is the sign too.
template <class T>
T field(T a, std::uint32_t at, std::uint32_t length) {
  constexpr std::uint32_t kMost = 8 * sizeof(T) - 1;
  at = place<T>(at);
  length = place<T>(length);
  using U = std::make_unsigned_t<T>;
  U sign = 0;
  if (std::is_signed_v<T> && length != 0) {
    const std::uint32_t last = at + length - 1 < kMost ? at + length - 1 : kMost;
    sign = static_cast<U>(a) >> last & 1;
  }
  const U fill = sign != 0 ? ~U{0} : U{0};
  const U low = at > kMost ? fill : static_cast<U>(shifted_right(a, at));
  if (length > kMost) return static_cast<T>(low);
  const U mask = (U{1} << length) - 1;
  // Bits of the number beyond the field's end.
  return static_cast<T>((low & mask) | (fill & ~mask));
}
template <class T>
T with_field(T a, T b, std::uint32_t at, std::uint32_t length) {
  constexpr std::uint32_t kBits = 8 * sizeof(T);
  at = place<T>(at);
  length = place<T>(length);
  if (at >= kBits || length == 0) return b;
  const T ones = length >= kBits ? ~T{0} : (T{1} << length) - 1;
  const T mask = static_cast<T>(ones << at);
  return static_cast<T>((b & ~mask) | (static_cast<T>(a << at) & mask));
}

std::uint32_t byte_of(std::uint64_t bytes, std::uint32_t selector) {
  const auto byte = static_cast<std::uint8_t>(bytes >> (8 * (selector & 7)));
  if ((selector & 8) != 0) return (byte & 0x80) != 0 ? 0xff : 0; // its sign
  return byte;
}
std::uint32_t permuted(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const std::uint64_t bytes = std::uint64_t{b} << 32 | a;
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 4; ++i) result |= byte_of(bytes, c >> (4 * i)) << (8 * i);
  return result;
}
/// The modes of prmt with a name choose bytes by the two lowest bits of c.
template <int Mode>
std::uint32_t permuted_as(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  constexpr std::uint32_t kSelectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
      {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
      {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
      {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
      {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
      {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
  };
  return permuted(a, b, kSelectors[Mode][c & 3]);
}

std::uint32_t looked_up(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
  std::uint32_t result = 0;
  for (std::uint32_t i = 0; i < 8; ++i)
    if ((table >> i & 1) != 0)
      result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  return result;
}

/// shf: the upper or lower half of b:a, shifted by 32 at most, or modulo 32.
template <bool Left, bool Wrap>
std::uint32_t funnel(std::uint32_t a, std::uint32_t b, std::uint32_t by) {
  const std::uint64_t both = std::uint64_t{b} << 32 | a;
  const std::uint32_t n = Wrap ? by & 31 : by < 32 ? by : 32;
  return static_cast<std::uint32_t>(Left ? (both << n) >> 32 : both >> n);
}

template <class T>
std::uint32_t dot(std::uint32_t a, std::uint32_t b, std::uint32_t c) { // dp4a
  std::uint32_t sum = c;
  for (int i = 0; i < 4; ++i)
    sum += static_cast<std::uint32_t>(static_cast<std::int32_t>(static_cast<T>(a >> (8 * i))) *
                                      static_cast<std::int32_t>(static_cast<T>(b >> (8 * i))));
  return sum;
}

template <class T>
void add_logic(FormTable &table, std::string_view type) {
  add<&both<T>>(table, {"and", type});
  add<&either<T>>(table, {"or", type});
  add<&differing<T>>(table, {"xor", type});
  add<&flipped<T>>(table, {"not", type});
  add<&is_zero<T>>(table, {"cnot", type});
  add<&shifted_left<T>>(table, {"shl", type});
  add<&shifted_right<T>>(table, {"shr", type});
  add<&shifted_right<T>>(table, {"shr", name_of_type<T>()});
  using Signed = std::make_signed_t<T>;
  add<&shifted_right<Signed>>(table, {"shr", name_of_type<Signed>()});
}

enum class Logic : std::uint8_t { both, either, differing, flipped };

template <Logic Op>
void predicates(Warp &warp, const Instruction &in, LaneMask mask) {
  const LaneMask a = warp.predicate(in.slots[1]);
  const LaneMask b = Op == Logic::flipped ? 0 : warp.predicate(in.slots[2]);
  const LaneMask result = Op == Logic::both      ? a & b
                          : Op == Logic::either  ? a | b
                          : Op == Logic::flipped ? ~a
                                                 : a ^ b;
  store_predicate(warp.predicate(in.slots[0]), mask, result);
}

} // namespace

void add_bits(FormTable &table) {
  add_logic<std::uint16_t>(table, "b16");
  add_logic<std::uint32_t>(table, "b32");
  add_logic<std::uint64_t>(table, "b64");
  table.add({"and", "pred"}, &predicates<Logic::both>, "ppp");
  table.add({"or", "pred"}, &predicates<Logic::either>, "ppp");
  table.add({"xor", "pred"}, &predicates<Logic::differing>, "ppp");
  table.add({"not", "pred"}, &predicates<Logic::flipped>, "pp");

  add<&ones<std::uint32_t>>(table, {"popc", "b32"});
  add<&ones<std::uint64_t>>(table, {"popc", "b64"});
  add<&leading_zeros<std::uint32_t>>(table, {"clz", "b32"});
  add<&leading_zeros<std::uint64_t>>(table, {"clz", "b64"});
  add<&reversed<std::uint32_t>>(table, {"brev", "b32"});
  add<&reversed<std::uint64_t>>(table, {"brev", "b64"});
  add<&first_bit<std::uint32_t>>(table, {"bfind", "u32"});
  add<&first_bit<std::int32_t>>(table, {"bfind", "s32"});
  add<&first_bit<std::uint64_t>>(table, {"bfind", "u64"});
  add<&first_bit<std::int64_t>>(table, {"bfind", "s64"});
  add<&shift_of_first_bit<std::uint32_t>>(table, {"bfind", "shiftamt", "u32"});
  add<&shift_of_first_bit<std::int32_t>>(table, {"bfind", "shiftamt", "s32"});
  add<&shift_of_first_bit<std::uint64_t>>(table, {"bfind", "shiftamt", "u64"});
  add<&shift_of_first_bit<std::int64_t>>(table, {"bfind", "shiftamt", "s64"});
  add<&field<std::uint32_t>>(table, {"bfe", "u32"});
  add<&field<std::int32_t>>(table, {"bfe", "s32"});
  add<&field<std::uint64_t>>(table, {"bfe", "u64"});
  add<&field<std::int64_t>>(table, {"bfe", "s64"});
  add<&with_field<std::uint32_t>>(table, {"bfi", "b32"});
  add<&with_field<std::uint64_t>>(table, {"bfi", "b64"});
  add<&permuted>(table, {"prmt", "b32"});
  add<&permuted_as<0>>(table, {"prmt", "b32", "f4e"});
  add<&permuted_as<1>>(table, {"prmt", "b32", "b4e"});
  add<&permuted_as<2>>(table, {"prmt", "b32", "rc8"});
  add<&permuted_as<3>>(table, {"prmt", "b32", "ecl"});
  add<&permuted_as<4>>(table, {"prmt", "b32", "ecr"});
  add<&permuted_as<5>>(table, {"prmt", "b32", "rc16"});
  add<&looked_up>(table, {"lop3", "b32"});
  add<&funnel<true, true>>(table, {"shf", "l", "wrap", "b32"});
  add<&funnel<true, false>>(table, {"shf", "l", "clamp", "b32"});
  add<&funnel<false, true>>(table, {"shf", "r", "wrap", "b32"});
  add<&funnel<false, false>>(table, {"shf", "r", "clamp", "b32"});
  add<&dot<std::uint8_t>>(table, {"dp4a", "u32", "u32"});
  add<&dot<std::int8_t>>(table, {"dp4a", "s32", "s32"});
}

} // namespace WEFT_EMULATOR_LEVEL
