// Programs: loading PTX, kernels by number, launches.
#include "Device/Program.h"
#include "OnGpu.h"
#include "Support/Ptx.h"

namespace weft::device {
namespace {

TEST(Programs, KernelsAreNumberedAsInTheText) {
  EXPECT_EQ(ptx_kernels(kPtx), (std::vector<std::string>{"add", "poke"}));
  EXPECT_EQ(ptx_kernels("/* .entry a */ .file 1 \".entry b\"\n.entry\n  c$_1(\n.entryx"),
            std::vector<std::string>{"c$_1"});
  on_gpu("", [] {
    const std::shared_ptr<Program> program = gpu().load(kPtx, "step");
    EXPECT_EQ(program->kernels(), 2U);
    EXPECT_EQ(program->kernel_name(1), "poke");
    EXPECT_EQ(program->find_kernel("poke"), 1U);
    EXPECT_EQ(program->find_kernel("peek"), 2U);
  });
}

TEST(Programs, LaunchesAreInOrder) {
  on_gpu("stress", [] {
    const std::shared_ptr<Program> program = gpu().load(kPtx, "step");
    std::byte *memory = put(gpu(), counting(256));
    for (int i = 0; i < 10; ++i) add(gpu(), *program, memory, i, 4, 64);
    add(gpu(), *program, memory, 1, 0, 64); // no blocks: nothing
    EXPECT_EQ(get<int>(gpu(), memory, 256), counting(256, 45));
  });
}

TEST(Programs, OfText) {
  on_gpu("quiet", [] {
    const std::string words = said<CompileError>([] {
      static_cast<void>(gpu().load(
          ".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { brew.u32; }", "step"));
    });
    EXPECT_EQ(words.find("step: the driver of gpu:0 does not take its PTX (CUDA_ERROR_INVALID_PTX"),
              0U)
        << words;
    EXPECT_NE(words.find("brew"), std::string::npos) << words; // of the driver's log
  });
}

TEST(Programs, EndAfterTheirWork) {
  on_gpu("stress", [] {
    std::byte *memory = put(gpu(), counting(64));
    {
      const std::shared_ptr<Program> program = gpu().load(kPtx, "step");
      add(gpu(), *program, memory, 7, 1, 64);
    }
    EXPECT_EQ(get<int>(gpu(), memory, 64), counting(64, 7));
  });
}

} // namespace
} // namespace weft::device
