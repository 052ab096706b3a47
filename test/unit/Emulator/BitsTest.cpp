// Bits, against loops over single ones as the manual writes them.
#include "Evaluate.h"

#include <bit>

namespace weft::emulator {
namespace {

template <class T>
class Bits : public ::testing::Test {};
using Types = ::testing::Types<std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(Bits, Types);

TYPED_TEST(Bits, Logic) {
  using T = TypeParam;
  const std::string type = "b" + std::to_string(kBitsOf<T>);
  expect_form<T(T, T)>("and." + type, [](T a, T b) { return static_cast<T>(a & b); });
  expect_form<T(T, T)>("or." + type, [](T a, T b) { return static_cast<T>(a | b); });
  expect_form<T(T, T)>("xor." + type, [](T a, T b) { return static_cast<T>(a ^ b); });
  expect_form<T(T)>("not." + type, [](T a) { return static_cast<T>(~a); });
  expect_form<T(T)>("cnot." + type, [](T a) { return static_cast<T>(a == 0); });
}

TEST(Bit, Predicates) {
  expect_form<bool(bool, bool)>("and.pred", [](bool a, bool b) { return a && b; });
  expect_form<bool(bool, bool)>("or.pred", [](bool a, bool b) { return a || b; });
  expect_form<bool(bool, bool)>("xor.pred", [](bool a, bool b) { return a != b; });
  expect_form<bool(bool)>("not.pred", [](bool a) { return !a; });
  expect_form<bool(bool, bool)>("and.pred", [](bool a, bool b) { return a && !b; }, "%d, %a, !%b");
}

// "Shift amounts greater than the register width N are clamped to N."
TYPED_TEST(Bits, ShiftsClampTheirAmount) {
  using T = TypeParam;
  using S = std::make_signed_t<T>;
  constexpr std::uint32_t kBits = kBitsOf<T>;
  const std::string width = std::to_string(kBits);
  expect_form<T(T, std::uint32_t)>("shl.b" + width, [](T a, std::uint32_t n) {
    return n >= kBits ? T{0} : static_cast<T>(std::uint64_t{a} << n);
  });
  for (const char *sign : {"u", "b"})
    expect_form<T(T, std::uint32_t)>("shr." + (sign + width), [](T a, std::uint32_t n) {
      return n >= kBits ? T{0} : static_cast<T>(a >> n);
    });
  expect_form<S(S, std::uint32_t)>("shr.s" + width, [](S a, std::uint32_t n) {
    return static_cast<S>(n >= kBits ? (a < 0 ? -1 : 0) : a >> n);
  });
}

template <class T>
void expect_counts(const std::string &width) {
  using S = std::make_signed_t<T>;
  constexpr int kBits = kBitsOf<T>;
  expect_form<std::uint32_t(T)>("popc.b" + width, [](T a) {
    std::uint32_t count = 0;
    for (int i = 0; i < kBits; ++i) count += a >> i & 1;
    return count;
  });
  expect_form<std::uint32_t(T)>("clz.b" + width, [](T a) {
    std::uint32_t count = 0;
    for (int i = kBits - 1; i >= 0 && (a >> i & 1) == 0; --i) ++count;
    return count;
  });
  expect_form<T(T)>("brev.b" + width, [](T a) {
    T result = 0;
    for (int i = 0; i < kBits; ++i) result |= (a >> i & 1) << (kBits - 1 - i);
    return result;
  });
  const auto found = [](auto a) {
    using A = decltype(a);
    const T bits = static_cast<T>(a < 0 ? static_cast<A>(~a) : a);
    std::uint32_t place = 0xffffffff;
    for (int i = kBits - 1; i >= 0; --i)
      if ((bits >> i & 1) != 0) {
        place = static_cast<std::uint32_t>(i);
        break;
      }
    return place;
  };
  const auto amount = [&](auto a) {
    return found(a) == 0xffffffff ? 0xffffffff : static_cast<std::uint32_t>(kBits) - 1 - found(a);
  };
  expect_form<std::uint32_t(T)>("bfind.u" + width, found);
  expect_form<std::uint32_t(S)>("bfind.s" + width, found);
  expect_form<std::uint32_t(T)>("bfind.shiftamt.u" + width, amount);
  expect_form<std::uint32_t(S)>("bfind.shiftamt.s" + width, amount);
}
TEST(Bit, Counts) {
  expect_counts<std::uint32_t>("32");
  expect_counts<std::uint64_t>("64");
}

// Places and lengths: a byte of 32 bits, of 64 the whole operand.
template <class T>
std::uint32_t place(std::uint32_t x) {
  return kBitsOf<T> == 32 ? x & 0xff : std::min(x, 1000U);
}
template <class T, bool Signed>
T extracted(T a, std::uint32_t b, std::uint32_t c) {
  constexpr std::uint32_t kLast = kBitsOf<T> - 1;
  const std::uint32_t at = place<T>(b), length = place<T>(c);
  const T sign = !Signed || length == 0 ? 0 : a >> std::min(at + length - 1, kLast) & 1;
  T result = 0;
  for (std::uint32_t i = 0; i <= kLast; ++i)
    result |= (i < length && at + i <= kLast ? a >> (at + i) & 1 : sign) << i;
  return result;
}
template <class T>
T inserted(T a, T b, std::uint32_t c, std::uint32_t d) {
  constexpr std::uint32_t kLast = kBitsOf<T> - 1;
  const std::uint32_t at = place<T>(c), length = place<T>(d);
  T result = b;
  for (std::uint32_t i = 0; i < length && at + i <= kLast; ++i)
    result = (result & ~(T{1} << (at + i))) | (a >> i & 1) << (at + i);
  return result;
}
TEST(Bit, Fields) {
  using U32 = std::uint32_t;
  using U64 = std::uint64_t;
  expect_form<U32(U32, U32, U32)>("bfe.u32", extracted<U32, false>);
  expect_form<U32(U32, U32, U32)>("bfe.s32", extracted<U32, true>);
  expect_form<U64(U64, U32, U32)>("bfe.u64", extracted<U64, false>);
  expect_form<U64(U64, U32, U32)>("bfe.s64", extracted<U64, true>);
  expect_form<U32(U32, U32, U32, U32)>("bfi.b32", inserted<U32>);
  expect_form<U64(U64, U64, U32, U32)>("bfi.b64", inserted<U64>);
}

using U32 = std::uint32_t;

std::uint8_t byte_of(U32 a, U32 b, U32 which) {
  return static_cast<std::uint8_t>(which < 4 ? a >> (8 * which) : b >> (8 * (which - 4)));
}
TEST(Bit, Permutations) {
  expect_form<U32(U32, U32, U32)>("prmt.b32", [](U32 a, U32 b, U32 c) {
    U32 result = 0;
    for (U32 i = 0; i < 4; ++i) {
      const U32 selector = c >> (4 * i) & 0xf;
      std::uint8_t byte = byte_of(a, b, selector & 7);
      if ((selector & 8) != 0)
        byte = static_cast<std::uint8_t>(static_cast<std::int8_t>(byte) >> 7);
      result |= U32{byte} << (8 * i);
    }
    return result;
  });
  // The bytes that the modes choose, from the highest, for each c.
  const std::pair<const char *, std::array<std::array<U32, 4>, 4>> modes[] = {
      {"f4e", {{{3, 2, 1, 0}, {4, 3, 2, 1}, {5, 4, 3, 2}, {6, 5, 4, 3}}}},
      {"b4e", {{{5, 6, 7, 0}, {6, 7, 0, 1}, {7, 0, 1, 2}, {0, 1, 2, 3}}}},
      {"rc8", {{{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}}},
      {"ecl", {{{3, 2, 1, 0}, {3, 2, 1, 1}, {3, 2, 2, 2}, {3, 3, 3, 3}}}},
      {"ecr", {{{0, 0, 0, 0}, {1, 1, 1, 0}, {2, 2, 1, 0}, {3, 2, 1, 0}}}},
      {"rc16", {{{1, 0, 1, 0}, {3, 2, 3, 2}, {1, 0, 1, 0}, {3, 2, 3, 2}}}}};
  for (const auto &[mode, chosen] : modes)
    expect_form<U32(U32, U32, U32)>(std::string("prmt.b32.") + mode, [&](U32 a, U32 b, U32 c) {
      U32 result = 0;
      for (const U32 which : chosen[c & 3]) result = result << 8 | byte_of(a, b, which);
      return result;
    });
}

TEST(Bit, AnyFunctionOfThree) {
  for (const U32 table : {0x80U, 0xfeU, 0x96U, 0xcaU, 0x1aU})
    expect_form<U32(U32, U32, U32)>(
        "lop3.b32",
        [&](U32 a, U32 b, U32 c) {
          U32 result = 0;
          for (int i = 0; i < 32; ++i)
            result |= (table >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i;
          return result;
        },
        "%d, %a, %b, %c, " + std::to_string(table));
}

TEST(Bit, FunnelShifts) {
  const auto left = [](U32 a, U32 b, U32 n) {
    return n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
  };
  const auto right = [](U32 a, U32 b, U32 n) {
    return n == 0 ? a : n == 32 ? b : b << (32 - n) | a >> n;
  };
  using F = U32(U32, U32, U32);
  expect_form<F>("shf.l.clamp.b32",
                 [&](U32 a, U32 b, U32 c) { return left(a, b, std::min(c, 32U)); });
  expect_form<F>("shf.r.clamp.b32",
                 [&](U32 a, U32 b, U32 c) { return right(a, b, std::min(c, 32U)); });
  expect_form<F>("shf.l.wrap.b32", [&](U32 a, U32 b, U32 c) { return left(a, b, c & 31); });
  expect_form<F>("shf.r.wrap.b32", [&](U32 a, U32 b, U32 c) { return right(a, b, c & 31); });
}

TEST(Bit, Moves) {
  for (const std::string type : {"b16", "u16", "s16"})
    expect_form<std::uint16_t(std::uint16_t)>("mov." + type, [](std::uint16_t a) { return a; });
  for (const std::string type : {"b32", "u32", "s32", "f32"})
    expect_form<U32(U32)>("mov." + type, [](U32 a) { return a; });
  for (const std::string type : {"b64", "u64", "s64", "f64"})
    expect_form<std::uint64_t(std::uint64_t)>("mov." + type, [](std::uint64_t a) { return a; });
  expect_form<bool(bool)>("mov.pred", [](bool a) { return a; });
  expect_form<bool(bool)>("mov.pred", [](bool a) { return !a; }, "%d, !%a");
}

TEST(Bit, DotProductsOfBytes) {
  expect_form<U32(U32, U32, U32)>("dp4a.u32.u32", [](U32 a, U32 b, U32 c) {
    for (int i = 0; i < 32; i += 8) c += (a >> i & 0xff) * (b >> i & 0xff);
    return c;
  });
  expect_form<U32(U32, U32, U32)>("dp4a.s32.s32", [](U32 a, U32 b, U32 c) {
    for (int i = 0; i < 32; i += 8)
      c += static_cast<U32>(int{static_cast<std::int8_t>(a >> i)} *
                            int{static_cast<std::int8_t>(b >> i)});
    return c;
  });
}

} // namespace
} // namespace weft::emulator
