// Digests of bytes: SHA-256 (FIPS 180-4), which names cache entries by what they hold and finds
// damage in them, XXH3, and the checksum of record files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft {

/// 32 bytes that say which bytes went in.
using Digest = std::array<std::uint8_t, 32>;

/// As 64 hexadecimal digits.
std::string hex(const Digest &digest);

/// Takes bytes, in any number of pieces, and gives their digest. libweft links no library that
/// could do it: LLVM is only loaded when something must be compiled.
class Sha256 {
public:
  void update(const void *bytes, std::size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// The bytes of a number.
  template <class T>
    requires std::is_arithmetic_v<T>
  void number(T value) {
    update(&value, sizeof value);
  }
  /// A text and where it ends.
  void text(std::string_view value) {
    number(static_cast<std::uint64_t>(value.size()));
    update(value);
  }
  /// The digest of all that came; ends the use of this object.
  Digest finish();

private:
  void block(const std::uint8_t *bytes);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::uint8_t, 64> pending_{};
  std::uint64_t size_ = 0;
};

/// XXH3 of 128 bits, as fast as memory can be read: takes bytes, in any number of pieces, and gives
/// their digest. It is no defence against people who change files on purpose: Sha256 is, and takes
/// twenty times as long.
class Xxh3 {
public:
  /// Digits of a digest.
  static constexpr std::size_t kDigits = 32;

  Xxh3();
  void update(const void *bytes, std::size_t size);
  /// The digest of all that came, as hexadecimal digits.
  std::string digits() const;

private:
  struct Free {
    void operator()(void *state) const;
  };
  std::unique_ptr<void, Free> state_;
};

/// That of a text.
std::string xxh3_of(std::string_view text);

/// The checksum CRC-32C (Castagnoli), as record files have it: that of "123456789" is 0xe3069283.
std::uint32_t crc32c(std::string_view bytes) noexcept;

/// As TFRecord and event files store it, so that checksums of bytes with checksums in them stay
/// good: that of "123456789" is 0xc78ab0e5.
inline std::uint32_t masked_crc32c(std::string_view bytes) noexcept {
  const std::uint32_t crc = crc32c(bytes);
  return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

} // namespace weft
