// A GPU behind the CUDA driver.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

#include "Device/Device.h"
#include "Device/Driver.h"
#include "Device/Stream.h"

namespace weft::device {

/// The most GPUs of a process.
inline constexpr std::size_t kMaxGpus = 32;

class Gpu final : public Runtime {
public:
  /// Asks the driver about a device; makes no context yet. `why` says what is wrong with it, if
  /// anything is.
  Gpu(const Driver &driver, cuda::CUdevice handle, std::uint8_t index, std::string &why);

  Device device() const override { return {DeviceKind::gpu, index_}; }
  const Facts &facts() const override { return facts_; }
  std::byte *allocate(std::size_t bytes) override;
  void release(std::byte *memory) noexcept override;
  void use(const std::byte *memory, bool writes) override;
  Device place_of(const void *address) const override;
  void copy_in(std::byte *to, const void *from, std::size_t bytes) override;
  void copy_out(void *to, const std::byte *from, std::size_t bytes) override;
  void copy(std::byte *to, const std::byte *from, std::size_t bytes) override;
  void copy_from(std::byte *to, Runtime &source, const std::byte *from, std::size_t bytes) override;
  void clear(std::byte *to, std::size_t bytes) override;
  std::shared_ptr<Program> load(const std::string &ptx, const std::string &name) override;
  void launch(const Program &program, std::size_t kernel, Dim3 grid, Dim3 block,
              std::size_t shared_bytes, void *const *arguments) override;
  void wait() override;
  /// For the work of everybody, other libraries among them.
  void wait_for_all() const;
  MemoryStats memory() const override;
  void release_cached_memory() override;

  /// While one lives, the context is the thread's current one.
  class Entered {
  public:
    explicit Entered(const Gpu &gpu);
    ~Entered();
    Entered(const Entered &) = delete;
    Entered &operator=(const Entered &) = delete;

  private:
    const Driver &driver_;
    cuda::CUcontext outer_ = nullptr;
    bool changed_ = false;
  };

  const Driver &driver() const { return driver_; }
  std::string name() const { return to_string(device()); }
  /// Throws for a result that is none: by its kind OutOfMemory, or DeviceError. `what` is a clause:
  /// "the copy of 12 bytes to the host".
  void check(cuda::CUresult result, const std::string &what) const;
  /// Whether the device works and this is the process that opened it.
  bool usable() const noexcept;
  /// An ended thread's stream is one for threads to come.
  void retire(Stream *stream) noexcept;

private:
  void make_context() const;
  Stream &stream();
  /// Whether no other thread ever had a stream here.
  bool only_stream_is_own() const;
  Stream *make_stream();
  /// Lets what comes on `later` wait for what is on `earlier`. With the lock held.
  cuda::CUresult order(const Stream &later, const Stream &earlier) const;
  void order_or_throw(const Stream &later, const Stream &earlier) const;
  Block *find_block(const std::byte *memory);
  Block *take_cached(Stream &stream, std::size_t bytes);
  void release_cached() noexcept;
  [[noreturn]] void refuse_memory(std::size_t bytes) const;
  [[noreturn]] void lose(cuda::CUresult result, const std::string &what) const;
  std::string last_launched(const Stream &stream) const;

  const Driver &driver_;
  const cuda::CUdevice handle_;
  const std::uint8_t index_;
  const std::uint32_t generation_; ///< of forks
  Facts facts_;
  const bool cached_; ///< whether freed memory is kept

  mutable std::mutex context_mutex_;
  mutable std::atomic<cuda::CUcontext> context_ = nullptr;
  mutable cuda::CUmemoryPool pool_ = nullptr;
  mutable std::atomic<const std::string *> lost_ = nullptr; ///< what happened, if it cannot be used

  mutable std::mutex mutex_; ///< for all that follows
  std::vector<Stream *> streams_, idle_;
  std::atomic<std::size_t> streams_made_ = 0;
  std::map<const std::byte *, Block, std::greater<>> blocks_; ///< held and free, by address
  MemoryStats stats_;
};

} // namespace weft::device
