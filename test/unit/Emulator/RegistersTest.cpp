// The places of registers: shared by those that do not live at the same time, never by others.
#include "TestDevice.h"

#include "Emulator/Program/Registers.h"
#include "Emulator/Ptx/Parser.h"

namespace weft::emulator {
namespace {

TEST(Registers, ThatAreNotLiveTogetherShareAPlace) {
  std::string body = ".reg .b32 %r<200>;\nmov.u32 %r0, %laneid;\n";
  for (int i = 1; i < 200; ++i)
    body += "add.u32 %r" + std::to_string(i) + ", %r" + std::to_string(i - 1) + ", 1;\n";
  const std::string text = kernel_text(0, body + "ret;");
  const ptx::Module module = ptx::parse(text);
  const ptx::Function &function = module.functions[0];
  const RegisterPlan plan = plan_registers(function, std::vector<bool>(function.registers.size()));
  EXPECT_LE(plan.bytes, 2U * 128);
}

/// Random programs with loops, whose results do not depend on whether registers share places: each
/// variable is stored to memory as well whenever it changes, and compared whenever it is read.
class Writer {
public:
  explicit Writer(unsigned seed) : random_(seed) {}

  std::string write() {
    block(3);
    return text_;
  }

private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string reg(int i) { return "%v" + std::to_string(i); }

  void change(int i, int j, int k) {
    text_ += "mad.lo.u32 " + reg(i) + ", " + reg(j) + ", 5, " + reg(k) + ";\n";
    text_ += "st.local.u32 [own+" + std::to_string(4 * i) + "], " + reg(i) + ";\n";
  }
  void check(int i) {
    text_ += "ld.local.u32 %c, [own+" + std::to_string(4 * i) + "];\nsetp.ne.u32 %q, %c, " +
             reg(i) + ";\n@%q add.u32 %bad, %bad, 1;\n";
  }
  void block(int depth) {
    for (int n = 2 + pick(4); n > 0; --n) {
      const int what = pick(6);
      if (what < 3 || depth == 0) {
        const int i = pick(kVariables), j = pick(kVariables), k = pick(kVariables);
        check(j);
        check(k);
        change(i, j, k);
      } else if (what < 5) { // under a condition of the lane
        const std::string label = "S" + std::to_string(labels_++);
        text_ += "and.b32 %c, %t, " + std::to_string(1 + pick(7)) +
                 ";\nsetp.eq.u32 %q, %c, 0;\n@%q bra " + label + ";\n";
        block(depth - 1);
        text_ += label + ":\n";
      } else {
        const std::string label = "L" + std::to_string(labels_),
                          count = "%n" + std::to_string(labels_);
        ++labels_;
        text_ += "{ .reg .u32 " + count + ";\nmov.u32 " + count + ", 0;\n" + label + ":\n";
        block(depth - 1);
        text_ += "add.u32 " + count + ", " + count + ", 1;\nsetp.lt.u32 %q, " + count + ", " +
                 std::to_string(2 + pick(2)) + ";\n@%q bra " + label + ";\n}\n";
      }
    }
  }

public:
  static constexpr int kVariables = 9;

private:
  std::mt19937 random_;
  std::string text_;
  int labels_ = 0;
};

TEST(Registers, ThatAreLiveTogetherDoNot) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::string body = ".local .align 4 .b8 own[64];\n.reg .u32 %t, %c, %bad, %v<" +
                       std::to_string(Writer::kVariables) +
                       ">;\n.reg .pred %q;\n.reg .b64 %x;\nmov.u32 %t, %tid.x;\nmov.u32 %bad, 0;\n";
    for (int i = 0; i < Writer::kVariables; ++i)
      body += "add.u32 %v" + std::to_string(i) + ", %t, " + std::to_string(i) +
              ";\nst.local.u32 [own+" + std::to_string(4 * i) + "], %v" + std::to_string(i) + ";\n";
    body += Writer(seed).write() +
            "ld.param.u64 %x, [p0];\nmad.wide.u32 %x, %t, 4, %x;\nst.global.u32 [%x], %bad;\nret;";
    TestDevice device;
    device.schedule.stress = true;
    Shape shape;
    shape.block[0] = 32;
    const std::uint64_t to = device.put(std::vector<std::uint32_t>(32));
    EXPECT_EQ(reports_of(*device.run(kernel_text(1, body), shape, {to})), "");
    EXPECT_EQ(device.get<std::uint32_t>(to), std::vector<std::uint32_t>(32)) << "seed " << seed;
  }
}

// What a lane computes once may be read in later rounds, which pass by where it is computed.
TEST(Registers, OfAnEarlierRoundStay) {
  const std::string body = R"(.reg .b32 %t, %i, %a, %b, %c, %s; .reg .pred %p; .reg .b64 %x;
mov.u32 %t, %tid.x; mov.u32 %i, 0; mov.u32 %s, 0;
L: setp.ne.u32 %p, %i, 0;
@%p bra S;
add.u32 %a, %t, 7;
S: add.u32 %b, %i, 1; mul.lo.u32 %c, %b, 3;
mad.lo.u32 %s, %a, %c, %s;
add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 3; @%p bra L;
ld.param.u64 %x, [p0]; mad.wide.u32 %x, %t, 4, %x; st.global.u32 [%x], %s; ret;)";
  TestDevice device;
  Shape shape;
  shape.block[0] = 32;
  const std::uint64_t to = device.put(std::vector<std::uint32_t>(32));
  device.run(kernel_text(1, body), shape, {to});
  for (std::uint32_t t = 0; t < 32; ++t) EXPECT_EQ(device.get<std::uint32_t>(to)[t], (t + 7) * 18);
}

} // namespace
} // namespace weft::emulator
