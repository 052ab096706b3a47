// Arithmetic of f32 and f64, rounded to nearest.
//
// PTX has every result exactly rounded, as x86 has. NaNs differ: of f32 a result that is one has
// one pattern, 0x7fffffff, as documented. Nothing is said of f64, where the operands' NaNs are
// handed on: which one of several is what an H200 does (test/unit/Emulator/HardwareH200.inc).
#include <cmath>
#include <limits>

#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Instructions/Numbers.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

template <class T>
T plus(T a, T b) {
  return propagated(a + b, b, a);
}
template <class T>
T minus(T a, T b) {
  return propagated(a - b, b, a);
}
template <class T>
T times(T a, T b) {
  return propagated(a * b, b, a);
}
// That a comes last is what sums and products have; with a NaN there no card was asked.
template <class T>
T fused(T a, T b, T c) {
  return propagated(fused_multiply_add(a, b, c), b, c, a);
}
template <class T>
T over(T a, T b) {
  return propagated(a / b, a, b);
}
template <class T>
T reciprocal(T a) {
  return propagated(T{1} / a, a);
}
template <class T>
T root(T a) {
  return propagated(square_root(a), a);
}
/// ex2.approx, which is within two of the last bits of this on a card; .ftz: no subnormal numbers.
float power_of_two(float a) { return propagated(static_cast<float>(std::exp2(double{a})), a); }
float flushed_power_of_two(float a) {
  const float power = power_of_two(a);
  return power < std::numeric_limits<float>::min() ? 0.0F : power;
}
// These two are arithmetic as well: the sign of a NaN is none to turn around or take away.
template <class T>
T negated(T a) {
  return propagated(a != a ? a : bits_as<T>(bits_as<BitsOf<T>>(a) ^ kSignOf<T>), a);
}
template <class T>
T absolute(T a) {
  return propagated(a != a ? a : bits_as<T>(bits_as<BitsOf<T>>(a) & ~kSignOf<T>), a);
}
/// copysign d, a, b: the sign of a, the rest of b, of NaNs too.
template <class T>
T with_sign(T a, T b) {
  return bits_as<T>(static_cast<BitsOf<T>>((bits_as<BitsOf<T>>(a) & kSignOf<T>) |
                                           (bits_as<BitsOf<T>>(b) & ~kSignOf<T>)));
}

/// The number where the other is NaN, and +0 above -0.
template <class T>
T smaller(T a, T b) {
  const T least = a < b || (a == b && is_negative(a)) ? a : b;
  return propagated(a != a ? b : b != b ? a : least, b);
}
template <class T>
T larger(T a, T b) {
  const T most = a < b || (a == b && is_negative(a)) ? b : a;
  return propagated(a != a ? b : b != b ? a : most, b);
}
template <class T>
T smaller_or_nan(T a, T b) {
  return a != a || b != b ? canonical_nan<T>() : smaller(a, b);
}
template <class T>
T larger_or_nan(T a, T b) {
  return a != a || b != b ? canonical_nan<T>() : larger(a, b);
}
/// .sat: into [0, 1], and NaN becomes +0.
float saturated(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
float plus_saturated(float a, float b) { return saturated(a + b); }
float minus_saturated(float a, float b) { return saturated(a - b); }
float times_saturated(float a, float b) { return saturated(a * b); }
float fused_saturated(float a, float b, float c) { return saturated(fused_multiply_add(a, b, c)); }

// A form without a rounding mode rounds to nearest as well; that it could be contracted is no duty.
template <class T>
void add_type(FormTable &table) {
  const std::string_view type = name_of_type<T>();
  for (const std::string_view rounding : {"", "rn"}) {
    add<&plus<T>>(table, {"add", rounding, type});
    add<&minus<T>>(table, {"sub", rounding, type});
    add<&times<T>>(table, {"mul", rounding, type});
  }
  add<&fused<T>>(table, {"fma", "rn", type});
  add<&fused<T>>(table, {"mad", "rn", type});
  add<&over<T>>(table, {"div", "rn", type});
  add<&reciprocal<T>>(table, {"rcp", "rn", type});
  add<&root<T>>(table, {"sqrt", "rn", type});
  add<&negated<T>>(table, {"neg", type});
  add<&absolute<T>>(table, {"abs", type});
  add<&with_sign<T>>(table, {"copysign", type});
  add<&smaller<T>>(table, {"min", type});
  add<&larger<T>>(table, {"max", type});
}

/// Two numbers in a register of 64 bits, as sm_100 computes with them.
template <auto Op, int Operands>
void on_pairs(Warp &warp, const Instruction &in, LaneMask mask) {
  const float *operands[Operands];
  for (int i = 0; i < Operands; ++i) operands[i] = warp.lanes<float>(in.slots[1 + i]);
  auto *out = warp.lanes<float>(in.slots[0]);
  for (int i = 0; i < 2 * kLanes; ++i) {
    if ((mask >> (i / 2) & 1) == 0) continue;
    if constexpr (Operands == 2) out[i] = Op(operands[0][i], operands[1][i]);
    else out[i] = Op(operands[0][i], operands[1][i], operands[2][i]);
  }
}

enum class Class : std::uint8_t { finite, infinite, number, nan, normal, subnormal };

template <class T, Class Asked>
void test(Warp &warp, const Instruction &in, LaneMask mask) {
  const auto *a = warp.lanes<BitsOf<T>>(in.slots[1]);
  const LaneMask found = mask_of([&](int lane) {
    const BitsOf<T> magnitude = a[lane] & ~kSignOf<T>;
    constexpr BitsOf<T> kInfinity = kExponentOf<T>;
    constexpr BitsOf<T> kLeastNormal = kInfinity & (0 - kInfinity);
    switch (Asked) {
    case Class::finite: return magnitude < kInfinity;
    case Class::infinite: return magnitude == kInfinity;
    case Class::number: return magnitude <= kInfinity;
    case Class::nan: return magnitude > kInfinity;
    case Class::normal: // with zero
      return (magnitude >= kLeastNormal && magnitude < kInfinity) || magnitude == 0;
    case Class::subnormal: return magnitude < kLeastNormal && magnitude != 0;
    }
    return false;
  });
  store_predicate(warp.predicate(in.slots[0]), mask, found);
}

template <class T>
void add_tests(FormTable &table) {
  const std::string_view type = name_of_type<T>();
  const std::string_view signature = sizeof(T) == 4 ? "pf" : "pg";
  table.add({"testp", "finite", type}, &test<T, Class::finite>, signature);
  table.add({"testp", "infinite", type}, &test<T, Class::infinite>, signature);
  table.add({"testp", "number", type}, &test<T, Class::number>, signature);
  table.add({"testp", "notanumber", type}, &test<T, Class::nan>, signature);
  table.add({"testp", "normal", type}, &test<T, Class::normal>, signature);
  table.add({"testp", "subnormal", type}, &test<T, Class::subnormal>, signature);
}

} // namespace

void add_floats(FormTable &table) {
  add_type<float>(table);
  add_type<double>(table);
  add<&smaller_or_nan<float>>(table, {"min", "NaN", "f32"});
  add<&larger_or_nan<float>>(table, {"max", "NaN", "f32"});
  for (const std::string_view rounding : {"", "rn"}) {
    add<&plus_saturated>(table, {"add", rounding, "sat", "f32"});
    add<&minus_saturated>(table, {"sub", rounding, "sat", "f32"});
    add<&times_saturated>(table, {"mul", rounding, "sat", "f32"});
  }
  add<&fused_saturated>(table, {"fma", "rn", "sat", "f32"});
  add<&power_of_two>(table, {"ex2", "approx", "f32"});
  add<&flushed_power_of_two>(table, {"ex2", "approx", "ftz", "f32"});
  for (const std::string_view rounding : {"", "rn"}) {
    table.add({"add", rounding, "f32x2"}, &on_pairs<&plus<float>, 2>, "ddd");
    table.add({"sub", rounding, "f32x2"}, &on_pairs<&minus<float>, 2>, "ddd");
    table.add({"mul", rounding, "f32x2"}, &on_pairs<&times<float>, 2>, "ddd");
  }
  table.add({"fma", "rn", "f32x2"}, &on_pairs<&fused<float>, 3>, "dddd");
  add_tests<float>(table);
  add_tests<double>(table);
}

} // namespace WEFT_EMULATOR_LEVEL
