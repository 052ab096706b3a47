// Arithmetic of whole numbers, against the same in 128 bits.
#include "Evaluate.h"

namespace weft::emulator {
namespace {

using Big = __int128;

template <class T>
const char *kName = "";
template <>
const char *kName<std::uint16_t> = "u16";
template <>
const char *kName<std::int16_t> = "s16";
template <>
const char *kName<std::uint32_t> = "u32";
template <>
const char *kName<std::int32_t> = "s32";
template <>
const char *kName<std::uint64_t> = "u64";
template <>
const char *kName<std::int64_t> = "s64";

template <class T>
using WideOf = std::conditional_t<std::is_signed_v<T>,
                                  std::conditional_t<sizeof(T) == 2, std::int32_t, std::int64_t>,
                                  std::conditional_t<sizeof(T) == 2, std::uint32_t, std::uint64_t>>;

template <class T>
T cut(Big x) {
  return static_cast<T>(static_cast<unsigned __int128>(x));
}
template <class T>
Big product(T a, T b) { // of u64 beyond 127 bits, modulo 2^128
  return static_cast<Big>(static_cast<unsigned __int128>(Big{a}) *
                          static_cast<unsigned __int128>(Big{b}));
}
Big sum(Big a, Big b) { // modulo 2^128
  return static_cast<Big>(static_cast<unsigned __int128>(a) + static_cast<unsigned __int128>(b));
}
template <class T>
Big upper(T a, T b) {
  const Big all = product(a, b);
  return std::is_signed_v<T> ? all >> kBitsOf<T>
                             : static_cast<Big>(static_cast<unsigned __int128>(all) >> kBitsOf<T>);
}

template <class T>
class Integers : public ::testing::Test {};
using Types = ::testing::Types<std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
                               std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(Integers, Types);

TYPED_TEST(Integers, SumsWrap) {
  using T = TypeParam;
  const std::string type = kName<T>;
  expect_form<T(T, T)>("add." + type, [](T a, T b) { return cut<T>(Big{a} + b); });
  expect_form<T(T, T)>("sub." + type, [](T a, T b) { return cut<T>(Big{a} - b); });
}

TYPED_TEST(Integers, ProductsHaveALowerAndAnUpperHalf) {
  using T = TypeParam;
  const std::string type = kName<T>;
  expect_form<T(T, T)>("mul.lo." + type, [](T a, T b) { return cut<T>(product(a, b)); });
  expect_form<T(T, T)>("mul.hi." + type, [](T a, T b) { return cut<T>(upper(a, b)); });
  expect_form<T(T, T, T)>("mad.lo." + type,
                          [](T a, T b, T c) { return cut<T>(sum(product(a, b), c)); });
  expect_form<T(T, T, T)>("mad.hi." + type,
                          [](T a, T b, T c) { return cut<T>(sum(upper(a, b), c)); });
  if constexpr (sizeof(T) < 8) {
    using W = WideOf<T>;
    expect_form<W(T, T)>("mul.wide." + type, [](T a, T b) { return cut<W>(product(a, b)); });
    expect_form<W(T, T, W)>("mad.wide." + type,
                            [](T a, T b, W c) { return cut<W>(product(a, b) + Big{c}); });
  }
}

// "Division by zero yields an unspecified, machine-specific value": all ones, as GPUs have it.
TYPED_TEST(Integers, QuotientsRoundToZero) {
  using T = TypeParam;
  const std::string type = kName<T>;
  expect_form<T(T, T)>("div." + type,
                       [](T a, T b) { return b == 0 ? cut<T>(-1) : cut<T>(Big{a} / b); });
  expect_form<T(T, T)>("rem." + type,
                       [](T a, T b) { return b == 0 ? cut<T>(-1) : cut<T>(Big{a} % b); });
}

TYPED_TEST(Integers, Limits) {
  using T = TypeParam;
  const std::string type = kName<T>;
  expect_form<T(T, T)>("min." + type, [](T a, T b) { return a < b ? a : b; });
  expect_form<T(T, T)>("max." + type, [](T a, T b) { return a > b ? a : b; });
  expect_form<T(T, T, T)>("sad." + type, [](T a, T b, T c) {
    const Big difference = Big{a} - b;
    return cut<T>(Big{c} + (difference < 0 ? -difference : difference));
  });
  if constexpr (std::is_signed_v<T>) {
    expect_form<T(T)>("neg." + type, [](T a) { return cut<T>(-Big{a}); });
    expect_form<T(T)>("abs." + type, [](T a) { return cut<T>(a < 0 ? -Big{a} : Big{a}); });
  }
}

TEST(Integer, SaturationStopsAtTheLimits) {
  using T = std::int32_t;
  const auto clamp = [](std::int64_t x) {
    return static_cast<T>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
  };
  expect_form<T(T, T)>("add.sat.s32", [&](T a, T b) { return clamp(std::int64_t{a} + b); });
  expect_form<T(T, T)>("sub.sat.s32", [&](T a, T b) { return clamp(std::int64_t{a} - b); });
  expect_form<T(T, T)>("min.relu.s32", [](T a, T b) { return std::max(std::min(a, b), 0); });
  expect_form<T(T, T)>("max.relu.s32", [](T a, T b) { return std::max(std::max(a, b), 0); });
}

/// A sum or difference of two numbers with the carry of one before it, and the carry that it gives.
template <class T>
void expect_carries(const std::string &type) {
  using W = unsigned __int128;
  constexpr int kBits = kBitsOf<T>;
  const std::string width = std::to_string(kBits);
  const auto flag = [](bool set) { return set ? T{1} : T{0}; };
  for (const std::string next : {"addc.", "addc.cc.", "subc.", "subc.cc."})
    note_tested(next + type);
  note_tested("add.cc." + type);
  note_tested("sub.cc." + type);
  // %d is the upper half of a sum of (a, c) and (b, e), or the carry that the upper halves give.
  const auto block = [&](const std::string &first, const std::string &second,
                         const std::string &third) {
    return "add.u" + width + " %d, 0, 0;\n{ .reg .b" + width + " %l;\n" + first + type +
           " %l, %a, %b;\n" + second + type + " %d, %c, %e;\n" + third + "}\n mov.b" + width;
  };
  const std::string same = "%d, %d";
  const auto sum = [](T a, T b, T c, T e) { return W{a} + b + ((W{c} + e) << kBits); };
  const auto difference = [](T a, T b, T c, T e) {
    return (W{a} | W{c} << kBits) - (W{b} | W{e} << kBits);
  };
  using F = T(T, T, T, T);
  for (const std::string second : {"addc.", "addc.cc."})
    expect_form<F>(
        block("add.cc.", second, ""),
        [&](T a, T b, T c, T e) { return static_cast<T>(sum(a, b, c, e) >> kBits); }, same);
  for (const std::string second : {"subc.", "subc.cc."})
    expect_form<F>(
        block("sub.cc.", second, ""),
        [&](T a, T b, T c, T e) { return static_cast<T>(difference(a, b, c, e) >> kBits); }, same);
  // The carry of the upper halves, added to 0.
  if constexpr (kBits == 32) {
    expect_form<F>(
        block("add.cc.", "addc.cc.", "addc." + type + " %d, 0, 0;\n"),
        [&](T a, T b, T c, T e) { return flag(sum(a, b, c, e) >> (2 * kBits) != 0); }, same);
    expect_form<F>(
        block("sub.cc.", "subc.cc.", "subc." + type + " %d, 0, 0;\n"),
        [&](T a, T b, T c, T e) {
          const bool borrow = c < e || (c == e && a < b);
          return borrow ? static_cast<T>(~T{0}) : T{0};
        },
        same);
  }
}

TEST(Integer, CarriesGoFromOneInstructionToTheNext) {
  for (const char *type : {"u32", "s32"}) expect_carries<std::uint32_t>(type);
  for (const char *type : {"u64", "s64"}) expect_carries<std::uint64_t>(type);
}

/// Compares a form on pairs with what a function makes of each half.
template <class T, class Reference>
void expect_pairs(const std::string &opcode, const Reference &reference) {
  expect_form<std::uint32_t(std::uint32_t, std::uint32_t)>(opcode, [&](std::uint32_t a,
                                                                       std::uint32_t b) {
    std::uint32_t result = 0;
    for (const int shift : {0, 16}) {
      const auto x = static_cast<T>(a >> shift & 0xffff), y = static_cast<T>(b >> shift & 0xffff);
      result |= static_cast<std::uint32_t>(static_cast<std::uint16_t>(reference(x, y))) << shift;
    }
    return result;
  });
}

TEST(Integer, PairsInOneRegister) {
  expect_pairs<std::uint16_t>("add.u16x2", [](int a, int b) { return a + b; });
  expect_pairs<std::int16_t>("add.s16x2", [](int a, int b) { return a + b; });
  expect_pairs<std::uint16_t>("min.u16x2", [](int a, int b) { return std::min(a, b); });
  expect_pairs<std::int16_t>("min.s16x2", [](int a, int b) { return std::min(a, b); });
  expect_pairs<std::uint16_t>("max.u16x2", [](int a, int b) { return std::max(a, b); });
  expect_pairs<std::int16_t>("max.s16x2", [](int a, int b) { return std::max(a, b); });
}

} // namespace
} // namespace weft::emulator
