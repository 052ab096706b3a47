// XXH3 of 128 bits: finds damage in files as fast as memory can be read.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace weft {

/// Takes bytes, in any number of pieces, and gives their digest. It is no defence against people
/// who change files on purpose: Sha256 is, and takes twenty times as long.
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

} // namespace weft
