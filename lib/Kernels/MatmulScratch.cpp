// Grows and keeps the per-thread packing buffers.

#include "Kernels/MatmulScratch.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace weft::kernels {
namespace {

constexpr size_t kHugePage = size_t(2) << 20;

class Buffer {
public:
  Buffer() = default;
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { std::free(memory_); }

  void *at_least(size_t bytes) noexcept {
    if (bytes <= size_) return memory_;
    // A power of two, so that a series of growing products does not allocate each time.
    size_t size = size_t(1) << 14;
    while (size < bytes) {
      if (size > (SIZE_MAX >> 2)) return nullptr;
      size *= 2;
    }
    std::free(memory_);
    memory_ = std::aligned_alloc(size < kHugePage ? 64 : kHugePage, size);
    size_ = memory_ ? size : 0;
    // Large pages where the system grants them: packed panels are read at a stride of many pages.
    if (size_ >= kHugePage) madvise(memory_, size, MADV_HUGEPAGE);
    return memory_;
  }

private:
  void *memory_ = nullptr;
  size_t size_ = 0;
};

} // namespace

void *scratch(Scratch use, size_t bytes) noexcept {
  thread_local Buffer buffers[static_cast<int>(Scratch::count)];
  return buffers[static_cast<int>(use)].at_least(bytes);
}

} // namespace weft::kernels
