// Arithmetic of f32 and f64 in all rounding modes, against exact values that are rounded by
// definition; NaNs, zeros, limits, saturation.
#include "Evaluate.h"
#include "Exact.h"

namespace weft::emulator {
namespace {

template <class T>
class Floats : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Floats, Types);

template <class T>
std::string name() {
  return sizeof(T) == 4 ? "f32" : "f64";
}

/// A NaN that arithmetic makes of these: of f64 the first of them that is one, no more signalling.
template <class T>
T nan_of(std::initializer_list<T> operands) {
  if constexpr (sizeof(T) == 8)
    for (const T x : operands)
      if (std::isnan(x)) return value_of<T>(bits_of(x) | 1ULL << 51);
  return the_nan<T>();
}
/// IEEE's answer where an operand is no finite number, or the result is an exact zero or infinite
/// by definition: the processor's, in its usual mode, but for NaN.
template <class T>
T special(T x, std::initializer_list<T> operands) {
  return std::isnan(x) ? nan_of(operands) : x;
}
bool finite(auto... x) { return (... && std::isfinite(x)); }

/// The sign of a sum that is zero: that of both, or minus when rounding down.
template <class T>
T zero_sum(T a, T b, Mode mode) {
  if (std::signbit(a) == std::signbit(b)) return std::signbit(a) ? T{-0.0} : T{0};
  return mode == Mode::down ? T{-0.0} : T{0};
}

template <class T>
T sum(T a, T b, Mode mode) {
  if (!finite(a, b)) return special<T>(a + b, {b, a});
  const Exact exact = exact_sum(a, b);
  return exact.value == 0 && exact.rest == 0 ? zero_sum(a, b, mode) : rounded_to<T>(exact, mode);
}
template <class T>
T difference(T a, T b, Mode mode) {
  return sum(a, std::isnan(b) ? b : -b, mode);
}
template <class T>
T product(T a, T b, Mode mode) {
  if (!finite(a, b) || a == 0 || b == 0) return special<T>(a * b, {b, a});
  return rounded_to<T>({Quad{a} * Quad{b}}, mode);
}
template <class T>
T fused(T a, T b, T c, Mode mode) {
  if (!finite(a, b, c)) return special<T>(std::fma(a, b, c), {b, c, a});
  const Exact exact = exact_sum(Quad{a} * Quad{b}, c);
  if (exact.value == 0 && exact.rest == 0) {
    const bool negative = std::signbit(a) != std::signbit(b);
    return zero_sum(negative ? T{-0.0} : T{0}, c, mode);
  }
  return rounded_to<T>(exact, mode);
}
/// A quotient of two numbers of T that is neither one itself nor in the middle of two is so far
/// from these that a Quad tells.
template <class T>
T quotient(T a, T b, Mode mode) {
  if (!finite(a, b) || a == 0 || b == 0) return special<T>(a / b, {a, b});
  return rounded_to<T>({Quad{a} / Quad{b}}, mode);
}
template <class T>
T root(T a, Mode mode) {
  if (!finite(a) || a <= 0) return special<T>(std::sqrt(a), {a});
  Quad value = std::sqrt(static_cast<double>(a));
  for (int i = 0; i < 4; ++i) value = (value + Quad{a} / value) / 2;
  // So is a root.
  const T nearest = static_cast<T>(value);
  if (Quad{nearest} * Quad{nearest} == Quad{a}) return nearest;
  return rounded_to<T>({value}, mode);
}

TYPED_TEST(Floats, AreRoundedOnceInEveryMode) {
  using T = TypeParam;
  for (const auto &[modifier, whole, mode] : kModes) {
    const std::string end = std::string(modifier) + "." + name<T>();
    const Mode m = mode;
    expect_form<T(T, T)>("add." + end, [&](T a, T b) { return sum(a, b, m); });
    expect_form<T(T, T)>("sub." + end, [&](T a, T b) { return difference(a, b, m); });
    expect_form<T(T, T)>("mul." + end, [&](T a, T b) { return product(a, b, m); });
    expect_form<T(T, T)>("div." + end, [&](T a, T b) { return quotient(a, b, m); });
    expect_form<T(T)>("rcp." + end, [&](T a) { return quotient(T{1}, a, m); });
    expect_form<T(T)>("sqrt." + end, [&](T a) { return root(a, m); });
    for (const char *op : {"fma.", "mad."})
      expect_form<T(T, T, T)>(op + end, [&](T a, T b, T c) { return fused(a, b, c, m); });
  }
}

TYPED_TEST(Floats, AreRoundedToNearestIfNothingIsSaid) {
  using T = TypeParam;
  expect_form<T(T, T)>("add." + name<T>(), [](T a, T b) { return sum(a, b, Mode::nearest); });
  expect_form<T(T, T)>("sub." + name<T>(),
                       [](T a, T b) { return difference(a, b, Mode::nearest); });
  expect_form<T(T, T)>("mul." + name<T>(), [](T a, T b) { return product(a, b, Mode::nearest); });
}

// That of a NaN is a bit to copysign alone.
TYPED_TEST(Floats, SignsAreBits) {
  using T = TypeParam;
  const std::uint64_t sign = sign_of(format_of<T>());
  expect_form<T(T)>("neg." + name<T>(), [&](T a) {
    return std::isnan(a) ? nan_of({a}) : value_of<T>(bits_of(a) ^ sign);
  });
  expect_form<T(T)>("abs." + name<T>(), [&](T a) {
    return std::isnan(a) ? nan_of({a}) : value_of<T>(bits_of(a) & ~sign);
  });
  expect_form<T(T, T)>("copysign." + name<T>(), [&](T a, T b) {
    return value_of<T>((bits_of(a) & sign) | (bits_of(b) & ~sign));
  });
}

// A card may be two of the last bits off, .ftz has no subnormal numbers.
TEST(Floats, PowersOfTwo) {
  const auto power = [](float a) {
    return special<float>(static_cast<float>(std::exp2(static_cast<double>(a))), {a});
  };
  expect_form<float(float)>("ex2.approx.f32", power);
  expect_form<float(float)>("ex2.approx.ftz.f32", [&](float a) {
    const float exact = power(a);
    return exact < std::numeric_limits<float>::min() ? 0.0F : exact;
  });
}

// "If one of the inputs is NaN, the result is the other"; -0 is less than +0.
template <class T>
T limit(T a, T b, bool most) {
  if (std::isnan(a) && std::isnan(b)) return nan_of({b});
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return std::signbit(a) == most ? b : a;
  return (a < b) == most ? b : a;
}
TYPED_TEST(Floats, LimitsPreferNumbers) {
  using T = TypeParam;
  expect_form<T(T, T)>("min." + name<T>(), [](T a, T b) { return limit(a, b, false); });
  expect_form<T(T, T)>("max." + name<T>(), [](T a, T b) { return limit(a, b, true); });
}
TEST(Float, LimitsWithNanPreferIt) {
  const auto nan = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
  expect_form<float(float, float)>("min.NaN.f32", [&](float a, float b) {
    return nan(a, b) ? the_nan<float>() : limit(a, b, false);
  });
  expect_form<float(float, float)>("max.NaN.f32", [&](float a, float b) {
    return nan(a, b) ? the_nan<float>() : limit(a, b, true);
  });
}

TEST(Float, SaturationClampsToZeroAndOne) {
  const auto clamp = [](float x) { return std::isnan(x) || x <= 0 ? 0.0F : std::min(x, 1.0F); };
  constexpr Mode kNearest = Mode::nearest;
  for (const std::string end : {"sat.f32", "rn.sat.f32"}) {
    expect_form<float(float, float)>("add." + end,
                                     [&](float a, float b) { return clamp(sum(a, b, kNearest)); });
    expect_form<float(float, float)>("sub." + end,
                                     [&](float a, float b) { return clamp(sum(a, -b, kNearest)); });
    expect_form<float(float, float)>(
        "mul." + end, [&](float a, float b) { return clamp(product(a, b, kNearest)); });
  }
  expect_form<float(float, float, float)>(
      "fma.rn.sat.f32", [&](float a, float b, float c) { return clamp(fused(a, b, c, kNearest)); });
}

TYPED_TEST(Floats, AreTested) {
  using T = TypeParam;
  const auto expect = [](const char *kind, bool (*reference)(T)) {
    expect_form<bool(T)>("testp." + std::string(kind) + "." + name<T>(), reference);
  };
  expect("finite", [](T a) { return std::isfinite(a); });
  expect("infinite", [](T a) { return std::isinf(a); });
  expect("number", [](T a) { return !std::isnan(a); });
  expect("notanumber", [](T a) { return std::isnan(a); });
  expect("normal", [](T a) { return std::isnormal(a) || a == 0; });
  expect("subnormal", [](T a) { return std::fpclassify(a) == FP_SUBNORMAL; });
}

TEST(Float, NumbersInTheTextAreBitsOrDecimal) {
  expect_form<float(float)>(
      "add.rn.f32", [](float a) { return sum(a, 0.5F, Mode::nearest); }, "%d, %a, 0f3F000000");
  expect_form<double(double)>(
      "add.rn.f64", [](double a) { return sum(a, 0.5, Mode::nearest); }, "%d, %a, 0.5");
  expect_form<float(float)>(
      "add.rn.f32", [](float a) { return sum(a, -1.0F, Mode::nearest); }, "%d, %a, 0fBF800000");
  expect_form<double(double)>(
      "add.rn.f64", [](double a) { return sum(a, -1.0, Mode::nearest); },
      "%d, %a, -0d3FF0000000000000");
}

// Each half is what the instruction on one number gives.
TEST(FloatPairs, AreTwoNumbersEach) {
  const std::vector<float> some = edges<float>();
  std::vector<std::uint64_t> ones[3], pairs[3], others[3];
  for (std::size_t i = 0; i < some.size(); ++i)
    for (std::size_t j = 0; j < some.size(); ++j) {
      const float low[] = {some[i], some[j], some[(i + j) % some.size()]};
      const float high[] = {some[j], some[(2 * i + j) % some.size()], some[i]};
      for (int k = 0; k < 3; ++k) {
        ones[k].push_back(bits_of(low[k]));
        others[k].push_back(bits_of(high[k]));
        pairs[k].push_back(bits_of(low[k]) | bits_of(high[k]) << 32);
      }
    }
  for (const std::string word : {"add", "add.rn", "sub", "sub.rn", "mul", "mul.rn", "fma.rn"}) {
    const auto results = [&](const std::string &type, int bits,
                             const std::vector<std::uint64_t> *values) {
      std::vector<Column> operands = {{bits, values[0]}, {bits, values[1]}};
      if (word == "fma.rn") operands.push_back({bits, values[2]});
      return evaluate(word + "." + type, bits, operands);
    };
    const auto two = results("f32x2", 64, pairs), low = results("f32", 32, ones),
               high = results("f32", 32, others);
    for (std::size_t i = 0; i < two.size(); ++i)
      ASSERT_EQ(two[i], low[i] | high[i] << 32) << word << " row " << i;
  }
}

} // namespace
} // namespace weft::emulator
