// The stack of functions being traced, and its errors.
#include "Function/TraceStack.h"

#include <vector>

#include <weft/error.h>

namespace weft::detail {

namespace {

struct Frame {
  const void *function;
  const std::string *name;
  const SignatureKey *key;
};

constexpr std::size_t kMostFrames = 128;

std::vector<Frame> &frames() {
  thread_local std::vector<Frame> frames;
  return frames;
}

} // namespace

TraceFrame::TraceFrame(const void *function, const std::string &name, const SignatureKey *key) {
  std::vector<Frame> &stack = frames();
  if (stack.size() >= kMostFrames) {
    std::string chain;
    for (std::size_t i = stack.size() - 3; i < stack.size(); ++i) chain += *stack[i].name + " -> ";
    throw StateError(name + ": endless recursion: traced functions call each other more than " +
                     std::to_string(kMostFrames) + " deep, at last " + chain + name +
                     "; a trace cannot decide by values whether to go on: use while_loop, or count "
                     "down a C++ number");
  }
  stack.push_back({function, &name, key});
}

TraceFrame::~TraceFrame() { frames().pop_back(); }

void TraceFrame::check_endless(const void *function, const std::string &name,
                               const SignatureKey &key) {
  const std::vector<Frame> &stack = frames();
  for (std::size_t i = stack.size(); i-- > 0;) {
    if (stack[i].function != function || stack[i].key == nullptr || !(*stack[i].key == key))
      continue;
    std::string chain;
    for (std::size_t at = i; at < stack.size(); ++at) chain += *stack[at].name + " -> ";
    throw StateError(name + ": endless recursion: " + chain + name +
                     " with arguments of the same signature; a trace cannot decide by values "
                     "whether to go on: use while_loop, or count down a C++ number");
  }
}

} // namespace weft::detail
