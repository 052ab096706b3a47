// Memory of tensors: how much is in use, and what the allocator keeps for later.
#pragma once

#include <cstddef>

namespace weft {

/// Bytes that Weft's allocator counts, over all threads of the process. External memory (mapped
/// files, memory of other libraries) is not counted.
struct MemoryStats {
  /// Bytes of the blocks that tensors and arenas hold now, as the allocator rounds them: to 64
  /// bytes, above 1 KiB to a quarter of a power of two, above 64 KiB to pages.
  std::size_t current = 0;
  /// The largest `current` since the start or the last reset_peak(). It is sampled whenever a
  /// thread fetches small blocks from the common store, a block above 64 KiB comes or goes, or
  /// statistics are asked for: small blocks a thread takes from its own cache in between may be
  /// missed, at most what that cache holds (128 KiB per size).
  std::size_t peak = 0;
  /// Bytes taken from the system and not in use: what threads and the common store keep for later.
  std::size_t cached = 0;
};

/// The counts at this moment.
MemoryStats memory_stats();

/// Starts measuring `peak` anew from the present `current`.
void reset_peak();

/// Gives what nobody uses back to the system: blocks above 64 KiB, and the chunks of smaller ones
/// none of which is in use. (This also happens by itself before an allocation fails.)
void release_cached_memory();

/// Sets how many bytes of free blocks above 64 KiB are kept; the default is 1 GiB, or a quarter of
/// the machine's memory if that is less.
void set_memory_cache_limit(std::size_t bytes);

} // namespace weft
