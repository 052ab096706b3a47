// Loads and stores of all widths, vectors and spaces, and what the machine says of wrong ones.
#include "Evaluate.h"

#include <numeric>

namespace weft::emulator {
namespace {

Shape one_warp() {
  Shape shape;
  shape.block[0] = 32;
  return shape;
}

/// A body with the address of element i of p0 in %x, and of p1 in %y.
std::string with_addresses(int bytes, const std::string &body) {
  return ".reg .b64 %x, %y, %i, %g;\n.reg .b32 %t, %r<10>;\n.reg .b16 %h<10>;\n.reg .b64 %d<10>;\n"
         ".reg .f32 %f<10>;\n.reg .pred %p<4>;\nmov.u32 %t, %tid.x;\ncvt.u64.u32 %i, %t;\n"
         "ld.param.u64 %x, [p0];\nld.param.u64 %y, [p1];\nmad.lo.u64 %x, %i, " +
         std::to_string(bytes) + ", %x;\nmad.lo.u64 %y, %i, " + std::to_string(bytes) + ", %y;\n" +
         body + "ret;";
}

template <class T>
std::vector<T> counted(std::size_t count) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(0xfedcba9876543210ULL * (i + 3) + i);
  return values;
}

TEST(Memory, AllTypesMoveTheirBits) {
  const struct {
    const char *type, *reg;
    int bytes;
  } kinds[] = {{"b8", "%h0", 1},  {"u8", "%r0", 1},  {"s8", "%d0", 1},  {"b16", "%h0", 2},
               {"u16", "%r0", 2}, {"s16", "%d0", 2}, {"f16", "%h0", 2}, {"b32", "%r0", 4},
               {"u32", "%d0", 4}, {"s32", "%r0", 4}, {"f32", "%f0", 4}, {"b64", "%d0", 8},
               {"u64", "%d0", 8}, {"s64", "%d0", 8}, {"f64", "%d0", 8}};
  for (const auto &[type, reg, bytes] : kinds)
    for (const std::string modifier : {"", ".volatile", ".relaxed.gpu"}) {
      TestDevice device;
      const auto values = counted<std::uint8_t>(static_cast<std::size_t>(32 * bytes));
      const std::uint64_t from = device.put(values), to = device.allocate(values.size());
      const std::string form = modifier + ".global." + type;
      const auto launch =
          device.run(kernel_text(2, with_addresses(bytes, "ld" + form + " " + reg + ", [%x];\nst" +
                                                              form + " [%y], " + reg + ";\n")),
                     one_warp(), {from, to});
      EXPECT_EQ(reports_of(*launch), "") << form;
      EXPECT_EQ(device.get<std::uint8_t>(to), values) << form;
    }
}

TEST(Memory, LoadsAreExtended) {
  TestDevice device;
  const std::vector<std::uint8_t> bytes(32, 0x85);
  const auto load = [&](const std::string &form, const std::string &reg,
                        const std::string &stored) {
    const std::uint64_t from = device.put(bytes), to = device.allocate(32 * 8);
    device.run(
        kernel_text(2, with_addresses(0, form + " " + reg + ", [%x];\nmad.lo.u64 %y, %i, 8, %y;\n" +
                                             stored)),
        one_warp(), {from, to});
    return device.get<std::uint64_t>(to)[7];
  };
  EXPECT_EQ(load("ld.global.u8", "%d0", "st.global.u64 [%y], %d0;\n"), 0x85U);
  EXPECT_EQ(load("ld.global.s8", "%d0", "st.global.u64 [%y], %d0;\n"), 0xffffffffffffff85U);
  EXPECT_EQ(load("ld.global.s8", "%r0", "cvt.u64.u32 %d0, %r0;\nst.global.u64 [%y], %d0;\n"),
            0xffffff85U);
  EXPECT_EQ(load("ld.global.s8", "%h0", "cvt.u64.u16 %d0, %h0;\nst.global.u64 [%y], %d0;\n"),
            0xff85U);
  EXPECT_EQ(load("ld.global.s16", "%r0", "cvt.u64.u32 %d0, %r0;\nst.global.u64 [%y], %d0;\n"),
            0xffff8585U);
  EXPECT_EQ(load("ld.global.s32", "%d0", "st.global.u64 [%y], %d0;\n"), 0xffffffff85858585U);
}

TEST(Memory, VectorsAreSideBySide) {
  const struct {
    const char *type, *list;
    int bytes;
  } kinds[] = {{"v2.b8", "{%h0, %h1}", 2},
               {"v4.b8", "{%h0, %h1, %h2, %h3}", 4},
               {"v2.b16", "{%h0, %h1}", 4},
               {"v4.u16", "{%r0, %r1, %r2, %r3}", 8},
               {"v2.f32", "{%f0, %f1}", 8},
               {"v4.b32", "{%r0, %r1, %r2, %r3}", 16},
               {"v2.b64", "{%d0, %d1}", 16},
               {"v4.b64", "{%d0, %d1, %d2, %d3}", 32},
               {"v8.f32", "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}", 32}};
  for (const auto &[type, list, bytes] : kinds)
    for (const bool every_lane : {true, false}) {
      TestDevice device;
      const auto values = counted<std::uint8_t>(static_cast<std::size_t>(32 * bytes));
      const std::uint64_t from = device.put(values),
                          to = device.put(std::vector<std::uint8_t>(values.size()));
      const std::string guard = every_lane ? "" : "setp.lt.u32 %p0, %t, 21;\n@!%p0 ret;\n";
      const auto launch =
          device.run(kernel_text(2, with_addresses(bytes, guard + "ld.global.nc." + type + " " +
                                                              list + ", [%x];\nst.global." + type +
                                                              " [%y], " + list + ";\n")),
                     one_warp(), {from, to});
      EXPECT_EQ(reports_of(*launch), "") << type;
      auto expected = values;
      if (!every_lane) std::fill(expected.begin() + 21 * bytes, expected.end(), 0);
      EXPECT_EQ(device.get<std::uint8_t>(to), expected) << type;
    }
}

TEST(Memory, OneAddressServesAllLanes) {
  TestDevice device;
  const std::uint64_t from = device.put(counted<std::uint32_t>(4)), to = device.allocate(128);
  const auto launch = device.run(
      kernel_text(
          2,
          with_addresses(
              4, "ld.param.u64 %x, [p0];\nld.global.b32 %r0, [%x+8];\nst.global.b32 [%y], %r0;\n")),
      one_warp(), {from, to});
  EXPECT_EQ(reports_of(*launch), "");
  EXPECT_EQ(device.get<std::uint32_t>(to),
            std::vector<std::uint32_t>(32, counted<std::uint32_t>(4)[2]));
}

TEST(Memory, SharedMemoryIsOfTheBlock) {
  TestDevice device;
  const std::uint64_t from = device.put(counted<std::uint32_t>(64)), to = device.allocate(64 * 4);
  // Reversed within each block, by a static and by a dynamic array.
  for (const bool dynamic : {false, true}) {
    const std::string outside =
        dynamic ? ".extern .shared .align 16 .b8 room[];" : ".shared .align 4 .b8 room[128];";
    Shape shape = one_warp();
    shape.grid[0] = 2;
    shape.dynamic_shared = dynamic ? 128 : 0;
    const auto launch = device.run(
        kernel_text(
            2,
            with_addresses(
                4, "mov.u32 %r1, %ctaid.x;\nmul.wide.u32 %d0, %r1, 128;\nadd.u64 %x, %x, %d0;\n"
                   "add.u64 %y, %y, %d0;\nld.global.b32 %r0, [%x];\nmov.u64 %d1, room;\n"
                   "mad.lo.u64 %d2, %i, 4, %d1;\nst.shared.b32 [%d2], %r0;\nbar.sync 0;\n"
                   "shl.b32 %r2, %t, 2;\ncvt.u32.u64 %r3, %d1;\nsub.u32 %r2, %r3, %r2;\n"
                   "ld.shared.b32 %r0, [%r2+124];\nst.global.b32 [%y], %r0;\n"),
            outside),
        shape, {from, to});
    EXPECT_EQ(reports_of(*launch), "");
    auto expected = counted<std::uint32_t>(64);
    std::reverse(expected.begin(), expected.begin() + 32);
    std::reverse(expected.begin() + 32, expected.end());
    EXPECT_EQ(device.get<std::uint32_t>(to), expected);
  }
}

TEST(Memory, GenericAddressesLeadToEverySpace) {
  TestDevice device;
  const std::uint64_t from = device.put(counted<std::uint32_t>(32)), to = device.allocate(128);
  const auto launch = device.run(kernel_text(2, with_addresses(4, R"(
.shared .align 4 .b8 room[128];
.local .align 4 .b8 own[8];
ld.b32 %r0, [%x];
mov.u64 %d0, room; cvta.shared.u64 %d1, %d0; mad.lo.u64 %d1, %i, 4, %d1;
st.b32 [%d1], %r0;
mov.u64 %d2, own; cvta.local.u64 %d3, %d2;
ld.b32 %r1, [%d1]; st.b32 [%d3+4], %r1;
cvta.to.local.u64 %d4, %d3; ld.local.b32 %r2, [%d4+4];
isspacep.shared %p0, %d1; isspacep.local %p1, %d3; isspacep.global %p2, %x; isspacep.shared::cta %p3, %x;
and.pred %p0, %p0, %p1; and.pred %p0, %p0, %p2; not.pred %p3, %p3; and.pred %p0, %p0, %p3;
selp.b32 %r2, %r2, 0, %p0;
st.b32 [%y], %r2;
)")),
                                 one_warp(), {from, to});
  EXPECT_EQ(reports_of(*launch), "");
  EXPECT_EQ(device.get<std::uint32_t>(to), counted<std::uint32_t>(32));
  for (const char *form :
       {"isspacep.shared", "isspacep.local", "isspacep.global", "isspacep.shared::cta"})
    note_tested(form);
}

TEST(Memory, ModulesHaveVariables) {
  TestDevice device;
  const std::uint64_t to = device.allocate(128);
  const auto launch = device.run(
      kernel_text(
          2,
          with_addresses(
              4, "and.b32 %r1, %t, 3;\nmul.wide.u32 %d0, %r1, 4;\nmov.u64 %d1, table;\n"
                 "add.u64 %d0, %d0, %d1;\nld.const.u32 %r0, [%d0];\nld.global.u32 %r2, [more+4];\n"
                 "add.u32 %r0, %r0, %r2;\nst.global.b32 [%y], %r0;\n"),
          ".const .align 4 .b32 table[4] = {10, 20, 30, -40};\n.global .align 4 .u32 more[2] = {1, "
          "1000};\n"),
      one_warp(), {to, to});
  EXPECT_EQ(reports_of(*launch), "");
  const auto results = device.get<std::int32_t>(to);
  EXPECT_EQ(std::vector<std::int32_t>(results.begin(), results.begin() + 4),
            (std::vector<std::int32_t>{1010, 1020, 1030, 960}));
}

// Parameters smaller than a register, and read under a condition.
TEST(Memory, Parameters) {
  TestDevice device;
  const std::uint64_t to = device.allocate(128);
  const auto launch = device.run(
      kernel_text(
          2,
          with_addresses(
              4, "mov.b32 %r0, 7;\nsetp.lt.u32 %p0, %t, 16;\n@%p0 ld.param.b32 %r0, [p0+4];\n"
                 "ld.param.u8 %r1, [p0+1];\nadd.u32 %r0, %r0, %r1;\nst.global.b32 [%y], %r0;\n")),
      one_warp(), {0x1234567890ULL, to});
  EXPECT_EQ(reports_of(*launch), "");
  EXPECT_EQ(device.get<std::uint32_t>(to)[3], 0x12U + 0x78);
  EXPECT_EQ(device.get<std::uint32_t>(to)[30], 7U + 0x78);
}

/// What the machine says of a load or store in lane 5 whose address is off by so much.
std::string complaint(const std::string &instruction, std::int64_t off) {
  TestDevice device;
  const std::uint64_t a = device.put(counted<std::uint32_t>(100));
  const auto launch = device.run(
      kernel_text(2, with_addresses(4, "setp.eq.u32 %p0, %t, 5;\n@%p0 add.s64 %x, %x, " +
                                           std::to_string(off) + ";\n" + instruction + ";\n")),
      one_warp(), {a, a});
  return reports_of(*launch);
}

TEST(Memory, FaultsNameKernelBlockThreadLineAndInstruction) {
  const std::string text = complaint("ld.global.b32 %r0, [%x]", 380);
  EXPECT_NE(text.find("kernel k, block (0, 0, 0), thread (5, 0, 0), line "), std::string::npos)
      << text;
  EXPECT_NE(text.find("`ld.global.b32 %r0, [%x];`"), std::string::npos) << text;
  EXPECT_NE(text.find("4 bytes behind the end of the 400 at 0x"), std::string::npos) << text;
}

TEST(Memory, BoundsAreThoseOfAllocations) {
  EXPECT_EQ(complaint("ld.global.b32 %r0, [%x]", 376), "");
  EXPECT_NE(complaint("ld.global.b32 %r0, [%x]", 380), "");
  EXPECT_NE(complaint("st.global.b32 [%x], 0", 380).find("behind the end"), std::string::npos);
  EXPECT_NE(complaint("ld.global.b32 %r0, [%x]", -24).find("before the"), std::string::npos);
  EXPECT_NE(complaint("ld.global.b32 %r0, [%x]", 1 << 20).find("no memory"), std::string::npos);
  EXPECT_NE(complaint("ld.global.b64 %d0, [%x+4]", 0).find("no multiple of 8"), std::string::npos);
  EXPECT_NE(complaint("ld.global.b32 %r0, [%x]", 2).find("no multiple of 4"), std::string::npos);
  EXPECT_NE(complaint("ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%x]", 0).find("no multiple of 16"),
            std::string::npos);
  EXPECT_NE(complaint("ld.shared.b32 %r0, [%t]", 0).find("shared memory"), std::string::npos);
  EXPECT_NE(complaint("ld.local.b32 %r0, [%t]", 0).find("local memory"), std::string::npos);
}

TEST(Memory, FreedMemoryAndThatOfAnotherDevice) {
  TestDevice device;
  const std::string text = kernel_text(2, with_addresses(4, "ld.global.b32 %r0, [%x];\n"));
  const std::uint64_t freed = device.put(counted<std::uint32_t>(32));
  device.space.free(*device.space.find(freed));
  EXPECT_NE(reports_of(*device.run(text, one_warp(), {freed, 0})).find("which were freed"),
            std::string::npos);
  const std::uint64_t foreign = device.space.allocate(128, 1, nullptr)->region.address;
  EXPECT_NE(reports_of(*device.run(text, one_warp(), {foreign, 0})).find("memory of device 1"),
            std::string::npos);
  EXPECT_NE(reports_of(*device.run(text, one_warp(), {0, 0})).find("null pointer"),
            std::string::npos);
}

TEST(Memory, WhatNobodyWroteIsReported) {
  TestDevice device;
  const std::uint64_t a = device.allocate(128), b = device.put(counted<std::uint32_t>(32));
  const std::string text =
      kernel_text(2, with_addresses(4, "ld.global.b32 %r0, [%x];\nst.global.b32 [%y], %r0;\n"));
  const auto launch = device.run(text, one_warp(), {a, b});
  EXPECT_NE(reports_of(*launch).find("which nobody wrote"), std::string::npos);
  EXPECT_EQ(launch->reports.size(), 1U) << "one for each line, not for each lane";
  EXPECT_EQ(reports_of(*device.run(text, one_warp(), {b, a})), ""); // which writes it
  EXPECT_EQ(reports_of(*device.run(text, one_warp(), {a, b})), "");
  // Single bytes are told apart.
  const std::uint64_t c = device.allocate(32);
  const std::string odd = kernel_text(
      2, with_addresses(
             1, "and.b32 %r1, %t, 1;\nsetp.eq.u32 %p0, %r1, 1;\n@%p0 st.global.b8 [%x], %h0;\n"
                "@%p0 ld.global.b8 %h1, [%y];\n"));
  EXPECT_EQ(reports_of(*device.run(odd, one_warp(), {c, c})), "");
  const std::string all = kernel_text(2, with_addresses(1, "ld.global.b8 %h1, [%y];\n"));
  EXPECT_NE(reports_of(*device.run(all, one_warp(), {c, c})).find("which nobody wrote"),
            std::string::npos);
  device.schedule.check_uninitialised = false;
  EXPECT_EQ(reports_of(*device.run(all, one_warp(), {c, c})), "");
}

TEST(Memory, SharedMemoryOfANewBlockIsNobodys) {
  TestDevice device;
  const std::string text =
      kernel_text(2, with_addresses(4, ".shared .align 4 .b8 room[128];\nmov.u32 %r1, room;\n"
                                       "mad.lo.u32 %r1, %t, 4, %r1;\nmov.u32 %r2, %ctaid.x;\n"
                                       "setp.eq.u32 %p0, %r2, 0;\n@%p0 st.shared.u32 [%r1], %t;\n"
                                       "ld.shared.u32 %r3, [%r1];\n"));
  EXPECT_EQ(reports_of(*device.run(text, one_warp(), {0, 0})), "");
  Shape two = one_warp();
  two.grid[0] = 2;
  device.schedule.host_threads = 1;
  EXPECT_NE(reports_of(*device.run(text, two, {0, 0})).find("which nobody wrote"),
            std::string::npos);
}

TEST(Memory, PinnedMemoryHasOneAddressForHostAndDevices) {
  TestDevice device;
  Allocation *pinned = device.space.allocate_pinned(128);
  auto *host = reinterpret_cast<std::uint32_t *>(pinned->region.address);
  std::iota(host, host + 32, 5U);
  const auto launch = device.run(
      kernel_text(
          2, with_addresses(
                 4, "ld.global.b32 %r0, [%x];\nadd.u32 %r0, %r0, 1;\nst.global.b32 [%y], %r0;\n")),
      one_warp(), {pinned->region.address, pinned->region.address});
  EXPECT_EQ(reports_of(*launch), "");
  EXPECT_EQ(host[0], 6U);
  EXPECT_EQ(host[31], 37U);
}

TEST(MemoryDeathTest, TheHostCannotTouchDeviceMemory) {
  TestDevice device;
  const std::uint64_t address = device.put(counted<std::uint32_t>(32));
  EXPECT_DEATH(EXPECT_EQ(*reinterpret_cast<volatile std::uint32_t *>(address), 0U), "");
}

TEST(Memory, SectorsAndBankConflictsAreCounted) {
  TestDevice device;
  const std::uint64_t a = device.put(std::vector<std::uint32_t>(32 * 33)), b = device.allocate(128);
  const auto counted = [&](const std::string &body, int bytes = 4) {
    const auto launch = device.run(kernel_text(2, with_addresses(bytes, body)), one_warp(), {a, b});
    EXPECT_EQ(reports_of(*launch), "");
    return launch->counters;
  };
  const Counters row = counted("ld.global.b32 %r0, [%x];\nst.global.b32 [%y], %r0;\n");
  EXPECT_EQ(row.global_requests, 2U);
  EXPECT_EQ(row.global_sectors, 8U);
  EXPECT_EQ(row.global_bytes_loaded, 128U);
  EXPECT_EQ(row.global_bytes_stored, 128U);
  EXPECT_EQ(counted("ld.global.b32 %r0, [%x+4];\n").global_sectors, 5U); // not aligned to a sector
  EXPECT_EQ(counted("ld.global.b32 %r0, [%x];\n", 128).global_sectors, 32U);
  EXPECT_EQ(counted("ld.param.u64 %x, [p0];\nld.global.b32 %r0, [%x];\n").global_sectors, 1U);
  // Columns of a square of 32 words in shared memory are in one bank, those of one 33 wide in all.
  const auto column = [&](int words) {
    return ".shared .align 16 .b8 room[4224];\nmov.u32 %r1, room;\nmad.lo.u32 %r1, %t, " +
           std::to_string(4 * words) + ", %r1;\nst.shared.u32 [%r1], %t;\n";
  };
  EXPECT_EQ(counted(column(32)).shared_bank_conflicts, 31U);
  EXPECT_EQ(counted(column(33)).shared_bank_conflicts, 0U);
  EXPECT_EQ(counted(column(2)).shared_bank_conflicts, 1U);
  EXPECT_EQ(counted(column(1)).shared_requests, 1U);
}

} // namespace
} // namespace weft::emulator
