// How fast the machine is on one host thread, in time of the processor. Measured when it is asked
// for:
//
//   emulator_tests --gtest_filter='Speed.*' --gtest_also_run_disabled_tests
#include "TestDevice.h"

#include <cstdio>
#include <ctime>

namespace weft::emulator {
namespace {

/// Prints how many instructions of lanes a second has, the best of some runs.
void measure(const char *name, const std::string &body, bool races = true) {
  constexpr std::uint32_t kBlocks = 256, kThreads = 256;
  TestDevice device;
  device.schedule.host_threads = 1;
  device.schedule.check_races = races;
  const auto program = device.load(kernel_text(
      2, ".reg .b64 %x, %y, %d<9>;\n.reg .b32 %t, %i, %b, %r<20>;\n.reg .f32 %f<9>;\n"
         ".reg .f64 %g<9>;\n.reg .pred %p<9>;\n.shared .align 16 .b8 room[4096];\n"
         "mov.u32 %t, %tid.x;\nmov.u32 %b, %ctaid.x;\nmad.lo.u32 %i, %b, 256, %t;\n"
         "ld.param.u64 %x, [p0];\nmad.wide.u32 %x, %i, 64, %x;\nld.param.u64 %y, [p1];\n"
         "mad.wide.u32 %y, %i, 4, %y;\nmov.f32 %f0, 0f3f800001;\nmov.f32 %f1, 0f3f000001;\n"
         "mov.f64 %g0, 0d3ff0000000000001;\nmov.u32 %r0, 0;\nmov.u32 %r1, room;\n"
         "mad.lo.u32 %r1, %t, 16, %r1;\n" +
             body + "st.global.f32 [%y], %f0;\nret;\n"));
  const std::uint64_t x = device.put(std::vector<float>(std::size_t{kBlocks} * kThreads * 16)),
                      y = device.put(std::vector<float>(std::size_t{kBlocks} * kThreads));
  Shape shape;
  shape.grid[0] = kBlocks;
  shape.block[0] = kThreads;
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const std::clock_t begin = std::clock();
    const auto launch = device.run(*program, shape, {x, y});
    const double taken = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    ASSERT_EQ(reports_of(*launch), "");
    best = std::max(best, static_cast<double>(launch->counters.lane_instructions) / taken);
  }
  std::printf("%-44s %.2f G lane instructions/s\n", name, best * 1e-9);
}

std::string repeated(const std::string &statements, int count) {
  return "L:\n" + statements + "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p0, %r0, " +
         std::to_string(count) + ";\n@%p0 bra L;\n";
}

TEST(Speed, DISABLED_OfInstructions) {
  std::string fused, wide, loads, row;
  for (int i = 0; i < 8; ++i) fused += "fma.rn.f32 %f0, %f0, %f1, %f1;\n";
  for (int i = 0; i < 8; ++i) wide += "fma.rn.f64 %g0, %g0, %g0, %g0;\n";
  measure("fma.rn.f32", repeated(fused, 32));
  measure("fma.rn.f64", repeated(wide, 32));
  // Lanes side by side, an f32 each, as elementwise kernels have it.
  row = "mov.u64 %d0, %y;\n";
  for (int i = 0; i < 4; ++i) row += "ld.global.f32 %f2, [%d0];\nadd.rn.f32 %f0, %f0, %f2;\n";
  measure("ld.global.f32 side by side, add", repeated(row, 32));
  measure("the same, races=off", repeated(row, 32), false);
  for (int i = 0; i < 4; ++i)
    loads += "ld.global.f32 %f2, [%x+" + std::to_string(4 * i) + "];\nadd.rn.f32 %f0, %f0, %f2;\n";
  measure("ld.global.f32 64 bytes apart, add", repeated(loads, 8));
  measure("ld.global.v4.f32 64 bytes apart",
          repeated("ld.global.v4.f32 {%f2, %f3, %f4, %f5}, [%x];\n", 8));
  measure("st.shared, bar.sync, ld.shared",
          repeated("and.b32 %r2, %r1, 1020;\nmov.u32 %r2, room;\nmad.lo.u32 %r2, %t, 4, %r2;\n"
                   "st.shared.f32 [%r2], %f0;\nbar.sync 0;\nld.shared.f32 %f2, [%r2];\n"
                   "bar.sync 0;\n",
                   16));
  measure("mma.sync.m16n8k16 of bf16",
          "mov.u32 %r3, 0x3f803f80;\nmov.f32 %f2, %f0;\nmov.f32 %f3, %f0;\nmov.f32 %f4, %f0;\n" +
              repeated("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f2, %f3, %f4}, "
                       "{%r3, %r3, %r3, %r3}, {%r3, %r3}, {%f0, %f2, %f3, %f4};\n",
                       8));
}

} // namespace
} // namespace weft::emulator
