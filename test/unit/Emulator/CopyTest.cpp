// cp.async: what is copied, what may be read when, and that copying at once and as late as allowed
// leave the same bits.
#include "Evaluate.h"

namespace weft::emulator {
namespace {

struct Outcome {
  std::vector<std::uint32_t> words; ///< that each thread of a block stored
  std::string reports;
};

/// A block whose threads have %x, their 16 bytes of global memory, of the first of some parts; %r9,
/// their 16 bytes of shared memory; %r8, those of the thread 32 before or behind; and store %r0.
Outcome run(const std::string &body, bool late, std::uint32_t threads = 64, int parts = 1) {
  TestDevice device;
  device.schedule.stress = late;
  device.schedule.seed = late ? 3 : 0;
  std::vector<std::uint32_t> numbers(4 * std::size_t{threads} * static_cast<std::size_t>(parts));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = 1000 + static_cast<std::uint32_t>(i);
  const std::uint64_t from = device.put(numbers),
                      to = device.put(std::vector<std::uint32_t>(threads));
  Shape shape;
  shape.block[0] = threads;
  const auto launch = device.run(
      kernel_text(2,
                  ".reg .b64 %x, %y;\n.reg .b32 %t, %r<10>;\n.reg .pred %p<3>;\n.shared .align 16 "
                  ".b8 room[4096];\nmov.u32 %t, %tid.x;\nmov.u32 %r7, room;\n"
                  "mad.lo.u32 %r9, %t, 16, %r7;\nxor.b32 %r8, %t, 32;\n"
                  "mad.lo.u32 %r8, %r8, 16, %r7;\nld.param.u64 %x, [p0];\n"
                  "mad.wide.u32 %x, %t, 16, %x;\nmov.u32 %r0, 0;\n" +
                      body +
                      "ld.param.u64 %y, [p1];\nmad.wide.u32 %y, %t, 4, %y;\n"
                      "st.global.u32 [%y], %r0;\nret;\n"),
      shape, {from, to});
  return {device.get<std::uint32_t>(to), reports_of(*launch)};
}

/// What both ways leave, without reports.
std::vector<std::uint32_t> words_of(const std::string &body) {
  const Outcome at_once = run(body, false), late = run(body, true);
  EXPECT_EQ(at_once.reports, "") << body;
  EXPECT_EQ(late.reports, "") << body;
  EXPECT_EQ(at_once.words, late.words) << body;
  return at_once.words;
}

std::vector<std::uint32_t> each(std::uint32_t first, std::uint32_t step) {
  std::vector<std::uint32_t> words;
  for (std::uint32_t t = 0; t < 64; ++t) words.push_back(first + t * step);
  return words;
}

const std::string kCopy = "cp.async.cg.shared.global [%r9], [%x], 16;\n";
const std::string kCommit = "cp.async.commit_group;\n", kWaitAll = "cp.async.wait_all;\n";
std::string wait(int pending) { return "cp.async.wait_group " + std::to_string(pending) + ";\n"; }
std::string load(const std::string &where) { return "ld.shared.u32 %r0, [" + where + "];\n"; }

TEST(Copies, OfEachSize) {
  for (const std::string form :
       {"cp.async.commit_group", "cp.async.wait_group", "cp.async.wait_all"})
    note_tested(form);
  EXPECT_EQ(words_of(kCopy + kWaitAll + load("%r9+12")), each(1003, 4));
  EXPECT_EQ(
      words_of("cp.async.ca.shared.global.L2::128B [%r9], [%x+4], 4;\n" + kWaitAll + load("%r9")),
      each(1001, 4));
  EXPECT_EQ(words_of("cp.async.ca.shared::cta.global [%r9+8], [%x+8], 8;\n" + kCommit + wait(0) +
                     load("%r9+12")),
            each(1003, 4));
  EXPECT_EQ(words_of("cp.async.ca.shared.global [%r9], [%x], 16;\n" + kWaitAll + load("%r9+4")),
            each(1001, 4));
}

// Behind the bytes that are read, zeros are written.
TEST(Copies, FewerBytesAreRead) {
  const auto copy = [](const std::string &bytes) {
    return "cp.async.cg.shared.global [%r9], [%x], 16, " + bytes + ";\n" + kWaitAll;
  };
  EXPECT_EQ(words_of(copy("8") + load("%r9+4")), each(1001, 4));
  EXPECT_EQ(words_of(copy("8") + load("%r9+8")), each(0, 0));
  EXPECT_EQ(words_of("mov.u32 %r1, 0;\nmov.u64 %x, 0;\n" + copy("%r1") + load("%r9")), each(0, 0))
      << "nothing is read, so the address does not matter";
  EXPECT_EQ(words_of("mov.u32 %r1, 1;\n" + copy("%r1") + load("%r9"))[6], (1000 + 24) & 0xff);
  EXPECT_NE(run("mov.u32 %r1, 17;\n" + copy("%r1"), false).reports.find("17 bytes"),
            std::string::npos);
}

// The latest N groups may be under way, the others are there.
TEST(Copies, GroupsAreWaitedForInOrder) {
  const auto part = [](int i) {
    const std::string at = std::to_string(4 * i);
    return "cp.async.ca.shared.global [%r9+" + at + "], [%x+" + at + "], 4;\n" + kCommit;
  };
  const std::string begun = part(0) + part(1) + part(2);
  EXPECT_EQ(words_of(begun + wait(2) + load("%r9")), each(1000, 4));
  EXPECT_EQ(words_of(begun + wait(1) + load("%r9+4")), each(1001, 4));
  EXPECT_EQ(words_of(begun + wait(0) + load("%r9+8")), each(1002, 4));
  for (const bool late : {false, true}) {
    EXPECT_NE(run(begun + wait(2) + load("%r9+4"), late).reports.find("nobody wrote"),
              std::string::npos);
    EXPECT_NE(run(begun + wait(1) + load("%r9+8"), late).reports.find("nobody wrote"),
              std::string::npos);
    // What is in no group, only wait_all waits for.
    EXPECT_NE(run(kCopy + wait(0) + load("%r9"), late).reports.find("nobody wrote"),
              std::string::npos);
    EXPECT_NE(run(kCopy + kCommit + load("%r9"), late).reports.find("nobody wrote"),
              std::string::npos);
  }
  // Empty groups count.
  EXPECT_EQ(words_of(kCopy + kCommit + kCommit + wait(1) + load("%r9")), each(1000, 4));
}

// A missing wait shows in the bits as well, where nobody looks at what was written.
TEST(Copies, LateOnesAreNotThereBefore) {
  const std::string body = kCopy + load("%r9");
  EXPECT_EQ(run(body, false).words, each(1000, 4));
  EXPECT_NE(run(body, true).words, each(1000, 4));
}

// Who did not begin a copy needs a barrier behind the wait.
TEST(Copies, OthersNeedABarrier) {
  EXPECT_EQ(words_of(kCopy + kWaitAll + "bar.sync 0;\n" + load("%r8"))[0], 1000U + 4 * 32);
  for (const bool late : {false, true}) {
    EXPECT_NE(run(kCopy + kWaitAll + load("%r8"), late).reports, "");
    EXPECT_NE(run(kCopy + "bar.sync 0;\n" + kWaitAll + load("%r8"), late).reports, "")
        << "the barrier is before the wait";
  }
}

// Parts go through three stages of shared memory, two of them ahead of the one that is read, as in
// products: what is waited for, and where the barrier is, decides whether that is right.
TEST(Copies, StagesOfAPipeline) {
  constexpr int kParts = 5, kStages = 3;
  const auto copied = [](int part) {
    if (part >= kParts) return kCommit; // an empty group, so that the same wait is right
    return "cp.async.cg.shared.global [%r9+" + std::to_string(part % kStages * 1024) + "], [%x+" +
           std::to_string(part * 1024) + "], 16;\n" + kCommit;
  };
  const auto pipeline = [&](int pending, bool has_barrier, bool copies_behind_it) {
    std::string body = copied(0) + copied(1);
    for (int part = 0; part < kParts; ++part) {
      const std::string next = copied(part + kStages - 1);
      body += wait(pending) + (copies_behind_it ? "" : next) +
              (has_barrier ? "bar.sync 0;\n" : "") + (copies_behind_it ? next : "") +
              "ld.shared.u32 %r1, [%r8+" + std::to_string(part % kStages * 1024) +
              "];\nadd.u32 %r0, %r0, %r1;\n";
    }
    return body;
  };
  for (const bool late : {false, true}) {
    const Outcome right = run(pipeline(kStages - 2, true, true), late, 64, kParts);
    EXPECT_EQ(right.reports, "");
    for (std::uint32_t t = 0; t < 64; ++t)
      EXPECT_EQ(right.words[t], kParts * (1000 + 4 * (t ^ 32)) + 256 * (0 + 1 + 2 + 3 + 4));
    EXPECT_NE(run(pipeline(kStages - 1, true, true), late, 64, kParts).reports.find("nobody wrote"),
              std::string::npos)
        << "one group more may be under way";
    EXPECT_NE(run(pipeline(kStages - 2, false, true), late, 64, kParts).reports, "");
    EXPECT_NE(run(pipeline(kStages - 2, true, false), late, 64, kParts).reports.find("race"),
              std::string::npos)
        << "others may still read what is copied to";
  }
}

// A buffer is copied to again only when all have read it.
TEST(Copies, ABufferThatIsStillReadIsARace) {
  const std::string first = kCopy + kWaitAll + "bar.sync 0;\n" + load("%r8");
  const std::string again = kCopy + kWaitAll;
  EXPECT_EQ(words_of(first + "bar.sync 0;\n" + again)[0], 1000U + 4 * 32);
  for (const bool late : {false, true})
    EXPECT_NE(run(first + again, late).reports.find("race"), std::string::npos);
}

TEST(Copies, AddressesAreChecked) {
  for (const bool late : {false, true}) {
    EXPECT_NE(run("add.u64 %x, %x, 4;\n" + kCopy, late).reports.find("no multiple of 16"),
              std::string::npos);
    EXPECT_NE(run("add.u32 %r9, %r9, 8;\n" + kCopy, late).reports.find("no multiple of 16"),
              std::string::npos);
    EXPECT_NE(run("add.u32 %r9, %r9, 4096;\n" + kCopy, late).reports.find("outside"),
              std::string::npos);
    EXPECT_NE(run("add.u64 %x, %x, 65536;\n" + kCopy, late).reports, "");
  }
}

// Lanes that branches part have groups of their own.
TEST(Copies, LanesCountTheirOwnGroups) {
  const std::string half = "setp.lt.u32 %p0, %t, 9;\n@%p0 " + kCopy + "@%p0 " + kCommit + "@!%p0 " +
                           kCommit + "@!%p0 " + kCopy + "@!%p0 " + kCommit;
  EXPECT_EQ(words_of(half + wait(0) + load("%r9")), each(1000, 4));
}

TEST(Copies, FormsThatAreNone) {
  const auto refusal = [](const std::string &statement) {
    return refusal_of(kernel_text(0, ".reg .b64 %x;\n.reg .b32 %r<9>;\n" + statement + "ret;"));
  };
  EXPECT_NE(refusal("cp.async.cg.shared.global [%r1], [%x], 8;\n").find("16 bytes"),
            std::string::npos);
  EXPECT_NE(refusal("cp.async.ca.shared.global [%r1], [%x], 2;\n").find("4, 8 or 16"),
            std::string::npos);
  EXPECT_NE(refusal("cp.async.bulk.shared.global [%r1], [%x], 16;\n").find("unknown instruction"),
            std::string::npos);
}

} // namespace
} // namespace weft::emulator
