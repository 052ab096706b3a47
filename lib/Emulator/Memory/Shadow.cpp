// Stretches of shadow: made, split into smaller pieces, and asked for ranges of bytes.
#include "Emulator/Memory/Shadow.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <new>

namespace weft::emulator {
namespace {

/// Guards the making of stretches, which is rare, in all shadows.
std::mutex &making() {
  static std::mutex mutex;
  return mutex;
}

} // namespace

Stretch::Stretch(std::uint32_t of_bytes, int of_shift) : bytes(of_bytes), shift(of_shift) {
  const std::size_t pieces = (of_bytes + (1U << of_shift) - 1) >> of_shift;
  writers = std::make_unique<Record[]>(pieces);
  readers = std::make_unique<Record[]>(pieces);
  reader_warps = std::make_unique<std::uint32_t[]>(pieces);
}

void Shadow::Free::operator()(void *memory) const { std::free(memory); }

Shadow::Shadow(std::uint64_t bytes, bool written)
    : bytes_(bytes), count_((bytes + Stretch::kBytes - 1) / Stretch::kBytes),
      stretches_(std::make_unique<std::atomic<Stretch *>[]>(count_)) {
  // Pages of zeros cost nothing until they are written.
  void *words = std::calloc(bytes / 64 + 1, sizeof(std::uint64_t));
  if (words == nullptr) throw std::bad_alloc();
  written_.reset(static_cast<std::atomic<std::uint64_t> *>(words));
  if (written) mark_written(0, bytes);
}

Shadow::~Shadow() {
  for (std::size_t i = 0; i < count_; ++i) delete stretches_[i].load();
}

Stretch &Shadow::make(std::uint64_t number, int shift) const {
  const std::scoped_lock lock(making());
  Stretch *old = stretches_[number].load();
  if (old != nullptr && old->shift <= shift) return *old;
  const std::uint64_t rest = bytes_ - number * Stretch::kBytes;
  auto *made =
      new Stretch(static_cast<std::uint32_t>(std::min(rest, Stretch::kBytes)), std::min(shift, 2));
  if (old != nullptr) {
    // Smaller pieces, each with the record of the whole. Another host thread may hold the old
    // stretch and note in it for a while, so it stays.
    for (std::uint64_t offset = 0; offset < made->bytes; offset += 1U << made->shift) {
      const Granule from = old->granule(offset), to = made->granule(offset);
      to.writer = from.writer;
      to.reader = from.reader;
      to.reader_warps = from.reader_warps;
    }
    made->touched_by = old->touched_by.load();
    made->larger.reset(old);
  }
  stretches_[number].store(made, std::memory_order_release);
  return *made;
}

void Shadow::forget_written(std::uint64_t offset, std::uint64_t bytes) const {
  for_words(offset, offset + bytes, [&](std::uint64_t word, std::uint64_t mask) {
    written_[word].fetch_and(~mask, std::memory_order_relaxed);
  });
}

void Shadow::copy_written(std::uint64_t to, const Shadow &source, std::uint64_t from,
                          std::uint64_t bytes) const {
  if (source.is_written(from, bytes)) return mark_written(to, bytes);
  std::vector<bool> bits(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) bits[i] = source.is_written(from + i, 1);
  forget_written(to, bytes);
  for (std::uint64_t i = 0; i < bytes; ++i)
    if (bits[i]) mark_written(to + i, 1);
}

void Shadow::forget_records() const {
  const std::scoped_lock lock(making());
  for (std::size_t i = 0; i < count_; ++i) delete stretches_[i].exchange(nullptr);
}

} // namespace weft::emulator
