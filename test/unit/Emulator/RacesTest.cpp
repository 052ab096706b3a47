// Races: planted ones that are found, and what only looks like one.
#include "TestDevice.h"

namespace weft::emulator {
namespace {

Shape shape_of(std::uint32_t blocks, std::uint32_t threads) {
  Shape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  return shape;
}

const std::string kHead =
    ".reg .b64 %x, %y, %d<9>;\n.reg .b32 %t, %i, %b, %r<20>;\n.reg .b16 %h<4>;\n.reg .pred %p<9>;\n"
    ".shared .align 16 .b8 room[4096];\nmov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\nmov.u32 %r19, "
    "%ntid.x;\n"
    "mad.lo.u32 %i, %b, %r19, %t;\nld.param.u64 %x, [p0];\nmad.wide.u32 %y, %i, 4, %x;\n"
    "mov.u32 %r9, room;\nmad.lo.u32 %r9, %t, 4, %r9;\n";

/// What is reported of a body that may use %x, an array of zeros; %y, the element of this thread;
/// and %r9, its word of shared memory. Whatever the seed and the schedule, it is found or not.
std::string races_in(const std::string &body, std::uint32_t blocks = 1,
                     std::uint32_t threads = 64) {
  std::string found;
  for (const std::uint64_t seed : {0, 1, 2}) {
    TestDevice device;
    device.schedule.seed = seed;
    device.schedule.stress = seed != 0;
    const std::uint64_t array = device.put(std::vector<std::uint32_t>(4096));
    const auto launch =
        device.run(kernel_text(1, kHead + body + "ret;\n"), shape_of(blocks, threads), {array});
    std::string races; // with them there may be reads of what was not written yet
    for (const Report &report : launch->reports)
      if (report.kind == FaultKind::race) races += report.text + "\n";
    if (seed != 0) EXPECT_EQ(found.empty(), races.empty()) << found << races;
    found = races;
  }
  return found;
}

TEST(Races, ARemovedBarrierIsNamed) {
  const std::string store = "st.shared.u32 [%r9], %t;\n",
                    load = "xor.b32 %r1, %t, 32;\nmov.u32 %r2, room;\n"
                           "mad.lo.u32 %r2, %r1, 4, %r2;\nld.shared.u32 %r3, [%r2];\n";
  EXPECT_EQ(races_in(store + "bar.sync 0;\n" + load), "");
  const std::string text = races_in(store + "mov.u32 %r1, %t;\n" + load);
  EXPECT_NE(text.find("race: "), std::string::npos);
  EXPECT_NE(text.find("nothing orders the two"), std::string::npos) << text;
}

TEST(Races, OneBarrierIsNotEnoughForALoop) {
  // Every round needs two: one before others read, one before the next store.
  const auto rounds = [](const std::string &second) {
    return "mov.u32 %r5, 0;\nL:\nadd.u32 %r6, %t, %r5;\nst.shared.u32 [%r9], %r6;\nbar.sync "
           "0;\nxor.b32 %r1, %t, 32;\nmov.u32 %r2, room;\n"
           "mad.lo.u32 %r2, %r1, 4, %r2;\nld.shared.u32 %r3, [%r2];\n" +
           second + "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p0, %r5, 3;\n@%p0 bra L;\n";
  };
  EXPECT_EQ(races_in(rounds("bar.sync 0;\n")), "");
  EXPECT_NE(races_in(rounds("")), "");
}

TEST(Races, LanesOfAWarpAreOrderedByBarWarpSyncOnly) {
  const std::string store = "st.shared.u32 [%r9], %t;\n",
                    load = "xor.b32 %r1, %t, 1;\nmov.u32 %r2, room;\n"
                           "mad.lo.u32 %r2, %r1, 4, %r2;\nld.shared.u32 %r3, [%r2];\n";
  EXPECT_EQ(races_in(store + "bar.warp.sync -1;\n" + load), "");
  EXPECT_NE(races_in(store + load), "");
  EXPECT_NE(races_in(store + "shfl.sync.bfly.b32 %r7, %t, 1, 31, -1;\n" + load), "");
}

TEST(Races, OtherBlocksAreNeverOrdered) {
  const std::string other = "xor.b32 %r1, %i, 64;\nmad.wide.u32 %d0, %r1, 4, %x;\n";
  EXPECT_NE(races_in(other + "st.global.u32 [%y], 7;\nbar.sync 0;\nld.global.u32 %r2, [%d0];\n", 2),
            "");
  EXPECT_NE(races_in("st.global.u32 [%x], %b;\n", 3, 1), "") << "of different values";
  EXPECT_EQ(
      races_in("ld.global.u32 %r2, [%x];\nld.global.u32 %r2, [%d0];\n" + std::string(""), 1, 1)
          .find("race"),
      std::string::npos);
  EXPECT_EQ(races_in("ld.global.u32 %r2, [%x];\nst.global.u32 [%y+512], %r2;\n", 2), "");
}

// An update in place reads what other threads write.
TEST(Races, AProductInPlace) {
  const std::string neighbour = "add.u32 %r1, %i, 1;\nmad.wide.u32 %d0, %r1, 4, %x;\nld.global.u32 "
                                "%r2, [%d0];\nadd.u32 %r2, %r2, 3;\n";
  EXPECT_NE(races_in(neighbour + "st.global.u32 [%y], %r2;\n", 4), "");
  EXPECT_EQ(races_in(neighbour + "st.global.u32 [%y+8192], %r2;\n", 4), "");
}

TEST(Races, EqualValuesAreNone) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "host threads are so slow here that both find the value of before";
#endif
  EXPECT_EQ(races_in("st.global.u32 [%x], 7;\n", 4), "");
  EXPECT_EQ(races_in("st.shared.u32 [room], 7;\n"), "");
  // But who reads them without a barrier may come first.
  EXPECT_NE(races_in("st.global.u32 [%x], 7;\nld.global.u32 %r1, [%x];\n", 4), "");
  // A store of what was there before changes nothing for anybody.
  EXPECT_EQ(races_in("st.global.u32 [%x], 0;\nld.global.u32 %r1, [%x];\n", 4), "");
}

TEST(Races, AtomicsAreOrderedAmongThemselves) {
  EXPECT_EQ(races_in("red.global.add.u32 [%x], 1;\n", 4), "");
  EXPECT_EQ(races_in("red.global.add.u32 [%x], 1;\nld.relaxed.gpu.global.u32 %r1, [%x];\n", 4), "");
  EXPECT_NE(races_in("red.global.add.u32 [%x], 1;\nld.global.u32 %r1, [%x];\n", 4), "");
  EXPECT_NE(races_in("setp.eq.u32 %p0, %i, 9;\n@!%p0 red.global.add.u32 [%x], 1;\n@%p0 "
                     "st.global.u32 [%x], 5;\n",
                     4),
            "");
  EXPECT_EQ(races_in("red.shared.add.u32 [room+1024], 1;\n").find("race"), std::string::npos);
}

TEST(Races, NeighbouringBytesAreNone) {
  const std::string mine = "cvt.u64.u32 %d0, %i;\nadd.u64 %d0, %d0, %x;\n";
  EXPECT_EQ(
      races_in(mine + "cvt.u16.u32 %h0, %i;\nst.global.b8 [%d0], %h0;\nld.global.b8 %h1, [%d0];\n",
               4),
      "");
  const std::string next = mine + "cvt.u16.u32 %h0, %i;\nadd.u16 %h0, %h0, 1;\nst.global.b8 [%d0], "
                                  "%h0;\nld.global.b8 %h1, [%d0+1];\n";
  EXPECT_NE(races_in(next, 4), "");
  // Words first, which are noted as wholes, then bytes.
  EXPECT_EQ(races_in("st.global.u32 [%y], %i;\nmov.u64 %d0, %y;\nld.global.b8 %h0, "
                     "[%d0+1];\nst.global.b8 [%d0+2], %h0;\n",
                     2),
            "");
}

TEST(Races, ManyReadersAndAWriter) {
  const std::string read = "ld.shared.u32 %r1, [room];\n",
                    write = "setp.eq.u32 %p0, %t, 40;\n@%p0 st.shared.u32 [room], %t;\n";
  const std::string first = "st.shared.u32 [%r9], 1;\nbar.sync 0;\n";
  EXPECT_NE(races_in(first + read + write), "");
  EXPECT_EQ(races_in(first + read + "bar.sync 0;\n" + write), "");
  EXPECT_NE(races_in(first + write + read), "");
}

TEST(Races, NamedBarriersOrderThoseThatCome) {
  const std::string head =
      "shr.u32 %r1, %t, 5;\nsetp.eq.u32 %p0, %r1, 0;\nsetp.eq.u32 %p1, %r1, 1;\nsetp.eq.u32 %p2, "
      "%r1, 2;\n"
      "@%p0 st.shared.u32 [%r9], %t;\n@%p0 bar.sync 1, 64;\n@%p1 bar.sync 1, 64;\n";
  EXPECT_EQ(races_in(head + "@%p1 ld.shared.u32 %r2, [%r9+-128];\n", 1, 96), "");
  EXPECT_NE(races_in(head + "@%p2 ld.shared.u32 %r2, [%r9+-256];\n", 1, 96).find("race"),
            std::string::npos);
  // Who has only arrived may not write what comes after it for the others.
  EXPECT_NE(
      races_in("shr.u32 %r1, %t, 5;\nsetp.eq.u32 %p0, %r1, 0;\nsetp.eq.u32 %p1, %r1, 1;\n@%p0 "
               "st.shared.u32 [%r9], %t;\n"
               "@%p0 bar.arrive 1, 64;\n@%p1 bar.sync 1, 64;\n@%p1 ld.shared.u32 %r2, [%r9+-128];\n"
               "@%p0 st.shared.u32 [%r9], 77;\n"),
      "");
}

TEST(Races, LaunchesOneAfterTheOtherAreOrdered) {
  TestDevice device;
  const std::uint64_t array = device.put(std::vector<std::uint32_t>(4096));
  const auto program = device.load(
      kernel_text(1, kHead + "xor.b32 %r1, %i, 127;\nmad.wide.u32 %d0, %r1, 4, %x;\nld.global.u32 "
                             "%r2, [%d0];\nst.global.u32 [%d0], %i;\nret;\n"));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(reports_of(*device.run(*program, shape_of(2, 64), {array})), "");
}

TEST(Races, CanBeLeftOut) {
  TestDevice device;
  device.schedule.check_races = false;
  const std::uint64_t array = device.put(std::vector<std::uint32_t>(4096));
  const auto launch = device.run(kernel_text(1, kHead + "st.global.u32 [%x], %i;\nret;\n"),
                                 shape_of(4, 64), {array});
  EXPECT_EQ(reports_of(*launch), "");
}

} // namespace
} // namespace weft::emulator
