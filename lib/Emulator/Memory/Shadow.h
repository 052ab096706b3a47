// What is known of each byte of a piece of memory: whether it was written, and who touched it last.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "Emulator/Memory/Record.h"

namespace weft::emulator {

/// Who touched up to 4 KiB: records of pieces of 4 bytes, or of smaller ones where memory was ever
/// accessed by less.
///
/// Two host threads may run blocks that touch neighbouring bytes, or race in earnest, which is what
/// the records find: they are plain numbers, and the worst that may happen is a report less.
struct Stretch {
  static constexpr std::uint64_t kBytes = 4096;

  std::uint32_t bytes = 0;
  int shift = 2;                     ///< a record for each 1 << shift bytes
  std::atomic<Record> touched_by{0}; ///< the first record of the launch that was here last
  std::unique_ptr<Record[]> writers, readers;
  std::unique_ptr<std::uint32_t[]> reader_warps;
  std::unique_ptr<Stretch> larger; ///< what this was split of

  Stretch(std::uint32_t of_bytes, int of_shift);

  Granule granule(std::uint64_t offset) const {
    const std::uint64_t i = offset >> shift;
    return {writers[i], readers[i], reader_warps[i]};
  }
};

/// The shadow of an allocation, in stretches that come into being when they are touched.
class Shadow {
public:
  /// `written`: as if somebody had written all of it.
  Shadow(std::uint64_t bytes, bool written);
  ~Shadow();
  Shadow(const Shadow &) = delete;
  Shadow &operator=(const Shadow &) = delete;

  /// The stretch with the byte at `offset`, with records of pieces of at most 1 << shift bytes.
  [[gnu::always_inline]] Stretch &at(std::uint64_t offset, int shift) const {
    Stretch *found = stretches_[offset / Stretch::kBytes].load(std::memory_order_acquire);
    if (found != nullptr && found->shift <= shift) [[likely]]
      return *found;
    return make(offset / Stretch::kBytes, shift);
  }

  /// Whether all of these bytes were written.
  [[gnu::always_inline]] bool is_written(std::uint64_t offset, std::uint64_t bytes) const {
    std::uint64_t missing = 0;
    for_words(offset, offset + bytes, [&](std::uint64_t word, std::uint64_t mask) {
      missing |= ~written_[word].load(std::memory_order_relaxed) & mask;
    });
    return missing == 0;
  }
  [[gnu::always_inline]] void mark_written(std::uint64_t offset, std::uint64_t bytes) const {
    for_words(offset, offset + bytes, [&](std::uint64_t word, std::uint64_t mask) {
      if ((~written_[word].load(std::memory_order_relaxed) & mask) != 0)
        written_[word].fetch_or(mask, std::memory_order_relaxed);
    });
  }
  /// Marks these bytes as nobody's, as shared memory is when a block begins.
  void forget_written(std::uint64_t offset, std::uint64_t bytes) const;
  /// Of each byte, whether `source` has it as written.
  void copy_written(std::uint64_t to, const Shadow &source, std::uint64_t from,
                    std::uint64_t bytes) const;
  /// Forgets who touched it, when serial numbers begin anew.
  void forget_records() const;

  /// Calls `take(stretch, offset)` for the stretches that there are.
  template <class Take>
  void for_each(const Take &take) const {
    for (std::size_t i = 0; i < count_; ++i)
      if (Stretch *stretch = stretches_[i].load(std::memory_order_acquire))
        take(*stretch, i * Stretch::kBytes);
  }

private:
  /// Calls `take(word, mask)` for the words of bits that [begin, end) lies in.
  template <class Take>
  [[gnu::always_inline]] static void for_words(std::uint64_t begin, std::uint64_t end,
                                               const Take &take) {
    while (begin < end) {
      const std::uint64_t next = (begin / 64 + 1) * 64, stop = next < end ? next : end;
      const std::uint64_t count = stop - begin;
      const std::uint64_t ones = count == 64 ? ~0ULL : (1ULL << count) - 1;
      take(begin / 64, ones << (begin % 64));
      begin = stop;
    }
  }

  Stretch &make(std::uint64_t number, int shift) const;

  struct Free {
    void operator()(void *memory) const;
  };

  std::uint64_t bytes_;
  std::size_t count_;
  std::unique_ptr<std::atomic<std::uint64_t>[], Free> written_; ///< a bit for each byte
  std::unique_ptr<std::atomic<Stretch *>[]> stretches_;
};

} // namespace weft::emulator
