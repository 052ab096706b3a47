// The caching allocator behind tensors and arenas.
//
// Small blocks (up to 64 KiB) come from free lists of the calling thread, one per size class: no
// lock, no malloc, no atomic read-modify-write. A list that is empty or full exchanges a batch with
// the common store under its lock, so blocks may be freed on another thread than they were
// allocated on. Large blocks come from a shared cache with a cap, and otherwise from the system. A
// free small block serves its own size; before an allocation fails, pages whose blocks are all free
// go back. Every block is aligned to 64 bytes.
//
// Under AddressSanitizer small blocks come from malloc instead, so that it sees every use after
// free and every leak.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_UNCACHED_SMALL_BLOCKS 1
#endif
#endif

namespace weft::allocator {

inline constexpr std::size_t kAlignment = 64;
inline constexpr std::size_t kSmallLimit = std::size_t{64} << 10;
/// Multiples of 64 up to 1 KiB, then four sizes for each doubling.
inline constexpr unsigned kSmallClasses = 16 + 6 * 4;
/// The class of blocks above kSmallLimit, which know their own size.
inline constexpr std::uint8_t kLargeClass = 0xff;

/// The smallest class whose blocks hold `bytes` (1 to kSmallLimit).
constexpr unsigned small_class(std::size_t bytes) {
  if (bytes <= 1024) return static_cast<unsigned>((bytes + 63) / 64) - 1;
  const unsigned doubling = 63 - static_cast<unsigned>(std::countl_zero(bytes - 1)); // 10 to 15
  return 16 + (doubling - 10) * 4 + static_cast<unsigned>((bytes - 1) >> (doubling - 2) & 3);
}
/// Bytes of a block of a small class.
constexpr std::size_t small_class_bytes(unsigned size_class) {
  if (size_class < 16) return (size_class + 1) * std::size_t{64};
  const unsigned step = size_class - 16;
  return (std::size_t{5} + step % 4) << (8 + step / 4);
}

/// A block and the class that it must be freed with.
struct Block {
  void *memory;
  std::uint8_t size_class;
};

struct FreeBlock {
  FreeBlock *next;
};

/// The free blocks of one thread.
struct ThreadCache {
  struct Bin {
    FreeBlock *head = nullptr;
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;
    std::int64_t bytes = 0; ///< of one block
  };
  Bin bins[kSmallClasses];
  /// Bytes of small blocks that this thread took minus those it freed. Written by its thread only,
  /// read by whoever sums up; a sum over all threads is exact, one thread's may be negative.
  std::atomic<std::int64_t> in_use{0};
  ThreadCache *next = nullptr; ///< in the list of all caches

  void count(std::int64_t bytes) {
    in_use.store(in_use.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  }
};

// Initial-exec: one instruction to read, where a shared library would otherwise call a function.
extern thread_local constinit ThreadCache *thread_cache __attribute__((tls_model("initial-exec")));

Block allocate_small_slowly(unsigned size_class);
Block allocate_large(std::size_t bytes);
void deallocate_slowly(void *memory, std::uint8_t size_class) noexcept;

/// A block of at least `bytes` bytes (more than 0). Throws OutOfMemory.
inline Block allocate(std::size_t bytes) {
  if (__builtin_expect(bytes > kSmallLimit, 0)) return allocate_large(bytes);
  const unsigned size_class = small_class(bytes);
  ThreadCache *cache = thread_cache;
  if (__builtin_expect(cache != nullptr, 1)) {
    ThreadCache::Bin &bin = cache->bins[size_class];
    if (FreeBlock *block = bin.head; __builtin_expect(block != nullptr, 1)) {
      bin.head = block->next;
      --bin.count;
      cache->count(bin.bytes);
      return {block, static_cast<std::uint8_t>(size_class)};
    }
  }
  return allocate_small_slowly(size_class);
}

/// Gives back what allocate gave, on any thread.
inline void deallocate(void *memory, std::uint8_t size_class) noexcept {
  ThreadCache *cache = thread_cache;
  if (__builtin_expect(size_class < kSmallClasses && cache != nullptr, 1)) {
    ThreadCache::Bin &bin = cache->bins[size_class];
    if (__builtin_expect(bin.count < bin.capacity, 1)) {
      auto *block = static_cast<FreeBlock *>(memory);
      block->next = bin.head;
      bin.head = block;
      ++bin.count;
      cache->count(-bin.bytes);
      return;
    }
  }
  deallocate_slowly(memory, size_class);
}

} // namespace weft::allocator
