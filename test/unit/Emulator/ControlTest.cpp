// Branches and lanes that diverge, barriers, ends.
#include "Evaluate.h"

namespace weft::emulator {
namespace {

Shape shape_of(std::uint32_t blocks, std::uint32_t threads) {
  Shape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  return shape;
}

const std::string kHead =
    ".reg .b64 %x, %y, %d<9>;\n.reg .b32 %t, %r<20>;\n.reg .pred %p<9>;\n"
    "mov.u32 %t, %tid.x;\nld.param.u64 %x, [p0];\nmad.wide.u32 %y, %t, 4, %x;\n";

/// What each thread of a block stores of %r0.
std::vector<std::uint32_t> results_of(const std::string &body, std::uint32_t threads = 32,
                                      const Schedule &schedule = {}, const std::string &tail = "") {
  TestDevice device;
  device.schedule = schedule;
  const std::uint64_t to = device.put(std::vector<std::uint32_t>(threads));
  const auto launch =
      device.run(kernel_text(1, kHead + body + "st.global.b32 [%y], %r0;\nret;\n" + tail),
                 shape_of(1, threads), {to});
  EXPECT_EQ(reports_of(*launch), "");
  return device.get<std::uint32_t>(to);
}
std::string complaint_of(const std::string &body, std::uint32_t threads = 32) {
  TestDevice device;
  device.schedule.timeout = std::chrono::milliseconds(200);
  const std::uint64_t to = device.put(std::vector<std::uint32_t>(threads));
  return reports_of(
      *device.run(kernel_text(1, kHead + body + "ret;\n"), shape_of(1, threads), {to}));
}

TEST(Control, EachLaneLoopsAsOftenAsItWants) {
  const auto results =
      results_of("mov.b32 %r0, 0;\nmov.b32 %r1, 0;\nL:\nsetp.ge.u32 %p0, %r1, %t;\n@%p0 bra E;\n"
                 "add.u32 %r0, %r0, %r1;\nadd.u32 %r1, %r1, 1;\nbra.uni L;\nE:\n");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(results[t], t * (t - 1) / 2);
}

TEST(Control, NestedBranchesMeetAgain) {
  const auto results = results_of(R"(
and.b32 %r1, %t, 1; setp.eq.u32 %p0, %r1, 0;
and.b32 %r1, %t, 2; setp.eq.u32 %p1, %r1, 0;
@%p0 bra A;
@!%p1 bra B;
mov.b32 %r0, 1; bra M;
B: mov.b32 %r0, 3; bra M;
A: @%p1 bra C;
mov.b32 %r0, 2; bra M;
C: mov.b32 %r0, 0;
M: activemask.b32 %r2; setp.eq.u32 %p2, %r2, -1; selp.b32 %r0, %r0, 99, %p2;
)");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(results[t], t & 3);
}

TEST(Control, LanesMayExitEarly) {
  const auto results = results_of("mov.b32 %r0, 5;\nsetp.gt.u32 %p0, %t, 9;\n@%p0 exit;\n");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(results[t], t > 9 ? 0U : 5U);
}

TEST(Control, BranchesByIndex) {
  const std::string body = R"(
rem.u32 %r1, %t, 3;
brx.idx %r1, T;
T: .branchtargets A, B, C;
A: mov.b32 %r0, 10; bra M;
B: mov.b32 %r0, 11; bra M;
C: mov.b32 %r0, 12;
M:
)";
  const auto results = results_of(body);
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(results[t], 10 + t % 3);
  EXPECT_NE(
      complaint_of("T: .branchtargets A;\nbrx.idx %t, T;\nA:\n").find("beyond the list of targets"),
      std::string::npos);
}

TEST(Control, UniformBranchesAreHeldToIt) {
  EXPECT_EQ(complaint_of("setp.lt.u32 %p0, %t, 64;\n@%p0 bra.uni A;\nA:\n"), "");
  EXPECT_NE(complaint_of("setp.lt.u32 %p0, %t, 4;\n@%p0 bra.uni A;\nA:\n").find("another way"),
            std::string::npos);
}

TEST(Control, GuardsAndWhatTheyLeaveAlone) {
  const auto results = results_of("mov.b32 %r0, 1;\nsetp.lt.u32 %p0, %t, 7;\n@%p0 mov.b32 %r0, "
                                  "2;\n@!%p0 add.u32 %r0, %r0, 8;\n");
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(results[t], t < 7 ? 2U : 9U);
}

// A warp whose lanes wait for each other: those that come later are let run.
TEST(Control, SpinningLanesDoNotStarveOthers) {
  const auto results = results_of(R"(
setp.eq.u32 %p0, %t, 31;
@%p0 bra S;
L: ld.volatile.global.u32 %r0, [%x+124]; setp.eq.u32 %p1, %r0, 0; @%p1 bra L; bra E;
S: mov.b32 %r0, 1; st.volatile.global.u32 [%x+124], %r0;
E:
)");
  EXPECT_EQ(results[0], 1U);
}

TEST(Control, SpecialRegisters) {
  TestDevice device;
  const std::uint64_t to = device.put(std::vector<std::uint32_t>(2 * 3 * 64));
  Shape shape;
  shape.grid = {2, 3, 1};
  shape.block = {8, 4, 2};
  const auto launch = device.run(kernel_text(1, kHead + R"(
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %tid.z;
mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.x;
mad.lo.u32 %r2, %r3, %ntid.y, %r2; mad.lo.u32 %r1, %r2, %ntid.x, %r1;
mad.lo.u32 %r4, %r5, %r6, %r4; mad.lo.u32 %r4, %r4, 64, %r1;
mad.wide.u32 %y, %r4, 4, %x;
mov.u32 %r7, %laneid; mov.u32 %r8, %warpid; mad.lo.u32 %r7, %r8, 32, %r7;
sub.u32 %r7, %r7, %r1; setp.eq.u32 %p0, %r7, 0; selp.b32 %r0, %r4, -1, %p0;
st.global.u32 [%y], %r0; ret;
)"),
                                 shape, {to});
  EXPECT_EQ(reports_of(*launch), "");
  const auto results = device.get<std::uint32_t>(to);
  for (std::uint32_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], i);
  const auto masks =
      results_of("mov.u32 %r0, %lanemask_le;\nmov.u32 %r1, %lanemask_ge;\nand.b32 %r0, %r0, %r1;\n"
                 "mov.u32 %r2, %lanemask_eq;\nxor.b32 %r0, %r0, %r2;\nmov.u32 %r3, %lanemask_lt;\n"
                 "mov.u32 %r4, %lanemask_gt;\nor.b32 %r3, %r3, %r4;\nxor.b32 %r3, %r3, "
                 "%r2;\nadd.u32 %r0, %r0, %r3;\n");
  for (const std::uint32_t mask : masks) EXPECT_EQ(mask, 0xffffffffU);
}

const std::string kShared =
    ".shared .align 4 .b8 room[4096];\nmov.u32 %r9, room;\nmad.lo.u32 %r9, %t, 4, %r9;\n";

TEST(Control, BarriersLetAllWarpsMeet) {
  for (const std::string barrier :
       {"bar.sync 0", "bar.sync 3, 256", "barrier.sync 0", "barrier.sync.aligned 1",
        "bar.cta.sync 0", "barrier.cta.sync 0", "barrier.cta.sync.aligned 15, 256"}) {
    note_tested(barrier.substr(0, barrier.find(' ')));
    for (const bool stress : {false, true}) {
      Schedule schedule;
      schedule.stress = stress;
      schedule.seed = 7;
      const auto results = results_of(
          kShared + "st.shared.u32 [%r9], %t;\n" + barrier +
              ";\nxor.b32 %r1, %t, 255;\nmov.u32 %r2, room;\nmad.lo.u32 %r2, %r1, 4, %r2;\n"
              "ld.shared.u32 %r0, [%r2];\n",
          256, schedule);
      for (std::uint32_t t = 0; t < 256; ++t) ASSERT_EQ(results[t], 255 - t) << barrier;
    }
  }
}

TEST(Control, BarriersOfSomeWarps) {
  // Warp 0 produces, arrives and goes on; warp 1 waits for it. Warps 2 and 3 have nothing to do
  // with it.
  for (const std::string arrive :
       {"bar.arrive", "bar.cta.arrive", "barrier.arrive", "barrier.arrive.aligned",
        "barrier.cta.arrive", "barrier.cta.arrive.aligned"}) {
    note_tested(arrive);
    const auto results = results_of(
        kShared +
            "mov.b32 %r0, 0;\nshr.u32 %r1, %t, 5;\nsetp.eq.u32 %p0, %r1, 0;\n"
            "setp.eq.u32 %p1, %r1, 1;\n@%p0 st.shared.u32 [%r9], %t;\n@%p0 " +
            arrive + " 2, 64;\n@%p1 bar.sync 2, 64;\n@%p1 ld.shared.u32 %r0, [%r9+-128];\n",
        128);
    for (std::uint32_t t = 0; t < 128; ++t) EXPECT_EQ(results[t], t / 32 == 1 ? t - 32 : 0);
  }
}

TEST(Control, BarriersThatReduce) {
  for (const std::string name : {"bar.red.popc.u32", "bar.cta.red.popc.u32", "barrier.red.popc.u32",
                                 "barrier.red.popc.aligned.u32", "barrier.cta.red.popc.u32",
                                 "barrier.cta.red.popc.aligned.u32"}) {
    note_tested(name);
    const auto results = results_of("setp.lt.u32 %p0, %t, 50;\n" + name + " %r0, 0, %p0;\n", 96);
    EXPECT_EQ(results, std::vector<std::uint32_t>(96, 50)) << name;
    EXPECT_EQ(results_of("setp.lt.u32 %p0, %t, 50;\n" + name + " %r0, 0, 96, !%p0;\n", 96),
              std::vector<std::uint32_t>(96, 46));
  }
  for (const std::string family : {"bar.", "bar.cta.", "barrier.", "barrier.cta."})
    for (const std::string end : {".pred", ".aligned.pred"}) {
      if (family.starts_with("bar.") && end != ".pred") continue;
      for (const std::uint32_t below : {0U, 50U, 96U}) {
        const std::string setp = "setp.lt.u32 %p0, %t, " + std::to_string(below) + ";\n";
        note_tested(family + "red.and" + end);
        note_tested(family + "red.or" + end);
        EXPECT_EQ(results_of(setp + family + "red.and" + end +
                                 " %p1, 0, %p0;\nselp.b32 %r0, 1, 0, %p1;\n",
                             96),
                  std::vector<std::uint32_t>(96, below == 96 ? 1 : 0));
        EXPECT_EQ(
            results_of(setp + family + "red.or" + end + " %p1, 0, %p0;\nselp.b32 %r0, 1, 0, %p1;\n",
                       96),
            std::vector<std::uint32_t>(96, below > 0 ? 1 : 0));
      }
    }
}

TEST(Control, ExitedWarpsAreNotWaitedFor) {
  const auto results = results_of(
      "mov.b32 %r0, 1;\nsetp.ge.u32 %p0, %t, 64;\n@%p0 ret;\nbar.sync 0;\nmov.b32 %r0, 2;\n", 128);
  EXPECT_EQ(results[0], 2U);
  EXPECT_EQ(results[127], 0U);
}

TEST(Control, BarriersThatNobodyCanPass) {
  EXPECT_NE(complaint_of("setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1, 96;\n", 64).find("never come"),
            std::string::npos);
  EXPECT_NE(complaint_of("bar.sync 16;\n").find("there is no barrier 16"), std::string::npos);
  EXPECT_NE(complaint_of("bar.sync 0, 40;\n").find("no whole number of warps"), std::string::npos);
  EXPECT_NE(complaint_of("bar.sync %t;\n").find("different barriers"), std::string::npos);
  EXPECT_NE(
      complaint_of("setp.lt.u32 %p0, %t, 32;\n@%p0 bar.arrive 0, 64;\n@!%p0 bar.sync 0, 96;\n", 64)
          .find("is for 96 threads here, and for 64"),
      std::string::npos);
}

TEST(Control, BarriersInDivergentCodeWaitForAllLanes) {
  // Lanes come to the same barrier one group after the other.
  EXPECT_EQ(
      complaint_of("setp.lt.u32 %p0, %t, 4;\n@%p0 bra A;\nadd.u32 %r1, %t, 1;\nA: bar.sync 0;\n"),
      "");
  // Two barriers for one warp are none that all lanes come to.
  EXPECT_NE(complaint_of(
                "setp.lt.u32 %p0, %t, 4;\n@%p0 bra A;\nbar.sync 0;\nbra E;\nA: bar.sync 0;\nE:\n")
                .find("all lanes of the mask must come to the same instruction"),
            std::string::npos);
}

TEST(Control, TrapsAndTimeouts) {
  EXPECT_NE(complaint_of("setp.eq.u32 %p0, %t, 3;\n@%p0 trap;\n")
                .find("thread (3, 0, 0), line 14 `@%p0 trap;`: trap"),
            std::string::npos)
      << complaint_of("setp.eq.u32 %p0, %t, 3;\n@%p0 trap;\n");
  EXPECT_NE(complaint_of("L: bra L;\n").find("still runs after 200 ms"), std::string::npos);
  note_tested("trap");
}

TEST(Control, WhatHasNoEffectOnOneWarp) {
  std::string body;
  for (const std::string form :
       {"membar.cta", "membar.gl", "membar.sys", "fence.mbarrier_init.release.cluster",
        "griddepcontrol.wait", "griddepcontrol.launch_dependents", "nanosleep.u32 20",
        "prefetch.global.L2 [%y]"}) {
    body += form + ";\n";
    note_tested(form.substr(0, form.find(' ')));
  }
  for (const std::string order : {"sc", "acq_rel", "acquire", "release"})
    for (const std::string scope : {"cta", "cluster", "gpu", "sys"}) {
      body += "fence." + order + "." + scope + ";\n";
      note_tested("fence." + order + "." + scope);
    }
  EXPECT_EQ(results_of(body + "mov.b32 %r0, 4;\n"), std::vector<std::uint32_t>(32, 4));
  for (const std::string end : {"ret", "ret.uni", "exit"}) {
    note_tested(end);
    EXPECT_EQ(
        results_of("mov.b32 %r0, 4;\nst.global.b32 [%y], %r0;\n" + end + ";\nmov.b32 %r0, 9;\n"),
        std::vector<std::uint32_t>(32, 4));
  }
}

} // namespace
} // namespace weft::emulator
