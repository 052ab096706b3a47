// The stack of functions being traced, and its errors.
#include "Function/TraceStack.h"

#include <weft/error.h>

namespace weft::detail {

namespace {
constexpr int kMostFrames = 128;
}

thread_local constinit const TraceFrame *TraceFrame::innermost_ = nullptr;

std::string TraceFrame::chain_from(const TraceFrame *outermost) {
  std::string chain;
  for (const TraceFrame *frame = innermost_; frame != outermost->outer_; frame = frame->outer_)
    chain.insert(0, frame->name_ + " -> ");
  return chain;
}

TraceFrame::TraceFrame(const void *function, const std::string &name, const SignatureKey *key)
    : function_(function), name_(name), key_(key) {
  if (depth_ > kMostFrames)
    throw StateError(name + ": endless recursion: traced functions call each other more than " +
                     std::to_string(kMostFrames) + " deep, at last " +
                     chain_from(outer_->outer_->outer_) + name +
                     "; a trace cannot decide by values whether to go on: use while_loop, or count "
                     "down a C++ number");
  innermost_ = this;
}

void TraceFrame::check_endless(const void *function, const std::string &name,
                               const SignatureKey &key) {
  for (const TraceFrame *frame = innermost_; frame != nullptr; frame = frame->outer_) {
    if (frame->function_ != function || frame->key_ == nullptr || !(*frame->key_ == key)) continue;
    throw StateError(name + ": endless recursion: " + chain_from(frame) + name +
                     " with arguments of the same signature; a trace cannot decide by values "
                     "whether to go on: use while_loop, or count down a C++ number");
  }
}

} // namespace weft::detail
