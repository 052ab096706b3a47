// The line of the user's source that this thread is doing a call of, and the function called there.
#pragma once

#include <string>
#include <string_view>

#include "Support/Profile.h"
#include <weft/detail/callable.h>
#include <weft/source.h>

namespace weft {
namespace nn {
class LayerCall;
}

/// The location as a value. It is not known of a line of the standard library, where
/// `optional<Variable>::emplace` and the like have their defaulted arguments evaluated: it would
/// tell the user nothing.
SourceLocation location_of(const std::source_location &where);
/// Whether that is a line that a user may look at.
bool is_users(const std::source_location &where);

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
  static SourceLocation location() { return location_of(current_); }

  /// The function that the user called, if it is composed of others of the library; else null.
  static const char *function() { return function_; }
  /// A message as the user of `function()` is to read it, who did not call the op whose name it
  /// begins with: "square: lhs must be a number".
  static std::string of_function(std::string_view message);
  /// The same of a function that was noted before; null is none.
  static std::string of_function(const char *function, std::string_view message);

private:
  friend class AsIfAt;
  friend class detail::CallLine;
  friend class detail::UserLines;
  friend class CompositeCall;
  friend class IndexWord;
  friend class nn::LayerCall;
  std::source_location saved_;
  // Initial-exec: one instruction to read, where a shared library would otherwise call a function.
  static thread_local constinit std::source_location current_
      __attribute__((tls_model("initial-exec")));
  static thread_local constinit std::source_location around_; ///< set by CallLine
  static thread_local constinit const char *function_ __attribute__((tls_model("initial-exec")));
};

/// The same for a public function that is composed of others: errors of those begin with its name,
/// for the user called no other. Again the outermost wins.
class CompositeCall : CallSite {
public:
  /// `function` must live for ever.
  CompositeCall(const char *function, const std::source_location &where)
      : CallSite(where), outer_(CallSite::function_), scope_(profile::Kind::call, function) {
    if (outer_ == nullptr) CallSite::function_ = function;
  }
  ~CompositeCall() { CallSite::function_ = outer_; }
  CompositeCall(const CompositeCall &) = delete;
  CompositeCall &operator=(const CompositeCall &) = delete;

private:
  const char *outer_;
  profile::Scope scope_;
};

/// What a composite calls the indices of the ops that it calls meanwhile, if one is out of range:
/// "softmax_cross_entropy: label 5 is out of range ..".
class IndexWord {
public:
  explicit IndexWord(std::string_view word) : outer_(CallSite::function_) {
    if (outer_ != nullptr)
      CallSite::function_ = profile::kept(std::string(outer_) + ": " + std::string(word));
  }
  ~IndexWord() { CallSite::function_ = outer_; }
  IndexWord(const IndexWord &) = delete;
  IndexWord &operator=(const IndexWord &) = delete;

private:
  const char *outer_;
};

/// Replaces the line, whatever it is: for work that belongs to a call of before, such as a
/// derivative.
class AsIfAt {
public:
  explicit AsIfAt(const std::source_location &where, const char *function = nullptr)
      : saved_(CallSite::current_), function_(CallSite::function_) {
    CallSite::current_ = where;
    CallSite::function_ = function;
  }
  ~AsIfAt() {
    CallSite::current_ = saved_;
    CallSite::function_ = function_;
  }
  AsIfAt(const AsIfAt &) = delete;
  AsIfAt &operator=(const AsIfAt &) = delete;

private:
  std::source_location saved_;
  const char *function_;
};

/// Held while the library calls the user's code, whose op calls have lines of their own.
class UserCode : AsIfAt {
public:
  UserCode() : AsIfAt(std::source_location()) {}
};

} // namespace weft
