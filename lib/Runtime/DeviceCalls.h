// What compiled programs for a GPU call, and their code as it lives on one.
//
// The entry of such a program is code of the processor, as of any other: it allocates, launches
// kernels, waits for the scalars that steer it. All buffers that it is handed and that it makes are
// in the memory of the device of CallContext::device; the functions of CallContext.h that look at
// elements bring them to the host first. The work of a call is in the order of its calls; only
// reads, prints, host calls and routines on the host wait for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "Device/Device.h"
#include "Runtime/CallContext.h"
#include "Support/Allocator.h"
#include "Support/Fork.h"

namespace weft {

/// Bytes that kernels read at once, and that buffers they are handed are aligned to.
inline constexpr std::uintptr_t kKernelAlignment = 16;

/// What LLVM calls the chip of a GPU: "sm_86", and "sm_90a" for Hopper, whose own instructions are
/// of that architecture alone.
std::string chip_of(const device::Facts &facts);
/// Whether a GPU runs kernels that were compiled for a chip: its own, or where they use what all
/// later ones have ("sm_80", but not "sm_90a"), an older one.
bool runs_code_for(const device::Facts &facts, std::string_view chip);

/// A program's kernels and constants on one device. Thread-safe.
class DeviceCode {
public:
  /// Loads the kernels; `name` is for messages. Throws CompileError and DeviceError.
  DeviceCode(device::Runtime &runtime, const std::string &ptx, const std::string &name);
  ~DeviceCode();
  DeviceCode(const DeviceCode &) = delete;
  DeviceCode &operator=(const DeviceCode &) = delete;

  device::Runtime &runtime() const { return runtime_; }
  const device::Program &program() const { return *program_; }
  /// Where the elements of a constant of the program are, which the first call brings there.
  const std::byte *constant(std::size_t number, const void *host, std::size_t bytes);

private:
  device::Runtime &runtime_;
  std::shared_ptr<const device::Program> program_;
  forks::Mutex<std::mutex> mutex_;
  std::vector<std::byte *> constants_; ///< by number; null if nobody asked yet
};

/// One call of a program on a device: what it has allocated there and on the host.
class DeviceCall {
public:
  explicit DeviceCall(DeviceCode &code) : code_(code) {}
  ~DeviceCall();
  DeviceCall(const DeviceCall &) = delete;
  DeviceCall &operator=(const DeviceCall &) = delete;

  DeviceCode &code() const { return code_; }
  device::Runtime &runtime() const { return code_.runtime(); }

  std::byte *allocate(std::size_t bytes);
  void free(std::byte *memory);

  /// Memory of the host of which `first` bytes lie before what is returned.
  std::byte *stage(std::size_t bytes, std::size_t first);
  void unstage(std::byte *memory);

private:
  struct Staged {
    std::byte *memory;
    allocator::Block block;
  };

  DeviceCode &code_;
  std::vector<std::byte *> temporaries_;
  std::vector<Staged> staged_;
};

} // namespace weft

extern "C" {

/// Launches kernel number `kernel`, in the order of the program's text. `numbers` are its blocks
/// along three axes, its threads along three axes, its bytes of shared memory, and then its `count`
/// arguments, of which it reads as many bytes as it wants. Without blocks nothing is launched.
/// Throws DeviceError.
void weft_rt_gpu_launch(weft::CallContext *context, std::int64_t kernel,
                        const std::int64_t *numbers, std::int64_t count);

/// Copies bytes of the device to the host once all launches before it are done. Throws DeviceError
/// for what failed in them.
void weft_rt_gpu_read(weft::CallContext *context, void *to, const void *from, std::int64_t bytes);

/// Copies bytes of the device to another place of it, in the order of launches.
void weft_rt_gpu_copy(weft::CallContext *context, void *to, const void *from, std::int64_t bytes);

/// Where the device has a constant of the program, of which the elements are at `host`.
const void *weft_rt_gpu_constant(weft::CallContext *context, std::int64_t number, const void *host,
                                 std::int64_t bytes);

/// As weft_rt_outside does, for indices of the device.
bool weft_rt_gpu_outside(weft::CallContext *context, std::int32_t dtype, const void *indices,
                         std::int64_t count, std::int64_t size);

/// A copy on the host of a view of the device's memory, for a routine of the library: `view` holds
/// its `rank` sizes and then its strides, in elements of `element` bytes, from `first` on. Returns
/// where the first element is; the others are as far from it as on the device. Its elements are
/// there only if `reads` is not 0.
void *weft_rt_gpu_to_host(weft::CallContext *context, const void *first, std::int64_t element,
                          std::int64_t rank, const std::int64_t *view, std::int64_t reads);
/// Frees such a copy, after its elements have been copied back if `writes` is not 0.
void weft_rt_gpu_to_device(weft::CallContext *context, void *copy, void *first,
                           std::int64_t element, std::int64_t rank, const std::int64_t *view,
                           std::int64_t writes);

/// As weft_rt_call, for an entry whose kernels are `ptx`: on GPU number `gpu`. Of each of
/// `buffer_count` buffers `bytes` are its size, and `uses` says in a letter what the code does with
/// it: r reads, w writes all of it, u updates it, - nothing. Buffers are in memory of that GPU or,
/// copied there and back, of the host. Outputs of unknown size are the GPU's memory, which
/// weft_gpu_free takes. The work of the call goes on after it returned, unless something on the
/// host waits for it.
std::int32_t weft_rt_gpu_call(weft::CompiledEntry entry, const char *ptx, std::int32_t gpu,
                              void *const *buffers, const std::int64_t *bytes, const char *uses,
                              std::int64_t buffer_count, const std::int64_t *dims,
                              std::int64_t dim_count, void **outputs,
                              std::int64_t *const *output_dims, std::int64_t output_count,
                              std::int64_t arena_bytes, const char *function,
                              const char *const *locations, std::int64_t location_count,
                              char *message, std::int64_t message_size);

} // extern "C"
