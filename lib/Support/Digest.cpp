// SHA-256 by its rounds, XXH3 by the header-only xxHash, CRC-32C by tables, eight bytes at a time.
#include "Support/Digest.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft {

namespace {

constexpr std::array<std::uint32_t, 64> kRounds = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const std::uint8_t *bytes) {
  std::uint32_t word;
  std::memcpy(&word, bytes, sizeof word);
  return __builtin_bswap32(word);
}

} // namespace

void Sha256::block(const std::uint8_t *bytes) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t) w[t] = big_endian(bytes + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
    const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kRounds[t] + w[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + t1;
    d = c;
    c = b;
    b = a;
    a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> sums = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += sums[i];
}

void Sha256::update(const void *bytes, std::size_t size) {
  const auto *next = static_cast<const std::uint8_t *>(bytes);
  const std::size_t held = size_ % 64;
  size_ += size;
  if (held != 0) {
    const std::size_t taken = std::min(size, 64 - held);
    std::copy_n(next, taken, pending_.begin() + static_cast<std::ptrdiff_t>(held));
    if (held + taken < 64) return;
    block(pending_.data());
    next += taken;
    size -= taken;
  }
  for (; size >= 64; next += 64, size -= 64) block(next);
  std::copy_n(next, size, pending_.begin());
}

Digest Sha256::finish() {
  const std::uint64_t bits = __builtin_bswap64(8 * size_);
  const std::array<std::uint8_t, 64> padding = {0x80};
  update(padding.data(), 1 + (119 - size_ % 64) % 64);
  update(&bits, sizeof bits);
  Digest digest;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint32_t word = __builtin_bswap32(state_[i]);
    std::memcpy(digest.data() + 4 * i, &word, sizeof word);
  }
  return digest;
}

std::string hex(const Digest &digest) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

namespace {

XXH3_state_t *state_of(void *state) { return static_cast<XXH3_state_t *>(state); }

} // namespace

void Xxh3::Free::operator()(void *state) const { XXH3_freeState(state_of(state)); }

Xxh3::Xxh3() : state_(XXH3_createState()) {
  if (state_ == nullptr) throw std::bad_alloc();
  XXH3_128bits_reset(state_of(state_.get()));
}

void Xxh3::update(const void *bytes, std::size_t size) {
  XXH3_128bits_update(state_of(state_.get()), bytes, size);
}

std::string Xxh3::digits() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_of(state_.get()));
  char text[kDigits + 1];
  std::snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
  return text;
}

std::string xxh3_of(std::string_view text) {
  Xxh3 digest;
  digest.update(text.data(), text.size());
  return digest.digits();
}

namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

/// Table k has the checksums of a byte with k zeros behind it.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
    tables[0][i] = crc;
  }
  for (std::size_t k = 1; k < 8; ++k)
    for (std::size_t i = 0; i < 256; ++i)
      tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 0xff];
  return tables;
}
constexpr Tables kTables = make_tables();
static_assert(std::endian::native == std::endian::little);

} // namespace

std::uint32_t crc32c(std::string_view bytes) noexcept {
  std::uint32_t crc = ~0u;
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][word >> 8 * k & 0xff];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes)
    crc = crc >> 8 ^ kTables[0][(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

} // namespace weft
