// Device memory: free lists in front of the driver's pool, and the order between threads that use
// it.
#include <algorithm>

#include "Device/Gpu.h"
#include "Support/Fault.h"
#include "Support/Fork.h"
#include "Support/SystemMemory.h"

namespace weft::device {

using namespace cuda;

namespace {

/// A free block serves a request of at least this share of it.
constexpr std::size_t kLeastFillPercent = 87;

/// What is asked of the driver for so many bytes: four sizes for each doubling, from 8 MiB on
/// multiples of 2 MiB, as the driver has pages of that size.
std::size_t rounded(std::size_t bytes) {
  if (bytes <= allocator::kSmallLimit)
    return allocator::small_class_bytes(allocator::small_class(bytes));
  const std::size_t doubling = std::bit_width(bytes - 1) - 1; // at least 16
  const std::size_t step = std::min(std::size_t{1} << (doubling - 2), std::size_t{2} << 20);
  return (bytes + step - 1) / step * step;
}

} // namespace

Block *Gpu::take_cached(Stream &stream, std::size_t bytes) {
  if (bytes <= allocator::kSmallLimit) {
    std::vector<Block *> &list = stream.small[allocator::small_class(bytes)];
    if (list.empty()) return nullptr;
    Block *block = list.back();
    list.pop_back();
    return block;
  }
  const auto found = stream.large.lower_bound(bytes);
  if (found == stream.large.end() || found->first / 100 * kLeastFillPercent > bytes) return nullptr;
  Block *block = found->second;
  stream.large.erase(found);
  return block;
}

std::byte *Gpu::allocate(std::size_t bytes) {
  const Entered entered(*this);
  Stream &own = stream();
  const std::lock_guard lock(mutex_);
  if (bytes > facts_.memory_bytes) refuse_memory(bytes);
  bytes = std::max<std::size_t>(bytes, 1);
  const std::size_t wanted = cached_ ? rounded(bytes) : bytes;
  Block *block = take_cached(own, wanted);
  if (block != nullptr) {
    stats_.cached -= block->bytes;
  } else {
    CUdeviceptr address = 0;
    CUresult result = driver_.cuMemAllocFromPoolAsync(&address, wanted, pool_, own.handle);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
      release_cached();
      result = driver_.cuMemAllocFromPoolAsync(&address, wanted, pool_, own.handle);
    }
    if (result == CUDA_ERROR_OUT_OF_MEMORY) refuse_memory(bytes);
    check(result, "an allocation of " + std::to_string(bytes) + " bytes");
    auto *memory =
        reinterpret_cast<std::byte *>(address); // NOLINT(performance-no-int-to-ptr): the driver's
    block = &blocks_[memory];
    *block = {.address = memory, .bytes = wanted, .owner = &own};
  }
  block->writer = block->owner;
  block->held = true;
  stats_.current += block->bytes;
  stats_.peak = std::max(stats_.peak, stats_.current);
  return block->address;
}

void Gpu::refuse_memory(std::size_t bytes) const {
  std::size_t free = 0, total = facts_.memory_bytes;
  driver_.cuMemGetInfo(&free, &total);
  raise(ErrorKind::out_of_memory, name() + " is out of memory: asked for " + std::to_string(bytes) +
                                      " bytes (" + system_memory::human(bytes) + "), in use " +
                                      system_memory::human(stats_.current) + "; the device has " +
                                      system_memory::human(total) + ", of which " +
                                      system_memory::human(free) + " are free");
}

Block *Gpu::find_block(const std::byte *memory) {
  const auto found = blocks_.lower_bound(memory); // the last that begins at it or before
  if (found == blocks_.end()) return nullptr;
  Block &block = found->second;
  return memory < block.address + block.bytes ? &block : nullptr;
}

void Gpu::release(std::byte *memory) noexcept {
  if (memory == nullptr || generation_ != forks::generation()) return;
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(memory);
  if (found == blocks_.end() || !found->second.held) return; // no memory of ours
  Block &block = found->second;
  block.held = false;
  stats_.current -= block.bytes;
  if (!usable()) { // lost, and all its memory with it
    blocks_.erase(found);
    return;
  }
  Stream &owner = *block.owner;
  try {
    if (block.writer != block.owner || !block.readers.empty() || !cached_) {
      // At the end of the process the driver may be gone, which does not matter then.
      const Entered entered(*this);
      if (block.writer != block.owner) order(owner, *block.writer);
      for (const Stream *reader : block.readers)
        if (reader != block.owner) order(owner, *reader);
      block.readers.clear();
      if (!cached_) {
        driver_.cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(memory), owner.handle);
        blocks_.erase(found);
        return;
      }
    }
    if (block.bytes <= allocator::kSmallLimit)
      owner.small[allocator::small_class(block.bytes)].push_back(&block);
    else owner.large.emplace(block.bytes, &block);
    stats_.cached += block.bytes;
    // NOLINTNEXTLINE(bugprone-empty-catch)
  } catch (const std::exception &) { // no room in a list, or the device was lost meanwhile
  }
}

void Gpu::use(const std::byte *memory, bool writes) {
  if (only_stream_is_own()) return;
  const Entered entered(*this);
  Stream &own = stream();
  const std::lock_guard lock(mutex_);
  Block *block = find_block(memory);
  if (block == nullptr) return; // of another library
  if (writes) {
    if (block->writer != &own) order_or_throw(own, *block->writer);
    for (const Stream *reader : block->readers)
      if (reader != &own) order_or_throw(own, *reader);
    block->readers.clear();
    block->writer = &own;
  } else if (block->writer != &own &&
             std::ranges::find(block->readers, &own) == block->readers.end()) {
    order_or_throw(own, *block->writer);
    block->readers.push_back(&own);
  }
}

CUresult Gpu::order(const Stream &later, const Stream &earlier) const {
  const CUresult result = driver_.cuEventRecord(earlier.event, earlier.handle);
  return result != CUDA_SUCCESS ? result
                                : driver_.cuStreamWaitEvent(later.handle, earlier.event, 0);
}

void Gpu::order_or_throw(const Stream &later, const Stream &earlier) const {
  check(order(later, earlier), "waiting for the work of another thread");
}

/// With the lock held, and the context entered.
void Gpu::release_cached() noexcept {
  for (Stream *stream : streams_) {
    const auto give_back = [&](Block *block) {
      driver_.cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(block->address), stream->handle);
      stats_.cached -= block->bytes;
      blocks_.erase(block->address);
    };
    for (std::vector<Block *> &list : stream->small) {
      for (Block *block : list) give_back(block);
      list.clear();
    }
    for (const auto &[bytes, block] : stream->large) give_back(block);
    stream->large.clear();
  }
  for (const Stream *stream : streams_) driver_.cuStreamSynchronize(stream->handle);
  driver_.cuMemPoolTrimTo(pool_, 0);
}

void Gpu::release_cached_memory() {
  if (context_.load(std::memory_order_acquire) == nullptr) return;
  const Entered entered(*this);
  const std::lock_guard lock(mutex_);
  release_cached();
}

MemoryStats Gpu::memory() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

} // namespace weft::device
