// Conversions between all types in all rounding modes, with saturation, and from and to registers
// that are wider than the type.
#include "Evaluate.h"
#include "Exact.h"

#include <algorithm>

namespace weft::emulator {
namespace {

/// A type as its bits.
struct Type {
  std::string name;
  int bits;
  bool is_signed;       // of whole numbers
  const Format *format; // of others
};
const Type kWholes[] = {{"u8", 8, false, nullptr},   {"u16", 16, false, nullptr},
                        {"u32", 32, false, nullptr}, {"u64", 64, false, nullptr},
                        {"s8", 8, true, nullptr},    {"s16", 16, true, nullptr},
                        {"s32", 32, true, nullptr},  {"s64", 64, true, nullptr}};
const Type kFloatTypes[] = {{"f16", 16, true, &kF16},
                            {"bf16", 16, true, &kBf16},
                            {"f32", 32, true, &kF32},
                            {"f64", 64, true, &kF64}};

using Big = __int128;

std::uint64_t ones(int bits) { return bits == 64 ? ~0ULL : (1ULL << bits) - 1; }
Big whole_of(std::uint64_t bits, const Type &type) {
  bits &= ones(type.bits);
  const bool negative = type.is_signed && (bits >> (type.bits - 1)) != 0;
  return negative ? Big{bits} - (Big{1} << type.bits) : Big{bits};
}
Big least(const Type &type) { return type.is_signed ? -(Big{1} << (type.bits - 1)) : 0; }
Big most(const Type &type) { return (Big{1} << (type.bits - (type.is_signed ? 1 : 0))) - 1; }
Big clamped(Big x, const Type &type) { return std::clamp(x, least(type), most(type)); }

bool is_nan(std::uint64_t bits, const Format &format) {
  return (bits & (sign_of(format) - 1)) > infinity_of(format);
}
bool is_infinite(std::uint64_t bits, const Format &format) {
  return (bits & (sign_of(format) - 1)) == infinity_of(format);
}
bool is_negative(std::uint64_t bits, const Format &format) { return (bits & sign_of(format)) != 0; }

std::uint64_t saturated(std::uint64_t bits, const Format &format) {
  const std::uint64_t one = static_cast<std::uint64_t>(bias_of(format)) << format.mantissa;
  if (is_nan(bits, format) || is_negative(bits, format)) return 0;
  return std::min(bits, one);
}

/// A value, of which a Quad has every bit, as a whole number.
Big to_whole(Quad x, Mode mode) {
  Big down = static_cast<Big>(x); // to zero
  if (static_cast<Quad>(down) > x) --down;
  const Quad above = x - static_cast<Quad>(down);
  if (above == 0) return down;
  switch (mode) {
  case Mode::down: return down;
  case Mode::up: return down + 1;
  case Mode::zero: return x < 0 ? down + 1 : down;
  default: return above > 0.5 || (above == 0.5 && (down & 1) != 0) ? down + 1 : down;
  }
}

std::uint64_t float_to_whole(std::uint64_t bits, const Type &from, const Type &to, Mode mode) {
  // "Zero if source is not .f64 and destination is not .s64, .u64. Otherwise 1 << (BitWidth(dst) -
  // 1)"
  if (is_nan(bits, *from.format))
    return from.bits == 64 || to.bits == 64 ? 1ULL << (to.bits - 1) : 0;
  const Quad value = value_of_bits(bits, *from.format);
  const Quad limit = scaled(1, 100);
  const Big whole = is_infinite(bits, *from.format) || value > limit || value < -limit
                        ? (value > 0 ? Big{1} << 100 : -(Big{1} << 100))
                        : to_whole(value, mode);
  return static_cast<std::uint64_t>(clamped(whole, to)) & ones(to.bits);
}
/// To one format or the same. A NaN keeps its sign and as much of its payload as there is room for
/// where f64 is on either side, or nothing is to do.
std::uint64_t nan_to_nan(std::uint64_t bits, const Format &from, const Format &to) {
  if (&from == &to && to.mantissa >= kF32.mantissa) return bits;
  if (&from == &kBf16 && &to == &kF32) return bits << 16;
  if (&from != &kF64 && &to != &kF64) return to.nan;
  const std::uint64_t payload = bits & ((1ULL << from.mantissa) - 1);
  const std::uint64_t resized = to.mantissa < from.mantissa
                                    ? payload >> (from.mantissa - to.mantissa)
                                    : payload << (to.mantissa - from.mantissa);
  return (is_negative(bits, from) ? sign_of(to) : 0) | infinity_of(to) | resized |
         1ULL << (to.mantissa - 1);
}
std::uint64_t float_to_float(std::uint64_t bits, const Format &from, const Format &to, Mode mode) {
  if (is_nan(bits, from)) return nan_to_nan(bits, from, to);
  const std::uint64_t sign = is_negative(bits, from) ? sign_of(to) : 0;
  if (is_infinite(bits, from)) return sign | infinity_of(to);
  return rounded({value_of_bits(bits, from), 0, sign != 0}, to, mode);
}
std::uint64_t to_integral(std::uint64_t bits, const Format &format, Mode mode) {
  if (is_nan(bits, format)) return &format == &kF64 ? bits | 1ULL << 51 : format.nan;
  const Quad value = value_of_bits(bits, format);
  if (is_infinite(bits, format) || value > scaled(1, 60) || value < -scaled(1, 60)) return bits;
  return rounded({static_cast<Quad>(to_whole(value, mode)), 0, is_negative(bits, format)}, format,
                 Mode::nearest);
}

std::vector<std::uint64_t> values_of(const Type &type) {
  std::vector<std::uint64_t> values;
  if (type.format == nullptr) {
    for (const std::uint64_t x : edges<std::uint64_t>()) values.push_back(x & ones(type.bits));
    for (int shift = 8; shift < 64; shift *= 2)
      for (const std::uint64_t off : {0x80ULL, 0x81ULL, 0x7fULL})
        values.push_back(((1ULL << shift) + off) & ones(type.bits));
    for (const std::uint64_t x :
         {(1ULL << 24) + 1, (1ULL << 24) + 3, (1ULL << 53) + 1, (1ULL << 53) + 3})
      values.push_back(x & ones(type.bits));
    return values;
  }
  const Format &format = *type.format;
  const auto add = [&](std::uint64_t bits) {
    values.push_back(bits);
    values.push_back(bits | sign_of(format));
  };
  for (const std::uint64_t x : std::initializer_list<std::uint64_t>{
           0, 1, infinity_of(format), infinity_of(format) - 1, infinity_of(format) + 1,
           sign_of(format) - 1, 1ULL << format.mantissa})
    add(x);
  // Around whole numbers, halves, and the limits of the other types.
  for (const double x : {0.25,
                         0.5,
                         0.75,
                         1.0,
                         1.5,
                         2.5,
                         3.5,
                         126.5,
                         127.0,
                         127.5,
                         128.0,
                         255.0,
                         255.5,
                         256.0,
                         32767.0,
                         32767.5,
                         32768.0,
                         65504.0,
                         65519.0,
                         65520.0,
                         65535.5,
                         2147483647.0,
                         2147483648.0,
                         4294967295.0,
                         4294967296.0,
                         0x1p62,
                         0x1p63,
                         0x1p64,
                         0x1.fp63,
                         0x1p-14,
                         0x1p-24,
                         0x1p-25,
                         0x1.8p-25,
                         0x1p-126,
                         0x1p-133,
                         0x1p-149,
                         0x1p-150,
                         0x1.fffffep127,
                         0x1.ffffffp127,
                         0x1.004p0,
                         0x1.00cp0,
                         0x1.01p0,
                         0x1.03p0,
                         0x1.000001p0,
                         0x1.000003p0,
                         0.1,
                         1e-3,
                         1.0 / 3}) {
    const std::uint64_t bits = rounded({x}, format, Mode::nearest);
    if (is_infinite(bits, format)) continue;
    for (const std::uint64_t near : {bits - 1, bits, bits + 1})
      if (!is_negative(near, format)) add(near);
  }
  return values;
}

std::uint64_t extended(std::uint64_t bits, const Type &type, int width) {
  if (type.format != nullptr || !type.is_signed) return bits & ones(width);
  return static_cast<std::uint64_t>(whole_of(bits, type)) & ones(width);
}

bool has_brain(const Type &to, const Type &from) {
  return to.name == "bf16" || from.name == "bf16";
}

/// One form, with registers of all widths that may hold its types: of bf16 those as wide as these.
template <class Reference>
void expect_conversion(const std::string &form, const Type &to, const Type &from,
                       const Reference &reference) {
  const std::vector<std::uint64_t> values = values_of(from);
  for (const int source_bits : {16, 32, 64})
    for (const int result_bits : {16, 32, 64}) {
      if (source_bits < from.bits || result_bits < to.bits) continue;
      if (has_brain(to, from) && (source_bits != from.bits || result_bits != to.bits)) continue;
      Column column{source_bits, {}};
      for (std::size_t i = 0; i < values.size(); ++i) { // what is above the number has no meaning
        const std::uint64_t noise =
            from.bits == 64 ? 0 : 0x9e3779b97f4a7c15ULL * (i + 1) << from.bits;
        column.values.push_back((values[i] | noise) & ones(source_bits));
      }
      const auto found = evaluate(form, result_bits, {column});
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_EQ(found[i], extended(reference(values[i]), to, result_bits))
            << form << " of " << std::hex << values[i] << " from " << std::dec << source_bits
            << " to " << result_bits;
    }
}

TEST(Convert, WholeToWhole) {
  for (const Type &to : kWholes)
    for (const Type &from : kWholes) {
      const std::string end = to.name + "." + from.name;
      expect_conversion("cvt." + end, to, from, [&](std::uint64_t x) {
        return static_cast<std::uint64_t>(whole_of(x, from)) & ones(to.bits);
      });
      if (least(to) > least(from) || most(to) < most(from))
        expect_conversion("cvt.sat." + end, to, from, [&](std::uint64_t x) {
          return static_cast<std::uint64_t>(clamped(whole_of(x, from), to)) & ones(to.bits);
        });
    }
}

TEST(Convert, WholeToFloat) {
  for (const Type &to : kFloatTypes)
    for (const Type &from : kWholes)
      for (const auto &named : kModes) {
        if (has_brain(to, from) && from.bits == 8) continue; // there is none
        const std::string end = to.name + "." + from.name;
        const auto reference = [&](std::uint64_t x) {
          return rounded({static_cast<Quad>(whole_of(x, from))}, *to.format, named.mode);
        };
        expect_conversion("cvt." + std::string(named.arithmetic) + "." + end, to, from, reference);
        if (!has_brain(to, from))
          expect_conversion("cvt." + std::string(named.arithmetic) + ".sat." + end, to, from,
                            [&](std::uint64_t x) { return saturated(reference(x), *to.format); });
      }
}

TEST(Convert, FloatToWhole) {
  for (const Type &to : kWholes)
    for (const Type &from : kFloatTypes)
      for (const auto &named : kModes) {
        if (has_brain(to, from) && to.bits == 8) continue;
        const std::string end = to.name + "." + from.name;
        const auto reference = [&](std::uint64_t x) {
          return float_to_whole(x, from, to, named.mode);
        };
        expect_conversion("cvt." + std::string(named.whole) + "." + end, to, from, reference);
        // Which saturates anyway.
        if (!has_brain(to, from))
          expect_conversion("cvt." + std::string(named.whole) + ".sat." + end, to, from, reference);
      }
}

TEST(Convert, FloatToFloat) {
  for (const Type &to : kFloatTypes)
    for (const Type &from : kFloatTypes) {
      const std::string end = to.name + "." + from.name;
      const bool narrows = to.format->mantissa < from.format->mantissa ||
                           to.format->exponent < from.format->exponent;
      const auto expect = [&](const std::string &rounding, Mode mode) {
        const auto reference = [&](std::uint64_t x) {
          return float_to_float(x, *from.format, *to.format, mode);
        };
        expect_conversion("cvt" + rounding + "." + end, to, from, reference);
        if (!has_brain(to, from))
          expect_conversion("cvt" + rounding + ".sat." + end, to, from,
                            [&](std::uint64_t x) { return saturated(reference(x), *to.format); });
        if (to.bits == 16 && from.name == "f32" && (mode == Mode::nearest || mode == Mode::zero))
          expect_conversion("cvt" + rounding + ".relu." + end, to, from, [&](std::uint64_t x) {
            const std::uint64_t result = reference(x);
            return is_nan(result, *to.format) || !is_negative(result, *to.format) ? result : 0;
          });
      };
      if (narrows)
        for (const auto &named : kModes) expect("." + std::string(named.arithmetic), named.mode);
      else expect("", Mode::nearest);
      if (to.name != from.name) continue;
      for (const auto &named : kModes) {
        const auto reference = [&](std::uint64_t x) {
          return to_integral(x, *to.format, named.mode);
        };
        const std::string form = "cvt." + std::string(named.whole);
        if (to.name != "f32") expect_conversion(form + "." + end, to, from, reference);
        else {
          const auto values = values_of(from);
          const auto found = evaluate(form + "." + end, 32, {{32, values}});
          for (std::size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(found[i], reference(values[i])) << form;
        }
        if (!has_brain(to, from))
          expect_conversion(form + ".sat." + end, to, from,
                            [&](std::uint64_t x) { return saturated(reference(x), *to.format); });
      }
    }
}

TEST(Convert, PairsHaveTheFirstInTheUpperHalf) {
  const auto values = values_of(kFloatTypes[2]);
  auto others = values;
  std::rotate(others.begin(), others.begin() + 7, others.end());
  for (const Type &to : {kFloatTypes[0], kFloatTypes[1]})
    for (const auto &named : {kModes[0], kModes[1]})
      for (const std::string relu : {"", ".relu"}) {
        const std::string form =
            "cvt." + std::string(named.arithmetic) + relu + "." + to.name + "x2.f32";
        const auto reference = [&](std::uint64_t x) -> std::uint64_t {
          const std::uint64_t result = float_to_float(x, kF32, *to.format, named.mode);
          return relu.empty() || is_nan(result, *to.format) || !is_negative(result, *to.format)
                     ? result
                     : 0;
        };
        const auto found = evaluate(form, 32, {{32, values}, {32, others}});
        for (std::size_t i = 0; i < values.size(); ++i)
          ASSERT_EQ(found[i], reference(values[i]) << 16 | reference(others[i])) << form;
      }
}

TEST(Convert, Tf32HasTenBitsOfMantissa) {
  constexpr Format kTf32{10, 8, 0};
  const auto values = values_of(kFloatTypes[2]);
  const std::pair<const char *, Mode> forms[] = {{"cvt.rna", Mode::away},
                                                 {"cvt.rn", Mode::nearest},
                                                 {"cvt.rz", Mode::zero},
                                                 {"cvt.rn.relu", Mode::nearest},
                                                 {"cvt.rz.relu", Mode::zero}};
  for (const auto &[form, mode] : forms) {
    const auto found = evaluate(std::string(form) + ".tf32.f32", 32, {{32, values}});
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint64_t expected = mode == Mode::away ? values[i] & ~0x1fffULL : 0x7fffe000;
      if (!is_nan(values[i], kF32)) {
        expected = float_to_float(values[i], kF32, kTf32, mode) << 13;
        if (std::string_view(form).ends_with("relu") && is_negative(expected, kF32)) expected = 0;
      }
      ASSERT_EQ(found[i], expected) << form << " of " << std::hex << values[i];
    }
  }
}

} // namespace
} // namespace weft::emulator
