// Comparisons, and choices by them.
#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Instructions/Numbers.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

/// How the result of a comparison is combined with a predicate: the mode of setp.
enum Combination : std::uint32_t { kPlain, kAnd, kOr, kXor };

template <class T>
bool equal(T a, T b) {
  return a == b;
}
template <class T>
bool different(T a, T b) {
  return a < b || a > b; // of floats: neither is NaN
}
template <class T>
bool less(T a, T b) {
  return a < b;
}
template <class T>
bool at_most(T a, T b) {
  return a <= b;
}
template <class T>
bool greater(T a, T b) {
  return a > b;
}
template <class T>
bool at_least(T a, T b) {
  return a >= b;
}
// The unordered ones hold for NaNs.
template <class T>
bool equal_u(T a, T b) {
  return !(a < b || a > b);
}
template <class T>
bool different_u(T a, T b) {
  return !(a == b);
}
template <class T>
bool less_u(T a, T b) {
  return !(a >= b);
}
template <class T>
bool at_most_u(T a, T b) {
  return !(a > b);
}
template <class T>
bool greater_u(T a, T b) {
  return !(a <= b);
}
template <class T>
bool at_least_u(T a, T b) {
  return !(a < b);
}
template <class T>
bool numbers(T a, T b) {
  return a == a && b == b;
}
template <class T>
bool nan(T a, T b) {
  return a != a || b != b;
}

/// As numbers that C++ compares.
template <class T>
[[gnu::always_inline]] inline auto comparable(T x) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, Brain>) return widened(x);
  else return x;
}

template <auto F, class T>
void compare(Warp &warp, const Instruction &in, LaneMask mask) {
  const T *a = warp.lanes<T>(in.slots[2]), *b = warp.lanes<T>(in.slots[3]);
  const LaneMask found =
      mask_of([&](int lane) { return F(comparable(a[lane]), comparable(b[lane])); });
  if (in.mode == kPlain) {
    store_predicate(warp.predicate(in.slots[0]), mask, found);
    if (in.slots[1] != kNoSlot) store_predicate(warp.predicate(in.slots[1]), mask, ~found);
    return;
  }
  const LaneMask with = warp.predicate(in.slots[4]);
  const auto combined = [&](LaneMask holds) {
    return in.mode == kAnd ? holds & with : in.mode == kOr ? holds | with : holds ^ with;
  };
  const LaneMask p = combined(found), q = combined(~found);
  store_predicate(warp.predicate(in.slots[0]), mask, p);
  if (in.slots[1] != kNoSlot) store_predicate(warp.predicate(in.slots[1]), mask, q);
}

template <auto F, class T>
void add_comparison(FormTable &table, std::string_view name, std::string_view type) {
  constexpr char kLetter = letter_of<T>();
  // Comparisons of f16 and bf16 have no second result.
  constexpr char kResult = kLetter == 'e' ? 'O' : 'P';
  static constexpr char kSignature[] = {kResult, kLetter, kLetter, 0};
  static constexpr char kCombined[] = {kResult, kLetter, kLetter, 'p', 0};
  table.add({"setp", name, type}, &compare<F, T>, kSignature, kPlain);
  table.add({"setp", name, "and", type}, &compare<F, T>, kCombined, kAnd);
  table.add({"setp", name, "or", type}, &compare<F, T>, kCombined, kOr);
  table.add({"setp", name, "xor", type}, &compare<F, T>, kCombined, kXor);
}

template <class T>
void add_integers_of(FormTable &table, std::string_view type) {
  add_comparison<&equal<T>, T>(table, "eq", type);
  add_comparison<&different_u<T>, T>(table, "ne", type);
  if (type.front() == 'b') return;
  add_comparison<&less<T>, T>(table, "lt", type);
  add_comparison<&at_most<T>, T>(table, "le", type);
  add_comparison<&greater<T>, T>(table, "gt", type);
  add_comparison<&at_least<T>, T>(table, "ge", type);
  if (type.front() != 'u') return;
  add_comparison<&less<T>, T>(table, "lo", type);
  add_comparison<&at_most<T>, T>(table, "ls", type);
  add_comparison<&greater<T>, T>(table, "hi", type);
  add_comparison<&at_least<T>, T>(table, "hs", type);
}

template <class T>
void add_floats_of(FormTable &table) {
  using N = decltype(comparable(T{}));
  const std::string_view type = name_of_type<T>();
  add_comparison<&equal<N>, T>(table, "eq", type);
  add_comparison<&different<N>, T>(table, "ne", type);
  add_comparison<&less<N>, T>(table, "lt", type);
  add_comparison<&at_most<N>, T>(table, "le", type);
  add_comparison<&greater<N>, T>(table, "gt", type);
  add_comparison<&at_least<N>, T>(table, "ge", type);
  add_comparison<&equal_u<N>, T>(table, "equ", type);
  add_comparison<&different_u<N>, T>(table, "neu", type);
  add_comparison<&less_u<N>, T>(table, "ltu", type);
  add_comparison<&at_most_u<N>, T>(table, "leu", type);
  add_comparison<&greater_u<N>, T>(table, "gtu", type);
  add_comparison<&at_least_u<N>, T>(table, "geu", type);
  add_comparison<&numbers<N>, T>(table, "num", type);
  add_comparison<&nan<N>, T>(table, "nan", type);
}

template <class T>
T selected(T a, T b, bool chosen) {
  return chosen ? a : b;
}
template <class T>
void add_selection(FormTable &table, std::initializer_list<std::string_view> types) {
  for (const std::string_view type : types) add<&selected<T>>(table, {"selp", type});
}

/// slct: a where c is not negative.
template <class T, class C>
T chosen_by_sign(T a, T b, C c) {
  return c >= 0 ? a : b;
}

} // namespace

void add_comparisons(FormTable &table) {
  add_integers_of<std::uint16_t>(table, "b16");
  add_integers_of<std::uint32_t>(table, "b32");
  add_integers_of<std::uint64_t>(table, "b64");
  add_integers_of<std::uint16_t>(table, "u16");
  add_integers_of<std::uint32_t>(table, "u32");
  add_integers_of<std::uint64_t>(table, "u64");
  add_integers_of<std::int16_t>(table, "s16");
  add_integers_of<std::int32_t>(table, "s32");
  add_integers_of<std::int64_t>(table, "s64");
  add_floats_of<float>(table);
  add_floats_of<double>(table);
  add_floats_of<Half>(table);
  add_floats_of<Brain>(table);
  add_selection<std::uint16_t>(table, {"b16", "u16", "s16"});
  add_selection<std::uint32_t>(table, {"b32", "u32", "s32"});
  add_selection<std::uint64_t>(table, {"b64", "u64", "s64"});
  add_selection<float>(table, {"f32"});
  add_selection<double>(table, {"f64"});
  for (const std::string_view type : {"b32", "u32", "s32"})
    add<&chosen_by_sign<std::uint32_t, std::int32_t>>(table, {"slct", type, "s32"});
  for (const std::string_view type : {"b64", "u64", "s64"})
    add<&chosen_by_sign<std::uint64_t, std::int32_t>>(table, {"slct", type, "s32"});
  add<&chosen_by_sign<float, std::int32_t>>(table, {"slct", "f32", "s32"});
  add<&chosen_by_sign<double, std::int32_t>>(table, {"slct", "f64", "s32"});
}

} // namespace WEFT_EMULATOR_LEVEL
