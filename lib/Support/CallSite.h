// The line of the user's source that this thread is doing a call of.
#pragma once

#include <weft/detail/callable.h>
#include <weft/source.h>

namespace weft {

SourcePlace place_of(const std::source_location &where);
/// Whether a call was made by the C++ library for the user, as std::apply and std::optional do: a
/// line that tells nobody anything.
bool is_standard_library(const std::source_location &where);

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
  /// What errors name: the line, or else that of the innermost call of the user's which the library
  /// is inside of, such as that of a gradient whose function is one of the library's own.
  static SourcePlace place_for_error() {
    return place_of(current_.line() != 0 ? current_ : around_);
  }

private:
  friend class AsIfAt;
  friend class detail::CallLine;
  friend class detail::UserLines;
  std::source_location saved_;
  // Initial-exec: one instruction to read, where a shared library would otherwise call a function.
  static thread_local constinit std::source_location current_
      __attribute__((tls_model("initial-exec")));
  static thread_local constinit std::source_location around_; ///< set by CallLine
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
