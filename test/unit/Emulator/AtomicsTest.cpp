// Atomics of all types on global, shared and generic addresses.
#include "Evaluate.h"
#include "Exact.h"

#include <functional>

namespace weft::emulator {
namespace {

Shape shape_of(std::uint32_t blocks, std::uint32_t threads) {
  Shape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  return shape;
}

/// One thread changes a number and stores what it was; the new number and the old one.
struct Changed {
  std::uint64_t now, before;
};
Changed change(const std::string &op, const std::string &type, std::uint64_t old, std::uint64_t b,
               std::uint64_t c, const std::string &space, bool has_result) {
  TestDevice device;
  const int bits =
      type.ends_with("x2") ? 32 : std::stoi(type.substr(type.find_first_of("0123456789")));
  const std::string reg = "b" + std::to_string(bits);
  const std::uint64_t to = device.put(std::vector<std::uint64_t>(2));
  std::string form =
      (has_result ? "atom" : "red") + (space.empty() ? "" : "." + space) + "." + op + "." + type;
  form += has_result ? " %o, [%a]" : " [%a]";
  form += ", %b" + std::string(op == "cas" ? ", %c" : "");
  const auto value = [&](const std::string &name, std::uint64_t x) {
    return bits == 16 ? "{ .reg .b32 %w;\nmov.b32 %w, " + std::to_string(x) + ";\ncvt.u16.u32 " +
                            name + ", %w;\n}\n"
                      : "mov." + reg + " " + name + ", " +
                            std::to_string(static_cast<std::int64_t>(x)) + ";\n";
  };
  const std::string body =
      ".reg .b64 %x, %a;\n.reg ." + reg +
      " %o, %b, %c, %n;\n.shared .align 8 .b8 room[8];\nld.param.u64 %x, [p0];\n" +
      value("%n", old) + value("%b", b) + value("%c", c) + "mov." + reg + " %o, %b;\n" +
      (space == "global" ? "mov.u64 %a, %x;\n"
       : space.empty()   ? "mov.u64 %a, room;\ncvta.shared.u64 %a, %a;\n"
                         : "mov.u64 %a, room;\n") +
      "st" + (space.empty() ? "" : "." + space) + "." + reg + " [%a], %n;\n" + form + ";\nld" +
      (space.empty() ? "" : "." + space) + "." + reg + " %n, [%a];\nst.global." + reg +
      " [%x], %n;\nst.global." + reg + " [%x+8], %o;\nret;\n";
  const auto launch = device.run(kernel_text(1, body), shape_of(1, 1), {to});
  EXPECT_EQ(reports_of(*launch), "") << form;
  const auto results = device.get<std::uint64_t>(to);
  return {results[0], results[1]};
}

/// All combinations of a few values.
void expect_atomic(const std::string &op, const std::string &type,
                   const std::vector<std::uint64_t> &values,
                   const std::function<std::uint64_t(std::uint64_t old, std::uint64_t b,
                                                     std::uint64_t c)> &reference) {
  for (const std::uint64_t old : values)
    for (const std::uint64_t b : values) {
      const std::uint64_t c = old ^ values.back();
      for (const std::string space : {"global", "shared", ""}) {
        const Changed found = change(op, type, old, b, c, space, true);
        ASSERT_EQ(found.now, reference(old, b, c))
            << op << "." << type << " of " << std::hex << old << " " << b;
        ASSERT_EQ(found.before, old) << op << "." << type;
      }
      if (op != "exch" && op != "cas") {
        ASSERT_EQ(change(op, type, old, b, c, "global", false).now, reference(old, b, c));
      }
    }
}

template <class T>
std::uint64_t as_bits(T x) {
  return bits_of(x);
}

template <class T>
void expect_whole(const std::string &type) {
  const std::vector<std::uint64_t> values = {0,
                                             1,
                                             as_bits(std::numeric_limits<T>::max()),
                                             as_bits(std::numeric_limits<T>::min()),
                                             as_bits(static_cast<T>(-7)),
                                             1000};
  expect_atomic("min", type, values, [](auto old, auto b, auto) {
    return as_bits(std::min(value_of<T>(old), value_of<T>(b)));
  });
  expect_atomic("max", type, values, [](auto old, auto b, auto) {
    return as_bits(std::max(value_of<T>(old), value_of<T>(b)));
  });
  if (type == "s64") return; // there is no such sum
  expect_atomic("add", type, values, [](auto old, auto b, auto) {
    return as_bits(static_cast<T>(static_cast<std::uint64_t>(value_of<T>(old)) +
                                  static_cast<std::uint64_t>(value_of<T>(b))));
  });
}
TEST(Atomics, SumsAndLimitsOfWholeNumbers) {
  expect_whole<std::uint32_t>("u32");
  expect_whole<std::int32_t>("s32");
  expect_whole<std::uint64_t>("u64");
  expect_whole<std::int64_t>("s64");
}

TEST(Atomics, Bits) {
  for (const std::string type : {"b32", "b64"}) {
    const std::vector<std::uint64_t> values = {0, 0x5555, 0xffff0f0f, 0x12345678};
    expect_atomic("and", type, values, [](auto old, auto b, auto) { return old & b; });
    expect_atomic("or", type, values, [](auto old, auto b, auto) { return old | b; });
    expect_atomic("xor", type, values, [](auto old, auto b, auto) { return old ^ b; });
    expect_atomic("exch", type, values, [](auto, auto b, auto) { return b; });
    expect_atomic("cas", type, values, [](auto old, auto b, auto c) { return old == b ? c : old; });
  }
  expect_atomic("cas", "b16", {0, 0x5555, 0xff0f},
                [](auto old, auto b, auto c) { return old == b ? c : old; });
}

TEST(Atomics, CountersComeAround) {
  const std::vector<std::uint64_t> values = {0, 1, 2, 7, 0xffffffff};
  expect_atomic("inc", "u32", values,
                [](auto old, auto b, auto) { return old >= b ? 0 : old + 1; });
  expect_atomic("dec", "u32", values,
                [](auto old, auto b, auto) { return old == 0 || old > b ? b : old - 1; });
}

TEST(Atomics, SumsOfFloatsAreRoundedOnce) {
  const auto floats = [](const Format &format) {
    const std::uint64_t one = static_cast<std::uint64_t>(bias_of(format)) << format.mantissa;
    return std::vector<std::uint64_t>{0,
                                      sign_of(format),
                                      one,
                                      one + 1,
                                      one | sign_of(format),
                                      1,
                                      infinity_of(format) - 1,
                                      infinity_of(format),
                                      infinity_of(format) | sign_of(format),
                                      format.nan};
  };
  const auto sum = [](const Format &format, std::uint64_t a, std::uint64_t b) -> std::uint64_t {
    const auto magnitude = [&](std::uint64_t x) { return x & (sign_of(format) - 1); };
    const std::uint64_t infinity = infinity_of(format);
    if (magnitude(a) > infinity || magnitude(b) > infinity) return format.nan;
    if (magnitude(a) == infinity) return magnitude(b) == infinity && a != b ? format.nan : a;
    if (magnitude(b) == infinity) return b;
    const Exact exact = exact_sum(value_of_bits(a, format), value_of_bits(b, format));
    return rounded({exact.value, exact.rest, (a & b & sign_of(format)) != 0}, format,
                   Mode::nearest);
  };
  for (const auto &[op, type, format] : {std::tuple("add", "f32", kF32),
                                         {"add", "f64", kF64},
                                         {"add.noftz", "f16", kF16},
                                         {"add.noftz", "bf16", kBf16}})
    expect_atomic(op, type, floats(format),
                  [&, &format = format](auto old, auto b, auto) { return sum(format, old, b); });
  for (const auto &[type, format] : {std::pair("f16x2", kF16), {"bf16x2", kBf16}}) {
    std::vector<std::uint64_t> pairs;
    const auto singles = floats(format);
    for (std::size_t i = 0; i < singles.size(); ++i)
      pairs.push_back(singles[i] | singles[(i * 3 + 1) % singles.size()] << 16);
    expect_atomic("add.noftz", type, pairs, [&, &format = format](auto old, auto b, auto) {
      return sum(format, old & 0xffff, b & 0xffff) | sum(format, old >> 16, b >> 16) << 16;
    });
  }
}

TEST(Atomics, ManyThreadsOfManyBlocksLoseNothing) {
  for (const std::string modifiers : {"", ".relaxed.gpu", ".acq_rel.sys", ".gpu"}) {
    TestDevice device;
    const std::uint64_t to = device.put(std::vector<std::uint32_t>(4));
    const std::string body =
        ".reg .b64 %x;\n.reg .b32 %t;\nld.param.u64 %x, [p0];\nmov.u32 %t, %tid.x;\n"
        "red" +
        modifiers +
        ".global.add.u32 [%x], 1;\nred.global.max.u32 [%x+4], %t;\n"
        "atom" +
        modifiers + ".global.add.u32 _, [%x+8], %t;\nret;\n";
    const auto launch = device.run(kernel_text(1, body), shape_of(300, 96), {to});
    EXPECT_EQ(reports_of(*launch), "");
    EXPECT_EQ(device.get<std::uint32_t>(to),
              (std::vector<std::uint32_t>{300 * 96, 95, 300 * (95 * 96 / 2), 0}));
    EXPECT_EQ(launch->counters.atomics, 300U * 96 * 3);
  }
}

} // namespace
} // namespace weft::emulator
