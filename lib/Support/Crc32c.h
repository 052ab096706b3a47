// The checksum CRC-32C (Castagnoli), as record files have it.
#pragma once

#include <cstdint>
#include <string_view>

namespace weft {

/// That of "123456789" is 0xe3069283.
std::uint32_t crc32c(std::string_view bytes) noexcept;

/// As TFRecord and event files store it, so that checksums of bytes with checksums in them stay
/// good: that of "123456789" is 0xc78ab0e5.
inline std::uint32_t masked_crc32c(std::string_view bytes) noexcept {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

} // namespace weft
