// Memory that one call of a kernel works in, from the allocator of tensors.
#pragma once

#include "Support/Allocator.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace weft::kernels {

/// Memory to work in, freed at the end of its scope.
template <class Item>
class Room {
public:
  /// For `count` items. Throws OutOfMemory.
  explicit Room(std::int64_t count) : block_(allocator::allocate(bytes_of(count))) {}
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  ~Room() { allocator::deallocate(block_.memory, block_.size_class); }

  Item *get() const { return static_cast<Item *>(block_.memory); }

private:
  static std::size_t bytes_of(std::int64_t count) {
    constexpr std::size_t kMost = std::size_t{1} << 62; // more than there can be
    const auto items = static_cast<std::size_t>(count);
    return items > kMost / sizeof(Item) ? kMost : std::max<std::size_t>(items * sizeof(Item), 1);
  }

  allocator::Block block_;
};

} // namespace weft::kernels
