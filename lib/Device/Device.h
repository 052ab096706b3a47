// GPUs as the library uses them: memory, copies, programs of PTX, launches. Nothing here knows a
// tensor. A CUDA driver is opened by its name at the first look, and no toolkit is needed.
//
// Work of a thread on a device is in order: each thread has a stream of its own there. Only
// copies to the host and `wait` wait for it. What another thread makes may be used after `use`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <weft/device.h>
#include <weft/memory.h>

namespace weft::device {

/// What a GPU is, and what its driver can do.
struct Facts {
  std::string name;
  int major = 0, minor = 0; ///< the compute capability
  std::size_t memory_bytes = 0;
  int multiprocessors = 0;
  int driver_version = 0; ///< 12040 for CUDA 12.4
  bool graphs = false, conditional_nodes = false, tensor_maps = false;
};

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// PTX that is loaded on one device, and its kernels, numbered in the order of their `.entry` in
/// the text. Its last owner unloads it, after the work that was launched.
class Program {
public:
  virtual ~Program() = default;
  virtual std::size_t kernels() const = 0;
  virtual const std::string &kernel_name(std::size_t kernel) const = 0;
  /// The number of the kernel of that name; `kernels()` if there is none.
  virtual std::size_t find_kernel(std::string_view name) const = 0;
};

/// One GPU. Thread-safe, and never destroyed. Its context is made by the first call that needs it.
///
/// Every function throws DeviceError, naming the device, where the driver refuses it; where an
/// earlier launch failed, which the driver says late; from then on, as the device cannot be used
/// any more in this process; and in a child after a fork.
class Runtime {
public:
  virtual Device device() const = 0;
  virtual const Facts &facts() const = 0;

  /// Device memory for this thread's stream, never null, aligned to 256 bytes, for at least one
  /// byte. Throws OutOfMemory naming the device, after it has given back what was kept for later.
  virtual std::byte *allocate(std::size_t bytes) = 0;
  /// Gives it back, from any thread, as soon as the work of its thread and of all that called `use`
  /// is done with it. Null is nothing.
  virtual void release(std::byte *memory) noexcept = 0;
  /// Lets this thread's work that follows use memory that another thread allocated: behind that
  /// thread's work so far. `memory` may be inside of what was allocated. To be called before each
  /// launch that reads or writes memory which may come from elsewhere: it costs a load as long as
  /// only one thread uses the device. Before writes (`writes`) it also waits for everybody who read
  /// it.
  virtual void use(const std::byte *memory, bool writes = false) = 0;

  /// Whose memory an address is of, as the driver knows: a GPU's, or the host's.
  virtual Device place_of(const void *address) const = 0;

  /// Host to device; `from` may be reused at return.
  virtual void copy_in(std::byte *to, const void *from, std::size_t bytes) = 0;
  /// Device to host; waits for the data, and so for this thread's work before.
  virtual void copy_out(void *to, const std::byte *from, std::size_t bytes) = 0;
  /// On this device, in the order of this thread's work.
  virtual void copy(std::byte *to, const std::byte *from, std::size_t bytes) = 0;
  /// From another device's memory to this one's; waits for it.
  virtual void copy_from(std::byte *to, Runtime &source, const std::byte *from,
                         std::size_t bytes) = 0;
  /// Zeros, in the order of this thread's work.
  virtual void clear(std::byte *to, std::size_t bytes) = 0;

  /// Loads PTX; `name` is what messages call it. Throws CompileError with the driver's words.
  virtual std::shared_ptr<Program> load(const std::string &ptx, const std::string &name) = 0;
  /// Starts kernel number `kernel` with `arguments`, a pointer to each argument, which is read
  /// before this returns. A grid without blocks is no launch.
  virtual void launch(const Program &program, std::size_t kernel, Dim3 grid, Dim3 block,
                      std::size_t shared_bytes, void *const *arguments) = 0;
  /// Waits for this thread's work. Throws DeviceError for what failed in it.
  virtual void wait() = 0;

  /// Device memory that callers hold, as it was rounded, and what is kept for later.
  virtual MemoryStats memory() const = 0;
  /// Gives the driver back what is kept for later.
  virtual void release_cached_memory() = 0;

protected:
  ~Runtime() = default;
};

/// Whether DeviceScopes of this thread count now.
bool scopes_count();

/// While one lives, they do, or do not: in a trace, whose values are where the function will run,
/// and what is known of them is the host's.
class ScopesCount {
public:
  explicit ScopesCount(bool count);
  ~ScopesCount();
  ScopesCount(const ScopesCount &) = delete;
  ScopesCount &operator=(const ScopesCount &) = delete;

private:
  bool outer_;
};

/// The GPUs that can be used; empty without a driver. The first call opens it.
std::span<Runtime *const> gpus();
/// Says in a sentence why `gpus()` is empty, or has less than the driver knows; empty otherwise.
const std::string &why_none();
/// The runtime of a GPU. Throws DeviceError, which names the device and says why it cannot be used.
Runtime &runtime_of(Device device);

} // namespace weft::device
