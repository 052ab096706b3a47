// Code of the user that runs at times of its own: host calls, and the functions of data sets.
#pragma once

#include <utility>

namespace weft {

/// Held while such code runs, how often and on which thread nothing promises: what all processes of
/// a program do together has no place there.
class Callback {
public:
  /// `what` it is, for messages: "a host call".
  explicit Callback(const char *what) : outer_(std::exchange(current_, what)) {}
  ~Callback() { current_ = outer_; }
  Callback(const Callback &) = delete;
  Callback &operator=(const Callback &) = delete;

  /// What this thread is in; null if in none.
  static const char *current() { return current_; }

private:
  static inline thread_local constinit const char *current_ = nullptr;
  const char *outer_;
};

} // namespace weft
