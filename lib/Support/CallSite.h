// The line of the user's source that this thread is doing a call of.
#pragma once

#include <weft/source.h>

namespace weft {

SourcePlace place_of(const std::source_location &where);

/// Holds the user's line for as long as a function of the library runs. The outermost wins: what a
/// layer or a loss computes belongs to the line that called it. A call whose line is not known, one
/// of the library's own, changes nothing.
class CallSite {
public:
  explicit CallSite(const std::source_location &where) : saved_(current_) {
    if (current_.line() == 0) current_ = where;
  }
  ~CallSite() { current_ = saved_; }
  CallSite(const CallSite &) = delete;
  CallSite &operator=(const CallSite &) = delete;

  static const std::source_location &current() { return current_; }
  static SourcePlace place() { return place_of(current_); }

private:
  friend class AsIfAt;
  std::source_location saved_;
  // Initial-exec: one instruction to read, where a shared library would otherwise call a function.
  static thread_local constinit std::source_location current_
      __attribute__((tls_model("initial-exec")));
};

/// Replaces the line, whatever it is: for work that belongs to a call of before, such as a
/// derivative.
class AsIfAt {
public:
  explicit AsIfAt(const std::source_location &where) : saved_(CallSite::current_) {
    CallSite::current_ = where;
  }
  ~AsIfAt() { CallSite::current_ = saved_; }
  AsIfAt(const AsIfAt &) = delete;
  AsIfAt &operator=(const AsIfAt &) = delete;

private:
  std::source_location saved_;
};

/// Held while the library calls the user's code, whose op calls have lines of their own.
class UserCode : AsIfAt {
public:
  UserCode() : AsIfAt(std::source_location()) {}
};

} // namespace weft
