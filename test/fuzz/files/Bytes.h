// Numbers in bytes, of either order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::fuzz {

/// Bytes that lie outside are 0.
inline std::uint64_t little_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;)
    value = value << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
  return value;
}
inline std::uint64_t big_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i)
    value = value << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
  return value;
}

inline std::string little(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
  return bytes;
}
inline std::string big(std::uint64_t value, std::size_t size) {
  std::string bytes;
  for (std::size_t i = size; i-- > 0;) bytes += static_cast<char>(value >> 8 * i & 0xff);
  return bytes;
}

/// Writes over what is at `at`, as far as there is something.
inline void put(std::string &bytes, std::size_t at, std::string_view value) {
  for (std::size_t i = 0; i < value.size() && at + i < bytes.size(); ++i) bytes[at + i] = value[i];
}

} // namespace weft::fuzz
