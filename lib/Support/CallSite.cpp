// The line and the function that a thread is doing a call of, and places as text.
#include "Support/CallSite.h"

#include <string_view>

namespace weft {

thread_local constinit std::source_location CallSite::current_
    __attribute__((tls_model("initial-exec")));
thread_local constinit std::source_location CallSite::around_;

detail::CallLine::CallLine(const std::source_location &where)
    : saved_(CallSite::current_), around_(CallSite::around_) {
  // What the standard library calls for the user, such as the function of a gradient that is one of
  // the library's own, belongs to the call around it.
  if (is_users(where)) CallSite::around_ = where;
  if (CallSite::current_.line() == 0) CallSite::current_ = CallSite::around_;
}
detail::CallLine::~CallLine() {
  CallSite::current_ = saved_;
  CallSite::around_ = around_;
}

detail::UserLines::UserLines() : saved_(CallSite::current_), function_(CallSite::function_) {
  CallSite::current_ = {};
  CallSite::function_ = nullptr;
}
detail::UserLines::~UserLines() {
  CallSite::current_ = saved_;
  CallSite::function_ = function_;
}

thread_local constinit const char *CallSite::function_ __attribute__((tls_model("initial-exec"))) =
    nullptr;

std::string CallSite::of_function(std::string_view message) {
  if (function_ == nullptr) return std::string(message);
  const std::string_view name = function_;
  const bool says_so = message.starts_with(name) && message.substr(name.size()).starts_with(':');
  return says_so ? std::string(message) : std::string(name) + ": " + std::string(message);
}

bool is_users(const std::source_location &where) {
  // libstdc++ and libc++ are both installed below a folder of that name.
  return where.line() != 0 &&
         std::string_view(where.file_name()).find("/include/c++/") == std::string_view::npos;
}

SourcePlace place_of(const std::source_location &where) {
  if (!is_users(where)) return {};
  return {where.file_name(), where.line(), where.column()};
}

std::string to_string(const SourcePlace &place) {
  if (!place.known()) return {};
  return place.file.substr(place.file.rfind('/') + 1) + ":" + std::to_string(place.line);
}

} // namespace weft
