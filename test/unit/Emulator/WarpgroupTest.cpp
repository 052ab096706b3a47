// wgmma: matrices in shared memory by each layout that a descriptor has, as the PTX manual has
// them, against sums of whole numbers, which are exact in any order; when they are read; and what
// is refused.
#include "Evaluate.h"

#include <sstream>

namespace weft::emulator {
namespace {

constexpr int kRows = 64, kDepth = 16;

/// A matrix of lines of 16 elements along the sum, and how it is in memory.
struct Matrix {
  int lines;
  int row_bytes;       ///< 16 without a swizzle, or 32, 64 or 128
  bool across = false; ///< lines side by side
  int parts = 1;       ///< of 16 along the sum, each with a descriptor further on
  std::uint32_t at = 0;

  int depth() const { return parts * kDepth; }
  std::uint64_t mode() const {
    return row_bytes == 16 ? 0 : row_bytes == 128 ? 1 : row_bytes == 64 ? 2 : 3;
  }
  /// From 8 rows to the next ones, with something between them, and what the other stride is.
  std::uint32_t rows_stride() const { return 8U * static_cast<std::uint32_t>(row_bytes) + 1024; }
  std::uint32_t other_stride() const {
    const int rows = across ? depth() : lines;
    return static_cast<std::uint32_t>(rows / 8) * rows_stride() + 2048;
  }
  /// Where an element is, in bytes from the first one of all: rows are along the sum, or across it.
  std::uint32_t place(int line, int k) const {
    const auto row = static_cast<std::uint32_t>(across ? k : line),
               column = static_cast<std::uint32_t>(across ? line : k),
               in_row = static_cast<std::uint32_t>(row_bytes / 2);
    const std::uint32_t straight = at + row % 8 * static_cast<std::uint32_t>(row_bytes) +
                                   row / 8 * rows_stride() + column % in_row * 2 +
                                   column / in_row * other_stride();
    const std::uint32_t chunk = straight >> 4, pattern = straight >> 7;
    return ((chunk ^ (pattern % (static_cast<std::uint32_t>(row_bytes) / 16))) << 4) |
           straight % 16;
  }
  /// The descriptor of a part, but for where shared memory begins.
  std::uint64_t descriptor(int part) const {
    const auto field = [](std::uint64_t bytes, int shift) { return (bytes >> 4) << shift; };
    const bool swapped = row_bytes == 16 && across; // the stride is that of columns then
    const std::uint32_t begin =
        at + (across            ? static_cast<std::uint32_t>(part) * 2 * rows_stride()
              : row_bytes == 16 ? static_cast<std::uint32_t>(part) * 2 * other_stride()
                                : static_cast<std::uint32_t>(part) * 32);
    return field(begin, 0) | field(swapped ? rows_stride() : other_stride(), 16) |
           field(swapped ? other_stride() : rows_stride(), 32) | mode() << 62;
  }
};

struct Case {
  Matrix a{kRows, 128}, b{64, 128};
  bool brain = true, in_registers = false, adds = true;
  int scale_a = 1, scale_b = 1;
};

int element(int seed, int line, int k) { return (line * 7 + k * 5 + seed * 3) % 9 - 4; }

std::uint16_t bits_of(bool brain, int value) {
  const auto x = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  if (brain) return static_cast<std::uint16_t>(bits >> 16);
  if (value == 0) return 0;
  const std::uint32_t exponent = (bits >> 23 & 0xff) - 127 + 15;
  return static_cast<std::uint16_t>(bits >> 31 << 15 | exponent << 10 | (bits >> 13 & 0x3ff));
}

std::string registers(const std::string &name, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "{%" : ", %") + name + std::to_string(i);
  return text + "}";
}

std::string opcode_of(const Case &c) {
  const std::string type = c.brain ? "bf16" : "f16";
  return "wgmma.mma_async.sync.aligned.m64n" + std::to_string(c.b.lines) + "k16.f32." + type + "." +
         type;
}

/// The kernel: copies p0 to shared memory, multiplies, and stores the sums of each thread, which
/// begin with 1; `before` is done behind the products, and before they are waited for.
std::string text_of(const Case &c, std::uint32_t bytes, const std::string &before = "") {
  const int sums = c.b.lines / 2;
  std::ostringstream body;
  body << ".shared .align 1024 .b8 sm[" << bytes << "];\n.reg .b32 %t, %u, %w<4>, %a<4>;\n"
       << ".reg .b64 %p, %q, %s, %x, %y;\n.reg .pred %adds;\n.reg .f32 %d<" << sums
       << ">;\nmov.u32 %t, %tid.x;\nld.param.u64 %p, [p0];\nmad.wide.u32 %p, %t, 16, %p;\n"
       << "mov.u32 %u, sm;\nmad.lo.u32 %u, %t, 16, %u;\n";
  for (std::uint32_t at = 0; at < bytes; at += 2048)
    body << "ld.global.v4.b32 " << registers("w", 4) << ", [%p+" << at
         << "];\nst.shared.v4.b32 [%u+" << at << "], " << registers("w", 4) << ";\n";
  body << "fence.proxy.async.shared::cta;\nbar.sync 0;\nmov.u64 %s, sm;\nshr.u64 %s, %s, 4;\n"
       << "setp." << (c.adds ? "eq" : "ne") << ".u32 %adds, %t, %t;\n";
  for (int i = 0; i < sums; ++i) body << "mov.f32 %d" << i << ", 0f3f800000;\n";
  body << "wgmma.fence.sync.aligned;\n";
  for (int part = 0; part < c.a.parts; ++part) {
    if (c.in_registers) {
      body << "ld.param.u64 %q, [p1];\nmad.wide.u32 %q, %t, 16, %q;\nld.global.v4.b32 "
           << registers("a", 4) << ", [%q];\n";
    } else {
      body << "add.u64 %x, %s, " << c.a.descriptor(part) << ";\n";
    }
    body << "add.u64 %y, %s, " << c.b.descriptor(part) << ";\n"
         << opcode_of(c) << " " << registers("d", sums) << ", "
         << (c.in_registers ? registers("a", 4) : "%x") << ", %y, %adds, " << c.scale_a << ", "
         << c.scale_b << ", "
         << (c.in_registers ? ""
             : c.a.across   ? "1, "
                            : "0, ")
         << c.b.across << ";\n";
  }
  body << "wgmma.commit_group.sync.aligned;\n"
       << before
       << "wgmma.wait_group.sync.aligned 0;\nld.param.u64 %q, [p2];\nmad.wide.u32 %q, %t, "
       << 4 * sums << ", %q;\n";
  for (int i = 0; i < sums; ++i) body << "st.global.f32 [%q+" << 4 * i << "], %d" << i << ";\n";
  return kernel_text(3, body.str() + "ret;\n");
}

struct Outcome {
  std::vector<float> sums; ///< rows by columns
  std::string reports;
};

Outcome run(const Case &c, bool stress, const std::string &before = "") {
  note_tested(opcode_of(c));
  std::vector<std::uint16_t> memory(std::size_t{1} << 16);
  for (const auto &[matrix, seed] : {std::pair(&c.a, 1), std::pair(&c.b, 2)})
    for (int line = 0; line < matrix->lines; ++line)
      for (int k = 0; k < matrix->depth(); ++k)
        memory[matrix->place(line, k) / 2] = bits_of(c.brain, element(seed, line, k));
  std::vector<std::uint16_t> fragments(128 * 8);
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < 8; ++i)
      fragments[static_cast<std::size_t>(thread * 8 + i)] =
          bits_of(c.brain, element(1, thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8,
                                   thread % 4 * 2 + i % 2 + i / 4 * 8));
  TestDevice device;
  device.schedule.stress = stress;
  const std::uint64_t out =
      device.put(std::vector<float>(static_cast<std::size_t>(kRows * c.b.lines)));
  Shape shape;
  shape.block[0] = 128;
  const auto launch = device.run(text_of(c, static_cast<std::uint32_t>(2 * memory.size()), before),
                                 shape, {device.put(memory), device.put(fragments), out});
  const auto found = device.get<float>(out);
  Outcome outcome{std::vector<float>(found.size()), reports_of(*launch)};
  for (int thread = 0; thread < 128; ++thread)
    for (int i = 0; i < c.b.lines / 2; ++i) {
      const int row = thread / 32 * 16 + thread % 32 / 4 + i / 2 % 2 * 8;
      const int column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      outcome.sums[static_cast<std::size_t>(row * c.b.lines + column)] =
          found[static_cast<std::size_t>(thread * (c.b.lines / 2) + i)];
    }
  return outcome;
}

std::vector<float> wanted(const Case &c) {
  std::vector<float> sums;
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < c.b.lines; ++column) {
      // Without adding, each product takes the place of those before it.
      int sum = c.adds ? 1 : 0;
      for (int k = c.adds ? 0 : c.a.depth() - kDepth; k < c.a.depth(); ++k)
        sum += c.scale_a * c.scale_b * element(1, row, k) * element(2, column, k);
      sums.push_back(static_cast<float>(sum));
    }
  return sums;
}

void expect_sums(const Case &c) {
  for (const bool stress : {false, true}) {
    const Outcome outcome = run(c, stress);
    EXPECT_EQ(outcome.reports, "") << opcode_of(c);
    EXPECT_EQ(outcome.sums, wanted(c))
        << opcode_of(c) << " rows of " << c.a.row_bytes << " and " << c.b.row_bytes << " bytes, "
        << c.a.across << c.b.across << (stress ? ", late" : "");
  }
}

TEST(Warpgroup, MultipliesMatricesOfEveryLayout) {
  for (const int row_bytes : {16, 32, 64, 128})
    for (const bool across : {false, true}) {
      Case c;
      c.a = {kRows, row_bytes, across, 1, 0};
      c.b = {64, 128, !across, 1, 64 * 1024};
      expect_sums(c);
      c.a = {kRows, 128, !across, 1, 0};
      c.b = {128, row_bytes, across, 1, 32 * 1024};
      c.brain = false;
      expect_sums(c);
    }
}

TEST(Warpgroup, GoesAlongTheSumByMovingDescriptors) {
  for (const bool a_across : {false, true})
    for (const bool b_across : {false, true}) {
      Case c;
      c.a = {kRows, 128, a_across, 4, 0};
      c.b = {64, 128, b_across, 4, 64 * 1024};
      expect_sums(c);
    }
  Case c;
  c.a = {kRows, 16, false, 2, 0};
  c.b = {64, 16, true, 2, 64 * 1024};
  expect_sums(c);
}

TEST(Warpgroup, HasEightTo256Columns) {
  for (const int columns : {8, 24, 256}) {
    Case c;
    c.b = {columns, 64, false, 1, 16 * 1024};
    expect_sums(c);
  }
}

TEST(Warpgroup, TakesRegistersSignsAndSumsThatBeginWithZero) {
  Case c;
  c.b.at = 64 * 1024;
  c.in_registers = true;
  expect_sums(c);
  c.brain = false;
  c.b.across = true;
  c.scale_a = -1;
  expect_sums(c);
  c.in_registers = false;
  c.adds = false;
  c.scale_b = -1;
  expect_sums(c);
}

// What is written to a matrix before the product was waited for may or may not be in it.
TEST(Warpgroup, ReadsUntilItIsWaitedFor) {
  Case c;
  c.b.at = 64 * 1024;
  const std::string overwrite = "bar.sync 0;\nst.shared.b32 [%u], 0;\n";
  EXPECT_EQ(run(c, false, overwrite).sums, wanted(c));
  const Outcome late = run(c, true, overwrite);
  EXPECT_TRUE(late.sums != wanted(c) || !late.reports.empty());
  // So have the sums: whoever reads them before sees this or that.
  const std::string early = "ld.param.u64 %q, [p2];\nmad.wide.u32 %q, %t, 128, %q;\n"
                            "st.global.f32 [%q], %d0;\n";
  EXPECT_EQ(run(c, true, early).sums, wanted(c)); // and stores what is there in the end
}

TEST(Warpgroup, WaitsForGroups) {
  note_tested("wgmma.fence.sync.aligned");
  note_tested("wgmma.commit_group.sync.aligned");
  note_tested("wgmma.wait_group.sync.aligned");
  for (const std::string space : {"", ".global", ".shared::cta", ".shared::cluster"})
    note_tested("fence.proxy.async" + space);
  // Two groups: of the first it waits, and the second it begins behind that.
  Case c;
  c.b.at = 64 * 1024;
  std::string again = "wgmma.wait_group.sync.aligned 0;\n";
  for (const std::string space : {"", ".global", ".shared::cluster"})
    again += "fence.proxy.async" + space + ";\n";
  again += opcode_of(c) + " " + registers("d", 32) + ", %x, %y, %adds, 1, 1, 0, 0;\n" +
           "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;\n";
  std::vector<float> twice = wanted(c);
  for (float &sum : twice) sum = 2 * sum - 1;
  for (const bool stress : {false, true}) {
    const Outcome outcome = run(c, stress, again);
    EXPECT_EQ(outcome.reports, "");
    EXPECT_EQ(outcome.sums, twice);
  }
}

TEST(Warpgroup, RefusesWhatThereIsNot) {
  Case c;
  const std::string good = text_of(c, 1 << 17);
  EXPECT_EQ(refusal_of(good), "");
  const auto with = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return refusal_of(text);
  };
  EXPECT_NE(with("sm_90a", "sm_90").find("an instruction of sm_90a"), std::string::npos);
  EXPECT_NE(with("m64n64k16", "m64n60k16").find("a multiple of 8"), std::string::npos);
  EXPECT_NE(with("m64n64k16", "m64n264k16").find("8 to 256 columns"), std::string::npos);
  EXPECT_NE(with("m64n64k16", "m32n64k16").find("unknown instruction"), std::string::npos);
  EXPECT_NE(with("bf16.bf16", "bf16.f16").find("unknown instruction"), std::string::npos);
  EXPECT_NE(with("m64n64k16", "m64n72k16").find("a list of 36 registers"), std::string::npos);
  EXPECT_NE(with("%adds, 1, 1, 0, 0", "%adds, 2, 1, 0, 0").find("is 1 or -1"), std::string::npos);
  EXPECT_NE(with("%adds, 1, 1, 0, 0", "%adds, 1, 1, 0, 2").find("is 0 or 1"), std::string::npos);
  EXPECT_NE(with(", 1, 1, 0, 0;", ", 1, 1, 0;").find("8 operands, not 7"), std::string::npos);
}

TEST(Warpgroup, WantsTheSameOfAllThreads) {
  Case c;
  c.b.at = 64 * 1024;
  const std::string good = text_of(c, 1 << 17);
  const auto fault = [&](const std::string &before) {
    std::string text = good;
    text.insert(text.find("wgmma.mma_async"), before);
    TestDevice device;
    Shape shape;
    shape.block[0] = 128;
    const auto launch = device.run(*device.load(text), shape,
                                   {device.put(std::vector<std::uint16_t>(1 << 16)),
                                    device.put(std::vector<std::uint16_t>(1 << 10)),
                                    device.put(std::vector<float>(64 * 64))});
    return reports_of(*launch);
  };
  EXPECT_NE(fault("cvt.u64.u32 %p, %t;\nadd.u64 %x, %x, %p;\n").find("the descriptor of a matrix"),
            std::string::npos);
  EXPECT_NE(fault("setp.lt.u32 %adds, %t, 5;\n").find("scale-d"), std::string::npos);
  EXPECT_NE(fault("or.b64 %x, %x, 562949953421312;\n").find("begins elsewhere"), std::string::npos);
}

} // namespace
} // namespace weft::emulator
