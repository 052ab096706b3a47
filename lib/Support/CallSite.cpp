// The line that a thread is doing a call of, and places as text.
#include "Support/CallSite.h"

#include <string_view>

namespace weft {

thread_local constinit std::source_location CallSite::current_
    __attribute__((tls_model("initial-exec")));
thread_local constinit std::source_location CallSite::around_;

bool is_standard_library(const std::source_location &where) {
  return std::string_view(where.file_name()).find("/include/c++/") != std::string_view::npos;
}

detail::CallLine::CallLine(const std::source_location &where)
    : saved_(CallSite::current_), around_(CallSite::around_) {
  if (where.line() == 0 || is_standard_library(where)) return;
  if (CallSite::current_.line() == 0) CallSite::current_ = where;
  CallSite::around_ = where;
}
detail::CallLine::~CallLine() {
  CallSite::current_ = saved_;
  CallSite::around_ = around_;
}

detail::UserLines::UserLines() : saved_(CallSite::current_) { CallSite::current_ = {}; }
detail::UserLines::~UserLines() { CallSite::current_ = saved_; }

SourcePlace place_of(const std::source_location &where) {
  if (where.line() == 0) return {};
  return {where.file_name(), where.line(), where.column()};
}

std::string to_string(const SourcePlace &place) {
  if (!place.known()) return {};
  return place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line);
}

} // namespace weft
