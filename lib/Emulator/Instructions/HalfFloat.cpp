// Arithmetic of f16 and bf16, and of two of them in a register.
//
// Sums, differences and products of two f32 that are f16 or bf16 are exact in f64 or rounded so far
// below the last bit of the result that rounding twice is rounding once; a fused product and sum is
// rounded to odd in between, which is as good.
#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Instructions/Numbers.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

template <class T>
struct PairOf;
template <>
struct PairOf<Half> {
  using Type = HalfPair;
};
template <>
struct PairOf<Brain> {
  using Type = BrainPair;
};

/// a * b + c in f64, with the last bit set where anything was lost.
double odd_fused(double a, double b, double c) {
  const double product = a * b; // exact: 22 bits at most
  const double sum = product + c;
  const double rest = sum - product;
  const double lost = (product - (sum - rest)) + (c - rest);
  if (lost == 0 || !(__builtin_fabs(sum) < __builtin_inf())) return sum;
  std::uint64_t bits = bits_as<std::uint64_t>(sum);
  if ((bits & 1) != 0) return sum;
  // Towards the exact value, which is not an even neighbour.
  bits += (lost > 0) == (sum > 0) ? 1 : -1ULL;
  return bits_as<double>(bits);
}

template <class T>
T plus(T a, T b) {
  return narrowed<T>(static_cast<double>(widened(a)) + widened(b), Rounding::nearest_even);
}
template <class T>
T minus(T a, T b) {
  return narrowed<T>(static_cast<double>(widened(a)) - widened(b), Rounding::nearest_even);
}
template <class T>
T times(T a, T b) {
  return narrowed<T>(static_cast<double>(widened(a)) * widened(b), Rounding::nearest_even);
}
template <class T>
T fused(T a, T b, T c) {
  return narrowed<T>(odd_fused(widened(a), widened(b), widened(c)), Rounding::nearest_even);
}
template <class T>
T relu(T x) {
  return (x.bits & 0x7fff) > kExponentOf<T> ? canonical_nan<T>()
         : (x.bits & 0x8000) != 0           ? T{0}
                                            : x;
}
template <class T>
T fused_relu(T a, T b, T c) {
  return relu(fused(a, b, c));
}
template <class T>
bool is_nan(T a) {
  return (a.bits & 0x7fff) > kExponentOf<T>;
}
template <class T>
T negated(T a) {
  return is_nan(a) ? canonical_nan<T>() : T{static_cast<std::uint16_t>(a.bits ^ 0x8000)};
}
template <class T>
T absolute(T a) {
  return is_nan(a) ? canonical_nan<T>() : T{static_cast<std::uint16_t>(a.bits & 0x7fff)};
}
/// As a number that compares as the float does, -0 below +0.
template <class T>
std::int32_t ordered(T a) {
  return (a.bits & 0x8000) != 0 ? -1 - (a.bits & 0x7fff) : a.bits;
}
template <class T>
T smaller(T a, T b) {
  if (is_nan(a)) return is_nan(b) ? canonical_nan<T>() : b;
  return is_nan(b) || ordered(a) < ordered(b) ? a : b;
}
template <class T>
T larger(T a, T b) {
  if (is_nan(a)) return is_nan(b) ? canonical_nan<T>() : b;
  return is_nan(b) || ordered(b) < ordered(a) ? a : b;
}
template <class T>
T smaller_or_nan(T a, T b) {
  return is_nan(a) || is_nan(b) ? canonical_nan<T>() : smaller(a, b);
}
template <class T>
T larger_or_nan(T a, T b) {
  return is_nan(a) || is_nan(b) ? canonical_nan<T>() : larger(a, b);
}

template <class T, auto F, class Pair>
Pair each(Pair a) {
  return Pair{static_cast<std::uint32_t>(F(T{static_cast<std::uint16_t>(a.bits)}).bits) |
              static_cast<std::uint32_t>(F(T{static_cast<std::uint16_t>(a.bits >> 16)}).bits)
                  << 16};
}
template <class T, auto F, class Pair>
Pair each(Pair a, Pair b) {
  std::uint32_t bits = 0;
  for (int i = 0; i < 32; i += 16)
    bits |= static_cast<std::uint32_t>(F(T{static_cast<std::uint16_t>(a.bits >> i)},
                                         T{static_cast<std::uint16_t>(b.bits >> i)})
                                           .bits)
            << i;
  return Pair{bits};
}
template <class T, auto F, class Pair>
Pair each(Pair a, Pair b, Pair c) {
  std::uint32_t bits = 0;
  for (int i = 0; i < 32; i += 16)
    bits |= static_cast<std::uint32_t>(F(T{static_cast<std::uint16_t>(a.bits >> i)},
                                         T{static_cast<std::uint16_t>(b.bits >> i)},
                                         T{static_cast<std::uint16_t>(c.bits >> i)})
                                           .bits)
            << i;
  return Pair{bits};
}

/// The form for one number and that for two.
template <class T, auto F>
void add_both(FormTable &table, std::string_view op, std::string_view modifier) {
  using Pair = typename PairOf<T>::Type;
  add<F>(table, {op, modifier, name_of_type<T>()});
  using Function = decltype(F);
  if constexpr (std::is_same_v<Function, T (*)(T)>)
    add<static_cast<Pair (*)(Pair)>(&each<T, F, Pair>)>(table,
                                                        {op, modifier, name_of_type<Pair>()});
  else if constexpr (std::is_same_v<Function, T (*)(T, T)>)
    add<static_cast<Pair (*)(Pair, Pair)>(&each<T, F, Pair>)>(table,
                                                              {op, modifier, name_of_type<Pair>()});
  else
    add<static_cast<Pair (*)(Pair, Pair, Pair)>(&each<T, F, Pair>)>(
        table, {op, modifier, name_of_type<Pair>()});
}

template <class T>
void add_type(FormTable &table) {
  for (const std::string_view rounding : {"", "rn"}) {
    add_both<T, &plus<T>>(table, "add", rounding);
    add_both<T, &minus<T>>(table, "sub", rounding);
    add_both<T, &times<T>>(table, "mul", rounding);
  }
  add_both<T, &fused<T>>(table, "fma", "rn");
  add_both<T, &fused_relu<T>>(table, "fma", "rn.relu");
  add_both<T, &negated<T>>(table, "neg", "");
  add_both<T, &absolute<T>>(table, "abs", "");
  add_both<T, &smaller<T>>(table, "min", "");
  add_both<T, &larger<T>>(table, "max", "");
  add_both<T, &smaller_or_nan<T>>(table, "min", "NaN");
  add_both<T, &larger_or_nan<T>>(table, "max", "NaN");
}

} // namespace

void add_halves(FormTable &table) {
  add_type<Half>(table);
  add_type<Brain>(table);
}

} // namespace WEFT_EMULATOR_LEVEL
