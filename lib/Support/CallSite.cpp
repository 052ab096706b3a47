// The line and the function that a thread is doing a call of, and locations as text.
#include "Support/CallSite.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <weft/detail/named_call.h>

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

detail::NamedCall::NamedCall(const char *function)
    : call_(std::make_unique<CompositeCall>(function, std::source_location())) {}
detail::NamedCall::~NamedCall() = default;

thread_local constinit const char *CallSite::function_ __attribute__((tls_model("initial-exec"))) =
    nullptr;

std::string CallSite::of_function(std::string_view message) {
  return of_function(function_, message);
}

/// Whether it is an op, or another function that composites are made of. What else stands before a
/// colon may be the user's: the name of a file or a column.
static bool is_function(std::string_view name) {
  static constexpr std::string_view names[] = {
#define WEFT_OP(op) #op,
#include <weft/detail/opcodes.inc>
#undef WEFT_OP
      "assert", "full", "nonzero", "take_along_axis"};
  const auto has = [](std::string_view one) {
    return std::ranges::find(names, one) != std::end(names);
  };
  // In C++ an op has another name where the function of its own is made of it.
  return has(name) || has("reduce_" + std::string(name)) || has(std::string(name) + "_along");
}

std::string CallSite::of_function(const char *function, std::string_view message) {
  if (function == nullptr) return std::string(message);
  std::string_view name = function, word;
  if (const std::size_t at = name.find(": "); at != std::string_view::npos) { // of an IndexWord
    word = name.substr(at + 2);
    name = name.substr(0, at);
  }
  if (message.starts_with(name) && message.substr(name.size()).starts_with(':'))
    return std::string(message);
  // What it is made of, or itself without its module.
  if (const std::size_t at = message.find(": "); at != std::string_view::npos)
    if (const std::string_view inner = message.substr(0, at);
        is_function(inner) || name.ends_with("." + std::string(inner)))
      message.remove_prefix(at + 2);
  constexpr std::string_view index = "index ";
  std::string said;
  if (!word.empty() && message.starts_with(index)) {
    message.remove_prefix(index.size());
    said = std::string(word) + " ";
  }
  return std::string(name) + ": " + said + std::string(message);
}

bool is_users(const std::source_location &where) {
  // libstdc++ and libc++ are both installed below a folder of that name.
  return where.line() != 0 &&
         std::string_view(where.file_name()).find("/include/c++/") == std::string_view::npos;
}

SourceLocation location_of(const std::source_location &where) {
  if (!is_users(where)) return {};
  return {where.file_name(), where.line(), where.column()};
}

std::string to_string(const SourceLocation &location) {
  if (!location.known()) return {};
  return location.file.substr(location.file.rfind('/') + 1) + ":" + std::to_string(location.line);
}

} // namespace weft
