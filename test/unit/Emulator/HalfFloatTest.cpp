// Arithmetic of f16 and bf16, alone and in pairs, against exact values that are rounded by
// definition.
#include "Evaluate.h"
#include "Exact.h"

namespace weft::emulator {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

struct Kind {
  const char *name;
  Format format;
};
constexpr Kind kKinds[] = {{"f16", kF16}, {"bf16", kBf16}};

/// Numbers of one of the formats by their bits.
class Numbers {
public:
  explicit Numbers(const Format &format) : format_(format) {}

  bool is_nan(U16 x) const { return (x & 0x7fff) > infinity_of(format_); }
  bool is_infinite(U16 x) const { return (x & 0x7fff) == infinity_of(format_); }
  bool is_negative(U16 x) const { return (x & 0x8000) != 0; }
  U16 nan() const { return static_cast<U16>(format_.nan); }
  /// What f64 has too: infinities and NaN as well.
  double wide(U16 x) const {
    if (is_nan(x)) return std::numeric_limits<double>::quiet_NaN();
    if (is_infinite(x)) return is_negative(x) ? -HUGE_VAL : HUGE_VAL;
    return static_cast<double>(value_of_bits(x, format_));
  }
  U16 round(Exact exact) const { return static_cast<U16>(rounded(exact, format_, Mode::nearest)); }
  U16 of(double special) const { // no finite number but zero
    if (std::isnan(special)) return nan();
    const auto magnitude = std::isinf(special) ? infinity_of(format_) : 0;
    return static_cast<U16>(magnitude | (std::signbit(special) ? 0x8000 : 0));
  }
  U16 sum(U16 a, U16 b) const {
    const double x = wide(a), y = wide(b);
    if (!std::isfinite(x) || !std::isfinite(y)) return of(x + y);
    const Exact exact = exact_sum(x, y);
    return exact.value == 0 ? of(x + y) : round(exact);
  }
  U16 product(U16 a, U16 b) const {
    const double x = wide(a), y = wide(b);
    if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) return of(x * y);
    return round({Quad{x} * Quad{y}});
  }
  U16 fused(U16 a, U16 b, U16 c) const {
    const double x = wide(a), y = wide(b), z = wide(c);
    if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) return of(std::fma(x, y, z));
    const Exact exact = exact_sum(Quad{x} * Quad{y}, z);
    return exact.value == 0 && exact.rest == 0 ? of(std::fma(x, y, z)) : round(exact);
  }
  U16 relu(U16 x) const { return is_nan(x) ? nan() : is_negative(x) ? U16{0} : x; }
  U16 limit(U16 a, U16 b, bool most, bool prefers_nan) const {
    if (prefers_nan && (is_nan(a) || is_nan(b))) return nan();
    if (is_nan(a)) return is_nan(b) ? nan() : b;
    if (is_nan(b)) return a;
    if (wide(a) == wide(b)) return is_negative(a) == most ? b : a;
    return (wide(a) < wide(b)) == most ? b : a;
  }

private:
  Format format_;
};

/// All of the interesting numbers of a format.
std::vector<U16> numbers_of(const Format &format) {
  const auto one = static_cast<U16>(static_cast<U16>(bias_of(format)) << format.mantissa);
  const auto infinity = static_cast<U16>(infinity_of(format));
  const auto least = static_cast<U16>(1 << format.mantissa);
  std::vector<U16> values;
  for (const U16 x :
       {U16{0}, U16{1}, U16{3}, static_cast<U16>(least - 1), least, one, static_cast<U16>(one + 1),
        static_cast<U16>(one + 3), static_cast<U16>(one * 3 / 2), static_cast<U16>(one / 2 + 5),
        static_cast<U16>(infinity - 1), infinity, static_cast<U16>(infinity + 1),
        static_cast<U16>(0x7fff), static_cast<U16>(0x3123), static_cast<U16>(0x4ab7),
        static_cast<U16>(0x5555)}) {
    values.push_back(x);
    values.push_back(x | 0x8000);
  }
  return values;
}

template <class... A, class Reference>
void expect_both(const std::string &op, const Kind &kind, const Reference &reference) {
  const std::vector<U16> numbers = numbers_of(kind.format);
  constexpr std::size_t kCount = sizeof...(A);
  std::size_t rows = 1;
  for (std::size_t i = 0; i < kCount; ++i) rows *= numbers.size();
  std::vector<Column> single(kCount, {16, {}}), pairs(kCount, {32, {}});
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0, rest = row; i < kCount; ++i, rest /= numbers.size()) {
      single[i].values.push_back(numbers[rest % numbers.size()]);
      pairs[i].values.push_back(numbers[rest % numbers.size()] |
                                U32{numbers[(rest + row) % numbers.size()]} << 16);
    }
  const auto expected = [&](std::size_t row, const std::vector<Column> &columns, int shift) {
    U16 x[3] = {};
    for (std::size_t i = 0; i < kCount; ++i)
      x[i] = static_cast<U16>(columns[i].values[row] >> shift);
    if constexpr (kCount == 1) return reference(x[0]);
    else if constexpr (kCount == 2) return reference(x[0], x[1]);
    else return reference(x[0], x[1], x[2]);
  };
  const std::string form = op + "." + kind.name;
  const auto found = evaluate(form, 16, single), found_pairs = evaluate(form + "x2", 32, pairs);
  for (std::size_t row = 0; row < rows; ++row) {
    ASSERT_EQ(found[row], expected(row, single, 0))
        << form << " of row " << row << " " << std::hex << single[0].values[row];
    ASSERT_EQ(found_pairs[row], expected(row, pairs, 0) | U32{expected(row, pairs, 16)} << 16)
        << form;
  }
}

TEST(HalfFloat, SumsAndProductsAreRoundedOnce) {
  for (const Kind &kind : kKinds) {
    const Numbers n(kind.format);
    for (const std::string rounding : {"", ".rn"}) {
      expect_both<U16, U16>("add" + rounding, kind, [&](U16 a, U16 b) { return n.sum(a, b); });
      expect_both<U16, U16>("sub" + rounding, kind,
                            [&](U16 a, U16 b) { return n.sum(a, n.is_nan(b) ? b : b ^ 0x8000); });
      expect_both<U16, U16>("mul" + rounding, kind, [&](U16 a, U16 b) { return n.product(a, b); });
    }
    expect_both<U16, U16, U16>("fma.rn", kind,
                               [&](U16 a, U16 b, U16 c) { return n.fused(a, b, c); });
    expect_both<U16, U16, U16>("fma.rn.relu", kind,
                               [&](U16 a, U16 b, U16 c) { return n.relu(n.fused(a, b, c)); });
  }
}

TEST(HalfFloat, SignsAndLimits) {
  for (const Kind &kind : kKinds) {
    const Numbers n(kind.format);
    expect_both<U16>("neg", kind,
                     [&](U16 a) { return n.is_nan(a) ? n.nan() : static_cast<U16>(a ^ 0x8000); });
    expect_both<U16>("abs", kind,
                     [&](U16 a) { return n.is_nan(a) ? n.nan() : static_cast<U16>(a & 0x7fff); });
    expect_both<U16, U16>("min", kind, [&](U16 a, U16 b) { return n.limit(a, b, false, false); });
    expect_both<U16, U16>("max", kind, [&](U16 a, U16 b) { return n.limit(a, b, true, false); });
    expect_both<U16, U16>("min.NaN", kind,
                          [&](U16 a, U16 b) { return n.limit(a, b, false, true); });
    expect_both<U16, U16>("max.NaN", kind, [&](U16 a, U16 b) { return n.limit(a, b, true, true); });
  }
}

} // namespace
} // namespace weft::emulator
