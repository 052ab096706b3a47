// The digest by the header-only xxHash.
#include "IO/Xxh3.h"

#include <cinttypes>
#include <cstdio>
#include <new>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weft {

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

} // namespace weft
