// Grows and keeps the per-thread packing buffers.

#include "Kernels/MatmulScratch.h"
#include "Support/ThreadExit.h"

#include <cstdint>
#include <cstdlib>
#include <sys/mman.h>

namespace weft::kernels {
namespace {

constexpr size_t kHugePage = size_t(2) << 20;
constexpr size_t kMostBytes = size_t(1) << 39; ///< more than any machine would give

struct Buffer {
  void *memory = nullptr;
  size_t size = 0;

  void *at_least(size_t bytes) noexcept {
    if (bytes <= size) return memory;
    // A power of two, so that a series of growing products does not allocate each time.
    size_t grown = size_t(1) << 14;
    while (grown < bytes) {
      if (grown >= kMostBytes) return nullptr;
      grown *= 2;
    }
    std::free(memory);
    memory = std::aligned_alloc(grown < kHugePage ? 64 : kHugePage, grown);
    size = memory ? grown : 0;
    // Large pages where the system grants them: packed panels are read at a stride of many pages.
    if (size >= kHugePage) madvise(memory, size, MADV_HUGEPAGE);
    return memory;
  }
};

thread_local constinit Buffer buffers[static_cast<int>(Scratch::count)];

void free_buffers() noexcept {
  for (Buffer &buffer : buffers) {
    std::free(buffer.memory);
    buffer = {};
  }
}

} // namespace

void *scratch(Scratch use, size_t bytes) noexcept {
  at_thread_end<free_buffers>();
  return buffers[static_cast<int>(use)].at_least(bytes);
}

} // namespace weft::kernels
