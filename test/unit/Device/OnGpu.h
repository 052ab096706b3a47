// Test bodies in processes of their own, each with the emulator as it wants it.
#pragma once

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "Device/Device.h"
#include "Emulator/Driver/Control.h"
#include <weft/error.h>

namespace weft::device {

/// Runs `body` in a child, where the driver is the emulator with `options` (WEFT_GPU_EMULATOR), or
/// the library `driver`. This process never opens one.
inline void on_gpu(const std::string &options, const std::function<void()> &body,
                   const char *driver = WEFT_GPU_EMULATOR_LIBRARY) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    setenv("WEFT_CUDA_DRIVER", driver, 1);
    setenv("WEFT_GPU_EMULATOR", options.c_str(), 1);
    try {
      body();
    } catch (const std::exception &error) {
      ADD_FAILURE() << error.what();
    }
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "see above; status " << status;
}

/// What kernels of the emulated driver did since `reset`.
class Counters {
public:
  Counters() {
    void *library = dlopen(WEFT_GPU_EMULATOR_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    read_ = reinterpret_cast<decltype(read_)>(dlsym(library, "weft_emulator_counters"));
    reset_ = reinterpret_cast<decltype(reset_)>(dlsym(library, "weft_emulator_reset_counters"));
  }
  void reset() const { reset_(); }
  weft_emulator_counters_t read() const {
    weft_emulator_counters_t counters{};
    read_(nullptr, &counters);
    return counters;
  }

private:
  decltype(&weft_emulator_counters) read_;
  decltype(&weft_emulator_reset_counters) reset_;
};

/// What an error of that kind says that `call` throws.
template <class Kind = DeviceError, class Call>
std::string said(const Call &call) {
  try {
    call();
  } catch (const Kind &error) {
    return std::string(error.message());
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

inline Runtime &gpu(std::uint8_t index = 0) { return runtime_of({DeviceKind::gpu, index}); }

template <class T>
std::byte *put(Runtime &runtime, const std::vector<T> &values) {
  std::byte *memory = runtime.allocate(values.size() * sizeof(T));
  runtime.copy_in(memory, values.data(), values.size() * sizeof(T));
  return memory;
}

template <class T>
std::vector<T> get(Runtime &runtime, const std::byte *memory, std::size_t count) {
  std::vector<T> values(count);
  runtime.copy_out(values.data(), memory, count * sizeof(T));
  return values;
}

inline std::vector<int> counting(std::size_t count, int from = 0) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), from);
  return values;
}

/// Two kernels: `add` adds p1 to each element of p0 that a thread has, `poke` writes far behind it.
inline const std::string kPtx = R"(.version 8.0
.target sm_75
.address_size 64
// .entry of a comment
.visible .entry add(.param .u64 p0, .param .u32 p1)
{
.reg .b64 %x; .reg .b32 %t, %b, %s, %v, %w;
mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %s, %ntid.x; mad.lo.u32 %t, %b, %s, %t;
ld.param.u64 %x, [p0]; ld.param.u32 %w, [p1]; mad.wide.u32 %x, %t, 4, %x;
ld.global.u32 %v, [%x]; add.u32 %v, %v, %w; st.global.u32 [%x], %v; ret;
}
.visible .entry poke(.param .u64 p0)
{
.reg .b64 %x; .reg .b32 %v;
ld.param.u64 %x, [p0]; mov.u32 %v, 1; st.global.u32 [%x+1073741824], %v; ret;
}
)";

inline void add(Runtime &runtime, const Program &program, std::byte *memory, int value,
                unsigned blocks, unsigned threads) {
  void *arguments[] = {&memory, &value};
  runtime.use(memory, true);
  runtime.launch(program, program.find_kernel("add"), {blocks}, {threads}, 0, arguments);
}

} // namespace weft::device
