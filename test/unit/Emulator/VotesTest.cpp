// Shuffles, votes, matches and reductions, against the manual's definitions lane by lane.
#include "Evaluate.h"

#include <functional>
#include <set>

namespace weft::emulator {
namespace {

using U32 = std::uint32_t;

/// Values of 32 lanes, the same in each group of a few.
std::vector<std::uint64_t> lanes(U32 period = 32, std::uint64_t factor = 0x9e3779b1) {
  std::vector<std::uint64_t> values;
  for (U32 lane = 0; lane < 32; ++lane) values.push_back((lane % period + 1) * factor);
  return values;
}
std::vector<std::uint64_t> cut(std::vector<std::uint64_t> values) {
  for (std::uint64_t &value : values) value &= 0xffffffff;
  return values;
}

struct Shuffled {
  U32 from;
  bool in_range;
};
Shuffled shuffled(const std::string &mode, U32 lane, U32 b, U32 c) {
  const U32 by = b & 31, clamp = c & 31, segment = c >> 8 & 31;
  const int most = static_cast<int>((lane & segment) | (clamp & ~segment));
  int j = 0;
  bool p = false;
  if (mode == "up") j = static_cast<int>(lane) - static_cast<int>(by), p = j >= most;
  if (mode == "down") j = static_cast<int>(lane + by), p = j <= most;
  if (mode == "bfly") j = static_cast<int>(lane ^ by), p = j <= most;
  if (mode == "idx") j = static_cast<int>((lane & segment) | (by & ~segment)), p = j <= most;
  return {p ? static_cast<U32>(j) : lane, p};
}

TEST(Votes, Shuffles) {
  const auto a = cut(lanes());
  for (const std::string mode : {"up", "down", "bfly", "idx"})
    for (const U32 c : {0x1fU, 0U, 0x181fU, 0x1c07U, 0x1c00U, 0x0fU})
      for (const U32 b : {0U, 1U, 2U, 5U, 16U, 31U, 33U}) {
        const std::string form = "shfl.sync." + mode + ".b32";
        const std::string rest = ", %a, " + std::to_string(b) + ", " + std::to_string(c) + ", -1";
        const auto found = evaluate(form, 32, {{32, a}}, "%d" + rest);
        const auto in_range =
            evaluate("{ .reg .b32 %o;\n" + form + " %o|%d" + rest + ";\n}\nmov.pred", 1, {{32, a}},
                     "%d, %d");
        for (U32 lane = 0; lane < 32; ++lane) {
          const Shuffled expected = shuffled(mode, lane, b, c);
          ASSERT_EQ(found[lane], a[expected.from]) << form << rest << " lane " << lane;
          ASSERT_EQ(in_range[lane], expected.in_range) << form << rest << " lane " << lane;
        }
      }
}

TEST(Votes, EachLaneMayChooseItsOwnSource) {
  const auto a = cut(lanes());
  std::vector<std::uint64_t> from;
  for (U32 lane = 0; lane < 32; ++lane) from.push_back((lane * 7 + 3) % 32);
  const auto found = evaluate("shfl.sync.idx.b32", 32, {{32, a}, {32, from}}, "%d, %a, %b, 31, -1");
  for (U32 lane = 0; lane < 32; ++lane) EXPECT_EQ(found[lane], a[from[lane]]);
}

/// Halves of a warp take part in turn, each with its own mask, in code where they diverge and where
/// they do not.
const std::string kHalves =
    "{ .reg .b32 %m;\n.reg .pred %h;\nmov.u32 %m, %laneid;\nsetp.lt.u32 %h, %m, 16;\n"
    "selp.b32 %m, 0xffff, 0xffff0000, %h;\n";

TEST(Votes, MasksSayWhoTakesPart) {
  const auto a = cut(lanes());
  const auto one = evaluate(kHalves + "shfl.sync.bfly.b32 %d, %a, 1, 31, %m;\n}\nmov.b32", 32,
                            {{32, a}}, "%d, %d");
  const auto two =
      evaluate(kHalves + "@%h bra A;\nshfl.sync.bfly.b32 %d, %a, 1, 31, 0xffff0000;\nbra B;\n"
                         "A: shfl.sync.bfly.b32 %d, %a, 1, 31, 0xffff;\nB:\n}\nmov.b32",
               32, {{32, a}}, "%d, %d");
  for (U32 lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(one[lane], a[lane ^ 1]);
    EXPECT_EQ(two[lane], a[lane ^ 1]);
  }
  const auto ballots = evaluate(kHalves + "vote.sync.ballot.b32 %d, %a, %m;\n}\nmov.b32", 32,
                                {{1, std::vector<std::uint64_t>(32, 1)}}, "%d, %d");
  EXPECT_EQ(ballots[3], 0xffffU);
  EXPECT_EQ(ballots[30], 0xffff0000U);
}

// Lanes that come later are waited for.
TEST(Votes, LanesOfAMaskMeet) {
  const auto a = cut(lanes());
  const auto found = evaluate(
      "{ .reg .b32 %m;\n.reg .pred %h;\nmov.u32 %m, %laneid;\nsetp.lt.u32 %h, %m, 16;\n"
      "@%h bra A;\nadd.u32 %m, %m, 1;\nA: shfl.sync.bfly.b32 %d, %a, 16, 31, -1;\n}\nmov.b32",
      32, {{32, a}}, "%d, %d");
  for (U32 lane = 0; lane < 32; ++lane) EXPECT_EQ(found[lane], a[lane ^ 16]);
}

std::string complaint_of(const std::string &body) {
  TestDevice device;
  Shape shape;
  shape.block[0] = 32;
  const std::string head =
      ".reg .b32 %t, %r<4>;\n.reg .pred %p<4>;\nmov.u32 %t, %tid.x;\nsetp.lt.u32 %p0, %t, 7;\n";
  return reports_of(*device.run(kernel_text(0, head + body + "ret;"), shape, {}));
}

TEST(Votes, LanesThatAreNotThere) {
  EXPECT_NE(
      complaint_of("@%p0 exit;\nshfl.sync.bfly.b32 %r0, %t, 1, 31, -1;\n").find("which has exited"),
      std::string::npos);
  EXPECT_NE(complaint_of("@%p0 bra A;\nshfl.sync.bfly.b32 %r0, %t, 1, 31, -1;\nbra E;\nA: "
                         "bar.warp.sync 0x3ff;\nE:\n")
                .find("must come to the same instruction"),
            std::string::npos);
  EXPECT_NE(complaint_of("shfl.sync.bfly.b32 %r0, %t, 1, 31, 0xff;\n").find("not in its own mask"),
            std::string::npos);
  EXPECT_NE(complaint_of("bar.warp.sync 0xff;\n").find("not in its own mask"), std::string::npos);
  EXPECT_EQ(
      complaint_of("@%p0 shfl.sync.bfly.b32 %r0, %t, 1, 31, 0x7f;\n@%p0 bar.warp.sync 127;\n"), "");
  note_tested("bar.warp.sync");
}

// What a lane holds that takes no part is not to be relied on: it differs with the seed.
TEST(Votes, LanesOutsideOfTheMaskCannotBeRead) {
  std::set<std::uint32_t> values;
  for (const std::uint64_t seed : {1, 2}) {
    TestDevice device;
    device.schedule.seed = seed;
    Shape shape;
    shape.block[0] = 32;
    const std::uint64_t to = device.put(std::vector<U32>(32));
    device.run(
        kernel_text(
            1,
            ".reg .b32 %t, %r0;\n.reg .pred %p;\n.reg .b64 %x;\nmov.u32 %t, %tid.x;\nld.param.u64 "
            "%x, [p0];\n"
            "mad.wide.u32 %x, %t, 4, %x;\nsetp.lt.u32 %p, %t, 7;\n"
            "@%p shfl.sync.idx.b32 %r0, %t, 20, 31, 0x7f;\n@%p st.global.b32 [%x], %r0;\nret;\n"),
        shape, {to});
    values.insert(device.get<U32>(to)[0]);
  }
  EXPECT_EQ(values.size(), 2U);
}

TEST(Votes, VotesOfPredicates) {
  for (int kind = 0; kind < 3; ++kind) { // nobody, some, all
    std::vector<std::uint64_t> values(32);
    for (U32 lane = 0; lane < 32; ++lane) values[lane] = kind == 2 || (kind == 1 && lane % 3 == 0);
    const auto expect = [&](const std::string &form, std::uint64_t plain, std::uint64_t negated) {
      const int bits = form.ends_with("pred") ? 1 : 32;
      EXPECT_EQ(evaluate(form, bits, {{1, values}}, "%d, %a, -1"),
                std::vector<std::uint64_t>(32, plain))
          << form;
      EXPECT_EQ(evaluate(form, bits, {{1, values}}, "%d, !%a, -1"),
                std::vector<std::uint64_t>(32, negated))
          << form;
    };
    U32 ballot = 0;
    for (U32 lane = 0; lane < 32; ++lane) ballot |= static_cast<U32>(values[lane]) << lane;
    expect("vote.sync.all.pred", kind == 2, kind == 0);
    expect("vote.sync.any.pred", kind > 0, kind < 2);
    expect("vote.sync.uni.pred", kind != 1, kind != 1);
    expect("vote.sync.ballot.b32", ballot, ~ballot);
  }
}

TEST(Votes, Matches) {
  for (const U32 period : {1U, 3U, 32U})
    for (const bool wide : {false, true}) {
      const auto a = wide ? lanes(period, 0x9e3779b97f4a7c15) : cut(lanes(period));
      const std::string type = wide ? "b64" : "b32";
      const auto any = evaluate("match.any.sync." + type, 32, {{wide ? 64 : 32, a}}, "%d, %a, -1");
      const auto all = evaluate("match.all.sync." + type, 32, {{wide ? 64 : 32, a}}, "%d, %a, -1");
      const auto held =
          evaluate("{ .reg .b32 %o;\nmatch.all.sync." + type + " %o|%d, %a, -1;\n}\nmov.pred", 1,
                   {{wide ? 64 : 32, a}}, "%d, %d");
      for (U32 lane = 0; lane < 32; ++lane) {
        U32 same = 0;
        for (U32 other = 0; other < 32; ++other)
          same |= static_cast<U32>(a[other] == a[lane]) << other;
        EXPECT_EQ(any[lane], same);
        EXPECT_EQ(all[lane], period == 1 ? 0xffffffffU : 0U);
        EXPECT_EQ(held[lane], period == 1 ? 1U : 0U);
      }
    }
}

template <class T>
void expect_reduction(const std::string &form, const std::function<T(T, T)> &combine) {
  const auto a = cut(lanes());
  for (const U32 mask : {0xffffffffU, 0x00ff00f0U}) {
    const std::string body =
        "{ .reg .b32 %m;\n.reg .pred %h;\nmov.u32 %m, %lanemask_eq;\nand.b32 %m, %m, " +
        std::to_string(mask) + ";\nsetp.ne.u32 %h, %m, 0;\nmov.b32 %d, 0;\n@%h " + form +
        " %d, %a, " + std::to_string(mask) + ";\n}\nmov.b32";
    const auto found = evaluate(body, 32, {{32, a}}, "%d, %d");
    bool first = true;
    T expected = 0;
    for (U32 lane = 0; lane < 32; ++lane)
      if ((mask >> lane & 1) != 0) {
        expected = first ? static_cast<T>(a[lane]) : combine(expected, static_cast<T>(a[lane]));
        first = false;
      }
    for (U32 lane = 0; lane < 32; ++lane)
      EXPECT_EQ(found[lane], (mask >> lane & 1) != 0 ? static_cast<U32>(expected) : 0U) << form;
  }
  note_tested(form);
}
TEST(Votes, Reductions) {
  using I32 = std::int32_t;
  expect_reduction<U32>("redux.sync.add.u32", [](U32 x, U32 y) { return x + y; });
  expect_reduction<I32>("redux.sync.add.s32", [](I32 x, I32 y) {
    return static_cast<I32>(static_cast<U32>(x) + static_cast<U32>(y));
  });
  expect_reduction<U32>("redux.sync.min.u32", [](U32 x, U32 y) { return std::min(x, y); });
  expect_reduction<I32>("redux.sync.min.s32", [](I32 x, I32 y) { return std::min(x, y); });
  expect_reduction<U32>("redux.sync.max.u32", [](U32 x, U32 y) { return std::max(x, y); });
  expect_reduction<I32>("redux.sync.max.s32", [](I32 x, I32 y) { return std::max(x, y); });
  expect_reduction<U32>("redux.sync.and.b32", std::bit_and<U32>());
  expect_reduction<U32>("redux.sync.or.b32", std::bit_or<U32>());
  expect_reduction<U32>("redux.sync.xor.b32", std::bit_xor<U32>());
}

TEST(Votes, ActiveLanesAndALeader) {
  const auto active =
      evaluate("{ .reg .b32 %m;\n.reg .pred %h;\nmov.u32 %m, %laneid;\nsetp.lt.u32 %h, %m, 5;\n"
               "@!%h bra A;\nactivemask.b32 %d;\nbra B;\nA: mov.b32 %d, 0;\nB:\n}\nmov.b32",
               32, {}, "%d, %d");
  EXPECT_EQ(active[4], 0x1fU);
  EXPECT_EQ(active[5], 0U);
  note_tested("activemask.b32");
  const auto leader =
      evaluate("{ .reg .b32 %m;\n.reg .pred %h, %l;\nmov.u32 %m, %laneid;\nsetp.gt.u32 %h, %m, "
               "5;\nmov.b32 %d, 77;\n"
               "@%h elect.sync %d|%l, 0xffffffc0;\n@%l add.u32 %d, %d, 100;\n}\nmov.b32",
               32, {}, "%d, %d");
  EXPECT_EQ(leader[5], 77U);
  EXPECT_EQ(leader[6], 106U);
  EXPECT_EQ(leader[31], 6U);
  note_tested("elect.sync");
}

} // namespace
} // namespace weft::emulator
