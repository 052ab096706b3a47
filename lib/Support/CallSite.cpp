// The line that a thread is doing a call of, and places as text.
#include "Support/CallSite.h"

namespace weft {

thread_local constinit std::source_location CallSite::current_
    __attribute__((tls_model("initial-exec")));

SourcePlace place_of(const std::source_location &where) {
  if (where.line() == 0) return {};
  return {where.file_name(), where.line(), where.column()};
}

std::string to_string(const SourcePlace &place) {
  if (!place.known()) return {};
  return place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line);
}

} // namespace weft
