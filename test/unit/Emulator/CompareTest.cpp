// Comparisons with all operators, their combinations with a predicate, and selections.
#include "Evaluate.h"
#include "Exact.h"

#include <functional>

namespace weft::emulator {
namespace {

/// An operator as the manual's table has it: which of <, = and > it holds for, and whether for NaN.
struct Operator {
  const char *name;
  bool less, equal, greater, unordered;
};
constexpr Operator kFloats[] = {
    {"eq", false, true, false, false}, {"ne", true, false, true, false},
    {"lt", true, false, false, false}, {"le", true, true, false, false},
    {"gt", false, false, true, false}, {"ge", false, true, true, false},
    {"equ", false, true, false, true}, {"neu", true, false, true, true},
    {"ltu", true, false, false, true}, {"leu", true, true, false, true},
    {"gtu", false, false, true, true}, {"geu", false, true, true, true},
    {"num", true, true, true, false},  {"nan", false, false, false, true}};
constexpr Operator kUnsigned[] = {{"lo", true, false, false, false},
                                  {"ls", true, true, false, false},
                                  {"hi", false, false, true, false},
                                  {"hs", false, true, true, false}};

template <class N>
bool holds(const Operator &op, N a, N b) {
  if (a < b) return op.less;
  if (a == b) return op.equal;
  return a > b ? op.greater : op.unordered;
}

/// setp with one result and, but for halves, two; alone and combined with a predicate.
template <class T, class Compare>
void expect_comparison(const std::string &op, const std::string &type, const Compare &compare) {
  expect_form<bool(T, T)>("setp." + op + "." + type, compare);
  const std::pair<const char *, std::function<bool(bool, bool)>> combinations[] = {
      {"and", std::logical_and<bool>()},
      {"or", std::logical_or<bool>()},
      {"xor", std::not_equal_to<bool>()}};
  for (const auto &[name, combine] : combinations) {
    const std::string form = "setp." + op + "." + name + "." + type;
    expect_form<bool(T, T, bool)>(
        form, [&, &with = combine](T a, T b, bool c) { return with(compare(a, b), c); });
    note_tested(form);
  }
  if (type.ends_with("f16")) return;
  const std::string two =
      "{ .reg .pred %o;\nsetp." + op + "." + type + " %o|%d, %a, %b;\n}\n mov.pred";
  expect_form<bool(T, T)>(two, [&](T a, T b) { return !compare(a, b); }, "%d, %d");
  const std::string combined =
      "{ .reg .pred %o;\nsetp." + op + ".and." + type + " %o|%d, %a, %b, !%c;\n}\n mov.pred";
  expect_form<bool(T, T, bool)>(
      combined, [&](T a, T b, bool c) { return !compare(a, b) && !c; }, "%d, %d");
}

template <class T>
void expect_integers(const std::string &type) {
  for (const Operator &op : kFloats) {
    const std::string name = op.name;
    if (name.size() > 2 || (type[0] == 'b' && name != "eq" && name != "ne")) continue;
    expect_comparison<T>(name, type, [&](T a, T b) { return holds(op, a, b); });
  }
  if (type[0] == 'u')
    for (const Operator &op : kUnsigned)
      expect_comparison<T>(op.name, type, [&](T a, T b) { return holds(op, a, b); });
}

TEST(Compare, Integers16) {
  expect_integers<std::uint16_t>("b16");
  expect_integers<std::uint16_t>("u16");
  expect_integers<std::int16_t>("s16");
}
TEST(Compare, Integers32) {
  expect_integers<std::uint32_t>("b32");
  expect_integers<std::uint32_t>("u32");
  expect_integers<std::int32_t>("s32");
}
TEST(Compare, Integers64) {
  expect_integers<std::uint64_t>("b64");
  expect_integers<std::uint64_t>("u64");
  expect_integers<std::int64_t>("s64");
}

TEST(Compare, Floats) {
  for (const Operator &op : kFloats) {
    expect_comparison<float>(op.name, "f32", [&](float a, float b) { return holds(op, a, b); });
    expect_comparison<double>(op.name, "f64", [&](double a, double b) { return holds(op, a, b); });
  }
}

TEST(Compare, HalfFloats) {
  for (const auto &[type, format] : {std::pair("f16", kF16), {"bf16", kBf16}}) {
    const auto number = [&format = format](std::uint16_t bits) {
      const std::uint16_t magnitude = bits & 0x7fff;
      if (magnitude > infinity_of(format)) return std::numeric_limits<double>::quiet_NaN();
      return static_cast<double>(value_of_bits(bits, format)); // infinity is beyond all others
    };
    for (const Operator &op : kFloats)
      expect_comparison<std::uint16_t>(op.name, type, [&](std::uint16_t a, std::uint16_t b) {
        return holds(op, number(a), number(b));
      });
  }
}

template <class T>
void expect_selection(std::initializer_list<const char *> types) {
  for (const std::string type : types) {
    expect_form<T(T, T, bool)>("selp." + type, [](T a, T b, bool c) { return c ? a : b; });
    expect_form<T(T, T, bool)>(
        "selp." + type, [](T a, T b, bool c) { return c ? b : a; }, "%d, %a, %b, !%c");
    if (sizeof(T) > 2)
      expect_form<T(T, T, std::int32_t)>("slct." + type + ".s32",
                                         [](T a, T b, std::int32_t c) { return c >= 0 ? a : b; });
  }
}
TEST(Compare, Selections) {
  expect_selection<std::uint16_t>({"b16", "u16", "s16"});
  expect_selection<std::uint32_t>({"b32", "u32", "s32", "f32"});
  expect_selection<std::uint64_t>({"b64", "u64", "s64", "f64"});
  for (const std::string type : {"b16", "u16", "s16"}) note_tested("slct." + type + ".s32");
}

} // namespace
} // namespace weft::emulator
