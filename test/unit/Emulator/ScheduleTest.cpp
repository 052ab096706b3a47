// Two seeds are two schedules: what is deterministic has the same bits in both, what is not does
// not.
#include "TestDevice.h"

#include <set>

namespace weft::emulator {
namespace {

/// The bits that a kernel leaves, with a few seeds.
std::set<std::vector<std::uint32_t>> outcomes(const std::string &body, Shape shape,
                                              bool races = true) {
  std::set<std::vector<std::uint32_t>> found;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    TestDevice device;
    device.schedule.seed = seed;
    device.schedule.stress = seed > 1;
    device.schedule.check_races = races;
    std::vector<std::uint32_t> numbers(4096);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = 0x3f800000 + static_cast<std::uint32_t>(i * 7919);
    const std::uint64_t from = device.put(numbers),
                        to = device.put(std::vector<std::uint32_t>(4096));
    const auto launch =
        device.run(kernel_text(2, ".reg .b64 %x, %y, %d<9>;\n.reg .b32 %t, %i, %b, %r<9>;\n.reg "
                                  ".f32 %f<9>;\n.reg .pred %p<4>;\n"
                                  ".shared .align 16 .b8 room[1024];\nmov.u32 %t, %tid.x;\nmov.u32 "
                                  "%b, %ctaid.x;\nmov.u32 %r8, %ntid.x;\n"
                                  "mad.lo.u32 %i, %b, %r8, %t;\nld.param.u64 %x, "
                                  "[p0];\nld.param.u64 %y, [p1];\nmad.wide.u32 %d0, %i, 4, %x;\n"
                                  "mad.wide.u32 %d1, %i, 4, %y;\nld.global.f32 %f0, [%d0];\n" +
                                      body + "ret;"),
                   shape, {from, to});
    EXPECT_EQ(reports_of(*launch), "");
    found.insert(device.get<std::uint32_t>(to));
  }
  return found;
}

Shape shape_of(std::uint32_t blocks, std::uint32_t threads) {
  Shape shape;
  shape.grid[0] = blocks;
  shape.block[0] = threads;
  return shape;
}

/// A sum of a block in a fixed order: shuffles, then one warp over the sums of all.
const std::string kBlockSum = [] {
  std::string body;
  const auto tree = [&] {
    for (const char *by : {"16", "8", "4", "2", "1"})
      body += "mov.b32 %r0, %f0;\nshfl.sync.down.b32 %r1, %r0, " + std::string(by) +
              ", 31, -1;\nmov.b32 %f1, %r1;\nadd.rn.f32 %f0, %f0, %f1;\n";
  };
  tree();
  body += "and.b32 %r2, %t, 31;\nshr.u32 %r3, %t, 5;\nsetp.eq.u32 %p0, %r2, 0;\nmov.u32 %r4, "
          "room;\nmad.lo.u32 %r3, %r3, 4, %r4;\n"
          "@%p0 st.shared.f32 [%r3], %f0;\nbar.sync 0;\nsetp.ge.u32 %p1, %t, 32;\n@%p1 "
          "ret;\nmov.f32 %f0, 0f00000000;\n"
          "setp.lt.u32 %p2, %t, 8;\nmad.lo.u32 %r4, %t, 4, %r4;\n@%p2 ld.shared.f32 %f0, [%r4];\n";
  tree();
  return body + "setp.eq.u32 %p3, %t, 0;\nmad.wide.u32 %d1, %b, 4, %y;\n";
}();

TEST(Schedule, AFixedOrderHasTheSameBits) {
  EXPECT_EQ(outcomes(kBlockSum + "@%p3 st.global.f32 [%d1], %f0;\n", shape_of(16, 256)).size(), 1U);
}

TEST(Schedule, LanesThatBranchMeetAtWhatAllMustReach) {
  // Those that jump over the store may come to the barrier and to the shuffle first.
  EXPECT_EQ(outcomes("and.b32 %r2, %t, 31;\nsetp.ne.u32 %p0, %r2, 0;\n@%p0 bra $behind;\n"
                     "mov.u32 %r4, room;\nshr.u32 %r3, %t, 3;\nadd.u32 %r4, %r4, %r3;\n"
                     "st.shared.f32 [%r4], %f0;\n$behind:\nbar.sync 0;\nsetp.gt.u32 %p1, %r2, 7;\n"
                     "@%p1 bra $shuffle;\nld.shared.f32 %f1, [room];\nadd.rn.f32 %f0, %f0, %f1;\n"
                     "$shuffle:\nmov.b32 %r0, %f0;\nshfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;\n"
                     "st.global.b32 [%d1], %r1;\n",
                     shape_of(4, 256))
                .size(),
            1U);
}

TEST(Schedule, SumsByAtomicsDoNot) {
  EXPECT_GT(outcomes("red.global.add.f32 [%y], %f0;\n", shape_of(16, 256)).size(), 1U);
}

TEST(Schedule, WhoComesFirstIsChance) {
  EXPECT_GT(outcomes("atom.global.add.u32 %r0, [%y+16000], 1;\nmad.wide.u32 %d1, %i, 4, "
                     "%y;\nst.global.u32 [%d1], %r0;\n",
                     shape_of(16, 64))
                .size(),
            1U);
}

TEST(Schedule, CountersDoNotDependOnIt) {
  std::set<std::uint64_t> instructions;
  for (const std::uint64_t seed : {1, 2, 3}) {
    TestDevice device;
    device.schedule.seed = seed;
    device.schedule.stress = seed == 3;
    const auto launch =
        device.run(kernel_text(0, ".reg .b32 %r0, %r1;\nmov.u32 %r0, %tid.x;\nadd.u32 %r1, %r0, "
                                  "1;\nadd.u32 %r1, %r1, %r0;\nret;"),
                   shape_of(10, 48), {});
    instructions.insert(launch->counters.lane_instructions);
    EXPECT_EQ(launch->counters.blocks, 10U);
    EXPECT_EQ(launch->counters.launches, 1U);
    EXPECT_EQ(launch->counters.warp_instructions,
              10U * 2 * 3); // the move is no work: a constant of the thread
  }
  EXPECT_EQ(instructions, std::set<std::uint64_t>{10 * 48 * 3});
}

} // namespace
} // namespace weft::emulator
