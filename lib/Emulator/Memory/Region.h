// A piece of memory with an address of its own: an allocation, or the shared memory of a block.
#pragma once

#include <cstddef>
#include <cstdint>

#include "Emulator/Memory/Shadow.h"

namespace weft::emulator {

struct Region {
  std::uint64_t address; ///< as kernels see it
  std::uint64_t size;
  std::byte *bytes; ///< where the machine finds it
  Shadow shadow;

  Region(std::uint64_t at, std::uint64_t of_size, std::byte *in, bool written)
      : address(at), size(of_size), bytes(in), shadow(of_size, written) {}

  [[gnu::always_inline]] bool contains(std::uint64_t at, std::uint64_t count) const {
    return at - address <= size && count <= size - (at - address);
  }
};

} // namespace weft::emulator
