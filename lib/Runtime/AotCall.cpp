// The door of ahead-of-time programs: a call of a compiled entry from C, where exceptions stop.
#include <cstdlib>
#include <cstring>

#include "Runtime/CallContext.h"

extern "C" std::int32_t weft_rt_call(weft::CompiledEntry entry, void *const *buffers,
                                     std::int64_t arena_bytes, const char *function, char *message,
                                     std::int64_t message_size) {
  const auto report = [&](const char *text) {
    if (message != nullptr && message_size > 0) {
      std::strncpy(message, text, static_cast<std::size_t>(message_size) - 1);
      message[message_size - 1] = '\0';
    }
    return 1;
  };
  void *arena = nullptr;
  if (arena_bytes > 0) {
    arena = std::aligned_alloc(64, static_cast<std::size_t>((arena_bytes + 63) / 64 * 64));
    if (arena == nullptr) return report("out of memory");
  }
  std::int32_t status = 0;
  try {
    weft::CallContext context;
    context.arena = static_cast<std::byte *>(arena);
    context.function = function;
    status = entry(buffers, nullptr, &context);
  } catch (const std::exception &error) {
    status = report(error.what());
  }
  std::free(arena);
  return status;
}
