// CRC-32C, Castagnoli's checksum, which records of TensorFlow's files carry.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weft {

/// The checksum of `size` bytes (RFC 3720, appendix B.4): that of "123456789" is 0xe3069283.
std::uint32_t crc32c(const void *bytes, std::size_t size) noexcept;

/// As records store it, for a checksum of bytes that hold checksums tells little.
inline std::uint32_t masked_crc32c(const void *bytes, std::size_t size) noexcept {
  const std::uint32_t crc = crc32c(bytes, size);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

} // namespace weft
