// Bounds recursion through the user's code by its depth, and by what is left of the thread's stack.
#include "Support/Limits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include <pthread.h>

#include <weft/error.h>

namespace weft {

namespace {

/// What has to be left for the calls of the library itself, and for what unwinds them.
constexpr std::size_t kReserve = std::size_t{1} << 20;

/// The address below which this thread should not go; 0 if that is not known.
std::uintptr_t lowest_address() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void *base = nullptr;
  std::size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &base, &size) == 0;
  pthread_attr_destroy(&attributes);
  if (!known) return 0;
  return reinterpret_cast<std::uintptr_t>(base) + std::min(kReserve, size / 4);
}

thread_local constinit std::size_t depth = 0;

} // namespace

RecursionGuard::RecursionGuard(std::string_view who, std::string_view why) {
  thread_local const std::uintptr_t lowest = lowest_address();
  if (depth == kMaxCalls || reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < lowest)
    throw StateError(std::string(who) + ": endless recursion: " + std::string(why));
  ++depth;
}

RecursionGuard::~RecursionGuard() { --depth; }

} // namespace weft
