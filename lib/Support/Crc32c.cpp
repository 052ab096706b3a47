// CRC-32C by eight tables, eight bytes at a time (Intel's slicing-by-8, Kounavis & Berry 2005).
#include "Support/Crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace weft {

namespace {

using Table = std::array<std::uint32_t, 256>;

/// Table k has the checksum of a byte that k zeros follow.
constexpr std::array<Table, 8> kTables = [] {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k)
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  return tables;
}();

} // namespace

std::uint32_t crc32c(const void *bytes, std::size_t size) noexcept {
  static_assert(std::endian::native == std::endian::little);
  const auto *at = static_cast<const unsigned char *>(bytes);
  std::uint32_t crc = ~0U;
  for (; size >= 8; size -= 8, at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, 8);
    eight ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][eight >> (8 * k) & 0xff];
  }
  for (; size > 0; --size, ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  return ~crc;
}

} // namespace weft
