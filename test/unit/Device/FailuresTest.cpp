// What goes wrong: no driver, an old one, an old chip, a kernel that fails, a child of fork().
#include "OnGpu.h"

namespace weft::device {
namespace {

const auto use_gpu = [] { static_cast<void>(gpu()); };

TEST(Failures, NoDriver) {
  on_gpu(
      "",
      [] {
        EXPECT_TRUE(gpus().empty());
        EXPECT_EQ(devices(), std::vector<Device>{"cpu"});
        EXPECT_EQ(said(use_gpu), "cannot use gpu:0: no CUDA driver (/nowhere/libcuda.so.1: cannot "
                                 "open shared object file: No such file or directory)");
      },
      "/nowhere/libcuda.so.1");
  on_gpu(
      "", [] { EXPECT_NE(said(use_gpu).find("is no CUDA driver"), std::string::npos); },
      "libm.so.6");
}

TEST(Failures, OldDriver) {
  on_gpu("driver=11080", [] {
    EXPECT_EQ(said(use_gpu),
              "cannot use gpu:0: the CUDA driver is too old: it is one of CUDA 11.8, "
              "and CUDA 12.0 is the least that will do");
  });
}

TEST(Failures, NoDevice) {
  on_gpu("devices=0",
         [] { EXPECT_EQ(said(use_gpu), "cannot use gpu:0: the CUDA driver finds no GPU"); });
  on_gpu("", [] {
    EXPECT_EQ(said([] { static_cast<void>(gpu(1)); }),
              "cannot use gpu:1: the CUDA driver knows 1 GPU, gpu:0");
    EXPECT_EQ(said([] { static_cast<void>(runtime_of({})); }), "cannot use cpu:0: it is no GPU");
  });
}

TEST(Failures, OldChip) {
  on_gpu("chip=sm_70,quiet", [] {
    EXPECT_EQ(said(use_gpu), "cannot use gpu:0: Weft GPU emulator (sm_70) has compute capability "
                             "7.0, and 7.5 is the least that will do");
    EXPECT_TRUE(gpus().empty());
  });
}

TEST(Failures, AKernelThatFailsLosesTheDevice) {
  on_gpu("stress,quiet,devices=2", [] {
    const std::shared_ptr<Program> program = gpu().load(kPtx, "step");
    std::byte *memory = put(gpu(), counting(64));
    void *arguments[] = {&memory};
    const std::string words = said([&] {
      gpu().launch(*program, 1, {}, {}, 0, arguments);
      gpu().wait();
    });
    EXPECT_EQ(words.find("gpu:0 cannot be used any more in this process: "), 0U) << words;
    EXPECT_NE(words.find("the kernel 'poke' of 'step'"), std::string::npos) << words;
    EXPECT_NE(words.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos) << words;
    EXPECT_NE(words.find("Tensors of the host are unharmed"), std::string::npos) << words;
    EXPECT_EQ(said([] { static_cast<void>(gpu().allocate(1)); }), words);
    EXPECT_EQ(said([&] { static_cast<void>(get<int>(gpu(), memory, 1)); }), words);
    gpu().release(memory); // nothing
    EXPECT_EQ(get<int>(gpu(1), put(gpu(1), counting(8)), 8), counting(8));
  });
}

TEST(Failures, LaunchesThatTheDriverRefuses) {
  on_gpu("quiet", [] {
    const std::shared_ptr<Program> program = gpu().load(kPtx, "step");
    std::byte *memory = put(gpu(), counting(64));
    EXPECT_EQ(said([&] { add(gpu(), *program, memory, 1, 1, 4096); })
                  .find("gpu:0: the launch of the kernel 'add' of 'step' with 1x1x1 blocks of "
                        "4096x1x1 threads failed (CUDA_ERROR_INVALID_VALUE"),
              0U);
    add(gpu(), *program, memory, 1, 1, 64); // goes on
    EXPECT_EQ(get<int>(gpu(), memory, 64), counting(64, 1));
  });
}

TEST(Failures, InAChildOfFork) {
  on_gpu("", [] {
    std::byte *memory = put(gpu(), counting(8));
    const pid_t child = fork();
    if (child == 0) {
      const std::string words = said([] { static_cast<void>(gpu().allocate(1)); });
      EXPECT_EQ(words.find("gpu:0 cannot be used in a child of fork()"), 0U) << words;
      gpu().release(memory); // nothing
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(get<int>(gpu(), memory, 8), counting(8));
  });
}

} // namespace
} // namespace weft::device
