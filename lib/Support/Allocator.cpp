// The common store behind the threads' free lists, the cache of large blocks, and the counters.
#include "Support/Allocator.h"
#include "Support/Fault.h"
#include "Support/Profile.h"
#include "Support/SystemMemory.h"
#include "Support/ThreadExit.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include <pthread.h>

#include <weft/memory.h>

namespace weft::allocator {

thread_local constinit ThreadCache *thread_cache = nullptr;

namespace {

constexpr std::size_t kChunk = std::size_t{1} << 20;
constexpr std::size_t kCachedPerClass = std::size_t{128} << 10;
/// A free large block serves a request of at least this share of it.
constexpr std::size_t kLeastFillPercent = 87;

/// Stands before the memory of a large block; in its cache it is on a list by age.
struct alignas(kAlignment) LargeBlock {
  std::size_t bytes; ///< mapped, with this header
  LargeBlock *newer, *older;
  std::multimap<std::size_t, LargeBlock *>::iterator position; ///< in the cache
};

/// Everything that threads share; all of it is guarded by `mutex`. Never destroyed, because tensors
/// may outlive every static object.
class Store {
public:
  static Store &get() {
    static Store &store = *new Store;
    return store;
  }

  ThreadCache *make_thread_cache();
  void retire(ThreadCache *cache) noexcept;

  void *take_small(unsigned size_class, ThreadCache *cache);
  void put_small(FreeBlock *block, unsigned size_class, ThreadCache *cache) noexcept;
  void *take_large(std::size_t bytes);
  void put_large(LargeBlock *block) noexcept;

  /// The lock is held while the process forks, so that the child finds all in order.
  void hold() { mutex_.lock(); }
  void let_go() { mutex_.unlock(); }

  MemoryStats stats();
  void reset_peak();
  void release_cache();
  void set_limit(std::size_t bytes);

private:
  struct Bin {
    FreeBlock *head = nullptr;
    std::size_t count = 0;
  };

  std::int64_t small_in_use() const {
    std::int64_t bytes = retired_in_use_;
    for (ThreadCache *cache = caches_; cache != nullptr; cache = cache->next)
      bytes += cache->in_use.load(std::memory_order_relaxed);
    // Threads count on while we add, so that a free may be seen before its allocation.
    return std::max<std::int64_t>(bytes, 0);
  }
  std::size_t in_use() const { return static_cast<std::size_t>(small_in_use()) + large_in_use_; }
  std::size_t cached() const {
    const std::size_t small = static_cast<std::size_t>(small_in_use());
    return large_cached_ + (reserved_ > small ? reserved_ - small : 0);
  }
  void sample_peak() { peak_ = std::max(peak_, in_use()); }

  void *from_system(std::size_t bytes);
  void *new_chunk();
  void give_back_chunks() noexcept;
  void take_from(ThreadCache &cache) noexcept;
  void put(FreeBlock *block, unsigned size_class) {
    Bin &bin = bins_[size_class];
    block->next = bin.head;
    bin.head = block;
    ++bin.count;
  }
  void carve(unsigned size_class, std::size_t count);
  void shrink_cache_to(std::size_t bytes) noexcept;
  void unlink(LargeBlock *block) noexcept;

  /// Where small blocks are, and how much of it is free, for as long as that is counted.
  struct Chunk {
    std::byte *start;
    std::size_t free;
  };
  Chunk &chunk_of(const void *block);

  std::mutex mutex_;
  Bin bins_[kSmallClasses];
  std::byte *chunk_ = nullptr; ///< where small blocks are carved from
  std::size_t chunk_left_ = 0;
  std::size_t reserved_ = 0;  ///< bytes of all chunks
  std::vector<Chunk> chunks_; ///< by address
  ThreadCache *caches_ = nullptr;
  std::int64_t retired_in_use_ = 0; ///< of threads that ended, and of calls after their end
  std::multimap<std::size_t, LargeBlock *> large_;
  LargeBlock *newest_ = nullptr, *oldest_ = nullptr;
  std::size_t large_in_use_ = 0, large_cached_ = 0;
  std::size_t limit_ = std::min(std::size_t{1} << 30, system_memory::total() / 4);
  std::size_t peak_ = 0;
};

// When the library is loaded: what takes memory while a fork waits for it registers later, and its
// iteration comes before the lock.
[[maybe_unused]] const int registered = pthread_atfork(
    [] { Store::get().hold(); }, [] { Store::get().let_go(); }, [] { Store::get().let_go(); });

/// Blocks moved between a thread and the store at once.
std::uint32_t batch_of(unsigned size_class) {
  const std::size_t bytes = small_class_bytes(size_class);
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(kCachedPerClass / 2 / bytes, 1, 32));
}

/// Returns the thread's blocks to the store when the thread ends. Tensors that die later still, in
/// destructors of other thread-local objects, go to the store one by one.
thread_local constinit bool thread_ended = false;
void end_thread() noexcept {
  thread_ended = true;
  if (thread_cache != nullptr) Store::get().retire(std::exchange(thread_cache, nullptr));
}

ThreadCache *Store::make_thread_cache() {
  auto *cache = new (std::nothrow) ThreadCache;
  if (cache == nullptr) return nullptr;
  for (unsigned i = 0; i < kSmallClasses; ++i) {
    cache->bins[i].bytes = static_cast<std::int64_t>(small_class_bytes(i));
    cache->bins[i].capacity = 2 * batch_of(i);
  }
  const std::lock_guard lock(mutex_);
  cache->next = caches_;
  caches_ = cache;
  return cache;
}

void Store::retire(ThreadCache *cache) noexcept {
  {
    const std::lock_guard lock(mutex_);
    sample_peak();
    retired_in_use_ += cache->in_use.load(std::memory_order_relaxed);
    take_from(*cache);
    ThreadCache **link = &caches_;
    while (*link != cache) link = &(*link)->next;
    *link = cache->next;
  }
  delete cache;
}

/// All free blocks of a thread, which is this one or ends.
void Store::take_from(ThreadCache &cache) noexcept {
  for (unsigned i = 0; i < kSmallClasses; ++i) {
    while (FreeBlock *block = cache.bins[i].head) {
      cache.bins[i].head = block->next;
      put(block, i);
    }
    cache.bins[i].count = 0;
  }
}

Store::Chunk &Store::chunk_of(const void *block) {
  const auto after =
      std::ranges::upper_bound(chunks_, static_cast<const std::byte *>(block), {},
                               [](const Chunk &chunk) -> const std::byte * { return chunk.start; });
  return *std::prev(after);
}

/// Gives the chunks back of which no block is in use, nor in the cache of another thread: freed
/// blocks serve their own size only.
void Store::give_back_chunks() noexcept {
  if (thread_cache != nullptr) take_from(*thread_cache);
  const std::size_t small = static_cast<std::size_t>(small_in_use());
  if (reserved_ < small + kChunk) return;
  for (Chunk &chunk : chunks_) chunk.free = 0;
  for (unsigned i = 0; i < kSmallClasses; ++i)
    for (const FreeBlock *block = bins_[i].head; block != nullptr; block = block->next)
      chunk_of(block).free += small_class_bytes(i);
  if (chunk_left_ != 0) {
    Chunk &current = chunk_of(chunk_);
    current.free += chunk_left_;
    if (current.free == kChunk) chunk_left_ = 0;
  }
  for (Bin &bin : bins_) {
    FreeBlock *block = std::exchange(bin.head, nullptr);
    FreeBlock **end = &bin.head;
    bin.count = 0;
    for (; block != nullptr; block = block->next) {
      if (chunk_of(block).free == kChunk) continue;
      *end = block;
      end = &block->next;
      ++bin.count;
    }
    *end = nullptr;
  }
  reserved_ -= kChunk * std::erase_if(chunks_, [](const Chunk &chunk) {
                 if (chunk.free != kChunk) return false;
                 system_memory::unmap(chunk.start, kChunk);
                 return true;
               });
}

/// Fresh pages, after a look at what there is and, where that is too little, without the cache.
void *Store::from_system(std::size_t bytes) {
  std::optional<std::string> shortage = system_memory::shortage(bytes, in_use() + cached());
  if (!shortage) {
    if (void *memory = system_memory::map(bytes)) return memory;
  }
  shrink_cache_to(0);
  give_back_chunks();
  shortage = system_memory::shortage(bytes, in_use() + cached());
  if (!shortage) {
    if (void *memory = system_memory::map(bytes)) return memory;
    shortage = "the system gives no more pages";
  }
  throw OutOfMemory("out of memory: asked for " + std::to_string(bytes) + " bytes (" +
                    system_memory::human(bytes) + "), in use " + std::to_string(in_use()) +
                    " bytes, cached " + std::to_string(cached()) + " bytes; " + *shortage);
}

void *Store::new_chunk() {
  auto *start = static_cast<std::byte *>(from_system(kChunk));
  const auto position = std::ranges::upper_bound(chunks_, start, {}, &Chunk::start);
  try {
    chunks_.insert(position, {start, 0});
  } catch (const std::bad_alloc &) {
    system_memory::unmap(start, kChunk);
    throw OutOfMemory("out of memory: the system gives no more pages");
  }
  reserved_ += kChunk;
  return start;
}

void Store::carve(unsigned size_class, std::size_t count) {
  const std::size_t bytes = small_class_bytes(size_class);
  if (chunk_left_ < bytes) {
    // What is left of the old chunk becomes blocks of the classes it can hold.
    while (chunk_left_ != 0) {
      unsigned fit = small_class(std::min(chunk_left_, kSmallLimit));
      if (small_class_bytes(fit) > chunk_left_) --fit;
      put(reinterpret_cast<FreeBlock *>(chunk_), fit);
      chunk_ += small_class_bytes(fit);
      chunk_left_ -= small_class_bytes(fit);
    }
    chunk_ = static_cast<std::byte *>(new_chunk());
    chunk_left_ = kChunk;
  }
  for (; count != 0 && chunk_left_ >= bytes; --count) {
    put(reinterpret_cast<FreeBlock *>(chunk_), size_class);
    chunk_ += bytes;
    chunk_left_ -= bytes;
  }
}

/// One block, and a batch of others into the thread's cache (which may be null).
void *Store::take_small(unsigned size_class, ThreadCache *cache) {
  const std::lock_guard lock(mutex_);
  Bin &bin = bins_[size_class];
  const std::size_t wanted = cache == nullptr ? 1 : batch_of(size_class);
  if (bin.head == nullptr) carve(size_class, wanted);
  FreeBlock *result = bin.head;
  bin.head = result->next;
  --bin.count;
  const auto bytes = static_cast<std::int64_t>(small_class_bytes(size_class));
  if (cache == nullptr) {
    retired_in_use_ += bytes;
  } else {
    ThreadCache::Bin &own = cache->bins[size_class];
    for (std::size_t i = 1; i < wanted && bin.head != nullptr; ++i, ++own.count, --bin.count) {
      FreeBlock *block = bin.head;
      bin.head = block->next;
      block->next = own.head;
      own.head = block;
    }
    cache->count(bytes);
  }
  sample_peak();
  return result;
}

/// Takes a block back, and with it a batch of the thread's cache (which may be null), which is
/// full.
void Store::put_small(FreeBlock *block, unsigned size_class, ThreadCache *cache) noexcept {
  const std::lock_guard lock(mutex_);
  sample_peak();
  put(block, size_class);
  const auto bytes = static_cast<std::int64_t>(small_class_bytes(size_class));
  if (cache == nullptr) {
    retired_in_use_ -= bytes;
    return;
  }
  cache->count(-bytes);
  ThreadCache::Bin &own = cache->bins[size_class];
  for (std::uint32_t i = batch_of(size_class); i != 0 && own.head != nullptr; --i, --own.count) {
    FreeBlock *moved = own.head;
    own.head = moved->next;
    put(moved, size_class);
  }
}

void Store::unlink(LargeBlock *block) noexcept {
  (block->newer != nullptr ? block->newer->older : newest_) = block->older;
  (block->older != nullptr ? block->older->newer : oldest_) = block->newer;
  large_.erase(block->position);
  large_cached_ -= block->bytes;
}

void Store::shrink_cache_to(std::size_t bytes) noexcept {
  while (large_cached_ > bytes) {
    LargeBlock *block = oldest_;
    unlink(block);
    system_memory::unmap(block, block->bytes);
  }
}

void *Store::take_large(std::size_t bytes) {
  std::size_t total = 0;
  if (__builtin_add_overflow(bytes, sizeof(LargeBlock) + 4096, &total))
    total = bytes; // no such amount exists: from_system says so
  else total = system_memory::rounded(bytes + sizeof(LargeBlock));
  const std::lock_guard lock(mutex_);
  const auto found = large_.lower_bound(total);
  LargeBlock *block = nullptr;
  if (found != large_.end() && found->first / 100 * kLeastFillPercent <= total) {
    // Of those of this size the one that was freed last: its memory is in the caches still.
    block = std::prev(large_.upper_bound(found->first))->second;
    unlink(block);
  } else {
    block = new (from_system(total)) LargeBlock{total, nullptr, nullptr, {}};
  }
  large_in_use_ += block->bytes;
  sample_peak();
  return block + 1;
}

void Store::put_large(LargeBlock *block) noexcept {
  const std::lock_guard lock(mutex_);
  sample_peak();
  large_in_use_ -= block->bytes;
  if (block->bytes <= limit_) {
    try {
      block->position = large_.emplace(block->bytes, block);
    } catch (const std::bad_alloc &) {
      system_memory::unmap(block, block->bytes);
      return;
    }
    block->newer = nullptr;
    block->older = newest_;
    (newest_ != nullptr ? newest_->newer : oldest_) = block;
    newest_ = block;
    large_cached_ += block->bytes;
    shrink_cache_to(limit_);
    return;
  }
  system_memory::unmap(block, block->bytes);
}

MemoryStats Store::stats() {
  const std::lock_guard lock(mutex_);
  sample_peak();
  return {.current = in_use(), .peak = peak_, .cached = cached()};
}

void Store::reset_peak() {
  const std::lock_guard lock(mutex_);
  peak_ = in_use();
}

void Store::release_cache() {
  const std::lock_guard lock(mutex_);
  shrink_cache_to(0);
  give_back_chunks();
}

void Store::set_limit(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_ = bytes;
  shrink_cache_to(bytes);
}

#ifndef WEFT_UNCACHED_SMALL_BLOCKS
/// The thread's cache, created at the first call; null when it cannot be had or the thread is
/// ending.
ThreadCache *own_cache() {
  if (thread_cache == nullptr && !thread_ended) {
    at_thread_end<end_thread>();
    thread_cache = Store::get().make_thread_cache();
  }
  return thread_cache;
}
#else
std::atomic<std::int64_t> uncached_in_use{0}, uncached_peak{0};

void count_uncached(std::int64_t bytes) {
  const std::int64_t now = uncached_in_use += bytes;
  for (std::int64_t peak = uncached_peak; peak < now;)
    if (uncached_peak.compare_exchange_weak(peak, now)) break;
}
#endif

} // namespace

Block allocate_small_slowly(unsigned size_class) {
#ifdef WEFT_UNCACHED_SMALL_BLOCKS
  void *memory = std::aligned_alloc(kAlignment, small_class_bytes(size_class));
  if (memory == nullptr)
    throw OutOfMemory("out of memory: asked for " + std::to_string(small_class_bytes(size_class)) +
                      " bytes");
  count_uncached(static_cast<std::int64_t>(small_class_bytes(size_class)));
  return {memory, static_cast<std::uint8_t>(size_class)};
#else
  return {Store::get().take_small(size_class, own_cache()), static_cast<std::uint8_t>(size_class)};
#endif
}

Block allocate_large(std::size_t bytes) {
  profile::Scope scope(profile::Kind::allocation, "allocate");
  scope.set_value(static_cast<std::int64_t>(bytes));
  const Block block{Store::get().take_large(bytes), kLargeClass};
  if (profile::on()) profile::note_memory(/*always=*/true);
  return block;
}

void deallocate_slowly(void *memory, std::uint8_t size_class) noexcept {
  if (size_class == kLargeClass) {
    Store::get().put_large(static_cast<LargeBlock *>(memory) - 1);
    if (profile::on()) profile::note_memory(/*always=*/true);
    return;
  }
#ifdef WEFT_UNCACHED_SMALL_BLOCKS
  count_uncached(-static_cast<std::int64_t>(small_class_bytes(size_class)));
  std::free(memory);
#else
  Store::get().put_small(static_cast<FreeBlock *>(memory), size_class, own_cache());
#endif
}

} // namespace weft::allocator

namespace weft {

MemoryStats memory_stats() {
  MemoryStats stats = allocator::Store::get().stats();
#ifdef WEFT_UNCACHED_SMALL_BLOCKS
  // The two peaks need not have been at the same time, so this one is an upper bound.
  stats.current += static_cast<std::size_t>(allocator::uncached_in_use);
  stats.peak += static_cast<std::size_t>(allocator::uncached_peak);
#endif
  return stats;
}

void reset_peak() {
  allocator::Store::get().reset_peak();
#ifdef WEFT_UNCACHED_SMALL_BLOCKS
  allocator::uncached_peak = allocator::uncached_in_use.load();
#endif
}

void release_cached_memory() { allocator::Store::get().release_cache(); }

void set_memory_cache_limit(std::size_t bytes) { allocator::Store::get().set_limit(bytes); }

} // namespace weft
