// The traced functions that are being traced on this thread, to notice endless recursion.
#pragma once

#include <string>

#include <weft/detail/signature.h>

namespace weft::detail {

/// One function that is being traced, or that runs instead of its call, until its end. Throws
/// StateError if there are too many.
class TraceFrame {
public:
  /// `key` is null where the callable runs instead of a call.
  TraceFrame(const void *function, const std::string &name, const SignatureKey *key);
  ~TraceFrame() { innermost_ = outer_; }
  TraceFrame(const TraceFrame &) = delete;
  TraceFrame &operator=(const TraceFrame &) = delete;

  /// Throws StateError if the function is being traced for that key on this thread.
  static void check_endless(const void *function, const std::string &name, const SignatureKey &key);

private:
  /// The names of the frames from `outermost` inwards, each with an arrow behind it.
  static std::string chain_from(const TraceFrame *outermost);

  static thread_local constinit const TraceFrame *innermost_;

  const void *const function_;
  const std::string &name_;
  const SignatureKey *const key_;
  const TraceFrame *const outer_ = innermost_;
  const int depth_ = outer_ == nullptr ? 1 : outer_->depth_ + 1;
};

} // namespace weft::detail
