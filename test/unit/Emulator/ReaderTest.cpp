// What the reader takes, and what it refuses, with the line.
#include "TestDevice.h"

namespace weft::emulator {
namespace {

const std::string kRegisters =
    ".reg .pred %p<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<9>;\n.reg .b64 %d<9>;\n";
std::string refusal(const std::string &statement) {
  const std::string said = refusal_of(kernel_text(1, kRegisters + statement + "\nret;"));
  return said.empty() ? "" : said.substr(said.find(' ') + 1);
}

TEST(Reader, TakesComments) {
  EXPECT_EQ(refusal("// nothing\n/* and\n nothing */ add.s32 %r0, %r1, 5; // x"), "");
  EXPECT_EQ(refusal_of("// first\n" + kernel_text(1, "ret;")), "");
}

TEST(Reader, TakesWhatHasNoEffectOnValues) {
  EXPECT_EQ(refusal(".loc 1 2 3\nadd.s32 %r0, %r1, 5;\n.pragma \"nounroll\";\n"), "");
  EXPECT_EQ(refusal_of(kernel_text(1, "ret;",
                                   ".file 1 \"a.cu\"\n.section .debug_loc { .b8 1 }\n.extern .func "
                                   "(.param .b32 r) f (.param .b64 x);")),
            "");
  EXPECT_EQ(refusal_of(".version 8.0\n.target sm_90a, debug\n.address_size 64\n.visible .entry "
                       "k()\n.maxntid 256, 1, 1\n"
                       ".minnctapersm 2\n.reqntid 32\n.maxnreg 64\n{ ret; }\n"),
            "");
}

TEST(Reader, NumbersHaveManyForms) {
  TestDevice device;
  const std::uint64_t to = device.put(std::vector<std::uint32_t>(8));
  device.run(kernel_text(1, kRegisters +
                                "ld.param.u64 %d0, [p0];\nmov.u32 %r0, 0x1F;\nst.global.u32 [%d0], "
                                "%r0;\nst.global.u32 [%d0+4], 017;\n"
                                "st.global.u32 [%d0+0x8], 0b101;\nst.global.u32 [%d0+12], "
                                "-2;\nst.global.u32 [%d0+16], 7U;\n"
                                "st.global.f32 [%d0+20], 0f3F800000;\nst.global.f32 [%d0+24], "
                                "1.5;\nst.global.u32 [%d0+28], 4294967295;\nret;"),
             {}, {to});
  EXPECT_EQ(
      device.get<std::uint32_t>(to),
      (std::vector<std::uint32_t>{31, 15, 5, 0xfffffffe, 7, 0x3f800000, 0x3fc00000, 0xffffffff}));
}

TEST(Reader, VariablesBeginWithNumbersOfTheirType) {
  TestDevice device;
  const std::uint64_t to = device.put(std::vector<std::uint32_t>(5));
  device.run(kernel_text(1,
                         kRegisters +
                             "ld.param.u64 %d0, [p0];\nld.global.b32 %r0, [x];\nst.global.b32 "
                             "[%d0], %r0;\nld.global.b32 %r0, [x+4];\nst.global.b32 [%d0+4], "
                             "%r0;\nld.global.b32 %r0, [x+8];\nst.global.b32 [%d0+8], "
                             "%r0;\nld.global.b32 %r0, [y+4];\nst.global.b32 [%d0+12], "
                             "%r0;\nld.global.b32 %r0, [y+12];\nst.global.b32 [%d0+16], %r0;\nret;",
                         ".global .f32 x[3] = {-0.5, 0.25, 0f3F800000};\n"
                         ".global .f64 y[2] = {-0d3FF0000000000000, 1.5};"),
             {}, {to});
  EXPECT_EQ(
      device.get<std::uint32_t>(to),
      (std::vector<std::uint32_t>{0xbf000000, 0x3e800000, 0x3f800000, 0xbff00000, 0x3ff80000}));
}

TEST(Reader, BracesHaveTheirOwnRegisters) {
  TestDevice device;
  const std::uint64_t to = device.put(std::vector<std::uint32_t>(1));
  device.run(
      kernel_text(
          1,
          kRegisters +
              "mov.u32 %r0, 1;\n{ .reg .b32 %r0; mov.u32 %r0, 50; { .reg .b32 t; mov.u32 t, 2; "
              "add.u32 %r1, %r0, t; } }\n"
              "add.u32 %r1, %r1, %r0;\nld.param.u64 %d0, [p0];\nst.global.u32 [%d0], %r1;\nret;"),
      {}, {to});
  EXPECT_EQ(device.get<std::uint32_t>(to)[0], 53U);
}

TEST(Reader, MovesOfListsPackAndUnpack) {
  TestDevice device;
  const std::uint64_t to = device.put(std::vector<std::uint32_t>(6));
  device.run(kernel_text(1, kRegisters +
                                ".reg .b128 %q;\nld.param.u64 %d0, [p0];\nmov.b64 %d1, {0x1111, "
                                "0x2222};\nmov.b64 {%h0, %h1, %h2, %h3}, %d1;\n"
                                "mov.b32 %r0, {%h2, %h0};\nst.global.b32 [%d0], %r0;\nmov.b64 {_, "
                                "%r1}, %d1;\nst.global.b32 [%d0+4], %r1;\n"
                                "mov.b32 {%h0, %h1}, 0x87654321;\nmov.b64 %d2, {%h1, %h1, %h0, "
                                "%h0};\nst.global.b64 [%d0+8], %d2;\n"
                                "mov.b128 %q, {%d1, %d2};\nmov.b128 {%d3, %d4}, %q;\nst.global.b64 "
                                "[%d0+16], %d4;\nret;"),
             {}, {to});
  EXPECT_EQ(device.get<std::uint32_t>(to),
            (std::vector<std::uint32_t>{0x11112222, 0x2222, 0x87658765, 0x43214321, 0x87658765,
                                        0x43214321}));
}

TEST(Reader, RefusesInstructionsWithTheirLine) {
  EXPECT_EQ(refusal_of(kernel_text(
                0, ".reg .f32 %f<3>;\nadd.rn.f32 %f0, %f1, %f2;\ntanh.approx.f32 %f0, %f1;\nret;")),
            "9: unknown instruction 'tanh.approx.f32'");
  for (const std::string form :
       {"add.rn.ftz.f32", "add.q32", "frobnicate", "div.full.f32", "ld.global.f128",
        "ld.shared::cluster.b32", "atom.global.sub.u32", "cvt.s32.f32", "cvt.u32", "setp.xx.s32",
        "mov.q32", "call.foo", "cvta.tex.u64"})
    EXPECT_NE(refusal(form + " %r0, %r1;").find("unknown instruction '" + form + "'"),
              std::string::npos)
        << form << ": " << refusal(form + " %r0, %r1;");
}

TEST(Reader, RefusesOperandsThatDoNotFit) {
  const std::pair<const char *, const char *> wrong[] = {
      {"add.s32 %r0, %r1;", "add.s32 has 3 operands, not 2"},
      {"add.s32 %r0, %d1, %r2;", "the register %d1 has 64 bits, and add.s32 wants 32"},
      {"add.s64 %r0, %d1, %d2;", "the register %r0 has 32 bits, and add.s64 gives 64"},
      {"add.s32 5, %r1, %r2;", "a register is wanted for the result"},
      {"add.s32 %r0, %r1, %x;", "unknown name '%x'"},
      {"add.s32 %r0, %r1, 0x1ffffffff;", "does not fit 32 bits"},
      {"add.s32 %r0, !%r1, 1;", "only predicates can be negated"},
      {"add.rn.f32 %r0, %r1, 1;", "a floating-point number is wanted"},
      {"add.s32 %r0, %r1, 0d3FF0000000000000;", "another width"},
      {"selp.b32 %r0, %r1, %r2, %r3;", "a predicate is wanted"},
      {"@%r0 ret;", "a predicate is wanted"},
      {"ld.global.b64 %r0, [%d0];", "a register of 32 bits cannot hold a .b64"},
      {"ld.global.b32 %r0, [%r1];", "an address has 64 bits"},
      {"ld.global.v2.b32 %r0, [%d0];", "a list of 2 registers is wanted"},
      {"ld.global.b32 {%r0, %r1}, [%d0];", "one register is wanted"},
      {"ld.global.b32 %r0, %d0;", "an address such as [%rd1+4] is wanted"},
      {"ld.param.b32 %r0, [nothing];", "there is no parameter nothing"},
      {"cvt.u64.u32 %r0, %r1;", "a register is narrower than its type"},
      {"bra NOWHERE;", "there is no label NOWHERE"},
      {"mov.b64 %d0, {%r0, %r1, %r2};", "a list of that length"}};
  for (const auto &[statement, words] : wrong)
    EXPECT_NE(refusal(statement).find(words), std::string::npos)
        << statement << ": " << refusal(statement);
}

TEST(Reader, RefusesTextsThatAreNoModules) {
  const std::pair<std::string, const char *> wrong[] = {
      {"", "1: '.version' is wanted, found the end of the text"},
      {".version 8.0\n.target sm_90\n.address_size 32\n", "3: addresses have 64 bits here"},
      {".version 8.0\n.target sm_90\n.address_size 64\nhello",
       "4: an entry, a function or a variable is wanted, found 'hello'"},
      {kernel_text(0, "ret;") + kernel_text(0, "ret;"),
       "9: an entry, a function or a variable is wanted, found '.version'"},
      {kernel_text(0, "add.s32 x"), "';' is wanted, found '}'"},
      {kernel_text(0, "ret; #"), "the character '#' has no place in PTX"},
      {kernel_text(0, ".reg .b8 %x;"), "a type of registers such as .b32 is wanted"},
      {kernel_text(0, "L: ret;\nL: ret;"), "the label 'L' stands twice"},
      {kernel_text(0, "/* no end"), "a comment without an end"},
      {kernel_text(0, "mov.f32 %x, 0f12;"), "should have 8 hexadecimal digits"},
      {kernel_text(0, "mov.f32 %x, -0f3F800000;"), "the sign of 0f.. is one of its bits"},
      {kernel_text(0, "ret;", ".func f() { ret; }"), "functions that are no kernels are not known"},
      {kernel_text(0, "ret;", ".extern .global .b32 x;"),
       "is in no module that is linked with this one"},
      {kernel_text(0, "ret;", ".global .b32 x[1] = {1, 2};"),
       "more initial values than x has elements"},
      {kernel_text(0, "ret;", ".global .align 3 .b32 x;"), "an alignment is a power of two"}};
  for (const auto &[text, words] : wrong)
    EXPECT_NE(refusal_of(text).find(words), std::string::npos) << refusal_of(text) << "\n" << words;
}

TEST(Reader, TargetsRunOnTheirChipOrLaterOnes) {
  EXPECT_TRUE(can_run(90, "sm_75"));
  EXPECT_TRUE(can_run(90, "sm_90"));
  EXPECT_TRUE(can_run(90, "sm_90a"));
  EXPECT_FALSE(can_run(89, "sm_90"));
  EXPECT_FALSE(can_run(100, "sm_90a"));
  EXPECT_TRUE(can_run(103, "sm_100f"));
  EXPECT_FALSE(can_run(120, "sm_100f"));
  EXPECT_FALSE(can_run(90, "compute_90"));
}

TEST(Reader, LaunchesHaveLimits) {
  TestDevice device;
  const auto program = device.load(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .b32 a, .param .b64 "
      "b)\n"
      ".maxntid 128, 1, 1\n{ .shared .b8 room[1024]; .reg .b32 %r; mov.u32 %r, room; ret; }\n");
  const auto refused = [&](Shape shape, std::size_t parameters = 2) -> std::string {
    try {
      device.run(*program, shape, std::vector<std::uint64_t>(parameters));
    } catch (const std::invalid_argument &error) {
      return error.what();
    }
    return "";
  };
  const auto shape = [](std::uint32_t grid, std::uint32_t block, std::uint32_t shared = 0) {
    Shape made;
    made.grid[0] = grid;
    made.block[0] = block;
    made.dynamic_shared = shared;
    return made;
  };
  EXPECT_EQ(refused(shape(1, 128)), "");
  EXPECT_NE(refused(shape(1, 129)).find("more than the 128 of .maxntid"), std::string::npos);
  EXPECT_NE(refused(shape(0, 1)).find("is empty"), std::string::npos);
  EXPECT_NE(refused(shape(1, 2048)).find("is more than"), std::string::npos);
  EXPECT_NE(refused(shape(1, 1), 3).find("24 bytes of parameters, where the kernel has 16"),
            std::string::npos);
  EXPECT_NE(refused(shape(1, 1, 240 << 10)).find("bytes of shared memory are more than"),
            std::string::npos);
}

} // namespace
} // namespace weft::emulator
